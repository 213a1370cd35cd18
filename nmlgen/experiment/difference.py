"""Two experiments compared by what they say, not by how it is written.

The order of groups and variables does not count, nor does a blank at the end of a string, `1.0d0` is `1.`, and output
streams belong together by their output_filename. A variable that one side writes and the other leaves to a default of
the same value is told apart from a difference; what only a running shell knows is neither the same nor different.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Container, Iterable, Iterator, Mapping
from enum import Enum
from fnmatch import fnmatchcase
from typing import Any

from nmlgen.experiment.component import LAND_FILE, Component
from nmlgen.experiment.coupling import COUPLING_FILE
from nmlgen.experiment.experiment import Experiment, InputFile
from nmlgen.experiment.group import Group, as_list, default_element
from nmlgen.experiment.machine import UNKNOWN_SITE
from nmlgen.experiment.setting import Certainty, Setting, written
from nmlgen.experiment.striping import Striping
from nmlgen.namelist.registry import Registry, Variable, bounds_of
from nmlgen.units.size import parse_size
from nmlgen.units.wall_time import parse_wall_time
from nmlgen.values import evolve, field, frozen

MASTER, NAMELIST, JOB = "master", "namelist", "job"
PARTS = (MASTER, NAMELIST, JOB)
"""What an experiment consists of: the master namelist, the model's namelist, and everything said to the machine."""

_STREAM = "output_nml"
_SUBSCRIPTS = re.compile(r"\([^()]*\)")
_MOST_ELEMENTS = 10_000
_ELEMENT = re.compile(r"(?P<array>.*\w)\((?P<index>\d{1,9})\)")


class Verdict(Enum):
    """How two settings stand to each other, unless they are the same."""

    DIFFERENT = "different"
    EXPLICIT = "explicit"  # one side writes the value that is the other side's default
    UNDECIDED = "undecided"


@frozen
class Difference:
    """Two settings that are not the same: `old` and `new`, None where a side says nothing and no default is known.

    `section` is the namelist group, `output_nml "<output_filename>"`, or a part of the job such as "environment".
    """

    section: str
    name: str
    old: Setting | None
    new: Setting | None
    verdict: Verdict


def differences(old: Experiment, new: Experiment, parts: tuple[str, ...] = PARTS) -> tuple[Difference, ...]:
    """Every setting in which two experiments are not the same, section by section in the order of the older one."""
    return tuple(_differences(old, new, parts))


@frozen
class _Section:
    """Settings that belong together, by name. Variables of a `group` that nobody wrote have their defaults."""

    title: str
    settings: Mapping[str, Setting] = field(factory=dict)
    group: str | None = None
    file: str | None = None


def _differences(old: Experiment, new: Experiment, parts: tuple[str, ...]) -> Iterator[Difference]:
    is_told = any(experiment.launch.tasks is not None for experiment in (old, new))
    if any("ntasks" in experiment.directives for experiment in (old, new)):
        old, new = (_with_resulting_tasks(experiment, is_told) for experiment in (old, new))
    if len(old.models) == len(new.models) == 1:
        yield from _between(old, new, _sections(old, parts, is_told), _sections(new, parts, is_told))
        return
    yield from _between(old, new, _shared(old, parts, is_told), _shared(new, parts, is_told))
    if MASTER not in parts and NAMELIST not in parts:
        return
    before, after = _by_name(old), _by_name(new)
    for name in dict.fromkeys((*before, *after)):
        left, right = before.get(name), after.get(name)
        if left is not None and right is not None:
            for change in _between(old, new, _own(left, parts), _own(right, parts)):
                yield evolve(change, section=f"{name}: {change.section}")
        else:
            there = written("model_name", name, "")
            one, other = (there, None) if left is not None else (None, there)
            yield Difference("models", name, one, other, Verdict.DIFFERENT)


def _with_resulting_tasks(experiment: Experiment, is_told: bool) -> Experiment:
    """The experiment with as many --ntasks as result from what Slurm is told; with none where the launcher `is_told`
    the number, by one of those compared, and the nodes do not follow from it."""
    if experiment.machine.scheduler != "slurm":
        return experiment
    directives = {name: setting for name, setting in experiment.directives.items() if name != "ntasks"}
    if not is_told:
        directives["ntasks"] = experiment.tasks
    elif "nodes" not in directives and "ntasks" in experiment.directives:
        return experiment
    launch = evolve(experiment.launch, tasks=experiment.tasks) if is_told else experiment.launch
    return evolve(experiment, directives=directives, launch=launch)


