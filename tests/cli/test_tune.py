"""nmlgen tune."""

from __future__ import annotations

import json
import re

import pytest
from specs import TEXT
from tuning_stand_in import RANKS, StandIn, cost

import nmlgen as library

FREQUENT = TEXT.replace("output_interval: PT1H", "output_interval: PT2M")
"""The spec whose runs the stand-in knows."""


@pytest.fixture
def cluster(here, monkeypatch):
    """A stand-in where Slurm would be."""
    (here / "spec.yaml").write_text(FREQUENT)
    found = StandIn(cost)
    monkeypatch.setattr("nmlgen.tuning.tune.AsSweep", lambda directory, base: found)
    return found


def test_a_tuning(nmlgen, cluster, here):
    done = nmlgen("tune", "spec.yaml", "-o", "tuning")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    expected = re.match(r"next wave-io2-p2: (\S+ min) \(", lines[0])[1]
    assert lines[1] == f"wave-io2-p2: 77 min measured, {expected} expected; best so far wave-io2-p2, 77 min"
    assert "stopped: what the others could save is noise:" in done.out
    assert "--set output.atm.stream_partitions_ml=8 --set parallel.num_io_procs=8" in done.out
    assert lines[-1] == "written: tuning/tuned.yaml"
    runs = len(cluster.ran)
    assert runs < 7  # candidates
    tuned = library.load_spec("tuning/tuned.yaml")
    assert tuned.experiment.components[0]["parallel_nml", "num_io_procs"].value == 8
    assert tuned.experiment.name == "wave"
    again = nmlgen("tune", "spec.yaml", "-o", "tuning", "-q")
    assert again.code == 0
    assert len(cluster.ran) == runs
    assert again.out.startswith("stopped: ")


def test_the_sweep_and_what_was_set_are_not_in_tuned_yaml(nmlgen, cluster, here):
    sweep = f"sweep: {{grid: {{{RANKS}: [2, 8]}}, derive: {{output.atm.stream_partitions_ml: num_io_procs}}}}\n"
    (here / "spec.yaml").write_text(FREQUENT + sweep)
    done = nmlgen("tune", "spec.yaml", "--set", "time.stop=2008-09-02T00:00:00Z", "--noise", "0", "--quiet")
    assert done.code == 0
    text = (here / "wave-tuning" / "tuned.yaml").read_text()
    assert text.startswith("# The best of 2 runs, by nmlgen tune.\n# with --set time.stop=2008-09-02T00:00:00Z\n")
    assert "extends: ../spec.yaml" in text
    tuned = library.load_spec(here / "wave-tuning" / "tuned.yaml")
    assert tuned.tree.get("sweep") is None or tuned.tree.get("sweep").is_unset
    assert str(tuned.find("time.stop").value).startswith("2008-09-11")
    assert not library.check(tuned).errors


def test_json(nmlgen, cluster):
    done = nmlgen("tune", "spec.yaml", "--format", "json", "--runs", "2", "--budget", "100")
    assert done.code == 0
    found = json.loads(done.out)
    assert found["stop"] == "runs"
    assert [trial["name"] for trial in found["trials"]] == cluster.ran
    assert cluster.ran[0] == "wave-io2-p2"
    seconds = {"wave-io2-p2": 4617.03, "wave-io4-p4": 2954.50, "wave-io8-p8": 2874.16}
    measured = {trial["name"]: trial["measured_s"] for trial in found["trials"]}
    assert measured == pytest.approx({name: seconds[name] for name in cluster.ran}, abs=0.01)
    best = min(cluster.ran, key=seconds.__getitem__).partition("-p")[2]
    assert found["set"] == [f"output.atm.stream_partitions_ml={best}", f"parallel.num_io_procs={best}"]
    assert len(found["left"]) == 5
    assert done.err.startswith("next wave-io2-p2: ")


def test_a_dry_run(nmlgen, cluster, here):
    done = nmlgen("tune", "spec.yaml", "-n")
    assert done.code == 0
    assert "next wave-io2-p2" in done.out
    assert "not run" in done.out
    assert cluster.ran == []
    assert not (here / "wave-tuning").exists()


def test_no_run_comes_to_its_end(nmlgen, cluster):
    cluster.measure = lambda _: None
    done = nmlgen("tune", "spec.yaml")
    assert done.code == 1
    assert "failed: wave-io2-p2: exit code 3" in done.out
    assert "no run came to its end, so nothing is recommended" in done.out


def test_interrupted(nmlgen, cluster, monkeypatch):
    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cluster, "wait", interrupted)
    done = nmlgen("tune", "spec.yaml", "-o", "tuning")
    assert done.code == 130
    assert "The same command goes on tuning, `nmlgen cancel tuning` ends the jobs" in done.err
    monkeypatch.undo()


def test_points_that_cannot_be_built_are_named(nmlgen, cluster, here):
    sweep = f"sweep: {{grid: {{{RANKS}: [2, 8, 300]}}, derive: {{output.atm.stream_partitions_ml: num_io_procs}}}}\n"
    (here / "spec.yaml").write_text(FREQUENT + sweep)
    done = nmlgen("tune", "spec.yaml", "-n")
    assert done.code == 0
    assert "no candidate: wave-" in done.err


@pytest.mark.parametrize("share", ["2 per cent", "-1%", "100%", "x"])
def test_noise_that_is_no_share(nmlgen, cluster, share):
    done = nmlgen("tune", "spec.yaml", "--noise", share)
    assert done.code == 2
    assert "expected something like 2%" in done.err


def test_mistakes(nmlgen, here):
    assert nmlgen("tune", "wrong.yaml").code == 1
    assert nmlgen("tune", "missing.yaml").code == 2
