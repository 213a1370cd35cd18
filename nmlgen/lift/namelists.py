"""Lifting namelist files: icon_master.namelist, the files it names, or a model's namelist by itself.

A group holds what ICON would read: the first copy of it, found where ICON looks, with the values that the Fortran
runtime assigns. What the runtime stops at is kept beside the group as its problems.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from functools import cache
from itertools import islice
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import Any

from nmlgen.errors import InputError, UnreadableError
from nmlgen.experiment.component import KINDS, LAND_FILE, LAND_GROUP, MODEL_GROUP, MOST_MODELS, Model, land_files
from nmlgen.experiment.coupling import COUPLING_FILE, UNKNOWN_COUPLING, Coupling
from nmlgen.experiment.experiment import Experiment, Launch, Mpi
from nmlgen.experiment.group import Group, as_list
from nmlgen.experiment.machine import UNKNOWN_SITE, Machine
from nmlgen.experiment.setting import ASSUMED, Certainty, Origin, Setting, unknown
from nmlgen.files import Files
from nmlgen.findings import nearest
from nmlgen.lift.reader import reader_of
from nmlgen.namelist.assignment import Assigned, Assignment, assign, declarations
from nmlgen.namelist.placeholders import template
from nmlgen.namelist.reader import read
from nmlgen.namelist.registry import Registry
from nmlgen.namelist.syntax import Document, Item, SyntaxProblem
from nmlgen.namelist.syntax import Group as WrittenGroup
from nmlgen.source import UNKNOWN, Source, Span, Text
from nmlgen.spec.coupling import read_coupling
from nmlgen.spec.sections import spelling
from nmlgen.values import evolve, frozen

MASTER_FILE = "icon_master.namelist"
_MODELS = ("atmosphere", "ocean", "waves", "jsbach")
_MOST_REPEATED = 100_000  # values of a variable that no release knows
_MOST_GROUPS = 1_500  # that several models read: a bound on work, as each of them may read a file anew


_NEEDED = frozenset(
    (
        ("run_nml", "dtime"),
        ("run_nml", "modeltimestep"),
        ("grid_nml", "dynamics_grid_filename"),
        ("master_time_control_nml", "experimentstartdate"),
        ("master_time_control_nml", "experimentstopdate"),
    )
)
"""What ICON does not run without: where a script leaves it to a variable that nothing sets, somebody else does."""

_BUILT = re.compile(r"! .*written by nmlgen \S+, build [0-9a-f]+$", re.MULTILINE)
"""The first line of a namelist that nmlgen wrote: no template, whatever stands in it."""

_STREAM = re.compile(r"! output stream: (?P<label>[A-Za-z0-9_]{1,40})")
"""The line above an output_nml that nmlgen wrote."""


@frozen
class NamelistFile:
    """A namelist file as ICON sees it: the groups it finds, and those it does not, with the reason."""

    document: Document
    groups: tuple[Group, ...]
    overlooked: tuple[SyntaxProblem, ...]

    @property
    def is_open(self) -> bool:
        """Whether there may be more groups: text that only a run of a script knows stands between those that are."""
        at = 0
        for group in self.document.groups:
            if UNKNOWN in self.document.origin.text[at : group.start]:
                return True
            at = group.end
        return UNKNOWN in self.document.origin.text[at:]

    @property
    def beginning(self) -> Span:
        """Where a message points that is about the whole file."""
        return self.document.source.span(1, 1)


class Readings:
    """What the namelists that one script writes were read as: what several ways of it have in common, or what it is
    asked for anew with another release or by other rules, is read once.

    The documents hold the texts of the script, so that what tells their characters apart stays true of them.
    """

    def __init__(self) -> None:
        self._documents: dict[Hashable, Document] = {}
        self._registry: Registry | None = None
        self._groups: dict[Hashable, Group] = {}

    def document(self, source: Source, origin: Text) -> Document:
        """The groups of a text that the script writes."""
        key = origin.identity(0, len(origin.text))
        if key not in self._documents:
            self._documents[key] = read(source, origin)
        return self._documents[key]

    def group(self, written: WrittenGroup, registry: Registry) -> Group:
        """A group with the values that a READ assigns; of two releases those of the last one are kept."""
        if registry is not self._registry:
            self._registry, self._groups = registry, {}
        key = (written.name, written.is_open, written.origin.identity(written.start, written.end))
        if key not in self._groups:
            self._groups[key] = _group(written, registry)
        return self._groups[key]


def read_namelist(path: Path, registry: Registry, *, is_master: bool, files: Files | None = None) -> NamelistFile:
    """Read a namelist file, one of `files` if these are given. Any text is a namelist file, if a bad one.

    Raises InputError if it cannot be read.
    """
    files = files or Files()
    return lift_document(files.made(files.read(path), _document), registry, is_master=is_master)


def _document(source: Source) -> Document:
    return read(source, None if _BUILT.match(source.text) else template(source))


def is_master_file(path: Path, files: Files | None = None) -> bool:
    """Whether a file is a master namelist: by its name, or because it starts models. One that does not even mention
    such a group is not read for that."""
    if path.name == MASTER_FILE:
        return True
    files = files or Files()
    source = files.read(path)
    if MODEL_GROUP not in source.text.lower():
        return False
    return any(group.name == MODEL_GROUP and group.hidden is None for group in files.made(source, _document).groups)


def lift_document(
    document: Document, registry: Registry, *, is_master: bool, readings: Readings | None = None
) -> NamelistFile:
    """The groups of a document that ICON finds, each with the values that a READ assigns.

    `readings` are those of a script, by whichever way it goes.
    """
    file = "master" if is_master else "model"
    groups: list[Group] = []
    overlooked: list[SyntaxProblem] = []
    seen: dict[str, WrittenGroup] = {}
    for written in document.groups:
        if written.hidden is not None:
            overlooked.append(written.hidden)
            continue
        if written.name in seen and not registry.is_repeatable(written.name, file):
            if registry.has_group(written.name):
                overlooked.append(_second_copy(written, seen[written.name]))
            continue
        seen.setdefault(written.name, written)
        group = _group(written, registry) if readings is None else readings.group(written, registry)
        groups.append(evolve(group, label=_label(written, document)))
    overlooked += [
        problem
        for problem in document.problems
        if problem.kind == "too-much" or registry.has_group(_name_behind(problem.span.text))
    ]
    return NamelistFile(document, tuple(groups), tuple(overlooked))


def _label(written: WrittenGroup, document: Document) -> str | None:
    """What an output stream is called in the line above it."""
    if written.name != "output_nml":
        return None
    above = document.origin.text.rfind("\n", 0, max(0, written.start - 1)) + 1
    found = _STREAM.match(document.origin.text[above : written.start].strip())
    return found["label"] if found else None


def lift_master(
    path: Path, registry: Registry, ntasks: int | None, files: Files | None = None
) -> tuple[Experiment, tuple[NamelistFile, ...]]:
    """The experiment of a master namelist with the models that it starts, and every file that was read.

    Raises InputError if the master namelist cannot be read. A model's file that is not there makes an empty
    namelist, as it does in ICON. In a file's name `<path>` stands for `model_base_dir` (ICON 2024.10,
    `mo_master_nml.f90:291-294`).
    """
    files = files or Files()
    master = read_namelist(path, registry, is_master=True, files=files)
    found = [master]

    def find(name: str) -> NamelistFile | None:
        try:
            found.append(read_namelist(path.parent / name, registry, is_master=False, files=files))
        except UnreadableError:
            raise
        except InputError:
            return None
        return found[-1]

    experiment, unread = lift_models(master, registry, ntasks, find)
    found[0] = with_unread(master, unread)
    return evolve(experiment, coupling=coupling_beside(path, files)), tuple(found)


def with_unread(master: NamelistFile, unread: tuple[SyntaxProblem, ...]) -> NamelistFile:
    """The master namelist with the models of which it is to be told that nothing was read."""
    return evolve(master, overlooked=(*master.overlooked, *unread)) if unread else master


def coupling_beside(path: Path, files: Files, name: str = COUPLING_FILE) -> Coupling | None:
    """The coupling.yaml in the directory of a file, there called `name`; None if there is none. Of one that cannot be
    read nobody knows anything."""
    try:
        source = files.beside(path, name)
    except InputError:
        return UNKNOWN_COUPLING
    return None if source is None else files.made(source, read_coupling)


def lift_models(
    master: NamelistFile, registry: Registry, ntasks: int | None, find: Callable[[str], NamelistFile | None]
) -> tuple[Experiment, tuple[SyntaxProblem, ...]]:
    """The experiment of a master namelist; `find` gives the namelist file of a name, if there is one. With it the
    models of which nothing is read, as those before them have so many groups: of them nobody knows anything.

    A master namelist that starts no model has a model of which nothing is said.
    """
    find = cache(find)  # land alone has one file for both
    models = []
    master_nml = next((group for group in master.groups if group.name == "master_nml"), None)
    base = _text(master_nml.settings.get("model_base_dir") if master_nml is not None else None)
    entries = [group for group in master.groups if group.name == MODEL_GROUP]
    unread: list[SyntaxProblem] = []
    count = 0
    for number, entry in enumerate(entries[: MOST_MODELS + 1]):
        if count > _MOST_GROUPS:
            unread += _not_read(entry)
            models.append(Model(entry, (), is_open=True, place=entry.span))
            continue
        setting = entry.settings.get("model_namelist_filename")
        missing: Setting | None = None
        is_known = setting is not None and setting.certainty is not Certainty.UNKNOWN
        name = (_text(setting) if is_known else _filename_as_written(master, number)).replace("<path>", base)
        file = find(name) if name else None
        if name and file is None and is_known:
            missing = setting
        groups = file.groups if file is not None else ()
        is_open = file is None or file.is_open  # of a file that is not found all else would follow
        place = next((group.span for group in groups), entry.span)
        models.append(Model(entry, groups, is_open=master.is_open or is_open, missing_file=missing, place=place))
        count += len(groups)
    if not models:
        models.append(Model(Group(MODEL_GROUP, {}), (), is_open=master.is_open))
    models = _with_land(models, master, registry, find)
    beyond = set(map(id, entries[MOST_MODELS + 1 :]))  # else each model has those of the others to look through
    groups = tuple(group for group in master.groups if id(group) not in beyond)
    return _experiment(groups, tuple(models), registry, ntasks), tuple(unread)


def _not_read(entry: Group) -> Iterator[SyntaxProblem]:
    if entry.span is not None:
        message = f"the models before this one read more than {_MOST_GROUPS} groups: what it reads is not looked at"
        yield SyntaxProblem("too-much", message, entry.span, "namelists that somebody could read", stops=False)


def _with_land(
    models: list[Model], master: NamelistFile, registry: Registry, find: Callable[[str], NamelistFile | None]
) -> list[Model]:
    """The models, with JSBACH's namelist in the one that it runs in: land alone, else the first atmosphere."""
    named = [group for group in master.groups if group.name == LAND_GROUP]
    setting = named[0].settings.get("model_namelist_filename") if named else None
    if setting is None:
        return models
    if setting.certainty is Certainty.UNKNOWN:  # as in ICON's own scripts, where land alone has one file for both
        return [host_of_land(model, registry) if type_of(model) == 5 else model for model in models]
    file = find(_text(setting))
    hosts = [number for kind in (5, 1) for number, model in enumerate(models) if type_of(model) == kind]
    if file is None or not hosts:
        return models
    host = models[hosts[0]]
    is_host = file.groups is host.namelist or _text(host.entry.settings.get("model_namelist_filename")) == _text(
        setting
    )
    models[hosts[0]] = host_of_land(host, registry) if is_host else evolve(host, land=file.groups)
    others = [find(name) if name else None for name in land_files(named)[1:]]
    nests = [() if other is None or other.groups is file.groups else other.groups for other in others]
    models[hosts[0]] = evolve(models[hosts[0]], nest_land=tuple(nests) if any(nests) else ())
    return models


