"""What a real ICON 2024.10 did with 1785 pairs of namelists, against what nmlgen says of them.

`icon-2024.10.jsonl` holds the observations: the base pair in its first line, then each pair as the lines that differ
(first line, line after the last, new text; counted from 0), with ICON's verdict and the stage it came to;
`icon-2024.10-more.jsonl` 866 more, many of them with several changes at once. `icon-2024.10-fresh.jsonl` holds 224 of
settings that none of these change, judged before anything was mended after them, and 73 of one setting each that told
the classes of what had been missed.
`icon-2024.10-order.jsonl` holds 34 more of several streams, with the records that each I/O rank wrote, in order: the
minute, the file, and its number with that of the record in it.
`disagreements.txt` lists every pair on which nmlgen and ICON do not agree, with the reason.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

from attrs import frozen
from grid_files import header
from rows import rows

import nmlgen
from nmlgen.experiment.setting import UndecidedError
from nmlgen.findings import Finding
from nmlgen.lift.namelists import lift_master
from nmlgen.models.icon.clock import clock
from nmlgen.models.icon.ranks import split
from nmlgen.models.icon.schedule import Write, writes
from nmlgen.namelist.registry import load_registry

HERE = Path(__file__).parent
SITE = str(HERE / "site.yaml")
MINUTE = 60_000
NOT_OUTPUT = re.compile(r"restart|^rs_|\.status$|\.dat$|\.log$|^ready_for_checkpoint$")
"""Checkpoints, and what ICON writes besides output and checkpoints."""
GRID = header({"cell": 1280}, {"grid_root": 2, "grid_level": 2, "grid_geometry": 1})
UNDECIDED_FILES = {
    "tim-360-jan31",  # dates that the calendar does not have
    "tim-refdate-only",
    "tim-start-feb30",
}
FILES = {"master": "icon_master.namelist", "atmosphere": "NAMELIST_atm"}


@frozen
class Case:
    """One pair of namelists and what ICON made of it."""

    id: str
    ntasks: int
    verdict: str
    texts: dict[str, str]
    changed: dict[str, set[int]]
    split: dict[str, int] | None
    files: list[str] | None
    order: dict[str, list[list]] | None


def applied(base: str, operations: list) -> tuple[str, set[int]]:
    """The changed text, and the numbers of the lines that are new or beside what went."""
    lines = base.splitlines(keepends=True)
    changed: set[int] = set()
    shift = 0
    for start, stop, text in operations:
        new = text.splitlines(keepends=True)
        lines[start + shift : stop + shift] = new
        changed |= set(range(start + shift + 1, start + shift + len(new) + 1)) or {start + shift, start + shift + 1}
        shift += len(new) - (stop - start)
    return "".join(lines), changed


@cache
def cases() -> dict[str, Case]:
    lines = [
        line
        for name in ("icon-2024.10.jsonl", *(f"icon-2024.10-{more}.jsonl" for more in ("more", "order", "fresh")))
        for line in (HERE / name).read_text(encoding="utf-8").splitlines()
    ]
    first, *rest = map(json.loads, lines)
    found = {}
    for entry in rest:
        made = {file: applied(first["base"][key], entry.get(key, [])) for key, file in FILES.items()}
        texts = {file: text for file, (text, _) in made.items()}
        changed = {file: lines for file, (_, lines) in made.items()}
        observed = [entry.get(key) for key in ("split", "files", "order")]
        found[entry["id"]] = Case(entry["id"], entry["ntasks"], entry["verdict"], texts, changed, *observed)
    return found


@cache
def disagreements() -> dict[str, str]:
    """Pairs on which we and ICON differ, with the reason."""
    lines = (HERE / "disagreements.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split(maxsplit=1) for line in lines if line and not line.startswith("#"))


def written(case: Case, directory: Path) -> Path:
    for file, text in case.texts.items():
        (directory / file).write_bytes(text.encode("utf-8", "surrogateescape"))
    (directory / "grid.nc").write_bytes(GRID)
    return directory


def of_verdict(verdict: str) -> list[str]:
    return [case.id for case in cases().values() if case.verdict == verdict]


def errors(name: str, directory: Path) -> list[Finding]:
    case = cases()[name]
    return nmlgen.lint([written(case, directory)], ntasks=case.ntasks, icon_release="2024.10", site=SITE).errors


@rows("name", of_verdict("accepted"), parts=4)
def test_what_icon_takes_has_no_error(name, tmp_path):
    assert bool(errors(name, tmp_path)) == (name in disagreements())


def test_what_icon_rejects_is_found_where_it_was_changed(tmp_path):
    """Of the pairs that ICON rejects and we do, nearly all errors stand in the line that was changed, or where the
    group of a value that was taken away begins."""
    found: dict[str, list[Finding]] = {}

    @rows("name", of_verdict("rejected"))
    def has_errors(name):
        found[name] = errors(name, tmp_path)
        assert bool(found[name]) != (name in disagreements())

    has_errors()
    agreed = [name for name in found if name not in disagreements()]
    assert sum(points_at_change(cases()[name], found[name]) for name in agreed) >= 0.97 * len(agreed)


def points_at_change(case: Case, errors: list[Finding]) -> bool:
    places = [(Path(error.file or "").name, error.line) for error in errors]
    return any(line in case.changed.get(file, set()) or is_beginning(case, file, line) for file, line in places)


def test_the_table_is_small():
    rejected, accepted = set(of_verdict("rejected")), set(of_verdict("accepted"))
    lost = {name for name, reason in disagreements().items() if reason.startswith("data lost")}
    assert lost <= accepted
    assert len(rejected & set(disagreements())) <= 0.05 * len(rejected)
    assert len((accepted - lost) & set(disagreements())) <= 0.005 * len(accepted)
    assert set(disagreements()) <= rejected | accepted


def is_beginning(case: Case, file: str, line: int | None) -> bool:
    """Whether a line is the first of a file or of a group in a file that was changed."""
    lines = case.texts.get(file, "").splitlines()
    first = line == 1 or (line is not None and line <= len(lines) and lines[line - 1].lstrip().startswith("&"))
    return first and bool(case.changed.get(file))


@rows("name", [name for name in of_verdict("accepted") if cases()[name].split])
def test_ranks_are_split_as_icon_splits_them(name, tmp_path):
    case = cases()[name]
    experiment, _ = lift_master(written(case, tmp_path) / FILES["master"], load_registry("2024.10"), case.ntasks)
    try:
        found = split(experiment.components[0])
    except UndecidedError:
        assert name == "syn-long-string-trunc"
        return
    expected = case.split
    assert (found.test, found.work, found.io, found.restart, found.prefetch) == tuple(
        expected[role] for role in ("test", "work", "io", "restart", "prefetch")
    )


def records(case: Case, directory: Path) -> list[Write]:
    """All records that we expect of a job, of all its models."""
    experiment, _ = lift_master(written(case, directory) / FILES["master"], load_registry("2024.10"), case.ntasks)
    return [write for component in experiment.components for write in writes(component, clock(component))]


@rows("name", [name for name in of_verdict("accepted") if cases()[name].order is not None])
def test_records_are_written_in_icons_order(name, tmp_path):
    found: dict[str, list[list]] = {}
    for write in records(cases()[name], tmp_path):
        record = [write.time // MINUTE, write.name, f"{write.number}.{write.record}"]
        found.setdefault(str(write.rank), []).append(record)
    assert found == cases()[name].order


@rows("name", [name for name in of_verdict("accepted") if cases()[name].files is not None])
def test_files_are_those_that_icon_wrote(name, tmp_path):
    try:
        found = {write.name.rpartition("/")[2] for write in records(cases()[name], tmp_path)}
    except UndecidedError:
        assert name in UNDECIDED_FILES
        return
    assert name not in UNDECIDED_FILES
    assert found == {file for file in cases()[name].files if not NOT_OUTPUT.search(file)}
