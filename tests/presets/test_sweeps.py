"""The sweeps that ship with nmlgen have the points that were published, no more and no fewer, and all can be built."""

from __future__ import annotations

import csv
import itertools
from pathlib import Path

import pytest

import nmlgen
from nmlgen.units.duration import Duration

RUNS = Path(__file__).parent / "levante-runs.csv"
"""92 of the measured runs of F. Ott (2025): what was set in each. Intervals in seconds; twelve days are "never"."""

MODEL = {"release": "2024.10", "executable": "bin/icon"}
JOB = {"account": "bb1234", "partition": "compute", "time": "04:00:00"}
RANKS = (0, 1, 2, 4, 8, 16, 32)
OUTPUT = {
    (grid, interval, nodes, ranks)
    for grid, interval, several in (
        ("R2B5", "PT4M", (1, 2)),
        ("R2B5", "PT12M", (1, 2)),
        ("R2B6", "PT12M", (1, 2, 4, 8)),
    )
    for nodes in several
    for ranks in RANKS
}
"""Grid, output interval, nodes, I/O ranks."""

OLD = {("sync", 0), *(("async", ranks) for ranks in (1, 2, 4, 8))}
NEW = {("joint procs multifile", 0), *(("dedicated procs multifile", ranks) for ranks in (1, 2, 4, 8))}
CHECKPOINTS = {
    (grid, interval, nodes, *mode)
    for grid, interval, several, modes in (
        ("R2B5", "PT12H", (1, 2), OLD),
        ("R2B5", "PT12M", (1, 2, 4), OLD | NEW),
        ("R2B6", "PT12H", (1, 2), OLD),
        ("R2B6", "PT12H", (16,), OLD | NEW),
    )
    for nodes in several
    for mode in modes
}
"""Grid, checkpoint interval, nodes, mode, restart ranks."""

BOTH = {
    (nodes, ranks, restart_ranks)
    for nodes, several in ((1, (0, 1)), (4, (2, 4, 8)))
    for ranks in several
    for restart_ranks in (1, 2, 4)
}
"""Nodes, I/O ranks, restart ranks."""

HLRS = {*itertools.product((4, 8, 16, 32, 40), ("1M", "2M", "4M", "8M", "16M", "32M")), (None, None)}
HLRN = {*itertools.product((1, 2, 4, 8, 16, 24), ("512K", "1M", "2M", "4M", "8M"))}


def points(*presets, **sections):
    spec = {"nmlgen": 1, "name": "study", "extends": list(presets), "site": "levante", "model": MODEL, "job": JOB}
    return list(nmlgen.expand({**spec, **sections}))


def said(point, *keys):
    spec = point.spec
    return tuple(None if spec.tree.at(*key.split(".")) is None else spec.find(key).value for key in keys)


def combinations(found, *keys):
    listed = [tuple(point.spec.find(key).value for key in keys) for point in found]
    assert len(listed) == len(set(listed))
    return set(listed)


def assert_can_be_built(found):
    for point in found:
        assert nmlgen.build(point).files
    assert len({point.name for point in found}) == len({point.id for point in found}) == len(found)


def test_output():
    found = points("sweeps/levante-output")
    keys = ("grid.name", "output.atm.output_interval", "job.nodes", "parallel.num_io_procs")
    assert combinations(found, *keys) == OUTPUT
    assert len(found) == 56
    assert_can_be_built(found)
    for point in found:
        spec = point.spec
        assert spec.find("output.atm.stream_partitions_ml").value == max(1, spec.find("parallel.num_io_procs").value)
        assert spec.experiment.tasks.value == 128 * spec.find("job.nodes").value
        assert spec.find("grid.file").value == f"grids/icon{spec.find('grid.name').value}-grid.nc"


def test_checkpoints():
    found = points("sweeps/levante-checkpoints")
    keys = ("grid.name", "restart.checkpointTimeIntval", "job.nodes", "restart.restart_write_mode")
    assert combinations(found, *keys, "restart.num_restart_procs") == CHECKPOINTS
    assert len(found) == 60
    assert_can_be_built(found)


def test_output_and_checkpoints():
    found = points("sweeps/levante-output-and-checkpoints")
    assert combinations(found, "job.nodes", "parallel.num_io_procs", "restart.num_restart_procs") == BOTH
    assert len(found) == 15
    assert_can_be_built(found)


def settings(point):
    """What the table of runs says of a run, as the experiment of the point has it."""
    experiment = point.spec.experiment
    return (
        point.spec.find("grid.name").value.lower(),
        point.spec.find("job.nodes").value,
        experiment.tasks.value,
        *(seconds(point, key) for key in ("output.atm.output_interval", "restart.checkpointTimeIntval")),
        experiment.components[0]["parallel_nml", "num_io_procs"].value,
        experiment.components[0]["output_nml", "stream_partitions_ml"].value,
        experiment.components[0]["io_nml", "restart_write_mode"].value.partition(" ")[0],
        experiment.components[0]["parallel_nml", "num_restart_procs"].value,
    )


def seconds(point, key):
    return int(Duration.parse(point.spec.find(key).value).seconds)


def test_every_measured_run_is_a_point():
    with RUNS.open(newline="") as file:
        runs = [tuple(row) for row in csv.reader(file)][1:]
    assert len(runs) == 92
    for kind, preset, unmeasured in (("io", "output", 14), ("cp", "checkpoints", 10)):
        measured = [row[1:] for row in runs if row[0] == kind]
        there = [tuple(map(str, settings(point))) for point in points(f"sweeps/levante-{preset}")]
        if kind == "io":  # no checkpoint, so no mode
            there = [(*row[:-2], "none", "0") for row in there]
        assert len(set(measured)) == len(measured) == len(there) - unmeasured
        assert not set(measured) - set(there)


def test_the_whole_study():
    presets = ("levante-output", "levante-checkpoints", "levante-output-and-checkpoints")
    assert len({settings(point) for preset in presets for point in points(f"sweeps/{preset}")}) == 131


def test_node_local_file_system():
    grid = {"file": "grids/iconR2B5-grid.nc", "name": "R2B5"}
    job = {**JOB, "nodes": 4, "ntasks_per_node": 76}
    found = points("icon/nh_dcmip_tc_52", "sweeps/beeond-kit", site="horeka", grid=grid, job=job)
    experiments = [point.spec.experiment for point in found]
    assert [(e.components[0]["parallel_nml", "num_io_procs"].value, e.node_local is not None) for e in experiments] == [
        (0, False),
        (0, True),
        (2, False),
        (2, True),
    ]
    assert_can_be_built(found)


@pytest.mark.parametrize(("name", "expected"), [("striping-hlrs", HLRS), ("striping-hlrn", HLRN)])
def test_striping(name, expected):
    grid = {"file": "grids/iconR2B5-grid.nc", "name": "R2B5"}
    job = {**JOB, "nodes": 2, "ntasks_per_node": 128}
    found = points("icon/nh_dcmip_tc_52", f"sweeps/{name}", grid=grid, job=job, parallel={"num_io_procs": 4})
    listed = [said(point, "lustre.output.stripe_count", "lustre.output.stripe_size") for point in found]
    assert sorted(listed, key=str) == sorted(expected, key=str)
    assert_can_be_built(found)


def test_paths_of_grids_can_be_others():
    derive = {"grid.file": "'/pool/' + grid.name + '.nc'"}
    found = points("sweeps/levante-output", sweep={"derive": derive})
    assert {point.spec.find("grid.file").value for point in found} == {"/pool/R2B5.nc", "/pool/R2B6.nc"}
    assert len(found) == 56
