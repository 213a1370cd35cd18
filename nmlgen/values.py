"""Classes of values: written, used and typed as those of attrs, and made in a fifth of the time or less.

A check of one spec makes a hundred classes and uses half of them; attrs writes and compiles methods for each. Here all
classes share their methods but `__init__`, which is made when a value is. `attrs.fields`, `attrs.evolve`
and whatever else asks for attrs' own description of a class get it when they ask.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property
from operator import attrgetter, ge, gt, le, lt
from reprlib import recursive_repr
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attrs import Attribute, AttrsInstance, asdict, define, evolve, field, fields, frozen, has
else:
    Attribute = AttrsInstance = Any

    def field(**settings: Any) -> Any:
        """`attrs.field`, with a default, factory, validator and converter, init, eq, repr, kw_only and metadata."""
        return Field(**settings)

    def frozen(cls: type | None = None, **settings: Any) -> Any:
        """`attrs.frozen`, with eq, order, slots and kw_only."""
        return (lambda cls: _made(cls, **settings)) if cls is None else _made(cls, **settings)

    def define(cls: type | None = None, **settings: Any) -> Any:
        """`attrs.define`, of fields that have neither validator nor converter."""
        return frozen(cls, is_frozen=False, **settings)

    def fields(cls: type) -> tuple[Field, ...]:
        """The fields of a class of values."""
        found = getattr(cls, "__fields__", None)
        if found is None:
            raise TypeError(f"{cls.__name__} is no class of values")
        return found

    def has(cls: type) -> bool:
        """Whether it is a class of values."""
        return hasattr(cls, "__fields__")

    def evolve(value: Any, /, **changes: Any) -> Any:
        """A copy with changes."""
        cls = value.__class__
        for one in fields(cls):
            if one.init and one.alias not in changes:
                changes[one.alias] = getattr(value, one.name)
        return cls(**changes)

    def asdict(value: Any) -> dict[str, Any]:
        """The values of the fields, and so on down to what is no value of such a class."""
        return {one.name: _plain(getattr(value, one.name)) for one in fields(type(value))}


_NONE = object()
_SETTINGS = ("validator", "converter", "init", "eq", "repr", "kw_only", "metadata")


class Field:
    """What is said of a field of a class, by the names of `attrs.Attribute`."""

    def __init__(
        self,
        *,
        default: Any = _NONE,
        factory: Any = None,
        validator: Any = None,
        converter: Any = None,
        init: bool = True,
        eq: bool = True,
        repr: bool = True,
        kw_only: bool = False,
        metadata: Any = None,
    ) -> None:
        self.default, self.factory, self.validator, self.converter = default, factory, validator, converter
        self.init, self.eq, self.repr, self.kw_only = init, eq, repr, kw_only
        self.metadata = metadata or {}
        self.name = self.alias = ""
        self.type: Any = None

    @property
    def has_default(self) -> bool:
        """Whether it may be left out."""
        return self.default is not _NONE or self.factory is not None

    def as_attrs(self) -> Any:
        """The same, as attrs says it."""
        import attrs

        said: dict[str, Any] = {name: getattr(self, name) for name in _SETTINGS}
        if self.factory is not None:
            said["factory"] = self.factory
        elif self.has_default:
            said["default"] = self.default
        return attrs.field(**said, type=self.type)


def _made(
    cls: type,
    *,
    eq: bool = True,
    order: bool = False,
    slots: bool = True,
    kw_only: bool = False,
    is_frozen: bool = True,
) -> type:
    own = _own_fields(cls, kw_only)
    names = {one.name for one in own}
    inherited = {one.name: one for base in reversed(cls.__mro__[1:]) for one in vars(base).get("__fields__", ())}
    made = (*(one for name, one in inherited.items() if name not in names), *own)
    _in_order(cls, made)
    methods: dict[str, Any] = {"__fields__": made}
    if is_frozen:
        methods["__setattr__"] = methods["__delattr__"] = _refused
    given = vars(cls)
    if "__repr__" not in given:
        methods["__repr__"] = _shown
    if eq and "__eq__" not in given:
        methods["__eq__"] = _is_equal
        if "__hash__" not in given:
            methods["__hash__"] = _hash if is_frozen else None
    if order:
        methods.update(_ORDERED)
    if "__match_args__" not in given:
        methods["__match_args__"] = tuple(one.name for one in made if not one.kw_only)
    if slots and not any(isinstance(value, cached_property) for value in given.values()):
        if "__getstate__" not in given:
            methods["__getstate__"], methods["__setstate__"] = _state, _restore
        cls = _with_slots(cls, [one.name for one in own if one.name not in inherited], methods)
    else:
        for name in names & given.keys():
            delattr(cls, name)
        for name, method in methods.items():
            setattr(cls, name, method)
    if "__init__" not in given:
        cls.__init__ = _Init(cls)  # type: ignore[misc]
    cls.__attrs_attrs__ = _OfAttrs()  # type: ignore[attr-defined]
    return cls


def _own_fields(cls: type, kw_only: bool) -> list[Field]:
    found = []
    for name, annotation in vars(cls).get("__annotations__", {}).items():
        if not str(annotation).startswith("ClassVar"):
            said = vars(cls).get(name, _NONE)
            one = said if isinstance(said, Field) else _of_attrs(said) or Field(default=said)
            one.name, one.alias, one.type = name, name.lstrip("_"), annotation
            one.kw_only = one.kw_only or kw_only
            found.append(one)
    return found


def _of_attrs(said: Any) -> Field | None:
    """The field that attrs' own `field` says."""
    if type(said).__module__ != "attr._make":
        return None
    import attrs

    (found,) = attrs.fields(attrs.make_class("One", {"one": said}))
    settings = {name: getattr(found, name) for name in _SETTINGS}
    if isinstance(found.default, attrs.Factory):  # type: ignore[arg-type]
        settings["factory"] = found.default.factory
    elif found.default is not attrs.NOTHING:
        settings["default"] = found.default
    return Field(**settings)


