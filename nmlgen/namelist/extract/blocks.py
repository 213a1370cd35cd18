"""Executable statements as nested blocks: IF, SELECT CASE, DO."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from nmlgen.errors import InputError
from nmlgen.namelist.extract.lines import Statement, closing
from nmlgen.namelist.extract.units import Unit
from nmlgen.values import define, field, frozen


@define(eq=False)
class Branch:
    """One branch: its condition (the text after CASE for a SELECT; None for ELSE and CASE DEFAULT) and its body."""

    condition: str | None
    body: list[Item] = field(factory=list)


@define(eq=False)
class Choice:
    """An IF or a SELECT CASE; `selector` is what a SELECT CASE looks at, None for an IF."""

    selector: str | None
    branches: list[Branch]


@frozen
class Repetition:
    """A DO loop; `control` is "i = 1, 3" and the like."""

    control: str
    body: list[Item]


Item = Statement | Choice | Repetition

_LABEL = re.compile(r"(?:\w+\s*:\s*(?=if|do\b|select|where|associate|block))?")
_IF = re.compile(r"if\s*\(")
_ELSE_IF = re.compile(r"else\s*if\s*\(")
_DO = re.compile(r"do\b(?!\s*=)\s*(.*)$")
_SELECT = re.compile(r"select\s*case\s*\(")
_CASE = re.compile(r"case\s*(?:\((.*)\)|(default))")
_END = re.compile(r"end\s*(if|do|select|where|forall)\b")


_DEEPEST = 50  # blocks within one another; none of ICON's stands in ten


@cache
def blocks_of(unit: Unit) -> list[Item]:
    """What a unit executes, in its blocks: it is looked at for each namelist that it reads."""
    return nested(unit.statements)


def nested(statements: list[Statement]) -> list[Item]:
    """The statements in their blocks."""
    outermost: list[Item] = []
    bodies: list[list[Item]] = [outermost]
    open_blocks: list[Choice | None] = []  # None for a loop
    for statement in statements:
        text = statement.text[_LABEL.match(statement.text).end() :]  # type: ignore[union-attr]
        if _END.match(text):
            if open_blocks:
                open_blocks.pop()
                bodies.pop()
        elif _opens(text, bodies, open_blocks) or _continues(text, bodies, open_blocks):
            continue
        else:
            bodies[-1].append(_single(Statement(statement.line, text)))
    return outermost


def _opens(text: str, bodies: list[list[Item]], open_blocks: list[Choice | None]) -> bool:
    block: Choice | None
    if _IF.match(text):
        end = closing(text, text.index("("))
        if text[end + 1 :].strip() != "then":
            return False
        block = Choice(None, [Branch(text[text.index("(") + 1 : end])])
        bodies[-1].append(block)
        bodies.append(block.branches[0].body)
    elif _SELECT.match(text):
        end = closing(text, text.index("("))
        block = Choice(text[text.index("(") + 1 : end], [])
        bodies[-1].append(block)
        bodies.append([])
    elif _DO.match(text):
        loop = Repetition(_DO.match(text)[1], [])  # type: ignore[index]
        block = None
        bodies[-1].append(loop)
        bodies.append(loop.body)
    elif re.match(r"(where|forall)\s*\(", text) and closing(text, text.index("(")) == len(text) - 1:
        block = Choice(None, [Branch("?")])
        bodies[-1].append(block)
        bodies.append(block.branches[0].body)
    elif re.match(r"select\s*type\b", text):
        block = Choice("?", [])
        bodies[-1].append(block)
        bodies.append([])
    else:
        return False
    if len(open_blocks) >= _DEEPEST:
        raise InputError(f"a block stands within {_DEEPEST} others: {text[:60]}")
    open_blocks.append(block)
    return True


def _continues(text: str, bodies: list[list[Item]], open_blocks: list[Choice | None]) -> bool:
    block = open_blocks[-1] if open_blocks else None
    if block is None:
        return False
    if block.selector is not None and (_CASE.match(text) or re.match(r"(type|class)\s*(is\b|default)", text)):
        found = _CASE.match(text)
        branch = Branch(found[1] if found else "?")
    elif block.selector is None and _ELSE_IF.match(text):
        opening = text.index("(")
        branch = Branch(text[opening + 1 : closing(text, opening)])
    elif block.selector is None and re.match(r"else(where)?\b", text) and "=" not in text:
        branch = Branch(None)
    else:
        return False
    block.branches.append(branch)
    bodies[-1] = branch.body
    return True


def _single(statement: Statement) -> Item:
    """A statement, or the IF of one line around it."""
    if not _IF.match(statement.text):
        return statement
    opening = statement.text.index("(")
    end = closing(statement.text, opening)
    rest = statement.text[end + 1 :].strip()
    if end < 0 or not rest or rest.startswith(("=", "%", "(")):
        return statement
    return Choice(None, [Branch(statement.text[opening + 1 : end], [Statement(statement.line, rest)])])


def all_statements(items: list[Item]) -> Iterator[Statement]:
    """The statements of nested blocks in order."""
    for item in items:
        if isinstance(item, Statement):
            yield item
        elif isinstance(item, Repetition):
            yield from all_statements(item.body)
        else:
            for branch in item.branches:
                yield from all_statements(branch.body)
