"""The site in a real browser: its pages, its search, its tables, and the playground; nothing is asked of others."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from browser import Page, browser
from built_site import ROOT, built_site, served
from tools import require

PAGES = (
    "index.html",
    "tutorial.html",
    "explanation.html",
    "gallery.html",
    "playground.html",
    "reference/cli.html",
    "reference/spec.html",
    "reference/icon-namelists.html",
    "rules/index.html",
    "rules/RST001.html",
    "project/changelog.html",
    "search.html",
)
"""One page of each kind."""
ROWS = "table.namelist tbody tr:not([hidden])"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of the site; workers of pytest-xdist share one."""
    require("npm", "chromium", "bash")
    if importlib.util.find_spec("furo") is None:
        if os.environ.get("CI") == "true":
            pytest.fail("not installed: nmlgen[docs]")
        pytest.skip("not installed: nmlgen[docs]")
    base = tmp_path_factory.getbasetemp()
    return built_site(base.parent if "PYTEST_XDIST_WORKER" in os.environ else base)


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browser(tmp_path_factory.mktemp("profile")) as running:
        yield running.page()


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    with served(site) as found:
        yield found


@pytest.fixture
def page(chromium: Page, address: str) -> Iterator[Page]:
    """The page; in the end it has not complained, and asked nobody but the site."""
    yield chromium
    assert chromium.problems == []
    others = [url for url in chromium.requests if not url.startswith((address, "data:", "blob:", "about:"))]
    assert others == []


# --- Pages ---


@pytest.mark.parametrize("name", PAGES)
def test_pages_fit_any_window_in_light_and_dark(page, address, name):
    page.open(address + name, 360)
    for width, is_dark in ((360, False), (360, True), (1280, True), (1280, False)):
        page.show(width, is_dark=is_dark)
        assert page.texts("article")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        luminance = (
            "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3).reduce((a, b) => +a + +b)"
        )
        assert (page.evaluate(luminance) < 384) is is_dark


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.ids: set[str] = set()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if name == "id" and value:
                self.ids.add(value)
            elif name in ("href", "src") and value and tag != "base":
                self.targets.append(value)


def test_all_links_within_the_site_lead_somewhere(site):
    known: dict[Path, _Links] = {}
    for path in site.rglob("*.html"):
        known[path] = _Links()
        known[path].feed(path.read_text(encoding="utf-8"))
    broken, outside = [], set()
    for path, links in known.items():
        for target in links.targets:
            parts = urlsplit(target)
            if parts.scheme in ("http", "https"):
                outside.add(target)
                continue
            if parts.scheme:
                continue
            goal = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            goal = goal / "index.html" if goal.is_dir() else goal
            anchor = unquote(parts.fragment)
            if not goal.exists() or (anchor and goal in known and anchor not in known[goal].ids):
                broken.append(f"{path.relative_to(site)}: {target}")
    assert broken == []
    assert len(known) > 300


def test_the_gallery_lives(page, address):
    page.open(f"{address}gallery.html")
    page.wait("document.querySelector('img.paper').naturalWidth > 300")
    frame = "document.querySelector('iframe.report').contentDocument"
    page.evaluate("document.querySelector('iframe.report').scrollIntoView()")
    page.wait(f"{frame}?.querySelectorAll('#runs tbody tr').length === 42")


# --- Search ---


def search(page: Page, address: str, words: str) -> list[tuple[str, str]]:
    page.open(f"{address}search.html?q={words}")
    page.wait("document.querySelectorAll('#search-results li a').length > 0")
    page.wait("/found|matching/i.test(document.querySelector('.search-summary').textContent)")
    links = page.evaluate(
        "[...document.querySelectorAll('#search-results li a')].map((a) => [a.textContent, a.getAttribute('href')])"
    )
    return [tuple(link) for link in links]


def test_the_search_finds_a_variable_at_its_own_line(page, address):
    found = search(page, address, "num_io_procs")
    assert found[0] == ("parallel_nml.num_io_procs", "reference/icon-namelists.html#parallel_nml.num_io_procs")
    assert len(found) > 10


def test_the_search_finds_a_rule_first(page, address):
    text, href = search(page, address, "RST001")[0]
    assert text.startswith("RST001")
    assert href.startswith("rules/RST001.html")


# --- Tables ---


def test_namelists_are_filtered_by_words_and_release(page, address):
    page.open(f"{address}reference/icon-namelists.html")
    assert len(page.texts("article section section > h2")) > 110
    page.type(".filter input", "parallel_nml num_io")
    assert page.texts(f"{ROWS} td:first-child") == ["num_io_procs", "num_io_procs_radar"]
    assert page.texts("article section section > h2") == ["parallel_nml#"]
    page.open(f"{address}reference/icon-namelists.html")
    every = page.evaluate(f"document.querySelectorAll('{ROWS}').length")
    page.choose(".filter select", "2024.01")
    assert 2000 < page.evaluate(f"document.querySelectorAll('{ROWS}').length") < every


def test_a_link_leads_to_a_variable_s_own_line(page, address):
    page.open(f"{address}reference/icon-namelists.html#parallel_nml.num_io_procs")
    row = "document.querySelector('tr:target').getBoundingClientRect()"
    page.wait(f"{row}.top > document.querySelector('.filter').getBoundingClientRect().bottom - 1")
    page.wait(f"{row}.bottom < innerHeight")


