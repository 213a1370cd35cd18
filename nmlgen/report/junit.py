"""Findings as JUnit XML, which most CI services show as failed tests."""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.etree import ElementTree

from nmlgen.findings import Finding
from nmlgen.visible import visible

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def format_junit(findings: Iterable[Finding]) -> str:
    """One suite a file and one failed case a finding; where nothing was found one case passes."""
    by_file: dict[str, list[Finding]] = {}
    for finding in findings:
        by_file.setdefault(finding.file or "nmlgen", []).append(finding)
    count = sum(map(len, by_file.values()))
    top = ElementTree.Element("testsuites", name="nmlgen", tests=str(count or 1), failures=str(count), errors="0")
    for file, found in by_file.items():
        number = str(len(found))
        suite = _child(top, "testsuite", name=file, tests=number, failures=number, errors="0")
        for finding in found:
            _case(suite, finding, file)
    if not by_file:
        suite = _child(top, "testsuite", name="nmlgen", tests="1", failures="0", errors="0")
        _child(suite, "testcase", classname="nmlgen", name="no findings")
    ElementTree.indent(top)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(top, encoding="unicode")


def _case(suite: ElementTree.Element, finding: Finding, file: str) -> None:
    place = {"line": str(finding.line), "column": str(finding.column)} if finding.span else {}
    case = _child(suite, "testcase", classname=file, name=f"{finding.code} {finding.name}", **place)
    failure = _child(case, "failure", type=finding.severity.value, message=finding.message)
    failure.text = "\n".join(map(_printable, [f"{finding.where}: {finding.message}", *finding.notes]))


def _child(parent: ElementTree.Element, tag: str, **attributes: str) -> ElementTree.Element:
    return ElementTree.SubElement(parent, tag, {key: _printable(text) for key, text in attributes.items()})


def _printable(text: str) -> str:
    """The text on one line, with the numbers of characters that a terminal would obey, and a sign in place of every
    other that XML cannot hold."""
    return _NOT_XML.sub("\ufffd", visible(text))
