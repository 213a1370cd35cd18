"""Build the first spec that `nmlgen init` makes of each preset on each site: nothing is found in it.

    python benchmarks/first_specs.py [--site NAME]

The tests try a third of it. Ends with 1 if something is found; says in which.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from cli.test_init import ICON, SITES, surprising


def main() -> None:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--site", choices=SITES, help="this site alone")
    chosen = parser.parse_args().site
    tried = [(preset, site) for preset in ICON for site in SITES if chosen in (None, site)]
    failed = 0
    with TemporaryDirectory() as directory:
        for preset, site in tried:
            if found := surprising(preset, site, Path(directory) / "new.yaml"):
                failed += 1
                print(f"{preset} on {site}: {', '.join(sorted(found))}", flush=True)
    print(f"{len(tried)} first specs, {failed} with findings")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
