"""An experiment that notes what it is asked.

Whoever asks two experiments the same questions and gets the same answers learns the same of both: what a rule found in
one need not be looked for again in another that differs only in what the rule never asked for.

A question is asked of what stands at a place of the experiment: of the experiment itself, of one of its models, of a
group, of the directives. As long as the same thing stands there, all its answers are the same. Others are asked of the
disk (see `nmlgen.disk`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import Any, NamedTuple

from nmlgen import disk
from nmlgen.experiment.component import Component, Model
from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.group import Group
from nmlgen.experiment.memory import Derived, remembered
from nmlgen.experiment.setting import Setting, UndecidedError
from nmlgen.namelist.registry import Registry
from nmlgen.values import fields

Place = tuple[Any, ...]
"""The way to a thing: names of attributes, numbers of elements, and a group's name where its first copy is meant."""

_DISK: Place = ("disk",)
_NOTHING = object()


class Question(NamedTuple):
    """What is asked of the thing at a place, and with which arguments."""

    place: Place
    ask: Callable[..., Any]
    arguments: tuple[Any, ...] = ()

    def answer(self, experiment: Experiment, thing: Any) -> Any:
        """What an experiment answers, at whose place there is this thing; an answer, too, that nobody can know it."""
        try:
            return self.ask(experiment, thing, *self.arguments)
        except UndecidedError as error:
            return UndecidedError, error.setting, error.reason
        except (AttributeError, LookupError, TypeError):  # there is no such thing any more
            return _NOTHING

    def is_settled(self, before: Any, thing: Any) -> bool:
        """Whether of two things that stand at its place it is plain that they answer the same: mappings with the very
        same behind a key, groups in which somebody wrote the very same, or nothing, for the variable that it asks
        for."""
        if self.ask is _value and before is not None and thing is not None:
            return before.get(*self.arguments, _NOTHING) is thing.get(*self.arguments, _NOTHING)
        if self.ask not in (_setting, _effective) or before is None or thing is None or before.is_open != thing.is_open:
            return False
        key = self.arguments[-1].lower()
        return "%" not in key and before.settings.get(key) is thing.settings.get(key)


def thing_at(experiment: Experiment, place: Place) -> Any:
    """What stands at a place; None where there is nothing. The disk is never the same."""
    if place is _DISK:
        return object()
    thing: Any = experiment
    for step in place:
        if isinstance(step, _First):
            thing = thing.group(step.name)
        elif isinstance(step, str):
            thing = getattr(thing, step)
        else:
            thing = thing[step] if step < len(thing) else None
        if thing is None:
            return None
    return thing


class _First(NamedTuple):
    """The first group of that name."""

    name: str


def _field(_experiment: Experiment, thing: Any, name: str) -> Any:
    return getattr(thing, name)


def _value(_experiment: Experiment, thing: Mapping[str, Any], key: str) -> Any:
    return thing.get(key, _NOTHING)


def _keys(_experiment: Experiment, thing: Mapping[str, Any]) -> Any:
    return tuple(thing)


def _shape(_experiment: Experiment, thing: Any, name: str) -> Any:
    return tuple(len(one) if isinstance(one, tuple) else None for one in getattr(thing, name))


def _entry(experiment: Experiment, thing: Model) -> Any:
    return _places(experiment).get(id(thing.entry))


def _first(experiment: Experiment, thing: Component, name: str) -> Any:
    group = thing.group(name)
    return None if group is None else _places(experiment)[id(group)]


def _setting(experiment: Experiment, _group: Group | None, number: int, group: str, name: str) -> Any:
    return experiment.components[number][group, name]


def _effective(experiment: Experiment, thing: Group, group: str, name: str) -> Any:
    return thing.effective(experiment.registry, group, name)


def _seen(_experiment: Experiment, _disk: object, question: disk.Question) -> Any:
    return disk.again(question)


def _unrepeatable(_experiment: Experiment, anything: object) -> Any:
    return anything


def _groups(experiment: Experiment) -> Iterator[tuple[Place, Group]]:
    for number, group in enumerate(experiment.master):
        yield ("master", number), group
    for model_number, model in enumerate(experiment.models):
        at: Place = ("models", model_number)
        for kind in ("namelist", "land"):
            for number, group in enumerate(getattr(model, kind)):
                yield (*at, kind, number), group
        for nest, land in enumerate(model.nest_land):
            for number, group in enumerate(land):
                yield (*at, "nest_land", nest, number), group
        yield (*at, "entry"), model.entry


