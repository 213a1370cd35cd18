"""Stretches of a text."""

from __future__ import annotations

from nmlgen.source import Stretches


def test_stretches_hold_what_lies_in_them() -> None:
    stretches = Stretches([(20, 30), (0, 5), (5, 8), (22, 25)])
    assert [offset for offset in range(40) if offset in stretches] == [*range(8), *range(20, 30)]
    assert stretches.hold(3, 8)
    assert stretches.hold(24, 30)
    assert not stretches.hold(7, 21)
    assert 0 not in Stretches()
