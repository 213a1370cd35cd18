"""Trees and f90nml.Namelist say the same."""

from __future__ import annotations

import math

import f90nml
import pytest
from fortran_runtime import cases
from hypothesis import example, given
from hypothesis import strategies as st
from rows import rows

from nmlgen.namelist.interchange import from_f90nml, to_f90nml
from nmlgen.namelist.reader import read
from nmlgen.source import Source

names = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
words = st.text(max_size=9).filter(str.isprintable)
reals = st.floats(allow_nan=False)
scalars = st.one_of(st.booleans(), st.integers(-(2**40), 2**40), reals, words, st.complex_numbers(allow_nan=False))
lists = st.one_of(*(st.lists(kind, min_size=2, max_size=5) for kind in (st.booleans(), st.integers(), reals, words)))
parts = st.dictionaries(names, scalars | lists, min_size=1, max_size=3)
groups = st.dictionaries(names, scalars | lists | parts, min_size=1, max_size=4)


def converted(text):
    return to_f90nml(read(Source("x", text)))


@given(st.dictionaries(names, groups, min_size=1, max_size=3))
@example({"a": {"a": ["\\", ""], "b": "it\\'s"}})
def test_there_and_back(contents):
    namelist = f90nml.Namelist(contents)
    assert to_f90nml(from_f90nml(namelist)).todict() == namelist.todict()


UNLIKE = {  # where f90nml reads another thing than the runtime, or nothing
    "string-never-closed", "string-over-line-end", "string-over-line-end-indented", "byte-order-mark",
    "nothing-closes-it", "blank-after-ampersand", "dotted-word-starting-with-t", "exponent-q", "nan",
    "nan-with-payload", "semicolons", "substring", "hash-comment", "hexadecimal", "underscore-in-integer",
    "form-feed", "repeat-with-blanks", "repeat-zero", "unclosed-group-before", "section-with-stride",
    "name-without-equals", "whole-derived-type", "kind-suffix", "path-for-string", "latin-1-byte-in-string",
}  # fmt: skip


@rows("case", [case for case in cases() if case["id"] not in UNLIKE], ids=lambda case: case["id"])
def test_f90nml_reads_the_same(case):
    assert converted(case["text"]).todict() == f90nml.reads(case["text"]).todict()


def test_what_the_runtime_sees():
    found = converted("&t\n r = 1.5q3, nan(0)\n l = .trueish\n s = 'a\n b'\n i = 1;2\n x = 3*, 4\n/\n")["t"]
    assert found["r"][0] == 1500.0
    assert math.isnan(found["r"][1])
    assert (found["l"], found["s"], found["i"], found["x"]) == (True, "a b", [1, 2], [None, None, None, 4])


def test_the_last_assignment_counts():
    found = converted("&t\n i = 1\n ia = 1, 2, 3\n i = 2\n ia = 9\n ja = 1\n ja = 2, , 3\n/\n")["t"]
    assert (found["i"], found["ia"], found["ja"]) == (2, [9, 2, 3], [2, None, 3])


def test_elements_and_components():
    text = "&t\n ia(5:6) = 7, 8\n p%a = 1\n p%b = 'x'\n pa(2)%a = 5\n z = 1\n/\n"
    found = converted(text)
    assert found.todict() == f90nml.reads(text).todict()
    assert list(found["t"]) == ["ia", "p", "pa", "z"]
    assert to_f90nml(from_f90nml(found)).todict() == found.todict()


def test_copies_of_a_group_and_the_order():
    text = "&output_nml x=1 /\n&a_nml y=1 /\n&output_nml x(2)=2 /\n"
    found = converted(text)
    assert [copy.todict() for copy in found["output_nml"]] == [
        {"x": 1},
        {"x": [2], "_start_index": {"x": [2]}},
    ]
    again = from_f90nml(found)
    assert [group.name for group in again.groups] == ["output_nml", "output_nml", "a_nml"]


def test_nothing_at_all():
    assert converted("").todict() == {}
    assert converted("&t /\n").todict() == {"t": {}}


@pytest.mark.parametrize("value", ["a\nb", ["a", "\t"], {"p": "\r"}])
def test_what_no_namelist_can_hold(value):
    with pytest.raises(ValueError, match="cannot be written to a namelist"):
        from_f90nml(f90nml.Namelist({"t": {"s": value}}))
