"""Linting files that nmlgen did not write: lifted to an Experiment, judged by the same rules."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from attrs import evolve

from nmlgen.checking import check_experiment
from nmlgen.configuration import Configuration, find_configuration
from nmlgen.experiment.reading import file_of, groups_read
from nmlgen.experiment.setting import UndecidedError
from nmlgen.files import Files
from nmlgen.findings import Finding, Fix, Report, Severity, Undecided, joined
from nmlgen.lift.namelists import MASTER_FILE, LiftedModel, NamelistFile, lift_master, lift_model, read_namelist
from nmlgen.namelist.registry import Registry, load_registry, releases
from nmlgen.namelist.syntax import SyntaxProblem
from nmlgen.rules import all_rules
from nmlgen.selection import Selection, selectors
from nmlgen.source import Span
from nmlgen.suppression import PROBLEMS as SUPPRESSION_PROBLEMS
from nmlgen.suppression import Suppression, excuse, suppressions_in

PROBLEMS = {
    "NML011": (
        "namelist-syntax",
        "The Fortran runtime stops at this text, or reads something else than it seems to say. ICON reads its groups "
        "without looking for errors, so the job ends with the runtime's message, often about another place.",
    ),
    "NML012": (
        "hidden-group",
        "ICON looks for `&group` within the first 256 characters of a line, not behind a `!`, and finds only the first "
        "of that name on a line. A group that it does not find keeps its defaults, and nothing is said.",
    ),
    "NML013": (
        "second-copy",
        "Of several groups of one name ICON reads the first; the others are never looked at. Only output_nml, "
        "master_model_nml and jsb_model_nml are read as often as they stand there.",
    ),
    "NML014": (
        "missing-namelist-file",
        "The namelist file of a model is not there. ICON prints a message and runs on with its defaults.",
    ),
}
"""Code to name and explanation of what only a text can have, not a spec."""

_RULES_OF_KINDS = {
    "wrong-type": "NML003",
    "integer-overflow": "NML003",
    "unquoted-string": "NML003",
    "too-many-values": "NML004",
    "value-after-null": "NML004",
    "several-arrays": "NML004",
    "string-too-long": "NML005",
    "out-of-bounds": "NML006",
    "not-an-array": "NML006",
    "bad-rank": "NML006",
    "bad-section": "NML006",
    "bad-substring": "NML006",
    "unknown-component": "NML002",
    "no-component": "NML002",
    "blank-in-header": "NML012",
    "dollar-header": "NML012",
    "header-behind-comment": "NML012",
    "second-on-line": "NML012",
    "header-too-far-right": "NML012",
    "second-copy": "NML013",
}


def lint(
    paths: Iterable[str | Path],
    *,
    ntasks: int | None = None,
    icon_release: str | None = None,
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    is_isolated: bool = False,
    files: Files | None = None,
) -> Report:
    """Judge namelist files: `icon_master.namelist` with the files it names, a directory that holds one, or a
    model's namelist by itself; "-" is the standard input.

    `ntasks` is the number of MPI tasks, without which what depends on it is not decided; `icon_release` the release,
    the newest one known by default. `select` and `ignore` name rules, as codes, beginnings of codes or names. What the
    nearest `nmlgen.toml` or `pyproject.toml` of each path says holds where no argument does, unless `is_isolated`.
    `files` gives other texts than those on the disk. Raises InputError if a file cannot be read, or if a release, a
    rule or a configuration cannot be used.
    """
    files = files or Files()
    names = rule_names()
    chosen, left_out = selectors(select, names), selectors(ignore, names)
    reports: dict[Configuration, list[Report]] = {}
    for path in map(Path, paths):
        configuration = Configuration() if is_isolated else find_configuration(_directory(path), names, files)
        registry = load_registry(icon_release or configuration.icon_release or releases()[-1])
        reports.setdefault(configuration, []).append(_lint_path(path, registry, ntasks, files))
    return joined(
        _configured(joined(found), configuration, Selection(chosen or configuration.select, left_out), files)
        for configuration, found in reports.items()
    )


def _directory(path: Path) -> Path:
    return path if path.is_dir() else path.parent


def _configured(report: Report, configuration: Configuration, selection: Selection, files: Files) -> Report:
    """What is left of a report when a configuration was obeyed, and only what is asked for is looked at."""
    given = [exemption.suppression(files.sources) for exemption in configuration.exemptions]
    report = excuse(report, [suppression for suppression in given if suppression is not None], rule_names())
    return evolve(
        report,
        findings=tuple(finding for finding in report.findings if finding.code in selection),
        undecided=tuple(item for item in report.undecided if item.code in selection),
    )


def rule_names() -> dict[str, str]:
    """The name of each rule and problem that linting can report, by its code."""
    problems = {code: name for code, (name, _) in (PROBLEMS | SUPPRESSION_PROBLEMS).items()}
    return {rule.code: rule.name for rule in all_rules()} | problems


def explanations() -> dict[str, str]:
    """The page of each rule and problem that linting can report, by its code."""
    problems = {code: text for code, (_, text) in (PROBLEMS | SUPPRESSION_PROBLEMS).items()}
    return {rule.code: rule.document() for rule in all_rules()} | problems


def _lint_path(path: Path, registry: Registry, ntasks: int | None, files: Files) -> Report:
    if path.is_dir():
        path = path / MASTER_FILE
    if is_master(path, registry, files):
        models, read = lift_master(path, registry, ntasks, files)
    else:
        model, file = lift_model(path, registry, ntasks, files)
        models, read = (model,), (file,)
    findings = [_finding(problem) for file in read for problem in file.overlooked]
    undecided: list[Undecided] = []
    for model in models:
        report = check_experiment(model.experiment, beginning=read[-1].beginning)
        findings += [*report.findings, *_problems(model, read[-1].beginning)]
        undecided += report.undecided
    report = Report(tuple(dict.fromkeys(findings)), undecided=tuple(dict.fromkeys(undecided)))
    return excuse(report, [found for file in read for found in _suppressions(file)], rule_names())


def _suppressions(file: NamelistFile) -> Iterable[Suppression]:
    source = file.document.source
    comments = file.document.comments if "nmlgen:" in source.text else ()
    return suppressions_in(source, ((comment.start, comment.text) for comment in comments))


def is_master(path: Path, registry: Registry, files: Files) -> bool:
    """Whether a file is a master namelist: by its name, or because it starts models."""
    if path.name == MASTER_FILE:
        return True
    groups = read_namelist(path, registry, is_master=True, files=files).groups
    return any(group.name == "master_model_nml" for group in groups)


def _problems(model: LiftedModel, beginning: Span) -> Iterable[Finding]:
    if model.missing_file is not None:
        setting = model.missing_file
        yield _problem(
            "NML014",
            Severity.ERROR,
            f'there is no file "{str(setting.value).strip()}": ICON runs on with its defaults',
            setting.span or beginning,
            "expected: the name of a file beside this one",
        )
    experiment = model.experiment
    for group in experiment.master:  # whatever model it starts, which a refused value leaves open
        if "master" in experiment.registry.files(group.name):
            yield from map(_finding, group.problems)
    try:
        for group in groups_read(experiment):
            if file_of(experiment, group) != "master":
                yield from map(_finding, group.problems)
    except UndecidedError:
        return


def _finding(problem: SyntaxProblem) -> Finding:
    severity = Severity.ERROR if problem.stops else Severity.WARNING
    code = _RULES_OF_KINDS.get(problem.kind, "NML011")
    return _problem(code, severity, problem.message, problem.span, f"expected: {problem.expected}", fix=problem.fix)


def _problem(
    code: str, severity: Severity, message: str, span: Span | None, *notes: str, fix: Fix | None = None
) -> Finding:
    name = PROBLEMS[code][0] if code in PROBLEMS else next(rule.name for rule in all_rules() if rule.code == code)
    return Finding(code, name, severity, message, span, notes, fix)
