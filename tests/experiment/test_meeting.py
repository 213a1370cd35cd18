"""How the tasks of Intel MPI meet under srun."""

from __future__ import annotations

import pytest

from nmlgen.experiment.meeting import PMI_LIBRARY, PMI_TYPE, meeting_variables, pmi_option


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], None),
        (["--mpi=pmi2"], "pmi2"),
        ([" --mpi pmix "], "pmix"),
        (["--mpi=none", "-n", "4", "--mpi=pmi2"], "pmi2"),
        (["--mpibind=on"], None),
    ],
)
def test_the_last_option_counts(options, expected):
    assert pmi_option(options) == expected


@pytest.mark.parametrize(
    ("implementation", "launcher", "options", "said", "expected"),
    [
        ("intel", "srun", [], [], {PMI_TYPE: "pmi2"}),
        ("intel", "/usr/bin/srun", ["-n", "4"], ["I_MPI_FABRICS"], {PMI_TYPE: "pmi2"}),
        ("intel", "srun", ["--mpi=none"], [], {}),
        ("intel", "srun", [], [PMI_LIBRARY], {}),
        ("intel", "srun", [], [PMI_TYPE], {}),
        ("intel", "mpirun", [], [], {}),
        ("openmpi", "srun", [], [], {}),
    ],
)
def test_variables_that_let_tasks_meet(implementation, launcher, options, said, expected):
    assert meeting_variables(implementation, launcher, options, said) == expected
