"""What a job writes, taken from specs, against ICON's order of writing; and played through."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from nmlgen.advise.rates import Rates
from nmlgen.advise.simulation import simulate
from nmlgen.advise.workload import Checkpoint, EvenDates, Workload, workload_of
from nmlgen.experiment.component import Component
from nmlgen.experiment.setting import UndecidedError
from nmlgen.models.icon.clock import clock
from nmlgen.models.icon.ranks import PlacementError, RestartMode
from nmlgen.models.icon.schedule import writes
from nmlgen.models.icon.volume import checkpoint_volume, stream_volumes
from nmlgen.spec.spec import load_spec

ROOT = Path(__file__).resolve().parents[2]
CYCLONE = ROOT / "examples" / "nh_dcmip_tc_52_r2b5.yaml"
EXAMPLE = ROOT / "tests" / "rules" / "example.yaml"

TWO_STREAMS = """output:
  atm: null
  large: {ml_varlist: [u, v, w, temp, pres], output_interval: PT6H, file_interval: P1D}
  small: {ml_varlist: [pres_sfc], output_interval: PT10M, file_interval: P1D, stream_partitions_ml: 4}
  other: {ml_varlist: [temp], pl_varlist: [temp], p_levels: [50000.0], output_interval: PT1H, file_interval: P1D}
"""
RATES = Rates(output_bytes_per_s=0.5e9, output_contention=0.2, gather_bytes_per_s=0.75e9, checkpoint_bytes_per_s=0.6e9)
NEST = 'namelists: {grid_nml: {dynamics_grid_filename: ["iconR02B05-grid.nc", "nest.nc"]}}\n'


@pytest.fixture
def spec(tmp_path: Path) -> Callable[..., Component]:
    """A function that turns a fragment, laid over the run of the rules' examples, into an experiment."""

    def component(fragment: str) -> Component:
        path = tmp_path / "spec.yaml"
        path.write_text(f"nmlgen: 1\n{fragment}", encoding="utf-8")
        site = EXAMPLE.with_name("example-site.yaml")
        return load_spec(path, [f"extends={EXAMPLE}", f"site={site}"]).experiment.components[0]

    return component


def cyclone(*overrides: str) -> Component:
    return load_spec(CYCLONE, list(overrides)).experiment.components[0]


def due(workload: Workload) -> Counter[tuple[int, int]]:
    """How many files each rank gets at each step."""
    return Counter(
        (step, stream.ranks[number % len(stream.ranks)])
        for stream in workload.streams
        for number, step in enumerate(stream.steps)
    )


