"""What a READ of a group would assign, given how its variables are declared; and where it would stop.

The rules are those of gfortran's runtime as it was seen to behave (gfortran 12), see
`tests/real/test_namelist_runtime.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from nmlgen.findings import Edit, Fix, nearest
from nmlgen.namelist.registry import Registry
from nmlgen.namelist.syntax import Group, Index, Item, Part, SyntaxProblem, Value
from nmlgen.source import Span, encoded
from nmlgen.values import field, frozen

Dimensions = tuple[int | tuple[int, int], ...]
_LONGEST_TEXT = 10_000  # bytes of which a substring may be the last; of longer ones the text is not known
_UNKNOWN_EXTENT = 100_000  # so many elements of an array of unknown shape are followed


@frozen
class Declaration:
    """How a variable is declared.

    `type` is "integer", "real", "logical", "character", "complex", "derived" or "unknown"; `length` the LEN of a
    character variable, None if not known; `shape` its dimensions, an int n for 1:n or a pair for other bounds, None
    when not known; `bytes` the size of an integer; `members` the components of a derived type. `in_order` tells
    whether the components are all there, in the order of the type's definition.
    """

    type: str
    length: int | None = None
    shape: Dimensions | None = ()
    bytes: int = 4
    members: Mapping[str, Declaration] = field(factory=dict)
    in_order: bool = True

    @property
    def bounds(self) -> tuple[tuple[int, int], ...]:
        """Lower and upper bound of each dimension; none where the shape is not known."""
        return tuple((1, extent) if isinstance(extent, int) else extent for extent in self.shape or ())


Declarations = Mapping[str, Declaration]
Element = tuple[str, tuple[int, ...]]


@frozen
class Assigned:
    """What an element was given: the Python value (None where it is not known, or only in part), and by what."""

    value: Any
    item: Item
    written: Value


@frozen
class Assignment:
    """What a group assigns.

    `elements` holds the last value of each element, by the name of its variable or component in lower case and its
    subscripts: `("pa(2)%v", (1,))`. `problems` says where the runtime stops, or reads other than is written.
    """

    elements: Mapping[Element, Assigned]
    problems: tuple[SyntaxProblem, ...]

    @property
    def is_refused(self) -> bool:
        """Whether the runtime stops."""
        return any(problem.stops for problem in self.problems)


@cache
def declarations(registry: Registry, group: str) -> dict[str, Declaration]:
    """The variables of a group as a release declares them; components are put under their variable."""
    found: dict[str, Declaration] = {}
    for name in registry.variables(group):
        variable = registry.variable(group, name)
        if variable is None:
            continue
        wide = variable.type == "integer" and bool(variable.shape == ()) and variable.accepts(2**31)
        shapes = variable.base_shapes
        declared = Declaration(variable.type, variable.length, variable.shape, 8 if wide else 4)
        *bases, last = name.split("%")
        members: dict[str, Declaration] = found
        for depth, base in enumerate(bases):
            shape = shapes[depth] if depth < len(shapes) else None
            inner = members.setdefault(base, Declaration("derived", shape=shape, members={}, in_order=False)).members
            assert isinstance(inner, dict)
            members = inner
        members.setdefault(last, declared)
    return found


def assign(group: Group, declared: Declarations) -> Assignment:
    """What a READ of the group assigns to variables declared so, item by item.

    Errors of the text that need no declarations are those of `group.errors`; they are not repeated. An item with a
    problem that stops the runtime assigns nothing.
    """
    elements: dict[Element, Assigned] = {}
    problems: list[SyntaxProblem] = []
    for item in group.items:
        try:
            given, remarks = _given(item, declared)
        except _Refusal as refusal:
            problems.append(refusal.problem)
            continue
        problems += remarks
        for element, slot, assigned in given:
            before = elements.get(element)
            elements[element] = slot.put(assigned, before)
    return Assignment(elements, tuple(problems))


class _Refusal(Exception):
    """The runtime stops here."""

    def __init__(self, kind: str, message: str, span: Span, expected: str, fix: Fix | None = None) -> None:
        super().__init__(message)
        self.problem = SyntaxProblem(kind, message, span, expected, fix=fix)


@frozen
class _Slot:
    """A place for one value: an element, or a substring of it (`first` to `last`, in bytes from 1)."""

    element: Element
    declared: Declaration
    first: int | None = None
    last: int | None = None

    @property
    def length(self) -> int | None:
        if self.first is not None and self.last is not None:
            return self.last - self.first + 1
        return self.declared.length

    def put(self, assigned: Assigned, before: Assigned | None) -> Assigned:
        """The element after the assignment."""
        if self.first is None:
            return assigned
        is_known = before is not None and isinstance(before.value, str) and assigned.value is not None
        if before is None or not is_known or self.last is None or self.last > _LONGEST_TEXT:
            return Assigned(None, assigned.item, assigned.written)
        old = encoded(before.value).ljust(self.last)
        width = self.last - self.first + 1
        new = old[: self.first - 1] + encoded(assigned.value)[:width].ljust(width) + old[self.last :]
        return Assigned(_decoded(new), assigned.item, assigned.written)


_Given = list[tuple[Element, _Slot, Assigned]]


def _given(item: Item, declared: Declarations) -> tuple[_Given, list[SyntaxProblem]]:
    variable = _variable(item, declared)
    if variable.shape == () and not variable.members and item.is_plain:
        return _given_one(item, variable)
    target = _target(item, variable)
    given: _Given = []
    remarks: list[SyntaxProblem] = []
    last = max((number for number, value in enumerate(item.values) if value.kind != "null"), default=-1)
    for number, value in enumerate(item.values):
        is_count = value.end > value.start  # such as 3*
        if value.kind == "unknown" and (slot := next(target.slots, None)) is not None:
            given.append((slot.element, slot, Assigned(None, item, value)))
            if value.text[0] in "'\"":
                continue
            return given, remarks  # it may stand for several
        declared_before: Declaration | None = None
        converted: Any = None
        component = ""
        for copy in range(value.repeat):
            slot = next(target.slots, None)
            if slot is None and target.is_open:
                return given, remarks
            if slot is not None and copy and slot.element[0] != component:
                raise _too_many(item, value, copy, variable)  # a repeat count does not go on in the next component
            if slot is None:
                if value.kind == "null" and not is_count:
                    break
                raise _too_many(item, value, copy, variable)
            component = slot.element[0]
            if value.kind == "null":
                _check_null(slot, value, is_followed=number < last)
                continue
            if slot.declared is not declared_before:
                converted, remark = _converted(value, slot)
                remarks += remark
                declared_before = slot.declared
            if converted is not None:
                given.append((slot.element, slot, Assigned(converted, item, value)))
    return given, remarks


def _variable(item: Item, declared: Declarations) -> Declaration:
    variable = declared.get(item.base)
    if variable is not None:
        return variable
    part = item.path[0]
    raise _Refusal(
        "unknown-variable",
        f'"{part.name}" is not a variable of the group',
        item.origin.span(part.start, part.start + len(part.name)),
        "a variable of the group",
    )


def _given_one(item: Item, variable: Declaration) -> tuple[_Given, list[SyntaxProblem]]:
    """The usual case: one value for a variable that is no array."""
    value = item.values[0]
    slot = _Slot((item.base, ()), variable)
    if value.kind == "unknown":
        return [(slot.element, slot, Assigned(None, item, value))], []
    if value.kind == "null":
        return [], []
    converted, remarks = _converted(value, slot)
    return ([] if converted is None else [(slot.element, slot, Assigned(converted, item, value))]), remarks


def _too_many(item: Item, value: Value, copy: int, variable: Declaration) -> _Refusal:
    if value.repeat > 1 and copy:
        message = f'"{_shown(value.text)}" gives {item.name} more values than it holds'
    else:
        message = f'"{_shown(value.text)}" is one value too many for {item.name}'
    kind = "array-full" if variable.shape else "too-many-values"
    return _Refusal(kind, message, value.span, "as many values as the variable holds, or fewer")


def _check_null(slot: _Slot, value: Value, *, is_followed: bool) -> None:
    """A string or a complex variable takes no further value behind such a null."""
    no_string = slot.declared.type == "character" and value.is_comment
    if is_followed and value.start == value.end and (no_string or slot.declared.type == "complex"):
        span = value.origin.span(value.start, value.start + 1)
        message = f"no further {slot.declared.type} value is read after the empty one here"
        raise _Refusal("value-after-null", message, span, "a value, or n* for n values that stay as they are")


# --- Which elements a designator means ---


@frozen
class _Target:
    """The places that the values of an item go to, in order; `is_open` if there may be more than is known."""

    slots: Iterator[_Slot]
    is_open: bool = False


@frozen
class _Choice:
    """The elements of one part of a designator: its name and the subscripts of each dimension."""

    name: str
    ranges: tuple[range, ...]


def _target(item: Item, variable: Declaration) -> _Target:
    """Raises _Refusal for a designator that the runtime refuses."""
    declared = variable
    choices: list[_Choice] = []
    arrays = 0
    first = last = None
    for number, part in enumerate(item.path):
        if number:
            declared = _component(declared, part, item)
        if declared.type == "unknown" or any(subscripts is None for subscripts in part.subscripts):
            return _Target(iter(()), is_open=True)
        lists = [subscripts for subscripts in part.subscripts if subscripts is not None]
        own, rest = (lists[:1], lists[1:]) if declared.shape != () else ([], lists)
        if declared.shape is None and not (own and all(not index.is_section for index in own[0])):
            ranges: tuple[range, ...] = (range(1, _UNKNOWN_EXTENT + 1),)
        else:
            ranges = _ranges(part, declared, own[0] if own else None, item)
        arrays += any(len(extent) > 1 for extent in ranges) or (
            bool(ranges) and (not own or any(index.is_section for index in own[0]))
        )
        choices.append(_Choice(part.name, ranges))
        if rest:
            first, last = _substring(part, declared, rest, item, is_last=number == len(item.path) - 1)
    if arrays > 1:
        message = f'"{_shown(item.name)}" goes through more than one array'
        raise _Refusal("several-arrays", message, item.name_span, "subscripts of single elements for all but one")
    if declared.members and not declared.in_order:
        return _Target(iter(()), is_open=True)
    slots = (
        _Slot(element, inner, first, last)
        for name, index in _walk(choices)
        for element, inner in _expanded(name, index, declared)
    )
    return _Target(slots, is_open=declared.shape is None)


def _walk(choices: list[_Choice], prefix: str = "") -> Iterator[Element]:
    choice, *rest = choices
    for index in _indices(choice.ranges):
        if rest:
            yield from _walk(rest, f"{prefix}{choice.name}{_subscripted(index)}%")
        else:
            yield f"{prefix}{choice.name}", index


def _expanded(name: str, index: tuple[int, ...], declared: Declaration) -> Iterator[tuple[Element, Declaration]]:
    """An element, or all the elements of its components."""
    if not declared.members:
        yield (name, index), declared
        return
    for member, inner in declared.members.items():
        whole = tuple(range(low, high + 1) for low, high in inner.bounds)
        for position in _indices(whole):
            yield from _expanded(f"{name}{_subscripted(index)}%{member}", position, inner)


def _indices(ranges: tuple[range, ...]) -> Iterator[tuple[int, ...]]:
    """The subscripts in Fortran's order: the first runs fastest."""
    if not ranges:
        yield ()
        return
    for rest in _indices(ranges[1:]):  # `product` would keep all of them
        for first in ranges[0]:
            yield (first, *rest)


