from __future__ import annotations

import shlex
from itertools import product

import pytest

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


@pytest.mark.parametrize("word", ["a" * 900_000, '"' + "\\a" * 400_000 + '"', "a''" * 300_000, "\\a" * 400_000])
def test_a_long_word_is_not_copied_for_each_letter(word, monkeypatch):
    monkeypatch.setattr(shlex, "split", None)  # its work grows with the square
    assert len(command_words(f"run {word} end")) == 3
