"""The commands that are part of the shell."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from nmlgen.disk import LONGEST_PATH
from nmlgen.script.assigned import ANY_END
from nmlgen.script.conditions import COMPARISONS, FAILURE, NONZERO, SUCCESS, status_of
from nmlgen.script.events import Field, Piece, Ran
from nmlgen.script.expand import split
from nmlgen.script.external import output_of, run_pure
from nmlgen.script.state import Variable, havoc
from nmlgen.script.syntax import Assignment, CommandSubstitution, Literal, Parameter, Pipeline, Simple, Word
from nmlgen.script.values import (
    ALWAYS,
    EMPTY,
    Guard,
    Place,
    Possibility,
    Value,
    known,
    text_of,
    unknown,
    unset,
    within,
)
from nmlgen.source import UNKNOWN
from nmlgen.units.whole import decimal

if TYPE_CHECKING:
    from nmlgen.script.evaluate import Interpreter

Builtin: TypeAlias = "Callable[[Interpreter, list[Field], Simple, Place], None]"

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(?:\[([^\]]*)\])?(\+?)=(.*)\Z", re.DOTALL)
_DECLARED = re.compile(rf"([A-Za-z_]\w*)(\+?=|{UNKNOWN})")
_NAME = re.compile(r"[A-Za-z_]\w*\Z")
_ELEMENT = re.compile(r"([A-Za-z_]\w*)\[([^\]]*)\]\Z")
_ECHO_OPTION = re.compile(r"-[neEr]+\Z|--?\Z")
_MOST_PLACES = 24
_KEPT = 1_000  # characters of the input behind a line that is read
_INTEGER = re.compile(r"\s*[+-]?[0-9]+\s*\Z")


def _texts(shell: Interpreter, fields: list[Field]) -> list[str | None]:
    return [text_of(within(field.value, shell.guard)) for field in fields]


def _unknown_status(shell: Interpreter) -> None:
    shell.set_status(unknown(shell.fresh()))


# --- Output ---


def _echo(shell: Interpreter, fields: list[Field], command: Simple, place: Place) -> None:
    """echo and print: the words with blanks between them."""
    name = text_of(fields[0].value)
    if not shell.streams.is_read:
        shell.set_status(SUCCESS)
        return
    arguments = fields[1:]
    newline = True
    plain = name != "print" or shell.is_ksh is True
    while arguments:
        option = text_of(within(arguments[0].value, shell.guard))
        if option is None or not _ECHO_OPTION.match(option):
            if option is None and arguments[0].value[0].text[:1] == "-":
                plain = False
            break
        if option in ("-", "--"):
            if name == "print":
                arguments = arguments[1:]
            elif option == "--" and shell.is_ksh is not False:
                plain = False
            break
        newline = newline and "n" not in option
        plain = plain and option == "-n"
        arguments = arguments[1:]
    if not plain or any("\\" in case.text for field in arguments for case in field.value):
        run_pure(shell, name or "", fields, place)
        return
    pieces: list[Piece] = []
    for number, item in enumerate(arguments):
        if number:
            pieces.append(Piece(Place(shell.text, item.place.start, item.place.start), known(" "), False))
        pieces += item.pieces or (Piece(item.place, item.value, True),)
        if item.is_vague:
            pieces.append(Piece(item.place, unknown(shell.fresh()), True))
    if newline:
        end = (Possibility(ALWAYS, "\n", unset=_vanished(shell, command)),)
        pieces.append(Piece(Place(shell.text, place.end, place.end), end, False))
    shell.streams.write(tuple(pieces), place)
    shell.set_status(SUCCESS)


def _vanished(shell: Interpreter, command: Simple) -> frozenset[str]:
    """The variables that nothing sets and that leave no word of a command, as in `echo $date | cut -c 1-4`."""
    parts = [word.parts[0] for word in command.words[1:] if isinstance(word, Word) and len(word.parts) == 1]
    names = {part.name for part in parts if isinstance(part, Parameter) and not (part.quoted or part.operator)}
    return frozenset().union(*(case.unset for name in names for case in shell.variable(name).value))


def _printf(shell: Interpreter, fields: list[Field], command: Simple, place: Place) -> None:
    texts = _texts(shell, fields)
    if len(fields) > 2 and texts[1] == "-v":
        name = texts[2]
        value, status = output_of(shell, "printf", [fields[0], *fields[3:]])
        if name is None or not _NAME.match(name):
            shell.assignments.forget_everything()
        else:
            shell.assignments.assign(name, None, value, place)
            if shell.is_ksh is not False:
                shell.assignments.forget(name)
        shell.set_status(status)
        return
    if len(fields) == 3 and texts[1] in ("%s\\n", "%s") and not fields[2].is_vague:
        pieces = list(fields[2].pieces or (Piece(fields[2].place, fields[2].value, True),))
        if texts[1] == "%s\\n":
            pieces.append(Piece(Place(shell.text, place.end, place.end), known("\n"), False))
        shell.streams.write(tuple(pieces), place)
        shell.set_status(SUCCESS)
        return
    run_pure(shell, "printf", fields, place)


# --- Variables ---

_KINDS = {"integer": "i", "float": "E", "nameref": "n"}
_OF_BASH = frozenset("aAgilnrtuxfFpI")


class _Declaration:
    """What `export`, `typeset` and their kin say about all the variables they name."""

    def __init__(self, shell: Interpreter, name: str, place: Place) -> None:
        self.shell, self.place = shell, place
        self.attributes: set[str] = set()
        self.dropped: set[str] = set()
        self.is_local = name == "local" or (name in ("typeset", "declare", *_KINDS) and bool(shell.state.scopes))
        if name == "export":
            self.attributes.add("x")
        elif name == "readonly":
            self.attributes.add("r")
        elif name in _KINDS:
            self.attributes.add(_KINDS[name])
        self.keeps_value = name in ("export", "readonly")

    def option(self, text: str) -> None:
        """`-i`, `+x`."""
        letters = {match[0] for match in re.finditer(r"[A-Za-z][0-9]*", text[1:])}
        if "g" in letters and text[0] == "-":
            self.is_local = False
        if "n" in letters and text[0] == "-" and "x" in self.attributes:  # export -n
            self.attributes.discard("x")
            self.dropped.add("x")
        letters -= {"g", "p"} if not self.keeps_value else {"g", "p", "n", "f"}
        (self.attributes if text[0] == "-" else self.dropped).update(letters)

    @property
    def is_of_functions(self) -> bool:
        """Whether it speaks of functions, which are known anyway."""
        return "f" in self.attributes or ("F" in self.attributes and self.shell.is_ksh is False)

    @property
    def fails(self) -> bool:
        """Whether bash does not know the attributes."""
        return self.shell.is_ksh is False and not self.attributes <= _OF_BASH

    def declare(self, name: str, *, is_assigned: bool) -> None:
        """Give a variable the attributes."""
        shell = self.shell
        state = shell.state
        old = state.variables.get(name)
        if self.is_local and state.scopes:
            scope = state.scopes[-1]
            if name not in scope:
                scope[name] = old
                old = None
                state.variables[name] = Variable(unset(name))
            old = state.variables.get(name)
        given = old if old is not None else shell.variable(name)
        letters = frozenset((given.attributes | self.attributes) - self.dropped)
        if "n" in self.attributes:
            shell.doubt(self.place)
        elements = given.elements
        if self.attributes & {"a", "A"} and elements is None:
            if all(case.is_set is False for case in given.value):
                elements = {}
            else:
                given = havoc(name, Variable(EMPTY, {}, given.attributes), shell.fresh())
                elements = given.elements
        changed = Variable(given.value, elements, letters, given.is_open)
        if not is_assigned and letters - given.attributes - {"x", "r", "a", "A"}:
            changed = self._formatted(name, changed)
        if changed != given or old is not None:
            state.variables[name] = changed

    def _formatted(self, name: str, variable: Variable) -> Variable:
        """A variable that has a value already: ksh brings it into form, bash does only with the next one."""
        if variable.elements is not None or all(case.is_set is False for case in variable.value):
            return variable
        if all(not case.symbols and case.is_set for case in variable.value):
            value = self.shell.assignments.formatted(variable.value, variable.attributes)
            is_same = [case.text for case in value] == [case.text for case in variable.value]
            if is_same and ("i" not in variable.attributes or all(_INTEGER.match(case.text) for case in value)):
                return variable
            if self.shell.is_ksh and "i" not in variable.attributes:
                return variable._replace(value=value)
            if self.shell.is_ksh is False:
                return variable
        return havoc(name, variable, self.shell.fresh())


def _declare(shell: Interpreter, fields: list[Field], command: Simple, place: Place) -> None:
    """export, readonly, typeset, declare, local, integer."""
    declaration = _Declaration(shell, text_of(fields[0].value) or "", place)
    if fields and text_of(fields[0].value) == "local" and shell.is_ksh is not False:
        shell.doubt(place)
    status = SUCCESS
    for word in _operands_of(command, fields):
        if isinstance(word, Assignment):
            if declaration.is_of_functions or declaration.fails:
                status = NONZERO
                continue
            is_fresh = not shell.variable(word.name).attributes & {"r"}
            if is_fresh:
                readonly = declaration.attributes & {"r"}
                declaration.attributes -= readonly
                declaration.declare(word.name, is_assigned=True)
                shell.assignments.written(word)
                declaration.attributes |= readonly
                declaration.declare(word.name, is_assigned=True)
            else:
                shell.assignments.written(word)
            if shell.is_ksh is None and not declaration.attributes <= _OF_BASH:
                shell.assignments.forget(word.name)
            continue
        for item in [word] if isinstance(word, Field) else shell.words.fields((word,)):
            _declare_word(shell, declaration, item)
    shell.set_status(status)


def _operands_of(command: Simple, fields: list[Field]) -> list[Word | Assignment | Field]:
    """The words after the command's name as they are written, or as they were expanded if its name came of one."""
    name = text_of(fields[0].value)
    number = next(
        (n for n, word in enumerate(command.words[:3]) if not isinstance(word, Assignment) and word.literal == name),
        None,
    )
    return list(command.words[number + 1 :]) if number is not None else list(fields[1:])


