"""Reading logs: one pass, in blocks, whatever their size, with the memory that one run's row needs.

A log is a pile of lines of all ranks, mixed, sometimes cut into each other. While the model steps, only the lines with
an anchor are looked at (see `anchors.py`), which are found by one search over the bytes of a block.
"""

from __future__ import annotations

import errno
import gzip
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from math import inf
from pathlib import Path
from typing import Any, BinaryIO

from nmlgen.disk import IrregularFileError, open_regular, unreadable
from nmlgen.errors import InputError, UnreadableError
from nmlgen.logs.rows import CheckpointWrite, LogRun, LogWarning, OutputWrite, Row, TimerTotal
from nmlgen.models.icon.logs.anchors import (
    ANCHORS,
    HEADER_ANCHORS,
    LONGEST,
    NEEDS_STEP,
    RUN_BEGINS,
    RUN_GOES_ON,
    STARTS,
    line_around,
)
from nmlgen.models.icon.logs.beside import layout_beside, suffix_of
from nmlgen.models.icon.logs.finding import logs_below
from nmlgen.models.icon.logs.finish import Ending, ending_of
from nmlgen.models.icon.logs.prefixes import Prefix
from nmlgen.models.icon.logs.running import Running
from nmlgen.values import frozen

_BLOCK = 4 * 2**20
_LONGEST_LINE = 2**20
_PACKED = 100  # how many times smaller than itself a log can be made
_ROOM, _ROOM_IN_LINES = 256 * 2**20, 200_000  # what any compressed file may hold besides
_BYTES_OF_A_LINE = 3  # of a compressed file, of those lines that are looked at
_LINES_OF_A_RUN = 10  # a row takes as long as so many lines
_TOO_MUCH = "it unpacks to far more than a log does: from here on it is not read"

Progress = Callable[[int], None]
"""Called with the number of bytes that have been read since."""


@frozen(eq=False)
class Logs:
    """What was read: a tuple of rows for each table, and what was not understood."""

    runs: tuple[LogRun, ...]
    outputs: tuple[OutputWrite, ...] = ()
    checkpoints: tuple[CheckpointWrite, ...] = ()
    timers: tuple[TimerTotal, ...] = ()
    warnings: tuple[LogWarning, ...] = ()


def read_logs(
    paths: str | Path | Iterable[str | Path], *, events: bool = False, progress: Progress | None = None
) -> Logs:
    """Read ICON's logs: files, or directories in which logs are found.

    `events` asks for every output, checkpoint and timer, too, which takes memory with each; `scan_logs` hands them out
    one by one. Raises InputError if a path cannot be read, or a directory has no log.
    """
    found: dict[type, list[Any]] = {kind: [] for kind in (LogRun, OutputWrite, CheckpointWrite, TimerTotal, LogWarning)}
    for row in scan_logs(paths, events=events, progress=progress):
        found[type(row)].append(row)
    return Logs(*(tuple(rows) for rows in found.values()))


def scan_logs(
    paths: str | Path | Iterable[str | Path], *, events: bool = True, progress: Progress | None = None
) -> Iterator[Row | LogWarning]:
    """The rows of all tables and the warnings, as they come: a run's own row after what belongs to it.

    Raises InputError as `read_logs` does; of a log in a directory that cannot be read there is a warning.
    """
    given = [Path(path) for path in ([paths] if isinstance(paths, (str, Path)) else paths)]
    for path in logs_below(given):
        try:
            yield from _scan(path, events, progress)
        except UnreadableError as error:
            if path in given:
                raise
            yield LogWarning(str(path), 0, str(error).removeprefix(f"{path}: "))


def _scan(path: Path, events: bool, progress: Progress | None) -> Iterator[Row | LogWarning]:
    """One log."""
    rows: list[Row | LogWarning] = []
    reading = _Reading(path, rows.append, events)
    try:
        with open_regular(path) as raw:
            position = 0
            for block in _blocks((_unpacked if path.suffix == ".gz" else _pieces)(raw, reading)):
                reading.block(block)
                yield from rows
                rows.clear()
                if progress is not None and raw.seekable():
                    before, position = position, raw.tell()
                    progress(position - before)
                if reading.is_spent:
                    break
    except IsADirectoryError:
        raise InputError(f"{path} is a directory") from None
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except IrregularFileError as error:
        raise InputError(f"{path} {error.strerror}") from None
    except OSError as error:
        reason = f"{path}: {(error.strerror or str(error)).lower()}"
        raise (unreadable(error, str(path)) or InputError(reason)) from None
    reading.finish()
    yield from rows


