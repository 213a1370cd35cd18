"""The word `auto`: decided when a spec is loaded, with its reason, and never in the place of what somebody wrote."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from math import log
from pathlib import Path

import pytest
from attrs import evolve
from specs import refused

import nmlgen
from nmlgen import SpecError, load_spec
from nmlgen.advise.calibration import NAMES, levante
from nmlgen.resources import directory

EXAMPLE = Path(__file__).parents[2] / "examples" / "nh_dcmip_tc_52_r2b5.yaml"
TEXT = f"""\
nmlgen: 1
name: left-open
extends: {EXAMPLE}
parallel: {{num_io_procs: auto}}
restart: {{restart_write_mode: auto, checkpointTimeIntval: PT12M}}
output: {{atm: {{stream_partitions_ml: auto}}}}
lustre: {{output: {{stripe_count: auto}}, restart: {{stripe_count: auto}}}}
"""


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "spec.yaml"
    path.write_text(TEXT, encoding="utf-8")
    return path


def value(spec, name):
    return spec.find(name).value


def test_all_at_once(path):
    spec = load_spec(path)
    ranks = value(spec, "parallel.num_io_procs")
    assert ranks == value(spec, "output.atm.stream_partitions_ml") > 1
    assert value(spec, "restart.restart_write_mode") == "dedicated procs multifile"
    assert value(spec, "restart.num_restart_procs") > 1  # nobody wrote it, and the mode needs some
    assert value(spec, "lustre.restart.stripe_count") == 1
    assert nmlgen.check(spec).findings == ()


def test_who_decided_and_why(path):
    spec = load_spec(path)
    first, second, *_ = spec.chain("parallel.num_io_procs")
    assert (first.layer, second.layer, second.value) == ("advisor", "spec", "auto")
    assert first.span == second.span
    assert "expected with" in first.reason
    assert dict(spec.experiment.advised())["output.atm.stream_partitions_ml"].origin.reason == "as many as I/O ranks"


def test_what_is_written_stays(path):
    spec = load_spec(path, ["parallel.num_io_procs=3", "restart.num_restart_procs=2"])
    assert value(spec, "parallel.num_io_procs") == 3
    assert value(spec, "output.atm.stream_partitions_ml") == 3
    assert value(spec, "restart.num_restart_procs") == 2
    assert value(spec, "restart.restart_write_mode") in ("dedicated procs multifile", "joint procs multifile")
    spec = load_spec(path, ["output.atm.stream_partitions_ml=6"])
    assert value(spec, "output.atm.stream_partitions_ml") == 6
    assert 6 % value(spec, "parallel.num_io_procs") == 0


@pytest.mark.parametrize(
    ("mode", "ranks"),
    [("sync", {0}), ("joint procs multifile", {0}), ("async", {1}), ("dedicated procs multifile", {1, 2, 4, 8})],
)
def test_restart_ranks_of_a_given_mode(path, mode, ranks):
    spec = load_spec(path, [f"restart.restart_write_mode={mode}", "restart.num_restart_procs=auto"])
    assert value(spec, "restart.num_restart_procs") in ranks
    assert nmlgen.check(spec).errors == ()


def test_a_build_shows_it(path):
    files = nmlgen.build(path).files
    namelist = files["NAMELIST_left-open"].decode()
    assert "num_io_procs" in namelist
    line = next(line for line in namelist.splitlines() if line.startswith(" num_io_procs"))
    assert "  ! auto: " in line
    assert "  # auto: each rank writes a file of its own" in files["left-open.sbatch"].decode()
    advised = json.loads(files["nmlgen-manifest.json"])["advised"]
    assert set(advised) == {
        "parallel_nml.num_io_procs",
        "parallel_nml.num_restart_procs",
        "io_nml.restart_write_mode",
        "output.atm.stream_partitions_ml",
        "lustre.output.stripe_count",
        "lustre.restart.stripe_count",
    }
    assert advised["parallel_nml.num_io_procs"]["reason"] in line
    assert "advised" not in json.loads(nmlgen.build(EXAMPLE).files["nmlgen-manifest.json"])


def test_a_build_is_the_same_experiment(path, tmp_path):
    nmlgen.build(path).write(tmp_path / "run")
    assert nmlgen.compare(path, tmp_path / "run").differences == ()
    assert nmlgen.lint([tmp_path / "run"]).findings == nmlgen.check(path).findings == ()
    imported = nmlgen.import_spec(tmp_path / "run")
    assert imported.remarks == ()
    assert "auto" not in imported.text.replace("left-open", "")


def test_several_streams(path):
    rain = (
        "output.rain={output_interval: PT4M, file_interval: P1D, ml_varlist: [temp], "
        "stream_partitions_ml: auto, include_last: false}"
    )
    spec = load_spec(path, [rain])
    parts = [value(spec, f"output.{name}.stream_partitions_ml") for name in ("atm", "rain")]
    assert sum(parts) == value(spec, "parallel.num_io_procs")
    assert nmlgen.check(spec).findings == ()


def test_without_checkpoints_nobody_is_set_apart(path):
    spec = load_spec(path, ["restart.checkpointTimeIntval=null", "restart.restartTimeIntval=null"])
    assert value(spec, "restart.restart_write_mode") == "sync"
    assert spec.chain("restart.restart_write_mode")[0].reason == "no checkpoint is written"


def test_what_cannot_be_decided_points_at_the_word(path):
    findings = refused(path, ["namelists.grid_nml.l_limited_area=true"])
    assert [(finding.code, finding.line, finding.column) for finding in findings] == [
        ("SPC013", 4, 26),
        ("SPC013", 5, 31),
        ("SPC013", 6, 38),
    ]
    assert "the size of the grid is not known" in findings[0].message
    assert "grid.name" in findings[0].notes[0]


@pytest.mark.parametrize("override", ["restart.num_restart_procs=many", "lustre.output.stripe_count=all"])
def test_no_other_word_is_taken(path, override):
    (finding,) = refused(path, [override])
    assert finding.code == "SPC004"
    assert "auto" in finding.notes[0]


def test_a_sweep_decides_each_point(path):
    points = list(nmlgen.expand(load_spec(path), grid={"output.atm.output_interval": ["PT4M", "PT12H"]}))
    ranks = [value(point.spec, "parallel.num_io_procs") for point in points]
    assert ranks[0] > ranks[1]


def test_figures_of_another_site_are_named(path):
    spec = load_spec(path, ["site=generic-slurm", "job.partition=null"])
    assert "by the figures of Levante" in spec.chain("parallel.num_io_procs")[0].reason
    spec = load_spec(path, ["namelists.run_nml.iforcing=0"])
    assert "outside what was measured" in spec.chain("parallel.num_io_procs")[0].reason


def test_it_costs_nothing_where_it_is_not_used():
    program = (
        "import sys, nmlgen; nmlgen.load_spec(sys.argv[1]);"
        "assert not [name for name in sys.modules if name.startswith('nmlgen.advise')]"
    )
    subprocess.run([sys.executable, "-c", program, str(EXAMPLE)], check=True)


def test_the_advisor_is_reached_from_the_package():
    program = "import nmlgen; nmlgen.advise.Case; nmlgen.advice"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_same_bytes_whatever_the_hashes(path):
    program = (
        "import hashlib, sys, nmlgen;"
        "files = nmlgen.build(sys.argv[1]).files;"
        "print(hashlib.sha256(b''.join(files[name] for name in sorted(files))).hexdigest())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", program, str(path)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "7")
    }
    assert len(digests) == 1


def test_a_site_may_name_figures_of_its_own(tmp_path):
    """Its calibration decides, is named as an input of the build, and is nobody else's."""
    figures = levante()
    slow = evolve(figures, name="mine", estimate=figures.estimate._replace(mean=_slower(figures.estimate.mean)))
    (tmp_path / "mine.yaml").write_text(slow.dump())
    site = (directory("presets") / "sites" / "levante.yaml").read_text(encoding="utf-8")
    (tmp_path / "site.yaml").write_text(site.replace("machine:\n", "machine:\n  calibration: mine.yaml\n", 1))
    spec = [f"site={tmp_path}/site.yaml", "parallel.num_io_procs=auto", "output.atm.stream_partitions_ml=auto"]
    there = load_spec(EXAMPLE, ["parallel.num_io_procs=auto", "output.atm.stream_partitions_ml=auto"])
    here = load_spec(EXAMPLE, spec)
    ranks = [loaded.experiment.components[0]["parallel_nml", "num_io_procs"].value for loaded in (there, here)]
    assert ranks[0] < ranks[1]
    assert "by the figures of" not in here.find("parallel.num_io_procs").origin.reason
    assert any(document.label.startswith("calibration of site") for document in here.documents)
    (tmp_path / "mine.yaml").write_text("nmlgen_calibration: 7\n")
    with pytest.raises(SpecError, match=r"mine.yaml"):
        load_spec(EXAMPLE, spec)


def _slower(mean):
    """The logarithms of the constants with I/O ranks at an eighth of their speed."""
    return tuple(value - log(8) * (name == "writer") for name, value in zip(NAMES, mean, strict=True))
