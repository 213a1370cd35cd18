"""Darshan logs: what each process read and wrote, as the file system saw it. Needs the package `darshan`.

Darshan keeps a table of files for each process; where it overflows (1024 records by default), files are missing and so
are their bytes: such a log is marked. Its "performance estimate" is all bytes over the time of the busiest rank, a rate
of bursts, not what a run had.

A log is read record by record: the memory that takes does not grow with the processes' files. It is read in a process
of its own, for libdarshan ends the process at some logs that are broken.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any

from nmlgen.apart import Send, apart
from nmlgen.errors import InputError
from nmlgen.logs.finding import darshan_logs_below
from nmlgen.logs.rows import LogRun, column
from nmlgen.values import define, field, frozen

_MODULES = {"POSIX": "struct darshan_posix_file *", "STDIO": "struct darshan_stdio_file *"}
"""MPI-IO and the formats' libraries come to the same bytes again."""

_HEATMAP, _HEATMAP_TYPE = "HEATMAP", "struct darshan_heatmap_record *"
_HEATMAPS = {16592106915301738621: "POSIX", 3989511027826779520: "STDIO"}
"""Darshan's own numbers of the heat maps of these modules."""

_SMALL, _LARGE = 100_000, 1_000_000  # bytes: where Darshan's classes of access sizes have an edge
_SMALL_SIZES = ("0_100", "100_1K", "1K_10K", "10K_100K")
_LARGE_SIZES = ("1M_4M", "4M_10M", "10M_100M", "100M_1G", "1G_PLUS")
_OWN_LOG = re.compile(r".*\.(?P<job>\d+)\.darshan$")
_EVERY = 4096  # records between two words about progress

Progress = Callable[[int], None]
"""Called with the number of bytes that have been read since."""


@frozen(kw_only=True)
class DarshanLog:
    """What one Darshan log says of one job. Bytes and times are those of POSIX and STDIO."""

    log: str = column("the file", "")
    job: str | None = column("Slurm's job id, from the name of a log of nmlgen's script; otherwise what Darshan noted")
    executable: str | None = column("what ran")
    started: str | None = column("wall clock, UTC")
    run_s: float | None = column("how long it ran")
    nprocs: int | None = column("processes")
    n_files: int = column("files opened, as far as they were recorded", 0)
    n_writer_ranks: int = column("ranks that wrote, shared files aside", 0)
    read_bytes: int = column("all processes together", 0)
    written_bytes: int = column("all processes together", 0)
    read_s: float = column("sum over processes", 0.0)
    write_s: float = column("sum over processes", 0.0)
    meta_s: float = column("opening, closing, seeking: sum over processes", 0.0)
    busiest_rank_s: float | None = column(
        "reading, writing and meta of the rank with most; None if all files are shared"
    )
    written_bytes_per_s: float | None = column("written_bytes over write_s: of one process, on average")
    n_writes: int = column("calls that wrote", 0)
    small_writes: int = column("of POSIX: calls that wrote less than 100 kB", 0)
    large_writes: int = column("of POSIX: calls that wrote 1 MB or more", 0)
    longest_write_s: float | None = column("the longest single call that wrote")
    longest_write_rank: int | None = column("who made it; None for a shared file")
    partial: bool = column("records are missing: bytes and files are lower bounds", False)
    notes: tuple[str, ...] = column("what is uncertain", ())


@frozen(kw_only=True)
class DarshanWriter:
    """When one process wrote, by Darshan's heat map (Darshan 3.4 and later); processes that wrote nothing are not
    there."""

    log: str = column("the file", "")
    rank: int = column("of the process, among all of the job", 0)
    written_bytes: int = column("POSIX and STDIO together", 0)
    first_write_s: float = column("from the beginning of the job to the first interval in which it wrote", 0.0)
    last_write_s: float = column("to the end of the last such interval", 0.0)
    idle_share: float = column("of the intervals of the job, those in which it wrote nothing", 0.0)
    interval_s: float = column("how long an interval is", 0.0)
    bytes_by_interval: tuple[int, ...] = column("written in each interval", ())


def read_darshan(paths: str | Path | Iterable[str | Path]) -> tuple[DarshanLog, ...]:
    """Read Darshan logs: files that end in .darshan, or directories in which there are such.

    Raises InputError for a file that cannot be read, or without the package: `pip install nmlgen[darshan]`.
    """
    return tuple(scan_darshan(paths))


def scan_darshan(paths: str | Path | Iterable[str | Path], *, progress: Progress | None = None) -> Iterator[DarshanLog]:
    """The rows of Darshan logs as they come; errors as `read_darshan`."""
    for path in darshan_logs_below([paths] if isinstance(paths, (str, Path)) else paths):
        _library(path)  # once for all logs
        for found in apart(str(path), partial(_send_row, path)):
            if not isinstance(found, int):
                yield found
            elif progress is not None:
                progress(found)


