"""The codes of all that nmlgen can find, with their names and pages."""

from __future__ import annotations

from functools import cache

from nmlgen.lift.codes import PROBLEMS as TEXT_PROBLEMS
from nmlgen.models import own_models
from nmlgen.rulebook import rulebook
from nmlgen.spec.problems import PROBLEMS as SPEC_PROBLEMS
from nmlgen.suppression import PROBLEMS as SUPPRESSION_PROBLEMS


def all_problems() -> dict[str, tuple[str, str]]:
    """The name and the page of what is wrong with a text rather than with an experiment, by its code: of specs and
    suppressions, namelists, scripts and configurations of mkexp."""
    of_models = {code: page for model in own_models() for code, page in model.problems.items()}
    return SPEC_PROBLEMS | SUPPRESSION_PROBLEMS | TEXT_PROBLEMS | of_models


@cache
def rule_names() -> dict[str, str]:
    """The name of each rule and problem that nmlgen can report, by its code."""
    problems = {code: name for code, (name, _) in all_problems().items()}
    return {rule.code: rule.name for rule in rulebook()} | problems


def explanations() -> dict[str, str]:
    """The page of each rule and problem that nmlgen can report, by its code."""
    problems = {code: text for code, (_, text) in all_problems().items()}
    return {rule.code: rule.document for rule in rulebook()} | problems
