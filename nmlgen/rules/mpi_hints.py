"""ROMIO's hints: known, of a value that it can read, and in accord with stripes and writers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.setting import Setting
from nmlgen.experiment.shared_file import writers
from nmlgen.experiment.striping import Extent
from nmlgen.findings import Finding, Severity, did_you_mean
from nmlgen.rules.rule import Rule
from nmlgen.units.size import format_size

_SWITCHES = frozenset(
    [
        *("romio_cb_read", "romio_cb_write", "romio_cb_alltoall", "romio_cb_pfr", "romio_ds_read", "romio_ds_write"),
        *("romio_lustre_ds_in_coll", "romio_lustre_cb_lock_ahead_write", "romio_lustre_cb_lock_ahead_read"),
    ]
)
_WORDS = ("enable", "disable", "automatic")
_NUMBERS = frozenset(
    [
        *("cb_buffer_size", "cb_nodes", "ind_rd_buffer_size", "ind_wr_buffer_size", "striping_factor", "striping_unit"),
        *("romio_lustre_co_ratio", "romio_lustre_coll_threshold", "romio_min_fdomain_size"),
    ]
)
_OTHERS = frozenset(
    [
        *("cb_config_list", "cb_block_size", "start_iodevice", "romio_lustre_start_iodevice", "direct_read"),
        *("direct_write", "deferred_open", "romio_no_indep_rw", "romio_cb_fr_types", "romio_cb_fr_alignment"),
        *("romio_cb_ds_threshold", "romio_filesystem_type", "romio_aggregator_list", "romio_synchronized_flush"),
        *("romio_visibility_immediate", "overstriping_ratio", "access_style", "collective_buffering", "num_io_nodes"),
        *("nb_proc", "file_perm", "io_node_list", "filename", "chunked", "chunked_item", "chunked_size"),
        *("cb_align", "no_locks", "romio_data_replication", "romio_read_aggmethod", "romio_write_aggmethod"),
        *("romio_lustre_cb_lock_ahead_num_extents", "romio_lustre_lock_ahead_num_extents"),
    ]
)
_OF_OTHER_LIBRARIES = ("nc_", "pnetcdf_", "cb_nodes_", "mpich_", "mca_", "bg_", "gpfs", "IBM_", "panfs_", "romio_daos")
_MOST_GUESSED = 1000
"""A bound on work: of more hints that are not known it is not asked what they may mean."""
_STRIPE_UNIT = 64 * 1024


def _number(setting: Setting | None) -> int | None:
    """The whole number of a hint; None where there is none."""
    value = setting.value if setting is not None else None
    if isinstance(value, str) and re.fullmatch(r"\d{1,18}", value):
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _output(experiment: Experiment) -> Extent | None:
    """Where the bulk of an output file lies."""
    blocks = [block for block in experiment.striping if block.what == "output"]
    return blocks[0].extents[-1] if blocks else None


class UnknownHint(Rule):
    """ROMIO ignores hints that it does not know.

    ## What it does
    Finds a hint that no ROMIO knows, nor PnetCDF, nor a vendor's MPI library.

    ## Why it matters
    It has no effect, and nobody says so.

    ## Evidence
    Intel MPI 2021.18, asked with MPI_File_get_info: unknown hints are not there. ROMIO user's guide and `adio/common`
    of MPICH for the names.

    ## Example
    ```yaml bad
    mpi: {hints: {romio_cb_writes: enable}}
    #                              ^
    ```
    ```yaml good
    parallel: {pio_type: 2}
    mpi: {hints: {romio_cb_write: enable}}
    lustre: {output: {stripe_count: 4}}
    ignore: {MPI012: the unlimited dimension is not of this page, PAR013: nor is CDI-PIO}
    ```

    ## References
    ROMIO user's guide, hints.
    """

    code = "MPI017"
    name = "unknown-hint"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        known = sorted(_SWITCHES | _NUMBERS | _OTHERS)
        hints = experiment.mpi.hints.items()
        unknown = [one for one in hints if one[0] not in known and not one[0].startswith(_OF_OTHER_LIBRARIES)]
        for number, (name, setting) in enumerate(unknown):
            guessed = did_you_mean(name, known) if number < _MOST_GUESSED else ()
            notes = guessed or ("expected: a hint of ROMIO's, or none",)
            yield self.finding(setting, f"ROMIO has no hint {name} and ignores it", *notes)


class HintValue(Rule):
    """ROMIO reads a hint's value its own way, and ignores what it cannot read.

    ## What it does
    Finds a switch with another word than enable, disable and automatic; a number that is none or not above 0, such as
    `4M`; and a `striping_unit` that is no multiple of 64 KiB.

    ## Why it matters
    Numbers are read up to the first character that is no digit: `4M` is 4 bytes. Lustre refuses such a stripe, and the
    file gets the default layout. Other words leave a switch where it was.

    ## Evidence
    ROMIO, `ad_hints.c`: atoi, and comparisons with these three words, all lower or all upper case. Lustre manual:
    stripe sizes are multiples of 64 KiB.

    ## Example
    ```yaml bad
    parallel: {pio_type: 2}
    mpi: {hints: {striping_unit: 4M}}
    #                            ^
    ```
    ```yaml good
    parallel: {pio_type: 2}
    mpi: {hints: {striping_factor: 4, striping_unit: 4194304}}
    ignore: {MPI012: the unlimited dimension is not of this page, PAR013: nor is CDI-PIO}
    ```

    ## References
    ROMIO user's guide, hints.
    """

    code = "MPI018"
    name = "hint-value"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        for name, setting in experiment.mpi.hints.items():
            value, number = setting.value, _number(setting)
            if name in _SWITCHES and str(value) not in (*_WORDS, *(word.upper() for word in _WORDS)):
                yield self.finding(setting, f'{name} "{value}" is not read', f"expected: {', '.join(_WORDS)}")
            elif name in _NUMBERS and (number is None or number < 1):
                yield self.finding(
                    setting,
                    f'{name} "{value}" is no number of ROMIO\'s',
                    "expected: a whole number above 0, in bytes"
                    if name.endswith(("size", "unit"))
                    else "expected: a whole number above 0",
                )
            elif name == "striping_unit" and number is not None and number % _STRIPE_UNIT:
                yield self.finding(
                    setting,
                    f"striping_unit {number} is no multiple of 64 KiB: Lustre refuses it",
                    "expected: such as 1048576 or 4194304",
                )


class DataSievingInWrites(Rule):
    """Data sieving in writes reads a whole region, changes it and writes it back, with a lock on it.

    ## What it does
    Finds the hint romio_ds_write with `enable`.

    ## Why it matters
    It is for single processes with many small holes in what they write. In a file that several processes write they
    wait for each other's locks, and every byte goes over the network twice; collective buffering makes large pieces
    without reading.

    ## Evidence
    ROMIO user's guide, section on data sieving. The TOPIO project (HLRS) names it among the parameters to tune; no
    report measured it. K. Ketelsen (2021), section 4: large pieces without gaps are fast, 44 s with collective writes
    against 98 s without.

    ## Example
    ```yaml bad
    parallel: {pio_type: 2}
    mpi: {hints: {romio_ds_write: enable}}
    #                             ^
    ```
    ```yaml good
    parallel: {pio_type: 2}
    mpi: {hints: {romio_ds_write: disable, romio_cb_write: enable}}
    lustre: {output: {stripe_count: 4}}
    ignore: {MPI012: the unlimited dimension is not of this page, PAR013: nor is CDI-PIO}
    ```

    ## References
    ROMIO user's guide, hints. TOPIO, HLRS. K. Ketelsen, Parallel IO on HLRN-IV systems (2021), section 4.
    """

    code = "MPI019"
    name = "data-sieving-in-writes"
    severity = Severity.ADVICE

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        hint = experiment.mpi.hints.get("romio_ds_write")
        if hint is not None and str(hint.value).lower() == "enable" and writers(experiment) is not None:
            yield self.finding(
                hint,
                "romio_ds_write enable: each write reads its region first, under a lock that the other ranks wait for",
                "expected: disable, with romio_cb_write enable, or automatic, which is the default",
            )


class MoreBufferNodesThanWriters(Rule):
    """Collective buffers lie with processes that write: there are no more of them than of these.

    ## What it does
    Finds the hint cb_nodes above the number of I/O ranks that write a file with `pio_type` 2.

    ## Why it matters
    ROMIO takes as many as there are, and the number that was meant has no effect.

    ## Evidence
    ROMIO, `ad_hints.c`: cb_nodes is cut to the number of processes of the file.

    ## Example
    ```yaml bad
    parallel: {pio_type: 2, num_io_procs: 4}
    mpi: {hints: {cb_nodes: 8}}
    #                       ^
    ```
    ```yaml good
    parallel: {pio_type: 2, num_io_procs: 4}
    mpi: {hints: {cb_nodes: 4}}
    lustre: {output: {stripe_count: 4}}
    ignore: {MPI012: the unlimited dimension is not of this page, PAR013: nor is CDI-PIO}
    ```

    ## References
    ROMIO user's guide, hints.
    """

    code = "MPI020"
    name = "more-buffer-nodes-than-writers"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        hint = experiment.mpi.hints.get("cb_nodes")
        number, processes = _number(hint), writers(experiment) if hint is not None else None
        if number is not None and processes is not None and number > processes:
            yield self.finding(
                hint,
                f"cb_nodes {number} is more than the {processes} I/O ranks that write the file",
                f"expected: at most {processes}, or as many as there are stripes",
            )


class OneBufferNode(Rule):
    """With one buffer node a single process writes for all.

    ## What it does
    Finds the hint cb_nodes 1 where several I/O ranks write a file with `pio_type` 2.

    ## Why it matters
    All data go through one process and its one way to the file system, whatever the stripes.

    ## Evidence
    F. Ott (2025): one writer of ICON's sends 0.5 GB/s. K. Ketelsen (2021), table 2: 24 OSTs take 13970 MB/s; tables 4
    and 5: fewer processes than all are faster, 71.2 s against 189 s in writing and 60 s against 562 s in reading, with
    some on each of 59 nodes. WRF with ADIOS2 on 8 nodes was best with one a node.

    ## Example
    ```yaml bad
    parallel: {pio_type: 2, num_io_procs: 4}
    mpi: {hints: {cb_nodes: 1}}
    #                       ^
    ```
    ```yaml good
    parallel: {pio_type: 2, num_io_procs: 4}
    mpi: {hints: {cb_nodes: 2}}
    lustre: {output: {stripe_count: 4}}
    ignore: {MPI012: the unlimited dimension is not of this page, PAR013: nor is CDI-PIO}
    ```

    ## References
    K. Ketelsen, Parallel IO on HLRN-IV systems (2021), section 5.
    """

    code = "MPI021"
    name = "one-buffer-node"
    severity = Severity.ADVICE

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        hint = experiment.mpi.hints.get("cb_nodes")
        processes = writers(experiment) if _number(hint) == 1 else None
        if processes is not None and processes > 1:
            yield self.finding(
                hint,
                f"cb_nodes 1 sends what {processes} I/O ranks write through one of them, 0.5 GB/s at most",
                "expected: one for each stripe, or for each node with I/O ranks",
            )


class HintsAgainstStripes(Rule):
    """A hint and the directory say two different layouts of a file.

    ## What it does
    Finds the hint striping_factor or striping_unit, where `pio_type` is 2, with another number than the stripe_count or
    stripe_size of `lustre.output`.

    ## Why it matters
    The hint holds for files that MPI-IO makes, if the library's Lustre driver is on and nobody else has made the file;
    else the directory's layout holds. Which one it is depends on things that neither of them says.

    ## Evidence
    ROMIO, `ad_lustre_open.c`: the layout of the hints is set when a file is made. Lustre manual: a directory's layout
    is the default of new files.

    ## Example
    ```yaml bad
    parallel: {pio_type: 2}
    mpi: {hints: {striping_factor: 8}}
    #                              ^
    lustre: {output: {stripe_count: 4}}
    ```
    ```yaml good
    parallel: {pio_type: 2}
    mpi: {hints: {striping_factor: 4}}
    lustre: {output: {stripe_count: 4}}
    ignore: {MPI012: the unlimited dimension is not of this page, PAR013: nor is CDI-PIO}
    ```

    ## References
    ROMIO user's guide, hints.
    """

    code = "MPI022"
    name = "hints-against-stripes"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        factor, unit = (experiment.mpi.hints.get(name) for name in ("striping_factor", "striping_unit"))
        if (factor is None and unit is None) or writers(experiment) is None:
            return
        extent = _output(experiment)
        if extent is None:
            return
        number, bytes_ = _number(factor), _number(unit)
        if number is not None and extent.count and number != extent.count:
            yield self.finding(
                factor,
                f"striping_factor {number}, and lustre.output says stripe_count {extent.count}",
                "expected: the same in both, or one of them",
            )
        if bytes_ is not None and extent.size and bytes_ != extent.size:
            yield self.finding(
                unit,
                f"striping_unit {bytes_}, and lustre.output says stripe_size {format_size(extent.size)}",
                f"expected: {extent.size}, or one of them",
            )
