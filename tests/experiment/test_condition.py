"""The language of conditions: each word with both its answers, and what is not known."""

from __future__ import annotations

from typing import Any

import pytest
from rows import rows

from nmlgen.experiment.condition import at_fault, evaluate, variables
from nmlgen.expression import ExpressionError


class Facts:
    """Lists of values by the names of variables; None for one that nobody knows."""

    def __init__(self, place: int = 1, **known: list[Any] | None) -> None:
        self.place, self.known = place, known

    def values(self, group: str, name: str) -> list[Any] | None:
        return self.known.get(name.replace("%", "_"), [])

    def value(self, group: str, name: str) -> Any:
        values = self.values(group, name)
        return values[self.place - 1] if values and len(values) >= self.place else None

    def at(self, place: int) -> Facts:
        return Facts(place, **self.known)

    def element(self, group: str, name: str, ahead: int) -> Any:
        values, place = self.values(group, name), self.place + ahead
        return values[place - 1] if values and len(values) >= place else self.known.get("default")

    def places(self, group: str, name: str) -> int:
        return max(len(self.values(group, name) or []), 3)

    def given(self, group: str, name: str) -> bool | None:
        values = self.values(group, name)
        return None if values is None else bool(values) and any(str(value).strip() for value in values)

    def symbol(self, name: str) -> Any:
        return {"domain": self.place, "tasks": 4}.get(name)

    def requested(self, name: str) -> bool:
        return name == "temp"


@rows(
    ("condition", "known", "expected"),
    [
        ("g.x == 1", {"x": [1]}, True),
        ("g.x == 1", {"x": [2]}, False),
        ("g.x == 1", {}, None),
        ("g.x != 1", {"x": [1]}, False),
        ("next(g.x) == 2", {"x": [1, 2]}, True),
        ("next(g.x) == 2", {"x": [2]}, None),
        ("next(g.x) == 2", {"x": [2], "default": 2}, True),
        ("here(g.x) == 2", {"x": [2, 1]}, True),
        ("here(g.x) == 2", {"x": [1, 2]}, False),
        ("here(g.x) == 2", {"default": 2}, True),
        ("any(domain == 3 and here(g.x) == 2)", {"x": [1], "default": 2}, True),
        ("any(domain == 4 and here(g.x) == 2)", {"x": [1], "default": 2}, False),
        ("any(domain == 3 and g.x == 2)", {"x": [1], "default": 2}, False),
        ("any(here(g.x) == 2)", {"x": None}, None),
        ("any(domain < 3 and next(g.x) < here(g.x))", {"x": [1, 2, 2, 1]}, False),
        ("any(domain < 4 and next(g.x) < here(g.x))", {"x": [1, 2, 2, 1]}, True),
        ("g.x < 1", {"x": [1]}, False),
        ("g.x < 1", {"x": [0]}, True),
        ("g.x <= 1", {"x": [1]}, True),
        ("g.x <= 1", {"x": [2]}, False),
        ("g.x > 1", {"x": [1]}, False),
        ("g.x > 1", {"x": [2]}, True),
        ("g.x >= 1", {"x": [1]}, True),
        ("g.x >= 1", {"x": [0]}, False),
        ("0 <= g.x < 2", {"x": [1]}, True),
        ("0 <= g.x < 2", {"x": [2]}, False),
        ("0 <= g.x < 2", {"x": [-1]}, False),
        ("g.x == 'Ab '", {"x": [" aB"]}, True),
        ("g.x == g.y", {"x": ["A "], "y": ["a"]}, True),
        ("g.x == g.y", {"x": ["a"]}, None),
        ("g.x < 1", {"x": ["text"]}, None),
        ("g.x in [1, 2]", {"x": [2]}, True),
        ("g.x in [1, 2]", {"x": [3]}, False),
        ("g.x in [1, g.y]", {"x": [1]}, None),
        ("g.x not in [1, 2]", {"x": [3]}, True),
        ("g.x not in [1, 2]", {"x": [1]}, False),
        ("not g.x", {"x": [False]}, True),
        ("not g.x", {"x": [True]}, False),
        ("not g.x", {}, None),
        ("g.x == -1", {"x": [-1]}, True),
        ("g.x + 1 == 3", {"x": [2]}, True),
        ("g.x - 1 == 3", {"x": [4]}, True),
        ("g.x * 3 == 6", {"x": [2]}, True),
        ("g.x / 2 == 1.5", {"x": [3]}, True),
        ("g.x // 2 == 1", {"x": [3]}, True),
        ("1 / g.x > 0", {"x": [0]}, None),
        ("true and g.x == 1", {"x": [1]}, True),
        ("false or g.x == 1", {"x": [2]}, False),
        ("g.x == 1 and g.y == 1", {"y": [2]}, False),
        ("g.x == 1 and g.y == 1", {"y": [1]}, None),
        ("g.x == 1 or g.y == 1", {"y": [1]}, True),
        ("g.x == 1 or g.y == 1", {"y": [2]}, None),
        ("tasks == 4", {}, True),
        ("nobody == 4", {}, None),
        ("any(g.x > 1)", {"x": [2, 1]}, True),
        ("any(g.x > 1)", {"x": [1, 2]}, True),
        ("any(g.x > 1)", {"x": [1, 1]}, False),
        ("any(g.x > 1)", {"x": []}, False),
        ("any(g.x > 1)", {"x": None}, None),
        ("any(g.x > 1)", {"x": [1, None]}, None),
        ("any(g.x > 1)", {"x": [None, 2]}, True),
        ("any(domain > 1 and g.x > 1)", {"x": [2, 1]}, False),
        ("any(g.x > g.y)", {"x": [1, 2], "y": [1, 1]}, True),
        ("g.x == 2 if g.y else g.x == 1", {"x": [1], "y": [False]}, True),
        ("true if g.y else true", {}, None),
        ("min(g.x, g.y) == 1", {"x": [1], "y": [3]}, True),
        ("max(g.x, g.y) == 3", {"x": [1]}, None),
        ("any(g.x)", {"x": [0, 2]}, True),
        ("all(g.x > 1)", {"x": [2, 2]}, True),
        ("all(g.x > 1)", {"x": [1, 2]}, False),
        ("all(g.x > 1)", {"x": [2, 1]}, False),
        ("all(g.x > 1)", {"x": [2, None]}, None),
        ("all(g.x > 1)", {"x": [None, 1]}, False),
        ("given(g.x)", {"x": ["a"]}, True),
        ("given(g.x)", {}, False),
        ("blank(g.x)", {"x": ["", " "]}, True),
        ("blank(g.x)", {"x": ["", "a"]}, False),
        ("blank(g.x)", {"x": None}, None),
        ("first(g.x) == 'a'", {"x": ["A ", "b"]}, True),
        ("first(g.x) == 'a'", {"x": ["b", "a"]}, False),
        ("first(g.x) == 'a'", {"x": []}, None),
        ("names(g.x) == 2", {"x": ["a", "b", " ", "c"]}, True),
        ("names(g.x) == 2", {"x": ["a", "b"]}, True),
        ("names(g.x) == 0", {"x": [" ", "b"]}, True),
        ("rises(g.x)", {"x": [1, 2, -1, 3]}, True),
        ("rises(g.x)", {"x": [1, 1]}, False),
        ("rises(g.x)", {"x": [2, 1]}, False),
        ("rises(g.x)", {"x": [2, 0]}, True),
        ("seconds(g.x) == 90", {"x": ["PT1M30S"]}, True),
        ("seconds(g.x) == 0", {"x": [" "]}, True),
        ("seconds(g.x) == 0", {"x": ["soon"]}, None),
        ("dated(g.x)", {"x": ["2008-09-01T00:00:00Z "]}, True),
        ("dated(g.x)", {"x": ["2008-13-01T00:00:00Z"]}, False),
        ("dated(g.x)", {"x": []}, False),
        ("dated(g.x)", {"x": None}, None),
        ("suffix(g.x) == 'grb'", {"x": ["a.b.GRB "]}, True),
        ("suffix(g.x) == 'grb'", {"x": ["a.grb.nc", "b.grb"]}, False),
        ("suffix(g.x) == ''", {"x": []}, True),
        ("requested('temp')", {}, True),
        ("requested('pres')", {}, False),
        ("g.c%x == 1", {"c_x": [1]}, True),
        ("g.c%x == 1", {"x": [1]}, None),
    ],
)
def test_conditions(condition, known, expected):
    assert evaluate(condition, Facts(**known)) is expected