def _send_row(path: Path, send: Send) -> None:
    with _opened(path) as log:
        send(log.row(str(path), _by_size(path, send)))


def _send_writers(path: Path, send: Send) -> None:
    with _opened(path) as log:
        for writer in log.writers(str(path)):
            send(writer)


def darshan_of(run: LogRun) -> DarshanLog | None:
    """The Darshan log of a run's job, beside its log, where nmlgen's script leaves it; None if there is none, it cannot
    be read, or the package is not installed."""
    beside = [path for path in Path(run.log).parent.glob("*.darshan") if run.job and f".{run.job}." in path.name]
    if len(beside) != 1:
        return None
    with suppress(InputError):
        return next(scan_darshan(beside))
    return None


def scan_darshan_writers(
    paths: str | Path | Iterable[str | Path], *, progress: Progress | None = None
) -> Iterator[DarshanWriter]:
    """When each process wrote, log by log and in the order of their ranks; nothing of a log without a heat map.

    Errors as `read_darshan`.
    """
    for path in darshan_logs_below([paths] if isinstance(paths, (str, Path)) else paths):
        _library(path)  # once for all logs
        yield from apart(str(path), partial(_send_writers, path))
        if progress is not None:
            progress(path.stat().st_size)


def _by_size(path: Path, progress: Progress) -> Callable[[float], None]:
    """Tells the progress in bytes of the file, of which a share is told."""
    size, told = path.stat().st_size, 0

    def tell(share: float) -> None:
        nonlocal told
        if progress is not None:
            before, told = told, max(told, int(size * min(share, 1.0)))
            progress(told - before)

    return tell


def _library(path: Path) -> Any:
    """What reads a log that is there."""
    if not path.is_file():
        raise InputError(f"{path}: there is no such file")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of matplotlib and pandas, while it is imported
            import darshan  # noqa: F401 (of which the backend is a part, whether or not that is loaded)
            from darshan.backend import cffi_backend
    except ImportError:
        raise InputError(f"{path}: to read Darshan logs, install the package: pip install 'nmlgen[darshan]'") from None
    return cffi_backend


@contextmanager
def _opened(path: Path) -> Iterator[OpenLog]:
    backend = _library(path)
    with _read_error(path):
        log = backend.log_open(str(path))
        if log["handle"] == backend.ffi.NULL:
            raise InputError(f"{path} cannot be read as a Darshan log")
    try:
        with _read_error(path):
            yield OpenLog(backend, log)
    finally:
        backend.log_close(log)


