"""Job arrays of PBS: qsub, qstat, qselect and qdel, what they are asked and what they answer.

All answers were observed with OpenPBS 23.06. Jobs that have ended are known where the server keeps a history
(`job_history_enable`); without one PBS knows of the tasks of an array that have ended that they have, as long as
others have not, and of an array that has ended nothing. An answer that leaves open what was asked is an error.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from nmlgen.errors import SchedulerError
from nmlgen.schedulers.arrays import ENDED, JobId, LimitError, Limits, Order, RefusedError, Task
from nmlgen.schedulers.pbs.programs import pbs, server
from nmlgen.schedulers.pbs.script import read_script
from nmlgen.schedulers.programs import complaint
from nmlgen.values import field, frozen

__all__ = [
    "accounting",
    "cancel",
    "check_place",
    "in_job",
    "limits",
    "queue",
    "read_script",
    "share_slots",
    "shares_slots",
    "submit",
    "takes_arguments",
    "trial",
]

in_job: Mapping[str, str] = {
    "usage": "qsub [-J TASKS] -N NAME.TOKEN.LEG array.sbatch, in its directory",
    "begin": 'cd "$PBS_O_WORKDIR" || exit 66 # PBS begins in the home directory\n'
    "runs=$(qstat -f \"$PBS_JOBID\" 2>/dev/null | sed -n 's/^ *run_count = \\([0-9]*\\)$/\\1/p')",
    "log": "pbs-${PBS_JOBID%%[.[]*}.log",
    "task": "${PBS_ARRAY_INDEX:-0}",
    "array": "${PBS_ARRAY_ID:-$PBS_JOBID}",
    "job": "$PBS_JOBID",
    "name": "$PBS_JOBNAME",
    "node": "$HOSTNAME",
    "restarts": "$((${runs:-1} - 1))",
    "leg": "${PBS_JOBNAME##*.}",
    "key": "${PBS_JOBID%%[.[]*}",
}
shares_slots = False
takes_arguments = False

_WAITING = frozenset("HMQTW")  # held, moved, queued, in transit, waiting for its time
_RUNNING = {"B": "RUNNING", "E": "COMPLETING", "R": "RUNNING", "S": "SUSPENDED", "U": "SUSPENDED"}
_ENDED = frozenset("FX")  # finished, and of a task beside others that are not
_TERMINATED = "91"  # the substate of what qdel ended
_TIMEOUT = "-29"  # the exit status of what ran longer than its walltime
_LIMIT = re.compile(
    r"would exceed|Maximum number of jobs|Array job exceeds|Resource temporarily unavailable", re.IGNORECASE
)
_NO_HISTORY = "not configured to maintain job history"
_UNKNOWN = re.compile(r"Unknown Job Id:? (\S+)", re.IGNORECASE)
_OVER = re.compile(r"Unknown Job Id|Job has finished|finished array subjob", re.IGNORECASE)
_IDENTIFIER = re.compile(r"^[ \t]*([0-9]{1,18}(?:\[\])?(?:\.[A-Za-z0-9.-]+)?)[ \t\r]*$", re.MULTILINE)
_JOB = re.compile(r"([0-9]{1,18})(?:\[([0-9]{0,9})\])?(\..*)?")
_INDICES = re.compile(r"0-([0-9]{1,9})")
_ATTRIBUTE = re.compile(r" {4}([A-Za-z_]+(?:\.\w+)?) = (.*)")
_SAYS_NOTHING = re.compile(r"Job Array Began|Job run at|Subjob finished")
_ARRAY_SIZE = 10_000  # PBS's own, where it does not say one
_IDS_AT_ONCE = 100
_TASKS_AT_ONCE = 500


def check_place(sweep: Path) -> None:
    """Nothing: whatever the directory is called, the script of an array opens its log there itself."""


def limits() -> Limits:
    """The limits of the server. A queue may have a smaller one for the tasks of an array; qsub then says so."""
    said = server()
    size = said.get("max_array_size", "")
    return Limits(
        int(size) if re.fullmatch(r"[0-9]{1,9}", size) else _ARRAY_SIZE, said.get("query_other_jobs") == "False"
    )


def submit(order: Order, lock: int) -> tuple[str, str]:
    """Submit an array that works in the script's directory; returns its id, and what qsub said beside it.

    An array of one task is a job. A leg begins when all tasks of the one before have ended: tasks of PBS wait for
    arrays, not for tasks. qsub leaves no process behind (`-f`), which would hold the lock.
    """
    done = pbs.submitting(["qsub", "-f", *_options(order), order.script.name], order.script.parent, lock)
    said = complaint(done.error)
    if done.code:
        said = said or f"qsub: exit code {done.code}"
        if known := _known_after(said, order.name):  # the connection was lost when the array was accepted already
            return known, said
        raise (LimitError if _LIMIT.search(said) else RefusedError)(said)
    found = _IDENTIFIER.findall(done.out)
    if not found:
        raise SchedulerError(f'qsub gave no job id, but "{complaint(done.out)}"')
    return str(found[-1]), said


def _options(order: Order) -> list[str]:
    waits = [order.dependency] if order.dependency is not None else []
    before = [*order.after, *([order.follows] if order.follows is not None else [])]
    if before:
        waits.append(":".join(("afterany", *dict.fromkeys(map(str, before)))))
    at_once = "" if order.at_once is None else f"%{order.at_once}"
    mask = [] if "umask=" in order.script.read_text("utf-8") else ["-W", f"umask={_umask():03o}"]
    mail = [] if order.mail is None else ["-M", order.mail.address, "-m", "ae" if order.mail.at_end else "a"]
    return [
        *("-N", order.name),
        *(["-J", f"0-{order.tasks - 1}{at_once}"] if order.tasks > 1 else []),
        *("-j", "oe", "-o", f"{order.script.parent}/"),
        *mask,
        *mail,
        *(["-W", f"depend={','.join(waits)}"] if before else []),
    ]


def _umask() -> int:
    """The umask of this process; PBS would have jobs write for their owner alone."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _known_after(refusal: str, name: str) -> str | None:
    try:
        return next(iter(_selected(name)), None)
    except SchedulerError as error:
        raise SchedulerError(f"{refusal}\n{error}") from None


