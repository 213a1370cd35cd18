"""How far off a prediction may be where an experiment has what no measured run had."""

from __future__ import annotations

from collections.abc import Iterable
from math import exp, log, sqrt

from nmlgen.advise.experiment import Unlike
from nmlgen.advise.prediction import Prediction
from nmlgen.values import evolve

_NOTHING_KNOWN = 8.0  # the factor where nothing can be said: no time is told but a range
_FAR = 2.0  # a run that may take so many times as long, or the part of it, is told as a range, too
_COMPUTING = ("start-up", "computing", "ranks taken away")


def widened(prediction: Prediction, unlike: Iterable[Unlike]) -> Prediction:
    """The prediction with an interval that has room for it: each part of the run may take more or less by the factors
    of what it is `unlike`. Far off no time is told but a range."""
    computing = sum(prediction.parts.get(name, 0.0) for name in _COMPUTING) / prediction.total_s
    variance, is_far = 0.0, prediction.is_far
    for one in unlike:
        for factor, share in ((one.computing, computing), (one.writing, 1 - computing)):
            of_all = 1 + max(0.0, share) * ((factor or _NOTHING_KNOWN) - 1)
            variance += log(of_all) ** 2
            is_far = is_far or factor is None or of_all >= _FAR
    if not variance:
        return prediction
    reach = log(prediction.high_s / prediction.low_s) / 2
    middle = sqrt(prediction.high_s * prediction.low_s)
    wider = exp(sqrt(reach**2 + variance))
    return evolve(prediction, low_s=middle / wider, high_s=middle * wider, is_far=is_far)
