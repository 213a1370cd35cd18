"""Kept nodes are what reading the YAML would give, or are not taken."""

from __future__ import annotations

from pathlib import Path

from rows import rows

from nmlgen.resources import directory
from nmlgen.source import Source
from nmlgen.spec import presets
from nmlgen.spec.document import read_file
from nmlgen.spec.kept import kept_node, written
from nmlgen.spec.nodes import Node


def places(node: Node) -> object:
    value = node.value
    if isinstance(value, dict):
        value = {key: (str(node.keys[key]), places(item)) for key, item in value.items()}
    elif isinstance(value, list):
        value = [places(item) for item in value]
    return str(node.span), node.span and node.span.end_column, type(value), value


@rows("name", presets.names())
def test_what_ships_is_kept_as_it_is(name):
    path = directory("presets") / f"{name}.yaml"
    read = read_file(path, name)
    assert presets.kept_at(name).read_text(encoding="utf-8") == written(read), "run: python docs/generate.py"
    kept = kept_node(presets.kept_at(name), Source(name, path.read_text(encoding="utf-8")), read.sha256)
    assert kept is not None
    assert places(kept) == places(read.node)


def test_nothing_is_kept_of_what_is_gone():
    root = directory("presets") / "read"
    found = {str(path.relative_to(root).with_suffix("")) for path in root.rglob("*.json")}
    assert found == set(presets.names())


def test_nodes_of_other_bytes_are_not_taken(tmp_path):
    spec = tmp_path / "a.yaml"
    spec.write_text("a: [1, 2.5, x, true, null]\nb: {c: ''}\n")
    read = read_file(spec)
    kept = tmp_path / "a.json"
    kept.write_text(written(read))
    source = Source("a", spec.read_text())
    node = kept_node(kept, source, read.sha256)
    assert node is not None
    assert node.plain() == {"a": [1, 2.5, "x", True, None], "b": {"c": ""}}
    assert kept_node(kept, source, "0" * 64) is None
    assert kept_node(Path(tmp_path, "none.json"), source, read.sha256) is None
    kept.write_bytes(kept.read_bytes()[:40])  # a disk that was full when nmlgen was installed
    assert kept_node(kept, source, read.sha256) is None
