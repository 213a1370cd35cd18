"""Comparing what two paths hold, whatever each of them is written in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from attrs import evolve, frozen

from nmlgen.errors import InputError
from nmlgen.experiment.difference import MASTER, PARTS, Difference, Verdict, differences
from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.setting import Certainty, written
from nmlgen.lift.loading import Loaded, load, release_of
from nmlgen.spec.spec import Spec


@frozen
class Comparison:
    """How two experiments stand to each other.

    `differences` holds every setting that is not the same on both sides, with its verdict; `parts` what was compared:
    "master", "namelist", "job". A part that only one side speaks of is left out. `remarks` say what was
    assumed of scripts.
    """

    differences: tuple[Difference, ...]
    parts: tuple[str, ...]
    remarks: tuple[str, ...] = ()

    def of(self, verdict: Verdict) -> tuple[Difference, ...]:
        """The differences with one verdict."""
        return tuple(difference for difference in self.differences if difference.verdict is verdict)

    @property
    def is_same(self) -> bool:
        """Whether nothing is known to differ; what is only explicit on one side does not."""
        return not self.of(Verdict.DIFFERENT)

    @property
    def left_out(self) -> tuple[str, ...]:
        """The parts that were not compared."""
        return tuple(part for part in PARTS if part not in self.parts)


def compare(
    old: str | Path | Spec, new: str | Path | Spec, *, ntasks: int | None = None, icon_release: str | None = None
) -> Comparison:
    """Compare two experiments by meaning: each the path of a spec, of a run script, of a directory with a build or an
    icon_master.namelist, of such a file or of a model's namelist by itself, or a loaded spec; "-" is the standard
    input.

    `icon_release` is the release of namelists and scripts: by default that of a spec or build on either side, else the
    newest. Of a script the first of its ways is compared. Raises InputError if a file cannot be read, SpecError if a
    spec cannot be understood.
    """
    release = icon_release or _release(old) or _release(new)
    left, right = (_loaded(one, ntasks, release) for one in (old, new))
    parts = tuple(part for part in PARTS if part in left.parts and part in right.parts)
    remarks = tuple(dict.fromkeys((*left.remarks, *right.remarks)))
    return Comparison(tuple(_differences(left, right, parts)), parts, remarks)


def _release(one: str | Path | Spec) -> str | None:
    """The release that a spec or a build says; None for anything else."""
    return one.experiment.registry.release if isinstance(one, Spec) else release_of(one)


def _loaded(one: str | Path | Spec, ntasks: int | None, release: str | None) -> Loaded:
    if isinstance(one, Spec):
        return Loaded(Path(one.experiment.name), (one.experiment,), PARTS)
    return load(one, ntasks=ntasks, icon_release=release)


def _differences(left: Loaded, right: Loaded, parts: tuple[str, ...]) -> Iterator[Difference]:
    if len(left.experiments) == len(right.experiments) == 1:
        yield from differences(left.experiments[0], right.experiments[0], parts)
        return
    if MASTER not in parts:
        several = left if len(left.experiments) > 1 else right
        raise InputError(f"{several.path} starts {len(several.experiments)} models: compare the namelist file of one")
    before, after = _by_name(left), _by_name(right)
    for name in dict.fromkeys((*before, *after)):
        if name in before and name in after:
            for difference in differences(before[name], after[name], parts):
                yield evolve(difference, section=f"{name}: {difference.section}")
        else:
            there = written("model_name", name, "")
            old, new = (there, None) if name in before else (None, there)
            yield Difference("models", name, old, new, Verdict.DIFFERENT)


def _by_name(loaded: Loaded) -> dict[str, Experiment]:
    """The models of a run by their model_name."""
    found: dict[str, Experiment] = {}
    for number, experiment in enumerate(loaded.experiments, start=1):
        setting = experiment["master_model_nml", "model_name"]
        name = "" if setting.certainty is Certainty.UNKNOWN else str(setting.value).strip()
        found[name if name and name not in found else f"{name or 'model'} {number}"] = experiment
    return found
