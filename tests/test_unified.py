"""Differences of texts as patch takes them."""

from __future__ import annotations

import difflib
import random

import pytest

from nmlgen.unified import unified_diff


def patched(old: list[str], diff: list[str]) -> list[str]:
    """The old text with the changes of a diff, as patch makes them."""
    made: list[str] = []
    at = 0
    for line in diff[2:]:
        if line.startswith("@@"):
            first, _, count = line.split()[1][1:].partition(",")
            begin = int(first) - (count != "0")
            made += old[at:begin]
            at = begin
        elif line.startswith("+"):
            made.append(line[1:])
        else:
            assert old[at] == line[1:]
            made += [line[1:]] * line.startswith(" ")
            at += 1
    return made + old[at:]


@pytest.mark.parametrize("words", [3, 200, 5000])
def test_any_long_texts(words):
    draw = random.Random(words)
    old = [f"{draw.randrange(words)}\n" for _ in range(2500)]
    new = list(old)
    for _ in range(60):
        at = draw.randrange(len(new))
        new[at : at + draw.randrange(3)] = [f"{draw.randrange(words)}\n" for _ in range(draw.randrange(3))]
    diff = list(unified_diff(old, new, "old", "new"))
    assert diff[:2] == ["--- old\n", "+++ new\n"]
    assert patched(old, diff) == new


def test_a_long_text_is_shown_as_a_short_one():
    old = [f"{number}\n" for number in range(1500)]
    new = [*old[:700], "a\n", *old[703:]]
    assert list(unified_diff(old, new, "x", "y")) == list(difflib.unified_diff(old, new, "x", "y"))
    assert list(unified_diff(old, old, "x", "y")) == []


@pytest.mark.parametrize("lines_between", range(4, 9))
def test_changes_that_are_near_share_the_lines_around_them(lines_between):
    old = [f"{number}\n" for number in range(1500)]
    new = [*old[:700], "a\n", *old[701 : 701 + lines_between], "b\n", *old[702 + lines_between :]]
    assert list(unified_diff(old, new, "x", "y")) == list(difflib.unified_diff(old, new, "x", "y"))


def test_a_text_where_there_was_none():
    new = [f"{number}\n" for number in range(2500)]
    for texts in (([], new), (new, [])):
        assert list(unified_diff(*texts, "x", "y")) == list(difflib.unified_diff(*texts, "x", "y"))


def test_lines_that_change_places():
    old = [f"{number}\n" for number in range(1500)]
    new = [*old[:100], *old[900:], *old[100:900]]
    diff = list(unified_diff(old, new, "x", "y"))
    assert patched(old, diff) == new
    assert sum(line.startswith("+") for line in diff[2:]) == 600


def test_of_very_many_lines_no_common_stretch_is_sought_in_all(monkeypatch):
    asked: list[int] = []
    find = difflib.SequenceMatcher.find_longest_match
    monkeypatch.setattr(
        difflib.SequenceMatcher,
        "find_longest_match",
        lambda self, *place: asked.append(len(self.a) + len(self.b)) or find(self, *place),
    )
    old = [f"a{number}\n" if number % 2 else "same\n" for number in range(6000)]
    new = [line.replace("a", "b") if number % 2 else line for number, line in enumerate(old)]
    assert patched(old, list(unified_diff(old, new, "x", "y"))) == new
    assert max(asked, default=0) < 100
    old, new = ["a\n", "b\n"] * 1500, ["b\n", "c\n", "a\n"] * 1500
    assert patched(old, list(unified_diff(old, new, "x", "y"))) == new
    assert max(asked, default=0) < 100
