"""What switches Intel MPI's Lustre driver on: what its libraries did, version by version."""

from __future__ import annotations

import pytest
from rows import rows

from nmlgen.experiment.mpi_io import (
    INTEL_FILE_SYSTEM_VARIABLES,
    built_with,
    driver_off,
    is_part,
    library_of_module,
    lustre_variables,
    needs_driver_path,
    romio_component,
    understanding,
)

OLD, LIST, FORCE = "I_MPI_EXTRA_FILESYSTEM", "I_MPI_EXTRA_FILESYSTEM_LIST", "I_MPI_EXTRA_FILESYSTEM_FORCE"
OF_2019 = "I_MPI_EXTRA_FILE_SYSTEM"
NEW, NEW_FORCE = "I_MPI_FILESYSTEM", "I_MPI_FILESYSTEM_FORCE"
ON, OFF, LUSTRE = "on", "off", "lustre"

OBSERVED = [
    # the version, its variables, whether romio_filesystem_type said LUSTRE
    ("2018.0.3", {}, False),
    ("2018.0.3", {OLD: ON}, False),
    ("2018.0.3", {LIST: LUSTRE}, False),
    ("2018.0.3", {OLD: ON, LIST: LUSTRE}, True),
    ("2018.0.3", {OLD: "enable", LIST: "gpfs,lustre"}, True),
    ("2018.0.3", {OLD: ON, LIST: "gpfs"}, False),
    ("2018.0.3", {OLD: ON, FORCE: LUSTRE}, False),
    ("2018.0.3", {OLD: "maybe", LIST: LUSTRE}, False),
    ("2018.0.3", {OF_2019: ON}, False),
    ("2019.0", {}, False),
    ("2019.0", {OLD: ON}, False),
    ("2019.0", {OF_2019: ON}, False),
    ("2019.4.243", {}, False),
    ("2019.4.243", {OLD: ON}, False),
    ("2019.4.243", {OLD: ON, LIST: LUSTRE}, False),
    ("2019.4.243", {OLD: ON, FORCE: LUSTRE}, False),
    ("2019.4.243", {OF_2019: ON}, True),
    ("2019.4.243", {OF_2019: "maybe"}, False),
    ("2021.1.1", {}, False),
    ("2021.1.1", {OLD: ON}, True),
    ("2021.1.1", {LIST: LUSTRE}, False),
    ("2021.1.1", {FORCE: LUSTRE}, False),
    ("2021.1.1", {OF_2019: ON}, False),
    ("2021.5.1", {FORCE: LUSTRE}, False),
    ("2021.6.0", {FORCE: LUSTRE}, True),
    ("2021.7.1", {FORCE: LUSTRE}, True),
    ("2021.8.0", {OLD: OFF, FORCE: LUSTRE}, True),
    ("2021.10.0", {}, False),
    ("2021.10.0", {OLD: ON}, True),
    ("2021.11.0", {NEW: ON}, True),
    ("2021.11.0", {NEW_FORCE: LUSTRE}, True),
    ("2021.11.0", {NEW: OFF, NEW_FORCE: LUSTRE}, True),
    ("2021.11.0", {FORCE: LUSTRE}, True),
    ("2021.18.1", {OLD: ON}, True),
    ("2021.18.1", {OLD: OFF, FORCE: LUSTRE}, True),
    ("2021.18.1", {}, False),
]


@rows(("version", "variables", "is_on"), OBSERVED)
def test_the_driver(version, variables, is_on):
    assert (driver_off(version, variables) is None) is is_on


@pytest.mark.parametrize("version", ["2019", "2019.5", "2019.8", "2021"])
def test_nobody_has_tried(version):
    assert driver_off(version, {}) is None


@pytest.mark.parametrize("version", ["5.1", "2018.5", "2019.3", "2019.4", "2019.9", "2021.1", "2021.5", "2021.18"])
def test_what_follows_from_a_version_switches_it_on(version):
    assert driver_off(version, lustre_variables("intel", version)) is None


def test_the_first_2019_has_no_way_at_all():
    assert lustre_variables("intel", "2018.5") != lustre_variables("intel", "2019")
    for version in ("2019.0", "2019.0.0", "2019.0.117"):
        assert lustre_variables("intel", version) == {}


