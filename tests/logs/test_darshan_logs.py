"""Darshan logs: genuine ones that come with the package `darshan`, and stand-ins for what those do not have."""

from __future__ import annotations

import importlib.util
import signal
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import nmlgen
import nmlgen.logs.darshan as darshan_logs
from nmlgen.logs.darshan import DarshanLog, DarshanWriter, OpenLog, scan_darshan
from nmlgen.report.logs import format_writers

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "darshan_logs.py"
COUNTERS = {
    "POSIX": ("BYTES_READ", "BYTES_WRITTEN", "WRITES", "SIZE_WRITE_1K_10K", "SIZE_WRITE_1M_4M"),
    "STDIO": ("BYTES_READ", "BYTES_WRITTEN", "WRITES"),
}
TIMES = {
    "POSIX": ("READ_TIME", "WRITE_TIME", "META_TIME", "MAX_WRITE_TIME"),
    "STDIO": ("READ_TIME", "WRITE_TIME", "META_TIME"),
}


def file(rank: int, name: int, read: int, written: int, seconds: float, sizes: tuple[int, int] = (0, 0)) -> Any:
    """A record of a file, as the package hands it out."""
    counters = (read, written, sum(sizes), *sizes)
    times = (seconds, seconds, seconds, seconds / 2)
    return SimpleNamespace(base_rec=SimpleNamespace(rank=rank, id=name), counters=counters, fcounters=times)


def heat(rank: int, *bins: int, of: int = 16592106915301738621) -> Any:
    """A record of a heat map: what a process wrote in each interval of half a second."""
    return SimpleNamespace(
        base_rec=SimpleNamespace(rank=rank, id=of), bin_width_seconds=0.5, nbins=len(bins), write_bins=bins
    )


class Backend:
    """What of the package's backend is asked: modules and their records, one by one."""

    def __init__(self, partial: bool, **modules: list[Any]) -> None:
        self._left = [list(records) for records in modules.values()]
        self.modules = {
            name.upper(): {"len": 100 * len(records), "idx": number, "partial_flag": partial and not number}
            for number, (name, records) in enumerate(modules.items())
        }
        self.ffi = SimpleNamespace(new=lambda kind: [None], cast=lambda kind, record: record, NULL=None)
        self.libdutil = SimpleNamespace(darshan_log_get_record=self.next, darshan_free=lambda record: None)

    def next(self, handle: None, number: int, buffer: list[Any]) -> int:
        if not self._left[number]:
            return 0
        buffer[0] = self._left[number].pop(0)
        return 1

    def log_get_modules(self, log: Any) -> dict[str, dict[str, Any]]:
        return self.modules

    def log_get_job(self, log: Any) -> dict[str, Any]:
        return {"jobid": 272342, "nprocs": 4, "run_time": 12.5, "start_time_sec": 86400}

    def log_get_exe(self, log: Any) -> str:
        return "/x/icon -v"

    def counter_names(self, module: str) -> list[str]:
        return [f"{module}_{name}" for name in COUNTERS[module]]

    def fcounter_names(self, module: str) -> list[str]:
        return [f"{module}_F_{name}" for name in TIMES[module]]


def log(partial: bool = False) -> OpenLog:
    posix = [file(-1, 1, 0, 1000, 0.5, (3, 0)), file(2, 2, 0, 3000, 1.0, (1, 4)), file(3, 2, 10, 0, 0.25)]
    return OpenLog(Backend(partial, posix=posix, stdio=[file(2, 9, 0, 96, 0.125)]), {"handle": None})


def row_of(name: str, found: OpenLog) -> DarshanLog:
    return found.row(name, lambda share: None)


def test_sums() -> None:
    row = row_of("run/exp.4711.darshan", log())
    assert (row.job, row.executable, row.nprocs, row.run_s) == ("4711", "/x/icon", 4, 12.5)
    assert (row.written_bytes, row.read_bytes, row.n_files, row.n_writer_ranks) == (4096, 10, 3, 1)
    assert (row.write_s, row.busiest_rank_s) == (1.875, 3.375)
    assert (row.n_writes, row.small_writes, row.large_writes) == (8, 4, 4)
    assert (row.longest_write_s, row.longest_write_rank) == (0.5, 2)
    assert row.started == "1970-01-02T00:00:00+00:00"
    assert (row.partial, row.notes) == (False, ())


