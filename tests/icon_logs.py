"""Logs such as ICON writes, made up here: its formats with numbers of our own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

STEPS = 12
OUTPUT_STEPS = (0, 6, 12)
CHECKPOINT_STEPS = (6, 12)
SELECTED = {
    "sync": "synchronous restart writing selected.",
    "async": "asynchronous restart writing selected.",
    "joint procs multifile": "multifile restart writing selected, joint proc mode.",
    "dedicated procs multifile": "multifile restart writing selected, with dedicated procs.",
}


def date(step: int, separator: str = "T") -> str:
    """The model time after so many steps of ten minutes."""
    return f"2000-01-01{separator}{step // 6:02d}:{step % 6 * 10:02d}:00.000"


def head(work: int, io: int = 0, restart: int = 0, test: int = 0, mode: str = "sync", bits: int = 64) -> list[str]:
    """What comes before the first step; the run is to stop after STEPS steps, so is the experiment."""
    ntasks = work + io + restart + test
    return [
        f" mo_mpi::start_mpi ICON: Globally run on {ntasks} mpi processes.",
        f" ICON runs on {ntasks} mpi processes.",
        " date: 20260102",
        " time: 030405",
        " version: 2024.10",
        " set_nproma_nblocks: Using namelist nproma=     32",
        " Model time step          : PT10M",
        " Checkpoint interval      : PT1H",
        " Restart interval         : PT2H",
        f" Experiment stop date     : {date(STEPS)}",
        f" mo_nml_crosscheck::atm_crosscheck: NetCDF output of floating point variables will be in {bits}-bit accuracy",
        f" set_mpi_work_communicators: Number of procs for test: {test}, work: {work}, I/O: {io},"
        f" Restart: {restart}, Prefetching: 0",
        f" Number of compute PEs used for this grid: {work:6d}",
        f" #         prognostic cells: max/min/avg   1000    900 {20480 / work:9.2f}",
        " I/O PE   output date   #",
        f" {SELECTED[mode]}",
        f" Start date of this run: {date(0)}",
        f" Stop date of this run:  {date(STEPS)}",
    ]


def output(step: int, rank: int, speed: bool = True, clock: str = "2359") -> list[str]:
    """An output of 800 MB as 8 bytes a value, received within 0.4 s and written within 2 s."""
    lines = [
        f" mo_output::write: Output to atm_{step:03d}.nc at simulation time {date(step)} by PE {rank}",
        f"#################### I/O PE {rank} starting I/O at {clock}58.500",
        f"#################### I/O PE {rank} done at 000000.950",
    ]
    rates = "time get:      0.400 s [  2000.000 MB/s], time write:      2.000 s [   200.000 MB/s]"
    return lines + ([f" Got    800.000 MB, {rates}, times copy:      0.050 s"] if speed else [])


def checkpoint(step: int, mode: str) -> list[str]:
    """A checkpoint in the words of its mode."""
    if mode == "sync":
        return [f" Write netCDF2 restart for: {date(step)}", " syncPatchData_writeData: Finished writing restart"]
    if mode == "async":
        return [
            " mo_async_restart:compute_wait_for_restart: restart servers ready... waited  0.250E+00 sec",
            f" Write netCDF4 restart for: {date(step)}",
            " Checkpointing: Got    300.000 MB, time get:      0.100 s [  3000.000 MB/s], time write:      0.500 s"
            " [   600.000 MB/s]",
        ]
    done = " :writeRestartInternal: restart: finished: 0.50000000GB of data in 0.25000000s (2.0000000GB/s)"
    if mode == "joint procs multifile":
        return [done]
    return [
        " mo_multifile_restart:args: compute procs waited 0.12500000 sec for dedicated restart procs to be ready...",
        " :writeRestartInternal: restart: preparing checkpoint-data took 0.31250000E-01s",
        done,
    ]


def step(number: int) -> list[str]:
    """A time step."""
    return [
        " ",
        f" Time step: {number:8d} model time {date(number, ' ')}",
        " MAXABS VN, W in domain  1:  0.3500000000E+02 at level   9,   0.1900000000E-02 at level   4,",
    ]


def steps(io: Sequence[int], mode: str, numbers: Iterable[int] = range(1, STEPS + 1), speed: bool = True) -> list[str]:
    """The time loop: `io` are the I/O ranks, which take turns."""
    lines, turn = [], 0
    for number in numbers:
        lines += step(number)
        if number in OUTPUT_STEPS:
            lines += output(number, io[turn % len(io)], speed) if io else []
            turn += 1
        if number in CHECKPOINT_STEPS:
            lines += checkpoint(number, mode)
    return lines


def row(name: str, ranks: int, calls: int, each: float, depth: int = 0, width: int = 30) -> str:
    """A timer that every rank called so often, each time for `each` seconds."""
    label = name if depth == 0 else " " + "   " * (depth - 1) + "L " + name
    duration = f"{each:.5f}s" if each < 1 else f"{each:.4f}s"
    total = f"{calls * each:.3f}"
    if ranks == 1:
        return (
            f" {label:<{width}}   {calls:<9}{duration:>12}" + f"   {duration:>12}" * 2 + f"   {total:>13}" * 3 + "     "
        )
    least, most = "[0]               ", f"[{ranks - 1}]               "
    return (
        f" {label:<{width}}   {calls * ranks:<9}{duration:>12}   {least}{duration:>12}   {duration:>12}   {most}"
        f"{total:>8}    {least}{total:>8}    {most}{total:>8}    {ranks}        "
    )


def table(ranks: str, number: int, rows: Sequence[str], width: int = 30) -> list[str]:
    """A table of the timer report, for the ranks in the list `ranks`."""
    names = "# calls   t_min" + ("          min rank" if number > 1 else "") + "   t_avg          t_max"
    title = f" Timer report, ranks {ranks}" if number > 1 else " Timer report"
    rule = f" {'-' * width}   -------   ------------"
    return [title, " ", rule, f" {'name':<{width}}   {names}", rule, " ", *rows, f" {'-' * 150}    ", " "]


def reports(work: int, io: int = 0, restart: int = 0, width: int = 30) -> list[str]:
    """The timer reports of all groups: a total of 100 s, 7 s in output on workers, 24 s on I/O ranks."""
    groups = []
    if restart:
        rows = [row("write_restart", restart, 3, 4.0), row("write_restart_wait", restart, 2, 30.0)]
        groups += table(_list(work + io, restart), restart, rows)
    if io:
        rows = [row("wrt_output", io, 12, 2.0, width=24), row("model_init", io, 1, 0.25, width=24)]
        groups += table(_list(work, io), io, rows, 24)
    rows = [
        row("total", work, 1, 100.0, width=width),
        row("integrate_nh", work, STEPS, 7.0, 1, width),
        row("nh_solve", work, 5 * STEPS, 1.25, 2, width),
        row("wrt_output", work, 7, 1.0, width=width),
        row("wait_for_async_io", work, 7, 0.5, 1, width),
        row("write_restart", work, 4, 0.5, width=width),
    ]
    return groups + table(_list(0, work), work, rows, width)


def _list(first: int, count: int) -> str:
    return str(first) if count == 1 else f"{first}-{first + count - 1}"


def end() -> list[str]:
    """The last words of a clean end."""
    return [" mo_atmo_model:destruct_atmo_model: clean-up finished"]


def log(
    work: int = 4, io: int = 2, restart: int = 0, mode: str = "sync", bits: int = 64, speed: bool = True
) -> list[str]:
    """The whole log of a run that comes to its end, line by line."""
    return [
        *head(work, io, restart, mode=mode, bits=bits),
        *steps(range(work, work + io), mode, speed=speed),
        *reports(work, io, restart),
        *end(),
    ]


def text(lines: Iterable[str]) -> bytes:
    """The lines as the bytes of a file."""
    return "".join(line + "\n" for line in lines).encode()
