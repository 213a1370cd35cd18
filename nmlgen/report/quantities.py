"""Times, rates and shares as people read them."""

from __future__ import annotations

_MINUTE, _HOUR = 60, 3600
_DECIMALS_BELOW = ((1, 3), (100, 2), (10_000, 1))


def format_number(value: float) -> str:
    """A number with as many decimals as its size asks for, in groups of three digits.

    >>> format_number(0.0719), format_number(12.345), format_number(1504.035), format_number(12345.6)
    ('0.072', '12.35', '1 504.0', '12 346')
    """
    decimals = next((decimals for limit, decimals in _DECIMALS_BELOW if abs(value) < limit), 0)
    return f"{value:,.{decimals}f}".replace(",", " ")


def format_duration(seconds: float) -> str:
    """Seconds as a duration in two units at most.

    >>> format_duration(0.25), format_duration(59.9), format_duration(1504), format_duration(7325.6)
    ('0.25 s', '59.9 s', '25 min 4 s', '2 h 2 min')
    """
    if abs(seconds) < _MINUTE - 0.05:
        return f"{seconds:.3g} s"
    whole = round(seconds)
    if whole < _HOUR:
        return f"{whole // _MINUTE} min {whole % _MINUTE} s"
    minutes = round(seconds / _MINUTE)
    return f"{minutes // 60} h {minutes % 60} min"


def format_share(share: float) -> str:
    """A share as a percentage with its sign.

    >>> format_share(0.384), format_share(-0.0213), format_share(0.0), format_share(3.34)
    ('+38.4 %', '−2.1 %', '0.0 %', '+334 %')
    """
    percent = 100 * share
    text = f"{abs(percent):.0f}" if abs(percent) >= 100 else f"{abs(percent):.1f}"
    sign = "" if text == "0.0" else "+" if share > 0 else "\N{MINUS SIGN}"
    return f"{sign}{text} %"


def counted(number: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "run"), counted(2, "run"), counted(2, "advice")
    ('1 run', '2 runs', '2 advice')
    """
    return f"{number} {noun}" if number == 1 or noun == "advice" else f"{number} {noun}s"
