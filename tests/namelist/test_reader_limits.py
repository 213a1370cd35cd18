"""A namelist in pieces: not every piece is told."""

from __future__ import annotations

import pytest

import nmlgen
from nmlgen.namelist.reader import read_namelist


@pytest.mark.parametrize("lines", [499, 500, 501, 5000])
def test_of_a_group_in_pieces_the_first_problems_are_told(lines):
    document = read_namelist("&run_nml\n" + " nsteps = 1 = 2\n" * lines + "/\n")
    assert len(document.errors) == min(lines, 500)


@pytest.mark.parametrize(("count", "told"), [(500, 500), (501, 501), (5000, 501)])
def test_of_very_many_unknown_variables_the_first_are_told(count, told, tmp_path):
    text = "&run_nml\n" + "".join(f" x{number} = 1\n" for number in range(count)) + "/\n"
    (tmp_path / "NAMELIST_a").write_text(text)
    found = [finding for finding in nmlgen.lint([tmp_path / "NAMELIST_a"]).findings if finding.code == "NML002"]
    assert len(found) == told
    assert ("no more variables are told" in found[-1].message) is (count > 500)
