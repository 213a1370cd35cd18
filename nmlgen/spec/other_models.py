"""What a spec says of a model that is not ICON: which one it is, and its namelist files.

The job around it (nodes, files, stripes, MPI, Darshan) is said as for ICON. What only ICON has is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from nmlgen.experiment.coupling import COUPLING_FILE
from nmlgen.experiment.experiment import GENERIC
from nmlgen.findings import Finding, did_you_mean
from nmlgen.models import model_named, models, restarting_of
from nmlgen.namelist.registry import Registry
from nmlgen.source import Span
from nmlgen.spec.auto import AUTO
from nmlgen.spec.layers import EMPTY, Tree, children_of
from nmlgen.spec.problems import problem
from nmlgen.spec.sections import VARIABLES, WHOLE_GROUPS
from nmlgen.values import evolve

ICON = "icon"
NO_REGISTRY = Registry("", {})
"""What a release of ICON knows of the namelists of another model."""

REQUIRED = (("name",), ("site",), ("model", "executable"), ("launch", "command"), ("run_directory",))
_MANIFEST = "nmlgen-manifest.json"
_OF_ICON = ("programs", "models", "domains", "coupling", "grid", "output", "land", "start_from", "after")
_GROUPS_OF_ICON = {*WHOLE_GROUPS.values(), *(group for group, _ in VARIABLES.values())}
_OF_ANY_MODEL = ("name", "directory", "executable", "pool")


def name_of(tree: Tree) -> str:
    """What a spec calls its model: "icon" where it does not say."""
    said = tree.at("model", "name")
    return ICON if said is None else str(said.value)


def names() -> tuple[str, ...]:
    """All names that a spec may give."""
    return (ICON, *(model.name.lower() for model in models()), GENERIC)


def without_icon(tree: Tree, layer: str) -> Tree:
    """The keys without the variables of ICON that the lowest layer says for every spec."""
    namelists = tree.get("namelists") or EMPTY
    groups = {
        name: evolve(group, children={key: leaf for key, leaf in own.items() if not _is_only_of(leaf, layer)})
        for name, group in (namelists.children or {}).items()
        for own in [group.children or {}]
    }
    left = {name: group for name, group in groups.items() if group.children}
    children = {key: child for key, child in (tree.children or {}).items() if key != "namelists"}
    if left:
        children["namelists"] = evolve(namelists, children=left)
    return evolve(tree, children=children)


def _is_only_of(leaf: Tree, layer: str) -> bool:
    return bool(leaf.history) and all(origin.layer == layer for origin in leaf.history)


def misplaced(tree: Tree, where: Span | None) -> Iterator[Finding]:
    """What is no key of such a model, or of no model at all."""
    name, said = name_of(tree), tree.at("model", "name")
    if name not in names():
        notes = did_you_mean(name, names()) or (f"expected: one of {', '.join(names())}",)
        yield problem("SPC004", f'there is no model "{name}"', said.span if said else where, *notes)
        return
    for section in _OF_ICON:
        found = tree.get(section)
        if found is not None and not found.is_unset:
            message = f"{section} is a key of ICON's, and the model is {name}"
            yield problem("SPC003", message, _place(found), "expected: model: {name: icon}, or no such key")
    for key, found in ((tree.get("model") or EMPTY).children or {}).items():
        if key not in _OF_ANY_MODEL and not found.is_unset:
            message = f"model.{key} is a key of ICON's, and the model is {name}"
            yield problem("SPC003", message, found.key_span or found.span, f"expected: {', '.join(_OF_ANY_MODEL)}")
    for step, keys in steps(tree):
        if keys.at("executable") is None:
            message = f"before.{step}.executable is not set"
            yield problem("SPC005", message, keys.key_span or where, "expected: the path of a program")
    for group, found in children_of(tree.get("namelists")):
        if group in _GROUPS_OF_ICON:
            message = f"{group} is a group of ICON's, which time, restart, parallel and grid set, too"
            yield problem("SPC003", message, _place(found), f"expected: the groups of {name}")
    yield from _unchained(tree, name)
    if (copying := tree.at("node_local", "copy_while_running")) is not None and copying.value is not False:
        message = f"which files are finished while the model computes is known of ICON, and the model is {name}"
        yield problem("SPC004", message, copying.span, "expected: node_local without copy_while_running")
    yield from _left_to_the_advisor(tree, name)
    yield from _of_no_file(tree, name)


def misplaced_in_icon(tree: Tree) -> Iterator[Finding]:
    """Keys that only other models have."""
    for path in (("before",), ("namelist_files",), ("restart", "jobs")):
        found = tree.below(*path)
        if found is not None and not found.is_unset:
            message = f"{'.'.join(path)} is a key of other models than ICON"
            yield problem("SPC003", message, _place(found), "expected: model: {name: wrf}, ..., or no such key")


def _unchained(tree: Tree, name: str) -> Iterator[Finding]:
    """Chains of jobs that nobody knows how to continue, and checkpoints that nobody knows."""
    for key, found in children_of(tree.get("restart")):
        if key != "jobs" and not found.is_unset:
            message = f"restart.{key} is a key of ICON's, and the model is {name}"
            yield problem("SPC003", message, _place(found), "expected: restart: {jobs: N}, or no such key")
    jobs = tree.at("restart", "jobs")
    if jobs is None or jobs.value == 1:
        return
    if restarting_of(name) is None:
        message = f"how a run of {name} goes on from a checkpoint is not known"
        yield problem("SPC004", message, _place(jobs), "expected: no restart.jobs")
    elif (local := tree.get("node_local")) is not None and not local.is_unset:
        message = f"checkpoints of {name} are not brought to a file system that ends with each job"
        yield problem("SPC004", message, _place(jobs), "expected: no restart.jobs with node_local")
    elif (own := _own_file(name)) not in namelist_files(tree):
        yield problem("SPC004", f"restart.jobs without {own}", _place(jobs), f"expected: namelists, which make {own}")


def _left_to_the_advisor(tree: Tree, name: str) -> Iterator[Finding]:
    leaves = [
        (f"lustre.{what}.{key}", leaf)
        for what, block in children_of(tree.get("lustre"))
        for key, leaf in children_of(block)
    ]
    time = tree.at("job", "time")
    for key, leaf in [*leaves, *([("job.time", time)] if time is not None else [])]:
        if not leaf.is_mapping and leaf.value == AUTO:
            message = f"{key} is left to the advisor, which knows ICON and not {name}"
            yield problem("SPC004", message, leaf.span, "expected: a value")


def _of_no_file(tree: Tree, name: str) -> Iterator[Finding]:
    """Namelists that no file is known for, and files that cannot be written."""
    own = _own_file(name)
    if (said := tree.get("namelists")) is not None and not said.is_unset and own is None:
        message = f"namelists does not say which file {name} reads them from"
        yield problem("SPC003", message, _place(said), "expected: namelist_files: {FILE: {GROUP: {...}}}")
    for file, block in children_of(tree.get("namelist_files")):
        if file in (_MANIFEST, COUPLING_FILE) or file.endswith(".sbatch"):
            advice = "expected: a name that no other file of the build has"
            yield problem("SPC004", f'namelist_files: "{file}" is no name for a namelist', block.key_span, advice)
        if file == own and tree.get("namelists") is not None:
            advice = f"expected: what {file} holds, below namelists"
            yield problem("SPC008", f"{file} is what namelists is written to", block.key_span, advice)


def _place(tree: Tree) -> Span | None:
    """Where a key stands; of one that several keys of a spec make, the first of what is below it."""
    below = (_place(child) for _, child in children_of(tree))
    return tree.key_span or tree.span or next((span for span in below if span is not None), None)


def namelist_files(tree: Tree) -> Mapping[str, Tree]:
    """The groups of each namelist file, by its name; that of the model itself first."""
    own, said = _own_file(name_of(tree)), tree.get("namelists")
    files = {own: said} if own is not None and said is not None and not said.is_unset else {}
    return {**files, **dict(children_of(tree.get("namelist_files")))}


def steps(tree: Tree) -> Iterator[tuple[str, Tree]]:
    """The programs that run before the model, in their order."""
    return ((name, keys) for name, keys in children_of(tree.get("before")) if keys.is_mapping)


def _own_file(name: str) -> str | None:
    model = model_named(name)
    return None if model is None else model.namelist
