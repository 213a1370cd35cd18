"""How fast the writers of a job are, as the simulation needs it."""

from __future__ import annotations

from attrs import field, frozen
from attrs.validators import ge, gt, optional

from nmlgen.advise.model import Constants
from nmlgen.experiment.ranks import RestartMode

_GIGABYTE = 1e9


@frozen(kw_only=True)
class Rates:
    """How fast the writers are; None where the workload needs no such rate.

    `output_bytes_per_s` is what an I/O rank writes alone; each of c that write at the same time gets that divided by
    1 + `output_contention`·(c - 1). The same for restart ranks, which are taken to be independent of the I/O ranks.
    What the workers write themselves costs an overhead in seconds each time besides: output at `gather_bytes_per_s`,
    checkpoints in the modes sync and joint procs multifile at `checkpoint_bytes_per_s`, all writers together.
    """

    output_bytes_per_s: float | None = field(default=None, validator=optional(gt(0)))
    output_contention: float = field(default=0.0, validator=ge(0))
    gather_bytes_per_s: float | None = field(default=None, validator=optional(gt(0)))
    gather_overhead_s: float = field(default=0.0, validator=ge(0))
    checkpoint_bytes_per_s: float | None = field(default=None, validator=optional(gt(0)))
    checkpoint_contention: float = field(default=0.0, validator=ge(0))
    checkpoint_overhead_s: float = field(default=0.0, validator=ge(0))

    @classmethod
    def from_constants(cls, constants: Constants, nodes: int, mode: RestartMode | None) -> Rates:
        """The rates of the closed form on so many nodes, for checkpoints in this mode."""
        others = nodes - 1
        checkpoint = {
            RestartMode.SYNC: 1 / constants.restart_sync,
            RestartMode.ASYNC: constants.restart_async,
            RestartMode.DEDICATED: constants.restart_dedicated,
            RestartMode.JOINT: constants.restart_joint,
        }
        return cls(
            output_bytes_per_s=constants.writer * _GIGABYTE,
            output_contention=constants.contention,
            gather_bytes_per_s=_GIGABYTE / constants.gather,
            gather_overhead_s=constants.gather_node * others,
            checkpoint_bytes_per_s=checkpoint[mode] * _GIGABYTE if mode else None,
            checkpoint_contention=constants.restart_contention if mode is RestartMode.DEDICATED else 0.0,
            checkpoint_overhead_s=constants.restart_sync_node * others if mode is RestartMode.SYNC else 0.0,
        )

    def gathering_s(self, count: float) -> float:
        """How long the workers stand still for an output of so many bytes without I/O ranks."""
        return self.gather_overhead_s + count / self.known("gather_bytes_per_s")

    def checkpointing_s(self, count: float) -> float:
        """How long they stand still for a checkpoint of so many bytes that they write themselves."""
        return self.checkpoint_overhead_s + count / self.known("checkpoint_bytes_per_s")

    def known(self, name: str) -> float:
        """The rate of that name; raises ValueError without one."""
        rate: float | None = getattr(self, name)
        if rate is None:
            raise ValueError(f"the workload needs the rate {name}")
        return rate
