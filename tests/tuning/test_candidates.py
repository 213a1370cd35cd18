"""What may be tried."""

from __future__ import annotations

import pytest
from specs import changed, load

from nmlgen import InputError, SpecError, load_spec
from nmlgen.tuning import candidates
from nmlgen.tuning.candidates import candidates_of

RANKS, PARTITIONS = "parallel.num_io_procs", "output.atm.stream_partitions_ml"


def values(spec):
    return [tuple(candidate.point.values.values()) for candidate in candidates_of(spec).candidates]


def test_powers_of_two_that_leave_a_rank_for_computing():
    """A file holds 24 steps: there can be 1, 2, 4, 8, 12 or 24 partitions."""
    found = candidates_of(load())
    assert list(found.candidates[0].point.values) == [RANKS, PARTITIONS]
    assert values(load()) == [(0, 1), (1, 1), (2, 2), (4, 4), (8, 8), (12, 12), (24, 24)]
    assert values(load(job={"nodes": 1, "ntasks_per_node": 8})) == [(0, 1), (1, 1), (2, 2), (4, 4)]
    assert [candidate.point.name for candidate in found.candidates][:2] == ["wave-io0-p1", "wave-io1-p1"]
    assert {candidate.nodes for candidate in found.candidates} == {2}
    assert {candidate.limit_s for candidate in found.candidates} == {2400}
    assert found.unseen == ()


def test_of_several_outputs_no_rank_idles():
    second = {"output_interval": "PT1H", "file_interval": "P1D", "ml_varlist": ["temp"]}
    spec = load(output={"second": second}, job={"nodes": 1, "ntasks_per_node": 8})
    assert values(spec) == [(0, 1, 1), (1, 1, 1), (2, 1, 1), (2, 2, 2), (4, 2, 2), (4, 4, 4)]


def test_of_many_outputs_fewer_layouts_are_tried(monkeypatch):
    second = {"output_interval": "PT1H", "file_interval": "P1D", "ml_varlist": ["temp"]}
    spec = load(output={"second": second}, job={"nodes": 1, "ntasks_per_node": 8})
    for most, tried, left_out in ((12, 6, 0), (11, 3, 3), (4, 2, 4), (1, 1, 5)):
        monkeypatch.setattr(candidates, "_MOST_OUTPUTS", most)
        found = candidates_of(spec)
        assert (len(found.candidates), found.left_out) == (tried, left_out)


def test_partitions_are_looked_at_once_of_what_icon_has_room_for(monkeypatch):
    """And not anew for each number of I/O ranks, of which there may be hundreds of thousands."""
    asked: list[int] = []
    monkeypatch.setattr(candidates.Output, "fits", lambda _, number: asked.append(number) or True)
    assert len(values(load(job={"nodes": 4000, "ntasks_per_node": 128}, site="generic-slurm"))) > 8
    assert max(asked) == 256
    assert len(asked) < 2 * 256


def test_what_candidates_cost_is_not_worked_out_to_find_their_errors(monkeypatch):
    monkeypatch.setattr(
        "nmlgen.models.icon.rules.output_ranks.SlowOutput.check", lambda self, component: pytest.fail("asked")
    )
    assert len(candidates_of(load()).candidates) == 7


def test_a_statistic_cannot_be_partitioned():
    spec = load(output={"atm": {"operation": "mean", "stream_partitions_ml": 1}})
    assert values(spec) == [(0,), (1,)]


def test_the_points_of_a_sweep():
    sweep = {"grid": {"parallel.nproma": [8, 16], RANKS: [2, 4, 300]}, "derive": {PARTITIONS: "num_io_procs"}}
    found = candidates_of(load(sweep=sweep))
    assert [tuple(c.point.values.values()) for c in found.candidates] == [(8, 2, 2), (8, 4, 4), (16, 2, 2), (16, 4, 4)]
    assert ["PAR005" in {finding.code for finding in findings} for _, findings in found.rejected] == [True, True]
    assert found.unseen == ("parallel.nproma",)


def test_all_keys_are_unseen_where_the_model_cannot_be_asked():
    document = changed(grid={"file": "grids/ours.nc"}, sweep={"grid": {RANKS: [2, 4]}})
    del document["grid"]["name"]
    found = candidates_of(load_spec(document))
    assert found.unseen == (RANKS,)
    assert {candidate.case for candidate in found.candidates} == {None}
    assert {candidate.nodes for candidate in found.candidates} == {2}


def test_too_much_to_choose_from():
    with pytest.raises(InputError, match="the sweep has more than 400 points, and each is weighed before every run"):
        candidates_of(load(sweep={"grid": {"parallel.nproma": list(range(4, 405))}}))


def test_nothing_to_choose_from():
    document = changed(grid={"file": "grids/ours.nc"})
    del document["grid"]["name"]
    with pytest.raises(InputError, match="is not known, so it is not clear"):
        candidates_of(load_spec(document))
    document = changed()
    document["output"] = {"atm": None}
    with pytest.raises(InputError, match="the spec writes no output"):
        candidates_of(load_spec(document))
    with pytest.raises(SpecError):
        candidates_of(load(sweep={"grid": {RANKS: [300]}}))
