"""How many stripes for a file that many processes write at once: from a few measured counts.

Seconds = a + b/count + d·count: what stripes do not change, what they share, and what each further one costs. At
HLRS (TOPIO, MPAS with PnetCDF on WS11, 30 runs) that fits within 1.1 %, with b/a 4.5 and d/b 0.0006; at HLRN-IV
(K. Ketelsen 2021, PALM with MPI-IO, 30 runs) b/a is 23, and nothing was lost up to 24 stripes. The stripe size made
no difference in either. ICON's I/O ranks write a file each, alone: nobody has measured what stripes do to those.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import exp, log
from operator import mul

from nmlgen.advise.normal import cholesky, solve
from nmlgen.advise.prediction import NOISE
from nmlgen.values import frozen

_SHARED_TO_FIXED = (10.0, 1.0)  # b/a between the two file systems, and the standard deviation of its logarithm
_COST_TO_SHARED = (6e-4, 1.0)  # d/b

_ITERATIONS = 30


@frozen
class StripeAdvice:
    """How many stripes to use, and what the run would take with each count."""

    stripe_count: int
    times: tuple[tuple[int, float], ...]
    """Each count with the seconds it is expected to take."""
    reason: str


def recommend_stripes(
    measured: Mapping[int, float], stripe_counts: Iterable[int] = (1, 2, 4, 8, 16, 32)
) -> StripeAdvice:
    """Which stripe count to choose, from the seconds that runs took with two counts or more.

    Of counts that differ by less than the noise it is the smallest: fewer servers are kept busy. Raises ValueError
    for fewer than two counts, and for times and counts that are not positive.
    """
    candidates = sorted(set(stripe_counts))
    if len(measured) < 2:
        raise ValueError(f"{len(measured)} stripe counts were measured; expected two or more")
    for count, seconds in [*measured.items(), *((count, 1.0) for count in candidates)]:
        if count < 1 or not 0 < seconds < float("inf"):
            raise ValueError(f"{count} stripes in {seconds} s; expected at least one stripe and more than 0 s")
    if not candidates:
        raise ValueError("there is no stripe count to choose from")
    logs = _fit(measured)
    times = tuple((count, _seconds(logs, count)) for count in candidates)
    shortest = min(seconds for _, seconds in times)
    chosen, expected = next(pair for pair in times if pair[1] <= shortest * (1 + NOISE))
    fixed, shared, cost = map(exp, logs)
    reason = (
        f"{chosen} stripes: {expected:.0f} s expected, of which {fixed:.0f} s do not depend on stripes; "
        f"{shared:.0f} s are shared by them, and each costs {cost:.2g} s"
    )
    largest = max(measured)
    if chosen > largest:
        reason += f"; more than {largest} were not measured, so measure {chosen} before relying on it"
    return StripeAdvice(chosen, times, reason)


def _seconds(logs: Iterable[float], count: int) -> float:
    fixed, shared, cost = map(exp, logs)
    return fixed + shared / count + cost * count


def _fit(measured: Mapping[int, float]) -> list[float]:
    """The most probable logarithms of a, b and d."""
    scale = log(min(measured.values()))
    logs = [scale - 0.5, scale, scale + log(_COST_TO_SHARED[0])]
    for _ in range(_ITERATIONS):
        misses = _misses(measured, logs)
        moved = [_misses(measured, [value + 1e-5 * (i == j) for j, value in enumerate(logs)]) for i in range(3)]
        slopes = [[(after - before) / 1e-5 for after, before in zip(row, misses, strict=True)] for row in moved]
        hessian = [[sum(map(mul, a, b)) for b in slopes] for a in slopes]
        step = solve(cholesky(hessian), [sum(map(mul, row, misses)) for row in slopes])
        longest = max(1.0, *(abs(change) for change in step))
        logs = [value - change / longest for value, change in zip(logs, step, strict=True)]
        if longest == 1.0 and max(map(abs, step)) < 1e-9:
            break
    return logs


def _misses(measured: Mapping[int, float], logs: list[float]) -> list[float]:
    """By how much times and ratios differ from what is expected, in standard deviations."""
    fixed, shared, cost = logs
    return [
        *(log(_seconds(logs, count) / seconds) / NOISE for count, seconds in measured.items()),
        (shared - fixed - log(_SHARED_TO_FIXED[0])) / _SHARED_TO_FIXED[1],
        (cost - shared - log(_COST_TO_SHARED[0])) / _COST_TO_SHARED[1],
    ]
