"""The worked examples of the documentation run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = re.findall(
    r"^### ([^\n]*)\n(?:(?!^#).)*?^```python\n(.*?)^```", (ROOT / "docs" / "sweeps.md").read_text(), re.M | re.S
)
ON_A_CLUSTER = "Submit, wait, join"
"""It is run in tests/real."""
NEEDS = {"Optuna": "optuna", "A pool of processes": "pandas"}


def test_there_are_four():
    assert [title for title, _ in EXAMPLES] == ["A loop", "Optuna", "A pool of processes", ON_A_CLUSTER]


@pytest.mark.parametrize(("title", "code"), EXAMPLES[:-1], ids=[title for title, _ in EXAMPLES[:-1]])
def test_example(title, code, tmp_path):
    if title in NEEDS:
        pytest.importorskip(NEEDS[title])
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "example.py").write_text(code)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "example.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""


def test_the_script_for_a_cluster_is_short_and_typed(tmp_path):
    (code,) = (code for title, code in EXAMPLES if title == ON_A_CLUSTER)
    assert len(code.splitlines()) <= 10
    (tmp_path / "example.py").write_text(code)
    command = [sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports"]
    command += ["--cache-dir", str(tmp_path / "cache"), "example.py"]
    environment = {**os.environ, "MYPYPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
