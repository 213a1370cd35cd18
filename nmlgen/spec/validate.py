"""A document held against its JSON Schema, with messages that point and say what was expected.

The schemas use no anyOf: each keyword that fails is said in its own words. The keyword `expected`, an
annotation of ours, holds those words where the pattern alone would not help anyone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from nmlgen.errors import SpecError
from nmlgen.findings import Finding, did_you_mean, in_order
from nmlgen.resources import schema
from nmlgen.source import Span
from nmlgen.spec.conformity import conforms, is_unique, search
from nmlgen.spec.nodes import Node
from nmlgen.spec.problems import problem

_TYPE_WORDS = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "a mapping",
}


_FALLBACKS = {
    "minimum": "{} or more",
    "maximum": "{} or less",
    "minItems": "a list with at least one element",
    "maxItems": "a list of {} elements at most",
    "maxProperties": "a mapping of {} keys at most",
    "minLength": "some text",
    "uniqueItems": "a list without repetitions",
    "pattern": "text that matches {}",
}


def validate(node: Node, schema_name: str) -> None:
    """Hold a document against `schemas/<schema_name>.schema.json`; raises SpecError with every mistake.

    Keys whose value is null say nothing and are not looked at.
    """
    document, whole = _without_nulls(node), schema(schema_name)
    if conforms(document, whole, whole):
        return
    findings = [
        finding for error in _validator(schema_name).iter_errors(document) for finding in _findings(error, node)
    ]
    if findings:
        raise SpecError(in_order(findings))


def accepts(value: Any, *path: str) -> bool:
    """Whether the schema of specs takes a plain value below a path of keys."""
    part = part_of_spec(*path)
    return bool(part) and (
        conforms(value, part, schema("spec")) or bool(_validator("spec").evolve(schema=part).is_valid(value))
    )


def part_of_spec(*path: str) -> Any:
    """What the schema of specs says of the value below a path of keys; None if there is no such key."""
    return part_of("spec", *path)


def part_of(schema_name: str, *path: str) -> Any:
    """What a schema says of the value below a path of keys, of elements of a list, too; None if there is none."""
    part: Any = schema(schema_name)
    for key in path:
        part = part.get("items", part)
        names = part.get("propertyNames", {}).get("pattern", "")
        known = part.get("properties", {})
        part = known.get(key) or (part.get("additionalProperties") if re.search(names, key) else None)
        if not part:
            return None
        if "$ref" in part:
            own = {keyword: said for keyword, said in part.items() if keyword != "$ref"}
            part = _referred(schema_name, part["$ref"]) | own
    return part


def _referred(schema_name: str, reference: str) -> Any:
    """The part of a schema that `#/$defs/model` or its like stands for."""
    part: Any = schema(schema_name)
    for key in reference.removeprefix("#/").split("/"):
        part = part[key]
    return part


@cache
def _validator(schema_name: str) -> Any:
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

    checker = Draft202012Validator.TYPE_CHECKER.redefine("integer", _is_integer)
    strict: Any = extend(Draft202012Validator, {"pattern": _pattern, "uniqueItems": _unique}, type_checker=checker)  # type: ignore[no-untyped-call]
    return strict(schema(schema_name))


def _is_integer(checker: Any, value: Any) -> bool:
    """Not 2.0, which JSON Schema calls an integer and Slurm does not."""
    return isinstance(value, int) and not isinstance(value, bool)


def _pattern(validator: Any, pattern: str, value: Any, part: Any) -> Iterator[Any]:
    from jsonschema import ValidationError

    if isinstance(value, str) and not search(pattern, value):
        yield ValidationError(f"{value!r} does not match {pattern!r}")


def _unique(validator: Any, said: bool, value: Any, part: Any) -> Iterator[Any]:
    """Without repetitions; jsonschema holds each element against all before it."""
    from jsonschema import ValidationError

    if said and isinstance(value, list) and not is_unique(value):
        yield ValidationError(f"{len(value)} elements, of which two are the same")


def _without_nulls(node: Node) -> Any:
    if isinstance(node.value, dict):
        return {key: _without_nulls(child) for key, child in node.value.items() if child.value is not None}
    if isinstance(node.value, list):
        return [_without_nulls(child) for child in node.value]
    return node.value


def _findings(error: Any, root: Node) -> list[Finding]:
    path = [str(part) for part in error.absolute_path]
    node, span = _locate(root, list(error.absolute_path))
    name = ".".join(path)
    if error.validator == "additionalProperties":
        return [_unknown_key(key, node, path, error.schema) for key in _extra_keys(error)]
    if error.validator == "propertyNames":
        key = error.instance
        expected = error.schema.get("expected", "letters, digits and underscores")
        return [problem("SPC003", f'"{key}" cannot be a name here', _key_span(node, key), f"expected: {expected}")]
    if "propertyNames" in error.absolute_schema_path:
        return [_bad_name(error, node)]
    return [problem("SPC004", _message(error, name), span, *_expectation(error))]


def _bad_name(error: Any, node: Node) -> Finding:
    pattern = error.schema.get("pattern", "")
    message = f'"{error.instance}" cannot be a name here'
    expected = error.schema.get("expected")
    note = f"a name matches {pattern}" if expected is None else f"expected: {expected}"
    return problem("SPC003", message, _key_span(node, error.instance), note)


def _unknown_key(key: str, node: Node, path: list[str], part: dict[str, Any]) -> Finding:
    known = list(part.get("properties", {}))
    place = f"in {'.'.join(path)}" if path else "at the top"
    notes = did_you_mean(key, known) or ((f"known are {', '.join(known)}",) if known else ())
    return problem("SPC003", f'there is no key "{key}" {place}', _key_span(node, key), *notes)


def _extra_keys(error: Any) -> list[str]:
    known = error.schema.get("properties", {})
    forms = error.schema.get("patternProperties", {})
    return [key for key in error.instance if key not in known and not any(re.search(form, key) for form in forms)]


def _message(error: Any, name: str) -> str:
    value = error.instance
    if error.validator == "type":
        return f"{name} is {_describe(value)}"
    if error.validator == "required":
        return f"{error.message} in {name or 'the document'}"
    if error.validator == "minItems":
        return f"{name} is an empty list"
    if error.validator == "maxItems":
        return f"{name} is a list of {len(value)} elements"
    if error.validator == "maxProperties":
        return f"{name} is a mapping of {len(value)} keys"
    if error.validator == "minimum":
        return f"{name} is {value}, less than {error.validator_value}"
    if error.validator == "maximum":
        return f"{name} is {value}, more than {error.validator_value}"
    return f"{name} is {_describe(value)}"


def _expectation(error: Any) -> tuple[str, ...]:
    if error.validator == "enum":
        notes = did_you_mean(str(error.instance), [str(choice) for choice in error.validator_value])
        choices = ", ".join(str(choice) for choice in error.validator_value)
        return (*notes, f"expected: {'one of ' if len(error.validator_value) > 1 else ''}{choices}")
    if "expected" in error.schema:
        return (f"expected: {error.schema['expected']}",)
    if error.validator == "type":
        types = error.validator_value if isinstance(error.validator_value, list) else [error.validator_value]
        return (f"expected: {' or '.join(_TYPE_WORDS[kind] for kind in types)}",)
    form = _FALLBACKS.get(error.validator)
    return () if form is None else (f"expected: {form.format(error.validator_value)}",)


def _describe(value: Any) -> str:
    if isinstance(value, bool):
        return f"{str(value).lower()}, a boolean"
    if isinstance(value, (int, float)):
        return f"the bare number {value}"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False) if value else "an empty string"
    if value is None:
        return "null"
    return "a list" if isinstance(value, list) else "a mapping"


def _locate(root: Node, path: list[str | int]) -> tuple[Node, Span | None]:
    node, span = root, root.span
    for part in path:
        child = node.value[part]
        span = child.span
        if isinstance(child.value, dict) and isinstance(part, str):
            span = node.keys.get(part, child.span)
        node = child
    return node, span


def _key_span(node: Node, key: str) -> Span | None:
    return node.keys.get(key, node.span)
