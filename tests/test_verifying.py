"""nmlgen.verify: what a run left, against what its experiment promises."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from result_files import classic
from steps import grows_too_fast

from nmlgen import Build, InputError, Verification, build, load_spec, verify, verifying
from nmlgen.report.verification import format_verification

SPEC = Path(__file__).parent / "rules" / "example.yaml"
SITE = SPEC.with_name("example-site.yaml")
CHANGES = """
time: {start: 2000-01-01T00:00:00Z, stop: 2000-01-01T02:00:00Z, modelTimeStep: PT10M}
restart: {checkpointTimeIntval: PT1H, restartTimeIntval: PT1H, restart_write_mode: sync, num_restart_procs: 0}
output:
  atm: {output_interval: PT20M, file_interval: PT1H, stream_partitions_ml: 1, include_last: false, ml_varlist: [temp]}
"""
MINUTE = 1 / 1440
FILES = {"0001": (0, 20, 40), "0002": (60, 80, 100), "0003": (120,)}


def name(number: str) -> str:
    return f"output/example_atm_DOM01_ML_{number}.nc"


def checkpoint(run: Path, hour: int, *, said: int | None = None) -> Path:
    file = f"grid_restart_atm_20000101T{hour:02d}0000Z.nc"
    classic(run / file, attributes={"tc_startdate": f"2000-01-01T{hour if said is None else said:02d}:00:00.000"})
    link = run / "restart_atm_DOM01.nc"
    link.unlink(missing_ok=True)
    link.symlink_to(file)
    return run / file


def write(run: Path, number: str, minutes: tuple[int, ...], **options: float) -> Path:
    return classic(run / name(number), [20000101 + minute * MINUTE for minute in minutes], **options)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Build:
    path = tmp_path_factory.mktemp("spec") / "spec.yaml"
    path.write_text(f"nmlgen: 1\n{CHANGES}", encoding="utf-8")
    return build(load_spec(path, [f"extends={SPEC}", f"site={SITE}"]))


@pytest.fixture
def built(tmp_path: Path, files: Build) -> Path:
    """A build whose two jobs have ended well."""
    directory = tmp_path / "b"
    files.write(directory)
    run = directory / "run"
    run.mkdir()
    for file in ("icon_master.namelist", "NAMELIST_example"):
        (run / file).write_bytes((directory / file).read_bytes())
        os.utime(run / file, (1_000_000, 1_000_000))
    for number, minutes in FILES.items():
        write(run, number, minutes)
    checkpoint(run, 2)
    (run / "nmlgen.legs").write_text("1 11 RESTART\n2 12 OK\n", encoding="utf-8")
    return directory


def problems(found: Verification) -> list[tuple[str, str]]:
    return [(one.what, one.file) for one in found.problems]


def test_all_is_there(built: Path) -> None:
    found = verify(built)
    assert problems(found) == []
    assert (found.files, found.records, found.promised, found.legs, found.planned_legs) == (3, 7, 3, 2, 2)
    assert found.bytes == sum((built / "run" / name(number)).stat().st_size for number in FILES)
    assert found.checkpoints == ("grid_restart_atm_20000101T020000Z.nc",)
    assert found.directory == built / "run"


def test_the_runs_own_directory(built: Path) -> None:
    assert problems(verify(built / "run", ntasks=256)) == []


def test_after_the_first_job(built: Path) -> None:
    run = built / "run"
    (run / "nmlgen.legs").write_text("1 11 RESTART\n", encoding="utf-8")
    checkpoint(run, 1)
    found = verify(built)  # what the second job is just writing belongs to the experiment
    assert problems(found) == [("records", name("0002"))]
    assert "that should not be in it: 2000-01-01T01:20:00Z" in found.problems[0].message
    write(run, "0002", (60,))
    (run / name("0003")).unlink()
    assert (verify(built).legs, problems(verify(built))) == (1, [])
    (run / "nmlgen.legs").unlink()
    (run / "finish.status").write_text(" RESTART\n", encoding="utf-8")
    assert (verify(built).legs, problems(verify(built))) == (1, [])
    assert problems(verify(built, legs=2)) == [("records", name("0002")), ("missing", name("0003"))]


def test_a_run_that_died_in_its_first_job(built: Path) -> None:
    """Nothing says how far it is, so nobody says that its jobs have ended."""
    for file in (built / "run").glob("*"):
        if file.name in ("nmlgen.legs", "restart_atm_DOM01.nc"):
            file.unlink()
    (built / "run" / name("0002")).unlink()
    found = verify(built)
    assert (found.legs, found.planned_legs) == (None, 2)
    assert "2 of 3 output files of all 2 jobs" in format_verification(found, False, False)
    assert "nothing says how far the run is; all of the experiment is looked for" in found.remarks
    assert ("checkpoint", "restart_atm_DOM01.nc") in problems(found)
    (built / "run" / "finish.status").write_text(" OK\n", encoding="utf-8")
    assert "checkpoint" not in {what for what, _ in problems(verify(built))}  # somebody took it away since


def test_a_job_without_a_checkpoint(built: Path) -> None:
    run = built / "run"
    (run / "nmlgen.legs").write_text("1 11 RESTART\n", encoding="utf-8")
    write(run, "0002", (60,))
    (run / "restart_atm_DOM01.nc").unlink()
    assert problems(verify(built)) == [("checkpoint", "restart_atm_DOM01.nc")]
    (run / "restart_atm_DOM01.nc").symlink_to("gone.nc")
    assert "leads to gone.nc, which is not there" in verify(built).problems[0].message


def _removed(run: Path) -> None:
    (run / name("0002")).unlink()


def _cut(run: Path) -> None:
    path = run / name("0002")
    path.write_bytes(path.read_bytes()[:-4])


def _emptied(run: Path) -> None:
    (run / name("0002")).write_bytes(b"")


def _other(run: Path) -> None:
    (run / name("0002")).write_text("no file of ICON's", encoding="utf-8")


def _hole(run: Path) -> None:
    write(run, "0002", (60, 100))


def _doubled(run: Path) -> None:
    write(run, "0002", (60, 80, 80, 100))


def _of_other_days(run: Path) -> None:
    write(run, "0002", (60, 80, 100, 1500))


def _one_too_many(run: Path) -> None:
    write(run, "0004", (0,))


def _directory(run: Path) -> None:
    (run / name("0002")).unlink()
    (run / name("0002")).mkdir()


def _cut_checkpoint(run: Path) -> None:
    path = checkpoint(run, 2)
    path.write_bytes(path.read_bytes()[:-1])


def _other_time(run: Path) -> None:
    checkpoint(run, 2, said=1)


def _other_build(run: Path) -> None:
    master = run / "icon_master.namelist"
    text = master.read_text(encoding="utf-8")
    at = text.index("build ") + 6
    master.write_text(f"{text[:at]}{'0' * 12}{text[at + 12 :]}", encoding="utf-8")
    os.utime(master, (1_000_000, 1_000_000))


@pytest.mark.parametrize(
    ("change", "what", "message"),
    [
        (_removed, "missing", "3 records should be in it: 2000-01-01T01:00:00Z, 2000-01-01T01:20:00Z"),
        (_cut, "cut short", "bytes, by its header it has"),
        (_emptied, "unreadable", "it is empty"),
        (_other, "unreadable", "neither NetCDF nor GRIB2"),
        (_hole, "records", "1 of 3 missing: 2000-01-01T01:20:00Z"),
        (_doubled, "records", "1 more than once: 2000-01-01T01:20:00Z"),
        (_of_other_days, "records", "1 that should not be in it: 2000-01-02T01:00:00Z"),
        (_one_too_many, "left over", "no job of this experiment writes it"),
        (_directory, "unreadable", "is a directory"),
        (_cut_checkpoint, "checkpoint", "by its header it has"),
        (_other_time, "checkpoint", "it is of 2000-01-01T01:00:00.000, which its name denies"),
        (_other_build, "left over", "the last run here was of build 000000000000"),
    ],
)
def test_one_thing_is_wrong(built: Path, change: Callable[[Path], None], what: str, message: str) -> None:
    change(built / "run")
    (problem,) = verify(built).problems
    assert problem.what == what
    assert message in problem.message


def test_older_than_the_job(built: Path) -> None:
    """A file that was there before, and that the job did not write."""
    path = built / "run" / name("0003")
    os.utime(path, (900_000, 900_000))
    assert problems(verify(built)) == [("left over", name("0003"))]
    os.utime(built / "run" / name("0001"), (900_000, 900_000))  # of the first job
    assert len(verify(built).problems) == 1
    (built / "run" / "nmlgen.legs").unlink()  # nobody says when it began
    assert problems(verify(built)) == []


def test_a_name_is_held_against_patterns_that_begin_as_it_does():
    def work(number: int):
        likes = verifying._Likes((f"s{at:04d}_", re.compile(rf"s{at:04d}_[0-9]+")) for at in range(number))
        assert likes.has("s0001_1")
        assert not likes.has("s0001_x")
        return lambda: [likes.has(f"s{at:04d}_x") for at in range(number)]

    assert not grows_too_fast(work, 100)


def test_names_that_are_too_many_for_all_patterns(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _one_too_many(built / "run")
    monkeypatch.setattr(verifying, "_MOST_LIKENED", -1)
    found = verify(built)
    assert problems(found) == []
    assert "what is left over was not looked for among all files: they are too many" in found.remarks


def test_other_files_do_not_matter(built: Path) -> None:
    for other in ("output/example_atm_DOM01_ML_mean.nc", "output/notes.txt", "atm.nc"):
        (built / "run" / other).write_text("mine", encoding="utf-8")
    assert problems(verify(built)) == []


def test_nan(built: Path) -> None:
    write(built / "run", "0002", FILES["0002"], value=math.nan)
    assert problems(verify(built)) == []
    found = verify(built, find_nan=True)
    assert problems(found) == [("not a number", name("0002"))]
    assert found.problems[0].message == "temp holds NaN"


def test_sizes_are_compared(built: Path) -> None:
    """Four cells are not those of the grid: no problem by itself, since a varlist may hold what nobody knows."""
    assert any("not of the size that nmlgen volume says" in remark for remark in verify(built).remarks)


def test_what_cannot_lie_there_is_not_looked_for_one_by_one(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nmlgen.verifying._MOST_SOUGHT", 6)
    assert not verify(built).problems  # there is room for seven records
    monkeypatch.setattr("nmlgen.verifying._LEAST_OF_RECORD", 10**6)
    found = verify(built)
    assert problems(found) == [("missing", ".")]
    assert "7 records are promised" in found.problems[0].message


def test_what_cannot_be_verified(tmp_path: Path, built: Path) -> None:
    with pytest.raises(InputError, match="no directory"):
        verify(tmp_path / "nowhere")
    with pytest.raises(InputError, match="holds no"):
        verify(tmp_path)
    for path in sorted((built / "run").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
    (built / "run").rmdir()
    with pytest.raises(InputError, match="has not run"):
        verify(built)


def test_where_it_ran_is_not_known(tmp_path: Path) -> None:
    """Only a run of the script says it."""
    head = '#!/bin/bash\n#SBATCH --nodes=1\n#SBATCH --ntasks=4\ncd "$(mktemp -d)"\n'
    master = "&master_nml\n/\n&master_model_nml\n model_type = 1\n model_name = 'atm'\n"
    master += " model_namelist_filename = 'NAMELIST_a'\n/\n"
    files = {"icon_master.namelist": master, "NAMELIST_a": "&run_nml\n num_lev = 30\n/\n"}
    text = head + "".join(f"cat > {name} << EOF\n{body}EOF\n" for name, body in files.items()) + "srun ./icon\n"
    (tmp_path / "a.run").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="where its script runs is not known"):
        verify(tmp_path)


def test_a_checkpoint_of_several_files(built: Path, tmp_path: Path) -> None:
    path = tmp_path / "multi.yaml"
    modes = "restart: {restart_write_mode: joint procs multifile, num_restart_procs: 2}"
    path.write_text(f"nmlgen: 1\n{modes}\n", encoding="utf-8")
    spec = load_spec(path, [f"extends={SPEC}", f"site={SITE}"])
    directory = tmp_path / "m"
    build(spec).write(directory)
    run = directory / "run"
    parts = run / "multifile_restart_atm_20080911T000000Z.mfr"
    for file in ("attributes.nc", "patch1_0.nc", "patch1_1.nc"):
        classic(parts / file, attributes={"tc_startdate": "2008-09-11T00:00:00.000"})
    (run / "multifile_restart_atm.mfr").symlink_to(parts.name)

    def wrong() -> list[str]:
        return [one.message for one in verify(directory).problems if one.what == "checkpoint"]

    assert wrong() == []
    (parts / "patch1_1.nc").unlink()
    assert wrong() == ["1 part missing: patch1_1.nc"]
    classic(parts / "patch1_1.nc").write_bytes(b"CDF\x01")
    assert wrong() == ["patch1_1.nc: its header is not whole"]
    classic(parts / "patch1_1.nc")
    (parts / "attributes.nc").unlink()
    assert wrong() == ["attributes.nc is missing"]


def test_goes_on_where_nobody_knows_whether_models_are_coupled(built: Path) -> None:
    """How far the run is, by the file that every release writes then, and what the other settings say."""
    run = built / "run"
    (run / "nmlgen.legs").unlink()
    (run / "finish.status").write_text("OK\n", encoding="utf-8")
    namelist = run / "NAMELIST_example"
    text = namelist.read_text(encoding="utf-8").replace("'sync'", "$mode")
    namelist.write_text(f"&coupling_mode_nml\n coupled_to_ocean = $coupled\n/\n{text}", encoding="utf-8")
    found = verify(run, ntasks=1, icon_release="2025.10")
    assert (found.promised, found.legs) == (3, 2)
    assert found.remarks[0] == "atm: checkpoints not looked at, because io_nml.restart_write_mode is not known"
