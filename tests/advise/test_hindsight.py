"""Why a run waited, said after it: by the timers of measured runs, and by each cause apart."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from rows import rows

from nmlgen import DarshanLog, LogRun
from nmlgen.advise.hindsight import Hindsight, hindsight

RUNS = Path(__file__).parents[2] / "presets" / "calibrations" / "levante-runs.csv"


def run(**facts: Any) -> LogRun:
    known: dict[str, Any] = {"total_s": 100.0, "wrt_output_work_s": 20.0, "num_io_procs": 4, "n_outputs": 400}
    known |= {"stream_partitions_ml": (4,), "wrt_output_io_s": 30.0, "wrt_output_io_max_s": 31.0}
    return LogRun(**(known | facts))


def cause(darshan: DarshanLog | None = None, **facts: Any) -> str:
    found = hindsight(run(**facts), darshan)
    assert found is not None
    return found.cause


def said(darshan: DarshanLog | None = None, **facts: Any) -> str:
    found = hindsight(run(**facts), darshan)
    assert found is not None
    return "\n".join(found.sentences)


def test_without_timers_nothing_is_said() -> None:
    assert hindsight(LogRun()) is None
    assert hindsight(run(wrt_output_work_s=None)) is None


@rows(
    ("facts", "expected"),
    [
        ({"wrt_output_work_s": 1.99}, "nothing"),
        ({"wrt_output_work_s": 2.0}, "bursts"),
        ({"num_io_procs": 0}, "no I/O ranks"),
        ({"wrt_output_io_max_s": 46.0}, "imbalance"),
        ({"wrt_output_io_max_s": 45.0}, "bursts"),
        ({"wrt_output_io_max_s": 46.0, "stream_partitions_ml": (1,)}, "bursts"),  # one writes: there is no other
        ({"wrt_output_io_s": 70.0, "wrt_output_io_max_s": 71.0}, "queue"),
        ({"wrt_output_io_s": 69.0, "wrt_output_io_max_s": 70.0}, "bursts"),
        ({"wrt_output_io_s": 70.0, "output_get_s": 41.0, "output_write_s": 40.0}, "receiving"),
        ({"wrt_output_io_s": 70.0, "output_get_s": 40.0, "output_write_s": 40.0}, "queue"),
        ({"wrt_output_io_longest_s": 3.0}, "stall"),
        ({"wrt_output_io_longest_s": 2.9}, "bursts"),
        ({"wrt_output_io_longest_s": 3.0, "n_outputs": 60}, "bursts"),  # a call takes 2 s on average
    ],
)
def test_causes(facts: dict[str, Any], expected: str) -> None:
    assert cause(**facts) == expected


def test_darshan_knows_the_longest_write() -> None:
    facts = {"n_writes": 1000, "written_bytes": 8_200_000, "write_s": 100.0}
    darshan = DarshanLog(**facts, longest_write_s=8.25, longest_write_rank=127)
    assert cause(darshan) == "stall"
    text = said(darshan)
    assert "by Darshan a call on rank 127 lasted 8.2 s" in text
    assert "A write has 8.2 kB on average (Darshan): so small" in text
    head = "A write has 2.0 MB on average (Darshan): large enough"
    large = DarshanLog(n_writes=10, written_bytes=20_000_000, write_s=1.0, longest_write_s=0.2)
    assert head in said(large)


def test_who_idles() -> None:
    text = said(num_io_procs=10, stream_partitions_ml=(4, 4))
    assert "2 of 10 I/O ranks idled all the time: there are 8 partitions to write." in text
    assert "The I/O ranks that wrote idled 70 % of the run." in text


def test_the_usual_indicator_and_why_it_misleads() -> None:
    assert "20.0 s above half of the I/O ranks' 30.0 s) more I/O ranks pay" in said()
    assert "It misleads" in said(wrt_output_work_s=15.0)
    assert "indicator" not in said(wrt_output_work_s=1.0)  # nobody waits, and it says so, too
    assert "indicator" not in said(num_io_procs=0)


def test_checkpoints() -> None:
    text = said(write_restart_work_s=2.0, restart_write_mode="async")
    assert "Checkpoints (async) held the workers up for 2.0 s (2.0 %)." in text
    assert "Checkpoints" not in said(write_restart_work_s=1.9)


def measured() -> list[tuple[int, int, Hindsight]]:
    """Nodes, I/O ranks and what is said of each measured run with output."""
    found = []
    lines = (line for line in RUNS.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    for row in csv.DictReader(lines):
        if float(row["output_interval_s"] or 1e6) > 720:
            continue
        facts = {name: float(row[column]) for name, column in COLUMNS.items() if row[column]}
        ranks = int(row["num_io_procs"])
        seen = hindsight(LogRun(num_io_procs=ranks, stream_partitions_ml=(int(row["stream_partitions"]),), **facts))
        assert seen is not None
        found.append((int(row["nodes"]), ranks, seen))
    return found


COLUMNS = {
    "total_s": "total_s",
    "wrt_output_work_s": "wrt_output_worker_avg_s",
    "wrt_output_io_s": "wrt_output_io_avg_s",
    "wrt_output_io_max_s": "wrt_output_io_avg_s",
}


def test_measured_runs() -> None:
    """Without I/O ranks all wait for one rank; on several nodes a single one has too much to do; 32 hold nobody up."""
    seen = measured()
    assert len(seen) >= 40
    assert {one.cause for _, ranks, one in seen if ranks == 0} == {"no I/O ranks"}
    assert {one.cause for nodes, ranks, one in seen if ranks == 1 and nodes > 1} == {"queue"}
    assert {one.cause for _, ranks, one in seen if ranks == 32} == {"nothing"}
