"""What is taken without jsonschema, jsonschema would take, too; and what ships is taken without it."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from rows import rows
from specs import MAPPING, TEXT

from nmlgen.resources import schema
from nmlgen.source import Source
from nmlgen.spec import presets
from nmlgen.spec.conformity import conforms
from nmlgen.spec.document import read_text

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-3, 3) | st.sampled_from(["", "a", "ab", "a\n", "b1"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "ab", "b1"]), inner, max_size=3),
    max_leaves=6,
)
TYPES = st.sampled_from(["string", "integer", "number", "boolean", "array", "object"])
PATTERNS = st.sampled_from(["^a", "b", "^[a-z]+$", "\\d"])
SMALL = st.integers(0, 3)


def parts(inner: Any) -> Any:
    return st.fixed_dictionaries(
        {},
        optional={
            "type": TYPES | st.lists(TYPES, min_size=1, max_size=2, unique=True),
            "enum": st.lists(st.sampled_from(["a", 1, 2.5, True, False, 0]), min_size=1, max_size=3),
            "const": st.sampled_from(["a", 1, True]),
            "pattern": PATTERNS,
            "minLength": SMALL,
            "minimum": SMALL,
            "maximum": SMALL,
            "minItems": SMALL,
            "maxItems": SMALL,
            "uniqueItems": st.just(True),
            "items": inner,
            "properties": st.dictionaries(st.sampled_from(["a", "ab"]), inner, max_size=2),
            "patternProperties": st.dictionaries(PATTERNS, inner, max_size=2),
            "additionalProperties": inner | st.booleans(),
            "propertyNames": st.fixed_dictionaries({"pattern": PATTERNS}),
            "required": st.lists(st.sampled_from(["a", "ab"]), unique=True, max_size=2),
            "minProperties": SMALL,
            "maxProperties": SMALL,
            "multipleOf": st.just(2),  # which is not known
            "$ref": st.just("#/$defs/part"),
            "description": st.just("silent"),
        },
    )


SCHEMAS = st.recursive(st.just({"type": "integer"}), parts, max_leaves=5)


@given(value=VALUES, part=SCHEMAS)
def test_what_conforms_is_valid(value, part):
    whole = {**part, "$defs": {"part": {"type": ["string", "object"], "minLength": 1}}}
    if conforms(value, whole, whole):
        validator = Draft202012Validator(whole)
        # A last newline is no end to us.
        assert validator.is_valid(value), (value, whole)


@pytest.mark.parametrize(
    ("value", "part"),
    [
        (True, {"type": "integer"}),
        (1.0, {"type": "integer"}),
        (True, {"enum": [1]}),
        ("a\n", {"pattern": "^a$"}),
        (["a", "a"], {"uniqueItems": True}),
        ({"a": 1, "b": 2}, {"properties": {"a": {}}, "additionalProperties": False}),
        ({"a": "x"}, {"$ref": "#/$defs/part"}),
        (4, {"multipleOf": 2}),
    ],
)
def test_what_is_not_sure_does_not_conform(value, part):
    whole = {**part, "$defs": {"part": {"properties": {"a": {"type": "integer"}}}}}
    assert not conforms(value, whole, whole)


@pytest.mark.parametrize("items", [[1, True], [[1], [True]], [{"a": 0}, {"a": False}], [1, "1", None, [1]]])
def test_numbers_are_no_truth_values(items):
    part = {"uniqueItems": True}
    assert conforms(items, part, part)
    assert Draft202012Validator(part).is_valid(items)


@rows("name", presets.names())
def test_all_that_ships_conforms(name):
    whole = schema("site" if name.startswith("sites/") else "spec")
    assert conforms(read_text(Source(name, presets.text(name))).plain(), whole, whole)


def test_a_good_spec_needs_no_jsonschema(tmp_path):
    (tmp_path / "spec.yaml").write_text(TEXT)
    text = "import sys, nmlgen; nmlgen.check('spec.yaml'); print('jsonschema' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, cwd=tmp_path, check=True)
    assert done.stdout == "False\n"
    assert conforms(MAPPING, schema("spec"), schema("spec"))
