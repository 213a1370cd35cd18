"""Lifting run scripts: what a script would write, ask of Slurm and Lustre, and start, as Experiments.

A script may go several ways. Each is a world of its own, and each world has an experiment for every model that it
starts. Nothing of a script is run.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import takewhile
from pathlib import Path, PurePath, PurePosixPath
from typing import Any

from nmlgen import disk
from nmlgen.errors import InputError, UnreadableError
from nmlgen.experiment.component import MODEL_GROUP, Component, Model
from nmlgen.experiment.coupling import COUPLING_FILE, UNKNOWN_COUPLING, Coupling
from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.machine import Machine
from nmlgen.experiment.record import recorded
from nmlgen.experiment.setting import Certainty, Setting, written
from nmlgen.files import Files
from nmlgen.findings import ValueCounts
from nmlgen.lift.built import as_built, machine_of
from nmlgen.lift.file_kinds import is_foreign_script, remarks_only
from nmlgen.lift.fragments import HEADER, Ending, fragment_name, header_directives, header_variables
from nmlgen.lift.jobs import LIFTED, Job, lift_job, with_job, words_in
from nmlgen.lift.launches import of_text, options_of
from nmlgen.lift.namelists import (
    MASTER_FILE,
    NamelistFile,
    Readings,
    coupling_beside,
    lift_document,
    lift_models,
    lift_without_master,
    read_namelist,
    type_of,
    unknown_entry,
    with_unread,
)
from nmlgen.lift.programs import (
    across_models,
    in_all_parts,
    joining,
    lines_of,
    models_of,
    of_programs,
    on_processors,
    others,
    programs_of,
)
from nmlgen.lift.reader import NAMED, reader_of
from nmlgen.lift.striping import wrong_sizes
from nmlgen.lift.wrappers import (
    alone,
    followed,
    gives_gpus,
    gpus_shown,
    problems_of_wrapper,
    starts,
    starts_model,
    variables_of_ranks,
    wrapper_of,
)
from nmlgen.models.icon.parts import GPU
from nmlgen.namelist.reader import read
from nmlgen.namelist.registry import Registry
from nmlgen.namelist.syntax import Document, SyntaxProblem, Value
from nmlgen.schedulers.slurm.directives import MEMORY_TWICE, PLUGIN_OPTION, Directives, read_directives
from nmlgen.script.assigned import effects
from nmlgen.script.csh import text_of_csh
from nmlgen.script.evaluate import Evaluation, evaluate
from nmlgen.script.events import Piece
from nmlgen.script.launch import read_launch
from nmlgen.script.parser import parse
from nmlgen.script.syntax import Literal, Redirection, Script
from nmlgen.script.templates import includes
from nmlgen.script.values import Place, known, text_of, within
from nmlgen.script.values import unknown as unknown_value
from nmlgen.script.without_effect import without_effect
from nmlgen.script.worlds import Stretch, World, WrittenFile, WrittenText, covering_worlds, decided
from nmlgen.script.wrapper import effort_of_ranks
from nmlgen.source import UNKNOWN, Source, Span, Text
from nmlgen.spec.coupling import read_coupling
from nmlgen.values import evolve, field, frozen


def _scripts(world: World) -> list[Text]:
    """The scripts that a script writes, but for those of other jobs."""
    written = [file.origin for file in world.files.values() if file.text.startswith("#!")]
    return [text for text in written if "#SBATCH" not in text.text]


def _on_gpus(experiment: Experiment, numbers: Collection[int], span: Span | None, *, is_all: bool) -> Experiment:
    """The experiment whose models of these numbers are built for GPUs: the others are not, if they are `is_all`."""
    if len(experiment.models) == 1:
        said = {GPU: written("model.parts.gpu", True, "script", span)} if numbers else {}
        return evolve(experiment, parts={**said, **experiment.parts})
    models = [
        evolve(model, is_on_gpus=True if number in numbers else False if is_all else model.is_on_gpus)
        for number, model in enumerate(experiment.models)
    ]
    return evolve(experiment, models=tuple(models))


_FILE_NAME = "model_namelist_filename"
_GROUP = re.compile(r"^[^!\n]{0,256}?&([A-Za-z]\w*)", re.MULTILINE)


@frozen(eq=False)
class Way:
    """One way that a script may go: the experiment that it starts, None without a model, and the namelist files that it
    writes or finds.

    `directories` are those that the script makes; all that are needed, if it `makes_all`. `world` is what happens on
    it, `job` what is asked of the machine. It `has_master` where a master namelist says which models there are.
    `chosen` are the places where one of several known values was taken, and which.
    """

    experiment: Experiment | None
    files: tuple[NamelistFile, ...]
    directories: frozenset[str]
    makes_all: bool
    world: World
    job: Job
    has_master: bool
    chosen: tuple[tuple[Place, str], ...] = ()


@frozen(eq=False)
class LiftedScript:
    """A script, lifted: the ways that it may go, and the `problems` with what it asks of Slurm, lfs and the launcher.

    `worlds` are what it does in each. `inactive` are the here-documents that no way comes to, read as namelists.
    `is_fragment` tells that another script comes before it, which sets variables. `values` counts how much of the
    namelists is known. `readings` are what its namelists were read as.
    """

    script: Script
    evaluation: Evaluation
    worlds: tuple[World, ...]
    is_fragment: bool
    ways: tuple[Way, ...]
    inactive: tuple[Document, ...]
    problems: tuple[SyntaxProblem, ...]
    values: ValueCounts
    readings: Readings = field(repr=False)


_COUPLING_NAME = re.compile(r"coupling[\w.-]*\.ya?ml")
"""What ICON's run scripts call the file that they bring as coupling.yaml (release 2024.10, `run/exp.esm_bb_ruby0`)."""


