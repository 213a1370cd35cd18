"""What a rule is: one class with a code, a name, a severity and its documentation.

The docstring is the rule's page: a summary line, then the headings What it does, Why it matters, Evidence,
Example and References. The fenced blocks `yaml bad` and `yaml good` of the example are run as tests; in the
bad one a comment line with a caret marks the place of the finding in the line above.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any, ClassVar

from nmlgen.experiment.component import Component
from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.setting import Setting, UndecidedError
from nmlgen.findings import Finding, Fix, Severity
from nmlgen.source import Span
from nmlgen.values import evolve


class Rule:
    """A check of an experiment. `since` is the nmlgen version that brought it; codes are never reused.

    A rule that does not hold in every ICON release names the first one and the last one in which it does.
    """

    code: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Severity]
    since: ClassVar[str] = "0.1"
    first_release: ClassVar[str | None] = None
    last_release: ClassVar[str | None] = None
    needs_icon: ClassVar[bool] = False
    """Whether a rule about the job says something only if the components of ICON are known."""

    @classmethod
    def holds_in(cls, release: str) -> bool:
        """Whether the rule is one of this ICON release."""
        is_too_early = cls.first_release is not None and release < cls.first_release
        return not is_too_early and (cls.last_release is None or release <= cls.last_release)

    @classmethod
    def subjects(cls, experiment: Experiment) -> tuple[Any, ...]:
        """What is looked at: the experiment as a whole."""
        return (experiment,)

    def check(self, subject: Any, /) -> Iterator[Finding]:
        """What this rule finds. A value that nobody can know raises UndecidedError and silences the rule."""
        raise NotImplementedError  # ABC would make each of hundreds of classes in three times the time

    def finding(self, where: Setting | Span | None, message: str, *notes: str, fix: Fix | None = None) -> Finding:
        """A finding of this rule at a setting's value or a span."""
        span = where.span if isinstance(where, Setting) else where
        return Finding(self.code, self.name, self.severity, message, span, notes, fix)

    @classmethod
    def document(cls) -> str:
        """The rule's page in Markdown."""
        return inspect.cleandoc(cls.__doc__ or "")

    @classmethod
    def summary(cls) -> str:
        """The first line of the page."""
        return cls.document().partition("\n")[0]


class ComponentRule(Rule):
    """A check of each component by itself: of those of these `kinds`, of all without any, and of one whose kind nobody
    says."""

    kinds: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def subjects(cls, experiment: Experiment) -> tuple[Component, ...]:
        """What is looked at: the components that the rule holds for."""
        if not cls.kinds:
            return experiment.components
        kinds = (None, *cls.kinds)
        return tuple(one for one in experiment.components if kind_of(one) in kinds)


_OF_UNKNOWN = "nobody said the release, and an older one or a fork may have it: --icon-release says which one it is"


def of_unknown_release(finding: Finding) -> Finding:
    """A finding about something that no known release has, where nobody said the release: a warning."""
    return evolve(finding, severity=Severity.WARNING, notes=(*finding.notes, _OF_UNKNOWN), fix=None)


def is_of_unknown_release(finding: Finding) -> bool:
    """Whether it is one of these."""
    return _OF_UNKNOWN in finding.notes


def kind_of(component: Component) -> str | None:
    """Which component it is; None where that is not known."""
    try:
        return component.kind
    except UndecidedError:
        return None
