"""What the rules say of all points of a sweep, each thing once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from nmlgen.errors import SpecError
from nmlgen.findings import Finding, Report, Undecided, in_order
from nmlgen.spec.document import MAXIMUM_WRITTEN
from nmlgen.sweep.expansion import points_of
from nmlgen.sweep.plan import Plan
from nmlgen.sweep.point import Point
from nmlgen.values import evolve, frozen

_NAMED = 3
_ALIKE = 3  # so many that differ in a number only are told
_DIGIT = re.compile(r"\d")
_MOST_POINTS = 200
_FEW = 3
_MOST_WORK = 145_000  # a few seconds
_DERIVED = 5  # what is worked out takes so many times as long as a value of the spec
_UNUSED_SUPPRESSION = "SPC009"


@frozen(eq=False)
class Review:
    """The number of points that were checked, how many there are (or may be, where there are too many to be counted),
    how many of the checked cannot be built, and one report on all: a note of each finding says which points it
    concerns."""

    points: int
    total: int
    invalid: int
    report: Report

    @property
    def is_whole(self) -> bool:
        """Whether every point was checked."""
        return self.points == self.total


def affordable(plan: Plan) -> int:
    """How many points of a plan are checked in a few seconds: counted by what its spec is made of, and by what the
    rules work out of two of them, so that it is the same everywhere."""
    assert plan.base.source is not None, "a spec that was loaded"
    work = MAXIMUM_WRITTEN - plan.base.source.room.written
    some, total = plan.drawn(2)  # of the first, which is listened to, little is kept
    if total > _FEW:
        work += _DERIVED * max(map(_derived, points_of(plan, some)))
    return max(_FEW, min(_MOST_POINTS, _MOST_WORK // max(1, work) - len(some)))


def _derived(point: Point) -> int:
    """How many things the rules have worked out of a point; none of one that is no experiment."""
    try:
        point.report  # noqa: B018
        experiment = point.spec.experiment
    except SpecError:
        return 0
    return sum(len(subject.derived) for subject in (experiment, *experiment.components))


def review(plan: Plan, most: int | None = None, track: Callable[[Iterable[Point]], Iterable[Point]] = iter) -> Review:
    """Check every point of a plan, or so many from all over it. A suppression that is of use at one point, or may be at
    one that was not checked, is not reported as useless. `track` is what the points go through."""
    rows, total = plan.drawn(most)
    found: dict[Finding, list[str]] = {}
    counts: dict[Finding, int] = {}
    suppressed: dict[tuple[Finding, str], None] = {}
    undecided: dict[Undecided, None] = {}
    number = invalid = 0
    for point in track(points_of(plan, rows)):
        number += 1
        invalid += bool(point.problems)
        try:
            report = point.report
        except SpecError as error:
            report = Report(error.findings)
        suppressed.update(dict.fromkeys(report.suppressed))
        undecided.update(dict.fromkeys(report.undecided))
        for finding in report.findings:
            names = found.setdefault(finding, [])
            counts[finding] = counts.get(finding, 0) + 1
            if len(names) < _NAMED:
                names.append(point.name)
    told = {f: names for f, names in found.items() if f.code != _UNUSED_SUPPRESSION or counts[f] == total}
    said = []
    for alike in _alike(told):
        notes = {finding: _concerned(told[finding], counts[finding], number) for finding in alike}
        shown, more = alike[:_ALIKE], alike[_ALIKE:]
        if more:
            others = sum(counts[finding] for finding in more)
            notes[shown[-1]] += f"; {len(more)} more differ from it in a number, at {others} points"
        said += [evolve(finding, notes=(*finding.notes, notes[finding])) for finding in shown]
    return Review(number, total, invalid, Report(in_order(said), tuple(suppressed), tuple(undecided)))


def _alike(findings: Iterable[Finding]) -> Iterable[list[Finding]]:
    """The findings that are of the same place and differ in nothing but a number, in order."""
    found: dict[tuple[Finding, str], list[Finding]] = {}
    for finding in findings:
        words = " ".join((finding.message, *finding.notes)).split()
        said = " ".join("#" if _DIGIT.search(word) else word for word in words)
        found.setdefault((evolve(finding, message="", notes=(), fix=None), said), []).append(finding)
    return found.values()


def _concerned(names: list[str], count: int, number: int) -> str:
    if count == number:
        return "concerns every point" if number > 1 else f"concerns the only point, {names[0]}"
    more = f" and {count - len(names)} more" if count > len(names) else ""
    return f"concerns {count} of {number} points: {', '.join(names)}{more}"
