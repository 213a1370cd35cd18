"""What pure programs print (GNU's, and the shells' own), worked out from their arguments and input; none is run.

Every program is a function of a Command in a module of this room, imported when it is first asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module

from nmlgen.script.effort import Effort
from nmlgen.script.patterns import UndecidedPattern
from nmlgen.script.posix_expressions import Untranslatable
from nmlgen.script.programs.command import Command, Result, UndecidedCommand

_MODULES = {
    "echo": "printing",
    "print": "printing",
    "printf": "printing",
    "expr": "expr",
    "cut": "columns",
    "basename": "paths",
    "dirname": "paths",
    "bc": "bc",
    "wc": "lines",
    "cat": "lines",
    "seq": "sequences",
    "true": "lines",
    "false": "lines",
    ":": "lines",
}
_LONGEST_ARGUMENTS = 100_000


def run_program(
    name: str,
    arguments: Sequence[str],
    stdin: str | None,
    *,
    is_ksh: bool | None = None,
    effort: Effort | None = None,
) -> tuple[str, int] | None:
    """What a program writes to its standard output, and its exit status; None where that cannot be known.

    `stdin` is None where it is not known; `is_ksh` says whose `echo`, `print` and `printf` are meant, as in
    `arithmetic.calculate`. GNU's programs are assumed, and no variable of the environment that alters them beside
    the locale's. A program that fails writes what it has before its message, which is no part of the output.
    """
    if name not in _MODULES or sum(map(len, arguments)) > _LONGEST_ARGUMENTS or any("\0" in text for text in arguments):
        return None
    module = import_module(f"nmlgen.script.programs.{_MODULES[name]}")
    program: Callable[[Command], Result] = module.PROGRAMS[name]
    try:
        return program(Command(tuple(arguments), stdin, is_ksh, effort))
    except (UndecidedCommand, UndecidedPattern, Untranslatable):
        return None
