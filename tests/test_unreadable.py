"""What is there and cannot be read is told of: it is not what is missing."""

from __future__ import annotations

import errno
import os
import shutil
import tracemalloc
from pathlib import Path

import icon_logs
import pytest
from tools import refuse

import nmlgen
from nmlgen import disk
from nmlgen.errors import InputError, UnreadableError

BUILD = Path(__file__).parent / "golden" / "jabw-generic" / "expected"
FILES = ["NAMELIST_jabw", "icon_master.namelist", "jabw.sbatch"]


@pytest.fixture
def built(tmp_path):
    shutil.copytree(BUILD, tmp_path / "built")
    return tmp_path / "built"


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("use", ["compare", "import_spec", "migrate", "lint"])
def test_a_file_of_a_build(use, name, built, monkeypatch):
    refuse(monkeypatch, name)
    calls = {
        "compare": lambda: nmlgen.compare(built, built),
        "import_spec": lambda: nmlgen.import_spec(built),
        "migrate": lambda: nmlgen.migrate([built]),
        "lint": lambda: nmlgen.lint([built]),
    }
    with pytest.raises(UnreadableError, match=f"built/{name}: permission denied$"):
        calls[use]()


def test_lint_goes_on_with_what_else_a_directory_has(built, monkeypatch):
    (built / "below").mkdir()
    (built / "read").mkdir()
    (built / "read" / "a.nml").write_text("&run_nml\n nonsense = 1\n/\n", encoding="utf-8")
    refuse(monkeypatch, "NAMELIST_jabw", "below")
    told: list[str] = []
    report = nmlgen.lint([built], passed_over=told.append)
    codes = {finding.code for finding in report.findings}
    assert "NML002" in codes
    assert "NML014" not in codes
    refused = [f"{built / name}: permission denied" for name in ("below", "NAMELIST_jabw")]
    assert {one for one in told if "cannot be judged" not in one} == {*refused}
    assert any(one == f"{built / FILES[2]}: it cannot be judged without {refused[1]}" for one in told)


def test_a_directory_that_cannot_be_read(built, monkeypatch):
    refuse(monkeypatch, "built")
    with pytest.raises(UnreadableError, match="built: permission denied"):
        nmlgen.lint([built])


@pytest.mark.parametrize("use", [nmlgen.import_spec, lambda path: nmlgen.compare(path, path)])
def test_a_directory_on_a_disk_that_fails(use, built, monkeypatch):
    real = os.listdir

    def failing(path="."):
        if os.path.basename(path) == "built":
            raise OSError(errno.EIO, os.strerror(errno.EIO), path)
        return real(path)

    monkeypatch.setattr(os, "listdir", failing)
    with pytest.raises(UnreadableError, match="built: input/output error"):
        use(built)


def test_a_log_among_others(tmp_path, monkeypatch):
    for name in ("LOG.a", "LOG.b"):
        (tmp_path / name).write_bytes(icon_logs.text(icon_logs.log()))
    refuse(monkeypatch, "LOG.b")
    found = nmlgen.read_logs(tmp_path)
    assert [run.log for run in found.runs] == [str(tmp_path / "LOG.a")]
    assert [str(warning) for warning in found.warnings] == [f"{tmp_path / 'LOG.b'}: permission denied"]
    with pytest.raises(InputError, match=r"LOG\.b: permission denied"):
        nmlgen.read_logs(tmp_path / "LOG.b")


def test_what_a_run_notes_without_an_end(built):
    (built / "run").mkdir()
    (built / "run" / "nmlgen.legs").touch()
    os.truncate(built / "run" / "nmlgen.legs", 10**9)
    tracemalloc.start()
    try:
        nmlgen.verify(built)
        assert tracemalloc.get_traced_memory()[1] < 10**8
    finally:
        tracemalloc.stop()


def test_an_error_of_reading_names_the_file():
    place = Path("/proc/self/mem")  # which can be opened, and of whose beginning nothing can be read
    for look in (disk.read_bytes, disk.content, lambda path: disk.head(path, 1), lambda path: disk.holds(path, b"x")):
        with pytest.raises(OSError, match="/proc/self/mem"):
            look(place)


@pytest.mark.parametrize("name", ["nmlgen.legs", "output"])
def test_what_is_in_a_run_is_not_missing(name, built, monkeypatch):
    (built / "run" / "output").mkdir(parents=True)
    (built / "run" / "nmlgen.legs").touch()
    refuse(monkeypatch, name)
    with pytest.raises(UnreadableError, match=f"{name}: permission denied"):
        nmlgen.verify(built)
