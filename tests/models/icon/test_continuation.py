"""Whether an experiment can go on beyond its end, and what of a build does not change with the end."""

from __future__ import annotations

import json

import pytest
from attrs import evolve
from specs import MAPPING

import nmlgen
from nmlgen.experiment.group import Group
from nmlgen.experiment.setting import unknown
from nmlgen.models.icon.continuation import can_go_on


@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        ([], True),
        (["restart.restartTimeIntval=P5D"], True),
        (["restart.restartTimeIntval=P1M"], False),  # a longer experiment has no end of a job there
        (["restart.restartTimeIntval=P6D"], False),
        (["time.stop=2008-10-01T00:00:00Z", "restart.restartTimeIntval=P1M"], True),
        (["restart.restartTimeIntval=null"], False),
        (["output.atm.stream_partitions_ml=1"], True),
        (["output.atm.stream_partitions_ml=1", "output.atm.output_interval=PT7H"], False),  # include_last
        (
            ["output.atm.stream_partitions_ml=1", "output.atm.output_interval=PT7H", "output.atm.include_last=false"],
            True,
        ),
    ],
)
def test_can_go_on(overrides, expected):
    assert can_go_on(nmlgen.load_spec(MAPPING, overrides).experiment) is expected


def test_where_nobody_knows_the_end_it_cannot_go_on():
    experiment = nmlgen.load_spec(MAPPING).experiment

    def unsure(group: Group) -> Group:
        if group.name != "run_nml":
            return group
        return evolve(group, settings={**group.settings, "nsteps": unknown("run_nml.nsteps")})

    assert can_go_on(experiment)
    assert not can_go_on(experiment.mapped(unsure))


def manifest(*overrides: str) -> dict[str, object]:
    build = nmlgen.build(nmlgen.load_spec(MAPPING, ["output.atm.stream_partitions_ml=1", *overrides]))
    known = json.loads(build.files["nmlgen-manifest.json"])
    return {key: known[key] for key in ("until", "but_for_the_end", "can_go_on")}


def test_what_does_not_change_with_the_end():
    now, later = manifest(), manifest("time.stop=2008-09-21T00:00:00Z")
    assert (now["until"], later["until"]) == ("20080911T000000Z", "20080921T000000Z")
    assert now["but_for_the_end"] == later["but_for_the_end"]
    others = ("parallel.nproma=8", "time.start=2008-09-02T00:00:00Z", "output.atm.output_interval=PT2H")
    for other in others:
        assert manifest(other)["but_for_the_end"] != now["but_for_the_end"]