def _subscripted(index: tuple[int, ...]) -> str:
    return f"({','.join(map(str, index))})" if index else ""


def _component(declared: Declaration, part: Part, item: Item) -> Declaration:
    span = item.origin.span(part.start, part.end)
    if declared.type != "derived":
        raise _Refusal("no-component", f'"{_shown(item.name)}" has no components', item.name_span, "no %")
    if not declared.members:  # a type of which the registry knows no more, such as that of an external
        return Declaration("unknown", shape=None)
    inner = declared.members.get(part.name)
    if inner is None:
        meant = nearest(part.name, declared.members)
        kind, expected = (
            ("misspelt-component", meant) if meant else ("unknown-component", "a component of the variable")
        )
        raise _Refusal(kind, f'"{part.name}" is not a component', span, expected)
    return inner


def _ranges(part: Part, declared: Declaration, subscripts: tuple[Index, ...] | None, item: Item) -> tuple[range, ...]:
    """The subscripts that are meant in each dimension."""
    bounds = declared.bounds
    if subscripts is None:
        return tuple(range(low, high + 1) for low, high in bounds)
    span = item.origin.span(part.start, part.end)
    if declared.shape is None:
        return tuple(range(index.lower or 0, (index.lower or 0) + 1) for index in subscripts)
    if len(subscripts) != len(bounds):
        message = f'"{_shown(part.text)}" has {len(subscripts)} subscripts'
        raise _Refusal("bad-rank", message, span, f"{len(bounds)}")
    return tuple(_range(index, low, high, part, span) for index, (low, high) in zip(subscripts, bounds, strict=True))


