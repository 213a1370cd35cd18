"""Layouts of Lustre: components, what they have from one another, and what a file of some size gets."""

from __future__ import annotations

import pytest
from specs import changed

import nmlgen
from nmlgen.experiment.setting import Origin, Setting
from nmlgen.experiment.striping import Extent, Striping, extents_of, has_ost, ost_count, reached


def settings(**values: object) -> dict[str, Setting]:
    return {name: Setting(name, (Origin("test", value),)) for name, value in values.items()}


def plain(extent: Extent) -> dict[str, object]:
    return {name: setting.value for name, setting in extent.settings.items()}


@pytest.mark.parametrize(
    ("said", "count"),
    [
        ({"stripe_count": 4}, 4),
        ({"stripe_count": -1}, -1),
        ({"stripe_count": 0}, 0),
        ({"stripe_count": True}, None),
        ({"stripe_count": "4"}, None),
        ({}, None),
        ({"overstripe_count": 8, "stripe_count": 4}, 8),
        ({"ost": "0,2-4", "stripe_count": 9}, 4),
        ({"ost": "0x10"}, 1),
    ],
)
def test_stripes_of_a_component(said, count):
    assert Extent(0, None, settings(**said)).count == count


@pytest.mark.parametrize(("text", "size"), [("4M", 4 * 2**20), ("much", None), (4, None), (None, None)])
def test_bytes_of_a_stripe(text, size):
    assert Extent(0, None, settings(stripe_size=text) if text is not None else {}).size == size


def test_lists_of_osts():
    assert [ost_count(text) for text in ("0,2-4", "7", "0xa-0xb")] == [4, 1, 2]
    assert [index for index in range(12) if has_ost("0,2-4", index)] == [0, 2, 3, 4]
    assert [index for index in range(12) if has_ost("0xa-0xb", index)] == [10, 11]


def test_where_the_bytes_lie():
    assert Extent(0, 65536, settings(layout="mdt")).is_on_metadata_server
    assert not Extent(0, 65536, settings(layout="raid0")).is_on_metadata_server
    assert not Extent(0, 65536, {}).is_on_metadata_server
    assert (Extent(0, 65536, {}).name, Extent(0, None, {}).name) == ("64K", "eof")


def test_a_component_has_from_the_one_before_what_it_does_not_say():
    first = settings(stripe_count=1, stripe_size="1M", pool="a")
    made = extents_of([(2**20, first), (2**30, settings(stripe_count=4)), (None, {})])
    assert [(extent.start, extent.end) for extent in made] == [(0, 2**20), (2**20, 2**30), (2**30, None)]
    assert plain(made[1]) == {"stripe_count": 4, "stripe_size": "1M", "pool": "a"}
    assert plain(made[2]) == {"stripe_count": 4, "stripe_size": "1M", "pool": "a"}


@pytest.mark.parametrize("other", ["ost", "overstripe_count"])
def test_what_replaces_the_number_of_stripes_keeps_it_away(other):
    made = extents_of([(2**20, settings(stripe_count=1)), (None, settings(**{other: "1-2"}))])
    assert plain(made[1]) == {other: "1-2"}


@pytest.mark.parametrize(("size", "count"), [(0, 0), (1, 1), (2**20, 1), (2**20 + 1, 2)])
def test_a_file_gets_the_components_that_begin_within_it(size, count):
    made = extents_of([(2**20, settings(stripe_count=1)), (None, settings(stripe_count=4))])
    assert len(reached(made, size)) == count


def test_a_plain_layout_is_one_component():
    layout = Striping("output", ("output",), settings(stripe_count=4))
    assert [(extent.start, extent.end, plain(extent)) for extent in layout.extents] == [(0, None, {"stripe_count": 4})]
    assert not layout.is_empty
    assert layout.place is not None
    assert layout.place.value == 4


def test_a_progressive_layout_is_its_components():
    made = extents_of([(None, settings(stripe_size="1M", stripe_count=2))])
    layout = Striping("output", ("output",), {}, made)
    assert layout.extents == made
    assert not layout.is_empty
    assert layout.place is not None
    assert layout.place.name == "stripe_size"
    assert made[0].place is not None
    assert made[0].place.name == "stripe_count"


def test_nothing_is_empty():
    layout = Striping("output", ("output",), {})
    assert layout.is_empty
    assert layout.place is None
    assert layout.extents[0].place is None


def test_of_a_list_with_more_osts_than_there_are_indices_so_many():
    assert ost_count(",".join(["0-65532"] * 2000)) == 65_533
    assert ost_count("0-99999") == 65_533


@pytest.mark.parametrize("listed", ["010", "0-010", "1,08", "100000"])
def test_what_lfs_reads_otherwise_is_refused(listed):
    with pytest.raises(nmlgen.SpecError, match=r"lustre\.output\.ost is"):
        nmlgen.load_spec(changed(lustre={"output": {"ost": listed}}))
