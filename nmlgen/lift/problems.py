"""What only a text can have wrong, not a spec: problems of namelist files as findings."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from nmlgen.experiment.component import Model
from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.group import Group
from nmlgen.experiment.setting import Setting, UndecidedError
from nmlgen.findings import Finding, Fix, Severity
from nmlgen.lift.codes import PROBLEMS
from nmlgen.lift.namelists import type_of
from nmlgen.models.icon.reading import file_of, groups_read
from nmlgen.namelist.runtimes import READERS
from nmlgen.namelist.syntax import SyntaxProblem
from nmlgen.rules import all_rules
from nmlgen.rules.rule import of_unknown_release
from nmlgen.source import Span

_RULES_OF_KINDS = {
    "wrong-type": "NML003",
    "undelimited-text": "NML003",
    "integer-overflow": "NML003",
    "unquoted-string": "NML003",
    "too-many-values": "NML004",
    "array-full": "NML004",
    "value-after-null": "NML004",
    "several-arrays": "NML004",
    "string-too-long": "NML005",
    "out-of-bounds": "NML006",
    "not-an-array": "NML006",
    "bad-rank": "NML006",
    "bad-section": "NML006",
    "bad-substring": "NML006",
    "unknown-component": "NML002",
    "misspelt-component": "NML002",
    "no-component": "NML002",
    "blank-in-header": "NML012",
    "dollar-header": "NML012",
    "header-behind-comment": "NML012",
    "second-on-line": "NML012",
    "header-too-far-right": "NML012",
    "second-copy": "NML013",
    "set-twice": "NML015",
}


_OF_OTHERS = ("array-full", "out-of-bounds", "unknown-component")
"""What a later release takes, or a fork: with larger arrays, with more components."""


def problems_of(experiment: Experiment, beginning: Span, *, is_part: bool = False) -> Iterable[Finding]:
    """What is wrong with the namelists of an experiment, beyond what the rules say of it. Where it `is_part` only of
    one, its other files may lie elsewhere."""
    for model in experiment.models:
        if model.missing_file is not None:
            yield _missing(model, model.missing_file, beginning, is_part=is_part)
    for group in experiment.master:  # whatever models it starts, which a refused value leaves open
        if "master" in experiment.registry.files(group.name):
            yield from _of_group(group, experiment)
    for component in experiment.components:
        with suppress(UndecidedError):
            for group in groups_read(component):
                if file_of(component, group) != "master":
                    yield from _of_group(group, experiment)


def _of_group(group: Group, experiment: Experiment) -> Iterable[Finding]:
    for problem in group.problems:
        finding = finding_of(problem, runtimes=experiment.machine.fortran)
        may_hold = problem.kind in _OF_OTHERS and experiment.registry.is_assumed
        yield of_unknown_release(finding) if may_hold and finding.severity is Severity.ERROR else finding


_TESTBED = 99
_WITHOUT_LEVELS = (2, 4)
"""Ocean and HAMOCC: they read the same groups, and stop before they look for the grid."""


def _missing(model: Model, setting: Setting, beginning: Span, *, is_part: bool) -> Finding:
    """What becomes of a model whose file is not there: ICON only warns that it cannot open it, for a variable of
    `open_nml` keeps what it was for the master namelist (`mo_namelist.F90:58`), and all stands at its default. Without
    a grid atmosphere, waves, land and output end (`mo_grid_config.f90:180`), without levels the ocean does
    (`mo_ocean_nml.f90:1334`); a testbed runs, and tests nothing (`mo_icon_testbed_nml.f90:60`)."""
    name, number = str(setting.value).strip(), type_of(model)
    if is_part:
        what = " here: it is not judged"
    elif number == _TESTBED:
        what = ": ICON runs on with its defaults"
    else:
        what = f": ICON goes on without it, and stops for want of {'levels' if number in _WITHOUT_LEVELS else 'a grid'}"
    return problem(
        "NML014",
        Severity.WARNING if is_part or number == _TESTBED else Severity.ERROR,
        f'there is no file "{name}"{what}',
        setting.span or beginning,
        "expected: the name of a file beside this one",
    )


def finding_of(found: SyntaxProblem, code: str | None = None, runtimes: tuple[str, ...] = ()) -> Finding:
    """The finding that a problem of a text is; its code is that of its kind in a namelist, if none is given. At what
    not every Fortran runtime stops it is an error only if each of those of the machine, its `runtimes`, does."""
    severity = Severity.ERROR if found.stops else Severity.WARNING
    code = code or _RULES_OF_KINDS.get(found.kind, "NML011")
    notes = [f"expected: {found.expected}"]
    readers = READERS.get(found.kind)
    if readers is not None:
        notes.append(readers.note())
        severity = severity if readers.stops_each(runtimes) else Severity.WARNING
    return problem(code, severity, found.message, found.span, *notes, fix=found.fix)


def problem(
    code: str, severity: Severity, message: str, span: Span | None, *notes: str, fix: Fix | None = None
) -> Finding:
    """A finding with the name of its code."""
    name = PROBLEMS[code][0] if code in PROBLEMS else next(rule.name for rule in all_rules() if rule.code == code)
    return Finding(code, name, severity, message, span, notes, fix)