def host_of_land(model: Model, registry: Registry) -> Model:
    """A model whose namelist file is that of JSBACH, too: the groups that JSBACH reads there are told apart."""
    land = tuple(group for group in model.namelist if _is_land(group, registry))
    return evolve(model, namelist=tuple(group for group in model.namelist if not _is_land(group, registry)), land=land)


def _is_land(group: Group, registry: Registry) -> bool:
    return registry.has_group(group.name) and LAND_FILE in registry.files(group.name)


def type_of(model: Model) -> Any:
    """Its model_type; None where nobody says it, or only a run knows."""
    setting = model.entry.settings.get("model_type")
    return None if setting is None or setting.certainty is Certainty.UNKNOWN else setting.value


def _filename_as_written(master: NamelistFile, number: int) -> str:
    """The name of a model's namelist file with UNKNOWN for what only a run of a script knows."""
    models = [group for group in master.document.copies(MODEL_GROUP) if group.hidden is None]
    items = models[number].named("model_namelist_filename") if number < len(models) else ()
    return items[-1].values[0].text.strip("'\" ") if items and items[-1].values else ""


def is_part(groups: Iterable[Group]) -> bool:
    """Whether these groups are a part of a model's namelist only: every model of ICON needs grid_nml and run_nml."""
    return not {"grid_nml", "run_nml"} <= {group.name for group in groups}


