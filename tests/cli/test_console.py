"""What all commands share."""

from __future__ import annotations

import io
import sys

from nmlgen.cli import console


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
