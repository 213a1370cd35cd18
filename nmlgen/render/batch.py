"""The batch script: from an Experiment to what `templates/job.sbatch.j2` makes of it."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from typing import Any

from nmlgen._version import __version__
from nmlgen.experiment.chain import (
    FIND_NAN,
    JOIN,
    KEEP_EVERY,
    KEEP_LAST,
    NMLGEN,
    SUBMIT,
    VERIFY,
)
from nmlgen.experiment.experiment import Experiment, InputFile
from nmlgen.experiment.mpi_io import needs_driver_path
from nmlgen.experiment.record import record
from nmlgen.experiment.setting import Setting, written
from nmlgen.experiment.striping import Extent, Striping
from nmlgen.models import building_of
from nmlgen.models.building import Start
from nmlgen.models.restarting import Restarting
from nmlgen.render import job_script, placement
from nmlgen.render.shell import Quoted, directive, joined, one_line, require_room, shell_path, shell_word
from nmlgen.render.write import MANIFEST
from nmlgen.units.size import format_size, parse_size
from nmlgen.units.wall_time import parse_wall_time

_FIRST_DIRECTIVES = ("job-name", "account", "partition", "qos", "nodes", "ntasks", "ntasks-per-node")
_STRIPE_OPTIONS = {
    "layout": "--layout",
    "stripe_count": "--stripe-count",
    "overstripe_count": "--overstripe-count",
    "stripe_size": "--stripe-size",
    "stripe_index": "--stripe-index",
    "ost": "--ost",
    "pool": "--pool",
}


def batch_script(
    experiment: Experiment, script: str, namelist_files: tuple[str, ...], build: str, *, sweep: str | None = None
) -> str:
    """The text of the batch script.

    `script` and `namelist_files` are file names; `build` is the mark that all files of one build carry. For a point of
    a `sweep` of that name the text does not say which point it is, and is the same for all that are run in the same
    way: the script takes the point's name from the directory that it lies in.
    """
    return job_script.render(_context(experiment, script, namelist_files, build, sweep))


def _context(
    experiment: Experiment, script: str, namelist_files: tuple[str, ...], build: str, sweep: str | None
) -> dict[str, Any]:
    slurm, pbs = (experiment.machine.scheduler == name for name in ("slurm", "pbs"))
    is_icon, part = experiment.other is None, building_of(experiment).job_part(experiment)
    namelists = [_file_word(file, experiment.name, sweep is not None) for file in namelist_files]
    return {
        "name": sweep or experiment.name,
        "is_shared": sweep is not None,
        "is_icon": is_icon,
        "model": part.title,
        "record": record(experiment),
        "machine": experiment.machine.name,
        "program": part.program,
        "version": __version__,
        "build": Quoted(build),  # our own, and not yet what it will be
        "script": script,
        "usage": f"{'sbatch' if slurm else 'qsub' if pbs else 'bash'} {script}",
        "usage_to_restart": f"qsub -v NMLGEN_ARGUMENTS=restart {script}"
        if pbs
        else f"{'sbatch' if slurm else 'bash'} {script} restart",
        "slurm": slurm,
        "pbs": pbs,
        "directives": _directives(experiment, sweep) if slurm else _pbs_directives(experiment, sweep) if pbs else [],
        "alarm": _alarm(experiment) if pbs else None,
        "beside": [*namelists, _file_word(script, experiment.name, sweep is not None)][0],
        "namelist_files": namelists,
        "copied_namelists": namelists[1:] if is_icon else namelists,
        "models": part.checkpoints,
        "status_files": part.status_files,
        "start": _start(part.start),
        "keep_last": _of_chain(experiment, KEEP_LAST),
        "keep_every": _of_chain(experiment, KEEP_EVERY),
        "verify": _of_chain(experiment, VERIFY) is True,
        "find_nan": _of_chain(experiment, FIND_NAN) is True,
        "join": _of_chain(experiment, JOIN) is True,
        "nmlgen": str(_of_chain(experiment, NMLGEN) or "nmlgen"),
        "submit": _path_of_chain(experiment, SUBMIT),
        "manifest": MANIFEST,
        "has_land": part.has_land,
        "legs": part.legs,
        "run_directory": experiment.run_directory.value,
        "modules": [module.value for module in experiment.modules],
        "environment": _values(experiment.environment),
        "stack_limit": experiment.stack_limit.value if experiment.stack_limit else None,
        "executable": _model_path(experiment, experiment.executable),
        "inputs": [_input(experiment, file) for file in experiment.inputs],
        "brings_namelists": any(file.fits(name) for file in experiment.inputs for name in namelist_files),
        "input_directories": sorted({posixpath.dirname(file.target) for file in experiment.inputs} - {""}),
        "needed": [shell_word(pattern) for pattern in part.needed],
        "output_directories": [_no_option(path) for path in part.directories],
        "output_patterns": [Quoted(f"{shell_word(name)}*") for name in part.output_names] or [shell_word("")],
        "striping": [entry for striping in experiment.striping for entry in _stripe_calls(striping)],
        "lustre_variables": _values(experiment.mpi.lustre_variables),
        "library_path": _needs_driver_path(experiment),
        "hints": _values(experiment.mpi.hints),
        "launch": _launch(experiment),
        "placement": placement.context(experiment, [str(option.value) for option in experiment.launch.options]),
        "placement_word": _file_word(placement.file_name(experiment), experiment.name, sweep is not None),
        "executables": placement.executables(experiment),
        "before": _before(experiment),
        "restarting": _restarting(part.restarting),
        "own_log": None if part.own_log is None else shell_word(part.own_log),
        "copy_launch": [experiment.launch.command.value],
        "darshan": _darshan(experiment),
        "checkpoint_on_demand": part.checkpoint_on_demand,
        "node_local": _node_local(experiment, part.finished),
    }


def _file_word(file: str, point: str, is_shared: bool) -> Quoted:
    """A shell word for a file; that of a shared script says `$name` where the point's name is a part of the file's."""
    before, mark, behind = f"{file}_".partition(f"_{point}_")
    if is_shared and mark:
        return Quoted(f'{shell_word(f"{before}_")}"$name"{shell_word(f"_{behind[:-1]}") if behind else ""}')
    return shell_word(file)


def _of_chain(experiment: Experiment, key: str) -> Any:
    setting = experiment.chain.get(key)
    return None if setting is None else setting.value


def _path_of_chain(experiment: Experiment, key: str) -> Quoted | None:
    setting = experiment.chain.get(key)
    return None if setting is None else shell_path(str(setting.value), "here")


def _start(start: Start | None) -> dict[str, Any] | None:
    """The other experiment's checkpoint that the chain begins with."""
    if start is None:
        return None
    return {
        "directory": shell_path(start.directory, "here"),
        "time": start.time,
        "models": start.models,
        "from": start.begin,
        "to": start.end,
    }


