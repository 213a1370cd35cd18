"""What a batch script says only to those who know how nmlgen writes one: in its record, its variables, its order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Any

from nmlgen import disk
from nmlgen.errors import SpecError
from nmlgen.experiment.chain import KEYS, NUMBERS, START_MODELS, SWITCHES
from nmlgen.experiment.experiment import Darshan, Experiment, InputFile, Launch, NodeLocalRun
from nmlgen.experiment.group import as_list
from nmlgen.experiment.machine import Machine
from nmlgen.experiment.mpi_io import INTEL_FILE_SYSTEM_VARIABLES
from nmlgen.experiment.programs import NUMBERS as PROGRAM_NUMBERS
from nmlgen.experiment.programs import programs_from
from nmlgen.experiment.record import COPY_WHILE_RUNNING, PARTS, cells_key, grid_key, recorded, said_of_nodes
from nmlgen.experiment.setting import Certainty, Setting, UndecidedError, written
from nmlgen.experiment.striping import Striping
from nmlgen.lift.jobs import Job, beginning_at, beginnings, darshan_of
from nmlgen.models.icon.output import output_directories
from nmlgen.models.icon.placement import task_count
from nmlgen.script.evaluate import Evaluation
from nmlgen.script.launch import LAYER
from nmlgen.script.setstripe import Setstripe
from nmlgen.script.state import in_order
from nmlgen.script.values import Value, text_of, within
from nmlgen.script.worlds import World
from nmlgen.source import Source, Span
from nmlgen.spec.site import read_site_of, with_nodes
from nmlgen.units.wall_time import parse_wall_time
from nmlgen.units.whole import decimal
from nmlgen.values import evolve

_RECORD = "# nmlgen: "
_ON_LUSTRE = INTEL_FILE_SYSTEM_VARIABLES | {"OMPI_MCA_io"}
_PRELOAD = "LD_PRELOAD="
_CLOCK = re.compile(r"^  sleep (\d{1,9}) &\n  wait \"\$!\" && kill -USR1 ", re.MULTILINE)
_DARSHAN_FILES = ("DARSHAN_LOGFILE", "DARSHAN_CONFIG_PATH")


def machine_of(known: Mapping[str, str], scheduler: str) -> Machine | None:
    """The machine that a record names; of a site file that lies elsewhere now no more than the name. None without."""
    if "site" not in known:
        return None
    with suppress(SpecError):
        return _machine_named(known["site"])
    return Machine(name=known["site"], scheduler=scheduler)


def _machine_named(reference: str) -> Machine:
    """The machine of a site; one that ships with nmlgen is read once. Raises SpecError if there is none."""
    if reference.startswith((".", "/")):
        return read_site_of(reference, Path()).machine
    return _shipped_machine(reference)


@cache
def _shipped_machine(name: str) -> Machine:
    return read_site_of(name, Path()).machine


def with_record(experiment: Experiment, source: Source) -> Experiment:
    """The experiment with what the record in a script's text says."""
    known = recorded(source.text)
    line = next((number for number, text in enumerate(source.lines, start=1) if text.startswith(_RECORD)), 1)
    span = source.span(line, 1, len(source.line(line)))

    def setting(key: str) -> Setting | None:
        return written(key, known[key], "record", span) if key in known else None

    def cells(key: str) -> Setting | None:
        numbers = [number for word in known.get(key, "").split(",") if (number := decimal(word)) is not None]
        return written(key, numbers if len(numbers) > 1 else numbers[0], "record", span) if numbers else None

    kind = setting("node_local.file_system")
    node_local = None
    if kind is not None:
        switch = setting(COPY_WHILE_RUNNING)
        node_local = NodeLocalRun(
            kind,
            setting("node_local.directory"),
            setting("node_local.constraint"),
            switch and written(switch.name, switch.value == "True", "record", span),
        )
    return evolve(
        experiment,
        models=tuple(
            evolve(one.model, grid_name=setting(grid_key(one)), cells=cells(cells_key(one)))
            for one in experiment.components
        ),
        mpi=evolve(experiment.mpi, implementation=setting("mpi.implementation"), version=setting("mpi.version")),
        node_local=node_local,
        chain=dict(_chain(known, span)),
        parts={
            key.removeprefix(PARTS): written(key, value == "True", "record", span)
            for key, value in known.items()
            if key.startswith(PARTS)
        },
        programs=programs_from({key: _of_program(key, value, span) for key, value in known.items()}),
    )


