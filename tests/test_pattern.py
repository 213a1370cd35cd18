"""Patterns that are compiled at their first search."""

from __future__ import annotations

import re

import pytest

from nmlgen.pattern import pattern


def test_a_pattern_is_compiled_at_its_first_search():
    broken = pattern("(")
    with pytest.raises(re.error):
        broken.search("a")
    shout = pattern("a+", re.IGNORECASE)
    assert [match and match[0] for match in map(shout.fullmatch, ["aA", "b"])] == ["aA", None]
    assert shout.sub("", "bab") == "bb"
    assert shout.pattern == "a+"
