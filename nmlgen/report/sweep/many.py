"""Pages with very many runs: the table of all runs as columns of texts, of which the browser makes the rows that are
looked at."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from markupsafe import Markup

from nmlgen.report.quantities import format_number, format_share
from nmlgen.report.sweep.family import text_of
from nmlgen.report.sweep.measures import Measure
from nmlgen.report.sweep.run import PointRun
from nmlgen.values import frozen

NAME = "\N{START OF HEADING}"
"""Stands for the name of the run in what is said of it: so most of the texts of a column are one."""

_Kind = str  # "text", "number", "state" and "family" are cells of the table, "detail" is shown when a row is opened


@frozen
class Listed:
    """A run of the table: the family it belongs to, by its number from 0 on, and what a row tells beside the run."""

    run: PointRun
    family: int
    layout: tuple[str, ...]
    cost: float | None
    mark: str


def table_data(
    rows: Sequence[Listed],
    families: Sequence[str],
    layout_keys: Sequence[str],
    measures: Sequence[Measure],
    *,
    has_nodes: bool,
    has_predictions: bool,
) -> Markup:
    """The table as JSON that may stand in a page: `names`, `families` with the index of each row's, and `columns`, each
    with its kind, its title, its distinct texts and the index of each row's.

    The columns that are no details are in the order of the table's head, behind that of the names.
    """
    columns: list[tuple[_Kind, str, Iterable[str]]] = []
    if len(families) > 1:
        columns.append(("family", "family", (families[row.family] for row in rows)))
    for number, key in enumerate(layout_keys):
        columns.append(("text", key, (row.layout[number] for row in rows)))
    if not layout_keys:
        columns.append(("text", "layout", (NAME for _ in rows)))
    columns.append(("state", "state", (f"{row.run.state} {row.mark}".strip() for row in rows)))
    columns += [("number", title, map(of, rows)) for title, of in _numbers(measures, has_nodes, has_predictions)]
    columns += [("detail", label, texts) for label, texts in _details(rows)]
    document = {
        "names": [row.run.name for row in rows],
        "families": [row.family + 1 for row in rows],
        "columns": [_column(kind, title, texts) for kind, title, texts in columns],
    }
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))


def _numbers(
    measures: Sequence[Measure], has_nodes: bool, has_predictions: bool
) -> Iterator[tuple[str, Callable[[Listed], str]]]:
    """The columns of numbers, with what each says of a row."""
    if has_nodes:
        yield "nodes", lambda row: "" if row.run.nodes is None else str(row.run.nodes)
        yield "node-hours", lambda row: _number(row.run.node_hours)
    yield "run time (s)", lambda row: _number(row.run.total_s)
    yield "over the best", lambda row: _share(row.cost)
    if has_predictions:
        yield "predicted (s)", lambda row: _number(row.run.predicted.total_s if row.run.predicted else None)
        yield "80 % interval (s)", _interval
        yield "error", lambda row: _share(row.run.error)
    for measure in measures:
        yield f"{measure.title} ({measure.unit})", lambda row, of=measure.of: _number(of(row.run))  # type: ignore[misc]


def _details(rows: Sequence[Listed]) -> Iterator[tuple[str, list[str]]]:
    """What is shown of a run when its row is opened: texts under labels, in the order in which they first come."""
    found: dict[tuple[str, int], list[str]] = {}
    for number, row in enumerate(rows):
        seen: dict[str, int] = {}
        for label, text in _said_of(row.run):
            nth = seen[label] = seen.get(label, 0) + 1
            texts = found.setdefault((label, nth), [])
            texts += [""] * (number - len(texts))
            texts.append(text.replace(row.run.name, NAME) if row.run.name else text)
    for (label, _), texts in found.items():
        yield label, texts + [""] * (len(rows) - len(texts))


def _said_of(run: PointRun) -> Iterator[tuple[str, str]]:
    yield from ((key, text_of(value)) for key, value in run.values.items())
    yield from run.details
    if run.reason:
        yield "reason", run.reason
    yield from (("note", note) for note in run.notes)
    yield from (("prediction", note) for note in (run.predicted.notes if run.predicted else ()))


def _column(kind: _Kind, title: str, texts: Iterable[str]) -> dict[str, Any]:
    index: dict[str, int] = {}
    cells = [index.setdefault(text, len(index)) for text in texts]
    if 2 * len(index) > len(cells):  # an index would save nothing
        own = list(index)
        return {"kind": kind, "title": title, "cells": [own[cell] for cell in cells]}
    return {"kind": kind, "title": title, "texts": list(index), "cells": cells}


def _interval(row: Listed) -> str:
    expected = row.run.predicted
    return "" if expected is None else f"{format_number(expected.low_s)} – {format_number(expected.high_s)}"


def _number(value: float | None) -> str:
    return "" if value is None else format_number(value)


def _share(value: float | None) -> str:
    return "" if value is None else format_share(value)
