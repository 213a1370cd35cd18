"""Linting files that nmlgen did not write: lifted to an Experiment, judged by the same rules."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from nmlgen.checking import check_experiment
from nmlgen.experiment.reading import groups_read
from nmlgen.experiment.setting import UndecidedError
from nmlgen.findings import Finding, Report, Severity, Undecided, in_order
from nmlgen.lift.namelists import MASTER_FILE, LiftedModel, is_master_file, lift_master, lift_model
from nmlgen.namelist.registry import Registry, load_registry, releases
from nmlgen.namelist.syntax import SyntaxProblem
from nmlgen.rules import all_rules
from nmlgen.source import Span

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
    "dollar-header": "NML012",
    "header-behind-comment": "NML012",
    "second-on-line": "NML012",
    "header-too-far-right": "NML012",
    "second-copy": "NML013",
}


def lint(paths: Iterable[str | Path], *, ntasks: int | None = None, icon_release: str | None = None) -> Report:
    """Judge namelist files: `icon_master.namelist` with the files it names, a directory that holds one, or a
    model's namelist by itself.

    `ntasks` is the number of MPI tasks, without which what depends on it is not decided; `icon_release` the release,
    the newest one known by default. Raises InputError if a file cannot be read or the release is not known.
    """
    registry = load_registry(icon_release or releases()[-1])
    reports = [_lint_path(Path(path), registry, ntasks) for path in paths]
    return Report(
        in_order([finding for report in reports for finding in report.findings]),
        undecided=tuple(item for report in reports for item in report.undecided),
    )


def _lint_path(path: Path, registry: Registry, ntasks: int | None) -> Report:
    if path.is_dir():
        path = path / MASTER_FILE
    if is_master_file(path, registry):
        models, files = lift_master(path, registry, ntasks)
    else:
        model, file = lift_model(path, registry, ntasks)
        models, files = (model,), (file,)
    findings = [_finding(problem) for file in files for problem in file.overlooked]
    undecided: list[Undecided] = []
    for model in models:
        report = check_experiment(model.experiment, beginning=files[-1].beginning)
        findings += [*report.findings, *_problems(model, files[-1].beginning)]
        undecided += report.undecided
    return Report(tuple(dict.fromkeys(findings)), undecided=tuple(dict.fromkeys(undecided)))


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
    try:
        for group in groups_read(model.experiment):
            yield from (_finding(problem) for problem in group.problems)
    except UndecidedError:
        return


def _finding(problem: SyntaxProblem) -> Finding:
    severity = Severity.ERROR if problem.stops else Severity.WARNING
    code = _RULES_OF_KINDS.get(problem.kind, "NML011")
    return _problem(code, severity, problem.message, problem.span, f"expected: {problem.expected}")


def _problem(code: str, severity: Severity, message: str, span: Span | None, *notes: str) -> Finding:
    name = PROBLEMS[code][0] if code in PROBLEMS else next(rule.name for rule in all_rules() if rule.code == code)
    return Finding(code, name, severity, message, span, notes)
