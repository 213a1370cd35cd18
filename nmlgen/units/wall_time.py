"""Wall times in the forms that Slurm's sbatch takes."""

from __future__ import annotations

import re

_FORMS = (
    (re.compile(r"(?P<minutes>[0-9]{1,9})"), "minutes"),
    (re.compile(r"(?P<minutes>[0-9]{1,9}):(?P<seconds>[0-9]{1,9})"), "minutes:seconds"),
    (re.compile(r"(?P<hours>[0-9]{1,9}):(?P<minutes>[0-9]{1,9}):(?P<seconds>[0-9]{1,9})"), "hours:minutes:seconds"),
    (re.compile(r"(?P<days>[0-9]{1,9})-(?P<hours>[0-9]{1,9})"), "days-hours"),
    (re.compile(r"(?P<days>[0-9]{1,9})-(?P<hours>[0-9]{1,9}):(?P<minutes>[0-9]{1,9})"), "days-hours:minutes"),
    (
        re.compile(r"(?P<days>[0-9]{1,9})-(?P<hours>[0-9]{1,9}):(?P<minutes>[0-9]{1,9}):(?P<seconds>[0-9]{1,9})"),
        "days-hours:minutes:seconds",
    ),
)
_SECONDS = {"days": 86400, "hours": 3600, "minutes": 60, "seconds": 1}


def parse_wall_time(text: str) -> int:
    """Seconds of a time limit as sbatch reads it: "00:40:00", "8:00" (eight minutes!), "1-12", "90".

    Raises ValueError for what sbatch refuses ("90s", "1h") and for the unlimited forms, which no job here means.
    """
    match, _ = _match(text)
    return sum(int(number) * _SECONDS[unit] for unit, number in match.groupdict().items())


def wall_time_form(text: str) -> str:
    """Which of sbatch's forms the text has, such as "minutes:seconds"."""
    return _match(text)[1]


def format_wall_time(seconds: int) -> str:
    """So many seconds as days-hours:minutes:seconds, or hours:minutes:seconds below a day."""
    days, rest = divmod(seconds, 86400)
    clock = f"{rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}"
    return f"{days}-{clock}" if days else clock


def spoken_time(seconds: float) -> str:
    """So many seconds with a unit and at most three digits: "95 s", "8.43 min", "44.1 min", "3.2 h"."""
    for size, unit in ((1, "s"), (60, "min")):
        if seconds < 99.95 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 3600:.3g} h" if seconds < 3.6e6 else f"{seconds / 3600:.0f} h"


def rough_time(seconds: float) -> str:
    """So many seconds with one digit, in seconds, hours or days: "40 s", "0.3 h", "2 h", "60 days"."""
    if seconds < 950:
        return f"{float(f'{seconds:.1g}'):g} s"
    if seconds < 95 * 3600:
        return f"{float(f'{seconds / 3600:.1g}'):.3g} h"
    return f"{float(f'{seconds / 86400:.1g}'):.0f} days"


def _match(text: str) -> tuple[re.Match[str], str]:
    for pattern, form in _FORMS:
        if match := pattern.fullmatch(text):
            return match, form
    raise ValueError("a time limit as sbatch takes it is expected: hours:minutes:seconds or days-hours")
