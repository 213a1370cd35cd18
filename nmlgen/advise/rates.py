"""How fast the writers of a job are, as the simulation needs it."""

from __future__ import annotations

from math import inf

from attrs.validators import ge, gt, optional

from nmlgen.advise.case import ASYNC, JOINT, SYNC, Case
from nmlgen.advise.model import PARTS, Constants, receiving_time, restart_time, run_time, slowed
from nmlgen.values import evolve, field, frozen

_GIGABYTE = 1e9
_SYNCHRONOUS, _CHECKPOINTS = PARTS.index("synchronous writes"), PARTS.index("checkpoints")


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
    def of(cls, case: Case, constants: Constants) -> Rates:
        """The rates of a case's writers by the closed form, beside workers that compute for as much of the run."""
        gathering = run_time(evolve(case, num_io_procs=0), constants)[_SYNCHRONOUS]
        output_slowed, restart_slowed = slowed(case, constants)
        turn = receiving_time(case, constants) + case.output_bytes / _GIGABYTE / constants.writer * output_slowed
        overhead, writing = 0.0, inf
        contention = 0.0 if case.restart_mode == ASYNC else constants.contention
        if case.restart_mode in (SYNC, JOINT):
            if case.checkpoints:
                overhead = run_time(evolve(case, output_bytes=0), constants)[_CHECKPOINTS] / case.checkpoints
        elif case.checkpoints and case.restart_ranks:
            receiving, alone = restart_time(case, constants)
            alone_s = (receiving + alone * restart_slowed) / case.checkpoints
            shared = 1 + contention * (
                case.restart_ranks - 1
            )  # in turns that are played through, ranks slow each other
            writing = case.checkpoint_bytes / alone_s * shared / _writers(case)
        return cls(
            output_bytes_per_s=case.output_bytes / turn if turn else None,
            output_contention=constants.contention,
            gather_bytes_per_s=case.output_bytes * case.outputs / gathering if gathering else None,
            checkpoint_bytes_per_s=writing,
            checkpoint_contention=contention,
            checkpoint_overhead_s=overhead,
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


def _writers(case: Case) -> int:
    """How many restart ranks write: in async mode one."""
    return 1 if case.restart_mode == ASYNC else case.restart_ranks
