"""Whatever an experiment is written in, lifted: a spec, a namelist file, or a directory with a master namelist."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from attrs import frozen

from nmlgen.errors import InputError
from nmlgen.experiment.difference import MASTER, NAMELIST, PARTS
from nmlgen.experiment.experiment import Experiment
from nmlgen.lift.namelists import MASTER_FILE, NamelistFile, is_master_file, lift_master, lift_model
from nmlgen.namelist.registry import load_registry, releases
from nmlgen.spec.spec import load_spec

_SPEC_SUFFIXES = (".yaml", ".yml")
_GROUP = re.compile(rb"^[ \t]*[&$][A-Za-z]\w*(?=\s|$)", re.MULTILINE)


@frozen(eq=False)
class Loaded:
    """What a path holds.

    `experiments` are those of the models that are started, usually one. `parts` names what of an experiment the files
    say at all: of "master", "namelist" and "job". `files` are the namelist files that were read.
    """

    path: Path
    experiments: tuple[Experiment, ...]
    parts: tuple[str, ...]
    files: tuple[NamelistFile, ...] = ()

    @property
    def release(self) -> str:
        """The ICON release by which it was read."""
        return self.experiments[0].registry.release


def load(
    path: str | Path, *, overrides: Iterable[str] = (), ntasks: int | None = None, icon_release: str | None = None
) -> Loaded:
    """Lift a spec (with `overrides` laid over it), an icon_master.namelist, a directory that holds one, or a model's
    namelist by itself.

    `ntasks` is the number of MPI tasks and `icon_release` the release of namelists, which say neither; a spec says its
    own. Raises InputError if a file cannot be read, SpecError if a spec cannot be understood.
    """
    path, overrides = Path(path), tuple(overrides)
    if path.is_dir():
        found = path / MASTER_FILE
        if not found.exists():
            raise InputError(f"{path} holds no {MASTER_FILE}")
    else:
        found = path
    if is_spec(found):
        return Loaded(path, (load_spec(found, overrides).experiment,), PARTS)
    if overrides:
        raise InputError(f"{path} is no spec; overrides are for specs")
    registry = load_registry(icon_release or releases()[-1])
    if is_master_file(found, registry):
        models, files = lift_master(found, registry, ntasks)
        return Loaded(path, tuple(model.experiment for model in models), (MASTER, NAMELIST), files)
    model, file = lift_model(found, registry, ntasks)
    return Loaded(path, (model.experiment,), (NAMELIST,), (file,))


def is_spec(path: Path) -> bool:
    """Whether a file is a spec: by its suffix, or because no line of it begins a namelist group."""
    if path.suffix.lower() in _SPEC_SUFFIXES:
        return True
    if path.name == MASTER_FILE:
        return False
    try:
        return _GROUP.search(path.read_bytes()) is None
    except (OSError, ValueError):
        return False  # whoever reads it as a namelist says why it cannot be read
