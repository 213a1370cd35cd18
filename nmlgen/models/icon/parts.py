"""Which parts of ICON an executable has: what the site and the spec say, and before them ICON's own config.log.

ICON's configure leaves config.log in the directory that it builds in; the executable lies there or in `bin/` below. A
part goes by the name of its option, --enable-NAME.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from nmlgen import disk
from nmlgen.errors import InputError
from nmlgen.experiment.component import Component
from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.memory import remembered
from nmlgen.experiment.setting import Certainty
from nmlgen.pattern import pattern

_DEFINED_WITH = {
    "art": "__ICON_ART",
    "cdi-pio": "HAVE_CDI_PIO",
    "coupling": "YAC_coupling",
    "dace": "__DACE__",
    "ecrad": "__ECRAD",
    "emvorado": "HAVE_RADARFWO",
    "rttov": "__USE_RTTOV",
    "yaxt": "HAVE_YAXT",
}
_DEFINED_WITHOUT = {
    "aes": "__NO_AES__",
    "atmo": "__NO_ICON_ATMO__",
    "jsbach": "__NO_JSBACH__",
    "les": "__NO_ICON_LES__",
    "nwp": "__NO_NWP__",
    "ocean": "__NO_ICON_OCEAN__",
    "rte-rrtmgp": "__NO_RTE_RRTMGP__",
    "testbed": "__NO_ICON_TESTBED__",
    "waves": "__NO_ICON_WAVES__",
}
"""The macros that configure gives to the compiler (ICON 2024.10 to 2025.10, `configure.ac:984-1111`)."""

GPU = "gpu"
PARTS = tuple(sorted({*_DEFINED_WITH, *_DEFINED_WITHOUT, GPU}))
"""The parts that are known of."""

_LOG = "config.log"
_FLAGS = pattern(r"^FCFLAGS='(.*)'$", re.MULTILINE)
_IS_ICON = pattern(r"^PACKAGE_NAME='icon'$", re.MULTILINE)
_HAS_NO_GPU = pattern(r"^GPU_ENABLED='(#?)'$", re.MULTILINE)
_ENDED_WELL = "\nconfigure: exit 0\n"
_MOST = 16 * 2**20
"""A bound on work: bytes of a config.log that is read; one of ICON has some ten thousand."""


@remembered
def parts(experiment: Experiment) -> Mapping[str, bool]:
    """Whether the executable has each part of which somebody says it: its config.log, else the spec, else the site."""
    said = {name: bool(setting.value) for name, setting in experiment.parts.items()}
    return {**experiment.machine.parts, **said, **_configured(experiment)}


def has_part(component: Component, name: str) -> bool | None:
    """Whether the executable of a component has a part; None where nobody says it. A program that is placed on GPUs is
    built for them, another is not."""
    if name != GPU:
        return parts(component.experiment).get(name)
    for program in component.experiment.programs:
        if program.model == component.number:
            return program.uses_gpus
    is_on_gpus = component.model.is_on_gpus
    return False if is_on_gpus is False else parts(component.experiment).get(name, is_on_gpus)


def _configured(experiment: Experiment) -> Mapping[str, bool]:
    settings = [setting for setting in (experiment.base_directory, experiment.executable) if setting is not None]
    if any(setting.certainty is Certainty.UNKNOWN for setting in settings):
        return {}
    executable = Path(*(str(setting.value) for setting in settings))
    if not executable.is_absolute():
        return {}
    builds = (executable.parent, executable.parent.parent)
    return next((found for build in builds if (found := read_config_log(build / _LOG)) is not None), {})


def read_config_log(path: Path) -> Mapping[str, bool] | None:
    """The parts of ICON that a configure chose which came to its end; None where this is no such file."""
    try:
        text = disk.read_bytes(path, most=_MOST).decode("utf-8", "replace")
    except (OSError, ValueError, InputError):
        return None
    flags = _FLAGS.findall(text)
    if not _IS_ICON.search(text) or _ENDED_WELL not in text or not flags:
        return None
    defined = {flag.rpartition("-D")[2].partition("=")[0] for flag in flags[-1].split() if "-D" in flag}
    known = {name: macro in defined for name, macro in _DEFINED_WITH.items()}
    known |= {name: macro not in defined for name, macro in _DEFINED_WITHOUT.items()}
    gpu = _HAS_NO_GPU.findall(text)
    return known | ({"gpu": not gpu[-1]} if gpu else {})
