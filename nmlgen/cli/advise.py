"""nmlgen advise: what a layout costs, and what would be better."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

import nmlgen
from nmlgen.cli.console import format_option, release_option, set_option, uses_colour
from nmlgen.cli.terminal import show_coloured
from nmlgen.report.advice import advice_document, format_advice, side_by_side
from nmlgen.report.answers import QUESTIONS, Question, answer, answer_document
from nmlgen.report.io_cost import format_io_cost, io_cost_document
from nmlgen.report.json import finding_document, to_json
from nmlgen.visible import joined

_WIDTH = 120


@click.command("advise")
@click.argument("spec", metavar="SPEC|SCRIPT|BUILD", type=click.Path())
@set_option
@click.option("--calibration", type=click.Path(), help="The figures of a site, as `nmlgen calibrate` writes them.")
@click.option("--plot", type=click.Path(), help="Draw the chart into a file, .svg or .png; needs nmlgen[plot].")
@click.option("--ntasks", type=click.IntRange(min=1), help="The number of MPI tasks, for namelists that do not say it.")
@click.option(
    "--n-cells",
    multiple=True,
    metavar="[MODEL=]CELLS[,CELLS...]",
    help="The number of cells of the grid, of each domain if there are nests; of several models with its name.",
)
@click.option(
    "--ask",
    type=click.Choice(QUESTIONS),
    help="One question instead: what the output takes in memory, and where I/O ranks may sit; what each stream costs; "
    "how many nodes pay; what a file format costs.",
)
@release_option("The release of what does not show it; the newest one by default.")
@format_option
def command(
    spec: str,
    overrides: tuple[str, ...],
    calibration: str | None,
    plot: str | None,
    ntasks: int | None,
    n_cells: tuple[str, ...],
    ask: Question | None,
    icon_release: str | None,
    output_format: str,
) -> int:
    """Predict how long the experiment takes with its layout of I/O ranks, partitions and restart ranks, and with
    others; recommend one, and say why. Several models are advised one after the other.

    The experiment is that of a spec, a run script, or a directory with a build or an icon_master.namelist. The figures
    are those of its site, else Levante's. Differences below 2 % are noise and called as good. On GPUs, of which only
    runs of your own tell how long a model step takes, it says what output and checkpoints cost.

    Exit code 1 if something is not known that the prediction needs.
    """
    try:
        figures = None if calibration is None else nmlgen.advise.Calibration.load(calibration)
        advices = nmlgen.advices(
            spec, overrides=overrides, calibration=figures, ntasks=ntasks, icon_release=icon_release, n_cells=n_cells
        )
    except nmlgen.SpecError as error:
        if output_format == "text":
            raise
        click.echo(to_json({"findings": [finding_document(finding) for finding in error.findings]}))
        return 1
    if output_format == "json":
        click.echo(to_json(_document(advices, Path(spec).name, ask)))
        return 0
    if plot is not None:
        _draw(advices, Path(spec).name, Path(plot))
    show_coloured(joined("\n\n\n", _paragraphs(advices, Path(spec).name, ask)))
    return 0


def _named(name: str, one: nmlgen.ComponentAdvice, advices: Sequence[nmlgen.ComponentAdvice]) -> str:
    return f"{name}, {one.title}" if len(advices) > 1 else name


def _document(advices: Sequence[nmlgen.ComponentAdvice], name: str, ask: Question | None) -> Any:
    documents = []
    for one in advices:
        if one.io is not None:
            documents.append(
                io_cost_document(one.io, _named(name, one, advices))
                if ask is None
                else answer_document(ask, one.io.situation, one.io.calibration)
            )
        elif one.advice is None:
            documents.append({"missing": one.missing})
        elif ask is not None:
            documents.append(answer_document(ask, one.advice.situation, one.advice.calibration))
        else:
            documents.append(advice_document(one.advice, _named(name, one, advices)))
    if len(advices) == 1:
        return documents[0]
    return {
        "components": [{"component": one.title, **own} for one, own in zip(advices, documents, strict=True)],
    }


def _paragraphs(advices: Sequence[nmlgen.ComponentAdvice], name: str, ask: Question | None) -> Iterator[str]:
    terminal, colour = sys.stdout.isatty(), uses_colour(sys.stdout)
    width = shutil.get_terminal_size().columns if terminal else _WIDTH
    is_utf8 = (sys.stdout.encoding or "ascii").lower().replace("-", "") == "utf8"
    for one in advices:
        if one.io is not None:
            own = _named(name, one, advices)
            yield format_io_cost(one.io, own) if ask is None else answer(ask, one.io.situation, one.io.calibration)
        elif one.advice is None:
            yield f"{_named(name, one, advices)}: {one.missing}"
        elif ask is not None:
            heading = f"{_named(name, one, advices)}\n\n" if len(advices) > 1 else ""
            yield heading + answer(ask, one.advice.situation, one.advice.calibration)
        else:
            yield format_advice(one.advice, _named(name, one, advices), width, is_utf8, colour)
    if len(advices) > 1 and ask is None:
        yield side_by_side(advices)


def _draw(advices: Sequence[nmlgen.ComponentAdvice], name: str, path: Path) -> None:
    """A picture of each, with the name of its model where there are several."""
    from nmlgen.report.advice_plot import draw

    if not any(one.advice for one in advices):
        raise nmlgen.InputError(f"--plot draws run times: {advices[0].missing}")
    for one in advices:
        if one.advice is not None:
            own = path if len(advices) == 1 else path.with_stem(f"{path.stem}-{one.title}")
            draw(one.advice, _named(name, one, advices), own)
