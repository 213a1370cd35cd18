"""The ways that a script may go, found by looking at few of its ends, are those that looking at all would find."""

from __future__ import annotations

import random
from pathlib import PurePosixPath

import pytest
from rows import rows

from nmlgen.script import worlds
from nmlgen.script.evaluate import Evaluation, evaluate
from nmlgen.script.parser import parse
from nmlgen.source import UNKNOWN, Source


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


def _reached(events, unlikely):
    """As it is meant, with every end before an event looked at for it."""
    ends = []
    for event in events:
        guard = set(event.guard)
        for end in ends:
            if end <= guard:
                break
            if not worlds.contradicts(end, frozenset(guard)):
                guard.add(-max(end - guard, key=abs))
        else:
            if not isinstance(event, worlds.Ended) and unlikely.isdisjoint(guard):
                yield event, guard
        if isinstance(event, worlds.Ended):
            ends.append(event.guard)


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
        given_up = worlds._given_up(events)
        assert worlds._settled(events, start, unlikely, given_up) == _settled(events, start, unlikely)
        assert list(worlds._reached(events, unlikely)) == list(_reached(events, unlikely))
        found += bool(_given_up(events))
    assert found > 1000


FILES = """echo 1 > a
echo 2 > b
mkdir x
echo 3 > x/f
printf '1\\n2\\n3\\n' > m
"""
BEFORE = {"a": "1\n", "b": "2\n", "x/f": "3\n", "m": "1\n2\n3\n"}


def evaluated(text: str) -> Evaluation:
    return evaluate(parse(Source("script", f"#!/bin/bash\n{text}\n")))


def files_of(text: str) -> dict[str, str]:
    """The files of the first way, where nothing goes wrong."""
    return {name: file.text for name, file in worlds.covering_worlds(evaluated(text))[0].files.items()}


@rows(
    ("commands", "changed"),
    [
        ("cp a d/", {"d/a": "1\n"}),
        ("cp a d", {"d": "1\n"}),
        ("mkdir d; cp a d", {"d/a": "1\n"}),
        ("mkdir -p d/; cp a d", {"d/a": "1\n"}),
        ("mkdir d; mv a d", {"a": None, "d/a": "1\n"}),
        ("cp x/f .", {"f": "3\n"}),
        ("cp x/f ./", {"f": "3\n"}),
        ("cp x/f a ./", {"f": "3\n"}),
        ("cp x/f a .", {"f": "3\n"}),
        ("cp x/f a /", {"/f": "3\n", "/a": "1\n"}),
        ("mkdir y; cd y; cp ../x/f ./", {"y/f": "3\n"}),
        ("cp a .", {}),
        ("cp a a", {}),
        ("mv a a", {}),
        ("cp a x", {"x/a": "1\n"}),
        ("cp a b x", {"x/a": "1\n", "x/b": "2\n"}),
        ("cp b ./c", {"c": "2\n"}),
        ("cp -r x y", {"y/f": "3\n"}),
        ("mkdir y; cp -r x y", {"y/x/f": "3\n"}),
        ("mv x y", {"x/f": None, "y/f": "3\n"}),
        ("mkdir y; mv x y", {"x/f": None, "y/x/f": "3\n"}),
        ("cp -r x y; cp a y", {"y/f": "3\n", "y/a": "1\n"}),  # which is a directory by then
        ("cp z q", {}),
        ("cp z b", {"b": UNKNOWN}),
        ("mv z b", {"b": UNKNOWN}),
        ("cat $u >> b", {"b": f"2\n{UNKNOWN}"}),
        ("ln -s a l", {"l": "1\n"}),
        ("rm a", {"a": None}),
        ("rm ./a", {"a": None}),
        ("rm -r x", {"x/f": None}),
        ("rm -rf x; cp a x", {"x/f": None, "x": "1\n"}),
        ("rm x/*", {"x/f": None}),
        ("rm -f *", {"a": None, "b": None, "m": None}),
        ("rm [ab]", {"a": None, "b": None}),
        ("rm x*", {}),
        ("cp a ä; rm [ab]", {"a": None, "b": None}),  # nobody knows whether that is a letter to the locale
        ("mv a b; rm b", {"a": None, "b": None}),
        ("sed -i s/1/9/ a", {"a": f"{UNKNOWN}\n"}),
        ("sed -i s/7/9/ a", {}),
        ("sed -i s/1/9/ m", {"m": f"{UNKNOWN}\n2\n3\n"}),
        ("sed -i 's/2/x/;s/3/y/g' m", {"m": f"1\n{UNKNOWN}\n{UNKNOWN}\n"}),
        ("sed -i -e /2/d m", {"m": UNKNOWN}),
        ('sed -i "s/$u/1/" m', {"m": UNKNOWN}),
        ("printf 12 > m; sed -i s/2// m", {"m": UNKNOWN}),
        ("echo 1 > m; program >> m; sed -i s/7// m", {"m": f"1\n{UNKNOWN}"}),
    ],
)
def test_files_are_copied_moved_removed_and_edited(commands: str, changed: dict[str, str | None]) -> None:
    after = {name: text for name, text in {**BEFORE, **changed}.items() if text is not None}
    assert files_of(FILES + commands) == after


