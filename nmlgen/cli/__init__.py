"""The command line: one thin file a command, over the public API."""

from __future__ import annotations

import atexit
import gc
import os
import sys

TYPE_CHECKING = False  # that of typing, whose import would cost a third of the start-up
if TYPE_CHECKING:
    from typing import TextIO

_ALLOCATIONS_BETWEEN_COLLECTIONS = 1_000_000  # little of what a command makes goes in circles


def main(arguments: list[str] | None = None) -> int:
    """Run the command `nmlgen`; returns its exit code: 0 clean, 1 findings, 2 usage or input and output."""
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        if arguments == ["--version"]:  # answered before anything else is loaded
            return _version()
        gc.set_threshold(_ALLOCATIONS_BETWEEN_COLLECTIONS)
        atexit.register(gc.freeze)  # else Python looks once more for what goes in circles as it ends
        from nmlgen.cli.application import run

        return run(arguments)
    except KeyboardInterrupt:  # also while it starts
        return 130
    except MemoryError:
        print("nmlgen: error: there is not enough memory (MemoryError)", file=sys.stderr)
        return 2
    except RuntimeError as error:
        if not was_interrupted(error):
            raise
        return 130
    except OSError:  # stderr is full, or nobody reads it: what went wrong can be said by the exit code alone
        return 2
    finally:
        for stream in (sys.stdout, sys.stderr):
            _let_go(stream)


def was_interrupted(error: Exception) -> bool:
    """Whether it is Ctrl-C while a class is made: before 3.12 Python makes a RuntimeError of what is raised then."""
    return isinstance(error.__cause__, KeyboardInterrupt)


def _let_go(stream: TextIO | None) -> None:
    """Write what is still buffered, or let it go nowhere: Python tries again as it ends, and makes 120 of a failure."""
    if stream is None or stream.closed:
        return
    try:
        stream.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _version() -> int:
    from nmlgen._version import __version__

    try:
        print(f"nmlgen {__version__}", flush=True)
    except OSError as error:
        if sys.stderr is not None and not isinstance(error, BrokenPipeError):
            print(f"nmlgen: error: {(error.strerror or str(error)).lower()}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what could not be written is not tried again
        return 0 if isinstance(error, BrokenPipeError) else 2
    return 0
