"""What commands may change, judged by their text alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from nmlgen.script.syntax import (
    Arithmetic,
    ArithmeticCommand,
    ArithmeticFor,
    Assignment,
    For,
    Function,
    Literal,
    Parameter,
    Redirection,
    Simple,
    Word,
)
from nmlgen.values import evolve, fields, frozen, has

if TYPE_CHECKING:
    from nmlgen.script.effort import Effort
    from nmlgen.script.state import Definitions

ANY_END = "*"
"""Stands at the end of a name of which only the beginning is known."""

DECLARATIONS = frozenset(("typeset", "declare", "local", "export", "readonly", "integer", "float"))
_READERS = DECLARATIONS | {
    *("read", "unset", "getopts", "mapfile", "readarray", "printf", "let", "set", "wait", "select"),
}
_MOVERS = frozenset(("cd", "pushd", "popd"))
_SWITCHES = frozenset(("shopt", "trap", "alias", "unalias", "exec"))
_STRANGERS = frozenset(("eval", ".", "source"))
_WRAPPERS = frozenset(("command", "builtin", "exec"))
_NAME = re.compile(r"[A-Za-z_]\w*")
_CHANGED = re.compile(
    r"(?:\+\+|--)\s*([A-Za-z_]\w*)|(?<!\w)([A-Za-z_]\w*)(?:\[[^][]*\])?\s*(?:\+\+|--|(?:[-+*/%&|^]|<<|>>)?=(?!=))"
)


@frozen
class Effects:
    """What commands may change: variables by their `names`, of which `a_*` are all that begin with `a_`, or, if
    `everything`, any of them.

    They may also go to another directory (`moves`), change the positional parameters (`shifts`), and change options,
    traps, aliases, functions or the script's own output (`switches`). `calls` tells that they call functions.
    """

    names: frozenset[str] = frozenset()
    everything: bool = False
    moves: bool = False
    shifts: bool = False
    switches: bool = False
    calls: bool = False

    def __or__(self, other: Effects) -> Effects:
        """What either of two rows of commands may change."""
        return Effects(
            self.names | other.names,
            self.everything or other.everything,
            self.moves or other.moves,
            self.shifts or other.shifts,
            self.switches or other.switches,
            self.calls or other.calls,
        )

    def naming(self, name: str) -> Effects:
        """The same with one more variable."""
        return evolve(self, names=self.names | {name})


def changed_in_arithmetic(expression: str) -> list[str]:
    """The variables that an arithmetic expression assigns."""
    if "=" not in expression and "++" not in expression and "--" not in expression:
        return []
    return [before or after for before, after in _CHANGED.findall(expression)]


def effects(body: Any, functions: Mapping[str, Definitions], effort: Effort | None = None) -> Effects:
    """What the commands below a node of the tree, and the functions they call, may change; what looking at them takes
    is added to `effort`."""
    found = _Search()
    seen: set[str] = set()
    waiting: list[Any] = [body]
    calls_any = False
    while waiting:
        found.below(waiting.pop())
        called, found.called = found.called - seen, set()
        if found.is_open and not calls_any:
            calls_any = True
            called |= functions.keys() - seen
        seen |= called
        for name in called:
            definitions = functions.get(name)
            if definitions is None:
                continue
            found.calls = True
            if not definitions:
                found.everything = True
            waiting += [case[0].body for _, case in definitions if case is not None]
    if effort is not None:
        effort.spent += found.looked
    return Effects(frozenset(found.names), found.everything, found.moves, found.shifts, found.switches, found.calls)


class _Search:
    """A walk through a tree that collects what is changed."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.called: set[str] = set()
        self.everything = self.moves = self.shifts = self.switches = self.calls = False
        self.is_open = False
        self.looked = 0

    def below(self, root: Any) -> None:
        """Look at a node and all below it."""
        waiting = [root]
        while waiting:
            node = waiting.pop()
            kind = node.__class__
            if kind is Word:
                waiting += [part for part in node.parts if part.__class__ is not Literal]
                continue
            if kind is tuple:
                waiting += node
                continue
            self.looked += 1
            children = _CHILDREN.get(kind)
            if children is None:
                children = _CHILDREN[kind] = _children(kind)
            look = _LOOK.get(kind)
            if look is not None:
                look(self, node)
            for name in children:
                child = getattr(node, name)
                if child is not None:
                    waiting.append(child)

    def _assignment(self, node: Assignment) -> None:
        if node.name:
            self.names.add(node.name)

    def _parameter(self, node: Parameter) -> None:
        if node.operator in (":=", "="):
            self.names.add(node.name)
        if node.subscript is not None:
            self.names.update(_changed(node.subscript))
        if node.operator == ":":
            for word in node.arguments:
                self.names.update(_changed(word))

    def _arithmetic(self, node: Arithmetic | ArithmeticCommand) -> None:
        self.names.update(_changed(node.expression))

    def _arithmetic_for(self, node: ArithmeticFor) -> None:
        for word in (node.first, node.condition, node.step):
            self.names.update(_changed(word))

    def _for(self, node: For) -> None:
        self.names.add(node.name)

    def _redirection(self, node: Redirection) -> None:
        if node.descriptor.startswith("{"):
            self.names.add(node.descriptor[1:-1])

    def _function(self, node: Any) -> None:
        self.switches = True

    def _simple(self, node: Simple) -> None:
        words = node.words
        at = 0
        while at < len(words):
            first = words[at]
            name = first.literal if isinstance(first, Word) else None
            if name not in _WRAPPERS:
                break
            if name == "exec":
                self.switches = True
            at += 1
        if at == len(words):
            return
        if name is None:  # it may be any function
            self.is_open = True
            return
        self.called.add(name)
        if name in _READERS:
            self._reader(name, words[at + 1 :])
        elif name in _STRANGERS:
            self.everything = self.everything or name == "eval"
            self.shifts = self.switches = True
        elif name in _MOVERS:
            self.moves = True
            self.names.update(("PWD", "OLDPWD"))
        elif name == "shift":
            self.shifts = True
        elif name in _SWITCHES:
            self.switches = True

    def _reader(self, name: str, words: tuple[Any, ...]) -> None:
        if name == "set":
            self.shifts = self.switches = True
        if name in ("read", "select"):
            self.names.add("REPLY")
        if name == "getopts":
            self.names.update(("OPTARG", "OPTIND"))
        if name in ("mapfile", "readarray"):
            self.names.add("MAPFILE")
        if name == "printf":
            is_for_variable = len(words) > 1 and isinstance(words[0], Word) and words[0].literal == "-v"
            words = words[1:2] if is_for_variable else ()
        for word in words:
            if not isinstance(word, Word) or (name in ("export", "readonly") and _NAME.fullmatch(word.literal or "")):
                continue
            self.names.update(_NAME.findall(_text(word)))
            if word.literal is None and name not in ("let", "set"):
                beginning = _beginning(word) if name in DECLARATIONS else ""
                if beginning:
                    self.names.add(beginning + ANY_END)
                else:
                    self.everything = self.everything or not _has_known_name(word)


