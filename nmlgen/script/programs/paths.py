"""`basename` and `dirname`."""

from __future__ import annotations

from nmlgen.script.programs.command import Command, Result, UndecidedCommand, joined


def basename(command: Command) -> Result:
    """`basename`, with a suffix, `-s` and `-a`."""
    options, names = command.options("a", "s", {"multiple": "a", "suffix": "s"}, in_front=True)
    suffix = next((value for letter, value in reversed(options) if letter == "s"), "")
    if not names or (not options and len(names) > 2):
        return "", 1
    if not options and len(names) == 2:
        suffix = names.pop()
    return joined([_last(name, suffix) for name in names]), 0


def _last(name: str, suffix: str) -> str:
    stripped = name.rstrip("/")
    if not stripped:
        return name[:1]
    last = stripped.rpartition("/")[2]
    return last[: -len(suffix)] if suffix and last.endswith(suffix) and last != suffix else last


def dirname(command: Command) -> Result:
    """`dirname` of one name or several."""
    _, names = command.options("", in_front=True)
    if not names:
        return "", 1
    if any(name.startswith("//") for name in names):
        raise UndecidedCommand("a name that begins with //")
    return joined([_directory(name) for name in names]), 0


def _directory(name: str) -> str:
    stripped = name.rstrip("/")
    if not stripped:
        return "/" if name else "."
    if "/" not in stripped:
        return "."
    return stripped.rpartition("/")[0].rstrip("/") or "/"


PROGRAMS = {"basename": basename, "dirname": dirname}