def scheduled(component: Component) -> Counter[tuple[int, int]]:
    time = clock(component)
    return Counter((write.time // time.step, write.rank) for write in writes(component, time))


def test_the_cyclone_of_the_measurements() -> None:
    component = cyclone()
    workload = workload_of(component)
    assert (workload.n_steps, workload.num_io_procs, len(workload.streams)) == (3600, 8, 8)
    assert [stream.ranks for stream in workload.streams] == [(rank,) for rank in range(8)]
    assert [stream.steps[:2] for stream in workload.streams[:2]] == [range(0, 96, 48), range(6, 102, 48)]
    assert due(workload) == scheduled(component)
    (volume,) = stream_volumes(component)
    assert workload.streams[0].bytes == pytest.approx(volume.step.best, rel=0.01)
    state = checkpoint_volume(component).best
    assert workload.checkpoint == Checkpoint(state, range(360, 3601, 360), RestartMode.JOINT)


def test_all_bytes_of_the_run_reach_the_ranks() -> None:
    component = cyclone("restart.restartTimeIntval=P10D")
    done = simulate(workload_of(component), step_s=0.1, rates=RATES)
    total = sum(volume.run.best for volume in stream_volumes(component))
    assert sum(rank.bytes for rank in done.io_ranks) == pytest.approx(total)


def test_fewer_io_ranks_keep_the_cyclone_waiting() -> None:
    few, enough = (
        simulate(
            workload_of(cyclone(f"parallel.num_io_procs={count}", f"output.atm.stream_partitions_ml={count}")),
            step_s=0.05,
            rates=RATES,
        )
        for count in (1, 8)
    )
    assert enough.waiting_s < 0.01 * enough.total_s
    assert few.waiting_s > 0.3 * few.total_s
    assert 10 < few.computing_s / few.stopped_s < 100  # ten checkpoints


@pytest.mark.parametrize("ranks", [1, 2, 3, 6])
def test_streams_that_share_ranks_are_due_as_icon_schedules_them(spec: Callable[[str], Component], ranks: int) -> None:
    component = spec(f"{TWO_STREAMS}parallel: {{num_io_procs: {ranks}}}\n")
    workload = workload_of(component)
    assert len(workload.streams) == 1 + 4 + 2
    assert due(workload) == scheduled(component)


def test_explicit_placement(spec: Callable[[str], Component]) -> None:
    placed = TWO_STREAMS.replace("output_interval: PT6H", "pe_placement_ml: [3], output_interval: PT6H")
    component = spec(placed)
    workload = workload_of(component)
    assert [stream.ranks[0] for stream in workload.streams] == [3, 0, 1, 2, 0, 1, 2]
    assert due(workload) == scheduled(component)
    with pytest.raises(PlacementError):
        workload_of(spec(placed.replace("[3]", "[4]")))


def test_a_large_stream_gets_a_rank_of_its_own(spec: Callable[[str], Component]) -> None:
    """On one rank the small stream waits for the large one; on two, the placement parts them."""
    streams = TWO_STREAMS.partition("  other:")[0].replace("stream_partitions_ml: 4", "stream_partitions_ml: 1")
    rates = Rates(output_bytes_per_s=0.2e9, checkpoint_bytes_per_s=3e9)
    shared, apart = (
        simulate(workload_of(spec(f"{streams}parallel: {{num_io_procs: {count}}}\n")), step_s=0.1, rates=rates)
        for count in (1, 2)
    )
    assert shared.waiting_s > 1
    assert apart.waiting_s == 0


def test_without_io_ranks_the_workers_write(spec: Callable[[str], Component]) -> None:
    for fragment in ("parallel: {num_io_procs: 0}\n", "namelists: {parallel_nml: {pio_type: 0}}\n"):
        workload = workload_of(spec(TWO_STREAMS + fragment))
        assert all(stream.ranks == () for stream in workload.streams)
        assert simulate(workload, step_s=0.1, rates=RATES).stopped_s > 0
    with pytest.raises(UndecidedError, match="pio_type"):
        workload_of(spec(TWO_STREAMS + "namelists: {parallel_nml: {pio_type: 2}}\n"))


def test_several_domains_need_to_be_told_their_size(spec: Callable[[str], Component]) -> None:
    component = spec(TWO_STREAMS + NEST + "restart: {checkpointTimeIntval: null, restartTimeIntval: null}\n")
    with pytest.raises(UndecidedError):
        workload_of(component)
    workload = workload_of(component, bytes_of=lambda file: 1e9 / file.domain)
    assert len(workload.streams) == 2 * (1 + 4 + 2)
    assert Counter(stream.bytes for stream in workload.streams) == {1e9: 7, 0.5e9: 7}
    assert due(workload) == scheduled(component)


def test_months_make_an_irregular_stream(spec: Callable[[str], Component]) -> None:
    component = spec(
        "time: {start: 2001-01-01T00:00:00Z, stop: 2001-06-01T00:00:00Z}\n"
        "restart: {restartTimeIntval: null, checkpointTimeIntval: null}\n"
        "output: {atm: {output_interval: P1M, file_interval: P1Y, stream_partitions_ml: 1}}\n"
    )
    workload = workload_of(component)
    assert workload.streams[0].steps == tuple(days * 144 for days in (0, 31, 59, 90, 120, 151))
    assert workload.checkpoint is None
    assert simulate(workload, step_s=0.001, rates=RATES).closing_s > 0


@pytest.mark.parametrize(
    ("output", "steps"),
    [
        ("output_interval: PT25M, include_last: false", [tuple(25 * number // 10 for number in range(577))]),
        ("output_interval: PT7H", [range(0, 1429, 42), (1440,)]),
        ("output_interval: P10D", [range(0, 1441, 1440)]),
        ("output_interval: P11D", [(0,), (1440,)]),
    ],
)
def test_output_times_fall_on_steps(
    spec: Callable[[str], Component], output: str, steps: list[range | tuple[int, ...]]
) -> None:
    component = spec(f"output: {{atm: {{{output}, file_interval: P1D, stream_partitions_ml: 1}}}}\n")
    workload = workload_of(component)
    assert [tuple(stream.steps) for stream in workload.streams] == [tuple(one) for one in steps]
    assert due(workload) == scheduled(component)


def test_equidistant_dates_are_looked_up_without_a_list() -> None:
    steps = EvenDates(range(0, 10**15, 25), 10)
    assert (len(steps), steps[3], steps[-1]) == (4 * 10**13, 7, 99999999999997)
    assert list(steps[2:5]) == [5, 7, 10]
    assert bisect_left(steps, 10) == 4
    assert steps.rhythm == (2, 5)


@pytest.mark.parametrize(
    ("restart", "steps"),
    [
        ("checkpointTimeIntval: P2D, restartTimeIntval: P10D", range(288, 1441, 288)),
        ("checkpointTimeIntval: P4D, restartTimeIntval: P10D", (576, 1152, 1440)),
        ("checkpointTimeIntval: P4D, restartTimeIntval: P6D", range(576, 865, 288)),  # the job ends there
        ("checkpointTimeIntval: P5D, restartTimeIntval: null", range(720, 721)),  # nobody goes on from the end
        ("checkpointTimeIntval: PT25M, restartTimeIntval: null", range(5, 1440, 5)),  # where it falls on a step
    ],
)
def test_checkpoints_fall_on_steps(
    spec: Callable[[str], Component], restart: str, steps: range | tuple[int, ...]
) -> None:
    checkpoint = workload_of(spec(f"restart: {{{restart}}}\n")).checkpoint
    assert checkpoint is not None
    assert checkpoint.steps == steps


@pytest.mark.parametrize(
    ("restart", "mode", "writers"),
    [
        ("restart_write_mode: async, num_restart_procs: 4", RestartMode.ASYNC, 1),
        ("restart_write_mode: dedicated procs multifile, num_restart_procs: 4", RestartMode.DEDICATED, 4),
        ("restart_write_mode: sync", RestartMode.SYNC, 1),
    ],
)
def test_who_writes_checkpoints(
    spec: Callable[[str], Component], restart: str, mode: RestartMode, writers: int
) -> None:
    workload = workload_of(spec(f"restart: {{{restart}}}\n"))
    assert workload.checkpoint is not None
    assert (workload.checkpoint.mode, workload.checkpoint.writers) == (mode, writers)
    done = simulate(workload, step_s=0.1, rates=RATES)
    assert (done.stopped_s > 0) == (mode is RestartMode.SYNC)
    assert sum(rank.bytes for rank in done.restart_ranks) == pytest.approx(
        20 * workload.checkpoint.bytes if done.restart_ranks else 0
    )


def test_output_none_writes_no_checkpoint_either(spec: Callable[[str], Component]) -> None:
    workload = workload_of(spec('namelists: {run_nml: {output: ["none"]}}\n'))
    assert (workload.streams, workload.checkpoint) == ((), None)
