"""The output variables of a release: the registrations in its source tree held against those of an earlier release.

A model registers a variable by a call of add_var, add_ref or their kin. Where a name is put together at run time, its
literal parts tell it. When a variable exists is worked out by hand (the conditions of an earlier release); one that is
new exists, as far as anybody knows from here, perhaps.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import islice, product
from typing import Any

from nmlgen.errors import InputError
from nmlgen.namelist.extract.lines import closing, split_list
from nmlgen.namelist.extract.tree import SourceTree
from nmlgen.namelist.extract.units import Unit
from nmlgen.values import frozen

_CALL = re.compile(r"call\s+(add_var|add_ref|add_tracer_ref)\s*\(")
_POSITIONS = {
    "add_var": ("this_list", "name", "ptr", "hgrid", "vgrid", "cf", "grib2"),
    "add_ref": ("this_list", "target", "name", "ptr", "hgrid", "vgrid", "cf", "grib2"),
    "add_tracer_ref": ("this_list", "target", "name", "tracer_idx", "ptr_arr", "cf", "grib2"),
}
_KEYWORDS = {"varname": "name", "refname": "name", "tracer_name": "name", "target_name": "target"}
_PARTS = (
    ("src/atm_dyn_iconam", "dynamics"),
    ("src/atm_phy_nwp", "NWP physics"),
    ("src/atm_phy_schemes", "NWP physics"),
    ("src/data_assimilation", "NWP physics"),
    ("src/lnd_phy_nwp", "TERRA"),
    ("src/atm_phy_aes", "AES physics"),
    ("src/atm_phy_rte", "AES physics"),
    ("src/ocean", "ocean"),
    ("src/sea_ice", "sea ice"),
    ("src/hamocc", "HAMOCC"),
    ("src/waves", "waves"),
    ("src/upper_atmosphere", "upper atmosphere"),
    ("src/sppt", "SPPT"),
    ("src/shr_horizontal", "external data"),
    ("src/advection", "transport"),
    ("src/configure_model", "transport"),
    ("externals/art", "ART"),
    ("externals/jsbach", "JSBACH"),
)
"""The parts of the tree that register variables, and whose they are."""

_LOCATIONS = {
    "grid_unstructured_edge": "edge",
    "grid_unstructured_vert": "vertex",
    "grid_lonlat": "single",
    "grid_zonal": "zonal",
    "grid_regular_lonlat": "lonlat_regular",
    "grid_edge": "edge",
    "grid_vertex": "vertex",
}
_AXES: Mapping[str, tuple[Any, str | None]] = {
    "za_surface": (1, None),
    "za_reference": ("nlev", None),
    "za_reference_half": ("nlev+1", "height half levels"),
    "za_depth_below_sea": ("n_zlev", None),
    "za_depth_below_sea_half": ("n_zlev+1", "ocean depth half levels"),
    "za_generic_ice": ("i_no_ice_thick_class", "sea-ice thickness class"),
    "za_dir_generic": ("ndirs", "wave direction"),
    "za_height_2m": (1, "2 m"),
    "za_height_2m_layer": (1, "2 m (layer)"),
    "za_height_10m": (1, "10 m"),
    "za_atmosphere": (1, "entire atmosphere"),
}
_AROUND = re.compile(r"\w*(prefix|suffix)")  # what ICON puts round the names of a time level, or of another set
_LITERAL = re.compile(r"'[^']*'|\"[^\"]*\"")
_HOLE = re.compile(r"\{[^{}]*\}")
_UNKNOWN = "unknown"
_ORDER = (
    "name",
    "pattern",
    "copies",
    "levels",
    "axis",
    "location",
    "type",
    "constant",
    "restart",
    "output",
    "groups",
    "interpolation",
    "if",
    "time_levels",
)
_MOST_ASSIGNMENTS = 40
_MOST_PARTS = 100  # of a name; ICON's have 64 letters at most
_COMPARED_AT_ONCE = 300  # what a pattern that is made takes
_MOST_COMPARED = 4_000_000  # names with holes held against others; ICON 2024.01 takes a fifth of it
_LOOP = re.compile(r"(?:\w+\s*:\s*)?do\b(?!\s*=)\s*(?:\w+\s*=\s*(\w+)\s*,\s*([\w%]+)\s*$)?")
_ASSIGNED = re.compile(r"(\w+)\s*=(?!=)\s*(.*)$", re.DOTALL)
_WRITTEN = re.compile(r"write\s*\(\s*(?:unit\s*=\s*)?(\w+)\s*,\s*")
_LOOP_END = re.compile(r"end\s*do\b")


@frozen
class Template:
    """A name with holes: its literal parts in lower case, None for a hole, "" for a prefix or a suffix that may be."""

    parts: tuple[str | None, ...]

    @property
    def is_open(self) -> bool:
        """Whether any name at all may come of it."""
        return None in self.parts and sum(len(part) for part in self.parts if part) < 2

    @property
    def literal(self) -> str | None:
        """The name without what may be around it, where it has no hole."""
        return None if None in self.parts else "".join(part for part in self.parts if part)

    @property
    def name(self) -> str:
        """The name as a catalogue has it, {} for a hole."""
        return "".join("{n}" if part is None else part for part in self.parts)

    @property
    def pattern(self) -> str:
        """The regular expression of the names it stands for."""
        return "".join(r"\w+" if part is None else re.escape(part) if part else r"\w*" for part in self.parts)


@frozen
class Registration:
    """One call that registers a variable: `arguments` by their names, in Fortran's words. `copies` is the namelist
    variable up to which the only loop around the call counts from 1; None where there is none of the kind."""

    component: str
    templates: tuple[Template, ...]
    arguments: Mapping[str, str]
    copies: str | None


@frozen
class Catalogued:
    """The catalogue of a release as a document, and what became of the earlier one: the names that came, those that
    went, and the components that are still those of an earlier release, with that release."""

    document: dict[str, Any]
    added: tuple[str, ...]
    removed: tuple[str, ...]
    carried: Mapping[str, str]


def make_catalogue(tree: SourceTree, release: str, base: Mapping[str, Any]) -> Catalogued:
    """The catalogue of a release, in the format of `schemas/variables.schema.json`.

    A variable of `base`, the catalogue of an earlier release, stays if a registration in its part of the tree makes its
    name, with the groups that it is in now; what a registration makes and `base` has not is new. The variables of a
    part that the tree does not have stay as they are.
    """
    return _Maker(tree, release, base).catalogue()


def catalogue_text(document: Mapping[str, Any]) -> str:
    """The text of a catalogue: a group, a condition and a variable a line."""

    def lines(items: Iterable[Any]) -> str:
        return ",\n".join(json.dumps(item, ensure_ascii=False) for item in items)

    components = ",\n".join(
        f"{json.dumps(name)}: [\n{lines(entries)}\n]" for name, entries in document["components"].items()
    )
    head = "".join(f"{json.dumps(key)}: {json.dumps(document[key])},\n" for key in ("release", "source"))
    keys = (key for key in ("carried", "indirect", "hidden") if key in document)
    more = "".join(f"{json.dumps(key)}: {json.dumps(document[key])},\n" for key in keys)
    return (
        f'{{\n{head}{more}"groups": [\n{lines(document["groups"])}\n],\n'
        f'"conditions": [\n{lines(document["conditions"])}\n],\n"components": {{\n{components}\n}}\n}}\n'
    )


def registrations(tree: SourceTree) -> Iterator[Registration]:
    """Every call in the tree that registers a variable, in the order of the files."""
    seen: set[tuple[str, str]] = set()
    settings = {name for unit in tree.with_namelists() for names in unit.namelists.values() for name in names}
    for procedure in ("add_var", "add_ref", "add_tracer_ref"):
        for unit in tree.callers(procedure):
            component = _component(unit.file)
            if component is None:
                continue
            bounds: list[str | None] = []
            for statement in unit.statements:
                _follow(statement.text, bounds)
                found = _CALL.search(statement.text)
                if found is None or found[1] != procedure or (unit.file, statement.text) in seen:
                    continue
                seen.add((unit.file, statement.text))
                arguments = _arguments(found[1], statement.text, found.end() - 1)
                if "name" in arguments:
                    (bound,) = bounds if len(bounds) == 1 else (None,)
                    copies = bound if bound in settings else None
                    yield Registration(component, _templates(unit, arguments["name"]), arguments, copies)


def _follow(text: str, bounds: list[str | None]) -> None:
    """Go on by one statement: `bounds` are the last parts of the bounds of the loops around it, None of a loop that
    does not count from 1 to a name."""
    if _LOOP_END.match(text):
        del bounds[-1:]
    elif loop := _LOOP.match(text):
        bounds.append(loop[2].rpartition("%")[2] if loop[1] == "1" else None)


def _files(tree: SourceTree) -> Iterator[tuple[str, str]]:
    """The files that register variables, each with the component whose they are."""
    found = {unit.file for procedure in _POSITIONS for unit in tree.callers(procedure)}
    for file in sorted(found):
        component = _component(file)
        if component is not None:
            yield component, file


def _component(file: str) -> str | None:
    return next((name for part, name in _PARTS if file.startswith(f"{part}/")), None)


def _quoted(unit: Unit) -> Iterator[str]:
    for statement in unit.statements:
        yield from (text[1:-1].strip().lower() for text in _LITERAL.findall(statement.text))


def _arguments(procedure: str, text: str, start: int) -> dict[str, str]:
    arguments: dict[str, str] = {}
    positions = iter(_POSITIONS[procedure])
    for argument in split_list(text[start + 1 : closing(text, start)]):
        keyword = re.match(r"(\w+)\s*=(?!=)\s*(.*)$", argument, re.DOTALL)
        name = keyword[1] if keyword else next(positions, None)
        if name is not None:
            arguments[_KEYWORDS.get(name, name)] = keyword[2] if keyword else argument
    return arguments


@cache
def _templates(unit: Unit, expression: str) -> tuple[Template, ...]:
    """What a name can be: of a variable, every text that the unit puts into it."""
    pieces = [_bare(piece) for piece in islice(_concatenated(expression), _MOST_PARTS + 1)]
    if len(pieces) > _MOST_PARTS:
        return (Template((None,)),)
    choices = [_texts(unit, piece, is_alone=len(pieces) == 1) for piece in pieces]
    found = (
        tuple(islice(_parts("//".join(chosen)), _MOST_PARTS + 1))
        for chosen in islice(product(*choices), _MOST_ASSIGNMENTS)
    )
    return tuple(Template(parts if len(parts) <= _MOST_PARTS else (None,)) for parts in found)


def _texts(unit: Unit, piece: str, *, is_alone: bool) -> tuple[str, ...]:
    """What a unit puts into a variable, around a name literal texts only; the variable itself where it puts nothing
    there."""
    if not piece.isidentifier() or not (is_alone or _AROUND.fullmatch(piece)):
        return (piece,)
    return _all_texts(unit, piece, is_alone) or (piece,)


@cache
def _all_texts(unit: Unit, variable: str, is_alone: bool) -> tuple[str, ...]:
    found = dict.fromkeys(_assigned(unit, variable))
    return tuple(text for text in found if is_alone or _LITERAL.fullmatch(text))


def _bare(piece: str) -> str:
    """A piece of a concatenation without TRIM and its kin."""
    text = piece.strip()
    while wrapped := re.fullmatch(r"(?:trim|adjustl|tolower)\s*\((.*)\)|\((.*)\)", text, re.DOTALL):
        text = (wrapped[1] or wrapped[2] or "").strip()
    return re.sub(r"^(\w*(?:prefix|suffix))\s*\([^()]*\)$", r"\1", text)


def _assigned(unit: Unit, variable: str) -> Iterator[str]:
    """The texts that a unit, or one around it, assigns to a variable or writes into it, as concatenations."""
    around: Unit | None = unit
    count = 0
    while around is not None and count < _MOST_ASSIGNMENTS:
        texts = _assigned_in(around).get(variable, [])
        count += len(texts)
        yield from texts
        around = around.parent


@cache
def _assigned_in(unit: Unit) -> dict[str, list[str]]:
    """What a unit itself puts into each variable, in the order of its statements."""
    found: dict[str, list[str]] = {}
    for statement in unit.statements:
        if assigned := _ASSIGNED.match(statement.text):
            found.setdefault(assigned[1], []).append(assigned[2])
        elif writes := _WRITTEN.match(statement.text):
            end = closing(statement.text, statement.text.index("("))
            found.setdefault(writes[1], []).append("//".join(split_list(statement.text[end + 1 :])))
    return found


def _parts(expression: str) -> Iterator[str | None]:
    """The parts of a concatenation: texts in lower case, None for what only a run knows."""
    last: str | None = ""
    for part in _concatenated(expression):
        text = _bare(part)
        if _LITERAL.fullmatch(text):
            last = text[1:-1].strip().lower()
            if last:
                yield last
        elif _AROUND.fullmatch(text):
            yield ""
        elif last is not None:
            last = None
            yield None


def _concatenated(expression: str) -> Iterator[str]:
    depth, quote, start = 0, "", 0
    for position, character in enumerate(expression):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
        elif depth == 0 and expression.startswith("//", position):
            yield expression[start:position]
            start = position + 2
    yield expression[start:]


def _is_unseen(arguments: Mapping[str, str]) -> bool:
    """Whether nobody sees the variable: it holds others, or is neither for output nor for checkpoints."""
    is_hidden = _logical(arguments, "loutput") is False and _logical(arguments, "lrestart") is not True
    return is_hidden or _logical(arguments, "lcontainer") is True


def _logical(arguments: Mapping[str, str], name: str) -> bool | None:
    return {".true.": True, ".false.": False}.get(arguments.get(name, "").strip().lower())


class _Maker:
    def __init__(self, tree: SourceTree, release: str, base: Mapping[str, Any]) -> None:
        self.release = release
        self.base = base
        self.tree = tree
        self.compared = 0
        self.groups = {name: number for number, name in enumerate(base["groups"])}
        self.conditions = {name: number for number, name in enumerate(base["conditions"])}
        self.registered: dict[str, list[Registration]] = {}
        self.quoted: dict[str, set[str]] = {}
        for registration in registrations(tree):
            self.registered.setdefault(registration.component, []).append(registration)
        for component, file in _files(tree):
            texts = (text for unit in tree.units(file) for inner in unit.all_units() for text in _quoted(inner))
            self.quoted.setdefault(component, set()).update(texts)

    def catalogue(self) -> Catalogued:
        components: dict[str, list[dict[str, Any]]] = {}
        indirect: dict[str, list[str]] = {}
        hidden: dict[str, list[str]] = {}
        added: list[str] = []
        removed: list[str] = []
        is_same = self.release == self.base["release"]
        for name, entries in self.base["components"].items():
            if name not in self.registered:
                components[name] = list(entries)
                indirect |= _of_part(self.base, "indirect", name)
                hidden |= _of_part(self.base, "hidden", name)
                continue
            unmade = [entry["name"] for entry in entries if not self._is_made(name, entry["name"])]
            known = unmade if is_same else self.base.get("indirect", {}).get(name, [])
            gone = {entry for entry in unmade if entry not in known}
            kept = [self._grouped(name, entry) for entry in entries if entry["name"] not in gone]
            new = {template.name: (template, registration) for template, registration in self._new(name, kept)}
            unseen = (
                list(new) if is_same else [entry for entry in self.base.get("hidden", {}).get(name, ()) if entry in new]
            )
            fresh = [self._entry(*found) for entry, found in new.items() if entry not in unseen]
            components[name] = kept + fresh
            indirect |= {name: [entry for entry in known if entry not in gone]} if known else {}
            hidden |= {name: unseen} if unseen else {}
            removed += [f"{name}: {entry}" for entry in sorted(gone)]
            added += [f"{name}: {entry['name']}" for entry in fresh]
        carried = self._carried()
        document = {
            "release": self.release,
            "source": self._source(),
            **({"carried": carried} if carried else {}),
            "indirect": indirect,
            "hidden": hidden,
            "groups": list(self.groups),
            "conditions": list(self.conditions),
            "components": components,
        }
        return Catalogued(document, tuple(added), tuple(removed), carried)

    def _source(self) -> str:
        base = self.base["release"]
        if self.registered or self.release == base:
            return str(self.base["source"]).replace(base, self.release)
        return f"those of ICON {base}: the sources of {self.release} that register variables were not at hand"

    def _carried(self) -> dict[str, str]:
        """The components that are known from an earlier release, with that release."""
        before = self.base.get("carried", {})
        missing = [name for name in self.base["components"] if name not in self.registered]
        if self.release == self.base["release"]:
            return {name: before[name] for name in missing if name in before}
        return {name: before.get(name, self.base["release"]) for name in missing}

    def _is_made(self, component: str, name: str) -> bool:
        """Whether a registration makes the name, or a text beside them holds it."""
        literal = _HOLE.sub("x1", name)
        literals, patterns = self._templates(component)
        self._compare(len(patterns))
        making = [one for one in (literals.get(literal),) if one is not None]
        making += [one for one, pattern in patterns if pattern.fullmatch(literal)]
        if making:  # fl_{n} alone makes no fl_{n}_{m}
            return max(one.parts.count(None) for one in making) >= len(_HOLE.findall(name))
        longest = max(_HOLE.split(name), key=len)
        if longest != name:
            return any(longest in text for text in self.quoted[component])
        return name in self.quoted[component]

    @cache  # noqa: B019 - it lives as long as the command
    def _templates(self, component: str) -> tuple[dict[str, Template], list[tuple[Template, re.Pattern[str]]]]:
        """The templates of a component's registrations, each once: those of one name by it, and those of several."""
        literals: dict[str, Template] = {}
        patterns: dict[Template, re.Pattern[str]] = {}
        for template in (one for registration in self.registered[component] for one in registration.templates):
            if template.is_open or template in patterns:
                continue
            if _is_one_name(template):
                literals[template.name] = template
            else:
                self._compare(_COMPARED_AT_ONCE)
                patterns[template] = re.compile(template.pattern)
        return literals, list(patterns.items())

    def _compare(self, number: int) -> None:
        self.compared += number
        if self.compared > _MOST_COMPARED:
            raise InputError(f"{self.tree.root} registers very many output variables whose names have parts that vary")

    def _new(self, component: str, entries: list[dict[str, Any]]) -> Iterator[tuple[Template, Registration]]:
        """What registrations make and no entry has."""
        known = {_HOLE.sub("x1", entry["name"]): None for entry in entries}
        patterns = dict(self._templates(component)[1])
        for registration in self.registered[component]:
            if _is_unseen(registration.arguments):
                continue
            for template in registration.templates:
                if template.is_open or template.name in known:
                    continue
                if template in patterns:
                    self._compare(len(known))
                    if any(patterns[template].fullmatch(name) for name in known):
                        continue
                known[_HOLE.sub("x1", template.name)] = None
                yield template, registration

    def _grouped(self, component: str, entry: dict[str, Any]) -> dict[str, Any]:
        """An entry with the groups that its only registration names, where it names them one by one."""
        calls = self._registering(component).get(entry["name"], [])
        if len(calls) != 1 or len(calls[0].templates) > 1 or calls[0].arguments.get("target") is not None:
            return entry
        groups = _groups(calls[0].arguments)
        if groups is None or {self.base["groups"][number] for number in entry.get("groups", ())} == set(groups):
            return entry
        changed = {key: value for key, value in entry.items() if key != "groups"}
        if groups:
            changed["groups"] = self._numbers(self.groups, groups)
        return {key: changed[key] for key in _ORDER if key in changed}

    @cache  # noqa: B019
    def _registering(self, component: str) -> dict[str, list[Registration]]:
        """The registrations of each name that has no hole."""
        found: dict[str, list[Registration]] = {}
        for registration in self.registered[component]:
            for name in {template.literal for template in registration.templates} - {None}:
                found.setdefault(str(name), []).append(registration)
        return found

    def _entry(self, template: Template, registration: Registration) -> dict[str, Any]:
        arguments = registration.arguments
        levels, axis = _AXES.get(arguments.get("vgrid", "").strip().lower(), (1, None))
        groups = _groups(arguments) or ()
        interpolation = "".join(re.findall(r"['\"]([pzi])['\"]", arguments.get("vert_interp", "").lower())).upper()
        restart = _logical(arguments, "lrestart")
        entry: dict[str, Any] = {
            "name": template.name,
            "pattern": template.pattern if None in template.parts else None,
            "copies": registration.copies if template.parts.count(None) == 1 else None,
            "levels": None if levels == 1 else levels,
            "axis": axis,
            "location": _LOCATIONS.get(arguments.get("hgrid", "").strip().lower()),
            "constant": True if arguments.get("isteptype", "").strip().lower() == "tstep_constant" else None,
            "restart": None if restart is False else restart or _UNKNOWN,
            "output": False if _logical(arguments, "loutput") is False else None,
            "groups": self._numbers(self.groups, groups) if groups else None,
            "interpolation": interpolation or None,
            "if": self._numbers(self.conditions, (_UNKNOWN,)),
        }
        return {key: entry[key] for key in _ORDER if entry.get(key) is not None}

    def _numbers(self, known: dict[str, int], names: Iterable[str]) -> list[int]:
        return [known.setdefault(name, len(known)) for name in names]


def _is_one_name(template: Template) -> bool:
    return all(template.parts)


def _of_part(base: Mapping[str, Any], key: str, component: str) -> dict[str, list[str]]:
    """What a catalogue says of a component below one of its keys, if anything."""
    return {component: base[key][component]} if component in base.get(key, {}) else {}


def _groups(arguments: Mapping[str, str]) -> tuple[str, ...] | None:
    """The groups of a registration; None where they are not written out."""
    text = arguments.get("in_group")
    if text is None:
        return ()
    call = re.fullmatch(r"groups\s*\((.*)\)", text.strip(), re.DOTALL | re.IGNORECASE)
    names = [] if call is None else split_list(call[1])
    if call is None or not all(_LITERAL.fullmatch(name.strip()) for name in names):
        return None
    return tuple(name.strip()[1:-1].strip().lower() for name in names)
