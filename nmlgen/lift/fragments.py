"""What ICON's run script has around the fragment of an experiment: the header before it, the start of the model behind.

`run/make_target_runscript` joins `create_target_header`, `add_run_routines`, the fragment `exp.NAME` and `exec.iconrun`
(release 2024.10). The fragment speaks to what comes behind it by variables, of which that makes icon_master.namelist,
and which say which grids are linked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePosixPath

from nmlgen.experiment.experiment import InputFile
from nmlgen.experiment.setting import Setting, unknown, written
from nmlgen.script.evaluate import Evaluation
from nmlgen.script.events import Piece
from nmlgen.script.options import StaticWord
from nmlgen.script.state import Variable, in_order
from nmlgen.script.values import Place, Possibility, Value, joined, known, text_of, within
from nmlgen.script.worlds import Stretch, World, WrittenFile, stretch_of
from nmlgen.source import Span
from nmlgen.units.whole import decimal

_FRAGMENT = re.compile(r"(?:nwp|clm)?exp\.(.+?)(?:\.run)?")
"""What ICON calls a fragment: exp.NAME, nwpexp.NAME and clmexp.NAME of its checksuites (release 2024.10, `run/`)."""


def fragment_name(file: str) -> str | None:
    """The experiment that a fragment is for, by the name of its file; None for one that is called otherwise."""
    found = _FRAGMENT.fullmatch(file)
    return None if found is None else found[1]


HEADER = (
    "builder",
    "no_of_nodes",
    "mpi_procs_pernode",
    "num_io_procs",
    "mpi_total_procs",
    "nproma",
    "nproma_sub",
    "nblocks_c",
    "proc0_shift",
    "radiation_ecrad_isolver",
    "thisdir",
    "basedir",
    "experiments_dir",
    "icon_data_rootFolder",
    "START",
    "MODEL",
    "submit",
    "job_name",
    "cdo",
    "cdo_diff",
    "OMP_NUM_THREADS",
    "ICON_THREADS",
    "OMP_SCHEDULE",
    "OMP_STACKSIZE",
    "loadmodule",
)
"""The variables that ICON's run script header sets (release 2024.10, `run/create_target_header`)."""

_ALONE = (
    ("atmo_namelist", "atm", "1"),
    ("ocean_namelist", "oce", "2"),
    ("psrad_namelist", "psrad", "3"),
    ("hamocc_namelist", "hamocc", "4"),
    ("jsbach_namelist", "jsbach", "5"),
    ("testbed_namelist", "testbed", "99"),
)
"""The variable that names the namelist of a single model, the first of which counts, its name and type
(`run/exec.iconrun`)."""

_TIMES = (
    ("calendar", "calendar"),
    ("experimentStartDate", "start_date"),
    ("restartTimeIntval", "restart_interval"),
    ("checkpointTimeIntval", "checkpoint_interval"),
    ("experimentStopDate", "end_date"),
)
_LISTS = ("modelname_list", "namelist_list", "modeltype_list", "minrank_list", "maxrank_list", "incrank_list")
_ENTRY = (
    "model_name",
    "model_namelist_filename",
    "model_type",
    "model_min_rank",
    "model_max_rank",
    "model_inc_rank",
)
_MOST_GRIDS = 1_000
"""As many nests as a spec may have: of more grids in a variable the first are taken."""
_QUOTED = frozenset(("model_name", "model_namelist_filename"))
_YES = ("yes", "true")


def header_variables(given: Mapping[str, str]) -> Mapping[str, str]:
    """What the header works out of the variables that are known of a machine."""
    found: dict[str, str] = {}
    nodes, tasks = decimal(given.get("no_of_nodes", "")), decimal(given.get("mpi_procs_pernode", ""))
    if nodes is not None and tasks is not None:
        found["mpi_total_procs"] = str(nodes * tasks)
    if "basedir" in given:
        found["thisdir"] = f"{given['basedir']}/run"
    return {**found, **given}


def header_directives(given: Mapping[str, str | None]) -> Mapping[str, Setting]:
    """What the header asks Slurm for, by the variables that are known of a machine."""
    named = {"nodes": given.get("no_of_nodes"), "ntasks-per-node": given.get("mpi_procs_pernode")}
    return {
        option: written(f"job.{option.replace('-', '_')}", number, "header", None)
        for option, text in named.items()
        if (number := decimal(text or ""))
    }


