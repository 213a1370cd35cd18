"""What is no regular file is refused by its name, or passed over where nobody named it."""

from __future__ import annotations

import gzip
import os

import icon_logs
import pytest
from rows import rows

from nmlgen.errors import InputError
from nmlgen.logs.table import read_runs
from nmlgen.models.icon.logs.finish import _text
from nmlgen.models.icon.logs.reader import read_logs
from nmlgen.results.file import read_file
from nmlgen.units.calendar import Calendar


@pytest.mark.parametrize("name", ["runs.csv", "runs.json"])
def test_a_table_that_has_no_end_is_too_large(name, tmp_path):
    (tmp_path / name).touch()
    os.truncate(tmp_path / name, 10**12)
    with pytest.raises(InputError, match=f"{name}: file too large"):
        read_runs(tmp_path / name)


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


def test_a_hole_is_passed_over(tmp_path):
    """Sparse files are left where a log was cut under the program that wrote it."""
    path, whole = tmp_path / "LOG.a", icon_logs.text(icon_logs.log())
    cut, size = whole.index(b"\n", len(whole) // 2) + 1, 2**42
    with path.open("wb") as file:
        file.write(whole[:cut])
        file.seek(size)
        file.write(whole[cut:])
        file.truncate(2 * size)
    if path.stat().st_blocks * 512 > 2**20:
        pytest.skip("this file system has no holes")
    found = []
    told = read_logs(path, progress=found.append)
    assert told.runs[0].total_s == read_logs(_put(tmp_path / "LOG.b", whole)).runs[0].total_s
    assert sum(found) > size
    assert [warning.message[:32] for warning in told.warnings] == ["nothing was written into the 439"] * 2


def _put(path, data):
    path.write_bytes(data)
    return path


HEAD = icon_logs.text(icon_logs.log())
STEPS = HEAD[: HEAD.index(b"Time step:")]


@rows("line", [b"\n", b"\0", b"Got 3 MB/s\n", b"mo_mpi::start_mpi ICON: Globally run on 1 mpi processes.\n"])
@rows("head", [b"", HEAD, STEPS])
def test_a_compressed_file_is_read_as_far_as_a_log_of_its_size_could_go(head, line, tmp_path, monkeypatch):
    monkeypatch.setattr("nmlgen.models.icon.logs.reader._ROOM", 10**6)
    monkeypatch.setattr("nmlgen.models.icon.logs.reader._ROOM_IN_LINES", 2000)
    monkeypatch.setattr("nmlgen.models.icon.logs.reader._BLOCK", 2**16)
    path = _put(tmp_path / "LOG.a.gz", gzip.compress(head + line * (12 * 10**6 // len(line))))
    read = []
    monkeypatch.setattr(
        "nmlgen.models.icon.logs.running.Running.read_at",
        lambda self, anchor, end, number, rank, prefix: (read.append(number), end)[1],
    )
    told = read_logs(path)
    assert "it unpacks to far more than a log does: from here on it is not read" in [
        one.message for one in told.warnings
    ]
    assert len(read) < 100_000


def test_a_compressed_log_is_read_to_its_end(tmp_path):
    path = _put(tmp_path / "LOG.a.gz", gzip.compress(HEAD * 50))
    told = read_logs(path)
    assert len(told.runs) == 50
    assert told.warnings == ()
