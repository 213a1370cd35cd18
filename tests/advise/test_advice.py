"""Advice on experiments: which layouts are compared, which is recommended."""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import evolve
from rows import rows
from rules.experiments import judge

import nmlgen
from nmlgen import InputError, load_spec
from nmlgen.advise.busy_ranks import busy_restart_ranks
from nmlgen.advise.calibration import Family, levante
from nmlgen.advise.case import ASYNC, DEDICATED, JOINT, SYNC
from nmlgen.advise.choices import Choice
from nmlgen.advise.cost import idle_restart_cost, if_known, output_cost, restart_cost
from nmlgen.advise.experiment import situation_of
from nmlgen.advise.first_look import WORTH_SAYING
from nmlgen.advise.layout import Layout, case_with, present_layout
from nmlgen.advise.measurements import levante_runs
from nmlgen.advise.ranking import ranked
from nmlgen.experiment.setting import UndecidedError
from nmlgen.report.advice import format_advice, settings
from nmlgen.rules import all_rules
from nmlgen.units.duration import Duration

EXAMPLE = Path(__file__).parents[2] / "examples" / "nh_dcmip_tc_52_r2b5.yaml"
ONE_WRITER = ("parallel.num_io_procs=1", "output.atm.stream_partitions_ml=1", "output.atm.output_interval=PT4M")
TWO_STREAMS = "output.rain={output_interval: PT4M, ml_varlist: [temp, pres_sfc], stream_partitions_ml: 1}"


def advice(*overrides, **arguments):
    return nmlgen.advice(EXAMPLE, overrides=overrides, **arguments)


def experiment(*overrides):
    return load_spec(EXAMPLE, overrides).experiment.components[0]


def test_a_good_layout_is_kept():
    found = advice()
    assert found.is_good
    assert found.best == found.present


def test_too_few_io_ranks_cost():
    found = advice(*ONE_WRITER)
    assert not found.is_good
    assert found.best.layout.num_io_procs >= 8
    assert found.best.layout.stream_partitions == (found.best.layout.num_io_procs,)
    assert found.best.layout.restart_write_mode == JOINT  # as good as any other, so it stays
    assert found.cost > 0.5
    assert found.core_hours == pytest.approx(found.cost_s / 3600 * 256)
    assert found.present.prediction.parts["waiting for writers"] > 0.3 * found.present.seconds


def test_both_halves_are_chosen_together():
    found = advice(*ONE_WRITER, "restart.restart_write_mode=sync", "restart.checkpointTimeIntval=PT12M")
    assert found.best.layout.restart_write_mode == DEDICATED
    assert found.best.layout.num_io_procs >= 8
    modes = {candidate.layout.restart_write_mode for candidate in found.restart}
    assert modes == {SYNC, JOINT, ASYNC, DEDICATED}
    assert found.present in found.output
    assert found.best in found.output
    assert found.best in found.restart


def test_candidates_fit_the_files():
    parts = {candidate.layout.stream_partitions[0] for candidate in advice().output}
    assert parts == {1, 2, 4, 8, 15, 30}  # 16 and 32 would leave uneven files of one day


def test_few_tasks_leave_few_candidates():
    found = advice(
        "job.nodes=1", "job.ntasks_per_node=4", "parallel.num_io_procs=1", "output.atm.stream_partitions_ml=1"
    )
    assert max(candidate.layout.num_io_procs for candidate in found.output) < 4


def test_no_output():
    found = advice("output.atm=null", "parallel.num_io_procs=4")
    assert found.output == ()
    assert found.best.layout.num_io_procs == 0


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (Choice(False, (True,), False, False), {(6, (6,), JOINT, 0)}),
        (Choice(False, (False,), True, False), {(6, (8,), JOINT, 0), (6, (8,), SYNC, 0)}),
        (Choice(False, (False,), False, True), {(6, (8,), JOINT, 0)}),
    ],
)
def test_only_what_may_be_chosen_is_chosen(choice, expected):
    situation = situation_of(experiment("parallel.num_io_procs=6"))
    found = ranked(situation, present_layout(situation), choice, levante())
    layouts = {candidate.layout for candidate in found}
    assert layouts <= {Layout(*layout) for layout in expected}


def test_ranks_follow_fixed_partitions():
    situation = situation_of(experiment("output.atm.stream_partitions_ml=6", "output.atm.file_interval=null"))
    found = ranked(situation, present_layout(situation), Choice(True, (False,), False, False), levante())
    assert all(6 % max(1, candidate.layout.num_io_procs) == 0 for candidate in found)


