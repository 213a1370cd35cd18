"""What the I/O model is asked about: one run, as plain numbers."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from math import ceil
from typing import Any

from nmlgen.values import Attribute, field, frozen

SYNC = "sync"
ASYNC = "async"
JOINT = "joint procs multifile"
DEDICATED = "dedicated procs multifile"
RESTART_MODES = (SYNC, ASYNC, JOINT, DEDICATED)

_SHORT_MODES = {"none": "", "joint": JOINT, "dedicated": DEDICATED}


def _mode(name: str | None) -> str:
    plain = (name or "").strip().lower()
    return _SHORT_MODES.get(plain, plain)


def _none_is_zero(value: float | None) -> float:
    return value or 0.0


def _none_is_no_rank(value: int | None) -> int:
    return value or 0


def _at_least_one(value: int | None) -> int:
    return max(1, value) if value else 1


_LEAST, _MOST = 1e-50, 1e50
"""Between these lies all that a run may have; products of what does not may overflow."""


def is_countable(value: float) -> bool:
    """Whether a number is one that can be reckoned with: neither NaN nor infinite, nor nearly so."""
    return value == 0 or _LEAST <= abs(value) <= _MOST


def _expected(what: str, is_so: Callable[[float], bool]) -> Callable[[Any, Attribute[Any], Any], None]:
    def check(case: Case, attribute: Attribute[Any], value: float | None) -> None:
        if value is not None and not (is_countable(value) and is_so(value)):
            beyond = "" if is_countable(value) else f" and between {_LEAST:g} and {_MOST:g}"
            raise ValueError(f"{attribute.name} is {value!r}; expected {what}{beyond}")

    return check


_POSITIVE = _expected("more than 0", lambda value: value > 0)
_NOT_NEGATIVE = _expected("0 or more", lambda value: value >= 0)


@frozen(kw_only=True, slots=False)
class Case:
    """A run of one model domain with one output stream: sizes in bytes, times in seconds, None for "never".

    Raises ValueError for what cannot be run: no task left for computing, a negative size, an unknown restart mode.
    """

    n_cells: int = field(validator=_POSITIVE)
    """Cells of the grid: 20·n²·4^k for RnBk."""
    num_lev: int = field(validator=_POSITIVE)
    nodes: int = field(validator=_POSITIVE)
    ntasks: int = field(validator=_POSITIVE)
    """MPI tasks on all nodes together, whatever they do."""
    cores_per_task: int = field(default=1, validator=_POSITIVE)
    """Cores on which the threads of one task compute."""
    gpus: int | None = field(default=None, validator=_POSITIVE)
    """GPUs that compute, with one task each; tasks that write take none away. None where cores compute."""
    dtime_s: float = field(validator=_POSITIVE)
    n_steps: int = field(validator=_NOT_NEGATIVE)
    output_bytes: float = field(default=0.0, validator=_NOT_NEGATIVE, converter=_none_is_zero)
    """Bytes of one output time."""
    output_interval_s: float | None = field(default=None, validator=_POSITIVE)
    num_io_procs: int = field(default=0, validator=_NOT_NEGATIVE, converter=_none_is_no_rank)
    stream_partitions: int = field(default=1, validator=_POSITIVE, converter=_at_least_one)
    restart_write_mode: str = field(default="", converter=_mode)
    """As io_nml takes it, or "joint" and "dedicated" for short; empty, "none" or None: what ICON makes of that."""
    num_restart_procs: int = field(default=0, validator=_NOT_NEGATIVE, converter=_none_is_no_rank)
    checkpoint_bytes: float = field(default=0.0, validator=_NOT_NEGATIVE, converter=_none_is_zero)
    """Bytes of one checkpoint."""
    checkpoint_interval_s: float | None = field(default=None, validator=_POSITIVE)
    files_on_a_rank: int | None = field(default=None, validator=_POSITIVE)
    """The most partitions that one I/O rank writes, where pe_placement says it; None: they go to the ranks in turn."""
    n_output_slices: int | None = field(default=None, validator=_NOT_NEGATIVE)
    """Two-dimensional slices of one output time; None: as many as 8-byte values make of its bytes."""

    def __attrs_post_init__(self) -> None:
        if self.restart_mode not in RESTART_MODES:
            wanted = ", ".join(repr(mode) for mode in RESTART_MODES)
            raise ValueError(f"restart_write_mode is {self.restart_write_mode!r}; expected one of {wanted}")
        if self.nodes > self.ntasks:
            raise ValueError(f"nodes is {self.nodes}, but there are {self.ntasks} tasks; expected at least one a node")
        if self.workers < 1:
            raise ValueError(
                f"{self.ntasks} tasks, of which {self.io_ranks} write output and {self.restart_ranks} checkpoints: "
                "expected at least one task left for computing"
            )

    @cached_property
    def restart_mode(self) -> str:
        """The mode in effect: none given is async if there are ranks for it, else sync (mo_io_config.f90:536-645)."""
        if self.restart_write_mode:
            return self.restart_write_mode
        return ASYNC if self.num_restart_procs else SYNC

    @cached_property
    def io_ranks(self) -> int:
        """The tasks set apart for output; a task alone does everything itself (mo_mpi.f90:1521)."""
        return self.num_io_procs if self.ntasks > 1 else 0

    @cached_property
    def restart_ranks(self) -> int:
        """The tasks set apart for checkpoints: only two of the modes have any."""
        return self.num_restart_procs if self.restart_mode in (ASYNC, DEDICATED) and self.ntasks > 1 else 0

    @cached_property
    def workers(self) -> int:
        """The tasks that compute."""
        return self.ntasks - self.io_ranks - self.restart_ranks if self.gpus is None else self.gpus

    @cached_property
    def undivided(self) -> int:
        """The tasks that would compute if none wrote."""
        return self.ntasks if self.gpus is None else self.gpus

    @cached_property
    def duration_s(self) -> float:
        """The model time that is simulated."""
        return self.n_steps * self.dtime_s

    @cached_property
    def outputs(self) -> int:
        """How often output is written: at the start, at each interval, and at the end (include_last)."""
        if self.output_interval_s is None or not self.output_bytes:
            return 0
        return ceil(self.duration_s / self.output_interval_s - 1e-9) + 1

    @cached_property
    def checkpoints(self) -> int:
        """How many checkpoints are written; none at the start."""
        if self.checkpoint_interval_s is None or not self.checkpoint_bytes:
            return 0
        return int(self.duration_s / self.checkpoint_interval_s + 1e-9)

    @cached_property
    def writers(self) -> float:
        """How many I/O ranks write in turn: partition i goes to rank i modulo num_io_procs
        (mo_name_list_output_init.f90:1283-1470), so with 3 partitions on 2 ranks one rank has two turns of three.
        """
        if not self.io_ranks:
            return 0.0
        return self.stream_partitions / (self.files_on_a_rank or ceil(self.stream_partitions / self.io_ranks))