def _declare_word(shell: Interpreter, declaration: _Declaration, item: Field) -> None:
    shell.give_up_if_too_much(item.place)
    text = text_of(within(item.value, shell.guard))
    if text is None or item.is_vague:
        heads = [_DECLARED.match(case.text) for case in item.value]
        if not all(heads):
            shell.assignments.forget_everything()
        for name, end in dict.fromkeys((head[1], head[2]) for head in heads if head is not None):
            if end == UNKNOWN:
                shell.assignments.forget_all([name + ANY_END])
            else:
                declaration.declare(name, is_assigned=True)
                shell.assignments.forget(name)
    elif text[:1] in ("-", "+") and len(text) > 1:
        declaration.option(text)
    elif declaration.is_of_functions or declaration.fails:
        return
    elif match := _ASSIGNMENT.match(text):
        declaration.declare(match[1], is_assigned=True)
        if match[2] is not None:
            shell.assignments.forget(match[1])
        else:
            shell.assignments.assign(match[1], None, known(match[4]), item.place, appends=bool(match[3]))
    elif _NAME.match(text):
        declaration.declare(text, is_assigned=False)
        if shell.is_ksh is None and not declaration.attributes <= _OF_BASH:
            shell.assignments.forget(text)


def _unset(shell: Interpreter, fields: list[Field], command: Simple, place: Place) -> None:
    state = shell.state
    of_functions = of_variables = False
    for item in fields[1:]:
        shell.give_up_if_too_much(place)
        value = within(item.value, shell.guard)
        is_element = item.is_vague and _ELEMENT.match(value[-1].text) is not None
        text = text_of(value[-1:] if is_element else value)  # `unset a[1]`, where no file is called a1
        if text is None or (item.is_vague and not is_element):
            shell.assignments.forget_everything()
            if state.functions:
                shell.doubt(place)
        elif text in ("-f", "-v"):
            of_functions, of_variables = text == "-f", text == "-v"
        elif _NAME.match(text):
            if not of_functions:
                if "r" in shell.variable(text).attributes:
                    shell.doubt(place)
                else:
                    state.variables[text] = Variable(unset(text))
            is_unset = text in state.variables and not of_functions
            if text in state.functions and not of_variables and (of_functions or not is_unset):
                del state.functions[text]
            elif text in state.functions and not of_functions:
                shell.doubt(place)
        elif match := _ELEMENT.match(text):
            _unset_element(shell, match[1], match[2])
    shell.set_status(SUCCESS)


