"""When nests are computed: both sides of each boundary."""

from __future__ import annotations

from pathlib import Path

import pytest
from rows import rows
from rules.experiments import judge

from nmlgen.models.icon.rules.nest_times import NestNeverActive
from nmlgen.spec.spec import load_spec

BASE = Path(__file__).parents[3] / "rules" / "example.yaml"


@rows(
    ("domains", "found"),
    [
        ("{a: {file: a.nc}}", []),
        ("{a: {file: a.nc, start: P9DT23H}}", []),
        ("{a: {file: a.nc, start: P10D}}", [2]),
        ("{a: {file: a.nc, start: P1D, end: P1DT1S}}", []),
        ("{a: {file: a.nc, start: P1D, end: P1D}}", [2]),
        ("{a: {file: a.nc, end: PT1S}}", []),
        ("{a: {file: a.nc, end: PT0S}}", [2]),
        ("{a: {file: a.nc, end: P20D}}", []),
        ("{a: {file: a.nc, end: P2D}, b: {file: b.nc, parent: a, start: P1D}}", []),
        ("{a: {file: a.nc, end: P2D}, b: {file: b.nc, parent: a, start: P2D}}", [3]),
        ("{a: {file: a.nc, end: P2D}, b: {file: b.nc, start: P2D}}", []),
        ("{a: {file: a.nc, start: P10D}, b: {file: b.nc, start: P11D}}", [2, 3]),
    ],
)
def test_a_nest_is_computed_at_some_time(domains, found, tmp_path):
    path = tmp_path / "spec.yaml"
    path.write_text(f"nmlgen: 1\ndomains: {domains}\n", encoding="utf-8")
    given = [f"extends={BASE}", f"site={BASE.with_name('example-site.yaml')}"]
    findings = judge(load_spec(path, given).experiment, [NestNeverActive])
    assert [int(finding.message.split()[1]) for finding in findings] == found


@pytest.mark.parametrize(
    ("domains", "text"),
    [
        ("{a: {file: a.nc, start: P10D}}", "P10D"),
        ("{a: {file: a.nc, end: PT0S}}", "PT0S"),
        ("{a: {file: a.nc, end: P2D}, b: {file: b.nc, parent: a, start: P2DT1S}}", "P2DT1S"),
        ("{a: {file: a.nc, start: P1D, end: P2D}, b: {file: b.nc, end: PT0S, start: PT0S}}", "PT0S"),
        ("{a: {file: a.nc, end: P2D}, b: {file: b.nc, start: P3D, parent: a}}", "P3D"),
    ],
)
def test_it_points_at_the_time_of_the_nest(domains, text, tmp_path):
    path = tmp_path / "spec.yaml"
    path.write_text(f"nmlgen: 1\ndomains: {domains}\n", encoding="utf-8")
    given = [f"extends={BASE}", f"site={BASE.with_name('example-site.yaml')}"]
    (finding,) = judge(load_spec(path, given).experiment, [NestNeverActive])
    assert finding.span is not None
    assert finding.span.text == text
