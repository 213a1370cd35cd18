"""Lint mutated namelists: nothing may raise, nothing may hang.

    python benchmarks/mutations.py [COUNT]

Each namelist is that of the example with a few letters changed, taken away or put in; the slowest one is printed.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from pathlib import Path

import nmlgen

EXAMPLE = Path(__file__).parent.parent / "examples" / "nh_dcmip_tc_52_r2b5.yaml"
LETTERS = (
    "",
    "'",
    '"',
    "&",
    "/",
    "=",
    ",",
    "*",
    "\n",
    "%",
    "(",
    ")",
    "!",
    "#",
    "$",
    ":",
    "9" * 12,
    "\0",
    "é",
    "1.e",
    "t",
    "&end",
)


def mutated(text: str, generator: random.Random) -> str:
    """The text with one to four places changed."""
    for _ in range(generator.randint(1, 4)):
        place = generator.randrange(len(text) + 1)
        text = text[:place] + generator.choice(LETTERS) + text[place + generator.choice((0, 0, 1, 1, 5, 40)) :]
    return text


def main() -> None:
    """Run, and print how many were linted, how many had errors, and the slowest."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    generator = random.Random(2024)
    files = nmlgen.build(EXAMPLE).files
    texts = {name: data.decode() for name, data in files.items() if "namelist" in name.lower()}
    slowest, with_errors = 0.0, 0
    with tempfile.TemporaryDirectory() as directory:
        for number in range(count):
            chosen = (
                generator.choice(sorted(texts)) if number % 4 == 0 else max(texts, key=lambda name: len(texts[name]))
            )
            for name, text in texts.items():
                made = mutated(text, generator) if name == chosen else text
                (Path(directory) / name).write_bytes(made.encode("utf-8", "surrogateescape"))
            start = time.process_time()
            report = nmlgen.lint([directory], ntasks=256)
            slowest = max(slowest, time.process_time() - start)
            with_errors += bool(report.errors)
    print(
        f"{count} mutated namelists linted, {with_errors} with errors; the slowest took {1000 * slowest:.0f} ms of CPU"
    )


if __name__ == "__main__":
    main()
