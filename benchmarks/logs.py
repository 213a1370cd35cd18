"""CPU time and memory of reading a log of given size.

    python benchmarks/logs.py [MEGABYTES] [DIRECTORY]

Writes a log of 1000 MB (in lines such as ICON's: 32 I/O ranks, an output every 5 steps, a checkpoint every 50) below
DIRECTORY, or the directory for temporary files, reads it and removes it.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path

from nmlgen.models.icon.logs.reader import read_logs, scan_logs

HEADER = """\
 mo_mpi::start_mpi ICON: Globally run on 256 mpi processes.
 version: 2024.10
 set_mpi_work_communicators: Number of procs for test: 0, work: 224, I/O: 32, Restart: 0, Prefetching: 0
 Model time step          : PT2M
 NetCDF output of floating point variables will be in 64-bit accuracy
 joint procs multifile restart writing selected, joint proc mode.
"""
OUTPUT = """\
 write_name_list_output: Output to a_{n:08d}.nc at simulation time 2008-09-01T00:00:00.000 by PE {rank}
#################### I/O PE {rank} starting I/O at 102113.701
#################### I/O PE {rank} done at 102115.208
 Got   1234.567 MB, {times}
"""
TIMES = "time get:      0.500 s [  2469.134 MB/s], time write:      1.000 s [   617.283 MB/s], times copy:      0.007 s"
CHECKPOINT = " :writeRestartInternal: restart: finished: 12.345679GB of data in 12.345679s (1.0000000GB/s)\n"
MAXIMA = " MAXABS VN, W in domain  1:  0.35132943{digit}5E+02 at level   9,   0.1971150844E-02 at level   4,\n"


def step(number: int) -> str:
    """What a step writes."""
    text = f" \n Time step: {number:8d} model time 2008-09-01 00:00:00.000\n"
    text += "".join(MAXIMA.format(digit=(number + i) % 10) for i in range(5))
    if number % 5 == 0:
        text += OUTPUT.format(n=number, rank=224 + number // 5 % 32, times=TIMES)
    return text + (CHECKPOINT if number % 50 == 0 else "")


def write(path: Path, megabytes: int) -> None:
    """Write such a log."""
    with path.open("w", encoding="ascii") as file:
        size, number = file.write(HEADER), 0
        while size < megabytes * 1_000_000:
            size += file.write("".join(step(number + i) for i in range(1, 501)))
            number += 500


def measured(what: str, path: Path, events: bool) -> str:
    """Read it; what that costs, as a row."""
    before = time.process_time()
    rows = sum(1 for _ in scan_logs(path)) if events else len(read_logs(path).runs)
    seconds = time.process_time() - before
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    size = path.stat().st_size / 1e6
    return f"{what:<12} {size:>8.0f} MB {rows:>9} rows {seconds:>8.2f} s {size / seconds:>6.0f} MB/s {memory:>6.0f} MiB"


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("megabytes", nargs="?", type=int, default=1000)
    parser.add_argument("directory", nargs="?", type=Path)
    arguments = parser.parse_args()
    if arguments.directory is not None and not arguments.directory.is_dir():
        parser.exit(2, f"{arguments.directory} is no directory\n")
    with tempfile.TemporaryDirectory(dir=arguments.directory) as directory:
        for size in (arguments.megabytes // 10, arguments.megabytes):
            path = Path(directory) / "LOG"
            write(path, size)
            print(measured("runs", path, events=False), flush=True)
            print(measured("all events", path, events=True), flush=True)


if __name__ == "__main__":
    main()
