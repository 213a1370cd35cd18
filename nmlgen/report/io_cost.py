"""What an I/O layout costs on GPUs, where only a user's own runs tell how long a model step takes, as text and JSON."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from nmlgen.advise.calibration import Range
from nmlgen.advise.figures import is_foreign
from nmlgen.advise.io_cost import IoCost, OutputCost
from nmlgen.advise.layout import Layout, present_layout
from nmlgen.advise.memory import memory_of
from nmlgen.experiment.setting import UndecidedError
from nmlgen.models.icon.nodes import nodes
from nmlgen.models.icon.placement import places
from nmlgen.report.quantities import counted
from nmlgen.report.table import format_table
from nmlgen.units.duration import Duration
from nmlgen.units.size import format_bytes
from nmlgen.units.wall_time import rough_time

_ANY = "whatever it does"
_SHORTEST_S = 1e-3  # no model step was ever measured below 2 ms, on any number of cores
_UNKNOWN = "How long a model step takes on these GPUs is not known: only runs of your own say it."


def format_io_cost(found: IoCost, name: str) -> str:
    """What is known of output and checkpoints, where I/O ranks sit, and how to find out the rest."""
    case, situation = found.situation.case, found.situation
    length, gpus = Duration.of_seconds(case.duration_s), counted(case.gpus or 0, "GPU")
    others = counted(case.io_ranks + case.restart_ranks, "rank")
    paragraphs = [
        f"{name}: {length} of model time, {case.n_cells} cells, {case.num_lev} levels, {gpus} on "
        f"{counted(case.nodes, 'node')}, {others} beside",
        f"{_UNKNOWN}\nWhat output and checkpoints cost is known:",
    ]
    if case.outputs:
        every = Duration.of_seconds(case.output_interval_s or 0.0)
        total = format_bytes(sum(output.run_bytes for output in situation.outputs))
        paragraphs.append(
            f"{counted(case.outputs, 'output')} of {format_bytes(round(case.output_bytes))}, one every {every}, "
            f"{total} in all"
        )
        paragraphs.append(_output_table(found))
    if case.checkpoints:
        paragraphs.append(_checkpoint_table(found))
    paragraphs.append("\n".join(f"* {sentence}" for sentence in io_sentences(found)))
    paragraphs.append("\n".join(f"note: {note}" for note in io_notes(found)))
    return "\n\n".join(paragraphs)


def _output_table(found: IoCost) -> str:
    now = present_layout(found.situation)
    headings = ("I/O ranks", "partitions", "a rank writes an output in", "nobody waits if a model step takes", "")
    rows = []
    for one in found.output:
        least = "all wait for each output"
        if one.layout.num_io_procs:
            least = _least_step(found, one)
        partitions = "+".join(map(str, one.layout.stream_partitions))
        mark = "now" if one.layout == now else ""
        rows.append((str(one.layout.num_io_procs), partitions, _span(one.write_s), least, mark))
    return format_table(headings, rows, colour=False, terminal=False)


def _least_step(found: IoCost, one: OutputCost) -> str:
    """The model step with which nobody waits for a layout's I/O ranks."""
    step = found.step_s(one.apart_s)
    return _ANY if step.high < _SHORTEST_S else f"{_span(step, is_step=True)} or more"


def _checkpoint_table(found: IoCost) -> str:
    now = present_layout(found.situation)
    every = Duration.of_seconds(found.situation.case.checkpoint_interval_s or 0.0)
    headings = ("restart_write_mode", "ranks", "a checkpoint takes", f"one every {every}", "")
    rows = []
    for one in found.checkpoints:
        who = "all wait" if one.stops else "beside those who compute"
        mark = "now" if _restart_of(one.layout) == _restart_of(now) else ""
        rows.append((one.layout.restart_write_mode, str(one.layout.num_restart_procs), _span(one.once_s), who, mark))
    return format_table(headings, rows, colour=False, terminal=False)


def _restart_of(layout: Layout) -> tuple[str, int]:
    return layout.restart_write_mode, layout.num_restart_procs


def io_sentences(found: IoCost) -> Iterator[str]:
    """What to make of the figures, and where ranks that write should sit."""
    case = found.situation.case
    if case.outputs:
        present = found.present
        if present is not None and case.io_ranks:
            least = _least_step(found, present)
            condition = "" if least == _ANY else f" if a model step takes {least}"
            yield f"With {counted(case.io_ranks, 'I/O rank')} nobody waits{condition}."
        elif present is not None:
            all_in_all = Range(present.write_s.low * case.outputs, present.write_s.high * case.outputs)
            yield f"Without I/O ranks all GPUs wait for rank 0 to write, {_span(all_in_all)} of the run."
        yield (
            "I/O ranks use no GPU: more of them take none away, only cores and memory. Take the first row whose model "
            "step is below yours."
        )
        yield from _seats(found)
    yield (
        "A run of yours says the rest: nmlgen calibrate LOG -o gpu.yaml (the build or the namelists beside the log), "
        "then nmlgen advise SPEC --calibration gpu.yaml."
    )


