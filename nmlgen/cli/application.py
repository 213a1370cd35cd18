"""The application `nmlgen`: its commands, loaded when they are called, and what becomes of errors."""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, TextIO

import click

from nmlgen._version import __version__
from nmlgen.apart import patience
from nmlgen.cli import was_interrupted
from nmlgen.cli.terminal import Terminal, error_line
from nmlgen.errors import BuildError, NmlgenError, SpecError
from nmlgen.visible import visible

_COMMANDS = {
    "advise": "Predict what a layout of I/O and restart ranks costs; recommend one.",
    "build": "Check a spec and write its namelists, batch script and manifest.",
    "calibrate": "Fit the advisor to your own runs, from their logs.",
    "cancel": "Take points of a sweep back from Slurm or PBS.",
    "check": "Check a spec against the rules; write nothing.",
    "clean": "Remove the cache of lint.",
    "compare": "Compare what two runs took: times, timers, rates, set-up.",
    "completion": "Print the shell completion script.",
    "convert": "Write a run script for another batch system: PBS or Slurm.",
    "diff": "Compare two experiments by meaning: specs, builds, namelists.",
    "doctor": "Tell what of this machine is in order: Slurm, account, MPI, Darshan, ICON.",
    "explain": "Explain a rule, or a problem of a spec, by its code or name.",
    "export": "Write a sweep for Cylc, JUBE or Snakemake.",
    "import": "Make a spec of namelists that exist already.",
    "init": "Write a first spec from a preset and a site.",
    "join": "Put the files of a stream's partitions together.",
    "lint": "Judge run scripts and namelist files that exist already.",
    "lsp": "Start the language server for editors.",
    "man": "Print the manual page of a command, or write all pages.",
    "migrate": "Tell what a newer release of ICON takes no longer, or otherwise; mend it.",
    "logs": "Read ICON's logs and timer reports, and Darshan logs, into one table.",
    "presets": "List the presets and sites; show one.",
    "ranks": "Show how the MPI ranks split and which I/O rank writes what.",
    "registry": "Show what an ICON release knows: groups, variables, defaults.",
    "resubmit": "Submit again what failed of a sweep.",
    "report": "Make a page of a sweep: run times, rates, the best layouts.",
    "rules": "List the rules.",
    "schema": "Print the JSON Schema of specs, for editors.",
    "status": "Show how far each point of a sweep is.",
    "submit": "Submit a sweep to Slurm or PBS: what is missing of it.",
    "sweep": "Expand a sweep, check every point and write it.",
    "tune": "Find the best layout by trying some on Slurm.",
    "verify": "Check that a run wrote what its experiment promises, whole.",
    "volume": "Show how many bytes a spec writes, and how sure that is.",
    "wait": "Wait until nothing of a sweep waits or runs.",
    "why": "Show who set a value, where, and what it replaced.",
}


_COMPLETION = "_NMLGEN_COMPLETE"
_ASKS = re.compile(r"(?:bash|zsh|fish)_source|(?:bash|zsh)_complete [0-9]{1,9}|fish_complete (?:\s*\S.*)?", re.DOTALL)
"""What a shell says that asks for completions: the script, or the words that may follow at a place of a line."""
_SIZE = re.compile(r"[0-9]{1,4}")
_HOME = Path(__file__).parent.parent


class _Application(click.Group):
    """A group whose commands are imported when they are needed."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # before click makes exit code 1 of it, which stands for findings
            return _close(sys.stdout)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = import_module(f"nmlgen.cli.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in _COMMANDS and not name.startswith("-"):
            from nmlgen.findings import did_you_mean

            ctx.fail("; ".join((f'there is no command "{name}"', *did_you_mean(name, _COMMANDS))))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(sorted(_COMMANDS.items()))


@click.command(cls=_Application, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="nmlgen", message="%(prog)s %(version)s")
def application() -> None:
    """The namelist compiler for ICON on Slurm.

    From one YAML spec nmlgen makes checked Fortran namelists, a batch script, Lustre striping and the MPI-IO
    environment:

    \b
      nmlgen init --preset icon/nh_dcmip_tc_52 --site levante --account bb1234 -o spec.yaml
      nmlgen check spec.yaml
      nmlgen build spec.yaml -o run1
      sbatch run1/*.sbatch

    Exit codes: 0 clean, 1 findings, 2 usage or input and output.
    """


def run(arguments: list[str]) -> int:
    """Run the application; errors become messages and exit codes."""
    before = sys.stdout, sys.stderr
    _make_printable()
    _forget_what_is_no_size()
    try:
        with patience():
            return _run(arguments)
    finally:
        sys.stdout, sys.stderr = before[0] or sys.stdout, before[1] or sys.stderr


def _run(arguments: list[str]) -> int:
    try:
        result = application.main(
            arguments, prog_name="nmlgen", complete_var=_completion_variable(), standalone_mode=False
        )
        sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except click.ClickException as error:
        error.show()
        return 2
    except click.Abort:
        return 130
    except (SpecError, BuildError) as error:
        from nmlgen.cli.console import as_far_as_read, show_findings

        with as_far_as_read():
            show_findings(error.findings, err=True)
        return 1
    except NmlgenError as error:
        from nmlgen.cli.console import as_far_as_read

        with as_far_as_read():
            click.echo(error_line(error), err=True)
        return 2
    except BrokenPipeError:
        return _close(sys.stdout)
    except OSError as error:
        click.echo(error_line(error), err=True)
        _close(sys.stdout)
        return 2
    except MemoryError:
        raise
    except Exception as error:
        if was_interrupted(error):
            return 130
        from nmlgen.experiment.setting import UndecidedError

        if isinstance(error, UndecidedError):
            click.echo(f"nmlgen: error: that is not known: {visible(error.reason)}", err=True)
        else:
            _tell_of_mistake(error)
        return 2


def _completion_variable() -> str:
    """The variable by which a shell asks for completions, where one does ask; else none. What anybody else has set does
    not keep a command from being done."""
    asked = os.environ.get(_COMPLETION, "")
    if "COMP_WORDS" in os.environ and not asked.endswith("_source"):
        asked += f" {os.environ.get('COMP_CWORD', ' ')}"
    return _COMPLETION if _ASKS.fullmatch(asked) else ""


def _tell_of_mistake(error: Exception) -> None:
    """What nobody foresaw: which error it was and where in nmlgen, for a report, in place of a traceback."""
    place, trace = "", error.__traceback__
    while trace is not None:
        file = Path(trace.tb_frame.f_code.co_filename)
        if file.is_relative_to(_HOME):
            place = f" ({file.relative_to(_HOME.parent)}:{trace.tb_lineno})"
        trace = trace.tb_next
    said = visible(f"{type(error).__name__}: {error}"[:500])
    click.echo(f"nmlgen: error: a mistake in nmlgen: {said}{place}", err=True)
    click.echo("  please report it with the input that shows it", err=True)


def _make_printable() -> None:
    """Let no character of a file's name or of a value stop the output, whatever the terminal's encoding."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by the caller
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
            setattr(sys, name, Terminal(stream))


def _forget_what_is_no_size() -> None:
    """Let nobody draw on a terminal that is said to have a thousand million columns; else it is asked for its own."""
    for name in ("COLUMNS", "LINES"):
        if _SIZE.fullmatch(os.environ.get(name, "1")) is None:
            del os.environ[name]


def _close(stream: TextIO) -> int:
    """Nobody reads any further: let what is still buffered go nowhere, and be content."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return 0
