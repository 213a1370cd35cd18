"""Hostile texts at every place where a spec, a site, a preset or a sweep takes a text: what the built script then does
is held against what it does with a plain word at the same place.

A text is put at all places at once that take it. The script runs with stand-ins in the place of Slurm, Lustre and the
model, which note their arguments, and the model its environment; a text that stays a text changes nothing in these
notes but itself.
"""

from __future__ import annotations

import copy
import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import placements
from attrs import frozen
from ruamel.yaml import YAML
from specs import changed

import nmlgen
from fuzzing.cases import yaml_of
from fuzzing.schemas import KEY, place_of
from fuzzing.schemas import places as schema_places
from fuzzing.trees import leaves
from nmlgen import Spec
from nmlgen.errors import NmlgenError, WriteError
from nmlgen.experiment.experiment import Experiment, InputFile
from nmlgen.models.icon.chain import name_before
from nmlgen.namelist.reader import read_namelist
from nmlgen.render.build import Build, make_build
from nmlgen.schedulers.slurm.directives import read_directives
from nmlgen.source import Source, Span
from nmlgen.spec import document as yaml_documents
from nmlgen.spec.nodes import Document, Node

CANARY = "canary"
HOME = "home"
ROOM = "/ROOM"
"""What stands for a directory with room for all in documents: one where a script is run."""
_NOTED = ("lfs", "module", "squeue", "sbatch", "scontrol", "mkdir", "cp", "ln", "dsync", "mpirun")
NOTE = """\
#!/bin/bash
{{ printf '%s\\0' "${{0##*/}}" "$@"; printf '\\n\\0'; }} >>"$CALLS"
{more}
"""
_MODEL = """\
/usr/bin/env -0 >"$CALLS.environment"
echo OK >finish.status
"""
_NODES = """\
if [[ "$1 $2" == "show hostnames" ]]; then tr , '\\n' <<<"$3"; fi
"""
# Each program once, as its first rank.
_PLACES = """\
for file in ./nmlgen.run.*; do
  read -r rank node < <(awk -v name="${file#./nmlgen.run.}" '$3 == name { print $1, $2; exit }' nmlgen.placement)
  SLURM_PROCID=$rank SLURMD_NODENAME=$(sed -n "$((node + 1))p" nmlgen.nodes) "$file" given
done
echo OK >finish.status
"""
_PLACED = """\
/usr/bin/env -0 >>"$CALLS.environment"
"""
_SITE: dict[str, Any] = {
    "description": "a site with everything",
    "machine": {
        "scheduler": "slurm",
        "file_system": "lustre",
        "partitions": {"compute": {"max_nodes": 4}},
        "node_local": {"odd": {"type": "beegfs", "mount": "/mnt/%j", "directory": "d", "constraint": "A"}},
        "mpi": {
            "openmpi": {
                "version": "4.1",
                "modules": ["m/1"],
                "versions": {"4.1": ["m/2"], "5.0": ["m/3"]},
                "environment": {"OMPI_A": "b"},
            }
        },
        "darshan": {"library": "/opt/darshan.so", "DARSHAN_LOGHINTS": "x"},
        "features": ["A", "c"],
        "plugin_options": ["uenv", "view"],
        "file_systems": {"/work": {"type": "lustre"}},
        "run_script_variables": {"nproma": "8"},
    },
    "defaults": {
        "model": {"pool": "/tmp/pool"},
        "job": {"partition": "compute"},
        "mpi": {"implementation": "openmpi"},
        "launch": {"command": "mpirun", "options": ["-l"]},
        "environment": {"SITE_X": "y"},
    },
}
_PRESET: dict[str, Any] = {
    "nmlgen": 1,
    "extends": "icon/jabw",
    "about": {"group": "test", "original": "exp.test"},
    "environment": {"PRESET_X": "y"},
    "input_files": {"preset.nc": {"source": "pool.nc"}},
    "namelists": {"io_nml": {"restart_file_type": 5}, "run_nml": {"restart_filename": "a"}},
    "job": {"comment": "preset"},
}
_SPEC: dict[str, Any] = changed(
    extends="./preset.yaml",
    site="./site.yaml",
    model={"directory": "models", "executable": "icon", "pool": "/pool"},
    grid={"file": "grid.nc"},
    job={
        "partition": "compute",
        "qos": "q",
        "mail_user": "m",
        "chdir": "w",
        "job_name": "j",
        "reservation": "r",
        "gres": "g",
        "licenses": "l",
        "exclude": "n1",
        "nodelist": "n2",
        "begin": "now",
        "dependency": "singleton",
        "mail_type": "END",
        "constraint": "c",
        "output": "o.log",
        "error": "e.log",
        "export": "ALL",
        "uenv": "u",
        "view": "v",
    },
    launch={"options": ["-l", "-x", "A=b"]},
    start_from={"directory": "before"},
    after={"verify": True, "nmlgen": "looks", "submit": "later"},
    modules=["netcdf/4"],
    environment={"A": "b", "LIST": "c"},
    input_files={
        "in.nc": {"source": "in"},
        "copied": {"source": "c", "method": "copy"},
        "many/a*.nc": {"directory": "lot"},
    },
    run_directory="run",
    output={"atm": {"output_filename": "out/file", "filename_format": "<output_filename>_<datetime2>"}},
    parallel={"division_method": 1, "division_file_name": ["a", "b"]},
    restart={"restart_filename": "<gridfile>_restart_<mtype>_<rsttime>.nc"},
    mpi={"hints": {"cb_nodes": "4", "striping": "x"}},
    lustre={
        "output": {"stripe_count": 4, "stripe_size": "4M", "pool": "flash"},
        "restart": {"component_end": {"4M": {"stripe_count": 1, "pool": "flash"}, "eof": {"stripe_count": 4}}},
        "input": {"pool": "flash"},
    },
    darshan={
        "library": "/opt/darshan.so",
        "DARSHAN_MOD_DISABLE": "H5F",
        "DARSHAN_MOD_ENABLE": "LUSTRE",
        "DARSHAN_EXCLUDE_DIRS": "/proc",
        "DARSHAN_LOGHINTS": "a",
    },
    namelists={"gribout_nml": {"typeofgeneratingprocess": 1}, "run_nml": {"restart_filename": "b"}},
    ignore={"RST001": "a reason"},
)
_SPEC["namelists"] = {"meteogram_output_nml": {"zprefix": "a", "var_list": ["b", "c"]}}
_PRESET["namelists"] = {"dbg_index_nml": {"str_mod_tst": "a"}}
_SWEEP: dict[str, Any] = {
    "grid": {"environment.GRID": ["a"]},
    "zip": {"environment.ZIP": ["b"], "model.executable": ["icon"]},
    "derive": {"environment.DERIVED": "'c' + environment.GRID"},
    "name": "point",
}
DOCUMENTS: dict[str, dict[str, Any]] = {
    "spec.yaml": _SPEC,
    "site.yaml": _SITE,
    "preset.yaml": _PRESET,
}
WITH_SWEEP: dict[str, dict[str, Any]] = {**DOCUMENTS, "spec.yaml": {**_SPEC, "sweep": _SWEEP}}

