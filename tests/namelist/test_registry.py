"""The registries of ICON's releases: their form, their names, and values known by heart."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from nmlgen.errors import InputError
from nmlgen.namelist.registry import load_registry, releases

SCHEMAS = Path(__file__).resolve().parents[2] / "schemas"
SCHEMA = json.loads((SCHEMAS / "registry.schema.json").read_text(encoding="utf-8"))

each_release = pytest.mark.parametrize("release", releases())


def document(release: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((SCHEMAS / "icon" / f"{release}.json").read_text(encoding="utf-8"))
    return found


def test_releases_in_order() -> None:
    assert releases() == ("2024.01", "2024.07", "2024.10")


def test_schema_is_valid() -> None:
    Draft202012Validator.check_schema(SCHEMA)


def test_schema_describes_every_key() -> None:
    definitions = SCHEMA["$defs"].values()
    for part in (SCHEMA, *definitions):
        for name, value in part.get("properties", {}).items():
            assert value.get("description"), name


@each_release
def test_registry_is_valid(release: str) -> None:
    errors = Draft202012Validator(SCHEMA).iter_errors(document(release))
    assert [f"{error.json_path}: {error.message}" for error in errors] == []
    assert document(release)["release"] == release


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        (("groups", "io_nml", "component"), "clouds"),
        (("groups", "io_nml", "variables", "dt_diag", "type"), "float"),
        (("groups", "io_nml", "variables", "DT_DIAG"), {"type": "real"}),
        (("groups", "io_nml", "variables", "a(1)"), {"type": "real"}),
        (("groups", "io_nml", "variables", "dt_diag", "shape"), [0]),
        (("groups", "IO_nml"), {"component": "atmosphere", "variables": {}}),
        (("release",), "2024"),
        (("comment",), "text"),
    ],
)
def test_mistake_is_refused(keys: tuple[str, ...], value: object) -> None:
    registry = document("2024.10")
    node = registry
    for key in keys[:-1]:
        node = node[key]
    node[keys[-1]] = value
    assert not Draft202012Validator(SCHEMA).is_valid(registry)


@each_release
def test_names_are_lower_case_and_found_in_any(release: str) -> None:
    registry = load_registry(release)
    for group in registry.groups:
        assert re.fullmatch(r"[a-z]\w*", group)
        assert registry.has_group(group.upper())
        for name in registry.variables(group):
            assert name == name.lower()
            assert registry.variable(group.upper(), name.upper()) is not None


@each_release
def test_values_known_by_heart(release: str) -> None:
    registry = load_registry(release)
    mode = registry.variable("io_nml", "restart_write_mode")
    assert mode is not None
    assert (mode.type, mode.length, mode.shape, mode.default) == ("character", 256, (), "")
    order = registry.variable("diffusion_nml", "hdiff_order")
    assert order is not None
    assert order.allowed == (-1, 2, 4, 5)
    levels = registry.variable("run_nml", "num_lev")
    assert levels is not None
    assert (levels.type, levels.shape, levels.default, levels.is_array) == ("integer", (10,), 31, True)
    threshold = registry.variable("io_nml", "echotop_meta%dbzthresh")
    assert threshold is not None
    assert (threshold.base_shapes, threshold.shape) == (((10,),), (10,))
    assert registry.component("io_nml") == "atmosphere"
    assert registry.component("ocean_dynamics_nml") == "ocean"


def test_releases_differ() -> None:
    old, new = load_registry("2024.01"), load_registry("2024.10")
    nproma = [registry.variable("parallel_nml", "nproma") for registry in (old, new)]
    assert [variable.default for variable in nproma if variable] == [1, 0]
    assert old.variable("io_nml", "ff10m_interval") is None
    assert new.variable("io_nml", "ff10m_interval") is not None


@each_release
def test_groups_that_are_read(release: str) -> None:
    registry = load_registry(release)
    assert registry.is_repeatable("output_nml")
    assert not registry.is_repeatable("run_nml")
    assert registry.is_read("run_nml")
    assert not registry.is_read("cloud_two_nml")


def test_what_nobody_knows() -> None:
    registry = load_registry("2024.10")
    assert registry.variable("io_nml", "bogus") is None
    assert registry.variable("bogus_nml", "nproma") is None
    assert not registry.has_group("bogus_nml")
    assert not registry.is_repeatable("bogus_nml")


@pytest.mark.parametrize("release", ["2023.01", "", "../sites/levante", "2024.1"])
def test_unknown_release_names_the_known_ones(release: str) -> None:
    with pytest.raises(InputError, match=r"known are 2024\.01, 2024\.07, 2024\.10"):
        load_registry(release)
