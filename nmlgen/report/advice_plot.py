"""The chart of `nmlgen advise` as a picture, by matplotlib."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nmlgen.advise.advice import Advice
from nmlgen.advise.ranking import Candidate
from nmlgen.errors import InputError, WriteError
from nmlgen.report.advice import PARTS, shares
from nmlgen.writing import write_whole

_FORMS = (".svg", ".png")
_COLOURS = ("#4477aa", "#ee6677", "#ee6677", "#aa3377", "#ccbb44")
_HATCHES = ("", "", "//", "", "..")


def draw(advice: Advice, name: str, path: Path) -> None:
    """Write the candidates as stacked bars with their intervals into a file, .svg or .png.

    The same advice makes the same bytes with the same matplotlib. Raises InputError for another kind of file and
    without matplotlib, WriteError if the file cannot be written.
    """
    if path.suffix.lower() not in _FORMS:
        raise InputError(f"{path}: a plot is a file of one of these kinds: {', '.join(_FORMS)}")
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError("--plot needs matplotlib: pip install 'nmlgen[plot]'") from None
    charts = [(title, rows) for title, rows in (("output", _output(advice)), ("checkpoints", _restart(advice))) if rows]
    with rc_context({"svg.hashsalt": "nmlgen", "svg.fonttype": "none"}):
        figure = Figure(figsize=(9, 1.5 + 0.35 * sum(len(rows) + 2 for _, rows in charts)), layout="constrained")
        heights = [len(rows) + 1 for _, rows in charts]
        axes = figure.subplots(len(charts), 1, squeeze=False, height_ratios=heights)
        for axis, (title, rows) in zip(axes[:, 0], charts, strict=True):
            _chart(axis, title, rows)
        figure.suptitle(f"{name}: expected run time")
        handles, labels = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
        drawn = io.BytesIO()
        form = path.suffix.lower().removeprefix(".")
        try:
            figure.savefig(drawn, format=form, metadata={"Date": None} if form == "svg" else None)
        except (ValueError, OverflowError) as error:  # it reads SOURCE_DATE_EPOCH even where no date is asked for
            said = f", with SOURCE_DATE_EPOCH={epoch!r}" if (epoch := os.environ.get("SOURCE_DATE_EPOCH")) else ""
            raise WriteError(f"{path}: matplotlib cannot draw it{said}: {error}") from error
    write_whole(path, drawn.getvalue())


def _output(advice: Advice) -> list[tuple[str, Candidate]]:
    found = []
    for candidate in advice.output:
        partitions = "+".join(map(str, candidate.layout.stream_partitions))
        label = f"num_io_procs {candidate.layout.num_io_procs}, partitions {partitions}"
        found.append((_marked(advice, candidate, label), candidate))
    return found


def _restart(advice: Advice) -> list[tuple[str, Candidate]]:
    found = []
    for candidate in advice.restart:
        mode, ranks = candidate.layout.restart_write_mode, candidate.layout.num_restart_procs
        found.append((_marked(advice, candidate, f"{mode}, {ranks}" if ranks else mode), candidate))
    return found


def _marked(advice: Advice, candidate: Candidate, label: str) -> str:
    if candidate.layout == advice.present.layout:
        return f"now: {label}"
    return f"best: {label}" if candidate.layout == advice.best.layout else label


def _chart(axis: Any, title: str, rows: Sequence[tuple[str, Candidate]]) -> None:
    places = range(len(rows))
    left = [0.0] * len(rows)
    for part, colour, hatch in zip(PARTS, _COLOURS, _HATCHES, strict=True):
        minutes = [shares(candidate)[part] / 60 for _, candidate in rows]
        axis.barh(places, minutes, left=left, color=colour, hatch=hatch, edgecolor="white", label=part)
        left = [before + more for before, more in zip(left, minutes, strict=True)]
    totals = [candidate.seconds / 60 for _, candidate in rows]
    below = [max(0.0, candidate.seconds - candidate.prediction.low_s) / 60 for _, candidate in rows]
    above = [max(0.0, candidate.prediction.high_s - candidate.seconds) / 60 for _, candidate in rows]
    axis.errorbar(totals, places, xerr=[below, above], fmt="none", ecolor="black", capsize=2, linewidth=0.8)
    axis.set_yticks(places, [label for label, _ in rows])
    axis.invert_yaxis()
    axis.set_xlabel("minutes, with the interval that holds 80 % of the runs")
    axis.set_title(title, loc="left", fontsize="medium")
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
