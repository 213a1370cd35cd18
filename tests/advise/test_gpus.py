"""Advice for jobs on GPUs: what output costs, never what cores compute, and times by runs of one's own."""

from __future__ import annotations

import json
from math import log
from pathlib import Path

import pytest
from attrs import evolve
from click.testing import CliRunner

import nmlgen
from nmlgen import InputError
from nmlgen.advise import Calibration, Case, Run, calibrate, predict
from nmlgen.advise.calibration import levante
from nmlgen.advise.experiment import situation_of, situation_on_any_device
from nmlgen.advise.io_cost import io_cost
from nmlgen.advise.memory import memory_of
from nmlgen.advise.model import SLOWEST_OUTPUT, Constants, run_time
from nmlgen.advise.nodes import node_counts
from nmlgen.cli.advise import command
from nmlgen.cli.calibrate import command as calibrate_command
from nmlgen.experiment.setting import UndecidedError
from nmlgen.tuning.candidates import candidates_of

EXAMPLE = Path(__file__).parents[2] / "examples" / "aquaplanet_gpu.yaml"
CORES = EXAMPLE.with_name("nh_dcmip_tc_52_r2b5.yaml")
OFTEN = ("output.phy_3d.output_interval=PT10M", "output.phy_3d.file_interval=null")


def component(*overrides):
    return nmlgen.load_spec(EXAMPLE, overrides).experiment.components[0]


def cost(*overrides):
    (found,) = nmlgen.advices(EXAMPLE, overrides=overrides)
    assert found.advice is None
    return found.io


def case_on_gpus(gpus=16, ranks=2, **changes):
    given = {
        "n_cells": 1310720,
        "num_lev": 90,
        "nodes": gpus // 4,
        "ntasks": gpus + ranks,
        "gpus": gpus,
        "dtime_s": 60,
        "n_steps": 1440,
        "output_bytes": 2e9,
        "output_interval_s": 600,
        "num_io_procs": ranks,
        "stream_partitions": ranks,
    }
    return Case(**(given | changes))


def measured(case):
    """A GPU that takes 30 ns for a cell and level, and 12 ms for a step at least."""
    constants = levante().estimate.constants._asdict() | {"step": 0.03, "cached": 1.0, "floor": 12.0}
    return Run(case, sum(run_time(case, Constants(**constants))))


def test_no_figure_of_cores_is_taken_for_gpus():
    """What asks for run times gets none; what asks for sizes does."""
    with pytest.raises(UndecidedError, match="how long a model step takes on GPUs"):
        situation_of(component())
    assert situation_on_any_device(component()).case.gpus == 16
    with pytest.raises(InputError, match="only runs of your own say"):
        nmlgen.advice(EXAMPLE)
    assert not levante().knows_steps_of(case_on_gpus())


def test_writers_take_no_gpu():
    few, many = case_on_gpus(ranks=1), case_on_gpus(ranks=8)
    assert few.workers == many.workers == few.undivided == 16
    gpus = calibrate([measured(few)])
    assert predict(many, gpus).parts["ranks taken away"] == 0.0


def test_more_ranks_keep_up_with_shorter_steps():
    found = cost(*OFTEN)
    writing = [one for one in found.output if one.layout.num_io_procs]
    assert len(writing) > 3
    steps = [found.step_s(one.apart_s).high for one in writing]
    assert steps == sorted(steps, reverse=True)
    assert all(one.write_s.low < one.write_s.high for one in writing)
    assert all(one.apart_s.high <= found.situation.case.output_bytes / SLOWEST_OUTPUT for one in writing)
    assert found.present is not None
    assert found.present.layout.num_io_procs == 2


def test_what_an_io_rank_needs_is_that_of_cores():
    """An I/O rank alone, between nobody computing beside it and all: what the model says of a run on cores."""
    found = cost("parallel.num_io_procs=1")
    constants, size = levante().estimate.constants, found.situation.case.output_bytes / 1e9
    assert found.present.write_s.low < (constants.receive + 1 / constants.writer) * size * 1.5
    assert found.present.write_s.high > (constants.receive + 1 / constants.writer) * size


def test_checkpoints_stop_all_or_are_written_beside():
    by_mode = {(one.layout.restart_write_mode, one.layout.num_restart_procs): one for one in cost().checkpoints}
    assert by_mode["sync", 0].stops
    assert not by_mode["dedicated procs multifile", 2].stops
    ranks = [by_mode["dedicated procs multifile", count].once_s.high for count in (1, 2, 4, 8)]
    assert ranks == sorted(ranks, reverse=True)


