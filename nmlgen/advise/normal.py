"""Normal distributions of several quantities: Cholesky factors, and points that stand for them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import sqrt

Vector = tuple[float, ...]
Matrix = tuple[Vector, ...]

_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101)
_SKIPPED = 20  # the first points of a Halton sequence lie on a line


def cholesky(matrix: Sequence[Sequence[float]]) -> list[list[float]]:
    """The lower triangular L with L·Lᵀ the matrix. Raises ValueError if it is not positive definite."""
    lower: list[list[float]] = []
    for i, row in enumerate(matrix):
        entries: list[float] = []
        for j in range(i):
            other = lower[j]
            entries.append((row[j] - sum(map(float.__mul__, entries, other))) / other[j])
        pivot = row[i] - sum(map(float.__mul__, entries, entries))
        if pivot <= 0:
            raise ValueError("the matrix is not positive definite")
        entries.append(sqrt(pivot))
        lower.append(entries)
    return lower


def solve(lower: Sequence[Sequence[float]], right: Sequence[float]) -> list[float]:
    """The x with L·Lᵀ·x = right."""
    x: list[float] = []
    for i, row in enumerate(lower):
        x.append((right[i] - sum(map(float.__mul__, row, x))) / row[i])
    for i in range(len(x) - 1, -1, -1):
        row = lower[i]
        value = x[i] = x[i] / row[i]
        for j in range(i):
            x[j] -= row[j] * value
    return x


def inverse(lower: Sequence[Sequence[float]], size: int) -> list[list[float]]:
    """The first `size` rows of the inverse of L·Lᵀ."""
    return [solve(lower, [float(j == i) for j in range(len(lower))]) for i in range(size)]


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
