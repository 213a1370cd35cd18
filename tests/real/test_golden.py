"""Every golden build, put before the real judges: a Fortran runtime reads the namelists, Slurm the directives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tools import require

import nmlgen
from nmlgen.experiment.group import Group, as_list
from nmlgen.namelist.registry import Registry

from .cluster import Layout, running_cluster
from .readback import Declaration, read_back

GOLDEN = Path(__file__).parent.parent / "golden"
CASES = sorted(path.parent.name for path in GOLDEN.glob("*/spec.yaml"))


def declarations(groups: tuple[Group, ...], registry: Registry) -> dict[str, dict[str, Declaration]]:
    """The variables of the groups that a build writes, declared as ICON declares them."""
    found: dict[str, dict[str, Declaration]] = {}
    for group in groups:
        variables = found.setdefault(group.name.lower(), {})
        for name in registry.variables(group.name):
            variable = registry.variable(group.name, name)
            if variable is not None and variable.shape is not None and "%" not in name:
                variables[name] = Declaration(variable.type, variable.length, variable.shape)
    return found


def expected(groups: tuple[Group, ...]) -> dict[tuple[str, int], dict[str, list[Any]]]:
    """The values that were meant, by group and copy."""
    copies: dict[str, int] = {}
    result: dict[tuple[str, int], dict[str, list[Any]]] = {}
    for group in groups:
        copies[group.name] = copies.get(group.name, 0) + 1
        values = {name: as_list(setting.value) for name, setting in group.settings.items()}
        if values:
            result[group.name, copies[group.name]] = values
    return result


@pytest.mark.parametrize("case", CASES)
def test_namelists_are_read_back_by_fortran(case, tmp_path):
    require("gfortran")
    experiment = nmlgen.load_spec(GOLDEN / case / "spec.yaml").experiment
    model_file = experiment.components[0]["master_model_nml", "model_namelist_filename"].value
    for file, groups in (("icon_master.namelist", experiment.master), (model_file, experiment.components[0].namelist)):
        records = read_back(GOLDEN / case / "expected" / file, declarations(groups, experiment.registry), tmp_path)
        found: dict[tuple[str, int], dict[str, list[Any]]] = {}
        for record in records:
            values = [element["value"] for element in record["values"]]
            found.setdefault((record["group"], record["copy"]), {})[record["name"]] = values
        assert found == expected(groups)


@pytest.fixture(scope="module")
def sites():
    """A Slurm that has the partitions and features of the presets' machines, and nodes as large."""
    require("slurmctld", "slurmd", "sbatch")
    layout = Layout(
        nodes=4,
        cpus=128,
        memory_mib=256_000,
        max_time="7-00:00:00",
        features="BEEOND,BEEOND_4MDS,BEEOND_MAXMDS,LSDF,256G",
        partitions=("compute", "standard96", "standard", "cpuonly"),
    )
    with running_cluster(layout) as cluster:
        yield cluster


@pytest.mark.parametrize("case", CASES)
def test_scripts_are_accepted_by_slurm(case, sites):
    (script,) = (GOLDEN / case / "expected").glob("*.sbatch")
    if "#SBATCH" not in script.read_text():
        done = sites._call(["bash", "-n", script], script.parent)
    else:
        done = sites._call(["sbatch", "--test-only", script], script.parent)
    assert done.returncode == 0, done.stderr
