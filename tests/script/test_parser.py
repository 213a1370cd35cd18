"""Shell scripts are read as bash and ksh read them, and every node knows where it stands."""

from __future__ import annotations

import random
import subprocess

import attrs
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rows import rows
from tools import PATIENCE, require

from nmlgen.script import syntax, words
from nmlgen.script.heredocs import HeredocReader
from nmlgen.script.parser import parse
from nmlgen.script.reading import MOST_COMPLAINTS, MOST_PARTS, MOST_READINGS, Reader
from nmlgen.script.syntax import (
    AndOr,
    Arithmetic,
    ArithmeticCommand,
    ArithmeticFor,
    Array,
    Assignment,
    Background,
    Case,
    CommandSubstitution,
    For,
    Function,
    Group,
    Heredoc,
    If,
    Literal,
    Parameter,
    Pipeline,
    ProcessSubstitution,
    Simple,
    While,
    Word,
)
from nmlgen.source import Source

SCRIPT = """\
#! /bin/ksh
#SBATCH --nodes=4
set -e
EXPNAME=exp_${start_date%%T*}   # the name
typeset -i nodes=${SLURM_NNODES:-4} ranks
(( ranks = nodes * 128 ))
restart=".false."; [[ -f restart.info ]] && restart=".true."
start=`date -d "\\`cat start\\`" +%F`
steps=( 3600 "7200" [5]=$((2 * 3600)) )
function write_namelist {
  if [ "$1" = atm ]; then
    cat > NAMELIST_$1 << EOF
&run_nml
 num_lev  = ${nlev}
 dtime    = $dtime  ! `echo seconds`
 name     = '\\${unexpanded}'
 modelTimeStep = "${model_time_step:-"PT40S"}"
/
EOF
  fi
}
case ${grid} in
  r2b4 | R02B04) dtime=720 ;;
  *) while read -r line; do dtime=${line##*=}; done < settings ;;
esac
for name in atm oce; do write_namelist $name || exit 1; done
x=$(cat <<-'END'
	$literal
	END
)
sed -e "s/%DATE%/$(date +%Y)/" in.nml | tee out.nml > /dev/null 2>&1 &
wait
"""


def script(text):
    return parse(Source("exp.run", text))


def commands(text):
    found = script(text)
    assert not found.problems, found.problems
    return found.body.commands


def command(text):
    (found,) = commands(text)
    return found


def word(text):
    """The last word of a command."""
    return command(f"echo {text}").words[-1]


def part(text):
    (found,) = word(text).parts
    return found


def plain(found):
    """A word in short: text of literals, quoted ones in angle brackets, expansions as `$name` or by type."""
    return [
        (f"<{piece.text}>" if piece.quoted else piece.text)
        if isinstance(piece, Literal)
        else f"${piece.name}"
        if isinstance(piece, Parameter)
        else type(piece).__name__
        for piece in found.parts
    ]


def literals(row):
    return [found.literal for found in row]


def kinds(text):
    return [problem.kind for problem in script(text).problems]


def nodes_in(value):
    """All that is in a node, and itself, parents first."""
    waiting = [value]
    while waiting:
        found = waiting.pop()
        if isinstance(found, tuple):
            waiting += found
        elif attrs.has(type(found)):
            yield found
            waiting += [getattr(found, field.name) for field in attrs.fields(type(found))]


def check_tree(found):
    """Nodes lie within their parents; literals of here-documents are the characters of the script."""
    text = found.source.text
    waiting = [(found.body, 0, len(text))]
    while waiting:
        value, low, high = waiting.pop()
        if isinstance(value, tuple):
            waiting += [(piece, low, high) for piece in value]
            continue
        if not attrs.has(type(value)):
            continue
        if isinstance(value, Heredoc):
            check_body(value, text)
            low, high = 0, len(text)
        elif hasattr(value, "start"):
            assert low <= value.start <= value.end <= high, (value, low, high)
            low, high = value.start, value.end
        waiting += [(getattr(value, field.name), low, high) for field in attrs.fields(type(value))]
    inside = {id(node) for node in nodes_in(found.body)}
    for redirection in found.heredocs:
        assert id(redirection) in inside
    assert {id(redirection) for redirection in found.heredocs} == {
        id(node) for node in nodes_in(found.body) if getattr(node, "heredoc", None)
    }
    for comment in found.comments:
        assert text.startswith("#", comment.start)


def check_body(heredoc, text):
    at = heredoc.body.start
    for piece in heredoc.body.parts:
        assert at <= piece.start <= piece.end <= heredoc.body.end
        at = piece.end
        if isinstance(piece, Literal):
            assert piece.text == text[piece.start : piece.end]


# --- Words ---


@rows(
    ("text", "expected"),
    [
        ("a", ["a"]),
        ("''", ["<>"]),
        ('""', ["<>"]),
        ("'a b'\"c\"d", ["<a b>", "<c>", "d"]),
        (r"a\ b", ["a", "< >", "b"]),
        ("a\\\nb", ["a", "b"]),
        ('"a$b c"', ["<a>", "$b", "< c>"]),
        (r'"a\"b\$c\d"', ["<a>", '<">', "<b>", "<$>", r"<c\d>"]),
        ("$a${b}$1$@$?", ["$a", "$b", "$1", "$@", "$?"]),
        ("$10", ["$1", "0"]),
        ("$", ["$"]),
        ("a$'b\\n\\x41\\101\\u00e4\\'c'", ["a", "<b\nAAä'c>"]),
        ('$"a"', ["<a>"]),
        ("`a`$(b)$((c))", ["CommandSubstitution", "CommandSubstitution", "Arithmetic"]),
        ("~/a{b,c}*[0-9]?", ["~/a{b,c}*[0-9]?"]),
        ("@(a|b c)", ["@", "(", "a|b c", ")"]),
        ("!(a)*(b(c))", ["!", "(", "a", ")", "*", "(", "b", "(", "c", ")", ")"]),
        ("{{a}}", ["{{a}}"]),
        ("%(a)s", ["%", "(", "a", ")", "s"]),
        ("%{a.b}", ["%{a.b}"]),
        ("__a__", ["__a__"]),
        ("a#b", ["a#b"]),
    ],
)
def test_word(text, expected):
    assert plain(word(text)) == expected


