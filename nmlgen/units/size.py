"""Sizes in bytes, written with a binary unit: 4M, 1GiB."""

from __future__ import annotations

import re

_PATTERN = re.compile(r"(\d+)([KMGTP])(?:iB)?", re.IGNORECASE)
_POWERS: dict[str, int] = {unit: 1 << 10 * power for power, unit in enumerate("KMGTP", start=1)}


def parse_size(text: str) -> int:
    """Bytes of a size such as "4M" or "1GiB"; raises ValueError when the unit is missing or unknown.

    The units are binary, as Lustre's and Slurm's are. "MB", which is decimal to some and binary to others, is
    refused.
    """
    match = _PATTERN.fullmatch(text)
    if not match:
        if re.fullmatch(r"\d+", text):
            raise ValueError("the unit is missing: write 4M or 4MiB, not a bare number")
        if re.fullmatch(r"\d+[kmgtp]b", text, re.IGNORECASE):
            raise ValueError(f"{text[-2:]} is decimal to some and binary to others: write {text[:-1]}iB")
        raise ValueError("a size such as 4M or 1GiB is expected")
    return int(match[1]) * _POWERS[match[2].upper()]


def format_size(size: int) -> str:
    """The shortest exact way to write so many bytes: 4M, 1G; bare bytes when no unit divides them."""
    for unit, power in reversed(_POWERS.items()):
        if size and size % power == 0:
            return f"{size // power}{unit}"
    return str(size)