# --- Results on a file system that ends with the job

_LOCAL_SITE = copy.deepcopy(_SITE)
_LOCAL_SITE["machine"]["node_local"]["odd"] |= {"mount": f"{ROOM}/%j", "constraints": ["A"], "directories": ["d", "e"]}
LOCAL: dict[str, dict[str, Any]] = {
    "spec.yaml": changed(
        extends="./preset.yaml",
        site="./site.yaml",
        model={"directory": "models", "executable": "icon"},
        job={"partition": "compute"},
        node_local={"file_system": "odd", "directory": "d", "constraint": "A", "before_stage_out": ["true"]},
        output={"atm": {"output_filename": "out/file", "filename_format": "<output_filename>_<datetime2>"}},
        lustre={"restart": {"pool": "flash"}, "output": {"component_end": {"eof": {"pool": "flash"}}}},
    ),
    "site.yaml": _LOCAL_SITE,
    "preset.yaml": _PRESET,
}

# --- Ranks that are placed, and programs beside the models


def _placed(case: str) -> dict[str, dict[str, Any]]:
    sections = copy.deepcopy(placements.CASES[case])
    part = dict.fromkeys(("partition", "constraint", "gres", "account", "qos", "reservation"), "x")
    for number, (name, model) in enumerate(sections["models"].items()):
        model["name"] = f"m{number}"
        model["environment"] = {f"A_{name}": "b"}
        model["executable"] = f"bin/{name}"
        model["input_files"] = {f"{name}.nc": {"source": f"in-{name}"}, f"{name}/a*.nc": {"directory": f"lot-{name}"}}
        model["restart"] = {"restart_filename": f"{name}_<mtype>_<rsttime>.nc"}
        model["namelists"] = {**model.get("namelists", {}), "dbg_index_nml": {"str_mod_tst": "a"}}
        if "job" in model:
            model["job"] |= part | {"partition": "other"}
    for name, program in sections["programs"].items():
        program["environment"] = {f"B_{name}": "c"}
    sections["programs"]["apart"] = {"command": "aside", "tasks": 1, "job": part | {"partition": "other", "nodes": 1}}
    spec = {
        "nmlgen": 1,
        "name": "placed",
        "extends": "./preset.yaml",
        "site": "./site.yaml",
        "model": {"release": "2024.10", "directory": "models", "executable": "bin/icon"},
        "time": placements.TIME,
        "restart": {"checkpointTimeIntval": "PT30M", "restartTimeIntval": "PT1H"},
        "job": {"nodes": 2, "time": "02:00:00"},
    }
    site = YAML(typ="safe", pure=True).load(placements.SITE)
    gpus = site["machine"]["partitions"]["compute"]["gpus"]
    gpus["job"] |= {"constraint": "g", "gres": "gpu:4"}
    gpus["kind"] = "A100"
    del site["machine"]["partitions"]["other"]["exclusive"]  # where a text is its name, it is that of the jobs, too
    return {"spec.yaml": spec | sections, "site.yaml": site, "preset.yaml": {"nmlgen": 1, "about": {"group": "test"}}}


