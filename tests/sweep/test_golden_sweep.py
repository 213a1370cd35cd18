"""A whole sweep on the disk has the same bytes with every version of Python: those whose hashes are in golden/.

After a change that is meant: `python -m pytest tests/sweep/test_golden_sweep.py --regenerate`. Beside the Python of the
tests others write the sweep, too, if NMLGEN_PYTHONS names them, separated by colons; they need what nmlgen needs.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GOLDEN = Path(__file__).parent / "golden"
HASHES = GOLDEN / "sha256.txt"
PYTHONS = [sys.executable, *filter(None, os.environ.get("NMLGEN_PYTHONS", "").split(":"))]


def hashes(directory):
    files = sorted(path for path in directory.rglob("*") if path.is_file())
    return "".join(
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(directory)}\n" for path in files
    )


@pytest.mark.parametrize("python", PYTHONS, ids=range(len(PYTHONS)))
def test_sweep_is_as_it_was(python, tmp_path, request):
    done = subprocess.run(
        [python, "-m", "nmlgen", "sweep", "spec.yaml", "-o", tmp_path / "sweep"],
        cwd=GOLDEN,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = hashes(tmp_path / "sweep")
    if request.config.getoption("--regenerate"):
        HASHES.write_text(found)
    assert found == HASHES.read_text()
