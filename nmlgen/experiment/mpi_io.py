"""Which variables switch an MPI library's Lustre driver on, and which of them a version understands.

Sources: K. Ketelsen, "Parallel IO on HLRN-IV systems" (2021) for Intel MPI 2018 and 2019; the libraries of Intel
MPI 2021.1 to 2021.18 themselves (names they contain, messages they print); Intel MPI's release notes for the
renaming in 2021.11; open-mpi/ompi issue 10132 and the Open MPI 5 manual for ROMIO in Open MPI.
"""

from __future__ import annotations

from attrs import frozen


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
_ONLY_2018_2019 = {"I_MPI_EXTRA_FILESYSTEM_LIST", "I_MPI_LUSTRE_STRIPE_AWARE"}
_NFS_DIRECT = "I_MPI_EXTRA_FILESYSTEM_NFS_DIRECT"

INTEL_FILE_SYSTEM_VARIABLES = frozenset(_RENAMED) | _SINCE_2021_11 | _ONLY_2018_2019
"""Every variable of Intel MPI, of whatever release, that chooses or tunes a file system driver."""

FORCE_VARIABLES = frozenset({"I_MPI_EXTRA_FILESYSTEM_FORCE", "I_MPI_FILESYSTEM_FORCE"})
"""The variables that force a driver instead of letting the library look what the file system is."""

SWITCH_VARIABLES = frozenset({"I_MPI_EXTRA_FILESYSTEM", "I_MPI_FILESYSTEM"})
"""The variables that switch native file system support on; they take on/off words only."""

_WORDS = ("on", "off", "yes", "no", "enable", "disable", "true", "false")
SWITCH_WORDS = frozenset({*_WORDS, *(word.upper() for word in _WORDS), "1", "0"})
"""What a switch may be: 2021.5 and 2021.18 take all lower or all upper case, and abort at "On" or an empty value."""

FORCE_WORDS = frozenset({"ufs", "nfs", "gpfs", "panfs", "lustre", "daos"})
"""The drivers that can be forced."""


def version_tuple(version: str) -> tuple[int, ...]:
    """A version as numbers that compare: "2021.11" > "2021.5"."""
    return tuple(int(part) for part in version.split("."))


def lustre_variables(implementation: str, version: str | None) -> dict[str, str]:
    """The variables that make MPI-IO of this library use its Lustre driver; empty where none are known."""
    if implementation == "openmpi":
        return {"OMPI_MCA_io": romio_component(version)}
    if implementation != "intel" or version is None:
        return {}
    numbers = version_tuple(version)
    if numbers < (2019,):
        return {"I_MPI_EXTRA_FILESYSTEM": "on", "I_MPI_EXTRA_FILESYSTEM_LIST": "lustre"}
    if numbers < (2021, 11):
        return {"I_MPI_EXTRA_FILESYSTEM": "on", "I_MPI_EXTRA_FILESYSTEM_FORCE": "lustre"}
    return {"I_MPI_FILESYSTEM": "on", "I_MPI_FILESYSTEM_FORCE": "lustre"}


def needs_library_path(implementation: str, version: str | None) -> bool:
    """Whether the Lustre driver is found only with `$I_MPI_ROOT/lib64` in LD_LIBRARY_PATH: Intel MPI 2018."""
    return implementation == "intel" and version is not None and version_tuple(version) < (2019,)


def romio_component(version: str | None) -> str:
    """The name of ROMIO in Open MPI: romio341 from 5.0 on, romio321 in 4.x."""
    return "romio341" if version is not None and version_tuple(version) >= (5,) else "romio321"


def understanding(variable: str, version: str) -> Understanding:
    """What an Intel MPI of this version makes of one of INTEL_FILE_SYSTEM_VARIABLES.

    Tried with 2021.5, 2021.6, 2021.8, 2021.10, 2021.11 and 2021.18. "2021" alone may be before or after the renaming.
    """
    numbers = version_tuple(version)
    renamed = numbers >= (2021, 11)
    if variable in _ONLY_2018_2019:
        if numbers < (2021,):
            return Understanding("used")
        instead = "I_MPI_FILESYSTEM_FORCE" if renamed else "I_MPI_EXTRA_FILESYSTEM_FORCE"
        return Understanding("unsupported", instead)
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
    if variable == "I_MPI_EXTRA_FILESYSTEM_FORCE" and numbers < (2019,):
        return Understanding("unsupported", "I_MPI_EXTRA_FILESYSTEM_LIST")
    if variable == _NFS_DIRECT:
        return Understanding("unsupported" if numbers < (2021, 9) else "used")
    return Understanding("used")
