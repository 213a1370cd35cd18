"""Advice on several components, nests, limited areas and the ocean."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import nmlgen
from nmlgen import InputError
from nmlgen.advise.experiment import Unlike, situation_of
from nmlgen.advise.prediction import Prediction
from nmlgen.advise.unlike import widened
from nmlgen.cli.advise import command
from nmlgen.report.advice import settings, side_by_side

EXAMPLE = Path(__file__).parents[2] / "examples" / "nh_dcmip_tc_52_r2b5.yaml"


def spec(preset, **more):
    return nmlgen.load_spec(
        {
            "nmlgen": 1,
            "name": "x",
            "extends": f"icon/{preset}",
            "site": "levante",
            "model": {"executable": "bin/icon", "release": "2024.10"},
            "job": {"account": "ab0123", "nodes": 4},
            **more,
        }
    )


def test_each_component_has_its_part_of_the_job():
    atmosphere, ocean = nmlgen.advices(spec("coupled"))
    assert (atmosphere.title, ocean.title) == ("atmo", "ocean")
    cases = [one.advice.situation.case for one in (atmosphere, ocean)]
    assert [(case.ntasks, case.nodes, case.num_lev) for case in cases] == [(502, 4, 90), (10, 1, 40)]
    assert ocean.advice.is_far  # of no ocean a run was measured
    assert all(key.startswith("models.ocean.") for key in settings(ocean.advice))


def test_one_of_several_is_named():
    with pytest.raises(InputError, match="starts atmo, ocean; expected"):
        nmlgen.advice(spec("coupled"))
    assert nmlgen.advice(spec("coupled"), component="ocean").situation.case.ntasks == 10
    with pytest.raises(InputError, match='no model "oce"; expected: atmo, ocean'):
        nmlgen.advice(spec("coupled"), component="oce")


def test_the_slowest_decides():
    assert "likely ocean" in side_by_side(nmlgen.advices(spec("coupled")))


def test_what_is_not_known_of_one_is_said_of_it():
    """The other is advised all the same."""
    models = {"ocean": {"grid": {"file": "ours.nc", "name": None}}}
    found = nmlgen.advices(spec("coupled", models=models))
    assert [one.advice is None for one in found] == [False, True]
    assert "the size of the grid is not known" in found[1].missing
    assert "not known" in side_by_side(found)
    known = nmlgen.advices(spec("coupled", models=models), n_cells=["ocean=5000"])
    assert known[1].advice.situation.case.n_cells == 5000


def test_a_nest_counts_as_often_as_it_steps():
    found = nmlgen.advice(spec("nwp_nest"), n_cells=["81920,20480"]).situation
    assert found.case.n_cells == 81920 + 2 * 20480
    nested = next(output for output in found.outputs if len(output.domains) == 1 and 2 in output.domains)
    assert nested.step_bytes > 0
    with pytest.raises(InputError, match="--n-cells"):
        nmlgen.advice(spec("limarea_clm"))


def test_what_is_written_of_each_domain_counts():
    one = situation_of(nmlgen.load_spec(EXAMPLE).experiment.components[0])
    both = nmlgen.advice(
        EXAMPLE,
        overrides=["domains.europe.file=nest.nc", "output.atm.dom=[1, 2]"],
        n_cells=["81920,81920"],
    ).situation
    assert both.outputs[0].domains == (1, 2)
    assert both.outputs[0].step_bytes == pytest.approx(2 * one.outputs[0].step_bytes, rel=1e-3)
    assert both.case.stream_partitions == 2 * one.case.stream_partitions


def test_a_limited_area():
    found = nmlgen.advice(EXAMPLE, overrides=["namelists.grid_nml.l_limited_area=true"], n_cells=["50000"])
    assert found.situation.case.n_cells == 50000
    assert any("limited area" in doubt for doubt in found.doubts)


def test_an_ocean_has_levels_of_its_own():
    found = nmlgen.advice(spec("omip"))
    assert found.situation.case.num_lev == 40
    assert found.is_far


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("5x", "numbers of cells"),
        ("0", "numbers of cells"),
        ("", "numbers of cells"),
        ("1,", "numbers of cells"),
        ("sea=5", 'no model "sea"'),
    ],
)
def test_numbers_of_cells_that_are_none(text, message):
    with pytest.raises(InputError, match=message):
        nmlgen.advice(EXAMPLE, n_cells=[text])


def test_of_several_models_the_name_is_needed():
    with pytest.raises(InputError, match="such as atmo=5"):
        nmlgen.advices(spec("coupled"), n_cells=["5"])


def prediction(**parts):
    total = sum(parts.values())
    return Prediction(total, 0.9 * total, total / 0.9, {name.replace("_", " "): value for name, value in parts.items()})


def test_what_was_never_measured_widens_the_interval():
    plain = prediction(computing=60.0, waiting_for_writers=40.0)
    assert widened(plain, ()) == plain
    one = widened(plain, [Unlike("", computing=1.5)])
    assert one.low_s < plain.low_s < plain.high_s < one.high_s
    assert not one.is_far
    assert one.total_s == plain.total_s
    more = widened(plain, [Unlike("", computing=1.5), Unlike("", writing=2.0)])
    assert more.high_s > one.high_s
    assert widened(plain, [Unlike("", computing=None)]).is_far
    assert widened(prediction(computing=99.0, checkpoints=1.0), [Unlike("", writing=4.0)]).is_far is False
    assert widened(prediction(computing=50.0, checkpoints=50.0), [Unlike("", writing=4.0)]).is_far is True


def test_the_command(tmp_path):
    path = tmp_path / "coupled.yaml"
    path.write_text(
        "nmlgen: 1\nname: x\nextends: icon/coupled\nsite: levante\njob: {account: ab0123, nodes: 4}\n"
        'model: {executable: bin/icon, release: "2024.10"}\n'
    )
    found = CliRunner().invoke(command, [str(path)], standalone_mode=False)
    assert found.exception is None
    assert "coupled.yaml, atmo: " in found.output
    assert "coupled.yaml, ocean: " in found.output
    assert "The models run side by side" in found.output
    document = json.loads(CliRunner().invoke(command, [str(path), "--format", "json"], standalone_mode=False).output)
    assert [one["component"] for one in document["components"]] == ["atmo", "ocean"]
    for question in ("memory", "streams", "nodes"):
        found = CliRunner().invoke(command, [str(path), "--ask", question], standalone_mode=False)
        assert found.exception is None
        assert "coupled.yaml, ocean\n" in found.output
