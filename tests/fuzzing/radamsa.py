"""Any input as Radamsa changes it: a fuzzer for any program, that knows nothing of nmlgen."""

from __future__ import annotations

import random
from functools import cache
from typing import TYPE_CHECKING

from fuzzing.cases import Fuzzer, changed_from

if TYPE_CHECKING:
    from pyradamsa import Radamsa

_LARGEST = 1_000_000  # bytes of a file: what is promised of a megabyte is asked


@cache
def _radamsa() -> Radamsa:
    from pyradamsa import Radamsa  # not to be had for each machine

    return Radamsa()


def _changed(data: bytes, generator: random.Random) -> bytes:
    for _ in range(generator.choice((1, 1, 1, 2, 4))):
        data = _radamsa().fuzz(data, seed=generator.getrandbits(31), max_mut=_LARGEST)
    return data


def radamsa_from(fuzzer: Fuzzer) -> Fuzzer:
    """The cases of a fuzzer, of which a file or an answer is changed by Radamsa."""
    return changed_from(fuzzer, _changed)
