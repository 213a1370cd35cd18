"""nmlgen verify, called as users call it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any


def test_text_and_json(nmlgen: Callable[..., Any], here: Path) -> None:
    assert nmlgen("build", "spec.yaml", "-o", "run1", "--quiet").code == 0
    done = nmlgen("verify", "run1")
    assert (done.code, "the experiment has not run" in done.err) == (2, True)
    (here / "run1" / "run").mkdir()
    done = nmlgen("verify", "run1")
    assert done.code == 1
    assert done.out.startswith("WHAT")
    assert "... and" in done.out
    assert "note: nothing says how far the run is" in done.out
    document = json.loads(nmlgen("verify", "run1", "--format", "json").out)
    assert document["files"] == 0
    assert {problem["what"] for problem in document["problems"]} == {"missing", "checkpoint"}
    assert len(document["problems"]) == document["promised_files"] + 1


def test_wrong_use(nmlgen: Callable[..., Any], here: Path) -> None:
    for arguments in (("nowhere",), ("spec.yaml",), (".",)):
        done = nmlgen("verify", *arguments)
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith("nmlgen: error: ")
