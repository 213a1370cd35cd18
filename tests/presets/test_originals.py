"""Presets hold what their originals say; every difference is argued, in `originals/originals.yaml`."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

import nmlgen
from nmlgen.experiment.difference import Difference, Verdict
from nmlgen.spec import presets
from nmlgen.starter import starter_spec

HERE = Path(__file__).parent / "originals"
KNOWN: dict[str, Any] = YAML(typ="safe", pure=True).load((HERE / "originals.yaml").read_text(encoding="utf-8"))
each_preset = pytest.mark.parametrize("preset", KNOWN["presets"])


def written(preset: str, directory: Path) -> Path:
    """The spec that `nmlgen init` makes of the preset."""
    path = directory / f"{preset.rpartition('/')[2]}.yaml"
    path.write_text(starter_spec(preset, "levante", None, "bb1234", None, "/work/bb1234/icon", None))
    return path


def setting_of(difference: Difference, label: str) -> str:
    """The name of a setting in the table: group.variable, or output.STREAM.variable, whichever model it is of."""
    section = re.sub(r"^\w+: ", "", difference.section)
    stream = re.fullmatch(rf'output_nml "output/{label}_(.*)"', section)
    return f"{f'output.{stream[1]}' if stream else section}.{difference.name}"


def differing(preset: str, directory: Path) -> set[str]:
    label = preset.rpartition("/")[2]
    comparison = nmlgen.compare(
        HERE / label, written(preset, directory), icon_release=KNOWN["presets"][preset]["release"]
    )
    return {setting_of(difference, label) for difference in comparison.of(Verdict.DIFFERENT)}


def argued(preset: str) -> list[str]:
    return [setting for entry in KNOWN["presets"][preset]["differences"] for setting in entry["settings"]]


COMMON = [setting for entry in KNOWN["common"] for setting in entry["settings"]]


@each_preset
def test_differences_are_argued(preset, tmp_path):
    patterns = [*COMMON, *argued(preset)]
    found = differing(preset, tmp_path)
    assert sorted(name for name in found if not any(fnmatchcase(name, one) for one in patterns)) == []
    assert [one for one in argued(preset) if not any(fnmatchcase(name, one) for name in found)] == []


def test_common_arguments_are_needed(tmp_path):
    found = set().union(*(differing(preset, tmp_path) for preset in KNOWN["presets"]))
    assert [one for one in COMMON if not any(fnmatchcase(name, one) for name in found)] == []


@each_preset
def test_builds_without_a_finding(preset, tmp_path):
    spec = nmlgen.load_spec(written(preset, tmp_path))
    assert [str(finding) for finding in nmlgen.check(spec).findings] == []
    assert "ignore" not in presets.text(preset)
    assert nmlgen.build(spec).findings == ()


def test_every_whole_preset_has_an_original():
    known = {name for name in presets.names() if name.startswith("icon/")}
    assert known - {"icon/jabw", "icon/nh_dcmip_tc_52"} == set(KNOWN["presets"])
