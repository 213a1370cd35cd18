"""Whether an output fits the rank that receives it, and the node the ranks that sit on it; and where else they may sit.

An I/O rank holds the levels of one variable that it fetches at once, for the largest of cells, edges and vertices, and
one level more, in the order of the file (ICON 2024.10 `mo_name_list_output.f90:3057-3077`): never a whole output. The
whole of it lies with the workers: each keeps its part of every file for the I/O ranks to fetch
(`mo_name_list_output_init.f90:3106-3217`). What ICON takes besides is `experiment.nodes.BASE_BYTES`.
"""

from __future__ import annotations

from math import ceil
from typing import Literal

from nmlgen.advise.calibration import Calibration
from nmlgen.advise.experiment import Output, Situation, program_of, situation_on_any_device
from nmlgen.experiment.component import Component
from nmlgen.experiment.group import as_list, integer
from nmlgen.models.icon.nodes import BASE_BYTES
from nmlgen.models.icon.ranks import domains
from nmlgen.models.icon.volume import points
from nmlgen.values import frozen

_EDGES = 1.5  # a cell: the most points of the three kinds
_GRIB2 = 2

Place = Literal["last node", "spread", "own node"]


@frozen
class Seat:
    """One way to place the I/O ranks: so many of them on the fullest node, which then holds so many `bytes`.

    `receive_s` and `write_s` are for one output, if all ranks of that node are busy at once. Where they sit was not
    measured in any other way than at the end of the last node: the rest follows from the model.
    """

    place: Place
    how: str
    io_ranks: int
    bytes: float
    receive_s: float
    write_s: float


@frozen
class Memory:
    """What an experiment's output takes in memory.

    `rank_bytes` is what an I/O rank holds at most, for the variable with the most levels, `levels` of them at once;
    `window_bytes` what the workers of a node keep for it; `state_bytes` a checkpoint's part of a node, which the
    model's own fields take at least; `node_bytes` what a node has, None if that is not known.
    """

    rank_bytes: float
    levels: int
    window_bytes: float
    state_bytes: float
    base_bytes: float
    node_bytes: int | None
    seats: tuple[Seat, ...]

    @property
    def present(self) -> Seat:
        """As it is: the I/O ranks are the last ones, and so sit on the last node, unless programs are placed."""
        return self.seats[0]

    def fits(self, seat: Seat) -> bool | None:
        """Whether the node holds it; None if nobody knows how much it has."""
        return None if self.node_bytes is None else seat.bytes <= self.node_bytes


def memory_of(situation: Situation, calibration: Calibration) -> Memory:
    """What the output of an experiment takes in memory with its present layout."""
    component, case = situation.component, situation.case
    rank_bytes, levels = io_rank_bytes(component)
    window = window_bytes(component) / case.workers if case.io_ranks else 0.0
    a_node = case.ntasks / case.nodes
    return Memory(
        rank_bytes,
        levels,
        window * a_node,
        case.checkpoint_bytes / case.nodes,
        BASE_BYTES * a_node,
        _node_bytes(component),
        tuple(_seats(situation, calibration, rank_bytes, window)),
    )


def io_rank_bytes(component: Component) -> tuple[float, int]:
    """What an I/O rank holds at most, and of how many levels at once. Raises UndecidedError as `situation_of` does."""
    situation = situation_on_any_device(component)
    levels = max((_levels(component, output) for output in situation.outputs), default=0)
    chunk = integer(component["parallel_nml", "io_proc_chunk_size"])
    levels = min(levels, chunk) if chunk > 0 else levels
    largest = max(points(component, domain)["cell"] for domain in range(1, domains(component) + 1))
    held = (levels + 1) * _EDGES * largest * _widest(component) if levels else 0.0
    return held, levels


def window_bytes(component: Component) -> float:
    """What all workers together keep of every output for the I/O ranks to fetch. Raises UndecidedError as
    `situation_of` does."""
    width, outputs = _widest(component), situation_on_any_device(component).outputs
    return sum(output.step_bytes * width / _file_width(component, output) for output in outputs)


def _widest(component: Component) -> int:
    """Bytes of a value of the widest output on its way."""
    return max((_width(component, output) for output in situation_on_any_device(component).outputs), default=4)


def _seats(situation: Situation, calibration: Calibration, rank_bytes: float, window: float) -> list[Seat]:
    case = situation.case
    if not case.io_ranks or not case.output_bytes:
        return []
    constants, a_node = calibration.estimate.constants, ceil(case.ntasks / case.nodes)
    worker_bytes = window + case.checkpoint_bytes / case.workers + BASE_BYTES
    size, slices = case.output_bytes / 1e9, case.n_output_slices or case.output_bytes / 8 / case.n_cells
    fetching = constants.receive_rank * 1e-6 * slices * case.workers  # from workers on other nodes

    def seat(place: Place, how: str, number: int, beside: int, elsewhere: float, computing: float) -> Seat:
        shared = 1 + constants.contention * (number - 1)
        return Seat(
            place,
            how,
            number,
            number * (rank_bytes + BASE_BYTES) + beside * worker_bytes,
            (constants.receive * size + fetching * elsewhere) * shared,
            size / constants.writer * (1 + constants.beside * computing) * shared,
        )

    last, spread, others = min(case.io_ranks, a_node), ceil(case.io_ranks / case.nodes), (case.nodes - 1) / case.nodes
    program = program_of(situation.component)
    if program is not None:
        beside = seat("spread", "without io_nodes", spread, a_node - spread, others, 1.0)
        alone = program.said("io_nodes") or 1
        own = seat("own node", f"io_nodes: {alone}", ceil(case.io_ranks / alone), 0, 1.0, 0.0)
        return [own, beside] if program.said("io_nodes") else [beside, own]
    return [
        seat("last node", "as ICON numbers them", last, a_node - last, others, 1.0),
        seat("spread", "--distribution=cyclic, or a hostfile", spread, a_node - spread, others, 1.0),
        seat("own node", "a hostfile with one node more", case.io_ranks, 0, 1.0, 0.0),
    ]


def _width(component: Component, output: Output) -> int:
    """Bytes of a value on its way to an I/O rank (`mo_nml_crosscheck.f90:620-624`)."""
    is_double = component["parallel_nml", "use_dp_mpi2io"].value or component["io_nml", "lnetcdf_flt64_output"].value
    is_grib = component.stream_setting(output.stream, "filetype").value == _GRIB2
    return 8 if is_double or is_grib else 4


def _file_width(component: Component, output: Output) -> int:
    """Bytes of a value in the file."""
    if component.stream_setting(output.stream, "filetype").value == _GRIB2:
        return 2
    return 8 if component["io_nml", "lnetcdf_flt64_output"].value else 4


def _levels(component: Component, output: Output) -> int:
    """The most levels that a variable of an output may have."""
    if output.level_type == "ml":
        return integer(component["run_nml", "num_lev"]) + 1
    return len(as_list(component.stream_setting(output.stream, f"{output.level_type[0]}_levels").value))


def _node_bytes(component: Component) -> int | None:
    experiment, program = component.experiment, program_of(component)
    partition = experiment.directives.get("partition")
    if program is not None and "partition" in program.job:
        partition = program.job["partition"]
    known = experiment.machine.partitions.get(str(partition.value)) if partition is not None else None
    if known is not None and known.memory_per_node is not None:
        return known.memory_per_node
    return experiment.machine.memory_per_node
