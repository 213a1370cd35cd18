"""The rules: one module a topic, one class a rule.

A module of this package is found by being here; a class by being a `Rule` with a code.
"""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module

from nmlgen.rules.rule import ComponentRule, Rule


@cache
def all_rules() -> tuple[type[Rule], ...]:
    """Every rule, in the order of the codes."""
    for module in pkgutil.iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
    found = {*Rule.__subclasses__(), *ComponentRule.__subclasses__()} - {ComponentRule}
    return tuple(sorted(found, key=lambda rule: rule.code))
