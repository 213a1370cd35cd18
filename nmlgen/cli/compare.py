"""nmlgen compare: two runs side by side."""

from __future__ import annotations

import sys

import click

import nmlgen
from nmlgen.cli.console import format_option, uses_colour
from nmlgen.cli.terminal import show_coloured
from nmlgen.report.json import to_json
from nmlgen.report.run_comparison import format_run_comparison, run_comparison_document


@click.command("compare")
@click.argument("old", metavar="RUN_A", type=click.Path())
@click.argument("new", metavar="RUN_B", type=click.Path())
@format_option
@click.option("-q", "--quiet", is_flag=True, help="Print nothing; the exit code says it.")
def command(old: str, new: str, output_format: str, quiet: bool) -> int:
    """Compare what two runs took: RUN_A and RUN_B are logs of ICON, directories of runs, builds or points of a sweep
    in which ICON ran.

    \b
      nmlgen compare ranks/points/io-n1-io0 ranks/points/io-n1-io4
      nmlgen compare old.log new.log

    Shows times, timers and rates side by side, the difference of B from A in percent, and what differs in the set-up:
    by the logs, and as nmlgen diff does where the builds lie beside them. A difference is noise if it is below 2 %, of
    itself or, for timers, of the run time: repeated runs vary as much. The legs of a restart chain are added up.

    Exit code 0 if both runs came to their end in the same time, 1 if they did not, 2 for trouble.
    """
    comparison = nmlgen.compare_runs(old, new)
    if quiet:
        return 0 if comparison.is_same else 1
    for remark in comparison.remarks:
        click.echo(f"note: {remark}", err=True)
    if output_format == "json":
        click.echo(to_json(run_comparison_document(comparison, (old, new))))
    else:
        colour = uses_colour(sys.stdout)
        text = format_run_comparison(comparison, (old, new), colour, sys.stdout.isatty())
        show_coloured(text)
    return 0 if comparison.is_same else 1