def test_a_default_that_changed_has_a_line_for_each_release(page, address):
    page.open(f"{address}reference/icon-namelists.html")
    shown = page.evaluate("[...document.querySelectorAll('table.namelist tr[data-releases]')].length")
    assert shown > 100


def test_rules_are_filtered(page, address):
    page.open(f"{address}rules/index.html")
    page.type(".filter input", "sync-with-restart-procs")
    assert page.texts("tbody tr:not([hidden]) td:first-child") == ["RST001"]


# --- Playground ---

FINDINGS = "#judge .finding h3"


JUDGED = "document.getElementById('judge')?.dataset.judged !== undefined"


def opened(page: Page, address: str, text: str | None = None) -> None:
    """Be in the playground with a text; Python is loaded once, as for one who stays."""
    if page.evaluate("location.href").partition("#")[0] != f"{address}playground.html":
        page.open(f"{address}playground.html")
        page.wait(JUDGED)
    if text is not None:
        typed(page, text)


def typed(page: Page, text: str) -> None:
    """Put another text into the editor, as one who pastes it."""
    page.click("#judge .cm-content")
    page.select_all()
    page.insert(text)
    page.wait(JUDGED)


def test_the_playground_begins_with_an_example(page, address):
    page.open(f"{address}index.html")
    opened(page, address)
    assert page.texts("#judge .cm-line")[0] == "#!/bin/ksh"
    assert page.texts(FINDINGS)


def test_the_playground_judges_a_script(page, address):
    opened(page, address, (ROOT / "examples" / "aquaplanet.run").read_text(encoding="utf-8"))
    assert any(text.startswith("NML003") for text in page.texts(FINDINGS))
    assert page.evaluate("document.querySelectorAll('#judge .cm-lintRange').length") > 0


def test_a_fix_is_one_click_away(page, address):
    opened(page, address, "&parallel_nml\n num_io_proc = 8\n/\n")
    (found,) = [text for text in page.texts(FINDINGS) if text.startswith("NML002")]
    assert found == "NML002 unknown-variable"
    page.click("#judge .finding .fix")
    page.wait("document.querySelector('#judge .cm-content').textContent.includes('num_io_procs')")
    page.wait(JUDGED)
    assert page.texts("#judge .cm-line")[1].strip() == "num_io_procs = 8"
    assert not [text for text in page.texts(FINDINGS) if text.startswith("NML002")]


def test_a_spec_is_built_and_its_ranks_are_drawn(page, address):
    opened(page, address)
    page.choose("#judge select", "nh_dcmip_tc_52_r2b5.yaml")
    page.wait("document.querySelector('#judge .tabs').textContent.includes('.sbatch')")
    tabs = page.texts("#judge .tabs button")
    assert tabs[:3] == ["findings", "ranks", "icon_master.namelist"]
    page.click("#judge .tabs button:nth-child(2)")
    assert "■·······■" in page.texts("#judge pre")[0]
    page.click("#judge .tabs button:nth-child(3)")
    assert "&master_nml" in page.texts("#judge pre")[0]


def test_a_mistake_in_a_spec_is_underlined(page, address):
    text = (ROOT / "examples" / "nh_dcmip_tc_52_r2b5.yaml").read_text(encoding="utf-8")
    opened(page, address, text.replace("nodes: 2", "nodes: two"))
    assert page.texts(FINDINGS) == ["SPC004 wrong-value"]
    assert page.evaluate("document.querySelector('#judge .cm-lintRange-error').textContent") == "two"


def test_no_text_ends_in_a_failure(page, address):
    opened(page, address)
    for text in ("\u00e4" * 300, "a: [", "&", "#!/bin/ksh\n((((", "\U0001d11e&run_nml\n x = 1\n/\n"):
        typed(page, text)
        assert "failed" not in page.texts("#judge .state")[0]
        assert not any("a mistake in nmlgen" in text for text in page.texts("#judge .finding p"))


def test_a_release_and_a_site_are_chosen_and_a_link_holds_them_and_the_text(page, address):
    opened(page, address, "&nonhydrostatic_nml\n damp_height = 1. ! ä€𝄞\n no_such_thing = 1\n/\n")
    before = page.texts(FINDINGS)
    page.choose("#judge select[aria-label=site]", "levante")
    page.wait(JUDGED)
    assert [text for text in page.texts(FINDINGS) if text not in before] == [
        *("SLM007 account-missing", "SLM020 no-time-limit"),
    ]
    page.choose("#judge select[aria-label='release of ICON']", "2024.01")
    page.wait(JUDGED)
    assert any("ICON 2024.01" in text for text in page.texts("#judge .finding p"))
    page.click("#judge .share")
    for part in ("text=", "release=2024.01", "site=levante"):
        page.wait(f"location.hash.includes('{part}')")
    link = page.evaluate("location.href")
    page.open(f"{address}index.html")
    page.open(link)
    page.wait("document.querySelector('#judge .cm-content')?.textContent.includes('ä€𝄞')")
    page.wait(JUDGED)
    assert any("ICON 2024.01" in text for text in page.texts("#judge .finding p"))
    assert page.evaluate("document.querySelector('#judge select[aria-label=site]').value") == "levante"
    page.open(f"{address}index.html")  # the next one chooses anew