def test_word_knows_what_is_quoted():
    assert word("'a'b").is_quoted
    assert word("'a'b").literal == "ab"
    assert word("$a").literal is None


@rows(
    ("text", "name", "operator", "arguments"),
    [
        ("${a:-b c}", "a", ":-", [["b c"]]),
        ("${a:=$b}", "a", ":=", [["$b"]]),
        ("${a:?}", "a", ":?", [[]]),
        ("${a+'}'}", "a", "+", [["<}>"]]),
        ("${a#*/}", "a", "#", [["*/"]]),
        ("${a##*/}", "a", "##", [["*/"]]),
        ("${a%.nc}", "a", "%", [[".nc"]]),
        ("${a%%_*}", "a", "%%", [["_*"]]),
        ("${a/b/c}", "a", "/", [["b"], ["c"]]),
        ("${a//b}", "a", "//", [["b"]]),
        ("${a//\\//_}", "a", "//", [["</>"], ["_"]]),
        ("${a/#b/}", "a", "/#", [["b"], []]),
        ("${a/%b/c/d}", "a", "/%", [["b"], ["c/d"]]),
        ("${a:1}", "a", ":", [["1"]]),
        ("${a: -2:$n}", "a", ":", [[" -2"], ["$n"]]),
        ("${a^}", "a", "^", []),
        ("${a^^}", "a", "^^", []),
        ("${a,,[A-F]}", "a", ",,", [["[A-F]"]]),
        ("${a@Q}", "a", "@", [["Q"]]),
        ("${@:2}", "@", ":", [["2"]]),
        ("${10:-x}", "10", ":-", [["x"]]),
        ("${a:-${b:-${c}}}", "a", ":-", [["$b"]]),
    ],
)
def test_parameter(text, name, operator, arguments):
    found = part(text)
    assert (found.name, found.operator, [plain(argument) for argument in found.arguments]) == (
        name,
        operator,
        arguments,
    )
    assert not found.quoted


@pytest.mark.parametrize(
    ("text", "name", "subscript", "is_length", "is_indirect"),
    [
        ("${#a}", "a", None, True, False),
        ("${#}", "#", None, False, False),
        ("${#a[@]}", "a", ["@"], True, False),
        ("${a[*]}", "a", ["*"], False, False),
        ("${a[$i+1]}", "a", ["$i", "+1"], False, False),
        ("${a[b[1]]}", "a", ["b", "[", "1", "]"], False, False),
        ("${!a}", "a", None, False, True),
        ("${!}", "!", None, False, False),
        ("${!a[@]}", "a", ["@"], False, True),
    ],
)
def test_parameter_with_marks(text, name, subscript, is_length, is_indirect):
    found = part(text)
    assert found.name == name
    assert (found.subscript and plain(found.subscript)) == subscript
    assert (found.is_length, found.is_indirect, found.operator) == (is_length, is_indirect, "")


def test_quotes_within_a_quoted_parameter():
    (found,) = word('"${a:-\'x\' "y z" \\} \\$}"').parts
    assert found.quoted
    assert plain(found.arguments[0]) == ["<'x' >", "<y z>", "< >", "<}>", "< >", "<$>"]
    (found,) = word("\"${a//\\'/'b'}\"").parts
    assert [plain(argument) for argument in found.arguments] == [["<'>"], ["<b>"]]


def test_quotes_around_a_parameter_do_not_quote_its_pattern():
    (found,) = word("\"${a##*/$b'*'}\"").parts
    assert found.quoted
    (pattern,) = found.arguments
    assert plain(pattern) == ["*/", "$b", "<*>"]
    assert not pattern.parts[1].quoted


def test_parameter_that_no_shell_expands():
    found = script("echo ${a b}")
    assert found.body.commands[0].words[1].parts[0].operator == "!"
    assert [(problem.kind, problem.stops) for problem in found.problems] == [("bad-substitution", False)]
    assert part("${!prefix*}").operator == "!"  # the names that start so
    assert part("${{name}").operator == "!"  # another tool's


def test_command_substitution():
    found = part("$(a | b; c)")
    assert [type(inner) for inner in found.body.commands] == [Pipeline, Simple]
    assert part('"$(a "b")"').quoted
    assert part("$( (a) )").body.commands[0].is_subshell
    assert part("$((a) | (b))").body.commands[0].commands[0].is_subshell
    assert part("$(<file)").body.commands[0].redirections[0].target.literal == "file"
    assert isinstance(part("${ a; }"), CommandSubstitution)
    assert part("$(case x in a) b;; esac)").body.commands[0].items[0].terminator == ";;"
    assert part("$( # a )\n b)").body.commands[0].words[0].literal == "b"


def test_backticks_within_backticks():
    text = r'echo `a \`b "\\\\$c"\` d`'
    (outer,) = command(text).words[1].parts
    inner_word = outer.body.commands[0].words[1]
    assert text[inner_word.start : inner_word.end] == r'`b "\\\\$c"\`'
    inner = inner_word.parts[0].body.commands[0]
    assert plain(inner.words[1]) == ["<$>", "<c>"]
    assert text[inner.words[1].parts[0].start :].startswith("$c")
    assert literals(outer.body.commands[0].words[::2]) == ["a", "d"]
    (quoted,) = word(r'"`a \"b c\"`"').parts
    assert plain(quoted.body.commands[0].words[1]) == ["<b c>"]


def test_here_document_within_backticks():
    text = "x=`cat <<E\na \\$b \\\\ c\nE\n`\n"
    found = script(text)
    assert not found.problems
    check_tree(found)
    assert "".join(text[piece.start : piece.end] for piece in found.heredocs[0].heredoc.body.parts) == "a $b \\ c\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$((a+1))", ["a+1"]),
        ("$(( (a) * ${b} ))", [" (a) * ", "$b", " "]),
        ("$((`a`+$(b)))", ["CommandSubstitution", "+", "CommandSubstitution"]),
        ("$[a[1] + 2]", ["a[1] + 2"]),
        ('$(("a"+$b))', ["a", "+", "$b"]),
        ("$((16#ff << 2))", ["16#ff << 2"]),
        ("$(())", []),
    ],
)
def test_arithmetic(text, expected):
    found = part(text)
    assert isinstance(found, Arithmetic)
    assert plain(found.expression) == expected


