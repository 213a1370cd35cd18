"""The plan of a sweep: which values its points have, in which order. It knows no experiment.

The points of `grid` and `zip` come first: every combination of the grid's values with every row of the zip, in the
order of writing, what is written last varying fastest. The conditions choose among them. Then come those of `points`.
Derived values are worked out for both; where a point gives one itself, its own holds.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence, Sized
from functools import cached_property, lru_cache
from math import prod
from operator import itemgetter
from random import Random
from typing import Any

from nmlgen.errors import InputError, SpecError
from nmlgen.experiment.setting import UndecidedError
from nmlgen.expression import ExpressionError, text_of
from nmlgen.findings import Finding
from nmlgen.rechecking import Rechecker
from nmlgen.source import Span
from nmlgen.spec.layers import Tree
from nmlgen.spec.overrides import canonical_key
from nmlgen.spec.problems import problem
from nmlgen.spec.spec import Spec
from nmlgen.sweep.expression import Expression, parse
from nmlgen.values import field, frozen

NAME = "{name}-{id}"
REPEAT = "repeat"
"""The name, among the values of a point, of its number among those that are the same."""
_MOST_COMBINATIONS = 1_000_000
_MOST_WORKED_OUT = 500_000  # conditions and derived values, at all combinations together
_MOST_DERIVED = 100
_MOST_LOOKED_AT = 5_000  # combinations of which some are drawn
_MOST_VALUES = 500_000  # of these combinations together
_BRACES = re.compile(r"\{([^{}]*)\}")
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_.+-]+")

Values = dict[str, Any]
Row = tuple[Values, ExpressionError | None]
"""The values of a point, and why one that is derived cannot be worked out."""


@frozen(eq=False)
class Template:
    """The names of points: text with expressions in braces, as literal and expression in turn."""

    parts: tuple[str | Expression, ...]

    def says(self, name: str) -> bool:
        """Whether the names depend on this value."""
        return any(name in part.names for part in self.parts if not isinstance(part, str))

    def text(self, names: Any) -> str:
        """The name; what a name cannot hold becomes a hyphen."""
        words = [part if isinstance(part, str) else text_of(part.value(names)) for part in self.parts]
        return _NOT_IN_A_NAME.sub("-", "".join(words))


@frozen(eq=False, slots=False)
class Axis:
    """Keys that vary together, and their values row by row."""

    keys: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    @cached_property
    def identities(self) -> frozenset[Hashable]:
        """What tells the rows from others."""
        return frozenset(map(_identity, self.rows))


@frozen(eq=False)
class Plan:
    """What a sweep says, read and checked. `spans` says where each key's values were written."""

    base: Spec
    axes: tuple[Axis, ...]
    points: Iterable[Mapping[str, Any]]
    include: tuple[Expression, ...]
    exclude: tuple[Expression, ...]
    derive: Mapping[str, Expression | int | float | bool]
    name: Template
    repeat: int
    spans: Mapping[str, Span]
    span: Span | None
    rechecker: Rechecker = field(factory=Rechecker)

    @property
    def keys(self) -> tuple[str, ...]:
        """Every key that a point may give, in the order of writing."""
        given = [REPEAT] if self.repeat > 1 else []
        given += [key for axis in self.axes for key in axis.keys]
        if isinstance(self.points, (list, tuple)):
            given += [key for point in self.points for key in point]
        return tuple(dict.fromkeys([*given, *self.derive]))

    def rows(self) -> Iterator[Row]:
        """The values of each point, in order, with the derived ones; where one cannot be worked out, why.

        All are given once, then all once more: what disturbs runs for a while does not disturb all of one point. Raises
        SpecError for a condition that cannot be decided.
        """
        for number in range(1, self.repeat + 1):
            yield from self._rows({REPEAT: number} if self.repeat > 1 else {})

    def drawn(self, most: int | None) -> tuple[list[Row], int]:
        """The rows, or at most so many from all over them, in their order and the same ones each time; and how many
        there are, or may be where there are more combinations than are looked at. The points are a list."""
        looked_at = self._looked_at(most or 1)
        if most is None or self._combinations <= looked_at:
            rows = list(self.rows())
            if most is None or len(rows) <= most:
                return rows, len(rows)
            return [rows[place] for place in sorted(Random(0).sample(range(len(rows)), most))], len(rows)
        places = Random(0).sample(range(self._combinations), looked_at)
        found = ((place, row) for place in places if (row := self._row(place)) is not None)
        return [row for _, row in sorted(itertools.islice(found, most), key=itemgetter(0))], self._combinations

    def _row(self, place: int) -> Row | None:
        """The row at a place among all combinations; None if the conditions leave it out."""
        number, place = divmod(place, self._combinations // self.repeat)
        repeat: Values = {REPEAT: number + 1} if self.repeat > 1 else {}
        if place >= self._of_the_axes:
            assert isinstance(self.points, Sequence)
            return self._given(self.points[place - self._of_the_axes], repeat)
        rows = []
        for axis in reversed(self.axes):
            place, index = divmod(place, len(axis.rows))
            rows.append(axis.rows[index])
        return self._combined(rows[::-1], repeat)

    def _looked_at(self, least: int) -> int:
        """How many combinations are looked at: fewer where each has very many values."""
        points = self.points if isinstance(self.points, (list, tuple)) else ()
        values = sum(len(axis.keys) for axis in self.axes) + len(self.derive) + max(map(len, points), default=0)
        return max(least, min(_MOST_LOOKED_AT, _MOST_VALUES // max(1, values)))

    @property
    def _of_the_axes(self) -> int:
        return prod(len(axis.rows) for axis in self.axes) if self.axes else 0

    @property
    def _combinations(self) -> int:
        """How many rows there would be if no condition held."""
        return self.repeat * (self._of_the_axes + (len(self.points) if isinstance(self.points, Sized) else 0))

    def _rows(self, repeat: Values) -> Iterator[Row]:
        if self.axes:
            for combination in itertools.product(*(axis.rows for axis in self.axes)):
                if (row := self._combined(combination, repeat)) is not None:
                    yield row
        for point in self.points:
            if (row := self._given(point, repeat)) is not None:
                yield row

    def _combined(self, combination: Iterable[tuple[Any, ...]], repeat: Values) -> Row | None:
        values: Values = dict(repeat)
        for axis, row in zip(self.axes, combination, strict=True):
            values.update(zip(axis.keys, row, strict=True))
        error = self._derive(values)
        return (values, error) if error is not None or self._is_chosen(values) else None

    def _given(self, point: Mapping[str, Any], repeat: Values) -> Row | None:
        values: Values = {**repeat, **point}
        error = self._derive(values)
        return (values, error) if error is not None or not self._is_in_the_grid(values, repeat) else None

    def name_of(self, values: Values, identifier: str) -> str:
        """The name of a point; raises ExpressionError. One that does not say the number of a repetition gets it at its
        end, but for the first, which is called as it is without the others."""
        own = {"id": identifier, "name": self.base.experiment.name}
        look = self._names(values)
        text = self.name.text(lambda name: own[name] if name in own else look(name))
        number = values.get(REPEAT, 1)
        return text if number == 1 or self.name.says(REPEAT) else f"{text}-{REPEAT}{number}"

    def _derive(self, values: Values) -> ExpressionError | None:
        for key, said in self.derive.items():
            if key in values:
                continue
            try:
                values[key] = said.value(self._names(values)) if isinstance(said, Expression) else said
            except ExpressionError as error:
                return ExpressionError(f"{key}: {error}", error.column)
        return None

    def _is_chosen(self, values: Values) -> bool:
        names = self._names(values)
        try:
            if self.include and not any(condition.holds(names) for condition in self.include):
                return False
            return not any(condition.holds(names) for condition in self.exclude)
        except ExpressionError as error:
            raise SpecError((problem("SPC012", str(error), self.span),)) from None

    def _is_in_the_grid(self, values: Values, repeat: Values) -> bool:
        """Whether grid and zip have given this point already."""
        if not self.axes:
            return False
        own: Values = dict(repeat)
        for axis in self.axes:
            row = tuple(values.get(key, _NOTHING) for key in axis.keys)
            if _identity(row) not in axis.identities:
                return False
            own.update(zip(axis.keys, row, strict=True))
        return self._derive(own) is None and _identity(own) == _identity(values) and self._is_chosen(own)

    def _names(self, values: Values) -> Any:
        """What names mean at a point: its own keys, their last words where these are clear, else keys of the spec."""
        aliases = _aliases(tuple(values))

        def look(name: str) -> Any:
            key = aliases.get(name) or aliases.get(canonical_key(name))
            if key is not None:
                return values[key]
            if name in aliases:
                raise ExpressionError(f'"{name}" may be any of {", ".join(_ambiguous(name, tuple(values)))}')
            return _value_of(self.base, name)

        return look


def plan_of(base: Spec, sweep: Tree, points: Iterable[Mapping[str, Any]] | None = None) -> Plan:
    """The plan of a section `sweep` that the schema has seen; `points` are given beside it.

    Raises SpecError.
    """
    return _Reader(base, sweep).plan(points)


class _Reader:
    """Reads the section and collects what is wrong with it."""

    def __init__(self, base: Spec, sweep: Tree) -> None:
        self.base = base
        self.sweep = sweep
        self.findings: list[Finding] = []
        self.spans: dict[str, Span] = {}

    def plan(self, points: Iterable[Mapping[str, Any]] | None) -> Plan:
        """The plan; raises SpecError with everything that is wrong."""
        axes = [*self._grid(), *self._zip()]
        given = self.sweep.get("points")
        if points is None:
            points = () if given is None else tuple(given.value)
        repeat = self.sweep.get(REPEAT)
        times = 1 if repeat is None else int(repeat.value)
        if not axes and repeat is not None and points == ():
            points = ({},)  # the spec itself, so many times
        if not axes and isinstance(points, tuple) and not points:
            note = "expected: grid, zip, points or repeat"
            self._complain("the sweep has no points", self.sweep.key_span or self.sweep.span, note)
        derive = self._derived()
        self._check_keys([*(key for axis in axes for key in axis.keys), *derive])
        include, exclude = self._conditions("include"), self._conditions("exclude")
        if len(derive) > _MOST_DERIVED:
            block = self.sweep.get("derive")
            note = f"expected: at most {_MOST_DERIVED}"
            self._complain(f"the sweep derives {len(derive)} values", block.key_span if block else None, note)
        count = times * prod(len(axis.rows) for axis in axes) if axes else 0
        expressions = len(include) + len(exclude) + len(derive)
        most = _MOST_WORKED_OUT // expressions if expressions else _MOST_COMBINATIONS
        if count > most:
            of_these = f" with {expressions} conditions and derived values" if expressions else ""
            where = self.sweep.key_span or self.sweep.span
            self._complain(f"the sweep has {count} combinations", where, f"expected: at most {most}{of_these}")
        template = self.sweep.get("name")
        plan = Plan(
            self.base,
            tuple(axes),
            points,
            include,
            exclude,
            derive,
            self._template(NAME if template is None else str(template.value), template.span if template else None),
            times,
            self.spans,
            self.sweep.key_span,
        )
        if self.findings:
            raise SpecError(tuple(self.findings))
        return plan

    def _children(self, key: str) -> list[tuple[str, Tree]]:
        block = self.sweep.get(key)
        found = [] if block is None else [(k, leaf) for k, leaf in (block.children or {}).items() if not leaf.is_unset]
        for name, leaf in found:
            if leaf.span is not None:
                self.spans[name] = leaf.span
        return found

    def _grid(self) -> Iterator[Axis]:
        for key, leaf in self._children("grid"):
            yield Axis((key,), tuple((value,) for value in leaf.value))

    def _zip(self) -> Iterator[Axis]:
        columns = self._children("zip")
        if not columns:
            return
        lengths = {key: len(leaf.value) for key, leaf in columns}
        if len(set(lengths.values())) > 1:
            said = ", ".join(f"{key} has {length}" for key, length in lengths.items())
            self._complain(f"the lists of zip differ in length: {said}", columns[0][1].span)
            return
        yield Axis(tuple(lengths), tuple(zip(*(leaf.value for _, leaf in columns), strict=True)))

    def _conditions(self, key: str) -> tuple[Expression, ...]:
        leaf = self.sweep.get(key)
        texts = [] if leaf is None else leaf.value
        found = [self._expression(text, leaf.span if leaf else None) for text in texts]
        return tuple(expression for expression in found if expression is not None)

    def _derived(self) -> dict[str, Expression | int | float | bool]:
        found: dict[str, Expression | int | float | bool] = {}
        for key, leaf in self._children("derive"):
            said = self._expression(leaf.value, leaf.span) if isinstance(leaf.value, str) else leaf.value
            if said is not None:
                found[key] = said
        return found

    def _template(self, text: str, span: Span | None) -> Template:
        parts: list[str | Expression] = []
        for index, part in enumerate(_BRACES.split(text)):
            read = part if index % 2 == 0 else self._expression(part, span)
            if read is not None:
                parts.append(read)
        return Template(tuple(parts))

    def _expression(self, text: str, span: Span | None) -> Expression | None:
        try:
            return parse(text)
        except ExpressionError as error:
            self._complain(str(error), span, "see the reference of `sweep` for what can be said")
            return None

    def _check_keys(self, keys: list[str]) -> None:
        for message in conflicts(tuple(keys)):
            self._complain(message, self.sweep.key_span)

    def _complain(self, message: str, span: Span | None, *notes: str) -> None:
        self.findings.append(problem("SPC012", message, span or self.base.beginning, *notes))


_DEEPEST = 50  # no key of a spec lies below so many


@lru_cache(maxsize=256)
def conflicts(keys: tuple[str, ...]) -> tuple[str, ...]:
    """What is said twice if all these keys are set: one key in two spellings, or a key and one below it."""
    found: list[str] = []
    known: dict[str, str] = {}
    below: dict[str, str] = {}  # one of the keys below each
    for key in keys:
        said = canonical_key(key)
        words = said.split(".", _DEEPEST)
        above = [".".join(words[:count]) for count in range(1, len(words) + 1)]
        others = [known[place] for place in above if place in known] + ([below[said]] if said in below else [])
        found += [
            f"{key} and {spelt} set the same" if key != spelt else f"{key} is varied twice"
            for spelt in dict.fromkeys(others)
        ]
        known[said] = key
        below.update(dict.fromkeys(above[:-1], key))
    return tuple(found)


@lru_cache(maxsize=256)
def _aliases(keys: tuple[str, ...]) -> dict[str, str | None]:
    """The names of keys in expressions: themselves, in a spec's own words, and their last words, None if several share
    one."""
    found: dict[str, str | None] = {}
    for key in keys:
        last = key.rpartition(".")[2]
        found[last] = None if last in found else key
    for key in keys:
        found[canonical_key(key)] = found[key] = key
    return found


def _ambiguous(name: str, keys: tuple[str, ...]) -> list[str]:
    return [key for key in keys if key.rpartition(".")[2] == name]


@lru_cache(maxsize=256)
def _value_of(base: Spec, name: str) -> Any:
    try:
        return base.find(name).value
    except InputError as error:
        raise ExpressionError(f'"{name}" is no key of the sweep, and {error}') from None
    except UndecidedError:
        raise ExpressionError(f'nobody can know the value of "{name}"') from None


_NOTHING = object()


def _identity(value: Any) -> Hashable:
    """What is equal for values that are equal and of the same types: 1 is neither 1.0 nor true."""
    if isinstance(value, (tuple, list)):
        return tuple(map(_identity, value))
    if isinstance(value, dict):
        return frozenset((key, _identity(each)) for key, each in value.items())
    return type(value), value
