"""What is known of the machine an experiment runs on: partitions, memory, file systems, MPI, Darshan.

These are facts of a site, not settings of an experiment. A fact that is not known is None, and a rule that
needs it stays silent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, islice
from pathlib import PurePosixPath
from typing import Any, overload

from nmlgen.experiment.mpi_io import is_part
from nmlgen.values import field, frozen

OF_PLUG_INS = ("uenv", "view")
"""Options that plug-ins add to sbatch and that a spec may ask for."""

UNKNOWN_SITE = "unknown"
"""The name of a machine of which nothing is known."""


Cores = tuple[int, ...]
"""Numbers of cores, as the system counts them."""
_MOST_CORES = 10_000  # there are no more numbers of four digits


@frozen
class CoreLists(Sequence[Cores]):
    """Lists of cores such as "1-7,9-15", each as its numbers when it is asked for: a machine may have thousands."""

    texts: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.texts)

    @overload
    def __getitem__(self, number: int) -> Cores: ...
    @overload
    def __getitem__(self, number: slice) -> CoreLists: ...
    def __getitem__(self, number: int | slice) -> Cores | CoreLists:
        if isinstance(number, slice):
            return CoreLists(self.texts[number])
        return tuple(islice(chain.from_iterable(_ranges(self.texts[number])), _MOST_CORES))

    @property
    def empty(self) -> str | None:
        """The first list without a core."""
        return next((text for text in self.texts if not any(_ranges(text))), None)

    @property
    def twice(self) -> int | None:
        """The first core that is in two places of the lists."""
        parts = sorted((part for text in self.texts for part in _ranges(text) if part), key=lambda part: part.start)
        beyond = 0
        for part in parts:
            if part.start < beyond:
                return part.start
            beyond = part.stop
        return None


def _ranges(text: str) -> Iterator[range]:
    ends = (part.partition("-") for part in text.split(","))
    return (range(int(first), int(last or first) + 1) for first, _, last in ends)


@frozen
class Gpus:
    """The GPUs of a node: `count` of them, `memory` of one in bytes.

    `cores` are by GPU those that are near to it, `cards` its network card as UCX_NET_DEVICES names it; empty where
    not known; a spec has to say the cores where the site `asks_for_cores`. `job` is what a job has to ask for,
    keyed as in a spec, `environment` what programs need that use them.
    """

    count: int
    kind: str | None = None
    vendor: str = "nvidia"
    memory: int | None = None
    cores: CoreLists = CoreLists()
    cards: tuple[str, ...] = ()
    asks_for_cores: bool = False
    job: Mapping[str, Any] = field(factory=dict)
    environment: Mapping[str, str] = field(factory=dict)


@frozen
class Partition:
    """A Slurm partition: its limits (seconds, bytes, counts), and what a node of it has: `numa` are the cores of each
    NUMA node that jobs may use, empty where not known."""

    name: str
    max_time: int | None = None
    max_nodes: int | None = None
    exclusive: bool | None = None
    cores_per_node: int | None = None
    threads_per_core: int | None = None
    memory_per_node: int | None = None
    numa: CoreLists = CoreLists()
    gpus: Gpus | None = None


@frozen
class FileSystem:
    """A mounted file system: `type` is lustre, gpfs, beegfs, nfs, local or unknown."""

    path: str
    type: str
    ost_count: int | None = None


@frozen
class NodeLocal:
    """A file system that lives as long as its job, such as BeeOND.

    `mount` may hold %j, the job id as in Slurm's file name patterns; `constraints` are the node features that
    ask for it, the first one the usual; `capacity_per_node` is in bytes, `bandwidth_per_node` in bytes a second.
    """

    name: str
    type: str
    mount: str
    directory: str | None = None
    directories: tuple[str, ...] = ()
    capacity_per_node: int | None = None
    bandwidth_per_node: int | None = None
    constraints: tuple[str, ...] = ()
    exclusive: bool = False

    def copying_s(self, volume: int, nodes: int) -> int | None:
        """The seconds that copying so many bytes from so many nodes takes at least, None where that is not known."""
        return None if self.bandwidth_per_node is None else -(-volume // (nodes * self.bandwidth_per_node))


@frozen
class MpiInstallation:
    """An MPI implementation as the site installs it: the usual version with its modules, and other `versions` with
    theirs."""

    implementation: str
    version: str | None = None
    modules: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(factory=dict)
    versions: Mapping[str, tuple[str, ...]] = field(factory=dict)

    def modules_of(self, version: str | None) -> tuple[str, tuple[str, ...]] | None:
        """A version that the one asked for may mean, of those that are installed, and its modules; the usual one where
        none is asked for. None where the site has modules, and none for it."""
        known = {self.version or "": self.modules, **self.versions}
        if version is None or not any(known.values()):
            return self.version or "", self.modules
        for name, modules in known.items():
            if name and is_part(version, name):
                return name, modules
        return None


@lru_cache(maxsize=1024)
def _lies_below(path: str, directory: str) -> bool:
    return PurePosixPath(path).is_relative_to(directory)


@frozen(kw_only=True)
class Machine:
    """A site. `name` is that of its preset; `recommended_stripe_size` is in bytes; `calibration` is the path of the
    file with what the advisor knows of it, None if the site names none; `run_script_variables` are those that the
    header of ICON's own run scripts sets there. `all_memory_by_request` says that a job gets more than
    `memory_per_node` with --mem=0 only. `network` is infiniband or slingshot; `max_files` is how many files a
    project may have where the model writes; `set_up_s` are the seconds of a job before the model's first step that
    its own timers do not see. `plugin_options` are the options that plug-ins add to sbatch and srun, without
    dashes; `fortran` the runtimes of the compilers that ICON is built with: gfortran, flang, intel, nvhpc, cray,
    nag or nec; `parts` says of parts of ICON whether its executables have them. `said` is what an experiment itself
    says of nodes, by the keys of a spec below `partitions`: lists as a site file writes them, an empty one for what is
    to be left alone.
    """

    name: str
    scheduler: str = "slurm"
    account_required: bool = False
    cores_per_node: int | None = None
    threads_per_core: int | None = None
    memory_per_node: int | None = None
    file_system: str = "unknown"
    ost_count: int | None = None
    recommended_stripe_size: int | None = None
    max_recommended_stripe_count: int | None = None
    partitions: Mapping[str, Partition] = field(factory=dict)
    features: tuple[str, ...] = ()
    file_systems: tuple[FileSystem, ...] = ()
    node_local: Mapping[str, NodeLocal] = field(factory=dict)
    mpi: Mapping[str, MpiInstallation] = field(factory=dict)
    darshan_library: str | None = None
    calibration: str | None = None
    network: str | None = None
    max_files: int | None = None
    all_memory_by_request: bool = False
    set_up_s: int | None = None
    run_script_variables: Mapping[str, str] = field(factory=dict)
    plugin_options: tuple[str, ...] = ()
    fortran: tuple[str, ...] = ()
    parts: Mapping[str, bool] = field(factory=dict)
    said: Mapping[str, tuple[str, ...]] = field(factory=dict)

    def file_system_of(self, path: str) -> FileSystem:
        """The file system that `path` lies on; a relative path lies on the site's usual one."""
        candidates = [fs for fs in self.file_systems if _lies_below(path, fs.path)]
        if candidates:
            found = max(candidates, key=lambda fs: len(fs.path))
            ost_count = found.ost_count
            if ost_count is None and found.type == "lustre":
                ost_count = self.ost_count
            return FileSystem(found.path, found.type, ost_count)
        if path.startswith("/") and self.file_systems:
            return FileSystem(path, "unknown")
        return FileSystem("", self.file_system, self.ost_count)
