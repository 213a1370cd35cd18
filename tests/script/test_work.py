"""However a script grows, the work of following it is counted, and it is given up where there is too much."""

from __future__ import annotations

from rows import rows

import nmlgen
from nmlgen.script import calls, conditions, effort, evaluate, patterns, words, worlds
from nmlgen.script.assigned import effects
from nmlgen.script.conditions import Questions
from nmlgen.script.events import Copied, Written
from nmlgen.script.parser import parse
from nmlgen.script.programs import columns, run_program
from nmlgen.script.values import text_of
from nmlgen.script.worlds import covering_worlds
from nmlgen.script.wrapper import follow
from nmlgen.source import Source

LONG = "x=aaaaaaaaaa\n" + "x=$x$x$x$x$x$x$x$x$x$x\n" * 4  # 100 000 characters
GROWING = {
    "an array": ("a+=(x)\n", 2_000, 200),
    "elements of an array": ("a[{}]=x\n", 2_000, 200),
    "texts": ("y{}=b$x\n", 600, 50),
    "a text that is appended to": ("x+=b\n", 600, 50),
    "a long input of which a line is read": ("read a\n", 9_000, 50),
    "texts that are written": ("echo b$x > f\n", 600, 50),
    "texts that run through programs": ("y=$(echo $x | sed s/a/b/)\n", 400, 5),
    "a here-document": ("cat > f <<E\n$x\nE\n", 600, 50),
    "words of an array": ('echo "${{w[@]}}"\n', 1_200, 50),
    "words of a text": ("echo $v\n", 1_200, 50),
    "words of a program": ("program " + "w " * 2_000 + "\n", 100, 10),
    "an environment": ("export x{}=1\nprogram {}\n", 1_600, 200),
    "questions": ('need() {{ [[ -e $1 ]] || m+=("$1"); }}\nneed {}\n((${{#m[@]}})) && exit 1\n', 1_000, 50),
}
WORDS = " ".join(f"w{number}" for number in range(1_000))


@rows("name", GROWING)
def test_what_grows_is_given_up(name):
    line, many, few = GROWING[name]
    for count, is_too_much in ((few, False), (many, True)):
        lines = "".join(line.format(n, n) for n in range(count))
        text = f"#!/bin/bash\n{LONG}v='{WORDS}'\nw=($v)\n{{\n{lines}}} <<E\n" + "a\n" * 50_000 + "E\n"
        found = evaluate.evaluate(parse(Source("a.run", text)))
        assert (found.gave_up is not None) is is_too_much
        if is_too_much:
            assert covering_worlds(found)


def test_of_a_here_document_with_very_many_parts_the_rest_is_unknown():
    for count, is_too_much in ((40_000, False), (90_000, True)):
        found = evaluate.evaluate(parse(Source("a.run", "cat > f << E\n" + "$i\n" * count + "E\n:\n")))
        (written,) = (event for event in found.events if isinstance(event, Written))
        assert (found.gave_up is not None) is is_too_much
        assert (text_of(written.pieces[-1].value) is None) is is_too_much
        assert (len(written.pieces) < 2 * count) is is_too_much


ELEMENTS = "a=(" + "x " * 20_000 + ")\n"
NAMES = [" ".join(f"n{number}_{name}" for name in range(1_000)) for number in range(20)]
EXPORTS = "".join(f"export {names}\n" for names in NAMES)
UNREACHED = "if false; then\n" + "".join(f"a{number}=\n" for number in range(20_000)) + "fi\n"
BESIDE_MANY = {
    "the last of many elements": (ELEMENTS, "y=${a[-1]}"),
    "the number of many elements": (ELEMENTS, "y=${#a[@]}"),
    "many elements as a text": (ELEMENTS, 'y="${a[*]}"'),
    "some of many elements": (ELEMENTS, 'y="${a[@]:1:2}"'),
    "one of many elements that goes": (ELEMENTS, "unset a[1]"),
    "a subshell of many variables": (EXPORTS, "( : )"),
    "an expression for a program beside many variables": (EXPORTS, "cat <<< $((1))"),
    "an option beside many": ("".join(f"shopt -s {names}\n" for names in NAMES), "set -C"),
    "an alias beside many": ("".join(f"alias {names}\n" for names in NAMES), "alias b=c"),
    "many names that are forgotten": (UNREACHED, 'eval "$(program | cat)"'),
}


