"""The representation that every front end lifts into, every rule judges and every back end lowers.

An `Experiment` holds what a job says to ICON, Slurm, Lustre and MPI, each as a `Setting` with its origin. It
knows neither YAML nor shell nor templates.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cached_property
from math import prod

from nmlgen.errors import InputError
from nmlgen.experiment.component import MOST_TASKS, Component, Model, claimed
from nmlgen.experiment.coupling import Coupling
from nmlgen.experiment.group import Group
from nmlgen.experiment.machine import FileSystem, Machine
from nmlgen.experiment.memory import Subject
from nmlgen.experiment.programs import Program
from nmlgen.experiment.setting import ADVISOR, Certainty, Origin, Setting, UndecidedError
from nmlgen.experiment.striping import Striping
from nmlgen.namelist.registry import Registry
from nmlgen.source import Span
from nmlgen.values import evolve, field, frozen

MODEL_NAME = "atm"
GENERIC = "generic"
"""What a spec calls a model that nobody described."""


@frozen
class InputFile:
    """A file that must be there before ICON starts: `target` in the run directory, linked to or copied from `source`.

    Where it `is_pattern` these are many: each file of the directory `source` whose name fits the last part of `target`,
    and of the directories below that one where it `is_deep`. They keep their names.
    """

    target: str
    source: Setting
    method: str = "link"
    is_pattern: bool = False
    is_deep: bool = False

    @property
    def name(self) -> str:
        """The last part of `target`: the pattern, if it is one."""
        return self.target.rpartition("/")[2]

    def fits(self, name: str) -> bool:
        """Whether it is, or its pattern takes in, what is called so in the run directory."""
        if not self.is_pattern:
            return name == self.target
        own, this = self.target.rpartition("/"), name.rpartition("/")
        return own[0] == this[0] and fnmatchcase(this[2], own[2])


@frozen
class Step:
    """A program that makes what a model reads: what a spec calls it, and its tasks, by default those of the job."""

    name: str
    executable: Setting
    ntasks: Setting | None = None


@frozen
class OtherModel:
    """A model that is not ICON: what a spec calls it, and its namelist files by their names.

    The first job of a run directory runs the programs `before` it; `jobs` is how many jobs follow each other, each from
    the checkpoint of the last.
    """

    name: str
    files: Mapping[str, tuple[Group, ...]]
    before: tuple[Step, ...] = ()
    jobs: Setting | None = None

    @property
    def title(self) -> str:
        """What messages and comments call it."""
        return "the model" if self.name == GENERIC else self.name.upper()


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
    """Darshan's runtime: `library` is preloaded into the model, None where nobody says where it lies; where it is
    `for_all`, into every program of the script."""

    span: Span | None
    library: Setting | None
    environment: Mapping[str, Setting] = field(factory=dict)
    max_records: Setting | None = None
    for_all: bool = field(default=False, eq=False)


@frozen
class NodeLocalRun:
    """The run happens on a file system that ends with the job: `kind` names it as the site does.

    `copy_while_running` sends finished output files off while the model computes; `before_stage_out` are commands of a
    shell that run where the data lie, when the model has ended.
    """

    kind: Setting
    directory: Setting | None = None
    constraint: Setting | None = None
    copy_while_running: Setting | None = None
    before_stage_out: tuple[Setting, ...] = ()

    @property
    def sends_off(self) -> bool:
        """Whether finished files leave while the model computes."""
        return self.copy_while_running is not None and self.copy_while_running.value is True


@frozen
class Launch:
    """How the model is started: the launcher's name and its options; `tasks` where the options say how many."""

    command: Setting
    options: tuple[Setting, ...] = ()
    tasks: Setting | None = None


