"""What a real ICON 2024.10 did with runs of several models, an ocean or waves alone, nests and coupled components.

`icon-2024.10-multi.jsonl` (290 runs) and `icon-2024.10-multi-more.jsonl` (runs near those, one or two settings changed)
hold the texts of a kind of run in the first line, then each run with its files as the lines that differ from one of
these (see `test_verdicts`). A run that `hangs` had not ended after half a minute and more.
`disagreements-multi.txt` lists every run on which nmlgen and ICON do not agree, with the reason.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

import nmlgen

HERE = Path(__file__).parent
SITE = str(HERE / "site.yaml")


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


@pytest.mark.parametrize("name", runs())
def test_we_agree_or_say_why_not(name, tmp_path):
    run = runs()[name]
    for file, text in run["files"].items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text, encoding="utf-8")
    errors = nmlgen.lint([tmp_path], ntasks=run["ntasks"], icon_release="2024.10", site=SITE).errors
    assert (bool(errors) == (run["verdict"] != "accepted")) != (name in disagreements())


def test_the_table_is_small():
    reasons = disagreements()
    stopped, accepted = set(of_verdict("rejected", "hangs")), set(of_verdict("accepted"))
    lost = {name for name, reason in reasons.items() if reason.startswith("data lost")}
    files = {name for name, reason in reasons.items() if reason.startswith("needs the")}
    assert lost <= accepted
    assert files <= stopped
    assert accepted & set(reasons) == lost
    assert len(stopped & set(reasons) - files) <= 0.08 * len(stopped)
    assert set(reasons) <= stopped | accepted
