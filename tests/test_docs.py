"""The documentation is true: generated pages are up to date, and every command shown prints what is shown."""

from __future__ import annotations

import ast
import json
import re
import shlex
import subprocess
import sys
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from rows import rows

from nmlgen.cli import main
from nmlgen.resources import schema
from nmlgen.source import Source
from nmlgen.spec.document import read_text
from nmlgen.spec.validate import validate

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])


@cache
def generator():
    spec = spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_no_page_shows_a_traceback(tmp_path):
    with pytest.raises(SystemExit, match="ZeroDivisionError"):
        generator()._shown(f"$ {sys.executable} -c 1/0", tmp_path, {})


_PAGES = """
import json, runpy
print(json.dumps({str(path): text for path, text in runpy.run_path("docs/generate.py")["pages"]().items()}))
"""
"""By themselves: a command that was called without its group before has other options for its help."""


def test_generated_pages_are_up_to_date():
    done = subprocess.run([sys.executable, "-c", _PAGES], cwd=ROOT, check=True, capture_output=True, encoding="utf-8")
    pages = json.loads(done.stdout)
    stale = [path for path, text in pages.items() if (ROOT / "docs" / path).read_text(encoding="utf-8") != text]
    assert not stale, "run: python docs/generate.py"
    there = {str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs" / "rules").glob("*.md")}
    assert there == {path for path in pages if path.startswith("rules/")}


@rows("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document):
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", document.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (document.parent / target).exists(), target


PARSER = "parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)"
PROGRAMS = [path for path in (ROOT / "benchmarks").glob("*.py") if "__main__" in path.read_text(encoding="utf-8")]


@rows("program", sorted(PROGRAMS), ids=lambda path: path.name)
def test_programs_that_measure_say_by_help_what_they_do(program):
    tree = ast.parse(program.read_text(encoding="utf-8"))
    assert f"python benchmarks/{program.name}" in ast.get_docstring(tree)
    said = {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, (ast.Assign, ast.Attribute))}
    assert PARSER in said
    assert said & {"parser.parse_args", "parser.parse_intermixed_args"}
    assert "sys.argv" not in said


OF_OTHERS = ("ci.md", "editors.md")
"""Pages whose YAML is for other programs."""
SECTIONS = schema("spec")["properties"].keys() - {"partitions"}  # which a page shows of a site


@rows("document", [path for path in DOCUMENTS if path.name not in OF_OTHERS], ids=lambda path: path.name)
def test_specs_and_sites_that_are_shown_have_keys_and_values_that_there_are(document):
    for text in re.findall(r"^```yaml\n(.*?)^```", document.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        node = read_text(Source(str(document), text))
        for kind, is_it in (("site", "machine" in node.value), ("spec", node.value.keys() <= SECTIONS)):
            if is_it:  # else a part of one
                validate(node, kind)


@pytest.mark.parametrize("document", generator().documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_print_what_is_shown(document, monkeypatch, capsys):
    def run(command, work, environment):
        words = shlex.split(command)
        if words[0] != "nmlgen" or re.search(r"[|&;<>$`*?~!#\\{]", command):
            return generator().in_shell(command, work, environment)
        with monkeypatch.context() as patch:
            for name in ("NO_COLOR", "COLUMNS"):
                patch.setenv(name, environment[name])
            patch.chdir(work)
            patch.setattr(sys, "stderr", sys.stdout)
            main(words[1:])
        return capsys.readouterr().out

    text = document.read_text(encoding="utf-8")
    assert generator().with_output(text, run) == text, "run: python docs/generate.py"
