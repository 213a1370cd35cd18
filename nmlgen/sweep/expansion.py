"""Expansion: from a spec to the points of its sweep, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from nmlgen.errors import SpecError
from nmlgen.findings import Finding
from nmlgen.spec.document import from_plain
from nmlgen.spec.layers import Tree, merge, tree_of
from nmlgen.spec.spec import Spec, load_spec
from nmlgen.spec.validate import validate
from nmlgen.sweep.plan import Plan, Row, plan_of
from nmlgen.sweep.point import Point, point_of

Invalid = Literal["keep", "skip", "stop"]
Rejected = Callable[[Point, tuple[Finding, ...]], None]


def expand(
    spec: Spec | str | Path | Mapping[str, Any],
    *,
    grid: Mapping[str, Iterable[Any]] | None = None,
    zip: Mapping[str, Iterable[Any]] | None = None,
    points: Iterable[Mapping[str, Any]] | None = None,
    include: Iterable[str] = (),
    exclude: Iterable[str] = (),
    derive: Mapping[str, Any] | None = None,
    repeat: int | None = None,
    name: str | None = None,
    invalid: Invalid = "keep",
    rejected: Rejected | None = None,
) -> Iterator[Point]:
    """The points of a sweep, in order, each made when it is asked for.

    What is varied is given by `grid`, `zip` and `points`, else by the section `sweep` of the spec; the other arguments
    are the keys of that section and stand in the place of what it says. A point that is no experiment, or in which the
    rules find errors, is given like the others ("keep"; `check` and `build` then refuse it), left out ("skip"), or ends
    the sweep with a SpecError ("stop"). `rejected` is called with each such point and its findings, unless it is kept.

    Raises SpecError for a sweep that cannot be expanded, and what `load_spec` raises.
    """
    loaded = spec if isinstance(spec, Spec) else load_spec(spec)
    given = {
        "grid": None if grid is None else {key: list(values) for key, values in grid.items()},
        "zip": None if zip is None else {key: list(values) for key, values in zip.items()},
        "points": list(points) if isinstance(points, (list, tuple)) and points else None,
        "include": list(include) or None,
        "exclude": list(exclude) or None,
        "derive": None if derive is None else dict(derive),
        "repeat": repeat,
        "name": name,
    }
    asked = {key: value for key, value in given.items() if value is not None}
    is_own = grid is None and zip is None and points is None
    plan = plan_of(loaded.without_sweep(), _section(loaded, asked, is_own), points if "points" not in asked else None)
    return _checked(points_of(plan), invalid, rejected)


def plan_of_spec(spec: Spec) -> Plan | None:
    """The plan of the section `sweep` of a spec; None without one. Raises SpecError."""
    section = spec.tree.get("sweep")
    return None if section is None else plan_of(spec.without_sweep(), section)


def points_of(plan: Plan, rows: Iterable[Row] | None = None) -> Iterator[Point]:
    """The points of a plan, or of some of its rows."""
    for values, error in plan.rows() if rows is None else rows:
        yield point_of(plan, values, error)


def _section(spec: Spec, asked: dict[str, Any], is_own: bool) -> Tree:
    """The section of the spec with what is asked for laid over it; without the spec's if it does not count."""
    node = from_plain({"sweep": asked}, "expand")
    validate(node, "spec")
    above = tree_of(node.value["sweep"], "expand")
    own = spec.tree.get("sweep") if is_own else None
    if own is None:
        return above
    kept = {key: child for key, child in (own.children or {}).items() if key not in asked}
    return merge(Tree(own.history, kept, key_span=own.key_span), above)


def _checked(points: Iterator[Point], invalid: Invalid, rejected: Rejected | None) -> Iterator[Point]:
    if invalid == "keep":
        yield from points
        return
    for point in points:
        problems = point.problems
        if problems and rejected is not None:
            rejected(point, problems)
        if problems and invalid == "stop":
            raise SpecError(problems)
        if not problems:
            yield point