def _unset_element(shell: Interpreter, name: str, subscript: str) -> None:
    variable = shell.variable(name)
    is_plain = re.fullmatch(r"\w+" if "A" in variable.attributes else "0|[1-9][0-9]*", subscript)
    if variable.elements is None or variable.is_open or not is_plain:
        shell.assignments.forget(name)
        return
    shell.effort.on_elements(len(variable.elements))
    elements = {key: value for key, value in variable.elements.items() if key != subscript}
    shell.state.variables[name] = variable._replace(elements=elements)


def _read(shell: Interpreter, fields: list[Field], command: Simple, place: Place) -> None:
    """Only a whole text that is known is read: a line of it a time is left to loops of which nobody knows the end."""
    names: list[str] = []
    options: list[str] = []
    skip = False
    for text in _texts(shell, fields[1:]):
        if skip:
            skip = False
        elif text is None:
            shell.assignments.forget_everything()
        elif text.startswith("-") and not names:
            options.append(text)
            skip = text in ("-p", "-d", "-n", "-t", "-u", "-N", "-i")
        elif _NAME.match(text.partition("?")[0]):
            names.append(text.partition("?")[0])
        elif match := _ELEMENT.match(text):
            shell.assignments.forget(match[1])
            options.append("element")
    line = _next_line(shell) if shell.guard == ALWAYS or shell.state.input else None
    separators = shell.separators()
    fills = shell.is_ksh is False and len(names) == 1 and {*"".join(options)} <= {*"-ra"} and "a" in "".join(options)
    is_plain = line is not None and separators is not None and (fills or all(option == "-r" for option in options))
    if not is_plain or line is None or separators is None or ("\\" in line[0] and "r" not in "".join(options)):
        arrays = any(option.startswith("-") and ("a" in option or "A" in option) for option in options)
        for name in names or ["REPLY"]:
            shell.assignments.read_array(name) if arrays else shell.assignments.forget(name)
        if line is None or not is_plain:
            shell.state.input = None
        _unknown_status(shell)
        return
    if fills:
        words = [known(word) for word, _ in split(line[0], separators) if word is not None]
        shell.assignments.fill_array(names[0], words, place)
    else:
        for name, word in _shared_out(line[0], names, separators):
            shell.assignments.assign(name, None, known(word), place)
    shell.set_status(SUCCESS if line[1] else FAILURE)


