"""Stripes of files that several processes write at once, and what the site recommends of stripes at all."""

from __future__ import annotations

from collections.abc import Iterator

from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.shared_file import (
    BEST_MEASURED,
    CDI_PIO,
    DEFAULT_RUN_TIME,
    RATES,
    RUN_TIMES,
    measured,
    stripes_for,
)
from nmlgen.experiment.striping import ON_METADATA_SERVER, Extent, has_ost, ost_count
from nmlgen.findings import Finding, Severity
from nmlgen.rules.rule import Rule
from nmlgen.units.size import format_size

_MDT_LIMIT = 1024**3
_DEFAULT_SIZE = 1024**2
_ENOUGH = max(RATES)
_NOT_BESIDE_MDT = ("stripe_count", "overstripe_count", "stripe_size", "stripe_index", "ost", "pool")


def _output(experiment: Experiment) -> Extent | None:
    """Where the bulk of an output file lies: the last component of its layout."""
    blocks = [block for block in experiment.striping if block.what == "output"]
    return blocks[0].extents[-1] if blocks else None


def _spread(experiment: Experiment, extent: Extent) -> int | None:
    """Over how many OSTs a component is spread; None where nobody says or knows it."""
    count = extent.count
    return experiment.file_system.ost_count if count == -1 else count or None


def _spread_output(experiment: Experiment) -> tuple[Extent, int] | None:
    """Where the bulk of an output file lies, and over how many OSTs; None where nobody says or knows it."""
    extent = _output(experiment)
    count = None if extent is None else _spread(experiment, extent)
    return None if extent is None or count is None else (extent, count)


class SharedFileWithDefaultLayout(Rule):
    """A file that all I/O ranks write together has the layout that the file system gives to any file.

    ## What it does
    Finds `pio_type` 2 with several I/O ranks, in a run on Lustre without striping for the output.

    ## Why it matters
    The default is made for the many small files of others: often one stripe, or a progressive layout whose first
    components have few. The writers queue at the OSTs that there are.

    ## Evidence
    TOPIO (HLRS), MPAS with PnetCDF on the Lustre WS11: 222.3 s with the file system's own progressive layout, 134.2 s
    with 32 stripes, 61 % of it; the 3-D file was written 4.7 times as fast. K. Ketelsen (2021), table 2: 867 MB/s with
    one stripe, 13970 with 24.

    ## Example
    ```yaml bad
    parallel: {pio_type: 2}
    #                    ^
    ```
    ```yaml good
    parallel: {pio_type: 2}
    lustre: {output: {stripe_count: 4}}
    ignore: {MPI012: the unlimited dimension is not of this page, PAR013: nor is CDI-PIO}
    ```

    ## References
    TOPIO, HLRS. K. Ketelsen, Parallel IO on HLRN-IV systems (2021), section 3.
    """

    code = "LUS010"
    name = "shared-file-with-default-layout"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        enough = stripes_for(experiment)
        if enough is None or enough[0] < 2 or experiment.file_system.type != "lustre":
            return
        extent = _output(experiment)
        if (extent is not None and extent.count) or "striping_factor" in experiment.mpi.hints:
            return
        component = next(one for one in experiment.components if one["parallel_nml", "pio_type"].value == CDI_PIO)
        best = RUN_TIMES[BEST_MEASURED]
        yield self.finding(
            component["parallel_nml", "pio_type"],
            f"pio_type 2 writes one file with the file system's own layout: MPAS took {DEFAULT_RUN_TIME} s so, "
            f"{best} s with {BEST_MEASURED} stripes (61 %)",
            f"expected: lustre.output.stripe_count {enough[0]} ({enough[1]}), or auto",
        )


