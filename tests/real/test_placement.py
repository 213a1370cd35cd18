"""Ranks that a spec places, started by a real Slurm: every one sits where `nmlgen ranks` drew it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from placements import ATM, CASES, GRID, OCE, spec
from specs import unchecked_build
from tools import require

import nmlgen
from nmlgen.experiment.seats import number_ranges
from nmlgen.models.icon.chain import status_files
from nmlgen.models.icon.placement import placement

from .cluster import PROGRAMS, Cluster, Layout, StuckLaunchError, running_cluster

_ATTEMPTS = 3

REPORT = """#!/bin/bash
# In the place of a program: says where it sits and how it is bound, and ends as ICON does.
mkdir -p seats
printf '%s|%s|%s|%s|%s|%s|%s\\n' "$SLURMD_NODENAME" "$NAME" "${CUDA_VISIBLE_DEVICES-unset}" "${BOUND-}" \\
  "${UCX_NET_DEVICES-}" "${OF_GPUS-}" "$*" >"seats/$SLURM_PROCID"
for file in $STATUS_FILES; do printf 'OK\\n' >"$file"; done
"""
NUMACTL = """#!/bin/bash
# In the place of numactl, on a machine without so many cores: keeps what it is asked for.
while [[ $1 == -* ]]; do bound+=" $1"; shift; done
exec env BOUND="${bound# }" "$@"
"""


def install(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


@pytest.fixture(scope="module")
def gpu_cluster() -> Iterator[Cluster]:
    """A Slurm of four nodes with sixteen CPUs and four GPUs each."""
    require(*PROGRAMS)
    with running_cluster(Layout(cpus=16, gpus=4, partitions=("compute", "other"))) as running:
        yield running


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A directory with programs that report, a stand-in for numactl and a grid."""
    for name in ("icon", "icon-cpu"):
        install(tmp_path / "bin" / name, REPORT.replace("$NAME", name))
    install(tmp_path / "tools" / "numactl", NUMACTL)
    (tmp_path / GRID).write_text("a grid\n")
    return tmp_path


def submit(cluster: Cluster, tree: Path, document: dict[str, Any]) -> tuple[nmlgen.Spec, list[tuple[str, int]]]:
    """Build a spec and run its jobs to their end: the spec, and the states and exit codes of the jobs."""
    loaded = nmlgen.load_spec(document)
    build = tree / "a build"
    path = f"{tree / 'tools'}:{cluster.complete_environment()['PATH']}"
    for attempt in range(_ATTEMPTS):
        unchecked_build(loaded).write(build)
        (build / "run").mkdir()
        install(build / "run" / "bin" / "hiopy", REPORT.replace("$NAME", "hiopy"))
        before = {job.id for job in cluster.jobs()}
        cluster.submit(build / "placed.sbatch", build, environment={"PATH": path})
        try:
            cluster.wait_until_idle()
            break
        except StuckLaunchError:
            cluster.cancel_all()
            build.rename(tree / f"stuck {attempt}")
    else:
        pytest.fail(f"srun got stuck {_ATTEMPTS} times in a row")
    jobs = [job for job in cluster.jobs() if job.id not in before]
    return loaded, [(job.state.name, job.state.exit_code) for job in jobs]


def log(tree: Path) -> str:
    """What the jobs and the programs said."""
    paths = [*(tree / "a build").glob("*.log"), *(tree / "a build" / "run").glob("*.log")]
    return "".join(path.read_text() for path in paths)


@pytest.mark.parametrize("name", CASES)
def test_every_rank_sits_where_it_was_drawn(gpu_cluster: Cluster, tree: Path, name: str) -> None:
    document = spec(tree, **CASES[name])
    status = " ".join(status_files(nmlgen.load_spec(document).experiment))
    loaded, states = submit(gpu_cluster, tree, document | {"environment": {"STATUS_FILES": status}})
    assert set(states) == {("COMPLETED", 0)}, log(tree)
    experiment = loaded.experiment
    run = tree / "a build" / "run"
    found = {int(path.name): path.read_text().rstrip("\n").split("|") for path in (run / "seats").iterdir()}
    expected = {}
    for seat in placement(experiment):
        program = experiment.programs[seat.program]
        executable = program.settings.get("executable") or experiment.executable
        called = Path(str(executable.value)).name if program.model is not None else "hiopy"
        bound = f"--physcpubind={number_ranges(seat.cores)}" + (
            f" --membind={number_ranges(seat.numa)}" if seat.numa else ""
        )
        gpu = "" if seat.gpu is None else str(seat.gpu)
        arguments = "" if program.model is not None else "--config out put.yaml"
        of_gpus = "yes" if program.uses_gpus else ""
        expected[seat.rank] = [f"n{seat.node + 1}", called, gpu, bound, seat.card, of_gpus, arguments]
    assert found == expected


