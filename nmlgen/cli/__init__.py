"""The command line: one thin file a command, over the public API."""

from __future__ import annotations

import gc
import sys

_ALLOCATIONS_BETWEEN_COLLECTIONS = 100_000  # little of what a command makes goes in circles


def main(arguments: list[str] | None = None) -> int:
    """Run the command `nmlgen`; returns its exit code: 0 clean, 1 findings, 2 usage or input and output."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments == ["--version"]:  # answered before anything else is loaded
        from nmlgen._version import __version__

        print(f"nmlgen {__version__}")
        return 0
    gc.set_threshold(_ALLOCATIONS_BETWEEN_COLLECTIONS)
    from nmlgen.cli.application import run

    return run(arguments)
