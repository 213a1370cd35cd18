"""Which release a file is for, told by the source tree that it lies in."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmlgen.findings import Severity
from nmlgen.lift.releases import of_tree, registry_for
from nmlgen.linting import lint

CONFIGURE = """#! /bin/sh
# Identity of this package.
PACKAGE_NAME='{0}'
PACKAGE_TARNAME='{0}-{1}'
PACKAGE_VERSION='{1}'
"""


@pytest.fixture
def tree(tmp_path):
    def make(name: str, version: str) -> Path:
        (tmp_path / "configure").write_text(CONFIGURE.format(name, version))
        path = tmp_path / "run" / "checksuite.nwp" / "exp.test"
        path.parent.mkdir(parents=True)
        path.write_text("&run_nml\n/\n")
        return path

    return make


def test_the_tree_says_the_release(tree):
    path = tree("icon", "2025.04-2")
    assert of_tree(path) == "2025.04"
    found = registry_for(path, path.read_text())
    assert found.release == "2025.04"
    assert not found.is_assumed


def test_the_tree_of_a_part_lies_in_that_of_the_model(tree, tmp_path):
    tree("icon", "2024.10")
    part = tmp_path / "externals" / "art"
    path = part / "examples" / "scripts" / "more" / "exp.test"
    path.parent.mkdir(parents=True)
    (part / "configure").write_text(CONFIGURE.format("art", "1.0"))
    assert of_tree(path) == "2024.10"


def test_other_trees_say_nothing(tree):
    path = tree("cdo", "2024.10")
    assert of_tree(path) is None
    found = registry_for(path, path.read_text())
    assert (found.is_assumed, found.stranger) == (True, None)


@pytest.mark.parametrize("version", ["2.6.3", "1999.10", "2026.04"])
def test_what_a_release_refuses_is_a_warning_in_the_tree_of_one_that_is_not_known(tree, version):
    path = tree("icon", version)
    assert of_tree(path) == version
    found = registry_for(path, path.read_text())
    assert (found.is_assumed, found.stranger) == (True, version)
    path.write_text("&parallel_nml\n nproma = 8\n/\n&interpol_nml\n l_intp_c2l = .false.\n/\n")
    (finding,) = [finding for finding in lint([path]).findings if finding.code == "NML009"]
    assert finding.severity is Severity.WARNING
    assert any(f"that of ICON {version}" in note for note in finding.notes)


def test_what_somebody_says_holds_before_the_tree(tree):
    path = tree("icon", "2025.04-2")
    assert registry_for(path, "", "2024.10").release == "2024.10"
    assert registry_for(path, "", None, "2024.07").release == "2024.07"


def test_the_standard_input_lies_nowhere():
    assert of_tree(Path("-")) is None


@pytest.mark.parametrize(
    ("component", "release", "severity"),
    [
        ("dbzthresh", None, None),
        ("foobarbaz", None, "warning"),
        ("foobarbaz", "2024.10", "error"),
        ("dbztresh", None, "error"),
        ("time_interval = 1.0 echotop_meta(1)%time_intervals", None, "warning"),
    ],
)
def test_a_component_that_another_release_may_have(component, release, severity, tmp_path):
    path = tmp_path / "NAMELIST_atm"
    path.write_text(f"&io_nml\n echotop_meta(1)%{component} = 18.0\n/\n")
    found = lint([path], icon_release=release, select=["NML002"], is_isolated=True).findings
    assert [finding.severity.value for finding in found] == ([severity] if severity else [])
