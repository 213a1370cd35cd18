from __future__ import annotations

from itertools import combinations

import pytest
from rows import rows

from nmlgen.advise import recommend_stripes

HLRS = {4: 241.1, 8: 179.3, 16: 149.4, 32: 136.1, 40: 138.5}
"""Mean total run time by stripe count: MPAS with PnetCDF on WS11, TOPIO."""


@rows("counts", list(combinations(HLRS, 2)))
def test_two_measured_counts_choose_without_regret(counts):
    advice = recommend_stripes({count: HLRS[count] for count in counts}, stripe_counts=HLRS)
    assert HLRS[advice.stripe_count] == min(HLRS.values())


def test_all_counts_together_are_described():
    advice = recommend_stripes(HLRS, stripe_counts=HLRS)
    assert advice.stripe_count == 32
    for count, seconds in advice.times:
        assert seconds == pytest.approx(HLRS[count], rel=0.03)


def test_of_equal_counts_the_smallest_is_chosen():
    flat = recommend_stripes({1: 100.0, 2: 100.0, 4: 100.0, 8: 100.0, 16: 101.0})
    assert flat.stripe_count <= 4


def test_what_was_not_measured_is_to_be_measured():
    assert "more than 8 were not measured" in recommend_stripes({4: 241.1, 8: 179.3}).reason
    assert "not measured" not in recommend_stripes(HLRS).reason


@pytest.mark.parametrize(
    ("measured", "counts", "message"),
    [
        ({4: 241.1}, (4, 8), "1 stripe counts were measured; expected two or more"),
        ({4: 241.1, 0: 2.0}, (4, 8), "0 stripes in 2.0 s; expected at least one stripe"),
        ({4: 241.1, 8: -1.0}, (4, 8), "8 stripes in -1.0 s"),
        ({4: 241.1, 8: 179.3}, (), "there is no stripe count to choose from"),
        ({4: 241.1, 8: 179.3}, (0, 1), "0 stripes"),
    ],
)
def test_what_makes_no_sense_is_refused(measured, counts, message):
    with pytest.raises(ValueError, match=message):
        recommend_stripes(measured, stripe_counts=counts)