def _shared_out(line: str, names: list[str], separators: str) -> list[tuple[str, str]]:
    """Which variable gets which words of a line; the last gets the rest as it is."""
    if not names:
        return [("REPLY", line)]
    blanks = "".join(mark for mark in separators if mark in " \t\n")
    others = re.escape("".join(mark for mark in separators if mark not in blanks))
    space = f"[{re.escape(blanks)}]*" if blanks else ""
    gap = f"{space}[{others}]{space}" if others else ""
    if blanks:
        gap = f"{gap}|[{re.escape(blanks)}]+" if gap else f"[{re.escape(blanks)}]+"
    rest, at = line.strip(blanks) if blanks else line, 0
    between = re.compile(gap)
    found: list[tuple[str, str]] = []
    for name in names[:-1]:
        match = between.search(rest, at) if gap else None
        found.append((name, rest[at : match.start()] if match else rest[at:]))
        at = match.end() if match else len(rest)
    rest = rest[at:]
    words = [word for word, _ in split(rest, separators) if word is not None]
    if others and len(words) == 1:
        rest = words[0]
    return [*found, (names[-1], rest)]


def _next_line(shell: Interpreter) -> tuple[str, bool] | None:
    """The next line of the standard input, and whether it ends as a line; None if it cannot be known."""
    given, text = shell.state.input, _whole_input(shell)
    if given is None or text is None:
        return None
    shell.effort.spent += len(text) // _KEPT
    line, end, rest = text.partition("\n")
    shell.state.input = (Piece(given[0].place, known(rest), True),) if rest else ()
    return line, bool(end)


def _whole_input(shell: Interpreter) -> str | None:
    """What is left of the standard input; None if it cannot be known."""
    given = shell.state.input
    if given is None:
        return None
    whole = shell.joined([piece.value for piece in given]) if given else EMPTY
    text = text_of(within(whole, shell.guard))
    return None if len(whole) > 1 else text


def _read_lines(shell: Interpreter, fields: list[Field], command: Simple, place: Place) -> None:
    """mapfile, readarray."""
    texts = _texts(shell, fields[1:])
    names = [text for text in texts if text is not None and _NAME.match(text)]
    name = names[-1] if names else "MAPFILE"
    is_plain = shell.is_ksh is False and texts in (["-t", name], ["-t"]) and shell.guard == ALWAYS
    given = _whole_input(shell) if is_plain else None
    if given is None:
        shell.assignments.read_array(name)
        _unknown_status(shell)
    else:
        shell.assignments.fill_array(
            name, [known(line) for line in given.removesuffix("\n").split("\n") if given], place
        )
        shell.set_status(SUCCESS)
    shell.state.input = None if given is None else ()


