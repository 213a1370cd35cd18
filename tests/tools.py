"""Programs that tests need beside Python."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest


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