def test_progress_comes_to_the_end() -> None:
    shares: list[float] = []
    records = [file(0, number, 0, 1, 0.1) for number in range(10_000)]
    found = OpenLog(Backend(False, posix=records, stdio=[]), {"handle": None})
    assert found.row("x", shares.append).n_files == 10_000
    assert shares == sorted(shares)
    assert len(shares) > 2
    assert shares[-1] == 1.0


def test_writers() -> None:
    stdio, mpiio = 3989511027826779520, 3668870418325792824
    records = [
        heat(7, 0, 5, 0, 5, 0, 0),
        heat(3, 0, 0, 0, 0, 0, 0),
        heat(7, 1, 0, 0, 0, 0, 0, of=stdio),
        heat(7, 9, 9, 9, 9, 9, 9, of=mpiio),  # the same bytes again
        heat(2, 0, 0, 8, 0, 0, 0),
    ]
    backend = Backend(False, heatmap=records)
    backend.log_get_job = lambda log: {"run_time": 2.4}  # type: ignore[method-assign]
    second, first = (found := list(OpenLog(backend, {"handle": None}).writers("x")))[::-1]
    assert [row.rank for row in found] == [2, 7]
    assert (second.written_bytes, second.bytes_by_interval) == (11, (1, 5, 0, 5, 0))
    assert (second.first_write_s, second.last_write_s, second.interval_s) == (0.0, 2.0, 0.5)
    assert second.idle_share == pytest.approx(0.4)
    assert (first.first_write_s, first.idle_share) == (1.0, pytest.approx(0.8))


def test_picture_of_writers() -> None:
    rows = [
        DarshanWriter(
            log="a.darshan",
            rank=7,
            written_bytes=11_000_000,
            idle_share=0.4,
            interval_s=0.5,
            bytes_by_interval=(1, 8, 0, 4),
        ),
        DarshanWriter(
            log="b.darshan", rank=1, written_bytes=1, idle_share=0.0, interval_s=0.5, bytes_by_interval=(1,) * 300
        ),
    ]
    text = format_writers(rows, False, False)
    assert "7     ▂█·▅                   11.0  40 %" in text
    assert "0 TO 2.0 S OF THE JOB" in text
    assert "█" * 60 in text
    assert format_writers([], False, False).startswith("no process wrote")


def test_job_of_a_foreign_name() -> None:
    assert row_of("icon_id272342-272342_5-22.darshan", log()).job == "272342"


def test_partial_records_are_marked() -> None:
    row = row_of("x.darshan", log(partial=True))
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


def test_a_log_that_ends_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """libdarshan aborts at some logs that are broken, with the process that it is in."""
    (tmp_path / "x.darshan").write_bytes(b"")
    monkeypatch.setattr(darshan_logs, "_library", lambda _: None)
    monkeypatch.setattr(darshan_logs, "_opened", lambda _: signal.raise_signal(signal.SIGKILL))
    with pytest.raises(nmlgen.InputError, match="the library for it has crashed"):
        nmlgen.read_darshan(tmp_path / "x.darshan")


def test_without_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.darshan").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "darshan", None)
    with pytest.raises(nmlgen.InputError, match=r"nmlgen\[darshan\]"):
        nmlgen.read_darshan(tmp_path)
    with pytest.raises(nmlgen.InputError, match="no such file"):
        nmlgen.read_darshan(tmp_path / "y.darshan")


def test_a_joint_log_of_many_processes(tmp_path: Path) -> None:
    """Written by Darshan's own library: as many records as files of each rank, of which the last 32 ranks write."""
    pytest.importorskip("darshan")
    spec = importlib.util.spec_from_file_location("darshan_benchmark", BENCHMARK)
    assert spec is not None
    assert spec.loader is not None
    benchmark = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(benchmark)
    path = tmp_path / "icon.4711.darshan"
    written = benchmark.write(path, ranks=64, files=100)
    told: list[int] = []
    (row,) = scan_darshan(path, progress=told.append)
    assert (row.job, row.nprocs, row.n_files, row.n_writer_ranks) == ("4711", 64, 6400, 32)
    assert row.written_bytes == written == 32 * sum(10_000_000 + file for file in range(100))
    assert row.n_writes == 32 * 100 * 7
    assert row.longest_write_rank == 32
    assert sum(told) == path.stat().st_size
    assert len(told) > 1