@remembered
def _places(experiment: Experiment) -> dict[int, Place]:
    """Where each group stands; one that stands at several places, at the first."""
    places: dict[int, Place] = {}
    for place, group in _groups(experiment):
        places.setdefault(id(group), place)
    return places


_MOST_COPIED = 50
"""Questions that are noted anew by each that asks for what asked them: of more it is noted where they are."""


class Asked:
    """What was asked, by itself and by what it asked for: where ten thousand things are worked out of the same ten
    thousand settings, each does not hold them all."""

    def __init__(self) -> None:
        self._own: set[Question] = set()
        self._others: dict[int, Asked] = {}

    def add(self, question: Question) -> None:
        """This was asked, too."""
        self._own.add(question)

    def add_all(self, other: Asked) -> None:
        """All was asked that another one asked, who asks nothing any more."""
        if other._others or len(other._own) > _MOST_COPIED:
            self._others[id(other)] = other
        else:
            self._own |= other._own

    def questions(self) -> set[Question]:
        """All of them."""
        found: set[Question] = set()
        seen, left = {id(self)}, [self]
        while left:
            one = left.pop()
            found |= one._own
            left += (other for number, other in one._others.items() if number not in seen)
            seen |= one._others.keys()
        return found


class Notes:
    """The questions that are asked. What is worked out once is asked for by many: each of them asks what that asked."""

    def __init__(self) -> None:
        self._open: list[Asked] = []

    def add(self, place: Place, ask: Callable[..., Any], arguments: tuple[Any, ...] = ()) -> None:
        """Somebody asks this."""
        if self._open:
            self._open[-1].add(Question(place, ask, arguments))

    def add_all(self, asked: Asked) -> None:
        """Somebody asks for what asked these."""
        if self._open:
            self._open[-1].add_all(asked)

    @contextmanager
    def taken(self) -> Iterator[Asked]:
        """What is asked in the meantime; whoever asks around it asked it, too."""
        own = Asked()
        self._open.append(own)
        try:
            with disk.recorded() as looks:
                yield own
            for question in looks.seen:
                own.add(Question(_DISK, _seen, (question,)))
            if not looks.repeatable:
                own.add(Question(_DISK, _unrepeatable))
        finally:
            self._open.pop()
            self.add_all(own)


class _Derived(Derived):
    def __init__(self, subject: Any, notes: Notes) -> None:
        super().__init__(subject)
        self._notes = notes
        self._asked: dict[Any, Asked] = {}

    def __getitem__(self, look: Any) -> Any:
        if look in self:
            self._notes.add_all(self._asked[look])
            return super().__getitem__(look)
        with self._notes.taken() as asked:
            found = self.__missing__(look)
        self._asked[look] = asked
        return found


class _Mapping(Mapping[str, Any]):
    def __init__(self, content: Mapping[str, Any], notes: Notes, place: Place) -> None:
        self._content = content
        self._notes = notes
        self._place = place

    def __getitem__(self, key: str) -> Any:
        self._notes.add(self._place, _value, (key,))
        return self._content[key]

    def __contains__(self, key: object) -> bool:
        self._notes.add(self._place, _value, (key,))
        return key in self._content

    def get(self, key: str, default: Any = None) -> Any:
        """As of any mapping, without the cost of an exception."""
        self._notes.add(self._place, _value, (key,))
        return self._content.get(key, default)

    def __iter__(self) -> Iterator[str]:
        self._notes.add(self._place, _keys)
        return iter(self._content)

    def __len__(self) -> int:
        self._notes.add(self._place, _keys)
        return len(self._content)


