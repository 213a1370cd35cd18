"""Values of options on #SBATCH lines."""

from __future__ import annotations

import re
from typing import Any

_PLAIN = re.compile(r"[A-Za-z0-9_./:=@%+,^&|*\[\]-]+")


def option_text(option: str, value: Any) -> str | None:
    """The text after #SBATCH for an option; None for a switch that is off.

    sbatch groups words by single or double quotes and takes an escaped quote and an escaped backslash within double
    ones; it drops a single backslash anywhere, and ends the line at an unquoted "#" (tried with Slurm 22.05). Nothing
    quotes a line break.
    """
    if value is False:
        return "--no-requeue" if option == "requeue" else None
    if value is True:
        return f"--{option}"
    text = str(value)
    if _PLAIN.fullmatch(text):
        return f"--{option}={text}"
    if "'" not in text and "\\" not in text:
        return f"--{option}='{text}'"
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'--{option}="{escaped}"'
