"""Here-documents of a shell script: what is announced behind `<<` and follows at the next line end."""

from __future__ import annotations

import re

from nmlgen.script.reading import MOST_SEARCHES, Failure
from nmlgen.script.syntax import Heredoc, Literal, Part, Redirection, Word
from nmlgen.script.words import LONE_DOLLAR, WordReader

_DELIMITER = re.compile(
    r"(?P<plain>[^ \t\n|&;<>()\\\"']+)|\\(?P<escaped>[^\n])|\\\n|'(?P<single>[^'\n]*)'|\$?\"(?P<double>[^\"\n]*)\""
)
_IN_BODY = re.compile(rf"(?:[^$`\\]+|\\(?![$`\\\n])|{LONE_DOLLAR})+")
_IN_BODY_LINE = re.compile(rf"(?:[^$`\\\n]+|\\(?![$`\\\n])|{LONE_DOLLAR})*\n?")
_TABS = re.compile(r"\t+")


class HeredocReader(WordReader):
    """The reading of here-documents."""

    def delimiter(self, strips_tabs: bool) -> tuple[Word, Heredoc]:
        """The word behind `<<`, which is not expanded, and the here-document that it announces."""
        start = self.at
        parts: list[Part] = []
        quoted = False
        while match := _DELIMITER.match(self.text, self.at, self.end):
            self.at = match.end()
            kind = match.lastgroup
            if kind is not None:
                is_quoted = kind != "plain"
                quoted = quoted or is_quoted
                parts.append(Literal(*match.span(kind), match[kind], is_quoted))
        if not parts:
            raise self.unexpected("the delimiter of a here-document")
        word = Word(start, self.at, tuple(parts))
        body = Word(self.at, self.at)
        return word, Heredoc(word.literal or "", quoted, strips_tabs, body, is_terminated=False)

    def bodies(self) -> None:
        """Read the bodies of the pending here-documents, which start here."""
        pending, self.pending = self.pending, []
        for redirection, heredoc in pending:
            self.heredocs.append((redirection, heredoc))
            self.body(redirection, heredoc)

    def body(self, redirection: Redirection, heredoc: Heredoc) -> None:
        """Read one body and the line of its delimiter."""
        searches = self.searches
        if not self.read_at_run_time:
            self.searches = MOST_SEARCHES
        stop, after = self.delimiter_line(heredoc)
        if after < 0:
            stop = after = self.end
            heredoc.is_terminated = False
            start, end = redirection.start, redirection.end
            message = f'the here-document "{self.text[start:end]}" goes on to the end of the script'
            expected = f'a line "{heredoc.delimiter}"'
            self.complain("unterminated-heredoc", message, start, end, expected, stops=False, once=False)
        else:
            heredoc.is_terminated = True
        heredoc.body = Word(self.at, stop, self.body_parts(heredoc, stop))
        self.spend(len(heredoc.body.parts))
        self.searches = searches
        self.at = after

    def delimiter_line(self, heredoc: Heredoc) -> tuple[int, int]:
        """Where the line of the delimiter starts and where reading goes on; -1 for both if it never comes."""
        raw, start, end, delimiter = self.raw, self.at, self.end, heredoc.delimiter
        found = raw.find(delimiter, start, end)
        while found >= 0:
            line = raw.rfind("\n", start, found) + 1 or start
            text = line
            if heredoc.strips_tabs:
                tabs = _TABS.match(raw, line, end)
                text = tabs.end() if tabs else line
            is_here = raw.startswith(delimiter, text, end)
            if is_here and (line == start or heredoc.quoted or not self.is_continued(line, start)):
                after = text + len(delimiter)
                if after == end:
                    return line, end
                for line_end in ("\n", "\r\n"):
                    if raw.startswith(line_end, after, end):
                        return line, after + len(line_end)
                if self.substitutions and raw.startswith(")", after, end):
                    return line, after
            behind = raw.find("\n", found, end)
            found = raw.find(delimiter, behind + 1, end) if behind >= 0 else -1
        return -1, -1

    def is_continued(self, line: int, start: int) -> bool:
        """Whether a backslash joins the line that starts there to the one before."""
        at = line - 1
        while at > start and self.raw[at - 1] == "\\":
            at -= 1
        return (line - 1 - at) % 2 == 1

    def body_parts(self, heredoc: Heredoc, stop: int) -> tuple[Part, ...]:
        """The parts of a body, which ends at `stop`."""
        parts: list[Part] = []
        run = _IN_BODY_LINE if heredoc.strips_tabs else _IN_BODY
        outer_end, self.end = self.end, stop
        is_line_start = True
        while self.at < stop:
            if heredoc.strips_tabs and is_line_start:
                self.over(_TABS)
            at = self.at
            if heredoc.quoted:
                line_end = self.raw.find("\n", at, stop) if heredoc.strips_tabs else -1
                self.at = stop if line_end < 0 else line_end + 1
            else:
                self.over(run)
            if self.at > at:
                parts.append(Literal(at, self.at, self.raw[at : self.at], True))
                is_line_start = self.raw[self.at - 1] == "\n"
            elif self.at < stop:
                self.body_special(parts)
                is_line_start = False
        self.end = outer_end
        return tuple(parts)

    def body_special(self, parts: list[Part]) -> None:
        """A backslash or an expansion in the body of a here-document; one that cannot be read is literal text."""
        if self.sees("\\"):
            self.escape(parts, "$`\\")
            return
        at, nesting, known = self.at, self.nesting, len(self.complaints)
        at_run_time, self.read_at_run_time = self.read_at_run_time, True
        try:
            parts.append(self.dollar(True) if self.sees("$") else self.backticks(True))
        except Failure as failure:
            self.rewind(at, known)
            self.report(failure)
            self.nesting = nesting
            # Where too many searches were in vain, the rest of the body is left alone.
            self.searches -= 1
            self.at = at + 1 if self.searches > 0 and self.rereadable > 0 else self.end
            parts.append(Literal(at, self.at, self.raw[at : self.at], True))
        if self.pending:
            self.at, going_on = self.end, self.at
            self.bodies()
            self.at = going_on
        self.read_at_run_time = at_run_time