def test_streams_share_the_ranks_by_bytes():
    found = advice(TWO_STREAMS, "parallel.num_io_procs=9")
    for candidate in found.output:
        large, small = candidate.layout.stream_partitions
        assert large >= small >= 1
    several = [c for c in found.output if c.layout.num_io_procs > 2 and c != found.present]
    assert all(sum(c.layout.stream_partitions) == c.layout.num_io_procs for c in several)


def test_a_statistic_is_not_partitioned():
    found = advice("output.atm.operation=mean", "output.atm.stream_partitions_ml=1", "parallel.num_io_procs=1")
    assert {candidate.layout.stream_partitions for candidate in found.output} == {(1,)}


def test_uneven_streams_are_played_through():
    """A rank that gets both streams is late; two ranks are not."""
    both = advice(TWO_STREAMS, "parallel.num_io_procs=1", "output.atm.stream_partitions_ml=1")
    apart = advice(TWO_STREAMS, "parallel.num_io_procs=2", "output.atm.stream_partitions_ml=1")
    assert both.present.seconds > 1.02 * apart.present.seconds


FOUR_EQUAL_STREAMS = ("output.atm=null", "parallel.num_io_procs=4", "restart.checkpointTimeIntval=P10D")


def four_streams(placement: str = "") -> list[str]:
    plain = f"{{output_interval: PT4M, file_interval: P1D, ml_varlist: [u, v, w, temp, pres]{placement}}}"
    return [*FOUR_EQUAL_STREAMS, *(f"output.{name}={plain}" for name in "abcd")]


def test_streams_on_one_rank_are_not_taken_for_spread():
    """Four streams that are all put on the first of four I/O ranks wait as on one rank."""
    spread, crowded = advice(*four_streams()), advice(*four_streams(", pe_placement_ml: [0]"))
    alone = advice(*four_streams(), "parallel.num_io_procs=1")
    assert crowded.present.seconds > 2.3 * spread.present.seconds
    assert crowded.present.seconds == pytest.approx(alone.present.seconds, rel=0.02)
    assert crowded.best.layout.is_spread
    assert crowded.best.seconds <= 1.02 * spread.best.seconds
    assert settings(crowded)["output.a.pe_placement_ml"] == "null"


@pytest.mark.parametrize(("named", "writers"), [([0], 2.0), ([0, 0, 0], 4 / 3), ([3, 2, 1, 0], 4.0)])
def test_named_ranks_of_one_stream(named, writers):
    """Partitions without a named rank go to the ranks that hold no named file, in turn."""
    overrides = ("parallel.num_io_procs=4", "output.atm.stream_partitions_ml=4", f"output.atm.pe_placement_ml={named}")
    found = situation_of(experiment(*overrides))
    assert found.case.writers == pytest.approx(writers if named != [0] else 4.0)
    assert case_with(found, present_layout(found)) == found.case


def test_layouts_whose_named_ranks_do_not_exist_are_no_candidates():
    found = advice("output.atm.pe_placement_ml=[7]")
    assert {c.layout.num_io_procs for c in found.output if not c.layout.is_spread} >= {8, 15, 30}
    assert all(c.layout.num_io_procs > 7 or c.layout.is_spread for c in found.output)


def test_scripts_and_builds_are_advised_alike(tmp_path):
    nmlgen.build(EXAMPLE).write(tmp_path)
    built = nmlgen.advice(tmp_path)
    assert built.present == advice().present
    assert built.best == advice().best


def test_what_is_missing_is_said():
    with pytest.raises(InputError, match=r"the size of the grid is not known.*expected: the name of a global grid"):
        advice("namelists.grid_nml.l_limited_area=true")
    with pytest.raises(InputError, match="num_io_procs is not known"):
        advice("parallel.num_io_procs=300")


def test_a_calibration_of_ones_own():
    assert advice(calibration=levante()).present == advice().present


def test_costs_for_the_rules():
    cost = output_cost(experiment(*ONE_WRITER))
    assert cost is not None
    assert f"costs about {100 * cost.share:.0f} % here (" in str(cost)
    assert output_cost(experiment()).is_noise
    assert restart_cost(experiment("restart.restart_write_mode=sync", "restart.checkpointTimeIntval=PT12M")).share > 1
    assert idle_restart_cost(experiment("restart.restart_write_mode=async", "restart.num_restart_procs=8")) is not None
    assert idle_restart_cost(experiment()) is None


@pytest.mark.parametrize(
    ("override", "reason"),
    [
        ("namelists.run_nml.iforcing=0", "iforcing is 0"),
        ("output.atm.filetype=2", "atm is GRIB2"),
    ],
)
def test_what_is_in_doubt_is_undecided(override, reason):
    cost = output_cost(experiment(*ONE_WRITER, override))
    assert cost.share < WORTH_SAYING < cost.most
    with pytest.raises(UndecidedError, match=f"outside of what was measured .{reason}"):
        cost.exceeds(WORTH_SAYING)


