"""What the playground runs in the browser: a text in, all that nmlgen says of it out, as JSON."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nmlgen
from nmlgen.cli.ranks import show_text
from nmlgen.errors import NmlgenError
from nmlgen.experiment.experiment import Experiment
from nmlgen.files import Files
from nmlgen.findings import Finding
from nmlgen.lsp.analysis import Analysis, analyse
from nmlgen.lsp.documents import Document, kind_of
from nmlgen.namelist.registry import releases
from nmlgen.source import UNKNOWN, Source, Span
from nmlgen.spec.presets import SITE_PREFIX, names

_DIRECTORY = Path("/text")
_TIMES = 36
_SCRIPT = re.compile(r"\A#!|<<-?\s*['\"\\]?\w|^#SBATCH\b", re.MULTILINE)
_MASTER = re.compile(r"^\s*&master_(?:model_)?nml\b", re.MULTILINE | re.IGNORECASE)
_NAMELIST = re.compile(r"^\s*&[a-z]\w*\s*(?:!.*)?$", re.MULTILINE | re.IGNORECASE)
_CONFIGURATION = "nmlgen.toml"
_SPEC = re.compile(r"^(?:nmlgen|name|extends|site|model|models)[ \t]*:", re.MULTILINE)


def name_of(text: str) -> str:
    """A file name that tells what a text is."""
    if _SCRIPT.search(text):
        return "script.run"
    if _MASTER.search(text):
        return "icon_master.namelist"
    if _NAMELIST.search(text):
        return "NAMELIST_atm"
    return "spec.yaml" if _SPEC.search(text) else "script.run"


def choices() -> str:
    """The releases and the sites that a text may be judged for."""
    known = [name.removeprefix(SITE_PREFIX) for name in names() if name.startswith(SITE_PREFIX)]
    return json.dumps({"release": releases()[::-1], "site": known})


def judge(text: str, release: str = "", site: str = "") -> str:
    """The findings in a text, the files that are built of it, and the picture of the ranks.

    A release and a site hold for what says none, as a project's configuration does; a spec says both itself.
    """
    _DIRECTORY.mkdir(exist_ok=True)
    os.chdir(_DIRECTORY)
    path = _DIRECTORY / name_of(text)
    source = Source(str(path), text)
    document = Document(path.as_uri(), path, None, source, kind_of(path, source))
    said = {"icon-release": release, "site": site}
    configuration = "".join(f"{key} = {json.dumps(value)}\n" for key, value in said.items() if value)
    analysis = analyse(document, Files({path: text, _DIRECTORY / _CONFIGURATION: configuration}))
    return json.dumps(
        {
            "name": path.name,
            "kind": document.kind,
            "version": nmlgen.__version__,
            "findings": [_finding(finding, source) for finding in analysis.findings],
            "files": _files(analysis),
            "ranks": "\n".join(_pictures(analysis)),
        }
    )


def _finding(finding: Finding, source: Source) -> dict[str, Any]:
    is_here = finding.span is not None and finding.span.source.name == source.name
    start, end = _place(finding.span) if is_here and finding.span is not None else (0, 0)
    where = "" if is_here or finding.span is None else f"{finding.span}: "
    fix = finding.fix
    if fix is not None and any(edit.span.source.name != source.name for edit in fix.edits):
        fix = None
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity.value,
        "message": where + finding.message,
        "notes": list(finding.notes),
        "line": finding.line if is_here else None,
        "from": start,
        "to": end,
        "fix": fix
        and {
            "description": fix.description,
            "safe": fix.is_safe,
            "edits": [{**_span(edit.span), "insert": edit.replacement} for edit in fix.edits],
        },
    }


def _span(span: Span) -> dict[str, int]:
    start, end = _place(span)
    return {"from": start, "to": end}


def _place(span: Span) -> tuple[int, int]:
    """Where a span begins and ends, in the units that a browser counts: those of UTF-16."""
    start, end = span.offsets
    text = span.source.text
    if text.isascii():
        return start, end
    return _units(text[:start]), _units(text[:end])


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _experiments(analysis: Analysis) -> Iterator[Experiment]:
    if analysis.spec is not None:
        yield analysis.spec.experiment
    elif analysis.script is not None:
        yield from [way.experiment for way in analysis.script.ways if way.experiment is not None][:1]


def _pictures(analysis: Analysis) -> Iterator[str]:
    for experiment in _experiments(analysis):
        printed = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed), contextlib.suppress(NmlgenError):
            show_text(experiment, _TIMES)
        yield printed.buffer.getvalue().decode()


def _files(analysis: Analysis) -> dict[str, str]:
    """The files that are built of a spec; those that a script writes, as far as its text tells."""
    if analysis.spec is not None:
        try:
            return {name: data.decode() for name, data in nmlgen.build(analysis.spec).files.items()}
        except NmlgenError:
            return {}
    if analysis.script is not None:
        for way in analysis.script.ways:
            if way.experiment is not None:
                return {name: file.text.replace(UNKNOWN, "…") for name, file in way.world.files.items()}
    return {}