PLACED: dict[str, dict[str, Any]] = _placed("heterogeneous with output")

# --- Models that share the ranks of a job

_COUPLED: dict[str, Any] = {
    "nmlgen": 1,
    "name": "both",
    "extends": "./preset.yaml",
    "site": "./site.yaml",
    "model": {"release": "2024.10", "directory": "models", "executable": "icon"},
    "time": placements.TIME,
    "restart": {"checkpointTimeIntval": "PT30M", "restartTimeIntval": "PT1H"},
    "job": {"partition": "compute", "nodes": 2, "ntasks_per_node": 4, "time": "02:00:00"},
    "partitions": {"more": {"numa": ["0-3"]}},
    "models": {
        "atm": {
            **placements.component("atmo", tasks=4),
            "name": "a",
            "restart": {"restart_filename": "a_<rsttime>.nc"},
        },
        "oce": {**placements.component("ocean", tasks=4), "name": "o"},
    },
    "coupling": {
        "timestep_unit": "second",
        "calendar": "proleptic-gregorian",
        **{"start_date": "x", "start_datetime": "x", "end_date": "y", "end_datetime": "y"},
    },
    "start_from": {"directory": "before", "models": {"atm": "b", "oce": "c"}},
}
for _name, _model in _COUPLED["models"].items():
    _model["grid"] = {**_model["grid"], "file": f"{_name}-grid.nc"}
    _model["input_files"] = {f"{_name}.nc": {"source": f"in-{_name}"}}
    _model["namelists"] = {"dbg_index_nml": {"str_mod_tst": "a"}}
_COUPLED["models"]["atm"]["domains"] = {"nest": {"file": "nest.nc"}, "inner": {"file": "inner.nc", "parent": "nest"}}
_COUPLED["models"]["atm"]["parallel"]["division_file_name"] = "a"
COUPLED: dict[str, dict[str, Any]] = {
    "spec.yaml": _COUPLED,
    "site.yaml": _SITE,
    "preset.yaml": {"nmlgen": 1, "about": {"group": "test"}},
}
ALONE: dict[str, dict[str, Any]] = {
    **PLACED,
    "spec.yaml": {
        **{key: value for key, value in PLACED["spec.yaml"].items() if key not in ("models", "programs")},
        **placements.one_program(),
        "model": {**PLACED["spec.yaml"]["model"], "device": "gpu", "environment": {"A": "b"}},
        "domains": {"nest": {"file": "nest.nc"}, "inner": {"file": "inner.nc", "parent": "nest"}},
    },
}

# --- A model that is not ICON

