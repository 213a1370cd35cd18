"""nmlgen verify: whether a run wrote what its experiment promises."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

import click

import nmlgen
from nmlgen.cli.console import format_option, quiet_option, release_option, uses_colour
from nmlgen.cli.terminal import show_coloured, unfiltered
from nmlgen.report.json import to_json
from nmlgen.report.verification import format_verification, verification_document

_PATIENCE = 1.0  # seconds


@click.command("verify")
@click.argument("directory", type=click.Path(path_type=Path))
@click.option("--legs", type=click.IntRange(min=1), help="So many jobs of the chain have ended; found out by default.")
@click.option("--nan", "find_nan", is_flag=True, help="Read every field and look for NaN.")
@click.option("--ntasks", type=click.IntRange(min=1), help="The number of MPI tasks, where nothing there says it.")
@release_option("The release, for namelists that do not show it; the newest one by default.")
@format_option
@quiet_option
def command(
    directory: Path,
    legs: int | None,
    find_nan: bool,
    ntasks: int | None,
    icon_release: str | None,
    output_format: str,
    quiet: bool,
) -> int:
    """Check whether a run wrote what its experiment promises: every output file, with its records and whole, none of
    another experiment; and a last checkpoint that can be read.

    DIRECTORY is that of a build, or the one that ICON ran in, with its namelists. Of a chain of jobs, what those wrote
    that have ended is looked for. NetCDF classic and GRIB2 are read by nmlgen itself; for the records of NetCDF-4:
    pip install 'nmlgen[netcdf]'. With -q only what is wrong is printed.

    Exit code 1 if anything is missing, cut short or left over.
    """
    with _progress(quiet or output_format == "json") as progress:
        found = nmlgen.verify(
            directory, legs=legs, find_nan=find_nan, ntasks=ntasks, icon_release=icon_release, progress=progress
        )
    if output_format == "json":
        click.echo(to_json(verification_document(found)))
    elif not quiet or found.problems:
        show_coloured(format_verification(found, uses_colour(sys.stdout), sys.stdout.isatty()))
    return 1 if found.problems else 0


@contextmanager
def _progress(quiet: bool) -> Iterator[Callable[[str], None] | None]:
    """The file that is read, on a terminal's stderr, if it takes longer than a second."""
    if quiet or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield None
        return
    from rich.console import Console
    from rich.status import Status
    from rich.text import Text

    started, status, count = monotonic(), Status("", console=Console(file=unfiltered(sys.stderr))), 0

    def tell(name: str) -> None:
        nonlocal count
        count += 1
        if monotonic() - started > _PATIENCE:
            status.update(Text(f"{count} files read: {name}"))
            status.start()

    try:
        yield tell
    finally:
        status.stop()