def trial(script: str, tasks: int, at_once: int | None) -> str:
    """Nothing: PBS does not tell what it would do."""
    return ""


def queue(arrays: Mapping[str, JobId | None]) -> tuple[Task, ...]:
    """The tasks of the arrays of these names that PBS knows. Raises SchedulerError if it leaves open whether it knows
    one of them."""
    wanted = {str(array): name for name, array in arrays.items() if array is not None}
    for name in (name for name, array in arrays.items() if array is None):
        wanted |= dict.fromkeys(_selected(name), name)
    found: list[Task] = []
    ids = list(wanted)
    for at in range(0, len(ids), _IDS_AT_ONCE):
        some = ids[at : at + _IDS_AT_ONCE]
        jobs, unknown, said = _asked(some)
        of_array: dict[str, list[_Job]] = {}
        for job in jobs:
            of_array.setdefault(job.array, []).append(job)
        for identifier in some:
            mine = of_array.get(_key(identifier), [])
            if not mine and _key(identifier) not in unknown:
                raise SchedulerError(said or f"qstat does not say what became of {identifier}")
            if any(job.name == wanted[identifier] for job in mine):  # else numbers began anew
                found += _tasks(identifier, mine)
    return tuple(found)


def _selected(name: str) -> list[str]:
    """The ids of the arrays of a name."""
    said = pbs.ask(["qselect", "-x", "-N", name])
    if _NO_HISTORY in said.error:
        said = pbs.ask(["qselect", "-N", name])
    if said.code or re.search(r"^qselect:", said.error, re.MULTILINE):
        raise SchedulerError(complaint(said.error) or f"qselect: exit code {said.code}")
    return [str(identifier) for identifier in _IDENTIFIER.findall(said.out)]


@frozen
class _Job:
    """What qstat says of a job: `array` is the number of the whole array, `index` that of a task, "" for the array as a
    whole, None for a job that is none."""

    identifier: str
    array: str
    index: str | None
    said: Mapping[str, str] = field(repr=False)

    @property
    def name(self) -> str:
        return self.said.get("Job_Name", "")


def _key(identifier: str) -> str:
    return identifier.partition(".")[0].partition("[")[0]


def _asked(ids: Sequence[str]) -> tuple[list[_Job], set[str], str]:
    """What qstat says of jobs, the numbers of those that PBS does not know, and what it complains of besides."""
    said = pbs.ask(["qstat", "-x", "-f", "-t", *ids])
    if _NO_HISTORY in said.error:
        said = pbs.ask(["qstat", "-f", "-t", *ids])
    unknown = {_key(identifier) for identifier in _UNKNOWN.findall(said.error)}
    others = "\n".join(line for line in said.error.splitlines() if not _UNKNOWN.search(line))
    return list(_jobs(said.out)), unknown, complaint(others) or (f"qstat: exit code {said.code}" if said.code else "")


