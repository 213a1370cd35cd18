"""The corpus uses every construct of the shells that run scripts are made of."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import attrs
import shells
from rows import rows

from nmlgen.script import syntax
from nmlgen.script.parser import parse
from nmlgen.source import Source

NODES = [
    node
    for _, node in inspect.getmembers(syntax, inspect.isclass)
    if attrs.has(node) and node.__module__ == syntax.__name__
]
EXPANSIONS = (
    *(":-", "-", ":=", "=", ":?", ":+", "+", "#", "##", "%", "%%", "/", "//", "/#", "/%"),
    *(":", "^", "^^", ",", ",,", "@"),
)
REDIRECTIONS = ("<", ">", ">>", ">|", "<<", "<<-", "<<<", ">&", "<&", "&>", "&>>")
ARITHMETIC = (
    *("+", "-", "*", "/", "%", "**", "++", "--", "<<", ">>", "<", "<=", ">", ">=", "==", "!=", "&", "|", "^", "~", "!"),
    *("&&", "||", "?", ":", ",", "=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "|=", "^=", "(", ")"),
    *("2#1011", "16#ff", "36#z", "0xff", "010", "pow", "int"),
)
UNARY_TESTS = ("-n", "-z", "-r", "-w", "-v", "-o")
BINARY_TESTS = ("==", "!=", "=~", "<", ">", "-eq", "-ne", "-lt", "-gt", "-ge")
COMMANDS = (
    *("[", "test", "let", "expr", "echo", "printf", "print", "cat", "tee", "cut", "sed", "tr", "basename", "dirname"),
    *("date", "bc", "wc", "seq", "head", "tail", "awk", "grep", "sort", "cp", "mv", "rm", "mkdir", "ln", "cd", "pwd"),
    *("hostname", "whoami", "set", "shift", "return", "exit", "break", "continue", "local", "typeset", "declare"),
    *("integer", "float", "readonly", "export", "unset", "eval", "exec", "trap", "read", "mapfile", "getopts", "shopt"),
    *("source", ".", ":", "true", "false", "command", "wait", "alias", "type"),
)


@cache
def nodes() -> tuple[Any, ...]:
    """Every node of every script."""
    trees = [parse(Source(path.name, path.read_text(encoding="utf-8"))) for path in shells.scripts()]
    return tuple(node for tree in trees for node in _below(tree))


def _below(value: object) -> Iterator[object]:
    if isinstance(value, tuple):
        for item in value:
            yield from _below(item)
    elif type(value) in NODES:
        yield value
        for field in attrs.fields(type(value)):
            yield from _below(getattr(value, field.name))


def of(kind: type) -> list[Any]:
    """The nodes of one class."""
    return [node for node in nodes() if isinstance(node, kind)]


@rows("script", shells.scripts(), ids=lambda script: script.name)
def test_only_one_script_has_errors_of_syntax(script):
    tree = parse(Source(script.name, script.read_text(encoding="utf-8")))
    assert bool(tree.problems) is (script.name in {"syntax_stops.sh", "unterminated.sh"})


@rows("kind", NODES, ids=lambda kind: kind.__name__)
def test_nodes(kind):
    assert of(kind)


def test_expansions():
    used = {node.operator for node in of(syntax.Parameter)}
    assert used >= set(EXPANSIONS)
    assert any(node.is_length for node in of(syntax.Parameter))
    assert any(node.is_indirect for node in of(syntax.Parameter))
    assert {"@", "*", "#", "?", "-", "$", "!", "1", "10"} <= {node.name for node in of(syntax.Parameter)}
    assert any(len(node.arguments) == 2 for node in of(syntax.Parameter) if node.operator == ":")


def test_redirections():
    assert {node.operator for node in of(syntax.Redirection)} >= set(REDIRECTIONS)
    bodies = of(syntax.Heredoc)
    for name in ("quoted", "strips_tabs", "is_terminated"):
        assert {getattr(body, name) for body in bodies} == {False, True}


def test_arithmetic():
    sources = [node.expression for node in (*of(syntax.Arithmetic), *of(syntax.ArithmeticCommand))]
    text = " ".join(part.text for word in sources for part in word.parts if isinstance(part, syntax.Literal))
    tokens = set(re.findall(r"\d+#\w+|\w+|<<=|>>=|\*\*|[-+*/%&|^<>=!]=|\+\+|--|<<|>>|&&|\|\||\S", text))
    assert tokens >= set(ARITHMETIC)


def test_tests():
    assert {node.operator for node in of(syntax.TestUnary)} >= set(UNARY_TESTS)
    assert {node.operator for node in of(syntax.TestBinary)} >= set(BINARY_TESTS)
    assert {node.operator for node in of(syntax.TestJoin)} == {"&&", "||"}


def test_ways_of_control():
    assert {node.terminator for node in of(syntax.CaseItem)} == {";;", ";&", ";;&"}
    assert any(len(node.patterns) > 1 for node in of(syntax.CaseItem))
    assert {node.is_until for node in of(syntax.While)} == {False, True}
    assert {node.is_select for node in of(syntax.For)} == {False, True}
    assert any(node.words is None for node in of(syntax.For))
    assert {node.is_subshell for node in of(syntax.Group)} == {False, True}
    assert {node.is_negated for node in of(syntax.Pipeline)} == {False, True}
    assert {node.operator for node in of(syntax.AndOr)} == {"&&", "||"}
    assert {node.appends for node in of(syntax.Assignment)} == {False, True}


def test_commands():
    first = {
        node.words[0].literal for node in of(syntax.Simple) if node.words and isinstance(node.words[0], syntax.Word)
    }
    assert first >= set(COMMANDS)
