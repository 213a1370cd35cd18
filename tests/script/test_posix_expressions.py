"""What Python finds is what sed finds: the same text, and the same groups."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from real_shells import run_commands
from rows import rows
from tools import require

from nmlgen.script.posix_expressions import Untranslatable, translate_bre, translate_ere

BASIC = [
    ("a", "banana"), ("a*", "aab"), ("b*", "aab"), (r"\([a-z]*\)_\([0-9]*\)", "run_001"),
    (r".*_\([0-9]*\)\.nc", "exp_run_001.nc"), (r"\(.*\)/\(.*\)", "/work/exp/run"), ("^a", "ab"), ("a^b", "a^b"),
    ("b$", "ab"), ("a$b", "a$b"), ("*a", "*a"), (r"a\+", "aa"), (r"ab\?c", "ac"), (r"x\{2\}", "xxx"),
    (r"x\{1,2\}y", "xxy"), ("[^0-9]*", "ab12"), ("[[:digit:]]*$", "ab12"), (r"a\|b", "cb"), ("[]a]", "x]"),
    (r"\.", "a.b"), (r"\w*", "a_1-"), ("a.c", "abc"), (r"\(ab\)*c", "ababc"), ("[a-c]x*", "bxx"), ("{", "a{b"),
    ("+", "a+b"),
]  # fmt: skip
EXTENDED = [
    ("a+", "baaa"), ("(a|b)+", "xabab"), ("([a-z]+) ([0-9]+)", "alpha 12"), ("^([0-9]{4})-([0-9]{2})$", "2020-01"),
    ("colou?r", "color"), ("(jan|feb|mar)[0-9]", "feb3"), (r"^[-+]?[0-9]+(\.[0-9]+)?$", "-1.50"), (r"\(x\)", "(x)"),
    ("a|b|c", "xc"), ("R2B0?([0-9]+)", "R2B05"), (r"\$x", "$x"), ("x{2,3}", "xxxx"), ("(ab)?c", "c"), ("^$", ""),
    (r"\bfoo\b", "a foo b"), ("[+*]", "a*b"), ("(-[a-z]+)*=", "-a-b="),
]  # fmt: skip


def said(translate, pattern, text):
    """The text with what is found in angles and the groups behind it; None where it is not said."""
    try:
        expression = translate(pattern)
        match = expression.search(text)
    except Untranslatable:
        return None
    if match is None:
        return f"{text}\n"
    groups = "".join(f"<{group or ''}>" for group in match.groups())
    return f"{text[: match.start()]}<{match[0]}>{groups}{text[match.end() :]}\n"


def command(translate, pattern, text):
    groups = "".join(f"<\\{number}>" for number in range(1, translate(pattern).pattern.groups + 1))
    flags = ["-E"] if translate is translate_ere else []
    return ["sed", *flags, f"s\x02{pattern}\x02<&>{groups}\x02"], f"{text}\n"


@pytest.mark.parametrize(
    ("translate", "cases"), [(translate_bre, BASIC), (translate_ere, EXTENDED)], ids=["basic", "extended"]
)
def test_the_tables(translate, cases):
    require("bash", "sed")
    results = run_commands("bash", [command(translate, *case) for case in cases])
    assert [said(translate, *case) for case in cases] == [output for output, _ in results]


def test_quoted_pieces_stand_for_themselves():
    assert translate_ere([("^a", False), (".", True), ("b$", False)]).is_found("a.b")
    assert not translate_ere([("^a", False), (".", True), ("b$", False)]).is_found("axb")


@rows(
    "pattern",
    ["", "(", "a)", "a**", "*a", "a{1", "(|a)", "()", r"(a)\1", "[a-Z]", "[[.a.]]", "[", "a\\", r"\d", "(a*)*", "^*"],
)
def test_what_is_not_translated(pattern):
    with pytest.raises(Untranslatable):
        translate_ere(pattern)


@pytest.mark.parametrize("pattern", ["(a|ab)(c|bcd)", "a?(ab)?", ".*(foo|foobar)", "foo|foobar"])
def test_where_only_the_finding_is_certain(pattern):
    expression = translate_ere(pattern)
    assert expression.is_found("foobar abcd") == (pattern != "(x)")
    with pytest.raises(Untranslatable, match="longest"):
        expression.search("foobar abcd")


@pytest.mark.parametrize(
    "pattern", ["(a+)+b", "(a|a)*b", "(a*a*)*b", "a*" * 30 + "b", "(.*)*x", "((a{1,50}){1,50}){1,50}b"]
)
def test_nothing_takes_long(pattern):
    with pytest.raises(Untranslatable):
        translate_ere(pattern).is_found("a" * 3000)


def trees(is_extended):
    opening, closing = ("(", ")") if is_extended else (r"\(", r"\)")
    either = "|" if is_extended else r"\|"
    counts = (
        ["", "", "", "*", "+", "?", "{2}", "{1,2}"] if is_extended else ["", "", "", "*", "*", r"\+", r"\?", r"\{2\}"]
    )
    atoms = st.sampled_from(["a", "b", "1", "_", ".", "[ab]", "[^a]", "[0-9]", "[[:digit:]_]", "[]a]", r"\.", r"\w"])

    def repeated(inner):
        return st.lists(st.tuples(inner, st.sampled_from(counts)).map("".join), min_size=1, max_size=4).map("".join)

    groups = repeated(atoms).map(lambda body: f"{opening}{body}{closing}")
    whole = repeated(st.one_of(atoms, atoms, groups))
    return st.one_of(whole, whole.map(lambda body: f"^{body}$"), st.tuples(whole, whole).map(either.join))


@pytest.mark.parametrize("translate", [translate_bre, translate_ere], ids=["basic", "extended"])
@settings(max_examples=8, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_expression_is_right_or_not_said(translate, data):
    require("bash", "sed")
    texts = st.text("aab.b1-_", max_size=8)
    cases = data.draw(st.lists(st.tuples(trees(translate is translate_ere), texts), min_size=60, max_size=60))
    answers = [(case, answer) for case in cases if (answer := said(translate, *case)) is not None]
    results = run_commands("bash", [command(translate, *case) for case, _ in answers])
    assert [answer for _, answer in answers] == [output for output, _ in results]
