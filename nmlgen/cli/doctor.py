"""nmlgen doctor: what of this machine is in order."""

from __future__ import annotations

import sys
from pathlib import Path

import click

import nmlgen
from nmlgen.cli.console import format_option, set_option, uses_colour
from nmlgen.cli.terminal import show_coloured
from nmlgen.examining import Condition, Examined, examine
from nmlgen.report.json import to_json
from nmlgen.spec.site import read_site_of
from nmlgen.visible import Shown, joined

_MARKS = {
    Condition.GOOD: ("ok", "green"),
    Condition.WRONG: ("wrong", "red"),
    Condition.OPEN: ("open", "yellow"),
}


@click.command("doctor")
@click.argument("spec", required=False, type=click.Path(path_type=Path))
@click.option("--site", help="The machine that this should be; that of SPEC by default.")
@set_option
@format_option
def command(spec: Path | None, site: str | None, overrides: tuple[str, ...], output_format: str) -> int:
    """Tell what of this machine is in order for SPEC, or for a site: Slurm, account, file system, MPI, Darshan, ICON.

    Programs are asked for their versions, Slurm for its partitions and your accounts; nothing is submitted. Exit code 1
    if something is wrong.
    """
    if spec is None and overrides:
        raise click.UsageError("--set is for a spec")
    experiment, machine = None, None
    if spec is not None:
        said = (*overrides, f"site={site}") if site else overrides
        experiment = nmlgen.load_spec(spec, said).experiment
        machine = experiment.machine
    elif site is not None:
        machine = read_site_of(site, Path.cwd()).machine
    found = []
    for one in examine(machine, experiment, Path.cwd()):
        found.append(one)
        if output_format == "text":
            show_coloured(_line(one, uses_colour(sys.stdout)))
    wrong = sum(one.condition is Condition.WRONG for one in found)
    if output_format == "json":
        keys = ("subject", "text", "mend")
        click.echo(
            to_json([{"condition": one.condition.value, **{key: getattr(one, key) for key in keys}} for one in found])
        )
    else:
        click.echo(f"\n{wrong} wrong" if wrong else "\nnothing is wrong")
    return 1 if wrong else 0


def _line(one: Examined, colour: bool) -> str:
    word, hue = _MARKS[one.condition]
    mark = Shown(click.style(f"{word:5}", fg=hue) if colour else f"{word:5}")
    mend = f"\n{'':20} = {one.mend}" if one.mend else ""
    return joined("", (mark, f"  {one.subject:12}  {one.text}{mend}"))
