"""What stands at a place, told from texts that somebody is writing."""

from __future__ import annotations

import pytest
from rows import rows

from nmlgen.lsp.places import groups_in, key_place, namelist_place, parameter_at, toml_place


def split(text: str) -> tuple[str, int]:
    """A text without the bar in it, and where that stood."""
    at = text.index("|")
    return text[:at] + text[at + 1 :], at


@rows(
    ("text", "group", "variable", "is_value", "word"),
    [
        ("&par|allel_nml\n/\n", "parallel_nml", None, False, "parallel_nml"),
        ("&run_nml\n |\n/\n", "run_nml", None, False, ""),
        ("&run_nml\n num|\n/\n", "run_nml", "num", False, "num"),
        ("&run_nml\n |num_lev = 3\n/\n", "run_nml", "num_lev", False, "num_lev"),
        ("&run_nml\n NUM_LEV(2)| = 3\n/\n", "run_nml", "num_lev", False, ""),
        ("&run_nml\n num_lev = |\n/\n", "run_nml", "num_lev", True, ""),
        ("&run_nml num_lev = 3|0 /\n", "run_nml", "num_lev", True, "30"),
        ("&run_nml\n num_lev = 30\n nst|\n", "run_nml", "nst", False, "nst"),
        ("&run_nml\n num_lev = 30,\n 2|\n", "run_nml", "num_lev", True, "2"),
        ("&run_nml\n num_lev =\n 2|\n", "run_nml", "num_lev", True, "2"),
        ("&output_nml\n ml_varlist = 'u', 'gro|up:all'\n", "output_nml", "ml_varlist", True, "group:all"),
        ("&output_nml\n output_filename = 'a/b' filetype = |2\n", "output_nml", "filetype", True, "2"),
        ("&io_nml\n echotop_meta(1)%dbz|thresh = 2\n", "io_nml", "echotop_meta%dbzthresh", False, "echotop_meta"),
    ],
)
def test_places_in_groups(text, group, variable, is_value, word):
    text, at = split(text)
    place = namelist_place(text, at)
    assert place is not None
    assert (place.group, place.variable, place.is_value) == (group, variable, is_value)
    if "echotop" not in text:
        assert place.word.text == word


@pytest.mark.parametrize(
    "text", ["|", "a = |\n", "&run_nml\n/\n|", "&run_nml\n a = 1 ! co|mment\n/\n", "&run_nml a=1 / |b"]
)
def test_places_outside_of_groups(text):
    assert namelist_place(*split(text)) is None


@pytest.mark.parametrize(
    ("text", "group", "variable", "is_value"),
    [
        ("[namelists]\n[[NAMELIST_atm]]\n[[[io_nml]]]\n |", "io_nml", None, False),
        ("[namelists]\n[[NAMELIST_atm]]\n[[[io_nml]]]\n dt_diag = |", "io_nml", "dt_diag", True),
        ("[namelists]\n[[NAMELIST_atm]]\n[[[output_nml atm]]]\n mod|e = 1", "output_nml", "mode", False),
    ],
)
def test_places_in_configurations_of_mkexp(text, group, variable, is_value):
    place = namelist_place(*split(text), is_config=True)
    assert (place.group, place.variable, place.is_value) == (group, variable, is_value)


@rows(
    ("text", "above", "key", "is_value"),
    [
        ("|", (), None, False),
        ("na|me: x\n", (), "name", False),
        ("site: lev|ante\n", (), "site", True),
        ("job:\n  no|\n", ("job",), "no", False),
        ("job:\n  |\n", ("job",), None, False),
        ("job:\n  nodes: 2\n|", (), None, False),
        ("job: {nodes: 2, ti|me: x}\n", ("job",), "time", False),
        ("job: {nodes: 2, ti|", ("job",), "ti", False),
        ("job: {nodes: |", ("job",), "nodes", True),
        ("output: {atm: {ml_varlist: [u, v|]}}\n", ("output", "atm"), "ml_varlist", True),
        ("output:\n  atm:\n    ml_varlist:\n    - u\n    - te|\n", ("output", "atm"), "ml_varlist", True),
        ("output:\n  atm:\n    ml_varlist:\n      - te|\n", ("output", "atm"), "ml_varlist", True),
        ("output:\n  atm:\n    ml_varlist: [u,\n      te|", ("output", "atm"), "ml_varlist", True),
        ("output:\n  a:\n    mode: 1\n  b:\n    mo|de: 1\n", ("output", "b"), "mode", False),
        ("a:\n\n  # nothing\n  b:\r\n    c: |1\r\n", ("a", "b"), "c", True),
        ("models: {oce: {parallel: {nproma: 8|}}}\n", ("models", "oce", "parallel"), "nproma", True),
        ('"quo|ted": 1\n', (), "quoted", False),
    ],
)
def test_places_in_yaml(text, above, key, is_value):
    place = key_place(*split(text))
    assert (place.above, place.key, place.is_value) == (above, key, is_value)


def test_no_place_in_a_comment():
    assert key_place(*split("a: 1  # b|\n")) is None
    assert toml_place(*split("a = 1  # b|\n")) is None


@pytest.mark.parametrize(
    ("text", "above", "key", "is_value"),
    [
        ("si|", (), "si", False),
        ('site = "lev|"\n', (), "site", True),
        ('select = [\n  "RS|"\n]\n', (), "select", True),
        ('[[ignore]]\nrule = "|"\n', ("ignore",), "rule", True),
        ('[tool.nmlgen]\nsite = "|"\n', (), "site", True),
    ],
)
def test_places_in_toml(text, above, key, is_value):
    place = toml_place(*split(text))
    assert (place.above, place.key, place.is_value) == (above, key, is_value)


@pytest.mark.parametrize("text", ["a $na|me b", "${na|me:-x}", "|$name", "'$name|'"])
def test_variables_of_the_shell(text):
    assert parameter_at(*split(text))[0] == "name"


def test_groups_and_their_names():
    text = "cat <<EOF\n&run_nml\n a = 1, b(2) = 'x = 1 /' ! c = 2\n/\n d = 1\nEOF\n&io_nml\n e = 1\n"
    found = [(group.name, [name for name, _, _ in group.names]) for group in groups_in(text)]
    assert found == [("run_nml", ["a", "b(2)"]), ("io_nml", ["e"])]