_LETTERS = {
    "e": "errexit",
    "u": "nounset",
    "C": "noclobber",
    "f": "noglob",
    "x": "xtrace",
    "a": "allexport",
    "n": "noexec",
    "v": "verbose",
}
_UNFOLLOWED = frozenset(("posix", "noexec", "errtrace", "functrace", "keyword"))


def _set(shell: Interpreter, fields: list[Field], command: Simple, place: Place) -> None:
    texts = _texts(shell, fields[1:])
    shell.set_status(SUCCESS)
    if not texts:
        shell.streams.write_unknown(place)
        return
    if texts[0] in ("-A", "+A") and len(texts) > 1:
        _set_array(shell, fields, texts, place)
        return
    state = shell.state
    position = _set_options(shell, fields, texts, place)
    rest = fields[1:][position:]
    if rest:
        values = rest[1:] if texts[position] == "--" else rest
        state.positional = None if any(item.is_vague for item in values) else tuple([f.value for f in values])


def _set_options(shell: Interpreter, fields: list[Field], texts: list[str | None], place: Place) -> int:
    """Take in the options of `set`; how many words they are."""
    options = dict(shell.state.options)
    shell.effort.on_copy(len(options))
    position = 0
    while position < len(texts):
        text = texts[position]
        if text is None:
            if fields[1 + position].value[0].text[:1] in ("-", "+") or position == 0:
                shell.doubt(place)
            break
        if text in ("--", "-", "+") or text[0] not in "-+":
            break
        is_on = text[0] == "-"
        for letter in text[1:]:
            name: str | None = _LETTERS.get(letter, "")
            if letter == "o":
                position += 1
                name = texts[position] if position < len(texts) else ""
                if name == "":
                    shell.streams.write_unknown(place)
            if name is None or name in _UNFOLLOWED or letter in "ETkpPs":
                shell.doubt(place)
            elif name:
                options[name] = is_on
        position += 1
    shell.state.options = options
    return position


def _set_array(shell: Interpreter, fields: list[Field], texts: list[str | None], place: Place) -> None:
    """`set -A name words` of ksh; `+A` leaves the elements behind the given ones as they are."""
    name = texts[1]
    if shell.is_ksh is False:  # there it is an option that nobody knows
        shell.streams.complain(place)
        shell.set_status(NONZERO)
        return
    if name is None or not _NAME.match(name):
        shell.assignments.forget_everything()
        return
    rest = fields[3:]
    if texts[2:3] == ["--"]:
        rest = rest[1:]
    if shell.is_ksh is None or any(item.is_vague for item in rest):
        shell.assignments.read_array(name)
        return
    shell.assignments.fill_array(name, [item.value for item in rest], place, keeps=texts[0] == "+A")


def _shift(shell: Interpreter, fields: list[Field], command: Simple, place: Place) -> None:
    text = text_of(within(fields[1].value, shell.guard)) if len(fields) > 1 else "1"
    count, positional = decimal(text or ""), shell.state.positional
    if positional is None or count is None or (len(fields) > 1 and fields[1].is_vague):
        shell.state.positional = None
        _unknown_status(shell)
    elif count > len(positional):
        if shell.is_ksh is not False:
            shell.doubt(place)
        shell.set_status(FAILURE)
    else:
        shell.state.positional = positional[count:]
        shell.set_status(SUCCESS)


def _let(shell: Interpreter, fields: list[Field], command: Simple, place: Place) -> None:
    value: Value = EMPTY
    for item in fields[1:]:
        shell.give_up_if_too_much(place)
        expression = within(item.value, shell.guard)
        if item.is_vague and not expression[-1].symbols:
            expression = expression[-1:]  # `let a=b*c`, where no file has such a name
        elif item.is_vague:
            shell.assignments.forget_everything()
        value = shell.words.calculated(expression, place)
    asked = shell.questions.every_way([within(value, shell.guard)], shell.words.is_nonzero)
    shell.set_status(status_of(asked))