@rows("what", BESIDE_MANY)
def test_what_is_done_beside_very_much_costs_what_is_gone_through(what, monkeypatch):
    monkeypatch.setattr(effort, "_MOST", 120_000)
    beginning, line = BESIDE_MANY[what]
    for count, is_too_much in ((2, False), (900, True)):
        text = f"#!/bin/bash\n{beginning}" + f"{line}\n" * count
        assert (evaluate.evaluate(parse(Source("a.run", text))).gave_up is not None) is is_too_much


def test_branches_within_functions_that_have_many_variables_of_their_own_are_given_up(monkeypatch):
    monkeypatch.setattr(effort, "_MOST", 100_000)
    names = " ".join(f"v{number}" for number in range(500))
    for count, is_too_much in ((10, False), (400, True)):
        ways = "[ -f x ] && y=1\n" * count
        text = f"#!/bin/bash\nf() {{\nlocal {names}\nif [ $((n++)) -lt 20 ]; then f; else\n{ways}fi\n}}\nf\n"
        assert (evaluate.evaluate(parse(Source("a.run", text))).gave_up is not None) is is_too_much


def test_redirections_of_one_command_are_given_up():
    for count, is_too_much in ((1_000, False), (10_000, True)):
        text = f"#!/bin/bash\nexec {' '.join(f'{number}>&-' for number in range(3, count))}\n:\n"
        assert (evaluate.evaluate(parse(Source("a.run", text))).gave_up is not None) is is_too_much


def test_paths_that_may_lie_in_many_places_are_given_up(monkeypatch):
    monkeypatch.setattr(effort, "_MOST", 100_000)
    cases = "".join(f"[ -f {number} ] && f=b{number}\n" for number in range(14))
    for count, is_too_much in ((5, False), (200, True)):
        text = f"#!/bin/bash\nf=a\n{cases}" + "cd $f\n" * count
        assert (evaluate.evaluate(parse(Source("a.run", text))).gave_up is not None) is is_too_much


def test_names_that_begin_alike_are_looked_for_once(monkeypatch):
    looks = []
    own = evaluate._WORD

    class Word:
        def findall(self, text):
            looks.append(text)
            return own.findall(text)

    monkeypatch.setattr(evaluate, "_WORD", Word())
    text = "#!/bin/bash\n" + "while read x; do export a_$x=1; done\n" * 20 + "echo $a_b $b\n"
    found = evaluate.evaluate(parse(Source("a.run", text)))
    assert len(looks) == 1
    assert {"a_", "a_b"} <= found.final.keys()
    assert "b" not in found.final


def test_questions_together_have_few_answers(monkeypatch):
    looks = 0
    own = conditions.contradicts

    def counted(guard, other):
        nonlocal looks
        looks += 1
        return own(guard, other)

    monkeypatch.setattr(conditions, "contradicts", counted)
    for test in ("[[ {} ]]", "[ {} ]"):
        groups = [f"-f a{number} && -f b{number}" for number in range(13)]
        if test[:2] == "[[":
            asked = " || ".join(f"( {group} )" for group in groups)
        else:
            asked = " -o ".join(group.replace("&&", "-a") for group in groups)
        found = evaluate.evaluate(parse(Source("a.run", f"#!/bin/bash\n{test.format(asked)} && y=1\n")))
        assert found.gave_up is None
        assert "y" in found.final
    assert 0 < looks < 20_000


def test_functions_are_looked_up_once_for_each_name():
    looks = 0

    class Functions(dict):
        def get(self, name, default=None):
            nonlocal looks
            looks += 1
            return super().get(name, default)

    names = [f"f{number}" for number in range(300)]
    script = parse(Source("a.run", "".join(f"{name}() {{ y{name}=1; }}\n" for name in names)))
    defined = Functions((one.name, ((frozenset(), (one, script.text)),)) for one in script.body.commands)
    for called in ("\n".join(names), "$x"):
        looks = 0
        others = "\n".join(f"a{number}" for number in range(300))
        found = effects(parse(Source("b.run", f"{called}\n{others}\n")).body, defined)
        assert found.names == {f"y{name}" for name in names}
        assert 600 <= looks <= 700


