"""Whether the files of WRF's release are what its source makes of them.

    python benchmarks/wrf_release.py SOURCE_TREE [--write]

SOURCE_TREE is a checkout of WRF (https://github.com/wrf-model/WRF) at the release that ships. Prints for each of
`schemas/wrf/<release>.json`, `<release>-steps.json` and `<release>-fields.json` whether it is the same byte for byte;
with --write it is written anew. Which variables other releases have is kept from the file that is there.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from wrf_extract import fields_text, make_fields, make_groups, make_steps, registries, registry_text, steps_text

from nmlgen.models.wrf.registry import RELEASE

SCHEMAS = Path(__file__).parent.parent / "schemas" / "wrf"


def main() -> int:
    """Compare, or write; 1 if something differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source_tree", type=Path)
    parser.add_argument("--write", action="store_true", help="write anew what differs")
    arguments = parser.parse_args()

    def read(name: str) -> str:
        try:
            return (arguments.source_tree / name).read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            parser.exit(2, f"{error.filename}: {error.strerror}\n")

    texts = registries(read)
    groups = make_groups(texts)
    steps, own = make_steps(read, texts, [name for group in groups.values() for name in group])
    registry = SCHEMAS / f"{RELEASE}.json"
    made = {
        registry: registry_text(RELEASE, groups, json.loads(registry.read_text())["elsewhere"]),
        SCHEMAS / f"{RELEASE}-steps.json": steps_text(RELEASE, steps, own),
        SCHEMAS / f"{RELEASE}-fields.json": fields_text(RELEASE, make_fields(texts)),
    }
    differs = False
    for path, text in made.items():
        is_same = path.exists() and path.read_text() == text
        if arguments.write:
            path.write_text(text)
        print(f"{path.name}: {'the same' if is_same else 'written' if arguments.write else 'differs'}")
        differs |= not is_same
    return int(differs and not arguments.write)


if __name__ == "__main__":
    sys.exit(main())
