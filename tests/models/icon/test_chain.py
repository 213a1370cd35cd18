"""What the jobs of a chain hand on: names of checkpoints, and where ICON says how it ended."""

from __future__ import annotations

import pytest
from attrs import evolve

from nmlgen.experiment.setting import written
from nmlgen.models.icon.chain import is_coupled, name_before, restart_name, status_files, writes_checkpoints

OWN = "grid: {file: g.nc, name: R2B5, num_lev: 30}, time: {modelTimeStep: PT12M}, parallel: {num_io_procs: 0}"


def two(build, release: str = "2025.10", coupled: str = "", other: str = "ocean"):
    text = f'model: {{release: "{release}"}}\noutput: null\nmodels:\n  a: {{type: atmo, tasks: 100, {OWN}{coupled}}}\n'
    return build(f"{text}  o: {{type: {other}, {OWN}}}\n").experiment


COUPLED = ", namelists: {coupling_mode_nml: {coupled_to_ocean: true}}"


@pytest.mark.parametrize(
    ("release", "coupled", "expected"),
    [
        ("2025.10", COUPLED, ("finish_atmo.status", "finish_ocean.status")),
        ("2025.04", COUPLED, ("finish.status",)),
        ("2025.10", "", ("finish.status",)),
        ("2025.10", COUPLED.replace("true", "false"), ("finish.status",)),
    ],
)
def test_status_files(build, release, coupled, expected):
    experiment = two(build, release, coupled)
    assert status_files(experiment) == expected
    assert is_coupled(experiment) is ("true" in coupled)


def test_two_of_a_kind_have_one_status_file(build):
    assert status_files(two(build, coupled=COUPLED, other="atmo")) == ("finish_atmo.status",)


@pytest.mark.parametrize(
    ("kind", "name", "writes"),
    [
        ("ocean", "o", True),
        ("waves", "o", True),
        ("hamocc", "hamocc", True),
        ("jsbach", "jsbach", True),
        ("icon_output", "o", False),
        ("testbed", "o", False),
    ],
)
def test_names_of_checkpoints(build, kind, name, writes):
    component = two(build, other=kind).components[1]
    assert restart_name(component) == name
    assert writes_checkpoints(component) is writes


def test_names_in_the_experiment_before(build):
    experiment = two(build)
    assert [name_before(component) for component in experiment.components] == ["a", "o"]
    said = {"start_from.models.o": written("start_from.models.o", "sea", "test")}
    later = evolve(experiment, chain=said)
    assert [name_before(component) for component in later.components] == ["a", "sea"]
