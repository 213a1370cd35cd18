"""Scripts in two roles, as a program and as a job of Slurm: where they lie themselves, and what one role hands on.

Larger projects have one script that is started by hand and submits itself; the files with its namelists lie beside it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from nmlgen import disk

_SELF = r"\"?\$(?:BASH_SOURCE|\{BASH_SOURCE(?:\[0\])?\}|\{BASH_SOURCE\[0\]:-\$0\})\"?"
_FILE = re.compile(
    rf"\$\(\s*(?:(?:realpath|readlink\s+-(?:f|e|m))(?:\s+-[-\w]+)*\s+{_SELF}\s*"
    r"|scontrol\s+show\s+job(?:id)?\b[^|()]*\|[^()]*\bCommand=[^()]*)\)\Z"
)
_DIRECTORY = re.compile(
    rf"\$\(\s*(?:dirname\s+(?:--\s+)?{_SELF}|cd\s+(?:-P\s+)?(?:--\s+)?\"?\$\(\s*dirname\s+(?:--\s+)?{_SELF}\s*\)\"?"
    r"[^()]*(?:&&|;)\s*pwd(?:\s+-P)?)\s*\)\Z"
)


def own_place(substitution: str, script: str) -> str | None:
    """What a substitution of commands brings that asks for the place of the `script` it stands in, a path; None of any
    other. A script is taken to lie where it is read."""
    if not script or script.startswith("<") or len(substitution) > 300:
        return None
    if "BASH_SOURCE" not in substitution and "scontrol" not in substitution:
        return None
    path = os.path.abspath(script)
    if _FILE.match(substitution):
        return path
    return os.path.dirname(path) if _DIRECTORY.match(substitution) else None


_EXPORT = re.compile(r"^[ \t]*export[ \t]+(\w+)=(?:\"(\w*)\"|'(\w*)'|(\w+))[ \t]*(?:#.*)?$", re.MULTILINE)
_SOURCE = re.compile(r"^[ \t]*(?:source|\.)[ \t]+\"?(?:\$\{?\w+\}?/)?([\w./-]+)\"?[ \t]*$", re.MULTILINE)
_MOST_BESIDE = 200_000  # bytes
_SUBMITS_ITSELF = re.compile(
    rf"^[^#\n]*\bsbatch\b(?:(?!\bsbatch\b)[^\n|;&])*[ \t](?:\"?\$(?:0\b|\{{0\}})|{_SELF})", re.MULTILINE
)
_HANDS_ON = re.compile(
    r"(?:^|[;&|{(]|\bthen\b|\bdo\b|\belse\b)[ \t]*(?:export|declare[ \t]+-x)[ \t]+([^\n;&|#]*)", re.MULTILINE
)
_GIVEN_TO_JOB = re.compile(r"\bsbatch\b[^\n|;&]*[ \t]--export[= \t]\"?([^\n\s\"]*)")
_NAME = re.compile(r"(?:^|[ \t,])([A-Za-z_]\w*)(?==|,|[ \t]|\Z)")
_DEFAULT = re.compile(r"\$\{(\w+):?[=-]\"?(\w*)\"?\}")


def handed_over(script: str, directory: Path | None) -> frozenset[str]:
    """The variables that a script which submits itself exports for its other role: it exports them with another value
    than the one that it gives them where nothing has set them, or submits itself by its own name. The functions for it
    may stand in files beside it, which it sources.
    """
    if "sbatch" in script and _SUBMITS_ITSELF.search(script):
        lists = (match[1] for pattern in (_HANDS_ON, _GIVEN_TO_JOB) for match in pattern.finditer(script))
        return frozenset(name for text in lists for name in _NAME.findall(text))
    if "SLURM_JOB" not in script:
        return frozenset()
    whole = [script, *_beside(script, directory)]
    if not any("sbatch" in text for text in whole):
        return frozenset()
    defaults: dict[str, set[str]] = {}
    for text in whole:
        for name, value in _DEFAULT.findall(text):
            defaults.setdefault(name, set()).add(value)
    exports = (match for text in whole for match in _EXPORT.finditer(text))
    return frozenset(m[1] for m in exports if defaults.get(m[1], set()) - {m[2] or m[3] or m[4] or ""})


def _beside(script: str, directory: Path | None) -> Iterator[str]:
    """The texts of the files that a script sources, as far as their names stand there."""
    if directory is None:
        return
    for name in dict.fromkeys(_SOURCE.findall(script)):
        path = directory / name.lstrip("/")
        try:
            if disk.is_file(path) and disk.size(path) <= _MOST_BESIDE:
                yield disk.read_bytes(path).decode("utf-8", "surrogateescape")
        except OSError:
            continue
