"""What has to be said about a script before a variable of it is known."""

from __future__ import annotations

import pytest

from nmlgen.lift.needs import Needs, reckoned
from nmlgen.script.evaluate import evaluate
from nmlgen.script.parser import parse
from nmlgen.source import Source


def needs_of(text: str, *told: str) -> Needs:
    return Needs(evaluate(parse(Source("a.run", text))), told)


def test_what_a_variable_is_worked_out_of():
    text = 'step=$(date)\nhours=$((days * 24 + step)) # $((other))\nname="$hours.$USER"\nfixed=3\n'
    needs = needs_of(text, "EXPNAME")
    assert needs["hours"] == ("days",)
    assert needs["name"] == ("USER",)
    assert needs["fixed"] == needs["EXPNAME"] == ()
    assert {"hours", "EXPNAME"} <= set(needs)
    assert len(needs) == len(list(needs))
    with pytest.raises(KeyError):
        needs["nowhere"]


def test_a_long_chain():
    lines = ["a0=$(date)", *(f"a{n}=$((a{n - 1} + b{n % 2}))" for n in range(1, 3000))]
    needs = needs_of("\n".join(lines) + "\n")
    assert needs["a2999"] == ("b1", "b0")


def test_arithmetic():
    assert reckoned("a $((b+1)) c $(( (d) * 2 )) ((e") == "b+1  (d) * 2 "
