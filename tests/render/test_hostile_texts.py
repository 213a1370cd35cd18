"""Hostile texts at every place of a spec, a site, a preset and a sweep that takes them: the script that is built does
what it does with plain words."""

from __future__ import annotations

import pytest
from fuzzing.hostile import STRINGS
from fuzzing.quoting import DOCUMENTS, WITH_SWEEP, differences, open_places
from tools import require

SHORT = [text for text in STRINGS if len(text) < 100]


@pytest.mark.parametrize("number", range(12))
def test_a_text_stays_a_text(number, tmp_path):
    """A twelfth of them at a time, every one at all places at once."""
    require("bash")
    documents = WITH_SWEEP if number % 2 else DOCUMENTS
    for text in SHORT[number::12][:4]:
        for places, wrong in differences(text, documents, tmp_path):
            assert not wrong, f"{text!r} at {places}"


def test_there_are_places(tmp_path):
    assert len(open_places(DOCUMENTS, tmp_path)) > 50
