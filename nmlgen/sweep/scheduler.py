"""Everything that is said to Slurm, and what it answers: sbatch, squeue, sacct, sacctmgr, scancel, scontrol and sinfo.

All answers were observed with Slurm 22.05. A site's own wrappers may say more than Slurm does: what is no answer, a
banner or a blank line, counts for nothing; an answer that cannot be understood is an error.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from nmlgen.errors import SchedulerError
from nmlgen.values import frozen

WAITING = frozenset({"PENDING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "RESV_DEL_HOLD", "SPECIAL_EXIT"})
"""The states of a task that is to start, the first time or again."""

RUNNING = frozenset(
    {"RUNNING", "CONFIGURING", "COMPLETING", "SUSPENDED", "RESIZING", "SIGNALING", "STAGE_OUT", "STOPPED"}
)
"""The states of a task that has nodes."""

# Said when there are too many jobs, of a user or of all; everything else that is refused is refused for good.
_LIMIT = re.compile(
    r"Max\w{0,30}Submit\w{0,30}Limit|MaxSubmitJobs|submit limit|MaxJobCount|temporarily unable to accept job"
    r"|Resource temporarily unavailable",
    re.IGNORECASE,
)
_RETRY = "sleeping and retrying"
# Said when there is an accounting that does not answer now; of one that is not there sacct says that it is disabled.
_UNANSWERED = re.compile(
    r"Problem talking to the database|persistent connection|Unable to contact|timed out|gave no answer", re.IGNORECASE
)
_FILTERS = re.compile(r"(SQUEUE|SACCT|SCANCEL)_")  # variables that would narrow down what is asked
_NAMES_AT_ONCE = 200
_TASKS_AT_ONCE = 500
_MOST_TASKS = 4_000_000  # Slurm's own limit of MaxArraySize
_RANGE = re.compile(r"(\d{1,9})(?:-(\d{1,9})(?::(\d{1,9}))?)?")
_PATIENCE = 300  # seconds for an answer; the programs themselves give up earlier
_MPI_TYPE = re.compile(r"(?:srun:|\t) *(\w+)")
_NUMBER = re.compile(r"[0-9]{1,18}")
_ARRAY_SIZE = 1001  # Slurm's own, where it does not say one
_IDENTIFIER = re.compile(r"^[ \t]*([1-9][0-9]{0,17})(?:;\S*)?[ \t\r]*$", re.MULTILINE)
_FIELDS = 6  # array, index, job, state, nodes, reason
_NO_TASKS = "N/A"  # says squeue where an index stands, of an array that has no tasks left; sacct says nothing there
_WHOLE = {"SLURM_BITSTR_LEN": "0"}  # else long lists of tasks end in dots
_MOST_SAID = 2000  # characters of what a program complains of


class RefusedError(SchedulerError):
    """Slurm does not take an array."""


class LimitError(RefusedError):
    """Slurm takes no more jobs for now: a limit on submitted jobs is reached."""


@frozen
class Limits:
    """How many tasks an array may have, and whether users see each other's jobs."""

    array_size: int
    is_private: bool


@frozen
class Mail:
    """To whom Slurm writes, and when: `types` as of `--mail-type`."""

    address: str
    types: str


NO_INDEX = -1
"""In the place of a task's index: an array that was cancelled before any of its tasks had started has none left."""


@frozen
class Task:
    """One task of a job array as Slurm knows it.

    `array` is the id of the whole array, `job` that of the task alone. `state` is Slurm's word, such as RUNNING or
    NODE_FAIL, and `reason` what it says beside it.
    """

    name: str
    array: int
    index: int
    job: int
    state: str
    nodes: str = ""
    reason: str = ""

    @property
    def is_waiting(self) -> bool:
        """Whether it is to start."""
        return self.state in WAITING

    @property
    def is_active(self) -> bool:
        """Whether it is to start, or has nodes."""
        return self.state in WAITING or self.state in RUNNING


def version() -> str:
    """The version of Slurm, as sbatch says it: slurm-wlm 22.05.8."""
    return _run(["sbatch", "--version"]).strip()


def partitions() -> tuple[str, ...]:
    """The names of the partitions that the user sees."""
    return tuple(dict.fromkeys(_run(["sinfo", "--noheader", "--format=%R"]).split()))


