"""What would make the output smaller: each way with its bytes, the time it saves, and what is lost.

Each is worked out on the experiment as it would be, with its present layout of ranks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from nmlgen.advise.experiment import Output, Situation, situation_of
from nmlgen.advise.formats import IN_GRIB2, IN_SINGLE, Variables, changed
from nmlgen.advise.layout import present_layout
from nmlgen.advise.prediction import NOISE
from nmlgen.advise.ranking import weighed
from nmlgen.experiment.component import Component
from nmlgen.experiment.group import Group, integer
from nmlgen.experiment.setting import UndecidedError
from nmlgen.units.duration import Duration
from nmlgen.values import frozen

WORTH_SAYING = 0.1
"""The share of all output from which on a saving is worth a line."""

_GRIB2 = 2


@frozen
class Saving:
    """One way to write less: what to set, how many bytes and seconds of the whole run it saves, what is lost by it, and
    the share of the output that it saves. `seconds` is None where no time can be told, and 0 below the noise."""

    settings: Mapping[str, Any]
    bytes: float
    share: float
    seconds: float | None
    lost: str


@frozen
class _Way:
    settings: dict[str, Any]
    lost: str
    variables: Variables
    stream: Group | None = None


def savings(situation: Situation) -> tuple[Saving, ...]:
    """The ways to write less that are worth a line, the largest first."""
    all_bytes = sum(output.run_bytes for output in situation.outputs)
    if not all_bytes:
        return ()
    present = weighed(situation, present_layout(situation))
    can_tell = not situation.unlike and not present.prediction.is_far
    found = []
    for way in _ways(situation):
        try:
            other = situation_of(changed(situation.component, way.variables, way.stream))
            saved = all_bytes - sum(output.run_bytes for output in other.outputs)
            if saved < WORTH_SAYING * all_bytes:
                continue
            gain = present.seconds - weighed(other, present_layout(other)).seconds
        except UndecidedError:
            continue
        is_noise = gain < NOISE * present.seconds
        seconds = None if other.unlike or not can_tell else 0.0 if is_noise else gain
        found.append(Saving(way.settings, saved, saved / all_bytes, seconds, way.lost))
    return tuple(sorted(found, key=lambda saving: -saving.bytes))


def _ways(situation: Situation) -> Iterator[_Way]:
    component = situation.component
    if component["io_nml", "lnetcdf_flt64_output"].value:
        yield _Way(
            {"namelists.io_nml.lnetcdf_flt64_output": False},
            "digits beyond the seventh, which budgets may need",
            IN_SINGLE,
        )
    of_stream: dict[Group, int] = defaultdict(int)
    for output in situation.outputs:
        of_stream[output.stream] += output.run_bytes
    least = WORTH_SAYING * sum(of_stream.values())
    for output in situation.outputs:
        if of_stream[output.stream] < least:  # a stream saves no more than it writes
            continue
        title = output.stream.title
        if component.stream_setting(output.stream, "filetype").value != _GRIB2:
            yield _Way(
                {f"output.{title}.filetype": 2, "namelists.gribout_nml.lgribout_compress_ccsds": True},
                "all but 16 bits of a value over the range of each field (CCSDS packs without loss), and variables "
                "without a GRIB2 definition",
                IN_GRIB2,
                output.stream,
            )
        yield from _fewer_levels(component, output)
        if not output.is_whole:
            interval = Duration.of_seconds(2 * output.interval_s)
            yield _Way(
                {f"output.{title}.output_interval": str(interval)},
                "every second output time",
                {("output_nml", "output_interval"): str(interval)},
                output.stream,
            )


def _fewer_levels(component: Component, output: Output) -> Iterator[_Way]:
    """The lower half of the model levels, where all are written."""
    levels = integer(component["run_nml", "num_lev"])
    chosen = str(component.stream_setting(output.stream, "m_levels").value).strip()
    if output.level_type == "ml" and not chosen and levels > 1:
        half = f"{levels // 2 + 1}...{levels}"
        yield _Way(
            {f"output.{output.stream.title}.m_levels": half},
            f"the upper {levels // 2} model levels",
            {("output_nml", "m_levels"): half},
            output.stream,
        )
