"""What is noted in a point's directory is read as far as it can be, and what cannot be read is not what never was."""

from __future__ import annotations

import os
import tracemalloc

import pytest

from nmlgen.errors import InputError
from nmlgen.sweep.records import build_of, ended_by_itself, last_run, refusal_to_go_on

_RECORDS = {
    "nmlgen.jobs/1.start": last_run,
    "nmlgen.jobs/1.end": last_run,
    "icon_master.namelist": build_of,
    "run/nmlgen.legs": ended_by_itself,
    "run/nmlgen.until": refusal_to_go_on,
}


def _point(tmp_path):
    for name in _RECORDS:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


@pytest.mark.parametrize("name", _RECORDS)
def test_a_record_that_cannot_be_read_is_named(tmp_path, name):
    point = _point(tmp_path)
    (point / name).unlink()
    os.mkfifo(point / name)
    with pytest.raises(InputError, match=f"{name}: is a pipe; a regular file is expected"):
        _RECORDS[name](point)


@pytest.mark.parametrize("name", _RECORDS)
def test_of_a_record_that_has_no_end_the_beginning_is_read(tmp_path, name):
    point = _point(tmp_path)
    os.truncate(point / name, 10**9)
    tracemalloc.start()
    try:
        _RECORDS[name](point)
        assert tracemalloc.get_traced_memory()[1] < 10**8
    finally:
        tracemalloc.stop()


def test_what_is_not_there_says_nothing(tmp_path):
    assert (last_run(tmp_path), build_of(tmp_path), ended_by_itself(tmp_path)) == (None, "", None)
    assert last_run(tmp_path / "not there") is None
