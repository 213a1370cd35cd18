"""What lies in a directory that is removed."""

from __future__ import annotations

from nmlgen.lift import removals
from nmlgen.script.evaluate import evaluate
from nmlgen.script.events import Ran
from nmlgen.script.parser import parse
from nmlgen.script.values import ALWAYS
from nmlgen.source import Source


def test_a_deep_path_is_not_taken_apart():
    class Deep(str):
        cuts = 0

        def __getitem__(self, place):
            Deep.cuts += 1
            return str(self)[place]

    path = Deep("/".join("a" * 1_000))
    made = removals._Made()
    made.add([(path, ())])
    made.remove([("a/b", ()), ("b/a/a/a/a", ())])
    assert made.has((path, ()))
    made.remove([("a/a/a", ())])
    assert not made.has((path, ()))
    assert Deep.cuts <= 8


def test_what_was_made_is_not_gone_through_for_what_goes(monkeypatch):
    looked, is_gone = [], removals._Made._has_gone_above
    monkeypatch.setattr(
        removals._Made, "_has_gone_above", lambda made, *asked: looked.append(asked) or is_gone(made, *asked)
    )
    lines = [f"mkdir {' '.join(f'a{number}' for number in range(500))}"]
    lines += [f"{word} b{number}" for word in ("rmdir", "rm -r", "mv c") for number in range(100)]
    found = evaluate(parse(Source("a.run", "\n".join([*lines, "rm a7"]))))
    programs = [event for event in found.events if isinstance(event, Ran)]
    assert len(list(removals.of_removals(programs, ALWAYS))) == 1
    assert len(looked) == 1
