"""Darshan logs: what each process read and wrote, as the file system saw it. Needs the package `darshan`.

Darshan keeps a table of files for each process; where it overflows (1024 records by default), files are missing and so
are their bytes: such a log is marked. Its "performance estimate" is all bytes over the time of the busiest rank, a rate
of bursts, not what a run had.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from attrs import frozen

from nmlgen.errors import InputError
from nmlgen.logs.finding import darshan_logs_below
from nmlgen.logs.rows import column

_MODULES = ("POSIX", "STDIO")  # MPI-IO and the formats' libraries come to the same bytes again
_OWN_LOG = re.compile(r".*\.(?P<job>\d+)\.darshan$")


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
    partial: bool = column("records are missing: bytes and files are lower bounds", False)
    notes: tuple[str, ...] = column("what is uncertain", ())


def read_darshan(paths: str | Path | Iterable[str | Path]) -> tuple[DarshanLog, ...]:
    """Read Darshan logs: files that end in .darshan, or directories in which there are such.

    Raises InputError for a file that cannot be read, or without the package: `pip install nmlgen[darshan]`.
    """
    return tuple(_read(path) for path in darshan_logs_below([paths] if isinstance(paths, (str, Path)) else paths))


def _read(path: Path) -> DarshanLog:
    if not path.is_file():
        raise InputError(f"{path}: there is no such file")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of matplotlib and pandas, while it is imported
            import darshan
    except ImportError:
        raise InputError(f"{path}: to read Darshan logs, install the package: pip install 'nmlgen[darshan]'") from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            report = darshan.DarshanReport(str(path), read_all=False)
            for module in _MODULES:
                if module in report.modules:
                    report.mod_read_all_records(module, dtype="pandas")
    except (RuntimeError, OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read as a Darshan log: {str(error).lower()}") from None
    return row_of(str(path), report)


def row_of(log: str, report: Any) -> DarshanLog:
    """The row of a `darshan.DarshanReport` whose POSIX and STDIO records have been read as pandas frames."""
    job = report.metadata["job"]
    own = _OWN_LOG.match(Path(log).name)
    sums: dict[str, Any] = {"read_bytes": 0, "written_bytes": 0, "read_s": 0.0, "write_s": 0.0, "meta_s": 0.0}
    files: set[int] = set()
    writers: set[int] = set()
    of_rank: dict[int, float] = {}
    for module in (name for name in _MODULES if name in report.records):
        for counters, times in _frames(report.records[module]):
            ranks = counters["rank"].tolist()
            files.update(counters["id"].tolist())
            written = counters[f"{module}_BYTES_WRITTEN"].tolist()
            writers.update(rank for rank, bytes_ in zip(ranks, written, strict=True) if bytes_ > 0 <= rank)
            sums["written_bytes"] += sum(written)
            sums["read_bytes"] += sum(counters[f"{module}_BYTES_READ"].tolist())
            spent = [times[f"{module}_F_{kind}_TIME"].tolist() for kind in ("READ", "WRITE", "META")]
            for name, values in zip(("read_s", "write_s", "meta_s"), spent, strict=True):
                sums[name] += sum(values)
            for rank, *seconds in zip(ranks, *spent, strict=True):
                if rank >= 0:
                    of_rank[rank] = of_rank.get(rank, 0.0) + sum(seconds)
    cut = sorted(name for name, module in report.modules.items() if module.get("partial_flag"))
    notes = (
        [f"records of {', '.join(cut)} are missing, for Darshan's tables were full: raise MAX_RECORDS"] if cut else []
    )
    if not files:
        notes.append("it has no records of POSIX or STDIO")
    return DarshanLog(
        log=log,
        job=own["job"] if own is not None else str(job["jobid"]),
        executable=(report.metadata.get("exe") or "").split(" ")[0] or None,
        started=_utc(job),
        run_s=float(job["run_time"]) if "run_time" in job else None,
        nprocs=int(job["nprocs"]),
        n_files=len(files),
        n_writer_ranks=len(writers),
        **{name: int(value) if name.endswith("bytes") else round(value, 6) for name, value in sums.items()},
        busiest_rank_s=round(max(of_rank.values()), 6) if of_rank else None,
        written_bytes_per_s=sums["written_bytes"] / sums["write_s"] if sums["write_s"] else None,
        partial=any(name in _MODULES for name in cut),
        notes=tuple(notes),
    )


def _frames(records: Any) -> Iterable[tuple[Any, Any]]:
    """The counters and the times of a module's records, as pandas frames."""
    for record in records:
        yield record["counters"], record["fcounters"]


def _utc(job: dict[str, Any]) -> str | None:
    seconds = job.get("start_time_sec", job.get("start_time"))
    return datetime.fromtimestamp(int(seconds), timezone.utc).isoformat() if seconds is not None else None
