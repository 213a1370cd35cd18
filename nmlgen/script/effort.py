"""What it costs to follow a script, counted and not timed: the same script is followed as far on every machine."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from nmlgen.values import define

_CHARACTERS = 50
_PIECE = 2
_WORDS = 1_000  # of a command, rarely more
_TEXTS = 4
_ANSWERS = 16  # sixteen of what holds already take as long as a part of a word
_CHOICES = 256  # of more nothing is known
_COPIED = 50  # elements that are copied take as long as a part of a word
_ELEMENTS = 20  # and of those that are looked at one by one
_MOST = 600_000
"""A bound on work: a script that takes more is not followed any further. A thousand ordinary commands look at some
25 000."""


@define
class Effort:
    """What was looked at so far beside the commands: parts of words, fifties of characters, tokens of expressions, the
    questions that a way has left open, elements of arrays. Each takes a few microseconds at the most."""

    spent: int = 0
    of_command: int = 0
    """What each command adds, where not only the commands themselves are counted."""

    @property
    def is_too_much(self) -> bool:
        """Whether nothing more is looked at closely."""
        return self.spent > _MOST

    def on_text(self, text: str) -> None:
        """A part of a word, or what a program writes."""
        self.spent += 2 + len(text) // _CHARACTERS

    def on_piece(self) -> None:
        """A part of a here-document, of which it is kept where it stands."""
        self.spent += _PIECE

    def on_words(self, count: int, before: int = 0) -> None:
        """So many words of a command, behind those `before`; very many are looked at in each way through the script
        once more."""
        self.spent += 2 * count + 38 * (max(0, before + count - _WORDS) - max(0, before - _WORDS))

    def on_copy(self, count: int) -> None:
        """A copy of so many variables, elements or names."""
        self.spent += count // _COPIED

    def on_elements(self, count: int) -> None:
        """So many of them, each looked at."""
        self.spent += count // _ELEMENTS

    def on_joined(self, count: int) -> None:
        """Texts that are put together; a few are as good as one."""
        self.spent += count // _TEXTS

    def on_answers(self, asked: Sequence[tuple[Collection[int], bool]]) -> None:
        """What else has to hold, where a question is answered so far, when one more is asked."""
        self.spent += 1 + sum(len(guard) for guard, _ in asked) // _ANSWERS

    def on_choices(self, values: Sequence[Sequence[object]]) -> None:
        """Every choice of cases of several values; each is held against all others."""
        count = 1
        for value in values:
            count *= len(value)
        if count > 1:
            self.spent += min(count, _CHOICES) ** 2 // 4 + 4 * count
