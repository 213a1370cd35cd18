"""Raising: from an Experiment back to the keys of a spec, the reverse of lowering.

What lowering fills in by itself, and what the layers below a spec say already, is left out; what they say and the
experiment does not is taken away by null. What a spec cannot say becomes a Gap, which the text shows as a comment.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from nmlgen.errors import SpecError
from nmlgen.experiment.component import LAND_GROUP, MODEL_GROUP, Component
from nmlgen.experiment.coupling import COUPLING_FILE
from nmlgen.experiment.difference import JOB, MASTER, PARTS, stream_name
from nmlgen.experiment.experiment import Experiment, InputFile
from nmlgen.experiment.group import Group, as_list
from nmlgen.experiment.meeting import PMI_LIBRARY, meeting_variables
from nmlgen.experiment.mpi_io import lustre_variables
from nmlgen.experiment.setting import Certainty, Setting, UndecidedError, written
from nmlgen.experiment.striping import Striping
from nmlgen.experiment.threads import BINDING, asks_for_gpus, cores_of_a_task, openmp_variables
from nmlgen.spec.document import from_plain
from nmlgen.spec.domains import Lists, domains_of, lists_of
from nmlgen.spec.layers import EMPTY, merge, tree_of
from nmlgen.spec.lower import DEFAULTS, LAYER, OUTPUT_DIRECTORY
from nmlgen.spec.models import TYPES
from nmlgen.spec.programs import DEALING_OPTIONS, DEALT
from nmlgen.spec.sections import VARIABLES, WHOLE_GROUPS, canonical, spelling
from nmlgen.spec.site import NODE_FACTS, Site
from nmlgen.spec.validate import accepts
from nmlgen.units.size import format_size
from nmlgen.units.wall_time import format_wall_time, parse_wall_time
from nmlgen.values import evolve, frozen

Keys = dict[str, Any]
"""The keys of a spec: mappings of mappings, whose leaves are plain values, None to take a key away, Gap or Assumed."""

_EXECUTABLE = "bin/icon"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]{0,63}")
_LABEL = re.compile(r"[A-Za-z0-9_]{1,40}")
_TIME = "master_time_control_nml"
_DERIVED_TIMES = (("output_start", "experimentstartdate"), ("output_end", "experimentstopdate"))
_OF_MASTER = (
    ((_TIME, "experimentstartdate"), ("time_nml", "ini_datetime_string")),
    (
        *((_TIME, "experimentstopdate"), (_TIME, "forecastleadtime")),
        *(("time_nml", "end_datetime_string"), ("run_nml", "nsteps")),
    ),
)
_OF_A_MODEL = ((("run_nml", "modeltimestep"), ("run_nml", "dtime")),)
"""What there is no experiment without: of each row one variable."""

_MODEL_LABEL = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}")
_RANKS = ("model_min_rank", "model_max_rank", "model_inc_rank", "model_rank_group_size")


@frozen
class Gap:
    """A value that the spec cannot say, and why."""

    reason: str


@frozen
class Assumed:
    """A value that nothing says, filled in so that the spec is complete, and why."""

    value: Any
    reason: str


def raised(experiment: Experiment, site: Site, parts: tuple[str, ...] = PARTS) -> Keys:
    """The keys of a spec, with that site and without presets, that lowers to the experiment.

    `parts` names what the experiment speaks of (see `difference.PARTS`); of the rest the site's defaults are to hold.
    """
    wanted = _Raising(experiment, site, parts).keys()
    below = _below(site, wanted)
    if experiment.programs:
        _without_dealing(below)
    wanted.setdefault("environment", {})
    added = {**_threads_below(experiment, site, below, wanted), **_meeting_below(experiment, site, below, wanted)}
    added |= _lustre_below(experiment, site, below, wanted)
    below["environment"] = {**added, **below.get("environment", {})}
    for key in ("run_directory", "launch"):
        if key not in wanted:  # nobody says it, and there is no experiment without it
            del below[key]
    if JOB in parts and not says_job(experiment):
        below = {"namelists": below["namelists"], **_common(below, wanted)}
    if JOB not in parts:
        below = {"namelists": below["namelists"]}
    if MASTER not in parts:
        del below["namelists"]
    if "environment" not in below and not wanted["environment"]:
        del wanted["environment"]
    return _sayable(_arranged(_without(wanted, below)))


def _without_dealing(below: Keys) -> None:
    """Take away what a placement takes the place of."""
    for name in DEALT:
        below.get("job", {}).pop(name.replace("-", "_"), None)
    launch = below["launch"]
    launch["options"] = [option for option in launch["options"] if not DEALING_OPTIONS.match(option)]


def says_job(experiment: Experiment) -> bool:
    """Whether an experiment says how it is run. Of one that does not, what else it says may be only a part."""
    return experiment.directives_span is not None or _is_said(experiment.launch.command)


def _common(below: Keys, wanted: Keys) -> Keys:
    """The keys below that the layer above says, too: none of them is to be taken away."""
    return {
        key: _common(value, wanted[key]) if isinstance(value, dict) and isinstance(wanted[key], dict) else value
        for key, value in below.items()
        if key in wanted and key != "namelists"
    }


def _below(site: Site, wanted: Keys) -> Keys:
    """What a spec would have without saying anything: nmlgen's defaults, the site's, and those of its MPI."""
    merged = EMPTY
    for layer in (DEFAULTS, site.defaults):
        merged = merge(merged, canonical(tree_of(from_plain(layer), LAYER)))
    below: Keys = merged.plain()
    below.pop("model", None)  # the pool: whoever does not speak of it need not take it away
    if "models" in wanted:
        del below["namelists"][MODEL_GROUP]
    implementation = wanted.get("mpi", {}).get("implementation")
    block = site.facts["mpi"].get(implementation, {})
    if "version" in block:
        below.setdefault("mpi", {}).setdefault("version", block["version"])
    if "environment" in block:
        below["environment"] = {**block["environment"], **below.get("environment", {})}
    below.setdefault("modules", _modules_below(site, implementation, wanted.get("mpi", {}).get("version")))
    below.setdefault("launch", {}).setdefault("options", [])
    return below


def _threads_below(experiment: Experiment, site: Site, below: Keys, wanted: Keys) -> Mapping[str, str]:
    """The variables of OpenMP that lowering adds by itself; those of binding only where nobody says anything of it."""
    try:
        directives = experiment.directives
        cores = 1 if asks_for_gpus(directives) else cores_of_a_task(directives, site.machine)
    except UndecidedError:
        return {}
    under, said = below.get("environment", {}), wanted.get("environment", {})
    added = openmp_variables(cores, under)
    if added.items() <= said.items():
        return added
    return openmp_variables(cores, {**under, **{name: None for name in BINDING if name in said}})


def _meeting_below(experiment: Experiment, site: Site, below: Keys, wanted: Keys) -> Mapping[str, str]:
    """The variables that lowering adds by itself so that the tasks of Intel MPI meet."""
    launch, implementation = experiment.launch, wanted.get("mpi", {}).get("implementation")
    if site.machine.scheduler != "slurm" or not isinstance(implementation, str):
        return {}
    said = {*below.get("environment", {}), *({PMI_LIBRARY} & wanted["environment"].keys())}
    try:
        words = [str(option.value) for option in launch.options]
        return meeting_variables(implementation, str(launch.command.value), words, said)
    except UndecidedError:
        return {}


def _lustre_below(experiment: Experiment, site: Site, below: Keys, wanted: Keys) -> Mapping[str, str]:
    """The variables that lowering adds by itself for files on Lustre, and the experiment does not have."""
    implementation, version = (wanted.get("mpi", {}).get(key) for key in ("implementation", "version"))
    path = wanted.get("run_directory", below["run_directory"])
    if not isinstance(implementation, str) or not isinstance(path, str) or isinstance(version, Gap):
        return {}
    if site.machine.file_system_of(path).type != "lustre":
        return {}
    said = {*wanted["environment"], *experiment.mpi.lustre_variables}
    added = lustre_variables(implementation, version)
    return {name: value for name, value in added.items() if name not in said}


def _modules_below(site: Site, implementation: Any, version: Any) -> list[str] | None:
    """What the site loads for a version of an MPI library; None where a spec has to say it."""
    installed = site.machine.mpi.get(implementation) if isinstance(implementation, str) else None
    known = installed.modules_of(version if isinstance(version, str) else None) if installed is not None else ("", ())
    return None if known is None else list(known[1])


def _without(wanted: Keys, below: Keys) -> Keys:
    """The layer that makes `wanted` out of `below`."""
    layer: Keys = {}
    for key, value in wanted.items():
        under = below.get(key)
        if isinstance(value, dict) and isinstance(under, dict):
            if inner := _without(value, under):
                layer[key] = inner
        elif key not in below or not _is_same(value, under):
            layer[key] = value
    return layer | {key: None for key in below if key not in wanted and key != "lrestart"}


def _is_same(value: Any, other: Any) -> bool:
    return type(value) is type(other) and bool(value == other)


def _arranged(keys: Keys) -> Keys:
    """The variables in the sections that hold them; the rest of them stays below `namelists`."""
    arranged = {key: value for key, value in keys.items() if key != "namelists"}
    rest: Keys = {group: dict(variables or {}) for group, variables in keys.get("namelists", {}).items()}
    for (section, key), (group, variable) in VARIABLES.items():
        value = rest.get(group, {}).get(variable.lower(), ())
        if value != () and (value is None or isinstance(value, (Gap, Assumed)) or accepts(value, section, key)):
            arranged.setdefault(section, {})[key] = rest[group].pop(variable.lower())
    for section, group in WHOLE_GROUPS.items():
        if group in rest:
            arranged[section] = _spelt(rest.pop(group))
    namelists = {group: _spelt(left) for group, left in rest.items() if left or not keys["namelists"][group]}
    arranged |= {"namelists": namelists} if namelists else {}
    if "models" in keys:
        arranged["models"] = {label: _arranged(model) for label, model in keys["models"].items()}
    return arranged


def _sayable(keys: Keys, *path: str) -> Keys:
    """The same with a Gap for each value that no spec takes, and without keys that none could spell."""
    checked: Keys = {}
    for key, value in keys.items():
        if isinstance(value, dict) and value:
            checked[key] = _sayable(value, *path, key)
        elif isinstance(value, (Gap, Assumed)) or value is None or _is_sayable(value, *path, key):
            checked[key] = value
        else:
            checked[key] = Gap(f"a spec takes no such key or value: {_shown(value)}")
    return checked


def _is_sayable(value: Any, *path: str) -> bool:
    try:
        from_plain({path[-1]: value})
    except SpecError:
        return False
    return accepts(value, *path)


def _shown(value: Any) -> str:
    return ", ".join(map(repr, as_list(value)))


def _spelt(variables: Keys) -> Keys:
    return {spelling(name): value for name, value in variables.items()}


def label_of(component: Component, taken: Container[str]) -> str:
    """What one of several components is called in a spec, where some names are taken."""
    title = component.title
    return title if _MODEL_LABEL.fullmatch(title) and title not in taken else f"model_{component.number + 1}"


class _Raising:
    """One raising; its methods each make the keys of one part of the Experiment."""

    def __init__(self, experiment: Experiment, site: Site, parts: tuple[str, ...]) -> None:
        self.experiment = experiment
        self.site = site
        self.parts = parts
        self.name = experiment.name

    def keys(self) -> Keys:
        """All that a spec would have to say if nothing were below it."""
        keys: Keys = {"nmlgen": 1, "name": self.name, "site": self.site.name, "model": self._model()}
        keys |= self._only_component() if len(self.experiment.models) == 1 else self._components()
        if JOB in self.parts:
            keys |= self._machine()
        else:
            keys["job"] = {name: _word(s) for name, s in self.experiment.directives.items() if _is_said(s)}
        keys["partitions"] = self._partitions()
        keys["coupling"] = self._coupling()
        keys["programs"] = {
            program.name: said
            for program, said in zip(self.experiment.programs, self._programs(), strict=True)
            if program.model is None
        }
        return {key: value for key, value in keys.items() if value != {} or key == "namelists"}

    def _coupling(self) -> Any:
        """What the components exchange, in YAC's words; an input file of that name is among the input files."""
        coupling = self.experiment.coupling
        if coupling is None or COUPLING_FILE in [file.target for file in self.experiment.inputs]:
            return {}
        if coupling.text is None:
            place = f" at {coupling.span}" if coupling.span is not None else ""
            return Gap(f"only the running shell knows all of {COUPLING_FILE}{place}") if place else {}
        content = dict(coupling.content)
        if content.get("timestep_unit") == "ISO_format":
            del content["timestep_unit"]
        return content

    # --- Namelists ---

    def _only_component(self) -> Keys:
        """What a spec of one component says of it."""
        (component,) = self.experiment.components
        namelists = self._namelists((*self.experiment.master, *component.namelist), (*_OF_MASTER, *_OF_A_MODEL))
        time = namelists.get(_TIME, {})
        self._leave_out_file(namelists, f"NAMELIST_{self.name}")
        domains = self._domains(namelists, component)
        grid = self._grid(component, namelists)
        return {
            "grid": grid,
            "domains": domains,
            "output": self._output(component, self.name, time),
            "namelists": namelists,
            "land": self._land(component),
        }

    def _components(self) -> Keys:
        """What a spec of several components says of each, and of what they have in common."""
        entries = {id(model.entry) for model in self.experiment.models}
        shared = [group for group in self.experiment.master if id(group) not in entries]
        namelists = self._namelists(shared, _OF_MASTER)
        time = namelists.get(_TIME, {})
        models: Keys = {}
        ranks = self._contiguous()
        for component in self.experiment.components:
            label = label_of(component, models)
            own = self._namelists((component.model.entry, *component.namelist), _OF_A_MODEL)
            keys: Keys = self._entry(own, label)
            if self.experiment.programs:
                keys |= self._programs()[component.number]
                for name in _RANKS:
                    own[MODEL_GROUP].pop(name, None)
            elif component.number in ranks:
                keys["tasks"] = ranks[component.number]
                for name in ("model_min_rank", "model_max_rank"):
                    own[MODEL_GROUP].pop(name, None)
            elif MASTER in self.parts and not any(name in own.get(MODEL_GROUP, {}) for name in _RANKS):
                keys["tasks"] = Gap("nothing says which ranks it gets")
            self._leave_out_file(own, f"NAMELIST_{self.name}_{label}")
            keys["domains"] = self._domains(own, component)
            keys["grid"] = self._grid(component, own)
            keys["output"] = self._output(component, f"{self.name}_{label}", time)
            keys |= {"namelists": own, "land": self._land(component)}
            models[label] = {key: value for key, value in keys.items() if value != {}}
        return {"models": models, "namelists": namelists}

    def _partitions(self) -> Keys:
        """What is said of the nodes of partitions besides what the site says."""
        found: Keys = {}
        for key, lists in self.experiment.machine.said.items():
            name = next(key.removesuffix(f".{fact}") for fact in NODE_FACTS if key.endswith(f".{fact}"))
            *sections, fact = key.removeprefix(f"{name}.").split(".")
            part = found.setdefault(name, {})
            for section in sections:
                part = part.setdefault(section, {})
            part[fact] = list(lists)
        return found

    def _programs(self) -> list[Keys]:
        """What is said of each program; what follows from its site is left out."""
        found = []
        for program in self.experiment.programs:
            keys: Keys = {}
            for path, setting in program.recorded().items():
                *sections, name = path.removeprefix(f"{program.path}.").split(".")
                part = keys
                for section in sections:
                    part = part.setdefault(section, {})
                part[name.replace("-", "_") if sections == ["job"] else name] = _value(setting)
            found.append(keys)
        return found

    def _entry(self, own: Keys, label: str) -> Keys:
        """The type and the name of a component, which its entry in the master namelist says no more."""
        entry = own.get(MODEL_GROUP, {})
        words = {number: word for word, number in TYPES.items()}
        keys: Keys = {}
        if entry.get("model_type") in words:
            keys["type"] = words[entry.pop("model_type")]
        name = entry.pop("model_name", None)
        if name is not None and name != label:
            keys["name"] = name
        return keys

    def _contiguous(self) -> dict[int, int]:
        """The tasks of the models by their numbers, if one lies behind the other and together they are the job's."""
        try:
            shares, tasks = self.experiment.shares, self.experiment.tasks.value
        except UndecidedError:
            return {}
        bounds = [(min(share), max(share) + 1) for share in shares if share]
        ends = [0, *(last for _, last in bounds)]
        is_whole = len(bounds) == len(shares) and ends[-1] == tasks and not self._claims_more(tasks)
        is_dense = all(last - first == len(share) for (first, last), share in zip(bounds, shares, strict=False))
        if not is_whole or not is_dense or [first for first, _ in bounds] != ends[:-1]:
            return {}
        return {number: len(share) for number, share in enumerate(shares)}

    def _claims_more(self, tasks: int) -> bool:
        """Whether a model's ranks reach beyond the last one, which ICON takes for no mistake."""
        found = [component[MODEL_GROUP, "model_max_rank"] for component in self.experiment.components]
        return any(setting.is_written and int(setting.value) >= tasks for setting in found)

    def _namelists(self, groups: Iterable[Group], needed: Iterable[tuple[tuple[str, str], ...]]) -> Keys:
        """The groups but for output streams, with a Gap where something is missing without which nothing loads."""
        found: Keys = {}
        for group in groups:
            name = group.name.lower()
            if name not in found and name != "output_nml":  # ICON reads the first; `unsaid` tells of the others
                found[name] = _variables(group)
        for names in needed:
            if not any(variable in found.get(group, {}) for group, variable in names):
                first, variable = names[0]
                found.setdefault(first, {})[variable] = Gap("nothing says it, and there is no experiment without it")
        return found

    def _land(self, component: Component) -> Keys:
        return self._namelists(component.model.land, ())

    def _leave_out_file(self, namelists: Keys, name: str) -> None:
        """Take away the name of the namelist file where nmlgen calls it so by itself."""
        entry = namelists.setdefault(MODEL_GROUP, {})
        file = entry.get("model_namelist_filename")
        if file == name or isinstance(file, Gap):
            del entry["model_namelist_filename"]
        if not entry:
            del namelists[MODEL_GROUP]

    def _output(self, component: Component, beginning: str, time: Keys) -> Keys:
        labelled = self._labelled(component, beginning)
        return {label: self._stream(label, stream, beginning, time) for label, stream in labelled.items()}

    def _labelled(self, component: Component, beginning: str) -> dict[str, Group]:
        """The streams by a name for each: the one it has, else one made of its output_filename."""
        labelled: dict[str, Group] = {}
        for number, stream in enumerate(component.streams, start=1):
            file = PurePosixPath(stream_name(stream)).name.removeprefix(f"{beginning}_").removeprefix(f"{self.name}_")
            made = re.sub(r"[^A-Za-z0-9]+", "_", file).strip("_")[-36:].strip("_")
            label = stream.label or made or f"stream_{number}"
            while label in labelled:  # what makes it another may be another's name, too
                label = f"{label}_{number}"
            labelled[label] = stream
        return labelled

    def _stream(self, label: str, stream: Group, beginning: str, time: Keys) -> Keys:
        keys = _variables(stream)
        if keys.get("output_filename") == f"{OUTPUT_DIRECTORY}/{beginning}_{label}":
            del keys["output_filename"]
        elif "output_filename" not in keys:
            keys = {"output_filename": Assumed("", "nobody says it; without it nmlgen would make one up"), **keys}
        if not isinstance(keys.get("output_bounds"), (Gap, type(None))):
            return _spelt(keys)
        for variable, source in _DERIVED_TIMES:
            if variable not in keys:
                keys[variable] = None
            elif source in time and _is_same(keys[variable], time[source]):
                del keys[variable]
        return _spelt(keys)

    # --- The model and its files ---

    def _model(self) -> Keys:
        experiment = self.experiment
        keys: Keys = {"release": experiment.registry.release}
        if experiment.registry.path is not None:
            keys["registry"] = experiment.registry.reference
        if experiment.base_directory is not None:
            keys["directory"] = _value(experiment.base_directory)
        executable = _value(experiment.executable)
        if not _is_said(experiment.executable):
            executable = Assumed(_EXECUTABLE, "nothing says where the model lies")
        if JOB not in self.parts:
            executable = Assumed(_EXECUTABLE, "namelists do not say where the model lies")
        elif isinstance(executable, Gap):
            executable = Assumed(_EXECUTABLE, f"which program it is, {executable.reason}")
        parts = {name: _value(setting) for name, setting in experiment.parts.items()}
        own = self._programs()[0] if self.experiment.programs and len(self.experiment.models) == 1 else {}
        return {**keys, "executable": executable, **own} | ({"parts": parts} if parts else {})

    def _grid(self, component: Component, namelists: Keys) -> Keys:
        grid = namelists.get("grid_nml", {})
        target = grid.get("dynamics_grid_filename")
        first = as_list(target)[0] if isinstance(target, (str, list)) else None
        file = self._grid_file(first)
        keys: Keys = {"file": _grid_path(file, first)}
        shown = keys["file"].value if isinstance(keys["file"], Assumed) else keys["file"]
        if target is None and isinstance(shown, str):
            namelists.setdefault("grid_nml", {})["dynamics_grid_filename"] = None
        elif isinstance(shown, str) and target == PurePosixPath(shown).name:
            del grid["dynamics_grid_filename"]
            if not grid:
                del namelists["grid_nml"]
        if component.grid_name is not None:
            keys["name"] = _value(component.grid_name)
        if component.model.cells is not None:
            keys["cells"] = _value(component.model.cells)
        return keys

    def _domains(self, namelists: Keys, component: Component) -> Keys:
        """The nests, taken out of the namelists; none where they do not say them whole."""
        variables = {(group, name): value for group, keys in namelists.items() for name, value in keys.items()}
        nests = self._nests(variables)
        if not nests:
            return {}
        first, levels = variables["grid_nml", "dynamics_grid_filename"][0], variables.get(("run_nml", "num_lev"))
        for group, name in lists_of(first, levels, nests):
            del namelists[group][name]
        namelists["grid_nml"]["dynamics_grid_filename"] = first
        if any("num_lev" in nest for nest in nests.values()) and isinstance(levels, list):
            namelists["run_nml"]["num_lev"] = levels[0]
        for nest in nests.values():
            file = next((file for file in self.experiment.inputs if file.target == nest["file"]), None)
            nest["file"] = _grid_path(file, nest["file"])
        for nest, land in zip(nests.values(), component.model.nest_land, strict=False):
            if land:
                nest["land"] = self._namelists(land, ())
        return dict(nests)

    def _nests(self, variables: Lists) -> dict[str, dict[str, Any]]:
        """The nests that make these variables; none where a grid is brought by another name than it has, which only
        input_files can say."""
        nests = domains_of(variables)
        grids = variables["grid_nml", "dynamics_grid_filename"] if nests else ()
        brought = {file.target: _value(file.source) for file in self.experiment.inputs if file.target in grids}
        is_renamed = any(isinstance(path, str) and PurePosixPath(path).name != name for name, path in brought.items())
        return {} if is_renamed else nests

    def _nest_names(self, component: Component) -> list[str]:
        """The names of the grids of nests that `domains` takes over."""
        variables = {
            (group.name.lower(), name): _plain(name, setting.value)
            for group in (component.group("grid_nml"), component.group("run_nml"))
            if group is not None
            for name, setting in group.settings.items()
            if setting.certainty is not Certainty.UNKNOWN
        }
        return [str(nest["file"]) for nest in self._nests(variables).values()]

    def _grid_file(self, target: str | None) -> InputFile | None:
        """The input file that is the grid of this name; of a single model the one that says that it is the grid."""
        inputs = self.experiment.inputs
        said = [file for file in inputs if file.source.name == "grid.file"] if len(self.experiment.models) == 1 else []
        named = [file for file in inputs if target is not None and file.target == PurePosixPath(target).name.rstrip()]
        return next(iter((*said, *named)), None) or _of_directory(inputs, target)

    # --- What is said to the machine ---

    def _machine(self) -> Keys:
        experiment = self.experiment
        mpi = experiment.mpi
        hints = {name: _word(setting) for name, setting in mpi.hints.items()}
        stack = experiment.stack_limit
        launch = experiment.launch
        return {
            **({"run_directory": _value(experiment.run_directory)} if _is_said(experiment.run_directory) else {}),
            "job": self._job(),
            "lustre": {striping.what: _layout(striping) for striping in experiment.striping},
            "mpi": _some(implementation=mpi.implementation, version=mpi.version) | ({"hints": hints} if hints else {}),
            **self._darshan(),
            "node_local": self._node_local(),
            "launch": {"command": _value(launch.command), "options": _values(launch.options)}
            if _is_said(launch.command)
            else {},
            "modules": _values(experiment.modules),
            "environment": {name: _text(_word(setting)) for name, setting in experiment.environment.items()},
            **self._chain(),
            "shell": {"limits": {"stack": _value(stack)}} if stack is not None else {},
            "input_files": self._input_files(),
        }

    def _chain(self) -> Keys:
        keys: Keys = {}
        for path, setting in self.experiment.chain.items():
            *sections, name = path.split(".")
            part = keys
            for section in sections:
                part = part.setdefault(section, {})
            part[name] = _value(setting)
        return keys

    def _job(self) -> Keys:
        directives = dict(self.experiment.directives)
        keys: Keys = {}
        for name, setting in directives.items():
            key = name.replace("-", "_")
            if _is_said(setting):
                keys[key] = _directive(key, _word(setting))  # to sbatch blanks at the end mean something
        if keys.get("job_name") == self.name:
            del keys["job_name"]
        if self.experiment.programs:
            keys.pop("ntasks", None)
        else:
            keys |= self._tasks()
        self._leave_out_node_local(keys)
        return keys

    def _tasks(self) -> Keys:
        """The number of tasks where the launcher says another one than the directives."""
        told = self.experiment.launch.tasks
        if told is None or not _is_said(told):
            return {}
        asked = evolve(self.experiment, launch=evolve(self.experiment.launch, tasks=None)).tasks
        if _value(asked) == _value(told):
            return {}
        where = f" at {told.span}" if told.span is not None else ""
        said = _value(told)
        return {"ntasks": said if isinstance(said, Gap) else Assumed(said, f"the launcher is told so{where}")}

    def _leave_out_node_local(self, keys: Keys) -> None:
        """Take away what lowering adds for a node-local file system."""
        run = self.experiment.node_local
        facts = self.site.machine.node_local.get(_value(run.kind)) if run is not None else None
        if run is None or facts is None:
            return
        feature = _value(run.constraint) if run.constraint is not None else next(iter(facts.constraints), None)
        constraint = keys.get("constraint")
        if feature and isinstance(constraint, str):
            if constraint == feature:
                del keys["constraint"]
            else:
                keys["constraint"] = constraint.removesuffix(f"&{feature}")
        if facts.exclusive and keys.get("exclusive") is True:
            del keys["exclusive"]

    def _darshan(self) -> Keys:
        darshan = self.experiment.darshan
        if darshan is None:
            return {"darshan": False} if self.site.defaults.get("darshan") else {}
        facts = self.site.facts.get("darshan", {})
        known = facts.get("library")
        library = {} if darshan.library is None or _value(darshan.library) == known else _some(library=darshan.library)
        records = _some(MAX_RECORDS=darshan.max_records)
        variables = {name: _value(setting) for name, setting in darshan.environment.items()}
        variables |= {name: None for name in facts if name.startswith("DARSHAN_") and name not in variables}
        keys = {
            **library,
            **{name: value for name, value in variables.items() if name not in facts or facts[name] != value},
            **records,
        }
        return {"darshan": keys or True}

    def _node_local(self) -> Keys:
        run = self.experiment.node_local
        if run is None:
            return {}
        commands = {"before_stage_out": _values(run.before_stage_out)} if run.before_stage_out else {}
        return commands | _some(
            file_system=run.kind,
            directory=run.directory,
            constraint=run.constraint,
            copy_while_running=run.copy_while_running,
        )

    def _input_files(self) -> Keys:
        components = self.experiment.components
        grids = [self._grid_file(_grid_target(component)) for component in components]
        names = {name for component in components for name in self._nest_names(component)}
        grids += [file for file in self.experiment.inputs if file.target in names]
        files: Keys = {}
        for file in self.experiment.inputs:
            source = _value(file.source)
            if file in grids and file.method == "link" and file.target == PurePosixPath(str(source)).name:
                continue
            if isinstance(source, Gap):
                if file not in grids:
                    files[file.target] = source
                continue
            keys: Keys = {"directory" if file.is_pattern else "source": source}
            keys |= {"subdirectories": True} if file.is_deep else {}
            files[file.target] = keys | ({} if file.method == "link" else {"method": file.method})
        return files


