"""A few kills of each command that writes, and a full disk; `benchmarks/kills.py` kills at every deed."""

from __future__ import annotations

import pytest
from fuzzing.killed import COMMANDS, full_disks, kills

EVERY = {"tune": 29}
"""Of so many changes of the disk one is tried; of 7, if nothing is said."""


@pytest.mark.parametrize("command", COMMANDS)
def test_a_kill_loses_nothing(command, tmp_path):
    found = list(kills(command, tmp_path / "work", every=EVERY.get(command, 7)))
    assert found
    assert set(found) == {None}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_full_disk_loses_nothing(command, tmp_path):
    assert set(full_disks(command, tmp_path / "work", every=EVERY.get(command, 7))) == {None}
