"""nmlgen check: hold a spec against the rules."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

import click

import nmlgen
from nmlgen.cli.console import (
    as_far_as_read,
    format_option,
    quiet_option,
    release_option,
    selection_options,
    set_option,
    show_findings,
    tracked,
)
from nmlgen.codes import rule_names
from nmlgen.findings import joined
from nmlgen.namelist.registry import registry_of
from nmlgen.report.json import report_document, to_json
from nmlgen.report.text import format_undecided, summary
from nmlgen.selection import Selection, selected, selectors

if TYPE_CHECKING:  # the readers of sweeps are imported for a sweep
    from nmlgen.sweep.review import Review


@click.command("check")
@click.argument("specs", metavar="SPEC...", nargs=-1, required=True, type=click.Path())
@set_option
@release_option("Check as if for this release, whatever the spec says.")
@selection_options
@click.option("--strict", is_flag=True, help="Exit with 1 for warnings, too.")
@click.option("--all-points", is_flag=True, help="Check each point of a sweep, however many it has.")
@click.option("--show-undecided", is_flag=True, help="List the rules that lacked a value, by file and value.")
@format_option
@quiet_option
def command(
    specs: tuple[str, ...],
    overrides: tuple[str, ...],
    icon_release: str | None,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    strict: bool,
    all_points: bool,
    show_undecided: bool,
    output_format: str,
    quiet: bool,
) -> int:
    """Check each SPEC against the rules; write nothing.

    Of a spec with a sweep the points are checked, of one with very many some from all over it (`sweep` checks each that
    it writes); a finding is shown once, with the points it concerns, of those that differ in a number only three. Exit
    code 1 if there are errors, or warnings with --strict. --select and --ignore say what is reported: a build looks at
    all.
    """
    names = rule_names() if select or ignore else {}
    selection = Selection(selectors(select, names), selectors(ignore, names))
    reports = []
    overrides = (*overrides, *_model(icon_release))
    sweeps: list[str] = []
    refused: list[nmlgen.Finding] = []
    for spec in specs:
        try:
            loaded = nmlgen.load_spec(spec, overrides)
            if loaded.tree.get("sweep") is None:
                reports.append(nmlgen.check(loaded))
                continue
            reviewed = _reviewed(loaded, all_points, quiet)
            reports.append(reviewed.report)
            sweeps.append(f"{spec}: {_counted(reviewed)}, {reviewed.invalid} of them cannot be built")
        except nmlgen.SpecError as error:
            refused += error.findings
    if refused and output_format == "text":
        with as_far_as_read():
            show_findings(refused, err=True)
        if not reports:
            return 1
    elif refused:
        reports.append(nmlgen.Report(tuple(refused)))
    report = selected(joined(reports), selection)
    with as_far_as_read():
        _show(report, sweeps, output_format, show_undecided=show_undecided, quiet=quiet)
    return 1 if refused or report.errors or (strict and report.warnings) else 0


def _reviewed(spec: nmlgen.Spec, every: bool, quiet: bool) -> Review:
    from nmlgen.sweep.expansion import plan_of_spec
    from nmlgen.sweep.review import affordable, review

    plan = plan_of_spec(spec)
    assert plan is not None  # there is a sweep
    return review(plan, None if every else affordable(plan), iter if quiet else partial(tracked, verb="checking"))


def _counted(review: Review) -> str:
    if review.is_whole:
        return f"{review.points} points"
    return f"{review.points} of {review.total} points (--all-points checks each)"


def _show(
    report: nmlgen.Report, sweeps: Iterable[str], output_format: str, *, show_undecided: bool, quiet: bool
) -> None:
    if output_format == "json":
        click.echo(to_json(report_document(report)))
    else:
        show_findings(report.findings)
        if show_undecided and report.undecided:
            click.echo(("\n" if report.findings else "") + format_undecided(report.undecided))
        if not quiet:
            click.echo("\n".join(("",) * bool(report.findings) + (*sweeps, summary(report))))


def _model(icon_release: str | None) -> tuple[str, ...]:
    """The overrides that make a spec one for a release."""
    if icon_release is None:
        return ()
    registry = registry_of(icon_release)
    own = "" if registry.path is None else str(registry.path.resolve())
    return (f'model.release="{registry.release}"', f"model.registry={json.dumps(own)}")
