"""The files that ICON opens in its run directory, by the settings in force.

The data lie in `schemas/icon-inputs.json`; `schemas/icon-inputs.schema.json` states the format and
`nmlgen.experiment.condition` the language of the conditions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from fnmatch import fnmatchcase, translate
from functools import cache
from itertools import takewhile
from pathlib import Path

from nmlgen import disk
from nmlgen.disk import LONGEST_PATH
from nmlgen.experiment.component import Component
from nmlgen.experiment.condition import evaluate
from nmlgen.experiment.experiment import InputFile
from nmlgen.experiment.group import as_list
from nmlgen.experiment.memory import kept
from nmlgen.experiment.setting import Certainty, Setting, UndecidedError
from nmlgen.models.icon.facts import ComponentFacts
from nmlgen.models.icon.grids import grid_at_hand, path_at_hand
from nmlgen.models.icon.ranks import domains
from nmlgen.resources import shipped
from nmlgen.values import frozen

_VARIABLE = re.compile(r"\{(\w+)\.(\w+)\}")
_AS_IT_STANDS = re.compile(r"\{(grid_nml|ocean_\w+)\.")
"""Names in which no keyword stands for anything."""
_KEYWORD = re.compile(r"<\w+>")
_OF_GRID = re.compile("<(nroot0?|jlev)>")
_ANY = "any"
_MOST_LOOKED_AT = 10_000
"""A bound on work: so many files and directories are looked at below one directory."""
_MOST_COMPARED = 1_000_000
"""A bound on work, too: so many times a name of a directory is held against a pattern."""

_READ_BY_SWITCH = ("jsb_carbon_nml", "jsb_alcc_nml", "jsb_pplcc_nml", "jsb_disturb_nml", "jsb_fuel_nml")


@frozen
class Input:
    """A kind of file that a component of one `kind`, or of "any", opens where `condition` holds.

    `file` is its name: `{group.variable}` stands for the value of a variable, `{domain}` for the number of the domain,
    `{grid}` for the name of its grid without the ending.
    ICON holds the "uuid" or the "cells" of the file against those of the `grid` where `grid_condition` holds, too.
    """

    file: str
    what: str
    kind: str
    condition: str
    each: bool
    source: str
    since: str | None
    until: str | None
    grid: str | None
    grid_condition: str | None

    def is_opened_by(self, release: str) -> bool:
        """Whether a release opens it."""
        return (self.since is None or self.since <= release) and (self.until is None or release <= self.until)


@frozen
class NeededFile:
    """A file that a run opens: its name in the run directory, in which `*` stands for what nobody knows before, what is
    in it, the setting that names it, if one does, and where ICON opens it.

    `grid` is what must be that of the grid of its `domain`: "uuid", "cells", or None where nothing must for certain.
    """

    pattern: str
    what: str
    setting: Setting | None
    source: str
    domain: int = 1
    grid: str | None = None

    @property
    def is_exact(self) -> bool:
        """Whether its name is known."""
        return "*" not in self.pattern

    def matches(self, target: str) -> bool:
        """Whether a file or a directory in the run directory is this one, or the directory that it lies in."""
        name, own = self.pattern.removeprefix("./"), _own_name(target)
        return own == name or fnmatchcase(own, name) or name.startswith(f"{own}/")

    def may_be(self, brought: InputFile) -> bool:
        """Whether an input file is this one, or may be where both have names that nobody knows before."""
        if not brought.is_pattern:
            return self.matches(brought.target)
        name, target = self.pattern.removeprefix("./"), brought.target.removeprefix("./")
        return brought.fits(name) if self.is_exact else may_share(name, target)


def may_share(pattern: str, other: str) -> bool:
    """Whether a name may fit two patterns: some may, where they hold sets of characters."""
    left, text = (re.sub(r"\[[^\]]{0,100}.\]", "?", text) for text in (pattern, other))
    right = [*text, ""]
    reached = {0}  # how much of the other one the names that fit the first up to here have come to fit
    for mark in left:
        if mark == "*":
            reached = set(range(min(reached), len(right))) if reached else set()
            continue
        reached = _past_stars(reached, right)
        stay = {at for at in reached if right[at] == "*"}
        reached = stay | {at + 1 for at in reached if right[at] and (mark == "?" or right[at] in (mark, "?"))}
    return any(not right[at] for at in _past_stars(reached, right))


def _past_stars(reached: set[int], pattern: Sequence[str]) -> set[int]:
    """The places in a pattern with those behind the stars that may be nothing."""
    found = set(reached)
    for at, mark in enumerate(pattern):
        if at in found and mark == "*":
            found.add(at + 1)
    return found


@cache
def inputs() -> tuple[Input, ...]:
    """All kinds of files, in the order of the data."""
    document = shipped("icon-inputs.json")
    return tuple(_input(entry) for entry in document["inputs"])


def _input(entry: Mapping[str, str]) -> Input:
    return Input(
        entry["file"],
        entry["what"],
        entry["kind"],
        entry["if"],
        entry.get("each") == "domain",
        entry["source"],
        entry.get("since"),
        entry.get("until"),
        entry.get("grid"),
        entry.get("grid_if"),
    )


@kept
def needed_files(component: Component) -> tuple[NeededFile, ...]:
    """The files that a component opens for certain; those of which a setting is not known are left out, and those whose
    name is a path outside of the run directory are among them. Each name once."""
    return tuple(_needed_files(component))


def _needed_files(component: Component) -> Iterator[NeededFile]:
    seen: set[str] = set()
    for one in inputs():
        if one.kind not in (component.kind, _ANY) or not one.is_opened_by(component.registry.release):
            continue
        try:
            numbers = range(1, domains(component) + 1) if one.each else (1,)
        except UndecidedError:
            continue
        for domain in numbers:
            facts = ComponentFacts(component, domain, frozenset(), is_inherited=True)
            if evaluate(one.condition, facts) is not True:
                continue
            name = _name(component, facts, one.file)
            if name is not None and name not in seen:
                seen.add(name)
                is_held = one.grid_condition is None or evaluate(one.grid_condition, facts) is True
                grid = one.grid if is_held else None
                yield NeededFile(name, one.what, _naming(facts, one.file), one.source, domain, grid)
    yield from (file for file in _land(component) if file.pattern not in seen)


def _name(component: Component, facts: ComponentFacts, template: str) -> str | None:
    """The name that a template makes; None where a value is not known or blank."""
    text = template.replace("{domain}", f"{facts.domain:02}")
    for match in _VARIABLE.finditer(template):
        value = facts.value(match[1], match[2])
        if value is None or not str(value).strip():
            return None
        text = text.replace(match[0], str(value).rstrip())  # blanks before a name belong to it
    if _AS_IT_STANDS.match(template):
        return re.sub(r"/{2,}", "/", text) or None
    base = component["master_nml", "model_base_dir"]
    if base.certainty is Certainty.UNKNOWN and "<path>" in text:
        return None
    if "<path>" in text:
        text = text.replace("<path>", str(base.value).rstrip())
    grids = component["grid_nml", "dynamics_grid_filename"]
    if grids.certainty is not Certainty.UNKNOWN:
        files = [str(file).rstrip() for file in as_list(grids.value)]
        if facts.domain <= len(files):
            grid_file = files[facts.domain - 1]
            text = text.replace("<gridfile>", grid_file).replace("{grid}", grid_file.rpartition(".")[0] or grid_file)
    text = text.replace("<idom>", f"{facts.domain:02}")
    if _OF_GRID.search(text) and (grid := grid_at_hand(component, facts.domain)) is not None:
        root, level = grid.number("grid_root"), grid.number("grid_level")
        if root is not None and level is not None:
            text = text.replace("<nroot>", f"{root}").replace("<nroot0>", f"{root:02}").replace("<jlev>", f"{level:02}")
    return re.sub(r"/{2,}", "/", _KEYWORD.sub("*", text)) or None


def _naming(facts: ComponentFacts, template: str) -> Setting | None:
    """The last of the variables that make the name, where somebody wrote it."""
    named = [facts.setting(match[1], match[2]) for match in _VARIABLE.finditer(template)]
    return next((setting for setting in reversed(named) if setting.is_written), None)


def _land(component: Component) -> Iterator[NeededFile]:
    """The files that the groups of JSBACH's own namelist name; those of its carbon only a switch of theirs reads."""
    for group in (group for land in component.model.lands for group in land):
        if group.name.lower() in _READ_BY_SWITCH:
            continue
        active = group.settings.get("active")
        if active is not None and (active.certainty is Certainty.UNKNOWN or active.value is False):
            continue
        for name, setting in group.settings.items():
            if not name.endswith("filename") or setting.certainty is Certainty.UNKNOWN:
                continue
            text = str(setting.value).rstrip()
            if text.strip() and "*" not in text:  # which is no mark here
                yield NeededFile(text, f"what {group.name} reads", setting, "mo_jsb_config_class.f90:1")


