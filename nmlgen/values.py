"""Classes of values: those of attrs, with one `__repr__` for all of them.

attrs writes and compiles a `__repr__` for each class; with some hundred classes that is a twentieth of what a check
costs, and nobody looks at one but in a debugger.
"""

from __future__ import annotations

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
    return make(cls, repr=False, **settings)


@recursive_repr()
def _shown(self: Any) -> str:
    fields = [field.name for field in attrs.fields(type(self)) if field.repr]
    return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in fields)})"


__all__ = ["define", "frozen"]
