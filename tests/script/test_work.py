"""However a script grows, the work of following it is counted, and it is given up where there is too much."""

from __future__ import annotations

import pytest

from nmlgen.script import evaluate
from nmlgen.script.parser import parse
from nmlgen.script.worlds import covering_worlds
from nmlgen.source import Source

LONG = "x=aaaaaaaaaa\n" + "x=$x$x$x$x$x$x$x$x$x$x\n" * 4  # 100 000 characters
GROWING = {
    "an array": ("a+=(x)\n", 2_000, 200),
    "elements of an array": ("a[{}]=x\n", 2_000, 200),
    "texts": ("y{}=b$x\n", 600, 50),
    "texts that are written": ("echo b$x > f\n", 600, 50),
    "texts that run through programs": ("y=$(echo $x | sed s/a/b/)\n", 400, 5),
    "a here-document": ("cat > f <<E\n$x\nE\n", 600, 50),
    "words of an array": ('echo "${{w[@]}}"\n', 1_200, 50),
    "words of a text": ("echo $v\n", 1_200, 50),
    "an environment": ("export x{}=1\nprogram {}\n", 1_600, 200),
    "questions": ('need() {{ [[ -e $1 ]] || m+=("$1"); }}\nneed {}\n((${{#m[@]}})) && exit 1\n', 1_000, 50),
}
WORDS = " ".join(f"w{number}" for number in range(1_000))


@pytest.mark.parametrize("name", GROWING)
def test_what_grows_is_given_up(name):
    line, many, few = GROWING[name]
    for count, is_too_much in ((few, False), (many, True)):
        text = f"#!/bin/bash\n{LONG}v='{WORDS}'\nw=($v)\n" + "".join(line.format(n, n) for n in range(count))
        found = evaluate.evaluate(parse(Source("a.run", text)))
        assert (found.gave_up is not None) is is_too_much
        if is_too_much:
            assert covering_worlds(found)


def test_a_loop_with_questions_is_given_up():
    turn = 'need a; need b\nif (( ${#m[@]} )); then exit 6; fi\n[[ -x $i && ! -d $i ]] || die "$i"\n'
    text = 'm=()\nneed() { [[ -e $1 ]] || m+=("$1"); }\ndie() { echo "$1"; exit 6; }\n'
    for count, is_too_much in ((20, False), (500, True)):
        source = Source("a.run", f"#!/bin/bash\n{text}for ((i=0; i<{count}; i++)); do\n{turn}done\n")
        assert (evaluate.evaluate(parse(source)).gave_up is not None) is is_too_much