_USED = re.compile(r"\$\{?([A-Za-z_]\w*)")
_NAME = re.compile(r"[A-Za-z_]\w*")
_REMARKS = re.compile(r"^[ \t]*#.*", re.MULTILINE)


_CALLED_ENDING = re.compile(r"^[ \t]*(?:\.|source)[ \t]+\S*/exec\.iconrun\b", re.MULTILINE)
"""A fragment that calls ICON's own ending (`run/exec.iconrun`) before it ends."""


_PARTS = re.compile(r"(?:exec\.iconrun|add_run_routines|create_target_header)(?:\.in)?")
"""What ICON's make_target_runscript puts round the fragment of an experiment (release 2024.10, `run/`)."""


def _is_fragment(script: Script, path: Path) -> bool:
    """Whether a script needs another one before it: it is one of ICON's parts of scripts, has no first line that names
    a shell, uses variables of ICON's header that it never sets, or is a template that includes others."""
    text = script.source.text
    if not text.startswith("#!") or _PARTS.fullmatch(path.name) or includes(text):
        return True
    used = {name for name in _USED.findall(_REMARKS.sub("", text)) if name in HEADER or name == "EXPNAME"}
    left = used - effects(script.body, {}).names
    return len(left) > 1 or (bool(left) and fragment_name(PurePath(script.source.name).name) is not None)


def _asks_header(text: str) -> bool:
    """Whether a fragment uses what ICON's header sets."""
    return any(name in HEADER or name == "EXPNAME" for name in _USED.findall(text))


def _parsed(path: Path, source: Source) -> Script:
    """A script as it is read: one of another program, or of csh whatever its first line says, up to where Slurm or PBS
    read it."""
    if is_foreign_script(path, source):
        return parse(remarks_only(source))
    script = parse(source)
    of_csh = text_of_csh(script)
    return script if of_csh is None else evolve(parse(remarks_only(source)), problems=(of_csh,))


