"""The page of a sweep in a real browser: what it shows, what it does when it is used, and that it asks for nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from attrs import evolve
from browser import Page, browser
from measured_sweep import checkpoint_sweep, output_sweep, with_output_times
from tools import require

from nmlgen.report.sweep.page import sweep_page
from nmlgen.report.sweep.run import Measured, PointRun, SweepRuns

NASTY = "<img src=x onerror=alert(1)>"
ROWS = "#runs tbody tr"


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """A page of a Chromium that all tests of this module use, one after the other."""
    require("chromium", "bash")
    with browser(tmp_path_factory.mktemp("profile")) as running:
        yield running.page()


@pytest.fixture
def page(chromium: Page) -> Iterator[Page]:
    """The page; in the end it has not complained, and asked for nothing but what the tests opened."""
    yield chromium
    assert chromium.problems == []
    assert chromium.requests == chromium.opened


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the measured runs with output, one of which failed."""
    sweep = with_output_times(output_sweep())
    runs = list(sweep.runs)
    runs[2] = evolve(runs[2], state="failed", reason="disk full")
    return _written(tmp_path_factory.mktemp("page"), evolve(sweep, runs=tuple(runs)))


def _written(directory: Path, sweep: SweepRuns) -> Path:
    path = directory / "report.html"
    path.write_text(sweep_page(sweep), encoding="utf-8")
    return path


def test_values(page, report):
    page.open(report)
    assert page.texts("h1") == ["levante-output"]
    best = page.texts("#best tbody tr:first-child > *")
    assert best[:5] == ["grid.name R2B5 · nodes 1 · output_interval PT4M", "num_io_procs 4", "1 504.0", "0.418", "8"]
    assert len(page.texts(ROWS)) == 42
    assert page.texts("#without tbody th") == ["R2B5-1-PT4M-2-2"]
    assert page.texts("#shown") == ["42 of 42 runs"]


def test_charts_agree_with_the_tables(page, report):
    page.open(report)
    told = page.evaluate("[...document.querySelectorAll('#f1 svg:first-of-type .dot title')].map((e) => e.textContent)")
    assert "num_io_procs 4: 1 504.0 s measured" in told
    heights = page.evaluate(
        "[...document.querySelectorAll('#f1 figure:first-child g:not(.dashed) .dot')].map((e) => e.getAttribute('cy'))"
    )
    times = [2636.226, 2069.622, 1504.035, 1519.332, 1613.396, 1893.324]  # without the run that failed
    scale = [(float(y) - float(heights[0])) / (times[0] - time) for y, time in zip(heights[1:], times[1:], strict=True)]
    assert max(scale) == pytest.approx(min(scale), rel=0.01)


def test_a_family_is_chosen(page, report):
    page.open(report)
    page.choose("#family", "f3")
    assert page.texts("article h3") == ["grid.name R2B5 · nodes 1 · output_interval PT12M"]
    assert len(page.texts(ROWS)) == 7
    assert page.texts("#shown") == ["7 of 42 runs"]
    assert (
        page.evaluate("document.querySelectorAll('.overview:not([hidden]) g[data-family]:not([hidden])').length") == 1
    )
    page.choose("#family", "")
    assert len(page.texts("article h3")) == 6


def test_a_measure_is_chosen(page, report):
    page.open(report)
    assert page.texts("figure.overview figcaption") == ["Run time over the best of the family"]
    page.choose("#measure", "wrt_output_io_s")
    assert page.texts("figure.overview figcaption") == ["Time in output, i/o ranks"]


def test_rows_are_sorted_by_a_click(page, report):
    page.open(report)
    heads = page.texts("#runs thead th")
    column = heads.index("run time (s)") + 1
    for order, sign in (("ascending", 1), ("descending", -1)):
        page.click(f"#runs thead th:nth-child({column}) button")
        assert page.evaluate("document.querySelector('#runs [aria-sort]').getAttribute('aria-sort')") == order
        times = [text.replace(" ", "") for text in page.texts(f"{ROWS} td:nth-child({column})")]
        assert times[-1] == ""  # what has no number comes last
        assert [sign * float(time) for time in times[:-1]] == sorted(sign * float(time) for time in times[:-1])
    page.click("#runs thead th:nth-child(1) button")
    names = page.texts(f"{ROWS} summary")
    assert names.index("R2B5-1-PT4M-2-2") < names.index("R2B5-1-PT4M-16-16")  # numbers within names count as such


def test_rows_are_filtered_by_words(page, report):
    page.open(report)
    page.type("#filter", "failed r2b5")
    assert page.texts("#shown") == ["1 of 42 runs"]
    assert page.texts(f"{ROWS} summary") == ["R2B5-1-PT4M-2-2"]


def test_details_open(page, report):
    page.open(report)
    page.click(f"{ROWS} summary")
    assert "parallel.num_io_procs" in page.texts("#runs details[open] dt")


