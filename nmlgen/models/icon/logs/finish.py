"""What became of a run: finished, to be continued, crashed, or cut off.

ICON writes OK or RESTART into finish.status after a clean end, RESTART where the experiment goes on after the run
(icon.f90:269-281); it does so after a blow-up, too. nmlgen's script notes each job of a chain and its word in a ledger.
"""

from __future__ import annotations

import re
from pathlib import Path

from nmlgen.disk import open_regular
from nmlgen.logs.rows import State
from nmlgen.models.icon.logs.failure import Failures
from nmlgen.values import frozen

_LEDGER = "nmlgen.legs"
_STATUS = "finish.status"
_OWN_LOG = re.compile(r".*\.(?P<job>\d+)\.icon\.log(?:\.gz)?$")
_LONGEST = 100_000  # characters of a ledger


@frozen
class Ending:
    """What the files beside a log say of its end: Slurm's job, which one of the chain, and ICON's word."""

    job: str | None = None
    leg: int | None = None
    word: str | None = None


def ending_of(log: Path, beside: str = "") -> Ending:
    """The ending that is noted beside a log. `beside` is the end of the names of the files that belong to it, if logs
    of several legs lie side by side: ".1"."""
    own = _OWN_LOG.match(log.name)
    job = own["job"] if own is not None else None
    if job is not None:
        for line in _text(log.parent / _LEDGER).splitlines():
            words = line.split()
            if len(words) == 3 and words[1] == job and re.fullmatch("[0-9]{1,9}", words[0]):
                return Ending(job, int(words[0]), words[2])
        return Ending(job)
    return Ending(word=_word(log, beside))


def _word(log: Path, beside: str) -> str | None:
    """What finish.status says, if it was written when the log was: ICON leaves the one of an earlier run in place."""
    status = log.parent / (_STATUS + beside)
    try:
        is_of_this_run = abs(status.stat().st_mtime - log.stat().st_mtime) <= _CLOSING
    except OSError:
        return None
    word = _text(status).strip()
    return word if word in ("OK", "RESTART") and (is_of_this_run or beside) else None


_CLOSING = 600  # seconds that a job may go on writing to its log when ICON has ended


def state_of(
    failures: Failures, word: str | None, has_ended: bool, goes_on: bool | None, reached: str | None, stop: str | None
) -> tuple[State, str | None, str | None]:
    """The state of a run, the reason for it, and what is remarkable about it.

    `has_ended`: ICON said so in the log. `goes_on`: whether the experiment's end is later than the run's, which counts
    more than the `word` in finish.status, for the next leg may have replaced that. `reached` and `stop`
    are the model times of the last step and of the planned end.
    """
    aftermath = "; ".join(failures.aftermath) or None
    if failures.causes:
        remark = f"finish.status says {word} all the same" if word is not None else None
        return "crashed", "; ".join(failures.causes), remark
    if word is not None or has_ended:
        remark = f"after its end: {aftermath}" if aftermath is not None else None
        is_restarted = goes_on if has_ended and goes_on is not None else word == "RESTART"
        return ("restarted" if is_restarted else "finished"), None, remark
    if aftermath is not None:
        return "crashed", aftermath, None
    where = f"at model time {reached}" if reached is not None else "before the first time step"
    goal = f" of {stop}" if stop is not None and reached is not None else ""
    return "truncated", f"the log ends {where}{goal}, without a word why: killed, or still running", None


def _text(path: Path) -> str:
    try:
        with open_regular(path) as file:
            return file.read(_LONGEST).decode("utf-8", "replace")
    except OSError:
        return ""
