"""`seq`: a row of numbers."""

from __future__ import annotations

import re
from decimal import Decimal

from nmlgen.script.programs.command import Command, Result, UndecidedCommand, refuse_length
from nmlgen.script.programs.printing import directive

_MOST_NUMBERS = 20_000
_NUMBER = re.compile(r"[-+]?(?:[0-9]{1,15}(?:\.[0-9]{1,9})?|\.[0-9]{1,9})")


def seq(command: Command) -> Result:
    """`seq [first [step]] last`, with `-w`, `-s` and `-f`."""
    options, numbers = _read(command.arguments)
    if not 1 <= len(numbers) <= 3 or not all(_NUMBER.fullmatch(number) for number in numbers):
        raise UndecidedCommand("a seq of other than one to three numbers")
    first = Decimal(numbers[0]) if len(numbers) > 1 else Decimal(1)
    step = Decimal(numbers[1]) if len(numbers) > 2 else Decimal(1)
    last = Decimal(numbers[-1])
    if step == 0 or any(Decimal(number) == 0 and number.startswith("-") for number in numbers):
        raise UndecidedCommand("a step of zero, or a zero below zero")
    count = int((last - first) / step) + 1 if (last - first) * step >= 0 else 0
    if count > _MOST_NUMBERS:
        raise UndecidedCommand("too many numbers")
    values = [first + step * index for index in range(count)]
    if not values:
        return "", 0
    refuse_length(count * (len(options.get("s", "")) + len(options.get("f", ""))))
    texts = _texts(values, numbers, options)
    return options.get("s", "\n").join(texts) + "\n", 0


def _read(arguments: tuple[str, ...]) -> tuple[dict[str, str], list[str]]:
    """The options, which end at the first number, be it negative."""
    rest = list(arguments)
    options: dict[str, str] = {}
    long_names = {"--equal-width": "-w", "--separator": "-s", "--format": "-f"}
    while rest and rest[0].startswith("-") and not re.match(r"-[0-9.]", rest[0]):
        name, equals, value = rest.pop(0).partition("=") if rest[0].startswith("--") else (rest.pop(0), "", "")
        if name == "--":
            break
        name = long_names.get(name, name)
        letter, attached = name[1:2], name[2:]
        if letter == "w" and not attached and not equals:
            options["w"] = ""
        elif letter in ("s", "f") and (equals or attached or rest):
            options[letter] = value if equals else attached or rest.pop(0)
        else:
            raise UndecidedCommand(f"the option {name}")
    return options, rest


def _texts(values: list[Decimal], numbers: list[str], options: dict[str, str]) -> list[str]:
    if "\\" in options.get("s", ""):
        raise UndecidedCommand("a separator with backslashes")
    if "f" in options:
        match = re.fullmatch(r"([^%\\]*)%([-+ 0]*)([0-9]{0,2})(?:\.([0-9]{1,2}))?([feg])([^%\\]*)", options["f"])
        if match is None or "w" in options or any("." in number for number in numbers):
            raise UndecidedCommand(f"the format {options['f']}")
        precision = int(match[4]) if match[4] else None
        return [
            match[1] + directive(match[2], int(match[3] or "0"), precision, match[5], f"{value:f}") + match[6]
            for value in values
        ]
    decimals = max(len(number.partition(".")[2]) for number in numbers[: -1 if len(numbers) > 1 else None] or ["0"])
    if len(numbers) == 1:
        decimals = 0
    texts = [f"{value:.{decimals}f}" for value in values]
    if "w" not in options:
        return texts
    if any("." in number or number.startswith("+") for number in numbers):
        raise UndecidedCommand("equal widths of decimals")
    widths = [len(number) for number in (numbers[0] if len(numbers) > 1 else "1", numbers[-1])]
    width = max(*widths, *map(len, texts))
    if max(map(len, texts)) < max(widths):
        raise UndecidedCommand("a width of numbers that are not there")
    return [text.zfill(width) for text in texts]


PROGRAMS = {"seq": seq}
