"""Intel MPI's own verdict on the variables: the real library says which it supports.

NMLGEN_INTEL_MPI names virtual environments, separated by colons, into which `pip install impi-rt` put different
releases of Intel MPI; one from before 2021.11 and one from after it are wanted.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from tools import PATIENCE

from nmlgen.experiment.mpi_io import (
    FORCE_WORDS,
    INTEL_FILE_SYSTEM_VARIABLES,
    SWITCH_VARIABLES,
    SWITCH_WORDS,
    lustre_variables,
    understanding,
)

UNSUPPORTED = "environment variable is not supported"


def installations() -> list[Path]:
    return [Path(path) for path in os.environ.get("NMLGEN_INTEL_MPI", "").split(":") if path]


def version_of(installation: Path) -> str:
    metadata = next(installation.glob("lib/python*/site-packages/impi_rt-*.dist-info/METADATA"))
    return re.search(r"^Version: (\S+)", metadata.read_text(), re.MULTILINE)[1]


def start(installation: Path, variables: dict[str, str]) -> str:
    """What two ranks of a benchmark print with these variables set."""
    libraries = [installation / "lib" / part for part in ("", "mpi/release", "libfabric")]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("I_MPI_", "SLURM_"))}
    environment |= {
        "LD_LIBRARY_PATH": ":".join(map(str, libraries)),
        "I_MPI_ROOT": str(installation),
        "I_MPI_FABRICS": "shm",
        "PATH": f"{installation}/bin:{os.environ['PATH']}",
    }
    command = ["mpirun", "-n", "2", "IMB-MPI1", "-iter", "1", "-time", "0.1", "-npmin", "2", "Barrier"]
    done = subprocess.run(
        command, env=environment | variables, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    return done.stdout + done.stderr


@pytest.fixture(scope="module", params=installations() or [None], ids=lambda path: path.name if path else "none")
def installation(request):
    if request.param is None:
        if os.environ.get("CI") == "true":
            pytest.fail("NMLGEN_INTEL_MPI names no Intel MPI")
        pytest.skip("NMLGEN_INTEL_MPI names no Intel MPI (pip install impi-rt into a virtual environment)")
    return request.param


def test_the_library_starts(installation):
    text = start(installation, {})
    assert "Barrier" in text
    assert UNSUPPORTED not in text


@pytest.mark.parametrize("name", sorted(INTEL_FILE_SYSTEM_VARIABLES))
def test_understanding_is_the_librarys(installation, name):
    value = "on" if name in SWITCH_VARIABLES or name.endswith(("DIRECT", "AWARE")) else "lustre"
    value = {"I_MPI_FILESYSTEM_CB_NODES": "2", "I_MPI_FILESYSTEM_CB_CONFIG_LIST": "*:1"}.get(name, value)
    refused = f"{name} {UNSUPPORTED}" in start(installation, {name: value})
    verdict = understanding(name, version_of(installation)).verdict
    assert refused == (verdict in ("unsupported", "absent"))


def test_what_we_set_is_supported(installation):
    variables = lustre_variables("intel", version_of(installation))
    assert variables
    text = start(installation, variables)
    assert UNSUPPORTED not in text
    assert "Abort" not in text


def test_replacements_are_supported(installation):
    version = version_of(installation)
    for name in INTEL_FILE_SYSTEM_VARIABLES:
        instead = understanding(name, version).instead
        if instead:
            assert understanding(instead, version).verdict == "used"


@pytest.mark.parametrize("word", [*sorted(SWITCH_WORDS), "maybe", "lustre"])
def test_words_of_the_switch(installation, word):
    name = next(name for name in lustre_variables("intel", version_of(installation)) if name in SWITCH_VARIABLES)
    aborted = "Unable to parse environment variable" in start(installation, {name: word})
    assert aborted == (word not in SWITCH_WORDS)


def test_unknown_drivers_are_accepted_in_silence(installation):
    name = next(name for name in lustre_variables("intel", version_of(installation)) if name.endswith("_FORCE"))
    assert "lustr" not in FORCE_WORDS
    text = start(installation, {name: "lustr"})
    assert "Abort" not in text
    assert UNSUPPORTED not in text
