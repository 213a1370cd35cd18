"""nmlgen tune: try layouts on the machine until no other is worth a run."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

import nmlgen
from nmlgen.cli.console import Amount, format_option, quiet_option, set_option, spec_argument, uses_colour
from nmlgen.cli.terminal import show_coloured, unfiltered
from nmlgen.report.json import to_json
from nmlgen.report.quantities import counted
from nmlgen.report.tuning import format_tuning, progress_lines, tuning_document
from nmlgen.tuning.overlay import set_options, settings, write_tuned

if TYPE_CHECKING:
    from rich.progress import Progress


def _share(ctx: click.Context, param: click.Parameter, value: str) -> float:
    """A share such as 2% or 0.02."""
    text = value.strip()
    try:
        share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        share = -1.0
    if not 0 <= share < 1:
        raise click.BadParameter(f'"{value}" is no share; expected something like 2%', ctx, param)
    return share


@click.command("tune")
@spec_argument
@click.option("-o", "--output", "directory", type=click.Path(path_type=Path), help="Where; ./NAME-tuning by default.")
@set_option
@click.option("--budget", metavar="NODE_HOURS", type=Amount(), help="Spend no more than this.")
@click.option("--runs", metavar="N", type=click.IntRange(min=1), help="Run no more than so many candidates.")
@click.option(
    "--noise", metavar="SHARE", callback=_share, default="2%", show_default=True, help="What is not worth a run."
)
@click.option(
    "--at-once", metavar="N", type=click.IntRange(min=1), default=1, show_default=True, help="Runs at the same time."
)
@click.option("-n", "--dry-run", is_flag=True, help="Show the candidates and what would run first; write nothing.")
@format_option
@quiet_option
def command(
    spec: str,
    directory: Path | None,
    overrides: tuple[str, ...],
    budget: float | None,
    runs: int | None,
    noise: float,
    at_once: int,
    dry_run: bool,
    output_format: str,
    quiet: bool,
) -> int:
    """Find the fastest of the points of SPEC's sweep by running some of them on Slurm or PBS; without a section
    `sweep`, the best number of I/O ranks and partitions.

    What runs next is what saves most on average, by the I/O model and all measurements so far. It stops when that is
    noise, or the budget is spent. Interrupted and called again it goes on where it was; jobs run on meanwhile. The best
    values are printed and written into DIRECTORY/tuned.yaml.

    Exit code 1 if no run came to its end.
    """
    loaded = nmlgen.load_spec(spec, overrides)
    directory = directory or Path(f"{loaded.experiment.name}-tuning")
    is_json = output_format == "json"
    tuning, watch = None, _Watch(quiet)
    try:
        for tuning in nmlgen.tune(
            loaded,
            directory,
            budget=budget,
            runs=runs,
            noise=noise,
            at_once=at_once,
            dry_run=dry_run,
            watch=watch.show,
        ):
            watch.hide()
            for line in () if quiet else progress_lines(tuning):
                click.echo(line, err=is_json)
    except KeyboardInterrupt:
        watch.hide()
        message = f"interrupted; jobs go on. The same command goes on tuning, `nmlgen cancel {directory}` ends the jobs"
        click.echo(message, err=True)
        return 130
    finally:
        watch.hide()
    assert tuning is not None
    best = tuning.best
    if best is not None:
        said = [
            f"The best of {len(tuning.trials)} runs, by nmlgen tune.",
            *(f"with --set {text}" for text in overrides),
        ]
        written = write_tuned(directory, Path(spec), loaded, best.point, said)
    if is_json:
        click.echo(to_json(tuning_document(tuning, settings(best.point) if best else ())))
    else:
        if not quiet:
            for point, findings in tuning.candidates.rejected:
                click.echo(f"no candidate: {point.name}: {findings[0].code} {findings[0].message}", err=True)
            if tuning.candidates.left_out:
                more = f"{counted(tuning.candidates.left_out, 'layout')} more would take long to weigh"
                click.echo(f"{more}, with so many outputs: a section `sweep` says what to try", err=True)
        options = set_options(best.point) if best else ""
        show_coloured(format_tuning(tuning, options, uses_colour(sys.stdout), sys.stdout.isatty()))
        if best is not None and not quiet:
            click.echo(f"written: {written}")
    return 0 if best is not None or dry_run else 1


class _Watch:
    """A line on a terminal's stderr that says what runs; it makes way for others."""

    def __init__(self, quiet: bool) -> None:
        self._progress: Progress | None = None
        if quiet or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
            return
        from rich.console import Console
        from rich.progress import Progress, SpinnerColumn, TextColumn

        columns = (SpinnerColumn(), TextColumn("{task.description}"))
        console = Console(file=unfiltered(sys.stderr))
        self._progress = Progress(*columns, console=console, transient=True, redirect_stdout=False)
        self._progress.add_task("looking", total=None)

    def show(self, tuning: nmlgen.Tuning) -> None:
        """Say what runs."""
        if self._progress is not None:
            under_way = [trial for trial in tuning.trials if not trial.outcome.is_over]
            names = ", ".join(f"{trial.point.name} {trial.outcome.state}" for trial in under_way)
            self._progress.update(self._progress.task_ids[0], description=names or "looking")
            self._progress.start()

    def hide(self) -> None:
        """Take the line away."""
        if self._progress is not None:
            self._progress.stop()
