"""What WRF decides of a namelist once it is read: which settings it refuses, and which it replaces.

The steps of a release stand in `schemas/wrf/<release>-steps.json`, in the order in which the model takes them:
`{"set": target, "to": expression}`, `{"if": [[condition, steps], ...]}` with null for all other cases, `{"do": name,
"from": first, "to": last, "steps": [...]}`, `{"refuse": line}` with `"build": true` where other builds
do not, and the words `cycle`, `exit`, `return`. An expression
has the words and signs of Python's; `km_opt[_i]` is a setting of a domain counted from 1, `km_opt` one that all domains
share, or the values of all; a name that begins with `_` is none of a namelist. What a run alone knows is unknown, and
so is all that depends on it.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from math import isfinite
from struct import pack, unpack
from typing import Any

from nmlgen.models.reading import Cell
from nmlgen.resources import shipped
from nmlgen.values import evolve, frozen

MOST_DOMAINS = 11
"""The length of an array over domains as WRF is built: MAX_DOMAINS_F of `configure` is 21, and
`frame/module_driver_constants.F` halves it."""

_MOST_TURNS = 1000
_COUNTS = "check_nml_consistency"
"""The routine that tells all that it refuses before it stops."""


@frozen
class Refusal:
    """What WRF stops at: the condition that holds, in the words of `steps`, the settings that it looked at, and the
    place in WRF's source; one `of_build` does so as it is built without options."""

    condition: str
    cells: tuple[Cell, ...]
    source: str
    of_build: bool = False


@frozen
class Setting:
    """What a setting is in the end, None where that is not known, and why: the condition under which it was set last,
    "" where it is set in any case, in which `routine`."""

    value: Any
    condition: str
    cells: tuple[Cell, ...]
    source: str
    routine: str


@frozen
class Decisions:
    """What becomes of a namelist: what WRF refuses, and what it sets by itself if it refuses nothing; `own` is what it
    derives for itself, None where that is not known."""

    refusals: tuple[Refusal, ...]
    set: Mapping[Cell, Setting]
    own: Mapping[str, Any]


class _UnknownError(Exception):
    """A value that only a run knows."""


class _Jump(Exception):
    """A CYCLE, EXIT or RETURN."""


class _Cycle(_Jump):
    pass


class _Exit(_Jump):
    pass


class _Return(_Jump):
    pass


class _Stop(Exception):
    """WRF stops here; nothing behind it is looked at."""


_JUMPS: Mapping[str, type[_Jump]] = {"cycle": _Cycle, "exit": _Exit, "return": _Return}
_UNKNOWN = object()


@frozen
class _Reason:
    """The condition on which something is done."""

    condition: str = ""
    cells: tuple[Cell, ...] = ()


def decide(release: str, settings: Mapping[str, Sequence[Any]], tasks: tuple[int, int] | None) -> Decisions:
    """What WRF makes of settings, each with its values by domain, None for one that is not known.

    `tasks` is the mesh of computing tasks in x and y, None where it is not known.
    """
    run = _Run(settings, tasks, _document(release)["own"])
    with suppress(_Stop):
        for routine in _document(release)["routines"]:
            run.routine(routine)
    own = {name.removeprefix("_"): None if value is _UNKNOWN else value for name, value in run.own.items()}
    return Decisions(tuple(dict.fromkeys(run.refusals)), run.set(), own)


