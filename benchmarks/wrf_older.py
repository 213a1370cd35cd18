"""Whether the file on WRF's older releases is what their sources make of it.

    python benchmarks/wrf_older.py REPOSITORY [--write]

REPOSITORY is a clone of WRF (https://github.com/wrf-model/WRF) with its tags. Prints whether
`schemas/wrf/<release>-older.json` is the same byte for byte; with --write it is written anew. It holds, for what the
release refuses, for its defaults and its variables, the last of the older releases that does not refuse it, has another
default, or lacks the variable; what is not there is so in all of them.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from wrf_extract import make_groups, make_steps, registries
from wrf_release import SCHEMAS

from nmlgen.models.wrf.registry import RELEASE

OLDER = {
    "3.9.1.1": "V3.9.1.1",
    **{name: f"v{name}" for name in ("4.0.3", "4.1.5", "4.2.2", "4.3.3", "4.4.2", "4.5.2", "4.6.1")},
}
"""The last of each, by their tags; before, checks stand elsewhere in the source."""


class Facts:
    """What one release has: the conditions on which it stops, by the place of the check, defaults and variables."""

    def __init__(self, repository: Path, tag: str) -> None:
        def read(name: str) -> str:
            command = ["git", "-C", str(repository), "show", f"{tag}:{name}"]
            return subprocess.run(command, capture_output=True, check=True).stdout.decode(errors="replace")

        texts = registries(read)
        groups = make_groups(texts)
        routines, _ = make_steps(read, texts, [name for group in groups.values() for name in group])
        self.variables = {
            name: variable.get("default") for group in groups.values() for name, variable in group.items()
        }
        self.refused = {
            f"{routine['file']}:{line}": condition
            for routine in routines
            for line, condition in _refused(routine["steps"], None)
        }


def _refused(steps: Iterable[Any], condition: str | None) -> Iterator[tuple[int, str | None]]:
    """The lines at which steps stop, and the condition that leads there."""
    for step in steps:
        if isinstance(step, str):
            continue
        if "refuse" in step:
            yield step["refuse"], condition
        elif "do" in step:
            yield from _refused(step["steps"], condition)
        elif "if" in step:
            others: list[str] = []
            for said, branch in step["if"]:
                yield from _refused(branch, f"not {others}" if said is None else said)
                others.append(said)


def older_text(repository: Path) -> str:
    """The file: one entry a line."""
    newest = Facts(repository, f"v{RELEASE}")
    checks: dict[str, str] = {}
    defaults: dict[str, str] = {}
    variables: dict[str, str] = {}
    for name, tag in OLDER.items():  # the last that differs is left
        facts = Facts(repository, tag)
        conditions = set(facts.refused.values())
        checks |= {place: name for place, condition in newest.refused.items() if condition not in conditions}
        variables |= {variable: name for variable in newest.variables if variable not in facts.variables}
        defaults |= {
            variable: name
            for variable, default in newest.variables.items()
            if variable in facts.variables and facts.variables[variable] != default
        }
    head = {"format": 1, "model": "wrf", "release": RELEASE}
    parts = {"checks": checks, "defaults": defaults, "variables": variables}
    texts = [f'"{key}": {json.dumps(value)}' for key, value in head.items()]
    for key, entries in parts.items():
        lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(entries[name])}" for name in sorted(entries))
        texts.append(f'"{key}": {{\n{lines}\n}}')
    return "{" + ",\n".join(texts) + "}\n"


def main() -> int:
    """Compare, or write; 1 if something differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repository", type=Path)
    parser.add_argument("--write", action="store_true", help="write anew what differs")
    arguments = parser.parse_args()
    path = SCHEMAS / f"{RELEASE}-older.json"
    try:
        text = older_text(arguments.repository)
    except subprocess.CalledProcessError as error:
        parser.exit(2, error.stderr.decode(errors="replace"))
    is_same = path.exists() and path.read_text() == text
    print(f"{path.name}: {'the same' if is_same else 'another one'}")
    if arguments.write and not is_same:
        path.write_text(text)
    return int(not is_same and not arguments.write)


if __name__ == "__main__":
    sys.exit(main())
