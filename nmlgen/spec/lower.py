"""Lowering: from the merged keys of a spec to an Experiment.

What the author left open and the experiment decides (the names of output files, the output window, the
variables of the MPI library's Lustre driver) is filled in here, with nmlgen as its origin; null keeps it out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

from nmlgen.errors import InputError, SpecError
from nmlgen.experiment.chain import KEYS, START_MODELS
from nmlgen.experiment.component import LAND_GROUP, MODEL_GROUP, Model
from nmlgen.experiment.coupling import COUPLING_FILE, UNKNOWN_COUPLING, Coupling
from nmlgen.experiment.experiment import (
    MODEL_NAME,
    Darshan,
    Experiment,
    InputFile,
    Launch,
    Mpi,
    NodeLocalRun,
    OtherModel,
    Step,
)
from nmlgen.experiment.group import Group, as_list
from nmlgen.experiment.launch_words import RUNS_OTHERS, first_program
from nmlgen.experiment.machine import OF_PLUG_INS, Machine
from nmlgen.experiment.meeting import meeting_variables
from nmlgen.experiment.mpi_io import lustre_variables
from nmlgen.experiment.setting import Origin, Setting, written
from nmlgen.experiment.striping import COMPONENT_UNIT, END_OF_FILE, Striping, extents_of
from nmlgen.experiment.threads import asks_for_gpus, cores_of_a_task, openmp_variables
from nmlgen.files import Files
from nmlgen.findings import Finding, did_you_mean, in_order
from nmlgen.models.icon.output import output_directories
from nmlgen.models.icon.pool import POOL, downloads, files_of_grid
from nmlgen.namelist.registry import Registry, load_registry
from nmlgen.source import Span
from nmlgen.spec import other_models
from nmlgen.spec.auto import AUTO, decided
from nmlgen.spec.coupling import coupling_of_tree, read_coupling
from nmlgen.spec.domains import lists_of, mistakes, spans_of
from nmlgen.spec.elements import with_elements
from nmlgen.spec.layers import EMPTY, Tree, children_of
from nmlgen.spec.models import COMMON, TYPES, ModelKeys, common, misplaced, model_keys, shares, too_many
from nmlgen.spec.problems import problem
from nmlgen.spec.programs import placed, programs_of
from nmlgen.spec.sections import section_of, spelling
from nmlgen.spec.site import NODE_FACTS, with_nodes
from nmlgen.units.calendar import Instant
from nmlgen.units.duration import Duration
from nmlgen.units.size import format_size, parse_size
from nmlgen.units.wall_time import parse_wall_time
from nmlgen.values import evolve

LAYER = "nmlgen"
"""The name of the layer that nmlgen itself is: lowest of all, and origin of what it derives."""

OUTPUT_DIRECTORY = "output"
DEFAULTS: dict[str, Any] = {
    "launch": {"command": "srun"},
    "run_directory": "run",
    "job": {"output": "%x.%j.log", "requeue": False, "signal": "B:USR1@120"},
    "namelists": {
        "master_nml": {"lrestart": False},
        "master_model_nml": {"model_type": 1, "model_name": MODEL_NAME},
    },
}

_REQUIRED = (
    ("name",),
    ("site",),
    ("model", "release"),
    ("launch", "command"),
    ("run_directory",),
    ("namelists", "master_nml", "lrestart"),
)
_START = ("master_time_control_nml", "experimentStartDate")
_OLDER_START = ("time_nml", "ini_datetime_string")
_STOP = (("master_time_control_nml", "experimentStopDate"), ("master_time_control_nml", "forecastLeadTime"))
_OLDER_STOP = (("time_nml", "end_datetime_string"), ("run_nml", "nsteps"))
"""In the place of `_STOP` where the start is `_OLDER_START` (ICON 2024.10, `mo_time_management.f90:530-790`)."""

_STEP = (("run_nml", "modelTimeStep"), ("run_nml", "dtime"))
_MASTER_GROUPS = (*COMMON, MODEL_GROUP)
_MOST_PATTERNS = 100  # of input files
_FIRST_GROUPS = ("parallel_nml", "grid_nml", "run_nml")
_TIMES: Mapping[str, Mapping[str, Any]] = {
    "master_time_control_nml": {
        **dict.fromkeys(("experimentstartdate", "experimentstopdate", "experimentreferencedate"), Instant.parse),
        **dict.fromkeys(("checkpointtimeintval", "restarttimeintval", "forecastleadtime"), Duration.parse),
    },
    "run_nml": {"modeltimestep": Duration.parse},
    "output_nml": {
        **dict.fromkeys(("output_start", "output_end"), Instant.parse),
        **dict.fromkeys(("output_interval", "file_interval"), Duration.parse),
    },
}
"""What reads the variables that are instants or durations."""
_FILE_NAME = re.compile(r"(?!icon_master\.namelist$|nmlgen-manifest\.json$)[A-Za-z0-9_][^/\x00-\x1f\x7f]*(?<!\.sbatch)")
_COMPONENTS = "component_end"
_OWN_GROUPS = {"output_nml": "name the streams below `output:` instead"}


def lower(
    tree: Tree,
    machine: Machine,
    site: Tree,
    where: Span | None,
    directives_span: Span | None = None,
    files: Files | None = None,
) -> Experiment:
    """The Experiment of a merged tree whose variables stand below `namelists` (see `sections.canonical`).

    `site` is the tree of the site's facts, `where` the beginning of the spec, `directives_span` its section `job`. What
    is left to the advisor is decided.
    A coupling.yaml is read from `files`. Raises SpecError with everything that is missing or unreadable.
    """
    if other_models.name_of(tree) != other_models.ICON:
        return _of_other_model(other_models.without_icon(tree, LAYER), machine, site, where, directives_span)
    findings = [
        *missing_keys(tree, where),
        *misplaced(tree),
        *other_models.misplaced_in_icon(tree),
        *_bad_values(tree),
    ]
    if findings:
        raise SpecError(in_order(findings))
    release, own = _setting(tree, "model", "release"), _optional(tree, "model", "registry")
    try:
        registry = load_registry(str(release.value), None if own is None or not own.value else _beside(own))
    except InputError as error:
        raise SpecError((problem("SPC004", str(error), (own or release).span),)) from None
    if findings := list(too_many(tree)):
        raise SpecError(tuple(findings))
    models = model_keys(tree, registry)
    findings = [*_missing_in_models(tree, models, where), *_bad_file_names(tree, models), *_bad_domains(models)]
    if findings:
        raise SpecError(in_order(findings))
    if findings := list(_without_plug_in(tree, machine)):
        raise SpecError(in_order(findings))
    machine = with_nodes(machine, _nodes(tree))
    lowered = _Lowering(tree, models, machine, site, registry, directives_span, files or Files()).experiment()
    experiment = placed(decided(lowered))
    if findings := list(_unsaid(experiment)):
        raise SpecError(in_order(findings))
    return experiment


def _of_other_model(
    tree: Tree, machine: Machine, site: Tree, where: Span | None, directives_span: Span | None
) -> Experiment:
    """The job of a model that is not ICON, with its namelist files."""
    findings = [
        *missing_keys(tree, where),
        *other_models.misplaced(tree, where),
        *_bad_job(tree),
        *_without_plug_in(tree, machine),
    ]
    if findings:
        raise SpecError(in_order(findings))
    taken: set[Any] = {".", "..", *other_models.namelist_files(tree)}
    targets = dict(children_of(tree.get("input_files")))
    if findings := [*_too_many_patterns([tree]), *_bad_targets(tree, taken), *_inside_files(targets, taken)]:
        raise SpecError(in_order(findings))
    machine = with_nodes(machine, _nodes(tree))
    files = {
        file: tuple(_group(name, group) for name, group in children_of(groups))
        for file, groups in other_models.namelist_files(tree).items()
    }
    bare = evolve(tree, children={key: child for key, child in (tree.children or {}).items() if key != "namelists"})
    lowered = _Lowering(bare, (), machine, site, other_models.NO_REGISTRY, directives_span, Files()).experiment()
    steps = tuple(
        Step(name, _setting(tree, "before", name, "executable"), _optional(tree, "before", name, "ntasks"))
        for name, _ in other_models.steps(tree)
    )
    jobs = _optional(tree, "restart", "jobs")
    experiment = evolve(lowered, other=OtherModel(other_models.name_of(tree), files, steps, jobs))
    if findings := list(_unsaid(experiment)):
        raise SpecError(in_order(findings))
    return experiment


def _unsaid(experiment: Experiment) -> Iterator[Finding]:
    """What of the section `job` a batch system that is not Slurm cannot be asked for."""
    if experiment.machine.scheduler == "pbs":
        from nmlgen.schedulers.job import job_directives  # few sites have it

        for remark in job_directives("pbs", experiment.directives).remarks:
            if remark.loss is not None:
                span = remark.span or experiment.directives_span
                message = f"{experiment.machine.name} has PBS: {remark.message}"
                yield problem("SPC004", message, span, f"expected: {remark.expected}")


def _without_plug_in(tree: Tree, machine: Machine) -> Iterator[Finding]:
    """Options of plug-ins that the Slurm of the site does not have: sbatch refuses the job."""
    for key in OF_PLUG_INS:
        leaf = tree.below("job", key)
        if leaf is not None and not leaf.is_unset and key not in machine.plugin_options:
            message = f"job.{key} is an option of a plug-in of Slurm, which site {machine.name} is not known to have"
            yield problem("SPC004", message, leaf.span, f"expected: a site whose plugin_options name {key}")


def _nodes(tree: Tree) -> dict[str, tuple[str, ...]]:
    """What a spec says of the nodes of partitions."""
    found = {}
    for name in (tree.get("partitions") or EMPTY).children or {}:
        for fact in NODE_FACTS:
            leaf = tree.below("partitions", name, *fact.split("."))
            if leaf is not None and not leaf.is_unset:
                found[f"{name}.{fact}"] = tuple(map(str, leaf.value))
    return found


def _beside(setting: Setting) -> Path:
    """The path of a file that a spec names: relative to the file in which it is named."""
    directory = Path(setting.span.source.name).parent if setting.span is not None else Path()
    return directory / str(setting.value)


def missing_keys(tree: Tree, where: Span | None) -> Iterator[Finding]:
    """What every experiment needs and no layer says, at the section it belongs to, else at `where`, the spec."""
    is_icon = other_models.name_of(tree) == other_models.ICON
    for path in _REQUIRED if is_icon else other_models.REQUIRED:
        if tree.at(*path) is None:
            yield _missing(tree, path, where)
    if is_icon:
        yield from _missing_of_icon(tree, where)


def _missing_of_icon(tree: Tree, where: Span | None) -> Iterator[Finding]:
    own = [model.get("executable") for _, model in children_of(tree.get("models"))]
    if tree.at("model", "executable") is None and (not own or None in own):
        yield _missing(tree, ("model", "executable"), where)
    if tree.get("models") is None and tree.at("grid", "file") is None:
        yield _missing(tree, ("grid", "file"), where)
    is_older = _says(tree, _OLDER_START) and not _says(tree, _START)
    if not is_older and not _says(tree, _START):
        yield _missing(tree, ("namelists", _START[0], _START[1].lower()), where)
    if not is_older or not any(_says_somewhere(tree, variable) for variable in _OLDER_STOP):
        yield from _neither(tree, _STOP, where)
    if tree.get("models") is None:
        yield from _neither(tree, _STEP, where)


def _missing_in_models(tree: Tree, models: tuple[ModelKeys, ...], where: Span | None) -> Iterator[Finding]:
    """What each of several components needs and no layer says."""
    if not models:
        section = tree.get("models")
        named = section.key_span or section.span if section is not None else None
        yield problem("SPC005", "models names no model", named or where, "expected: one at least, or no key models")
    for model in models if models and models[0].label is not None else ():
        place, prefix = model.own.key_span or where, f"models.{model.label}."
        if model.tree.at("grid", "file") is None:
            yield _missing(model.own, ("grid", "file"), place, prefix)
        yield from _neither(model.tree, _STEP, place, prefix)


def _missing(tree: Tree, path: tuple[str, ...], where: Span | None, prefix: str = "") -> Finding:
    name = prefix + (section_of(*path[1:]) if path[0] == "namelists" else ".".join(path))
    section = tree.get(path[0]) if len(path) > 1 and path[0] != "namelists" else None
    span = section.span if section else None
    if span is None or (where is not None and span.source is not where.source):  # a site's is not to be changed
        span = where
    notes = tuple(_where_grids_are(tree)) if path == ("grid", "file") else ()
    return problem("SPC005", f"{name} is not set", span, f"set {name} in the spec", *notes)


def _where_grids_are(tree: Tree) -> Iterator[str]:
    """The files of a grid that is known by its name, and where they are."""
    name, pool = _optional(tree, "grid", "name"), _optional(tree, "model", "pool")
    files = files_of_grid(str(name.value)) if name is not None else ()
    if name is not None and files:
        where = "model.pool, which this site does not know" if pool is None else str(pool.value)
        yield f"of {name.value} there is {', '.join(f'{POOL}/{file}' for file in files)}"
        yield f"{POOL} is {where}; {downloads()} has the same"


def _neither(
    tree: Tree, pair: tuple[tuple[str, str], tuple[str, str]], where: Span | None, prefix: str = ""
) -> Iterator[Finding]:
    if not any(_says(tree, variable) for variable in pair):
        name, other = (prefix + section_of(*variable) for variable in pair)
        yield problem("SPC005", f"neither {name} nor {other} is set", where, f"set {name} in the spec")


def _says(tree: Tree, variable: tuple[str, str]) -> bool:
    return tree.at("namelists", variable[0], variable[1].lower()) is not None


def _says_somewhere(tree: Tree, variable: tuple[str, str]) -> bool:
    """Whether a variable is set for all models, or for one."""
    return _says(tree, variable) or any(_says(own, variable) for _, own in children_of(tree.get("models")))


def _bad_values(tree: Tree) -> Iterator[Finding]:
    for group, advice in _OWN_GROUPS.items():
        if (found := tree.at("namelists", group)) is not None:
            yield problem("SPC003", f"{group} is not set below namelists", found.span, advice)
    for group, name, leaf in _times(tree):
        yield from _unreadable(group, name, leaf, _TIMES[group][name])
    if (branch := tree.at("start_from", "time")) is not None:
        yield from _unparsable("start_from.time", branch, branch.value, Instant.parse)
    yield from _bad_job(tree)


def _bad_job(tree: Tree) -> Iterator[Finding]:
    """Values of the job and its files that cannot be read, whatever the model is."""
    job = tree.get("job") or EMPTY
    for key, parse in (("time", parse_wall_time), ("mem", parse_size), ("mem_per_cpu", parse_size)):
        if (given := job.get(key)) is not None and not (key == "time" and given.value == AUTO):
            yield from _unparsable(f"job.{key}", given, given.value, parse)
    yield from _unread_by_sbatch(job)
    for what, block in children_of(tree.get("lustre")):
        if (given := block.get("stripe_size")) is not None and given.value != AUTO:
            yield from _unparsable(f"lustre.{what}.stripe_size", given, given.value, parse_size)
        yield from _bad_layout(what, block)


READ_AS_SBATCH_DOES = ("begin", "distribution", "hint", "mail_type", "signal")
"""Texts of the job that reach sbatch as they stand; a time and a size are read as a spec writes them."""


def _unread_by_sbatch(job: Tree) -> Iterator[Finding]:
    for key in READ_AS_SBATCH_DOES:
        if (given := job.get(key)) is not None and isinstance(given.value, str):
            from nmlgen.schedulers.slurm.values import MAIL_TYPES, read_value, unheeded  # few specs have them

            option, message = key.replace("_", "-"), f'job.{key} is "{given.value}"'
            try:
                read_value(option, given.value)
            except ValueError as error:
                yield problem("SPC004", message, given.span, f"expected: {error}")
            else:
                if (lost := unheeded(option, given.value)) is not None:
                    yield problem("SPC004", f"{message}, of which {lost}", given.span, f"expected: {MAIL_TYPES}")


def _bad_domains(models: tuple[ModelKeys, ...]) -> Iterator[Finding]:
    for model in models:
        if (domains := model.own.get("domains")) is not None:
            yield from mistakes(domains, model.tree.get("namelists"))


def _bad_file_names(tree: Tree, models: tuple[ModelKeys, ...]) -> Iterator[Finding]:
    """Names that nmlgen's own files have; the models' namelists lie beside them and are copied by the script."""
    taken: set[Any] = {".", "..", "icon_master.namelist", *([COUPLING_FILE] if tree.get("coupling") else [])}
    for model in models:
        given = model.tree.at("namelists", MODEL_GROUP, "model_namelist_filename")
        namelist = given.value if given else _namelist_name(str(_setting(tree, "name").value), model.label)
        is_plain = isinstance(namelist, str) and _FILE_NAME.fullmatch(namelist) is not None
        if given is not None and (not is_plain or namelist in taken):
            expected = "expected: the name of a file, without a directory, that no other file of a build has"
            yield problem("SPC004", f'model_namelist_filename is "{namelist}"', given.span, expected)
        taken |= {namelist} if is_plain else set()
    blocks = tuple(dict.fromkeys((tree, *(model.own for model in models))))
    yield from _too_many_patterns(blocks)
    for block in blocks:
        yield from _bad_targets(block, taken)
    targets = {target: file for block in blocks for target, file in children_of(block.get("input_files"))}
    yield from _inside_files(targets, taken)


def _too_many_patterns(blocks: Iterable[Tree]) -> Iterator[Finding]:
    """More patterns of input files than a job could look for."""
    files = [file for block in blocks for _, file in children_of(block.get("input_files"))]
    patterns = [file for file in files if _optional(file, "directory") is not None]
    for beyond in patterns[_MOST_PATTERNS : _MOST_PATTERNS + 1]:
        message = f"more than {_MOST_PATTERNS} patterns of input files"
        advice = "expected: fewer and wider ones; the job goes through the directory of each"
        yield problem("SPC006", message, beyond.key_span, advice)


def _bad_targets(block: Tree, taken: set[Any]) -> Iterator[Finding]:
    """Input files that have the name of one that nmlgen writes."""
    for target, file in children_of(block.get("input_files")):
        yield from _bad_pattern(target, file)
        if target in taken:
            message = f'input_files: "{target}" is not the name of an input file'
            yield problem("SPC004", message, file.key_span, "nmlgen writes the namelists itself")


def _inside_files(targets: Mapping[str, Tree], taken: set[Any]) -> Iterator[Finding]:
    """Input files that would lie in a file."""
    names = {*targets, *taken}
    for target, file in targets.items():
        if (parent := next((name for name in _parents(target) if name in names), None)) is not None:
            message = f'input_files: "{target}" would lie in "{parent}", which is a file or a link itself'
            yield problem("SPC004", message, file.key_span, "expected: a name outside of it")


def _parents(target: str) -> Iterator[str]:
    """The directories that a name lies in, the nearest first."""
    name = target.rpartition("/")[0]
    while name:
        yield name
        name = name.rpartition("/")[0]


def _bad_pattern(target: str, file: Tree) -> Iterator[Finding]:
    """What cannot be said of files that are brought by a pattern."""
    key, name = f"input_files.{target}", target.rpartition("/")[2]
    directory, source, deep = (_optional(file, word) for word in ("directory", "source", "subdirectories"))
    if directory is None:
        if deep is not None and deep.value:
            yield problem("SPC004", f"{key}.subdirectories without directory", deep.span, "expected: directory: PATH")
        return
    if source is not None:
        advice = "expected: the source of one file, or the directory that many are taken from"
        yield problem("SPC004", f"{key} has a source and a directory", directory.span, advice)
    elif not any(mark in name for mark in "*?["):
        advice = f"expected: source: {PurePosixPath(str(directory.value)) / name}, or a name with *, ? or [...]"
        yield problem("SPC004", f'{key}.directory: "{name}" is the name of one file', directory.span, advice)


def _namelist_name(name: str, label: str | None) -> str:
    """What the namelist file of a component is called unless somebody says so, as ICON's own run scripts call it."""
    return f"NAMELIST_{name}" if label is None else f"NAMELIST_{name}_{label}"