def lift_script(
    path: Path,
    registry: Registry,
    *,
    ntasks: int | None = None,
    files: Files | None = None,
    source: Source | None = None,
    is_fragment: bool | None = None,
    variables: Mapping[str, str | None] | None = None,
    machine: Machine | None = None,
    header: Mapping[str, str] | None = None,
    decides: bool = False,
    arguments: Sequence[str] = (),
    before: LiftedScript | None = None,
    parsed: LiftedScript | None = None,
) -> LiftedScript:
    """Lift a script. `variables` are set before it begins, `arguments` are the words that it is started with;
    `is_fragment` is found out if it is not said. `machine` is where it runs, by default the one that the record of a
    script of nmlgen's names, else one of which nothing is known. To a fragment belongs what ICON's run scripts have
    around it, if `header` says what is known of the variables that the header sets before it. If it `decides`, a way
    has one of several known values wherever only a run knows which, and a variable the value in `variables` where the
    script sets it to what only a run knows. `before` is what it was lifted to when the same was said, but for the
    release and the machine: of the same source it is not worked out again what the script does. `parsed` is what it
    was lifted to when something else was said: how its text was read is taken from there.

    Raises InputError if the file cannot be read.
    """
    files = files or Files()
    source = source or files.read(path)
    known_as = before or parsed
    if known_as is not None and known_as.script.source is source:
        script, readings = known_as.script, known_as.readings
    else:
        script, readings = _parsed(path, source), Readings()
    fragment = _is_fragment(script, path) if is_fragment is None else is_fragment
    ending = _CALLED_ENDING.search(source.text) if fragment and header is not None else None
    if ending is not None:  # it makes the master namelist and starts the model; what stands behind compares results
        source = Source(source.name, source.text[: ending.start()])
        script = parse(source)
    given: dict[str, str | None] = dict(fragment_variables(path.name)) if fragment else {}
    directives = read_directives(source, script.bodies)
    if directives.span is None and "#PBS" in source.text:
        from nmlgen.schedulers.job import pbs_as_job  # few scripts are for PBS

        directives = pbs_as_job(source, script.bodies)
    if fragment:
        given |= header or {}
    given |= slurm_variables(directives) | _exported_by_pbs(source) | dict(variables or {})
    if fragment:
        given |= header_variables({name: text for name, text in given.items() if text is not None})
    is_icons = fragment_name(path.name) is not None and _asks_header(source.text)
    is_open = fragment and not is_icons  # another header than ICON's
    words = tuple(known(word) for word in arguments)
    told = {name: text for name, text in (variables or {}).items() if text is not None} if decides else {}
    if before is not None and before.script is script:
        evaluation, worlds = before.evaluation, before.worlds
    else:
        evaluation = evaluate(
            script, directory=path.parent, variables=given, is_fragment=is_open, arguments=words, answers=told
        )
        worlds = covering_worlds(evaluation, MASTER_FILE)
    ends = header is not None and fragment and not is_open
    header_given = given if ends else None
    lifting = _Lifting(path, registry, ntasks, files, evaluation, directives, machine, header_given, readings)
    made = [lifting.way(*decided(evaluation, world, LIFTED)) if decides else lifting.way(world) for world in worlds]
    ways = tuple(sorted(made, key=_rank))
    home = machine or machine_of(recorded(source.text), "slurm")
    told_by_rules = (MEMORY_TWICE,) if any(way.experiment is not None for way in ways) else ()
    of_sbatch = (problem for problem in _of_sbatch(directives.problems, home) if problem.kind not in told_by_rules)
    problems = [*of_sbatch, *of_text(script.text, directives), *lifting.problems]
    problems += without_effect(script)
    if (directives.span is None or directives.scheduler == "pbs") and "#PBS" in source.text:
        from nmlgen.schedulers.pbs.directives import read_pbs_directives  # few scripts are for PBS

        problems += read_pbs_directives(source, script.bodies)
    if not any(way.experiment is not None for way in ways):
        problems += alone(script)
    return LiftedScript(
        script,
        evaluation,
        worlds,
        fragment,
        ways,
        tuple(_inactive(script, evaluation, registry)),
        tuple(dict.fromkeys(problems)),
        _counted(ways),
        readings,
    )


def _rank(way: Way) -> tuple[bool, bool, bool]:
    """The order of ways: those that start a model stand before others, those with a master namelist, which ICON needs,
    before those that end earlier, a first start before a restart."""
    if way.experiment is None:
        return True, False, False
    master = next((group for group in way.experiment.master if group.name == "master_nml"), None)
    restarts = master.settings.get("lrestart") if master is not None else None
    is_restart = restarts is not None and restarts.certainty is Certainty.WRITTEN and restarts.value is True
    return False, not way.has_master, is_restart


def _of_sbatch(problems: Iterable[SyntaxProblem], machine: Machine | None) -> Iterator[SyntaxProblem]:
    """The problems of directives but those with options that plug-ins of the machine's Slurm bring."""
    known = machine.plugin_options if machine is not None else ()
    for problem in problems:
        if problem.kind != PLUGIN_OPTION or problem.span.text.lstrip("-") not in known:
            yield problem


def fragment_variables(name: str) -> dict[str, str | None]:
    """What ICON's header sets before an experiment's fragment: EXPNAME is the end of the file's name."""
    variables: dict[str, str | None] = dict.fromkeys(HEADER)
    variables["EXPNAME"] = fragment_name(name)
    return variables


