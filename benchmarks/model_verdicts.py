"""How nmlgen judges namelists that another model has judged: WRF, PALM or MPAS.

    python benchmarks/model_verdicts.py VERDICTS.jsonl [--show] [--part N/M]

A line of VERDICTS.jsonl is a JSON object with `model` (wrf, palm or mpas), `namelist`, `other_files` (texts by name),
`np` (MPI tasks; null where there are none), `verdict` (accepted or rejected), and what else is known: `id`, `edits`,
`message`, `effective` (the values that the model put in place of others, by variable). Prints how many of the rejected
ones have an error, how many of the accepted ones have one, which nobody wants, and, where effective values are given,
how many accepted namelists with a replaced value that somebody wrote have a warning of it. `--show` names those that
differ; `--part 1/3` takes the lines whose `id` falls into that part by its hash. Ends with 1 if an accepted one has an
error.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from math import isclose
from pathlib import Path
from typing import Any

import nmlgen
from nmlgen.models.reading import read_settings
from nmlgen.models.wrf.registry import wrf_registry
from nmlgen.namelist.reader import read as read_document
from nmlgen.source import Source

NAMES = {"wrf": "namelist.input", "palm": "PARIN", "mpas": "namelist.atmosphere"}


def records(path: Path, part: tuple[int, int]) -> Iterator[dict[str, Any]]:
    """The lines of a file, or a part of them."""
    number, count = part
    for line in path.read_text().splitlines():
        record: dict[str, Any] = json.loads(line)
        if int(hashlib.sha256(str(record["id"]).encode()).hexdigest(), 16) % count == number - 1:
            yield record


def part(text: str) -> tuple[int, int]:
    """The numbers of N/M."""
    number, count = map(int, text.split("/"))
    return number, count


def judged(record: dict[str, Any]) -> nmlgen.Report:
    """What nmlgen finds in a namelist and what lies beside it. Raises NmlgenError for an empty file, for one."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        for other, text in record["other_files"].items():
            (directory / other).write_text(text)
        path = directory / NAMES[record["model"]]
        path.write_text(record["namelist"])
        return nmlgen.lint([path], ntasks=record["np"], is_isolated=True)


def replaced(record: dict[str, Any]) -> set[str]:
    """The variables of WRF of which somebody wrote a value that the model replaced, for a domain that there is."""
    read = read_settings(read_document(Source("namelist.input", record["namelist"])), wrf_registry())
    found = set()
    for name, became in (record.get("effective") or {}).items():
        variable = name.partition(".")[2]
        for (written, place), given in read.written.items():
            values = became if isinstance(became, list) else [became]
            if written == variable and given.value is not None and max(place, 1) <= len(values):
                value = values[max(place, 1) - 1]
                if isinstance(value, (str, bool)):
                    is_kept = str(value).rstrip() == str(given.value).rstrip()
                else:
                    is_kept = isclose(value, given.value, rel_tol=1e-6)
                if not is_kept:
                    found.add(variable)
    return found


def main() -> int:
    """Judge, count, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verdicts", type=Path)
    parser.add_argument("--show", action="store_true", help="name those that differ")
    parser.add_argument("--part", type=part, default="1/1", metavar="N/M", help="only the N-th of M parts")
    arguments = parser.parse_args()
    if not arguments.verdicts.is_file():
        parser.exit(2, f"no such file: {arguments.verdicts}\n")
    count: Counter[str] = Counter()
    for record in records(arguments.verdicts, arguments.part):
        try:
            report = judged(record)
            errors = [f for f in report.findings if f.severity is nmlgen.Severity.ERROR]
            is_refused = bool(errors)
        except nmlgen.NmlgenError:
            errors, is_refused = [], True
        count[record["verdict"]] += 1
        if is_refused:
            count[f"{record['verdict']} with an error"] += 1
        if record["model"] == "wrf" and record["verdict"] == "accepted" and not is_refused:
            for name in replaced(record):
                is_named = any(re.search(rf"\b{name}\b", finding.message) for finding in report.findings)
                count["replaced and named" if is_named else "replaced"] += 1
                if arguments.show and not is_named:
                    print(record["id"], "replaced", name, sep=" | ")
        if arguments.show and is_refused != (record["verdict"] == "rejected"):
            told = errors[0].message if errors else record.get("message", "")
            print(record["id"], record["verdict"], record["np"], json.dumps(record.get("edits")), told, sep=" | ")
    for verdict in ("rejected", "accepted"):
        found, all_ = count[f"{verdict} with an error"], count[verdict]
        print(f"{verdict}: {found} of {all_} with an error" + (f" ({found / all_:.1%})" if all_ else ""))
    named, silent = count["replaced and named"], count["replaced"]
    if named + silent:
        share = named / (named + silent)
        print(f"replaced: {named} of {named + silent} values that somebody wrote are named ({share:.1%})")
    return int(count["accepted with an error"] > 0)


if __name__ == "__main__":
    sys.exit(main())
