"""Jobs as palmrun keeps them, made into specs."""

from __future__ import annotations

from unittest import mock

import pytest

import nmlgen
from nmlgen.files import Files
from nmlgen.models.palm import palmrun
from nmlgen.source import Source
from nmlgen.spec.document import read_text

CONFIG = """\
# a machine
%base_directory      $HOME/palm
%fast_io_catalog     /scratch/ab
%project_account     bb1234
%defaultqueue        standard96
%memory              3700
%module_commands     module purge; module load gcc/13 openmpi/5.0 && module list
%execute_command     srun --propagate=STACK -n {{mpi_tasks}} -N {{nodes}} --ntasks-per-node={{tasks_per_node}}  ./palm
%execute_command     mpirun palm
BD:#!/bin/bash
BD:#SBATCH -A {{project_account}}
BD:#SBATCH -J {{run_id}}
BD:#SBATCH --time={{cpu_hours}}:{{cpu_minutes}}:{{cpu_seconds}}
BD:#SBATCH --partition={{queue}}
BD:#SBATCH --mem-per-cpu={{memory}}
BD:#SBATCH --constraint=lustre
IC:ulimit -s unlimited # for large arrays
IC:export FI_PROVIDER="psm3"
IC:export LD_LIBRARY_PATH=$LD_LIBRARY_PATH:/opt/lib
OC:cat LIST_PROFIL >> LIST_PROFILE
"""
FILES = """\
PARIN        in:tr    d3#        $base_data/$run_identifier/INPUT    _p3d*
PARIN        in:tr    d3r        $base_data/$run_identifier/INPUT    _p3dr*
PIDS_STATIC  inopt:tr d3#:d3r    $base_data/$run_identifier/INPUT    _static*
BININ        in:lnpe  d3r        $restart_data_path/$run/RESTART     _d3d
"""
NAMELIST = """\
&initialization_parameters
 nx = 39, ny = 39, nz = 40, dx = 50.0, dy = 50.0, dz = 50.0,
 initializing_actions = 'set_constant_profiles',
/
&runtime_parameters
 end_time = 20.0, data_output = 'w_xy', 'theta_xy', section_xy = 2,
/
"""


@pytest.fixture
def job(tmp_path):
    """The directory of a job, with its configuration above JOBS."""
    home = tmp_path / "JOBS" / "flow"
    (home / "INPUT").mkdir(parents=True)
    (home / "INPUT" / "flow_p3d").write_text(NAMELIST)
    for ending in ("static", "static_N02", "p3dr", "mine"):
        (home / "INPUT" / f"flow_{ending}").touch()
    (tmp_path / ".palm.config.here").write_text(CONFIG)
    (tmp_path / ".palm.iofiles").write_text(FILES)
    return home


def spec_of(imported: nmlgen.ImportedSpec) -> dict:
    return read_text(Source("spec", imported.text)).plain()


def test_what_a_configuration_says_is_in_the_spec(job, tmp_path):
    imported = nmlgen.import_spec(job, ntasks=4)
    spec = spec_of(imported)
    inputs = job / "INPUT"
    assert (spec["name"], spec["site"]) == ("flow", "generic-slurm")
    assert spec["model"] == {
        "name": "palm",
        "directory": str(tmp_path),
        "executable": "MAKE_DEPOSITORY_here/palm",
    }
    assert spec["job"] == {
        "account": "bb1234",
        "partition": "standard96",
        "mem_per_cpu": "3700M",
        "constraint": "lustre",
        "ntasks": 4,
    }
    assert spec["launch"] == {"command": "srun", "options": ["--propagate=STACK"]}
    assert spec["modules"] == ["gcc/13", "openmpi/5.0"]
    assert spec["environment"] == {"FI_PROVIDER": "psm3"}
    assert spec["shell"] == {"limits": {"stack": "unlimited"}}
    assert spec["run_directory"] == "/scratch/ab/flow"
    assert spec["input_files"] == {
        "PIDS_STATIC": {"source": f"{inputs}/flow_static"},
        "PIDS_STATIC_N02": {"source": f"{inputs}/flow_static_N02"},
    }
    assert spec["namelists"]["runtime_parameters"]["data_output"] == ["w_xy", "theta_xy"]
    assert spec["namelist_files"]["ENVPAR"]["envpar"]["host"] == "here"
    assert nmlgen.load_spec(spec).experiment.other is not None


