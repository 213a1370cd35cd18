"""Whether the files of a release come of its sources: what `nmlgen registry make` makes, held against what ships.

    python benchmarks/release.py SOURCE_TREE RELEASE [LOG...]

SOURCE_TREE is ICON's source tree, or as much of it as is at hand; each LOG a nml.atmo.log or its like of a run of that
release, whose printed defaults are compared. The namelists and the output variables are made and compared byte for
byte, the variables from those of the release before, too, where that has some. Where the namelists differ, the groups
whose NAMELIST statement the tree holds are compared one by one, so that a tree of a few files tells about those. Exit
code 0 if all that the tree holds is as it ships.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from nmlgen.errors import InputError
from nmlgen.namelist.extract.document import document_text, make_document
from nmlgen.namelist.extract.printed import contradictions, read_printed
from nmlgen.namelist.extract.tree import SourceTree
from nmlgen.namelist.extract.variables import catalogue_text, make_catalogue
from nmlgen.resources import directory


def shipped(kind: str, release: str) -> tuple[str, dict[str, Any]]:
    """The text and the document of one of the files of a release."""
    text = (directory("schemas") / kind / f"{release}.json").read_text(encoding="utf-8")
    return text, json.loads(text)


def differences(tree: SourceTree, made: dict[str, Any], known: dict[str, Any]) -> tuple[list[str], int]:
    """What differs in the groups that a tree holds, and how many these are."""
    found, count = [], 0
    for name, group in made["groups"].items():
        source = group.get("source", "")
        if not (tree.root / source).is_file():
            continue
        count += 1
        ships = known["groups"].get(name, {"variables": {}})
        for variable in {**group["variables"], **ships["variables"]}:
            one, other = group["variables"].get(variable), ships["variables"].get(variable)
            if _facts(one) != _facts(other):
                found.append(f"{name}: {variable}: {_facts(one)} in {source}, {_facts(other)} as it ships")
    return found, count


def _facts(entry: dict[str, Any] | None) -> dict[str, Any] | None:
    """What sources say of a variable: not what they say of its values."""
    if entry is None:
        return None
    return {key: entry[key] for key in ("type", "bytes", "shape", "base_shape", "default") if key in entry}


def main() -> int:
    """Compare, and say what differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source_tree", type=Path)
    parser.add_argument("release")
    parser.add_argument("logs", nargs="*", type=Path, default=[], metavar="log")
    arguments = parser.parse_args()
    release = arguments.release
    printed: dict[str, dict[str, str]] = {}
    try:
        tree = SourceTree(arguments.source_tree)
        for log in arguments.logs:
            for group, values in read_printed(log.read_text(encoding="utf-8", errors="replace")).items():
                printed.setdefault(group, {}).update(values)
        text, known = shipped("icon", release)
        other_text, other_known = shipped("icon-variables", release)
    except InputError as error:
        parser.exit(2, f"{error}\n")
    except OSError as error:
        parser.exit(2, f"{error.filename}: {error.strerror}\n")
    document = make_document(tree, release, known, printed)
    catalogue = make_catalogue(tree, release, other_known)
    is_same = document_text(document) == text
    print(f"namelists of ICON {release}: {'byte for byte' if is_same else 'they differ'}")
    print(f"output variables: {'byte for byte' if catalogue_text(catalogue.document) == other_text else 'they differ'}")
    places = (directory("schemas") / "icon-variables").glob("*.json")
    for before in sorted(path.stem for path in places if path.stem < release)[-1:]:
        anew = make_catalogue(tree, release, shipped("icon-variables", before)[1])
        same = "byte for byte" if catalogue_text(anew.document) == other_text else "they differ"
        print(f"output variables, made from those of {before}: {same}")
    for contradiction in contradictions(document, printed):
        print(f"  printed otherwise: {contradiction.group}: {contradiction.variable}")
    found, count = differences(tree, document, known)
    print(f"{count} groups in the tree, {len(found)} differences of variables")
    for line in found:
        print(f"  {line}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