def _range(index: Index, low: int, high: int, part: Part, span: Span) -> range:
    if not index.is_section:
        first = last = index.lower if index.lower is not None else low
        step = 1
    else:
        first = low if index.lower is None else index.lower
        last = high if index.upper is None else index.upper
        step = 1 if index.stride is None else index.stride
    if not (low <= first <= high and low <= last <= high):
        raise _Refusal("out-of-bounds", f'"{_shown(part.text)}" is out of bounds', span, f"{low} to {high}")
    if step == 0 or (last - first) * step < 0:
        raise _Refusal("bad-section", f'"{_shown(part.text)}" holds no element', span, "a section with elements")
    return range(first, last + (1 if step > 0 else -1), step)


def _substring(
    part: Part, declared: Declaration, lists: list[tuple[Index, ...]], item: Item, *, is_last: bool
) -> tuple[int, int | None]:
    span = item.origin.span(part.start, part.end)
    if declared.type != "character" or not is_last or len(lists) > 1:
        message = f'"{_shown(part.text)}" has subscripts, and {part.name} has no elements'
        raise _Refusal("not-an-array", message, span, f"{part.name} without subscripts")
    (index, *more) = lists[0]
    if more or not index.is_section or index.stride is not None:
        raise _Refusal("bad-substring", f'"{_shown(part.text)}" is not a substring', span, "(first:last)")
    first = 1 if index.lower is None else index.lower
    last = declared.length if index.upper is None else index.upper
    if first < 1 or (last is not None and last < first) or _exceeds(last, declared.length):
        expected = f"1 to {declared.length}" if declared.length is not None else "characters from 1 on"
        raise _Refusal("out-of-bounds", f'"{_shown(part.text)}" is out of bounds', span, expected)
    return first, last


