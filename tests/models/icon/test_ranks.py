"""The split of MPI ranks and the placement of output files, against what ICON 2024.10 did.

Splits, refusals and the two placements with pe_placement are runs of the real model: their settings, and what its
log says.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from rules.experiments import experiment_of, with_setting, written

from nmlgen.experiment.component import Component
from nmlgen.experiment.setting import UndecidedError
from nmlgen.models.icon.ranks import (
    PlacementError,
    RankSplit,
    RestartMode,
    level_types,
    numbers_in_job,
    output_files,
    placement,
    rank_numbers,
    restart_mode,
    split,
    writes_output,
)

Build = Callable[[str], Component]

# tasks, settings of the fragment, then test, work, I/O, restart and prefetch ranks
SPLITS = [
    (1, "parallel: {num_io_procs: 2}", (0, 1, 0, 0, 0)),
    (2, "parallel: {num_io_procs: 1}", (0, 1, 1, 0, 0)),
    (2, "parallel: {num_io_procs: -1}", (0, 2, 0, 0, 0)),
    (1, "parallel: {num_io_procs: 0}\nrestart: {restart_write_mode: sync}", (0, 1, 0, 0, 0)),
    (4, 'parallel: {num_io_procs: 0}\nrestart: {restart_write_mode: "", num_restart_procs: 3}', (0, 1, 0, 3, 0)),
    (4, 'parallel: {num_io_procs: 2}\nrestart: {restart_write_mode: "", num_restart_procs: 1}', (0, 1, 2, 1, 0)),
    (2, "parallel: {num_io_procs: 0}\nrestart: {num_restart_procs: 9}", (0, 2, 0, 0, 0)),
    (2, "parallel: {num_io_procs: 0}\nrestart: {restart_write_mode: Joint Procs Multifile}", (0, 2, 0, 0, 0)),
    (
        4,
        "parallel: {num_io_procs: 0}\nrestart: {restart_write_mode: dedicated procs multifile, num_restart_procs: 2}",
        (0, 2, 0, 2, 0),
    ),
    (2, "parallel: {num_io_procs: 0, num_prefetch_proc: 1}", (0, 2, 0, 0, 0)),
    (4, "parallel: {num_io_procs: 1, p_test_run: true}", (1, 2, 1, 0, 0)),
    (5, "parallel: {num_io_procs: 0, p_test_run: true, num_test_pe: 2}", (2, 3, 0, 0, 0)),
]


@pytest.mark.parametrize(("tasks", "fragment", "expected"), SPLITS)
def test_split_is_that_of_icon(build: Build, tasks: int, fragment: str, expected: tuple[int, ...]) -> None:
    found = split(build(f"job: {{ntasks: {tasks}}}\n{fragment}"))
    assert (found.test, found.work, found.io, found.restart, found.prefetch) == expected
    assert found.total == tasks


@pytest.mark.parametrize(
    ("tasks", "fragment"),
    [
        (2, "parallel: {num_io_procs: 3}"),
        (4, "parallel: {num_io_procs: 4}"),
        (2, "parallel: {num_io_procs: 1}\nrestart: {restart_write_mode: async, num_restart_procs: 1}"),
        (2, "parallel: {num_io_procs: 1, p_test_run: true}"),
    ],
)
def test_no_work_rank_is_left_where_icon_refuses(build: Build, tasks: int, fragment: str) -> None:
    assert split(build(f"job: {{ntasks: {tasks}}}\n{fragment}")).work < 1


@pytest.mark.parametrize(
    "fragment", ["parallel: {num_io_procs: four}", "parallel: {num_io_procs: [true]}", "parallel: {num_io_procs: 1.5}"]
)
def test_split_of_wrong_types_is_undecided(build: Build, fragment: str) -> None:
    with pytest.raises(UndecidedError):
        split(build(fragment))


@pytest.mark.parametrize(
    ("mode", "procs", "expected"),
    [
        ("''", 0, RestartMode.SYNC),
        ("''", 2, RestartMode.ASYNC),
        ("sync", 0, RestartMode.SYNC),
        ("ASYNC", 1, RestartMode.ASYNC),
        ("Joint Procs Multifile", 0, RestartMode.JOINT),
        ("dedicated procs multifile", 2, RestartMode.DEDICATED),
        ("joint_procs_multifile", 0, None),
        ("parallel", 0, None),
    ],
)
def test_restart_mode_in_effect(build: Build, mode: str, procs: int, expected: RestartMode | None) -> None:
    fragment = f"restart: {{restart_write_mode: {mode}, num_restart_procs: {procs}}}"
    assert restart_mode(build(fragment)) is expected


# Three streams, two I/O ranks; explicit places for two files of the second stream only.
PARTLY_PLACED = """
job: {ntasks: 5}
parallel: {num_io_procs: 2}
output:
  atm: null
  s0: {ml_varlist: [temp, u], stream_partitions_ml: 2, pl_varlist: temp, stream_partitions_pl: 4,
    hl_varlist: temp, stream_partitions_hl: 3, il_varlist: u, stream_partitions_il: 4}
  s1: {ml_varlist: [temp, u], stream_partitions_ml: 3, pe_placement_ml: [-1, 0, -1],
    pl_varlist: temp, stream_partitions_pl: 4, pe_placement_pl: [-1, 0, -1, -1]}
  s2: {ml_varlist: [temp, u], hl_varlist: temp, pe_placement_hl: -1}
