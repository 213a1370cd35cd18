"""Charts: that values lie where the axes say."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest
from rows import rows

from nmlgen.report.sweep.chart import Band, Chart, Dot, Line, Scatter, draw, draw_scatter


def chart(values, **options):
    dots = tuple(Dot(place, value, f"{value}") for place, value in enumerate(values))
    places = tuple(str(place) for place in range(len(values)))
    return Chart(title="t", about="a", x_title="x", unit="s", places=places, lines=(Line("l", 0, dots),), **options)


def circles(svg):
    return [(float(one.get("cx")), float(one.get("cy"))) for one in ET.fromstring(svg).iter("circle")]


def ticks(svg):
    """The values beside the axis, with their height."""
    texts = [one for one in ET.fromstring(svg).iter("text") if one.get("text-anchor") == "end"]
    return {float(one.text.replace("\N{NO-BREAK SPACE}", "")): float(one.get("y")) - 4 for one in texts}


@rows("top", [0.003, 0.7, 1.0, 9.99, 100.0, 4321.0, 1e7])
@rows("is_root", [False, True])
def test_values_lie_between_round_ticks(top, is_root):
    svg = draw(chart([0.0, top / 2, top], is_root=is_root))
    heights = ticks(svg)
    assert min(heights) == 0
    assert max(heights) >= top
    assert 3 <= len(heights) <= 8
    (_, zero), (_, half), (_, full) = circles(svg)
    assert zero == pytest.approx(heights[0], abs=0.11)
    share = (zero - full) / (heights[0] - heights[max(heights)])
    assert share == pytest.approx((top / max(heights)) ** (0.5 if is_root else 1), abs=0.01)
    assert (zero - half) / (zero - full) == pytest.approx(0.5**0.5 if is_root else 0.5, abs=0.01)


def test_places_are_as_far_apart_as_each_other():
    across = [x for x, _ in circles(draw(chart([1.0, 2.0, 3.0])))]
    assert across[1] - across[0] == pytest.approx(across[2] - across[1], abs=0.11)


def test_names_of_places_that_have_no_room_are_left_out():
    svg = draw(chart([1.0] * 100))
    names = [one.text for one in ET.fromstring(svg).iter("text") if one.get("text-anchor") == "middle"]
    assert 3 < len(names) < 20


def test_the_line_leaves_out_what_stands_aside():
    dots = (Dot(0, 1.0, "a"), Dot(0, 2.0, "b", is_aside=True), Dot(1, 1.0, "c"))
    svg = draw(Chart(title="t", about="a", x_title="", unit="s", places=("1", "2"), lines=(Line("l", 0, dots),)))
    (way,) = (one.get("d") for one in ET.fromstring(svg).iter("path") if one.get("class") == "line")
    first, _, last = circles(svg)
    assert way == f"M{first[0]:.1f} {first[1]:.1f}L{last[0]:.1f} {last[1]:.1f}"


def test_what_a_dot_tells_and_the_best():
    dots = (Dot(0, 1.0, "a < b", is_best=True),)
    svg = draw(Chart(title="t", about='"x"', x_title="", unit="s", places=("<",), lines=(Line("l", 9, dots),)))
    root = ET.fromstring(svg)
    assert root.get("aria-label") == '"x"'
    assert [one.text for one in root.iter("title")] == ["a < b"]
    assert [one.get("class") for one in root.iter("circle")] == ["ring", "dot"]
    assert [one.get("class") for one in root.iter("g")] == ["c1"]


def test_bands():
    svg = draw(chart([5.0, 5.0], bands=(Band(1, ((0, 1.0, 9.0), (1, 2.0, 8.0))), Band(2, ((0, 1.0, 20.0),)))))
    paths = [one for one in ET.fromstring(svg).iter("path") if "band" in one.get("class")]
    assert [one.get("class") for one in paths] == ["band c1", "band c2"]
    assert len(re.findall(r"[ML]", paths[0].get("d"))) == 4
    assert max(ticks(svg)) >= 20


def test_nothing_to_draw():
    ET.fromstring(draw(Chart(title="t", about="a", x_title="", unit="s", places=(), lines=())))


def test_scatter():
    points = ((100.0, 110.0, (90.0, 130.0), True, "p", "f1"), (1000.0, 2000.0, (1500.0, 2500.0), False, "q", "f2"))
    svg = draw_scatter(Scatter(title="t", about="a", x_title="m", y_title="p", unit="s", points=points))
    (x1, y1), (x2, y2) = circles(svg)
    assert x2 > x1
    assert y2 < y1
    root = ET.fromstring(svg)
    diagonal = next(one.get("d") for one in root.iter("path") if one.get("class") == "diagonal")
    ax, ay, bx, by = map(float, re.findall(r"[\d.]+", diagonal))
    assert y1 == pytest.approx(ay + (x1 - ax) * (by - ay) / (bx - ax), abs=15)  # 10 % off the diagonal
    assert [one.get("class") for one in root.iter("g")] == ["c0", "c1"]
