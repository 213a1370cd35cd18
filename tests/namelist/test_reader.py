"""Namelist text is read as the Fortran runtime reads it, and nothing of it is lost."""

from __future__ import annotations

import math
import random

import pytest
from fortran_runtime import VARIABLES, cases, disagreement
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rows import rows

from nmlgen.namelist.assignment import Declaration, assign, declarations
from nmlgen.namelist.reader import number, read, read_groups, read_namelist
from nmlgen.namelist.registry import load_registry
from nmlgen.source import Source

PIECES = [
    "&t\n", "&t ", "/\n", "/", "&end", "$end", "&o\n", "$t ", "& t\n", "&", "$", "i", "ia(1:3)", "p%a", "pa(2) % a",
    "=", " = ", "==", "1", "2*3", "3*", "1.5e3", "1.5_dp", ".true.", "T", "'it''s'", '"a', "'", "(1,2)", "(", ")", "%",
    ",", ";", " ", "\n", "\r\n", "\r", "\t", "\f", "\0", "\ufeff", "! it's\n", "!", "#", "?", "ä", "\udcf6", "\u2028",
]  # fmt: skip
texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=40).map("".join)


def document(text):
    return read(Source("NAMELIST", text))


def group(body, name="t"):
    (found,) = document(f"&{name}\n{body}\n/\n").groups
    return found


def values(body):
    return [(value.kind, value.value, value.repeat) for value in group(f"x = {body}").items[0].values]


def kinds(problems):
    return [problem.kind for problem in problems]


# --- Nothing is lost ---


def check_lossless(text):
    found = document(text)
    assert found.text == text
    at = 0
    for token in found.tokens:
        assert token.start == at
        assert token.end > at
        at = token.end
    for one in found.groups:
        assert text[one.start] in "&$"
        for item in one.items:
            assert one.start < item.start < item.end <= one.end
            assert all(item.equals < value.start <= value.end <= item.end for value in item.values)
            assert text[item.equals] == "="
    for problem in found.errors:
        assert problem.span.line >= 1
        assert problem.message
        assert problem.expected


@settings(max_examples=120)
@given(texts)
@example("&t x='a\n&o y=1 /")
@example("&t x=3*\n,!\n'a'&end")
def test_any_text_prints_back(text):
    check_lossless(text)


@settings(max_examples=120)
@given(st.binary(max_size=200))
def test_any_bytes_print_back(data):
    found = document(data.decode("utf-8", "surrogateescape"))
    assert found.text.encode("utf-8", "surrogateescape") == data


@pytest.mark.parametrize(
    "text", ["", "\n", "&t /", "&t\r\n i = 1\r\n/\r\n", "\ufeff&t\n/\n", "&t\n\ti\t=\t1 /\n", "no group\n", "&t i=1"]
)
def test_line_ends_and_marks_print_back(text):
    check_lossless(text)


SOUND = """\
! An experiment
&run_nml
 num_lev     = 90, 60   ! levels
 ltestcase   = .TRUE.
 output      = 'nml', "totint"
/
&output_nml
 ml_varlist(1:2) = 'u', 'it''s'
 output_bounds = 0.0, 1.e30, 3600.d0, z = (1.0, 2)
 h_levels = 3*100., , 5
/
"""


def test_mutated_namelists_do_no_harm():
    """5000 here; `python benchmarks/namelist_reader.py --mutations 100000` for more."""
    chance = random.Random(7)
    for _ in range(5000):
        check_mutation(chance)


def check_mutation(chance):
    text = SOUND
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(len(text) + 1)
        end = at + chance.choice([0, 0, 1, 1, 2, 20])
        text = text[:at] + chance.choice(["", *PIECES]) + text[end:]
    found = document(text)
    assert found.text == text
    for one in found.groups:
        assign(one, VARIABLES)


# --- Positions ---


def test_positions():
    text = "! head\n&Run_NML ! c\n  pa(2)%b = 3*1.5, 'x' ! it's\n/\n"
    found = document(text)
    (one,) = found.groups
    (item,) = one.items
    first, second = item.values
    assert (one.span.line, one.span.column, one.span.end_line, one.span.end_column) == (2, 1, 4, 2)
    assert (one.name, one.name_span.column, one.name_span.end_column) == ("run_nml", 1, 9)
    assert (item.name, item.base) == ("pa(2)%b", "pa")
    assert (item.name_span.line, item.name_span.column, item.name_span.end_column) == (3, 3, 10)
    assert [(part.text, part.span.column) for part in item.path] == [("pa(2)", 3), ("b", 9)]
    assert (first.text, first.span.column, first.repeat, first.value) == ("3*1.5", 13, 3, 1.5)
    assert (second.text, second.span.column) == ("'x'", 20)
    assert [(token.text, token.span.line, token.span.column) for token in one.comments] == [
        ("! c", 2, 10),
        ("! it's", 3, 24),
    ]
    assert [token.span.column for token in one.tokens if token.kind == "separator"] == [18]