def _times(tree: Tree) -> Iterator[tuple[str, str, Tree]]:
    """The group, the name and the leaf of all instants and durations."""
    for _, model in children_of(tree.get("models")):
        yield from _times(model)
    namelists = tree.get("namelists") or EMPTY
    places = [(group, namelists.get(group)) for group in _TIMES]
    for group, block in [*places, *(("output_nml", stream) for _, stream in children_of(tree.get("output")))]:
        for name in _TIMES[group] if block is not None else ():
            if block is not None and (leaf := block.get(name)) is not None:
                yield group, name, leaf


def _unreadable(group: str, name: str, leaf: Tree, parse: Any) -> Iterator[Finding]:
    for value in as_list(leaf.value):
        text = value.lstrip("<>") if isinstance(value, str) and group == "output_nml" else value
        if text != "":
            yield from _unparsable(spelling(name), leaf, text, parse)


def _unparsable(name: str, leaf: Tree, value: Any, parse: Any) -> Iterator[Finding]:
    if not isinstance(value, str):
        kind = "an instant" if parse == Instant.parse else "a duration with its units, such as PT12M"
        yield problem("SPC004", f"{name} is the bare value {value}", leaf.span, f"expected: {kind}")
        return
    try:
        parse(value)
    except ValueError as error:
        yield problem("SPC004", f'{name} is "{value}"', leaf.span, str(error))