def _of_program(key: str, value: str, span: Span) -> Setting:
    """What a record says of a program, as a spec has it."""
    name = key.rpartition(".")[2]
    is_number = ".environment." not in key and name in (*PROGRAM_NUMBERS, "gpus-per-node")
    number = decimal(value) if is_number else None
    is_switch = name == "exclusive" and value in ("True", "False")
    return written(key, number if number is not None else value == "True" if is_switch else value, "record", span)


def _chain(known: Mapping[str, str], span: Span) -> Iterator[tuple[str, Setting]]:
    """What a record says of the chain of jobs."""
    for key, value in known.items():
        if key in KEYS or key.startswith(START_MODELS):
            yield key, written(key, _of_chain(key, value), "record", span)


def _of_chain(key: str, value: str) -> int | bool | str:
    """The value of a key as a spec has it."""
    if key in NUMBERS and (number := decimal(value)) is not None:
        return number
    return value == "True" if key in SWITCHES and value in ("True", "False") else value


def as_built(
    experiment: Experiment, job: Job, world: World, evaluation: Evaluation, *, machine: Machine | None = None
) -> Experiment:
    """The experiment of a script that nmlgen wrote; the same as it was if somebody else did."""
    source = evaluation.script.source
    known = recorded(source.text)
    if not known:
        return experiment
    shell = _Shell(world, evaluation)
    darshan, environment = _environment(job, shell)
    executable = evaluation.final.get("executable")
    experiment = with_record(_of_point(experiment, source), source)
    programs = experiment.programs
    machine = machine or machine_of(known, experiment.machine.scheduler)
    if machine is not None:
        machine = with_nodes(machine, said_of_nodes(known))
    built = evolve(
        experiment,
        name=shell.text("name") or experiment.name,
        directives=_directives(_of_first_part(experiment, job), machine, source.text),
        machine=machine or experiment.machine,
        others=0,
        executable=shell.first_path("model.executable", "executables")
        or (shell.path("model.executable", executable.value) if executable else None)
        or experiment.executable,
        run_directory=_run_directory(world, shell) or experiment.run_directory,
        inputs=_inputs(experiment),
        knows_inputs=True,
        environment=environment,
        mpi=evolve(experiment.mpi, lustre_variables=_lustre_variables(job)),
        darshan=darshan,
        launch=_launch(experiment, shell),
        striping=tuple(_striping(experiment, job, known)) or experiment.striping,
        node_local=_with_commands(experiment.node_local, shell),
    )
    return _placed(built) if programs else built


def _placed(experiment: Experiment) -> Experiment:
    """The experiment of a script that places ranks: its tasks are those of the models alone."""
    tasks = experiment.launch.tasks
    if tasks is None:
        return experiment
    maxima = [model.entry.settings.get("model_max_rank") for model in experiment.models]
    if len(maxima) > 1 and None not in maxima:
        count = 1 + max(int(setting.value) for setting in maxima if setting is not None)
    else:
        others = [number for number, program in enumerate(experiment.programs) if program.model is None]
        count = int(tasks.value) - sum(task_count(experiment, number) for number in others)
    counted = written("ntasks", count, LAYER, tasks.span)
    return evolve(experiment, launch=evolve(experiment.launch, tasks=counted))


def _with_commands(node_local: NodeLocalRun | None, shell: _Shell) -> NodeLocalRun | None:
    """With the commands that the script runs before stage-out."""
    name = "before_stage_out"
    commands = [written(f"node_local.{name}", text, LAYER, span) for text, span in shell.elements(name)]
    return node_local and evolve(node_local, before_stage_out=tuple(commands))


