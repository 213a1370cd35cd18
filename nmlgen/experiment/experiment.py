"""The representation that every front end lifts into, every rule judges and every back end lowers.

An `Experiment` holds what a job says to ICON, Slurm, Lustre and MPI, each as a `Setting` with its origin. It
knows neither YAML nor shell nor templates.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from math import prod
from typing import Any

from attrs import field, frozen

from nmlgen.experiment.machine import FileSystem, Machine
from nmlgen.experiment.setting import ADVISOR, Certainty, Origin, Setting
from nmlgen.namelist.registry import Registry
from nmlgen.namelist.syntax import SyntaxProblem
from nmlgen.source import Span

MODEL_NAME = "atm"


@frozen(eq=False)
class Group:
    """One namelist group. `label` tells copies of a repeated group apart: the name of an output stream.

    `settings` is keyed by the variable's name in lower case, in the order of writing. `problems` is what a Fortran
    runtime makes of a text that the group was read from. What is not set in a group that `is_open` is not known.
    """

    name: str
    settings: Mapping[str, Setting]
    label: str | None = None
    span: Span | None = None
    problems: tuple[SyntaxProblem, ...] = ()
    is_open: bool = False

    def spelling(self, key: str) -> str:
        """The variable's name as its author spelt it."""
        return self.settings[key].name.rpartition(".")[2] if "%" not in key else key

    @property
    def title(self) -> str:
        """What a table calls an output stream: its name in the spec, else its output_filename."""
        if self.label:
            return self.label
        name = self.settings.get("output_filename")
        return str(name.origin.value) if name is not None and name.history else "without a name"


@frozen
class InputFile:
    """A file that must be there before ICON starts: `target` in the run directory, linked to or copied from
    `source`."""

    target: str
    source: Setting
    method: str = "link"


@frozen
class Striping:
    """`lfs setstripe` on a directory of the run: `what` is "output", "restart" or "input"."""

    what: str
    directories: tuple[str, ...]
    settings: Mapping[str, Setting]


@frozen
class Mpi:
    """The MPI library the executable is linked with, the ROMIO hints given to it, and the variables that
    switch its Lustre driver on: `lustre_variables`, exported only if the run directory turns out to be Lustre."""

    implementation: Setting | None
    version: Setting | None
    hints: Mapping[str, Setting] = field(factory=dict)
    lustre_variables: Mapping[str, Setting] = field(factory=dict)


@frozen
class Darshan:
    """Darshan's runtime: `library` is preloaded into the model, None where nobody says where it lies."""

    span: Span | None
    library: Setting | None
    environment: Mapping[str, Setting] = field(factory=dict)
    max_records: Setting | None = None


@frozen
class NodeLocalRun:
    """The run happens on a file system that ends with the job: `kind` names it as the site does."""

    kind: Setting
    directory: Setting | None = None
    constraint: Setting | None = None


@frozen
class Launch:
    """How the model is started: the launcher's name and its options; `tasks` where the options say how many."""

    command: Setting
    options: tuple[Setting, ...] = ()
    tasks: Setting | None = None


