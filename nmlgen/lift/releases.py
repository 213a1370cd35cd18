"""Which ICON release a file is for: what somebody said, else what the file or what lies beside it shows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

from nmlgen import disk
from nmlgen.errors import InputError
from nmlgen.experiment.record import recorded
from nmlgen.files import STANDARD_INPUT
from nmlgen.namelist.registry import Registry, registry_of, releases

_IN_PATH = re.compile(r"\bicon(?:[-_](?:model|release|v))*[-_/.]v?(\d{4}\.\d{2})(?![\d.]*\d)", re.IGNORECASE)
_IN_LOG = re.compile(rb"^ *version: +(\d{4}\.\d{2})\S*\s*$", re.MULTILINE)
_LOG = re.compile(r"LOG|.*\.(?:log|out|o)\Z", re.DOTALL)
_IN_CONFIGURE = re.compile(
    rb"^PACKAGE_NAME='icon'\nPACKAGE_TARNAME='[^'\n]*'\nPACKAGE_VERSION='(\d{4}\.\d{2}|[\d.]+)", re.M
)
_HEAD_OF_CONFIGURE = 100_000  # bytes in which autoconf says what it configures
_MOST_ABOVE = 6  # externals/art/runctrl_examples/run_scripts/part/exp.test
_HEAD = 1_000_000  # bytes of a log in which ICON has said its version
_MOST_LOGS = 8


def registry_for(path: Path, text: str, said: str | None = None, configured: str | None = None) -> Registry:
    """The registry by which a file with that text is read.

    `said` is a release or the path of a registry file, and holds before all else; then a build's own record, then what
    is `configured`, then a release that the text names in a path such as `icon-2024.10`, then the version in a log
    beside it, then that of the ICON source tree that the file lies in. Without any of these the newest release is
    assumed. Raises InputError where a registry cannot be had.
    """
    if said is not None:
        return registry_of(said)
    built = recorded(text).get("model.release")
    if built is not None:
        return _of_build(path, built, configured)
    known = configured or named_in(text) or logged_beside(path)
    if known is not None:
        return registry_of(known)
    release = of_tree(path)
    return registry_of(release) if release in releases() else registry_of(None, release)


def _of_build(path: Path, release: str, configured: str | None) -> Registry:
    if release in releases():
        return registry_of(release)
    own = None if configured is None else registry_of(configured)
    if own is None or own.release != release:
        raise InputError(
            f"{path} was built for ICON {release}, which does not ship with nmlgen; name its registry file"
        )
    return own


def own_script(directory: Path) -> Path | None:
    """The one batch script in a directory that nmlgen wrote; None if there is none, or more than one."""
    found = [path for path in listed(directory) if path.name.endswith(".sbatch") and recorded(text_of(path))]
    return found[0] if len(found) == 1 else None


def listed(directory: Path) -> list[Path]:
    """What is in a directory, in order; nothing where nobody may look. Raises UnreadableError where the disk fails."""
    try:
        return [directory / name for name in disk.names(directory)]
    except PermissionError:
        return []
    except OSError as error:
        disk.require_missing(error, str(directory))
        return []


def text_of(path: Path) -> str:
    """The text of a file; nothing of what is none. Raises UnreadableError for one that is there and cannot be read."""
    try:
        return disk.read_bytes(path).decode("utf-8", "replace")
    except InputError:
        return ""
    except OSError as error:
        disk.require_missing(error, str(path))
        return ""


def named_in(text: str) -> str | None:
    """The release that ships with nmlgen and that a text names in its paths; None for none or for several."""
    if not any(release in text for release in releases()):
        return None
    found = set(_IN_PATH.findall(text)) & set(releases())
    return found.pop() if len(found) == 1 else None


def logged_beside(path: Path) -> str | None:
    """The release that the logs in a file's directory tell of; None for none, for several, or for one that does not
    ship with nmlgen."""
    if path == STANDARD_INPUT:
        return None
    found = {release for log in _logs(path.parent) for release in _versions(log)} & set(releases())
    return found.pop() if len(found) == 1 else None


def of_tree(path: Path) -> str | None:
    """The release of the ICON source tree that a file lies in, by the `configure` of a directory above; None for none.
    It may be one that does not ship with nmlgen."""
    if path == STANDARD_INPUT:
        return None
    for directory in list(path.absolute().parents)[1:_MOST_ABOVE]:
        with suppress(OSError):
            found = _IN_CONFIGURE.search(disk.head(directory / "configure", _HEAD_OF_CONFIGURE))
            if found is not None:  # else it is that of a part, such as ART
                return found[1].decode()
    return None


def _logs(directory: Path) -> Iterator[Path]:
    try:
        names = sorted(name for name in disk.names(directory) if _LOG.match(name))
    except OSError:
        return
    logs = (directory / name for name in names)
    yield from islice((log for log in logs if disk.is_file(log)), _MOST_LOGS)


def _versions(log: Path) -> set[str]:
    try:
        return {match.decode() for match in _IN_LOG.findall(disk.head(log, _HEAD))}
    except OSError:
        return set()
