"""The data that nmlgen carries."""

from __future__ import annotations

import pytest

from nmlgen import resources


def test_an_installation_without_its_data_says_so(tmp_path, monkeypatch):
    """As where somebody packs the modules into a zip file."""
    monkeypatch.setattr(resources, "_PACKAGE", tmp_path / "nmlgen.zip" / "nmlgen")
    find = resources.directory.__wrapped__  # others may have asked before
    with pytest.raises(FileNotFoundError, match=r"nmlgen was not installed as a whole, into a directory: .*schemas"):
        find("schemas")