def test_kinds_of_tokens():
    found = document("x\n&t i=1, ! c\n/ y\n")
    assert [(token.kind, token.text) for token in found.tokens] == [
        ("outside", "x\n"),
        ("header", "&t"),
        ("blank", " "),
        ("name", "i"),
        ("equals", "="),
        ("value", "1"),
        ("separator", ","),
        ("blank", " "),
        ("comment", "! c"),
        ("blank", "\n"),
        ("end", "/"),
        ("outside", " y\n"),
    ]


# --- Groups ---


@pytest.mark.parametrize(
    "text",
    [
        "&a_nml\n x = 1\n/\n&b_nml y = 'text / &c_nml'\n/\n&c_nml z = 2 /\n",
        "&a_nml x = 1 / &c_nml z = 2 /",
        "&a_nml x = 1 ! &c_nml\n/\n&c_nml z = 2 /\n&C_NML z = 3 &end\n",
        "&a_nml x = 'open\n&c_nml z = 2 /\n",
    ],
)
def test_only_some_groups(text):
    groups = [(group.name, group.items[0].plain) for group in read_namelist(text).copies("c_nml")]
    assert [(group.name, group.items[0].plain) for group in read_groups(text, ["c_nml"]).groups] == groups


def test_groups_in_order_and_by_name():
    found = document("&b i=1 /\n&A /\n&b\n i=2 &END\n")
    assert [one.name for one in found.groups] == ["b", "a", "b"]
    assert [one.items[0].plain for one in found.copies("B")] == [1, 2]
    assert found.group("b", 2) is found.groups[2]
    assert found.group("b", 3) is None
    assert found.group("b", 0) is None
    assert found.errors == ()


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("$t i=1 $end\n", "dollar-header"),
        (f"{'x' * 254}&t /\n", None),
        (f"{'x' * 255}&t /\n", "header-too-far-right"),
        (f"{'ä' * 127}&t /\n", None),
        (f"{'ä' * 128}&t /\n", "header-too-far-right"),
        ("&o x='!' / &t /\n", "header-behind-comment"),
        ("&t / &t /\n", "second-on-line"),
        ("&o / &t /\n", None),
    ],
)
def test_groups_that_icon_does_not_see(text, kind):
    hidden = document(text).copies("t")[-1].hidden
    assert (hidden.kind if hidden else None) == kind


def test_a_blank_behind_the_ampersand_is_no_group():
    found = document("& run_nml\n nproma = 8\n/\n&t /\n")
    assert [one.name for one in found.groups] == ["t"]
    assert kinds(found.problems) == ["blank-in-header"]
    assert found.problems[0].span.column == 1


def test_a_comment_holds_no_group():
    assert document("! &t i=1 /\nx ! &o\n").groups == ()


def test_what_the_shell_has_not_expanded_ends_no_group():
    one = group("dt = $dt ! seconds\n file = ${file}\n i = 3")
    assert [item.name for item in one.items] == ["dt", "file", "i"]
    assert kinds(one.errors) == ["unquoted-text", "unquoted-text"]


def test_reading_goes_on_at_the_next_group():
    found = document("&a\n x = 'open\n y = 2\n&b\n i = 1\n&c i=2 /\n")
    assert [one.name for one in found.groups] == ["a", "b", "c"]
    assert kinds(found.groups[0].errors) == ["unclosed-string", "unclosed-before-group"]
    assert [item.name for item in found.groups[0].items] == ["x", "y"]
    assert kinds(found.groups[1].errors) == ["unclosed-before-group"]
    assert found.groups[2].errors == ()
    assert found.groups[1].is_refused


# --- Values ---


