"""What the I/O model is asked about: one run, as plain numbers."""

from __future__ import annotations

from math import ceil, isfinite

from attrs import Attribute, field, frozen

SYNC = "sync"
ASYNC = "async"
JOINT = "joint procs multifile"
DEDICATED = "dedicated procs multifile"
RESTART_MODES = (SYNC, ASYNC, JOINT, DEDICATED)

_SHORT_MODES = {"none": "", "joint": JOINT, "dedicated": DEDICATED}


def _mode(name: str | None) -> str:
    plain = (name or "").strip().lower()
    return _SHORT_MODES.get(plain, plain)


def _check(instance: object, attribute: Attribute[float | None], value: float | None, positive: bool) -> None:
    if value is None:
        return
    if not isfinite(value) or value < 0 or (positive and value == 0):
        wanted = "more than 0" if positive else "0 or more"
        raise ValueError(f"{attribute.name} is {value!r}; expected {wanted}")


def _positive(instance: object, attribute: Attribute[float | None], value: float | None) -> None:
    _check(instance, attribute, value, positive=True)


def _not_negative(instance: object, attribute: Attribute[float | None], value: float | None) -> None:
    _check(instance, attribute, value, positive=False)


@frozen(kw_only=True)
class Case:
    """A run of one model domain with one output stream: sizes in bytes, times in seconds, None for "never".

    Raises ValueError for what cannot be run: no task left for computing, a negative size, an unknown restart mode.
    """

    n_cells: int = field(validator=_positive)
    """Cells of the grid: 20·n²·4^k for RnBk."""
    num_lev: int = field(validator=_positive)
    nodes: int = field(validator=_positive)
    ntasks: int = field(validator=_positive)
    """MPI tasks on all nodes together, whatever they do."""
    dtime_s: float = field(validator=_positive)
    n_steps: int = field(validator=_not_negative)
    output_bytes: float = field(default=0.0, validator=_not_negative, converter=lambda value: value or 0.0)
    """Bytes of one output time."""
    output_interval_s: float | None = field(default=None, validator=_positive)
    num_io_procs: int = field(default=0, validator=_not_negative)
    stream_partitions: int = field(default=1, validator=_not_negative, converter=lambda value: max(1, value or 0))
    restart_write_mode: str = field(default="", converter=_mode)
    """As io_nml takes it; "joint" and "dedicated" for short; empty or None means sync, or async with restart ranks."""
    num_restart_procs: int = field(default=0, validator=_not_negative, converter=lambda value: value or 0)
    checkpoint_bytes: float = field(default=0.0, validator=_not_negative, converter=lambda value: value or 0.0)
    """Bytes of one checkpoint."""
    checkpoint_interval_s: float | None = field(default=None, validator=_positive)
    n_output_slices: int | None = field(default=None, validator=_not_negative)
    """Two-dimensional slices of one output time."""

    def __attrs_post_init__(self) -> None:
        if self.restart_mode not in RESTART_MODES:
            wanted = ", ".join(repr(mode) for mode in RESTART_MODES)
            raise ValueError(f"restart_write_mode is {self.restart_write_mode!r}; expected one of {wanted}")
        if self.nodes > self.ntasks:
            raise ValueError(f"nodes is {self.nodes}, but there are {self.ntasks} tasks; expected at least one a node")
        if self.workers < 1:
            raise ValueError(
                f"{self.ntasks} tasks, of which {self.num_io_procs} write output and {self.restart_ranks} checkpoints: "
                "expected at least one task left for computing"
            )

    @property
    def io_ranks(self) -> int:
        """The tasks set apart for output; a task alone does everything itself (mo_mpi.f90:1521)."""
        return self.num_io_procs if self.ntasks > 1 else 0

    @property
    def restart_mode(self) -> str:
        """The mode in effect (mo_io_config.f90:536-645): with dedicated modes but no ranks for them, sync."""
        if self.restart_write_mode:
            return self.restart_write_mode
        return ASYNC if self.num_restart_procs else SYNC

    @property
    def restart_ranks(self) -> int:
        """The tasks set apart for checkpoints: only two of the modes have any."""
        return self.num_restart_procs if self.restart_mode in (ASYNC, DEDICATED) and self.ntasks > 1 else 0

    @property
    def workers(self) -> int:
        """The tasks that compute."""
        return self.ntasks - self.io_ranks - self.restart_ranks

    @property
    def duration_s(self) -> float:
        """The model time that is simulated."""
        return self.n_steps * self.dtime_s

    @property
    def outputs(self) -> int:
        """How often output is written: at the start, at each interval, and at the end (include_last)."""
        if self.output_interval_s is None or not self.output_bytes:
            return 0
        times = self.duration_s / self.output_interval_s
        return ceil(times - 1e-9) + 1

    @property
    def checkpoints(self) -> int:
        """How many checkpoints are written; none at the start."""
        if self.checkpoint_interval_s is None or not self.checkpoint_bytes:
            return 0
        return int(self.duration_s / self.checkpoint_interval_s + 1e-9)

    @property
    def writers(self) -> float:
        """How many I/O ranks write in turn: partition i goes to rank i modulo num_io_procs
        (mo_name_list_output_init.f90:1283-1470), so with 3 partitions on 2 ranks one rank has two turns of three.
        """
        if not self.io_ranks:
            return 0.0
        return self.stream_partitions / ceil(self.stream_partitions / self.io_ranks)
