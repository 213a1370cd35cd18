"""The rules about a job, whatever it runs, and all rules: one module a topic, one class a rule.

A module of this package, or of one in which a model has rules of its own, is found by being there; a class by being a
`Rule` with a code.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

from nmlgen.rulebook import modules_of_rules
from nmlgen.rules.rule import ComponentRule, Rule


@cache
def all_rules() -> tuple[type[Rule], ...]:
    """Every rule, in the order of the codes."""
    for module, _ in modules_of_rules():
        import_module(module)
    found = {*Rule.__subclasses__(), *ComponentRule.__subclasses__()} - {ComponentRule}
    return tuple(sorted(found, key=lambda rule: rule.code))
