"""Normal distributions of several quantities: Cholesky factors, and points that stand for them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import sqrt
from operator import mul

Vector = tuple[float, ...]
Matrix = tuple[Vector, ...]

_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101)
_SKIPPED = 20  # the first points of a Halton sequence lie on a line


def cholesky(matrix: Sequence[Sequence[float]]) -> list[list[float]]:
    """The lower triangular L with L·Lᵀ the matrix. Raises ValueError if it is not positive definite.

    With how many zeros a row begins, with so many does that of L: so they are neither worked out nor looked at.
    """
    lower: list[list[float]] = []
    starts: list[int] = []
    for i, row in enumerate(matrix):
        start = _start(row, i)
        entries = [0.0] * start
        for j in range(start, i):
            other, begin = lower[j], max(start, starts[j])
            known = sum(map(mul, entries[begin:], other[begin:])) if begin < j else 0.0
            entries.append((row[j] - known) / other[j])
        pivot = row[i] - sum(map(mul, entries, entries))
        if pivot <= 0:
            raise ValueError("the matrix is not positive definite")
        entries.append(sqrt(pivot))
        lower.append(entries)
        starts.append(start)
    return lower


def solve(lower: Sequence[Sequence[float]], right: Sequence[float]) -> list[float]:
    """The x with L·Lᵀ·x = right."""
    return _solution(lower, _starts(lower), right)


def inverse(lower: Sequence[Sequence[float]]) -> list[list[float]]:
    """The inverse of L·Lᵀ."""
    starts, places = _starts(lower), range(len(lower))
    return [_solution(lower, starts, [float(j == i) for j in places]) for i in places]


def _solution(lower: Sequence[Sequence[float]], starts: Sequence[int], right: Sequence[float]) -> list[float]:
    x: list[float] = []
    for i, (row, start) in enumerate(zip(lower, starts, strict=True)):
        x.append((right[i] - sum(map(mul, row[start:], x[start:]))) / row[i])
    for i in range(len(x) - 1, -1, -1):
        row = lower[i]
        value = x[i] = x[i] / row[i]
        for j in range(starts[i], i):
            x[j] -= row[j] * value
    return x


def _starts(lower: Sequence[Sequence[float]]) -> list[int]:
    return [_start(row, i) for i, row in enumerate(lower)]


def _start(row: Sequence[float], end: int) -> int:
    """The number of zeros that a row begins with, of those before `end`."""
    return next((place for place in range(end) if row[place]), end)


@cache
def standard_points(dimensions: int, pairs: int) -> tuple[Vector, ...]:
    """Points that stand for a standard normal distribution, each with its mirror image: the same every time.

    They come from a Halton sequence, so the first dimensions are covered best.
    """
    from statistics import NormalDist  # not needed by who asks for the constants in the middle

    normal = NormalDist()
    points: list[Vector] = []
    for index in range(_SKIPPED, _SKIPPED + pairs):
        point = tuple(normal.inv_cdf(_halton(index, prime)) for prime in _PRIMES[:dimensions])
        points += [point, tuple(-value for value in point)]
    return tuple(points)


def _halton(index: int, base: int) -> float:
    result, fraction = 0.0, 1.0
    while index:
        fraction /= base
        index, digit = divmod(index, base)
        result += digit * fraction
    return result
