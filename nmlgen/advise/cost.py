"""What a part of an experiment's layout costs, for the rules.

A number where the experiment is like those that were measured. Elsewhere it lies in a range: what the present layout
takes longer is worked out in several worlds, in which computing and writing take as much more and less as they may, so
far from all measurements. Where all worlds agree, the answer is not in doubt; where they do not, nobody knows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from math import exp, log, sqrt

from nmlgen.advise.calibration import NAMES, Calibration
from nmlgen.advise.case import ASYNC, Case
from nmlgen.advise.choices import Choice, layouts
from nmlgen.advise.experiment import Situation, situation_of
from nmlgen.advise.figures import calibration_of, is_foreign
from nmlgen.advise.first_look import WORTH_SAYING, has_good_restart, known_situation
from nmlgen.advise.layout import Layout, case_with, output_placement, present_layout
from nmlgen.advise.model import PARTS, run_time, writer_turn
from nmlgen.advise.prediction import FARTHEST, NOISE, Prediction
from nmlgen.advise.ranking import Candidate, preferred, ranked, weighed
from nmlgen.advise.support import EXTRAPOLATION, Outside, is_covered, is_like_the_measured, outside
from nmlgen.experiment.component import Component
from nmlgen.experiment.memory import remembered
from nmlgen.experiment.setting import UndecidedError, unknown
from nmlgen.models.icon.ranks import PlacementError
from nmlgen.units.wall_time import spoken_time
from nmlgen.values import evolve, frozen

_SURE = 2.0
"""So many standard deviations to either side, 95 % of a normal distribution, are taken for all that can be."""

_SCATTER = 0.09
"""By how much computing and writing lie off, each against the other, from one measured family to the next: the standard
deviation of the logarithm, 7 % and 5 % together."""

_MOST_CONTENTION = 0.5
"""A rank that writes slows another by less than itself writes: with 1 two would write no more than one."""

_COMPUTING = ("step", "floor")
_SECONDS = ("receive", "receive_rank", "gather", "gather_rank", "restart_rank", "restart_fetch", "restart_open")
_RATES = ("writer", "restart_async", "restart_dedicated", "restart_joint")


@frozen
class Cost:
    """What the `present` layout takes longer than a `better` one. `figures` names the site whose figures they are, if
    it is another than the experiment's. Outside of what was measured the share lies `between` two, and `outside` says
    where that is; a better layout is one that is so in all worlds, if there is any.
    """

    present: Candidate
    better: Candidate
    figures: str = ""
    between: tuple[float, float] | None = None
    outside: tuple[str, ...] = ()
    is_timed: bool = True
    """Whether a time can be told, or shares alone."""

    @property
    def likely(self) -> float:
        """The difference as a share of the better one's time, most likely; negative if the present one is better."""
        return self.present.seconds / self.better.seconds - 1

    @property
    def share(self) -> float:
        """The same at least."""
        return self.likely if self.between is None else self.between[0]

    @property
    def most(self) -> float:
        """The same at most."""
        return self.share if self.between is None else self.between[1]

    @property
    def waiting(self) -> float:
        """What of it is not just ranks that are missing for computing, as a share at most."""
        return self.most - self.present.prediction.parts["ranks taken away"] / self.better.seconds

    @property
    def may_be_waiting(self) -> bool:
        """Whether more of it than noise may be ranks that wait."""
        return self.likely >= NOISE and self.waiting >= NOISE

    @property
    def is_noise(self) -> bool:
        """Whether no two runs would show the difference."""
        return self.most < NOISE

    def exceeds(self, limit: float) -> bool:
        """Whether the share is at least so much. Raises UndecidedError, with what is in doubt as its name, where some
        worlds say so and others do not."""
        if self.share < limit <= self.most:
            raise UndecidedError(unknown(f"what the layout costs outside of what was measured ({self.outside[0]})"))
        return self.share >= limit

    @property
    def is_vague(self) -> bool:
        """Whether no better layout is sure to be better."""
        return self.share < WORTH_SAYING or self.better.layout == self.present.layout

    @property
    def notes(self) -> tuple[str, ...]:
        """In what the experiment lies outside of what was measured, a note each."""
        return tuple(f"outside what was measured: {one}" for one in self.outside)

    def __str__(self) -> str:
        foreign = f", by the figures of {self.figures}" if self.figures else ""
        if self.is_noise:
            return f"costs less than {100 * NOISE:.0f} % here, which is noise{foreign}"
        if self.between is not None:
            return f"{_range(*self.between)} here (outside what was measured{foreign})"
        seconds = self.present.seconds - self.better.seconds
        times = f"{spoken_time(seconds)} of {spoken_time(self.present.seconds)}"
        return f"costs about {_percent(self.share)} % here ({times}{foreign})"


def _percent(share: float) -> str:
    return f"{100 * share:.0f}" if share > 0.1 else f"{100 * share:.2g}"


