"""YAML with positions: every key and every value knows where it was written.

Scalars follow the core schema of YAML 1.2: `true` and `false` are the only booleans, `on`, `yes` and
`00:40:00` are strings, and so is a date. What a reader could misunderstand is refused: duplicate keys, tags,
NaN and infinities.
"""

from __future__ import annotations

import hashlib
import re
import warnings
from codecs import BOM_UTF8
from collections.abc import Callable, Mapping
from functools import lru_cache
from math import isinf
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from nmlgen.errors import InputError, SpecError
from nmlgen.files import Files
from nmlgen.findings import Finding
from nmlgen.source import Source, Span
from nmlgen.spec.kept import kept_node
from nmlgen.spec.nodes import Document, Node
from nmlgen.spec.problems import problem
from nmlgen.values import define
from nmlgen.yaml_nodes import composed

_MAXIMUM_NODES = 100_000
_CHARACTERS = 200  # of a text that count as one more: aliases of a long one are as much to look at as many values
MAXIMUM_WRITTEN = 50_000
_MAXIMUM_DEPTH = 30
_MAXIMUM_DIGITS = 40
_LONGEST_KEY = 4096  # a path in the run directory has less; messages name all keys above what they speak of
_KEPT = 50_000  # bytes; what ships has less
_FEW = 5_000
_INTEGER = re.compile(r"[-+]?[0-9]+")
_OCTAL = re.compile(r"0o[0-7]+")
_HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
NOT_A_NUMBER = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}
_WRITTEN_TAG = re.compile(r"(?:&[^\s,\[\]{}]+\s+)?(!\S*)")  # an anchor ends where the next element of a list begins
_LONG_TAG = re.compile(r"(?:^|(?<=[\s\[{,:-]))(!\S{500})", re.MULTILINE)
_STRING_TAG = "tag:yaml.org,2002:str"
_UNWRITABLE = re.compile("[\x00\ud800-\udfff]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


@define
class Room:
    """How many values and keys are still taken of what one spec is made of, as they are written and as aliases unfold
    them: many files take no more work than one."""

    written: int = MAXIMUM_WRITTEN
    unfolded: int = _MAXIMUM_NODES


def read_file(
    path: Path,
    name: str | None = None,
    files: Files | None = None,
    *,
    kept: Path | None = None,
    room: Room | None = None,
) -> Document:
    """Read a YAML file into nodes, once; messages call it `name`. `files` may give another text than the disk; where it
    does not, the nodes may be `kept` in a file. There is less `room` afterwards.

    Raises InputError if it cannot be read, SpecError if it is not a mapping in the YAML that nmlgen takes, or if there
    is no room for it.
    """
    name, room = name or str(path), room or Room()
    data = _read_bytes(path, name, files or Files())
    most = MAXIMUM_WRITTEN if len(data) < room.written else room.written  # what fits in any case is read once
    document = (_document if len(data) <= _KEPT else _large_document)(name, data, kept, most)
    room.written -= document.written
    room.unfolded -= document.unfolded
    if room.unfolded < 0:
        raise SpecError((problem("SPC006", _UNFOLDS, document.node.span, _TOGETHER),))
    return document


_Given = ParamSpec("_Given")
_Made = TypeVar("_Made")
_UNFOLDS = "aliases unfold to a document without end"
_TOGETHER = "the files that a spec is made of are counted together"


@lru_cache(maxsize=64)
def _document(name: str, data: bytes, kept: Path | None, most: int) -> Document:
    """What these bytes say. Many specs name the same presets and sites; nobody changes a node."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SpecError((_not_utf8(name, data, error),)) from None
    source, sha256 = Source(name, text), hashlib.sha256(data).hexdigest()
    node = kept_node(kept, source, sha256) if kept is not None else None
    if node is not None:
        return Document(node, sha256)
    node, written, unfolded = _read(source, False, most)
    return Document(node, sha256, written, unfolded)


_large_document = lru_cache(maxsize=1)(_document.__wrapped__)
"""The same, of which the last one is kept: a spec that is judged by two releases has its presets twice."""


def of_few(make: Callable[_Given, _Made], written: int) -> Callable[_Given, _Made]:
    """A function that keeps what it makes, or itself where it is made of so many values and keys that it fills the
    memory."""
    return make if written <= _FEW else make.__wrapped__  # type: ignore[attr-defined]


def _read_bytes(path: Path, name: str, files: Files) -> bytes:
    try:
        return files.data(path, name)
    except IsADirectoryError:
        raise InputError(f"{name} is a directory; a YAML file is expected") from None
    except FileNotFoundError:
        raise InputError(f"{name}: there is no such file") from None
    except OSError as error:
        raise InputError(f"{name}: {(error.strerror or str(error)).lower()}") from None
    except ValueError as error:  # a NUL in the name
        raise InputError(f"{name!r} is not the name of a file: {error}") from None


def read_text(source: Source, *, merges: bool = False, most: int = MAXIMUM_WRITTEN) -> Node:
    """Read the one YAML document of a text; raises SpecError unless it is a mapping without mistakes.

    The key `<<` is refused, as in a spec, unless the document `merges` mappings by it; more than `most` values and keys
    are.
    """
    return _read(source, merges, most, told=most)[0]


def _read(
    source: Source, merges: bool = False, most: int = MAXIMUM_WRITTEN, told: int = MAXIMUM_WRITTEN
) -> tuple[Node, int, int]:
    """The document, how many values and keys, of `most`, stand in it, and how many there are of them unfolded. Where
    others were counted with it, `told` is how many there may be of all."""
    from ruamel.yaml.error import MarkedYAMLError, YAMLError
    from ruamel.yaml.reader import ReaderError

    try:
        root, written = _composed(source, most, told)
    except MarkedYAMLError as error:
        raise SpecError((_syntax_problem(source, error),)) from None
    except ReaderError as error:
        raise SpecError((_bad_character(source, error.position),)) from None
    except YAMLError as error:
        raise SpecError((problem("SPC001", str(error).splitlines()[0], source.span(1, 1)),)) from None
    if root is None:
        raise SpecError((problem("SPC001", "the document is empty; a mapping is expected", source.span(1, 1)),))
    reader = _Reader(source, merges)
    node = reader.read(root)
    if not isinstance(node.value, dict) and not reader.findings:
        reader.findings.append(problem("SPC001", "a mapping of keys to values is expected", node.span))
    if reader.findings:
        raise SpecError(tuple(reader.findings))
    return node, written, reader.count


def _composed(source: Source, most: int, told: int) -> tuple[Any, int]:
    """The root of ruamel.yaml's nodes, and how many there are. Raises SpecError where there are more than `most`, or
    where they lie too deep: what comes behind them is not read."""
    from ruamel.yaml.composer import Composer
    from ruamel.yaml.error import ReusedAnchorWarning

    count = depth = 0

    class Counting(Composer):  # type: ignore[misc,unused-ignore]
        def compose_node(self, parent: Any, index: Any) -> Any:
            nonlocal count, depth
            self.warn_double_anchors = False  # of two anchors of one name the later one holds
            count += 1
            is_key = parent is not None and index is None
            if count > most or depth > _MAXIMUM_DEPTH + is_key:
                mark = self.parser.peek_event().start_mark
                span = source.span(mark.line + 1, mark.column + 1)
                notes = (_TOGETHER,) if most < told else ()
                too_many = problem("SPC006", f"more than {told} values and keys", span, *notes)
                raise SpecError((too_many if count > most else _too_deep(span),))
            depth += 1
            node = super().compose_node(parent, index)
            depth -= 1
            return node

    if (tag := _LONG_TAG.search(source.text)) is not None:  # ruamel.yaml takes for ever
        raise SpecError((_at(source, tag.start(1), "SPC001", "a tag of that length has no meaning in a spec"),))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReusedAnchorWarning)  # YAML 1.2 allows it: the last anchor of a name holds
        return composed(source.text, Counting), count


def from_plain(value: Any, name: str = "spec", depth: int = 0) -> Node:
    """Nodes for a value that was not read from a text: a mapping handed to the library, called `name`.

    Raises SpecError for what no YAML document could hold.
    """
    if depth > _MAXIMUM_DEPTH:
        raise SpecError((_too_deep(None),))
    if isinstance(value, Mapping):
        items = {_plain_key(key, name): item for key, item in value.items()}
        return Node({key: from_plain(item, f"{name}.{key}", depth + 1) for key, item in items.items()}, None)
    if isinstance(value, (list, tuple)):
        return Node([from_plain(item, name, depth + 1) for item in value], None)
    if isinstance(value, str):
        if (objection := _objection(value)) is not None:
            raise SpecError((problem("SPC004", f"{name}: {objection}", None),))
        return Node(value, None)
    if isinstance(value, int) and abs(value) >= 10**_MAXIMUM_DIGITS:
        raise SpecError((problem("SPC004", f"{name}: {_TOO_MANY_DIGITS}", None),))
    if value is None or isinstance(value, int):
        return Node(value, None)
    if isinstance(value, float) and value - value == 0:
        return Node(value, None)
    raise SpecError((problem("SPC004", f"{name}: {value!r} is not a value that a spec can hold", None),))


_TOO_MANY_DIGITS = "no setting takes a number of that many digits"


class _Reader:
    """Turns ruamel.yaml's nodes into ours and collects what is wrong with them."""

    def __init__(self, source: Source, merges: bool = False) -> None:
        self.source = source
        self.merges = merges
        self.findings: list[Finding] = []
        self.count = 0
        self._open: set[int] = set()

    def read(self, node: Any) -> Node:
        span = self._span(node)
        self._count(1, span)
        if id(node) in self._open:
            raise SpecError((problem("SPC006", _UNFOLDS, span),))
        if len(self._open) > _MAXIMUM_DEPTH:
            raise SpecError((_too_deep(span),))
        if self._has_refused_tag(node, span):
            return Node(None, span)
        if node.id == "scalar":
            return Node(self._scalar(node, span), span)
        self._open.add(id(node))
        result = self._mapping(node, span) if node.id == "mapping" else self._sequence(node, span)
        self._open.discard(id(node))
        return result

    def _count(self, number: int, span: Span) -> None:
        self.count += number
        if self.count > _MAXIMUM_NODES:
            raise SpecError((problem("SPC006", _UNFOLDS, span),))

    def _has_refused_tag(self, node: Any, span: Span) -> bool:
        """Whether there is a tag that has no meaning here; only !!str before a scalar has one."""
        written = self._written_tag(node)
        if written is None or (node.id == "scalar" and node.tag == _STRING_TAG and written != "!"):
            return False
        message = f"the tag {written} has no meaning in a spec"
        self.findings.append(problem("SPC001", message, span, "remove it; !!str makes text of a number"))
        return True

    def _written_tag(self, node: Any) -> str | None:
        """The tag as the author wrote it; a block mapping begins where the tag of its first key does."""
        start = node.start_mark.index
        if node.id == "mapping" and node.value and node.value[0][0].start_mark.index == start:
            return None
        match = _WRITTEN_TAG.match(self.source.text, start)
        return match[1] if match else None

    def _mapping(self, node: Any, span: Span) -> Node:
        values: dict[str, Node] = {}
        keys: dict[str, Span] = {}
        merge: Span | None = None
        merged: list[Node] = []
        for key_node, value_node in node.value:
            key_span = self._span(key_node)
            key = key_node.value
            self._count(len(key) // _CHARACTERS, key_span)
            is_merge = self.merges and key == "<<" and key_node.style is None
            if not is_merge and (fault := self._key_problem(key_node, key_span)) is not None:
                self.findings.append(fault)
                continue
            if (first := merge if is_merge else keys.get(key)) is not None:
                message = f'the key "{key}" stands here a second time'
                self.findings.append(problem("SPC002", message, key_span, f"the first one is at line {first.line}"))
                continue
            if is_merge:
                merge = key_span
                merged = self._merged(value_node, key_node.start_mark.index, key_span)
            else:
                keys[key] = key_span
                values[key] = self.read(value_node)
        for below in merged:  # of several the first one that has a key says its value
            for key, value in below.value.items():
                keys.setdefault(key, below.keys[key])
                values.setdefault(key, value)
        return Node(values, span, keys)

    def _merged(self, node: Any, index: int, key_span: Span) -> list[Node]:
        """The mappings of a merge key at `index` of the text. libfyaml, which YAC reads by, takes aliases only."""
        listed = node.value if node.id == "sequence" and node.start_mark.index > index else [node]
        if all(one.id == "mapping" and one.start_mark.index < index for one in listed):
            return [self.read(one) for one in listed]
        note = "expected: *NAME of a mapping that has the anchor &NAME, or a list of such"
        self.findings.append(problem("SPC001", "<< merges mappings by their aliases only", key_span, note))
        return []

    def _key_problem(self, node: Any, span: Span) -> Finding | None:
        if not isinstance(node.value, str):
            return problem("SPC001", "a key is a word, not a list or a mapping", span)
        if not node.value:
            return problem("SPC001", "a key is a word; here it is empty", span)
        if len(node.value) > _LONGEST_KEY:
            return problem(
                "SPC001", f"a key of more than {_LONGEST_KEY} characters", span, "no key of a spec is that long"
            )
        if _CONTROL.search(node.value) or _UNWRITABLE.search(node.value):
            return problem("SPC001", f"the key {node.value!r} is not a word on one line", span)
        if node.value == "<<" and node.style is None:
            note = "write the keys out, or put them into a preset of your own and extend it"
            return problem("SPC001", "merge keys have no meaning in a spec", span, note)
        if (tag := self._written_tag(node)) is not None:
            return problem("SPC001", f"the tag {tag} has no meaning in a spec", span, "remove it")
        return None

    def _sequence(self, node: Any, span: Span) -> Node:
        return Node([self.read(item) for item in node.value], span)

    def _scalar(self, node: Any, span: Span) -> Any:
        text: str = node.value
        self._count(len(text) // _CHARACTERS, span)
        if (objection := _objection(text)) is not None:
            self.findings.append(problem("SPC004", objection, span))
            return None
        if node.style is not None or self._written_tag(node) is not None:
            return text
        if NOT_A_NUMBER.fullmatch(text):
            self.findings.append(problem("SPC004", f"{text} is not a number that a namelist or a job can use", span))
            return None
        if len(text) > _MAXIMUM_DIGITS and any(form.fullmatch(text) for form in (_INTEGER, _OCTAL, _HEXADECIMAL)):
            self.findings.append(problem("SPC004", _TOO_MANY_DIGITS, span))
            return None
        if _FLOAT.fullmatch(text) and isinf(float(text)):
            self.findings.append(problem("SPC004", f"{text[:40]} is larger than any number in Fortran", span))
            return None
        return scalar(text)

    def _span(self, node: Any) -> Span:
        start, end = node.start_mark, node.end_mark
        if end.line != start.line:  # a block ends where the next key begins: point at its first line only
            length = max(1, len(self.source.line(start.line + 1).rstrip()) - start.column)
            return self.source.span(start.line + 1, start.column + 1, length)
        return self.source.span(start.line + 1, start.column + 1, max(1, end.column - start.column))


def scalar(text: str) -> Any:
    """The value of a text without quotes and tag, as the core schema of YAML 1.2 has it."""
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
        return float(text)
    return text


def _plain_key(key: Any, name: str) -> str:
    if not isinstance(key, str) or not key or _CONTROL.search(key) or _UNWRITABLE.search(key):
        raise SpecError((problem("SPC001", f"{name}: the key {key!r} is not a word", None),))
    if len(key) > _LONGEST_KEY:
        raise SpecError((problem("SPC001", f"{name}: a key of more than {_LONGEST_KEY} characters", None),))
    return key


def _objection(text: str) -> str | None:
    """Why no file or shell can hold a text that YAML's escapes can spell."""
    found = _UNWRITABLE.search(text)
    return None if found is None else f"U+{ord(found[0]):04X} is no character that a file could hold"


def _too_deep(span: Span | None) -> Finding:
    return problem("SPC001", f"more than {_MAXIMUM_DEPTH} levels of nesting", span, "no key of a spec lies that deep")


def _syntax_problem(source: Source, error: Any) -> Finding:
    message = (error.problem or error.context or "not YAML").replace("character '\\t'", "a tab")
    mark = error.problem_mark or error.context_mark
    if "end of stream" in message or "<stream end>" in message:
        message = f"{error.context}: it does not end"
        mark = error.context_mark or mark
    span = source.span(mark.line + 1, mark.column + 1) if mark else source.span(1, 1)
    notes = ("indent with blanks; YAML takes no tabs there",) if "a tab" in message else ()
    if "but found another document" in message:
        message = "a second document begins here; a spec is one document"
    return problem("SPC001", message, span, *notes)


def _bad_character(source: Source, position: int) -> Finding:
    return _at(source, position, "SPC001", f"YAML takes no character U+{ord(source.text[position]):04X}", "remove it")


def _at(source: Source, position: int, code: str, message: str, *notes: str) -> Finding:
    lines = Source("", source.text[:position]).lines
    return problem(code, message, source.span(len(lines), len(lines[-1]) + 1), *notes)


def _not_utf8(name: str, data: bytes, error: UnicodeDecodeError) -> Finding:
    data = data.removeprefix(BOM_UTF8)  # which the error does not count
    lines = Source("", data[: error.start].decode()).lines
    readable = Source(name, data.decode(errors="replace"))
    message = f"byte 0x{data[error.start]:02x} is not UTF-8"
    span = readable.span(len(lines), len(lines[-1]) + 1)
    return problem("SPC001", message, span, "save the file with the encoding UTF-8")
