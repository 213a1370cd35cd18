"""What PALM holds once it has read its namelist, as its checks ask for it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from nmlgen.errors import InputError
from nmlgen.models.reading import Beside, Read

UNSET = 9999999.9
"""What most of PALM's real settings hold as long as nobody sets them."""

NO_LEVEL = -UNSET
"""What levels and places in metres hold as long as nobody sets them."""
HUGE = 1e300
"""Nobody sets a real setting to more."""

TASKS = "tasks"
"""By what the number of tasks is asked for, which is no setting."""

LAND, URBAN = "land_surface_parameters", "urban_surface_parameters"
OCEAN, STG, INFLOW, RADIATION = "ocean_parameters", "stg_par", "turbulent_inflow_parameters", "radiation_parameters"
CLOUDS, PARTICLES, CANOPY = "bulk_cloud_parameters", "particle_parameters", "plant_canopy_parameters"
CHEMISTRY, SALSA, DUST, SPECTRA = "chemistry_parameters", "salsa_parameters", "det_parameters", "spectra_parameters"
OFFLINE, CONTROL, SURFACE_DATA = "nesting_offl_parameters", "flow_control_parameters", "surface_data_output_parameters"
MULTIGRID = ("multigrid", "multigrid_noopt")

_OF_DOMAIN = re.compile(r"(?:PARIN|_p3dr?)_(?:N\d\d|O)$", re.IGNORECASE)
_OF_PARENT = (
    "bc_lr",
    "bc_ns",
    "bc_pt_b",
    "bc_pt_t",
    "bc_q_b",
    "bc_q_t",
    "bc_s_b",
    "bc_s_t",
    "bc_uv_b",
    "bc_uv_t",
    "bc_p_t",
)
_MOST_TASKS = 10_000_000  # no machine has more
_LEAST_SHARED = 64
_OF_A_DOMAIN = 7  # values of a domain in domain_layouts, and fewer in older releases
_COUPLED = ("bc_pt_b", "bc_q_b", "bc_uv_b", "bc_uv_t")
_WRITE_BINARY = re.compile(r"\bwrite_binary\s*=\s*\.?([tf])", re.IGNORECASE)
_FILES = {
    "static": "PIDS_STATIC",
    "dynamic": "PIDS_DYNAMIC",
    "uv": "PIDS_UV",
    "vmeas": "PIDS_VM",
    "wtmpar": "PIDS_WTM",
    "topo": "TOPOGRAPHY_DATA",
    "lsf": "LSF_DATA",
    "nudge": "NUDGING_DATA",
    "stg": "STG_PROFILES",
    "nav": "NAVIGATION_DATA",
}
"""What PALM's input files are called, by the ending with which they lie beside `<run>_p3d`."""


class UnknownError(Exception):
    """Nobody knows a setting before the run."""


