"""What a model assigns to its namelist variables before it reads the namelist.

The statements of the reading procedure are followed up to the READ, with the procedures they call. What depends on
something that only the running model knows counts as computed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from typing import Any

from nmlgen.errors import InputError
from nmlgen.namelist.extract.blocks import Branch, Choice, Item, Repetition, all_statements, blocks_of
from nmlgen.namelist.extract.evaluate import Evaluator, UnknownValueError, converted
from nmlgen.namelist.extract.expression import Call, Node, Section, UnreadableError, parse
from nmlgen.namelist.extract.lines import Statement, closing, split_list
from nmlgen.namelist.extract.tree import SourceTree
from nmlgen.namelist.extract.units import Declaration, DerivedType, Unit
from nmlgen.values import define, field, frozen

_MOST_CALLS = 4  # procedures within procedures
_MOST_ELEMENTS = 2000
_MOST_IN_A_LIST = 100_000
_MOST_STEPS = 100_000  # ICON 2025.10 takes a tenth of it; loops and calls within each other multiply
_ELEMENTS_IN_A_STEP, _CHARACTERS_IN_A_STEP = 5, 40
_READ = re.compile(r"read\s*\(")
_KEYWORD = re.compile(r"\Anml\s*=\s*")
_CALL = re.compile(r"call\s+(\w+)\s*(?:\((.*)\))?$")
_ASSIGNMENT = re.compile(r"[a-z]\w*\s*(?:[%(].*?)?(?<![=<>/])=(?![=>])")
_NAME = re.compile(r"[a-z]\w*")
_WITHOUT_EFFECT = re.compile(r"(message|finish|warning|open_nml|close_nml|position_nml|print_value|deallocate)\w*$")


@define
class Contents:
    """What a variable holds: one value for all elements, and those set by their subscripts."""

    fill: Any = None
    status: str = "unset"  # or "known", "computed", "unresolved": by a constant of a part that the tree lacks
    elements: dict[tuple[int, ...], Any] = field(factory=dict)

    def set_all(self, value: Any) -> None:
        """Give every element one value."""
        self.fill, self.status, self.elements = value, "known", {}

    def compute(self) -> None:
        """Forget the value: the running model decides it."""
        self.fill, self.status, self.elements = None, "computed", {}

    def lose(self) -> None:
        """Forget the value: the source that says it is not there."""
        self.fill, self.status, self.elements = None, "unresolved", {}

    @property
    def is_unknown(self) -> bool:
        """Whether something was assigned, and nobody knows what."""
        return self.status in ("computed", "unresolved")


@frozen
class Place:
    """A variable, or a component of one: the declaration it begins with, and the names of the parts after it."""

    base: Declaration
    path: tuple[str, ...] = ()


class _ReadReachedError(Exception):
    """The statement that reads the namelist comes next."""


@define
class Steps:
    """What it has taken to follow the statements before all the READs of a source tree."""

    tree: SourceTree
    count: int = 0

    def add(self, count: int) -> None:
        """Note so many steps more; raises InputError if they are too many."""
        self.count += count
        if self.count > _MOST_STEPS:
            message = f"what its namelist variables are before they are read takes more than {_MOST_STEPS} steps"
            raise InputError(f"{self.tree.root}: {message}")


class Defaults:
    """Follows the statements before a READ and keeps what they assign."""

    def __init__(self, tree: SourceTree, evaluator: Evaluator, steps: Steps) -> None:
        self._tree = tree
        self._evaluator = evaluator
        self._steps = steps
        self._contents: dict[tuple[int, tuple[str, ...]], Contents] = {}
        self._kept: list[Declaration] = []
        self._aliases: list[dict[str, Place]] = [{}]
        self._loops: dict[str, int] = {}
        self._stop: Statement | None = None
        self._own: frozenset[str] = frozenset()  # the groups that the statement reads to stop at

    def run(self, unit: Unit, stop: Statement | None) -> None:
        """Follow a procedure up to a statement."""
        self._stop = stop
        self._own = frozenset(_groups_read(stop.text)) if stop is not None else frozenset()
        with suppress(_ReadReachedError):
            self._block(unit, blocks_of(unit), 0)

    def contents(self, place: Place) -> Contents | None:
        """What was assigned; None if nothing was."""
        return self._contents.get((id(place.base), place.path))

    def _block(self, unit: Unit, items: list[Item], depth: int) -> None:
        for item in items:
            if isinstance(item, Repetition):
                self._loop(unit, item, depth)
            elif isinstance(item, Choice):
                self._choice(unit, item, depth)
            else:
                self._statement(unit, item, depth)

    def _statement(self, unit: Unit, statement: Statement, depth: int) -> None:
        if statement is self._stop or (self._stop is not None and statement == self._stop):
            raise _ReadReachedError
        self._steps.add(1 + len(statement.text) // _CHARACTERS_IN_A_STEP)
        called = _CALL.match(statement.text)
        if called is not None:
            self._call(unit, called[1], split_list(called[2]) if called[2] else [], depth)
        elif _READ.match(statement.text):
            self._forget_read(unit, statement)
        elif _ASSIGNMENT.match(statement.text):
            self._assign(unit, statement.text)

    def _choice(self, unit: Unit, choice: Choice, depth: int) -> None:
        for branch in choice.branches:
            if self._holds_stop(branch.body):
                if self._stop in branch.body and "positioned" in (branch.condition or ""):
                    raise _ReadReachedError  # what stands beside the READ marks what the user does not set
                self._block(unit, branch.body, depth)
                return
        chosen = self._chosen(unit, choice)
        if chosen is not None:
            self._block(unit, chosen.body, depth)
            return
        for branch in choice.branches:
            if branch.condition is not None and self._is_known_false(unit, choice, branch):
                continue
            for statement in all_statements(branch.body):
                self._forget(unit, statement)

    def _chosen(self, unit: Unit, choice: Choice) -> Branch | None:
        """The branch that is taken, an empty one for none; None if it is not known."""
        for branch in choice.branches:
            if branch.condition is None:
                continue
            try:
                if self._holds(unit, choice.selector, branch.condition):
                    return branch
            except (UnknownValueError, UnreadableError):
                return None
        return next((branch for branch in choice.branches if branch.condition is None), Branch(None))

    def _is_known_false(self, unit: Unit, choice: Choice, branch: Branch) -> bool:
        try:
            return branch.condition is not None and not self._holds(unit, choice.selector, branch.condition)
        except (UnknownValueError, UnreadableError):
            return False

    def _holds(self, unit: Unit, selector: str | None, condition: str) -> bool:
        self._steps.add((len(selector or "") + len(condition)) // _CHARACTERS_IN_A_STEP)
        if selector is None:
            return bool(self._value(unit, parse(condition)))
        value = self._value(unit, parse(selector))
        return any(self._value(unit, parse(part)) == value for part in split_list(condition))

    def _loop(self, unit: Unit, loop: Repetition, depth: int) -> None:
        self._steps.add(len(loop.control) // _CHARACTERS_IN_A_STEP)
        control = re.match(r"(\w+)\s*=\s*(.*)$", loop.control)
        ends = [self._integer(unit, text) for text in split_list(control[2])] if control else []
        if control is None or self._holds_stop(loop.body):
            self._block(unit, loop.body, depth)
            return
        name = control[1]
        if len(ends) != 2 or ends[0] is None or ends[1] is None or ends[1] - ends[0] > _MOST_ELEMENTS:
            for statement in all_statements(loop.body):
                self._forget(unit, statement)
            return
        outer = self._loops.get(name)
        for index in range(ends[0], ends[1] + 1):
            self._steps.add(1)
            self._loops[name] = index
            self._block(unit, loop.body, depth)
        if outer is None:
            self._loops.pop(name, None)
        else:
            self._loops[name] = outer

    def _holds_stop(self, body: list[Item]) -> bool:
        if self._stop is None:
            return False
        statements = list(all_statements(body))
        self._steps.add(len(statements) // _ELEMENTS_IN_A_STEP)
        return self._stop in statements

    def _integer(self, unit: Unit, text: str) -> int | None:
        try:
            value = self._value(unit, parse(text))
        except (UnknownValueError, UnreadableError):
            return None
        return value if type(value) is int else None

    def _call(self, unit: Unit, name: str, arguments: list[str], depth: int) -> None:
        if depth >= _MOST_CALLS or _WITHOUT_EFFECT.match(name):
            return
        procedure = self._tree.procedure(unit, name)
        if procedure is None or procedure is unit:
            return
        aliases = {}
        for position, text in enumerate(arguments):
            keyword = re.match(r"(\w+)\s*=(?!=)\s*(.*)$", text)
            dummy = keyword[1] if keyword else _at(procedure.arguments, position)
            place = self._place_of(unit, keyword[2] if keyword else text)
            if dummy is not None and place is not None:
                aliases[dummy] = place
        self._aliases.append(aliases)
        try:
            self._block(procedure, blocks_of(procedure), depth + 1)
        finally:
            self._aliases.pop()

    def _place_of(self, unit: Unit, text: str) -> Place | None:
        try:
            node = parse(text)
        except UnreadableError:
            return None
        if not isinstance(node, Call):
            return None
        whole = Section(None, None)
        if any(subscript != whole for _, subscripts in node.parts for subscript in subscripts or ()):
            return None
        return self._place(unit, node)

    def _place(self, unit: Unit, call: Call) -> Place | None:
        name = call.parts[0][0]
        path = tuple(part for part, _ in call.parts[1:])
        alias = self._aliases[-1].get(name)
        if alias is not None and name in unit.arguments:
            return Place(alias.base, alias.path + path)
        declaration = self._tree.declaration(unit, name)
        return None if declaration is None else Place(declaration, path)

    def _assign(self, unit: Unit, text: str) -> None:
        left, right = _sides(text)
        try:
            target = parse(left)
        except UnreadableError:
            return
        if not isinstance(target, Call):
            return
        place = self._place(unit, target)
        declaration = None if place is None else declared(self._tree, place)
        if place is None or declaration is None:
            return
        contents = self._made(place)
        try:
            value = converted(declaration, self._value(unit, parse(right)))
            self._store(unit, contents, declarations_along(self._tree, place), target, value)
        except (UnknownValueError, UnreadableError):
            if any(self._tree.lacks(unit, name) for name in _NAME.findall(right)):
                contents.lose()
            else:
                contents.compute()

    def _made(self, place: Place) -> Contents:
        key = (id(place.base), place.path)
        if key not in self._contents:
            self._kept.append(place.base)
            self._contents[key] = initial(self._tree, self._evaluator, place)
        return self._contents[key]

    def _store(self, unit: Unit, contents: Contents, along: list[Declaration], target: Call, value: Any) -> None:
        """Put a value where the subscripts of the target point."""
        if len(along) < len(target.parts):
            raise UnknownValueError
        dimensions: list[tuple[int, int] | None] = []
        chosen: list[range | None] = []
        extra = len(along) - len(target.parts)  # the target begins with an argument
        for declaration in along[:extra]:
            shape = self._evaluator.shape(declaration)
            dimensions += shape
            chosen += [None] * len(shape)
        for declaration, (_, subscripts) in zip(along[extra:], target.parts, strict=True):
            shape = self._evaluator.shape(declaration)
            dimensions += shape
            if subscripts is None:
                chosen += [None] * len(shape)
                continue
            if len(subscripts) != len(shape):
                raise UnknownValueError  # a substring
            chosen += [self._range(unit, subscript) for subscript in subscripts]
        self._put(contents, dimensions, chosen, value)

    def _put(
        self,
        contents: Contents,
        dimensions: list[tuple[int, int] | None],
        chosen: list[range | None],
        value: Any,
    ) -> None:
        whole = all(part is None or (bounds is not None and part == range(bounds[0], bounds[1] + 1))
                    for part, bounds in zip(chosen, dimensions, strict=True))  # fmt: skip
        if whole and not isinstance(value, list):
            contents.set_all(value)
            return
        if len(dimensions) == 1 and isinstance(value, list):
            bounds = dimensions[0]
            start = chosen[0][0] if chosen[0] else (bounds[0] if bounds else 1)
            if contents.is_unknown:
                raise UnknownValueError
            self._evaluator.add(len(value))
            if whole and len(set(map(repr, value))) == 1:
                contents.set_all(value[0])
                return
            self._steps.add(len(value) // _ELEMENTS_IN_A_STEP)
            for offset, element in enumerate(value[:_MOST_ELEMENTS]):
                contents.elements[(start + offset,)] = element
            return
        if isinstance(value, list) or contents.is_unknown:
            raise UnknownValueError
        ranges = [part if part is not None else _whole(bounds) for part, bounds in zip(chosen, dimensions, strict=True)]
        subscripts_of_all = list(_product(ranges))
        self._steps.add(len(subscripts_of_all) // _ELEMENTS_IN_A_STEP)
        for subscripts in subscripts_of_all:
            contents.elements[subscripts] = value

    def _range(self, unit: Unit, subscript: Node) -> range | None:
        if not isinstance(subscript, Section):
            index = self._value(unit, subscript)
            if type(index) is not int:
                raise UnknownValueError
            return range(index, index + 1)
        if subscript.first is None and subscript.last is None:
            return None
        if subscript.first is None or subscript.last is None:
            raise UnknownValueError
        first, last = self._value(unit, subscript.first), self._value(unit, subscript.last)
        if type(first) is not int or type(last) is not int:
            raise UnknownValueError
        return range(first, last + 1)

    def _forget(self, unit: Unit, statement: Statement) -> None:
        """A statement that is perhaps executed: what it assigns is no longer known."""
        self._steps.add(1 + len(statement.text) // _CHARACTERS_IN_A_STEP)
        if _READ.match(statement.text):
            self._forget_read(unit, statement)
        if not _ASSIGNMENT.match(statement.text):
            return
        place = self._place_of(unit, re.sub(r"\([^()]*(\([^()]*\)[^()]*)*\)", "", _sides(statement.text)[0]))
        if place is not None:
            self._made(place).compute()

    def _forget_read(self, unit: Unit, statement: Statement) -> None:
        """Another namelist is read: what its variables hold now, the user says."""
        others = [group for group in _groups_read(statement.text) if group not in self._own]
        around: Unit | None = unit
        while around is not None:
            for name in (name for group in others for name in around.namelists.get(group, ())):
                self._steps.add(1)
                place = self._place_of(unit, name)
                if place is not None:
                    self._made(place).compute()
            around = around.parent

    def _value(self, unit: Unit, node: Node) -> Any:
        return self._evaluator.value(unit, node, self._held)

    def _held(self, unit: Unit, call: Call) -> Any:
        """The value a variable holds here; raises UnknownValueError."""
        name, subscripts = call.parts[0]
        if len(call.parts) == 1 and subscripts is None and name in self._loops:
            return self._loops[name]
        place = self._place(unit, call)
        declaration = None if place is None else declared(self._tree, place)
        if place is None or declaration is None:
            raise UnknownValueError
        contents = self.contents(place) or initial(self._tree, self._evaluator, place)
        if contents.is_unknown or (contents.status == "unset" and not contents.elements):
            raise UnknownValueError
        indices = []
        for _, part in call.parts:
            for subscript in part or ():
                if isinstance(subscript, Section):
                    raise UnknownValueError
                indices.append(self._value(unit, subscript))
        if tuple(indices) in contents.elements:
            return contents.elements[tuple(indices)]
        if not indices and contents.elements:
            return self._list(contents, declarations_along(self._tree, place))
        if contents.status != "known":
            raise UnknownValueError
        return contents.fill

    def _list(self, contents: Contents, along: list[Declaration]) -> list[Any]:
        """The elements of an array of one dimension, all of which must be known."""
        bounds = [pair for declaration in along for pair in self._evaluator.shape(declaration)]
        if len(bounds) != 1 or bounds[0] is None:
            raise UnknownValueError
        if bounds[0][1] - bounds[0][0] >= _MOST_IN_A_LIST:
            raise UnknownValueError
        self._evaluator.add(max(0, bounds[0][1] - bounds[0][0] + 1))
        keys = [(index,) for index in range(bounds[0][0], bounds[0][1] + 1)]
        if contents.status != "known" and any(key not in contents.elements for key in keys):
            raise UnknownValueError
        return [contents.elements.get(key, contents.fill) for key in keys]


def declarations_along(tree: SourceTree, place: Place) -> list[Declaration]:
    """The declarations of a variable and of each component on the way; fewer if a type is not known."""
    found = [place.base]
    for part in place.path:
        component = component_of(tree, found[-1], part)
        if component is None:
            return found
        found.append(component)
    return found


def declared(tree: SourceTree, place: Place) -> Declaration | None:
    """The declaration of the last part of a place."""
    along = declarations_along(tree, place)
    return along[-1] if len(along) == len(place.path) + 1 else None


def component_of(tree: SourceTree, declaration: Declaration, name: str) -> Declaration | None:
    """A component of a variable of derived type, with those of the types it extends."""
    return next((type_.components[name] for type_ in _types(tree, declaration) if name in type_.components), None)


def components(tree: SourceTree, declaration: Declaration) -> Iterator[Declaration]:
    """The components of a variable of derived type, those of the type it extends first."""
    for type_ in _types(tree, declaration):
        yield from type_.components.values()


def _types(tree: SourceTree, declaration: Declaration) -> list[DerivedType]:
    """The type of a variable of derived type behind those that it extends."""
    name, unit = declaration.type_name, declaration.unit
    types: list[DerivedType] = []
    while name is not None and len(types) < _MOST_CALLS:
        type_ = tree.type(unit, name)
        if type_ is None:
            break
        types.append(type_)
        name, unit = type_.parent, type_.unit
    return types[::-1]


def initial(tree: SourceTree, evaluator: Evaluator, place: Place) -> Contents:
    """What a variable holds by its declaration."""
    declaration = declared(tree, place)
    contents = Contents()
    if declaration is None or declaration.initial is None:
        return contents
    try:
        value = converted(declaration, evaluator.constant(declaration.unit, declaration.initial))
    except UnknownValueError:
        contents.compute()
        return contents
    if not isinstance(value, list):
        contents.set_all(value)
        return contents
    evaluator.add(len(value))
    shape = evaluator.shape(declaration)
    start = shape[0][0] if len(shape) == 1 and shape[0] is not None else 1
    contents.elements = {(start + offset,): element for offset, element in enumerate(value)}
    return contents


def groups_read_in(unit: Unit) -> dict[str, Statement]:
    """The first statement of a unit that reads each of the groups from the user's file."""
    found: dict[str, Statement] = {}
    for statement in _reads(blocks_of(unit)):
        for group in _groups_read(statement.text):
            found.setdefault(group, statement)
    return found


