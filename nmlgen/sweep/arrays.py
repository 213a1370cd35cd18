"""Which points can share a job array, and the script of such an array: `templates/array.sbatch.j2`,
and that which shares the slots of a throttle among several: `templates/slots.sh.j2`.

Points whose scripts have the same directives, but for the names of job and log, share one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from attrs import field

from nmlgen import disk
from nmlgen._version import __version__
from nmlgen.errors import InputError
from nmlgen.experiment.setting import Certainty, Setting
from nmlgen.files import Files
from nmlgen.render.shell import directive
from nmlgen.render.templates import template
from nmlgen.schedulers.pbs import scheduler as pbs
from nmlgen.schedulers.slurm.directives import read_directives
from nmlgen.source import Source
from nmlgen.sweep.directory import read_table
from nmlgen.units.whole import decimal
from nmlgen.values import frozen

_OWN = frozenset({"job-name", "output", "error", "open-mode", "chdir", "wait", "parsable"})
_HEAD = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\n)*")
_TOTALS = frozenset({"nodes", "ntasks", "gpus"})
"""What a job asks for in all; the rest is for each node or each task."""
_OF_ONE = frozenset({"nodelist", "licenses", "contiguous", "distribution", "switches"})
"""What is said of the nodes of one point, and cannot be said of those of several."""
_LEGS = re.compile(r"^readonly legs=(\d{1,9})$", re.MULTILINE)


@frozen
class SweepPoint:
    """A row of the table of a sweep: a point that was built. `directory` is relative to the sweep's."""

    id: str
    name: str
    directory: str


@frozen(eq=False)
class PointScript:
    """The batch script of a point: its #SBATCH settings, and how many jobs its restart chain takes."""

    point: SweepPoint
    path: Path
    settings: Mapping[str, Setting] = field(repr=False)
    legs: int

    @property
    def directives(self) -> tuple[str, ...]:
        """What an array with this point asks for, as the text after #SBATCH."""
        return self._lines({name: setting.value for name, setting in self.settings.items() if name not in _OWN})

    def packed(self, pack: int) -> tuple[str, ...]:
        """What an array asks for whose tasks run so many points side by side, each on nodes of its own. Raises
        InputError for a point that cannot be packed."""
        shown = {name: setting.value for name, setting in self.settings.items() if name not in _OWN}
        for name in sorted(_OF_ONE & shown.keys()):
            raise InputError(f"{_where(self.path, self.settings[name])}: with --{name} a point cannot be packed")
        text = disk.content(self.path).decode("utf-8", "replace")
        if "srun" not in text or "nmlgen.placement" in text:
            raise InputError(f"{self.path}: a point can be packed whose script starts one program with srun")
        if "nodes" not in shown:
            raise InputError(f"{self.path}: a point can be packed whose script says its --nodes")
        for name in sorted(_TOTALS & shown.keys()):
            number = decimal(str(shown[name]))
            if number is None:
                where = _where(self.path, self.settings[name])
                raise InputError(f"{where}: --{name} is {shown[name]!r}; a point can be packed where it is a number")
            shown[name] = number * pack
        return self._lines(shown)

    @property
    def size(self) -> dict[str, int]:
        """How many nodes and tasks the point has, as srun is told by its environment: what the script says of them."""
        found = {name: decimal(str(self.settings[name].value)) for name in ("nodes", "ntasks") if name in self.settings}
        return {name: number for name, number in found.items() if number is not None}

    @staticmethod
    def _lines(shown: dict[str, Any]) -> tuple[str, ...]:
        shown.setdefault("requeue", False)  # a point starts again when somebody asks for it
        lines = (directive(name, shown[name]) for name in sorted(shown))
        return tuple(line for line in lines if line is not None)

    @property
    def dependency(self) -> str | None:
        """What the point waits for by itself."""
        found = self.settings.get("dependency")
        return None if found is None else str(found.value)


def read_points(sweep: Path) -> tuple[SweepPoint, ...]:
    """The points of a sweep that were built. Raises InputError if there is no sweep."""
    rows = read_table(sweep)
    return tuple(SweepPoint(row["id"], row["name"], row["directory"]) for row in rows if row["state"] == "built")


