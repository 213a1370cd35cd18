"""The ways that a script may go, found by looking at few of its ends, are those that looking at all would find."""

from __future__ import annotations

import random

from nmlgen.script import worlds
from nmlgen.source import Source


def _settled(events, guard, unlikely):
    """As it is meant, with every end looked at for every event."""
    ends = worlds._given_up(events)
    for event in events:
        more = event.guard - guard
        if not more:
            if isinstance(event, worlds.Ended):
                break
        elif not worlds.contradicts(event.guard, guard):
            refused = more & unlikely
            if not refused and (isinstance(event, worlds.Ended) or any(end - guard <= more for end in ends - {guard})):
                refused = frozenset((max(more, key=abs),))
            guard |= {-answer for answer in refused} if refused else more
    return guard


def _given_up(events):
    found, done = set(), []
    for event in events:
        if not isinstance(event, worlds.Ended):
            done.append(event.guard)
        elif event.guard and not any(event.guard <= guard for guard in done):
            found.add(event.guard)
    return found


def test_few_looks_find_what_all_find():
    pick = random.Random(5)
    place = worlds.Place(Source("a.run", "b"), 0, 1)
    written, ended = worlds.Written((), frozenset(), place, ()), worlds.Ended(frozenset(), place)

    def guard():
        return frozenset(pick.choice((1, -1)) * number for number in pick.sample(range(1, 7), pick.randrange(5)))

    found = 0
    for _ in range(4000):
        events = [pick.choice((written, ended))._replace(guard=guard()) for _ in range(pick.randrange(1, 9))]
        unlikely, start = set(list(guard())[:1]), pick.choice((frozenset(), guard(), events[0].guard))
        assert worlds._given_up(events) == _given_up(events)
        assert worlds._settled(events, start, unlikely) == _settled(events, start, unlikely)
        found += bool(_given_up(events))
    assert found > 1000
