"""The keys of a spec as YAML, in the order and style in which a person would write them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from nmlgen.spec.document import NOT_A_NUMBER, scalar
from nmlgen.spec.raising import Assumed, Gap, Keys
from nmlgen.spec.validate import part_of_spec

_WIDTH = 110
_STEP = "  "
_PLAIN = re.compile(r"""[A-Za-z0-9_/.]([ !"$-+\-./0-9;-Z\\^-z|~]|:(?=[^ ]))*(?<! )""")
_NUMBER_OR_TIME = re.compile(r"[0-9][0-9_:.eE+-]*")
_TAKEN = re.compile(r"(y|n|yes|no|on|off|true|false|null|none)", re.IGNORECASE)  # by readers of YAML 1.1, too
_LAST = ("namelists",)
_BLOCKS = ("output", "namelists", "land", "input_files")


def spec_text(keys: Keys, heading: Iterable[str] = ()) -> str:
    """The text of a spec: comment lines, then the keys. A Gap becomes a comment, an Assumed value gets one."""
    lines = [f"# {_one_line(line)}".rstrip() for line in heading]
    lines += _mapping(_in_order(keys), "")
    return "\n".join(lines) + "\n"


def gaps(keys: Keys, prefix: str = "") -> Iterator[tuple[str, str]]:
    """The key and the reason of everything that a spec does not say."""
    for key, value in keys.items():
        if isinstance(value, Gap):
            yield f"{prefix}{key}", value.reason
        elif isinstance(value, dict):
            yield from gaps(value, f"{prefix}{key}.")


def size(keys: Keys) -> int:
    """How many values and keys a reader finds in a spec's text; a Gap is none."""
    return 1 + sum(1 + _size(value) for value in keys.values() if not isinstance(value, Gap))


def _size(value: Any) -> int:
    if isinstance(value, dict):
        return size(value)
    return 1 + len(value) if isinstance(value, list) else 1


def _in_order(keys: Keys, *path: str) -> Keys:
    """The keys in the order of the schema, what is open there as it comes, and the long rest at the end."""
    known = (part_of_spec(*path) or {}).get("properties", {})
    names = [name for name in known if name in keys and name not in _LAST]
    names += [name for name in keys if name not in names]
    return {name: _in_order(keys[name], *path, name) if isinstance(keys[name], dict) else keys[name] for name in names}


def _mapping(keys: Keys, indent: str) -> Iterator[str]:
    for key, value in keys.items():
        name = _string(key)
        if isinstance(value, Gap):
            yield f"{indent}# {_one_line(key)}: {_one_line(value.reason)}"
        elif isinstance(value, Assumed):
            yield f"{indent}{name}: {_scalar(value.value)}  # assumed: {_one_line(value.reason)}"
        elif not isinstance(value, dict):
            yield from _leaf(f"{indent}{name}: ", value)
        elif (
            not (indent == "" and key in _BLOCKS)
            and _is_short(value)
            and len(line := f"{indent}{name}: {_flow(value)}") <= _WIDTH
        ):
            yield line
        else:
            says = any(not isinstance(inner, Gap) for inner in value.values())
            yield f"{indent}{name}:" if says else f"{indent}{name}: {{}}"
            yield from _mapping(value, indent + _STEP)


def _is_short(keys: Keys) -> bool:
    """Whether a mapping holds no more than values, which may stand on one line."""
    return all(_is_short(v) if isinstance(v, dict) else not isinstance(v, (Gap, Assumed)) for v in keys.values())


def _flow(keys: Keys) -> str:
    return "{" + ", ".join(f"{_string(key)}: {_value(value)}" for key, value in keys.items()) + "}"


def _leaf(start: str, value: Any) -> Iterator[str]:
    """A key with its value; a long list goes on below its first element."""
    text = _value(value)
    if not isinstance(value, list) or len(start) + len(text) <= _WIDTH:
        yield start + text
        return
    line = f"{start}["
    for number, element in enumerate(value):
        word = _scalar(element) + ("]" if number == len(value) - 1 else ",")
        if number and len(line) + 1 + len(word) > _WIDTH:
            yield line
            line = " " * (len(start) + 1) + word
        else:
            line += word if not number else f" {word}"
    yield line


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return _flow(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_scalar, value))}]"
    return _scalar(value)


def _scalar(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        mantissa, exponent, power = repr(value).partition("e")
        return mantissa + ("" if "." in mantissa else ".0") + exponent + power
    return _string(value) if isinstance(value, str) else str(value)


def _string(text: str) -> str:
    """Text without quotes where every reader takes it for text, also inside brackets."""
    return text if _is_plain(text) else _quoted(text)


def _is_plain(text: str) -> bool:
    """Whether a text means itself: it holds no syntax, and is no number nor, to some readers, a time."""
    return bool(
        _PLAIN.fullmatch(text)
        and not _TAKEN.fullmatch(text)
        and not _NUMBER_OR_TIME.fullmatch(text)
        and not NOT_A_NUMBER.fullmatch(text)
        and isinstance(scalar(text), str)
    )


def _quoted(text: str) -> str:
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(char: str) -> str:
    if char in '"\\':
        return f"\\{char}"
    if char.isprintable():
        return char
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _one_line(text: str) -> str:
    """Text that ends no comment."""
    return "".join(char if char.isprintable() else " " for char in text)