def _by_name(experiment: Experiment) -> dict[str, Component]:
    """The components by what they are called; of several with one name the later ones have a number."""
    found: dict[str, Component] = {}
    for component in experiment.components:
        name = component.title
        found[name if name not in found else f"{name} {component.number + 1}"] = component
    return found


def _between(
    old: Experiment, new: Experiment, left_side: Iterable[_Section], right_side: Iterable[_Section]
) -> Iterator[Difference]:
    before = {section.title: section for section in left_side}
    after = {section.title: section for section in right_side}
    for title in dict.fromkeys((*before, *after)):
        left, right = before.get(title), after.get(title)
        if title.startswith(f"{_STREAM} ") and (left is None or right is None):
            yield from _lone_stream(title, left, right)
            continue
        some = left or right
        assert some is not None
        left, right = left or _without_settings(some), right or _without_settings(some)
        for name in dict.fromkeys((*left.settings, *right.settings)):
            if name == "site" and UNKNOWN_SITE in (old.machine.name, new.machine.name):
                continue  # one side does not say where it runs
            if title == COUPLING_FILE and not (_knows_coupling(old) and _knows_coupling(new)):
                yield Difference(title, name, left.settings.get(name), right.settings.get(name), Verdict.UNDECIDED)
                continue
            yield from _compared(name, left, right, old.registry, new.registry)


def _without_settings(section: _Section) -> _Section:
    return _Section(section.title, {}, section.group, section.file)


def _lone_stream(title: str, left: _Section | None, right: _Section | None) -> Iterator[Difference]:
    """A stream that only one side has: all of it counts, whatever the defaults are."""
    for name, setting in (left.settings if left is not None else {}).items():
        yield Difference(title, name, setting, None, Verdict.DIFFERENT)
    for name, setting in (right.settings if right is not None else {}).items():
        yield Difference(title, name, None, setting, Verdict.DIFFERENT)


def _compared(key: str, left: _Section, right: _Section, before: Registry, after: Registry) -> Iterator[Difference]:
    old, new = left.settings.get(key), right.settings.get(key)
    name = key if left.group is None else _spelling(key, old, new)
    if any(setting is not None and setting.certainty is Certainty.UNKNOWN for setting in (old, new)):
        yield Difference(left.title, name, old, new, Verdict.UNDECIDED)
        return
    if left.group is None:
        if old is None or new is None or not _same(left.title, key, old.value, new.value):
            yield Difference(left.title, name, old, new, Verdict.DIFFERENT)
        return
    was, now = _variable(before, left.group, key, left.file), _variable(after, left.group, key, left.file)
    old, new = old or _default(was), new or _default(now)
    if old is None or new is None or not _same_variable(old, new, was, now):
        yield Difference(left.title, name, old, new, Verdict.DIFFERENT)
    elif old.is_written is not new.is_written:
        yield Difference(left.title, name, old, new, Verdict.EXPLICIT)


# --- Namelist variables ---


def _spelling(key: str, *settings: Setting | None) -> str:
    """A variable's name with the capitals that somebody has given it."""
    names = [setting.name.rpartition(".")[2] for setting in settings if setting is not None]
    return next((name for name in names if name.lower() == key != name), key)


def _variable(registry: Registry, group: str, name: str, file: str | None) -> Variable | None:
    return registry.variable(group, _SUBSCRIPTS.sub("", name), file)


def _with_whole_arrays(group: Group, registry: Registry, file: str) -> Mapping[str, Setting]:
    """The settings of a group with `a(2) = 3` as what it makes of the array `a`, the defaults before it included."""
    if not any(_ELEMENT.fullmatch(key) for key in group.settings):
        return group.settings
    whole: dict[str, Setting] = {}
    for key, setting in group.settings.items():
        match = _ELEMENT.fullmatch(key)
        variable = _variable(registry, group.name, key, file)
        if match is None or variable is None or not variable.shape or setting.certainty is Certainty.UNKNOWN:
            whole[key] = setting
            continue
        name = match["array"]
        if name in whole and whole[name].certainty is Certainty.UNKNOWN:
            continue
        given = as_list(whole[name].value) if name in whole else []
        first, last = bounds_of(variable.shape[0])
        position = int(match["index"]) - first
        if not first <= int(match["index"]) <= last or position >= _MOST_ELEMENTS:
            whole[key] = setting  # it is none of the array: nothing is filled up to it
            continue
        given = _filled(given, position, variable)
        values = [*given[:position], *as_list(setting.value), *given[position + len(as_list(setting.value)) :]]
        whole[name] = written(f"{group.name}.{name}", values, setting.origin.layer, setting.span)
    return whole


