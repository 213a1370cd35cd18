"""Damaged scripts: nothing raises, nothing hangs, nothing is executed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

MUTATIONS = Path(__file__).parent.parent.parent / "benchmarks" / "mutations.py"


def test_mutated_scripts_do_no_harm():
    """100 here; `python benchmarks/mutations.py scripts` for fifty thousand."""
    command = [sys.executable, str(MUTATIONS), "scripts", "100", "--seed", "1"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert "100 mutated scripts read" in ended.stdout
