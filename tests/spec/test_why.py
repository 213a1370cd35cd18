"""Chains: who set a value, where, and what it replaced."""

from __future__ import annotations

import pytest
from specs import MAPPING, TEXT, changed

from nmlgen import InputError, load_spec

ICON = "default of ICON 2024.10"


@pytest.fixture
def spec(tmp_path):
    path = tmp_path / "spec.yaml"
    path.write_text(TEXT.replace("generic-slurm", "levante"))
    return load_spec(path, ["job.nodes=4", "parallel_nml.nproma=8"])


def chain(spec, name):
    return [
        (origin.layer, origin.span and f"{origin.span.line}:{origin.span.column}", origin.value)
        for origin in spec.chain(name)
    ]


def test_a_key(spec):
    assert chain(spec, "job.nodes") == [("--set", "1:11", 4), ("spec", "8:31", 2)]


def test_a_directive_by_sbatchs_name(spec):
    assert chain(spec, "job.ntasks_per_node")[0] == ("spec", "8:51", 32)
    assert chain(spec, "job.ntasks_per_node") == chain(spec, "job.ntasks-per-node")
    assert chain(spec, "job.ntasks_per_node")[1][0] == "site levante"


def test_a_variable_by_each_of_its_names(spec):
    expected = [("--set", "1:21", 8), ("spec", "9:20", 16), (ICON, None, 0)]
    for name in ("parallel.nproma", "parallel_nml.nproma", "namelists.parallel_nml.nproma", "PARALLEL_NML.NPROMA"):
        found = chain(spec, name)
        assert [(layer, value) for layer, _, value in found[:2]] == [("--set", 8), ("spec", 16)], name
        assert found[-1][0] == ICON
    assert expected[1][1] == "9:20"


def test_a_section_that_stands_for_a_variable(spec):
    assert chain(spec, "time.start") == chain(spec, "master_time_control_nml.experimentStartDate")
    assert [layer for layer, _, _ in chain(spec, "time.start")][:2] == ["spec", "preset icon/jabw"]


def test_a_default(spec):
    assert chain(spec, "run_nml.ltimer") == [(ICON, None, True)]


def test_a_stream(spec):
    assert chain(spec, "output.atm.output_interval")[0] == ("spec", "13:22", "PT1H")
    assert chain(spec, "output_nml.atm.output_interval") == chain(spec, "output.atm.output_interval")


def test_what_nmlgen_filled_in_points_at_its_reason(spec):
    layer, where, value = chain(spec, "output.atm.output_filename")[0]
    assert (layer, where, value) == ("nmlgen", "12:3", "output/wave_atm")
    assert chain(spec, "output.atm.output_start")[0][0] == "nmlgen"
    assert chain(spec, "environment.OMPI_MCA_io")[0][0] == "site levante"


def test_a_whole_key_that_a_layer_took_away():
    spec = load_spec(MAPPING, ["job.account=null"])
    assert [(layer, value) for layer, _, value in chain(spec, "job.account")] == [("--set", None), ("spec", "bb1234")]


def test_a_variable_that_a_layer_took_away():
    spec = load_spec(MAPPING, ["parallel_nml.nproma=null"])
    assert [(layer, value) for layer, _, value in chain(spec, "parallel.nproma")] == [
        (ICON, 0),
        ("--set", None),
        ("spec", 16),
    ]


def test_lustre_variables_of_the_mpi_library():
    spec = load_spec(changed(site="lumi", mpi={"implementation": "intel", "version": "2021.5"}))
    ((layer, _, value),) = chain(spec, "environment.I_MPI_EXTRA_FILESYSTEM")
    assert (layer, value) == ("nmlgen", "on")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("job.node", 'nothing sets job.node; did you mean "job.nodes"?'),
        ("job.qos", "nothing sets job.qos"),
        ("job", "nothing sets job"),
        ("", "nothing sets "),
        (".", "nothing sets ."),
        ("a.b.c.d", "nothing sets a.b.c.d"),
        ("parallel_nml.npromma", 'no variable npromma in parallel_nml; did you mean "nproma"?'),
        ("namelists.no_nml.x", "no_nml"),
        ("output.atm.output_intervall", 'did you mean "output_interval"?'),
        ("output.ocean.output_interval", "there are atm"),
        ("output.atm", "named as output.<stream>.<variable>"),
        ("output", "named as output.<stream>.<variable>"),
        ("output_nml.output_interval", "named as output.<stream>.<variable>"),
        ("namelists.output_nml.x", "nothing sets"),
        ("time.strat", "nothing sets time.strat"),
        ("$(touch x)", "nothing sets"),
    ],
)
def test_names_that_stand_for_nothing(spec, name, message):
    with pytest.raises(InputError) as caught:
        spec.chain(name)
    assert message in str(caught.value)
