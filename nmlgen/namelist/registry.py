"""What an ICON release knows: its namelist groups, their variables, types, defaults and constraints.

The data lie in `schemas/icon/<release>.json`, one file a release; `schemas/registry.schema.json` states the
format. A new release is one new file: one that ships with nmlgen, or a user's own (`nmlgen registry make`).
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from math import prod
from pathlib import Path
from typing import Any

from nmlgen import disk
from nmlgen.disk import parsed, read_bytes
from nmlgen.errors import InputError
from nmlgen.namelist.constraint import Condition, Constraint, read_condition, read_constraint
from nmlgen.resources import directory, schema, shipped_text
from nmlgen.values import frozen

_FORMAT = 1
_BITS_PER_BYTE = 8
_DEFAULT_INTEGER = 4
_LARGEST_REAL = {2: 65504.0, 4: 3.4028234663852886e38}
_LARGEST_DOUBLE = 1.7976931348623157e308  # of more bytes none that Python has is too large
_MASTER = "master"
_DIGITS_OF_ELEMENTS = 5  # of an array whose elements have defaults of their own

Shape = tuple[int | tuple[int, int], ...]
"""The dimensions of an array: n for 1:n, or a pair of bounds."""


@frozen
class Variable:
    """One namelist variable.

    `type` is "integer", "real", "logical", "character", "derived" or "unknown"; `length` the LEN of a character
    variable; `bytes` the size of a number where it is not the usual one (4 for integers, 8 for reals); `shape` its
    dimensions, an int n for 1:n or a pair for other bounds, None when not known; `default` what the release assigns
    before it reads, broadcast over an array, meaningful only if `has_default`; `default_status` says why there is
    none. Of a component such as `echotop_meta%nechotop`, `base_shapes` holds the dimensions of each part before the
    last. `carried_from` is the earlier release from which its length, its default or all of it is known, where the
    release's own source was not at hand. `syntax` is "duration" or "datetime" (ISO 8601 as mtime takes it) or "levels"
    (a list such as "1...20,nlev").
    """

    group: str
    name: str
    type: str
    shape: Shape | None
    length: int | None
    default: Any
    has_default: bool
    allowed: tuple[Any, ...] | None
    base_shapes: tuple[Shape, ...] = ()
    bytes: int | None = None
    default_status: str | None = None
    constraint: Constraint | None = None
    syntax: str | None = None
    unit: str | None = None
    carried_from: str | None = None

    @property
    def is_array(self) -> bool:
        """Whether it holds more than one value, or may."""
        return self.shape is None or len(self.shape) > 0

    @property
    def declaration(self) -> str:
        """Its declaration in Fortran's words: "character(len=256), dimension(10)"."""
        kind = self.type
        if self.type == "character":
            kind += f"(len={'?' if self.length is None else self.length})"
        elif self.bytes is not None:
            kind += f"(kind={self.bytes})"
        if self.shape is None:
            return f"{kind}, dimension(?)"
        if not self.shape:
            return kind
        return f"{kind}, dimension({', '.join(_extent(extent) for extent in self.shape)})"

    @property
    def full_name(self) -> str:
        """Its name with the bounds of the parts before the last: "echotop_meta(1:10)%dbzthresh"."""
        *bases, last = self.name.split("%")
        shapes = (*self.base_shapes, *((),) * (len(bases) - len(self.base_shapes)))
        parts = [
            f"{base}({', '.join(f'{low}:{high}' for low, high in map(bounds_of, shape))})" if shape else base
            for base, shape in zip(bases, shapes, strict=False)
        ]
        return "%".join((*parts, last))

    @property
    def size(self) -> int | None:
        """How many elements it has; None where that is not known."""
        bounds = None if self.shape is None else [bounds_of(extent) for extent in self.shape]
        return None if bounds is None else prod(high - low + 1 for low, high in bounds)

    @property
    def first_elements(self) -> list[Any] | None:
        """The elements of a default that are not all alike, in order, up to the last that is set; None where they have
        several subscripts, or others than anybody counts to."""
        given = self.default.get("set", {})
        if not all(key.isascii() and key.isdecimal() and len(key) <= _DIGITS_OF_ELEMENTS for key in given):
            return None
        last = max(map(int, given), default=0)
        return [given.get(str(place), self.default.get("fill")) for place in range(1, last + 1)]

    def accepts(self, value: Any) -> bool:
        """Whether the Fortran variable can hold a value, or a list of values, of this type."""
        if isinstance(value, (list, tuple)):
            return self.is_array and len(value) > 0 and all(self._accepts_element(element) for element in value)
        return self._accepts_element(value)

    def _accepts_element(self, value: Any) -> bool:
        if self.type in ("derived", "unknown"):
            return True
        if isinstance(value, bool) or self.type == "logical":
            return isinstance(value, bool) and self.type == "logical"
        if self.type == "character":
            return isinstance(value, str)
        if self.type == "real":
            largest = _LARGEST_REAL.get(self.bytes or 8, _LARGEST_DOUBLE)
            return isinstance(value, (int, float)) and -largest <= value <= largest
        limit = 1 << ((self.bytes or _DEFAULT_INTEGER) * _BITS_PER_BYTE - 1)
        return isinstance(value, int) and -limit <= value < limit


