"""The section `job` of a spec, in the words of sbatch, as directives of another batch system, and the way back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from nmlgen.experiment.setting import Setting, unknown, written
from nmlgen.schedulers import schedulers
from nmlgen.schedulers.pbs.directives import PREFIX, is_for_nqsv, pbs_directives
from nmlgen.schedulers.request import Asked, Request, Wish, Written
from nmlgen.schedulers.slurm.directives import Directives
from nmlgen.schedulers.slurm.lines import options
from nmlgen.schedulers.slurm.request import wishes_of
from nmlgen.schedulers.slurm.values import read_value
from nmlgen.source import Source
from nmlgen.values import evolve

_OF_THE_SCRIPT = ("signal", "chdir")
"""What a script sees to itself: it keeps the time, and finds its own directory."""
_WISHES = {
    "account": "account",
    "begin": "begin",
    "constraint": "chunk",
    "cpus-per-task": "cpus_per_task",
    "error": "error",
    "exclusive": "exclusive",
    "gpus-per-node": "gpus_per_node",
    "job-name": "name",
    "mail-type": "mail_on",
    "mail-user": "mail_to",
    "mem": "memory_per_node",
    "nodes": "nodes",
    "ntasks": "tasks",
    "ntasks-per-node": "tasks_per_node",
    "output": "output",
    "partition": "queue",
    "requeue": "rerun",
    "time": "walltime",
}
"""What stands behind those options of sbatch that a spec has, too."""


def job_directives(scheduler: str, settings: Mapping[str, Setting]) -> Written:
    """The directives for settings keyed by the long options of sbatch; what of them cannot be said is among the
    remarks."""
    asked = {name: setting for name, setting in settings.items() if name not in _OF_THE_SCRIPT}
    wishes, remarks = wishes_of(asked)
    del wishes["directory"]
    wishes["shell"] = Wish("/bin/bash")
    written = schedulers()[scheduler].written(Request(wishes))
    return evolve(written, remarks=(*remarks, *written.remarks))


def pbs_as_job(source: Source, bodies: Iterable[tuple[int, int]]) -> Directives:
    """What the #PBS lines of a script ask for, in the words of sbatch; nothing where they are for NQSV."""
    directives = pbs_directives(source) if PREFIX in source.text and not is_for_nqsv(source) else ()
    if not directives:
        return Directives({})
    request = schedulers()["pbs"].read(source, bodies)
    wishes = {name: request.wishes[name] for name in _WISHES.values() if name in request.wishes}
    _leave_out_what_nobody_said(wishes)
    asked = Asked(Request({"joined": Wish("error" not in wishes), **wishes}))
    given = {option.removeprefix("no-"): (option, text) for option, text in options(asked)}
    settings = {}
    for option, key in _WISHES.items():
        if key in wishes and option in given:
            name, text = given[option]
            said = f"job.{option.replace('-', '_')}"
            try:
                value = read_value(option, text) if text is not None else name == option
            except ValueError:  # more than sbatch takes
                settings[option] = unknown(said, wishes[key].span)
                continue
            settings[option] = written(said, value, PREFIX, wishes[key].span)
    if (chunk := wishes.get("chunk")) is not None:
        settings["constraint"] = written("job.constraint", chunk.value, PREFIX, chunk.span)
    return Directives(settings, span=directives[0].span, scheduler="pbs")


def _leave_out_what_nobody_said(wishes: dict[str, Wish]) -> None:
    """Of chunks: how many tasks each has and how many cores a task, and on how many nodes chunks of one task are."""
    text = wishes["nodes"].text if "nodes" in wishes else ""
    threads, tasks = wishes.get("cpus_per_task"), wishes.get("tasks_per_node")
    if threads is not None and threads.value == 1 and "ompthreads" not in text:
        del wishes["cpus_per_task"]
    if tasks is not None and tasks.value == 1 and wishes["nodes"].value > 1:
        del wishes["tasks_per_node"]
        if "mpiprocs" in text:
            wishes["tasks"] = wishes.pop("nodes")
