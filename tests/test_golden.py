"""Whole builds, compared byte for byte with those in tests/golden.

After a change that is meant: `python -m pytest tests/test_golden.py --regenerate`, and read the diff.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import nmlgen

GOLDEN = Path(__file__).parent / "golden"


SPECS = sorted(path.parent for path in GOLDEN.glob("*/spec.yaml"))


@pytest.mark.parametrize("directory", SPECS, ids=lambda path: path.name)
def test_build_is_as_it_was(directory, request):
    build = nmlgen.build(directory / "spec.yaml")
    expected = directory / "expected"
    if request.config.getoption("--regenerate"):
        shutil.rmtree(expected, ignore_errors=True)
        expected.mkdir()
        for name, data in build.files.items():
            (expected / name).write_bytes(data)
    assert sorted(build.files) == sorted(path.name for path in expected.iterdir())
    for name, data in build.files.items():
        assert data.decode() == (expected / name).read_text(encoding="utf-8"), f"{directory.name}/{name}"
