"""What is known of a site: the constants of the model, and how sure they are."""

from __future__ import annotations

from functools import cache
from math import exp, log
from statistics import NormalDist

from attrs import asdict, field, frozen

from nmlgen.advise.model import Constants

_SAMPLES = 96
_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41)


@frozen
class Calibration:
    """The constants of a site and their spread: the standard deviation of their logarithm."""

    name: str
    constants: Constants
    spread: Constants
    undetermined: tuple[str, ...] = ()
    samples: tuple[Constants, ...] = field(init=False, eq=False, repr=False)
    """What the constants may be, each as likely as the others: fixed, so that the same question has one answer."""

    @samples.default
    def _samples(self) -> tuple[Constants, ...]:
        mean, spread = asdict(self.constants), asdict(self.spread)
        return tuple(
            Constants(**{name: exp(log(mean[name]) + spread[name] * deviate[i]) for i, name in enumerate(mean)})
            for deviate in _deviates()
        )


@cache
def _deviates() -> tuple[tuple[float, ...], ...]:
    """Points of a Halton sequence, as standard normal deviates."""
    normal = NormalDist()
    return tuple(tuple(normal.inv_cdf(_halton(i, prime)) for prime in _PRIMES) for i in range(20, 20 + _SAMPLES))


def _halton(index: int, base: int) -> float:
    result, fraction = 0.0, 1.0
    while index:
        fraction /= base
        index, digit = divmod(index, base)
        result += digit * fraction
    return result


@cache
def levante() -> Calibration:
    """The calibration that ships."""
    constants = Constants(1.8, 10.0, 0.006, 1.32, 0.36, 0.488, 0.195, 2.9, 1.5, 0.55, 0.6, 0.2, 3.5)
    spread = Constants(0.3, 0.05, 1.0, 0.15, 0.3, 0.2, 0.3, 0.4, 0.7, 0.15, 0.15, 0.3, 0.3)
    return Calibration("levante", constants, spread)
