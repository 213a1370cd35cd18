"""What is believed before and after measurements."""

from __future__ import annotations

from math import exp, log2
from operator import mul
from statistics import NormalDist

import pytest
from specs import changed, load

from nmlgen import load_spec
from nmlgen.advise.calibration import levante
from nmlgen.advise.normal import cholesky, solve
from nmlgen.tuning.belief import Belief, Expected, Measured, _Conditioned
from nmlgen.tuning.candidates import candidates_of


def test_the_gain_is_the_mean_of_what_is_saved():
    """By the middle of ten thousand equally likely times."""
    expected = Expected(middle_s=110.0, spread=0.1)
    likely = [110.0 * exp(0.1 * NormalDist().inv_cdf((number + 0.5) / 10000)) for number in range(10000)]
    assert expected.gain(100.0) == pytest.approx(sum(max(0.0, 1 - time / 100) for time in likely) / 10000, rel=1e-3)
    assert sum(expected.low_s < time < expected.high_s for time in likely) == 8000


def test_a_sure_gain():
    assert Expected(90.0, 0.0).gain(100.0) == pytest.approx(0.1)
    assert Expected(110.0, 0.0).gain(100.0) == 0


def test_before_a_run_the_calibration_speaks():
    candidates = candidates_of(load())
    belief = Belief(candidates, levante())
    assert belief.knows
    times = [belief.expected(candidate).middle_s for candidate in candidates.candidates]
    assert 1 < max(times) / min(times) < 10


def test_a_measurement_moves_what_is_expected_and_makes_it_surer():
    candidates = candidates_of(load())
    one, other, *_ = candidates.candidates
    before = Belief(candidates, levante())
    after = before.after(one, Measured(2 * before.expected(one).middle_s))
    for candidate in (one, other):
        assert after.expected(candidate).middle_s > 1.5 * before.expected(candidate).middle_s
    assert after.expected(one).spread < min(before.expected(one).spread, after.expected(other).spread)


def test_what_is_under_way_makes_its_neighbours_surer():
    sweep = {"grid": {"parallel.nproma": [8, 16, 64]}}
    candidates = candidates_of(load(sweep=sweep))
    first, second, third = candidates.candidates
    belief = Belief(candidates, levante()).after(first, Measured(1000.0))
    assert belief.expected(third, [second]).spread < belief.expected(third).spread


def test_what_is_told_is_that_of_the_whole_matrix():
    candidates = candidates_of(load(sweep={"grid": {"parallel.nproma": [4, 8, 16, 32, 64]}})).candidates

    def covariance(one, other):
        values = (candidate.point.values["parallel.nproma"] for candidate in (one, other))
        return 1 / (1 + abs(log2(next(values) / next(values))))

    asked: list[tuple[str, str]] = []

    def noted(one, other):
        asked.append((one.point.id, other.point.id))
        return covariance(one, other)

    conditioned, noise = _Conditioned(noted, 0.1), 0.1
    for count in (0, 1, 2, 3, 2):
        seen = list(zip(candidates[:count], (0.5, -0.25, 1.0), strict=False))
        matrix = [[covariance(one, other) + noise * (one is other) for other, _ in seen] for one, _ in seen]
        for candidate in candidates:
            beside = [covariance(candidate, one) for one, _ in seen]
            weights = solve(cholesky(matrix), beside)
            expected = [sum(map(mul, weights, other)) for other in ([value for _, value in seen], beside)]
            assert conditioned.told(candidate, seen) == pytest.approx(tuple(expected))
        if count == 3:  # each pair once, and of those that were seen the variance
            assert len(asked) == 5 * 3 + 3


def test_surprises_make_the_model_less_trusted():
    candidates = candidates_of(load())
    one, other, third, *_ = candidates.candidates
    belief = Belief(candidates, levante())
    calm = belief.after(one, Measured(2000.0))
    calm = calm.after(other, Measured(calm.expected(other).middle_s))
    startled = belief.after(one, Measured(2000.0))
    startled = startled.after(other, Measured(1.5 * startled.expected(other).middle_s))
    assert startled.expected(third).spread > calm.expected(third).spread


def test_without_a_model_it_takes_a_measurement():
    document = changed(grid={"file": "grids/ours.nc"}, sweep={"grid": {"parallel.nproma": [4, 8, 16]}})
    del document["grid"]["name"]
    candidates = candidates_of(load_spec(document))
    belief = Belief(candidates, levante())
    assert not belief.knows
    with pytest.raises(ValueError, match="before the first measurement"):
        belief.expected(candidates.candidates[0])
    belief = belief.after(candidates.candidates[0], Measured(100.0))
    assert belief.expected(candidates.candidates[1]).middle_s == pytest.approx(100.0)


def test_numbers_that_are_near_are_alike():
    document = changed(grid={"file": "grids/ours.nc"}, sweep={"grid": {"parallel.nproma": [4, 8, 64]}})
    del document["grid"]["name"]
    candidates = candidates_of(load_spec(document))
    first, near, far = candidates.candidates
    belief = Belief(candidates, levante()).after(first, Measured(100.0))
    assert belief.expected(near).spread < belief.expected(far).spread
