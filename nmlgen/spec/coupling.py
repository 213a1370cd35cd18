"""Reading coupling.yaml, the file or the section of a spec: YAC's keys with the places where they were written."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from nmlgen.errors import SpecError
from nmlgen.experiment.coupling import Couple, Coupling, Side
from nmlgen.experiment.setting import Certainty, Origin, Setting
from nmlgen.findings import Finding
from nmlgen.source import UNKNOWN, Source, Span
from nmlgen.spec.document import read_text
from nmlgen.spec.layers import Tree
from nmlgen.spec.nodes import Node
from nmlgen.spec.problems import problem
from nmlgen.spec.validate import validate
from nmlgen.values import evolve

_LAYER = "coupling"
KEYS = ("timestep_unit", "calendar", "start_date", "start_datetime", "end_date", "end_datetime", "debug", "coupling")
"""The keys that YAC takes; it passes over others."""
_MOST_WRITTEN = 20_000  # values and keys; nine hundred couples have as many
_SECTIONS = ("debug", "coupling")
"""Those that may be there without anything."""


def read_coupling(source: Source) -> Coupling:
    """The content of a coupling.yaml, whatever is in it.

    Where a run of a script decides what stands there, nothing is said of the form.
    """
    is_open = UNKNOWN in source.text
    try:
        node = read_text(source, merges=True, most=_MOST_WRITTEN)
    except SpecError as error:
        problems = () if is_open else error.findings
        text = None if is_open else source.text
        return Coupling(text, {}, problems=problems, is_open=True, span=source.span(1, 1))
    found = coupling_of(_without_nulls(node), source.text)
    return evolve(found, text=None, problems=(), is_open=True) if is_open else found


def _without_nulls(node: Node) -> Node:
    """The document with the word null where a file says nothing of a key that takes a word or a number: YAC reads the
    word, or stops there (`config_yaml.c:693`), and passes over `coupling:` and `debug:` alone."""

    def told(node: Node) -> Node:
        return evolve(
            node,
            value={
                key: Node("null", child.span) if child.value is None and key not in _SECTIONS else child
                for key, child in node.value.items()
            },
        )

    listed = node.value.get("coupling")
    if listed is not None and isinstance(listed.value, list):
        couples = [told(couple) if isinstance(couple.value, dict) else couple for couple in listed.value]
        node = evolve(node, value={**node.value, "coupling": evolve(listed, value=couples)})
    return told(node)


def coupling_of(node: Node, text: str) -> Coupling:
    """The content of a document that is a mapping; `text` is that of the file."""
    later = tuple(_later(node))
    node = _with_plain_sides(node)
    problems = [*_problems(node), *_out_of_order(node)]
    settings = {key: _setting(key, child, node.keys.get(key)) for key, child in node.value.items() if key != "coupling"}
    listed = node.value.get("coupling")
    elements = listed.value if listed is not None and isinstance(listed.value, list) else []
    couples = tuple(_couple(element) for element in elements if isinstance(element.value, dict))
    span = node.keys.get("coupling") or node.span
    content = {key: child.plain() for key, child in node.value.items() if key in KEYS}
    return Coupling(text, settings, couples, content, tuple(problems), bool(problems), span, later)


_LATER_KEYS = frozenset(
    (
        "source",
        "target",
        "weight_file",
        "weight_file_on_existing",
        "yaxt_exchanger",
        "yaxt_exchanger_name",
        "collection_selection",
        "use_raw_exchange",
    )
)
_LATER_UNITS = frozenset(("day", "month", "year"))  # 3.4 has the words and counts in none of them
_LATER_METHODS = frozenset(("dnn", "avg", "conserv", "spmap", "file", "hcsbb", "callback"))


def _later(node: Node) -> Iterator[Setting]:
    """The unit of time, keys of couples and methods that YAC 3.4 stops at (`config_yaml.c:172-190`, `422-640`), and a
    later one takes."""
    unit = node.value.get("timestep_unit")
    if unit is not None and isinstance(unit.value, str) and unit.value in _LATER_UNITS:
        yield _setting("timestep_unit", unit)
    listed = node.value.get("coupling")
    for couple in listed.value if listed is not None and isinstance(listed.value, list) else ():
        keys = couple.value if isinstance(couple.value, dict) else {}
        for key in keys:
            if key in _LATER_KEYS:
                yield _setting("coupling", Node(key, couple.keys.get(key, couple.span)))
        methods = keys["interpolation"].value if "interpolation" in keys else None
        for method in methods if isinstance(methods, list) else ():
            name = next(iter(method.value), None) if isinstance(method.value, dict) else method.value
            if isinstance(name, str) and name in _LATER_METHODS:
                yield _setting("coupling", Node(name, method.keys.get(name, method.span)))


def _with_plain_sides(node: Node) -> Node:
    """The document with `src_component` and `src_grid` for a mapping `source`, which later versions of YAC take besides
    (3.21, `config_yaml.c:199`); of `target` alike."""
    listed = node.value.get("coupling")
    if listed is None or not isinstance(listed.value, list):
        return node
    couples = [_with_plain_side(_with_plain_side(couple, "source", "src"), "target", "tgt") for couple in listed.value]
    return evolve(node, value={**node.value, "coupling": evolve(listed, value=couples)})


def _with_plain_side(couple: Node, side: str, prefix: str) -> Node:
    named = couple.value.get(side) if isinstance(couple.value, dict) else None
    if named is None or not isinstance(named.value, dict):
        return couple
    values, keys = dict(couple.value), dict(couple.keys)
    rest = {key: child for key, child in named.value.items() if key not in ("component", "grid")}
    values[side] = evolve(named, value=rest)
    if not rest:
        del values[side]
        keys.pop(side, None)
    for key in ("component", "grid"):
        if key in named.value:
            values[f"{prefix}_{key}"] = named.value[key]
            if key in named.keys:
                keys[f"{prefix}_{key}"] = named.keys[key]
    return evolve(couple, value=values, keys=keys)


def coupling_of_tree(tree: Tree) -> Coupling:
    """The content that the section `coupling` of a spec states."""
    node = _node(tree)
    content: dict[str, Any] = {"timestep_unit": "ISO_format"} | node.plain()
    nodes = {"timestep_unit": Node("ISO_format", None)} | node.value
    return coupling_of(Node(nodes, node.span, node.keys), text_of(content))


def _node(tree: Tree) -> Node:
    """The document that a tree was made of, layers merged."""
    if tree.children is None:
        return tree.elements or Node(tree.value, tree.span)
    children = {key: child for key, child in tree.children.items() if not child.is_unset}
    keys = {key: child.key_span for key, child in children.items() if child.key_span is not None}
    return Node({key: _node(child) for key, child in children.items()}, tree.key_span, keys)


def _problems(node: Node) -> tuple[Finding, ...]:
    try:
        validate(node, "coupling")
    except SpecError as error:
        return error.findings
    return ()


def _out_of_order(node: Node) -> Iterator[Finding]:
    """YAC takes the keys one by one: it needs the unit before it comes to the periods."""
    keys = list(node.value)
    if "coupling" not in keys or not node.value["coupling"].value:
        return
    if "timestep_unit" not in keys[: keys.index("coupling")]:
        where = node.keys.get("timestep_unit") or node.keys.get("coupling")
        what = "stands behind" if "timestep_unit" in keys else "does not stand before"
        yield problem("SPC005", f"timestep_unit {what} coupling", where, "expected: timestep_unit: ISO_format, first")


def _couple(node: Node) -> Couple:
    def one(key: str) -> Setting | None:
        child = node.value.get(key)
        return None if child is None or child.value is None else _setting(key, child, node.keys.get(key))

    def several(key: str) -> tuple[Setting, ...]:
        child = node.value.get(key)
        if child is None or child.value is None:
            return ()
        return tuple(_setting(key, element) for element in (child.value if isinstance(child.value, list) else [child]))

    fields = node.value.get("field")
    listed = [] if fields is None else fields.value if isinstance(fields.value, list) else [fields]
    return Couple(
        Side(one("src_component"), several("src_grid"), one("src_lag")),
        Side(one("tgt_component"), several("tgt_grid"), one("tgt_lag")),
        tuple(_field(child) for child in listed),
        one("coupling_period"),
        _place(node),
        one("interpolation"),
    )


def _field(node: Node) -> tuple[Setting, Setting]:
    """The names of a field at its source and its target, which may be one."""
    if isinstance(node.value, dict) and {"src", "tgt"} <= set(node.value):
        return _setting("field", node.value["src"]), _setting("field", node.value["tgt"])
    name = _setting("field", node)
    return name, name


def _place(node: Node) -> Span | None:
    return next(iter(node.keys.values()), node.span)


def _setting(name: str, node: Node, name_span: Span | None = None) -> Setting:
    value = node.plain()
    certainty = Certainty.UNKNOWN if UNKNOWN in json.dumps(value, ensure_ascii=False) else Certainty.WRITTEN
    return Setting(f"coupling.{name}", (Origin(_LAYER, value, node.span),), certainty, name_span)


def text_of(content: Mapping[str, Any]) -> str:
    """The text of a coupling.yaml that says what a mapping does; the unit of time comes first, as YAC wants it."""
    ordered = {key: content[key] for key in ("timestep_unit", "calendar") if key in content}
    ordered |= {key: value for key, value in content.items() if key not in ("timestep_unit", "calendar", "coupling")}
    if "coupling" in content:
        ordered["coupling"] = content["coupling"]
    return "\n".join(_lines(ordered, "")) + "\n"


def _lines(value: Any, indent: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, child in value.items():
            yield from _headed(f"{indent}{_word(key)}:", child, indent)
        return
    for child in value:
        if isinstance(child, Mapping) and child:
            first, *rest = _lines(child, f"{indent}  ")
            yield f"{indent}- {first.strip()}"
            yield from rest
        else:
            yield from _headed(f"{indent}-", child, indent)


def _headed(head: str, value: Any, indent: str) -> Iterator[str]:
    if isinstance(value, list) and not any(isinstance(child, (Mapping, list)) for child in value):
        yield f"{head} [{', '.join(map(_word, value))}]"
    elif isinstance(value, (Mapping, list)) and value:
        yield head
        yield from _lines(value, f"{indent}  ")
    else:
        yield f"{head} {'{}' if isinstance(value, Mapping) else _word(value)}"


def _word(value: Any) -> str:
    """A scalar of YAML: text as it is where every reader takes it for text."""
    if isinstance(value, bool):
        return str(value).lower()
    if value is None:
        return "null"
    if isinstance(value, str) and not _is_plain(value):
        return json.dumps(value, ensure_ascii=False)
    return str(value)


def _is_plain(text: str) -> bool:
    words = text.replace("-", "_").replace(":", "_").replace(".", "_")
    is_word = words.replace("_", "a").isalnum() and words.isascii() and text[:1].isalpha() and not text.endswith(":")
    return (
        is_word
        and ": " not in text
        and text.lower() not in ("true", "false", "yes", "no", "null", "on", "off", "y", "n")
    )
