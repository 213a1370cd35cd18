"""The syntax tree of a shell script: bash, ksh and sh.

Every node knows the stretch of text it was read from: the offsets `start` up to, not including, `end`. A word is a
row of parts, so that what is written and what an expansion brings stay apart, character by character.
"""

from __future__ import annotations

from typing import TypeAlias

from nmlgen.namelist.syntax import SyntaxProblem
from nmlgen.source import Source, Span, Text
from nmlgen.values import define

# --- Words ----------------------------------------------------------------------------------------------------


@define(eq=False)
class Literal:
    """Text that stands for itself: quotes and backslashes are gone. `quoted` text is neither split nor a pattern.

    In the body of a here-document `text` is exactly the source's characters from `start` to `end`.
    """

    start: int
    end: int
    text: str
    quoted: bool = False


@define(eq=False)
class Parameter:
    """`$name`, `${name}`, `${name[subscript]}`, with an operator and its arguments.

    `name` may be a digit or one of `@ * # ? - $ ! _`. `subscript` is the text in brackets as a word: `@` and `*` are
    literals. `is_length` is `${#name}`, `is_indirect` `${!name}`. `operator` is "" or one of `:- - := = :? ? :+ + # ##
    % %% / // /# /% : ^ ^^ , ,, @`; `:` takes an offset and, if there are two arguments, a length. `operator` "!" stands
    for what could not be understood.
    """

    start: int
    end: int
    name: str
    subscript: Word | None = None
    operator: str = ""
    arguments: tuple[Word, ...] = ()
    is_length: bool = False
    is_indirect: bool = False
    quoted: bool = False


@define(eq=False)
class CommandSubstitution:
    """`$(commands)`, backticks, or ksh's `${ commands; }`."""

    start: int
    end: int
    body: Sequence
    quoted: bool = False


@define(eq=False)
class Arithmetic:
    """`$((expression))` or `$[expression]`: the expression is a word, whose expansions come first."""

    start: int
    end: int
    expression: Word
    quoted: bool = False


@define(eq=False)
class ProcessSubstitution:
    """`<(commands)` or `>(commands)`."""

    start: int
    end: int
    body: Sequence


Part: TypeAlias = Literal | Parameter | CommandSubstitution | Arithmetic | ProcessSubstitution


@define(eq=False)
class Word:
    """A word: the parts of it, in order. An empty word has none; `""` has one quoted Literal without text."""

    start: int
    end: int
    parts: tuple[Part, ...] = ()

    @property
    def literal(self) -> str | None:
        """The text, if nothing in it is expanded; None otherwise."""
        texts = [part.text for part in self.parts if isinstance(part, Literal)]
        return "".join(texts) if len(texts) == len(self.parts) else None

    @property
    def is_quoted(self) -> bool:
        """Whether any of it is a quoted literal."""
        return any(isinstance(part, Literal) and part.quoted for part in self.parts)


# --- Redirections ---------------------------------------------------------------------------------------------


@define(eq=False)
class Heredoc:
    """A here-document. `body` holds literals that are the very characters of the source, and the expansions.

    Tabs that `<<-` strips are in none of its parts. `is_terminated` is false where the delimiter never comes:
    the body then goes to the end of the script. `quoted` is true if the delimiter is: nothing is expanded.
    """

    delimiter: str
    quoted: bool
    strips_tabs: bool
    body: Word
    is_terminated: bool


@define(eq=False)
class Redirection:
    """`[descriptor]operator target`, such as `2>&1`. Of `<<` and `<<-` the target is the word of the delimiter."""

    start: int
    end: int
    descriptor: str
    operator: str
    target: Word
    heredoc: Heredoc | None = None


# --- Commands -------------------------------------------------------------------------------------------------


@define(eq=False)
class Array:
    """`( elements )` on the right of an assignment; an element `[subscript]=value` is an Assignment without a name."""

    start: int
    end: int
    elements: tuple[Word | Assignment, ...]


@define(eq=False)
class Assignment:
    """`name=value`, `name[subscript]=value`, `name+=value`. It also stands among the words of `export`, `typeset`,
    `local`, `declare`, `readonly` and `integer`."""

    start: int
    end: int
    name: str
    value: Word | Array
    subscript: Word | None = None
    appends: bool = False


@define(eq=False)
class Simple:
    """A simple command; only assignments behind `export` and its kin are among `words`."""

    start: int
    end: int
    assignments: tuple[Assignment, ...]
    words: tuple[Word | Assignment, ...]
    redirections: tuple[Redirection, ...] = ()


@define(eq=False)
class ArithmeticCommand:
    """`(( expression ))`."""

    start: int
    end: int
    expression: Word
    redirections: tuple[Redirection, ...] = ()