def lift_model(
    path: Path, registry: Registry, ntasks: int | None, files: Files | None = None
) -> tuple[Experiment, NamelistFile]:
    """A model's namelist without its master: what else the master says is unknown.

    The groups in it, or its name, tell whose it is: without a word of either it is taken for an atmosphere's.
    """
    file = read_namelist(path, registry, is_master=False, files=files)
    if _is_of_another_program(file.groups, registry):
        file = evolve(file, groups=tuple(evolve(group, is_open=True) for group in file.groups))
    kind = reader_of(path.name, file.groups, registry)
    return lift_without_master([(file, kind if kind in _MODELS else "atmosphere")], registry, ntasks), file


def _is_of_another_program(groups: Iterable[Group], registry: Registry) -> bool:
    """Whether most groups are none of ICON's: such as share a name with ICON's say nothing of it then."""
    known = [registry.has_group(group.name) for group in groups]
    return known.count(False) > known.count(True)


def is_none_of_icons(groups: Iterable[Group], registry: Registry, *, is_given: bool) -> bool:
    """Whether a namelist is another program's: more of its groups are none of ICON's, nor were, nor are slips in their
    names. Of one that nobody named, as one in a directory, it is enough that as many are none, or the only one."""
    known = [_is_of_icon(group.name, registry) for group in groups]
    others, own = known.count(False), known.count(True)
    return others > max(own, 1) if is_given else others > own or others == own > 1