def _optional(tree: Tree, *path: str) -> Setting | None:
    found = tree.at(*path)
    return None if found is None or found.is_mapping else _of_leaf(".".join(path), found)


@lru_cache(maxsize=512)
def _of_leaf(name: str, leaf: Tree) -> Setting:
    """The setting of a leaf: the same one as long as nothing is laid over the leaf."""
    return Setting(name, leaf.history)


def _setting(tree: Tree, *path: str) -> Setting:
    found = _optional(tree, *path)
    assert found is not None, path
    return found


def _is_taken_away(tree: Tree, *path: str) -> bool:
    """Whether the last word on a key was null, so that nothing is to be filled in."""
    found = tree.below(*path)
    return found is not None and found.is_unset


def _derived(name: str, value: Any, span: Span | None = None) -> Setting:
    return written(name, value, LAYER, span)


@lru_cache(maxsize=512)
def _group(name: str, tree: Tree, label: str | None = None) -> Group:
    """The group of a tree: the same one as long as nothing is laid over the tree, so that what is known of it stays."""
    settings = {
        key: Setting(f"{name}.{spelling(key)}", leaf.history, name_span=leaf.key_span)
        for key, leaf in children_of(tree)
    }
    return Group(name, settings, label, tree.key_span)


@lru_cache(maxsize=512, typed=True)
def _filled(group: Group | None, name: str, variable: str, value: Any, span: Span | None) -> Group:
    """The group with a variable that nobody wrote: the same one, too."""
    settings = dict(group.settings) if group is not None else {}
    settings.setdefault(variable.lower(), _derived(f"{name}.{variable}", value, span))
    return Group(name, settings, None, group.span if group is not None else None)