def written(text: str) -> worlds.WrittenFile:
    (way, *_) = worlds.covering_worlds(evaluated(text))
    (file,) = way.files.values()
    return file


TEXT = """first=55
cat > N <<EOF
ab$first cd
${first}e$(program)
EOF
"""


def test_every_place_of_a_file_is_one_of_the_script() -> None:
    """Characters that the script has itself stand where they stand there, those of an expansion at all of it."""
    file = written(TEXT)
    script = file.script.text
    origin = file.origin
    assert file.text == f"ab55 cd\n55e{UNKNOWN}\n"
    begin = script.index("ab$first")
    own = {0: begin, 1: begin + 1, 4: begin + 8, 5: begin + 9, 6: begin + 10, 7: begin + 11}
    second = script.index("${first}e")
    own |= {10: second + 8, 12: script.index("$(program)") + 10}
    expansions = {2: "$first", 3: "$first", 8: "${first}", 9: "${first}", 11: "$(program)"}
    spans = {place: (at, at + 1) for place, at in own.items()}
    for place, word in expansions.items():
        at = script.index(word, begin)
        spans[place] = (at, at + len(word))
    for start in range(len(file.text)):
        for end in range(start + 1, len(file.text) + 1):
            found = origin.place(start, end)
            assert (found.start, found.end) == (spans[start][0], spans[end - 1][1]), (start, end)
    for place in range(len(file.text)):
        stretch = origin.stretch(place)
        assert stretch is not None
        assert stretch[0].text[stretch[1]] == file.text[place]
        assert origin.position(place) == origin.place(place, place + 1).text.position(spans[place][0])
    assert origin.stretch(len(file.text)) is None
    assert [text.source.text[start:end] for text, start, end in origin.own_characters()] == ["ab", " cd\n", "e", "\n"]


@pytest.mark.parametrize(("place", "at"), [(0, "ab$"), (1, "b$"), (2, "$first cd"), (4, " cd"), (11, "$(program)")])
def test_between_two_characters_is_a_place(place: int, at: str) -> None:
    file = written(TEXT)
    start = file.script.text.index(at)
    assert file.origin.place(place, place)[1:] == (start, start)


def test_the_end_of_a_file_is_a_place() -> None:
    file = written("cat > N <<EOF\nab\nEOF")
    assert file.origin.place(3, 3)[1:] == (file.script.text.index("ab") + 3,) * 2
    empty = written(": > N")
    assert empty.origin.place(0, 0)[1:] == (0, 0)


@pytest.mark.parametrize(
    ("start", "end", "texts"),
    [
        (0, 1, ["ab"]),
        (0, 2, ["ab"]),
        (0, 3, ["ab", "55"]),
        (1, 4, ["ab", "55"]),
        (2, 4, ["55"]),
        (3, 5, ["55", " cd\n"]),
        (2, 2, ["55"]),
        (12, 13, ["\n"]),
    ],
)
def test_what_characters_come_from(start: int, end: int, texts: list[str]) -> None:
    origin = written(TEXT).origin
    assert [stretch.text for stretch in origin.within(start, end)] == texts


