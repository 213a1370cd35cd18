"""Digits and letters of other scripts, which Python takes for those of ASCII at times; ICON, Slurm and PBS do not."""

from __future__ import annotations

import pytest
from rows import rows

import nmlgen
from nmlgen.units.calendar import Instant
from nmlgen.units.duration import Duration
from nmlgen.units.size import parse_size
from nmlgen.units.wall_time import parse_wall_time


@rows(
    ("read", "text"),
    [
        *((Duration.parse, text) for text in ("PT\u0663M", "P\u0663D", "PT\u00b2M", "PT1\u017f", "PT1.\u0663S")),
        *((Instant.parse, text) for text in ("200\u0663-09-01", "2008-09-0\u0663T00:00:00Z", "2008090\u0663T000000Z")),
        *((parse_size, text) for text in ("\u0663M", "4\u212a", "\u0663")),
        *((parse_wall_time, text) for text in ("0\u0663:00:00", "\u0663", "1-\u0663")),
    ],
)
def test_they_are_none(read, text):
    with pytest.raises(ValueError, match=r"expected|no |not |is "):
        read(text)


@pytest.mark.parametrize(
    "line",
    [
        *("#SBATCH --time=0\u0663:00:00", "#SBATCH --nodes=\u0663", "#SBATCH --mem=\u0663G", "#SBATCH --mem=4\u212a"),
        *("#SBATCH --array=0-\u0663", "#PBS -l select=\u0663", "#PBS -l walltime=0\u0663:00:00", "#PBS -J 0-\u0663"),
    ],
)
def test_directives_with_them_are_refused(tmp_path, line):
    path = tmp_path / "a.run"
    path.write_text(f"#!/bin/bash\n{line}\nsrun ./icon\n", encoding="utf-8")
    found = nmlgen.lint([path], is_isolated=True).errors
    assert [(one.code, one.line) for one in found] in ([("SBA006", 2)], [("PBS002", 2)])
