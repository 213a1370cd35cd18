"""Job arrays of Slurm: sbatch, squeue, sacct and scancel, what they are asked and what they answer.

All answers were observed with Slurm 22.05. A site's own wrappers may say more than Slurm does: what is no answer, a
banner or a blank line, counts for nothing; an answer that cannot be understood is an error.
"""

from __future__ import annotations

import contextlib
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from nmlgen.errors import InputError, SchedulerError
from nmlgen.schedulers.arrays import (
    NO_INDEX,
    JobId,
    LimitError,
    Limits,
    Order,
    RefusedError,
    Task,
)
from nmlgen.schedulers.programs import complaint
from nmlgen.schedulers.slurm.programs import configuration, slurm
from nmlgen.schedulers.slurm.script import read_script

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
    "usage": "sbatch --array=TASKS array.sbatch LEG [ARGUMENT ...]",
    "task": "$SLURM_ARRAY_TASK_ID",
    "array": "$SLURM_ARRAY_JOB_ID",
    "job": "$SLURM_JOB_ID",
    "name": "$SLURM_JOB_NAME",
    "node": "${SLURMD_NODENAME:-}",
    "restarts": "${SLURM_RESTART_COUNT:-0}",
    "leg": "$1",
    "key": "$SLURM_JOB_ID",
}
shares_slots = True
takes_arguments = True

# Said when there are too many jobs, of a user or of all; everything else that is refused is refused for good.
_LIMIT = re.compile(
    r"Max\w{0,30}Submit\w{0,30}Limit|MaxSubmitJobs|submit limit|MaxJobCount|temporarily unable to accept job"
    r"|Resource temporarily unavailable",
    re.IGNORECASE,
)
_RETRY = b"sleeping and retrying"
# Said when there is an accounting that does not answer now; of one that is not there sacct says that it is disabled.
_UNANSWERED = re.compile(
    r"Problem talking to the database|persistent connection|Unable to contact|timed out|gave no answer", re.IGNORECASE
)
_NAMES_AT_ONCE = 200
_TASKS_AT_ONCE = 500
_MOST_TASKS = 1_000_000  # as many as a sweep has points; Slurm's own limit of MaxArraySize is four times that
_RANGE = re.compile(r"(\d{1,9})(?:-(\d{1,9})(?::(\d{1,9}))?)?")
_NUMBER = re.compile(r"[0-9]{1,18}")
_ARRAY_SIZE = 1001  # Slurm's own, where it does not say one
_IDENTIFIER = re.compile(r"^[ \t]*([1-9][0-9]{0,17})(?:;\S*)?[ \t\r]*$", re.MULTILINE)
_FIELDS = 6  # array, index, job, state, nodes, reason
_NO_TASKS = "N/A"  # says squeue where an index stands, of an array that has no tasks left; sacct says nothing there


def limits() -> Limits:
    """The limits of the cluster."""
    settings = configuration()
    said = (_number(settings.get(name, "")) for name in ("MaxArraySize", "MaxJobCount"))
    size = min(_ARRAY_SIZE if number is None else number for number in said)
    if size < 1:
        raise SchedulerError("this Slurm has no job arrays: MaxArraySize is 0")
    return Limits(size, "jobs" in re.split(r"[,\s]+", settings.get("PrivateData", "")))


def check_place(sweep: Path) -> None:
    """Raises InputError for a directory in which no job can write its log."""
    if "\\" in str(sweep.absolute()):
        raise InputError(f"{sweep}: Slurm opens no log below a directory with a backslash in its name")


