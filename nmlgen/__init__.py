"""nmlgen: the namelist compiler for ICON on Slurm.

>>> import nmlgen
>>> report = nmlgen.check("spec.yaml")          # doctest: +SKIP
>>> nmlgen.build("spec.yaml").write("run1")     # doctest: +SKIP

Everything public is named here; it is loaded when it is first used, so that importing nmlgen costs little.
"""

from __future__ import annotations

from nmlgen._version import __version__

TYPE_CHECKING = False  # that of typing, whose import would cost a third of the start-up
if TYPE_CHECKING:
    from typing import Any

    from nmlgen.api import build, check
    from nmlgen.errors import BuildError, InputError, NmlgenError, SpecError, WriteError
    from nmlgen.experiment.experiment import Experiment
    from nmlgen.findings import Finding, Report, Severity
    from nmlgen.render.build import Build
    from nmlgen.render.namelists import to_f90nml
    from nmlgen.spec.spec import Spec, load_spec

__all__ = [
    "Build",
    "BuildError",
    "Experiment",
    "Finding",
    "InputError",
    "NmlgenError",
    "Report",
    "Severity",
    "Spec",
    "SpecError",
    "WriteError",
    "__version__",
    "build",
    "check",
    "load_spec",
    "to_f90nml",
]

_HOMES = {
    "Build": "render.build",
    "BuildError": "errors",
    "Experiment": "experiment.experiment",
    "Finding": "findings",
    "InputError": "errors",
    "NmlgenError": "errors",
    "Report": "findings",
    "Severity": "findings",
    "Spec": "spec.spec",
    "SpecError": "errors",
    "WriteError": "errors",
    "build": "api",
    "check": "api",
    "load_spec": "spec.spec",
    "to_f90nml": "render.namelists",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'nmlgen' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"nmlgen.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
