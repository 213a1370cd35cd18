"""The evaluation of scripts: ways that end, ways that go wrong, and what the surroundings leave empty."""

from __future__ import annotations

import re
from itertools import product

import pytest
from rows import rows

from nmlgen.script.builtins import _shared_out
from nmlgen.script.evaluate import Evaluation, evaluate
from nmlgen.script.parser import parse
from nmlgen.script.values import may_equal
from nmlgen.script.worlds import World, _copy_directory, _Files, covering_worlds, worlds
from nmlgen.source import UNKNOWN, Source


def evaluated(text: str, shell: str = "bash", **variables: str | None) -> Evaluation:
    return evaluate(parse(Source("script", f"#!/bin/{shell}\n{text}\n")), variables=variables)


def texts(ways: tuple[World, ...]) -> list[dict[str, str]]:
    """The files of each way."""
    return [{name: file.text for name, file in way.files.items()} for way in ways]


def test_where_a_script_may_end_the_rest_is_written_or_is_not():
    evaluation = evaluated("echo a > N\nprogram || exit 1\necho b >> N")
    ways = texts(worlds(evaluation))
    assert len(ways) == 2
    assert {"N": "a\n"} in ways
    assert {"N": "a\nb\n"} in ways


def test_what_leaves_a_turn_of_a_loop_is_no_end():
    evaluation = evaluated("for i in 1 2; do program && continue; echo $i >> N; done")
    assert len(worlds(evaluation)) == 4


@pytest.mark.parametrize("word", ["for", "select"])
def test_a_loop_over_what_is_no_name(word):
    text = f"x=old\nwhile program; do {word} ** in a b; do x=new; done; done\necho $x > N"
    written = {way["N"] for way in texts(worlds(evaluated(text)))}
    assert {UNKNOWN in one for one in written} == {True}


@pytest.mark.parametrize("text", ["set -e\nprogram", 'eval "$TEXT"', '. ./not_there\n[ -n "$unheard" ] && exit'])
def test_lint_does_not_go_where_something_goes_wrong(text):
    evaluation = evaluated(f"{text}\necho written > /tmp/N")
    assert len(worlds(evaluation)) > 1
    assert texts(covering_worlds(evaluation)) == [{"/tmp/N": "written\n"}]


@pytest.mark.parametrize("tool", ["spack load --sh x", "conda shell.bash hook", "echo @ENV@ | $ROOT/config.status -q"])
def test_what_a_tool_prints_sets_nothing_that_the_script_sets(tool):
    evaluation = evaluated(f'model=atm\neval "$({tool})"\necho $model > /tmp/N\n[ -n "$unheard" ] && echo > /tmp/N')
    assert evaluation.lost is None
    assert texts(covering_worlds(evaluation))[0] == {"/tmp/N": "atm\n"}
    assert evaluation.unresolved  # what nothing sets may be set now


@pytest.mark.parametrize("text", ['"$TEXT"', "$(awk -f settings.awk)", "$(own)", "$(cat settings)", '"x=$(tool)"'])
def test_what_may_set_anything_is_lost(text):
    evaluation = evaluated(f"own() {{ program; }}\nmodel=atm\neval {text}\necho $model > /tmp/N")
    assert evaluation.lost is not None
    assert texts(covering_worlds(evaluation)) != [{"/tmp/N": "atm\n"}]


def test_lint_does_not_go_where_a_script_gives_up():
    evaluation = evaluated('if [ "$tasks" -lt 2 ]; then\n  echo too few\n  complain 0\n  exit\nfi\necho written > N')
    assert texts(covering_worlds(evaluation)) == [{"N": "written\n"}]
    evaluation = evaluated('if [ "$tasks" -lt 2 ]; then\n  echo few > N\n  exit\nfi\necho many > N')
    assert {"N": "few\n"} in texts(covering_worlds(evaluation))
    assert {"N": "many\n"} in texts(covering_worlds(evaluation))


def test_what_stands_behind_several_possible_ends_is_written_in_some_way():
    evaluation = evaluated(
        "if [ -e a ]; then\n  echo a > N\n  exit\nfi\n"
        "if [ -e b ]; then\n  echo b > N\n  [ -e c ] && exit 3\nfi\necho end > M"
    )
    ways = texts(covering_worlds(evaluation))
    assert {"N": "a\n"} in ways
    assert {"N": "b\n", "M": "end\n"} in ways
    assert texts(covering_worlds(evaluated("echo a > N\nexit\necho b > N"))) == [{"N": "a\n"}]