def _beginning(word: Word) -> str:
    """How the name begins that a word assigns, where the rest of it is not written out: `a_$number=$value`."""
    first = word.parts[0] if len(word.parts) > 1 else None
    return first.text if isinstance(first, Literal) and _NAME.fullmatch(first.text) else ""


def _has_known_name(word: Word) -> bool:
    """Whether the name that a word assigns is written out: `name=$value`."""
    first = word.parts[0] if word.parts else None
    return isinstance(first, Literal) and re.match(r"[A-Za-z_]\w*(?:\[|\+?=)|-", first.text) is not None


_LOOK: dict[type, Callable[[_Search, Any], None]] = {
    Assignment: _Search._assignment,
    Parameter: _Search._parameter,
    Arithmetic: _Search._arithmetic,
    ArithmeticCommand: _Search._arithmetic,
    ArithmeticFor: _Search._arithmetic_for,
    For: _Search._for,
    Redirection: _Search._redirection,
    Function: _Search._function,
    Simple: _Search._simple,
}
_CHILDREN: dict[type, tuple[str, ...]] = {}
_LEAVES = frozenset(("start", "end", "text", "name", "quoted", "operator", "descriptor", "delimiter", "terminator"))
_FLAGS = frozenset(
    (
        *("is_length", "is_indirect", "appends", "is_subshell", "is_select", "is_until", "is_negated"),
        *("strips_tabs", "is_terminated"),
    )
)


def _children(kind: type) -> tuple[str, ...]:
    if not has(kind):
        return ()
    return tuple(field.name for field in fields(kind) if field.name not in _LEAVES and field.name not in _FLAGS)


def _text(word: Word) -> str:
    return "".join(part.text if isinstance(part, Literal) else " " for part in word.parts)


def _changed(word: Word) -> list[str]:
    return changed_in_arithmetic(_text(word))
