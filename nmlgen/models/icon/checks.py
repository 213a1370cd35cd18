"""What ICON refuses of several settings at once: the checks that it makes before and while it sets a run up.

The data lie in `schemas/icon-checks.json`; `schemas/icon-checks.schema.json` states the format and
`nmlgen.experiment.condition` the language of the conditions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from typing import Any

from nmlgen.experiment.component import Component
from nmlgen.experiment.condition import at_fault, evaluate, variables
from nmlgen.experiment.group import as_list
from nmlgen.experiment.memory import remembered
from nmlgen.experiment.setting import Certainty, Setting, UndecidedError
from nmlgen.models.icon.facts import ComponentFacts
from nmlgen.models.icon.parts import has_part
from nmlgen.models.icon.ranks import LEVEL_TYPES, domains
from nmlgen.pattern import pattern
from nmlgen.resources import shipped
from nmlgen.source import Span
from nmlgen.values import frozen

ANY = "any"
"""The kind of a check that every component makes."""

_SUBSCRIPT = pattern(r"\([^()]*\)")
_REQUESTED = pattern(r"""requested\(["'](\w+)["']\)""")
_STREAMS = "output_nml"


@frozen(slots=False)
class Check:
    """One check of ICON: with `condition` it ends the run.

    `group` and `name` are the variable that is to blame, `output_nml.ml_varlist` for the varlist that requests a name,
    `says` is why, `expected` what ICON takes instead, `source` one or several lines of ICON's source. It is made
    from the release `since` on and up to `until`, where they are given, by components of one `kind`, or of `ANY`;
    where it names a part of ICON, by executables `without` it, or by those alone that have the part `only_with`. With
    `fortran` it is no check but what the programs of these Fortran runtimes stop at. `rule` is
    the code of the rule that reports it. Of the variables that it `needs` each is enough, at its default, for the
    condition not to hold, whatever the others are, in every release that ships with nmlgen.
    """

    rule: str
    group: str
    name: str
    condition: str
    says: str
    expected: str
    source: str
    since: str | None = None
    until: str | None = None
    kind: str = "atmosphere"
    without: str | None = None
    only_with: str | None = None
    fortran: tuple[str, ...] = ()
    needs: frozenset[tuple[str, str]] = frozenset()

    def is_made_by(self, release: str) -> bool:
        """Whether a release makes it."""
        return (self.since is None or self.since <= release) and (self.until is None or release <= self.until)

    @cached_property
    def variables(self) -> tuple[tuple[str, str], ...]:
        """The variables that it looks at."""
        return variables(self.condition)


@frozen
class Breach:
    """A check that an experiment fails, the value that fails it of the variable to blame, None for a varlist, and where
    somebody wrote it, else another one that the check looks at."""

    check: Check
    span: Span | None
    value: object


@cache
def checks() -> tuple[Check, ...]:
    """All checks, in the order of the codes of their rules."""
    document = shipped("icon-checks.json")
    return tuple(_check(entry) for entry in document["checks"])


def _check(entry: Mapping[str, Any]) -> Check:
    group, _, name = entry["at"].partition(".")
    return Check(
        entry["rule"],
        group,
        name,
        entry["if"],
        entry["says"],
        entry["expected"],
        entry["source"],
        entry.get("since"),
        entry.get("until"),
        entry.get("kind", "atmosphere"),
        entry.get("without"),
        entry.get("with"),
        tuple(entry.get("fortran", ())),
        frozenset((group, name) for group, _, name in (one.partition(".") for one in entry.get("needs", ()))),
    )


@cache
def _checks_of(rule: str, release: str) -> tuple[Check, ...]:
    return tuple(check for check in checks() if check.rule == rule and check.is_made_by(release))


def breaches(component: Component, rule: str) -> Iterator[Breach]:
    """The checks of one rule that a component fails, each in the first domain that fails it; one whose kind nobody says
    is taken for an atmosphere.

    What stands at its default throughout in an atmosphere is not looked at, nor what cannot hold by a default that
    nobody replaced. Raises UndecidedError in the end if a value that somebody wrote is not known and a check depends on
    it.
    """
    kind = component.kind or "atmosphere"
    checks_here = [check for check in _checks_of(rule, component.registry.release) if check.kind in (kind, ANY)]
    if any(check.without or check.only_with for check in checks_here):
        checks_here = [check for check in checks_here if _is_made(check, component)]
    if not checks_here:
        return
    undecided: Setting | None = None
    written = _written(component)
    facts = _facts(component)
    defaults_hold = _have_known_defaults(component)
    for check in checks_here:
        if defaults_hold and not check.needs <= written:
            continue
        if kind == "atmosphere" and written.isdisjoint(check.variables):
            continue
        for here in facts:
            truth = evaluate(check.condition, here)
            if truth:
                yield _breach(check, component, here)
                break
            if truth is None:
                undecided = undecided or _unknown(here, check)
    if undecided is not None:
        raise UndecidedError(undecided)


def _breach(check: Check, component: Component, here: ComponentFacts) -> Breach:
    if check.group == _STREAMS:
        return Breach(check, _requesting(check, component).span, None)
    setting = _to_blame(check, here)
    place = at_fault(check.condition, here, (check.group, check.name))
    if place is None:
        return Breach(check, setting.span, here.value(check.group, check.name))
    is_written = setting.span is not None and setting is here.setting(check.group, check.name)
    span = setting.element(place - 1) if is_written else setting.span
    return Breach(check, span, here.at(place).element(check.group, check.name, 0))


def _to_blame(check: Check, here: ComponentFacts) -> Setting:
    """The setting of the variable to blame; if nobody wrote it, the last one that somebody wrote of those that the
    condition names, at best of the same group."""
    setting = here.setting(check.group, check.name)
    if setting.span is not None:
        return setting
    written = [
        (group, other)
        for group, name in check.variables
        if (found := here.component.group(group)) is not None
        if (other := found.settings.get(name)) is not None and other.span is not None
    ]
    own = [other for group, other in written if group == check.group]
    return (own or [other for _, other in written] or [setting])[-1]


def _requesting(check: Check, component: Component) -> Setting:
    """The first varlist with a name that the condition speaks of."""
    names = set(_REQUESTED.findall(check.condition))
    return next(setting for setting in _varlists(component) if names & _texts(setting))


def _is_made(check: Check, component: Component) -> bool:
    """Whether the executable of a component is one that makes a check."""
    lacks = check.without is None or has_part(component, check.without) is False
    return lacks and (check.only_with is None or has_part(component, check.only_with) is True)


@remembered
def _facts(component: Component) -> list[ComponentFacts]:
    """What the component answers in each of its domains."""
    count, names = domains(component), _requested(component)
    return [ComponentFacts(component, domain, names) for domain in range(1, count + 1)]


@remembered
def _written(component: Component) -> frozenset[tuple[str, str]]:
    """The variables that somebody wrote."""
    return frozenset(
        (group.name.lower(), _SUBSCRIPT.sub("", name) if "(" in name else name)
        for group in component.all_groups()
        for name in group.settings
    )


@remembered
def _have_known_defaults(component: Component) -> bool:
    """Whether what nobody wrote is at the default of a release that ships with nmlgen."""
    is_open = component.is_open or any(group.is_open for group in component.all_groups())
    return component.registry.path is None and not is_open


def _requested(component: Component) -> frozenset[str]:
    return frozenset(name for setting in _varlists(component) for name in _texts(setting))


def _varlists(component: Component) -> Iterator[Setting]:
    """The varlists that are known."""
    for stream in component.streams:
        for level_type in LEVEL_TYPES:
            setting = component.stream_setting(stream, f"{level_type}_varlist")
            if setting.certainty is not Certainty.UNKNOWN:
                yield setting


def _texts(setting: Setting) -> set[str]:
    return {str(name).strip().lower() for name in as_list(setting.value)}


def _unknown(facts: ComponentFacts, check: Check) -> Setting | None:
    """The first value that a check looks at which somebody wrote and nobody knows."""
    settings = (facts.setting(group, name) for group, name in check.variables)
    return next((setting for setting in settings if setting.certainty is Certainty.UNKNOWN and setting.span), None)