@contextmanager
def _read_error(path: Path) -> Iterator[None]:
    try:
        yield
    except (RuntimeError, OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read as a Darshan log: {str(error).lower()}") from None


@define
class _Sums:
    """What the records of a log come to."""

    read_bytes: int = 0
    written_bytes: int = 0
    read_s: float = 0.0
    write_s: float = 0.0
    meta_s: float = 0.0
    n_writes: int = 0
    small_writes: int = 0
    large_writes: int = 0
    longest_write_s: float = 0.0
    longest_write_rank: int = -1
    files: set[int] = field(factory=set)
    writers: set[int] = field(factory=set)
    of_rank: dict[int, float] = field(factory=dict)


class OpenLog:
    """A log that the package's `backend` has opened; its records come once, in the order of the file."""

    def __init__(self, backend: Any, log: Any) -> None:
        self._backend, self._log = backend, log
        self._modules: dict[str, dict[str, Any]] = backend.log_get_modules(log)

    def row(self, name: str, tell: Callable[[float], None]) -> DarshanLog:
        """The log's row; `tell` takes the share that has been read."""
        job, sums = self._backend.log_get_job(self._log), _Sums()
        present = [module for module in _MODULES if module in self._modules]
        total = sum(self._modules[module]["len"] for module in present) or 1
        before = 0
        for module in present:
            self._add(module, sums, before, total, tell)
            before += self._modules[module]["len"]
        tell(1.0)
        own = _OWN_LOG.match(Path(name).name)
        cut = sorted(module for module, facts in self._modules.items() if facts.get("partial_flag"))
        notes = (
            [f"records of {', '.join(cut)} are missing, for Darshan's tables were full: raise MAX_RECORDS"]
            if cut
            else []
        )
        if not sums.files:
            notes.append("it has no records of POSIX or STDIO")
        return DarshanLog(
            log=name,
            job=own["job"] if own is not None else str(job["jobid"]),
            executable=(self._backend.log_get_exe(self._log) or "").split(" ")[0] or None,
            started=_utc(job),
            run_s=float(job["run_time"]) if "run_time" in job else None,
            nprocs=int(job["nprocs"]),
            n_files=len(sums.files),
            n_writer_ranks=len(sums.writers),
            read_bytes=sums.read_bytes,
            written_bytes=sums.written_bytes,
            read_s=round(sums.read_s, 6),
            write_s=round(sums.write_s, 6),
            meta_s=round(sums.meta_s, 6),
            busiest_rank_s=round(max(sums.of_rank.values()), 6) if sums.of_rank else None,
            written_bytes_per_s=sums.written_bytes / sums.write_s if sums.write_s else None,
            n_writes=sums.n_writes,
            small_writes=sums.small_writes,
            large_writes=sums.large_writes,
            longest_write_s=round(sums.longest_write_s, 6) or None,
            longest_write_rank=sums.longest_write_rank if sums.longest_write_rank >= 0 else None,
            partial=any(module in _MODULES for module in cut),
            notes=tuple(notes),
        )

    def _records(self, module: str, kind: str) -> Iterator[Any]:
        """The records of a module, each as long as it is looked at."""
        ffi, library = self._backend.ffi, self._backend.libdutil
        buffer, number = ffi.new("void **"), self._modules[module]["idx"]
        while library.darshan_log_get_record(self._log["handle"], number, buffer) >= 1:
            try:
                yield ffi.cast(kind, buffer[0])
            finally:
                library.darshan_free(buffer[0])
                buffer[0] = ffi.NULL

    def _add(self, module: str, sums: _Sums, before: int, total: int, tell: Callable[[float], None]) -> None:
        """Add the records of a module; those read before have so many bytes of the `total`."""
        counters = {name: at for at, name in enumerate(self._backend.counter_names(module))}
        times = {name: at for at, name in enumerate(self._backend.fcounter_names(module))}
        wrote, was_read, calls = (counters[f"{module}_{what}"] for what in ("BYTES_WRITTEN", "BYTES_READ", "WRITES"))
        reading, writing, meta = (times[f"{module}_F_{what}_TIME"] for what in ("READ", "WRITE", "META"))
        longest = times.get(f"{module}_F_MAX_WRITE_TIME")
        small, large = (
            [counters[key] for size in sizes if (key := f"{module}_SIZE_WRITE_{size}") in counters]
            for sizes in (_SMALL_SIZES, _LARGE_SIZES)
        )
        size = 8 * (len(counters) + len(times) + 2)
        for count, record in enumerate(self._records(module, _MODULES[module]), start=1):
            rank, whole, real = record.base_rec.rank, record.counters, record.fcounters
            sums.files.add(record.base_rec.id)
            written = whole[wrote]
            seconds = (real[reading], real[writing], real[meta])
            sums.read_bytes += whole[was_read]
            sums.written_bytes += written
            sums.read_s, sums.write_s, sums.meta_s = (
                sums.read_s + seconds[0],
                sums.write_s + seconds[1],
                sums.meta_s + seconds[2],
            )
            if written > 0:
                sums.n_writes += whole[calls]
                sums.small_writes += sum(whole[at] for at in small)
                sums.large_writes += sum(whole[at] for at in large)
                if longest is not None and real[longest] > sums.longest_write_s:
                    sums.longest_write_s, sums.longest_write_rank = real[longest], rank
            if rank >= 0:
                sums.of_rank[rank] = sums.of_rank.get(rank, 0.0) + sum(seconds)
                if written > 0:
                    sums.writers.add(rank)
            if not count % _EVERY:
                tell((before + count * size) / total)

    def writers(self, name: str) -> Iterator[DarshanWriter]:
        """When each process wrote."""
        found: dict[int, list[int]] = {}
        width = 0.0
        if _HEATMAP not in self._modules:
            return
        for record in self._records(_HEATMAP, _HEATMAP_TYPE):
            if record.base_rec.id not in _HEATMAPS:
                continue
            width, count = record.bin_width_seconds, record.nbins
            bins = [record.write_bins[at] for at in range(count)]
            if any(bins):
                before = found.setdefault(record.base_rec.rank, [0] * count)
                before += [0] * (count - len(before))
                for at, value in enumerate(bins):
                    before[at] += value
        end = max(map(len, found.values()), default=0)
        run_s = float(self._backend.log_get_job(self._log).get("run_time", 0.0))
        intervals = min(end, max(1, -int(-run_s // width))) if width and run_s else end
        for rank, row in sorted(found.items()):
            busy = [at for at, value in enumerate(row) if value]
            kept = row[: max(intervals, busy[-1] + 1)]
            yield DarshanWriter(
                log=name,
                rank=rank,
                written_bytes=sum(row),
                first_write_s=busy[0] * width,
                last_write_s=(busy[-1] + 1) * width,
                idle_share=1 - len(busy) / len(kept),
                interval_s=width,
                bytes_by_interval=tuple(kept),
            )


def _utc(job: dict[str, Any]) -> str | None:
    seconds = job.get("start_time_sec", job.get("start_time"))
    return datetime.fromtimestamp(int(seconds), timezone.utc).isoformat() if seconds is not None else None
