"""From an experiment to what the model of its output is asked about: a Case, and what the Case does not see.

What is not known silences: a grid whose size its name does not tell, a date that only a shell knows.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from math import ceil
from typing import NamedTuple

from nmlgen.advise.case import Case
from nmlgen.experiment.component import Component
from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.group import Group, as_list, integer
from nmlgen.experiment.memory import remembered
from nmlgen.experiment.programs import Program
from nmlgen.experiment.setting import Setting, UndecidedError, unknown
from nmlgen.experiment.threads import NUM_THREADS, cores_of_a_task
from nmlgen.models.icon.clock import Clock, clock, length_from
from nmlgen.models.icon.output import windows
from nmlgen.models.icon.placement import SeatError, places
from nmlgen.models.icon.ranks import (
    OutputFile,
    PlacementError,
    domains,
    level_types,
    output_files,
    partition_count,
    placement,
    restart_mode,
    split,
    writes_output,
)
from nmlgen.models.icon.schedule import output_steps
from nmlgen.models.icon.volume import checkpoint_volume, points, step_volume
from nmlgen.units.whole import decimal
from nmlgen.values import evolve, field, frozen

_NWP = 3
_CDI_PIO = 2
_GRIB2, _NETCDF4 = 2, 5
_MARINE = ("ocean", "hamocc")
_GPU_PARTITION = ("gpu", "boost", "accel", "a100", "h100", "h200", "mi100", "mi200", "mi300")
_GPU_DIRECTIVES = ("gres", "tres-per-task", "tres-per-node", "partition")
_GPU_STEP = "how long a model step takes on GPUs"
_MOST_PARTITIONS = 256  # more than ICON has room for


@frozen
class Output:
    """What one level type of a stream writes: `step_bytes` at each of `steps` output times, every `interval_s`
    seconds of model time, in turn to the files of `partitions`; of `domains` each has as many. Where a nest is computed
    in a part of the time only, the times are those of the domain that has most, and the bytes their mean.

    `pe_placement` are the I/O ranks that are named for them. `file_s` is the model time of one file,
    None where files have no time of their own; `is_whole` says that it cannot
    be partitioned.
    """

    stream: Group = field(eq=False)
    level_type: str
    step_bytes: int
    steps: int
    interval_s: float
    partitions: int
    file_s: float | None
    is_whole: bool
    pe_placement: tuple[int, ...] = ()
    domains: tuple[int, ...] = (1,)

    @property
    def name(self) -> str:
        """What a table calls it."""
        return f"{self.stream.title} ({self.level_type})"

    @property
    def variable(self) -> str:
        """The variable of output_nml that says into how many partitions it is split."""
        return f"stream_partitions_{self.level_type}"

    @property
    def run_bytes(self) -> int:
        """What it writes in the whole experiment."""
        return self.step_bytes * self.steps

    def fits(self, partitions: int) -> bool:
        """Whether files hold a whole number of the steps that a partition writes, as OUT007 asks for."""
        if self.file_s is None or self.file_s == self.interval_s:
            return True
        step = self.interval_s * partitions
        return self.file_s >= step and self.file_s % step == 0


class Unlike(NamedTuple):
    """One thing in which an experiment is unlike all that was measured, in words.

    How far it may lie off: by which factor a model step, and by which one writing, may take more or less than the
    model says. A judgement, not a measurement. None where nothing can be said at all; what `only_delays` makes nothing
    faster all the same.
    """

    words: str
    computing: float | None = 1.0
    writing: float | None = 1.0
    only_delays: bool = False


@frozen
class Situation:
    """What an experiment gives the advisor.

    `case` is the whole experiment, all its jobs together, as it stands; of several `outputs`, the largest first, it has
    the sum in the rhythm of the largest. `component` is what all that was taken from, for whoever asks when which file
    is written. `unlike` is what no measurement behind the model covers and the numbers of the case do not tell; `site`
    is where it runs, on so many `cores`, or GPUs.
    """

    case: Case
    outputs: tuple[Output, ...]
    site: str
    cores: int
    unlike: tuple[Unlike, ...] = ()
    calibration: str | None = None
    component: Component = field(eq=False, repr=False, kw_only=True)

    @property
    def doubts(self) -> tuple[str, ...]:
        """In what it is unlike all that was measured, in words."""
        return tuple(one.words for one in self.unlike)

    @property
    def is_placed(self) -> bool:
        """Whether I/O ranks are named for files."""
        return any(output.pe_placement for output in self.outputs)


def _depths(component: Component) -> dict[int, int]:
    """By domain how deep it is nested; each level halves the time step (`mo_nh_stepping.f90`). A nest of which nobody
    says the parent is taken for one of the domain before it."""
    parents = as_list(component["grid_nml", "dynamics_parent_grid_id"].value)
    depths = {1: 0}
    for domain in range(2, domains(component) + 1):
        given = parents[domain - 1] if domain <= len(parents) else 0
        parent = given if isinstance(given, int) and 0 < given < domain else domain - 1
        depths[domain] = depths[parent] + 1
    return depths


@remembered
def situation_of(component: Component) -> Situation:
    """What an experiment gives the advisor.

    Raises UndecidedError for settings that nobody can know, for a grid whose name does not tell its size, for a layout
    with which ICON does not start, and for a job on GPUs: what a model step takes there is known to nobody but who
    measured it.
    """
    _not_on_gpus(component)
    return situation_on_any_device(component)


@remembered
def without_checkpoints(component: Component) -> Situation:
    """The same with checkpoints of no bytes: how large they are takes the longest to find out. Errors as
    `situation_of`."""
    _not_on_gpus(component)
    return _outline(component)


def _not_on_gpus(component: Component) -> None:
    if (gpu := _gpu(component.experiment)) is not None:
        raise UndecidedError(gpu)


@remembered
def situation_on_any_device(component: Component) -> Situation:
    """The same for a job on GPUs, too: its case has `gpus`, on which a step takes what a calibration by runs of that
    kind says, and no other one. Raises UndecidedError for all else."""
    found = _outline(component)
    if found.case.checkpoint_interval_s is None:
        return found
    return evolve(found, case=evolve(found.case, checkpoint_bytes=checkpoint_volume(component).best))


@remembered
def _outline(component: Component) -> Situation:
    time = clock(component)
    ranks = split(component)
    if ranks.work < 1:
        raise UndecidedError(_unusable(component, "parallel_nml", "num_io_procs"))
    mode = restart_mode(component)
    if mode is None:
        raise UndecidedError(_unusable(component, "io_nml", "restart_write_mode"))
    cells = sum(points(component, domain)["cell"] << depth for domain, depth in _depths(component).items())
    on_gpus = _computes_on_gpus(component)
    try:
        case = Case(
            n_cells=cells,
            num_lev=_levels(component),
            nodes=_own_nodes(component),
            ntasks=ranks.work + ranks.io + ranks.restart,
            cores_per_task=1 if on_gpus else _cores_per_task(component.experiment),
            gpus=ranks.work if on_gpus else None,
            dtime_s=time.step / 1000,
            n_steps=time.computed // time.step,
            num_io_procs=ranks.io,
            restart_write_mode=mode.value,
            num_restart_procs=max(0, integer(component["parallel_nml", "num_restart_procs"])),
            checkpoint_interval_s=_checkpoint_interval(component, time),
        )
    except ValueError:  # no job has such numbers; rules say so
        raise UndecidedError(_unusable(component, "run_nml", "num_lev")) from None
    outputs = tuple(sorted(_outputs(component, time), key=lambda output: -output.run_bytes))
    return Situation(
        with_output(component, case, outputs),
        outputs,
        component.experiment.machine.name,
        case.gpus or max(ranks.total, _own_nodes(component) * (component.experiment.machine.cores_per_node or 0)),
        tuple(_unlike(component)),
        component.experiment.machine.calibration,
        component=component,
    )


def most_files_on_a_rank(outputs: Iterable[Output], files: Iterable[tuple[OutputFile, int]]) -> int:
    """The most files of these outputs that one rank writes."""
    writing = {(id(output.stream), output.level_type) for output in outputs}
    ranks = Counter(rank for file, rank in files if (id(file.stream), file.level_type) in writing)
    return max(ranks.values(), default=1)


def _unusable(component: Component, group: str, name: str) -> Setting:
    return unknown(f"{group}.{name}", component[group, name].span)


def with_output(component: Component, case: Case, outputs: tuple[Output, ...]) -> Case:
    """The case with these outputs, the largest first, as one stream in the rhythm of the first."""
    if not outputs:
        return case
    largest = outputs[0]
    step = sum(output.run_bytes for output in outputs) / largest.steps
    most = None
    if case.num_io_procs and any(output.pe_placement for output in outputs):
        with suppress(PlacementError):  # ICON does not start; a rule says so
            most = most_files_on_a_rank(outputs, placement(component))
    return evolve(
        case,
        output_bytes=step,
        output_interval_s=largest.interval_s,
        stream_partitions=sum(output.partitions * len(output.domains) for output in outputs),
        files_on_a_rank=most,
        n_output_slices=max(1, round(step / (case.n_cells * _width(component, largest.stream)))),
    )


def _width(component: Component, stream: Group) -> int:
    """Bytes of a value."""
    if component.stream_setting(stream, "filetype").value == _GRIB2:
        return 2
    return 8 if component["io_nml", "lnetcdf_flt64_output"].value else 4


def _outputs(component: Component, time: Clock) -> Iterator[Output]:
    if not writes_output(component):
        return
    written = [(stream, kind) for stream in component.streams for kind in level_types(component, stream)]
    domains: defaultdict[tuple[int, str], dict[int, None]] = defaultdict(dict)
    for file in output_files(component):
        domains[id(file.stream), file.level_type][file.domain] = None
    for stream, kind in written:
        partitions = partition_count(component, stream, kind)
        if not 0 < partitions <= _MOST_PARTITIONS:
            setting = component.stream_setting(stream, f"stream_partitions_{kind}")
            raise UndecidedError(unknown(f"output_nml.stream_partitions_{kind}", setting.span))
        here = domains[id(stream), kind]
        times = {domain: output_steps(component, stream, time, kind, domain) for domain in here}
        of = tuple(domain for domain, steps in times.items() if steps > 0)
        if not of:
            continue
        steps = max(times.values())
        run_bytes = sum(step_volume(component, stream, kind, domain).best * times[domain] for domain in of)
        length = length_from(time.calendar, time.start, component.stream_setting(stream, "file_interval"))
        yield Output(
            stream,
            kind,
            run_bytes // steps,
            steps,
            _interval(component, stream, time, steps),
            partitions,
            length / 1000 if length and length > 0 else None,
            bool(str(component.stream_setting(stream, "operation").value).strip()),
            _named_ranks(component, stream, kind),
            of,
        )


def _named_ranks(component: Component, stream: Group, kind: str) -> tuple[int, ...]:
    """The I/O ranks that pe_placement names; none where it is left to ICON."""
    setting = component.stream_setting(stream, f"pe_placement_{kind}")
    ranks = as_list(setting.value)
    if not all(isinstance(rank, int) for rank in ranks):
        raise UndecidedError(setting)
    return tuple(ranks) if any(rank >= 0 for rank in ranks) else ()


def _interval(component: Component, stream: Group, time: Clock, steps: int) -> float:
    """The output interval in seconds, over the whole experiment: a stream that writes in a part of it only, or in
    several windows, counts with the mean."""
    found = windows(component, stream, time)
    if len(found) == 1 and found[0].start <= 0 and found[0].stop >= time.length:
        return found[0].interval / 1000
    return time.computed / 1000 / max(1, steps - 1)


def _checkpoint_interval(component: Component, time: Clock) -> float | None:
    """The seconds from one checkpoint to the next, None if the run writes none."""
    keywords = as_list(component["run_nml", "output"].value)
    if all(str(word).strip().lower() in ("", "none") for word in keywords):
        return None
    intervals = [interval for interval in (time.checkpoint, time.restart) if interval and interval <= time.length]
    return min(intervals) / 1000 if intervals else None


def _levels(component: Component) -> int:
    """The levels of the first domain: those of the sea for what lives there."""
    group, name = ("ocean_dynamics_nml", "n_zlev") if component.kind in _MARINE else ("run_nml", "num_lev")
    return integer(component[group, name])


def _part(component: Component, of_job: int) -> int:
    """Of the job's nodes or cores those on which a component runs, by its part of the tasks."""
    if len(component.experiment.models) < 2:
        return of_job
    own, every = integer(component.tasks), integer(component.experiment.tasks)
    return max(1, ceil(of_job * own / every))


