"""The text of a spec: what is written is read back, values with their types, as a person would write it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from nmlgen.errors import SpecError
from nmlgen.source import Source
from nmlgen.spec.document import read_text
from nmlgen.spec.raising import Assumed, Gap
from nmlgen.spec.write import gaps, size, spec_text

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40)
texts |= st.text("aZ1.:e- /0xon#,]}", max_size=6)
names = st.from_regex(r"[a-z][a-z0-9_%()]{0,12}", fullmatch=True)
scalars = texts | st.integers(-(10**30), 10**30) | st.booleans() | st.floats(allow_nan=False, allow_infinity=False)
leaves = scalars | st.none() | st.lists(scalars, max_size=12)
documents = st.dictionaries(
    names, st.recursive(leaves, lambda below: st.dictionaries(names, below, max_size=3), max_leaves=6), max_size=4
)


@given(documents.filter(bool))
def test_what_is_written_is_read_back(document):
    found = read_text(Source("", spec_text(document))).plain()
    assert found == document
    assert repr(_sorted(found)) == repr(_sorted(document))  # and 1 is not 1.0, nor true


def test_no_document_is_read_to_write_one(monkeypatch):
    """It was one for each key: ten thousand of them took 19 s."""
    monkeypatch.setattr("ruamel.yaml.YAML.compose", None)
    assert spec_text({"a(1:2)": "x: y", "it's 1": "2x"}) == 'a(1:2): "x: y"\nit\'s 1: 2x\n'


def _sorted(value):
    return {key: _sorted(value[key]) for key in sorted(value)} if isinstance(value, dict) else value


@rows(
    ("value", "text"),
    [
        ("joint procs multifile", "joint procs multifile"),
        ("2008-09-01T00:00:00Z", "2008-09-01T00:00:00Z"),
        ("2008-09-01", '"2008-09-01"'),
        ("00:40:00", '"00:40:00"'),
        ("2024.10", '"2024.10"'),
        ("on", '"on"'),
        ("/work/bb1234/icon", "/work/bb1234/icon"),
        ("group:precip_vars", "group:precip_vars"),
        ("it's", "it's"),
        ("", '""'),
        ("a # b", '"a # b"'),
        ('\x85\u2028\U0001f600\\"', '"\\x85\\u2028\U0001f600\\\\\\""'),
        (1e-05, "1.0e-05"),
        (480.0, "480.0"),
        (True, "true"),
        (None, "null"),
        (["u", "a, b"], '[u, "a, b"]'),
    ],
)
def test_values_are_written_as_a_person_would(value, text):
    assert spec_text({"a": value}) == f"a: {text}\n"


def test_sections_stand_in_the_order_of_the_reference():
    keys = {
        "namelists": {"run_nml": {"iforcing": 3}},
        "output": {"atm": {"remap": 1}},
        "job": {"time": "01:00:00", "account": "a"},
        "name": "wave",
    }
    assert spec_text(keys, ["by hand"]) == (
        "# by hand\n"
        "name: wave\n"
        'job: {account: a, time: "01:00:00"}\n'
        "output:\n"
        "  atm: {remap: 1}\n"
        "namelists:\n"
        "  run_nml: {iforcing: 3}\n"
    )


def test_long_lists_go_on_below_their_first_element():
    text = spec_text({"a": {"ml_varlist": [f"variable_{number}" for number in range(20)]}})
    lines = text.splitlines()
    assert max(map(len, lines)) <= 110
    assert lines[1].startswith("  ml_varlist: [variable_0, ")
    assert lines[2].startswith(" " * 15 + "variable_")


def test_what_cannot_be_said_is_a_comment():
    keys = {"time": {"start": Gap("the shell\nknows")}, "grid": {"file": Assumed("g.nc", "so"), "name": Gap("no")}}
    text = spec_text(keys)
    assert text == "grid:\n  file: g.nc  # assumed: so\n  # name: no\ntime: {}\n  # start: the shell knows\n"
    assert read_text(Source("", text)).plain() == {"grid": {"file": "g.nc"}, "time": {}}
    assert dict(gaps(keys)) == {"time.start": "the shell\nknows", "grid.name": "no"}


@pytest.mark.parametrize("fewer", [0, 1])
def test_as_many_values_and_keys_are_counted_as_are_read(fewer):
    inner = {"b": [1, 2], "c": None, "d": Gap("not known")}
    keys = {"a": inner, "e": Gap("not known"), "f": {"g": Gap("not known")}, "h": Assumed(1, "likely")}
    source, most = Source("", spec_text(keys)), size(keys) - fewer
    if not fewer:
        assert read_text(source, most=most).plain() == {"a": {"b": [1, 2], "c": None}, "f": {}, "h": 1}
    else:
        with pytest.raises(SpecError, match="values and keys"):
            read_text(source, most=most)
