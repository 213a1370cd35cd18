"""When checkpoints are written, who writes and reads them, and how many files they are.

Sources: ICON 2024.10 `mo_nh_stepping.f90:1616-1635` (when), `mo_restart_descriptor.f90` and `mo_multifile_restart.f90`
(who), F. Ott, IO-Verhalten und -Effizienz im Klima- und Wettermodell ICON (2025),
section 4.2 (who reads).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import lcm

from nmlgen.experiment.chain import KEEP_EVERY, KEEP_LAST
from nmlgen.experiment.component import Component
from nmlgen.experiment.group import as_list
from nmlgen.experiment.memory import remembered
from nmlgen.experiment.setting import UndecidedError
from nmlgen.models.icon.chain import writes_checkpoints
from nmlgen.models.icon.clock import Clock, clock
from nmlgen.models.icon.ranks import RestartMode, domains, restart_mode, split, writes_output
from nmlgen.models.icon.schedule import MOST_DATES
from nmlgen.models.icon.volume import checkpoint_files, checkpoint_parts
from nmlgen.values import frozen


@remembered
def checkpoint_dates(component: Component, time: Clock, until: int) -> Sequence[int]:
    """At which times until then, in milliseconds from the start, a checkpoint is written: only where an interval falls
    on a step, never at the start or at the branch, and at the end of the experiment only if it may be continued.

    Raises UndecidedError for too many.
    """
    keywords = [str(word).strip().lower() for word in as_list(component["run_nml", "output"].value)]
    if "none" in keywords and not writes_output(component):
        return ()
    restart = time.restart if time.restart_ends_leg else None
    every = [lcm(interval, time.step) for interval in (time.checkpoint, restart) if interval]
    last = until if restart or until != time.length else until - 1
    ranges = [range((time.begin // interval + 1) * interval, last + 1, interval) for interval in dict.fromkeys(every)]
    ranges.sort(key=lambda dates: dates.step)
    if len(ranges) == 2 and ranges[1].step % ranges[0].step == 0:
        del ranges[1]
    if len(ranges) == 1:
        return ranges[0]
    if sum(map(len, ranges)) > MOST_DATES:
        setting = component["master_time_control_nml", "checkpointTimeIntval"]
        raise UndecidedError(setting, f"{setting.name} makes more than {MOST_DATES} checkpoints")
    return tuple(sorted(set().union(*ranges)))


@frozen
class Checkpoints:
    """The checkpoints of a component over the whole experiment.

    `writers` ranks write one, into so many `files` (attributes.nc of the multifile modes among them); there are
    `number` of them, of which so many are `standing` at the same time at most, where the chain removes old ones.
    """

    mode: RestartMode
    writers: int
    files: int
    number: int
    standing: int

    @property
    def all_files(self) -> int:
        """The files that there are at the same time at most."""
        return self.files * self.standing

    def __str__(self) -> str:
        """Who writes and reads them, and how many files that makes."""
        ranks = f"{self.writers} ranks write" if self.writers > 1 else "one rank writes"
        who = {
            RestartMode.SYNC: "work rank 0 gathers and writes each checkpoint, and reads it again",
            RestartMode.ASYNC: f"{ranks} each checkpoint, and work rank 0 reads it again",
            RestartMode.JOINT: f"{ranks} each checkpoint, the work ranks themselves, and all work ranks read it again",
            RestartMode.DEDICATED: f"{ranks} each checkpoint beside the others, and all work ranks read it again",
        }[self.mode]
        files = f"{self.files} files" if self.files > 1 else "one file"
        times = f"{self.number} checkpoints" if self.number > 1 else "one checkpoint"
        kept = f", {self.standing} of them at the same time" if self.standing < self.number else ""
        return f"{who}: {files} a checkpoint, {self.files * self.number} in the whole run ({times}{kept})"


def checkpoints_of(component: Component) -> Checkpoints | None:
    """The checkpoints of a component; None where it writes none, or ICON does not know the restart mode.

    Raises UndecidedError for settings that nobody can know.
    """
    mode = restart_mode(component)
    if mode is None or not writes_checkpoints(component):
        return None
    time = clock(component)
    number = len(checkpoint_dates(component, time, time.length))
    if not number:
        return None
    files, ranks = checkpoint_files(component), split(component).restart
    writers = {RestartMode.SYNC: 1, RestartMode.ASYNC: domains(component)}.get(mode, ranks)
    if mode is RestartMode.JOINT:
        writers = checkpoint_parts(component) // domains(component)
    return Checkpoints(mode, max(1, writers), files, number, _standing(component, time, number))


def _standing(component: Component, time: Clock, number: int) -> int:
    """How many checkpoints there are at most before a job of the chain removes the older ones at its end."""
    chain = component.experiment.chain
    if KEEP_LAST not in chain:
        return number
    kept = int(chain[KEEP_LAST].value)
    if KEEP_EVERY in chain:
        kept += number // max(1, int(chain[KEEP_EVERY].value))
    return min(number, kept + len(checkpoint_dates(component, time, time.end_of(1))))