def test_where_io_ranks_sit():
    """Beside the work ranks, one on a node in turn; or on a node of their own."""
    beside = memory_of(cost().situation, levante())
    assert [seat.place for seat in beside.seats] == ["spread", "own node"]
    assert beside.present.io_ranks == 1
    apart = memory_of(cost("model.io_nodes=1").situation, levante())
    assert [seat.place for seat in apart.seats] == ["own node", "spread"]
    assert apart.present.io_ranks == 2
    text = CliRunner().invoke(command, [str(EXAMPLE)]).output
    assert "on cores beside the work ranks, on 2 of 4 nodes, at most 1 on one, and hold no GPU" in text
    text = CliRunner().invoke(command, [str(EXAMPLE), "--set", "model.io_nodes=1"]).output
    assert "on 1 node that compute nothing (io_nodes), at most 2 on one" in text


def test_ranks_that_nobody_places_may_hold_a_gpu():
    text = CliRunner().invoke(command, [str(CORES), "--set", "job.partition=gpu"]).output
    assert "an I/O rank may hold a GPU that a work rank misses" in text
    assert "248 GPUs" in text


def test_a_part_of_a_heterogeneous_job(tmp_path):
    """Its own nodes, GPUs and memory, whatever the others of the job are."""
    spec = nmlgen.load_spec(
        {
            "nmlgen": 1,
            "name": "het",
            "extends": "icon/coupled",
            "site": "levante",
            "model": {"directory": "/work/ab0123/icon", "release": "2024.10"},
            "job": {"account": "ab0123", "partition": "compute", "nodes": 4},
            "models": {
                "atmo": {"executable": "bin/a", "device": "gpu", "job": {"partition": "gpu", "nodes": 2}},
                "ocean": {"executable": "bin/o", "device": "cpu", "tasks_per_node": 24},
            },
        }
    )
    atmosphere, ocean = nmlgen.advices(spec)
    case = atmosphere.io.situation.case
    assert (case.gpus, case.nodes, ocean.advice.situation.case.nodes) == (8, 2, 4)
    with pytest.raises(UndecidedError):
        situation_of(spec.experiment.components[0])
    sizes = [memory_of(one, levante()).node_bytes for one in (atmosphere.io.situation, ocean.advice.situation)]
    assert sizes == [512 * 2**30, 256 * 2**30]


def test_tuning_needs_no_model():
    """Without one it measures, and tries the same layouts."""
    candidates = candidates_of(nmlgen.load_spec(EXAMPLE)).candidates
    assert {candidate.point.values["parallel.num_io_procs"] for candidate in candidates} >= {0, 1, 2, 4, 8}
    assert all(candidate.case is None for candidate in candidates)


@pytest.mark.parametrize(("site", "partition", "gpus"), [("levante", "gpu", 16), ("lumi", "standard-g", 32)])
def test_sites(site, partition, gpus):
    overrides = [f"site={site}", f"job.partition={partition}"]
    found = cost(*overrides)
    assert found.situation.case.gpus == gpus
    options = [option for override in overrides for option in ("--set", override)]
    answered = CliRunner().invoke(command, [str(EXAMPLE), *options])
    assert answered.exit_code == 0
    assert f"{gpus} GPUs on 4 nodes, 2 ranks beside" in answered.output
    assert ("has no calibration" in answered.output) == (site == "lumi")


def test_figures_of_another_site_leave_more_room():
    own = io_cost(cost().situation, levante()).present.write_s
    other = io_cost(evolve(cost().situation, site="lumi"), levante()).present.write_s
    assert other.high / other.low > own.high / own.low


def test_models_on_gpus_and_on_cores():
    spec = nmlgen.load_spec(
        {
            "nmlgen": 1,
            "name": "two",
            "extends": "icon/coupled",
            "site": "levante",
            "model": {"directory": "/work/ab0123/icon", "release": "2024.10"},
            "job": {"account": "ab0123", "partition": "gpu", "nodes": 4},
            "models": {
                "atmo": {"executable": "bin/icon-gpu", "device": "gpu"},
                "ocean": {"executable": "bin/icon-cpu", "device": "cpu", "tasks_per_node": 24},
            },
        }
    )
    atmosphere, ocean = nmlgen.advices(spec)
    assert atmosphere.io.situation.case.gpus == 16
    assert atmosphere.advice is None
    assert ocean.advice.situation.case.gpus is None
    assert ocean.advice.situation.case.nodes == 4
    assert ocean.advice.is_far  # neither an ocean was measured nor anything beside GPUs
    assert any("beside GPUs" in doubt for doubt in ocean.advice.doubts)


