"""Judge every pair of namelists that ICON 2024.10 and 2025.04 judged, by 2025.04: the tests take a third of them.

    python benchmarks/verdicts_again.py

Prints those on which nmlgen and ICON differ though `tests/verdicts/disagreements.txt` does not say so, or agree
though it does; ends with 1 if there are any.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "verdicts"))

from test_2025_04 import is_as_it_was, known_cases


def main() -> None:
    """Judge them all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.parse_args()
    with TemporaryDirectory() as name:
        other = [case for case in known_cases() if not is_as_it_was(case, Path(name))]
    print(f"{len(known_cases())} pairs, {len(other)} of them judged otherwise than is said")
    print("".join(f"  {case}\n" for case in other), end="")
    sys.exit(bool(other))


if __name__ == "__main__":
    main()