def test_what_only_the_shell_or_an_option_says_is_told(job):
    imported = nmlgen.import_spec(job, ntasks=4)
    assert imported.remarks == (
        "palmrun's options say time: -X the tasks, -T those of a node, -t the time",
        "modules: not taken over: module list",
        "not taken over: IC:export LD_LIBRARY_PATH=$LD_LIBRARY_PATH:/opt/lib",
    )
    assert "input_files: without flow_mine, which no line of .palm.iofiles takes for a first run" in imported.notes
    assert any("nothing says how many tasks" in remark for remark in nmlgen.import_spec(job).remarks)


@pytest.mark.parametrize("number", ["\u00b2", "9" * 5000])
def test_digits_that_are_no_number_of_a_job(job, tmp_path, number):
    config = tmp_path / ".palm.config.here"
    config.write_text(f"{CONFIG}BD:#SBATCH --ntasks-per-node={number}\n")
    assert any("job.ntasks_per_node" in remark for remark in nmlgen.import_spec(job, ntasks=4).remarks)


def test_a_stack_of_more_digits_than_anybody_counts_is_told(job, tmp_path):
    line = f"ulimit -s {'1' * 5000}"
    (tmp_path / ".palm.config.here").write_text(f"IC:{line}\n")
    imported = nmlgen.import_spec(job)
    assert "limits" not in spec_of(imported).get("shell", {})
    assert f"not taken over: IC:{line}" in imported.remarks


def test_what_variables_bring_into_lines_is_bounded(job, tmp_path):
    (tmp_path / ".palm.config.here").write_text(f"%v {'a' * 30_000}\nBD:#SBATCH --comment={'{{v}}' * 20}\n")
    with pytest.raises(nmlgen.InputError, match=r"^.palm.config.here: its variables bring more than 500000 characters"):
        nmlgen.import_spec(job)


def test_each_file_is_looked_for_once_however_many_lines_of_connections_there_are(job, tmp_path):
    class Counted(str):
        def startswith(self, *prefixes):
            nonlocal count
            count += 1
            return super().startswith(*prefixes)

    count, names = 0, [Counted(f"flow_{number}") for number in range(300)]
    lines = "".join(f"X{number} in:tr d3# /x/INPUT _{number}*\n" for number in range(300))
    (tmp_path / ".palm.iofiles").write_text(lines + FILES)
    with mock.patch("nmlgen.models.palm.palmrun.disk.names", return_value=[*names, Counted("flow_p3d")]):
        found = palmrun.job_of(job, Files())
    assert len(found.keys["input_files"]) == 300
    assert count < 2000


def test_a_job_without_a_configuration_has_its_namelist(job, tmp_path):
    (tmp_path / ".palm.config.here").unlink()
    (tmp_path / ".palm.iofiles").unlink()
    imported = nmlgen.import_spec(job / "INPUT", ntasks=4)
    assert spec_of(imported)["model"] == {"name": "palm", "executable": "palm"}
    assert set(spec_of(imported)["input_files"]) == {"PIDS_STATIC", "PIDS_STATIC_N02"}
    assert "there is no .palm.config.<id>" in imported.remarks[0]


def test_the_default_one_of_several_configurations_is_taken(job, tmp_path):
    (tmp_path / ".palm.config.default").write_text("%execute_command mpirun -n {{mpi_tasks}} ./palm\nBD:#PBS -j oe\n")
    imported = nmlgen.import_spec(job, ntasks=4)
    assert spec_of(imported)["launch"] == {"command": "mpirun"}
    assert spec_of(imported)["site"] == "generic-pbs"
    assert "of several configurations .palm.config.default is taken, not .palm.config.here" in imported.notes


@pytest.mark.parametrize(
    ("name", "text", "model"),
    [
        ("namelist.input", "&time_control\n run_hours = 1,\n/\n&domains\n time_step = 60,\n/\n", "wrf"),
        ("PARIN", NAMELIST, "palm"),
        ("namelist.atmosphere", "&nhyd_model\n config_dt = 6.0\n/\n", "mpas"),
    ],
)
def test_a_namelist_by_itself_is_that_of_its_model(tmp_path, name, text, model):
    (tmp_path / "run1").mkdir()
    path = tmp_path / "run1" / name
    path.write_text(text)
    spec = spec_of(nmlgen.import_spec(path, ntasks=4))
    assert (spec["name"], spec["model"]["name"]) == ("run1", model)
    assert nmlgen.load_spec(spec).experiment.other is not None
