"""Sweeps of points that nmlgen did not build: their batch scripts, and what their jobs have said."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import nmlgen


def write_points(
    sweep: Path,
    points: Sequence[tuple[str, ...]],
    prefix: str,
    of_name: Callable[[str], tuple[str, ...]],
    *,
    legs: int,
    body: str = "",
    more: tuple[str, ...] = (),
) -> None:
    """A sweep of points with these directives, and those that bear a point's name; its table has `more` rows."""
    rows = ["id,name,directory,state,reason"]
    for number, directives in enumerate(points):
        name = f"p{number}"
        directory = sweep / "points" / name
        directory.mkdir(parents=True)
        lines = "".join(f"{prefix} {line}\n" for line in (*of_name(name), *directives))
        (directory / f"{name}.sbatch").write_text(f"#!/bin/bash\n{lines}\nreadonly legs={legs}\n{body}")
        rows.append(f"id{number},{name},points/{name},built,")
    (sweep / "points.csv").write_text("\n".join([*rows, *more]) + "\n")


def record(sweep: Path, point: int, kind: str, text: str) -> None:
    """What a job of a point has said."""
    directory = sweep / "points" / f"p{point}" / "nmlgen.jobs"
    directory.mkdir(exist_ok=True)
    (directory / kind).write_text(text + "\n")


def states(sweep: Path) -> list[str]:
    """How far each point is."""
    return [point.state for point in nmlgen.status(sweep).points]