def test_process_substitution():
    found = command("diff <(sort a) >(b) > >(c)")
    assert [type(piece.parts[0]) for piece in found.words[1:]] == [ProcessSubstitution] * 2
    assert isinstance(found.redirections[0].target.parts[0], ProcessSubstitution)


# --- Simple commands ---


def test_assignments():
    found = command("a=1 b[i+1]+=$c d= e f=2")
    assert [(one.name, one.appends) for one in found.assignments] == [("a", False), ("b", True), ("d", False)]
    assert plain(found.assignments[1].subscript) == ["i+1"]
    assert found.assignments[2].value.parts == ()
    assert literals(found.words) == ["e", "f=2"]
    assert command("a+=(1)").assignments[0].appends


def test_array():
    found = command("a=(1 'b c' # comment\n [3]=$d [k]=(x) $(e))").assignments[0].value
    assert isinstance(found, Array)
    first, second, third, fourth, fifth = found.elements
    assert (first.literal, second.literal) == ("1", "b c")
    assert (third.name, plain(third.subscript), plain(third.value)) == ("", ["3"], ["$d"])
    assert isinstance(fourth.value, Array)
    assert plain(fifth) == ["CommandSubstitution"]


@pytest.mark.parametrize("declaring", ["export", "typeset", "local", "declare", "readonly", "integer"])
def test_declaration(declaring):
    found = command(f"{declaring} -x a=1 b c=(2)")
    assert [type(one) for one in found.words] == [Word, Word, Assignment, Word, Assignment]
    assert not found.assignments


def test_words_that_only_look_like_assignments():
    found = command("env a=1 make")
    assert literals(found.words) == ["env", "a=1", "make"]
    assert literals(command("a-b=c").words) == ["a-b=c"]
    assert literals(command('let "a = 1" b=(2+3)').words) == ["let", "a = 1", "b=(2+3)"]


@rows(
    ("text", "descriptor", "operator", "target"),
    [
        ("> b", "", ">", "b"),
        (">>b", "", ">>", "b"),
        ("< b", "", "<", "b"),
        ("2>&1", "2", ">&", "1"),
        (">&-", "", ">&", "-"),
        ("3<&0", "3", "<&", "0"),
        (">| b", "", ">|", "b"),
        ("<> b", "", "<>", "b"),
        ("&> b", "", "&>", "b"),
        ("&>>b", "", "&>>", "b"),
        ('<<< "b c"', "", "<<<", "b c"),
        ("{fd}> b", "{fd}", ">", "b"),
    ],
)
def test_redirection(text, descriptor, operator, target):
    (found,) = command(f"a {text} c").redirections
    assert (found.descriptor, found.operator, found.target.literal) == (descriptor, operator, target)


def test_redirections_of_a_compound_command():
    found = command("while read a; do b; done < c 2>&1")
    assert [one.operator for one in found.redirections] == ["<", ">&"]
    assert literals(command("a 22 >b x2>c").words) == ["a", "22", "x2"]


def test_comments():
    found = script("#! /bin/sh\na # b\n  # c\nd#e '#f'\ncase g in # h\nesac")
    assert [comment.text for comment in found.comments] == ["#! /bin/sh", "# b", "# c", "# h"]


# --- Lists and compound commands ---


def test_lists():
    first, second, third = commands("a && b || c; d &\n! e | f")
    assert (type(first), first.operator, first.left.operator) == (AndOr, "||", "&&")
    assert type(second) is Background
    assert (type(third), third.is_negated, len(third.commands)) == (Pipeline, True, 2)
    assert [type(one) for one in commands("time a; ! b; a &&\n b |\n # c\n d")] == [Simple, Pipeline, AndOr]


def test_if():
    found = command("if a; then b; elif c\nthen d; e; else f; fi > g")
    assert isinstance(found, If)
    assert [len(body.commands) for _, body in found.branches] == [1, 2]
    assert found.otherwise.commands[0].words[0].literal == "f"
    assert found.redirections[0].target.literal == "g"
    assert command("if (a) then { b; } fi").otherwise is None


def test_case():
    found = command("case $x in\n (a | 'b') c;;\n d) ;& esac*) e ;;& # f\n if) g\nesac")
    assert isinstance(found, Case)
    assert [literals(item.patterns) for item in found.items] == [["a", "b"], ["d"], ["esac*"], ["if"]]
    assert [item.terminator for item in found.items] == [";;", ";&", ";;&", ";;"]
    assert [len(item.body.commands) for item in found.items] == [1, 0, 1, 1]
    assert command("case x in esac").items == ()


def test_for():
    found = command("for i in a $b 'c d'; do e; done")
    assert isinstance(found, For)
    assert (found.name, [plain(one) for one in found.words]) == ("i", [["a"], ["$b"], ["<c d>"]])
    assert command("for i; do a; done").words is None
    assert command("for i do a; done").words is None
    assert command("for i in; do a; done").words == ()
    assert command("for i in a\n{ b; }").body.commands[0].words[0].literal == "b"
    assert command("select i in a; do b; done").is_select


def test_arithmetic_for():
    found = command("for ((i = 0; i < ${n}; i++)); do a; done")
    assert isinstance(found, ArithmeticFor)
    assert [plain(one) for one in (found.first, found.condition, found.step)] == [
        ["i = 0"],
        [" i < ", "$n"],
        [" i++"],
    ]
    assert command("for ((;;)) { a; }").step.parts == ()


def test_while():
    found = command("while a; b; do c; done")
    assert isinstance(found, While)
    assert (len(found.condition.commands), len(found.body.commands), found.is_until) == (2, 1, False)
    assert command("until a; do b; done").is_until


@pytest.mark.parametrize(
    "text",
    ["f() { a; }", "f ()\n{ a; }", "function f { a; }", "function f() { a; }", "function f\n{ a; }", "f() (a)"],
)
def test_function(text):
    found = command(text)
    assert isinstance(found, Function)
    assert found.name == "f"
    assert isinstance(found.body, Group)
    assert found.body.body.commands[0].words[0].literal == "a"


def test_function_with_another_body():
    assert isinstance(command("write-nml() if a; then b; fi > c").body, If)
    assert isinstance(command("f() [[ a ]]").body, syntax.Test)


