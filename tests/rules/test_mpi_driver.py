"""Intel MPI's Lustre driver, and modules that belong together: both sides of each boundary, in specs and in scripts."""

from __future__ import annotations

from pathlib import Path

import pytest
from rows import rows
from rules.experiments import experiment_of, judge
from rules.test_examples import check

import nmlgen
from nmlgen.rules import mpi_driver
from nmlgen.rules.mpi_driver import LustreDriverStaysOff


def test_what_is_meant_is_asked_of_the_first_variables(tmp_path, monkeypatch):
    monkeypatch.setattr(mpi_driver, "_MOST_GUESSED", 2)
    names = ", ".join(f"I_MPI_FILESYSTEM_FORCE{letter}: lustre" for letter in "ABC")
    found = check(f"mpi: {{implementation: intel}}\nenvironment: {{{names}}}\n", tmp_path)
    assert [finding.code for finding in found.findings if finding.code == "MPI023"] == ["MPI023"] * 2


SCRIPT = """\
#!/bin/bash
#SBATCH --nodes=4 --ntasks-per-node=96
module load intel/19.0.5 {module}
{lines}
mkdir -p output
lfs setstripe -c 16 output
cat >icon_master.namelist <<EOF
&master_nml
/
&master_model_nml
 model_type = 1
 model_name = 'atm'
 model_namelist_filename = 'NAMELIST_atm'
/
EOF
cat >NAMELIST_atm <<EOF
&parallel_nml
 num_io_procs = 4
 pio_type = {pio_type}
/
&output_nml
 output_filename = 'output/atm'
/
EOF
srun bin/icon
"""
ON, LIST = "export I_MPI_EXTRA_FILESYSTEM=on", "export I_MPI_EXTRA_FILESYSTEM_LIST=lustre"
FORCE = "export I_MPI_EXTRA_FILESYSTEM_FORCE=lustre"
PATH = "export LD_LIBRARY_PATH=$LD_LIBRARY_PATH:$I_MPI_ROOT/lib64"


def linted(tmp_path, module, lines, pio_type=1):
    script = tmp_path / "exp.run"
    script.write_text(SCRIPT.format(module=module, lines="\n".join(lines), pio_type=pio_type))
    return [finding for finding in nmlgen.lint([script]).findings if finding.code.startswith("MPI")]


# K. Ketelsen (2021), table 1: the modules, whether the environment is set, MB/s
TABLE_1 = [
    ("impi/2018.5", [], 6499),
    ("impi/2018.5", [ON, LIST, PATH], 9938),
    ("impi/2019.9", [], 6323),
    ("impi/2019.9", [ON, FORCE], 9756),
]


@pytest.mark.parametrize(("module", "lines", "rate"), TABLE_1)
def test_the_slower_rows_of_table_1_are_warned_of(module, lines, rate, tmp_path):
    best = max(other for name, _, other in TABLE_1 if name == module)
    found = [finding for finding in linted(tmp_path, module, lines, pio_type=2) if finding.code == "MPI014"]
    assert bool(found) is (rate < best)
    for finding in found:
        assert f"measured {rate} MB/s without, {best} with it" in finding.message


@pytest.mark.parametrize(("version", "rate"), [("2018.5", 6499), ("2019.0", 6323)])
def test_versions_since_2019_are_as_fast_as_the_one_that_was_measured(version, rate, tmp_path):
    text = f'mpi: {{implementation: intel, version: "{version}"}}\n'
    text += 'environment: {I_MPI_EXTRA_FILESYSTEM: "off", I_MPI_EXTRA_FILESYSTEM_FORCE: lustre}\n'
    (finding,) = judge(experiment_of(text, tmp_path), [LustreDriverStaysOff])
    assert f"measured {rate} MB/s" in finding.message


@rows(
    ("module", "lines", "codes"),
    [
        ("impi/2018.5", [], []),  # nothing is written through MPI-IO, nobody asks for the driver
        ("impi/2018.5", [LIST, PATH], ["MPI014"]),
        ("impi/2018.5", [ON, PATH], ["MPI014"]),
        ("impi/2018.5", [ON, LIST], ["MPI014"]),
        ("impi/2018.5", [ON, FORCE, PATH], ["MPI001", "MPI014"]),
        ("impi/2018.5", [ON, LIST, PATH], []),
        ("impi/2019.9", [ON, LIST], ["MPI001"]),  # the switch is enough
        ("impi/2019.9", [LIST], ["MPI001", "MPI014"]),
        ("impi/2019.4", [ON, LIST], ["MPI001", "MPI001", "MPI014"]),
        ("impi/2019.4", ["export I_MPI_EXTRA_FILE_SYSTEM=on"], []),
        ("impi/2021.5", [FORCE], ["MPI014"]),
        ("impi/2021.6", [FORCE], []),
        ("impi/2021.5", [ON], []),
        ("impi/2021.5", ["export I_MPI_EXTRA_FILESYSTEM=off"], []),  # that is what the author wants
        ("openmpi/4.1.2", [], []),
    ],
)
def test_scripts(module, lines, codes, tmp_path):
    assert [finding.code for finding in linted(tmp_path, module, lines)] == codes


