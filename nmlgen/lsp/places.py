"""What stands at a place of a text, told from the text alone: it need not be complete while somebody types.

A place in a namelist has a group and perhaps a variable; a place in a YAML document has a path of keys. What these mean
is known elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from nmlgen.values import frozen

_HEADER = re.compile(r"^[ \t]*&([A-Za-z]\w*)", re.MULTILINE)
_CONFIG_SECTION = re.compile(r"^[ \t]*(\[+)([^\]\n]*)\]*", re.MULTILINE)
_PIECE = re.compile(
    r"(?P<comment>![^\n]*)|(?P<string>'[^'\n]*'?|\"[^\"\n]*\"?)"
    r"|(?P<name>[A-Za-z_]\w*(?:[ \t]*\([^()\n=]*\))?(?:%\w+(?:\([^()\n=]*\))?){0,4})[ \t]*=(?!=)"
    r"|(?P<end>/|&end\b)|[^!'\"/&\w]+|\w+|&",
    re.IGNORECASE,
)
_NAME_CHARACTER = re.compile(r"[\w%]")
_VALUE_CHARACTER = re.compile(r"[\w:.+*%-]")
_PARAMETER = re.compile(r"\$(?:\{[#!]?)?([A-Za-z_]\w*)")
_CODE = re.compile(r"\b[A-Z]{3}\d{3}\b")


@frozen
class Word:
    """The word at a place: its text, from offset `start` up to `end`; `before` is the part of it before the place."""

    text: str
    start: int
    end: int
    before: str


@frozen
class NamelistPlace:
    """A place within a namelist group, whose header begins at the offset `header`.

    `variable` is the designator in lower case whose value stands there, if it `is_value`, or that itself stands there;
    None where neither is.
    """

    group: str
    header: int
    variable: str | None
    is_value: bool
    word: Word
    in_header: bool = False


@frozen
class KeyPlace:
    """A place in a YAML document: the keys above, and the `key` whose value stands there, if it `is_value`, or that
    itself stands there."""

    above: tuple[str, ...]
    key: str | None
    is_value: bool
    word: Word

    @property
    def path(self) -> tuple[str, ...]:
        """All keys down to this place."""
        return self.above if self.key is None else (*self.above, self.key)


def word_at(text: str, offset: int, character: re.Pattern[str] = _VALUE_CHARACTER) -> Word:
    """The word around an offset; it may be empty."""
    start = end = offset
    while start > 0 and character.match(text[start - 1]):
        start -= 1
    while end < len(text) and character.match(text[end]):
        end += 1
    return Word(text[start:end], start, end, text[start:offset])


def code_at(text: str, offset: int) -> str | None:
    """The code of a rule that stands there, such as RST001."""
    word = word_at(text, offset, _NAME_CHARACTER).text
    return word if _CODE.fullmatch(word) else None


def parameter_at(text: str, offset: int) -> tuple[str, int, int] | None:
    """The variable of the shell whose expansion stands there, or that is part of a sum, with its name's offsets."""
    line = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", offset)
    end = len(text) if end < 0 else end
    for match in _PARAMETER.finditer(text, line, end):
        if match.start() <= offset <= match.end():
            return match[1], match.start(1), match.end(1)
    word = word_at(text, offset, _NAME_CHARACTER)
    is_in_sum = text.rfind("((", line, offset) > text.rfind("))", line, offset) and "))" in text[offset:end]
    return (word.text, word.start, word.end) if is_in_sum and word.text.isidentifier() else None


# --- Namelists ---


def namelist_place(text: str, offset: int, *, is_config: bool = False) -> NamelistPlace | None:
    """The place within a group, in a namelist file, in a here-document of a script, or in a configuration of mkexp;
    None outside of groups."""
    return _config_place(text, offset) if is_config else _group_place(text, offset)


def _group_place(text: str, offset: int) -> NamelistPlace | None:
    header = None
    for match in _HEADER.finditer(text):
        if match.start(1) - 1 > offset:
            break
        header = match
    if header is None:
        return None
    group, start = header[1].lower(), header.start(1) - 1
    if offset <= header.end():
        return NamelistPlace(group, start, None, False, word_at(text, offset, _NAME_CHARACTER), True)
    last = None
    for piece in _PIECE.finditer(text, header.end()):
        if piece.start() > offset or (piece.start() == offset and piece["name"] is None):
            break
        if piece["end"] is not None or (piece["comment"] is not None and offset <= piece.end()):
            return None
        if piece["name"] is not None:
            last = piece
    if last is not None and last.start() <= offset < last.end():
        return NamelistPlace(group, start, _plain(last["name"]), False, word_at(text, offset, _NAME_CHARACTER))
    if last is None or _begins_anew(text, last.end(), offset):
        word = word_at(text, offset, _NAME_CHARACTER)
        return NamelistPlace(group, start, word.text.lower() or None, False, word)
    return NamelistPlace(group, start, _plain(last["name"]), True, word_at(text, offset))


