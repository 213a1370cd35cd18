"""Programs that tests need beside Python."""

from __future__ import annotations

import os
import shutil

import pytest


def require(*programs: str) -> None:
    """Skip the test where a program is missing; in CI, where nothing may be missing, fail it."""
    missing = [program for program in programs if shutil.which(program, path=search_path()) is None]
    if not missing:
        return
    reason = f"not installed: {', '.join(missing)}"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


def search_path() -> str:
    """PATH with the directories of daemons, which an ordinary user's PATH may lack."""
    return os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/local/sbin", "/usr/sbin", "/sbin"])
