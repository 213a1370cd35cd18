"""Values of Fortran expressions, as far as constants and what was assigned before decide them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from nmlgen.errors import InputError
from nmlgen.namelist.extract.expression import (
    Binary,
    Call,
    Constructor,
    Keyword,
    Literal,
    Loop,
    Node,
    Section,
    Unary,
    UnreadableError,
    parse,
)
from nmlgen.namelist.extract.tree import SourceTree
from nmlgen.namelist.extract.units import Declaration, Unit


class UnknownValueError(Exception):
    """The value is decided at run time, or by something that is not understood here."""


Resolver = Callable[[Unit, Call], Any]
"""Gives the value that a variable has been assigned; raises UnknownValueError."""

_DEEPEST = 40
_LARGEST = 100_000  # elements of an array, characters of a text, turns of loops that are worked out
_MOST_WORKED_OUT = 1_000_000  # parts of expressions and elements in all; ICON 2024.01 takes a twentieth of it
_CHARACTERS_OF_A_PART = 4
_HIGHEST_CHARACTER = 127  # what stands above it depends on the compiler
_BITS = 64  # of the widest integer
_DIGITS_OF_FOUR_BYTES = {"selected_int_kind": 9, "selected_real_kind": 6}
_LIMITS = {"huge": 1.7976931348623157e308, "tiny": 2.2250738585072014e-308, "epsilon": 2.220446049250313e-16}


def _power(left: Any, right: Any) -> Any:
    if isinstance(left, int) and isinstance(right, int) and left.bit_length() > 1 and right > _BITS:
        raise UnknownValueError
    return left**right


def _repeated(text: str, count: int) -> str:
    if len(text) * count > _LARGEST:
        raise UnknownValueError
    return text * count


def _character(code: int) -> str:
    if not 0 <= code <= _HIGHEST_CHARACTER:
        raise UnknownValueError
    return chr(code)


_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "real": lambda value, *_: float(value),
    "dble": float,
    "int": lambda value, *_: int(value),
    "nint": lambda value, *_: math.floor(abs(value) + 0.5) * (1 if value >= 0 else -1),
    "max": max,
    "min": min,
    "abs": abs,
    "mod": math.fmod,
    "sqrt": math.sqrt,
    "exp": math.exp,
    "log": math.log,
    "log10": math.log10,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "asin": math.asin,
    "acos": math.acos,
    "atan": math.atan,
    "atan2": math.atan2,
    "trim": lambda text: text.rstrip(" "),
    "adjustl": lambda text: text.lstrip(" "),
    "len_trim": lambda text: len(text.rstrip(" ")),
    "repeat": _repeated,
    "char": _character,
    "achar": _character,
    "tolower": lambda text: text.lower(),
    "merge": lambda first, second, mask: first if mask else second,
}


class Evaluator:
    """Works out expressions in the units of a source tree."""

    def __init__(self, tree: SourceTree) -> None:
        self.tree = tree
        self._constants: dict[int, Any] = {}
        self._turns = 1  # of the loops around what is worked out
        self._kept: list[Declaration] = []  # so that the keys of _constants stay those of living objects
        self._shapes: dict[Declaration, list[tuple[int, int] | None]] = {}
        self._worked_out = 0

    def constant(self, unit: Unit, text: str) -> Any:
        """The value of a constant expression; raises UnknownValueError."""
        return self.value(unit, self._tree_of(text), _no_variables)

    def add(self, count: int) -> None:
        """Note so many parts more that are worked out; raises InputError if they are too many."""
        self._worked_out += count
        if self._worked_out > _MOST_WORKED_OUT:
            message = f"what its namelist variables are takes more than {_MOST_WORKED_OUT} parts of expressions"
            raise InputError(f"{self.tree.root}: {message}")

    def integer(self, unit: Unit, text: str) -> int | None:
        """The value of a constant integer expression; None if it is not known."""
        try:
            value = self.constant(unit, text)
        except UnknownValueError:
            return None
        return value if type(value) is int else None

    def value(self, unit: Unit, node: Node, resolve: Resolver, depth: int = 0) -> Any:
        """The value of an expression; an array is a list. Raises UnknownValueError."""
        if depth > _DEEPEST:
            raise UnknownValueError
        self.add(1)
        if isinstance(node, Literal):
            return node.value
        if isinstance(node, Unary):
            value = self.value(unit, node.operand, resolve, depth + 1)
            self.add(len(value) if isinstance(value, list) else 0)
            return _unary(node.operator, value)
        if isinstance(node, Binary):
            return self._binary(unit, node, resolve, depth)
        if isinstance(node, Constructor):
            return self._items(unit, node.items, resolve, depth)
        if isinstance(node, Loop):
            return self._loop(unit, node, resolve, depth)
        if isinstance(node, Call):
            return self._call(unit, node, resolve, depth)
        raise UnknownValueError

    def _items(self, unit: Unit, items: tuple[Node, ...], resolve: Resolver, depth: int) -> list[Any]:
        found: list[Any] = []
        for item in items:
            value = self.value(unit, item, resolve, depth + 1)
            if isinstance(value, list):
                self.add(len(value))
            found += value if isinstance(value, list) else [value]
            if len(found) > _LARGEST:
                raise UnknownValueError
        return found

    def _loop(self, unit: Unit, loop: Loop, resolve: Resolver, depth: int) -> list[Any]:
        first, last = (self.value(unit, end, resolve, depth + 1) for end in (loop.first, loop.last))
        if not isinstance(first, int) or not isinstance(last, int):
            raise UnknownValueError
        around = self._turns
        self._turns *= max(1, last - first + 1)
        try:
            if self._turns > _LARGEST:
                raise UnknownValueError
            found: list[Any] = []
            for index in range(first, last + 1):

                def with_index(where: Unit, call: Call, index: int = index) -> Any:
                    return index if call.parts == ((loop.variable, None),) else resolve(where, call)

                found += self._items(unit, loop.items, with_index, depth + 1)
            return found
        finally:
            self._turns = around

    def _binary(self, unit: Unit, node: Binary, resolve: Resolver, depth: int) -> Any:
        left = self.value(unit, node.left, resolve, depth + 1)
        if node.operator == ".and." and left is False:
            return False
        if node.operator == ".or." and left is True:
            return True
        right = self.value(unit, node.right, resolve, depth + 1)
        if isinstance(left, list) or isinstance(right, list):
            count = len(left) if isinstance(left, list) else len(right)
            lefts = left if isinstance(left, list) else [left] * count
            rights = right if isinstance(right, list) else [right] * count
            if len(lefts) != len(rights):
                raise UnknownValueError
            self.add(count)
            return [_operate(node.operator, *pair) for pair in zip(lefts, rights, strict=True)]
        return _operate(node.operator, left, right)

    def _call(self, unit: Unit, call: Call, resolve: Resolver, depth: int) -> Any:
        name, arguments = call.parts[0]
        declaration = self.tree.declaration(unit, name)
        if declaration is not None and "parameter" in declaration.attributes:
            return self._parameter(unit, declaration, call, resolve, depth)
        try:
            return resolve(unit, call)
        except UnknownValueError:
            if declaration is not None or len(call.parts) > 1 or arguments is None:
                raise
        if name not in _FUNCTIONS:
            return self._inquiry(unit, name, arguments, depth)
        values = [self.value(unit, argument, resolve, depth + 1) for argument in arguments if _is_value(argument)]
        self.add(sum(len(value) for value in values if isinstance(value, list)))
        return _apply(_FUNCTIONS[name], values)

    def _parameter(self, unit: Unit, declaration: Declaration, call: Call, resolve: Resolver, depth: int) -> Any:
        if len(call.parts) > 1:
            return self._component(declaration, call, depth)
        value = self._initial(declaration, depth)
        subscripts = call.parts[0][1]
        if subscripts is None:
            return value
        if len(subscripts) != 1 or isinstance(subscripts[0], Section) or not isinstance(value, list):
            raise UnknownValueError
        index = self.value(unit, subscripts[0], resolve, depth + 1)
        bounds = self.shape(declaration)
        low = bounds[0][0] if bounds and bounds[0] else 1
        if not isinstance(index, int) or not 0 <= index - low < len(value):
            raise UnknownValueError
        return value[index - low]

    def _component(self, declaration: Declaration, call: Call, depth: int) -> Any:
        """A component of a constant of derived type, from the structure constructor or the type's own values."""
        if declaration.type_name is None or len(call.parts) != 2 or declaration.initial is None:
            raise UnknownValueError
        type_ = self.tree.type(declaration.unit, declaration.type_name)
        name, subscripts = call.parts[1]
        if type_ is None or name not in type_.components or subscripts is not None:
            raise UnknownValueError
        made = self._tree_of(declaration.initial)
        position = list(type_.components).index(name)
        if isinstance(made, Call) and made.parts[0][0] == declaration.type_name and made.parts[0][1]:
            given = made.parts[0][1]
            if position < len(given) and _is_value(given[position]):
                return self.value(declaration.unit, given[position], _no_variables, depth + 1)
        raise UnknownValueError

    def _initial(self, declaration: Declaration, depth: int) -> Any:
        if declaration.initial is None:
            raise UnknownValueError
        key = id(declaration)
        if key not in self._constants:
            value = self.value(declaration.unit, self._tree_of(declaration.initial), _no_variables, depth + 1)
            self._kept.append(declaration)
            self._constants[key] = converted(declaration, value)
        return self._constants[key]

    def _inquiry(self, unit: Unit, name: str, arguments: tuple[Node, ...], depth: int) -> Any:
        """Functions that ask for properties: kinds (as bytes), limits and sizes."""
        first = arguments[0] if arguments else None
        if isinstance(first, Keyword):
            first = first.value
        if first is None:
            raise UnknownValueError
        if name in _DIGITS_OF_FOUR_BYTES:
            digits = self.value(unit, first, _no_variables, depth + 1)
            if type(digits) is not int:
                raise UnknownValueError
            return 4 if digits <= _DIGITS_OF_FOUR_BYTES[name] else 8
        if name == "huge" and self._is_integer(unit, first):
            return 2**31 - 1
        if name in _LIMITS:
            return _LIMITS[name]
        if name == "size" and len(arguments) == 1 and isinstance(first, Call):
            declaration = self.tree.declaration(unit, first.parts[0][0])
            shape = None if declaration is None else self.shape(declaration)
            if shape and len(shape) == 1 and shape[0] is not None:
                return shape[0][1] - shape[0][0] + 1
        raise UnknownValueError

    def _is_integer(self, unit: Unit, node: Node) -> bool:
        if isinstance(node, Call) and len(node.parts) == 1:
            declaration = self.tree.declaration(unit, node.parts[0][0])
            return declaration is not None and declaration.type == "integer"
        return isinstance(node, Literal) and type(node.value) is int

    def shape(self, declaration: Declaration) -> list[tuple[int, int] | None]:
        """The bounds of each dimension; None for one that is not known."""
        if declaration not in self._shapes:  # it is asked for each component of a type
            self._shapes[declaration] = self._shape(declaration)
        return self._shapes[declaration]

    def _shape(self, declaration: Declaration) -> list[tuple[int, int] | None]:
        found: list[tuple[int, int] | None] = []
        for text in declaration.dimensions:
            low_text, colon, high_text = _bounds(text)
            low = self.integer(declaration.unit, low_text) if low_text else 1
            high = self.integer(declaration.unit, high_text) if high_text else None
            if not colon:
                low, high = 1, self.integer(declaration.unit, text)
            found.append(None if low is None or high is None else (low, high))
        return found

    def _tree_of(self, text: str) -> Node:
        self.add(len(text) // _CHARACTERS_OF_A_PART)
        try:
            return parse(text)
        except UnreadableError:
            raise UnknownValueError from None


def _bounds(text: str) -> tuple[str, str, str]:
    depth = 0
    for position, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if character == ":" and depth == 0:
            return text[:position].strip(), ":", text[position + 1 :].strip()
    return "", "", text


def _no_variables(_unit: Unit, _call: Call) -> Any:
    raise UnknownValueError


def _is_value(node: Node) -> bool:
    return isinstance(node, (Literal, Call, Unary, Binary, Constructor))


def _apply(function: Callable[..., Any], values: list[Any]) -> Any:
    try:
        if len(values) == 1 and isinstance(values[0], list) and function not in (max, min):
            return [_bounded(function(value)) for value in values[0]]
        return _bounded(function(*values))
    except (TypeError, ValueError, OverflowError, ZeroDivisionError, AttributeError):
        raise UnknownValueError from None


def _unary(operator: str, value: Any) -> Any:
    if isinstance(value, list):
        return [_unary(operator, element) for element in value]
    if operator == ".not." and isinstance(value, bool):
        return not value
    if operator in "+-" and isinstance(value, (int, float)):
        return -value if operator == "-" else value
    raise UnknownValueError


_OPERATIONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "**": _power,
    "//": lambda left, right: left + right,
    "==": lambda left, right: left == right,
    "/=": lambda left, right: left != right,
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
    ".and.": lambda left, right: left and right,
    ".or.": lambda left, right: left or right,
    ".eqv.": lambda left, right: left == right,
    ".neqv.": lambda left, right: left != right,
}


