"""Answers to single questions about an experiment's output: memory and placement, streams, nodes, formats."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

from nmlgen.advise.calibration import Calibration
from nmlgen.advise.experiment import Output, Situation
from nmlgen.advise.formats import FormatCost, format_costs
from nmlgen.advise.memory import Memory, memory_of
from nmlgen.advise.model import receiving_time
from nmlgen.advise.nodes import NodeCounts, node_counts
from nmlgen.advise.prediction import NOISE, predict
from nmlgen.advise.streams import StreamShares, stream_shares
from nmlgen.advise.unlike import widened
from nmlgen.units.size import format_bytes
from nmlgen.units.wall_time import rough_time, spoken_time
from nmlgen.values import evolve

Question = Literal["memory", "streams", "nodes", "formats"]
QUESTIONS: tuple[Question, ...] = ("memory", "streams", "nodes", "formats")


def answer(question: Question, situation: Situation, calibration: Calibration) -> str:
    """The answer to a question as text. Of GPUs, whose time no calibration of cores knows, bytes and what an I/O rank
    takes."""
    if not calibration.knows_steps_of(situation.case) and question != "memory":
        return "\n".join(_without_times(question, situation, calibration))
    lines: dict[Question, Callable[[], Iterator[str]]] = {
        "memory": lambda: _memory_lines(
            memory_of(situation, calibration),
            situation,
            widened(predict(situation.case, calibration), situation.unlike).is_far,
        ),
        "streams": lambda: _stream_lines(stream_shares(situation, calibration)),
        "nodes": lambda: _node_lines(node_counts(situation, calibration), situation),
        "formats": lambda: _format_lines(format_costs(situation, calibration)),
    }
    return "\n".join(lines[question]())


def answer_document(question: Question, situation: Situation, calibration: Calibration) -> dict[str, Any]:
    """The same for programs: bytes and seconds."""
    if not calibration.knows_steps_of(situation.case) and question != "memory":
        return _document_without_times(question, situation, calibration)
    if question == "memory":
        memory = memory_of(situation, calibration)
        return {
            "rank_bytes": memory.rank_bytes,
            "levels": memory.levels,
            "window_bytes": memory.window_bytes,
            "state_bytes": memory.state_bytes,
            "base_bytes": memory.base_bytes,
            "node_bytes": memory.node_bytes,
            "seats": [
                {
                    "place": seat.place,
                    "io_ranks": seat.io_ranks,
                    "bytes": seat.bytes,
                    "fits": memory.fits(seat),
                    "receive_s": seat.receive_s,
                    "write_s": seat.write_s,
                }
                for seat in memory.seats
            ],
        }
    if question == "streams":
        found = stream_shares(situation, calibration)
        return {
            "total_s": found.whole.total_s,
            "is_far": found.whole.is_far,
            "others": found.others,
            "streams": [
                {
                    "name": share.output.name,
                    "step_bytes": share.output.step_bytes,
                    "run_bytes": share.run_bytes,
                    "interval_s": share.output.interval_s,
                    "writer_share": share.writer_share,
                    "costs_s": share.costs_s,
                    "again_s": share.again_s,
                }
                for share in found.shares
            ],
        }
    if question == "formats":
        return {
            "formats": [
                {
                    "name": one.name,
                    "sets": one.sets,
                    "step_bytes": one.step_bytes,
                    "run_bytes": one.run_bytes,
                    "total_s": one.prediction.total_s,
                    "low_s": one.prediction.low_s,
                    "high_s": one.prediction.high_s,
                    "is_far": one.prediction.is_far,
                    "is_present": one.is_present,
                }
                for one in format_costs(situation, calibration)
            ]
        }
    counts = node_counts(situation, calibration)
    return {
        "worth": counts.worth,
        "floor_s": counts.floor_s,
        "nodes": [
            {
                "nodes": count.nodes,
                "num_io_procs": count.num_io_procs,
                "total_s": count.prediction.total_s,
                "low_s": count.prediction.low_s,
                "high_s": count.prediction.high_s,
                "is_far": count.prediction.is_far,
                "node_hours": count.node_hours,
            }
            for count in counts.counts
        ],
    }


def _memory_lines(memory: Memory, situation: Situation, is_far: bool) -> Iterator[str]:
    case, say = situation.case, rough_time if is_far else spoken_time
    if not memory.seats:
        yield "There are no I/O ranks: work rank 0 gathers one variable at a time, and its node has it all."
        return
    yield (
        f"An I/O rank holds {_size(memory.rank_bytes)}: {memory.levels} levels of one variable on their way and one in "
        f"the order of the file, not the {_size(case.output_bytes)} of an output."
    )
    yield f"The workers of a node keep {_size(memory.window_bytes)} of every output for the I/O ranks to fetch."
    if memory.node_bytes is not None:
        yield f"A node has {_size(memory.node_bytes)}."
    yield ""
    rows: list[tuple[str, ...]] = [("I/O ranks", "how", "on a node", "holds at least", "receives in", "writes in", "")]
    for seat in memory.seats:
        fits = {True: "fits", False: "does not fit", None: ""}[memory.fits(seat)]
        seconds = [say(value) for value in (seat.receive_s, seat.write_s)]
        rows.append((seat.place, seat.how, str(seat.io_ranks), _size(seat.bytes), *seconds, fits))
    yield from _table(rows)
    yield ""
    if memory.fits(memory.present) is False:
        levels = max(1, int(memory.levels / 4))
        yield (
            f"The last node does not hold its {memory.present.io_ranks} I/O ranks: fewer of them, spread them, or set "
            f"parallel_nml: io_proc_chunk_size (such as {levels}), which fetches so many levels at a time."
        )
    yield (
        "note: measured was only the end of the last node, with 32 GB on a node of 128 ranks for R2B5 and R2B6; the "
        "rest follows from ICON's source and the model. io_process_stride is about ranks that read."
    )


def _stream_lines(found: StreamShares) -> Iterator[str]:
    if not found.shares:
        yield "There is no output."
        return
    say = rough_time if found.whole.is_far else spoken_time
    rows: list[tuple[str, ...]] = [("stream", "an output", "in all", "a rank busy", "costs", "twice as often")]
    for share in found.shares:
        busy = "" if share.writer_share is None else f"{100 * share.writer_share:.0f} %"
        limit = NOISE * found.whole.total_s
        costs = [f"{say(value)}" if value > limit else "noise" for value in (share.costs_s, share.again_s)]
        rows.append((share.output.name, _size(share.output.step_bytes), _size(share.run_bytes), busy, *costs))
    yield from _table(rows)
    if found.others:
        yield f"and {found.others} more, each of which writes less in all"
    yield ""
    yield f"Of {found.whole}: what the run takes longer with the stream, and with twice as many outputs of it."
    first = found.shares[0]
    if (first.writer_share or 0.0) > 1:
        yield f"{first.output.name} needs more than its ranks can write: more stream_partitions, or a longer interval."


def _node_lines(found: NodeCounts, situation: Situation) -> Iterator[str]:
    rows: list[tuple[str, ...]] = [("nodes", "I/O ranks", "expected", "node hours", "")]
    for count in found.counts:
        hours = f"{count.node_hours:.3g}"
        if count.prediction.is_far:
            hours = f"about {float(f'{count.node_hours:.1g}'):.0f}"
        marks = ["now"] * (count.nodes == situation.case.nodes) + ["more do not pay"] * (count.nodes == found.worth)
        rows.append((str(count.nodes), str(count.num_io_procs), str(count.prediction), hours, ", ".join(marks)))
    yield from _table(rows)
    yield ""
    yield (
        f"Up to {found.worth} nodes twice as many make the run at least 1.5 times as fast. No number brings it below "
        f"{rough_time(found.floor_s)}: what a time step takes that no rank shares, and the start."
    )


def _format_lines(found: Sequence[FormatCost]) -> Iterator[str]:
    if not found:
        yield "There is no output."
        return
    rows: list[tuple[str, ...]] = [("format", "an output", "in all", "expected", "80 % between", "")]
    for one in found:
        low, high = one.prediction.low_s, one.prediction.high_s
        is_far = one.prediction.is_far
        between = str(one.prediction) if is_far else f"{spoken_time(low)} and {spoken_time(high)}"
        expected = "" if is_far else str(one.prediction)
        marks = "now" if one.is_present else one.sets
        rows.append((one.name, _size(one.step_bytes), _size(one.run_bytes), expected, between, marks))
    yield from _table(rows)
    yield ""
    yield from (
        "* Bytes follow from the values. Of GRIB2 a field that is constant takes none, and with lgribout_24bit some "
        "variables take 24 bits.",
        "* Measured was classic NetCDF. How fast HDF5 writes NetCDF-4, and how long an I/O rank packs GRIB2, nobody "
        "has measured: their times are those of so many bytes of classic NetCDF, with more room.",
        "* lgribout_compress_ccsds makes GRIB2 smaller without loss, by as much as the fields allow: the bytes are "
        "those without it.",
        "* ICON's namelists have nothing that compresses NetCDF; nccopy -d 1 does it afterwards.",
    )


_NO_STEPS = "How long a model step takes on these GPUs only runs of your own say, by nmlgen calibrate."


def _without_times(question: Question, situation: Situation, calibration: Calibration) -> Iterator[str]:
    """What is known of GPUs where no run on them was measured."""
    if question == "nodes":
        yield f"What other numbers of nodes take is not known. {_NO_STEPS}"
        return
    if not situation.outputs:
        yield "There is no output."
        return
    if question == "streams":
        yield from _table(
            [
                ("stream", "an output", "in all", "a rank writes it in"),
                *(
                    (one.name, _size(one.step_bytes), _size(one.run_bytes), rough_time(seconds))
                    for one, seconds in _alone(situation, calibration)
                ),
            ]
        )
    else:
        yield from _table(
            [
                ("format", "an output", "in all", ""),
                *(
                    (one.name, _size(one.step_bytes), _size(one.run_bytes), "now" if one.is_present else one.sets)
                    for one in format_costs(situation, calibration)
                ),
            ]
        )
    yield ""
    yield _NO_STEPS


def _document_without_times(question: Question, situation: Situation, calibration: Calibration) -> dict[str, Any]:
    """The same for programs: what nobody knows is left out."""
    if question == "nodes":
        return {"missing": _NO_STEPS}
    if question == "streams":
        streams = [
            {
                "name": one.name,
                "step_bytes": one.step_bytes,
                "run_bytes": one.run_bytes,
                "interval_s": one.interval_s,
                "write_s": seconds,
            }
            for one, seconds in _alone(situation, calibration)
        ]
        return {"missing": _NO_STEPS, "streams": streams}
    formats = [
        {
            "name": one.name,
            "sets": one.sets,
            "step_bytes": one.step_bytes,
            "run_bytes": one.run_bytes,
            "is_present": one.is_present,
        }
        for one in format_costs(situation, calibration)
    ]
    return {"missing": _NO_STEPS, "formats": formats}


def _alone(situation: Situation, calibration: Calibration) -> Iterator[tuple[Output, float]]:
    """Each output with the seconds in which an I/O rank that is alone receives and writes it."""
    constants, case = calibration.estimate.constants, situation.case
    for one in situation.outputs:
        of_it = evolve(case, output_bytes=one.step_bytes, n_output_slices=None)
        yield one, receiving_time(of_it, constants) + one.step_bytes / 1e9 / constants.writer


def _size(count: float) -> str:
    return format_bytes(round(count))


def _table(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    columns = [max(len(row[number]) for row in rows) for number in range(len(rows[0]))]
    for row in rows:
        yield "  ".join(cell.ljust(size) for cell, size in zip(row, columns, strict=True)).rstrip()
