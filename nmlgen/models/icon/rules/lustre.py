"""Striping on Lustre: what `lfs setstripe` refuses, what has no effect, and what the writers make of it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from nmlgen.experiment.component import Component
from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.group import Group, as_list, integer
from nmlgen.experiment.machine import FileSystem
from nmlgen.experiment.setting import Setting, UndecidedError
from nmlgen.experiment.shared_file import stripes_for
from nmlgen.experiment.striping import COMPONENT_UNIT, STRIPE_SIZES, Extent, Striping, is_stripe_size
from nmlgen.findings import Finding, Severity
from nmlgen.models.icon.clock import clock
from nmlgen.models.icon.ranks import RestartMode, domains, level_types, restart_mode, writes_output
from nmlgen.models.icon.schedule import largest_file
from nmlgen.models.icon.volume import points
from nmlgen.rules.rule import Rule
from nmlgen.units.size import format_size, parse_size

_DEFAULT_SIZE = 1024**2  # of older Lustre; newer ones take 4 MiB
_EDGES_PER_CELL = 1.5


def _file_system(experiment: Experiment, directory: str) -> FileSystem:
    """The file system of a directory, which may be relative to the run directory."""
    if directory.startswith("/"):
        return experiment.machine.file_system_of(directory)
    return experiment.file_system


def _block(experiment: Experiment, what: str) -> Striping | None:
    return next((block for block in experiment.striping if block.what == what), None)


def _osts(experiment: Experiment, block: Striping) -> int | None:
    """The most OSTs that a file of the block's directories can have; None where nobody says it."""
    osts = [_file_system(experiment, directory).ost_count for directory in block.directories]
    known = [number for number in osts if number is not None]
    return max(known) if known and len(known) == len(osts) else None


def _stripes(experiment: Experiment, block: Striping, extent: Extent) -> int | None:
    """Over how many OSTs a component is spread; None where nobody can know."""
    count = extent.count
    return _osts(experiment, block) if count == -1 else count or None


def _size(setting: Setting) -> int | None:
    """The bytes of a stripe size; None where it is no size."""
    try:
        return parse_size(setting.value) if isinstance(setting.value, str) else None
    except ValueError:
        return None


def _largest_file(experiment: Experiment) -> int | None:
    """An upper bound, in bytes, of the largest output file; None where there is none."""
    sizes = [_largest_file_of(component) for component in experiment.components]
    return None if not sizes or None in sizes else max(size for size in sizes if size is not None)


def _largest_file_of(component: Component) -> int | None:
    """An upper bound, in bytes, of the largest output file of a component; None where there is none.

    Every variable is taken as one on all levels at the edges of the grid, of which there are half as many again as
    cells. Nests, interpolation to other grids and coordinates inside the files could make larger ones: None then.
    """
    if domains(component) > 1 or not writes_output(component):
        return None
    time, sizes = clock(component), [0]
    for stream in component.streams:
        if any(component.stream_setting(stream, name).value for name in ("remap", "output_grid")):
            return None
        for level_type in level_types(component, stream):
            records = largest_file(component, stream, level_type, time)
            sizes.append(round(largest_step(component, stream, level_type) * _EDGES_PER_CELL) * records)
    return max(sizes) or None


def largest_step(component: Component, stream: Group, level_type: str) -> int:
    """Bytes that one output step of a stream has at most: every variable taken as one on all model levels.

    Raises UndecidedError where a `group:` hides how many variables there are.
    """
    varlist = component.stream_setting(stream, f"{level_type}_varlist")
    names = [str(name) for name in as_list(varlist.value) if str(name).strip()]
    if any(":" in name for name in names):
        raise UndecidedError(varlist)
    levels = integer(component["run_nml", "num_lev"]) + 1
    if level_type != "ml":
        letter = level_type[0]
        levels = len(as_list(component.stream_setting(stream, f"{letter}_levels").value))
    width = 8 if component["io_nml", "lnetcdf_flt64_output"].value else 4
    return len(names) * levels * points(component)["cell"] * width