def _reads(items: list[Item]) -> Iterator[Statement]:
    for item in items:
        if isinstance(item, Statement):
            if _READ.match(item.text):
                yield item
        elif isinstance(item, Repetition):
            yield from _reads(item.body)
        elif not any("restart" in (branch.condition or "") for branch in item.branches):
            for branch in item.branches:
                yield from _reads(branch.body)


def is_in_loop(unit: Unit, statement: Statement) -> bool:
    """Whether a loop that is not counted holds the statement: then every copy of the group is read."""
    return statement in _in_loops(unit)


@cache
def _in_loops(unit: Unit) -> frozenset[Statement]:
    """The statements of a unit that a loop holds that is not counted."""

    def within(items: list[Item], loop: bool) -> Iterator[Statement]:
        for item in items:
            if isinstance(item, Statement):
                yield from (item,) if loop else ()
            elif isinstance(item, Repetition):
                yield from within(item.body, loop or "=" not in item.control)
            else:
                for branch in item.branches:
                    yield from within(branch.body, loop)

    return frozenset(within(blocks_of(unit), False))


def _groups_read(text: str) -> list[str]:
    """What a READ statement may name as its group; nothing for another statement."""
    if _READ.match(text) is None:
        return []
    arguments = split_list(text[text.index("(") + 1 : closing(text, text.index("("))])
    return [_KEYWORD.sub("", argument) for argument in arguments]


def _sides(text: str) -> tuple[str, str]:
    """What stands on the left and on the right of an assignment."""
    depth = 0
    for position, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if character == "=" and depth == 0:
            return text[:position].strip(), text[position + 1 :].strip()
    return text, ""


def _at(names: tuple[str, ...], position: int) -> str | None:
    return names[position] if position < len(names) else None


def _whole(bounds: tuple[int, int] | None) -> range:
    if bounds is None:
        raise UnknownValueError
    return range(bounds[0], bounds[1] + 1)


def _product(ranges: list[range]) -> Iterator[tuple[int, ...]]:
    if not ranges:
        yield ()
        return
    count = 1
    for part in ranges:
        count *= max(0, part.stop - part.start)  # the length of a range has an end
    if count > _MOST_ELEMENTS:
        raise UnknownValueError
    for first in ranges[0]:
        for rest in _product(ranges[1:]):
            yield (first, *rest)
