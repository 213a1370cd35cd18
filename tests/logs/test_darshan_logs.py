"""Darshan logs: genuine ones that come with the package `darshan`, and stand-ins for what those do not have."""

from __future__ import annotations

import importlib.util
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import nmlgen
from nmlgen.logs.darshan import row_of

pandas = pytest.importorskip("pandas")


class Frame:
    """Records of a module as the package hands them out."""

    def __init__(self, module: str, *files: tuple[int, int, int, int, float]) -> None:
        rank, names, read, written, seconds = zip(*files, strict=True)
        counters = {"rank": rank, "id": names, f"{module}_BYTES_READ": read, f"{module}_BYTES_WRITTEN": written}
        times = {f"{module}_F_{kind}_TIME": seconds for kind in ("READ", "WRITE", "META")}
        self.frames = [{"counters": pandas.DataFrame(counters), "fcounters": pandas.DataFrame(times)}]


def report(partial: bool = False) -> Any:
    """What `darshan.DarshanReport` is after its records have been read."""
    job = {"jobid": 272342, "nprocs": 4, "run_time": 12.5, "start_time_sec": 86400}
    return SimpleNamespace(
        metadata={"exe": "/x/icon -v", "job": job},
        modules={"POSIX": {"partial_flag": partial}, "STDIO": {"partial_flag": False}},
        records={
            "POSIX": Frame("POSIX", (-1, 1, 0, 1000, 0.5), (2, 2, 0, 3000, 1.0), (3, 2, 10, 0, 0.25)).frames,
            "STDIO": Frame("STDIO", (2, 9, 0, 96, 0.125)).frames,
        },
    )


def test_sums() -> None:
    row = row_of("run/exp.4711.darshan", report())
    assert (row.job, row.executable, row.nprocs, row.run_s) == ("4711", "/x/icon", 4, 12.5)
    assert (row.written_bytes, row.read_bytes, row.n_files, row.n_writer_ranks) == (4096, 10, 3, 1)
    assert (row.write_s, row.busiest_rank_s) == (1.875, 3.375)
    assert row.started == "1970-01-02T00:00:00+00:00"
    assert (row.partial, row.notes) == (False, ())


def test_job_of_a_foreign_name() -> None:
    assert row_of("icon_id272342-272342_5-22.darshan", report()).job == "272342"


def test_partial_records_are_marked() -> None:
    row = row_of("x.darshan", report(partial=True))
    assert row.partial
    assert "POSIX" in row.notes[0]


def genuine() -> Path:
    found = importlib.util.find_spec("darshan")
    if found is None or found.origin is None:
        pytest.skip("the package darshan is not installed")
    return Path(found.origin).parent / "examples" / "example_logs"


@pytest.fixture
def _quiet() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the libraries that the package imports
        yield


@pytest.mark.usefixtures("_quiet")
def test_genuine_log() -> None:
    directory = genuine()
    (row,) = nmlgen.read_darshan(directory / "sample-badost.darshan")
    assert (row.nprocs, row.run_s, row.n_writer_ranks) == (2048, 780.0, 2048)
    assert row.written_bytes // 2**30 == 512  # 2048 ranks, 256 MiB each
    assert not row.partial
    assert len(nmlgen.read_darshan(directory)) == len(list(directory.glob("*.darshan")))


@pytest.mark.usefixtures("_quiet")
def test_broken_log(tmp_path: Path) -> None:
    genuine()
    (tmp_path / "x.darshan").write_bytes(b"no log")
    with pytest.raises(nmlgen.InputError, match="cannot be read as a Darshan log"):
        nmlgen.read_darshan(tmp_path / "x.darshan")


def test_without_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.darshan").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "darshan", None)
    with pytest.raises(nmlgen.InputError, match=r"nmlgen\[darshan\]"):
        nmlgen.read_darshan(tmp_path)
    with pytest.raises(nmlgen.InputError, match="no such file"):
        nmlgen.read_darshan(tmp_path / "y.darshan")
