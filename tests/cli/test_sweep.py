"""nmlgen sweep, and nmlgen check of a spec with a sweep."""

from __future__ import annotations

import re

import pytest
from specs import TEXT

from nmlgen.models.icon.output_fate import fate
from nmlgen.models.icon.rules import output_chain

SWEEP = """\
sweep:
  grid: {parallel.num_io_procs: [0, 2, 64], job.nodes: [1, 2]}
  derive: {output.atm.stream_partitions_ml: "max(1, num_io_procs)"}
  name: io{num_io_procs}-n{nodes}
"""


@pytest.fixture
def spec(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spec.yaml").write_text(TEXT + SWEEP)
    return tmp_path / "spec.yaml"


def test_sweep(nmlgen, spec):
    assert nmlgen("sweep", "spec.yaml").code == 1
    done = nmlgen("sweep", "spec.yaml", "-o", "out", "--set", "job.ntasks_per_node=128")
    assert (done.code, done.out) == (0, "out: 6 points, 6 new or different\n")
    done = nmlgen("sweep", "spec.yaml", "-o", "out", "--set", "job.ntasks_per_node=128")
    assert done.out == "out: 6 points, 0 new or different\n"


def test_points_that_cannot_be_built(nmlgen, spec):
    done = nmlgen("sweep", "spec.yaml", "-o", "out")
    assert done.code == 1
    assert "at the point io64-n1" in done.err
    done = nmlgen("sweep", "spec.yaml", "-o", "out", "--invalid", "skip")
    assert done.code == 1
    assert done.out.startswith("out: 6 points, ")
    assert "not built: io64-n1 (" in done.err


def test_dry_run(nmlgen, spec):
    done = nmlgen("sweep", "spec.yaml", "-n")
    assert done.code == 0
    assert done.out.splitlines()[0].split("  ")[1:] == [
        "io0-n1",
        "job.nodes=1",
        "output.atm.stream_partitions_ml=1",
        "parallel.num_io_procs=0",
    ]
    assert not (spec.parent / "wave").exists()


def test_quiet(nmlgen, spec):
    done = nmlgen("sweep", "spec.yaml", "-q", "--set", "job.ntasks_per_node=128")
    assert (done.code, done.out, done.err) == (0, "", "")


def test_a_spec_without_a_sweep(nmlgen, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spec.yaml").write_text(TEXT)
    done = nmlgen("sweep", "spec.yaml")
    assert done.code == 1
    assert "the sweep has no points" in done.err
    assert "--invalid" not in done.err  # no point was left out


def test_check_of_a_sweep(nmlgen, spec):
    done = nmlgen("check", "spec.yaml")
    assert done.code == 1
    assert "spec.yaml: 6 points, 2 of them cannot be built" in done.out
    assert done.out.count("OUT007") == 1
    assert "concerns 1 of 6 points: io64-n2" in done.out


def test_findings_of_a_sweep_that_differ_in_a_number_are_told_three_times(nmlgen, spec):
    spec.write_text(
        f"{TEXT}sweep: {{grid: {{time.modelTimeStep: [{', '.join(f'PT{s}S' for s in range(601, 608))}]}}}}\n"
    )
    done = nmlgen("check", "spec.yaml")
    assert done.out.count("OUT009") == 3
    assert done.out.count("; 4 more differ from it in a number, at 4 points") == done.out.count("warning[") / 3


def test_check_of_a_sweep_of_a_large_spec_looks_at_fewer_points(nmlgen, spec):
    environment = ", ".join(f"A{number}: b" for number in range(1000))
    spec.write_text(f"{TEXT}environment: {{{environment}}}\nsweep: {{grid: {{job.nodes: {list(range(1, 301))}}}}}\n")
    (found,) = re.findall(r"spec.yaml: (\d+) of 300 points", nmlgen("check", "spec.yaml").out)
    assert 30 < int(found) < 60  # that many times 2000 keys and values are nearly 120 000


def test_check_of_a_sweep_looks_at_fewer_points_where_much_is_worked_out_of_each(nmlgen, spec):
    streams = "".join(
        f"  s{number}: {{output_interval: PT1H, ml_varlist: [u], output_filename: s{number}}}\n" for number in range(40)
    )
    sweep = f"sweep: {{grid: {{job.nodes: {list(range(2, 302))}}}}}\n"
    found = []
    for partitions in (1, 4):
        text = TEXT.replace("stream_partitions_ml: 4", f"stream_partitions_ml: {partitions}")
        spec.write_text(f"{text}{streams.replace('}', f', stream_partitions_ml: {partitions}}}')}{sweep}")
        found += re.findall(r"spec.yaml: (\d+) of 300 points", nmlgen("check", "spec.yaml").out)
    assert 5 < int(found[1]) < int(found[0]) / 1.5 < 100


def test_check_of_a_sweep_of_very_many_points(nmlgen, spec):
    grid = "{parallel.nproma: [4, 8], job.nodes: " + str(list(range(1, 151))) + "}"
    spec.write_text(f"{TEXT}ignore: {{OUT007: never at any point, PAR003: not at each}}\nsweep: {{grid: {grid}}}\n")
    some, whole = nmlgen("check", "spec.yaml"), nmlgen("check", "spec.yaml", "--all-points")
    assert "spec.yaml: 200 of 300 points (--all-points checks each), 0 of them cannot be built" in some.out
    assert "spec.yaml: 300 points, 0 of them" in whole.out
    assert "finds nothing" not in some.out  # it may at another point
    assert "OUT007 is suppressed here and finds nothing" in whole.out


def test_a_suppression_that_one_point_needs(nmlgen, spec):
    spec.write_text(spec.read_text() + "ignore: {OUT004: measured, PAR003: no}\n")
    out = nmlgen("check", "spec.yaml", "--set", "job.ntasks_per_node=128").out
    assert "[OUT004]" not in out
    assert "OUT004 is suppressed" not in out
    assert "PAR003 is suppressed here and finds nothing" in out


def test_a_build_says_that_the_sweep_is_left_out(nmlgen, spec):
    assert "nmlgen sweep builds the points" in nmlgen("build", "spec.yaml").err
    assert nmlgen("build", "spec.yaml", "-q").err == ""


def test_what_a_chain_leaves_is_worked_out_once_where_points_do_not_differ_in_it(nmlgen, spec, monkeypatch):
    played = []
    monkeypatch.setattr(output_chain, "fate", lambda *asked, **more: played.append(asked) or fate(*asked, **more))
    spec.write_text(TEXT.replace("P10D}", "P5D}") + "sweep: {grid: {parallel.nproma: [4, 8, 16, 24, 32, 40, 48]}}\n")
    assert "spec.yaml: 7 points" in nmlgen("check", "spec.yaml").out
    assert len(played) == 4  # partitions, of one point