def _is_of_icon(group: str, registry: Registry) -> bool:
    is_or_was = registry.has_group(group) or registry.removed_group(group) is not None
    return is_or_was or nearest(group, registry.groups, 1) is not None


def lift_without_master(
    files: Iterable[tuple[NamelistFile, str | None]], registry: Registry, ntasks: int | None
) -> Experiment:
    """The namelists of components, each with its kind where that is known, without their master: what else the master
    says is unknown."""
    models = tuple(
        model if kind != "jsbach" else host_of_land(model, registry)
        for file, kind in islice(files, MOST_MODELS + 1)  # more start nowhere, and each is held against the others
        for model in [_alone(file, unknown_entry(registry, kind))]
    )
    names = ("master_nml", "master_time_control_nml")
    master = [Group(name, {v: unknown(f"{name}.{v}") for v in registry.variables(name)}) for name in names]
    return _experiment((*master, *(model.entry for model in models)), models, registry, ntasks)


def _alone(file: NamelistFile, entry: Group) -> Model:
    """The model of a namelist, to which there may be more if it is a part. The streams of a part are taken to be
    read."""
    groups, is_open = file.groups, file.is_open
    if is_part(groups):
        is_open = True
        names = {group.name for group in groups}
        if "output_nml" in names and "run_nml" not in names:
            output = Setting("run_nml.output", (Origin(ASSUMED, ["nml"]),))
            groups = (*groups, Group("run_nml", {"output": output}, is_open=True))
    return Model(entry, groups, is_open=is_open)


def unknown_entry(registry: Registry, kind: str | None) -> Group:
    """A `master_model_nml` that nobody wrote, of which no more than the kind of the model may be known."""
    settings = {name: unknown(f"{MODEL_GROUP}.{name}") for name in registry.variables(MODEL_GROUP)}
    types = {name: number for number, name in KINDS.items()}
    if kind in types:
        settings["model_type"] = Setting("master_model_nml.model_type", (Origin(ASSUMED, types[kind]),))
    return Group(MODEL_GROUP, settings)


def _experiment(
    master: tuple[Group, ...], models: tuple[Model, ...], registry: Registry, ntasks: int | None
) -> Experiment:
    tasks = unknown("ntasks") if ntasks is None else Setting("ntasks", (Origin("--ntasks", ntasks),))
    return Experiment(
        name="",
        registry=registry,
        machine=Machine(name=UNKNOWN_SITE, scheduler="none"),
        master=master,
        models=models,
        directives={"ntasks": tasks},
        environment={},
        executable=unknown("executable"),
        base_directory=None,
        run_directory=unknown("run_directory"),
        inputs=(),
        striping=(),
        mpi=Mpi(None, None),
        darshan=None,
        node_local=None,
        launch=Launch(unknown("launch.command")),
        modules=(),
        stack_limit=None,
        coupling=UNKNOWN_COUPLING,
    )


