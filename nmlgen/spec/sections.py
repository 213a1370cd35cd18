"""The sections of a spec that are ICON's variables in other words: which key is which namelist variable.

Every layer is brought into one form before layers are merged: variables stand below `namelists`, keyed by
group and name in lower case, whichever section they were written in. So a preset may set
`namelists: {parallel_nml: {nproma: 8}}` and a spec override it with `parallel: {nproma: 16}`.
"""

from __future__ import annotations

from nmlgen.errors import SpecError
from nmlgen.findings import Finding
from nmlgen.spec.layers import Tree
from nmlgen.spec.problems import problem

_TIME_CONTROL = "master_time_control_nml"

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
    return _SPELLINGS.get(variable.lower(), variable.lower())


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
    groups: dict[str, dict[str, Tree]] = {}
    rest: dict[str, Tree] = {}
    findings: list[Finding] = []

    def move(group: str, variable: str, leaf: Tree) -> None:
        here = groups.setdefault(group.lower(), {})
        if variable.lower() in here:
            where = here[variable.lower()].key_span
            note = f"the first is at {where}" if where else "remove one of the two"
            findings.append(problem("SPC008", f"{group}.{variable} is set twice", leaf.key_span, note))
        here[variable.lower()] = leaf

    for section, tree in (layer.children or {}).items():
        if section == "namelists":
            for group, variables in _mapping(tree).items():
                groups.setdefault(group.lower(), {})
                for variable, leaf in _mapping(variables).items():
                    move(group, variable, leaf)
        elif section in WHOLE_GROUPS:
            for variable, leaf in _mapping(tree).items():
                move(WHOLE_GROUPS[section], variable, leaf)
        elif section == "output":
            rest[section] = _lower_case_variables(tree)
        else:
            kept = {}
            for key, leaf in _mapping(tree).items():
                if (target := VARIABLES.get((section, key))) is not None:
                    move(*target, leaf)
                else:
                    kept[key] = leaf
            if not tree.is_mapping:
                rest[section] = tree
            elif kept:
                rest[section] = Tree(tree.history, kept, tree.replaces, tree.key_span)
    if findings:
        raise SpecError(tuple(findings))
    if groups:
        rest["namelists"] = Tree(children={group: Tree(children=leaves) for group, leaves in groups.items()})
    return Tree(layer.history, rest, layer.replaces, layer.key_span)


def _mapping(tree: Tree) -> dict[str, Tree]:
    return dict(tree.children or {})


def _lower_case_variables(output: Tree) -> Tree:
    if output.children is None:
        return output
    streams = {
        name: Tree(stream.history, {key.lower(): leaf for key, leaf in stream.children.items()}, False, stream.key_span)
        if stream.children is not None
        else stream
        for name, stream in output.children.items()
    }
    return Tree(output.history, streams, output.replaces, output.key_span)
