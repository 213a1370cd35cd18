"""The #PBS lines of a script, read as qsub of OpenPBS and PBS Pro reads them.

qsub looks at the lines before the first command; a directive may be indented, and a backslash at its end takes the next
line to it. Each directive is a command line of its own: what belongs to no option is refused, a remark behind it, too.
Nothing is expanded. Source: OpenPBS 23.06, `src/cmds/qsub.c`, `src/cmds/qsub_sup.c` and
`src/lib/Libcmds/check_job_script.c`.

Two others say #PBS, too: NQSV of NEC, whose options are others altogether, and Torque, which has more of them and reads
some values otherwise. What is NQSV's is not judged, and what may be Torque's is no error.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator

from nmlgen.findings import Edit, Fix
from nmlgen.namelist.placeholders import has_word_for_number, is_named_template, stands_for_numbers
from nmlgen.namelist.syntax import SyntaxProblem
from nmlgen.schedulers.pbs.values import (
    OF_CHUNKS,
    PbsValueError,
    check_option,
    check_resource,
    is_days,
    resources,
)
from nmlgen.script.options import MOST_WORDS, StaticWord, too_many_words
from nmlgen.script.templates import without_directives
from nmlgen.source import Source, Span, Stretches, Text
from nmlgen.values import evolve, frozen

PREFIX = "#PBS"

_SPACE = " \t\v\f\r"
_LONGEST_SHOWN = 1_000  # characters of a value in which it is pointed at a part
_PLAIN = re.compile(r"[^\s\"'\\]+")
_DIRECTIVE = re.compile(r"[ \t\v\f\r]*#PBS(?=[\s-]|$)")
_LATER = re.compile(r"^[ \t]*#PBS[ \t]+-[A-Za-z][^\n]*", re.MULTILINE)
_LINE = re.compile(r"^[ \t]*#PBS[ \t][^\n]*", re.MULTILINE)
_WITH_VALUE = frozenset("aAcCeJjklmMNopqrRSuvWP")
_ALONE = frozenset("fhIVXzG")
_OF_A_PERSON = frozenset("AeMNoPqu")
"""What one who passes a script on leaves out, and who takes it fills in: project, queue, mail, name, where output
goes."""
_OF_TORQUE = frozenset("bdDEFKLntTwx")
"""Options that Torque has besides."""
_OF_NQSV = re.compile(
    r"(?:^|\s)(?:--(?:ve(?:node|num)\b|use-|numa-|\w+-lhost\b|\w+-job\b)|-T\s*\w|-b\s*\d|-j\s*[oe](?:\s|$)"
    r"|-l\s*\"?(?:elapstim|cputim|cpunum|gpunum|memsz|vmemsz|coresz|filesz|stacksz|datasz|venum|socknum|hbmsz)_?\w*\b)"
)
_OF_TORQUE_JOB = re.compile(r"-l\s*(?:(?!-l)\S)*\b(?:nodes|procs)=")
_FIRST_OPTION = re.compile(r"[ \t]*#PBS[ \t]+-([A-Za-z])")
_NAME_IN_CAPITALS = re.compile(r"[A-Z]+(?:_[A-Z0-9]+)+")
_ASKS = re.compile(r"[-=]")
"""What a directive has: an option, or a resource without one. `#PBS script of mine` is a remark."""
_LEFT_OUT = re.compile(r"^#PBS[ \t][^\n]*=[ \t]*$", re.MULTILINE)
_FORM = re.compile(r"\[[A-Za-z][^][\n]{,99}\]")  # [project code]
_PLACEHOLDER = re.compile(r"[$%@{}`<>]|#\w+#|__\w+?__|\bTODO|\bXX+\b|\.\.\.")


@frozen
class GivenPbsOption:
    """One option of a directive: its letter, the word that it stands in, and its value; None where there is none."""

    letter: str
    word: StaticWord
    value: StaticWord | None = None

    @property
    def is_known(self) -> bool:
        """Whether qsub of OpenPBS has it."""
        return self.letter in _WITH_VALUE or self.letter in _ALONE

    @property
    def is_switch(self) -> bool:
        """Whether it takes no value."""
        return self.letter in _ALONE


@frozen
class PbsDirective:
    """The words behind one #PBS, where all of it stands, and its first and last line."""

    words: tuple[StaticWord, ...]
    span: Span
    unmatched: Span | None
    lines: tuple[int, int]

    def options(self) -> tuple[list[GivenPbsOption], list[StaticWord]]:
        """The options, as getopt reads them, and the words that belong to none."""
        given, strays = list[GivenPbsOption](), list[StaticWord]()
        words = deque(self.words)
        while words:
            word = words.popleft()
            if not word.start.startswith("-") or word.start == "-":
                strays.append(word)
                continue
            switches = set[str]()
            for at, letter in enumerate(word.start[1:], start=1):
                if letter in switches:  # again it says nothing more
                    continue
                if letter in _ALONE:
                    switches.add(letter)
                    given.append(GivenPbsOption(letter, word))
                    continue
                behind = word.start[at + 1 :]
                value = StaticWord(behind, word.span) if behind else None
                is_torques = letter in _OF_TORQUE and words and not words[0].start.startswith("-")
                if value is None and words and (letter in _WITH_VALUE or is_torques):
                    value = words.popleft()
                given.append(GivenPbsOption(letter, word, value))
                break
        return given, strays


