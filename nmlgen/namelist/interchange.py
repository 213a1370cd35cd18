"""Namelists as `f90nml.Namelist`, the type by which other Python programs take and give them."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from io import StringIO
from typing import TYPE_CHECKING, Any

from nmlgen.namelist.reader import read
from nmlgen.namelist.syntax import Document, Group, Item
from nmlgen.source import Source

if TYPE_CHECKING:
    from f90nml import Namelist

_BACKSLASH = "\u29f5"  # printable, and no namelist has it


def to_f90nml(document: Document) -> Namelist:
    """The groups of a document as f90nml has them; the copies of a repeated group become a list.

    Values are those that the Fortran runtime sees, also where f90nml reads the text otherwise. Nulls are None.
    """
    from f90nml import Namelist

    found: dict[str, list[Namelist]] = {}
    for group in document.groups:
        found.setdefault(group.name, []).append(_group(group))
    result = Namelist()
    for name, copies in found.items():
        if len(copies) == 1:
            result[name] = copies[0]
            continue
        for copy in copies:
            result.add_cogroup(name, copy)
    return result


def from_f90nml(namelist: Namelist, name: str = "namelist") -> Document:
    """A document with the groups of an f90nml.Namelist, written as f90nml writes them.

    `name` is what messages call it. Raises ValueError for a string with a character that cannot be printed, such as
    a line end: f90nml writes an escape instead, which Fortran does not know.
    """
    copied = deepcopy(namelist)
    _hide_backslashes(copied)
    text = StringIO()
    copied.write(text)
    return read(Source(name, text.getvalue().replace(_BACKSLASH, "\\")))


def _group(group: Group) -> Namelist:
    from f90nml import Namelist

    by_variable: dict[str, list[Item]] = {}
    for item in group.items:
        by_variable.setdefault(item.base, []).append(item)
    indexed = [items for items in by_variable.values() if not all(_is_plain(item) for item in items)]
    parsed = _parsed([item for items in indexed for item in items])
    result = Namelist()
    for name, items in by_variable.items():
        if name in parsed:
            result[name] = parsed[name]
            if name in parsed.start_index:
                result.start_index[name] = parsed.start_index[name]
        else:
            result[name] = _merged([item.plain for item in items])
    return result


def _is_plain(item: Item) -> bool:
    return len(item.path) == 1 and not item.path[0].subscripts


def _merged(values: list[Any]) -> Any:
    """What is left after several assignments to a whole variable: the last one, element by element."""
    result, *later = values
    for value in later:
        old = result if isinstance(result, list) else [result]
        new = value if isinstance(value, list) else [value]
        filled = [after if after is not None else before for before, after in zip(old, new, strict=False)]
        merged = filled + new[len(old) :] + old[len(new) :]
        result = merged if len(merged) > 1 else merged[0]
    return result


def _parsed(items: list[Item]) -> Namelist:
    """Assignments to elements and components, arranged as f90nml does it.

    f90nml is given numbers in place of the values, because it does not read all of them as the runtime does.
    """
    import f90nml

    if not items:
        return f90nml.Namelist()
    values: list[Any] = []
    lines = []
    for item in items:
        words = []
        for value in item.values:
            count = f"{value.repeat}*" if value.repeat > 1 else ""
            words.append(count if value.kind == "null" else f"{count}{len(values)}")
            values.append(value.value)
        lines.append(f"{item.name} = {', '.join(words)}")
    arranged = f90nml.reads("\n".join(["&g", *lines, "/", ""]))["g"]
    for name in arranged:
        arranged[name] = _filled(arranged[name], values)
    return arranged


def _filled(arranged: Any, values: list[Any]) -> Any:
    """The values in the places of their numbers."""
    if isinstance(arranged, list):
        return [_filled(element, values) for element in arranged]
    if isinstance(arranged, dict):
        for name in arranged:
            arranged[name] = _filled(arranged[name], values)
        return arranged
    return values[arranged] if isinstance(arranged, int) else arranged


def _hide_backslashes(value: Any) -> Any:
    """Put something else in their place, for f90nml writes a quote after a backslash twice."""
    if isinstance(value, (Mapping, list)):
        for key in value if isinstance(value, Mapping) else range(len(value)):
            value[key] = _hide_backslashes(value[key])  # type: ignore[index]
    elif isinstance(value, str):
        if not value.isprintable() or _BACKSLASH in value:
            raise ValueError(f"{value!r} cannot be written to a namelist")
        return value.replace("\\", _BACKSLASH)
    return value
