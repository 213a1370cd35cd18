"""A table in one test: all rows are judged, and those that fail are named."""

from __future__ import annotations

import os

import pytest
from rows import rows


def ran(names, table, test, **given):
    with pytest.raises(pytest.fail.Exception) as failure:
        rows(names, table)(test)(**given)
    return str(failure.value)


def test_every_row_that_fails_is_named():
    seen = []

    def test(number, is_even):
        seen.append(number)
        assert (number % 2 == 0) == is_even

    text = ran(("number", "is_even"), [(1, True), (2, True), pytest.param(3, True, id="three"), (5, False)], test)
    assert text.splitlines()[0] == "2 of 4 rows fail: 1-True, three"
    assert "assert (3 % 2) == 0" in text or "AssertionError" in text
    assert seen == [1, 2, 3, 5]


def test_what_is_raised_fails():
    def test(error):
        raise error("why")

    text = ran("error", [ValueError, pytest.fail.Exception, pytest.skip.Exception], test)
    assert text.splitlines()[0].startswith("2 of 3 rows fail")
    assert text.count(": why\n") == 2


def test_the_others_are_judged_before_some_are_skipped():
    seen = []

    @rows("number", range(4))
    def test(number):
        if number < 2:
            pytest.skip("no such shell")
        seen.append(number)

    with pytest.raises(pytest.skip.Exception, match="2 of 4 rows: no such shell"):
        test()
    assert seen == [2, 3]


def test_rows_do_not_share_directories_and_patches(tmp_path, monkeypatch):
    @rows("number", range(3))
    def test(number, tmp_path, monkeypatch):
        assert not list(tmp_path.iterdir())
        (tmp_path / "file").touch()
        assert "NMLGEN_ROW" not in os.environ
        monkeypatch.setenv("NMLGEN_ROW", str(number))

    test(tmp_path=tmp_path, monkeypatch=monkeypatch)
    assert "NMLGEN_ROW" not in os.environ


@rows("number", range(10), parts=3)
def test_parts_have_all_rows(number, request):
    assert number % 3 == request.node.callspec.params["part"]
