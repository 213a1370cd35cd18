"""The command line: one thin file a command, over the public API."""

from __future__ import annotations

import sys


def main(arguments: list[str] | None = None) -> int:
    """Run the command `nmlgen`; returns its exit code: 0 clean, 1 findings, 2 usage or input and output."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments == ["--version"]:  # answered before anything else is loaded
        from nmlgen._version import __version__

        print(f"nmlgen {__version__}")
        return 0
    from nmlgen.cli.application import run

    return run(arguments)
