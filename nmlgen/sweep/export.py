"""A written sweep for the workflow tools that people have: Snakemake, Cylc, JUBE, ecFlow and Autosubmit.

Each gets a file in its own words (`templates/export/`) beside the points, and a small script that runs one point to its
end, whatever the tool. Nothing is told of an experiment there but where it lies: its own script says the rest.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, get_args

from nmlgen import disk
from nmlgen._version import __version__
from nmlgen.errors import InputError, WriteError
from nmlgen.findings import some_of
from nmlgen.render.templates import template
from nmlgen.sweep.arrays import SweepPoint, read_script
from nmlgen.sweep.crate import CRATE, crate_text
from nmlgen.sweep.directory import FIRST_COLUMNS, TABLE, read_table
from nmlgen.values import frozen
from nmlgen.writing import utf_8, write_whole

Tool = Literal["autosubmit", "cylc", "ecflow", "jube", "ro-crate", "snakemake"]
TOOLS: tuple[Tool, ...] = get_args(Tool)

_RUN_POINT = "run_point.sh"
_IN_SLURM = 16
_MOST_LEGS, _MOST_TASKS = 10_000, 50_000
_MOST_NAMED = 10  # files, of which a message names so many
_FILES = {
    "autosubmit": ("autosubmit.yml", "start_autosubmit.sh"),
    "cylc": ("flow.cylc", ".cylcignore"),
    "ecflow": ("sweep.def", "start_ecflow.sh"),
    "jube": ("jube.xml",),
    "snakemake": ("Snakefile",),
}


_ECFLOW = "ecflow"
"""The directory with the scripts of ecFlow's tasks, which are found by the names of the tasks."""


@frozen
class _Node:
    """A point with a task for each leg, in ecFlow and Autosubmit: its name there, its directory, its legs."""

    name: str
    directory: str
    legs: tuple[int, ...]


@frozen
class _Parameter:
    """A column of the table as a parameter of JUBE: its name there, that of the column, and the cells as text."""

    name: str
    title: str
    cells: tuple[str, ...]

    @property
    def expression(self) -> str:
        """The cells as a list of Python, in which JUBE finds nothing to replace."""
        return repr(list(self.cells)).replace("$", "$$")


def export_sweep(directory: str | Path, tool: Tool, force: bool = False) -> tuple[str, ...]:
    """Write into the directory of a sweep what a workflow tool needs to run its points; the names of the files.

    Raises InputError if no sweep with a point that can be run lies there or there is no such tool, and WriteError if a
    file of that name is there already and different, unless `force`, or the disk refuses.
    """
    if tool not in TOOLS:
        raise InputError(f'there is no export for "{tool}"; there is: {", ".join(TOOLS)}')
    holder = Path(directory)
    rows = _built(holder)
    if tool == "ro-crate":
        _write({holder / CRATE: utf_8(crate_text(holder))}, force)
        return (CRATE,)
    more: dict[str, str] = {}
    context: dict[str, Any] = {
        "version": __version__,
        "name": _word(holder.resolve().name),
        "points": [_cylc_value(row["name"]) for row in rows],
        "numbers": ",".join(map(str, range(len(rows)))),
        "at_once": _at_once(holder / rows[0]["directory"]),
        "parameters": _parameters(rows),
    }
    if tool == "ecflow":
        context["nodes"] = nodes = _nodes(holder, rows, _ecflow_name)
        legs = max(node.legs[-1] for node in nodes)
        text = template("export/leg.ecf.j2").render(context)  # of each leg the same, by the name of its task
        more = {f"{_ECFLOW}/leg{leg}.ecf": text for leg in range(1, legs + 1)}
        (holder / _ECFLOW).mkdir(exist_ok=True)
    if tool == "autosubmit":
        context["nodes"] = _nodes(holder, rows, _autosubmit_name)
    texts = more | {name: template(f"export/{name.lstrip('.')}.j2").render(context) for name in _files(tool)}
    _write({holder / name: utf_8(text) for name, text in texts.items()}, force)
    return tuple(texts)


