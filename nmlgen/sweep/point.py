"""One point of a sweep: the spec with the point's own values laid over it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Any

from nmlgen.errors import SpecError
from nmlgen.expression import ExpressionError
from nmlgen.findings import Finding, Report
from nmlgen.rechecking import Rechecker
from nmlgen.source import Span
from nmlgen.spec.overrides import Override, overrides_of
from nmlgen.spec.problems import problem
from nmlgen.spec.spec import Spec
from nmlgen.sweep.plan import REPEAT, Plan, Values, conflicts
from nmlgen.values import field, frozen

_IDENTIFIER_LENGTH = 12
_READ_AGAIN = ("site", "extends")  # with these, the spec is made anew from its documents


@frozen(eq=False, slots=False)
class Point:
    """An experiment of a sweep; `check` and `build` take it as they take a spec.

    `values` are those it was given, derived ones included, by key; `id` is made of them alone and tells it from every
    other, in this sweep and in any other of the same keys. `overrides` is what `--set` would say to make the same
    experiment of the spec; `name` is the experiment's. `fault` is what keeps it from being one, None if nothing does as
    far as the values alone tell.
    """

    id: str
    name: str
    values: Mapping[str, Any]
    overrides: tuple[str, ...]
    fault: Finding | None = field(repr=False)
    base: Spec = field(repr=False)
    spans: Mapping[str, Span] = field(repr=False)
    rechecker: Rechecker = field(factory=Rechecker, repr=False)

    @cached_property
    def spec(self) -> Spec:
        """The spec of this point. Raises SpecError if it is none."""
        if self.fault is not None:
            raise SpecError((self.fault,))
        said = [*_said(self.values, self.spans), *_named(self)]
        again = tuple(override for override in said if override.key in _READ_AGAIN)
        base = _made_again(self.base, again) if again else self.base
        return base.overridden(override for override in said if override not in again)

    @cached_property
    def report(self) -> Report:
        """What the rules say of it. Raises SpecError if it is no experiment."""
        spec = self.spec
        return self.rechecker.check(spec.experiment, spec.suppressions, spec.beginning)

    @property
    def problems(self) -> tuple[Finding, ...]:
        """What keeps it from being built: what is wrong with the values, or the errors that the rules found."""
        try:
            return self.report.errors
        except SpecError as error:
            return error.findings

    def errors(self, rechecker: Rechecker) -> tuple[Finding, ...]:
        """The same, by what asks for errors only."""
        try:
            spec = self.spec
        except SpecError as error:
            return error.findings
        return rechecker.check(spec.experiment, spec.suppressions, spec.beginning).errors

    def __getstate__(self) -> dict[str, Any]:
        """What was worked out stays behind: another process works it out itself."""
        return {key: value for key, value in self.__dict__.items() if key not in ("spec", "report")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


def point_of(plan: Plan, values: Values, error: ExpressionError | None) -> Point:
    """The point of a plan's row."""
    base, spans = plan.base, plan.spans
    fault = None if error is None else problem("SPC012", str(error), plan.span or base.beginning)
    try:
        if found := conflicts(tuple(values)):
            raise SpecError((problem("SPC012", found[0], plan.span),))
        said = _said(values, spans)
        texts = tuple(override.text for override in said)
    except SpecError as refused:
        fault = fault or refused.findings[0]
        texts = tuple(
            sorted(f"{key}={json.dumps(value, sort_keys=True, default=str)}" for key, value in values.items())
        )
    number = values.get(REPEAT, 1)  # the first is the point that there would be without the others
    identity = texts if number == 1 else (*texts, f"{REPEAT}={number}")
    identifier = hashlib.sha256("\n".join(identity).encode()).hexdigest()[:_IDENTIFIER_LENGTH]
    if "name" in values:
        return Point(identifier, str(values["name"]), values, texts, fault, base, spans, plan.rechecker)
    try:
        name = plan.name_of(values, identifier)
        texts = (*texts, *(override.text for override in overrides_of("name", name, "sweep")))
    except ExpressionError as refused:
        name = identifier
        fault = fault or problem("SPC012", f"name: {refused}", plan.span or base.beginning)
    except SpecError as refused:
        fault = fault or refused.findings[0]
    return Point(identifier, name, values, texts, fault, base, spans, plan.rechecker)


def _said(values: Mapping[str, Any], spans: Mapping[str, Span]) -> list[Override]:
    """The values as overrides, in an order that depends on nothing but their keys."""
    found = [
        override
        for key, value in values.items()
        if key != REPEAT  # which no experiment has
        for override in overrides_of(key, value, "sweep", spans.get(key))
    ]
    return sorted(found, key=lambda override: (override.key not in _READ_AGAIN, override.key))


def _named(point: Point) -> tuple[Override, ...]:
    return () if "name" in point.values else overrides_of("name", point.name, "sweep")


@lru_cache(maxsize=32)
def _made_again(base: Spec, overrides: tuple[Override, ...]) -> Spec:
    return base.overridden(overrides).without_sweep()
