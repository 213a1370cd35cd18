"""The section `domains` of a spec: nests by names of one's own, which ICON knows as lists by domain.

The first domain is that of `grid`. A nest without a `parent` is one of the first domain; parents stand before their
nests. Sources: ICON 2024.10 `mo_grid_nml.f90` (grids, parents, times, feedback), `mo_run_nml.f90` (levels).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import PurePosixPath
from typing import Any

from nmlgen.findings import Finding, did_you_mean
from nmlgen.source import Span
from nmlgen.spec.layers import Tree
from nmlgen.spec.problems import problem
from nmlgen.units.duration import Duration

Lists = dict[tuple[str, str], Any]
"""The values of namelist variables by their group and name, in lower case."""

_GRIDS, _PARENTS = ("grid_nml", "dynamics_grid_filename"), ("grid_nml", "dynamics_parent_grid_id")
_LEVELS, _VERTICAL = ("run_nml", "num_lev"), ("run_nml", "lvert_nest")
_TIMES = {"start": (("grid_nml", "start_time"), 0.0), "end": (("grid_nml", "end_time"), 1.0e30)}
_FEEDBACK = ("grid_nml", "lfeedback")
_DEFAULT_LEVELS = 31
_MOST_NESTS = 1_000  # ICON has room for ten
_MOST_NAMED = 50
_KEY_OF = {_GRIDS: "file", _PARENTS: "parent", _LEVELS: "num_lev", _FEEDBACK: "lfeedback"} | {
    variable: key for key, (variable, _) in _TIMES.items()
}


def mistakes(domains: Tree, namelists: Tree | None) -> Iterator[Finding]:
    """What cannot be lowered: nests without a file, parents that do not stand before, variables that are set twice."""
    nests = domains.children or {}
    for beyond in islice(nests.values(), _MOST_NESTS, None):
        yield problem("SPC006", f"more than {_MOST_NESTS} nests of one model", beyond.key_span)
        return
    seen: list[str] = []
    for label, nest in nests.items():
        if nest.is_unset:
            continue
        if nest.get("file") is None:
            yield problem("SPC005", f"domains.{label}.file is not set", nest.key_span, "expected: its grid file")
        parent = nest.get("parent")
        if parent is not None and parent.value not in seen:
            some = seen[:_MOST_NAMED]
            notes = did_you_mean(str(parent.value), some) or (f"before it stand {', '.join(some) or 'none'}",)
            yield problem("SPC004", f'domains.{label}.parent is "{parent.value}"', parent.span, *notes)
        for key in _TIMES:
            if (given := nest.get(key)) is not None and not _is_fixed(str(given.value)):
                expected = "expected: a duration from the start of the experiment, such as PT6H"
                yield problem("SPC004", f'domains.{label}.{key} is "{given.value}"', given.span, expected)
        seen.append(label)
    for group, name in (_GRIDS, _PARENTS, _FEEDBACK, *(variable for variable, _ in _TIMES.values())):
        if seen and namelists is not None and (said := namelists.at(group, name)) is not None:
            yield problem(
                "SPC008", f"{group}.{name} is set, and so are domains", said.key_span, "remove one of the two"
            )


def _is_fixed(text: str) -> bool:
    try:
        return Duration.parse(text).is_fixed
    except ValueError:
        return False


def lists_of(file: str, levels: Any, domains: Mapping[str, Mapping[str, Any]]) -> Lists:
    """The lists that the nests make, with the grid file and the levels of the first domain. No more than they say."""
    nests = list(domains.values())
    numbers = {label: number for number, label in enumerate(domains, start=2)}
    parents = [numbers.get(nest.get("parent", ""), 1) for nest in nests]
    found: Lists = {
        _GRIDS: [file, *(PurePosixPath(nest["file"]).name for nest in nests)],
        _PARENTS: [0, *parents],
    }
    if any("num_lev" in nest for nest in nests):
        counts = [levels[0] if isinstance(levels, (list, tuple)) else levels or _DEFAULT_LEVELS]
        for nest, parent in zip(nests, parents, strict=True):
            counts.append(nest.get("num_lev", counts[parent - 1]))
        found |= {_LEVELS: counts, _VERTICAL: True}
    for key, (variable, default) in _TIMES.items():
        if any(key in nest for nest in nests):
            times = [Duration.parse(nest[key]).seconds if key in nest else default for nest in nests]
            found[variable] = [default, *times]
    if any("lfeedback" in nest for nest in nests):
        found[_FEEDBACK] = [True, *(nest.get("lfeedback", True) for nest in nests)]
    return found


def spans_of(variable: tuple[str, str], domains: Tree) -> tuple[Span | None, ...]:
    """Where each element of a list that the nests make was written, that of the first domain included: at the value of
    its key, at the nest where it has none."""
    nests = [nest for nest in (domains.children or {}).values() if not nest.is_unset]
    said = (nest.get(_KEY_OF.get(variable, "file")) for nest in nests)
    places = [key.span if key is not None else nest.key_span for nest, key in zip(nests, said, strict=True)]
    return (domains.key_span, *places)


def domains_of(variables: Lists) -> dict[str, dict[str, Any]]:
    """The nests that make these variables, with the names of their grids in the run directory as files; none where no
    nests make just these."""
    grids = variables.get(_GRIDS)
    if not isinstance(grids, list) or len(grids) < 2 or not all(isinstance(name, str) and name for name in grids):
        return {}
    labels = ["", "", *(f"dom{number:02d}" for number in range(2, len(grids) + 1))]
    found: dict[str, dict[str, Any]] = {
        label: {"file": name} for label, name in zip(labels[2:], grids[1:], strict=True)
    }
    for number, nest in enumerate(found.values(), start=2):
        parent = _element(variables, _PARENTS, number)
        if isinstance(parent, int) and 1 < parent < number:
            nest["parent"] = labels[parent]
        if variables.get(_VERTICAL) is True and (levels := _element(variables, _LEVELS, number)) is not None:
            nest["num_lev"] = levels
        for key, (variable, default) in _TIMES.items():
            seconds = _element(variables, variable, number)
            if isinstance(seconds, (int, float)) and seconds != default and float(seconds).is_integer():
                nest[key] = f"{'-' if seconds < 0 else ''}PT{abs(int(seconds))}S"
                if not _is_fixed(nest[key]):
                    return {}
        if isinstance(told := _element(variables, _FEEDBACK, number), bool):
            nest["lfeedback"] = told
    made = lists_of(grids[0], variables.get(_LEVELS), found)
    taken = (_GRIDS, _PARENTS, _FEEDBACK, *(variable for variable, _ in _TIMES.values()))
    is_same = all(variables.get(variable) == value for variable, value in made.items())
    return found if is_same and all(variable in made for variable in taken if variable in variables) else {}


def _element(variables: Lists, variable: tuple[str, str], number: int) -> Any:
    """The value for a domain, counted from 1."""
    values = variables.get(variable)
    return values[number - 1] if isinstance(values, list) and len(values) >= number else None
