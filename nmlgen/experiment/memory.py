"""What is worked out of an experiment or a component is worked out once, however many rules ask for it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Protocol, TypeVar

from nmlgen.experiment.setting import UndecidedError


class Subject(Protocol):
    """An experiment or a component: it remembers what was derived of it."""

    @property
    def derived(self) -> dict[Any, Any]:
        """What was worked out already."""


_Subject = TypeVar("_Subject", bound=Subject)
_Result = TypeVar("_Result")


def remembered(look: Callable[[_Subject], _Result]) -> Callable[[_Subject], _Result]:
    """Works something out once; what is not known stays unknown. Other errors are not kept."""

    @wraps(look)
    def again(subject: _Subject) -> _Result:
        known = subject.derived
        if look not in known:
            try:
                known[look] = look(subject), None
            except UndecidedError as error:
                known[look] = None, error
        result, unknown = known[look]
        if unknown is not None:
            raise UndecidedError(unknown.setting, unknown.reason)
        return result  # type: ignore[no-any-return]

    return again
