"""Rows as CSV, JSON and Parquet, and as a pandas frame: a column for each field, empty where nothing is known."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from attrs import AttrsInstance, fields

from nmlgen.visible import csv_cell

if TYPE_CHECKING:
    import pandas


def write_csv(file: TextIO, kind: type[AttrsInstance], rows: Iterable[AttrsInstance]) -> None:
    """Write rows as they come; several values in a cell are separated by a semicolon and a blank."""
    names = [column.name for column in fields(kind)]
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(names)
    for row in rows:
        writer.writerow([csv_cell(text_of(getattr(row, name))) for name in names])


def write_json(file: TextIO, kind: type[AttrsInstance], rows: Iterable[AttrsInstance]) -> None:
    """Write rows as they come, as a list of objects, one a line; null where nothing is known."""
    names = [column.name for column in fields(kind)]
    separator = "[\n"
    for row in rows:
        file.write(separator + json.dumps({name: getattr(row, name) for name in names}, ensure_ascii=False))
        separator = ",\n"
    file.write("\n]\n" if separator != "[\n" else "[]\n")


def write_parquet(path: Path, kind: type[AttrsInstance], rows: Iterable[AttrsInstance]) -> None:
    """Write all rows, which takes memory for each. Raises ImportError without pandas and pyarrow."""
    rows_frame(kind, rows).to_parquet(path, index=False)


def rows_frame(kind: type[AttrsInstance], rows: Iterable[AttrsInstance]) -> pandas.DataFrame:
    """The rows as a pandas frame. Raises ImportError without pandas (`pip install nmlgen[frame]`)."""
    import pandas

    names = [column.name for column in fields(kind)]
    cells: dict[str, list[Any]] = {name: [] for name in names}
    for row in rows:
        for name, column in cells.items():
            value = getattr(row, name)
            column.append(list(value) if isinstance(value, tuple) else value)
    return pandas.DataFrame(cells)


def text_of(value: Any) -> str:
    """A cell as text: nothing for None, several values separated by a semicolon and a blank."""
    if value is None:
        return ""
    if isinstance(value, tuple):
        return "; ".join(map(text_of, value))
    return str(value)
