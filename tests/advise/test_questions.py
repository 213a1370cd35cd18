"""Questions about an experiment's output: memory and placement, streams, nodes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import nmlgen
from nmlgen.advise import streams
from nmlgen.advise.calibration import levante
from nmlgen.advise.formats import format_costs
from nmlgen.advise.memory import memory_of
from nmlgen.advise.nodes import node_counts
from nmlgen.advise.streams import stream_shares
from nmlgen.cli.advise import command
from nmlgen.report.advice import notes
from nmlgen.report.answers import QUESTIONS

EXAMPLE = Path(__file__).parents[2] / "examples" / "nh_dcmip_tc_52_r2b5.yaml"
FINE = (
    "grid.name=R2B9",
    "grid.file=iconR02B09-grid.nc",
    "grid.num_lev=90",
    "job.nodes=400",
    "time.modelTimeStep=PT10S",
    "output.atm.output_interval=PT1H",
    "parallel.num_io_procs=24",
    "output.atm.stream_partitions_ml=24",
)
RAIN = "output.rain={output_interval: PT4M, ml_varlist: [temp, pres_sfc], stream_partitions_ml: 1}"


def situation(*overrides):
    return nmlgen.advice(EXAMPLE, overrides=overrides).situation


def test_an_io_rank_holds_levels_not_outputs():
    """91 levels and one more of 1.5 x 20971520 edges in 8 bytes each."""
    memory = memory_of(situation(*FINE), levante())
    assert memory.rank_bytes == 92 * 1.5 * 20971520 * 8
    assert memory.rank_bytes < 0.2 * situation(*FINE).case.output_bytes
    assert (
        memory_of(situation(*FINE, "namelists.io_nml.lnetcdf_flt64_output=false"), levante()).rank_bytes
        < memory.rank_bytes
    )


def test_the_last_node_does_not_hold_them_all():
    memory = memory_of(situation(*FINE), levante())
    last, spread, own = memory.seats
    assert [memory.fits(seat) for seat in memory.seats] == [False, True, False]
    assert (last.io_ranks, spread.io_ranks, own.io_ranks) == (24, 1, 24)
    assert own.write_s < last.write_s
    assert spread.receive_s < last.receive_s
    few = memory_of(situation(*FINE, "namelists.parallel_nml.io_proc_chunk_size=10"), levante())
    assert few.rank_bytes == 11 * 1.5 * 20971520 * 8
    assert few.fits(few.present)


def test_the_advice_says_that_the_last_node_is_too_small():
    assert any("--ask memory" in note for note in notes(nmlgen.advice(EXAMPLE, overrides=FINE)))
    assert not any("--ask memory" in note for note in notes(nmlgen.advice(EXAMPLE)))


def test_of_nests_the_largest_domain_counts():
    """31 levels and one more of 1.5 x 400000 edges in 8 bytes each, though the nest steps twice as often."""
    nested = ("domains.europe.file=nest.nc", "output.atm.dom=[1, 2]")
    found = nmlgen.advice(EXAMPLE, overrides=nested, n_cells=["81920,400000"])
    assert memory_of(found.situation, levante()).rank_bytes == 32 * 1.5 * 400000 * 8


def test_without_io_ranks_there_are_no_seats():
    assert memory_of(situation("parallel.num_io_procs=0"), levante()).seats == ()


def test_a_small_frequent_stream_may_cost_most():
    found = stream_shares(situation(RAIN, "parallel.num_io_procs=9"), levante())
    assert {share.output.stream.title for share in found.shares} == {"atm", "rain"}
    assert all(share.run_bytes == share.output.step_bytes * share.output.steps for share in found.shares)
    assert found.shares[0].costs_s >= found.shares[1].costs_s
    rain = next(share for share in found.shares if share.output.stream.title == "rain")
    assert rain.writer_share is not None
    assert 0.1 < rain.writer_share < 0.6


def test_of_many_streams_those_that_write_most_are_told_of():
    """Each is played through with all others."""
    stream = "{{output_interval: PT1H, ml_varlist: [{}], output_filename: f{}}}"
    many = ", ".join(f"s{number}: " + stream.format("temp" if number else "u, v, w", number) for number in range(80))
    found = stream_shares(situation(f"output={{{many}}}"), levante())
    told = {share.output.stream.title for share in found.shares}
    assert len(told) + found.others >= 80
    assert len(told) < 40
    assert "s0" in told


def test_of_streams_that_write_very_often_fewer_are_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "_MOST_WRITTEN", 2 * 241)
    found = stream_shares(situation("output.atm.output_interval=PT1H", RAIN.replace("PT4M", "P5D")), levante())
    assert (len(found.shares), found.others) == (1, 1)
    assert found.shares[0].output.stream.title == "atm"


def test_more_nodes_pay_up_to_a_number():
    found = node_counts(situation(), levante())
    times = {count.nodes: count.prediction for count in found.counts}
    assert 2 < found.worth < 64
    assert times[2].total_s < 0.7 * times[1].total_s
    assert times[512].is_far
    assert not times[2].is_far
    assert all(count.prediction.total_s > found.floor_s for count in found.counts)


def test_of_a_grid_with_fewer_cells_than_tasks_its_own_nodes_are_told():
    found = node_counts(situation("grid.name=R01B00", "grid.cells=20"), levante())
    assert [count.nodes for count in found.counts] == [2]


def test_formats_have_their_bytes():
    """388 slices of 81920 cells: as NetCDF in 8 or 4 bytes a value, as GRIB2 in 2 and 157 for a slice."""
    found = {one.name: one for one in format_costs(situation(), levante())}
    double, single, modern, grib = found.values()
    values = 388 * 81920
    assert double.step_bytes == pytest.approx(values * 8, rel=1e-5)
    assert single.step_bytes == modern.step_bytes == pytest.approx(values * 4, rel=1e-5)
    assert grib.step_bytes == pytest.approx(values * 2 + 388 * 157, rel=1e-3)
    assert [one.is_present for one in found.values()] == [True, False, False, False]
    assert double.prediction.total_s > single.prediction.total_s > grib.prediction.total_s


def test_the_format_that_is_written_is_marked():
    found = format_costs(situation("output.atm.filetype=2"), levante())
    assert [one.is_present for one in found] == [False, False, False, True]
    now = situation("output.atm.filetype=5", "namelists.io_nml.lnetcdf_flt64_output=false")
    assert [one.is_present for one in format_costs(now, levante())] == [False, False, True, False]
    assert any("NetCDF-4" in doubt for doubt in now.doubts)
    assert format_costs(situation("output.atm=null", "parallel.num_io_procs=0"), levante()) == ()


@pytest.mark.parametrize("question", QUESTIONS)
def test_one_command_each(question):
    plain = CliRunner().invoke(command, [str(EXAMPLE), "--ask", question], standalone_mode=False)
    assert plain.exception is None
    assert len(plain.output.splitlines()) > 3
    found = CliRunner().invoke(command, [str(EXAMPLE), "--ask", question, "--format", "json"], standalone_mode=False)
    assert json.loads(found.output)


def test_far_away_no_minutes_are_told():
    for question in QUESTIONS:
        arguments = [str(EXAMPLE), "--ask", question, *(word for text in FINE for word in ("--set", text))]
        assert " min" not in CliRunner().invoke(command, arguments, standalone_mode=False).output
    arguments = [str(EXAMPLE), *(word for text in FINE for word in ("--set", text))]
    assert " min " not in CliRunner().invoke(command, arguments, standalone_mode=False).output
