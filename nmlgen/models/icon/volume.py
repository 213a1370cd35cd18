"""How many bytes an experiment writes: an output step, a file, a run, a checkpoint; and how sure that is.

Sources: the registrations of variables in ICON 2024.10 (see `variables`); the layout of NetCDF classic files; files
measured with Darshan for `nh_dcmip_tc_52` on R2B5 and R2B6 (F. Ott, IO-Verhalten und -Effizienz im Klima- und
Wettermodell ICON, 2025), which fix the header's size and to which the rest agrees.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

from nmlgen.disk import read_bytes
from nmlgen.errors import InputError
from nmlgen.experiment.component import Component
from nmlgen.experiment.group import Group, as_list, integer
from nmlgen.experiment.memory import remembered
from nmlgen.experiment.setting import Setting, UndecidedError
from nmlgen.models.icon.clock import Clock, clock
from nmlgen.models.icon.grids import grid_at_hand
from nmlgen.models.icon.output_fate import fate
from nmlgen.models.icon.ranks import OutputFile, RestartMode, domains, output_files, placement, restart_mode, split
from nmlgen.models.icon.schedule import Duty, all_dates, duties, output_steps
from nmlgen.models.icon.variables import Catalogue, Circumstances, OutputVariable, catalogue_for
from nmlgen.pattern import pattern
from nmlgen.values import evolve, field, frozen

_GRIB2, _NETCDF4 = 2, 5
_LOCATIONS = ("cell", "edge", "vertex")
_LATITUDES = 180  # of the ocean's zonal sums: one degree each (`mo_ocean_state.f90:1769`)
_CORNERS = {"cell": 3, "edge": 4, "vertex": 6}  # bounds of a point in the NetCDF file
_TIME = 8
_HEADER, _HEADER_OF_A_VARIABLE = 1165, 365  # 21240 bytes measured for 55 variables, 4456 for 9
_GRIB_SECTIONS, _GRIB_BYTES = 157, 2  # of one level: its sections (measured), and 16 bits a value
_RESTART_HEADER, _RESTART_HEADER_OF_A_VARIABLE = 32_900, 909  # 189162 bytes measured for 172 variables, 41988 for 10
_MULTIFILE_ATTRIBUTES = 65_573  # attributes.nc: the namelists as text, among them defaults; measured for NWP physics
_LEAST_ATTRIBUTES, _MOST_ATTRIBUTES = 15_000, 120_000  # 17153 bytes measured for waves, 115812 for AES physics
_MULTIFILE_HEADER_OF_A_VARIABLE = 734  # in each file: 126226 bytes for 172 variables
_MULTIFILE_INDEX = 4  # the global index of a point
_LARGEST = 2**31 - 1  # of ICON's integers
_OWN_TO_A_POINT = ("model_namelist_filename", "output_filename")  # what each point of a sweep has for itself
_MOST_VARIABLES = 100  # no atmosphere keeps so many three-dimensional variables for the next run
_EDGES_OF_A_CELL, _DOUBLE = 1.5, 8
_MODEL_ONLY = {"ocean": 2, "sea ice": 2, "HAMOCC": 2, "waves": 98}  # model_type of master_model_nml
_INTERPOLATED = {"pl": "P", "hl": "Z", "il": "I"}
_SPECIAL = ("u", "v", "gh", "temp", "pres")  # interpolated although not registered so
_GRID = pattern(r"R0*(\d{1,4})B0*(\d{1,2})(?!\d)", re.IGNORECASE)
_TORUS = pattern(r"torus_triangles_0*(\d{1,5})x0*(\d{1,5})_", re.IGNORECASE)
"""The names of ICON's grid generator: so many rows of so many rhombs, two triangles each."""
_MODEL_LEVEL = pattern(r"(\d{1,9}|nlev(?:\+1)?(?:-\d{1,9})?)(?:\s*\.\.\.\s*(\d{1,9}|nlev(?:\+1)?(?:-\d{1,9})?))?")


