"""CPU time and memory of reading a joint Darshan log of many processes, such as that of 16 nodes.

    python benchmarks/darshan_logs.py [RANKS] [FILES] [DIRECTORY]

Writes a log of 2048 ranks with 250 records each by the library that comes with the package `darshan`, of which the last
32 ranks write, below DIRECTORY, or the directory for temporary files; reads it record by record, and removes it.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import resource
import struct
import sys
import tempfile
from pathlib import Path

from nmlgen.logs.darshan import scan_darshan

_POSIX, _VERSION = 1, 4  # of Darshan's modules, and of its records
_WRITERS = 32
_RECORD = struct.Struct("<Qq69q17d")
_JOB = struct.Struct("<7q1024s")


def record(rank: int, file: int, written: int) -> bytes:
    """A record of a file: some bytes read, and if it was written as many in seven calls."""
    from darshan.backend import cffi_backend

    counters = dict.fromkeys(cffi_backend.counter_names("POSIX"), 0)
    times = dict.fromkeys(cffi_backend.fcounter_names("POSIX"), 0.0)
    counters |= {"POSIX_OPENS": 1, "POSIX_READS": 5, "POSIX_BYTES_READ": 100 * file, "POSIX_BYTES_WRITTEN": written}
    counters["POSIX_WRITES"] = 7 if written else 0
    times |= {"POSIX_F_READ_TIME": 0.1, "POSIX_F_WRITE_TIME": written / 1e9, "POSIX_F_MAX_WRITE_TIME": written / 5e9}
    return _RECORD.pack(rank * 100_003 + file + 1, rank, *counters.values(), *times.values())


def write(path: Path, ranks: int, files: int) -> int:
    """Write such a log; gives the bytes that its processes wrote."""
    import darshan

    (library,) = (Path(darshan.__file__).parent.parent / "darshan.libs").glob("libdarshan-util*")
    util = ctypes.CDLL(str(library))
    util.darshan_log_create.restype = ctypes.c_void_p
    log = ctypes.c_void_p(util.darshan_log_create(str(path).encode(), 0, ctypes.c_uint64(0)))
    util.darshan_log_put_job(log, _JOB.pack(1000, 1_700_000_000, 0, 1_700_000_390, 0, ranks, 4711, b"lib_ver=3.4.2\n"))
    util.darshan_log_put_exe(log, b"/icon/bin/icon")
    util.darshan_log_put_mounts(log, None, 0)
    util.darshan_log_put_namehash(log, None)
    by_rank = [bytearray(), bytearray()]
    for file in range(files):
        by_rank[0] += record(0, file, 0)
        by_rank[1] += record(0, file, 10_000_000 + file)
    records = bytearray()
    for rank in range(ranks):
        own = by_rank[rank >= ranks - _WRITERS][:]
        for file in range(files):
            struct.pack_into("<Qq", own, file * _RECORD.size, rank * 100_003 + file + 1, rank)
        records += own
    util.darshan_log_put_mod(log, _POSIX, bytes(records), len(records), _VERSION)
    util.darshan_log_close(log)
    return min(ranks, _WRITERS) * sum(10_000_000 + file for file in range(files))


def read(path: Path, records: int) -> None:
    """Print what reading such a log takes, in this process and in those that it starts, and what was read."""
    before = _used()
    (row,) = scan_darshan(path)
    seconds = _used() - before
    ends = [resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    size = path.stat().st_size / 1e6
    print(f"{records} records, {size:.1f} MB: {seconds:.2f} s of CPU, {max(ends) / 1024:.0f} MiB")
    print(f"{row.n_files} files, {row.written_bytes} bytes written by {row.n_writer_ranks} ranks")


def _used() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def main() -> None:
    """Print a row."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ranks", nargs="?", type=int, default=2048)
    parser.add_argument("files", nargs="?", type=int, default=250)
    parser.add_argument("directory", nargs="?", type=Path)
    arguments = parser.parse_args()
    if arguments.directory is not None and not arguments.directory.is_dir():
        parser.exit(2, f"{arguments.directory} is no directory\n")
    ranks, files = arguments.ranks, arguments.files
    import darshan  # noqa: F401 (what loading it costs does not count)

    with tempfile.TemporaryDirectory(dir=arguments.directory) as directory:
        path = Path(directory) / "icon.4711.darshan"
        for work in (lambda: write(path, ranks, files), lambda: read(path, ranks * files)):
            if (process := os.fork()) == 0:  # so that neither's processes and memory count for the other
                work()
                sys.stdout.flush()
                os._exit(0)
            os.waitpid(process, 0)


if __name__ == "__main__":
    main()
