"""The lines about checkpoints, which every restart_write_mode has of its own.

    sync         Write netCDF2 restart for: T / Finished writing restart
    async        restart servers ready... waited t sec / Write netCDF2 restart for: T / Checkpointing: Got x MB, ...
    dedicated    compute procs waited t sec ... to be ready... / preparing checkpoint-data took t s /
                 restart: finished: x GB of data in t s (y GB/s)
    joint        restart: finished: x GB of data in t s (y GB/s), t with the preparation

The MB of the asynchronous mode is 1e6 bytes, the GB of the multifile modes is 2**30 (mo_multifile_restart.f90:383,
mo_async_restart_patch_data.f90:150).
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable

from nmlgen.logs.rows import CheckpointWrite
from nmlgen.models.icon.logs.output import MEGABYTE, number_of

GIBIBYTE = 2**30
SYNC, ASYNC = "sync", "async"
DEDICATED, JOINT = "dedicated procs multifile", "joint procs multifile"

_G = rb"\s*([-+]?(?:\d+(?:\.\d+)?|\.\d+)(?:[EeDd][-+]?\d+)?|[*]+)\s*"
_SELECTED = re.compile(rb"(asynchronous|\bsynchronous|multifile) restart writing selected(?:, (joint|with dedicated))?")
_WRITE = re.compile(rb"Write netCDF\d? restart for: (\S+)")
_SYNC_END = re.compile(rb"Finished writing restart")
_ASYNC_END = re.compile(rb"Checkpointing: Got%sMB, time get:%ss \[%sMB/s\], time write:%ss \[%sMB/s\]" % ((_G,) * 5))
_ASYNC_WAIT = re.compile(rb"restart servers ready(?:\.\.\. waited| for shutdown)" + _G + rb"sec")
_MULTIFILE_END = re.compile(rb"restart: finished:%sGB of data in%ss \(%sGB/s\)" % ((_G,) * 3))
_PREPARED = re.compile(rb"restart: preparing checkpoint-data took" + _G + rb"s")
_DEDICATED_WAIT = re.compile(rb"compute procs waited" + _G + rb"sec for dedicated restart procs to (be ready|finish)")
_UNDERSTOOD = re.compile(rb"restart: finished:|Checkpointing: Got|restart: preparing|compute procs waited \S")
_MOST_OPEN = 1000


class CheckpointLines:
    """The checkpoints of one run, and what its workers waited for them. `emit` takes each when it is written."""

    def __init__(self, emit: Callable[[CheckpointWrite], None]) -> None:
        self.mode: str | None = None
        self.wait_s: float | None = None
        self._emit = emit
        self._times: deque[str] = deque(maxlen=_MOST_OPEN)  # of files that are being written
        self._steps: deque[tuple[str | None, float | None]] = deque(maxlen=_MOST_OPEN)  # dedicated: step and wait
        self._prepared: deque[float | None] = deque(maxlen=_MOST_OPEN)
        self._waited: float | None = None

    def read(self, line: bytes, number: int, model_time: str | None) -> bool:
        """A line with "restart" or "Checkpointing" in it. Returns False if it should be legible and is not."""
        if selected := _SELECTED.search(line):
            self.mode = _MODES[selected[1].decode()] or (JOINT if selected[2] == b"joint" else DEDICATED)
        elif found := _WRITE.search(line):
            self._times.append(found[1].decode("utf-8", "replace"))
        elif _SYNC_END.search(line):
            time = self._times.popleft() if self._times else model_time
            self._emit(CheckpointWrite(line=number, restart_write_mode=SYNC, model_time=time))
        elif found := _ASYNC_END.search(line):
            self._asynchronous(found, number, model_time)
        elif found := _ASYNC_WAIT.search(line):
            self._waited = number_of(found[1])
            self._count(self._waited)
        elif found := _MULTIFILE_END.search(line):
            self._multifile(found, number, model_time)
        elif found := _PREPARED.search(line):
            self._prepared.append(number_of(found[1]))
        elif found := _DEDICATED_WAIT.search(line):
            waited = number_of(found[1])
            self._count(waited)
            if found[2] == b"be ready":
                self._steps.append((model_time, waited))
        else:
            return _UNDERSTOOD.search(line) is None
        return True

    @property
    def unfinished(self) -> int:
        """How many checkpoints were begun whose end is not logged."""
        return len(self._times) + len(self._steps)

    def _asynchronous(self, found: re.Match[bytes], number: int, model_time: str | None) -> None:
        megabytes, get_s, get_rate, write_s, write_rate = (number_of(text) for text in found.groups())
        self._emit(
            CheckpointWrite(
                line=number,
                restart_write_mode=ASYNC,
                model_time=self._times.popleft() if self._times else model_time,
                bytes=_bytes(megabytes, MEGABYTE),
                get_s=get_s,
                write_s=write_s,
                wait_s=self._waited,
                get_bytes_per_s=_rate(get_rate, MEGABYTE),
                write_bytes_per_s=_rate(write_rate, MEGABYTE),
            )
        )
        self._waited = None

    def _multifile(self, found: re.Match[bytes], number: int, model_time: str | None) -> None:
        gigabytes, write_s, rate = (number_of(text) for text in found.groups())
        is_dedicated = bool(self._steps or self._prepared) or self.mode == DEDICATED
        step, waited = self._steps.popleft() if self._steps else (model_time, None)
        self._emit(
            CheckpointWrite(
                line=number,
                restart_write_mode=DEDICATED if is_dedicated else JOINT,
                model_time=step,
                bytes=_bytes(gigabytes, GIBIBYTE),
                prepare_s=self._prepared.popleft() if self._prepared else None,
                write_s=write_s,
                wait_s=waited,
                write_bytes_per_s=_rate(rate, GIBIBYTE),
            )
        )

    def _count(self, waited: float | None) -> None:
        if waited is not None:
            self.wait_s = (self.wait_s or 0.0) + waited


_MODES = {"synchronous": SYNC, "asynchronous": ASYNC, "multifile": None}


def _bytes(value: float | None, unit: int) -> int | None:
    return round(value * unit) if value is not None else None


def _rate(value: float | None, unit: int) -> float | None:
    return value * unit if value is not None else None
