"""The data of a WRF release from its source tree: its namelist variables, and what it decides of a namelist once it is
read: what it refuses, and what it sets by itself.

The steps are those of `setup_physics_suite`, `set_derived_rconfigs`, `check_nml_consistency` and `set_physics_rconfigs`
for the ARW core as it is built without chemistry and other options, in this order. They are written as `steps.py` reads
them; whatever only reports is left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import Any

from nmlgen.errors import InputError
from nmlgen.namelist.extract.blocks import Choice, Item, Repetition, nested
from nmlgen.namelist.extract.expression import Binary, Call, Literal, Node, Section, Unary, parse
from nmlgen.namelist.extract.lines import Statement, closing, statements
from nmlgen.values import frozen

CHECKS = "share/module_check_a_mundo.F"
TOP = "main/module_wrf_top.F"
REMAPPINGS = "dyn_em/namelist_remappings_em.h"
CONSTANTS = "share/module_model_constants.F"
_ROUTINES = (
    (CHECKS, "setup_physics_suite"),
    (TOP, "set_derived_rconfigs"),
    (CHECKS, "check_nml_consistency"),
    (CHECKS, "set_physics_rconfigs"),
)
_MACROS = frozenset({"EM_CORE", "DM_PARALLEL", "BUILD_SBM_FAST"})
_OPTIONS = frozenset({"WRF_CHEM", "WRF_USE_CLM", "WRF_USE_CTSM", "WRF_CMAQ", "BUILD_RRTMG_FAST", "BUILD_RRTMK"})
"""What can be built into WRF besides; a check that is not there with all of it says how WRF was built."""
_RECORD = "model_config_rec"
_PACKAGE = re.compile(r"^package\s+(\w+)\s+\w+==(-?\d+)", re.MULTILINE | re.IGNORECASE)
_DERIVED = re.compile(r"^rconfig\s+(integer|logical|real)\s+(\w+)\s+derived\s+1\s+(\S+)", re.MULTILINE | re.IGNORECASE)
_PARAMETER = re.compile(r"^[ \t]*real\s*,\s*parameter\s*::\s*(\w+)\s*=\s*([^!\n]+)", re.MULTILINE | re.IGNORECASE)
_ONE_RANK = "wrf_dm_on_monitor()"
_ONLY_REPORTS = ("wrf_err_message", "write", "where", "have_mods", "wrf_debug_level")
_COUNTER = "count_fatal_error"
_SIGNS = {"/=": "!=", ".and.": "and", ".or.": "or", ".eqv.": "==", ".neqv.": "!=", "==": "==", "//": "+"}
_FUNCTIONS = {"maxval", "any", "index", "mod", "abs", "trim", "real", "max", "min", "len_trim"}


_NAMELIST = re.compile(
    r"^rconfig\s+(integer|logical|real|character)\s+(\w+)\s+namelist,(\w+)\s+(\w+)\s+(\"[^\"\n]*\"|\S+)",
    re.MULTILINE | re.IGNORECASE,
)
_INCLUDE = re.compile(r"^include\s+(\S+)", re.MULTILINE)
_TEXT = 256
_MADE = "io_boilerplate_temporary.inc"
_TIMERS = "rconfig logical override_restart_timers namelist,time_control 1 .false.\n"
_STREAMS = ("auxhist", "auxinput")
_MOST_STREAMS = 24  # MAX_HISTORY, which `configure` sets to 25, counts the main stream
_UNITS = ("_y", "_d", "_h", "_m", "_s", "")
_LENGTHS = {
    "max_domains": 11,
    "max_moves": 50,
    "max_eta": 10001,
    "max_ocean": 501,
    "max_plevs": 100,
    "max_zlevs": 100,
    "max_bogus": 5,
}
"""`frame/module_driver_constants.F`, for a MAX_DOMAINS_F of 21, which `configure` sets."""
_READ_BY_OTHERS: dict[str, dict[str, Any]] = {
    "namelist_quilt": {
        "nio_tasks_per_group": {"type": "integer", "default": 0},
        "nio_groups": {"type": "integer", "default": 1},
        "poll_servers": {"type": "logical", "default": False},
    },
    "dm_task_split": {
        "tasks_per_split": {"type": "integer"},
        "comm_start": {"type": "integer", "shape": [11], "default": 0},
        "nest_pes_x": {"type": "integer", "shape": [11]},
        "nest_pes_y": {"type": "integer", "shape": [11]},
    },
    "logging": {
        "buffer_size": {"type": "integer", "default": 0},
        "compute_tasks_silent": {"type": "logical", "default": False},
        "io_servers_silent": {"type": "logical", "default": False},
        "stderr_logging": {"type": "integer", "default": 1},
    },
}
"""Groups that WRF's registry does not have (`frame/module_io_quilt_old.F`, `external/RSL_LITE/module_dm.F`,
`frame/module_wrf_error.F`)."""


_BYTES = {"real": 4, "integer": 4, "logical": 4, "doubleprecision": 8, "double": 8}
_WORD = re.compile(r'"[^"]*"|\S+')


class UnreadableStepError(InputError):
    """The source has a statement that is not understood."""


def registries(read: Callable[[str], str], name: str = "Registry.EM") -> list[str]:
    """The texts of a registry and of all that it includes, in order."""
    if name == _MADE:
        streams = (f"{kind}{number}" for kind in _STREAMS for number in range(1, _MOST_STREAMS + 1))
        return [_TIMERS + "".join(map(_of_stream, streams))]
    text = read(f"Registry/{name}")
    found: list[str] = []
    at = 0
    for include in _INCLUDE.finditer(text):
        found += [text[at : include.start()], *registries(read, include[1])]
        at = include.end()
    return [*found, text[at:]]


def _of_stream(stream: str) -> str:
    """What the build puts into the registry for a further stream (`tools/registry.c`, `gen_io_boilerplate`)."""
    times = [f"{stream}_{what}{unit}" for what in ("interval", "begin", "end") for unit in _UNITS]
    texts = [
        f"rconfig character {stream}_{what} namelist,time_control 1 {stream}_d<domain>_<date>\n"
        for what in ("inname", "outname")
    ]
    numbers = [f"rconfig integer {name} namelist,time_control max_domains 0\n" for name in times]
    return "".join(
        (
            *texts,
            *numbers,
            f"rconfig integer io_form_{stream} namelist,time_control 1 0\n",
            f"rconfig integer frames_per_{stream} namelist,time_control max_domains 999999\n",
        )
    )


def make_groups(texts: Iterable[str]) -> dict[str, dict[str, Any]]:
    """The variables of each namelist group, as a registry file has them, from the texts of WRF's registry."""
    groups: dict[str, dict[str, Any]] = {}
    for text in texts:
        for kind, name, group, entries, default in _NAMELIST.findall(text.replace("\\\n", " ")):
            entry: dict[str, Any] = {"type": kind.lower()}
            if kind.lower() == "character":
                entry["length"] = _TEXT
            if kind.lower() == "real":
                entry["bytes"] = 4
            if entries.lower() in _LENGTHS:
                entry["shape"] = [_LENGTHS[entries.lower()]]
            entry["default"] = _default(kind.lower(), default)
            groups.setdefault(group.lower(), {}).setdefault(name.lower(), entry)
    return groups | _READ_BY_OTHERS


