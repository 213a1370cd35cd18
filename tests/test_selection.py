"""Which rules are asked for."""

from __future__ import annotations

import pytest
from rows import rows

from nmlgen.errors import InputError
from nmlgen.selection import Selection, selectors

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
