"""What the rules about output ask of a stream."""

from __future__ import annotations

import pytest

from nmlgen.experiment.group import Group
from nmlgen.experiment.setting import Certainty, Origin, Setting
from nmlgen.models.icon.output import Window
from nmlgen.models.icon.rules.streams import is_blank, plural, short_name, stream_name, writes_within


def named(value: object, certainty: Certainty = Certainty.WRITTEN, label: str | None = None) -> Group:
    name = Setting("output_nml.output_filename", (Origin("test", value),), certainty)
    return Group("output_nml", {"output_filename": name}, label)


def test_names_of_streams():
    assert stream_name(named("out/a")) == "out/a"
    assert stream_name(named("out/a", label="atm")) == "atm"
    assert stream_name(named("$x", Certainty.UNKNOWN)) == "without a name"
    assert stream_name(Group("output_nml", {})) == "without a name"


@pytest.mark.parametrize(("number", "text"), [(0, "0 files"), (1, "1 file"), (2, "2 files")])
def test_numbers(number, text):
    assert plural(number, "file") == text


@pytest.mark.parametrize(
    ("start", "stop", "expected"),
    [(0, 0, True), (-5, 0, True), (-5, -1, False), (10, 20, True), (11, 20, False), (5, 4, False)],
)
def test_an_output_time_within_a_run_of_ten(start, stop, expected):
    assert writes_within((Window(start, stop, 1),), 10) is expected


def test_texts():
    assert short_name(Setting("run_nml.dtime", (Origin("test", 1),))) == "dtime"
    assert is_blank(Setting("a.b", (Origin("test", " "),)))
    assert not is_blank(Setting("a.b", (Origin("test", " x"),)))
