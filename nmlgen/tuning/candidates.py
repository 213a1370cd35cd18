"""What may be tried: the points of a spec's own sweep, or its numbers of I/O ranks and partitions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from nmlgen.advise.case import Case
from nmlgen.advise.experiment import Output, Situation, situation_of, situation_on_any_device
from nmlgen.errors import InputError, SpecError
from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.setting import UndecidedError
from nmlgen.findings import Finding
from nmlgen.models.icon.ranks import MOST_PARTITIONS
from nmlgen.rechecking import Rechecker
from nmlgen.spec.spec import Spec
from nmlgen.sweep.expansion import expand
from nmlgen.sweep.point import Point
from nmlgen.units.wall_time import parse_wall_time
from nmlgen.values import field, frozen

IO_RANKS = "parallel.num_io_procs"


@frozen(eq=False)
class Candidate:
    """A point that may be tried, on so many `nodes`; `situation` is what the I/O model is asked, None where something
    is not known that it needs. `limit_s` is the time that its job may take, if that is known."""

    point: Point
    situation: Situation | None = field(repr=False)
    nodes: int
    limit_s: float | None

    @property
    def case(self) -> Case | None:
        """The run as the I/O model sees it."""
        return None if self.situation is None else self.situation.case


@frozen(eq=False)
class Candidates:
    """All that may be tried, and the points that cannot be built, each with the findings that say why; how many layouts
    are `left_out`, as there are so many outputs."""

    candidates: tuple[Candidate, ...]
    rejected: tuple[tuple[Point, tuple[Finding, ...]], ...]
    left_out: int = 0

    @property
    def unseen(self) -> tuple[str, ...]:
        """The keys of which the I/O model knows nothing: candidates that differ in them are the same to it."""
        keys = dict.fromkeys(key for candidate in self.candidates for key in candidate.point.values)
        if any(candidate.case is None for candidate in self.candidates):
            return tuple(keys)
        return tuple(key for key in keys if self._is_unseen(key))

    def _is_unseen(self, key: str) -> bool:
        by_case: dict[Case | None, set[str]] = {}
        for candidate in self.candidates:
            by_case.setdefault(candidate.case, set()).add(repr(candidate.point.values.get(key)))
        return any(len(values) > 1 for values in by_case.values())


_MOST_POINTS = 400


def candidates_of(spec: Spec) -> Candidates:
    """The points of the spec's section `sweep`; without one, numbers of I/O ranks, each with the partitions that leave
    none of them idle.

    Raises SpecError for a sweep that cannot be expanded, InputError if there is nothing to choose from, or too much.
    """
    spec.experiment.require_icon("what candidates cost")
    left_out = 0
    points: Iterable[Point]
    if spec.tree.get("sweep") is not None:
        points = list(islice(expand(spec), _MOST_POINTS + 1))
        if len(points) > _MOST_POINTS:
            message = f"the sweep has more than {_MOST_POINTS} points, and each is weighed before every run"
            raise InputError(f"{message}; give fewer values, or leave some out with `exclude`")
    else:
        layouts, left_out = _layouts(spec)
        keys = list(layouts[0])
        name = "-".join(("{name}", f"io{{{keys[0]}}}", *(f"p{{{key}}}" for key in keys[1:2])))
        points = expand(spec, points=layouts, name=name)
    rechecker = Rechecker(only_errors=True)
    found: dict[str, Point] = {}
    rejected: list[tuple[Point, tuple[Finding, ...]]] = []
    for point in points:
        if errors := point.errors(rechecker):
            rejected.append((point, errors))
        else:
            found[point.id] = point
    if not found:
        if rejected:
            raise SpecError(rejected[0][1])
        raise InputError("there is nothing to choose from: the sweep has no points")
    return Candidates(tuple(map(_candidate, found.values())), tuple(rejected), left_out)


def _candidate(point: Point) -> Candidate:
    experiment = point.spec.experiment
    try:
        situation = situation_of(experiment.components[0])
    except UndecidedError:
        situation = None
    nodes = situation.case.nodes if situation is not None else _directive(experiment, "nodes")
    limit = _directive(experiment, "time")
    return Candidate(point, situation, nodes or 1, limit)


def _directive(experiment: Experiment, name: str) -> int | None:
    setting = experiment.directives.get(name)
    try:
        return (
            None if setting is None else parse_wall_time(str(setting.value)) if name == "time" else int(setting.value)
        )
    except (UndecidedError, ValueError, TypeError):
        return None


_MOST_OUTPUTS = 300
"""A bound on work: so many outputs are looked at in all layouts together."""


def _layouts(spec: Spec) -> tuple[list[Mapping[str, Any]], int]:
    """Powers of two of I/O ranks, with powers of two of partitions of every output that can have them: no more than
    I/O ranks, and no fewer files than these. Where files of an output cannot be shared by so many, as many as can. Of
    very many outputs every second one of these, or fewer, and how many are left out."""
    try:
        situation = situation_on_any_device(spec.experiment.components[0])
    except UndecidedError as error:
        message = f"{error.setting.name} is not known, so it is not clear how many I/O ranks there may be"
        raise InputError(f"{message}; say in a section `sweep` of the spec what to try") from None
    if not situation.outputs:
        raise InputError("the spec writes no output: say in a section `sweep` of the spec what to try")
    outputs = situation.outputs
    keys = [None if output.is_whole else f"output.{output.stream.label}.{output.variable}" for output in outputs]
    layouts = [(0, (1,) * len(outputs))]
    by_most = {most: tuple(_partitions(output, most) for output in outputs) for most in _powers(MOST_PARTITIONS)}
    for ranks in _powers(situation.case.ntasks - situation.case.restart_ranks - 1):
        for most in _powers(min(ranks, MOST_PARTITIONS)):
            partitions = by_most[most]
            files = sum(partitions)
            if files >= ranks or most == min(ranks, MOST_PARTITIONS):
                layouts.append((min(ranks, files), partitions))
    different = list(dict.fromkeys(layouts))
    tried = different[:: -(-len(outputs) * len(different) // _MOST_OUTPUTS)]
    return [
        {IO_RANKS: ranks} | {key: number for key, number in zip(keys, partitions, strict=True) if key is not None}
        for ranks, partitions in tried
    ], len(different) - len(tried)


def _partitions(output: Output, wanted: int) -> int:
    """At most so many partitions, as the files of the output allow."""
    return (
        1 if output.is_whole else max(number for number in range(1, wanted + 1) if number == 1 or output.fits(number))
    )


def _powers(most: int) -> Iterator[int]:
    number = 1
    while number <= most:
        yield number
        number *= 2
