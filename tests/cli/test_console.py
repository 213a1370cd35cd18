"""What all commands share."""

from __future__ import annotations

import io
import sys

from nmlgen.cli import console
from nmlgen.findings import Finding, Severity


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_how_far_it_is_is_told_on_a_terminal_if_it_takes_longer(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    clock = iter(range(100))
    monkeypatch.setattr(console, "monotonic", lambda: next(clock))
    for terminal, told in ((_Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr(sys, "stderr", terminal)
        assert list(console.tracked(range(5))) == [0, 1, 2, 3, 4]
        assert ("reading" in terminal.getvalue(), "/5" in terminal.getvalue()) == (told, told)
        assert list(console.tracked(iter(range(7)), "checking", lambda: 7)) == [0, 1, 2, 3, 4, 5, 6]
        assert ("checking" in terminal.getvalue(), "/7" in terminal.getvalue()) == (told, told)


def test_nothing_is_told_of_what_is_quick(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(console, "monotonic", lambda: 0.0)
    monkeypatch.setattr(sys, "stderr", _Terminal())
    assert list(console.tracked("abc")) == ["a", "b", "c"]
    assert sys.stderr.getvalue() == ""


def test_findings_are_printed_some_at_a_time(capsys, monkeypatch):
    made = []
    own = console.format_findings
    monkeypatch.setattr(console, "_AT_ONCE", 2)
    monkeypatch.setattr(console, "format_findings", lambda *given: made.append(own(*given)) or made[-1])
    findings = [Finding("NML001", "syntax", Severity.ERROR, f"{number}", None) for number in range(5)]
    console.show_findings(findings)
    assert capsys.readouterr().out == own(findings) + "\n"
    assert [text.count("error") for text in made] == [2, 2, 1, 0]