def _own_nodes(component: Component) -> int:
    """The nodes on which it computes: those where its program is placed, else its part of the job's."""
    program = program_of(component)
    if program is None:
        return _part(component, _nodes(component))
    try:
        return len(places(component.experiment)[component.experiment.programs.index(program)].work)
    except SeatError as error:
        raise UndecidedError(error.setting or unknown("job.nodes")) from None


def program_of(component: Component) -> Program | None:
    """Where its ranks are placed: the program that says how."""
    return next((one for one in component.experiment.programs if one.model == component.number), None)


def _nodes(component: Component) -> int:
    """The nodes that are asked for, else those that so many tasks fill."""
    directives = component.experiment.directives
    if "nodes" in directives:
        return integer(directives["nodes"])
    on_a_node = directives["ntasks-per-node"].value if "ntasks-per-node" in directives else None
    on_a_node = on_a_node or component.experiment.machine.cores_per_node
    if not isinstance(on_a_node, int):
        raise UndecidedError(unknown("job.nodes"))
    return ceil(integer(component.experiment.tasks) / on_a_node)


def _gpu(experiment: Experiment) -> Setting | None:
    """What asks for GPUs: no run on any was measured, and no core computes there."""
    for program in experiment.programs:
        if program.uses_gpus:
            return unknown(_GPU_STEP, program.settings["device"].span)
    for name in experiment.directives:
        if name.startswith("gpu") or name in _GPU_DIRECTIVES:
            setting = experiment.directives[name]
            value = str(setting.value).lower()
            is_gpu_partition = value.endswith("-g") or any(word in value for word in _GPU_PARTITION)
            if name.startswith("gpu") or (is_gpu_partition if name == "partition" else "gpu" in value):
                return unknown(_GPU_STEP, setting.span)
    return None


