"""What Slurm is to a script: its lines, the variables that it sets, and its programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nmlgen.schedulers.slurm.directives import read_directives
from nmlgen.schedulers.slurm.lines import lines as written
from nmlgen.schedulers.slurm.request import read
from nmlgen.source import Source

if TYPE_CHECKING:
    from nmlgen.schedulers.arrays import Arrays

__all__ = ["arrays", "is_spoken", "name", "prefix", "programs", "read", "says", "title", "variables", "written"]

name = "slurm"
title = "Slurm"
prefix = "#SBATCH"
variables = {
    "SLURM_JOB_ID": "the job",
    "SLURM_JOBID": "the job",
    "SLURM_JOB_NAME": "the job's name",
    "SLURM_SUBMIT_DIR": "the directory of the submission",
    "SLURM_SUBMIT_HOST": "the host of the submission",
    "SLURM_ARRAY_TASK_ID": "the task of an array",
    "SLURM_ARRAY_JOB_ID": "the array",
    "SLURM_JOB_NODELIST": "the nodes",
    "SLURM_NODELIST": "the nodes",
    "SLURM_NTASKS": "the number of tasks",
    "SLURM_NPROCS": "the number of tasks",
    "SLURM_JOB_NUM_NODES": "the number of nodes",
    "SLURM_NNODES": "the number of nodes",
    "SLURM_CPUS_PER_TASK": "the cores of a task",
    "SLURM_JOB_PARTITION": "the queue",
}
says = {
    "the job": "SLURM_JOB_ID, a number",
    "the job's name": "SLURM_JOB_NAME",
    "the directory of the submission": "SLURM_SUBMIT_DIR, in which the script begins",
    "the host of the submission": "SLURM_SUBMIT_HOST",
    "the task of an array": "SLURM_ARRAY_TASK_ID",
    "the array": "SLURM_ARRAY_JOB_ID",
    "the nodes": 'SLURM_JOB_NODELIST, and a line for each by scontrol show hostnames "$SLURM_JOB_NODELIST"',
    "the number of tasks": "SLURM_NTASKS",
    "the number of nodes": "SLURM_JOB_NUM_NODES",
    "the cores of a task": "SLURM_CPUS_PER_TASK",
    "the queue": "SLURM_JOB_PARTITION",
    "submitting": "sbatch",
    "asking for jobs": "squeue, or sacct for jobs that have ended",
    "cancelling": "scancel",
    "changing a job": "scontrol",
    "starting the model": "srun",
}
programs = {
    "sbatch": "submitting",
    "squeue": "asking for jobs",
    "sacct": "asking for jobs",
    "scancel": "cancelling",
    "scontrol": "changing a job",
    "srun": "starting the model",
}


def is_spoken(source: Source) -> bool:
    """Whether a script has #SBATCH lines before its first command."""
    return read_directives(source).span is not None


def arrays() -> Arrays:
    """How it runs job arrays."""
    import nmlgen.schedulers.slurm.arrays as own  # which few commands need

    return own