@frozen
class NamelistGroup:
    """One namelist group: who reads it, from which file and when.

    `component` is whose group it is ("atmosphere", "ocean", "master", ...), `readers` are the components that read
    it. `file` is "model" (the file that model_namelist_filename names), "master" (icon_master.namelist), "jsbach" (the
    file that jsb_model_nml names) or "program" (that of a stand-alone program). `condition` holds for the component
    whose group it is. `source` is the file of its NAMELIST statement, `defaults_printed` whether ICON itself was seen
    to print these defaults. `carried_from` is the earlier release that the group is known from, where the release's own
    source was not at hand.
    """

    name: str
    component: str
    file: str
    readers: tuple[str, ...]
    condition: Condition | None
    is_read: bool
    is_repeatable: bool
    source: str | None
    defaults_printed: bool
    variables: tuple[str, ...]
    carried_from: str | None = None


@frozen
class Removal:
    """A name that ICON no longer has.

    `release` is the first known one without it, `date` the day in ICON's list of changes, `use` what to write instead
    ("output_nml.filetype" or a group), `note` what to mind. `becomes` gives, for values that mean one thing only, what
    to write instead, by group and variable; nothing where that is what the release does anyway.
    """

    release: str
    date: str | None = None
    use: tuple[str, ...] = ()
    note: str | None = None
    becomes: tuple[tuple[Any, Mapping[str, Any]], ...] = ()

    def instead_of(self, value: Any) -> Mapping[str, Any] | None:
        """What to write instead of a value; None where nobody can tell."""
        for was, now in self.becomes:
            if was == value and isinstance(was, bool) == isinstance(value, bool):
                return now
        return None


