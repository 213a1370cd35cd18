"""Presets and sites: what ships with nmlgen, and files of the user's own that serve as such."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from nmlgen.errors import InputError, SpecError
from nmlgen.files import Files
from nmlgen.findings import did_you_mean
from nmlgen.resources import directory
from nmlgen.source import Span
from nmlgen.spec.document import Room, read_file
from nmlgen.spec.nodes import Document
from nmlgen.spec.problems import problem

SITE_PREFIX = "sites/"
CALIBRATIONS = "calibrations"
"""The directory beside them that holds what the advisor knows of sites."""


@cache
def names() -> tuple[str, ...]:
    """The names of all presets and sites that ship with nmlgen: icon/jabw, sites/levante, ..."""
    root = directory("presets")
    files = (path for path in root.rglob("*.yaml") if path.parent.name != CALIBRATIONS)
    return tuple(sorted(str(path.relative_to(root).with_suffix("")) for path in files))


def kept_at(name: str) -> Path:
    """Where the nodes of a preset or site that ships with nmlgen are kept."""
    return directory("presets") / "read" / f"{name}.json"


def text(name: str) -> str:
    """The text of a preset that ships with nmlgen; raises InputError for another name."""
    if name not in names():
        notes = did_you_mean(name, names())
        hint = f": {notes[0]}" if notes else f"; there are {', '.join(names())}"
        raise InputError(f'there is no preset "{name}"{hint}')
    return (directory("presets") / f"{name}.yaml").read_text(encoding="utf-8")


def group(name: str) -> str:
    """The group that a preset is listed in: the one it names (`about.group`), else that of its directory."""
    about = read_file(directory("presets") / f"{name}.yaml", name, kept=kept_at(name)).node.plain().get("about", {})
    return str(about.get("group", name.partition("/")[0]))


def read(
    reference: str, kind: str, base: Path, span: Span | None, files: Files | None = None, room: Room | None = None
) -> tuple[str, Document, Path]:
    """Read what `extends:` (kind "preset") or `site:` (kind "site") names.

    A name is looked up among what ships with nmlgen; a path beginning with ./, ../ or / is taken from the
    directory `base`; `files` may give other texts than the disk, and there may be little `room` left. Returns the label
    of the layer, the document and its path. Raises SpecError at `span`.
    """
    if reference.startswith(("./", "../", "/")):
        path = base / reference
        try:
            return f"{kind} {reference}", read_file(path, files=files, room=room), path
        except InputError as error:
            raise SpecError((problem("SPC007", str(error), span),)) from None
    name = f"{SITE_PREFIX}{reference}" if kind == "site" else reference
    if name not in names() or (kind == "preset" and name.startswith(SITE_PREFIX)):
        known = [
            other.removeprefix(SITE_PREFIX) if kind == "site" else other
            for other in names()
            if other.startswith(SITE_PREFIX) == (kind == "site")
        ]
        notes = did_you_mean(reference, known)
        advice = f"there are {', '.join(known)}; or give a file as ./{reference.removesuffix('.yaml')}.yaml"
        raise SpecError((problem("SPC007", f'there is no {kind} "{reference}"', span, *notes, advice),))
    path = directory("presets") / f"{name}.yaml"
    label = f"{kind} {reference}"
    return label, read_file(path, label, files, kept=kept_at(name), room=room), path
