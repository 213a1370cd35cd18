"""The sections of a spec that are ICON's variables in other words: which key is which namelist variable.

Every layer is brought into one form before layers are merged: variables stand below `namelists`, keyed by
group and name in lower case, whichever section they were written in. So a preset may set
`namelists: {parallel_nml: {nproma: 8}}` and a spec override it with `parallel: {nproma: 16}`.
"""

from __future__ import annotations

from nmlgen.errors import SpecError
from nmlgen.findings import Finding
from nmlgen.spec.layers import EMPTY, Tree
from nmlgen.spec.problems import problem

_TIME_CONTROL = "master_time_control_nml"
_MOST_STREAMS = 500

VARIABLES: dict[tuple[str, str], tuple[str, str]] = {
    ("grid", "num_lev"): ("run_nml", "num_lev"),
    ("time", "start"): (_TIME_CONTROL, "experimentStartDate"),
    ("time", "stop"): (_TIME_CONTROL, "experimentStopDate"),
    ("time", "calendar"): (_TIME_CONTROL, "calendar"),
    ("time", "modelTimeStep"): ("run_nml", "modelTimeStep"),
    ("restart", "restart_write_mode"): ("io_nml", "restart_write_mode"),
    ("restart", "nrestart_streams"): ("io_nml", "nrestart_streams"),
    ("restart", "restart_file_type"): ("io_nml", "restart_file_type"),
    ("restart", "checkpoint_on_demand"): ("io_nml", "checkpoint_on_demand"),
    ("restart", "restart_filename"): ("run_nml", "restart_filename"),
    ("restart", "num_restart_procs"): ("parallel_nml", "num_restart_procs"),
    ("restart", "restart_chunk_size"): ("parallel_nml", "restart_chunk_size"),
    ("restart", "checkpointTimeIntval"): (_TIME_CONTROL, "checkpointTimeIntval"),
    ("restart", "restartTimeIntval"): (_TIME_CONTROL, "restartTimeIntval"),
    ("restart", "lrestart_write_last"): ("master_nml", "lrestart_write_last"),
}
"""(section, key) of the spec to (group, variable) of ICON, as ICON's manual spells them."""

WHOLE_GROUPS = {"parallel": "parallel_nml"}
"""Sections that are a namelist group under a shorter name."""

_SPELLINGS = {variable.lower(): variable for _, variable in VARIABLES.values()} | {
    "experimentreferencedate": "experimentReferenceDate",
    "forecastleadtime": "forecastLeadTime",
}


def spelling(variable: str) -> str:
    """A variable's name as ICON's manual spells it; lower case for all but a few."""
    lower = variable.lower()
    return _SPELLINGS.get(lower, lower)


def section_of(group: str, variable: str) -> str:
    """The key under which a spec sets a variable, for messages and for `nmlgen why`."""
    for (section, key), target in VARIABLES.items():
        if (target[0], target[1].lower()) == (group, variable.lower()):
            return f"{section}.{key}"
    for section, whole in WHOLE_GROUPS.items():
        if whole == group:
            return f"{section}.{spelling(variable)}"
    return f"namelists.{group}.{spelling(variable)}"


def canonical(layer: Tree) -> Tree:
    """A single layer with all variables below `namelists`; raises SpecError if one is set under two keys."""
    variables = _Variables()
    rest: dict[str, Tree] = {}
    for section, tree in (layer.children or {}).items():
        if section == "namelists":
            variables.add_groups(tree)
        elif section in WHOLE_GROUPS:
            variables.add_group(WHOLE_GROUPS[section], tree)
        elif section == "output":
            rest[section] = variables.streams(tree)
        elif section == "land" and tree.children is not None:
            rest[section] = variables.file(tree)
        elif section == "namelist_files" and tree.children is not None:
            files = {name: variables.file(file) for name, file in tree.children.items() if file.children is not None}
            rest[section] = Tree(tree.history, {**tree.children, **files}, tree.replaces, tree.key_span)
        elif section == "domains" and tree.children is not None:
            nests = {name: _with_land(nest, variables) for name, nest in tree.children.items()}
            rest[section] = Tree(tree.history, nests, tree.replaces, tree.key_span)
        elif section == "models" and tree.children is not None:
            models = {
                name: model if model.children is None else canonical(model) for name, model in tree.children.items()
            }
            rest[section] = Tree(tree.history, models, tree.replaces, tree.key_span)
        elif (kept := variables.add_section(section, tree)) is not None:
            rest[section] = kept
    if variables.findings:
        raise SpecError(tuple(variables.findings))
    if (namelists := variables.tree()) is not None:
        rest["namelists"] = namelists
    return Tree(layer.history, rest, layer.replaces, layer.key_span)


