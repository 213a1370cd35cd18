"""What the upper atmosphere asks of output."""

from __future__ import annotations

from pathlib import Path

import pytest
from rules.experiments import experiment_of, judge

from nmlgen.models.icon.rules.upper_atmosphere import UpperAtmosphereInGrib


@pytest.mark.parametrize(
    ("forcing", "stream", "count"),
    [
        (3, "filetype: 2, ml_varlist: ['group:upatmo_rad_gases']", 1),
        (3, "filetype: 2, ml_varlist: [u, 'GROUP:upatmo_tendencies', 'group:upatmo_rad_gases']", 2),
        (3, "filetype: 4, ml_varlist: ['group:upatmo_rad_gases']", 0),
        (3, "filetype: 2, ml_varlist: [upatmo_o3]", 0),
        (3, "filetype: 2, ml_varlist: [u]", 0),
        (2, "filetype: 2, ml_varlist: ['group:upatmo_rad_gases']", 0),
        (3, "filetype: 2, dom: [2], ml_varlist: ['group:upatmo_rad_gases']", 0),  # there is no such domain
    ],
)
def test_groups_in_grib(forcing: int, stream: str, count: int, tmp_path: Path) -> None:
    text = f"output: {{atm: {{{stream}}}}}\nnamelists: {{run_nml: {{iforcing: {forcing}}}}}\n"
    assert len(judge(experiment_of(text, tmp_path), [UpperAtmosphereInGrib])) == count
