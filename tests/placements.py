"""Specs whose ranks are placed, on a machine of four nodes with 16 cores and four GPUs each, for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

SITE = """\
description: four nodes with GPUs
machine:
  scheduler: slurm
  file_system: unknown
  cores_per_node: 16
  partitions:
    compute:
      cores_per_node: 16
      numa: ["0-7", "8-15"]
      gpus:
        count: 4
        memory: 40G
        cores: ["8-11", "12-15", "0-3", "4-7"]
        cards: ["mlx5_1:1", "mlx5_1:1", "mlx5_0:1", "mlx5_0:1"]
        job: {gpus_per_node: 4}
        environment: {OF_GPUS: "yes"}
    other: {cores_per_node: 16, exclusive: true}
defaults:
  job: {partition: compute, ntasks_per_node: 16, cpus_per_task: 1}
  launch: {command: srun, options: [--label, --cpu-bind=cores, "--distribution=block:block"]}
"""

GRID = "icon grid R02B04.nc"
TIME = {"start": "2000-01-01T00:00:00Z", "stop": "2000-01-01T03:00:00Z"}


def component(kind: str, **more: Any) -> dict[str, Any]:
    """A component; `more` are further sections."""
    stream = {"output_interval": "PT30M", "file_interval": "PT1H", "ml_varlist": ["u"]}
    return {
        "type": kind,
        "grid": {"file": GRID, "name": "R2B4"},
        "time": {"modelTimeStep": "PT10M"},
        "parallel": {"num_io_procs": 1, "num_prefetch_proc": 0},
        "output": {"main": stream},
        **more,
    }


def spec(directory: Path, model: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    """A spec for that machine, whose site file is written into the directory; `changes` replace whole sections."""
    site = directory / "four-gpus.yaml"
    site.write_text(SITE)
    document = {
        "nmlgen": 1,
        "name": "placed",
        "site": str(site),
        "model": {"release": "2024.10", "directory": str(directory), "executable": "bin/icon", **(model or {})},
        "time": TIME,
        "restart": {
            "restart_write_mode": "joint procs multifile",
            "checkpointTimeIntval": "PT30M",
            "restartTimeIntval": "PT1H",
        },
        "job": {"nodes": 2, "time": "02:00:00"},
    }
    return document | changes


def one_program(**parallel: Any) -> dict[str, Any]:
    """The sections of a spec of an atmosphere alone."""
    own = component("atmo")
    return {
        "grid": own["grid"],
        "time": {**TIME, **own["time"]},
        "parallel": {"num_io_procs": 1, "num_prefetch_proc": 0, **parallel},
        "output": own["output"],
    }


GPU = {"device": "gpu"}
ATM = component("atmo", device="gpu")
OCE = component("ocean", device="cpu", tasks_per_node=3, executable="bin/icon-cpu")
HIOPY = {"command": "bin/hiopy --config 'out put.yaml'", "tasks": 3}

CASES: dict[str, dict[str, Any]] = {
    "one program": {"model": GPU, **one_program(num_io_procs=0)},
    "I/O beside": {"model": GPU, **one_program(num_io_procs=3)},
    "I/O on a node of its own": {"model": {**GPU, "io_nodes": 1}, **one_program(num_io_procs=3)},
    "one node": {"model": GPU, **one_program(), "job": {"nodes": 1, "time": "02:00:00"}},
    "processors": {
        "model": {"device": "cpu", "tasks_per_node": 3, "cpus_per_task": 3},
        **one_program(),
        "job": {"nodes": 4, "time": "02:00:00"},
    },
    "two programs on the same nodes": {"models": {"atm": ATM, "oce": OCE}},
    "two programs on nodes of their own": {
        "models": {"atm": ATM, "oce": {**OCE, "nodes": 1}},
        "job": {"nodes": 3, "time": "02:00:00"},
    },
    "fewer GPUs": {"models": {"atm": ATM, "oce": OCE}, "job": {"nodes": 4, "gpus_per_node": 2, "time": "02:00:00"}},
    "three programs": {"models": {"atm": ATM, "oce": OCE}, "programs": {"output": HIOPY}},
    "seats that are said": {
        "models": {
            "atm": {**ATM, "seats": "4 on 0-1, 1 on 1"},
            "oce": component("ocean", seats="2 on 1-0, 1 on 0", executable="bin/icon-cpu"),
        },
        "programs": {"output": {"command": HIOPY["command"], "seats": "1 on 1, 2 on 0"}},
    },
    "heterogeneous": {
        "models": {"oce": {**OCE, "job": {"partition": "other", "nodes": 2}}, "atm": ATM},
    },
    "heterogeneous with output": {
        "models": {"atm": ATM, "oce": {**OCE, "job": {"partition": "other", "nodes": 2}}},
        "programs": {"output": HIOPY},
    },
}
"""Sections of specs by what is special about their placement."""
