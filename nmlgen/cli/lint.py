"""nmlgen lint: judge files that nmlgen did not write, and mend them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection
from itertools import islice
from pathlib import Path

import click

import nmlgen
from nmlgen import disk
from nmlgen.baseline import beyond, read_baseline, write_baseline
from nmlgen.cli.caches import cache_of, cache_options
from nmlgen.cli.console import as_far_as_read, quiet_option, release_option, selection_options, show_findings, tracked
from nmlgen.cli.terminal import error_line, show_content, unfiltered
from nmlgen.cli.watching import changes
from nmlgen.codes import explanations
from nmlgen.configuration import is_variable
from nmlgen.files import STANDARD_INPUT
from nmlgen.fixing import Fixed, applicable
from nmlgen.report.github import format_github
from nmlgen.report.gitlab import gitlab_document
from nmlgen.report.json import report_document, to_json
from nmlgen.report.sarif import sarif_document
from nmlgen.report.text import format_undecided, summary

_MOST_PASSED_OVER = 5
_FORMATS = ("text", "json", "sarif", "github", "gitlab", "junit")


@click.command("lint")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--ntasks", type=click.IntRange(min=1), help="The number of MPI tasks the model runs on.")
@release_option(
    "The release whose variables and defaults hold; by default what a build, the configuration, a path or a log beside "
    "shows, else the newest."
)
@click.option("--site", metavar="NAME", help="The machine: one of `nmlgen presets`, or a site file as ./mysite.yaml.")
@selection_options
@click.option(
    "--fragment/--no-fragment",
    "is_fragment",
    default=None,
    help="Whether scripts need another one before them, as ICON's run/exp.* do; found out if not said.",
)
@click.option(
    "--define",
    "definitions",
    metavar="NAME=VALUE",
    multiple=True,
    help="A variable that is set before a script begins, over the profile; may be repeated.",
)
@click.option("--isolated", "is_isolated", is_flag=True, help="Obey no nmlgen.toml and no pyproject.toml.")
@click.option(
    "--format",
    "output_format",
    type=click.Choice(_FORMATS),
    default="text",
    show_default=True,
    help="How to print what was found.",
)
@click.option(
    "--rule-pages",
    metavar="URL",
    help="Where the pages of rules are published, as URL/RST001.html: SARIF links to them (helpUri).",
)
@click.option(
    "--statistics",
    is_flag=True,
    help="Print how often each rule found something, as text or JSON, and how many values are known.",
)
@click.option("--fix", "fixes", is_flag=True, help="Mend what can be mended safely; report what remains.")
@click.option("--unsafe-fixes", is_flag=True, help="With --fix or --diff, mend also where the meaning is guessed.")
@click.option("--diff", is_flag=True, help="Show what --fix would change; write nothing. Exit code 1 if anything.")
@click.option("--strict", is_flag=True, help="Exit with 1 for warnings, too.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 whatever was found.")
@click.option(
    "--baseline", metavar="FILE", type=click.Path(path_type=Path), help="Report what is new: not in this baseline."
)
@click.option(
    "--write-baseline",
    "new_baseline",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write what is found now to a baseline, and report nothing.",
)
@cache_options
@click.option("--watch", is_flag=True, help="Judge again whenever a file changes, until Ctrl-C.")
@click.option("--show-undecided", is_flag=True, help="List the rules that lacked a value, by file and value.")
@quiet_option
def command(
    paths: tuple[Path, ...],
    ntasks: int | None,
    icon_release: str | None,
    site: str | None,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    is_fragment: bool | None,
    definitions: tuple[str, ...],
    is_isolated: bool,
    output_format: str,
    rule_pages: str | None,
    statistics: bool,
    fixes: bool,
    unsafe_fixes: bool,
    diff: bool,
    strict: bool,
    exit_zero: bool,
    baseline: Path | None,
    new_baseline: Path | None,
    cache_directory: Path | None,
    has_no_cache: bool,
    watch: bool,
    show_undecided: bool,
    quiet: bool,
) -> int:
    """Judge run scripts, namelist files and configurations of mkexp, as ICON, Slurm and the shell read them.

    Nothing is run. An icon_master.namelist is judged with the files it names, a directory with all that is in it and
    below, a namelist.input as WRF reads it, a namelist.atmosphere as MPAS, PARIN and *_p3d as PALM does; PATH - is the
    standard input. Exit code 1 if there are errors.

    Of several paths those that lead to nothing to lint are passed over, as among `run/*`; they are told of.

    What is found is kept in a cache, and taken from there as long as nothing has changed that it was found by.

    A baseline holds what is found in old scripts today; with --baseline only what is new is reported.
    """
    if statistics and output_format not in ("text", "json"):
        raise click.UsageError("--statistics prints text or JSON")
    if (fixes or diff or watch) and STANDARD_INPUT in paths:
        raise click.UsageError("--fix, --diff and --watch need files, not the standard input")
    if rule_pages is not None and not rule_pages.startswith(("https://", "http://", "file://")):
        raise click.UsageError(f'--rule-pages takes a URL such as https://nmlgen.example.org/rules, not "{rule_pages}"')
    if watch and (fixes or diff or new_baseline is not None):
        raise click.UsageError("--watch only judges: no --fix, --diff or --write-baseline with it")
    passed_over: dict[str, None] = {}  # each once, however often files are judged
    options = {
        "ntasks": ntasks,
        "icon_release": icon_release,
        "site": site,
        "select": select,
        "ignore": ignore,
        "is_isolated": is_isolated,
        "is_fragment": is_fragment,
        "variables": dict(map(_definition, definitions)),
        "track": None if quiet else tracked,
        "passed_over": passed_over.setdefault,
    }

    cache = None if has_no_cache or watch else cache_of(cache_directory)  # what is watched is read

    def judged() -> nmlgen.Report:
        report = nmlgen.lint(paths, cache=cache, **options)  # type: ignore[arg-type]
        return report if baseline is None else beyond(report, read_baseline(baseline), baseline.parent)

    def show(report: nmlgen.Report, fixed_count: int = 0) -> int:
        if not quiet:
            _tell_of(passed_over)
        with as_far_as_read():
            if statistics:
                _show_statistics(report, output_format)
            elif output_format != "text":
                is_for_github = output_format == "github"
                click.echo(
                    _document(report, output_format, rule_pages),
                    nl=bool(report.findings) or not is_for_github,
                    file=unfiltered(sys.stdout) if is_for_github else None,
                )
            else:
                _show(report, unsafe_fixes, show_undecided)
                if not quiet:
                    click.echo(("\n" if report.findings else "") + _summary(report, fixed_count, unsafe_fixes))
        return 1 if not exit_zero and (report.errors or (strict and report.warnings)) else 0

    if watch:
        return _watched(paths, lambda: show(judged()))
    if fixes or diff:
        fixed = nmlgen.fix(paths, is_unsafe=unsafe_fixes, **options)  # type: ignore[arg-type]
        if diff:
            return _show_differences(fixed, quiet, exit_zero)
        fixed.write()
        report = fixed.report
        if baseline is not None:
            report = beyond(report, read_baseline(baseline), baseline.parent)
        return show(report, fixed.count)
    report = judged()
    if new_baseline is not None:
        count = write_baseline(new_baseline, report)
        click.echo(f"wrote {new_baseline}: {count} finding{'s' if count != 1 else ''}")
        return 0
    return show(report)


def _tell_of(passed_over: Collection[str]) -> None:
    for message in islice(passed_over, _MOST_PASSED_OVER):
        click.echo(f"passed over: {message}", err=True)
    if (more := len(passed_over) - _MOST_PASSED_OVER) > 0:
        click.echo(f"passed over: {more} more", err=True)


def _watched(paths: tuple[Path, ...], judge: Callable[[], int]) -> int:
    """Judge now and whenever something changes. What cannot be read at first ends it; later on it is told of, as an
    editor may just be writing a file anew."""
    code: int | None = None
    read: dict[Path, None] = {}
    for _ in changes(paths, read):
        try:
            with disk.recorded() as looks:
                code = judge()
            read |= dict.fromkeys(looks.read)
        except BrokenPipeError:
            raise
        except (nmlgen.NmlgenError, OSError) as error:
            if code is None:
                raise
            click.echo(error_line(error), err=True)
            code = 2
    return code or 0


def _definition(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not is_variable(name):
        raise click.UsageError(f'--define takes NAME=VALUE, not "{text}"')
    return name, value


def _show(report: nmlgen.Report, unsafe_fixes: bool, show_undecided: bool) -> None:
    show_findings(report.findings, marked=set(applicable(report.findings, unsafe_fixes)))
    if show_undecided and report.undecided:
        click.echo(("\n" if report.findings else "") + format_undecided(report.undecided))


def _summary(report: nmlgen.Report, fixed_count: int, unsafe_fixes: bool) -> str:
    line = f"{fixed_count} fixed; {summary(report)}" if fixed_count else summary(report)
    mended = len(applicable(report.findings, unsafe_fixes))
    others = len(applicable(report.findings, True)) - mended
    if mended:
        line += f"\n[*] {mended} fixable with --fix{' --unsafe-fixes' if unsafe_fixes else ''}"
    if others:
        line += f"\n{others}{' more' if mended else ''} fixable with --fix --unsafe-fixes"
    return line


def _show_statistics(report: nmlgen.Report, output_format: str) -> None:
    from nmlgen.report.statistics import format_statistics, format_values, statistics_document

    if output_format == "json":
        click.echo(to_json(statistics_document(report.findings)))
        return
    if report.findings:
        click.echo(format_statistics(report.findings))
    if report.values is not None and report.values.with_expansion:
        click.echo(format_values(report.values))


def _show_differences(fixed: Fixed, quiet: bool, exit_zero: bool) -> int:
    show_content(fixed.differences())
    if not quiet:
        would_fix = f"would fix {fixed.count} finding{'s' if fixed.count != 1 else ''}"
        click.echo(would_fix if fixed.count else "nothing to fix", err=True)
    return 1 if fixed.changes and not exit_zero else 0


def _document(report: nmlgen.Report, output_format: str, rule_pages: str | None) -> str:
    if output_format == "json":
        return to_json(report_document(report))
    if output_format == "sarif":
        return to_json(sarif_document(report, explanations(), rule_pages))
    if output_format == "gitlab":
        return to_json(gitlab_document(report.findings))
    if output_format == "junit":
        from nmlgen.report.junit import format_junit

        return format_junit(report.findings)
    return format_github(report.findings)
