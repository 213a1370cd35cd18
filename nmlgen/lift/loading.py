"""Whatever an experiment is written in, lifted: a spec, a run script, namelist files, or a directory with them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from nmlgen import disk
from nmlgen.disk import read_bytes
from nmlgen.errors import InputError
from nmlgen.experiment.difference import JOB, MASTER, NAMELIST, PARTS, Verdict, differences
from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.machine import Machine
from nmlgen.experiment.record import recorded
from nmlgen.files import STANDARD_INPUT, Files
from nmlgen.findings import some_of
from nmlgen.lift.built import machine_of, with_record
from nmlgen.lift.file_kinds import SPEC_SUFFIXES, SUFFIXES, is_script
from nmlgen.lift.fragments import fragment_name
from nmlgen.lift.jobs import Job, path_of
from nmlgen.lift.launches import options_of
from nmlgen.lift.mkexp import CONFIG_SUFFIX, is_mkexp, lift_config
from nmlgen.lift.namelists import MASTER_FILE, NamelistFile, is_master_file, lift_master, lift_model
from nmlgen.lift.needs import Needs
from nmlgen.lift.placed import read_hosts, with_placement
from nmlgen.lift.releases import listed, own_script, registry_for, text_of
from nmlgen.lift.scripts import LiftedScript, Way, lift_script, slurm_variables
from nmlgen.lift.wrappers import is_named_icon
from nmlgen.namelist.registry import Registry
from nmlgen.script.events import Ended, Ran, Written
from nmlgen.script.options import StaticWord
from nmlgen.script.values import Value, within
from nmlgen.script.worlds import WrittenText
from nmlgen.source import Source, Span
from nmlgen.spec.spec import load_spec
from nmlgen.values import evolve, frozen

_MOST_SHOWN = 3  # settings that another way of a script has otherwise
_EXPERIMENT = re.compile(r"^[ \t]*(?:export[ \t]+)?EXPERIMENT=['\"]?([\w.+-]+)", re.MULTILINE)
_SPEC_KEY = re.compile(rb"^(nmlgen|extends|site|model)[ \t]*:", re.MULTILINE)


@frozen(eq=False)
class Loaded:
    """What a path holds.

    `parts` names what of the `experiment` the files say at all: of "master", "namelist" and "job". `files` are the
    namelist files that were read. `choices` say what was assumed of a script where only a run knows which way it goes,
    `remarks` what it does that no experiment holds; `lost` is where a script came first to what may set anything. It
    `finds_programs` where a launch starts several, by wrappers and files that nmlgen did not write. `needs` are the
    variables of a script, each with those that its surroundings have to set before it is known.
    """

    path: Path
    experiment: Experiment
    parts: tuple[str, ...]
    files: tuple[NamelistFile, ...] = ()
    choices: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    finds_programs: bool = False
    lost: Span | None = None
    needs: Mapping[str, tuple[str, ...]] = {}

    @property
    def release(self) -> str:
        """The ICON release by which it was read."""
        return self.experiment.registry.release


def load(
    path: str | Path,
    *,
    overrides: Iterable[str] = (),
    ntasks: int | None = None,
    icon_release: str | None = None,
    machine: Machine | None = None,
    files: Files | None = None,
    variables: Mapping[str, str] | None = None,
    header: Mapping[str, str] | None = None,
    arguments: Sequence[str] = (),
    hosts: str | Path | None = None,
    parsed: LiftedScript | None = None,
) -> Loaded:
    """Lift a spec (with `overrides` laid over it), a run script, an icon_master.namelist, a model's namelist by itself,
    a configuration of mkexp, or a directory that holds a build, a master namelist or one run script; "-" is standard
    input.

    `ntasks` is the number of MPI tasks, `icon_release` the release, or the path of a registry file, and `machine` the
    site of what does not say them; a spec says its own. `variables` are set before a script begins, `header` before a
    fragment of ICON's run scripts; `arguments` are the words that a script is started with, and `hosts` is the file of
    hosts that a run of it had, where another program makes that; `parsed` is what the script was lifted to when
    something else was said: its text need not be read again. Of the ways that a script may go the first is taken, and
    the choices tell of the others. `files` gives other texts than those on the disk. Raises InputError if a file cannot
    be read, SpecError if a spec cannot be understood.
    """
    path, overrides = Path(path), tuple(overrides)
    files = files or Files()
    found = _within(path) if disk.is_directory(path) else path
    source = files.read(found)
    is_shell = found.name != MASTER_FILE and is_script(found, source)
    if not is_shell and is_spec(found):
        return Loaded(path, load_spec(found, overrides).experiment, PARTS)
    if overrides:
        raise InputError(f"{path} is no spec; overrides are for specs")
    if is_shell:

        def lifted_from(script: Path, text: str) -> LiftedScript:
            return lift_script(
                script,
                registry_for(script, text, icon_release),
                ntasks=ntasks,
                files=files,
                machine=machine,
                variables=variables,
                header=header or {},
                decides=True,
                arguments=arguments,
                parsed=parsed,
            )

        def placed(script: Path, lifted: LiftedScript) -> Loaded:
            loaded = _of_script(script, lifted)
            names = read_hosts(hosts, files) if hosts is not None else None
            found = with_placement(
                loaded.experiment, lifted.ways[0].job, script.parent, files, hosts=names, variables=variables
            )
            finds = found.experiment is not loaded.experiment
            if not finds:
                loaded = _without_wrapper(loaded, lifted.ways[0].job)
                found = evolve(found, experiment=loaded.experiment)
            remarks = (*loaded.remarks, *found.remarks)
            notes = (*loaded.choices, *found.notes)
            return evolve(loaded, experiment=found.experiment, choices=notes, remarks=remarks, finds_programs=finds)

        lifted = lifted_from(found, source.text)
        checked = _checked(lifted)
        names = [f"exp.{checked}{found.suffix if found.suffix == '.run' else ''}", f"exp.{checked}"] if checked else []
        meant = next((there for name in names if disk.is_file(there := found.parent / name)), None)
        if meant is None:
            return placed(path, lifted)
        loaded = placed(meant, lifted_from(meant, files.read(meant).text))
        note = f"{path} checks the experiment {checked}, and writes no namelist: this is of {meant}, which it runs"
        return evolve(loaded, choices=(note, *loaded.choices))
    if is_mkexp(found, source):
        return _of_config(path, found, registry_for(found, source.text, icon_release), ntasks, files)
    script = own_script(found.parent)
    beside = files.read(script) if script is not None else None
    known = recorded(beside.text) if beside is not None else {}
    registry = registry_for(found, source.text if beside is None else beside.text, icon_release)
    machine = machine or machine_of(known, "none")
    if is_master_file(found, files):
        experiment, read = lift_master(found, registry, ntasks, files)
        return Loaded(path, _beside(experiment, script, beside, machine), (MASTER, NAMELIST), read)
    experiment, file = lift_model(found, registry, ntasks, files)
    if not file.groups and found.suffix == CONFIG_SUFFIX:
        raise InputError(
            f"{path} has no section namelists: of mkexp's configurations, one that has makes an experiment"
        )
    if not file.groups:
        raise InputError(f"{path} is neither a spec, nor a script, nor a namelist: ICON would find no group in it")
    return Loaded(path, experiment, (NAMELIST,), (file,))


def _of_config(path: Path, config: Path, registry: Registry, ntasks: int | None, files: Files) -> Loaded:
    """The first variant of a configuration of mkexp, which is a part of one that several files make."""
    lifted = lift_config(config, registry, ntasks=ntasks, files=files)
    experiment = lifted.experiments[0]
    if not any(file.groups for file in lifted.files):
        raise InputError(f"{path} has a section namelists and no group in it that ICON would read")
    parts = (MASTER, NAMELIST) if experiment.master else (NAMELIST,)
    choices = tuple(f"{len(lifted.experiments)} variants; the first is taken" for _ in lifted.experiments[1:2])
    remark = f"{path}: mkexp lays this over other files; what only they say is not in the spec"
    return Loaded(path, experiment, parts, lifted.files, choices, (remark,))


def release_of(path: str | Path) -> str | None:
    """The ICON release, or the registry file, that a script of a build says; None for anything else."""
    return _record(Path(path)).get("model.release")


def site_of(path: str | Path) -> Machine | None:
    """The machine that a script of a build is for; None for anything else."""
    return machine_of(_record(Path(path)), "none")


def is_spec_file(path: Path) -> bool:
    """Whether a path is that of a spec."""
    return path != STANDARD_INPUT and not disk.is_directory(path) and is_spec(path)


def _record(path: Path) -> Mapping[str, str]:
    """What the script of a build says of its spec; nothing of anything else."""
    if path == STANDARD_INPUT:
        return {}
    script = own_script(path) if disk.is_directory(path) else path
    return recorded(text_of(script)) if script is not None else {}


def _within(directory: Path) -> Path:
    """The file of a directory that says what is run: the script of a build, a master namelist, or the only script."""
    script = own_script(directory)
    if script is not None:
        return script
    master = directory / MASTER_FILE
    if disk.exists(master):
        return master
    scripts = [path for path in listed(directory) if disk.is_file(path) and path.suffix in SUFFIXES]
    if len(scripts) == 1:
        return scripts[0]
    raise InputError(f"{directory} holds no {MASTER_FILE} and {'several run scripts' if scripts else 'no run script'}")


def _of_script(path: Path, lifted: LiftedScript) -> Loaded:
    """The first way of a script: the one on which most happens."""
    first = lifted.ways[0]
    if first.experiment is None and first.files:
        raise InputError(f"{path}: which component of ICON reads its namelists cannot be told by the groups in them")
    record = recorded(lifted.script.source.text)
    if first.experiment is None and "model.name" in record:
        raise InputError(f"{path} is a build of {record['model.name']}: name the namelist in it")
    if first.experiment is None:
        raise InputError(f"{path} writes no namelist that ICON would read, and there is none beside it{_meant(lifted)}")
    parts = PARTS if first.has_master else (NAMELIST, JOB)
    if record:  # a build
        return Loaded(path, first.experiment, parts, first.files)
    choices = tuple(
        dict.fromkeys((*_other_ways(lifted, parts), *_depending(lifted), *_chosen(first), *first.job.notes.values()))
    )
    remarks = tuple(
        dict.fromkeys((*first.job.remarks, *first.job.unplaced, *_gives_up(lifted), *_without_start(path, lifted)))
    )
    place = lifted.evaluation.lost
    lost = None if place is None else place.text.span(place.start, place.end)
    told = {name for name, text in slurm_variables(first.job.directives).items() if text is not None}
    if lifted.is_fragment and fragment_name(path.name) is not None:
        told.add("EXPNAME")
    needs = Needs(lifted.evaluation, told)
    return Loaded(path, first.experiment, parts, first.files, choices, remarks, lost=lost, needs=needs)


def _without_wrapper(loaded: Loaded, job: Job) -> Loaded:
    """What a spec can say of a launch that gives its program arguments, as to a wrapper that starts ICON: the binary
    alone."""
    launch = job.launch
    if launch is None or launch.executable is None or "--multi-prog" in options_of(launch):
        return loaded
    if any(word.text == ":" for word in launch.arguments):
        return loaded
    arguments = set(launch.arguments)
    around = [word for word in launch.started if word is not launch.executable and word not in arguments]
    if not around and not arguments:
        return loaded
    experiment = loaded.experiment
    binary = next(filter(is_named_icon, launch.arguments), None) if not is_named_icon(launch.executable) else None
    if binary is not None:
        experiment = evolve(experiment, executable=path_of(binary, job))
    words = " ".join(map(_seen, (*around, launch.executable, *launch.arguments)))
    left = _seen(binary or launch.executable)
    remark = (
        f"{launch.executable.span}: the model is started by `{words}`: the spec starts {left} and nothing around it"
    )
    return evolve(loaded, experiment=experiment, remarks=(*loaded.remarks, remark))


def _seen(word: StaticWord) -> str:
    return word.span.text if word.text is None else word.text


def _gives_up(lifted: LiftedScript) -> Iterator[str]:
    """Where a script ends for certain before it makes a master namelist."""
    first, end = lifted.ways[0], len(lifted.script.text.text)
    for event in lifted.evaluation.events if not first.has_master else ():
        if isinstance(event, Ended) and event.guard <= first.world.guard:
            if not event.lost and event.place.text is lifted.script.text and event.place.end < end:
                span = event.place.text.span(event.place.start, event.place.end)
                yield f"{span}: here the script ends, before icon_master.namelist is made; see what it asks for"
            return


def _without_start(path: Path, lifted: LiftedScript) -> Iterator[str]:
    """That a whole script leaves the start of the model to another job, whose part cannot be seen here."""
    has_ending = lifted.is_fragment and fragment_name(path.name) is not None  # exec.iconrun, which starts it
    if not has_ending and not lifted.ways[0].job.starts:
        yield f"{path}: nothing that it runs itself starts ICON; what the job that does asks and brings is not known"


def _meant(lifted: LiftedScript) -> str:
    """What to read instead of one of ICON's scripts that check an experiment and run it by its own script."""
    checked = _checked(lifted)
    return f"; it checks the experiment {checked}, whose script is exp.{checked}" if checked else ""


