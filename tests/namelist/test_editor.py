"""An edit changes what it is about, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nmlgen.errors import InputError
from nmlgen.namelist.editor import add, remove, set_value
from nmlgen.namelist.reader import read
from nmlgen.source import Source

FILE = """\
! head, don't touch
&parallel_nml
  nproma    = 16   ! cells in a block
  num_io_procs=1,p_test_run = .FALSE.
  io = 'a' ! first
       'b'  ! second
/
prose
&output_nml
 ml_varlist(1:2) = 'u', "v"   /
&output_nml filetype=4 /
"""


def document(text=FILE):
    return read(Source("NAMELIST", text))


def changed(before, after):
    """What stands in the place of what."""
    start = 0
    while start < min(len(before), len(after)) and before[start] == after[start]:
        start += 1
    end = 0
    while end < min(len(before), len(after)) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    return before[start : len(before) - end], after[start : len(after) - end]


@pytest.mark.parametrize(
    ("group", "name", "value", "expected"),
    [
        ("parallel_nml", "nproma", 32, ("16", "32")),
        ("PARALLEL_NML", "NPROMA", 16, ("", "")),
        ("parallel_nml", "num_io_procs", 12, ("", "2")),
        ("parallel_nml", "p_test_run", True, ("FALS", "TRU")),
        ("parallel_nml", "io", ["a", "c"], ("b", "c")),
        ("parallel_nml", "io", ["a", "it's"], ("b", "it''s")),
        ("output_nml", "ml_varlist(1:2)", ["u", "v", "w"], ("", ", 'w'")),
        ("output_nml", "ml_varlist( 1:2 )", ["u"], (', "v"', "")),
    ],
)
def test_only_the_value_changes(group, name, value, expected):
    after = set_value(document(), group, name, value).text
    found = changed(FILE, after)
    assert "".join(sorted(found[0] + found[1])) == "".join(sorted(expected[0] + expected[1]))


def test_the_second_copy():
    after = set_value(document(), "output_nml", "filetype", 5, copy=2).text
    assert changed(FILE, after) == ("4", "5")


def test_the_last_assignment_counts():
    assert set_value(document("&t i=1, i=2 /\n"), "t", "i", 3).text == "&t i=1, i=3 /\n"


def test_comments_stay_when_a_list_shrinks_or_grows():
    shorter = set_value(document(), "parallel_nml", "io", "x")
    assert [token.text for token in shorter.groups[0].comments] == ["! cells in a block", "! first", "! second"]
    assert shorter.groups[0].named("io")[0].plain == "x"
    longer = set_value(document(), "parallel_nml", "nproma", [1, 2])
    assert "  nproma    = 1, 2   ! cells in a block\n" in longer.text


def test_a_value_is_put_where_there_was_none():
    assert set_value(document("&t\n i=\n/\n"), "t", "i", 3).text == "&t\n i= 3\n/\n"
    assert set_value(document("&t\n i=1,,3\n/\n"), "t", "i", [1, 2, 3]).text == "&t\n i=1,2,3\n/\n"
    assert set_value(document("&t\n i=2*1\n/\n"), "t", "i", [1, 1]).text == "&t\n i=1, 1\n/\n"
    moved = set_value(document("&t\n i=1, ! c\n 3\n/\n"), "t", "i", [1, 2, 3])
    assert moved.groups[0].items[0].plain == [1, 2, 3]


def test_an_open_string_is_mended():
    after = set_value(document("&t\n s = 'a\n i = 3\n/\n"), "t", "s", "a")
    assert after.text == "&t\n s = 'a'\n i = 3\n/\n"
    assert after.errors == ()


def test_what_is_not_set_is_added():
    after = set_value(document(), "parallel_nml", "l_log_checks", True).text
    assert after == FILE.replace("! second\n/", "! second\n  l_log_checks = .TRUE.\n/")
    assert add(document("&t i=1 ! c\n j=2 /\n"), "t", "k", 3).text == "&t i=1 ! c\n j=2 k = 3 /\n"
    assert add(document("&t/\n"), "t", "k", 3).text == "&t k = 3 /\n"
    assert add(document("&t\r\n\ti=1\r\n/\r\n"), "t", "k", 3).text == "&t\r\n\ti=1\r\n\tk = 3\r\n/\r\n"


def test_removal():
    assert remove(document(), "parallel_nml", "num_io_procs").text == FILE.replace("num_io_procs=1,", "")
    after = remove(document(), "parallel_nml", "nproma").text
    assert after == FILE.replace("nproma    = 16   ! cells", "! cells")
    after = remove(document(), "parallel_nml", "io")
    assert [token.text for token in after.groups[0].comments] == ["! cells in a block", "! first", "! second"]
    assert remove(document(), "output_nml", "ML_varlist").text == FILE.replace("ml_varlist(1:2) = 'u', \"v\"   ", "")
    assert remove(document("&t\n i=1\n j=2,\n/\n"), "t", "j").text == "&t\n i=1\n/\n"
    assert remove(document("&t i=1 j=2 i=3 /\n"), "t", "i").text == "&t j=2 /\n"


def test_what_is_not_there():
    with pytest.raises(InputError, match=r"NAMELIST has no group &run_nml number 1: there is none"):
        set_value(document(), "run_nml", "x", 1)
    with pytest.raises(InputError, match=r"has no group &output_nml number 3: there are 2"):
        add(document(), "output_nml", "x", 1, copy=3)
    with pytest.raises(InputError, match=r"&output_nml does not set x"):
        remove(document(), "output_nml", "x")
    with pytest.raises(InputError, match=r"&t is not closed: there is no place to add x"):
        add(document("&t i=3\n"), "t", "x", 1)
    with pytest.raises(ValueError, match="empty list"):
        set_value(document(), "parallel_nml", "io", [])
    with pytest.raises(ValueError, match="cannot be written"):
        set_value(document(), "parallel_nml", "io", "a\nb")


# --- Any edit of any file ---

names = st.sampled_from(["i", "ra", "s", "la", "x%a", "ia(2:4)"])
words = st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=6)
scalars = st.one_of(st.integers(-99, 99), st.booleans(), st.floats(-1e9, 1e9).map(lambda value: value + 0.0), words)
lists = st.one_of(*(st.lists(kind, min_size=1, max_size=5) for kind in (st.integers(0, 99), st.booleans(), words)))
written = st.sampled_from(["1", "2*3", "1.5d0", "T", ".false.", "'it''s'", '"a/b"', "3*", "(1,2)", "'! &o'"])
gaps = st.sampled_from([", ", " ", "\n", ",\n ! it's\n  ", " ! c\n, ", ", ! c\n", ",,", " ; "])
ends = st.sampled_from(["\n", ",\n", " ! it's\n", ", ", " ", "\n! c\n"])


@st.composite
def files(draw):
    text = draw(st.sampled_from(["", "! head\n", "prose 'open\n"]))
    for name in draw(st.lists(st.sampled_from(["t", "o"]), min_size=1, max_size=3)):
        text += f"&{name}" + draw(st.sampled_from(["\n", " ", " ! c\n"]))
        for item in draw(st.lists(names, max_size=4)):
            text += item + " = "
            for number, value in enumerate(draw(st.lists(written, max_size=3))):
                text += (draw(gaps) if number else "") + value
            text += draw(ends)
        text += draw(st.sampled_from(["/\n", "\n/\n", "&end ! x\n"]))
    return text


def summary(group, but):
    return [(item.name, [value.text for value in item.values]) for item in group.items if item.name != but]


def comments(found):
    return [token.text for token in found.tokens if token.kind == "comment"]


@settings(max_examples=120)
@given(files(), names, scalars | lists)
def test_any_value_of_any_file(text, name, value):
    before = document(text)
    group = before.groups[0].name
    after = set_value(before, group, name, value)
    items = [item for item in after.groups[0].items if item.name == name]
    assert items[-1].plain == (value[0] if isinstance(value, list) and len(value) == 1 else value)
    assert summary(after.groups[0], name) == summary(before.groups[0], name)
    assert [one.text for one in after.groups[1:]] == [one.text for one in before.groups[1:]]
    assert comments(after) == comments(before)


@settings(max_examples=120)
@given(files(), st.data())
def test_any_removal_from_any_file(text, data):
    before = document(text)
    group = before.groups[0]
    there = sorted({item.name for item in group.items})
    if not there:
        return
    name = data.draw(st.sampled_from(there))
    after = remove(before, group.name, name)
    assert summary(after.groups[0], name) == summary(group, name)
    assert after.groups[0].named(name) == ()
    assert comments(after) == comments(before)
