"""Recall of lint: one mistake is put into a run script at a time, and lint is asked whether it says something new.

    python benchmarks/lint_seeded.py DIRECTORY [PATTERN] [--count N] [--seed N] [--release RELEASE]

DIRECTORY holds run scripts, such as `run/` of an ICON release; PATTERN says which of its files, by default `exp.*`. A
mistake counts as found if a finding is new that points at its line, or at one of the five lines around it.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import nmlgen
from nmlgen.files import Files
from nmlgen.lift.releases import registry_for
from nmlgen.lift.scripts import lift_script

_VARIABLE = re.compile(r"^[ \t]*([a-z]\w{4,})[ \t]*=", re.IGNORECASE)
_INTEGER = re.compile(
    r"^[ \t]*(?:num_lev|num_io_procs|nproma|filetype|itype_pres_msl|mode|remap|iforcing)[ \t]*=[ \t]*(\d+)"
)
_LOGICAL = re.compile(r"^[ \t]*[a-z]\w*[ \t]*=[ \t]*(\.true\.|\.false\.)", re.IGNORECASE)
_DURATION = re.compile(r"[\"'](PT\d+[HM])[\"']")
_NAME = re.compile(r"^[ \t]*ml_varlist[ \t]*=.*?['\"]([a-z][a-z_]{2,})['\"]")
_GROUP = re.compile(r"^[ \t]*&(run_nml|io_nml|grid_nml|parallel_nml|nonhydrostatic_nml|transport_nml)[ \t]*$")
_QUOTED = re.compile(r"=[ \t]*(['\"])[^'\"$]+\1[ \t]*(?:!.*)?$")


def _inner(match: re.Match[str], text: str) -> str:
    whole = match.string
    return whole[: match.start(1)] + text + whole[match.end(1) :]


def _swapped(word: str) -> str:
    return word[:2] + word[3] + word[2] + word[4:] if len(word) > 4 and word[2] != word[3] else word[:1] + word


MISTAKES: dict[str, tuple[re.Pattern[str], Callable[[re.Match[str]], str]]] = {
    "misspelt variable": (_VARIABLE, lambda match: _inner(match, _swapped(match[1]))),
    "misspelt group": (_GROUP, lambda match: _inner(match, _swapped(match[1]))),
    "real for an integer": (_INTEGER, lambda match: _inner(match, f"{match[1]}.5")),
    "number for a logical": (_LOGICAL, lambda match: _inner(match, "1")),
    "duration without T": (_DURATION, lambda match: _inner(match, match[1].replace("PT", "P").replace("M", "H"))),
    "misspelt output variable": (_NAME, lambda match: _inner(match, f"{match[1]}zz")),
    "quote left open": (_QUOTED, lambda match: match.string.replace(match[1], "", 2).replace("=", f"= {match[1]}", 1)),
}
"""What is put in: where it can stand, and the line that it makes."""


def _asleep(script: Path) -> set[int]:
    """The lines of the namelists that no way of a script comes to: what is wrong there does not count."""
    files = Files()
    lifted = lift_script(script, registry_for(script, files.read(script).text), files=files)
    spans = (group.origin.span(group.start, group.end) for document in lifted.inactive for group in document.groups)
    return {line for span in spans for line in range(span.line, span.end_line + 1)}


def _places(text: str) -> list[tuple[str, int, str]]:
    """Each mistake that a script has room for: its kind, the number of its line from 1, and the line with it."""
    found, is_namelist = [], False
    for number, line in enumerate(text.split("\n"), start=1):
        is_namelist = is_namelist or line.lstrip().startswith("&")
        if is_namelist and not line.lstrip().startswith("!"):
            for kind, (pattern, change) in MISTAKES.items():
                match = pattern.search(line)
                if match is not None and (changed := change(match)) != line:
                    found.append((kind, number, changed))
        is_namelist = is_namelist and line.strip() not in ("/", "EOF")
    return found


def main() -> None:
    """Print how many mistakes of each kind were found, and those that were not."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("pattern", nargs="?", default="exp.*")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--release")
    given = parser.parse_args()
    chooser = random.Random(given.seed)
    scripts = [path for path in sorted(given.directory.glob(given.pattern)) if path.is_file()]
    if not scripts:
        parser.exit(2, f"no file {given.pattern} in {given.directory}\n")
    tried, found = Counter[str](), Counter[str]()
    without = set[tuple[Path, str]]()
    while sum(tried.values()) < given.count:
        script = chooser.choice(scripts)
        text = script.read_text(encoding="utf-8", errors="surrogateescape")
        kind = chooser.choice(list(MISTAKES))
        places = [place for place in _places(text) if place[0] == kind]
        asleep = _asleep(script) if places else set()
        places = [place for place in places if place[1] not in asleep]
        if not places:
            without.add((script, kind))
            if len(without) == len(scripts) * len(MISTAKES):
                parser.exit(2, f"in {given.directory} no {given.pattern} has room for a mistake\n")
            continue
        _, number, line = chooser.choice(places)
        lines = text.split("\n")
        reports = []
        for changed in (lines[number - 1], line):
            lines[number - 1] = changed
            files = Files({script.resolve(): "\n".join(lines)})
            try:
                report = nmlgen.lint([script], icon_release=given.release, is_isolated=True, files=files)
            except nmlgen.InputError as error:  # of the release
                parser.exit(2, f"{error}\n")
            reports.append({(finding.code, finding.line, finding.message) for finding in report.findings})
        is_found = any(at is not None and abs(at - number) <= 5 for _, at, _ in reports[1] - reports[0])
        tried[kind] += 1
        found[kind] += is_found
        if not is_found:
            print(f"missed: {script.name}:{number}: {line.strip()}")
    for kind, count in tried.items():
        print(f"{kind:<26} {found[kind]:4} of {count}")
    print(f"{'all':<26} {sum(found.values()):4} of {sum(tried.values())}")


if __name__ == "__main__":
    main()
