"""A first spec: the template filled with what the preset and the site know."""

from __future__ import annotations

import json
import re
import shutil
from functools import cache
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmlgen.errors import InputError, SpecError
from nmlgen.experiment.setting import UndecidedError
from nmlgen.findings import did_you_mean
from nmlgen.models.icon.pool import POOL
from nmlgen.namelist.registry import releases
from nmlgen.resources import directory as data_directory
from nmlgen.resources import templates
from nmlgen.source import Source
from nmlgen.spec import presets
from nmlgen.spec.document import read_file, read_text
from nmlgen.spec.other_models import ICON
from nmlgen.spec.spec import Spec, load_spec
from nmlgen.units.wall_time import format_wall_time, parse_wall_time

if TYPE_CHECKING:
    from jinja2 import Template

_TIME = "01:00:00"
_STOP = "2000-01-11T00:00:00Z"
_NEXT_DAY = "2000-01-02T00:00:00Z"
"""When a first run ends that begins with 2000: the sooner where no limits on jobs are known, so that it is let in."""

GRID_FILE = "iconR02B05-grid.nc"
"""The grid of a first spec whose preset has none, unless another is given."""

NO_DARSHAN = "none"
"""What is said in place of a library by who wants none."""


def sites() -> tuple[str, ...]:
    """The sites that a first spec can be for."""
    prefix = presets.SITE_PREFIX
    return tuple(name.removeprefix(prefix) for name in presets.names() if name.startswith(prefix))


def requires_account(site: str) -> bool:
    """Whether a site refuses jobs that name no project; raises InputError for a site that does not exist."""
    return bool(_machine(site).get("account_required", False))


def needs_grid(preset: str) -> bool:
    """Whether the preset leaves the grid to the spec; raises InputError for a preset that does not exist."""
    base = _preset(preset)
    return not _is_whole(base) and _model_of(base) == ICON


def knows_darshan(site: str) -> bool:
    """Whether the site says where its libdarshan.so lies."""
    return "library" in _machine(site).get("darshan", {})


def is_on_lustre(site: str) -> bool:
    """Whether jobs of the site write to Lustre."""
    machine = _machine(site)
    systems = machine.get("file_systems", {}).values()
    return machine.get("file_system") == "lustre" or any(system.get("type") == "lustre" for system in systems)


def darshan_at_hand() -> str | None:
    """The libdarshan.so beside the `darshan-config` that the shell finds, as after `module load darshan`."""
    program = shutil.which("darshan-config")
    library = Path(program).resolve().parent.parent / "lib" / "libdarshan.so" if program else None
    return str(library) if library and library.is_file() else None


