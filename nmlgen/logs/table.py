"""Rows as CSV, JSON and Parquet, and as a pandas frame: a column for each field, empty where nothing is known; and runs
read back from such a table."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO

from nmlgen import disk
from nmlgen.disk import IrregularFileError
from nmlgen.errors import InputError
from nmlgen.logs.rows import LogRun
from nmlgen.values import AttrsInstance, fields
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


def write_parquet(file: BinaryIO, kind: type[AttrsInstance], rows: Iterable[AttrsInstance]) -> None:
    """Write all rows, which takes memory for each. Raises ImportError without pandas and pyarrow."""
    rows_frame(kind, rows).to_parquet(file, index=False)


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


TABLES = (".csv", ".json", ".parquet")
"""How the files end that a table is read back from."""


def read_runs(path: Path) -> tuple[LogRun, ...]:
    """The runs of a table that `nmlgen logs -o` wrote: CSV, JSON, or Parquet, which needs pandas and pyarrow.

    Columns that are not there are not known. Raises InputError, with the line of CSV, for a file that is no such table.
    """
    try:
        if path.suffix == ".parquet":
            rows = _parquet(path)
        else:
            text = disk.content(path).decode("utf-8-sig")
            rows = _json(path, text) if path.suffix == ".json" else list(csv.DictReader(io.StringIO(text)))
    except UnicodeDecodeError:
        raise InputError(f"{path} is no table of runs: it is not UTF-8") from None
    except IrregularFileError as error:
        raise InputError(f"{path} {error.strerror}") from None
    except OSError as error:
        raise InputError(f"{path}: {(error.strerror or str(error)).lower()}") from None
    except (csv.Error, ValueError) as error:
        raise InputError(f"{path} is no table of runs: {error}") from None
    known = {column.name: str(column.type) for column in fields(LogRun)}
    found = []
    for number, row in enumerate(rows, start=2):
        if not isinstance(row, dict) or "state" not in row or "ntasks" not in row:
            raise InputError(f"{path} is no table of runs, with a column for each: nmlgen logs LOG... -o {path.name}")
        try:
            values = {name: _value(known[name], cell) for name, cell in row.items() if name in known}
        except (TypeError, ValueError, OverflowError):
            place = f"{path}:{number}" if path.suffix == ".csv" else f"{path}, row {number - 1}"
            raise InputError(f"{place}: a cell is not what its column holds") from None
        found.append(LogRun(**{name: value for name, value in values.items() if value is not None}))
    return tuple(found)


def _json(path: Path, text: str) -> list[Any]:
    rows = disk.parsed(text)
    if not isinstance(rows, list):
        raise InputError(f"{path} is no table of runs: expected a list of objects")
    return rows


_MOST_CELLS = 1_000_000  # beside one for each byte: Parquet needs no room for rows that are the same
_MOST_BYTES = 2**26


def _parquet(path: Path) -> list[Any]:
    try:
        import pandas
        from pyarrow.parquet import ParquetFile

        with ParquetFile(path) as file:
            said = file.metadata
        size = sum(said.row_group(number).total_byte_size for number in range(said.num_row_groups))
        if said.num_rows * said.num_columns > _MOST_CELLS + path.stat().st_size or size > _MOST_BYTES:
            raise InputError(f"{path} is no table of runs: {said.num_rows} rows of {size} bytes")
        frame = pandas.read_parquet(path)
    except ImportError:
        raise InputError(f"{path}: to read Parquet, install pandas and pyarrow: pip install 'nmlgen[frame]'") from None
    return [
        {name: None if isinstance(cell, float) and cell != cell else cell for name, cell in row.items()}  # noqa: PLR0124
        for row in frame.to_dict("records")
    ]


def _value(kind: str, cell: Any) -> Any:
    """A cell as its column holds it; None for an empty one."""
    if cell is None or (isinstance(cell, str) and not cell):
        return None
    if kind.startswith("tuple"):
        parts = [part for part in cell.split("; ") if part] if isinstance(cell, str) else list(cell)
        return tuple(int(part) if "int" in kind else str(part) for part in parts)
    if kind.startswith("int"):
        number = float(cell)
        if number != int(number):
            raise ValueError
        return int(number)
    if kind.startswith("float"):
        return float(cell)
    return str(cell)
