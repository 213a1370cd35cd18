"""What one way of a script asks of the machine: directives, environment, striping, the launch of the model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from attrs import define, evolve, field

from nmlgen.experiment.experiment import Darshan, Experiment, Mpi, Striping
from nmlgen.experiment.mpi_io import INTEL_FILE_SYSTEM_VARIABLES
from nmlgen.experiment.output import output_directories
from nmlgen.experiment.setting import Certainty, Origin, Setting, UndecidedError, unknown
from nmlgen.namelist.syntax import SyntaxProblem
from nmlgen.script.directives import Directives
from nmlgen.script.evaluate import Evaluation
from nmlgen.script.events import Field
from nmlgen.script.launch import LaunchCommand, read_launch
from nmlgen.script.options import StaticWord
from nmlgen.script.setstripe import Setstripe, read_setstripe
from nmlgen.script.state import Variable
from nmlgen.script.values import Guard, text_of, within
from nmlgen.script.worlds import World
from nmlgen.source import UNKNOWN

LAYER = "script"
_DARSHAN = re.compile(r"\S*libdarshan\S*\.so\S*")


@define(eq=False)
class Job:
    """What a way of a script asks of the machine; `problems` is what lfs and the launcher refuse."""

    directives: Directives
    striping: list[Setstripe] = field(factory=list)
    modules: list[Setting] = field(factory=list)
    launch: LaunchCommand | None = None
    environment: dict[str, Setting] = field(factory=dict)
    problems: list[SyntaxProblem] = field(factory=list)


def lift_job(world: World, evaluation: Evaluation, directives: Directives) -> Job:
    """The job of one world of a script."""
    job = Job(directives)
    for event in world.programs:
        words = [_word(item, world.guard) for item in event.words]
        setstripe = read_setstripe(words)
        if setstripe is not None:
            job.striping.append(setstripe)
            job.problems += setstripe.problems
            continue
        if words and words[0].text == "module" and len(words) > 2 and words[1].text in ("load", "add"):
            job.modules += [_setting("modules", word) for word in words[2:]]
            continue
        launch = read_launch(words)
        if launch is not None and launch.executable is not None and _may_be_icon(launch):
            if job.launch is None or _is_icon(launch):
                job.launch = launch
                job.environment = _environment(event.environment, world.guard) | dict(launch.environment)
            job.problems += launch.problems
    if not job.environment:
        job.environment = _environment(evaluation.final, world.guard)
    return job


def with_job(experiment: Experiment, job: Job, name: str, ntasks: int | None) -> Experiment:
    """The experiment of a namelist, run by a job. `ntasks` holds where the job does not say how many tasks there are."""
    directives = dict(job.directives.settings)
    launch = experiment.launch
    if job.launch is not None:
        launch = evolve(job.launch.launch, tasks=job.launch.ntasks or _product(job.launch))
    if ntasks is not None or (not directives and launch.tasks is None):
        directives.setdefault("ntasks", experiment.directives["ntasks"])
    environment, darshan = _darshan(job.environment)
    mpi, environment = _mpi(environment, job.modules)
    executable = experiment.executable
    if job.launch is not None and job.launch.executable is not None:
        executable = _setting("model.executable", job.launch.executable)
    return evolve(
        experiment,
        name=name,
        directives=directives,
        directives_span=job.directives.span,
        launch=launch,
        environment=environment,
        darshan=darshan,
        mpi=mpi,
        modules=tuple(job.modules),
        executable=executable,
        striping=_striping(job.striping, experiment),
    )


def _word(item: Field, guard: Guard) -> StaticWord:
    place = item.place
    span = place.text.span(place.start, place.end)
    value = within(item.value, guard)
    text = text_of(value)
    beginning = value[0].text.partition(UNKNOWN)[0] if len(value) == 1 else ""
    return StaticWord(text, span, beginning, splits=item.is_vague)


def _setting(name: str, word: StaticWord) -> Setting:
    if word.text is None:
        return unknown(name, word.span)
    return Setting(name, (Origin(LAYER, word.text, word.span),))


def _environment(variables: Mapping[str, Variable], guard: Guard) -> dict[str, Setting]:
    found: dict[str, Setting] = {}
    for name, variable in variables.items():
        if "x" in variable.attributes and variable.elements is None:
            value = within(variable.value, guard)
            place = value[0].origin
            span = place.text.span(place.start, place.end) if place is not None else None
            text = text_of(value)
            full = f"environment.{name}"
            if value[0].is_set is False:
                continue
            found[name] = unknown(full, span) if text is None else Setting(full, (Origin(LAYER, text, span),))
    return found


def _may_be_icon(launch: LaunchCommand) -> bool:
    """Whether the program that is launched may be the model, rather than a helper."""
    word = launch.executable
    return word is not None and (word.text is None or not _HELPER.match(word.text.rpartition("/")[2]))


_HELPER = re.compile(
    r"(?:hostname|echo|true|date|cp|mv|rm|ls|dsync|dcp|drm|cdo|ncdump|python3?|bash|sh|sleep|uptime)\Z"
)


def _is_icon(launch: LaunchCommand) -> bool:
    word = launch.executable
    return word is not None and word.text is not None and "icon" in word.text.rpartition("/")[2].lower()


def _product(launch: LaunchCommand) -> Setting | None:
    """The tasks of a launch by its nodes and the tasks on each."""
    nodes, each = launch.nodes, launch.tasks_per_node
    if nodes is None or each is None:
        return None
    if Certainty.UNKNOWN in (nodes.certainty, each.certainty):
        return Setting("ntasks", nodes.history, Certainty.UNKNOWN)
    try:
        count = int(nodes.value) * int(each.value)
    except (TypeError, ValueError):
        return Setting("ntasks", nodes.history, Certainty.UNKNOWN)
    return Setting("ntasks", (Origin(LAYER, count, each.span),))


def _darshan(environment: dict[str, Setting]) -> tuple[dict[str, Setting], Darshan | None]:
    """Darshan, where its library is preloaded; its variables with it."""
    preload = environment.get("LD_PRELOAD")
    if preload is None or preload.certainty is Certainty.UNKNOWN:
        return environment, None
    match = _DARSHAN.search(str(preload.value))
    if match is None:
        return environment, None
    library = Setting("darshan.library", (Origin(LAYER, match[0], preload.span),))
    own = {name: setting for name, setting in environment.items() if name.startswith("DARSHAN_")}
    rest = {name: setting for name, setting in environment.items() if name not in own and name != "LD_PRELOAD"}
    return rest, Darshan(preload.span, library, own)


_INTEL_MODULE = re.compile(r"(?:intel-?oneapi-?mpi|intel-?mpi|impi)[^/]*/(?P<version>\d+(?:\.\d+)*)", re.IGNORECASE)
_OPENMPI_MODULE = re.compile(r"openmpi[^/]*/(?P<version>\d+(?:\.\d+)*)", re.IGNORECASE)


def _mpi(environment: dict[str, Setting], modules: Iterable[Setting]) -> tuple[Mpi, dict[str, Setting]]:
    """The MPI library, as far as the modules or its variables tell it."""
    lustre = {name: setting for name, setting in environment.items() if name in INTEL_FILE_SYSTEM_VARIABLES}
    rest = {name: setting for name, setting in environment.items() if name not in lustre}
    for module in modules:
        if module.certainty is Certainty.UNKNOWN:
            continue
        for implementation, pattern in (("intel", _INTEL_MODULE), ("openmpi", _OPENMPI_MODULE)):
            match = pattern.search(str(module.value))
            if match is not None:
                name = Setting("mpi.implementation", (Origin(LAYER, implementation, module.span),))
                version = Setting("mpi.version", (Origin(LAYER, match["version"], module.span),))
                return Mpi(name, version, {}, lustre), rest
    for prefix, implementation in (("I_MPI_", "intel"), ("OMPI_MCA_", "openmpi")):
        named = next((setting for name, setting in environment.items() if name.startswith(prefix)), None)
        if named is not None:
            name = Setting("mpi.implementation", (Origin(LAYER, implementation, named.span),))
            return Mpi(name, None, {}, lustre), rest
    return Mpi(None, None, {}, lustre), rest


def _striping(calls: Iterable[Setstripe], experiment: Experiment) -> tuple[Striping, ...]:
    """`lfs setstripe` by what is written to the directories: output, where a stream goes there, else restart."""
    outputs: set[str] = set()
    try:
        outputs = {directory.rstrip("/") for directory in output_directories(experiment.namelist)}
    except UndecidedError:  # a name that only the running shell knows
        outputs = set()
    found: list[Striping] = []
    for call in calls:
        if call.deletes or not call.is_complete:
            continue
        names = tuple(word.text for word in call.directories if word.text is not None)
        if not names:
            continue
        is_output = any(name.rstrip("/") in outputs or name in (".", "./") for name in names) or not outputs
        found.append(Striping("output" if is_output else "restart", names, call.settings))
    return tuple(found)