def _operate(operator: str, left: Any, right: Any) -> Any:
    if isinstance(left, str) != isinstance(right, str):
        raise UnknownValueError
    if isinstance(left, str) and operator != "//":
        left, right = left.rstrip(" "), right.rstrip(" ")
    try:
        if operator == "/":
            if isinstance(left, int) and isinstance(right, int):
                return math.trunc(left / right) if abs(left) < 2**53 else left // right
            return left / right
        result = _OPERATIONS[operator](left, right)
    except (TypeError, ValueError, OverflowError, ZeroDivisionError, KeyError):
        raise UnknownValueError from None
    if isinstance(result, complex):
        raise UnknownValueError
    return _bounded(result)


def _bounded(value: Any) -> Any:
    """A value that Fortran could hold."""
    if (type(value) is int and value.bit_length() > _BITS) or (isinstance(value, str) and len(value) > _LARGEST):
        raise UnknownValueError
    return value


def converted(declaration: Declaration, value: Any) -> Any:
    """A value as a variable of this type holds it; raises UnknownValueError for another type."""
    if isinstance(value, list):
        return [converted(declaration, element) for element in value]
    if declaration.type in ("real", "integer") and type(value) in (int, float):
        try:
            return float(value) if declaration.type == "real" else int(value)
        except (OverflowError, ValueError):  # an infinity, no number, more digits than any type has
            raise UnknownValueError from None
    if declaration.type == "logical" and isinstance(value, bool):
        return value
    if declaration.type == "character" and isinstance(value, str):
        return value.rstrip(" ")
    raise UnknownValueError
