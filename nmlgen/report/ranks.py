"""The ranks of a job: how they split, and which I/O rank writes what, as tables and a small picture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from nmlgen.experiment.seats import TASK, Seat, number_ranges
from nmlgen.models.icon.clock import Clock
from nmlgen.models.icon.nodes import Node
from nmlgen.models.icon.ranks import KINDS, OVERLOADED, OutputFile, RankSplit, rank_numbers
from nmlgen.models.icon.schedule import Duty, Write
from nmlgen.models.icon.volume import Volume
from nmlgen.report.table import format_table
from nmlgen.units.duration import Duration
from nmlgen.units.size import format_bytes
from nmlgen.values import frozen
from nmlgen.visible import Shown, joined

_LABELS = {"io": "I/O", TASK: "ranks"}
_TASKS = (*KINDS, TASK)
_RED, _YELLOW = "31", "33"
_MOST_NAMED = 20  # programs on one node
_MOST_ROWS = 20_000  # of ranks and where they sit


@frozen
class Roster:
    """What `nmlgen ranks` shows: the split, each I/O rank's duties in the first job and, where it can be known, the
    volume of them, and all that is written at the first output times, in order; `output_times` counts all of the job,
    None where they are too many.
    `numbers` are those of the tasks in the job, where other components have some, too.
    """

    split: RankSplit
    duties: tuple[tuple[Duty, ...], ...]
    writes: tuple[Write, ...]
    output_times: int | None
    clock: Clock
    volumes: tuple[Volume, ...] | None = None
    numbers: tuple[int, ...] | None = None

    def writer(self, rank: int) -> int:
        """The number, among all tasks of the job, of an I/O rank: without I/O ranks of the first work rank."""
        own = self.split.test + (self.split.work if self.split.io else 0) + rank
        return own if self.numbers is None else self.numbers[own]

    def records(self, rank: int) -> int:
        """The records that an I/O rank writes in the job."""
        return sum(duty.records for duty in self.duties[rank])

    def load(self, rank: int) -> int:
        """The bytes that an I/O rank writes in the job; where they cannot be known, the records."""
        return self.volumes[rank].best if self.volumes is not None else self.records(rank)

    @property
    def mean_load(self) -> float:
        """The mean of the loads of the I/O ranks that write at all."""
        loads = [load for rank in range(len(self.duties)) if (load := self.load(rank))]
        return sum(loads) / len(loads) if loads else 0.0

    def state(self, rank: int) -> str:
        """ "idle" without a record, "overloaded" with more than half as many again as the mean load, else "busy"."""
        if not self.records(rank):
            return "idle"
        return "overloaded" if self.load(rank) > OVERLOADED * self.mean_load else "busy"


def ranks_document(roster: Roster) -> dict[str, Any]:
    """Split, duties and order of writing for programs; ranks count from 0, `io_rank` within the I/O ranks."""
    return {
        **split_document(roster.split, roster.numbers),
        "jobs": roster.clock.legs,
        "output_times": roster.output_times,
        "io_ranks": [_rank_document(roster, rank) for rank in range(len(roster.duties))],
        "writes": [_write_document(roster, write) for write in roster.writes],
    }


def split_document(split: RankSplit, in_job: tuple[int, ...] | None = None) -> dict[str, Any]:
    """The split alone, for programs; `ranks` is the first and the last number of a kind."""
    return {
        "tasks": split.total,
        "split": {
            kind: {
                "count": len(numbers),
                "ranks": [numbers[0], numbers[-1]] if numbers else None,
                "share": len(numbers) / split.total if split.total else 0.0,
            }
            for kind, numbers in rank_numbers(split, in_job).items()
        },
    }


def _rank_document(roster: Roster, rank: int) -> dict[str, Any]:
    return {
        "io_rank": rank,
        "rank": roster.writer(rank),
        "records": roster.records(rank),
        "bytes": roster.volumes[rank].best if roster.volumes is not None else None,
        "state": roster.state(rank),
        "files": [
            {**_file_document(duty.file), "records": duty.records, "files": duty.files, "first_name": duty.first_name}
            for duty in roster.duties[rank]
        ],
    }


def _file_document(file: OutputFile) -> dict[str, Any]:
    return {
        "stream": file.stream.title,
        "level_type": file.level_type,
        "domain": file.domain,
        "partition": file.partition,
        "partitions": file.partitions,
    }


def _write_document(roster: Roster, write: Write) -> dict[str, Any]:
    return {
        "time": _instant(roster.clock, write.time),
        "io_rank": write.rank,
        "name": write.name,
        "number": write.number,
        "record": write.record,
    }


def format_nodes(nodes: Sequence[Node], titles: Sequence[str], colour: bool = False, terminal: bool = False) -> str:
    """What sits where: a row for each node, one row for several in turn that hold the same. `titles` name the
    components and, behind them, the programs that are no models; that of a single one is left out."""
    rows = []
    for (crew, size, _), group in groupby(enumerate(nodes), _alike):
        together = [node for _, node in group]
        first, last = together[0], together[-1]
        ranks = sorted(rank for node in together for rank in node.ranks)
        numbers = str(first.number) if first is last else f"{first.number}-{last.number}"
        rows.append((numbers, str(size), _span(ranks) if ranks else "", _crew_words(dict(crew), titles, size)))
    return format_table(("node", "tasks", "ranks", "on each node"), rows, colour, terminal)


def _alike(numbered: tuple[int, Node]) -> tuple[tuple[tuple[tuple[int, str], int], ...], int, int]:
    """What nodes of one row have in common: who sits there, how many, and ranks that run on from node to node."""
    number, node = numbered
    runs_on = bool(node.ranks) and node.ranks[-1] - node.ranks[0] == len(node.ranks) - 1
    return tuple(sorted(node.crew.items())), len(node.ranks), -1 if runs_on or not node.ranks else number


def _crew_words(crew: Mapping[tuple[int, str], int], titles: Sequence[str], size: int) -> str:
    parts = []
    for number in sorted({number for number, _ in crew}):  # of thousands of programs few sit on one node
        kinds = [f"{crew[number, kind]} {_LABELS.get(kind, kind)}" for kind in _TASKS if crew.get((number, kind))]
        if kinds:
            parts.append((f"{titles[number]}: " if len(titles) > 1 else "") + ", ".join(kinds))
    if len(parts) > _MOST_NAMED:
        parts = [*parts[:_MOST_NAMED], f"{len(parts) - _MOST_NAMED} others"]
    unclaimed = size - sum(crew.values())
    parts += [f"{unclaimed} of no model"] if unclaimed else []
    return "; ".join(parts) or "nothing"


def nodes_document(nodes: Sequence[Node], titles: Sequence[str]) -> list[dict[str, Any]]:
    """The nodes for programs: `ranks` as ranges, first and last number of each, `tasks` by component and kind; of many
    components and programs those that have ranks on the node."""
    few = range(len(titles) if len(titles) <= _MOST_NAMED else 0)
    return [
        {
            "node": node.number,
            "ranks": _ranges(node.ranks),
            "tasks": {
                titles[number]: {kind: node.crew[number, kind] for kind in _TASKS if node.crew.get((number, kind))}
                for number in few or sorted({number for number, _ in node.crew})
            },
        }
        for node in nodes
    ]


def format_seats(seats: Sequence[Seat], programs: Sequence[str], colour: bool = False, terminal: bool = False) -> str:
    """Where the ranks of a node sit: its GPUs, cores, NUMA nodes and cards by rank; of nodes that are alike the first.
    Ranks without a GPU that do the same on one NUMA node share a row. `programs` names the programs."""
    by_node: dict[int, list[Seat]] = {}
    for seat in seats:
        by_node.setdefault(seat.node, []).append(seat)
    alike: dict[tuple[tuple[object, ...], ...], list[int]] = {}
    for number, crew in sorted(by_node.items()):
        alike.setdefault(tuple((s.program, s.kind, s.gpu, s.cores) for s in crew), []).append(number)
    rows: list[tuple[str, ...]] = []
    for told, numbers in enumerate(alike.values()):
        if len(rows) > _MOST_ROWS:
            rows.append((f"{len(alike) - told} others, each unlike these", *[""] * 7))
            break
        title = number_ranges(numbers)
        for (program, kind, gpu, numa, card), group in groupby(by_node[numbers[0]], _row):
            together = list(group)
            ranks = number_ranges(seat.rank for seat in together)
            cores = number_ranges(sorted(core for seat in together for core in seat.cores))
            what = (programs[program], _LABELS.get(kind, kind), "" if gpu is None else str(gpu))
            rows.append((title, ranks, *what, cores, number_ranges(numa), card))
            title = ""
    columns = ("node", "ranks of the first", "program", "does", "GPU", "cores", "NUMA", "card")
    return format_table(columns, rows, colour, terminal)


def _row(seat: Seat) -> tuple[int, str, int | None, tuple[int, ...], str]:
    return seat.program, seat.kind, seat.gpu, seat.numa, seat.card


def seats_document(seats: Sequence[Seat], programs: Sequence[str]) -> list[dict[str, Any]]:
    """The seats for programs, a mapping for each rank."""
    return [
        {
            "rank": seat.rank,
            "node": seat.node,
            "program": programs[seat.program],
            "does": seat.kind,
            "gpu": seat.gpu,
            "cores": list(seat.cores),
            "numa": list(seat.numa),
            "card": seat.card or None,
        }
        for seat in seats
    ]


def _ranges(numbers: Sequence[int]) -> list[list[int]]:
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ranges


def format_split(
    split: RankSplit, colour: bool = False, terminal: bool = False, in_job: tuple[int, ...] | None = None
) -> str:
    """The split as a table: one row for each kind of task that there is."""
    rows = [
        (_LABELS.get(kind, kind), str(len(numbers)), _span(numbers), f"{100 * len(numbers) / split.total:.1f} %")
        for kind, numbers in rank_numbers(split, in_job).items()
        if numbers
    ]
    rows.append(("all", str(split.total), _span(range(split.total) if in_job is None else in_job), "100.0 %"))
    return format_table(("tasks", "number", "ranks", "share"), rows, colour, terminal)


def format_duties(roster: Roster, colour: bool = False, terminal: bool = False) -> str:
    """What each I/O rank writes, a row for each sequence of files, in the order of writing."""
    rows: list[tuple[str, ...]] = []
    for rank, row in enumerate(roster.duties):
        number = str(roster.writer(rank))
        if not row:
            rows.append((str(rank), number, "nothing", "", "", "0", "0", ""))
        for turn, duty in enumerate(row):
            file = duty.file
            partition = f"{file.partition} of {file.partitions}" if file.partitions > 1 else ""
            head = ("", "") if turn else (str(rank), number)
            what = (file.stream.title, f"{file.level_type}, domain {file.domain}", partition)
            rows.append((*head, *what, str(duty.records), str(duty.files), duty.first_name or ""))
    if not roster.split.io:
        rows = [("none", *row[1:]) if row[0] else row for row in rows]
    headings = ("I/O rank", "rank", "stream", "levels", "partition", "records", "files", "first file")
    return format_table(headings, rows, colour, terminal)


def format_picture(roster: Roster, width: int, unicode: bool = True, colour: bool = False) -> str:
    """One row an I/O rank, one cell an output time: how many files the rank writes to at that time.

    `width` limits the row's cells to a terminal's columns; without `unicode` only ASCII characters are used.
    """
    times = sorted({write.time for write in roster.writes})
    label = max(len(str(len(roster.duties) - 1)), len("I/O rank"))
    times = times[: max(1, width - label - len("  12345678 records, 123.4 GB, overloaded"))]
    counts = Counter((write.rank, write.time) for write in roster.writes)
    lines = [
        _picture_row(roster, rank, [counts[rank, time] for time in times], label, unicode, colour)
        for rank in range(len(roster.duties))
    ]
    return joined("\n", [f"{'I/O rank':>{label}}  {_caption(roster, times)}", *lines, _legend(unicode)])


def _picture_row(roster: Roster, rank: int, counts: Sequence[int], label: int, unicode: bool, colour: bool) -> str:
    cells = "".join(_cell(count, unicode) for count in counts)
    state = roster.state(rank)
    records = roster.records(rank)
    words = [f"{records} record{'' if records == 1 else 's'}"]
    words += [format_bytes(roster.volumes[rank].best)] if roster.volumes is not None else []
    words += [state] if state != "busy" else []
    line = f"{rank:>{label}}  {cells}  {', '.join(words)}"
    tone = {"idle": _YELLOW, "overloaded": _RED}.get(state)
    return Shown(f"\x1b[{tone}m{line}\x1b[0m" if colour and tone else line)


def _cell(count: int, unicode: bool) -> str:
    if count < 2:
        return ("·■" if unicode else ".#")[count]
    return str(count) if count < 10 else "+"


def _caption(roster: Roster, times: Sequence[int]) -> str:
    if not times:
        return "no output"
    shown = f"{len(times)}"
    if roster.output_times != len(times):
        shown = f"the first {len(times)}" + (f" of {roster.output_times}" if roster.output_times is not None else "")
    noun = "output time" if roster.output_times == 1 else "output times"
    return f"{shown} {noun}, from {_instant(roster.clock, times[0])}"


def _legend(unicode: bool) -> str:
    none, one = ("·", "■") if unicode else (".", "#")
    return f"{none} nothing  {one} one file  2-9 so many files  + ten or more"


def _instant(clock: Clock, milliseconds: int) -> str:
    return str(clock.calendar.add(clock.start, Duration(0, milliseconds)))


def _span(numbers: Sequence[int]) -> str:
    if len(numbers) == 1:
        return str(numbers[0])
    return f"{numbers[0]}-{numbers[-1]}{'' if numbers[-1] - numbers[0] == len(numbers) - 1 else ', not all'}"
