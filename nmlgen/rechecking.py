"""Checking experiments one after the other that are nearly alike, as the points of a sweep are.

A rule looks again only if it would get another answer than in the experiment before to something that it asked there.
What it asks is noted while it looks. As noting takes longer than looking, a rule that is at another answer with each
experiment is not listened to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from nmlgen.checking import Said, Verdict, check_experiment, verdict
from nmlgen.experiment.component import Component
from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.memory import all_kept
from nmlgen.experiment.watched import Place, Question, WatchedExperiment, thing_at
from nmlgen.findings import Report
from nmlgen.rules.rule import Rule, kind_of
from nmlgen.source import Span
from nmlgen.suppression import Suppression
from nmlgen.values import define, frozen

_SILENCE = Verdict(())
_Asker = tuple[Any, int | None]
"""A rule, or what is kept of components, and the number of the component that it looks at."""


class Rechecker:
    """Says of each experiment what `check_experiment` says of it, with the same `only_errors`."""

    def __init__(self, *, only_errors: bool = False) -> None:
        self._only_errors = only_errors
        self._last: _Last | None = None

    def check(self, experiment: Experiment, suppressions: Iterable[Suppression], beginning: Span | None) -> Report:
        """The same as of `check_experiment`."""
        last, self._last = self._last, None  # nobody else goes on from it meanwhile
        if last is None or not last.is_like(experiment):
            last = _Last(experiment)
        report = check_experiment(experiment, suppressions, beginning, last.verdicts, only_errors=self._only_errors)
        self._last = last
        return report

    def __getstate__(self) -> dict[str, Any]:
        """Another process begins anew."""
        return {"_only_errors": self._only_errors, "_last": None}


@define
class _Answers:
    """What the thing at a place answered, and the thing itself."""

    thing: Any
    answers: dict[Question, Any]


@frozen
class _Heard:
    """What a rule said, and what it asked; `holds` where nothing that it asked has another answer since. For what is
    kept: the result, or None if there is none."""

    said: Any
    questions: frozenset[Question]
    holds: bool = True


class _Last:
    """The experiment that was checked last."""

    def __init__(self, experiment: Experiment) -> None:
        self._experiment = experiment
        self._watched: WatchedExperiment | None = None
        self._answers: dict[Place, _Answers] = {}
        self._askers: dict[Question, set[_Asker]] = {}
        self._heard: dict[_Asker, _Heard] = {}
        self._silent: set[_Asker] = set()  # those that hold, and say nothing
        self._order: dict[tuple[str | None, ...], list[_Asker]] = {}

    def is_like(self, experiment: Experiment) -> bool:
        """Whether an experiment has as many models, of the same release."""
        last = self._experiment
        return experiment.registry is last.registry and len(experiment.models) == len(last.models)

    def verdicts(self, experiment: Experiment, rules: Iterable[type[Rule]], beginning: Span | None) -> Iterator[Said]:
        """What the rules that say anything say of another experiment."""
        stale = self._turned_to(experiment)
        for component in experiment.components:
            for look in all_kept():
                if (kept := self._said((look, component.number), stale, _looked_up)) is not None:
                    component.derived[look] = kept
        for asker in self._askers_of(experiment, rules):
            if asker in self._silent and asker not in stale:
                continue
            rule, number = asker
            said = self._said(asker, stale, lambda rule, subject: verdict(rule, subject, beginning))
            subject = experiment if number is None else experiment.components[number]
            yield rule, subject, said or verdict(rule, subject, beginning)

    def _turned_to(self, experiment: Experiment) -> set[_Asker]:
        """Ask another experiment what was asked so far: those that get another answer."""
        self._experiment, self._watched = experiment, None
        stale: set[_Asker] = set()
        for place, known in self._answers.items():
            thing = thing_at(experiment, place)
            if thing is known.thing:
                continue
            known.thing, last = thing, known.thing
            for question, before in known.answers.items():
                if question.is_settled(last, thing):
                    continue
                answer = question.answer(experiment, thing)
                if answer is not before and answer != before:
                    known.answers[question] = answer
                    stale |= self._askers[question]
        return stale

    def _askers_of(self, experiment: Experiment, rules: Iterable[type[Rule]]) -> list[_Asker]:
        kinds = tuple(kind_of(component) for component in experiment.components)
        if kinds not in self._order:
            self._order[kinds] = [
                (rule, subject.number if isinstance(subject, Component) else None)
                for rule in rules
                for subject in rule.subjects(experiment)
            ]
        return self._order[kinds]

    def _said(self, asker: _Asker, stale: set[_Asker], ask: Callable[[Any, Any], Any]) -> Any:
        """What was said by whom nothing new concerns, else None: who was at something new before is listened
        to again."""
        heard = self._heard.get(asker)
        if asker in stale:
            if heard is not None and heard.holds:
                self._heard[asker] = _Heard(None, heard.questions, holds=False)
                self._silent.discard(asker)
            return None
        return heard.said if heard is not None and heard.holds else self._listened(asker, ask)

    def _listened(self, asker: _Asker, ask: Callable[[Any, Any], Any]) -> Any:
        if self._watched is None:
            self._watched = WatchedExperiment(self._experiment)
        who, number = asker
        subject = self._watched if number is None else self._watched.components[number]
        with self._watched.notes.taken() as asked:
            said = ask(who, subject)
        questions = asked.questions()
        before = self._heard.get(asker)
        for question in before.questions - questions if before else ():
            self._askers[question].discard(asker)
        for question in questions:
            self._askers.setdefault(question, set()).add(asker)
            place = self._answers.get(question.place)
            if place is None:
                place = _Answers(thing_at(self._experiment, question.place), {})
                self._answers[question.place] = place
            if question not in place.answers:
                place.answers[question] = question.answer(self._experiment, place.thing)
        self._heard[asker] = _Heard(said, frozenset(questions))
        if said == _SILENCE:
            self._silent.add(asker)
        return said


def _looked_up(look: Any, component: Component) -> Any:
    """What is derived of a component; None where that fails: nobody may want it, as rules find what is wrong."""
    try:
        return component.derived[look]
    except Exception:  # whoever asks for it hears of it
        return None