def test_a_rank_that_finds_another_gpu_ends_the_job(gpu_cluster: Cluster, tree: Path) -> None:
    """As on nodes of which somebody else was given a part: the job asks for fewer GPUs than it plans to use."""
    document = spec(tree, **CASES["I/O beside"])
    build = tree / "a build"
    unchecked_build(nmlgen.load_spec(document)).write(build)
    script = build / "placed.sbatch"
    script.write_text(script.read_text().replace("--gpus-per-node=4", "--gpus-per-node=3"))
    path = f"{tree / 'tools'}:{gpu_cluster.complete_environment()['PATH']}"
    job = gpu_cluster.submit(script, build, environment={"PATH": path})
    gpu_cluster.wait(job)
    assert gpu_cluster.state(job).name == "FAILED"
    assert "nmlgen: rank 3: it is given the GPUs 0,1,2, planned is GPU 3" in log(tree)


def test_a_rank_that_cannot_have_its_cores_ends_the_job(gpu_cluster: Cluster, tree: Path) -> None:
    install(tree / "tools" / "numactl", "#!/bin/bash\nexit 1\n")
    _, states = submit(gpu_cluster, tree, spec(tree, **CASES["I/O beside"]))
    assert [state for state, _ in states] == ["FAILED"]
    assert "cannot have the cores" in log(tree)


def test_a_sweep_over_nodes(gpu_cluster: Cluster, tree: Path) -> None:
    """Points of other numbers of nodes have other placements, of one script."""
    sections: dict[str, Any] = {**CASES["I/O beside"], "environment": {"STATUS_FILES": "finish.status"}}
    document = spec(tree, **sections, sweep={"grid": {"job.nodes": [1, 2, 4]}})
    (tree / "spec.yaml").write_text(json.dumps(document))
    path = f"{tree / 'tools'}:{gpu_cluster.complete_environment()['PATH']}"
    environment = gpu_cluster.complete_environment({"PATH": path})

    def command(*words: str) -> None:
        done = subprocess.run(
            [sys.executable, "-m", "nmlgen", *words],
            check=False,
            env=environment,
            cwd=tree,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr

    command("sweep", "spec.yaml", "-o", "sweep")
    command("submit", "sweep")
    gpu_cluster.wait_until_idle()
    counts = {}
    for point in (tree / "sweep" / "points").iterdir():
        seats = sorted((point / "run" / "seats").iterdir(), key=lambda file: int(file.name))
        hosts = [file.read_text().partition("|")[0] for file in seats]
        counts[len(set(hosts))] = len(hosts)
    assert counts == {1: 7, 2: 11, 4: 19}


def test_chain_of_three_legs(gpu_cluster: Cluster, stand_in: Path, tree: Path) -> None:
    """The models find their ranks in the master namelist, write, stop and go on."""
    for name in ("icon", "icon-cpu"):
        (tree / "bin" / name).unlink()
        (tree / "bin" / name).symlink_to(stand_in)
    models = {"atm": ATM, "oce": OCE}
    job = {"nodes": 2, "gpus_per_node": 2, "time": "02:00:00"}
    _, states = submit(gpu_cluster, tree, spec(tree, models=models, job=job))
    assert states == [("COMPLETED", 0)] * 3, log(tree)
    run = tree / "a build" / "run"
    assert [line.split()[-1] for line in (run / "nmlgen.legs").read_text().splitlines()] == ["RESTART", "RESTART", "OK"]
    for name in models:
        assert len(list((run / "output").glob(f"*{name}*"))) == 4
