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
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import frozen
from specs import changed

import nmlgen
from fuzzing.cases import yaml_of
from fuzzing.trees import leaves
from nmlgen import Spec
from nmlgen.errors import NmlgenError
from nmlgen.namelist.reader import read_namelist
from nmlgen.render.build import Build, make_build
from nmlgen.script.directives import read_directives
from nmlgen.source import Source

CANARY = "canary"
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
_SITE: dict[str, Any] = {
    "description": "a site with everything",
    "machine": {
        "scheduler": "slurm",
        "file_system": "lustre",
        "partitions": {"compute": {"max_nodes": 4}},
        "node_local": {"odd": {"type": "beegfs", "mount": "/mnt/%j", "directory": "d", "constraint": "A"}},
        "mpi": {"openmpi": {"version": "4.1", "modules": ["m/1"], "environment": {"OMPI_A": "b"}}},
        "darshan": {"library": "/opt/darshan.so"},
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
    model={"directory": "models", "executable": "icon"},
    grid={"file": "grid.nc"},
    job={
        "partition": "compute",
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
    },
    launch={"options": ["-x"]},
    modules=["netcdf/4"],
    environment={"A": "b", "LIST": "c"},
    input_files={"in.nc": {"source": "in"}, "copied": {"source": "c", "method": "copy"}},
    run_directory="run",
    output={"atm": {"output_filename": "out/file", "filename_format": "<output_filename>_<datetime2>"}},
    restart={"restart_filename": "<gridfile>_restart_<mtype>_<rsttime>.nc"},
    mpi={"hints": {"cb_nodes": "4", "striping": "x"}},
    lustre={"output": {"stripe_count": 4, "stripe_size": "4M", "pool": "flash"}},
    darshan={"library": "/opt/darshan.so", "DARSHAN_EXCLUDE_DIRS": "/proc", "DARSHAN_LOGHINTS": "a"},
    namelists={"gribout_nml": {"typeofgeneratingprocess": 1}, "run_nml": {"restart_filename": "b"}},
    ignore={"RST001": "a reason"},
)
_SPEC["namelists"] = {"meteogram_output_nml": {"zprefix": "a"}}
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

Place = tuple[Any, ...]
"""The name of a document and the keys to a text in it; the key itself is meant where the last word is KEY."""
KEY = "<key>"
_NAMED = ("environment", "input_files", "hints", "output", "ignore", "partitions", "node_local", "mpi", "grid", "zip")
_PATHS = ("executable", "directory", "file", "source", "library", "output_filename", "run_directory", "in.nc", "copied")


def places(documents: Mapping[str, Mapping[str, Any]]) -> Iterator[Place]:
    """Every text, and every key that its author chooses."""
    for name, document in documents.items():
        for path, value in leaves(document):
            if isinstance(value, str) and path != ("sweep", "name"):  # of which a name is made
                yield (name, *path)
            if len(path) > 1 and path[-2] in _NAMED:
                yield (name, *path, KEY)


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
            node[place[-1]] = text
    return result


def built(documents: Mapping[str, Any] | None, directory: Path) -> tuple[Spec, Build] | None:
    """The spec that the documents make, of a sweep the first point, and what is built; None if they are refused."""
    if documents is None:
        return None
    for name, document in documents.items():
        (directory / name).write_bytes(yaml_of(document))
    try:
        if "sweep" in documents["spec.yaml"]:
            spec = next(iter(nmlgen.expand(directory / "spec.yaml"))).spec
        else:
            spec = nmlgen.load_spec(directory / "spec.yaml")
        return spec, make_build(spec, ())
    except NmlgenError:
        return None


def taking(
    documents: Mapping[str, Any], candidates: Sequence[Place], text_of: Mapping[Place, str], directory: Path
) -> list[Place]:
    """Places that take their texts, all at the same time; those that do not are found by halving."""
    if not candidates:
        return []
    if built(with_texts(documents, {place: text_of[place] for place in candidates}), directory) is not None:
        return list(candidates)
    if len(candidates) == 1:
        return []
    half = len(candidates) // 2
    first, second = (taking(documents, part, text_of, directory) for part in (candidates[:half], candidates[half:]))
    both = [*first, *second]
    if built(with_texts(documents, {place: text_of[place] for place in both}), directory) is not None:
        return both
    return max(first, second, key=len)


def open_places(documents: Mapping[str, Any], directory: Path) -> list[Place]:
    """The places that take more than the words of a list: each takes one of a few texts."""
    key = json.dumps(documents)
    if key not in _OPEN:
        found: set[Place] = set()
        for text in ("plain", "a b", "$(a)"):
            texts = {place: f"{text}.{number}" for number, place in enumerate(places(documents))}
            found |= {place for place in texts if built(with_texts(documents, {place: texts[place]}), directory)}
        _OPEN[key] = [place for place in places(documents) if place in found]
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


def executed(spec: Spec, build: Build, home: Path) -> Notes | None:
    """Run a build's script below `home`, an empty directory; None where the files that it needs cannot be made."""
    directory, programs = home / "deep" / "down" / "build", home / "programs"
    programs.mkdir(parents=True)
    directory.parent.mkdir(parents=True)
    experiment = spec.experiment
    command = str(experiment.launch.command.value)
    for name in {*_NOTED, command}:
        more = _MODEL if name == command else f'exec /usr/bin/{name} "$@"\n' if name in ("mkdir", "cp", "ln") else ""
        if not _made(programs / name, NOTE.format(more=more)):
            return None
    build.write(directory)
    base = directory / str(experiment.base_directory.value if experiment.base_directory else "")
    needed = [str(experiment.executable.value), *(str(one.source.value) for one in experiment.inputs)]
    if not all(_made(base / name, "#!/bin/bash\n") for name in needed):
        return None
    if experiment.darshan is not None and not _made(directory / str(experiment.darshan.library.value), ""):
        return None
    script = next(name for name in build.files if name.endswith(".sbatch"))
    done = subprocess.run(
        ["bash", script],
        cwd=directory,
        env={"PATH": f"{programs}:/usr/bin:/bin", "CALLS": f"{home}/calls", "SLURM_JOB_ID": "7", "HOME": str(home)},
        capture_output=True,
        check=False,
    )
    text = (home / "calls").read_bytes().decode("utf-8", "surrogateescape")
    variables = home / "calls.environment"
    pairs = variables.read_bytes().decode("utf-8", "surrogateescape") if variables.exists() else ""
    listed = {str(path.relative_to(directory)) for path in directory.rglob("*")}
    hints = next(iter(directory.rglob("romio_hints")), None)
    head = build.files[script].decode("utf-8", "surrogateescape")
    settings = read_directives(Source("script", head.split("\n#\n")[0])).settings
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
            if "namelist" in name.lower()
            for group in read_namelist(data.decode()).groups
            for item in group.items
        ),
    )


