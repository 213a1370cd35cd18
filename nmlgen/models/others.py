"""What a build asks a model that is not ICON: what its spec says, and what its module does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from nmlgen.experiment.experiment import Experiment, OtherModel
from nmlgen.experiment.seats import Seat
from nmlgen.models import log_of, restarting_of
from nmlgen.models.building import JobPart, NamelistFile


def namelists(experiment: Experiment) -> Iterator[NamelistFile]:
    """The files that the spec gives."""
    for name, groups in _model_of(experiment).files.items():
        yield NamelistFile(name, f"{name} of {experiment.name}", groups)


def job_part(experiment: Experiment) -> JobPart:
    """What the batch script does for it."""
    model = _model_of(experiment)
    how = restarting_of(model.name) if model.jobs is not None else None
    jobs = None if model.jobs is None else int(str(model.jobs.value))
    return JobPart(
        program=model.title,
        title=model.title,
        legs=None if how is None or jobs == 1 else jobs,
        own_log=log_of(model.name),
        restarting=None if jobs == 1 else how,
    )


def seats(experiment: Experiment) -> Sequence[Seat]:
    """None: all its ranks are alike."""
    return ()


def room(experiment: Experiment) -> dict[str, int]:
    """Nothing that the script could ask for."""
    return {}


def end(experiment: Experiment) -> dict[str, Any]:
    """Nothing: how many jobs follow each other is said by their number."""
    return {}


def _model_of(experiment: Experiment) -> OtherModel:
    assert experiment.other is not None
    return experiment.other
