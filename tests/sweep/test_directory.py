"""Sweeps on the disk: what lies there, that it goes on where it stopped, and that points do not disturb each other."""

from __future__ import annotations

import csv
import json
import os
import re
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from importlib.util import find_spec

import pytest
from specs import MAPPING

import nmlgen
from nmlgen import BuildError, SpecError, WriteError, expand, write_sweep
from nmlgen.errors import InputError
from nmlgen.sweep import directory as sweeps
from nmlgen.sweep.directory import SHARED

GRID = {"parallel.num_io_procs": [1, 2], "job.nodes": [1, 2]}


def snapshot(directory):
    return {
        str(path.relative_to(directory)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


def groups(data):
    """A namelist without its heading, which has a mark of the whole build."""
    return data.partition(b"\n")[2]


def table(directory):
    with (directory / "points.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_what_lies_there(tmp_path):
    sweep = write_sweep(expand(MAPPING, grid=GRID, name="io{num_io_procs}-n{nodes}"), tmp_path)
    assert (sweep.points, sweep.changed, sweep.invalid) == (4, 4, ())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["nmlgen-sweep.json", "points", "points.csv", "shared"]
    rows = table(tmp_path)
    assert list(rows[0]) == ["id", "name", "directory", "state", "reason", *GRID]
    for row, point in zip(rows, expand(MAPPING, grid=GRID, name="io{num_io_procs}-n{nodes}"), strict=True):
        assert (row["id"], row["name"], row["state"]) == (point.id, point.name, "built")
        assert [row[key] for key in GRID] == [str(value) for value in point.values.values()]
        build = nmlgen.build(point)
        files = {path.name: path for path in (tmp_path / row["directory"]).iterdir()}
        namelists = {"icon_master.namelist", f"NAMELIST_{point.name}"}
        assert set(files) == {*namelists, "nmlgen-manifest.json", "wave.sbatch"}
        assert [groups(files[name].read_bytes()) for name in namelists] == [
            groups(build.files[name]) for name in namelists
        ]
        outputs = json.loads(files["nmlgen-manifest.json"].read_text())["outputs"]
        assert outputs == {
            name: sha256(path.read_bytes()).hexdigest() for name, path in files.items() if name in outputs
        }
    document = json.loads((tmp_path / "nmlgen-sweep.json").read_text())
    assert (document["points"], document["name"]) == (4, "wave")


def test_a_point_that_is_in_the_table_twice(tmp_path):
    """Whatever holds its rows against what was submitted would do it so many times."""
    write_sweep(expand(MAPPING, grid=GRID), tmp_path)
    lines = (tmp_path / "points.csv").read_text().splitlines(keepends=True)
    (tmp_path / "points.csv").write_text("".join([*lines, lines[2]]))
    with pytest.raises(InputError, match=rf"points\.csv:6: the point {lines[2].partition(',')[0]} is there already"):
        sweeps.read_table(tmp_path)


def test_a_pipe_in_place_of_the_table(tmp_path):
    os.mkfifo(tmp_path / "points.csv")
    with pytest.raises(WriteError, match=r"points\.csv is no regular file"):
        write_sweep(expand(MAPPING, grid=GRID), tmp_path)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_points_that_are_run_in_the_same_way_share_a_script(tmp_path):
    write_sweep(expand(MAPPING, grid=GRID), tmp_path)
    scripts = [path / "wave.sbatch" for path in sorted((tmp_path / "points").iterdir())]
    assert all(script.is_symlink() for script in scripts)
    nodes = {script.resolve(): set(re.findall("--nodes=(.)", script.read_text())) for script in scripts}
    assert sorted(nodes.values()) == [{"1"}, {"2"}]
    assert sorted(nodes) == sorted(path.resolve() for path in (tmp_path / "shared").iterdir())
    assert all(str(os.readlink(script)).startswith(f"../../{SHARED}/") for script in scripts)  # wherever the sweep lies


def test_a_point_is_judged_and_imported_like_any_build(tmp_path):
    (point,) = expand(MAPPING, grid={"parallel.num_io_procs": [2]})
    write_sweep([point], tmp_path)
    directory = tmp_path / "points" / point.name
    assert [finding.code for finding in nmlgen.lint([directory], is_isolated=True).findings] == [
        finding.code for finding in nmlgen.check(point).findings
    ]
    assert not nmlgen.compare(directory, point.spec).differences


def test_a_shared_script_that_somebody_changed(tmp_path):
    write_sweep(expand(MAPPING, grid=GRID), tmp_path)
    script = min((tmp_path / "shared").iterdir())
    before = script.read_bytes()
    script.write_bytes(before + b"echo\n")
    with pytest.raises(WriteError, match="not as nmlgen wrote it"):
        write_sweep(expand(MAPPING, grid=GRID), tmp_path)
    write_sweep(expand(MAPPING, grid=GRID), tmp_path, force=True)
    assert script.read_bytes() == before


def test_a_script_of_its_own_becomes_a_link_again(tmp_path):
    write_sweep(expand(MAPPING, grid=GRID), tmp_path)
    script = next((tmp_path / "points").glob("*/wave.sbatch"))
    text = script.read_bytes()
    script.unlink()
    script.write_bytes(text)  # as copying without links does
    assert write_sweep(expand(MAPPING, grid=GRID), tmp_path).changed == 1
    assert script.is_symlink()


def test_again_nothing_changes(tmp_path):
    write_sweep(expand(MAPPING, grid=GRID), tmp_path)
    before = {name: said for name, said in snapshot(tmp_path).items() if name.startswith("points/")}
    sweep = write_sweep(expand(MAPPING, grid=GRID), tmp_path)
    assert (sweep.points, sweep.changed) == (4, 0)
    assert {name: said for name, said in snapshot(tmp_path).items() if name.startswith("points/")} == before


def test_more_points_leave_the_others_alone(tmp_path):
    write_sweep(expand(MAPPING, grid=GRID), tmp_path)
    before = {name: said for name, said in snapshot(tmp_path).items() if name.startswith("points/")}
    sweep = write_sweep(expand(MAPPING, grid={**GRID, "parallel.num_io_procs": [3, 2, 1]}), tmp_path)
    assert (sweep.points, sweep.changed) == (6, 2)
    assert before.items() <= snapshot(tmp_path).items()


def test_an_interrupted_sweep_goes_on(tmp_path):
    def interrupted():
        for number, point in enumerate(expand(MAPPING, grid=GRID)):
            if number == 2:
                raise KeyboardInterrupt
            yield point

    with pytest.raises(KeyboardInterrupt):
        write_sweep(interrupted(), tmp_path / "a")
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == ["points", "shared"]
    assert len(list((tmp_path / "a" / "points").iterdir())) == 2
    assert write_sweep(expand(MAPPING, grid=GRID), tmp_path / "a").changed == 2
    write_sweep(expand(MAPPING, grid=GRID), tmp_path / "b")
    first, second = snapshot(tmp_path / "a"), snapshot(tmp_path / "b")
    assert {name: data for name, (data, _) in first.items()} == {name: data for name, (data, _) in second.items()}


def test_points_that_cannot_be_built(tmp_path):
    grid = {"parallel.num_io_procs": [1, 64], "job.nodes": [1, 0]}
    with pytest.raises(SpecError) as caught:
        write_sweep(expand(MAPPING, grid=grid, name="io{num_io_procs}-n{nodes}"), tmp_path)
    assert caught.value.findings[0].notes[-1] == "at the point io1-n0"
    sweep = write_sweep(expand(MAPPING, grid=grid, name="io{num_io_procs}-n{nodes}"), tmp_path, invalid="skip")
    assert (sweep.points, sweep.changed) == (4, 0)
    assert [point.name for point, _ in sweep.invalid] == ["io1-n0", "io64-n1", "io64-n0"]
    rows = table(tmp_path)
    assert [row["state"] for row in rows] == ["built", "invalid", "invalid", "invalid"]
    assert rows[1]["reason"] == "SPC004: job.nodes is 0, less than 1"
    assert rows[1]["directory"] == ""
    assert len(list((tmp_path / "points").iterdir())) == 1
    with pytest.raises(BuildError):
        write_sweep(expand(MAPPING, grid={"parallel.num_io_procs": [64]}), tmp_path)


def test_strict_lets_warnings_count(tmp_path):
    grid = {"output.atm.output_interval": ["PT7M"]}  # OUT009
    assert not write_sweep(expand(MAPPING, grid=grid), tmp_path, invalid="skip").invalid
    assert write_sweep(expand(MAPPING, grid=grid), tmp_path, invalid="skip", strict=True).invalid


def test_two_points_of_one_name(tmp_path):
    with pytest.raises(SpecError, match='are both called "x"'):
        write_sweep(expand(MAPPING, grid=GRID, name="x"), tmp_path)


def test_a_point_given_twice_is_written_once(tmp_path):
    points = list(expand(MAPPING, grid=GRID))
    assert write_sweep([*points, *points], tmp_path).points == 4
    assert len(table(tmp_path)) == 4


def test_files_that_somebody_changed(tmp_path):
    write_sweep(expand(MAPPING, grid=GRID, name="io{num_io_procs}-n{nodes}"), tmp_path)
    master = tmp_path / "points" / "io1-n1" / "icon_master.namelist"
    master.write_text("mine")
    with pytest.raises(WriteError, match="is not as nmlgen wrote it"):
        write_sweep(expand(MAPPING, grid=GRID, name="io{num_io_procs}-n{nodes}"), tmp_path)
    assert write_sweep(expand(MAPPING, grid=GRID, name="io{num_io_procs}-n{nodes}"), tmp_path, force=True).changed == 1


def test_two_at_once(tmp_path):
    with ThreadPoolExecutor(4) as pool:
        sweeps = list(pool.map(lambda _: write_sweep(expand(MAPPING, grid=GRID), tmp_path), range(4)))
    assert {sweep.points for sweep in sweeps} == {4}
    assert len(table(tmp_path)) == 4
    assert write_sweep(expand(MAPPING, grid=GRID), tmp_path).changed == 0


def test_values_of_every_type_in_the_table(tmp_path):
    points = [
        {"darshan": True, "namelists.nwp_phy_nml.dt_rad": 1.5},
        {"darshan": None, "output.atm.ml_varlist": ["u", "v,w"]},
        {"lustre.output": {"stripe_count": 2}},
    ]
    write_sweep(expand(MAPPING, points=points), tmp_path, invalid="skip")
    cells = [[row[key] for key in (*points[0], "output.atm.ml_varlist", "lustre.output")] for row in table(tmp_path)]
    assert cells == [
        ["true", "1.5", "", ""],
        ["", "", '["u", "v,w"]', ""],
        ["", "", "", '{"stripe_count": 2}'],
    ]


def test_parquet_without_pandas(tmp_path, monkeypatch):
    monkeypatch.setattr(sweeps, "find_spec", lambda name: None if name == "pandas" else find_spec(name))
    points = expand({**MAPPING, "sweep": {"grid": GRID}})
    with pytest.raises(InputError, match=r"takes pandas: pip install 'nmlgen\[frame\]'"):
        write_sweep(points, tmp_path / "points", parquet=True)
    assert not (tmp_path / "points").exists()


def test_parquet(tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    points = [{"job.nodes": 1, "job.comment": "a"}, {"job.nodes": 2, "job.comment": None}, {"parallel.nproma": 8}]
    write_sweep(expand(MAPPING, points=points), tmp_path, parquet=True)
    frame = pandas.read_parquet(tmp_path / "points.parquet")
    assert list(frame["id"]) == [point.id for point in expand(MAPPING, points=points)]
    assert list(frame["job.nodes"])[:2] == [1, 2]


def test_points_frame():
    pytest.importorskip("pandas")
    points = list(expand(MAPPING, grid=GRID))
    frame = nmlgen.points_frame(points, [{"seconds": 2.5 * point.values["job.nodes"]} for point in points])
    assert list(frame.index) == [point.id for point in points]
    assert list(frame.columns) == ["name", *GRID, "seconds"]
    assert frame.groupby("job.nodes")["seconds"].mean().to_dict() == {1: 2.5, 2: 5.0}
    assert list(nmlgen.points_frame([]).columns) == ["name"]
    with pytest.raises(ValueError, match="zip"):
        nmlgen.points_frame(points, [{}])


def test_what_is_written_anew_keeps_its_permissions_and_links(tmp_path):
    """As `-o` does of every command."""
    directory, elsewhere = tmp_path / "points", tmp_path / "elsewhere"
    write_sweep(expand(MAPPING, grid={"job.nodes": [1]}), directory)
    (directory / "nmlgen-sweep.json").chmod(0o600)
    (directory / "points.csv").rename(elsewhere)
    (directory / "points.csv").symlink_to(elsewhere)
    write_sweep(expand(MAPPING, grid={"job.nodes": [1, 2]}), directory)
    assert (directory / "nmlgen-sweep.json").stat().st_mode & 0o777 == 0o600
    assert (directory / "points.csv").is_symlink()
    assert len(elsewhere.read_text().splitlines()) == 3


def test_what_a_killed_sweep_left_is_cleared_after_an_hour(tmp_path):
    old, young = tmp_path / ".nmlgen-staging-0", tmp_path / ".nmlgen-staging-1"
    for path in (old, young):
        path.mkdir()
        (path / "file").touch()
    os.utime(old, (0, 0))
    write_sweep(expand(MAPPING, grid={"job.nodes": [1]}), tmp_path)
    assert not old.exists()
    assert young.exists()