class Ending:
    """What comes behind a fragment, on one of the ways that this may go. `given` are variables that were set before it;
    the fragment may only give them another value."""

    def __init__(self, evaluation: Evaluation, world: World, given: Mapping[str, str | None]) -> None:
        self.evaluation, self.guard, self.source = evaluation, world.guard, evaluation.script.source
        self.given = given
        self.files = world.files

    def master(self) -> WrittenFile | None:
        """The icon_master.namelist that is made of the variables; None where they name no namelist, and where the
        fragment says that it brings its own."""
        entries = self._entries()
        if not entries or self._is_set("dont_create_icon_master_namelist"):
            return None
        lines = [
            self._line("master_nml"),
            self._of("lrestart", "restart", known(".false.")),
            self._of("read_restart_namelists", "read_restart_namelists", known(".true.")),
            self._end(),
            *self._times(),
        ]
        for entry in entries:
            lines += [self._line("master_model_nml"), *entry, self._end()]
        lines += self._land()
        return WrittenFile("icon_master.namelist", tuple(s for line in lines for s in line), self.source)

    def grids(self) -> Iterator[InputFile]:
        """The grid files that are linked from the folder of grids."""
        folder = self._value("grids_folder")
        if folder is None:
            basedir = self._value("basedir")
            folder = None if basedir is None else joined([basedir, known("/grids")], "grids")
        for name in ("atmo_dyn_grids", "atmo_rad_grids", "ocean_grids"):
            value = self._value(name)
            text = None if value is None else text_of(within(value, self.guard))
            for word in (text or "").translate(_NO_QUOTES).split()[:_MOST_GRIDS]:
                directory = None if folder is None else text_of(within(folder, self.guard))
                setting = f"input_files.{word}.source"
                place = self._place(value)
                span = place.text.span(place.start, place.end)
                source = unknown(setting, span)
                if directory is not None:
                    source = written(setting, str(PurePosixPath(directory) / word), "script", span)
                yield InputFile(word, source)

    def launch(self, words_in: Callable[[Possibility, Span], list[StaticWord]]) -> list[StaticWord]:
        """The words of `${START} ${MODEL}`, which starts the model, where the fragment has its header in itself; none
        where nothing says how it starts."""
        found: list[StaticWord] = []
        for name in ("START", "MODEL"):
            variable = self.evaluation.final.get(name)
            cases = within(variable.value, self.guard) if variable is not None else ()
            place = self._place(cases)
            span = place.text.span(place.start, place.end)
            if len(cases) == 1 and cases[0].text.strip():
                found += words_in(cases[0], span)
            elif name == "MODEL" and found:
                found.append(StaticWord(None, found[0].span, ending="/bin/icon"))
            else:
                return []
        return found

    # --- The parts of the master namelist ---

    def _times(self) -> Iterator[tuple[Stretch, ...]]:
        if self._is_set("nsteps"):
            yield self._line("time_nml")
            yield self._of("calendar", "calendar_type", known("1"))
            yield self._of("ini_datetime_string", "start_date", quoted=True)
            yield self._of("dt_restart", "dt_restart")
            yield self._end()
            return
        yield self._line("master_time_control_nml")
        for variable, name in _TIMES:
            default = known("proleptic gregorian") if name == "calendar" else None
            yield self._of(variable, name, default, quoted=True)
        yield self._end()
        yield self._line("time_nml")
        yield self._plain(" is_relative_time = .false.\n")
        yield self._end()

    def _entries(self) -> list[list[tuple[Stretch, ...]]]:
        """The variables of each model's entry."""
        variable = self.evaluation.final.get("namelist_list")
        if variable is not None and (elements := variable.elements):
            return [self._entry(key) for key in in_order(variable) if text_of(within(elements[key], self.guard))]
        for name, model, number in _ALONE:
            value = self._value(name)
            if value is not None and text_of(within(value, self.guard)) != "":
                texts = (known(model), value, known(number), known("0"), known("65535"), known("1"))
                return [self._said(dict(zip(_ENTRY, texts, strict=True)))]
        return []

    def _entry(self, key: str) -> list[tuple[Stretch, ...]]:
        found: dict[str, Value] = {}
        for name, variable in zip(_LISTS, _ENTRY, strict=True):
            listed: Variable | None = self.evaluation.final.get(name)
            value = (listed.elements or {}).get(key) if listed is not None else None
            if value is not None:
                found[variable] = value
        return self._said(found)

    def _said(self, values: Mapping[str, Value]) -> list[tuple[Stretch, ...]]:
        lines = [self._set(name, value, quoted=name in _QUOTED) for name, value in values.items()]
        return [*lines, self._plain(" model_rank_group_size = 1\n")]

    def _land(self) -> Iterator[tuple[Stretch, ...]]:
        """JSBACH's part: one model for each domain, each with a namelist file of its own."""
        name = self._value("jsbach_namelist")
        wanted = "true" if name is not None else self._text("run_jsbach")
        if self._text("run_jsbach") is not None:
            wanted = self._text("run_jsbach")
        if wanted not in _YES:
            return
        alone = self._value("atmo_namelist") is None and self._value("namelist_list") is None
        yield self._line("jsb_control_nml")
        yield self._plain(f" is_standalone = .{'true' if alone else 'false'}.\n")
        yield self._of("restart_jsbach", "restart", known(".false."))
        yield self._plain(" debug_level = 0\n timer_level = 0\n")
        yield self._end()
        domains = min(max(1, len((self._text("atmo_dyn_grids") or "").split())), _MOST_GRIDS)
        for number in range(1, domains + 1):
            suffix = f"_d{number}" if domains > 1 else ""
            yield self._line("jsb_model_nml")
            yield self._plain(
                f" model_id = {number}\n model_name = 'JSBACH{f' DOM{number:02}' if domains > 1 else ''}'\n"
                f" model_shortname = 'jsb{suffix}'\n model_description = 'JSBACH land surface model'\n"
            )
            yield self._set(
                "model_namelist_filename", joined([name or known(""), known(suffix)], "jsbach"), quoted=True
            )
            yield self._end()

    # --- Text ---

    def _of(
        self, variable: str, name: str, default: Value | None = None, *, quoted: bool = False
    ) -> tuple[Stretch, ...]:
        """A variable of the namelist with the value of one of the script; nothing where neither has one."""
        value = self._value(name) or default
        return () if value is None else self._set(variable, value, quoted=quoted)

    def _set(self, variable: str, value: Value, *, quoted: bool) -> tuple[Stretch, ...]:
        mark = "'" if quoted else ""
        piece = Piece(self._place(value), value, is_expansion=True)
        return (*self._plain(f" {variable} = {mark}"), stretch_of(piece, self.guard), *self._plain(f"{mark}\n"))

    def _line(self, group: str) -> tuple[Stretch, ...]:
        return self._plain(f"&{group}\n")

    def _end(self) -> tuple[Stretch, ...]:
        return self._plain("/\n")

    def _plain(self, text: str) -> tuple[Stretch, ...]:
        place = Place(self.evaluation.script.text, 0, 0)
        return (Stretch(text, Piece(place, known(text), is_expansion=False), "literal"),)

    def _place(self, value: Value | None) -> Place:
        """Where a value was assigned, else the beginning of the script."""
        found = next((case.origin for case in within(value or (), self.guard) if case.origin is not None), None)
        return found or Place(self.evaluation.script.text, 0, 0)

    # --- Variables ---

    def _value(self, name: str) -> Value | None:
        """The value of a variable where the fragment ends; None of one that is not set, or empty."""
        variable = self.evaluation.final.get(name)
        if variable is not None:
            value = next(iter((variable.elements or {}).values()), variable.value)
            cases = within(value, self.guard)
            return None if all(not case.text for case in cases) else value
        text = self.given.get(name)
        return known(text) if text else None

    def _text(self, name: str) -> str | None:
        value = self._value(name)
        return None if value is None else text_of(within(value, self.guard))

    def _is_set(self, name: str) -> bool:
        return self._value(name) is not None


_NO_QUOTES = str.maketrans("", "", "'\",")