def starter_spec(
    preset: str,
    site: str,
    name: str | None,
    account: str | None,
    grid_file: str | None,
    directory: str,
    nodes: int | None,
    darshan: str | None = None,
) -> str:
    """The text of a spec for a preset on a site; raises InputError for names that do not exist.

    A preset that names its grid is whole: the spec says what is special about the run, and nothing of the model.
    `darshan` is the path of libdarshan.so; without one it is that of the site, if the site knows it, unless it is
    "none".
    """
    base = _preset(preset)
    facts = _site(site)
    time = base.get("time", {})
    defaults = facts.get("defaults", {})
    site_job = defaults.get("job", {})
    is_whole = _is_whole(base)
    model = _model_of(base)
    needs_pool = POOL in json.dumps(base, default=str) and "pool" not in defaults.get("model", {})
    if grid_file is None and not is_whole and model == ICON:
        grid_file = GRID_FILE
    grid_name = re.search(r"R0*(\d{1,4})B0*(\d{1,2})(?!\d)", grid_file or "")
    preset_job = base.get("job", {})
    is_one_machine = facts["machine"]["scheduler"] == "none"
    tasks = site_job.get("ntasks_per_node") or (32 if is_whole else 4 if is_one_machine else 8)
    streams = base.get("output", {})
    values = {
        "model": model,
        "name": name or preset.rpartition("/")[2],
        "preset": preset,
        "site": site,
        "release": base.get("model", {}).get("release", releases()[-1]),
        "pool": "pool" if needs_pool else None,
        "is_whole": is_whole,
        "directory": directory,
        "grid_file": grid_file,
        "grid_name": f"R{grid_name[1]}B{grid_name[2]}" if grid_name else "",
        "num_lev": base.get("grid", {}).get("num_lev", 30),
        "start": time.get("start", "2000-01-01T00:00:00Z"),
        "stop": time.get("stop", _STOP if "partitions" in facts["machine"] else _NEXT_DAY),
        "step": None if "models" in base else time.get("modelTimeStep", "PT2M"),
        "account": account,
        "nodes": nodes or (1 if is_one_machine else preset_job.get("nodes", 1)),
        # A site's default would replace what the preset says.
        "ntasks_per_node": preset_job.get("ntasks_per_node", None if "ntasks_per_node" in site_job else tasks),
        # No more than a quarter of the tasks.
        "io_procs": min(4, tasks // 4),
        "checkpoint": "PT12H",
        "restart": "P10D",
        "output_interval": streams.get("atm", {}).get("output_interval", "PT6H"),
        "varlist": "" if "atm" in streams else "u, v, w, temp, pres",
        "stripes": is_on_lustre(site),
        "darshan": None if darshan == NO_DARSHAN else darshan or knows_darshan(site),
    }
    if model != ICON:
        return _template("spec-of-other-model.yaml.j2").render(values, time=_TIME)
    text = _template("spec.yaml.j2")
    guessed = text.render(values, time="auto")
    if (spec := _decided(guessed)) is None:
        return text.render(values, time=_time(text.render(values, time=_TIME)))
    better = _better_io_ranks(spec)
    return guessed if better is None else text.render({**values, "io_procs": better}, time="auto")


@cache
def _template(name: str) -> Template:
    found: Template = templates(finalize=_yaml).get_template(name)
    return found


def _decided(text: str) -> Spec | None:
    """The spec of a text, None where what it leaves to the advisor cannot be decided: of several models, or of an
    unknown grid, it cannot."""
    try:
        return load_spec(read_text(Source("", text)).plain())
    except SpecError:
        return None


def _time(text: str) -> str:
    """A time limit where none can be worked out: twice what the slowest of several models takes at least, in hours."""
    from nmlgen.advise.job_time import slowest

    if (spec := _decided(text)) is None:
        return _TIME
    try:
        found = slowest(spec.experiment)
    except UndecidedError:
        return _TIME
    partition = spec.experiment.directives.get("partition")
    known = spec.experiment.machine.partitions.get(str(partition.value)) if partition is not None else None
    hours = ceil(2 * (found.set_up_s + found.low_s) / 3600)
    wanted = max(hours * 3600, parse_wall_time(_TIME) or 0)
    return format_wall_time(wanted if known is None or known.max_time is None else min(wanted, known.max_time))


def _better_io_ranks(spec: Spec) -> int | None:
    """How many I/O ranks a run wants whose number costs so much that a rule would say it; None where it does not."""
    from nmlgen.advise.cost import if_known, output_cost
    from nmlgen.advise.first_look import WORTH_SAYING

    cost = if_known(output_cost, spec.experiment.components[0])
    return cost.better.layout.num_io_procs if cost is not None and cost.share >= WORTH_SAYING else None


def _is_whole(base: dict[str, Any]) -> bool:
    return "file" in base.get("grid", {}) or "models" in base


def _model_of(base: dict[str, Any]) -> str:
    return str(base.get("model", {}).get("name", ICON))


def _preset(name: str) -> dict[str, Any]:
    if name.startswith(presets.SITE_PREFIX):
        raise InputError(f"{name} is a site, not a preset: --site {name.removeprefix(presets.SITE_PREFIX)}")
    return _with_what_it_extends(_read(name))


def _machine(site: str) -> dict[str, Any]:
    machine: dict[str, Any] = _site(site)["machine"]
    return machine


def _site(name: str) -> dict[str, Any]:
    known = sites()
    if name not in known:
        notes = did_you_mean(name, known)
        raise InputError(f'there is no site "{name}"; {notes[0] if notes else "there are " + ", ".join(known)}')
    return _read(f"{presets.SITE_PREFIX}{name}")


def _read(name: str) -> dict[str, Any]:
    if name not in presets.names():
        notes = did_you_mean(name, presets.names())
        raise InputError(f'there is no preset "{name}"; {notes[0] if notes else "nmlgen presets lists them"}')
    path = data_directory("presets") / f"{name}.yaml"
    document: dict[str, Any] = read_file(path, name, kept=presets.kept_at(name)).node.plain()
    return document


def _with_what_it_extends(preset: dict[str, Any]) -> dict[str, Any]:
    """The keys of a preset, laid over those of the presets that it extends."""
    below: dict[str, Any] = {}
    extended = preset.get("extends", [])
    for name in [extended] if isinstance(extended, str) else extended:
        below = _laid_over(_with_what_it_extends(_read(name)), below)
    return _laid_over(preset, below)


def _laid_over(above: dict[str, Any], below: dict[str, Any]) -> dict[str, Any]:
    both = {
        key: _laid_over(above[key], value) if isinstance(value, dict) and isinstance(above[key], dict) else above[key]
        for key, value in below.items()
        if key in above
    }
    return {**below, **above, **both}


def _yaml(value: Any) -> Any:
    """A text that YAML would take for something else is quoted; JSON's strings are YAML's."""
    if not isinstance(value, str) or _is_plain(value):
        return value
    return json.dumps(value, ensure_ascii=False)


@cache
def _is_plain(text: str) -> bool:
    """Whether YAML reads the text without quotes as the text itself."""
    try:
        return bool(read_text(Source("", f"value: {text}\n")).plain() == {"value": text})
    except SpecError:
        return False
