"""What the tasks of a sweep's job arrays write into their points: who runs the point, and how it ended.

    POINT/nmlgen.jobs/N.start     the claim of whoever runs the point for the Nth time: task, ids, node, time, build
    POINT/nmlgen.jobs/N.end       how that ended: exit code, outcome (OK, RESTART, FAILED, LOST), time

Each is one line of `key=value`, made elsewhere and put in place by a hard link, which can succeed only once: so no two
tasks run a point at the same time, and what is there is whole. `templates/array.sbatch.j2` writes them.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from functools import cache
from itertools import count
from pathlib import Path

from nmlgen import disk
from nmlgen.command_line import command_words
from nmlgen.errors import InputError, WriteError
from nmlgen.render.write import MANIFEST
from nmlgen.schedulers.arrays import JobId
from nmlgen.values import frozen

RECORDS = "nmlgen.jobs"
OK, RESTART, LOST = "OK", "RESTART", "LOST"
_MASTER = "icon_master.namelist"
_MARK = re.compile(r"^! .*, build ([0-9a-f]+)$", re.MULTILINE)
_LEDGER, _GOAL, _RUN_DIRECTORY = "nmlgen.legs", "nmlgen.until", "run"
_RUN = re.compile(r"^run=(.*)$", re.MULTILINE)
_INSTANT = "%Y-%m-%dT%H:%M:%SZ"
_NAME = re.compile(r"(\d{1,9})\.(start|end)")
_MOST = 2**20  # characters
_ABSENT = (FileNotFoundError, NotADirectoryError)


@frozen
class Run:
    """The last time that a point ran: its number, from 1 on, who ran it, and how it ended, None while it has not;
    `name` is that of the array.

    `build` is the mark of the build that it ran, as `build_of` gives it, empty where nobody noted it.
    `leg` is that of the restart chain, from 1 on: one more than the number of runs before that ended with a restart, or
    well, if the experiment went on beyond its end.
    """

    number: int
    leg: int
    token: str
    name: str
    task: int
    array: JobId
    job: JobId
    node: str
    started: str
    outcome: str | None = None
    exit_code: int | None = None
    ended: str | None = None
    build: str = ""

    @property
    def has_results(self) -> bool:
        """Whether it runs, or came to the end of a leg or of the experiment."""
        return self.outcome in (None, OK, RESTART)


def last_run(point: Path | str) -> Run | None:
    """The last run of a point, given its directory; None if it never ran."""
    directory = f"{point}/{RECORDS}"
    try:
        names = os.listdir(directory)
    except _ABSENT:
        return None
    files = {(int(match[1]), match[2]) for match in map(_NAME.fullmatch, names) if match}
    starts = [number for number, kind in files if kind == "start"]
    if not starts:
        return None
    number = max(starts)
    ends = {at: _read(f"{directory}/{at}.end") for at, kind in sorted(files) if kind == "end"}
    restarts = sum(said.get("outcome") in (RESTART, OK) for at, said in ends.items() if at < number)
    start = _read(f"{directory}/{number}.start")
    end = ends.get(number)
    return Run(
        number=number,
        leg=restarts + 1,
        token=start.get("token", ""),
        name=start.get("name", ""),
        task=_integer(start.get("task")),
        array=_id(start.get("array")),
        job=_id(start.get("job")),
        node=start.get("node", ""),
        started=start.get("time", ""),
        build=start.get("build", ""),
        outcome=None if end is None else end.get("outcome", ""),
        exit_code=None if end is None else _integer(end.get("code")),
        ended=None if end is None else end.get("time", ""),
    )


def build_of(point: Path | str) -> str:
    """The mark of the build in a point's directory, from the first line of its master namelist; empty without one."""
    found = _MARK.search(_text(f"{point}/{_MASTER}").partition("\n")[0])
    return found[1] if found else ""


def ended_by_itself(point: Path | str) -> str | None:
    """The mark of the build by which a point's experiment came to its end, whoever ran it, empty where that was not
    noted; None if it did not. Its script notes that in the run directory: `sbatch` and workflow tools leave no other
    record."""
    place = next((one for one in _all_run_directories(point) if _ends_with_ok(f"{one}/{_LEDGER}")), None)
    if place is None:
        return None
    came = _words(f"{place}/{_GOAL}")
    return came[2] if came is not None and len(came) == 3 else ""


def _run_directories(point: Path | str) -> Iterator[str]:
    """Where else the point's script lets the model run, if that can be told without running it."""
    try:
        scripts = [name for name in os.listdir(point) if name.endswith(".sbatch")]
    except _ABSENT:
        return
    for name in scripts:
        path = f"{point}/{name}"
        with contextlib.suppress(OSError):  # it is no link
            path = os.path.normpath(f"{point}/{os.readlink(path)}")
        place = _run_of(path)
        if place is not None and place != _RUN_DIRECTORY:
            yield place


