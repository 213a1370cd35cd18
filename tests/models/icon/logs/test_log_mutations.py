"""Damaged logs: whatever is cut out, doubled, mixed or overwritten, there is a table, and it does not take long."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from icon_logs import SELECTED, log, text

import nmlgen

MODES = [(mode, restart) for mode in SELECTED for restart in (0, 2)]
WHOLE = [text(log(mode=mode, restart=restart)) for mode, restart in MODES]
RUBBISH = (
    b"\x00",
    b"\xff" * 50,
    b"9" * 5000,
    b"restart: finished: 1E99999GB of data in 1s (1GB/s)",
    b" " * 3000,
    b"\r",
)
RUBBISH += (
    b"Got 9.9E+400 MB, time get: 1 s [ 1 MB/s], time write: 1 s [ 1 MB/s]",
    b"MAXABS VN, W" * 2000,
    b"FINISH PE:",
)


def mutated(data: bytes, chance: random.Random) -> bytes:
    """A few cuts, splices, insertions."""
    for _ in range(chance.randint(1, 8)):
        first, last = sorted(chance.randrange(len(data) + 1) for _ in range(2))
        last = min(last, first + chance.choice((1, 10, 100, 5000)))
        piece = data[first:last]
        other = chance.choice(WHOLE)
        at = chance.randrange(len(other))
        kind = chance.randrange(4)
        if kind == 0:
            data = data[:first] + data[last:]
        elif kind == 1:
            data = data[:first] + chance.choice(RUBBISH) + data[first:]
        elif kind == 2:
            data = data[:first] + other[at : at + chance.choice((10, 200, 4000))] + data[first:]
        else:
            data = data[:last] + piece + data[last:]
    return data


@pytest.mark.parametrize("seed", range(8))
def test_damaged_logs(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    file = tmp_path / "LOG"
    for _ in range(40):
        file.write_bytes(mutated(chance.choice(WHOLE), chance))
        logs = nmlgen.read_logs(file, events=True)
        for run in logs.runs:
            assert run.state in ("finished", "restarted", "crashed", "truncated")
            assert (run.reason is None) == (run.state in ("finished", "restarted"))
            assert run.total_s in (None, 100.0)  # a damaged row is no row
            assert run.wrt_output_io_s in (None, 24.0)


@pytest.mark.parametrize("mode", SELECTED)
def test_every_length(tmp_path: Path, mode: str) -> None:
    data = text(log(mode=mode))
    file = tmp_path / "LOG"
    for length in range(0, len(data), 97):
        file.write_bytes(data[:length])
        logs = nmlgen.read_logs(file, events=True)
        assert len(logs.runs) <= 1


def test_a_line_without_end(tmp_path: Path) -> None:
    file = tmp_path / "LOG"
    data = text(log())
    file.write_bytes(data[:2000] + b"x" * 3_000_000 + data[2000:])
    assert nmlgen.read_logs(file).runs[0].state == "finished"


def test_a_rank_after_the_other(tmp_path: Path) -> None:
    """Two ranks' texts, mixed in blocks of any size, as pipes do."""
    chance = random.Random(1)
    file = tmp_path / "LOG"
    one, other = text(log()), text([f" chatter {number}: of another rank" for number in range(500)])
    for _ in range(60):
        pieces, at, there = [], 0, 0
        while at < len(one):
            size, there_size = chance.randint(1, 4096), chance.choice((0, 30, 800))
            pieces += [one[at : at + size], other[there : there + there_size]]
            at, there = at + size, there + there_size
        file.write_bytes(b"".join(pieces))
        logs = nmlgen.read_logs(file, events=True)
        (run,) = logs.runs
        assert run.state == "finished"
        assert run.total_s in (None, 100.0)
        assert run.total_s is not None or logs.warnings
