"""Memory: what is certain, what is likely, and where I/O ranks sit."""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import evolve
from rules.experiments import experiment_of, judge
from specs import load

import nmlgen
from nmlgen.models.icon.rules.memory import IoRanksOnOneNode
from nmlgen.rules import all_rules

RULES = [rule for rule in all_rules() if rule.code.startswith("MEM")]


def grid(level: int) -> str:
    return f"grid: {{file: iconR02B{level:02d}-grid.nc, name: R2B{level}, num_lev: 90}}\n"


def found(text: str, tmp_path) -> list:
    return judge(experiment_of(text, tmp_path), RULES)


@pytest.mark.parametrize(
    ("level", "nodes", "codes"),
    [
        (5, 1, []),
        (9, 1, []),  # 0.2 TB with all
        (10, 1, ["MEM001"]),  # of 0.7 TB half a TB is certain
        (10, 3, ["MEM002"]),
        (10, 4, ["MEM003"]),
        (10, 16, []),
    ],
)
def test_grids_on_nodes(level, nodes, codes, tmp_path):
    text = f"{grid(level)}job: {{nodes: {nodes}}}\n"
    assert [finding.code for finding in found(text, tmp_path)] == codes


def test_certain_is_what_the_largest_node_does_not_hold(tmp_path):
    (finding,) = found(f"{grid(10)}job: {{nodes: 1}}\n", tmp_path)
    assert finding.message == "the model's fields take at least 520.1 GB, the node of the job has 274.9 GB at most"
    (finding,) = found(f"{grid(10)}job: {{nodes: 1, constraint: 512G}}\n", tmp_path)
    assert finding.code == "MEM002"
    assert "it has 549.8 GB" in finding.message


@pytest.mark.parametrize(
    ("job", "code", "most"),
    [
        ("nodes: 1", "MEM001", "274.9 GB at most"),  # no larger node gives it more
        ("nodes: 1, mem: 500G", "MEM001", "536.9 GB at most"),
        ("nodes: 1, mem: 0M", "MEM002", "it has 274.9 GB"),  # all that the node has
        ("nodes: 1, constraint: 1024G", "MEM002", "it has 1.1 TB"),
        ("nodes: 1, constraint: 0M", "MEM001", "274.9 GB at most"),  # which no node is called
    ],
)
def test_more_memory_only_where_it_is_asked_for(job, code, most, tmp_path):
    example = Path(__file__).parents[4] / "examples" / "nh_dcmip_tc_52_r2b5.yaml"
    overrides = ["grid.name=R2B10", *(f"job.{one.replace(': ', '=')}" for one in job.split(", "))]
    findings = [f for f in nmlgen.check(example, overrides=overrides).findings if f.code.startswith("MEM")]
    assert [finding.code for finding in findings] == [code]
    assert all(most in finding.message for finding in findings)


@pytest.mark.parametrize(("mem", "is_short"), [("16G", True), ("64G", False)])
def test_memory_that_is_asked_for(mem, is_short, tmp_path):

    assert bool(found(f"job: {{mem: {mem}}}\n", tmp_path)) is is_short


@pytest.mark.parametrize(("mem", "limit"), [("100G", "mem"), ("1000G", "nodes")])  # of nodes with 274.9 GB
def test_the_finding_stands_at_what_bounds_the_memory(mem, limit, tmp_path):
    text = f"{grid(10)}job: {{nodes: 3, mem: {mem}}}\n"
    (finding,) = [one for one in found(text, tmp_path) if one.code == "MEM002"]
    assert finding.span is not None
    assert text.splitlines()[1][: finding.span.column - 1].endswith(f"{limit}: ")


IO = "parallel: {{num_io_procs: {ranks}}}\noutput: {{atm: {{stream_partitions_ml: {ranks}, output_interval: PT12H}}}}\n"


@pytest.mark.parametrize(
    ("ranks", "job", "codes"),
    [
        (16, "nodes: 64", []),
        (32, "nodes: 64", ["MEM003"]),
        (32, "nodes: 64, distribution: cyclic", []),
        (32, "nodes: 64, distribution: 'plane=16'", []),
        (32, "nodes: 64, distribution: 'block:cyclic'", ["MEM003"]),
        (2, "nodes: 64", []),
    ],
)
def test_io_ranks_on_the_last_node(ranks, job, codes, tmp_path):
    text = f"{grid(9)}job: {{{job}}}\n{IO.format(ranks=ranks)}"
    assert [finding.code for finding in found(text, tmp_path)] == codes


def test_fewer_levels_at_a_time_fit(tmp_path):
    text = f"{grid(9)}job: {{nodes: 64}}\n{IO.format(ranks=32)}"
    assert found(text.replace("num_io_procs", "io_proc_chunk_size: 22, num_io_procs"), tmp_path) == []


@pytest.mark.parametrize(
    ("level", "nodes", "told", "worked_out"),
    [
        (
            10,
            3,
            "a node of the job holds at least 314.8 GB, it has 274.9 GB",
            "232.3 GB of fields, 50.4 GB of output, and 32.0 GB for 128 ranks",
        ),
        (
            10,
            4,
            "4 of 4 I/O ranks sit on one node and hold 185.2 GB there, besides 206.2 GB of others; it has 274.9 GB",
            "an I/O rank holds 46.3 GB: all levels of one variable of the whole grid",
        ),
        (
            10,
            1,
            "the model's fields take at least 520.1 GB, the node of the job has 274.9 GB at most",
            "expected: at least 2 nodes, and more for what ICON holds besides",
        ),
    ],
)
def test_what_is_held_is_worked_out(level, nodes, told, worked_out, tmp_path):
    (finding,) = found(f"{grid(level)}job: {{nodes: {nodes}}}\n", tmp_path)
    assert (finding.message, finding.notes[0]) == (told, worked_out)


def test_so_many_levels_at_a_time_are_said(tmp_path):
    (finding,) = found(f"{grid(9)}job: {{nodes: 64}}\n{IO.format(ranks=32)}", tmp_path)
    assert finding.message == (
        "32 of 32 I/O ranks sit on one node and hold 370.4 GB there, besides 34.7 GB of others; it has 274.9 GB"
    )
    assert finding.notes[0].startswith("an I/O rank holds 11.6 GB")
    assert "io_proc_chunk_size 22," in finding.notes[1]


def test_of_nodes_that_nobody_counts_nothing_is_certain(tmp_path):
    assert found(f"{grid(10)}job: {{nodes: null, ntasks: 128}}\n", tmp_path) == []


def test_of_memory_that_nobody_knows_nothing_is_certain():
    experiment = load(grid={"file": "iconR02B10-grid.nc", "name": "R2B10", "num_lev": 90}, job={"nodes": 1}).experiment
    for sizes, expected in (((), []), (("256G",), ["MEM001"])):
        machine = evolve(experiment.machine, memory_per_node=274_877_906_944 if sizes else None, features=sizes)
        assert [one.code for one in judge(evolve(experiment, machine=machine), RULES)] == expected


def test_io_ranks_without_workers_are_another_rules(tmp_path):
    text = f"{grid(10)}job: {{nodes: 4, ntasks_per_node: 128}}\nparallel: {{num_io_procs: 512}}\n"
    assert list(IoRanksOnOneNode().check(experiment_of(text, tmp_path).components[0])) == []
