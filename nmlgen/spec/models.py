"""The section `models` of a spec: several components in one job, each with the keys that hold for it.

What stands outside of `models` holds for every component that reads it, unless the component says otherwise; output
streams and input files are somebody's own. A spec without the section has one component, to which all of it belongs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from nmlgen.errors import SpecError
from nmlgen.experiment.component import KINDS, MODEL_GROUP, MOST_MODELS
from nmlgen.experiment.setting import Origin, Setting
from nmlgen.findings import Finding
from nmlgen.namelist.registry import Registry
from nmlgen.spec.layers import EMPTY, Tree, children_of, merge
from nmlgen.spec.problems import problem
from nmlgen.values import frozen

TYPES = {"atmo": 1, "ocean": 2, "hamocc": 4, "jsbach": 5, "waves": 98, "testbed": 99, "icon_output": 100}
"""The words for master_model_nml: model_type (ICON 2024.10, `mo_master_config.f90:84-91`)."""

COMMON = ("master_nml", "master_time_control_nml", "time_nml")
"""Groups of icon_master.namelist that all components share."""


@frozen(eq=False)
class ModelKeys:
    """One component of a spec: its `label` below `models`, None where there is no such section, the `tree` of all keys
    that hold for it, and the mapping below its label."""

    label: str | None
    tree: Tree
    own: Tree


def model_keys(tree: Tree, registry: Registry) -> tuple[ModelKeys, ...]:
    """The components of a merged tree whose variables stand below `namelists`, in the order of the text."""
    models = tree.get("models")
    if models is None or models.children is None:
        return (ModelKeys(None, tree, tree),)
    return tuple(
        ModelKeys(label, merge(_outside(tree, own, registry), _entered(label, own)), own)
        for label, own in models.children.items()
        if not own.is_unset
    )


def too_many(tree: Tree) -> Iterator[Finding]:
    """More models than a rule tells of: each of them has all groups that stand outside of `models`."""
    for _, beyond in children_of(tree.get("models"))[MOST_MODELS + 1 : MOST_MODELS + 2]:
        message = f"more than {MOST_MODELS + 1} models of one job"
        yield problem("SPC006", message, beyond.key_span, f"expected: at most {MOST_MODELS}, as many as ICON starts")


def misplaced(tree: Tree) -> Iterator[Finding]:
    """Keys that stand outside of `models` and belong to one component, or within and belong to all."""
    models = tree.get("models")
    if models is None or models.children is None:
        return
    for section in ("output", "domains"):
        if (found := tree.get(section)) is not None:
            yield problem(
                "SPC003",
                f"{section} stands beside models",
                found.key_span,
                f"expected: models.NAME.{section}, for the one it is of",
            )
    if (entry := tree.at("namelists", MODEL_GROUP)) is not None:
        for name, leaf in (entry.children or {}).items():
            if leaf.span is not None:
                message = f"{MODEL_GROUP}: {name} stands beside models"
                yield problem("SPC003", message, leaf.key_span, f"expected: models.NAME.namelists.{MODEL_GROUP}.{name}")
    for label, own in models.children.items():
        if own.is_unset:
            continue
        for group in COMMON:
            found = own.at("namelists", group) or EMPTY
            said = [leaf for leaf in (found.children or {}).values() if not leaf.is_unset]
            if said:
                first = said[0]
                message = f"models.{label} sets {group}, which all models share"
                yield problem("SPC003", message, first.key_span or own.key_span, "expected: the key outside of models")
        kind = own.get("type")
        if kind is None and own.at("namelists", MODEL_GROUP, "model_type") is None:
            note = f"expected: one of {', '.join(TYPES)}"
            yield problem("SPC005", f"models.{label}.type is not set", own.key_span, note)


def common(tree: Tree, registry: Registry) -> Mapping[str, Tree]:
    """The groups outside of `models` that stand in icon_master.namelist, but for the entries of models."""
    if tree.get("models") is None:
        return {}
    groups = (tree.get("namelists") or EMPTY).children or {}
    return {name: group for name, group in groups.items() if name != MODEL_GROUP and _is_masters(name, registry)}


def _is_masters(group: str, registry: Registry) -> bool:
    return group in COMMON or (registry.has_group(group) and "master" in registry.files(group))


def _outside(tree: Tree, own: Tree, registry: Registry) -> Tree:
    """What stands outside of `models` and holds for a component: the groups that it reads."""
    kind = _kind(own)
    groups = (tree.get("namelists") or EMPTY).children or {}
    read = {
        name: group
        for name, group in groups.items()
        if not _is_masters(name, registry)
        and (kind is None or not registry.has_group(name) or kind in registry.readers(name))
    }
    left = {key: child for key, child in (tree.children or {}).items() if key in ("grid", "name")}
    return Tree(children={**left, "namelists": Tree(children=read)})


def _kind(own: Tree) -> str | None:
    given = own.get("type")
    number = TYPES.get(str(given.value)) if given is not None else None
    if (written := own.at("namelists", MODEL_GROUP, "model_type")) is not None:
        number = written.value if isinstance(written.value, int) else None
    return None if number is None else KINDS.get(number)


def _entered(label: str, own: Tree) -> Tree:
    """The keys of a component with `type` and `name` as the variables that they are."""
    entry: dict[str, Tree] = {}
    if (kind := own.get("type")) is not None:
        said = tuple(Origin(say.layer, TYPES.get(str(say.value)), say.span) for say in kind.history)
        entry["model_type"] = Tree(said, key_span=kind.key_span)
    name = own.get("name")
    entry["model_name"] = name or Tree((Origin("nmlgen", label, own.key_span),), key_span=own.key_span)
    above = Tree(children={"namelists": Tree(children={MODEL_GROUP: Tree(children=entry)})})
    children = {key: child for key, child in (own.children or {}).items() if key not in ("type", "name")}
    return merge(above, Tree(own.history, children, key_span=own.key_span))


_OWN_RANKS = ("model_min_rank", "model_max_rank")


def shares(models: tuple[ModelKeys, ...], directives: Mapping[str, Setting]) -> Mapping[str | None, range]:
    """The ranks of each component that says its `tasks`, or leaves them to be the rest: one behind the other.

    None of those that set their ranks themselves, in `master_model_nml`, and of a single one. Raises SpecError where
    the numbers do not come out even.
    """
    if len(models) < 2 or any(_sets_ranks(model) for model in models):
        _check_alone(models, job_tasks(directives))
        return {}
    asked = [(model, model.own.get("tasks")) for model in models]
    open_ones = [model for model, tasks in asked if tasks is None]
    job = job_tasks(directives)
    if len(open_ones) > 1 or (open_ones and job is None):
        names = [f"models.{model.label}.tasks" for model in open_ones]
        note = "expected: a number for each model, or for all but one where the job says how many tasks it has"
        raise SpecError(
            tuple(
                problem("SPC005", f"{name} is not set", m.own.key_span, note)
                for name, m in zip(names, open_ones, strict=True)
            )
        )
    taken = sum(tasks.value for _, tasks in asked if tasks is not None)
    last = next(tasks for _, tasks in reversed(asked) if tasks is not None)
    if job is not None and (taken >= job if open_ones else taken != job):
        message = f"the models take {taken} tasks, the job has {job}"
        raise SpecError((problem("SPC004", message, last.span, "expected: every task in one model, and one for each"),))
    found, first = {}, 0
    for model, tasks in asked:
        count = tasks.value if tasks is not None else (job or 0) - taken
        found[model.label] = range(first, first + count)
        first += count
    return found


def _check_alone(models: tuple[ModelKeys, ...], job: int | None) -> None:
    """A single model has all tasks of the job: raises SpecError where it says another number."""
    tasks = models[0].own.get("tasks") if len(models) == 1 else None
    if tasks is not None and job is not None and tasks.value != job:
        message = f"the only model takes {tasks.value} tasks, the job has {job}"
        advice = "expected: every task in the model; programs beside it stand below programs"
        raise SpecError((problem("SPC004", message, tasks.span, advice),))


def job_tasks(directives: Mapping[str, Setting]) -> int | None:
    """The MPI tasks that a job asks for; None where it does not say."""
    given = [directives[name].value for name in ("nodes", "ntasks-per-node") if name in directives]
    if "ntasks" in directives:
        return int(directives["ntasks"].value)
    return given[0] * given[1] if len(given) == 2 else None


def _sets_ranks(model: ModelKeys) -> bool:
    entry = model.own.at("namelists", MODEL_GROUP)
    return entry is not None and any(name in _OWN_RANKS for name in entry.children or ())
