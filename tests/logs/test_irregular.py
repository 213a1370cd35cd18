"""What is no regular file is refused by its name, or passed over where nobody named it."""

from __future__ import annotations

import os

import icon_logs
import pytest

from nmlgen.errors import InputError
from nmlgen.logs.finish import _text
from nmlgen.logs.reader import read_logs
from nmlgen.logs.table import read_runs
from nmlgen.results.file import read_file
from nmlgen.units.calendar import Calendar


@pytest.mark.parametrize("read", [read_logs, read_runs])
def test_devices_and_pipes_are_refused_by_name(read, tmp_path):
    pipe = tmp_path / "LOG.a"
    os.mkfifo(pipe)
    with pytest.raises(InputError, match=r"LOG\.a is a pipe; a regular file is expected"):
        read(pipe)
    with pytest.raises(InputError, match=r"/dev/zero is a device; a regular file is expected"):
        read("/dev/zero" if read is read_logs else type(pipe)("/dev/zero"))


def test_pipes_in_a_directory_are_no_logs(tmp_path):
    (tmp_path / "LOG.a").write_bytes(icon_logs.text(icon_logs.log()))
    os.mkfifo(tmp_path / "LOG.b")
    os.mkfifo(tmp_path / "finish.status")
    assert len(read_logs(tmp_path).runs) == 1
    assert _text(tmp_path / "finish.status") == ""


def test_results_that_are_no_files(tmp_path):
    os.mkfifo(tmp_path / "a.nc")
    with pytest.raises(OSError, match="is a pipe"):
        read_file(tmp_path / "a.nc", Calendar.PROLEPTIC_GREGORIAN)