class StripesBeyondOsts(Rule):
    """More stripes than the file system has OSTs.

    ## What it does
    Finds a `stripe_count` above the number of OSTs, where the site tells it.

    ## Why it matters
    A file gets no more stripes than there are OSTs. To use all of them, wherever the run happens, there is -1.

    ## Evidence
    Lustre manual: `lfs setstripe` takes counts up to 2000, whatever the file system has.

    ## Example
    ```yaml bad
    lustre: {output: {stripe_count: 64}}
    #                               ^
    ```
    ```yaml good
    lustre: {output: {stripe_count: 8}}
    ```

    ## References
    lfs-setstripe manual page.
    """

    code = "LUS001"
    name = "stripes-beyond-osts"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        for block in experiment.striping:
            osts = _osts(experiment, block)
            for extent in block.extents:
                count = extent.count
                if "overstripe_count" in extent.settings or count is None or osts is None or count <= osts:
                    continue
                yield self.finding(
                    extent.place,
                    f"stripe_count {count} is more than the {osts} OSTs of the file system",
                    f"expected: at most {osts}, or -1 for all",
                )


class StripeSizeInvalid(Rule):
    """Lustre takes multiples of 64 KiB below 4 GiB as stripe sizes.

    ## What it does
    Finds another `stripe_size`.

    ## Why it matters
    `lfs setstripe` fails, and the files get the default layout.

    ## Evidence
    Lustre manual, and `lustre/utils/lfs.c` of its source.

    ## Example
    ```yaml bad
    lustre: {output: {stripe_count: 4, stripe_size: 100K}}
    #                                               ^
    ```
    ```yaml good
    lustre: {output: {stripe_count: 4, stripe_size: 4M}}
    ```

    ## References
    lfs-setstripe manual page.
    """

    code = "LUS002"
    name = "stripe-size-invalid"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        found = dict.fromkeys(
            setting
            for block in experiment.striping
            for extent in block.extents
            if (setting := extent.settings.get("stripe_size")) is not None
        )
        for setting in found:
            size = _size(setting)
            if size is not None and not is_stripe_size(size):
                why = "is no multiple of 64K" if size % COMPONENT_UNIT else "is not below 4G"
                yield self.finding(
                    setting,
                    f"stripe_size {setting.value} {why}: lfs setstripe refuses it",
                    f"expected: {STRIPE_SIZES}",
                )


class WideStripesForManyFiles(Rule):
    """The multifile restart modes write many small files: striping each over many OSTs costs and gains nothing.

    ## What it does
    Finds a `stripe_count` above 1, or -1, for the run directory with one of the multifile modes; of a progressive
    layout the one of its first component.

    ## Why it matters
    Each rank that writes has a file of its own, so that the files together already use all OSTs. Every stripe is an
    object more to create, to lock and to look at: the metadata servers, not the disks, then set the pace.

    ## Evidence
    ICON 2024.10 writes a file for each writing rank and domain into a directory of the checkpoint. Lustre's best
    practices: one stripe for small files.

    ## Example
    ```yaml bad
    restart: {restart_write_mode: joint procs multifile}
    lustre: {restart: {stripe_count: 8}}
    #                                ^
    ```
    ```yaml good
    restart: {restart_write_mode: joint procs multifile}
    lustre: {restart: {stripe_count: 1}}
    ```

    ## References
    Lustre wiki, striping best practices.
    """

    code = "LUS003"
    name = "wide-stripes-for-many-files"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        block = _block(experiment, "restart")
        first = next((e for e in block.extents if not e.is_on_metadata_server), None) if block is not None else None
        count = first.count if first is not None else None
        if first is None or count is None or count in (0, 1):
            return
        modes = {restart_mode(component) for component in experiment.components}
        if modes and modes <= {RestartMode.JOINT, RestartMode.DEDICATED}:
            mode = '" and "'.join(sorted(mode.value for mode in modes if mode is not None))
            yield self.finding(
                first.place,
                f'"{mode}" writes one file a rank, stripe_count {count} spreads each of them',
                "expected: stripe_count 1; sync and async write one large file, which gains by more",
            )