@pytest.mark.parametrize(
    "override", ["namelists.grid_nml.l_limited_area=true", "parallel.pio_type=2", "job.partition=gpu"]
)
def test_no_number_where_nothing_can_be_said(override):
    component = experiment(*ONE_WRITER, override)
    with pytest.raises(UndecidedError):
        output_cost(component)
    assert if_known(output_cost, component) is None


@pytest.mark.parametrize(
    ("override", "reason"),
    [
        ("grid.num_lev=90", "90 levels: only 30 were measured"),
        ("job.nodes=10", "64.05 cells a core: 160 to 3413.33 were measured"),
        ("job.nodes=40", "40 nodes: 1 to 16 were measured"),
        ("grid={file: iconR02B07-grid.nc, name: R2B7}", "1.31072e+06 cells: 81920 to 327680 were measured"),
        (TWO_STREAMS, "several streams: measured with one only"),
    ],
)
def test_a_range_where_the_answer_is_not_in_doubt(override, reason):
    cost = output_cost(experiment(*ONE_WRITER, override))
    assert cost.exceeds(WORTH_SAYING)
    assert cost.most > cost.share
    assert any(reason in note for note in cost.notes)
    assert "outside what was measured" in str(cost)
    assert cost.better.layout.num_io_procs > 1


@pytest.mark.parametrize("nodes", [1, 4, 10, 40])
def test_the_only_io_rank_is_found_on_any_number_of_nodes(nodes, tmp_path):
    """By check and by lint of what is built alike."""
    overrides = (*ONE_WRITER, f"job.nodes={nodes}")
    report = nmlgen.check(EXAMPLE, overrides=overrides)
    assert [finding.code for finding in report.findings] == ["OUT032"]
    nmlgen.build(EXAMPLE, overrides=overrides).write(tmp_path)
    assert [finding.code for finding in nmlgen.lint([tmp_path]).findings] == ["OUT032"]


FAMILIES = sorted({Family.of(run.case) for run in levante_runs()}, key=repr)


@rows("family", FAMILIES, ids=str)
def test_recommended_layouts_draw_no_finding(family):
    """In each family that was measured."""
    grid = {81920: "R2B5", 327680: "R2B6"}[family.n_cells]
    output = Duration.of_seconds(family.output_interval_s or 864_000)
    checkpoint = Duration.of_seconds(family.checkpoint_interval_s or 864_000)
    overrides = (
        f"grid={{file: icon{grid}-grid.nc, name: {grid}}}",
        f"job.nodes={family.nodes}",
        "job.time=08:00:00",
        f"output.atm.output_interval={output}",
        "output.atm.stream_partitions_ml=auto",
        "parallel.num_io_procs=auto",
        "restart.restart_write_mode=auto",
        "restart.num_restart_procs=auto",
        f"restart.checkpointTimeIntval={checkpoint}",
    )
    codes = [finding.code for finding in nmlgen.check(EXAMPLE, overrides=overrides).findings]
    assert [code for code in codes if code not in ("OUT007",)] == []


def _layout(case):
    """The settings of a measured run, one job for all of it; what the tables do not vary is of no account."""
    grid = {81920: "R2B5", 327680: "R2B6"}[case.n_cells]
    output = case.output_interval_s if case.outputs > 2 else 864_000
    checkpoint = case.checkpoint_interval_s if case.checkpoints else 1_000_000
    restart = (f"restart.restart_write_mode={case.restart_mode}", f"restart.num_restart_procs={case.num_restart_procs}")
    return (
        f"grid={{file: icon{grid}-grid.nc, name: {grid}}}",
        f"job.nodes={case.nodes}",
        f"output.atm.output_interval={Duration.of_seconds(output)}",
        f"output.atm.stream_partitions_ml={max(1, case.stream_partitions)}",
        f"parallel.num_io_procs={case.num_io_procs}",
        f"restart.checkpointTimeIntval={Duration.of_seconds(checkpoint)}",
        "restart.restartTimeIntval=null",
        *(restart if case.checkpoints else ()),
    )


_OF_COSTS = [rule for rule in all_rules() if rule.code in ("OUT003", "OUT004", "OUT032", "PAR004", "RST013", "RST034")]
_OF_ASYNC = [rule for rule in all_rules() if rule.code in ("RST005", "RST032")]
_SLOW = 1.2
"""A run that took so many times what the fastest of its family took is slower than days and nodes make it."""