OTHER: dict[str, dict[str, Any]] = {
    "spec.yaml": {
        "nmlgen": 1,
        "name": "other",
        "extends": "./preset.yaml",
        "site": "./site.yaml",
        "model": {"name": "generic", "directory": "models", "executable": "bin/model"},
        "job": {"partition": "compute", "nodes": 1, "ntasks_per_node": 2, "time": "01:00:00"},
        "input_files": {"in.nc": {"source": "in"}},
        "before": {"makes": {"executable": "bin/makes", "ntasks": 1}, "looks": {"executable": "bin/looks"}},
        "namelist_files": {"first": {"group": {"name": "a", "list": ["b", 1]}}, "second.nml": {"more": {"x": "c"}}},
    },
    "site.yaml": _SITE,
    "preset.yaml": {"nmlgen": 1, "about": {"group": "test"}, "namelist_files": {"first": {"group": {"preset": "d"}}}},
}
EVERY: tuple[dict[str, dict[str, Any]], ...] = (DOCUMENTS, WITH_SWEEP, LOCAL, PLACED, ALONE, COUPLED, OTHER)
"""Sets of documents that together have every key that takes a text."""

Place = tuple[Any, ...]
"""The name of a document and the keys to a text in it; the key itself is meant where the last word is KEY."""
SCHEMAS = {"spec.yaml": "spec", "site.yaml": "site", "preset.yaml": "spec"}
"""The schemas of documents, by their names."""
_PATHS = (
    *("executable", "directory", "file", "source", "library", "output_filename", "run_directory", "in.nc", "copied"),
    *("mount", "nmlgen", "command", "submit", "restart_filename", "filename_format"),
)
_COMMANDS = "before_stage_out"
"""What a spec has for the shell to run."""


@cache
def _keys(schema: str) -> frozenset[tuple[str, ...]]:
    """The places where the author chooses keys."""
    return frozenset(place for place, _ in schema_places(schema) if place[-1] == KEY)


def places(documents: Mapping[str, Mapping[str, Any]]) -> Iterator[Place]:
    """Every text, and every key that its author chooses."""
    for name, document in documents.items():
        for path, value in leaves(document):
            if (
                isinstance(value, str) and path != ("sweep", "name") and _COMMANDS not in path
            ):  # of the one a name is made
                yield (name, *path)
            if place_of(SCHEMAS[name], (*path, KEY)) in _keys(SCHEMAS[name]):
                yield (name, *path, KEY)


def _formed(place: Place, text: str) -> str:
    """The text as it can stand at a place: behind what makes a path of it, or as a word of a command."""
    name = place[-1]
    if name == "command" and "programs" in place:
        return shlex.quote(text)
    if name == "mount":
        return f"{ROOM}/mount/{text}"
    if name == "library":
        return f"{ROOM}/{text}.so"
    return f"{ROOM}/{text}" if place[-2:] == ("model", "pool") else text


def with_texts(
    documents: Mapping[str, Mapping[str, Any]], texts: Mapping[Place, str]
) -> dict[str, dict[str, Any]] | None:
    """The documents with these texts at these places; None where two keys would be the same."""
    result = copy.deepcopy({name: dict(document) for name, document in documents.items()})
    for place in sorted(texts, key=lambda place: (place[-1] == KEY) - len(place)):  # a key after what is below it
        text, is_key = texts[place], place[-1] == KEY
        node: Any = result
        for key in place[: -2 if is_key else -1]:
            node = node[key]
        if is_key:
            if text in node:
                return None
            node[text] = node.pop(place[-2])
        else:
            node[place[-1]] = _formed(place, text)
    return result


def built(documents: Mapping[str, Any] | None, directory: Path) -> tuple[Spec, Build] | None:
    """The spec that the documents make, of a sweep the first point, and what is built; None if they are refused."""
    if documents is None:
        return None
    key = json.dumps([str(directory), documents])
    if key not in _BUILT:
        _BUILT.clear()  # the last one is asked for again, no other
        _BUILT[key] = _built(documents, directory)
    return _BUILT[key]


_BUILT: dict[str, tuple[Spec, Build] | None] = {}


def _built(documents: Mapping[str, Any], directory: Path) -> tuple[Spec, Build] | None:
    for name, document in documents.items():
        data = yaml_of(document).replace(ROOM.encode(), str(directory / HOME / "room").encode())
        (directory / name).write_bytes(data)
    try:
        if "sweep" in documents["spec.yaml"]:
            spec = next(iter(nmlgen.expand(directory / "spec.yaml"))).spec
        else:
            spec = nmlgen.load_spec(directory / "spec.yaml")
        return spec, make_build(spec, ())
    except NmlgenError:
        return None


