"""Tables for the terminal."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence

from nmlgen.visible import Shown, visible


def format_table(headings: Sequence[str], rows: Iterable[Sequence[str]], colour: bool, terminal: bool) -> Shown:
    """Rows under headings; wrapped to the width of a terminal, never cut elsewhere. What a terminal would obey in a
    cell is its number, a line end, too."""
    rows = [[visible(cell) for cell in row] for row in rows]
    if not colour and not terminal:
        return Shown(_plain([[heading.upper() for heading in headings], *rows]))
    import shutil

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for number, heading in enumerate(headings):
        table.add_column(heading.upper(), no_wrap=not terminal or number < len(headings) - 1)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    width = shutil.get_terminal_size().columns if terminal else 10_000
    out = io.StringIO()
    console = Console(file=out, width=width, force_terminal=colour, no_color=not colour, highlight=False)
    console.print(table)
    return Shown("\n".join(line.rstrip() for line in out.getvalue().splitlines()))


def _plain(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell + " " * (width - _width(cell)) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def _width(text: str) -> int:
    """The columns that a text takes."""
    if text.isascii() and text.isprintable():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)
