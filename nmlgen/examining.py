"""What of this machine is in order for a spec or a site: Slurm, account, file systems, MPI, Darshan, ICON."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from enum import Enum
from pathlib import Path

from nmlgen import starter
from nmlgen._version import __version__
from nmlgen.asking import answer
from nmlgen.command_line import command_words
from nmlgen.errors import SchedulerError
from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.machine import UNKNOWN_SITE, Machine
from nmlgen.experiment.meeting import PMI_TYPE, pmi_option
from nmlgen.findings import some_of
from nmlgen.models.icon.inputs import fruitless, search
from nmlgen.schedulers.pbs import programs as pbs
from nmlgen.schedulers.programs import user_name
from nmlgen.schedulers.slurm import programs as slurm
from nmlgen.values import frozen

_PATIENCE = 60  # seconds for a program that prints its version
_NAMED_FILES = 3


class Condition(Enum):
    """What was found: in order, out of order, or not to be known from here."""

    GOOD = "good"
    WRONG = "wrong"
    OPEN = "open"


@frozen
class Examined:
    """One thing that was looked at: its `subject`, what was found in `text`, and where it is not good `mend`."""

    subject: str
    condition: Condition
    text: str
    mend: str = ""


def _good(subject: str, text: str) -> Examined:
    return Examined(subject, Condition.GOOD, text)


def _wrong(subject: str, text: str, mend: str) -> Examined:
    return Examined(subject, Condition.WRONG, text, mend)


def _open(subject: str, text: str, mend: str = "") -> Examined:
    return Examined(subject, Condition.OPEN, text, mend)


def examine(machine: Machine | None, experiment: Experiment | None, directory: Path) -> Iterator[Examined]:
    """Look at this machine, as what `machine` says or `experiment` needs of it, one thing after the other.

    `directory` is where jobs would write. Programs are asked for their version, Slurm for its partitions and
    accounts, PBS for its queues; nothing is submitted and nothing written.
    """
    yield _good("nmlgen", f"{__version__}, Python {'.'.join(map(str, sys.version_info[:3]))}")
    yield _site(machine)
    if machine is None or machine.scheduler == "slurm":
        yield from _slurm(machine, experiment)
    elif machine.scheduler == "pbs":
        yield from _pbs(machine, experiment)
    yield from _file_system(machine, directory)
    yield _launcher(experiment)
    yield _mpi(machine, experiment)
    if machine is None or machine.scheduler == "slurm":
        yield from _meeting(machine, experiment)
    yield _darshan(machine, experiment)
    if experiment is not None:
        yield from _files(experiment)


def _site(machine: Machine | None) -> Examined:
    if machine is None or machine.name == UNKNOWN_SITE:
        return _open(
            "site", "none is named: only what holds everywhere is looked at", "nmlgen doctor --site NAME, or a spec"
        )
    if machine.scheduler not in ("slurm", "pbs", "none"):
        return _wrong(
            "site",
            f"{machine.name} has {machine.scheduler.upper()}, neither Slurm nor PBS",
            "nmlgen judges there; it writes no jobs",
        )
    return _good("site", machine.name)


def _pbs(machine: Machine, experiment: Experiment | None) -> Iterator[Examined]:
    try:
        said, queues = pbs.server(), pbs.queues()
    except SchedulerError as error:
        last = str(error).splitlines()[-1].partition(";")[0]
        yield _wrong("PBS", last, "a login node; building and checking need none")
        return
    keeps = "keeps a history of jobs" if said.get("job_history_enable") == "True" else "forgets jobs that have ended"
    yield _good("PBS", f"{said.get('pbs_version', 'no version')}; it {keeps}")
    yield from _partitions(machine, experiment, queues)


def _slurm(machine: Machine | None, experiment: Experiment | None) -> Iterator[Examined]:
    login = "a login node, or module load slurm; building and checking need none"
    try:
        yield _good("Slurm", slurm.version())
        partitions = slurm.partitions()
    except SchedulerError as error:
        said = str(error).splitlines()[-1].partition(";")[0]
        yield _open("Slurm", said, login) if machine is None else _wrong("Slurm", said, login)
        return
    yield from _partitions(machine, experiment, partitions)
    yield from _account(machine, experiment)


def _partitions(
    machine: Machine | None, experiment: Experiment | None, partitions: tuple[str, ...]
) -> Iterator[Examined]:
    wanted = _directive(experiment, "partition")
    if wanted is not None and wanted not in partitions:
        yield _wrong("partition", f'there is no "{wanted}" here', f"job.partition: one of {', '.join(partitions)}")
    elif wanted is not None:
        yield _good("partition", wanted)
    elif machine is not None and machine.partitions:
        known = set(partitions)
        missing = [name for name in machine.partitions if name not in known]
        text = ", ".join(partitions)
        if len(missing) == len(machine.partitions):
            yield _wrong("partition", f"{text}: none of those of {machine.name}", "is this the right --site?")
        else:
            yield _good("partition", text)


def _account(machine: Machine | None, experiment: Experiment | None) -> Iterator[Examined]:
    wanted = _directive(experiment, "account")
    if experiment is not None and wanted is None:
        if machine is not None and machine.account_required:
            yield _wrong(
                "account",
                f"the spec names none, {machine.name} refuses such jobs",
                "job.account: the project that is charged",
            )
        return
    try:
        accounts = slurm.accounts(user_name())
    except SchedulerError as error:
        yield _open("account", f"Slurm does not say which there are: {str(error).splitlines()[-1]}")
        return
    if wanted is None:
        yield _good("account", ", ".join(accounts)) if accounts else _open("account", "Slurm knows none of yours")
    elif accounts and wanted not in accounts:
        yield _wrong("account", f'"{wanted}" is none of yours', f"job.account: one of {', '.join(accounts)}")
    else:
        yield _good("account", wanted) if accounts else _open("account", f"{wanted}; Slurm knows none of yours")


def _directive(experiment: Experiment | None, name: str) -> str | None:
    setting = experiment.directives.get(name) if experiment is not None else None
    return None if setting is None or setting.value is None else str(setting.value)


def _file_system(machine: Machine | None, directory: Path) -> Iterator[Examined]:
    known = mounted(directory)
    if known is None:
        yield _open("file system", f"what {directory} lies on is not known")
        return
    point, kind = known
    free = shutil.disk_usage(directory).free
    said = machine.file_system_of(str(directory)).type if machine is not None else "unknown"
    text = f"{directory} lies on {point}, {kind}, {free / 1e9:.1f} GB free"
    if said == "lustre" and kind != "lustre":
        yield _open(
            "file system",
            f"{text}; {machine.name if machine else ''} writes to Lustre",
            "build where jobs are to write",
        )
    else:
        yield _good("file system", text)
    if kind == "lustre" or said == "lustre":
        if shutil.which("lfs"):
            yield _good("lfs", _first_line(["lfs", "--version"]) or "found")
        elif kind == "lustre":
            yield _wrong("lfs", "not found: no stripes can be set here", "the Lustre client's programs on PATH")
        else:
            yield _open("lfs", "not found here")


def mounted(directory: Path, table: Path = Path("/proc/self/mounts")) -> tuple[str, str] | None:
    """Where the file system of a directory is mounted, and its type as Linux names it; None if that is not known."""
    try:
        lines = table.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    found = None
    path = directory.resolve()
    for line in lines:
        words = line.split(" ")
        if len(words) < 3:
            continue
        point = re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), words[1])
        if path.is_relative_to(point) and (found is None or len(point) >= len(found[0])):
            found = point, words[2]
    return found


def _launcher(experiment: Experiment | None) -> Examined:
    names = [str(experiment.launch.command.value)] if experiment is not None else ["srun", "mpirun", "mpiexec"]
    found = [name for name in names if shutil.which(name)]
    if found:
        return _good("launcher", ", ".join(found))
    return _open("launcher", f"no {' or '.join(names)} on PATH", "it must be there in the job, by its modules")


def _mpi(machine: Machine | None, experiment: Experiment | None) -> Examined:
    line = _first_line(["mpirun", "--version"]) if shutil.which("mpirun") else None
    wanted = _wanted(machine, experiment)
    if line is None:
        return _open("MPI", "no mpirun on PATH: none is loaded", f"the job loads {_named(*wanted)}" if wanted else "")
    if wanted is None:
        return _good("MPI", line)
    implementation, version = wanted
    is_same = _MPI_NAMES.get(implementation, implementation) in line.lower()
    if is_same and (version is None or re.search(rf"(?<![\d.]){re.escape(str(version))}(?![\d])", line)):
        return _good("MPI", line)
    return _open(
        "MPI", f"{line}, which is not {_named(implementation, version)}", "what the model was linked with counts"
    )


def _wanted(machine: Machine | None, experiment: Experiment | None) -> tuple[str, object] | None:
    """The MPI library that the spec or the site names, and its version."""
    if experiment is not None and experiment.mpi.implementation is not None:
        version = experiment.mpi.version.value if experiment.mpi.version is not None else None
        return str(experiment.mpi.implementation.value), version
    if machine is not None and len(machine.mpi) == 1:
        installation = next(iter(machine.mpi.values()))
        return installation.implementation, installation.version
    return None


def _meeting(machine: Machine | None, experiment: Experiment | None) -> Iterator[Examined]:
    """Whether the tasks that srun starts find each other."""
    launcher = "srun" if experiment is None else str(experiment.launch.command.value)
    if launcher.rpartition("/")[2] != "srun" or shutil.which("srun") is None:
        return
    subject, said, wanted = "srun --mpi", _said_type(experiment), _wanted(machine, experiment)
    try:
        types, default = slurm.mpi_types(), slurm.default_mpi_type()
    except SchedulerError as error:
        yield _open(subject, f"Slurm does not say which types it has: {str(error).splitlines()[-1]}")
        return
    library = "" if wanted is None else wanted[0]
    suited, kind = _MPI_TYPES.get(library, ()), said or default
    has = f"srun has {', '.join(types) or 'none that it names'}"
    best = next((one for one in suited if one in types), None)
    mend = (
        f"environment: {{{PMI_TYPE}: {best}}}" if best else "another launch.command, or what the site says of its MPI"
    )
    if kind is None:
        yield _open(subject, f"the default is not known; {has}")
    elif types and kind not in types:
        yield _wrong(subject, f"it is {kind}; {has}", mend)
    elif kind == "none":
        text = f"{'it is none' if said else 'there is no default'}: tasks do not find each other; {has}"
        yield _wrong(subject, text, mend) if suited else _open(subject, text, mend)
    elif suited and kind.partition("_v")[0] not in suited:
        yield _open(subject, f"it is {kind}, and {library} meets by {' or '.join(suited)}; {has}", mend)
    else:
        yield _good(subject, f"{kind}; {has}")


def _said_type(experiment: Experiment | None) -> str | None:
    """What the spec says of `--mpi`, in options or by the variable."""
    if experiment is None:
        return None
    said = pmi_option([str(option.value) for option in experiment.launch.options])
    variable = experiment.environment.get(PMI_TYPE)
    return said or (None if variable is None else str(variable.value))


_MPI_TYPES = {
    "openmpi": ("pmix", "pmi2"),  # since 5.0 pmix only
    "intel": ("pmi2", "pmix"),
    "mpich": ("pmi2", "pmix"),
    "cray-mpich": ("cray_shasta", "pmi2", "pmix"),
}
"""By which types of srun's the tasks of an MPI library meet, the first one best; none where it depends on the site."""

