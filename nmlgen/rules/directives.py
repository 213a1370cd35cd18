"""What the rules about Slurm ask of a job's directives."""

from __future__ import annotations

from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.setting import Setting


def directive(experiment: Experiment, name: str) -> Setting | None:
    """An option given to sbatch; None where it is not given, or no Slurm runs the script."""
    return experiment.directives.get(name) if experiment.machine.scheduler == "slurm" else None


def text_of(setting: Setting | None) -> str | None:
    """A setting's value if it is a text."""
    value = setting.value if setting is not None else None
    return value if isinstance(value, str) else None


def option(setting: Setting) -> str:
    """The key of the spec that sets an option, without its section."""
    return setting.name.rpartition(".")[2]
