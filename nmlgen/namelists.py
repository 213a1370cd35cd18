"""ICON's namelists as other programs hold them: which models run, what each writes, by which links it goes on.

For workflow managers and scripts that have namelists rather than a spec. Nothing is run, nothing is written; what is
loaded to answer is loaded when it is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmlgen.values import field, frozen

if TYPE_CHECKING:
    from f90nml import Namelist

    from nmlgen.experiment.component import Component
    from nmlgen.experiment.group import Group
    from nmlgen.files import Files
    from nmlgen.findings import Report
    from nmlgen.namelist.registry import Registry

_MASTER = "icon_master.namelist"


@frozen
class OutputStream:
    """What one `output_nml` of a model writes.

    `number` counts the groups of the file from 1, `output_filename` is as it is written, `directory` the one that it
    leads to, relative to where ICON runs. `files` are the names of all its files over the whole experiment, those of
    one rank in the order of their numbers; None where dates, intervals or levels are not known. `filetype` is ICON's
    number: 2 for GRIB2, 4 and 5 for NetCDF.
    """

    number: int
    output_filename: str
    directory: str
    filetype: int | None
    files: tuple[str, ...] | None


@frozen
class RestartFiles:
    """How a model's checkpoints are called.

    `mode` is the restart_write_mode in force. `links` are the names by which the next job finds the last checkpoint;
    `patterns` (for `fnmatch`) match the names of the checkpoints themselves, one for each domain. A checkpoint of a
    multifile mode is a directory.
    """

    mode: str
    is_directory: bool
    links: tuple[str, ...]
    patterns: tuple[str, ...]


@frozen(eq=False)
class NamelistModel:
    """One model that a master namelist starts.

    `name` is its model_name, `kind` the component of ICON ("atmosphere", "ocean", "hamocc", "jsbach", "waves", ...),
    `namelist_filename` the file that ICON reads, with `<path>` filled in; `ranks` are its MPI ranks, None without
    `ntasks`.
    """

    name: str
    kind: str | None
    namelist_filename: str
    ranks: frozenset[int] | None = field(repr=False)
    component: Component = field(repr=False)

    def value(self, group: str, variable: str, copy: int = 1) -> Any:
        """The effective value of a variable: what the namelist assigns, else the release's default.

        Of a group that may stand in the file more than once, as `output_nml` does, `copy` counts from 1. Raises
        InputError for a variable that the release does not have, for a copy that is not there, and where the default is
        not known.
        """
        from nmlgen.errors import InputError
        from nmlgen.experiment.group import effective
        from nmlgen.experiment.setting import Certainty, UndecidedError
        from nmlgen.findings import did_you_mean

        registry = self.component.registry
        known = registry.variables(group.lower()) if registry.has_group(group.lower()) else {}
        copies = [one for one in self.component.all_groups() if one.name.lower() == group.lower()]
        if variable.lower() not in known and not any(variable.lower() in one.settings for one in copies):
            notes = did_you_mean(variable, known)
            hint = f"; {notes[0]}" if notes else ""
            raise InputError(f'{group} of ICON {registry.release} has no variable "{variable}"{hint}')
        if copy != 1 and not 1 <= copy <= len(copies):
            raise InputError(f"there are {len(copies)} {group}, not {copy}")
        written = copies[copy - 1] if copies else None
        setting = effective(registry, written, group.lower(), variable.lower(), is_open=self.component.is_open)
        try:
            value = setting.value
        except UndecidedError:
            value = None
        if value is None or setting.certainty is Certainty.UNKNOWN:
            raise InputError(f"the value of {group}: {variable} is not known")
        return value

    @property
    def streams(self) -> tuple[OutputStream, ...]:
        """What each `output_nml` of its file writes, in the order of the groups."""
        return tuple(self._stream(number, stream) for number, stream in enumerate(self.component.streams, start=1))

    def _stream(self, number: int, stream: Group) -> OutputStream:
        from nmlgen.experiment.setting import UndecidedError
        from nmlgen.models.icon.promised import files_of_stream

        filename = str(self.component.stream_setting(stream, "output_filename").value)
        filetype = self.component.stream_setting(stream, "filetype").value
        try:
            files: tuple[str, ...] | None = files_of_stream(self.component, stream)
        except UndecidedError:
            files = None
        directory = filename.rpartition("/")[0] or "."
        return OutputStream(number, filename, directory, filetype if isinstance(filetype, int) else None, files)

    @property
    def restart(self) -> RestartFiles | None:
        """How its checkpoints are called; None for a component that writes none.

        Raises InputError where that is not known.
        """
        from nmlgen.errors import InputError
        from nmlgen.experiment.setting import UndecidedError
        from nmlgen.models.icon.chain import writes_checkpoints
        from nmlgen.models.icon.promised import checkpoint_links, checkpoint_patterns
        from nmlgen.models.icon.ranks import restart_mode

        try:
            if not writes_checkpoints(self.component):
                return None
            mode = restart_mode(self.component)
            links = checkpoint_links(self.component)
            patterns = checkpoint_patterns(self.component)
        except UndecidedError as error:
            raise InputError(f"the names of checkpoints are not known, because {error.setting.name} is not") from None
        if mode is None:
            raise InputError("io_nml: restart_write_mode is none that ICON knows")
        return RestartFiles(mode.value, links[0].startswith("multifile"), links, patterns)


@frozen(eq=False)
class Namelists:
    """The namelists of one experiment: `models` in the order of the master namelist, by the given `release` of ICON."""

    release: str
    models: tuple[NamelistModel, ...]
    status_files: tuple[str, ...]
    _master: Path
    _files: Files
    _ntasks: int | None
    _icon_release: str | None

    def model(self, name: str) -> NamelistModel:
        """The model of that model_name; raises InputError if there is none."""
        for model in self.models:
            if model.name == name:
                return model
        from nmlgen.errors import InputError

        raise InputError(f'there is no model "{name}"; there are {", ".join(model.name for model in self.models)}')

    def check(self) -> Report:
        """What `nmlgen lint` finds in them."""
        from nmlgen.files import GivenFiles
        from nmlgen.linting import lint

        return lint(
            [self._master],
            ntasks=self._ntasks,
            icon_release=self._icon_release,
            is_isolated=isinstance(self._files, GivenFiles),
            files=self._files,
        )


def read_namelists(
    source: str | Path | Mapping[str, str | Namelist],
    *,
    ntasks: int | None = None,
    icon_release: str | None = None,
) -> Namelists:
    """The namelists of an experiment.

    `source` is the path of a master namelist or of the directory that holds `icon_master.namelist`, or a mapping of
    file names to texts or to `f90nml.Namelist`s, one of them the master namelist. `ntasks` is the number of MPI tasks,
    without which no ranks are known. `icon_release` is a release or the path of a registry file; without it that of the
    build which the files belong to, else what the files show, else the newest. Raises InputError if there is no master
    namelist, if a file or a release cannot be used, or if the name of a model or of its file is not known, as behind a
    placeholder.
    """
    from nmlgen.errors import InputError
    from nmlgen.experiment.setting import UndecidedError
    from nmlgen.lift.namelists import lift_master
    from nmlgen.models.icon.chain import status_files

    master, files = _found(source)
    registry = _registry(master, files, icon_release)
    experiment, _ = lift_master(master, registry, ntasks, files)
    try:
        shares: tuple[frozenset[int] | None, ...] = experiment.shares
    except UndecidedError:
        shares = (None,) * len(experiment.models)
    try:
        models = tuple(
            NamelistModel(_name(component), _kind(component), _filename(component), ranks, component)
            for component, ranks in zip(experiment.components, shares, strict=True)
            if component.model.entry.settings
        )
    except UndecidedError as error:
        raise InputError(f"{master}: the value of {error.setting.name} is not known") from None
    try:
        status = status_files(experiment)
    except UndecidedError:
        status = ("finish.status",)
    known = None if registry.is_assumed else registry.reference
    return Namelists(registry.release, models, status, master, files, ntasks, icon_release or known)


def set_value(text: str, group: str, name: str, value: Any, copy: int = 1) -> str:
    """The text of a namelist file with a variable of the `copy`-th group of that name set; all else is as it was.

    `name` may be an element, such as `output_bounds(2)`; a list sets several. A variable that is not there is added at
    the end of the group. Raises InputError if there is no such group, ValueError for a value that no namelist can hold.
    """
    from nmlgen.namelist import editor
    from nmlgen.namelist.reader import read_namelist

    return editor.set_value(read_namelist(text), group, name, value, copy).text


def delete_value(text: str, group: str, name: str, copy: int = 1) -> str:
    """The text of a namelist file without the assignments to a variable of the `copy`-th group of that name; all else
    is as it was. Raises InputError if there is no such group or assignment."""
    from nmlgen.namelist import editor
    from nmlgen.namelist.reader import read_namelist

    return editor.remove(read_namelist(text), group, name, copy).text


def _found(source: str | Path | Mapping[str, str | Namelist]) -> tuple[Path, Files]:
    from nmlgen.errors import InputError
    from nmlgen.files import Files, GivenFiles

    if not isinstance(source, Mapping):
        path = Path(source)
        return (path / _MASTER if path.is_dir() else path), Files()
    if _MASTER not in source:
        raise InputError(f"there is no {_MASTER} among {', '.join(source) or 'no files'}")
    return Path(_MASTER), GivenFiles({name: _text(given) for name, given in source.items()})


def _text(given: str | Namelist) -> str:
    if isinstance(given, str):
        return given
    from nmlgen.namelist.interchange import from_f90nml

    return from_f90nml(given).text


def _registry(master: Path, files: Files, icon_release: str | None) -> Registry:
    from nmlgen.files import GivenFiles
    from nmlgen.lift.releases import named_in, own_script, registry_for, text_of
    from nmlgen.namelist.registry import registry_of

    text = files.read(master).text
    if isinstance(files, GivenFiles):  # beside which nothing lies
        return registry_of(icon_release or named_in(text))
    script = own_script(master.parent)
    return registry_for(script or master, text_of(script) if script is not None else text, icon_release)


def _name(component: Component) -> str:
    return str(component["master_model_nml", "model_name"].value).rstrip()


def _kind(component: Component) -> str | None:
    from nmlgen.experiment.setting import UndecidedError

    try:
        return component.kind
    except UndecidedError:
        return None


def _filename(component: Component) -> str:
    base = str(component["master_nml", "model_base_dir"].value or "").strip()
    return str(component["master_model_nml", "model_namelist_filename"].value).strip().replace("<path>", base)
