"""What the jobs of a restart chain hand on: by which links a component finds its checkpoint, and where ICON says how it
ended.

Sources: ICON 2024.10 `src/drivers/icon.f90:271-283` and 2025.10 `src/drivers/icon.f90` (status files),
`src/io/restart/mo_restart_util.f90` (links), and runs of the real model with several components.
"""

from __future__ import annotations

from nmlgen.experiment.chain import START_MODELS
from nmlgen.experiment.component import Component
from nmlgen.experiment.experiment import Experiment

_STATUS_BY_COMPONENT = "2025.10"
_STATUS_NAMES = {"atmosphere": "atmo", "ocean": "ocean", "hamocc": "hamocc", "waves": "waves"}


def writes_checkpoints(component: Component) -> bool:
    """Whether a component writes checkpoints at all: the output component and the testbed do not."""
    return component.kind not in ("icon_output", "testbed", "ps_radiation")


def restart_name(component: Component) -> str:
    """The name in the links to a component's checkpoints, `restart_<name>_DOM01.nc` and `multifile_restart_<name>.mfr`:
    its model_name, but that of HAMOCC and JSBACH is always the same. Raises UndecidedError where only a run knows."""
    return {"hamocc": "hamocc", "jsbach": "jsbach"}.get(component.kind or "", component.name)


def is_coupled(experiment: Experiment) -> bool:
    """Whether a component exchanges fields with another. Raises UndecidedError where nobody can know."""
    return any(
        component["coupling_mode_nml", name].value is True
        for component in experiment.components
        for name in component.registry.variables("coupling_mode_nml")
        if name.startswith("coupled_to_")
    )


def status_files(experiment: Experiment) -> tuple[str, ...]:
    """The files in which ICON writes OK or RESTART at its end: one for the job, from 2025.10 on one for each component
    of a coupled run."""
    if experiment.registry.release < _STATUS_BY_COMPONENT or not is_coupled(experiment):
        return ("finish.status",)
    names = [_STATUS_NAMES.get(component.kind or "") for component in experiment.components]
    return tuple(f"finish_{name}.status" for name in dict.fromkeys(names) if name is not None) or ("finish.status",)


def name_before(component: Component) -> str:
    """What the component's checkpoints are called in the experiment that the chain starts from."""
    own = restart_name(component)
    chain = component.experiment.chain
    said = chain.get(f"{START_MODELS}{component.model.label}") or chain.get(f"{START_MODELS}{own}")
    return own if said is None else str(said.value)
