from __future__ import annotations

import shlex
from itertools import product

import pytest
from steps import grows_too_fast, steps

from nmlgen.command_line import command_words


def answer(split, text):
    try:
        return split(text)
    except ValueError:
        return None


@pytest.mark.parametrize("comments", [False, True])
def test_words_are_those_of_pythons_shell(comments):
    for length in range(6):
        for letters in product("a \\'\"#\n", repeat=length):
            text = "".join(letters)
            own = answer(lambda text: command_words(text, comments=comments), text)
            assert own == answer(lambda text: shlex.split(text, comments=comments), text), text


@pytest.mark.parametrize("part", ["a" * 50_000, '"' + "\\a" * 50_000 + '"', "'" + "a" * 50_000 + "'", " " * 50_000])
def test_a_long_part_of_a_word_is_looked_at_at_once(part):
    assert steps(lambda: command_words(f"run b{part} end")) < 1000


@pytest.mark.parametrize("part", ["a''", "\\a", '"a"b'])
def test_work_grows_with_the_parts_of_a_word(part):
    assert not grows_too_fast(lambda number: lambda: command_words(part * number), 1000)
