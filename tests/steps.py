"""How much work something is: counted, not timed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any


def steps(work: Callable[[], Any]) -> int:
    """The instructions that Python goes through; what one of them does within C counts as one."""
    count = 0

    def here(_frame: Any, event: str, _argument: Any) -> Any:
        nonlocal count
        count += event == "opcode"
        return here

    def call(frame: Any, _event: str, _argument: Any) -> Any:
        frame.f_trace_opcodes = True
        return here

    before = sys.gettrace()
    sys.settrace(call)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def grows_too_fast(work: Callable[[int], Callable[[], Any]], number: int) -> bool:
    """Whether twice as much of something is more than three times the work: `work` makes ready what there is so many
    times, and gives what is to be counted. The first time, in which things are loaded, does not count."""
    work(2)()
    few, many = steps(work(number)), steps(work(2 * number))
    return many > 3 * few
