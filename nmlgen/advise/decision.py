"""Deciding what a spec leaves open, with the reason in a few words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from nmlgen.advise.advice import Stripes
from nmlgen.advise.calibration import Calibration
from nmlgen.advise.case import ASYNC
from nmlgen.advise.choices import Choice
from nmlgen.advise.experiment import Situation
from nmlgen.advise.figures import calibration_of, is_foreign
from nmlgen.advise.layout import present_layout
from nmlgen.advise.prediction import NOISE
from nmlgen.advise.ranking import Candidate, preferred, ranked
from nmlgen.advise.support import is_covered
from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.setting import UndecidedError
from nmlgen.experiment.shared_file import stripes_for
from nmlgen.models.icon.ranks import RestartMode, restart_mode
from nmlgen.units.size import format_size
from nmlgen.values import frozen

Reasoned = tuple[Any, str]
"""A value and why it is chosen."""


@frozen
class Decision:
    """What was decided: variables of parallel_nml and io_nml by group and name, and the partitions of each output of
    the situation, in its order."""

    variables: Mapping[str, Mapping[str, Reasoned]]
    partitions: tuple[Reasoned, ...]


def decide(situation: Situation, choice: Choice) -> Decision:
    """The best layout among those that differ in what is left open from the one that the situation has."""
    calibration = calibration_of(situation)
    candidates = preferred(ranked(situation, present_layout(situation), choice, calibration))
    reasons = _Reasons(situation, candidates, _caveat(situation, candidates[0], calibration))
    layout = candidates[0].layout
    parallel: dict[str, Reasoned] = {}
    mode: dict[str, Reasoned] = {}
    if choice.num_io_procs:
        parallel["num_io_procs"] = layout.num_io_procs, reasons.io_ranks()
    if choice.num_restart_procs:
        parallel["num_restart_procs"] = layout.num_restart_procs, reasons.restart()
    if choice.restart_write_mode:
        mode["restart_write_mode"] = layout.restart_write_mode, reasons.restart()
    partitions = tuple((number, reasons.partitions(output)) for output, number in enumerate(layout.stream_partitions))
    return Decision({"parallel_nml": parallel, "io_nml": mode}, partitions)


def stripe_count(experiment: Experiment, what: str) -> Reasoned:
    """The stripe_count for the files of "output" or "restart", and why.

    Sources: `experiment.shared_file` for a file that all I/O ranks write; K. Ketelsen, Parallel IO on HLRN-IV systems
    (2021), table 2: one stripe takes 0.8 GB/s. F. Ott, IO-Verhalten und -Effizienz im Klima- und Wettermodell ICON
    (2025): one writer of ICON's sends 0.5 GB/s.

    Raises UndecidedError where it depends on what nobody can know.
    """
    if what == "restart":
        modes = {restart_mode(component) for component in experiment.components}
        if modes <= {RestartMode.JOINT, RestartMode.DEDICATED}:
            return 1, "each rank writes a file of its own"
    elif (enough := stripes_for(experiment)) is not None:
        return enough
    return 1, "one rank writes a file, 0.5 GB/s at most, and one OST takes 0.8"


def stripe_size(experiment: Experiment) -> Reasoned:
    """The stripe_size where it is left open, and why: in neither report did it matter."""
    recommended = experiment.machine.recommended_stripe_size
    if recommended is not None:
        return format_size(recommended), f"what site {experiment.machine.name} recommends"
    return "1M", "Lustre's own for long; from 512K to 32M it made no difference"


def stripes_of(experiment: Experiment) -> Iterator[Stripes]:
    """What is to be said of the stripes that an experiment asks for; nothing where that is not known."""
    for block in experiment.striping:
        if block.what not in ("output", "restart"):
            continue
        with suppress(UndecidedError):
            extent = block.extents[-1] if block.what == "output" else block.extents[0]
            present = extent.count
            enough, reason = stripe_count(experiment, block.what)
            if present is not None:
                yield Stripes(block.what, present, enough, reason)


class _Reasons:
    """Why the first of the candidates was chosen."""

    def __init__(self, situation: Situation, candidates: tuple[Candidate, ...], caveat: str) -> None:
        self._situation = situation
        self._best = candidates[0]
        self._equal = [item for item in candidates[1:] if item.seconds < self._best.seconds * (1 + NOISE)]
        self._caveat = caveat

    def io_ranks(self) -> str:
        """Of the number of I/O ranks."""
        if not self._situation.outputs:
            return "there is no output"
        layout = self._best.layout
        equal = [item.layout.num_io_procs for item in self._equal if item.layout.num_io_procs != layout.num_io_procs]
        return self._expected(f"with {layout.num_io_procs}", [str(number) for number in sorted(set(equal))])

    def partitions(self, output: int) -> str:
        """Of the partitions of one output."""
        layout = self._best.layout
        if self._situation.outputs[output].is_whole:
            return "a statistic over time cannot be partitioned"
        if not layout.num_io_procs:
            return "there are no I/O ranks"
        if len(self._situation.outputs) > 1:
            return f"its share of {layout.num_io_procs} I/O ranks by bytes"
        return "as many as I/O ranks" if layout.stream_partitions[0] == layout.num_io_procs else "fits its files"

    def restart(self) -> str:
        """Of the restart mode and its ranks; the obsolete async is never as good."""
        if not self._situation.case.checkpoints:
            return "no checkpoint is written"
        best = self._best.layout
        chosen = _spoken(best.restart_write_mode, best.num_restart_procs)
        equal = [item.layout for item in self._equal if item.layout.restart_write_mode != ASYNC]
        others = [_spoken(layout.restart_write_mode, layout.num_restart_procs) for layout in equal]
        return self._expected(f"with {chosen}", [other for other in dict.fromkeys(others) if other != chosen])

    def _expected(self, chosen: str, equal: list[str]) -> str:
        same = f"; within {NOISE:.0%} of it: {', '.join(equal)}" if equal else ""
        return f"{self._best.prediction} expected {chosen}{same}{self._caveat}".replace("%", " %")


def _spoken(mode: str, ranks: int) -> str:
    return f"{mode} on {ranks} ranks" if ranks > 1 else mode


def _caveat(situation: Situation, best: Candidate, calibration: Calibration) -> str:
    """What is to be said against the numbers."""
    foreign = "" if not is_foreign(situation, calibration) else f"; by the figures of {calibration.name.capitalize()}"
    is_measured = not situation.doubts and is_covered(best.case, calibration)
    return foreign + ("" if is_measured else "; outside what was measured")
