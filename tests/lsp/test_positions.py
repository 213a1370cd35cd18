"""Places in an editor's words, in texts that are not ASCII."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from nmlgen.lsp.positions import Positions
from nmlgen.source import Source, Text

TEXT = "a\tb\r\nä𝒳y = 1\rü\n\nend"
POINTS = st.text(alphabet="aä𝒳\t \r\n\u2028\x85\ud800", max_size=30)


@pytest.mark.parametrize(("encoding", "character"), [("utf-16", 3), ("utf-8", 6), ("utf-32", 2), ("something else", 3)])
def test_columns_are_units_of_the_encoding(encoding, character):
    positions = Positions(Source("f", TEXT), encoding)
    assert positions.position(TEXT.index("y")) == types.Position(1, character)
    assert positions.offset(types.Position(1, character)) == TEXT.index("y")


def test_lines_end_as_the_protocol_has_it():
    positions = Positions(Source("f", TEXT))
    assert positions.position(TEXT.index("ü")) == types.Position(2, 0)
    assert positions.position(TEXT.index("end")) == types.Position(4, 0)
    assert positions.range(Source("f", TEXT).span(1, 2, 2)) == types.Range(types.Position(0, 1), types.Position(0, 3))


@pytest.mark.parametrize(
    ("line", "character", "offset"),
    [(0, 99, 3), (99, 0, len(TEXT)), (1, 2, 6), (1, 99, 12), (2**31 - 1, 2**31 - 1, len(TEXT))],
)
def test_places_that_are_not_in_the_text(line, character, offset):
    assert Positions(Source("f", TEXT)).offset(types.Position(line, character)) == offset


@given(POINTS, st.sampled_from(["utf-8", "utf-16", "utf-32"]))
def test_there_and_back(text, encoding):
    source = Source("f", text)
    positions = Positions(source, encoding)
    for offset in range(len(text) + 1):
        line, column = Text(source).position(offset)
        if column <= len(source.line(line)):  # not between the two characters of a line end
            assert positions.offset(positions.position(offset)) == offset
