"""After a run: whether it wrote what its experiment promises, whole, and nothing of another one."""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from nmlgen.disk import open_regular, require_missing
from nmlgen.errors import BrokenFileError, InputError
from nmlgen.experiment.chain import START_DIRECTORY
from nmlgen.experiment.component import Component
from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.setting import Certainty, UndecidedError
from nmlgen.lift.loading import Loaded, load
from nmlgen.models.icon.chain import status_files, writes_checkpoints
from nmlgen.models.icon.clock import Clock, clock
from nmlgen.models.icon.promised import (
    Promise,
    PromisedFile,
    checkpoint_links,
    promised_output,
    promised_records,
)
from nmlgen.models.icon.ranks import domains
from nmlgen.models.icon.volume import checkpoint_parts
from nmlgen.report.quantities import counted
from nmlgen.results.file import ResultFile, first_nan, read_file
from nmlgen.units.calendar import Instant
from nmlgen.units.duration import Duration
from nmlgen.values import define, field, frozen

_LEDGER = "nmlgen.legs"
_MASTER = "icon_master.namelist"
_MARK = re.compile(rb"^! .*written by nmlgen \S+, build ([0-9a-f]{12})", re.MULTILINE)
_PART = re.compile(r"patch(\d{1,4})_(\d{1,6})\.nc")
_HEADERS = 65_536  # bytes: what headers may differ by
_SLACK = 2.0  # seconds: clocks of file systems
_MOST_SHOWN = 3
_MOST_LISTED = 100_000
_MOST_NOTED = 2**20  # bytes of what a job notes
_MOST_SOUGHT = 50_000
"""A bound on work: more records are looked for where there is room for them only."""
_MOST_LIKENED = 50_000_000
"""A bound on work: the characters of names that are held against patterns of others."""
_LEAST_OF_RECORD = 8  # bytes: its time


@frozen
class Problem:
    """What is wrong with a file: `what` is "missing", "cut short", "unreadable", "records", "left over", "not a number"
    or "checkpoint"; `file` is relative to the run's directory."""

    what: str
    file: str
    message: str


@frozen
class Verification:
    """What was found. `directory` is where the run wrote, `legs` how many of `planned_legs` jobs were looked at,
    None where nothing says how far the run is, and all were.
    `files`, `records` and `bytes` are those of output files that are there; `remarks` say what was not looked at, and
    what is no fault by itself."""

    directory: Path
    legs: int | None
    planned_legs: int | None
    promised: int
    files: int
    records: int
    bytes: int
    checkpoints: tuple[str, ...]
    problems: tuple[Problem, ...]
    remarks: tuple[str, ...]


