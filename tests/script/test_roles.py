"""Scripts that ask where they lie, and scripts that submit themselves."""

from __future__ import annotations

from pathlib import Path

import pytest
from rows import rows

import nmlgen
from nmlgen.files import Files
from nmlgen.lift.releases import registry_for
from nmlgen.lift.scripts import lift_script
from nmlgen.script.roles import handed_over, own_place

WHOLE = "&grid_nml\n dynamics_grid_filename = 'g.nc'\n/\n&run_nml\n num_lev = 5\n/\n&nonhydrostatic_nml\n/\n"


@rows(
    ("text", "part"),
    [
        ('$(realpath "${BASH_SOURCE[0]}")', "file"),
        ("$(readlink -f $BASH_SOURCE)", "file"),
        ('$(realpath -s "${BASH_SOURCE[0]}")', "file"),
        ("$(scontrol show job \"${SLURM_JOB_ID}\" | awk -F= '/Command=/{print $2}')", "file"),
        ("$(scontrol show job $SLURM_JOBID | grep -oP 'Command=\\K.*')", "file"),
        ('$(dirname "${BASH_SOURCE[0]}")', "directory"),
        ('$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)', "directory"),
        ('$(cd "$(dirname "${BASH_SOURCE[0]}")" >/dev/null 2>&1; pwd -P)', "directory"),
        ("$(scontrol show job $SLURM_JOB_ID | grep NumNodes)", None),
        ('$(realpath "${BASH_SOURCE[1]}")', None),
        ('$(realpath "$0")', None),
        ("$(realpath x)", None),
    ],
)
def test_the_place_of_a_script(text, part):
    expected = {"file": "/x/run/job.sh", "directory": "/x/run", None: None}
    assert own_place(text, "/x/run/job.sh") == expected[part]


def test_the_standard_input_has_no_place():
    assert own_place('$(realpath "${BASH_SOURCE[0]}")', "<stdin>") is None


def test_what_is_handed_over(tmp_path):
    script = ': "${FIRST:=true}"\n: "${OTHER:=1}"\necho $SLURM_JOB_ID\n. "${DIR}/tools.sh"\n'
    assert handed_over(script, tmp_path) == frozenset()
    (tmp_path / "tools.sh").write_text('export FIRST="false"\nexport OTHER=1\nsbatch job.sh\n')
    assert handed_over(script, tmp_path) == {"FIRST"}
    assert handed_over(script, None) == frozenset()
    assert handed_over(script.replace("SLURM_JOB_ID", "X"), tmp_path) == frozenset()


def lifted(path: Path):
    files = Files()
    return lift_script(path, registry_for(path, files.read(path).text), files=files)


SELF = """#!/bin/bash
: "${FIRST_EXECUTION:=true}"
if [ -n "${SLURM_JOB_ID:-}" ]; then
  if [ "${FIRST_EXECUTION}" == "true" ]; then
    exit 1
  fi
  SUBMITTED=true
  SCRIPT_PATH=$(scontrol show job "${SLURM_JOB_ID}" | awk -F= '/Command=/{print $2}')
else
  SUBMITTED=false
  SCRIPT_PATH=$(realpath "${BASH_SOURCE[0]}")
fi
SCRIPT_DIR=$(dirname "${SCRIPT_PATH}")
source "${SCRIPT_DIR}/namelists.sh"
source "${SCRIPT_DIR}/../common/tools.sh"
submit_first
atmo_namelist=NAMELIST_atm
write_atmosphere
srun icon
"""


def test_a_script_that_submits_itself_is_followed_in_both_roles(tmp_path):
    (tmp_path / "common").mkdir()
    (tmp_path / "case").mkdir()
    (tmp_path / "common" / "tools.sh").write_text(
        'submit_first() {\n  if [ "$SUBMITTED" == "false" ]; then\n    export FIRST_EXECUTION="false"\n'
        "    sbatch $SCRIPT_PATH\n    exit\n  fi\n}\n"
    )
    (tmp_path / "case" / "namelists.sh").write_text(
        f"write_atmosphere() {{\ncat > $atmo_namelist << EOF\n{WHOLE}EOF\n}}\n"
    )
    path = tmp_path / "case" / "job.run"
    path.write_text(SELF)
    ways = lifted(path).ways
    assert [way.experiment is not None for way in ways] == [True, False]
    assert [group.name for group in ways[0].experiment.components[0].namelist][:2] == ["grid_nml", "run_nml"]


