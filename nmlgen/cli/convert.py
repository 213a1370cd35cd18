"""nmlgen convert: a run script for another batch system."""

from __future__ import annotations

from pathlib import Path

import click

import nmlgen
from nmlgen.cli.console import quiet_option, show_findings
from nmlgen.cli.terminal import show_content
from nmlgen.files import encode
from nmlgen.report.text import summary
from nmlgen.writing import write_whole


@click.command("convert")
@click.argument("path", metavar="SCRIPT", type=click.Path(path_type=Path))
@click.option("--to", metavar="pbs|slurm", required=True, help="The batch system that the script is to run in.")
@click.option("-o", "--output", metavar="FILE", type=click.Path(path_type=Path), help="Write it there, not here.")
@quiet_option
def command(path: Path, to: str, output: Path | None, quiet: bool) -> int:
    """Write the directives of a run script anew for another batch system: #SBATCH to #PBS, or #PBS to #SBATCH.

    \b
      nmlgen convert exp.amip.run --to pbs -o exp.amip.pbs

    What has no counterpart stays in the script as a comment and is named, and so is what the commands use of the old
    batch system: its variables and programs. No command is changed but one that is added: PBS begins a job in the home
    directory, Slurm where it was submitted.

    Exit code 1 if something is left to be done by hand.
    """
    found = nmlgen.convert(path, to)
    if output is None:
        show_content(found.text)
    else:
        write_whole(output, encode(found.text))
    show_findings(found.report.findings, err=True)
    if not quiet:
        line = f"{path} from {found.old} to {found.new}: {summary(found.report)}"
        click.echo(("\n" if found.report.findings else "") + line, err=True)
    return 0 if found.is_whole else 1
