"""What ICON demands of a value, and what it does with another one.

The facts lie in the registry of a release (`schemas/registry.schema.json`), each with the line of ICON's source.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from nmlgen.findings import some_of
from nmlgen.values import frozen

_MOST_SHOWN = 100  # of the values that are allowed; ICON 2025.10 has two dozen of some
_ENDS_THE_RUN = ("abort", "crash")


@frozen
class Condition:
    """What must hold for ICON to read a group or to look at a value.

    It is about the first value of a variable: that it is `one_of` some, `starts_with` a text or lies `above` a
    number. Where no variable tells it there is `text` only, and nobody can decide it from the namelists.
    """

    text: str | None = None
    group: str = ""
    variable: str = ""
    one_of: tuple[Any, ...] = ()
    starts_with: str | None = None
    above: float | None = None

    @property
    def is_decidable(self) -> bool:
        """Whether a namelist variable tells it."""
        return self.text is None

    def holds(self, value: Any) -> bool:
        """Whether it holds for a value of the variable; of several values the first counts."""
        first = value[0] if isinstance(value, (list, tuple)) and value else value
        first = first.strip() if isinstance(first, str) else first
        if self.starts_with is not None:
            return isinstance(first, str) and first.startswith(self.starts_with)
        if self.above is not None:
            return isinstance(first, (int, float)) and first > self.above
        return first in self.one_of

    @property
    def wanted(self) -> str:
        """The values with which it holds, in words: "2 or 5"."""
        if self.starts_with is not None:
            return f'"{self.starts_with}..."'
        if self.above is not None:
            return f"above {number(self.above)}"
        return " or ".join(map(literal, self.one_of))

    def __str__(self) -> str:
        return self.text or f"{self.group}: {self.variable} is {self.wanted}"


@frozen
class Constraint:
    """The values that a variable may have, and what ICON does with others.

    `effect` is "abort" (ICON stops with a message), "crash" (it ends without one, or hangs), "replaced" (it takes
    another value), "ignored" (the value has no effect) or "unchecked" (nothing looks at it); `below` is the effect of
    numbers below all permitted ones, where it differs. `condition` says when ICON looks at the value at all. `rules`
    are the codes of the rules that judge the variable in view of others. `high_expression` is an upper bound that
    depends on other variables; it is not applied here. `also` are single values outside the range that have a
    meaning. `source` is a line of ICON's source.
    """

    effect: str
    allowed: tuple[Any, ...] = ()
    forbidden: tuple[Any, ...] = ()
    low: float | None = None
    high: float | None = None
    low_excluded: bool = False
    high_excluded: bool = False
    high_expression: str | None = None
    also: tuple[float, ...] = ()
    below: str | None = None
    condition: Condition | None = None
    note: str | None = None
    rules: tuple[str, ...] = ()
    source: str | None = None

    def permits(self, value: Any) -> bool:
        """Whether one value is as ICON wants it; text is compared without case and trailing blanks."""
        if isinstance(value, str):
            return not self.allowed or value.strip().lower() in self._words
        if self.allowed and value not in self._values:
            return False
        if value in self.forbidden:
            return False
        return value in self.also or self._is_in_range(value)

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(str(choice).lower() for choice in self.allowed)

    @cached_property
    def _values(self) -> frozenset[Any]:
        return frozenset(self.allowed)

    def _is_in_range(self, value: Any) -> bool:
        if self.low is not None and (value < self.low or (self.low_excluded and value == self.low)):
            return False
        return self.high is None or value < self.high or (value == self.high and not self.high_excluded)

    def refuses(self, value: Any) -> bool:
        """Whether ICON stops at the value, once it looks at it."""
        if self.permits(value):
            return False
        numbers = (choice for choice in self.allowed if isinstance(choice, (int, float)))
        least = self.low if self.low is not None else min(numbers, default=None)
        is_below = self.below is not None and isinstance(value, (int, float)) and least is not None and value < least
        return (self.below if is_below else self.effect) in _ENDS_THE_RUN

    @property
    def expected(self) -> str:
        """The values permitted, in words: "one of 2, 4, 5", "0 or more", "1 to 10, or -1"."""
        parts = []
        if self.allowed:
            parts.append("one of " * (len(self.allowed) > 1) + some_of(self.allowed, _MOST_SHOWN, literal))
        if self.forbidden:
            parts.append("not " + " or ".join(map(literal, self.forbidden)))
        interval = self._interval()
        if interval:
            parts.append(interval)
        parts += [f"or {literal(value)}" for value in self.also]
        return ", ".join(parts)

    def _interval(self) -> str:
        low = None if self.low is None else number(self.low)
        high = self.high_expression if self.high is None else number(self.high)
        if low is not None and high is not None:
            ends = (f"above {low}" if self.low_excluded else low, f"below {high}" if self.high_excluded else high)
            return " and ".join(ends) if self.low_excluded else " to ".join(ends)
        if low is not None:
            return f"more than {low}" if self.low_excluded else f"{low} or more"
        if high is not None:
            return f"less than {high}" if self.high_excluded else f"{high} or less"
        return ""


def read_condition(entry: Mapping[str, Any] | None) -> Condition | None:
    """The condition of a registry's entry `when`; None where there is none."""
    if entry is None:
        return None
    group, _, variable = entry.get("variable", "").partition(".")
    return Condition(
        text=entry.get("text"),
        group=group,
        variable=variable,
        one_of=tuple(entry.get("one_of", ())),
        starts_with=entry.get("starts_with"),
        above=entry.get("above"),
    )


def read_constraint(entry: Mapping[str, Any]) -> Constraint | None:
    """The constraint of a variable's entry in a registry; None where there is none."""
    check = entry.get("check")
    if check is None:
        return None
    bounds = entry.get("range", {})
    return Constraint(
        effect=check["effect"],
        allowed=tuple(entry.get("allowed", ())),
        forbidden=tuple(entry.get("forbidden", ())),
        low=bounds.get("min"),
        high=bounds.get("max"),
        low_excluded=bounds.get("min_exclusive", False),
        high_excluded=bounds.get("max_exclusive", False),
        high_expression=bounds.get("max_expr"),
        also=tuple(bounds.get("also", ())),
        below=check.get("below"),
        condition=read_condition(check.get("when")),
        note=check.get("note"),
        rules=tuple(check.get("rules", ())),
        source=check.get("source"),
    )


def literal(value: Any) -> str:
    """A value as a spec writes it: true, "text", 5."""
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else number(value)


def number(value: float) -> str:
    """A number without a decimal point that says nothing: 0 for 0.0, 0.3 for 0.3."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else str(value)