def test_groups():
    assert not command("{ a; b; }").is_subshell
    assert command("(a; b)").is_subshell
    assert command("( (a); (b) )").body.commands[1].is_subshell
    assert command("((a); (b))").is_subshell
    assert literals(command("echo { a }").words) == ["echo", "{", "a", "}"]


def test_arithmetic_command():
    found = command("(( a = (b + 1) * $c )) > d")
    assert isinstance(found, ArithmeticCommand)
    assert plain(found.expression) == [" a = (b + 1) * ", "$c", " "]


def test_coprocess():
    assert [type(one) for one in commands("coproc a b\ncoproc c { d; }")] == [Background] * 2


def test_tests():
    found = command('[[ -f $a && ! "$b" = c* || ( d -lt 1 ) ]] 2> e').expression
    assert isinstance(found, syntax.TestJoin)
    assert found.operator == "||"
    assert isinstance(found.left.left, syntax.TestUnary)
    assert found.left.left.operator == "-f"
    negated = found.left.right
    assert isinstance(negated, syntax.TestNot)
    assert isinstance(negated.operand, syntax.TestBinary)
    assert (negated.operand.operator, plain(negated.operand.right)) == ("==", ["c*"])
    assert found.right.operator == "-lt"
    assert command("[[ $a ]]").expression.operator == "-n"
    assert command("[[ a<b &&\n c > d ]]").expression.right.operator == ">"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("=~ ^(a|b)+[[:space:]]*$", "^(a|b)+[[:space:]]*$"),
        ("=~ (a b|c)", "(a b|c)"),
        ("=~ a|b", "a|b"),
        ("== @(a|b)", "@(a|b)"),
        ("== (a|b)", "(a|b)"),
        ("!= *' '*", "* *"),
    ],
)
def test_pattern_of_a_test(text, expected):
    assert command(f"[[ $x {text} ]]").expression.right.literal == expected


# --- Here-documents ---


def heredocs(text):
    found = script(text)
    check_tree(found)
    return [redirection.heredoc for redirection in found.heredocs]


def written(heredoc):
    """The body, with expansions as `<$name>`."""
    return "".join(
        piece.text if isinstance(piece, Literal) else f"<{getattr(piece, 'name', type(piece).__name__)}>"
        for piece in heredoc.body.parts
    )


def test_heredoc_is_expanded():
    (found,) = heredocs("cat > a <<EOF\n\n  &run_nml ! $b \"${c}\" $((d)) `e` 'f'\n \\$g \\\\ \\h \\\n i $ /\nEOF\n")
    assert written(found) == "\n  &run_nml ! <b> \"<c>\" <Arithmetic> <CommandSubstitution> 'f'\n $g \\ \\h  i $ /\n"
    assert (found.delimiter, found.quoted, found.strips_tabs, found.is_terminated) == ("EOF", False, False, True)


@pytest.mark.parametrize("delimiter", ["'EOF'", '"EOF"', "\\EOF", "E'O'F", 'E"OF"'])
def test_quoted_heredoc_is_not_expanded(delimiter):
    (found,) = heredocs(f"cat <<{delimiter}\n$a \\$ `b\nEOF\n")
    assert found.quoted
    assert [piece.text for piece in found.body.parts] == ["$a \\$ `b\n"]


def test_delimiter_is_not_expanded():
    (found,) = heredocs("cat <<$E-1\n$E\n$E-1\n")
    assert found.delimiter == "$E-1"
    assert written(found) == "<E>\n"


def test_tabs_are_stripped():
    text = "cat <<-E\n\t\ta\n\t$b\tc\n\n\t d\n$b\n\tE\n"
    (found,) = heredocs(text)
    assert written(found) == "a\n<b>\tc\n\n d\n<b>\n"
    (found,) = heredocs(text.replace("<<-E", "<<-'E'"))
    assert written(found) == "a\n$b\tc\n\n d\n$b\n"


def test_several_heredocs_on_a_line():
    found = script("cat <<A; cat > b <<'B' <<C && d\n1\nA\n2\nB\n3\nC\ne\n")
    assert [written(one.heredoc) for one in found.heredocs] == ["1\n", "2\n", "3\n"]
    assert [type(one) for one in found.body.commands] == [Simple, AndOr, Simple]
    assert [one.target.literal for one in found.heredocs] == ["A", "B", "C"]


@rows(
    "text",
    [
        "if a; then\n cat <<E\n$b\nE\nfi",
        "f() {\n cat <<E\n$b\nE\n}",
        "for i in a; do cat <<E; done\n$b\nE",
        "case a in\n a) cat <<E ;;\n$b\nE\nesac",
        "x=$(cat <<E\n$b\nE\n)",
        'x="$(cat <<E\n$b\nE\n)"',
        "x=$(cat <<E\n$b\nE)",
        "x=`cat <<E\n$b\nE\n`",
        "cat <<E |\n$b\nE\n sort",
        "(cat <<E)\n$b\nE",
        "cat <<E; echo 'c\n$d\nE'\n$b\nE",
        "cat \\\n <<E \\\n > c\n$b\nE",
    ],
)
def test_heredoc_within(text):
    found = script(text)
    check_tree(found)
    assert not found.problems
    assert [written(one.heredoc) for one in found.heredocs] == ["<b>\n"]


def test_delimiter_line_that_is_continued_is_none():
    (found,) = heredocs("cat <<E\na \\\nE\nE\n")
    assert written(found) == "a E\n"
    (found,) = heredocs("cat <<E\na \\\\\nE\n")
    assert written(found) == "a \\\n"


def test_heredoc_in_a_heredoc():
    found = script("cat <<A\n$(cat <<B\n$b\nB\n) c\nA\nd\n")
    check_tree(found)
    assert [written(one.heredoc) for one in found.heredocs] == ["<CommandSubstitution> c\n", "<b>\n"]
    assert len(found.body.commands) == 2


def test_unterminated_heredoc():
    found = script("a\ncat > b <<EOF\n&c\n/\n EOF\nd")
    (heredoc,) = [redirection.heredoc for redirection in found.heredocs]
    assert not heredoc.is_terminated
    assert written(heredoc) == "&c\n/\n EOF\nd"
    (problem,) = found.problems
    assert problem.kind == "unterminated-heredoc"
    assert (problem.span.line, problem.span.column, problem.span.end_column) == (2, 9, 14)
    assert '"<<EOF"' in problem.message


