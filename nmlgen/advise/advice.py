"""Advice on an experiment: what its layout costs, what others would cost, which to choose.

A layout is what can be chosen: the I/O ranks, the partitions of each output, the restart mode and its ranks. The
present one is compared with those that ICON takes without a rank that idles.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from nmlgen.advise.busy_ranks import BUSY, share_of_writing
from nmlgen.advise.calibration import Calibration
from nmlgen.advise.case import ASYNC, JOINT
from nmlgen.advise.choices import Choice, output_choices, restart_choices
from nmlgen.advise.experiment import Situation
from nmlgen.advise.layout import Layout, present_layout, works
from nmlgen.advise.model import step_time
from nmlgen.advise.prediction import NOISE
from nmlgen.advise.ranking import Candidate, Scales, joined, output_of, ranked, restart_of
from nmlgen.values import evolve, frozen

if TYPE_CHECKING:
    from nmlgen.advise.io_cost import IoCost
    from nmlgen.advise.node_local import OnNodes


@frozen
class Stripes:
    """The stripe_count that files of `what`, output or restart, want: so many are `enough`, and why. `present` is what
    the experiment asks for."""

    what: str
    present: int
    enough: int
    reason: str


@frozen
class Advice:
    """What an experiment's layout costs and what would be better.

    `best` is the best of all layouts; `output` are the candidates that differ from it in the output, `restart` those
    that differ in the checkpoints, each with the present one among them. `stripes` are those of the directories that
    the experiment stripes: no run time is predicted from them, as nobody has measured what they do to ICON's files.
    """

    situation: Situation
    calibration: Calibration
    present: Candidate
    best: Candidate
    output: tuple[Candidate, ...]
    restart: tuple[Candidate, ...]
    stripes: tuple[Stripes, ...] = ()
    on_nodes: OnNodes | None = None
    """What a file system on the nodes' disks does for the present layout."""

    @property
    def cost_s(self) -> float:
        """Seconds that the present layout takes longer than the best."""
        return max(0.0, self.present.seconds - self.best.seconds)

    @property
    def cost(self) -> float:
        """The same as a share of the best one's time."""
        return self.cost_s / self.best.seconds if self.best.seconds else 0.0

    @property
    def is_good(self) -> bool:
        """Whether the present layout is as good as any: what it takes longer is noise."""
        return self.best.layout == self.present.layout

    @property
    def is_far(self) -> bool:
        """Whether a range is all that can be said of the times; the order of the layouts holds longer than they do."""
        return self.present.prediction.is_far or self.best.prediction.is_far

    @property
    def step_s(self) -> float:
        """Seconds of a model step on all tasks when nobody writes."""
        return step_time(self.situation.case, self.calibration.estimate.constants, self.situation.case.undivided)

    @property
    def received_bytes_per_s(self) -> float:
        """Bytes a second that an I/O rank receives; the workers go on meanwhile."""
        from nmlgen.advise.recommendation import quantities

        return quantities(self.situation.case, self.calibration).received_bytes_per_s

    @property
    def written_bytes_per_s(self) -> float:
        """Bytes a second that an I/O rank receives and writes when it is alone."""
        from nmlgen.advise.recommendation import quantities

        return quantities(self.situation.case, self.calibration).writer_bytes_per_s

    @property
    def core_hours(self) -> float:
        """What a run of the present layout takes from the project's budget longer than the best, in core-hours."""
        return self.cost_s / 3600 * self.situation.cores

    @property
    def doubts(self) -> tuple[str, ...]:
        """In what the experiment is unlike everything that was measured."""
        notes = (*self.present.prediction.notes, *self.best.prediction.notes)
        return tuple(dict.fromkeys((*self.situation.doubts, *notes)))


@frozen
class ComponentAdvice:
    """The advice on one component of an experiment, which `title` names; without any, `missing` says why. Where only
    the time of a model step is missing, on GPUs, `io` says what output and checkpoints cost."""

    title: str
    advice: Advice | None
    missing: str = ""
    io: IoCost | None = None


def advise(situation: Situation, calibration: Calibration) -> Advice:
    """Compare the present layout of an experiment with the others.

    Of those that are as good as the best the one is recommended that changes least. Where the checkpoints have to be
    written in another way, are in the obsolete mode async, or keep their ranks busy for half of the run, that is joint
    procs multifile if it is as good.
    """
    from nmlgen.advise.node_local import on_nodes

    everything = Choice(True, (True,) * len(situation.outputs), True, True, placement=True)
    layout, scales = present_layout(situation), Scales(situation, calibration)
    candidates = ranked(situation, layout, everything, calibration)
    present = scales.weigh(layout)
    limit = min(candidates[0].seconds, present.seconds) * (1 + NOISE)
    good = [item for item in (present, *candidates, *_nearer(scales, candidates[0], layout)) if item.seconds < limit]

    def order(item: Candidate) -> tuple[bool, int, float]:
        is_busy = share_of_writing(item.case, calibration.estimate.constants) >= BUSY
        return _is_obsolete(item) or is_busy, _changes(situation, item.layout), round(item.seconds, 3)

    best = min(good, key=order)
    output, restart = output_choices(situation, layout, everything), restart_choices(layout, everything)
    by_output = [best.layout._replace(num_io_procs=ranks, stream_partitions=parts) for ranks, parts in output]
    by_restart = [best.layout._replace(restart_write_mode=mode, num_restart_procs=ranks) for mode, ranks in restart]
    by_output = [*by_output, best.layout, layout] if situation.outputs else []
    by_restart = [*by_restart, best.layout, layout] if situation.case.checkpoints else []
    return Advice(
        situation,
        calibration,
        _told(situation, present),
        _told(situation, best),
        tuple(_told(situation, item) for item in scales.weighed(by_output)),
        tuple(_told(situation, item) for item in scales.weighed(by_restart)),
        on_nodes=on_nodes(situation, scales.on_global(layout)),
    )


def _told(situation: Situation, candidate: Candidate) -> Candidate:
    """The candidate as it is shown: its interval has room for what no measured run had."""
    from nmlgen.advise.unlike import widened

    return evolve(candidate, prediction=widened(candidate.prediction, situation.unlike))


def _is_obsolete(candidate: Candidate) -> bool:
    """Whether checkpoints are written in the mode async."""
    return bool(candidate.case.checkpoints) and candidate.layout.restart_write_mode == ASYNC


def _nearer(scales: Scales, best: Candidate, layout: Layout) -> Iterator[Candidate]:
    """The best layout with one half of the present one, and the present output with joint checkpoints."""
    joint = layout._replace(restart_write_mode=JOINT, num_restart_procs=0)
    near = (joined(best.layout, layout), joined(layout, best.layout))
    for item in (*near, *([joint] if scales.situation.case.checkpoints else [])):
        if works(scales.situation, item):
            yield scales.weigh(item)


def _changes(situation: Situation, other: Layout) -> int:
    """By how much a layout differs from the present one: its output, and its restart mode and ranks, which need one
    setting for joint procs multifile and two for other modes."""
    layout = present_layout(situation)
    output = output_of(layout) != output_of(other)
    is_obsolete = situation.case.checkpoints and layout.restart_write_mode == ASYNC
    if restart_of(layout) == restart_of(other) and not is_obsolete:
        return int(output)
    return output + (1 if other.restart_write_mode == JOINT else 2)
