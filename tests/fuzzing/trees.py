"""Changes of documents, mappings and lists of values, that keep much of their sense: most changed leaves stay of
their type, and many get a value that another document has at the same place."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fuzzing.hostile import NUMBERS, SIZES, STRINGS, TIMES

Path = tuple[Any, ...]


def leaves(node: Any, above: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every place of a document with what stands there, mappings and lists themselves included."""
    if above:
        yield above, node
    for key, child in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
        yield from leaves(child, (*above, key))


def kind_of(path: Path) -> Path:
    """A place without the names that an author chooses and the numbers of a list."""
    free = {"output", "models", "lustre", "domains", "partitions", "node_local", "environment"}
    return tuple(
        "*" if isinstance(key, int) or (number and path[number - 1] in free) else key for number, key in enumerate(path)
    )


class Mutator:
    """Changes documents, with what others of their kind hold at the same places at hand."""

    def __init__(self, documents: Sequence[Mapping[str, Any]], generator: random.Random) -> None:
        self._random = generator
        self._held: dict[Path, list[Any]] = {}
        for document in documents:
            for path, value in leaves(document):
                held = self._held.setdefault(kind_of(path), [])
                if value not in held:
                    held.append(value)

    def mutated(self, document: Mapping[str, Any], hostility: float = 0.25) -> dict[str, Any]:
        """A changed copy, with one to six changes; `hostility` is how many of these leave what anybody would write."""
        result = copy.deepcopy(dict(document))
        for _ in range(self._random.choice((1, 1, 2, 2, 3, 4, 6))):
            self._change(result, self._random.random() < hostility)
        return result

    def _change(self, document: dict[str, Any], is_hostile: bool) -> None:
        places = list(leaves(document))
        if not places:
            return
        path, value = self._random.choice(places)
        turn = self._random.random()
        if turn < 0.15:
            self._add(document)
        elif turn < 0.22:
            self._remove(document, path)
        elif turn < 0.27 and is_hostile:
            self._rename(document, path)
        else:
            self._set(document, path, self._hostile(value) if is_hostile else self._plausible(path, value))

    def _add(self, document: dict[str, Any]) -> None:
        """What another document has at a place that this one lacks."""
        path = self._random.choice(list(self._held))
        if "*" in path or len(path) > 3:
            return
        node: Any = document
        for key in path[:-1]:
            node = node.setdefault(key, {}) if isinstance(node, dict) else None
        if isinstance(node, dict):
            node[path[-1]] = copy.deepcopy(self._random.choice(self._held[path]))

    def _remove(self, document: dict[str, Any], path: Path) -> None:
        node = _at(document, path[:-1])
        if isinstance(node, (dict, list)):
            del node[path[-1]]

    def _rename(self, document: dict[str, Any], path: Path) -> None:
        node = _at(document, path[:-1])
        if isinstance(node, dict):
            node[self._random.choice((*STRINGS, path[-1] + "x", path[-1].upper()))] = node.pop(path[-1])

    def _set(self, document: dict[str, Any], path: Path, value: Any) -> None:
        _at(document, path[:-1])[path[-1]] = value

    def _plausible(self, path: Path, value: Any) -> Any:
        pick = self._random
        if pick.random() < 0.4:
            return copy.deepcopy(pick.choice(self._held.get(kind_of(path)) or [value]))
        if isinstance(value, bool):
            return not value
        if isinstance(value, int):
            return pick.choice((value + 1, value - 1, 2 * value, value // 2, 3 * value, abs(value) + 17, 1, 0))
        if isinstance(value, float):
            return pick.choice((value / 2, value * 2, -value, value + 0.1, float(round(value))))
        if isinstance(value, list):
            return self._list(value)
        if isinstance(value, str) and value[:1] == "P" and value[1:2] in set("T0123456789"):
            return pick.choice(("PT30M", "PT1H", "PT2H", "PT6H", "P1D", "P5D", "P10D", "P1M", "PT45M", "PT100S"))
        return value

    def _list(self, value: list[Any]) -> list[Any]:
        pick = self._random
        changed = list(value)
        turn = pick.randrange(4)
        if turn == 0 and changed:
            changed.pop(pick.randrange(len(changed)))
        elif turn == 1 and changed:
            changed.append(pick.choice(changed))
        elif turn == 2:
            pick.shuffle(changed)
        else:
            changed = changed * pick.choice((2, 3, 40))
        return changed

    def _hostile(self, value: Any) -> Any:
        pick = self._random
        turn = pick.random()
        if turn < 0.12:
            return pick.choice((None, True, False, [], {}, [None], [[]], {"a": None}, {"": 1}, [{}], "", 0, [value]))
        if isinstance(value, (bool, int, float)) or turn < 0.35:
            return pick.choice(NUMBERS)
        if turn < 0.6:
            return pick.choice((*TIMES, *SIZES))
        if isinstance(value, list):
            return pick.choice(
                ([pick.choice(STRINGS)] * pick.choice((1, 300)), [pick.choice(NUMBERS)] * 3, value * 500)
            )
        return pick.choice(STRINGS) if turn < 0.9 else str(value) + pick.choice(STRINGS)


def _at(document: Any, path: Path) -> Any:
    for key in path:
        document = document[key]
    return document
