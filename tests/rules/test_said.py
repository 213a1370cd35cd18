"""What every rule says, word by word: of the bad examples of its page, and of the fragments in `said/<code>.yaml`.

A fragment is a document of that file, laid over the example that the pages use, too; those stand in pairs, on both
sides of a boundary. After a change that is meant: `python -m pytest tests/rules/test_said.py --regenerate`, and read
the diff.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from grid_files import write_grids
from rows import rows
from rules.test_examples import check, examples

from nmlgen.findings import Finding, Severity
from nmlgen.rules import all_rules

SAID = Path(__file__).parent / "said"


def fragments(code: str) -> list[str]:
    """The fragments of a rule."""
    path = SAID / f"{code}.yaml"
    return re.split(r"^---\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:] if path.exists() else []


def lines(finding: Finding) -> Iterator[str]:
    """A finding as text."""
    place = f"{finding.line}:{finding.column}" if finding.span else "-"
    yield f"{place} {finding.severity.name.lower()}: {finding.message}"
    yield from (f"    {note}" for note in finding.notes)
    if finding.fix is not None:
        safe = "safe" if finding.fix.is_safe else "unsafe"
        yield f"    fix ({safe}): {', '.join(repr(edit.replacement) for edit in finding.fix.edits)}"


@rows("rule", all_rules(), ids=lambda rule: rule.code, parts=4)
def test_rule_says(rule, tmp_path, monkeypatch, request):
    write_grids(tmp_path)
    monkeypatch.chdir(tmp_path)
    said = []
    for kind, texts in (("example", examples(rule, "bad")), ("fragment", fragments(rule.code))):
        for number, text in enumerate(texts, start=1):
            found = [one for one in check(text, tmp_path, rule).findings if one.code == rule.code]
            if rule.severity is not Severity.ERROR:  # nobody asks it who wants to know of errors only
                assert not any(one.severity is Severity.ERROR for one in found)
            said += [f"{kind} {number}", *(line for one in found for line in lines(one)), ""]
    text = "\n".join(said).replace(str(tmp_path), "DIRECTORY").replace(f"{SAID.parent}/", "")
    path = SAID / f"{rule.code}.txt"
    if request.config.getoption("--regenerate"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def test_no_rule_is_gone():
    codes = {rule.code for rule in all_rules()}
    assert {path.stem for path in SAID.iterdir()} <= codes


def test_each_rule_is_summed_up_in_a_line():
    assert all(rule.document().startswith(f"{rule.summary()}\n") and rule.summary() for rule in all_rules())
