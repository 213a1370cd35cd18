"""What is written is read back the same."""

from __future__ import annotations

import math

import f90nml
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from nmlgen import read_namelist, to_f90nml
from nmlgen.experiment.group import Group
from nmlgen.experiment.setting import written
from nmlgen.namelist.writer import write_assignment, write_value
from nmlgen.render.namelists import write_groups

texts = st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=80)
integers = st.integers(-(2**63), 2**63)
reals = st.floats(allow_nan=False, allow_infinity=False)
scalars = st.one_of(st.booleans(), integers, reals, texts)
lists = st.one_of(*(st.lists(kind, min_size=2, max_size=40) for kind in (st.booleans(), integers, reals, texts)))
names = st.from_regex(r"[a-z][a-z0-9_]{0,20}", fullmatch=True)


def group(name, values, label=None):
    return Group(name, {key.lower(): written(f"{name}.{key}", value, "spec") for key, value in values.items()}, label)


def read(*groups):
    return f90nml.reads(write_groups(groups, ("a heading",)))


def same(left, right):
    """Equal, and of the same type: f90nml must not take 1.0 for 1."""
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return type(left) is type(right) and left == right


@given(st.dictionaries(names, scalars | lists, min_size=1, max_size=6))
def test_f90nml_reads_what_we_write(values):
    found = read(group("run_nml", values))["run_nml"]
    assert set(found) == set(values)
    for key, value in values.items():
        assert same(found[key], value), (key, value, found[key])


@given(st.dictionaries(names, scalars | lists, min_size=1, max_size=4))
def test_f90nml_itself_agrees(values):
    """Our reader hands f90nml the same that it reads from our text."""
    groups = (group("a_nml", values), group("b_nml", {"x": 1}))
    assert to_f90nml(read_namelist(write_groups(groups))).todict() == read(*groups).todict()


def test_repeated_groups_keep_their_order():
    groups = tuple(group("output_nml", {"output_filename": name}, name) for name in ("b", "a", "c"))
    assert [copy["output_filename"] for copy in read(*groups)["output_nml"]] == ["b", "a", "c"]
    found = to_f90nml(read_namelist(write_groups(groups)))
    assert [copy["output_filename"] for copy in found["output_nml"]] == ["b", "a", "c"]


def test_one_element_is_a_scalar():
    assert read(group("a_nml", {"x": ["u"]}))["a_nml"]["x"] == "u"


def test_text_of_a_file():
    values = {"nproma": 16, "l_log_checks": True, "expl": [1.0, -0.25e-7], "name": "it's", "experimentStartDate": "x"}
    assert write_groups((group("run_nml", values), group("output_nml", {"a": 1}, "atm")), ("one", "")) == (
        "! one\n"
        "!\n"
        "\n"
        "&run_nml\n"
        " nproma              = 16\n"
        " l_log_checks        = .TRUE.\n"
        " expl                = 1.0, -2.5e-08\n"
        " name                = 'it''s'\n"
        " experimentStartDate = 'x'\n"
        "/\n"
        "\n"
        "! output stream: atm\n"
        "&output_nml\n"
        " a = 1\n"
        "/\n"
    )


def test_a_file_ends_with_a_newline():
    """Some runtimes report an end of file if the last "/" has none."""
    assert write_groups((group("a_nml", {}),)).endswith("&a_nml\n/\n")
    assert write_groups(()) == "\n" or write_groups(()) == ""


@rows(
    ("value", "text"),
    [
        (True, ".TRUE."),
        (False, ".FALSE."),
        (0, "0"),
        (-5, "-5"),
        (0.1, "0.1"),
        (3.0, "3.0"),
        (1e22, "1e+22"),
        (-0.0, "-0.0"),
        (5e-324, "5e-324"),
        ("", "''"),
        ("a'b", "'a''b'"),
        ("/&!", "'/&!'"),
        ("ü", "'ü'"),
    ],
)
def test_scalars(value, text):
    assert write_value(value) == text


@rows("value", ["a\nb", "a\tb", "\r", "\0", "\x7f", "\x1b[0m", math.nan, math.inf, -math.inf, None, [1], {}, b"a", 1j])
def test_what_no_namelist_can_hold(value):
    with pytest.raises(ValueError, match="cannot be written to a namelist"):
        write_value(value)


# --- Long lists ------------------------------------------------------------------------------------------


@given(lists)
def test_long_lists_are_wrapped(value):
    lines = write_assignment("ml_varlist", value)
    start = " ml_varlist = "
    assert lines[0].startswith(start)
    for line in lines:
        body = line[len(start) :]
        assert len(line) <= 100 or len(body.split("', '")) == 1 or body.count(", ") == 0
    for line in lines[1:]:
        assert line.startswith(" " * len(start))
        assert line[len(start)] != " "
    for line in lines[:-1]:
        assert line.endswith(",")
    assert not lines[-1].endswith(",") or lines[-1].endswith("',")


def test_a_list_is_broken_between_elements_only():
    value = [f"variable_number_{number}" for number in range(20)]
    lines = write_assignment("x", value)
    assert len(lines) > 3
    assert all(len(line) <= 100 for line in lines)
    joined = " ".join(line.strip() for line in lines)
    assert joined == "x = " + ", ".join(f"'{name}'" for name in value)


def test_an_element_that_is_too_long_stands_alone():
    lines = write_assignment("x", ["a", "b" * 200, "c"])
    assert lines == [" x = 'a',", "     '" + "b" * 200 + "',", "     'c'"]


def test_a_text_is_never_broken():
    assert len(write_assignment("x", "word " * 100)) == 1


def test_order_is_kept_for_f90nml():
    groups = (group("z_nml", {"b": 1, "a": 2}), group("a_nml", {"x": 1}))
    found = to_f90nml(read_namelist(write_groups(groups)))
    assert list(found) == ["z_nml", "a_nml"]
    assert list(found["z_nml"]) == ["b", "a"]