def registry_text(release: str, groups: Mapping[str, Mapping[str, Any]], elsewhere: Mapping[str, Any]) -> str:
    """The file of a release's variables; `elsewhere` are those of other releases, by group and name."""
    own = [
        f'{json.dumps(name)}: {{"component": "atmosphere", "variables": {{\n{_lines(group)}\n}}}}'
        for name, group in groups.items()
    ]
    others = [f"{json.dumps(name)}: {{\n{_lines(group)}\n}}" for name, group in elsewhere.items()]
    head = f'{{"format": 1, "model": "wrf", "release": {json.dumps(release)}, "groups": {{\n'
    return head + ",\n".join(own) + '\n}, "elsewhere": {\n' + ",\n".join(others) + "\n}}\n"


def make_fields(texts: Iterable[str]) -> list[dict[str, Any]]:
    """The state variables that WRF writes, from the texts of its registry: each with its name, type, dimensions, the
    streams that it is in by default, and the settings of which one has to hold, where it hangs on any."""
    lengths: dict[str, int | str] = {}
    conditions: dict[str, list[str]] = {}
    fields: list[dict[str, Any]] = []
    for words in _entries("".join(texts).replace("\\\n", " ")):
        if words[0] == "dimspec":
            where, _, length = words[3].partition("=")
            lengths[words[1]] = where if not length else length if where == "namelist" else _count(length)
        elif words[0] == "package" and len(words) > 4:
            for array in words[4].lower().split(";"):
                for name in array.partition(":")[2].split(","):
                    conditions.setdefault(name.strip(), []).append(words[2].lower())
        elif words[0] == "state" and len(words) > 7 and words[1].lower() in _BYTES and words[2] != "-":
            streams = _streams(words[7])
            if streams:
                fields.append({"words": words, "streams": streams})
    made = [_field(field["words"], field["streams"], lengths, conditions) for field in fields]
    return [field for field in made if field["dimensions"][1:] == [] or field["dimensions"][0] != "k"]  # WRF cannot