@frozen(slots=False, kw_only=True, eq=False)
class Experiment(Subject):
    """One experiment, complete: what to run, with which settings, on which machine.

    `master` holds the groups of icon_master.namelist, `models` what each of its models has for itself: the entry of a
    model is one of the groups of `master`. `directives` is keyed by sbatch's long option names; `environment` by the
    variables exported to the job; `chain`, what its jobs hand on, by the keys of a spec (see `chain.KEYS`).
    `directives_span` is where the directives are given as a whole: what is missing among them belongs there. `coupling`
    is the content of coupling.yaml, None where there is none; `parts` says of parts of ICON whether the executable has
    them (others are asked, too). An experiment that `knows_inputs` brings no more files
    into its run directory than its `inputs`. `programs` are there where a spec says where ranks sit: one for each
    model, and those that are no models of ICON; see `placement`. `shown` are the GPUs that a wrapper shows to ranks of
    some nodes: "" for none, None where it leaves a rank all of its node. `on_processors` are those programs of a file
    for srun whose names say that they are for processors, and that get the job's environment as it is; `joining`
    those that a script starts with ICON and that are known to join the coupler; `others` is how many ranks of the
    job such programs have, known or not, None where nobody can tell: the master namelist does not count them.
    `of_ranks` are the variables that wrappers in a script give to their ranks, `dealt` the ranks of each node of a
    heterogeneous job. Rules and all else that asks for a variable of ICON's do so by component. Where the job is one of
    an `other` model, there is no component, and the registry is empty.
    """

    name: str
    registry: Registry
    machine: Machine
    master: tuple[Group, ...]
    models: tuple[Model, ...]
    directives: Mapping[str, Setting]
    environment: Mapping[str, Setting]
    executable: Setting
    base_directory: Setting | None
    run_directory: Setting
    inputs: tuple[InputFile, ...]
    striping: tuple[Striping, ...]
    mpi: Mpi
    darshan: Darshan | None
    node_local: NodeLocalRun | None
    launch: Launch
    modules: tuple[Setting, ...]
    stack_limit: Setting | None
    chain: Mapping[str, Setting] = field(factory=dict)
    directives_span: Span | None = None
    coupling: Coupling | None = None
    parts: Mapping[str, Setting] = field(factory=dict)
    knows_inputs: bool = False
    programs: tuple[Program, ...] = ()
    shown: Mapping[int, str | None] = field(factory=dict)
    on_processors: tuple[str, ...] = ()
    joining: tuple[Setting, ...] = ()
    others: int | None = 0
    of_ranks: Mapping[str, Setting] = field(factory=dict)
    dealt: tuple[Sequence[int], ...] = ()
    other: OtherModel | None = None

    @property
    def variables(self) -> Iterator[tuple[str, Setting]]:
        """The variables of all ranks and those of some, with their names."""
        for part in (self.environment, *(program.environment for program in self.programs), self.of_ranks):
            yield from part.items()

    @cached_property
    def components(self) -> tuple[Component, ...]:
        """The models in the order of the master namelist, each with all that it reads."""
        return tuple(Component(experiment=self, number=number) for number in range(len(self.models)))

    def require_icon(self, what: str) -> None:
        """Raise InputError, with `what` is asked for, where the model is another one, whose ranks, output and steps
        nobody knows."""
        if self.other is not None:
            raise InputError(f"{what} is worked out for ICON, and {self.name} is a job of {self.other.title}")

    @cached_property
    def shares(self) -> tuple[frozenset[int], ...]:
        """The ranks of each model, of those that the job has: the last model that claims a rank gets it
        (`mo_master_init.f90:75-103`), a single one has them all whatever it claims (`:118`).

        Raises UndecidedError where that is not known.
        """
        tasks = self.tasks.value
        if tasks > MOST_TASKS // max(1, len(self.models)):
            raise UndecidedError(self.tasks)
        if len(self.models) < 2:
            return tuple(frozenset(range(tasks)) for _ in self.models)
        shares: list[frozenset[int]] = []
        taken: set[int] = set()
        for model in reversed(self.models):
            ranks = claimed(self.registry, model.entry, tasks)
            shares.append(ranks - taken)
            taken |= ranks
        return tuple(reversed(shares))

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
        for model in self.models:
            key = f"models.{model.label}." if len(self.models) > 1 else ""
            for group in model.namelist:
                for setting in group.settings.values():
                    if setting.history and setting.origin.layer == ADVISOR:
                        name = setting.name.rpartition(".")[2]
                        yield key + (f"output.{group.label}.{name}" if group.label else setting.name), setting
        for striping in self.striping:
            yield from ((s.name, s) for s in striping.settings.values() if s.origin.layer == ADVISOR)
        yield from ((s.name, s) for s in self.directives.values() if s.history and s.origin.layer == ADVISOR)

    def all_groups(self) -> Iterator[Group]:
        """Every group of the master namelist and of the models' own."""
        yield from self.master
        for model in self.models:
            yield from model.namelist

    def mapped(self, change: Callable[[Group], Group]) -> Experiment:
        """The experiment with each of its groups as `change` makes it."""
        master = [(group, change(group)) for group in self.master]
        changed = {id(old): new for old, new in master}
        models = tuple(
            evolve(
                model,
                entry=changed.get(id(model.entry), model.entry),
                namelist=tuple(change(group) for group in model.namelist),
            )
            for model in self.models
        )
        return evolve(self, master=tuple(new for _, new in master), models=models)

    # --- Names of version 0.1, when an experiment had one model ---

    def __getitem__(self, key: tuple[str, str]) -> Setting:
        """Deprecated: `components[0][key]`."""
        return self._first("[...]")[key]

    def group(self, name: str) -> Group | None:
        """Deprecated: `components[0].group(name)`."""
        return self._first(".group()").group(name)

    def stream_setting(self, stream: Group, name: str) -> Setting:
        """Deprecated: `components[0].stream_setting(stream, name)`."""
        return self._first(".stream_setting()").stream_setting(stream, name)

    @property
    def namelist(self) -> tuple[Group, ...]:
        """Deprecated: `components[0].namelist`."""
        return self._first(".namelist").namelist

    @property
    def streams(self) -> tuple[Group, ...]:
        """Deprecated: `components[0].streams`."""
        return self._first(".streams").streams

    @property
    def grid_name(self) -> Setting | None:
        """Deprecated: `components[0].grid_name`."""
        return self._first(".grid_name").grid_name

    @property
    def is_open(self) -> bool:
        """Deprecated: `components[0].is_open`."""
        return self._first(".is_open").is_open

    def _first(self, name: str) -> Component:
        warnings.warn(
            f"an Experiment has components: experiment{name} is experiment.components[0]{name}",
            DeprecationWarning,
            stacklevel=3,
        )
        return self.components[0]
