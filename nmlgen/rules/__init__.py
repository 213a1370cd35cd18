"""The rules: one module a topic, one class a rule.

A module of this package is found by being here; a class by being a `Rule` with a code.
"""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module

from nmlgen.rules.rule import Rule


@cache
def all_rules() -> tuple[type[Rule], ...]:
    """Every rule, in the order of the codes."""
    for module in pkgutil.iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
    return tuple(sorted(Rule.__subclasses__(), key=lambda rule: rule.code))
