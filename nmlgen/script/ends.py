"""How the evaluation of a script may end before the script does."""

from __future__ import annotations


class GiveUpError(Exception):
    """The script takes more steps than an evaluation follows."""


class WayEndsError(Exception):
    """The shell, or the subshell, ends in the middle of a command."""
