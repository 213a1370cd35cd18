"""What a job of a model that is not ICON is made of, as the program that the model is started with keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nmlgen.values import frozen


@frozen
class ModelJob:
    """A job: its `namelist`, which of the keys of a spec are known beside that, what `scheduler` it is for, and in
    sentences what no key says (`remarks`), and what was taken where nobody says it (`notes`)."""

    name: str
    namelist: Path
    keys: Mapping[str, Any]
    scheduler: str
    remarks: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
