"""The group &t of `tests/real/namelist_runtime.f90`, and what gfortran made of texts that assign to it.

`tests/namelist/gfortran_cases.jsonl` holds one case a line: `id`, `text` (bytes that are not UTF-8 as surrogates),
`icon` (one entry for each header that ICON's search finds, up to the first refusal: `message`, empty if the group
was read, and `values` by element), `plain` (a READ in a loop: `groups` read, `message` of the READ that ended it).
Values are gfortran's own output, as text. `pytest tests/real/test_namelist_runtime.py --regenerate` writes it.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from nmlgen.namelist.assignment import Declaration, assign
from nmlgen.namelist.reader import read
from nmlgen.source import Source

CASES = Path(__file__).parent / "namelist" / "gfortran_cases.jsonl"

_PARTS = {
    "a": Declaration("integer"),
    "b": Declaration("real"),
    "c": Declaration("character", 16),
    "v": Declaration("integer", shape=(3,)),
}
VARIABLES = {
    "i": Declaration("integer"),
    "ia": Declaration("integer", shape=(1000,)),
    "m": Declaration("integer", shape=(2, 3)),
    "lb": Declaration("integer", shape=((-1, 2),)),
    "l8": Declaration("integer", bytes=8),
    "r": Declaration("real"),
    "ra": Declaration("real", shape=(8,)),
    "l": Declaration("logical"),
    "la": Declaration("logical", shape=(6,)),
    "z": Declaration("complex"),
    "za": Declaration("complex", shape=(2,)),
    "s": Declaration("character", 2000),
    "sa": Declaration("character", 20, (6,)),
    "p": Declaration("derived", members=_PARTS),
    "pa": Declaration("derived", shape=(2,), members=_PARTS),
}


def cases() -> list[dict[str, Any]]:
    """The recorded cases."""
    return [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]


def disagreement(case: dict[str, Any]) -> str:
    """How our reading of a text differs from gfortran's; empty where it does not."""
    groups = read(Source("case", case["text"])).copies("t")
    seen = [group for group in groups if group.hidden is None]
    for number, observed in enumerate(case["icon"]):
        if number == len(seen):
            return f"gfortran finds {number + 1} groups, we {number}"
        assignment = assign(seen[number], VARIABLES)
        refused = seen[number].is_refused or assignment.is_refused
        problems = [problem.message for problem in (*seen[number].errors, *assignment.problems)]
        if refused is not bool(observed["message"]):
            return f"gfortran says {observed['message']!r}, we {problems}"
        if refused:
            return ""
        ours = {_designator(*element): assigned.value for element, assigned in assignment.elements.items()}
        if not _same(ours, observed["values"]):
            return f"gfortran reads {observed['values']}, we {ours}; {problems}"
    if len(seen) != len(case["icon"]):
        return f"gfortran finds {len(case['icon'])} groups, we {len(seen)}"
    plain = [group for group in groups if group.hidden is None or group.hidden.kind == "dollar-header"]
    read_whole = 0
    for group in plain:
        if group.is_refused or assign(group, VARIABLES).is_refused:
            break
        read_whole += 1
    if read_whole != case["plain"]["groups"]:
        return f"READ reads {case['plain']['groups']} groups, we {read_whole}"
    return ""


def _designator(name: str, index: tuple[int, ...]) -> str:
    return f"{name}({','.join(map(str, index))})" if index else name


def _same(ours: dict[str, Any], observed: dict[str, str]) -> bool:
    return set(ours) == set(observed) and all(_equal(value, observed[name]) for name, value in ours.items())


def _equal(value: Any, text: str) -> bool:
    """Whether a Python value is what gfortran printed; None is what we do not know."""
    if value is None:
        return True
    if isinstance(value, bool):
        return text == ("T" if value else "F")
    if isinstance(value, str):
        return value.rstrip(" ") == text
    if isinstance(value, int):
        return str(value) == text
    parts = [value.real, value.imag] if isinstance(value, complex) else [value]
    printed = [float(word) for word in text.split()]
    return len(parts) == len(printed) and all(map(_close, parts, printed))


def _close(value: float, printed: float) -> bool:
    """Equal to the last digit of a single precision real."""
    if math.isnan(value) or math.isnan(printed):
        return math.isnan(value) and math.isnan(printed)
    if math.isinf(printed):
        return abs(value) > 3.4e38 and (value > 0) == (printed > 0)
    return math.isclose(value, printed, rel_tol=1e-6, abs_tol=1e-37)
