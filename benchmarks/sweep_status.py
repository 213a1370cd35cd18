"""CPU time of `nmlgen status` and `nmlgen report` for a large sweep that is under way, by the number of its points.

    python benchmarks/sweep_status.py [POINTS...] [--report]

The sweep is written as `nmlgen sweep` and `nmlgen submit` leave it: half of the points have run, a few of these failed,
20 run and the rest wait, in arrays of 1000. In the place of squeue stands a program that lists these. The time is that
of the command with its children. With `--report`, every point that is done has a log of ICON's, and the report is made.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import nmlgen
from nmlgen.sweep.state import State, Submission

ARRAY = 1000
SPEC = Path(__file__).parents[1] / "examples" / "nh_dcmip_tc_52_r2b5.yaml"
LOG = """\
 mo_mpi::start_mpi ICON: Globally run on 8 mpi processes.
 version: 2024.10
 set_mpi_work_communicators: Number of procs for test: 0, work: 7, I/O: 1, Restart: 0, Prefetching: 0
 Model time step          : PT2M
 Time step:        1 model time 2008-09-01 00:02:00.000
 Timer report

 ------   -------   ----------   ----------   ----------   -------------   -------------   -------------
 name     # calls   t_min        t_avg        t_max        total min (s)   total max (s)   total avg (s)
 ------   -------   ----------   ----------   ----------   -------------   -------------   -------------

 total    1         {total:.4f}s   {total:.4f}s   {total:.4f}s   {total:.3f}   {total:.3f}   {total:.3f}
"""


def write(sweep: Path, points: int, with_logs: bool) -> None:
    """Write the sweep."""
    shared = sweep / "shared"
    shared.mkdir(parents=True)
    built = nmlgen.build(nmlgen.load_spec(SPEC)).files
    (namelist,) = (name for name in built if name.startswith("NAMELIST"))
    for name, data in built.items():
        (shared / name).write_bytes(data)
    (sweep / "nmlgen-sweep.json").write_text('{"name": "large", "inputs": [], "overrides": []}\n')
    rows = ["id,name,directory,state,reason,job.nodes,parallel.nproma,parallel.num_io_procs"]
    state = State(sweep)
    state.create()
    queue = []
    for first in range(0, points, ARRAY):
        members = [f"points/p{number:05d}" for number in range(first, min(first + ARRAY, points))]
        array = 1 + 2 * first
        submission = Submission(f"{first:08x}", "large", 1, "me", 20, (None,), tuple(members))
        state.intend(submission)
        state.note_array(submission.token, 1, array)
        name = submission.array_name(1)
        for task, member in enumerate(members):
            number = first + task
            rows.append(
                f"{number:012x},{member[7:]},{member},built,,{1 + number % 4},{8 + number // 20},{number // 4 % 5}"
            )
            point = sweep / member
            point.mkdir(parents=True)
            for name in built:
                if name.endswith(".sbatch"):
                    (point / name).symlink_to(os.path.relpath(shared / name, point))
                else:
                    os.link(shared / name, point / name)
            kind = _kind(number, points)
            if kind != "waiting":
                _start(
                    point,
                    f"token={submission.token} leg=1 name={name} task={task} array={array} job={array + 1 + task}",
                )
            if kind in ("done", "failed"):
                _end(point, kind == "done")
            else:
                word = "PENDING" if kind == "waiting" else "RUNNING"
                queue.append(f"{name}|{array}|{task}|{array if kind == 'waiting' else array + 1 + task}|{word}||None")
            if with_logs and kind == "done":
                (point / "run").mkdir()
                (point / "run" / "icon.log").write_text(LOG.format(total=100 + number % 17))
                os.link(point / "icon_master.namelist", point / "run" / "icon_master.namelist")
                own = built[namelist].replace(b"nproma       = 16", f"nproma       = {8 + number // 20}".encode())
                (point / "run" / namelist).write_bytes(own)
    (sweep / "points.csv").write_text("\n".join(rows) + "\n")
    (sweep / "queue").write_text("\n".join(queue) + "\n")


def _kind(number: int, points: int) -> str:
    if number < points // 2:
        return "failed" if number % 25 == 0 else "done"
    return "running" if number < points // 2 + 20 else "waiting"


def _start(point: Path, text: str) -> None:
    (point / "nmlgen.jobs").mkdir()
    (point / "nmlgen.jobs" / "1.start").write_text(f"{text} node=n1 time=2000-01-01T00:00:00Z build=\n")


def _end(point: Path, is_well: bool) -> None:
    said = "code=0 outcome=OK" if is_well else "code=1 outcome=FAILED"
    (point / "nmlgen.jobs" / "1.end").write_text(f"{said} time=2000-01-01T00:10:00Z restarts=0\n")


def measured(sweep: Path, *command: str) -> tuple[float, float, int]:
    """CPU seconds, seconds and the bytes that it printed."""
    programs = sweep.with_name("bin")
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run([sys.executable, "-m", "nmlgen", *command], check=False, env=environment, capture_output=True)
    if done.returncode not in (0, 1, 3):
        raise SystemExit(done.stderr.decode())
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, time.monotonic() - began, len(done.stdout)


def main() -> None:
    """Write the sweeps, small ones first, and print a row for each command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("points", nargs="*", type=int, default=[1000, 20_000], help="1000 and 20000 by default")
    parser.add_argument("--report", action="store_true")
    arguments = parser.parse_args()
    print("points  command           CPU s      s  MB")
    for points in sorted(arguments.points):
        with tempfile.TemporaryDirectory() as directory:
            sweep, programs = Path(directory) / "sweep", Path(directory) / "bin"
            programs.mkdir()
            for name, body in (("squeue", f"cat {sweep}/queue"), ("sacct", "exit 1")):
                (programs / name).write_text(f"#!/bin/bash\n{body}\n")
                (programs / name).chmod(0o755)
            write(sweep, points, arguments.report)
            page = sweep.with_name("page.html")
            commands = [("status", str(sweep)), ("status", str(sweep), "--summary")]
            commands += [("report", str(sweep), "-o", str(page))] if arguments.report else []
            for command in commands:
                cpu, seconds, size = measured(sweep, *command)
                size = page.stat().st_size if command[0] == "report" else size
                what = " ".join([command[0], *command[2:3]]) if command[0] == "status" else command[0]
                print(f"{points:6}  {what:16} {cpu:6.2f} {seconds:6.1f}  {size / 1e6:.1f}")


if __name__ == "__main__":
    main()
