"""A throw-away Slurm of several nodes on this one host: real sbatch, srun and squeue for the tests.

No service manager, no munge; accounting, slurmdbd on a MariaDB of its own, where it is asked for. Every cluster has its
own directory and its own block of ports, so that several can run side by side. Only what was started here is stopped,
by the daemons' pid files.
"""

from __future__ import annotations

import contextlib
import getpass
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from attrs import field, frozen
from tools import until

ACCOUNTING_PROGRAMS = ("slurmdbd", "sacctmgr", "sacct", "mariadbd", "mariadb", "mariadb-install-db")
PROGRAMS = ("slurmctld", "slurmd", "sbatch", "srun", "squeue", "scancel", "scontrol", "sinfo")
UNFINISHED = (
    "PENDING",
    "CONFIGURING",
    "RUNNING",
    "COMPLETING",
    "SUSPENDED",
    "REQUEUED",
    "SIGNALING",
    "STOPPED",
)

DEVICES = ("null", "zero", "full", "urandom")  # they stand for GPUs: Slurm counts devices and looks into none

# Ranks on two of our nodes share a host but must not think so: PMIx says they do not, and Open MPI's
# shared-memory transports then hang or crash; its own TCP transport crashes in one start of ten when eight ranks
# share two CPUs, libfabric's does not. Yielding matters where ranks outnumber the CPUs tenfold.
ENVIRONMENT = {
    "OMPI_MCA_pml": "cm",
    "OMPI_MCA_mtl": "ofi",
    "OMPI_MCA_mtl_ofi_provider_include": "tcp",
    "FI_TCP_IFACE": "lo",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "SLURM_MPI_TYPE": "pmix",
}


_LOOKS = 300  # a launch that is about to start its step, or to end, is seen without one a few times


class StuckLaunchError(Exception):
    """An srun waits for nothing."""


@frozen
class State:
    """What became of a job: ``COMPLETED``, ``FAILED``, ... and the two halves of its exit code."""

    name: str
    exit_code: int
    signal: int = 0

    @property
    def is_finished(self) -> bool:
        return self.name not in UNFINISHED


@frozen
class Job:
    """One line of ``scontrol show job``; ``details`` has every field as Slurm prints it."""

    id: int
    name: str
    state: State
    details: Mapping[str, str] = field(repr=False)

    @property
    def array_id(self) -> int:
        """The id that sbatch printed: an array's tasks have ids of their own."""
        return int(self.details.get("ArrayJobId", self.id))


@frozen
class Layout:
    """Size and rules of a cluster."""

    nodes: int = 4
    cpus: int = 8
    memory_mib: int = 4000
    max_time: str = "08:00:00"
    features: str = ""
    partitions: tuple[str, ...] = ("compute",)
    max_array_size: int = 1001
    max_job_count: int = 10000
    min_job_age: int = 3600  # seconds: finished jobs stay visible for the tests
    gpus: int = 0
    has_accounting: bool = False  # with the account bb1234, whose limits hold


