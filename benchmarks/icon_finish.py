"""Hold the table of the places where ICON ends a run by itself against a source tree.

    python benchmarks/icon_finish.py SOURCE_TREE

Prints the calls of `finish` that the table lacks and the rows that have no call, for the files that the table covers;
ends with 1 if there is one. The tree must be that of the release that `schemas/icon-finish.json` names.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
FOLDERS = ("src/configure_model", "src/namelists", "src/io/restart")
_CALL = re.compile(r"^[^!'\"]*\bcall\s+finish\s*\(", re.IGNORECASE)


def calls(file: Path) -> Iterator[int]:
    """The lines of a source file that call `finish`, counted from 1."""
    for number, line in enumerate(file.read_text(encoding="utf-8", errors="replace").splitlines(), start=1):
        if _CALL.match(line):
            yield number


def main() -> int:
    """Compare, print what differs, say how much was compared."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source_tree", type=Path)
    tree = parser.parse_args().source_tree
    if not (tree / "src").is_dir():
        parser.exit(2, f"{tree} is no source tree of ICON: there is no directory src\n")
    sites = json.loads((ROOT / "schemas" / "icon-finish.json").read_text(encoding="utf-8"))["sites"]
    sources = {path.name: path for path in (tree / "src").rglob("*.f90")}
    covered = {path.name for folder in FOLDERS for path in (tree / folder).glob("*.f90")} | set(sites)
    differences = 0
    for name in sorted(covered):
        there = set(calls(sources[name])) if name in sources else set()
        known = {int(line) for line in sites.get(name, {})}
        for line in sorted(there ^ known):
            differences += 1
            print(f"{name}:{line}: {'no row' if line in there else 'no call'}")
    print(f"{len(covered)} files, {sum(map(len, sites.values()))} rows, {differences} differences")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