"""
# Four streams, four I/O ranks, every file placed.
FULLY_PLACED = """
job: {ntasks: 7}
parallel: {num_io_procs: 4}
output:
  atm: null
  s0: {ml_varlist: [temp, u], stream_partitions_ml: 2, pe_placement_ml: [3, 0],
    pl_varlist: temp, stream_partitions_pl: 2, pe_placement_pl: [2, 2]}
  s1: {pl_varlist: temp, stream_partitions_pl: 3, pe_placement_pl: [0, 3, 0]}
  s2: {ml_varlist: [temp, u], pe_placement_ml: 0, pl_varlist: temp, pe_placement_pl: 3,
    hl_varlist: temp, pe_placement_hl: 2, il_varlist: u, pe_placement_il: 2}
  s3: {hl_varlist: temp, stream_partitions_hl: 3, pe_placement_hl: [3, 0, 3],
    pl_varlist: temp, stream_partitions_pl: 4, pe_placement_pl: [2, 0, 1, 1]}
"""
# One stream with two level types, two partitions each, nothing placed.
ROUND_ROBIN = """
job: {ntasks: 7}
parallel: {num_io_procs: 3}
output:
  atm: null
  s0: {ml_varlist: [temp, u], stream_partitions_ml: 2, pl_varlist: temp, stream_partitions_pl: 2}
