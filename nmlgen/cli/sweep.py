"""nmlgen sweep: write the experiments of a sweep."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

import nmlgen
from nmlgen.cli.console import quiet_option, set_option, show_findings, spec_argument
from nmlgen.cli.terminal import unfiltered
from nmlgen.errors import BuildError
from nmlgen.sweep.expansion import Invalid


@click.command("sweep")
@spec_argument
@click.option("-o", "--output", "directory", type=click.Path(path_type=Path), help="Where to write; ./NAME by default.")
@set_option
@click.option("-n", "--dry-run", is_flag=True, help="List the points with their values; write nothing.")
@click.option(
    "--invalid",
    type=click.Choice(["stop", "skip"]),
    default="stop",
    show_default=True,
    help="What to do at a point that cannot be built.",
)
@click.option("--strict", is_flag=True, help="Let warnings keep a point from being built as errors do.")
@click.option("--force", is_flag=True, help="Overwrite files that were changed since nmlgen wrote them.")
@click.option("--parquet", is_flag=True, help="Write the table of points as points.parquet, too (needs nmlgen[frame]).")
@quiet_option
def command(
    spec: str,
    directory: Path | None,
    overrides: tuple[str, ...],
    dry_run: bool,
    invalid: Invalid,
    strict: bool,
    force: bool,
    parquet: bool,
    quiet: bool,
) -> int:
    """Expand the sweep of SPEC, check every point and write it into a directory of its own.

    The directory gets a table of all points, points.csv. A sweep that was interrupted goes on where it stopped; points
    that are there already and right are not touched. Exit code 1 if a point cannot be built.
    """
    loaded = nmlgen.load_spec(spec, overrides)
    points = nmlgen.expand(loaded)
    if dry_run:
        for point in points:
            click.echo(
                "  ".join((point.id, point.name, *point.overrides[: -1 if "name" not in point.values else None]))
            )
        return 0
    directory = directory or Path(loaded.experiment.name)
    with _progress(loaded, quiet) as progress:
        try:
            sweep = nmlgen.write_sweep(
                points,
                directory,
                invalid=invalid,
                strict=strict,
                force=force,
                parquet=parquet,
                progress=progress,
            )
        except (nmlgen.SpecError, BuildError) as error:
            refused: nmlgen.SpecError | BuildError | None = error
        else:
            refused = None
    if refused is not None:
        show_findings(refused.findings, err=True)
        click.echo("the sweep stopped at this point; --invalid skip leaves such points out", err=True)
        return 1
    for point, findings in sweep.invalid:
        click.echo(f"not built: {point.name} ({point.id}): {findings[0].code} {findings[0].message}", err=True)
    if not quiet:
        count = f"{sweep.points} point{'s' * (sweep.points != 1)}"
        left_out = f", {len(sweep.invalid)} not built" if sweep.invalid else ""
        click.echo(f"{directory}: {count}, {sweep.changed} new or different{left_out}")
    return 1 if sweep.invalid else 0


@contextmanager
def _progress(spec: nmlgen.Spec, quiet: bool) -> Iterator[Callable[[nmlgen.Point], None] | None]:
    """A bar on the standard error, if that is a terminal."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    from nmlgen.sweep.expansion import plan_of_spec

    with Progress(console=Console(file=unfiltered(sys.stderr)), transient=True) as progress:
        plan = plan_of_spec(spec)
        task = progress.add_task("points", total=0 if plan is None else sum(1 for _ in plan.rows()))
        yield lambda _: progress.advance(task)
