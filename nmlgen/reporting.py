"""The report of a sweep: its table of points, what their logs say, what the model expects, on one page."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmlgen import disk
from nmlgen._version import __version__
from nmlgen.advise.calibration import Calibration
from nmlgen.advise.hindsight import hindsight
from nmlgen.errors import InputError
from nmlgen.logs.chain import chain_of
from nmlgen.logs.darshan import darshan_of
from nmlgen.logs.record import executable_of
from nmlgen.logs.rows import LogRun
from nmlgen.models.icon.logs.finding import logs_below
from nmlgen.models.icon.logs.reader import read_logs
from nmlgen.report.sweep.page import sweep_page
from nmlgen.report.sweep.run import Measured, PointRun, SweepRuns
from nmlgen.report.sweep.run import State as RunState
from nmlgen.sweep.directory import FIRST_COLUMNS, MANIFEST, TABLE, read_table
from nmlgen.sweep.expecting import Expectations
from nmlgen.sweep.state import State
from nmlgen.sweep.status import PointStatus, status
from nmlgen.values import asdict, evolve

if TYPE_CHECKING:
    import pandas

Progress = Callable[[int, int], None]
"""Called after each point: how many are done, of how many."""

_GAVE_UP = re.compile(r"^[^\n]*?: error: (.*)$", re.MULTILINE)  # `die` of the batch script
_LONGEST = 100_000  # bytes of what a job printed that are looked at
_SUMS = ("total_s", "wrt_output_work_s", "wrt_output_io_s", "write_restart_work_s", "write_restart_procs_s")


def report_sweep(
    directory: str | Path,
    *,
    calibration: Calibration | None = None,
    created: str | None = None,
    progress: Progress | None = None,
) -> str:
    """The report of a sweep that `write_sweep` or `nmlgen sweep` wrote: an HTML page without anything from elsewhere.

    Points with logs are compared with each other and with what the model expects by a `calibration`, by default the
    site's, else Levante's; points without are named. `created` is a time stamp to put in; the same sweep with the same
    logs and without one gives the same text. Raises InputError if there is no sweep in the directory.
    """
    return sweep_page(read_sweep_runs(directory, calibration=calibration, created=created, progress=progress))


def read_sweep_runs(
    directory: str | Path,
    *,
    calibration: Calibration | None = None,
    created: str | None = None,
    progress: Progress | None = None,
) -> SweepRuns:
    """What `report_sweep` draws: each point with its values, what was measured and what was expected."""
    directory = Path(directory)
    manifest, rows = _manifest(directory), read_table(directory)
    if not rows:
        raise InputError(f"{directory / TABLE}: there are no points in it")
    expectations = Expectations(directory, calibration)
    submitted = {point.directory: point for point in status(directory).points} if State(directory).exists else {}
    runs = []
    for number, row in enumerate(rows, start=1):
        runs.append(_point_run(directory, row, expectations, submitted.get(row["directory"])))
        if progress is not None:
            progress(number, len(rows))
    runs = _with_their_executables(runs)
    inputs = tuple((str(one.get("document")), str(one.get("sha256"))) for one in manifest.get("inputs", []))
    return SweepRuns(
        name=str(manifest.get("name", directory.name)),
        runs=tuple(runs),
        version=__version__,
        present=manifest.get("base", {}),
        inputs=inputs,
        overrides=tuple(map(str, manifest.get("overrides", []))),
        calibration=expectations.used,
        created=created,
    )


def _with_their_executables(runs: list[PointRun]) -> list[PointRun]:
    """Runs of another executable than most of the others say so: they are not to be compared unnoticed."""
    programs = [tuple(text for what, text in run.details if what == "executable") for run in runs]
    known = Counter(program for of_a_run in programs for program in of_a_run)
    if len(known) < 2:
        return runs
    ((usual, count),) = known.most_common(1)
    marked = []
    for run, own in zip(runs, programs, strict=True):
        others = [program for program in own if program != usual]
        note = f"it ran {' and '.join(others)}; {count} of {len(runs)} points ran {usual}"
        marked.append(evolve(run, notes=(*run.notes, note)) if others else run)
    return marked


def sweep_frame(directory: str | Path, *, calibration: Calibration | None = None) -> pandas.DataFrame:
    """What became of a sweep's points as a pandas frame: a row each, indexed by `name`.

    The columns: one for each key that the sweep varies, `state` ("finished", "unfinished", "failed", "missing",
    "invalid") and `reason` as in the report, `nodes`, `cores`, `node_hours`, what was measured (`total_s`,
    `wrt_output_work_s`, ... the attributes of `Measured`), and what the advisor expected: `predicted_s` with its limits
    `predicted_low_s` and `predicted_high_s`. What is not known is missing. Raises ImportError without pandas
    (`pip install nmlgen[frame]`), and what `report_sweep` raises.
    """
    import pandas

    rows = [_row(run) for run in read_sweep_runs(directory, calibration=calibration).runs]
    return pandas.DataFrame(rows).set_index("name")


def _row(run: PointRun) -> dict[str, Any]:
    predicted = run.predicted
    return {
        "name": run.name,
        **{key: _value(text) for key, text in run.values.items()},
        **{name: getattr(run, name) for name in ("state", "reason", "nodes", "cores", "node_hours")},
        **asdict(run.measured),
        "predicted_s": predicted.total_s if predicted is not None else None,
        "predicted_low_s": predicted.low_s if predicted is not None else None,
        "predicted_high_s": predicted.high_s if predicted is not None else None,
    }


def _value(text: str) -> Any:
    """A cell of the table of points: a number where it is one."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def measured(chain: Iterable[LogRun]) -> Measured:
    """What the legs of a chain took together; what one of them does not say, nobody knows of all."""
    legs = tuple(chain)
    sums: dict[str, Any] = {name: _sum(legs, name) for name in _SUMS}
    sums["output_bytes"], sums["checkpoint_bytes"] = _sum(legs, "output_bytes"), _sum(legs, "checkpoint_bytes")
    return Measured(
        **sums,
        output_get_bytes_per_s=_rate(legs, "output_received_bytes", "output_get_s"),
        output_write_bytes_per_s=_rate(legs, "output_bytes", "output_write_s"),
        checkpoint_write_bytes_per_s=_rate(legs, "checkpoint_bytes", "checkpoint_write_s"),
    )


