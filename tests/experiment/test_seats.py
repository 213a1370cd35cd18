"""The nodes of ranks as a spec says them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmlgen.experiment.seats import number_ranges, seat_count, seat_nodes, seat_text


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        ("1 on 0", [0]),
        ("2 on 0-1", [0, 0, 1, 1]),
        ("4 on 0-1, 1 on 0-1", [0, 0, 0, 0, 1, 1, 1, 1, 0, 1]),
        ("1 on 7-5", [7, 6, 5]),
        ("1 on 0-2, 1 on 0-2", [0, 1, 2, 0, 1, 2]),
        ("2 on 0, 1 on 1, 2 on 2", [0, 0, 1, 2, 2]),
        ("1 on 0, 1 on 2", [0, 2]),
    ],
)
def test_seats(text: str, nodes: list[int]) -> None:
    assert seat_nodes(text) == nodes
    assert seat_count(text) == len(nodes)
    assert seat_text(nodes) == text


@given(st.lists(st.integers(0, 9), min_size=1))
def test_there_and_back(nodes: list[int]) -> None:
    assert seat_nodes(seat_text(nodes)) == nodes


def test_a_range_is_written_without_counting():
    assert number_ranges(range(2**40)) == "0-1099511627775"
    assert number_ranges(range(3, 4)) == "3"
    assert number_ranges(range(0, 6, 2)) == "0,2,4"
