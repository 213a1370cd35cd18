"""Rules about files that the I/O ranks of a component write together, with CDI-PIO."""

from __future__ import annotations

from collections.abc import Iterator

from nmlgen.experiment.component import Component
from nmlgen.findings import Finding, Severity
from nmlgen.models.icon.ranks import level_types, writes_output
from nmlgen.rules.mpi_io import uses_cdi_pio
from nmlgen.rules.rule import ComponentRule

_NETCDF = (4, 5)


class UnlimitedTimeInSharedFile(ComponentRule):
    """Ranks that write one NetCDF file together are slowed down by its unlimited time dimension.

    ## What it does
    Finds `pio_type` 2 with an output stream in NetCDF.

    ## Why it matters
    The time dimension of ICON's files is unlimited, and ICON has no setting for it: each step extends the file and
    all of its variables.

    ## Evidence
    K. Ketelsen (2021), table 6, parallel NetCDF-4 of PALM on 16 nodes: 161 s with an unlimited time dimension, 41 s
    without, a factor of 3.9.

    ## Example
    ```yaml bad
    parallel: {pio_type: 2}
    #                    ^
    output: {atm: {filetype: 4}}
    ```
    ```yaml good
    parallel: {pio_type: 1}
    output: {atm: {filetype: 4}}
    ```

    ## References
    K. Ketelsen, Parallel IO on HLRN-IV systems (2021), section 6.1.
    """

    code = "MPI012"
    name = "unlimited-time-in-shared-file"
    severity = Severity.ADVICE

    def check(self, component: Component) -> Iterator[Finding]:
        if not uses_cdi_pio(component) or not writes_output(component):
            return
        streams = [
            stream.label or "one"
            for stream in component.streams
            if level_types(component, stream) and component.stream_setting(stream, "filetype").value in _NETCDF
        ]
        if streams:
            yield self.finding(
                component["parallel_nml", "pio_type"],
                f"pio_type 2 writes NetCDF with an unlimited time dimension ({', '.join(streams)}), in parallel 3.9 "
                "times as slow as with a fixed one",
                "expected: pio_type 1 with num_io_procs and stream_partitions, or a measurement of both",
            )
