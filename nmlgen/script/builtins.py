"""The commands that are part of the shell, and what is known of programs that a script starts."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from nmlgen.script.conditions import COMPARISONS, FAILURE, FALSE, SUCCESS, Truth, conjunction, negation, status_of
from nmlgen.script.events import Altered, Copied, Field, Opened, Piece, Ran, Removed, Written
from nmlgen.script.programs import run_program
from nmlgen.script.state import Variable, havoc
from nmlgen.script.syntax import Assignment, Simple
from nmlgen.script.values import (
    ALWAYS,
    EMPTY,
    Place,
    Possibility,
    Value,
    contradicts,
    joined,
    known,
    merged,
    text_of,
    unknown,
    unset,
    within,
)
from nmlgen.source import UNKNOWN

if TYPE_CHECKING:
    from nmlgen.script.evaluate import Interpreter

Builtin: TypeAlias = "Callable[[Interpreter, list[Field], Simple, Place], None]"

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(?:\[([^\]]*)\])?(\+?)=(.*)\Z", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_]\w*\Z")
_MOST_CHOICES = 64


def _texts(shell: Interpreter, fields: list[Field]) -> list[str | None]:
    return [text_of(within(field.value, shell.guard)) for field in fields]


def _done(shell: Interpreter, status: Value = SUCCESS) -> None:
    if shell.current is not None:
        shell.current.status = status


# --- Output ---


def _echo(shell: Interpreter, fields: list[Field], command: Simple, place: Place) -> None:
    """echo and print: the words with blanks between them."""
    name = text_of(fields[0].value)
    arguments = fields[1:]
    newline = True
    plain = True
    while arguments:
        option = text_of(within(arguments[0].value, shell.guard))
        if option is None or not re.fullmatch(r"-[neEr]+|-|--", option):
            break
        if option in ("-", "--"):
            if name == "print":
                arguments = arguments[1:]
            break
        newline = newline and "n" not in option
        plain = plain and "e" not in option
        arguments = arguments[1:]
    backslash = any("\\" in case.text for field in arguments for case in field.value)
    if backslash or not plain:
        _program(shell, name, fields, place)
        return
    pieces: list[Piece] = []
    for number, item in enumerate(arguments):
        if number:
            pieces.append(Piece(Place(shell.text, item.place.start, item.place.start), known(" "), False))
        pieces += item.pieces or (Piece(item.place, item.value, True),)
        if item.is_vague:
            pieces.append(Piece(item.place, unknown(shell.fresh()), True))
    if newline:
        pieces.append(Piece(Place(shell.text, place.end, place.end), known("\n"), False))
    shell.write(tuple(pieces), place)
    _done(shell)


def _printf(shell: Interpreter, fields: list[Field], command: Simple, place: Place) -> None:
    texts = _texts(shell, fields)
    if len(fields) > 2 and texts[1] == "-v":
        name = texts[2]
        rest = [fields[0], *fields[3:]]
        value, status = _output(shell, "printf", rest, None)
        if name is not None and _NAME.match(name):
            shell.assign(name, None, value, place)
        _done(shell, status)
        return
    if len(fields) == 3 and texts[1] in ("%s\\n", "%s"):
        pieces = list(fields[2].pieces or (Piece(fields[2].place, fields[2].value, True),))
        if texts[1] == "%s\\n":
            pieces.append(Piece(Place(shell.text, place.end, place.end), known("\n"), False))
        shell.write(tuple(pieces), place)
        _done(shell)
        return
    _program(shell, "printf", fields, place)


# --- Variables ---


def _export(shell: Interpreter, fields: list[Field], command: Simple, place: Place) -> None:
    """export, readonly, typeset, declare, local, integer."""
    name = text_of(fields[0].value)
    attributes: set[str] = {"x"} if name == "export" else set()
    if name == "integer":
        attributes.add("i")
    dropped: set[str] = set()
    is_local = name == "local" or (name in ("typeset", "declare") and bool(shell.state.scopes))
    for word in command.words[1:]:
        if isinstance(word, Assignment):
            _declare(shell, word.name, attributes, dropped, is_local)
            shell.assign_written(word)
            continue
        for item in shell.words.fields((word,)):
            text = text_of(within(item.value, shell.guard))
            if text is None:
                head = _assigned_partly(item.value)
                if head is not None:
                    _declare(shell, head, attributes, dropped, is_local)
                    shell.forget(head)
                continue
            if text[:1] in "-+" and len(text) > 1:
                if text[0] == "-" and "g" in text:
                    is_local = False
                (attributes if text[0] == "-" else dropped).update(_letters(text[1:]))
            elif match := _ASSIGNMENT.match(text):
                _declare(shell, match[1], attributes, dropped, is_local)
                shell.assign(match[1], None, known(match[4]), item.place, appends=bool(match[3]))
            elif _NAME.match(text):
                _declare(shell, text, attributes, dropped, is_local)
    if "f" in attributes:
        pass
    _done(shell)


def _assigned_partly(value: Value) -> str | None:
    match = re.match(r"([A-Za-z_]\w*)\+?=", value[0].text)
    return match[1] if match else None


def _letters(text: str) -> set[str]:
    return {match[0] for match in re.finditer(r"[A-Za-z][0-9]*", text)}


def _declare(shell: Interpreter, name: str, attributes: set[str], dropped: set[str], is_local: bool) -> None:
    state = shell.state
    old = state.variables.get(name)
    if is_local and state.scopes:
        state.scopes[-1].setdefault(name, old)
        if name not in state.scopes[-1] or old is state.scopes[-1][name]:
            old = None
    given = old if old is not None else (Variable(unset(name)) if is_local else shell.variable(name))
    letters = frozenset((given.attributes | attributes) - dropped)
    elements = given.elements
    if attributes & {"a", "A"} and elements is None:
        elements = {}
    if letters != given.attributes or elements is not given.elements or is_local:
        state.variables[name] = Variable(given.value, elements, letters, given.is_open)


def _unset(shell: Interpreter, fields: list[Field], command: Simple, place: Place) -> None:
    for text in _texts(shell, fields[1:]):
        if text is None:
            shell.forget_everything()
        elif text == "-f":
            continue
        elif _NAME.match(text):
            shell.state.variables[text] = Variable(unset(text))
            shell.state.functions.pop(text, None)
        elif match := re.match(r"([A-Za-z_]\w*)\[", text):
            shell.forget(match[1])
    _done(shell)


def _read(shell: Interpreter, fields: list[Field], command: Simple, place: Place) -> None:
    """Only a whole text that is known is read: a line of it a time is left to loops of which nobody knows the end."""
    names: list[str] = []
    options: list[str] = []
    skip = False
    for text in _texts(shell, fields[1:]):
        if skip:
            skip = False
        elif text is not None and text.startswith("-") and not names:
            options.append(text)
            skip = text in ("-p", "-d", "-n", "-t", "-u", "-N", "-i")
        elif text is not None and _NAME.match(text):
            names.append(text)
    line = _next_line(shell)
    separators = shell.separators()
    if line is None or separators is None or any(option not in ("-r",) for option in options):
        for name in names or ["REPLY"]:
            shell.forget(name)
        _done(shell, unknown(shell.fresh()))
        return
    text, found = line
    if "\\" in text and "-r" not in options:
        for name in names or ["REPLY"]:
            shell.forget(name)
        _done(shell)
        return
    rest = text.strip("".join(mark for mark in separators if mark in " \t\n")) if names else text
    names = names or ["REPLY"]
    for number, name in enumerate(names):
        if number == len(names) - 1:
            word, rest = rest, ""
        else:
            parts = (
                re.split(
                    f"[{re.escape(separators)}]+" if separators.isspace() else f"[{re.escape(separators)}]",
                    rest,
                    maxsplit=1,
                )
                if separators
                else [rest]
            )
            word, rest = parts[0], parts[1] if len(parts) > 1 else ""
        shell.assign(name, None, known(word), place)
    _done(shell, SUCCESS if found else FAILURE)


def _next_line(shell: Interpreter) -> tuple[str, bool] | None:
    """The next line of the standard input, and whether it ends as a line; None if it cannot be known."""
    if shell.input is None:
        return None
    whole = joined([piece.value for piece in shell.input], 0) if shell.input else EMPTY
    text = text_of(within(whole, shell.guard))
    if text is None or len(whole) > 1:
        return None
    line, end, rest = text.partition("\n")
    place = shell.input[0].place if shell.input else None
    shell.input = (Piece(place, known(rest), True),) if rest and place is not None else ()
    return line, bool(end)


def _set(shell: Interpreter, fields: list[Field], command: Simple, place: Place) -> None:
    texts = _texts(shell, fields[1:])
    if texts[:1] in (["-A"], ["+A"]) and len(texts) > 1:
        name = texts[1]
        if name is not None and _NAME.match(name):
            rest = fields[3:]
            if any(item.is_vague for item in rest):
                shell.state.variables[name] = havoc(name, Variable(EMPTY, {}), shell.fresh())
            else:
                elements = {str(number): item.value for number, item in enumerate(rest)}
                shell.state.variables[name] = Variable(EMPTY, elements)
        _done(shell)
        return
    position = 0
    while position < len(texts):
        text = texts[position]
        if text is None or text == "--" or text[:1] not in ("-", "+") or text in ("-", "+"):
            break
        if text in ("-o", "+o"):
            position += 1
        position += 1
    rest = fields[1:][position:]
    if rest and texts[position] == "--":
        shell.state.positional = None if any(item.is_vague for item in rest[1:]) else tuple(f.value for f in rest[1:])
    elif rest:
        shell.state.positional = None if any(item.is_vague for item in rest) else tuple(f.value for f in rest)
    _done(shell)


def _shift(shell: Interpreter, fields: list[Field], command: Simple, place: Place) -> None:
    count = text_of(within(fields[1].value, shell.guard)) if len(fields) > 1 else "1"
    positional = shell.state.positional
    if positional is None or count is None or not count.isdigit():
        shell.state.positional = None
        _done(shell, unknown(shell.fresh()))
    elif int(count) > len(positional):
        _done(shell, FAILURE)
    else:
        shell.state.positional = positional[int(count) :]
        _done(shell)


def _let(shell: Interpreter, fields: list[Field], command: Simple, place: Place) -> None:
    value: Value = EMPTY
    for word in command.words[1:]:
        if isinstance(word, Assignment):
            text = known(shell.text.text[word.start : word.end])
        else:
            text = shell.words.text(word)
        value = shell.words.calculated(text, place)
    cases = [case._replace(text="1" if case.text == "0" else "0") if not case.symbols else case for case in value]
    _done(shell, merged(cases, shell.fresh()))


def _getopts(shell: Interpreter, fields: list[Field], command: Simple, place: Place) -> None:
    names = [text for text in _texts(shell, fields[2:3]) if text is not None]
    positional = shell.state.positional
    if positional == ():
        for name in names:
            shell.assign(name, None, known("?"), place)
        _done(shell, FAILURE)
        return
    shell.forget_all([*names, "OPTARG", "OPTIND"])
    _done(shell, unknown(shell.fresh()))


# --- Control ---


def _leave(kind: str) -> Builtin:
    def leave(shell: Interpreter, fields: list[Field], command: Simple, place: Place) -> None:
        text = text_of(within(fields[1].value, shell.guard)) if len(fields) > 1 else None
        if kind == "return":
            if len(fields) > 1:
                shell.state.status = within(fields[1].value, shell.guard)
            shell.leave("return")
        else:
            shell.leave(kind, int(text) if text is not None and text.isdigit() and text != "0" else 1)

    return leave


def _exit(shell: Interpreter, fields: list[Field], command: Simple, place: Place) -> None:
    shell.leave("exit")


def _eval(shell: Interpreter, fields: list[Field], command: Simple, place: Place) -> None:
    texts = _texts(shell, fields[1:])
    if any(text is None for text in texts):
        shell.forget_everything()
        _done(shell, unknown(shell.fresh()))
        return
    shell.run_text(" ".join(text or "" for text in texts), place)


def _source(shell: Interpreter, fields: list[Field], command: Simple, place: Place) -> None:
    if len(fields) > 1:
        shell.source(fields[1], fields[2:])
    else:
        _done(shell, FAILURE)


def _nothing(shell: Interpreter, fields: list[Field], command: Simple, place: Place) -> None:
    _done(shell)


def _ulimit(shell: Interpreter, fields: list[Field], command: Simple, place: Place) -> None:
    shell.events.append(Ran(tuple(fields), shell.guard, place, {}, shell.state.directory))
    _done(shell, unknown(shell.fresh()) if len(fields) > 1 else SUCCESS)


def _shopt(shell: Interpreter, fields: list[Field], command: Simple, place: Place) -> None:
    texts = _texts(shell, fields[1:])
    if "-s" in texts:
        shell.state.options |= {text for text in texts if text is not None}
    elif "-u" in texts:
        shell.state.options -= {text for text in texts if text is not None}
    _done(shell)


def _fails(shell: Interpreter, fields: list[Field], command: Simple, place: Place) -> None:
    _done(shell, FAILURE)


def _perhaps(shell: Interpreter, fields: list[Field], command: Simple, place: Place) -> None:
    if shell.sink is not None:
        shell.write_value(unknown(shell.fresh()), place)
    _done(shell, unknown(shell.fresh()))


def _change_directory(shell: Interpreter, fields: list[Field], command: Simple, place: Place) -> None:
    arguments = [item for item in fields[1:] if text_of(item.value) not in ("-P", "-L", "--")]
    state = shell.state
    old = state.directory
    if len(arguments) == 1 and text_of(arguments[0].value) == "-":
        former = state.variables.get("OLDPWD")
        state.directory = former.value if former is not None else unknown(shell.fresh())
    elif len(arguments) == 1:
        state.directory = shell.file(arguments[0].value)
    else:
        state.directory = unknown(("system", "HOME"))
    state.variables["OLDPWD"] = Variable(old)
    state.variables["PWD"] = Variable(unknown(shell.fresh()))
    _done(shell, status_of(shell.questions.ask()))


# --- test ---

_UNARY = frozenset(
    [
        "-a",
        "-b",
        "-c",
        "-d",
        "-e",
        "-f",
        "-g",
        "-h",
        "-k",
        "-n",
        "-p",
        "-r",
        "-s",
        "-t",
        "-u",
        "-v",
        "-w",
        "-x",
        "-z",
        "-G",
        "-L",
        "-N",
        "-O",
        "-S",
    ]
)


def _test(shell: Interpreter, fields: list[Field], command: Simple, place: Place) -> None:
    name = text_of(fields[0].value)
    arguments = fields[1:]
    if name == "[":
        if not arguments or text_of(arguments[-1].value) != "]":
            _done(shell, unknown(shell.fresh()))
            return
        arguments = arguments[:-1]
    if any(item.is_vague for item in arguments) and not _is_plain_question(arguments):
        _done(shell, status_of(shell.questions.ask()))
        return
    values = [within(item.value, shell.guard) for item in arguments]
    asked = shell.questions.every_way(values, lambda cases: _Question(shell, list(cases)).answer())
    _done(shell, status_of(asked))


def _is_plain_question(arguments: list[Field]) -> bool:
    """`[ -z $x ]`, and `[ $x = y ]`: what is vague there may be empty, or is one word as a rule."""
    operators = [text_of(item.value) for item in arguments]
    if len(arguments) == 2 and operators[0] in ("-z", "-n"):
        return operators[0] == "-z"
    return len(arguments) == 3 and operators[1] in ("=", "==", "!=", *COMPARISONS)


class _Question:
    """The arguments of `test`, as POSIX reads them."""

    def __init__(self, shell: Interpreter, words: list[Possibility]) -> None:
        self.shell, self.words = shell, words

    def answer(self) -> Truth:
        if not self.words:
            return FALSE
        found = self._either()
        return self.shell.questions.ask() if self.words else found

    def _next(self) -> str | None:
        if not self.words:
            return None
        return None if self.words[0].symbols else self.words[0].text

    def _either(self) -> Truth:
        found = self._both()
        while len(self.words) > 1 and self._next() == "-o":
            del self.words[0]
            other = self._both()
            found = negation(conjunction(negation(found), lambda other=other: negation(other)))  # type: ignore[misc]
        return found

    def _both(self) -> Truth:
        found = self._single()
        while len(self.words) > 1 and self._next() == "-a":
            del self.words[0]
            other = self._single()
            found = conjunction(found, lambda other=other: other)  # type: ignore[misc]
        return found

    def _single(self) -> Truth:
        words, ask = self.words, self.shell.questions.ask
        if not words:
            return ask()
        first = self._next()
        if len(words) >= 3 and not words[1].symbols and words[1].text in ("=", "==", "!=", "<", ">", *COMPARISONS):
            one, operator, two = words[0], words[1].text, words[2]
            del words[:3]
            if operator in COMPARISONS:
                return self.shell.questions.compare(operator, one, two)
            if operator in ("<", ">"):
                return ask()
            same = self.shell.questions.equal(one, two)
            return negation(same) if operator == "!=" else same
        if first == "!" and len(words) > 1:
            del words[0]
            return negation(self._single())
        if first == "(" and len(words) > 2:
            del words[0]
            found = self._either()
            if self._next() != ")":
                return ask()
            del words[0]
            return found
        if len(words) >= 3 and not words[1].symbols and words[1].text in ("-nt", "-ot", "-ef"):
            del words[:3]
            return ask()
        if first in _UNARY and len(words) > 1:
            operand = words[1]
            del words[:2]
            if first == "-v" and not operand.symbols and _NAME.match(operand.text):
                return self.shell.is_set(operand.text)
            return self.shell.ask_unary(first, (operand,))
        operand = words.pop(0)
        return negation(self.shell.questions.is_empty(operand))


# --- Programs ---


def run_external(shell: Interpreter, name: str | None, fields: list[Field], place: Place) -> None:
    """A command that is no function and no part of the shell."""
    handler = _FILES.get(name or "")
    if handler is not None:
        handler(shell, fields, place)
        return
    if name is not None and run_program_knows(name):
        _program(shell, name, fields, place)
        return
    exported = {key: variable for key, variable in shell.state.variables.items() if "x" in variable.attributes}
    shell.events.append(Ran(tuple(fields), shell.guard, place, exported, shell.state.directory))
    if shell.sink is not None:
        shell.write_value(unknown(shell.fresh()), place)
    _done(shell, unknown(shell.fresh()))


def run_program_knows(name: str) -> bool:
    """Whether something is known of what a program prints."""
    return name in _PURE


_PURE = frozenset(
    [
        "echo",
        "print",
        "printf",
        "expr",
        "cut",
        "sed",
        "tr",
        "basename",
        "dirname",
        "date",
        "bc",
        "awk",
        "gawk",
        "grep",
        "egrep",
        "fgrep",
        "wc",
        "head",
        "tail",
        "sort",
        "uniq",
        "rev",
        "seq",
        "tac",
        "paste",
        "true",
        "false",
    ]
)


def _program(shell: Interpreter, name: str | None, fields: list[Field], place: Place) -> None:
    """A program whose output depends on its words and its input alone."""
    value, status = _output(shell, name or "", fields, shell.input)
    shell.write_value(value, place)
    _done(shell, status)


def _output(shell: Interpreter, name: str, fields: list[Field], given: tuple[Piece, ...] | None) -> tuple[Value, Value]:
    symbol = shell.fresh()
    nothing = unknown(symbol), unknown(shell.fresh())
    if any(item.is_vague and len(item.value) == 1 and item.value[0].symbols for item in fields[1:]):
        return nothing
    values = [within(item.value, shell.guard) for item in fields[1:]]
    if given is not None:
        values.append(within(joined([piece.value for piece in given], shell.fresh()) if given else EMPTY, shell.guard))
    choices: list[tuple[frozenset[int], list[Possibility]]] = [(ALWAYS, [])]
    for value in values:
        choices = [
            (guard | case.guard, [*chosen, case])
            for guard, chosen in choices
            for case in value
            if not contradicts(guard, case.guard)
        ]
        if len(choices) > _MOST_CHOICES:
            return nothing
    outputs: list[Possibility] = []
    codes: list[Possibility] = []
    for guard, chosen in choices:
        text: str | None = UNKNOWN
        code: str | None = None
        missing = frozenset().union(*(case.unset for case in chosen)) if chosen else frozenset()
        if not any(case.symbols for case in chosen):
            texts = [case.text for case in chosen]
            stdin = texts.pop() if given is not None else None
            result = run_program(name, texts, stdin)
            if result is not None:
                text, code = result[0], str(result[1])
        if code is None:
            outputs.append(Possibility(guard, UNKNOWN, (symbol,)))
            codes.append(Possibility(guard, UNKNOWN, (nothing[1][0].symbols[0],)))
        else:
            outputs.append(Possibility(guard, text or "", unset=missing))
            codes.append(Possibility(guard, code))
    return merged(outputs, symbol), merged(codes, shell.fresh())


def _operands(fields: list[Field], takes_value: str = "") -> list[Field] | None:
    """The words of a program that are no options; None where that cannot be told."""
    found: list[Field] = []
    skip = False
    for item in fields[1:]:
        text = text_of(item.value)
        if skip:
            skip = False
        elif text is not None and text.startswith("-") and len(text) > 1 and not found:
            skip = text in takes_value.split()
        else:
            found.append(item)
    return found


def _cat(shell: Interpreter, fields: list[Field], place: Place) -> None:
    names = _operands(fields) or []
    if not names:
        _pass_on(shell, place)
    for name in names:
        if text_of(name.value) == "-":
            _pass_on(shell, place)
        else:
            shell.copy_file(shell.file(name.value), place)
    _done(shell, unknown(shell.fresh()) if names else SUCCESS)


def _pass_on(shell: Interpreter, place: Place) -> None:
    if shell.input is None:
        if shell.sink is not None:
            shell.write_value(unknown(shell.fresh()), place)
    else:
        shell.write(shell.input, place)


def _tee(shell: Interpreter, fields: list[Field], place: Place) -> None:
    appends = any(text_of(item.value) in ("-a", "--append", "-ai", "-ia") for item in fields[1:])
    pieces = shell.input if shell.input is not None else (Piece(place, unknown(shell.fresh()), True),)
    for name in _operands(fields) or []:
        path = shell.file(name.value)
        if not appends:
            shell.events.append(Opened(path, shell.guard, place))
        shell.events.append(Written(path, shell.guard, place, pieces))
    shell.write(pieces, place)
    _done(shell)


def _copy(shell: Interpreter, fields: list[Field], place: Place) -> None:
    """cp, mv and ln: the text goes along."""
    moves = text_of(fields[0].value) == "mv"
    names = _operands(fields) or []
    _ran(shell, fields, place)
    if len(names) == 2:
        source, target = shell.file(names[0].value), shell.file(names[1].value)
        shell.events.append(Copied(source, target, shell.guard, place, moves=moves))
    elif len(names) > 2:
        target = shell.file(names[-1].value)
        for name in names[:-1]:
            shell.events.append(
                Copied(
                    shell.file(name.value),
                    (target[0]._replace(text=target[0].text.rstrip("/") + "/"),),
                    shell.guard,
                    place,
                    moves=moves,
                )
            )
    _done(shell, unknown(shell.fresh()))


def _remove(shell: Interpreter, fields: list[Field], place: Place) -> None:
    for name in _operands(fields) or []:
        if not name.is_vague:
            shell.events.append(Removed(shell.file(name.value), shell.guard, place))
    _done(shell, unknown(shell.fresh()))


def _edit(shell: Interpreter, fields: list[Field], place: Place) -> None:
    """sed: in place, or as a filter."""
    texts = _texts(shell, fields)
    in_place = any(text is not None and re.match(r"-[nEr]*i|--in-place", text) for text in texts[1:])
    if not in_place:
        names = [item for item in fields[1:] if not (text_of(item.value) or "-").startswith("-")]
        expressions = sum(1 for text in texts[1:] if text in ("-e", "-f", "--expression"))
        if len(names) > 1 or (expressions and len(names) > expressions):  # it reads a file
            shell.write_value(unknown(shell.fresh()), place)
            _done(shell, unknown(shell.fresh()))
        else:
            _program(shell, "sed", fields, place)
        return
    programs: list[str | None] = []
    files: list[Field] = []
    expects = False
    given = any(text in ("-e", "--expression") for text in texts)
    for item, text in zip(fields[1:], texts[1:], strict=True):
        if expects:
            programs.append(text)
            expects = False
        elif text in ("-e", "--expression"):
            expects = True
        elif text is not None and text.startswith("-"):
            continue
        elif not programs and not given:
            programs.append(text)
        else:
            files.append(item)
    program = None if None in programs else "\n".join(text or "" for text in programs)
    for name in files:
        shell.events.append(Altered(shell.file(name.value), shell.guard, place, program))
    _done(shell, unknown(shell.fresh()))


def _ran(shell: Interpreter, fields: list[Field], place: Place) -> None:
    shell.events.append(Ran(tuple(fields), shell.guard, place, {}, shell.state.directory))


def _filter(shell: Interpreter, fields: list[Field], place: Place) -> None:
    """Programs that read a file if they are given one."""
    _program(shell, text_of(fields[0].value), fields, place)


_FILES: dict[str, Callable[[Interpreter, list[Field], Place], None]] = {
    "cat": _cat,
    "tee": _tee,
    "cp": _copy,
    "mv": _copy,
    "ln": _copy,
    "rm": _remove,
    "sed": _edit,
}

BUILTINS: dict[str, Builtin] = {
    "echo": _echo,
    "print": _echo,
    "printf": _printf,
    "export": _export,
    "readonly": _export,
    "typeset": _export,
    "declare": _export,
    "local": _export,
    "integer": _export,
    "unset": _unset,
    "read": _read,
    "set": _set,
    "shift": _shift,
    "let": _let,
    "getopts": _getopts,
    "return": _leave("return"),
    "break": _leave("break"),
    "continue": _leave("continue"),
    "exit": _exit,
    "eval": _eval,
    ".": _source,
    "source": _source,
    "cd": _change_directory,
    ":": _nothing,
    "true": _nothing,
    "false": _fails,
    "trap": _nothing,
    "shopt": _shopt,
    "ulimit": _ulimit,
    "umask": _nothing,
    "alias": _nothing,
    "wait": _perhaps,
    "type": _perhaps,
    "whence": _perhaps,
    "hash": _perhaps,
    "test": _test,
    "[": _test,
}