def _blocks(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The pieces cut anew into whole lines; a last line without an end comes by itself, an endless one in parts."""
    rest = b""
    for piece in pieces:
        end = piece.rfind(b"\n") + 1
        if end:
            yield rest + piece[:end]
            rest = piece[end:]
        else:
            rest += piece
        if len(rest) > _LONGEST_LINE:
            yield rest
            rest = b""
    if rest:
        yield rest


def _pieces(raw: BinaryIO, reading: _Reading) -> Iterator[bytes]:
    """What was written into a file, without its holes."""
    is_file, position = raw.seekable(), 0
    while True:
        begin, size = _written(raw, position) if is_file else (position, _BLOCK)
        if begin > position:
            reading.warn(f"nothing was written into the {begin - position} bytes that follow: they are left out")
            raw.seek(begin)
        piece = raw.read(size)
        if not piece:
            return
        position = begin + len(piece)
        yield piece


def _unpacked(raw: BinaryIO, reading: _Reading) -> Iterator[bytes]:
    """What a compressed file holds, as far as a log of its size could."""
    stream, size = gzip.GzipFile(fileobj=raw), os.fstat(raw.fileno()).st_size
    reading.bound(_ROOM_IN_LINES + size // _BYTES_OF_A_LINE)
    while stream.tell() < _ROOM + _PACKED * size:
        try:
            piece = stream.read(_BLOCK)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            reading.warn(f"the compressed file is broken: {str(error).lower()}")
            return
        if not piece:
            return
        yield piece
    reading.warn(_TOO_MUCH)


def _written(raw: BinaryIO, position: int) -> tuple[int, int]:
    """Where the next bytes are that were written into a file, and how many are to be read: a hole takes no room, and
    what is in it no time."""
    descriptor = raw.fileno()
    there = os.lseek(descriptor, 0, os.SEEK_CUR)
    try:
        begin = os.lseek(descriptor, position, os.SEEK_DATA)
        return begin, min(_BLOCK, os.lseek(descriptor, begin, os.SEEK_HOLE) - begin)
    except OSError as error:
        if error.errno == errno.ENXIO:  # nothing follows
            return max(position, os.fstat(descriptor).st_size), _BLOCK
        return position, _BLOCK
    finally:
        os.lseek(descriptor, there, os.SEEK_SET)


class _Reading:
    """The runs of one log, one after the other."""

    def __init__(self, path: Path, emit: Callable[[Row | LogWarning], None], events: bool) -> None:
        self._path, self._log, self._events = path, str(path), events
        self._emit = emit
        self._prefix = Prefix()
        self._run: Running | None = None
        self._runs = 0
        self._line = 0  # lines before the block
        self._counted = (0, 0)  # a position in the block, and the lines before it
        self._caught = 0  # where in the block the last step was looked for
        self._last_end = 0  # where the last whole line of the block ends
        self._layout: dict[str, Any] | None = None
        self._left: float = inf  # lines that may still be looked at

    @property
    def is_spent(self) -> bool:
        """Whether no line is looked at any more."""
        return self._left <= 0

    def bound(self, lines: int) -> None:
        """Look at so many lines only."""
        self._left = lines

    def warn(self, message: str) -> None:
        """About the file as a whole."""
        self._emit(LogWarning(self._log, self._line, message))

    def block(self, block: bytes) -> None:
        """Some lines."""
        position = 0
        self._counted, self._caught, self._last_end = (0, self._line), 0, block.rfind(b"\n")
        while position < len(block) and not self.is_spent:
            run = self._run
            if run is not None and run.has_steps and not run.reads_all:
                position = self._skip(block, position, run)
                continue
            if run is None or not run.reads_all:
                position = _next(STARTS if run is None else HEADER_ANCHORS, block, position)
            if position < len(block):
                end = block.find(b"\n", position)
                line = block[position : min(end if end >= 0 else len(block), position + LONGEST)].rstrip(b"\r")
                self._read(line, self._number(block, position), end < 0)
                self._caught = position = end + 1 if end >= 0 else len(block)
        if self.is_spent:
            self._line = self._number(block, position) - 1
            self.warn(_TOO_MUCH)
            return
        self._line = self._number(block, len(block)) - 1

    def _skip(self, block: bytes, position: int, run: Running) -> int:
        """Go to the next anchor and read what it stands for; the end of the block if there is none."""
        anchor = ANCHORS.search(block, position)
        at = anchor.start() if anchor is not None else len(block)
        if anchor is None or anchor[0] in NEEDS_STEP:
            run.catch_up(block, self._caught, at, self._number(block, at))
            self._caught = at
            if anchor is None:
                return at
        end = block.find(b"\n", at, at + LONGEST)
        run.is_cut = at > self._last_end
        end = end if end >= 0 else min(len(block), at + LONGEST)
        number = self._number(block, at)
        self._left -= 1
        if anchor[0] == b"Globally run on":
            self._read(line_around(block, at, end), number, run.is_cut)
            return end
        rank = None
        if self._prefix.is_labelled:
            rank, _ = self._prefix.split(line_around(block, at, end))
        return run.read_at(anchor, end, number, rank, self._prefix)

    def _number(self, block: bytes, position: int) -> int:
        """The number of the line that a position is in."""
        before, line = self._counted
        self._counted = (position, line + block.count(b"\n", before, position))
        return self._counted[1] + 1

    def finish(self) -> None:
        """The file is over."""
        if self._run is None:
            self.warn("there is no run of ICON in it")
            return
        self._close(ending_of(self._path, suffix_of(self._path)))

    def _read(self, line: bytes, number: int, is_cut: bool) -> None:
        self._left -= 1
        begins = RUN_BEGINS.search(line) if b"mpi processes" in line else None
        if begins is not None and (self._run is None or self._run.is_over or b"Globally" in begins[0]):
            self._prefix.learn(line[: begins.start()].removesuffix(b"mo_mpi::start_mpi ICON: "))
            self._close(Ending())
            self._begin(number)
        elif self._run is None and RUN_GOES_ON.search(line) is not None:
            self._begin(number)
        if self._run is not None:
            self._run.read(line, number, self._prefix, is_cut)

    def _begin(self, number: int) -> None:
        if self._layout is None:
            self._layout = layout_beside(self._path)
        self._runs += 1
        self._left -= _LINES_OF_A_RUN
        self._run = Running(
            self._log, self._runs, number, self._layout, self._emit, self._events, self._prefix.is_labelled
        )

    def _close(self, ending: Ending) -> None:
        if self._run is not None:
            self._emit(self._run.finish(ending))
            self._run = None


def _next(pattern: re.Pattern[bytes], block: bytes, position: int) -> int:
    """Where the next line begins in which there is such a text, from the beginning of a line on; otherwise the end."""
    found = pattern.search(block, max(0, position - 1))  # the line's end before counts
    if found is None:
        return len(block)
    return max(position, block.rfind(b"\n", position, found.end()) + 1)
