"""What is known of the programs that a script starts: what they print, and which files they change."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from nmlgen.script.conditions import SUCCESS
from nmlgen.script.events import Altered, Copied, Field, Opened, Piece, Ran, Removed, Written
from nmlgen.script.listing import WILDCARD, Listing, last_part, listing_of, read_find
from nmlgen.script.programs import run_program
from nmlgen.script.values import (
    ALWAYS,
    EMPTY,
    Guard,
    Place,
    Possibility,
    Value,
    contradicts,
    merged,
    text_of,
    unknown,
    within,
)
from nmlgen.source import UNKNOWN

if TYPE_CHECKING:
    from nmlgen.script.evaluate import Interpreter

_MOST_CHOICES = 64
_OF_PROGRAM = 30
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)(?:\[[^\]]*\])?\+?=")
_WORDS_ALONE = frozenset(("echo", "print", "printf", "expr", "basename", "dirname", "date", "seq", "true", "false"))
_FILTERS = frozenset(
    (
        *("cut", "tr", "bc", "awk", "gawk", "grep", "egrep", "fgrep", "wc", "head", "tail", "sort", "uniq"),
        *("rev", "tac", "paste"),
    )
)
_PURE = _WORDS_ALONE | _FILTERS
_IN_PLACE = re.compile(r"-[nErsz]*i|--in-place")
_FOLLOWING = ("-f", "-e", "-m")
_UNHEARD = frozenset(("rm", "mkdir", "ln", "cp", "mv", "touch", "chmod"))


def run_external(shell: Interpreter, name: str | None, fields: list[Field], place: Place) -> None:
    """A command that is no function and no part of the shell."""
    handler = _FILES.get(name or "")
    if handler is not None:
        handler(shell, fields, place)
        return
    part = _of_listing(shell, name, fields)
    if part is not None:
        shell.streams.write_value(part, place)
        shell.set_status(SUCCESS)
        return
    if name is not None and name in _PURE:
        run_pure(shell, name, fields, place)
        return
    if name is None:
        _run_unknown(shell, fields, place)
    _ran(shell, fields, place)
    listing = _listing(shell, fields) if name == "find" else None
    if listing is not None:
        shell.streams.write_value(unknown(listing), place)
    elif name not in _UNHEARD:
        shell.streams.write_unknown(place)
    if name not in _UNHEARD:
        shell.state.input = None
    shell.streams.complain(place)
    shell.set_status(unknown(shell.fresh()))


def _listing(shell: Interpreter, fields: list[Field]) -> Listing | None:
    """What find prints the names of."""
    words = [_pattern(within(item.value, shell.guard)) for item in fields]
    found = read_find(words)
    if found is None or found.action or found.directory >= len(fields) or fields[found.directory].is_vague:
        return None
    directory = within(fields[found.directory].value, shell.guard)
    return Listing(directory, found.pattern, found.is_deep, shell.fresh())


def _of_listing(shell: Interpreter, name: str | None, fields: list[Field]) -> Value | None:
    """What is printed of the path of a file that a pattern found: its last part, or where it leads."""
    words = [within(item.value, shell.guard) for item in fields[1:]]
    if name == "basename" and len(words) == 1:
        return last_part(words[0])
    if name in ("readlink", "realpath") and words and all(text_of(word) in _FOLLOWING for word in words[:-1]):
        return words[-1] if listing_of(words[-1]) is not None else None
    return None


def _pattern(value: Value) -> str | None:
    """A word of find; a pattern without quotes is itself where no file beside the script fits it."""
    known = {case.text for case in value if not case.symbols}
    is_pattern = len(value) > 1 and all(WILDCARD.search(text) for text in known)
    return known.pop() if len(known) == 1 and (is_pattern or len(value) == 1) else None


def _ran(shell: Interpreter, fields: list[Field], place: Place) -> None:
    exported = {key: variable for key, variable in shell.state.variables.items() if "x" in variable.attributes}
    shell.effort.spent += len(exported)
    shell.events.append(Ran(tuple(fields), shell.guard, place, exported, shell.state.directory))


def _run_unknown(shell: Interpreter, fields: list[Field], place: Place) -> None:
    """A word that only a run knows names the command: it may be a function of the script, or `export`."""
    assigned = [_ASSIGNED.match(case.text) for item in fields[1:] for case in item.value]
    shell.assignments.forget_all({match[1] for match in assigned if match})
    changes = shell.calls.effects_of_all()
    if changes is not None and changes.everything:
        shell.assignments.forget_everything()
    elif changes is not None:
        shell.assignments.forget_all(changes.names)
    shell.doubt(place)


# --- Programs whose output depends on their words and their input alone ---


def run_pure(shell: Interpreter, name: str, fields: list[Field], place: Place) -> None:
    """Such a program."""
    value, status = output_of(shell, name, fields)
    shell.streams.write_value(value, place)
    if text_of(status) != "0":
        shell.streams.complain(place)
    if name not in _WORDS_ALONE:
        shell.state.input = None
    shell.set_status(status)


def output_of(shell: Interpreter, name: str, fields: list[Field]) -> tuple[Value, Value]:
    """What such a program prints, and its exit status."""
    symbol = shell.fresh()
    status = shell.fresh()
    nothing = unknown(symbol), unknown(status)
    if any(item.is_vague for item in fields[1:]):
        return nothing
    values = [within(item.value, shell.guard) for item in fields[1:]]
    given = shell.state.input if name not in _WORDS_ALONE else None
    if given is not None:
        values.append(within(shell.joined([piece.value for piece in given]) if given else EMPTY, shell.guard))
    choices: list[tuple[Guard, _Chosen | None]] = [(ALWAYS, None)]
    for value in values:
        choices = [
            (guard | case.guard, (last, case))
            for guard, last in choices
            for case in value
            if not contradicts(guard, case.guard)
        ]
        if len(choices) > _MOST_CHOICES:
            return nothing
    outputs: list[Possibility] = []
    codes: list[Possibility] = []
    for guard, last in choices:
        chosen, result = _in_order(last), None
        if not any(case.symbols for case in chosen):
            texts = [case.text for case in chosen]
            stdin = texts.pop() if given is not None else None
            shell.effort.spent += _OF_PROGRAM + sum(map(len, texts)) // 3 + len(stdin or "") // 10
            result = run_program(name, texts, stdin, is_ksh=shell.is_ksh, effort=shell.effort)
        if result is None:
            outputs.append(Possibility(guard, UNKNOWN, (symbol,)))
            codes.append(Possibility(guard, UNKNOWN, (status,)))
        else:
            missing = frozenset().union(*(case.unset for case in chosen)) if chosen else frozenset()
            shell.effort.on_text(result[0])
            outputs.append(Possibility(guard, result[0], unset=missing))
            codes.append(Possibility(guard, str(result[1])))
    return merged(outputs, symbol), merged(codes, status)


_Chosen = tuple[Any, Possibility]
"""The case of a value behind those of the values before it, which several choices share."""


def _in_order(last: _Chosen | None) -> list[Possibility]:
    cases = []
    while last is not None:
        last, case = last
        cases.append(case)
    return cases[::-1]


# --- Programs that read and write files ---


def _operands(fields: list[Field]) -> list[Field]:
    """The words of a program that are no options."""
    found: list[Field] = []
    ended = False
    for item in fields[1:]:
        text = text_of(item.value)
        if ended or text is None or not text.startswith("-") or text == "-":
            found.append(item)
        elif text == "--":
            ended = True
    return found


def _cat(shell: Interpreter, fields: list[Field], place: Place) -> None:
    names = _operands(fields)
    if len(names) < len(fields) - 1:  # `cat -n` and the like
        shell.streams.write_unknown(place)
        shell.streams.complain(place)
        shell.state.input = None
        shell.set_status(unknown(shell.fresh()))
        return
    for name in names:
        if text_of(name.value) == "-":
            _pass_on(shell, place)
        elif name.is_vague:
            shell.streams.write_unknown(place)
        else:
            shell.streams.copy_file(shell.streams.file(name.value), place)
    if not names:
        _pass_on(shell, place)
        shell.set_status(SUCCESS)
        return
    shell.streams.complain(place)
    shell.set_status(unknown(shell.fresh()))


def _pass_on(shell: Interpreter, place: Place) -> None:
    given = shell.state.input
    if given is None:
        shell.streams.write_unknown(place)
    else:
        shell.streams.write(given, place)
        shell.state.input = ()


def _tee(shell: Interpreter, fields: list[Field], place: Place) -> None:
    appends = any(text_of(item.value) in ("-a", "--append", "-ai", "-ia") for item in fields[1:])
    given = shell.state.input
    pieces = given if given is not None else (Piece(place, unknown(shell.fresh()), True),)
    for name in _operands(fields):
        path = shell.streams.file(name.value)
        if not appends:
            shell.events.append(Opened(path, shell.guard, place))
        shell.events.append(Written(path, shell.guard, place, pieces))
        if name.is_vague:
            shell.doubt(place)
    shell.streams.write(pieces, place)
    shell.state.input = ()
    shell.set_status(SUCCESS)


def _copy(shell: Interpreter, fields: list[Field], place: Place) -> None:
    """cp, mv and ln: the text goes along."""
    moves = text_of(fields[0].value) == "mv"
    names = _operands(fields)
    _ran(shell, fields, place)
    if any(name.is_vague for name in names):
        shell.doubt(place)
    targets = [shell.streams.file(name.value) for name in names]
    is_into = len(targets) > 2 or (len(names) == 2 and all(case.text.endswith("/") for case in names[1].value))
    if len(targets) == 2 and not is_into:
        shell.events.append(Copied(targets[0], targets[1], shell.guard, place, moves=moves))
    elif is_into:
        # the directory at hand has no name
        into = tuple([case._replace(text=case.text and case.text.rstrip("/") + "/") for case in targets[-1]])
        for source in targets[:-1]:
            shell.events.append(Copied(source, into, shell.guard, place, moves=moves))
    shell.streams.complain(place)
    shell.set_status(unknown(shell.fresh()))


def _remove(shell: Interpreter, fields: list[Field], place: Place) -> None:
    _ran(shell, fields, place)
    for name in _operands(fields):
        value = within(name.value, shell.guard)
        pattern = value[-1] if name.is_vague and not value[-1].symbols else None
        if pattern is not None and len(value) == 2:
            path = shell.streams.file((pattern._replace(guard=ALWAYS),))
            shell.events.append(Removed(path, shell.guard, place, is_pattern=True))
        elif name.is_vague or any(case.symbols for case in value):
            shell.doubt(place)
        else:
            shell.events.append(Removed(shell.streams.file(name.value), shell.guard, place))
    shell.streams.complain(place)
    shell.set_status(unknown(shell.fresh()))


def _touch(shell: Interpreter, fields: list[Field], place: Place) -> None:
    for name in _operands(fields):
        if name.is_vague:
            shell.doubt(place)
        shell.events.append(Written(shell.streams.file(name.value), shell.guard, place, ()))
    shell.streams.complain(place)
    shell.set_status(unknown(shell.fresh()))


def _edit(shell: Interpreter, fields: list[Field], place: Place) -> None:
    """sed: in place, or as a filter."""
    texts = [text_of(within(field.value, shell.guard)) for field in fields]
    if not any(text is not None and _IN_PLACE.match(text) for text in texts[1:]):
        run_pure(shell, "sed", fields, place)
        return
    programs: list[str | None] = []
    files: list[Field] = []
    expects = False
    given = any(text in ("-e", "--expression") for text in texts)
    is_plain = True
    for item, text in zip(fields[1:], texts[1:], strict=True):
        if expects:
            programs.append(text)
            expects = False
        elif text in ("-e", "--expression"):
            expects = True
        elif text is not None and text.startswith("-"):
            is_plain = is_plain and text in ("-i", "-E", "-r")
        elif not programs and not given:
            programs.append(text)
        else:
            files.append(item)
    program = "\n".join(text or "" for text in programs) if None not in programs and is_plain else None
    for name in files:
        if name.is_vague:
            shell.doubt(place)
        shell.events.append(Altered(shell.streams.file(name.value), shell.guard, place, program))
    shell.streams.complain(place)
    shell.set_status(unknown(shell.fresh()))


_FILES: Mapping[str, Callable[[Interpreter, list[Field], Place], None]] = {
    "cat": _cat,
    "tee": _tee,
    "cp": _copy,
    "mv": _copy,
    "ln": _copy,
    "rm": _remove,
    "touch": _touch,
    "sed": _edit,
}