_MPI_NAMES = {
    "openmpi": "open mpi",
    "intel": "intel",
    "mpich": "mpich",
    "cray-mpich": "mpich",
    "parastation": "parastation",
}


def _named(implementation: str, version: object) -> str:
    return f"{implementation} {version}" if version else implementation


def _darshan(machine: Machine | None, experiment: Experiment | None) -> Examined:
    path = machine.darshan_library if machine is not None else None
    if experiment is not None:
        if experiment.darshan is None:
            return _open("Darshan", "the spec does not ask for it", "darshan: {library: /path/to/libdarshan.so}")
        if experiment.darshan.library is not None:
            path = str(experiment.darshan.library.value)
    path = path or starter.darshan_at_hand()
    if path is None:
        return _open(
            "Darshan", "nobody says where libdarshan.so lies", "module load darshan, or darshan: {library: PATH}"
        )
    if not Path(path).is_file():
        return _wrong("Darshan", f"there is no {path}", "darshan.library: the path of libdarshan.so")
    return _good("Darshan", path)


def _programs(experiment: Experiment, root: Path) -> Iterator[Path]:
    """The binaries of the models, each once, and those of the other programs that have a path of their own: what has
    none is looked for where the job runs."""
    own = [program.settings.get("executable") for program in experiment.programs if program.model is not None]
    yield from dict.fromkeys(root / str((one or experiment.executable).value) for one in own or [None])
    for program in experiment.programs:
        if program.model is None:
            path = Path(next(iter(command_words(str(program.settings["command"].value))), ""))
            if path.is_absolute():
                yield path