def _plain(designator: str) -> str:
    """A designator without subscripts and in lower case."""
    return re.sub(r"\([^()]*\)|\s", "", designator).lower()


def _begins_anew(text: str, equals: int, offset: int) -> bool:
    """Whether what stands at an offset is the name of the next variable, rather than a value: a word at the beginning
    of a line, if the line before does not end with a comma and is not the one with the equals sign alone."""
    line = text.rfind("\n", 0, offset) + 1
    if line <= equals or text[line:offset].strip(" \t") != word_at(text, offset, _NAME_CHARACTER).before:
        return False
    before = re.sub(r"![^\n]*", "", text[equals:line]).rstrip()
    return not before.endswith(",") and bool(before)


def _config_place(text: str, offset: int) -> NamelistPlace | None:
    line = text.rfind("\n", 0, offset) + 1
    section = None
    for match in _CONFIG_SECTION.finditer(text, 0, offset):
        section = match
    if section is None or len(section[1]) < 3:
        return None
    group = section[2].split(",")[0].split()[0].lower() if section[2].split(",")[0].split() else ""
    if offset <= section.end():
        return NamelistPlace(group, section.start(2), None, False, word_at(text, offset, _NAME_CHARACTER), True)
    rest = text[line:].partition("\n")[0]
    assignment = re.match(r"[ \t]*([A-Za-z_]\w*(?:%\w+)*)[ \t]*=", rest)
    if assignment is not None and offset >= line + assignment.end():
        return NamelistPlace(group, section.start(2), assignment[1].lower(), True, word_at(text, offset))
    if "#" in text[line:offset]:
        return None
    word = word_at(text, offset, _NAME_CHARACTER)
    return NamelistPlace(group, section.start(2), word.text.lower() or None, False, word)


# --- YAML and TOML ---

_KEY = re.compile(
    r"(?P<indent> *)(?P<dash>(?:- +)*)(?P<quote>['\"]?)(?P<key>[^\s'\"#:{\[,&*!|>%@`-][^'\"#:{\[\n]*?)(?P=quote)"
    r" *:(?= |$)"
)
_FLOW = re.compile(r"'[^'\n]*'?|\"[^\"\n]*\"?|[{}\[\],]|(?P<key>[^\s,:{}\[\]'\"#]+) *:(?=\s|$)|[^\s,:{}\[\]'\"]+|:|\s+")


def key_place(text: str, offset: int) -> KeyPlace | None:
    """The place in a YAML document; None in a comment."""
    start = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", offset)
    line = text[start : len(text) if end < 0 else end].rstrip("\r")
    column = offset - start
    if (comment := re.search(r"(?:^|\s)#", line)) is not None and comment.end() <= column:
        return None
    word = word_at(text, offset, _SPEC_CHARACTER)
    match = _KEY.match(line)
    dashes = re.match(r" *(?:- +)*", line)
    indent = len(line) - len(line.lstrip(" "))
    name = word_at(text, offset, _KEY_CHARACTER)
    if match is None:
        is_item = bool(dashes and dashes[0].strip())
        above = _above(text, start, indent if line.strip() else column, is_item)
        if is_item or _continues_a_list(text, start):
            return _in_flow(
                above[:-1], above[-1] if above else None, line, (dashes.end() if dashes else 0), column, word
            )
        return KeyPlace(above, name.text or None, False, name)
    above = _above(text, start, match.start("key"), bool(match["dash"]))
    if column <= match.end("key") + len(match["quote"]):
        return KeyPlace(above, match["key"], False, name)
    return _in_flow(above, match["key"], line, match.end(), column, word)


_KEY_CHARACTER = re.compile(r"[\w.+*%/()-]")
_SPEC_CHARACTER = re.compile(r"[\w:.+*%/<>-]")


def _above(text: str, start: int, indent: int, is_item: bool) -> tuple[str, ...]:
    """The keys of the mappings around a line that begins at an offset and is indented so far."""
    found: list[str] = []
    for line in reversed(text[:start].splitlines()):
        match = _KEY.match(line)
        if match is None:
            continue
        own = match.start("key")
        if own < indent or (is_item and own == indent and not match["dash"]):
            found.append(match["key"])
            indent, is_item = own, bool(match["dash"])
            if is_item:
                indent = len(match["indent"])
        if indent == 0 and not is_item:
            break
    return tuple(reversed(found))