def run_directory(component: Component) -> Path | None:
    """The directory of a component's namelist, where that is its run directory: where nothing is brought, and one of
    its grids lies there, or of those of another component of the run."""
    own = _grids(component)
    if not own:
        return None
    place = own[0].parent
    others = (grid for other in component.experiment.components if other is not component for grid in _grids(other))
    beside = (grid for grid in others if grid.parent == place)
    return place if any(is_file(grid) for grid in (*own, *beside)) else None


def _grids(component: Component) -> tuple[Path, ...]:
    """Where the grids of a component are to lie, where nothing is brought and they are beside the namelist."""
    grids = component["grid_nml", "dynamics_grid_filename"]
    names = tuple(takewhile(bool, (str(name).strip() for name in as_list(grids.value))))
    if component.experiment.inputs or component.experiment.knows_inputs:
        return ()
    beside = (path_at_hand(component, grids, name) for name in names if "/" not in name)
    return tuple(path for path in beside if path is not None)


def missing_in(place: Path, component: Component) -> Iterator[NeededFile]:
    """The files that a component opens in its run directory and that are not there."""
    for file in needed_files(component):
        if not is_elsewhere(file) and _is_absent(place, file):
            yield file


def _is_absent(place: Path, file: NeededFile) -> bool:
    """Whether no file of the name of one that is needed is there, whatever stands for what nobody knows before."""
    path = place / file.pattern
    if file.is_exact:
        return is_missing(path) or _is_without_directory(place, path)
    try:
        if "*" in str(path.parent) or "**" in path.name or not disk.is_directory(path.parent):
            return False
        return not any(fnmatchcase(name, path.name) for name in disk.names(path.parent))
    except (OSError, ValueError):
        return False


