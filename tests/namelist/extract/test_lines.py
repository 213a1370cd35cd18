"""Fortran source split into statements."""

from __future__ import annotations

import pytest
from rows import rows

from nmlgen.namelist.extract.lines import closing, split_list, statements


def texts(source: str, *macros: str) -> list[str]:
    return [statement.text for statement in statements(source, frozenset(macros))]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("X = 1 ! one\n", ["x = 1"]),
        ("x = 'It''s ! A' // \"B;C\"; Y = 2", ["x = 'It''s ! A' // \"B;C\"", "y = 2"]),
        ("x = a + & ! first\n   ! between\n\n  & b", ["x = a +  b"]),
        ("s = 'ab&\n   &cd'", ["s = 'abcd'"]),
        ("&\n x = 1", ["x = 1"]),
        ("!$ser verbatim x = 1\n", []),
        ("x = 1 &", ["x = 1"]),
        ("", []),
    ],
)
def test_statements(source, expected):
    assert texts(source) == expected


def test_lines_are_counted():
    assert [s.line for s in statements("\n\nx = &\n 1\ny = 2", frozenset())] == [3, 5]


@rows(
    ("condition", "compiled"),
    [
        ("#ifdef A", True),
        ("#ifdef B", False),
        ("#ifndef B", True),
        ("#if defined(A) && !defined(B)", True),
        ("#if defined A || defined B", True),
        ("#if !(defined(A) || defined(B))", False),
        ("#if A > 0", True),
        ("#if B == 1", False),
        ("# if (A != 1) /* never */", False),
        ("#if", False),
    ],
)
def test_conditional_compilation(condition, compiled):
    assert texts(f"{condition}\nx = 1\n#else\nx = 2\n#endif\ny = 3", "A") == [f"x = {1 if compiled else 2}", "y = 3"]


def test_further_branches():
    source = "#if defined(A)\nx = 1\n#elif defined(B)\nx = 2\n#elif defined(C)\nx = 3\n#else\nx = 4\n#endif"
    assert [texts(source, *macros)[0][-1] for macros in ("A", "B", "C", "", "BC")] == ["1", "2", "3", "4", "2"]


def test_nested_conditions():
    assert texts("#ifdef A\n#ifdef B\nx = 1\n#endif\n#endif\n#endif\ny = 1", "B") == ["y = 1"]


def test_lists():
    assert split_list("a, b(1,2), [3,4], 'c,d'") == ["a", "b(1,2)", "[3,4]", "'c,d'"]
    assert closing("f(a(1), ')')", 1) == 11
    assert closing("f(a", 1) == -1
