from __future__ import annotations

import pytest
from advise_cases import case, measured

from nmlgen.advise import Run, calibrate, predict
from nmlgen.advise.calibration import NAMES, levante
from nmlgen.advise.measurements import fit_levante, levante_runs
from nmlgen.advise.model import Constants, run_time


def test_what_ships_is_what_the_runs_give():
    fitted, shipped = fit_levante(levante_runs()), levante()
    assert fitted.sources == shipped.sources
    assert fitted.scatter == shipped.scatter
    assert fitted.estimate.constants._asdict() == pytest.approx(shipped.estimate.constants._asdict(), rel=1e-3)
    for name in NAMES:
        assert fitted.estimate.spread(name) == pytest.approx(shipped.estimate.spread(name), rel=0.02), name


def test_without_runs_nothing_changes():
    assert calibrate([]) == levante()
    assert calibrate([], levante()) == levante()


def test_one_run_is_believed_in_its_family():
    run = measured(nodes=4, interval=720.0, ranks=8, n_cells=327680)
    after = calibrate([run])
    assert predict(run.case, after).total_s == pytest.approx(run.total_s, rel=0.03)
    before = predict(run.case)
    now = predict(run.case, after)
    assert now.high_s / now.low_s < before.high_s / before.low_s


def test_more_runs_narrow_the_interval():
    question = case(output_bytes=254279680.0, output_interval_s=480.0, num_io_procs=2, stream_partitions=2)
    runs = [measured(nodes=1, interval=240.0, ranks=ranks) for ranks in (1, 2, 4)]
    widths = []
    for count in (1, 2, 3):
        prediction = predict(question, calibrate(runs[:count]))
        widths.append(prediction.high_s / prediction.low_s)
    assert widths == sorted(widths, reverse=True)


def test_a_machine_that_differs_is_found_out_from_one_run():
    constants = levante().estimate.constants._asdict()
    slow = Constants(**{**constants, "writer": constants["writer"] / 3})
    busy = measured(nodes=2, interval=240.0, ranks=2).case
    after = calibrate([Run(busy, sum(run_time(busy, slow)))])
    assert after.estimate.constants.writer < 0.6 * constants["writer"]
    other = measured(nodes=4, interval=720.0, ranks=1, n_cells=327680).case
    truth = sum(run_time(other, slow))
    assert abs(predict(other, after).total_s / truth - 1) < 0.5 * abs(predict(other).total_s / truth - 1)


def test_timers_tell_computing_from_waiting():
    run = measured(nodes=4, interval=720.0, ranks=1, n_cells=327680)
    others = [measured(nodes=4, interval=720.0, ranks=ranks, n_cells=327680) for ranks in (8, 16, 32)]

    def error(calibration):
        return max(abs(predict(other.case, calibration).total_s / other.total_s - 1) for other in others)

    with_timers, without = calibrate([run]), calibrate([Run(run.case, run.total_s)])
    assert error(with_timers) < 0.05 < error(without)


def test_timers_of_idle_writers_are_not_believed():
    run = measured(nodes=1, interval=720.0, ranks=16)
    assert run.timers["wrt_output_io_avg_s"] < 0.2 * run.total_s
    assert run.writer_turn_s is None
    assert measured(nodes=1, interval=720.0, ranks=1).writer_turn_s == pytest.approx(811.806 / 1201)


def test_it_says_what_the_runs_leave_open():
    idle = calibrate([measured(nodes=1, interval=720.0, ranks=8)]).undetermined
    assert any(line.startswith("how fast an I/O rank is: they were busy for ") for line in idle)
    assert any("num_io_procs: 1" in line for line in idle)
    assert any("num_io_procs: 0" in line for line in idle)
    silent = calibrate([Run(case(), 1380.0)]).undetermined
    assert any("none of the runs had any" in line for line in silent)
    saturated = calibrate([measured(nodes=2, interval=240.0, ranks=1)]).undetermined
    assert not any(line.startswith("how fast an I/O rank is") for line in saturated)
    everything = calibrate(levante_runs()).undetermined
    assert everything == ()


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan"), float("inf")])
def test_a_time_that_nobody_measured_is_refused(seconds):
    with pytest.raises(ValueError, match=r"total_s is .*; expected more than 0"):
        Run(case(), seconds)
