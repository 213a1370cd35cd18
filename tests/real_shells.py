"""Real shells and programs, which say what is right: many commands by one shell, in an environment of our own."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

from tools import require

_ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC", "HOME": "/nowhere"}
_AT_ONCE = 400

# Takes, again and again: how many words a command has, its standard input, its words. Prints the output, "x" and the
# status of each, with a byte 1 behind.
_RUN_COMMANDS = r"""
while [ $# -gt 0 ]; do
  count=$1 input=$2; shift 2
  words=()
  for ((i = 0; i < count; i++)); do words[i]=$1; shift; done
  output=$(printf '%s' "$input" | "${words[@]}" 2> /dev/null; echo "x$?")
  printf '%s\001' "$output"
done
"""


def run_script(shell: str, script: str, arguments: Sequence[str] = ()) -> str:
    """What a script prints; the arguments are its positional parameters."""
    require(shell)
    command = [shell, "-c", script, shell, *arguments]
    return subprocess.run(
        command, env=_ENVIRONMENT, capture_output=True, text=True, errors="surrogateescape", check=False
    ).stdout


def run_commands(shell: str, commands: Sequence[tuple[Sequence[str], str]]) -> list[tuple[str, int]]:
    """Output and status of commands, each its words and its standard input."""
    results = []
    for start in range(0, len(commands), _AT_ONCE):
        some = commands[start : start + _AT_ONCE]
        arguments = [text for words, stdin in some for text in (str(len(words)), stdin, *words)]
        for record in run_script(shell, _RUN_COMMANDS, arguments).split("\x01")[:-1]:
            output, _, status = record.rpartition("x")
            results.append((output, int(status)))
    assert len(results) == len(commands)
    return results
