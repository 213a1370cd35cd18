"""The state of one pass through a shell script: where it stands, what it waits for, what it complains of."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod

from nmlgen.script.syntax import Comment, Heredoc, Redirection, Sequence
from nmlgen.source import Source, Text
from nmlgen.values import define

# As many constructs may stand within one another. One takes up to ten calls, and Python allows a thousand.
DEEPEST = 60
# As often may something be sought up to the end of the text that is not there: the time would grow with each.
MOST_SEARCHES = 16
# So many times its length may be read again of a text, because what was opened there is never closed.
MOST_READINGS = 16
# So many parts of words and constructs are read of a script.
MOST_PARTS = 200_000
# So many problems are told of a text that is no script.
MOST_COMPLAINTS = 1_000

BLANKS = re.compile(r"[ \t]*(?:\\\n[ \t]*)*")
_BLANKS_AND_LINE_ENDS = re.compile(r"[ \t\n]*(?:\\\n[ \t\n]*)*")
_COMMENT = re.compile(r"#[^\n]*")
_SKIPPED = tuple(" \t\n\\#")
_SHOWN = re.compile(r"[|&;<>()]{1,3}|[^ \t\n|&;<>()]{1,60}|.", re.DOTALL)
_SHELLS = ("bash", "ksh", "ksh93", "mksh", "pdksh", "sh", "dash", "zsh")


def shell_of(source: Source) -> str | None:
    """The shell that the first line asks for; None if it asks for none."""
    first = source.line(1)
    words = re.findall(r"[^\s/]+", first) if first.startswith("#!") else ()
    return next((word for word in words if word in _SHELLS), None)


def asks_for_ksh(source: Source) -> bool | None:
    """Whether the first line asks for ksh; None if it asks for no shell in particular."""
    shell = shell_of(source)
    return None if shell in (None, "sh", "dash", "zsh") else shell != "bash"


_OF_MERGE = re.compile(r"<{7}(?= )|>{7}(?= )")  # of Git


class Failure(Exception):
    """Text that cannot be understood; whoever reads commands catches it, reports it and goes on after it.

    `is_unclosed` tells that a quote or bracket was opened at `start` and never closed: what follows it on the next
    lines may still be read.
    """

    def __init__(
        self, kind: str, message: str, start: int, end: int, expected: str, *, is_unclosed: bool = False
    ) -> None:
        super().__init__(message)
        self.kind, self.message, self.start, self.end, self.expected = kind, message, start, end, expected
        self.is_unclosed = is_unclosed


class SpentError(Exception):
    """The script has more words and constructs than are read of one."""


@define
class Complaint:
    """What is wrong with the text between two offsets; see `SyntaxProblem`."""

    kind: str
    message: str
    start: int
    end: int
    expected: str
    stops: bool


class Reader(ABC):
    """The state of one pass through a script.

    `text` is read from `at` on, up to `end`. `raw` has the same length: the text with its own line ends. The body of
    a here-document is read at the first line end after its operator; until then it is `pending`.
    """

    def __init__(self, text: str, raw: str) -> None:
        self.text = text
        self.raw = raw
        self.origin = Text(Source("", text))
        self.at = 0
        self.end = len(text)
        self.depth = 0
        self.substitutions = 0  # that the reader is in
        self.awaited: list[frozenset[str]] = []  # what may end the sequences that the reader is in
        self.searches = MOST_SEARCHES
        self.rereadable = MOST_READINGS * (len(text) + 100)  # characters
        self.parts = MOST_PARTS  # that may still be read
        self.read_at_run_time = False  # text that the shell looks into only when it comes there
        self.pending: list[tuple[Redirection, Heredoc]] = []
        self.heredocs: list[tuple[Redirection, Heredoc]] = []
        self.comments: list[Comment] = []
        self.has_returns = "\r\n" in raw
        self.quoted: list[tuple[int, int]] = []  # texts between quotes, if there are carriage returns
        self.complaints: dict[tuple[int, int], Complaint] = {}

    @abstractmethod
    def sequence(self, ends: frozenset[str]) -> Sequence:
        """Commands up to one of `ends`, which is left unread."""

    @abstractmethod
    def bodies(self) -> None:
        """Read the bodies of the pending here-documents, which start here."""

    # --- Small steps ---

    def over(self, pattern: re.Pattern[str]) -> bool:
        """Go behind what matches here; tell whether anything does."""
        match = pattern.match(self.text, self.at, self.end)
        if match is None:
            return False
        self.at = match.end()
        return True

    def sees(self, text: str) -> bool:
        """Whether this text comes next."""
        return self.text.startswith(text, self.at, self.end)

    @property
    def character(self) -> str:
        """The next character; empty at the end."""
        return self.text[self.at] if self.at < self.end else ""

    def skip_lines(self) -> None:
        """Go over blanks, comments and line ends, and the bodies of here-documents that follow these."""
        while self.pending or self.character in _SKIPPED:
            if self.pending:
                self.over(BLANKS)
                if self.sees("\n"):
                    self.at += 1
                    self.bodies()
                    continue
            else:
                self.over(_BLANKS_AND_LINE_ENDS)
            if not self.sees("#"):
                return
            start = self.at
            self.over(_COMMENT)
            text = self.raw[start : self.at].rstrip("\r")
            self.comments.append(Comment(start, start + len(text), text))

    def spend(self, parts: int) -> None:
        """Count parts of words and constructs. Raises SpentError where these are more than are read."""
        self.parts -= parts
        if self.parts < 0:
            raise SpentError

    def deeper(self, start: int) -> None:
        """Enter a construct. Raises Failure where too many stand within one another."""
        self.spend(1)
        if self.depth >= DEEPEST:
            message = f'"{self.shown(start)}" stands in more than {DEEPEST} constructs within one another'
            raise Failure("too-deep", message, start, min(start + 1, self.end), "a simpler script")
        self.depth += 1

    # --- What is wrong ---

    def complain(
        self, kind: str, message: str, start: int, end: int, expected: str, *, stops: bool = True, once: bool = True
    ) -> None:
        """Report a problem, but only the first on a line: what follows it there follows from it."""
        if len(self.complaints) >= MOST_COMPLAINTS:
            return
        stops = stops and not self.read_at_run_time
        key = (self.origin.line_start(start), -1 if once else start)
        self.complaints.setdefault(key, Complaint(kind, message, start, end, expected, stops))

    def report(self, failure: Failure) -> None:
        """Report why reading did not go on."""
        mark = _OF_MERGE.match(self.text, self.text.rfind("\n", 0, failure.start) + 1)
        if mark is not None:
            message = f'"{mark[0]}" marks a conflict of a merge that nobody has resolved'
            expected = "one of the two sides, without the lines of marks"
            self.complain("unexpected-text", message, mark.start(), mark.end(), expected)
        self.complain(failure.kind, failure.message, failure.start, failure.end, failure.expected)

    def unexpected(self, expected: str) -> Failure:
        """The failure to find what is expected here."""
        if self.at >= self.end:
            start = max(0, self.end - 1)
            return Failure("unexpected-end", f"the text ends where {expected} should stand", start, self.end, expected)
        if self.sees("\n"):
            message = f"the line ends where {expected} should stand"
            return Failure("unexpected-end", message, self.at, self.at + 1, expected)
        shown = self.shown(self.at)
        message = f'"{shown}" is not expected here'
        return Failure("unexpected-text", message, self.at, self.at + len(shown), expected)

    def unclosed(self, start: int, opener: str, closer: str) -> Failure:
        """The failure to find what closes a quote or bracket."""
        is_quote = opener[-1] in "\"'`"
        message = f"{opener} is not closed" if is_quote else f'"{opener}" is not closed'
        expected = f"a second {closer}" if is_quote else f'"{closer}" at its end'
        return Failure("unclosed-text", message, start, start + len(opener), expected, is_unclosed=True)

    def shown(self, start: int) -> str:
        """The word or operator that stands there."""
        match = _SHOWN.match(self.text, start, self.end)
        return match[0] if match else ""

    @property
    def nesting(self) -> tuple[int, int, int]:
        """How deep the reader is within constructs, to go back to after a failure."""
        return self.depth, self.substitutions, len(self.awaited)

    @nesting.setter
    def nesting(self, value: tuple[int, int, int]) -> None:
        self.depth, self.substitutions, awaited = value
        del self.awaited[awaited:]

    def rewind(self, target: int, known: int = 0) -> None:
        """Go back, and forget what was found behind: it will be read once more.

        The first `known` complaints lie before.
        """
        if target >= self.at:
            return
        self.rereadable -= self.at - target
        while self.comments and self.comments[-1].start >= target:
            self.comments.pop()
        recent = [self.complaints.popitem() for _ in range(len(self.complaints) - known)]
        self.complaints.update((key, found) for key, found in reversed(recent) if found.start < target)
        while self.heredocs and self.heredocs[-1][1].body.start >= target:
            self.pending.insert(0, self.heredocs.pop())
        self.pending = [pair for pair in self.pending if pair[0].start < target]
        self.at = target
