"""What the section `job` of a spec, in the words of sbatch, is to a batch system that is not Slurm."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import evolve

from nmlgen.experiment.setting import Setting
from nmlgen.schedulers import schedulers
from nmlgen.schedulers.request import Request, Wish, Written
from nmlgen.schedulers.slurm.request import wishes_of

_OF_THE_SCRIPT = ("signal", "chdir")
"""What a script sees to itself: it keeps the time, and finds its own directory."""


def job_directives(scheduler: str, settings: Mapping[str, Setting]) -> Written:
    """The directives for settings keyed by the long options of sbatch; what of them cannot be said is among the
    remarks."""
    asked = {name: setting for name, setting in settings.items() if name not in _OF_THE_SCRIPT}
    wishes, remarks = wishes_of(asked)
    del wishes["directory"]
    wishes["shell"] = Wish("/bin/bash")
    written = schedulers()[scheduler].written(Request(wishes))
    return evolve(written, remarks=(*remarks, *written.remarks))
