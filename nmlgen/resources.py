"""The data that nmlgen carries: templates, schemas and presets.

In a wheel they lie inside the package; in a checkout beside it.
"""

from __future__ import annotations

import errno
import json
import os
from functools import cache
from pathlib import Path
from typing import Any

_PACKAGE = Path(__file__).resolve().parent
_PARTIAL = "nmlgen was not installed as a whole, into a directory"


@cache
def directory(kind: str) -> Path:
    """The directory of one kind of data: "templates", "schemas" or "presets". Raises OSError where there is none, as
    in a zip file."""
    for place in (_PACKAGE / kind, _PACKAGE.parent / kind):
        if place.is_dir():
            return place
    raise FileNotFoundError(errno.ENOENT, f"not there: {_PARTIAL}", str(_PACKAGE / kind))


def shipped(*names: str) -> Any:
    """The JSON document in `schemas`, by the names of directories and of its file."""
    return json.loads(shipped_text(*names))


def shipped_text(*names: str) -> str:
    """Its text."""
    return directory("schemas").joinpath(*names).read_text(encoding="utf-8")


@cache
def schema(name: str) -> dict[str, Any]:
    """The JSON Schema `schemas/<name>.schema.json`."""
    document: dict[str, Any] = shipped(f"{name}.schema.json")
    return document


def templates(**settings: Any) -> Any:
    """The environment in which the templates are read; `settings` are what differs by what they make."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(directory("templates")),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        **settings,
    )


def package_files() -> list[Path]:
    """The files that nmlgen is made of: its modules and its data, without what Python has made of them."""
    places = [_PACKAGE, *(place for kind in ("presets", "schemas", "templates") if (place := directory(kind)).is_dir())]
    found = [
        Path(top, name)
        for place in places
        for top, _, names in os.walk(place)
        for name in names
        if not name.endswith(".pyc")
    ]
    return sorted(dict.fromkeys(found))
