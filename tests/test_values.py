"""Classes of values do what those of attrs do."""

from __future__ import annotations

import copy
import inspect
import pickle
import weakref
from functools import cached_property
from typing import Any, ClassVar

import attrs
import pytest

from nmlgen.values import asdict, define, evolve, field, fields, frozen


@frozen
class Pair:
    first: int
    hidden: str = field(default="x", repr=False)


@define
class Node:
    below: list[Any] = field(factory=list)


@frozen
class Own:
    first: int

    def __repr__(self) -> str:
        return "own"


@frozen
class Below(Own):
    second: int


def test_a_value_shows_its_fields():
    assert repr(Pair(1)) == "Pair(first=1)"


def test_what_holds_itself_is_shown_once():
    node = Node()
    node.below.append(node)
    assert repr(node) == "Node(below=[...])"


def test_a_class_may_show_itself_as_it_likes():
    assert repr(Own(1)) == "own"
    assert repr(Below(1, 2)) == "Below(first=1, second=2)"


@frozen
class Noted:
    first: int
    note: str = field(default="", eq=False)


@frozen(eq=False)
class Itself:
    first: int


def test_values_are_equal_where_their_classes_and_compared_fields_are():
    assert Noted(1, "x") == Noted(1) != Noted(2)
    assert hash(Noted(1, "x")) == hash(Noted(1))
    assert Pair(1, "x") != Pair(1, "y")
    assert len({Pair(1), Pair(1), Pair(2)}) == 2
    assert Own(1) != Below(1, 2) == Below(1, 2)
    assert Own(1) != 1
    assert Itself(1) != Itself(1)
    assert hash(Itself(1)) != hash(Itself(1))
    assert Node([1]) == Node([1])
    assert Node.__hash__ is None


def _double(value: int) -> int:
    return 2 * value


def _is_small(value: Any, attribute: Any, number: int) -> None:
    if number > 10:
        raise ValueError(f"{attribute.name} of {type(value).__name__} is {number}")


@frozen(kw_only=True, slots=False)
class Rich:
    _number: int = field(converter=_double, validator=_is_small)
    names: list[str] = field(factory=list, metadata={"about": "names"})
    seen: dict[str, int] = field(init=False, eq=False, factory=dict)
    KIND: ClassVar[str] = "rich"

    def __attrs_post_init__(self) -> None:
        self.seen["number"] = self._number

    @cached_property
    def half(self) -> float:
        return self._number / 2


@frozen(order=True)
class Ordered:
    first: int
    second: int = 0


@frozen
class Named(Noted):
    name: str = attrs.field(default="n")
    more: list[int] = attrs.field(factory=list, repr=False)

    def shown(self) -> str:
        return super().__repr__() + __class__.__name__  # type: ignore[name-defined]


def test_what_is_said_of_fields_is_done():
    value = Rich(number=3)
    assert (value._number, value.names, value.seen, value.half, value.KIND) == (6, [], {"number": 6}, 3.0, "rich")
    assert value.names is not Rich(number=3).names
    with pytest.raises(ValueError, match="_number of Rich is 12"):
        Rich(number=6)
    with pytest.raises(TypeError, match="positional"):
        Rich(3)  # type: ignore[misc]
    assert [one.metadata for one in fields(Rich)][1] == {"about": "names"}
    assert Ordered(1, 2) < Ordered(2) <= Ordered(2, 0) > Ordered(1) >= Ordered(1)
    with pytest.raises(TypeError):
        assert Ordered(1) < 1  # type: ignore[operator]
    assert Named(1).shown() == "Named(first=1, note='', name='n')Named"
    match Named(1, "x"):
        case Named(first, note):
            assert (first, note) == (1, "x")
    with pytest.raises(ValueError, match="Bad has a field without a default"):
        frozen(type("Bad", (), {"__annotations__": {"first": "int", "second": "int"}, "first": 1}))


def test_a_frozen_value_stays_as_it_is():
    for value in (Pair(1), Rich(number=1)):
        with pytest.raises(AttributeError):
            value.hidden = "y"  # type: ignore[misc,union-attr]
        with pytest.raises(attrs.exceptions.FrozenInstanceError):
            del value.hidden  # type: ignore[union-attr]
    node = Node()
    node.below = [1]
    assert node.below == [1]
    assert not hasattr(Pair(1), "__dict__")
    assert weakref.ref(node)() is node


def test_copies_are_equal_and_changed_ones_made_anew():
    assert evolve(Pair(1), first=2) == Pair(2)
    assert evolve(Rich(number=1), number=2)._number == 4
    for value in (Pair(1, "x"), Named(1, "x", "y", [2]), Noted(1)):
        assert pickle.loads(pickle.dumps(value)) == copy.deepcopy(value) == value
    assert asdict(Named(1, "x", name=(Noted(2), {"a": Noted(3)}))) == {  # type: ignore[arg-type]
        "first": 1,
        "note": "x",
        "name": [{"first": 2, "note": ""}, {"a": {"first": 3, "note": ""}}],
        "more": [],
    }


def test_attrs_knows_a_class_of_values():
    assert [(one.name, one.alias, one.init) for one in attrs.fields(Rich)] == [
        ("_number", "number", True),
        ("names", "names", True),
        ("seen", "seen", False),
    ]
    assert attrs.has(Pair)
    assert attrs.evolve(Pair(1), first=2) == Pair(2)
    assert attrs.asdict(Pair(1)) == {"first": 1, "hidden": "x"}
    assert str(inspect.signature(Pair)) == "(first: 'int', hidden: 'str' = 'x') -> None"

    @attrs.frozen
    class Attrs(Pair):
        third: int = 3

    assert Attrs(1, third=4).third == 4


@frozen(kw_only=True)
class Keyed(Ordered):
    third: int
    fourth: int = 4


def test_keywords_are_asked_for_where_a_class_says_so():
    assert Keyed(1, third=3) == Keyed(first=1, second=0, fourth=4, third=3)
    assert (
        str(inspect.signature(Keyed)) == "(first: 'int', second: 'int' = 0, *, third: 'int', fourth: 'int' = 4) -> None"
    )
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'third'"):
        Keyed(1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"Pair\.__init__\(\) got an unexpected keyword argument 'third'"):
        Pair(1, third=3)  # type: ignore[call-arg]
