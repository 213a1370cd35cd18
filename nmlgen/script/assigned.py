"""Which variables commands may assign, judged by their text alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from nmlgen.script.syntax import (
    Arithmetic,
    ArithmeticCommand,
    ArithmeticFor,
    Assignment,
    For,
    Literal,
    Parameter,
    Sequence,
    Simple,
    Word,
)

if TYPE_CHECKING:
    from nmlgen.script.syntax import Function
    from nmlgen.source import Text

_READERS = frozenset({"read", "unset", "getopts", "mapfile", "readarray", "printf", "let", "set", "wait", "typeset"})
_NAME = re.compile(r"[A-Za-z_]\w*")
_CHANGED = re.compile(
    r"(?:\+\+|--)\s*([A-Za-z_]\w*)|([A-Za-z_]\w*)(?:\[[^\]]*\])?\s*(?:\+\+|--|(?:[-+*/%&|^]|<<|>>)?=(?!=))"
)


def assigned_names(
    body: Sequence, functions: Mapping[str, tuple[Function, Text] | None] | None = None
) -> frozenset[str]:
    """The variables that the commands, and the functions they call, may assign."""
    found: set[str] = set()
    seen: set[str] = set()
    waiting: list[Any] = [body]
    while waiting:
        root = waiting.pop()
        for node in _nodes(root):
            if isinstance(node, Assignment):
                if node.name:
                    found.add(node.name)
            elif isinstance(node, For):
                found.add(node.name)
            elif isinstance(node, Parameter):
                if node.operator in (":=", "="):
                    found.add(node.name)
            elif isinstance(node, (ArithmeticCommand, Arithmetic)):
                found |= _changed(node.expression)
            elif isinstance(node, ArithmeticFor):
                for word in (node.first, node.condition, node.step):
                    found |= _changed(word)
            elif isinstance(node, Simple) and node.words:
                first = node.words[0]
                name = first.literal if isinstance(first, Word) else None
                if name in _READERS:
                    for word in node.words[1:]:
                        if isinstance(word, Word):
                            found |= _names_in(word)
                if name == "read" and len(node.words) == 1:
                    found.add("REPLY")
                if functions is not None and name in functions and name not in seen:
                    seen.add(name)
                    function = functions[name]
                    if function is not None:
                        waiting.append(function[0].body)
    return frozenset(found)


def _nodes(root: Any) -> Iterator[Any]:
    """A node and all below it."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, tuple):
            waiting.extend(node)
        elif node.__class__ in _FIELDS or attrs.has(node.__class__):
            yield node
            for name in _fields(node.__class__):
                child = getattr(node, name)
                if child is not None and not isinstance(child, (str, int, bool)):
                    waiting.append(child)


_FIELDS: dict[type, tuple[str, ...]] = {}


def _fields(kind: type) -> tuple[str, ...]:
    names = _FIELDS.get(kind)
    if names is None:
        names = _FIELDS[kind] = tuple(
            field.name for field in attrs.fields(kind) if field.name not in ("start", "end", "text")
        )
    return names


def _text(word: Word) -> str:
    return "".join(part.text if isinstance(part, Literal) else " " for part in word.parts)


def _changed(word: Word) -> set[str]:
    return {before or after for before, after in _CHANGED.findall(_text(word))}


def _names_in(word: Word) -> set[str]:
    return set(_NAME.findall(_text(word)))
