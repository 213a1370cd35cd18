"""Advice on an experiment's layout: what each choice would take, a chart, and why, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nmlgen.advise.advice import Advice, ComponentAdvice
from nmlgen.advise.busy_ranks import BUSY, share_of_writing
from nmlgen.advise.case import ASYNC, DEDICATED, JOINT, SYNC
from nmlgen.advise.figures import is_foreign
from nmlgen.advise.memory import memory_of
from nmlgen.advise.node_local import GAIN, LARGE_PIECE, OnNodes
from nmlgen.advise.prediction import NOISE
from nmlgen.advise.ranking import Candidate
from nmlgen.advise.savings import savings
from nmlgen.experiment.component import Component
from nmlgen.experiment.setting import UndecidedError
from nmlgen.models.icon.checkpoints import checkpoints_of
from nmlgen.models.icon.nodes import node_count, nodes
from nmlgen.report.quantities import counted
from nmlgen.units.duration import Duration
from nmlgen.units.size import format_bytes
from nmlgen.units.wall_time import rough_time, spoken_time
from nmlgen.values import evolve
from nmlgen.visible import Shown, joined, visible

PARTS = {
    "computing": ("start-up", "computing"),
    "waiting for writers": ("waiting for writers",),
    "synchronous writes": ("synchronous writes",),
    "checkpoints": ("checkpoints",),
    "ranks taken away": ("ranks taken away",),
}
"""Where the time goes, by the parts of a prediction."""

_MARKS = {True: "█▓▒░·", False: "#wsc-"}
_TONES = ("34", "31", "31", "35", "33")
_SHORTEST_BAR = 20


def advice_document(advice: Advice, name: str) -> dict[str, Any]:
    """The advice for programs: seconds, bytes, core-hours."""
    return {
        "name": name,
        "calibration": advice.calibration.name,
        "quantities": {
            "nodes": advice.situation.case.nodes,
            "step_s": advice.step_s,
            "output_interval_s": advice.situation.case.output_interval_s,
            "output_bytes": advice.situation.case.output_bytes,
            "received_bytes_per_s": advice.received_bytes_per_s,
            "written_bytes_per_s": advice.written_bytes_per_s,
        },
        "outputs": [
            {"name": output.name, "step_bytes": output.step_bytes, "interval_s": output.interval_s}
            for output in advice.situation.outputs
        ],
        "present": _document(advice.present),
        "recommended": _document(advice.best),
        "cost": {"seconds": advice.cost_s, "share": advice.cost, "core_hours": advice.core_hours},
        "is_good": advice.is_good,
        "set": settings(advice),
        "why": list(why(advice)),
        "notes": list(notes(advice)),
        "stripes": [
            {"what": one.what, "present": one.present, "enough": one.enough, "reason": one.reason}
            for one in advice.stripes
        ],
        "savings": [
            {
                "set": dict(one.settings),
                "bytes": one.bytes,
                "share": one.share,
                "seconds": one.seconds,
                "lost": one.lost,
            }
            for one in savings(advice.situation)
        ],
        "node_local": None if advice.on_nodes is None else _on_nodes_document(advice.on_nodes),
        "output_candidates": [_document(candidate) for candidate in advice.output],
        "restart_candidates": [_document(candidate) for candidate in advice.restart],
    }


def _on_nodes_document(found: OnNodes) -> dict[str, Any]:
    return {
        "name": found.name,
        "is_used": found.is_used,
        "gain_s": found.gain_s,
        "piece_bytes": found.piece_bytes,
        "is_shared": found.is_shared,
        "copy_bytes": found.copy_bytes,
        "copy_s": found.copy_s,
    }


def _document(candidate: Candidate) -> dict[str, Any]:
    layout, prediction = candidate.layout, candidate.prediction
    return {
        "num_io_procs": layout.num_io_procs,
        "stream_partitions": list(layout.stream_partitions),
        "restart_write_mode": layout.restart_write_mode,
        "num_restart_procs": layout.num_restart_procs,
        "total_s": prediction.total_s,
        "low_s": prediction.low_s,
        "high_s": prediction.high_s,
        "is_far": prediction.is_far,
        "parts_s": dict(prediction.parts),
    }


def settings(advice: Advice) -> dict[str, int | str]:
    """What to set in a spec to have the recommended layout: only what is another than now."""
    now, then = advice.present.layout, advice.best.layout
    component, found = advice.situation.component, dict[str, int | str]()
    if now.num_io_procs != then.num_io_procs:
        found["parallel.num_io_procs"] = then.num_io_procs
    for output, before, after in zip(
        advice.situation.outputs, now.stream_partitions, then.stream_partitions, strict=True
    ):
        if before != after:
            found[f"output.{output.stream.title}.{output.variable}"] = after
        if output.pe_placement and now.is_spread != then.is_spread:
            found[f"output.{output.stream.title}.pe_placement_{output.level_type}"] = "null"
    if now.restart_write_mode != then.restart_write_mode:
        found["restart.restart_write_mode"] = then.restart_write_mode
    if now.num_restart_procs != then.num_restart_procs:
        found["restart.num_restart_procs"] = then.num_restart_procs
    if len(component.experiment.models) > 1:
        label = component.model.label or component.title
        return {f"models.{label}.{key}": value for key, value in found.items()}
    return found


def side_by_side(advices: Sequence[ComponentAdvice]) -> str:
    """Which of several models that run side by side the others wait for."""
    known = [(one.title, one.advice.present.prediction) for one in advices if one.advice is not None]
    if len(known) < len(advices):
        return "The models run side by side, and the slowest decides: which that is is not known."
    slowest, prediction = max(known, key=lambda item: item[1].total_s)
    others = ", ".join(f"{title} {other}" for title, other in known if title != slowest)
    if any(other.high_s > prediction.low_s for title, other in known if title != slowest):
        return f"The models run side by side; the slowest decides, likely {slowest}: {prediction}, against {others}."
    return (
        f"The models run side by side, and the slowest decides, {slowest}: {prediction}, against {others}. Tasks are "
        f"better given to {slowest}."
    )


def format_advice(advice: Advice, name: str, width: int, unicode: bool = True, colour: bool = False) -> str:
    """The advice as text: what decides, the candidates with bars, what to do and why."""
    paragraphs = [
        f"{name}: {_span_of(advice)} on {counted(advice.situation.case.nodes, 'node')}",
        _format_quantities(advice),
        *_charts(advice, width, unicode, colour),
        "\n".join(_verdict(advice)),
        "\n".join(f"* {sentence}" for sentence in why(advice)),
        _format_savings(advice),
        "\n".join(f"note: {note}" for note in notes(advice)),
    ]
    return joined("\n\n", (paragraph for paragraph in paragraphs if paragraph))


def _format_savings(advice: Advice) -> str:
    """What would make the output smaller, a row each."""
    found = savings(advice.situation)
    if not found:
        return ""
    total = sum(output.run_bytes for output in advice.situation.outputs)
    rows = [(f"less than {format_bytes(total)}", "saves", "", "time", "lost")]
    for one in found:
        time = "not measured" if one.seconds is None else f"-{spoken_time(one.seconds)}" if one.seconds else "noise"
        what = ", ".join(f"{key}: {_spelt(value)}" for key, value in one.settings.items())
        rows.append((what, format_bytes(round(one.bytes)), f"{100 * one.share:.0f} %", time, one.lost))
    columns = [max(len(row[number]) for row in rows) for number in range(5)]
    lines = ["  ".join(cell.ljust(size) for cell, size in zip(row, columns, strict=True)).rstrip() for row in rows]
    return "\n".join(lines)


def _spelt(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _span_of(advice: Advice) -> str:
    case = advice.situation.case
    length = Duration.of_seconds(case.duration_s)
    return f"{length} of model time, {case.n_cells} cells, {case.num_lev} levels, {counted(case.ntasks, 'task')}"


def _format_quantities(advice: Advice) -> str:
    case = advice.situation.case
    rows = [
        ("nodes", str(case.nodes)),
        ("compute time between model steps", f"{1000 * advice.step_s:.0f} ms"),
    ]
    if case.output_interval_s is not None:
        steps = case.output_interval_s / case.dtime_s
        rows += [
            (
                "output interval",
                f"{Duration.of_seconds(case.output_interval_s)}, {steps:.3g} model steps: "
                f"{_said(advice, steps * advice.step_s)} of computing",
            ),
            ("size of one output", format_bytes(round(case.output_bytes))),
            ("an I/O rank receives", f"{format_bytes(round(advice.received_bytes_per_s))}/s"),
            ("an I/O rank alone receives and writes", f"{format_bytes(round(advice.written_bytes_per_s))}/s"),
        ]
    if case.checkpoint_interval_s is not None:
        interval = Duration.of_seconds(case.checkpoint_interval_s)
        rows.append(("checkpoints", f"{format_bytes(round(case.checkpoint_bytes))} every {interval}"))
    label = max(len(text) for text, _ in rows)
    return "\n".join(f"{text:<{label}}  {value}" for text, value in rows)


def _charts(advice: Advice, width: int, unicode: bool, colour: bool) -> Iterator[str]:
    now, then = advice.present.layout, advice.best.layout
    if advice.output:
        rows = [(str(c.layout.num_io_procs), _partitions(c), c) for c in advice.output]
        apart = f", {now.restart_write_mode}" if now.restart_write_mode != then.restart_write_mode else ""
        yield _chart(advice, ("I/O ranks", "partitions"), rows, apart, width, unicode, colour)
    if advice.restart:
        rows = [(c.layout.restart_write_mode, str(c.layout.num_restart_procs), c) for c in advice.restart]
        apart = f", {counted(now.num_io_procs, 'I/O rank')}" if now.num_io_procs != then.num_io_procs else ""
        yield _chart(advice, ("restart_write_mode", "ranks"), rows, apart, width, unicode, colour)


def _chart(
    advice: Advice,
    headings: tuple[str, str],
    rows: Sequence[tuple[str, str, Candidate]],
    apart: str,
    width: int,
    unicode: bool,
    colour: bool,
) -> str:
    """A row for each candidate with its time and a bar, whose marks tell where the time goes.

    `apart` is in what else the present layout differs from the others.
    """
    longest = max(candidate.seconds for *_, candidate in rows)
    least = min(candidate.seconds for *_, candidate in rows)
    cells = [
        (*labels, _expected(advice, c, least), _interval(c), _mark(advice, c, least, apart)) for *labels, c in rows
    ]
    table = [(*headings, "expected", "80 % between", ""), *cells]
    columns = [max(len(row[number]) for row in table) for number in range(5)]
    space = max(_SHORTEST_BAR, width - sum(columns) - 2 * 5)
    lines = []
    for number, row in enumerate(table):
        text = visible("  ".join(cell.ljust(size) for cell, size in zip(row, columns, strict=True)))
        bar = _bar(rows[number - 1][2], space / longest, unicode, colour) if number else ""
        lines.append(f"{text}  {bar}".rstrip())
    return Shown("\n".join([*lines, _legend(rows, unicode)]))


def _partitions(candidate: Candidate) -> str:
    partitions = "+".join(map(str, candidate.layout.stream_partitions))
    return f"{partitions}, in turn" if candidate.layout.is_spread else partitions


def _mark(advice: Advice, candidate: Candidate, least: float, apart: str) -> str:
    if candidate.layout == advice.present.layout:
        return f"now{apart}"
    if candidate.layout == advice.best.layout:
        return "recommended"
    if candidate.seconds >= least * (1 + NOISE):
        return ""
    is_obsolete = advice.situation.case.checkpoints and candidate.layout.restart_write_mode == ASYNC
    if (share := _share_of_writing(advice, candidate)) >= BUSY:
        return f"busy for {100 * share:.0f} %"
    return "obsolete" if is_obsolete else "as good"


def _expected(advice: Advice, candidate: Candidate, least: float) -> str:
    """The time; where it cannot be told, that of the best is 1."""
    return f"{candidate.seconds / least:.2f} times" if advice.is_far else spoken_time(candidate.seconds)


def _interval(candidate: Candidate) -> str:
    if candidate.prediction.is_far:
        return str(candidate.prediction)
    low, high = spoken_time(candidate.prediction.low_s), spoken_time(candidate.prediction.high_s)
    (first, unit), (last, other) = low.split(), high.split()
    return f"{first} and {last} {unit}" if unit == other else f"{low} and {high}"


def shares(candidate: Candidate) -> Mapping[str, float]:
    """Seconds by where they go, in the order of the bars."""
    parts = candidate.prediction.parts
    return {name: max(0.0, sum(parts.get(part, 0.0) for part in own)) for name, own in PARTS.items()}


def _bar(candidate: Candidate, scale: float, unicode: bool, colour: bool) -> str:
    text, before = "", 0.0
    for mark, tone, seconds in zip(_MARKS[unicode], _TONES, shares(candidate).values(), strict=True):
        after = before + seconds
        piece = mark * (round(after * scale) - round(before * scale))
        text += f"\x1b[{tone}m{piece}\x1b[0m" if colour and piece else piece
        before = after
    return text


def _legend(rows: Sequence[tuple[str, str, Candidate]], unicode: bool) -> str:
    marks = zip(_MARKS[unicode], PARTS, strict=True)
    return "  ".join(f"{mark} {name}" for mark, name in marks if any(shares(row[2])[name] > 0.5 for row in rows))


def _verdict(advice: Advice) -> Iterator[str]:
    now, then = advice.present, advice.best
    if advice.is_good:
        yield f"Keep it: {now.prediction} expected, and nothing is better by more than noise, {_noise()}."
        return
    reason = _reason(advice)
    if advice.cost < NOISE and reason:
        ranks = f" with {counted(then.layout.num_restart_procs, 'rank')}" if then.layout.num_restart_procs else ""
        yield f"{reason}: {then.layout.restart_write_mode}{ranks} takes no longer, {then.prediction}. Set"
        yield from (f"  {key}: {value}" for key, value in settings(advice).items())
        return
    if advice.is_far:
        yield (
            f"Now {now.prediction}, recommended {then.prediction}: the present layout takes about "
            f"{1 + advice.cost:.2f} times as long. Set"
        )
        yield from (f"  {key}: {value}" for key, value in settings(advice).items())
        return
    who = "core" if now.case.gpus is None else "GPU"
    yield (
        f"Now {spoken_time(now.seconds)}, recommended {spoken_time(then.seconds)}: the present layout costs "
        f"{spoken_time(advice.cost_s)} ({100 * advice.cost:.0f} %), {advice.core_hours:.3g} {who}-hours. Set"
    )
    yield from (f"  {key}: {value}" for key, value in settings(advice).items())


def _reason(advice: Advice) -> str:
    """Why another restart layout is recommended that is no faster; empty where it is for its time."""
    if advice.present.layout.restart_write_mode == ASYNC:
        return OBSOLETE
    ranks, share = advice.present.layout.num_restart_procs, _share_of_writing(advice, advice.present)
    if share < BUSY:
        return ""
    who = "1 restart rank writes" if ranks == 1 else f"{ranks} restart ranks write"
    return f"{who} for {100 * share:.0f} % of the run, and the others wait for a checkpoint that takes longer"


def _share_of_writing(advice: Advice, candidate: Candidate) -> float:
    return share_of_writing(candidate.case, advice.calibration.estimate.constants)


def _noise() -> str:
    return f"{100 * NOISE:.0f} %"


def _said(advice: Advice, seconds: float) -> str:
    return rough_time(seconds) if advice.is_far else spoken_time(seconds)


def why(advice: Advice) -> Iterator[str]:
    """The reasons, a sentence or two each."""
    if advice.situation.case.outputs:
        yield from _why_output(advice)
    else:
        yield "There is no output: nothing to set ranks apart for."
    if advice.on_nodes is not None:
        yield from _on_nodes(advice, advice.on_nodes)
    if advice.situation.case.checkpoints:
        yield from _why_restart(advice)
    for stripes in advice.stripes:
        other = "" if stripes.present == stripes.enough else f", it is {stripes.present}"
        yield f"stripe_count of {stripes.what}: {stripes.enough} is enough{other}: {stripes.reason}."


def _why_output(advice: Advice) -> Iterator[str]:
    case, present, best = advice.situation.case, advice.present, advice.best
    assert case.output_interval_s is not None
    between = case.output_interval_s / case.dtime_s * advice.step_s
    writing = case.output_bytes / advice.written_bytes_per_s
    need = (
        f"One rank writes an output in {_said(advice, writing)}, and one is due every {_said(advice, between)} "
        "of computing"
    )
    if not present.layout.num_io_procs:
        waste = present.prediction.parts["synchronous writes"]
        yield (
            f"Without I/O ranks work rank 0 gathers and writes each of {case.outputs} outputs while all others wait: "
            f"{_said(advice, waste)} of the run."
        )
    number = best.layout.num_io_procs
    if number:
        busy = writing / number / between
        s = "s" * (number == 1)
        keep = f"keep{s} up" if busy < 1 else f"come{s} closest to it"
        each = "" if number == 1 else "each "
        yield f"{need}: {counted(number, 'rank')} {keep}, {each}busy about {100 * min(1, busy):.0f} % of the time."
    waiting = present.prediction.parts["waiting for writers"]
    if present.layout.num_io_procs and waiting > NOISE * present.seconds:
        ranks = counted(present.layout.num_io_procs, "I/O rank")
        yield f"With {ranks} the others wait {_said(advice, waiting)} for files not finished when the next is due."
    if best.layout.is_spread and not present.layout.is_spread:
        yield "pe_placement puts more files on one rank than on others; without it they go to the ranks in turn."
    yield from _where_io_ranks_sit(advice.situation.component, number)
    taken = present.prediction.parts["ranks taken away"]
    if taken > NOISE * present.seconds:
        beside = case.ntasks - present.case.workers
        yield f"The {beside} ranks that do not compute make computing {_said(advice, taken)} longer."
    others = [c for c in advice.output if c.layout.num_io_procs > number and c.seconds > best.seconds * (1 + NOISE)]
    if number and others and all(c.seconds > best.seconds for c in others):
        most = others[-1]
        yield (
            f"More would not write faster, and are missing for computing: {most.layout.num_io_procs} I/O ranks cost "
            f"{100 * (most.seconds / best.seconds - 1):.0f} %."
        )


OBSOLETE = "restart_write_mode async is obsolete, the multifile modes do what it does with more writers"
"""What is said of it where no time can be gained."""


def _where_io_ranks_sit(component: Component, best: int) -> Iterator[str]:
    """On which nodes, and what is measured of that."""
    try:
        seats = [node.number for node in nodes(component.experiment) if node.crew.get((component.number, "io"))]
        count = node_count(component.experiment)
    except UndecidedError:
        return
    if count > 1 and len(seats) == 1 and best > 1:
        spread = " --distribution=cyclic for srun would spread them, and nobody has measured what that gains."
        is_placed = bool(component.experiment.programs)
        together = f"All I/O ranks sit together, on node {seats[0]} of {count} counted from 0: so it was measured."
        yield together if is_placed else together + spread
    elif len(seats) > 1:
        yield f"The I/O ranks sit on {len(seats)} of {count} nodes: measured was only all of them on the last one."


def _on_any(advice: Advice) -> str:
    """What is gained without it."""
    return "" if advice.is_good else f", the recommended one {_said(advice, advice.cost_s)} less on any file system"


def _on_nodes(advice: Advice, found: OnNodes) -> Iterator[str]:
    """What the nodes' own disks do for the present layout, by KIT's report."""
    where = f"{found.name}, on the nodes' own disks"
    if not found.is_used:
        where += f" (node_local.file_system: {found.name})"
    piece = format_bytes(round(found.piece_bytes))
    if found.is_shared:
        yield (
            f"{where}: of output that all I/O ranks write into one file nothing of ICON was measured. EMAC with "
            "parallel NetCDF, a few KB at a time on 20 nodes, was 2, 4.5 and 6 times as fast there with 1, 4 and 20 "
            "stripes."
        )
    elif not advice.situation.case.io_ranks and found.piece_bytes >= LARGE_PIECE:
        yield (
            f"{where}: nothing is gained without I/O ranks: rank 0 writes {piece} at a time, and with more than 1 MB "
            "ICON took as long on both file systems, within 1 %."
        )
    elif not advice.situation.case.io_ranks:
        yield (
            f"{where}: rank 0 writes {piece} at a time; ICON without I/O ranks was measured there with more than 1 MB, "
            "and took as long on both file systems, within 1 %."
        )
    elif found.gain_s > NOISE * advice.present.seconds:
        report = f"ICON was about {100 * GAIN:.0f} % faster there where its workers waited for I/O ranks"
        gain = _said(advice, found.gain_s)
        if found.is_used:
            yield f"{where}: {report}; for that {gain} are taken off what is expected of the present layout."
        else:
            yield f"{where}: {report}: the present layout would take {gain} less{_on_any(advice)}."
    else:
        yield f"{where}: nothing is gained, for nobody waits for I/O ranks; ICON was faster there only where they did."
    if found.copy_s is not None and found.copy_bytes is not None:
        copied = f"{format_bytes(found.copy_bytes)} of a job"
        yield f"Copying {copied} back from {found.name} takes at least {spoken_time(found.copy_s)} of its time limit."


_MODES = {
    SYNC: "sync: rank 0 gathers and writes each checkpoint while all others wait",
    JOINT: "joint procs multifile: the work ranks write the checkpoint themselves, all at once, and then go on",
    ASYNC: "async: one rank beside the others writes, and they wait only if it has not finished the one before",
    DEDICATED: "dedicated procs multifile: ranks of their own write beside the others, which wait if they are late",
}


def _why_restart(advice: Advice) -> Iterator[str]:
    case, mode = advice.situation.case, advice.present.layout.restart_write_mode
    cost = advice.present.prediction.parts["checkpoints"]
    yield f"{_MODES[mode]}. {counted(case.checkpoints, 'checkpoint')}: {_said(advice, cost)} of the run."
    found = checkpoints_of(advice.situation.component)
    if found is not None:
        yield f"Now {found}."
    if advice.best.layout.restart_write_mode != mode:
        yield f"{_MODES[advice.best.layout.restart_write_mode]}."


def notes(advice: Advice) -> Iterator[str]:
    """How far the numbers can be trusted."""
    if advice.is_far:
        yield "far from what was measured: only a range is told, and which layout is the better"
    if is_foreign(advice.situation, advice.calibration):
        yield (
            f"site {advice.situation.site} has no calibration: the figures are those of "
            f"{advice.calibration.name.capitalize()}"
        )
    yield from (f"outside what was measured: {doubt}" for doubt in advice.doubts)
    memory = memory_of(evolve(advice.situation, case=advice.best.case), advice.calibration)
    if memory.seats and memory.fits(memory.present) is False:
        yield f"the last node does not hold its {counted(memory.present.io_ranks, 'I/O rank')}: see --ask memory"
    if len(advice.situation.outputs) > 1:
        yield "several streams: played through with the placement of their files; measured with one stream only"