def _entries(text: str) -> Iterator[list[str]]:
    """The words of each line that the ARW core is built with."""
    takes = [True]
    for line in text.split("\n"):
        words = [] if line.lstrip().startswith("#") else _WORD.findall(line)
        if not words:
            continue
        if words[0] in ("ifdef", "ifndef"):
            takes.append((words[1] in ("EM_CORE=1", "DA_CORE=0")) == (words[0] == "ifdef"))
        elif words[0] == "endif":
            takes.pop()
        elif all(takes):
            yield words


def _streams(text: str) -> list[str]:
    """The streams of a state variable: "r", and of history "0" or the number of an auxiliary one."""
    written = re.sub(r"i(?:\d|\{\d+\})*", "", re.sub(r"=\([^)]*\)", "", text.lower()))
    found = ["r"] if "r" in written else []
    history = re.search(r"h((?:\d|\{\d+\})*)", written)
    return found if history is None else [*found, *(re.findall(r"\d+(?=\})|\d", history[1]) or ["0"])]


def _field(
    words: list[str], streams: list[str], lengths: Mapping[str, int | str], conditions: Mapping[str, list[str]]
) -> dict[str, Any]:
    _, kind, symbol, shape, _, levels, staggered, _, *rest = words
    name = rest[0].strip('" ') if rest else symbol
    dimensions: list[int | str] = []
    for part in re.findall(r"\{[^}]*\}|\*?.", shape):
        letter = part.strip("{}")
        if part in ("b", "f", "t", "-"):  # what is at the boundary is written elsewhere
            continue
        if part in ("*i", "*j"):  # on the finer mesh of fires
            dimensions.append(part)
        elif part in ("i", "j", "k"):
            dimensions.append(part + ("s" if {"i": "x", "j": "y", "k": "z"}[part] in staggered.lower() else ""))
        else:
            dimensions.append(lengths[letter])
    entry: dict[str, Any] = {
        "name": symbol if name == "-" else name,
        "bytes": _BYTES[kind.lower()],
        "dimensions": dimensions,
        "streams": streams,
    }
    if levels == "2":
        entry["levels"] = 2
    if "f" in re.sub(r"\{[^}]*\}", "", shape) or symbol.lower() in conditions:
        entry["if"] = conditions.get(symbol.lower(), [])
    return entry


def _count(length: str) -> int:
    """How many places there are from one bound to the other."""
    low, _, high = length.strip("()").rpartition(":")
    return int(high) - int(low or 1) + 1


def fields_text(release: str, fields: Iterable[Mapping[str, Any]]) -> str:
    """The file of what a release writes."""
    head = f'{{"format": 1, "model": "wrf", "release": {json.dumps(release)}, "fields": [\n'
    return head + ",\n".join(map(json.dumps, fields)) + "\n]}\n"


def steps_text(release: str, routines: Iterable[Mapping[str, Any]], own: Mapping[str, Any]) -> str:
    """The file of a release's steps."""
    head = f'{{"format": 1, "model": "wrf", "release": {json.dumps(release)}, "own": {json.dumps(own)}, "routines": [\n'
    parts = [
        f'{{"routine": {json.dumps(routine["routine"])}, "file": {json.dumps(routine["file"])}, "steps": [\n'
        + ",\n".join(map(json.dumps, routine["steps"]))
        + "\n]}"
        for routine in routines
    ]
    return head + ",\n".join(parts) + "\n]}\n"


def _lines(entries: Mapping[str, Any]) -> str:
    return ",\n".join(f"  {json.dumps(name)}: {json.dumps(entry)}" for name, entry in entries.items())


def _default(kind: str, text: str) -> Any:
    if kind == "logical":
        return text.strip(".").lower().startswith("t")
    if kind == "character":
        return text.strip('"')
    number = float(text.lower().replace("d", "e"))
    return int(number) if kind == "integer" else number