def test_a_command_of_thousands_of_words_that_run_the_next_is_looked_at_once():
    class Words(tuple):
        def __getitem__(self, place):
            assert not isinstance(place, slice) or place.start > 400
            return super().__getitem__(place)

    (command,) = parse(Source("a.run", "exec " * 500 + "export a\n")).body.commands
    command.words = Words(command.words)
    assert effects(command, {}).switches


def test_a_pattern_of_brackets_that_are_not_closed_is_read_once(monkeypatch):
    looks = []
    own = patterns._PatternReader._bracket
    monkeypatch.setattr(patterns._PatternReader, "_bracket", lambda self: looks.append(self) or own(self))
    assert patterns.matches([("[" * 500, False)], "[" * 500, extglob=False)
    assert not patterns.matches([("[" * 500, False)], "[" * 499, extglob=False)
    assert len(looks) == 2


def test_a_wrapper_is_followed_for_so_much_of_all_ranks_together(monkeypatch):
    monkeypatch.setattr(effort, "_MOST", 100_000)
    script = parse(Source("w.sh", '#!/bin/bash\nfor i in {1..400}; do x=${i%a*}; done\nexec "$@"\n'))
    shared = effort.Effort(of_command=5)
    known = [follow(script, ["bin/icon"], {"SLURM_PROCID": str(rank)}, shared) for rank in range(64)]
    assert known[0] is not None
    assert known[-1] is None
    assert shared.spent < 2 * effort._MOST


def test_lines_that_sed_edits_again_and_again_are_not_known_in_the_end(monkeypatch):
    monkeypatch.setattr(worlds, "_MOST_COPIED", 2_000)
    for edits, is_known in ((3, True), (30, False)):
        text = "cat > f <<E\n" + "ab\n" * 100 + "E\n" + "sed -i s/x/y/ f\n" * edits
        (world,) = covering_worlds(evaluate.evaluate(parse(Source("a.run", f"#!/bin/bash\n{text}"))))
        assert (world.files["f"].text == "ab\n" * 100) is is_known


def test_a_loop_with_questions_is_given_up():
    turn = 'need a; need b\nif (( ${#m[@]} )); then exit 6; fi\n[[ -x $i && ! -d $i ]] || die "$i"\n'
    text = 'm=()\nneed() { [[ -e $1 ]] || m+=("$1"); }\ndie() { echo "$1"; exit 6; }\n'
    for count, is_too_much in ((20, False), (500, True)):
        source = Source("a.run", f"#!/bin/bash\n{text}for ((i=0; i<{count}; i++)); do\n{turn}done\n")
        assert (evaluate.evaluate(parse(source)).gave_up is not None) is is_too_much


TURNS = {
    "tokens of an expression": "y=$(({}))".format("+".join(["i"] * 300)),
    "tokens of a condition": "for ((k = 0; k < 1 + 0 * ({}); k++)); do :; done".format("+".join(["i"] * 300)),
    "parts of a word": "[[ {} == a ]]".format("$i" * 500),
    "words of a program": "printf {}".format("'%d' $i " * 300),
    "pieces of a here-document": "cat > f << E\n{}E".format("$i\n" * 300),
    "places of a pattern": "y=${x:0:400}; y=${y//a*b/c}; y=${y%%b*}",
    "elements that are read": "read -a a <<< '{}'".format("a " * 1_000),
    "lines that are read": "mapfile -t a <<< '{}'".format("a\n" * 1_000),
    "a text that is run": "eval 'y={}'".format("$i" * 300),
    "a text that an expression is held against": "[[ $x$x$x$x =~ ^a*b ]]",
    "choices of cases": 'if [ -f $i ]; then y=$i; fi; z="$y$z"; z="${z}$y"',
}


@rows("what", TURNS)
def test_a_turn_of_a_loop_costs_what_it_looks_at(what, monkeypatch):
    """Turns that are few for commands, with a tenth of the effort; the first of them are followed to the end."""
    monkeypatch.setattr(effort, "_MOST", 100_000)
    for count, is_too_much in ((3, False), (450, True)):
        text = f"#!/bin/bash\nx={'a' * 3_000}\nfor ((n = 0; n < {count}; n++)); do\n  i=$n\n  {TURNS[what]}\ndone\n"
        assert (evaluate.evaluate(parse(Source("a.run", text))).gave_up is not None) is is_too_much