def test_kinds_of_stretches() -> None:
    assert [stretch.kind for stretch in written(TEXT).stretches] == [
        *("literal", "certain", "literal", "certain", "literal", "unknown", "literal"),
    ]
    (way, *_) = worlds.worlds(evaluated("v=2\nif program; then v=1; fi\necho x$v > N"))
    piece = next(stretch.piece for stretch in way.files["N"].stretches if stretch.piece.is_expansion)
    first, other = piece.value
    assert worlds.stretch_of(piece, frozenset())[::2] == (UNKNOWN, "set")
    assert worlds.stretch_of(piece, first.guard)[::2] == (first.text, "certain")
    assert worlds.stretch_of(piece, other.guard)[::2] == (other.text, "certain")


def test_words_are_told_by_where_they_come_from() -> None:
    text = "v=1\nfor i in 1 2; do echo $v-$i; done > N"
    origin = written(text).origin
    assert origin.text == "1-1\n1-2\n"
    assert origin.identity(0, 1) == origin.identity(4, 5)
    assert origin.identity(0, 3) != origin.identity(4, 7)
    assert origin.identity(0, 1) != origin.identity(2, 3)
    whole = written("echo abab > N").origin
    assert whole.identity(0, 2) != whole.identity(2, 4)


@pytest.mark.parametrize(
    ("choices", "count"), [(1, 2), (5, 32), (6, 64), (7, 65)]
)  # of more than 64 ways nobody knows the others
def test_so_many_ways(choices: int, count: int) -> None:
    text = "\n".join(f"[ $u{number} = 1 ] && echo {number} > N{number}" for number in range(choices))
    found = worlds.worlds(evaluated(text))
    assert len(found) <= 65
    assert (UNKNOWN in found[-1].files) == (count > 64)
    if count > 64:
        assert found[-1].files[UNKNOWN].origin.expansions() == [(0, 1, "unknown")]
    else:
        assert len(found) == count


def test_one_of_several_values_is_decided() -> None:
    text = "if [ $m = a ]; then n=4; else n=8; fi\necho $n > N\nsrun -n $n model"
    evaluation = evaluated(text)
    (way, *_) = worlds.covering_worlds(evaluation)
    open_way = worlds.World(frozenset(), way.files, way.programs)
    decided, chosen = worlds.decided(evaluation, open_way, {"srun"})
    assert decided.files["N"].text == "8\n"
    assert [text for _, text in chosen] == ["8"]
    assert worlds.decided(evaluation, decided, {"srun"}) == (decided, ())
    only_told = evaluated(text.replace("echo $n > N\n", ""))
    bare = worlds.World(frozenset(), {}, ())
    assert [text for _, text in worlds.decided(only_told, bare, {"srun"})[1]] == ["8"]
    assert worlds.decided(only_told, bare, {"mpirun"}) == (bare, ())


def test_the_same_value_on_each_way_is_no_choice() -> None:
    evaluation = evaluated("if [ $m = a ]; then n=4; else n=4; fi\necho $n > N\nsrun -n $n model")
    bare = worlds.World(frozenset(), {}, ())
    assert worlds.decided(evaluation, bare, {"srun"}) == (bare, ())


def test_lint_goes_each_way_of_what_decides() -> None:
    text = 'for n in 1 2; do :; done\nif [ $m = a ]; then n=4; else n=8; fi\necho "$n" > sub/conf'
    evaluation = evaluated(text)
    by_name = [PurePosixPath(name).name for way in worlds.covering_worlds(evaluation) for name in way.files]
    assert by_name == ["conf"]
    several = worlds.covering_worlds(evaluation, "conf")
    assert [way.files["sub/conf"].text for way in several] == ["4\n", "8\n"]
    assert len(worlds.covering_worlds(evaluation, "other")) == 1


def test_lines_that_sed_leaves_stand_where_they_stood() -> None:
    file = written("cat > N <<EOF\nab\ncd\nef\ngh\nEOF\nsed -i s/cd/x/ N")
    assert file.text == f"ab\n{UNKNOWN}\nef\ngh\n"
    for line in ("ab", "ef", "gh"):
        at = file.text.index(line)
        start = file.script.text.index(line)
        assert file.origin.place(at, at + 2)[1:] == (start, start + 2)
