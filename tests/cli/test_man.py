"""Manual pages: of every command, with all its options, and nothing that man complains of."""

from __future__ import annotations

import subprocess

from rows import rows
from tools import require

from nmlgen.cli.application import application
from nmlgen.cli.manual import manual_pages, to_roff

PAGES = tuple(manual_pages(application))


def test_every_command_has_a_page():
    names = {page.name for page in PAGES}
    assert {"nmlgen", "nmlgen build", "nmlgen registry", "nmlgen registry show"} <= names
    (top,) = [page for page in PAGES if page.name == "nmlgen"]
    assert {f"nmlgen {name}" for name, _ in top.commands} <= names
    assert [name for name, _ in top.options] == ["--version", "-h, --help"]


@rows("page", PAGES, ids=lambda page: page.file)
def test_the_page_says_what_help_says(page):
    roff = to_roff(page)
    assert page.summary
    for name, _ in page.options:
        assert f"\\fB{name}\\fR".replace("-", "\\-") in roff
    assert not [line for line in roff.splitlines() if line.startswith("'")]


def test_no_reader_complains(tmp_path, nmlgen):
    require("mandoc")
    done = nmlgen("man", "-o", str(tmp_path / "man1"))
    assert done.code == 0
    files = sorted((tmp_path / "man1").iterdir())
    assert [file.name for file in files] == sorted(page.file for page in PAGES)
    lint = ["mandoc", "-T", "lint", "-W", "warning", *files]
    checked = subprocess.run(lint, capture_output=True, text=True, check=False)
    complaints = (checked.stdout + checked.stderr).splitlines()
    assert [line for line in complaints if "missing date" not in line] == []  # no page depends on the day it is made
    top = tmp_path / "man1" / "nmlgen.1"
    shown = subprocess.run(["mandoc", "-T", "utf8", top], capture_output=True, text=True, check=True).stdout
    assert "nmlgen init --preset icon/nh_dcmip_tc_52 --site levante" in shown


def test_a_page_is_printed(nmlgen):
    done = nmlgen("man", "registry", "show")
    assert done.out.startswith('.TH "NMLGEN-REGISTRY-SHOW" "1"')


def test_a_command_that_is_none(nmlgen):
    done = nmlgen("man", "biuld")
    assert done.code == 2
    assert 'there is no command "biuld"; did you mean "nmlgen build"?' in done.err
