"""Classes of values: those of attrs, with one `__repr__`, one `__eq__` and one `__hash__` for all of them.

attrs writes and compiles these for each class; with some hundred classes that is a tenth of what a check costs.
"""

from __future__ import annotations

from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    from attrs import define, frozen
else:

    def define(cls: type | None = None, **settings: Any) -> Any:
        """`attrs.define`."""
        return _made(attrs.define, cls, settings)

    def frozen(cls: type | None = None, **settings: Any) -> Any:
        """`attrs.frozen`."""
        return _made(attrs.frozen, cls, settings)


def _made(make: Any, cls: type | None, settings: dict[str, Any]) -> Any:
    if cls is None:
        return lambda cls: _made(make, cls, settings)
    if "__repr__" not in vars(cls):
        cls.__repr__ = _shown  # type: ignore[assignment]
    own = vars(cls).keys() & {"__eq__", "__hash__"}
    if make is attrs.frozen and settings.get("eq", True) and not own:
        cls.__eq__, cls.__hash__ = _is_equal, _hash  # type: ignore[assignment,method-assign]
    return make(cls, repr=False, **settings)


@recursive_repr()
def _shown(self: Any) -> str:
    fields = [field.name for field in attrs.fields(type(self)) if field.repr]
    return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in fields)})"


class _Compared(dict[type, Any]):
    """What is compared of the values of a class: the value of its field, or a tuple of all of them."""

    def __missing__(self, cls: type) -> Any:
        names = [field.name for field in attrs.fields(cls) if field.eq]
        self[cls] = compared = attrgetter(*names) if names else lambda _: ()
        return compared


_compared = _Compared()


def _is_equal(self: Any, other: Any) -> Any:
    cls = self.__class__
    if other.__class__ is not cls:
        return NotImplemented
    compared = _compared[cls]
    return compared(self) == compared(other)


def _hash(self: Any) -> int:
    return hash(_compared[self.__class__](self))


__all__ = ["define", "frozen"]