def _files(experiment: Experiment) -> Iterator[Examined]:
    base = experiment.base_directory
    root = Path(str(base.value)) if base is not None else Path()
    programs = list(_programs(experiment, root))
    lost = [path for path in programs if path.is_absolute() and not (os.access(path, os.X_OK) and path.is_file())]
    relative_ones = [path for path in programs if not path.is_absolute()]
    if lost:
        text = f"there is no program {', '.join(map(str, lost))}"
        yield _wrong("executable", text, "model.directory and model.executable")
    elif relative_ones:
        text = f"{', '.join(map(str, relative_ones))} is looked for from where the build lies"
        yield _open("executable", text, "model.directory: an absolute path")
    else:
        yield _good("executable", ", ".join(map(str, programs)))
    inputs = [root / str(file.source.value) for file in experiment.inputs]
    found = [(path, file) for path, file in zip(inputs, experiment.inputs, strict=True) if path.is_absolute()]
    missing = [str(path) for path, _ in found if not path.exists()]
    nothing = fruitless(search(path, file) for path, file in found if file.is_pattern)
    missing += [str(path / file.name) for path, file in found if file.is_pattern and search(path, file) in nothing]
    relative = sum(not path.is_absolute() for path in inputs)
    if missing:
        text = f"{len(missing)} of {len(inputs)} are missing: {some_of(missing, _NAMED_FILES)}"
        yield _wrong("input files", text, "model.pool, or the paths in the spec")
    elif relative:
        yield _open("input files", f"{relative} of {len(inputs)} are looked for from where the build lies")
    elif inputs:
        yield _good("input files", f"all {len(inputs)} are there")


def _first_line(command: list[str]) -> str | None:
    """What a program says first of itself; None if it does not."""
    try:
        said = answer(command, _PATIENCE).out
    except (OSError, subprocess.TimeoutExpired):
        return None
    return next((line.strip() for line in said.splitlines() if line.strip()), None)