@contextmanager
def _read_as_json() -> Iterator[None]:
    """Documents, which are written as JSON, are read as such: to try at which places they take a text."""
    real = yaml_documents._document

    def read(name: str, data: bytes, kept: Path | None, most: int) -> Document:
        if kept is not None or not data.startswith(b"{"):
            return real(name, data, kept, most)
        return Document(_node(json.loads(data), Source(name, "{").span(1, 1)), "")

    read.__wrapped__ = real.__wrapped__  # type: ignore[attr-defined]
    with patch.object(yaml_documents, "_document", read):
        yield


def _node(value: Any, span: Span) -> Node:
    if isinstance(value, dict):
        return Node({key: _node(item, span) for key, item in value.items()}, span, dict.fromkeys(value, span))
    return Node([_node(item, span) for item in value] if isinstance(value, list) else value, span)


def taking(
    documents: Mapping[str, Any], candidates: Sequence[Place], text_of: Mapping[Place, str], directory: Path
) -> tuple[list[Place], list[Place]]:
    """Places that take their texts, all at the same time, and those that do not even alone."""

    def is_taken(those: Sequence[Place]) -> bool:
        return built(with_texts(documents, {place: text_of[place] for place in those}), directory) is not None

    def is_taken_as_json(those: Sequence[Place]) -> bool:
        made = with_texts(documents, {place: text_of[place] for place in those})
        with _read_as_json():
            return made is not None and _built(made, directory) is not None

    found, refused = _halved(candidates, is_taken_as_json)
    return (found, refused) if is_taken(found) else _halved(candidates, is_taken)


def _halved(
    candidates: Sequence[Place], is_taken: Callable[[Sequence[Place]], bool]
) -> tuple[list[Place], list[Place]]:
    if not candidates or is_taken(candidates):
        return list(candidates), []
    if len(candidates) == 1:
        return [], list(candidates)
    half = len(candidates) // 2
    parts = [_halved(part, is_taken) for part in (candidates[:half], candidates[half:])]
    (first, second), refused = (found for found, _ in parts), [place for _, those in parts for place in those]
    both = [*first, *second]
    if both in (first, second) or (len(both) < len(candidates) and is_taken(both)):
        return both, refused
    return max(first, second, key=len), refused


def open_places(documents: Mapping[str, Any], directory: Path) -> list[Place]:
    """The places that take more than the words of a list: what takes any text takes a plain one. Behind the others
    stand those that do not take every text with them."""
    key = json.dumps(documents)
    if key not in _OPEN:
        texts = {place: f"plain.{number}" for number, place in enumerate(places(documents))}
        with _read_as_json():
            made = {place: with_texts(documents, {place: text}) for place, text in texts.items()}
            found = [place for place, each in made.items() if each is not None and _built(each, directory) is not None]
        easy, _ = taking(documents, found, {place: f"$({text})" for place, text in texts.items()}, directory)
        _OPEN[key] = sorted(found, key=lambda place: place not in easy)
    return list(_OPEN[key])


_OPEN: dict[str, list[Place]] = {}


@frozen
class Notes:
    """What a script did: the calls that were noted, the environment that the model had, the directives that Slurm sees,
    the end of it all, and the names in the run directory."""

    calls: tuple[tuple[str, ...], ...]
    environment: Mapping[str, str]
    directives: Mapping[str, str]
    code: int
    files: frozenset[str]
    hints: str
    namelists: tuple[tuple[str, ...], ...]

    def replaced(self, words: Mapping[str, str]) -> Notes:
        """The same with other words."""
        pattern = re.compile("|".join(map(re.escape, sorted(words, key=len, reverse=True))))

        def other(text: str) -> str:
            return pattern.sub(lambda match: words[match[0]], text)

        return Notes(
            tuple(tuple(map(other, call)) for call in self.calls),
            {other(name): other(value) for name, value in self.environment.items()},
            {name: other(value) for name, value in self.directives.items()},
            self.code,
            frozenset(map(other, self.files)),
            other(self.hints),
            tuple(tuple(map(other, item)) for item in self.namelists),
        )


def _brought(file: InputFile) -> str:
    """A file that must be there; all patterns above take this one in."""
    return f"{file.source.value}/a1.nc" if file.is_pattern else str(file.source.value)