def test_2019_does_not_read_the_list():
    for version in ("2019.0", "2019.4", "2019.9", "2021.1", "2021.18"):
        assert understanding(LIST, version).verdict == "unsupported"
    assert understanding(LIST, "2018.5").verdict == "used"


@pytest.mark.parametrize("version", ["2018.0.3", "2019.0", "2019.4.243", "2021.1.1", "2021.18.1"])
def test_what_is_said_instead_is_understood(version):
    for name in INTEL_FILE_SYSTEM_VARIABLES:
        instead = understanding(name, version).instead
        assert not instead or understanding(instead, version).verdict == "used", (name, instead)


@pytest.mark.parametrize(
    ("module", "library"),
    [
        ("impi/2018.5", ("intel", "2018.5")),
        ("intel-oneapi-mpi/2021.5.0", ("intel", "2021.5.0")),
        ("openmpi/4.1.2-intel-2021.5.0", ("openmpi", "4.1.2")),
        ("intel/19.0.5", None),
        ("netcdf/4.7-impi/2018", None),
    ],
)
def test_modules_of_mpi_libraries(module, library):
    assert library_of_module(module) == library


@pytest.mark.parametrize(
    ("module", "library"),
    [
        ("netcdf-parallel/impi/intel/4.7.3", ("intel", None)),
        ("hdf5-parallel/impi.18/intel/1.10.5", ("intel", "2018")),
        ("hdf5/1.12.1-intel-oneapi-mpi-2021.5.0-intel-2021.5.0", ("intel", "2021.5.0")),
        ("netcdf-c/4.8.1-openmpi-4.1.2-intel-2021.5.0", ("openmpi", "4.1.2")),
        ("netcdf-c/4.8.1-gcc-11.2.0", None),
        ("impi/2018.5", None),
    ],
)
def test_what_a_library_was_built_with(module, library):
    assert built_with(module) == library


@pytest.mark.parametrize(
    ("one", "other", "same"), [("2019", "2019.9", True), ("2019.9", "2019", True), ("2019.9", "2019.5", False)]
)
def test_versions_that_may_be_the_same(one, other, same):
    assert is_part(one, other) is same


@pytest.mark.parametrize("version", ["2018.5", "2019.1", "2019.5", "2019.9", "2021.6", "2021.9", "2021.11"])
def test_a_release_without_its_patch_is_the_first_of_it(version):
    """Each boundary between two behaviours, written as people write it, and with its last number."""
    patch = f"{version}.0"
    assert lustre_variables("intel", version) == lustre_variables("intel", patch)
    assert needs_driver_path(version) == needs_driver_path(patch)
    for variable in sorted(INTEL_FILE_SYSTEM_VARIABLES):
        assert understanding(variable, version) == understanding(variable, patch)
        for word in ("on", "off", "lustre", "gpfs"):
            assert driver_off(version, {variable: word}) == driver_off(patch, {variable: word})


@pytest.mark.parametrize(("version", "name"), [(None, "romio321"), ("4.1.6", "romio321"), ("5", "romio341")])
def test_romio_of_open_mpi(version, name):
    assert romio_component(version) == name
    assert lustre_variables("openmpi", version) == {"OMPI_MCA_io": name}


@pytest.mark.parametrize(("version", "needs"), [("2018.5", True), ("2019", False), ("2019.0", False)])
def test_the_driver_is_a_library_of_its_own(version, needs):
    assert needs_driver_path(version) is needs


WAYS = [{}, {OLD: ON}, {NEW: ON}, {FORCE: LUSTRE}, {NEW_FORCE: LUSTRE}, {OLD: ON, FORCE: "nfs"}, {OLD: ON, NEW: OFF}]
ALL, NONE = [True] * 7, [False] * 7


@rows(
    ("version", "is_on"),
    [
        ("2018.5", NONE),
        ("2019.0", NONE),
        ("2019.4", NONE),
        ("2019.5", ALL),  # nobody has tried
        ("2019.8", ALL),
        ("2019.9", [False, True, False, False, False, False, True]),
        ("2021", ALL),
        ("2021.5", [False, True, False, False, False, False, True]),
        ("2021.6", [False, True, False, True, False, False, True]),  # forcing it is enough
        ("2021.10", [False, True, False, True, False, False, True]),
        ("2021.11", [False, True, True, True, True, False, False]),  # by its new names, and the old one beside none
    ],
)
def test_ways_to_switch_the_driver_on_by_version(version, is_on):
    assert [driver_off(version, values) is None for values in WAYS] == is_on


