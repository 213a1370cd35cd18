"""What is worked out of an experiment or a component is worked out once, however many rules ask for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, wraps
from inspect import isgeneratorfunction
from typing import Any, Concatenate, ParamSpec, TypeVar

from nmlgen.experiment.setting import UndecidedError

Look = tuple[Any, ...]
"""What works something out, and the arguments that it takes beside its subject."""


class Derived(dict[Look, tuple[Any, UndecidedError | None]]):
    """What was worked out of a subject: the result, or why nobody can know it."""

    def __init__(self, subject: Any) -> None:
        super().__init__()
        self._subject = subject

    def __missing__(self, asked: Look) -> tuple[Any, UndecidedError | None]:
        look, *arguments = asked
        found: tuple[Any, UndecidedError | None]
        try:
            found = look(self._subject, *arguments), None
        except UndecidedError as error:
            found = None, error
        self[asked] = found
        return found


class Subject:
    """An experiment, a component or a group: it remembers what was derived of it."""

    @cached_property
    def derived(self) -> Derived:
        """What was worked out of it already."""
        return Derived(self)

    def __getstate__(self) -> dict[str, Any]:
        """What was worked out stays behind: another process works it out itself."""
        return {name: value for name, value in self.__dict__.items() if name != "derived"}


_Subject = TypeVar("_Subject", bound=Subject)
_Result = TypeVar("_Result")
_More = ParamSpec("_More")


def remembered(
    look: Callable[Concatenate[_Subject, _More], _Result],
) -> Callable[Concatenate[_Subject, _More], _Result]:
    """Works something out once, for each of the further arguments; what is not known stays unknown. A generator is gone
    through once: what it has given before it came to what is not known it gives again. Other errors are not kept."""
    if isgeneratorfunction(look):
        return _gone_through(look)  # type: ignore[return-value]

    @wraps(look)
    def again(subject: _Subject, /, *arguments: _More.args, **_: _More.kwargs) -> _Result:
        result, unknown = subject.derived[(look, *arguments)]
        if unknown is not None:
            raise UndecidedError(unknown.setting, unknown.reason)
        return result  # type: ignore[no-any-return]

    return again


def _gone_through(look: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
    @remembered
    def whole(subject: Subject, /, *arguments: Any) -> tuple[list[Any], UndecidedError | None]:
        items: list[Any] = []
        try:
            items.extend(look(subject, *arguments))
        except UndecidedError as error:
            return items, error
        return items, None

    @wraps(look)
    def again(subject: Subject, /, *arguments: Any) -> Iterator[Any]:
        items, end = whole(subject, *arguments)
        return iter(items) if end is None else _ending(items, end)

    return again


def _ending(items: list[Any], end: UndecidedError) -> Iterator[Any]:
    yield from items
    raise UndecidedError(end.setting, end.reason)


_KEPT: list[Callable[[Any], Any]] = []


def kept(look: Callable[[_Subject], _Result]) -> Callable[[_Subject], _Result]:
    """As `remembered`, of a component, for a result that holds nothing of it but values: what answers the same to all
    that was asked of this one may be given the same result; see `nmlgen.rechecking`."""
    _KEPT.append(look)
    return remembered(look)


def all_kept() -> tuple[Look, ...]:
    """What is kept, as it is looked up in what was derived of a component."""
    return tuple((look,) for look in _KEPT)