@pytest.mark.parametrize("broken", ["$(b", "${c", "`d", "$((e", '${f:-"g}'])
def test_broken_expansion_in_a_heredoc_is_text(broken):
    found = script(f"cat <<E\n$a {broken} $g\n$h\nE\ni\n")
    check_tree(found)
    (heredoc,) = [redirection.heredoc for redirection in found.heredocs]
    assert written(heredoc).startswith("<a> ")
    assert written(heredoc).endswith("<g>\n<h>\n")
    assert [problem.stops for problem in found.problems] == [False]
    assert len(found.body.commands) == 2


# --- What is wrong ---


@rows(
    ("text", "kind", "line", "column", "quoted"),
    [
        ("a\nfi\nb", "stray-word", 2, 1, '"fi"'),
        ("a )\nb", "stray-word", 1, 3, '")"'),
        ("a\nif b; then\n c\n", "unclosed-block", 2, 1, '"if"'),
        ("while a\ndo\nb", "unclosed-block", 1, 1, '"while"'),
        ("f() {\n a", "unclosed-block", 1, 5, '"{"'),
        ("(a", "unclosed-block", 1, 1, '"("'),
        ("case a in\n b) c;;\n", "unclosed-block", 1, 1, '"case"'),
        ('a\nb "c\nd', "unclosed-text", 2, 3, '"'),
        ("a 'b\nc", "unclosed-text", 1, 3, "'"),
        ("a $(b\nc", "unclosed-text", 1, 3, '"$("'),
        ("a ${b\nc", "unclosed-text", 1, 3, '"${"'),
        ("a `b\nc", "unclosed-text", 1, 3, "`"),
        ("a $((b\nc", "unclosed-text", 1, 3, '"$(("'),
        ("a=(b\nc", "unclosed-text", 1, 3, '"("'),
        ("a ;; b", "stray-word", 1, 3, '";;"'),
        ("a\n; b", "unexpected-text", 2, 1, '";"'),
        ("a | | b", "unexpected-text", 1, 5, '"|"'),
        ("a &&\n", "unexpected-end", 1, 5, "the text ends"),
        ("a >\n", "unexpected-end", 1, 4, "the line ends"),
        ("a (b)", "unexpected-text", 1, 4, '"b"'),
        ("if a; then fi", "empty-block", 1, 12, '"fi"'),
        ("<<<<<<< HEAD", "unexpected-text", 1, 1, "marks a conflict of a merge"),
        ("while a; done", "missing-word", 1, 1, '"do"'),
        ("case a b) c;; esac", "missing-word", 1, 1, '"in"'),
        ("[[ a b ]]", "unexpected-text", 1, 6, '"b"'),
        ("\ufeffa", "byte-order-mark", 1, 1, "byte order mark"),
    ],
)
def test_problem(text, kind, line, column, quoted):
    found = script(text)
    check_tree(found)
    problem = found.problems[0]
    assert (problem.kind, problem.span.line, problem.span.column) == (kind, line, column)
    assert quoted in problem.message
    assert problem.expected


@rows(
    "broken",
    [
        'echo "b',
        "echo 'b",
        "x=$(date",
        "echo ${b",
        "echo b )",
        "echo (b)",
        "done",
        "b ;; c",
        "a=(1 2",
        "[[ a b ]]",
        "[[ a",
        "cat <<E > )\nd\nE",
        "cat <<E 'b\nd\nE",
        "a ) > b <<E\nd\nE",
        "cat <<E $(date\nd\nE",
        "x=$((1 << bits",
        "cat <<E $(\n) )\nd\nE",
    ],
)
def test_reading_goes_on_in_the_open_block(broken):
    found = script(f"if a; then\n{broken}\n  cat > c <<EOF\n$x\nEOF\nfi\ny\n")
    check_tree(found)
    block, last = found.body.commands
    assert last.words[0].literal == "y"
    ((_, body),) = block.branches
    heredoc = body.commands[-1].redirections[-1].heredoc
    assert written(heredoc) == "<x>\n"
    assert len(found.problems) == 1
    assert found.problems[0].stops


def test_condition_that_cannot_be_read_has_its_body():
    (found,) = script("if [[ a b ]]; then\n c\nfi").body.commands
    assert [(len(condition.commands), len(body.commands)) for condition, body in found.branches] == [(0, 1)]


def test_outer_block_is_closed_where_an_inner_one_is_not():
    found = script("f() {\n if a; then\n  b\n}\nc\n")
    assert [type(one) for one in found.body.commands] == [Function, Simple]
    assert [(problem.kind, problem.span.line) for problem in found.problems] == [("unclosed-block", 2)]
    found = script("case a in\n b) if c; then d ;;\n e) f ;;\nesac\n")
    assert [literals(item.patterns) for item in found.body.commands[0].items] == [["b"], ["e"]]


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("a\nexit 0\n# =#\nf()\n", []),
        ("a\nexit\nif b\n", []),
        ("f()\nexit\n", ["unexpected-text"]),
        ('# \\\nexec tclsh "$0" "$@"\nif [catch { a } ] {\n', []),
        ("exec 3>log\nfi\n", ["stray-word"]),
        ("if a\nthen\n  echo >>> log\nfi\n", ["unexpected-text"]),
        ("a && exit\nfi\n", ["stray-word"]),
        ("(exit)\nfi\n", ["stray-word"]),
    ],
)
def test_no_shell_reads_what_stands_behind_the_exit(text, kinds):
    assert [problem.kind for problem in script(text).problems] == kinds


@rows(("name", "shell", "kinds"), [("g++", "bash", []), ("is?", "bash", []), ("g++", "ksh", ["stray-word"])])
def test_a_function_may_be_called_as_a_pattern_begins(name, shell, kinds):
    found = script(f"#!/bin/{shell}\n{name}() {{\n  a\n}}\nb\n")
    assert [problem.kind for problem in found.problems][:1] == kinds
    if not kinds:
        assert found.body.commands[0].name == name


