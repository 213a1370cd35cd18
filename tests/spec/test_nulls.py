"""Null for every key of every schema: a word about it, or an experiment, and never a traceback."""

from __future__ import annotations

import contextlib
import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fuzzing.schemas import ANY, KEY, places
from ruamel.yaml import YAML
from specs import changed, unchecked_build

import nmlgen
from nmlgen.advise.document import read
from nmlgen.errors import NmlgenError
from nmlgen.resources import directory, schema

SITE: dict[str, Any] = {
    "description": "a site with everything",
    "machine": {
        "scheduler": "slurm",
        "account_required": True,
        "cores_per_node": 64,
        "threads_per_core": 2,
        "memory_per_node": "256G",
        "run_script_variables": {"mpi_procs_pernode": 64},
        "file_system": "lustre",
        "partitions": {
            "compute": {
                "max_time": "08:00:00",
                "max_nodes": 4,
                "exclusive": True,
                "cores_per_node": 64,
                "threads_per_core": 2,
                "memory_per_node": "256G",
            }
        },
        "features": ["a", "b"],
        "file_systems": {"/work": {"type": "lustre", "ost_count": 4}},
        "node_local": {
            "odd": {
                "type": "beegfs",
                "mount": "/mnt/%j",
                "directory": "d",
                "directories": ["d"],
                "capacity_per_node": "1T",
                "constraint": "A",
                "constraints": ["A", "B"],
                "exclusive": True,
            }
        },
        "mpi": {"openmpi": {"version": "4.1", "modules": ["m"], "environment": {"A": "b"}}},
        "calibration": "calibration.yaml",
        "plugin_options": ["uenv"],
        "fortran": ["gfortran"],
        "parts": {"art": False},
        "network": "infiniband",
        "max_files": 100000,
        "all_memory_by_request": True,
        "set_up_time": "00:02:00",
        "darshan": {"library": "/a/b.so", "DARSHAN_LOGHINTS": ""},
        "lustre": {"recommended_stripe_size": "4M", "max_recommended_stripe_count": 8, "ost_count": 4},
    },
    "defaults": {
        "model": {"pool": "/pool"},
        "job": {"partition": "compute", "nodes": 1, "ntasks_per_node": 32, "cpus_per_task": 1},
        "mpi": {"implementation": "openmpi"},
        "launch": {"command": "srun", "options": ["-l"]},
        "environment": {"X": "y"},
        "shell": {"limits": {"stack": "unlimited"}},
    },
}
SPEC = changed(
    site="levante",
    job={"partition": "compute", "account": "a", "nodes": 2, "ntasks_per_node": 32, "time": "00:10:00"},
    lustre={"output": {"stripe_count": 4, "stripe_size": "4M"}},
    mpi={"implementation": "openmpi", "hints": {"a": 1}},
    darshan={"library": "/x.so"},
    environment={"A": "b"},
    input_files={"a": {"source": "b"}},
    launch={"command": "srun", "options": ["-l"]},
    modules=["m"],
    namelists={"run_nml": {"ltimer": True, "x": [1, 2]}},
    ignore={"RST001": "a reason"},
    shell={"limits": {"stack": "unlimited"}},
    sweep={"grid": {"parallel.nproma": [1, 2]}, "name": "x{nproma}"},
)
CALIBRATION = YAML(typ="safe", pure=True).load(
    (Path(directory("presets")) / "calibrations" / "levante.yaml").read_text()
)
CALIBRATION["correlations"] = dict(list(CALIBRATION["correlations"].items())[:3])
"""That of Levante, with some of its correlations, which are all alike."""


def paths(node: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place; of a list, the entries of which are all alike, the first and the last."""
    items = {0: node[0], len(node) - 1: node[-1]} if isinstance(node, list) and node else node
    for key, child in items.items() if isinstance(items, dict) else ():
        yield (*above, key)
        yield from paths(child, (*above, key))


def with_null(document: Any, path: tuple[Any, ...]) -> Any:
    result = copy.deepcopy(document)
    node = result
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = None
    return result


def use(spec: dict[str, Any]) -> None:
    with contextlib.suppress(NmlgenError):
        loaded = nmlgen.load_spec(spec)
        nmlgen.check(loaded)
        unchecked_build(loaded)
        list(nmlgen.expand(loaded))


def test_sites(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Path("calibration.yaml").open("w") as file:
        YAML(typ="safe").dump(CALIBRATION, file)
    spec = changed(site="./site.yaml", node_local={"file_system": "odd"}, darshan=True)
    del spec["job"]
    script = "#!/bin/bash\n#SBATCH --nodes=2\nmodule load openmpi\ncat >NAMELIST_a <<E\n&run_nml\n/\nE\nsrun ./icon\n"
    Path("a.run").write_text(script)
    for path in [(), *paths(SITE)]:
        Path("site.yaml").write_text(json.dumps(with_null(SITE, path) if path else SITE))
        use(spec)
        with contextlib.suppress(NmlgenError):
            nmlgen.import_spec("a.run", site="./site.yaml")


def test_specs():
    for path in paths(SPEC):
        use(with_null(SPEC, path))


def test_every_key_of_the_schema_of_specs():
    """Null at each place that the schema knows, whatever else has to stand beside it."""
    for path, _ in places("spec"):
        if KEY in path or path.count(ANY) > 1:
            continue
        one = copy.deepcopy(SPEC)
        node: Any = one
        *above, last = ("free" if key == ANY else key for key in path)
        for key in above:
            node[key] = node[key] if isinstance(node.get(key), dict) else {}
            node = node[key]
        node[last] = None
        use(one)


def test_calibrations():
    for path in paths(CALIBRATION):
        with contextlib.suppress(NmlgenError):
            read(json.dumps(with_null(CALIBRATION, path)))


def test_every_key_of_the_schema_is_among_them():
    known = schema("site")["properties"]
    assert set(SITE["machine"]) == set(known["machine"]["properties"])
    assert set(SITE["defaults"]) == set(known["defaults"]["properties"])


@pytest.mark.parametrize("key", [("launch",), ("launch", "command")])
def test_a_launcher_that_is_taken_away_is_missed(key):
    with pytest.raises(nmlgen.SpecError, match=r"launch\.command is not set"):
        nmlgen.load_spec(with_null(SPEC, key))


def test_a_run_directory_that_is_taken_away_is_missed():
    with pytest.raises(nmlgen.SpecError, match=r"run_directory is not set"):
        nmlgen.load_spec(changed(run_directory=None))


@pytest.mark.parametrize("key", ["device", "io_nodes", "seats", "environment"])
@pytest.mark.parametrize("name", ["icon", "wrf"])
def test_a_placement_that_is_taken_away_is_none(tmp_path, name, key):
    spec = tmp_path / "spec.yaml"
    preset = {"icon": "icon/nh_dcmip_tc_52\ngrid: {file: grid.nc, name: R2B4}", "wrf": "wrf/b_wave"}[name]
    release = 'release: "2025.10", ' if name == "icon" else ""
    spec.write_text(
        f"nmlgen: 1\nname: a\nextends: {preset}\nsite: generic-slurm\njob: {{account: a, nodes: 1}}\n"
        f"model: {{directory: /w, executable: x, {release}{key}: null}}\n"
    )
    assert nmlgen.load_spec(spec).experiment.programs == ()
