"""Placeholders of templates are unknown values, not mistakes."""

from __future__ import annotations

import pytest
from rows import rows

import nmlgen
from nmlgen.namelist import placeholders
from nmlgen.namelist.placeholders import hidden, is_stand_in, is_within_placeholder, template
from nmlgen.namelist.reader import read
from nmlgen.source import UNKNOWN, Source


@rows(
    "placeholder",
    [
        "{{ nproma }}",
        "{{nproma}}",
        "{cfg.nproma}",
        "{nproma}",
        "%(nproma)s",
        "%{nproma}",
        "%NPROMA%",
        "__nproma__",
        "@nproma@",
        "@NPROMA",
        "%JOBS.SIM.NPROMA%",
        "%NPROMA:16%",
        "${nproma}",
        "${NPROMA:-16}",
        "${N-16}",
        "${NPROMA%%.*}",
    ],
)
def test_a_placeholder_is_an_unknown_value(placeholder: str) -> None:
    source = Source("t", f"&parallel_nml\n nproma = {placeholder}\n io = 'a {placeholder}'\n n = 2\n/\n")
    (group,) = read(source, template(source)).groups
    assert [value.kind for item in group.items for value in item.values] == ["unknown", "unknown", "integer"]
    assert not group.errors
    assert source.text[group.items[0].values[0].start : group.items[0].values[0].end] == placeholder


def test_a_name_between_pounds_stands_within_quotes() -> None:
    for text in ("'#GRID#'", "'#GRID#.nc'", "'x_#GRID#_01'"):
        assert hidden(text) == text.replace("#GRID#", UNKNOWN * 6)
    for text in ("1 #GRID# 2", "'#GRID'", "#GRID#"):
        assert hidden(text) == text


def test_a_name_in_brackets_is_no_value_but_a_placeholder() -> None:
    assert hidden(" n = @[NPROMA]") == f" n = {UNKNOWN * 9}"
    assert hidden(" n = [nproma], [n]/") == f" n = {UNKNOWN * 8}, {UNKNOWN * 3}/"


@rows(
    "text",
    [
        "<output_filename>_<levtype_l>",
        "a__b",
        "100%",
        "a@b",
        "{}",
        "5 % 2",
        "__",
        "x__y__z",
        "$io_nml",
        "a@B_C.de",
        "%x.%j",
        "a[b]",
        "[1]",
    ],
)
def test_what_is_no_placeholder_stays(text: str) -> None:
    assert hidden(text) == text


def test_nothing_moves() -> None:
    text = "a {{b}} c\n%(d)s e"
    assert len(hidden(text)) == len(text)
    assert hidden(text).replace(UNKNOWN, "") == "a  c\n e"


def test_variables_of_a_shell_in_a_file_by_itself() -> None:
    source = Source("t", "&master_nml\n a = $dt_restart\n b = '$start', ${n}\n/\n$io_nml\n c = 1\n/\n")
    groups = read(source, template(source)).groups
    assert [value.kind for item in groups[0].items for value in item.values] == ["unknown"] * 3
    assert [group.name for group in groups] == ["master_nml", "io_nml"]
    assert hidden("a = $dt_restart") == "a = $dt_restart"


@pytest.mark.parametrize("value", [".$again.", ".${again}.", "-$n", "<again>", ".<again>.", ".{{again}}.", "-<n>"])
def test_a_part_of_a_value_that_is_filled_in(value: str) -> None:
    source = Source("t", f"&run_nml\n a = {value}, {value}\n b = 1\n/\n")
    (group,) = read(source, template(source)).groups
    assert not group.errors
    assert [[value.kind for value in item.values] for item in group.items] == [["unknown"] * 2, ["integer"]]


def test_angles_within_quotes_stay() -> None:
    source = Source("t", "&output_nml\n filename_format = '<output_filename>_<levtype>'\n/\n")
    assert template(source).text == source.text


@pytest.mark.parametrize(
    "text", ["RXBY", "RnnBkk", "icon_grid_RXXBYY_G.nc", "ZZZ", "XXXX", "xxx", "<your account>", "CHANGE_ME", "todo"]
)
def test_a_whole_value_that_stands_for_another(text: str) -> None:
    assert is_stand_in(text)


@pytest.mark.parametrize("text", ["R2B4", "RBF", "ABC", "AA", "icon_grid_0036_R02B04_O.nc", "changed", "xx", "RXBYTE"])
def test_a_value_that_is_meant(text: str) -> None:
    assert not is_stand_in(text)


def test_what_stands_within_a_placeholder() -> None:
    line = " a = {{ b }}, @C@, d"
    within = "".join("^" if is_within_placeholder(line, column) else " " for column in range(1, len(line) + 1))
    assert within.rstrip() == "     ^^^^^^^  ^^^"


def test_a_line_is_searched_once_for_all_that_stands_in_it(tmp_path) -> None:
    path = tmp_path / "namelist.input"
    path.write_text(f"&time_control {' '.join(f'of_nobody{number} = 1' for number in range(100))} /\n")
    before = placeholders._placeholders.cache_info().misses
    assert len(nmlgen.lint([path]).findings) >= 100
    assert placeholders._placeholders.cache_info().misses - before < 5
