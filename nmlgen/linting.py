"""Linting files that nmlgen did not write: lifted to an Experiment, judged by the same rules."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from attrs import evolve

from nmlgen.checking import check_experiment
from nmlgen.configuration import Configuration, find_configuration
from nmlgen.files import Files
from nmlgen.findings import Report, Undecided, joined
from nmlgen.lift.namelists import MASTER_FILE, NamelistFile, is_master_file, lift_master, lift_model
from nmlgen.lift.problems import PROBLEMS, finding_of, problems_of
from nmlgen.lift.scripts import is_script, lift_script
from nmlgen.namelist.registry import Registry, load_registry, releases
from nmlgen.reviewing import review, suppressions
from nmlgen.rules import all_rules
from nmlgen.selection import Selection, selectors
from nmlgen.suppression import PROBLEMS as SUPPRESSION_PROBLEMS
from nmlgen.suppression import Suppression, excuse, suppressions_in


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
    source = files.read(path)
    if is_script(path, source):
        lifted = lift_script(path, registry, ntasks=ntasks, files=files)
        return excuse(review(lifted), suppressions(lifted), rule_names())
    if is_master_file(path, registry, files):
        models, read = lift_master(path, registry, ntasks, files)
    else:
        model, file = lift_model(path, registry, ntasks, files)
        models, read = (model,), (file,)
    findings = [finding_of(problem) for file in read for problem in file.overlooked]
    undecided: list[Undecided] = []
    for model in models:
        report = check_experiment(model.experiment, beginning=read[-1].beginning)
        findings += [*report.findings, *problems_of(model, read[-1].beginning)]
        undecided += report.undecided
    report = Report(tuple(dict.fromkeys(findings)), undecided=tuple(dict.fromkeys(undecided)))
    return excuse(report, [found for file in read for found in _suppressions(file)], rule_names())


def _suppressions(file: NamelistFile) -> Iterable[Suppression]:
    source = file.document.source
    comments = file.document.comments if "nmlgen:" in source.text else ()
    return suppressions_in(source, ((comment.start, comment.text) for comment in comments))