def slurm_variables(directives: Directives) -> dict[str, str | None]:
    """What Slurm sets in a job that is submitted with these directives."""
    found: dict[str, str | None] = {}
    for option, names in _SET_BY_SLURM.items():
        setting = directives.settings.get(option) if directives.scheduler == "slurm" else None
        if setting is not None and (setting.certainty is Certainty.UNKNOWN or not _is_range(option, setting.value)):
            text = None if setting.certainty is Certainty.UNKNOWN else str(setting.value)
            found |= dict.fromkeys(names, text)
    return found


def _exported_by_pbs(source: Source) -> dict[str, str]:
    """What `#PBS -v NAME=VALUE,...` sets in a job, by PBS and by NQSV."""
    if "#PBS" not in source.text:
        return {}
    from nmlgen.schedulers.pbs.directives import pbs_directives  # few scripts are for PBS

    given = [option for directive in pbs_directives(source) for option in directive.options()[0]]
    lists = [option.value.text or "" for option in given if option.letter == "v" and option.value is not None]
    pairs = (entry.split("=", 1) for text in lists for entry in text.split(","))
    return {pair[0]: pair[1] for pair in pairs if len(pair) == 2 and _NAME.fullmatch(pair[0])}


def _is_range(option: str, value: Any) -> bool:
    """Whether how many nodes there will be is left to Slurm."""
    return option == "nodes" and type(value) is not int


_SET_BY_SLURM = {
    "nodes": ("SLURM_JOB_NUM_NODES", "SLURM_NNODES"),
    "ntasks": ("SLURM_NTASKS", "SLURM_NPROCS"),
    "ntasks-per-node": ("SLURM_NTASKS_PER_NODE",),
    "cpus-per-task": ("SLURM_CPUS_PER_TASK",),
    "job-name": ("SLURM_JOB_NAME",),
    "partition": ("SLURM_JOB_PARTITION",),
    "account": ("SLURM_JOB_ACCOUNT",),
}
"""The options of sbatch that a variable of the job tells of (sbatch's manual page, output environment variables)."""


_DICTIONARY = re.compile(r"dict\.(?<![\w.-]dict\.)[\w.-]*\w")
"""What ICON's run scripts call a dictionary of names (release 2024.10, `run/dict.*`)."""


