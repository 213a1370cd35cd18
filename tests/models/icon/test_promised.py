"""Which files a run leaves, by job and by group of partitions."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from nmlgen.experiment.component import Component
from nmlgen.models.icon import promised
from nmlgen.models.icon.promised import (
    checkpoint_directories,
    checkpoint_links,
    checkpoint_patterns,
    files_of_stream,
    partition_groups,
    promised_output,
    stream_directories,
)

Build = Callable[[str], Component]
HOUR = 3_600_000
CHAIN = "time: {stop: 2008-09-03T00:00:00Z}\nrestart: {restartTimeIntval: P1D, checkpointTimeIntval: P1D}\n"


def short(name: str) -> str:
    return name.rpartition("_")[2].removesuffix(".nc")


def chain(build: Build, partitions: int, files: str) -> Component:
    stream = f"output_interval: PT12H, stream_partitions_ml: {partitions}, {files}"
    return build(f"{CHAIN}parallel: {{num_io_procs: 3}}\noutput: {{atm: {{{stream}}}}}\n")


@pytest.mark.parametrize(
    ("legs", "expected"),
    [
        (1, {"0001": ([0, 12], True), "0002": ([24], True)}),
        (2, {"0001": ([0, 12], False), "0002": ([24, 36], False), "0003": ([48], True)}),
        (None, {"0001": ([0, 12], False), "0002": ([24, 36], False), "0003": ([48], True)}),
    ],
)
def test_files_of_the_first_jobs(build: Build, legs: int | None, expected: dict[str, tuple[list[int], bool]]) -> None:
    promise = promised_output(chain(build, 1, "file_interval: P1D"), legs)
    start = promise.files[0].times[0]
    found = {short(file.name): ([(t - start) // HOUR for t in file.times], file.is_last) for file in promise.files}
    assert found == expected
    assert {short(name) for name in promise.names} == {"0001", "0002", "0003"}  # of the whole experiment
    ((beginning, pattern),) = promise.patterns
    assert pattern.fullmatch(promise.files[0].name)
    assert promise.files[0].name.startswith(beginning)
    assert beginning.count("/") == promise.files[0].name.count("/")
    one, two = promise.files[0].size, promise.files[-1].size
    assert one is not None
    assert two is not None
    assert (one.best > two.best) == (len(promise.files[-1].times) < 2)


def test_a_size_that_nobody_knows(build: Build) -> None:
    component = build("namelists: {grid_nml: {l_limited_area: true}}\n")
    assert {file.size for file in promised_output(component).files} == {None}


def test_files_of_a_stream(build: Build) -> None:
    component = chain(build, 2, "file_interval: P1D")
    names = files_of_stream(component, component.streams[0])
    assert [short(name) for name in names] == ["0001", "0003", "0005", "0002"]


def test_streams_are_asked_for_directories_and_not_their_files(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    named = "output_interval: PT12H, stream_partitions_ml: 50, ml_varlist: [u], output_filename"
    component = build(f"parallel: {{num_io_procs: 50}}\noutput: {{atm: {{{named}: a}}, rain: {{{named}: out/b}}}}\n")
    asked: list[str] = []
    is_said = promised._says_directory
    monkeypatch.setattr(promised, "_says_directory", lambda *given: asked.append("") or is_said(*given))
    assert [directory for _, directory in stream_directories(component)] == ["out"]
    assert len(asked) == 2


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("d<physdom>/<levtype_l>/x", ["d01/ml", "d01/pl", "d02/ml", "d02/pl"]),
        ("<ifile_partition>/<datetime2>/x", [f"{part}/<datetime2>" for part in (1, 2, 3, 1)] * 2),
    ],
)
def test_directories_are_told_once_of_partitions_that_share_one(
    build: Build, monkeypatch: pytest.MonkeyPatch, form: str, expected: list[str]
) -> None:
    named = "output_interval: PT12H, stream_partitions_ml: 3, ml_varlist: [u], pl_varlist: [u], p_levels: [50000.0]"
    nest = "domains: {n: {file: n.nc}}\nparallel: {num_io_procs: 3}\n"
    component = build(f'{nest}output: {{atm: {{{named}, filename_format: "{form}"}}}}\n')
    made: list[str] = []
    names = promised.Names
    monkeypatch.setattr(promised, "Names", lambda *given: made.append("") or names(*given))
    assert [directory for _, directory in stream_directories(component)] == expected
    assert len(made) == len(expected)
    made.clear()
    assert [directory for _, directory in stream_directories(component, only_first=True)] == expected[:1]
    assert len(made) == 1


@pytest.mark.parametrize(
    ("partitions", "files", "expected"),
    [
        (1, "file_interval: P1D", []),
        (2, "file_interval: P1D", [("0001", ["0001", "0002"]), ("0002", ["0003"]), ("0003", ["0005"])]),
        (2, "file_interval: null, steps_per_file: 2", [("0001", ["0001", "0002"]), ("0002", ["0003", "0005"])]),
        (2, "file_interval: null, steps_per_file: 3", [("0001", ["0001", "0002", "0003"]), ("0002", ["0005"])]),
        (2, "file_interval: null, steps_per_file: 1", [("0001", ["0001", "0002", "0003", "0005"])]),
        (2, "file_interval: null", [("0001", ["0001", "0002", "0003", "0005"])]),
    ],
)
def test_partitions_that_belong_together(
    build: Build, partitions: int, files: str, expected: list[tuple[str, list[str]]]
) -> None:
    groups = partition_groups(chain(build, partitions, files))
    assert [(short(name), [short(part) for part in parts]) for name, parts in groups] == expected


@pytest.mark.parametrize(
    ("restart", "links", "patterns"),
    [
        ("joint procs multifile", ["multifile_restart_atm.mfr"], ["multifile_restart_atm_*.mfr"]),
        (
            "sync",
            ["restart_atm_DOM01.nc", "restart_atm_DOM02.nc"],
            ["first_restart_atm_*.nc", "second_restart_atm_*.nc"],
        ),
        (
            "sync, restart_filename: '<gridfile>_<mtype>_<idom>_<rsttime>.<extension>'",
            ["restart_atm_DOM01.nc", "restart_atm_DOM02.nc"],
            ["first_atm_01_*.nc", "second_atm_02_*.nc"],
        ),
    ],
)
def test_names_of_checkpoints(build: Build, restart: str, links: list[str], patterns: list[str]) -> None:
    grids = "namelists: {grid_nml: {dynamics_grid_filename: [grids/first.nc, second]}}\n"
    component = build(f"{grids}restart: {{restart_write_mode: {restart}}}\n")
    assert list(checkpoint_links(component)) == links
    assert list(checkpoint_patterns(component)) == patterns


@pytest.mark.parametrize(
    ("restart", "expected"),
    [
        ("checkpointTimeIntval: P10D, restartTimeIntval: P20D", ("saved",)),  # as long as the experiment
        ("checkpointTimeIntval: P11D, restartTimeIntval: P20D", ()),
        ("checkpointTimeIntval: P11D, restartTimeIntval: P5D", ("saved",)),
        ("checkpointTimeIntval: null, restartTimeIntval: null", ()),
    ],
)
def test_directories_of_checkpoints(build: Build, restart: str, expected: tuple[str, ...]) -> None:
    text = f"restart: {{{restart}, restart_filename: 'saved/<gridfile>_restart_<rsttime>.nc'}}\n"
    assert checkpoint_directories(build(text)) == expected