def _in_order(cls: type, made: tuple[Field, ...]) -> None:
    given = [one.has_default for one in made if one.init and not one.kw_only]
    if given != sorted(given):
        raise ValueError(f"{cls.__name__} has a field without a default after one with a default")


def _with_slots(cls: type, names: list[str], methods: dict[str, Any]) -> type:
    """The class made anew with slots; what its methods know as `__class__` is the new one."""
    left_out = {one.name for one in methods["__fields__"]} | {"__dict__", "__weakref__"}
    body = {name: value for name, value in vars(cls).items() if name not in left_out}
    is_weak = any("__weakref__" in vars(base) for base in cls.__mro__[1:])
    body.update(methods, __slots__=tuple(names if is_weak else [*names, "__weakref__"]), __qualname__=cls.__qualname__)
    made = type(cls)(cls.__name__, cls.__bases__, body)
    for value in body.values():
        function = getattr(value, "__func__", None) or getattr(value, "fget", None) or value
        for cell in getattr(function, "__closure__", None) or ():
            if _content(cell) is cls:
                cell.cell_contents = made
    return made


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # it is empty yet
        return None


class _Init:
    """`__init__` of a class, compiled when somebody asks for it."""

    __slots__ = ("_cls",)

    def __init__(self, cls: type) -> None:
        self._cls = cls

    def __get__(self, value: Any, cls: type | None = None) -> Any:
        self._cls.__init__ = made = _plain_init(self._cls) or _compiled(self._cls)  # type: ignore[misc]
        return made if value is None else made.__get__(value)


def _compiled(cls: type) -> Any:
    """`__init__`: what is set comes in the order of the fields, then what tells whether it may be."""
    known: dict[str, Any] = {"_NONE": _NONE}
    positional: list[str] = []
    named: list[str] = []
    body: list[str] = []
    checks: list[str] = []
    for number, one in enumerate(cls.__fields__):  # type: ignore[attr-defined]
        value = one.alias
        if one.init:
            argument = f"{value}=_d{number}" if one.has_default else value
            (named if one.kw_only else positional).append(argument)
        else:
            value = f"_d{number}"
        known[f"_d{number}"] = one.default
        if one.factory is not None:
            known[f"_f{number}"] = one.factory
            value = f"(_f{number}() if {value} is _NONE else {value})"
        if one.converter is not None:
            known[f"_c{number}"] = one.converter
            value = f"_c{number}({value})"
        slot: Any = getattr(cls, one.name, None)
        if hasattr(slot, "__set__"):
            known[f"_s{number}"] = slot.__set__
            body.append(f"_s{number}(self, {value})")
        else:
            body.append(f"_values[{one.name!r}] = {value}")
        if one.validator is not None:
            known[f"_v{number}"], known[f"_a{number}"] = one.validator, one
            checks.append(f"_v{number}(self, _a{number}, self.{one.name})")
    if any(line.startswith("_values") for line in body):
        body.insert(0, "_values = self.__dict__")
    if hasattr(cls, "__attrs_post_init__"):
        checks.append("self.__attrs_post_init__()")
    arguments = ", ".join(["self", *positional, *(["*", *named] if named else [])])
    lines = "\n ".join([*body, *checks]) or "pass"
    exec(compile(f"def __init__({arguments}):\n {lines}", f"<__init__ of {cls.__qualname__}>", "exec"), known)
    return _named(known["__init__"], cls)