class _Lifting:
    """The state of lifting one script."""

    def __init__(
        self,
        path: Path,
        registry: Registry,
        ntasks: int | None,
        files: Files,
        evaluation: Evaluation,
        directives: Directives,
        machine: Machine | None,
        given: Mapping[str, str | None] | None,
        readings: Readings,
    ) -> None:
        self.path, self.registry, self.ntasks, self.files, self.given = path, registry, ntasks, files, given
        self.evaluation, self.directives, self.machine = evaluation, directives, machine
        self.source = evaluation.script.source
        self.problems: list[SyntaxProblem] = []
        self._readings = readings
        self._couplings: dict[Hashable, Coupling] = {}
        self._effort = effort_of_ranks()

    def way(self, world: World, chosen: tuple[tuple[Place, str], ...] = ()) -> Way:
        """The models of one world, and what they are made of."""
        written = {
            name: self._namelist(name, file)
            for name, file in _united(world.files, self._home).items()
            if _holds_groups(file.text, self.registry)
        }
        masters = [name for name, file in written.items() if _is_master(name, file)]
        job = lift_job(world, self.evaluation, self.directives)
        if self.given is not None and job.launch is None and not job.directives.settings:
            job.directives = evolve(job.directives, settings=header_directives(self.given))
        if self.given is not None and job.launch is None and not masters:
            ending = Ending(self.evaluation, world, self.given)
            if (made := ending.master()) is not None:
                written[made.name] = self._namelist(made.name, made)
                masters = [made.name]
                job.bring(ending.grids())
                job.launched = ending.launch(words_in)
                job.launch = read_launch(job.launched)
        self.problems += job.problems
        experiment: Experiment | None = None
        files = list(written.values())
        master = written[masters[-1]] if masters else self._beside(MASTER_FILE, is_master=True)
        if master is not None and not masters and not _is_meant(master, written):
            master = None  # of another experiment
        if master is not None:
            if not masters:
                files.append(master)
            experiment, unread = lift_models(
                master, self.registry, self.ntasks, lambda name: self._model(name, written, world, files)
            )
            files = [with_unread(file, unread) if file is master else file for file in files]
            experiment = self._with_files(experiment, written)
        else:
            components = {name: self._component(name, file) for name, file in written.items()}
            found = [
                (file, components[name])
                for name, file in written.items()
                if components[name] in _MODELS
                or (components[name] == "jsbach" and len(written) == 1)  # it is else a part of an atmosphere
            ]
            if not found:  # groups that several components read
                found = [(file, None) for file in written.values()] if len(written) == 1 else []
            experiment = lift_without_master(found, self.registry, self.ntasks) if found else None
        if experiment is not None:
            experiment = self._with_land(experiment, written)
            experiment = self._with_job(experiment, job, world)
            self.problems += job.late_problems
        self.problems += wrong_sizes(job, experiment)
        makes_all = not self.evaluation.unresolved
        return Way(experiment, tuple(files), _directories(world), makes_all, world, job, master is not None, chosen)

    def _with_job(self, experiment: Experiment, job: Job, world: World) -> Experiment:
        experiment = with_job(experiment, job, self._name(world), self.ntasks, self.machine)
        experiment = self._with_wrapper(experiment, job, world)
        experiment = as_built(experiment, job, world, self.evaluation, machine=self.machine)
        coupling, is_written = self._coupling(experiment, world)
        experiment = evolve(experiment, coupling=coupling)
        if is_written and not coupling.is_open:  # what brings it is no file from elsewhere
            inputs = tuple(file for file in experiment.inputs if file.target != COUPLING_FILE)
            experiment = evolve(experiment, inputs=inputs)
        return evolve(experiment, models=tuple(self._with_dictionary(component) for component in experiment.components))

    def _with_wrapper(self, experiment: Experiment, job: Job, world: World) -> Experiment:
        """The experiment with what the wrapper of its launch, or those of its programs, show each rank."""
        experiment = evolve(experiment, of_ranks=variables_of_ranks(_scripts(world)))
        lines = lines_of(job, experiment)
        programs = programs_of(lines, job, self.path.parent, self.files)
        of_file = [] if lines and lines[0].nodes else programs  # those of parts stand behind colons
        experiment = evolve(experiment, joining=joining(of_file, job), others=others(lines, programs, experiment))
        if not lines and job.launch is not None and "--multi-prog" in options_of(job.launch):
            experiment = evolve(experiment, others=None)  # what each rank starts is not known
        if lines:
            started = in_all_parts(experiment, lines)
            experiment = started if started.dealt else experiment
            found = of_programs(programs, started, self._effort)
            job.late_problems += found.problems
            if not any(
                problem.kind in ("programs-unlike-models", "parts-out-of-order") for problem in job.late_problems
            ):
                job.late_problems += across_models(lines, programs, started)
            beside = [one.wrapper.script.text for one in programs if one.wrapper is not None and one.wrapper.is_beside]
            experiment = evolve(
                experiment,
                shown=found.shown,
                on_processors=on_processors(programs, job),
                of_ranks={**experiment.of_ranks, **variables_of_ranks(beside)},
            )
            return _on_gpus(experiment, found.models, lines[0].word.span, is_all=True)
        wrapper = wrapper_of(job, self.path.parent, self.files)
        if wrapper is None:
            everything = [rank for node in followed(experiment) for rank in node.ranks] if starts_model(job) else []
            experiment = evolve(experiment, shown=dict.fromkeys(everything))
            return self._with_build(experiment, job, ())
        made = starts(wrapper, experiment, self._effort)
        is_srun = experiment.launch.command.value == "srun"
        job.late_problems += problems_of_wrapper(wrapper, made, is_srun=is_srun)
        shown = gpus_shown(wrapper, made)
        variables = variables_of_ranks([wrapper.script.text] if wrapper.is_beside else [])
        experiment = evolve(experiment, shown=shown, of_ranks={**experiment.of_ranks, **variables})
        return self._with_build(experiment, job, models_of(shown, experiment))

    @staticmethod
    def _with_build(experiment: Experiment, job: Job, on_gpus: Collection[int]) -> Experiment:
        """The experiment whose models of these numbers are for GPUs, or its only one, if what it asks for tells so."""
        span = experiment.launch.command.span
        numbers = on_gpus or ((0,) if gives_gpus(job, experiment) else ())
        return _on_gpus(experiment, numbers, span, is_all=False)

    def _with_dictionary(self, component: Component) -> Model:
        """A model with the dictionary of names for its output, if a file that is called so lies beside the script."""
        setting = component["io_nml", "output_nml_dict"]
        if not setting.is_written:
            return component.model
        name = _last_name(setting)
        source = next((file.source for file in component.experiment.inputs if name and file.target == name), None)
        name = name if source is None else _last_name(source)
        if not (name and disk.is_file(self.path.parent / name)):  # made of another one
            name = self._dictionaries[0] if len(self._dictionaries) == 1 else ""
        if not name or not disk.is_file(self.path.parent / name):
            return component.model
        return evolve(component.model, dictionary=self.files.read(self.path.parent / name).text)

    @cached_property
    def _dictionaries(self) -> list[str]:
        """The dictionaries of names that the script speaks of and that lie beside it."""
        named = set(_DICTIONARY.findall(self.source.text))
        return [name for name in sorted(named) if disk.is_file(self.path.parent / name)]

    def _coupling(self, experiment: Experiment, world: World) -> tuple[Coupling, bool]:
        """The coupling.yaml that the script writes, under this name or the one that it copies or links it from, else
        the one beside it; and whether the script writes it."""
        sources = [file.source for file in experiment.inputs if file.target.rpartition("/")[2] == COUPLING_FILE]
        known = [str(source.value) for source in sources if source.certainty is not Certainty.UNKNOWN]
        written = list(_united(world.files, self._home).items())
        names = [COUPLING_FILE, *(PurePosixPath(path).name for path in known)]
        if sources and not known:  # relative to a directory that only a run knows
            left = [name for name, _ in written if _COUPLING_NAME.fullmatch(name.rpartition("/")[2])]
            names += [name.rpartition("/")[2] for name in left] if len(left) == 1 else []
        for name, file in reversed(written):
            if name.rpartition("/")[2] in names:
                key = file.origin.identity(0, len(file.text))
                if key not in self._couplings:
                    self._couplings[key] = read_coupling(_WrittenSource(self.source.name, file.text, file.origin))
                return self._couplings[key], True
        beside = coupling_beside(self.path, self.files, PurePosixPath(known[-1] if known else COUPLING_FILE).name)
        return beside or UNKNOWN_COUPLING, False

    @property
    def _home(self) -> str:
        """Where a fragment of ICON's run scripts starts: in `run` of the directory that its header calls basedir."""
        base = (self.given or {}).get("basedir")
        return UNKNOWN if base is None else f"{base}/run"

    def _name(self, world: World) -> str:
        """What the script calls its experiment: EXPNAME, else its own name."""
        found = self.evaluation.final.get("EXPNAME")
        text = text_of(within(found.value, world.guard)) if found is not None else None
        return text or fragment_name(self.path.name) or self.path.stem

    def _with_files(self, experiment: Experiment, written: Mapping[str, NamelistFile]) -> Experiment:
        """The experiment; in place of models whose namelist only a run knows one for each namelist that is left."""
        named = {
            str(setting.value).strip().rpartition("/")[2]
            for model in experiment.models
            if (setting := model.entry.settings.get(_FILE_NAME)) is not None
            and setting.certainty is not Certainty.UNKNOWN
        }
        left = {name: file for name, file in written.items() if not _is_master(name, file)}
        left = {name: file for name, file in left.items() if name.rpartition("/")[2] not in named}
        used = [model.namelist for model in experiment.models]
        left = {name: file for name, file in left.items() if not any(file.groups is groups for groups in used)}
        master, models = list(experiment.master), list[Model]()
        for component in experiment.components:
            model, setting = component.model, component[MODEL_GROUP, _FILE_NAME]
            if setting.certainty is not Certainty.UNKNOWN or model.namelist or not left:
                models.append(model)
                continue
            entries = [unknown_entry(self.registry, self._component(name, file)) for name, file in left.items()]
            master = [group for group in master if group is not model.entry] + entries
            models += [Model(e, file.groups, is_open=True) for e, file in zip(entries, left.values(), strict=True)]
            left = {}
        return evolve(experiment, master=tuple(master), models=tuple(models))

    def _with_land(self, experiment: Experiment, written: Mapping[str, NamelistFile]) -> Experiment:
        """The experiment with JSBACH's namelist in its atmosphere, where the script writes one and the name that the
        master namelist gives it is not known."""
        hosts = [number for number, model in enumerate(experiment.models) if type_of(model) in (1, None)]
        used = [model.namelist for model in experiment.models]
        files = [
            file
            for name, file in written.items()
            if not _is_master(name, file)
            and self._component(name, file) == "jsbach"
            and not any(file.groups is groups for groups in used)
        ]
        if len(files) != 1 or len(hosts) != 1 or any(model.land for model in experiment.models):
            return experiment
        models = list(experiment.models)
        models[hosts[0]] = evolve(models[hosts[0]], land=files[0].groups)
        return evolve(experiment, models=tuple(models))

    def _namelist(self, name: str, file: WrittenFile) -> NamelistFile:
        document = self._readings.document(self.source, file.origin)
        is_master = name.rpartition("/")[2] == MASTER_FILE or any(g.name == "master_model_nml" for g in document.groups)
        return lift_document(document, self.registry, is_master=is_master, readings=self._readings)

    def _model(
        self, name: str, written: Mapping[str, NamelistFile], world: World, files: list[NamelistFile]
    ) -> NamelistFile | None:
        """The namelist file that a master means: the last one of that name that was written, else one beside the
        script, if the script does not make it in another way."""
        base = name.rpartition("/")[2]
        others = [path for path in written if not _is_master(path, written[path])]
        found = [path for path in others if path == name or path.rpartition("/")[2] == base]
        if not found and base == UNKNOWN:
            found = others if len(others) == 1 else []
        if found:
            return written[found[-1]]
        made = [
            path
            for path, file in world.files.items()
            if path.rpartition("/")[2] == base and UNKNOWN in file.text and not _is_copy(file, base)
        ]
        if made:  # by a program whose output nobody knows
            return self._namelist(made[-1], world.files[made[-1]])
        beside = self._beside(base, is_master=False)
        if beside is not None:
            files.append(beside)
        return beside

    def _beside(self, name: str, *, is_master: bool) -> NamelistFile | None:
        path = self.path.parent / name
        try:
            if not disk.is_file(path) or disk.resolved(path) == disk.resolved(self.path):
                return None
            return read_namelist(path, self.registry, is_master=is_master, files=self.files)
        except UnreadableError:
            raise
        except (InputError, OSError):
            return None

    def _component(self, path: str, file: NamelistFile) -> str | None:
        """Which component reads a namelist file: by the variable that names it, else by the groups in it."""
        name = path.rpartition("/")[2]
        return self._named[name] if name in self._named else reader_of(name, file.groups, self.registry)

    @cached_property
    def _named(self) -> dict[str, str | None]:
        """The components whose namelists variables name, by the names of the files."""
        found: dict[str, str | None] = {}
        for variable, value in self.evaluation.final.items():
            match = _NAMELIST_VARIABLE.match(variable)
            for case in value.value if match else ():
                if match and (name := case.text.rpartition("/")[2]):
                    found.setdefault(name, NAMED[match[1]])
        return found


