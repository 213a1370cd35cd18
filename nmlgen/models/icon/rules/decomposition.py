"""How the domain is cut into the parts of the work ranks, and which of them read the input."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, isqrt

from nmlgen.experiment.component import Component
from nmlgen.findings import Finding, Severity
from nmlgen.models.icon.ranks import domains, split
from nmlgen.rules.rule import ComponentRule


def reading_stride(work: int, io_process_stride: int) -> int:
    """Every how many work ranks one reads, for at least one work rank; `io_process_stride` is at its default below 1.

    Source: ICON 2024.10, `src/io/shared/mo_read_netcdf_distributed.f90:199-217`.
    """
    if io_process_stride > 0:
        return max(1, io_process_stride % work)
    root = isqrt(work)
    readers = root if work <= root * (root + 1) else root + 1  # the square root, rounded
    stride: int = 1 << (ceil(work / readers) - 1).bit_length()
    return stride


class ReadersRotatedAway(ComponentRule):
    """`io_process_rotate` must leave the reading of the grid with the first rank of each stride.

    ## What it does
    Finds an `io_process_rotate` that is no multiple of the stride between reading ranks. The stride is
    `io_process_stride` modulo the number of work ranks; without one, work ranks by their square root, rounded up to a
    power of two.

    ## Why it matters
    ICON settles which ranks read before it knows the stride, and whom to ask after: the ranks that are asked have read
    nothing, and the model aborts while it distributes the grid.

    ## Evidence
    ICON 2024.10 rejects 5 and -1 with 2 work ranks and 1 with 4: "Got illegal index"
    (`mo_read_netcdf_distributed.f90:181-217`).

    ## Example
    ```yaml bad
    parallel: {io_process_rotate: 1}
    #                             ^
    ```
    ```yaml good
    parallel: {io_process_rotate: 0}
    ```

    ## References
    ICON namelist overview, parallel_nml.
    """

    code = "PAR018"
    name = "readers-rotated-away"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        rotate = component["parallel_nml", "io_process_rotate"]
        if not rotate.is_written or rotate.value == 0:
            return
        work = split(component).work
        if work < 2:
            return  # that rank reads everything
        stride = reading_stride(work, component["parallel_nml", "io_process_stride"].value)
        if rotate.value % stride:
            yield self.finding(
                rotate,
                f"io_process_rotate is {rotate.value}, and every {stride} of {work} work ranks one reads",
                f"expected: 0, or a multiple of {stride}",
            )


class SeveralGhostRows(ComponentRule):
    """ICON works with one row of its neighbours' cells.

    ## What it does
    Finds `n_ghost_rows` above one where several work ranks share the grid.

    ## Why it matters
    ICON crashes or aborts while it cuts the grid into parts.

    ## Evidence
    ICON 2024.10 with 2 work ranks: a segmentation fault with 2 rows, "edge-cell index relationships are apparently
    incorrect" with 3. "n_ghost_rows=2 ... is currently not foreseen in the code" (`mo_impl_constants.f90:222`).

    ## Example
    ```yaml bad
    parallel: {n_ghost_rows: 2}
    #                        ^
    ```
    ```yaml good
    parallel: {n_ghost_rows: 1}
    ```

    ## References
    ICON namelist overview, parallel_nml.
    """

    code = "PAR019"
    name = "several-ghost-rows"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        rows = component["parallel_nml", "n_ghost_rows"]
        if rows.value > 1 and split(component).work > 1:
            yield self.finding(rows, f"n_ghost_rows is {rows.value}", "expected: 1, which is the default")


class BlocksWithNests(ComponentRule):
    """The number of blocks is one number, and nests differ in size: with nests the block length is `nproma`.

    ## What it does
    Finds `nblocks_c` or `nblocks_e` greater than zero with several domains.

    ## Why it matters
    ICON aborts in its cross-check.

    ## Evidence
    ICON 2024.10: "Currently nblocks_c or nblocks_e (>0) is not supported for nested domains."
    (`mo_nml_crosscheck.f90:145-149`; read, not tried).

    ## Example
    ```yaml bad
    parallel: {nproma: 0, nblocks_c: 1}
    #                                ^
    namelists: {grid_nml: {dynamics_grid_filename: [iconR02B05-grid.nc, nest.nc]}}
    ```
    ```yaml good
    parallel: {nproma: 16, nblocks_c: 0}
    namelists: {grid_nml: {dynamics_grid_filename: [iconR02B05-grid.nc, nest.nc]}}
    ```

    ## References
    ICON namelist overview, parallel_nml and grid_nml.
    """

    code = "PAR020"
    name = "blocks-with-nests"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        for name in ("nblocks_c", "nblocks_e"):
            if component.registry.variable("parallel_nml", name) is None:  # nblocks_e came with release 2024.07
                continue
            blocks = component["parallel_nml", name]
            if blocks.is_written and blocks.value > 0 and domains(component) > 1:
                yield self.finding(
                    blocks,
                    f"{name} is {blocks.value}, and there are {domains(component)} domains",
                    "expected: nproma instead",
                )
