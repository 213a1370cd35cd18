"""A command to be worked out: its arguments and its input, read as GNU's getopt does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from nmlgen.script.effort import Effort
from nmlgen.values import frozen

Result: TypeAlias = tuple[str, int]
"""What a program prints on its standard output, and its exit status."""


_MOST_PRINTED = 1_000_000
"""Characters: a long separator, format or delimiter comes as often as there are numbers, arguments or columns."""


class UndecidedCommand(Exception):
    """What the program prints cannot be known."""


def refuse_length(characters: int) -> None:
    """Raises UndecidedCommand where a program would print more than is worked out."""
    if characters > _MOST_PRINTED:
        raise UndecidedCommand("an output too long")


@frozen
class Command:
    """A program's arguments, and its standard input if that is known. `is_ksh`: which shell's builtins these are.
    What a search in a text takes is added to the `effort`."""

    arguments: tuple[str, ...]
    stdin: str | None
    is_ksh: bool | None = None
    effort: Effort | None = None

    @property
    def text(self) -> str:
        """The standard input. Raises UndecidedCommand where it is not known, or no plain text."""
        if self.stdin is None:
            raise UndecidedCommand("an input that is not known")
        if len(self.stdin) > 1_000_000 or "\0" in self.stdin:
            raise UndecidedCommand("an input too long, or no text")
        return self.stdin

    @property
    def ascii_text(self) -> str:
        """The standard input, of which every locale has the same view."""
        if not self.text.isascii():
            raise UndecidedCommand("characters that are several bytes to some locales")
        return self.text

    def options(
        self, flags: str, valued: str = "", names: Mapping[str, str] | None = None, *, in_front: bool = False
    ) -> tuple[list[tuple[str, str]], list[str]]:
        """The options in their order, each a letter and its value, and what is left over.

        `flags` are letters without a value, `valued` those with one, `names` the long names of some; `in_front`: they
        end at the first operand. Anything else is undecided.
        """
        options: list[tuple[str, str]] = []
        operands: list[str] = []
        arguments = iter(self.arguments)
        for argument in arguments:
            if argument == "--":
                return options, operands + list(arguments)
            if not argument.startswith("-") or argument == "-":
                operands.append(argument)
                if in_front:
                    return options, operands + list(arguments)
                continue
            letters = argument[1:]
            if argument.startswith("--"):
                name, equals, value = argument[2:].partition("=")
                letter = (names or {}).get(name, "")
                if not letter or (equals and letter not in valued):
                    raise UndecidedCommand(f"the option {argument}")
                if letter in valued and not equals:
                    value = next(arguments, "\0")
                options.append((letter, self._given(letter, value)))
                continue
            while letters:
                letter, letters = letters[0], letters[1:]
                if letter in flags:
                    options.append((letter, ""))
                elif letter in valued:
                    options.append((letter, self._given(letter, letters or next(arguments, "\0"))))
                    letters = ""
                else:
                    raise UndecidedCommand(f"the option -{letter}")
        return options, operands

    @staticmethod
    def _given(letter: str, value: str) -> str:
        if value == "\0":
            raise UndecidedCommand(f"-{letter} without its value")
        return value

    def refuse_files(self, operands: list[str]) -> None:
        """Files cannot be known; `-` is the standard input."""
        if operands not in ([], ["-"]):
            raise UndecidedCommand("a file")


def lines_of(text: str) -> list[str]:
    """The lines, without their ends; a last one need not have an end."""
    lines = text.split("\n")
    return lines[:-1] if not lines[-1] else lines


def joined(lines: list[str]) -> str:
    """Lines, each with its end."""
    return "".join(f"{line}\n" for line in lines)
