"""What linting is asked to look at: files, and in directories those that it knows how to read."""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from nmlgen import disk
from nmlgen.errors import InputError, UnreadableError
from nmlgen.files import STANDARD_INPUT, Files, decode
from nmlgen.lift.file_kinds import (
    FOR_PEOPLE,
    OTHER_TEXTS,
    begins_with_directives,
    begins_with_group,
    is_foreign_script,
    is_namelist_with_remarks,
    is_of_cylc,
    is_other_language,
    is_script,
)
from nmlgen.lift.mkexp import CONFIG_SUFFIX, is_mkexp
from nmlgen.lift.namelists import MASTER_FILE
from nmlgen.namelist.placeholders import TEMPLATES
from nmlgen.source import Source
from nmlgen.values import frozen

_MOST_BYTES = 4 * 1024 * 1024  # no run script and no namelist comes near
_MOST_FILES = 100_000
_HEAD = 2048
_NAMELIST_NAMES = re.compile(
    r"NAMELIST_(?!ICON_output_).+|.+\.(?:nml|namelist)|namelist\.(?:input|(?:init_)?atmosphere)(?:\..+)?"
    r"|PARIN(?:_N\d\d|_O)?|.+_p3dr?(?:_N\d\d|_O)?",
    re.I,
)
"""Not what ICON writes of the values that it has come to (`mo_read_namelists.f90:118`)."""
_STRANGE = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\udc80-\udcff]")  # \t, \n, \v, \f, \r and escapes are of texts
_GROUP = re.compile(r"^[ \t]*&[A-Za-z]\w*", re.MULTILINE)
_BEGUN = re.compile(r"^[^!\n]*?[&$][ \t]*[A-Za-z]\w*", re.MULTILINE)  # also where something stands before it
_OPENED = re.compile(r"^[^#!\n]*?<<-?[ \t]*['\"\\]?(?P<end>\w+)", re.MULTILINE)
_LONE_WORD = re.compile(r"^[ \t]*(?P<word>\w+)[ \t]*\r?$", re.MULTILINE)  # with blanks it is a mistake
_LOGS = (".log", ".out", ".err")
_OTHERS = (
    *OTHER_TEXTS,
    *(".md", ".rst", ".txt", ".tex", ".org", ".adoc", ".pdf", ".ps", ".eps", ".csv", ".svg", ".xml"),
    *(*_LOGS, ".patch", ".diff", ".orig", ".rej", ".mk", ".mak", ".am", ".ac", ".m4", ".cmake"),
    *TEMPLATES,
)
_MAKEFILE = re.compile(
    r"(?:gnu)?makefile(?:[._].*)?|configure|config\.(?:guess|sub|status|rpath)|ltmain\.sh|libtool", re.I
)
"""What make reads is no script, even if it begins as one; what the tools of GNU write is none that anybody mends."""
_OF_TESTS = frozenset(("fixtures", "test_data", "test_files", "testdata", "testfiles"))
"""Directories of what tests take and compare with: it shall be as it is."""
_OF_OTHERS = re.compile(
    r"^[^#\n]*(?:\\|[{;])[ \t\r]*$|^[ \t]*(?:includeConfig[ \t]|(?:el)?if[ \t]+\[|fi[ \t]*$|export[ \t])"
    r"|^[ \t]*(?:ifn?eq[ \t(]|ifn?def[ \t]|endif[ \t\r]*$|[\w.]+[ \t]*[:?]=)",
    re.M,
)
"""A line that goes on (Doxygen), that ends in a brace or a semicolon or takes another file in (Nextflow), or that is of
a shell's or of make's, as none of mkexp's is."""
_BEGINS_AS_MKEXP = re.compile(r"(?:[ \t\r]*(?:#[^\n]*)?\n)*[ \t\r]*(?:\[|[^\s=#\[<][^\n=]*=|\Z)")
"""A section or a value, which is all that mkexp takes."""


@frozen
class Target:
    """A file to lint: a "script", a "config" of mkexp or a "namelist"; `is_given` by itself or found in a directory."""

    path: Path
    kind: str
    is_given: bool = True


class NothingToLintError(InputError):
    """A path leads to nothing that is judged."""