def _with_land(nest: Tree, variables: _Variables) -> Tree:
    """A nest with the groups of its land by their names."""
    land = nest.get("land")
    if land is None or land.children is None:
        return nest
    children = {**(nest.children or {}), "land": variables.file(land)}
    return Tree(nest.history, children, nest.replaces, nest.key_span)


class _Variables:
    """The variables of one layer by group and name in lower case.

    Null at a group, a section or at all of `namelists` takes away what the layers below say there; what this
    layer says elsewhere of the same group holds.
    """

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self._groups: dict[str, dict[str, Tree]] = {}
        self._null_groups: dict[str, Tree] = {}
        self._null_variables: list[tuple[str, str, Tree]] = []
        self._null: Tree | None = None

    def add_groups(self, namelists: Tree) -> None:
        if namelists.children is None:
            self._null = namelists
        for group, tree in (namelists.children or {}).items():
            self.add_group(group, tree)

    def add_group(self, group: str, tree: Tree) -> None:
        if tree.children is None:
            self._null_groups[group.lower()] = tree
            return
        self._groups.setdefault(group.lower(), {})
        for variable, leaf in tree.children.items():
            self._add(group, variable, leaf)

    def add_section(self, section: str, tree: Tree) -> Tree | None:
        """Take the variables out of a section; returns what is left of it."""
        targets = {key: target for (other, key), target in VARIABLES.items() if other == section}
        if tree.children is None:
            null = Tree(tree.history, key_span=tree.key_span)
            self._null_variables += [(*target, null) for target in targets.values()]
            return tree
        kept = {}
        for key, leaf in tree.children.items():
            if key in targets:
                self._add(*targets[key], leaf)
            else:
                kept[key] = leaf
        return Tree(tree.history, kept, tree.replaces, tree.key_span) if kept else None

    def file(self, tree: Tree) -> Tree:
        """The groups of a namelist file of its own by their names, as JSBACH has one."""
        own = _Variables()
        own.add_groups(tree)
        self.findings += own.findings
        return Tree(tree.history, (own.tree() or EMPTY).children, tree.replaces, tree.key_span)

    def streams(self, output: Tree) -> Tree:
        """The output streams with their variables in lower case."""
        if output.children is None:
            return output
        if len(output.children) > _MOST_STREAMS:
            beyond = list(output.children.values())[_MOST_STREAMS]
            self.findings.append(problem("SPC006", f"more than {_MOST_STREAMS} streams of one model", beyond.key_span))
        streams = {}
        for label, stream in output.children.items():
            streams[label] = stream
            if stream.children is not None:
                here: dict[str, Tree] = {}
                for variable, leaf in stream.children.items():
                    self._add_to(here, f"output.{label}", variable, leaf)
                streams[label] = Tree(stream.history, here, False, stream.key_span)
        return Tree(output.history, streams, output.replaces, output.key_span)

    def tree(self) -> Tree | None:
        """What stands below `namelists`."""
        for group, variable, leaf in self._null_variables:
            self._groups.setdefault(group.lower(), {}).setdefault(variable.lower(), leaf)
        groups = {name: Tree(children=leaves) for name, leaves in self._groups.items()}
        for name, null in self._null_groups.items():
            groups[name] = _over(null, self._groups.get(name, {}))
        if self._null is not None:
            return _over(self._null, groups)
        return Tree(children=groups) if groups else None

    def _add(self, group: str, variable: str, leaf: Tree) -> None:
        self._add_to(self._groups.setdefault(group.lower(), {}), group, variable, leaf)

    def _add_to(self, here: dict[str, Tree], group: str, variable: str, leaf: Tree) -> None:
        if variable.lower() in here:
            where = here[variable.lower()].key_span
            note = f"the first is at {where}" if where else "remove one of the two"
            self.findings.append(problem("SPC008", f"{group}.{variable} is set twice", leaf.key_span, note))
        here[variable.lower()] = leaf


def _over(null: Tree, children: dict[str, Tree]) -> Tree:
    """A mapping that takes the place of the one below, because null stands there, too."""
    return Tree(null.history, children or None, bool(children), null.key_span)
