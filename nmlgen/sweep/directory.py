"""A sweep on the disk.

    DIR/nmlgen-sweep.json     what the sweep was made from, once for all points
    DIR/points.csv            a row each: identifier, name, directory, values, whether it was built and, if not, why not
    DIR/points/NAME/          what `build` makes of the point; the job runs here and leaves its logs here
    DIR/shared/               the batch scripts, each for all points that are run in the same way: links lead to them

A point's directory depends on the point alone: what is there already and right is not touched, so an interrupted
sweep goes on where it stopped and a larger one adds to a smaller one.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

from nmlgen import disk
from nmlgen._version import __version__
from nmlgen.errors import BuildError, InputError, SpecError, WriteError
from nmlgen.experiment.setting import Certainty
from nmlgen.findings import Finding
from nmlgen.render.build import make_build, script_name
from nmlgen.render.write import MANIFEST as MANIFEST_OF_POINT
from nmlgen.render.write import STAGING, changed_files, clear_leftovers, stage_files, write_files
from nmlgen.spec.problems import problem
from nmlgen.spec.spec import Spec
from nmlgen.sweep.expansion import Invalid
from nmlgen.sweep.point import Point
from nmlgen.sweep.records import ended_by_itself, last_run
from nmlgen.sweep.table import write_csv, write_parquet
from nmlgen.values import evolve, frozen
from nmlgen.writing import utf_8, whole_file, write_whole

MANIFEST = "nmlgen-sweep.json"
TABLE = "points.csv"
POINTS = "points"
SHARED = "shared"
_DIGEST_LENGTH = 12
_LONGEST_ROW = 2**20  # characters
FIRST_COLUMNS = ("id", "name", "directory", "state", "reason")

Progress = Callable[[Point], None]
Said = tuple[Point, tuple[Finding, ...]]


@frozen(eq=False)
class Sweep:
    """A sweep that was written: how many `points` it has, how many of them are new or different, and those that could
    not be built, each with the findings that say why."""

    points: int
    changed: int
    invalid: tuple[Said, ...]


def write_sweep(
    points: Iterable[Point],
    directory: str | Path,
    *,
    invalid: Invalid = "stop",
    strict: bool = False,
    force: bool = False,
    parquet: bool = False,
    progress: Progress | None = None,
) -> Sweep:
    """Write the points of a sweep, each into a directory of its own, and the table of all.

    At a point that cannot be built, because of errors or, if `strict`, of warnings, the sweep stops with a BuildError
    or SpecError; what was written by then stays and is found right the next time. With "skip" the others are written
    and the table says why this one was not; "keep" is the same as "stop". `progress` is called after each point. Raises
    WriteError as `Build.write` does, and SpecError if two different points have one name.
    """
    if parquet and (missing := next((name for name in ("pandas", "pyarrow") if find_spec(name) is None), None)):
        raise InputError(f"to write Parquet takes {missing}: pip install 'nmlgen[frame]'")
    writer = _Writer(Path(directory), invalid, strict, force)
    try:
        with _staging(writer.directory) as staging, tempfile.TemporaryFile("w+", encoding="utf-8") as rows:
            for point in points:
                if writer.is_new(point):
                    writer.write(point, staging, rows)
                    if progress is not None:
                        progress(point)
            writer.finish(rows, parquet)
    except OSError as error:
        raise WriteError(f"{error.filename or directory}: {(error.strerror or str(error)).lower()}") from error
    return Sweep(len(writer.names), writer.changed, tuple(writer.invalid))


def read_table(directory: Path) -> list[dict[str, str]]:
    """The rows of the table of points that `write_sweep` wrote, cells as text.

    Raises InputError, with the line where there is one, if there is no such table or it cannot be read.
    """
    path = directory / TABLE
    try:
        with disk.open_text(path, newline="") as file:
            reader = csv.DictReader(iter(lambda: file.readline(_LONGEST_ROW), ""))
            missing = [name for name in FIRST_COLUMNS if name not in (reader.fieldnames or ())]
            if missing:
                what = f"there is no column {missing[0]}: this is no table of points"
                raise InputError(f"{path}:1: {what} as `nmlgen sweep` writes it")
            return list(_complete(reader, path))
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file; `nmlgen sweep SPEC -o {directory}` writes a sweep") from None
    except (csv.Error, UnicodeDecodeError):
        raise InputError(f"{path}: this is no table of points as `nmlgen sweep` writes it") from None
    except OSError as error:
        raise InputError(f"{path}: {(error.strerror or str(error)).lower()}") from None


def _complete(reader: csv.DictReader[str], path: Path) -> Iterator[dict[str, str]]:
    seen, places = set[str](), set[str]()
    for row in reader:
        if None in row or None in row.values():
            raise InputError(f"{path}:{reader.line_num}: expected as many cells as there are columns")
        if row["id"] in seen:
            raise InputError(f"{path}:{reader.line_num}: the point {row['id']} is there already")
        seen.add(row["id"])
        place = os.path.normpath(row["directory"])
        if row["state"] == "built" and place in places:
            raise InputError(f"{path}:{reader.line_num}: another point lies in {row['directory']}, too")
        if row["state"] == "built":
            places.add(place)
        yield row


class _Writer:
    """Writes one sweep and counts."""

    def __init__(self, directory: Path, invalid: Invalid, strict: bool, force: bool) -> None:
        self.directory = directory
        self.names: dict[str, str] = {}
        self.changed = 0
        self.invalid: list[Said] = []
        self._skips = invalid == "skip"
        self._strict, self._force = strict, force
        self._keys: dict[str, None] = {}
        self._base: Spec | None = None
        self._scripts: set[str] = set()

    def is_new(self, point: Point) -> bool:
        """Whether the point has not come before; raises SpecError if another one has its name."""
        known = self.names.get(point.name)
        if known not in (None, point.id):
            message = f'the points {known} and {point.id} are both called "{point.name}"'
            raise SpecError((problem("SPC012", message, point.base.beginning, "put {id} into the name of the sweep"),))
        self.names[point.name] = point.id
        self._base = point.base
        self._keys.update(dict.fromkeys(point.values))
        return known is None

    def write(self, point: Point, staging: Path, rows: IO[str]) -> None:
        """Write one point, and its row."""
        findings = self._obstacles(point)
        if findings:
            self.invalid.append((point, findings))
            reason = f"{findings[0].code}: {findings[0].message}"
            row = {"state": "invalid", "reason": reason}
        else:
            sweep = point.base.experiment.name
            files = make_build(point.spec, point.report.findings, sweep=sweep).files
            script = script_name(sweep)
            links = {script: f"../../{SHARED}/{self._shared(script, files[script])}"}
            self.changed += _write_point(files, links, self.directory / POINTS, point.name, staging, self._force)
            row = {"state": "built", "directory": f"{POINTS}/{point.name}"}
        rows.write(json.dumps({"id": point.id, "name": point.name, **row, "values": dict(point.values)}) + "\n")

    def _shared(self, script: str, data: bytes) -> str:
        """Write a batch script that several points may have, unless it is there; returns its name."""
        digest = hashlib.sha256(data).hexdigest()[:_DIGEST_LENGTH]
        stem, suffix = os.path.splitext(script)
        name = f"{stem}-{digest}{suffix}"
        if name not in self._scripts:
            path = self.directory / SHARED / name
            if not path.exists() or self._force:
                write_whole(path, data, is_ours=True)
            elif not disk.holds(path, data):
                raise WriteError(f"{path} is not as nmlgen wrote it; --force overwrites")
            self._scripts.add(name)
        return name

    def finish(self, rows: IO[str], parquet: bool) -> None:
        """Write the table and what the sweep was made from."""
        columns = tuple(dict.fromkeys((*FIRST_COLUMNS, *self._keys)))
        if parquet:
            with whole_file(self.directory / "points.parquet", is_ours=True) as raw:
                write_parquet(raw, columns, _rows(rows))
        with whole_file(self.directory / TABLE, is_ours=True) as raw:
            file = io.TextIOWrapper(raw, encoding="utf-8", newline="")
            write_csv(file, columns, _rows(rows))
            file.flush()
            file.detach()
        if self._base is not None:
            write_whole(self.directory / MANIFEST, self._manifest(self._base), is_ours=True)

    def _obstacles(self, point: Point) -> tuple[Finding, ...]:
        """Why a point cannot be built."""
        try:
            report = point.report
        except SpecError as error:
            if not self._skips:
                raise SpecError(_at(point, error.findings)) from None
            return error.findings
        obstacles = report.errors + (report.warnings if self._strict else ())
        if obstacles and not self._skips:
            raise BuildError(_at(point, obstacles))
        return obstacles

    def _manifest(self, base: Spec) -> bytes:
        document = {
            "format": 1,
            "nmlgen": __version__,
            "name": base.experiment.name,
            "inputs": [{"document": d.label, "sha256": d.sha256} for d in base.documents],
            "overrides": list(base.overrides),
            "base": {key: value for key in self._keys if (value := _said_by(base, key)) is not None},
            "points": len(self.names),
            "invalid": len(self.invalid),
            "table": {"file": TABLE, "sha256": hashlib.sha256((self.directory / TABLE).read_bytes()).hexdigest()},
        }
        return utf_8(json.dumps(document, indent=2, ensure_ascii=False) + "\n")


def _said_by(base: Spec, key: str) -> Any:
    """The value that a key has without the sweep; None where nobody knows, or the spec does not say it alone."""
    try:
        setting = base.find(key)
    except InputError:
        return None
    return None if setting.certainty is Certainty.UNKNOWN else setting.value


def _at(point: Point, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    return tuple(evolve(finding, notes=(*finding.notes, f"at the point {point.name}")) for finding in findings)


def _write_point(
    files: Mapping[str, bytes], links: Mapping[str, str], holder: Path, name: str, staging: Path, force: bool
) -> bool:
    """Write a point's files; whether any was new or different. A new directory appears whole or not at all."""
    target = holder / name
    if not target.is_dir():
        staged = staging / name
        staged.mkdir()
        stage_files(files, staged, links)
        try:
            staged.rename(target)
        except OSError:
            if not target.is_dir():
                raise
            shutil.rmtree(staged)  # somebody else wrote it meanwhile
        else:
            return True
    run = last_run(target)
    if not force and (run.has_results if run is not None else ended_by_itself(target) is not None):
        changed = [name for name in changed_files(files, target, links) if name != MANIFEST_OF_POINT]
        if changed:
            what = "runs" if run is not None and run.outcome is None else "has results"
            note = "--force writes it anew; its results are stale then, and nmlgen resubmit --stale begins anew"
            note += ", --go-on goes on where nothing but a later end is new"
            raise WriteError(f"{target} {what}, and {changed[0]} would be another; {note}")
    return bool(write_files(files, target, force, links))


@contextmanager
def _staging(directory: Path) -> Iterator[Path]:
    """A directory beside the points, gone in the end."""
    for part in (POINTS, SHARED):
        (directory / part).mkdir(parents=True, exist_ok=True)
    clear_leftovers(directory)
    staging = directory / f"{STAGING}{os.urandom(8).hex()}"
    staging.mkdir()
    try:
        yield staging
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _rows(rows: IO[str]) -> Iterator[dict[str, Any]]:
    rows.seek(0)
    for line in rows:
        row = disk.parsed(line)
        yield {**row["values"], **{key: value for key, value in row.items() if key != "values"}}
