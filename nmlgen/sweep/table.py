"""The table of points: one row a point, on the disk as CSV, in memory as a pandas frame."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO

from nmlgen.expression import text_of
from nmlgen.sweep.point import Point
from nmlgen.visible import csv_cell

if TYPE_CHECKING:
    import pandas

IDENTITY = ("id", "name")


def points_frame(points: Iterable[Point], results: Iterable[Mapping[str, Any]] | None = None) -> pandas.DataFrame:
    """The points as a pandas frame: a row each, indexed by `id`, with the name, a column for each key, and what the
    `results` say, a mapping for each point in the same order.

    Raises ImportError without pandas (`pip install nmlgen[frame]`), ValueError if there are more points than results.
    """
    import pandas

    if results is None:
        rows = [_row(point) for point in points]
    else:
        rows = [{**_row(point), **result} for point, result in zip(points, results, strict=True)]
    return pandas.DataFrame(rows, columns=None if rows else IDENTITY).set_index("id")


def write_csv(file: TextIO, keys: Iterable[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows as CSV with these columns: text as it is, lists and mappings as JSON, nothing for what is absent."""
    columns = tuple(keys)
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_cell(row.get(column)) for column in columns])


def write_parquet(file: BinaryIO, keys: Iterable[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Write the same table as Parquet. Columns that hold values of several types hold text.

    Raises ImportError without pandas and pyarrow (`pip install nmlgen[frame]`).
    """
    import pandas

    columns: dict[str, list[Any]] = {key: [] for key in keys}
    for row in rows:
        for key, cells in columns.items():
            cells.append(row.get(key))
    plain = {key: cells if _is_uniform(cells) else [_text(cell) for cell in cells] for key, cells in columns.items()}
    pandas.DataFrame(plain).to_parquet(file, index=False)


def _row(point: Point) -> dict[str, Any]:
    return {"id": point.id, "name": point.name, **point.values}


def _cell(value: Any) -> str:
    return "" if value is None else csv_cell(str(_text(value)))


def _text(value: Any) -> str | None:
    if isinstance(value, (list, dict)):
        return json.dumps(value, ensure_ascii=False, sort_keys=True)
    return None if value is None else text_of(value)


def _is_uniform(cells: list[Any]) -> bool:
    kinds = {type(cell) for cell in cells if cell is not None}
    return len(kinds) <= 1 and not kinds & {list, dict}
