"""nmlgen.join: files of partitions put together, with a stand-in for cdo that knows the tests' small files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from result_files import classic

from nmlgen import Build, InputError, build, join, load_spec
from nmlgen.results.file import read_file
from nmlgen.units.calendar import Calendar

SPEC = Path(__file__).parent / "rules" / "example.yaml"
SITE = SPEC.with_name("example-site.yaml")
CHANGES = """
time: {start: 2000-01-01T00:00:00Z, stop: 2000-01-01T02:00:00Z, modelTimeStep: PT10M}
restart: {checkpointTimeIntval: PT1H, restartTimeIntval: PT2H, restart_write_mode: sync, num_restart_procs: 0}
parallel: {num_io_procs: 2}
output:
  atm: {output_interval: PT20M, include_last: false, ml_varlist: [temp], FILES}
"""
MINUTE = 1 / 1440
CDO = """#!/usr/bin/env python3
import sys
from pathlib import Path
sys.path[:0] = [TESTS]
from result_files import classic
from nmlgen.results.netcdf import read_classic
from nmlgen.units.calendar import Calendar, Instant

assert sys.argv[1:4] == ["-s", "-O", "mergetime"], sys.argv
*sources, target = map(Path, sys.argv[4:])
times = sorted(time for source in sources for time in read_classic(source, Calendar.PROLEPTIC_GREGORIAN).times)
start = Calendar.PROLEPTIC_GREGORIAN.position(Instant(2000, 1, 1))
LOSE
classic(target, [(time - start) / 60000 for time in times], units="minutes since 2000-1-1 00:00:00")
"""


def built(directory: Path, files: str) -> Path:
    """A build of a run of two hours, and the run's directory."""
    path = directory / "spec.yaml"
    path.write_text("nmlgen: 1\n" + CHANGES.replace("FILES", files), encoding="utf-8")
    spec = load_spec(path, [f"extends={SPEC}", f"site={SITE}"])
    made: Build = build(spec)
    made.write(directory / "b")
    (directory / "b" / "run").mkdir()
    return directory / "b"


def write(built: Path, number: int, *minutes: int) -> None:
    path = built / "run" / "output" / f"example_atm_DOM01_ML_{number:04d}.nc"
    classic(path, [20000101 + minute * MINUTE for minute in minutes])


