"""What a spec says of its programs: where their ranks sit, and what follows from it for the job and the models' ranks.

Ranks are placed where a spec says `device`, or anything else of `experiment.programs.KEYS` that only a placement can
fulfil. A spec without such a word has one program, and Slurm deals its ranks to the nodes as before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from nmlgen.errors import SpecError
from nmlgen.experiment.component import MODEL_GROUP
from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.group import Group, as_list
from nmlgen.experiment.machine import CoreLists, Partition
from nmlgen.experiment.programs import CPU, KEYS, LAYER, Program
from nmlgen.experiment.seats import facts_of
from nmlgen.experiment.setting import Certainty, Origin, Setting, UndecidedError, written
from nmlgen.findings import Finding, in_order
from nmlgen.models.icon.placement import SeatError, order, placement, task_count
from nmlgen.pattern import pattern
from nmlgen.spec.layers import EMPTY, Tree, children_of, merge
from nmlgen.spec.models import ModelKeys
from nmlgen.spec.problems import problem
from nmlgen.units.size import format_size, parse_size
from nmlgen.values import evolve

_OF_PLACEMENT = ("device", "tasks_per_node", "cpus_per_task", "nodes", "io_nodes", "seats", "environment", "job")
PARALLEL = "parallel_nml"
BLOCK_LENGTHS = ("nproma", "nblocks_c", "nblocks_e")
"""How long the blocks are in which ICON computes: one of them is above 0."""

DEALT = ("ntasks", "ntasks-per-node", "cpus-per-task", "distribution")
"""Directives that say where ranks sit, and follow from the placement."""

_MOST_NAMED = 10  # partitions, in a message

DEALING_OPTIONS = pattern(r"(--distribution|--cpu-bind|--ntasks|--nodes|-m|-n|-N|-c|--cpus-per-task)\b")


def programs_of(tree: Tree, models: tuple[ModelKeys, ...]) -> tuple[Program, ...]:
    """The programs of a spec in its order, models first; none where nothing asks for a placement."""
    whole = tree.get("model") or EMPTY
    blocks = [(f"models.{keys.label}", keys.own) for keys in models if keys.label is not None]
    others = [(f"programs.{name}", block) for name, block in children_of(tree.get("programs"))]
    asks = [block.get(key) is not None for _, block in [*blocks, ("model", whole)] for key in _OF_PLACEMENT]
    if not others and not any(asks) and not any(block.get("executable") is not None for _, block in blocks):
        return ()
    shared = Tree(
        children={key: child for key, child in (whole.children or {}).items() if key in (*KEYS, "environment")}
    )
    found = [
        _program(path, number, _without_presets_tasks(merge(shared, block)))
        for number, (path, block) in enumerate(blocks)
    ]
    found = found or [_program("model", 0, whole)]
    return (*found, *(_program(path, None, block) for path, block in others))


def _without_presets_tasks(block: Tree) -> Tree:
    """The keys of a model without the number of tasks that a preset has for processors."""
    tasks = block.get("tasks")
    said = [leaf for key in ("device", "tasks_per_node") if (leaf := block.get(key)) is not None]
    if tasks is None or not _is_of_preset(tasks) or all(_is_of_preset(leaf) for leaf in said):
        return block
    return evolve(block, children={key: child for key, child in (block.children or {}).items() if key != "tasks"})


def _is_of_preset(leaf: Tree) -> bool:
    return leaf.history[-1].layer.startswith("preset ")


def _program(path: str, model: int | None, block: Tree) -> Program:
    settings = {key: Setting(f"{path}.{key}", leaf.history) for key, leaf in children_of(block) if key in KEYS}
    settings.setdefault("device", written(f"{path}.device", CPU, LAYER, block.key_span))
    job = {}
    for key, leaf in children_of(block.get("job")):
        value = format_size(parse_size(leaf.value)) if key == "mem" else leaf.value
        job[key.replace("_", "-")] = Setting(
            f"{path}.job.{key}", (*leaf.history[:-1], evolve(leaf.history[-1], value=value))
        )
    environment = {
        name: Setting(f"{path}.environment.{name}", leaf.history)
        for name, leaf in children_of(block.get("environment"))
    }
    return Program(path, model, settings, job, environment)


def placed(experiment: Experiment) -> Experiment:
    """The experiment with what follows from its programs: the ranks of the models, the tasks and GPUs of the job, the
    environment of each program. The same one where nobody places ranks.

    Raises SpecError for what stands in the way, and where a rank has no seat.
    """
    if not experiment.programs:
        return experiment
    if findings := list(_contradictions(experiment)):
        raise SpecError(in_order(findings))
    experiment = evolve(
        experiment,
        directives=_asked(experiment),
        launch=evolve(experiment.launch, options=tuple(_options(experiment))),
        programs=tuple(_with_facts(experiment, program) for program in experiment.programs),
    )
    experiment = _in_one_block(experiment)
    try:
        counts = [task_count(experiment, number) for number in range(len(experiment.programs))]
        experiment = _ranked(experiment, counts)
        seats = placement(experiment)
    except SeatError as error:
        raise SpecError((_no_seat(error, experiment),)) from None
    except UndecidedError as error:
        message = f"where the ranks sit is not known, because {error.setting.name} is not known"
        raise SpecError(
            (problem("SPC005", message, error.setting.span or experiment.directives_span, "expected: a value of it"),)
        ) from None
    main = sum(not experiment.programs[seat.program].job for seat in seats)
    tasks = written("job.ntasks", main, LAYER, experiment.directives_span)
    return evolve(experiment, directives={**experiment.directives, "ntasks": tasks})


def _in_one_block(experiment: Experiment) -> Experiment:
    """The experiment whose models on GPUs compute in one block, unless their author says another length.

    What presets and sites say was meant for processors. Nests have no number of blocks (`mo_nml_crosscheck.f90:148`).
    """
    models = list(experiment.models)
    for program in experiment.programs:
        if program.model is None or not program.uses_gpus:
            continue
        model, component = models[program.model], experiment.components[program.model]
        known = [name for name in BLOCK_LENGTHS if experiment.registry.variable(PARALLEL, name)]
        said = [component[PARALLEL, name] for name in known]
        grids = component["grid_nml", "dynamics_grid_filename"]
        nests = grids.certainty is not Certainty.UNKNOWN and len(as_list(grids.value)) > 1
        if "nblocks_c" not in known or nests or any(_is_authors(setting) for setting in said):
            continue
        device = program.settings["device"]
        group = component.group(PARALLEL) or Group(PARALLEL, {})
        settings = {name: one for name, one in group.settings.items() if name != "nproma_sub" or _is_authors(one)}
        for name, value in (("nproma", 0), ("nblocks_c", 1)):
            origin = Origin(LAYER, value, device.span)
            history = settings[name].history if name in settings else ()
            settings[name] = Setting(f"{PARALLEL}.{name}", (*history, origin), Certainty.WRITTEN)
        others = tuple(one for one in model.namelist if one is not group)
        at = next((number for number, one in enumerate(model.namelist) if one is group), len(others))
        models[program.model] = evolve(model, namelist=(*others[:at], evolve(group, settings=settings), *others[at:]))
    return evolve(experiment, models=tuple(models))


def _is_authors(setting: Setting) -> bool:
    """Whether the author of the spec wrote it, not a preset or a site."""
    return setting.is_written and not _is_sites(setting) and not setting.origin.layer.startswith("preset ")


def _no_seat(error: SeatError, experiment: Experiment) -> Finding:
    span = (error.setting.span if error.setting is not None else None) or experiment.directives_span
    return problem("SPC004", str(error), span, error.advice)


def _contradictions(experiment: Experiment) -> Iterator[Finding]:
    """What cannot stand beside a placement."""
    if experiment.machine.scheduler != "slurm" or experiment.launch.command.value != "srun":
        advice = (
            "expected: launch.command srun, launch: {command: srun}, if it can start the MPI of the executables; or no "
            "device, nodes, ... of models"
            if experiment.machine.scheduler == "slurm"
            else "expected: a site with Slurm; or no device, nodes, ... of models"
        )
        yield problem("SPC004", "ranks are placed by srun only", experiment.launch.command.span, advice)
    for name in DEALT:
        setting = experiment.directives.get(name)
        if setting is not None and not _is_sites(setting):
            advice = "expected: tasks_per_node or tasks of the models, from which it follows"
            yield problem("SPC003", f"{setting.name} stands beside a device", setting.span, advice)
    for option in experiment.launch.options:
        if not _is_sites(option) and DEALING_OPTIONS.match(str(option.value)):
            advice = "expected: no such option; the placement makes it"
            yield problem("SPC003", f"launch.options has {option.value} beside a device", option.span, advice)
    yield from _odd_programs(experiment)
    for component in experiment.components:
        entry = component.model.entry.settings
        if (said := next((s for name, s in entry.items() if name.endswith("_rank")), None)) is not None:
            advice = "expected: tasks, or tasks_per_node: the ranks follow from them"
            yield problem("SPC003", f"{said.name} is set beside a device", said.span, advice)


def _odd_programs(experiment: Experiment) -> Iterator[Finding]:
    """Programs that say too little, or what cannot be."""
    taken: set[str] = set()
    yield from _odd_lists(experiment, experiment.programs[0].settings["device"])
    for program in experiment.programs:
        device = program.settings["device"]
        yield from _without_gpus(experiment, program)
        if program.name in taken:
            yield problem(
                "SPC003", f"{program.path} is called like a model", device.span, "expected: a name of its own"
            )
        taken.add(program.name)
        if program.model is None and "command" not in program.settings:
            yield problem("SPC005", f"{program.path}.command is not set", device.span, "expected: what is started")
        if program.job and "nodes" not in program.job:
            span = next(iter(program.job.values())).span
            yield problem("SPC005", f"{program.path}.job.nodes is not set", span, "expected: how many nodes it has")
        if program.said("seats") is not None:
            for key in ("tasks", "tasks_per_node", "nodes", "io_nodes"):
                if (said := program.settings.get(key)) is not None:
                    advice = f"expected: {program.path}.seats alone"
                    yield problem("SPC003", f"{said.name} stands beside {program.path}.seats", said.span, advice)
        if program.job and program.said("nodes") is not None:
            advice = f"expected: {program.path}.job.nodes alone"
            span = program.settings["nodes"].span
            yield problem("SPC003", f"{program.path}.nodes stands beside {program.path}.job", span, advice)


def _odd_lists(experiment: Experiment, device: Setting) -> Iterator[Finding]:
    """Lists of cores that a spec says of nodes, of which one is empty, or two have the same core."""
    for key, lists in experiment.machine.said.items():
        cores = CoreLists(() if key.endswith(".cards") else lists)
        if cores.empty is not None:
            message = f'partitions.{key} has "{cores.empty}"'
            yield problem("SPC004", message, device.span, 'expected: cores such as "0-7"')
        elif cores.twice is not None:
            message = f"core {cores.twice} is twice in partitions.{key}"
            yield problem("SPC004", message, device.span, "expected: each core in one of the lists")


def _without_gpus(experiment: Experiment, program: Program) -> Iterator[Finding]:
    """A program for GPUs where there are none."""
    if not program.uses_gpus:
        return
    device, facts = program.settings["device"], facts_of(experiment, program)
    if facts.gpus is not None:
        yield from _without_map(experiment, facts, device)
        return
    partition = program.job.get("partition") or experiment.directives.get("partition")
    where = f"partition {partition.value} of " if partition is not None else ""
    names = [name for name, known in experiment.machine.partitions.items() if known.gpus is not None]
    some = " or ".join(names[:_MOST_NAMED])
    advice = f"expected: job.partition {some}" if names else "expected: a site file that says them"
    message = f"{device.name} is gpu, and {where}site {experiment.machine.name} has no GPUs that nmlgen knows of"
    yield problem("SPC004", message, device.span, advice)


def _without_map(experiment: Experiment, facts: Partition, device: Setting) -> Iterator[Finding]:
    """GPUs of which neither the site nor the spec says which cores are near to them, or says it of others."""
    gpus = facts.gpus
    assert gpus is not None, "whoever asks has looked"
    where = f"partition {facts.name or '...'} of site {experiment.machine.name}"
    key = f"partitions: {{{facts.name or 'NAME'}: {{gpus: {{cores: [...]}}}}}}"
    if gpus.asks_for_cores and not gpus.cores and f"{facts.name}.gpus.cores" not in experiment.machine.said:
        message = f"which cores are near to which of the {gpus.count} GPUs of {where} is not known"
        advice = (
            f'expected: {key} with the cores of each GPU in turn, such as "0-7", as `nvidia-smi topo -m` tells them '
            "on a node; or [] for ranks that are bound to no cores"
        )
        yield problem("SPC005", message, device.span, advice)
    elif gpus.cores and len(gpus.cores) != gpus.count:
        message = f"{len(gpus.cores)} lists of cores are said of {where}, whose nodes have {gpus.count} GPUs"
        yield problem("SPC004", message, device.span, f"expected: {key} with {gpus.count} lists")


def _is_sites(setting: Setting) -> bool:
    layer = setting.origin.layer if setting.history else ""
    return layer.startswith("site ") or layer == LAYER


def _asked(experiment: Experiment) -> dict[str, Setting]:
    """The directives without what the site deals by default, with what its GPUs need."""
    directives = {name: setting for name, setting in experiment.directives.items() if name not in DEALT}
    for program in experiment.programs:
        if not program.job:
            facts = facts_of(experiment, program)
            if program.uses_gpus and facts.gpus is not None:
                _ask(directives, facts.gpus.job, program.settings["device"], "job")
            if not facts.exclusive:  # cores are counted by the node's numbers
                _ask(directives, {"exclusive": True}, program.settings["device"], "job")
    return directives


def _ask(directives: dict[str, Setting], facts: Mapping[str, object], device: Setting, path: str) -> None:
    for key, value in facts.items():
        text = format_size(parse_size(str(value))) if key == "mem" else value
        name = key.replace("_", "-")
        directives.setdefault(name, written(f"{path}.{key}", text, LAYER, device.span))


def _options(experiment: Experiment) -> Iterator[Setting]:
    """The launcher's options without those of the site that deal ranks or bind them."""
    for option in experiment.launch.options:
        if not DEALING_OPTIONS.match(str(option.value)):
            yield option