def _restarting(how: Restarting | None) -> dict[str, Any] | None:
    """How a job goes on from the last one; None where there is one job, or the model knows that itself."""
    if how is None:
        return None
    return {
        "checkpoint": _indented(how.checkpoint),
        "go_on": _indented(how.go_on),
        "hand_on": _indented(how.hand_on),
        "is_unfinished": Quoted(how.is_unfinished),
        "marks": list(how.marks),
    }


def _indented(commands: str) -> Quoted:
    return Quoted("\n".join(f"  {line}" for line in commands.splitlines()))


def _before(experiment: Experiment) -> list[dict[str, Any]]:
    """The programs that make what a model reads."""
    steps = () if experiment.other is None else experiment.other.before
    require_room("launch.options for each program of before", len(steps), _launch(experiment))
    return [
        {
            "name": step.name,
            "executable": _model_path(experiment, step.executable),
            "launch": _launch(experiment, step.ntasks),
        }
        for step in steps
    ]


def _settings(experiment: Experiment, sweep: str | None) -> dict[str, Setting]:
    """The options of sbatch; the points of a sweep share a name."""
    settings = dict(experiment.directives)
    if sweep is not None and (name := settings["job-name"]).value == experiment.name:
        settings["job-name"] = written(name.name, sweep, name.origin.layer)
    return settings


def _pbs_directives(experiment: Experiment, sweep: str | None) -> list[Quoted]:
    from nmlgen.schedulers.job import job_directives  # few sites have it

    return [one_line(line) for line in job_directives("pbs", _settings(experiment, sweep)).directives]


def _alarm(experiment: Experiment) -> int | None:
    """After how many seconds the script stops the model, for a batch system that does not say that the end is near."""
    signal, limit = experiment.directives.get("signal"), experiment.directives.get("time")
    if signal is None or limit is None:
        return None
    return max(1, parse_wall_time(str(limit.value)) - int(str(signal.value).partition("@")[2]))


def _directives(experiment: Experiment, sweep: str | None) -> list[Quoted]:
    values = {name: setting.value for name, setting in _settings(experiment, sweep).items()}
    order = [name for name in _FIRST_DIRECTIVES if name in values]
    order += sorted(name for name in values if name not in _FIRST_DIRECTIVES)
    lines = [directive(name, values[name]) for name in order]
    return [line for line in lines if line is not None]


