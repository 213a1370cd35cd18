"""YAML with positions: every key and every value knows where it was written.

Scalars follow the core schema of YAML 1.2: `true` and `false` are the only booleans, `on`, `yes` and
`00:40:00` are strings, and so is a date. What a reader could misunderstand is refused: duplicate keys, tags,
NaN and infinities.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from nmlgen.errors import InputError, SpecError
from nmlgen.findings import Finding
from nmlgen.source import Source, Span
from nmlgen.spec.problems import problem

_MAXIMUM_NODES = 100_000
_INTEGER = re.compile(r"[-+]?[0-9]+")
_OCTAL = re.compile(r"0o[0-7]+")
_HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_A_NUMBER = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_MAXIMUM_DIGITS = 40
_WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}


@frozen(eq=False)
class Node:
    """A value of a document: a scalar, a dict of nodes or a list of nodes, with its span.

    `keys` holds the spans of a mapping's keys.
    """

    value: Any
    span: Span | None
    keys: Mapping[str, Span] = {}

    def plain(self) -> Any:
        """The same without positions: what `json.loads` would give."""
        if isinstance(self.value, dict):
            return {key: node.plain() for key, node in self.value.items()}
        if isinstance(self.value, list):
            return [node.plain() for node in self.value]
        return self.value


def read_file(path: Path, name: str | None = None) -> Node:
    """Read a YAML file into nodes; messages call it `name`.

    Raises InputError if it cannot be read, SpecError if it is not a mapping in the YAML that nmlgen takes.
    """
    name = name or str(path)
    try:
        data = path.read_bytes()
    except IsADirectoryError:
        raise InputError(f"{name} is a directory; a YAML file is expected") from None
    except FileNotFoundError:
        raise InputError(f"{name}: there is no such file") from None
    except OSError as error:
        raise InputError(f"{name}: {(error.strerror or str(error)).lower()}") from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SpecError((_not_utf8(name, data, error),)) from None
    return read_text(Source(name, text))


def read_text(source: Source) -> Node:
    """Read the one YAML document of a text; raises SpecError unless it is a mapping without mistakes."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        root = YAML(typ="safe", pure=True).compose(source.text)
    except MarkedYAMLError as error:
        raise SpecError((_syntax_problem(source, error),)) from None
    except (YAMLError, RecursionError) as error:
        message = "the document is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise SpecError((problem("SPC001", message.splitlines()[0], source.span(1, 1)),)) from None
    if root is None:
        raise SpecError((problem("SPC001", "the document is empty; a mapping is expected", source.span(1, 1)),))
    reader = _Reader(source)
    node = reader.read(root)
    if not isinstance(node.value, dict) and not reader.findings:
        reader.findings.append(problem("SPC001", "a mapping of keys to values is expected", node.span))
    if reader.findings:
        raise SpecError(tuple(reader.findings))
    return node


def from_plain(value: Any, name: str = "spec") -> Node:
    """Nodes for a value that was not read from a text: a mapping handed to the library.

    Raises SpecError for what no YAML document could hold.
    """
    if isinstance(value, Mapping):
        return Node({_plain_key(key, name): from_plain(item, name) for key, item in value.items()}, None)
    if isinstance(value, (list, tuple)):
        return Node([from_plain(item, name) for item in value], None)
    if value is None or isinstance(value, (str, bool, int)):
        return Node(value, None)
    if isinstance(value, float) and value - value == 0:
        return Node(value, None)
    raise SpecError((problem("SPC004", f"{name}: {value!r} is not a value that a spec can hold", None),))