def test_options_that_each_set_a_variable_are_given_up(monkeypatch):
    """As those of a `configure`, where each variable may be set or not behind each option."""
    monkeypatch.setattr(effort, "_MOST", 50_000)
    for count, is_too_much in ((10, False), (150, True)):
        options = "".join(f"  -o{n}) a{n}=$one ;;\n" for n in range(count))
        text = f'#!/bin/bash\nfor one in $(cat f); do\ncase $one in\n{options}esac\ndone\n[ -n "$a1" ]\n'
        assert (evaluate.evaluate(parse(Source("a.run", text))).gave_up is not None) is is_too_much


def test_who_gives_up_in_a_text_that_is_run_says_so(tmp_path):
    path = tmp_path / "a.run"
    path.write_text(
        f"#!/bin/bash\n#SBATCH --nodes=1\nfor i in {{1..400}}; do eval '{'x=$i$i;' * 300}'; done\nsrun ./icon\n"
    )
    assert [(found.code, found.span.line) for found in nmlgen.lint([path]).findings] == [("SHL007", 3)]


def test_a_text_too_long_for_an_expression_is_not_held_against_it():
    for length, is_known in ((100, True), (250, False)):
        text = f"#!/bin/bash\nx={'a' * length}\nif [[ $x =~ a*a*a*b ]]; then n=1; else n=2; fi\necho $n >f\n"
        (world,) = covering_worlds(evaluate.evaluate(parse(Source("a.run", text))))
        assert (world.files["f"].stretches[0].text == "2") is is_known


def test_a_wrapper_is_followed_for_a_thousand_commands_of_a_rank():
    for turns, is_known in ((20, True), (40, False)):
        loops = f"for i in {{1..{turns}}}; do for j in {{1..{turns}}}; do :; done; done"
        script = parse(Source("wrap.sh", f'#!/bin/bash\n{loops}\nexec "$@"\n'))
        assert (follow(script, ["bin/icon"], {}) is not None) is is_known


def test_a_pattern_is_held_against_files_that_begin_like_it(monkeypatch):
    held = []
    monkeypatch.setattr(worlds, "matches", lambda pattern, text, **_: held.append(text))
    text = "mkdir a b\n" + "".join(f"echo x > a/{n}\n" for n in range(30)) + "echo x > b/1\nrm -f b/*\n"
    assert covering_worlds(evaluate.evaluate(parse(Source("a.run", f"#!/bin/bash\n{text}"))))
    assert set(held) == {"b/1"}


@rows(
    "line",
    {
        "copied into each other": "cat f f > g\ncat g g > f\n",
        "moved": "cat f f > g\nmv g f\n",
        "copied many times": "cp f g$i\n",
    },
)
def test_what_copies_hold_is_bounded(line, monkeypatch):
    monkeypatch.setattr(worlds, "_MOST_COPIED", 1_000)
    text = f"echo x > f\nfor i in {' '.join(map(str, range(2_000)))}; do\n{line}done\ncat f > h\n"
    (world,) = covering_worlds(evaluate.evaluate(parse(Source("a.run", f"#!/bin/bash\n{text}"))))
    assert sum(len(file.stretches) for file in world.files.values()) < 10_000


def test_files_are_not_gone_through_for_each_of_very_many_words(monkeypatch):
    held = []
    monkeypatch.setattr(worlds, "matches", lambda pattern, text, **_: bool(held.append(text)))
    monkeypatch.setattr(worlds, "_MOST_COPIED", 2_000)
    text = "".join(f"echo x > f{number}\n" for number in range(30)) + "rm " + "f* " * 1_000
    assert covering_worlds(evaluate.evaluate(parse(Source("a.run", f"#!/bin/bash\n{text}\n"))))
    assert 30 <= len(held) < 1_000


