"""How a run of a model goes on from the checkpoint of an earlier job, in words of the shell."""

from __future__ import annotations

from nmlgen.values import frozen


@frozen
class Restarting:
    """What the script of a job does in the directory of the run, in bash; it may use `local`.

    `checkpoint` prints which checkpoint is the last, nothing without one. `go_on` changes the namelists for a job that
    begins with the checkpoint "$1", by `put FILE GROUP VARIABLE=VALUE...`. `hand_on` is done once a job has come to its
    end. `is_unfinished` is a command whose success says that the model has more to compute, and what it leaves behind
    for that is in `marks`.
    """

    checkpoint: str
    go_on: str
    hand_on: str = ":"
    is_unfinished: str = "true"
    marks: tuple[str, ...] = ()