def _layout(striping: Striping) -> Keys:
    keys: Keys = {name: _value(setting) for name, setting in striping.settings.items()}
    if striping.components:
        keys["component_end"] = {
            extent.name: {name: _value(setting) for name, setting in extent.settings.items()}
            for extent in striping.components
        }
    return keys


def _of_directory(inputs: Iterable[InputFile], target: str | None) -> InputFile | None:
    """The file of this name as one of a directory all of whose files are brought, or that is linked itself."""
    name = "" if target is None else target.rstrip().removeprefix("./")
    for file in inputs if name else ():
        inside = name.removeprefix(f"{file.target}/")
        if file.is_pattern and not file.is_deep and file.fits(name):
            inside = name.rpartition("/")[2]
        elif inside == name:
            continue
        if file.source.certainty is not Certainty.UNKNOWN and not file.is_deep:
            path = f"{str(file.source.value).rstrip('/')}/{inside}"
            return InputFile(name, written("grid.file", path, "script", file.source.span))
    return None


def _grid_path(file: InputFile | None, name: Any) -> Any:
    """Where a grid of this name lies: in the directory itself, where nobody knows it."""
    lies = _value(file.source) if file is not None else None
    if file is not None and not isinstance(lies, Gap):
        return lies
    if not isinstance(name, str) or not PurePosixPath(name).name.strip(". "):
        return lies or Gap("nothing says which file")
    if lies is None and name.startswith("/"):
        return name.rstrip()
    why = f"where the grid file lies, {lies.reason}" if lies is not None else "nothing says where the grid file lies"
    return Assumed(PurePosixPath(name).name.rstrip(), why)