def test_carriage_returns():
    text = "if a; then\r\n  b=c\r\n  cat <<EOF\r\nd\r\nEOF\r\nfi\r\n"
    found = script(text)
    check_tree(found)
    assert [problem.kind for problem in found.problems] == ["crlf"]
    ((_, body),) = found.body.commands[0].branches
    assert body.commands[0].assignments[0].value.literal == "c"
    assert found.heredocs[0].heredoc.body.parts[0].text == "d\r\n"


@pytest.mark.parametrize(("head", "stops"), [("#!/bin/sh\n", True), ("#PBS -N a\n", True), ("# then I typed\n", False)])
def test_carriage_returns_stop_what_says_that_it_is_a_script(head, stops):
    assert [problem.stops for problem in script(f"{head}cd there\r\n").problems] == [stops]


@rows(
    ("text", "kinds"),
    [
        ("#!/bin/sh\n# one\r\ntrue # two\r\n\t# three\r\n", []),
        ("#!/bin/sh\r\ntrue\n", ["crlf"]),
        ("# one\r\ntrue\r\n", ["crlf"]),
        ("# one\r\n\r\n", ["crlf"]),
        ("cat <<EOF\na\r\nEOF\n", []),
        ("cat <<EOF\na\nEOF\ntrue\r\n", ["crlf"]),
        ("echo $(\n# one\r\ntrue)\n", []),
        ("awk '{\r\nprint }' a\n", []),
        ("awk -v a=1'{\r\nprint }' a\r\n", ["crlf"]),
        ("echo \"$(echo 'a')\r\n$b\"\n", []),
    ],
)
def test_carriage_returns_in_remarks_and_texts_are_none_of_the_shell(text, kinds):
    assert [problem.kind for problem in script(text).problems] == kinds


@rows(
    ("text", "kinds"),
    [
        ("#!/bin/zsh\nfor f (*.nc(N)) echo $f\nif [[ $a ]] { b }\n", []),
        ("#!/usr/bin/env zsh\nb=${(f)a}\nfor f in *(.); do\n", []),
        ("#!/bin/zsh\r\ntrue\n", ["crlf"]),
        ("#!/bin/zsh\ncat <<EOF\n", ["unterminated-heredoc"]),
        ("#!/bin/bash zsh\nfor f (*) true\n", ["missing-word"]),
    ],
)
def test_the_grammar_of_zsh_is_not_judged(text, kinds):
    assert [problem.kind for problem in script(text).problems] == kinds


@rows("opener", ["(", "$(", '"$(', "${a:-", "{ ", "if ", "((", "[[ ! ", "`a\\`", "a=(", "f() ("])
def test_depth_is_bounded(opener):
    found = script(f"{opener * 20_000}\nlast\n")
    assert found.problems or opener.startswith("`")


@pytest.mark.parametrize("link", ["&& a ", "|| a "])
def test_chains_are_bounded(link):
    assert kinds(f"a {link * 500}\n") == ["too-deep"]


# --- Properties ---

PIECES = [
    "a", "b=1", "a[1]=", "=", "$a", "${a", "${a:-", "${a//", "}", "$(", ")", "(", "((", "))", "$((", "$[", "]", "[[ ",
    " ]]", "`", "\\`", '"', "'", "$'", "\\", "\\\n", " ", "\t", "\n", "\r\n", "\r", ";", ";;", ";&", "&", "&&", "|",
    "||", "!", "<", ">", "<<E", "<<-E", "<<'E'", "<<<", "\nE\n", "E", ">&2", "&>", "#", "if ", "then ", "elif ",
    "else ", "fi", "for i in ", "do ", "done", "while ", "case a in ", "b) ", "esac", "f() ", "function f ", "{ ",
    "export ", "let ", "coproc ", "time ", "@(", "=~ ", "== ", "-f ", "*", "\0", "\ufeff", "ä", "\u2028", "{{x}}",
    "%(x)s",
]  # fmt: skip
texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=60).map("".join)


@settings(max_examples=200)
@given(texts)
@example('"$(<<E `\\`<<E\n')
@example("cat <<A $(\n`\nA\n")
@example("${a[")
@example("$(<<E\\\n")
def test_any_text_is_read(text):
    check_tree(script(text))


def test_mutated_scripts_are_read():
    choose = random.Random(4)
    for _ in range(500):
        text = SCRIPT
        for _ in range(choose.randint(1, 4)):
            at = choose.randrange(len(text))
            kind = choose.randrange(4)
            if kind == 0:
                text = text[:at] + text[at + choose.randint(1, 30) :]
            elif kind == 1:
                text = text[:at] + choose.choice(PIECES) + text[at:]
            elif kind == 2:
                other = choose.randrange(len(text))
                text = text[:at] + text[other : other + 80] + text[at:]
            else:
                text = text[: at + 1]
        check_tree(script(text))


def test_script_is_read_whole():
    found = script(SCRIPT)
    assert not found.problems
    check_tree(found)
    assert [comment.text for comment in found.comments] == ["#! /bin/ksh", "#SBATCH --nodes=4", "# the name"]
    assert [redirection.heredoc.delimiter for redirection in found.heredocs] == ["EOF", "END"]


# --- The shells ---

