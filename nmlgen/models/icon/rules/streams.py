"""What the rules about output ask of a stream."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite

from nmlgen.experiment.component import Component
from nmlgen.experiment.group import Group, as_list
from nmlgen.experiment.setting import Certainty, Setting, UndecidedError
from nmlgen.models.icon.clock import Clock
from nmlgen.models.icon.output import Window, windows
from nmlgen.models.icon.ranks import (
    MOST_PARTITIONS,
    level_types,
    partition_count,
)
from nmlgen.models.icon.rules.parallel import (
    writes_streams,
)

OPERATIONS = ("mean", "max", "min", "square", "acc")


def streams_read(component: Component) -> Iterator[Group]:
    """The streams that ICON reads."""
    if writes_streams(component):
        yield from component.streams


def setting_of(component: Component, stream: Group, name: str) -> Setting:
    return component.stream_setting(stream, name)


def partitions_of(component: Component, stream: Group) -> dict[str, int]:
    """The partitions of each level type that the stream writes."""
    return {kind: partition_count(component, stream, kind) for kind in level_types(component, stream)}


def possible_partitions_of(component: Component, stream: Group) -> dict[str, int]:
    """The partitions of each level type as far as ICON can work with their number."""
    found = partitions_of(component, stream).items()
    return {kind: number for kind, number in found if 0 < number <= MOST_PARTITIONS}


def is_blank(setting: Setting) -> bool:
    """Whether no text was given, or only blanks."""
    return not str(setting.value).strip()


def stream_name(stream: Group) -> str:
    """What a message calls a stream."""
    if stream.label:
        return stream.label
    name = stream.settings.get("output_filename")
    return str(name.value) if name is not None and name.certainty is Certainty.WRITTEN else "without a name"


def windows_of(component: Component, stream: Group, time: Clock) -> tuple[Window, ...]:
    """The output windows of a stream; raises UndecidedError if there is none."""
    bounds = setting_of(component, stream, "output_bounds")
    if bounds.is_written and not all(isfinite(value * 1e12) for value in as_list(bounds.value)):
        raise UndecidedError(bounds)
    found = windows(component, stream, time)
    if not found:
        raise UndecidedError(bounds)
    return found


def writes_within(found: tuple[Window, ...], length: int) -> bool:
    """Whether an output time may fall into a run of this length."""
    return any(max(window.start, 0) <= min(window.stop, length) for window in found)


def plural(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def short_name(setting: Setting) -> str:
    return setting.name.rpartition(".")[2]
