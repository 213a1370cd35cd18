"""nmlgen diff: what is printed, and the exit codes of diff."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from foreign_scripts import COMPLETE, TWO_WAYS
from specs import TEXT

from cli.conftest import Done


@pytest.fixture
def two(here, nmlgen) -> Path:
    """A build beside its spec, and a second spec."""
    assert nmlgen("build", "spec.yaml", "-o", "run1").code == 0
    (here / "other.yaml").write_text(
        TEXT.replace("num_io_procs: 4", "num_io_procs: 8").replace("nodes: 2", "nodes: 4").replace("nproma: 16, ", "")
        + "namelists: {extpar_nml: {itopo: null}, io_nml: {lkeep_in_sync: false}}\n"
    )
    return here


def test_a_build_is_the_same_as_its_spec(nmlgen, two):
    for build in ("run1", "run1/wave.sbatch"):
        assert nmlgen("diff", "spec.yaml", build) == Done(0, "no differences\n", "")
    master = nmlgen("diff", "spec.yaml", "run1/icon_master.namelist")
    assert (master.code, master.err) == (0, "")
    assert master.out == "not compared, because only one side has it: what is said to the machine\nno differences\n"
    assert nmlgen("diff", "spec.yaml", "spec.yaml").out == "no differences\n"


def test_differences(nmlgen, two):
    done = nmlgen("diff", "spec.yaml", "other.yaml")
    assert done.code == 1
    assert done.out == (
        "--- spec.yaml\n"
        "+++ other.yaml\n"
        "#SBATCH\n"
        "  - --nodes = 2\n"
        "  + --nodes = 4\n"
        "parallel_nml\n"
        "  - nproma = 16\n"
        "  + nproma = 0  (default)\n"
        "  - num_io_procs = 4\n"
        "  + num_io_procs = 8\n"
        "extpar_nml\n"
        "  = itopo = 0  explicit (= default) in spec.yaml\n"
        "io_nml\n"
        "  = lkeep_in_sync = false  explicit (= default) in other.yaml\n"
        "3 differences, 2 explicit (= default)\n"
    )
    assert nmlgen("diff", "spec.yaml", "other.yaml", "--quiet") == type(done)(1, "", "")


def test_explicit_counts_when_asked_for(nmlgen, two):
    path = two / "run1" / "NAMELIST_wave"
    path.write_text(path.read_text().replace(" itopo = 0\n", ""))
    assert nmlgen("diff", "spec.yaml", "run1").code == 0
    assert nmlgen("diff", "spec.yaml", "run1", "--explicit").code == 1


def test_undecided_is_shown_and_counted(nmlgen, two):
    path = two / "run1" / "NAMELIST_wave"
    path.write_text(path.read_text().replace("num_io_procs = 4", "num_io_procs = ${n}"))
    done = nmlgen("diff", "spec.yaml", "run1")
    assert done.code == 0
    assert "  ? num_io_procs: 4 against ? " in done.out
    assert done.out.endswith("no differences, 1 undecided (?)\n")


def test_json(nmlgen, two):
    done = nmlgen("diff", "spec.yaml", "other.yaml", "--format", "json")
    assert done.code == 1
    document = json.loads(done.out)
    assert document["same"] is False
    assert document["not_compared"] == []
    first, second = document["differences"][:2]
    assert (first["verdict"], first["section"], first["name"]) == ("different", "#SBATCH", "--nodes")
    assert first["old"]["location"] == {"file": "spec.yaml", "line": 8, "column": 31}
    assert second["new"] == {"value": 0, "certainty": "default", "location": None}


def test_a_complex_value_is_text_in_json(nmlgen, two):
    path = two / "run1" / "NAMELIST_wave"
    path.write_text(path.read_text() + "&our_nml\n x = (1, 2)\n/\n")
    done = nmlgen("diff", "spec.yaml", "run1", "--format", "json")
    assert done.code == 1
    assert "(1.0, 2.0)" in done.out
    json.loads(done.out)


def test_numbers_that_json_does_not_have_are_words(nmlgen, two):
    path = two / "run1" / "NAMELIST_wave"
    path.write_text(path.read_text() + "&our_nml\n x = 1.0, Infinity, -inf, NaN\n/\n")
    done = nmlgen("diff", "spec.yaml", "run1", "--format", "json")
    assert done.code == 1
    values = [item["new"]["value"] for item in json.loads(done.out)["differences"] if item["section"] == "our_nml"]
    assert values == [[1.0, "Infinity", "-Infinity", "NaN"]]


def test_models_are_matched_by_name(nmlgen, two):
    master = two / "run1" / "icon_master.namelist"
    model = "&master_model_nml\n model_name = 'oce'\n model_type = 2\n model_namelist_filename = 'NAMELIST_oce'\n/\n"
    (two / "run1" / "NAMELIST_oce").write_text("&ocean_dynamics_nml\n n_zlev = 5\n/\n")
    master.write_text(master.read_text() + model)
    done = nmlgen("diff", "spec.yaml", "run1")
    assert done.code == 1
    assert "models\n  + oce = oce\n" in done.out
    assert nmlgen("diff", "run1", "run1").code == 0
    assert "starts 2 models: compare the namelist file of one" in nmlgen("diff", "run1", "run1/NAMELIST_wave").err


@pytest.mark.parametrize("arguments", [["nope.yaml", "spec.yaml"], ["spec.yaml", "nope"], ["spec.yaml", "wrong.yaml"]])
def test_trouble(nmlgen, here, arguments):
    done = nmlgen("diff", *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err
    assert nmlgen("diff", *arguments, "--format", "json").code == 2


def test_two_scripts(nmlgen, here):
    (here / "one.run").write_text(COMPLETE)
    changed = COMPLETE.replace("nproma = 16", "nproma = 32").replace("-n 64", "-n 32").replace("-c 4", "-c 8")
    (here / "two.run").write_text(changed.replace(" num_lev = 47", " num_lev=47"))
    done = nmlgen("diff", "one.run", "two.run")
    assert (done.code, done.err) == (1, "")
    assert done.out == (
        "--- one.run\n"
        "+++ two.run\n"
        "parallel_nml\n"
        "  - nproma = 16\n"
        "  + nproma = 32\n"
        "lustre\n"
        "  - out: stripe_count = 4\n"
        "  + out: stripe_count = 8\n"
        "launch\n"
        "  - tasks = 64\n"
        "  + tasks = 32\n"
        "3 differences\n"
    )


def test_the_way_of_a_script_that_is_compared_is_said(nmlgen, here):
    (here / "one.run").write_text(TWO_WAYS)
    done = nmlgen("diff", "one.run", "one.run")
    assert (done.code, done.out) == (0, "no differences\n")
    assert done.err.startswith("note: one.run:")
    assert "only a run knows whether this is written" in done.err
    assert nmlgen("diff", "one.run", "one.run", "--quiet").err == ""


def test_what_a_script_needs_from_outside(nmlgen, here):
    """Its arguments, the machine and the hosts of a run, as import takes them."""
    (here / "exp.run").write_text(
        "#!/bin/bash\ncat >NAMELIST_atm <<EOF\n&parallel_nml\n nproma = $1\n/\n&nonhydrostatic_nml\n/\nEOF\n"
        "srun ./icon\n"
    )
    (here / "NAMELIST_b").write_text("&parallel_nml\n nproma = 8\n/\n&nonhydrostatic_nml\n/\n")
    assert nmlgen("diff", "exp.run", "NAMELIST_b", "8").code == 0
    assert "- nproma = 16\n" in nmlgen("diff", "exp.run", "NAMELIST_b", "16").out
    nowhere = nmlgen("diff", "exp.run", "exp.run", "--site", "nowhere")
    assert (nowhere.code, nowhere.out) == (2, "")
    assert "nowhere" in nowhere.err
    assert nmlgen("diff", "exp.run", "exp.run", "8", "--hosts", "missing").code == 2
    (here / "hosts").write_text("0-11 ./a.sh\n")
    assert "is no file of hosts" in nmlgen("diff", "exp.run", "exp.run", "8", "--hosts", "hosts").err


def test_what_is_of_another_model(nmlgen, here):
    """Two specs, or two namelists: what else a build of another model says is not read."""
    for name, points in (("one", 41), ("two", 61)):
        text = f"nmlgen: 1\nname: {name}\nextends: wrf/b_wave\nsite: generic-slurm\n"
        (here / f"{name}.yaml").write_text(f"{text}namelists: {{domains: {{e_we: {points}}}}}\n")
        assert nmlgen("build", f"{name}.yaml", "-o", name, "--force").code in (0, 1)
    assert "namelist.input: domains\n  - e_we = 41\n  + e_we = 61\n" in nmlgen("diff", "one.yaml", "two.yaml").out
    assert "e_we = 61" in nmlgen("diff", "one/namelist.input", "two/namelist.input").out
    for asked in (("diff", "one", "two"), ("import", "one")):
        assert "one is a build of wrf: name the namelist in it" in nmlgen(*asked).err
    assert "is a spec of WRF: compare two specs" in nmlgen("diff", "one.yaml", "two/namelist.input").err
