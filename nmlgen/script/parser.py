"""Shell script to a syntax tree: bash, ksh and sh, read as one language.

What only one of the shells takes is taken; what none of them takes is a problem. Nothing is ever run. What bash and
ksh take was tried with bash 5.2 and ksh93u+m; `tests/script/test_parser.py` asks them again.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from functools import cached_property
from itertools import takewhile

from nmlgen.namelist.syntax import SyntaxProblem
from nmlgen.script.heredocs import HeredocReader
from nmlgen.script.reading import BLANKS, Failure, SpentError, asks_for_ksh, shell_of
from nmlgen.script.syntax import (
    AndOr,
    ArithmeticCommand,
    ArithmeticFor,
    Array,
    Assignment,
    Background,
    Case,
    CaseItem,
    Command,
    For,
    Function,
    Group,
    Heredoc,
    If,
    Literal,
    Pipeline,
    Redirection,
    Script,
    Sequence,
    Simple,
    Test,
    TestBinary,
    TestExpression,
    TestJoin,
    TestNot,
    TestUnary,
    While,
    Word,
)
from nmlgen.script.templates import without_directives
from nmlgen.source import Source, Text

_LONGEST_CHAIN = 100  # as many `&&` and `||` may join commands or tests

_OF_LINES = 4  # a line that is looked at for a delimiter costs as much as some that are read again

_TAKING_LISTS = frozenset(("let", "eval", "alias"))  # `name=(list)` is one word behind these
_DECLARING = frozenset(("export", "typeset", "local", "declare", "readonly", "integer"))

_THEN = frozenset(("then", "elif", "else", "fi"))
_BRANCH = frozenset(("elif", "else", "fi"))
_FI = frozenset(("fi",))
_DO = frozenset(("do", "done"))
_DONE = frozenset(("done",))
_BRACE = frozenset(("}",))
_PARENTHESIS = frozenset((")",))
_ITEM = frozenset((";;", ";&", ";;&", "esac"))

_NAME = "[A-Za-z_][A-Za-z0-9_]*"
_AFTER = r"(?=[ \t\n;&|<>()]|\\\n|\Z)"  # what ends a word

_PLAIN_WORD = re.compile(r"[ \t]*(?:\\\n[ \t]*)*([^ \t\n|&;<>()$`\\\"'#][^ \t\n|&;<>()$`\\\"']*)(?=[ \t\n;|&]|\Z)")
_BARE_NAME = re.compile(_NAME)
_ASSIGNMENT = re.compile(rf"{_NAME}(?:\[(?:[^\]\[\n]|\[[^\]\[\n]*\])*\])?\+?=")
_ELEMENT = re.compile(r"\[(?:[^\]\[\n]|\[[^\]\[\n]*\])*\]\+?=")
_EQUALS = re.compile(r"\+?=")
_CLOSER = re.compile(rf"\)|;;&?|;&|(?:then|elif|else|fi|do|done|esac|in|\}}|\]\]){_AFTER}")
_COMPOUND = re.compile(rf"(?:if|case|for|select|while|until|function|coproc|\{{|\[\[){_AFTER}|\(")
_NOT = re.compile(r"!(?=[ \t\n;&|<>()]|\Z)")
_PREFIX = re.compile(rf"(?P<not>!)(?=[ \t\n;&|<>()]|\Z)|time{_AFTER}(?:[ \t]+-p{_AFTER})?")
_FUNCTION = re.compile(r"[ \t]*(?:\\\n[ \t]*)*\([ \t]*(?:\\\n[ \t]*)*\)")
_REDIRECTION = re.compile(
    rf"(?P<descriptor>[0-9]+|\{{{_NAME}\}})?(?P<operator><<<|<<-|<<|<>|<&|>\||>>|>&|<(?!\()|>(?!\())|(?P<both>&>>?)"
)
_HEREDOC_OPERATOR = re.compile(r"(?<!<)(?P<descriptor>[0-9]{0,9})(?P<operator><<-?)(?![<=])[ \t]*(?=[A-Za-z_\\\"'])")
_AS_PATTERN = re.compile(r"[ \t]*[)|]")
_GOING_ON = re.compile(r";[ \t]*(?:then|do)(?=[ \t\n]|\Z)")
_UNARY = re.compile(r"-[A-Za-z](?=[ \t\n])")
_BINARY = re.compile(r"(?:==|!=|=~|=|-(?:eq|ne|lt|le|gt|ge|nt|ot|ef))(?=[ \t\n]|\\\n|\Z)|<(?!\()|>(?!\()")
_TEST_END = re.compile(rf"\]\]{_AFTER}")
_REST_OF_LINE = re.compile(r"[^\n]*")
_CARRIAGE_RETURN = re.compile(r"\r\n")
_NUMBER_FOR_PROGRAM = re.compile(r"[ \t]*(?!exit\b|return\b|sleep\b)[\w./+-]+(?:[ \t]+[\w./+:,=-]+)*[ \t]+-?[0-9.]+")
"""A command whose last argument is a number, which most programs read alike with a carriage return behind it."""
_PRINTED = re.compile(r"[ \t]*echo[ \t][^|&;<>`()#\n]*")
"""What is printed, with a carriage return at its end, which nobody sees."""
_FOR_A_SHELL = re.compile(r"^#(?:!|SBATCH|PBS)", re.MULTILINE)
"""What says that a text is a script; one that says nothing may be notes of commands that somebody types."""
_OF_ANY_SHELL = ("crlf", "byte-order-mark", "unterminated-heredoc")
"""What is wrong for zsh, too, which has a grammar of its own: `for f (*.nc) echo $f`."""


def parse(source: Source) -> Script:
    """The syntax tree of a shell script.

    Never raises: what cannot be read is a problem of the script, and reading goes on after it. The time it takes
    grows with the length of the text, and not faster.
    """
    raw = source.text
    text = raw.replace("\\\r\n", " \\\n").replace("\r\n", " \n") if "\r\n" in raw else raw
    if text.startswith("\ufeff"):
        text = f" {text[1:]}"
    text = without_directives(text)
    parser = _Parser(text, raw)
    parser.is_ksh = asks_for_ksh(source) is True
    body = parser.script()
    origin = Text(source)
    left, is_for_zsh = _exit(body, len(text)), shell_of(source) == "zsh"
    problems = tuple(
        SyntaxProblem(found.kind, found.message, origin.span(found.start, found.end), found.expected, found.stops)
        for found in sorted(parser.complaints.values(), key=lambda found: (found.start, found.end))
        if found.start < left and (not is_for_zsh or found.kind in _OF_ANY_SHELL)
    )
    heredocs = sorted(parser.heredocs, key=lambda pair: pair[1].body.start)
    comments = sorted(parser.comments, key=lambda comment: comment.start)
    redirections = tuple(pair[0] for pair in heredocs)
    return Script(source, origin, body, redirections, tuple(comments), problems, is_cut=parser.is_cut)


def _exit(body: Sequence, end: int) -> int:
    """Where a shell leaves the script whatever happens: it reads no line behind that."""
    return next((command.start for command in body.commands if _is_exit(command)), end)


def _is_exit(command: Command) -> bool:
    """Whether a shell reads nothing behind a command, as it ends or becomes another program: `exec tclsh "$0" "$@"`."""
    words = command.words if isinstance(command, Simple) else ()
    first = words[0].literal if words and isinstance(words[0], Word) else None
    return first == "exit" or (first == "exec" and len(words) > 1)


class _Parser(HeredocReader):
    """The reading of commands."""

    def __init__(self, text: str, raw: str) -> None:
        super().__init__(text, raw)
        self.outermost: list[Command] = []
        self.is_cut = False  # whether the rest is not read: there is too much of it

    def script(self) -> Sequence:
        """All commands of a script."""
        try:
            body = self.sequence(frozenset())
        except SpentError:
            self.is_cut = True
            self.pending = []
            body = Sequence(0, self.at, tuple(self.outermost))
        except Failure as failure:  # met while going on behind another one: the rest is not read
            self.report(failure)
            body = Sequence(0, self.end, ())
        self.bodies()
        self.whole_text()
        return body

    def whole_text(self) -> None:
        """Report what is wrong with the characters of the text."""
        if self.raw.startswith("\ufeff"):
            message = "the script starts with a byte order mark, which the shell takes for part of the first word"
            self.complain("byte-order-mark", message, 0, 1, "no byte order mark", stops=False, once=False)
        first, stops = None, False
        for match in _CARRIAGE_RETURN.finditer(self.raw):
            if self.is_word(match.start()):
                first = first or match
                line = self.raw[self.raw.rfind("\n", 0, match.start()) + 1 : match.start()]
                stops = _NUMBER_FOR_PROGRAM.fullmatch(line) is None and _PRINTED.fullmatch(line) is None
            if stops:
                break
        if first:
            stops = stops and _FOR_A_SHELL.search(self.raw) is not None
            message = "the lines end in a carriage return, which the shell takes for part of their last word"
            self.complain("crlf", message, first.start(), first.end(), "a line feed alone", stops=stops, once=False)

    @cached_property
    def passed_over(self) -> list[tuple[int, int]]:
        """Comments, but for the first line, texts between quotes, and the bodies of here-documents, in order."""
        comments = [(comment.start, comment.end) for comment in self.comments if comment.start > 0]
        bodies = [(heredoc.body.start, heredoc.body.end) for _, heredoc in self.heredocs]
        found: list[tuple[int, int]] = []
        for start, end in sorted([*comments, *self.quoted, *bodies]):
            if not found or end > found[-1][1]:  # quotes may stand within others: "$(echo 'a')"
                found.append((start, end))
        return found

    def is_word(self, at: int) -> bool:
        """Whether the shell takes what stands at a place for a part of a command."""
        number = bisect_right(self.passed_over, (at, len(self.raw)))
        return number == 0 or self.passed_over[number - 1][1] < at

    # --- Commands one after another ---

    def sequence(self, ends: frozenset[str]) -> Sequence:
        """Commands up to one of `ends`, or to the end of an outer sequence, which is left unread."""
        self.deeper(self.at)
        self.awaited.append(ends)
        nesting = _, substitutions, _ = self.nesting
        commands: list[Command] = self.outermost if self.depth == 1 else []
        self.skip_lines()
        beginning = self.at
        while self.at < self.end:
            start = self.at
            try:
                closer = _CLOSER.match(self.text, start, self.end)
                if self.is_empty_command(ends, commands):
                    commands.append(Simple(start, self.at, (), (), ()))
                elif closer is None:
                    commands.append(self.separated(self.and_or()))
                elif self.awaits(closer[0]):
                    break
                else:
                    self.stray(closer)
            except Failure as failure:
                if failure.is_unclosed and substitutions:
                    raise
                self.nesting = nesting
                commands += self.recover(failure, start)
            self.skip_lines()
        self.awaited.pop()
        self.depth -= 1
        if not commands:
            return Sequence(beginning, beginning, ())
        return Sequence(commands[0].start, commands[-1].end, tuple(commands))

    def is_empty_command(self, ends: frozenset[str], before: list[Command]) -> bool:
        """Whether a lone `;` stands in a command's place, which ksh takes once, but not in a condition and not in a
        substitution; it is read."""
        if not self.is_ksh or self.character != ";" or self.sees(";;") or self.sees(";&"):
            return False
        is_second = bool(before) and isinstance(before[-1], Simple) and self.text[before[-1].start] == ";"
        if is_second or "then" in ends or "do" in ends or self.substitutions:
            return False
        self.at += 1
        return True

    def separated(self, command: Command) -> Command:
        """A command and what separates it from the next one."""
        self.over(BLANKS)
        character = self.character
        if character == "&" and not self.sees("&>"):
            self.at += 1
            return Background(command.start, self.at, command)
        if character == ";" and not self.sees(";;") and not self.sees(";&"):
            self.at += 1
        elif character not in ("", "\n", "#") and not _CLOSER.match(self.text, self.at, self.end):
            raise self.unexpected('";" or a line end')
        return command

    def awaits(self, closer: str) -> bool:
        """Whether this would end a sequence that the reader is in."""
        return any(closer in ends for ends in self.awaited)

    def stray(self, closer: re.Match[str]) -> None:
        """Skip what closes nothing."""
        message = f'"{closer[0]}" closes nothing'
        self.complain("stray-word", message, closer.start(), closer.end(), "what it closes before it")
        self.at = closer.end()
        self.over(BLANKS)
        if self.character in (";", "&") and not _CLOSER.match(self.text, self.at, self.end):
            self.at += 1

    def recover(self, failure: Failure, start: int) -> list[Command]:
        """Report a failure of the command at `start` and go behind its line.

        Its here-documents are kept, with a command that has nothing else.
        """
        may_return = self.searches > 0 and self.rereadable > 0
        target = failure.start if failure.is_unclosed and may_return else max(self.at, failure.start)
        line_end = self.text.find("\n", target, self.end)
        target = self.end if line_end < 0 else line_end
        if target < self.at:
            self.searches -= 1
            self.rewind(target)
        self.report(failure)
        going_on = _GOING_ON.search(self.text, self.at, target)
        target = going_on.start() + 1 if going_on else target
        read = takewhile(lambda pair: pair[0].start >= start, reversed(self.heredocs))
        waiting = takewhile(lambda pair: pair[0].start >= start, reversed(self.pending))
        redirections = [redirection for redirection, _ in (*read, *waiting)]
        behind = max([self.at, *(redirection.end for redirection in redirections)])
        redirections += self.skipped_heredocs(behind, target)
        self.at = max(self.at, target, behind)  # a delimiter may go on in the next line
        if not redirections:
            return []
        redirections.sort(key=lambda redirection: redirection.start)
        return [Simple(start, self.at, (), (), tuple(redirections))]

    def skipped_heredocs(self, start: int, end: int) -> list[Redirection]:
        """The here-documents that seem to be announced in text that is skipped: their delimiters do come."""
        found: list[Redirection] = []
        for match in _HEREDOC_OPERATOR.finditer(self.text, min(start, end), end):
            self.at = match.end()
            try:
                redirection, heredoc = self.heredoc(match, match.start())
            except Failure:  # no delimiter stands there
                self.at = end
                continue
            self.at = end
            after = self.delimiter_line(heredoc)[1] if self.searches > 0 and self.rereadable > 0 else -1
            if after >= 0:
                self.rereadable -= _OF_LINES * (after - end)
                found.append(redirection)
            else:
                self.searches -= 1
                self.pending.pop()
        return found

    def and_or(self) -> Command:
        """Pipelines joined by `&&` and `||`."""
        left = self.pipeline()
        for _ in range(_LONGEST_CHAIN):
            if not (self.sees("&&") or self.sees("||")):
                return left
            operator = self.text[self.at : self.at + 2]
            self.at += 2
            self.skip_lines()
            right = self.pipeline()
            left = AndOr(left.start, right.end, operator, left, right)
        message = f'more than {_LONGEST_CHAIN} commands are joined by "&&" and "||"'
        raise Failure("too-deep", message, self.at, min(self.at + 1, self.end), "a simpler script")

    def pipeline(self) -> Command:
        """Commands joined by `|`, perhaps negated."""
        start = self.at
        is_negated = False
        has_prefix = False
        if self.character in ("!", "t"):
            while match := _PREFIX.match(self.text, self.at, self.end):
                has_prefix = True
                is_negated ^= match["not"] is not None
                self.at = match.end()
                self.over(BLANKS)
        if has_prefix and self.character in ("", "\n", ";", "&", ")"):
            empty = Simple(self.at, self.at, (), ())
            return Pipeline(start, self.at, (empty,), is_negated) if is_negated else empty
        commands = [self.command()]
        while True:
            self.over(BLANKS)
            if not self.sees("|") or self.sees("||"):
                break
            self.at += 2 if self.sees("|&") else 1
            self.skip_lines()
            commands.append(self.command())
        if len(commands) == 1 and not is_negated:
            return commands[0]
        return Pipeline(start, commands[-1].end, tuple(commands), is_negated)

    def command(self) -> Command:
        """One command."""
        match = _COMPOUND.match(self.text, self.at, self.end)
        if match is None:
            if _NOT.match(self.text, self.at, self.end):
                raise self.unexpected("a command")
            return self.simple()
        word = match[0]
        if word == "function":
            return self.function()
        if word == "coproc":
            return self.coprocess()
        return self.compound(word)

    def compound(self, word: str) -> Command:
        """A command that starts with a reserved word or an opening parenthesis, and its redirections."""
        start = self.at
        self.deeper(start)
        command = _COMPOUNDS[word](self)
        self.depth -= 1
        command.redirections = self.redirections()
        if command.redirections:
            command.end = command.redirections[-1].end
        return command

    # --- Simple commands ---

    def simple(self) -> Command:
        """Assignments, words and redirections; or the definition of a function, which starts like it."""
        start = self.at
        assignments: list[Assignment] = []
        words: list[Word | Assignment] = []
        redirections: list[Redirection] = []
        declares = takes_lists = False
        text, end = self.text, self.end
        while True:
            match = _PLAIN_WORD.match(text, self.at, end)
            if match and not ((declares or not words) and "=" in match[1]):
                self.spend(1)
                at, self.at = match.span(1)
                words.append(Word(at, self.at, (Literal(at, self.at, match[1]),)))
                if len(words) == 1:
                    declares, takes_lists = match[1] in _DECLARING, match[1] in _TAKING_LISTS
                continue
            self.over(BLANKS)
            at = self.at
            character = self.character
            if character in ("", "\n", ";", "|", ")", "#") or (character == "&" and not self.sees("&>")):
                break
            if redirection := self.redirection():
                redirections.append(redirection)
            elif (declares or not words) and _ASSIGNMENT.match(text, at, end):
                (words or assignments).append(self.assignment())
            elif character == "(":
                if len(words) != 1 or assignments or redirections:
                    raise self.unexpected("a word")
                return self.plain_function(start, words[0].end)
            else:
                word = self.word(takes_lists=takes_lists)
                if self.at == at:
                    raise self.unexpected("a word")
                words.append(word)
                declares = declares or (len(words) == 1 and word.literal in _DECLARING)
        if self.at == start:
            raise self.unexpected("a command")
        last = max(row[-1].end for row in (assignments, words, redirections) if row)
        return Simple(start, last, tuple(assignments), tuple(words), tuple(redirections))

    def assignment(self) -> Assignment:
        """`name=value`, whose left side was matched."""
        start = self.at
        name = _BARE_NAME.match(self.text, start, self.end)
        self.at = name.end() if name else start
        subscript = self.subscript() if self.sees("[") else None
        appends = self.sees("+")
        if not self.over(_EQUALS):
            raise self.unexpected('"="')
        value = self.array() if self.sees("(") else self.word()
        return Assignment(start, self.at, name[0] if name else "", value, subscript, appends)

    def array(self) -> Array:
        """`( elements )`."""
        start = self.at
        self.deeper(start)
        self.at += 1
        elements: list[Word | Assignment] = []
        while True:
            self.skip_lines()
            if self.sees(")"):
                break
            if self.at >= self.end:
                raise self.unclosed(start, "(", ")")
            if _ELEMENT.match(self.text, self.at, self.end):
                elements.append(self.assignment())
                continue
            word = self.word()
            if word.start == self.at:
                raise self.unexpected("an element of the array")
            elements.append(word)
        self.at += 1
        self.depth -= 1
        return Array(start, self.at, tuple(elements))

    def redirections(self) -> tuple[Redirection, ...]:
        """The redirections behind a compound command."""
        found: list[Redirection] = []
        while True:
            self.over(BLANKS)
            redirection = self.redirection()
            if redirection is None:
                return tuple(found)
            found.append(redirection)

    def redirection(self) -> Redirection | None:
        """A redirection, if one starts here."""
        match = _REDIRECTION.match(self.text, self.at, self.end)
        if match is None:
            return None
        start = self.at
        self.at = match.end()
        self.over(BLANKS)
        operator = match["operator"] or match["both"]
        if operator in ("<<", "<<-"):
            return self.heredoc(match, start)[0]
        target = self.word()
        if target.start == self.at or self.text[target.start] == "#":
            self.at = target.start
            raise self.unexpected(f'a word behind "{operator}"')
        return Redirection(start, self.at, match["descriptor"] or "", operator, target)

    def heredoc(self, match: re.Match[str], start: int) -> tuple[Redirection, Heredoc]:
        """A here-document, whose operator was read and whose body is still to come."""
        word, heredoc = self.delimiter(match["operator"] == "<<-")
        redirection = Redirection(start, self.at, match["descriptor"] or "", match["operator"], word, heredoc)
        self.pending.append((redirection, heredoc))
        return redirection, heredoc

    # --- Functions and coprocesses ---

    def function(self) -> Function:
        """`function name body`, with or without parentheses."""
        start = self.at
        self.at += len("function")
        self.over(BLANKS)
        name = self.word()
        if name.start == self.at:
            raise self.unexpected("the name of a function")
        return self.function_body(start, self.text[name.start : name.end])

    def plain_function(self, start: int, name_end: int) -> Function:
        """`name() body`, of which the name was read."""
        if not _FUNCTION.match(self.text, self.at, self.end):
            self.at += 1
            self.over(BLANKS)
            raise self.unexpected('")"')
        return self.function_body(start, self.text[start:name_end])

    def function_body(self, start: int, name: str) -> Function:
        """The body of a function, with the parentheses before it."""
        self.over(_FUNCTION)
        self.skip_lines()
        match = _COMPOUND.match(self.text, self.at, self.end)
        if match is None or match[0] not in _COMPOUNDS:
            raise self.unexpected(f'"{{" and the body of "{name}"')
        body = self.compound(match[0])
        return Function(start, body.end, name, body)

    def coprocess(self) -> Background:
        """`coproc [name] command`."""
        start = self.at
        self.deeper(start)
        self.at += len("coproc")
        self.over(BLANKS)
        name = _BARE_NAME.match(self.text, self.at, self.end)
        if name and not _COMPOUND.match(self.text, self.at, self.end):
            at, self.at = self.at, name.end()
            self.over(BLANKS)
            if self.at == name.end() or not _COMPOUND.match(self.text, self.at, self.end):
                self.at = at
        command = self.command()
        self.depth -= 1
        return Background(start, command.end, command)

    # --- Compound commands: each method starts at its first word ---

    def keyword(self, word: str) -> bool:
        """Go behind a reserved word, if it comes next."""
        match = _CLOSER.match(self.text, self.at, self.end)
        if match is None or match[0] != word:
            return False
        self.at = match.end()
        return True

    def commands(self, ends: frozenset[str], opener: int) -> Sequence:
        """Commands up to one of `ends`, of which there must be one."""
        said = len(self.complaints)
        body = self.sequence(ends)
        if not body.commands and self.at < self.end and len(self.complaints) == said:  # else there is one, a broken one
            match = _CLOSER.match(self.text, self.at, self.end)
            if match and match[0] in ends and match.start() != opener:
                message = f'no command stands between "{self.shown(opener)}" and "{match[0]}"'
                self.complain("empty-block", message, match.start(), match.end(), 'a command, such as ":"')
        return body

    def close(self, closer: str, start: int, opener: str) -> None:
        """Go behind what closes a block."""
        if self.keyword(closer):
            return
        shown = self.shown(self.at)
        reason = f'"{shown}" comes first' if self.at < self.end else "the script ends first"
        message = f'"{opener}" is not closed: {reason}'
        self.complain("unclosed-block", message, start, start + len(opener), f'"{closer}"')

    def expect(self, word: str, start: int, opener: str) -> None:
        """Go behind a word that belongs to a block."""
        if not self.keyword(word) and self.at < self.end:
            shown = self.shown(self.at) if not self.sees("\n") else "the line end"
            message = f'"{opener}" has no "{word}" before "{shown}"'
            self.complain("missing-word", message, start, start + len(opener), f'"{word}"')

    def conditional(self) -> If:
        """`if`."""
        start = self.at
        self.at += 2
        branches: list[tuple[Sequence, Sequence]] = []
        opener = start
        while True:
            condition = self.commands(_THEN, opener)
            then = self.at
            self.expect("then", start, "if")
            branches.append((condition, self.commands(_BRANCH, then)))
            opener = self.at
            if not self.keyword("elif"):
                break
        otherwise = self.commands(_FI, opener) if self.keyword("else") else None
        self.close("fi", start, "if")
        return If(start, self.at, tuple(branches), otherwise)

    def loop(self) -> While:
        """`while` or `until`."""
        start = self.at
        word = self.shown(start)
        self.at += 5
        condition = self.commands(_DO, start)
        body = self.loop_body(start, word)
        return While(start, self.at, condition, body, word == "until")

    def loop_body(self, start: int, word: str) -> Sequence:
        """`do commands done`."""
        opener = self.at
        self.expect("do", start, word)
        body = self.commands(_DONE, opener)
        self.close("done", start, word)
        return body

    def counted(self) -> For | ArithmeticFor:
        """`for`."""
        start = self.at
        self.at += 3
        self.over(BLANKS)
        return self.arithmetic_for(start) if self.sees("((") else self.named_loop(start, "for")

    def select(self) -> For:
        """`select`."""
        start = self.at
        self.at += 6
        self.over(BLANKS)
        return self.named_loop(start, "select")

    def named_loop(self, start: int, word: str) -> For:
        """`name [in words] body`."""
        name = self.word()
        if name.start == self.at:
            raise self.unexpected("the name of a variable")
        words: list[Word] | None = None
        self.skip_lines()
        if self.in_follows():
            words = []
            while True:
                self.over(BLANKS)
                at = self.at
                if self.sees("#"):
                    break
                item = self.word()
                if self.at == at:
                    break
                words.append(item)
            if self.character not in ("\n", ";", "#") or self.sees(";;"):
                raise self.unexpected('";" or a line end')
        if self.sees(";"):
            self.at += 1
        self.skip_lines()
        body = self.for_body(start, word)
        shown = self.text[name.start : name.end]
        return For(start, self.at, shown, None if words is None else tuple(words), body, word == "select")

    def in_follows(self) -> bool:
        """Go behind `in`, if it comes next."""
        if self.sees("in") and (self.at + 2 >= self.end or self.text[self.at + 2] in " \t\n;\\"):
            self.at += 2
            return True
        return False

    def for_body(self, start: int, word: str) -> Sequence:
        """`do commands done` or `{ commands }`."""
        match = _COMPOUND.match(self.text, self.at, self.end)
        if match and match[0] == "{":
            opener = self.at
            self.at += 1
            body = self.commands(_BRACE, opener)
            self.close("}", opener, "{")
            return body
        return self.loop_body(start, word)

    def arithmetic_for(self, start: int) -> ArithmeticFor:
        """`((first; condition; step)) body`."""
        opener = self.at
        self.at += 2
        expressions: list[Word] = []
        for stop in ";;)":
            expressions.append(self.expression(f"{stop})", opener, "((", "))"))
            if not self.sees(stop):
                raise self.unexpected(f'"{stop}"')
            self.at += 1
        if not self.sees(")"):
            raise self.unexpected('"))"')
        self.at += 1
        self.over(BLANKS)
        if self.sees(";") and not self.sees(";;"):
            self.at += 1
        self.skip_lines()
        body = self.for_body(start, "for")
        return ArithmeticFor(start, self.at, expressions[0], expressions[1], expressions[2], body)

    def case(self) -> Case:
        """`case`."""
        start = self.at
        self.at += 4
        self.over(BLANKS)
        word = self.word()
        if word.start == self.at:
            raise self.unexpected('a word behind "case"')
        self.skip_lines()
        if not self.in_follows():
            message = f'"case" has no "in" before "{self.shown(self.at)}"'
            self.complain("missing-word", message, start, start + 4, '"in"')
        items: list[CaseItem] = []
        nesting = _, substitutions, _ = self.nesting
        self.skip_lines()
        while self.at < self.end and not self.case_ends():
            at = self.at
            try:
                items.append(self.item())
            except Failure as failure:
                if failure.is_unclosed and substitutions:
                    raise
                self.nesting = nesting
                for recovered in self.recover(failure, at):
                    items.append(CaseItem((), Sequence(recovered.start, recovered.end, (recovered,)), ";;"))
            self.skip_lines()
        self.close("esac", start, "case")
        return Case(start, self.at, word, tuple(items))

    def case_ends(self) -> bool:
        """Whether `esac` or what closes an outer block comes next."""
        match = _CLOSER.match(self.text, self.at, self.end)
        if match is None or match[0] == "esac":
            return match is not None
        return not _AS_PATTERN.match(self.text, match.end(), self.end) and self.awaits(match[0])

    def item(self) -> CaseItem:
        """`patterns) commands terminator`."""
        if self.sees("("):
            self.at += 1
            self.over(BLANKS)
        patterns: list[Word] = []
        while True:
            at = self.at
            pattern = self.word()
            if self.at == at:
                raise self.unexpected("a pattern")
            patterns.append(pattern)
            self.over(BLANKS)
            if not self.sees("|"):
                break
            self.at += 1
            self.over(BLANKS)
        if not self.sees(")"):
            raise self.unexpected('")" behind the pattern')
        self.at += 1
        body = self.sequence(_ITEM)
        terminator = next((word for word in (";;&", ";;", ";&") if self.sees(word)), "")
        self.at += len(terminator)
        return CaseItem(tuple(patterns), body, terminator or ";;")

    def parentheses(self) -> Group | ArithmeticCommand:
        """`( commands )` or `(( expression ))`."""
        start = self.at
        if self.sees("((") and self.is_arithmetic(start):
            self.at += 2
            arithmetic = self.arithmetic(start, "((", "))", False)
            return ArithmeticCommand(start, self.at, arithmetic.expression)
        self.at += 1
        body = self.commands(_PARENTHESIS, start)
        self.close(")", start, "(")
        return Group(start, self.at, body, is_subshell=True)

    def group(self) -> Group:
        """`{ commands; }`."""
        start = self.at
        self.at += 1
        body = self.commands(_BRACE, start)
        self.close("}", start, "{")
        return Group(start, self.at, body, is_subshell=False)

    # --- Tests ---

    def test(self) -> Test:
        """`[[ expression ]]`."""
        start = self.at
        self.at += 2
        expression = self.test_or()
        if not self.over(_TEST_END):
            if self.at >= self.end:
                raise self.unclosed(start, "[[", "]]")
            raise self.unexpected('"&&", "||" or "]]"')
        return Test(start, self.at, expression)

    def test_or(self) -> TestExpression:
        """Tests joined by `||`."""
        left = self.test_and()
        for _ in range(_LONGEST_CHAIN):
            self.skip_lines()
            if not self.sees("||"):
                break
            self.at += 2
            left = TestJoin("||", left, self.test_and())
        return left

    def test_and(self) -> TestExpression:
        """Tests joined by `&&`."""
        left = self.test_one()
        for _ in range(_LONGEST_CHAIN):
            self.skip_lines()
            if not self.sees("&&"):
                break
            self.at += 2
            left = TestJoin("&&", left, self.test_one())
        return left

    def test_one(self) -> TestExpression:
        """One test, perhaps negated or in parentheses."""
        self.skip_lines()
        start = self.at
        self.deeper(start)
        expression = self.test_primary(start)
        self.depth -= 1
        return expression

    def test_primary(self, start: int) -> TestExpression:
        if self.sees("!") and self.text[start + 1 : start + 2] in (" ", "\t", "\n", "("):
            self.at += 1
            return TestNot(self.test_one())
        if self.sees("("):
            self.at += 1
            expression = self.test_or()
            if not self.sees(")"):
                raise self.unexpected('")"')
            self.at += 1
            return expression
        unary = _UNARY.match(self.text, start, self.end)
        if unary:
            self.at = unary.end()
            return TestUnary(unary[0], self.operand())
        left = self.operand()
        self.over(BLANKS)
        binary = _BINARY.match(self.text, self.at, self.end)
        if binary is None:
            return TestUnary("-n", left)
        self.at = binary.end()
        self.over(BLANKS)
        operator = "==" if binary[0] == "=" else binary[0]
        at = self.at
        if _TEST_END.match(self.text, at, self.end):
            raise self.unexpected(f'a word behind "{binary[0]}"')
        right = self.regex() if operator == "=~" else self.pattern() if operator in ("==", "!=") else self.operand()
        if self.at == at:
            raise self.unexpected(f'a word behind "{binary[0]}"')
        return TestBinary(operator, left, right)

    def operand(self) -> Word:
        """An operand of a test."""
        self.over(BLANKS)
        at = self.at
        if _TEST_END.match(self.text, at, self.end):
            raise self.unexpected("a word")
        word = self.word()
        if self.at == at:
            raise self.unexpected("a word")
        return word


_Compound = Group | ArithmeticCommand | If | While | For | ArithmeticFor | Case | Test

_COMPOUNDS: dict[str, Callable[[_Parser], _Compound]] = {
    "if": _Parser.conditional,
    "while": _Parser.loop,
    "until": _Parser.loop,
    "for": _Parser.counted,
    "select": _Parser.select,
    "case": _Parser.case,
    "{": _Parser.group,
    "(": _Parser.parentheses,
    "[[": _Parser.test,
}
