"""Programs that are started with ICON."""

from __future__ import annotations

from pathlib import Path

import pytest
from rules.experiments import judge

from nmlgen.rules.coupled_programs import ProgramWithoutCoupling
from nmlgen.spec.spec import load_spec

BASE = Path(__file__).with_name("example-coupled.yaml")
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