def _last_name(setting: Setting) -> str:
    """The last part of a path, by the text that stands for it where the shell decides the rest; empty if not known."""
    if setting.certainty is Certainty.UNKNOWN:
        text = setting.span.text if setting.span is not None else ""
    else:
        text = str(setting.value)
    name = text.strip("'\" ").rpartition("/")[2]
    return "" if "$" in name or "`" in name else name


@frozen(slots=False, eq=False)
class _WrittenSource(Source):
    """The text of a file that a script writes: a place in it is one in the script."""

    origin: WrittenText

    def span(self, line: int, column: int, length: int = 1) -> Span:
        start = self.line_starts[line - 1] + column - 1
        place = self.origin.place(start, start + length)
        return place.text.span(place.start, place.end)


_MODELS = ("atmosphere", "ocean", "waves")
_NAMELIST_VARIABLE = re.compile(r"(at|oc|la|ln|js|wa|te|ha)[a-z]*_namelist\Z")
"""The variables in which ICON's run scripts name a component's namelist (release 2024.10, `run/exec.iconrun`)."""


def _united(files: Mapping[str, WrittenFile], home: str = UNKNOWN) -> Mapping[str, WrittenFile]:
    """The files that a world writes. Of two with the same name, one of them in a directory that is not known or in the
    script's `home`, the other without one, the second is the rest of the first: scripts write in the directory they
    start in."""
    found = dict(files)
    names = sorted(files)
    for name, file in files.items():
        if name not in found:
            continue  # the rest of another
        directory, _, base = name.rpartition("/")
        rest = found.get(base)
        is_home = UNKNOWN in directory or (directory == home and name != base)
        if is_home and rest is not None:
            found[name] = evolve(file, stretches=(*file.stretches, *rest.stretches))
            del found[base]
        elif UNKNOWN in name and any(
            other in found and found[other].stretches == file.stretches for other in _below(name, names)
        ):
            del found[name]  # what a file was moved to turned out to be a directory, or may be one
    return found