def _checked(lifted: LiftedScript) -> str | None:
    """The experiment that a script without namelists of its own runs by another script, to check it."""
    found = _EXPERIMENT.search(lifted.script.source.text)
    return found[1] if found and lifted.ways[0].experiment is None and not lifted.ways[0].files else None


def _depending(lifted: LiftedScript) -> Iterator[str]:
    """What of the namelists is written under a condition that nobody knows, where no other way was followed."""
    first, *others = lifted.ways
    told = set(first.job.guard)
    for way in others:
        told |= {answer for answer in first.world.guard if -answer in way.world.guard}
    origins = [file.document.origin for file in first.files]
    places = {s.piece.place for origin in origins if isinstance(origin, WrittenText) for s in origin.stretches}
    for event in lifted.evaluation.events:
        new = set(event.guard) - told
        if not isinstance(event, Written) or not new or not event.guard <= first.world.guard:
            continue
        if any(piece.place in places for piece in event.pieces):
            told |= new
            where = event.place.text.span(event.place.start, event.place.end)
            yield f"{where}: only a run knows whether this is written; here it is"


def _chosen(way: Way) -> Iterator[str]:
    """Which of several values was taken where only a run knows it."""
    for place, text in way.chosen:
        where = place.text.span(place.start, place.end)
        yield f"{where}: only a run knows which of its values this has; here it is {text!r}"