def _default(variable: Variable | None) -> Setting | None:
    """What the release assumes; the elements of an array that are not all alike as a list."""
    if variable is None or not variable.has_default:
        return None
    value = variable.default
    if isinstance(value, dict):
        value = variable.first_elements
        if value is None:
            return None
        value = value or variable.default.get("fill")
    setting = written(f"{variable.group}.{variable.name}", value, "default")
    return Setting(setting.name, setting.history, Certainty.DEFAULT)


def _same_variable(old: Setting, new: Setting, was: Variable | None, now: Variable | None) -> bool:
    left, right = _elements(old), _elements(new)
    length = max(len(left), len(right), 1)
    is_integer = now is not None and now.type == "integer"
    return all(
        same_value(before, after) and (not is_integer or type(before) is type(after))
        for before, after in zip(_filled(left, length, was), _filled(right, length, now), strict=True)
    )


def _elements(setting: Setting) -> list[Any]:
    """What was written; a default fills whatever is asked for."""
    return as_list(setting.value) if setting.is_written else []


def _filled(values: list[Any], length: int, variable: Variable | None) -> list[Any]:
    """The values and, behind them, the defaults of the elements that nobody wrote."""
    return values + [_default_element(variable, position) for position in range(len(values), length)]


def _default_element(variable: Variable | None, position: int) -> Any:
    """The default of the element at a position counted from 0; something unlike any value if it is not known."""
    first = bounds_of(variable.shape[0])[0] if variable is not None and variable.shape else 1
    default = default_element(variable, first + position)
    return object() if default is None else default


def same_value(old: Any, new: Any) -> bool:
    """Whether Fortran takes two scalars for the same: numbers by value, strings without the blanks behind them."""
    if isinstance(old, bool) or isinstance(new, bool):
        return old is new
    if isinstance(old, str) and isinstance(new, str):
        return old.rstrip(" ") == new.rstrip(" ")
    return bool(old == new)


# --- What an experiment says, in sections ---


def _sections(experiment: Experiment, parts: tuple[str, ...], is_told: bool) -> Iterator[_Section]:
    """All sections of an experiment of one model. Where the launcher `is_told` the number of tasks, by one of those
    compared, that counts, too."""
    (component,) = experiment.components
    if JOB in parts:
        yield from _head(experiment)
    if MASTER in parts:
        yield from _groups(experiment.master, experiment.registry, "master")
        yield _Section(COUPLING_FILE, dict(_coupling(experiment)))
    if NAMELIST in parts:
        yield from _namelist(component)
    if JOB in parts:
        yield from _machine(experiment, is_told)


def _shared(experiment: Experiment, parts: tuple[str, ...], is_told: bool) -> Iterator[_Section]:
    """What the models of an experiment have in common."""
    if JOB in parts:
        yield from _head(experiment)
    if MASTER in parts:
        entries = {id(model.entry) for model in experiment.models}
        others = tuple(group for group in experiment.master if id(group) not in entries)
        yield from _groups(others, experiment.registry, "master")
        yield _Section(COUPLING_FILE, dict(_coupling(experiment)))
    if MASTER in parts and experiment.other is not None:
        for file, groups in experiment.other.files.items():
            yield from (_Section(f"{file}: {group.name}", group.settings) for group in groups)
    if JOB in parts:
        yield from _machine(experiment, is_told)


def _knows_coupling(experiment: Experiment) -> bool:
    return experiment.coupling is None or experiment.coupling.text is not None


def _coupling(experiment: Experiment) -> Iterator[tuple[str, Setting]]:
    """What coupling.yaml says: its couples by the names of components and fields, which may stand in any order."""
    coupling = experiment.coupling
    if coupling is None or coupling.text is None:
        return
    for key, value in coupling.content.items():
        if key != "coupling":
            yield key, written(key, value, "")
    for couple in coupling.content.get("coupling") or ():
        if isinstance(couple, dict):
            source, target, fields = (couple.get(key) for key in ("src_component", "tgt_component", "field"))
            name = f"{source} to {target}: {', '.join(map(str, as_list(fields)))}"
            yield name, written(name, {key: value for key, value in couple.items() if key != "field"}, "")


def _own(component: Component, parts: tuple[str, ...]) -> Iterator[_Section]:
    """What one of several models has for itself."""
    if MASTER in parts:
        yield from _groups((component.model.entry,), component.registry, "master")
    if NAMELIST in parts:
        yield from _namelist(component)


