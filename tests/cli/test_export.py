"""nmlgen export."""

from __future__ import annotations

import os

import pytest
from specs import TEXT


@pytest.fixture
def sweep(nmlgen, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spec.yaml").write_text(f"{TEXT}sweep: {{grid: {{parallel.nproma: [8, 16]}}}}\n")
    assert nmlgen("sweep", "spec.yaml", "-o", "out").code == 0
    return tmp_path / "out"


def test_export_to_jube(nmlgen, sweep):
    done = nmlgen("export", "out", "--for", "jube")
    assert (done.code, done.out) == (0, "out/jube.xml\nout/run_point.sh\n")
    done = nmlgen("export", "out", "--for", "jube", "-q")
    assert (done.code, done.out, done.err) == (0, "", "")


def test_files_in_the_way(nmlgen, sweep):
    (sweep / "Snakefile").write_text("mine")
    done = nmlgen("export", "out", "--for", "snakemake")
    assert done.code == 2
    assert "out/Snakefile: there already, and different; --force overwrites" in done.err
    assert nmlgen("export", "out", "--for", "snakemake", "--force").code == 0


def test_no_sweep(nmlgen, sweep):
    done = nmlgen("export", ".", "--for", "cylc")
    assert done.code == 2
    assert "writes a sweep" in done.err
    assert nmlgen("export", "out").code == 2


@pytest.mark.parametrize("tool", ["autosubmit", "cylc", "ecflow", "jube", "ro-crate", "snakemake"])
def test_a_directory_whose_name_is_no_utf_8(nmlgen, sweep, tool):
    named = sweep.rename(os.fsdecode(os.fsencode(sweep.parent) + b"/\xff"))
    assert nmlgen("export", named, "--for", tool).code == 0
    for path in named.glob("*.*"):
        if path.suffix != ".sqlite":
            path.read_text(encoding="utf-8")
