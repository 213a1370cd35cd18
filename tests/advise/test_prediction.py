from __future__ import annotations

import pytest
from advise_cases import CHECKPOINTS, OUTPUT, case
from rows import rows

from nmlgen.advise import predict
from nmlgen.advise.calibration import levante
from nmlgen.advise.model import PARTS, run_time

LAYOUTS = [
    {},
    {**OUTPUT},
    {**OUTPUT, "num_io_procs": 4, "stream_partitions": 4},
    {**OUTPUT, "num_io_procs": 4, "stream_partitions": 3, **CHECKPOINTS, "restart_write_mode": "async"},
    {**CHECKPOINTS, "restart_write_mode": "sync"},
    {**CHECKPOINTS, "restart_write_mode": "dedicated", "num_restart_procs": 4},
    {**CHECKPOINTS, "restart_write_mode": "async", "num_restart_procs": 1},
    {**CHECKPOINTS, "restart_write_mode": "joint"},
    {"ntasks": 1, **OUTPUT},
    {"n_steps": 0, **OUTPUT},
]


@rows("layout", LAYOUTS)
def test_parts_sum_to_the_total_which_lies_in_its_interval(layout):
    prediction = predict(case(**layout))
    assert tuple(prediction.parts) == PARTS
    assert sum(prediction.parts.values()) == pytest.approx(prediction.total_s)
    assert 0 < prediction.low_s < prediction.total_s < prediction.high_s
    assert min(prediction.parts.values()) >= 0


def test_the_same_question_has_one_answer():
    question = case(**OUTPUT, num_io_procs=2, stream_partitions=2)
    assert predict(question) == predict(question)


def test_where_the_time_goes_follows_the_layout():
    synchronous = predict(case(**OUTPUT)).parts
    assert synchronous["synchronous writes"] > 300
    assert synchronous["ranks taken away"] == synchronous["waiting for writers"] == synchronous["checkpoints"] == 0
    one, many = (predict(case(**OUTPUT, num_io_procs=n, stream_partitions=n)).parts for n in (1, 32))
    assert one["synchronous writes"] == many["synchronous writes"] == 0
    assert one["waiting for writers"] > many["waiting for writers"]
    assert one["ranks taken away"] < 20
    assert many["ranks taken away"] > 300
    joint = predict(case(**CHECKPOINTS, restart_write_mode="joint")).parts
    assert joint["checkpoints"] > 200
    assert joint["ranks taken away"] == 0


def test_partitions_decide_how_many_ranks_write():
    def total(ranks, partitions):
        often = {**OUTPUT, "output_interval_s": 240.0, "nodes": 2, "ntasks": 256}
        return predict(case(**often, num_io_procs=ranks, stream_partitions=partitions)).total_s

    assert total(8, 1) > 1.5 * total(8, 8)  # seven ranks idle
    assert total(2, 3) > 1.05 * total(2, 4)  # one rank has two turns of three
    assert total(4, 8) == pytest.approx(total(4, 4))


def test_a_shorter_run_needs_less_of_everything_that_grows_with_it():
    long = case(**OUTPUT, num_io_procs=2, stream_partitions=2)
    short = case(**OUTPUT, num_io_procs=2, stream_partitions=2, n_steps=720)
    assert predict(short).total_s < predict(long).total_s / 8


@pytest.mark.parametrize(
    ("settings", "note"),
    [
        ({"num_lev": 90}, "90 levels: only 30 were measured"),
        ({"nodes": 32, "ntasks": 4096}, "32 nodes: 1 to 16 were measured"),
        ({"ntasks": 64}, "64 cores a node: only 128 were measured"),
        ({"num_io_procs": 64, "stream_partitions": 64}, "64 I/O ranks: 0 to 32 were measured"),
        ({"num_io_procs": 4, "stream_partitions": 2}, "4 I/O ranks for 2 partitions: only equal numbers were measured"),
        ({"nodes": 16, "ntasks": 2048, "n_cells": 327680}, "synchronous output on 16 nodes"),
        ({"restart_write_mode": "dedicated", "num_restart_procs": 16}, "16 restart ranks: 0 to 8 were measured"),
        ({"restart_write_mode": "joint", **CHECKPOINTS}, "output and checkpoints in one run"),
    ],
)
def test_outside_the_measured_range_it_says_so_and_is_less_sure(settings, note):
    inside = predict(case(**OUTPUT, num_io_procs=4, stream_partitions=4))
    outside = predict(case(**{**OUTPUT, **settings}))
    assert inside.notes == ()
    assert any(text.startswith(note) for text in outside.notes), outside.notes
    assert outside.high_s / outside.low_s > inside.high_s / inside.low_s


@pytest.mark.parametrize("contention", [0.5, 0.99, 1.0, 3.3, 100.0])
def test_ranks_that_slow_each_other_without_end_have_an_end(contention):
    """The time of a turn jumps where two writers together write less than one: the bounds meet at the step."""
    constants = levante().estimate.constants._replace(contention=contention)
    crowded = case(
        nodes=9000,
        ntasks=8_991_000,
        dtime_s=600.0,
        n_steps=1440,
        output_bytes=49479688.0,
        output_interval_s=3600.0,
        num_io_procs=4,
        stream_partitions=4,
        restart_write_mode="joint",
        checkpoint_bytes=66222369181,
        checkpoint_interval_s=43200.0,
        n_output_slices=151,
    )
    assert sum(run_time(crowded, constants)) > 0