def _with_facts(experiment: Experiment, program: Program) -> Program:
    """The program with what the site says of its GPUs, and threads for its cores."""
    facts = facts_of(experiment, program)
    environment: dict[str, Setting] = {}
    device = program.settings["device"]
    if program.uses_gpus and facts.gpus is not None:
        for name, value in facts.gpus.environment.items():
            environment[name] = written(f"{program.path}.environment.{name}", value, LAYER, device.span)
    width = program.said("cpus_per_task")
    if not program.uses_gpus and width is not None and "OMP_NUM_THREADS" not in experiment.environment:
        name = f"{program.path}.environment.OMP_NUM_THREADS"
        environment["OMP_NUM_THREADS"] = written(name, str(width), LAYER, program.settings["cpus_per_task"].span)
    job = dict(program.job)
    if job:
        if program.uses_gpus and facts.gpus is not None:
            _ask(job, facts.gpus.job, device, f"{program.path}.job")
        if not facts.exclusive:
            _ask(job, {"exclusive": True}, device, f"{program.path}.job")
    return evolve(program, job=job, environment={**environment, **program.environment})


def _ranked(experiment: Experiment, counts: list[int]) -> Experiment:
    """The experiment whose models have their ranks, one behind the other: of several each in its entry in the master
    namelist, which counts the ranks of ICON alone."""
    total = sum(count for program, count in zip(experiment.programs, counts, strict=True) if program.model is not None)
    tasks = written("ntasks", total, LAYER, experiment.directives_span)
    experiment = evolve(experiment, launch=evolve(experiment.launch, tasks=tasks))
    if len(experiment.models) < 2:
        return experiment
    ranks: dict[int, range] = {}
    first = 0
    for number in order(experiment):
        model = experiment.programs[number].model
        if model is not None:
            ranks[id(experiment.models[model].entry)] = range(first, first + counts[number])
            first += counts[number]

    def with_ranks(group: Group) -> Group:
        own = ranks.get(id(group))
        if own is None:
            return group
        settings = dict(group.settings)
        for name, value in (("model_min_rank", own[0]), ("model_max_rank", own[-1])):
            settings[name] = Setting(f"{MODEL_GROUP}.{name}", (Origin(LAYER, value),), Certainty.WRITTEN)
        return evolve(group, settings=settings)

    return experiment.mapped(with_ranks)
