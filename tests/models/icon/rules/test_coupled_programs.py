"""Programs that are started with ICON."""

from __future__ import annotations

from pathlib import Path

import pytest
from rows import rows
from rules.experiments import judge

import nmlgen
from nmlgen.models.icon.rules.coupled_programs import ProgramWithoutCoupling
from nmlgen.spec.spec import load_spec

BASE = Path(__file__).parents[3] / "rules" / "example-coupled.yaml"
PLACED = """\
nmlgen: 1
job: {ntasks_per_node: null}
models: {atm: {device: cpu, tasks: 100}, oce: {device: cpu, tasks: 50}}
"""
PROGRAMS = PLACED + "programs: {hiopy: {command: ./write-zarr, tasks: 4}, other: {command: ./other, tasks: 1}}\n"
ALONE = [
    "models.atm.namelists.coupling_mode_nml.coupled_to_ocean=false",
    "models.oce.namelists.coupling_mode_nml.coupled_to_atmo=false",
]


@pytest.mark.parametrize(
    ("text", "overrides", "lines"),
    [
        (PROGRAMS, [], []),
        (PROGRAMS, ALONE, [4, 4]),
        (PLACED, ALONE, []),
        (PROGRAMS, [*ALONE, "models.oce.namelists.coupling_mode_nml.coupled_to_output=true"], []),
        (
            PROGRAMS,
            [*ALONE, "model.release='2025.04'", "models.atm.namelists.coupling_mode_nml.coupled_to_cleo=true"],
            [],
        ),
        (PROGRAMS, [*ALONE, "models.atm.namelists.comin_nml.plugin_list=['a']"], []),
        (PROGRAMS, [*ALONE, "model.release='2024.01'"], []),  # which switches there are is not known
    ],
)
def test_programs_need_a_model_that_is_coupled(text, overrides, lines, tmp_path):
    path = tmp_path / "spec.yaml"
    path.write_text(text, encoding="utf-8")
    given = [f"extends={BASE}", f"site={BASE.with_name('example-site.yaml')}", *overrides]
    found = judge(load_spec(path, given).experiment, [ProgramWithoutCoupling])
    assert [finding.span.line for finding in found if finding.span] == lines


SCRIPT = """\
#SBATCH --ntasks=5
cat > icon_master.namelist <<EOF
&master_model_nml
 model_type = 1
 model_name = "atm"
 model_namelist_filename = "NAMELIST_atm"
/
EOF
cat > NAMELIST_atm <<EOF
&coupling_mode_nml
 coupled_to_output = {switch}
/
EOF
cat > multi.conf <<EOF
0-3 ./icon
4 {program}
EOF
{launch}
"""
LAUNCH = "srun --multi-prog multi.conf"


@rows(
    ("launch", "switch", "program", "place"),
    [
        ("srun -n 4 ./icon : -n 1 ./hiopy plan", "F", "./icon", [(19, 25)]),
        ("mpirun -np 4 ./icon : -np 1 python -m hiopy", "F", "./icon", [(19, 29)]),
        ("srun -n 4 ./icon : -n 1 /work/build_cleo/bubble3d", "F", "./icon", [(19, 25)]),
        ("srun -n 4 ./icon : -n 1 ./hiopy", "T", "./icon", []),
        ("srun -n 4 ./icon : -n 1 ./hiopy", "$(switch)", "./icon", []),  # only a run knows
        ("srun -n 4 ./icon : -n 1 ./other", "F", "./icon", []),  # it may be ICON
        ("srun -n 4 ./icon : -n 1 /work/cleo/icon", "F", "./icon", []),
        ("srun -n 4 ./icon", "F", "./icon", []),
        (LAUNCH, "F", "./hiopy.py", [(19, 19)]),
        (LAUNCH, "T", "./hiopy.py", []),
        (LAUNCH, "F", "./output", []),
    ],
)
def test_programs_that_a_script_starts_with_icon(launch, switch, program, place, tmp_path):
    path = tmp_path / "exp.run"
    path.write_text("#!/bin/bash\n" + SCRIPT.format(launch=launch, switch=switch, program=program), encoding="utf-8")
    found = nmlgen.lint([path], icon_release="2024.10", select=["CPL012"]).findings
    assert [(finding.line, finding.column) for finding in found] == place
