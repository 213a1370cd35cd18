"""The page of a sweep as a text; `tests/real/test_report_page.py` looks at it in a browser."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pytest
from attrs import evolve
from measured_sweep import checkpoint_sweep, output_sweep, with_output_times

from nmlgen.report.sweep.page import MANY, sweep_page
from nmlgen.report.sweep.run import Measured, PointRun, Predicted, SweepRuns

VOID = {"meta", "input", "link", "br", "img"}
NASTY = """<script>alert(1)</script>"'&{{ 7 * 7 }}"""


class Elements(HTMLParser):
    """All elements of a page; fails where they are not closed in order."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.found, self.text = [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, (tag, self.getpos())

    def handle_data(self, data):
        if not {"style", "script"} & set(self.open):
            self.text.append(data)

    def of(self, tag):
        return [attributes for name, attributes in self.found if name == tag]

    @property
    def words(self):
        return " ".join(" ".join(self.text).split())


@pytest.fixture(scope="module")
def page():
    return sweep_page(with_output_times(output_sweep()))


def test_the_verdict_in_words(page):
    words = Elements(page).words
    assert "Best: num_io_procs 4, 25 min 4 s (0.418 node-hours, 53.48 core-hours)." in words
    assert "Equal to it within 2 %: num_io_procs 8." in words
    assert "The spec's own layout, num_io_procs 1, takes +37.6 %, 9 min 26 s more a run and 0.157 node-hours." in words


def test_nothing_comes_from_elsewhere(page):
    elements = Elements(page)
    assert elements.of("link") == elements.of("img") == []
    assert all("src" not in attributes for attributes in elements.of("script"))
    assert all(attributes["href"].startswith("#") for attributes in elements.of("a"))
    policy = next(attributes["content"] for attributes in elements.of("meta") if "http-equiv" in attributes)
    assert policy.startswith("default-src 'none'; style-src 'sha256-")


def test_each_figure_has_a_text(page):
    figures = Elements(page).of("svg")
    assert len(figures) == 6 * 3 + 1 + 6
    assert all(figure["role"] == "img" and figure["aria-label"] for figure in figures)


def test_identifiers_are_of_one_element_each(page):
    found = [attributes["id"] for _, attributes in Elements(page).found if "id" in attributes]
    assert len(found) == len(set(found))


def test_links_lead_somewhere(page):
    elements = Elements(page)
    there = {attributes.get("id") for _, attributes in elements.found}
    assert {attributes["href"][1:] for attributes in elements.of("a")} <= there


def test_the_same_runs_give_the_same_bytes(page):
    assert sweep_page(with_output_times(output_sweep())) == page
    assert not re.search(r"20\d\d-\d\d-\d\d", page)
    stamped = sweep_page(evolve(output_sweep(), created="2026-01-02"))
    assert "nmlgen 1.2.3, 2026-01-02" in stamped


def test_where_it_comes_from(page):
    words = Elements(page).words
    assert "spec.yaml sha256 0123abcd" in words
    assert "made by nmlgen 1.2.3" in words
    assert "with the calibration levante" in words


def test_predicted_against_measured(page):
    words = Elements(page).words
    assert "runs compared 42" in words
    assert re.search(r"mean error \d\.\d % largest error .\d+\.\d % measured within the 80 % interval \d+ %", words)


def test_restart_modes():
    words = Elements(sweep_page(checkpoint_sweep())).words
    assert "Best: dedicated procs multifile, num_restart_procs 4, 24 min 22 s" in words


def test_names_are_no_markup():
    values = {"parallel.num_io_procs": 1, f"output.{NASTY}.a": NASTY}
    runs = (
        PointRun(
            name=NASTY,
            values=values,
            state="finished",
            reason=NASTY,
            measured=Measured(total_s=1.0),
            predicted=Predicted(total_s=1.0, low_s=0.9, high_s=1.1, notes=(NASTY,)),
            details=((NASTY, NASTY),),
            notes=(NASTY,),
        ),
        PointRun(name="b", values={"parallel.num_io_procs": 2, f"output.{NASTY}.a": "x"}, reason=NASTY),
    )
    page = sweep_page(
        SweepRuns(
            name=NASTY,
            runs=runs,
            version=NASTY,
            present={f"output.{NASTY}.a": NASTY},
            inputs=((NASTY, NASTY),),
            overrides=(NASTY,),
            calibration=NASTY,
            created=NASTY,
        )
    )
    elements = Elements(page)
    assert len(elements.of("script")) == 1
    assert "<script>alert" not in page
    assert "49" not in elements.words
    assert NASTY in elements.text


def test_points_without_a_result_are_named():
    runs = (
        PointRun(name="a", values={"x": 1}, state="finished", measured=Measured(total_s=10.0)),
        PointRun(name="b", values={"x": 2}, state="failed", reason="disk full"),
        PointRun(name="c", values={"x": 3}, state="invalid", reason="PAR005: too many"),
        PointRun(name="d", values={"x": 4}, state="missing", reason="no log"),
    )
    words = Elements(sweep_page(SweepRuns(name="s", runs=runs, version="1"))).words
    assert "Without a result" in words
    for text in ("b failed disk full", "c invalid PAR005: too many", "d missing no log"):
        assert text in words


def test_before_any_run():
    runs = tuple(evolve(run, state="missing", measured=Measured()) for run in output_sweep().runs)
    words = Elements(sweep_page(evolve(output_sweep(), runs=runs))).words
    assert "No run came to its end." in words
    assert re.search(r"The model expects num_io_procs \d+ to be the fastest: \d+ min", words)
    assert "Predicted against measured" not in words


@pytest.mark.parametrize("count", [0, 1])
def test_hardly_anything(count):
    runs = tuple(PointRun(name=f"p{n}") for n in range(count))
    Elements(sweep_page(SweepRuns(name="s", runs=runs, version="1")))


def test_a_run_that_took_no_time_at_all():
    runs = tuple(
        PointRun(name=str(n), values={"x": n}, state="finished", measured=Measured(total_s=0.0)) for n in (1, 2)
    )
    Elements(sweep_page(SweepRuns(name="s", runs=runs, version="1")))


def many_runs(count):
    """Runs of as many families as there are values of nproma, whose names, values and reasons are markup."""
    return tuple(
        PointRun(
            name=f"{NASTY}{number}",
            values={"parallel.nproma": number // 4, "parallel.num_io_procs": number % 4, "comment": NASTY},
            state="failed" if number % 10 == 9 else "finished",
            reason=NASTY if number % 10 == 9 else "",
            nodes=2,
            measured=Measured(total_s=100.0 + number),
            predicted=Predicted(total_s=100.0, low_s=90.0, high_s=110.0, notes=("far",) if number == 7 else ()),
            details=(("log", f"points/{NASTY}{number}/icon.log"), ("log", "second"), ("jobs", "1")),
            notes=(NASTY,) if number == 3 else (),
        )
        for number in range(count)
    )


@pytest.mark.parametrize(("count", "has_data"), [(MANY, False), (MANY + 1, True)])
def test_very_many_runs_are_data_for_the_browser(count, has_data):
    page = sweep_page(SweepRuns(name="many", runs=many_runs(count), version="1"))
    elements = Elements(page)
    assert any(attributes.get("id") == "data" for attributes in elements.of("script")) == has_data
    assert page.count("<script") == 1 + has_data
    assert page.count("<article") == (50 if has_data else count // 4)
    assert ("Figures of the first 50 of" in elements.words) == has_data


def test_what_the_data_say():
    runs = many_runs(MANY + 1)
    page = sweep_page(SweepRuns(name="many", runs=runs, version="1"))
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])
    assert sorted(data["names"]) == sorted(run.name for run in runs)
    shown = [column["title"] for column in data["columns"] if column["kind"] != "detail"]
    heads = re.findall(r"<th scope=\"col\"[^>]*>(.*?)</th>", page[page.index('<section id="runs"') :])
    assert shown == [head.replace("&amp;", "&") for head in heads[1:]]
    at = data["names"].index(runs[7].name)
    said = {}
    for column in data["columns"]:
        cell = column["cells"][at]
        said.setdefault(column["title"], []).append(column["texts"][cell] if "texts" in column else cell)
    assert said["num_io_procs"] == ["3"]
    assert said["run time (s)"] == ["107.0"]
    assert said["error"] == ["−6.5 %"]
    assert said["80 % interval (s)"] == ["90.00 – 110.0"]
    assert said["log"] == ["points/\x01/icon.log", "second"]  # \x01 is the name
    assert said["prediction"] == ["far"]
    assert said["reason"] == [""]
    assert data["families"][at] == 2


def test_a_page_of_very_many_runs_stays_small():
    runs = tuple(evolve(run, name=f"p{number}", details=()) for number, run in enumerate(many_runs(4 * MANY)))
    page = sweep_page(SweepRuns(name="many", runs=runs, version="1"))
    assert len(page.encode()) < 300 * len(runs)
    assert page.count('class="dot"') < len(runs)
    elements = Elements(page)
    assert len([row for row in elements.of("tr") if "data-family" in row]) == 500
    assert "And 500 more families" in elements.words
