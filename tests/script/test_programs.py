"""What is said that a program prints is what the real one prints."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from real_shells import run_commands, run_script
from rows import rows
from tools import require

from nmlgen.script.programs import run_program

TEXT = "alpha 1\nbeta 22\n\ngamma,3;x\nalpha 1\n"
FIELDS = "a:b:c\nno delimiter\nx::z\n:q\n"

ANSWERED = [
    ("echo", ""),
    ("echo a 'b  c'", ""),
    ("echo -n a", ""),
    (r"echo -e 'a\tb\n\\c'", ""),
    (r"echo -ne 'x\0101'", ""),
    ("echo -- a", ""),
    ("echo -x a", ""),
    (r"echo -e 'a\cb'", ""),
    ("echo -en plain", ""),
    ("echo '*'", ""),
    ("echo '- n'", ""),
    ("echo ''", ""),
    (r"printf '%s\n' a b", ""),
    (r"printf '%d\n'", ""),
    ("printf '%03d|' 7 12 1234 -5", ""),
    ("printf '%5.2f|' 3.14159 2", ""),
    (r"printf '%s %s\n' a b c", ""),
    (r"printf %b 'a\tb\0101'", ""),
    ("printf %c abc", ""),
    ("printf '%*d|%-5s|%+d|% d' 5 3 ab 4 5", ""),
    ("printf '%x %o %X %#x' 255 8 255 255", ""),
    ("printf '%e %g %G' 1234.5 0.00001 1e10", ""),
    ("printf '%.3d|%s' 5", ""),
    ("printf %%", ""),
    ("printf -- -a", ""),
    (r"printf '\101\t\n'", ""),
    ("printf abc x y", ""),
    ("printf '%.10s|' abcdefghijklmn", ""),
    ("printf '%g ' 100000 1000000 0.1 1e-5 123456789 0 2.50", ""),
    ("printf %f 1e3", ""),
    ("printf %02d:%02d 5 123", ""),
    ("printf '%5s|%-5d|' ab 3", ""),
    (r"""printf %d ''"'"'a'""", ""),
    ("printf %i 0x1f", ""),
    ("printf %08.3f 3.14159", ""),
    ("printf %.0f 2.6", ""),
    ("printf %6.2e 0.00012345", ""),
    ("printf R%02dB%02d 2 6", ""),
    (r"printf 'no format\n'", ""),
    ("printf ''", ""),
    ("printf %u 7", ""),
    ("expr 1 + 2", ""),
    ("expr 1+1", ""),
    ("expr 3 '*' 4 - 2", ""),
    ("expr 7 / 2", ""),
    ("expr -7 / 2", ""),
    ("expr -7 % 3", ""),
    ("expr 5 - 5", ""),
    ("expr 08 + 1", ""),
    ("expr 1 / 0", ""),
    ("expr a + 1", ""),
    ("expr '(' 1 + 2 ')' '*' 3", ""),
    ("expr 1 '<' 2", ""),
    ("expr 10 '<' 9", ""),
    ("expr a = a", ""),
    ("expr a '!=' b", ""),
    ("expr '' '|' x", ""),
    ("expr 0 '|' 0", ""),
    ("expr 0 '&' 1", ""),
    ("expr 3 '&' 4", ""),
    ("expr abc123 : '[a-z]*'", ""),
    (r"expr abc123 : '[a-z]*\([0-9]*\)'", ""),
    (r"expr abc : 'x\(y\)'", ""),
    ("expr length hello", ""),
    ("expr substr hello 2 3", ""),
    ("expr substr hello 0 3", ""),
    ("expr index hello xl", ""),
    ("expr match ab12 '[a-z]*'", ""),
    ("expr + length", ""),
    ("expr 1 +", ""),
    ("expr ''", ""),
    ("expr", ""),
    ("expr 99999999999999999999 '*' 99999999999999999999", ""),
    ("expr 01 = 1", ""),
    ("expr 2 '*' 86400 / 30", ""),
    ("expr -- -3 + 1", ""),
    ("expr -3", ""),
    ("expr '(' 1", ""),
    ("expr 1 ')'", ""),
    ("expr 1 2", ""),
    (r"expr 20200131 : '....\(..\)'", ""),
    (r"expr abc : '^a\(.*\)$'", ""),
    ("expr abc : ^b", ""),
    (r"expr exp.nc : '.*\.nc'", ""),
    ("expr 1 == 1 + 0", ""),
    ("expr a '|' 1 / 0", ""),
    ("expr 0 '&' 1 / 0", ""),
    ("cut -d: -f1", FIELDS),
    ("cut -d : -f 2-", FIELDS),
    ("cut -d: -f1,3", FIELDS),
    ("cut -d: -f-2 -s", FIELDS),
    ("cut -c1-4", "20200131\n"),
    ("cut -c 5-6", "20200131"),
    ("cut -b2,4-", TEXT),
    ("cut -d: -f2 --complement", FIELDS),
    ("cut -d: -f1,2 --output-delimiter=-", FIELDS),
    ("cut -f1", "a\tb\n"),
    ("cut -d ' ' -f2", TEXT),
    ("cut -c 3,1", "abc\n"),
    ("cut -d: -f3,1-2", FIELDS),
    ("cut -d: -f9", FIELDS),
    ("cut -c 2-3,1-2,6-,5", "abcdefgh\nabcdef\nab\n\n"),
    ("cut -c 3-4,1,3 --complement", "abcdefgh\nabc\nab\n\n"),
    ("cut -c 4-,2 --complement", "abcdefgh\nabc\na\n"),
    ("cut --fields=2 --delimiter=:", FIELDS),
    ("basename /a/b/c.nc", ""),
    ("basename /a/b/c.nc .nc", ""),
    ("basename a/b/", ""),
    ("basename /", ""),
    ("basename -s .nc a.nc b.nc", ""),
    ("basename -a x/y z", ""),
    ("basename .nc .nc", ""),
    ("basename", ""),
    ("basename a b c", ""),
    ("basename ''", ""),
    ("dirname /a/b/c", ""),
    ("dirname c", ""),
    ("dirname /c", ""),
    ("dirname a/b/", ""),
    ("dirname /", ""),
    ("dirname a//b", ""),
    ("dirname ./x", ""),
    ("dirname a b/c", ""),
    ("dirname ''", ""),
    ("wc -l", TEXT),
    ("wc -w", TEXT),
    ("wc -c", TEXT),
    ("wc -m", "abc"),
    ("cat", TEXT),
    ("cat -", TEXT),
    ("true", ""),
    ("false", ""),
    (":", ""),
    ("true x", ""),
    ("seq 3", ""),
    ("seq 2 5", ""),
    ("seq 1 2 9", ""),
    ("seq 5 -2 0", ""),
    ("seq 3 1", ""),
    ("seq -w 8 11", ""),
    ("seq -s, 3", ""),
    ("seq -s ' ' 1 3", ""),
    ("seq 0 0.1 0.5", ""),
    ("seq -f %02.0f 1 4", ""),
    ("seq -f x%03g.nc 8 10", ""),
    ("seq 0.5 2", ""),
    ("seq -3 0", ""),
    ("seq -w 0 10", ""),
    ("seq 1 0.25 2", ""),
    ("bc", "1+1\n"),
    ("bc", "scale=2; 10/3\n"),
    ("bc", "scale=9; 1/86400\n"),
    ("bc", "10/3\n"),
    ("bc", "1.5*2.25\n"),
    ("bc", "2^10\n"),
    ("bc", "7%3\n"),
    ("bc", "scale=2;7%3\n"),
    ("bc", "-5/2\n"),
    ("bc", "(1+2)*3\n"),
    ("bc", "1<2\n3.5>=4\n"),
    ("bc", "x=3;x*2\ny=x+1\ny\n"),
    ("bc -l", "1/3\n"),
    ("bc", ".5\n0.25\n-0.5\n"),
    ("bc", "sqrt(2)\nscale=5\nsqrt(2)\n"),
    ("bc", "scale=3;2^-2\n"),
    ("bc", "0.1+0.20\n1.0-1.0\n"),
    ("bc", "# c\n/* x */ 5\n"),
    ("bc", "scale=9;      86400  * 0.5 \n"),
    ("bc", "length(123.45);scale(1.230)\n"),
    ("bc", "-2^2\n2^3^2\n"),
    ("bc", ""),
    ("bc", "a+=2;a;a*=3;a\n"),
    ("bc", "1==1\n1!=1\n"),
    ("bc", "scale=20;1/7\n"),
    ("printf '%4.1f|%-8.2f|%+.1f' 2.34 2.346 1", ""),
    ("bc -q", "5\nquit\n6\n"),
]

# What depends on the locale, the clock, files, the shell or the release of a program; and what is not worth the while.
UNDECIDED = [
    (r"echo 'a\tb'", ""),
    (r"echo -e '\x41'", ""),
    ("printf %d 08", ""),
    ("printf %.2f 0.125", ""),
    ("printf %d 1.5", ""),
    ("printf %q x", ""),
    ("expr a '<' b", ""),
    ("expr é : .", ""),
    ("cut -d: -f2 file", ""),
    ("wc", TEXT),
    ("wc -l file", ""),
    ("seq 1 1000000000", ""),
    ("seq 1 0 2", ""),
    ("date -d 20200101 +%s", ""),
    ("date -d '20200329 + 5 hours' +%F", ""),
    ("date -d '2020-01-01 00:00:00 +6 hours' +%F", ""),
    ("bc", "2^99999999\n"),
    ("bc", "1/0\n"),
    ("bc", "define f(x) { return x; }\n"),
    ("bc -l", "s(1)\n"),
    ("awk '{print $1}'", TEXT),
    ("tr a b", TEXT),
    ("sed s/a/b/", TEXT),
    ("ls", ""),
    ("rm -rf /", ""),
]


def answer(command, stdin, is_ksh=False):
    name, *arguments = command
    return run_program(name, arguments, stdin, is_ksh=is_ksh)


@pytest.fixture(scope="module")
def really():
    """What the real programs print for the table, all asked at once."""
    commands = [(shlex.split(line), stdin) for line, stdin in ANSWERED]
    return dict(zip(ANSWERED, run_commands("bash", commands), strict=True))


@rows(("line", "stdin"), ANSWERED)
def test_the_answer_is_the_real_programs(really, line, stdin):
    command = shlex.split(line)
    if command[0] != ":":
        require(command[0])
    assert answer(command, stdin) == really[line, stdin]


@rows(("line", "stdin"), UNDECIDED)
def test_what_cannot_be_known_is_not_said(line, stdin):
    assert answer(shlex.split(line), stdin, is_ksh=None) is None


@pytest.mark.parametrize("name", ["cut -c1", "wc -l", "bc", "cat"])
def test_an_input_that_is_not_known(name):
    assert answer(shlex.split(name), None) is None


KSH = [
    ["echo", "-n", "a"],
    ["echo", "-e", r"a\tb"],
    ["print", "a", "b"],
    ["print", "-n", "a"],
    ["print", "-r", r"a\tb"],
    ["print", r"a\tb\n\0101\\"],
    ["print", "--", "-n"],
    ["print", "-rn", "--", "a"],
    ["print", "-"],
    ["print", "-", "-n"],
    ["print", r"a\c"],
    ["printf", "%02d", "08"],
    ["printf", "%d|%s", "010"],
    ["printf", "%5.2f", "2.25"],
    ["printf", r"%s\n", "a", "b"],
]


@rows("command", KSH, ids=shlex.join)
def test_the_builtins_of_ksh(command):
    output = run_script("ksh", '"$@"; printf "x$?"', command)
    text, _, status = output.rpartition("x")
    assert answer(command, "", is_ksh=True) == (text, int(status))


# --- Any command ----------------------------------------------------------------------------------------------------


def choice(*texts):
    return st.sampled_from(texts)


def row(strategy, least=0, most=3):
    return st.lists(strategy, min_size=least, max_size=most).map("".join)


LINES = (
    st.lists(st.text("aab b1c_.:-/2 ,", max_size=10), max_size=3)
    .map("\n".join)
    .flatmap(lambda text: choice(text, text + "\n"))
)
NUMBERS = choice(
    "0", "1", "2", "7", "08", "-3", "12", "100", "3600", "007", "123456789", "1.5", "-3.75", "0.1", "abc", ""
)
WORDS = choice("a", "b c", r"a\tb", r"\0101", "--", "-", "", "-n", "-e", "-E", "-ne", r"x\\")
ATOMS = choice("a", "b", "1", "_", "-", ".", "[ab]", "[^a]", "[0-9]", "[[:digit:]_]", r"\.", "[a-z]")
BASIC = row(st.tuples(ATOMS, choice("", "", "*", r"\+", r"\{2\}")).map("".join), 1).flatmap(
    lambda body: choice(body, rf"\({body}\)x*", f"^{body}", f"{body}$", rf"{body}\|b")
)
DIRECTIVES = st.tuples(
    choice("%"),
    choice("", "", "0", "-", "+", " "),
    choice("", "3", "8"),
    choice("", ".2", ".0"),
    choice(*"sdifegxXoubc"),
).map("".join)
EXPR = st.recursive(
    choice("0", "1", "7", "-3", "08", "abc", "12").map(lambda word: [word]),
    lambda inner: st.one_of(
        st.tuples(inner, choice(*"+-*/%<=>|&:", "!=", ">="), inner).map(lambda parts: [*parts[0], parts[1], *parts[2]]),
        inner.map(lambda words: ["(", *words, ")"]),
        inner.map(lambda words: ["length", *words]),
    ),
    max_leaves=5,
)
SUMS = st.recursive(
    choice("0", "1", "2", "7", "3.5", ".25", "100", "86400", "x", "12.345"),
    lambda inner: st.one_of(
        st.tuples(inner, choice(*"+-*/%"), inner).map("".join),
        inner.map(lambda text: f"({text})"),
        inner.map(lambda text: f"{text}^2"),
    ),
    max_leaves=6,
)
COMMANDS = st.one_of(
    st.tuples(st.lists(WORDS, max_size=3).map(lambda words: ["echo", *words]), choice("")),
    st.tuples(
        st.tuples(row(st.one_of(DIRECTIVES, choice("a", ":", r"\n", "%%")), 1), st.lists(NUMBERS, max_size=4)).map(
            lambda parts: ["printf", parts[0], *parts[1]]
        ),
        choice(""),
    ),
    st.tuples(EXPR.map(lambda words: ["expr", *words]), choice("")),
    st.tuples(BASIC.map(lambda pattern: ["expr", "ab1_b", ":", pattern]), choice("")),
    st.tuples(
        st.tuples(choice("-d:", "-d,", "-d "), choice("-f1", "-f2-", "-f-2", "-f1,3")).map(lambda o: ["cut", *o]), LINES
    ),
    st.tuples(st.sampled_from([["wc", "-w"], ["wc", "-l"]]), LINES),
    st.tuples(
        choice(["bc"], ["bc", "-l"]), st.lists(st.one_of(SUMS, choice("scale=3", "x=5")), max_size=3).map("".join)
    ),
    st.tuples(
        choice(["bc"]),
        st.lists(st.one_of(SUMS, choice("scale=3", "x=5")), max_size=3).map(lambda s: "".join(f"{t}\n" for t in s)),
    ),
)


SCRAPS = row(
    st.one_of(st.characters(), choice(*"()[]{}\\/$%*.-+^|;\n1a", "s/", "-n", "{print ", "%5.2f", "scale=")), 0, 12
)


@settings(max_examples=100)
@given(
    st.sampled_from(["printf", "expr", "cut", "bc", "seq", "wc"]),
    st.lists(SCRAPS),
    SCRAPS,
)
def test_nothing_is_an_exception(name, arguments, stdin):
    assert answer([name, *arguments], stdin) is None or isinstance(answer([name, *arguments], stdin), tuple)


@settings(max_examples=8, suppress_health_check=list(HealthCheck))
@given(st.lists(COMMANDS, min_size=60, max_size=60))
def test_any_answer_is_the_real_programs(commands):
    """Sixty commands at a time: one shell runs them all."""
    require("bash", "bc")
    answers = [answer(command, stdin) for command, stdin in commands]
    decided = [(command, said) for command, said in zip(commands, answers, strict=True) if said is not None]
    results = run_commands("bash", [command for command, _ in decided])
    assert [(command, said) for command, said in decided] == [
        (command, result) for (command, _), result in zip(decided, results, strict=True)
    ]


@pytest.mark.parametrize(
    ("name", "arguments", "stdin"),
    [
        ("seq", ["-s", "y" * 90_000, "20000"], None),
        ("seq", ["-f", f"{'y' * 90_000}%g", "20000"], None),
        ("printf", [f"%s{'y' * 45_000}", *["a"] * 9900], None),
        ("cut", ["-d:", "-f1-", f"--output-delimiter={'y' * 20_000}"], "a:" * 200_000),
    ],
    ids=["seq -s", "seq -f", "printf", "cut"],
)
def test_what_is_printed_again_and_again_has_a_bound(name, arguments, stdin):
    assert run_program(name, arguments, stdin) is None