def _range(least: float, most: float) -> str:
    if least >= 1:
        low, high = (f"{1 + share:.2g}" for share in (least, most))
        return f"makes the run {low if low == high else f'{low} to {high}'} times as long"
    low, high = (_percent(share) for share in (least, most))
    return f"costs up to {high} %" if least < NOISE else f"costs {low if low == high else f'{low} to {high}'} %"


def if_known(look: Callable[[Component], Cost | None], component: Component) -> Cost | None:
    """A cost for those who have something to say without it, too: None where nobody can know."""
    with suppress(UndecidedError):
        return look(component)
    return None


@remembered
def output_cost(component: Component) -> Cost | None:
    """What the I/O ranks and partitions cost against the best ones; None where there is no output.

    Raises UndecidedError where nothing can be said of it.
    """
    situation = known_situation(component)
    if not situation.case.outputs:
        return None
    layout, calibration = present_layout(situation), calibration_of(situation)
    if is_like_the_measured(situation) and is_covered(case_with(situation, layout), calibration):
        cost = _against(situation, layout, _best_output(_without_output_layout(situation)), calibration)
        if cost is not None:
            return cost
    choice = Choice(True, (True,) * len(situation.outputs), False, False, placement=True)
    return _in_all_worlds(situation, layout, choice, calibration)


@remembered
def restart_cost(component: Component) -> Cost | None:
    """What the restart mode and its ranks cost against the best ones; None where no checkpoint is written, or a first
    look finds it small.

    Raises UndecidedError where nothing can be said of it.
    """
    if has_good_restart(component):
        return None
    situation = known_situation(component)
    layout, choice = present_layout(situation), Choice(False, (False,) * len(situation.outputs), True, True)
    calibration = calibration_of(situation)
    if is_like_the_measured(situation) and is_covered(case_with(situation, layout), calibration):
        better, *_ = preferred(ranked(situation, layout, choice, calibration))
        cost = _against(situation, layout, better, calibration)
        if cost is not None:
            return cost
    return _in_all_worlds(situation, layout, choice, calibration)


@remembered
def idle_restart_cost(component: Component) -> Cost | None:
    """What the ranks beyond the first cost that the mode async sets apart; None where no number can be given."""
    situation = situation_of(component)
    if situation.case.restart_mode != ASYNC or not is_like_the_measured(situation):
        return None
    layout = present_layout(situation)
    better = weighed(situation, layout._replace(num_restart_procs=1))
    return _against(situation, layout, better, calibration_of(situation))


def _without_output_layout(situation: Situation) -> Situation:
    """The same for all points that differ in nothing but their I/O ranks and partitions; the headers of joint
    checkpoints are a little larger, the more workers write them."""
    size = float(f"{situation.case.checkpoint_bytes:.3g}")
    case = evolve(situation.case, num_io_procs=0, stream_partitions=1, files_on_a_rank=None, checkpoint_bytes=size)
    return evolve(situation, case=case, outputs=tuple(evolve(output, partitions=1) for output in situation.outputs))


@lru_cache(maxsize=256)
def _best_output(situation: Situation) -> Candidate:
    choice = Choice(True, (True,) * len(situation.outputs), False, False)
    return ranked(situation, present_layout(situation), choice, calibration_of(situation))[0]


def _against(situation: Situation, layout: Layout, better: Candidate, calibration: Calibration) -> Cost | None:
    """The cost by the mean prediction; None where one of the two is outside what was measured."""
    if not all(is_covered(case, calibration) for case in (case_with(situation, layout), better.case)):
        return None
    return Cost(weighed(situation, layout), better, _figures(situation, calibration))


def _figures(situation: Situation, calibration: Calibration) -> str:
    return calibration.name.capitalize() if is_foreign(situation, calibration) else ""


def _in_all_worlds(situation: Situation, layout: Layout, choice: Choice, calibration: Calibration) -> Cost:
    """The cost of a layout against the best of those that are better in all worlds, else against the best in the
    likeliest. A first look takes all outputs for one; several are played through if it finds a cost."""
    others = [other for other in layouts(situation, layout, choice) if other != layout]
    found = _outside(situation, layout, calibration)
    worlds = _worlds(situation, found, calibration)
    present = _rough(situation, layout, worlds)
    likeliest = {other: _rough(situation, other, worlds[:1])[0] for other in others}
    order = sorted(others, key=likeliest.__getitem__)
    better, between = (order or [layout])[0], None
    for other in order:
        if present[0] / likeliest[other] - 1 < WORTH_SAYING:
            break  # so is that of all others, in the likeliest world already
        shares = _shares(present, _rough(situation, other, worlds))
        if shares[0] >= WORTH_SAYING:
            better, between = other, shares
            break
    between = between or _shares(present, _rough(situation, better, worlds))
    if len(situation.outputs) > 1 and between[1] >= WORTH_SAYING:
        between = _shares(*([_played(situation, item, world) for world in worlds] for item in (layout, better)))
    notes = (*situation.doubts, *_several(situation), *(one.note for one in found))
    if between[1] < WORTH_SAYING:  # which layout is a little better is not told, nor how long it takes
        candidates = (_closed(situation, layout, calibration),) * 2
    else:
        candidates = weighed(situation, layout), weighed(situation, better)
    return Cost(*candidates, _figures(situation, calibration), between, notes, is_timed=not situation.unlike)


