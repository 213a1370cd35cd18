"""`nmlgen why` and `nmlgen explain` of where ranks sit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from placements import ATM, HIOPY, OCE, spec


@pytest.fixture
def three_programs(tmp_path: Path) -> str:
    """The path of a spec of an atmosphere on GPUs, an ocean and a program on two nodes."""
    document = spec(tmp_path, models={"atm": {**ATM, "io_nodes": 1}, "oce": OCE}, programs={"output": HIOPY})
    path = tmp_path / "spec.yaml"
    path.write_text(json.dumps(document | {"job": {"nodes": 3, "time": "02:00:00"}}))
    return str(path)


@pytest.mark.parametrize(
    ("rank", "expected"),
    [
        (5, ("rank 5: node 1, atm: work, GPU 1", "a rank that computes for each GPU", "models.atm.device")),
        (8, ("rank 8: node 2, atm: I/O, no GPU", "nodes of their own", "models.atm.io_nodes")),
        (9, ("rank 9: node 0, oce: work, no GPU", "as equal a share as can be", "models.oce.tasks_per_node")),
        (17, ("node 1, output: a rank of a program", "as equal a share as can be", "programs.output.tasks")),
    ],
)
def test_why_a_rank_sits_there(nmlgen, three_programs: str, rank: int, expected: tuple[str, ...]) -> None:
    done = nmlgen("why", three_programs, f"rank.{rank}")
    assert done.code == 0
    assert all(words in done.out for words in expected), done.out


def test_a_rank_as_json(nmlgen, three_programs: str) -> None:
    document = json.loads(nmlgen("why", three_programs, "rank.5", "--format", "json").out)
    assert (document["seat"]["node"], document["seat"]["gpu"]) == (1, 1)
    assert [entry["name"] for entry in document["chain"]] == ["models.atm.device"]


def test_ranks_that_there_are_not(nmlgen, three_programs: str) -> None:
    done = nmlgen("why", three_programs, "rank.99")
    assert (done.code, "there is no rank 99: the job has" in done.err) == (2, True)


def test_ranks_that_nobody_places(nmlgen, three_programs: str, tmp_path: Path) -> None:
    document = json.loads(Path(three_programs).read_text())
    oce = {key: value for key, value in OCE.items() if key not in ("device", "tasks_per_node", "executable")}
    document |= {"models": {"oce": oce}, "programs": {}, "model": {**document["model"]}}
    (tmp_path / "plain.yaml").write_text(json.dumps(document))
    done = nmlgen("why", tmp_path / "plain.yaml", "rank.0")
    assert (done.code, "nothing places the ranks" in done.err) == (2, True)


@pytest.mark.parametrize(
    ("key", "value"),
    [("models.atm.environment.OF_GPUS", "yes"), ("models.oce.device", "cpu"), ("programs.output.tasks", "3")],
)
def test_why_a_program_has_it(nmlgen, three_programs: str, key: str, value: str) -> None:
    assert nmlgen("why", three_programs, key).out.startswith(f"{key} = {value}\n")


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("placement", ("Work ranks of a program for GPUs have one GPU each", "`model.io_nodes`", "`partitions`")),
        ("device", ("# device", "gpu, a rank for each GPU of its nodes")),
        ("models.atm.seats", ("`models.<name>.seats`", "4 on 0-15")),
        ("job.gpus_per_node", ("`job.gpus_per_node`: --gpus-per-node",)),
    ],
)
def test_explain_keys_of_a_spec(nmlgen, word: str, expected: tuple[str, ...]) -> None:
    done = nmlgen("explain", word)
    assert done.code == 0
    assert all(words in done.out for words in expected), done.out


def test_explain_what_there_is_not(nmlgen) -> None:
    assert "there is no rule" in nmlgen("explain", "parallel.nproma").err