@define(eq=False)
class TestUnary:
    """`-f word` within `[[ ]]`; a word alone has the operator "-n"."""

    operator: str
    operand: Word


@define(eq=False)
class TestBinary:
    """`left == right` and the like within `[[ ]]`; "=" reads "=="."""

    operator: str
    left: Word
    right: Word


@define(eq=False)
class TestNot:
    """`! expression` within `[[ ]]`."""

    operand: TestExpression


@define(eq=False)
class TestJoin:
    """`left && right` or `left || right` within `[[ ]]`."""

    operator: str
    left: TestExpression
    right: TestExpression


TestExpression: TypeAlias = TestUnary | TestBinary | TestNot | TestJoin


@define(eq=False)
class Test:
    """`[[ expression ]]`."""

    start: int
    end: int
    expression: TestExpression
    redirections: tuple[Redirection, ...] = ()


@define(eq=False)
class Group:
    """`{ commands; }`, or `( commands )` if `is_subshell`."""

    start: int
    end: int
    body: Sequence
    is_subshell: bool
    redirections: tuple[Redirection, ...] = ()


@define(eq=False)
class If:
    """`if`: conditions and what follows each, then what follows `else`, if there is one."""

    start: int
    end: int
    branches: tuple[tuple[Sequence, Sequence], ...]
    otherwise: Sequence | None
    redirections: tuple[Redirection, ...] = ()


@define(eq=False)
class CaseItem:
    """One item of `case`: its patterns, its commands and how it ends: `;;`, `;&` or `;;&`."""

    patterns: tuple[Word, ...]
    body: Sequence
    terminator: str


@define(eq=False)
class Case:
    """`case word in items esac`."""

    start: int
    end: int
    word: Word
    items: tuple[CaseItem, ...]
    redirections: tuple[Redirection, ...] = ()


@define(eq=False)
class For:
    """`for name in words`, or `select`; without `in` the words are None."""

    start: int
    end: int
    name: str
    words: tuple[Word, ...] | None
    body: Sequence
    is_select: bool = False
    redirections: tuple[Redirection, ...] = ()


@define(eq=False)
class ArithmeticFor:
    """`for (( first; condition; step ))`; an empty expression is a word without parts."""

    start: int
    end: int
    first: Word
    condition: Word
    step: Word
    body: Sequence
    redirections: tuple[Redirection, ...] = ()


@define(eq=False)
class While:
    """`while condition`, or `until`."""

    start: int
    end: int
    condition: Sequence
    body: Sequence
    is_until: bool
    redirections: tuple[Redirection, ...] = ()


@define(eq=False)
class Function:
    """The definition of a function."""

    start: int
    end: int
    name: str
    body: Command


@define(eq=False)
class Pipeline:
    """`[!] first | second`; of one command only where it is negated."""

    start: int
    end: int
    commands: tuple[Command, ...]
    is_negated: bool


@define(eq=False)
class AndOr:
    """`left && right` or `left || right`."""

    start: int
    end: int
    operator: str
    left: Command
    right: Command


@define(eq=False)
class Background:
    """`command &`."""

    start: int
    end: int
    command: Command


@define(eq=False)
class Sequence:
    """Commands one after another."""

    start: int
    end: int
    commands: tuple[Command, ...]


Command: TypeAlias = (
    Simple
    | ArithmeticCommand
    | Test
    | Group
    | If
    | Case
    | For
    | ArithmeticFor
    | While
    | Function
    | Pipeline
    | AndOr
    | Background
)


@define(eq=False)
class Comment:
    """`# ...` up to the end of the line; the `#!` of the first line is one, too."""

    start: int
    end: int
    text: str


@define(eq=False)
class Script:
    """A script that was read: its commands, its here-documents in the order of their bodies, its comments, and what is
    wrong with its text.

    What cannot be understood is skipped to the end of its line, with a problem that says so; reading goes on there.
    One that `is_cut` has more words and constructs than are read of a script: the rest is not known.
    """

    source: Source
    text: Text
    body: Sequence
    heredocs: tuple[Redirection, ...]
    comments: tuple[Comment, ...]
    problems: tuple[SyntaxProblem, ...]
    is_cut: bool = False

    @property
    def bodies(self) -> list[tuple[int, int]]:
        """Where the texts of its here-documents start and end."""
        return [(item.heredoc.body.start, item.heredoc.body.end) for item in self.heredocs if item.heredoc is not None]

    def span(self, node: Part | Word | Redirection | Assignment | Command | Sequence | Comment) -> Span:
        """Where a node stands."""
        return self.text.span(node.start, node.end)