def _nests(keys: ModelKeys) -> list[Tree]:
    return [nest for _, nest in children_of(keys.own.get("domains"))]


def _land(tree: Tree) -> tuple[Group, ...]:
    """The groups of JSBACH's namelist that a component, or one of its nests, has."""
    return tuple(_group(name, group) for name, group in sorted(children_of(tree.get("land"))))


@lru_cache(maxsize=1024)
def _name_of(path: str) -> str:
    """The name of a file, without its directory."""
    return PurePosixPath(path).name


def _grid_names(keys: ModelKeys) -> list[str]:
    """What a component calls the grids that it opens in its run directory."""
    named = keys.tree.at("namelists", "grid_nml", "dynamics_grid_filename")
    if named is not None:
        return [str(name) for name in as_list(named.value)]
    return [_name_of(_setting(keys.tree, "grid", "file").value)]


class _Lowering:
    """One lowering; its methods each make one part of the Experiment."""

    def __init__(
        self,
        tree: Tree,
        models: tuple[ModelKeys, ...],
        machine: Machine,
        site: Tree,
        registry: Registry,
        directives_span: Span | None,
        files: Files,
    ) -> None:
        self.tree = tree
        self.models = models
        self.machine = machine
        self.site = site
        self.registry = registry
        self.directives_span = directives_span
        self.files = files
        self.name = str(_setting(tree, "name").value)

    def experiment(self) -> Experiment:
        node_local = self._node_local()
        directives = self._directives(node_local)
        programs = programs_of(self.tree, self.models)
        master, models = self._groups({} if programs else shares(self.models, directives))
        environment = self._environment({} if programs else directives)
        mpi = self._mpi(node_local, environment)
        return Experiment(
            name=self.name,
            registry=self.registry,
            machine=self.machine,
            master=master,
            models=models,
            directives=directives,
            environment=environment,
            executable=programs[0].settings["executable"] if programs else _setting(self.tree, "model", "executable"),
            base_directory=_optional(self.tree, "model", "directory"),
            run_directory=_setting(self.tree, "run_directory"),
            inputs=self._inputs(),
            striping=self._striping(group for model in models for group in model.namelist),
            mpi=mpi,
            darshan=self._darshan(),
            node_local=node_local,
            launch=self._launch(),
            modules=self._modules(mpi),
            stack_limit=_optional(self.tree, "shell", "limits", "stack"),
            chain=self._chain(),
            directives_span=self.directives_span,
            knows_inputs=True,
            coupling=self._coupling(),
            parts={name: _setting(self.tree, "model", "parts", name) for name, _ in self._parts()},
            programs=programs,
        )

    def _parts(self) -> list[tuple[str, Tree]]:
        return children_of(self.tree.at("model", "parts"))

    def _coupling(self) -> Coupling | None:
        """What stands below `coupling`, or in the file that it names; one among the input files is not looked at."""
        tree = self.tree.get("coupling")
        if tree is None:
            targets = [name for name, _ in children_of(self.tree.get("input_files"))]
            return UNKNOWN_COUPLING if COUPLING_FILE in targets else None
        file = _optional(tree, "file")
        if file is None:
            return coupling_of_tree(tree)
        try:
            return read_coupling(self.files.read(_beside(file), name=str(file.value)))
        except InputError as error:
            raise SpecError((problem("SPC004", f"coupling.file: {error}", file.span),)) from None

    def _groups(self, ranks: Mapping[str | None, range]) -> tuple[tuple[Group, ...], tuple[Model, ...]]:
        """The groups of icon_master.namelist, and the models with those of their own files."""
        master = [_group(name, tree) for name, tree in children_of(Tree(children=common(self.tree, self.registry)))]
        made = [self._model(keys, ranks.get(keys.label)) for keys in self.models]
        for group in (group for of_master, _ in made for group in of_master):
            shared = [number for number, other in enumerate(master) if other.name == group.name != MODEL_GROUP]
            if shared:  # what a component derives of a group that all have in common
                first = master[shared[0]]
                master[shared[0]] = Group(group.name, {**group.settings, **first.settings}, None, first.span)
            else:
                master.append(group)
        for keys in self.models:
            master += self._further_land(keys)
        order = {name: number for number, name in enumerate(_MASTER_GROUPS)}
        master.sort(
            key=lambda group: (order.get(group.name, len(order)), group.name if group.name not in order else "")
        )
        time = next((group.settings for group in master if group.name == "master_time_control_nml"), {})
        models = [
            evolve(model, namelist=(*model.namelist, *self._streams(keys, time)))
            for keys, (_, model) in zip(self.models, made, strict=True)
        ]
        return tuple(master), tuple(models)

    def _model(self, keys: ModelKeys, ranks: range | None) -> tuple[list[Group], Model]:
        """The groups of a component that stand in icon_master.namelist, and the model with the others."""
        groups = {
            name: with_elements(_group(name, tree), self.registry)
            for name, tree in children_of(keys.tree.get("namelists"))
        }
        self._derive(groups, MODEL_GROUP, "model_namelist_filename", _namelist_name(self.name, keys.label))
        if ranks is not None:
            span = (keys.own.get("tasks") or keys.own).span
            self._derive(groups, MODEL_GROUP, "model_min_rank", ranks[0], span)
            self._derive(groups, MODEL_GROUP, "model_max_rank", ranks[-1], span)
        grid = _setting(keys.tree, "grid", "file")
        if keys.own.get("domains") is not None:
            self._add_domains(groups, keys, _name_of(grid.value))
        if not _is_taken_away(keys.tree, "namelists", "grid_nml", "dynamics_grid_filename"):
            file_name = _name_of(grid.value)
            self._derive(groups, "grid_nml", "dynamics_grid_filename", file_name, grid.span)
        land, *nest_land = (_land(tree) for tree in (keys.tree, *_nests(keys)))
        if land:
            self._name_land(groups, keys)
        in_master = [name for name in groups if self.registry.has_group(name) and "master" in self.registry.files(name)]
        of_master = [groups.pop(name) for name in dict.fromkeys((*_MASTER_GROUPS, *in_master)) if name in groups]
        entry = next(group for group in of_master if group.name == MODEL_GROUP)
        first = [groups.pop(name) for name in _FIRST_GROUPS if name in groups]
        others = [groups[name] for name in sorted(groups)]
        name = _optional(keys.tree, "grid", "name")
        cells = _optional(keys.tree, "grid", "cells")
        place = None if keys.label is None else keys.own.key_span
        return of_master, Model(
            entry,
            (*first, *others),
            keys.label,
            grid_name=name,
            cells=cells,
            land=land,
            place=place,
            nest_land=tuple(nest_land) if any(nest_land) else (),
        )

    def _name_land(self, groups: dict[str, Group], keys: ModelKeys) -> None:
        """What icon_master.namelist says of JSBACH, as the run scripts of ICON 2024.10 do (`run/exec.iconrun`)."""
        span = (keys.tree.get("land") or EMPTY).key_span
        kind = groups[MODEL_GROUP].settings["model_type"].value if "model_type" in groups[MODEL_GROUP].settings else 1
        self._derive(groups, "jsb_control_nml", "is_standalone", kind == TYPES["jsbach"], span)
        self._derive(groups, "jsb_control_nml", "restart_jsbach", False, span)
        is_one_of_several = any(_land(nest) for nest in _nests(keys))
        for variable, value in self._land_entry(keys, 1 if is_one_of_several else None):
            self._derive(groups, LAND_GROUP, variable, value, span)

    def _land_entry(self, keys: ModelKeys, domain: int | None) -> Iterator[tuple[str, Any]]:
        """The variables of a jsb_model_nml, the only one or that of a domain."""
        yield "model_id", domain or 1
        yield "model_name", "JSBACH" if domain is None else f"JSBACH DOM{domain:02}"
        suffix = "" if domain is None else f"_d{domain}"
        yield "model_shortname", f"jsb{suffix}"
        yield "model_description", "JSBACH land surface model"
        yield "model_namelist_filename", f"{_namelist_name(self.name, keys.label)}_lnd{suffix}"

    def _further_land(self, keys: ModelKeys) -> Iterator[Group]:
        """A jsb_model_nml for each nest up to the last one with land. Raises SpecError if a domain before has none."""
        lands = [bool(_land(tree)) for tree in (keys.tree, *_nests(keys))]
        for number, nest in enumerate(_nests(keys), start=1):
            said = nest.get("land")
            if said is None or not lands[number]:
                continue
            if not all(lands[:number]):
                advice = "expected: land for every domain before, for ICON counts them: the first one's is the key land"
                raise SpecError((problem("SPC004", "a domain before this one has no land", said.key_span, advice),))
            groups: dict[str, Group] = {}
            for variable, value in self._land_entry(keys, number + 1):
                self._derive(groups, LAND_GROUP, variable, value, said.key_span)
            yield groups[LAND_GROUP]

    def _add_domains(self, groups: dict[str, Group], keys: ModelKeys, file: str) -> None:
        """Fill in what the nests make: lists by domain."""
        tree = keys.own.get("domains") or EMPTY
        said = groups["run_nml"].settings.get("num_lev") if "run_nml" in groups else None
        lists = lists_of(file, said.value if said is not None else None, tree.plain()) if tree.plain() else {}
        for (group, variable), value in lists.items():
            settings = dict(groups[group].settings) if group in groups else {}
            before = settings.pop(variable, None)
            history = before.history if before is not None else ()
            name = before.name if before is not None else f"{group}.{variable}"
            elements = tuple(Origin(LAYER, None, span) for span in spans_of((group, variable), tree))
            settings[variable] = Setting(name, (*history, Origin(LAYER, value, tree.key_span, elements=elements)))
            groups[group] = Group(group, settings, None, groups[group].span if group in groups else tree.key_span)

    def _derive(
        self, groups: dict[str, Group], group: str, variable: str, value: Any, span: Span | None = None
    ) -> None:
        """Fill in a variable that nobody wrote."""
        groups[group] = _filled(groups.get(group), group, variable, value, span)

    def _streams(self, keys: ModelKeys, time: Mapping[str, Setting]) -> Iterator[Group]:
        beginning = self.name if keys.label is None else f"{self.name}_{keys.label}"
        for label, tree in children_of(keys.own.get("output")):
            group = with_elements(_group("output_nml", tree, label), self.registry)
            settings = {}
            if "output_filename" not in group.settings:
                path = f"{OUTPUT_DIRECTORY}/{beginning}_{label}"
                settings["output_filename"] = _derived("output_nml.output_filename", path, tree.key_span)
            settings |= group.settings
            if "output_bounds" not in settings:
                for variable, source in (("output_start", "experimentstartdate"), ("output_end", "experimentstopdate")):
                    if variable not in settings and source in time and not _is_taken_away(tree, variable):
                        value = time[source]
                        origin = Origin(LAYER, value.value, value.span)
                        settings[variable] = Setting(f"output_nml.{variable}", (origin,))
            yield Group("output_nml", settings, label, group.span)

    def _directives(self, node_local: NodeLocalRun | None) -> dict[str, Setting]:
        directives = {"job-name": _derived("job.job_name", self.name, self._key_span("name"))}
        for key, leaf in children_of(self.tree.get("job")):
            setting = _of_leaf(f"job.{key}", leaf)
            if key in ("mem", "mem_per_cpu"):
                last = setting.origin
                size = format_size(parse_size(last.value))
                setting = Setting(setting.name, (*setting.history[:-1], Origin(last.layer, size, last.span)))
            directives[key.replace("_", "-")] = setting
        if node_local is not None:
            self._ask_for_node_local(directives, node_local)
        return directives

    def _ask_for_node_local(self, directives: dict[str, Setting], node_local: NodeLocalRun) -> None:
        """Two features need one --constraint: of two options Slurm obeys the last."""
        facts = self.machine.node_local.get(node_local.kind.value)
        if facts is None:
            return
        feature = node_local.constraint.value if node_local.constraint else next(iter(facts.constraints), None)
        span = (node_local.constraint or node_local.kind).span
        if feature:
            given = directives.get("constraint")
            text = f"{given.value}&{feature}" if given else feature
            history = given.history if given else ()
            directives["constraint"] = Setting("job.constraint", (*history, Origin(LAYER, text, span)))
        if facts.exclusive and "exclusive" not in directives:
            directives["exclusive"] = _derived("job.exclusive", True, span)

    def _key_span(self, *path: str) -> Span | None:
        found = self.tree.at(*path)
        return found.span if found else None

    def _mpi(self, node_local: NodeLocalRun | None, environment: dict[str, Setting]) -> Mpi:
        implementation = _optional(self.tree, "mpi", "implementation")
        version = _optional(self.tree, "mpi", "version")
        if version is None and implementation is not None and not _is_taken_away(self.tree, "mpi", "version"):
            version = _optional(self.site, "mpi", implementation.value, "version")
        given = self.tree.at("mpi", "hints")
        hints = {key: _of_leaf(f"mpi.hints.{key}", leaf) for key, leaf in children_of(given)}
        path = str(_setting(self.tree, "run_directory").value)
        on_lustre = node_local is None and self.machine.file_system_of(path).type == "lustre"
        variables = {}
        if implementation is not None and on_lustre:
            number = version.value if version else None
            variables = {
                name: _derived(f"environment.{name}", value, (version or implementation).span)
                for name, value in lustre_variables(implementation.value, number).items()
                if name not in environment and not _is_taken_away(self.tree, "environment", name)
            }
        return Mpi(implementation, version, hints, variables)

    def _environment(self, directives: Mapping[str, Setting]) -> dict[str, Setting]:
        """What the site's MPI wants, then what everything else says; the last word is the author's."""
        environment: dict[str, Setting] = {}
        if (implementation := _optional(self.tree, "mpi", "implementation")) is not None:
            block = self.site.at("mpi", implementation.value, "environment")
            environment = {
                name: _of_leaf(f"environment.{name}", leaf)
                for name, leaf in children_of(block)
                if not _is_taken_away(self.tree, "environment", name)
            }
        for name, leaf in children_of(self.tree.get("environment")):
            setting, below = _of_leaf(f"environment.{name}", leaf), environment.get(name)
            environment[name] = setting if below is None else Setting(setting.name, below.history + setting.history)
        return {**self._meeting(environment), **self._threads(environment, directives), **environment}

    def _meeting(self, environment: Mapping[str, Setting]) -> dict[str, Setting]:
        """What lets the tasks of Intel MPI that srun starts meet, unless somebody says it; null keeps it out."""
        implementation, launch = _optional(self.tree, "mpi", "implementation"), self._launch()
        if implementation is None or self.machine.scheduler != "slurm":
            return {}
        written = self.tree.get("environment")
        said = {*environment, *(written.children or {} if written is not None else {})}
        words = [str(option.value) for option in launch.options]
        found = meeting_variables(implementation.value, str(launch.command.value), words, said)
        return {name: _derived(f"environment.{name}", value, implementation.span) for name, value in found.items()}

    def _threads(self, environment: Mapping[str, Setting], directives: Mapping[str, Setting]) -> dict[str, Setting]:
        """As many threads as a task has cores, unless somebody says something else; null keeps them out."""
        written = self.tree.get("environment")
        said = {*environment, *(written.children or {} if written is not None else {})}
        span = directives["cpus-per-task"].span if "cpus-per-task" in directives else None
        cores = 1 if asks_for_gpus(directives) else cores_of_a_task(directives, self.machine)
        found = openmp_variables(cores, dict.fromkeys(said))
        return {name: _derived(f"environment.{name}", value, span) for name, value in found.items()}

    def _modules(self, mpi: Mpi) -> tuple[Setting, ...]:
        """Those that the spec names; else those that the site has for the version of its MPI library."""
        found = self.tree.get("modules")
        if found is not None or mpi.implementation is None:
            return _elements("modules", found)
        installed = self.machine.mpi.get(mpi.implementation.value)
        asked = None if mpi.version is None else mpi.version.value
        known = installed.modules_of(asked) if installed is not None else ("", ())
        if known is None:
            assert installed is not None
            assert mpi.version is not None
            message = f"site {self.machine.name} has no modules for version {asked} of {mpi.implementation.value} MPI"
            names = ", ".join(name for name in (installed.version, *installed.versions) if name)
            advice = f"expected: one of {names}, or the modules to load below modules"
            raise SpecError((problem("SPC004", message, mpi.version.span, advice),))
        version, modules = known
        block = self.site.at("mpi", mpi.implementation.value)
        if block is None or not modules:
            return ()
        is_usual = installed is None or version not in installed.versions
        return _elements("modules", block.get("modules") if is_usual else block.at("versions", version))

    def _inputs(self) -> tuple[InputFile, ...]:
        blocks = [
            block for keys in self.models for block in (keys.tree.get("grid"), *_nests(keys)) if block is not None
        ]
        grids = [self._pooled(_setting(block, "file")) for block in blocks]
        grids = [evolve(grid, name="grid.file") for grid in grids]
        files = {_name_of(grid.value): InputFile(_name_of(grid.value), grid) for grid in grids}
        for block in dict.fromkeys((self.tree, *(keys.own for keys in self.models))):
            for target, tree in children_of(block.get("input_files")):
                key = "source" if _optional(tree, "directory") is None else "directory"
                source = _optional(tree, key)
                if source is None:
                    span = tree.key_span
                    raise SpecError((problem("SPC005", f"input_files.{target}.source is not set", span),))
                method, deep = _optional(tree, "method"), _optional(tree, "subdirectories")
                named = self._pooled(Setting(f"input_files.{target}.{key}", source.history))
                files[target] = InputFile(
                    target, named, method.value if method else "link", key != "source", bool(deep and deep.value)
                )
        for keys in self.models:
            self._rename_grid(files, keys)
        return tuple(files.values())

    def _rename_grid(self, files: dict[str, InputFile], keys: ModelKeys) -> None:
        """Bring a grid once where the namelist calls it otherwise and an input file brings it by that name, and not at
        all where the namelist has its path."""
        grid = self._pooled(evolve(_setting(keys.tree, "grid", "file"), name="grid.file"))
        names, own = _grid_names(keys), _name_of(grid.value)
        brought = files.get(names[0]) if names else None
        is_needed = any(own in _grid_names(other) for other in self.models if other is not keys)
        if names == [grid.value] and grid.value.startswith("/") and files[own].source.name == "grid.file":
            if not is_needed:
                del files[own]  # the namelist has its whole path, and it is opened where it lies
            return
        if brought is not None and own not in names and brought.source.value == grid.value and own in files:
            if files[own].source.name == "grid.file" and not is_needed:
                del files[own]
            files[names[0]] = evolve(brought, source=grid)

    def _pooled(self, path: Setting) -> Setting:
        """The path with the pool's directory where it begins with `<pool>`."""
        if not str(path.value).startswith(POOL):
            return path
        pool = _optional(self.tree, "model", "pool")
        if pool is None:
            advice = f"set model.pool, the directory that {POOL} stands for: this site does not know one"
            raise SpecError(
                (problem("SPC005", f"model.pool is not set, and {path.name} lies there", path.span, advice),)
            )
        last = path.origin
        whole = str(PurePosixPath(str(pool.value)) / last.value.removeprefix(POOL).lstrip("/"))
        return Setting(path.name, (*path.history[:-1], Origin(last.layer, whole, last.span)))

    def _chain(self) -> dict[str, Setting]:
        found = {key: _optional(self.tree, *key.split(".")) for key in KEYS}
        for name, _ in children_of(self.tree.at("start_from", "models")):
            found[f"{START_MODELS}{name}"] = _optional(self.tree, "start_from", "models", name)
        return {key: setting for key, setting in found.items() if setting is not None}

    def _striping(self, namelist: Iterable[Group]) -> tuple[Striping, ...]:
        """Checkpoints last: of two layouts of the run directory the later one holds, whatever the order of keys is."""
        directories = {"output": output_directories(namelist), "input": (".",), "restart": (".",)}
        given = dict(children_of(self.tree.get("lustre")))
        return tuple(_layout(what, directories[what], given[what]) for what in directories if what in given)

    def _darshan(self) -> Darshan | None:
        found = self.tree.get("darshan")
        if found is None or (not found.is_mapping and found.value is False):
            return None
        library = _optional(found, "library") if found.is_mapping else None
        if library is None:
            library = _optional(self.site, "darshan", "library")
        own = [*children_of(self.site.get("darshan")), *children_of(found)]
        environment = {key: Setting(f"darshan.{key}", leaf.history) for key, leaf in own if key.startswith("DARSHAN_")}
        records = found.get("MAX_RECORDS") if found.is_mapping else None
        max_records = Setting("darshan.MAX_RECORDS", records.history) if records else None
        return Darshan(found.span, library, environment, max_records)

    def _node_local(self) -> NodeLocalRun | None:
        block = self.tree.get("node_local")
        if block is None:
            return None
        kind = _optional(block, "file_system")
        if kind is None:
            raise SpecError((problem("SPC005", "node_local.file_system is not set", block.span),))
        known = self.machine.node_local
        if kind.value not in known:
            notes = did_you_mean(str(kind.value), known) or (
                f"it has {', '.join(known)}" if known else "it has none that nmlgen knows of",
            )
            message = f'site {self.machine.name} has no node-local file system "{kind.value}"'
            raise SpecError((problem("SPC004", message, kind.span, *notes),))
        return NodeLocalRun(
            kind,
            _optional(block, "directory"),
            _optional(block, "constraint"),
            _optional(block, "copy_while_running"),
            _elements("node_local.before_stage_out", block.at("before_stage_out")),
        )

    def _launch(self) -> Launch:
        command = _setting(self.tree, "launch", "command")
        options = _elements("launch.options", self.tree.at("launch", "options"))
        others = {origin.layer for origin in command.history if origin.value != command.value}
        others = {layer for layer in others if layer.startswith(("site ", "preset "))}
        options = tuple(one for one in options if one.origin.layer not in others)  # of another launcher
        words = [str(option.value) for option in options]
        number = None if all(word.startswith("-") for word in words) else first_program(str(command.value), words)
        if number is not None and not _may_start_others(words[number]) and "--multi-prog" not in words[:number]:
            message = f'launch.options has "{words[number]}", which {command.value} would start in the model\'s place'
            advice = "expected: options, which begin with -, and their values; a program that starts others by its path"
            raise SpecError((problem("SPC004", message, options[number].span, advice),))
        return Launch(command, options)