def _getopts(shell: Interpreter, fields: list[Field], command: Simple, place: Place) -> None:
    names = [text for text in _texts(shell, fields[2:3]) if text is not None]
    if shell.state.positional == () and len(fields) == 3:
        for name in names:
            shell.assignments.assign(name, None, known("?"), place)
        shell.assignments.forget_all(["OPTARG", "OPTIND"])
        shell.set_status(FAILURE)
        return
    if len(names) == 1 and len(fields) == 3 and _next_option(shell, fields, names[0], place):
        return
    shell.assignments.forget_all([*names, "OPTARG", "OPTIND"])
    _unknown_status(shell)


def _next_option(shell: Interpreter, fields: list[Field], name: str, place: Place) -> bool:
    """The next option of the script's own words, each in a word of its own; false where it cannot be told."""
    letters, positional = text_of(within(fields[1].value, shell.guard)), shell.state.positional
    variable = shell.state.variables.get("OPTIND")
    at = 1 if variable is None else decimal(text_of(within(variable.value, shell.guard)) or "")
    if letters is None or positional is None or at is None:
        return False
    word = text_of(within(positional[at - 1], shell.guard)) if 0 < at <= len(positional) else ""
    if word is None:
        return False
    found, value, taken = "?", EMPTY, 1
    if len(word) < 2 or word == "--" or not word.startswith("-"):
        taken = 1 if word == "--" else 0
        shell.set_status(FAILURE)
    else:
        takes_value = f"{word[1]}:" in letters
        if word[1] not in letters or (len(word) > 2 and not takes_value):
            return False
        found = word[1]
        if takes_value and len(word) == 2:
            if at == len(positional):
                return False
            value, taken = positional[at], 2
        elif takes_value:
            value = known(word[2:])
        shell.set_status(SUCCESS)
    for variable_name, text in ((name, known(found)), ("OPTARG", value), ("OPTIND", known(str(at + taken)))):
        shell.assignments.assign(variable_name, None, text, place)
    return True


# --- Control ---


def _return(shell: Interpreter, fields: list[Field], command: Simple, place: Place) -> None:
    if len(fields) > 1:
        shell.set_status(_code(shell, fields[1]))
    if shell.calls.is_returning:
        shell.leave("return", place)
    else:  # bash refuses, ksh ends
        shell.by_shell(lambda: shell.leave("exit", place), lambda: shell.set_status(NONZERO))


def _code(shell: Interpreter, field: Field) -> Value:
    text = text_of(within(field.value, shell.guard))
    number = decimal(text or "")
    return known(str(number % 256)) if number is not None else unknown(shell.fresh())


def _leave_loop(kind: str) -> Builtin:
    def leave(shell: Interpreter, fields: list[Field], command: Simple, place: Place) -> None:
        text = text_of(within(fields[1].value, shell.guard)) if len(fields) > 1 else None
        if text is None and len(fields) > 1:
            shell.doubt(place)
        shell.set_status(SUCCESS)
        if shell.loops:
            shell.leave(kind, place, min(decimal(text or "") or 1, shell.loops))

    return leave


def _exit(shell: Interpreter, fields: list[Field], command: Simple, place: Place) -> None:
    if len(fields) > 1:
        shell.set_status(_code(shell, fields[1]))
    shell.leave("exit", place)


def _eval(shell: Interpreter, fields: list[Field], command: Simple, place: Place) -> None:
    texts = _texts(shell, fields[1:])
    is_known = None not in texts and not any(item.is_vague for item in fields[1:])
    if not is_known and _is_of_a_tool(shell, command):
        shell.calls.unresolved.append(place)
        shell.calls.of_elsewhere(place)
    else:
        shell.calls.run_text(" ".join(text or "" for text in texts) if is_known else None, place)


def _is_of_a_tool(shell: Interpreter, command: Simple) -> bool:
    """Whether `eval` is given what a program of somewhere else prints, which sets up the surroundings as a sourced file
    does: `eval "$(spack load --sh eccodes)"`."""
    if len(command.words) != 2 or not isinstance(command.words[1], Word):
        return False
    (part, *others) = command.words[1].parts
    if others or not isinstance(part, CommandSubstitution) or len(part.body.commands) != 1:
        return False
    last = part.body.commands[0]
    last = last.commands[-1] if isinstance(last, Pipeline) else last
    if not isinstance(last, Simple) or not last.words or not isinstance(last.words[0], Word) or not last.words[0].parts:
        return False
    end = last.words[0].parts[-1]
    name = end.text.rpartition("/")[2] if isinstance(end, Literal) else ""
    return bool(name) and name not in _WORKS_ON_TEXT and name not in shell.state.functions


