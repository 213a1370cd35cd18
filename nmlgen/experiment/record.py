"""What a batch script remembers of its spec because nothing else in it says so: the comment `# nmlgen: KEY=VALUE ...`.

The keys are those of a spec; values are quoted as in a shell. `lustre` names the blocks that `lfs setstripe` is called
for, in the order of the calls.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Mapping

from nmlgen.command_line import command_words
from nmlgen.experiment.component import Component
from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.group import as_list

COPY_WHILE_RUNNING = "node_local.copy_while_running"
"""The key of a switch, which is remembered as "True" or "False"."""

PARTS = "model.parts."
"""What the keys of parts of ICON begin with; their values are "True" or "False"."""

NODES = "partitions."
"""What the keys of lists begin with that a spec says of nodes; a list is its elements with blanks between them."""

_LONGEST = 200_000
"""A bound on work: nmlgen writes no longer line."""
_LINE = re.compile(r"^# nmlgen: (?P<words>[a-z_.]+=.*)$", re.MULTILINE)


def record(experiment: Experiment) -> str:
    """The text of the line behind its `#`."""
    mpi, node_local = experiment.mpi, experiment.node_local
    settings = {
        **{grid_key(component): component.grid_name for component in experiment.components},
        "mpi.implementation": mpi.implementation,
        "mpi.version": mpi.version,
        "node_local.file_system": node_local.kind if node_local is not None else None,
        "node_local.directory": node_local.directory if node_local is not None else None,
        "node_local.constraint": node_local.constraint if node_local is not None else None,
        COPY_WHILE_RUNNING: node_local.copy_while_running if node_local is not None else None,
    }
    values = {"site": experiment.machine.name}
    if experiment.other is None:
        values["model.release"] = experiment.registry.release
    else:
        values["model.name"] = experiment.other.name
    values |= {key: str(setting.value) for key, setting in settings.items() if setting is not None}
    values |= {key: str(setting.value) for key, setting in experiment.chain.items()}
    values |= {
        cells_key(component): ",".join(map(str, as_list(component.model.cells.value)))
        for component in experiment.components
        if component.model.cells is not None
    }
    values |= {setting.name: str(setting.value) for setting in experiment.parts.values()}
    values |= {f"{NODES}{key}": " ".join(lists) for key, lists in experiment.machine.said.items()}
    for program in experiment.programs:
        values |= {key: _said(experiment, key, str(setting.value)) for key, setting in program.recorded().items()}
    if striped := [striping.what for striping in experiment.striping if not striping.is_empty]:
        values["lustre"] = ",".join(striped)
    return f"nmlgen: {' '.join(f'{key}={shlex.quote(value)}' for key, value in values.items())}"


def _said(experiment: Experiment, key: str, value: str) -> str:
    """What is remembered of a program: of its executable the whole path."""
    base = experiment.base_directory
    return posixpath.join(str(base.value), value) if base is not None and key.endswith(".executable") else value


def grid_key(component: Component) -> str:
    """The key of the name of a component's grid: of one among several with its name."""
    return "grid.name" if len(component.experiment.models) == 1 else f"models.{component.title}.grid.name"


def cells_key(component: Component) -> str:
    """The key of the numbers of its cells."""
    return grid_key(component).removesuffix("name") + "cells"


def said_of_nodes(known: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """The lists that a spec says of nodes, of what is remembered."""
    return {key.removeprefix(NODES): tuple(value.split()) for key, value in known.items() if key.startswith(NODES)}


def recorded(text: str) -> Mapping[str, str]:
    """What the batch script with that text remembers, by the keys of a spec; nothing if nmlgen did not write it."""
    line = _LINE.search(text) if "# nmlgen: " in text else None
    if line is None or len(line["words"]) > _LONGEST:
        return {}
    try:
        words = command_words(line["words"])
    except ValueError:  # a quote without its fellow: somebody changed the line
        return {}
    return {key: value for key, equals, value in (word.partition("=") for word in words) if equals}
