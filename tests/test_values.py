"""How values show themselves."""

from __future__ import annotations

from typing import Any

from attrs import field

from nmlgen.values import define, frozen


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
