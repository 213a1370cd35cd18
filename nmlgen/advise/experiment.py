"""From an experiment to what the model of its output is asked about: a Case, and what the Case does not see.

What is not known silences: a grid whose size its name does not tell, a date that only a shell knows.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from attrs import frozen

from nmlgen.advise.case import Case
from nmlgen.experiment.clock import Clock, clock
from nmlgen.experiment.experiment import Experiment, Group, as_list
from nmlgen.experiment.memory import remembered
from nmlgen.experiment.output import output_steps, windows
from nmlgen.experiment.ranks import domains, integer, output_files, restart_mode, split
from nmlgen.experiment.setting import UndecidedError, unknown
from nmlgen.experiment.volume import checkpoint_volume, points, step_volume

_NWP = 3
_CDI_PIO = 2
_GRIB2 = 2


@frozen
class Output:
    """What one level type of a stream writes: `step_bytes` at each of `steps` output times, every `interval_s`
    seconds of model time, in turn to the files of `partitions`."""

    stream: Group
    level_type: str
    domain: int
    step_bytes: int
    steps: int
    interval_s: float
    partitions: int

    @property
    def name(self) -> str:
        """What a table calls it."""
        return f"{self.stream.title} ({self.level_type})"

    @property
    def run_bytes(self) -> int:
        """What it writes in the whole experiment."""
        return self.step_bytes * self.steps


@frozen
class Situation:
    """What an experiment gives the advisor.

    `case` is the whole experiment, all its jobs together, as it stands, with the `outputs` that write most as its only
    one; `outputs` holds all of them, the largest first. `doubts` are what no measurement behind the model covers and
    the numbers of the case do not tell.
    """

    case: Case
    outputs: tuple[Output, ...]
    doubts: tuple[str, ...] = ()


@remembered
def situation_of(experiment: Experiment) -> Situation:
    """What an experiment gives the advisor.

    Raises UndecidedError for settings that nobody can know, for a grid whose name does not tell its size, and for a
    layout with which ICON does not start.
    """
    time = clock(experiment)
    ranks = split(experiment)
    if ranks.work < 1:
        raise UndecidedError(unknown("parallel_nml.num_io_procs", experiment["parallel_nml", "num_io_procs"].span))
    cells = points(experiment)["cell"]
    outputs = tuple(sorted(_outputs(experiment, time), key=lambda output: -output.run_bytes))
    largest = outputs[0] if outputs else None
    mode = restart_mode(experiment)
    if mode is None:
        raise UndecidedError(unknown("io_nml.restart_write_mode", experiment["io_nml", "restart_write_mode"].span))
    interval = _checkpoint_interval(experiment, time)
    try:
        case = Case(
            n_cells=cells,
            num_lev=integer(experiment["run_nml", "num_lev"]),
            nodes=_nodes(experiment),
            ntasks=ranks.total,
            dtime_s=time.step / 1000,
            n_steps=time.length // time.step,
            output_bytes=largest.step_bytes if largest else 0,
            output_interval_s=largest.interval_s if largest else None,
            num_io_procs=ranks.io,
            stream_partitions=largest.partitions if largest else 1,
            restart_write_mode=mode.value,
            num_restart_procs=max(0, integer(experiment["parallel_nml", "num_restart_procs"])),
            checkpoint_bytes=checkpoint_volume(experiment).best if interval else 0,
            checkpoint_interval_s=interval,
            n_output_slices=_slices(experiment, largest, cells) if largest else None,
        )
    except ValueError:  # a number that no job has; a rule says so
        raise UndecidedError(unknown("run_nml.num_lev")) from None
    return Situation(case, outputs, tuple(_doubts(experiment)))


def _outputs(experiment: Experiment, time: Clock) -> Iterator[Output]:
    for file in output_files(experiment):
        if file.partition != 1:
            continue
        steps = output_steps(experiment, file.stream, time, file.level_type)
        if steps > 0:
            volume = step_volume(experiment, file.stream, file.level_type, file.domain)
            interval = _interval(experiment, file.stream, time, steps)
            yield Output(
                file.stream, file.level_type, file.domain, volume.best, steps, interval, file.partitions
            )


def _interval(experiment: Experiment, stream: Group, time: Clock, steps: int) -> float:
    """The output interval in seconds, over the whole experiment: a stream that writes in a part of it only, or in
    several windows, counts with the mean."""
    found = windows(experiment, stream, time)
    if len(found) == 1 and found[0].start <= 0 and found[0].stop >= time.length:
        return found[0].interval / 1000
    return time.length / 1000 / max(1, steps - 1)


def _checkpoint_interval(experiment: Experiment, time: Clock) -> float | None:
    """The seconds from one checkpoint to the next, None if the run writes none."""
    keywords = as_list(experiment["run_nml", "output"].value)
    if all(str(word).strip().lower() in ("", "none") for word in keywords):
        return None
    intervals = [interval for interval in (time.checkpoint, time.restart) if interval and interval <= time.length]
    return min(intervals) / 1000 if intervals else None


def _nodes(experiment: Experiment) -> int:
    """The nodes that are asked for, else those that so many tasks fill."""
    directives = experiment.directives
    if "nodes" in directives:
        return int(directives["nodes"].value)
    on_a_node = directives["ntasks-per-node"].value if "ntasks-per-node" in directives else None
    on_a_node = on_a_node or experiment.machine.cores_per_node
    if not isinstance(on_a_node, int):
        raise UndecidedError(unknown("job.nodes"))
    return ceil(experiment.tasks.value / on_a_node)


def _slices(experiment: Experiment, output: Output, cells: int) -> int:
    """How many two-dimensional fields one output time has."""
    if experiment.stream_setting(output.stream, "filetype").value == _GRIB2:
        width = 2
    else:
        width = 8 if experiment["io_nml", "lnetcdf_flt64_output"].value else 4
    return max(1, round(output.step_bytes / (cells * width)))


def _doubts(experiment: Experiment) -> Iterator[str]:
    """What the measured runs did not have, in words."""
    physics = experiment["run_nml", "iforcing"]
    if physics.value != _NWP:
        yield f"iforcing is {physics.value}: measured with NWP physics only, on which the time of a model step depends"
    if domains(experiment) > 1:
        yield "several domains: measured with one only"
    if experiment["parallel_nml", "pio_type"].value == _CDI_PIO:
        yield "pio_type 2: output by CDI-PIO was not measured"
    threads = experiment.directives.get("cpus-per-task")
    if threads is not None and threads.value != 1:
        yield f"cpus_per_task is {threads.value}: measured with one core a task"
    if experiment.node_local is not None:
        yield "a node-local file system: measured on Lustre only"
    for stream in experiment.streams:
        if experiment.stream_setting(stream, "filetype").value == _GRIB2:
            yield f"{stream.title} is GRIB2: measured with NetCDF only"
        if experiment.stream_setting(stream, "remap").value == 1:
            yield f"{stream.title} is interpolated to a regular grid: measured on the model's own only"