def _below(directory: str, names: list[str]) -> Iterator[str]:
    """Those of some sorted names that lie in a directory."""
    beginning = f"{directory}/"
    there = map(names.__getitem__, range(bisect_left(names, beginning), len(names)))
    yield from takewhile(lambda name: name.startswith(beginning), there)


def _holds_groups(text: str, registry: Registry) -> bool:
    return any(registry.has_group(match[1]) for match in _GROUP.finditer(text))


def _is_meant(master: NamelistFile, written: Iterable[str]) -> bool:
    """Whether a master namelist that lies beside a script starts a model with one of the namelists that this writes."""
    names = {name.rpartition("/")[2] for name in written}
    settings = [group.settings.get(_FILE_NAME) for group in master.groups if group.name == MODEL_GROUP]
    named = [setting for setting in settings if setting is not None and setting.certainty is not Certainty.UNKNOWN]
    return not names or any(str(setting.value).strip().rpartition("/")[2] in names for setting in named)


def _is_master(name: str, file: NamelistFile) -> bool:
    if name.rpartition("/")[2] == MASTER_FILE:
        return True
    return any(group.name == "master_model_nml" for group in file.groups)


def _directories(world: World) -> frozenset[str]:
    """The directories that a world makes; UNKNOWN among them stands for those whose names are not known."""
    found: set[str] = set()
    for event in world.programs:
        words = [text_of(within(item.value, world.guard)) for item in event.words]
        if words and words[0] in ("mkdir", "install"):
            found.update(word.rstrip("/") for word in words[1:] if word is not None and not word.startswith("-"))
            if any(word is None for word in words[1:]):
                found.add(UNKNOWN)
    return frozenset(found)