def executed(spec: Spec, build: Build, home: Path) -> Notes | None:
    """Run a build's script below `home`, an empty directory; None where the files that it needs cannot be made."""
    directory, programs = home / "deep" / "down" / "build", home / "programs"
    programs.mkdir(parents=True)
    directory.parent.mkdir(parents=True)
    experiment = spec.experiment
    command = str(experiment.launch.command.value)
    more = {name: f'exec /usr/bin/{name} "$@"\n' for name in ("mkdir", "cp", "ln")} | {"scontrol": _NODES}
    more |= {command: _PLACES if experiment.programs else _MODEL, "numactl": _PLACED}
    others = [shlex.split(str(one.said("command"))) for one in experiment.programs if one.model is None]
    looks = [str(setting.value)] if (setting := experiment.chain.get("after.nmlgen")) is not None else []
    for name in {*_NOTED, *more, *looks, *(words[0] for words in others if "/" not in words[0])}:
        if not _made(programs / name, NOTE.format(more=more.get(name, _PLACED if experiment.programs else ""))):
            return None
    try:
        build.write(directory)
    except WriteError:  # of a name that is too long for a file
        return None
    base = directory / str(experiment.base_directory.value if experiment.base_directory else "")
    needed = [str(experiment.executable.value), *(_brought(one) for one in experiment.inputs)]
    needed += [str(one.said("executable")) for one in experiment.programs if one.said("executable") is not None]
    if not all(_made(base / name, NOTE.format(more=_PLACED)) for name in needed):
        return None
    steps = experiment.other.before if experiment.other is not None else ()
    if not all(_made(base / str(step.executable.value), NOTE.format(more="")) for step in steps):
        return None
    if (later := experiment.chain.get("after.submit")) is not None and not _made(directory / str(later.value), ""):
        return None
    if not _prepared(experiment, directory):
        return None
    if experiment.darshan is not None and not _made(directory / str(experiment.darshan.library.value), ""):
        return None
    script = next(name for name in build.files if name.endswith(".sbatch"))
    done = subprocess.run(
        ["bash", script],
        cwd=directory,
        env={"PATH": f"{programs}:/usr/bin:/bin", "CALLS": f"{home}/calls", "SLURM_JOB_ID": "7", "HOME": str(home)}
        | _node_lists(build.files[script]),
        capture_output=True,
        check=False,
    )
    text = (home / "calls").read_bytes().decode("utf-8", "surrogateescape")
    variables = home / "calls.environment"
    pairs = variables.read_bytes().decode("utf-8", "surrogateescape") if variables.exists() else ""
    listed = {str(path.relative_to(directory)) for path in directory.rglob("*")}
    hints = next(iter(directory.rglob("romio_hints")), None)
    head = build.files[script].decode("utf-8", "surrogateescape")
    parts = head.split("\n#\n")[0].split("#SBATCH hetjob\n")
    settings = {
        f"{number} {name}": setting
        for number, part in enumerate(parts)
        for name, setting in read_directives(Source("script", f"#!/bin/bash\n{part}")).settings.items()
    }
    calls = [tuple(call.split("\0")[:-1]) for call in text.split("\n\0") if call]
    return Notes(
        tuple(call for call in calls if "nmlgen.claims" not in "".join(call)),
        dict(pair.split("=", 1) for pair in pairs.split("\0") if "=" in pair and not pair.startswith("NMLGEN_CLAIM=")),
        {name: str(setting.origin.value) for name, setting in settings.items()},
        done.returncode,
        frozenset(name for name in listed if "nmlgen.claims" not in name),
        hints.read_text(encoding="utf-8", errors="surrogateescape") if hints is not None else "",
        tuple(
            (group.name, item.base, *(str(value.value) for value in item.values))
            for name, data in sorted(build.files.items())
            if not name.endswith((".sbatch", ".json", ".yaml"))
            for group in read_namelist(data.decode()).groups
            for item in group.items
        ),
    )


