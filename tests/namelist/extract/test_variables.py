"""The catalogue of output variables made from a source tree: small sources that register as ICON's do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from rows import rows
from steps import grows_too_fast

from nmlgen.errors import InputError
from nmlgen.namelist.extract.tree import SourceTree
from nmlgen.namelist.extract.variables import catalogue_text, make_catalogue
from nmlgen.resources import directory

BASE: dict[str, Any] = {
    "release": "2024.10",
    "source": "the calls in the sources of ICON 2024.10",
    "groups": ["old", "new"],
    "conditions": ["unknown"],
    "components": {"waves": []},
}
READER = """
MODULE mo_wave_nml
  INTEGER :: nfreqs
  NAMELIST /wave_nml/ nfreqs
END MODULE
"""
STATE = """
MODULE mo_wave_state
CONTAINS
  SUBROUTINE new_list(p_list, wc)
    CHARACTER(len=3) :: word
{statements}
  END SUBROUTINE
END MODULE
"""
REGISTERED = (
    "CALL add_ref(p_list, 'tracer', {name}, ptr, GRID_UNSTRUCTURED_CELL, ZA_SURFACE, cf, grib2, lrestart=.TRUE.)"
)
NUMBERED = REGISTERED.format(name="'bin_'//word")


def made(tmp_path: Path, statements: str, waves: list[dict[str, Any]] | None = None) -> list[dict[str, Any]]:
    """The variables of waves in a release after the base."""
    place = tmp_path / "src" / "waves"
    place.mkdir(parents=True)
    (place / "mo_wave_nml.f90").write_text(READER, encoding="utf-8")
    (place / "mo_wave_state.f90").write_text(STATE.format(statements=statements), encoding="utf-8")
    base = BASE | {"components": {"waves": waves or []}}
    found: list[dict[str, Any]] = make_catalogue(SourceTree(tmp_path), "2025.04", base).document["components"]["waves"]
    return found


def test_what_is_registered_in_a_loop_over_a_setting_is_there_so_many_times(tmp_path):
    (entry,) = made(tmp_path, f"DO jf = 1, wc%nfreqs\n WRITE(word,'(I0.3)') jf\n {NUMBERED}\n END DO")
    assert (entry["name"], entry["copies"], entry["restart"]) == ("bin_{n}", "nfreqs", True)


@pytest.mark.parametrize(
    "statements",
    [
        NUMBERED,
        f"DO jf = 1, nfreqs\n word = 'x'\n END DO\n {NUMBERED}",  # behind the loop
        f"DO jf = 0, nfreqs\n {NUMBERED}\n END DO",
        f"DO jf = 1, count\n {NUMBERED}\n END DO",  # no setting
        f"DO jf = 1, nfreqs, 2\n {NUMBERED}\n END DO",
        f"DO jf = 1, nfreqs+1\n {NUMBERED}\n END DO",
        f"DO WHILE (more)\n {NUMBERED}\n END DO",
        f"DO jg = 1, nfreqs\n DO jf = 1, nfreqs\n {NUMBERED}\n END DO\n END DO",  # in two loops
        "DO jf = 1, nfreqs\n " + REGISTERED.format(name="'one'") + "\n END DO",  # without a number in its name
    ],
)
def test_how_many_there_are_is_not_guessed(statements, tmp_path):
    (entry,) = made(tmp_path, statements)
    assert "copies" not in entry


def test_loops_before_do_not_count(tmp_path):
    loops = "each: DO jg = 1, 3\n word = 'x'\n ENDDO each\n DO\n EXIT\n END DO\n"
    (entry,) = made(tmp_path, f"{loops} DO jf = 1, nfreqs\n {NUMBERED}\n END DO")
    assert entry["copies"] == "nfreqs"


def test_new_groups_leave_the_rest_of_an_entry(tmp_path):
    before = {"name": "hs", "restart": True, "groups": [0], "time_levels": 2}
    call = "CALL add_var(p_list, 'hs', ptr, GRID_UNSTRUCTURED_CELL, ZA_SURFACE, cf, grib2, in_group=groups('new'))"
    assert made(tmp_path, call, [before]) == [before | {"groups": [1]}]


def test_a_release_whose_sources_are_not_at_hand_has_the_variables_of_the_one_before(tmp_path):
    """So the catalogue of 2025.10 is made, but for HAMOCC's vertical integrals, which a file of its own tells."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "mo_wave_nml.f90").write_text(READER, encoding="utf-8")
    place = directory("schemas") / "icon-variables"
    before = json.loads((place / "2025.04.json").read_text(encoding="utf-8"))
    made = make_catalogue(SourceTree(tmp_path), "2025.10", before)
    ships = json.loads((place / "2025.10.json").read_text(encoding="utf-8"))
    assert ships["groups"].pop() == "hamocc_vint"
    hamocc, last = ships["components"]["HAMOCC"], len(ships["groups"])
    ships["components"]["HAMOCC"] = [entry for entry in hamocc if last not in entry.get("groups", ())]
    assert len(hamocc) == len(ships["components"]["HAMOCC"]) + 10
    assert catalogue_text(made.document) == catalogue_text(ships)


def test_names_with_fewer_numbers_than_before_take_the_place_of_those(tmp_path):
    before = [{"name": "bin_{freq}_{dir}", "pattern": r"bin_\d{3,}_\d{3,}", "copies": "ntracer"}]
    found = made(tmp_path, f"DO jf = 1, wc%nfreqs\n WRITE(word,'(I0.3)') jf\n {NUMBERED}\n END DO", before)
    assert [entry["name"] for entry in found] == ["bin_{n}"]


def _each(number: int, form: str) -> str:
    return "\n".join(form.format(at) for at in range(number))


_MANY: dict[str, Any] = {
    "names": lambda number: _each(number, "CALL add_var(l, 'v{}', p)"),
    "names in a variable": lambda number: _each(number, "word = 'v{0}'\nCALL add_var(l, word, p{0})"),
    "groups": lambda number: _each(number, "CALL add_var(l, 'v{0}', p, in_group=groups('g{0}'))"),
}


@rows("what", _MANY)
def test_many_registrations(what, tmp_path):
    def work(number: int):
        before = [{"name": f"v{at}"} for at in range(0, number, 2)]
        return lambda: made(tmp_path / str(number), _MANY[what](number), before)

    assert not grows_too_fast(work, 100)


def test_very_many_names_with_parts_that_vary_are_refused(tmp_path):
    with pytest.raises(InputError, match="very many output variables whose names have parts that vary"):
        made(tmp_path, _each(5000, "CALL add_var(l, 'v{}_'//word, p)"))


def test_a_name_of_very_many_parts_is_any(tmp_path):
    assert made(tmp_path, "CALL add_var(l, 'a'" + "//'b'" * 100 + ", p)") == []
