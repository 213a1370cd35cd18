"""Kill each command that writes at every system call by which it changes the disk, and let the disk be full after some
bytes. Prints what was lost.

    python benchmarks/kills.py [COMMAND ...]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from fuzzing.killed import COMMANDS, Trials, full_disks, kills


def main() -> None:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commands", nargs="*", help=f"of {', '.join(COMMANDS)}; all by default")
    commands = parser.parse_args().commands
    if unknown := set(commands) - set(COMMANDS):
        parser.error(f"there is no command {', '.join(sorted(unknown))}")
    lost = 0
    for command in commands or COMMANDS:
        with TemporaryDirectory() as name:
            trials = Trials(command, Path(name) / "work")
            killed = list(kills(trials))
            full = list(full_disks(trials))
        told = [line for line in (*killed, *full) if line is not None]
        lost += len(told)
        print(f"{command}: {len(killed)} kills, {len(full)} full disks, {len(told)} of them lost something", flush=True)
        print("".join(f"  {line}\n" for line in told), end="")
    sys.exit(bool(lost))


if __name__ == "__main__":
    main()