"""
PLACEMENTS = [
    (PARTLY_PLACED, [1] * 14 + [0, 1, 1, 0, 1, 1, 1, 1]),
    (FULLY_PLACED, [3, 0, 2, 2, 0, 3, 0, 0, 3, 2, 2, 2, 0, 1, 1, 3, 0, 3]),
    (ROUND_ROBIN, [0, 1, 2, 0]),
]


@pytest.mark.parametrize(("fragment", "ranks"), PLACEMENTS, ids=["partly", "fully", "round-robin"])
def test_placement_is_that_of_icon(build: Build, fragment: str, ranks: list[int]) -> None:
    assert [rank for _, rank in placement(build(fragment))] == ranks


def test_files_come_in_icons_order(build: Build) -> None:
    files = output_files(build(FULLY_PLACED))
    order = [(file.stream.label, file.level_type, file.partition) for file in files]
    assert order[:7] == [
        ("s0", "ml", 1),
        ("s0", "ml", 2),
        ("s0", "pl", 1),
        ("s0", "pl", 2),
        ("s1", "pl", 1),
        ("s1", "pl", 2),
        ("s1", "pl", 3),
    ]
    assert [level for _, level, _ in order[7:11]] == ["ml", "pl", "hl", "il"]
    assert order[11:14] == [("s3", "pl", 1), ("s3", "pl", 2), ("s3", "pl", 3)]


@pytest.mark.parametrize(
    "fragment",
    [
        "parallel: {num_io_procs: 2}\noutput: {atm: {pe_placement_ml: [3, -1, -1, -1]}}",
        "parallel: {num_io_procs: 1}\noutput: {atm: {pe_placement_ml: [1, -1, -1, -1]}}",
        "parallel: {num_io_procs: 0}\noutput: {atm: {pe_placement_ml: 1}}",
        "parallel: {num_io_procs: 1}\noutput: {atm: {pe_placement_ml: 0, stream_partitions_ml: 2}}",
    ],
)
def test_placement_that_icon_refuses(build: Build, fragment: str) -> None:
    with pytest.raises(PlacementError):
        placement(build(fragment))


def test_without_io_ranks_one_rank_writes_all(build: Build) -> None:
    component = build("parallel: {num_io_procs: 0}\noutput: {atm: {pe_placement_ml: 0, stream_partitions_ml: 1}}")
    assert [rank for _, rank in placement(component)] == [0]


def test_no_partition_means_no_file(build: Build) -> None:
    assert output_files(build("output: {atm: {stream_partitions_ml: 0}}")) == ()


@pytest.mark.parametrize(("dom", "files"), [("-1", 1), ("1", 1), ("2", 0), ("[1, -1, 2]", 1), ("[1, 2]", 1)], ids=str)
def test_domains_of_a_stream(build: Build, dom: str, files: int) -> None:
    fragment = f"output: {{atm: {{dom: {dom}, stream_partitions_ml: 1}}}}"
    assert len(output_files(build(fragment))) == files


@pytest.mark.parametrize(
    ("output", "is_written"),
    [("nml", True), ("NML", True), ("[nml, totint]", True), ("default", True), ("totint", False), ("none", False)],
)
def test_whether_streams_are_read(build: Build, output: str, is_written: bool) -> None:
    component = build(f"namelists: {{run_nml: {{output: {output}}}}}")
    assert writes_output(component) is is_written
    assert bool(output_files(component)) is is_written


def test_level_types_need_a_first_name(build: Build) -> None:
    component = build("output: {atm: {pl_varlist: ['', temp], hl_varlist: temp}}")
    assert level_types(component, component.streams[0]) == ("ml", "hl")


@pytest.mark.parametrize(
    ("namelists", "work", "radar"),
    [
        ("run_nml: {luse_radarfwo: true}, parallel_nml: {num_io_procs_radar: 3}", 9, 3),
        ("run_nml: {luse_radarfwo: [false, true]}, parallel_nml: {num_io_procs_radar: 3}", 9, 3),
        ("run_nml: {luse_radarfwo: false}, parallel_nml: {num_io_procs_radar: 3}", 12, 0),
        ("run_nml: {luse_radarfwo: true}, parallel_nml: {num_io_procs_radar: -1}", 12, 0),
    ],
)
def test_ranks_of_the_radar_are_taken_where_it_is_used(namelists: str, work: int, radar: int, build: Build) -> None:
    job = "job: {nodes: 1, ntasks_per_node: 16}\nparallel: {num_io_procs: 4, nproma: 16}"
    found = split(build(f"{job}\nnamelists: {{{namelists}}}"))
    assert (found.work, found.radar, found.total) == (work, radar, 16)


def test_numbers_of_the_ranks_of_a_job(build: Build) -> None:
    """One model has them all; several have their own."""
    assert numbers_in_job(build("")) is None
    grid = "grid: {file: g.nc, name: R2B5, num_lev: 30}, time: {modelTimeStep: PT12M}, parallel: {num_io_procs: 0}"
    text = f"models:\n  a: {{type: atmo, tasks: 3, {grid}}}\n  o: {{type: ocean, {grid}}}\n"
    experiment = build(f"job: {{nodes: 1, ntasks_per_node: 8}}\noutput: null\n{text}").experiment
    assert [numbers_in_job(component) for component in experiment.components] == [(0, 1, 2), (3, 4, 5, 6, 7)]


@pytest.mark.parametrize(
    ("ranks", "in_job", "expected"),
    [
        (RankSplit(1, 2, 2, 1, 1, 1), None, [[0], [1, 2], [3, 4], [5], [6], [7]]),
        (RankSplit(0, 2, 0, 0, 1, 0), None, [[], [0, 1], [], [], [2], []]),
        (RankSplit(0, -1, 2, 0, 0, 0), None, [[], [], [0, 1], [], [], []]),  # ICON refuses it
        (RankSplit(0, 2, 1, 0, 0, 0), (4, 6, 8), [[], [4, 6], [8], [], [], []]),
    ],
)
def test_numbers_of_the_ranks_by_what_they_do(
    ranks: RankSplit, in_job: tuple[int, ...] | None, expected: list[list[int]]
) -> None:
    assert [list(numbers) for numbers in rank_numbers(ranks, in_job).values()] == expected


@pytest.mark.parametrize("dom", [[], "x", ["x", 1], [1.5]])
def test_domains_that_are_no_numbers_are_not_known(tmp_path: Path, dom: object) -> None:
    experiment = experiment_of("nmlgen: 1\n", tmp_path)
    changed = with_setting(experiment, "output_nml", "dom", written("output_nml", "dom", dom))
    with pytest.raises(UndecidedError):
        output_files(changed.components[0])


@pytest.mark.parametrize(
    ("listed", "expected"),
    [("-1", [1, 2]), ("0", []), ("1", [1]), ("2", [2]), ("3", []), ("[1, -1, 2]", [1]), ("[0, 2]", [2])],
)
def test_domains_of_a_stream_of_two(listed, expected, tmp_path):
    text = "namelists: {grid_nml: {dynamics_grid_filename: [a.nc, b.nc]}}\n"
    text += f"output: {{atm: {{dom: {listed}, stream_partitions_ml: 1}}}}\n"
    assert [file.domain for file in output_files(experiment_of(text, tmp_path).components[0])] == expected
