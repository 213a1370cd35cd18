"""Findings as an editor's diagnostics, and their fixes as its quick fixes."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from operator import itemgetter
from pathlib import Path

from lsprotocol import types

from nmlgen.findings import Edit, Finding, Fix, Severity, meant
from nmlgen.lsp.analysis import Analysis
from nmlgen.lsp.positions import Positions
from nmlgen.source import Source, Span

SOURCE = "nmlgen"
FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.nmlgen"

_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.ADVICE: types.DiagnosticSeverity.Information,
}


def diagnostics_of(analysis: Analysis, encoding: str) -> list[types.Diagnostic]:
    """What is found, by its place in the document. What stands in another file is told where the document names it."""
    named = cache(partial(_where_named, analysis.document.source))  # many findings may stand in one other file
    return [_diagnostic(finding, analysis, encoding, named) for finding in analysis.findings]


def _diagnostic(
    finding: Finding, analysis: Analysis, encoding: str, where_named: Callable[[str], Span] | None = None
) -> types.Diagnostic:
    source = analysis.document.source
    lines = [finding.message, *finding.notes]
    related: list[types.DiagnosticRelatedInformation] = []
    if finding.span is None:
        span = _first_line(source)
    elif finding.span.source.name == source.name:
        span = finding.span
    else:
        name = finding.span.source.name
        span = _where_named(source, name) if where_named is None else where_named(name)
        lines[0] = f"{_short(finding.span)}: {lines[0]}"
        if (path := analysis.read.get(finding.span.source.name)) is not None:
            place = types.Location(path.as_uri(), Positions(finding.span.source, encoding).range(finding.span))
            related.append(types.DiagnosticRelatedInformation(place, finding.message))
    return types.Diagnostic(
        range=Positions(source, encoding).range(span),
        message="\n".join(lines),
        severity=_SEVERITIES[finding.severity],
        code=finding.code or None,
        source=SOURCE,
        tags=[types.DiagnosticTag.Deprecated] if finding.name.startswith("removed-") else None,
        related_information=related or None,
    )


def _first_line(source: Source) -> Span:
    return source.span(1, 1, max(1, len(source.line(1))))


def _short(span: Span) -> str:
    name = span.source.name
    return f"{Path(name).name if name.startswith('/') else name}:{span.line}:{span.column}"


def _where_named(source: Source, name: str) -> Span:
    """Where a text names another file, preset or site; its first line, if it does not."""
    word = name.removeprefix("preset ").removeprefix("site ").rpartition("/")[2]
    for number, line in enumerate(source.lines, start=1):
        at = line.find(word)
        if at >= 0 and word:
            return source.span(number, at + 1, len(word))
    return _first_line(source)


def _is_sure(finding: Finding, fix: Fix) -> bool:
    """Whether the fix is what a key of the editor does without asking: a safe one, and the word that was meant for the
    one that the finding points at."""
    return fix.is_safe or [edit.span for edit in fix.edits] == [finding.span]


def actions_at(
    analysis: Analysis, wanted: types.Range, only: Iterable[str] | None, encoding: str
) -> list[types.CodeAction]:
    """The fixes of what is found at a place, and, where one is asked for, all safe ones of the document at once."""
    kinds = list(only or ())
    actions = [
        types.CodeAction(
            title=fix.description,
            kind=types.CodeActionKind.QuickFix,
            diagnostics=[_diagnostic(finding, analysis, encoding)],
            is_preferred=_is_sure(finding, fix),
            edit=edit,
        )
        for finding in _found_at(analysis, wanted, encoding)
        if _is_asked_for(types.CodeActionKind.QuickFix.value, kinds)
        and (fix := finding.fix or _respelt(finding)) is not None
        and (edit := _workspace_edit([fix], analysis, encoding)) is not None
    ]
    safe = [finding.fix for finding in analysis.findings if finding.fix is not None and finding.fix.is_safe]
    if safe and _is_asked_for(FIX_ALL, kinds):
        chosen = list(_apart(safe))
        edit = _workspace_edit(chosen, analysis, encoding)
        if edit is not None:
            title = f"fix all that nmlgen can fix safely ({len(chosen)})"
            actions.append(types.CodeAction(title=title, kind=FIX_ALL, edit=edit))
    return actions


def _respelt(finding: Finding) -> Fix | None:
    """The word that was meant, as far as one can tell: somebody at an editor sees what becomes of it."""
    word = meant(finding)
    if word is None or finding.span is None:
        return None
    return Fix(f"write {word}", (Edit(finding.span, word),), is_safe=False)


def _is_asked_for(kind: str, only: list[str]) -> bool:
    return not only or any(kind == prefix or kind.startswith(f"{prefix}.") for prefix in only)


def _found_at(analysis: Analysis, wanted: types.Range, encoding: str) -> Iterator[Finding]:
    named = cache(partial(_where_named, analysis.document.source))
    for finding in analysis.findings:
        place = _diagnostic(finding, analysis, encoding, named).range
        if _key(place.start) <= _key(wanted.end) and _key(wanted.start) <= _key(place.end):
            yield finding


def findings_at(analysis: Analysis, position: types.Position, encoding: str) -> list[Finding]:
    """What is found at a place."""
    return list(_found_at(analysis, types.Range(position, position), encoding))


def _key(position: types.Position) -> tuple[int, int]:
    return position.line, position.character


def _apart(fixes: Iterable[Fix]) -> Iterator[Fix]:
    """The fixes that do not touch one before."""
    taken: dict[str, list[tuple[int, int]]] = {}  # by the names of files, in order and apart
    for fix in fixes:
        places = [(edit.span.source.name, *edit.span.offsets) for edit in fix.edits]
        if not any(_is_taken(taken.get(name, ()), start, end) for name, start, end in places):
            for name, start, end in places:
                insort(taken.setdefault(name, []), (start, end))
            yield fix


def _is_taken(places: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    """Whether one of some places, which stand in order and apart, touches a stretch of the text."""
    before = bisect_right(places, end, key=itemgetter(0))
    return before > 0 and places[before - 1][1] >= start


def _workspace_edit(fixes: Iterable[Fix], analysis: Analysis, encoding: str) -> types.WorkspaceEdit | None:
    """The edits of fixes by the files that they change; None if one is in a text that is no file of the author's."""
    uris = _uris(analysis)
    changes: dict[str, dict[tuple[int, int, str], types.TextEdit]] = {}
    for fix in fixes:
        for edit in fix.edits:
            uri = uris.get(edit.span.source.name)
            if uri is None:
                return None
            key = (*edit.span.offsets, edit.replacement)
            if key not in changes.setdefault(uri, {}):
                place = Positions(edit.span.source, encoding).range(edit.span)
                changes[uri][key] = types.TextEdit(place, edit.replacement)
    return types.WorkspaceEdit(changes={uri: list(edits.values()) for uri, edits in changes.items()})


def _uris(analysis: Analysis) -> Mapping[str, str]:
    found = {name: path.as_uri() for name, path in analysis.read.items() if name.startswith("/")}
    return found | {analysis.document.source.name: analysis.document.uri}
