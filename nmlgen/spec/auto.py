"""The word `auto` in a spec: what its author leaves to the advisor, decided all at once.

The values come with their reason, in the place of the word, so that whoever asks for them sees a value like any other.
What the author wrote is never replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from nmlgen.errors import SpecError
from nmlgen.experiment.component import Component, Model
from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.group import Group
from nmlgen.experiment.setting import ADVISOR, Origin, Setting, UndecidedError
from nmlgen.experiment.striping import Striping
from nmlgen.findings import Finding, in_order
from nmlgen.models.icon.ranks import LEVEL_TYPES
from nmlgen.source import Span
from nmlgen.spec.problems import problem
from nmlgen.units.wall_time import format_wall_time, spoken_time
from nmlgen.values import evolve

AUTO = "auto"
VARIABLES = {
    "parallel_nml": ("num_io_procs", "num_restart_procs"),
    "io_nml": ("restart_write_mode",),
    "output_nml": tuple(f"stream_partitions_{kind}" for kind in LEVEL_TYPES),
}
"""The variables that `auto` can be written for; besides there are the stripes of output and checkpoints, and the time
limit of the job."""

_STRIPES = ("stripe_count", "stripe_size")

_NEUTRAL = {"num_io_procs": 0, "num_restart_procs": 0, "restart_write_mode": "sync"}
_GRID = "grid_nml.dynamics_grid_filename"

Values = Mapping[str, tuple[Any, str | None]]
"""For variables of a group: the value and its reason."""


def decided(experiment: Experiment) -> Experiment:
    """The experiment with a value for each `auto`; the same one if there is none.

    Raises SpecError, at the word, for what cannot be decided.
    """
    for component in experiment.components:
        words = [word for group in component.all_groups() for word in _words(group)]
        if words:
            model = _with_layout(component, words)
            models = (*experiment.models[: component.number], model, *experiment.models[component.number + 1 :])
            experiment = evolve(experiment, models=models)
    if any(_is_auto(block.settings.get(name)) for block in experiment.striping for name in _STRIPES):
        striping = tuple(_with_stripes(experiment, block) for block in experiment.striping)
        experiment = evolve(experiment, striping=striping)
    if _is_auto(experiment.directives.get("time")):
        experiment = evolve(experiment, directives=_with_time(experiment))
    return experiment


def _is_auto(setting: Setting | None) -> bool:
    return setting is not None and bool(setting.origin.value == AUTO)


def _words(group: Group) -> Iterator[Setting]:
    """The settings of a group that are left to the advisor."""
    for name in VARIABLES.get(group.name, ()):
        if name in group.settings and _is_auto(group.settings[name]):
            yield group.settings[name]


def _with_layout(component: Component, words: list[Setting]) -> Model:
    from nmlgen.advise.choices import Choice
    from nmlgen.advise.decision import decide
    from nmlgen.advise.experiment import situation_of

    neutral = component.experiment.mapped(_neutral).components[component.number]
    try:
        situation = situation_of(neutral)
    except UndecidedError as error:
        raise SpecError(in_order(_undecided(word, error.setting) for word in words)) from None
    mode, ranks = component["io_nml", "restart_write_mode"], component["parallel_nml", "num_restart_procs"]
    are_ranks_left = _is_left(component, "parallel_nml", "num_restart_procs")
    is_left = _is_auto(mode) or are_ranks_left
    streams = {id(new): old for new, old in zip(neutral.streams, component.streams, strict=True)}
    partitions = [_is_auto(streams[id(output.stream)].settings.get(output.variable)) for output in situation.outputs]
    choice = Choice(
        num_io_procs=_is_left(component, "parallel_nml", "num_io_procs"),
        stream_partitions=tuple(partitions),
        restart_write_mode=is_left and (_is_auto(mode) or not mode.is_written),
        num_restart_procs=is_left and (are_ranks_left or not ranks.is_written),
    )
    found = decide(situation, choice)
    span = words[0].span

    def values(group: Group) -> Values:
        if group.name != "output_nml":
            return found.variables.get(group.name, {})
        own = [number for number, output in enumerate(situation.outputs) if streams[id(output.stream)] is group]
        written = {situation.outputs[number].variable: found.partitions[number] for number in own}
        return {name: written.get(name, (1, "nothing is written on these levels")) for name in _names(group)}

    return _replaced(component, values, span)


@lru_cache(maxsize=1024)
def _neutral(group: Group) -> Group:
    """The group without `auto`: as if nobody wrote output but the first rank, and that at once."""
    return _with_values(group, {name: (_NEUTRAL.get(name, 1), None) for name in _names(group)}, None)


def _names(group: Group) -> list[str]:
    return [name for name in VARIABLES.get(group.name, ()) if _is_auto(group.settings.get(name))]


def _is_left(component: Component, group: str, name: str) -> bool:
    found = component.group(group)
    return found is not None and _is_auto(found.settings.get(name))


def _replaced(component: Component, values: Callable[[Group], Values], span: Span | None = None) -> Model:
    """The model with other values in its namelist: in the place of `auto`, or beside it."""
    groups = list(component.namelist)
    there = {group.name for group in groups}
    groups += [Group(name, {}) for name in ("parallel_nml", "io_nml") if name not in there]
    changed = [_with_values(group, values(group), span) for group in groups]
    kept = tuple(group for group in changed if group.settings or group.name in there)
    return evolve(component.model, namelist=kept)


def _with_values(group: Group, values: Values, span: Span | None) -> Group:
    if not values:
        return group
    settings = dict(group.settings)
    for name, (value, reason) in values.items():
        settings[name] = _decided(settings.get(name), f"{group.name}.{name}", value, reason, span)
    return evolve(group, settings=settings)


def _decided(setting: Setting | None, name: str, value: Any, reason: str | None, span: Span | None) -> Setting:
    if setting is None:
        return Setting(name, (Origin(ADVISOR, value, span, reason),))
    return evolve(setting, history=(*setting.history, Origin(ADVISOR, value, setting.span, reason)))


def _with_stripes(experiment: Experiment, block: Striping) -> Striping:
    from nmlgen.advise.decision import stripe_count, stripe_size

    settings = dict(block.settings)
    for setting in [settings[name] for name in _STRIPES if _is_auto(settings.get(name))]:
        key = setting.name.rpartition(".")[2]
        try:
            value, reason = stripe_size(experiment) if key == "stripe_size" else stripe_count(experiment, block.what)
        except UndecidedError as error:
            raise SpecError((_undecided(setting, error.setting),)) from None
        settings[key] = _decided(setting, setting.name, value, reason, None)
    return evolve(block, settings=settings)


def _with_time(experiment: Experiment) -> Mapping[str, Setting]:
    """The directives with a time limit: what a job is expected to take with its layout, and a margin."""
    from nmlgen.advise.job_time import time_limit

    word = experiment.directives["time"]
    try:
        seconds, found = time_limit(experiment)
    except UndecidedError as error:
        raise SpecError((_undecided(word, error.setting),)) from None
    set_up = f", {spoken_time(found.set_up_s)} before it begins" if found.set_up_s else ""
    reason = f"{spoken_time(found.expected_s)} expected, one run in ten takes more than {spoken_time(found.high_s)}"
    time = Origin(ADVISOR, format_wall_time(seconds), word.span, f"{reason}{set_up}; and a quarter more")
    return {**experiment.directives, "time": evolve(word, history=(*word.history, time))}


def _undecided(word: Setting, missing: Setting) -> Finding:
    name = word.name.rpartition(".")[2]
    if missing.name == _GRID:
        message = f"{name} is auto, and the size of the grid is not known"
        note = "expected: grid.name, such as R2B5, for a global grid; grid.cells; or a value in the place of auto"
    else:
        message = f"{name} is auto, and {missing.name} is not known"
        is_setting = " " not in missing.name  # else words for what no setting says
        known = f"a value of {missing.name} that can be used, or one" if is_setting else "a value"
        note = f"expected: {known} in the place of auto"
    return problem("SPC013", message, word.span, note)
