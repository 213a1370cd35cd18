"""`tr`: a text character by character."""

from __future__ import annotations

import re

from nmlgen.script.patterns import CHARACTER_CLASSES
from nmlgen.script.programs.command import Command, Result, UndecidedCommand

_ALL = "".join(map(chr, range(128)))
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "\\": "\\"}
_ELEMENT = re.compile(
    r"\[:(?P<name>[a-z]+):\]|\\(?:(?P<octal>[0-7]{3})|(?P<escape>[^0-7]))|(?P<plain>[^\\])", re.DOTALL
)


def tr(command: Command) -> Result:
    """`tr`: translate, delete (`-d`) and squeeze (`-s`) characters, or all others (`-c`)."""
    names = {"complement": "c", "delete": "d", "squeeze-repeats": "s", "truncate-set1": "t"}
    pairs, operands = command.options("cCdst", "", names, in_front=True)
    letters = {letter.lower() for letter, _ in pairs}
    sets = [_members(operand) for operand in operands]
    counts = (
        (1, 2) if letters >= {"s"} and "d" not in letters else (1,) if "d" in letters and "s" not in letters else (2,)
    )
    if len(sets) not in counts:
        raise UndecidedCommand("a tr with too few or too many sets")
    text = command.ascii_text
    first = "".join(sorted(set(_ALL) - set(sets[0]))) if "c" in letters else sets[0]
    if "d" in letters:
        text = "".join(character for character in text if character not in first)
        return (_squeezed(text, sets[1]) if "s" in letters else text), 0
    if len(sets) == 1:
        return _squeezed(text, first), 0
    second = sets[1]
    _refuse_classes(operands, letters)
    if "t" in letters:
        first = first[: len(second)]
    if not second or ("c" in letters and len(set(second)) != 1):
        raise UndecidedCommand("a translation of all others to several characters")
    table = dict(zip(first, second.ljust(len(first), second[-1]), strict=False))
    for original, replacement in zip(first, second.ljust(len(first), second[-1]), strict=False):
        table[original] = replacement
    text = "".join(table.get(character, character) for character in text)
    return (_squeezed(text, second) if "s" in letters else text), 0


def _refuse_classes(operands: list[str], letters: set[str]) -> None:
    """Of classes, only `[:upper:]` and `[:lower:]` are translated, one to the other, or a class to one character."""
    if "[:" in operands[1] and (
        tuple(operands) not in (("[:upper:]", "[:lower:]"), ("[:lower:]", "[:upper:]")) or letters
    ):
        raise UndecidedCommand("a translation of classes")


def _squeezed(text: str, members: str) -> str:
    return "".join(
        character for index, character in enumerate(text) if character not in members or text[:index][-1:] != character
    )


def _members(text: str) -> str:
    """The characters of a set, in order."""
    elements: list[tuple[str, bool]] = []
    offset = 0
    while offset < len(text):
        match = _ELEMENT.match(text, offset)
        if match is None or re.match(r"\[[=.]|\[.\*", text[offset:], re.DOTALL):
            raise UndecidedCommand(f"the set {text}")
        offset = match.end()
        if match["name"]:
            if match["name"] not in CHARACTER_CLASSES:
                raise UndecidedCommand(f"the class {match['name']}")
            elements += [(character, False) for character in sorted(CHARACTER_CLASSES[match["name"]])]
        elif match["octal"]:
            if int(match["octal"], 8) > 127:
                raise UndecidedCommand(f"the set {text}")
            elements.append((chr(int(match["octal"], 8)), False))
        elif match["escape"]:
            if match["escape"] not in _ESCAPES:
                raise UndecidedCommand(f"the escape \\{match['escape']}")
            elements.append((_ESCAPES[match["escape"]], False))
        elif match["plain"] == "-" and elements and offset < len(text):
            following = _ELEMENT.match(text, offset)
            start, is_plain = elements[-1]
            if following is None or not following["plain"] or not is_plain or following["plain"] < start:
                raise UndecidedCommand(f"the set {text}")
            offset = following.end()
            elements += [(chr(code), False) for code in range(ord(start) + 1, ord(following["plain"]) + 1)]
        else:
            elements.append((match["plain"], True))
    members = "".join(character for character, _ in elements)
    if not members.isascii():
        raise UndecidedCommand("characters that are several bytes to some locales")
    return members


PROGRAMS = {"tr": tr}
