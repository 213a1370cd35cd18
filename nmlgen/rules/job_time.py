"""The time limit of a job against what the job takes."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite

from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.setting import UndecidedError, unknown
from nmlgen.findings import Finding, Severity
from nmlgen.rules.directives import directive, text_of
from nmlgen.rules.rule import Rule
from nmlgen.units.wall_time import format_wall_time, parse_wall_time, rough_time, spoken_time


class TimeTooShort(Rule):
    """The time limit ends the job before the model is done.

    ## What it does
    Predicts how long one job of the chain takes, adds what the site says of the time before the model's first step
    (`set_up_time`), and compares it with `time`. Where the expected time is known, a limit below it is found; far from
    all measurements, and of several models, which wait for each other, only a limit that even a fast run would exceed.
    Jobs that write a checkpoint on demand when their time ends (`checkpoint_on_demand`) may be as short as they like.

    ## Why it matters
    Slurm ends the job; what was computed since the last checkpoint is lost, and the chain stops.

    ## Evidence
    The prediction is wrong by about 5 % for runs like those measured; its interval holds 84 % of runs that were kept
    back. On Levante the workers began about two minutes after the job, whatever the layout.

    ## Example
    ```yaml bad
    job: {time: "00:00:30"}
    #           ^
    namelists: {run_nml: {iforcing: 3}, nwp_phy_nml: {inwp_gscp: 1}}
    ```
    ```yaml good
    job: {time: "00:40:00"}
    namelists: {run_nml: {iforcing: 3}, nwp_phy_nml: {inwp_gscp: 1}}
    ```

    ## References
    F. Ott, IO-Verhalten und -Effizienz im Klima- und Wettermodell ICON (2025), section 5.2.2.
    """

    code = "SLM026"
    name = "time-too-short"
    severity = Severity.WARNING
    needs_icon = True

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        time = directive(experiment, "time")
        limit = _seconds(text_of(time))
        if time is None or not limit or _stops_on_demand(experiment):
            return
        from nmlgen.advise.first_look import is_surely_enough  # only where there is a limit to judge

        if is_surely_enough(experiment.components[0], limit):
            return
        from nmlgen.advise.job_time import slowest, time_limit

        found = slowest(experiment)
        waits = not isfinite(found.high_s)  # for other models, and nobody knows how long
        if (
            found.set_up_s + found.low_s <= limit
            and (limit < found.set_up_s + found.expected_s or waits)
            and (not found.is_sure)
        ):
            raise UndecidedError(unknown("how long a job takes, so far outside of what was measured"))
        if limit >= found.set_up_s + (found.expected_s if found.is_sure else found.low_s):
            return
        run = spoken_time(found.expected_s) if found.is_sure else f"at least {rough_time(found.low_s)}"
        set_up = f" and {spoken_time(found.set_up_s)} before it begins" if found.set_up_s else ""
        expected = "a longer time, or a shorter restartTimeIntval, which splits the run"
        longest = None if waits else time_limit(experiment)[0]
        if longest is not None and found.is_sure:
            expected = f'"{format_wall_time(longest)}", which leaves a margin and is what auto says'
        if longest is not None and found.limit_s > longest:
            expected = f"a shorter restartTimeIntval, which splits the run: {format_wall_time(longest)} is allowed"
        yield self.finding(
            time,
            f"time {text_of(time)} is short for a job of the model that takes {run}{set_up}",
            f"expected: {expected}",
        )


def _seconds(text: str | None) -> int | None:
    try:
        return None if text is None else parse_wall_time(text)
    except ValueError:
        return None


def _stops_on_demand(experiment: Experiment) -> bool:
    """Whether the end of its time makes the model write a checkpoint and stop, and a next job goes on."""
    return all(component["io_nml", "checkpoint_on_demand"].value is True for component in experiment.components)
