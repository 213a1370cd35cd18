"""Imports run one way, and importing nmlgen costs little."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import nmlgen

ROOT = Path(__file__).resolve().parents[1]
HEAVY = ("click", "jinja2", "ruamel.yaml", "jsonschema", "rich", "f90nml")


def loaded_by(code: str) -> set[str]:
    script = f"import sys\n{code}\nprint(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def test_contracts():
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as run; run()"]
    done = subprocess.run([*command, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        ("import nmlgen", (*HEAVY, "attrs", "json", "nmlgen.schedulers")),
        ("import nmlgen.cli", HEAVY),
        ("import nmlgen.cli\nnmlgen.cli.main(['--version'])", HEAVY),
        ("from nmlgen import Finding, SpecError, Severity", HEAVY),
        ("from nmlgen import Experiment", HEAVY),
        ("import nmlgen.api", ("click", "jinja2", "ruamel.yaml", "jsonschema", "rich", "f90nml")),
        ("import nmlgen.cli.application", ("jinja2", "ruamel.yaml", "jsonschema", "rich", "f90nml")),
        (
            "import nmlgen\nnmlgen.build('examples/nh_dcmip_tc_52_r2b5.yaml')",
            ("attr", "click", "jinja2", "rich", "f90nml"),
        ),
        ("import nmlgen.cli.check", ("jinja2", "rich", "f90nml", "nmlgen.schedulers.request")),
    ],
)
def test_nothing_heavy_is_loaded(code, absent):
    loaded = loaded_by(code)
    assert [name for name in absent if name in loaded] == []


def test_everything_public_is_there():
    for name in nmlgen.__all__:
        assert getattr(nmlgen, name) is not None
    assert sorted(nmlgen.__all__) == nmlgen.__all__
    assert dir(nmlgen) == sorted(nmlgen.__all__)
    assert set(nmlgen._HOMES) | {"__version__", "advise"} == set(nmlgen.__all__)


def test_what_is_not_there():
    with pytest.raises(AttributeError, match="module 'nmlgen' has no attribute 'Specc'"):
        nmlgen.Specc  # noqa: B018
