"""Files that are at hand: the sources of a spec's input files, and what lies in a run directory."""

from __future__ import annotations

from pathlib import Path

import pytest
from grid_files import write_grids
from rules.experiments import experiment_of, judge

from nmlgen.lift.namelists import MASTER_FILE, lift_master
from nmlgen.namelist.registry import load_registry
from nmlgen.rules.inputs import MissingInRunDirectory, SourceMissing

MASTER = '&master_model_nml\n model_type = 1\n model_name = "atm"\n model_namelist_filename = "NAMELIST"\n/\n'


def of_spec(text: str, tmp_path: Path) -> list[str]:
    return [finding.message for finding in judge(experiment_of(text, tmp_path), [SourceMissing])]


def of_directory(namelist: str, tmp_path: Path) -> list[str]:
    (tmp_path / MASTER_FILE).write_text(MASTER)
    (tmp_path / "NAMELIST").write_text(namelist)
    experiment, _ = lift_master(tmp_path / MASTER_FILE, load_registry("2024.10"), 4)
    return [finding.message.split('"')[1] for finding in judge(experiment, [MissingInRunDirectory])]


@pytest.mark.parametrize("name", ["there.nc", "missing.nc"])
def test_the_source_of_an_input_file_is_looked_for(name, tmp_path):
    (tmp_path / "there.nc").touch()
    expected = [] if name == "there.nc" else [f"there is no {tmp_path}/{name} on this machine"]
    assert of_spec(f"input_files: {{a.nc: {{source: {tmp_path}/{name}}}}}\n", tmp_path) == expected
    below = of_spec(f"model: {{directory: {tmp_path}}}\ninput_files: {{a.nc: {{source: {name}}}}}\n", tmp_path)
    assert [message for message in below if name in message] == expected


def test_where_the_directory_is_not_here_nothing_is_said(tmp_path):
    assert of_spec(f"input_files: {{a.nc: {{source: {tmp_path}/elsewhere/a.nc}}}}\n", tmp_path) == []
    assert of_spec("model: {directory: null}\ninput_files: {a.nc: {source: a.nc}}\n", tmp_path) == []


def test_a_directory_is_a_source(tmp_path):
    assert of_spec(f"input_files: {{a: {{source: {tmp_path}}}}}\n", tmp_path) == []


@pytest.mark.parametrize(("name", "count"), [("dict", 0), ("none", 1)])
def test_paths_out_of_the_run_directory_are_looked_for(name, count, tmp_path):
    (tmp_path / "dict").touch()
    found = of_spec(f"namelists: {{io_nml: {{output_nml_dict: {tmp_path}/{name}}}}}\n", tmp_path)
    assert len(found) == count


GRID = '&grid_nml\n dynamics_grid_filename = "iconR02B05-grid.nc"\n/\n'


@pytest.mark.parametrize(
    ("namelist", "expected"),
    [
        (GRID, []),
        (GRID + '&io_nml\n output_nml_dict = "dict"\n/\n', ["dict"]),
        (GRID + '&io_nml\n output_nml_dict = "extpar.nc"\n/\n', []),
        (GRID + '&io_nml\n output_nml_dict = "no/where/dict"\n/\n', []),  # a directory that is not there, either
        (GRID + '&io_nml\n output_nml_dict = "../dict"\n/\n', []),
        (GRID.replace('nc"', 'nc", "nest.nc"'), []),
        (GRID.replace('nc"', 'nc", "no-nest.nc"'), ["no-nest.nc"]),
        (GRID.replace("R02B05", "R02B06") + '&io_nml\n output_nml_dict = "dict"\n/\n', []),  # nothing lies here
        (GRID.replace('"icon', '"./icon') + '&io_nml\n output_nml_dict = "dict"\n/\n', []),
    ],
)
def test_what_is_not_beside_the_grid_is_missing(namelist, expected, tmp_path):
    write_grids(tmp_path)
    assert of_directory(namelist, tmp_path) == expected


def test_scripts_and_specs_say_what_they_bring(tmp_path):
    write_grids(tmp_path)
    experiment = experiment_of("namelists: {io_nml: {output_nml_dict: dict}}\n", tmp_path)
    assert judge(experiment, [MissingInRunDirectory]) == []