@frozen(slots=False, kw_only=True, eq=False)
class Experiment:
    """One experiment, complete: what to run, with which settings, on which machine.

    `directives` is keyed by sbatch's long option names; `environment` by the variables exported to the job.
    `directives_span` is where the directives are given as a whole: what is missing among them belongs there. Where it
    `is_open` there may be more namelist groups than those that are known.
    """

    name: str
    registry: Registry
    machine: Machine
    master: tuple[Group, ...]
    namelist: tuple[Group, ...]
    directives: Mapping[str, Setting]
    environment: Mapping[str, Setting]
    executable: Setting
    base_directory: Setting | None
    run_directory: Setting
    inputs: tuple[InputFile, ...]
    grid_name: Setting | None
    striping: tuple[Striping, ...]
    mpi: Mpi
    darshan: Darshan | None
    node_local: NodeLocalRun | None
    launch: Launch
    modules: tuple[Setting, ...]
    stack_limit: Setting | None
    is_open: bool = False
    directives_span: Span | None = None

    def __getitem__(self, key: tuple[str, str]) -> Setting:
        """The effective setting of a variable: `experiment["io_nml", "restart_write_mode"]`.

        Of a repeated group the first copy answers; see `streams` for the others.
        """
        found = self._effective.get(key)
        if found is None:
            group, name = key
            found = effective(self.registry, self.group(group), group, name, is_open=self.is_open)
            self._effective[key] = found
        return found

    @cached_property
    def derived(self) -> dict[Any, Any]:
        """What was worked out of the experiment already; see `memory.remembered`."""
        return {}

    @cached_property
    def _effective(self) -> dict[tuple[str, str], Setting]:
        return {}

    def group(self, name: str) -> Group | None:
        """The first group of that name, as ICON reads it; None if nobody wrote it."""
        return self._first_groups.get(name.lower())

    @cached_property
    def _first_groups(self) -> dict[str, Group]:
        groups: dict[str, Group] = {}
        for group in (*self.master, *self.namelist):
            groups.setdefault(group.name.lower(), group)
        return groups

    @cached_property
    def streams(self) -> tuple[Group, ...]:
        """The output_nml groups in the order of writing."""
        return tuple(group for group in self.namelist if group.name.lower() == "output_nml")

    def stream_setting(self, stream: Group, name: str) -> Setting:
        """The effective setting of a variable of one output stream."""
        return effective(self.registry, stream, "output_nml", name)

    @property
    def tasks(self) -> Setting:
        """The number of MPI tasks: the launcher's, else --ntasks, else nodes times tasks a node, else one."""
        if self.launch.tasks is not None:
            return self.launch.tasks
        given = [self.directives[name] for name in ("ntasks", "nodes", "ntasks-per-node") if name in self.directives]
        for directive in given:
            if directive.certainty is Certainty.UNKNOWN or type(directive.value) is not int or directive.value < 1:
                return Setting("ntasks", directive.history, Certainty.UNKNOWN)
        if "ntasks" in self.directives:
            return self.directives["ntasks"]
        count = prod(directive.value for directive in given)
        return Setting("ntasks", (Origin("nmlgen", count, (given or [self.executable])[-1].span),))

    @cached_property
    def file_system(self) -> FileSystem:
        """The file system that the model writes to."""
        if self.node_local is not None:
            kind = self.machine.node_local.get(self.node_local.kind.value)
            return FileSystem("", kind.type if kind else "unknown")
        return self.machine.file_system_of(self.run_directory.value)

    def advised(self) -> Iterator[tuple[str, Setting]]:
        """What the advisor decided, by the names of the settings; those of a stream bear its name."""
        for group in self.all_groups():
            for setting in group.settings.values():
                if setting.history and setting.origin.layer == ADVISOR:
                    name = setting.name.rpartition(".")[2]
                    yield f"output.{group.label}.{name}" if group.label else setting.name, setting
        for striping in self.striping:
            yield from ((s.name, s) for s in striping.settings.values() if s.origin.layer == ADVISOR)

    def all_groups(self) -> Iterator[Group]:
        """Every group of both namelist files."""
        yield from self.master
        yield from self.namelist


@lru_cache(maxsize=8192)
def effective(registry: Registry, group: Group | None, group_name: str, name: str, *, is_open: bool = False) -> Setting:
    """What ICON will see: the written value, else the default of the release, else something unknown.

    A value that the variable cannot hold counts as unknown: ICON stops at it, and one rule says so. Without a group,
    `is_open` tells that there may be one all the same.
    """
    key = name.lower()
    variable = registry.variable(group_name, key)
    if group is not None and key in group.settings:
        setting = group.settings[key]
        fits = variable is None or not setting.history or variable.accepts(setting.origin.value)
        return setting if fits else Setting(setting.name, setting.history, Certainty.UNKNOWN)
    full_name = f"{group_name}.{name}"
    if variable is None or not variable.has_default or (is_open if group is None else group.is_open):
        return Setting(full_name, (Origin("unknown", None),), Certainty.UNKNOWN)
    default = Origin(f"default of ICON {registry.release}", _scalar(variable.default))
    return Setting(full_name, (default,), Certainty.DEFAULT)


def _scalar(default: Any) -> Any:
    """The registry writes an element-wise default as {"set": {"1": a}, "fill": b}; its elements in order."""
    if isinstance(default, dict):
        elements = default.get("set", {})
        return [elements[index] for index in sorted(elements, key=int)]
    return default


def as_list(value: Any) -> list[Any]:
    """A namelist value as the list of its elements: a scalar given to an array sets the first one."""
    return list(value) if isinstance(value, (list, tuple)) else [value]
