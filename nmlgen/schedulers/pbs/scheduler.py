"""What PBS is to a script: its lines, the variables that it sets, and its programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nmlgen.schedulers.pbs.directives import pbs_directives
from nmlgen.schedulers.pbs.lines import lines as written
from nmlgen.schedulers.pbs.request import read
from nmlgen.source import Source

if TYPE_CHECKING:
    from nmlgen.schedulers.arrays import Arrays

__all__ = ["arrays", "is_spoken", "name", "prefix", "programs", "read", "says", "title", "variables", "written"]

name = "pbs"
title = "PBS"
prefix = "#PBS"
variables = {
    "PBS_JOBID": "the job",
    "PBS_JOBNAME": "the job's name",
    "PBS_O_WORKDIR": "the directory of the submission",
    "PBS_O_HOST": "the host of the submission",
    "PBS_ARRAY_INDEX": "the task of an array",
    "PBS_ARRAY_ID": "the array",
    "PBS_NODEFILE": "the nodes",
    "PBS_QUEUE": "the queue",
}
says = {
    "the job": "PBS_JOBID, such as 123.server",
    "the job's name": "PBS_JOBNAME",
    "the directory of the submission": "PBS_O_WORKDIR",
    "the host of the submission": "PBS_O_HOST",
    "the task of an array": "PBS_ARRAY_INDEX",
    "the array": "PBS_ARRAY_ID, such as 123[].server",
    "the nodes": "the file PBS_NODEFILE, which has a line for each task",
    "the number of tasks": '$(wc -l <"$PBS_NODEFILE")',
    "the number of nodes": '$(sort -u "$PBS_NODEFILE" | wc -l)',
    "the cores of a task": "OMP_NUM_THREADS, which ompthreads of select sets",
    "the queue": "PBS_QUEUE",
    "submitting": "qsub",
    "asking for jobs": "qstat, with -x for jobs that have ended and -f for all of a job",
    "cancelling": "qdel",
    "changing a job": "qalter, or qstat -f to look at one",
    "starting the model": "mpirun or mpiexec of the MPI library",
}
programs = {
    "qsub": "submitting",
    "qstat": "asking for jobs",
    "qdel": "cancelling",
    "qalter": "changing a job",
    "pbsdsh": "starting the model",
}


def is_spoken(source: Source) -> bool:
    """Whether a script has #PBS lines before its first command."""
    return prefix in source.text and bool(pbs_directives(source))


def arrays() -> Arrays:
    """How it runs job arrays."""
    import nmlgen.schedulers.pbs.arrays as own  # which few commands need

    return own
