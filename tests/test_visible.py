"""Text of others, made fit to be shown."""

from __future__ import annotations

import pytest

from nmlgen.visible import visible, visible_lines


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, ä, 日本, e\u0301", "plain, ä, 日本, e\u0301"),
        ("\x1b[31mred", "\\u001b[31mred"),
        ("\x9b2J", "\\u009b2J"),
        ("a\u202eb\u2066c", "a\\u202eb\\u2066c"),
        ("a\nb\tc\rd", "a\\u000ab\\u0009c\\u000dd"),
        ("a\u2028b", "a\\u2028b"),
        ("\udcff", "\\udcff"),
        ("\U000e0041", "\\U000e0041"),
    ],
)
def test_nothing_is_obeyed(text, shown):
    assert visible(text) == shown
    assert visible_lines(text) == shown.replace("\\u000a", "\n").replace("\\u0009", "\t")
