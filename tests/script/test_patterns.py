"""Patterns and braces mean what they mean to bash and to ksh."""

from __future__ import annotations

import tracemalloc
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from real_shells import run_script
from rows import rows

from nmlgen.script.patterns import UndecidedPattern, expand_braces, matches, remove_prefix, remove_suffix, replace

# For every pair of a pattern and a text: all that can be done with them.
SCRIPT = """
shopt -s extglob 2> /dev/null
while [ $# -gt 0 ]; do
  p=$1 t=$2; shift 2
  if [[ $t == $p ]]; then m=yes; else m=no; fi
  printf '%s|' "$m" "${t#$p}" "${t##$p}" "${t%$p}" "${t%%$p}" "${t/$p/X}" "${t//$p/X}" "${t/#$p/X}" "${t/%$p/X}"
  echo
done
"""

CASES = [
    ("*", "abc"), ("a*", "abc"), ("*.nc", "run_001.nc"), ("*_", "run_001_x.nc"), ("?", "a"), ("??", "a"),
    ("[ab]", "b"), ("[!ab]", "b"), ("[^ab]", "c"), ("[0-9]", "5"), ("[a-c]*", "cab"), ("[[:digit:]]", "7"),
    ("*[[:upper:]]*", "aBc"), ("[a-]", "-"), ("[a", "[a"), ("a]", "a]"), ("*/", "/work/exp/run"),
    ("/*", "/work/exp/run"), (".*", "a.b.c"), ("*.", "a.b.c"), ("@(a|b)", "b"), ("+([0-9])", "123"), ("+(0)", "007"),
    ("*( )", "  x"), ("?(-)+([0-9])", "-12"), ("!(*.nc)", "a.txt"), ("*.@(nc|grb)", "a.grb"), ("exp.*", "exp.amip"),
    ("-", "2020-01-01"), ("[-:]", "12:30"), ("", "abc"), ("a", "banana"), ("an", "banana"), ("*an", "banana"),
    ("\\*", "a*b"), ("[\\]]", "]"), ("T*", "2020-01-01T00:00:00Z"), ("%", "5%"), ("DOM0[1-9]", "DOM03"),
    ("*DOM0[1-9]*", "x_DOM03_y"), ("[[:space:]]", "a b"), ("b", ""), ("[!a-c]", "d"), ("~", "~"),
]  # fmt: skip


def results(pattern, text, is_ksh):
    """Every operation's result; None where it is undecided."""
    pieces = [(pattern, False)]

    def tried(operation, *arguments, **options):
        try:
            return operation(*arguments, **options, extglob=True)
        except UndecidedPattern:
            return None

    def replaced(**options):
        return tried(replace, text, pieces, "X", **options, is_ksh=is_ksh)

    is_match = tried(matches, pieces, text)
    return [
        is_match if is_match is None else {True: "yes", False: "no"}[is_match],
        tried(remove_prefix, text, pieces, longest=False),
        tried(remove_prefix, text, pieces, longest=True),
        tried(remove_suffix, text, pieces, longest=False),
        tried(remove_suffix, text, pieces, longest=True),
        replaced(),
        replaced(everywhere=True),
        replaced(anchor="#"),
        replaced(anchor="%"),
    ]


def compare(shell, cases):
    """The cases of which something is said that the shell does not do."""
    arguments = [word for case in cases for word in case]
    lines = run_script(shell, SCRIPT, arguments).split("\n")[:-1]
    wrong = []
    for (pattern, text), line in zip(cases, lines, strict=True):
        said = results(pattern, text, shell == "ksh")
        if any(one not in (None, other) for one, other in zip(said, line.split("|")[:-1], strict=True)):
            wrong.append((pattern, text, said, line))
    return wrong


@pytest.mark.parametrize("shell", ["bash", "ksh"])
def test_the_table(shell):
    assert compare(shell, CASES) == []


@rows(("pattern", "text"), CASES)
def test_the_table_is_decided(pattern, text):
    assert results(pattern, text, False)[:5].count(None) <= ("!(" in pattern)


def test_the_shortest_match_of_a_star_that_comes_again_is_undecided():
    assert compare("ksh", [("/*(*??)[-a]", "/111--")]) == []
    assert results("/*(*??)[-a]", "/111--", is_ksh=True)[:3] == ["yes", None, ""]


def test_quoted_characters_stand_for_themselves():
    assert matches([("a", False), ("*", True)], "a*", extglob=True)
    assert not matches([("a", False), ("*", True)], "ab", extglob=True)
    assert matches([("[", False), ("]", True), ("]", False)], "]", extglob=True)
    assert remove_suffix("a.b?", [("?", True)], longest=False, extglob=True) == "a.b"


def test_without_extglob_the_groups_are_text():
    assert matches([("+(a)", False)], "+(a)", extglob=False)
    assert not matches([("+(a)", False)], "aa", extglob=False)
    assert matches([("+(a)", False)], "aa", extglob=True)