def make_steps(
    read: Callable[[str], str], registries: Sequence[str], variables: Iterable[str]
) -> tuple[list[Any], dict[str, Any]]:
    """The steps that WRF takes, and what the settings are at first that no namelist gives, by `read`, which gives the
    text of a file of the source tree.

    `registries` are the texts of its registry, `variables` the names of all namelist variables. Raises InputError for a
    statement that is not understood.
    """
    names = {name.lower(): int(number) for text in registries for name, number in _PACKAGE.findall(text)}
    numbers: dict[str, Any] = dict(names)
    for name, text in _PARAMETER.findall(read(CONSTANTS)):
        if name.lower() in ("piconst", "reradius"):
            top, _, bottom = text.strip().partition("/")
            numbers[name.lower()] = float(top) / float(bottom) if bottom else float(top)
    maker = _Maker(frozenset(name.lower() for name in variables), numbers)
    steps: list[Any] = []
    for file, routine in _ROUTINES:
        text = read(file)
        if file == CHECKS:
            text = text.replace(f'# include "../{REMAPPINGS}"', read(REMAPPINGS))
        steps.append({"routine": routine, "file": file, "steps": maker.routine(text, routine)})
    own = {
        f"_{name.lower()}": default.strip(".").lower().startswith("t") if kind == "logical" else float(default)
        for text in registries
        for kind, name, default in _DERIVED.findall(text)
    }
    return steps, {name: int(value) if value == int(value) else value for name, value in own.items()}


@frozen
class _Maker:
    variables: frozenset[str]
    numbers: Mapping[str, Any]

    def routine(self, text: str, name: str) -> list[Any]:
        steps = self.steps(nested(_body(statements(text, _MACROS), name)))
        with_all = {statement.line for statement in _body(statements(text, _MACROS | _OPTIONS), name)}
        _mark(steps, with_all)
        return steps

    def steps(self, items: Iterable[Item]) -> list[Any]:
        found: list[Any] = []
        for item in items:
            found += self.step(item)
        return found

    def step(self, item: Item) -> Iterator[Any]:
        if isinstance(item, Choice):
            yield from self.choice(item)
        elif isinstance(item, Repetition):
            control = re.fullmatch(r"(\w+)\s*=(.+),([^,]+)", item.control.strip())
            if control is None:
                raise UnreadableStepError(f"do {item.control} is not understood")
            body = self.steps(item.body)
            if body:
                first, last = self.text(control[2].strip()), self.text(control[3].strip())
                yield {"do": f"_{control[1]}", "from": first, "to": last, "steps": body}
        else:
            yield from self.single(item)

    def choice(self, choice: Choice) -> Iterator[Any]:
        branches = []
        for branch in choice.branches:
            condition = branch.condition
            if condition == "?":  # a WHERE, which only marks what is reported
                return
            if condition is not None and choice.selector is not None:
                condition = f"{choice.selector} == {condition}"
            if condition is not None and condition.strip() == _ONE_RANK:  # it tells the others
                condition = ".true."
            branches.append([None if condition is None else self.text(condition), self.steps(branch.body)])
        if any(body for _, body in branches):
            while branches and not branches[-1][1]:
                branches.pop()
            yield {"if": branches}

    def single(self, statement: Statement) -> Iterator[Any]:
        text = statement.text.strip()
        word = re.match(r"[a-z_]\w*", text)
        head = word[0] if word else ""
        if head in ("cycle", "exit", "return"):
            yield head
        elif head == "call":
            yield from self.call(statement)
        elif text.replace(" ", "").startswith(f"{_COUNTER}={_COUNTER}+1"):
            yield {"refuse": statement.line}
        elif head == "inquire":
            name = re.search(r"exist\s*=\s*(\w+)", text)
            yield {"set": f"_{name[1] if name else ''}", "to": "exists_somewhere", "line": statement.line}
        elif head in (*_ONLY_REPORTS, _COUNTER) or head.startswith(("modified_", "orig_")):
            return
        elif "=" in text:
            left, right = _sides(text)
            yield {"set": self.text(left), "to": self.text(right), "line": statement.line}
        elif text:
            raise UnreadableStepError(f"line {statement.line}: {text} is not understood")

    def call(self, statement: Statement) -> Iterator[Any]:
        name = re.match(r"call\s+(\w+)", statement.text)
        called = name[1] if name else ""
        if called == "wrf_error_fatal" and not re.search(r"\(\s*wrf_err_message\s*\)$", statement.text.strip()):
            yield {"refuse": statement.line}  # the other one only tells how many checks have failed
        elif called == "change_to_lower_case":
            yield {"set": "_physics_suite_lowercase", "to": "lower(physics_suite)", "line": statement.line}
        elif called == "get_moad_factor":
            yield {"set": "_factor", "to": "product_of_ratios(_id)", "line": statement.line}
        elif called == "wrf_tsin_exist":
            yield {"set": "_exists", "to": "exists_somewhere", "line": statement.line}
        elif called == "random_seed":
            yield {"set": "_seed_dim", "to": "of_compiler", "line": statement.line}

    def text(self, fortran: str) -> str:
        """An expression as `steps.py` reads it."""
        try:
            return self._of(parse(fortran.strip()), 0)
        except ValueError as error:
            raise UnreadableStepError(f"{fortran} is not understood: {error}") from None

    def _of(self, node: Node, power: int) -> str:
        if isinstance(node, Literal):
            return repr(node.value)
        if isinstance(node, Unary):
            sign = {".not.": "not "}.get(node.operator, node.operator)
            is_number = isinstance(node.operand, Literal) and sign == "-"
            text = f"{sign}{self._of(node.operand, 9)}"
            return f"({text})" if power and not is_number else text
        if isinstance(node, Binary):
            sign = _SIGNS.get(node.operator, node.operator)
            own = {"or": 1, "and": 2}.get(sign, 4 if sign in ("==", "!=", "<", "<=", ">", ">=") else 6)
            text = f"{self._of(node.left, own)} {sign} {self._of(node.right, own + 1)}"
            return f"({text})" if own < power or (own == power and own > 2) else text
        if isinstance(node, Call):
            return self._call(node)
        raise ValueError(f"{type(node).__name__}")

    def _call(self, node: Call) -> str:
        parts = node.parts
        is_of_record = parts[0][0] == _RECORD
        name, arguments = parts[1] if is_of_record else parts[0]
        if is_of_record:
            derived = "" if name in self.variables else "_"  # WRF has settings of its own that no namelist gives
            return derived + name + self._subscript(arguments)
        if name in self.numbers:
            return repr(self.numbers[name])
        if name.startswith("bep_") and arguments is not None:
            return "of_compiler"
        if name in _FUNCTIONS and arguments is not None:
            return f"{name}({', '.join(self._of(item, 0) for item in arguments if not isinstance(item, Section))})"
        return f"_{name}{self._subscript(arguments)}"

    def _subscript(self, arguments: tuple[Node, ...] | None) -> str:
        if arguments is None:
            return ""
        (only,) = arguments
        if isinstance(only, Section):
            first = "" if only.first is None else self._of(only.first, 0)
            return f"[{first}:{'' if only.last is None else self._of(only.last, 0)}]"
        return f"[{self._of(only, 0)}]"


