"""What the nodes' own disks are worth, by the figures of KIT's report."""

from __future__ import annotations

import pytest
from advise.test_advice import experiment

from nmlgen.advise.advice import Advice, advise
from nmlgen.advise.experiment import situation_of
from nmlgen.advise.figures import calibration_of
from nmlgen.report.advice import why

HOREKA = ("site=horeka", "job.partition=cpuonly", "job.ntasks_per_node=76", "lustre=null")
BEEOND = "node_local.file_system=beeond"
ONE_WRITER = ("output.atm.output_interval=PT4M", "parallel.num_io_procs=1", "output.atm.stream_partitions_ml=1")
SYNCHRONOUS = ("parallel.num_io_procs=0", "output.atm.stream_partitions_ml=1")
R2B6 = "grid={file: iconR02B06-grid.nc, name: R2B6}"


def advice(*overrides: str) -> Advice:
    situation = situation_of(experiment(*HOREKA, *overrides))
    return advise(situation, calibration_of(situation))


def said(*overrides: str) -> str:
    return "\n".join(line for line in why(advice(*overrides)) if "beeond" in line)


def test_a_fifth_where_workers_wait():
    there, here = advice(*ONE_WRITER, BEEOND), advice(*ONE_WRITER)
    assert there.present.seconds == pytest.approx(0.8 * here.present.seconds)
    assert here.on_nodes.gain_s == there.on_nodes.gain_s == pytest.approx(0.2 * here.present.seconds)
    assert sum(there.present.prediction.parts.values()) == pytest.approx(there.present.seconds)
    assert there.present.prediction.low_s < there.present.seconds < there.present.prediction.high_s
    assert "about 20 % faster there where its workers waited" in said(*ONE_WRITER)
    assert "are taken off what is expected" in said(*ONE_WRITER, BEEOND)


def test_no_more_than_is_waited_for():
    few = advice("parallel.num_io_procs=1", "output.atm.stream_partitions_ml=1")
    waiting = few.present.prediction.parts["waiting for writers"]
    assert few.on_nodes.gain_s == waiting < 0.2 * few.present.seconds


def test_nothing_where_nobody_waits():
    assert "nothing is gained, for nobody waits" in said()
    assert advice(BEEOND).present.seconds == pytest.approx(advice().present.seconds, rel=0.01)


def test_synchronous_output_by_the_size_of_its_pieces():
    assert "nothing is gained without I/O ranks: rank 0 writes 2.6 MB at a time" in said(*SYNCHRONOUS, R2B6)
    assert "rank 0 writes 655.4 kB at a time; ICON without I/O ranks was measured" in said(*SYNCHRONOUS)
    for grid in ((), (R2B6,)):
        there, here = advice(*SYNCHRONOUS, *grid, BEEOND), advice(*SYNCHRONOUS, *grid)
        assert there.present.seconds == here.present.seconds


def test_one_file_from_all_is_as_emac_has_it():
    assert "was 2, 4.5 and 6 times as fast there with 1, 4 and 20 stripes" in said("parallel.pio_type=2")


def test_what_copying_back_takes():
    found = advice().on_nodes
    assert found.copy_s == -(-found.copy_bytes // (2 * 700 * 2**20))
    assert "Copying 163.0 GB of a job back from beeond takes at least 1.87 min" in said()
    left = advice("node_local={file_system: beeond, copy_while_running: true}").on_nodes
    assert left.copy_bytes < found.copy_bytes / 2


def test_sites_without_such_a_file_system_say_nothing():
    situation = situation_of(experiment())
    assert advise(situation, calibration_of(situation)).on_nodes is None
