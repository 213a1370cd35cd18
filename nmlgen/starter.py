"""A first spec: the template filled with what the preset and the site know."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from nmlgen.errors import InputError, SpecError
from nmlgen.findings import did_you_mean
from nmlgen.namelist.registry import releases
from nmlgen.resources import directory as data_directory
from nmlgen.source import Source
from nmlgen.spec import presets
from nmlgen.spec.document import read_file, read_text

GRID_FILE = "iconR02B05-grid.nc"
"""The grid of a first spec whose preset has none, unless another is given."""


def starter_spec(
    preset: str,
    site: str,
    name: str | None,
    account: str | None,
    grid_file: str | None,
    directory: str,
    nodes: int | None,
) -> str:
    """The text of a spec for a preset on a site; raises InputError for names that do not exist.

    A preset that names its grid is whole: the spec says what is special about the run, and nothing of the model.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    base = _with_what_it_extends(_read(preset))
    facts = _read(f"{presets.SITE_PREFIX}{site}")
    time = base.get("time", {})
    defaults = facts.get("defaults", {})
    site_job = defaults.get("job", {})
    is_whole = "file" in base.get("grid", {}) or "models" in base
    needs_pool = presets.POOL in json.dumps(base, default=str) and "pool" not in defaults.get("model", {})
    if grid_file is None and not is_whole:
        grid_file = GRID_FILE
    grid_name = re.search(r"R0*(\d+)B0*(\d+)", grid_file or "")
    preset_job = base.get("job", {})
    is_one_machine = facts["machine"]["scheduler"] == "none"
    tasks = None if "ntasks_per_node" in site_job or (is_one_machine and not is_whole) else 16 if is_whole else 8
    streams = base.get("output", {})
    environment = Environment(
        loader=FileSystemLoader(data_directory("templates")),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_yaml,
    )
    values = {
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
        "stop": time.get("stop", "2000-01-11T00:00:00Z"),
        "step": None if "models" in base else time.get("modelTimeStep", "PT2M"),
        "account": account,
        "account_required": facts["machine"].get("account_required", False),
        "nodes": nodes or (1 if is_one_machine else preset_job.get("nodes", 1)),
        # A site's default would replace what the preset says.
        "ntasks_per_node": preset_job.get("ntasks_per_node") or tasks,
        "io_procs": 4 if "ntasks_per_node" in site_job or not is_one_machine else 1,
        "checkpoint": "PT12H",
        "restart": "P10D",
        "output_interval": streams.get("atm", {}).get("output_interval", "PT6H"),
        "varlist": "" if "atm" in streams else "u, v, w, temp, pres",
    }
    return environment.get_template("spec.yaml.j2").render(values)


def _read(name: str) -> dict[str, Any]:
    if name not in presets.names():
        notes = did_you_mean(name, presets.names())
        raise InputError(f'there is no preset "{name}"; {notes[0] if notes else "nmlgen presets lists them"}')
    document: dict[str, Any] = read_file(Path(data_directory("presets")) / f"{name}.yaml", name).node.plain()
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


def _is_plain(text: str) -> bool:
    """Whether YAML reads the text without quotes as the text itself."""
    try:
        return bool(read_text(Source("", f"value: {text}\n")).plain() == {"value": text})
    except SpecError:
        return False
