"""A spec that is in order, for tests that change one thing of it."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from attrs import evolve

from nmlgen import Spec, SpecError, load_spec
from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.group import Group
from nmlgen.findings import Finding
from nmlgen.render.build import Build, make_build

TEXT = """\
nmlgen: 1
name: wave
extends: icon/jabw
site: generic-slurm
model: {name: icon, release: "2024.10", executable: icon/bin/icon}
grid: {file: grids/iconR02B05-grid.nc, name: R2B5, num_lev: 30}
time: {start: 2008-09-01T00:00:00Z, stop: 2008-09-11T00:00:00Z, modelTimeStep: PT2M}
job: {account: bb1234, nodes: 2, ntasks_per_node: 32, time: "00:40:00"}
parallel: {nproma: 16, num_io_procs: 4}
restart: {restart_write_mode: joint procs multifile, checkpointTimeIntval: PT12H, restartTimeIntval: P10D}
output:
  atm:
    output_interval: PT1H
    file_interval: P1D
    ml_varlist: [u, v, w, temp, pres]
    stream_partitions_ml: 4
"""

MAPPING: dict[str, Any] = {
    "nmlgen": 1,
    "name": "wave",
    "extends": "icon/jabw",
    "site": "generic-slurm",
    "model": {"name": "icon", "release": "2024.10", "executable": "icon/bin/icon"},
    "grid": {"file": "grids/iconR02B05-grid.nc", "name": "R2B5", "num_lev": 30},
    "time": {"start": "2008-09-01T00:00:00Z", "stop": "2008-09-11T00:00:00Z", "modelTimeStep": "PT2M"},
    "job": {"account": "bb1234", "nodes": 2, "ntasks_per_node": 32, "time": "00:40:00"},
    "parallel": {"nproma": 16, "num_io_procs": 4},
    "restart": {
        "restart_write_mode": "joint procs multifile",
        "checkpointTimeIntval": "PT12H",
        "restartTimeIntval": "P10D",
    },
    "output": {
        "atm": {
            "output_interval": "PT1H",
            "file_interval": "P1D",
            "ml_varlist": ["u", "v", "w", "temp", "pres"],
            "stream_partitions_ml": 4,
        }
    },
}
"""The same spec as a mapping."""


def changed(**changes: Any) -> dict[str, Any]:
    """The mapping with other values: `changed(job={"nodes": 4})` keeps the rest of `job`."""
    return _merged(copy.deepcopy(MAPPING), changes)


def with_namelist(experiment: Experiment, groups: tuple[Group, ...]) -> Experiment:
    """The experiment of one model with these groups in the model's namelist."""
    (model,) = experiment.models
    return evolve(experiment, models=(evolve(model, namelist=groups),))


def _merged(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    for key, value in above.items():
        if isinstance(value, dict) and isinstance(below.get(key), dict):
            _merged(below[key], value)
        else:
            below[key] = value
    return below


def load(**changes: Any) -> Spec:
    """The changed spec, loaded."""
    return load_spec(changed(**changes))


def unchecked_build(spec: Spec) -> Build:
    """The files of a spec whatever the rules think of it."""
    return make_build(spec, ())


def refused(source: Any, overrides: Any = ()) -> tuple[Finding, ...]:
    """The findings for which a spec cannot be loaded."""
    with pytest.raises(SpecError) as caught:
        load_spec(source, overrides)
    return caught.value.findings