class _Run:
    def __init__(
        self, settings: Mapping[str, Sequence[Any]], tasks: tuple[int, int] | None, own: Mapping[str, Any]
    ) -> None:
        self.values = {name: [_UNKNOWN if v is None else v for v in values] for name, values in settings.items()}
        self.own = dict(own)
        if tasks is not None:
            self.values["nproc_x"], self.values["nproc_y"] = [tasks[0]], [tasks[1]]
        else:
            self.values["nproc_x"] = self.values["nproc_y"] = [_UNKNOWN]
        self.why: dict[str, _Reason] = {}
        self.changed: dict[Cell, tuple[_Reason, str, str]] = {}
        self.refusals: list[Refusal] = []
        self.looked_at: list[Cell] = []
        self.reasons: list[_Reason] = []
        self.file = ""
        self.name = ""

    def routine(self, routine: Mapping[str, Any]) -> None:
        self.file = f"{routine['file']}:"
        self.name = routine["routine"]
        with suppress(_Return):
            self.steps(routine["steps"])

    def steps(self, steps: Iterable[Any]) -> None:
        for step in steps:
            if isinstance(step, str):
                raise _JUMPS[step]
            if "if" in step:
                self.choose(step["if"])
            elif "do" in step:
                self.repeat(step)
            elif "set" in step:
                self.put(step)
            else:
                self.refuse(step["refuse"], of_build=step.get("build", False))

    def refuse(self, line: int, *, of_build: bool) -> None:
        reason = self.reasons[-1] if self.reasons else _Reason()
        self.refusals.append(Refusal(reason.condition, reason.cells, f"{self.file}{line}", of_build))
        if self.name != _COUNTS:
            raise _Stop

    def choose(self, branches: Sequence[Sequence[Any]]) -> None:
        conditions: list[str] = []
        cells: list[Cell] = []
        for condition, steps in branches:
            if condition is not None:
                self.looked_at = []
                try:
                    holds = bool(self.value(_parsed(condition)))
                except _UnknownError:
                    for _, others in branches[len(conditions) :]:
                        self.forget(others)
                    return
                found, because = self.told(condition)
                cells += found
                if not holds:
                    conditions.append(condition)
                    continue
                reason = _Reason(because, tuple(dict.fromkeys(found)))
            else:
                text = " and ".join(f"not ({self.told(c)[1]})" for c in conditions)
                reason = _Reason(text, tuple(dict.fromkeys(cells)))
            outer = self.reasons[-1] if self.reasons else None
            if outer is not None and outer.condition and not reason.cells:
                reason = outer
            self.reasons.append(reason)
            try:
                self.steps(steps)
            finally:
                self.reasons.pop()
            return

    def told(self, condition: str) -> tuple[list[Cell], str]:
        """The settings that were looked at for a condition, and the condition for people: a value of the model's own
        is what it was made of."""
        cells, text = list(self.looked_at), condition
        for node in ast.walk(_parsed(condition)):
            name = node.id if isinstance(node, ast.Name) else ""
            if name in self.why:
                cells += self.why[name].cells
                text = self.why[name].condition or text
        place = self.own.get("_i")
        return cells, text.replace("[_i]", f"({place})") if isinstance(place, int) else text

    def repeat(self, step: Mapping[str, Any]) -> None:
        name = step["do"]
        try:
            first, last = self.value(_parsed(step["from"])), self.value(_parsed(step["to"]))
        except _UnknownError:
            self.forget(step["steps"])
            return
        for number in range(first, min(last, first + _MOST_TURNS) + 1):
            self.own[name] = number
            try:
                self.steps(step["steps"])
            except _Cycle:
                continue
            except _Exit:
                break

    def put(self, step: Mapping[str, Any]) -> None:
        self.looked_at = []
        try:
            value = self.value(_parsed(step["to"]))
        except _UnknownError:
            value = _UNKNOWN
        reason = self.reasons[-1] if self.reasons else _Reason()
        target = _parsed(step["set"])
        if isinstance(target, ast.Subscript):
            assert isinstance(target.value, ast.Name)
            name, place = target.value.id, target.slice
        else:
            assert isinstance(target, ast.Name)
            name, place = target.id, None
        if name.startswith("_"):
            self.own[name] = value
            if value not in (0, False):
                self.why[name] = evolve(reason, cells=(*reason.cells, *self.looked_at))
            else:
                self.why.pop(name, None)
            return
        known = self.values[name]
        places = range(len(known)) if place is None or isinstance(place, ast.Slice) else [self.value(place) - 1]
        for index in places:
            if not 0 <= index < len(known):
                continue
            element = value[index] if isinstance(value, list) and index < len(value) else value
            known[index] = element
            cell = (name, index + 1 if len(known) > 1 else 0)
            self.changed[cell] = reason, f"{self.file}{step['line']}", self.name

    def forget(self, steps: Iterable[Any]) -> None:
        """That it is not known whether steps are taken: what they set is not known, either."""
        for step in steps:
            if isinstance(step, str):
                continue
            if "if" in step:
                for _, others in step["if"]:
                    self.forget(others)
            elif "do" in step:
                self.forget(step["steps"])
            elif "set" in step:
                name = step["set"].partition("[")[0]
                if name.startswith("_"):
                    self.own[name] = _UNKNOWN
                else:
                    self.values[name] = [_UNKNOWN] * len(self.values[name])

    def set(self) -> dict[Cell, Setting]:
        """What the settings that were set are in the end."""
        found = {}
        for (name, place), (reason, source, routine) in self.changed.items():
            value = self.values[name][max(place - 1, 0)]
            known = None if value is _UNKNOWN else value
            found[name, place] = Setting(known, reason.condition, reason.cells, source, routine)
        return found

    # --- Expressions ---

    def value(self, node: ast.AST) -> Any:
        """The value of an expression; raises _UnknownError."""
        found = self.of(node)
        if found is _UNKNOWN:
            raise _UnknownError
        return found

    def of(self, node: ast.AST) -> Any:
        if isinstance(node, ast.Constant):
            return _single(node.value)
        if isinstance(node, ast.Name):
            return self.named(node.id)
        if isinstance(node, ast.Subscript):
            return self.element(node)
        if isinstance(node, ast.BoolOp):
            return self.both(node)
        if isinstance(node, ast.UnaryOp):
            operand = self.of(node.operand)
            if operand is _UNKNOWN:
                return _UNKNOWN
            return not operand if isinstance(node.op, ast.Not) else -operand
        if isinstance(node, (ast.BinOp, ast.Compare)):
            return self.operation(node)
        assert isinstance(node, ast.Call)
        return self.function(node)

    def named(self, name: str) -> Any:
        if name in self.own:
            return self.own[name]
        if name not in self.values:  # a value of the model's own, or of the machine
            return _UNKNOWN
        values = self.values[name]
        if len(values) > 1:
            self.looked_at += ((name, place) for place in range(1, len(values) + 1))
            return _UNKNOWN if _UNKNOWN in values else values
        self.looked_at.append((name, 0))
        return values[0]

    def element(self, node: ast.Subscript) -> Any:
        assert isinstance(node.value, ast.Name)
        values = self.values.get(node.value.id)
        if values is None:
            return _UNKNOWN
        if isinstance(node.slice, ast.Slice):
            first = 1 if node.slice.lower is None else self.value(node.slice.lower)
            last = len(values) if node.slice.upper is None else min(self.value(node.slice.upper), len(values))
            self.looked_at += ((node.value.id, place) for place in range(first, last + 1))
            found = values[first - 1 : last]
            return _UNKNOWN if _UNKNOWN in found else found
        place = self.value(node.slice)
        self.looked_at.append((node.value.id, place if len(values) > 1 else 0))
        return values[place - 1] if 0 < place <= len(values) else _UNKNOWN

    def both(self, node: ast.BoolOp) -> Any:
        decides = isinstance(node.op, ast.Or)
        found = [self.of(value) for value in node.values]
        if any(value is not _UNKNOWN and bool(value) is decides for value in found):
            return decides
        return _UNKNOWN if any(value is _UNKNOWN for value in found) else not decides

    def operation(self, node: ast.BinOp | ast.Compare) -> Any:
        left = self.of(node.left)
        right = self.of(node.comparators[0] if isinstance(node, ast.Compare) else node.right)
        if left is _UNKNOWN or right is _UNKNOWN:
            return _UNKNOWN
        sign = type(node.ops[0] if isinstance(node, ast.Compare) else node.op)
        try:
            if isinstance(left, list) and not isinstance(right, list):
                return [_OPERATORS[sign](item, right) for item in left]
            return _single(_OPERATORS[sign](_single(left), _single(right)))
        except (TypeError, ZeroDivisionError, OverflowError):  # WRF would crash, or do what nobody knows
            return _UNKNOWN

    def function(self, node: ast.Call) -> Any:
        assert isinstance(node.func, ast.Name)
        arguments = [self.of(argument) for argument in node.args]
        if node.func.id == "product_of_ratios":
            return self.product_of_ratios(arguments[0])
        try:
            return _UNKNOWN if _UNKNOWN in arguments else _FUNCTIONS[node.func.id](*arguments)
        except (TypeError, ValueError, OverflowError):  # such as the largest of no domains
            return _UNKNOWN

    def product_of_ratios(self, domain: Any) -> Any:
        """By how much the grid of a domain is finer than that of the first one."""
        product = 1
        for _ in range(MOST_DOMAINS):
            if domain == 1:
                return product
            ratios, parents = self.values["parent_grid_ratio"], self.values["parent_id"]
            if domain is _UNKNOWN or not 0 < domain <= len(parents) or ratios[domain - 1] is _UNKNOWN:
                return _UNKNOWN
            product *= ratios[domain - 1]
            domain = parents[domain - 1]
        return _UNKNOWN


