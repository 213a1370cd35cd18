"""nmlgen why: who set a value."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import suppress

import click

import nmlgen
from nmlgen.cli.console import format_option, set_option, spec_argument, uses_colour
from nmlgen.cli.terminal import show_coloured
from nmlgen.errors import InputError
from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.seats import TASK, number_ranges
from nmlgen.experiment.setting import Origin, UndecidedError
from nmlgen.models.icon.checkpoints import Checkpoints, checkpoints_of
from nmlgen.models.icon.placement import placement, reason
from nmlgen.report.json import finding_document, to_json
from nmlgen.report.table import format_table

_OF_CHECKPOINTS = (
    *("restart_write_mode", "num_restart_procs", "nrestart_streams"),
    *("checkpointtimeintval", "restarttimeintval", "keep_last", "keep_every"),
)


@click.command("why")
@spec_argument
@click.argument("name")
@set_option
@format_option
def command(spec: str, name: str, overrides: tuple[str, ...], output_format: str) -> int:
    """Show who set the value NAME in SPEC, where, and what it replaced.

    NAME is a namelist variable (io_nml.restart_write_mode), a variable of an output stream
    (output.atm.output_interval) or a key of the spec (job.nodes, run_directory). Of settings of the checkpoints it is
    said who writes and reads them, and how many files that makes. `rank.70` is a rank of a job whose ranks are placed:
    where it sits, and why.
    """
    try:
        loaded = nmlgen.load_spec(spec, overrides)
        if (rank := _RANK.fullmatch(name)) is not None:
            return _of_rank(loaded.experiment, int(rank[1]), output_format)
        chain = loaded.chain(name)
    except nmlgen.SpecError as error:
        if output_format == "text":
            raise
        click.echo(to_json({"name": name, "findings": [finding_document(finding) for finding in error.findings]}))
        return 1
    if output_format == "json":
        checkpoints = {title: _checkpoint_document(found) for title, found in _checkpoints(loaded.experiment, name)}
        about = {"checkpoints": checkpoints} if checkpoints else {}
        click.echo(to_json({"name": name, "chain": [_document(origin) for origin in chain], **about}))
        return 0
    click.echo(f"{name} = {_value(chain[0])}")
    rows = [
        (origin.layer, str(origin.span or ""), _value(origin), "in force" if number == 0 else "replaced")
        for number, origin in enumerate(chain)
    ]
    show_coloured(format_table(("layer", "where", "value", ""), rows, uses_colour(sys.stdout), sys.stdout.isatty()))
    if chain[0].reason is not None:
        click.echo(f"decided by the advisor: {chain[0].reason}")
    for title, found in _checkpoints(loaded.experiment, name):
        click.echo(f"{title}: {found}" if len(loaded.experiment.models) > 1 else f"{found}")
    return 0


_RANK = re.compile(r"rank\.([0-9]{1,7})")


def _of_rank(experiment: Experiment, rank: int, output_format: str) -> int:
    """Where a rank sits, and why."""
    if not experiment.programs:
        raise InputError("nothing places the ranks: Slurm deals them; nmlgen explain placement tells what would")
    seats = placement(experiment)
    if rank >= len(seats):
        raise InputError(f"there is no rank {rank}: the job has {len(seats)}, counted from 0")
    seat = next(one for one in seats if one.rank == rank)
    why, settings = reason(experiment, seat)
    does = {"io": "I/O", TASK: "a rank of a program"}.get(seat.kind, seat.kind)
    where = [f"node {seat.node}", f"{experiment.programs[seat.program].name}: {does}"]
    where.append("no GPU" if seat.gpu is None else f"GPU {seat.gpu}")
    where.append(f"cores {number_ranges(seat.cores)}" if seat.cores else "bound to no cores")
    where += [f"NUMA node {number_ranges(seat.numa)}"] if seat.numa else []
    where += [f"card {seat.card}"] if seat.card else []
    if output_format == "json":
        values = {"node": seat.node, "does": seat.kind, "gpu": seat.gpu, "cores": list(seat.cores), "why": why}
        chain = [{"name": one.name, **_document(one.origin)} for one in settings]
        click.echo(to_json({"name": f"rank.{rank}", "seat": values, "chain": chain}))
        return 0
    click.echo(f"rank {rank}: {', '.join(where)}\n{why}")
    rows = [(one.name, one.origin.layer, str(one.span or ""), _value(one.origin)) for one in settings]
    show_coloured(format_table(("key", "layer", "where", "value"), rows, uses_colour(sys.stdout), sys.stdout.isatty()))
    return 0


def _checkpoints(experiment: Experiment, name: str) -> Iterator[tuple[str, Checkpoints]]:
    """What is known of the checkpoints of each component, for a setting that they depend on."""
    if name.rpartition(".")[2].lower() not in _OF_CHECKPOINTS:
        return
    for component in experiment.components:
        with suppress(UndecidedError):
            found = checkpoints_of(component)
            if found is not None:
                yield component.title, found


def _checkpoint_document(found: Checkpoints) -> dict[str, object]:
    return {
        "mode": found.mode.value,
        "writers": found.writers,
        "files": found.files,
        "number": found.number,
        "standing": found.standing,
        "words": str(found),
    }


def _value(origin: Origin) -> str:
    if origin.layer == "unknown":
        return "not known"
    if origin.value is None:
        return "null (taken away)"
    if isinstance(origin.value, bool):
        return str(origin.value).lower()
    if isinstance(origin.value, (list, tuple)):
        return ", ".join(str(element) for element in origin.value)
    return str(origin.value) if origin.value != "" else "''"


def _document(origin: Origin) -> dict[str, object]:
    span = origin.span
    return {
        "layer": origin.layer,
        "value": origin.value,
        "file": span.source.name if span else None,
        "line": span.line if span else None,
        "column": span.column if span else None,
        **({"reason": origin.reason} if origin.reason is not None else {}),
    }
