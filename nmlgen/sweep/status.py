"""How far each point of a sweep is: from what the points hold, what nmlgen remembers, and what its batch system says.

What a point's own records say of an end is final. The batch system is asked for the rest before the records are
read, so that a task that ends in between is found in one of them; what it has forgotten, the records decide alone.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from nmlgen.errors import InputError, NmlgenError, SchedulerError
from nmlgen.schedulers import arrays_of, schedulers
from nmlgen.schedulers.arrays import ENDED, JobId, Task, age, is_id
from nmlgen.sweep.arrays import SweepPoint, read_points, scheduler_of
from nmlgen.sweep.records import LOST, OK, RESTART, Run, build_of, ended_by_itself, last_run
from nmlgen.sweep.state import State, Submission
from nmlgen.values import field, frozen

PointState = Literal["waiting", "running", "done", "stale", "failed", "lost", "cancelled", "not submitted"]
STATES: tuple[PointState, ...] = ("done", "stale", "running", "waiting", "not submitted", "failed", "lost", "cancelled")

_NODE_IS_GONE = ("NODE_FAIL", "BOOT_FAIL")


@frozen
class PointStatus:
    """How far a point is.

    `leg` is the leg of the restart chain that runs, ran last or comes next, of `legs` as far as they were submitted;
    A point that is `stale` was done, and then written anew: its results are of another build.
    `job` the id of its job. `exit_code` is that of the run that failed; `reason` what the scheduler said of it, or
    of waiting.
    """

    id: str
    name: str
    directory: str
    state: PointState
    leg: int = 1
    legs: int = 1
    job: JobId | None = None
    node: str = ""
    exit_code: int | None = None
    reason: str = ""
    started: str = ""
    ended: str = ""


@frozen(eq=False)
class SweepStatus:
    """How far a sweep is: its points in the order of the table. `problem` says why the `scheduler` was not asked, or
    that its accounting did not answer; None if all is known."""

    points: tuple[PointStatus, ...]
    problem: str | None = None
    scheduler: str = "slurm"

    @property
    def counts(self) -> dict[PointState, int]:
        """How many points are in each state."""
        found = Counter(point.state for point in self.points)
        return {state: found[state] for state in STATES}


def status(directory: str | Path) -> SweepStatus:
    """How far each point of a sweep is.

    Works without the scheduler, from what the points hold: a run that has not ended then counts as running. Raises
    InputError if there is no sweep.
    """
    return survey(Path(directory)).status


@frozen(eq=False)
class Survey:
    """A sweep at one moment: its points, what was submitted, what the scheduler knows, the last run of each point by
    directory, and what follows from all."""

    points: tuple[SweepPoint, ...]
    submissions: tuple[Submission, ...]
    tasks: tuple[Task, ...] = field(repr=False)
    runs: Mapping[str, Run | None] = field(repr=False)
    status: SweepStatus


def survey(directory: Path, *, must_ask: bool = False) -> Survey:
    """Look at a sweep. With `must_ask`, raises SchedulerError if it cannot be asked."""
    points = read_points(directory)
    state = State(directory)
    submissions = state.submissions()
    submitted = {
        submission.array_name(leg): job
        for submission in submissions
        for leg, job in enumerate(submission.jobs, start=1)
    }
    tasks: tuple[Task, ...] = ()
    problem = None
    scheduler = scheduler_at(directory, points, submissions)
    arrays = arrays_of(scheduler)
    try:
        tasks = tuple(arrays.queue(submitted)) if submitted or must_ask else ()
    except SchedulerError as error:
        if must_ask:
            raise
        problem = str(error).splitlines()[0]
    runs = {point.directory: last_run(f"{directory}/{point.directory}") for point in points}
    unknown = {run.name for run in runs.values() if run is not None and run.outcome is None} - submitted.keys()
    known = {run.name: run.array for run in runs.values() if run is not None and is_id(run.array)}
    known |= {name: job for name, job in submitted.items() if job is not None}
    if unknown and problem is None:  # submitted after what was remembered was read, or before that was lost
        tasks += tuple(arrays.queue({name: known.get(name) for name in sorted(unknown)}))
        runs = {point.directory: last_run(f"{directory}/{point.directory}") for point in points}
    builds = {name: build_of(f"{directory}/{name}") for name, run in runs.items() if run is not None and run.build}
    ended = {
        name: (mark, build_of(f"{directory}/{name}") if mark else "")
        for name, run in runs.items()
        if run is None and (mark := ended_by_itself(f"{directory}/{name}")) is not None
    }
    judge = _Judge(submissions, tasks, state.fates(), problem is None, builds, ended, schedulers()[scheduler].title)
    found = tuple(judge.status(point, runs[point.directory]) for point in points)
    if judge.forgotten:
        try:
            judge.learn_accounted(arrays.accounting({name: known.get(name) for name in sorted(judge.forgotten)}))
        except SchedulerError as error:  # no answer is not an empty one: what nobody has seen end waits or runs
            if must_ask:
                raise
            problem = problem or str(error).splitlines()[0]
            judge.learn_nothing()
        found = tuple(
            judge.status(point, runs[point.directory]) if point.directory in judge.unsure else before
            for point, before in zip(points, found, strict=True)
        )
    if judge.news:
        with contextlib.suppress(NmlgenError):  # who may only read learns it, too, and the next one notes it
            state.note_fates(judge.news)
    return Survey(points, submissions, tasks, runs, SweepStatus(found, problem, scheduler))


def scheduler_at(directory: Path, points: Sequence[SweepPoint], submissions: Sequence[Submission]) -> str:
    """The batch system of a sweep: that to which its points were submitted, or else that for which they were built."""
    if submissions:
        return submissions[-1].scheduler
    try:
        return scheduler_of(directory, points[0]) if points else "slurm"
    except InputError:  # who looks at a sweep needs no scripts
        return "slurm"


class _Judge:
    """Judges points. `news` are ends of tasks that only it tells, `forgotten` arrays of whose tasks it does not tell
    what is asked, `unsure` the directories of the points for which that was asked."""

    def __init__(
        self,
        submissions: Iterable[Submission],
        tasks: Iterable[Task],
        fates: Mapping[tuple[str, int], str],
        asked: bool,
        builds: Mapping[str, str],
        ended: Mapping[str, tuple[str, str]],
        title: str,
    ) -> None:
        self._title = title
        self.news: dict[tuple[str, int], str] = {}
        self.forgotten: set[str] = set()
        self.unsure: set[str] = set()
        self._known: set[tuple[str, JobId]] = set()  # arrays, by name and id
        self._only_accounted: dict[tuple[str, int], Task] = {}  # active; of the array the queue lists nothing
        self._is_all = False
        self._asked = asked
        self._builds = builds
        self._ended_by_themselves = ended
        self._fates = fates
        self._tasks: dict[tuple[str, int], list[Task]] = {}
        self._of_point: dict[str, list[tuple[Submission, int]]] = {}
        for task in tasks:
            self._known.add((task.name, task.array))
            self._tasks.setdefault((task.name, task.index), []).append(task)
        legs: dict[str, tuple[Submission, int]] = {}
        for submission in submissions:
            legs |= {name: (submission, leg) for leg, name in enumerate(submission.array_names, start=1)}
            for index, directory in enumerate(submission.points):
                self._of_point.setdefault(directory, []).append((submission, submission.task_of(index)))

        self._active: dict[tuple[str, int], list[tuple[int, Task]]] = {}  # of a submission, with their legs
        for (name, index), some in self._tasks.items():
            if name in legs and index < legs[name][0].tasks:  # not each leg is looked up for each point: both are many
                of, leg = legs[name]
                found = self._active.setdefault((of.token, index), [])
                found += [(leg, task) for task in some if task.is_active]

    def learn_accounted(self, tasks: Iterable[Task]) -> None:
        """Take in what the accounting says of tasks that the queue does not list."""
        self._is_all = self._asked
        queued = {(task.name, task.array) for tasks in self._tasks.values() for task in tasks if task.is_active}
        known = {*self._tasks}
        for task in tasks:
            self._known.add((task.name, task.array))
            if (task.name, task.index) in known:
                continue
            if not task.is_active:
                self._tasks.setdefault((task.name, task.index), []).append(task)
            elif (task.name, task.array) not in queued:
                self._only_accounted[task.name, task.index] = task

    def learn_nothing(self) -> None:
        """Take in that it did not tell of what the queue does not list."""
        self._asked = False

    def status(self, point: SweepPoint, run: Run | None) -> PointStatus:
        """The status of one point, given its last run."""
        number = 0 if run is None else run.number
        planned = self._of_point.get(point.directory, [])
        about = _About(point, *_legs(run, planned))
        if run is not None and run.outcome is None:
            return self._unended(about, run)
        following = [
            (submission.array_name(leg), task, submission.jobs[leg - 1])
            for submission, task in planned
            if 1 <= (leg := number + 2 - submission.first) <= len(submission.jobs)
        ]
        for name, index, _ in following:  # others forget it before a later leg has found that there is nothing to do
            known = self._tasks.get((name, index), ())
            if known and known[-1].state in ("CANCELLED", ENDED):
                self.news.setdefault((name, index), known[-1].state)
        active = [
            task
            for submission, index in planned
            for leg, task in self._active.get((submission.token, index), ())
            if leg >= number + 2 - submission.first
        ]
        if active:
            first = min(active, key=lambda task: (task.is_waiting, age(task.array)))
            return about.of("waiting" if first.is_waiting else "running", first)
        if run is not None and run.outcome != RESTART:
            return self._ended(about, run)
        if point.directory in self._ended_by_themselves:
            mark, own = self._ended_by_themselves[point.directory]
            if own in ("", mark):
                return about.of("done", word="not by nmlgen submit")
            return about.of("stale", word=_of_another_build(mark, own))
        if not following:
            return about.of("not submitted")
        name, index, job = following[-1]
        if job is not None and not self._asked and (name, index) not in self._fates:
            return about.of("waiting")
        task = self._only_accounted.get((name, index))
        if task is not None and (name, index) not in self._fates:  # the queue hides it, or the accounting lags behind
            return about.of("waiting" if task.is_waiting else "running", task)
        if self._is_taken_away(name, index, job):
            self.news[name, index] = "CANCELLED"
            return about.of("cancelled")
        return self._by_word(about, name, index, self._tasks.get((name, index), [None])[-1])

    def _is_taken_away(self, name: str, index: int, job: JobId | None) -> bool:
        """Whether somebody took a task out of an array before it started: the array is known and does not list the
        task, neither in the queue nor in the accounting."""
        is_unknown = (name, index) not in self._tasks and (name, index) not in self._fates
        return self._is_all and is_unknown and job is not None and (name, job) in self._known

    def _unended(self, about: _About, run: Run) -> PointStatus:
        """A run that has not said how it ended."""
        known = [task for task in self._tasks.get((run.name, run.task), ()) if task.array == run.array]
        task = known[0] if known else None
        if task is None and not self._asked and (run.name, run.task) not in self._fates:
            return about.of("running", run=run)
        if task is not None and task.is_active:
            return about.of("waiting" if task.is_waiting else "running", task, run)
        return self._by_word(about, run.name, run.task, task, run)

    def _ended(self, about: _About, run: Run) -> PointStatus:
        known = [task for task in self._tasks.get((run.name, run.task), ()) if task.array == run.array]
        if run.outcome == OK:
            own = self._builds.get(about.point.directory, "")
            if own in ("", run.build):
                again = f"{self._title} starts its job again, which finds nothing to do"
                return about.of("done", run=run, word=again if known and known[0].is_waiting else None)
            return about.of("stale", run=run, word=_of_another_build(run.build, own))
        if run.outcome == LOST:
            return about.of("lost", run=run)
        if known and known[0].is_active:  # it was started again, or is to
            return about.of("waiting" if known[0].is_waiting else "running", known[0], run)
        word = self._fates.get((run.name, run.task))
        if word is None and known:  # such as TIMEOUT, which the script cannot tell
            word = self.news[run.name, run.task] = known[0].state
        elif word is None and is_id(run.job):
            self._forget(run.name, about)
        said = None if word in ("FAILED", "COMPLETED", ENDED) else word
        return about.of("cancelled" if word == "CANCELLED" else "failed", run=run, word=said)

    def _by_word(self, about: _About, name: str, index: int, task: Task | None, run: Run | None = None) -> PointStatus:
        """A task that is not active and has not said how it ended, or not started: the word, now or formerly."""
        word = self._fates.get((name, index))
        if word is None and task is not None:
            word = self.news[name, index] = task.state
        elif word is None:
            self._forget(name, about)
        if word == "CANCELLED" or (word == ENDED and run is None):  # whatever starts says so first
            return about.of("cancelled", task, run)
        if word in _NODE_IS_GONE or (run is not None and word in (None, "COMPLETED", ENDED)):
            return about.of("lost", task, run, None if word == ENDED else word)
        if word in (None, "COMPLETED"):
            return about.of("not submitted")
        return about.of("failed", task, run, word)

    def _forget(self, name: str, about: _About) -> None:
        self.forgotten.add(name)
        self.unsure.add(about.point.directory)


def _of_another_build(mark: str, own: str) -> str:
    return f"its results are of build {mark}, it is now {own}"


def _legs(run: Run | None, planned: Iterable[tuple[Submission, int]]) -> tuple[int, int]:
    """The leg of the chain that runs, ran last or comes next, and of how many as far as they were submitted."""
    leg = 1 if run is None else run.leg + (run.outcome == RESTART)
    if run is not None and run.outcome == OK and any(run.number < submission.first for submission, _ in planned):
        leg += 1  # it goes on beyond its end
    legs = leg
    for submission, _ in planned:  # the latest counts
        is_under_way = run is not None and run.number >= submission.first
        first = run.leg - (run.number - submission.first) if run is not None and is_under_way else leg
        legs = first + len(submission.jobs) - 1
    return leg, max(leg, legs)


@frozen
class _About:
    """A point whose status is being made."""

    point: SweepPoint
    leg: int
    legs: int

    def of(
        self, state: PointState, task: Task | None = None, run: Run | None = None, word: str | None = None
    ) -> PointStatus:
        """Its status."""
        reason = task.reason if task is not None else ""
        return PointStatus(
            id=self.point.id,
            name=self.point.name,
            directory=self.point.directory,
            state=state,
            leg=self.leg,
            legs=self.legs,
            job=task.job if task is not None else run.job if run is not None else None,
            node=task.nodes if task is not None and task.nodes else run.node if run is not None else "",
            exit_code=run.exit_code if run is not None and run.outcome != LOST else None,
            reason=" ".join(filter(None, (word, reason if reason != word else ""))),
            started=run.started if run is not None else "",
            ended=run.ended or "" if run is not None else "",
        )