ACCEPTED_BY_BASH = [
    "a b 'c' \"d\" $e",
    "a=1 b=2 c; d=",
    "a[1]=x; a[i+1]+=y; a+=(1 2)",
    "a=(1 2\n 3 # c\n 4)",
    "declare -A m=([a]=1 [b]='x y'); export y=(2)",
    "a && b || c; ! d; ! ! e; time -p f | g; time",
    "a & b & c",
    "a |& b",
    "a &&\n# c\nb",
    "(a; b) > f 2>&1",
    "{ a; b; } > f",
    "if (a) then { b; } fi",
    "if a; then b; elif c; then d; else e; fi",
    "case x in a) b;; (c|d) e;& f) ;;& *) g; esac",
    "case $x\nin\n a | b ) c ;;\nesac",
    "case x in esac",
    "case x in done) a;; if) b;; esac",
    "for i; do a; done; for j do b; done",
    "for i in a b\ndo\n x\ndone",
    "for ((i=0;i<3;i++)); do x; done; for ((;;)) { y; }",
    "for 1x in a; do b; done",
    "select x in a b; do c; done",
    "while a; b; do c; done; until d; do e; done < f",
    "f() { a; }; f-g.h () ( a ); function i { b; }",
    "function f\n{\n a\n}",
    "function f ( a )",
    "f()\n\n{ a; }",
    "f() if a; then b; fi; g() ((a)); h() [[ a ]]",
    "[[ a == b && ! -f c || ( d < e ) ]]",
    "[[ $x =~ ^(a|b)+[[:space:]]*$ && a<b ]]",
    "[[ a\n&& b ]]",
    "[[ $x == @(a|b c)* ]]",
    "(( a = 1 + (2*3) )); ((a)) && b",
    "( (a); (b) ); ((a); (b))",
    "echo $(( (1+2)*3 )) $((a) | (b)) $[ 1 + a[1] ]",
    'echo $(a | b; c) "$(d "e f" )" $( (a) )',
    'echo `a \\`b\\` c` "`d \\"e\\"`" `if`',
    "echo ${a:-b c} ${a:=$b} ${a##*/} ${a%%.*} ${a//b/c} ${a:1:2} ${a^^} ${#a[@]} ${!a} ${a[$i+1]} ${a b}",
    'echo ${a:-${b:-${c:-d}}} "${a:-"x y"}" "${a:-\'}\'}" ${a:-\'}\'} "${a//\\"/x}"',
    'echo $\'a\\nb\\\'c\' $"x" $ "$" $% a$',
    "echo a\\\nb a#b # c",
    "a > b >> c < d 2>&1 >&2 &> e &>> f >| g <> h <<< 'i' {fd}> j 2>&- <&3",
    "a <(b) >(c) > >(d)",
    "cat <<EOF\na $b ${c `d\nEOF\necho",
    "cat <<'E' <<B\na\nE\nb\nB",
    "cat <<-EOF\n\ta\n\tEOF",
    "cat <<EOF | grep x && b\na\nEOF",
    'cat <<EOF; echo "a\nx\nEOF\nb"\ny\nEOF',
    "cat <<EOF\na \\\nEOF\nEOF\n",
    "x=$(cat <<EOF\na ) b\nEOF\n)",
    "cat <<EOF\na",
    "{{x}} {cfg.x} %{x} __x__",
    "ls !(a|b) *(c) ?(d) +(e) @(f|g)",
    "coproc a b; coproc N { a; }",
    "a=$(case x in a) b;; esac)",
    "a=$(# comment )\n b)",
    "{ { a; } }; while a; do (b) done",
    "echo } { a if then fi",
    "let a=(1+2) 'b = 3'",
    "a=(<(b) $(c) `d` *.e)",
    "if\\\n a; then b & fi",
    "a 22>b 2 >c x2>d; >e; >f g=1 h",
    "#!/bin/sh\n\n# a\n",
    "",
]

REFUSED_BY_BASH = [
    "if a; then fi",
    "if a then b; fi",
    "if; then a; fi",
    "if a; then b",
    "if a; then b;; fi",
    "if a; then b; else c; else d; fi",
    "fi",
    "done; a",
    "}",
    "a )",
    "in a",
    "while a; do done",
    "while a; do b; done c",
    "for i in a b do c; done",
    "for; do a; done",
    "case x in a b) c;; esac",
    "case x in a) b",
    "case x of a) b;; esac",
    "f() a",
    "f() { }",
    "f( a",
    "(a",
    "()",
    "{ a }",
    "{a; }",
    "(a) b",
    "a && && b",
    "a | | b",
    "a ;; b",
    "; a",
    "a >",
    "a > > b",
    "a > # b",
    "echo 'a",
    'echo "a',
    "echo `a",
    "echo $(a",
    "echo $(fi)",
    "echo ${a",
    "echo $((a",
    "((a",
    "a=(1 (2))",
    "a=(1; 2)",
    "echo a=(1)",
    "a (b)",
    "a | ! b",
    "cat <<\n",
]

ACCEPTED_BY_KSH = [
    *(f"#!/bin/ksh\n{text}" for text in ("; a", "a; ; b", "if a; then ; b; else ; c; fi", "while a; do ; done")),
    *(f"#!/bin/ksh\n{text}" for text in ("{ ; a; }", "( ; a )", "case a in a) ; b;; esac", "if a; then ;\nb; fi")),
    "echo ${ a; } ${a.b} ${.sh.version}",
    "[[ $x == @(a|b) && -n ${a[1]} ]]",
    "for i in a; { b; }",
    "function f { typeset a=1; integer b=2; }",
    "x=(a=1 b=2)",
    "a=([1]=(2))",
    "a=~(E)b",
    "a=%(x)s",
    "a |&\nb",
    "(( a ? b : c )); a=$((1.5 * 2))",
    "case x in ~(i)a) b;; esac",
    "#!/bin/ksh\ncase $x in {2}(a)) b;; @(c|d){1,3}(e)*) f;; {2,}(g)) h;; esac",
    "#!/bin/ksh\ncase $x in -(a)) b;; -{3}(c)) d;; e*-(f)g) h;; esac",
]

REFUSED_BY_KSH = [
    *(f"#!/bin/ksh\n{text}" for text in ("if ; a; then b; fi", "while ; a; do b; done", "a | ; b")),
    "#!/bin/ksh\nif a; then ; ; b; fi",
    "[[ ]]",
    "[[ a b ]]",
    "[[ -f ]]",
    "[[ a && ]]",
    "[[ a == ]]",
    "[[ ( a ]]",
    "[[ a ) ]]",
    "[[ -f x ]] b",
    "[[ a >= b ]]",
    "[[ a ]]b",
    "if true; then fi",
    "a;;b",
    "{ }",
]


def stopping(text):
    return [problem.message for problem in script(text).problems if problem.stops]


def refusal(shell, text, tmp_path):
    """What a shell says against a script that it only reads; empty if it takes it."""
    require(shell[0])
    path = tmp_path / "script"
    path.write_text(text, encoding="utf-8")
    run = subprocess.run(
        [*shell, "-n", str(path)],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        timeout=PATIENCE,
    )
    return run.stderr or "refused" if run.returncode else ""


@rows("text", ACCEPTED_BY_BASH)
def test_what_bash_takes_has_no_problem(text, tmp_path):
    assert not refusal(["bash", "-O", "extglob"], text, tmp_path)
    assert not stopping(text)
    check_tree(script(text))


