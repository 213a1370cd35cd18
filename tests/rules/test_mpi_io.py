"""The rules on MPI-IO beyond their examples."""

from __future__ import annotations

import pytest
from rows import rows
from rules.test_examples import BASE, check

from nmlgen.checking import check_experiment
from nmlgen.experiment.mpi_io import SWITCH_WORDS, lustre_variables, understanding
from nmlgen.spec.spec import load_spec


def codes(text, tmp_path):
    return [finding.code for finding in check(text, tmp_path).findings if finding.code.startswith("MPI")]


def intel(version, environment):
    return f'mpi: {{implementation: intel, version: "{version}"}}\nenvironment: {{{environment}}}\n'


@rows(
    ("version", "environment", "expected"),
    [
        ("2018.5", 'I_MPI_EXTRA_FILESYSTEM: "on", I_MPI_EXTRA_FILESYSTEM_LIST: lustre', ["MPI014"]),  # and where is it?
        (
            "2018.5",
            'I_MPI_EXTRA_FILESYSTEM: "on", I_MPI_EXTRA_FILESYSTEM_LIST: lustre, LD_LIBRARY_PATH: /sw/impi/lib64',
            [],
        ),
        ("2018.5", "I_MPI_EXTRA_FILESYSTEM_FORCE: lustre", ["MPI001"]),  # besides what follows from the version
        ("2019.4", "I_MPI_EXTRA_FILESYSTEM_LIST: lustre", ["MPI001"]),
        ("2019.4.243", "I_MPI_EXTRA_FILE_SYSTEM: 'off'", []),
        ("2019.0", 'I_MPI_EXTRA_FILESYSTEM: "on"', ["MPI001", "MPI014"]),
        ("2019.9", "I_MPI_EXTRA_FILESYSTEM_LIST: lustre", ["MPI001"]),
        ("2019.9", 'I_MPI_EXTRA_FILESYSTEM: "on", I_MPI_EXTRA_FILESYSTEM_FORCE: lustre', []),
        ("2021.5", 'I_MPI_FILESYSTEM: "on"', ["MPI001"]),
        ("2021.5", "I_MPI_FILESYSTEM: maybe", ["MPI001"]),  # it is not read, so it does no harm
        ("2021.5", "I_MPI_EXTRA_FILESYSTEM: maybe", ["MPI003"]),
        ("2021.5", "I_MPI_EXTRA_FILESYSTEM: ENABLE", []),
        ("2021.5", "I_MPI_LUSTRE_STRIPE_AWARE: 'on'", ["MPI001"]),
        ("2021.5", "I_MPI_EXTRA_FILESYSTEM_NFS_DIRECT: 'on'", ["MPI001"]),
        ("2021.10", "I_MPI_EXTRA_FILESYSTEM_NFS_DIRECT: 'on'", []),
        ("2021.18", 'I_MPI_FILESYSTEM: "On"', ["MPI003"]),
        ("2021.18", 'I_MPI_FILESYSTEM: ""', ["MPI003"]),
        ("2021.18", "I_MPI_EXTRA_FILESYSTEM: maybe", ["MPI002", "MPI003"]),
        ("2021.18", "I_MPI_FILESYSTEM_CB_NODES: '4'", []),
        ("5.1", "I_MPI_EXTRA_FILESYSTEM: maybe", ["MPI014"]),
    ],
)
def test_intel_variables(version, environment, expected, tmp_path):
    assert codes(intel(version, environment), tmp_path) == expected


def test_crash_needs_a_collective_write(tmp_path):
    gpfs = "run_directory: /gpfs/run\n" + intel("2021.18", "I_MPI_FILESYSTEM_FORCE: lustre")
    assert codes(gpfs, tmp_path) == ["MPI006"]
    assert codes(gpfs + "darshan: true\n", tmp_path) == ["MPI005"]
    unknown = gpfs.replace("/gpfs", "/elsewhere")
    assert codes(unknown + "darshan: true\n", tmp_path) == []


@pytest.mark.parametrize(
    ("component", "found"),
    [
        ("romio321", False),
        ("romio341", False),
        ("^ompio", False),
        ("ompio", True),
        ("^romio321", True),
    ],
)
def test_component_of_open_mpi(component, found, tmp_path):
    text = f'mpi: {{hints: {{striping_unit: 4194304}}}}\nenvironment: {{OMPI_MCA_io: "{component}"}}\n'
    assert ("MPI008" in codes(text, tmp_path)) is found


def test_intel_without_any_version(tmp_path):
    site = tmp_path / "site.yaml"
    site.write_text(
        "description: a site\nmachine: {scheduler: slurm, file_system: lustre, mpi: {intel: {}}}\n"
        "defaults: {mpi: {implementation: intel}}\n",
        encoding="utf-8",
    )
    spec = tmp_path / "spec.yaml"
    spec.write_text("nmlgen: 1\n", encoding="utf-8")
    experiment = load_spec(spec, [f"extends={BASE}", f"site={site}"]).experiment
    assert [finding.code for finding in check_experiment(experiment).findings] == ["MPI009"]
    spec.write_text('environment: {I_MPI_FILESYSTEM: "on"}\n', encoding="utf-8")
    experiment = load_spec(spec, [f"extends={BASE}", f"site={site}"]).experiment
    assert check_experiment(experiment).findings == ()


@pytest.mark.parametrize("version", ["2018.5", "2019.9", "2021.1", "2021.5", "2021.10", "2021.11", "2021.18"])
def test_what_we_set_is_understood(version):
    for name, value in lustre_variables("intel", version).items():
        assert understanding(name, version).verdict == "used"
        assert value in SWITCH_WORDS or value == "lustre"


@pytest.mark.parametrize(
    ("filetype", "pio", "expected"), [(4, 2, ["MPI012"]), (5, 2, ["MPI012"]), (2, 2, []), (4, 1, [])]
)
def test_netcdf_in_one_file(filetype, pio, expected, tmp_path):
    text = f"parallel: {{pio_type: {pio}}}\noutput: {{atm: {{filetype: {filetype}}}}}\n"
    assert [code for code in codes(text, tmp_path) if code == "MPI012"] == expected


def test_a_driver_that_is_forced_in_an_unknown_version(tmp_path):
    text = "run_directory: /gpfs/run\nmpi: {implementation: intel, version: null}\n"
    text += "environment: {I_MPI_FILESYSTEM_FORCE: lustre}\n"
    assert codes(text, tmp_path) == ["MPI006"]
    assert codes(text.replace("lustre", "ufs"), tmp_path) == []
