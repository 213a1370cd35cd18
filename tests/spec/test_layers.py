"""Layers: merging is associative, null takes away, and every value remembers what it replaced."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmlgen.spec.document import from_plain
from nmlgen.spec.layers import EMPTY, Tree, merge, tree_of

keys = st.sampled_from(["a", "b", "c"])
scalars = st.none() | st.booleans() | st.integers(0, 9) | st.sampled_from(["x", "y"])
values = st.recursive(
    scalars | st.lists(st.integers(0, 9), max_size=2),
    lambda below: st.dictionaries(keys, below, max_size=3),
    max_leaves=8,
)
documents = st.dictionaries(keys, values, max_size=3)


def layer(document: Mapping[str, Any], label: str = "layer") -> Tree:
    return tree_of(from_plain(document), label)


def picture(tree: Tree) -> Any:
    """All of a tree that anyone can ask for."""
    children = None if tree.children is None else {key: picture(child) for key, child in tree.children.items()}
    return tree.history, children, tree.replaces


@given(documents, documents, documents)
def test_merging_is_associative(first: Any, second: Any, third: Any) -> None:
    low, middle, high = layer(first, "low"), layer(second, "middle"), layer(third, "high")
    assert picture(merge(merge(low, middle), high)) == picture(merge(low, merge(middle, high)))


@given(documents)
def test_empty_layer_changes_nothing(document: Any) -> None:
    tree = layer(document)
    assert picture(merge(EMPTY, tree)) == picture(tree)
    assert picture(merge(tree, EMPTY)) == picture(tree)


@given(documents, documents)
def test_upper_layer_has_the_last_word(below: Any, above: Any) -> None:
    merged = merge(layer(below), layer(above)).plain()
    for key, value in above.items():
        if value is None:
            assert key not in merged
        elif not isinstance(value, dict):
            assert merged[key] == value
    for key in below.keys() - above.keys():
        assert (key in merged) is (below[key] is not None)


@given(documents)
def test_merging_with_itself_changes_no_value(document: Any) -> None:
    tree = layer(document)
    assert merge(tree, tree).plain() == tree.plain()


@pytest.mark.parametrize(
    ("layers", "expected"),
    [
        ([{"a": 1}, {"a": None}], {}),
        ([{"a": {"b": 1, "c": 2}}, {"a": {"b": None}}], {"a": {"c": 2}}),
        ([{"a": {"b": 1}}, {"a": None}, {"a": {"c": 2}}], {"a": {"c": 2}}),
        ([{"a": 1}, {"a": {"b": 2}}], {"a": {"b": 2}}),
        ([{"a": {"b": 1}}, {"a": 2}], {"a": 2}),
        ([{"a": [1, 2]}, {"a": [3]}], {"a": [3]}),
        ([{"a": None}, {"a": 1}], {"a": 1}),
    ],
)
def test_null_removes_and_lists_replace(layers: list[Any], expected: Any) -> None:
    merged = EMPTY
    for document in layers:
        merged = merge(merged, layer(document))
    assert merged.plain() == expected


def test_mapping_after_null_takes_the_place_of_the_one_before() -> None:
    above = merge(layer({"a": None}), layer({"a": {"c": 2}}))
    assert merge(layer({"a": {"b": 1}}), above).plain() == {"a": {"c": 2}}


def test_history_is_kept_in_order() -> None:
    merged = EMPTY
    for label, value in (("preset", 1), ("site", 2), ("spec", None), ("--set", 3)):
        merged = merge(merged, layer({"a": {"b": value}}, label))
    found = merged.at("a", "b")
    assert found is not None
    assert [(origin.layer, origin.value) for origin in found.history] == [
        ("preset", 1),
        ("site", 2),
        ("spec", None),
        ("--set", 3),
    ]
    assert found.value == 3


def test_what_null_took_away_is_not_there() -> None:
    merged = merge(layer({"a": {"b": 1}}), layer({"a": {"b": None}}))
    assert merged.at("a", "b") is None
    assert merged.at("a", "b", "c") is None
    assert merged.get("z") is None