def _of_point(experiment: Experiment, source: Source) -> Experiment:
    """The experiment with a point's name, whose script is a link to one that several points have, instead of the
    sweep's: that of its directory."""
    script = Path(source.name)
    if not disk.is_link(script):
        return experiment
    name, directives = script.absolute().parent.name, dict(experiment.directives)
    job_name = directives.get("job-name")
    if job_name is not None and job_name.value == script.stem:
        directives["job-name"] = written(job_name.name, name, LAYER, job_name.origin.span)
    return evolve(experiment, name=name, directives=directives)


class _Shell:
    """The variables of the script at its end, of which those that tell of the spec do not change."""

    def __init__(self, world: World, evaluation: Evaluation) -> None:
        self.guard = world.guard
        self.variables = evaluation.final
        self.beginnings = beginnings(evaluation, world.guard)

    def text(self, name: str) -> str | None:
        found = self.variables.get(name)
        return text_of(within(found.value, self.guard)) if found is not None else None

    def path(self, name: str, value: Value) -> Setting | None:
        """A path; a relative one starts from where the script lies."""
        path = beginning_at(value, self.guard, self.beginnings)
        return None if path is None else written(name, path, LAYER, _span(value))

    def first_path(self, name: str, variable: str) -> Setting | None:
        """The path that is the first element of an array."""
        found = self.variables.get(variable)
        if found is None or not found.elements:
            return None
        return self.path(name, found.elements[in_order(found)[0]])

    def elements(self, name: str) -> list[tuple[str, Span | None]]:
        """The words of an array, up to the first that is not known."""
        found = self.variables.get(name)
        if found is None or found.elements is None:
            return []
        values = [found.elements[key] for key in in_order(found)]
        texts = [(text_of(within(value, self.guard)), _span(value)) for value in values]
        return [(text, span) for text, span in takewhile(lambda word: word[0] is not None, texts) if text is not None]


def _span(value: Value) -> Span | None:
    place = value[0].origin
    return place.text.span(place.start, place.end) if place is not None else None


def _run_directory(world: World, shell: _Shell) -> Setting | None:
    """What is made for the run: the first directory, as later `run` is what the shell calls it."""
    for event in world.programs:
        if text_of(within(event.words[0].value, world.guard)) == "mkdir" and len(event.words) > 1:
            return shell.path("run_directory", event.words[-1].value)
    return None


def _inputs(experiment: Experiment) -> tuple[InputFile, ...]:
    """The first is the grid, unless a namelist has its path: there nothing brings it."""
    inputs = experiment.inputs
    settings = [component["grid_nml", "dynamics_grid_filename"] for component in experiment.components]
    named = [as_list(setting.value) for setting in settings if setting.certainty is not Certainty.UNKNOWN]
    if not inputs or (len(settings) == 1 == len(named) == len(named[0]) and str(named[0][0]).startswith("/")):
        return inputs
    return (evolve(inputs[0], source=evolve(inputs[0].source, name="grid.file")), *inputs[1:])


def _environment(job: Job, shell: _Shell) -> tuple[Darshan | None, dict[str, Setting]]:
    """Darshan and the environment, without what the script sets by itself: what is for Lustre only, the way to Intel
    MPI's drivers, the file of hints, where Darshan finds its settings. Whatever is preloaded into the model, and into
    nothing else, is Darshan."""
    environment = {name: setting for name, setting in job.environment.items() if name not in job.depending}
    for own in ("ROMIO_HINTS", "NMLGEN_CLAIM", "NMLGEN_HERE"):
        environment.pop(own, None)
    preload = next(((text, span) for text, span in shell.elements("model") if text.startswith(_PRELOAD)), None)
    if preload is None:
        return None, _decided(environment, "LD_LIBRARY_PATH")
    library = written("darshan.library", preload[0].removeprefix(_PRELOAD), LAYER, preload[1])
    stand_in = written("environment.LD_PRELOAD", "libdarshan.so", LAYER, preload[1])
    darshan, environment = darshan_of({**environment, "LD_PRELOAD": stand_in}, job.named)
    assert darshan is not None
    return evolve(darshan, library=library), _decided(environment, "LD_LIBRARY_PATH", *_DARSHAN_FILES)