def _jobs(text: str) -> Iterator[_Job]:
    """The jobs of an answer; what stands before the first is none of PBS's."""
    lines = text.replace("\n\t", "").splitlines()  # long values go on in the next line
    starts = [number for number, line in enumerate(lines) if line.startswith("Job Id: ")]
    for start, end in itertools.pairwise([*starts, len(lines)]):
        identifier = lines[start].removeprefix("Job Id: ").strip()
        match = _JOB.fullmatch(identifier)
        if match is None:
            raise _not_understood(lines[start])
        attributes = (_ATTRIBUTE.fullmatch(line) for line in lines[start + 1 : end])
        said: dict[str, str] = {}
        for attribute in attributes:
            if attribute is not None:
                said.setdefault(attribute[1], attribute[2].strip())
        if said.get("job_state", "") not in {*_WAITING, *_RUNNING, *_ENDED}:
            raise _not_understood(f"{identifier}: job_state = {said.get('job_state', '')}")
        yield _Job(identifier, match[1], match[2], said)


def _tasks(array: str, jobs: Sequence[_Job]) -> Iterator[Task]:
    """The tasks of an array, all of them. PBS shows those that have no job of their own as it shows the array."""
    whole = next((job for job in jobs if job.index == ""), None)
    tasks = {int(job.index or 0): job for job in jobs if job.index != ""}
    indices = _INDICES.fullmatch("" if whole is None else whole.said.get("array_indices_submitted", ""))
    if not tasks or (indices is not None and len(tasks) <= int(indices[1])):
        raise SchedulerError(f"qstat does not list all tasks of {array}")
    is_held = whole is not None and whole.said["job_state"] == "H"
    for index, job in sorted(tasks.items()):
        state = _state(job)
        waits = is_held or job.said["job_state"] == "H"
        reason = "" if _SAYS_NOTHING.match(job.said.get("comment", "")) else job.said.get("comment", "")
        if state == "PENDING" and waits and "after" in job.said.get("depend", ""):
            reason = "Dependency"
        nodes = ",".join(dict.fromkeys(part.partition("/")[0] for part in job.said.get("exec_host", "").split("+")))
        yield Task(job.name, array, index, job.identifier, state, nodes, reason)


def _state(job: _Job) -> str:
    """The state of a task or a job. Without a run count it has not begun, or PBS has no history."""
    letter, status = job.said["job_state"], job.said.get("Exit_status")
    if letter in _WAITING:
        return "PENDING"
    if letter in _RUNNING:
        return _RUNNING[letter]
    if "run_count" not in job.said or status is None:
        return ENDED
    if job.said.get("substate") == _TERMINATED:
        return "CANCELLED"
    return {"0": "COMPLETED", _TIMEOUT: "TIMEOUT"}.get(status, "FAILED")


def _not_understood(line: str) -> SchedulerError:
    return SchedulerError(f'qstat gave an answer that cannot be understood: "{complaint(line)}"')


def accounting(arrays: Mapping[str, JobId | None]) -> tuple[Task, ...]:
    """Nothing: what PBS remembers, its queue tells."""
    return ()


def cancel(tasks: Iterable[Task]) -> None:
    """Cancel tasks; those that have ended meanwhile are no error. An array that had not begun stays when all its tasks
    are cancelled, and is cancelled then, too."""
    chosen = list(tasks)
    _delete([str(task.job) for task in chosen])
    arrays = dict.fromkeys(str(task.array) for task in chosen if task.array != task.job)
    jobs = _asked(list(arrays))[0] if arrays else []
    left = {job.array for job in jobs if job.index and job.said["job_state"] not in _ENDED}
    _delete([job.identifier for job in jobs if job.index == "" and job.array not in left])


def _delete(jobs: Sequence[str]) -> None:
    for at in range(0, len(jobs), _TASKS_AT_ONCE):
        said = pbs.ask(["qdel", *jobs[at : at + _TASKS_AT_ONCE]])
        others = [line for line in said.error.splitlines() if line.startswith("qdel:") and not _OVER.search(line)]
        if said.code and (others or not _OVER.search(said.error)):
            raise SchedulerError(complaint(said.error) or f"qdel: exit code {said.code}")


def share_slots(script: Path) -> None:
    """Nothing: the arrays of a throttled sweep wait for each other."""