def outcome(chain: tuple[LogRun, ...]) -> tuple[RunState, str]:
    """What became of the experiment of a chain, and why if it is not finished."""
    if not chain:
        return "missing", "there is no log of ICON in its directory: it has not begun, or ended before ICON did"
    last = chain[-1]
    if last.state == "crashed":
        return "failed", last.reason or ""
    if last.state == "truncated":
        return "unfinished", last.reason or ""
    if last.state == "restarted":
        return "unfinished", f"leg {len(chain)} of the chain has ended; there is no log of the next one"
    without = " and ".join(Path(leg.log).name for leg in chain if leg.total_s is None)
    return "finished", f"there is no run time in {without}: its timers were off (run_nml ltimer)" if without else ""


def _in_queue(point: PointStatus) -> tuple[RunState, str] | None:
    """What scheduler and records of a point say of one whose logs do not tell an end; None if they know no better."""
    if point.state == "waiting":
        return "missing", f"it waits in the queue as job {point.job}"
    if point.state == "running":
        return "unfinished", f"it is running as job {point.job}"
    if point.state == "cancelled":
        return "missing", "it was cancelled"
    if point.state in ("failed", "lost"):
        why = f": {point.reason}" if point.reason else ""
        return "failed", f"exit code {point.exit_code}{why}" if point.state == "failed" else f"lost{why}"
    return None


