"""The fields that MPAS writes to a stream, and their bytes (`src/core_atmosphere/Registry.xml` and what it includes).

A stream whose contents are fixed has those of the registry; another one those that it names, as far as a package that
they need is active. Fields without times are written once a file. Bytes are those of the fields as they are, without
what netCDF says of them, of a model built in single precision, MPAS's default.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from math import prod
from posixpath import normpath
from typing import Any

from nmlgen.errors import InputError
from nmlgen.findings import nearest
from nmlgen.models.mpas.registry import RELEASE
from nmlgen.models.mpas.streams import Member, Stream, StreamProblem, adds_nothing, streams_of
from nmlgen.models.mpas.suites import SUITES
from nmlgen.models.reading import Beside, Read
from nmlgen.resources import shipped
from nmlgen.source import Source, Span, Text
from nmlgen.values import field, frozen

_BYTES = {"integer": 4, "text": 64}
_SINGLE, _DOUBLE = 4, 8
_SCHEMES = {
    "mp_kessler_in": ("config_microp_scheme", ("mp_kessler",)),
    "mp_thompson_in": ("config_microp_scheme", ("mp_thompson",)),
    "mp_thompson_aers_in": ("config_microp_scheme", ("mp_thompson_aerosols",)),
    "mp_wsm6_in": ("config_microp_scheme", ("mp_wsm6",)),
    "cu_grell_freitas_in": ("config_convection_scheme", ("cu_grell_freitas",)),
    "cu_kain_fritsch_in": ("config_convection_scheme", ("cu_kain_fritsch",)),
    "cu_ntiedtke_in": ("config_convection_scheme", ("cu_tiedtke", "cu_ntiedtke")),
    "bl_ysu_in": ("config_pbl_scheme", ("bl_ysu",)),
    "bl_mynn_in": ("config_pbl_scheme", ("bl_mynn",)),
    "sf_noahmp_in": ("config_lsm_scheme", ("sf_noahmp",)),
}
"""The schemes for which a package is active (`mpas_atmphys_packages.F`)."""
_SUM = re.compile(r"(\w+)\+(\d+)")


class UnknownSizeError(Exception):
    """What is missing to know how much a stream has."""


@frozen
class Size:
    """The bytes of a stream: of each time, and of what each of its files has once."""

    a_time: int
    once: int


@frozen
class Fields:
    """The fields of the streams of a run: `read` is its namelist, `lengths` those of the dimensions of its mesh."""

    read: Read
    streams: Mapping[str, Stream]
    beside: Beside
    lengths: Mapping[str, int]
    _known: dict[tuple[str, int], tuple[bool, int]] = field(factory=dict, eq=False, repr=False)
    _of_others: dict[str, tuple[str, ...]] = field(factory=dict, eq=False, repr=False)

    def size(self, stream: Stream) -> Size:
        """The bytes of a stream. Raises UnknownSizeError."""
        said = stream.attributes.get("precision", "")
        real = _DOUBLE if "double" in said and "single" not in said else _SINGLE
        sizes, counted = {True: 0, False: 0}, set[str]()
        for name in self._names(stream):
            if name not in counted:
                counted.add(name)
                if (name, real) not in self._known:  # streams share most of their fields
                    self._known[name, real] = self._bytes(name, real)
                has_times, size = self._known[name, real]
                sizes[has_times] += size
        return Size(sizes[True], sizes[False])

    def _bytes(self, name: str, real: int) -> tuple[bool, int]:
        """Whether a field has times, and its bytes, 0 where it is not there. Raises UnknownSizeError."""
        one = _document()["fields"].get(name)
        if one is None:
            raise UnknownSizeError(f'MPAS {RELEASE} has no field "{name}"')
        values = 0
        if not one.get("is_scratch") and self.is_active(one.get("packages", ())):
            parts = one.get("parts")
            count = 1 if parts is None else sum(map(self.is_active, parts.values()))
            values = count * prod(map(self._length, one["dimensions"])) if count else 0
        return one.get("has_times", False), values * _BYTES.get(one["type"], real)

    def is_active(self, packages: Sequence[str]) -> bool:
        """Whether there are no such packages, or one of them is active. Raises UnknownSizeError."""
        return not packages or any(map(self._is_package_active, packages))

    def _is_package_active(self, name: str) -> bool:
        if name in _SCHEMES:
            setting, schemes = _SCHEMES[name]
            chosen = self._value(setting)
            if chosen == "suite":
                chosen = SUITES.get(self._value("config_physics_suite"), {}).get(setting, "off")
            return chosen in schemes
        if name == "no_invariant_stream":
            invariant = self.streams.get("invariant")
            return invariant is None or invariant.attributes.get("input_interval") != "initial_only"
        if name == "iau":
            return bool(self._value("config_iau_option") != "off")
        if name in _SWITCHES:
            return bool(self._value(_SWITCHES[name]))
        raise UnknownSizeError(f'MPAS {RELEASE} has no package "{name}"')

    def _value(self, name: str) -> Any:
        found = self.read.value(name)
        if found is None:
            raise UnknownSizeError(f"{name} is not known")
        return found.strip() if isinstance(found, str) else found

    def _names(self, stream: Stream) -> Iterator[str]:
        """The fields of a stream."""
        fixed = _document()["streams"]
        members = _members(fixed[stream.name]) if stream.is_immutable and stream.name in fixed else stream.members
        listed = set[tuple[str, str]]()
        for member in members:
            if (member.kind, member.name) not in listed and self.is_active(member.packages):
                yield from self._names_of(member, stream)
                if member.kind in ("file", "stream"):
                    listed.add((member.kind, member.name))

    def _names_of(self, member: Member, stream: Stream) -> Iterator[str]:
        if member.kind == "file":
            yield from self._listed(member.name)
        elif member.kind != "stream" or (other := self.streams.get(member.name)) is None or other.is_immutable:
            yield from _names_in((member,))
        elif not adds_nothing(stream, other):
            if other.name not in self._of_others:
                own = (one for one in other.members if one.kind not in ("stream", "file"))
                self._of_others[other.name] = tuple(dict.fromkeys(_names_in(own)))
            yield from self._of_others[other.name]

    def _listed(self, name: str) -> Iterator[str]:
        try:
            source = self.beside(name)
        except InputError:
            source = None
        if source is None:
            raise UnknownSizeError(f"{name}, which lists its fields, is not at hand")
        yield from _words(source.text)

    def _length(self, dimension: str) -> int:
        said = _document()["dimensions"].get(dimension)
        if said is None:
            if dimension not in self.lengths:
                raise UnknownSizeError(f"{dimension} is not known")
            return self.lengths[dimension]
        if said.isdecimal():
            return int(said)
        found = _SUM.fullmatch(said)
        return self._length(found[1]) + int(found[2]) if found is not None else int(self._value(said))


_SWITCHES = {"limited_area": "config_apply_lbcs", "jedi_da": "config_jedi_da"}


def problems_of_members(source: Source, beside: Beside) -> Iterator[StreamProblem]:
    """What is wrong with what the streams of a file hold; of a list that several name, for the first of them."""
    lists, texts = set[str](), set[str]()  # a link may give one list many names
    for stream in streams_of(source):
        for member in stream.members:
            span = member.span or stream.span
            if stream.is_immutable and member.kind in ("var", "file"):
                message = f'MPAS fixes what stream "{stream.name}" holds'
                yield StreamProblem(span, message, "the stream without var and file")
            elif member.kind == "var_struct" and member.name not in _document()["structs"]:
                message = f'MPAS {RELEASE} has no struct "{member.name}", and crashes'
                yield StreamProblem(span, message, f"one of {', '.join(_document()['structs'])}")
            elif member.kind in ("var", "var_array") and member.name in _parts():
                message = f'"{member.name}" is a part of {_parts()[member.name]}, and no field that a stream may name'
                yield StreamProblem(span, message, f'<var_array name="{_parts()[member.name]}"/>')
            elif member.kind == "file" and not stream.is_immutable and normpath(member.name) not in lists:
                lists.add(normpath(member.name))
                yield from _of_list(stream, member, span, beside, texts)
        yield from _unknown(stream)


def _of_list(stream: Stream, member: Member, span: Span, beside: Beside, texts: set[str]) -> Iterator[StreamProblem]:
    try:
        source = beside(member.name)
    except InputError:
        return
    if source is None:
        message = f'{member.name}, which lists the fields of stream "{stream.name}", is not beside it'
        yield StreamProblem(span, message, "a file in the directory of the run", is_certain=False)
        return
    if source.text in texts:
        return
    texts.add(source.text)
    text = Text(source)
    spans = {found[0]: text.span(*found.span()) for found in reversed(list(re.finditer(r"\S+", source.text)))}
    for name in sorted(spans.keys() & _parts().keys()):
        message = f'"{name}" is a part of {_parts()[name]}, and no field that a stream may name'
        yield StreamProblem(spans[name], message, _parts()[name])
    yield from _not_there(stream, {name: spans[name] for name in reversed(spans)})


def _unknown(stream: Stream) -> Iterator[StreamProblem]:
    named = (one for one in stream.members if one.kind in ("var", "var_array"))
    yield from _not_there(stream, {one.name: one.span or stream.span for one in named})


def _not_there(stream: Stream, spans: Mapping[str, Span]) -> Iterator[StreamProblem]:
    """One for all fields of a stream that MPAS does not have: another release, or a fork, may have them."""
    names = [name for name in spans if name not in _document()["fields"] and name not in _parts()]
    if names and not stream.is_immutable:
        meant = nearest(names[0], _document()["fields"])
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        message = f'MPAS {RELEASE} has no field "{names[0]}"{more} for stream "{stream.name}", and stops'
        expected = f'"{meant}", or a release that has it' if meant else "a field of this release"
        yield StreamProblem(spans[names[0]], message, expected, is_certain=False)


@lru_cache(maxsize=8)  # many streams may have one list
def _words(text: str) -> tuple[str, ...]:
    """The words of a list, each once."""
    return tuple(dict.fromkeys(text.split()))


@cache
def _parts() -> Mapping[str, str]:
    """The arrays of fields by what they consist of, as far as that is no field itself."""
    fields = _document()["fields"]
    return {part: name for name, field in fields.items() for part in field.get("parts", ()) if part not in fields}


def _names_in(members: Iterable[Member]) -> Iterator[str]:
    """The fields of members, whatever packages these need: all that a fixed stream may have."""
    for member in members:
        if member.kind == "stream":
            yield from _names_in(_members(_document()["streams"].get(member.name, ())))
        elif member.kind == "var_struct":
            yield from _document()["structs"].get(member.name, ())
        else:
            yield member.name


def _members(entries: Sequence[Mapping[str, Any]]) -> Iterator[Member]:
    for entry in entries:
        kind = next(iter(entry))
        yield Member(kind, entry[kind], tuple(entry.get("packages", ())))


@cache
def _document() -> Mapping[str, Any]:
    document: Mapping[str, Any] = shipped("mpas", f"{RELEASE}-fields.json")
    return document
