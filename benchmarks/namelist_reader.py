"""Time to read namelists, beside f90nml; and what mutated namelists do.

    python benchmarks/namelist_reader.py [--f90nml] [--mutations 100000]

The table shows CPU times, and that they grow with the length of the text: lines of one kind double it. `--f90nml`
reads the same texts with f90nml (minutes for the largest). `--mutations` reads that many damaged namelists instead
and stops at an exception.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable

import f90nml

from nmlgen.namelist.assignment import Declaration, assign
from nmlgen.namelist.reader import read
from nmlgen.source import Source

RUNS = 5

SOUND = """\
! An experiment
&run_nml
 num_lev     = 90, 60   ! levels
 ltestcase   = .TRUE.
 output      = 'nml', "totint"
/
&output_nml
 ml_varlist(1:2) = 'u', 'it''s'
 h_levels = 3*100., , 5, (1.0, 2)
 meta%time = 1.e30, 3600.d0
/
"""
DAMAGE = [
    "",
    "&t\n",
    "/",
    "&end",
    "$",
    "&",
    "=",
    "'",
    '"',
    "(",
    ")",
    "%",
    ",",
    ";",
    "*",
    "3*",
    "!",
    "#",
    "\n",
    "\r",
    "\0",
    "ä",
]
DECLARED = {
    "num_lev": Declaration("integer", shape=(10,)),
    "ltestcase": Declaration("logical"),
    "output": Declaration("character", 32, (6,)),
    "ml_varlist": Declaration("character", 255, (999,)),
    "h_levels": Declaration("real", shape=(100,)),
    "meta": Declaration("derived", members={"time": Declaration("real", shape=(3,))}),
}


def seconds(action: Callable[[], object], runs: int = RUNS) -> float:
    """The median CPU time of an action."""
    times = []
    for _ in range(runs):
        start = time.process_time()
        action()
        times.append(time.process_time() - start)
    return statistics.median(times)


def ordinary(lines: int) -> str:
    """Groups of 40 variables, as experiments have them."""
    body = []
    for number in range(lines):
        if number % 42 == 0:
            body.append(f"&group_{number}_nml")
        elif number % 42 == 41:
            body.append("/")
        else:
            kinds = (f"{number}", f"{number}.5e3, 2.0", "'text', \"more\"", ".TRUE. ! a comment", "3*1.0")
            body.append(f"  variable_{number} = {kinds[number % len(kinds)]}")
    return "\n".join([*body, "/", ""])


def variables(count: int) -> str:
    """One group with many variables."""
    return "\n".join(["&many_nml", *(f" v{number} = {number}" for number in range(count)), "/", ""])


def array(count: int) -> str:
    """One array with many values."""
    return f"&array_nml\n a = {', '.join(map(str, range(count)))}\n/\n"


def strings(count: int) -> str:
    """Groups whose strings are never closed."""
    return "".join(f"&g{number}\n s = 'open\n t = \"open\n/\n" for number in range(count))


def one_line(count: int) -> str:
    """Many groups on a single line."""
    return "".join(f"&g{number} i = 1 / " for number in range(count)) + "\n"


def table(*, beside: bool) -> None:
    """Print the times."""
    texts = [(f"{lines} lines", ordinary(lines)) for lines in (2000, 4000, 8000)]
    texts += [(f"{count} variables in a group", variables(count)) for count in (2000, 4000, 8000, 16000)]
    texts += [(f"{count} values of an array", array(count)) for count in (25_000, 50_000, 100_000)]
    texts += [(f"{count} open strings", strings(count)) for count in (5_000, 10_000)]
    texts += [(f"{count} groups on a line", one_line(count)) for count in (5_000, 10_000)]
    for number, (name, text) in enumerate(texts):
        source = Source(name, text)
        own = seconds(lambda source=source: read(source))
        line = f"{name:<32} {len(text) / 1000:8.0f} kB {1000 * own:8.1f} ms"
        if number == 0 or beside:
            other = seconds(lambda text=text: f90nml.reads(text), 3 if number == 0 else 1)
            line += f"   f90nml {1000 * other:9.1f} ms, {other / own:.1f} times as long"
        print(line)


def mutations(count: int, seed: int = 1) -> None:
    """Read damaged namelists."""
    chance = random.Random(seed)
    slowest = 0.0
    for _ in range(count):
        text = SOUND
        for _ in range(chance.randint(1, 8)):
            at = chance.randrange(len(text) + 1)
            text = text[:at] + chance.choice(DAMAGE) + text[at + chance.choice([0, 0, 1, 1, 2, 20]) :]
        start = time.process_time()
        document = read(Source("mutation", text))
        for group in document.groups:
            assign(group, DECLARED)
        slowest = max(slowest, time.process_time() - start)
        if document.text != text:
            raise SystemExit(f"not printed back: {text!r}")
    print(f"{count} mutated namelists: no exception, all printed back, the slowest took {1000 * slowest:.1f} ms")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--f90nml", action="store_true", help="read every text with f90nml, too")
    parser.add_argument("--mutations", type=int, metavar="N", help="read N damaged namelists instead")
    arguments = parser.parse_args()
    if arguments.mutations:
        mutations(arguments.mutations)
    else:
        table(beside=arguments.f90nml)


if __name__ == "__main__":
    main()
