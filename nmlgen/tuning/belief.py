"""What is believed of the candidates after some were measured: how long each will take, and how sure that is.

The I/O model, fitted to the runs so far, says how long a candidate takes, with its own interval. What the model misses
is learned from the measurements by a Gaussian process over the logarithms of time: candidates with like values miss
alike. Keys of which the model knows nothing may matter much more than it errs elsewhere.

The model may be wrong altogether. So there is a second opinion, a Gaussian process that knows no model, and each counts
by how well it foretold what was measured. And some runs are made in proof of the model, where nothing is expected of
them: a few if there are many candidates, every second one where what was measured is not explained by it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from math import exp, log, log2, sqrt
from operator import mul
from statistics import NormalDist, median

from nmlgen.advise.calibration import Calibration
from nmlgen.advise.fitting import Run, calibrate
from nmlgen.advise.layout import present_layout
from nmlgen.advise.normal import cholesky, solve
from nmlgen.advise.play import played
from nmlgen.advise.prediction import NOISE, predict
from nmlgen.advise.support import EXTRAPOLATION, outside
from nmlgen.tuning.candidates import Candidate, Candidates
from nmlgen.values import evolve, field, frozen

UNSEEN_SPREAD = 0.2
"""How far candidates lie apart, as a standard deviation of the logarithm of time, that differ in what the I/O model
does not know: stripes alone made a factor of 1.6 (TOPIO on HLRS WS11). A judgement."""

MODEL_SPREAD = 0.02
"""How far the fitted model is trusted at first, beyond its own interval. Where it foretells runs worse, it is less."""

TRUST = 9.0
"""The odds for the model, before anything is measured, that it tells the layouts apart. A judgement."""

_VAGUE = 1.0  # the spread of the first time, of which the second opinion knows nothing
_TRUSTED_RUNS = 3  # so many runs is that trust worth
_MOST_ODDS = 50.0
_SURPRISE = 1.645  # standard deviations to either side that hold 90 %
_FAR_OFF = 0.16  # one that is missed by more than 40 % says no more of the others
_PROBES, _LEAST_PROBES = 8, 3  # so many runs tell whether a machine is like the model at all
_ACROSS = 0.25  # the part of the noise that a change of two keys at once has to promise where the model strays
_ONE_IN = 8  # so many candidates, one run in proof of the model
_ROUNDED = 1 + 1e-9
_LEAST_NOISE = 0.005  # a matrix needs some
_NONE = 2.0  # doublings that lie between none and one: without I/O ranks ICON writes in another way
_REACH = 1.5  # doublings of a value over which what the model misses becomes another
_EIGHTY_PERCENT = 1.2816  # standard deviations to either side that hold 80 % of a normal distribution
_STANDARD = NormalDist()


@frozen
class Measured:
    """How long a candidate took, and the timers that `nmlgen.advise.Run` knows."""

    total_s: float
    timers: Mapping[str, float | None] = field(factory=dict)


@frozen
class Expected:
    """The time that a candidate is expected to take: the middle, and an interval that holds four runs of five."""

    middle_s: float
    spread: float
    """The standard deviation of its logarithm."""
    doubt: float = 0.0
    """How likely the other opinion is the right one, that does not ask the model, or does if this one does not."""
    other: Expected | None = None

    @property
    def low_s(self) -> float:
        """One run in ten is faster."""
        return self.middle_s * exp(-_EIGHTY_PERCENT * self.spread)

    @property
    def high_s(self) -> float:
        """One run in ten is slower."""
        return self.middle_s * exp(_EIGHTY_PERCENT * self.spread)

    def gain(self, best_s: float) -> float:
        """The expected improvement over a time, as a share of it: what this saves if it is faster, times how likely
        that is; by both opinions, as far as each is believed."""
        if self.other is None:
            return self._own_gain(best_s)
        return (1 - self.doubt) * self._own_gain(best_s) + self.doubt * self.other.gain(best_s)

    def log_density(self, seconds: float, noise: float) -> float:
        """The logarithm of the probability density of a time, as its logarithm; `noise` is the variance of a run."""
        variance = self.spread**2 + noise
        return -((log(seconds / self.middle_s)) ** 2) / (2 * variance) - log(variance) / 2

    def _own_gain(self, best_s: float) -> float:
        distance = log(best_s / self.middle_s)
        if self.spread == 0:
            return max(0.0, 1 - self.middle_s / best_s)
        mean = self.middle_s / best_s * exp(self.spread**2 / 2)
        better = distance / self.spread
        return _STANDARD.cdf(better) - mean * _STANDARD.cdf(better - self.spread)


class Belief:
    """What is believed of the candidates; before any is measured, what `calibration` says. `after` gives another."""

    def __init__(
        self, candidates: Candidates, calibration: Calibration, noise: float = NOISE, with_model: bool = True
    ) -> None:
        self._candidates = {candidate.point.id: candidate for candidate in candidates.candidates}
        self._unseen = candidates.unseen
        self._beginning = self._fitted = calibration
        self._noise = max(noise, _LEAST_NOISE) ** 2
        self._has_model = with_model and all(candidate.case is not None for candidate in candidates.candidates)
        self._second = Belief(candidates, calibration, noise, with_model=False) if self._has_model else None
        self._surprised = False
        self._odds = log(TRUST)  # of the model against the second opinion, as a logarithm
        self._likenesses: dict[tuple[str, str], tuple[float, float]] = {}  # which no run changes
        if not with_model:
            values = (candidate.point.values for candidate in candidates.candidates)
            self._unseen = tuple(dict.fromkeys(key for keys in values for key in keys))
        self._learn((), ())

    def after(self, candidate: Candidate, measured: Measured) -> Belief:
        """What is believed when one more candidate was measured."""
        surprises = self._surprises
        if self._known:
            expected = self.expected(candidate)
            surprises = (*surprises, min(_FAR_OFF, log(measured.total_s / expected.middle_s) ** 2))
        found = copy(self)
        if self._second is not None:
            seconds = measured.total_s
            said = self._second.expected(candidate) if self._second.knows else Expected(seconds, _VAGUE)
            own = self._expected(candidate, ())
            miss = abs(log(seconds / own.middle_s))
            found._surprised = self._surprised or miss > _SURPRISE * sqrt(own.spread**2 + self._noise)
            change = own.log_density(seconds, self._noise) - said.log_density(seconds, self._noise)
            found._odds += (
                change if self._known else max(0.0, change)
            )  # of the first run the other opinion knows nothing
            found._second = self._second.after(candidate, measured)
        found._learn((*self._known, (candidate, measured)), surprises)
        return found

    def _learn(self, known: tuple[tuple[Candidate, Measured], ...], surprises: tuple[float, ...]) -> None:
        self._known, self._surprises = known, surprises
        self._times = [log(measured.total_s) for _, measured in known]
        calibration = self._beginning
        if self._has_model and known:
            runs = [_run(candidate, measured) for candidate, measured in known]
            calibration = calibrate(runs, self._beginning, near=self._fitted)
        self._fitted = calibration
        self._prior = self._prior_of_all(calibration)
        self._residuals = [
            time - self._prior[candidate.point.id].log for (candidate, _), time in zip(known, self._times, strict=True)
        ]
        self._model_variance, self._unseen_variance = self._spreads()
        self._alone, self._with_assumed = (_Conditioned(self._covariance, self._noise) for _ in range(2))

    @property
    def strays(self) -> bool:
        """Whether no model explains what was measured: there is none, a run took what it held to be unlikely, or it
        foretells them no better, by the odds that it began with, than the opinion that knows no model."""
        return self._second is None or self._surprised or self._odds < log(TRUST)

    def probe(self, left: Sequence[Candidate], tried: Sequence[Candidate], wanted: bool = False) -> Candidate | None:
        """What to try in proof of the model, whatever is expected of it: of those `left` that which is the least like
        all that was tried, or that which is the most like the best, two by two.

        None where enough was tried: a few runs where there are many candidates and, were the model wrong, more than
        noise to gain; where the model strays more, up to half of them as long as it is `wanted`, there being something
        to gain, or until what is beside the best was tried, and across from it what promises anything.
        """
        if not left or not self._known:
            return None
        keys = tuple(dict.fromkeys(key for candidate in left for key in candidate.point.values))
        best, measured = min(self._known, key=lambda known: known[1].total_s)
        near = min(left, key=lambda candidate: _distance(candidate, best, keys))
        far = max(left, key=lambda candidate: min(_distance(candidate, known, keys) for known in tried))
        count, found = len(self._candidates), near if len(tried) // 2 % 2 else far
        if not self.strays:
            return found if len(tried) < count // _ONE_IN and self._is_worth(found, measured.total_s) else None
        if len(tried) < min(_PROBES, max(_LEAST_PROBES, count // 3)) or (wanted and len(tried) < count / 2):
            return found
        beside = [candidate for candidate in left if self._are_beside(best, candidate, keys)]
        if beside or len(tried) >= count / 2:
            return min(beside, key=lambda candidate: _distance(candidate, best, keys), default=None)
        return self._across(best, measured.total_s, left, keys)

    def _across(
        self, best: Candidate, best_s: float, left: Sequence[Candidate], keys: Sequence[str]
    ) -> Candidate | None:
        """Where two keys have to change together, such as I/O ranks and partitions: of the candidates with the next
        values of two keys that which promises most, if that is worth a run."""
        gains = {item: self.expected(item).gain(best_s) for item in left if self._are_across(best, item, keys)}
        most = max(gains, key=gains.__getitem__, default=None)
        return most if most is not None and gains[most] ** 2 >= _ACROSS**2 * self._noise else None

    def _are_beside(self, one: Candidate, other: Candidate, keys: Sequence[str]) -> bool:
        """Whether no candidate lies between two: the next value of a key, all others being the same."""
        apart = _distance(one, other, keys) * _ROUNDED
        return not any(
            _distance(one, between, keys) + _distance(between, other, keys) <= apart
            for between in self._candidates.values()
            if between is not one and between is not other
        )

    def _are_across(self, one: Candidate, other: Candidate, keys: Sequence[str]) -> bool:
        """Whether two candidates differ in two keys, and in each by no more than to the next value."""
        apart = [key for key in keys if _difference(one.point.values.get(key), other.point.values.get(key))]
        return len(apart) == 2 and all(self._are_next(key, one, other) for key in apart)

    def _are_next(self, key: str, one: Candidate, other: Candidate) -> bool:
        """Whether no candidate has a value of a key between those of two."""
        first, last = one.point.values.get(key), other.point.values.get(key)
        apart = _difference(first, last) * _ROUNDED
        values = (candidate.point.values.get(key) for candidate in self._candidates.values())
        return not any(
            _difference(first, value) + _difference(value, last) <= apart
            for value in values
            if _difference(first, value) and _difference(value, last)
        )

    def _is_worth(self, candidate: Candidate, best_s: float) -> bool:
        """Whether more than noise is to gain, were the model wrong."""
        assert self._second is not None
        return self._second.expected(candidate).gain(best_s) ** 2 >= self._noise

    @property
    def knows(self) -> bool:
        """Whether anything is expected at all: without a model it takes a measurement."""
        return self._has_model or bool(self._known)

    def expected(self, candidate: Candidate, assumed: Sequence[Candidate] = ()) -> Expected:
        """What a candidate is expected to take. Those `assumed` run now, and count as measured just as expected.

        Raises ValueError if nothing is known yet.
        """
        if not self.knows:
            raise ValueError("without a model of it nothing is expected before the first measurement")
        own = self._expected(candidate, assumed)
        if self._second is None or not self._second.knows:
            return own
        second = self._second.expected(candidate, assumed)
        doubt = 1 / (1 + exp(min(_MOST_ODDS, max(-_MOST_ODDS, self._odds))))
        if doubt > 0.5:
            return evolve(second, doubt=1 - doubt, other=own)
        return evolve(own, doubt=doubt, other=second)

    def _expected(self, candidate: Candidate, assumed: Sequence[Candidate]) -> Expected:
        """By the model alone, where there is one."""
        prior = self._prior[candidate.point.id]
        conditioned = self._with_assumed if assumed else self._alone
        seen = [(one, residual) for (one, _), residual in zip(self._known, self._residuals, strict=True)]
        shift, known = conditioned.told(candidate, [*seen, *((one, 0.0) for one in assumed)])
        variance = self._covariance(candidate, candidate) - known
        return Expected(exp(prior.log + shift), sqrt(max(0.0, variance) + prior.variance))

    def _spreads(self) -> tuple[float, float]:
        """The variances of what the model misses, and of what it does not know: as judged before, and as seen since."""
        if self._unseen:
            return MODEL_SPREAD**2, self._seen_variance(UNSEEN_SPREAD**2)
        squares = sum(self._surprises)
        return (_TRUSTED_RUNS * MODEL_SPREAD**2 + squares) / (_TRUSTED_RUNS + len(self._surprises)), 0.0

    def _seen_variance(self, judged: float) -> float:
        """What makes the misses so far most probable, the judgement counting as much as one of them; one that is far
        off the others says no more than that."""
        count = len(self._residuals)
        if count < 2:
            return judged
        known, middle, most = [candidate for candidate, _ in self._known], median(self._residuals), sqrt(_FAR_OFF)
        noise = self._noise / judged
        lower = cholesky([[self._likeness(one, other)[1] + noise * (one is other) for other in known] for one in known])
        misses = [min(most, max(-most, residual - middle)) for residual in self._residuals]
        return float(judged + sum(map(mul, misses, solve(lower, misses)))) / count

    def _prior_of_all(self, calibration: Calibration) -> dict[str, _Prior]:
        if not self._has_model:
            middle = sum(self._times) / len(self._times) if self._times else 0.0
            return {candidate.point.id: _Prior(middle) for candidate in self._candidates.values()}
        return {candidate.point.id: _predicted(candidate, calibration) for candidate in self._candidates.values()}

    def _covariance(self, one: Candidate, other: Candidate) -> float:
        in_all, in_unseen = self._likeness(one, other)
        found = self._model_variance * in_all
        found += self._prior[one.point.id].beyond * self._prior[other.point.id].beyond
        if self._unseen:
            found += self._unseen_variance * in_unseen
        return found

    def _likeness(self, one: Candidate, other: Candidate) -> tuple[float, float]:
        """How alike two candidates are in all their keys, and in those of which the model knows nothing."""
        pair = one.point.id, other.point.id
        if (found := self._likenesses.get(pair)) is None:
            keys = dict.fromkeys((*one.point.values, *other.point.values))
            found = _likeness(one, other, keys), _likeness(one, other, self._unseen)
            self._likenesses[pair] = found
        return found


class _Conditioned:
    """A Gaussian process of which some values were seen.

    More are seen one after the other, behind those before: so each costs a row of a Cholesky factor, and each candidate
    a number more.
    """

    def __init__(self, covariance: Callable[[Candidate, Candidate], float], noise: float) -> None:
        self._covariance, self._noise = covariance, noise
        self._forget()

    def _forget(self) -> None:
        self._seen: list[tuple[Candidate, float]] = []
        self._pivots: list[float] = []
        self._scaled: list[float] = []
        self._rows: dict[str, list[float]] = {}

    def told(self, candidate: Candidate, seen: Sequence[tuple[Candidate, float]]) -> tuple[float, float]:
        """What candidates that were `seen`, each with its value, tell of one: by how much its value is shifted, and by
        how much its variance is smaller."""
        if seen[: len(self._seen)] != self._seen:
            self._forget()
        for one, value in seen[len(self._seen) :]:
            row = self._row(one)
            pivot = sqrt(self._covariance(one, one) + self._noise - sum(map(mul, row, row)))
            self._scaled.append((value - sum(map(mul, row, self._scaled))) / pivot)
            self._pivots.append(pivot)
            self._seen.append((one, value))
        row = self._row(candidate)
        return sum(map(mul, row, self._scaled)), sum(map(mul, row, row))

    def _row(self, candidate: Candidate) -> list[float]:
        """The covariances of a candidate with those that were seen, in the coordinates of the factor."""
        row = self._rows.setdefault(candidate.point.id, [])
        for (one, _), pivot in zip(self._seen[len(row) :], self._pivots[len(row) :], strict=True):
            known = sum(map(mul, row, self._rows[one.point.id]))  # of which as many count
            row.append((self._covariance(candidate, one) - known) / pivot)
        return row


@frozen
class _Prior:
    """What the model says: the logarithm of the time, its variance, and `beyond`, the standard deviation that comes of
    being unlike everything that was measured: candidates that are alike in that go wrong together."""

    log: float
    variance: float = 0.0
    beyond: float = 0.0


def _predicted(candidate: Candidate, calibration: Calibration) -> _Prior:
    situation = candidate.situation
    assert situation is not None
    prediction = played(situation, present_layout(situation), predict(situation.case, calibration), calibration)
    spread = log(prediction.high_s / prediction.low_s) / (2 * _EIGHTY_PERCENT)
    beyond = sum((EXTRAPOLATION * one.distance) ** 2 for one in outside(situation.case, calibration))
    return _Prior(log(prediction.total_s), max(0.0, spread**2 - beyond), sqrt(beyond))


def _run(candidate: Candidate, measured: Measured) -> Run:
    assert candidate.case is not None
    return Run(candidate.case, measured.total_s, measured.timers)


def _distance(one: Candidate, other: Candidate, keys: Mapping[str, None] | Sequence[str]) -> float:
    """How unlike the values of two candidates are: doublings of numbers, 1 for anything else that differs."""
    return sum(_difference(one.point.values.get(key), other.point.values.get(key)) for key in keys)


def _likeness(one: Candidate, other: Candidate, keys: Iterable[str]) -> float:
    """How far what is missed of one candidate is missed of another: 1 for the same values. A product of Matérn's
    functions (of order 3/2) of the doublings between numbers, so that a trend goes on for a while."""
    found = 1.0
    for key in keys:
        values = one.point.values.get(key), other.point.values.get(key)
        apart = sqrt(3) * _difference(*values) / _REACH
        found *= (1 + apart) * exp(-apart)
    return found


def _difference(one: object, other: object) -> float:
    if _is_amount(one) and _is_amount(other):
        return abs(log2((float(one) + 1) / (float(other) + 1))) + _NONE * (bool(one) != bool(other))  # type: ignore[arg-type]
    return float(one != other)


def _is_amount(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0