def _may_start_others(word: str) -> bool:
    """Whether a word is a program that may run what follows it: one that its author names by a path, or a known one."""
    return "/" in word or word in RUNS_OTHERS


def _layout(what: str, directories: tuple[str, ...], block: Tree) -> Striping:
    """What a block below `lustre` says, its components in the order of their ends."""
    plain = {
        key: Setting(f"lustre.{what}.{key}", leaf.history)
        for key, leaf in children_of(block)
        if key != _COMPONENTS and leaf.value is not False
    }
    components = sorted(
        (
            (
                _end(name),
                {key: Setting(f"lustre.{what}.{_COMPONENTS}.{name}.{key}", leaf.history) for key, leaf in said},
            )
            for name, said in ((name, children_of(tree)) for name, tree in children_of(block.get(_COMPONENTS)))
        ),
        key=lambda component: (component[0] is None, component[0]),
    )
    return Striping(what, directories, plain, extents_of(components))


def _end(name: str) -> int | None:
    """The byte that a component goes up to; None for the end of the file."""
    return None if name == END_OF_FILE else parse_size(name)


def _bad_layout(what: str, block: Tree) -> Iterator[Finding]:
    """What `lfs setstripe` refuses of the keys of a block taken together, and ends that are none."""
    keys = dict(children_of(block))
    name = f"lustre.{what}"
    if keys.get("delete") is not None and keys["delete"].value is True and len(keys) > 1:
        advice = "delete alone takes the directory's layout away; or no delete"
        yield problem("SPC004", f"{name}.delete has other keys beside it", keys["delete"].span, advice)
    if keys.get("migrate") is not None and keys["migrate"].value is True and len(keys) == 1:
        advice = "the layout that files are moved into, such as stripe_count; or no migrate"
        yield problem("SPC004", f"{name}.migrate has no layout beside it", keys["migrate"].span, advice)
    components = children_of(keys.get(_COMPONENTS))
    beside = [key for key in keys if key not in (_COMPONENTS, "migrate", "delete")]
    if components and beside:
        advice = f"say it of the components, or take {_COMPONENTS} away with null"
        yield problem("SPC004", f"{name}.{beside[0]} stands beside {_COMPONENTS}", keys[beside[0]].span, advice)
    for end, component in components:
        if end != END_OF_FILE and (parse_size(end) % COMPONENT_UNIT or not parse_size(end)):
            advice = "expected: a multiple of 64K, or eof for the last one"
            yield problem("SPC004", f"{name}.{_COMPONENTS}.{end} is no end of a component", component.key_span, advice)
        if (size := component.get("stripe_size")) is not None:
            yield from _unparsable(f"{name}.{_COMPONENTS}.{end}.stripe_size", size, size.value, parse_size)
    if components and END_OF_FILE not in dict(components):
        message = f"{name}.{_COMPONENTS} ends before the end of a file: a write beyond it fails"
        yield problem("SPC004", message, keys[_COMPONENTS].key_span, f"expected: {END_OF_FILE} as the last end")
    if sizes := [_end(end) for end, _ in components if end != END_OF_FILE]:
        counts = Counter(sizes)
        twice = next((end for end, _ in components if end != END_OF_FILE and counts[_end(end)] > 1), None)
        if twice is not None:
            advice = "expected: each end once"
            span = dict(components)[twice].key_span
            yield problem("SPC004", f"{name}.{_COMPONENTS}.{twice} is there twice in other units", span, advice)


def _elements(name: str, tree: Tree | None) -> tuple[Setting, ...]:
    """A list as one setting an element, each with the list's origin."""
    if tree is None:
        return ()
    origin = tree.history[-1]
    return tuple(Setting(name, (Origin(origin.layer, value, origin.span),)) for value in as_list(origin.value))
