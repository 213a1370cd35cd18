from __future__ import annotations

import pytest
from advise_cases import case


def test_what_does_not_apply_may_be_left_out_or_be_none():
    left_out = case()
    assert (left_out.outputs, left_out.checkpoints, left_out.workers) == (0, 0, 128)
    none = case(
        output_bytes=None,
        output_interval_s=None,
        num_io_procs=None,
        stream_partitions=None,
        restart_write_mode=None,
        num_restart_procs=None,
        checkpoint_bytes=None,
        checkpoint_interval_s=None,
        n_output_slices=None,
    )
    assert none == left_out


def test_outputs_include_the_start_and_the_end():
    assert case(output_bytes=1.0, output_interval_s=720.0).outputs == 1201
    assert case(output_bytes=1.0, output_interval_s=240.0).outputs == 3601
    assert case(output_bytes=1.0, output_interval_s=1036800.0).outputs == 2
    assert case(checkpoint_bytes=1.0, checkpoint_interval_s=43200.0).checkpoints == 20
    assert case(checkpoint_bytes=1.0, checkpoint_interval_s=1036800.0).checkpoints == 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_cells": 0}, "n_cells is 0; expected more than 0"),
        ({"dtime_s": float("nan")}, "dtime_s is nan; expected more than 0"),
        ({"output_interval_s": 0}, "output_interval_s is 0; expected more than 0"),
        ({"n_steps": 10**400}, "n_steps is 1000.*; expected 0 or more and between 1e-50 and 1e"),
        ({"output_interval_s": 1e-300}, "output_interval_s is 1e-300; expected more than 0 and between 1e-50 and 1e"),
        ({"num_io_procs": -1}, "num_io_procs is -1; expected 0 or more"),
        ({"num_io_procs": 128}, "128 tasks, of which 128 write output and 0 checkpoints"),
        ({"num_io_procs": 120, "restart_write_mode": "async", "num_restart_procs": 8}, "120 write output and 8"),
        ({"nodes": 200}, "nodes is 200, but there are 128 tasks"),
        ({"restart_write_mode": "fast"}, "restart_write_mode is 'fast'; expected one of 'sync', 'async', 'joint"),
    ],
)
def test_what_cannot_be_run_is_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        case(**settings)


def test_restart_modes_have_their_short_names():
    assert case(restart_write_mode="joint", num_restart_procs=4).restart_ranks == 0
    assert case(restart_write_mode="dedicated", num_restart_procs=4).restart_ranks == 4
    assert case(restart_write_mode="none").restart_mode == "sync"
    assert case(num_restart_procs=2).restart_mode == "async"


def test_one_task_does_everything_itself():
    alone = case(ntasks=1, num_io_procs=4, restart_write_mode="async", num_restart_procs=2)
    assert (alone.workers, alone.io_ranks, alone.restart_ranks, alone.writers) == (1, 0, 0, 0.0)


@pytest.mark.parametrize(
    ("ranks", "partitions", "writers"), [(4, 4, 4), (8, 4, 4), (4, 1, 1), (4, 8, 4), (2, 3, 1.5), (0, 4, 0)]
)
def test_partitions_go_round_robin_over_the_ranks(ranks, partitions, writers):
    assert case(num_io_procs=ranks, stream_partitions=partitions).writers == writers