def verify(
    directory: str | Path,
    *,
    legs: int | None = None,
    find_nan: bool = False,
    ntasks: int | None = None,
    icon_release: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> Verification:
    """Compare what lies in a run's directory with what its experiment promises.

    `directory` is that of a build, or the one in which ICON ran, with its namelists. `legs` is the number of jobs that
    have ended; otherwise the script's ledger, finish.status and the last checkpoint tell it. `find_nan` has every field
    read. `progress` is called with the name of each file before it is read. Raises InputError if there is no
    experiment, or nothing of it can be known.
    """
    directory = Path(directory)
    run, experiment = run_in(directory, ntasks, icon_release)
    return _Run(run, directory, experiment, find_nan, progress).verify(legs)


def run_in(directory: Path, ntasks: int | None = None, icon_release: str | None = None) -> tuple[Path, Experiment]:
    """Where the experiment of a directory ran, and that experiment; errors as `verify`."""
    if not directory.is_dir():
        raise InputError(f"{directory} is no directory; expected that of a build or of a run")
    loaded = load(directory, ntasks=ntasks, icon_release=icon_release)
    return _run_directory(directory, loaded), loaded.experiment


def ended_jobs(run: Path, experiment: Experiment, legs: int | None = None) -> int | None:
    """How many jobs of a run have ended, `legs` if that is said; None for all. Errors as `verify`."""
    return _Run(run, run, experiment, False, None).ended(legs)


def lacks_most(run: Path, component: Component) -> str:
    """Why what a component promises is not looked for one by one: there are many records, and what lies there cannot
    hold them; "" if it can. Raises UndecidedError for settings that nobody can know."""
    records = promised_records(component)
    if records <= _MOST_SOUGHT:
        return ""
    found = 0
    for directory, _, names in os.walk(run):
        for name in names:
            with suppress(OSError):
                found += os.lstat(os.path.join(directory, name)).st_size
            if found >= records * _LEAST_OF_RECORD:
                return ""
    return f"{records} records are promised, for which the {found} bytes here are too few"


def _run_directory(directory: Path, loaded: Loaded) -> Path:
    """Where the experiment of a build runs; a directory in which there are but namelists is that itself."""
    if "job" not in loaded.parts:
        return directory
    named = loaded.experiment.run_directory
    if named.certainty is Certainty.UNKNOWN:
        raise InputError(f"{directory}: where its script runs is not known; expected the directory that ICON ran in")
    run = directory / str(named.value)
    if not run.is_dir():
        raise InputError(f"{run} is not there: the experiment has not run")
    return run


@define
class _Run:
    """One verification; problems and remarks come together on the way."""

    run: Path
    build: Path
    experiment: Experiment
    find_nan: bool
    progress: Callable[[str], None] | None
    problems: list[Problem] = field(factory=list)
    remarks: list[str] = field(factory=list)
    unread: Counter[str] = field(factory=Counter)
    odd_sizes: list[str] = field(factory=list)
    files: int = 0
    records: int = 0
    bytes: int = 0

    def verify(self, legs: int | None) -> Verification:
        components = self.experiment.components
        time = self._clock(components)
        legs, ended = self._legs(time, legs, components)
        self._same_build()
        promises: list[Promise] = []
        begun = self._beginning()
        for component in components:
            try:
                if lack := lacks_most(self.run, component):
                    self._problem("missing", ".", f"{component.title}: {lack}")
                    continue
                promise = promised_output(component, legs)
            except UndecidedError as error:
                self.remarks.append(
                    f"{component.title}: output not looked at, because {error.setting.name} is not known"
                )
                continue
            promises.append(promise)
            for name, files in _by_name(promise.files):
                self._output(name, files, time, begun)
        self._left_over(promises)
        checkpoints: list[str] = []
        for component in components:
            try:
                if writes_checkpoints(component):
                    checkpoints += self._checkpoint(component, time, legs, ended)
            except UndecidedError as error:
                self.remarks.append(
                    f"{component.title}: checkpoints not looked at, because {error.setting.name} is not known"
                )
        for why, count in self.unread.items():
            self.remarks.append(f"{counted(count, 'file')}: {why}")
        if self.odd_sizes:
            odd = counted(len(self.odd_sizes), "file")
            self.remarks.append(f"{odd} not of the size that nmlgen volume says, such as {self.odd_sizes[0]}")
        planned = time.legs if time is not None else None
        promised = sum(len(promise.files) for promise in promises)
        return Verification(
            self.run,
            legs if legs is not None or not ended else planned,
            planned,
            promised,
            self.files,
            self.records,
            self.bytes,
            tuple(checkpoints),
            tuple(self.problems),
            tuple(self.remarks),
        )

    def ended(self, legs: int | None) -> int | None:
        """How many jobs have ended; None for all."""
        components = self.experiment.components
        return self._legs(self._clock(components), legs, components)[0]

    def _clock(self, components: Sequence[Component]) -> Clock:
        if not components:
            raise InputError(f"{self.build} holds no model")
        try:
            return clock(components[0])
        except UndecidedError as error:
            raise InputError(
                f"{self.build}: what it should have written is not known, because {error.setting.name} is not"
            ) from None

    # --- How far the run is ---

    def _legs(self, time: Clock, legs: int | None, components: Sequence[Component]) -> tuple[int | None, str]:
        """How many jobs have ended, None for all of them, and the word that the last one left."""
        words = _lines(self.run / _LEDGER)
        status = words[-1].rpartition(" ")[2] if words else self._status()
        if legs is None:
            legs = len(words) or None
            if not words and status == "RESTART":
                legs = self._legs_by_checkpoint(time, components)
            elif not words and not status:
                self.remarks.append("nothing says how far the run is; all of the experiment is looked for")
        if legs is not None and legs >= time.legs:
            return None, status or "OK"
        return legs, status or ("RESTART" if legs is not None else "")

    def _status(self) -> str:
        names: tuple[str, ...] = ()
        with suppress(UndecidedError):
            names = status_files(self.experiment)
        if not any((self.run / name).is_file() for name in names):
            names = ("finish.status",)  # of a release that writes one for all, or nobody knows which
        words = {line for name in names for line in _lines(self.run / name)[:1]}
        return words.pop().strip() if len(words) == 1 else ""

    def _legs_by_checkpoint(self, time: Clock, components: Sequence[Component]) -> int | None:
        for component in components:
            with suppress(UndecidedError):
                for link in checkpoint_links(component) if writes_checkpoints(component) else ():
                    when = self._time_in_name(link, time)
                    if when is not None and time.leg > 0:
                        return time.leg_at(when)
        return None

    def _time_in_name(self, link: str, time: Clock) -> int | None:
        """The time in a checkpoint's name, in milliseconds from the start of the experiment."""
        with suppress(OSError):
            match = re.search(r"\d{8}T\d{6}Z", (self.run / link).readlink().name)
            if match is not None:
                with suppress(ValueError):
                    return time.calendar.position(Instant.parse(match[0])) - time.calendar.position(time.start)
        return None

    # --- Whose results these are ---

    def _same_build(self) -> None:
        ours, theirs = (_mark(directory / _MASTER) for directory in (self.build, self.run))
        if ours and theirs and ours != theirs:
            self.problems.append(
                Problem("left over", _MASTER, f"the last run here was of build {theirs}, {self.build} holds {ours}")
            )

    def _beginning(self) -> float | None:
        """When the last job began: the script writes the master namelist then. None where nobody knows."""
        if not (self.run / _LEDGER).is_file() and not (self.run / "nmlgen.claims").is_dir():
            return None
        with suppress(OSError):
            return (self.run / _MASTER).stat().st_mtime
        return None

    # --- Output ---

    def _output(self, name: str, promised: list[PromisedFile], time: Clock, begun: float | None) -> None:
        path = self.run / name
        if self.progress is not None:
            self.progress(name)
        wanted = sorted(when for one in promised for when in one.times)
        try:
            found = read_file(path, time.calendar)
            written = path.stat().st_mtime
        except FileNotFoundError:
            dates = _dates(wanted, time)
            self._problem("missing", name, f"{counted(len(wanted), 'record')} should be in it: {dates}")
            return
        except BrokenFileError as error:
            self._problem("unreadable", name, str(error))
            return
        except OSError as error:
            self._problem("unreadable", name, (error.strerror or str(error)).lower())
            return
        self.files, self.bytes = self.files + 1, self.bytes + found.size
        self.records += found.records or 0
        if found.is_cut:
            self._problem("cut short", name, _cut(found))
            return
        if begun is not None and all(one.is_last for one in promised) and written < begun - _SLACK:
            self._problem("left over", name, "it is older than the job that should have written it")
            return
        if found.unread:
            self.unread[found.unread] += 1
        self._times(name, found, wanted, time)
        self._size(name, found, promised)
        if self.find_nan:
            self._nan(path, name)

    def _problem(self, what: str, name: str, message: str) -> None:
        self.problems.append(Problem(what, name, message))

    def _times(self, name: str, found: ResultFile, wanted: list[int], time: Clock) -> None:
        """Compare the records. Those from before another experiment's checkpoint, with which this one begins, are not
        missed."""
        if found.times is None:
            if found.records is not None and found.records != len(wanted):
                self._problem("records", name, f"{found.records} instead of {len(wanted)}")
            return
        there = Counter(_nearest(when, wanted, time.step) for when in found.times)
        missing = [when for when in wanted if not there[when]]
        doubled = [when for when in wanted if there[when] > 1]
        if START_DIRECTORY in self.experiment.chain and missing == wanted[: len(missing)] and found.times:
            missing = []
        parts = []
        if missing:
            parts.append(f"{len(missing)} of {len(wanted)} missing: {_dates(missing, time)}")
        if doubled:
            parts.append(f"{len(doubled)} more than once: {_dates(doubled, time)}")
        if foreign := [when for when in found.times if _nearest(when, wanted, time.step) is None]:
            parts.append(f"{len(foreign)} that should not be in it: {_dates(foreign, time)}")
        if parts:
            self._problem("records", name, "; ".join(parts))

    def _size(self, name: str, found: ResultFile, promised: list[PromisedFile]) -> None:
        sizes = [one.size for one in promised]
        if len(sizes) != 1 or sizes[0] is None or found.format == "NetCDF-4":
            return
        (size,) = sizes
        assert size is not None
        if not size.low * 0.98 - _HEADERS <= found.size <= size.high * 1.02 + _HEADERS:
            self.odd_sizes.append(f"{name}: {found.size} bytes, not {size.low} to {size.high}")

    def _nan(self, path: Path, name: str) -> None:
        try:
            variable = first_nan(path)
        except (BrokenFileError, OSError) as error:
            self._problem("unreadable", name, str(error))
            return
        if variable is None:
            self.unread["NaN was not looked for in it: packed, or pip install 'nmlgen[netcdf]'"] += 1
        elif variable:
            self._problem("not a number", name, f"{variable} holds NaN")

    def _left_over(self, promises: list[Promise]) -> None:
        """Files with names such as this experiment's, which none of its jobs writes."""
        names = {str(Path(name)) for promise in promises for name in promise.names}
        likes = _Likes(pattern for promise in promises for pattern in promise.patterns)
        directories = {str(Path(name).parent) for name in names}
        for directory in sorted(directories):
            for entry in _entries(self.run / directory):
                name = str(Path(directory) / entry)
                if likes.work > _MOST_LIKENED:
                    self.remarks.append("what is left over was not looked for among all files: they are too many")
                    return
                if name not in names and likes.has(name):
                    self._problem("left over", name, "no job of this experiment writes it")

    # --- Checkpoints ---

    def _checkpoint(self, component: Component, time: Clock, legs: int | None, word: str) -> Iterator[str]:
        """Read the last checkpoint of a component; its name if it is there."""
        links = checkpoint_links(component)
        due = time.end_of(legs) if legs is not None and word == "RESTART" else None
        seen: dict[str, str] = {}
        for link in links:
            path = self.run / link
            if not path.exists():
                if path.is_symlink():
                    self._problem("checkpoint", link, f"it leads to {path.readlink()}, which is not there")
                elif due is not None or seen:
                    self._problem("checkpoint", link, "it is not there, and the next job begins with it")
                elif not word:
                    self._problem("checkpoint", link, "it is not there, and nothing says that the run has ended")
                continue
            if self.progress is not None:
                self.progress(link)
            name = path.resolve().name
            try:
                when = self._multifile(component, path) if path.is_dir() else self._whole(link, path, time)
            except BrokenFileError as error:
                self._problem("checkpoint", name, str(error))
                continue
            except OSError as error:
                self._problem("checkpoint", name, (error.strerror or str(error)).lower())
                continue
            yield name
            if when is None:
                self.unread["its model time was not found"] += 1
                continue
            seen[link] = when
            self._time_of_checkpoint(link, name, when, time, due)
        if len(set(seen.values())) > 1:
            self._problem("checkpoint", links[0], f"the domains are of different times: {', '.join(seen.values())}")

    def _time_of_checkpoint(self, link: str, name: str, when: str, time: Clock, due: int | None) -> None:
        named = self._time_in_name(link, time)
        try:
            at = time.calendar.position(Instant.parse(when)) - time.calendar.position(time.start)
        except ValueError:
            self._problem("checkpoint", name, f'its time "{when}" is none')
            return
        if named is not None and abs(named - at) >= 1000:
            self._problem("checkpoint", name, f"it is of {when}, which its name denies")
        elif due is not None and abs(at - due) > time.step:
            shown = time.calendar.add(time.start, Duration(0, due))
            self.remarks.append(f"the last checkpoint is of {when}, the job was planned to end at {shown}")

    def _whole(self, name: str, path: Path, time: Clock) -> str | None:
        found = read_file(path, time.calendar)
        if found.is_cut:
            raise BrokenFileError(_cut(found))
        if self.find_nan:
            self._nan(path, name)
        return found.time

    def _multifile(self, component: Component, path: Path) -> str | None:
        """All parts of a checkpoint that is a directory."""
        calendar = clock(component).calendar
        attributes = read_file(path / "attributes.nc", calendar) if (path / "attributes.nc").exists() else None
        if attributes is None:
            raise BrokenFileError("attributes.nc is missing")
        parts: dict[int, set[int]] = {domain: set() for domain in range(1, domains(component) + 1)}
        for entry in _entries(path):
            match = _PART.fullmatch(entry)
            if match is not None:
                parts.setdefault(int(match[1]), set()).add(int(match[2]))
        each: int | None = None
        with suppress(UndecidedError):
            each = checkpoint_parts(component) // len(parts) if len(parts) == domains(component) else None
        for domain, numbers in parts.items():
            wanted = range(each if each is not None else max(numbers, default=0) + 1)
            missing = [f"patch{domain}_{number}.nc" for number in wanted if number not in numbers]
            if missing:
                raise BrokenFileError(f"{counted(len(missing), 'part')} missing: {', '.join(missing[:_MOST_SHOWN])}")
            for number in sorted(numbers):
                file = path / f"patch{domain}_{number}.nc"
                found = self._part(file)
                if found.is_cut:
                    raise BrokenFileError(f"{file.name} is cut short: {_cut(found)}")
                if self.find_nan:
                    self._nan(file, f"{path.resolve().name}/{file.name}")
        if attributes.is_cut:
            raise BrokenFileError(f"attributes.nc is cut short: {_cut(attributes)}")
        return attributes.time

    def _part(self, file: Path) -> ResultFile:
        try:
            return read_file(file, clock(self.experiment.components[0]).calendar)
        except BrokenFileError as error:
            raise BrokenFileError(f"{file.name}: {error}") from None


class _Likes:
    """Patterns of names, by the text that they begin with; `work` are the characters that were looked at."""

    def __init__(self, patterns: Iterable[tuple[str, re.Pattern[str]]]) -> None:
        self._patterns: dict[str, set[re.Pattern[str]]] = {}
        for beginning, pattern in patterns:
            self._patterns.setdefault(beginning, set()).add(pattern)
        self._lengths = sorted({len(beginning) for beginning in self._patterns})
        self.work = 0

    def has(self, name: str) -> bool:
        """Whether a name matches one of them."""
        for length in self._lengths:
            some = self._patterns.get(name[:length], ())
            self.work += length + len(some) * len(name)
            if any(pattern.fullmatch(name) for pattern in some):
                return True
        return False


def _by_name(files: Iterable[PromisedFile]) -> Iterator[tuple[str, list[PromisedFile]]]:
    """Two streams of one name write into one file."""
    found: dict[str, list[PromisedFile]] = {}
    for file in files:
        found.setdefault(file.name, []).append(file)
    yield from found.items()


def _nearest(when: int, wanted: list[int], step: int) -> int | None:
    """The date that a record is of: the nearest, less than a model step away."""
    at = bisect_left(wanted, when)
    near = [date for date in wanted[max(0, at - 1) : at + 1] if abs(date - when) < max(step, 1000)]
    return min(near, key=lambda date: abs(date - when), default=None)


def _dates(times: Sequence[int], time: Clock) -> str:
    start = time.calendar.position(time.start)
    shown = [str(time.calendar.add(time.start, Duration(0, when - start))) for when in times[:_MOST_SHOWN]]
    return ", ".join(shown) + (", ..." if len(times) > _MOST_SHOWN else "")


def _cut(found: ResultFile) -> str:
    return f"{found.size} bytes, by its header it has {found.needed}"


def _lines(path: Path) -> list[str]:
    try:
        with open_regular(path) as file:
            return [line for line in file.read(_MOST_NOTED).decode("utf-8", "replace").splitlines() if line.strip()]
    except OSError as error:
        require_missing(error, str(path))
        return []


def _entries(directory: Path) -> Iterator[str]:
    try:
        names = sorted(entry.name for entry in directory.iterdir())
    except OSError as error:
        require_missing(error, str(directory))
        return
    yield from names[:_MOST_LISTED]


def _mark(path: Path) -> str | None:
    try:
        with open_regular(path) as file:
            match = _MARK.search(file.read(4096))
    except OSError:
        return None
    return match[1].decode() if match is not None else None
