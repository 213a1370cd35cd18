"""Paths with wildcards: what they stand for, and that no pattern takes long."""

from __future__ import annotations

import random
import re

import pytest

from nmlgen.path_pattern import matches


def expression(pattern: str) -> str:
    """The regular expression that says the same, and may take for ever."""
    words = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return "".join(words.get(piece, re.escape(piece)) for piece in re.split(r"(\*\*/|\*\*|\*|\?)", pattern))


def test_as_a_regular_expression_would():
    pick = random.Random(1)
    agreed = 0
    for _ in range(20_000):
        pattern = "".join(pick.choice(("a", "b", "/", "*", "?", "**/", "**", ".")) for _ in range(pick.randrange(7)))
        path = "".join(pick.choice("aab/.") for _ in range(pick.randrange(8)))
        expected = re.fullmatch(expression(pattern.removeprefix("./")), path) is not None
        assert matches(pattern, path) is expected, (pattern, path)
        agreed += expected
    assert agreed > 1000


@pytest.mark.parametrize(
    "pattern", ["*a" * 2000 + "b", "**/" * 2000 + "b", "**a" * 2000 + "b", "?" * 5000, "*" * 5000 + "b"]
)
def test_a_pattern_for_which_a_regular_expression_takes_for_ever(pattern):
    assert not matches(pattern, "a/" * 100 + "a" * 4000)
