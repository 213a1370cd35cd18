"""Waiting for a sweep: looking at it now and then, until nothing of it waits or runs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from nmlgen.errors import InputError
from nmlgen.sweep.status import SweepStatus, status

INTERVAL_S = 30.0
"""Seconds between two looks: each asks a server that all users share."""

_LONGEST = 1e9  # seconds: no system sleeps for ever, or for what is no number

Watch = Callable[[SweepStatus], None]
"""Called with what each look shows."""


def wait(directory: str | Path, *, interval_s: float = INTERVAL_S, watch: Watch | None = None) -> SweepStatus:
    """Wait until no point of a sweep waits or runs; returns how far it is then.

    A look at which the scheduler cannot be asked decides nothing. Raises InputError if there is no sweep, or if
    `interval_s` is negative, or more than anybody waits.
    """
    for found in _looks(directory, interval_s, watch):
        if found is None:
            time.sleep(interval_s)
        else:
            return found
    raise AssertionError("the looks do not end by themselves")


async def wait_async(
    directory: str | Path, *, interval_s: float = INTERVAL_S, watch: Watch | None = None
) -> SweepStatus:
    """The same as `wait` for asyncio: others run while it looks and sleeps."""
    looks = _looks(directory, interval_s, watch)
    while (found := await asyncio.to_thread(next, looks)) is None:
        await asyncio.sleep(interval_s)
    return found


def _looks(directory: str | Path, interval_s: float, watch: Watch | None) -> Iterator[SweepStatus | None]:
    """None for each look that is not the last."""
    if not 0 <= interval_s <= _LONGEST:
        raise InputError(f"the interval is {interval_s} s; expected: from 0 to {_LONGEST:g}")
    while True:
        found = status(directory)
        if watch is not None:
            watch(found)
        is_under_way = found.counts["waiting"] or found.counts["running"]
        yield None if is_under_way or found.problem is not None else found
