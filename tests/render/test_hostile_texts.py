"""Hostile texts at every place of a spec, a site, a preset, a sweep and a configuration that takes them: the script
that is built, or mended, does what it does with plain words."""

from __future__ import annotations

import pytest
from fuzzing import configured
from fuzzing.hostile import STRINGS
from fuzzing.quoting import COUPLED, EVERY, SCHEMAS, differences, open_places, places
from fuzzing.schemas import place_of, text_places
from tools import require

SHORT = [text for text in STRINGS if len(text) < 100]


LEAST = (80, 85, 40, 40, 12, 40, 30)
"""So many places of each set of documents take any text."""


@pytest.mark.parametrize("number", range(len(EVERY)))
def test_a_text_stays_a_text(number, tmp_path):
    """A text at all places at once; each set of documents has other texts, of all kinds that there are. All texts at
    the places of all sets: `benchmarks/hostile_texts.py`."""
    require("bash")
    assert len(open_places(EVERY[number], tmp_path)) > LEAST[number]
    for text in SHORT[4 * number :: 8 * len(EVERY)]:
        for found, wrong in differences(text, EVERY[number], tmp_path):
            assert not wrong, f"{text!r} at {found}"


def test_a_text_is_no_pattern_and_stands_for_no_match(tmp_path):
    """Bash 5.2 takes "&" for what matched, where a name is exchanged for another."""
    require("bash")
    for found, wrong in differences("a &*b", COUPLED, tmp_path):
        assert not wrong, found


ELSEWHERE = {
    ("coupling", "file"): "a file that is read when a spec is built, and has to be there",
    ("extends", "*"): "a preset, which has to be there",
    ("model", "registry"): "a file that has to be there",
    ("machine", "calibration"): "a file that has to be there",
    ("land",): "namelists, written as all others are",
    ("models", "*", "land"): "namelists, written as all others are",
    ("domains", "*", "land"): "namelists, written as all others are",
    ("models", "*", "domains", "*", "land"): "namelists, written as all others are",
    ("models", "*", "namelists", "*", "*", "*"): "namelists, written as all others are",
    ("parallel", "*"): "namelists, written as all others are",
    ("models", "*", "parallel", "*", "*"): "namelists, written as all others are",
    ("models", "*", "restart", "restart_write_mode"): "one of a few words",
    ("lustre", "input", "component_end", "*", "pool"): "as that of the output",
    ("node_local", "before_stage_out", "*"): "commands, which are for the shell",
    ("start_from", "time"): "a time",
    ("sweep", "exclude", "*"): "an expression",
    ("sweep", "include", "*"): "an expression",
    ("sweep", "name"): "a pattern, of which names are made",
    ("machine", "mpi"): "as Open MPI's, which is there",
}
"""Where a text goes into no script, or as another one does that is tried."""


@pytest.mark.parametrize("schema", sorted(set(SCHEMAS.values())))
def test_no_place_is_forgotten(schema):
    tried = {
        place_of(schema, tuple(path))
        for documents in EVERY
        for name, *path in places(documents)
        if SCHEMAS[name] == schema
    }
    left = {place for place in text_places(schema) - tried if not any(place[: len(one)] == one for one in ELSEWHERE)}
    assert left == set()
    if schema == "site":
        assert {place[3:] for place in tried if place[:3] == ("machine", "mpi", "openmpi")} >= {
            place[3:] for place in text_places(schema) if place[:2] == ("machine", "mpi")
        }


def test_no_place_of_a_configuration_is_forgotten():
    tried = {place_of("configuration", path[1:]) for path in configured.places()}
    assert text_places("configuration") - tried == set()


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