_WORKS_ON_TEXT = frozenset(
    (
        *("awk", "gawk", "mawk", "grep", "egrep", "fgrep", "sed", "cat", "cut", "tr", "head", "tail", "sort", "uniq"),
        *("paste", "xargs", "echo", "printf", "expr", "basename", "dirname", "getopt", "jq", "yq"),
        *("perl", "python", "python3", "ruby"),
    )
)
"""What prints texts that may set anything a script has said before: settings from a file, options."""


def _source(shell: Interpreter, fields: list[Field], command: Simple, place: Place) -> None:
    if len(fields) > 1:
        shell.calls.source(fields[1], fields[2:])
    else:
        shell.may_end(place)
        shell.set_status(NONZERO)


def _trap(shell: Interpreter, fields: list[Field], command: Simple, place: Place) -> None:
    texts = _texts(shell, fields[1:])
    if texts[:1] == ["--"]:
        texts = texts[1:]
    shell.set_status(SUCCESS)
    if not texts or texts[0] in ("-p", "-l"):
        shell.streams.write_unknown(place)
        return
    traps = dict(shell.state.traps)
    text, *signals = texts
    if None in signals:
        shell.doubt(place)
    if not signals:  # `trap EXIT` takes the trap away
        text, signals = "-", [text]
    if shell.state.scopes and shell.is_ksh is not False:
        shell.doubt(place)  # in a function of ksh it may be the function's own
    for signal in signals:
        name = {"0": "EXIT"}.get(signal or "", (signal or "").removeprefix("SIG").upper())
        if name in ("DEBUG", "RETURN") and text not in ("", "-"):
            shell.doubt(place)
        elif text in ("", "-"):
            traps.pop(name, None)
        elif name in ("EXIT", "ERR"):
            traps[name] = text
    shell.state.traps = traps


def _ulimit(shell: Interpreter, fields: list[Field], command: Simple, place: Place) -> None:
    shell.events.append(Ran(tuple(fields), shell.guard, place, {}, shell.state.directory))
    shell.set_status(unknown(shell.fresh()))


def _shopt(shell: Interpreter, fields: list[Field], command: Simple, place: Place) -> None:
    texts = _texts(shell, fields[1:])
    switch = True if "-s" in texts else False if "-u" in texts else None
    if shell.is_ksh:
        shell.set_status(known("127"))
        return
    if None in texts:
        shell.doubt(place)
    if switch is not None:
        value = switch if shell.is_ksh is False else None
        names = {text: value for text in texts if text is not None and not text.startswith("-")}
        if "expand_aliases" in names and switch:
            shell.doubt(place)
        shell.effort.on_copy(len(shell.state.options))
        shell.state.options = {**shell.state.options, **names}
        shell.set_status(SUCCESS if shell.is_ksh is False else unknown(shell.fresh()))
    else:
        shell.streams.write_unknown(place)
        _unknown_status(shell)


def _alias(shell: Interpreter, fields: list[Field], command: Simple, place: Place) -> None:
    names = set()
    for item in fields[1:]:
        name = item.value[0].text.partition("=")[0]
        names.add(name)
        if len(item.value) > 1 or item.is_vague:
            shell.doubt(place)
    shell.effort.on_copy(len(shell.state.aliases))
    shell.state.aliases |= names
    shell.streams.write_unknown(place)
    _unknown_status(shell)


# --- The rest ---


def _nothing(shell: Interpreter, fields: list[Field], command: Simple, place: Place) -> None:
    shell.set_status(SUCCESS)


def _fails(shell: Interpreter, fields: list[Field], command: Simple, place: Place) -> None:
    shell.set_status(FAILURE)


def _perhaps(shell: Interpreter, fields: list[Field], command: Simple, place: Place) -> None:
    shell.streams.write_unknown(place)
    shell.streams.complain(place)
    _unknown_status(shell)