def targets(
    paths: Iterable[Path],
    files: Files,
    *,
    is_fragment: bool | None = None,
    passed_over: Callable[[str], None] | None = None,
) -> list[Target]:
    """The files that paths mean, each once. One that is given is taken for what it looks like, or for a script if it is
    said to be a fragment of one. In a directory come the scripts first, then the master namelists.

    Raises InputError for a file that cannot be read. What is nothing to lint raises one, too; among others, as in what
    the shell makes of `run/*`, it is told to `passed_over`, if that is given, and files are what they would be in a
    directory, or namelists if they begin as such. So is what cannot be read in a directory.
    """
    found: dict[str, Target] = {}
    given, nothing = list(paths), list[NothingToLintError]()
    is_strict = passed_over is None or len(given) == 1

    def tell(error: UnreadableError) -> None:
        if passed_over is None:
            raise error
        passed_over(str(error))

    for path in given:
        try:
            here = _within(path, tell) if disk.is_directory(path) else [_given(path, files, is_fragment, is_strict)]
        except NothingToLintError as error:
            if is_strict:
                raise
            nothing.append(error)
            continue
        for target in here:
            key = os.path.realpath(target.path) if target.path != STANDARD_INPUT else ""
            if key not in found or target.is_given:
                found[key] = target
    if nothing and not found:
        raise nothing[0]
    if passed_over is not None:
        for refused in nothing:
            passed_over(str(refused))
    return list(found.values())


def _given(path: Path, files: Files, is_fragment: bool | None, is_strict: bool) -> Target:
    source = files.read(path)
    if not source.text.strip():
        raise NothingToLintError(f"{source.name} is empty: a script or a namelist is expected")
    if is_binary(source.text):
        raise NothingToLintError(f"{source.name} is binary: a script or a namelist is expected")
    if path.suffix in _LOGS and source.text.startswith("#!"):
        message = "is the log of a job, which begins with its script: a script is expected"
        raise NothingToLintError(f"{source.name} {message}")
    if is_fragment:
        return Target(path, "script")
    is_shell = is_script(path, source)
    is_foreign = is_foreign_script(path, source) and not is_named_namelist(path)  # its here-documents are none yet
    if is_foreign and not is_shell:
        if begins_with_directives(source.text):
            return Target(path, "script")
        message = "is a script for csh or another program, without directives: one for sh, bash or ksh is expected"
        raise NothingToLintError(f"{source.name} {message}")
    if not is_shell and FOR_PEOPLE.match(path.name) is not None:
        raise NothingToLintError(f"{source.name} is a text for people: a script or a namelist is expected")
    if not is_strict:
        is_namelist = begins_with_group(source.text) and not _is_other(path)
        if (kind := "namelist" if is_namelist else kind_of(path, source)) is None:
            raise NothingToLintError(f"{source.name} looks like neither a script nor a namelist; alone it is judged")
        return Target(path, kind)
    return Target(path, "script") if is_shell else _given_text(path, source)


def _given_text(path: Path, source: Source) -> Target:
    """What is given and no script."""
    if path.suffix == CONFIG_SUFFIX and (is_mkexp(path, source) or _GROUP.search(source.text) is None):
        is_others = _OF_OTHERS.search(source.text) is not None or _BEGINS_AS_MKEXP.match(source.text) is None
        if is_others and not is_mkexp(path, source):
            raise NothingToLintError(f"{source.name} is the configuration of another program: one of mkexp is expected")
        return Target(path, "config")
    if is_of_cylc(path, source):
        raise NothingToLintError(f"{source.name} is a workflow of Cylc: a script or a namelist is expected")
    if not is_named_namelist(path) and not _BEGUN.search(source.text):
        raise NothingToLintError(f"{source.name} is neither a script nor a namelist: no group begins in it")
    return Target(path, "namelist")


def _within(directory: Path, tell: Callable[[UnreadableError], None]) -> list[Target]:
    unread: list[UnreadableError] = []
    recognised = (_recognised(path, unread) for path in _files(directory, unread))
    found = [target for target in recognised if target is not None]
    if unread and not found:
        raise unread[0]
    for error in unread:
        tell(error)
    if not found:
        raise NothingToLintError(
            f"{directory} holds nothing to lint: no run script, no {MASTER_FILE}, no NAMELIST_*, *.nml or *.namelist, "
            "and no *.config of mkexp"
        )
    return sorted(found, key=lambda target: (target.kind != "script", target.path.name != MASTER_FILE))