def _computes_on_gpus(component: Component) -> bool:
    """Whether its work ranks have a GPU each: as its program says, else as the job asks for them."""
    program = program_of(component)
    return _gpu(component.experiment) is not None if program is None else program.uses_gpus


def _cores_per_task(experiment: Experiment) -> int:
    """The cores on which the threads of one task compute: those of --cpus-per-task, no more than its share of the node,
    as Slurm counts two threads of a core where they are on, and no more than OMP_NUM_THREADS."""
    cores = cores_of_a_task(experiment.directives, experiment.machine)
    threads = experiment.environment.get(NUM_THREADS)
    if threads is not None and (count := decimal(str(threads.value))) is not None:
        cores = min(cores, count)
    return max(1, cores)


def _unlike(component: Component) -> Iterator[Unlike]:
    """What the measured runs did not have."""
    yield from _unlike_nodes(component)
    if len(component.experiment.models) > 1:
        words = "several models share the job, and wait for each other: measured with one only"
        yield Unlike(words, computing=None, only_delays=True)
    if component.kind not in (None, "atmosphere"):
        yield Unlike(f"it is no atmosphere but {component.kind}: measured with the atmosphere only", computing=None)
    elif (physics := component["run_nml", "iforcing"]).value != _NWP:
        words = f"iforcing is {physics.value}: a model step was measured with NWP physics (3) only"
        yield Unlike(words, computing=4.0)
    if component["grid_nml", "l_limited_area"].value:
        yield Unlike("a limited area, with boundaries to read: measured on global grids only", computing=1.5)
    if domains(component) > 1:
        yield Unlike("nests count as cells that step more often: measured on one domain only", computing=2.0)
    if component["parallel_nml", "pio_type"].value == _CDI_PIO:
        yield Unlike("pio_type is 2: output by CDI-PIO was not measured", writing=None)
    yield from _unlike_streams(component)


