"""What a project says once for all its files: `nmlgen.toml`, or the table `tool.nmlgen` of `pyproject.toml`.

icon-release = "2024.10"
site = "levante"
select = ["RST", "OUT"]

[[ignore]]
rule = "PAR004"
path = "run/exp.test_*"
reason = "half of the ranks write, on purpose"

[profile]
no_of_nodes = "4"
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from nmlgen import disk
from nmlgen.errors import InputError, SpecError
from nmlgen.files import Files
from nmlgen.findings import Report, Severity, did_you_mean
from nmlgen.namelist.registry import registry_of
from nmlgen.path_pattern import matches
from nmlgen.selection import selectors
from nmlgen.source import Source, Span
from nmlgen.spec.site import read_site_of
from nmlgen.suppression import Suppression
from nmlgen.values import evolve, frozen

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_FILE = "nmlgen.toml"
_PROJECT_FILE = "pyproject.toml"
_PROJECT_TABLE = "tool.nmlgen"
_HEADER = re.compile(r"\s*(\[{1,2})([^\[\]]+)\]")
_KEY = re.compile(r"""\s*["']?([A-Za-z0-9_-]+)["']?\s*=""")
_MOST_DOTS, _MOST_DOTS_OF_ALL = 500, 50_000  # in a line, and in all lines together
_PARSED_UP_TO = re.compile(r" \(at line (\d+), column (\d+)\)$")
_MOST_HELD = 5_000_000
_LONGEST_TABLE = 200  # characters of a name that are put before each key of the table
_MOST_VARIABLES = 1000  # of a profile: each script begins with them
_WILD = re.compile(r"[*?]")
_VARIABLE = re.compile(r"[A-Za-z_]\w*", re.ASCII)


@frozen
class Exemption:
    """A rule that is not to be reported in the files that `path` matches, and why; without a path in all of them.

    In a path `*` and `?` stand for characters of one name, `**/` for any directories; a path without a slash is the
    name of a file in whatever directory below `directory`.
    """

    rule: str
    path: str | None
    reason: str
    directory: Path
    span: Span

    @property
    def start(self) -> Path:
        """The directory in which, or below, all files lie that it holds for."""
        start = self.directory
        for part in (self.path or "").split("/")[:-1]:
            if _WILD.search(part):
                break
            start /= part
        return start


class _Names:
    """Files below a directory by what a path of an exemption may say of them."""

    def __init__(self, directory: Path, paths: Iterable[Path]) -> None:
        self._paths: dict[str, list[Path]] = {}
        self._names: dict[str, list[Path]] = {}
        for path in paths:
            if path.is_relative_to(directory):
                self._paths.setdefault(path.relative_to(directory).as_posix(), []).append(path)
                self._names.setdefault(path.name, []).append(path)

    def covered(self, one: Exemption, work: _Work) -> set[Path]:
        """Those that an exemption with a path holds for."""
        said = one.path or ""
        names = self._paths if "/" in said else self._names
        wild = _WILD.search(said)
        if wild is None:
            return set(names.get(said.removeprefix("./"), ()))
        start = said[: wild.start()].removeprefix("./")
        some = [name for name in names if name.startswith(start)]
        work.add(sum(map(len, some)), one)
        return {path for name in some if matches(said, name) for path in names[name]}


class _Work:
    """A bound on work: the characters of names that are held against paths with wildcards."""

    def __init__(self) -> None:
        self._done = 0

    def add(self, characters: int, one: Exemption) -> None:
        """Raises ConfigurationError at the exemption that is too much."""
        self._done += characters
        if self._done > _MOST_HELD:
            message = "the paths of exemptions have too many wildcards for so many files"
            raise ConfigurationError(one.span, message, ("expected: fewer paths, or paths that begin otherwise",))


class _Reach:
    """The files that exemptions hold for, of those that were judged and of those that are there."""

    def __init__(self, sources: Mapping[Path, Source]) -> None:
        self._sources = sources
        self._judged: dict[Path, _Names] = {}
        self._there: dict[tuple[Path, Path], _Names] = {}
        self._work = _Work()

    def among(self, one: Exemption) -> tuple[frozenset[str], bool]:
        """The names of the files it holds for, of those that were judged, and whether these are all there are."""
        if one.path is None:
            return frozenset(source.name for source in self._sources.values()), False
        if one.directory not in self._judged:
            self._judged[one.directory] = _Names(one.directory, self._sources)
        covered = self._judged[one.directory].covered(one, self._work)
        files = frozenset(self._sources[path].name for path in covered)
        return files, bool(covered) and self._files(one).covered(one, self._work) <= covered

    def _files(self, one: Exemption) -> _Names:
        """The files that are there. Each directory is gone through once."""
        place = one.directory, one.start
        if place not in self._there:
            walk = disk.walk(one.start, follows=False)
            paths = (Path(directory) / name for directory, _, names in walk for name in names)
            self._there[place] = _Names(one.directory, paths)
        return self._there[place]


def suppressions_of(exemptions: Iterable[Exemption], sources: Mapping[Path, Source]) -> Iterator[Suppression]:
    """What exemptions mean for files that were judged; those that hold for none of them are not among them.

    Only if all files that one holds for were judged can it be said to be of no use. Files are looked for once for all
    exemptions with one path. Raises ConfigurationError where they are more than can be looked at.
    """
    known: dict[tuple[Path, str | None], tuple[frozenset[str], bool]] = {}
    reach = _Reach(sources)
    for one in exemptions:
        place = (one.directory, one.path)
        files, is_needed = known[place] if place in known else known.setdefault(place, reach.among(one))
        if files:
            yield Suppression(one.rule, one.reason, one.span, files, is_needed=is_needed)


@frozen
class Configuration:
    """The settings of a project; those that it does not make are None or empty.

    The release is the name of one or the path of a registry file; the `site` is the name of one, or the path of a site
    file. The `profile` are variables of the shell, with their values, that are set before a script begins. `severities`
    are those of rules, by the beginnings of their codes. What was found is kept in the `cache_directory`.
    """

    icon_release: str | None = None
    site: str | None = None
    select: tuple[str, ...] = ()
    exemptions: tuple[Exemption, ...] = ()
    profile: tuple[tuple[str, str], ...] = ()
    severities: tuple[tuple[str, Severity], ...] = ()
    cache_directory: Path | None = None

    def graded(self, report: Report) -> Report:
        """A report with the severities that the project gives to rules; of two beginnings of codes the longer holds."""
        if not self.severities:
            return report
        said = {code: self._severity(code) for code in {finding.code for finding in report.findings}}
        graded = ((finding, said[finding.code]) for finding in report.findings)
        return evolve(report, findings=tuple(one if new is None else evolve(one, severity=new) for one, new in graded))

    def _severity(self, code: str) -> Severity | None:
        said = [entry for entry in self.severities if code.startswith(entry[0])]
        return max(said, key=lambda entry: len(entry[0]))[1] if said else None


NOTHING_SAID = Configuration()
"""What holds where there is no file."""


class ConfigurationError(InputError):
    """A configuration that cannot be used: what is wrong with it, where, and what was expected."""

    def __init__(self, span: Span, message: str, notes: tuple[str, ...] = ()) -> None:
        super().__init__("; ".join((f"{span}: {message}", *notes)))
        self.span = span
        self.message = message
        self.notes = notes


def is_variable(name: str) -> bool:
    """Whether a shell can have a variable of that name."""
    return _VARIABLE.fullmatch(name) is not None


def find_configuration(
    path: Path, rules: Mapping[str, str], files: Files, known: dict[Path, Configuration | None] | None = None
) -> Configuration:
    """The configuration that holds for a file or a directory: the nearest one in its directory or above.

    `rules` has the name of each code. Of two files in one directory `nmlgen.toml` counts. What lies in a directory is
    `known` afterwards, so that it is not read again. Raises InputError, with the place, for a file that is no TOML, an
    unknown key and a wrong value.
    """
    start = Path(os.path.realpath(path))
    known = {} if known is None else known
    for directory in (start, *start.parents):
        if directory not in known:
            known[directory] = _lying_in(directory, rules, files)
        if (found := known[directory]) is not None:
            return found
    return NOTHING_SAID


def _lying_in(directory: Path, rules: Mapping[str, str], files: Files) -> Configuration | None:
    if files.is_file(file := directory / _FILE):
        return _Reader(file, _load(file, files), "", rules).configuration()
    file = directory / _PROJECT_FILE
    if files.is_file(file) and "nmlgen" in files.read(file, os.path.relpath(file)).text:  # others need be no TOML
        source, tables = _load(file, files)
        table = tables.get("tool", {})
        if isinstance(table, dict) and "nmlgen" in table:
            return _Reader(file, (source, table["nmlgen"]), f"{_PROJECT_TABLE}.", rules).configuration()
    return None


def _load(file: Path, files: Files) -> tuple[Source, dict[str, Any]]:
    shown = os.path.relpath(file)
    source = files.read(file, shown)
    dots = 0
    for number, line in enumerate(source.lines, start=1):  # tomllib copies what it has of a key for each of its parts
        here = line.count(".")
        dots += here
        if here > _MOST_DOTS:
            raise ConfigurationError(source.span(number, 1), f"a line with more than {_MOST_DOTS} dots is not read")
        if dots > _MOST_DOTS_OF_ALL:  # and makes a table of each part
            message = f"more than {_MOST_DOTS_OF_ALL} dots are not read"
            raise ConfigurationError(source.span(number, 1), message)
    try:
        return source, tomllib.loads(source.text)
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        place = _PARSED_UP_TO.search(message)
        if place is None:
            raise InputError(f"{shown}: {message.lower()}") from None
        span = source.span(int(place[1]), int(place[2]))
        raise ConfigurationError(span, _PARSED_UP_TO.sub("", message).lower()) from None
    except ValueError:  # of int, to which tomllib hands any digits
        raise InputError(f"{shown}: a number has too many digits") from None
    except RecursionError:
        raise InputError(f"{shown} is nested too deeply") from None


class _Reader:
    """Makes a Configuration of a table; whatever is wrong in it is said with its place."""

    def __init__(self, file: Path, loaded: tuple[Source, Any], prefix: str, rules: Mapping[str, str]) -> None:
        self.directory = file.parent
        self.source, self.table = loaded
        self.prefix = prefix
        self.rules = rules
        self.places = dict(_places(self.source))

    def configuration(self) -> Configuration:
        table = self.table
        if not isinstance(table, dict):
            raise self.wrong("", f"{_PROJECT_TABLE} is a table")
        self.check_keys(table, "", ("icon-release", "site", "select", "ignore", "profile", "severity", "cache-dir"))
        release = self.release(table.get("icon-release"))
        site = self.site(table.get("site"))
        select = table.get("select", [])
        if not isinstance(select, list) or not all(isinstance(word, str) for word in select):
            raise self.wrong("select", '"select" is a list of rules, such as ["RST", "OUT003"]')
        chosen = selectors(select, self.rules, f"{self.place('select')}: ")
        entries = table.get("ignore", [])
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            raise self.wrong("ignore", '"ignore" is written as [[ignore]], with a rule and a reason')
        exemptions = tuple(self.exemption(f"ignore.{number}.", entry) for number, entry in enumerate(entries))
        profile, severities = self.profile(table.get("profile", {})), self.severities(table.get("severity", {}))
        cache_directory = self.cache_directory(table.get("cache-dir"))
        return Configuration(release, site, chosen, exemptions, profile, severities, cache_directory)

    def release(self, reference: Any) -> str | None:
        """A release; the path of a registry file is seen from the file that says it."""
        if reference is None:
            return None
        if not isinstance(reference, str):
            raise self.wrong("icon-release", '"icon-release" is a release or the path of a registry file, in quotes')
        if reference.endswith(".json") or "/" in reference:
            reference = os.path.join(os.curdir, os.path.relpath(self.directory / reference))
        try:
            return registry_of(reference).reference
        except InputError as error:
            raise self.wrong("icon-release", str(error)) from None

    def site(self, reference: Any) -> str | None:
        """A site; the path of a site file is seen from the file that says it."""
        if reference is None:
            return None
        if not isinstance(reference, str):
            raise self.wrong("site", '"site" is the name of a site, or of a site file, in quotes')
        try:
            read_site_of(reference, self.directory)
        except SpecError as error:
            raise self.wrong("site", error.findings[0].message, *error.findings[0].notes) from None
        return str(self.directory / reference) if reference.startswith((".", "/")) else reference

    def cache_directory(self, path: Any) -> Path | None:
        """A directory below that of the file: what somebody else has written into a project writes nowhere else."""
        if path is None:
            return None
        if not isinstance(path, str) or not path.strip() or "\0" in path:
            raise self.wrong("cache-dir", '"cache-dir" is a path in quotes')
        meant = Path(os.path.realpath(self.directory / path))
        if self.directory not in meant.parents:
            expected = "expected: a path below the directory of this file; NMLGEN_CACHE_DIR may be any"
            raise self.wrong("cache-dir", f'"{path}" lies elsewhere', expected)
        return meant

    def profile(self, variables: Any) -> tuple[tuple[str, str], ...]:
        if not isinstance(variables, dict):
            raise self.wrong("profile", '"profile" is a table of variables')
        if len(variables) > _MOST_VARIABLES:
            raise self.wrong("profile", f'"profile" has more than {_MOST_VARIABLES} variables')
        for name, value in variables.items():
            if not is_variable(name):
                raise self.wrong(f"profile.{name}", f'"{name}" is no name of a variable')
            if not isinstance(value, str):
                raise self.wrong(f"profile.{name}", f'"{name}" is a text in quotes')
        return tuple(variables.items())

    def severities(self, given: Any) -> tuple[tuple[str, Severity], ...]:
        if not isinstance(given, dict):
            raise self.wrong("severity", '"severity" is a table of rules, such as OUT003 = "warning"')
        known = [severity.value for severity in Severity]
        found: list[tuple[str, Severity]] = []
        for word, value in given.items():
            if value not in known:
                raise self.wrong(f"severity.{word}", f"expected: one of {', '.join(known)}")
            place = f"{self.place(f'severity.{word}')}: "
            found += [(start, Severity(value)) for start in selectors([word], self.rules, place)]
        return tuple(found)

    def exemption(self, at: str, entry: Mapping[str, Any]) -> Exemption:
        self.check_keys(entry, at, ("rule", "path", "reason"))
        for key, value in entry.items():
            if not isinstance(value, str) or not value.strip():
                raise self.wrong(f"{at}{key}", f'"{key}" is a text that is not empty')
        for key in ("rule", "reason"):
            if key not in entry:
                raise self.wrong(at, f'[[ignore]] needs a "{key}"')
        rule = entry["rule"]
        names = [word for pair in self.rules.items() for word in pair]
        if rule not in names:
            raise self.wrong(f"{at}rule", f'there is no rule "{rule}"', *did_you_mean(rule, names))
        return Exemption(rule, entry.get("path"), entry["reason"].strip(), self.directory, self.place(f"{at}rule"))

    def check_keys(self, table: Mapping[str, Any], at: str, known: tuple[str, ...]) -> None:
        for key in table:
            if key not in known:
                notes = did_you_mean(key, known) or (f"expected: one of {', '.join(known)}",)
                raise self.wrong(f"{at}{key}", f'there is no key "{key}"', *notes)

    def place(self, key: str) -> Span:
        """Where a key stands, or else the nearest table around it that has a place."""
        path = f"{self.prefix}{key}".strip(".")
        while path and path not in self.places:
            path = path.rpartition(".")[0]
        return self.places.get(path) or self.source.span(1, 1)

    def wrong(self, key: str, message: str, *notes: str) -> ConfigurationError:
        return ConfigurationError(self.place(key), message, notes)


def _places(source: Source) -> Iterable[tuple[str, Span]]:
    """Where tables and keys that begin a line stand, by their dotted names; `[[x]]` is numbered from 0: `x.0`."""
    table, counts = "", dict[str, int]()
    for number, line in enumerate(source.lines, start=1):
        if header := _HEADER.match(line):
            table = header[2].strip()
            if header[1] == "[[":
                counts[table] = counts.get(table, -1) + 1
                table = f"{table}.{counts[table]}"
            yield table, source.span(number, header.start(1) + 1, header.end() - header.start(1))
        elif len(table) <= _LONGEST_TABLE and (key := _KEY.match(line)):
            name = f"{table}.{key[1]}" if table else key[1]
            yield name, source.span(number, key.start(1) + 1, len(key[1]))
