"""docs/reports.md names what exists: rules, keys, commands and their options, presets; and no item is forgotten."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from nmlgen.cli.application import application
from nmlgen.namelist.registry import registry_of
from nmlgen.resources import schema
from nmlgen.rules import all_rules

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "reports.md").read_text(encoding="utf-8")
ITEMS = {
    "ICON on Levante": 53,
    "On-demand file systems": 23,
    "WRF with ADIOS2": 10,
    "TOPIO": 16,
    "PALM on HLRN-IV": 17,
}
QUOTED = re.findall(r"`([^`]+)`", PAGE)


@pytest.mark.parametrize("report", ITEMS)
def test_every_item_has_its_line(report: str) -> None:
    section = PAGE.partition(f"\n## {report}\n")[2].partition("\n## ")[0]
    rows = [line.strip("|").split("|") for line in section.splitlines() if re.match(r"\| \d", line)]
    assert [int(number) for number, _, _ in rows] == list(range(1, ITEMS[report] + 1))
    assert all(said.strip() and where.strip() for _, said, where in rows)
    assert f"| {ITEMS[report]} |" in PAGE.partition("\n## ")[0]


def test_rules() -> None:
    known = {rule.code for rule in all_rules()}
    named = set(re.findall(r"\b[A-Z]{3}\d{3}\b", PAGE))
    others = {path.stem for path in (ROOT / "docs" / "rules").glob("[A-Z]*.md")}
    assert named <= known | others
    assert len(named) > 30


def test_commands_and_their_options() -> None:
    commands = [words.split() for words in QUOTED if words.startswith("nmlgen ")]
    assert commands
    for _, name, *options in commands:
        command = application.get_command(None, name)  # type: ignore[arg-type]
        assert command is not None, name
        known = {option for parameter in command.params for option in parameter.opts}
        for option in options:
            if option.startswith("--"):
                assert option in known, f"{name} {option}"
    tables = import_module("nmlgen.cli.logs").TABLES
    assert set(re.findall(r"`nmlgen logs --what (\w+)`", PAGE)) <= set(tables)


def test_presets() -> None:
    named = [words for words in QUOTED if words.startswith("presets/")]
    assert named
    assert all((ROOT / path).is_file() for path in named)


def test_keys() -> None:
    """Keys of a spec, by the schema; what it leaves open is a variable of ICON's."""
    document = schema("spec")
    named = [words.partition(":")[0] for words in QUOTED if re.fullmatch(r"[a-z_]+(\.\w+)+(: \w+)?", words)]
    named = [key for key in named if key.partition(".")[0] in document["properties"]]
    assert len(named) > 15
    for key in named:
        assert _is_known(document["properties"], key.split(".")), key


def _is_known(properties: dict[str, Any], path: list[str]) -> bool:
    first, *rest = path
    found = properties.get(first)
    if found is None:
        return False
    if not rest:
        return True
    if "properties" in found:
        return _is_known(found["properties"], rest) or (first == "parallel" and _variable("parallel_nml", rest[0]))
    group = {"output": "output_nml", "parallel": "parallel_nml"}[first]
    return _variable(group, rest[-1])


def _variable(group: str, name: str) -> bool:
    return registry_of(None).variable(group, name) is not None