class Settings:
    """Settings as attributes, strings without blanks at their end, arrays as lists.

    A setting that is not known raises UnknownError. `asked` are those that were asked for, and groups. `tasks` is the
    number of MPI tasks; None where nobody says it.
    """

    def __init__(self, read: Read, name: str, tasks: int | None, beside: Beside) -> None:
        self._read = read
        self._name = name
        self._tasks = tasks
        self._beside = beside
        self._envpar = self._text("ENVPAR") if self.is_in_its_place else None
        self._unknown: frozenset[str] = frozenset()
        self.asked: dict[str, None] = {}
        self._unknown = frozenset(self._not_known())

    def __getattr__(self, name: str) -> Any:
        if name not in self._read.values:
            raise AttributeError(name)
        return self.of(name)

    def of(self, name: str) -> Any:
        """A setting by its name, or by "group.name" where several groups have one of that name."""
        self.asked[name] = None
        values = self._read.values[name]
        if name in self._unknown or any(value is None for value in values):
            raise UnknownError(name)
        given = [value.rstrip() if isinstance(value, str) else value for value in values]
        return given if len(given) > 1 else given[0]

    def has(self, group: str) -> bool:
        """Whether a module runs: its group is there, and nothing switches it off."""
        if group not in self._read.groups:
            return False
        self.asked[f"&{group}"] = None
        switch = f"{group}.switch_off_module"  # some cannot be switched off
        return switch not in self._read.values or not self.of(switch)

    def is_given(self, name: str) -> bool:
        """Whether somebody wrote a value."""
        return self._read.span(name) is not None

    def until(self, name: str, end: Any) -> list[Any]:
        """The values of an array before the first one that means its end."""
        values: Sequence[Any] = self.of(name)
        return list(values[: values.index(end)] if end in values else values)

    @property
    def is_open(self) -> bool:
        """Whether the boundaries are not both cyclic."""
        return bool(self.bc_lr != "cyclic" or self.bc_ns != "cyclic")

    @property
    def has_surface(self) -> bool:
        """Whether a land or an urban surface is computed."""
        return self.has(LAND) or self.has(URBAN)

    def interval(self, name: str) -> float:
        """An interval of output, which is that of all output where it is not set itself."""
        own = self.of(name)
        return float(self.dt_data_output if own == UNSET else own)

    @property
    def averaging_of_profiles(self) -> float:
        """Over which time profiles are averaged."""
        own = self.averaging_interval_pr
        return float(self.averaging_interval if own == UNSET else own)

    @property
    def sampling_of_profiles(self) -> float:
        """How often a profile enters its average."""
        own = self.dt_averaging_input_pr
        return float(self.dt_averaging_input if own == UNSET else own)

    @property
    def tasks(self) -> int:
        """The number of MPI tasks of this domain."""
        if self._tasks is None or self._tasks > _MOST_TASKS or self.is_one_of_several:
            raise UnknownError("tasks")
        self.asked[TASKS] = None
        return self._tasks

    @property
    def is_small(self) -> bool:
        """Whether the domain is too small for restart files through shared memory (`check_parameters.f90`)."""
        return bool(self.nx < _LEAST_SHARED or self.ny < _LEAST_SHARED)

    @property
    def is_one_of_several(self) -> bool:
        """Whether other domains take a part of the tasks."""
        return _OF_DOMAIN.search(self._name) is not None or "nesting_parameters" in self._read.groups

    @property
    def names_children(self) -> bool:
        """Whether `domain_layouts` names more than the first domain."""
        self.asked["&nesting_parameters"] = None
        items = self._read.groups["nesting_parameters"].items
        layouts = [item for item in items if item.base == "domain_layouts"]
        return any(len(item.values) > _OF_A_DOMAIN or "(1)" not in item.name for item in layouts)

    @property
    def is_restart(self) -> bool:
        """Whether the run goes on from a restart file, which holds most settings."""
        values = self._read.values["initializing_actions"]
        return isinstance(values[0], str) and values[0].rstrip() == "read_restart_data"

    @property
    def is_in_its_place(self) -> bool:
        """Whether the namelist lies where PALM runs, and with it all other files."""
        return self._name == "PARIN"

    @property
    def writes_restart(self) -> bool:
        """Whether palmrun keeps restart files, which it says in ENVPAR."""
        found = None if self._envpar is None else _WRITE_BINARY.search(self._envpar)
        if found is None:
            raise UnknownError("write_binary")
        self.asked["write_binary"] = None
        return found[1].lower() == "t"

    @property
    def may_write_restart(self) -> bool:
        """Whether restart files may be written."""
        try:
            return self.writes_restart
        except UnknownError:
            return True

    def may_have(self, ending: str) -> bool:
        """Whether an input file may be there."""
        try:
            return self.file(ending)
        except UnknownError:
            return True

    def file(self, ending: str) -> bool:
        """Whether an input file is there, by the ending that it has beside `<run>_p3d`."""
        if self.is_in_its_place:
            return self._there_is(_FILES[ending])
        run = re.sub(r"_p3dr?$", "", self._name, flags=re.IGNORECASE)
        if run != self._name and self._there_is(f"{run}_{ending}"):
            return True
        raise UnknownError(ending)  # it may come from elsewhere

    def _there_is(self, name: str) -> bool:
        try:
            return self._beside(name) is not None
        except InputError:  # it is there, and is no text
            return True

    def _text(self, name: str) -> str | None:
        try:
            source = self._beside(name)
        except InputError:
            return None
        return None if source is None else source.text

    def _not_known(self) -> set[str]:
        found = set()
        if _OF_DOMAIN.search(self._name):
            found |= {"initializing_actions", *_OF_PARENT}
        is_off = self._read.values[f"{OFFLINE}.switch_off_module"][0]
        if OFFLINE in self._read.groups and is_off is not True:
            found |= {*_OF_PARENT}
        if self.is_given("dt_coupling"):
            found |= {*_COUPLED, "end_time"}
        if self.is_restart:
            found |= {name for name in self._read.values if not self.is_given(name)}
            found |= {name for name in self._of_initialization() if name != "initializing_actions"}
        return found

    def _of_initialization(self) -> set[str]:
        from nmlgen.models.palm.registry import palm_registry

        registry = palm_registry()
        of_run = set(registry.variables("runtime_parameters"))
        return set(registry.variables("initialization_parameters")) - of_run