class Cluster:
    """A running cluster. Get one from :func:`running_cluster` or from the fixture ``cluster``."""

    def __init__(self, directory: Path, layout: Layout) -> None:
        self.directory = directory
        self.layout = layout
        self.environment = ENVIRONMENT | {"SLURM_CONF": str(directory / "slurm.conf")}
        self.node_local = f"{directory}/odfs/%j"
        self.database: subprocess.Popen[bytes] | None = None

    def run(self, *command: str | Path, cwd: Path | None = None, check: bool = True) -> str:
        """Run a client program against this cluster; returns what it printed."""
        done = self._call(list(command), cwd)
        return _output_of(done) if check else done.stdout

    def complete_environment(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        """This process's environment, less what an outer Slurm put there, plus this cluster's."""
        outer = re.compile(r"(SLURM|SBATCH|PMIX|OMPI)_")
        own = {name: value for name, value in os.environ.items() if not outer.match(name)}
        return own | self.environment | dict(more or {})

    def submit(self, script: Path, cwd: Path, *arguments: str, environment: Mapping[str, str] | None = None) -> int:
        """``sbatch`` a script as a user would, from ``cwd``; returns the job's id."""
        done = self._call(["sbatch", "--parsable", *arguments, script], cwd, environment)
        return int(_output_of(done).strip().partition(";")[0])

    def jobs(self) -> list[Job]:
        """All jobs so far, finished ones too, in the order of their ids; one for each task of an array."""
        return _parse_jobs(self._answer("scontrol", "show", "job", "-o"))

    def job(self, job_id: int) -> Job:
        """One job; of an array the first task that did not complete well, if there is one."""
        tasks = _parse_jobs(self._answer("scontrol", "show", "job", "-o", str(job_id)))
        unwell = [task for task in tasks if task.state.name != "COMPLETED"]
        return (unwell or tasks)[0]

    def state(self, job_id: int) -> State:
        return self.job(job_id).state

    def wait(self, *job_ids: int) -> None:
        """Until these jobs, with all tasks of arrays, are over. (``sbatch --wait`` looks every 2 s.)"""
        until(lambda: not any(job.id in job_ids or job.array_id in job_ids for job in self._unfinished()), self._queue)

    def wait_until_idle(self) -> None:
        """Until no job is left, one that another job submitted included. Raises StuckLaunchError for an srun that waits
        on though nothing of it runs: the one of Slurm 22.05 does now and then where it starts several parts of a
        heterogeneous job, each of its threads waiting for another."""
        looks = 0

        def is_idle() -> bool:
            nonlocal looks
            looks = looks + 1 if self._has_idle_launch() else 0
            if looks > _LOOKS:
                raise StuckLaunchError(self._queue())
            return not self._unfinished()

        until(is_idle, self._queue)

    def cancel_all(self) -> None:
        """Kill every job, softly first, and see them off; one that Slurm starts again meanwhile, too."""

        def is_idle() -> bool:
            for job in self._unfinished():
                self.run("scancel", str(job.id), check=False)
            return not self._unfinished()

        until(is_idle, self._queue)

    def break_node(self, node: str) -> None:
        """Let a node fail: its daemon and all that runs there are gone from one moment to the next."""
        mark = {f"SLURMD_NODENAME={node}".encode(), f"SLURM_CONF={self.directory / 'slurm.conf'}".encode()}
        pid = _read_pid(self.directory / f"slurmd.{node}.pid")
        running = [pid for pid in _processes() if mark <= _environment(pid)]
        steps = {parent for parent in map(_parent, running) if parent not in running and _name(parent) == "slurmstepd"}
        for number in (*([pid] if pid else []), *steps, *running):
            _signal(number, signal.SIGKILL)
        self.run("scontrol", "update", f"nodename={node}", "state=down", "reason=test")

    def mend_node(self, node: str) -> None:
        """Bring a broken node back, while nothing runs."""
        self.run("slurmd", "-N", node, "-f", self.directory / "slurm.conf")
        self.wait_for_nodes()

    def limit_submitted_jobs(self, most: int) -> None:
        """Let the user have so many jobs at a time."""
        self.run("sacctmgr", "-i", "modify", "user", getpass.getuser(), "set", f"maxsubmitjobs={most}")

    def wait_for_nodes(self) -> None:
        """Until every node is there, and nothing runs on it."""
        until(lambda: _idle_nodes(self) == self.layout.nodes, lambda: _logs(self.directory))

    def _call(
        self, command: list[str | Path], cwd: Path | None, more: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        environment = self.complete_environment(more)
        return subprocess.run(command, check=False, cwd=cwd, env=environment, capture_output=True, text=True)

    def _has_idle_launch(self) -> bool:
        """Whether there is an srun, but no step beside the batch scripts'."""
        own = f"SLURM_CONF={self.directory / 'slurm.conf'}".encode()
        if not any(_name(pid) == "srun" and own in _environment(pid) for pid in _processes()):
            return False
        steps = re.findall(r"StepId=\S+", self.run("scontrol", "show", "step", check=False))
        return bool(steps) and all(step.endswith(".batch") for step in steps)

    def _unfinished(self) -> list[Job]:
        return [job for job in self.jobs() if not job.state.is_finished]

    def _answer(self, *command: str) -> str:
        """What a client prints once slurmctld answers it: on a busy machine no answer is not an empty queue."""
        done = self._call(list(command), None)

        def is_answered() -> bool:
            nonlocal done
            if done.returncode:
                done = self._call(list(command), None)
            return done.returncode == 0

        until(is_answered, lambda: done.stderr)
        return done.stdout

    def _queue(self) -> str:
        return self.run("squeue", "-l", check=False)


def _output_of(done: subprocess.CompletedProcess[str]) -> str:
    if done.returncode:
        command = " ".join(map(str, done.args))
        raise RuntimeError(f"{command}: exit code {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def _parse_jobs(text: str) -> list[Job]:
    lines = (line for line in text.splitlines() if line.startswith("JobId="))
    return sorted((_parse_job(line) for line in lines), key=lambda job: job.id)


def _parse_job(line: str) -> Job:
    # A value runs up to the next NAME=, blanks included; parentheses after a value belong to it.
    details = dict(re.findall(r"(\w+(?::\w+)?)=(.*?)(?=\s+\w+(?::\w+)?=|$)", line))
    code, _, number = details["ExitCode"].partition(":")
    state = State(details["JobState"], int(code), int(number or 0))
    return Job(int(details["JobId"]), details["JobName"], state, details)


@contextlib.contextmanager
def running_cluster(layout: Layout | None = None) -> Iterator[Cluster]:
    """Bring a cluster up, and down again whatever happens."""
    layout = layout or Layout()
    # The path must be short: it ends up in names of Unix sockets, and those hold 107 characters.
    directory = Path(tempfile.mkdtemp(prefix="slurm.", dir="/tmp"))
    directory.chmod(0o755)
    cluster = Cluster(directory, layout)
    try:
        _start(cluster)
        yield cluster
        cluster.cancel_all()
    finally:
        _stop(directory)
        if cluster.database is not None:
            cluster.database.wait()
        shutil.rmtree(directory, ignore_errors=True)


def _start(cluster: Cluster) -> None:
    directory, layout = cluster.directory, cluster.layout
    for name in ("state", "log"):
        (directory / name).mkdir()
    for node in _node_names(layout):
        (directory / f"spool.{node}").mkdir()
        temporary = directory / f"tmp.{node}"
        temporary.mkdir()
        temporary.chmod(0o1777)
    port = free_ports(layout.nodes + 4)
    (directory / "slurm.conf").write_text(_configuration(directory, layout, port))
    # Without it slurmd looks for mounted control groups and dies where there are none.
    (directory / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
    if layout.gpus:
        lines = [f"Name=gpu File=/dev/{device}\n" for device in DEVICES[: layout.gpus]]
        (directory / "gres.conf").write_text("".join(lines))
    mount = f"{directory}/odfs/$SLURM_JOB_ID"
    _write_program(directory / "prolog", f'mkdir -p -m 777 "{mount}/stripe_4"; chmod 777 "{mount}"')
    _write_program(directory / "epilog", f'rm -rf "{mount}"')
    if layout.has_accounting:
        _start_accounting(cluster, port + layout.nodes + 1)
    cluster.run("slurmctld", "-f", directory / "slurm.conf")
    for node in _node_names(layout):
        cluster.run("slurmd", "-N", node, "-f", directory / "slurm.conf")
    cluster.wait_for_nodes()


def _start_accounting(cluster: Cluster, port: int) -> None:
    """A database and slurmdbd in front of it, with one account of the user's."""
    directory, user = cluster.directory, getpass.getuser()
    data, connection = directory / "db", directory / "db.sock"
    quiet = ("--no-defaults", f"--user={user}", f"--datadir={data}")
    cluster.run("mariadb-install-db", *quiet, "--auth-root-authentication-method=normal", "--skip-test-db")
    options = (
        f"--socket={connection}",
        "--bind-address=127.0.0.1",
        f"--port={port + 1}",
        "--innodb-lock-wait-timeout=900",
    )
    with (directory / "log" / "mariadbd.log").open("w") as log:
        cluster.database = subprocess.Popen(
            ["mariadbd", *quiet, *options, f"--pid-file={directory}/slurm-mariadbd.pid"],
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    client = ("mariadb", "--no-defaults", f"--user={user}", f"--socket={connection}")
    until(lambda: "1" in cluster.run(*client, "-e", "select 1", check=False), lambda: _logs(directory))
    grant = "create database slurm_acct; grant all on slurm_acct.* to slurm@'127.0.0.1' identified by 'x'"
    cluster.run(*client, "-e", grant)
    settings = {
        "AuthType": "auth/none",
        "DbdHost": "localhost",
        "DbdAddr": "127.0.0.1",
        "DbdPort": port,
        "SlurmUser": user,
        "StorageType": "accounting_storage/mysql",
        "StorageHost": "127.0.0.1",
        "StoragePort": port + 1,
        "StorageUser": "slurm",
        "StoragePass": "x",
        "StorageLoc": "slurm_acct",
        "PidFile": directory / "slurmdbd.pid",
        "LogFile": directory / "log" / "slurmdbd.log",
        "MessageTimeout": 100,
    }
    path = directory / "slurmdbd.conf"
    path.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
    path.chmod(0o600)
    environment = cluster.complete_environment({"SLURM_CONF": str(path)})
    subprocess.run(["slurmdbd"], check=True, env=environment)
    until(lambda: _is_added(cluster, "cluster", "nmlgentest"), lambda: _logs(directory))
    until(lambda: _is_added(cluster, "account", "bb1234", "cluster=nmlgentest"))
    until(lambda: _is_added(cluster, "user", user, "account=bb1234"))


def _is_added(cluster: Cluster, kind: str, name: str, *more: str) -> bool:
    """Whether sacctmgr has it, once slurmdbd answers."""
    cluster.run("sacctmgr", "-i", "add", kind, name, *more, check=False)
    return bool(cluster.run("sacctmgr", "-n", "show", kind, name, check=False).strip())


def _write_program(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/bash\n{text}\n")
    path.chmod(0o755)


def _idle_nodes(cluster: Cluster) -> int:
    lines = set(cluster.run("sinfo", "-h", "-N", "-o", "%N %T", check=False).splitlines())  # one for each partition
    return sum(1 for line in lines if line.endswith(" idle"))


def _node_names(layout: Layout) -> list[str]:
    return [f"n{number}" for number in range(1, layout.nodes + 1)]


def free_ports(count: int) -> int:
    """The first of so many free ports in a row. Below the range the kernel gives away by itself."""
    for _ in range(200):
        first = random.randrange(20000, 30000)
        if all(_is_free(port) for port in range(first, first + count)):
            return first
    raise RuntimeError(f"found no {count} free ports in a row")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("", port))
        except OSError:
            return False
    return True


def _configuration(directory: Path, layout: Layout, port: int) -> str:
    host = socket.gethostname().partition(".")[0]
    user = getpass.getuser()
    settings = {
        "ClusterName": "nmlgentest",
        "SlurmctldHost": f"{host}(127.0.0.1)",
        "SlurmctldPort": port,
        "SlurmUser": user,
        "SlurmdUser": user,
        "AuthType": "auth/none",
        "CredType": "cred/none",
        "StateSaveLocation": directory / "state",
        "SlurmdSpoolDir": directory / "spool.%n",
        # The PMIx plugin makes a directory of a fixed name there: it must be another one on each node.
        "TmpFS": directory / "tmp.%n",
        "SlurmctldPidFile": directory / "slurmctld.pid",
        "SlurmdPidFile": directory / "slurmd.%n.pid",
        "SlurmctldLogFile": directory / "log" / "slurmctld.log",
        "SlurmdLogFile": directory / "log" / "slurmd.%n.log",
        "ProctrackType": "proctrack/linuxproc",
        "TaskPlugin": "task/none",
        "SwitchType": "switch/none",
        # A file system that is made for each job and ends with it, as BeeOND is.
        "Prolog": directory / "prolog",
        "Epilog": directory / "epilog",
        "JobAcctGatherType": "jobacct_gather/none",
        **_accounting(layout, port + layout.nodes + 1),
        "SelectType": "select/cons_tres",
        "SelectTypeParameters": "CR_Core_Memory",
        "DefMemPerCPU": 1,
        "SchedulerType": "sched/backfill",
        "SchedulerParameters": "batch_sched_delay=0,sched_interval=1,bf_interval=1,default_queue_depth=1000",
        "PriorityType": "priority/basic",
        "EnforcePartLimits": "ALL",
        "MaxArraySize": layout.max_array_size,
        "MaxJobCount": layout.max_job_count,
        "MailProg": "/bin/true",
        "MinJobAge": layout.min_job_age,
        "ReturnToService": 2,
        # However slow the machine, nobody is taken for dead or late: nodes fail where a test breaks them.
        "SlurmdTimeout": 0,
        "MessageTimeout": 100,
        "BatchStartTimeout": 1000,
        "TCPTimeout": 100,
        "UnkillableStepTimeout": 1000,
        "InactiveLimit": 0,
        "KillWait": 2,
        "Waittime": 0,
        # More CPUs than the host has, on every node.
        "SlurmdParameters": "config_overrides",
        "PropagateResourceLimits": "NONE",
    }
    lines = [f"{name}={value}" for name, value in settings.items()]
    shape = f"Sockets=1 CoresPerSocket={layout.cpus} ThreadsPerCore=1 RealMemory={layout.memory_mib}"
    if layout.gpus:
        shape += f" Gres=gpu:{layout.gpus}"
        lines.append("GresTypes=gpu")
    if layout.features:
        shape += f" Feature={layout.features}"
    for number, node in enumerate(_node_names(layout), start=1):
        address = f"NodeHostname={host} NodeAddr=127.0.0.1 Port={port + number}"
        lines.append(f"NodeName={node} {address} {shape} State=UNKNOWN")
    limits = f"MaxTime={layout.max_time} DefaultTime=00:10:00"
    for number, partition in enumerate(layout.partitions):
        default = "YES" if number == 0 else "NO"
        lines.append(f"PartitionName={partition} Nodes=ALL Default={default} {limits} State=UP")
    return "\n".join(lines) + "\n"


def _accounting(layout: Layout, port: int) -> dict[str, object]:
    if not layout.has_accounting:
        return {"AccountingStorageType": "accounting_storage/none"}
    return {
        "AccountingStorageType": "accounting_storage/slurmdbd",
        "AccountingStorageHost": "127.0.0.1",
        "AccountingStoragePort": port,
        "AccountingStorageEnforce": "associations,limits",
    }


def _logs(directory: Path) -> str:
    parts = []
    for path in sorted((directory / "log").glob("*.log")):
        tail = path.read_text(errors="replace").splitlines()[-15:]
        parts.append("\n".join([f"== {path.name}", *tail]))
    return "\n".join(parts)


def _stop(directory: Path) -> None:
    pids = [pid for path in directory.glob("slurm*.pid") if (pid := _read_pid(path))]
    for pid in pids:
        _signal(pid, signal.SIGTERM)
    try:
        until(lambda: not any(map(_is_alive, pids)))
    except TimeoutError:
        for pid in filter(_is_alive, pids):
            _signal(pid, signal.SIGKILL)


def _read_pid(path: Path) -> int | None:
    with contextlib.suppress(OSError, ValueError):
        return int(path.read_text())
    return None


def _signal(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def _processes() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def _environment(pid: int) -> set[bytes]:
    with contextlib.suppress(OSError):
        return set(Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"))
    return set()


def _parent(pid: int) -> int:
    with contextlib.suppress(OSError):
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return 0


def _name(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text().strip()
    return ""


def _is_alive(pid: int) -> bool:
    """A zombie is dead: the first process of a container may never reap it."""
    try:
        after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return False
    return after_name[0] != "Z"