def _single(value: Any) -> Any:
    """A real as WRF holds it, in four bytes."""
    if not isinstance(value, float) or not isfinite(value):
        return value
    return unpack("f", pack("f", value))[0]


def _divided(left: Any, right: Any) -> Any:
    """A quotient as Fortran has it: of two integers without its fraction."""
    if isinstance(left, int) and isinstance(right, int):
        quotient = abs(left) // abs(right)
        return quotient if (left < 0) == (right < 0) else -quotient
    return left / right


def _equal(left: Any, right: Any) -> bool:
    if isinstance(left, str) and isinstance(right, str):
        return left.rstrip() == right.rstrip()
    return bool(left == right)


def _remainder(left: int, right: int) -> int:
    return left - right * int(_divided(left, right)) if right else 0


_OPERATORS: Mapping[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Eq: _equal,
    ast.NotEq: lambda left, right: not _equal(left, right),
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: _divided,
}
_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "maxval": max,
    "max": max,
    "min": min,
    "any": any,
    "abs": abs,
    "real": float,
    "mod": _remainder,
    "trim": str.rstrip,
    "lower": str.lower,
    "len_trim": lambda text: len(text.rstrip()),
    "index": lambda text, part: text.find(part) + 1,
}


@cache
def _parsed(expression: str) -> ast.AST:
    return ast.parse(expression, mode="eval").body


@cache
def _document(release: str) -> Mapping[str, Any]:
    document: Mapping[str, Any] = shipped("wrf", f"{release}-steps.json")
    return document
