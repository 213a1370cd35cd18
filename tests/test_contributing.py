"""CONTRIBUTING.md does what it says, in a copy of the source; CITATION.cff is of this version."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from ruamel.yaml import YAML
from specs import TEXT

from nmlgen._version import __version__

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


@pytest.fixture
def copy(tmp_path):
    """A copy of what a contributor changes, with what is compiled already: it has the times of its sources."""
    for name in ("nmlgen", "presets", "schemas", "templates", "tests"):
        left_out = shutil.ignore_patterns("verdicts", "real", "foreign*")
        shutil.copytree(ROOT / name, tmp_path / name, ignore=left_out)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "spec.yaml").write_text(TEXT)
    return tmp_path


def python(copy, *arguments):
    environment = {**os.environ, "PYTHONPATH": str(copy)}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)


def test_a_rule(copy):
    (code,) = re.findall(r"^```python\n(.*?)^```\n\nA finding is", PAGE, re.M | re.S)
    (copy / "nmlgen" / "rules" / "names.py").write_text(code)
    assert "# XYZ900: test-that-is-none (warning)" in python(copy, "-m", "nmlgen", "explain", "XYZ900").stdout
    done = python(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/rules/test_examples.py", "-k", "XYZ900")
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout


def test_a_site(copy):
    shown = python(copy, "-m", "nmlgen", "presets", "show", "sites/levante")
    (copy / "mysite.yaml").write_text(shown.stdout)
    done = python(copy, "-m", "nmlgen", "check", "spec.yaml", "--set", "site=./mysite.yaml")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_golden_build(copy):
    mine = copy / "tests" / "golden" / "mine"
    mine.mkdir()
    shutil.copy(copy / "spec.yaml", mine)
    run = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_golden.py", "-k", "mine")
    assert python(copy, *run).returncode == 1
    assert python(copy, *run, "--regenerate").returncode == 0
    assert (mine / "expected" / "icon_master.namelist").is_file()
    assert python(copy, *run).returncode == 0


def test_rooms_are_there():
    rooms = re.findall(r"`(nmlgen/\w+|templates)`", PAGE)
    assert rooms
    assert [room for room in rooms if not (ROOT / room).is_dir()] == []


def test_citation():
    citation = YAML(typ="safe").load(ROOT / "CITATION.cff")
    assert citation["version"] == __version__
    assert citation["license"] == "BSD-3-Clause"