def accounts(user: str) -> tuple[str, ...]:
    """The accounts that may be charged by a user; raises SchedulerError where there is no accounting."""
    options = ["--noheader", "--parsable2", "show", "associations", f"user={user}", "format=Account"]
    return tuple(dict.fromkeys(_run(["sacctmgr", *options]).split()))


def mpi_types() -> tuple[str, ...]:
    """What `--mpi` of srun may be on this machine; old versions say it on standard error."""
    ask = ["srun", "--mpi=list"]
    found = []
    for line in (_run(ask) or _run(ask, from_stderr=True)).splitlines():
        if (kind := _MPI_TYPE.fullmatch(line)) is not None:
            found.append(kind[1])
        elif " versions available: " in line:  # specific pmix plugin versions available: pmix_v3,pmix_v4
            found += line.rpartition(": ")[2].split(",")
    return tuple(found)


def default_mpi_type() -> str | None:
    """What `--mpi` of srun is where nobody says it; None if Slurm does not say."""
    return _configuration().get("MpiDefault")


def _configuration() -> dict[str, str]:
    text = _run(["scontrol", "show", "config"])
    return {name: value.strip() for name, value in re.findall(r"^(\w+)[ \t]*=(.*)$", text, re.MULTILINE)}


def limits() -> Limits:
    """The limits of the cluster."""
    settings = _configuration()
    said = (_number(settings.get(name, "")) for name in ("MaxArraySize", "MaxJobCount"))
    size = min(_ARRAY_SIZE if number is None else number for number in said)
    if size < 1:
        raise SchedulerError("this Slurm has no job arrays: MaxArraySize is 0")
    return Limits(size, "jobs" in re.split(r"[,\s]+", settings.get("PrivateData", "")))


def submit_array(
    script: Path,
    arguments: Sequence[str],
    *,
    name: str,
    array: str,
    output: str,
    dependencies: Sequence[str],
    mail: Mail | None = None,
    lock: int,
) -> tuple[int, str]:
    """Submit a script as a job array that works in the script's directory; returns the array's id, and what sbatch said
    beside it.

    sbatch inherits the descriptor `lock`: whoever waits for that lock waits for sbatch, too, even if this process dies.
    Raises RefusedError if Slurm does not take it, LimitError if it takes no more for now, and SchedulerError if nobody
    can know whether it has taken it.
    """
    options = [
        "--parsable",
        f"--job-name={name}",
        f"--array={array}",
        f"--chdir={script.parent}",
        f"--output={output}",
        f"--error={output}",
        "--open-mode=append",
        *([f"--mail-user={mail.address}", f"--mail-type={mail.types}"] if mail is not None else []),
        *([f"--dependency={','.join(dependencies)}", "--kill-on-invalid-dep=yes"] if dependencies else []),
    ]
    lines: list[str] = []
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as answers:  # a pipe could fill up
        command = ["sbatch", *options, str(script), *arguments]
        with _started(command, script.parent, lock, answers.fileno()) as sbatch:
            assert sbatch.stderr is not None
            for line in sbatch.stderr:
                lines.append(line)
                if _RETRY in line:  # for two minutes
                    sbatch.kill()
        answers.seek(0)
        answer = answers.read()
    said = _complaint("".join(lines))
    if sbatch.returncode:
        said = said or f"sbatch: exit code {sbatch.returncode}"
        if known := _queue_after(said, name):  # sbatch lost the connection when the array was accepted already
            return known[0].array, said
        raise (LimitError if _LIMIT.search(said) else RefusedError)(said)
    found = _IDENTIFIER.findall(answer)
    if not found:
        raise SchedulerError(f'sbatch gave no job id, but "{_complaint(answer)}"')
    return int(found[-1]), said


def _queue_after(refusal: str, name: str) -> tuple[Task, ...]:
    try:
        return queue([name])
    except SchedulerError as error:
        raise SchedulerError(f"{refusal}\n{error}") from None


def test_array(script: str, array: str) -> str:
    """What Slurm would do with a job array; raises as `submit_array` does."""
    try:
        return _run(["sbatch", "--test-only", f"--array={array}"], text=script, from_stderr=True).strip()
    except SchedulerError as error:
        raise (LimitError if _LIMIT.search(str(error)) else RefusedError)(str(error)) from None


