"""The way back: a spec made of files that exist already."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from pathlib import Path, PurePosixPath

from nmlgen.checking import check_experiment
from nmlgen.errors import InputError, SpecError
from nmlgen.experiment.component import MODEL_GROUP
from nmlgen.experiment.difference import JOB, MASTER, Difference, Verdict, differences
from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.group import Group, as_list
from nmlgen.experiment.machine import UNKNOWN_SITE
from nmlgen.experiment.setting import Certainty, Setting
from nmlgen.findings import did_you_mean
from nmlgen.importing_jobs import spec_name, spec_of_job
from nmlgen.lift.loading import Loaded, load
from nmlgen.lift.needs import NAME, reckoned
from nmlgen.lift.placed import as_spec_has_it
from nmlgen.lift.sites import site_named
from nmlgen.source import Source
from nmlgen.spec.document import MAXIMUM_WRITTEN, read_text
from nmlgen.spec.problems import problem as problem_of
from nmlgen.spec.raising import Assumed, Gap, Keys, raised, says_job, unsaid
from nmlgen.spec.site import with_nodes
from nmlgen.spec.spec import load_spec
from nmlgen.spec.write import gaps, size, spec_text
from nmlgen.values import evolve, frozen
from nmlgen.visible import visible

_ANY_SITE = {"slurm": "generic-slurm", "pbs": "generic-pbs"}
_STAND_INS = {
    "grid.file": ("grid.nc", ("dynamics_grid_filename",)),
    "time.start": ("2000-01-01T00:00:00Z", ("experimentstartdate",)),
    "time.stop": ("2000-01-02T00:00:00Z", ("experimentstopdate",)),
    "time.modelTimeStep": ("PT1M", ("modeltimestep",)),
    "namelists.run_nml.dtime": (60.0, ("dtime",)),
}
"""Keys without which no spec loads: a value for the time of the comparison, and the variables that it sets."""

_OF_THE_JOB = "SLM"
_LONGEST_NOTE = 200
"""Characters of a note in a line: a longer one lists all variables of a group."""
_EXPANDED = re.compile(r"\$\{?([A-Za-z_]\w*)")
_OF_A_MODEL = re.compile(r"models\.\w+\.")


@frozen
class ImportedSpec:
    """A spec made of other files: its `text`, and in sentences what it does not say although the files do, or needs
    and they do not say: the `remarks`. Without any it says the same experiment, and builds to it unless that has
    errors of its own, which it ignores where that was asked for: the `refusals`, a line each with the place in the
    files. `notes` tell what was taken where a script may go several ways, and what ICON does not look at: nothing is
    left to do about them."""

    text: str
    remarks: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    refusals: tuple[str, ...] = ()


def import_spec(
    path: str | Path,
    *,
    site: str | None = None,
    name: str | None = None,
    model: str | None = None,
    ntasks: int | None = None,
    icon_release: str | None = None,
    directory: str | Path = ".",
    variables: Mapping[str, str] | None = None,
    arguments: Sequence[str] = (),
    hosts: str | Path | None = None,
    add_ignore: bool = False,
) -> ImportedSpec:
    """Make a spec of a run script, of a directory with a build or an icon_master.namelist, of such a file, of a model's
    namelist by itself, of a configuration of mkexp, or of a job of palmrun; "-" is the standard input.

    `site` and `name` are those of the spec, `model` is the model_name of the only one to take where there are several,
    `directory` is where the spec will lie; `ntasks` and `icon_release` are what the files do not say, `variables` what
    is set before a script begins: a fragment of ICON's own run scripts leaves some to its header. `arguments` are the
    words that a script is started with; `hosts` is the file of hosts of a run, where another program makes it. With
    `add_ignore` the spec ignores each rule of the refusals, for what it says of the files, so that it builds. Of
    several ways that a script may go the first is taken. Nothing is dropped in silence: the spec is loaded again and
    held against the files. Raises InputError if there is no such file, model or site.
    """
    named = site_named(site) if site is not None else None
    if (of_job := spec_of_job(Path(path), site, name, ntasks)) is not None:
        return ImportedSpec(*of_job)
    header = named.machine.run_script_variables if named is not None else None
    machine = named.machine if named is not None else None
    loaded = load(
        path,
        ntasks=ntasks,
        icon_release=icon_release,
        machine=machine,
        variables=variables,
        header=header,
        arguments=arguments,
        hosts=hosts,
    )
    experiment = _chosen(loaded, model)
    given = experiment.machine.name
    any_site = _ANY_SITE.get(experiment.machine.scheduler, _ANY_SITE["slurm"])
    home = named or site_named(given if given != UNKNOWN_SITE else any_site)
    experiment = evolve(
        experiment,
        name=name or spec_name(experiment.name) or spec_name(_known_as(loaded, experiment)) or "experiment",
        machine=with_nodes(home.machine, experiment.machine.said),
        master=experiment.master if MASTER in loaded.parts else tuple(_entries(experiment)),
    )
    if loaded.finds_programs:
        experiment = as_spec_has_it(experiment)
    keys = raised(experiment, home, loaded.parts) | {"site": _seen_from(Path(directory), home.name)}
    if experiment.registry.path is not None:
        keys["model"]["registry"] = _seen_from(Path(directory), experiment.registry.reference)
    if size(keys) > MAXIMUM_WRITTEN:  # reading all of it again takes longest
        first = loaded.files[0].beginning if loaded.files else None
        raise SpecError((problem_of("SPC006", f"a spec of it has more than {MAXIMUM_WRITTEN} values and keys", first),))
    heading = tuple(_heading(loaded, experiment, is_site_given=site is not None or given != UNKNOWN_SITE))
    text = spec_text(keys, heading)
    gaps_of_ours = dict(gaps(keys))
    document = read_text(Source("the spec", text)).plain() | {"site": home.name}
    filled = set(_filled_in(document, gaps_of_ours))
    missing = (f"{key}: {reason}{_needed(reason, loaded)}" for key, reason in gaps_of_ours.items())
    remarks = [*loaded.remarks, *unsaid(experiment), *missing]
    refusals: dict[str, str] = {}
    try:
        again = load_spec(document).experiment
    except SpecError as error:
        remarks += _unbuildable(error, gaps_of_ours)
    else:
        remarks += _lost(loaded, experiment, again, {*_said(keys, gaps_of_ours), *filled})
        refusals = {} if remarks else dict(_refusals(experiment, again))
    if add_ignore and refusals:
        text = spec_text(keys | {"ignore": {code: visible(reason) for code, reason in refusals.items()}}, heading)
    if JOB in loaded.parts and (undecided := _undecided_model(experiment)) is not None:
        advice = "say with --set what it hangs on, or take one model with --model"
        lost = f"{loaded.lost}: what this does is not known, so " if loaded.lost is not None else f"{path}: "
        where = lost if undecided.span is None else f"{undecided.span}: "
        reason = f"{where}which models run is not known: {advice}"
        others = len(remarks)
        if undecided.span is None and loaded.remarks:  # it ends before it says which models there are
            reason, others = "; ".join(loaded.remarks), others - len(loaded.remarks)
        remarks = [f"{reason} ({others} gaps hang on that)"]
    return ImportedSpec(text, tuple(remarks), (*loaded.choices, *_overlooked(loaded)), tuple(refusals.values()))


def _needed(reason: str, loaded: Loaded) -> str:
    """Which variables have to be said for what only a running shell knows."""
    counted = NAME.findall(reckoned(reason))
    used = dict.fromkeys((*_EXPANDED.findall(reason), *(name for name in counted if name in loaded.needs)))
    names = list(dict.fromkeys(name for variable in used for name in loaded.needs.get(variable, (variable,))))
    return f"; say with --set what {' and '.join(names)} {'is' if len(names) == 1 else 'are'}" if names else ""


def _entries(experiment: Experiment) -> Iterator[Group]:
    """What is known of the models without their master namelist: the type of an only one that is no atmosphere, for
    that is what a spec has that says nothing. A file with nothing but groups of JSBACH is a part of some model."""
    for component in experiment.components if len(experiment.models) == 1 else ():
        setting = component[MODEL_GROUP, "model_type"]
        is_known = setting.certainty is not Certainty.UNKNOWN and component.namelist
        if is_known and component.kind != "atmosphere":
            yield Group(MODEL_GROUP, {"model_type": setting})


def _seen_from(directory: Path, site: str) -> str:
    """What a spec in a directory calls a site that has this name here; only a path has another."""
    if not site.startswith(("./", "../")):
        return site
    path = os.path.relpath(site, directory)
    return path if path.startswith("../") else f"./{path}"


def _chosen(loaded: Loaded, model: str | None) -> Experiment:
    """The experiment with all its models, or with the one that is asked for alone."""
    experiment = loaded.experiment
    if model is None:
        return experiment
    names = [component.title for component in experiment.components]
    if model not in names:
        notes = did_you_mean(model, names) or (f"there is {', '.join(names)}",)
        raise InputError(f'{loaded.path} starts no model "{model}"; {notes[0]}')
    chosen = experiment.components[names.index(model)]
    others = {id(other.entry) for other in experiment.models if other is not chosen.model}
    master = tuple(group for group in experiment.master if id(group) not in others)
    return evolve(experiment, master=master, models=(chosen.model,))


def _text(setting: Setting) -> str:
    return "" if setting.certainty is Certainty.UNKNOWN else str(setting.value).strip()


def _known_as(loaded: Loaded, experiment: Experiment) -> str:
    """What an experiment without a name is called: like its namelist, else like its directory."""
    files = [_text(component[MODEL_GROUP, "model_namelist_filename"]) for component in experiment.components]
    file = files[0] if MASTER in loaded.parts and len(files) == 1 else ""
    path = loaded.path.absolute()
    known = Path(file).name or (path.name if JOB not in loaded.parts else path.stem)
    return re.sub(r"^NAMELIST_|\.(nml|namelist)$", "", known, flags=re.IGNORECASE)


def _heading(loaded: Loaded, experiment: Experiment, *, is_site_given: bool) -> Iterator[str]:
    yield f"Imported from {loaded.path}"
    if JOB not in loaded.parts:
        yield "Namelists do not say what the job asks for, nor where the model and its files lie: add that."
    if not is_site_given and JOB in loaded.parts:
        yield f"The script does not say which machine it is for: {experiment.machine.name} stands for any."
    elif not is_site_given:
        yield f"Nor do they say which machine it is: {experiment.machine.name} stands for any."


def _overlooked(loaded: Loaded) -> Iterator[str]:
    for file in loaded.files:
        for problem in file.overlooked:
            yield f"{problem.span}: {problem.message}; it is not in the spec"


def _unbuildable(error: SpecError, missing: Mapping[str, str]) -> Iterator[str]:
    """Why a spec does not load, but for what is known to be missing."""
    for finding in error.findings:
        if not any(finding.message == f"{key} is not set" for key in missing):
            yield f"the spec cannot be built as it is: {'; '.join((finding.message, *finding.notes))}"


def _lost(loaded: Loaded, experiment: Experiment, again: Experiment, said: set[str]) -> Iterator[str]:
    """What a spec that is loaded again does not say although the files do, but for the names that were told of."""
    if "job-name" not in experiment.directives:
        said = said | {"--job-name"}  # sbatch takes the file's name, nmlgen that of the experiment
    is_lost_name = "output_filename" in said
    for change in differences(experiment, again, loaded.parts):
        is_lost = change.verdict is Verdict.EXPLICIT and change.old is not None and change.old.is_written
        if change.verdict is not Verdict.DIFFERENT and not is_lost:
            continue
        if change.old is None and JOB in loaded.parts and not says_job(experiment):
            continue  # what the site adds
        if is_lost_name and change.section.endswith('output_nml ""') and _is_in_a_stream(change.old, change, again):
            continue  # its stream has another name, for only a run knows this one
        if is_lost_name and change.old is None and _is_in_a_stream(change.new, change, experiment):
            continue
        is_further_copy = re.search(r"_nml \d+$", change.section) is not None  # `unsaid` tells of it
        if change.name.lower() not in said and not is_further_copy:
            yield f"the spec does not say the same of {change.section} {change.name}"


def _is_in_a_stream(setting: Setting | None, change: Difference, experiment: Experiment) -> bool:
    """Whether some stream of an experiment has this setting of another stream."""
    if "output_nml" not in change.section or setting is None or setting.certainty is Certainty.UNKNOWN:
        return False
    streams = (stream for component in experiment.components for stream in component.streams)
    found = (stream.settings.get(change.name.lower()) for stream in streams)
    known = (other.value for other in found if other is not None and other.certainty is not Certainty.UNKNOWN)
    return any(as_list(value) == as_list(setting.value) for value in known)


def _refusals(experiment: Experiment, again: Experiment) -> Iterator[tuple[str, str]]:
    """The rules whose errors stop a build of a spec, each with a line that has the place in the files that it comes
    from; but none of the job where the files do not say what it asks for."""
    errors = check_experiment(again).errors
    if not says_job(experiment):
        errors = tuple(found for found in errors if not found.code.startswith(_OF_THE_JOB))
    if not errors:
        return
    places = {(found.code, found.message): found.span for found in check_experiment(experiment).errors}
    for code, alike in groupby(sorted(errors, key=attrgetter("code")), attrgetter("code")):
        found, *others = alike
        place = places.get((code, found.message))
        more = f" (and {len(others)} more)" if others else ""
        said = (found.message, *(note for note in found.notes if len(note) <= _LONGEST_NOTE))
        yield code, f"{'' if place is None else f'{place}: '}{code} {'; '.join(said)}{more}"


def _undecided_model(experiment: Experiment) -> Setting | None:
    """The name of one of several models that only a run knows, at best one that stands somewhere."""
    entries = [model.entry for model in experiment.models]
    names = [entry.settings["model_name"] for entry in entries if "model_name" in entry.settings]
    unknown = [name for name in names if name.certainty is Certainty.UNKNOWN] if len(entries) > 1 else []
    return min(unknown, key=lambda name: name.span is None, default=None)


def _filled_in(document: Keys, missing: Iterable[str]) -> Iterator[str]:
    """The variables that values of ours set in a document, in the place of keys without which no spec loads."""
    for key in missing:
        stand_in = _STAND_INS.get(_OF_A_MODEL.sub("", key))
        if stand_in is not None:
            *sections, name = key.split(".")
            part = document
            for section in sections:
                part = part.setdefault(section, {})
            part[name], variables = stand_in
            yield from variables


def _said(keys: Keys, found: Mapping[str, str]) -> Iterator[str]:
    """The names of what is known not to be the same, because it is not in the spec or was filled in."""
    for key in found:
        section, _, name = key.partition(".")
        yield f"--{name.replace('_', '-')}" if section == "job" else key.rpartition(".")[2].lower()
    for key, value in (keys.get("job") or {}).items():
        if isinstance(value, Assumed):
            yield f"--{key.replace('_', '-')}"
    for part in (keys, *(keys.get("models") or {}).values()):
        grid = (part.get("grid") or {}).get("file")
        if isinstance(grid, (Assumed, Gap)):
            file = grid.value if isinstance(grid, Assumed) else _STAND_INS["grid.file"][0]
            yield PurePosixPath(str(file)).name.lower()
