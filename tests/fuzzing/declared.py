"""Specs and sites with what their schemas declare: any key of them, with a value that is allowed there, on the edge of
that, or just beyond; written as YAML in which equal parts are aliases, mappings are merged, and values carry tags."""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from specs import changed

from fuzzing import schemas
from fuzzing.cases import Case, yaml_of
from fuzzing.hostile import NUMBERS, SIZES, STRINGS, TIMES
from fuzzing.limited import Ended
from fuzzing.schemas import ANY, KEY
from fuzzing.specs import seeds, sites
from fuzzing.trees import leaves

# --- Values


@cache
def _texts() -> tuple[str, ...]:
    """Every text that a document holds, and hostile ones."""
    values = (value for document in (*seeds(), *sites().values()) for _, value in leaves(document))
    return (*sorted({value for value in values if isinstance(value, str)}), *TIMES, *SIZES, *STRINGS)


@cache
def _matching(pattern: str) -> tuple[str, ...]:
    return tuple(text for text in _texts() if re.search(pattern, text)) or ("a",)


def edges(node: Mapping[str, Any]) -> tuple[int | float, ...]:
    """The least and the largest number that is allowed, those beside them, and where machines turn over."""
    bounds = [node[key] for key in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum") if key in node]
    beside = [bound + step for bound in bounds for step in (-1, 0, 1, -0.5, 0.5)]
    powers = [sign * 2**power + step for power in (15, 16, 31, 32, 53, 63, 64) for sign in (1, -1) for step in (-1, 0)]
    return (*beside, *beside, *powers, *NUMBERS)


def value_of(schema: str, node: Mapping[str, Any], pick: random.Random, depth: int = 0) -> Any:
    """What the schema allows at a place, most of the time."""
    node = schemas.resolved(schema, node)
    for kind in ("anyOf", "oneOf"):
        if kind in node:
            return value_of(schema, {**node, kind: (), **pick.choice(node[kind])}, pick, depth) if node[kind] else None
    if "enum" in node or "const" in node:
        return pick.choice(node.get("enum") or [node["const"]])
    kinds = node.get("type", "object" if "properties" in node else "string")
    kind = pick.choice(kinds) if isinstance(kinds, list) else kinds
    if kind in {"integer", "number"}:
        small = max(node.get("minimum", 0), 1) + pick.choice((0, 0, 1, 3, 7))
        return min(small, node.get("maximum", small)) if pick.random() < 0.75 else pick.choice(edges(node))
    if kind == "boolean":
        return pick.random() < 0.5
    if kind == "array":
        least = node.get("minItems", 0)
        count = pick.choice((least, max(least, 1), max(least, 2), node.get("maxItems", 3)))
        return [value_of(schema, node.get("items", {}), pick, depth + 1) for _ in range(min(count, 20))]
    if kind == "object" and depth < 6:
        return _mapping(schema, node, pick, depth)
    return pick.choice(_matching(node.get("pattern", ""))) if kind == "string" else None


def _mapping(schema: str, node: Mapping[str, Any], pick: random.Random, depth: int) -> dict[str, Any]:
    known = node.get("properties", {})
    chosen = {*node.get("required", ()), *pick.sample(sorted(known), min(len(known), pick.choice((0, 1, 2, 4))))}
    made = {key: value_of(schema, known[key], pick, depth + 1) for key in sorted(chosen) if key in known}
    for pattern, below in {**node.get("patternProperties", {}), "": node.get("additionalProperties")}.items():
        if isinstance(below, dict) and pick.random() < 0.7:
            name = pick.choice(_matching(pattern)) if pick.random() < 0.2 else "made"
            made[name] = value_of(schema, below, pick, depth + 1)
    return made


@cache
def _declared(schema: str) -> tuple[tuple[tuple[str, ...], Mapping[str, Any]], ...]:
    return tuple((place, node) for place, node in schemas.places(schema) if place[-1] != KEY)


def declared(schema: str, document: Mapping[str, Any], pick: random.Random, hostility: float) -> dict[str, Any]:
    """A copy with one to four places that the schema declares filled anew."""
    made = copy.deepcopy(dict(document))
    for _ in range(pick.choice((1, 1, 2, 4))):
        known = [(place, node) for place, node in _declared(schema) if place[0] in made and place[0] != "models"]
        place, node = pick.choice(known if pick.random() < 0.85 else _declared(schema))
        value = value_of(schema, node, pick)
        if pick.random() < hostility:
            value = pick.choice(
                (None, [], {}, "", pick.choice(edges(node)), pick.choice(STRINGS), [value], {"a": value})
            )
        _fill(made, place, value, pick)
    return made


def _fill(document: Any, place: tuple[str, ...], value: Any, pick: random.Random) -> None:
    """Put a value there; what the author names is one of the names that are there, or a new one."""
    for number, word in enumerate(place):
        is_last = number == len(place) - 1
        if isinstance(document, list):
            if not document:
                document.append({})
            key: Any = pick.randrange(len(document))
        elif isinstance(document, dict):
            key = pick.choice([*document, "made"]) if word == ANY else word
        else:
            return
        if is_last:
            document[key] = value
            return
        if isinstance(document, dict) and not isinstance(document.get(key), (dict, list)):
            document[key] = {}
        document = document[key]


# --- Ways to write it

_WRONG_TAGS = (
    "!!int ",
    "!!float ",
    "!!bool ",
    "!!null ",
    "!!set ",
    "!!omap ",
    "!!binary ",
    "!!timestamp ",
    "!own ",
    "!<tag:x> ",
    "!!map ",
    "!!seq ",
    "! ",
    "!!a ",
)


def knotted(document: Mapping[str, Any], pick: random.Random, wildness: float) -> bytes:
    """The document in flow style, in which parts are anchored, named again, merged and tagged; where it is wild, with
    keys that come twice, anchors that hold themselves, tags of other types, and names of what is not there."""
    anchors: dict[str, str] = {}

    def write(node: Any) -> str:
        text = json.dumps(node, ensure_ascii=False, sort_keys=True)
        if text in anchors and pick.random() < 0.7:
            return f"*{anchors[text]} "
        if pick.random() < wildness:
            return pick.choice((*(tag + plain(node) for tag in _WRONG_TAGS), "*gone ", f"&a {plain(node)}", "*a "))
        if pick.random() < 0.15:
            anchors[text] = name = pick.choice((f"n{len(anchors)}", f"\u00e9{len(anchors)}", f"{len(anchors)}"))
            return f"&{name} {plain(node)}"
        return ("!!str " if isinstance(node, str) and pick.random() < 0.05 else "") + plain(node)

    def plain(node: Any) -> str:
        if isinstance(node, dict):
            items = [f"{scalar(str(key))}: {write(value)}" for key, value in node.items()]
            if items and pick.random() < wildness:
                first = pick.randrange(len(items))
                items[first:] = [f"<<: {{{', '.join(items[first:])}}}"]
            if items and pick.random() < wildness:
                items.append(pick.choice((items[0], "<<: *gone", "<<: [*a, *a]", "? [a]: 1", "? {}", "~: 1", "1: 1")))
            return "{" + ", ".join(items) + "}"
        if isinstance(node, list):
            return "[" + ", ".join(map(write, node)) + "]"
        return scalar(node)

    def scalar(node: Any) -> str:
        return yaml_of(node).decode("utf-8", "replace")

    lines = [f"{scalar(str(key))}: {write(value)}" for key, value in document.items()]
    if pick.random() < wildness:
        lines.insert(pick.randrange(len(lines) + 1), pick.choice(("a: &a [*a]", "b: &b {<<: *b}", "c: &a {c: *a}")))
    return ("\n".join(lines) + "\n").encode("utf-8", "replace")


# --- Cases


def _built(ends: list[Ended]) -> bool:
    return ends[0].code == 0


_SHOWN = (
    *(("ranks", "spec.yaml"), ("volume", "spec.yaml"), ("advise", "spec.yaml"), ("tune", "spec.yaml", "--dry-run")),
    *(("why", "spec.yaml", "job"), ("check", "spec.yaml", "--format", "sarif"), ("diff", "seed.yaml", "spec.yaml")),
    *(("migrate", "spec.yaml", "--to", "2025.10"), ("sweep", "spec.yaml", "--dry-run"), ("lint", "made")),
)


def declared_specs(generator: random.Random) -> Iterator[Case]:
    """Specs with what the schema declares, of which more than a third is built."""
    base = seeds()
    while True:
        seed = generator.choice(base)
        document = seed
        if generator.random() < 0.85:
            document = declared("spec", seed, generator, generator.choice((0.0, 0.0, 0.0, 0.3)))
        calls: tuple[tuple[str, ...], ...] = (("build", "spec.yaml", "-o", "made"),)
        if generator.random() < 0.35:
            calls += (generator.choice(_SHOWN),)
        data = knotted(document, generator, generator.choice((0.0, 0.0, 0.005)))
        yield Case({"spec.yaml": data, "seed.yaml": yaml_of(seed)}, calls, _built)


def declared_sites(generator: random.Random) -> Iterator[Case]:
    """Sites with what the schema declares, each with a spec that is built on it."""
    base = sites()
    while True:
        name = generator.choice(sorted(base))
        site = declared("site", base[name], generator, generator.choice((0.0, 0.3)))
        partitions = base[name].get("machine", {}).get("partitions", {"compute": 0})
        spec = changed(site="./site.yaml", job={"partition": next(iter(partitions))})
        files = {"spec.yaml": yaml_of(spec), "site.yaml": knotted(site, generator, generator.choice((0.0, 0.01)))}
        show = generator.choice((("presets", "./site.yaml"), ("advise", "spec.yaml"), ("ranks", "spec.yaml")))
        yield Case(files, (("build", "spec.yaml", "-o", "made"), show), _built)