def _is_without_directory(place: Path, path: Path) -> bool:
    """Whether a directory on the way to a file below a directory that is there is missing, and no link to another
    machine's."""
    above = [parent for parent in reversed(path.parents) if parent != place and parent.is_relative_to(place)]
    try:
        first = next((parent for parent in above if not disk.is_directory(parent)), None)
        return first is not None and ".." not in path.parts and not disk.is_there(first)
    except (OSError, ValueError):
        return False


def is_elsewhere(file: NeededFile) -> bool:
    """Whether its name is a path out of the run directory."""
    return file.pattern.startswith(("/", "../", "*"))


def is_file(path: Path) -> bool:
    """Whether there is a file of this name on this machine."""
    try:
        return disk.is_file(path)
    except (OSError, ValueError):
        return False


def is_missing(path: Path) -> bool:
    """Whether a file is not on this machine, and the directory is that should hold it."""
    try:
        return disk.is_directory(path.parent) and not disk.exists(path)
    except (OSError, ValueError):  # nobody may look, or it is no path
        return False


Search = tuple[Path, bool, str]
"""A directory, whether what is below it counts, and a pattern of names."""


def search(directory: Path, brought: InputFile) -> Search:
    """What the job looks for in the directory of an input file's pattern."""
    return directory, brought.is_deep, brought.name


def fruitless(searches: Iterable[Search]) -> frozenset[Search]:
    """The searches whose directory is on this machine and holds for certain no file that fits: each directory is looked
    through once. Where there is too much to look at, that is not known."""
    patterns: dict[tuple[Path, bool], set[str]] = {}
    for directory, is_deep, pattern in searches:
        patterns.setdefault((directory, is_deep), set()).add(pattern)
    return frozenset((*place, pattern) for place, wanted in patterns.items() for pattern in _unmatched(*place, wanted))


def _unmatched(directory: Path, is_deep: bool, patterns: Iterable[str]) -> list[str]:
    left = {pattern: re.compile(translate(pattern)).match for pattern in patterns}
    looked_at = compared = 0
    try:
        if not disk.is_directory(directory):
            return []
        for _, below, names in disk.walk(directory, _raise):
            compared += len(names) * len(left)
            if compared > _MOST_COMPARED:
                return []
            for pattern, match in list(left.items()):
                if any(map(match, names)):
                    del left[pattern]
            looked_at += len(names) + len(below)
            if not left or not is_deep:
                break
            if looked_at > _MOST_LOOKED_AT:
                return []
    except (OSError, ValueError):
        return []
    return list(left)


def _raise(error: OSError) -> None:
    raise error


def unbrought(component: Component) -> Iterator[NeededFile]:
    """The files below the run directory that a component opens and no input file of the experiment brings; none where
    the experiment does not know all that is brought."""
    experiment = component.experiment
    if not experiment.knows_inputs:
        return
    files = {_own_name(brought.target) for brought in experiment.inputs if not brought.is_pattern}
    patterns = [brought for brought in experiment.inputs if brought.is_pattern]
    for file in needed_files(component):
        if not is_elsewhere(file) and not _is_among(files, file) and not any(map(file.may_be, patterns)):
            yield file


def _own_name(target: str) -> str:
    return target.removeprefix("./").rstrip("/")


def _is_among(targets: Set[str], file: NeededFile) -> bool:
    """Whether one of these is a file that is needed, or a directory that it lies in."""
    name = file.pattern.removeprefix("./")
    if name in targets or any(name[: slash.start()] in targets for slash in re.finditer("/", name[:LONGEST_PATH])):
        return True
    if file.is_exact:
        return False
    first, *_, last = name.split("*")
    near = (target for target in targets if target.startswith(first) and target.endswith(last))
    return any(fnmatchcase(target, name) for target in near)