@rows("text", REFUSED_BY_BASH)
def test_what_bash_refuses_has_a_problem(text, tmp_path):
    assert refusal(["bash", "-O", "extglob"], text, tmp_path)
    assert stopping(text)
    check_tree(script(text))


@rows("text", ACCEPTED_BY_KSH)
def test_what_ksh_takes_has_no_problem(text, tmp_path):
    assert not refusal(["ksh"], text, tmp_path)
    assert not stopping(text)


@rows("text", REFUSED_BY_KSH)
def test_what_ksh_refuses_has_a_problem(text, tmp_path):
    assert refusal(["ksh"], text, tmp_path)
    assert stopping(text)


def test_an_operator_without_a_delimiter_in_skipped_text():
    script = parse(Source("a", 'c=("${a[@]}" <<"'))
    assert any(problem.stops for problem in script.problems)
    assert script.heredocs == ()


@pytest.mark.parametrize(
    "unit", ["cat <<EOF\n$(", "cat <<-E\n`", "cat <<EOF\n${a:-$(", "$(cat <<EOF\n(", "cat <<A <<B\n$("]
)
def test_what_never_ends_is_not_read_again_and_again(unit, monkeypatch):
    """The work is counted: what is read after each going back."""
    work = 0
    rewind = Reader.rewind

    def counted(self, target, known=0):
        nonlocal work
        work += max(0, self.at - target)
        rewind(self, target, known)

    monkeypatch.setattr(Reader, "rewind", counted)
    parse(Source("script", unit * 40))
    assert work <= 2 * MOST_READINGS * (40 * len(unit) + 100)


@pytest.mark.parametrize(
    ("text", "words"),
    [("echo{}\n", " a"), ("a=({})\n", "x "), ("echo {}\n", "``"), ("echo {}\n", "$(:)"), ("{}", "echo $a\n")],
)
def test_of_a_script_without_end_no_more_is_read(text, words, monkeypatch):
    """So many parts of words and constructs; what was whole before is kept."""
    assert MOST_PARTS == 200_000
    monkeypatch.setattr("nmlgen.script.reading.MOST_PARTS", 1000)
    script = parse(Source("a", "a=1\n" + text.format(words * 1001)))
    assert script.is_cut
    assert not script.problems
    assert script.body.commands[0].assignments
    assert not parse(Source("a", "a=1\n" + text.format(words * 200))).is_cut


def test_parts_of_one_word_count(monkeypatch):
    monkeypatch.setattr("nmlgen.script.reading.MOST_PARTS", 1000)
    for word in ("echo {}", 'echo "{}"', "echo x << E\n{}\nE"):
        assert not parse(Source("a", word.format("$a" * 900))).is_cut
        assert parse(Source("a", word.format("$a" * 1001))).is_cut


@pytest.mark.parametrize("text", ["$'", "$ ", "$.", "$%", "$\n"])
def test_a_dollar_sign_that_starts_nothing_is_no_part_of_its_own(text):
    (command,) = parse(Source("a", f'cat "{text * 50}$" << E\n{text * 50}\nE\n')).body.commands
    for word in (command.words[1], command.redirections[0].heredoc.body):
        assert len(word.parts) == 1


@pytest.mark.parametrize("text", ["$a", "${a}", "$1", "$@", "$#", "$?", "$$", "$!", "$-", "$(a)", "$((1))", "$[1]"])
def test_a_dollar_sign_that_starts_something_does_not_belong_to_the_text_before(text):
    (command,) = parse(Source("a", f'cat "a$.{text}" << E\na$.{text}\nE\n')).body.commands
    for word in (command.words[1], command.redirections[0].heredoc.body):
        first, second, *_ = word.parts
        assert first.text == "a$."
        assert not isinstance(second, Literal)


@pytest.mark.parametrize("line", [")\n", "a=`)`\n"])
def test_not_all_problems_are_told_of_what_is_no_script(line):
    assert len(parse(Source("a", line * (MOST_COMPLAINTS + 9))).problems) == MOST_COMPLAINTS


def test_delimiters_of_text_that_is_skipped_are_not_sought_again_and_again(monkeypatch):
    looks = []
    own = HeredocReader.delimiter_line
    monkeypatch.setattr(HeredocReader, "delimiter_line", lambda self, heredoc: looks.append(1) or own(self, heredoc))
    parse(Source("a.run", f"x ( {'<<a ' * 300}\n{'b' * 2_000}\na\n"))
    assert len(looks) < 350
    few = parse(Source("a.run", "x ( <<a <<b\n1\na\n2\nb\n"))
    assert [item.heredoc.is_terminated for item in few.heredocs] == [True, True]


class Looked(str):
    """A text that counts how often somebody looks at a character of it."""

    looks = 0

    def __getitem__(self, place):
        Looked.looks += 1
        return super().__getitem__(place)


def test_lines_of_tabs_are_looked_at_once_for_a_delimiter(monkeypatch):
    monkeypatch.setattr(Looked, "looks", 0)
    for text, is_terminated in (("\t" * 500 + "x", False), ("\t\tE", True), ("\t E", False)):
        delimiter = "E" if "E" in text else "'\t'"
        (item,) = parse(Source("a.run", Looked(f"cat <<-{delimiter}\n{text}\n"))).heredocs
        assert item.heredoc.is_terminated is is_terminated
    assert 0 < Looked.looks < 100


def test_how_often_a_pattern_comes_is_sought_right_before_it(monkeypatch):
    looked = 0

    class Repeated:
        def search(self, text, start, end, own=words._REPEATED):
            nonlocal looked
            looked += end - start
            return own.search(text, start, end)

    monkeypatch.setattr(words, "_REPEATED", Repeated())
    count = 300
    script = parse(Source("a.run", f"#!/bin/ksh\necho {'{2}(x)' * count}\n"))
    assert not script.problems
    assert len(script.body.commands[0].words) == 2
    assert 0 < looked < 100 * count


def test_here_documents_before_what_is_skipped_are_kept():
    text = "#!/bin/bash\n: <<a <<b; x ( ; do x ( <<c ; do y\n1\na\n2\nb\n3\nc\nz\n"
    found = [(item.heredoc.delimiter, item.heredoc.is_terminated) for item in parse(Source("a.run", text)).heredocs]
    assert found == [("a", True), ("b", True), ("c", True)]