def test_the_first_start_is_one_of_the_ways_however_many_there_are():
    branches = "".join(f"if [ -f in{n} ]; then echo a > N{n}; else echo b > N{n}; exit; fi\n" for n in range(8))
    evaluation = evaluated(
        f"restart=.false.\n[ -f again ] && restart=.true.\n{branches}echo $restart > icon_master.namelist\n"
        '[ "$restart" = .true. ] && echo more > N'
    )
    name = "icon_master.namelist"
    written = [files.get(name) for files in texts(covering_worlds(evaluation, name))]
    assert {".false.\n", ".true.\n"} <= set(written[:2])


def test_a_directory_that_may_not_be_there():
    evaluation = evaluated("cd sub\necho written > N")
    assert texts(worlds(evaluation)) == [{"N": "written\n"}, {"sub/N": "written\n"}]
    assert texts(covering_worlds(evaluation)) == [{"sub/N": "written\n"}]


def test_nobody_knows_the_files_behind_text_that_only_a_run_knows():
    evaluation = evaluated('n=1\necho $n > N\neval "$TEXT"\necho "$n" >> N')
    assert texts(worlds(evaluation)) == [{"N": f"1\n{UNKNOWN}\n"}, {UNKNOWN: UNKNOWN}]


@rows("shell", ["bash", "ksh"])
@rows(
    "commands",
    [
        "number=$(program)\n{0} a_$number=5",
        "{0} a_$(program)=$(program)",
        "while read -r b; do\n  let k++\n  {0} a_$k=$(printf %.8f $b)\ndone < params.txt",
    ],
)
@rows("declaring", ["export", "typeset"])
def test_a_name_whose_beginning_is_written_out_is_none_that_begins_otherwise(shell, commands, declaring):
    """What only a run names may be any variable with that beginning, one that is not assigned elsewhere, too."""
    text = f"a_2=old\nab=kept\n{commands.format(declaring)}\necho $ab > N\necho $a_2 > O\necho $a_7 > P"
    ways = texts(covering_worlds(evaluated(text, shell)))
    assert {way["N"] for way in ways} == {"kept\n"}
    assert all(UNKNOWN in way["O"] and UNKNOWN in way["P"] for way in ways)


def test_a_variable_that_the_script_assigns_is_empty_before():
    text = ". ./not_there\nif [ x$names = x ]; then names[0]=atm; fi\necho ${#names[*]} > N"
    assert texts(covering_worlds(evaluated(text))) == [{"N": "1\n"}]
    assert texts(covering_worlds(evaluated(text, names=None))) != [{"N": "1\n"}]


def test_a_loop_is_followed_in_the_ways_in_which_its_end_is_known():
    text = """
. ./not_there
if [ "$MODE" = two ]; then n=2; else n=$other; fi
i=0
while [ $i -lt $n ]; do echo $i >> N; i=$((i + 1)); done
"""
    assert {"N": "0\n1\n"} in texts(covering_worlds(evaluated(text)))


def test_an_assignment_in_arithmetic_is_one_in_every_case():
    evaluation = evaluated('n=${GIVEN:-1}\n((t = n * 2))\necho "$t" > N', GIVEN=None)
    (way,) = worlds(evaluation)
    assert way.files["N"].text == f"{UNKNOWN}\n"


def test_what_bash_and_ksh_do_is_both_where_no_shell_is_named():
    text = "echo a | read x\necho [$x] > N"
    assert texts(worlds(evaluated(text, "bash"))) == [{"N": "[]\n"}]
    assert texts(worlds(evaluated(text, "ksh"))) == [{"N": "[a]\n"}]
    (way,) = worlds(evaluated(text, "sh"))
    assert {case.text for stretch in way.files["N"].stretches for case in stretch.piece.value} >= {"", "a"}


@rows(
    "text",
    [
        "f() { f; f; }; f",
        "f() { echo $(f) $(f); }; f",
        "x=aa; for i in {1..99}; do x=$x$x; done; echo $x > N",
        "while :; do echo x >> N; done",
        "for ((;;)); do ((i++)); done",
        "((" * 300,
        "$(" * 300,
        "if [ $a ]; then " * 200 + "echo" + "; fi" * 200,
        "".join(f"if [ $a = {n} ]; then x=$x{n}; fi\n" for n in range(60)) + "echo $x > N",
        "a() { [ $1 ] && a $2 || a $3; }; a $x $y",
    ],
)
def test_an_evaluation_ends(text):
    worlds(evaluated(text))
    covering_worlds(evaluated(text))


