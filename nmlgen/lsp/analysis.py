"""Judging one open text: by the functions behind `nmlgen lint` and `nmlgen check`, and by no others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import nmlgen
from nmlgen.codes import rule_names
from nmlgen.configuration import Configuration, ConfigurationError, find_configuration
from nmlgen.errors import InputError, NmlgenError, SpecError
from nmlgen.files import Files
from nmlgen.findings import Finding, Severity
from nmlgen.lift.namelists import MASTER_FILE
from nmlgen.lift.releases import registry_for
from nmlgen.lift.scripts import LiftedScript
from nmlgen.linting import Lifted, lint
from nmlgen.lsp.documents import Document
from nmlgen.namelist.registry import Registry, registry_of
from nmlgen.source import Source, Span
from nmlgen.spec.document import read_file
from nmlgen.spec.site import read_site
from nmlgen.spec.spec import Spec, load_spec
from nmlgen.spec.validate import validate
from nmlgen.sweep.expansion import plan_of_spec
from nmlgen.sweep.review import review
from nmlgen.values import frozen

_MOST_POINTS = 12
"""The points of a sweep that are judged as one types; `nmlgen check` judges more."""


@frozen(eq=False)
class Analysis:
    """What is found in a document, and in the files that it leads to.

    `read` are the files that had a say, by the names that findings call them, `paths` these and its own; `spec` is the
    spec, where it is one that can be loaded, `script` what a script was lifted to.
    """

    document: Document
    findings: tuple[Finding, ...] = ()
    read: Mapping[str, Path] = {}
    paths: frozenset[Path] = frozenset()
    spec: Spec | None = None
    script: LiftedScript | None = None

    def depends_on(self, path: Path) -> bool:
        """Whether a file, given by its resolved path, had a say."""
        return path in self.paths


def analyse(document: Document, files: Files) -> Analysis:
    """Judge a document, with the files that it leads to. Whatever is wrong becomes a finding; nothing is raised."""
    spec: Spec | None = None
    lifted = Lifted()
    found: Iterable[Finding] = ()
    try:
        files.read(document.path)  # by this name all speak of it
        if document.kind == "spec":
            spec, found = _spec(document, files)
        elif document.kind == "site":
            _read_site(document, files)
        elif document.kind == "project":
            find_configuration(document.path.parent, rule_names(), files)
        elif document.kind is not None and document.source.text.strip():
            found = _lint(document, files, lifted)
    except (SpecError, nmlgen.BuildError) as error:
        found = error.findings
    except ConfigurationError as error:
        found = [_refusal(error.message, error.span, error.notes)]
    except NmlgenError as error:
        found = [_refusal(str(error), document.source.span(1, 1))]
    except Exception as error:  # the server goes on, whatever an editor sends
        message = f"nmlgen failed, which is a mistake in nmlgen: {type(error).__name__}: {error}"
        found = [_refusal(message, document.source.span(1, 1), severity=Severity.WARNING)]
    read = {source.name: path for path, source in files.sources.items()}
    return Analysis(
        document,
        tuple(found),
        read,
        frozenset((document.path, *files.sources)),
        spec,
        lifted.scripts.get(document.path),
    )


def _refusal(message: str, span: Span, notes: tuple[str, ...] = (), severity: Severity = Severity.ERROR) -> Finding:
    return Finding("", "unusable", severity, message, span, notes)


def _spec(document: Document, files: Files) -> tuple[Spec | None, tuple[Finding, ...]]:
    if _is_preset(document.source):
        validate(read_file(document.path, str(document.path), files).node, "spec")
        return None, ()
    spec = load_spec(document.path, files=files)
    plan = plan_of_spec(spec)
    if plan is None:
        return spec, nmlgen.check(spec).findings
    return spec, review(plan, _MOST_POINTS).report.findings


def _is_preset(source: Source) -> bool:
    """Whether a spec is one for others to extend: it says what it is good for, and no site."""
    keys = [line.partition(":")[0] for line in source.lines]
    return "about" in keys and "site" not in keys


def _read_site(document: Document, files: Files) -> None:
    name = document.path.stem
    read_site(read_file(document.path, str(document.path), files), name, document.path)


def _lint(document: Document, files: Files, lifted: Lifted) -> tuple[Finding, ...]:
    master = root_of(document, files)
    if master != document.path:
        try:
            found = lint([master], files=files).findings
            if document.path in files.sources:
                return found
        except NmlgenError:
            pass  # the master namelist cannot be read; the document itself can
    return lint([document.path], files=files, lifted=lifted).findings


def root_of(document: Document, files: Files) -> Path:
    """The file by which a document is judged: for a model's namelist the master namelist beside it, else itself."""
    master = document.path.with_name(MASTER_FILE)
    if document.kind != "namelist" or document.path == master:
        return document.path
    try:
        files.read(master)
    except InputError:
        return document.path
    return master


def configuration_of(document: Document, files: Files) -> Configuration:
    """What the project says for a document; nothing where that cannot be used."""
    try:
        return find_configuration(document.path.parent, rule_names(), files)
    except NmlgenError:
        return Configuration()


def registry_at(document: Document, files: Files, spec: Spec | None = None) -> Registry:
    """The registry by which a document is read; the newest where it cannot be had."""
    if spec is not None:
        return spec.experiment.registry
    try:
        said = configuration_of(document, files).icon_release
        return registry_for(document.path, document.source.text, None, said)
    except NmlgenError:
        return registry_of(None)