def _head(experiment: Experiment) -> Iterator[_Section]:
    yield _Section("experiment", _experiment(experiment))
    yield _Section("#SBATCH", _directives(experiment))


def _namelist(component: Component) -> Iterator[_Section]:
    yield from _groups(component.namelist, component.registry, "model")
    yield from _streams(component.streams, component.registry)
    for domain, land in enumerate(component.model.lands, start=1):
        what = "land" if domain == 1 else f"land of domain {domain}"
        for section in _groups(land, component.registry, LAND_FILE):
            yield evolve(section, title=f"{what} {section.title}")  # jsb_model_nml is in the master namelist, too


def _groups(groups: tuple[Group, ...], registry: Registry, file: str) -> Iterator[_Section]:
    """The groups that ICON reads: the first of each name, and every copy of those that it reads as often as they
    stand there."""
    seen: dict[str, int] = {}
    for group in groups:
        name = group.name.lower()
        if name == _STREAM:
            continue
        seen[name] = number = seen.get(name, 0) + 1
        if number == 1 or registry.is_repeatable(name, file):
            settings = _with_whole_arrays(group, registry, file)
            yield _Section(name if number == 1 else f"{name} {number}", settings, name, file)


def _streams(streams: tuple[Group, ...], registry: Registry) -> Iterator[_Section]:
    seen: dict[str, int] = {}
    for stream in streams:
        name = stream_name(stream)
        seen[name] = number = seen.get(name, 0) + 1
        copy = f" {number}" if number > 1 else ""
        settings = _with_whole_arrays(stream, registry, "model")
        yield _Section(f'{_STREAM} "{name}"{copy}', settings, _STREAM, "model")


def stream_name(stream: Group) -> str:
    """What a stream is called: its output_filename; empty where nobody wrote it or nobody can know it."""
    setting = stream.settings.get("output_filename")
    if setting is None or setting.certainty is Certainty.UNKNOWN:
        return ""
    return str(as_list(setting.value)[0]).strip()


def _experiment(experiment: Experiment) -> dict[str, Setting]:
    found = {
        "name": written("name", experiment.name, ""),
        "ICON": written("model.release", experiment.registry.release, ""),
        "site": written("site", experiment.machine.name, ""),
        "executable": _below_base(experiment, experiment.executable),
        "run directory": _path(experiment.run_directory),
        **{f"part {name}": setting for name, setting in experiment.parts.items()},
    }
    for component in experiment.components:
        if component.grid_name is not None:
            found["grid" if len(experiment.models) == 1 else f"grid of {component.title}"] = component.grid_name
        if component.model.cells is not None:
            found["cells" if len(experiment.models) == 1 else f"cells of {component.title}"] = component.model.cells
    return found


def _below_base(experiment: Experiment, setting: Setting) -> Setting:
    """A file of the model, with the directory that relative ones start from."""
    base = experiment.base_directory
    if base is None or Certainty.UNKNOWN in (base.certainty, setting.certainty):
        return _path(setting)
    path = posixpath.join(str(base.value), str(setting.value))
    return _path(written(setting.name, path, setting.origin.layer, setting.span))


def _path(setting: Setting) -> Setting:
    if setting.certainty is Certainty.UNKNOWN:
        return setting
    path = posixpath.normpath(str(setting.value))
    return written(setting.name, path, setting.origin.layer, setting.span)


def _directives(experiment: Experiment) -> dict[str, Setting]:
    """What Slurm is told; without it there is only a number of tasks. A switch that is off says nothing."""
    if experiment.machine.scheduler != "slurm":
        return {"--ntasks": experiment.tasks}
    return {
        f"--{name}": setting
        for name, setting in experiment.directives.items()
        if name == "requeue" or setting.certainty is Certainty.UNKNOWN or setting.value is not False
    }