def _group(written: WrittenGroup, registry: Registry) -> Group:
    name = written.name
    if not registry.has_group(name):
        given = [item for item in written.items if any(value.kind != "null" for value in item.values)]
        settings = {item.name: _plain(name, item.name, item) for item in given}
        return Group(name, settings, None, written.name_span, is_open=written.is_open)
    if any(value.kind == "null" for item in written.items for value in item.values):
        written = evolve(written, items=tuple(_as_meant(item) for item in written.items))
    assignment = assign(written, declarations(registry, name))
    settings = dict(_settings(name, assignment, registry))  # what is refused is in none of them
    refused = sorted(problem.span.offsets[0] for problem in assignment.problems if problem.stops)
    known, structures = registry.bases(name)
    assigned = {setting.partition("(")[0].partition("%")[0] for setting in settings}
    for item in written.items:
        is_whole = item.base in structures and "%" not in item.name  # all components at once, in their order
        if is_whole or item.base not in known:  # what nobody knows stays, so that a rule can say so
            settings.setdefault(item.name, _plain(name, item.name, item))
        elif item.base not in assigned and any(value.kind != "null" for value in item.values):
            first, last = item.span.offsets
            if bisect_left(refused, first) < bisect_right(refused, last):  # the runtime stops there
                settings[item.base] = unknown(f"{name}.{spelling(item.base)}", item.name_span)
            else:  # nobody knows the type, or the values are those of the components in turn
                settings[item.name] = _plain(name, item.name, item)
        elif (
            (name, item.base) in _NEEDED
            and item.base not in settings
            and item.origin.is_left_out(item.equals, item.end)
        ):
            settings[item.base] = unknown(f"{name}.{spelling(item.base)}", item.name_span)
    return Group(name, settings, None, written.name_span, _problems(written, assignment, registry), written.is_open)


def _as_meant(item: Item) -> Item:
    """An item without the empty values that gfortran's runtime alone takes comments for."""
    text = item.origin.text
    values = tuple(v for v in item.values if v.kind != "null" or v.start != v.end or text[v.start : v.start + 1] != "!")
    return item if len(values) == len(item.values) else evolve(item, values=values)


def _problems(written: WrittenGroup, assignment: Assignment, registry: Registry) -> tuple[SyntaxProblem, ...]:
    """What is wrong in a group. Of a place that is wrong whatever the types, these add nothing but the fix."""
    if not written.errors and not assignment.problems:  # as a rule
        return tuple(_set_twice(written))
    places = {_place(problem) for problem in written.errors}
    refused = {_place(problem): problem for problem in assignment.problems}
    texts = _meant_for_text(written, assignment) if written.errors else []
    untyped = [_with_type(problem, refused.get(_place(problem)), texts) for problem in written.errors]
    components = {item.name.rpartition("%")[2] for item in written.items}
    typed = [
        _with_successor(_without_slip(problem, components), written, registry)
        for problem in assignment.problems
        if problem.kind != "unknown-variable" and _place(problem) not in places
    ]
    return (*untyped, *typed, *_set_twice(written))


def _without_slip(problem: SyntaxProblem, components: set[str]) -> SyntaxProblem:
    """A problem; a component that is nearly another one, which is set beside it, is no slip."""
    if problem.kind != "misspelt-component" or problem.expected not in components:
        return problem
    return evolve(problem, kind="unknown-component", expected="a component of the variable")


def _with_successor(problem: SyntaxProblem, written: WrittenGroup, registry: Registry) -> SyntaxProblem:
    """A problem; of a component that older releases had, what replaces it, and not what its name is like."""
    if problem.kind not in ("misspelt-component", "unknown-component"):
        return problem
    start = problem.span.offsets[0]
    of = written.items[bisect_right(written.items, start, key=attrgetter("start")) - 1]
    removal = registry.removed_variable(written.name, "%".join(part.name for part in of.path))
    if removal is None:
        return problem
    use = " and ".join(name.partition(".")[2] for name in removal.use)
    gone = f"ICON {removal.release} no longer has it"
    return evolve(problem, kind="unknown-component", expected=f"{use}: {gone}" if use else f"no such component: {gone}")


def _meant_for_text(written: WrittenGroup, assignment: Assignment) -> list[tuple[int, int]]:
    """Where the items stand of which a value lacks quotes: so may the others in the list."""
    starts = sorted(problem.span.offsets[0] for problem in assignment.problems if problem.kind == "undelimited-text")
    spans = sorted(item.span.offsets for item in written.items) if starts else []
    return [(first, last) for first, last in spans if bisect_left(starts, first) < bisect_left(starts, last)]


