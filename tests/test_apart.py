"""Libraries that come to no end at some files: at how many of them that is tried."""

from __future__ import annotations

from pathlib import Path

import pytest
from broken_libraries import crashing, endless, greedy
from result_files import classic

from nmlgen import apart, disk
from nmlgen.cli import main
from nmlgen.errors import InputError
from nmlgen.experiment import grid_file
from nmlgen.experiment.grid_file import GridFile, read_grid
from nmlgen.lsp import judging
from nmlgen.results import hdf5
from nmlgen.results.file import first_nan, read_file
from nmlgen.units.calendar import Calendar

ROOM = 2**28


def read(work, seconds: int | None = 1) -> object:
    return list(apart.apart("a.nc", work, seconds, ROOM))


@pytest.mark.parametrize("works", [(greedy, greedy, endless), (endless, greedy, greedy)])
def test_no_more_is_read_once_no_end_was_found(works) -> None:
    with apart.patience():
        for work in works:
            with pytest.raises(InputError, match=r"too much memory|no end"):
                read(work)
        with pytest.raises(apart.EnoughError, match=r"a\.nc is not read, as 3 others took too much time or memory"):
            read(lambda send: send(1))
        assert read(lambda send: send(1), None) == [1]  # nothing was bounded
        with apart.patience():
            assert read(lambda send: send(1)) == [1]
    assert read(lambda send: send(1)) == [1]


def test_a_crash_costs_nothing_and_does_not_count() -> None:
    with apart.patience():
        for _ in range(5):
            with pytest.raises(InputError, match="crashed"):
                read(crashing)
        assert read(lambda send: send(1)) == [1]


def test_those_that_nearly_come_to_no_end_count_as_a_part(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = iter(range(100))
    monkeypatch.setattr(apart, "_seconds_of_children", lambda: 0.6 * next(taken))
    with apart.patience():
        for _ in range(8):
            assert read(lambda send: send(1)) == [1]
        with pytest.raises(apart.EnoughError, match=r"a\.nc is not read, as 8 others took too much time or memory"):
            read(lambda send: send(1))


def test_what_is_usual_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a small file, and of one that is large."""
    taken = 0.0
    monkeypatch.setattr(apart, "_seconds_of_children", lambda: taken)

    def work(seconds: float):
        nonlocal taken
        for found in apart.apart("a.nc", lambda send: send(1), *((1,) if seconds < 1 else (100,))):
            taken += seconds
            yield found

    with apart.patience():
        for seconds in (0.15, 20.0) * 20:
            assert list(work(seconds)) == [1]


@pytest.fixture
def nothing_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "_MOST_ENDLESS", 0)


def test_a_grid_that_was_not_read_is_read_another_time(tmp_path, monkeypatch, nothing_more) -> None:
    pytest.importorskip("netCDF4")
    path = tmp_path / "grid.nc"
    path.write_bytes(b"\x89HDF")
    monkeypatch.setattr(grid_file, "_send_hdf", lambda _, send: send(GridFile({"cell": 20}, frozenset(), {})))
    with apart.patience(), disk.recorded() as looks:
        assert read_grid(path) is None
    assert not looks.repeatable
    found = read_grid(path)
    assert found is not None
    assert found.cells == 20


def test_output_that_was_not_read_says_why(tmp_path: Path, nothing_more: None) -> None:
    netcdf = pytest.importorskip("netCDF4")
    with netcdf.Dataset(tmp_path / "a.nc", "w") as file:
        file.tc_startdate = "2000-01-01T00:00:00.000"
    with apart.patience():
        found = read_file(tmp_path / "a.nc", Calendar.PROLEPTIC_GREGORIAN)
        assert (found.time, found.unread) == ("2000-01-01T00:00:00.000", hdf5._ENOUGH)
        assert first_nan(tmp_path / "a.nc") is None
        assert read_file(classic(tmp_path / "b.nc", (20000101.0,), version=1), Calendar.PROLEPTIC_GREGORIAN).times


def test_each_judgement_of_an_editor_counts_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "analyse", lambda *_: read(lambda send: send(1)))
    with apart.patience():
        for _ in range(3):
            with pytest.raises(InputError, match="too much memory"):
                read(greedy)
        assert judging.judged(None, None) == [1]


def test_one_command_counts_in_all_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("netCDF4")
    tried: list[str] = []

    def counted(*arguments):
        for found in apart.apart(*arguments):
            tried.append(arguments[0])
            yield found

    def too_much(name, send):
        send(name)
        greedy(send)

    monkeypatch.setattr(grid_file, "apart", counted)
    monkeypatch.setattr(grid_file, "_send_hdf", too_much)
    for number in range(5):
        (tmp_path / f"grid{number}.nc").write_bytes(b"\x89HDF")
        text = f"&run_nml\n num_lev = 30\n/\n&grid_nml\n dynamics_grid_filename = 'grid{number}.nc'\n/\n"
        (tmp_path / f"atm{number}.nml").write_text(text, encoding="utf-8")
    assert main(["lint", "--no-cache", str(tmp_path)]) in (0, 1)
    assert len(set(tried)) == len(tried) == 3
