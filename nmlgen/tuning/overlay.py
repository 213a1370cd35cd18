"""The values that tuning found best, as keys of a spec."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from nmlgen.spec.layers import EMPTY, merge
from nmlgen.spec.overrides import overrides_of
from nmlgen.spec.spec import Spec
from nmlgen.spec.write import spec_text
from nmlgen.sweep.point import Point
from nmlgen.writing import utf_8, write_whole

TUNED = "tuned.yaml"


def settings(point: Point) -> tuple[str, ...]:
    """The values of a point as `--set` takes them, a text such as "parallel.num_io_procs=8" each."""
    return tuple(text for text in point.overrides if text.partition("=")[0] != "name")


def set_options(point: Point) -> str:
    """The same as options of a command line, quoted for a shell."""
    return " ".join(f"--set {shlex.quote(text)}" for text in settings(point))


def write_tuned(directory: Path, path_of_spec: Path, spec: Spec, point: Point, heading: Iterable[str] = ()) -> Path:
    """Write tuned.yaml into a directory: a spec that is the given one with the values of a point, and no sweep; what
    `--set` said beside is not in it. Returns its path; raises WriteError if it cannot be written.
    """
    path = directory / TUNED
    above = os.path.relpath(path_of_spec.resolve(), directory.resolve())
    keys: dict[str, Any] = {
        "nmlgen": 1,
        "extends": above if above.startswith("../") else f"./{above}",
        **({"sweep": None} if spec.tree.get("sweep") is not None else {}),
        **_keys(point),
    }
    write_whole(path, utf_8(spec_text(keys, heading)))
    return path


def _keys(point: Point) -> dict[str, Any]:
    tree = EMPTY
    for key, value in point.values.items():
        if key != "name":
            for override in overrides_of(key, value, "tune"):
                tree = merge(tree, override.layer)
    plain: dict[str, Any] = tree.plain()
    return plain
