"""Compiles the programs that stand in for ICON and for Darshan's library."""

from __future__ import annotations

import subprocess
from pathlib import Path

HERE = Path(__file__).parent
FORTRAN_FLAGS = ("-O1", "-std=f2018", "-Wall", "-Werror", "-ffree-line-length-none")


def build_model(directory: Path) -> Path:
    """The model's executable, named as ICON's, in ``directory``."""
    program = directory / "icon"
    source = HERE / "icon_stand_in.f90"
    _compile(["mpifort", *FORTRAN_FLAGS, "-J", str(directory), "-o", str(program), str(source)])
    return program


def build_preload_probe(directory: Path) -> Path:
    library = directory / "libpreload_probe.so"
    source = HERE.parent / "preload_probe.c"
    _compile(["cc", "-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-o", str(library), str(source)])
    return library


def _compile(command: list[str]) -> None:
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
