"""Programs that tests need beside Python, and how tests wait for what those do."""

from __future__ import annotations

import errno
import os
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PATIENCE = 900.0
"""Seconds after which a test no longer waits: nothing takes so long that ever comes, however slow the machine."""
_PAUSE = 0.05  # seconds from one look to the next


def require(*programs: str) -> None:
    """Skip the test where a program is missing; in CI, where nothing may be missing, fail it."""
    missing = [program for program in programs if shutil.which(program) is None]
    if not missing:
        return
    reason = f"not installed: {', '.join(missing)}"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


def search_path(given: str) -> str:
    """The PATH of tests. First come the programs that were installed with this Python, as shellcheck is, though nobody
    has activated its environment; then what is given; last the directories of daemons, which an ordinary user lacks."""
    directories = [str(Path(sys.executable).parent), *given.split(os.pathsep), "/usr/local/sbin", "/usr/sbin", "/sbin"]
    return os.pathsep.join(dict.fromkeys(directories))


def until(holds: Callable[[], bool], what: Callable[[], str] = lambda: "it never came true") -> None:
    """Wait for something to hold. Raises TimeoutError, with what there is to say then, after PATIENCE."""
    end = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > end:
            raise TimeoutError(what())
        time.sleep(_PAUSE)


def refuse(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Let nobody read the files and directories of these names, root neither."""

    def refusing(real: Callable[..., Any]) -> Callable[..., Any]:
        def look(path: Any = ".", *more: Any, **others: Any) -> Any:
            if os.path.basename(os.fspath(path)) in names:
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), os.fspath(path))
            return real(path, *more, **others)

        return look

    for name in ("open", "scandir", "listdir"):
        monkeypatch.setattr(os, name, refusing(getattr(os, name)))
