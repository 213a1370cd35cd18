"""Sizes in bytes, written with a binary unit: 4M, 1GiB; for people also with a decimal one."""

from __future__ import annotations

import re

_PATTERN = re.compile(r"([0-9]{1,18})([KMGTP])(?:iB)?", re.IGNORECASE | re.ASCII)
_POWERS: dict[str, int] = {unit: 1 << 10 * power for power, unit in enumerate("KMGTP", start=1)}
_UNITS = ("B", "kB", "MB", "GB", "TB", "PB", "EB")


def parse_size(text: str) -> int:
    """Bytes of a size such as "4M" or "1GiB"; raises ValueError when the unit is missing or unknown.

    The units are binary, as Lustre's and Slurm's are. "MB", which is decimal to some and binary to others, is
    refused.
    """
    match = _PATTERN.fullmatch(text)
    if not match:
        if re.fullmatch(r"[0-9]+", text):
            raise ValueError("the unit is missing: write 4M or 4MiB, not a bare number")
        if re.fullmatch(r"[0-9]+[kmgtp]b", text, re.IGNORECASE | re.ASCII):
            raise ValueError(f"{text[-2:]} is decimal to some and binary to others: write {text[:-1]}iB")
        raise ValueError("a size such as 4M or 1GiB is expected")
    return int(match[1]) * _POWERS[match[2].upper()]


def format_size(size: int) -> str:
    """The shortest exact way to write so many bytes: 4M, 1G; bare bytes when no unit divides them."""
    for unit, power in reversed(_POWERS.items()):
        if size and size % power == 0:
            return f"{size // power}{unit}"
    return str(size)


def format_bytes(count: int, exactly: bool = False) -> str:
    """Bytes for people: in decimal units as ICON's log and Darshan use them, or, `exactly`, in groups of three digits.

    >>> format_bytes(254280168), format_bytes(254280168, exactly=True)
    ('254.3 MB', '254 280 168')
    """
    if exactly:
        return f"{count:,}".replace(",", " ")
    size, unit = float(count), 0
    while size >= 999.95 and unit < len(_UNITS) - 1:
        size, unit = size / 1000, unit + 1
    return f"{size:.1f} {_UNITS[unit]}" if unit else f"{count} B"