def _change_directory(shell: Interpreter, fields: list[Field], command: Simple, place: Place) -> None:
    """cd, which changes nothing if it fails."""
    arguments = [item for item in fields[1:] if text_of(item.value) not in ("-P", "-L", "--")]
    state = shell.state
    old = state.directory
    new = unknown(shell.fresh())
    if len(arguments) == 1 and _is_one_path(arguments[0], shell.guard):
        text = text_of(within(arguments[0].value, shell.guard))
        if text == "-":
            former = state.variables.get("OLDPWD")
            new = former.value if former is not None and former.elements is None else new
        elif text is None or "CDPATH" not in state.variables or text.startswith(("/", "./", "../")):
            new = shell.streams.file(arguments[0].value)
    if any(len(case.text) > LONGEST_PATH for case in new):
        new = unknown(shell.fresh())
    if len(old) > _MOST_PLACES:  # each earlier cd may have failed
        old = unknown(shell.fresh())
    yes, no = shell.questions.ask_unlikely()
    fails, succeeds = yes[0], no[0]
    cases = [
        *(case._replace(guard=case.guard | succeeds) for case in new),
        *(case._replace(guard=case.guard | fails) for case in old),
    ]
    state.directory = tuple(cases)
    state.variables["OLDPWD"] = Variable(unknown(shell.fresh()) if old == EMPTY else (*state.directory[:0], *old))
    state.variables["PWD"] = Variable(unknown(shell.fresh()))
    if text_of(arguments[0].value if len(arguments) == 1 else EMPTY) == "-":
        shell.streams.write_unknown(place)
    shell.streams.complain(place)
    shell.set_status((Possibility(succeeds, "0"), NONZERO[0]._replace(guard=fails)))


def _is_one_path(item: Field, guard: Guard) -> bool:
    """Whether a word is one, where what of an unquoted expansion is not known is neither nothing nor several words."""
    return not item.is_vague or all(case.text and " " not in case.text for case in within(item.value, guard))


def _print_directory(shell: Interpreter, fields: list[Field], command: Simple, place: Place) -> None:
    """pwd, which prints what PWD is as long as nobody has gone anywhere or set it."""
    state = shell.state
    stays = len(fields) == 1 and state.directory == EMPTY and "PWD" not in state.variables
    shell.streams.write_value(shell.variable("PWD").value if stays else unknown(shell.fresh()), place)
    shell.streams.complain(place)
    _unknown_status(shell)


def _move_about(shell: Interpreter, fields: list[Field], command: Simple, place: Place) -> None:
    """pushd and popd."""
    shell.state.directory = unknown(shell.fresh())
    shell.assignments.forget_all(("PWD", "OLDPWD"))
    _perhaps(shell, fields, command, place)


def _test(shell: Interpreter, fields: list[Field], command: Simple, place: Place) -> None:
    arguments = fields[1:]
    if text_of(fields[0].value) == "[":
        if not arguments or text_of(arguments[-1].value) != "]":
            shell.streams.complain(place)
            shell.set_status(NONZERO)
            return
        arguments = arguments[:-1]
    texts = [text_of(item.value) for item in arguments]
    compares = any(text in COMPARISONS for text in texts)
    is_sure = not compares or all(
        text is not None and (_INTEGER.match(text) or text[:1] in ("-", "(", ")", "!")) for text in texts
    )
    if not is_sure:
        shell.streams.complain(place)
    shell.set_status(status_of(shell.checks.test(arguments), FAILURE if is_sure else NONZERO))


BUILTINS: Mapping[str, Builtin] = {
    "echo": _echo,
    "print": _echo,
    "printf": _printf,
    "export": _declare,
    "readonly": _declare,
    "typeset": _declare,
    "declare": _declare,
    "local": _declare,
    "integer": _declare,
    "float": _declare,
    "nameref": _declare,
    "unset": _unset,
    "read": _read,
    "mapfile": _read_lines,
    "readarray": _read_lines,
    "set": _set,
    "shift": _shift,
    "let": _let,
    "getopts": _getopts,
    "return": _return,
    "break": _leave_loop("break"),
    "continue": _leave_loop("continue"),
    "exit": _exit,
    "eval": _eval,
    ".": _source,
    "source": _source,
    "cd": _change_directory,
    "pwd": _print_directory,
    "pushd": _move_about,
    "popd": _move_about,
    ":": _nothing,
    "true": _nothing,
    "false": _fails,
    "trap": _trap,
    "shopt": _shopt,
    "ulimit": _ulimit,
    "umask": _nothing,
    "alias": _alias,
    "unalias": _perhaps,
    "wait": _perhaps,
    "type": _perhaps,
    "whence": _perhaps,
    "hash": _perhaps,
    "command": _perhaps,
    "test": _test,
    "[": _test,
}
