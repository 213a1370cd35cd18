"""What a build asks ICON: its namelists, its part of the batch script, and where its ranks sit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from nmlgen.experiment.chain import START_DIRECTORY, START_TIME
from nmlgen.experiment.component import land_files
from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.seats import Seat
from nmlgen.experiment.setting import UndecidedError
from nmlgen.models.building import JobPart, NamelistFile, Start
from nmlgen.models.icon.chain import name_before, restart_name, status_files, writes_checkpoints
from nmlgen.models.icon.clock import clock, start_of, stop_of
from nmlgen.models.icon.continuation import can_go_on
from nmlgen.models.icon.inputs import unbrought
from nmlgen.models.icon.job_volume import first_job
from nmlgen.models.icon.output import output_directories
from nmlgen.models.icon.placement import placement
from nmlgen.models.icon.promised import checkpoint_directories, stream_directories
from nmlgen.models.icon.ranks import OutputFile, PlacementError, output_files
from nmlgen.models.icon.schedule import CHANGING, NUMBER, Names
from nmlgen.units.calendar import Instant

_MASTER = "icon_master.namelist"


def namelists(experiment: Experiment) -> Iterator[NamelistFile]:
    """The master namelist, and the files that it names."""
    yield NamelistFile(_MASTER, f"{_MASTER} of {experiment.name}", experiment.master)
    for component in experiment.components:
        file = str(component["master_model_nml", "model_namelist_filename"].value)
        land = str(component["jsb_model_nml", "model_namelist_filename"].value) if component.model.land else ""
        own = (*component.namelist, *component.model.land) if land == file else component.namelist
        yield NamelistFile(file, f"{file}, ICON {component.registry.release}", own)
        if land and land != file:
            yield NamelistFile(land, f"{land}, JSBACH of {experiment.name}", component.model.land)
        names = land_files(experiment.master)[1:]
        for name, groups in zip(names, component.model.nest_land, strict=False):
            yield NamelistFile(name, f"{name}, JSBACH of {experiment.name}", groups)


def job_part(experiment: Experiment) -> JobPart:
    """What the batch script does for it."""
    demands = [component["io_nml", "checkpoint_on_demand"] for component in experiment.components]
    run = experiment.node_local
    return JobPart(
        program="ICON",
        title=f"ICON {experiment.registry.release}",
        legs=_legs(experiment),
        checkpoints=[restart_name(component) for component in experiment.components if writes_checkpoints(component)],
        status_files=status_files(experiment),
        start=_start(experiment),
        needed=[file.pattern for component in experiment.components for file in unbrought(component) if file.is_exact],
        directories=_directories(experiment),
        output_names=_output_names(experiment),
        finished=_sequences(experiment) if run is not None and run.sends_off else (),
        has_land=any(component.model.land for component in experiment.components),
        checkpoint_on_demand=bool(demands) and all(demand.value is True for demand in demands),
    )


def seats(experiment: Experiment) -> Sequence[Seat]:
    """The seat of each rank where programs are placed. Raises as `placement` does."""
    return placement(experiment)


def room(experiment: Experiment) -> dict[str, int]:
    """What a job needs of the disk at least, by which the script knows whether there is room; nothing where that is not
    known."""
    try:
        volumes = [first_job(component) for component in experiment.components if component.kind != "testbed"]
    except (UndecidedError, PlacementError, ValueError):
        return {}
    return {
        "bytes_of_a_job": sum(volume.low for volume, _ in volumes),
        "files_of_a_job": sum(files for _, files in volumes),
    }


def end(experiment: Experiment) -> dict[str, Any]:
    """When the experiment ends, and whether it can be continued beyond; nothing where the end is not known."""
    try:
        until = stop_of(experiment.components[0]).basic
    except (UndecidedError, ValueError):
        return {}
    return {"until": until, "can_go_on": can_go_on(experiment)}


def _legs(experiment: Experiment) -> int | None:
    try:
        return clock(experiment.components[0]).legs
    except UndecidedError:
        return None


def _start(experiment: Experiment) -> Start | None:
    directory = experiment.chain.get(START_DIRECTORY)
    if directory is None:
        return None
    first, *_ = experiment.components
    time = experiment.chain.get(START_TIME)
    return Start(
        directory=str(directory.value),
        time="" if time is None else Instant.parse(str(time.value)).basic,
        models=[(restart_name(one), name_before(one)) for one in experiment.components if writes_checkpoints(one)],
        begin=start_of(first).basic,
        end=stop_of(first).basic,
    )


def _directories(experiment: Experiment) -> tuple[str, ...]:
    """What the job makes for output and checkpoints, ICON making none; not what each date has for itself."""
    found = [path for path in output_directories(experiment.all_groups()) if path != "."]
    for component in experiment.components:
        with suppress(UndecidedError):
            found += (path for _, path in stream_directories(component) if not any(word in path for word in CHANGING))
        with suppress(UndecidedError):
            found += (path for path in checkpoint_directories(component) if "*" not in path)
    return tuple(dict.fromkeys(found))


def _output_names(experiment: Experiment) -> tuple[str, ...]:
    streams = [stream for component in experiment.components for stream in component.streams]
    names = [str(stream.settings["output_filename"].value) for stream in streams]
    return tuple(dict.fromkeys(names))


def _sequences(experiment: Experiment) -> list[str]:
    """What the names of the output files match, below the directory of the run, and how many sequences share it. A
    sequence has one writer, which ends a file before it begins the next (`mo_name_list_output.f90`,
    write_name_list_output), so that all but the last of its files are finished.

    Partitions share names but for the number, of which each has every so many-eth; the number is a group then. Where
    names tell less, nothing leaves before the end.
    """
    found: dict[str, list[OutputFile]] = {}
    for component in experiment.components:
        with suppress(UndecidedError):
            time = clock(component)
            for file in output_files(component):
                pattern = Names(component, file, time).pattern.pattern.removeprefix("\\./")
                found.setdefault(pattern, []).append(file)
    return [
        f"{len(files)} {pattern.replace(NUMBER, f'({NUMBER})')}".replace("\\d", "[0-9]")
        for pattern, files in found.items()
        if not pattern.startswith("/") and (len(files) == 1 or _are_numbered(pattern, files))
    ]


def _are_numbered(pattern: str, files: list[OutputFile]) -> bool:
    """Whether sequences that share a pattern are the partitions of one, told apart by one number."""
    kinds = {(id(file.stream), file.level_type, file.domain, file.partitions) for file in files}
    return len(kinds) == 1 and files[0].partitions == len(files) and pattern.count(NUMBER) == 1
