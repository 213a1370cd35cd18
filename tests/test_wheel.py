"""The wheel is complete: installed into a clean virtual environment it works in an empty directory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def nmlgen(tmp_path_factory) -> Path:
    """The command `nmlgen` of a fresh virtual environment, which has no pip of its own and compiles what it imports."""
    directory = tmp_path_factory.mktemp("wheel")
    built = run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", directory, ROOT, cwd=directory)
    if built.returncode == 0:
        (wheel,) = directory.glob("nmlgen-*.whl")
        run(sys.executable, "-m", "venv", "--without-pip", directory / "venv", cwd=directory)
        pip = (sys.executable, "-m", "pip", "--python", directory / "venv" / "bin" / "python")
        built = run(*pip, "install", "-q", "--no-compile", wheel, cwd=directory)
    if built.returncode != 0:
        if os.environ.get("CI") == "true":
            pytest.fail(built.stderr)
        pytest.skip(f"cannot install the wheel, perhaps without a network: {built.stderr.strip()[-200:]}")
    return directory / "venv" / "bin" / "nmlgen"


def test_a_spec_is_made_checked_and_built(nmlgen, tmp_path):
    made = run(
        nmlgen, "init", "--preset", "icon/nh_dcmip_tc_52", "--site", "levante", "--account", "bb1234", cwd=tmp_path
    )
    assert made.returncode == 0, made.stderr
    built = run(nmlgen, "build", "spec.yaml", "-o", "run1", cwd=tmp_path)
    assert built.returncode == 0, built.stderr
    names = sorted(path.name for path in (tmp_path / "run1").iterdir())
    assert names == [
        "NAMELIST_nh_dcmip_tc_52",
        "icon_master.namelist",
        "nh_dcmip_tc_52.sbatch",
        "nmlgen-manifest.json",
    ]


def test_the_data_are_in_the_wheel(nmlgen, tmp_path):
    assert "sites/levante" in run(nmlgen, "presets", cwd=tmp_path).stdout
    assert '"lnetcdf_flt64_output"' in run(nmlgen, "schema", cwd=tmp_path).stdout
    assert "nmlgen" in run(nmlgen, "--version", cwd=tmp_path).stdout


def test_it_is_typed(nmlgen, tmp_path):
    program = "import nmlgen, pathlib; print((pathlib.Path(nmlgen.__file__).parent / 'py.typed').exists())"
    assert run(nmlgen.with_name("python"), "-c", program, cwd=tmp_path).stdout.strip() == "True"