class Registry:
    """The namelist groups of one release; names are compared in lower case, as Fortran does.

    Where two groups share a name, such as jsb_model_nml, that of icon_master.namelist is asked for with
    `file="master"`; otherwise the first one answers. `path` is the file of one's own that a registry
    was read from; one `is_assumed` where nobody said the release, or one that is not known: `stranger`.
    """

    def __init__(
        self,
        release: str,
        groups: Mapping[str, Any],
        removed: Mapping[str, Any] | None = None,
        *,
        path: Path | None = None,
        is_assumed: bool = False,
        stranger: str | None = None,
    ) -> None:
        self.release = release
        self.path = path
        self.is_assumed = is_assumed
        self.stranger = stranger
        self._groups = groups
        self._removed = {} if removed is None else removed
        self._variables: dict[tuple[str, str, bool], Variable | None] = {}
        self._conditions: dict[str, Condition | None] = {}
        self._bases: dict[str, tuple[frozenset[str], frozenset[str]]] = {}
        self._files: dict[str, tuple[str, ...]] = {}
        self._components: dict[tuple[str, str | None], dict[str, list[str]]] = {}
        self._described: dict[str, tuple[NamelistGroup, ...]] = {}
        self._contents: dict[int, Mapping[str, Any]] = {}
        self._by_file: dict[tuple[str, str | None], Mapping[str, Any]] = {}

    @property
    def reference(self) -> str:
        """What `registry_of` takes for it: the release, or the path of a file of one's own."""
        return self.release if self.path is None else os.path.join(os.curdir, self.path)

    @property
    def groups(self) -> tuple[str, ...]:
        """The names of all groups, in lower case and sorted."""
        return tuple(self._groups)

    def has_group(self, group: str) -> bool:
        """Whether the release knows the group at all."""
        return group.lower() in self._groups

    def is_read(self, group: str) -> bool:
        """Whether any part of the release reads the group."""
        return bool(self._groups[group.lower()].get("read", True))

    def component(self, group: str) -> str:
        """The component whose group it is: "atmosphere", "ocean", "master", ..."""
        return str(self._groups[group.lower()]["component"])

    def readers(self, group: str) -> tuple[str, ...]:
        """The components that read the group, each from its own file."""
        return _readers(self._groups[group.lower()])

    def files(self, group: str) -> tuple[str, ...]:
        """Where groups of that name are read from: "model", "master", "jsbach" or "program"."""
        if group not in self._files:
            self._files[group] = tuple(dict.fromkeys(entry.get("file", "model") for entry in self._entries(group)))
        return self._files[group]

    def carried_from(self, group: str, file: str | None = None) -> str | None:
        """The earlier release that a group is known from, where the release's own source was not at hand."""
        found: str | None = self._entry(group, file).get("carried_from")
        return found

    def condition(self, group: str) -> Condition | None:
        """With which settings the group's own component reads it; None if always."""
        key = group.lower()
        if key not in self._conditions:
            self._conditions[key] = read_condition(self._groups.get(key, {}).get("when"))
        return self._conditions[key]

    def is_repeatable(self, group: str, file: str | None = None) -> bool:
        """Whether ICON reads every copy of the group, not only the first."""
        return bool(self._entry(group, file).get("repeatable", False))

    def variables(self, group: str, file: str | None = None) -> tuple[str, ...]:
        """The names of the variables of a group, in the order of ICON's NAMELIST statement; none of a group that the
        release does not know."""
        return tuple(self._entry(group, file).get("variables", ()))

    def bases(self, group: str) -> tuple[frozenset[str], frozenset[str]]:
        """The names of a group's variables without their components, and those of them that have some."""
        if group not in self._bases:
            parts = [name.partition("%") for name in self.variables(group)]
            structures = frozenset(base for base, is_component, _ in parts if is_component)
            self._bases[group] = frozenset(base for base, _, _ in parts), structures
        return self._bases[group]

    def components(self, group: str, base: str, file: str | None = None) -> Sequence[str]:
        """The names of the components of a variable of derived type; none of any other."""
        if (group, file) not in self._components:
            found: dict[str, list[str]] = {}
            for name in self.variables(group, file):
                whole, is_component, _ = name.partition("%")
                if is_component:
                    found.setdefault(whole, []).append(name)
            self._components[group, file] = found
        return self._components[group, file].get(base, ())

    def variable(self, group: str, name: str, file: str | None = None) -> Variable | None:
        """The variable, without subscripts in its name; None if the release does not know it."""
        asked = (group, name, file == _MASTER)
        if asked not in self._variables:
            key = (group.lower(), name.lower())
            entry = self._entry(group, file).get("variables", {}).get(key[1])
            self._variables[asked] = None if entry is None else _variable(*key, entry)
        return self._variables[asked]

    def described(self, group: str) -> tuple[NamelistGroup, ...]:
        """All groups of one name; none if the release does not know it."""
        key = group.lower()
        if key not in self._described:
            entries = self._entries(key)
            self._described[key] = tuple(_described(key, entry) for entry in entries)
            for one, entry in zip(self._described[key], entries, strict=True):
                self._contents[id(one)] = entry["variables"]
        return self._described[key]

    def variables_of(self, group: NamelistGroup) -> tuple[Variable, ...]:
        """The variables of one of the groups that `described` gives."""
        entries = self._contents.get(id(group), {})
        return tuple(_variable(group.name, name, found) for name, found in entries.items())

    def removed_group(self, group: str) -> Removal | None:
        """What became of a group that older releases had; None if nothing is known of it."""
        return _removal(self._removed.get("groups", {}).get(group.lower()))

    def removed_variable(self, group: str, name: str) -> Removal | None:
        """What became of a variable that the group had in older releases; None if nothing is known of it."""
        return _removal(self._removed.get("variables", {}).get(group.lower(), {}).get(name.lower()))

    @property
    def removed(self) -> Mapping[str, Removal]:
        """All names that are gone, groups as "group" and variables as "group.variable"."""
        groups = {name: Removal(**_listed(entry)) for name, entry in self._removed.get("groups", {}).items()}
        variables = {
            f"{group}.{name}": Removal(**_listed(entry))
            for group, entries in self._removed.get("variables", {}).items()
            for name, entry in entries.items()
        }
        return groups | variables

    def _entries(self, group: str) -> tuple[Mapping[str, Any], ...]:
        entry = self._groups.get(group.lower())
        return () if entry is None else (entry, *entry.get("also", ()))

    def _entry(self, group: str, file: str | None) -> Mapping[str, Any]:
        if (group, file) not in self._by_file:
            entries = self._entries(group)
            fitting = [entry for entry in entries if file is not None and entry.get("file", "model") == file]
            self._by_file[group, file] = (fitting or entries or ({},))[0]
        return self._by_file[group, file]


