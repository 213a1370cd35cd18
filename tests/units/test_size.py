"""Sizes: binary units only, and never a bare number."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmlgen.units.size import format_size, parse_size


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("1K", 1024),
        ("4M", 4 * 1024**2),
        ("4m", 4 * 1024**2),
        ("1GiB", 1024**3),
        ("256G", 256 * 1024**3),
        ("2T", 2 * 1024**4),
        ("1P", 1024**5),
        ("0M", 0),
    ],
)
def test_size_is_read(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("4", "unit is missing"),
        ("4MB", "write 4MiB"),
        ("256gb", "write 256giB"),
        ("4 M", "such as 4M"),
        ("1.5G", "such as 4M"),
        ("-1M", "such as 4M"),
        ("M", "such as 4M"),
        ("", "such as 4M"),
    ],
)
def test_size_is_refused(text: str, advice: str) -> None:
    with pytest.raises(ValueError, match=advice):
        parse_size(text)


@given(st.integers(1, 2**50), st.sampled_from("KMGTP"))
def test_printing_loses_nothing(number: int, unit: str) -> None:
    size = parse_size(f"{number}{unit}")
    assert parse_size(format_size(size)) == size


def test_shortest_unit_is_chosen() -> None:
    assert [format_size(parse_size(text)) for text in ("1024K", "1536M", "1024G")] == ["1M", "1536M", "1T"]
    assert format_size(1000) == "1000"
    assert format_size(0) == "0"
