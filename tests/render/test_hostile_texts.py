"""Hostile texts at every place of a spec, a site, a preset, a sweep and a configuration that takes them: the script
that is built, or mended, does what it does with plain words."""

from __future__ import annotations

import pytest
from fuzzing import configured
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


@pytest.mark.parametrize("number", range(4))
def test_a_text_of_the_configuration_mends_nothing(number, tmp_path):
    """What lint mends does not become what a project's configuration says."""
    require("bash")
    mended = 0
    for text in SHORT[number::12][:2]:
        for place, is_mended, wrong in configured.differences(text, tmp_path / str(mended)):
            assert not wrong, f"{text!r} at {place}"
            mended += is_mended
    assert mended > 5