class FewStripesForSharedFile(Rule):
    """A shared file gets faster with each stripe, up to about one for each of its writers.

    ## What it does
    Finds a `stripe_count` for the output with `pio_type` 2 that is above 1, and below what I/O ranks, OSTs, the site's
    recommendation and the measurements allow.

    ## Why it matters
    Writers share OSTs while others are idle.

    ## Evidence
    K. Ketelsen (2021), table 2: 1592 MB/s with 2 stripes, 2971 with 4, 5523 with 8, 10459 with 16, 13970 with 24; the
    stripe size made little difference. TOPIO (HLRS): a run of 236.6 s with 4 stripes took 177.1 s with 8, 147.8 s with
    16, 134.2 s with 32.

    ## Example
    ```yaml bad
    parallel: {pio_type: 2, num_io_procs: 16}
    lustre: {output: {stripe_count: 4}}
    #                               ^
    ```
    ```yaml good
    parallel: {pio_type: 2, num_io_procs: 16}
    lustre: {output: {stripe_count: 16}}
    ignore: {MPI012: the unlimited dimension is not of this page, PAR013: nor is CDI-PIO}
    ```

    ## References
    K. Ketelsen, Parallel IO on HLRN-IV systems (2021), section 3. TOPIO, HLRS.
    """

    code = "LUS011"
    name = "few-stripes-for-shared-file"
    severity = Severity.ADVICE

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        enough, found = stripes_for(experiment), _spread_output(experiment)
        if enough is None or found is None or not 1 < found[1] < min(enough[0], _ENOUGH):
            return
        extent, count = found
        yield self.finding(
            extent.place,
            f"stripe_count {count} for a file that all I/O ranks write; measured {measured(count)}",
            f"expected: {enough[0]} ({enough[1]}), or auto",
        )


class MoreStripesThanHelp(Rule):
    """More stripes than a file has writers, or than ever were faster.

    ## What it does
    Finds a `stripe_count` for the output with `pio_type` 2 above the number of I/O ranks, or above 32.

    ## Why it matters
    One process writes to one OST as fast as it can; each stripe more is an object more to create and to lock.

    ## Evidence
    TOPIO (HLRS): 134.2 s with 32 stripes, 135.8 s with 40, all that there are. F. Ott (2025): one writer of ICON's
    sends 0.5 GB/s; K. Ketelsen (2021), table 2: one OST takes 0.8 GB/s.

    ## Example
    ```yaml bad
    parallel: {pio_type: 2, num_io_procs: 2}
    lustre: {output: {stripe_count: 24}}
    #                               ^
    ```
    ```yaml good
    parallel: {pio_type: 2, num_io_procs: 2}
    lustre: {output: {stripe_count: 2}}
    ignore: {MPI012: the unlimited dimension is not of this page, PAR013: nor is CDI-PIO}
    ```

    ## References
    TOPIO, HLRS. K. Ketelsen, Parallel IO on HLRN-IV systems (2021), section 3.
    """

    code = "LUS012"
    name = "more-stripes-than-help"
    severity = Severity.ADVICE

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        enough, found = stripes_for(experiment), _spread_output(experiment)
        if enough is None or found is None or found[1] <= enough[0]:
            return
        extent, count = found
        limits = (experiment.file_system.ost_count, experiment.machine.max_recommended_stripe_count)
        if any(limit is not None and count > limit for limit in limits):
            return  # LUS001 and LUS013 say it
        yield self.finding(
            extent.place,
            f"stripe_count {count} is more than helps: {enough[1]}",
            f"expected: {enough[0]}, or auto",
        )


class StripesBeyondRecommendation(Rule):
    """The site recommends other stripes.

    ## What it does
    Finds a `stripe_count` above the largest that the site recommends, and a `stripe_size` that is no multiple of the
    one it recommends, where the site says them.

    ## Why it matters
    The site knows the disks behind its OSTs: a stripe that is no multiple of what they write at once makes them read
    first, and more stripes than recommended take servers from others.

    ## Evidence
    GWDG's documentation of Lustre: a full stripe of the RAID6 is 1 MiB, and up to 32 stripes for files above 1 GiB that
    many nodes write.

    ## Example
    ```yaml bad
    lustre: {output: {stripe_count: 16, stripe_size: 256K}}
    #                                                ^
    ```
    ```yaml good
    lustre: {output: {stripe_count: 16, stripe_size: 1M}}
    ```

    ## References
    docs.hpc.gwdg.de, Lustre.
    """

    code = "LUS013"
    name = "stripes-beyond-recommendation"
    severity = Severity.ADVICE

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        if experiment.file_system.type != "lustre":  # of another the site says nothing
            return
        site, most = experiment.machine.name, experiment.machine.max_recommended_stripe_count
        unit = experiment.machine.recommended_stripe_size
        for extent in (extent for block in experiment.striping for extent in block.extents):
            count, size = _spread(experiment, extent), extent.size
            if most is not None and count is not None and count > most:
                yield self.finding(
                    extent.place,
                    f"stripe_count {count} is more than the {most} that site {site} recommends",
                    f"expected: at most {most}",
                )
            if unit is not None and size and size % unit:
                yield self.finding(
                    extent.settings["stripe_size"],
                    f"stripe_size {format_size(size)} is no multiple of the {format_size(unit)} of site {site}",
                    f"expected: {format_size(unit)}, or a multiple of it",
                )


