"""Whether the file of MPAS's fields is what its source makes of it.

    python benchmarks/mpas_release.py SOURCE_TREE [--write]

SOURCE_TREE is a checkout of MPAS (https://github.com/MPAS-Dev/MPAS-Model) at the release that ships. Tells whether
`schemas/mpas/<release>-fields.json` is the same byte for byte; with --write it is written anew. Names, types,
dimensions and packages of `src/core_atmosphere/Registry.xml` and what it includes are taken, nothing else.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from nmlgen.models.mpas.registry import RELEASE

FIELDS = Path(__file__).parent.parent / "schemas" / "mpas" / f"{RELEASE}-fields.json"
DEFINED = frozenset({"DO_PHYSICS"})
"""What the Makefile of the core defines."""
MEMBERS = ("var", "var_array", "var_struct", "stream")


def lines(path: Path) -> Iterator[str]:
    """The lines of a registry with what it includes, as the preprocessor leaves them."""
    kept = [True]
    for line in path.read_text(encoding="utf-8").splitlines():
        directive = re.match(r"#\s*(\w+)\s*(.*)", line)
        if directive is None:
            if all(kept):
                yield line
        elif directive[1] in ("ifdef", "ifndef"):
            kept.append((directive[2].strip() in DEFINED) is (directive[1] == "ifdef"))
        elif directive[1] == "endif":
            kept.pop()
        elif directive[1] == "include" and all(kept):
            yield from lines(path.parent / directive[2].strip(' "'))


def document(path: Path) -> dict[str, Any]:
    """The fields, dimensions, structs and streams of a registry."""
    root = ElementTree.fromstring("\n".join(lines(path)))
    found: dict[str, dict[str, Any]] = {"dimensions": {}, "fields": {}, "structs": {}, "streams": {}}
    for one in root.iter("dim"):
        if (said := one.get("definition")) is not None:
            found["dimensions"][one.attrib["name"]] = said.removeprefix("namelist:")
    for struct in root.iter("var_struct"):
        if "time_levs" in struct.attrib:
            names = found["structs"].setdefault(struct.attrib["name"], [])
            for one in struct:
                if one.tag in ("var", "var_array"):
                    if one.attrib["name"] in found["fields"]:
                        raise ValueError(f"two fields {one.attrib['name']}")
                    names.append(one.attrib["name"])
                    found["fields"][one.attrib["name"]] = field(one, struct)
    for one in root.iter("stream"):
        if "type" in one.attrib:
            found["streams"][one.attrib["name"]] = [
                {member.tag: member.attrib["name"], **packages(member)} for member in one if member.tag in MEMBERS
            ]
    return found


def field(one: ElementTree.Element, struct: ElementTree.Element) -> dict[str, Any]:
    """A field, or an array of fields, with what it takes to be there."""
    dimensions = one.get("dimensions", "").split()
    found: dict[str, Any] = {"type": one.get("type"), "dimensions": [name for name in dimensions if name != "Time"]}
    if "Time" in dimensions:
        found["has_times"] = True
    if one.get("persistence", struct.get("persistence")) == "scratch":
        found["is_scratch"] = True
    found |= packages(one) or packages(struct)
    if one.tag == "var_array":
        found["parts"] = {part.attrib["name"]: packages(part).get("packages", []) for part in one.iter("var")}
    return found


def packages(one: ElementTree.Element) -> dict[str, list[str]]:
    """The packages of which one must be active, where there are such."""
    said = one.get("packages")
    return {} if said is None else {"packages": [name.strip() for name in said.split(";")]}


def text(found: dict[str, Any]) -> str:
    """The text of the file, an entry a line."""
    head = json.dumps({"format": 1, "model": "mpas", "release": RELEASE, "core": "atmosphere"})[:-1]
    parts = []
    for key, entries in found.items():
        rows = ",\n".join(f"{json.dumps(name)}: {json.dumps(entry)}" for name, entry in entries.items())
        parts.append(f"{json.dumps(key)}: {{\n{rows}\n}}")
    return f"{head}, " + ", ".join(parts) + "}\n"


def main() -> int:
    """Compare, or write; 1 if they differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source_tree", type=Path)
    parser.add_argument("--write", action="store_true", help="write anew what differs")
    arguments = parser.parse_args()
    try:
        made = text(document(arguments.source_tree / "src" / "core_atmosphere" / "Registry.xml"))
    except OSError as error:
        parser.exit(2, f"{error.filename}: {error.strerror}\n")
    is_same = FIELDS.exists() and FIELDS.read_text() == made
    if arguments.write:
        FIELDS.write_text(made)
    print(f"{FIELDS.name}: {'the same' if is_same else 'written' if arguments.write else 'differs'}")
    return int(not is_same and not arguments.write)


if __name__ == "__main__":
    sys.exit(main())