def _seats(found: IoCost) -> Iterator[str]:
    """Where the I/O ranks are, and where they might be."""
    component, case = found.situation.component, found.situation.case
    experiment = component.experiment
    program = next((one for one in experiment.programs if one.model == component.number), None)
    if program is None:
        yield (
            "Slurm deals the ranks to the nodes: an I/O rank may hold a GPU that a work rank misses. With device: gpu "
            "in the spec they sit on cores beside the work ranks, one on a node in turn, and hold none."
        )
        return
    place = places(experiment)[experiment.programs.index(program)]
    crews: list[int] = []
    with suppress(UndecidedError):
        crews = [node.crew.get((component.number, "io"), 0) for node in nodes(experiment)]
    seats = [count for count in crews if count]
    if seats and place.apart == place.work:
        yield (
            f"The I/O ranks sit on cores beside the work ranks, on {len(seats)} of {counted(len(place.work), 'node')}, "
            f"at most {max(seats)} on one, and hold no GPU. That is where they should be: a node of their own "
            "(io_nodes: 1) has more memory for them and its network to itself, but leaves its GPUs idle."
        )
    elif seats:
        yield (
            f"The I/O ranks sit on {counted(len(seats), 'node')} that compute nothing (io_nodes), at most {max(seats)} "
            "on one. Without io_nodes they sit on cores beside the work ranks; which is faster nobody has measured."
        )
    memory = memory_of(found.situation, found.calibration)
    if case.io_ranks and memory.node_bytes is not None:
        held = memory.rank_bytes * (max(seats) if seats else case.io_ranks)
        fits = "fits" if held < memory.node_bytes else "does not fit"
        yield (
            f"An I/O rank holds {format_bytes(round(memory.rank_bytes))} of the node's own memory at most: {fits} in "
            f"{format_bytes(memory.node_bytes)}."
        )


def io_notes(found: IoCost) -> Iterator[str]:
    """How far the figures can be trusted."""
    if is_foreign(found.situation, found.calibration):
        yield (
            f"site {found.situation.site} has no calibration: the figures are those of "
            f"{found.calibration.name.capitalize()}, with more room"
        )
    yield (
        "measured was all I/O ranks on one node; copying fields from the GPUs comes on top, and nobody has measured it"
    )
    doubts = (one.words for one in found.situation.unlike if one.writing != 1.0)
    yield from (f"outside what was measured: {words}" for words in doubts)


def io_cost_document(found: IoCost, name: str) -> dict[str, Any]:
    """The same for programs: seconds, bytes."""
    case = found.situation.case
    return {
        "name": name,
        "calibration": found.calibration.name,
        "gpus": case.gpus,
        "nodes": case.nodes,
        "step_s": None,
        "output_bytes": case.output_bytes,
        "outputs": case.outputs,
        "checkpoint_bytes": case.checkpoint_bytes,
        "output_candidates": [
            {
                "num_io_procs": one.layout.num_io_procs,
                "stream_partitions": list(one.layout.stream_partitions),
                "write_s": [one.write_s.low, one.write_s.high],
                "apart_s": [one.apart_s.low, one.apart_s.high],
                "is_present": one.layout == present_layout(found.situation),
            }
            for one in found.output
        ],
        "restart_candidates": [
            {
                "restart_write_mode": one.layout.restart_write_mode,
                "num_restart_procs": one.layout.num_restart_procs,
                "once_s": [one.once_s.low, one.once_s.high],
                "stops": one.stops,
            }
            for one in found.checkpoints
        ],
        "why": list(io_sentences(found)),
        "notes": list(io_notes(found)),
    }


def _span(seconds: Range, is_step: bool = False) -> str:
    say = _step if is_step else rough_time
    low, high = say(seconds.low), say(seconds.high)
    if low == high:
        return f"about {low}"
    words = low.split(), high.split()
    return f"{words[0][0]} to {high}" if words[0][1:] == words[1][1:] else f"{low} to {high}"


def _step(seconds: float) -> str:
    """A model step, with one digit."""
    return f"{float(f'{1000 * seconds:.1g}'):g} ms" if seconds < 0.95 else rough_time(seconds)
