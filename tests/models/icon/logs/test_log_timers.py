"""Timer reports: formats, tables that are printed into each other, rows that are cut."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from icon_logs import row, table
from rows import rows
from steps import grows_too_fast, steps

from nmlgen.logs.rows import TimerTotal
from nmlgen.models.icon.logs.timers import TimerReports, groups, is_report

FOREIGN = " destruct_atmo_nonhydrostatic: finish statistics streams"


def read(lines: list[str]) -> tuple[dict[str, TimerTotal], list[str]]:
    warnings: list[str] = []
    report = TimerReports(lambda line, message: warnings.append(f"{line}: {message}"))
    for number, line in enumerate(lines, 1):
        report.read(line.encode(), number)
    report.finish()
    return {timer.timer: timer for one in report.tables for timer in one.rows}, warnings


WHOLE = row("wrt_output", 2, 9, 0.125)
ROWS = [row("total", 2, 1, 10.0), WHOLE, row("model_init", 2, 1, 0.25)]


def test_whole_rows() -> None:
    timers, warnings = read(table("2,3", 2, ROWS))
    assert list(timers) == ["total", "wrt_output", "model_init"]
    assert not warnings
    output = timers["wrt_output"]
    assert (output.calls, output.t_min_s, output.total_max_s, output.n_ranks, output.line) == (18, 0.125, 1.125, 2, 8)


@rows("cut", range(36, len(WHOLE.rstrip())))
def test_a_row_that_is_cut_anywhere_in_its_numbers(cut: int) -> None:
    lines = table("2,3", 2, [ROWS[0], WHOLE[:cut] + FOREIGN, "another line", WHOLE[cut:] + FOREIGN, ROWS[2]])
    timers, warnings = read(lines)
    if "wrt_output" in timers:
        assert timers["wrt_output"].total_avg_s == 1.125
        assert timers["wrt_output"].n_ranks == 2
    else:  # cut so that the rest could be anything
        assert warnings
    assert timers["model_init"].total_avg_s == 0.25


def test_most_cuts_are_mended() -> None:
    mended = 0
    for cut in range(36, len(WHOLE.rstrip())):
        timers, _ = read(table("2,3", 2, [WHOLE[:cut] + FOREIGN, WHOLE[cut:] + FOREIGN]))
        mended += "wrt_output" in timers
    assert mended > 0.9 * (len(WHOLE.rstrip()) - 36)


def test_cut_twice() -> None:
    pieces = [WHOLE[:90] + FOREIGN, ROWS[2], WHOLE[90:120] + FOREIGN, FOREIGN, WHOLE[120:] + FOREIGN]
    timers, warnings = read(table("2,3", 2, pieces))
    assert timers["wrt_output"].total_avg_s == 1.125
    assert not warnings


def test_the_first_blank_is_in_another_line() -> None:
    timers, warnings = read(table("2,3", 2, [FOREIGN + " ", WHOLE[1:]]))
    assert timers["wrt_output"].calls == 18
    assert not warnings


def test_behind_another_text() -> None:
    timers, warnings = read(table("2,3", 2, [ROWS[0], "half a sentence" + WHOLE]))
    assert timers["wrt_output"].calls == 18
    assert not warnings


def test_two_tables_row_by_row() -> None:
    narrow = [row("wrt_output", 2, 9, 0.5, width=24), row("model_init", 2, 1, 0.5, width=24)]
    wide = [row("total", 3, 1, 10.0), row("wrt_output", 3, 7, 0.25), row("model_init", 3, 1, 0.125)]
    one, other = table("3,4", 2, narrow, 24), table("0-2", 3, wide)
    lines = [line for pair in zip(other, one, strict=False) for line in pair]
    report = TimerReports(lambda line, message: pytest.fail(message))
    for number, line in enumerate(lines, 1):
        report.read(line.encode(), number)
    found = {
        group: (ranks, [timer.total_avg_s for timer in one.rows])
        for group, ranks, one in groups(report, {"work": range(3), "io": range(3, 5)})
    }
    assert found == {"work": ("0-2", [10.0, 1.75, 0.125]), "io": ("3,4", [4.5, 0.5])}


def test_numbers_that_disagree_are_refused() -> None:
    timers, warnings = read(table("2,3", 2, [ROWS[0], WHOLE.replace("1.125", "9.125"), ROWS[2]]))
    assert "wrt_output" not in timers
    assert warnings == ['8: the row of the timer "wrt_output" is not whole, or its numbers do not agree']


def test_a_row_without_its_rest() -> None:
    timers, warnings = read(table("2,3", 2, [ROWS[0], WHOLE[:90], ROWS[2]]))
    assert set(timers) == {"total", "model_init"}
    assert warnings == ['8: the row of the timer "wrt_output" is not whole, or its numbers do not agree']


def test_unstopped_timers_are_counted() -> None:
    report = TimerReports(lambda line, message: pytest.fail(message))
    for line in table("0", 1, [" total        1   <still active>", row("wrt_output", 1, 2, 0.5)]):
        report.read(line.encode(), 1)
    assert report.unstopped == 1


@pytest.mark.parametrize(
    ("shown", "seconds"),
    [("0.12345s", 0.12345), ("12.3456s", 12.3456), ("01m02s", 62), ("02h03m", 7380), ("01d02h", 93600)],
)
def test_durations(shown: str, seconds: float) -> None:
    total = f"{seconds:.3f}"
    line = f" {'total':<30}   1         " + f"{shown:>12}   " * 3 + f"{total}   " * 3
    timers, warnings = read(table("0", 1, [line]))
    assert not warnings
    assert timers["total"].t_avg_s == seconds


def test_lists_of_single_ranks() -> None:
    warnings: list[str] = []
    report = TimerReports(lambda line, message: warnings.append(message))
    assert report.read(b" Timer report of PE    3", 1) is False
    assert (
        report.read(b"th name                        # calls       t_min   t_average       t_max           t_total", 2)
        is False
    )
    line = b"00  L wrt_output                    12    0.12345s    0.12345s      01m02s      01m02s      62.34500"
    timer = report.read(line, 3)
    assert isinstance(timer, TimerTotal)
    assert (timer.timer, timer.ranks, timer.calls, timer.t_max_s, timer.total_avg_s) == (
        "wrt_output",
        "3",
        12,
        62,
        62.345,
    )
    assert not warnings


def test_a_report_without_the_number_of_ranks() -> None:
    """It follows from calls times their average over the mean total."""
    lines = table("2,3", 2, ROWS)
    rest = "   max rank   total min (s)   min rank   total max (s)   max rank   total avg (s)"
    old = [line + rest if "# calls" in line else re.sub(r"(\s)2\s*$", r"\1", line) for line in lines]
    timers, warnings = read(old)
    assert list(timers) == ["total", "wrt_output", "model_init"]
    assert [timer.n_ranks for timer in timers.values()] == [2, 2, 2]
    assert not warnings


def test_what_a_reader_of_icon_reports_is_no_timer_report() -> None:
    assert not is_report(b" Timer report: Total  132.26538 s, Read metadata    2.47186 s, Read data    2.90766 s")
    assert is_report(b" Timer report, ranks 0-7")
    assert is_report(b" PE      0 Timer report")


def test_the_average_of_one_rank_is_its_own() -> None:
    """ICON of 2022 divides the total of its only I/O rank by the number of the workers."""
    heading = " name                       # calls   t_min          t_avg          t_max          total min (s)   "
    line = " wrt_output                 2             0.00000s        7.1658s       14.3315s         14.332          "
    line += "14.332           1.791     "
    timers, warnings = read([" Timer report", heading, line])
    assert not warnings
    assert (timers["wrt_output"].total_avg_s, timers["wrt_output"].n_ranks) == (14.332, 1)


def test_a_line_of_very_many_rows_is_searched_for_some() -> None:
    def work(number: int) -> Callable[[], object]:
        reports = TimerReports(lambda line, message: None)
        for blanks in range(1, 65):
            reports.read(b" name" + b" " * blanks + b"# calls   ", blanks)
        line = b"x 1 1.0000s " * number + b"   s   "
        return lambda: reports.read(line, 100)

    assert not grows_too_fast(work, 200)
    assert steps(work(800)) < 20_000