def _exceeds(number: int | None, limit: int | None) -> bool:
    return number is not None and limit is not None and number > limit


# --- Which values a type takes ---


def _converted(value: Value, slot: _Slot) -> tuple[Any, list[SyntaxProblem]]:
    """The value as the element holds it (None if the runtime leaves the element as it is), and remarks.

    Raises _Refusal for a value that the type does not take.
    """
    wanted = slot.declared.type
    _, _, body = value.text.rpartition("*") if value.repeat > 1 and value.kind != "string" else ("", "", value.text)
    if wanted == "character":
        return _text(value, slot)
    if value.kind == "word" and body in _LEFT_ALONE.get(wanted, ()):
        return None, []
    if wanted in _TAKES and value.kind not in _TAKES[wanted]:
        message = f'"{_shown(value.text)}" is not {_ARTICLES[wanted]} value'
        raise _Refusal("wrong-type", message, value.span, _EXPECTED[wanted], _retyped(value, slot.declared))
    if wanted == "integer" and not -(2 ** (8 * slot.declared.bytes - 1)) <= value.value < 2 ** (
        8 * slot.declared.bytes - 1
    ):
        limit = 2 ** (8 * slot.declared.bytes - 1) - 1
        message = f'"{_shown(value.text)}" does not fit into an integer of {slot.declared.bytes} bytes'
        raise _Refusal("integer-overflow", message, value.span, f"{-limit - 1} to {limit}")
    if wanted == "real" and value.kind == "integer":
        return _as_real(value.value), []
    return value.value, []