class StripesUnfilled(Rule):
    """No output file is large enough to reach its last stripe.

    ## What it does
    Finds striping for the output whose `stripe_count` times `stripe_size` is more than any file can hold. A file's size
    is bounded by its variables, all taken as three-dimensional, and the output steps it holds.

    ## Why it matters
    Bytes go to the next OST after each `stripe_size`. OSTs that are never reached add objects and locks, and no speed.

    ## Evidence
    Lustre manual: round robin by stripe size. In the measurements of K. Ketelsen (2021, table 2) and of the TOPIO
    project, both with files of many GB, the rate followed the count; the stripe size mattered little.

    ## Example
    ```yaml bad
    lustre: {output: {stripe_count: 16, stripe_size: 64M}}
    #                               ^
    ```
    ```yaml good
    lustre: {output: {stripe_count: 4, stripe_size: 1M}}
    ```

    ## References
    K. Ketelsen, Parallel IO on HLRN-IV systems (2021), section 3.
    """

    code = "LUS004"
    name = "stripes-unfilled"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        block = _block(experiment, "output")
        if block is None or block.components:
            return
        (extent,) = block.extents
        stripes, size = _stripes(experiment, block, extent), extent.size
        size = _DEFAULT_SIZE if size is None else size
        if stripes is None or stripes < 2 or size == 0:
            return
        largest = _largest_file(experiment)
        if largest is not None and largest < stripes * size:
            used = -(-largest // size)
            yield self.finding(
                extent.place,
                f"a file has at most {largest / 1e6:.0f} MB and fills {used} of {stripes} stripes of "
                f"{format_size(size)}",
                f"expected: stripe_count at most {used}, or a smaller stripe_size",
            )


class SharedFileOnOneOst(Rule):
    """A file that many ranks write at once is as fast as the OSTs it lies on.

    ## What it does
    Finds `stripe_count: 1` for the output with `pio_type` 2, where the I/O ranks write one shared file.

    ## Why it matters
    All of them queue at one OST.

    ## Evidence
    K. Ketelsen (2021), table 2, a shared file written with MPI-IO: 867 MB/s with one stripe, 5523 with 8, 13970 with
    24, growing with the count up to the end.

    ## Example
    ```yaml bad
    parallel: {pio_type: 2}
    lustre: {output: {stripe_count: 1}}
    #                               ^
    ```
    ```yaml good
    parallel: {pio_type: 1}
    lustre: {output: {stripe_count: 1}}
    ```

    ## References
    K. Ketelsen, Parallel IO on HLRN-IV systems (2021), section 3.
    """

    code = "LUS005"
    name = "shared-file-on-one-ost"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        block = _block(experiment, "output")
        last = block.extents[-1] if block is not None else None
        enough = stripes_for(experiment)
        if last is not None and last.count == 1 and enough is not None and enough[0] > 1:
            yield self.finding(
                last.place,
                "pio_type 2 has all I/O ranks write one file, stripe_count 1 puts it on one OST",
                f"expected: stripe_count {enough[0]} ({enough[1]}), or auto; on HLRN-IV 8 wrote 6.4 times as fast",
            )


class OstPinned(Rule):
    """All files begin on the same OST.

    ## What it does
    Finds a `stripe_index` other than -1, and a list of OSTs.

    ## Why it matters
    The first stripe of every file, and all of a file with one stripe, lies on this OST: it becomes the bottleneck of
    the run, and fills before the others. Left alone, Lustre chooses by load and space.

    ## Evidence
    Lustre manual: -1 is recommended. Among 1196 run scripts that were looked at are some that pin every directory with
    `lfs setstripe -i 0`.

    ## Example
    ```yaml bad
    lustre: {output: {stripe_count: 4, stripe_index: 0}}
    #                                                ^
    ```
    ```yaml good
    lustre: {output: {stripe_count: 4, stripe_index: -1}}
    ```

    ## References
    lfs-setstripe manual page.
    """

    code = "LUS006"
    name = "ost-pinned"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        for block in experiment.striping:
            for extent in block.extents:
                index, listed = (extent.settings.get(name) for name in ("stripe_index", "ost"))
                if index is not None and isinstance(index.value, int) and index.value >= 0:
                    yield self.finding(
                        index,
                        f"stripe_index {index.value} begins every file on one OST",
                        "expected: -1, which is the default, or no stripe_index",
                    )
                elif listed is not None:
                    yield self.finding(
                        listed,
                        f"ost {listed.value} puts all files on the same OSTs",
                        "expected: stripe_count, for which Lustre chooses by load and space, or a pool",
                    )


class StripingOffLustre(Rule):
    """Striping asked for where there is no Lustre.

    ## What it does
    Finds striping of a directory that lies on another file system, or on a node-local one.

    ## Why it matters
    The script skips it.

    ## Evidence
    `lfs setstripe` works on Lustre only; a node-local BeeGFS has a directory for each stripe count instead.

    ## Example
    ```yaml bad
    run_directory: /gpfs/bb1234/run
    lustre: {output: {stripe_count: 4}}
    #                               ^
    ```
    ```yaml good
    run_directory: /work/bb1234/run
    lustre: {output: {stripe_count: 4}}
    ```

    ## References
    lfs-setstripe manual page.
    """

    code = "LUS007"
    name = "striping-off-lustre"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        for block in experiment.striping:
            types = {_file_system(experiment, directory).type for directory in block.directories}
            first = block.place
            if first is None or not types or types & {"lustre", "unknown"}:
                continue
            note = "expected: a run directory on Lustre, or no striping"
            if experiment.node_local is not None:
                note = "expected: no striping; node_local.directory chooses it on a node-local file system"
            yield self.finding(
                first,
                f"striping of the {block.what} files is skipped: they lie on {', '.join(sorted(types))}, not on Lustre",
                note,
            )


class InputNotCopied(Rule):
    """Files that are only linked keep the layout they have.

    ## What it does
    Finds `lustre.input` where no input file is copied.

    ## Why it matters
    A layout is chosen when a file is created: striping the run directory does nothing for files that exist elsewhere.

    ## Evidence
    Lustre manual: on a directory, `lfs setstripe` sets the default of new files.

    ## Example
    ```yaml bad
    lustre: {input: {stripe_count: 4}}
    #                              ^
    ```
    ```yaml good
    lustre: {input: {stripe_count: 4}}
    input_files: {extpar.nc: {source: /work/bb1234/extpar.nc, method: copy}}
    ```

    ## References
    lfs-setstripe manual page.
    """

    code = "LUS008"
    name = "input-not-copied"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        block = _block(experiment, "input")
        first = block.place if block is not None else None
        if first is not None and all(file.method != "copy" for file in experiment.inputs):
            yield self.finding(
                first,
                "no input file is copied: linked files keep the layout they have",
                "expected: method copy for the large files of input_files, or no striping of the input",
            )


class TwoLayoutsForOneDirectory(Rule):
    """A directory has one default layout.

    ## What it does
    Finds two different layouts for the same directory: those of `lustre.restart` and `lustre.input`, which both mean
    the run directory, or that of `lustre.output`, where a stream writes into the run directory itself.

    ## Why it matters
    The layout that is set last holds for all files.

    ## Evidence
    Lustre manual: `lfs setstripe` on a directory replaces its default layout. ICON writes checkpoints into its run
    directory, where its input files lie too.

    ## Example
    ```yaml bad
    output: {atm: {output_filename: atm}}
    lustre: {output: {stripe_count: 4}, restart: {stripe_count: 1}}
    #                               ^
    ```
    ```yaml good
    output: {atm: {output_filename: out/atm}}
    lustre: {output: {stripe_count: 4}, restart: {stripe_count: 1}}
    ```

    ## References
    lfs-setstripe manual page.
    """

    code = "LUS009"
    name = "two-layouts-for-one-directory"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        for earlier, later in combinations(experiment.striping, 2):
            both = set(earlier.directories) & set(later.directories)
            if earlier.is_empty or later.is_empty or not both or _layout(earlier) == _layout(later):
                continue
            yield self.finding(
                earlier.place,
                f"lustre.{earlier.what} and lustre.{later.what} differ for the run directory: the last holds for both",
                "expected: one layout, or an output_filename with a directory of its own",
            )


def _layout(block: Striping) -> list[object]:
    return [
        (extent.end, {key: setting.value for key, setting in extent.settings.items() if key != "migrate"})
        for extent in block.extents
    ]