def _machine(experiment: Experiment, is_told: bool) -> Iterator[_Section]:
    mpi = experiment.mpi
    yield _Section("modules", {"modules": _list("modules", experiment.modules)} if experiment.modules else {})
    yield _Section("environment", dict(experiment.environment))
    yield _Section("environment on Lustre", dict(mpi.lustre_variables))
    yield _Section("shell", _some(stack_limit=experiment.stack_limit))
    yield _Section("chain", dict(experiment.chain))
    yield _Section("input files", _inputs(experiment))
    yield _Section("lustre", dict(_stripes(experiment.striping)))
    yield _Section("mpi", _some(implementation=mpi.implementation, version=mpi.version))
    yield _Section("ROMIO hints", dict(mpi.hints))
    yield _Section("darshan", _darshan(experiment))
    node_local = experiment.node_local
    if node_local is not None:
        facts = {"directory": node_local.directory, "constraint": node_local.constraint}
        section = _some(file_system=node_local.kind, copy_while_running=node_local.copy_while_running, **facts)
        if node_local.before_stage_out:
            section["before_stage_out"] = _list("node_local.before_stage_out", node_local.before_stage_out)
        yield _Section("node-local run", section)
    launch = {"command": experiment.launch.command}
    if experiment.launch.options:
        launch["options"] = _list("launch.options", experiment.launch.options)
    if is_told and experiment.machine.scheduler == "slurm":
        launch["tasks"] = experiment.tasks
    yield _Section("launch", launch)
    placed = {
        key: _below_base(experiment, setting) if key.endswith(".executable") else setting
        for program in experiment.programs
        for key, setting in program.recorded().items()
    }
    if experiment.programs:
        for key, lists in experiment.machine.said.items():
            name = f"partitions.{key}"
            placed[name] = written(name, list(lists), "spec", None)
    yield _Section("programs", placed)


def _some(**settings: Setting | None) -> dict[str, Setting]:
    return {name: setting for name, setting in settings.items() if setting is not None}


def _list(name: str, settings: tuple[Setting, ...]) -> Setting:
    """A list as one setting, because the order counts."""
    if any(setting.certainty is Certainty.UNKNOWN for setting in settings):
        return Setting(name, settings[0].history, Certainty.UNKNOWN)
    return written(name, [setting.value for setting in settings], settings[0].origin.layer, settings[0].span)


def _inputs(experiment: Experiment) -> dict[str, Setting]:
    found = {}
    known = [file for file in experiment.inputs if file.source.certainty is not Certainty.UNKNOWN]
    places = {_place(file) for file in known if not file.is_pattern}
    patterns = [file for file in known if file.is_pattern]
    for file in experiment.inputs:
        if file.source.name == "grid.file" and _comes_with_others(file, places, patterns):
            continue
        source = _below_base(experiment, file.source)
        if source.certainty is not Certainty.UNKNOWN:
            deed = f"{file.method} from" if file.is_pattern else file.method
            below = "/**" if file.is_deep else ""
            source = written(source.name, f"{deed} {source.value}{below}", source.origin.layer, source.span)
        found[file.target] = source
    return found


def _comes_with_others(grid: InputFile, places: Container[str], patterns: Iterable[InputFile]) -> bool:
    """Whether the directory that a grid lies in is brought, with all its files or as a link: it is there anyhow."""
    if grid.source.certainty is Certainty.UNKNOWN:
        return False
    directory, _, name = str(grid.source.value).rpartition("/")
    fitting = (file for file in patterns if fnmatchcase(name, file.name))
    return bool(directory) and (directory in places or directory in map(_place, fitting))


def _place(file: InputFile) -> str:
    return str(file.source.value).rstrip("/")


def _stripes(striping: tuple[Striping, ...]) -> Iterator[tuple[str, Setting]]:
    for stripes in striping:
        for directory in stripes.directories:
            for name, setting in stripes.settings.items():
                yield f"{directory}: {name}", setting
            for extent in stripes.components:
                component = f"{directory}: component_end {extent.name}"
                if not extent.settings:
                    yield component, written("lustre.component_end", "the default", "")
                for name, setting in extent.settings.items():
                    yield f"{component}: {name}", setting


def _darshan(experiment: Experiment) -> dict[str, Setting]:
    darshan = experiment.darshan
    if darshan is None or darshan.library is None:  # without its library nothing is watched
        return {}
    return {**_some(library=darshan.library, MAX_RECORDS=darshan.max_records), **darshan.environment}


def _same(section: str, name: str, old: Any, new: Any) -> bool:
    """Whether two values of the job mean the same."""
    if section == "#SBATCH" and name == "--time":
        return bool(_parsed(parse_wall_time, old) == _parsed(parse_wall_time, new))
    if name in ("--mem", "--mem-per-cpu"):
        return bool(_parsed(_whole_mebibytes, old) == _parsed(_whole_mebibytes, new))
    if name.endswith(": stripe_size"):
        return bool(_parsed(parse_size, old) == _parsed(parse_size, new))
    return bool(old == new or (not isinstance(old, bool) and str(old) == str(new)))


def _whole_mebibytes(text: str) -> int:
    """Memory as Slurm counts it."""
    return -(-parse_size(text) // 1024**2)


def _parsed(parse: Any, value: Any) -> Any:
    try:
        return parse(str(value))
    except ValueError:
        return str(value)