def _options(order: Order) -> list[str]:
    waits = [f"afterany:{':'.join(map(str, order.after))}"] if order.after else []
    if order.follows is not None:
        waits.append(f"aftercorr:{order.follows}")
    if waits and order.dependency is not None:
        waits = [order.dependency, *waits]  # the command line's stands in the place of the script's
    log = "points/%a/slurm-%j.log" if order.pack == 1 else "%a-%j.log"  # each of several points has its own
    output = f"{str(order.script.parent).replace('%', '%%')}/{log}"
    options = [
        "--parsable",
        f"--job-name={order.name}",
        f"--array={_array(order.tasks, order.at_once)}",
        f"--chdir={order.script.parent}",
        f"--output={output}",
        f"--error={output}",
        "--open-mode=append",
    ]
    if order.mail is not None:
        types = "END,FAIL" if order.mail.at_end else "FAIL"
        options += [f"--mail-user={order.mail.address}", f"--mail-type={types}"]
    return [*options, *([f"--dependency={','.join(waits)}", "--kill-on-invalid-dep=yes"] if waits else [])]


def _array(tasks: int, at_once: int | None) -> str:
    return f"0-{tasks - 1}{'' if at_once is None else f'%{at_once}'}"


def submit(order: Order, lock: int) -> tuple[int, str]:
    """Submit an array that works in the script's directory; returns its id, and what sbatch said beside it.

    sbatch inherits the descriptor `lock`: whoever waits for that lock waits for sbatch, too, even if this process dies.
    Raises RefusedError if Slurm does not take it, LimitError if it takes no more for now, and SchedulerError if nobody
    can know whether it has taken it.
    """
    command = ["sbatch", *_options(order), str(order.script), str(order.leg), *order.arguments]
    done = slurm.submitting(command, order.script.parent, lock, lambda said: _RETRY in said)  # for two minutes
    said = complaint(done.error)
    if done.code:
        said = said or f"sbatch: exit code {done.code}"
        if known := _queue_after(said, order.name):  # sbatch lost the connection when the array was accepted already
            return int(known[0].array), said
        raise (LimitError if _LIMIT.search(said) else RefusedError)(said)
    found = _IDENTIFIER.findall(done.out)
    if not found:
        raise SchedulerError(f'sbatch gave no job id, but "{complaint(done.out)}"')
    return int(found[-1]), said


def _queue_after(refusal: str, name: str) -> tuple[Task, ...]:
    try:
        return queue({name: None})
    except SchedulerError as error:
        raise SchedulerError(f"{refusal}\n{error}") from None


def trial(script: str, tasks: int, at_once: int | None) -> str:
    """What Slurm would do with a job array; raises as `submit` does."""
    try:
        command = ["sbatch", "--test-only", f"--array={_array(tasks, at_once)}"]
        return slurm.run(command, text=script, from_stderr=True).strip()
    except SchedulerError as error:
        raise (LimitError if _LIMIT.search(str(error)) else RefusedError)(str(error)) from None


def queue(arrays: Mapping[str, JobId | None]) -> tuple[Task, ...]:
    """The tasks of the arrays of these names that Slurm knows, those that have ended a while ago included."""
    wanted = list(arrays)
    known, found = frozenset(wanted), list[Task]()
    for at in range(0, len(wanted), _NAMES_AT_ONCE):
        some = ",".join(wanted[at : at + _NAMES_AT_ONCE])
        options = ["--noheader", "--array", "--states=all", f"--name={some}", "--format=%j|%F|%K|%A|%T|%N|%r"]
        for line in slurm.run(["squeue", *options]).splitlines():
            name, *rest = line.split("|", 6)
            if name in known:
                _gather(found, _tasks("squeue", name, rest, line), "squeue")
    return tuple(found)