def test_values_are_told_when_the_pointer_is_on_them(page, report):
    page.open(report)
    page.point_at("#f1 figure:first-child g:not(.dashed) .dot")
    assert page.texts("#tip") == ["num_io_procs 0: 2 636.2 s measured"]
    inside = "(() => { const b = document.getElementById('tip').getBoundingClientRect();"
    assert page.evaluate(f"{inside} return b.left >= 0 && b.top >= 0 && b.right <= innerWidth; }})()")


@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("is_dark", [False, True])
def test_nothing_is_wider_than_the_window(page, report, tmp_path, width, is_dark):
    for path in (report, _written(tmp_path, checkpoint_sweep())):
        page.open(path, width, is_dark=is_dark)
        assert page.evaluate("document.documentElement.scrollWidth") == width
        outside = "[...document.querySelectorAll('h1, h2, h3, p, select, input, article, .wide, figure')]"
        assert page.evaluate(f"{outside}.filter((e) => e.getBoundingClientRect().right > innerWidth).length") == 0


@pytest.mark.parametrize("is_dark", [False, True])
def test_text_stands_out_from_its_ground(page, report, is_dark):
    page.open(report, is_dark=is_dark)
    assert page.evaluate(_LOW_CONTRAST) == []


def test_print(page, report, tmp_path):
    page.open(report, media="print")
    assert page.texts(".controls") == []
    assert len(page.texts("article h3")) == 6
    page.print(tmp_path / "report.pdf")
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")


def test_a_name_with_markup_does_nothing(page, tmp_path):
    runs = tuple(
        PointRun(name=NASTY * n, values={NASTY: str(n)}, state="finished", measured=Measured(total_s=float(n)))
        for n in (1, 2)
    )
    page.open(_written(tmp_path, SweepRuns(name=NASTY, runs=runs, version="1")))
    assert page.texts("h1") == [NASTY]
    assert page.evaluate("document.images.length") == 0
    page.point_at("#f1 .dot")
    assert NASTY in page.texts("#tip")[0]


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of so many runs that the browser makes the rows."""
    runs = tuple(
        PointRun(
            name=f"p{number}{NASTY if number == 5 else ''}",
            values={"parallel.nproma": number // 4, "parallel.num_io_procs": number % 4},
            state="failed" if number % 100 == 99 else "finished",
            reason="disk full" if number % 100 == 99 else "",
            measured=Measured(total_s=1000.0 + number * 7919 % 1200),
            details=(("log", f"points/p{number}/icon.log"),),
        )
        for number in range(1200)
    )
    return _written(tmp_path_factory.mktemp("large"), SweepRuns(name="large", runs=runs, version="1"))


def test_rows_of_very_many_runs_are_made_when_they_are_looked_at(page, large):
    page.open(large)
    assert page.texts("#shown") == ["1200 of 1200 runs, the first 500 are shown"]
    assert page.evaluate("document.querySelectorAll('#runs tbody tr').length") == 500
    page.type("#filter", "failed disk")
    assert page.texts("#shown") == ["12 of 1200 runs"]
    page.click(f"{ROWS} summary")
    assert page.texts("#runs details[open] dd") == ["24", "3", "points/p99/icon.log", "disk full"]
    assert page.texts(f"{ROWS}:first-child .state") == ["failed"]


def test_very_many_runs_are_sorted_by_what_is_shown(page, large):
    page.open(large)
    column = page.texts("#runs thead th").index("run time (s)") + 1
    page.click(f"#runs thead th:nth-child({column}) button")
    times = [float(text.replace(" ", "")) for text in page.texts(f"{ROWS} td:nth-child({column})")]
    assert times == sorted(times)
    assert times[0] == 1000.0
    page.click(f"#runs thead th:nth-child({column}) button")
    assert page.texts(f"{ROWS}:first-child td:nth-child({column})") == ["2 199.0"]


def test_a_family_without_figures_is_chosen(page, large):
    page.open(large)
    assert len(page.texts("article h3")) == 50
    page.click("#best tr[data-family=f60] a")
    assert page.texts(f"{ROWS} summary") == ["p236", "p237", "p238", "p239"]
    page.choose("#family", "f2")
    assert page.texts(f"{ROWS} summary") == ["p4", f"p5{NASTY}", "p6", "p7"]
    assert page.evaluate("document.images.length") == 0


_LOW_CONTRAST = """
(() => {
  const channel = (value) => { const v = value / 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
  const light = (rgb) => 0.2126 * channel(rgb[0]) + 0.7152 * channel(rgb[1]) + 0.0722 * channel(rgb[2]);
  const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const ground = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const found = numbers(getComputedStyle(e).backgroundColor);
      if (found.length === 3 || found[3] > 0) return found;
    }
    return [255, 255, 255];
  };
  return [...document.querySelectorAll("h1, h2, h3, p, th, td, dt, dd, a, span, label, li, svg text")]
    .filter((e) => e.checkVisibility() && e.textContent.trim())
    .filter((e) => {
      const style = getComputedStyle(e);
      const [a, b] = [light(numbers(e.closest("svg") ? style.fill : style.color)), light(ground(e))];
      return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 4.5;
    })
    .map((e) => `${e.tagName} ${e.className} ${e.textContent.slice(0, 40)}`);
})()
"""
