"""A few kills of each command that writes, and a full disk; `benchmarks/kills.py` kills at every deed."""

from __future__ import annotations

import pytest
from fuzzing.killed import COMMANDS, Trials, full_disks, kills

EVERY = {"tune": 97}
"""Of so many changes of the disk one is tried; of 19, if nothing is said."""


@pytest.mark.parametrize("command", COMMANDS)
def test_a_kill_and_a_full_disk_lose_nothing(command, tmp_path):
    trials, every = Trials(command, tmp_path / "work"), EVERY.get(command, 19)
    assert set(kills(trials, every)) == {None}
    assert set(full_disks(trials, every, sizes=(200,))) == {None}