def test_functions_are_searched_once_for_all_commands_that_only_a_run_knows(monkeypatch):
    searched = []
    monkeypatch.setattr(calls, "effects", lambda bodies, *given: searched.append(bodies) or effects(bodies, *given))
    text = "a=1\nf() { a=2; }\n" + "$(program) b\n" * 30 + "g() { a=3; }\n" + "$(program) b\n" * 30
    found = evaluate.evaluate(parse(Source("a.run", f"#!/bin/bash\n{text}")))
    assert [len(bodies) for bodies in searched] == [1, 2]
    assert text_of(found.final["a"].value) is None


def test_the_end_of_what_may_be_arithmetic_is_not_looked_for_again_and_again(monkeypatch):
    looks = 0

    class Paired:
        def finditer(self, *arguments, own=words._PAIRED):
            nonlocal looks
            for match in own.finditer(*arguments):
                looks += 1
                yield match

    monkeypatch.setattr(words, "_PAIRED", Paired())
    text = "#!/bin/bash\n" + "export a=$((1 <#\n" * 400 + "))" * 400 + "\n"
    parse(Source("a.run", text))
    assert 0 < looks < 40 * text.count("(") + 40 * text.count(")")


def test_of_a_variable_that_nothing_sets_so_many_uses_are_told(tmp_path):
    path = tmp_path / "a.run"
    text = f"#!/bin/bash\ncat > NAMELIST_atm <<E\n&run_nml\n num_lev = 5\n restart_filename = '{'$a' * 500}'\n/\nE\n"
    path.write_text(text)
    found = [finding for finding in nmlgen.lint([path]).findings if finding.code == "SHL003"]
    assert len(found) == 200


def test_values_that_stand_in_one_line_are_each_looked_at_alone(tmp_path, monkeypatch):
    looks = 0
    own = worlds.Stretch.only_case.fget

    def counted(stretch):
        nonlocal looks
        looks += 1
        return own(stretch)

    monkeypatch.setattr(worlds.Stretch, "only_case", property(counted))
    path, count = tmp_path / "a.run", 100
    path.write_text(f"#!/bin/bash\nlevels=\ncat > NAMELIST_atm <<E\n&run_nml\n{' dtime = $levels' * count}\n/\nE\n")
    nmlgen.lint([path])
    assert count <= looks < 10 * count


def test_a_long_text_that_is_written_again_and_again_is_not_known_in_the_end():
    text = f"#!/bin/bash\na='{'x ' * 50_000}'\ncat > NAMELIST_atm <<E\n" + "$a\n" * 30 + "E\n"
    (world,) = covering_worlds(evaluate.evaluate(parse(Source("a.run", text))))
    written = world.files["NAMELIST_atm"].stretches
    kinds = [stretch.kind for stretch in written if stretch.kind != "literal"]
    assert kinds == ["certain"] * 5 + ["unknown"] * 25


def test_patterns_of_a_case_are_asked_until_too_much_is_left_open(monkeypatch):
    asked = []
    either = Questions.either
    monkeypatch.setattr(Questions, "either", lambda questions, *two: asked.append(two) or either(questions, *two))
    for count, most in ((200, 200), (20_000, 5_000)):
        asked.clear()
        patterns = "|".join(f"h{number}" for number in range(count))
        evaluate.evaluate(parse(Source("a.run", f"#!/bin/bash\ncase $(hostname) in {patterns}) a=1;; esac\n")))
        assert 0 < len(asked) <= most


def test_one_of_many_rivals_is_found_at_once():
    questions = Questions()
    before = [questions.ask(("==", number), rivals="host") for number in range(200)]
    assert [questions.ask(("==", number), rivals="host") for number in range(200)] == before
    assert [len(yes) for (yes, _), _ in before] == [min(number, 50) + 1 for number in range(200)]


def test_of_a_long_list_of_columns_no_more_is_looked_at_than_a_line_has(monkeypatch):
    looked, read = [], columns._ranges

    class Watched(list):
        def __iter__(self):
            for one in super().__iter__():
                looked.append(one)
                yield one

    monkeypatch.setattr(columns, "_ranges", lambda text: Watched(read(text)))
    odd = ",".join(str(number) for number in range(1, 20_000, 2))
    for options, said in (([], "ace\n"), (["--complement"], "bd\n")):
        looked.clear()
        assert run_program("cut", ["-c", odd, *options], "abcde\n" * 10) == (said * 10, 0)
        assert len(looked) <= 10 * 5