class LayoutRefused(Rule):
    """Options of a layout that `lfs setstripe` does not take together.

    ## What it does
    Finds `layout: mdt` in another component than the first, beyond 1G, or beside options of OSTs; an `ost` list beside
    a `stripe_count` of another number, or without the `stripe_index` that is asked for.

    ## Why it matters
    `lfs setstripe` fails, and the files get the default layout.

    ## Evidence
    `lustre/utils/lfs.c` and `liblustreapi_layout.c` of Lustre 2.15: "can't be specified with Data-on-MDT component".

    ## Example
    ```yaml bad
    lustre: {output: {component_end: {64K: {layout: mdt, stripe_count: 1}, eof: {stripe_count: 4}}}}
    #                                                                  ^
    ```
    ```yaml good
    lustre: {output: {component_end: {64K: {layout: mdt}, eof: {stripe_count: 4}}}}
    ```

    ## References
    lfs-setstripe manual page.
    """

    code = "LUS014"
    name = "layout-refused"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        for block in experiment.striping:
            for number, extent in enumerate(block.extents):
                if extent.is_on_metadata_server:
                    yield from self._on_metadata_server(extent, is_first=number == 0 and bool(block.components))
                yield from self._listed(extent)

    def _on_metadata_server(self, extent: Extent, *, is_first: bool) -> Iterator[Finding]:
        refused = [extent.settings[name] for name in _NOT_BESIDE_MDT if name in extent.settings]
        if not is_first:
            yield self.finding(
                extent.settings["layout"],
                f"layout {ON_METADATA_SERVER} is not the first component: lfs setstripe refuses it",
                "expected: it in the first component, before those on OSTs",
            )
        elif extent.end is None or extent.end > _MDT_LIMIT:
            yield self.finding(
                extent.settings["layout"],
                f"a component with layout {ON_METADATA_SERVER} goes up to {extent.name}: lfs setstripe refuses it",
                "expected: at most 1G, and often no more than the 64K or 1M that the site allows",
            )
        elif refused:
            yield self.finding(
                refused[0],
                f"{refused[0].name.rpartition('.')[2]} stands beside layout {ON_METADATA_SERVER}: lfs refuses it",
                "expected: layout alone; the bytes are on no OST",
            )

    def _listed(self, extent: Extent) -> Iterator[Finding]:
        listed, count, index = (extent.settings.get(name) for name in ("ost", "stripe_count", "stripe_index"))
        if listed is None:
            return
        number = ost_count(str(listed.value))
        if count is not None and count.value not in (number, 0):
            yield self.finding(
                count,
                f"stripe_count {count.value} stands beside a list of {number} OSTs: lfs setstripe refuses it",
                "expected: no stripe_count; the list says it",
            )
        if index is not None and index.value != -1 and not has_ost(str(listed.value), index.value):
            yield self.finding(
                index,
                f"stripe_index {index.value} is not among the OSTs {listed.value}: lfs setstripe refuses it",
                "expected: no stripe_index; the first of the list is the first",
            )


class ComponentTooShort(Rule):
    """A component ends before each of its stripes has had a turn.

    ## What it does
    Finds a component of a progressive layout that is shorter than `stripe_count` times `stripe_size`.

    ## Why it matters
    Bytes go to the next OST after each `stripe_size`: those that no byte of the component comes to add objects and
    locks, and no speed.

    ## Evidence
    Lustre manual: round robin by stripe size; all objects of a component are made with its first byte.

    ## Example
    ```yaml bad
    lustre: {output: {component_end: {64M: {stripe_count: 8, stripe_size: 16M}, eof: {stripe_count: 16}}}}
    #                                                     ^
    ```
    ```yaml good
    lustre: {output: {component_end: {64M: {stripe_count: 1}, eof: {stripe_count: 16, stripe_size: 1M}}}}
    ```

    ## References
    Lustre wiki, progressive file layouts.
    """

    code = "LUS015"
    name = "component-too-short"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        for extent in (extent for block in experiment.striping for extent in block.extents):
            count, size = _spread(experiment, extent), extent.size or _DEFAULT_SIZE
            if extent.end is None or count is None or extent.end - extent.start >= count * size:
                continue
            used = -(-(extent.end - extent.start) // size)
            yield self.finding(
                extent.place,
                f"the component up to {extent.name} fills {used} of {count} stripes of {format_size(size)}",
                f"expected: stripe_count at most {used}, a smaller stripe_size, or a later end",
            )
