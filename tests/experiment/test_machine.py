"""What follows from a site's figures."""

from __future__ import annotations

import pytest

from nmlgen.experiment.machine import FileSystem, Machine, MpiInstallation, NodeLocal


@pytest.mark.parametrize(
    ("bandwidth", "volume", "nodes", "seconds"),
    [(10, 100, 1, 10), (10, 101, 1, 11), (10, 100, 2, 5), (3, 100, 4, 9), (10, 0, 2, 0), (None, 100, 1, None)],
)
def test_copying_takes_what_the_nodes_have(bandwidth: int | None, volume: int, nodes: int, seconds: int | None) -> None:
    assert NodeLocal("x", "beegfs", "/x", bandwidth_per_node=bandwidth).copying_s(volume, nodes) == seconds


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        (None, ("5.0", ("openmpi/5.0",))),
        ("5.0", ("5.0", ("openmpi/5.0",))),
        ("5", ("5.0", ("openmpi/5.0",))),
        ("4.1.2", ("4.1.2", ("openmpi/4.1.2",))),
        ("4.2", None),
    ],
)
def test_modules_of_a_version(asked: str | None, found: tuple[str, tuple[str, ...]] | None) -> None:
    installed = MpiInstallation("openmpi", "5.0", ("openmpi/5.0",), versions={"4.1.2": ("openmpi/4.1.2",)})
    assert installed.modules_of(asked) == found


def test_without_modules_any_version_is_there() -> None:
    assert MpiInstallation("openmpi", "5.0").modules_of("4.1") == ("5.0", ())
    assert MpiInstallation("openmpi", None, ("mpi",)).modules_of("4.1") is None
    assert MpiInstallation("openmpi", None, ("mpi",)).modules_of(None) == ("", ("mpi",))


LUSTRE, SCRATCH = FileSystem("/work", "lustre"), FileSystem("/work/scratch", "lustre", 8)


@pytest.mark.parametrize(
    ("path", "systems", "found"),
    [
        ("/work/a", (LUSTRE, SCRATCH), FileSystem("/work", "lustre", 32)),
        ("/work/scratch/a", (LUSTRE, SCRATCH), SCRATCH),
        ("/work/scratch/a", (SCRATCH, LUSTRE), SCRATCH),
        ("/works", (LUSTRE,), FileSystem("/works", "unknown")),
        ("/gpfs/a", (FileSystem("/gpfs", "gpfs"),), FileSystem("/gpfs", "gpfs")),
        ("/elsewhere", (), FileSystem("", "lustre", 32)),
        ("a", (LUSTRE,), FileSystem("", "lustre", 32)),
    ],
)
def test_the_file_system_of_a_path(path: str, systems: tuple[FileSystem, ...], found: FileSystem) -> None:
    assert Machine(name="site", file_system="lustre", ost_count=32, file_systems=systems).file_system_of(path) == found