_TAKES = {
    "integer": ("integer",),
    "real": ("integer", "real"),
    "logical": ("logical",),
    "complex": ("complex",),
    "derived": (),
}
_LEFT_ALONE = {"integer": ("+", "-"), "real": ("+", "-"), "logical": (".",)}  # the runtime reads a null value
_ARTICLES = {
    "integer": "an integer",
    "real": "a real",
    "logical": "a logical",
    "complex": "a complex",
    "derived": "a derived",
}
_EXPECTED = {
    "integer": "digits, with or without a sign",
    "real": "a number such as 1.5 or 1.5e3, without a kind",
    "logical": ".true. or .false.",
    "complex": "two numbers: (1.0, 2.0)",
    "derived": "a value for a component: name%component = value",
}


def _as_real(value: int | float) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _text(value: Value, slot: _Slot) -> tuple[str, list[SyntaxProblem]]:
    """What a character variable is given. Unquoted text is taken after a digit or a repeat count only."""
    count, star, body = value.text.partition("*")
    is_counted = star == "*" and count.isdigit()
    if value.kind == "string":
        text, remarks = str(value.value), []
    elif value.text[:1] in tuple("0123456789") and value.text[:1]:
        text = body if is_counted else value.text
        message = f'the runtime takes "{_shown(text)}" for a string up to the next blank, comma or slash'
        remarks = [
            SyntaxProblem("unquoted-string", message, value.span, "quotes around it", stops=False, fix=_quoted(value))
        ]
    else:
        message = f'"{_shown(value.text)}" is not a string'
        kind = "undelimited-text" if value.kind in ("word", "logical", "integer", "real") else "wrong-type"
        raise _Refusal(kind, message, value.span, "quotes around it", _quoted(value))
    length = slot.length
    data = encoded(text)
    if length is not None and len(data.rstrip(b" ")) > length:
        message = f'"{_shown(text)}" is longer than {length} bytes and is cut'
        remarks.append(SyntaxProblem("string-too-long", message, value.span, f"at most {length} bytes", stops=False))
        text = _decoded(data[:length])
    return text, remarks


# --- What was meant ---


def _retyped(value: Value, declared: Declaration) -> Fix | None:
    """The fix that writes a value as the type wants it; None where that is not clear."""
    wanted = declared.type
    count, body = _split(value)
    if wanted == "integer" and value.kind == "real" and value.value.is_integer():
        number = int(value.value)
        return _rewritten(value, f"{count}{number}") if abs(number) < 2 ** (8 * declared.bytes - 1) else None
    if wanted not in _WRITTEN:
        return None
    if value.kind == "string" and _WRITTEN[wanted].fullmatch(value.value.strip()):
        return _rewritten(value, f"{count}{value.value.strip()}")
    if value.kind == "word" and (kind := _KIND.search(body)) and _WRITTEN[wanted].fullmatch(body[: kind.start()]):
        return _rewritten(value, f"{count}{body[: kind.start()]}")
    return None


_WRITTEN = {
    "integer": re.compile("[+-]?[0-9]{1,9}"),
    "real": re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eEdD][+-]?[0-9]+)?"),
    "logical": re.compile(r"\.true\.|\.false\.|true|false|[tf]", re.IGNORECASE),
}
_KIND = re.compile("_[A-Za-z0-9_]{1,63}$")  # the kind of a literal, as in 1.0_wp


def _quoted(value: Value) -> Fix | None:
    """The fix that puts text into quotes; None where the text goes on beyond the value."""
    count, body = _split(value)
    if "'" in body or '"' in body or not _ENDS.match(value.origin.text, value.end):
        return None
    return _rewritten(value, f"{count}'{body}'")


_ENDS = re.compile(r"[ \t]*(?:[,;!\r\n]|\Z)|[ \t]+(?:/|[A-Za-z_]\w*[ \t]*(?:\([^()\n]*\)[ \t]*)?=(?!=))")


def _split(value: Value) -> tuple[str, str]:
    """The repeat count of a value with its star, and the rest of its text."""
    count = _COUNT.match(value.text)
    return (count[0], value.text[count.end() :]) if count else ("", value.text)


_COUNT = re.compile(r"[0-9]+\*")


def _rewritten(value: Value, text: str) -> Fix:
    return Fix(f"write {_shown(text)}", (Edit(value.span, text),), is_safe=True)


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _shown(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 40 else f"{line[:37]}..."
