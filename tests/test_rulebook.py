"""What is read of the rules' files is what the rules say once they are loaded."""

from __future__ import annotations

from nmlgen.rulebook import rulebook
from nmlgen.rules import all_rules


def test_every_rule_is_in_the_book_as_it_is():
    read = [(entry.code, entry.name, entry.severity, entry.since, entry.document) for entry in rulebook()]
    assert read == [(rule.code, rule.name, rule.severity, rule.since, rule.document()) for rule in all_rules()]
    assert [entry.summary for entry in rulebook()] == [rule.summary() for rule in all_rules()]