def _prepared(experiment: Experiment, directory: Path) -> bool:
    """What a job finds: the mount of a file system that ends with it, the checkpoint that it begins with."""
    run = experiment.node_local
    if run is not None:
        facts = experiment.machine.node_local[run.kind.value]
        mount = facts.mount.replace("%j", "7")
        below = str(run.directory.value) if run.directory is not None else facts.directory or "."
        if not mount.startswith(str(directory.parents[2])) or not _made(Path(mount, below, "a"), ""):
            return False
    start = experiment.chain.get("start_from.directory")
    for component in experiment.components if start is not None else ():
        if not _made(directory / str(start.value) / f"restart_{name_before(component)}_DOM01.nc", ""):
            return False
    return True


def _node_lists(script: bytes) -> dict[str, str]:
    """The nodes that Slurm would tell a job of, or each part of it."""
    counts = [re.search(rb"--nodes=(\d+)", part) for part in script.split(b"\n#\n")[0].split(b"#SBATCH hetjob\n")]
    names = [
        ",".join(f"n{part}{node}" for node in range(int(count[1]))) if count else "n"
        for part, count in enumerate(counts)
    ]
    return {f"SLURM_JOB_NODELIST_HET_GROUP_{number}": nodes for number, nodes in enumerate(names)} | {
        "SLURM_JOB_NODELIST": names[0]
    }


def differences(
    text: str, documents: Mapping[str, Mapping[str, Any]], directory: Path
) -> Iterator[tuple[list[Place], list[str]]]:
    """Rounds in which the text stands at many places at once: these, and what the script did otherwise than with plain
    words there, the text itself aside."""
    home, rest = directory / HOME, open_places(documents, directory)
    if text.startswith("/"):
        text = f"{home}/absolute{text}"  # nothing outside of the directory is touched
    # A shell or Fortran makes another path of such a one, or there is none.
    if "/" in text or text in (".", "..", "") or text != text.strip():
        rest = [place for place in rest if not _is_path(place)]
    if "%j" in text:
        rest = [place for place in rest if place[-1] != "mount"]
    while rest:
        texts = {place: f"{text}.{number}" if _is_path(place) else text for number, place in enumerate(rest)}
        found, refused = taking(documents, rest, texts, directory)
        if not found:
            return
        rest = [place for place in rest if place not in found and place not in refused]
        after = _notes(documents, {place: texts[place] for place in found}, directory, home)
        if after is None:  # no file can have such a name
            found = [place for place in found if not _is_path(place)]
            after = _notes(documents, {place: texts[place] for place in found}, directory, home)
        words = {place: f"M{number:03}m" for number, place in enumerate(found)}
        key = json.dumps([str(directory), documents, found])
        if key not in _PLAIN:
            _PLAIN[key] = _notes(documents, words, directory, home)
        before = _PLAIN[key]
        if after is None or before is None:
            continue
        expected = before.replaced({word: texts[place] for place, word in words.items()})
        wrong = [
            f"{name}: {_told(one, other)} in place of {_told(other, one)}"
            for name in ("calls", "environment", "directives", "code", "files", "hints", "namelists")
            if (one := getattr(after, name)) != (other := getattr(expected, name))
        ]
        wrong += [f"there is {path}" for path in directory.rglob(f"{CANARY}*")]
        wrong += [f"with plain words it ends with {before.code}"] if before.code else []
        yield found, wrong


_PLAIN: dict[str, Notes | None] = {}
"""What the script did with plain words at the same places, which many texts have in common."""


def _is_path(place: Place) -> bool:
    """Whether a file is called by the text, so that two places cannot have the same."""
    names = {str(key) for key in place}
    names |= {name.rpartition(".")[2] for name in names}  # of a sweep
    is_model = "models" in names and place[-1] == "name"  # of which checkpoints are called
    is_namelist = place[1] in ("namelist_files", "before") and place[3:] == (KEY,)
    return is_model or is_namelist or not names.isdisjoint((*_PATHS, "nc"))


def _told(one: Any, other: Any) -> str:
    """What the one has and the other has not."""
    if isinstance(one, dict):
        one, other = set(one.items()), set(other.items())
    if isinstance(one, (tuple, set, frozenset)):
        one = [item for item in one if item not in other]
    return repr(one)[:500]


def _notes(
    documents: Mapping[str, Mapping[str, Any]], texts: Mapping[Place, str], directory: Path, home: Path
) -> Notes | None:
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir()
    made = built(with_texts(documents, texts), directory)
    return None if made is None else executed(*made, home)


def _made(path: Path, text: str) -> bool:
    """Make a program; false where no file can bear that name."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
    except (OSError, ValueError):
        return False
    return True
