"""A few cases of each fuzzer, within the kernel's limits; `benchmarks/fuzz.py` runs as many as one likes."""

from __future__ import annotations

import pytest
from fuzzing import EDITOR, KINDS, ends, many
from fuzzing.limited import Ended

CASES = 4
FEW = 2  # of those that take long, and of those that write the cases of another kind in another way
DERIVED = ("recoded-", "tangled-")
SLOW = ("mazes-", "grown-", "argued-", "registered-")
TOGETHER = [kind for kind in KINDS if "-" in kind]
"""Kinds whose cases are run in one process."""


def _check(done):
    for end in done:
        assert end.fault is None, f"{' '.join(end.arguments)}: {end.fault}\n{end.error[-2000:]}"


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in TOGETHER])
def test_no_input_breaks_a_promise(kind, tmp_path):
    for _, done in ends(kind, "tests", CASES, tmp_path / "work"):
        _check(done)


@pytest.mark.parametrize("kind", TOGETHER)
def test_no_input_breaks_a_promise_behind_others(kind, tmp_path):
    if kind.startswith("radamsa-"):
        pytest.importorskip("pyradamsa", reason="pyradamsa has wheels for Linux on x86 only")
    for _, done in many(kind, "tests", FEW if kind.startswith(SLOW) else CASES, tmp_path / "work"):
        _check(done)


def test_no_text_breaks_an_editor(tmp_path):
    for _, done in ends(EDITOR, "tests", 2, tmp_path / "work"):
        _check(done)


def test_many_specs_are_good_enough_to_be_built(tmp_path):
    """Otherwise most of what nmlgen does would see no changed spec at all."""
    found = [case.is_whole(done) for case, done in many("crossed-specs", "tests", 60, tmp_path / "work")]
    assert sum(found) >= len(found) / 4


@pytest.mark.parametrize(
    ("code", "error", "fault"),
    [
        (0, "", None),
        (1, "", None),
        (2, "", None),
        (70, "", "exit code 70"),
        (-24, "", "CPU"),
        (-9, "", "SIGKILL"),
        (70, "Traceback (most recent call last):\nMemoryError", "memory"),
        (
            70,
            'Traceback (most recent call last):\n  File "/a/nmlgen/x.py", line 3, in f\nKeyError: 1',
            "KeyError at x.py",
        ),
        (0, "warning[A1] a: this rule failed, which is a mistake in nmlgen: KeyError: 1", "this rule failed"),
    ],
)
def test_what_is_a_fault(code, error, fault):
    found = Ended(("check",), code, "", error, 0.0, 0).fault
    assert found is fault is None or fault in (found or "")