def minutes(path: Path) -> list[int]:
    found = read_file(path, Calendar.PROLEPTIC_GREGORIAN).times or ()
    return [(time - found[0]) // 60_000 for time in found]


@pytest.fixture
def cdo(tmp_path: Path) -> Path:
    return program(tmp_path / "cdo")


def program(path: Path, lose: str = "") -> Path:
    path.write_text(CDO.replace("TESTS", repr(str(Path(__file__).parent))).replace("LOSE", lose), encoding="utf-8")
    path.chmod(0o755)
    return path


def test_files_of_a_number_belong_together(tmp_path: Path, cdo: Path) -> None:
    """With file_interval: as many files as a run without partitions would have."""
    directory = built(tmp_path, "stream_partitions_ml: 2, file_interval: PT80M")
    write(directory, 1, 0, 40)
    write(directory, 2, 20, 60)
    write(directory, 3, 80, 120)
    write(directory, 4, 100)
    found = join(directory, cdo=str(cdo))
    assert [(one.name, one.parts, one.records, one.why_not) for one in found] == [
        ("output/joined/example_atm_DOM01_ML_0001.nc", 2, 4, ""),
        ("output/joined/example_atm_DOM01_ML_0002.nc", 2, 3, ""),
    ]
    joined = directory / "run" / "output" / "joined"
    assert minutes(joined / "example_atm_DOM01_ML_0001.nc") == [0, 20, 40, 60]
    assert sorted(path.name for path in joined.iterdir()) == [Path(one.name).name for one in found]
    assert [one.is_new for one in join(directory, cdo=str(cdo))] == [False, False]  # they are there


def test_a_record_a_file(tmp_path: Path, cdo: Path) -> None:
    directory = built(tmp_path, "stream_partitions_ml: 2, steps_per_file: 1, file_interval: null")
    for number, minute in enumerate(range(0, 121, 20), start=1):
        write(directory, number, minute)
    (one,) = join(directory, cdo=str(cdo))
    assert (one.name, one.parts, one.records) == ("output/joined/example_atm_DOM01_ML_0001.nc", 7, 7)
    assert minutes(directory / "run" / one.name) == list(range(0, 121, 20))


@pytest.mark.parametrize(
    ("number", "there", "why"),
    [
        (2, (), "ML_0002.nc: it has 0 records instead of 2"),
        (2, (20,), "ML_0002.nc: it has 1 records instead of 2"),
        (2, (20, 80), "ML_0002.nc: its records are of other times"),
    ],
)
def test_only_whole_files_are_put_together(
    number: int, there: tuple[int, ...], why: str, tmp_path: Path, cdo: Path
) -> None:
    directory = built(tmp_path, "stream_partitions_ml: 2, file_interval: PT80M")
    write(directory, 1, 0, 40)
    write(directory, number, *there)
    first, second = join(directory, cdo=str(cdo))
    assert first.why_not.endswith(why)
    assert second.why_not.endswith("ML_0003.nc: it is missing")
    assert not (directory / "run" / "output" / "joined").exists()


@pytest.mark.parametrize(
    ("lose", "why"),
    [
        ("del times[1]", "what cdo made of them is not whole: it has 3 records instead of 4"),
        (
            "sys.exit('cdo mergetime (Abort): no memory')",
            "cdo ended with exit code 1: cdo mergetime (Abort): no memory",
        ),
        ("sys.exit(10**6 * 'x')", f"cdo ended with exit code 1: ... {2000 * 'x'}"),
    ],
)
def test_what_cdo_makes_is_looked_at(lose: str, why: str, tmp_path: Path) -> None:
    directory = built(tmp_path, "stream_partitions_ml: 2, file_interval: PT80M")
    write(directory, 1, 0, 40)
    write(directory, 2, 20, 60)
    first, _ = join(directory, cdo=str(program(tmp_path / "cdo", lose)))
    assert first.why_not == why
    assert list((directory / "run" / "output" / "joined").iterdir()) == []


def test_no_partition_is_replaced(tmp_path: Path, cdo: Path) -> None:
    """Where files and partitions lie in one directory, a file may be called as one of the partitions is."""
    directory = built(tmp_path, "stream_partitions_ml: 2, file_interval: PT80M")
    write(directory, 1, 0, 40)
    write(directory, 2, 20, 60)
    output = directory / "run" / "output"
    (output / "joined").symlink_to(".")
    before = {path: path.read_bytes() for path in output.glob("*.nc")}
    first, _ = join(directory, cdo=str(cdo))
    assert first.why_not == "joined leads to the directory of the partitions, which it would replace"
    assert {path: path.read_bytes() for path in output.glob("*.nc")} == before


def test_a_link_to_itself_is_no_place_for_files(tmp_path: Path, cdo: Path) -> None:
    directory = built(tmp_path, "stream_partitions_ml: 2, file_interval: PT80M")
    write(directory, 1, 0, 40)
    write(directory, 2, 20, 60)
    (directory / "run" / "output" / "joined").symlink_to("joined")
    with pytest.raises(OSError, match="joined"):
        join(directory, cdo=str(cdo))


def test_many_files_are_put_together_in_parts(tmp_path: Path, cdo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nmlgen.joining._AT_ONCE", 3)
    directory = built(tmp_path, "stream_partitions_ml: 2, steps_per_file: 1, file_interval: null")
    for number, minute in enumerate(range(0, 121, 20), start=1):
        write(directory, number, minute)
    (one,) = join(directory, cdo=str(cdo))
    assert one.why_not == ""
    assert os.listdir(directory / "run" / "output" / "joined") == ["example_atm_DOM01_ML_0001.nc"]


def test_what_cannot_be_joined(tmp_path: Path, cdo: Path) -> None:
    directory = built(tmp_path, "stream_partitions_ml: 2, file_interval: PT80M")
    with pytest.raises(InputError, match="there is no /no/cdo, which puts files together"):
        join(directory, cdo="/no/cdo")
    (tmp_path / "alone").mkdir()
    alone = built(tmp_path / "alone", "file_interval: PT80M, stream_partitions_ml: 1")
    with pytest.raises(InputError, match="no stream has partitions"):
        join(alone, cdo=str(cdo))
