"""The documentation is true: generated pages are up to date, and every command shown prints what is shown."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CONSOLE = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
DOCUMENTS = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])


def generator():
    spec = spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def sessions(text: str) -> list[tuple[str, str]]:
    """The commands of all console blocks, each with the output shown below it."""
    found = []
    for block in CONSOLE.findall(text):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            found.append((command, output.rstrip("\n")))
    return found


def test_generated_pages_are_up_to_date():
    pages = generator().pages()
    stale = [str(path) for path, text in pages.items() if (ROOT / "docs" / path).read_text(encoding="utf-8") != text]
    assert not stale, "run: python docs/generate.py"
    there = {path.relative_to(ROOT / "docs") for path in (ROOT / "docs" / "rules").glob("*.md")}
    assert there == {path for path in pages if path.parts[0] == "rules"}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document):
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", document.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (document.parent / target).exists(), target


WITH_COMMANDS = [path for path in DOCUMENTS if CONSOLE.search(path.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("document", WITH_COMMANDS, ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_print_what_is_shown(document, tmp_path):
    bin_directory = tmp_path / "bin"
    bin_directory.mkdir()
    command = bin_directory / "nmlgen"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m nmlgen "$@"\n')
    command.chmod(0o755)
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "examples").symlink_to(ROOT / "examples")
    environment = os.environ | {
        "PATH": f"{bin_directory}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "NO_COLOR": "1",
        "COLUMNS": "120",
    }
    for line, shown in sessions(document.read_text(encoding="utf-8")):
        done = subprocess.run(
            ["bash", "-c", f"{line} 2>&1"], cwd=tmp_path / "work", env=environment, capture_output=True, text=True, check=False
        )
        assert [text.rstrip() for text in done.stdout.splitlines()] == [text.rstrip() for text in shown.splitlines()], line
