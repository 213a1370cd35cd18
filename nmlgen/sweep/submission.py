"""Submitting the points of a sweep to a batch system, as job arrays; cancelling them; submitting again what failed.

Every submission is first noted with a token (see `nmlgen.sweep.state`), then an array is submitted for each leg with
the token in its name, then its id is noted. Whoever comes after a submission that was interrupted waits for the program
that may still be at work, and asks the batch system and the points for the token.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path

from nmlgen.errors import InputError, SchedulerError, WriteError
from nmlgen.render.write import built_files
from nmlgen.schedulers import arrays_of, schedulers
from nmlgen.schedulers.arrays import JobId, LimitError, Limits, Mail, Order, RefusedError, Task, age
from nmlgen.schedulers.programs import user_name
from nmlgen.sweep.arrays import (
    PointScript,
    array_script,
    group,
    packs,
    read_points,
    read_script,
    scheduler_of,
    slots_script,
)
from nmlgen.sweep.records import OK, declare_lost, ended_by_itself, refusal_to_go_on, set_aside
from nmlgen.sweep.state import State, Submission, locked
from nmlgen.sweep.status import PointStatus, Survey, survey
from nmlgen.values import evolve, field, frozen
from nmlgen.writing import write_whole

SUBMISSIONS = "submissions"
_SCRIPT = "array.sbatch"
_MOST_ARRAYS = 100_000
_SLOTS, _THROTTLE = "slots.sh", "throttle"
STALE = "stale"
"""The directory beside the points for the results of points that were written anew and run again."""
_ADDRESS = re.compile(r"[\w.+%-]+(@[\w.-]+)?", re.ASCII)
_AGAIN = ("failed", "lost", "cancelled")
_UNDER_WAY = ("waiting", "running")

Progress = Callable[[int], None]
"""Called with the number of points that were just submitted."""


@frozen
class _How:
    """How points are submitted: how many of them run at a time, who gets mail, what the script of the first leg is
    told, whether those that are done go on beyond their end, and how many run side by side in one job."""

    throttle: int | None = None
    mail: str | None = None
    arguments: tuple[str, ...] = ()
    goes_on: bool = False
    pack: int = 1


@frozen
class SubmittedArray:
    """A job array: its id (None in a dry run), the names of its points, which leg of how many it is, the throttle, what
    the scheduler said, None if none was asked, and how many points share a job."""

    job: JobId | None
    points: tuple[str, ...] = field(repr=False)
    leg: int = 1
    legs: int = 1
    throttle: int | None = None
    answer: str | None = None
    pack: int = 1


@frozen(eq=False)
class Submitted:
    """What a submission did: the arrays; how far each point was before (`before`); and the names of the points that
    the `scheduler` takes no more of for now (`left`), with what it said (`refusal`)."""

    arrays: tuple[SubmittedArray, ...]
    before: tuple[PointStatus, ...] = field(repr=False)
    left: tuple[str, ...] = ()
    refusal: str | None = None
    scheduler: str = "slurm"

    @property
    def points(self) -> tuple[str, ...]:
        """The names of the points that were submitted."""
        return tuple(dict.fromkeys(name for array in self.arrays for name in array.points))


def submit(
    directory: str | Path,
    *,
    throttle: int | None = None,
    pack: int = 1,
    mail: str | None = None,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> Submitted:
    """Submit the points of a sweep that are neither done nor under way and have not failed.

    At most `throttle` of them run at a time. Once more, it submits what is missing; after an interruption, at whatever
    moment, too. With `pack`, each job runs so many points side by side, each on nodes of its own. Mail goes to the
    address `mail` when an array is over or a task of it has failed. With `dry_run`
    nothing is submitted: Slurm is asked what it would do, if it is that.

    Raises InputError for a sweep or a script that cannot be used, SchedulerError if the scheduler cannot be asked or
    refuses for good, WriteError if what is remembered cannot be written.
    """
    how = _How(throttle, mail, pack=pack)
    return _at(Path(directory), dry_run, how, progress, lambda found: _missing(found.status.points))


def resubmit(
    directory: str | Path,
    points: Iterable[str] = (),
    *,
    stale: bool = False,
    go_on: bool = False,
    restart: bool = False,
    throttle: int | None = None,
    pack: int = 1,
    mail: str | None = None,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> Submitted:
    """Submit again points that failed, were lost or cancelled: those named, by name or identifier, or else all.

    With `stale`, those whose results are of another build. Their results move to DIRECTORY/stale/NAME-BUILD, and they
    begin anew, as do those of a call that was killed in between; otherwise a restart chain goes on with the leg that
    failed. With `go_on`, points that were done go on where they ended: they were written anew with a later end date,
    and nothing else of them is another. With `restart`, the point's script is asked to begin with the last checkpoint.
    Raises what `submit` raises, and InputError for a name that no such point has, and for a point that cannot go on.
    """
    named = tuple(points)
    how = _How(throttle, mail, ("restart",) if restart else (), go_on, pack)
    if go_on:
        return _at(Path(directory), dry_run, how, progress, lambda found: _longer(Path(directory), found, named))
    emptied = _emptied(Path(directory)) if stale else frozenset[str]()
    return _at(Path(directory), dry_run, how, progress, lambda found: _again(found, named, stale, emptied))


def cancel(directory: str | Path, points: Iterable[str] = ()) -> tuple[str, ...]:
    """Cancel the points that wait or run, all or those named; returns their names.

    Raises InputError for a name that no point has, SchedulerError if the scheduler cannot be asked or refuses.
    """
    sweep, named = Path(directory), tuple(points)
    read_points(sweep)  # without a sweep nothing is to be written
    State(sweep).create()
    with locked(sweep):
        found = survey(sweep, must_ask=True)
        chosen = {point.directory: point.name for point in _chosen(found, named)}
        where: dict[tuple[str, int], set[str]] = {}
        for directory_of, run in found.runs.items():
            if run is not None:
                where.setdefault((run.name, run.task), set()).add(directory_of)
        for submission in found.submissions:
            for array in submission.array_names:
                for index, directory_of in enumerate(submission.points):
                    where.setdefault((array, submission.task_of(index)), set()).add(directory_of)
        under_way = {point.directory: point for point in found.status.points if point.state in _UNDER_WAY}
        tasks: dict[tuple[str, int], Task] = {}
        cancelled: set[str] = set()
        for task in found.tasks:
            points_of = where.get((task.name, task.index), set())
            if not task.is_active or chosen.keys().isdisjoint(points_of):
                continue
            key = (task.name, task.index)
            for other in sorted(one for one in points_of if one in under_way and one not in chosen):
                message = f'the point "{under_way[other].name}" runs in the same job ({task.array}_{task.index})'
                raise InputError(f"{message}; name it, too, or cancel none of them")
            if key not in tasks:
                cancelled |= points_of
            tasks[key] = task
        arrays = arrays_of(found.status.scheduler)
        arrays.cancel(tasks.values())
        State(sweep).note_fates(dict.fromkeys(tasks, "CANCELLED"))
        if tasks and (sweep / SUBMISSIONS / _SLOTS).exists():
            arrays.share_slots(sweep / SUBMISSIONS / _SLOTS)
        return tuple(name for point, name in chosen.items() if point in cancelled)


def _missing(points: Sequence[PointStatus]) -> list[PointStatus]:
    return [point for point in points if point.state == "not submitted"]


def _emptied(sweep: Path) -> frozenset[str]:
    """The names of points whose results were moved to STALE: a call that was killed then has not submitted them."""
    try:
        return frozenset(name.rpartition("-")[0] for name in os.listdir(sweep / STALE))
    except OSError:
        return frozenset()


def _again(found: Survey, named: tuple[str, ...], stale: bool, emptied: Collection[str]) -> list[PointStatus]:
    chosen = _chosen(found, named)
    states = (*_AGAIN, "stale") if named else ("stale",) if stale else _AGAIN
    for point in chosen:
        if named and point.state not in states:
            raise InputError(f'the point "{point.name}" is {point.state}; expected: {", ".join(states)}')
    return [
        point
        for point in chosen
        if point.state in states or (point.state == "not submitted" and Path(point.directory).name in emptied)
    ]


def _longer(sweep: Path, found: Survey, named: tuple[str, ...]) -> list[PointStatus]:
    """The points that are to go on beyond their end; raises InputError if one cannot."""
    chosen = [point for point in _chosen(found, named) if named or point.state == "stale"]
    for point in chosen:
        refusal = refusal_to_go_on(sweep / point.directory) if point.state == "stale" else f"it is {point.state}"
        if refusal is not None:
            note = "--stale begins anew" if point.state == "stale" else "expected: stale"
            raise InputError(f'the point "{point.name}" cannot go on beyond its end: {refusal}; {note}')
    return chosen


def _chosen(found: Survey, named: tuple[str, ...]) -> list[PointStatus]:
    if not named:
        return list(found.status.points)
    by_name = {point.id: point for point in found.status.points} | {p.name: p for p in found.status.points}
    for name in named:
        if name not in by_name:
            raise InputError(f'the sweep has no point "{name}"; points.csv lists them')
    return list(dict.fromkeys(by_name[name] for name in named))


def _at(
    sweep: Path,
    dry_run: bool,
    how: _How,
    progress: Progress | None,
    choose: Callable[[Survey], list[PointStatus]],
) -> Submitted:
    if how.throttle is not None and how.throttle < 1:
        raise InputError(f"the throttle is {how.throttle}; expected: 1 or more")
    if how.pack < 1 or how.pack > (how.throttle or how.pack):
        raise InputError(f"{how.pack} points cannot share a job; expected: 1 or more, and not more than the throttle")
    if how.mail is not None and not _ADDRESS.fullmatch(how.mail):
        raise InputError(f"{how.mail!r} is no address for mail; expected: NAME or NAME@HOST")
    if dry_run:
        return _Trial(sweep, how).run(choose)
    points = read_points(sweep)  # without a sweep nothing is to be written
    scheduler = scheduler_of(sweep, points[0]) if points else "slurm"
    arrays = arrays_of(scheduler)
    for submission in State(sweep).submissions():
        if submission.scheduler != scheduler:
            known = schedulers()
            titles = [known[name].title if name in known else name for name in (submission.scheduler, scheduler)]
            message = f"{sweep} was submitted to {titles[0]}; for {titles[1]} write the sweep into another directory"
            raise InputError(message)
    arrays.check_place(sweep)
    limits = arrays.limits()
    State(sweep).create()
    with locked(sweep) as lock:
        return _Submitter(sweep, lock, scheduler, limits, how, progress).run(choose)


def _groups(
    sweep: Path, scheduler: str, found: Survey, chosen: Iterable[PointStatus], size: int, goes_on: bool
) -> list[tuple[int, int, list[PointScript]]]:
    """The points in groups that fit one array: the number of the next run, the legs that are left, the scripts. What is
    done begins anew, or goes on beyond its end."""
    by_directory = {point.directory: point for point in found.points}
    given = []
    for point in chosen:
        script = read_script(sweep, by_directory[point.directory], scheduler)
        run = found.runs[point.directory]
        number, behind = (0, 0) if run is None else (run.number, point.leg - 1)
        if run is not None and run.outcome == OK:
            number, behind = (run.number, run.leg) if goes_on else (0, 0)
        given.append((script, number + 1, max(1, script.legs - behind)))
    groups = [
        (first, legs, members[at : at + size])
        for first, legs, members in group(given)
        for at in range(0, len(members), size)
    ]
    count = sum(legs for _, legs, _ in groups)
    if count > _MOST_ARRAYS:
        longest = max(groups, key=lambda group: group[1])[2][0]
        what = f"these points take {count} job arrays, one for each job of a chain of {longest.legs}"
        raise InputError(f"{longest.path}: {what}; expected: at most {_MOST_ARRAYS}")
    return groups


class _Trial:
    """A submission that is not one: shows what would be submitted, and what the scheduler says of it."""

    def __init__(self, sweep: Path, how: _How) -> None:
        self._sweep, self._how = sweep, how
        self._scheduler = "slurm"

    def run(self, choose: Callable[[Survey], list[PointStatus]]) -> Submitted:
        """Where a limit on jobs would leave some for later, what would be submitted now is what fits."""
        found = survey(self._sweep)
        self._scheduler = found.status.scheduler
        chosen = choose(found)
        try:
            size = arrays_of(self._scheduler).limits().array_size
        except SchedulerError:
            groups = _groups(self._sweep, self._scheduler, found, chosen, len(found.points) or 1, self._how.goes_on)
            split = ((legs, part) for _, legs, members in groups for part in packs(members, self._how.pack))
            unasked = (array for legs, (pack, part) in split for array in self._arrays(part, legs, None, pack))
            return Submitted(tuple(unasked), found.status.points, scheduler=self._scheduler)
        arrays: list[SubmittedArray] = []
        left: list[str] = []
        before = 0  # jobs of the groups before; the scheduler is asked about all at once, for it knows of none of them
        refusal = None
        groups = _groups(self._sweep, self._scheduler, found, chosen, size, self._how.goes_on)
        parts = [(first, legs, *part) for first, legs, members in groups for part in packs(members, self._how.pack)]
        for first, legs, pack, members in parts:
            fits, answer = 0, ""
            tasks = len(members) // pack
            high = tasks + 1 if refusal is None else 1
            while fits + 1 < high:
                try:
                    answer, fits = self._answer(first, members, min(size, before + tasks), pack), tasks
                except LimitError as error:
                    refusal, high = str(error), tasks
                tasks = (fits + high) // 2
            arrays += self._arrays(members[: fits * pack], legs, answer, pack)
            left += [member.point.name for member in members[fits * pack :]]
            before += fits * legs
        return Submitted(tuple(arrays), found.status.points, tuple(left), refusal, self._scheduler)

    def _arrays(
        self, members: Sequence[PointScript], legs: int, answer: str | None, pack: int
    ) -> Iterator[SubmittedArray]:
        names = tuple(member.point.name for member in members)
        for leg in range(1, legs + 1 if names else 1):
            yield SubmittedArray(None, names, leg, legs, self._how.throttle, answer if leg == 1 else None, pack)

    def _answer(self, first: int, members: Sequence[PointScript], tasks: int, pack: int) -> str:
        text = array_script("dry-run", first, _directives(members[0], pack), scheduler=self._scheduler)
        try:
            return arrays_of(self._scheduler).trial(text, tasks, _at_once(self._how.throttle, pack))
        except LimitError:
            raise
        except SchedulerError as error:
            raise _explained(error, members[0], self._scheduler) from None


class _Submitter:
    """Submits under the lock."""

    def __init__(
        self,
        sweep: Path,
        lock: int,
        scheduler: str,
        limits: Limits,
        how: _How,
        progress: Progress | None,
    ) -> None:
        self._sweep, self._lock, self._limits = sweep, lock, limits
        self._scheduler, self._batch = scheduler, arrays_of(scheduler)
        self._how, self._progress = how, progress
        self._state = State(sweep)
        self._arrays: list[SubmittedArray] = []
        self._active: list[JobId] = []
        self._left: list[str] = []
        self._refusal: str | None = None
        self._names: dict[str, str] = {}

    def run(self, choose: Callable[[Survey], list[PointStatus]]) -> Submitted:
        """Take up what was interrupted, then submit what is chosen."""
        found = self._look()
        if self._recover(found):
            found = self._look()
        chosen = choose(found)
        self._see_all(found, chosen)
        if not self._how.goes_on and self._set_aside(found, chosen):
            again = {point.directory for point in chosen}
            found = self._look()
            chosen = [point for point in found.status.points if point.directory in again]
        size = self._limits.array_size
        groups = _groups(self._sweep, self._scheduler, found, chosen, size, self._how.goes_on)
        self._bury(found, chosen)
        for first, legs, members in groups:
            self._submit_group(first, legs, members)
        if self._active and (self._sweep / SUBMISSIONS / _SLOTS).exists():
            self._batch.share_slots(self._sweep / SUBMISSIONS / _SLOTS)
        arrays, left = tuple(self._arrays), tuple(self._left)
        return Submitted(arrays, found.status.points, left, self._refusal, self._scheduler)

    def _look(self) -> Survey:
        found = survey(self._sweep, must_ask=True)
        self._active = sorted({task.array for task in found.tasks if task.is_active}, key=age)
        self._names = {point.directory: point.name for point in found.points}
        return found

    def _see_all(self, found: Survey, chosen: Iterable[PointStatus]) -> None:
        """Somebody else's jobs that the scheduler does not show must not be taken for none."""
        if not self._limits.is_private:
            return
        users = {point: submission.user for submission in found.submissions for point in submission.points}
        own = user_name()
        for point in chosen:
            if (user := users.get(point.directory, own)) != own:
                title = schedulers()[self._scheduler].title
                hidden = "PrivateData" if self._scheduler == "slurm" else "query_other_jobs"
                message = f"{user} submitted {point.name}, and this {title} shows nobody else's jobs ({hidden})"
                raise SchedulerError(f"{message}; let {user} submit")

    # --- What was interrupted -----------------------------------------------------------------------------------

    def _recover(self, found: Survey) -> bool:
        """Find out what became of submissions whose arrays' ids were not noted; whether there was any."""
        arrays = {task.name: task.array for task in sorted(found.tasks, key=lambda task: -age(task.array))}
        active = {task.name for task in found.tasks if task.is_active}
        seen = {run.name: run.array for run in found.runs.values() if run is not None}
        unsure = [submission for submission in found.submissions if None in submission.jobs]
        unknown: list[Submission] = []
        for submission in unsure:
            jobs = list(submission.jobs)
            for leg, job in enumerate(jobs, start=1):
                name = submission.array_name(leg)
                known = arrays.get(name, seen.get(name))
                if job is None and known is not None:
                    jobs[leg - 1] = known
                    self._state.note_array(submission.token, leg, known)
            if not any(jobs):
                unknown.append(submission)
            elif None in jobs:
                leg = jobs.index(None) + 1
                if submission.array_name(leg - 1) in active:
                    self._submit_legs(evolve(submission, jobs=tuple(jobs)), leg, None)
                else:
                    self._state.drop(submission.token, leg)
        self._withdraw(*unknown)
        return bool(unsure)

    def _withdraw(self, *submissions: Submission) -> None:
        """Forget submissions that nobody knows. Should the scheduler know one yet, its tasks find nothing to run."""
        for submission in submissions:
            shutil.rmtree(self._sweep / SUBMISSIONS / submission.token, ignore_errors=True)
        self._state.forget([submission.token for submission in submissions])

    def _set_aside(self, found: Survey, chosen: Iterable[PointStatus]) -> bool:
        """Move the results of points that are stale out of their directories; whether there were any."""
        stale = [point for point in chosen if point.state == "stale"]
        for point in stale:
            run, place = found.runs[point.directory], self._sweep / point.directory
            mark = run.build if run is not None else ended_by_itself(place)
            set_aside(place, mark or "", built_files(place), self._sweep / STALE)
        return bool(stale)

    def _bury(self, found: Survey, chosen: Iterable[PointStatus]) -> None:
        """Before a point runs again, its last run must have ended, and be it that nmlgen says so."""
        for point in chosen:
            run = found.runs[point.directory]
            if run is not None and run.outcome is None:
                declare_lost(self._sweep / point.directory, run)

    # --- Submitting ---------------------------------------------------------------------------------------------

    def _submit_group(self, first: int, legs: int, members: list[PointScript]) -> None:
        """Submit points as one array a leg; in halves, where no array of that size is taken."""
        queue = packs(members, self._how.pack)
        while queue:
            pack, some = queue.pop(0)
            submission = self._intended(first, legs, some, pack)
            try:
                self._submit_legs(submission, 1, some[0])
            except LimitError as error:
                self._refusal = str(error)
                if len(some) == pack:
                    self._left += [member.point.name for _, part in ((pack, some), *queue) for member in part]
                    return
                half = len(some) // pack // 2 * pack
                queue[:0] = [(pack, some[:half]), (pack, some[half:])]
            except RefusedError as error:
                raise _explained(error, some[0], self._scheduler) from None

    def _intended(self, first: int, legs: int, members: Sequence[PointScript], pack: int) -> Submission:
        """Note what is about to be submitted, and write what its tasks read."""
        directives = _directives(members[0], pack)
        submission = Submission(
            token=os.urandom(4).hex(),
            name=re.sub(r"[^A-Za-z0-9_-]", "_", self._sweep.resolve().name)[:200] or "sweep",
            first=first,
            user=user_name(),
            throttle=self._how.throttle,
            jobs=(None,) * legs,
            points=tuple(member.point.directory for member in members),
            pack=pack,
            scheduler=self._scheduler,
        )
        self._state.intend(submission)
        home = self._sweep / SUBMISSIONS / submission.token
        try:
            links = home / "points"
            links.mkdir(parents=True)
            for task, point in enumerate(submission.points):
                (links / str(task)).symlink_to(f"../../../{point}")
            text = array_script(
                submission.token,
                first,
                directives,
                submission.throttle,
                pack=pack,
                legs=legs,
                size=members[0].job.size,
                scheduler=self._scheduler,
                is_restarted=members[0].job.is_restarted,
                arguments=self._how.arguments,
            )
            write_whole(home / _SCRIPT, text.encode(), is_ours=True)
            if submission.throttle is not None and self._batch.shares_slots:
                write_whole(home.parent / _SLOTS, slots_script().encode(), is_ours=True)
                jobs = submission.throttle // pack  # not points
                write_whole(home / _THROTTLE, f"{jobs}\n".encode(), is_ours=True)
        except OSError as error:
            raise WriteError(f"{error.filename or home}: {(error.strerror or str(error)).lower()}") from error
        return submission

    def _submit_legs(self, submission: Submission, first_leg: int, script: PointScript | None) -> None:
        """Submit the legs of a submission from one on. A limit that strikes a later one leaves it to the next time."""
        legs = len(submission.jobs)
        jobs = list(submission.jobs)
        for leg in range(first_leg, legs + 1):
            try:
                job, said = self._order(submission, leg, jobs[leg - 2] if leg > 1 else None, script)
            except RefusedError as error:
                if leg == 1:
                    self._withdraw(submission)
                    raise
                if isinstance(error, LimitError):
                    self._refusal = str(error)
                    return
                self._state.drop(submission.token, leg)
                raise
            self._state.note_array(submission.token, leg, job)
            jobs[leg - 1] = job
            self._active.append(job)
            names = tuple(self._names.get(point, point) for point in submission.points)
            self._arrays.append(SubmittedArray(job, names, leg, legs, submission.throttle, said, submission.pack))
        if self._progress is not None:
            self._progress(len(submission.points))

    def _order(
        self, submission: Submission, leg: int, follows: JobId | None, script: PointScript | None
    ) -> tuple[JobId, str]:
        home = (self._sweep / SUBMISSIONS / submission.token).absolute()
        order = Order(
            home / _SCRIPT,
            submission.array_name(leg),
            submission.tasks,
            leg,
            at_once=_at_once(submission.throttle, submission.pack),
            pack=submission.pack,
            arguments=self._how.arguments if leg == 1 else (),
            after=tuple(self._active) if submission.throttle else (),
            follows=follows,
            dependency=script.job.dependency if leg == 1 and script is not None else None,
            mail=self._mail(leg == len(submission.jobs)),
        )
        return self._batch.submit(order, self._lock)

    def _mail(self, is_last: bool) -> Mail | None:
        """Whom to tell that an array has failed, or that the last one of its points is over."""
        return None if self._how.mail is None else Mail(self._how.mail, is_last)


def _at_once(throttle: int | None, pack: int) -> int | None:
    """How many jobs run at a time."""
    return None if throttle is None else throttle // pack


def _directives(script: PointScript, pack: int) -> tuple[str, ...]:
    return script.job.directives if pack == 1 else script.job.packed(pack)


def _explained(error: SchedulerError, script: PointScript, scheduler: str) -> SchedulerError:
    """A refusal with the script that it concerns, and the directive if that can be told."""
    place = script.job.blamed(str(error)) or str(script.path)
    return SchedulerError(f"{schedulers()[scheduler].title} refuses the point {script.point.name}: {error}\n  {place}")
