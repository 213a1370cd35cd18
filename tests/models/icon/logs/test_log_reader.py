"""Whole logs: each mode, each end, labels, cuts, and what lies beside them."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterable
from pathlib import Path

import icon_logs
import pytest
from icon_logs import date, end, head, log, output, reports, row, step, steps, text

import nmlgen
from nmlgen.logs.rows import LogRun
from nmlgen.models.icon.logs.output import OutputLines
from nmlgen.models.icon.logs.reader import _Reading


def read(directory: Path, lines: Iterable[str] | bytes, name: str = "LOG") -> nmlgen.Logs:
    file = directory / name
    file.write_bytes(lines if isinstance(lines, bytes) else text(lines))
    return nmlgen.read_logs(file, events=True)


def only(logs: nmlgen.Logs) -> LogRun:
    (run,) = logs.runs
    assert not logs.warnings
    return run


def test_a_finished_run(tmp_path: Path) -> None:
    logs = read(tmp_path, log())
    run = only(logs)
    assert (run.state, run.reason, run.release, run.started) == ("finished", None, "2024.10", "2026-01-02T03:04:05")
    assert (run.ntasks, run.num_work_procs, run.num_io_procs, run.num_restart_procs) == (6, 4, 2, 0)
    assert (run.nproma, run.n_cells, run.dtime_s, run.n_steps) == (32, 20480, 600.0, 12)
    assert (run.run_start, run.run_stop, run.last_model_time) == (date(0), date(12), date(12))
    assert (run.total_s, run.integrate_nh_s, run.wrt_output_work_s, run.wait_for_async_io_s) == (100.0, 84.0, 7.0, 3.5)
    assert (run.wrt_output_io_s, run.wrt_output_io_max_s, run.wrt_output_io_longest_s) == (24.0, 24.0, 2.0)
    assert {timer.group: timer.ranks for timer in logs.timers} == {"io": "4-5", "work": "0-3"}
    solver = next(timer for timer in logs.timers if timer.timer == "nh_solve")
    assert (solver.parent, solver.calls, solver.t_avg_s, solver.total_avg_s) == ("integrate_nh", 240, 1.25, 75.0)


def test_rate_of_writing_is_corrected(tmp_path: Path) -> None:
    logs = read(tmp_path, log(bits=64))
    run = only(logs)
    assert run.output_bytes_per_value == 8
    assert (run.n_outputs, run.output_received_bytes, run.output_bytes) == (2, 1_600_000_000, 1_600_000_000)
    assert run.output_write_bytes_per_s == 400e6
    assert run.output_get_bytes_per_s == 2000e6
    assert any("doubled" in note and "certain" in note for note in run.notes)
    first = logs.outputs[0]
    assert (first.file, first.rank, first.model_time, first.certain) == ("atm_006.nc", 4, date(6), True)
    assert (first.busy_s, first.start) == (2.45, "23:59:58.500")  # over midnight
    assert (first.logged_write_bytes_per_s, first.write_bytes_per_s) == (200e6, 400e6)


def test_rate_of_single_precision_is_left_alone(tmp_path: Path) -> None:
    lines = [line.replace("Got    800.000", "Got    400.000") for line in log(bits=32)]
    run = only(read(tmp_path, lines))
    assert (run.output_bytes_per_value, run.output_write_bytes_per_s) == (4, 200e6)
    assert any("as logged" in note for note in run.notes)


def test_precision_without_the_header(tmp_path: Path) -> None:
    run = only(read(tmp_path, steps([4], "sync")))
    assert (run.output_bytes_per_value, run.output_write_bytes_per_s) == (8, 400e6)
    assert any("doubled" in note and "likely" in note for note in run.notes)
    assert run.ntasks is None


def test_double_precision_sent_and_single_stored(tmp_path: Path) -> None:
    run = only(read(tmp_path, log(bits=32)))
    assert (run.output_received_bytes, run.output_bytes) == (1_600_000_000, 800_000_000)
    assert run.output_write_bytes_per_s == 200e6


@pytest.mark.parametrize(
    ("mode", "restart", "size", "rate"),
    [
        ("sync", 0, None, None),
        ("async", 1, 600_000_000, 600e6),
        ("joint procs multifile", 0, 2**30, 2 * 2**30),
        ("dedicated procs multifile", 2, 2**30, 2 * 2**30),
    ],
)
def test_restart_modes(tmp_path: Path, mode: str, restart: int, size: int | None, rate: float | None) -> None:
    logs = read(tmp_path, log(restart=restart, mode=mode))
    run = only(logs)
    assert (run.restart_write_mode, run.n_checkpoints, run.num_restart_procs) == (mode, 2, restart)
    assert (run.checkpoint_bytes, run.checkpoint_write_bytes_per_s) == (size, rate)
    assert [checkpoint.model_time for checkpoint in logs.checkpoints] == [date(6), date(12)]
    assert {checkpoint.restart_write_mode for checkpoint in logs.checkpoints} == {mode}
    assert run.checkpoint_wait_s == {"async": 0.5, "dedicated procs multifile": 0.25}.get(mode)
    assert run.write_restart_work_s == 2.0
    assert run.write_restart_procs_s == (12.0 if restart else None)
    assert run.write_restart_wait_procs_s == (60.0 if restart else None)


def test_dedicated_ranks_finish_after_later_steps(tmp_path: Path) -> None:
    wait, prepared, done = icon_logs.checkpoint(6, "dedicated procs multifile")
    lines = [*head(4, 0, 1, mode="dedicated procs multifile"), *step(6), wait, prepared, *step(7), *step(8), done]
    (checkpoint,) = read(tmp_path, lines).checkpoints
    assert (checkpoint.model_time, checkpoint.prepare_s, checkpoint.wait_s) == (date(6), 0.03125, 0.125)


def test_checkpoint_that_is_not_completed(tmp_path: Path) -> None:
    run = only(read(tmp_path, [*head(4), *step(6), icon_logs.checkpoint(6, "sync")[0]]))
    assert run.n_checkpoints == 0
    assert any("not completed" in note for note in run.notes)


NAN = " MAXABS VN, W in domain  1:               NaN at level   1,   0.0000000000E+00 at level   1,"
FAILURES = {
    "FINISH": ("    FINISH PE:     3 mo_grid::check: the grid is odd", "FINISH PE: 3 mo_grid::check: the grid is odd"),
    "NaN": (NAN, "NaN at level 1"),
    "disk": ("cdi  error (cdf_put_vara_float): No space left on device", "No space left on device"),
    "CDI": ("cdi  error (cdf__create): x/a.nc: No such file or directory", "cdf__create"),
    "gfortran": ("Fortran runtime error: Cannot match namelist object name foo", "namelist object name foo"),
    "ifort": ("forrtl: severe (174): SIGSEGV, segmentation fault occurred", "severe (174)"),
    "time": (
        "slurmstepd: error: *** STEP 12.0 ON l1 CANCELLED AT 2026-01-02T03:04:05 DUE TO TIME LIMIT ***",
        "TIME LIMIT",
    ),
    "memory": ("slurmstepd: error: Detected 1 oom-kill event(s) in StepId=12.0.", "oom-kill"),
    "killed": ("srun: error: l10395: task 12: Killed", "task 12: Killed"),
    "signal": ("mpirun noticed that process rank 2 with PID 0 on node l1 exited on signal 9 (Killed).", "signal 9"),
    "exit": ("srun: error: l10395: task 0: Exited with exit code 2", "exit code 2"),
}


@pytest.mark.parametrize("steps_before", [0, 3], ids=["before the first step", "among steps"])
@pytest.mark.parametrize("kind", FAILURES)
def test_failures(tmp_path: Path, kind: str, steps_before: int) -> None:
    line, reason = FAILURES[kind]
    lines = [*head(4), *(text for number in range(1, steps_before + 1) for text in step(number)), line, "more"]
    run = only(read(tmp_path, lines))
    assert run.state == "crashed"
    assert run.reason is not None
    assert reason in run.reason


def test_failure_of_mpi_before_the_first_step(tmp_path: Path) -> None:
    run = only(read(tmp_path, [*head(4), "0001: set_mpi_work_communicators: not enough processors"]))
    assert run.reason == "0001: set_mpi_work_communicators: not enough processors"


def test_cause_is_told_before_its_aftermath(tmp_path: Path) -> None:
    lines = [*head(4), *step(1), FAILURES["signal"][0], FAILURES["FINISH"][0]]
    assert only(read(tmp_path, lines)).reason == FAILURES["FINISH"][1]


def test_blow_up_though_it_ends_well(tmp_path: Path) -> None:
    (tmp_path / "finish.status").write_text(" OK\n")
    run = only(read(tmp_path, [*head(4), *step(1), NAN, *step(12), *reports(4), *end()]))
    assert run.state == "crashed"
    assert run.finish_status == "OK"
    assert any("finish.status says OK" in note for note in run.notes)


def test_trouble_after_the_end(tmp_path: Path) -> None:
    run = only(read(tmp_path, [*log(), FAILURES["time"][0]]))
    assert run.state == "finished"
    assert any("after its end" in note for note in run.notes)


def test_cut_off(tmp_path: Path) -> None:
    data = text(log())
    run = only(read(tmp_path, data[: data.index(b"Time step:        8") + 12]))
    assert (run.state, run.n_steps, run.last_model_time) == ("truncated", 7, date(7))
    assert run.reason is not None
    assert date(12) in run.reason


def test_cut_in_a_line_that_counts(tmp_path: Path) -> None:
    data = text([*head(4, 2), *step(6), *output(6, 4)])
    for length in range(data.index(b"mo_output"), len(data)):
        logs = read(tmp_path, data[:length])
        assert not logs.warnings, data[:length][-80:]
        assert logs.runs[0].state == "truncated"


def test_restarted(tmp_path: Path) -> None:
    lines = [line.replace("Experiment stop date     : 2000", "Experiment stop date     : 2001") for line in log()]
    assert only(read(tmp_path, lines)).state == "restarted"
    (tmp_path / "finish.status").write_text(" OK\n")  # of the last leg
    assert only(read(tmp_path, lines)).state == "restarted"


def test_status_of_another_run_does_not_count(tmp_path: Path) -> None:
    status = tmp_path / "finish.status"
    status.write_text(" OK\n")
    os.utime(status, (1, 1))
    run = only(read(tmp_path, [*head(4), *step(1)]))
    assert (run.state, run.finish_status) == ("truncated", None)


def test_several_runs_in_one_file(tmp_path: Path) -> None:
    logs = read(tmp_path, [*log(), *head(4), FAILURES["FINISH"][0], *log(io=1), *head(2), *step(1)])
    assert [run.state for run in logs.runs] == ["finished", "crashed", "finished", "truncated"]
    assert [run.run for run in logs.runs] == [1, 2, 3, 4]
    assert [run.n_outputs for run in logs.runs] == [2, None, 2, None]
    assert logs.runs[1].line == len(log()) + 1
    assert {output.run for output in logs.outputs} == {1, 3}


LABELS = {
    "srun": "{rank:>3}: ",
    "openmpi": "[1,{rank}]<stderr>:",
    "intel": "[{rank}] ",
    "clock": "2026-01-02T03:04:05.678 ",
    "icon": "[20260102 030405.678]",
    "srun and icon": "{rank}: [20260102 030405.678]",
}


@pytest.mark.parametrize("label", LABELS)
def test_labels(tmp_path: Path, label: str) -> None:
    plain = only(read(tmp_path, log()))
    labelled = only(read(tmp_path, [LABELS[label].format(rank=0) + line for line in log()]))
    assert labelled == plain


def test_labels_tell_whose_speed_it_is(tmp_path: Path) -> None:
    def mixed(form: str) -> list[str]:
        one, other = output(6, 4), output(6, 5)
        pairs = [
            (rank, line) for lines in zip(one, other, strict=True) for rank, line in zip((4, 5), lines, strict=True)
        ]
        pairs[-1], pairs[-2] = pairs[-2], pairs[-1]  # rank 5 is first
        pairs[-2] = (5, pairs[-2][1].replace("800.000", "801.000"))
        return [form.format(rank=rank) + line for rank, line in [*((0, line) for line in head(4, 2) + step(6)), *pairs]]

    logs = read(tmp_path, mixed("{rank}: "))
    assert {write.rank: write.received_bytes for write in logs.outputs} == {4: 800_000_000, 5: 801_000_000}
    assert all(write.certain for write in logs.outputs)
    unlabelled = read(tmp_path, mixed(""))
    assert [write.certain for write in unlabelled.outputs] == [False, True]
    assert unlabelled.runs[0].output_received_bytes == 1_601_000_000


def test_lines_cut_into_each_other(tmp_path: Path) -> None:
    middle = output(6, 4)
    middle[0] = middle[0] + " Time step:        6 model time 2000-01-01 01:00:00.000"
    logs = read(tmp_path, [*head(4, 2), *step(5), "half a message, and then" + middle[0], *middle[1:]])
    assert only(logs).n_steps == 2
    assert logs.outputs[0].file == "atm_006.nc"


def test_what_is_not_legible_is_named(tmp_path: Path) -> None:
    lines = [*head(4, 2), *step(6), " Got    800.000 MB, time get:  MAXABS VN", *output(12, 4)]
    logs = read(tmp_path, lines)
    (warning,) = logs.warnings
    assert (warning.line, logs.runs[0].n_warnings) == (len(head(4, 2)) + 4, 1)
    assert str(warning).startswith(f"{tmp_path / 'LOG'}:{warning.line}: ")


def test_many_warnings_are_counted(tmp_path: Path) -> None:
    logs = read(tmp_path, [*head(4, 2), *step(6), *[" Got    800.000 MB, time get:  x"] * 500])
    assert len(logs.warnings) < 30
    assert logs.runs[0].n_warnings == 500


def test_overflown_fields(tmp_path: Path) -> None:
    lines = [line.replace("  2000.000 MB/s", "********** MB/s") for line in log()]
    run = only(read(tmp_path, lines))
    assert run.output_received_bytes == 1_600_000_000


def test_line_ends_and_bytes(tmp_path: Path) -> None:
    plain = only(read(tmp_path, log()))
    assert only(read(tmp_path, text(log()).replace(b"\n", b"\r\n"))) == plain
    assert (
        only(read(tmp_path, b"\xff\xfe\x00\n" + text(log()).replace(b"mo_output", b"mo_\xe4\xff"))).state == "finished"
    )


def test_compressed(tmp_path: Path) -> None:
    plain = only(read(tmp_path, log()))
    packed = gzip.compress(text(log()))
    run = only(read(tmp_path, packed, "LOG.gz"))
    assert run.total_s == plain.total_s
    broken = read(tmp_path, packed[: len(packed) // 2], "LOG.gz")
    assert "compressed" in broken.warnings[0].message


def test_no_log_at_all(tmp_path: Path) -> None:
    logs = read(tmp_path, b"srun: error: cannot find icon\n")
    assert logs.runs == ()
    assert "no run of ICON" in logs.warnings[0].message
    assert read(tmp_path, b"").runs == ()


def test_blocks_do_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [*log(restart=1, mode="async"), *log()]
    whole = read(tmp_path, lines)
    for size in (1, 7, 100, 1000):
        monkeypatch.setattr("nmlgen.models.icon.logs.reader._BLOCK", size)
        parts = read(tmp_path, lines)
        assert (parts.runs, parts.outputs, parts.timers) == (whole.runs, whole.outputs, whole.timers)


def test_directories(tmp_path: Path) -> None:
    for name in ("a/LOG.exp.run", "b/x.17.icon.log", "b/nml.atmo.log", "b/slurm-1.out", "c/rst.mfr/LOG"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"&nml\n/\n" if "nml" in name or "slurm" in name else text(log()))
    logs = nmlgen.read_logs(tmp_path)
    assert [Path(run.log).name for run in logs.runs] == ["LOG.exp.run", "x.17.icon.log"]
    with pytest.raises(nmlgen.InputError, match="no log of ICON"):
        nmlgen.read_logs(tmp_path / "c")
    with pytest.raises(nmlgen.InputError, match="no such file"):
        nmlgen.read_logs(tmp_path / "missing")


MASTER = "&master_model_nml\n model_name = 'atm'\n model_namelist_filename = 'NAMELIST_atm'\n/\n"
NAMELIST = """\
&parallel_nml num_io_procs = 2, num_restart_procs = 3 /
&run_nml num_lev = 30, 40 /
&io_nml restart_file_type = 5 /
&output_nml output_interval = 'PT1H', stream_partitions_ml = 2 /
&output_nml output_interval = 'PT2H', file_interval = 'P1D' /
"""


def test_layout_from_the_namelists(tmp_path: Path) -> None:
    (tmp_path / "icon_master.namelist").write_text(MASTER)
    (tmp_path / "NAMELIST_atm").write_text(NAMELIST)
    run = only(read(tmp_path, log(mode="joint procs multifile")))
    assert (run.num_lev, run.restart_file_type, run.num_restart_procs) == (30, 5, 3)
    assert (run.stream_partitions_ml, run.output_interval, run.file_interval) == ((2, 1), ("PT1H", "PT2H"), ("P1D",))


def test_namelists_of_another_run(tmp_path: Path) -> None:
    (tmp_path / "icon_master.namelist").write_text(MASTER)
    (tmp_path / "NAMELIST_atm").write_text(NAMELIST)
    logs = read(tmp_path, log(io=1))
    assert "namelist beside it 2" in logs.warnings[0].message
    assert logs.runs[0].stream_partitions_ml == ()


def test_packed_output_has_no_width(tmp_path: Path) -> None:
    (tmp_path / "icon_master.namelist").write_text(MASTER)
    (tmp_path / "NAMELIST_atm").write_text("&parallel_nml num_io_procs = 2 /\n&output_nml filetype = 2 /\n")
    run = only(read(tmp_path, log()))
    assert (run.output_bytes, run.output_write_bytes_per_s) == (None, None)
    assert run.output_received_bytes == 1_600_000_000


def test_legs_side_by_side(tmp_path: Path) -> None:
    for leg, word in ((1, "RESTART"), (2, "OK")):
        (tmp_path / f"icon_master.namelist.{leg}").write_text(MASTER)
        (tmp_path / f"finish.status.{leg}").write_text(f" {word}\n")
        (tmp_path / f"LOG.{leg}").write_bytes(text([*head(4), *step(leg)]))
    assert [run.state for run in nmlgen.read_logs(tmp_path).runs] == ["restarted", "finished"]


def test_beside_a_build(tmp_path: Path) -> None:
    (tmp_path / "nmlgen-manifest.json").write_text(json.dumps({"name": "exp"}))
    (tmp_path / "exp.sbatch").write_text("#!/bin/bash\n#SBATCH --nodes=3\n")
    run_directory = tmp_path / "run"
    run_directory.mkdir()
    (run_directory / "nmlgen.legs").write_text("1 4711 RESTART\n2 4712 OK\n")
    for job in (4711, 4712, 4713):
        (run_directory / f"exp.{job}.icon.log").write_bytes(text([*head(4), *step(1)]))
    runs = nmlgen.read_logs(tmp_path).runs
    assert {(run.name, run.nodes) for run in runs} == {("exp", 3)}
    assert [(run.job, run.leg, run.state) for run in runs] == [
        ("4711", 1, "restarted"),
        ("4712", 2, "finished"),
        ("4713", None, "truncated"),
    ]


def test_coupled_components_are_added_up(tmp_path: Path) -> None:
    ocean = [line for line in head(8) if "Number of procs" in line]
    run = only(read(tmp_path, [*head(4, 2), *ocean, *step(1), *reports(4), *reports(8), *end()]))
    assert (run.num_work_procs, run.num_io_procs, run.total_s) == (12, 2, 100.0)
    assert any("2 components" in note for note in run.notes)


def test_test_run_beside_the_workers(tmp_path: Path) -> None:
    alone = icon_logs.table("0", 1, [row("total", 1, 1, 90.0)])
    workers = icon_logs.table("1-2", 2, [row("total", 2, 1, 80.0)])
    logs = read(tmp_path, [*head(2, test=1), *step(1), *alone, *workers, *end()])
    assert only(logs).total_s == 80.0
    assert {timer.group: timer.ranks for timer in logs.timers} == {"test": "0", "work": "1-2"}


def test_a_line_without_an_end_is_not_gone_through_for_each_word(tmp_path: Path) -> None:
    class Block(bytes):
        looked_at = 0

        def find(self, sub: object, start: int = 0, end: int | None = None) -> int:  # type: ignore[override]
            Block.looked_at += (len(self) if end is None else min(end, len(self))) - start
            return bytes.find(self, sub, start, len(self) if end is None else end)  # type: ignore[arg-type]

    reading = _Reading(tmp_path / "LOG", lambda row: None, events=False)
    reading.block(b" Globally run on 4 mpi processes.\n Time step: 1, model time: 2000-01-01 00:00:00.000\n")
    reading.block(Block(b"Got " * 20_000))
    assert 0 < Block.looked_at < 20_000 * 11_000


def test_speeds_are_looked_for_among_as_many_ranks_as_may_write(tmp_path: Path) -> None:
    lines = [f"I/O PE {rank} starting I/O at 000000.0\nI/O PE {rank} done at 000001.0" for rank in range(1500)]
    found: list[dict[str, object]] = []
    output_lines = OutputLines(found.append)
    for number, line in enumerate("\n".join(lines).encode().splitlines()):
        assert output_lines.read_rank(line, 0, len(line), number)
    assert len(found) == 1000
    output_lines.finish()
    assert len(found) == 1500