def _unlike_streams(component: Component) -> Iterator[Unlike]:
    """The same of the streams: each kind once, as what is not known of one is not known of others in the same way."""
    for name, value, is_what, computing, writing in _UNLIKE_STREAMS:
        some = [stream for stream in component.streams if component.stream_setting(stream, name).value == value]
        if some:
            which = f"{some[0].title} is" if len(some) == 1 else f"{some[0].title} and {len(some) - 1} more are"
            yield Unlike(f"{which} {is_what}", computing, writing)


_UNLIKE_STREAMS = (
    ("filetype", _NETCDF4, "NetCDF-4: measured with classic NetCDF only", 1.0, 1.5),
    ("filetype", _GRIB2, "GRIB2: measured with NetCDF only", 1.0, 4.0),
    ("remap", 1, "interpolated to a regular grid: measured on the model's own only", 1.5, 4.0),
)


def _unlike_nodes(component: Component) -> Iterator[Unlike]:
    """The same of the nodes, and what computes there."""
    threads = component.experiment.directives.get("cpus-per-task")
    if _computes_on_gpus(component):
        yield Unlike("GPUs compute: writing was measured beside processors that compute", writing=1.5)
    elif _gpu(component.experiment) is not None:
        yield Unlike("it computes on the processors beside GPUs: measured on nodes without", computing=2.0)
    elif threads is not None and threads.value != 1:
        yield Unlike(f"cpus_per_task is {threads.value}: measured with one core a task only", computing=2.0)
    if component.experiment.node_local is not None:
        yield Unlike("a node-local file system: all but one figure are of Lustre", writing=6.0)