class _Watched:
    """What notes which of its fields are asked for; a copy of it with other values is an ordinary one."""

    _notes: Notes
    _questions: dict[str, Question] = {}  # noqa: RUF012  until it is a twin
    _plain: Any

    def __getattribute__(self, name: str) -> Any:
        of = object.__getattribute__
        if name == "__class__":
            return of(self, "_plain").__class__
        question = of(self, "_questions").get(name)
        if question is not None:
            of(self, "_notes").add(*question)
        return of(self, name)

    def _be(self, plain: Any, notes: Notes, place: Place, **own: Any) -> None:
        """Become the twin of what stands at a place. Of a tuple of its `own` only the length is asked, as its elements
        note the rest; a mapping of its own notes all by itself."""
        names = [one.name for one in fields(type(plain))]
        for name in names:
            object.__setattr__(self, name, own[name] if name in own else getattr(plain, name))
        questions = {name: Question(place, _field, (name,)) for name in names if name not in own}
        shaped = (name for name, content in own.items() if isinstance(content, tuple))
        questions.update((name, Question(place, _shape, (name,))) for name in shaped)
        object.__setattr__(self, "_notes", notes)
        object.__setattr__(self, "_questions", questions)
        object.__setattr__(self, "_plain", plain)


class _WatchedGroup(_Watched, Group):
    def __init__(self, plain: Group, notes: Notes, place: Place) -> None:
        self._be(plain, notes, place, settings=_Mapping(plain.settings, notes, (*place, "settings")))
        object.__setattr__(self, "_place", place)

    @cached_property
    def derived(self) -> Derived:
        return _Derived(self, self._notes)

    def effective(self, registry: Registry, name: str, variable: str) -> Setting:
        self._notes.add(self._place, _effective, (name, variable))
        found: Setting = self._plain.effective(registry, name, variable)
        return found


class _WatchedModel(_Watched, Model):
    def __init__(self, plain: Model, notes: Notes, place: Place, twins: Mapping[int, Group]) -> None:
        def twin(groups: Iterable[Group]) -> tuple[Group, ...]:
            return tuple(twins[id(group)] for group in groups)

        self._be(
            plain,
            notes,
            place,
            entry=twins[id(plain.entry)],
            namelist=twin(plain.namelist),
            land=twin(plain.land),
            nest_land=tuple(twin(groups) for groups in plain.nest_land),
        )
        self._questions["entry"] = Question(place, _entry)


def _answered(name: str) -> Any:
    """What follows from fields, and is asked for as if it were one."""

    def look(twin: Any) -> Any:
        twin.notes.add(twin.place, _field, (name,))
        return getattr(twin.plain, name)

    return property(look)


class _WatchedComponent(Component):
    experiment: WatchedExperiment

    kind = _answered("kind")
    tasks = _answered("tasks")
    streams = property(remembered(Component.streams.func))  # type: ignore[attr-defined]

    @property
    def notes(self) -> Notes:
        return self.experiment.notes

    @cached_property
    def plain(self) -> Component:
        return self.experiment.plain.components[self.number]

    @cached_property
    def place(self) -> Place:
        return ("components", self.number)

    @cached_property
    def derived(self) -> Derived:
        return _Derived(self, self.notes)

    def __getitem__(self, key: tuple[str, str]) -> Setting:
        self.notes.add((*self.place, _First(key[0])), _setting, (self.number, *key))
        return self.plain[key]

    def group(self, name: str) -> Group | None:
        self.notes.add(self.place, _first, (name,))
        found = self.plain.group(name)
        return None if found is None else self.experiment.twins[id(found)]


class WatchedExperiment(_Watched, Experiment):
    """An experiment that puts what it is asked into its `notes`, and answers as the `plain` one."""

    shares = _answered("shares")
    file_system = _answered("file_system")
    tasks = _answered("tasks")

    def __init__(self, plain: Experiment) -> None:
        notes = Notes()
        twins: dict[int, Group] = {}
        for place, group in _groups(plain):
            if id(group) not in twins:
                twins[id(group)] = _WatchedGroup(group, notes, place)
        mappings = ("directives", "environment", "chain", "parts", "shown")
        self._be(
            plain,
            notes,
            (),
            master=tuple(twins[id(group)] for group in plain.master),
            models=tuple(
                _WatchedModel(model, notes, ("models", number), twins) for number, model in enumerate(plain.models)
            ),
            **{name: _Mapping(getattr(plain, name), notes, (name,)) for name in mappings},
        )
        self.__dict__.update(notes=notes, place=(), plain=plain, twins=twins)

    notes: Notes
    place: Place
    plain: Experiment
    twins: Mapping[int, Group]

    @cached_property
    def components(self) -> tuple[Component, ...]:
        return tuple(_WatchedComponent(experiment=self, number=number) for number in range(len(self.plain.models)))

    @cached_property
    def derived(self) -> Derived:
        return _Derived(self, self.notes)