# --- What is known of the values ---


def _counted(ways: Iterable[Way]) -> ValueCounts:
    """How many values of namelists hold an expansion, and what is known of them: the best that a way knows."""
    kinds: dict[tuple[int, int, int], str] = {}
    for way in ways:
        for file in way.files:
            origin = file.document.origin
            if not isinstance(origin, WrittenText):
                continue
            for value, kind in _expanded(file.document, origin):
                place = origin.place(value.start, value.end)
                key = (id(place.text), place.start, place.end)
                if key not in kinds or _KNOWN.index(kind) < _KNOWN.index(kinds[key]):
                    kinds[key] = kind
    found = list(kinds.values())
    return ValueCounts(len(found), *map(found.count, _KNOWN))


_KNOWN = ("certain", "set", "unknown")
"""How well the text of an expansion is known, the best first."""


def _expanded(document: Document, origin: WrittenText) -> Iterator[tuple[Value, str]]:
    """The values of a document with text from expansions, and what is known of the least known of these."""
    expansions = origin.expansions()
    if not expansions:
        return
    items = (item for group in document.groups for item in group.items)
    values = [value for item in items for value in item.values if value.end > value.start]
    starts = [value.start for value in values]
    worst: dict[int, str] = {}
    for start, end, kind in expansions:
        for number in range(max(0, bisect_right(starts, start) - 1), bisect_left(starts, end)):
            if values[number].end > start and (number not in worst or _KNOWN.index(worst[number]) < _KNOWN.index(kind)):
                worst[number] = kind
    yield from ((values[number], kind) for number, kind in worst.items())


# --- What no way comes to ---


def _inactive(script: Script, evaluation: Evaluation, registry: Registry) -> Iterator[Document]:
    for redirection in script.heredocs:
        if (redirection.start, redirection.end) in evaluation.visited or redirection.heredoc is None:
            continue
        file = WrittenFile("", tuple(_blank_stretches(script, redirection)), script.source)
        if _holds_groups(file.text, registry):
            yield read(script.source, file.origin)


def _blank_stretches(script: Script, redirection: Redirection) -> Iterator[Stretch]:
    assert redirection.heredoc is not None
    for part in redirection.heredoc.body.parts:
        place = Place(script.text, part.start, part.end)
        if isinstance(part, Literal):
            yield Stretch(part.text, Piece(place, known(part.text), False), "literal")
        else:
            yield Stretch(UNKNOWN, Piece(place, unknown_value(("inactive", part.start)), True), "unknown")


def _is_copy(file: WrittenFile, base: str) -> bool:
    """Whether all that is known of a file is that it is a copy of another one of its name, such as that beside."""
    symbols = [symbol for piece in file.stretches for one in piece.piece.value for symbol in one.symbols]
    return len(file.stretches) == 1 and any(
        isinstance(symbol, tuple) and symbol[0] == "file" and symbol[1][0].rpartition("/")[2] == base
        for symbol in symbols
    )