def _shares(present: Sequence[float], better: Sequence[float]) -> tuple[float, float]:
    shares = [now / then - 1 for now, then in zip(present, better, strict=True)]
    return min(shares), max(shares)


def _outside(situation: Situation, layout: Layout, calibration: Calibration) -> tuple[Outside, ...]:
    """In what both halves of the case lie outside of what was measured: output and checkpoints were measured apart."""
    case = case_with(situation, layout)
    halves = evolve(case, checkpoint_bytes=0), evolve(case, output_bytes=0)
    return tuple({one.note: one for half in halves for one in outside(half, calibration)}.values())


def _several(situation: Situation) -> tuple[str, ...]:
    return ("several streams: measured with one only",) if len(situation.outputs) > 1 else ()


def _worlds(situation: Situation, found: Sequence[Outside], calibration: Calibration) -> tuple[Calibration, ...]:
    """The likeliest, those in which computing takes as much more, and writing as much less, as may be, and the other
    way round; and those in which ranks that write at the same time slow each other as much more and less."""
    distances = [one.distance for one in found] + [1.0 for _ in _several(situation)]
    spread = sqrt(_SCATTER**2 + sum((EXTRAPOLATION * distance) ** 2 for distance in distances))
    reach = exp(min(_SURE * spread, FARTHEST))
    computing = writing = sqrt(reach)  # what decides is the one against the other
    for one in situation.unlike:
        computing, writing = computing * (one.computing or 1.0), writing * (one.writing or 1.0)
    return (
        calibration,
        _world(calibration, computing, 1 / writing),
        _world(calibration, 1 / computing, writing),
        _world(calibration, contention=reach),
        _world(calibration, contention=1 / reach),
    )


def _world(
    calibration: Calibration, computing: float = 1.0, writing: float = 1.0, contention: float = 1.0
) -> Calibration:
    """The calibration where computing and writing take so many times as long, and writing together."""
    by = {**dict.fromkeys(_COMPUTING, computing), **dict.fromkeys(_SECONDS, writing)}
    contention = min(contention, _MOST_CONTENTION / calibration.estimate.constants.contention)
    by |= {**dict.fromkeys(_RATES, 1 / writing), "contention": contention}
    mean = tuple(middle + log(by.get(name, 1.0)) for name, middle in zip(NAMES, calibration.estimate.mean, strict=True))
    return evolve(calibration, estimate=calibration.estimate._replace(mean=mean), families={})


def _rough(situation: Situation, layout: Layout, worlds: Sequence[Calibration]) -> list[float]:
    """Seconds of a layout in each world, all outputs taken for one; no less than its busiest I/O rank needs."""
    case = case_with(situation, layout)
    times = [sum(run_time(case, world.estimate.constants)) for world in worlds]
    if len(situation.outputs) > 1 and case.io_ranks and case.outputs:
        turns, alone = _busiest(situation, layout) * case.outputs, _alone(case)
        turn = [writer_turn(alone, world.estimate.constants) for world in worlds]
        times = [max(time, turns * each) for time, each in zip(times, turn, strict=True)]
    return times


def _alone(case: Case) -> Case:
    return evolve(case, num_io_procs=1, stream_partitions=1, files_on_a_rank=None)


def _busiest(situation: Situation, layout: Layout) -> float:
    """The share of all output that the busiest I/O rank writes."""
    sizes = {
        (id(output.stream), output.level_type): output.run_bytes / partitions
        for output, partitions in zip(situation.outputs, layout.stream_partitions, strict=True)
    }
    load: dict[int, float] = {}
    try:
        for file, rank in output_placement(situation, layout):
            load[rank] = load.get(rank, 0.0) + sizes.get((id(file.stream), file.level_type), 0.0)
    except PlacementError:
        return 0.0
    return max(load.values(), default=0.0) / (sum(load.values()) or 1.0)


def _played(situation: Situation, layout: Layout, world: Calibration) -> float:
    """Seconds of a layout in a world, played through with the placement of its files."""
    from nmlgen.advise.play import played  # rarely needed

    return played(situation, layout, _closed(situation, layout, world).prediction, world).total_s


def _closed(situation: Situation, layout: Layout, world: Calibration) -> Candidate:
    """A layout with what it takes in one world."""
    case = case_with(situation, layout)
    parts = run_time(case, world.estimate.constants)
    total = sum(parts)
    return Candidate(layout, case, Prediction(total, total, total, dict(zip(PARTS, parts, strict=True))))
