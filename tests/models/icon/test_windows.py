"""Output times of a stream, and how many of them come before a time."""

from itertools import pairwise, product

from nmlgen.models.icon.windows import Windows, in_turn, neighbours, number_before


def test_how_many_come_before_a_time_is_what_counting_says():
    some = [range(*bounds) for bounds in product(range(-3, 4), range(-4, 8), range(1, 4))]
    for dates, time in product(some, range(-6, 12)):
        assert number_before(dates, time) == sum(date < time for date in dates)
    several = Windows((range(0, 9, 3), (10, 11), range(20, 30, 5)))
    for time in range(-1, 32):
        assert number_before(several, time) == sum(date < time for date in several)


def test_output_times_in_turn_are_those_of_all_parts():
    several = in_turn(range(0), range(0, 9, 3), in_turn((10, 11), range(20, 30, 5)), (40,))
    assert list(several) == [0, 3, 6, 10, 11, 20, 25, 40]
    assert [list(several[at : at + 2]) for at in (2, 6)] == [[6, 10], [25, 40]]
    assert (in_turn((), range(3)), in_turn(())) == (range(3), ())


def test_neighbours_within_a_range_are_not_gone_through():
    long = range(0, 10**15, 5)
    assert list(neighbours(())) == list(neighbours((7,))) == list(neighbours(long)) == []
    assert list(neighbours((1, 4, 9))) == list(pairwise((1, 4, 9)))
    several = in_turn(long, (10**15, 10**15 + 2), range(10**15 + 3, 10**18, 7))
    assert list(neighbours(several)) == [(10**15 - 5, 10**15), (10**15, 10**15 + 2), (10**15 + 2, 10**15 + 3)]