@frozen
class Volume:
    """Bytes: at least `low`, at most `high`, most likely `best`; `reasons` say why it is not exact."""

    low: int
    best: int
    high: int
    reasons: tuple[str, ...] = ()

    @classmethod
    def exactly(cls, count: int) -> Volume:
        """A volume that is known to the byte."""
        return cls(count, count, count)

    @property
    def is_exact(self) -> bool:
        """Whether it is known to the byte."""
        return self.low == self.high

    @property
    def sureness(self) -> str:
        """How sure the best guess is: "exact", or by how much it may be off."""
        if self.is_exact:
            return "exact"
        if not self.best:
            return "uncertain"
        below, above = (100 * abs(edge - self.best) / self.best for edge in (self.low, self.high))
        if max(below, above) < 0.005:
            return "within 0.01 %"
        return f"within {max(below, above):.2g} %" if max(below, above) < 10 else f"-{below:.0f} % to +{above:.0f} %"

    def __add__(self, other: Volume) -> Volume:
        reasons = tuple(dict.fromkeys((*self.reasons, *other.reasons)))
        return Volume(self.low + other.low, self.best + other.best, self.high + other.high, reasons)

    @classmethod
    def sum(cls, volumes: Iterable[Volume]) -> Volume:
        """All of them together; of many, each with reasons of its own, much faster than one after the other."""
        low = best = high = 0
        reasons: dict[str, None] = {}
        for volume in volumes:
            low, best, high = low + volume.low, best + volume.best, high + volume.high
            reasons |= dict.fromkeys(volume.reasons)
        return cls(low, best, high, tuple(reasons))

    def times(self, count: int) -> Volume:
        """So many of it."""
        return Volume(self.low * count, self.best * count, self.high * count, self.reasons)

    def widened(self, low: float, high: float, reason: str) -> Volume:
        """The same with its bounds moved by these factors."""
        reasons = tuple(dict.fromkeys((*self.reasons, reason)))
        return Volume(int(self.low * low), self.best, -int(-self.high * high // 1), reasons)


_NOTHING = Volume.exactly(0)


@frozen
class StreamVolume:
    """What one level type of a stream writes for one domain.

    `step` is one output step; `constant` what every file holds besides: variables that do not change, coordinates,
    the header. `records` and `files` are those of the whole experiment, `largest` the most records of one file.
    """

    stream: Group
    level_type: str
    domain: int
    variables: int
    step: Volume
    constant: Volume
    records: int
    files: int
    largest: int

    @property
    def file(self) -> Volume:
        """The largest file."""
        return self.step.times(self.largest) + self.constant if self.files else _NOTHING

    @property
    def run(self) -> Volume:
        """The whole experiment."""
        return self.step.times(self.records) + self.constant.times(self.files)


def stream_volumes(component: Component) -> tuple[StreamVolume, ...]:
    """The volume of every stream, level type and domain, in ICON's order.

    Raises UndecidedError for settings that nobody can know and for a grid whose name does not tell its size.
    """
    time = clock(component)
    counted: dict[tuple[int, str, int], list[tuple[int, int, int]]] = {}
    for file, (records, files, largest) in _left(component, time):
        key = (id(file.stream), file.level_type, file.domain)
        counted.setdefault(key, []).append((records, files, largest))
    first_partitions = (file for file in output_files(component) if file.partition == 1)
    return tuple(
        _stream_volume(component, file.stream, file.level_type, file.domain, counted) for file in first_partitions
    )


def _stream_volume(
    component: Component,
    stream: Group,
    level_type: str,
    domain: int,
    counted: Mapping[tuple[int, str, int], list[tuple[int, int, int]]],
) -> StreamVolume:
    sizes = _sizes(component, stream, level_type, domain)
    parts = counted[id(stream), level_type, domain]
    return StreamVolume(
        stream,
        level_type,
        domain,
        sizes.variables,
        sizes.step,
        sizes.constant,
        records=sum(records for records, _, _ in parts),
        files=sum(files for _, files, _ in parts),
        largest=max(largest for _, _, largest in parts),
    )


_MOST_IN_A_CHAIN = 400_000
"""A bound on work: output times that all models of an experiment together go through one by one, hourly output of 45
years. A job and a file count as some more."""
_OF_A_JOB = 8
_OF_A_FILE = 4


def _left(component: Component, time: Clock) -> Iterator[tuple[OutputFile, tuple[int, int, int]]]:
    """Records, files and the most records of a file that are on disk in the end, of each sequence of files."""
    if time.legs <= 1 or component.kind not in ("atmosphere", "ocean", "waves"):
        for duty in (duty for row in duties(component, _as_one_job(time)) for duty in row):
            yield duty.file, (duty.records, duty.files, duty.largest)
        return
    files = {id(duty.file): duty.files for row in duties(component, _as_one_job(time)) for duty in row}
    count, most = 0, _MOST_IN_A_CHAIN // len(component.experiment.components)
    for file, _ in placement(component):
        dates = all_dates(component, file, time)
        count += len(dates) + _OF_A_FILE * files[id(file)] + _OF_A_JOB * time.legs
        if count > most:
            setting = component["master_time_control_nml", "restartTimeIntval"]
            raise UndecidedError(setting, "the chain has more jobs and output times than are gone through")
        held = [len(records) for records in fate(component, file, time).files.values()]
        yield file, (sum(held), len(held), max(held, default=0))


def _as_one_job(time: Clock) -> Clock:
    return evolve(time, restart=None, steps_of_a_leg=None)


class _Sizes(NamedTuple):
    """How many variables a stream writes on a level type, one output step, and what every file holds besides."""

    variables: int
    step: Volume
    constant: Volume


@remembered
def _sizes(component: Component, stream: Group, level_type: str, domain: int) -> _Sizes:
    settings = tuple(
        (key, setting.certainty, repr(setting.origin.value))
        for key, setting in _shared_settings(stream)
        if not key.startswith("stream_partitions_") and key not in _TIMES
    )
    return _recorded(_Recorded(_shared(component), _words(component), settings, level_type, domain, component, stream))


def step_volume(component: Component, stream: Group, level_type: str, domain: int = 1) -> Volume:
    """Bytes of one output step of a stream's level type. Errors as `stream_volumes`."""
    return _sizes(component, stream, level_type, domain).step


def rank_volumes(component: Component, rows: Iterable[Iterable[Duty]]) -> tuple[Volume, ...]:
    """What each I/O rank writes of its duties. Errors as `stream_volumes`."""
    known: dict[tuple[int, str, int], _Sizes] = {}

    def volume(duty: Duty) -> Volume:
        file = duty.file
        key = (id(file.stream), file.level_type, file.domain)
        if key not in known:
            known[key] = _sizes(component, file.stream, file.level_type, file.domain)
        return known[key].step.times(duty.records) + known[key].constant.times(duty.files)

    return tuple(Volume.sum(volume(duty) for duty in row) for row in rows)


@remembered
def rank_bytes(component: Component) -> tuple[float, ...]:
    """What each I/O rank writes in the whole experiment, what every file holds besides left out; without I/O ranks the
    first work rank writes all. Errors as `stream_volumes`, and PlacementError where ICON refuses the placement."""
    time, written = clock(component), [0.0] * max(1, split(component).io)
    sizes: dict[tuple[int, str, int], float] = {}
    for file, rank in placement(component):
        key = (id(file.stream), file.level_type, file.domain)
        if key not in sizes:
            points(component, file.domain)
            steps = output_steps(component, file.stream, time, file.level_type, file.domain)
            step = step_volume(component, file.stream, file.level_type, file.domain)
            sizes[key] = step.best * steps / file.partitions
        written[rank] += sizes[key]
    return tuple(written)


def points(component: Component, domain: int = 1) -> dict[str, int]:
    """Cells, edges and vertices of a domain: as many cells as the experiment says, edges and vertices about as many as
    they have without a boundary; else of a global grid of 20 n^2 4^k cells, from its name RnBk; else what the header of
    the grid file says, where it is at hand.

    Raises UndecidedError where none of them is known. Limited areas and nests bear such names, but are smaller.
    """
    cells = said_cells(component, domain) or named_cells(component, domain)
    if cells is not None:
        return _without_boundary(cells)
    file = grid_at_hand(component, domain)
    if file is None or not file.cells:
        reason = "the size of the grid is not known: grid.cells says it, or a name such as R2B5 in grid.name"
        raise UndecidedError(component["grid_nml", "dynamics_grid_filename"], reason)
    known = {kind: length for kind in ("edge", "vertex") if (length := file.dimensions.get(kind))}
    return {**_without_boundary(file.cells), **known}


def said_cells(component: Component, domain: int) -> int | None:
    """The number of cells of a domain that the experiment says; None where it does not."""
    given = [] if component.model.cells is None else as_list(component.model.cells.value)
    return int(given[domain - 1]) if domain <= len(given) else None


def named_cells(component: Component, domain: int) -> int | None:
    """The number of cells of a global grid or of a torus by its name; None for a limited area, a nest, and without such
    a name."""
    setting = component["grid_nml", "dynamics_grid_filename"]
    if domain > 1 or component["grid_nml", "l_limited_area"].value:
        return None
    named = component.grid_name
    names = ([] if named is None else [str(named.value)]) + [str(as_list(setting.value)[0])]
    torus = _TORUS.search(names[-1])
    if named is None and torus is not None:
        return 2 * int(torus[1]) * int(torus[2]) or None
    found = next((match for name in names if (match := _GRID.search(name))), None)
    return None if found is None or int(found[1]) == 0 else 20 * int(found[1]) ** 2 * 4 ** int(found[2])


def other_grid(component: Component) -> str | None:
    """The global grid that the first domain's file is called by, such as R2B5, where the experiment says that its grid
    is another one; None where its name says nothing, or the same. A limited area may be called by another."""
    named, first = component.grid_name, as_list(component["grid_nml", "dynamics_grid_filename"].value)[0]
    said = None if named is None else _GRID.search(str(named.value))
    if said is None or component["grid_nml", "l_limited_area"].value:
        return None
    found = [(int(match[1]), int(match[2])) for match in _GRID.finditer(str(first))]
    wanted = int(said[1]), int(said[2])
    return f"R{found[0][0]}B{found[0][1]}" if found and wanted not in found else None


def _without_boundary(cells: int) -> dict[str, int]:
    """The points of a grid of triangles that covers a sphere."""
    return {"cell": cells, "edge": cells * 3 // 2, "vertex": cells // 2 + 2}


@remembered
def read_dictionary(component: Component) -> dict[str, str] | None:
    """The names that `output_nml_dict` translates, in lower case; empty without one, None if it cannot be read."""
    swapped = component["io_nml", "linvert_dict"].value is True
    if component.model.dictionary is not None:
        return _translations(component.model.dictionary, swapped)
    name = str(component["io_nml", "output_nml_dict"].value).strip()
    if not name:
        return {}
    sources = [str(item.source.value) for item in component.experiment.inputs if item.target == name] or [name]
    base = (
        Path(str(component.experiment.base_directory.value))
        if component.experiment.base_directory is not None
        else Path()
    )
    try:
        text = read_bytes(base / sources[0]).decode("utf-8", "replace")
    except (OSError, ValueError, InputError):
        return None
    return _translations(text, swapped)


@remembered
def _words(component: Component) -> frozenset[tuple[str, str]] | None:
    """What the dictionary of output says: that of each point of a sweep may be another file, or another time's."""
    dictionary = read_dictionary(component)
    return None if dictionary is None else frozenset(dictionary.items())


@lru_cache(maxsize=8)
def _translations(text: str, swapped: bool) -> dict[str, str]:
    """The pairs of a dictionary; where it is `swapped`, ICON's own names stand first."""
    pairs = [line.split("#")[0].replace("'", "").replace('"', "").split() for line in text.splitlines()]
    return {pair[swapped].lower(): pair[not swapped].lower() for pair in pairs if len(pair) >= 2}


class _Member(NamedTuple):
    """A variable of a group, whether it exists, and how many variables it stands for; None for what is not known."""

    variable: OutputVariable
    is_there: bool | None
    copies: int | None


@remembered
def _circumstances_in(component: Component, domain: int) -> Circumstances:
    return Circumstances(component, domain, _requested(component))


@remembered
def _members(component: Component, domain: int, name: str) -> tuple[_Member, ...]:
    """The variables of a group that may exist."""
    circumstances = _circumstances_in(component, domain)
    registered = (one for one in catalogue_for(component.registry).group(name) if _is_registered(one, circumstances))
    members = (_Member(one, circumstances.exists(one), circumstances.copies(one)) for one in registered)
    return tuple(member for member in members if member.is_there is not False)


def _is_registered(variable: OutputVariable, here: Circumstances) -> bool:
    return _is_part_of(variable.component, here.number("master_model_nml", "model_type"))


class _Contents:
    """What a file of one stream, level type and domain holds."""

    def __init__(self, component: Component, stream: Group, level_type: str, domain: int) -> None:
        self._component, self._stream, self._level_type = component, stream, level_type
        self._catalogue = catalogue_for(component.registry)
        self._domain = domain
        self._circumstances = _circumstances_in(component, domain)
        self._filetype = self._of_stream("filetype")
        self._is_regular = self._of_stream("remap") == 1
        self._points = points(component, domain)
        self._width = 8 if component["io_nml", "lnetcdf_flt64_output"].value else 4
        self._dictionary = read_dictionary(component)
        self._selections: dict[int, int | None] = {}
        self._entries = self._expanded()
        self.variables = sum(count for _, _, count, _ in self._entries)

    def sizes(self) -> _Sizes:
        return _Sizes(self.variables, self.step(), self.constant())

    def step(self) -> Volume:
        """One output step: the variables that change, and the time."""
        total = Volume.exactly(0 if self._filetype == _GRIB2 else _TIME)
        changing = Volume.sum(volume for volume, is_constant, _, _ in self._entries if not is_constant)
        return self._qualified(total + changing)

    def constant(self) -> Volume:
        """What each file holds once."""
        constant = Volume.sum(volume for volume, is_constant, _, _ in self._entries if is_constant)
        total = self._qualified(constant + self._coordinates())
        if self._filetype == _GRIB2:
            return total
        header = _HEADER + _HEADER_OF_A_VARIABLE * self.variables
        return total + Volume(header * 9 // 10, header, header * 11 // 10, ("the header's size is estimated",))

    def _of_stream(self, name: str) -> Any:
        return self._component.stream_setting(self._stream, name).value

    def _qualified(self, volume: Volume) -> Volume:
        """What is not known to the byte, because nobody has measured it."""
        release = self._component.registry.release
        if self._catalogue.release != release:
            volume = volume.widened(1, 1, f"the variables are those of ICON {self._catalogue.release}, not {release}")
        if self._filetype == _GRIB2:
            volume = self._qualified_grib(volume)
        if self._filetype == _NETCDF4:
            volume = volume.widened(1, 1.01, "NetCDF-4 adds the index of its chunks")
        if self._is_regular:
            volume = volume.widened(0.98, 1.02, "the regular grid is estimated from reg_lon_def and reg_lat_def")
        if self._level_type != "ml":
            levels = f"{self._level_type[0]}_levels"
            volume = volume.widened(0.98, 1.02, f"interpolated output is estimated from the number of {levels}")
        return volume

    def _qualified_grib(self, volume: Volume) -> Volume:
        """Constant fields shrink to their sections; `lgribout_24bit` packs some variables in 24 bits, CCSDS all of them
        closer."""
        if self._component["gribout_nml", "lgribout_compress_ccsds"].value is True:
            volume = volume.widened(0.25, 1, "CCSDS packs smooth fields closer than is estimated here")
        if self._component["gribout_nml", "lgribout_24bit"].value is False:
            return volume.widened(0.5, 1.02, "GRIB2 is taken as 16 bits a value, but constant fields take none")
        return volume.widened(0.5, 1.5, "GRIB2 is taken as 16 bits a value, but lgribout_24bit may make more")

    def _expanded(self) -> list[tuple[Volume, bool, int, str]]:
        """For each variable its volume, whether it is constant, how many it stands for, and where it lies."""
        names = [str(name).strip().lower() for name in as_list(self._of_stream(f"{self._level_type}_varlist"))]
        removed = {self._translated(name[1:]) for name in names if name.startswith("-")}
        found: dict[str, tuple[Volume, bool, int, str]] = {}
        for name in dict.fromkeys(names):
            if not name or name.startswith("-"):
                continue
            kind, colon, rest = name.partition(":")
            if colon and kind in ("group", "tiles"):
                for member in self._group(rest + ("_t" if kind == "tiles" else "")):
                    if member.variable.name not in found and member.variable.name not in removed:
                        self._add_member(found, member)
            else:
                found[self._translated(name)] = self._named(name)
        return [entry for name, entry in found.items() if name not in removed]

    def _group(self, name: str) -> Iterable[_Member]:
        """The members; none on interpolated levels, where ICON expands groups before such variables exist."""
        return _members(self._component, self._domain, name) if self._level_type == "ml" else ()

    def _add_member(self, found: dict[str, tuple[Volume, bool, int, str]], member: _Member) -> None:
        variable, exists, copies = member
        if not self._is_on_grid(variable):
            return
        size = self._size(variable)
        if copies is None or exists is None:
            reason = f"whether {variable.name} belongs to the group is not known"
            most = size.times(copies or 1)
            found[variable.name] = Volume(0, 0, most.high, (reason,)), variable.is_constant, 0, variable.location
        elif copies:
            found[variable.name] = size.times(copies), variable.is_constant, copies, variable.location

    def _named(self, name: str) -> tuple[Volume, bool, int, str]:
        candidates = [item for item in self._catalogue.find(self._translated(name)) if self._belongs(item)]
        likely = [item for item in candidates if self._circumstances.exists(item) is not False] or candidates
        if not likely:
            return self._unknown(name), False, 1, "cell"
        sizes = [self._size(item) for item in likely]
        size = min(sizes, key=lambda item: item.high - item.low) if len(set(sizes)) == 1 else self._either(name, sizes)
        return size, likely[0].is_constant, 1, likely[0].location

    def _either(self, name: str, sizes: list[Volume]) -> Volume:
        reason = f"which {name} is meant is not known"
        low, high = min(size.low for size in sizes), max(size.high for size in sizes)
        return Volume(low, sizes[0].best, high, (reason,))

    def _unknown(self, name: str) -> Volume:
        """From one level on cells to all half levels on edges; most likely all levels on cells."""
        levels, cells = self._levels_of_stream() or self._model_levels(), self._cells()
        reason = f"{name} is not a variable of ICON {self._catalogue.release} that nmlgen knows"
        if self._dictionary is None:
            reason = f"{name} may be translated by output_nml_dict, which cannot be read"
        high = self._bytes(levels + 1, cells if self._is_regular else self._points["edge"], "real")
        return Volume(self._bytes(1, cells, "real"), self._bytes(levels, cells, "real"), high, (reason,))

    def _translated(self, name: str) -> str:
        return (self._dictionary or {}).get(name, name)

    def _belongs(self, variable: OutputVariable) -> bool:
        """Whether the model that runs registers it at all."""
        return self._is_on_grid(variable) and _is_registered(variable, self._circumstances)

    def _is_on_grid(self, variable: OutputVariable) -> bool:
        return not self._is_regular or variable.location not in ("edge", "vertex")

    def _size(self, variable: OutputVariable) -> Volume:
        levels, place = self._levels(variable), self._points_of(variable.location)
        if levels is not None and place is not None:
            return Volume.exactly(self._bytes(levels, place, variable.type))
        most = self._model_levels() + 1
        place = place or self._points["cell"]
        low, high = (self._bytes(levels or count, place, variable.type) for count in (1, most))
        return Volume(low, low, high, (f"how many values {variable.name} has is not known",))

    def _points_of(self, location: str) -> int | None:
        if location == "cell":
            return self._cells()
        places = {**self._points, "single": 1, "zonal": _LATITUDES, "lonlat_regular": self._points["cell"]}
        return places.get(location)

    def _cells(self) -> int:
        """The points of a level on the stream's grid."""
        return prod(self._axes()) if self._is_regular else self._points["cell"]

    def _model_levels(self) -> int:
        """num_lev; 1 where it is not known."""
        return self._circumstances.number("run_nml", "num_lev") or 1

    def _axes(self) -> tuple[int, int]:
        """How many longitudes and latitudes the regular grid has."""
        longitudes, latitudes = (
            self._component.stream_setting(self._stream, name) for name in ("reg_lon_def", "reg_lat_def")
        )
        sides = _axis(longitudes, 360), _axis(latitudes, None)
        if sides[0] * sides[1] > _LARGEST:
            raise UndecidedError(latitudes, "the regular grid has more points than ICON can count")
        return sides

    def _levels(self, variable: OutputVariable) -> int | None:
        own = self._circumstances.levels(variable)
        if self._level_type != "ml":
            letter = _INTERPOLATED[self._level_type]
            interpolated = letter in variable.interpolation or variable.name in _SPECIAL
            return self._levels_of_stream() if interpolated else own
        if own is None or own == 1 or not variable.axis.startswith("height"):
            return own
        if own not in self._selections:  # few numbers of levels, of which hundreds of variables have one
            self._selections[own] = self._selected(own)
        return self._selections[own]

    def _levels_of_stream(self) -> int | None:
        if self._level_type == "ml":
            return None
        return len(as_list(self._of_stream(f"{self._level_type[0]}_levels")))

    def _selected(self, levels: int) -> int | None:
        """How many of so many levels `m_levels` selects; None if it cannot be read."""
        text = str(self._of_stream("m_levels")).replace("(", "").replace(")", "").strip()
        if not text:
            return levels
        chosen: list[tuple[int, int]] = []
        for part in text.split(","):
            match = _MODEL_LEVEL.fullmatch(part.strip())
            if match is None:
                return None
            first, last = self._level_number(match[1]), self._level_number(match[2] or match[1])
            if max(first, last) > levels:  # the variable is written with all its levels
                return levels
            chosen.append((first, last))
        count, highest = 0, 0
        for first, last in sorted(chosen):
            count += max(0, last - max(first - 1, highest))
            highest = max(highest, last)
        return count

    def _level_number(self, text: str) -> int:
        if text.isdigit():
            return int(text)
        number = self._model_levels()
        plus, minus = re.search(r"\+(\d+)", text), re.search(r"-(\d+)", text)
        return number + (int(plus[1]) if plus else 0) - (int(minus[1]) if minus else 0)

    def _bytes(self, levels: int, count: int, kind: str) -> int:
        if self._filetype == _GRIB2:
            return levels * (count * _GRIB_BYTES + _GRIB_SECTIONS)
        return levels * count * (4 if kind == "integer" else self._width)

    def _coordinates(self) -> Volume:
        """Longitudes, latitudes and their bounds for every location used; in GRIB2 as fields of their own."""
        if self._is_regular:
            return Volume.exactly(0 if self._filetype == _GRIB2 else 8 * sum(self._axes()))
        if not self._of_stream("output_grid"):
            return _NOTHING
        if self._filetype == _GRIB2:
            return Volume.exactly(sum(2 * self._bytes(1, self._points[place], "real") for place in _LOCATIONS))
        used = {place for volume, _, count, place in self._entries if count}
        return Volume.exactly(
            sum(8 * (2 + 2 * _CORNERS[place]) * self._points[place] for place in _LOCATIONS if place in used)
        )


def _axis(definition: Setting, period: int | None) -> int:
    """How many values start, step or number, and stop make (`mo_lonlat_grid.f90:115-137`). Raises UndecidedError for
    more than ICON can count."""
    numbers = [float(number) for number in as_list(definition.value)]
    if len(numbers) < 3 or abs(numbers[1]) < 1e-6:
        return 1
    start, step, stop = numbers[:3]
    count = step if step > 5 else abs(stop - start) / abs(step) + 1e-9
    if not count < _LARGEST:
        raise UndecidedError(definition, f"{definition.name} makes more values than ICON can count")
    closes = period is not None and step <= 5 and abs(abs(stop - start) - period) < 1e-9
    return max(1, int(count) + (step <= 5) - closes)


@remembered
def _requested(component: Component) -> frozenset[str]:
    return frozenset(
        str(name).strip().lower()
        for stream in component.streams
        for level_type in ("ml", "pl", "hl", "il")
        for name in as_list(component.stream_setting(stream, f"{level_type}_varlist").value)
    )


def unknown_names(component: Component, stream: Group, level_type: str) -> tuple[str, ...]:
    """The entries of a varlist that the release does not know: variables, `group:` and `tiles:`.

    ICON aborts at an unknown variable and takes an unknown group as empty. A dictionary's names are translated.
    """
    catalogue = catalogue_for(component.registry)
    dictionary = read_dictionary(component) or {}
    return tuple(
        str(name)
        for name in as_list(component.stream_setting(stream, f"{level_type}_varlist").value)
        if str(name).strip() and not _is_known(catalogue, dictionary, str(name).strip().lower().removeprefix("-"))
    )


def _is_known(catalogue: Catalogue, dictionary: Mapping[str, str], name: str) -> bool:
    kind, colon, rest = name.partition(":")
    if colon and kind in ("group", "tiles"):
        return catalogue.has_group(rest + ("_t" if kind == "tiles" else ""))
    return bool(catalogue.find(dictionary.get(name, name)))


def most_checkpoint_bytes(component: Component) -> float:
    """More bytes than a checkpoint of the atmosphere has, whatever its variables. Errors as `stream_volumes`."""
    levels = max(as_list(component["run_nml", "num_lev"].value)) + 1
    cells = sum(points(component, domain)["cell"] for domain in range(1, domains(component) + 1))
    return float(_MOST_VARIABLES * _EDGES_OF_A_CELL * cells * levels * _DOUBLE)


@remembered
def checkpoint_volume(component: Component) -> Volume:
    """Bytes of one checkpoint, all its files together. Errors as `stream_volumes`.

    Every variable that is registered for restart counts once, in 8 bytes a value whatever output_nml says.
    """
    total, variables = _NOTHING, 0
    for domain in range(1, domains(component) + 1):
        for volume, count in _checkpoint_of_domain(component, domain):
            total, variables = total + volume, variables + count
    if restart_mode(component) in (RestartMode.JOINT, RestartMode.DEDICATED):
        best, reason = _multifile_extra(component, variables), "attributes.nc is as long as the namelists that it holds"
        least, most = (best - _MULTIFILE_ATTRIBUTES + length for length in (_LEAST_ATTRIBUTES, _MOST_ATTRIBUTES))
        total += Volume(least, best, most, (reason,))
    else:
        total += Volume.exactly(_RESTART_HEADER * domains(component) + _RESTART_HEADER_OF_A_VARIABLE * variables)
    release = catalogue_for(component.registry).release
    return total.widened(0.995, 1.005, f"the set of variables is that of ICON {release}, without the optional ones")


def checkpoint_files(component: Component) -> int:
    """How many files one checkpoint makes, attributes.nc of the multifile modes among them."""
    return checkpoint_parts(component) + (restart_mode(component) in (RestartMode.JOINT, RestartMode.DEDICATED))


def checkpoint_parts(component: Component) -> int:
    """How many of them hold fields: one of each writer and domain, or more."""
    mode, count = restart_mode(component), domains(component)
    if mode is RestartMode.JOINT:
        writers = integer(component["parallel_nml", "num_restart_procs"])
        return count * (writers if writers > 0 else split(component).work)
    if mode is RestartMode.DEDICATED:
        return count * split(component).restart * max(1, integer(component["io_nml", "nrestart_streams"]))
    return count


def _multifile_extra(component: Component, variables: int) -> int:
    places = sum(sum(points(component, domain).values()) for domain in range(1, domains(component) + 1))
    headers = _MULTIFILE_HEADER_OF_A_VARIABLE * variables * checkpoint_parts(component) // domains(component)
    return _MULTIFILE_INDEX * places + headers + _MULTIFILE_ATTRIBUTES


@frozen
class _Shared:
    """What the existence and the size of variables depend on; the points of a sweep mostly share it."""

    release: str
    grid_name: str | None
    points: tuple[tuple[int, ...] | None, ...]
    requested: frozenset[str]
    values: tuple[tuple[object, ...], ...]

    def __hash__(self) -> int:
        """Worked out once: each stream, level type and domain is looked up by it."""
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((self.release, self.grid_name, self.points, self.requested, self.values))


def _shared_settings(group: Group) -> Iterator[tuple[str, Setting]]:
    """What is written in a group but for what is each point's own."""
    for key in group.settings:
        if key not in _OWN_TO_A_POINT and group.settings[key].history:
            yield key, group.settings[key]


@remembered
def _shared(component: Component) -> _Shared:
    apart = ("parallel_nml", "output_nml", "master_time_control_nml")
    values = tuple(
        (group.name, group.is_open, key, setting.certainty, repr(setting.origin.value))
        for group in component.all_groups()
        if group.name.lower() not in apart
        for key, setting in _shared_settings(group)
    )
    grid = None if component.grid_name is None else str(component.grid_name.value)
    places = tuple(_places(component, domain) for domain in range(1, domains(component) + 1))
    return _the_same(_Shared(component.registry.release, grid, places, _requested(component), values))


@lru_cache(maxsize=16)
def _the_same(shared: _Shared) -> _Shared:
    """Of what is equal the one that came first, which whatever is looked up by it is not compared with again."""
    return shared


def _places(component: Component, domain: int) -> tuple[int, ...] | None:
    try:
        return tuple(points(component, domain).values())
    except UndecidedError:
        return None


@frozen
class _Recorded:
    """What the sizes of a stream depend on, the experiment it is of aside."""

    shared: _Shared
    words: frozenset[tuple[str, str]] | None
    settings: tuple[tuple[object, ...], ...]
    level_type: str
    domain: int
    component: Component = field(eq=False)
    stream: Group = field(eq=False)


_TIMES = frozenset(
    (
        "output_start",
        "output_end",
        "output_interval",
        "output_bounds",
        "file_interval",
        "steps_per_file",
        "include_last",
    )
)
"""When a stream writes, which the size of one output step does not depend on."""


@lru_cache(maxsize=512)  # as many as there are streams, which the points of a sweep share
def _recorded(recorded: _Recorded) -> _Sizes:
    return _Contents(recorded.component, recorded.stream, recorded.level_type, recorded.domain).sizes()


@frozen
class _Registered:
    """What the variables of a checkpoint depend on, the experiment it is of aside."""

    shared: _Shared
    domain: int
    component: Component = field(eq=False)


def _checkpoint_of_domain(component: Component, domain: int) -> tuple[tuple[Volume, int], ...]:
    """The values of each variable, and how many variables that are."""
    return _values_of(_Registered(_shared(component), domain, component))


@lru_cache(maxsize=64)
def _values_of(registered: _Registered) -> tuple[tuple[Volume, int], ...]:
    return tuple(_restart_values(registered.component, registered.domain))


def _is_part_of(part: str, model: float | None) -> bool:
    """Whether a model of this type has a part of ICON: all have what is not one model's only, but for the ocean and the
    waves; of a type that is not known any may be."""
    only = _MODEL_ONLY.get(part)
    return model is None or (model == only if only else model not in _MODEL_ONLY.values())


def _restart_values(component: Component, domain: int) -> Iterator[tuple[Volume, int]]:
    circumstances = _circumstances_in(component, domain)
    places = {**points(component, domain), "single": 1, "zonal": _LATITUDES}
    model = circumstances.number("master_model_nml", "model_type")

    def is_asked(part: str) -> bool:
        return _is_part_of(part, model)

    def may_hold(condition: str) -> bool:
        return circumstances.holds(condition) is not False

    for variable in catalogue_for(component.registry).restart_variables(is_asked, may_hold):
        exists, kept = circumstances.exists(variable), circumstances.holds(variable.restart)
        if kept is False:
            continue
        copies, levels = circumstances.copies(variable), circumstances.levels(variable)
        if copies is not None:
            copies *= variable.time_levels
        width = 4 if variable.type == "integer" else 8
        known = (levels or 1) * (copies or 1) * places.get(variable.location, places["cell"]) * width
        if exists and kept and copies is not None and levels is not None:
            yield Volume.exactly(known), copies
        else:
            yield Volume(0, 0, known, ("some variables may or may not belong to it",)), 0
