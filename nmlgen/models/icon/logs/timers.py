"""ICON's timer reports: tables that several groups of ranks print at the same time, often into each other's lines.

With profiling_output 1 there is a table for each group of ranks (work, I/O, restart, test), with 2 a list for each
rank. A row that another rank's text has cut in two is put together again where the pieces fit and its own numbers
agree with each other (calls times average is the total); what remains is a warning.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice

from nmlgen.logs.rows import TimerTotal
from nmlgen.values import define, evolve, field, frozen

_TITLE = re.compile(rb"Timer report(?!: Total)(?:, ranks (?P<ranks>[\d,-]+)| of PE +(?P<pe>\d{1,9}))?")
_HEADER = re.compile(rb" name +# calls   ")
_DURATION = rb"(?:\d{1,9}\.\d{4,5}s|\d\dm\d\ds|\d\dh\d\dm|\d\dd\d\dh|>99d|negative|\*+)"
_SECONDS = rb"(?:-?\d{1,15}\.\d{3}|\*+)"
_KINDS = {
    "T": re.compile(_DURATION),
    "R": re.compile(rb"\[\d+\]"),
    "N": re.compile(_SECONDS),
    "P": re.compile(rb"\d{1,9}"),
}
_RANKED, _PLAIN = "TRTTRNRNRNP", "TTTNNN"
_WITHOUT_PES = _RANKED[:-1]  # until about 2022 the header ends with the average
_START = re.compile(
    rb"(?P<first> ?)(?P<indent> *)(?P<nested>L )?(?P<name>[^\s\d<]\S*(?: \S+)*?) {2,}(?P<calls>\d{1,15}|\*+)(?= {3,}|$)"
)
_REST = re.compile(rb"(?<! ) +(?P<calls>\d{1,15}|\*+) +" + _DURATION + rb"(?= )")
_PIECE = re.compile(rb"(?: *[\[\]\d.*>][\d.\[\]smhd*]*(?= |$))+ *")
_DETAILED = re.compile(
    rb" ?(?P<thread>\d\d) (?P<name>.{29})(?P<calls>[ \d]{6}|\*{6}) *(?P<min>%s) +(?P<avg>%s) +(?P<max>%s) +%s"
    rb" +(?P<total>\d{1,15}\.\d{5}|\*+)\s*$" % (_DURATION, _DURATION, _DURATION, _DURATION)
)
_ROW_LIKE = re.compile(rb"[smh]   ")
_REMAINDER = re.compile(rb"\d\.\d{4,5}s(?: |$)|\[\d+\] {5}|\d\dm\d\ds {3}")
_UNSTOPPED = re.compile(rb"<err>|<still active>")
_OF_WORKERS = {"integrate_nh", "nh_solve", "wait_for_async_io", "exch_data", "physics", "nh_hdiff"}
_MOST_TABLES, _MOST_ROWS, _MOST_PIECES, _PATIENCE = 64, 2000, 6, 60
_MOST_RESTS, _MOST_OFFSETS = 16, 8  # of rows in one line, and of columns where their calls may stand
_UNITS = {"d": 86400, "h": 3600, "m": 60, "s": 1}


@frozen
class _Duration:
    """A duration as printed, and half of its last digit."""

    value: float
    half: float


@define
class _Cut:
    """The beginning of a row whose rest is still to come."""

    text: bytes
    lines: list[int]


@define
class Table:
    """The rows of one table. `offset` is the column of its counts, from the beginning of a row."""

    offset: int
    rows: list[TimerTotal] = field(factory=list)
    path: list[str] = field(factory=list)

    def add(self, row: TimerTotal, depth: int) -> None:
        """A row `depth` levels below the first."""
        del self.path[depth:]
        self.rows.append(evolve(row, parent=self.path[-1] if self.path else None))
        self.path.append(row.timer)

    def total(self, timer: str) -> TimerTotal | None:
        """The timer of that name that was called by most ranks."""
        found = [row for row in self.rows if row.timer == timer]
        return max(found, key=lambda row: row.n_ranks or 0, default=None)


def is_report(line: bytes) -> bool:
    """Whether a line is the title of a timer report: `Timer report: Total ... s, Read metadata` of one of ICON's
    readers is none."""
    return _TITLE.search(line) is not None


class TimerReports:
    """The timer reports of one run, read line by line. `warn` takes what could not be understood."""

    def __init__(self, warn: Callable[[int, str], None]) -> None:
        self.tables: list[Table] = []
        self.titles: list[str] = []
        self.joined = 0
        self.unstopped = 0
        self._warn = warn
        self._cuts: list[_Cut] = []
        self._rank: str | None = None
        self._ranked = _RANKED

    def read(self, line: bytes, number: int) -> TimerTotal | bool:
        """A line of the report, without labels. Returns whether it was one of its rows and nothing else, or the row of
        a single rank's list, which is complete."""
        if _ROW_LIKE.search(line) and self._whole(line, number):
            return True
        title = _TITLE.search(line)
        if title is not None:
            self._begin(title)
        elif header := _HEADER.search(line):
            self._open(line.index(b"# calls", header.start()) - header.start())
            if b"min rank" in line:
                self._ranked = _WITHOUT_PES if b"total avg" in line and b"# PEs" not in line else _RANKED
        elif _UNSTOPPED.search(line):
            self.unstopped += 1
        elif self._rank is not None and (detailed := _DETAILED.match(line)):
            return _of_one_rank(detailed, self._rank, number)
        elif not self._piece(line, number) and _REMAINDER.search(line):
            self._warn(number, "a row of a timer report that is mixed with another line")
        return False

    def finish(self) -> None:
        """The run is over: what is still incomplete stays so."""
        for cut in self._cuts:
            self._give_up(cut)
        self._cuts.clear()

    def _begin(self, title: re.Match[bytes]) -> None:
        if title["pe"] is not None:
            self._rank = title["pe"].decode()
        elif len(self.titles) < _MOST_TABLES:
            self.titles.append((title["ranks"] or b"").decode())

    def _open(self, offset: int) -> Table:
        table = Table(offset)
        if len(self.tables) < _MOST_TABLES:
            self.tables.append(table)
        return table

    def _whole(self, line: bytes, number: int) -> bool:
        """Whether there is a complete row in the line, at its beginning or behind another rank's text."""
        offsets = dict.fromkeys(table.offset for table in self.tables)
        start = _START.match(line)
        if start is not None and _offset(start) not in offsets and (b" " in start["name"] or not start["first"]):
            start = None  # another rank's text, and behind it perhaps a row
        row = _row(line, start, number, self._ranked) if start is not None else None
        if row is None:
            for rest in islice(_REST.finditer(line), _MOST_RESTS):
                for offset in islice(offsets, _MOST_OFFSETS):
                    at = rest.start("calls") - offset
                    start = _START.match(line, at) if at > 0 else None  # pieces of other ranks' lines before it
                    row = row or (_row(line, start, number, self._ranked) if start is not None else None)
        if row is None or start is None:
            return False
        self._add(row, start)
        return True

    def _add(self, row: TimerTotal, start: re.Match[bytes]) -> None:
        offset = _offset(start)
        fitting = [table for table in self.tables if table.offset == offset]
        table = fitting[-1] if fitting else self._open(offset)
        if len(table.rows) >= _MOST_ROWS:
            return
        table.add(row, max(1, (len(start["indent"]) + 2) // 3) if start["nested"] else 0)

    def _piece(self, line: bytes, number: int) -> bool:
        """Whether the line begins with a piece of a row: its beginning, or what one that was cut lacks."""
        while self._cuts and number - self._cuts[0].lines[0] > _PATIENCE:
            self._give_up(self._cuts.pop(0))
        start = _START.match(line)
        if start is not None:
            rest = _PIECE.match(line, start.end())
            if rest is not None and _fits(rest[0].split(), self._ranked, partly=True):
                self._cuts.append(_Cut(line[: rest.end()], [number]))
                return True
            if rest is None and any(table.offset == _offset(start) for table in self.tables):
                self._cuts.append(_Cut(line[: start.end()] + b" ", [number]))
                return True
        piece = _PIECE.match(line)
        if piece is None or not piece[0].strip():
            return False
        return any(self._continue(cut, piece[0], number) for cut in reversed(self._cuts))

    def _continue(self, cut: _Cut, piece: bytes, number: int) -> bool:
        for text in (cut.text + piece, cut.text.rstrip(b" ") + piece):
            start = _START.match(text)
            if start is None:
                continue
            row = _row(text, start, cut.lines[0], self._ranked)
            if row is not None:
                self._cuts.remove(cut)
                self._add(row, start)
                self.joined += 1
                return True
            if len(cut.lines) < _MOST_PIECES and _fits(text[start.end() :].split(), self._ranked, partly=True):
                cut.text = text
                cut.lines.append(number)
                return True
        return False

    def _give_up(self, cut: _Cut) -> None:
        start = _START.match(cut.text)
        name = start["name"].decode(errors="replace") if start is not None else "?"
        self._warn(cut.lines[0], f'the row of the timer "{name}" is not whole, or its numbers do not agree')


def _offset(start: re.Match[bytes]) -> int:
    """The column of the counts; the first blank of a row may stand at the end of another rank's text."""
    return start.start("calls") - start.start() + 1 - len(start["first"])


def _fits(tokens: list[bytes], ranked: str, partly: bool) -> str | None:
    """The kinds of columns that the tokens have, None if they are no row; `partly`: as far as they go. `ranked` are the
    columns of a table of several ranks."""
    kinds = ranked if len(tokens) > 1 and tokens[1].startswith(b"[") else _PLAIN
    if len(tokens) < len(kinds) and not partly:
        return None
    if len(tokens) > len(kinds) and partly:
        return None
    whole = tokens[: len(kinds)]
    checked = whole[:-1] if partly and len(tokens) <= len(kinds) else whole
    return kinds if all(_KINDS[kind].fullmatch(token) for kind, token in zip(kinds, checked, strict=False)) else None


def _row(text: bytes, start: re.Match[bytes], number: int, ranked: str) -> TimerTotal | None:
    """The row that begins there, if it is complete and its numbers agree with each other."""
    tokens = text[start.end() :].split()
    kinds = _fits(tokens, ranked, partly=False)
    if kinds is None:
        return None
    durations = [_duration(token) for kind, token in zip(kinds, tokens, strict=False) if kind == "T"]
    totals = [_number(token) for kind, token in zip(kinds, tokens, strict=False) if kind == "N"]
    calls = _number(start["calls"])
    if kinds == _PLAIN and totals[0] == totals[1]:
        totals[2] = totals[0]  # of one rank; until about 2022 the average is over the workers, who are others
    ranks: int | None = int(tokens[len(kinds) - 1]) if kinds == _RANKED else 1
    if kinds == _WITHOUT_PES:
        ranks = _ranks(calls, durations[1], totals[2])
    if ranks is not None and not _agree(calls, durations, totals, ranks):
        return None
    shortest, average, longest = durations
    return TimerTotal(
        line=number,
        timer=start["name"].decode(errors="replace"),
        calls=int(calls) if calls is not None else None,
        t_min_s=shortest.value if shortest else None,
        t_avg_s=average.value if average else None,
        t_max_s=longest.value if longest else None,
        total_min_s=totals[0],
        total_max_s=totals[1],
        total_avg_s=totals[2],
        n_ranks=ranks,
    )


def _agree(calls: float | None, durations: list[_Duration | None], totals: list[float | None], ranks: int) -> bool:
    """Whether the totals are in order, and the calls times their average make the totals, as far as rounding goes."""
    least, most, mean = totals
    average = durations[1]
    if least is not None and most is not None and mean is not None and not least <= mean <= most:
        return False
    if calls is None or average is None or mean is None:
        return True
    slack = calls * average.half + ranks * 0.0005
    return abs(calls * average.value - mean * ranks) <= slack * 1.001 + 1e-9


def _ranks(calls: float | None, average: _Duration | None, mean: float | None) -> int | None:
    """How many ranks a row is of that does not say it: calls times their average are so many times the mean. None where
    rounding hides it."""
    if not calls or average is None or not mean or average.value <= 0:
        return None
    ranks = calls * average.value / mean
    slack = ranks * (average.half / average.value + 0.0005 / mean)
    return round(ranks) if slack < 0.5 and ranks > 0.5 else None


def _of_one_rank(row: re.Match[bytes], rank: str, number: int) -> TimerTotal:
    shortest, average, longest = (_duration(row[name]) for name in ("min", "avg", "max"))
    total, calls = _number(row["total"]), _number(row["calls"].strip())
    name = row["name"].decode(errors="replace").strip()
    return TimerTotal(
        line=number,
        ranks=rank,
        timer=name.removeprefix("L ").strip(),
        calls=int(calls) if calls is not None else None,
        t_min_s=shortest.value if shortest else None,
        t_avg_s=average.value if average else None,
        t_max_s=longest.value if longest else None,
        total_min_s=total,
        total_max_s=total,
        total_avg_s=total,
        n_ranks=1,
    )


def _duration(text: bytes) -> _Duration | None:
    """`0.12345s`, `12.3456s`, `01m02s`, `03h04m`, `05d06h`; None if it was too long for its field."""
    shown = text.decode()
    if not shown[0].isdigit():
        return None
    if "." in shown:
        return _Duration(float(shown[:-1]), 0.5 * 10.0 ** -len(shown[:-1].partition(".")[2]))
    larger, smaller = shown[2], shown[5]
    value = int(shown[:2]) * _UNITS[larger] + int(shown[3:5]) * _UNITS[smaller]
    return _Duration(value, _UNITS[smaller])  # whether it is rounded or cut is not known


def _number(text: bytes) -> float | None:
    return None if text.startswith(b"*") or not text else float(text)


def groups(reports: TimerReports, ranges: dict[str, range]) -> Iterator[tuple[str | None, str | None, Table]]:
    """Each table with the group of ranks that it is of, and the title's list of ranks.

    The timers tell the group: `total` runs on workers and in a test run, `wrt_output` without it on I/O ranks, the
    timers of restart alone on restart ranks; the numbers of ranks must fit. `ranges` are the ranks of each group, by
    which a title is found.
    """
    titles = list(reports.titles)
    for table in reports.tables:
        if not table.rows:
            continue
        group = _group(table, ranges)
        title = next((text for text in titles if _is_of(text, group, ranges)), None)
        if title is not None:
            titles.remove(title)
        elif group is not None and len(ranges.get(group, ())) == 1:
            title = str(ranges[group][0])
        yield group, title, table


def _group(table: Table, ranges: dict[str, range]) -> str | None:
    total = table.total("total")
    if total is not None:
        is_test = len(ranges.get("test", ())) == total.n_ranks != len(ranges.get("work", ()))
        return "test" if is_test else "work"
    if any(row.timer in _OF_WORKERS for row in table.rows):
        return "work"  # the row of `total` is lost
    for timer, group in (("wrt_output", "io"), ("write_restart", "restart"), ("write_restart_wait", "restart")):
        row = table.total(timer)
        if row is not None:
            return group if len(ranges.get(group, ())) in (0, row.n_ranks) else None
    return None


def _is_of(title: str, group: str | None, ranges: dict[str, range]) -> bool:
    first = re.match(r"\d{1,9}(?!\d)", title)
    return first is not None and group is not None and int(first[0]) in ranges.get(group, ())
