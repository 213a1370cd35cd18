"""What the rules say of all points of a sweep, each thing once."""

from __future__ import annotations

from collections.abc import Iterable

from nmlgen.errors import SpecError
from nmlgen.findings import Finding, Report, Undecided, in_order
from nmlgen.sweep.point import Point
from nmlgen.values import evolve, frozen

_NAMED = 3
_UNUSED_SUPPRESSION = "SPC009"


@frozen(eq=False)
class Review:
    """The number of points, how many of them cannot be built, and one report on all: a note of each finding says which
    points it concerns."""

    points: int
    invalid: int
    report: Report


def review(points: Iterable[Point]) -> Review:
    """Check every point. A suppression that is of use at one point is not reported as useless."""
    found: dict[Finding, list[str]] = {}
    counts: dict[Finding, int] = {}
    suppressed: dict[tuple[Finding, str], None] = {}
    undecided: dict[Undecided, None] = {}
    number = invalid = 0
    for point in points:
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
    said = [
        evolve(finding, notes=(*finding.notes, _concerned(names, counts[finding], number)))
        for finding, names in found.items()
        if finding.code != _UNUSED_SUPPRESSION or counts[finding] == number
    ]
    return Review(number, invalid, Report(in_order(said), tuple(suppressed), tuple(undecided)))


def _concerned(names: list[str], count: int, number: int) -> str:
    if count == number:
        return "concerns every point" if number > 1 else f"concerns the only point, {names[0]}"
    more = f" and {count - len(names)} more" if count > len(names) else ""
    return f"concerns {count} of {number} points: {', '.join(names)}{more}"
