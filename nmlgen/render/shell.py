"""Text for the shell and for #SBATCH lines, quoted so that what a spec says stays text."""

from __future__ import annotations

import re
from typing import Any

_PLAIN_DIRECTIVE = re.compile(r"[A-Za-z0-9_./:=@%+,^&|*\[\]-]+")
_PLAIN_WORD = re.compile(r"[A-Za-z0-9_./:=@%+-]+")


def shell_word(value: Any) -> str:
    """One shell word that expands to exactly the value."""
    text = str(value)
    if _PLAIN_WORD.fullmatch(text):
        return text
    return "'" + text.replace("'", "'\\''") + "'"


def shell_path(value: str, base: str) -> str:
    """A shell word for a path; a relative one starts from the directory in the shell variable `base`."""
    return shell_word(value) if value.startswith("/") else f'"${base}"/{shell_word(value)}'


def directive(option: str, value: Any) -> str | None:
    """The text after #SBATCH for an option; None for a switch that is off.

    sbatch groups words by single or double quotes and takes an escaped quote and an escaped backslash within double
    ones; it drops a single backslash anywhere, and ends the line at an unquoted "#" (tried with Slurm 22.05).
    """
    if value is False:
        return "--no-requeue" if option == "requeue" else None
    if value is True:
        return f"--{option}"
    text = str(value)
    if _PLAIN_DIRECTIVE.fullmatch(text):
        return f"--{option}={text}"
    if "'" not in text and "\\" not in text:
        return f"--{option}='{text}'"
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'--{option}="{escaped}"'
