"""Whatever an experiment is written in, lifted: a spec, a namelist file, or a directory with a master namelist."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from attrs import evolve, frozen

from nmlgen.errors import InputError, SpecError
from nmlgen.experiment.difference import MASTER, NAMELIST, PARTS
from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.record import recorded
from nmlgen.experiment.setting import written
from nmlgen.lift.namelists import MASTER_FILE, NamelistFile, is_master_file, lift_master, lift_model
from nmlgen.namelist.registry import load_registry, releases
from nmlgen.spec.raising import read_site_of
from nmlgen.spec.spec import load_spec

_SPEC_SUFFIXES = (".yaml", ".yml")
_SPEC_KEY = re.compile(rb"^(nmlgen|extends|site|model)[ \t]*:", re.MULTILINE)


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
    script = _own_script(found.parent)
    known = recorded(_text(script)) if script is not None else {}
    registry = load_registry(icon_release or known.get("model.release") or releases()[-1])
    if is_master_file(found, registry):
        models, files = lift_master(found, registry, ntasks)
        experiments = tuple(_with_record(model.experiment, script, known) for model in models)
        return Loaded(path, experiments, (MASTER, NAMELIST), files)
    model, file = lift_model(found, registry, ntasks)
    if not file.groups:
        raise InputError(f"{path} is neither a spec nor a namelist file: ICON would find no group in it")
    return Loaded(path, (model.experiment,), (NAMELIST,), (file,))


def is_spec(path: Path) -> bool:
    """Whether a file is a spec: by its suffix, or because it has the keys of one."""
    if path.suffix.lower() in _SPEC_SUFFIXES:
        return True
    if path.name == MASTER_FILE:
        return False
    try:
        return _SPEC_KEY.search(path.read_bytes()) is not None
    except (OSError, ValueError):
        return False  # whoever reads it as a namelist says why it cannot be read


def _own_script(directory: Path) -> Path | None:
    """The one batch script in a directory that nmlgen wrote; None if there is none, or more than one."""
    found = [path for path in sorted(directory.glob("*.sbatch")) if recorded(_text(path))]
    return found[0] if len(found) == 1 else None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _with_record(experiment: Experiment, script: Path | None, known: Mapping[str, str]) -> Experiment:
    """The experiment with what the batch script beside its namelists remembers."""
    if script is None:
        return experiment
    machine = experiment.machine
    with suppress(SpecError):  # a site file that lies elsewhere now
        machine = read_site_of(known["site"], Path()).machine if "site" in known else machine
    grid = known.get("grid.name")
    grid_name = written("grid.name", grid, script.name) if grid is not None else None
    return evolve(experiment, name=script.stem, machine=machine, grid_name=grid_name)
