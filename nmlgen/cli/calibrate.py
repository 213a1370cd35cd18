"""nmlgen calibrate: fit the advisor to a user's own runs."""

from __future__ import annotations

from pathlib import Path

import click

import nmlgen
from nmlgen.calibrating import Calibrated, calibrate_logs
from nmlgen.cli.console import quiet_option
from nmlgen.cli.logs import reading_progress
from nmlgen.cli.terminal import show_content
from nmlgen.report.quantities import format_duration
from nmlgen.units.wall_time import format_wall_time
from nmlgen.writing import utf_8, write_whole


@click.command("calibrate")
@click.argument("paths", metavar="LOG...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write the calibration to this file.")
@click.option("--prior", type=click.Path(), help="Begin with this calibration, not with Levante's.")
@click.option("--name", help="What to call it; the name of the file by default.")
@click.option("--nodes", type=click.IntRange(min=1), help="The nodes of runs that do not say them.")
@click.option("--num-lev", type=click.IntRange(min=1), help="The levels of runs that do not say them.")
@click.option("--n-cells", type=click.IntRange(min=1), help="The grid's cells of runs that do not say them.")
@quiet_option
def command(
    paths: tuple[Path, ...],
    output: Path | None,
    prior: str | None,
    name: str | None,
    nodes: int | None,
    num_lev: int | None,
    n_cells: int | None,
    quiet: bool,
) -> int:
    """Fit the I/O model to the runs whose logs are given, and write the figures of your site to a small YAML file, for
    `nmlgen advise --calibration`.

    LOG is a log of ICON, a directory below which logs are found, or a table that `nmlgen logs -o` wrote. What a log
    does not say is looked for in the namelists, the batch script and the Darshan log beside it. One run with a few I/O
    ranks is enough for a first answer; more of them narrow the interval. Without -o the calibration goes to the
    terminal.

    Runs that did not end, or of which too little is known, are named and left out; exit code 2 if none is left.
    """
    given = {key: n for key, n in (("nodes", nodes), ("num_lev", num_lev), ("n_cells", n_cells)) if n is not None}
    before = None if prior is None else nmlgen.advise.Calibration.load(prior)
    name = name or (output.stem if output is not None else "calibrated")
    with reading_progress(paths, quiet) as progress:
        found = calibrate_logs(paths, before, name=name, given=given, progress=progress)
    text = found.calibration.dump()
    if not quiet:
        for line in _summary(found, before):
            click.echo(line, err=output is None)
    if output is None:
        show_content(text)
        return 0
    write_whole(output, utf_8(text))
    if not quiet:
        click.echo(f"wrote {output}; next: nmlgen advise SPEC --calibration {output}")
    return 0


def _summary(found: Calibrated, before: nmlgen.advise.Calibration | None) -> list[str]:
    """Each run with what was predicted before and is now, what was left out, and what the runs leave open."""
    lines = []
    for log, run in found.runs:
        now = f"{format_duration(nmlgen.advise.predict(run.case, found.calibration).total_s)} now"
        if before is not None or not found.calibration.on_gpus:
            was = nmlgen.advise.predict(run.case, before)
            now = f"{format_duration(was.total_s)} predicted before, {now}"
        what = "measured" if log.total_s == run.total_s else "computed (its streams have different intervals)"
        lines.append(f"{log.log}:{log.line}: {format_duration(run.total_s)} {what}, {now}")
    lines += [f"{log.log}:{log.line}: left out: {reason}" for log, reason in found.left_out]
    lines += [f"warning: {warning}" for warning in found.warnings]
    if len(found.executables) > 1:
        shown = "; ".join(f"{count} by {program}" for program, count in found.executables.items())
        lines.append(f"warning: these runs were made by {len(found.executables)} executables: {shown}")
    if found.set_up_s is not None:
        lines.append(
            f"set-up: {found.set_up_s} s of a job that the model's timers do not see; in the file of a site that is "
            f'set_up_time: "{format_wall_time(found.set_up_s)}", by which time limits are judged'
        )
    lines += [f"not determined: {sentence}" for sentence in found.calibration.undetermined]
    return lines
