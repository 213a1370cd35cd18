"""The batch script of a point of a sweep: its #PBS lines, as arrays ask for them."""

from __future__ import annotations

import re
from pathlib import Path

from nmlgen.errors import InputError
from nmlgen.schedulers.pbs.directives import GivenPbsOption, pbs_directives, read_pbs_directives
from nmlgen.schedulers.pbs.lines import quoted
from nmlgen.schedulers.pbs.request import read
from nmlgen.schedulers.request import Request
from nmlgen.source import Source
from nmlgen.values import field, frozen

_OWN = frozenset("NoejkrRz")
"""Names, logs, and whether PBS may run the point again, which no array can refuse: its script sees to that."""
_DEPENDS = re.compile(r"(?:^|,)depend=([^=]*?)(?=,\w+=|$)")


@frozen(eq=False)
class Script:
    """A script, its options in the order of writing, and what they ask for."""

    path: Path
    options: tuple[GivenPbsOption, ...] = field(repr=False)
    request: Request = field(repr=False)

    @property
    def directives(self) -> tuple[str, ...]:
        """What an array with this point asks for, as the text after #PBS."""
        return tuple(_text(option) for option in self.options if option.letter not in _OWN)

    @property
    def dependency(self) -> str | None:
        """What the point waits for by itself."""
        found = [_DEPENDS.search(_value(option)) for option in self.options if option.letter == "W"]
        return next((match[1] for match in reversed(found) if match is not None), None)

    @property
    def is_restarted(self) -> bool:
        """Whether PBS may run the point again where its node fails: it may, unless the script says otherwise."""
        wish = self.request.wishes.get("rerun")
        return wish is None or bool(wish.value)

    @property
    def size(self) -> dict[str, int]:
        """How many nodes and tasks the point has, as far as that is said."""
        found = {"nodes": self.request.wishes.get("nodes"), "ntasks": self.request.wishes.get("tasks")}
        return {name: wish.value for name, wish in found.items() if wish is not None}

    @property
    def limit_s(self) -> float | None:
        """The time limit in seconds."""
        wish = self.request.wishes.get("walltime")
        return None if wish is None else float(wish.value)

    def packed(self, pack: int) -> tuple[str, ...]:
        """No job of PBS runs several points: raises InputError."""
        raise InputError(f"{self.path}: on PBS each point has a job; several share one on Slurm alone, by srun")

    def blamed(self, refusal: str) -> str | None:
        """The place of the directive that a refusal speaks of, as PATH:LINE: #PBS ..., if that can be told."""
        for pattern, letter in _BLAME:
            if re.search(pattern, refusal, re.IGNORECASE):
                for option in self.options:
                    if option.letter == letter:
                        return f"{self.path}:{option.word.span.line}: #PBS {_text(option)}"
        return None


def read_script(path: Path, source: Source) -> Script:
    """The batch script of a point. Raises InputError if qsub would refuse its directives."""
    for problem in read_pbs_directives(source):
        if problem.stops:
            span = problem.span
            raise InputError(f"{path}:{span.line}:{span.column}: {problem.message}; expected: {problem.expected}")
    given = tuple(option for directive in pbs_directives(source) for option in directive.options()[0])
    for option in given:
        if option.letter == "J":
            where = f"{path}:{option.word.span.line}"
            raise InputError(f"{where}: -J: a point of a sweep is one job, not an array of its own")
    return Script(path, given, read(source))


def _value(option: GivenPbsOption) -> str:
    return option.value.start if option.value is not None else ""


def _text(option: GivenPbsOption) -> str:
    return f"-{option.letter} {quoted(_value(option))}".rstrip()


# What qsub says, and the option it may mean.
_BLAME = (
    (r"queue|route", "q"),
    (r"account", "A"),
    (r"project", "P"),
    (r"depend", "W"),
    (r"resource|walltime|select|place|chunk|-l ", "l"),
)
