"""Put odd values of every type into every variable that the rules look at most, in several experiments: no rule raises.

    python benchmarks/odd_values.py [--group GROUP]

The tests try a sixth of it. Ends with 1 if a rule fails; says at which variable.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from rules.experiments import experiment_of
from rules.test_odd_values import ODD, VARIABLES, VARIANTS, judge_odd_values

from nmlgen import checking
from nmlgen.rechecking import Rechecker


def main() -> None:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--group", help="variables of this group alone")
    chosen = parser.parse_args().group
    checking._failed = _raised  # type: ignore[assignment]  # what a user is told of ends it here
    variables = [(group, name) for group, name in VARIABLES if chosen in (None, group)]
    failed = 0
    with TemporaryDirectory() as directory:
        for text in VARIANTS:
            base, rechecker = experiment_of(text, Path(directory)), Rechecker()
            for group, name in variables:
                try:
                    judge_odd_values(base, rechecker, group, name, ODD)
                except Exception as error:
                    failed += 1
                    print(f"{group}.{name}: {type(error).__name__}: {error}", flush=True)
    print(f"{len(variables)} variables, {len(VARIANTS)} experiments, {len(ODD)} values, {failed} failed")
    sys.exit(bool(failed))


def _raised(_rule: object, error: Exception, _beginning: object) -> None:
    raise error


if __name__ == "__main__":
    main()
