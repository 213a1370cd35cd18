"""What the jobs of a chain hand on: the checkpoint that it starts from, those that it keeps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from nmlgen import disk
from nmlgen.experiment.chain import KEEP_LAST, START_DIRECTORY, START_TIME
from nmlgen.experiment.component import Component
from nmlgen.experiment.experiment import Experiment
from nmlgen.findings import Finding, Severity
from nmlgen.models.icon.chain import name_before, writes_checkpoints
from nmlgen.models.icon.checkpoints import checkpoint_dates
from nmlgen.models.icon.clock import clock, reads_time_nml, start_of, stop_of
from nmlgen.rules.rule import ComponentRule, Rule
from nmlgen.units.calendar import Instant
from nmlgen.units.duration import Duration

_TIME = re.compile(r"\d{8}T\d{6}Z")
_LAST_TIME = re.compile(rf"^(.*){_TIME.pattern}")


class StartFromNoCheckpoint(Rule):
    """What the chain starts from is a checkpoint of every component, of a time within the experiment.

    ## What it does
    Looks into the directory that `start_from.directory` names, where this machine has it: finds a component without
    links to a checkpoint there, one whose checkpoint is of a time before the start of this experiment or not before its
    stop, and one that has no file of `start_from.time`. That time is held against these dates wherever the directory
    lies.

    ## Why it matters
    ICON looks for the links `multifile_restart_<model_name>.mfr` and `restart_<model_name>_DOM01.nc` and aborts without
    them, after the job has waited in the queue. Behind the stop it has nothing to do.

    ## Evidence
    ICON 2024.10, with the ocean under another name in the second job: "no functional symlink found"
    (`mo_load_restart.f90`).

    ## Example
    ```yaml bad
    start_from: {directory: /work/spinup/run, time: 1900-01-01T00:00:00Z}
    #                                               ^
    ```
    ```yaml good
    start_from: {directory: /work/spinup/run}
    ```

    ## References
    ICON namelist overview, master_nml: lrestart.
    """

    code = "RST030"
    name = "start-from-no-checkpoint"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        directory, time = experiment.chain.get(START_DIRECTORY), experiment.chain.get(START_TIME)
        if directory is None:
            return
        first = experiment.components[0]
        start, stop = start_of(first).basic, stop_of(first).basic
        expected = f"expected: a checkpoint of a time from {start} to before {stop}"
        if time is not None:
            when = Instant.parse(str(time.value)).basic
            if not start <= when < stop:
                yield self.finding(time, f"start_from.time is {when}, outside of the experiment", expected)
                return
        place = Path(str(directory.value))
        if not place.is_absolute() or not disk.is_directory(place):
            return
        for component in filter(writes_checkpoints, experiment.components):
            other = name_before(component)
            link = next((one for one in _links(place, other) if disk.is_there(one)), None)
            if link is None:
                names = f"multifile_restart_{other}.mfr or restart_{other}_DOM01.nc"
                message = f"{place} holds no checkpoint of {other}, that the component {component.title} starts from"
                yield self.finding(directory, message, f"expected: {names}, or its name in start_from.models")
                continue
            file = _file_of(link)
            if time is not None:
                file = _LAST_TIME.sub(rf"\g<1>{Instant.parse(str(time.value)).basic}", file)
            if not disk.exists(file):
                message = f"the checkpoint {file} is not there"
                yield self.finding(time or directory, message, f"expected: the time of a checkpoint in {place}")
            elif time is None and (found := _TIME.search(Path(file).name)) and not start <= found[0] < stop:
                message = f"the last checkpoint of {other} is of {found[0]}, outside of the experiment"
                yield self.finding(directory, message, expected)


def _file_of(link: Path) -> str:
    """The path of the file that a link leads to; of one that leads to itself its own."""
    try:
        return str(disk.resolved(link))
    except (OSError, RuntimeError):
        return str(link)


def _links(place: Path, name: str) -> tuple[Path, Path]:
    return place / f"multifile_restart_{name}.mfr", place / f"restart_{name}_DOM01.nc"


class JobEndsBetweenCheckpoints(ComponentRule):
    """The jobs of a branch end where a checkpoint is written, so that the next one begins there.

    ## What it does
    Finds a chain from the checkpoint of another experiment with a job that ends between two checkpoints, because
    `start_from.time` is no multiple of the intervals after `time.start`.

    ## Why it matters
    A job ends a restart interval after its own begin, checkpoints are written at multiples of the intervals after the
    start of the experiment. The next job begins with the last one: what lies between is computed again, and its records
    are written a second time, some into other files.

    ## Evidence
    ICON 2024.10, `mo_time_management.f90:709-735` (end of a job) and `mo_nh_stepping.f90:934-973` (checkpoints). Of a
    real run from a checkpoint of half past, with both intervals an hour, four files held records twice or of others.

    ## Example
    ```yaml bad
    restart: {checkpointTimeIntval: P1D, restartTimeIntval: P2D}
    start_from: {directory: /work/spinup/run, time: 2008-09-02T12:00:00Z}
    #                                               ^
    ```
    ```yaml good
    parallel: {num_io_procs: 1}
    restart: {checkpointTimeIntval: PT12H, restartTimeIntval: P2D}
    output: {atm: {stream_partitions_ml: 1}}
    start_from: {directory: /work/spinup/run, time: 2008-09-02T12:00:00Z}
    ```

    ## References
    ICON namelist overview, master_time_control_nml.
    """

    code = "RST035"
    name = "job-ends-between-checkpoints"
    severity = Severity.WARNING

    def check(self, component: Component) -> Iterator[Finding]:
        branch, time = component.experiment.chain.get(START_TIME), clock(component)
        if branch is None or time.legs < 2 or not writes_checkpoints(component) or _is_counted_otherwise(component):
            return
        for job in range(1, min(time.legs, _MOST_JOBS)):
            end = time.end_of(job)
            written = checkpoint_dates(component, time, end)
            if end in written:
                continue
            calendar, start = time.calendar, time.start
            when = calendar.add(start, Duration(0, end))
            outcome = "there is none to go on from"
            if written:
                outcome = f"the next one begins again at {calendar.add(start, Duration(0, written[-1]))}"
            yield self.finding(
                branch,
                f"job {job} ends at {when}, where no checkpoint is written: {outcome}",
                f"expected: a checkpointTimeIntval of which {Duration(0, end)} after the start is a multiple",
            )
            return


def _is_counted_otherwise(component: Component) -> bool:
    """Whether intervals are months, or counted from the begin of each job."""
    texts = [str(component["master_time_control_nml", name].value or "") for name in _INTERVALS]
    if any(text and not Duration.parse(text.rstrip()).is_fixed for text in texts):
        return True
    return reads_time_nml(component) and component["time_nml", "is_relative_time"].value is True


_INTERVALS = ("checkpointTimeIntval", "restartTimeIntval")
_MOST_JOBS = 100


class KeptUnderOtherNames(ComponentRule):
    """The checkpoints to be removed are found by ICON's own names for them.

    ## What it does
    Finds `restart.keep_last` beside a `restart_filename` that is not ICON's default.

    ## Why it matters
    The script takes the time of a checkpoint from its name, `<gridfile>_restart_<mtype>_<rsttime>.<extension>`. Of
    others it removes none, and the disk fills.

    ## Evidence
    ICON 2024.10, `mo_run_nml.f90`: the default of restart_filename.

    ## Example
    ```yaml bad
    restart: {keep_last: 2, restart_filename: "rst_<mtype>_<rsttime>.<extension>"}
    #                                         ^
    ```
    ```yaml good
    restart: {keep_last: 2}
    ```

    ## References
    ICON namelist overview, run_nml.
    """

    code = "RST031"
    name = "kept-under-other-names"
    severity = Severity.WARNING

    def check(self, component: Component) -> Iterator[Finding]:
        setting = component["run_nml", "restart_filename"]
        if KEEP_LAST in component.experiment.chain and setting.is_written and "_restart_" not in str(setting.value):
            yield self.finding(
                setting,
                "restart.keep_last does not find checkpoints by this name",
                "expected: no restart_filename, so that they have ICON's own",
            )
