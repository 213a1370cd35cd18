"""What is in a document: groups and variables, here-documents and functions, keys, tables."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator

from lsprotocol import types

from nmlgen.lsp.documents import Document
from nmlgen.lsp.places import groups_in, spec_keys
from nmlgen.lsp.positions import Positions
from nmlgen.script.parser import parse
from nmlgen.values import define

_KINDS = types.SymbolKind
_MOST_LEVELS = 3
_MOST_SYMBOLS = 10_000  # each with those within it: more nobody looks through
_FUNCTION = re.compile(r"^[ \t]*(?:function[ \t]+(\w+)|(\w+)[ \t]*\([ \t]*\))", re.MULTILINE)
_TABLE = re.compile(r"^[ \t]*(\[+)([^\[\]\n]+)\]", re.MULTILINE)


@define
class _Symbol:
    name: str
    kind: types.SymbolKind
    start: int
    end: int
    name_start: int
    name_end: int
    children: list[_Symbol]


def symbols_of(document: Document, encoding: str) -> list[types.DocumentSymbol]:
    """The symbols of a document, one within the other."""
    text = document.source.text
    if document.kind == "script":
        found = _of_script(document)
    elif document.kind == "namelist":
        found = list(_groups(text))
    elif document.kind in ("spec", "site"):
        found = _of_levels(((indent, name, start, end) for indent, name, start, end in spec_keys(text)), len(text))
    else:
        found = _of_levels(_tables(text), len(text))
    positions = Positions(document.source, encoding)
    return [_symbol(one, positions) for one in found[:_MOST_SYMBOLS]]


def _symbol(symbol: _Symbol, positions: Positions) -> types.DocumentSymbol:
    return types.DocumentSymbol(
        name=symbol.name,
        kind=symbol.kind,
        range=positions.between(symbol.start, symbol.end),
        selection_range=positions.between(symbol.name_start, symbol.name_end),
        children=[_symbol(child, positions) for child in symbol.children],
    )


def _tables(text: str) -> Iterator[tuple[int, str, int, int]]:
    """The sections of a configuration of mkexp, or the tables of nmlgen.toml, by how many brackets they are in."""
    for match in _TABLE.finditer(text):
        name = match[2].strip()
        if name:
            start = match.start(2) + match[2].index(name)
            yield len(match[1]), name, start, start + len(name)


def _groups(text: str) -> Iterator[_Symbol]:
    for group in groups_in(text):
        variables = [_Symbol(name, _KINDS.Field, start, end, start, end, []) for name, start, end in group.names]
        end = max(group.end, group.start + 1 + len(group.name))
        yield _Symbol(
            f"&{group.name}", _KINDS.Struct, group.start, end, group.start, group.start + 1 + len(group.name), variables
        )


def _of_script(document: Document) -> list[_Symbol]:
    text = document.source.text
    groups = list(_groups(text))
    starts = [group.start for group in groups]
    found: list[_Symbol] = []
    for redirection in parse(document.source).heredocs:
        assert redirection.heredoc is not None
        body = redirection.heredoc.body
        within = groups[bisect_left(starts, body.start) : bisect_left(starts, body.end)]
        if within:
            line = text.rfind("\n", 0, redirection.start) + 1
            line_end = text.find("\n", line)
            command = text[line : line_end if line_end >= 0 else len(text)].strip()
            end = max(body.end, line + len(command))
            found.append(_Symbol(command, _KINDS.File, line, end, line, redirection.end, within))
            for group in within:
                group.end = min(group.end, end)
    for match in _FUNCTION.finditer(text):
        number = 1 if match[1] is not None else 2
        end = text.find("\n", match.end())
        end = len(text) if end < 0 else end
        found.append(_Symbol(match[number], _KINDS.Function, match.start(number), end, *match.span(number), []))
    return sorted(found, key=lambda symbol: symbol.start)


def _of_levels(lines: Iterable[tuple[int, str, int, int]], end: int) -> list[_Symbol]:
    """Symbols by how far they are indented; each goes on to the next one that is not within it."""
    roots: list[_Symbol] = []
    open_: list[tuple[int, _Symbol]] = []
    for depth, name, start, stop in lines:
        while open_ and open_[-1][0] >= depth:
            open_.pop()[1].end = start
        symbol = _Symbol(name, _KINDS.Property if open_ else _KINDS.Namespace, start, end, start, stop, [])
        if len(open_) < _MOST_LEVELS:
            (open_[-1][1].children if open_ else roots).append(symbol)
        open_.append((depth, symbol))
    return roots