def test_variables_are_told_once_in_their_order():
    assert variables("g.b == 1 and any(h.a%c > g.b) and given(g.d)") == (("g", "b"), ("h", "a%c"), ("g", "d"))


@pytest.mark.parametrize("condition", ["lambda: 1", "g.x ** 2", "soon(g.x)", "blank(1)", "given(tasks)", "any(1"])
def test_other_words_are_refused(condition):
    with pytest.raises(ExpressionError):
        evaluate(condition, Facts())


@pytest.mark.parametrize(
    ("condition", "variable", "expected"),
    [
        ("any(g.x > 1)", "x", 2),
        ("g.y == 1 and any(g.x > 2)", "x", 3),
        ("any(g.x > 3)", "x", None),
        ("any(g.x > 1)", "y", None),
        ("all(g.x > 0)", "x", None),
        ("g.x == 1", "x", None),
        ("any(g.x > 3) or any(g.x == 3)", "x", 3),
    ],
)
def test_the_element_at_fault(condition, variable, expected):
    assert at_fault(condition, Facts(x=[1, 2, 3], y=[1]), ("g", variable)) == expected


def test_what_is_asked_of_each_element_has_an_end_and_lists_are_counted_once() -> None:
    names, looks = ["a"] * 5_000, []

    class Many:
        def values(self, group, name):
            return names

        def places(self, group, name):
            return len(names)

        def at(self, place):
            looks.append(place)
            return self

        def value(self, group, name):
            return "b"

    assert evaluate("any(g.x == 'a' and names(g.y) > 1)", Many()) is False
    assert len(looks) == 1_000