class _Reader:
    """Turns ruamel.yaml's nodes into ours and collects what is wrong with them."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.findings: list[Finding] = []
        self._count = 0
        self._open: set[int] = set()

    def read(self, node: Any) -> Node:
        span = self._span(node)
        self._count += 1
        if self._count > _MAXIMUM_NODES or id(node) in self._open:
            raise SpecError((problem("SPC006", "aliases unfold to a document without end", span),))
        if node.tag and not node.tag.startswith("tag:yaml.org,2002:"):
            self.findings.append(problem("SPC001", f"the tag {node.tag} has no meaning in a spec", span))
            return Node(None, span)
        if isinstance(node.value, str):
            return Node(self._scalar(node, span), span)
        self._open.add(id(node))
        kind = node.tag.rpartition(":")[2]
        result = self._mapping(node, span) if kind == "map" else self._sequence(node, span)
        self._open.discard(id(node))
        return result

    def _mapping(self, node: Any, span: Span) -> Node:
        values: dict[str, Node] = {}
        keys: dict[str, Span] = {}
        for key_node, value_node in node.value:
            key_span = self._span(key_node)
            key = key_node.value
            if not isinstance(key, str) or not key:
                self.findings.append(problem("SPC001", "a key is a word, not a list or a mapping", key_span))
                continue
            if key in values:
                first = keys[key]
                message = f'the key "{key}" stands here a second time'
                self.findings.append(problem("SPC002", message, key_span, f"the first one is at line {first.line}"))
                continue
            keys[key] = key_span
            values[key] = self.read(value_node)
        return Node(values, span, keys)

    def _sequence(self, node: Any, span: Span) -> Node:
        return Node([self.read(item) for item in node.value], span)

    def _scalar(self, node: Any, span: Span) -> Any:
        text = node.value
        if node.style is not None or (node.tag.endswith(":str") and _is_explicit(node)):
            return text
        if _NOT_A_NUMBER.fullmatch(text):
            self.findings.append(problem("SPC004", f"{text} is not a number that a namelist or a job can use", span))
            return None
        if len(text) > _MAXIMUM_DIGITS and (_INTEGER.fullmatch(text) or _HEXADECIMAL.fullmatch(text)):
            self.findings.append(problem("SPC004", "no setting takes a number of that many digits", span))
            return None
        return _core_schema(text)

    def _span(self, node: Any) -> Span:
        start, end = node.start_mark, node.end_mark
        if end.line != start.line:  # a block ends where the next key begins: point at its first line only
            length = max(1, len(self.source.line(start.line + 1).rstrip()) - start.column)
            return self.source.span(start.line + 1, start.column + 1, length)
        return self.source.span(start.line + 1, start.column + 1, max(1, end.column - start.column))


def _is_explicit(node: Any) -> bool:
    """Whether the author wrote !!str before a plain scalar."""
    return bool(node.start_mark.buffer and node.start_mark.buffer[node.start_mark.pointer :].startswith("!!str"))


def _core_schema(text: str) -> Any:
    lowered = text if text in _WORDS else text.lower() if text in (text.title(), text.upper()) else text
    if lowered in _WORDS:
        return _WORDS[lowered]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _OCTAL.fullmatch(text):
        return int(text[2:], 8)
    if _HEXADECIMAL.fullmatch(text):
        return int(text[2:], 16)
    if _FLOAT.fullmatch(text):
        number = float(text)
        return number if number - number == 0 else text
    return text


def _plain_key(key: Any, name: str) -> str:
    if not isinstance(key, str) or not key:
        raise SpecError((problem("SPC001", f"{name}: the key {key!r} is not a word", None),))
    return key


def _syntax_problem(source: Source, error: Any) -> Finding:
    mark = error.problem_mark or error.context_mark
    span = source.span(mark.line + 1, mark.column + 1) if mark else source.span(1, 1)
    message = (error.problem or error.context or "not YAML").replace("'\\t'", "a tab")
    notes = ("indent with blanks; YAML takes no tabs there",) if "a tab" in message else ()
    if "but found another document" in message:
        message = "a second document begins here; a spec is one document"
    return problem("SPC001", message, span, *notes)


def _not_utf8(name: str, data: bytes, error: UnicodeDecodeError) -> Finding:
    before = data[: error.start]
    line = before.count(b"\n") + 1
    column = len(before) - (before.rfind(b"\n") + 1) + 1
    readable = Source(name, data.decode("utf-8", errors="replace"))
    message = f"byte 0x{data[error.start]:02x} is not UTF-8"
    return problem("SPC001", message, readable.span(line, column), "save the file with the encoding UTF-8")
