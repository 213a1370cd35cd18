"""The registry of a release as a document, made from its source tree and the registry of an earlier release."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache, cached_property
from math import prod
from typing import Any

from nmlgen.namelist.constraint import read_constraint
from nmlgen.namelist.extract.defaults import (
    Contents,
    Defaults,
    Place,
    Steps,
    components,
    groups_read_in,
    initial,
    is_in_loop,
)
from nmlgen.namelist.extract.evaluate import Evaluator
from nmlgen.namelist.extract.lines import Statement
from nmlgen.namelist.extract.readers import Readers, home
from nmlgen.namelist.extract.tree import SourceTree
from nmlgen.namelist.extract.units import Declaration, Unit
from nmlgen.values import frozen

_DEEPEST = 4  # derived types within derived types
_USUAL_BYTES = {"integer": 4, "real": 8}
_KEPT = ("allowed", "forbidden", "range", "syntax", "check", "unit")
_ORDER = (
    "type",
    "bytes",
    "length",
    "shape",
    "base_shape",
    "default",
    "default_status",
    "allowed",
    "forbidden",
    "range",
    "syntax",
    "check",
    "unit",
    "carried_from",
)
_GROUP_ORDER = (
    "component",
    "spelling",
    "file",
    "readers",
    "when",
    "read",
    "repeatable",
    "defaults_printed",
    "source",
    "carried_from",
    "variables",
    "also",
)


@frozen
class _Reading:
    """A group where it is declared: the unit with the NAMELIST statement, the procedure whose statements come before
    the READ, and the statement of it to stop at; None where nothing reads it."""

    unit: Unit
    procedure: Unit | None
    stop: Statement | None
    repeatable: bool


def make_document(
    tree: SourceTree, release: str, base: Mapping[str, Any], printed: Collection[str] = ()
) -> dict[str, Any]:
    """The registry of a release, in the format of `schemas/registry.schema.json`.

    Groups, variables, types, shapes, defaults and readers are those of the source tree. What no source says in one
    place, such as constraints and units, is taken over from `base`, the registry of an earlier release, for variables
    that have kept their type; each constraint names the release it was read in. A group whose part of the tree is not
    there, and what needs such a part, is that of `base`, and says so in `carried_from`. `printed` names the groups
    whose defaults ICON itself was seen to print.
    """
    return _Maker(tree, release, base, printed).document()


def base_release(release: str, known: Sequence[str]) -> str:
    """The newest of the known releases that is not newer than this one, else the oldest."""
    return max((other for other in known if other <= release), default=min(known))


def document_text(document: Mapping[str, Any]) -> str:
    """The text of a registry, a variable a line."""
    groups = ",\n".join(_group_text(name, group) for name, group in document["groups"].items())
    head = json.dumps({key: document[key] for key in ("format", "model", "release")})[:-1]
    removed = document["removed"]
    gone = ",\n".join(_pair(name, entry) for name, entry in removed["groups"].items())
    variables = ",\n".join(
        f"{json.dumps(group)}: {{\n" + ",\n".join(_pair(name, entry) for name, entry in entries.items()) + "\n}"
        for group, entries in removed["variables"].items()
    )
    gone = f'"removed": {{"groups": {{\n{gone}\n}}, "variables": {{\n{variables}\n}}}}'
    return f'{head}, "groups": {{\n{groups}\n}}, {gone}}}\n'


def _group_text(name: str | None, group: Mapping[str, Any]) -> str:
    head = json.dumps({key: value for key, value in group.items() if key not in ("variables", "also")})[:-1]
    variables = ",\n".join(_pair(*item) for item in group["variables"].items())
    text = f'{head}, "variables": {{\n{variables}\n}}' if variables else f'{head}, "variables": {{}}'
    if "also" in group:
        text += ', "also": [\n' + ",\n".join(_group_text(None, other) for other in group["also"]) + "\n]"
    return f"{json.dumps(name)}: {text}}}" if name is not None else f"{text}}}"


def _pair(name: str, entry: Any) -> str:
    return f"  {json.dumps(name)}: {json.dumps(entry, ensure_ascii=False)}"


class _Maker:
    def __init__(self, tree: SourceTree, release: str, base: Mapping[str, Any], printed: Collection[str] = ()) -> None:
        self.tree = tree
        self.release = release
        self.base = base
        self.printed = printed
        self.evaluator = Evaluator(tree)
        self.steps = Steps(tree)

    def document(self) -> dict[str, Any]:
        found: dict[str, list[_Reading]] = {}
        for unit in self.tree.with_namelists():
            for group in unit.namelists:
                found.setdefault(group, []).append(_reading(unit, group))
        owners: dict[str, str] = {}
        for group, readings in sorted(found.items()):
            for name in readings[0].unit.namelists[group]:
                owners[name] = "" if name in owners else group
        self.readers = Readers(self.tree, self.evaluator, {name: group for name, group in owners.items() if group})
        groups = {
            name: self._groups(name, found.get(name, [])) for name in sorted({*found, *self._names_not_in_tree()})
        }
        return {
            "format": 1,
            "model": "icon",
            "release": self.release,
            "groups": groups,
            "removed": self._removed(groups),
        }

    def _groups(self, name: str, readings: list[_Reading]) -> dict[str, Any]:
        """The group of a name; further ones of another file or another program below `also`."""
        known = [self.base["groups"].get(name, {})]
        known += known[0].get("also", [])
        entries = [self._group(name, reading, known) for reading in readings]
        entries += [self._carried(entry) for entry in known if self._is_not_in_tree(entry)]
        entries.sort(key=lambda entry: (entry["component"] == "tool", entry.get("file") == "master"))
        first, *others = entries
        further = [
            entry
            for number, entry in enumerate(others)
            if (entry["component"] != "tool" or first["component"] == "tool")
            and not any(entry["variables"].keys() <= other["variables"].keys() for other in (first, *others[:number]))
        ]
        return first | ({"also": further} if further else {})

    def _names_not_in_tree(self) -> Iterator[str]:
        for name, group in self.base["groups"].items():
            if any(self._is_not_in_tree(entry) for entry in (group, *group.get("also", ()))):
                yield name

    @cached_property
    def _components_not_in_tree(self) -> frozenset[str]:
        """The components whose own groups are all in parts that the tree lacks."""
        entries = [e for group in self.base["groups"].values() for e in (group, *group.get("also", ()))]
        there = {entry["component"] for entry in entries if not self._is_not_in_tree(entry)}
        return frozenset(entry["component"] for entry in entries) - there

    def _with_carried(
        self, variables: Mapping[str, dict[str, Any]], before: Mapping[str, Any]
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """The variables with the components of types that stand in parts that the tree lacks."""
        for name, entry in variables.items():
            parts = {key: part for key, part in before.items() if key.startswith(f"{name}%")}
            if entry["type"] == "derived" and parts:
                yield from ((key, self._carried(part)) for key, part in parts.items())
            else:
                yield name, entry

    def _is_not_in_tree(self, entry: Mapping[str, Any]) -> bool:
        """Whether the tree lacks the part that a group of the earlier registry is from, such as externals/jsbach."""
        return "source" in entry and not self.tree.has("/".join(entry["source"].split("/")[:2]))

    def _carried(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        """A group of the earlier registry that the tree does not hold; or, in the same way, a variable."""
        carried = {key: value for key, value in entry.items() if key not in ("also", "defaults_printed")}
        if "variables" in entry:
            carried["variables"] = {name: self._dated(variable) for name, variable in entry["variables"].items()}
        if self.release != self.base["release"]:
            carried.setdefault("carried_from", self.base["release"])
        order = _GROUP_ORDER if "variables" in entry else _ORDER
        return {key: carried[key] for key in order if key in carried}

    def _dated(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        """A variable of the earlier registry with the release in which its constraint was read."""
        source = entry.get("check", {}).get("source", "")
        if not source or self.release == self.base["release"] or source[:4].isdigit():
            return dict(entry)
        return {**entry, "check": {**entry["check"], "source": f"{self.base['release']}: {source}"}}

    def _group(self, name: str, reading: _Reading, known: list[Mapping[str, Any]]) -> dict[str, Any]:
        file = reading.unit.file
        variables = dict(self._variables(name, reading))
        component, read_from = home(file)
        before = max(known, key=lambda entry: len(set(entry.get("variables", {})) & set(variables)))
        if component != "tool":
            variables = dict(self._with_carried(variables, before.get("variables", {})))
        if set(before.get("variables", {})) & set(variables) and component != "tool":
            component, read_from = before["component"], before.get("file", "model")
            variables = {key: self._with_base(entry, before["variables"].get(key)) for key, entry in variables.items()}
        entry: dict[str, Any] = {"component": component, "source": file, "variables": variables}
        if "spelling" in before:
            entry["spelling"] = before["spelling"]
        if read_from != "model":
            entry["file"] = read_from
        if reading.repeatable:
            entry["repeatable"] = True
        entry |= self._read_by(reading, component, before)
        if name in self.printed and component != "tool":
            entry["defaults_printed"] = True
        return {key: entry[key] for key in _GROUP_ORDER if key in entry}

    def _read_by(self, reading: _Reading, component: str, before: Mapping[str, Any]) -> dict[str, Any]:
        """Who reads a group and when; for groups that are not read through ICON's own procedures as it was."""
        if reading.procedure is None:
            return {"read": False} | ({"when": before["when"]} if "when" in before else {})
        in_model = reading.unit.file.startswith("src/") and reading.procedure.kind == "subroutine"
        if in_model and not self.readers.is_called(reading.procedure):
            return {"read": False}
        found = self.readers.components(reading.procedure) if in_model else {}
        if not found:
            return {key: before[key] for key in ("readers", "when", "read") if key in before}
        entry: dict[str, Any] = {}
        found |= {reader: None for reader in before.get("readers", ()) if reader in self._components_not_in_tree}
        if sorted(found) != [component]:
            entry["readers"] = sorted(found)
        condition = found.get(component) or found.get("atmosphere")
        if condition is not None:
            entry["when"] = condition
        elif "when" in before and "starts_with" in before["when"]:
            entry["when"] = before["when"]
        return entry

    def _variables(self, group: str, reading: _Reading) -> Iterator[tuple[str, dict[str, Any]]]:
        defaults = Defaults(self.tree, self.evaluator, self.steps)
        if reading.procedure is not None:
            defaults.run(reading.procedure, reading.stop)
        for name in reading.unit.namelists[group]:
            scope = reading.unit
            declaration = self.tree.declaration(scope, name)
            if declaration is None:
                yield name, {"type": "unknown", "shape": None, "default_status": "unresolved"}
            else:
                yield from self._expanded(defaults, Place(declaration), (declaration,), name)

    def _expanded(
        self, defaults: Defaults, place: Place, along: tuple[Declaration, ...], name: str
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """A variable, or all components of one of derived type."""
        declaration = along[-1]
        parts = list(components(self.tree, declaration)) if declaration.type == "derived" else []
        if parts and len(along) <= _DEEPEST:
            self.steps.add(len(parts))  # types within types multiply
            for part in parts:
                inner = Place(place.base, (*place.path, part.name))
                yield from self._expanded(defaults, inner, (*along, part), f"{name}%{part.name}")
        elif not self._is_empty(declaration) and (declaration.type != "derived" or len(along) == 1):
            yield name, self._entry(defaults, place, along)

    def _is_empty(self, declaration: Declaration) -> bool:
        """Whether it is of a derived type that has no components at all."""
        type_ = None if declaration.type_name is None else self.tree.type(declaration.unit, declaration.type_name)
        return type_ is not None and not type_.components and type_.parent is None

    def _entry(self, defaults: Defaults, place: Place, along: tuple[Declaration, ...]) -> dict[str, Any]:
        declaration = along[-1]
        entry: dict[str, Any] = {"type": declaration.type if declaration.type != "complex" else "unknown"}
        size = self._bytes(declaration)
        if size is not None and size != _USUAL_BYTES.get(declaration.type, size):
            entry["bytes"] = size
        if declaration.type == "character":
            length = 1 if declaration.length is None else self.evaluator.integer(declaration.unit, declaration.length)
            if length is not None and length > 0:
                entry["length"] = length
        shape = self._shape(declaration)
        if shape != []:
            entry["shape"] = shape
        if len(along) > 1:
            entry["base_shape"] = [{"name": base.name, "shape": self._shape(base) or []} for base in along[:-1]]
        contents = defaults.contents(place) or initial(self.tree, self.evaluator, place)
        bounds = [pair for base in along for pair in self.evaluator.shape(base)]
        return entry | _default(contents, bounds)

    def _bytes(self, declaration: Declaration) -> int | None:
        if declaration.kind is None or declaration.type not in _USUAL_BYTES:
            return None
        return self.evaluator.integer(declaration.unit, declaration.kind)

    def _shape(self, declaration: Declaration) -> list[Any] | None:
        bounds = self.evaluator.shape(declaration)
        if any(pair is None for pair in bounds):
            return None
        return [pair[1] if pair[0] == 1 else list(pair) for pair in bounds if pair is not None]

    def _with_base(self, entry: dict[str, Any], before: Mapping[str, Any] | None) -> dict[str, Any]:
        """An entry with what the earlier registry says of a variable of the same type."""
        if before is None or before["type"] != entry["type"]:
            return entry
        entry = self._completed(entry, before)
        kept = {key: before[key] for key in _KEPT if key in before}
        source = kept.get("check", {}).get("source", "")
        if source and self.release != self.base["release"] and not source[:4].isdigit():
            kept["check"] = {**kept["check"], "source": f"{self.base['release']}: {source}"}
        constraint = read_constraint(kept)
        default = entry.get("default")
        if constraint is not None and isinstance(default, (bool, int, float, str)) and constraint.refuses(default):
            was = before.get("default")
            if was is not None and not constraint.refuses(was):  # ICON would refuse its own default: it has changed
                kept = {key: value for key, value in kept.items() if key in ("syntax", "unit")}
        merged = entry | kept
        return {key: merged[key] for key in _ORDER if key in merged}

    def _completed(self, entry: dict[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
        """An entry with the length and the default of the earlier registry, where the tree lacks what says them."""
        missing = []
        if entry["type"] == "character" and "length" not in entry:
            missing = ["length"]
        if entry.get("default_status") == "unresolved":
            entry = {key: value for key, value in entry.items() if key != "default_status"}
            missing += ["default", "default_status"]
        carried = {key: before[key] for key in missing if key in before}
        if not carried:
            return entry | ({"default_status": "unresolved"} if "default" in missing else {})
        if "carried_from" in before:
            carried["carried_from"] = before["carried_from"]
        elif self.release != self.base["release"]:
            carried["carried_from"] = self.base["release"]
        return entry | carried

    def _removed(self, groups: Mapping[str, Any]) -> dict[str, Any]:
        """The names that are gone: those of the earlier registry, and those that vanished since."""
        known = self.base.get("removed", {})
        gone = {name: entry for name, entry in known.get("groups", {}).items() if name not in groups}
        variables: dict[str, dict[str, Any]] = {}
        for group, entries in known.get("variables", {}).items():
            left = {name: entry for name, entry in entries.items() if not _has(groups, group, name)}
            if left:
                variables[group] = left
        for name, group in self.base["groups"].items():
            if group["component"] == "tool":
                continue
            if name not in groups:
                gone[name] = {"release": self.release}
                continue
            for entry in (group, *group.get("also", ())):
                for variable in entry["variables"]:
                    if not _has(groups, name, variable):
                        variables.setdefault(name, {})[variable] = {"release": self.release}
        return {
            "groups": {name: _with_successors(gone[name], variables) for name in sorted(gone)},
            "variables": {
                name: {key: _with_successors(entry, variables) for key, entry in variables[name].items()}
                for name in sorted(variables)
            },
        }


def _with_successors(removal: Mapping[str, Any], gone: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """A removal with what replaces its own replacement, where that is gone, too."""
    use: list[str] = []
    for name in removal.get("use", ()):
        group, _, variable = name.partition(".")
        use += gone.get(group, {}).get(variable, {}).get("use", (name,))
    return {**removal, "use": list(dict.fromkeys(use))} if use else dict(removal)


def _has(groups: Mapping[str, Any], group: str, variable: str) -> bool:
    entry = groups.get(group)
    return entry is not None and any(variable in one["variables"] for one in (entry, *entry.get("also", ())))


def _reading(unit: Unit, group: str) -> _Reading:
    """Where a group is read: in the unit with the NAMELIST statement, or in one within it."""
    found = _readers_in(unit).get(group)
    if found is None:
        return _Reading(unit, None, None, False)
    reader, statement = found
    handed = _handed_on_in(unit).get(reader.name)
    if handed is not None:  # the procedure that reads is handed on to another one
        return _Reading(unit, *handed, False)
    return _Reading(unit, reader, statement, is_in_loop(reader, statement))


@cache
def _readers_in(unit: Unit) -> dict[str, tuple[Unit, Statement]]:
    """The first unit within one that reads each group, and the statement that does."""
    return _first_within(unit, groups_read_in)


@cache
def _handed_on_in(unit: Unit) -> dict[str, tuple[Unit, Statement]]:
    """The first unit within one in which each word stands by itself in a CALL, and the first such CALL there."""
    return _first_within(unit, _handed_on)


def _first_within(
    unit: Unit, statements: Callable[[Unit], Mapping[str, Statement]]
) -> dict[str, tuple[Unit, Statement]]:
    """What the statements of each unit within one are about, with the first unit of each and its statement."""
    found: dict[str, tuple[Unit, Statement]] = {}
    for inner in unit.all_units():
        for name, statement in statements(inner).items():
            found.setdefault(name, (inner, statement))
    return found


def _handed_on(unit: Unit) -> dict[str, Statement]:
    """The first CALL of a unit in which each word stands by itself."""
    found: dict[str, Statement] = {}
    for statement in unit.statements:
        if statement.text.startswith("call "):
            words = statement.text.replace("(", ",").replace(")", ",").replace(" ", "").split(",")
            for word in words:
                found.setdefault(word, statement)
    return found


def _default(contents: Contents, bounds: list[tuple[int, int] | None]) -> dict[str, Any]:
    """The default as the registry writes it."""
    if contents.is_unknown:
        return {"default_status": contents.status}
    if contents.elements:
        return {"default": _elementwise(contents, bounds)}
    return {"default": _rounded(contents.fill)} if contents.status == "known" else {"default_status": "unset"}


def _elementwise(contents: Contents, bounds: list[tuple[int, int] | None]) -> Any:
    """The most frequent value of an array as `fill`, the other elements by their subscripts."""
    elements = {key: _rounded(value) for key, value in sorted(contents.elements.items())}
    count = prod(pair[1] - pair[0] + 1 if pair is not None else 0 for pair in bounds)
    fill = _rounded(contents.fill)
    has_fill = contents.status == "known"
    if len(elements) == count:
        times = Counter(reversed(elements.values()))
        fill = max(times, key=lambda value: times[value])
        has_fill = times[fill] > 1 or count == 1
    others = {",".join(map(str, key)): value for key, value in elements.items() if not has_fill or value != fill}
    if not others:
        return fill
    return ({"fill": fill} if has_fill else {}) | {"set": others}


def _rounded(value: Any) -> Any:
    """A number without the noise of its last bits."""
    return float(f"{value:.12g}") if isinstance(value, float) else value
