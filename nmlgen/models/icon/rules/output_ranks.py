"""Which rank writes which output file: ranks that idle, ranks that are overloaded, partitions and placement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from nmlgen.experiment.component import Component
from nmlgen.experiment.group import as_list
from nmlgen.experiment.setting import Setting, UndecidedError
from nmlgen.findings import Finding, Severity, some_of
from nmlgen.models.icon.clock import clock
from nmlgen.models.icon.ranks import (
    MOST_IO_RANKS,
    MOST_PARTITIONS,
    OVERLOADED,
    OutputFile,
    PlacementError,
    level_types,
    placement,
    split,
)
from nmlgen.models.icon.rules.parallel import (
    lacks_io_ranks,
    writes_streams,
)
from nmlgen.models.icon.rules.streams import (
    OPERATIONS,
    partitions_of,
    plural,
    possible_partitions_of,
    setting_of,
    short_name,
    stream_name,
    streams_read,
    windows_of,
)
from nmlgen.models.icon.schedule import output_steps
from nmlgen.models.icon.volume import rank_bytes
from nmlgen.rules.rule import ComponentRule
from nmlgen.units.size import format_bytes

if TYPE_CHECKING:
    from nmlgen.advise.cost import Cost

_MANY_STEPS = 100


_SHOWN = 4


def _numbers(ranks: list[int]) -> str:
    """Rank numbers in a list that stays short."""
    return f"{'rank' if len(ranks) == 1 else 'ranks'} {some_of(ranks, _SHOWN)}"


def _load(component: Component) -> tuple[list[OutputFile], ...]:
    """What each I/O rank writes; empty where none is set apart, nothing is written, or ICON refuses to start."""
    count = split(component)
    kind = component["parallel_nml", "pio_type"].value
    if not 0 < count.io <= MOST_IO_RANKS or count.work < 1 or kind != 1 or not writes_streams(component):
        return ()
    for stream in component.streams:
        if not all(0 < number <= MOST_PARTITIONS for number in partitions_of(component, stream).values()):
            return ()
    load: tuple[list[OutputFile], ...] = tuple([] for _ in range(count.io))
    try:
        for file, rank in placement(component):
            load[rank].append(file)
    except PlacementError:
        return ()
    return load if any(load) else ()


def _only_sequence(load: tuple[list[OutputFile], ...]) -> OutputFile | None:
    """A file of the one stream, level type and domain that is written, if there is but one; else None."""
    files = [file for files in load for file in files]
    kinds = {(file.stream, file.level_type, file.domain) for file in files}
    return files[0] if len(kinds) == 1 else None


def _differs(load: tuple[list[OutputFile], ...]) -> bool:
    """Whether there is but one sequence of files, split into another number than there are I/O ranks."""
    only = _only_sequence(load)
    return only is not None and only.partitions != len(load)


def _bytes(component: Component) -> tuple[float, ...]:
    """What each I/O rank writes in the whole experiment; empty where nobody can know."""
    try:
        return rank_bytes(component)
    except (UndecidedError, PlacementError):
        return ()


def _is_uneven(component: Component, load: tuple[list[OutputFile], ...]) -> bool:
    """Whether some I/O ranks write much more than others, by bytes; by files where nobody knows the bytes."""
    sizes = Counter(len(files) for files in load)
    if not load or 0 in sizes or _differs(load):
        return False
    if len(sizes) == 1 and _only_sequence(load) is not None:
        return False  # as many partitions of one stream for each
    written = _bytes(component)
    if not written:
        return len(sizes) > 1
    return max(written) > OVERLOADED * sum(written) / len(written)


def _cost(component: Component) -> Cost | None:
    """What the layout costs; None where nobody can tell."""
    from nmlgen.advise.cost import if_known, output_cost  # only where there is something to ask

    return if_known(output_cost, component)


def _is_waited_for(cost: Cost | None) -> bool:
    """Whether a cost is told, and more of it than noise may be waiting; where nobody knows it, it may."""
    return cost is None or cost.may_be_waiting


def _output_steps(component: Component) -> int:
    """How many output times all streams have together."""
    steps = 0
    for stream in streams_read(component):
        if level_types(component, stream):
            time = clock(component)
            windows_of(component, stream, time)
            steps += output_steps(component, stream, time)
    return steps


def _costs(component: Component, against: str) -> tuple[str, ...]:
    """What the layout costs, as a note; none where nobody can tell."""
    cost = _cost(component)
    return () if cost is None else (f"it {cost}, {against}: {cost.better.layout.num_io_procs}",)


def _better(component: Component, cost: Cost) -> str:
    """What to set to be rid of the cost."""
    from nmlgen.advise.experiment import situation_of

    layout, outputs = cost.better.layout, situation_of(component).outputs
    partitions = [f"stream_partitions {number}" for number in layout.stream_partitions]
    if len(outputs) > 1:
        partitions = [
            f"{output.variable} {number} for {output.stream.title}"
            for output, number in zip(outputs, layout.stream_partitions, strict=True)
        ]
    spread = ["no pe_placement"] if layout.is_spread else []
    time = [f"{cost.better.prediction} in all"] if cost.is_timed else []
    return f"expected: {', '.join([f'num_io_procs {layout.num_io_procs}', *partitions, *spread, *time])}"


class PartitionsUnlikeIoRanks(ComponentRule):
    """A single output stream is best split into as many partitions as there are I/O ranks.

    ## What it does
    Finds an experiment with one output stream of one level type and one domain whose `stream_partitions`
    differ from the number of I/O ranks.

    ## Why it matters
    One file is written by one rank. With fewer partitions than ranks some ranks idle; with more, a rank
    writes several files one after the other.

    ## Evidence
    Seen with ICON 2024.10: three I/O ranks and one file leave two ranks without work. In all 36 asynchronous
    output runs measured on Levante the two numbers were equal, after trials had shown that they should be.

    ## Example
    ```yaml bad
    parallel: {num_io_procs: 4}
    output: {atm: {stream_partitions_ml: 2}}
    #                                    ^
    ```
    ```yaml good
    parallel: {num_io_procs: 8}
    output: {atm: {stream_partitions_ml: 8}}
    ```

    ## References
    F. Ott, IO-Verhalten und -Effizienz im Klima- und Wettermodell ICON (2025), sections 5.2.1 and 6.2.
    """

    code = "OUT001"
    name = "partitions-unlike-io-ranks"
    severity = Severity.WARNING

    def check(self, component: Component) -> Iterator[Finding]:
        load = _load(component)
        only = _only_sequence(load)
        if only is None or not _differs(load):
            return
        ranks, name = len(load), f"stream_partitions_{only.level_type}"
        setting = setting_of(component, only.stream, name)
        idle = sum(1 for files in load if not files)
        outcome = f"{plural(idle, 'rank')} without a file" if idle else "ranks with several files"
        advice = f"expected: {name} {ranks}, or num_io_procs {only.partitions}"
        if setting_of(component, only.stream, "operation").value in OPERATIONS:
            advice = "expected: num_io_procs 1, for a stream with an operation cannot be partitioned"
        yield self.finding(
            setting if setting.is_written else component["parallel_nml", "num_io_procs"],
            f"the only output stream has {plural(only.partitions, 'partition')} for {plural(ranks, 'I/O rank')}: "
            f"{outcome}",
            advice,
            *_costs(component, "against the best number of both"),
        )


class IdleIoRanks(ComponentRule):
    """An I/O rank without a file has nothing to do.

    ## What it does
    Counts the files of all streams, level types, domains and partitions, gives them to the I/O ranks as ICON
    does, and finds ranks that get none.

    ## Why it matters
    The idle ranks are lost for computing.

    ## Evidence
    ICON 2024.10 gives files with `pe_placement` to the rank named and all others round robin to the remaining
    ranks (`mo_name_list_output_init.f90:1376-1470`); 34 runs of the real model were compared rank by rank.

    ## Example
    ```yaml bad
    parallel: {num_io_procs: 6}
    #                        ^
    output: {atm: {stream_partitions_pl: 1, pl_varlist: [temp], p_levels: [50000.0]}}
    ```
    ```yaml good
    parallel: {num_io_procs: 5}
    output: {atm: {stream_partitions_pl: 1, pl_varlist: [temp], p_levels: [50000.0]}}
    ```

    ## References
    ICON namelist overview, output_nml and parallel_nml.
    """

    code = "OUT002"
    name = "idle-io-ranks"
    severity = Severity.WARNING

    def check(self, component: Component) -> Iterator[Finding]:
        load = _load(component)
        idle = [rank for rank, files in enumerate(load) if not files]
        if idle and not _differs(load):
            files = sum(len(files) for files in load)
            yield self.finding(
                component["parallel_nml", "num_io_procs"],
                f"{len(idle)} of {plural(len(load), 'I/O rank')} write nothing, counted from 0: {_numbers(idle)}",
                f"expected: num_io_procs {len(load) - len(idle)}, or more stream_partitions; the streams make "
                f"{plural(files, 'file')} at a time",
                *_costs(component, "against the best number of I/O ranks"),
            )


class UnevenIoRanks(ComponentRule):
    """An I/O rank with more to write than the others is the one that everybody waits for.

    ## What it does
    Gives the files of all streams, level types, domains and partitions to the I/O ranks as ICON does, and finds ranks
    that write more than 1.5 times as many bytes as the mean; where nobody can know the bytes, ranks that get more files
    than others. Where ranks idle, that is reported instead; where the advisor takes the waiting to cost less than 2 %,
    there is nothing to say.

    ## Why it matters
    A rank writes its files one after the other; at the next output step of one of them the work ranks wait
    until it is done.

    ## Evidence
    ICON 2024.10, `mo_name_list_output_init.f90:1376-1470` (placement; compared with 34 runs of the real
    model) and `mo_name_list_output.f90:3575-3630` (waiting). The size of the files plays no part in the
    placement.

    ## Example
    ```yaml bad
    parallel: {num_io_procs: 2}
    #                        ^
    output:
      atm: {output_interval: PT10M, file_interval: P1D, stream_partitions_ml: 1}
      surface: {output_interval: PT10M, file_interval: P1D, ml_varlist: [pres_sfc]}
    ```
    ```yaml good
    parallel: {num_io_procs: 4}
    output:
      atm: {output_interval: PT10M, file_interval: P1D, stream_partitions_ml: 3}
      surface: {output_interval: PT10M, file_interval: P1D, ml_varlist: [pres_sfc]}
    ```

    ## References
    ICON namelist overview, output_nml and parallel_nml.
    """

    code = "OUT003"
    name = "uneven-io-ranks"
    severity = Severity.WARNING

    def check(self, component: Component) -> Iterator[Finding]:
        load = _load(component)
        if not _is_uneven(component, load):
            return
        from nmlgen.advise.cost import output_cost

        cost = output_cost(component) if _bytes(component) else _cost(component)
        if cost is not None and not _is_waited_for(cost):
            return
        yield self.finding(
            component["parallel_nml", "num_io_procs"],
            *(_uneven_bytes(component, load) if _bytes(component) else _uneven_files(load)),
            *(() if cost is None else (_better(component, cost), f"it {cost}", *cost.notes)),
        )


def _uneven_bytes(component: Component, load: tuple[list[OutputFile], ...]) -> tuple[str, ...]:
    """What is uneven in bytes, and what the busiest rank writes."""
    written = _bytes(component)
    order = sorted(range(len(load)), key=lambda rank: -written[rank])
    busy = [rank for rank in order if written[rank] > OVERLOADED * sum(written) / len(written)]
    rest = format_bytes(round(max(written[rank] for rank in order if rank not in busy)))
    return (
        f"{_numbers(busy)} of {plural(len(load), 'I/O rank')}, counted from 0, "
        f"{'writes' if len(busy) == 1 else 'write'} {format_bytes(round(written[busy[0]]))}, others at most {rest}",
        f"I/O rank {busy[0]} writes {_served(load[busy[0]])}; stream_partitions share the bytes of a stream",
    )


def _uneven_files(load: tuple[list[OutputFile], ...]) -> tuple[str, ...]:
    """The same in files."""
    most, least = max(map(len, load)), min(map(len, load))
    busy = [rank for rank, files in enumerate(load) if len(files) == most]
    total = sum(len(files) for files in load)
    return (
        f"{total} files on {len(load)} I/O ranks: {_numbers(busy)} (counted from 0) "
        f"{'writes' if len(busy) == 1 else 'write'} {most} files, others {least}",
        f"I/O rank {busy[0]} writes {_served(load[busy[0]])}",
        f"expected: num_io_procs {total}, or stream_partitions that come out even",
    )


def _served(files: list[OutputFile]) -> str:
    return ", ".join(f"{stream_name(file.stream)} ({file.level_type})" for file in files[:_SHOWN])


class SynchronousOutput(ComponentRule):
    """Without I/O ranks every output step stops the whole model.

    ## What it does
    Finds `num_io_procs` 0 in a job of several tasks that has at least 100 output steps. Where the advisor can tell what
    that costs, the message says it, and below 2 %, which is noise, there is none; where that is likely but in doubt,
    `--show-undecided` names it.

    ## Why it matters
    Work rank 0 gathers and writes every field while all others wait.

    ## Evidence
    Measured on Levante over 10 days with output every 4 minutes, R2B5: 2636 s without I/O ranks and 1504 s
    with 4 on one node, 3107 s and 727 s (with 16) on two nodes. With output every 12 minutes 1818 s and 1427
    s, 1541 s and 741 s. In each of six families of seven runs the one without I/O ranks was the slowest or
    the second slowest.

    ## Example
    ```yaml bad
    parallel: {num_io_procs: 0}
    #                        ^
    ```
    ```yaml good
    parallel: {num_io_procs: 0}
    output: {atm: {output_interval: P1D, file_interval: P4D}}
    ```

    ## References
    F. Ott, IO-Verhalten und -Effizienz im Klima- und Wettermodell ICON (2025), section 5.2.1.
    """

    code = "OUT004"
    name = "synchronous-output"
    severity = Severity.WARNING

    def check(self, component: Component) -> Iterator[Finding]:
        procs = component["parallel_nml", "num_io_procs"]
        pio_type = component["parallel_nml", "pio_type"]
        if procs.value != 0 or pio_type.value == 2 or not lacks_io_ranks(component):
            return
        steps = _output_steps(component)
        if steps < _MANY_STEPS:
            return
        waste = f"all {component.tasks.value} tasks wait at each of {steps} output steps, for there is no I/O rank"
        from nmlgen.advise.prediction import NOISE

        cost = _cost(component)
        if cost is None:
            yield self.finding(procs, waste, "expected: num_io_procs 1 or more")
        elif not cost.is_noise and (cost.likely >= NOISE or cost.exceeds(NOISE)):
            expected = "expected: num_io_procs 1 or more" if cost.is_vague else _better(component, cost)
            yield self.finding(procs, f"{waste}: it {cost}", expected, *cost.notes)


class SlowOutput(ComponentRule):
    """Another number of I/O ranks would make the run shorter by so much that it can be told.

    ## What it does
    Predicts the run time with the present number of I/O ranks and with others. Finds a layout that costs 5 % or more,
    which is what a prediction is wrong by in the mean for experiments like those that were measured: a global grid of
    so many cells and levels on so many nodes, NWP physics, one output stream in NetCDF. Outside of that the cost is
    worked out once with computing, once with writing taken for as slow as it may be, so far away, and the rule speaks
    where both agree, with the range of the cost; where they do not, `--show-undecided` names it. Where the other rules
    on I/O ranks speak, they say the number.

    ## Why it matters
    With too few I/O ranks all others wait for files that are not finished when the next are due; too many are missing
    for computing.

    ## Evidence
    Measured on Levante, R2B5 on two nodes for ten days with output every 4 minutes: 1770 s with one I/O rank, 727 s
    with 16. The prediction is wrong by about 5 % in the mean of families that it has not seen.

    ## Example
    ```yaml bad
    parallel: {num_io_procs: 1}
    #                        ^
    output: {atm: {output_interval: PT10M, stream_partitions_ml: 1}}
    namelists: {run_nml: {iforcing: 3}, nwp_phy_nml: {inwp_gscp: 1}, io_nml: {lnetcdf_flt64_output: true}}
    ```
    ```yaml good
    parallel: {num_io_procs: 8}
    output: {atm: {output_interval: PT10M, stream_partitions_ml: 8}}
    namelists: {run_nml: {iforcing: 3}, nwp_phy_nml: {inwp_gscp: 1}, io_nml: {lnetcdf_flt64_output: true}}
    ```

    ## References
    F. Ott, IO-Verhalten und -Effizienz im Klima- und Wettermodell ICON (2025), section 5.2.1.
    """

    code = "OUT032"
    name = "slow-output"
    severity = Severity.ADVICE

    def check(self, component: Component) -> Iterator[Finding]:
        count, load = split(component), _load(component)
        if 4 * count.taken > component.tasks.value or not writes_streams(component):
            return
        if count.io:
            if not load or not all(load) or _differs(load):
                return
            if _is_uneven(component, load) and _is_waited_for(_cost(component)):
                return
        elif not lacks_io_ranks(component) or _output_steps(component) >= _MANY_STEPS:
            return
        from nmlgen.advise.first_look import WORTH_SAYING, has_good_output

        if has_good_output(component):
            return
        from nmlgen.advise.cost import output_cost

        cost = output_cost(component)
        if cost is not None and cost.exceeds(WORTH_SAYING):
            procs = component["parallel_nml", "num_io_procs"]
            yield self.finding(procs, f"num_io_procs {count.io} {cost}", _better(component, cost), *cost.notes)


class NoPartitions(ComponentRule):
    """A stream in no partition is not written.

    ## What it does
    Finds `stream_partitions` of zero or less for a level type that the stream writes.

    ## Why it matters
    ICON accepts it and writes nothing: the output is lost.

    ## Evidence
    ICON 2024.10 with 0 and with -1 finished without a file and without a message.

    ## Example
    ```yaml bad
    output: {atm: {stream_partitions_ml: 0}}
    #                                    ^
    ```
    ```yaml good
    output: {atm: {stream_partitions_ml: 4}}
    ```

    ## References
    ICON namelist overview, output_nml.
    """

    code = "OUT013"
    name = "no-partitions"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        for stream in streams_read(component):
            for kind, number in partitions_of(component, stream).items():
                if number < 1:
                    yield self.finding(
                        setting_of(component, stream, f"stream_partitions_{kind}"),
                        f"stream_partitions_{kind} is {number}: the {kind} output of the stream "
                        f"{stream_name(stream)} is not written",
                        "expected: 1 or more",
                    )


class PartitionsBeyondLimit(ComponentRule):
    """ICON has room for 256 partitions of a stream.

    ## What it does
    Finds `stream_partitions` above 256 for a level type that the stream writes.

    ## Why it matters
    ICON does not check it and reads beyond the end of an array.

    ## Evidence
    ICON 2024.10, `mo_name_list_output_init.f90:1169-1172`; `pe_placement_ml` and its like have 256 elements.

    ## Example
    ```yaml bad
    output: {atm: {stream_partitions_ml: 300}}
    #                                    ^
    ```
    ```yaml good
    output: {atm: {stream_partitions_ml: 4}}
    ```

    ## References
    ICON namelist overview, output_nml.
    """

    code = "OUT014"
    name = "partitions-beyond-limit"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        for stream in streams_read(component):
            for kind, number in partitions_of(component, stream).items():
                if number > MOST_PARTITIONS:
                    yield self.finding(
                        setting_of(component, stream, f"stream_partitions_{kind}"),
                        f"stream_partitions_{kind} {number} is more than ICON has room for",
                        f"expected: at most {MOST_PARTITIONS}",
                    )


class ImpossiblePlacement(ComponentRule):
    """`pe_placement` names I/O ranks, counted from 0, and must leave one for the files it does not name.

    ## What it does
    Finds a `pe_placement` below -1 or beyond the last I/O rank (without I/O ranks only 0 is one), and placements that
    take every I/O rank while other files remain. Without I/O ranks the first work rank writes all files anyway.

    ## Why it matters
    ICON aborts when output is initialised; a rank too high by one crashes in MPI.

    ## Evidence
    ICON 2024.10: "Invalid explicit placement of IO rank!", "No I/O proc left after explicit placement!", and
    "MPI_ERR_RANK: invalid rank" for 1 with one I/O rank (`mo_name_list_output_init.f90:1376-1470`).

    ## Example
    ```yaml bad
    output: {atm: {pe_placement_ml: [0, 1, 2, 4]}}
    #                               ^
    ```
    ```yaml good
    output: {atm: {pe_placement_ml: [0, 1, 2, 3]}}
    ```

    ## References
    ICON namelist overview, output_nml.
    """

    code = "OUT015"
    name = "impossible-placement"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        count = split(component)
        if count.work < 1 or count.io > MOST_IO_RANKS:
            return
        ranks = max(1, count.io)
        placements = list(_placements(component))
        are = f"there {'is' if ranks == 1 else 'are'} {ranks}"
        wrong = False
        for setting, named in placements:
            for rank in [rank for rank in named if rank < -1 or rank >= ranks][:1]:
                wrong = True
                yield self.finding(
                    setting,
                    f"{short_name(setting)} names I/O rank {rank}, {are}",
                    f"expected: {'0' if ranks == 1 else f'0 to {ranks - 1}'}, or -1 for ICON's own choice",
                )
        taken = {rank for _, named in placements for rank in named if rank >= 0}
        if count.io and not wrong and len(taken) == ranks and any(-1 in named for _, named in placements):
            setting = next(setting for setting, named in placements if any(rank >= 0 for rank in named))
            yield self.finding(
                setting,
                f"the explicit placement takes {'the only I/O rank' if ranks == 1 else f'all {ranks} I/O ranks'} "
                "and leaves none for the other files",
                "expected: a pe_placement for every file, or more I/O ranks",
            )


def _placements(component: Component) -> Iterator[tuple[Setting, list[int]]]:
    """Each pe_placement that counts, with the rank it names for each partition; -1 where it names none."""
    for stream in streams_read(component):
        for kind, number in possible_partitions_of(component, stream).items():
            setting = setting_of(component, stream, f"pe_placement_{kind}")
            named = as_list(setting.value)[:number]
            yield setting, named + [-1] * (number - len(named))