def _values(settings: Any) -> list[tuple[str, Any]]:
    return [(name, setting.value) for name, setting in settings.items()]


def _model_path(experiment: Experiment, setting: Setting) -> Quoted:
    """A shell word for a file of the model: relative paths start from model.directory, else from the script's."""
    path = str(setting.value)
    base = experiment.base_directory
    if base is None or path.startswith("/"):
        return shell_path(path, "here")
    return shell_path(f"{str(base.value).rstrip('/')}/{path}", "here")


def _input(experiment: Experiment, file: InputFile) -> dict[str, Any]:
    """What is brought, and how: `find` has the words that find the files of a pattern, and the directories, too, where
    all that is in a directory is linked. What find matches is no word of the shell, which expands nothing of it."""
    source = _model_path(experiment, file.source)
    deed = ["cp", "--update", "--preserve=timestamps"] if file.method == "copy" else ["ln", "-sfn"]
    takes_directories = not file.is_deep and file.method == "link" and not file.name.strip("*")
    depth = [] if file.is_deep else [*(["-mindepth", "1"] if takes_directories else []), "-maxdepth", "1"]
    words = [*depth, *([] if takes_directories else ["-type", "f"]), "-name", file.name]
    if file.fits("nmlgen.legs"):
        words += ["!", "-name", "nmlgen*"]  # what the job notes, if those are of another run
    return {
        "source": source,
        "target": file.target,
        "deed": joined(map(shell_word, deed)),
        "find": joined([Quoted("-L"), source, *map(shell_word, words)]) if file.is_pattern else None,
        "pattern": file.name,
        "into": posixpath.dirname(file.target) or ".",
    }


def _no_option(path: str) -> str:
    """A path that no program takes for an option."""
    return f"./{path}" if path.startswith("-") else path


def _stripe_calls(striping: Striping) -> list[dict[str, Any]]:
    deletes = striping.settings.get("delete")
    migrates = striping.settings.get("migrate")
    options = ["--delete"] if deletes is not None and deletes.value else []
    for extent in striping.extents:
        options += [f"--component-end={extent.name}"] if striping.components else []
        options += _layout_options(extent)
    require_room(f"the stripes of lustre.{striping.what} for each directory", len(striping.directories), options)
    reasons = [setting.origin.reason for setting in striping.settings.values() if setting.origin.reason is not None]
    return [
        {
            "directory": _no_option(path),
            "options": options,
            "reason": "; ".join(reasons),
            "migrates": migrates is not None and migrates.value,
        }
        for path in striping.directories
        if options
    ]


def _layout_options(extent: Extent) -> list[str]:
    options = []
    for name, option in _STRIPE_OPTIONS.items():
        if name in extent.settings:
            value = extent.settings[name].value
            options.append(f"{option}={format_size(parse_size(value)) if name == 'stripe_size' else value}")
    return options


def _needs_driver_path(experiment: Experiment) -> bool:
    mpi = experiment.mpi
    if mpi.implementation is None or mpi.version is None:
        return False
    return bool(mpi.implementation.value == "intel") and needs_driver_path(mpi.version.value)


def _launch(experiment: Experiment, ntasks: Setting | None = None) -> list[str]:
    command = str(experiment.launch.command.value)
    options = [str(option.value) for option in experiment.launch.options]
    tasks = (ntasks or experiment.tasks).value
    if experiment.programs:
        tasks = experiment.directives["ntasks"].value
    count = [f"--ntasks={tasks}"] if command == "srun" else ["-n", str(tasks)]
    if command == "srun" and (cpus := experiment.directives.get("cpus-per-task")) is not None:
        count.append(f"--cpus-per-task={cpus.value}")  # since Slurm 22.05 srun does not inherit it
    return [command, *count, *options]


def _darshan(experiment: Experiment) -> dict[str, Any] | None:
    darshan = experiment.darshan
    if darshan is None or darshan.library is None:
        return None
    return {
        "library": darshan.library.value,
        "environment": _values(darshan.environment),
        "max_records": darshan.max_records.value if darshan.max_records else None,
    }


def _node_local(experiment: Experiment, finished: Sequence[str]) -> dict[str, Any] | None:
    run = experiment.node_local
    if run is None:
        return None
    facts = experiment.machine.node_local[run.kind.value]
    parts = [shell_word(part) if part else Quoted() for part in facts.mount.split("%j")]
    below = run.directory.value if run.directory else facts.directory
    path = [joined(parts, '"${job}"'), *([shell_word(below)] if below else [])]
    return {
        "name": facts.name,
        "mount": joined(path, "/"),
        "finished": "\n".join(finished),
        "commands": [command.value for command in run.before_stage_out],
    }
