"""The loop: propose a run, see it run, learn from it, until no other is worth it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from nmlgen.advise.calibration import NAMES, Calibration, levante
from nmlgen.advise.experiment import Situation
from nmlgen.advise.figures import calibration_of, is_foreign
from nmlgen.advise.prediction import NOISE
from nmlgen.errors import InputError
from nmlgen.spec.spec import Spec, load_spec
from nmlgen.sweep.point import Point
from nmlgen.tuning.belief import Belief, Expected, Measured
from nmlgen.tuning.candidates import Candidate, Candidates, candidates_of
from nmlgen.tuning.runner import AsSweep, Outcome, Runner, alone
from nmlgen.values import evolve, field, frozen

Stop = Literal["noise", "budget", "runs", "all tried", "failures"]
"""Why a tuning ended: what is left to gain is noise; the budget or the number of runs is spent; nothing is left to try;
the first runs all failed."""

FOREIGN_SPREAD = 0.7
"""How far the constants of a site may be from those of another, as a standard deviation of their logarithms: here a run
will tell, so little is taken for granted. A judgement."""

STRAYING = 0.5
"""Which part of the noise is worth a run where no model explains what was measured, up to a third of the candidates. A
judgement."""

_HOPELESS = 3  # so many runs that fail before any succeeds


@frozen(eq=False)
class Trial:
    """A candidate that was run, runs, or is to run: what was expected of it before it ran (None where nothing was), and
    its outcome."""

    candidate: Candidate = field(repr=False)
    expected: Expected | None
    outcome: Outcome

    @property
    def point(self) -> Point:
        """What runs."""
        return self.candidate.point

    @property
    def measured_s(self) -> float | None:
        """How long the model ran, if it ran to its end."""
        return self.outcome.total_s if self.outcome.state == "done" else None

    @property
    def node_hours(self) -> float:
        """What it cost; as long as it is under way, what it is expected to. A run of which nobody knows when it ended
        counts with its time limit."""
        seconds = self.outcome.elapsed_s if self.outcome.is_over else None
        if seconds is None:
            expected = None if self.outcome.is_over else self.expected
            return _node_hours(self.candidate, expected)
        return seconds * self.candidate.nodes / 3600


@frozen(eq=False)
class Prospect:
    """A candidate that was not run: what is expected of it, and the improvement over the best time so far that is
    expected, as a share of that; None where nothing is."""

    candidate: Candidate = field(repr=False)
    expected: Expected | None
    gain: float | None


@frozen(eq=False)
class Tuning:
    """How far a tuning is.

    `trials` are all runs so far in the order in which they were proposed; `proposed` those that were so just now,
    `ended` those that ended since the last time. `left` are the candidates that were not run, the most promising first.
    `stop` is None while it goes on.
    """

    candidates: Candidates = field(repr=False)
    trials: tuple[Trial, ...]
    left: tuple[Prospect, ...] = field(repr=False)
    proposed: tuple[Trial, ...] = ()
    ended: tuple[Trial, ...] = ()
    budget: float | None = None
    stop: Stop | None = None

    @cached_property
    def best(self) -> Trial | None:
        """The fastest run so far."""
        done = [trial for trial in self.trials if trial.measured_s is not None]
        return min(done, key=lambda trial: trial.measured_s or 0.0, default=None)

    @property
    def gain(self) -> float | None:
        """The greatest expected improvement among those that are left; None before anything was measured."""
        return self.left[0].gain if self.left else None

    @property
    def node_hours(self) -> float:
        """What all runs cost, those under way as expected."""
        return sum(trial.node_hours for trial in self.trials)


def tune(
    spec: Spec | str | Path | Mapping[str, Any],
    runner: Runner | str | Path,
    *,
    budget: float | None = None,
    runs: int | None = None,
    noise: float = NOISE,
    at_once: int = 1,
    calibration: Calibration | None = None,
    dry_run: bool = False,
    watch: Callable[[Tuning], None] | None = None,
) -> Iterator[Tuning]:
    """Try candidates on the machine, the most promising first; gives how far it is whenever something was proposed or
    has ended, and in the end why it stopped.

    The candidates are the points of the spec's section `sweep`, without one its numbers of I/O ranks and partitions.
    `runner` is the directory of a sweep, in which everything lies that it takes to go on after an interruption, or
    anything else that runs points. `budget` is in node-hours, `runs` the most runs, those in the directory included,
    `at_once` how many may run at the same time; it stops, too, when no candidate is expected to save more than `noise`
    of the best time. `calibration` is what to begin with; the site's, else Levante's. With `dry_run` the first proposal
    is given and nothing runs. `watch` is called at every look.

    Raises SpecError and InputError for a spec or a directory that cannot be tuned, what `write_sweep` and `submit`
    raise, and ValueError for numbers that make no sense.
    """
    for name, value, least in (("runs", runs, 1), ("at_once", at_once, 1), ("budget", budget, 0), ("noise", noise, 0)):
        if value is not None and value < least:
            raise ValueError(f"{name} is {value}; expected {least} or more")
    loaded = spec if isinstance(spec, Spec) else load_spec(spec)
    tuner = _Tuner(candidates_of(loaded), budget, runs, noise, at_once, calibration)
    if dry_run:
        yield tuner.look({}, set())
    elif isinstance(runner, (str, Path)):
        with alone(Path(runner)):
            yield from _steps(tuner, AsSweep(Path(runner), loaded.without_sweep()), watch)
    else:
        yield from _steps(tuner, runner, watch)


def _steps(tuner: _Tuner, runner: Runner, watch: Callable[[Tuning], None] | None) -> Iterator[Tuning]:
    told: set[str] = set()
    while True:
        found = tuner.look(runner.outcomes(), told)
        told.update(trial.point.id for trial in found.ended)
        if any(trial.outcome.state == "planned" for trial in found.trials):
            runner.start([trial.point for trial in found.trials])
        if watch is not None:
            watch(found)
        if found.proposed or found.ended or found.stop:
            yield found
        if found.stop:
            return
        runner.wait()


class _Tuner:
    """Decides what to run next."""

    def __init__(
        self,
        candidates: Candidates,
        budget: float | None,
        runs: int | None,
        noise: float,
        at_once: int,
        calibration: Calibration | None,
    ) -> None:
        self._candidates = candidates
        self._by_id = {candidate.point.id: candidate for candidate in candidates.candidates}
        self._budget, self._runs, self._noise, self._at_once = budget, runs, noise, at_once
        known = [candidate.situation for candidate in candidates.candidates if candidate.situation is not None]
        self._calibration = calibration or (_beginning(known[0]) if known else doubted(levante()))
        self._beliefs: dict[tuple[str, ...], Belief] = {(): Belief(candidates, self._calibration, noise)}

    def look(self, outcomes: Mapping[str, Outcome], told: set[str]) -> Tuning:
        """What follows from the outcomes; of those that are over, `told` are not told again."""
        trials = self._trials(outcomes)
        belief = self._belief(outcomes)
        proposed: list[Trial] = []
        while True:
            so_far = (*trials, *proposed)
            left = self._left(belief, so_far)
            stop, chosen = self._chosen(so_far, left, belief)
            under_way = sum(not trial.outcome.is_over for trial in so_far)
            if chosen is None or under_way >= self._at_once:
                break
            proposed.append(Trial(chosen.candidate, chosen.expected, Outcome("planned")))
        ended = tuple(trial for trial in trials if trial.outcome.is_over and trial.point.id not in told)
        is_idle = not under_way
        return Tuning(self._candidates, so_far, left, tuple(proposed), ended, self._budget, stop if is_idle else None)

    def _trials(self, outcomes: Mapping[str, Outcome]) -> tuple[Trial, ...]:
        """The runs so far, each with what was expected of it by those that had ended when it started."""
        if (gone := next((name for name in outcomes if name not in self._by_id), None)) is not None:
            raise InputError(
                f"the point {gone} was run and is no candidate any more; put its values back into the sweep, or choose "
                "another directory"
            )
        found = []
        for identifier, outcome in outcomes.items():
            before = {
                other: said
                for other, said in outcomes.items()
                if other != identifier and said.ended and (not outcome.started or said.ended <= outcome.started)
            }
            candidate, belief = self._by_id[identifier], self._belief(before)
            found.append(Trial(candidate, belief.expected(candidate) if belief.knows else None, outcome))
        return tuple(found)

    def _belief(self, outcomes: Mapping[str, Outcome]) -> Belief:
        """What is believed by the outcomes that were measured, learned in the order of their ends."""
        done = [
            (said.ended, identifier) for identifier, said in outcomes.items() if said.state == "done" and said.total_s
        ]
        order: tuple[str, ...] = ()
        for _, identifier in sorted(done):
            said, before = outcomes[identifier], self._beliefs[order]
            order = (*order, identifier)
            if order not in self._beliefs and said.total_s:
                measured = Measured(said.total_s, said.timers)
                self._beliefs[order] = before.after(self._by_id[identifier], measured)
        return self._beliefs[order]

    def _left(self, belief: Belief, trials: Sequence[Trial]) -> tuple[Prospect, ...]:
        """What was not run, the most promising first. Runs under way count as if they took what is expected."""
        tried = {trial.point.id for trial in trials}
        left = [candidate for candidate in self._candidates.candidates if candidate.point.id not in tried]
        if not belief.knows:
            return tuple(Prospect(candidate, None, None) for candidate in left)
        under_way = [trial.candidate for trial in trials if not trial.outcome.is_over]
        times = [trial.measured_s for trial in trials if trial.measured_s]
        times += [belief.expected(candidate).middle_s for candidate in under_way]
        best = min(times, default=None)
        found = []
        for candidate in left:
            expected = belief.expected(candidate, under_way)
            found.append(Prospect(candidate, expected, None if best is None else expected.gain(best)))
        return tuple(sorted(found, key=_promise))

    def _chosen(
        self, trials: Sequence[Trial], left: Sequence[Prospect], belief: Belief
    ) -> tuple[Stop | None, Prospect | None]:
        """What to run next, or why nothing: what is expected to save most for what it costs, if it saves enough; now
        and then what proves the model."""
        failed = sum(trial.outcome.state == "failed" for trial in trials)
        if not left:
            return "all tried", None
        if failed >= _HOPELESS and not any(trial.measured_s for trial in trials):
            return "failures", None
        gain = left[0].gain
        is_lost = belief.strays and len(trials) < len(self._by_id) / 3
        least = self._noise * (STRAYING if is_lost else 1.0)
        is_settled = gain is not None and gain < least
        probe = self._probe(trials, left, belief, is_settled)
        if is_settled and probe is None:
            return "noise", None
        if self._runs is not None and len(trials) >= self._runs:
            return "runs", None
        worth = [p for p in left if p.candidate is probe or p.gain is None or p.gain >= least]
        spent = sum(trial.node_hours for trial in trials)
        if self._budget is not None:
            worth = [p for p in worth if spent + _node_hours(p.candidate, p.expected) <= self._budget]
        if not worth:
            return "budget", None
        if gain is None:
            return None, worth[0]
        in_proof = [p for p in worth if p.candidate is probe]
        return None, max(in_proof or worth, key=lambda p: (p.gain or 0.0) / _node_hours(p.candidate, p.expected))

    def _probe(
        self, trials: Sequence[Trial], left: Sequence[Prospect], belief: Belief, is_settled: bool
    ) -> Candidate | None:
        """What to try in proof of the model: before nothing is left to gain, and every second time before that."""
        if left[0].gain is None or not (is_settled or len(trials) % 2):
            return None
        tried = [trial.candidate for trial in trials]
        return belief.probe([prospect.candidate for prospect in left], tried, wanted=not is_settled)


def _beginning(situation: Situation) -> Calibration:
    """What tuning begins with: the site's calibration, else another's with much less trust."""
    found = calibration_of(situation)
    return doubted(found) if is_foreign(situation, found) else found


def doubted(calibration: Calibration) -> Calibration:
    """A calibration as it is taken for another machine."""
    estimate = calibration.estimate.widened(dict.fromkeys(NAMES, FOREIGN_SPREAD))
    return evolve(calibration, estimate=estimate, measured={})


def _promise(prospect: Prospect) -> tuple[float, float]:
    """By the gain; before there is any, by the time."""
    assert prospect.expected is not None
    return -(prospect.gain or 0.0), prospect.expected.middle_s


def _node_hours(candidate: Candidate, expected: Expected | None) -> float:
    """What a run is expected to cost; if nothing is expected, what it may."""
    seconds = expected.middle_s if expected is not None else candidate.limit_s or 0.0
    return seconds * candidate.nodes / 3600
