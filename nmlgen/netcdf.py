"""The header of a NetCDF classic file: of a grid that a run reads, of the results that it leaves.

Source: the NetCDF classic format specification (versions 1, 2 and 5).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from math import prod
from typing import BinaryIO

from nmlgen.errors import BrokenFileError
from nmlgen.values import frozen

TEXT = 2
SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 4, 6: 8, 7: 1, 8: 2, 9: 4, 10: 8, 11: 8}
"""Bytes of a value, by the number of its type; `TEXT` is that of texts."""

_DIMENSIONS, _VARIABLES, _ATTRIBUTES = 10, 11, 12
_LETTERS = {1: "b", 3: "h", 4: "i", 5: "f", 6: "d", 7: "B", 8: "H", 9: "I", 10: "q", 11: "Q"}
_KEPT_TEXT = 256  # an attribute that is longer is one of ICON's namelists
_LONGEST_NAME = 65_536
_MOST_DIMENSIONS = 1024
_MOST_VALUES = 2**63
"""In a record of a variable: no file has as many, and a product of a thousand lengths is a number of pages."""
_STREAMING = (0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF)

Attributes = Mapping[str, str | int | float]


@frozen
class Variable:
    """`begin` is where its data begin, `count` its values in a record, or in all where it `has_records` not."""

    name: str
    type: int
    count: int
    begin: int
    has_records: bool
    attributes: Attributes

    @property
    def size(self) -> int:
        """Bytes of a record, or of all."""
        return self.count * SIZES[self.type]

    @property
    def padded(self) -> int:
        """The same with what fills them up."""
        return -(-self.size // 4) * 4


@frozen
class Header:
    """What a header says: the number of records, the lengths of the dimensions, 0 of that of the records, the short
    texts and single numbers among the attributes, and the variables."""

    records: int
    dimensions: Mapping[str, int]
    attributes: Attributes
    variables: tuple[Variable, ...]

    @property
    def stride(self) -> int:
        """Bytes from one record to the next."""
        own = [variable for variable in self.variables if variable.has_records]
        return own[0].size if len(own) == 1 else sum(variable.padded for variable in own)

    def end(self, variable: Variable) -> int:
        """Where the last value of a variable ends."""
        if not variable.has_records:
            return variable.begin + variable.size
        return variable.begin + (self.records - 1) * self.stride + variable.size if self.records else 0


def read_header(file: BinaryIO, size: int) -> Header:
    """Read the header at the beginning of a file of this size; it is read no further.

    Raises BrokenFileError for a header that is not whole, or makes no sense.
    """
    reader = _Reader(file, size)
    version = reader.bytes(4)[3]
    if version not in (1, 2, 5):
        raise BrokenFileError(f"version {version} of the NetCDF classic format is not known")
    if version == 5:
        reader.widen()
    records = reader.count()
    dimensions = [(reader.name(), reader.count()) for _ in reader.list(_DIMENSIONS)]
    attributes = _attributes(reader)
    lengths = [length for _, length in dimensions]
    width = 4 if version == 1 else 8
    variables = tuple(_variable(reader, lengths, width) for _ in reader.list(_VARIABLES))
    header = Header(records, dict(dimensions), attributes, variables)
    if records in _STREAMING:  # whoever wrote it did not know how many there would be
        own = [variable for variable in variables if variable.has_records]
        begin = min((variable.begin for variable in own), default=size)
        counted = (size - begin) // header.stride if own and header.stride else 0
        header = Header(counted, header.dimensions, attributes, variables)
    return header


class _Reader:
    """The fields of a header, one after the other."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file, self._left = file, size
        self._count = 4

    def bytes(self, count: int) -> bytes:
        self._take(count)
        data = self._file.read(count)
        if len(data) < count:
            raise BrokenFileError("its header is not whole")
        return data

    def skip(self, count: int) -> None:
        self._take(count)
        self._file.seek(count, 1)

    def _take(self, count: int) -> None:
        self._left -= count
        if self._left < 0:
            raise BrokenFileError("its header is not whole")

    def number(self, width: int = 4) -> int:
        return int.from_bytes(self.bytes(width), "big")

    def count(self) -> int:
        return self.number(self._count)

    def widen(self) -> None:
        """Counts have eight bytes from here on, as in CDF-5."""
        self._count = 8

    def name(self) -> str:
        length = self.count()
        if length > _LONGEST_NAME:
            raise BrokenFileError("its header makes no sense")
        text = self.bytes(-(-length // 4) * 4)[:length]
        return text.decode("utf-8", errors="replace")

    def list(self, tag: int) -> Iterator[int]:
        found, count = self.number(), self.count()
        if found not in (0, tag) or (found == 0 and count):
            raise BrokenFileError("its header makes no sense")
        return iter(range(count))


def _variable(reader: _Reader, lengths: list[int], width: int) -> Variable:
    name, rank = reader.name(), reader.count()
    if rank > _MOST_DIMENSIONS:
        raise BrokenFileError("its header makes no sense")
    dimensions = [reader.count() for _ in range(rank)]
    attributes = _attributes(reader)
    kind, _ = reader.number(), reader.count()
    begin = reader.number(width)
    if kind not in SIZES or any(dimension >= len(lengths) for dimension in dimensions):
        raise BrokenFileError("its header makes no sense")
    shape = [lengths[dimension] for dimension in dimensions]
    has_records = bool(shape) and shape[0] == 0
    count = prod(shape[1:] if has_records else shape)
    if count > _MOST_VALUES:
        raise BrokenFileError("its header makes no sense")
    return Variable(name, kind, count, begin, has_records, attributes)


def _attributes(reader: _Reader) -> Attributes:
    """The short texts and the single numbers."""
    found: dict[str, str | int | float] = {}
    for _ in reader.list(_ATTRIBUTES):
        name, kind, count = reader.name(), reader.number(), reader.count()
        if kind not in SIZES:
            raise BrokenFileError("its header makes no sense")
        length = -(-count * SIZES[kind] // 4) * 4
        if kind == TEXT and count <= _KEPT_TEXT:
            found[name] = reader.bytes(length)[:count].decode("utf-8", errors="replace").rstrip("\0 ")
        elif kind != TEXT and count == 1:
            (found[name],) = struct.unpack_from(f">{_LETTERS[kind]}", reader.bytes(length))
        else:
            reader.skip(length)
    return found
