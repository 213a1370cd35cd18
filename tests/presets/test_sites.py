"""Site presets are valid, agree with themselves and name the source of every figure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from rows import rows
from ruamel.yaml import YAML
from specs import MAPPING

from nmlgen import load_spec
from nmlgen.spec.site import machine_of

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "schemas" / "site.schema.json").read_text(encoding="utf-8"))
SITES = sorted((ROOT / "presets" / "sites").glob("*.yaml"))

each_site = pytest.mark.parametrize("path", SITES, ids=lambda path: path.stem)


def load(path: Path) -> dict[str, Any]:
    site: dict[str, Any] = YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))
    return site


def walk(node: Any, where: str = "#") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every object of the schema with its path."""
    if isinstance(node, dict):
        yield where, node
        for key, value in node.items():
            yield from walk(value, f"{where}/{key}")
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from walk(value, f"{where}/{index}")


def find_unsourced_figures(text: str) -> list[str]:
    """Return the lines below ``machine:`` that hold a digit without a ``# source:``.

    A comment block speaks for the lines after it that are indented as deep or deeper, up to a
    blank line or to the next block at its own depth.
    """
    blocks: list[tuple[int, bool]] = []  # (indentation, names a source), outermost first
    unsourced = []
    inside = after_comment = False
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip())
        body, _, comment = line.partition("#")
        if not line.strip():
            blocks, after_comment = [], False
        elif not body.strip():
            sourced = comment.strip().startswith("source:")
            if after_comment:
                sourced = blocks.pop()[1] or sourced
            blocks = [block for block in blocks if block[0] < indent]
            blocks.append((indent, sourced))
            after_comment = True
        else:
            if indent == 0:
                inside = body.startswith("machine:")
            blocks = [block for block in blocks if block[0] <= indent]
            sourced = comment.strip().startswith("source:") or any(named for _, named in blocks)
            if inside and re.search(r"\d", body) and not sourced:
                unsourced.append(line.strip())
            after_comment = False
    return unsourced


def test_every_site_is_here() -> None:
    names = {path.stem for path in SITES}
    slurm = {"levante", "lise", "emmy", "horeka", "lumi", "juwels", "balfrin", "santis", "ecmwf", "jupiter", "leonardo"}
    assert names == slurm | {"dwd", "hlrs", "generic-pbs", "generic-slurm", "local"}


def test_schema_is_valid() -> None:
    Draft202012Validator.check_schema(SCHEMA)


def test_schema_is_closed_and_described() -> None:
    for where, node in walk(SCHEMA):
        assert not {"anyOf", "oneOf"} & node.keys(), where
        if where.endswith(("/properties", "/patternProperties")):
            continue
        if node.get("type") == "object":
            assert node.get("additionalProperties") is False, where
        for name, value in node.get("properties", {}).items():
            assert value.get("description"), f"{where}/properties/{name}"


@each_site
def test_site_is_valid(path: Path) -> None:
    errors = Draft202012Validator(SCHEMA).iter_errors(load(path))
    assert [f"{error.json_path}: {error.message}" for error in errors] == []


@rows(
    ("keys", "value"),
    [
        (("machine", "no_such_key"), 1),
        (("machine", "cores_per_node"), "128"),
        (("machine", "memory_per_node"), "256GB"),
        (("machine", "memory_per_node"), 256),
        (("machine", "partitions", "compute", "max_time"), 28800),
        (("machine", "partitions", "compute", "max_time"), "8h"),
        (("machine", "file_systems", "work"), {"type": "lustre"}),
        (("machine", "mpi", "lam"), {}),
        (("defaults", "environment", "OMP_DYNAMIC"), False),
        (("defaults", "shell", "limits", "stack"), "huge"),
    ],
)
def test_mistake_is_refused(keys: tuple[str, ...], value: object) -> None:
    site = load(ROOT / "presets" / "sites" / "levante.yaml")
    node = site
    for key in keys[:-1]:
        node = node[key]
    node[keys[-1]] = value
    assert not Draft202012Validator(SCHEMA).is_valid(site)


@each_site
def test_defaults_agree_with_machine(path: Path) -> None:
    site = load(path)
    machine, defaults = site["machine"], site["defaults"]
    job = defaults.get("job", {})
    if "partition" in job:
        assert job["partition"] in machine["partitions"]
    if "mpi" in defaults:
        assert defaults["mpi"]["implementation"] in machine["mpi"]
    if "cores_per_node" in machine and "ntasks_per_node" in job:
        assert job["ntasks_per_node"] * job["cpus_per_task"] <= machine["cores_per_node"]


@each_site
def test_gpus_agree_with_their_nodes(path: Path) -> None:
    """Cores of GPUs and of NUMA nodes are those of the node, each once."""
    partitions = machine_of(path.stem, load(path)["machine"]).partitions.values()
    for partition in partitions:
        cores = [core for numa in partition.numa for core in numa]
        assert len(set(cores)) == len(cores) == (partition.cores_per_node if cores else 0)
        if (gpus := partition.gpus) is not None:
            near = [core for one in gpus.cores for core in one]
            assert len(set(near)) == len(near)
            assert set(near) <= set(cores)
            assert len(gpus.cores) in (0, gpus.count)
            assert len(gpus.cards) in (0, gpus.count)
            assert gpus.memory is not None


@each_site
def test_node_local_agrees_with_itself(path: Path) -> None:
    machine = load(path)["machine"]
    for block in machine.get("node_local", {}).values():
        assert block["directory"] in block["directories"]
        assert block["constraint"] in block["constraints"]
        assert set(block["constraints"]) <= set(machine["features"])


@each_site
def test_every_figure_has_a_source(path: Path) -> None:
    assert find_unsourced_figures(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("machine", "unsourced"),
    [
        ("  cores: 8  # source: a page\n", []),
        ("  # source: a page\n  # A remark.\n  cores: 8\n  threads: 2\n", []),
        ("  # source: a page\n  parts:\n    # A remark.\n    one: {nodes: 4}\n", []),
        ("  cores: 8\n", ["cores: 8"]),
        ("  # A remark.\n  cores: 8\n", ["cores: 8"]),
        ("  # source: a page\n  cores: 8\n\n  threads: 2\n", ["threads: 2"]),
        ("  # source: a page\n  cores: 8\n  # A remark.\n  threads: 2\n", ["threads: 2"]),
        ("  parts:\n    # source: a page\n    one: {nodes: 4}\n  threads: 2\n", ["threads: 2"]),
    ],
)
def test_figure_without_a_source_is_found(machine: str, unsourced: list[str]) -> None:
    assert find_unsourced_figures("machine:\n" + machine + "defaults:\n  nodes: 1\n") == unsourced


@pytest.mark.parametrize(("command", "count"), [("srun", 0), ("mpirun", 5)])
def test_options_are_those_of_the_launcher(command: str, count: int) -> None:
    """What a site tells its launcher no other one gets."""
    spec = load_spec(MAPPING | {"site": "horeka", "launch": {"command": command}})
    assert len(spec.experiment.launch.options) == count