_LONGEST = 10_000  # no path is longer


@cache
def _run_of(script: str) -> str | None:
    """The directory that a script calls `run`, relative to the point's or absolute."""
    try:
        found = _RUN.search(_text(script))
        words = command_words(found[1]) if found and len(found[1]) <= _LONGEST else []
    except ValueError:
        return None
    return words[0].removeprefix("$here/") if len(words) == 1 else None


def _ends_with_ok(ledger: str) -> bool:
    return any(line.endswith(" OK") for line in _text(ledger).split("\n"))


def refusal_to_go_on(point: Path | str) -> str | None:
    """Why a point that has come to its end cannot go on to that which its build has now; None if it can. Its script
    says in the run directory up to when it ran, and by a checksum what; the manifest says what it is to be."""
    came = next(filter(None, (_words(f"{place}/{_GOAL}") for place in _all_run_directories(point))), None)
    if came is None or len(came) != 3:
        return "nothing says that there is a checkpoint of its end to go on from"
    try:
        manifest = disk.parsed(disk.content(f"{point}/{MANIFEST}"))
        until, lasting = str(manifest["until"]), str(manifest["but_for_the_end"])
    except (OSError, ValueError, KeyError, TypeError):
        return f"its {MANIFEST} does not say when it ends"
    if lasting != came[1]:
        return "more than its end is another now"
    return None if until > came[0] else f"it has run until {came[0]}, and is to run until {until} now"


def _all_run_directories(point: Path | str) -> Iterator[str]:
    yield f"{point}/{_RUN_DIRECTORY}"
    for place in _run_directories(point):
        yield os.path.join(point, place)


def _words(path: str) -> list[str]:
    return _text(path).partition("\n")[0].split()


def set_aside(point: Path, mark: str, files: Collection[str], holder: Path) -> None:
    """Move what a run of the build of this mark left, all but the `files` of the build that is there now, into a
    directory of `holder` named after point and mark.

    What says that it ran goes last: until then the run counts, and another call goes on.
    """
    target = holder / f"{point.name}-{mark}"
    try:
        target.mkdir(parents=True, exist_ok=True)
        left = sorted(path.name for path in point.iterdir() if path.name not in files)
        for name in sorted(left, key=lambda name: (name == RECORDS, name == _RUN_DIRECTORY)):
            free = next(path for path in _names(target / name) if not os.path.lexists(path))
            (point / name).rename(free)
    except OSError as error:
        raise WriteError(f"{error.filename or target}: {(error.strerror or str(error)).lower()}") from error


def _names(path: Path) -> Iterator[Path]:
    yield path
    yield from (path.with_name(f"{path.name}.{number}") for number in count(2))


def elapsed_s(point: Path) -> float | None:
    """The seconds that all runs of a point took together, given its directory; None if one has not ended, or nobody
    knows when it did."""
    directory = point / RECORDS
    total = 0.0
    for start in sorted(directory.glob("*.start")):
        end = start.with_suffix(".end")
        try:
            began, ended = (datetime.strptime(_read(path)["time"], _INSTANT) for path in (start, end))
        except (KeyError, ValueError):
            return None
        total += (ended - began).total_seconds()
    return total


def declare_lost(point: Path, run: Run) -> bool:
    """Note that a run will never say how it ended; False if it has said so meanwhile."""
    end = point / RECORDS / f"{run.number}.end"
    staged = end.with_name(f".{end.name}.{os.urandom(6).hex()}")
    try:
        staged.write_text(f"code=-1 outcome={LOST} time=\n", encoding="utf-8")
        try:
            os.link(staged, end)
        except FileExistsError:
            return False
        finally:
            staged.unlink()
    except OSError as error:
        raise WriteError(f"{end}: {(error.strerror or str(error)).lower()}") from error
    return True


def _read(path: Path | str) -> Mapping[str, str]:
    return {key: value for key, _, value in (word.partition("=") for word in _text(path).split())}


def _text(path: Path | str) -> str:
    """The beginning of what jobs and builds note, which is short; empty if there is nothing. Raises InputError if it
    cannot be read: what nobody may read is not what never was."""
    try:
        with disk.open_text(path, errors="replace") as file:
            return file.read(_MOST)
    except _ABSENT:
        return ""
    except OSError as error:
        raise InputError(f"{path}: {(error.strerror or str(error)).lower()}") from None


def _id(text: str | None) -> JobId:
    """What a batch system calls a job; -1 where nobody noted it."""
    return text if text and not re.fullmatch(r"-?\d{1,18}", text) else _integer(text)


def _integer(text: str | None) -> int:
    return int(text) if text is not None and re.fullmatch(r"-?\d{1,18}", text) else -1