@rows("pattern", ["[z-a]", "[a-Z]", "[[.a.]]", "[[:wrong:]]", "(a|b)", "@(a", "a|b", "\\d", "{2}(a)", "@(a&b)"])
def test_what_is_undecided(pattern):
    with pytest.raises(UndecidedPattern):
        matches([(pattern, False)], "a", extglob=True)


@pytest.mark.parametrize("pattern", ["*" * 1000 + "b", "+(a|aa)" * 100 + "b", "*(*a)b", "!(a*)" * 50, "@(" * 500])
def test_nothing_takes_long(pattern):
    with suppress(UndecidedPattern):
        assert not matches([(pattern, False)], "a" * 2000, extglob=True)


def characters(most):
    return st.text("aab.b/c1_-", max_size=most)


PLAIN = st.one_of(
    characters(1),
    st.sampled_from(["*", "?", "[ab]", "[!a]", "[0-9]", "[[:digit:]]", "[a-c]", "[^b.]", "[a-]", "[", "]", "[-a]"]),
)
SEQUENCES = st.lists(PLAIN, max_size=4).map("".join)
GROUPS = st.tuples(st.sampled_from("?*+@!"), st.lists(SEQUENCES, min_size=1, max_size=3)).map(
    lambda parts: f"{parts[0]}({'|'.join(parts[1])})"
)
PATTERNS = st.lists(st.one_of(PLAIN, PLAIN, GROUPS), max_size=4).map("".join)


@pytest.mark.parametrize("shell", ["bash", "ksh"])
@settings(max_examples=8, suppress_health_check=list(HealthCheck))
@given(cases=st.lists(st.tuples(PATTERNS, characters(7)), min_size=100, max_size=100))
def test_any_pattern_is_right_or_undecided(shell, cases):
    assert compare(shell, cases) == []


# --- Braces ---------------------------------------------------------------------------------------------------------

BRACES = [
    "abc", "{a,b}", "{1..5}", "{5..1}", "{a..e}", "x{a,b{c,d},}y", "a{,b}", "{1..3}{a,b}", "{-3..3}", "{-3..3..2}",
    "{1..10..3}", "{}", "{a}", "a}", "{x,{1..3}}", "run_{1..3}.nc", "{a,b,c}{1,2}",
]  # fmt: skip
BRACES_OF_BASH = [
    "{01..10..2}",
    "{001..3}",
    "{5..1..2}",
    "{1..10..-3}",
    "{1..3..0}",
    "{a,b..c}",
    "{08..10}",
    "{,}",
    "{,,}",
]
BRACE_SCRIPT = "printf '<%s>' {}; echo\n"


def really_expanded(shell, texts):
    script = "".join(BRACE_SCRIPT.replace("{}", text) for text in texts)
    return run_script(shell, script).split("\n")[:-1]


def expanded(text, is_ksh):
    try:
        return "".join(f"<{word}>" for word in expand_braces(text, is_ksh=is_ksh)) or "<>"
    except UndecidedPattern:
        return None


@rows("text", BRACES)
def test_braces(text):
    assert [expanded(text, None)] == really_expanded("bash", [text]) == really_expanded("ksh", [text])


@pytest.mark.parametrize("text", BRACES_OF_BASH)
def test_braces_of_bash(text):
    assert [expanded(text, False)] == really_expanded("bash", [text])
    assert expanded(text, None) is None


@pytest.mark.parametrize(
    "text", ["{1..999999999}", "{a,b}" * 100, "{" * 1000 + "a,b" + "}" * 1000, "{A..z}", "{a,$x}", "{a,b"]
)
def test_braces_that_are_refused(text):
    assert expanded(text, False) is None


BRACE_TEXTS = st.recursive(
    st.sampled_from(["a", "b1", "x.", "-", "", ".."]),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda items: "{" + ",".join(items) + "}"),
        st.tuples(inner, inner).map("".join),
        st.tuples(st.sampled_from(["1", "-3", "10", "01", "a"]), st.sampled_from(["5", "02", "c", "-1"])).map(
            lambda ends: "{" + "..".join(ends) + "}"
        ),
    ),
    max_leaves=5,
).filter(bool)


@pytest.mark.parametrize("text", ["{1..9999}{1..9999}", "{{1..9999},{1..9999}}", "{,{1..9999}}"])
def test_of_too_many_words_none_is_made(text):
    tracemalloc.start()
    with pytest.raises(UndecidedPattern):
        expand_braces(text, is_ksh=None)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 100_000


@pytest.mark.parametrize("shell", ["bash", "ksh"])
@settings(max_examples=5, suppress_health_check=list(HealthCheck))
@given(texts=st.lists(BRACE_TEXTS, min_size=100, max_size=100))
def test_any_braces_are_right_or_undecided(shell, texts):
    for is_ksh in (shell == "ksh", None):
        said = {text: answer for text in texts if (answer := expanded(text, is_ksh)) is not None}
        assert said == dict(zip(said, really_expanded(shell, list(said)), strict=True))
