"""Comparing what two paths hold, whatever each of them is written in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from nmlgen.errors import InputError
from nmlgen.experiment.difference import JOB, MASTER, PARTS, Difference, Verdict, differences
from nmlgen.experiment.machine import Machine
from nmlgen.lift.loading import Loaded, is_spec_file, load, release_of, site_of
from nmlgen.lift.placed import as_spec_has_it
from nmlgen.lift.sites import site_named
from nmlgen.logs.record import LegRecord, Ran, ran_otherwise, records_of
from nmlgen.spec.raising import says_job
from nmlgen.spec.spec import Spec
from nmlgen.values import evolve, frozen


@frozen
class Comparison:
    """How two experiments stand to each other.

    `differences` holds every setting that is not the same on both sides, with its verdict; `parts` what was compared:
    "master", "namelist", "job". A part that only one side speaks of is left out, such as the job of a fragment.
    `remarks` say what was assumed of scripts. `ran` is what two directories in which ICON ran say that it ran
    otherwise, by the records of their legs: another executable, other inputs, modules or libraries.
    """

    differences: tuple[Difference, ...]
    parts: tuple[str, ...]
    remarks: tuple[str, ...] = ()
    ran: tuple[Ran, ...] = ()

    def of(self, verdict: Verdict) -> tuple[Difference, ...]:
        """The differences with one verdict."""
        return tuple(difference for difference in self.differences if difference.verdict is verdict)

    @property
    def is_same(self) -> bool:
        """Whether nothing is known to differ; what is only explicit on one side does not."""
        return not self.of(Verdict.DIFFERENT) and not self.ran

    @property
    def left_out(self) -> tuple[str, ...]:
        """The parts that were not compared."""
        return tuple(part for part in PARTS if part not in self.parts)


def compare(
    old: str | Path | Spec,
    new: str | Path | Spec,
    *,
    ntasks: int | None = None,
    icon_release: str | None = None,
    variables: Mapping[str, str] | None = None,
    site: str | None = None,
    arguments: Sequence[str] = (),
    hosts: str | Path | None = None,
) -> Comparison:
    """Compare two experiments by meaning: each the path of a spec, of a run script, of a directory with a build or an
    icon_master.namelist, of such a file or of a model's namelist by itself, or a loaded spec; "-" is the standard
    input.

    `icon_release` is the release of namelists and scripts: by default that of a spec or build on either side, else the
    newest. `variables` are set before a script begins; what the header of ICON's own run scripts sets before one of
    their fragments is that of the `site`, by default that of a spec or build on the other side. `arguments` are the
    words that scripts are started with, and `hosts` is the file of hosts that their runs had, where another program
    makes it. Of a script the first of its ways is compared. Raises InputError if a file cannot be read or there is no
    such site, SpecError if a spec cannot be understood.
    """
    before, after = _read_if_spec(old), _read_if_spec(new)
    release = icon_release or _release(before) or _release(after)
    named = site_named(site).machine if site is not None else None
    machine = named or _machine(before) or _machine(after)

    def loaded(one: Path | Loaded) -> Loaded:
        if isinstance(one, Loaded):
            return one
        found = load(
            one,
            ntasks=ntasks,
            icon_release=release,
            machine=named,
            variables=variables,
            header=machine.run_script_variables if machine is not None else None,
            arguments=arguments,
            hosts=hosts,
        )
        if machine is None or not found.finds_programs:
            return found
        return evolve(found, experiment=as_spec_has_it(evolve(found.experiment, machine=machine)))

    left, right = loaded(before), loaded(after)
    parts = tuple(part for part in PARTS if part in _told(left) and part in _told(right))
    for one, another in ((left, right), (right, left)):
        other = one.experiment.other
        if other is not None and another.experiment.other is None:
            names = " or ".join(other.files)
            raise InputError(f"{one.path} is a spec of {other.title}: compare two specs, or {names} of two builds")
    several = next((one for one in (left, right) if len(one.experiment.models) > 1), None)
    if several is not None and MASTER not in parts:
        count = len(several.experiment.models)
        raise InputError(f"{several.path} starts {count} models: compare the namelist file of one")
    remarks = tuple(dict.fromkeys((*left.choices, *left.remarks, *right.choices, *right.remarks)))
    ran = ran_otherwise(_records(before), _records(after))
    return Comparison(differences(left.experiment, right.experiment, parts), parts, remarks, ran)


def _read_if_spec(one: str | Path | Spec) -> Path | Loaded:
    """A spec, read once; the path of anything else."""
    if isinstance(one, Spec):
        return Loaded(Path(one.experiment.name), one.experiment, PARTS)
    path = Path(one)
    return load(path) if is_spec_file(path) else path


def _records(one: Path | Loaded) -> tuple[LegRecord, ...]:
    """What ran in a directory; nothing of anything else."""
    return () if isinstance(one, Loaded) or not one.is_dir() else records_of(one)


def _told(loaded: Loaded) -> tuple[str, ...]:
    """The parts that one side speaks of: what a fragment of a run script exports or links is no job yet."""
    return loaded.parts if says_job(loaded.experiment) else tuple(part for part in loaded.parts if part != JOB)


def _release(one: Path | Loaded) -> str | None:
    """The release that a spec or a build says; None for anything else."""
    return one.experiment.registry.reference if isinstance(one, Loaded) else release_of(one)


def _machine(one: Path | Loaded) -> Machine | None:
    """The site of a spec or a build; None for anything else."""
    return one.experiment.machine if isinstance(one, Loaded) else site_of(one)
