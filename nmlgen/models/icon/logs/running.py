"""One run, followed line by line, and the row that it makes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from nmlgen.logs.rows import CheckpointWrite, LogRun, LogWarning, OutputWrite, Row, TimerTotal
from nmlgen.models.icon.logs.anchors import ANCHORS, BANNER, line_around
from nmlgen.models.icon.logs.failure import Failures
from nmlgen.models.icon.logs.finish import Ending, state_of
from nmlgen.models.icon.logs.header import Header
from nmlgen.models.icon.logs.output import COUNTED_BYTES, Columns, OutputLines
from nmlgen.models.icon.logs.prefixes import Prefix
from nmlgen.models.icon.logs.restart import JOINT, CheckpointLines
from nmlgen.models.icon.logs.timers import TimerReports, groups, is_report
from nmlgen.values import evolve

_STEP = re.compile(rb"Time step: *(\d{1,9}),? model time:? (-?\d+-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3})")
_OCEAN_STEP = re.compile(rb"Begin of timestep = *(\d{1,9}) +datetime: *(\S{1,40})")
_STEP_BEGINS = re.compile(rb"(?:Time step:|Begin of timestep =) +\d")
_LAST_WORDS = b": clean-up finished"
_GRIB = 2
_MOST_WARNINGS = 20
_MEANINGS = {  # timers of the run's row: group, timer, which of its numbers
    "total_s": ("work", "total", "total_avg_s"),
    "total_max_s": ("work", "total", "total_max_s"),
    "integrate_nh_s": ("work", "integrate_nh", "total_avg_s"),
    "model_init_s": ("work", "model_init", "total_avg_s"),
    "exch_data_s": ("work", "exch_data", "total_avg_s"),
    "wrt_output_work_s": ("work", "wrt_output", "total_avg_s"),
    "wrt_output_work_max_s": ("work", "wrt_output", "total_max_s"),
    "wait_for_async_io_s": ("work", "wait_for_async_io", "total_avg_s"),
    "wait_for_async_io_max_s": ("work", "wait_for_async_io", "total_max_s"),
    "wrt_output_io_s": ("io", "wrt_output", "total_avg_s"),
    "wrt_output_io_max_s": ("io", "wrt_output", "total_max_s"),
    "wrt_output_io_longest_s": ("io", "wrt_output", "t_max_s"),
    "write_restart_work_s": ("work", "write_restart", "total_avg_s"),
    "write_restart_work_max_s": ("work", "write_restart", "total_max_s"),
    "write_restart_procs_s": ("restart", "write_restart", "total_avg_s"),
    "write_restart_procs_max_s": ("restart", "write_restart", "total_max_s"),
    "write_restart_wait_procs_s": ("restart", "write_restart_wait", "total_avg_s"),
    "write_restart_communication_procs_s": ("restart", "write_restart_communication", "total_avg_s"),
    "read_restart_files_s": ("work", "read_restart_files", "total_avg_s"),
}


_WANTED = {(group, timer) for group, timer, _ in _MEANINGS.values()}
_RATES = (
    ("output_get_bytes_per_s", "output_received_bytes", "output_get_s"),
    ("output_write_bytes_per_s", "output_bytes", "output_write_s"),
    ("checkpoint_write_bytes_per_s", "checkpoint_bytes", "checkpoint_write_s"),
)
_PLAIN_FACTS = (
    *("ntasks", "release", "nproma", "dtime_s", "checkpoint_interval", "restart_interval", "experiment_stop"),
    "run_stop",
)
_GROUPS = {
    "num_work_procs": "work",
    "num_io_procs": "io",
    "num_restart_procs": "restart",
    "num_prefetch_proc": "prefetch",
    "num_test_procs": "test",
}
_LEGIBLE_S = 0.05  # from which a time to the millisecond tells 4 bytes from 8
_COARSE = 0.02


class Running:
    """A run whose lines come one by one; `emit` takes the rows below it, if `events`, as they are complete.

    `reads_all`: whether every line is to come, by `read`; otherwise, before the first step only lines with an anchor,
    and from then on the anchors themselves, by `read_at`, and the last step before them, by `catch_up`.
    """

    def __init__(
        self,
        log: str,
        number: int,
        line: int,
        layout: Mapping[str, Any],
        emit: Callable[[Row | LogWarning], None],
        events: bool,
        is_labelled: bool,
    ) -> None:
        self.reads_all = True
        self.has_steps = False
        self.is_cut = False
        self._row: dict[str, Any] = {"log": log, "run": number, "line": line}
        self._layout = layout
        self._emit = emit
        self._events = events
        self._is_labelled = is_labelled  # then the beginning of a line is not where it seems
        self._header = Header(self._warn)
        self._output = OutputLines(self._on_output)
        self._checkpoints = CheckpointLines(self._on_checkpoint)
        self._reports = TimerReports(self._warn)
        self._failures = Failures()
        self._steps: tuple[int, int] | None = None
        self._model_time: str | None = None
        self._has_ended = self._in_report = False
        self._sums: dict[str, float] = {}
        self._last_checkpoint: str | None = None
        self._timers: dict[tuple[str, str], TimerTotal] = {}
        self._wire: int | None = None
        self._warnings = 0

    def read(self, line: bytes, number: int, prefix: Prefix, is_cut: bool = False) -> None:
        """A whole line; `is_cut`: the file ends in it."""
        self.is_cut = is_cut
        at = line.find(b"Time step:")
        if at >= 0:
            prefix.learn(line[:at])
        rank, text = prefix.split(line)
        if self._in_report and self._read_report(text, number):
            return
        self._read_beyond_steps(text, number)
        for step in _STEP_BEGINS.finditer(text):
            self._read_step(text, step.start())
        position = 0
        while anchor := ANCHORS.search(text, position):
            position = self.read_at(anchor, len(text), number, rank, prefix)

    def read_at(self, anchor: re.Match[bytes], end: int, number: int, rank: int | None, prefix: Prefix) -> int:
        """What an anchor stands for, in a line of the text that ends at `end`. Returns where to go on.

        `rank` is that of the line's label, if it has one.
        """
        text, at = anchor.string, anchor.start()
        what = anchor[0]
        if what == b"I/O PE ":
            self._check(self._output.read_rank(text, at, end, number), number, what)
        elif what == b"Output to ":
            self._check(self._output.read_output(text, at, end, number), number, what)
        elif what == b"Got " and not text.endswith(b"Checkpointing: ", 0, at):
            self._check(self._output.read_speed(text, at, end, number, rank), number, what)
        elif what in (b"restart", b"Got "):
            line = line_around(text, at, end)
            self._check(self._checkpoints.read(line, number, self._model_time), number, what)
            return end
        elif not self.reads_all:
            _, line = prefix.split(line_around(text, at, end))
            self._failures.read(line, self._has_ended)
            if what == b"Timer report" and is_report(line):
                self._begin_report(line, number)
            return end
        elif what == b"Timer report" and not self._in_report:
            line = line_around(text, at, end)
            if is_report(line):
                self._begin_report(line, number)
        return anchor.end()

    def catch_up(self, block: bytes, start: int, end: int, number: int) -> None:
        """Take the last step in a part of a block that was not read line by line, and the last words of the model."""
        for text in (b"Time step:", b"Begin of timestep"):
            at = block.rfind(text, start, end)
            while at >= 0 and not self._read_step(block, at):
                at = block.rfind(text, start, at)
        self._has_ended = self._has_ended or block.rfind(_LAST_WORDS, start, end) >= 0

    def _begin_report(self, line: bytes, number: int) -> None:
        self.reads_all = self._in_report = self._has_ended = True  # it is printed after a clean end
        self._reports.read(line, number)

    def finish(self, ending: Ending) -> LogRun:
        """The run's row; what is still open goes out first."""
        self._output.finish()
        self._reports.finish()
        self._finish_timers()
        header, facts = self._header, self._header.facts
        if not self._is_of_these_namelists():
            self._layout = {}
        width = self._width()
        stop, start = facts.get("run_stop"), facts.get("run_start")
        goes_on = None if stop is None else _plain(stop) != _plain(facts.get("experiment_stop", stop))
        state, reason, remark = state_of(self._failures, ending.word, self._has_ended, goes_on, self._model_time, stop)
        row = {
            **self._row,
            **{key: value for key, value in self._layout.items() if key != "filetype"},
            **{key: facts[key] for key in _PLAIN_FACTS if facts.get(key) is not None},
            **{key: ranks for key, group in _GROUPS.items() if (ranks := self._ranks(group, key)) is not None},
            "job": ending.job,
            "leg": ending.leg,
            "finish_status": ending.word,
            "state": state,
            "reason": reason,
            "started": header.started,
            "run_start": start,
            "last_model_time": self._model_time,
            "n_steps": self._steps[1] - self._steps[0] + 1 if self._steps is not None else None,
            "n_cells": header.n_cells,
            "output_bytes_per_value": width,
            **{
                column: getattr(self._timers[group, timer], number)
                for column, (group, timer, number) in _MEANINGS.items()
                if (group, timer) in self._timers
            },
            **self._totals(),
        }
        if self._checkpoints.mode is not None:
            row["restart_write_mode"] = self._checkpoints.mode
        notes = tuple(self._notes(width)) + ((remark,) if remark is not None else ())
        return LogRun(**row, n_warnings=self._warnings, notes=notes)

    @property
    def is_over(self) -> bool:
        """Whether what begins must be another run: this one has gone through its header or failed in it."""
        return self.has_steps or bool(self._failures.causes or self._failures.aftermath)

    def _read_beyond_steps(self, text: bytes, number: int) -> None:
        """A line before the first step, or after the last."""
        if not self.has_steps:
            self._header.read(text, number)
            self.reads_all = self._in_report or self._is_labelled or number - self._row["line"] < BANNER
        self._failures.read(text, self._has_ended)
        self._has_ended = self._has_ended or _LAST_WORDS in text

    def _read_report(self, text: bytes, number: int) -> bool:
        """Whether a line is a row of the timer report and nothing else."""
        row = self._reports.read(text, number)
        if isinstance(row, TimerTotal):
            self._on_single_rank(row)
            return True
        return row

    def _read_step(self, text: bytes, at: int) -> bool:
        """Whether there is a step; one that is cut by other ranks' lines does not matter, as there are others."""
        found = _STEP.match(text, at) or _OCEAN_STEP.match(text, at)
        if found is None:
            return False
        step = int(found[1])
        self._steps = (self._steps[0] if self._steps is not None else step, step)
        self._model_time = found[2].decode("utf-8", "replace").replace(" ", "T")
        self.has_steps = True
        self.reads_all = self._in_report
        return True

    def _is_of_these_namelists(self) -> bool:
        """Whether the namelists beside the log can be this run's: somebody may have changed them since."""
        there, here = self._layout.get("num_io_procs"), self._header.ranks("io")
        if there is None or here is None or there == here:
            return True
        self._warn(
            self._row["line"],
            f"the run has {here} I/O ranks, the namelist beside it {there}: its settings are not used",
        )
        return False

    def _ranks(self, group: str, column: str) -> int | None:
        ranks = self._header.ranks(group)
        is_joint = self._checkpoints.mode == JOINT and column == "num_restart_procs"
        return None if is_joint and self._layout.get(column) is not None else ranks

    def _width(self) -> int | None:
        """Bytes a value in the files; None for GRIB, or where neither log nor speeds tell."""
        filetypes = self._layout.get("filetype", ())
        if filetypes and all(kind == _GRIB for kind in filetypes):
            return None
        return self._header.facts.get("output_bytes_per_value") or (self._wire if self._wire is not None else None)

    def _on_output(self, columns: Columns) -> None:
        received, write_s = columns.get("received_bytes"), columns.get("write_s")
        logged = columns.get("logged_write_bytes_per_s")
        if self._header.facts.get("output_bytes_per_value") == 8:  # ICON sends what it stores (mo_nml_crosscheck)
            self._wire = 8
        elif received and logged and write_s is not None and write_s >= _LEGIBLE_S:
            values = logged * write_s / COUNTED_BYTES
            self._wire = 8 if received / values > (8 + 4) / 2 else 4
        width = self._width()
        stored = rate = None
        if width is not None and received is not None:
            stored = received * width // (self._wire or width)
        if width is not None and logged is not None:
            rate = logged * width / COUNTED_BYTES
        self._add("n_outputs", 1)
        self._add("output_received_bytes", received)
        self._add("output_bytes", stored)
        self._add("output_get_s", columns.get("get_s"))
        self._add("output_write_s", write_s)
        self._add("output_busy_s", columns.get("busy_s"))
        self._add("uncertain", 0 if columns.get("certain", True) else 1)
        if self._events:
            self._emit(OutputWrite(**columns, output_bytes=stored, write_bytes_per_s=rate, **self._place()))

    def _on_checkpoint(self, write: CheckpointWrite) -> None:
        if write.model_time is None or write.model_time != self._last_checkpoint:
            self._add("n_checkpoints", 1)
        self._last_checkpoint = write.model_time
        self._add("checkpoint_bytes", write.bytes)
        self._add("checkpoint_get_s", write.get_s)
        self._add("checkpoint_write_s", write.write_s)
        if self._events:
            self._emit(evolve(write, **self._place()))

    def _on_single_rank(self, row: TimerTotal) -> None:
        """A row of profiling_output 2: emitted as it is, and added to what the group's ranks have."""
        rank = int(row.ranks or 0)
        group = next((name for name, ranks in self._header.ranges.items() if rank in ranks), None)
        row = evolve(row, group=group, **self._place())
        if self._events:
            self._emit(row)
        if group is not None and row.total_avg_s is not None and (group, row.timer) in _WANTED:
            so_far = self._timers.get((group, row.timer))
            self._timers[group, row.timer] = row if so_far is None else _together(so_far, row)

    def _finish_timers(self) -> None:
        for group, ranks, table in groups(self._reports, self._header.ranges):
            for row in table.rows:
                if self._events:
                    self._emit(evolve(row, group=group, ranks=ranks, **self._place()))
                key = (group or "", row.timer)
                if key in _WANTED and (row.n_ranks or 0) > (
                    (self._timers[key].n_ranks or 0) if key in self._timers else 0
                ):
                    self._timers[key] = row

    def _totals(self) -> dict[str, Any]:
        sums: dict[str, Any] = {name: value for name, value in self._sums.items() if name != "uncertain"}
        for name in ("n_outputs", "output_received_bytes", "output_bytes", "n_checkpoints", "checkpoint_bytes"):
            if name in sums:
                sums[name] = int(sums[name])
        for name in [name for name in sums if name.endswith("_s")]:
            sums[name] = round(sums[name], 6)
        if self._checkpoints.wait_s is not None:
            sums["checkpoint_wait_s"] = round(self._checkpoints.wait_s, 9)
        for rate, amount, seconds in _RATES:
            if amount in sums and sums.get(seconds):
                sums[rate] = sums[amount] / sums[seconds]
        return sums

    def _notes(self, width: int | None) -> Iterator[str]:
        """What was corrected and what is uncertain."""
        sums = self._sums
        if len(self._header.splits) > 1:
            yield f"{len(self._header.splits)} components: ranks are summed up, timers are of the one with most ranks"
        if "output_received_bytes" in sums:
            yield self._note_on_rates(width)
            coarse = 0.0005 * sums["n_outputs"] / sums["output_write_s"] if sums.get("output_write_s") else None
            if coarse is None or coarse > _COARSE:
                error = "not known" if coarse is None else f"uncertain by {coarse:.0%}"
                yield f"times of output are logged to the millisecond: the rate of writing is {error}"
        if sums.get("uncertain"):
            yield f"{sums['uncertain']:.0f} speeds may be of other ranks' outputs; the sums are right"
        if "checkpoint_bytes" in sums and (self._checkpoints.mode or "").endswith("multifile"):
            yield "bytes of checkpoints: ICON's GB are 2**30 bytes (certain: its source)"
        if self._checkpoints.unfinished:
            yield f"{self._checkpoints.unfinished} checkpoint files were begun, but not completed in the log"
        if self._reports.joined:
            yield f"{self._reports.joined} rows of timer reports that were cut have been put together"
        if self._reports.unstopped:
            yield f"{self._reports.unstopped} timers were still running in the report; they are left out"

    def _note_on_rates(self, width: int | None) -> str:
        if width is None:
            return "ICON's rate of writing counts 4 bytes a value; how wide the values are in the files is not known"
        sure = "certain: ICON says so" if "output_bytes_per_value" in self._header.facts else "likely: as they are sent"
        if width == COUNTED_BYTES:
            return f"rate of writing as logged: the files hold 4 bytes a value, as ICON counts them ({sure})"
        return f"rate of writing doubled: ICON counts 4 bytes a value, the files hold 8 ({sure})"

    def _place(self) -> dict[str, Any]:
        return {"log": self._row["log"], "run": self._row["run"]}

    def _add(self, name: str, value: float | None) -> None:
        if value is not None:
            self._sums[name] = self._sums.get(name, 0) + value

    def _check(self, is_understood: bool, number: int, what: bytes) -> None:
        if not is_understood:
            self._warn(number, f'a line with "{what.decode().strip()}" that is not legible')

    def _warn(self, number: int, message: str) -> None:
        if self.is_cut:  # it is the end of the file, not of what was understood
            return
        self._warnings += 1
        if self._warnings <= _MOST_WARNINGS:
            self._emit(LogWarning(self._row["log"], number, message))
        elif self._warnings == _MOST_WARNINGS + 1:
            self._emit(LogWarning(self._row["log"], number, "and more of this kind; n_warnings has their number"))


def _together(one: TimerTotal, other: TimerTotal) -> TimerTotal:
    """Two ranks' rows of one timer as one row."""
    ranks, more = one.n_ranks or 1, other.n_ranks or 1
    mean = ((one.total_avg_s or 0.0) * ranks + (other.total_avg_s or 0.0) * more) / (ranks + more)
    return evolve(
        one,
        n_ranks=ranks + more,
        total_avg_s=mean,
        total_max_s=max(one.total_max_s or 0.0, other.total_max_s or 0.0),
        t_max_s=max(one.t_max_s or 0.0, other.t_max_s or 0.0),
    )


def _plain(date: str) -> str:
    """A date without the differences between ICON's ways to write it."""
    return date.replace(" ", "T").rstrip("Z").partition(".")[0]