def spec_codes(text, tmp_path):
    return [finding.code for finding in check(text, tmp_path).findings if finding.code in ("MPI015", "MPI016")]


@rows(
    ("version", "modules", "codes"),
    [
        ("2019.9", "impi/2018.5", ["MPI015"]),
        ("2018.5", "impi/2019.9", ["MPI015"]),
        ("2019.9", "openmpi/4.1.2", ["MPI015"]),
        ("2019.9", "intel/18.0.6", []),  # a compiler
        ("2019", "impi/2019.9", []),
        ("2019.9", "impi/2019.9", []),
        ("2019.9", "impi/2018.5, impi/2019.9", []),
        ("2019.5", "impi/2019.5, hdf5-parallel/impi.18/1.10.5", ["MPI016"]),
        ("2019.5", "impi/2019.5, hdf5-parallel/impi.19/1.10.5", []),
        ("2019.5", "impi/2019.5, netcdf-c/4.8.1-openmpi-4.1.2", ["MPI016"]),
        ("2019.5", "impi/2019.5, netcdf-c/4.8.1", []),
    ],
)
def test_modules_of_one_kind(version, modules, codes, tmp_path):
    text = f'mpi: {{implementation: intel, version: "{version}"}}\nmodules: [{modules}]\n'
    assert spec_codes(text, tmp_path) == codes


@rows(
    ("module", "lines", "launch", "codes"),
    [
        ("impi/2021.5", [], "srun bin/icon", []),  # Slurm's configuration decides
        ("impi/2021.5", [], "srun --mpi=none bin/icon", ["MPI024"]),
        ("impi/2021.5", [], "srun --mpi=pmi2 bin/icon", []),
        ("impi/2021.10", [], "srun --mpi=pmix bin/icon", ["MPI024"]),
        ("impi/2021.18", [], "srun --mpi=pmix bin/icon", []),
        ("impi/2021.5", ["export SLURM_MPI_TYPE=none"], "srun bin/icon", ["MPI024"]),
        ("impi/2021.5", ["export SLURM_MPI_TYPE=none"], "srun --mpi=pmi2 bin/icon", []),
        ("impi/2021.5", ["export I_MPI_PMI_LIBRARY=/usr/lib64/libpmi.so"], "srun --mpi=none bin/icon", []),
        ("impi/2021.10", ["export I_MPI_PMI_LIBRARY=/usr/lib64/libpmi2.so"], "srun --mpi=none bin/icon", ["MPI024"]),
        ("impi/2021.10", ["export I_MPI_PMI_LIBRARY=/usr/lib64/libpmi2.so"], "srun --mpi=pmi2 bin/icon", []),
        ("impi/2021.10", ["export I_MPI_PMI_LIBRARY=/usr/lib64/libpmi2.so"], "srun bin/icon", []),
        ("impi/2021.5", [], "mpirun bin/icon", []),
        ("openmpi/4.1", [], "srun --mpi=none bin/icon", []),
    ],
)
def test_whether_tasks_meet(tmp_path, module, lines, launch, codes):
    script = tmp_path / "exp.run"
    text = SCRIPT.format(module=module, lines="\n".join(lines), pio_type=1).replace("srun bin/icon", launch)
    script.write_text(text)
    assert [finding.code for finding in nmlgen.lint([script]).findings if finding.code == "MPI024"] == codes


LISE = ("site=lise", "job.partition=standard96", "job.ntasks_per_node=96")


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (LISE, "pmi2"),
        ((*LISE, "launch={command: mpirun}"), None),
        ((*LISE, 'launch={options: ["--mpi=pmix"]}'), None),
        ((*LISE, "environment.I_MPI_PMI_LIBRARY=/usr/lib64/libpmi.so"), None),
        ((*LISE, "environment.SLURM_MPI_TYPE=null"), None),
        ((), None),  # Open MPI
    ],
)
def test_what_a_build_does_that_they_meet(overrides, said):
    example = Path(__file__).parents[2] / "examples" / "nh_dcmip_tc_52_r2b5.yaml"
    found = nmlgen.load_spec(example, overrides=overrides).experiment.environment.get("SLURM_MPI_TYPE")
    assert (None if found is None else found.value) == said


def test_variables_that_are_kept_out_come_back(tmp_path):
    """What a spec would have by itself is taken away where the script does not have it."""
    example = Path(__file__).parents[2] / "examples" / "nh_dcmip_tc_52_r2b5.yaml"
    out = ("environment={SLURM_MPI_TYPE: null, OMP_STACKSIZE: null}", "job.ntasks_per_node=24", "job.cpus_per_task=4")
    nmlgen.build(example, overrides=(*LISE, *out)).write(tmp_path / "run")
    (tmp_path / "again.yaml").write_text(nmlgen.import_spec(tmp_path / "run").text)
    environment = nmlgen.load_spec(tmp_path / "again.yaml").experiment.environment
    assert "SLURM_MPI_TYPE" not in environment
    assert "OMP_STACKSIZE" not in environment
    assert environment["OMP_NUM_THREADS"].value == "4"
