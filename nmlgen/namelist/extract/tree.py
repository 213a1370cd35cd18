"""A source tree: its files, their modules, and names looked up through USE and the units around."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from operator import itemgetter
from pathlib import Path

from nmlgen import disk
from nmlgen.errors import InputError
from nmlgen.namelist.extract.lines import statements
from nmlgen.namelist.extract.units import Declaration, DerivedType, Unit, Use, read_units

MACROS = frozenset(
    {
        "__ICON__",
        "_OPENMP",
        "__ICON_ART",
        "HAVE_RADARFWO",
        "__USE_RTTOV",
        "YAC_coupling",
        "HAVE_CDI_PIO",
        "__DACE__",
        "ENABLE_YAC",
        "__GFORTRAN__",
    }
)
"""The macros of an ICON with everything switched on, in parallel, with GNU Fortran."""

_MOST_NAMELISTS = 1_000  # ICON 2025.10 has two hundred; each is looked for in all procedures around it
_MOST_LOOKED_INTO = 1_000_000  # modules that a name may come from, for all names: most modules say what they use
_SUFFIXES = {".f90", ".f"}
_LEFT_OUT = {"test", "tests", "templates", ".git"}
_MODULE = re.compile(r"^[ \t]*(?:module|submodule\s*\([^)]*\))[ \t]+(?!procedure\b)(\w+)[ \t]*(?:!.*)?$", re.I | re.M)
_NAMELIST = re.compile(r"^[ \t]*namelist[ \t]*/", re.I | re.M)
_CALL = re.compile(r"^[^!'\"\n]*\bcall[ \t]+(\w+)", re.I | re.M)
_CALLED = re.compile(r"\bcall\s+(\w+)")
_INCLUDE = re.compile(r"^[ \t]*include[ \t]+['\"]([^'\"\n]+)['\"][ \t]*$", re.I | re.M)


class SourceTree:
    """The Fortran files below a directory, compiled with these macros. A file is read when something in it is asked
    for.

    Raises InputError if the directory is none, or holds no NAMELIST statement.
    """

    def __init__(self, root: Path, macros: frozenset[str] = MACROS) -> None:
        if not root.is_dir():
            raise InputError(f"{root} is no directory; a source tree is expected")
        self.root = root
        self.macros = macros
        self._modules: dict[str, dict[str, None]] = {}
        self._directories: set[str] = set()
        self._with_namelists: list[str] = []
        self._callers: dict[str, list[str]] = {}
        self._looked_into = 0
        for path in sorted(root.rglob("*")):
            name = path.relative_to(root)
            if path.suffix.lower() in _SUFFIXES and not _LEFT_OUT & set(name.parts[:-1]) and path.is_file():
                self._index(name.as_posix())
                self._directories |= {parent.as_posix() for parent in name.parents}
        if not self._with_namelists:
            raise InputError(f"{root} holds no Fortran file with a NAMELIST statement")

    def _index(self, file: str) -> None:
        text = self._text(file)
        for module in _MODULE.findall(text):
            self._modules.setdefault(module.lower(), {})[file] = None
        if _NAMELIST.search(text):
            self._with_namelists.append(file)
        for name in {name.lower() for name in _CALL.findall(text)}:
            self._callers.setdefault(name, []).append(file)

    def _text(self, file: str) -> str:
        """The text of a file, with the files beside it that it includes. Raises InputError if that is more than any
        has."""
        room = disk.MOST_BYTES

        def read(path: Path) -> str:
            nonlocal room
            data = disk.read_bytes(path)
            room -= len(data)
            if room < 0:
                raise InputError(f"{self.root / file}, with what it includes, {disk.TOO_LARGE}")
            return data.decode("utf-8", "replace")

        def included(found: re.Match[str]) -> str:
            path = (self.root / file).parent / found[1]
            return read(path) if disk.is_file(path) else ""

        return _INCLUDE.sub(included, read(self.root / file))

    def has(self, directory: str) -> bool:
        """Whether there is any Fortran file below a directory, such as "externals/jsbach"."""
        return directory in self._directories

    def callers(self, name: str) -> Iterator[Unit]:
        """The procedures and programs with a CALL of that name."""
        for file in self._callers.get(name, []):
            yield from self._calling(file).get(name, [])

    @cache  # noqa: B019
    def _calling(self, file: str) -> dict[str, list[Unit]]:
        """The units of a file by what they call."""
        found: dict[str, list[Unit]] = {}
        for unit in (unit for outermost in self.units(file) for unit in outermost.all_units()):
            texts = (statement.text for statement in unit.statements if "call" in statement.text)
            for name in dict.fromkeys(name for text in texts for name in _CALLED.findall(text)):
                found.setdefault(name, []).append(unit)
        return found

    @cache  # noqa: B019 - a tree lives as long as the command
    def units(self, file: str) -> tuple[Unit, ...]:
        """The outermost units of a file."""
        return tuple(read_units(statements(self._text(file), self.macros), file))

    def with_namelists(self) -> Iterator[Unit]:
        """Every unit that has a NAMELIST statement. Raises InputError where there are more than any model has."""
        found = 0
        for file in self._with_namelists:
            for outermost in self.units(file):
                for unit in outermost.all_units():
                    found += len(unit.namelists)
                    if found > _MOST_NAMELISTS:
                        raise InputError(f"{self.root} holds more than {_MOST_NAMELISTS} NAMELIST statements")
                    if unit.namelists:
                        yield unit

    def module(self, name: str, near: str) -> Unit | None:
        """A module; of several of one name that of the file whose path has most in common with `near`."""
        files = self._modules.get(name, {})
        if not files:
            return None
        file = max(files, key=lambda other: _common(other, near))
        return self._named(file).get(name)

    @cache  # noqa: B019
    def _named(self, file: str) -> dict[str, Unit]:
        """The outermost units of a file by their names; of several of one name the first."""
        return {unit.name: unit for unit in reversed(self.units(file))}

    def declaration(self, unit: Unit, name: str) -> Declaration | None:
        """What a name stands for in a unit: declared there, in a unit around it, or in a module used."""
        found = self._find(unit, name, "declarations")
        return found if isinstance(found, Declaration) else None

    def type(self, unit: Unit, name: str) -> DerivedType | None:
        """The derived type of that name in a unit."""
        found = self._find(unit, name, "types")
        return found if isinstance(found, DerivedType) else None

    def procedure(self, unit: Unit, name: str) -> Unit | None:
        """The procedure of that name in a unit."""
        found = self._find(unit, name, "children")
        return found if isinstance(found, Unit) else None

    def lacks(self, unit: Unit, name: str) -> bool:
        """Whether a unit takes a name from a module that is not in the tree."""
        around: Unit | None = unit
        seen: set[tuple[Unit, str]] = set()
        while around is not None and (around, name) not in seen:
            seen.add((around, name))
            found = _uses_of(around)[0].get(name)
            if found is None:
                around = around.parent
                continue
            _, use, original = found[0]
            around, name = self.module(use.module, around.file), original
            if around is None:
                return True
        return False

    def _find(self, unit: Unit, name: str, kind: str) -> Declaration | DerivedType | Unit | None:
        around: Unit | None = unit
        while around is not None:
            known: dict[str, Declaration | DerivedType | Unit] = getattr(around, kind)
            found = known.get(name) or self._used(around, name, kind)
            if found is not None:
                return found
            around = around.parent
        return None

    @cache  # noqa: B019
    def _used(self, unit: Unit, name: str, kind: str) -> Declaration | DerivedType | Unit | None:
        """What a unit takes under a name from the modules that it uses, or from those that they use."""
        waiting = [(unit, name)]
        seen: set[tuple[str, str]] = set()
        while waiting:
            unit, name = waiting.pop()
            known: dict[str, Declaration | DerivedType | Unit] = getattr(unit, kind)
            if seen and known.get(name) is not None:
                return known[name]
            behind = []
            named, whole = _uses_of(unit)
            self._count(len(whole))
            taken = [(number, use, use.renamed.get(name, name)) for number, use in whole]
            for _, use, original in sorted([*named.get(name, ()), *taken], key=itemgetter(0)):
                if (use.module, original) in seen:
                    continue
                module = self.module(use.module, unit.file)
                if module is not None:
                    self._count(1)
                    seen.add((use.module, original))
                    behind.append((module, original))
            waiting += reversed(behind)
        return None

    def _count(self, number: int) -> None:
        self._looked_into += number
        if self._looked_into > _MOST_LOOKED_INTO:
            raise InputError(f"{self.root} has names that come through very many modules that use each other")


@cache
def _uses_of(unit: Unit) -> tuple[dict[str, list[tuple[int, Use, str]]], list[tuple[int, Use]]]:
    """The USE statements of a unit by the names that they take, with the module's own names, and those that take all;
    with their places among each other."""
    named: dict[str, list[tuple[int, Use, str]]] = {}
    whole = []
    for number, use in enumerate(unit.uses):
        if use.names is None:
            whole.append((number, use))
        for local, original in (use.names or {}).items():
            named.setdefault(local, []).append((number, use, original))
    return named, whole


def _common(one: str, other: str) -> int:
    """How many directories two paths share from the top."""
    count = 0
    for left, right in zip(one.split("/")[:-1], other.split("/")[:-1], strict=False):
        if left != right:
            break
        count += 1
    return count