def _mark(steps: Iterable[Any], lines: Container[int]) -> None:
    """Mark the refusals that do not stand on some of the lines."""
    for step in steps:
        if isinstance(step, str):
            continue
        if "refuse" in step and step["refuse"] not in lines:
            step["build"] = True
        _mark(step.get("steps", ()), lines)
        for _, others in step.get("if", ()):
            _mark(others, lines)


def _body(found: Iterable[Statement], routine: str) -> list[Statement]:
    """The statements between the head of a routine and its end, without those of its interfaces."""
    inside: list[Statement] = []
    is_inside = is_interface = False
    for statement in found:
        if re.fullmatch(rf"subroutine\s+{routine}(\s*\(\s*\))?", statement.text.strip()):
            is_inside = True
        elif is_inside and re.match(rf"end\s*subroutine\s+{routine}\b", statement.text.strip()):
            return inside
        elif is_inside:
            text = statement.text.strip()
            if text == "interface":
                is_interface = True
            if not is_interface and not re.match(r"(integer|logical|character|real)\b.*::|use\b|implicit\b", text):
                inside.append(statement)
            if text == "end interface":
                is_interface = False
    raise InputError(f"the source has no subroutine {routine}")


def _sides(text: str) -> tuple[str, str]:
    """The sides of an assignment."""
    at = 0
    while at < len(text):
        if text[at] == "(":
            at = closing(text, at)
        elif text[at] == "=":
            return text[:at], text[at + 1 :]
        at += 1
    raise UnreadableStepError(f"{text} is no assignment")
