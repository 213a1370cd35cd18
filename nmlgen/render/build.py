"""A build: the files of an experiment, made in memory."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmlgen._version import __version__
from nmlgen.errors import InputError
from nmlgen.experiment.coupling import COUPLING_FILE
from nmlgen.experiment.experiment import Experiment
from nmlgen.findings import Finding
from nmlgen.models import building_of
from nmlgen.render.batch import batch_script
from nmlgen.render.namelists import write_groups
from nmlgen.render.placement import file_name, placement_file
from nmlgen.render.write import MANIFEST, write_files
from nmlgen.values import field, frozen
from nmlgen.writing import utf_8

if TYPE_CHECKING:
    from nmlgen.spec.spec import Spec

_MARK = "\0"  # stands for the mark until the text is known; no string of a spec can hold it
_MARK_LENGTH = 12
# The lines that say when the experiment ends, and comments, in namelists and in the coupler's configuration.
_OF_THE_END = re.compile(
    r"\n[ \t]*(?:(?:experimentstopdate|forecastleadtime|output_end|end_datetime_string)[ \t]*=|end_date[ \t]*:|[!#]).*",
    re.IGNORECASE,
)
_REASON = re.compile(r"(?<![ \t])[ \t]+! auto: .*")


@frozen(eq=False)
class Build:
    """The files of one experiment: `files` maps names to bytes; `findings` are those of the check."""

    files: Mapping[str, bytes]
    findings: tuple[Finding, ...] = field(default=())

    def write(self, directory: str | Path, force: bool = False) -> tuple[str, ...]:
        """Write the files to a directory, all of them or none; returns the names of those that changed.

        Raises WriteError if a file there was changed by someone else since nmlgen wrote it, unless `force`.
        """
        return write_files(self.files, Path(directory), force)


def make_build(
    spec: Spec,
    findings: tuple[Finding, ...],
    stamp: Mapping[str, str] | None = None,
    *,
    sweep: str | None = None,
) -> Build:
    """Render an experiment.

    `stamp` are further facts for the manifest, such as a time and a host. For a point of a `sweep` of that name the
    batch script, `script_name(sweep)`, is the same as that of all other points which are run in the same way.
    Raises InputError for a machine whose batch system nmlgen only knows by name.
    """
    machine = spec.experiment.machine
    if machine.scheduler == "nqsv":
        raise InputError(
            f"{machine.name} has NQSV, and nmlgen writes jobs for Slurm, for PBS or for no batch system; "
            "nmlgen check judges the rest of the spec"
        )
    script = script_name(sweep or spec.experiment.name)
    texts = _render(spec, script, sweep)
    mark = _hash("".join(texts.values()))
    marks = {script: _hash(texts[script])} if sweep else {}
    files = {name: text.replace(_MARK, marks.get(name, mark)).encode() for name, text in texts.items()}
    files[MANIFEST] = _manifest(spec, findings, files, mark, stamp or {})
    return Build(files, findings)


def script_name(name: str) -> str:
    """What the batch script of an experiment is called."""
    return f"{name}.sbatch"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_MARK_LENGTH]


def _render(spec: Spec, script: str, sweep: str | None) -> dict[str, str]:
    experiment = spec.experiment
    heading = f"written by nmlgen {__version__}, build {_MARK}"
    model = building_of(experiment)
    files = {
        file.name: write_groups(file.groups, (f"{file.title}, {heading}",)) for file in model.namelists(experiment)
    }
    if experiment.coupling is not None and experiment.coupling.text is not None:
        files[COUPLING_FILE] = f"# {COUPLING_FILE} of {experiment.name}, {heading}\n{experiment.coupling.text}"
    if experiment.programs:
        name = file_name(experiment)
        files[name] = placement_file(experiment, f"{name}, {heading}")
    return {**files, script: batch_script(experiment, script, tuple(files), _MARK, sweep=sweep)}


def _advised(spec: Spec) -> dict[str, Any]:
    """What the spec left to the advisor: what it decided, and why."""
    return {
        key: {"value": setting.origin.value, "reason": setting.origin.reason}
        for key, setting in spec.experiment.advised()
    }


def _end(experiment: Experiment, files: Mapping[str, bytes]) -> dict[str, Any]:
    """By what the script knows whether the experiment may go on beyond an end that it has come to: its end, whether it
    can be continued, and a checksum of all that does not change with it; nothing where the end is not known."""
    end = building_of(experiment).end(experiment)
    if not end:
        return {}
    texts = (data.decode() for name, data in sorted(files.items()) if not name.endswith(".sbatch"))
    lasting = _hash("\0".join(_without_end(text) for text in texts))
    return {"until": end["until"], "but_for_the_end": lasting, "can_go_on": end["can_go_on"]}


def _without_end(text: str) -> str:
    lasting = _OF_THE_END.sub("", f"\n{text}")[1:]
    return _REASON.sub("", lasting) if "! auto: " in lasting else lasting


def _manifest(
    spec: Spec, findings: tuple[Finding, ...], files: Mapping[str, bytes], mark: str, stamp: Mapping[str, str]
) -> bytes:
    document = {
        "format": 1,
        "nmlgen": __version__,
        "build": mark,
        "name": spec.experiment.name,
        **(
            {"icon_release": spec.experiment.registry.release}
            if spec.experiment.other is None
            else {"model": spec.experiment.other.name}
        ),
        "inputs": [{"document": d.label, "sha256": d.sha256} for d in spec.documents],
        "overrides": list(spec.overrides),
        **({"advised": advised} if (advised := _advised(spec)) else {}),
        **building_of(spec.experiment).room(spec.experiment),
        **_end(spec.experiment, files),
        "findings": [{"code": f.code, "severity": f.severity.value, "message": f.message} for f in findings],
        "outputs": {name: hashlib.sha256(data).hexdigest() for name, data in sorted(files.items())},
        **({"stamp": dict(stamp)} if stamp else {}),
    }
    return utf_8(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
