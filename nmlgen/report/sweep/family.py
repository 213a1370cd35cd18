"""Families of runs: those that differ in their I/O layout only, or, where a sweep is over something else, in that."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from nmlgen.advise.prediction import NOISE
from nmlgen.report.sweep.run import PointRun
from nmlgen.units.whole import whole_number
from nmlgen.values import evolve, frozen

_LAYOUTS = (
    ("output", re.compile(r"num_io_procs|stream_partitions_\w+|pio_type|num_io_procs_radar")),
    ("restart", re.compile(r"restart_write_mode|num_restart_procs")),
    ("striping", re.compile(r"stripe_\w+")),
)
_NAMES = re.compile(r"name|job\.time|repeat|(?:.*\.)?output_filename")
"""Keys that only call a run otherwise, give it more time, or run it again."""
_REPEAT = "repeat"
_MOST_TITLING = 20  # keys in the title of a family
_VAGUE = ("name", "file", "time", "directory")
"""Last words of keys that say little by themselves."""
_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?")


@frozen
class Axes:
    """How runs are laid out: along `x`, one line for each combination of `series`, one family for each of `families`.

    `x` is None if all runs have the same values. `layout` are the keys in which runs of a family differ, `x` and
    `series` among them.
    """

    x: str | None
    series: tuple[str, ...]
    families: tuple[str, ...]
    layout: tuple[str, ...]

    def position(self, run: PointRun) -> str:
        """Where on the axis a run is."""
        return text_of(run.values.get(self.x)) if self.x is not None else run.name

    def line(self, run: PointRun) -> str:
        """To which line it belongs."""
        return ", ".join(text_of(run.values.get(key)) for key in self.series)

    def layout_text(self, run: PointRun) -> str:
        """Its layout in words: without the keys whose values follow from the others."""
        if self.x is None:
            return run.name
        words = [text_of(v) if isinstance(v := run.values.get(k), str) else layout_text({k: v}) for k in self.series]
        return ", ".join([*words, layout_text({self.x: run.values.get(self.x)})])


@frozen(slots=False)
class Family:
    """Runs that can be compared, in the order of the axis.

    `typical` are those that stand for their layout: of runs that repeat each other the median. `best` is the fastest of
    these that came to its end, `equal` are the others that are as fast within the noise.
    """

    identifier: str
    title: str
    runs: tuple[PointRun, ...]
    best: PointRun | None
    equal: tuple[PointRun, ...]
    present: PointRun | None
    typical: tuple[PointRun, ...]

    def repeated(self, run: PointRun) -> tuple[float, ...]:
        """The run times of those that repeat a run, itself among them, shortest first."""
        return self._times.get(_but_for_repeat(run), ())

    @cached_property
    def _times(self) -> Mapping[tuple[tuple[str, str], ...], tuple[float, ...]]:
        """The run times of those that repeat each other, shortest first."""
        found: dict[tuple[tuple[str, str], ...], list[float]] = {}
        for run in self.runs:
            if run.total_s:
                found.setdefault(_but_for_repeat(run), []).append(run.total_s)
        return {same: tuple(sorted(times)) for same, times in found.items()}

    def cost(self, run: PointRun | None) -> float | None:
        """How much more time than the best a run takes, as a share of it."""
        if run is None or self.best is None or run.total_s is None or self.best.total_s is None:
            return None
        return run.total_s / self.best.total_s - 1

    @property
    def predicted_best(self) -> PointRun | None:
        """The run of which the model expects the shortest time."""
        return min(
            (run for run in self.typical if run.predicted is not None),
            key=lambda run: run.predicted.total_s if run.predicted is not None else 0.0,
            default=None,
        )


def axes_of(runs: Sequence[PointRun]) -> Axes:
    """How to lay out the runs of a sweep, from the values in which they differ."""
    keys = [key for key in _keys(runs) if _NAMES.fullmatch(key) is None and len(_column(runs, key)) > 1]
    within = _layout_keys(runs, keys)
    if not within and keys:
        within = [max(keys, key=lambda key: (_is_numeric(runs, key), len(_column(runs, key))))]
    families = tuple(key for key in keys if key not in within)
    if not within:
        return Axes(None, (), families, ())
    x = max(within, key=lambda key: (_is_numeric(runs, key), len(_column(runs, key))))
    series: list[str] = []
    groups = [0] * len(runs)  # a number for each combination of the values of the keys that were looked at
    for key in (*families, x):
        groups = _divided(groups, _texts(runs, key))
    for key in within:
        divided = _divided(groups, _texts(runs, key))
        if len(set(divided)) > len(set(groups)):  # else its value follows from theirs
            series.append(key)
            groups = divided
    return Axes(x, tuple(series), families, tuple(within))


def families_of(runs: Sequence[PointRun], axes: Axes, present: Mapping[str, Any]) -> tuple[Family, ...]:
    """The families in the order in which their first runs come."""
    titles = _titling_keys(runs, axes.families)
    grouped: dict[tuple[str, ...], list[PointRun]] = {}
    for run in runs:
        grouped.setdefault(tuple(text_of(run.values.get(key)) for key in axes.families), []).append(run)
    wanted = {key: text_of(value) for key, value in present.items() if key in axes.layout}
    found = []
    for number, members in enumerate(grouped.values(), start=1):
        title = " · ".join(f"{short_name(key)} {text_of(members[0].values.get(key))}" for key in titles)
        found.append(_family(f"f{number}", title or "all runs", members, axes, wanted))
    return tuple(found)


def _family(identifier: str, title: str, runs: list[PointRun], axes: Axes, wanted: Mapping[str, str]) -> Family:
    ordered = tuple(sorted(runs, key=lambda run: (sort_key(axes.position(run)), axes.line(run))))
    typical = _typical(ordered)
    finished = [(run.total_s, number, run) for number, run in enumerate(typical) if run.total_s]
    present = None
    if wanted and len(wanted) == len(axes.layout):
        matching = (run for run in typical if all(text_of(run.values.get(k)) == v for k, v in wanted.items()))
        present = next(matching, None)
    if not finished:
        return Family(identifier, title, ordered, None, (), present, typical)
    shortest, _, best = min(finished)
    equal = tuple(run for total, _, run in finished if run is not best and total <= shortest * (1 + NOISE))
    return Family(identifier, title, ordered, best, equal, present, typical)


def _typical(runs: Sequence[PointRun]) -> tuple[PointRun, ...]:
    """Of runs that repeat each other the one with the median run time; where none has one, the first."""
    grouped: dict[tuple[tuple[str, str], ...], list[PointRun]] = {}
    for run in runs:
        grouped.setdefault(_but_for_repeat(run), []).append(run)
    found = []
    for members in grouped.values():
        timed = sorted((run for run in members if run.total_s), key=lambda run: run.total_s or 0.0)
        found.append(timed[(len(timed) - 1) // 2] if timed else members[0])
    return tuple(found)


def _but_for_repeat(run: PointRun) -> tuple[tuple[str, str], ...]:
    """The values in which runs that repeat each other are the same."""
    if _REPEAT not in run.values:
        return ((_REPEAT, run.name),)
    return tuple((key, text_of(value)) for key, value in run.values.items() if key != _REPEAT)


def with_readable(run: PointRun) -> PointRun:
    """The run with numbers for values that are texts of numbers."""
    return evolve(run, values={key: _number(value) for key, value in run.values.items()})


def layout_text(values: Mapping[str, Any]) -> str:
    """Keys and values in words."""
    return ", ".join(f"{short_name(key)} {text_of(value)}" for key, value in values.items())


def short_name(key: str) -> str:
    """The last word of a key, which is ICON's or Slurm's own; the whole key where that says little."""
    word = key.rpartition(".")[2]
    return key if word in _VAGUE else word


def text_of(value: Any) -> str:
    """A value as the page shows it."""
    if value is None or value == "":
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def sort_key(text: str) -> tuple[int, float, str]:
    """Numbers by their size, before words."""
    return (0, float(text), "") if _NUMBER.fullmatch(text) else (1, 0.0, text)


def positions(runs: Iterable[PointRun], axes: Axes) -> tuple[str, ...]:
    """All places on the axis, in order."""
    found = dict.fromkeys(axes.position(run) for run in runs)
    is_number = [_NUMBER.fullmatch(text) is not None for text in found]
    return tuple(sorted(found, key=sort_key)) if any(is_number) else tuple(found)


def _keys(runs: Iterable[PointRun]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(key for run in runs for key in run.values))


def _column(runs: Iterable[PointRun], key: str) -> set[str]:
    return {text_of(run.values.get(key)) for run in runs}


def _is_numeric(runs: Iterable[PointRun], key: str) -> bool:
    return all(_NUMBER.fullmatch(text) for text in _column(runs, key) - {"none"})


def _layout_keys(runs: Sequence[PointRun], keys: Sequence[str]) -> list[str]:
    """Those keys that are the layout: of output, of checkpoints or of stripes, whichever has most combinations."""
    groups = [[key for key in keys if pattern.fullmatch(short_name(key))] for _, pattern in _LAYOUTS]
    return max(groups, key=lambda group: len({tuple(text_of(r.values.get(k)) for k in group) for r in runs}))


def _texts(runs: Iterable[PointRun], key: str) -> list[str]:
    """The values of a key as the page shows them."""
    return [text_of(run.values.get(key)) for run in runs]


def _divided(groups: Sequence[int], texts: Sequence[str]) -> list[int]:
    """Groups of runs divided by the values of one more key: a number for each run, the same where both are the same."""
    numbers: dict[tuple[int, str], int] = {}
    return [numbers.setdefault(pair, len(numbers)) for pair in zip(groups, texts, strict=True)]


def _titling_keys(runs: Sequence[PointRun], keys: Sequence[str]) -> tuple[str, ...]:
    """Keys without those that say nothing which another does not say in fewer letters: grid.file beside grid.name."""
    lengths = {key: max(map(len, _column(runs, key))) for key in keys}
    kept: dict[str, list[int]] = {}
    for key in sorted(keys, key=lambda key: lengths[key]):
        texts = _texts(runs, key)
        if len(kept) >= _MOST_TITLING:  # each is held against all
            break
        if not any(len(set(_divided(groups, texts))) == len(set(groups)) for groups in kept.values()):
            kept[key] = _divided([0] * len(texts), texts)
    return tuple(key for key in keys if key in kept)


def _number(value: Any) -> Any:
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        return float(value) if any(letter in value for letter in ".eE") else whole_number(value)
    return value
