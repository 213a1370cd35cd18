"""The layout that a log does not tell, from the files beside it: namelists, a build's manifest, the batch script."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from nmlgen import disk
from nmlgen.disk import open_regular
from nmlgen.namelist.reader import read_groups
from nmlgen.namelist.syntax import Document, Group

_MASTER, _MANIFEST = "icon_master.namelist", "nmlgen-manifest.json"
_SUFFIX = re.compile(r"\.\d{1,3}$")
_NODES = re.compile(r"^#SBATCH\s+(?:--nodes[= ]|-N\s*)(\d{1,9})\s*$", re.MULTILINE)
_LARGEST = 4_000_000  # bytes of a file that is read
_SETTINGS = {  # column: group, variable, whether each copy of the group has its own
    "nproma": ("parallel_nml", "nproma", False),
    "num_io_procs": ("parallel_nml", "num_io_procs", False),
    "num_restart_procs": ("parallel_nml", "num_restart_procs", False),
    "num_lev": ("run_nml", "num_lev", False),
    "restart_write_mode": ("io_nml", "restart_write_mode", False),
    "restart_file_type": ("io_nml", "restart_file_type", False),
    "stream_partitions_ml": ("output_nml", "stream_partitions_ml", True),
    "output_interval": ("output_nml", "output_interval", True),
    "file_interval": ("output_nml", "file_interval", True),
    "filetype": ("output_nml", "filetype", True),
}
_GROUPS = frozenset(group for group, _, _ in _SETTINGS.values())
_TYPES: dict[str, type] = {"restart_write_mode": str, "output_interval": str, "file_interval": str}
_DEFAULTS = {"stream_partitions_ml": 1, "filetype": 4}  # mo_name_list_output_init.f90, where a copy says nothing


def suffix_of(log: Path) -> str:
    """The end of the name by which the files of one leg are told from others': ".1" of LOG.1, otherwise nothing."""
    found = _SUFFIX.search(log.name.removesuffix(".gz"))
    return found[0] if found is not None and (log.parent / (_MASTER + found[0])).is_file() else ""


def layout_beside(log: Path) -> dict[str, Any]:
    """What the files beside a log say, by the names of columns, and `filetype`: a list for what every stream has.

    They are looked for in the log's directory, the manifest and the batch script also in the one above, into which
    nmlgen's build puts them. What cannot be read is left out.
    """
    beside = suffix_of(log)
    found: dict[str, Any] = {}
    for directory in (log.parent, log.parent.parent):
        manifest = _json(directory / _MANIFEST)
        if manifest:
            name = manifest.get("name")
            if isinstance(name, str):
                found["name"] = name
            for script in sorted(name for name in os.listdir(directory) if name.endswith(".sbatch"))[:1]:
                nodes = _NODES.search(_text(directory / script))
                if nodes is not None:
                    found["nodes"] = int(nodes[1])
            break
    for name in _namelists(_text(log.parent / (_MASTER + beside))):
        text = _text(log.parent / (name + beside))
        settings = _settings(read_groups(text, _GROUPS)) if text else {}
        if settings:
            return found | settings
    return found


@lru_cache(maxsize=8)  # the points of a sweep have one
def _namelists(master: str) -> tuple[str, ...]:
    """The names of the models' namelists in the text of a master, in its order."""
    names = []
    for group in read_groups(master, ("master_model_nml",)).copies("master_model_nml") if master else ():
        for item in group.named("model_namelist_filename")[-1:]:
            if item.is_plain and isinstance(item.plain, str):
                names.append(item.plain.strip())
    return tuple(filter(None, names))


def _settings(namelist: Document) -> dict[str, Any]:
    """The settings of an atmosphere's namelist."""
    if namelist.group("parallel_nml") is None and namelist.group("output_nml") is None:
        return {}
    found: dict[str, Any] = {}
    for column, (name, variable, is_of_each) in _SETTINGS.items():
        copies = namelist.copies(name) if is_of_each else namelist.copies(name)[:1]
        values = [_value(group, variable, _DEFAULTS.get(column)) for group in copies]
        given = tuple(value for value in values if isinstance(value, _TYPES.get(column, int)))
        if given:
            found[column] = given if is_of_each else given[0]
    return found


def _value(group: Group, variable: str, default: Any) -> Any:
    """The first value that a group gives a variable; the last assignment counts."""
    items = group.named(variable)
    if not items:
        return default
    values = items[-1].values
    return values[0].value if values else default


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > _LARGEST:
            return ""
        with open_regular(path) as file:
            return file.read().decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""


def _json(path: Path) -> dict[str, Any]:
    try:
        document = disk.parsed(_text(path) or "{}")
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}
