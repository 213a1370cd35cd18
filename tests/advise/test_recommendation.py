from __future__ import annotations

import doctest

import pytest
from advise_cases import CHECKPOINTS, OUTPUT, case

import nmlgen.advise
from nmlgen.advise import predict, quantities, recommend, recommend_restart


def test_the_best_is_the_shortest_and_carries_its_layout():
    question = case(**OUTPUT, num_io_procs=1, nodes=2, ntasks=256)
    answer = recommend(question)
    assert [candidate.num_io_procs for candidate, _ in answer.ranked] != sorted([0, 1, 2, 4, 8, 16, 32])
    assert sorted(candidate.num_io_procs for candidate, _ in answer.ranked) == [0, 1, 2, 4, 8, 16, 32]
    totals = [prediction.total_s for _, prediction in answer.ranked]
    assert totals == sorted(totals)
    assert answer.best == answer.ranked[0][0]
    assert answer.num_io_procs == answer.stream_partitions == answer.best.num_io_procs == 4
    assert answer.prediction == predict(answer.best)
    assert answer.reason.startswith("4 I/O ranks: ")


def test_candidates_that_leave_nobody_to_compute_are_left_out():
    question = case(**OUTPUT, nodes=1, ntasks=4)
    assert sorted(candidate.num_io_procs for candidate, _ in recommend(question).ranked) == [0, 1, 2]
    with pytest.raises(ValueError, match="no candidate that leaves a rank for computing"):
        recommend(question, num_io_procs=(4, 8))


def test_without_output_nobody_is_taken_from_computing():
    answer = recommend(case())
    assert answer.num_io_procs == 0
    assert "there is no output" in answer.reason


def test_differences_below_the_noise_are_called_equal():
    answer = recommend(case(**OUTPUT))
    assert answer.num_io_procs == 2
    assert {candidate.num_io_procs for candidate, _ in answer.equal} == {1, 4}  # measured: 1454, 1427 and 1428 s
    assert "less than the noise of 2%" in answer.reason


def test_restart_layouts_are_compared_with_and_without_ranks():
    answer = recommend_restart(case(**CHECKPOINTS))
    assert (answer.restart_write_mode, answer.num_restart_procs) == ("dedicated procs multifile", 4)
    layouts = {(candidate.restart_mode, candidate.num_restart_procs) for candidate, _ in answer.ranked}
    assert {("sync", 0), ("joint procs multifile", 0), ("async", 8)} < layouts
    assert len(layouts) == 10
    only = recommend_restart(case(**CHECKPOINTS), restart_write_modes=("sync", "joint procs multifile"))
    assert only.restart_write_mode == "joint procs multifile"


def test_the_six_quantities():
    found = quantities(case(**OUTPUT, num_io_procs=4, stream_partitions=4))
    assert (found.nodes, found.output_interval_s, found.output_bytes) == (1, 720.0, 254279680.0)
    assert found.computing_s == pytest.approx(1.17, abs=0.05)
    assert 0.4e9 < found.contended_bytes_per_s <= found.writer_bytes_per_s < 0.6e9
    alone = quantities(case())
    assert (alone.computing_s, alone.output_interval_s, alone.contended_bytes_per_s) == (None, None, None)


def test_the_example_of_the_documentation_is_true():
    assert doctest.testmod(nmlgen.advise) == (0, 3)