def _point_run(
    directory: Path, row: Mapping[str, str], expectations: Expectations, submitted: PointStatus | None
) -> PointRun:
    values = {key: value for key, value in row.items() if key not in FIRST_COLUMNS and value != ""}
    run = PointRun(name=row["name"], values=values, details=(("identifier", row["id"]),))
    if row["state"] != "built":
        return evolve(run, state="invalid", reason=row["reason"])
    if submitted is not None and submitted.state == "stale":
        return evolve(run, state="missing", reason=f"{submitted.reason}: nmlgen resubmit --stale runs it again")
    place = directory / row["directory"]
    chain = chain_of(_logs(place))
    state, reason = outcome(chain)
    if state in ("missing", "unfinished"):
        known = _in_queue(submitted) if submitted is not None else None
        if known is not None:
            state, reason = known
        if (known is None or state == "failed") and (said := _said_by_script(place)):
            state, reason = "failed", said
    expected = expectations.of(place, values)
    jobs = ", ".join(leg.job for leg in chain if leg.job is not None)
    details = [*run.details, ("directory", row["directory"])]
    details += [("log", Path(leg.log).relative_to(directory).as_posix()) for leg in chain]
    details += [("jobs", jobs)] if jobs else []
    details += [("ICON release", chain[-1].release)] if chain and chain[-1].release else []
    programs = dict.fromkeys(str(one) for leg in chain if (one := executable_of(Path(leg.log), leg.leg)) is not None)
    details += [("executable", program) for program in programs]
    longest = max(chain, key=lambda leg: leg.total_s or 0.0, default=None)
    if longest is not None and (seen := hindsight(longest, darshan_of(longest))) is not None:
        details += [("output", sentence) for sentence in seen.sentences]
    notes = dict.fromkeys(note for leg in chain for note in leg.notes)
    nodes = next((leg.nodes for leg in chain if leg.nodes is not None), None)
    cores = next((leg.ntasks for leg in chain if leg.ntasks is not None), None)
    return evolve(
        run,
        state=state,
        reason=reason,
        nodes=expected.nodes or nodes,
        cores=expected.cores or cores,
        measured=measured(chain),
        predicted=expected.predicted,
        details=tuple(details),
        notes=(*notes, *((expected.silence,) if expected.silence else ())),
    )


def _logs(place: Path) -> tuple[LogRun, ...]:
    """The runs that left logs in a point's directory; none if there are none."""
    try:
        logs = list(logs_below([place]))
    except InputError:
        return ()
    return read_logs(logs).runs if place.is_dir() else ()


def _said_by_script(place: Path) -> str:
    """With which words the batch script gave up, from what the last job of a point printed; nothing if it did not."""
    printed = [path for path in (*place.glob("*.log"), *place.glob("*.out")) if path.is_file()]
    if not printed:
        return ""
    with max(printed, key=lambda path: (path.stat().st_mtime, path.name)).open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - _LONGEST))
        found = _GAVE_UP.findall(file.read().decode("utf-8", "replace"))
    return found[-1].strip() if found else ""


def _sum(legs: Iterable[LogRun], name: str) -> float | None:
    values = [getattr(leg, name) for leg in legs]
    return None if not values or None in values else float(sum(values))


def _rate(legs: tuple[LogRun, ...], amount: str, seconds: str) -> float | None:
    """Over the legs that say both."""
    known = [leg for leg in legs if getattr(leg, amount) is not None and getattr(leg, seconds) is not None]
    time = sum(getattr(leg, seconds) for leg in known)
    return sum(getattr(leg, amount) for leg in known) / time if time > 0 else None


def _manifest(directory: Path) -> dict[str, Any]:
    path = directory / MANIFEST
    try:
        document = disk.parsed(disk.content(path))
    except FileNotFoundError:
        raise InputError(f"{directory} holds no sweep: {MANIFEST} is not there; nmlgen sweep writes one") from None
    except ValueError as error:
        raise InputError(f"{path}: not legible as JSON: {error}") from None
    if not isinstance(document, dict):
        raise InputError(f"{path}: expected a mapping, as nmlgen sweep writes it")
    for key, kind in (("base", dict), ("inputs", list), ("overrides", list)):
        if not isinstance(document.get(key, kind()), kind):
            raise InputError(f"{path}: {key} is not what nmlgen sweep writes there")
    if not all(isinstance(one, dict) for one in document.get("inputs", [])):
        raise InputError(f"{path}: inputs is not what nmlgen sweep writes there")
    return document