def accounting(arrays: Mapping[str, JobId | None]) -> tuple[Task, ...]:
    """The tasks of arrays, from the accounting, which does not forget; nothing where there is none. Raises
    SchedulerError where there is one that does not answer.

    `arrays` maps the names to the ids, None where an id is not known. The accounting is asked by the ids: by names it
    leaves out what never could start, such as tasks that were cancelled while they waited for other jobs. What it lists
    as active may be old: while others of an array are in the queue, it keeps those that were taken out of it.
    """
    found: list[Task] = []
    numbers = [str(array) for array in arrays.values() if array is not None]
    unknown = [name for name, array in arrays.items() if array is None]
    for option, wanted in (("--jobs", numbers), ("--name", unknown)):
        for at in range(0, len(wanted), _NAMES_AT_ONCE):
            asked = ["--allusers", "--allocations", "--starttime=2000-01-01"]
            asked.append(f"{option}={','.join(wanted[at : at + _NAMES_AT_ONCE])}")
            shown = ["--noheader", "--parsable2", "--format=JobName,JobID,JobIDRaw,State,NodeList,Reason"]
            try:
                text = slurm.run(["sacct", *asked, *shown])
            except SchedulerError as error:
                if _UNANSWERED.search(str(error)):
                    raise
                return ()
            for line in text.splitlines():
                name, *rest = line.split("|", 5)
                if name in arrays:
                    array, has_tasks, index = "".join(rest[:1]).partition("_")
                    listed = [array, index if has_tasks else _NO_TASKS, *rest[1:]]
                    _gather(found, _tasks("sacct", name, listed, line), "sacct")
    return tuple(found)


def _gather(found: list[Task], tasks: Iterator[Task], program: str) -> None:
    """Add the tasks of a line to those of the lines before: of a few characters a line may stand for a million."""
    found += itertools.islice(tasks, _MOST_TASKS + 1 - len(found))
    if len(found) > _MOST_TASKS:
        raise SchedulerError(f"{program} lists more than {_MOST_TASKS} tasks of this sweep")


def _tasks(program: str, name: str, fields: list[str], line: str) -> Iterator[Task]:
    """The tasks of a line: array, index, job, state, nodes, reason. Tasks that never started share one: `[2-9%2]`."""
    if len(fields) != _FIELDS:
        raise _not_understood(program, line)
    indices = _indices(fields[1])
    if indices is None and fields[1] == _NO_TASKS and fields[3].startswith("CANCELLED"):
        indices = (NO_INDEX,)
    if indices is None:
        return
    numbers = [_number(fields[0]), _number(fields[2])]
    if None in numbers or not fields[3].strip():
        raise _not_understood(program, line)
    array, job = (number or 0 for number in numbers)
    state, nodes, reason = map(complaint, fields[3:])  # which all of its tasks show
    for index in indices:
        yield Task(name, array, index, job, state.split()[0], nodes, _plain(reason))


def _not_understood(program: str, line: str) -> SchedulerError:
    return SchedulerError(f'{program} gave an answer that cannot be understood: "{complaint(line)}"')


def _indices(text: str) -> Iterable[int] | None:
    """The tasks that an index stands for; None if for none, or for more than any array has."""
    if (number := _number(text)) is not None:
        return (number,)
    found: list[range] = []
    for part in text.strip("[]").partition("%")[0].split(","):
        match = _RANGE.fullmatch(part)
        if match is None:
            return None
        first, last, step = int(match[1]), int(match[2] or match[1]), int(match[3] or 1)
        if step < 1:
            return None
        found.append(range(first, last + 1, step))
    return itertools.chain.from_iterable(found) if sum(map(len, found)) <= _MOST_TASKS else None


def _number(text: str) -> int | None:
    return int(text) if _NUMBER.fullmatch(text) else None


def cancel(tasks: Iterable[Task]) -> None:
    """Cancel tasks; those that have ended meanwhile are no error."""
    wanted = [f"{task.array}_{task.index}" for task in tasks]
    for at in range(0, len(wanted), _TASKS_AT_ONCE):
        slurm.run(["scancel", "--quiet", *wanted[at : at + _TASKS_AT_ONCE]])


def share_slots(script: Path) -> None:
    """Let the arrays of a throttled sweep have the slots that others do not need (`templates/slots.sh.j2`). Where that
    fails, they wait for each other."""
    with contextlib.suppress(SchedulerError):
        slurm.run(["bash", str(script)])


def _plain(reason: str) -> str:
    return "" if reason.strip() == "None" else reason.strip()
