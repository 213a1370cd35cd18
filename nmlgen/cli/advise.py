"""nmlgen advise: what a layout costs, and what would be better."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import click

import nmlgen
from nmlgen.cli.console import format_option, release_option, set_option, uses_colour
from nmlgen.report.advice import advice_document, format_advice
from nmlgen.report.answers import QUESTIONS, Question, answer, answer_document
from nmlgen.report.json import finding_document, to_json

_WIDTH = 120


@click.command("advise")
@click.argument("spec", metavar="SPEC|SCRIPT|BUILD", type=click.Path())
@set_option
@click.option("--calibration", type=click.Path(), help="The figures of a site, as `nmlgen calibrate` writes them.")
@click.option("--plot", type=click.Path(), help="Draw the chart into a file, .svg or .png; needs nmlgen[plot].")
@click.option("--ntasks", type=click.IntRange(min=1), help="The number of MPI tasks, for namelists that do not say it.")
@click.option(
    "--ask",
    type=click.Choice(QUESTIONS),
    help="One question instead: what the output takes in memory, and where I/O ranks may sit; what each stream costs; "
    "how many nodes pay.",
)
@release_option("The release of what does not show it; the newest one by default.")
@format_option
def command(
    spec: str,
    overrides: tuple[str, ...],
    calibration: str | None,
    plot: str | None,
    ntasks: int | None,
    ask: Question | None,
    icon_release: str | None,
    output_format: str,
) -> int:
    """Predict how long the experiment takes with its layout of I/O ranks, partitions and restart ranks, and with
    others; recommend one, and say why.

    The experiment is that of a spec, a run script, or a directory with a build or an icon_master.namelist. The figures
    are those of its site, else Levante's. Differences below 2 % are noise and called as good.

    Exit code 1 if something is not known that the prediction needs.
    """
    try:
        figures = None if calibration is None else nmlgen.advise.Calibration.load(calibration)
        advice = nmlgen.advice(spec, overrides=overrides, calibration=figures, ntasks=ntasks, icon_release=icon_release)
    except nmlgen.SpecError as error:
        if output_format == "text":
            raise
        click.echo(to_json({"findings": [finding_document(finding) for finding in error.findings]}))
        return 1
    name = Path(spec).name
    if ask is not None:
        asked = ask, advice.situation, advice.calibration
        click.echo(to_json(answer_document(*asked)) if output_format == "json" else answer(*asked))
        return 0
    if plot is not None:
        from nmlgen.report.advice_plot import draw

        draw(advice, name, Path(plot))
    if output_format == "json":
        click.echo(to_json(advice_document(advice, name)))
        return 0
    terminal, colour = sys.stdout.isatty(), uses_colour(sys.stdout)
    width = shutil.get_terminal_size().columns if terminal else _WIDTH
    is_utf8 = (sys.stdout.encoding or "ascii").lower().replace("-", "") == "utf8"
    click.echo(format_advice(advice, name, width, is_utf8, colour), color=colour)
    return 0
