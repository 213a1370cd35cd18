"""What the page of a sweep is told: its runs, one a point."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from nmlgen.values import field, frozen

State = Literal["finished", "unfinished", "failed", "missing", "invalid"]
"""`unfinished`: the logs end before the experiment does. `failed`: they, or the job, say why. `missing`: there is no
log. `invalid`: the point could not be built."""


@frozen(kw_only=True)
class Measured:
    """What the logs of a run say, all jobs of its chain together. None stands for what they do not say.

    `_s` is seconds, `_bytes` bytes, `_bytes_per_s` bytes a second.
    """

    total_s: float | None = None
    """The timer `total`, average over the workers."""
    wrt_output_work_s: float | None = None
    """The timer `wrt_output` on the workers, who wait and copy there, or write themselves."""
    wrt_output_io_s: float | None = None
    """The timer `wrt_output` on the I/O ranks, who are busy there."""
    output_get_bytes_per_s: float | None = None
    """How fast an I/O rank gets data from the workers."""
    output_write_bytes_per_s: float | None = None
    """How fast an I/O rank writes, with as many bytes a value as the files have."""
    write_restart_work_s: float | None = None
    """The timer `write_restart` on the workers."""
    write_restart_procs_s: float | None = None
    """The timer `write_restart` on the dedicated restart ranks."""
    checkpoint_write_bytes_per_s: float | None = None
    """How fast checkpoints are written."""
    output_bytes: float | None = None
    checkpoint_bytes: float | None = None


@frozen(kw_only=True)
class Predicted:
    """What the I/O model expects: the run time, and the limits between which it lies in eight cases of ten."""

    total_s: float
    low_s: float
    high_s: float
    notes: tuple[str, ...] = ()


@frozen(kw_only=True)
class PointRun:
    """One point of a sweep and its run.

    `values` are those that the point was given, by key; None is a key that was taken away. `cores` and `nodes` are what
    the job occupies. `details` are pairs of a label and a text; `notes` say what was corrected or is uncertain.
    """

    name: str
    values: Mapping[str, Any] = field(factory=dict)
    state: State = "missing"
    reason: str = ""
    nodes: int | None = None
    cores: int | None = None
    measured: Measured = field(factory=Measured)
    predicted: Predicted | None = None
    details: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def total_s(self) -> float | None:
        """The run time, if the run came to its end: no other may be compared."""
        return self.measured.total_s if self.state == "finished" else None

    @property
    def node_hours(self) -> float | None:
        """What the run cost."""
        return None if self.total_s is None or self.nodes is None else self.total_s * self.nodes / 3600

    @property
    def error(self) -> float | None:
        """How far the prediction is off: predicted over measured, minus one."""
        if self.total_s is None or self.predicted is None:
            return None
        return self.predicted.total_s / self.total_s - 1

    @property
    def is_within(self) -> bool | None:
        """Whether the run time lies in the predicted interval."""
        if self.total_s is None or self.predicted is None:
            return None
        return self.predicted.low_s <= self.total_s <= self.predicted.high_s


@frozen(kw_only=True)
class SweepRuns:
    """A sweep with its runs.

    `present` is the layout that the spec has without its sweep, by key: what other layouts are compared with. `inputs`
    are the documents it was made from with their SHA-256, `calibration` that of the predictions. `created` is a time
    stamp for the page; without one the same runs give the same bytes.
    """

    name: str
    runs: tuple[PointRun, ...]
    version: str
    present: Mapping[str, Any] = field(factory=dict)
    inputs: tuple[tuple[str, str], ...] = ()
    overrides: tuple[str, ...] = ()
    calibration: str | None = None
    created: str | None = None