@pytest.mark.parametrize(
    ("version", "variables"),
    [
        ("2018.5", {OLD: ON, LIST: LUSTRE}),
        ("2019.0", {}),
        ("2019.1", {OF_2019: ON}),
        ("2019.4", {OF_2019: ON}),
        ("2019.5", {OLD: ON, FORCE: LUSTRE, OF_2019: ON}),
        ("2019.8", {OLD: ON, FORCE: LUSTRE, OF_2019: ON}),
        ("2019.9", {OLD: ON, FORCE: LUSTRE}),
        ("2021.10", {OLD: ON, FORCE: LUSTRE}),
        ("2021.11", {NEW: ON, NEW_FORCE: LUSTRE}),
    ],
)
def test_variables_by_version(version, variables):
    assert lustre_variables("intel", version) == variables


@pytest.mark.parametrize(
    ("versions", "verdicts", "instead"),
    [
        ("2018.5", "ununnnnnnnnu", "-c--aaaacaa-"),
        ("2019 2019.1 2019.3", "??n??nnnnnnn", "--e--eeeeee-"),
        ("2019.0 2019.0.5", "nnnnnnnnnnnn", "------------"),
        ("2019.4 2019.4.243", "nnnnunnnnnnn", "eee--eeeeee-"),
        ("2019.5 2019.8", "??n??nnnnnnn", "--b--bbbbbb-"),
        ("2019.9 2020", "uun??nnnnnnn", "--b--bbbbbb-"),
        ("2021", "??n?n??????n", "--b-a------b"),
        ("2021.1 2021.8", "uunnnnnnnnnn", "--b-aa--b--b"),
        ("2021.9 2021.10", "uununnnnnnnn", "--b-aa--b-db"),
        ("2021.11 2021.18", "ddndnuuuuuun", "fiikf------i"),
    ],
)
def test_what_each_version_makes_of_each_variable(versions, verdicts, instead):
    """By the names in their order: used, not supported, deprecated or unknown; the letter is the place of the other."""
    names = sorted(INTEL_FILE_SYSTEM_VARIABLES)
    words = {"u": "used", "n": "unsupported", "d": "deprecated", "?": "unknown"}
    for version in versions.split():
        found = [understanding(name, version) for name in names]
        assert [one.verdict for one in found] == [words[letter] for letter in verdicts]
        assert [one.instead for one in found] == ["" if n == "-" else names[ord(n) - ord("a")] for n in instead]


def test_other_libraries():
    assert lustre_variables("intel", None) == {}
    assert lustre_variables("mpich", "4.0") == {}
    assert lustre_variables("openmpi", "4.1") == {"OMPI_MCA_io": "romio321"}
    assert lustre_variables("openmpi", "5.0") == {"OMPI_MCA_io": "romio341"}
    assert [needs_driver_path(version) for version in ("2018.5", "2019.0")] == [True, False]


@pytest.mark.parametrize(
    ("version", "verdicts"),
    [
        ("2018.5", ["used", "unsupported", "unsupported", "used", "unsupported"]),
        ("2019.4", ["unsupported", "unsupported", "unsupported", "unsupported", "used"]),
        ("2019.8", ["unknown", "unsupported", "unknown", "unsupported", "unknown"]),
        ("2019.9", ["used", "unsupported", "used", "unsupported", "unknown"]),
        ("2021", ["unknown", "unknown", "unknown", "unsupported", "unsupported"]),
        ("2021.10", ["used", "unsupported", "used", "unsupported", "unsupported"]),
        ("2021.11", ["deprecated", "used", "deprecated", "unsupported", "unsupported"]),
    ],
)
def test_what_a_version_makes_of_each_name(version, verdicts):
    assert [understanding(name, version).verdict for name in (OLD, NEW, FORCE, LIST, OF_2019)] == verdicts
