"""What output variables mean."""

from __future__ import annotations

import json

import pytest

from nmlgen.models.icon.meanings import meaning
from nmlgen.models.icon.variables import load_catalogue
from nmlgen.namelist.descriptions import description
from nmlgen.namelist.registry import load_registry, releases
from nmlgen.resources import directory


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("T_2M", "temperature at 2 m [K]"),
        ("ddt_temp_dyn", "dynamical temperature tendency [K s-1]"),
        ("nothing", None),
    ],
)
def test_meanings(name, said):
    assert meaning(name) == said


def test_meanings_are_of_variables_that_there_are():
    parts = [part for release in ("2024.10", releases()[-1]) for part in load_catalogue(release)._components.values()]
    names = {entry["name"].lower() for entries in parts for entry in entries}
    known = json.loads((directory("schemas") / "icon-output-meanings.json").read_text(encoding="utf-8"))
    assert set(known) <= names
    assert all(said or unit for said, unit in known.values())


def test_descriptions_are_of_variables_that_there_are():
    known = json.loads((directory("schemas") / "icon-descriptions.json").read_text(encoding="utf-8"))
    registries = [load_registry(release) for release in releases()]
    for group, variables in known.items():
        for name, text in variables.items():
            assert any(r.has_group(group) and r.variable(group, name) is not None for r in registries), (group, name)
            assert text.endswith(".")
            assert description(group.upper(), name.upper()) == text
    assert description("parallel_nml", "nothing") is None
