"""Expressions: what they mean, what they refuse, and that they are never executed."""

from __future__ import annotations

import operator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from nmlgen.expression import ExpressionError
from nmlgen.sweep.expression import parse

VALUES = {"num_io_procs": 4, "job.nodes": 2, "mode": "sync", "days": 5, "on": True, "nothing": None, "half": 0.5}


def value(text: str):
    return parse(text).value(VALUES.__getitem__)


@rows(
    ("text", "expected"),
    [
        ("num_io_procs", 4),
        ("num_io_procs * 2 + 1", 9),
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("7 // 2", 3),
        ("7 % 4", 3),
        ("1 / 4", 0.25),
        ("-job.nodes", -2),
        ("- -3", 3),
        ("2 - -3", 5),
        (".5 + 1e1", 10.5),
        ("max(1, num_io_procs - 8)", 1),
        ("min(days, job.nodes,)", None),
        ("'P' + days + 'D'", "P5D"),
        ('"it\'s"', "it's"),
        ("8 if mode == 'sync' else 16", 8),
        ("8 if mode != 'sync' else 16 if on else 32", 16),
        ("num_io_procs > 0 and job.nodes in [1, 2]", True),
        ("mode not in ['sync', 'async']", False),
        ("not on or mode == 'sync'", True),
        ("not not on", True),
        ("1 < job.nodes <= 2 < num_io_procs", True),
        ("'yn' in mode", True),
        ("nothing == null", True),
        ("nothing != 0", True),
        ("on == 1", False),
        ("on == true", True),
        ("[1, half]", [1, 0.5]),
        ("[]", []),
    ],
)
def test_value(text, expected):
    if expected is None:
        with pytest.raises(ExpressionError):
            value(text)
    else:
        assert value(text) == expected
        assert type(value(text)) is type(expected)


@rows(
    ("text", "column", "message"),
    [
        ("", 1, "ends too early"),
        ("1 +", 4, "ends too early"),
        ("1 2", 3, '"2" is not understood'),
        ("nodes = 2", 7, '"=" is not understood'),
        ("a and", 6, "ends too early"),
        ("a not b", 7, '"b" is not understood'),
        ("__import__('os')", 11, '"(" is not understood'),
        ("a[0]", 2, "is not understood"),
        ("2 ** 3", 4, '"*" is not understood'),
        ("lambda: 1", 7, '":" is not understood'),
        ("'a", 1, "is not understood"),
        ("min()", 6, "has no arguments"),
        ("1 if on", 8, "ends too early"),
        ("(" * 200 + "1" + ")" * 200, 51, "brackets"),
        ("1" * 2000, 1, "at most 1000 characters"),
    ],
)
def test_refused(text, column, message):
    with pytest.raises(ExpressionError, match=message.replace("(", r"\(").replace("*", r"\*")) as caught:
        parse(text)
    assert caught.value.column == column


@rows(
    ("text", "message"),
    [
        ("1 / (days - 5)", "divides by zero"),
        ("mode * 2", "takes numbers"),
        ("on + 1", "takes numbers"),
        ("mode < 2", "two kinds"),
        ("-mode", "takes numbers"),
        ("days and on", "neither true nor false"),
        ("not days", "neither true nor false"),
        ("1 in 2", "not a list"),
        ("max(mode)", "takes numbers"),
        ("1e300 * 1e300 * 1e300 // 1", "number"),
    ],
)
def test_without_a_value(text, message):
    with pytest.raises(ExpressionError, match=message):
        value(text)


def test_each_part_is_worked_out_once():
    """A value between two comparisons belongs to both: asked twice at each level, it would be asked without end."""
    asked: list[str] = []
    text = "1 != (" * 40 + "a" + ") != 1" * 40
    assert parse(text).value(asked.append) is True
    assert asked == ["a"]


def test_a_condition_is_true_or_false():
    assert parse("on").holds(VALUES.__getitem__) is True
    with pytest.raises(ExpressionError, match="true or false"):
        parse("days").holds(VALUES.__getitem__)


def test_names_in_the_order_of_writing():
    assert parse("b + a * b - min(c.d, 1)").names == ("b", "a", "c.d")


SIGNS = {"+": operator.add, "-": operator.sub, "*": operator.mul}


@st.composite
def sums(draw, depth=3):
    if depth == 0 or draw(st.booleans()):
        number = draw(st.integers(0, 99))
        return str(number), number
    (left, one), (right, other) = draw(sums(depth - 1)), draw(sums(depth - 1))
    sign = draw(st.sampled_from(sorted(SIGNS)))
    return f"({left} {sign} {right})", SIGNS[sign](one, other)


@given(sums())
def test_arithmetic(case):
    text, expected = case
    assert value(text) == expected


@given(st.text(max_size=40) | st.text("ab01 +-*/()[]<>=!,.'", max_size=20))
def test_any_text_is_read_or_refused(text):
    column = 1
    try:
        parse(text)
    except ExpressionError as error:
        column = error.column
    assert 1 <= column <= len(text) + 1