@pytest.mark.parametrize(
    ("commands", "expected"),
    [
        ("cat a >> b", {"a": "1\n", "b": "2\n1\n"}),
        ("cat a > b", {"a": "1\n", "b": "1\n"}),
        ("cat a b > c", {"a": "1\n", "b": "2\n", "c": "1\n2\n"}),
        ("cat a b >> c; cat b >> c", {"a": "1\n", "b": "2\n", "c": "1\n2\n2\n"}),
        ("cp a b", {"a": "1\n", "b": "1\n"}),
        ("mv a b", {"b": "1\n"}),
        ("cat a >> b; echo 3 >> a", {"a": "1\n3\n", "b": "2\n1\n"}),
    ],
)
def test_files_that_are_appended_and_copied(commands, expected):
    ways = texts(covering_worlds(evaluated(f"echo 1 > a\necho 2 > b\n{commands}")))
    assert expected in ways


def test_a_directory_changed_many_times():
    """Each cd may fail; where so many may have, the last one is still known, and nobody knows what else it may be."""
    moves = "\n".join(f"cd d{number}" for number in range(100))
    evaluation = evaluated(f"cd /run\n{moves}\ncd /last\necho written > N")
    assert {"/last/N": "written\n"} in texts(covering_worlds(evaluation))
    assert max(len(event.path) for event in evaluation.events if hasattr(event, "path")) < 40


def test_a_directory_copied_into_itself_again_and_again():
    files = _Files()
    files["a/N", ()] = []
    for turn in range(20):  # each copy has what the one before it copied
        _copy_directory("a/", "a/b/", (turn,), files, False)
    assert 1_000 < len(files) < 5_000


def test_an_element_at_one_of_several_numbers():
    text = "n=0\na=(x)\nif [ -f f ]; then n=1; fi\na[$n]=y\nb=${a[0]}${a[1]}\nc=${a[$n]}\n[ -d ./ ] && d=1\n"
    final = evaluated(text).final
    assert {case.text for case in final["b"].value} == {"y", "xy"}
    assert {case.text for case in final["c"].value} == {"y"}
    assert {case.text for case in final["d"].value} == {"1"}


def test_braces_among_characters_that_nobody_writes_and_among_very_many_parts():
    for word in ("{a,\U000f0000}$x", "{a," + "$b" * 140_000 + "}"):
        found = evaluate(parse(Source("a.run", f"#!/bin/bash\necho {word}\nz=1\n")))
        assert found.gave_up is None
        assert "z" in found.final


def test_unknown_stretches_stand_for_any_text():
    texts = ["".join(letters) for count in range(5) for letters in product("ab", repeat=count)]
    for text in ("".join(letters) for count in range(5) for letters in product(f"ab{UNKNOWN}", repeat=count)):
        pattern = re.compile(".*".join(text.split(UNKNOWN)))
        for other in texts:
            assert may_equal(text, other) is (pattern.fullmatch(other) is not None)


def test_many_unknown_stretches_are_held_against_a_text_in_one_pass():
    assert not may_equal(f"{UNKNOWN}a" * 20 + f"{UNKNOWN}b", "a" * 60)


def test_a_line_is_shared_out_among_names():
    lines = ["", "a", " a  b ", "a:b", " a : b c ", "::a", "a b c d", "a:b:c:d:"]
    for separators in (" \t\n", ":", " :", ""):
        for line in lines:
            for names in (["x"], ["x", "y"], ["x", "y", "z"]):
                found = _shared_out(line, names, separators)
                assert [name for name, _ in found] == names
                blanks = separators.replace(":", "")
                gap = ":" if separators == ":" else r"[ \t\n]*:[ \t\n]*|[ \t\n]+" if ":" in separators else r"[ \t\n]+"
                whole = line.strip(blanks) if blanks else line
                cut = re.split(gap, whole, maxsplit=len(names) - 1) if separators else [whole]
                assert [text for _, text in found[:-1]] == (cut + [""] * 3)[: len(names) - 1]


@rows(
    "commands",
    [
        "a=(0 1 2); unset a[01]; x=${a[*]}",
        "v=ä; x=${#v}",
        "v=ä; x=${v:0:1}",
        "v=ß; x=${v^^}",
        "typeset -u x=ß",
    ],
)
def test_what_depends_on_the_locale_or_is_reckoned_first_is_not_known(commands):
    (world,) = covering_worlds(evaluated(f'{commands}\necho "$x" >f\n'))
    assert world.files["f"].text == f"{UNKNOWN}\n"
