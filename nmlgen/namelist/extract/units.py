"""Program units of Fortran: modules, procedures and programs with what they declare."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nmlgen.namelist.extract.lines import Statement, closing, split_list
from nmlgen.values import define, field, frozen


@define(eq=False)
class Declaration:
    """One declared entity: `type` is "integer", "real", "logical", "character", "complex" or "derived"; the others
    are expressions as they were written, None where there is none."""

    name: str
    type: str
    kind: str | None
    length: str | None
    dimensions: tuple[str, ...]
    initial: str | None
    attributes: frozenset[str]
    type_name: str | None
    unit: Unit


@define(eq=False)
class DerivedType:
    """The definition of a type: its components in order."""

    name: str
    parent: str | None
    unit: Unit
    components: dict[str, Declaration] = field(factory=dict)


@frozen
class Use:
    """A USE statement: `names` maps local names to those of the module, None if all are taken."""

    module: str
    names: dict[str, str] | None
    renamed: dict[str, str]


@define(eq=False)
class Unit:
    """A module, submodule, program, subroutine or function; `statements` are those that are executed."""

    kind: str
    name: str
    parent: Unit | None
    file: str
    arguments: tuple[str, ...] = ()
    uses: list[Use] = field(factory=list)
    declarations: dict[str, Declaration] = field(factory=dict)
    types: dict[str, DerivedType] = field(factory=dict)
    namelists: dict[str, dict[str, None]] = field(factory=dict)
    statements: list[Statement] = field(factory=list)
    children: dict[str, Unit] = field(factory=dict)

    def all_units(self) -> Iterator[Unit]:
        """This unit and all within it."""
        yield self
        for child in self.children.values():
            yield from child.all_units()

    def within(self) -> list[Unit]:
        """This unit and those that it stands in, from within."""
        found: list[Unit] = [self]
        while found[-1].parent is not None:
            found.append(found[-1].parent)
        return found


_DEEPEST = 10  # units within one another; Fortran has three, and more stand where the ends of some were not understood
_MOST_USES = 1_000  # of a unit, each of which is looked through for each name
_MODULE = re.compile(r"(?:(module)\s+(?!procedure\b)|(submodule)\s*\([^)]*\)\s*|(program)\s+)(\w+)$")
_PREFIX = r"(?:(?:recursive|pure|elemental|impure|module|non_recursive)\s+)*"
_TYPE_PREFIX = (
    r"(?:(?:recursive|pure|elemental|impure|module|integer|real|logical|character|complex|double\s*precision|type|class)"
    r"(?:\s*(?:\*\s*\d+|\((?:[^()]|\([^()]*\))*\)))?\s*)*"
)
_SUBROUTINE = re.compile(rf"{_PREFIX}subroutine\s+(\w+)\s*(?:\((.*?)\))?")
_FUNCTION = re.compile(rf"{_TYPE_PREFIX}function\s+(\w+)\s*\(([^)]*)\)")
_MODULE_PROCEDURE = re.compile(r"module\s+procedure\s+(\w+)$")
_END = re.compile(r"end(\s*(subroutine|function|module|submodule|program|procedure)(\s+\w+)?)?$")
_INTERFACE = re.compile(r"(?:abstract\s+)?interface\b(?!\s*=)")
_TYPE_DEFINITION = re.compile(r"type\s*(?:,(?P<attributes>.*?))?(?:::\s*|(?<!\s)\s+)(?P<name>\w+)$")
_USE = re.compile(r"use(?:\s*,\s*(?:non_)?intrinsic)?\s*(?:::\s*)?(\w+)\s*(?:,\s*(.*))?$")
_TYPE = re.compile(r"(double\s*precision|integer|real|logical|character|complex|type|class)\b\s*")
_NAMELIST = re.compile(r"/\s*(\w+)\s*/([^/]*)")


def read_units(lines: Iterator[Statement], file: str) -> list[Unit]:
    """The outermost units of a file."""
    return _Reader(file).read(lines)


class _Reader:
    def __init__(self, file: str) -> None:
        self.file = file
        self.outermost: list[Unit] = []
        self.unit: Unit | None = None
        self.type: DerivedType | None = None
        self.interfaces = 0
        self.enumerator: str | None = None  # the last one of the enumeration that is open; "" before the first

    def read(self, lines: Iterator[Statement]) -> list[Unit]:
        for statement in lines:
            self._statement(statement)
        return self.outermost

    def _statement(self, statement: Statement) -> None:
        text = statement.text
        if self.interfaces:
            self.interfaces -= bool(re.match(r"end\s*interface", text))
        elif self.type is not None:
            self._component(text)
        elif self.enumerator is not None:
            self._enumerators(text)
        elif re.match(r"enum\s*,", text):
            self.enumerator = ""
        elif self._opens(text) or self._closes(text):
            return
        elif _INTERFACE.match(text):
            self.interfaces += 1
        elif self.unit is None:
            self._open("program", "main")
            self._inside(statement)
        else:
            self._inside(statement)

    def _opens(self, text: str) -> bool:
        if text.startswith("end"):
            return False
        module = _MODULE.match(text)
        if module is not None:
            kind = next(group for group in module.groups()[:3] if group)
            self._open("module" if kind == "submodule" else kind, module[4])
            if kind == "submodule" and self.unit is not None:
                host = text[text.index("(") + 1 : text.index(")")].partition(":")[0].strip()
                self.unit.uses.append(Use(host, None, {}))
            return True
        procedure = _SUBROUTINE.match(text) or _FUNCTION.match(text)
        if procedure is not None:
            kind = "subroutine" if _SUBROUTINE.match(text) else "function"
            self._open(kind, procedure[1], tuple(name for name in split_list(procedure[2] or "") if name))
            return True
        inner = _MODULE_PROCEDURE.match(text)
        if inner is not None and self.unit is not None:
            self._open("subroutine", inner[1])
            return True
        return False

    def _open(self, kind: str, name: str, arguments: tuple[str, ...] = ()) -> None:
        if self.unit is not None and len(self.unit.within()) >= _DEEPEST:
            self.unit = None
        unit = Unit(kind, name, self.unit, self.file, arguments)
        if self.unit is None:
            self.outermost.append(unit)
        else:
            self.unit.children[name] = unit
        self.unit = unit

    def _closes(self, text: str) -> bool:
        if _END.match(text) is None:
            return False
        self.unit = self.unit.parent if self.unit is not None else None
        return True

    def _enumerators(self, text: str) -> None:
        if re.match(r"end\s*enum", text):
            self.enumerator = None
            return
        for item in split_list(re.sub(r"^enumerator\s*(::)?\s*", "", text)):
            name, _, value = (part.strip() for part in item.partition("="))
            value = value or (f"{self.enumerator} + 1" if self.enumerator else "0")
            if self.unit is not None:
                attributes = frozenset({"parameter"})
                entity = Declaration(name, "integer", None, None, (), value, attributes, None, self.unit)
                self.unit.declarations[name] = entity
            self.enumerator = name

    def _component(self, text: str) -> None:
        assert self.type is not None
        if re.match(r"end\s*type", text):
            self.type = None
        elif self.unit is not None and not re.match(
            r"(procedure|generic|final|contains|private|public|sequence)\b", text
        ):
            for declaration in declarations(text, self.type.unit):
                self.type.components[declaration.name] = declaration

    def _inside(self, statement: Statement) -> None:
        unit, text = self.unit, statement.text
        assert unit is not None
        definition = None if text.startswith("type(") else _TYPE_DEFINITION.match(text)
        if definition is not None and " is " not in text:
            parent = re.search(r"extends\s*\(\s*(\w+)\s*\)", definition["attributes"] or "")
            self.type = DerivedType(definition["name"], parent[1] if parent else None, unit)
            unit.types[self.type.name] = self.type
            return
        use = _USE.match(text)
        if use is not None and re.match(r"use[\s,:]", text):
            if len(unit.uses) < _MOST_USES:
                unit.uses.append(_use(use[1], use[2] or ""))
        elif re.match(r"namelist\s*/", text):
            for group, names in _NAMELIST.findall(text[8:]):
                known = unit.namelists.setdefault(group, {})
                known.update((name, None) for name in split_list(names) if name.isidentifier())
        elif text != "contains":
            found = declarations(text, unit)
            for declaration in found:
                unit.declarations[declaration.name] = declaration
            if not found:
                self._attribute(text)
                unit.statements.append(statement)

    def _attribute(self, text: str) -> None:
        """PARAMETER and DIMENSION statements apart from the declaration."""
        assert self.unit is not None
        parameter = re.match(r"parameter\s*\((.*)\)$", text)
        for part in split_list(parameter[1]) if parameter else []:
            name, _, value = part.partition("=")
            declaration = self.unit.declarations.get(name.strip())
            if declaration is not None:
                declaration.initial = value.strip()
                declaration.attributes |= {"parameter"}


def _use(module: str, rest: str) -> Use:
    only = re.match(r"only\s*:\s*(.*)$", rest)
    names: dict[str, str] = {}
    for item in split_list(only[1] if only else rest):
        local, _, original = (part.strip() for part in item.partition("=>"))
        if re.fullmatch(r"\w+", local):
            names[local] = original or local
    return Use(module, names, {}) if only else Use(module, None, names)


def declarations(text: str, unit: Unit) -> list[Declaration]:
    """The entities that a statement declares; none if it is no declaration."""
    found = _TYPE.match(text)
    if found is None:
        return []
    kind = length = type_name = None
    type_, rest = found[1], text[found.end() :]
    if type_.startswith("double"):
        type_, kind = "real", "8"
    if rest.startswith("*"):
        size = re.match(r"\*\s*(\d+|\([^)]*\))\s*,?", rest)
        if size is None:
            return []
        value = size[1].strip("()")
        kind, length = (None, value) if type_ == "character" else (value, None)
        rest = rest[size.end() :]
    elif rest.startswith("("):
        end = closing(rest, 0)
        inside, rest = rest[1:end], rest[end + 1 :]
        if type_ in ("type", "class"):
            type_name = inside.strip()
        elif type_ == "character":
            length = _length(inside)
        else:
            kind = re.sub(r"^kind\s*=\s*", "", inside.strip())
    elif type_ in ("type", "class"):
        return []
    type_ = "derived" if type_name is not None else type_
    return _entities(rest, Declaration("", type_, kind, length, (), None, frozenset(), type_name, unit))


def _length(selector: str) -> str | None:
    for position, part in enumerate(split_list(selector)):
        keyword, equals, value = part.partition("=")
        if equals and keyword.strip() == "len":
            return value.strip()
        if not equals and position == 0:
            return part
    return None


def _entities(rest: str, common: Declaration) -> list[Declaration]:
    attributes: set[str] = set()
    dimensions: tuple[str, ...] = ()
    head, separator, entities = _partition(rest)
    if separator:
        for attribute in split_list(head):
            if attribute.startswith("dimension"):
                dimensions = tuple(split_list(attribute[attribute.index("(") + 1 : -1]))
            elif attribute:
                attributes.add(attribute.partition("(")[0].strip())
    elif not re.match(r"\s*(?:,\s*)?[a-z]\w*\s*($|[,(*])", rest) or re.search(r"(?<![=<>/])=(?!=)", rest):
        return []
    else:
        entities = rest
    found = []
    for entity in split_list(entities.strip().lstrip(",")):
        name = re.match(r"\w+", entity)
        if name is not None:
            found.append(_entity(name[0], entity[name.end() :].lstrip(), common, frozenset(attributes), dimensions))
    return found


def _partition(text: str) -> tuple[str, str, str]:
    """What stands before and after the two colons that are in no parentheses and no text."""
    depth, quote = 0, None
    for position, character in enumerate(text):
        if quote is not None:
            quote = None if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in "()":
            depth += 1 if character == "(" else -1
        elif depth == 0 and text.startswith("::", position):
            return text[:position], "::", text[position + 2 :]
    return text, "", ""


def _entity(
    name: str, rest: str, common: Declaration, attributes: frozenset[str], dimensions: tuple[str, ...]
) -> Declaration:
    length, initial = common.length, None
    if rest.startswith("("):
        end = closing(rest, 0)
        dimensions, rest = tuple(split_list(rest[1:end])), rest[end + 1 :].lstrip()
    size = re.match(r"\*\s*(\d+|\([^)]*\))\s*", rest)
    if size is not None and common.type == "character":
        length, rest = size[1].strip("()"), rest[size.end() :]
    if rest.startswith("=") and not rest.startswith("=>"):
        initial = rest[1:].strip()
    return Declaration(
        name, common.type, common.kind, length, dimensions, initial, attributes, common.type_name, common.unit
    )