def queue(names: Iterable[str]) -> tuple[Task, ...]:
    """The tasks of the arrays of these names that Slurm knows, those that have ended a while ago included."""
    wanted = list(names)
    known, found = frozenset(wanted), list[Task]()
    for at in range(0, len(wanted), _NAMES_AT_ONCE):
        some = ",".join(wanted[at : at + _NAMES_AT_ONCE])
        options = ["--noheader", "--array", "--states=all", f"--name={some}", "--format=%j|%F|%K|%A|%T|%N|%r"]
        for line in _run(["squeue", *options]).splitlines():
            name, *rest = line.split("|", 6)
            if name in known:
                found += _tasks("squeue", name, rest, line)
    return tuple(found)


def accounting(arrays: Mapping[str, int | None]) -> tuple[Task, ...]:
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
                text = _run(["sacct", *asked, *shown])
            except SchedulerError as error:
                if _UNANSWERED.search(str(error)):
                    raise
                return ()
            for line in text.splitlines():
                name, *rest = line.split("|", 5)
                if name in arrays:
                    array, has_tasks, index = "".join(rest[:1]).partition("_")
                    found += _tasks("sacct", name, [array, index if has_tasks else _NO_TASKS, *rest[1:]], line)
    return tuple(found)


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
    for index in indices:
        yield Task(name, array, index, job, fields[3].split()[0], fields[4], _plain(fields[5]))


def _not_understood(program: str, line: str) -> SchedulerError:
    return SchedulerError(f'{program} gave an answer that cannot be understood: "{_complaint(line)}"')


def _indices(text: str) -> Iterable[int] | None:
    """The tasks that an index stands for; None if for none, or for more than any array has."""
    if (number := _number(text)) is not None:
        return (number,)
    found: list[int] = []
    for part in text.strip("[]").partition("%")[0].split(","):
        match = _RANGE.fullmatch(part)
        if match is None:
            return None
        first, last, step = int(match[1]), int(match[2] or match[1]), int(match[3] or 1)
        if step < 1 or last - first > _MOST_TASKS or len(found) > _MOST_TASKS:
            return None
        found += range(first, last + 1, step)
    return found


def _number(text: str) -> int | None:
    return int(text) if _NUMBER.fullmatch(text) else None


def _complaint(text: str) -> str:
    """What a program says, as much of its end as anybody wants to read."""
    text = text.strip()
    return text if len(text) <= _MOST_SAID else f"... {text[-_MOST_SAID:]}"


def cancel(tasks: Iterable[Task]) -> None:
    """Cancel tasks; those that have ended meanwhile are no error."""
    wanted = [f"{task.array}_{task.index}" for task in tasks]
    for at in range(0, len(wanted), _TASKS_AT_ONCE):
        _run(["scancel", "--quiet", *wanted[at : at + _TASKS_AT_ONCE]])


def share_slots(script: Path) -> None:
    """Let the arrays of a throttled sweep have the slots that others do not need (`templates/slots.sh.j2`). Where that
    fails, they wait for each other."""
    with contextlib.suppress(SchedulerError):
        _run(["bash", str(script)])


def _run(command: list[str], *, text: str = "", from_stderr: bool = False) -> str:
    with _started(command, None, None, subprocess.PIPE) as process:
        try:
            out, error = process.communicate(text, _PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            raise SchedulerError(f"{command[0]} gave no answer in {_PATIENCE} s") from None
    if process.returncode:
        raise SchedulerError(_complaint(error) or f"{command[0]}: exit code {process.returncode}")
    return error if from_stderr else out


def _started(command: list[str], directory: Path | None, lock: int | None, out: int) -> subprocess.Popen[str]:
    try:
        return subprocess.Popen(
            command,
            cwd=directory,
            env={name: value for name, value in os.environ.items() if not _FILTERS.match(name)} | _WHOLE,
            stdin=subprocess.PIPE if lock is None else subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            pass_fds=() if lock is None else (lock,),
            start_new_session=True,  # an interrupt from the terminal is not meant for it
        )
    except FileNotFoundError:
        message = f"there is no {command[0]} here; submit where Slurm is, or start the points' scripts by hand"
        raise SchedulerError(message) from None
    except PermissionError:
        raise SchedulerError(f"{command[0]} cannot be started: permission denied") from None


def _plain(reason: str) -> str:
    return "" if reason.strip() == "None" else reason.strip()