def pbs_directives(source: Source) -> tuple[PbsDirective, ...]:
    """The directives before the first command, whoever reads them."""
    return tuple(_Reading(Text(source)).head()[0])


def is_for_nqsv(source: Source) -> bool:
    """Whether the #PBS lines of a script are for NQSV."""
    return any(_OF_NQSV.search(line[0]) for line in _LINE.finditer(source.text))


def read_pbs_directives(source: Source, bodies: Iterable[tuple[int, int]] = ()) -> tuple[SyntaxProblem, ...]:
    """What is wrong with the directives of a script for PBS; nothing where they are for NQSV, or there are none.
    qsub may never see those of a template as they are.

    `bodies` are the stretches of the text that are here-documents.
    """
    if PREFIX not in source.text:
        return ()
    found = tuple(_Reading(Text(source)).problems(Stretches(bodies)))
    left_out = sum(problem.kind == "pbs-wants-value" for problem in found) + len(_LEFT_OUT.findall(source.text))
    is_form = left_out > 1  # which somebody fills in
    is_template = is_named_template(source.name)
    return tuple(
        evolve(one, stops=False) if is_template or (is_form and one.kind == "pbs-wants-value") else one for one in found
    )


class _Reading:
    def __init__(self, text: Text) -> None:
        self.text = text
        self.may_be_torque = self.has_chunks = False
        self.left = MOST_WORDS
        self.beyond: Span | None = None

    def problems(self, bodies: Stretches) -> Iterator[SyntaxProblem]:
        directives, end = self.head()
        written = [directive.span.text for directive in directives]
        if not any(map(_ASKS.search, written)) or is_for_nqsv(self.text.source):
            return
        self.may_be_torque = any(_OF_TORQUE_JOB.search(line) for line in written) or any(
            (match := _FIRST_OPTION.match(line)) is not None and match[1] in _OF_TORQUE for line in written
        )
        self.has_chunks = any("select=" in line for line in written)
        given: dict[str, Span] = {}
        for directive in directives:
            yield from self.of_directive(directive, given)
        if self.beyond is not None:
            yield too_many_words(self.beyond)
        if "select" in given:
            for name in OF_CHUNKS:
                if name in given:
                    message = f"qsub takes no {name} of the whole job beside select"
                    yield _problem("pbs-bad-value", message, given[name], f"select=count:{name}=...")
        yield from self.later(end, bodies)
        at = self.text.text.find("\r\n")
        if at >= 0:
            span = self.text.span(self.text.line_start(at), max(at, self.text.line_start(at) + 1))
            expected = "lines that end in a line feed alone; dos2unix makes them"
            yield _problem("pbs-dos-line-end", "qsub takes no script with DOS line ends", span, expected)

    def head(self) -> tuple[list[PbsDirective], int]:
        """The directives before the first command, and where that begins."""
        text, filled_in = self.text.text, without_directives(self.text.text)
        found: list[PbsDirective] = []
        at = 0
        while at < len(text):
            end = _line_end(text, at)
            directive = _DIRECTIVE.match(text, at, end)
            if directive is not None:
                while end < len(text) and _goes_on(text, end):
                    end = _line_end(text, end + 1)
                found.append(self.directive(directive.end(), end))
            elif text[at] != ":" and filled_in[at:end].lstrip(_SPACE)[:1] not in ("", "#"):
                return found, at
            at = end + 1
        return found, len(text)

    def directive(self, at: int, end: int) -> PbsDirective:
        """The words of a directive from behind #PBS on, as qsub takes them apart."""
        text = self.text.text
        words: list[StaticWord] = []
        line_end = _line_end(text, at)
        whole = self.text.span(at - len(PREFIX), min(end, line_end))
        lines = self.text.position(at)[0], self.text.position(end)[0]
        while at < end:
            if text[at].isspace() or text[at : at + 2] == "\\\n":
                at += 1 if text[at].isspace() else 2
                continue
            if not self.left:
                self.beyond = self.beyond or self.text.span(at, at + 1)
                if words and words[-1].start.startswith("-"):  # its value may be the next one
                    words.pop()
                break
            self.left -= 1
            start, parts = at, []
            line_end = line_end if start <= line_end else _line_end(text, start)
            while at < end and not text[at].isspace():
                if text[at] in "\"'":
                    close = text.find(text[at], at + 1, end)
                    if close < 0:
                        unmatched = self.text.span(at, _line_end(text, at))
                        return PbsDirective(tuple(words), whole, unmatched, lines)
                    parts.append(text[at + 1 : close])
                    at = close + 1
                elif text[at] == "\\":
                    is_joined = text[at + 1 : at + 2] == "\n"
                    parts.append("" if is_joined else text[at + 1 : at + 2])
                    at += 2
                elif (plain := _PLAIN.match(text, at, end)) is not None:
                    parts.append(plain[0])
                    at = plain.end()
            words.append(StaticWord("".join(parts), self.text.span(start, min(at, line_end))))
        return PbsDirective(tuple(words), whole, None, lines)

    def of_directive(self, directive: PbsDirective, given: dict[str, Span]) -> Iterator[SyntaxProblem]:
        """What qsub refuses of one directive, as getopt reads it; `given` gets the resources."""
        if directive.unmatched is not None:
            yield _problem("pbs-stray-word", "the quote is never closed", directive.unmatched, "another quote")
            return
        if _FORM.search(directive.span.text) is not None:
            return
        options, strays = directive.options()
        for option in options:
            if not option.is_known:
                yield self.unknown(option.letter, option.word)
            elif not option.is_switch and option.value is None:
                letter = option.letter
                message, stops = f"-{letter} wants a value", letter not in _OF_A_PERSON
                yield _problem("pbs-wants-value", message, option.word.span, f"-{letter} value", stops=stops)
            elif option.value is not None:
                yield from self.value(option.letter, option.value.start, option.value.span, given)
        if strays and not _PLACEHOLDER.search(directive.span.text):
            message = f'"{strays[0].start}" belongs to no option: qsub refuses the job'
            expected = "options of qsub; a remark stands on a line of its own"
            yield _problem("pbs-stray-word", message, strays[0].span, expected, stops=not self.may_be_torque)

    def unknown(self, letter: str, word: StaticWord) -> SyntaxProblem:
        written = word.start.partition("=")[0] if letter == "-" else f"-{letter}"
        if letter in _OF_TORQUE:
            message = f"qsub of OpenPBS has no option {written}; that of Torque has"
            return _problem("pbs-unknown-option", message, word.span, "an option of qsub", stops=False)
        message = f"qsub has no option {written}: it refuses the job"
        known = " ".join(f"-{name}" for name in sorted(_WITH_VALUE | _ALONE, key=lambda name: (name.lower(), name)))
        return _problem("pbs-unknown-option", message, word.span, f"one of {known}")

    def value(self, letter: str, value: str, span: Span, given: dict[str, Span]) -> Iterator[SyntaxProblem]:
        """What qsub refuses of the value of an option; Torque takes more names."""
        if letter != "l":
            is_torques = (
                letter == "N"
                and value[:1].isalpha()
                and value.isprintable()
                and (self.may_be_torque or "/" not in value)
            )
            for problem in self.checked(f"-{letter}", value, span, lambda: check_option(letter, value)):
                yield evolve(problem, stops=False) if is_torques else problem
            return
        try:
            items = list(resources(value))
        except PbsValueError as error:
            yield _problem("pbs-bad-value", f'qsub refuses -l "{value}"', span, str(error))
            return
        for name, amount in items:
            given[name] = span
            yield from self.resource(name, amount, span)

    def resource(self, name: str, amount: str, span: Span) -> Iterator[SyntaxProblem]:
        """What qsub refuses of a resource; that of Torque takes times with days."""
        is_torques = is_days(amount) and not self.has_chunks
        for problem in self.checked(name, amount, span, lambda: check_resource(name, amount)):
            yield evolve(problem, stops=False) if is_torques else problem

    def checked(self, name: str, value: str, span: Span, check: Callable[[], None]) -> Iterator[SyntaxProblem]:
        if _PLACEHOLDER.search(value):
            if re.search(r"\$[A-Za-z_{(]|`", value) and not name.startswith(("-o", "-e", "-v", "-W", "-M")):
                message = f'{name} "{value}" is not expanded by qsub'
                yield _problem("pbs-not-expanded", message, span, "the text itself", stops=False)
            return
        try:
            check()
        except PbsValueError as error:
            if _NAME_IN_CAPITALS.fullmatch(value):
                return  # EMAIL_WHEN
            is_number = name in ("-J", "-p") or (not name.startswith("-") and name != "place")
            if is_number and stands_for_numbers(value):
                return  # _NODES_, which something puts a number for
            part = value if error.part is None else error.part
            span = _within(span, part)
            if error.meant is not None:
                fix = Fix(f"write {error.meant}", (Edit(span, error.meant),)) if _shown(span) == part else None
                message = f'PBS has no resource "{part}" of its own: if the site has not, either, qsub refuses the job'
                yield _problem("pbs-unknown-resource", message, span, str(error), fix=fix)
                return
            told = f"{name}={value}" if not name.startswith("-") else f"{name} {value}"
            at = f': "{part}"' if part != value else ""
            is_value = part == value or f"={part}" in value
            stops = not (is_number and is_value and has_word_for_number(part))
            yield _problem("pbs-bad-value", f'qsub refuses "{told}"{at}', span, str(error), stops=stops)

    def later(self, end: int, bodies: Stretches) -> Iterator[SyntaxProblem]:
        for match in _LATER.finditer(self.text.text, end):
            if match.start() not in bodies:
                shown = match[0].strip(_SPACE)
                start = match.start() + match[0].index("#")
                line = self.text.position(end)[0]
                message = f'qsub does not read "{shown}": the first command stands at line {line}'
                span = self.text.span(start, start + len(shown))
                yield _problem("pbs-after-command", message, span, "directives before the first command", stops=False)


def _problem(
    kind: str, message: str, span: Span, expected: str, *, stops: bool = True, fix: Fix | None = None
) -> SyntaxProblem:
    return SyntaxProblem(kind, message, span, expected, stops, fix)


def _within(span: Span, part: str) -> Span:
    """Where a part of what a span holds stands, if it is there once."""
    text = _shown(span)
    if text is None or text.count(part) != 1:
        return span
    return span.source.span(span.line, span.column + text.index(part), len(part))


def _shown(span: Span) -> str | None:
    """The text of a span within one line; None of a long one, of whose thousands of parts each may be looked for."""
    if span.line != span.end_line or span.end_column - span.column > _LONGEST_SHOWN:
        return None
    return span.text


def _goes_on(text: str, end: int) -> bool:
    """Whether a backslash takes the next line to the one that ends there."""
    while end and text[end - 1] in _SPACE:
        end -= 1
    return text[end - 1 : end] == "\\"


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end
