"""Rules on what jobs on GPUs ask for and set: both sides of what they look at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from placements import ATM, OCE, SITE, one_program, spec
from rows import rows
from rules.experiments import experiment_of, judge

from nmlgen import load_spec
from nmlgen.checking import check_experiment
from nmlgen.experiment.component import Component
from nmlgen.rules import all_rules

NEW = ("GPU008", "GPU009", "GPU010", "GPU011", "GPU012", "GPU013")
RULES = [rule for rule in all_rules() if rule.code in NEW]


def codes(text: str, tmp_path: Path) -> list[str]:
    return [finding.code for finding in judge(experiment_of(text, tmp_path), RULES)]


def of(document: dict[str, Any]) -> list[str]:
    report = check_experiment(load_spec(document).experiment, ())
    return [finding.code for finding in report.findings if finding.code in NEW]


@rows(
    ("site", "job", "environment", "expected"),
    [
        ("levante", {}, {"FI_CXI_OPTIMIZED_MRS": "false"}, ["GPU008"]),
        ("lumi", {}, {"UCX_TLS": "self"}, ["GPU008"]),
        ("lumi", {}, {"FI_CXI_OPTIMIZED_MRS": "false"}, []),
        ("hlrs", {}, {"UCX_TLS": "self"}, []),  # whose network is not known
        ("lumi", {"partition": "standard-g", "gpus_per_node": 9}, {}, ["GPU009"]),
        ("lumi", {"partition": "standard-g", "gpus_per_node": 8}, {}, []),
        ("levante", {"partition": "gpu", "gres": "gpu:a100:5"}, {}, ["GPU009"]),
        ("levante", {"partition": "gpu", "gpus": 8}, {}, []),  # of two nodes
        ("levante", {"partition": "gpu", "gpus": 9}, {}, ["GPU009"]),
        ("levante", {"partition": "gpu", "gpus": 9, "nodes": None}, {}, []),
        ("levante", {"partition": "gpu", "gres": "gpu:4"}, {}, []),
        ("levante", {"partition": "compute", "gpus_per_node": 9}, {}, []),
    ],
)
def test_what_machines_have(
    site: str, job: dict[str, Any], environment: dict[str, str], expected: list[str], tmp_path: Path
) -> None:
    document = spec(tmp_path, **one_program(), environment=environment)
    document["site"] = site
    document["job"] = {"account": "ab1234", "nodes": 2, "ntasks_per_node": 8, "time": "02:00:00", **job}
    assert of(document) == expected


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ({"gpus_per_node": 4}, []),
        ({"gpus_per_node": 5}, ["GPU009"]),
        ({"gres": "gpu:5"}, ["GPU009"]),
    ],
)
def test_a_part_has_nodes_of_its_own(part: dict[str, Any], expected: list[str], tmp_path: Path) -> None:
    oce = {**OCE, "job": {"partition": "other", "nodes": 2}}
    atm = {**ATM, "job": {"partition": "compute", "nodes": 2, **part}}
    assert of(spec(tmp_path, models={"oce": oce, "atm": atm})) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("launch: {options: ['--cpu-bind=v,map_cpu:1,2']}\njob: {nodes: 2, ntasks: 4}", []),
        ("launch: {options: ['--cpu-bind=v,map_cpu:1,2']}\njob: {nodes: 2, ntasks: 5}", ["GPU010"]),
        ("environment: {SLURM_CPU_BIND: 'map_cpu:1,2'}\njob: {nodes: 2, ntasks: 5}", ["GPU010"]),
        ("launch: {options: ['--cpu-bind=cores']}\njob: {nodes: 2, ntasks: 5}", []),
        ("environment: {NVCOMPILER_ACC_SYNCHRONOUS: '1'}", ["GPU012"]),
        ("environment: {NVCOMPILER_ACC_SYNCHRONOUS: '0'}", []),
    ],
)
def test_what_is_asked_for(text: str, expected: list[str], tmp_path: Path) -> None:
    assert codes(text.replace("ntasks:", "ntasks_per_node: null, ntasks:") + "\n", tmp_path) == expected


@pytest.mark.parametrize(
    ("everywhere", "own", "expected"), [("1", None, ["GPU011"]), ("1", "0", []), ("0", None, []), (None, None, [])]
)
def test_support_of_gpus(everywhere: str | None, own: str | None, expected: list[str], tmp_path: Path) -> None:
    name = "MPICH_GPU_SUPPORT_ENABLED"
    oce = {**OCE, **({"environment": {name: own}} if own else {})}
    document = spec(tmp_path, models={"atm": ATM, "oce": oce}, environment={name: everywhere} if everywhere else {})
    assert of(document) == expected


def atmosphere(document: dict[str, Any]) -> Component:
    return load_spec(document).experiment.components[0]


def test_memory_of_gpus(tmp_path: Path) -> None:
    """The fields of a large atmosphere on GPUs with as much memory as they need, and with less."""
    sections = one_program()
    sections["grid"] = {"file": "iconR02B04-grid.nc", "name": "R2B4", "num_lev": 90}
    for memory, expected in (("40G", []), ("1M", ["GPU013"])):
        document = spec(tmp_path, {"device": "gpu"}, **sections)
        (tmp_path / "four-gpus.yaml").write_text(SITE.replace("memory: 40G", f"memory: {memory}"))
        assert of(document) == expected


@pytest.mark.parametrize(
    ("model", "memory"),
    [({"device": "cpu", "tasks_per_node": 3, "cpus_per_task": 3}, "memory: 1M"), ({"device": "gpu"}, "")],
)
def test_memory_of_gpus_that_are_not_used_or_not_known(model: dict[str, Any], memory: str, tmp_path: Path) -> None:
    sections = one_program()
    sections["grid"] = {"file": "iconR02B04-grid.nc", "name": "R2B4", "num_lev": 90}
    document = spec(tmp_path, model, **sections)
    (tmp_path / "four-gpus.yaml").write_text(SITE.replace("memory: 40G", memory))
    assert "GPU013" not in of(document)


def test_one_block_is_the_default(tmp_path: Path) -> None:
    """On GPUs, unless the author says another length; what presets say is for processors."""
    lengths = ("nproma", "nblocks_c", "nproma_sub")

    def found(**parallel: Any) -> list[Any]:
        component = atmosphere(spec(tmp_path, {"device": "gpu"}, **one_program(**parallel)))
        return [component["parallel_nml", name].value for name in lengths if component["parallel_nml", name].is_written]

    assert found() == [0, 1]
    assert found(nproma=4000) == [4000]
    assert found(nblocks_c=2) == [2]
    assert found(nproma_sub=8000) == [0, 1, 8000]
    on_cpus = atmosphere(spec(tmp_path, {"device": "cpu", "tasks_per_node": 4}, **one_program()))
    assert not on_cpus["parallel_nml", "nblocks_c"].is_written
    preset = atmosphere(spec(tmp_path, {"device": "gpu", "pool": "/pool"}, extends="icon/aquaplanet"))
    assert [preset["parallel_nml", name].value for name in lengths[:2]] == [0, 1]
