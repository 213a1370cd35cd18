"""Fixtures for tests against the real things: Slurm, gfortran, MPI."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tools import require

from .cluster import PROGRAMS, Cluster, running_cluster
from .lfs_stand_in import LfsStandIn, install
from .model.build import build_model, build_preload_probe


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A Slurm of four nodes with eight CPUs each, for the whole session."""
    require(*PROGRAMS)
    with running_cluster() as running:
        yield running


@pytest.fixture(scope="session")
def stand_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The stand-in for the ICON executable, compiled once."""
    require("mpifort")
    return build_model(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="session")
def preload_probe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A shared library in libdarshan.so's place; it writes to ``$PRELOAD_PROBE_LOG``."""
    require("cc")
    return build_preload_probe(tmp_path_factory.mktemp("probe"))


@pytest.fixture
def lfs(tmp_path: Path) -> LfsStandIn:
    """An ``lfs`` that checks and logs its arguments; put ``lfs.environment`` into a job's environment."""
    return install(tmp_path / "lfs")