def _grid_target(component: Component) -> str | None:
    setting = component["grid_nml", "dynamics_grid_filename"]
    if setting.certainty is Certainty.UNKNOWN:
        return None
    return str(as_list(setting.value)[0])


def unsaid(experiment: Experiment) -> Iterator[str]:
    """What an experiment holds that no key of a spec can say, in sentences."""
    entries = {id(model.entry) for model in experiment.models}
    shared = [group for group in experiment.master if id(group) not in entries]
    lands = [land for model in experiment.models for land in model.lands]
    has_nests = any(model.nest_land for model in experiment.models)
    for groups in (shared, *(model.namelist for model in experiment.models), *lands):
        yield from _unsaid(groups, has_land=bool(lands), has_nests=has_nests)


def _unsaid(groups: Iterable[Group], *, has_land: bool, has_nests: bool) -> Iterator[str]:
    seen: set[str] = set()
    for group in groups:
        name = group.name.lower()
        if name in seen and name != "output_nml" and not (name == LAND_GROUP and has_nests):
            where = f" at {group.span}" if group.span is not None else ""
            yield f"a spec holds one {name}; the further one{where} is not in it"
        seen.add(name)
        file = group.settings.get("model_namelist_filename")
        is_known = file is not None and file.certainty is not Certainty.UNKNOWN
        if name == LAND_GROUP and file is not None and is_known and not has_land:
            yield f"{file.value}, the namelist file of JSBACH, is not there: say below land what stands in it"