_BESIDE = [
    (one, other)
    for one in levante_runs()
    for other in levante_runs()
    if one.case.restart_mode == other.case.restart_mode == DEDICATED
    and other.case == evolve(one.case, num_restart_procs=2 * one.case.num_restart_procs)
]
"""Measured runs with dedicated restart ranks, each with that which has twice as many."""


def _busy(run):
    return run.timers["write_restart_procs_avg_s"] / run.total_s


@rows(("run", "other"), _BESIDE, ids=lambda run: f"{run.case.nodes}-{run.case.num_restart_procs}")
def test_busy_restart_ranks_are_named(run, other):
    """All that were busy for half of the run were slower than twice as many; of those that were not nothing is said."""
    said = {finding.code for finding in judge(load_spec(EXAMPLE, _layout(run.case)).experiment, _OF_COSTS)}
    assert bool(said & {"RST013", "RST034"}) == (_busy(run) > 0.5)
    assert len(said & {"RST013", "RST034"}) <= 1
    if _busy(run) > 0.5:
        assert run.total_s > other.total_s


def test_busy_restart_ranks_are_not_recommended():
    """One rank on 16 nodes is as fast by the model: two are recommended, and it is said why."""
    (one,) = (run for run, _ in _BESIDE if run.case.nodes == 16 and run.case.num_restart_procs == 1)
    overrides = [*_layout(one.case), "parallel.num_io_procs=0"]
    advice = nmlgen.advice(EXAMPLE, overrides=overrides)
    assert advice.best.layout.num_restart_procs == 2
    assert advice.cost < 0.02
    text = format_advice(advice, "x", 120)
    assert "1 restart rank writes for 54 % of the run, and the others wait" in text
    assert "dedicated procs multifile with 2 ranks takes no longer" in text
    overrides += ["restart.num_restart_procs=2"]
    good = nmlgen.advice(EXAMPLE, overrides=overrides)
    assert good.is_good
    assert "busy for 54 %" in format_advice(good, "x", 120)


def test_busy_restart_ranks_of_which_nothing_was_measured():
    """One rank on 16 nodes is named, with what two would do; with other levels nobody knows."""
    one, other = next(pair for pair in _BESIDE if pair[0].case.nodes == 16 and pair[0].case.num_restart_procs == 1)
    assert one.total_s / other.total_s > 1.15
    found = busy_restart_ranks(load_spec(EXAMPLE, _layout(one.case)).experiment.components[0])
    assert (found.ranks, found.more) == (1, 2)
    assert found.more_share < found.share == pytest.approx(_busy(one), abs=0.1)
    assert busy_restart_ranks(load_spec(EXAMPLE, _layout(other.case)).experiment.components[0]) is None
    unknown = load_spec(EXAMPLE, (*_layout(one.case), "grid.num_lev=90")).experiment.components[0]
    assert busy_restart_ranks(unknown) is None


@pytest.mark.parametrize("family", FAMILIES, ids=str)
def test_each_row_of_the_tables_is_warned_of_or_not(family):
    """F. Ott (2025), all measured runs: a row that was slow draws a finding, the fastest none, and async always one."""
    runs = [run for run in levante_runs() if Family.of(run.case) == family]
    fastest = min(run.total_s for run in runs)
    for run in runs:
        loaded = load_spec(EXAMPLE, _layout(run.case)).experiment
        said = [finding.code for finding in judge(loaded, _OF_COSTS)]
        if run.total_s > _SLOW * fastest:
            assert said, run
        if run.total_s == fastest:
            assert not said, run
        if run.case.restart_mode == ASYNC and run.case.checkpoints:
            assert said or judge(loaded, _OF_ASYNC), run


def test_the_obsolete_mode_is_not_recommended():
    """Where a rank beside the others is better than joint writing, it is one of dedicated procs multifile."""
    idealised = ("job.nodes=8", "namelists.run_nml.iforcing=0", "restart.checkpointTimeIntval=PT6H")
    found = advice(*idealised)
    quickest = min(found.restart, key=lambda item: item.seconds)
    assert quickest.layout.restart_write_mode == ASYNC
    assert found.best.layout.restart_write_mode in (JOINT, DEDICATED)
    decided = experiment(*idealised, "restart.restart_write_mode=auto", "restart.num_restart_procs=auto")
    assert decided["io_nml", "restart_write_mode"].value in (JOINT, DEDICATED)


def test_other_sites_are_told_whose_figures_they_are():
    site = ("site=generic-slurm", "job.partition=null", "launch.options=null")
    cost = output_cost(experiment(*ONE_WRITER, *site))
    assert cost is not None
    assert "by the figures of Levante" in str(cost)
