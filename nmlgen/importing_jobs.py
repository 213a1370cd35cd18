"""A spec made of a job of a model that is not ICON, as the program that starts it keeps that, or of its namelist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nmlgen import disk
from nmlgen.errors import SpecError
from nmlgen.files import Files
from nmlgen.lift.file_kinds import is_script
from nmlgen.lift.namelists import MASTER_FILE, read_namelist
from nmlgen.models import job_of, model_of
from nmlgen.models.job import ModelJob
from nmlgen.spec.document import MAXIMUM_WRITTEN
from nmlgen.spec.other_models import NO_REGISTRY
from nmlgen.spec.problems import problem as problem_of
from nmlgen.spec.raising import said_in
from nmlgen.spec.spec import load_spec
from nmlgen.spec.write import size, spec_text


def spec_of_job(
    path: Path, site: str | None, name: str | None, ntasks: int | None
) -> tuple[str, tuple[str, ...], tuple[str, ...]] | None:
    """The text of the spec of a job's directory, what is left to do, and what was taken; None where none is known."""
    files = Files()
    job = job_of(path, files) if disk.is_directory(path) else _of_namelist(path, files)
    if job is None:
        return None
    found = read_namelist(job.namelist, NO_REGISTRY, is_master=False, files=files)
    known = dict(job.keys)
    asked = known.pop("job", {}) | ({} if ntasks is None else {"ntasks": ntasks})
    keys: dict[str, Any] = {
        "nmlgen": 1,
        "name": name or job.name,
        "site": site or f"generic-{job.scheduler}",
        **known,
        "job": asked,
        "namelists": {group.name: said_in(group) for group in found.groups},
    }
    if size(keys) > MAXIMUM_WRITTEN:
        first = found.beginning
        raise SpecError((problem_of("SPC006", f"a spec of it has more than {MAXIMUM_WRITTEN} values and keys", first),))
    heading = [f"Imported from {path}"]
    if site is None:
        heading.append(f"Nothing says which machine it is for: generic-{job.scheduler} stands for any.")
    return spec_text(keys, heading), (*job.remarks, *_left(keys)), (*job.notes, *_overlooked(found))


def _of_namelist(path: Path, files: Files) -> ModelJob | None:
    """The job that a namelist by itself is of; None for ICON's and for what nobody knows."""
    if path.name == MASTER_FILE or not disk.is_file(path) or is_script(path, files.read(path)):
        return None
    model = model_of(path, files.read(path).text)
    if model is None:
        return None
    executable = getattr(model, "executable", model.name.lower())
    keys = {"model": {"name": model.name.lower(), "executable": executable}}
    notes = (f"model.executable: {executable}, as nothing says where the model lies",)
    remarks = ("a namelist does not say what else a run needs: input_files, and the job's account and time",)
    return ModelJob(spec_name(path.absolute().parent.name) or model.name.lower(), path, keys, "slurm", remarks, notes)


def spec_name(text: str) -> str:
    """A text as the name of a spec; empty if nothing is left of it."""
    return re.sub(r"[^A-Za-z0-9_.+-]+", "_", text).lstrip("_.+-")[:64]


def _left(keys: dict[str, Any]) -> Iterator[str]:
    """What the spec still needs before it loads."""
    if not {"ntasks", "ntasks_per_node"} & keys["job"].keys():
        yield "job: nothing says how many tasks there are: --ntasks, or job.ntasks_per_node"
    try:
        load_spec(keys)
    except SpecError as error:
        for finding in error.findings:
            yield f"the spec cannot be built as it is: {'; '.join((finding.message, *finding.notes))}"


def _overlooked(found: Any) -> Iterator[str]:
    for problem in found.overlooked:
        yield f"{problem.span}: {problem.message}; it is not in the spec"
