"""Output along a chain of jobs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

from nmlgen.experiment.component import Component
from nmlgen.experiment.memory import kept
from nmlgen.experiment.setting import UndecidedError
from nmlgen.findings import Finding, Severity
from nmlgen.models.icon.clock import Clock, clock
from nmlgen.models.icon.output_fate import Fate, fate
from nmlgen.models.icon.ranks import MOST_PARTITIONS, OutputFile, output_files
from nmlgen.models.icon.rules.streams import plural, setting_of, stream_name
from nmlgen.models.icon.schedule import all_dates
from nmlgen.rules.rule import ComponentRule
from nmlgen.units.duration import Duration

_STEM = "<output_filename>"
_MOST_LEGS = 100
"""A bound on work: of a longer chain the first so many jobs are played."""

_MOST_RECORDS = 30_000
"""A bound on work: where all models of an experiment write more records, fewer jobs are, at least two. Each sequence of
files counts as some more in each job."""
_OF_A_JOB = 5

_ATMOSPHERE, _OCEAN, _WAVES = 1, 2, 98


def _fates(component: Component) -> Iterator[tuple[OutputFile, Fate]]:
    """What the chain leaves of each sequence, in files that are named but for `output_filename`."""
    return zip(_files(component), _fates_in_order(component), strict=False)


def _files(component: Component) -> list[OutputFile]:
    return [file for file in output_files(component) if file.partitions <= MOST_PARTITIONS]


@kept
def _fates_in_order(component: Component) -> tuple[Fate, ...]:
    """What the chain leaves of each of `_files`; nothing where there is no chain. Of one longer than a hundred jobs the
    first hundred count, of one that writes very much as many as have some ten thousand records; UndecidedError if these
    are not even two."""
    time = clock(component)
    kind = component["master_model_nml", "model_type"].value
    if time.legs < 2 or kind not in (_ATMOSPHERE, _OCEAN, _WAVES):
        return ()
    files = _files(component)
    looked_at = _beginning(component, files, time)
    return tuple(fate(component, file, looked_at, output_filename=_STEM) for file in files)


def _whole(component: Component, file: OutputFile, name: str) -> str:
    return name.replace(_STEM, str(setting_of(component, file.stream, "output_filename").value).strip())


def _beginning(component: Component, files: Sequence[OutputFile], time: Clock) -> Clock:
    legs = min(time.legs, _MOST_LEGS)
    most = _MOST_RECORDS // len(component.experiment.components)
    while True:
        beginning = time if legs == time.legs else time.shortened(time.end_of(legs))
        counts = (_OF_A_JOB * legs + len(all_dates(component, file, beginning)) for file in files)
        if all(count <= most for count in accumulate(counts)):  # of very many files only the first are counted
            return beginning
        if legs == 2:
            setting = component["master_time_control_nml", "restartTimeIntval"]
            raise UndecidedError(setting, f"two jobs write more than {most} records")
        legs = max(2, legs // 4)


class RecordsLostInChain(ComponentRule):
    """A job that begins from a checkpoint may write over the files of the job before.

    ## What it does
    Finds chains of jobs (`restartTimeIntval` shorter than the experiment) in which a later job opens a file anew that
    an earlier one filled, and says how many records go with it. It happens to every sequence of files that writes
    nothing at the very time of the checkpoint, so to all partitions of a stream but one, unless the names bear dates;
    and to every sequence of an ocean that writes more than one file in a job.

    ## Why it matters
    The records are gone, and ICON says nothing.

    ## Evidence
    ICON 2024.10 stores in a checkpoint the number of the file that each sequence is at, and the next job begins with
    that number, even if that file is full (`mo_output_event_handler.f90:1652-1675`,
    `mo_name_list_output_init.f90:1690-1700`, `mo_name_list_output.f90:296-320`). A real run of two jobs with one step
    a file and two partitions left 12 of 13 records. An ocean's checkpoint holds no such number: each job counts from 1
    again, and two jobs with one step a file left 4 of 7 records.

    ## Example
    ```yaml bad
    restart: {restartTimeIntval: P5D}
    output: {atm: {output_interval: PT7H, file_interval: null, steps_per_file: 1}}
    #        ^
    ```
    ```yaml good
    parallel: {num_io_procs: 1}
    restart: {restartTimeIntval: P5D}
    output: {atm: {output_interval: PT8H, stream_partitions_ml: 1}}
    ```

    ## References
    ICON namelist overview, output_nml.
    """

    code = "OUT038"
    name = "records-lost-in-chain"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        told: set[int] = set()
        for file, found in _fates(component):
            if not found.losses or id(file.stream) in told:
                continue
            told.add(id(file.stream))
            first = found.losses[0]
            lost = sum(loss.records for loss in found.losses)
            setting = setting_of(component, file.stream, "filename_format")
            name = _whole(component, file, first.name)
            yield self.finding(
                setting if setting.is_written else file.stream.span,
                f"job {first.leg} of the chain writes over {name} of the stream {stream_name(file.stream)}: "
                f"{plural(lost, 'record')} of this sequence {'is' if lost == 1 else 'are'} lost in the end",
                "expected: <datetime2> in filename_format, or one partition and jobs that end at an output time",
            )


class RecordsInOtherFiles(ComponentRule):
    """Along a chain of jobs, files may hold other records than in one job.

    ## What it does
    Finds chains of jobs in which a record lands in another file than it would in a single job: each job counts
    `steps_per_file` and `file_interval` from its own first output time.

    ## Why it matters
    Files are of unlike length, and what reads them by their number finds other times.

    ## Evidence
    ICON 2024.10, `mo_output_event_control.f90:195-251`; files that are appended to get `_part_N+` in the log
    (`mo_output_event_handler.f90:2428-2452`).

    ## Example
    ```yaml bad
    restart: {restartTimeIntval: P5D}
    output: {atm: {stream_partitions_ml: 1, output_interval: PT8H, file_interval: P4D}}
    #                                                                             ^
    ```
    ```yaml good
    parallel: {num_io_procs: 1}
    restart: {restartTimeIntval: P5D}
    output: {atm: {stream_partitions_ml: 1, output_interval: PT8H, file_interval: P1D}}
    ```

    ## References
    ICON namelist overview, output_nml.
    """

    code = "OUT039"
    name = "records-in-other-files"
    severity = Severity.WARNING

    def check(self, component: Component) -> Iterator[Finding]:
        told: set[int] = set()
        for file, found in _fates(component):
            if found.moved is None or found.losses or id(file.stream) in told:
                continue
            told.add(id(file.stream))
            date, *names = found.moved
            name, usual = (_whole(component, file, one) for one in names)
            setting = setting_of(component, file.stream, "file_interval")
            yield self.finding(
                setting if setting.is_written else file.stream.span,
                f"the record of {Duration(0, date)} from the start lands in {name}; in one job it would be in {usual}",
                "expected: a restartTimeIntval that is a multiple of what a file holds",
            )
