"""Arithmetic without a shell is that of bash and of ksh."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from real_shells import run_script
from rows import rows

from nmlgen.script.arithmetic import ArithmeticMistake, UndecidedExpression, calculate

VARIABLES = {"x": "5", "y": "-3", "z": "0", "h": "x+1", "d": "1.5", "m": "08", "a": "7", "a[1]": "8", "a[2]": "9"}
SETTING = "x=5 y=-3 z=0 h=x+1 d=1.5 m=08; a=(7 8 9)"

# For every argument: the value and what x, y and z are then, or "mistake". bash and ksh end a subshell by a mistake.
SCRIPT = f"""
for expression in "$@"; do
  ( {SETTING}; value=$(( $expression )); echo "$value $x $y $z" ) 2> /dev/null || echo mistake
done
"""

BOTH = [
    "", " ", "0", "00", "7", "1+2", "7/2", "-7/2", "7/-2", "-7%3", "7%-3", "2*3+4", "2+3*4", "(2+3)*4", "2**10",
    "2**3**2", "-2**2", "1<<4", "-8>>1", "6&3", "6|1", "6^3", "~5", "!0", "!5", "!!5", "- -3", "+3", "3>2", "3<=2",
    "3==3", "3!=3", "1&&0", "1||0", "0||0", "1?2:3", "0?2:3", "1?2:0?3:4", "1,2", "x", "x+1", "y*2", "unset", "h*2",
    "x=7", "x+=2", "x-=1", "x*=3", "x/=2", "x%=3", "x<<=2", "x>>=1", "x&=4", "x|=2", "x^=1", "x++", "++x", "x--",
    "--x", "x++ + ++x", "x = x++ + 1", "x=y=4", "x*=2+1", "y-x", "x-y", "x- -3", "0 && (x=9)", "1 || x++",
    "1 ? x : (x=1)", "0 && 1/0", "1 || 1/0", "1 ? 2 : 1/0", "x + x++ * x", "x+=x++", "0x1F", "0XfF", "10#08",
    "10#12+1", "a[1]", "a[1+1]", "a[x-4]*2", "2 < 3 == 1", "1 | 2 ^ 3 & 4", "86400 * 30 / 3600", "9223372036854775807",
    "x\n+\n1", "3037000499*3037000499", "(x > 3) ? 10 : 20", "x > 3 && y < 0", "2-1", "x-1", "1/0", "1%0", "x/z", "x%z",
]  # fmt: skip
BASH = [
    "010", "08", "m", "017+1", "2#101", "16#ff", "36#z", "64#_", "64#A", "37#A", "8#9", "1#1", "65#1", "5--3", "5++3",
    "4+++3", "--3", "5---3", "9223372036854775807+1", "9223372036854775807*2", "2**63", "2**64", "3**40", "2**-1",
    "1.5", "1.5*2", "d", "d+1", "3 4", "3+", "()", "(1", "1)", "1 = 2", "1+x=3", "1?2", "1?:2", "1,", "1?x:2=7", "x.y",
    "#x", "1u", "0b1", "1e3", "int(3)", "x[", "-9223372036854775807-2", "(-9223372036854775807-1)/-1", "2**62*4",
    "x**=2", "inf", "a[0]+a",
]  # fmt: skip
KSH = [
    "010", "08", "m", "m+1", "08.5", "1.5*2", "7/2.0", "7/2", "1.0*3", "0.1+0.2", "1/3.", "2/3.", "10./3", "86400*1.5",
    "3600/1000.", "1.1*1.1", "-1.5", "d", "d*2", "d+d", "x*d", "1e3", "1.5e3", "1.5e-3", ".5", "1.", "1e-5", "1.5<2",
    "1==1.0", "!1.5", "1>2?5:6.0", "int(3.7)", "int(-3.5)", "floor(2.5)", "floor(-2.5)", "ceil(2.1)", "round(2.5)",
    "abs(-3)", "abs(7)/2", "trunc(7.5)", "123456789.5", "x=7/2.", "x=1.0/3", "100000*100000.0", "10/4*4.0",
    "int(x/2.)", "(int(10.0/3))", "7./2+1", "1.0/8",
]  # fmt: skip


def value(expression, is_ksh):
    """The value and the variables behind it, "mistake", or None where it is undecided."""
    variables = dict(VARIABLES)

    def key(name, subscript):
        return name if subscript in (None, "0") else f"{name}[{subscript}]"

    def lookup(name, subscript):
        return variables.get(key(name, subscript), "")

    def assign(name, subscript, text):
        variables[key(name, subscript)] = text

    try:
        result = calculate(expression, lookup, assign, is_ksh=is_ksh)
    except UndecidedExpression:
        return None
    except ArithmeticMistake:
        return "mistake"
    return " ".join([result, *(variables[name] for name in "xyz")])


def really(shell, expressions):
    return run_script(shell, SCRIPT, expressions).split("\n")[:-1]


@rows("expression", BOTH)
def test_what_bash_and_ksh_agree_on(expression):
    said = value(expression, None)
    assert said is not None
    assert really("bash", [expression]) == really("ksh", [expression]) == [said]
    assert value(expression, False) == value(expression, True) == said


@rows("expression", BASH)
def test_bash(expression):
    assert really("bash", [expression]) == [value(expression, False)]


@rows("expression", KSH)
def test_ksh(expression):
    assert really("ksh", [expression]) == [value(expression, True)]


@rows("expression", ["010", "08", "m", "1.5", "d", "5--3", "2**-1", "2**70", "int(3)", "2#11", "inf", "1,"])
def test_an_unknown_shell_is_not_guessed(expression):
    assert value(expression, None) is None


@rows("expression", ["2**0.5", "1.0/0", "-0.0", "5.5%2.5", "sqrt(2)", "1e400", "z*-1.5", "x=-z", "2**-1", "inf"])
def test_what_is_undecided_in_ksh(expression):
    assert value(expression, True) is None


@pytest.mark.parametrize(
    "expression",
    [
        "2**999999999",
        "1<<99999",
        "9" * 5000,
        "(" * 500,
        "-" * 5000,
        "1+" * 9000 + "1",
        "x=" * 3000 + "1",
        "a[" * 300,
        "1?" * 2000,
    ],
)
def test_nothing_takes_long(expression):
    assert value(expression, None) in (None, "0", "mistake")
    value(expression, False)
    value(expression, True)


def test_variables_that_name_each_other():
    variables = {"x": "y", "y": "x"} | {f"v{level}": f"v{level + 1}+v{level + 1}" for level in range(60)}
    for name in ("x", "v0"):
        with pytest.raises(UndecidedExpression):
            calculate(name, lambda name, _: variables.get(name, ""), lambda *_: None, is_ksh=False)


def test_the_callbacks_may_refuse():
    def refuse(name, subscript):
        raise UndecidedExpression(name)

    with pytest.raises(UndecidedExpression, match="x"):
        calculate("1 + x", refuse, lambda *_: None, is_ksh=False)
    assert calculate("0 && x", refuse, lambda *_: None, is_ksh=False) == "0"
    assert calculate("y = 3", refuse, lambda *_: None, is_ksh=False) == "3"


# --- Any expression -------------------------------------------------------------------------------------------------


def expressions(*, decimals):
    numbers = ["0", "1", "2", "3", "7", "10", "08", "010", "0x1F", "10#09", "100000", "3600", "9223372036854775807"]
    floats = ["1.5", ".25", "2.", "1e2", "0.1", "3.0", "d", "1e-3", "int(x/2.)", "floor(1.5)", "abs(y)"]
    leaves = st.sampled_from([*numbers, "x", "y", "z", "h", "unset", "a[1]", *(floats if decimals else [])])
    names = st.sampled_from("xyz")
    binary = st.sampled_from(
        ["+", "-", "*", "/", "%", "**", "<<", ">>", "&", "|", "^", "&&", "||", "==", "!=", "<", ">", "<=", ">=", ","]
    )
    assignments = st.sampled_from(["=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "|=", "^="])

    def grown(inner):
        return st.one_of(
            st.tuples(inner, st.sampled_from(["", " "]), binary, st.sampled_from(["", " "]), inner).map("".join),
            st.tuples(st.sampled_from(["-", "+", "!", "~", "- "]), inner).map("".join),
            inner.map(lambda text: f"({text})"),
            st.tuples(names, assignments, inner).map("".join),
            st.tuples(names, st.sampled_from(["++", "--"])).map("".join),
            st.tuples(st.sampled_from(["++", "--"]), names).map("".join),
            st.tuples(inner, inner, inner).map(lambda parts: f"{parts[0]} ? {parts[1]} : {parts[2]}"),
        )

    return st.recursive(leaves, grown, max_leaves=6)


SCRAPS = st.lists(
    st.sampled_from(["x", "y", "1", "2", "08", *"+-*/%()=<!~?:,&| ", "++", "--", "**", "1.5", "[", "a[1]", ".", "#"]),
    max_size=7,
).map("".join)


@pytest.mark.parametrize("shell", ["bash", "ksh"])
@settings(max_examples=8, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_expression_is_right_or_undecided(shell, data):
    """A hundred at a time: one shell evaluates them all. What is undecided is not tried: ksh dies of some."""
    is_ksh = shell == "ksh"
    texts = data.draw(st.lists(st.one_of(expressions(decimals=is_ksh), SCRAPS), min_size=100, max_size=100))
    for knowledge in (is_ksh, None):
        said = {text: answer for text in texts if (answer := value(text, knowledge)) is not None}
        assert said == dict(zip(said, really(shell, list(said)), strict=True))
