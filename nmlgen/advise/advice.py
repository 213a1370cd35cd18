"""Advice on an experiment: what its layout costs, what others would cost, which to choose.

A layout is what can be chosen: the I/O ranks, the partitions of each output, the restart mode and its ranks. The
present one is compared with those that ICON takes without a rank that idles.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import product
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from attrs import evolve, frozen

from nmlgen.advise.calibration import Calibration, levante
from nmlgen.advise.case import ASYNC, DEDICATED, JOINT, SYNC, Case
from nmlgen.advise.experiment import Output, Situation
from nmlgen.advise.layout import Layout, case_with, files_of, present_layout, works
from nmlgen.advise.model import run_time, step_time
from nmlgen.advise.prediction import NOISE, Prediction, predict
from nmlgen.advise.support import outside
from nmlgen.resources import directory

if TYPE_CHECKING:  # what only looks closer needs is loaded there: a check rarely does
    from nmlgen.advise.io_cost import IoCost
    from nmlgen.advise.node_local import OnNodes

IO_RANKS = (0, 1, 2, 4, 8, 16, 32)
RESTART_RANKS = (1, 2, 4, 8)
_MOST_IO_RANKS = 256
_NEAR = 1.15


@frozen
class Choice:
    """What may be chosen: the rest stays as it is. `stream_partitions` says it of each output."""

    num_io_procs: bool
    stream_partitions: tuple[bool, ...]
    restart_write_mode: bool
    num_restart_procs: bool
    placement: bool = False
    """Whether files may be taken from the I/O ranks that pe_placement names."""


@frozen
class Candidate:
    """A layout with what it is expected to take."""

    layout: Layout
    case: Case
    prediction: Prediction

    @property
    def seconds(self) -> float:
        """The expected run time."""
        return self.prediction.total_s


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


def calibration_of(situation: Situation) -> Calibration:
    """The calibration that the site of an experiment names, else the one that ships for it; where there is none,
    Levante's."""
    return _calibration(situation.site, situation.calibration)


def is_foreign(situation: Situation, calibration: Calibration) -> bool:
    """Whether the figures are another site's."""
    return (
        calibration is calibration_of(situation)
        and situation.calibration is None
        and calibration.name != situation.site
    )


@cache
def _calibration(site: str, own: str | None) -> Calibration:
    path = directory("presets") / "calibrations" / f"{PurePath(site).name}.yaml" if own is None else Path(own)
    return Calibration.load(path) if path.is_file() else levante()


def advise(situation: Situation, calibration: Calibration) -> Advice:
    """Compare the present layout of an experiment with the others.

    Of those that are as good as the best the one is recommended that changes least. Where the checkpoints have to be
    written in another way, or are in the obsolete mode async, that is joint procs multifile if it is as good.
    """
    from nmlgen.advise.node_local import on_nodes

    everything = Choice(True, (True,) * len(situation.outputs), True, True, placement=True)
    layout, scales = present_layout(situation), _Scales(situation, calibration)
    candidates = ranked(situation, layout, everything, calibration)
    present = scales.weigh(layout)
    limit = min(candidates[0].seconds, present.seconds) * (1 + NOISE)
    good = [item for item in (present, *candidates, *_nearer(scales, candidates[0], layout)) if item.seconds < limit]
    best = min(good, key=lambda item: (_is_obsolete(item), _changes(situation, item.layout), round(item.seconds, 3)))
    output, restart = _output_choices(situation, layout, everything), _restart_choices(layout, everything)
    by_output = [evolve(best.layout, num_io_procs=ranks, stream_partitions=parts) for ranks, parts in output]
    by_restart = [evolve(best.layout, restart_write_mode=mode, num_restart_procs=ranks) for mode, ranks in restart]
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