def _directives(experiment: Experiment, machine: Machine | None, text: str) -> dict[str, Setting]:
    """The directives as they stand there, and the signal that a script gives itself. A node-local file system asks for
    whole nodes, unless the spec does not want them."""
    found = {name: _as_written(setting) for name, setting in experiment.directives.items()}
    kind = experiment.node_local.kind.value if experiment.node_local is not None else None
    facts = machine.node_local.get(kind) if machine is not None and kind is not None else None
    if "time" in found and (clock := _CLOCK.search(text)) is not None:
        lead = parse_wall_time(str(found["time"].value)) - int(clock[1])
        found["signal"] = written("job.signal", f"B:USR1@{lead}", LAYER, found["time"].origin.span)
    if facts is not None and facts.exclusive and "exclusive" not in found:
        found["exclusive"] = written("job.exclusive", False, LAYER, experiment.directives_span)
    return found


def _of_first_part(experiment: Experiment, job: Job) -> Experiment:
    """Of a heterogeneous job the directives are those of its first part; the record says those of the others."""
    parts = job.directives.parts
    return evolve(experiment, directives={**parts[0]}) if parts else experiment


def _as_written(directive: Setting) -> Setting:
    """What looks like a place for somebody to fill in is none in a script that was built."""
    is_text = isinstance(directive.origin.value, str)
    return evolve(directive, certainty=Certainty.WRITTEN) if is_text else directive


def _decided(environment: Mapping[str, Setting], *names: str) -> dict[str, Setting]:
    """The variables without those of these names that only a run knows."""
    return {
        name: setting
        for name, setting in environment.items()
        if name not in names or setting.certainty is not Certainty.UNKNOWN
    }


def _lustre_variables(job: Job) -> dict[str, Setting]:
    return {name: setting for name, setting in job.depending.items() if name in _ON_LUSTRE}


def _launch(experiment: Experiment, shell: _Shell) -> Launch:
    """The launcher; its first options are those that say the number of tasks."""
    words = shell.elements("launch")
    if not words:
        return experiment.launch
    (command, at), *options = words
    if command == "srun":
        has_cpus = len(options) > 1 and options[1][0].startswith("--cpus-per-task=")
        counts = 1 + (has_cpus and ("cpus-per-task" in experiment.directives or not experiment.directives))
        tasks = options[0] if options else None
    else:
        counts, tasks = 2, options[1] if len(options) > 1 else None
    number = decimal(tasks[0].rpartition("=")[2]) if tasks is not None else None
    return Launch(
        written("launch.command", command, LAYER, at),
        tuple(written("launch.options", text, LAYER, span) for text, span in options[counts:]),
        written("ntasks", number, LAYER, tasks[1]) if tasks is not None and number is not None else None,
    )


def _striping(experiment: Experiment, job: Job, known: Mapping[str, str]) -> Iterator[Striping]:
    """The blocks that the record names, in the order of the calls; none if somebody changed the calls."""
    try:
        outputs = output_directories(experiment.all_groups())
    except UndecidedError:
        return
    kinds = [word for word in known.get("lustre", "").split(",") if word]
    directories = {what: outputs if what == "output" else (".",) for what in kinds}
    calls = [call for call in job.striping if not call.migrates]
    if len(calls) != sum(map(len, directories.values())):
        return
    migrated = [
        call
        for call, behind in pairwise(job.striping)
        if behind.migrates and not call.migrates and _said(call) == _said(behind)
    ]
    for what, names in directories.items():
        first, calls = calls[: len(names)], calls[len(names) :]
        if first:
            settings = dict(first[0].settings)
            span = first[0].directories[0].span if first[0].directories else None
            if first[0].deletes:
                settings["delete"] = written("lustre.delete", True, LAYER, span)
            if all(any(call is other for other in migrated) for call in first):
                settings["migrate"] = written("lustre.migrate", True, LAYER, span)
            yield Striping(what, names, settings, first[0].components)


def _said(call: Setstripe) -> tuple[list[str | None], list[Any]]:
    """The directories of a call, and the layout."""
    extents = Striping("", (), call.settings, call.components).extents
    layout = [(extent.end, {name: s.origin.value for name, s in extent.settings.items()}) for extent in extents]
    return [word.text for word in call.directories], layout
