"""nmlgen build: check a spec and write its files."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

import nmlgen
from nmlgen import disk
from nmlgen.cli.console import format_option, quiet_option, set_option, show_findings, spec_argument
from nmlgen.errors import BuildError
from nmlgen.render.write import changed_files
from nmlgen.report.json import finding_document, to_json


@click.command("build")
@spec_argument
@click.option("-o", "--output", "directory", type=click.Path(path_type=Path), help="Where to write; ./NAME by default.")
@set_option
@click.option("-n", "--dry-run", is_flag=True, help="Say what would be written; write nothing.")
@click.option(
    "--diff", "show_diff", is_flag=True, help="Show what would change; write nothing. Exit code 1 if anything would."
)
@click.option("--force", is_flag=True, help="Overwrite files that were changed since nmlgen wrote them.")
@click.option("--strict", is_flag=True, help="Let warnings stop the build as errors do.")
@click.option("--stamp", is_flag=True, help="Record time and host in the manifest.")
@format_option
@quiet_option
def command(
    spec: str,
    directory: Path | None,
    overrides: tuple[str, ...],
    dry_run: bool,
    show_diff: bool,
    force: bool,
    strict: bool,
    stamp: bool,
    output_format: str,
    quiet: bool,
) -> int:
    """Check SPEC and write its namelists, batch script and manifest.

    Errors stop the build; warnings do so with --strict. The files are written whole or not at all, and never
    over files that somebody changed since nmlgen wrote them.
    """
    try:
        loaded = nmlgen.load_spec(spec, overrides)
        build = nmlgen.build(loaded, strict=strict, stamp=_stamp() if stamp else None)
    except (nmlgen.SpecError, BuildError) as error:
        _show(error.findings, output_format, directory, (), [])
        if output_format == "text" and not quiet:
            click.echo("nothing was built", err=True)
        return 1
    directory = directory or Path(loaded.experiment.name)
    if show_diff:
        return _show_differences(build, directory)
    changed = changed_files(build.files, directory) if dry_run else build.write(directory, force)
    _show(build.findings, output_format, directory, changed, sorted(build.files))
    if output_format == "text" and not quiet:
        _say(loaded, directory, changed, dry_run)
    return 0


def _show(
    findings: tuple[nmlgen.Finding, ...],
    output_format: str,
    directory: Path | None,
    changed: tuple[str, ...],
    files: list[str],
) -> None:
    if output_format == "text":
        show_findings(findings, err=True)
        return
    document = {
        "directory": None if directory is None else str(directory),
        "files": files,
        "changed": list(changed),
        "findings": [finding_document(finding) for finding in findings],
    }
    click.echo(to_json(document))


def _say(spec: nmlgen.Spec, directory: Path, changed: tuple[str, ...], dry_run: bool) -> None:
    if spec.tree.get("sweep") is not None:
        click.echo("the spec has a sweep; built is what it says without it, nmlgen sweep builds the points", err=True)
    if not changed:
        click.echo(f"{directory} is up to date")
        return
    click.echo(f"{'would write' if dry_run else 'wrote'} to {directory}: {', '.join(changed)}")
    if not dry_run:
        scheduler, script = spec.experiment.machine.scheduler, directory / f"{spec.experiment.name}.sbatch"
        if scheduler == "pbs":  # whose jobs know the directory of the submission only
            click.echo(f"next: cd {shlex.quote(str(directory))} && qsub {shlex.quote(script.name)}")
        else:
            click.echo(f"next: {'sbatch' if scheduler == 'slurm' else 'bash'} {shlex.quote(str(script))}")


def _show_differences(build: nmlgen.Build, directory: Path) -> int:
    from nmlgen.unified import unified_diff

    different = False
    for name, data in sorted(build.files.items()):
        path = directory / name
        old = disk.content(path).decode("utf-8", "replace") if path.is_file() else ""
        lines = unified_diff(
            old.splitlines(keepends=True),
            data.decode().splitlines(keepends=True),
            str(path) if path.is_file() else "/dev/null",
            str(path),
        )
        for line in lines:
            different = True
            click.echo(line, nl=not line.endswith("\n"))
    return 1 if different else 0


def _stamp() -> dict[str, str]:
    import socket
    from datetime import datetime, timezone

    return {"time": datetime.now(timezone.utc).isoformat(timespec="seconds"), "host": socket.gethostname()}