def preferred(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The candidates with that one first which is to be chosen: the best, or the same with joint procs multifile where
    that is within the noise. There nobody has to know how many ranks the checkpoints need (F. Ott, IO-Verhalten und
    -Effizienz im Klima- und Wettermodell ICON, 2025, section 6.1)."""
    first = candidates[0]
    for item in candidates:
        is_joint = item.layout.restart_write_mode == JOINT and _output_of(item.layout) == _output_of(first.layout)
        if is_joint and item.seconds < first.seconds * (1 + NOISE):
            return (item, *(other for other in candidates if other is not item))
    return tuple(candidates)


def _is_obsolete(candidate: Candidate) -> bool:
    """Whether checkpoints are written in the mode async."""
    return bool(candidate.case.checkpoints) and candidate.layout.restart_write_mode == ASYNC


def _nearer(scales: _Scales, best: Candidate, layout: Layout) -> Iterator[Candidate]:
    """The best layout with one half of the present one, and the present output with joint checkpoints."""
    joint = evolve(layout, restart_write_mode=JOINT, num_restart_procs=0)
    near = (_joined(best.layout, layout), _joined(layout, best.layout))
    for item in (*near, *([joint] if scales.situation.case.checkpoints else [])):
        if works(scales.situation, item):
            yield scales.weigh(item)


def _changes(situation: Situation, other: Layout) -> int:
    """By how much a layout differs from the present one: its output, and its restart mode and ranks, which need one
    setting for joint procs multifile and two for other modes."""
    layout = present_layout(situation)
    output = _output_of(layout) != _output_of(other)
    is_obsolete = situation.case.checkpoints and layout.restart_write_mode == ASYNC
    if _restart_of(layout) == _restart_of(other) and not is_obsolete:
        return int(output)
    return output + (1 if other.restart_write_mode == JOINT else 2)


def ranked(situation: Situation, layout: Layout, choice: Choice, calibration: Calibration) -> tuple[Candidate, ...]:
    """The layouts that differ from the given one in what may be chosen, the best first; hopeless ones are left out.

    Of the checkpoints the best is looked for first, then of the output: they meet only in the ranks they set apart.
    """
    scales = _Scales(situation, calibration)
    rough = scales.rough(_choices(situation, layout, choice)) or {layout: 0.0}
    limit = min(rough.values()) * _NEAR
    near = sorted((item for item in rough if rough[item] <= limit), key=rough.__getitem__)
    found = {item: scales.weigh(item) for item in near if _output_of(item) == _output_of(near[0])}
    best = min(found.values(), key=_order)
    found |= {item: scales.weigh(item) for item in near if _restart_of(item) == _restart_of(best.layout)}
    return tuple(sorted(found.values(), key=_order))


def layouts(situation: Situation, layout: Layout, choice: Choice) -> tuple[Layout, ...]:
    """The layouts that differ from the given one in what may be chosen, and with which ICON starts."""
    return tuple(item for item in _choices(situation, layout, choice) if works(situation, item))


def rough_cost(situation: Situation, layout: Layout, choice: Choice) -> float:
    """What a layout takes longer than the best, as a share, by the likeliest constants alone: a first look."""
    scales = _Scales(situation, calibration_of(situation))
    rough = scales.rough((layout, *_choices(situation, layout, choice)))
    return rough[layout] / min(rough.values()) - 1 if layout in rough else 0.0


def _choices(situation: Situation, layout: Layout, choice: Choice) -> list[Layout]:
    restart = _restart_choices(layout, choice)
    if not situation.case.checkpoints:
        del restart[1:]  # nobody is to be set apart for checkpoints that are not written
    if choice.restart_write_mode:
        restart = [(mode, ranks) for mode, ranks in restart if mode != ASYNC]  # it is obsolete
    spread = (layout.is_spread, True) if choice.placement and situation.is_placed else (layout.is_spread,)
    return [
        Layout(*io, *beside, is_spread)
        for io, beside, is_spread in product(_output_choices(situation, layout, choice), restart, spread)
    ]


def weighed(situation: Situation, layout: Layout) -> Candidate:
    """A layout of the situation with what it is expected to take, by the figures of the site."""
    return _Scales(situation, calibration_of(situation)).weigh(layout)


def is_like_the_measured(situation: Situation) -> bool:
    """Whether nothing but the numbers of the case tells an experiment from those that were measured."""
    return not situation.unlike and len(situation.outputs) <= 1


def is_covered(case: Case, calibration: Calibration) -> bool:
    """Whether both halves of a case are like runs that were measured: output and checkpoints were measured apart."""
    halves = evolve(case, checkpoint_bytes=0), evolve(case, output_bytes=0)
    return not any(outside(half, calibration) for half in halves)


def _order(candidate: Candidate) -> tuple[float, int, int]:
    """By time; where that is the same, by the ranks set apart."""
    return round(candidate.seconds, 3), candidate.layout.num_io_procs, candidate.layout.num_restart_procs


def _output_of(layout: Layout) -> tuple[int, tuple[int, ...], bool]:
    return layout.num_io_procs, layout.stream_partitions, layout.is_spread


def _joined(output: Layout, restart: Layout) -> Layout:
    """The output of one layout with the checkpoints of another."""
    return evolve(output, restart_write_mode=restart.restart_write_mode, num_restart_procs=restart.num_restart_procs)


def _restart_of(layout: Layout) -> tuple[str, int]:
    return layout.restart_write_mode, layout.num_restart_procs


class _Scales:
    """Weighs the layouts of one situation; what was weighed by the figures of a site is remembered, as many points of a
    sweep may share it."""

    def __init__(self, situation: Situation, calibration: Calibration) -> None:
        self.situation = situation
        self._calibration = calibration

    def weigh(self, layout: Layout) -> Candidate:
        from nmlgen.advise.node_local import as_run

        prediction = as_run(self.situation, self.on_global(layout))
        return Candidate(layout, case_with(self.situation, layout), prediction)

    def on_global(self, layout: Layout) -> Prediction:
        """What a layout takes on the global file system."""
        from nmlgen.advise.play import played

        case = case_with(self.situation, layout)
        site, own = self.situation.site, self.situation.calibration
        is_own = self._calibration is calibration_of(self.situation)
        prediction = _predicted(case, site, own) if is_own else predict(case, self._calibration)
        return played(self.situation, layout, prediction, self._calibration)

    def weighed(self, layouts: Iterable[Layout]) -> tuple[Candidate, ...]:
        """Those that work, each once, in the order of the ranks that they set apart."""
        different = sorted(dict.fromkeys(layouts), key=lambda item: item.num_io_procs)
        return tuple(self.weigh(item) for item in different if works(self.situation, item))

    def rough(self, layouts: Iterable[Layout]) -> dict[Layout, float]:
        """What those that work take by the likeliest constants, in seconds."""
        constants = self._calibration.estimate.constants
        return {
            item: sum(run_time(case_with(self.situation, item), constants))
            for item in layouts
            if works(self.situation, item)
        }


@lru_cache(maxsize=1024)
def _predicted(case: Case, site: str, own: str | None) -> Prediction:
    """The prediction of a case by the figures of a site."""
    return predict(case, _calibration(site, own))


def _output_choices(situation: Situation, layout: Layout, choice: Choice) -> list[tuple[int, tuple[int, ...]]]:
    outputs = situation.outputs
    if not choice.num_io_procs:
        number = layout.num_io_procs
        return [(number, _shared(outputs, layout, choice, number, exactly=True))]
    if not outputs:
        return [(0, ())]
    found = [(0, _shared(outputs, layout, choice, 0))]
    for number in IO_RANKS:
        partitions = _shared(outputs, layout, choice, number)
        files = files_of(outputs, partitions)
        found += [(count, partitions) for count in (number, files) if 0 < count <= files and files % count == 0]
    return list(dict.fromkeys(found))


def _shared(
    outputs: tuple[Output, ...], layout: Layout, choice: Choice, ranks: int, exactly: bool = False
) -> tuple[int, ...]:
    """The partitions of each output for so many I/O ranks: those that may be chosen share the ranks by their bytes.

    Unless `exactly` so many are to write, the next number is taken that fits the files of the output.
    """
    is_free = [free and not output.is_whole for output, free in zip(outputs, choice.stream_partitions, strict=True)]
    partitions = [
        1 if free or whole_free else given
        for free, whole_free, given in zip(is_free, choice.stream_partitions, layout.stream_partitions, strict=True)
    ]
    free = [number for number, may in enumerate(is_free) if may]
    while free and files_of(outputs, partitions) < min(ranks, _MOST_IO_RANKS):
        most = max(free, key=lambda number: outputs[number].run_bytes / partitions[number])
        partitions[most] += 1
    if not exactly:
        for number in free:
            partitions[number] = _fitting(outputs[number], partitions[number])
    return tuple(partitions)


def _fitting(output: Output, partitions: int) -> int:
    """The nearest number of partitions that fits the output's files."""
    fitting = [number for number in range(1, 2 * partitions) if output.fits(number)]
    return min(fitting, key=lambda number: (abs(number - partitions), number), default=partitions)


def _restart_choices(layout: Layout, choice: Choice) -> list[tuple[str, int]]:
    mode, ranks = layout.restart_write_mode, layout.num_restart_procs
    if not choice.restart_write_mode and not choice.num_restart_procs:
        return [(mode, ranks)]
    every = [(SYNC, 0), (JOINT, 0), (ASYNC, 1), *((DEDICATED, count) for count in RESTART_RANKS)]
    if choice.restart_write_mode and choice.num_restart_procs:
        return every
    if choice.num_restart_procs:
        return [(name, count) for name, count in every if name == mode]
    return [(name, ranks) for name in (SYNC, JOINT) if not ranks] + [(JOINT, ranks), (DEDICATED, ranks)] * bool(ranks)
