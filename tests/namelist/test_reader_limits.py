"""A namelist in pieces: not every piece is told."""

from __future__ import annotations

import pytest

import nmlgen
from nmlgen.namelist import reader
from nmlgen.namelist.assignment import Declaration, assign
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


@pytest.mark.parametrize(("count", "read", "told"), [(999, 999, 0), (1_000, 1_000, 0), (1_001, 1_000, 1)])
def test_groups_beyond_a_thousand_are_not_read(count, read, told):
    document = read_namelist("&run_nml\n/\n" * count)
    assert len(document.groups) == read
    assert [problem.kind for problem in document.problems] == ["too-much"] * told
    assert document.errors == document.problems


@pytest.mark.parametrize(("counts", "told"), [((15_000,), 0), ((15_001,), 1), ((7_500, 7_500), 0), ((7_500, 7_501), 1)])
def test_assignments_beyond_fifteen_thousand_are_not_read(counts, told):
    text = "".join("&run_nml\n" + " nsteps = 1\n" * count + "/\n" for count in counts)
    document = read_namelist(text)
    assert [problem.kind for problem in document.problems] == ["too-much"] * told
    assert sum(len(group.items) for group in document.groups) == sum(counts)  # one too many is how it shows
    assert document.errors == document.problems


@pytest.mark.parametrize(
    ("counts", "told"),
    [((100_000, 100_000), 0), ((100_000, 99_999, 2), 1), ((200_000_000,), 0), ((200_000_000, 200_000_000, 2), 1)],
)
def test_values_beyond_two_hundred_thousand_by_repeat_counts_are_not_read(counts, told):
    """They cost nothing to write, and everything else to look at."""
    text = "".join(f"&run_nml\n x = {count}*1\n/\n" for count in counts) + "&io_nml\n/\n"
    document = read_namelist(text)
    assert [problem.kind for problem in document.problems] == ["too-much"] * told
    assert len(document.groups) == len(counts) + 1 - told
    assert document.errors == document.problems


def test_what_is_not_read_is_told(tmp_path):
    (tmp_path / "NAMELIST_a").write_text("&run_nml\n/\n" * 1_001)
    said = [finding for finding in nmlgen.lint([tmp_path / "NAMELIST_a"]).findings if finding.code == "NML011"]
    assert [(finding.severity.value, finding.message) for finding in said] == [
        ("warning", "the text has more than 1000 groups: what comes behind them is not read")
    ]


def test_of_a_long_value_the_beginning_is_told():
    document = read_namelist("&run_nml\n num_lev = 1" + " ,=" * 200_000 + "\n/\n")
    assert [problem.message for problem in document.errors] == ['misplaced "=" after "1 ,"']


def test_equals_signs_in_a_row_are_passed_over_at_once(monkeypatch):
    calls = []
    own = reader._Body.on_equals
    monkeypatch.setattr(reader._Body, "on_equals", lambda *args: calls.append(args) or own(*args))
    (group,) = read_namelist(f"&run_nml\n nsteps = 5 {'=' * 1000} 6\n/\n").groups
    assert [problem.kind for problem in group.errors] == ["misplaced-equals"]
    assert len(calls) == 1
    read_namelist("&run_nml\n nsteps = 5 ===? 6\n/\n")
    assert len(calls) == 3  # =? has a meaning of its own


@pytest.mark.parametrize("last", ["20000", "99999999999", "9" * 30])
def test_a_text_with_a_substring_far_behind_is_not_known(last):
    text = f"&g\n a = 'x'\n a(1:{last}) = 'y'\n b = 'x'\n b(2:4) = 'y'\n/\n"
    (group,) = read_namelist(text).groups
    found = assign(group, {"a": Declaration("character"), "b": Declaration("character")})
    assert not found.problems
    assert [found.elements[name, ()].value for name in ("a", "b")] == [None, "xy  "]
