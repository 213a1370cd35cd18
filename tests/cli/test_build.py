"""nmlgen build."""

from __future__ import annotations

import json

import pytest

FILES = ["NAMELIST_wave", "icon_master.namelist", "nmlgen-manifest.json", "wave.sbatch"]


def names(directory):
    return sorted(path.name for path in directory.iterdir())


def test_build(nmlgen, here):
    done = nmlgen("build", "spec.yaml")
    assert (done.code, done.err) == (0, "")
    assert done.out == f"wrote to wave: {', '.join(FILES)}\nnext: sbatch wave/wave.sbatch\n"
    assert names(here / "wave") == FILES
    done = nmlgen("build", "spec.yaml")
    assert (done.code, done.out) == (0, "wave is up to date\n")


def test_elsewhere(nmlgen, here):
    assert nmlgen("build", "spec.yaml", "-o", "a/b c").out.splitlines()[1] == "next: sbatch 'a/b c/wave.sbatch'"
    assert names(here / "a" / "b c") == FILES


def test_without_slurm(nmlgen, here):
    done = nmlgen("build", "spec.yaml", "--set", "site=local", "--set", "job.ntasks=6")
    assert done.out.endswith("next: bash wave/wave.sbatch\n")


def test_quiet(nmlgen, here):
    done = nmlgen("build", "spec.yaml", "-q")
    assert (done.code, done.out, done.err) == (0, "", "")
    done = nmlgen("build", "bad.yaml", "-q")
    assert done.code == 1
    assert "nothing was built" not in done.err


def test_warnings_are_shown_and_do_not_stop(nmlgen, here):
    done = nmlgen("build", "warned.yaml")
    assert done.code == 0
    assert "warning[SPC009]" in done.err
    assert "wrote to wave" in done.out


@pytest.mark.parametrize("arguments", [["bad.yaml"], ["wrong.yaml"], ["warned.yaml", "--strict"]])
def test_nothing_is_built(nmlgen, here, arguments):
    before = names(here)
    done = nmlgen("build", *arguments)
    assert (done.code, done.out) == (1, "")
    assert done.err.endswith("\nnothing was built\n")
    assert names(here) == before


@pytest.mark.parametrize("flag", ["--dry-run", "-n", "--diff"])
def test_nothing_is_written(nmlgen, here, flag):
    before = names(here)
    assert nmlgen("build", "spec.yaml", flag).out
    assert names(here) == before
    nmlgen("build", "spec.yaml")
    content = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in (here / "wave").iterdir()}
    assert nmlgen("build", "spec.yaml", "--set", "parallel.nproma=8", flag).out
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in (here / "wave").iterdir()} == content


def test_dry_run(nmlgen, here):
    done = nmlgen("build", "spec.yaml", "--dry-run")
    assert (done.code, done.out) == (0, f"would write to wave: {', '.join(FILES)}\n")
    nmlgen("build", "spec.yaml")
    assert nmlgen("build", "spec.yaml", "--dry-run").out == "wave is up to date\n"


def test_diff(nmlgen, here):
    done = nmlgen("build", "spec.yaml", "--diff")
    assert done.code == 1
    assert "--- /dev/null\n+++ wave/NAMELIST_wave\n" in done.out
    nmlgen("build", "spec.yaml")
    done = nmlgen("build", "spec.yaml", "--diff")
    assert (done.code, done.out) == (0, "")
    done = nmlgen("build", "spec.yaml", "--diff", "--set", "parallel.nproma=8")
    assert done.code == 1
    assert "\n- nproma " in done.out.replace("-  ", "- ")
    assert "--- wave/NAMELIST_wave\n+++ wave/NAMELIST_wave\n" in done.out


@pytest.mark.parametrize("flags", [[], ["--dry-run"], ["--diff"], ["--force"]])
def test_a_directory_where_a_file_belongs(nmlgen, here, flags):
    (here / "wave" / "wave.sbatch").mkdir(parents=True)
    done = nmlgen("build", "spec.yaml", *flags)
    assert done.code in (1, 2)
    assert names(here / "wave") == ["wave.sbatch"]


def test_changed_files(nmlgen, here):
    nmlgen("build", "spec.yaml")
    (here / "wave" / "wave.sbatch").write_text("mine")
    done = nmlgen("build", "spec.yaml")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("nmlgen: error: wave.sbatch in wave is not as nmlgen wrote it; --force overwrites")
    assert (here / "wave" / "wave.sbatch").read_text() == "mine"
    assert nmlgen("build", "spec.yaml", "--diff").code == 1
    assert nmlgen("build", "spec.yaml", "--force").out.startswith("wrote to wave: wave.sbatch\n")


def test_json(nmlgen, here):
    document = json.loads(nmlgen("build", "spec.yaml", "--format", "json").out)
    assert document == {"directory": "wave", "files": FILES, "changed": FILES, "findings": []}
    assert json.loads(nmlgen("build", "spec.yaml", "--format", "json").out)["changed"] == []
    done = nmlgen("build", "wrong.yaml", "--format", "json", "-o", "x")
    assert done.code == 1
    assert json.loads(done.out)["files"] == []


def test_stamp(nmlgen, here):
    nmlgen("build", "spec.yaml", "--stamp")
    manifest = json.loads((here / "wave" / "nmlgen-manifest.json").read_text())
    assert set(manifest["stamp"]) == {"time", "host"}
