"""A registry for Rose and nml-tools: what they say to values that ICON takes, and to others."""

from __future__ import annotations

import json
import subprocess
from configparser import RawConfigParser
from pathlib import Path

import pytest
from tools import require

from nmlgen.cli import main
from nmlgen.namelist.exported import nml_tools_schemas, rose_metadata
from nmlgen.namelist.registry import load_registry, releases


@pytest.fixture(scope="module")
def rose() -> RawConfigParser:
    parser = RawConfigParser(interpolation=None)
    parser.read_string(rose_metadata(load_registry("2024.10")))
    return parser


@pytest.fixture(scope="module")
def schemas() -> dict[str, dict[str, object]]:
    return {name: json.loads(text) for name, text in nml_tools_schemas(load_registry("2024.10")).items()}


def test_rose_knows_types_ranges_and_values(rose):
    assert rose["namelist:parallel_nml=num_io_procs"]["type"] == "integer"
    assert rose["namelist:parallel_nml=num_io_procs"]["range"] == "this >= 0 and this <= 256"
    assert rose["namelist:parallel_nml=pio_type"]["values"] == "1, 2"
    assert rose["namelist:output_nml"]["duplicate"] == "true"
    assert "duplicate" not in rose["namelist:parallel_nml"]
    assert rose["namelist:output_nml=ml_varlist"]["length"] == ":"
    assert rose["namelist:nonhydrostatic_nml=damp_height"]["help"] == "Unit: m"


def test_schemas_know_types_shapes_bounds_and_defaults(schemas):
    ranks = schemas["parallel_nml.json"]["properties"]["num_io_procs"]
    assert (ranks["type"], ranks["minimum"], ranks["maximum"], ranks["default"]) == ("integer", 0, 256, 0)
    heights = schemas["nonhydrostatic_nml.json"]["properties"]["damp_height"]
    assert (heights["type"], heights["x-fortran-shape"], heights["items"]) == ("array", [10], {"type": "number"})
    assert schemas["run_nml.json"]["properties"]["restart_filename"]["x-fortran-len"] == 1024
    assert not [name for one in schemas.values() for name in one["properties"] if "%" in name]


@pytest.mark.parametrize("release", releases())
def test_every_group_of_every_release_is_there(release):
    registry = load_registry(release)
    text = rose_metadata(registry)
    assert all(f"\n[namelist:{name}]\n" in text for name in registry.groups)
    assert set(nml_tools_schemas(registry)) == {f"{name}.json" for name in registry.groups}


def _said(*command: str | Path, cwd: Path) -> tuple[int, str]:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_rose_judges_by_it(tmp_path):
    require("rose")
    assert main(["registry", "export", "--for", "rose", "-o", str(tmp_path / "meta")]) == 0
    assert _said("rose", "metadata-check", "-C", tmp_path / "meta", cwd=tmp_path)[0] == 0
    wrong = "[namelist:parallel_nml]\nnum_io_procs=-3\nnproma=16.5\n\n[namelist:output_nml(1)]\nfiletype=9\n"
    right = "[namelist:parallel_nml]\nnum_io_procs=3\nnproma=16\n\n[namelist:output_nml(1)]\nfiletype=4\n"
    application = tmp_path / "rose-app.conf"
    application.write_text(right)
    assert _said("rose", "macro", "-C", tmp_path, "--validate", cwd=tmp_path)[0] == 0
    application.write_text(wrong)
    code, said = _said("rose", "macro", "-C", tmp_path, "--validate", cwd=tmp_path)
    assert code != 0
    assert "issues: 3" in said


def test_nml_tools_judges_by_it(tmp_path):
    require("nml-tools")
    assert main(["registry", "export", "--for", "nml-tools", "-o", str(tmp_path / "schemas")]) == 0
    judge = ("nml-tools", "validate", "--schema", tmp_path / "schemas" / "parallel_nml.json", "a.nml")
    namelist = tmp_path / "a.nml"
    namelist.write_text("&parallel_nml\n num_io_procs = 3\n/\n")
    assert _said(*judge, cwd=tmp_path)[0] == 0
    namelist.write_text("&parallel_nml\n num_io_procs = -3\n/\n")
    code, said = _said(*judge, cwd=tmp_path)
    assert code != 0
    assert "must be >= 0" in said
