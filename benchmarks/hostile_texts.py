"""Put more than a hundred hostile texts at every place of a spec, a site, a preset and a sweep that takes texts, run
the scripts that are built, and hold what they do against what they do with plain words. Of a project's configuration,
hold what a run script does that lint mends against what it did before.

    python benchmarks/hostile_texts.py [--first N] [--last N]

The scripts run with stand-ins for Slurm, Lustre, modules and the model, which note their arguments and environment.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from fuzzing import configured
from fuzzing.hostile import STRINGS
from fuzzing.quoting import EVERY, differences, places


def main() -> None:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--last", type=int, default=len(STRINGS))
    arguments = parser.parse_args()
    taken = rounds = configurations = failed = 0
    room = TemporaryDirectory()
    homes = [Path(room.name, str(number)) for number in range(len(EVERY))]
    for home in homes:
        home.mkdir()
    for text in STRINGS[arguments.first : arguments.last]:
        for documents, home in zip(EVERY, homes, strict=True):
            for found, wrong in differences(text, documents, home):
                taken, rounds, failed = taken + len(found), rounds + 1, failed + bool(wrong)
                for line in wrong:
                    print(f"{text[:60]!r}: {line}", flush=True)
        print(f"{text[:60]!r}: {taken} taken", flush=True)
        with TemporaryDirectory() as directory:
            for place, _, wrong in configured.differences(text, Path(directory)):
                configurations, failed = configurations + 1, failed + bool(wrong)
                for line in wrong:
                    print(f"{text[:60]!r} at {place}: {line}", flush=True)
    known = sum(len(list(places(documents))) for documents in EVERY)
    count = arguments.last - arguments.first
    print(
        f"{count} texts at {known} places, {taken} taken, {rounds} pairs of scripts run, "
        f"{configurations} configurations taken, {failed} differ"
    )
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