def said_in(group: Group) -> Keys:
    """The variables of a group that somebody wrote, as a spec has them."""
    return _spelt(_variables(group))


def _variables(group: Group) -> Keys:
    return {key: _plain(key, _value(setting)) for key, setting in group.settings.items() if _is_said(setting)}


def _is_said(setting: Setting) -> bool:
    """Whether anybody wrote it: what no text stands for is no gap either."""
    return setting.certainty is not Certainty.UNKNOWN or setting.span is not None


def _plain(name: str, value: Any) -> Any:
    """A value as a person writes it: a list where there are several, or where there usually are."""
    several = name.endswith("varlist") or name == "output"
    if isinstance(value, (list, tuple)):
        return value[0] if len(value) == 1 and not several else list(value)
    return [value] if several and isinstance(value, str) else value


def _trimmed(value: Any) -> Any:
    """A text without the blanks behind it, which mean nothing to Fortran."""
    if isinstance(value, (list, tuple)):
        return type(value)(_trimmed(element) for element in value)
    return value.rstrip(" ") if isinstance(value, str) and value.strip() else value


def _value(setting: Setting) -> Any:
    """The value as a namelist means it, or a Gap where only a running shell knows it."""
    return _trimmed(_word(setting))


def _word(setting: Setting) -> Any:
    """The value as it is written, or a Gap."""
    if setting.certainty is not Certainty.UNKNOWN:
        return setting.value
    if setting.span is None:
        return Gap("not known")
    if isinstance(setting.origin.value, str) and setting.origin.value:
        return Gap(f"to be filled in: {setting.origin.value} at {setting.span}")
    for text in (setting.span.text, setting.span.source.line(setting.span.line).strip()):
        if "$" in text or "`" in text:
            return Gap(f"only the running shell knows: {text} at {setting.span}")
    return Gap(f"what ICON reads there is not known, see {setting.span}")


def _values(settings: tuple[Setting, ...]) -> Any:
    values = [_word(setting) for setting in settings]
    return next((value for value in values if isinstance(value, Gap)), values)


def _some(**settings: Setting | None) -> Keys:
    return {name: _value(setting) for name, setting in settings.items() if setting is not None}


def _text(value: Any) -> Any:
    return value if isinstance(value, (str, Gap)) else str(value)


def _directive(key: str, value: Any) -> Any:
    """A value of sbatch in the form that a spec takes: with its unit, a count as a number."""
    if not isinstance(value, str) or accepts(value, "job", key):
        return value
    if re.fullmatch("[0-9]{1,18}", value):
        if accepts(int(value), "job", key):
            return int(value)
        if key in ("mem", "mem_per_cpu"):  # sbatch's unit is M
            return format_size(int(value) << 20) if int(value) else "0M"  # all that a node has
    if key == "time":
        try:
            return format_wall_time(parse_wall_time(value))
        except ValueError:
            return value
    return value
