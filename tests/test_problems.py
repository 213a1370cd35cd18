"""The pages of problems: each has an example where it is found, and one that is clean of it."""

from __future__ import annotations

import re

from click.testing import CliRunner
from rows import rows

import nmlgen
from nmlgen.cli.application import application
from nmlgen.lift.codes import PROBLEMS as TEXT_PROBLEMS
from nmlgen.script.problems import PROBLEMS

EXAMPLES = re.compile(r"^(Found|Clean):\n\n```(sh|ini)\n(.*?)\n```", re.MULTILINE | re.DOTALL)
ALL = {code: text for code, (_, text) in TEXT_PROBLEMS.items() if code in PROBLEMS or code.startswith("MKX")}


@rows("code", ALL)
def test_examples(code, tmp_path):
    examples = {kind: (language, text) for kind, language, text in EXAMPLES.findall(ALL[code])}
    assert list(examples) == ["Found", "Clean"]
    found = {}
    for kind, (language, text) in examples.items():
        path = tmp_path / ("abc.config" if language == "ini" else f"{kind}.run")
        path.write_text(f"{text}\n")
        report = nmlgen.lint([path], is_isolated=True, is_fragment=False)
        found[kind] = {finding.code for finding in report.findings}
    assert code in found["Found"]
    assert code not in found["Clean"]


def test_they_are_listed_and_explained():
    listed = CliRunner().invoke(application, ["rules"], standalone_mode=False).output
    for code, text in ALL.items():
        assert code in listed
        assert text in CliRunner().invoke(application, ["explain", code], standalone_mode=False).output
