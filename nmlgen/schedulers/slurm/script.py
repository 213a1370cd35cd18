"""The batch script of a point of a sweep: its #SBATCH settings, as arrays ask for them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nmlgen import disk
from nmlgen.errors import InputError
from nmlgen.experiment.setting import Certainty, Setting
from nmlgen.schedulers.slurm.directives import read_directives
from nmlgen.schedulers.slurm.quoting import option_text
from nmlgen.source import Source
from nmlgen.units.wall_time import parse_wall_time
from nmlgen.units.whole import decimal
from nmlgen.values import field, frozen

_OWN = frozenset({"job-name", "output", "error", "open-mode", "chdir", "wait", "parsable"})
_HEAD = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\n)*")
_TOTALS = frozenset({"nodes", "ntasks", "gpus"})
"""What a job asks for in all; the rest is for each node or each task."""
_OF_ONE = frozenset({"nodelist", "licenses", "contiguous", "distribution", "switches"})
"""What is said of the nodes of one point, and cannot be said of those of several."""


@frozen(eq=False)
class Script:
    """A script, and its settings."""

    path: Path
    settings: Mapping[str, Setting] = field(repr=False)

    @property
    def directives(self) -> tuple[str, ...]:
        """What an array with this point asks for, as the text after #SBATCH."""
        return _lines({name: setting.value for name, setting in self.settings.items() if name not in _OWN})

    @property
    def dependency(self) -> str | None:
        """What the point waits for by itself."""
        found = self.settings.get("dependency")
        return None if found is None else str(found.value)

    @property
    def is_restarted(self) -> bool:
        """Slurm knows what the directives say: it starts nothing again that is not to be."""
        return True

    @property
    def size(self) -> dict[str, int]:
        """How many nodes and tasks the point has, as srun is told by its environment: what the script says of them."""
        found = {name: decimal(str(self.settings[name].value)) for name in ("nodes", "ntasks") if name in self.settings}
        return {name: number for name, number in found.items() if number is not None}

    @property
    def limit_s(self) -> float | None:
        """The time limit in seconds."""
        time = self.settings.get("time")
        try:
            return None if time is None else float(parse_wall_time(str(time.value)))
        except ValueError:
            return None

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
        return _lines(shown)

    def blamed(self, refusal: str) -> str | None:
        """The place of the directive that a refusal speaks of, as PATH:LINE: #SBATCH ..., if that can be told."""
        for pattern, names in _BLAME:
            if re.search(pattern, refusal, re.IGNORECASE):
                for name in names:
                    if name in self.settings:
                        setting = self.settings[name]
                        return f"{_where(self.path, setting)}: #SBATCH {option_text(name, setting.value)}"
        return None


def read_script(path: Path, source: Source) -> Script:
    """The batch script of a point. Raises InputError if sbatch would refuse its directives."""
    head = _HEAD.match(source.text)
    assert head is not None
    directives = read_directives(Source(source.name, source.text[: head.end()]))
    for problem in directives.problems:
        if problem.stops:
            span = problem.span
            raise InputError(f"{path}:{span.line}:{span.column}: {problem.message}; expected: {problem.expected}")
    for name, setting in directives.settings.items():
        if setting.certainty is Certainty.UNKNOWN:
            raise InputError(f"{_where(path, setting)}: --{name} is no plain value")
    if (array := directives.settings.get("array")) is not None:
        raise InputError(f"{_where(path, array)}: --array: a point of a sweep is one job, not an array of its own")
    return Script(path, directives.settings)


def _lines(shown: dict[str, Any]) -> tuple[str, ...]:
    shown.setdefault("requeue", False)  # a point starts again when somebody asks for it
    lines = (option_text(name, shown[name]) for name in sorted(shown))
    return tuple(line for line in lines if line is not None)


def _where(path: Path, setting: Setting) -> str:
    span = setting.span
    return str(path) if span is None else f"{path}:{span.line}"


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
