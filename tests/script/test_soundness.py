"""What the evaluation of a script claims, against what real shells write when they run it; and what the scripts of the
corpus say of themselves.

The evaluation takes for granted that the environment sets nothing that a script assigns or gives a default. What a
case's environment sets is therefore told to it by name, not by value: one evaluation holds for all values.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path
from posixpath import normpath

import shells
from rows import rows
from tools import require

from nmlgen.script.evaluate import evaluate
from nmlgen.script.parser import parse
from nmlgen.script.worlds import UNKNOWN, World, worlds
from nmlgen.source import Source


@cache
def possible(script: Path, shell: str | None = None, given: frozenset[str] = frozenset()) -> tuple[World, ...]:
    """The ways a script may go, by the evaluation, where the environment sets the variables `given`.

    The script's first line is made to ask for `shell`, or for none in particular.
    """
    text = re.sub(r"\A#!.*", f"#!/bin/{shell}" if shell else "#", script.read_text(encoding="utf-8"))
    read = parse(Source(script.name, text))
    return worlds(evaluate(read, directory=script.parent, variables=dict.fromkeys(given)))


def possible_in(case: shells.Case, shell: str | None) -> tuple[World, ...]:
    """The ways the script of a case may go, whatever the values of the variables in the case's environment."""
    return possible(case.script, shell, frozenset(name for name, _ in case.environment))


def matches(pattern: str, text: str) -> bool:
    """Whether a text is what the pattern says, where each UNKNOWN stands for any text."""
    first, *rest = pattern.split(UNKNOWN)
    if not rest:
        return text == pattern
    *between, last = rest
    if len(text) < len(first) + len(last) or not (text.startswith(first) and text.endswith(last)):
        return False
    place, end = len(first), len(text) - len(last)
    for piece in between:
        found = text.find(piece, place, end)
        if found < 0:
            return False
        place = found + len(piece)
    return True


def objections(world: World, outcome: shells.Outcome) -> list[str]:
    """What a run did that it would not have done in this world."""
    claimed = {normpath(name): file.text for name, file in world.files.items()}
    found = []
    for name, text in outcome.files.items():
        if name in claimed:
            candidates = [claimed[name]]
        else:
            candidates = [claim for key, claim in claimed.items() if UNKNOWN in key and matches(key, name)]
        if not candidates:
            found.append(f"{name} is not among the files {sorted(claimed)}")
        elif not any(matches(candidate, text) for candidate in candidates):
            claims = " or ".join(candidate.replace(UNKNOWN, "�") for candidate in candidates)
            found.append(f"{name}: the shell wrote\n{text}\nthe evaluation says\n{claims}")
    return found


@rows("script", shells.scripts(), ids=lambda script: script.name, parts=4)
def test_some_world_is_what_the_shell_does_and_what_is_certainly_written_is_there(script, tmp_path):
    """Whether the script says which shell it is for, or leaves that open. All cases write something; bash and ksh
    differ only where the script says so."""
    require("bash", "ksh", *shells.PROGRAMS)
    by_shell: dict[str, list[object]] = {"bash": [], "ksh": []}
    for number, case in enumerate(shells.cases(script)):
        (tmp_path / str(number)).mkdir()
        outcome = shells.run(case, tmp_path / str(number))
        assert outcome.files, case
        by_shell[case.shell].append(outcome.files)
        holds(case, outcome)
    if script.suffix == ".sh" and not shells.header(script, "changes"):
        assert (by_shell["bash"] == by_shell["ksh"]) is not bool(shells.header(script, "differs"))


def holds(case: shells.Case, outcome: shells.Outcome) -> None:
    """What a case's shell did is what the evaluation says."""
    for shell in (case.shell, None):
        against = [objections(world, outcome) for world in possible_in(case, shell)]
        told = [f"{case}, for {shell}:", *min(against, key=len, default=["there is no world"])]
        assert [] in against, "\n".join(told)
    ways = [{normpath(name) for name in way.files if UNKNOWN not in name} for way in possible_in(case, case.shell)]
    removed = {name for line in shells.header(case.script, "removes") for name in line.split()}
    claimed = set.intersection(*ways)  # whichever way it goes
    assert claimed - removed <= set(outcome.files), case


def test_how_much_is_known():
    """Of the expansions that reach a file: how many have one certain text, one of several, or none that is known."""
    counted: Counter[str] = Counter()
    for script in shells.scripts():
        found: dict[object, set[tuple[str, str]]] = defaultdict(set)
        for world in possible(script, shells.cases(script)[0].shell):
            for file in world.files.values():
                for stretch in file.stretches:
                    if stretch.kind != "literal":
                        found[stretch.piece.place[1:]].add((stretch.kind, stretch.text))
        for seen in found.values():
            kinds = {kind for kind, _ in seen}
            counted["unknown" if "unknown" in kinds else "certain" if len(seen) == 1 else "set"] += 1
    assert counted["certain"] / counted.total() >= 0.81, counted
    assert (counted["certain"] + counted["set"]) / counted.total() >= 0.85, counted