def differences(
    text: str, documents: Mapping[str, Mapping[str, Any]], directory: Path
) -> Iterator[tuple[list[Place], list[str]]]:
    """Rounds in which the text stands at many places at once: these, and what the script did otherwise than with plain
    words there, the text itself aside."""
    home, rest = directory / "home", open_places(documents, directory)
    if text.startswith("/"):
        text = f"{home}/absolute{text}"  # nothing outside of the directory is touched
    # A shell or Fortran makes another path of such a one, or there is none.
    if "/" in text or text in (".", "..", "") or text != text.strip():
        rest = [place for place in rest if not _is_path(place)]
    while rest:
        texts = {place: f"{text}.{number}" if _is_path(place) else text for number, place in enumerate(rest)}
        found = taking(documents, rest, texts, directory)
        if not found:
            return
        rest = [place for place in rest if place not in found]
        after = _notes(documents, {place: texts[place] for place in found}, directory, home)
        if after is None:  # no file can have such a name
            found = [place for place in found if not _is_path(place)]
            after = _notes(documents, {place: texts[place] for place in found}, directory, home)
        words = {place: f"M{number:03}m" for number, place in enumerate(found)}
        before = _notes(documents, words, directory, home)
        if after is None or before is None:
            continue
        expected = before.replaced({word: texts[place] for place, word in words.items()})
        wrong = [
            f"{name}: {_told(one, other)} in place of {_told(other, one)}"
            for name in ("calls", "environment", "directives", "code", "files", "hints", "namelists")
            if (one := getattr(after, name)) != (other := getattr(expected, name))
        ]
        wrong += [f"there is {path}" for path in directory.rglob(f"{CANARY}*")]
        yield found, wrong


def _is_path(place: Place) -> bool:
    """Whether a file is called by the text, so that two places cannot have the same."""
    return any(key in _PATHS for key in place)


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
