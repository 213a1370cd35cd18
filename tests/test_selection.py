"""Which rules are asked for."""

from __future__ import annotations

import pytest
from rows import rows

from nmlgen.errors import InputError
from nmlgen.findings import Finding, Report, Severity
from nmlgen.selection import Selection, selected, selectors
from nmlgen.source import Source

RULES = {"OUT003": "output-three", "OUT031": "output-many", "RST001": "sync-with-restart-procs"}


def chosen(select: str = "", ignore: str = "") -> list[str]:
    selection = Selection(selectors([select], RULES), selectors([ignore], RULES))
    return [code for code in RULES if code in selection]


@rows(
    ("select", "ignore", "expected"),
    [
        ("", "", ["OUT003", "OUT031", "RST001"]),
        ("OUT", "", ["OUT003", "OUT031"]),
        ("out03", "", ["OUT031"]),
        ("RST, output-three", "", ["OUT003", "RST001"]),
        ("", "OUT", ["RST001"]),
        ("OUT003", "OUT", ["OUT003"]),
        ("OUT", "OUT003", ["OUT031"]),
        ("OUT", "OUT", []),
        ("ALL", "RST", ["OUT003", "OUT031"]),
        ("RST", "ALL", ["RST001"]),
        ("", "Sync-With-Restart-Procs", ["OUT003", "OUT031"]),
    ],
)
def test_selection(select, ignore, expected):
    assert chosen(select, ignore) == expected


@pytest.mark.parametrize(("word", "near"), [("RTS001", "RST001"), ("OUTT", "OUT"), ("output-tree", "output-three")])
def test_unknown(word, near):
    with pytest.raises(InputError, match=f'there is no rule "{word}"; did you mean "{near}"'):
        selectors(["OUT", word], RULES)


def test_unknown_and_not_near():
    with pytest.raises(InputError, match=r'^here: there is no rule "zzzzzzz"; nmlgen rules lists them'):
        selectors(["zzzzzzz"], RULES, "here: ")


def test_words_that_stand_twice_are_one():
    assert selectors(["NML001,NML001", "unknown-group", "ALL", "all"], {"NML001": "unknown-group"}) == ("NML001", "")


def test_a_code_is_looked_for_once_in_what_is_asked_for(monkeypatch):
    asked: list[str] = []
    contains = Selection.__contains__
    monkeypatch.setattr(Selection, "__contains__", lambda self, code: asked.append(code) or contains(self, code))
    span = Source("x", "y").span(1, 1)
    found = tuple(
        Finding(code, "name", Severity.ERROR, f"{number}", span) for number in range(9) for code in ("A1", "B1")
    )
    assert selected(Report(found), Selection(("A",))).findings == found[::2]
    assert sorted(asked) == ["A1", "B1"]
