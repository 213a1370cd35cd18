"""Which variables switch an MPI library's Lustre driver on, and which of them a version understands.

Sources: the libraries of Intel MPI 2018.0.3, 2019.0, 2019.4.243 and 2021.1 to 2021.18 themselves (names they contain,
messages they print, and which driver they say they took for a file whose file system statfs called Lustre);
K. Ketelsen, "Parallel IO on HLRN-IV systems" (2021) for 2019.9, which could not be had; Intel MPI's release notes for
the renaming in 2021.11; open-mpi/ompi issue 10132 and the Open MPI 5 manual for ROMIO in Open MPI.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from nmlgen.pattern import pattern
from nmlgen.values import frozen


@frozen
class Understanding:
    """What one variable means to one MPI version, and which variable says it there.

    "used"; "deprecated" and still obeyed; "unsupported": the library says so in one line and goes on; "unknown" to us.
    """

    verdict: str
    instead: str = ""


_RENAMED = {
    "I_MPI_EXTRA_FILESYSTEM": "I_MPI_FILESYSTEM",
    "I_MPI_EXTRA_FILESYSTEM_FORCE": "I_MPI_FILESYSTEM_FORCE",
    "I_MPI_EXTRA_FILESYSTEM_NFS_DIRECT": "I_MPI_FILESYSTEM_NFS_DIRECT",
}
_SINCE_2021_11 = {
    "I_MPI_FILESYSTEM",
    "I_MPI_FILESYSTEM_FORCE",
    "I_MPI_FILESYSTEM_CB_NODES",
    "I_MPI_FILESYSTEM_CB_CONFIG_LIST",
    "I_MPI_FILESYSTEM_NFS_DIRECT",
    "I_MPI_FILESYSTEM_GPFS_DIRECT",
}
_LIST = "I_MPI_EXTRA_FILESYSTEM_LIST"
_ONLY_2018 = {_LIST, "I_MPI_LUSTRE_STRIPE_AWARE"}
_OF_2019 = "I_MPI_EXTRA_FILE_SYSTEM"  # with one more underscore than before and after
_NFS_DIRECT = "I_MPI_EXTRA_FILESYSTEM_NFS_DIRECT"

INTEL_FILE_SYSTEM_VARIABLES = frozenset(_RENAMED) | _SINCE_2021_11 | _ONLY_2018 | {_OF_2019}
"""Every variable of Intel MPI, of whatever release, that chooses or tunes a file system driver."""

FORCE_VARIABLES = frozenset({"I_MPI_EXTRA_FILESYSTEM_FORCE", "I_MPI_FILESYSTEM_FORCE"})
"""The variables that force a driver instead of letting the library look what the file system is."""

SWITCH_VARIABLES = frozenset({"I_MPI_EXTRA_FILESYSTEM", "I_MPI_FILESYSTEM", _OF_2019})
"""The variables that switch native file system support on; they take on/off words only."""

_WORDS = ("on", "off", "yes", "no", "enable", "disable", "true", "false")
SWITCH_WORDS = frozenset({*_WORDS, *(word.upper() for word in _WORDS), "1", "0"})
"""What a switch may be: 2021.5 and 2021.18 take all lower or all upper case, and abort at "On" or an empty value."""

_ON = ("on", "yes", "enable", "true", "1")

FORCE_WORDS = frozenset({"ufs", "nfs", "gpfs", "panfs", "lustre", "daos"})
"""The drivers that can be forced."""


def version_tuple(version: str) -> tuple[int, ...]:
    """A version as numbers that compare: "2021.11" > "2021.5"."""
    return tuple(int(part) for part in version.split("."))


def lustre_variables(implementation: str, version: str | None) -> dict[str, str]:
    """The variables that make MPI-IO of this library use its Lustre driver; empty where none are known.

    Of 2019 before 2019.9 the libraries 2019.0, which has no way at all, and 2019.4 are known; what a version between
    does not know costs a line in its log.
    """
    if implementation == "openmpi":
        return {"OMPI_MCA_io": romio_component(version)}
    if implementation != "intel" or version is None:
        return {}
    numbers = version_tuple(version)
    if numbers < (2019,):
        return {"I_MPI_EXTRA_FILESYSTEM": "on", _LIST: "lustre"}
    if numbers[:2] == (2019, 0):
        return {}
    if (2019, 1) <= numbers < (2019, 5):
        return {_OF_2019: "on"}
    if numbers >= (2021, 11):
        return {"I_MPI_FILESYSTEM": "on", "I_MPI_FILESYSTEM_FORCE": "lustre"}
    forced = {"I_MPI_EXTRA_FILESYSTEM": "on", "I_MPI_EXTRA_FILESYSTEM_FORCE": "lustre"}
    return {**forced, _OF_2019: "on"} if numbers < (2019, 9) else forced


def is_on(word: str) -> bool:
    """Whether a switch with that word is on."""
    return word.lower() in _ON


def driver_off(version: str, values: Mapping[str, str]) -> str | None:
    """Why Intel MPI of this version does not use its Lustre driver on Lustre, with these of its variables set.

    None where it does, and where nobody has tried.
    """
    numbers = version_tuple(version)
    switched = {name: is_on(values.get(name, "")) for name in SWITCH_VARIABLES}
    switch = "I_MPI_FILESYSTEM" if numbers >= (2021, 11) else "I_MPI_EXTRA_FILESYSTEM"
    forced = values.get("I_MPI_FILESYSTEM_FORCE") if numbers >= (2021, 11) else None
    forced = (forced or values.get("I_MPI_EXTRA_FILESYSTEM_FORCE", "")).lower()
    if numbers < (2019,):
        if not switched[switch]:
            return f"{switch} is not on"
        return None if "lustre" in values.get(_LIST, "").lower().split(",") else f"{_LIST} does not name lustre"
    if numbers[:2] == (2019, 0):
        return "2019.0 has no way to switch it on"
    if numbers[:2] == (2019, 4):
        return None if switched[_OF_2019] else f"{_OF_2019} is not on"
    if numbers < (2019, 9) or numbers == (2021,):
        return None
    if forced in FORCE_WORDS - {"lustre"}:
        return f"the driver {forced} is forced"
    if numbers >= (2021, 11):
        switched[switch] |= switched["I_MPI_EXTRA_FILESYSTEM"] and "I_MPI_FILESYSTEM" not in values
    if switched[switch] or (numbers >= (2021, 6) and forced == "lustre"):
        return None
    return f"{switch} is not on"


def needs_driver_path(version: str) -> bool:
    """Whether the Lustre driver is a library of its own, `libmpi_lustre.so`, that the loader has to find: 2018."""
    return version_tuple(version) < (2019,)


def romio_component(version: str | None) -> str:
    """The name of ROMIO in Open MPI: romio341 from 5.0 on, romio321 in 4.x."""
    return "romio341" if version is not None and version_tuple(version) >= (5,) else "romio321"


def understanding(variable: str, version: str) -> Understanding:
    """What an Intel MPI of this version makes of one of INTEL_FILE_SYSTEM_VARIABLES.

    Tried with 2018.0.3, 2019.0, 2019.4, 2021.1, 2021.2, 2021.5 to 2021.8, 2021.10, 2021.11 and 2021.18; 2019.9 as
    K. Ketelsen says. "2021" alone may be before or after the renaming. 2018 says nothing of what it does not support.
    """
    numbers = version_tuple(version)
    if numbers < (2021,):
        return _before_2021(variable, numbers)
    renamed = numbers >= (2021, 11)
    if variable in _ONLY_2018 or variable == _OF_2019:
        kind = "_FORCE" if variable in _ONLY_2018 else ""
        return Understanding("unsupported", f"I_MPI_FILESYSTEM{kind}" if renamed else f"I_MPI_EXTRA_FILESYSTEM{kind}")
    if numbers == (2021,):
        return Understanding("unknown")
    if variable in _SINCE_2021_11:
        old = next((old for old, new in _RENAMED.items() if new == variable), "")
        if renamed:
            return Understanding("used")
        known = understanding(old, version) if old else Understanding("unsupported")
        return Understanding("unsupported", old if known.verdict == "used" else known.instead)
    if renamed:
        return Understanding("deprecated", _RENAMED[variable])
    if variable == _NFS_DIRECT:
        return Understanding("unsupported" if numbers < (2021, 9) else "used")
    return Understanding("used")


def _before_2021(variable: str, numbers: tuple[int, ...]) -> Understanding:
    """The same of a version before 2021: by the first of the variables that switch its driver on."""
    version = ".".join(map(str, numbers))
    own = lustre_variables("intel", version)
    is_about_drivers = variable not in (_NFS_DIRECT, "I_MPI_LUSTRE_STRIPE_AWARE")
    if numbers < (2019,):
        known = {*own, "I_MPI_LUSTRE_STRIPE_AWARE"}
        instead = _LIST if variable in FORCE_VARIABLES else "I_MPI_EXTRA_FILESYSTEM"
    elif numbers < (2019, 5) and numbers[:2] in ((2019, 0), (2019, 4)):
        known, instead = set(own), next(iter(own), "")
    elif variable in _SINCE_2021_11 | _ONLY_2018:
        known, instead = set(own), "I_MPI_EXTRA_FILESYSTEM_FORCE" if numbers >= (2019, 5) else _OF_2019
    elif numbers >= (2019, 9) and variable in own:
        return Understanding("used")
    else:
        return Understanding("unknown")
    if variable in known:
        return Understanding("used")
    return Understanding("unsupported", instead if is_about_drivers else "")


_LIBRARY_MODULES = (
    (
        "intel",
        pattern(r"(?:intel-?oneapi-?mpi|intel-?mpi|impi)[^/]*/(?P<version>\d{1,9}(?:\.\d{1,9})*)", re.IGNORECASE),
    ),
    ("openmpi", pattern(r"openmpi[^/]*/(?P<version>\d{1,9}(?:\.\d{1,9})*)", re.IGNORECASE)),
)
_BUILT_WITH = (
    (
        "intel",
        pattern(r"(?:intel-?oneapi-?mpi|intel-?mpi|impi)[-._/]?(?P<version>\d{1,9}(?:\.\d{1,9})*)?", re.IGNORECASE),
    ),
    ("openmpi", pattern(r"(?:openmpi|ompi)[-._/]?(?P<version>\d{1,9}(?:\.\d{1,9})*)?", re.IGNORECASE)),
    ("mpich", pattern(r"(?<!cray-)mpich[-._/]?(?P<version>\d{1,9}(?:\.\d{1,9})*)?", re.IGNORECASE)),
)
_IO_LIBRARY = pattern(r"hdf5|netcdf", re.IGNORECASE)


def library_of_module(name: str) -> tuple[str, str] | None:
    """The MPI library and its version that a module of this name is; None of a module that is something else."""
    if _IO_LIBRARY.search(name):
        return None
    for implementation, names in _LIBRARY_MODULES:
        match = names.search(name)
        if match is not None:
            return implementation, match["version"]
    return None


def built_with(name: str) -> tuple[str, str | None] | None:
    """The MPI library, and its version if it says so, that a module of HDF5 or NetCDF says it was built with.

    `netcdf/4.7-impi18` is Intel MPI 2018. None of other modules, and of those that do not say it.
    """
    if not _IO_LIBRARY.search(name):
        return None
    for implementation, names in _BUILT_WITH:
        match = names.search(name)
        if match is not None:
            version = match["version"]
            if implementation == "intel" and version is not None and re.match(r"(?:1[6-9]|2\d)(?:\.|$)", version):
                version = f"20{version}"
            return implementation, version
    return None


def is_part(one: str, other: str) -> bool:
    """Whether two versions may be the same, of which one may say less: "2019" and "2019.9"."""
    numbers, others = version_tuple(one), version_tuple(other)
    length = min(len(numbers), len(others))
    return numbers[:length] == others[:length]