RESTARTS = """#!/bin/bash
restart=.false.
if [ -f isRestartRun.sem ]; then
  restart=.true.
fi
cat > NAMELIST_atm << EOF
{0}EOF
cat > icon_master.namelist << EOF
&master_nml
 lrestart = $restart
/
&master_model_nml
 model_type = 1
 model_name = 'atm'
 model_namelist_filename = 'NAMELIST_atm'
/
EOF
srun icon
"""


def test_both_ways_through_a_script_and_the_first_start_before_the_restart(tmp_path):
    path = tmp_path / "job.run"
    path.write_text(RESTARTS.format(WHOLE))
    ways = lifted(path).ways
    assert [way.experiment.components[0]["master_nml", "lrestart"].value for way in ways] == [False, True]


@pytest.mark.parametrize(
    ("name", "is_known"),
    [("/etc/profile", True), ("./add_run_routines", True), ("$MODULESHOME/init/bash", True), ("./my_settings", False)],
)
def test_the_usual_files_of_a_shell_leave_variables_unset(tmp_path, name, is_known):
    path = tmp_path / "job.run"
    path.write_text(f"#!/bin/bash\n. {name}\ncat > NAMELIST_atm << EOF\n{WHOLE}EOF\nsrun icon\n")
    assert bool(lifted(path).evaluation.unresolved) is not is_known


def test_what_is_moved_into_a_directory_is_no_file_of_its_name(tmp_path):
    path = tmp_path / "job.run"
    path.write_text(f"#!/bin/bash\ncat > NAMELIST_atm << EOF\n{WHOLE}EOF\nmv NAMELIST_atm $base/run/\nsrun icon\n")
    assert [len(way.experiment.models) for way in lifted(path).ways] == [1]


def test_what_is_moved_twice_through_directories_that_nobody_knows_is_the_same_file(tmp_path):
    path = tmp_path / "job.run"
    master = RESTARTS.format(WHOLE).partition("cat > icon_master")[2]
    path.write_text(
        f"#!/bin/bash\nrestart=.false.\ncat > NAMELIST_atm << EOF\n{WHOLE}EOF\nmv NAMELIST_atm $base/run/\n"
        f"mv -f $base/run/NAMELIST_atm $EXPDIR\ncat > icon_master{master}"
    )
    (way,) = lifted(path).ways
    assert len(way.experiment.components[0].namelist) == 3


@pytest.mark.parametrize(
    ("test", "hands_on", "submits"),
    [
        ('[ -z "$ROLE" ]', "export ROLE=job tasks=2", "sbatch --export=ALL $0"),
        ('[ -z "$role" ]', "true", 'sbatch --export=ALL,role=job,tasks=2 "${BASH_SOURCE[0]}"'),
    ],
)
def test_the_namelists_of_a_file_that_only_the_job_sources_are_judged(test, hands_on, submits, tmp_path):
    (tmp_path / "namelists.sh").write_text(
        f"write() {{\ncat > NAMELIST_atm << EOF\n{WHOLE}&parallel_nml\n num_io_procs = $tasks\n bogus = 1\n/\nEOF\n}}\n"
    )
    path = tmp_path / "job.run"
    path.write_text(
        f"#!/bin/bash\nif {test}; then\n{hands_on}\n{submits}\nexit\nfi\nsource ./namelists.sh\nwrite\nsrun icon\n"
    )
    found = nmlgen.lint([path], icon_release="2024.10").findings
    assert [(one.code, one.span.text) for one in found if one.code in ("NML002", "SHL003")] == [("NML002", "bogus")]


@pytest.mark.parametrize(("before", "is_found"), [("", True), ("tasks=$1\n", False), ("tasks=4\n", False)])
def test_a_number_of_tasks_that_is_empty(before, is_found, tmp_path):
    path = tmp_path / "job.run"
    path.write_text(f"#!/bin/bash\n{before}cat > NAMELIST_atm << EOF\n{WHOLE}EOF\nsrun -n $tasks bin/icon\n")
    found = nmlgen.lint([path]).findings
    assert [one.span.text for one in found if one.code == "SHL003"] == ["$tasks"] * is_found