def _files(directory: Path, unread: list[UnreadableError]) -> Iterator[Path]:
    """The files below a directory in order, without hidden ones. A directory is entered once, and one that a link leads
    to only if it lies within: another may be the whole machine. Those that nobody may enter are added to `unread`.

    Raises InputError if there are more than anybody means to have judged.
    """
    seen: set[str] = set()
    root = os.path.realpath(directory)
    count = 0

    def note(error: OSError) -> None:
        if (refused := disk.unreadable(error, str(error.filename))) is not None:
            unread.append(refused)

    for top, directories, names in disk.walk(directory, note):
        real = os.path.realpath(top)
        if real in seen or os.path.commonpath((root, real)) != root:
            directories.clear()
            continue
        seen.add(real)
        directories[:] = sorted(
            name for name in directories if not name.startswith(".") and name.casefold() not in _OF_TESTS
        )
        count += len(names) + len(directories)
        if count > _MOST_FILES:
            raise InputError(f"{directory} holds more than {_MOST_FILES} files; name the directories to lint")
        yield from (Path(top) / name for name in sorted(names) if not name.startswith("."))


def _recognised(path: Path, unread: list[UnreadableError]) -> Target | None:
    """What a file of a directory is, None if it is nothing to lint. What may be something and cannot be read is added
    to `unread`."""
    try:
        if not disk.is_file(path) or disk.size(path) > _MOST_BYTES:
            return None
        if is_named_namelist(path) and decode(disk.head(path, 2)) != "#!":
            return Target(path, "namelist", is_given=False)
        if _is_other(path):
            return None
        if is_binary(decode(disk.head(path, _HEAD))):
            return None
        source = Source(str(path), decode(disk.read_bytes(path)))
    except InputError:
        return None
    except OSError as error:
        if (refused := disk.unreadable(error, str(path))) and (is_named_namelist(path) or not _is_other(path)):
            unread.append(refused)
        return None
    kind = kind_of(path, source)
    return None if kind is None else Target(path, kind, is_given=False)


def kind_of(path: Path, source: Source) -> str | None:
    """What a file is that nobody named: a "script", a "config" or a "namelist"; None if it is nothing to lint."""
    if is_named_namelist(path) and not source.text.startswith("#!"):  # else it writes one
        return "namelist"
    if _is_other(path) or is_namelist_with_remarks(source.text):
        return None
    if is_foreign_script(path, source):  # sbatch and qsub read it, too
        return "script" if begins_with_directives(source.text) else None
    first = source.line(1)  # what a file is called and begins with; then what is in it
    beginning = Source(source.name, first if first.startswith("#!") or "<<" not in first else "")
    if is_script(path, beginning) and (first.startswith("#!") or not is_other_language(source)):
        return "script"
    if (begins_with_directives(source.text) or _writes_group(source.text)) and is_script(path, source):
        return "script"
    return "config" if is_mkexp(path, source) else None


def _writes_group(text: str) -> bool:
    """Whether a group of a namelist stands in a here-document that ends, which no other language has by chance."""
    groups = [match.start() for match in _GROUP.finditer(text)]
    if not groups:
        return False
    ends: dict[str, list[int]] = {}
    for match in _LONE_WORD.finditer(text):
        ends.setdefault(match["word"], []).append(match.start())
    for match in _OPENED.finditer(text):
        of_word = ends.get(match["end"], [])
        end, group = bisect_right(of_word, match.end()), bisect_right(groups, match.end())
        if end < len(of_word) and group < len(groups) and groups[group] < of_word[end]:
            return True
    return False


def _is_other(path: Path) -> bool:
    """Whether a file is called as what is neither a script nor a namelist."""
    return any(
        (
            path.suffix.lower() in _OTHERS,
            _MAKEFILE.fullmatch(path.name) is not None,
            FOR_PEOPLE.match(path.name) is not None,
        )
    )


def is_named_namelist(path: Path) -> bool:
    """Whether a file is called as namelists are, and not as texts for people on them."""
    return _NAMELIST_NAMES.fullmatch(path.name) is not None and FOR_PEOPLE.match(path.name) is None


def holds_namelists(directory: Path) -> bool:
    """Whether a directory holds files that are called as the namelists of models are."""
    try:
        return any(is_named_namelist(Path(name)) and not name.startswith(MASTER_FILE) for name in disk.names(directory))
    except OSError:
        return False


def is_run_directory(directory: Path) -> bool:
    """Whether a directory holds what a run reads or writes as NetCDF."""
    try:
        return any(name.endswith(".nc") for name in disk.names(directory))
    except OSError:
        return False


def is_binary(text: str) -> bool:
    """Whether a text is none, by its first characters: more than a tenth of them are control characters, or bytes that
    are not UTF-8."""
    head = text[:_HEAD]
    return len(_STRANGE.findall(head)) > len(head) / 10
