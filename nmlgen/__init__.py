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

    from nmlgen import advise
    from nmlgen.advise.advice import Advice, ComponentAdvice
    from nmlgen.advising import advice, advices
    from nmlgen.api import build, check
    from nmlgen.calibrating import Calibrated, calibrate_logs
    from nmlgen.comparing import Comparison, compare
    from nmlgen.comparing_runs import RunComparison, compare_runs
    from nmlgen.converting import Conversion, convert
    from nmlgen.errors import BuildError, InputError, NmlgenError, SchedulerError, SpecError, WriteError
    from nmlgen.experiment.experiment import Experiment
    from nmlgen.findings import Edit, Finding, Fix, Report, Severity
    from nmlgen.fixing import Fixed, fix
    from nmlgen.importing import ImportedSpec, import_spec
    from nmlgen.joining import Joined, join
    from nmlgen.linting import lint
    from nmlgen.logs.darshan import DarshanLog, DarshanWriter, read_darshan, scan_darshan, scan_darshan_writers
    from nmlgen.logs.rows import CheckpointWrite, LogRun, LogWarning, OutputWrite, TimerTotal
    from nmlgen.migrating import Migration, migrate
    from nmlgen.models.icon.logs.reader import Logs, read_logs, scan_logs
    from nmlgen.namelist.interchange import from_f90nml, to_f90nml
    from nmlgen.namelist.reader import read_namelist
    from nmlgen.namelists import (
        NamelistModel,
        Namelists,
        OutputStream,
        RestartFiles,
        delete_value,
        read_namelists,
        set_value,
    )
    from nmlgen.render.build import Build
    from nmlgen.reporting import report_sweep, sweep_frame
    from nmlgen.spec.spec import Spec, load_spec
    from nmlgen.sweep.directory import Sweep, write_sweep
    from nmlgen.sweep.expansion import expand
    from nmlgen.sweep.export import export_sweep
    from nmlgen.sweep.point import Point
    from nmlgen.sweep.status import PointStatus, SweepStatus, status
    from nmlgen.sweep.submission import Submitted, SubmittedArray, cancel, resubmit, submit
    from nmlgen.sweep.table import points_frame
    from nmlgen.sweep.waiting import wait, wait_async
    from nmlgen.tuning.tune import Trial, Tuning, tune
    from nmlgen.verifying import Problem, Verification, verify

__all__ = [
    "Advice",
    "Build",
    "BuildError",
    "Calibrated",
    "CheckpointWrite",
    "Comparison",
    "ComponentAdvice",
    "Conversion",
    "DarshanLog",
    "DarshanWriter",
    "Edit",
    "Experiment",
    "Finding",
    "Fix",
    "Fixed",
    "ImportedSpec",
    "InputError",
    "Joined",
    "LogRun",
    "LogWarning",
    "Logs",
    "Migration",
    "NamelistModel",
    "Namelists",
    "NmlgenError",
    "OutputStream",
    "OutputWrite",
    "Point",
    "PointStatus",
    "Problem",
    "Report",
    "RestartFiles",
    "RunComparison",
    "SchedulerError",
    "Severity",
    "Spec",
    "SpecError",
    "Submitted",
    "SubmittedArray",
    "Sweep",
    "SweepStatus",
    "TimerTotal",
    "Trial",
    "Tuning",
    "Verification",
    "WriteError",
    "__version__",
    "advice",
    "advices",
    "advise",
    "build",
    "calibrate_logs",
    "cancel",
    "check",
    "compare",
    "compare_runs",
    "convert",
    "delete_value",
    "expand",
    "export_sweep",
    "fix",
    "from_f90nml",
    "import_spec",
    "join",
    "lint",
    "load_spec",
    "migrate",
    "points_frame",
    "read_darshan",
    "read_logs",
    "read_namelist",
    "read_namelists",
    "report_sweep",
    "resubmit",
    "scan_darshan",
    "scan_darshan_writers",
    "scan_logs",
    "set_value",
    "status",
    "submit",
    "sweep_frame",
    "to_f90nml",
    "tune",
    "verify",
    "wait",
    "wait_async",
    "write_sweep",
]

_HOMES = {
    "Advice": "advise.advice",
    "Build": "render.build",
    "BuildError": "errors",
    "Calibrated": "calibrating",
    "CheckpointWrite": "logs.rows",
    "Comparison": "comparing",
    "DarshanLog": "logs.darshan",
    "DarshanWriter": "logs.darshan",
    "Edit": "findings",
    "Experiment": "experiment.experiment",
    "Finding": "findings",
    "Fix": "findings",
    "Fixed": "fixing",
    "ImportedSpec": "importing",
    "InputError": "errors",
    "Joined": "joining",
    "LogRun": "logs.rows",
    "LogWarning": "logs.rows",
    "Logs": "models.icon.logs.reader",
    "Migration": "migrating",
    "NamelistModel": "namelists",
    "Namelists": "namelists",
    "NmlgenError": "errors",
    "OutputStream": "namelists",
    "OutputWrite": "logs.rows",
    "Point": "sweep.point",
    "PointStatus": "sweep.status",
    "Problem": "verifying",
    "Report": "findings",
    "RestartFiles": "namelists",
    "RunComparison": "comparing_runs",
    "SchedulerError": "errors",
    "Severity": "findings",
    "Spec": "spec.spec",
    "SpecError": "errors",
    "Submitted": "sweep.submission",
    "SubmittedArray": "sweep.submission",
    "Sweep": "sweep.directory",
    "SweepStatus": "sweep.status",
    "TimerTotal": "logs.rows",
    "Trial": "tuning.tune",
    "Tuning": "tuning.tune",
    "Verification": "verifying",
    "WriteError": "errors",
    "advice": "advising",
    "advices": "advising",
    "ComponentAdvice": "advise.advice",
    "Conversion": "converting",
    "build": "api",
    "calibrate_logs": "calibrating",
    "cancel": "sweep.submission",
    "check": "api",
    "compare": "comparing",
    "compare_runs": "comparing_runs",
    "convert": "converting",
    "delete_value": "namelists",
    "expand": "sweep.expansion",
    "export_sweep": "sweep.export",
    "fix": "fixing",
    "from_f90nml": "namelist.interchange",
    "import_spec": "importing",
    "join": "joining",
    "lint": "linting",
    "load_spec": "spec.spec",
    "migrate": "migrating",
    "points_frame": "sweep.table",
    "read_darshan": "logs.darshan",
    "read_logs": "models.icon.logs.reader",
    "read_namelist": "namelist.reader",
    "read_namelists": "namelists",
    "report_sweep": "reporting",
    "resubmit": "sweep.submission",
    "scan_darshan": "logs.darshan",
    "scan_darshan_writers": "logs.darshan",
    "scan_logs": "models.icon.logs.reader",
    "set_value": "namelists",
    "status": "sweep.status",
    "submit": "sweep.submission",
    "sweep_frame": "reporting",
    "to_f90nml": "namelist.interchange",
    "tune": "tuning.tune",
    "wait": "sweep.waiting",
    "wait_async": "sweep.waiting",
    "verify": "verifying",
    "write_sweep": "sweep.directory",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name == "advise":
        return import_module("nmlgen.advise")
    if name not in _HOMES:
        raise AttributeError(f"module 'nmlgen' has no attribute {name!r}")
    value = getattr(import_module(f"nmlgen.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
