"""What an I/O layout costs where nobody knows how long a model step takes: on GPUs, before any run of one's own.

How long a rank takes to receive and write an output is a matter of processors, network and file system, and known from
runs on processors. From it follows how far outputs have to lie apart for nobody to wait, and so the shortest model step
with which a number of I/O ranks keeps up. How much ranks that compute slow those beside them is not known of GPUs: from
not at all to as much as on processors.
"""

from __future__ import annotations

from nmlgen.advise.calibration import NAMES, Calibration, Range
from nmlgen.advise.case import Case
from nmlgen.advise.choices import Choice, layouts
from nmlgen.advise.experiment import Situation
from nmlgen.advise.figures import is_foreign
from nmlgen.advise.fitting import SITE_SPREAD
from nmlgen.advise.layout import Layout, case_with, present_layout
from nmlgen.advise.model import (
    PARTS,
    SLOWEST_CHECKPOINT,
    SLOWEST_OUTPUT,
    Constants,
    receiving_time,
    restart_time,
    run_time,
)
from nmlgen.values import evolve, frozen

_GIGABYTE = 1e9
_TENTH = 0.1
_SYNCHRONOUS, _CHECKPOINTS = PARTS.index("synchronous writes"), PARTS.index("checkpoints")


@frozen
class OutputCost:
    """Output with a layout, in seconds, each from what one run in ten falls short of to what one in ten exceeds.

    `write_s` is what a rank takes to receive and write one output while all others do the same; `apart_s` how far
    outputs have to lie apart for nobody to wait. Without I/O ranks all wait for rank 0, for both of them.
    """

    layout: Layout
    write_s: Range
    apart_s: Range


@frozen
class CheckpointCost:
    """Checkpoints with a layout: the seconds of one, and whether all wait for it (`stops`) or ranks beside the others
    write it, which are late if the next one is due before."""

    layout: Layout
    once_s: Range
    stops: bool


@frozen
class IoCost:
    """What the output and the checkpoints of an experiment cost with the present layout and others."""

    situation: Situation
    calibration: Calibration
    output: tuple[OutputCost, ...]
    checkpoints: tuple[CheckpointCost, ...]

    @property
    def present(self) -> OutputCost | None:
        """The output as it is; None without any."""
        now = present_layout(self.situation)
        return next((one for one in self.output if one.layout == now), None)

    def step_s(self, seconds: Range) -> Range:
        """How long a model step takes where outputs lie so far apart."""
        case = self.situation.case
        steps = (case.output_interval_s or case.duration_s) / case.dtime_s
        return Range(seconds.low / steps, seconds.high / steps)


def io_cost(situation: Situation, calibration: Calibration) -> IoCost:
    """What the output and the checkpoints of an experiment cost, whatever its model steps take."""
    now, case = present_layout(situation), situation.case
    whole = Choice(True, (True,) * len(situation.outputs), False, False)
    by_output = layouts(situation, now, whole) if case.outputs else ()
    by_restart = layouts(situation, now, Choice(False, (False,) * len(situation.outputs), True, True))
    samples = _samples(situation, calibration)
    return IoCost(
        situation,
        calibration,
        tuple(_output(situation, one, samples) for one in _with(now, by_output)) if case.outputs else (),
        tuple(_checkpoints(situation, one, samples) for one in _with(now, by_restart)) if case.checkpoints else (),
    )


def _with(now: Layout, others: tuple[Layout, ...]) -> list[Layout]:
    found = dict.fromkeys((*others, now))
    return sorted(found, key=lambda one: (one.num_io_procs, sum(one.stream_partitions)))


def _samples(situation: Situation, calibration: Calibration) -> tuple[Constants, ...]:
    estimate = calibration.estimate.widened(calibration.scatter.between_families(situation.case.nodes))
    if is_foreign(situation, calibration):
        estimate = estimate.widened(dict.fromkeys(NAMES, SITE_SPREAD))
    return estimate.samples()


def _output(situation: Situation, layout: Layout, samples: tuple[Constants, ...]) -> OutputCost:
    case = case_with(situation, layout)
    if not case.writers:
        alone = evolve(case, checkpoint_bytes=0.0)
        once = _range([run_time(alone, one)[_SYNCHRONOUS] / case.outputs for one in samples])
        return OutputCost(layout, once, once)
    slowest = case.output_bytes / SLOWEST_OUTPUT
    turns = [_turn(case, one, beside) for one in samples for beside in (0.0, one.beside)]
    return OutputCost(layout, _range(turns), _range([min(turn / case.writers, slowest) for turn in turns]))


def _turn(case: Case, constants: Constants, beside: float) -> float:
    """Seconds to receive and write one output while every other rank does."""
    alone = case.output_bytes / _GIGABYTE / constants.writer * (1 + beside)
    return (receiving_time(case, constants) + alone) * (1 + constants.contention * (case.writers - 1))


def _checkpoints(situation: Situation, layout: Layout, samples: tuple[Constants, ...]) -> CheckpointCost:
    case = evolve(case_with(situation, layout), output_bytes=0.0)
    if not case.restart_ranks:
        seconds = [run_time(case, one)[_CHECKPOINTS] / case.checkpoints for one in samples]
        return CheckpointCost(layout, _range(seconds), stops=True)
    slowest = case.checkpoint_bytes / SLOWEST_CHECKPOINT
    seconds = []
    for one in samples:
        receiving, writing = restart_time(case, one)
        for beside in (0.0, one.beside):
            seconds.append(min((receiving + writing * (1 + beside)) / case.checkpoints, slowest))
    return CheckpointCost(layout, _range(seconds), stops=False)


def _range(values: list[float]) -> Range:
    """What one in ten falls short of, and what one in ten exceeds."""
    ordered = sorted(values)
    outside = int(_TENTH * len(ordered))
    return Range(ordered[outside], ordered[-1 - outside])
