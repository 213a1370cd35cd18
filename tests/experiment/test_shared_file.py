"""A file that several processes write at once: its stripes, and what was measured of them."""

from __future__ import annotations

import pytest
from attrs import evolve

from nmlgen.experiment.machine import FileSystem
from nmlgen.experiment.shared_file import measured, stripes_for, writers


def experiment(build, io: int, pio: int = 2, osts: int | None = None, most: int | None = None):
    found = build(f"parallel: {{num_io_procs: {io}, pio_type: {pio}}}\n").experiment
    machine = evolve(
        found.machine,
        file_systems=(FileSystem("/", "lustre", osts),),
        file_system="lustre",
        ost_count=osts,
        max_recommended_stripe_count=most,
    )
    return evolve(found, machine=machine)


@pytest.mark.parametrize(("io", "pio", "count"), [(4, 2, 4), (1, 2, 1), (0, 2, 1), (4, 1, None)])
def test_writers_of_one_file(build, io, pio, count):
    assert writers(experiment(build, io, pio)) == count


@pytest.mark.parametrize(
    ("io", "osts", "most", "count"),
    [
        (64, None, None, 32),
        (33, None, None, 32),
        (31, None, None, 31),
        (64, 20, None, 20),
        (64, 20, 8, 8),
        (4, 20, 8, 4),
    ],
)
def test_stripes_are_the_least_of_what_limits_them(build, io, osts, most, count):
    found = stripes_for(experiment(build, io, 2, osts, most))
    assert found is not None
    assert found[0] == count


def test_no_stripes_where_each_file_has_its_writer(build):
    assert stripes_for(experiment(build, 4, 1)) is None


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (1, "868 MB/s with 1 stripe, 13970 with 24 (HLRN-IV)"),
        (2, "1592 MB/s with 2 stripes, 13970 with 24 (HLRN-IV)"),
        (3, "1592 MB/s with 2 stripes, 13970 with 24 (HLRN-IV)"),
        (4, "2971 MB/s with 4 stripes, 13970 with 24 (HLRN-IV); 236.6 s with 4, 134.2 with 32 (HLRS)"),
        (100, "13970 MB/s with 24 stripes, 13970 with 24 (HLRN-IV); 135.8 s with 40, 134.2 with 32 (HLRS)"),
    ],
)
def test_the_nearest_measurement(count, text):
    assert measured(count) == text


@pytest.mark.parametrize(
    ("count", "rate"), [(1, 868), (2, 1592), (3, 1592), (8, 5523), (15, 5523), (16, 10459), (17, 10459), (24, 13970)]
)
def test_the_nearest_count_that_was_measured(count, rate):
    assert measured(count).startswith(f"{rate} MB/s")


@pytest.mark.parametrize(
    ("count", "seconds"),
    [(7, "236.6 s with 4"), (8, "177.1 s with 8"), (16, "147.8 s with 16"), (39, "134.2 s with 32")],
)
def test_the_nearest_time_that_was_measured(count, seconds):
    assert f"; {seconds}" in measured(count)
