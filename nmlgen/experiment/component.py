"""One component of an experiment: the atmosphere, the ocean, ... with its namelist, its tasks and its streams.

Sources: ICON 2024.10 `src/namelists/mo_master_nml.f90:109-294` (the models of a job),
`src/configure_model/mo_master_config.f90:84-99` (their types) and `src/drivers/mo_master_init.f90:64-118` (their
ranks).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from nmlgen.experiment.group import Group, effective
from nmlgen.experiment.memory import Subject
from nmlgen.experiment.setting import Certainty, Origin, Setting, UndecidedError, unknown
from nmlgen.namelist.registry import Registry
from nmlgen.source import Span
from nmlgen.values import frozen

if TYPE_CHECKING:
    from nmlgen.experiment.experiment import Experiment

MODEL_GROUP = "master_model_nml"
LAND_GROUP = "jsb_model_nml"
"""The group of icon_master.namelist that names a namelist file of JSBACH's: one for each domain with land
(`mo_jsb_control.f90:179`)."""
LAND_FILE = "jsbach"
"""What a registry calls these files."""

KINDS = {
    1: "atmosphere",
    2: "ocean",
    3: "ps_radiation",
    4: "hamocc",
    5: "jsbach",
    98: "waves",
    99: "testbed",
    100: "icon_output",
}
"""master_model_nml: model_type and the component that it starts."""

_LONGEST_TITLE = 100  # characters: hundreds of messages may name a model
MOST_MODELS = 15
"""ICON 2024.10 stops at a sixteenth (`mo_master_nml.f90:260`)."""
MOST_TASKS = 1_000_000
"""A bound on work: no job of ICON comes near, of one with more the ranks are not counted."""


@frozen(eq=False)
class Model:
    """What an experiment says of one of its components.

    `entry` is its `master_model_nml`, empty where there is none, `namelist` the groups of its own namelist file.
    `land` holds the groups of JSBACH's own file, which `jsb_model_nml` of the master namelist names, `nest_land` those
    of the files of the second and further domains, each named by a further `jsb_model_nml`.
    `label` is its key below `models` of a spec. `grid_name` is the name RnBk of its grid, where it is given apart from
    the file's, `cells` the number of cells, or those by domain. Of a model that `is_open` there may be more groups than
    those that are known. `missing_file` is the name of its namelist file where ICON will not find it: it goes on with
    its defaults. `place` is where it begins in what was read: its key in a spec, the first group of its file.
    `dictionary` is the text of the file that `output_nml_dict` names, where that is known. Whether it `is_on_gpus` what
    starts it may tell, where that starts several programs.
    """

    entry: Group
    namelist: tuple[Group, ...]
    label: str | None = None
    grid_name: Setting | None = None
    cells: Setting | None = None
    is_open: bool = False
    missing_file: Setting | None = None
    land: tuple[Group, ...] = ()
    place: Span | None = None
    dictionary: str | None = None
    nest_land: tuple[tuple[Group, ...], ...] = ()
    is_on_gpus: bool | None = None

    @property
    def lands(self) -> tuple[tuple[Group, ...], ...]:
        """The groups of each of JSBACH's files, by domain; none without JSBACH."""
        return (self.land, *self.nest_land) if self.land or self.nest_land else ()


