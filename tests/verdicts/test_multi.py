"""What a real ICON 2024.10 did with runs of several models, an ocean or waves alone, nests and coupled components.

`icon-2024.10-multi.jsonl` (290 runs) and `icon-2024.10-multi-more.jsonl` (runs near those, one or two settings changed)
hold the texts of a kind of run in the first line, then each run with its files as the lines that differ from one of
these (see `test_verdicts`). A run that `hangs` had not ended after half a minute and more.
In the run directories lay grids, of which the table says nothing. `GRIDS` are headers as theirs, `OTHER_GRIDS` those of
runs that were about the grid.
`disagreements-multi.txt` lists every run on which nmlgen and ICON do not agree, with the reason.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from grid_files import DEPTHS, grid
from rows import rows

import nmlgen

HERE = Path(__file__).parent
SITE = str(HERE / "site.yaml")


FIRST, COARSE, FINE, MIDDLE, FINEST, OCEAN, WAVES = (f"00000000-0000-0000-0000-00000000000{n}" for n in range(1, 8))
GRIDS = {
    "grid.nc": grid(320, 1, FIRST),
    "oce.nc": grid(320, 1, OCEAN, variables=DEPTHS),
    "wave.nc": grid(1280, 2, WAVES, variables=DEPTHS),
    "nest_P.nc": grid(1280, 2, COARSE, variables=DEPTHS),
    "nest_C.nc": grid(1280, 3, FINE, COARSE, 14),
    "n3_DOM01.nc": grid(1280, 2, COARSE),
    "n3_DOM02.nc": grid(1280, 3, MIDDLE, COARSE, 14),
    "n3_DOM03.nc": grid(1280, 4, FINEST, MIDDLE, 14),
}
OTHER_GRIDS = {
    "cpl-grid-without-mask-atm": {"full.nc": grid(320, 1, OCEAN, variables=DEPTHS)},
    "oce-no-elevation": {"oce.nc": grid(320, 1, OCEAN, variables=DEPTHS[1::2])},
    "oce-no-mask": {"oce.nc": grid(320, 1, OCEAN, variables=DEPTHS[::2])},
    "nest-child-level+2": {"other.nc": grid(320, 1, FIRST)},
}
FOUND_WITH_GRIDS = "needs the"


@cache
def runs() -> dict[str, dict]:
    found = {}
    for table in ("icon-2024.10-multi", "icon-2024.10-multi-more"):
        first, *rest = (HERE / f"{table}.jsonl").read_text(encoding="utf-8").splitlines()
        bases = json.loads(first)["bases"]
        for run in map(json.loads, rest):
            files = {name: changed(bases[base], operations) for name, (base, operations) in run["files"].items()}
            found[run["id"]] = {**run, "files": files}
    return found


def changed(base: str, operations: list) -> str:
    lines = base.splitlines(keepends=True)
    for start, stop, text in reversed(operations):
        lines[start:stop] = [text]
    return "".join(lines)


@cache
def disagreements() -> dict[str, str]:
    lines = (HERE / "disagreements-multi.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split(maxsplit=1) for line in lines if line and not line.startswith("#"))


def of_verdict(*verdicts: str) -> list[str]:
    return [name for name, run in runs().items() if run["verdict"] in verdicts]


@cache
def errors(name: str, directory: Path, has_grids: bool) -> bool:
    run = runs()[name]
    files = {file: text.encode() for file, text in run["files"].items()}
    if has_grids:
        files |= GRIDS | OTHER_GRIDS.get(name, {})
    for file, data in files.items():
        (directory / file).parent.mkdir(parents=True, exist_ok=True)
        (directory / file).write_bytes(data)
    return bool(nmlgen.lint([directory], ntasks=run["ntasks"], icon_release="2024.10", site=SITE).errors)


def judged_without_grids() -> list[str]:
    """A third of the runs, and all that are judged otherwise where the grids lie beside them."""
    reasons = disagreements()
    return [
        name
        for number, name in enumerate(runs())
        if number % 3 == 0 or reasons.get(name, "").startswith(FOUND_WITH_GRIDS)
    ]


@rows("name", judged_without_grids(), parts=2)
def test_we_agree_or_say_why_not(name, tmp_path):
    assert (errors(name, tmp_path, False) == (runs()[name]["verdict"] != "accepted")) != (name in disagreements())


@rows("name", runs(), parts=4)
def test_with_the_grids_beside_what_needs_a_file_is_found(name, tmp_path):
    is_missed = name in disagreements() and not disagreements()[name].startswith(FOUND_WITH_GRIDS)
    assert (errors(name, tmp_path, True) == (runs()[name]["verdict"] != "accepted")) != is_missed


def test_the_table_is_small():
    reasons = disagreements()
    stopped, accepted = set(of_verdict("rejected", "hangs")), set(of_verdict("accepted"))
    lost = {name for name, reason in reasons.items() if reason.startswith("data lost")}
    files = {name for name, reason in reasons.items() if reason.startswith(FOUND_WITH_GRIDS)}
    assert lost <= accepted
    assert files <= stopped
    assert accepted & set(reasons) == lost
    assert len(stopped - set(reasons)) >= 0.869 * len(stopped)
    assert len(stopped - set(reasons) | files) >= 0.972 * len(stopped)
    assert set(reasons) <= stopped | accepted
