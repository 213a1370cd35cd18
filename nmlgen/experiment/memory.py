"""What is worked out of an experiment is worked out once, however many rules ask for it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.setting import UndecidedError

_Result = TypeVar("_Result")


def remembered(look: Callable[[Experiment], _Result]) -> Callable[[Experiment], _Result]:
    """Works something out of an experiment once; what is not known stays unknown. Other errors are not kept."""

    @wraps(look)
    def again(experiment: Experiment) -> _Result:
        known = experiment.derived
        if look not in known:
            try:
                known[look] = look(experiment), None
            except UndecidedError as error:
                known[look] = None, error.setting
        result, unknown = known[look]
        if unknown is not None:
            raise UndecidedError(unknown)
        return result  # type: ignore[no-any-return]

    return again
