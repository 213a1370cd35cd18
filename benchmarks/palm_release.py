"""Whether the file of PALM's release is what its source makes of it.

    python benchmarks/palm_release.py SOURCE_TREE [--write]

SOURCE_TREE is the directory with PALM's Fortran files (packages/palm/model/src) of the release that ships. Tells
whether `schemas/palm/<release>.json` is the same byte for byte; with --write it is written anew. Names, types, shapes
and defaults are taken from it, nothing else. Which groups and variables other releases have is kept from the file that
is there.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from nmlgen.errors import InputError
from nmlgen.models.palm.registry import RELEASE
from nmlgen.namelist.extract.document import make_document
from nmlgen.namelist.extract.tree import SourceTree

REGISTRY = Path(__file__).parent.parent / "schemas" / "palm" / f"{RELEASE}.json"
MACROS = frozenset({"__parallel", "__netcdf", "__netcdf4", "__netcdf4_parallel", "__gfortran", "__tenstream"})
NOTHING = {"release": RELEASE, "groups": {}, "removed": {"groups": {}, "variables": {}}}


def registry_text(tree: SourceTree) -> str:
    """The text of the registry, a variable a line."""
    groups = []
    for name, group in make_document(tree, RELEASE, NOTHING)["groups"].items():
        lines = ",\n".join(f"  {json.dumps(key)}: {json.dumps(entry)}" for key, entry in group["variables"].items())
        head = {key: group[key] for key in ("component", "read", "source") if key in group}
        groups.append(f'{json.dumps(name)}: {json.dumps(head)[:-1]}, "variables": {{\n{lines}\n}}}}')
    head = json.dumps({"format": 1, "model": "palm", "release": RELEASE})[:-1]
    known = json.loads(REGISTRY.read_text())["elsewhere"]
    elsewhere = ",\n".join(f"{json.dumps(name)}: {json.dumps(entry)}" for name, entry in sorted(known.items()))
    return f'{head}, "groups": {{\n' + ",\n".join(groups) + f'\n}}, "elsewhere": {{\n{elsewhere}\n}}}}\n'


def main() -> int:
    """Compare, or write; 1 if they differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source_tree", type=Path)
    parser.add_argument("--write", action="store_true", help="write anew what differs")
    arguments = parser.parse_args()
    try:
        tree = SourceTree(arguments.source_tree, MACROS)
    except InputError as error:
        parser.exit(2, f"{error}\n")
    text = registry_text(tree)
    is_same = REGISTRY.exists() and REGISTRY.read_text() == text
    if arguments.write:
        REGISTRY.write_text(text)
    print(f"{REGISTRY.name}: {'the same' if is_same else 'written' if arguments.write else 'differs'}")
    return int(not is_same and not arguments.write)


if __name__ == "__main__":
    sys.exit(main())