def test_a_path_that_no_kernel_takes_is_not_part_of_that_of_each_file():
    text = f"cd {'d/' * 50_000}\n" + "".join(f"cp a b{number}\n" for number in range(500))
    found = evaluate.evaluate(parse(Source("a.run", text)))
    copied = [event for event in found.events if isinstance(event, Copied)]
    assert len(copied) == 500
    assert sum(len(case.text) for event in copied for case in event.path) < 20_000


MANY = "set -- " + "x " * 5_000 + "\n"
WITHIN_ONE_COMMAND = {
    "words of an array": (ELEMENTS, ": {}\n", '"${a[@]}" '),
    "words of a list": (MANY, ": {}\n", '"$@" '),
    "words of a text": ("v='" + "w " * 20_000 + "'\n", ": {}\n", "$v "),
    "an array as a text": (ELEMENTS, 'x="{}"\n', "${a[*]}"),
    "some of an array": (ELEMENTS, 'x="{}"\n', "${a[@]:1:9999}"),
    "an array in a replacement": (ELEMENTS, "x=${{v/b/{}}}\n", "${a[*]}"),
    "words that braces make": ("v=1\n", ": {{1..9999}}{}\n", "$v"),
    "elements that are assigned": (ELEMENTS, "{}\n", "a[1]=x "),
    "elements that are listed": (ELEMENTS, "b=({})\n", '[1]="${a[*]}" '),
    "elements that go": (ELEMENTS, "unset {}\n", "a[1] "),
    "elements in expressions": (ELEMENTS, "let {}\n", "a[1]=1 "),
    "elements that are declared": (ELEMENTS, "typeset {}\n", "a[1]=x "),
}


@rows("what", WITHIN_ONE_COMMAND)
def test_one_command_of_very_many_parts_stops_where_too_much_has_been_looked_at(what, monkeypatch):
    most = 200_000
    monkeypatch.setattr(effort, "_MOST", most)
    beginning, line, part = WITHIN_ONE_COMMAND[what]
    shared = effort.Effort()
    text = f"#!/bin/bash\n{beginning}{line.format(part * 1_900)}:\n"
    found = evaluate.evaluate(parse(Source("a.run", text)), effort=shared)
    assert found.gave_up is not None
    assert shared.spent < 5 * most  # a word more may be thousands


def test_braces_that_come_to_little_cost_what_is_read(monkeypatch):
    monkeypatch.setattr(effort, "_MOST", 100_000)
    word = "{a" * 18 + "a" * 1_900 + ",b}" * 18
    for count, is_too_much in ((5, False), (200, True)):
        text = f"#!/bin/bash\nf() {{ : {word}; }}\n" + "f\n" * count
        assert (evaluate.evaluate(parse(Source("a.run", text))).gave_up is not None) is is_too_much


SEARCHES = {
    "a condition": ("[[ $x =~ a*b ]]\n", "[[ $x =~ " + "|".join(f"a{n}" for n in range(200)) + " ]]\n"),
    "expr": ('y=$(expr "$x" : "a*b")\n', 'y=$(expr "$x" : "a*ab")\n'),
}


@rows("where", SEARCHES)
def test_searches_for_expressions_cost_what_they_may_take(where, monkeypatch):
    monkeypatch.setattr(effort, "_MOST", 100_000)
    for line in SEARCHES[where]:
        for count, is_too_much in ((2, False), (60, True)):
            text = f"#!/bin/bash\nx={'a' * 3_000}\n" + line * count
            assert (evaluate.evaluate(parse(Source("a.run", text))).gave_up is not None) is is_too_much


def test_a_line_too_long_for_an_expression_of_sed_is_touched_by_it():
    for length, is_known in ((100, True), (20_000, False)):
        line = "a" * length
        text = f"#!/bin/bash\ncat >f <<E\n{line}\nE\nsed -i 's/a*b/c/' f\n"
        (world,) = covering_worlds(evaluate.evaluate(parse(Source("a.run", text))))
        assert (world.files["f"].text == line + "\n") is is_known