@rows(
    ("text", "expected"),
    [
        ("3", ("integer", 3, 1)),
        ("-0012", ("integer", -12, 1)),
        ("2*+5", ("integer", 5, 2)),
        ("1.5", ("real", 1.5, 1)),
        ("3*.5", ("real", 0.5, 3)),
        ("1.d-3", ("real", 0.001, 1)),
        ("1.5Q2", ("real", 150.0, 1)),
        ("1.5+3", ("real", 1500.0, 1)),
        ("1-2", ("real", 0.01, 1)),
        ("1e400", ("real", math.inf, 1)),
        ("-Infinity", ("real", -math.inf, 1)),
        (".TRUE.", ("logical", True, 1)),
        ("f", ("logical", False, 1)),
        (".trueish", ("logical", True, 1)),
        ("2*T", ("logical", True, 2)),
        ("'it''s'", ("string", "it's", 1)),
        ('"say ""hi"""', ("string", 'say "hi"', 1)),
        ("2*'a b'", ("string", "a b", 2)),
        ("'a/b!c&d'", ("string", "a/b!c&d", 1)),
        ("'a\n  b'", ("string", "a  b", 1)),
        ("'a\r\nb'", ("string", "ab", 1)),
        ("(1.0, -2)", ("complex", 1 - 2j, 1)),
        ("( 1d0 ,\n 2 )", ("complex", 1 + 2j, 1)),
        ("3*", ("null", None, 3)),
        ("2010-01-01", ("word", "2010-01-01", 1)),
    ],
)
def test_values(text, expected):
    assert values(text) == [expected]


def test_not_a_number():
    assert math.isnan(values("nan(0)")[0][1])


@rows(
    ("body", "expected"),
    [
        ("1,2,3", [1, 2, 3]),
        ("1 2\n3", [1, 2, 3]),
        ("1;2 ; 3", [1, 2, 3]),
        ("1,,3", [1, None, 3]),
        (",3", [None, 3]),
        ("1,2,", [1, 2]),
        ("1 ! c\n, 2", [1, 2]),
        ("1,\n! c\n2", [1, 2]),
        ("2*1, 2*, 3", [1, 1, None, None, 3]),
        ("", []),
    ],
)
def test_lists(body, expected):
    assert [element for kind, value, repeat in values(body) for element in [value] * repeat] == expected


def test_what_the_layout_does_to_the_values():
    """gfortran takes a comment after a comma, and a line end before one, for a value."""
    one = group("x = 1, ! one\n 2")
    assert one.items[0].plain == [1, None, 2]
    assert kinds(one.errors) == ["comment-for-value"]
    assert not one.is_refused
    assert group("x = 1, ! one\n y = 2").errors == ()
    strings = group("x = 'u', ! wind\n 'v'")
    assert kinds(strings.errors) == ["comment-for-value"]
    assert strings.is_refused
    one = group("x = 1\n , 2")
    assert one.items[0].plain == [1, None, 2]
    assert kinds(one.errors) == ["comma-on-next-line"]


@rows(
    ("body", "kind", "column"),
    [
        ("# x", "hash-comment", 1),
        ("i = abc", "unquoted-text", 5),
        ("i = -abc'", "unquoted-text", 5),
        ("i == 3", "no-name", 1),
        ("i = 3 = 4", "misplaced-equals", 7),
        ("ia (3) = 7", "blank-in-name", 1),
        ("p % a = 7", "blank-in-name", 1),
        ("ia(x) = 7", "bad-subscript", 3),
        ("ia(1 :3) = 7", "bad-subscript", 3),
        ("ia(::2) = 7", "bad-subscript", 3),
        ("ia() = 7", "bad-subscript", 3),
        ("ra = 0*1.0", "bad-repeat", 6),
        ("ra = 300000000*1.0", "bad-repeat", 6),
        ("ra = 3 * 1.0", "unquoted-text", 8),
        ("s = 'a'b", "no-separator", 8),
        ("s = 'a", "unclosed-string", 5),
        ("z = (1.0)", "bad-complex", 5),
        ("i 3", "no-name", 1),
        ("'a'", "no-name", 1),
        ("\fi = 3", "no-name", 1),
    ],
)
def test_mistakes(body, kind, column):
    one = group(body)
    problem = one.errors[0]
    assert (problem.kind, problem.span.line, problem.span.column) == (kind, 2, column)
    assert one.is_refused


@pytest.mark.parametrize("body", ["i = +", "r = 2.&end"])
def test_values_that_are_read_as_nothing(body):
    (problem,) = group(body).errors
    assert (problem.kind, problem.stops) == ("lost-value", False)


def test_the_last_line_needs_its_end():
    assert kinds(document("&t i=3 /").errors) == ["no-final-newline"]
    assert kinds(document("&t /\n&o /").groups[0].errors) == []
    assert document("&t i=3 / end\n").errors == ()
    assert kinds(document("&t i=3 ! /\n").errors) == ["unclosed-group"]
    assert kinds(document("&t=3\n/\n").errors)[0] == "header-joined"


@pytest.mark.parametrize("text", ["1.5", "-2.", "+.5", "1e3", "1D-3", "1q+2", "1.5+3", "1.5-3", "12"])
def test_numbers(text):
    sign = text.lower().replace("d", "e").replace("q", "e")
    assert number(text) == float({"1.5+3": "1.5e3", "1.5-3": "1.5e-3"}.get(sign, sign))