@frozen(slots=False, kw_only=True, eq=False)
class Component(Subject):
    """One model of an experiment with all that it reads: its own namelist, and what all models have in common.

    `number` counts the models of the experiment from 0, in the order in which the master namelist lists them.
    """

    experiment: Experiment
    number: int

    @property
    def model(self) -> Model:
        """What the experiment says of it alone."""
        return self.experiment.models[self.number]

    @property
    def registry(self) -> Registry:
        """What the release of ICON knows."""
        return self.experiment.registry

    @property
    def namelist(self) -> tuple[Group, ...]:
        """The groups of its own namelist file."""
        return self.model.namelist

    @property
    def is_open(self) -> bool:
        """Whether it may read more groups than those that are known."""
        return self.model.is_open

    def __getitem__(self, key: tuple[str, str]) -> Setting:
        """The effective setting of a variable: `component["io_nml", "restart_write_mode"]`.

        Of a repeated group the first copy answers, of `master_model_nml` its own; see `streams` for the others.
        """
        found = self._effective.get(key)
        if found is None:
            group, name = key
            found = effective(self.registry, self.group(group), group, name, is_open=self.is_open)
            self._effective[key] = found
        return found

    @cached_property
    def _effective(self) -> dict[tuple[str, str], Setting]:
        return {}

    def group(self, name: str) -> Group | None:
        """The first group of that name, as ICON reads it; None if nobody wrote it."""
        return self._first_groups.get(name.lower())

    @cached_property
    def _first_groups(self) -> dict[str, Group]:
        groups: dict[str, Group] = {}
        for group in self.all_groups():
            groups.setdefault(group.name.lower(), group)
        return groups

    def all_groups(self) -> Iterator[Group]:
        """Every group that it may read: its own, and those of the master namelist but for the entries of others."""
        others = {id(model.entry) for model in self.experiment.models if model is not self.model}
        yield from (group for group in self.experiment.master if id(group) not in others)
        yield from self.namelist
        for land in self.model.lands:
            yield from land

    @cached_property
    def streams(self) -> tuple[Group, ...]:
        """The output_nml groups in the order of writing."""
        return tuple(group for group in self.namelist if group.name.lower() == "output_nml")

    def stream_setting(self, stream: Group, name: str) -> Setting:
        """The effective setting of a variable of one output stream."""
        return effective(self.registry, stream, "output_nml", name)

    @cached_property
    def kind(self) -> str | None:
        """Which component of ICON it is, of `KINDS`; None where nobody says it. Raises UndecidedError where only a run
        knows."""
        if self.group(MODEL_GROUP) is None:
            return None
        return KINDS.get(self[MODEL_GROUP, "model_type"].value)

    @property
    def name(self) -> str:
        """Its model_name, by which its checkpoints are called. Raises UndecidedError where only a run knows."""
        return str(self[MODEL_GROUP, "model_name"].value).rstrip()

    @property
    def title(self) -> str:
        """What a message calls it: its name, unless it is a long text, else its label, else its number."""
        setting = self[MODEL_GROUP, "model_name"]
        name = "" if setting.certainty is Certainty.UNKNOWN else str(setting.value).strip()
        return (name if len(name) <= _LONGEST_TITLE else "") or self.model.label or f"model {self.number + 1}"

    @property
    def grid_name(self) -> Setting | None:
        """The name RnBk of its grid where it is given apart from the file's name."""
        return self.model.grid_name

    @cached_property
    def tasks(self) -> Setting:
        """The number of its MPI tasks: a single model has all of the job's. Unknown without any: nothing runs then."""
        if len(self.experiment.models) < 2:
            return self.experiment.tasks
        try:
            ranks = self.experiment.shares[self.number]
        except UndecidedError as error:
            return unknown("ntasks", error.setting.span)
        span = self[MODEL_GROUP, "model_max_rank"].span or self.model.entry.span
        if not ranks:
            return unknown("ntasks", span)
        return Setting("ntasks", (Origin("master_model_nml", len(ranks), span),))


def land_files(master: Iterable[Group]) -> list[str]:
    """The namelist files of JSBACH, by domain; "" for one whose name is not known."""
    settings = [group.settings.get("model_namelist_filename") for group in master if group.name.lower() == LAND_GROUP]
    return [
        "" if setting is None or setting.certainty is Certainty.UNKNOWN else str(setting.value).strip()
        for setting in settings
    ]


def claimed(registry: Registry, entry: Group, tasks: int) -> frozenset[int]:
    """The ranks that a `master_model_nml` claims of so many.

    Blocks of `model_rank_group_size` ranks from `model_min_rank` to `model_max_rank`, the next one `model_inc_rank`
    behind the last rank of the one before (`mo_master_init.f90:72-103`). Raises UndecidedError where that is not known,
    and where the blocks do not advance: ICON then never comes to an end.
    """
    settings = [
        effective(registry, entry, MODEL_GROUP, name)
        for name in ("model_min_rank", "model_max_rank", "model_inc_rank", "model_rank_group_size")
    ]
    first, last, gap, size = (int(setting.value) for setting in settings)
    stride = size - 1 + gap
    if stride <= 0:
        raise UndecidedError(settings[2])
    end = min(last + 1, tasks)
    if first < 0:
        first += max(0, (-first - size) // stride) * stride
    starts = range(first, end, stride)
    if size >= stride and starts:  # blocks that overlap, or follow each other
        return frozenset(range(max(first, 0), min(starts[-1] + size, end)))
    return frozenset(rank for start in starts for rank in range(max(start, 0), min(start + size, end)))