def _other_ways(lifted: LiftedScript, parts: tuple[str, ...]) -> Iterator[str]:
    """What would be otherwise on the other ways of a script, and where it is decided."""
    first, *others = lifted.ways
    for way in others:
        changed = _changed(first, way, parts)
        if changed:
            yield f"{_parting(lifted, first, way)}; otherwise {some_of(changed, _MOST_SHOWN)} would differ"


def _changed(first: Way, other: Way, parts: tuple[str, ...]) -> list[str]:
    """The settings that are not the same on two ways."""
    if first.experiment is None or other.experiment is None:
        return [] if first.experiment is other.experiment else ["the models"]
    names = [
        f"{change.section} {change.name}"
        for change in differences(first.experiment, other.experiment, parts)
        if change.verdict is Verdict.DIFFERENT
    ]
    return list(dict.fromkeys(names))


def _parting(lifted: LiftedScript, first: Way, other: Way) -> str:
    """The first command that is on one of two ways and not on the other."""
    for event in lifted.evaluation.events:
        is_taken, is_on_other = event.guard <= first.world.guard, event.guard <= other.world.guard
        if is_taken is not is_on_other:
            where = event.place.text.span(event.place.start, event.place.end)
            return f"{where}: only a run knows whether this is done; here it is{'' if is_taken else ' not'}"
        if is_taken and not isinstance(event, (Ran, Ended)) and _texts(event.path, first) != _texts(event.path, other):
            where = event.place.text.span(event.place.start, event.place.end)
            return f"{where}: only a run knows which file this is; here it is {', '.join(_texts(event.path, first))}"
    return f"{lifted.script.source.name}: only a run knows which way it goes"


def _texts(value: Value, way: Way) -> list[str]:
    return [case.text for case in within(value, way.world.guard)]


def is_spec(path: Path) -> bool:
    """Whether a file is a spec: by its suffix, or because it has the keys of one."""
    if path.suffix.lower() in SPEC_SUFFIXES:
        return True
    if path.name == MASTER_FILE:
        return False
    try:
        return _SPEC_KEY.search(read_bytes(path)) is not None
    except (OSError, ValueError, InputError):
        return False  # whoever reads it as a namelist says why it cannot be read


def _beside(experiment: Experiment, script: Path | None, source: Source | None, machine: Machine | None) -> Experiment:
    """The experiment of a master namelist with what the batch script beside it remembers."""
    experiment = evolve(experiment, machine=machine or experiment.machine)
    if script is None or source is None:
        return experiment
    return evolve(with_record(experiment, source), name=script.stem, mpi=experiment.mpi, node_local=None)
