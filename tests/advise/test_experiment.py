"""From an experiment to what the advisor is asked about."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmlgen import load_spec
from nmlgen.advise.case import JOINT
from nmlgen.advise.experiment import situation_of
from nmlgen.experiment.setting import UndecidedError

EXAMPLE = Path(__file__).parents[2] / "examples" / "nh_dcmip_tc_52_r2b5.yaml"


def situation(*overrides):
    return situation_of(load_spec(EXAMPLE, overrides).experiment.components[0])


def test_the_measured_experiment():
    found = situation()
    case = found.case
    assert (case.n_cells, case.num_lev, case.nodes, case.ntasks) == (81920, 30, 2, 256)
    assert (case.dtime_s, case.n_steps, case.output_interval_s, case.checkpoint_interval_s) == (120, 7200, 720, 43200)
    assert (case.num_io_procs, case.stream_partitions, case.restart_mode) == (8, 8, JOINT)
    assert case.n_output_slices == 388  # as measured
    assert case.output_bytes == pytest.approx(254.3e6, rel=1e-3)
    assert case.checkpoint_bytes == pytest.approx(894.6e6, rel=0.05)
    assert (found.site, found.cores, found.doubts) == ("levante", 256, ())


def test_no_output_and_no_checkpoint():
    case = situation("output.atm=null", "parallel.num_io_procs=0").case
    assert (case.outputs, case.output_bytes, case.output_interval_s) == (0, 0, None)
    case = situation("restart.checkpointTimeIntval=P20D", "restart.restartTimeIntval=P20D").case
    assert (case.checkpoints, case.checkpoint_interval_s) == (0, None)


@pytest.mark.parametrize(
    ("dom", "nest", "times", "parts"),
    [
        ("[2]", "", 101, 1),
        ("[2]", ", start: P5D", 51, 1),
        ("[2]", ", end: P5D", 51, 1),
        ("[1]", ", start: P5D", 101, 1),
        ("[1, 2]", "", 101, 2),
        ("[1, 2]", ", start: P5D", 101, 1 + 51 / 101),
    ],
)
def test_a_nest_writes_while_it_is_computed(dom, nest, times, parts):
    sizes = "grid.cells=[81920, 81920]"
    domains = f"domains={{europe: {{file: nest.nc{nest}}}}}"
    stream = f"output={{atm: {{dom: {dom}, output_interval: PT144M, ml_varlist: [temp]}}}}"
    (alone,) = situation("output={atm: {output_interval: PT144M, ml_varlist: [temp]}}").outputs
    (found,) = situation(sizes, domains, stream).outputs
    assert found.steps == times
    assert found.step_bytes == pytest.approx(alone.step_bytes * parts, rel=1e-6)


def test_several_streams_count_together():
    rain = "output.rain={output_interval: PT4M, ml_varlist: [temp], stream_partitions_ml: 2}"
    found = situation(rain)
    assert [output.name for output in found.outputs] == ["atm (ml)", "rain (ml)"]
    assert found.case.stream_partitions == 10
    large, small = found.outputs
    assert found.case.output_bytes == pytest.approx((large.run_bytes + small.run_bytes) / large.steps)


def test_part_of_the_time():
    output = situation("output.atm.output_start=2008-09-06T00:00:00Z").outputs[0]
    assert output.steps == 601
    assert output.interval_s == pytest.approx(864_000 / 600)


@pytest.mark.parametrize(
    ("override", "missing"),
    [
        ("namelists.grid_nml.l_limited_area=true", "grid_nml.dynamics_grid_filename"),
        ("time.stop=2008-08-01T00:00:00Z", "master_time_control_nml.experimentStopDate"),
        ("parallel.num_io_procs=256", "parallel_nml.num_io_procs"),
        ("restart.restart_write_mode=whatever", "io_nml.restart_write_mode"),
    ],
)
def test_what_is_not_known_is_named(override, missing):
    with pytest.raises(UndecidedError) as caught:
        situation(override)
    assert caught.value.setting.name == missing


@pytest.mark.parametrize(
    ("override", "word"),
    [
        ("namelists.run_nml.iforcing=0", "iforcing"),
        ("parallel.pio_type=2", "CDI-PIO"),
        ("job.cpus_per_task=2", "cpus_per_task"),
        ("output.atm.filetype=2", "GRIB2"),
        ("output.atm.remap=1", "regular grid"),
    ],
)
def test_what_no_measurement_covers_is_said(override, word):
    assert any(word in doubt for doubt in situation(override).doubts)


def test_what_is_not_known_of_several_streams_is_said_once():
    remapped = "{output_interval: PT1H, ml_varlist: [temp], remap: 1}"
    found = situation("output.atm.remap=1", f"output.rain={remapped}", f"output.snow={remapped}").unlike
    words = "atm and 2 more are interpolated to a regular grid: measured on the model's own only"
    assert [(one.words, one.writing) for one in found] == [(words, 4.0)]


def test_files_hold_whole_numbers_of_steps():
    output = situation("output.atm.file_interval=P1D").outputs[0]
    assert [number for number in range(1, 17) if output.fits(number)] == [1, 2, 3, 4, 5, 6, 8, 10, 12, 15]
    assert situation("output.atm.file_interval=null").outputs[0].fits(7)