def _nodes(holder: Path, rows: list[dict[str, str]], name_of: Callable[[str], str]) -> list[_Node]:
    """The points under names that the tool takes; they differ."""
    found: list[_Node] = []
    name = _Names()
    tasks = 0
    for row in rows:
        script = read_script(holder, SweepPoint(row["id"], row["name"], row["directory"]))
        if script.scheduler != "slurm":
            raise InputError(
                f"{script.path} is not for Slurm: {_RUN_POINT} waits for the jobs of no other; nmlgen submit"
            )
        tasks += script.legs
        if tasks > _MOST_TASKS or script.legs > _MOST_LEGS:
            what = f"{script.path}: its chain has {script.legs} jobs"
            raise InputError(f"{what}; expected: at most {_MOST_LEGS}, and {_MOST_TASKS} of all points together")
        found.append(_Node(name.own(name_of(row["name"])), row["directory"], tuple(range(1, script.legs + 1))))
    return found


class _Names:
    """Names that differ. One that is there already gets an underscore; of very many, a number as well."""

    def __init__(self, *taken: str) -> None:
        self._taken = set(taken)
        self._tried: dict[str, int] = {}  # where to go on: not each time all that are alike are gone through

    def own(self, word: str) -> str:
        """The word, or what it becomes."""
        name = word
        while name in self._taken:
            self._tried[word] = number = self._tried.get(word, 0) + 1
            name = f"{word}_" if number == 1 else f"{word}_{number}"
        self._taken.add(name)
        return name


def _ecflow_name(name: str) -> str:
    """Letters, digits, underscores and dots."""
    word = re.sub(r"[^A-Za-z0-9_.]", "_", name)
    return word if word[0].isalnum() else f"_{word}"


def _autosubmit_name(name: str) -> str:
    """Capital letters, digits and underscores, a letter first: what follows a hyphen would be a distance."""
    word = re.sub(r"[^A-Z0-9_]", "_", name.upper())
    return word if word[0].isalpha() else f"P{word}"


def _word(name: str) -> str:
    """A name of which nothing is to be quoted anywhere."""
    word = re.sub(r"[^A-Za-z0-9_.+-]", "_", name)
    return word if word[:1].isalnum() else f"_{word}"


def _files(tool: Tool) -> tuple[str, ...]:
    return (*_FILES[tool], _RUN_POINT)


def _built(directory: Path) -> list[dict[str, str]]:
    """The rows of the table whose points can be run."""
    rows = [row for row in read_table(directory) if row["state"] == "built"]
    if not rows:
        raise InputError(f"no point of {directory / TABLE} was built; there is nothing to run")
    return rows


def _at_once(point: Path) -> int:
    """How many points to run at a time: with Slurm, which decides by itself, more than on one machine."""
    scripts = [disk.content(path) for path in sorted(point.glob("*.sbatch"))]
    return _IN_SLURM if any(b"\n#SBATCH" in script for script in scripts) else 1


def _parameters(rows: list[dict[str, str]]) -> list[_Parameter]:
    """The values of the points, column by column, under names that are words and differ."""
    found: list[_Parameter] = []
    names = _Names("number", "state")
    for column in ("name", *(column for column in rows[0] if column not in FIRST_COLUMNS)):
        name = "point" if column == "name" else re.sub(r"\W", "_", column)
        found.append(_Parameter(names.own(name), column, tuple(row[column] for row in rows)))
    return found


def _write(files: dict[Path, bytes], force: bool) -> None:
    try:
        changed = {path: data for path, data in files.items() if not disk.holds(path, data)}
        foreign = [str(path) for path in changed if path.exists()]
        if foreign and not force:
            raise WriteError(f"{some_of(foreign, _MOST_NAMED)}: there already, and different; --force overwrites")
        for path, data in changed.items():
            write_whole(path, data, is_ours=True)
    except OSError as error:
        raise WriteError(f"{error.filename}: {(error.strerror or str(error)).lower()}") from error


def _cylc_value(name: str) -> str:
    """A point's name as the value of a parameter of Cylc, which may hold no dot and must not be a number."""
    return f"@{name}" if name.isdigit() else name.replace(".", "@")