def _readers(entry: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(entry.get("readers", (entry["component"],)))


def _described(name: str, entry: Mapping[str, Any]) -> NamelistGroup:
    return NamelistGroup(
        name=entry.get("spelling", name),
        component=entry["component"],
        file=entry.get("file", "model"),
        readers=_readers(entry),
        condition=read_condition(entry.get("when")),
        is_read=entry.get("read", True),
        is_repeatable=entry.get("repeatable", False),
        source=entry.get("source"),
        defaults_printed=entry.get("defaults_printed", False),
        variables=tuple(entry["variables"]),
        carried_from=entry.get("carried_from"),
    )


def _variable(group: str, name: str, entry: Mapping[str, Any]) -> Variable:
    shape = entry.get("shape", [])
    allowed = entry.get("allowed")
    return Variable(
        group=group,
        name=name,
        type=entry["type"],
        shape=None if shape is None else _dimensions(shape),
        length=entry.get("length"),
        default=entry.get("default"),
        has_default="default" in entry,
        allowed=None if allowed is None else tuple(allowed),
        base_shapes=tuple(_dimensions(part["shape"]) for part in entry.get("base_shape", [])),
        bytes=entry.get("bytes"),
        default_status=entry.get("default_status"),
        constraint=read_constraint(entry),
        syntax=entry.get("syntax"),
        unit=entry.get("unit"),
        carried_from=entry.get("carried_from"),
    )


def bounds_of(extent: int | tuple[int, int]) -> tuple[int, int]:
    """The lower and the upper bound of a dimension."""
    return (1, extent) if isinstance(extent, int) else extent


def _extent(extent: int | tuple[int, int]) -> str:
    return str(extent) if isinstance(extent, int) else f"{extent[0]}:{extent[1]}"


def _dimensions(shape: list[Any]) -> Shape:
    return tuple(extent if isinstance(extent, int) else (extent[0], extent[1]) for extent in shape)


def _removal(entry: Mapping[str, Any] | None) -> Removal | None:
    return None if entry is None else Removal(**_listed(entry))


def _listed(entry: Mapping[str, Any]) -> dict[str, Any]:
    becomes = tuple((pair["was"], pair["now"]) for pair in entry.get("becomes", ()))
    return {**entry, "use": tuple(entry.get("use", ())), "becomes": becomes}


@cache
def releases() -> tuple[str, ...]:
    """The ICON releases that nmlgen knows, oldest first."""
    return tuple(sorted(path.stem for path in (directory("schemas") / "icon").glob("*.json")))


def registry_of(release: str | None, stranger: str | None = None) -> Registry:
    """The registry that a release's name means, such as "2024.10", or the path of a registry file, which ends in .json
    or has a slash in it. None where nobody says the release, or only one that is not known, the
    `stranger`: the newest one is assumed.

    Raises InputError as `load_registry` and `read_registry` do.
    """
    if release is None:
        return _assumed(releases()[-1], stranger)
    if release.endswith(".json") or "/" in release or os.sep in release:
        return read_registry(Path(release))
    return load_registry(release)


def catalogue_beside(path: Path) -> Path:
    """Where the output variables of a release lie whose registry is a file of one's own."""
    return path.with_name(f"{path.stem}-variables.json")


def load_registry(release: str, path: Path | None = None) -> Registry:
    """The registry of a release such as "2024.10", or that of a file of one's own.

    Raises InputError for a release that nmlgen does not know, naming the known ones, and for a file that cannot be
    read, is no registry, or is that of another release.
    """
    if path is not None:
        registry = read_registry(path)
        if registry.release != release:
            raise InputError(f'{path} is the registry of ICON {registry.release}, not of "{release}"')
        return registry
    if release not in releases():
        raise InputError(
            f"ICON release {release!r} is not known; known are {', '.join(releases())}, and a registry file by its path"
        )
    return _bundled(release)


def read_registry(path: Path) -> Registry:
    """The registry that a file of one's own holds, such as `nmlgen registry make` writes.

    Raises InputError if the file cannot be read or is no registry.
    """
    try:
        status = disk.status(path)
        return _read(path, status.st_mtime_ns, status.st_size)
    except OSError as error:
        raise InputError(f"{path}: {(error.strerror or str(error)).lower()}") from None
    except ValueError as error:  # a null byte in the name
        raise InputError(f"{str(path)!r}: {error}") from None


@cache
def _bundled(release: str) -> Registry:
    return Registry(release, *_document(release))


@cache
def _document(release: str) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The groups of a file that ships, and what was removed before: most of it is never asked for, and is read when it
    is. Each group begins a line, and `removed` comes last."""
    text = shipped_text("icon", f"{release}.json")
    groups, _, removed = text.partition('"groups": {\n"')[2].rpartition('\n}, "removed": ')
    texts = dict(entry.split('": ', 1) for entry in groups.split(',\n"'))
    return _Later(texts), _Later(dict.fromkeys(("groups", "variables"), removed.rstrip()[:-1]), within=True)


class _Later(Mapping[str, Any]):
    """Values that are read from their JSON when somebody asks for them; each may be `within` a text of all."""

    def __init__(self, texts: Mapping[str, str], *, within: bool = False) -> None:
        self._texts, self._within = texts, within
        self._read: dict[str, Any] = {}

    def __getitem__(self, key: str) -> Any:
        if key not in self._read:
            value = json.loads(self._texts[key])
            self._read[key] = value[key] if self._within else value
        return self._read[key]

    def __contains__(self, key: object) -> bool:
        return key in self._texts

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)


@cache
def _assumed(release: str, stranger: str | None) -> Registry:
    return Registry(release, *_document(release), is_assumed=True, stranger=stranger)


_MOST_BYTES = 64 * 1024 * 1024  # a registry has 2 MB


@cache
def _read(path: Path, _time: int, _size: int) -> Registry:
    try:
        document = parsed(read_bytes(path, most=_MOST_BYTES))
    except ValueError as error:
        raise InputError(f"{path} is no JSON: {error}") from None
    problem = _problem(document)
    if problem is not None:
        raise InputError(f"{path} is no registry: {problem}")
    return Registry(document["release"], document["groups"], document.get("removed"), path=path)


def _problem(document: Any) -> str | None:
    """The first thing wrong with a document, by the schema of registries."""
    try:
        for error in _strict()(schema("registry")).iter_errors(document):
            return f"{error.json_path}: {error.message if len(error.message) <= 200 else 'not as the schema has it'}"
    except RecursionError:
        return "it is nested too deep"
    for name, group in document["groups"].items():
        for entry in (group, *group.get("also", ())):
            if entry.get("spelling", name).lower() != name:
                return f"$.groups.{name}.spelling: it is another name"
    return None


def _strict() -> Any:
    """JSON Schema, but for two things that Python takes otherwise: names end with their last letter, not with a line
    end behind it, and 2.0 is no integer."""
    from jsonschema import Draft202012Validator, ValidationError
    from jsonschema.validators import extend

    def pattern(validator: Any, said: str, value: Any, part: Any) -> Iterator[Any]:
        if isinstance(value, str) and (value.endswith("\n") or not re.search(said, value)):
            yield ValidationError(f"{value!r} does not match {said!r}")

    checker = Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda checker, value: isinstance(value, int) and not isinstance(value, bool)
    )
    return extend(Draft202012Validator, {"pattern": pattern}, type_checker=checker)  # type: ignore[no-untyped-call]