def test_runs_of_ones_own_say_the_rest():
    """Three numbers of GPUs tell what a step takes with others."""
    known = calibrate([measured(case_on_gpus(gpus)) for gpus in (8, 16, 32)], name="gpus")
    assert known.on_gpus
    for gpus in (8, 16, 64):
        truth = measured(case_on_gpus(gpus)).total_s
        assert abs(log(predict(case_on_gpus(gpus), known).total_s / truth)) < 0.15
    situation = cost().situation
    found = nmlgen.advice(EXAMPLE, calibration=known)
    assert found.situation.case == situation.case
    assert node_counts(situation, known).counts[-1].nodes > 4
    text = nmlgen.advise.Calibration.dump(known)
    assert '"computed_on": "gpus"' in text


def test_a_calibration_is_of_either_kind(tmp_path):
    run = measured(case_on_gpus())
    on_cores = Run(evolve(run.case, gpus=None), run.total_s)
    with pytest.raises(ValueError, match="some of the runs computed on GPUs and some on cores"):
        calibrate([run, on_cores])
    with pytest.raises(ValueError, match="the runs computed on GPUs, and what is known before is of cores"):
        calibrate([run], levante())
    path = tmp_path / "gpus.yaml"
    path.write_text(calibrate([run], name="gpus").dump(), encoding="utf-8")
    known = Calibration.load(path)
    assert known.on_gpus
    assert known.knows_steps_of(run.case)
    with pytest.raises(InputError, match="computes on cores, and calibration gpus knows GPUs only"):
        nmlgen.advice(CORES, calibration=known)
    path.write_text(path.read_text(encoding="utf-8").replace('"gpus",\n  "sources"', '"abaci",\n  "sources"'))
    path.write_text(path.read_text(encoding="utf-8").replace('"computed_on": "gpus"', '"computed_on": "abaci"'))
    with pytest.raises(InputError, match="'abaci' is not known; expected cores or gpus"):
        Calibration.load(path)


@pytest.mark.parametrize("question", ["memory", "streams", "nodes", "formats"])
def test_questions(question):
    text = CliRunner().invoke(command, [str(EXAMPLE), "--ask", question])
    assert text.exit_code == 0
    assert ("only runs of your own say" in text.output) == (question != "memory")
    document = json.loads(CliRunner().invoke(command, [str(EXAMPLE), "--ask", question, "--format", "json"]).output)
    assert ("missing" in document) == (question != "memory")
    assert "total_s" not in json.dumps(document)


def test_json_and_picture(tmp_path):
    document = json.loads(CliRunner().invoke(command, [str(EXAMPLE), "--format", "json"]).output)
    assert document["step_s"] is None
    assert document["gpus"] == 16
    assert [one["is_present"] for one in document["output_candidates"]].count(True) == 1
    with pytest.raises(InputError, match="--plot draws run times"):
        command.main([str(EXAMPLE), "--plot", str(tmp_path / "a.svg")], standalone_mode=False)


def test_what_no_run_wrote_was_not_measured():
    """A calibration by runs without checkpoints says so of a case with them."""
    known = calibrate([measured(case_on_gpus())])
    asked = case_on_gpus(checkpoint_bytes=1e9, checkpoint_interval_s=43200, restart_write_mode="joint")
    assert "1 GB a checkpoint: none were measured" in predict(asked, known).notes


def test_from_a_log_to_advice(tmp_path):
    """As a user does it: build, run, calibrate from the log beside the build, ask again."""
    build = nmlgen.build(EXAMPLE)
    build.write(tmp_path / "run")
    log = (EXAMPLE.parent / "logs" / "LOG.two_io_ranks.run").read_text(encoding="utf-8")
    log = log.replace("128 mpi processes", "18 mpi processes").replace("work: 126, I/O: 2", "work: 16, I/O: 2")
    (tmp_path / "run" / "LOG.run").write_text(log.replace("this grid:    126", "this grid:    16"), encoding="utf-8")
    figures = tmp_path / "gpu.yaml"
    done = CliRunner().invoke(calibrate_command, [str(tmp_path / "run" / "LOG.run"), "-o", str(figures)])
    assert done.exit_code == 0, done.output
    assert "predicted before" not in done.output  # nothing was
    assert "1 min 31 s computed (its streams have different intervals)" in done.output  # 100 s but 7 and 2 for writing
    assert Calibration.load(figures).on_gpus
    answered = CliRunner().invoke(command, [str(EXAMPLE), "--calibration", str(figures)])
    assert answered.exit_code == 0
    assert "compute time between model steps" in answered.output
    assert "only runs of your own" not in answered.output


def test_auto_is_refused_in_words():
    with pytest.raises(nmlgen.SpecError) as caught:
        nmlgen.load_spec(EXAMPLE, ["parallel.num_io_procs=auto"]).experiment  # noqa: B018 (it is made when it is asked for)
    (finding,) = caught.value.findings
    assert finding.message == "num_io_procs is auto, and how long a model step takes on GPUs is not known"
    assert finding.notes == ("expected: a value in the place of auto",)
