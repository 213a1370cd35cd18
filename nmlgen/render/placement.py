"""Where ranks sit, as the files and the words of a batch script that say so: all made of one placement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from nmlgen.command_line import command_words
from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.programs import Program
from nmlgen.experiment.seats import Seat, facts_of, number_ranges
from nmlgen.experiment.setting import Setting
from nmlgen.models import building_of
from nmlgen.render.shell import Quoted, directive, joined, require_room, shell_path, shell_word
from nmlgen.values import frozen

_VISIBLE = {"nvidia": "CUDA_VISIBLE_DEVICES", "amd": "ROCR_VISIBLE_DEVICES"}
"""The variable that shows GPUs to a program, by whose they are."""

NOTHING = "-"


def file_name(experiment: Experiment) -> str:
    """What the file with the placement is called."""
    return f"PLACEMENT_{experiment.name}"


def placement_file(experiment: Experiment, heading: str) -> str:
    """The placement as a table, a line for each rank, behind a line with `heading`."""
    names = [program.name for program in experiment.programs]
    lines = [f"! {heading}", "! rank node program does gpu cores numa card"]
    lines += [
        f"{seat.rank} {seat.node} {names[seat.program]} {seat.kind} {_number(seat.gpu)} "
        f"{number_ranges(seat.cores) or NOTHING} {number_ranges(seat.numa) or NOTHING} {seat.card or NOTHING}"
        for seat in building_of(experiment).seats(experiment)
    ]
    return "\n".join(lines) + "\n"


def _number(value: int | None) -> str:
    return NOTHING if value is None else str(value)


@frozen
class _Part:
    """A part of the job that Slurm allocates by itself: its number, its programs, its seats and the number of its
    nodes."""

    number: int
    programs: tuple[Program, ...]
    seats: tuple[Seat, ...]
    nodes: int


def context(experiment: Experiment, options: Sequence[str]) -> dict[str, Any] | None:
    """What the template needs of the placement; None where no ranks are placed. `options` are the launcher's."""
    if not experiment.programs:
        return None
    seats, parts = building_of(experiment).seats(experiment), list(_parts(experiment))
    is_heterogeneous = len(parts) > 1
    require_room("launch.options for each part of the job", len(parts), options)
    shown = {
        _VISIBLE[gpus.vendor] for one in experiment.programs if (gpus := facts_of(experiment, one).gpus) is not None
    }
    words = [
        word if isinstance(word, Quoted) else shell_word(word)
        for part in parts
        for word in _step(part, options, is_heterogeneous)
    ]
    return {
        "file": file_name(experiment),
        "nodes": sum(part.nodes for part in parts),
        "parts": [{"number": part.number, "first": part.seats[0].rank, "last": part.seats[-1].rank} for part in parts],
        "is_heterogeneous": is_heterogeneous,
        "directives": [list(_directives(part)) for part in parts[1:]],
        "words": words,
        "lines": [] if is_heterogeneous else list(_lines(experiment, seats)),
        "programs": [
            {
                "name": program.name,
                "environment": [(name, setting.value) for name, setting in program.environment.items()],
                "words": joined(_command(experiment, program)),
            }
            for program in experiment.programs
        ],
        "variables": sorted(shown),
        "binds": any(seat.cores for seat in seats),
    }


def executables(experiment: Experiment) -> list[Quoted]:
    """The words of the programs whose files have to be there, each once."""
    words = [
        _model_path(experiment, executable_of(experiment, one)) for one in experiment.programs if one.model is not None
    ]
    return list(dict.fromkeys(words))


def executable_of(experiment: Experiment, program: Program) -> Setting:
    """The binary of a model."""
    return program.settings.get("executable") or experiment.executable


def _model_path(experiment: Experiment, setting: Setting) -> Quoted:
    path, base = str(setting.value), experiment.base_directory
    if base is None or path.startswith("/"):
        return shell_path(path, "here")
    return shell_path(f"{str(base.value).rstrip('/')}/{path}", "here")


def _command(experiment: Experiment, program: Program) -> list[Quoted]:
    """The words that start a program."""
    darshan = experiment.darshan
    before: list[Quoted] = []
    if program.model is None:
        return [shell_word(word) for word in command_words(str(program.settings["command"].value))]
    if darshan is not None and darshan.library is not None:
        before = [shell_word("env"), Quoted(f"LD_PRELOAD={shell_word(darshan.library.value)}")]
    return [*before, _model_path(experiment, executable_of(experiment, program))]


def _parts(experiment: Experiment) -> Iterator[_Part]:
    """The parts of the job in the order of their ranks: one, unless it is heterogeneous."""
    seats: dict[int | None, list[Seat]] = {}  # of each program that has a job of its own, and of all others
    for seat in building_of(experiment).seats(experiment):
        has_own = bool(experiment.programs[seat.program].job)
        seats.setdefault(seat.program if has_own else None, []).append(seat)
    together = tuple(program for program in experiment.programs if not program.job)
    parts: list[tuple[int | None, tuple[Program, ...]]] = [(None, together)] if together else []
    parts += [(number, (program,)) for number, program in enumerate(experiment.programs) if program.job]
    for number, (key, programs) in enumerate(parts):
        asked = programs[0].job.get("nodes") if programs[0].job else experiment.directives.get("nodes")
        yield _Part(number, programs, tuple(seats.get(key, ())), int(asked.value) if asked is not None else 1)


def _directives(part: _Part) -> Iterator[Quoted]:
    (program,) = part.programs
    values = {name: setting.value for name, setting in program.job.items()} | {"ntasks": len(part.seats)}
    first = [name for name in ("partition", "nodes", "ntasks") if name in values]
    for name in [*first, *sorted(name for name in values if name not in first)]:
        line = directive(name, values[name])
        if line is not None:
            yield line


def _step(part: _Part, options: Sequence[str], is_heterogeneous: bool) -> Iterator[str | Quoted]:
    """The words of srun behind those that the first part has anyway.

    No --cpus-per-task: with it a step has only so many cores of each node as its tasks (--exact), and not those that
    the placement names.
    """
    if part.number:
        yield from (":", f"--ntasks={len(part.seats)}", *options)
    if is_heterogeneous:
        yield f"--het-group={part.number}"
    yield from (f"--nodes={part.nodes}", "--distribution=arbitrary", "--cpu-bind=none")
    yield Quoted(f'--nodelist="$work"/nmlgen.hosts.{part.number}')
    if not is_heterogeneous:
        yield from ("--multi-prog", "nmlgen.programs")
    else:
        yield f"./nmlgen.run.{part.programs[0].name}" if len(part.programs) == 1 else "./nmlgen.any"


def _lines(experiment: Experiment, seats: Sequence[Seat]) -> Iterator[str]:
    """The lines of the file for --multi-prog."""
    ranks: dict[int, list[int]] = {}
    for seat in seats:
        ranks.setdefault(seat.program, []).append(seat.rank)
    for number, program in enumerate(experiment.programs):
        yield f"{number_ranges(ranks.get(number, ()))} ./nmlgen.run.{program.name}"