def _with_type(problem: SyntaxProblem, typed: SyntaxProblem | None, texts: list[tuple[int, int]]) -> SyntaxProblem:
    """A problem, with what the type of the variable adds: the fix, and that the text may be meant for a string."""
    start = problem.span.offsets[0]
    before = bisect_right(texts, start, key=itemgetter(0))
    is_text = bool(before) and start < texts[before - 1][1]
    kind = "undelimited-word" if is_text and problem.kind == "unquoted-text" else problem.kind
    return evolve(problem, kind=kind, fix=problem.fix or (typed.fix if typed is not None else None))


def _set_twice(written: WrittenGroup) -> Iterator[SyntaxProblem]:
    """Variables that are given two different values: the runtime keeps the later one."""
    first: dict[str, Item] = {}
    for item in written.items:
        before = first.setdefault(item.name, item)
        if before is not item and [v.text for v in before.values] != [v.text for v in item.values]:
            yield SyntaxProblem(
                "set-twice",
                f"{item.name} is set twice in &{written.name}, to different values; the first is at line "
                f"{before.name_span.line}, and this one holds",
                item.name_span,
                "one of the two",
                stops=False,
            )
        first[item.name] = item


def _place(problem: SyntaxProblem) -> tuple[int, int]:
    return problem.span.line, problem.span.column


def _plain(group: str, name: str, item: Any) -> Setting:
    if any(value.kind == "unknown" for value in item.values) or sum(v.repeat for v in item.values) > _MOST_REPEATED:
        return unknown(f"{group}.{spelling(name)}", item.name_span)
    values = item.values
    span = item.origin.span(values[0].start, values[-1].end) if values else item.name_span
    return Setting(f"{group}.{spelling(name)}", (Origin("namelist", item.plain, span),), name_span=item.name_span)


def _settings(group: str, assignment: Assignment, registry: Registry) -> Iterator[tuple[str, Setting]]:
    """One setting a variable: a scalar's value, or an array's elements from the first on."""
    elements: dict[str, dict[tuple[int, ...], Assigned]] = {}
    for (name, index), assigned in assignment.elements.items():
        elements.setdefault(name, {})[index] = assigned
    for name, found in elements.items():
        first = min(found) if len(found) > 1 else next(iter(found))
        span = found[first].written.span
        full = f"{group}.{spelling(name)}"
        if None in [assigned.value for assigned in found.values()]:
            yield name, unknown(full, span)
        elif first == ():
            yield name, Setting(full, (Origin("namelist", found[first].value, span),))
        else:
            yield name, _array(full, name, group, found, registry)


def _array(full: str, name: str, group: str, found: Mapping[tuple[int, ...], Assigned], registry: Registry) -> Setting:
    indices = sorted(found, key=lambda index: index[::-1])
    span = found[indices[0]].written.span
    values = [found[index].value for index in indices]
    variable = registry.variable(group, name)
    shape = variable.shape if variable is not None else None
    if len(indices[0]) == 1 and shape:
        extent = shape[0]
        low = 1 if isinstance(extent, int) else extent[0]
        missing = [position for position in range(low, indices[-1][0] + 1) if (position,) not in found]
        if missing:
            default = variable.default if variable is not None and variable.has_default else None
            if default is None or isinstance(default, (dict, list)):
                return unknown(full, span)
            values = [
                found[(position,)].value if (position,) in found else default
                for position in range(low, indices[-1][0] + 1)
            ]
    written = tuple(found[index].written for index in indices)
    elements = written if len(written) == len(values) else ()
    return Setting(full, (Origin("namelist", as_list(values), span, elements=elements),))


def _name_behind(header: str) -> str:
    """The name in a header that has a blank in it: `& io_nml`."""
    return header.strip("& \t\r\n").lower()


def _text(setting: Setting | None) -> str:
    """A text without the blanks around it; empty where it was not written or cannot be known."""
    if setting is None or setting.certainty is Certainty.UNKNOWN:
        return ""
    return str(setting.value).strip()


def _second_copy(written: WrittenGroup, first: WrittenGroup) -> SyntaxProblem:
    return SyntaxProblem(
        "second-copy",
        f"ICON reads the first &{written.name}, at line {first.name_span.line}; this one is never looked at",
        written.name_span,
        f"one &{written.name}",
        stops=False,
    )
