"""The language server's tests need what is left out where the oldest versions of all dependencies are tested."""

from __future__ import annotations

import importlib.util

if importlib.util.find_spec("pytest_lsp") is None:
    collect_ignore_glob = ["test_*.py"]
else:
    from lsp_client import client, editor  # noqa: F401
