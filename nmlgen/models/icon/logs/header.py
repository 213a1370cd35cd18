"""What ICON says of itself before the first time step: who it is, when it runs, how its ranks split."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from nmlgen.units.duration import Duration

_RANKS = re.compile(
    rb"Number of procs for test: *(\d{1,9}), work: *(\d{1,9}), I/O: *(\d{1,9}), Restart: *(\d{1,9})"
    rb"(?:, Prefetching: *(\d{1,9}))?"
)
_GROUPS = ("test", "work", "io", "restart", "prefetch")
_DATE = rb"([+-]?\d+-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.\d]*Z?)"


def _seconds(text: str) -> float | None:
    try:
        return float(Duration.parse(text).seconds or 0) or None
    except ValueError:
        return None


def _width(bits: str) -> int:
    return int(bits) // 8


_FACTS: tuple[tuple[str, re.Pattern[bytes], Callable[[str], Any]], ...] = (
    ("ntasks", re.compile(rb"Globally run on +(\d{1,9}) mpi processes"), int),
    ("ntasks", re.compile(rb"ICON runs on +(\d{1,9}) mpi processes"), int),
    ("date", re.compile(rb"^ *date: +(\d{8})\s*$"), str),
    ("time", re.compile(rb"^ *time: +(\d{6})\s*$"), str),
    ("release", re.compile(rb"^ version: +(\S+)\s*$"), str),
    ("nproma", re.compile(rb"Using namelist nproma= *(\d{1,9})(?!\d)"), int),
    ("dtime_s", re.compile(rb"Model time step +: +(P\S+)"), _seconds),
    ("checkpoint_interval", re.compile(rb"Checkpoint interval +: +(P\S+)"), str),
    ("restart_interval", re.compile(rb"Restart interval +: +(P\S+)"), str),
    ("experiment_stop", re.compile(rb"Experiment stop date +: +" + _DATE), str),
    ("run_start", re.compile(rb"Start date of this run: +" + _DATE), str),
    ("run_stop", re.compile(rb"Stop date of this run: +" + _DATE), str),
    ("cell_ranks", re.compile(rb"Number of compute PEs used for this grid: +(\d{1,9})(?!\d)"), int),
    ("cells_a_rank", re.compile(rb"# +prognostic cells: max/min/avg +\d+ +\d+ +(\d+\.\d+)"), float),
    (
        "output_bytes_per_value",
        re.compile(rb"NetCDF output of floating point variables will be in (32|64)-bit"),
        _width,
    ),
)


class Header:
    """The facts of one run's beginning. `warn` takes a line that should hold one and does not."""

    def __init__(self, warn: Callable[[int, str], None]) -> None:
        self.facts: dict[str, Any] = {}
        self.splits: list[dict[str, int]] = []
        self._warn = warn

    def read(self, line: bytes, number: int) -> None:
        """A line before the first step, without labels."""
        if b"Number of procs for test" in line:
            split = _RANKS.search(line)
            if split is None:
                self._warn(number, "the line with the numbers of ranks is not legible")
            elif len(self.splits) < 16:  # more components than ICON takes
                self.splits.append({name: int(text or 0) for name, text in zip(_GROUPS, split.groups(), strict=True)})
            return
        for name, pattern, convert in _FACTS:
            found = pattern.search(line) if name not in self.facts else None
            if found is not None and len(found[1]) < 40:
                self.facts[name] = convert(found[1].decode("utf-8", "replace"))
                return

    @property
    def started(self) -> str | None:
        """`2026-11-21T10:21:02`, local to the host."""
        date, time = self.facts.get("date"), self.facts.get("time")
        if date is None or time is None:
            return None
        return f"{date[:4]}-{date[4:6]}-{date[6:]}T{time[:2]}:{time[2:4]}:{time[4:]}"

    @property
    def n_cells(self) -> int | None:
        """Of the first domain."""
        ranks, mean = self.facts.get("cell_ranks"), self.facts.get("cells_a_rank")
        return round(ranks * mean) if ranks is not None and mean is not None else None

    @property
    def ranges(self) -> dict[str, range]:
        """The ranks of each group, if there is one component (mo_mpi.f90:1628)."""
        if len(self.splits) != 1:
            return {}
        ranges, first = {}, 0
        for name in _GROUPS:
            ranges[name] = range(first, first + self.splits[0][name])
            first += self.splits[0][name]
        return ranges

    def ranks(self, group: str) -> int | None:
        """How many ranks of all components a group has."""
        return sum(split[group] for split in self.splits) if self.splits else None