def for_slurm(sweep: Path, point: SweepPoint) -> tuple[Path, Source]:
    """The batch script of a point, and its text. Raises InputError if there is none, or if it is for PBS."""
    scripts = sorted((sweep / point.directory).glob("*.sbatch"))
    if len(scripts) != 1:
        found = ", ".join(path.name for path in scripts) or "none"
        raise InputError(f"{sweep / point.directory}: one file *.sbatch is expected, there is {found}")
    (path,) = scripts
    source = Files().read(path)
    if pbs.is_spoken(source):
        raise InputError(f"{path} is for PBS: sweeps are submitted to Slurm, a job to PBS by qsub in {path.parent}")
    return path, source


def read_script(sweep: Path, point: SweepPoint) -> PointScript:
    """The batch script of a point. Raises InputError if there is none, or if sbatch would refuse its directives."""
    path, source = for_slurm(sweep, point)
    head = _HEAD.match(source.text)
    assert head is not None
    directives = read_directives(Source(source.name, source.text[: head.end()]))
    for problem in directives.problems:
        if problem.stops:
            span = problem.span
            raise InputError(f"{path}:{span.line}:{span.column}: {problem.message}; expected: {problem.expected}")
    for name, setting in directives.settings.items():
        if setting.certainty is Certainty.UNKNOWN:
            raise InputError(f"{path}: --{name} is no plain value")
    if (array := directives.settings.get("array")) is not None:
        raise InputError(f"{_where(path, array)}: --array: a point of a sweep is one job, not an array of its own")
    legs = _LEGS.search(source.text, head.end())
    return PointScript(point, path, directives.settings, max(1, int(legs[1])) if legs else 1)


def packs(members: Sequence[PointScript], pack: int) -> list[tuple[int, list[PointScript]]]:
    """Points in parts whose tasks each run so many side by side; what is left over makes a smaller pack."""
    full = len(members) - len(members) % pack
    parts = ((pack, members[:full]), (len(members) - full, members[full:]))
    return [(size, list(part)) for size, part in parts if part]


def group(scripts: Iterable[tuple[PointScript, int, int]]) -> list[tuple[int, int, list[PointScript]]]:
    """Points that can share arrays: given with the number of the next run and of the legs that are left."""
    found: dict[tuple[int, int, tuple[str, ...]], list[PointScript]] = {}
    for script, first, legs in scripts:
        found.setdefault((first, legs, script.directives), []).append(script)
    return [(first, legs, members) for (first, legs, _), members in found.items()]


def array_script(
    token: str,
    first: int,
    directives: tuple[str, ...],
    throttle: int | None = None,
    *,
    pack: int = 1,
    legs: int = 1,
    size: Mapping[str, int] = MappingProxyType({}),
) -> str:
    """The text of the script of a submission's arrays, one for each of `legs`; each task runs `pack` points of this
    `size` side by side."""
    values = {"token": token, "first": first, "directives": directives, "throttle": throttle, "pack": pack}
    values |= {"legs": legs, "nodes": size.get("nodes"), "ntasks": size.get("ntasks")}
    return str(template("array.sbatch.j2").render(values, version=__version__))


def slots_script() -> str:
    """The text of the script that shares the slots of a throttled sweep among its arrays."""
    return str(template("slots.sh.j2").render(version=__version__))


def blamed(script: PointScript, refusal: str) -> str | None:
    """The place of the directive that Slurm's refusal speaks of, as PATH:LINE: #SBATCH ..., if that can be told."""
    for pattern, names in _BLAME:
        if re.search(pattern, refusal, re.IGNORECASE):
            for name in names:
                if name in script.settings:
                    setting = script.settings[name]
                    return f"{_where(script.path, setting)}: #SBATCH {directive(name, setting.value)}"
    return None


# What sbatch says, and the options it may mean.
_BLAME = (
    (r"partition", ("partition",)),
    (r"\baccount\b", ("account", "partition")),
    (r"\bqos\b", ("qos",)),
    (r"time limit", ("time",)),
    (r"reservation", ("reservation",)),
    (r"feature", ("constraint",)),
    (r"memory", ("mem", "mem-per-cpu", "mem-per-gpu")),
    (r"generic resource|gres|tres", ("gres", "gpus", "gpus-per-node")),
    (r"licenses?", ("licenses",)),
    (r"dependency", ("dependency",)),
    (r"node count|more nodes|node configuration", ("nodes", "ntasks-per-node", "ntasks")),
    (r"processors|cpu count", ("ntasks-per-node", "cpus-per-task", "ntasks")),
)


def _where(path: Path, setting: Setting) -> str:
    span = setting.span
    return str(path) if span is None else f"{path}:{span.line}"