def _plain_init(cls: type) -> Any:
    """The same where each argument fills a slot: the code is that of any class with so many, by other names. None where
    there is more to do."""
    made: list[Field] = sorted(cls.__fields__, key=lambda one: one.kw_only)  # type: ignore[attr-defined]
    slots: list[Any] = [getattr(cls, one.name, None) for one in made]
    if hasattr(cls, "__attrs_post_init__") or not all(map(_just_fills, made, slots)):
        return None
    named = [one for one in made if one.kw_only]
    code = _code_for(len(made)).replace(
        co_varnames=("self", *(one.alias for one in made)),
        co_argcount=1 + len(made) - len(named),
        co_kwonlyargcount=len(named),
        co_filename=f"<__init__ of {cls.__qualname__}>",
    )
    setters = {f"_s{number}": slot.__set__ for number, slot in enumerate(slots)}
    defaults = tuple(one.default for one in made if one.has_default and not one.kw_only)
    init = FunctionType(code, setters, "__init__", defaults)
    init.__kwdefaults__ = {one.alias: one.default for one in named if one.has_default}
    return _named(init, cls)


def _just_fills(one: Field, slot: Any) -> bool:
    is_more = one.factory or one.converter or one.validator
    return one.init and not is_more and hasattr(slot, "__set__")


@cache
def _code_for(count: int) -> CodeType:
    arguments = "".join(f", a{number}" for number in range(count))
    lines = "; ".join(f"_s{number}(self, a{number})" for number in range(count)) or "pass"
    known: dict[str, Any] = {}
    exec(f"def __init__(self{arguments}): {lines}", known)
    code: CodeType = known["__init__"].__code__
    return code


def _named(init: Any, cls: type) -> Any:
    init.__module__, init.__qualname__ = cls.__module__, f"{cls.__qualname__}.__init__"
    init.__annotations__ = {one.alias: one.type for one in fields(cls) if one.init}
    init.__annotations__["return"] = None
    return init


class _OfAttrs:
    """What attrs calls the attributes of a class, for whoever uses attrs on a value."""

    def __get__(self, value: Any, cls: type) -> Any:
        import attrs

        like = attrs.make_class(cls.__name__, {one.name: one.as_attrs() for one in fields(cls)})
        cls.__attrs_attrs__ = found = attrs.fields(like)  # type: ignore[attr-defined]
        return found


def _refused(self: Any, *_: Any) -> None:
    from attrs.exceptions import FrozenInstanceError

    raise FrozenInstanceError


@recursive_repr()
def _shown(self: Any) -> str:
    shown = (f"{one.name}={getattr(self, one.name)!r}" for one in fields(type(self)) if one.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


class _Compared(dict[type, Any]):
    """What is compared of the values of a class: the value of its field, or a tuple of all of them."""

    def __missing__(self, cls: type) -> Any:
        names = [one.name for one in fields(cls) if one.eq]
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


def _ordered(compare: Callable[[Any, Any], bool]) -> Any:
    def method(self: Any, other: Any) -> Any:
        cls = self.__class__
        if other.__class__ is not cls:
            return NotImplemented
        compared = _compared[cls]
        return compare(compared(self), compared(other))

    return method


_ORDERED = {"__lt__": _ordered(lt), "__le__": _ordered(le), "__gt__": _ordered(gt), "__ge__": _ordered(ge)}


def _state(self: Any) -> dict[str, Any]:
    return {one.name: getattr(self, one.name) for one in fields(type(self))}


def _restore(self: Any, state: dict[str, Any]) -> None:
    for name, value in state.items():
        object.__setattr__(self, name, value)


def _plain(value: Any) -> Any:
    if has(type(value)):
        return asdict(value)
    if isinstance(value, dict):
        return {_plain(key): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, (tuple, list, set, frozenset)) else value


__all__ = ["Attribute", "AttrsInstance", "asdict", "define", "evolve", "field", "fields", "frozen", "has"]