def _continues_a_list(text: str, start: int) -> bool:
    """Whether a bracket is open at the beginning of a line, by the last lines before."""
    before = text[max(0, start - 4000) : start]
    before = before[before.rfind("\n", 0, max(0, len(before) - 2000)) + 1 :]
    depth = 0
    for match in _FLOW.finditer(before):
        depth += (match[0] == "[") - (match[0] == "]")
        depth = max(depth, 0)
    return depth > 0


def _in_flow(above: tuple[str, ...], key: str | None, line: str, at: int, column: int, word: Word) -> KeyPlace:
    """The place behind a key, where mappings and lists may stand in braces and brackets."""
    stack: list[tuple[str, tuple[str, ...], str | None]] = []
    current, is_value = key, True
    for match in _FLOW.finditer(line, at):
        if match.start() >= column and match["key"] is None:
            break
        if match["key"] is not None:
            if stack and stack[-1][0] == "{" and not is_value:
                if match.start() <= column <= match.end("key"):
                    return KeyPlace(above, match["key"], False, _without_colon(word))
                if match.start() >= column:
                    break
                current, is_value = match["key"], True
            continue
        piece = match[0]
        if piece == "{":
            stack.append(("{", above, current))
            above = above if current is None else (*above, current)
            current, is_value = None, False
        elif piece == "[":
            stack.append(("[", above, current))
        elif piece in "}]" and stack:
            _, above, current = stack.pop()
            is_value = True
        elif piece == "," and stack and stack[-1][0] == "{":
            current, is_value = None, False
    if not is_value:
        word = _without_colon(word)
        return KeyPlace(above, word.text or None, False, word)
    return KeyPlace(above, current, True, word)


def _without_colon(word: Word) -> Word:
    text = word.text.rstrip(":")
    return Word(text, word.start, word.start + len(text), word.before.rstrip(":"))


def spec_keys(text: str) -> Iterator[tuple[int, str, int, int]]:
    """The keys that begin a line of a YAML document: how far they are indented, the key, and where it stands."""
    at = 0
    for line in text.splitlines(keepends=True):
        match = _KEY.match(line)
        if match is not None:
            yield match.start("key"), match["key"], at + match.start("key"), at + match.end("key")
        at += len(line)


def toml_place(text: str, offset: int) -> KeyPlace | None:
    """The place in nmlgen.toml: the table above, and the key of the line; None in a comment."""
    tables = _TABLE.findall(text, 0, offset)
    above = tuple(part.strip() for part in tables[-1].split(".")) if tables else ()
    above = above[2:] if above[:2] == ("tool", "nmlgen") else above
    start = text.rfind("\n", 0, offset) + 1
    line = text[start:].partition("\n")[0]
    if "#" in line[: offset - start]:
        return None
    word = word_at(text, offset)
    key = _TOML_KEY.match(line)
    if key is not None and offset >= start + key.end():
        return KeyPlace(above, key[1], True, word)
    lists = re.search(r"(?<![\w-])([\w-]+)[ \t]*=[ \t]*\[", text[text.rfind("]", 0, start) + 1 : start])
    if lists is not None:
        return KeyPlace(above, lists[1], True, word)
    return KeyPlace(above, word.text or None, False, word)


_TABLE = re.compile(r"^[ \t]*\[{1,2}([^\[\]\n]+)\]", re.MULTILINE)
_TOML_KEY = re.compile(r"[ \t]*[\"']?([\w-]+)[\"']?[ \t]*=")


@frozen
class GroupText:
    """A namelist group as it looks: from the offset `start` of its `&` to its end, with the names that are assigned in
    it, each with its offsets."""

    name: str
    start: int
    end: int
    names: tuple[tuple[str, int, int], ...]


def groups_in(text: str) -> Iterator[GroupText]:
    """The namelist groups in a namelist file, or in the here-documents of a script."""
    headers = list(_HEADER.finditer(text))
    for number, header in enumerate(headers):
        last = headers[number + 1].start() if number + 1 < len(headers) else len(text)
        names: list[tuple[str, int, int]] = []
        end = header.end()
        for piece in _PIECE.finditer(text, header.end(), last):
            if not piece[0].isspace():
                end = piece.end()
            if piece["end"] is not None:
                break
            if piece["name"] is not None:
                names.append((piece["name"], piece.start("name"), piece.end("name")))
        yield GroupText(header[1], header.start(1) - 1, end, tuple(names))
