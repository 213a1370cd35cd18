"""What the points of a sweep may take of a project's budget: by their time limits, and by what the advisor expects."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from nmlgen.sweep.arrays import SweepPoint, read_script
from nmlgen.sweep.directory import FIRST_COLUMNS, read_table
from nmlgen.sweep.expecting import Expectations, Expected
from nmlgen.values import frozen

_MOST_EXPECTED = 1000  # points; more than the advisor can look at while somebody waits


@frozen
class Hours:
    """Node hours and core hours; these are None where nobody knows the cores of a node."""

    node: float
    core: float | None

    def __add__(self, other: Hours) -> Hours:
        cores = None if self.core is None or other.core is None else self.core + other.core
        return Hours(self.node + other.node, cores)


@frozen
class Demand:
    """What `points` points take together: `most`, if every job of theirs uses its whole time limit, and what the
    advisor expects; `low` and `high` sum up the 80 % intervals of the points. None where one of them does not tell."""

    points: int
    most: Hours | None
    expected: Hours | None
    low: Hours | None = None
    high: Hours | None = None


def demand(sweep: str | Path, points: Collection[str]) -> Demand:
    """The demand of those points of a sweep, given by name, with all jobs of their chains.

    Raises InputError if there is no sweep, or a point's script cannot be used.
    """
    directory, named = Path(sweep), set(points)
    rows = [row for row in read_table(directory) if row["name"] in named and row["state"] == "built"]
    expectations = Expectations(directory, None) if len(rows) <= _MOST_EXPECTED else None
    most: list[Hours | None] = []
    by_time: tuple[list[Hours | None], ...] = ([], [], [])
    for row in rows:
        script = read_script(directory, SweepPoint(row["id"], row["name"], row["directory"]))
        expected = Expected() if expectations is None else expectations.of(directory / row["directory"], _values(row))
        nodes = expected.nodes or script.job.size.get("nodes")
        limit_s = script.job.limit_s
        most.append(_hours(None if limit_s is None else script.legs * limit_s, nodes, expected.cores))
        found = expected.predicted
        times = (None,) * 3 if found is None else (found.total_s, found.low_s, found.high_s)
        for column, time in zip(by_time, times, strict=True):
            column.append(_hours(time, nodes, expected.cores))
    return Demand(len(rows), _sum(most), *map(_sum, by_time))


def _values(row: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in row.items() if key not in FIRST_COLUMNS and value != ""}


def _hours(seconds: float | None, nodes: int | None, cores: int | None) -> Hours | None:
    if seconds is None or nodes is None:
        return None
    return Hours(nodes * seconds / 3600, None if cores is None else cores * seconds / 3600)


def _sum(hours: list[Hours | None]) -> Hours | None:
    total = Hours(0.0, 0.0)
    for one in hours:
        if one is None:
            return None
        total += one
    return total if hours else None
