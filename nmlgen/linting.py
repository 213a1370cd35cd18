"""Linting files that nmlgen did not write: lifted to an Experiment, judged by the same rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path

from nmlgen.caching import Cache, Key
from nmlgen.checking import check_experiment
from nmlgen.codes import rule_names
from nmlgen.configuration import NOTHING_SAID, Configuration, find_configuration, suppressions_of
from nmlgen.errors import UnreadableError
from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.machine import Machine
from nmlgen.files import STANDARD_INPUT, Files
from nmlgen.findings import Finding, Report, Severity, Undecided, joined
from nmlgen.lift.mkexp import lift_config
from nmlgen.lift.namelists import (
    MASTER_FILE,
    NamelistFile,
    is_master_file,
    is_none_of_icons,
    is_part,
    lift_master,
    lift_model,
)
from nmlgen.lift.own_text import only_own_text
from nmlgen.lift.problems import finding_of, problem, problems_of
from nmlgen.lift.releases import registry_for
from nmlgen.lift.scripts import LiftedScript, lift_script
from nmlgen.lift.sites import site_named
from nmlgen.lift.targets import Target, holds_namelists, is_run_directory, targets
from nmlgen.models import Model, model_of
from nmlgen.namelist.reader import read as read_document
from nmlgen.namelist.registry import Registry
from nmlgen.namelist.syntax import Document
from nmlgen.reviewing import review, suppressions
from nmlgen.selection import Selection, selected, selectors
from nmlgen.source import Source, Span, Text
from nmlgen.suppression import Suppression, excuse, suppressions_in
from nmlgen.values import evolve, field, frozen


@frozen
class Lifted:
    """What files were lifted to: the scripts, and the experiments of namelists and of configurations of mkexp with the
    files of each; of the namelists of other models, what is found in them."""

    scripts: dict[Path, LiftedScript] = field(factory=dict)
    namelists: dict[Path, tuple[Experiment, tuple[NamelistFile, ...]]] = field(factory=dict)
    of_others: dict[Path, tuple[Source, Report]] = field(factory=dict)


def lint(
    paths: Iterable[str | Path],
    *,
    ntasks: int | None = None,
    icon_release: str | None = None,
    site: str | None = None,
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    is_isolated: bool = False,
    is_fragment: bool | None = None,
    variables: Mapping[str, str] | None = None,
    files: Files | None = None,
    track: Callable[[Sequence[Target]], Iterable[Target]] | None = None,
    passed_over: Callable[[str], None] | None = None,
    lifted: Lifted | None = None,
    cache: Cache | None = None,
) -> Report:
    """Judge run scripts, namelist files and configurations of mkexp, none of which is run; "-" is the standard input.

    An `icon_master.namelist` is judged with the files it names. In a directory every file is judged that is one of
    these; a namelist that a script or a master there has read already is not judged by itself again.

    `ntasks` is the number of MPI tasks, without which what depends on it is not decided; a script that says it itself
    has the last word. `icon_release` is the release or the path of a registry file; without it what the file or a log
    beside it shows, else the newest one, and then nothing is an error that another known release takes. `site` is the
    machine, without which what depends on it is not judged; a script that nmlgen built remembers both. `select` and
    `ignore` name rules, as codes, beginnings of codes or names. `is_fragment` tells whether scripts need another one
    before them, which is found out if it is None; `variables` are those of the shell that are set before a script
    begins. What the nearest `nmlgen.toml` or `pyproject.toml` of each path says holds where no argument does, unless
    `is_isolated`. `files` gives other texts than those on the disk; `track` goes through the files and may tell how far
    it is; `passed_over` is told of each path that is nothing to lint among others, which without it refuses all;
    `lifted` gets what each file was lifted to, for those who look further, and tells what scripts do whose
    texts are the same in `files`, for another release. `cache` is where what is found in
    files of the disk is looked for first, and kept. Raises InputError if a file cannot
    be read or is nothing to lint, or if a release, a rule, a variable or a configuration cannot be used.
    """
    given_texts = files is not None
    files = files or Files()
    names = rule_names()
    chosen, left_out = selectors(select, names), selectors(ignore, names)
    reports: dict[int, tuple[Configuration, list[Report]]] = {}
    configurations: dict[Path, Configuration] = {}
    known: dict[Path, Configuration | None] = {}
    all_targets = targets(map(Path, paths), files, is_fragment=is_fragment, passed_over=passed_over)
    for target in all_targets if track is None else track(all_targets):
        if not target.is_given and target.kind == "namelist" and target.path.resolve() in files.sources:
            continue
        directory = target.path.parent
        if directory not in configurations:
            found_there = NOTHING_SAID if is_isolated else find_configuration(directory, names, files, known)
            configurations[directory] = found_there
        configuration = configurations[directory]
        profile = {**dict(configuration.profile), **(variables or {})}
        linting = _Linting(
            icon_release,
            configuration.icon_release,
            site or configuration.site,
            ntasks,
            files,
            is_fragment,
            profile,
            lifted,
        )
        judge = partial(linting.report, target)
        is_kept = cache is not None and not given_texts and lifted is None and target.path != STANDARD_INPUT
        try:
            if cache is not None and is_kept:
                found = cache.at(configuration.cache_directory).report(linting.key(target), files, judge)
            else:
                found = judge()
        except UnreadableError as error:  # a file that it leads to
            if target.is_given or passed_over is None:
                raise
            passed_over(f"{target.path}: it cannot be judged without {error}")
            continue
        reports.setdefault(id(configuration), (configuration, []))[1].append(found)
    return joined(
        _configured(joined(given), configuration, Selection(chosen or configuration.select, left_out), files)
        for configuration, given in reports.values()
    )


def _configured(report: Report, configuration: Configuration, selection: Selection, files: Files) -> Report:
    """What is left of a report when a configuration was obeyed, and only what is asked for is looked at."""
    report = excuse(report, suppressions_of(configuration.exemptions, files.sources), rule_names())
    return selected(configuration.graded(report), selection)


@frozen(slots=False)
class _Linting:
    """What holds for the files of one configuration."""

    icon_release: str | None
    configured_release: str | None
    site: str | None
    ntasks: int | None
    files: Files
    is_fragment: bool | None
    variables: Mapping[str, str]
    lifted: Lifted | None

    @cached_property
    def machine(self) -> Machine | None:
        """The machine that the site is, read where it can be noted what was read."""
        return None if self.site is None else site_named(self.site).machine

    def key(self, target: Target) -> Key:
        """All that a report depends on, beside what is seen on the disk."""
        of_target = (str(target.path), target.kind, target.is_given)
        said = (self.icon_release, self.configured_release, self.site, self.ntasks, self.is_fragment)
        return (*of_target, *said, list(map(list, self.variables.items())))

    def report(self, target: Target) -> Report:
        """What is found in a file, after its own suppressions were obeyed."""
        self.machine  # noqa: B018  a site that nobody knows is said of any file
        if target.kind == "script":
            return self._script(target.path)
        if target.kind == "config":
            return self._config(target.path)
        return self._namelist(target)

    def _registry(self, path: Path) -> Registry:
        return registry_for(path, self.files.read(path).text, self.icon_release, self.configured_release)

    def _script(self, path: Path) -> Report:
        lifted = lift_script(
            path,
            self._registry(path),
            ntasks=self.ntasks,
            files=self.files,
            is_fragment=self.is_fragment,
            variables=self.variables,
            machine=self.machine,
            before=self.lifted.scripts.get(path) if self.lifted is not None else None,
        )
        if self.lifted is not None:
            self.lifted.scripts[path] = lifted
        beside = dict.fromkeys(file for way in lifted.ways for file in way.files if _is_plain(file))
        excused = [*suppressions(lifted), *(found for file in beside for found in _suppressions(file))]
        return excuse(review(lifted), excused, rule_names())

    def _config(self, path: Path) -> Report:
        lifted = lift_config(path, self._registry(path), ntasks=self.ntasks, files=self.files)
        if self.lifted is not None and any(file.groups for file in lifted.files):
            self.lifted.namelists[path] = lifted.experiments[0], lifted.files
        found = [finding_of(problem, "MKX001") for problem in lifted.problems]
        found += [finding_of(problem, "MKX002") for problem in lifted.of_plan]
        report = self._judged(lifted.experiments, lifted.files, lifted.source.span(1, 1), found)
        mended = evolve(report, findings=tuple(only_own_text(report.findings, lifted.files)))
        return excuse(mended, suppressions_in(lifted.source, lifted.comments), rule_names())

    def _namelist(self, target: Target) -> Report:
        source = self.files.read(target.path)
        model = model_of(target.path, source.text)
        if model is not None:
            return self._of_another_model(target.path, source, model)
        registry = self._registry(target.path)
        if is_master_file(target.path, self.files):
            experiment, read = lift_master(target.path, registry, self.ntasks, self.files)
            is_lone = len(read) == 1 and not (target.path.name == MASTER_FILE and _holds_all(target.path.parent))
        else:
            experiment, file = lift_model(target.path, registry, self.ntasks, self.files)
            if is_none_of_icons(file.groups, registry, is_given=target.is_given):
                found = (_of_another_program(file, registry),) if target.is_given else ()
                return excuse(Report(found), _suppressions(file), rule_names())
            read = (file,)
            is_lone = is_part(file.groups)
        if self.lifted is not None:
            self.lifted.namelists[target.path] = experiment, read
        report = self._judged([experiment], read, read[-1].beginning, is_lone=is_lone)
        return excuse(report, [found for file in read for found in _suppressions(file)], rule_names())

    def _of_another_model(self, path: Path, source: Source, model: Model) -> Report:
        """What such a model makes of its namelist, which is the same for all releases of ICON."""
        known = self.lifted.of_others.get(path) if self.lifted is not None else None
        if known is not None and known[0] is source:
            return known[1]
        document = read_document(source)
        judged = model.lint(document, self.ntasks, partial(self.files.beside, path))
        report = excuse(judged, _suppressions_in(document), rule_names())
        if self.lifted is not None:
            self.lifted.of_others[path] = source, report
        return report

    def _judged(
        self,
        experiments: Iterable[Experiment],
        read: Iterable[NamelistFile],
        beginning: Span,
        found: Iterable[Finding] = (),
        *,
        is_lone: bool = False,
    ) -> Report:
        findings = [*found, *(finding_of(problem) for file in read for problem in file.overlooked)]
        undecided: list[Undecided] = []
        for given in experiments:
            experiment = evolve(given, machine=self.machine or given.machine)
            report = check_experiment(experiment, beginning=beginning)
            findings += [*report.findings, *problems_of(experiment, beginning, is_part=is_lone)]
            undecided += report.undecided
        parts = (beginning.source.name,) if is_lone else ()
        return Report(tuple(dict.fromkeys(findings)), undecided=tuple(dict.fromkeys(undecided)), parts=parts)


def _holds_all(directory: Path) -> bool:
    """Whether what lies beside a master namelist is all that ICON will find there."""
    return holds_namelists(directory) or is_run_directory(directory)


def _of_another_program(file: NamelistFile, registry: Registry) -> Finding:
    """What is said of a namelist, given by its name, instead of each of its groups."""
    names = {group.name for group in file.groups}
    known = sum(map(registry.has_group, names)) or "none"
    message = f"ICON {registry.release} has {known} of the {len(names)} groups here: they are another program's"
    return problem(
        "NML001", Severity.WARNING, message, file.beginning, "expected: a namelist of ICON, WRF, MPAS or PALM"
    )


def _is_plain(file: NamelistFile) -> bool:
    """Whether a namelist file lies there as it is, rather than being written by a script."""
    return type(file.document.origin) is Text


def _suppressions(file: NamelistFile) -> Iterable[Suppression]:
    return _suppressions_in(file.document)


def _suppressions_in(document: Document) -> Iterable[Suppression]:
    comments = document.comments if "nmlgen:" in document.source.text else ()
    return suppressions_in(document.source, ((comment.start, comment.text) for comment in comments))
