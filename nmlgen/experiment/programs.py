"""The programs of a job whose ranks are placed: the models, and what runs beside them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nmlgen.experiment.setting import Setting
from nmlgen.values import frozen

LAYER = "nmlgen"
"""The layer of what follows from a site's figures, and nobody said."""

GPU, CPU = "gpu", "cpu"

KEYS = (
    "device",
    "executable",
    "command",
    "tasks",
    "tasks_per_node",
    "cpus_per_task",
    "nodes",
    "io_nodes",
    "seats",
)
"""What can be said of a program, by the keys of a spec; besides `environment`, and `job` for a part of a heterogeneous
job of its own."""

NUMBERS = ("tasks", "tasks_per_node", "cpus_per_task", "nodes", "io_nodes")


@frozen(eq=False)
class Program:
    """A program of a job: the model of that number, or one that is no model of ICON (`model` is None).

    `path` is where a spec speaks of it: "model", "models.atm" or "programs.output". `settings` are what was said, by
    KEYS; `job` what it asks of Slurm for nodes of another kind, by sbatch's long option names, empty where it runs on
    those of all others; `environment` the variables that it alone has.
    """

    path: str
    model: int | None
    settings: Mapping[str, Setting]
    job: Mapping[str, Setting]
    environment: Mapping[str, Setting]

    @property
    def name(self) -> str:
        """What its wrapper is called by: a plain word."""
        return self.path.rpartition(".")[2]

    @property
    def uses_gpus(self) -> bool:
        """Whether its work ranks compute on a GPU each."""
        return bool(self.said("device") == GPU)

    def said(self, key: str) -> Any:
        """The value of a key; None where nobody said it."""
        setting = self.settings.get(key)
        return None if setting is None else setting.value

    def recorded(self) -> dict[str, Setting]:
        """What its author said, by the keys of a spec."""
        said = {key: setting for key, setting in self.settings.items() if (self.path, key) != ("model", "executable")}
        said |= {f"job.{name}": setting for name, setting in self.job.items()}
        said |= {f"environment.{name}": setting for name, setting in self.environment.items()}
        return {
            f"{self.path}.{key}": setting for key, setting in said.items() if key == "device" or _is_authors(setting)
        }


def _is_authors(setting: Setting) -> bool:
    return setting.origin.layer != LAYER


def programs_from(recorded: Mapping[str, Setting]) -> tuple[Program, ...]:
    """The programs whose `recorded` settings these are, in their order: models before others."""
    found: dict[str, dict[str, Setting]] = {}
    for key, setting in recorded.items():
        words = key.split(".")
        length = 1 if words[0] == "model" else 2
        name = ".".join(words[length:])
        is_known = name in KEYS or name.partition(".")[0] in ("job", "environment")
        if words[0] in ("model", "models", "programs") and is_known:
            found.setdefault(".".join(words[:length]), {})[name] = setting
    paths = sorted(
        (path for path, said in found.items() if "device" in said), key=lambda path: path.startswith("programs.")
    )
    return tuple(
        Program(path, None if path.startswith("programs.") else number, *_parted(found[path]))
        for number, path in enumerate(paths)
    )


def _parted(said: Mapping[str, Setting]) -> tuple[dict[str, Setting], dict[str, Setting], dict[str, Setting]]:
    def below(section: str) -> dict[str, Setting]:
        start = f"{section}."
        return {key.removeprefix(start): setting for key, setting in said.items() if key.startswith(start)}

    return {key: setting for key, setting in said.items() if key in KEYS}, below("job"), below("environment")