@rows("text", ["", ".", "1e", "e5", "1.2.3", "1_000", "0x10", "١", "1.0_dp", " 1"])
def test_no_numbers(text):
    with pytest.raises(ValueError, match="is not a real number"):
        number(text)


# --- What gfortran made of it ---


@rows("case", cases(), ids=lambda case: case["id"])
def test_the_runtime_agrees(case):
    assert disagreement(case) == ""


def test_there_are_all_the_cases():
    recorded = cases()
    assert len({case["id"] for case in recorded}) == len(recorded) == 127


# --- With types ---


def typed(body, **declared):
    found = assign(group(body), declared)
    return {name if not index else (name, *index): given.value for (name, index), given in found.elements.items()}


def test_elements():
    assert typed("m(1,:) = 7, 8\nm(2,2) = 9", m=Declaration("integer", shape=(2, 3))) == {
        ("m", 1, 1): 7,
        ("m", 1, 2): 8,
        ("m", 2, 2): 9,
    }
    assert typed("x = 1, 2", x=Declaration("real", shape=((0, 3),))) == {("x", 0): 1.0, ("x", 1): 2.0}
    assert typed("x = 9*5", x=Declaration("integer", shape=None))["x", 9] == 5
    assert typed("s = 'abcdef'\ns(2:3) = 'XYZ'", s=Declaration("character", 8)) == {"s": "aXYdef"}


@rows(
    ("body", "declaration", "kind", "stops"),
    [
        ("x = 3.0", Declaration("integer"), "wrong-type", True),
        ("x = 1", Declaration("logical"), "wrong-type", True),
        ("x = T", Declaration("real"), "wrong-type", True),
        ("x = -5", Declaration("character", 9), "undelimited-text", True),
        ("x = 2010-01-01", Declaration("character", 10), "unquoted-string", False),
        ("x = 'räum'", Declaration("character", 4), "string-too-long", False),
        ("x = 3000000000", Declaration("integer"), "integer-overflow", True),
        ("x = 1, 2", Declaration("integer"), "too-many-values", True),
        ("x = 3*1", Declaration("integer", shape=(2,)), "array-full", True),
        ("x(3) = 1", Declaration("integer", shape=(2,)), "out-of-bounds", True),
        ("x(1,1) = 1", Declaration("integer", shape=(2,)), "bad-rank", True),
        ("x(2:1) = 1", Declaration("integer", shape=(2,)), "bad-section", True),
        ("x(1) = 1", Declaration("integer"), "not-an-array", True),
        ("x(0:1) = 'a'", Declaration("character", 4), "out-of-bounds", True),
        ("x%a = 1", Declaration("integer"), "no-component", True),
        ("x%b = 1", Declaration("derived", members={"abc": Declaration("integer")}), "unknown-component", True),
        ("x%ab = 1", Declaration("derived", members={"abc": Declaration("integer")}), "misspelt-component", True),
        ("y = 1", Declaration("integer"), "unknown-variable", True),
    ],
)
def test_problems_with_types(body, declaration, kind, stops):
    (problem,) = assign(group(body), {"x": declaration}).problems
    assert (problem.kind, problem.stops) == (kind, stops)


def test_the_value_too_many_behind_an_empty_one():
    (problem,) = assign(group("x = 1, , 2"), {"x": Declaration("integer")}).problems
    assert problem.message == '"2" is one value too many for x'
    assert assign(group("x = 1, ,\n"), {"x": Declaration("integer")}).problems == ()


def test_declarations_of_a_release():
    registry = load_registry("2024.10")
    declared = declarations(registry, "io_nml")
    assert declared["echotop_meta"].members["nechotop"].type == "integer"
    assert assign(group("echotop_meta(2)%nechotop = 3\n lkeep_in_sync = T"), declared).problems == ()
    assert kinds(assign(group("restart_file_type = 5.0"), declared).problems) == ["wrong-type"]
    seed = declarations(registry, "initicon_nml")
    assert assign(group("pinit_seed = 3000000000"), seed).problems == ()


def test_large_repeat_counts_cost_nothing():
    one = group("x = 199999999*1\n y = 199999999*1")
    assert assign(one, {"x": Declaration("integer", shape=(3,)), "y": Declaration("unknown", shape=None)}).is_refused
    with pytest.raises(ValueError, match="more than 10000000 values"):
        one.items[0].plain  # noqa: B018


def test_many_blanks_before_what_is_no_assignment():
    """Would take for ever if blanks could be divided in several ways."""
    document = read(
        Source("x", "&io_nml\n lkeep_in_sync" + " " * 5000 + "! = .TRUE.\n" + " " * 5000 + "'qv', 'u'\n/\n")
    )
    assert document.errors
