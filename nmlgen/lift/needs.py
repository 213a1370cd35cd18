"""What has to be said about a script before what only a run of it knows is known."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from nmlgen.script.evaluate import Evaluation

NAME = re.compile(r"[A-Za-z_]\w*")
_ASSIGNED = re.compile(r"\b([A-Za-z_]\w*)[ \t]*=(?!=)")
_OF_SURROUNDINGS = ("environment", "given", "system")


def reckoned(text: str) -> str:
    """What stands in the arithmetic of a text, each `((...))`."""
    parts = (part.partition("))") for part in text.split("((")[1:])
    return " ".join(inside for inside, end, _ in parts if end)


class Needs(Mapping[str, tuple[str, ...]]):
    """For each variable of a script those that have to be said: what stands in it of the surroundings, else what it is
    worked out of by arithmetic. Nothing is needed for variables that are `told` in another way.

    It is worked out when it is asked for, as few are.
    """

    def __init__(self, evaluation: Evaluation, told: Iterable[str]) -> None:
        self._evaluation = evaluation
        self._known: dict[str, tuple[str, ...]] = dict.fromkeys(told, ())

    def __getitem__(self, name: str) -> tuple[str, ...]:
        if name not in self._known:
            symbols = [symbol for case in self._evaluation.final[name].value for symbol in case.symbols]
            outside = (str(one[1]) for one in symbols if isinstance(one, tuple) and one[0] in _OF_SURROUNDINGS)
            found = tuple(dict.fromkeys(outside))
            self._known[name] = found if found or not symbols else tuple(self._unset_below(name))
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*self._evaluation.final, *self._known)))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _unset_below(self, name: str) -> Iterator[str]:
        """The variables that nothing sets in what one is worked out of, however far below, in the order of writing."""
        seen = {name}
        levels = [iter(self._terms.get(name, ()))]
        while levels:
            other = next((term for term in levels[-1] if term not in seen), None)
            if other is None:
                levels.pop()
                continue
            seen.add(other)
            if other in self._evaluation.final:
                levels.append(iter(self._terms.get(other, ())))
            else:
                yield other

    @cached_property
    def _terms(self) -> dict[str, dict[str, None]]:
        """The names in the arithmetic of the lines that assign each variable."""
        found: dict[str, dict[str, None]] = {}
        for line in self._evaluation.script.source.text.splitlines():
            code = line.partition("#")[0]
            names = NAME.findall(reckoned(code))
            for assigned in _ASSIGNED.findall(code) if names else ():
                found.setdefault(assigned, {}).update(dict.fromkeys(names))
        return found
