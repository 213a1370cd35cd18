"""Words to texts: parameters, arithmetic, substitutions, and how a word falls into fields."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable
from typing import TYPE_CHECKING, TypeAlias, TypeGuard
from typing import Literal as TypingLiteral

from nmlgen.namelist.placeholders import has_placeholder
from nmlgen.script import patterns
from nmlgen.script.arithmetic import ArithmeticMistake, UndecidedExpression, calculate
from nmlgen.script.assigned import changed_in_arithmetic
from nmlgen.script.conditions import Truth, negation, truth
from nmlgen.script.ends import WayEndsError
from nmlgen.script.events import Field, Piece
from nmlgen.script.listing import WILDCARD, expanded, last_part
from nmlgen.script.state import Variable, in_order
from nmlgen.script.syntax import (
    Arithmetic,
    Assignment,
    CommandSubstitution,
    Literal,
    Parameter,
    Part,
    Word,
)
from nmlgen.script.values import (
    ALWAYS,
    EMPTY,
    Guard,
    Place,
    Possibility,
    Value,
    combined,
    contradicts,
    known,
    merged,
    restricted,
    text_of,
    unknown,
    within,
)
from nmlgen.source import UNKNOWN
from nmlgen.units.whole import decimal

if TYPE_CHECKING:
    from nmlgen.script.effort import Effort
    from nmlgen.script.evaluate import Interpreter

_SPECIAL = re.compile(rf"[{{~]|{WILDCARD.pattern}")
_BLANKS = " \t\n"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_INTEGER = re.compile(r"\s*([+-]?)(0|[1-9][0-9]{0,17})\s*\Z")
_TILDE = re.compile(r"~([A-Za-z0-9_.+-]*)")
_BRACE = re.compile(r"\{[^{}]*(?:,|\.\.)")
_FIRST_PLACEHOLDER = 0xF0000
_MOST_PLACEHOLDERS = 65_534
_PLACEHOLDER = re.compile("([\U000f0000-\U000ffffd])")
_MOST_CHOICES = 16

_OF_EXPRESSION = 10
_WORDS = 100  # of a command, which are counted together


class _ChoiceError(Exception):
    """An expression reads a variable that has several cases."""

    def __init__(self, name: str, value: Value) -> None:
        super().__init__(name)
        self.name, self.value = name, value


class Expansion:
    """Expands the words of a script in the state that its interpreter is in."""

    def __init__(self, shell: Interpreter) -> None:
        self.shell = shell
        self._is_here = False  # whether what is expanded stands in a here-document

    # --- A word as one text ---

    def text(self, word: Word) -> Value:
        """The text of a word that is not split: the right of an assignment, a here-document, a file's name."""
        parts = word.parts
        if len(parts) == 1 and isinstance(parts[0], Literal):
            part = parts[0]
            return self._known(part.text) if part.quoted or part.text[:1] != "~" else self._tilde(part, True)
        if not parts:
            return EMPTY
        return self.shell.joined(self._values(word))

    def assigned(self, word: Word) -> Value:
        """The text of the right of an assignment: there a tilde stands behind a colon, too."""
        first = True
        values: list[Value] | None = None
        for number, part in enumerate(word.parts):
            if isinstance(part, Literal) and not part.quoted and "~" in part.text:
                if values is None:
                    values = self._values(Word(word.start, word.end, word.parts[:number]))
                values.append(self._tildes(part, first, number == len(word.parts) - 1))
            elif values is not None:
                values.append(self._part(part))
            first = False
        return self.shell.joined(values) if values else self.text(word)

    def _values(self, word: Word) -> list[Value]:
        """The values of a word's parts; the first may be a tilde."""
        parts = word.parts
        values = [self._part(part) for part in parts]
        first = parts[0] if parts else None
        if isinstance(first, Literal) and first.text[:1] == "~" and not first.quoted:
            values[0] = self._tilde(first, len(parts) == 1)
        return values

    def pieces(self, word: Word) -> tuple[Piece, ...]:
        """The same, part by part; where these are too many, the rest is unknown."""
        was_here, self._is_here = self._is_here, True
        try:
            return self._pieces(word)
        finally:
            self._is_here = was_here

    def _pieces(self, word: Word) -> tuple[Piece, ...]:
        text, effort = self.shell.text, self.shell.effort
        found = []
        for part in word.parts:
            if effort.is_too_much:
                found.append(Piece(Place(text, part.start, word.end), unknown(self.shell.fresh()), True))
                break
            effort.on_piece()
            value = self.shell.look_at(known(part.text)) if isinstance(part, Literal) else self._part(part)
            found.append(Piece(Place(text, part.start, part.end), value, not isinstance(part, Literal)))
        return tuple(found)

    def pattern(self, word: Word) -> list[tuple[Value, bool]]:
        """A word as a pattern: rows of text, and whether each is quoted."""
        return [(self._part(part), getattr(part, "quoted", False)) for part in word.parts]

    def _part(self, part: Part) -> Value:
        if self.shell.effort.is_too_much:  # a word may have thousands of parts: the next command gives up
            return unknown(self.shell.fresh())
        if isinstance(part, Literal):
            return self.shell.look_at(self._known(part.text))
        if isinstance(part, Parameter):
            return self.shell.look_at(self.parameter(part))
        if isinstance(part, CommandSubstitution):
            return self.shell.look_at(self.shell.subshells.substitute(part))
        if isinstance(part, Arithmetic):
            if self.shell.is_ksh is not False and self.shell.text.text.startswith("$[", part.start):
                return self._refused(part)
            return self.arithmetic(part.expression)
        return unknown(self.shell.fresh())

    def _known(self, text: str) -> Value:
        """A text as it stands in the script; what another program fills in is unknown."""
        if self.shell.is_template and has_placeholder(text):
            return unknown(("placeholder", text))
        return known(text)

    def _refused(self, part: Arithmetic) -> Value:
        """`$[ ]`, which ksh does not know."""
        self.shell.doubt(Place(self.shell.text, part.start, part.end))
        self.arithmetic(part.expression)
        return unknown(self.shell.fresh())

    def _tilde(self, part: Literal, is_all: bool) -> Value:
        """The text of a part that starts with a tilde; `is_all` if the word ends with it."""
        match = _TILDE.match(part.text)
        rest = part.text[match.end() :] if match else ""
        if match is None or not (rest[:1] == "/" or (not rest and is_all)):
            return self._known(part.text)
        return self.shell.joined([self._home(match[1]), known(rest)])

    def _tildes(self, part: Literal, is_first: bool, is_last: bool) -> Value:
        """The same in an assignment, where every stretch up to a colon may start with one."""
        pieces = part.text.split(":")
        values: list[Value] = []
        for number, piece in enumerate(pieces):
            text = ":" + piece if number else piece
            match = _TILDE.match(piece) if number or is_first else None
            rest = piece[match.end() :] if match else ""
            ends = number < len(pieces) - 1 or is_last
            if match is None or not (rest[:1] == "/" or (not rest and ends)):
                values.append(self._known(text))
            else:
                values += [known(text[: text.index("~")]), self._home(match[1]), known(rest)]
        return self.shell.joined(values)

    def _home(self, user: str) -> Value:
        """The directory that a tilde stands for."""
        shell = self.shell
        variable = {"": "HOME", "+": "PWD", "-": "OLDPWD"}.get(user)
        if variable is None:
            return unknown(("home", user))
        value = within(shell.variable(variable).value, shell.guard)
        if all(case.is_set for case in value) and shell.variable(variable).elements is None:
            return value
        return unknown(("home", user, *(case.symbols for case in value)))

    # --- Words as fields ---

    def fields(self, words: Iterable[Word | Assignment]) -> list[Field]:
        """The words of a command after expansion, splitting and the search for files."""
        found: list[Field] = []
        counted = 0
        for word in words:
            if isinstance(word, Assignment):
                place = Place(self.shell.text, word.start, word.end)
                found.append(Field(known(self.shell.text.text[word.start : word.end]), place, ()))
            elif len(word.parts) == 1 and isinstance(word.parts[0], Literal):
                found += self._literal_field(word, word.parts[0])
            else:
                found += self._fields(word)
            if len(found) - counted >= _WORDS:
                self._count(found, counted)
                counted = len(found)
        self._count(found, counted)
        return found

    def _count(self, found: list[Field], counted: int) -> None:
        """Count the words of a command behind those that are; give up before anybody looks at each of too many."""
        self.shell.effort.on_words(len(found) - counted, counted)
        if found:
            self.shell.give_up_if_too_much(Place(found[0].place.text, found[0].place.start, found[-1].place.end))

    def _literal_field(self, word: Word, part: Literal) -> list[Field]:
        place = Place(self.shell.text, word.start, word.end)
        text = part.text
        if part.quoted or not _SPECIAL.search(text) or (self.shell.is_template and has_placeholder(text)):
            value = self._known(text)
            return [Field(value, place, (Piece(Place(place.text, part.start, part.end), value, False),))]
        try:
            words = patterns.expand_braces(text, is_ksh=self.shell.is_ksh, effort=self.shell.effort)
        except patterns.UndecidedPattern:
            return [Field(unknown(self.shell.fresh()), place, (), is_vague=True)]
        return [
            self._found(self._tilde(Literal(0, 0, text), True) if text[:1] == "~" else known(text), text, place)
            for text in words
        ]

    def _found(self, value: Value, text: str, place: Place, pieces: tuple[Piece, ...] = ()) -> Field:
        """A field whose text may be the pattern of files."""
        options = self.shell.state.options
        if not WILDCARD.search(text) or options.get("noglob"):
            return Field(value, place, pieces or (Piece(place, value, len(value) > 1 or bool(value[0].symbols)),))
        (matches, other) = self.shell.questions.ask()
        listing = expanded(value[0], self.shell.fresh()) if len(value) == 1 else None
        if "nullglob" in options or "failglob" in options or "noglob" in options:
            value = unknown(self.shell.fresh())
            listing = None
        symbol = self.shell.fresh() if listing is None else listing
        cases = (Possibility(matches[0], UNKNOWN, (symbol,)), *(c._replace(guard=other[0]) for c in value))
        return Field(cases, place, (Piece(place, cases, True),), is_vague=True)

    def _fields(self, word: Word) -> list[Field]:
        self.shell.effort.spent += 6
        place = Place(self.shell.text, word.start, word.end)
        if any(isinstance(part, Literal) and not part.quoted and "{" in part.text for part in word.parts):
            words = self._without_braces(word)
            if words is None:
                value = unknown(self.shell.fresh())
                return [Field(value, place, (Piece(place, value, True),), is_vague=True)]
            if words:
                found: list[Field] = []
                for one in words:
                    found += self._fields(self._refilled(word, one))
                    self.shell.give_up_if_too_much(place)
                return found
        segments: list[tuple[Value, bool, Part]] = []  # the value, whether it is quoted, where it comes from
        for part in word.parts:
            if isinstance(part, Parameter) and self._is_list(part):
                elements = self.elements(part)
                if elements is None:
                    value = unknown(self.shell.fresh())
                    return [Field(value, place, (Piece(place, value, True),), is_vague=True)]
                if len(word.parts) == 1 and (part.quoted or all(self._is_simple(value) for value in elements)):
                    return [Field(value, place, (Piece(place, value, True),)) for value in elements]
                if len(elements) > 1 and part.quoted:
                    value = unknown(self.shell.fresh())
                    return [Field(value, place, (Piece(place, value, True),), is_vague=True)]
                spaced = [piece for value in elements for piece in (known(" "), value)][1:]
                value = self.shell.joined(spaced) if spaced else EMPTY
                segments.append((value, part.quoted, part))
            else:
                value = self._tilde(part, False) if self._starts_with_tilde(part, segments) else self._part(part)
                segments.append((value, getattr(part, "quoted", False), part))
        return self._split(segments, place)

    def _starts_with_tilde(self, part: Part, before: list[tuple[Value, bool, Part]]) -> TypeGuard[Literal]:
        return not before and isinstance(part, Literal) and not part.quoted and part.text[:1] == "~"

    def _without_braces(self, word: Word) -> list[str] | None:
        """The words that braces make of one, with a character for each expansion; none if they make nothing of it,
        None if that cannot be known."""
        if len(word.parts) > _MOST_PLACEHOLDERS:
            return None
        row = ""
        for number, part in enumerate(word.parts):
            if isinstance(part, Literal) and not part.quoted:
                if _PLACEHOLDER.search(part.text):  # characters that nobody writes
                    return None
                row += part.text
            else:
                row += chr(_FIRST_PLACEHOLDER + number)
        if not _BRACE.search(row):
            return []
        try:
            texts = patterns.expand_braces(row, is_ksh=self.shell.is_ksh, effort=self.shell.effort)
        except patterns.UndecidedPattern:
            return None
        return [] if texts == [row] else texts

    def _refilled(self, word: Word, text: str) -> Word:
        parts: list[Part] = []
        for stretch in _PLACEHOLDER.split(text):
            number = ord(stretch) - _FIRST_PLACEHOLDER if len(stretch) == 1 else -1
            if 0 <= number < len(word.parts):
                parts.append(word.parts[number])
            elif stretch:
                parts.append(Literal(word.start, word.end, stretch))
        return Word(word.start, word.end, tuple(parts))

    def _is_simple(self, value: Value) -> bool:
        text = text_of(value)
        separators = self.shell.separators()
        if text is None or text == "" or separators is None or WILDCARD.search(text):
            return False
        return not any(mark in text for mark in separators)

    def _is_list(self, part: Parameter) -> bool:
        if part.is_length:
            return False
        if part.name == "@" or (part.name == "*" and not part.quoted):
            return part.operator in ("", ":")
        subscript = part.subscript.literal if part.subscript is not None else None
        return subscript == "@" or (subscript == "*" and not part.quoted)

    def _split(self, segments: list[tuple[Value, bool, Part]], place: Place) -> list[Field]:
        text = self.shell.text
        pieces = tuple(
            Piece(Place(text, part.start, part.end), value, not isinstance(part, Literal))
            for value, _, part in segments
        )
        loose = [value for value, quoted, part in segments if not quoted and not isinstance(part, Literal)]
        whole = self.shell.joined([value for value, _, _ in segments])
        if not loose:
            literal = "".join(part.text for _, quoted, part in segments if isinstance(part, Literal) and not quoted)
            return [self._found(whole, literal, place, pieces)]
        separators = self.shell.separators()
        if separators is None:
            return [Field(whole, place, pieces, is_vague=True)]
        if all(len(value) == 1 and not value[0].symbols for value in loose):
            return self._cut(segments, place, pieces, separators)
        vague = False
        for value in loose:
            for case in value:
                if case.symbols or not case.text or any(mark in case.text for mark in separators):
                    vague = True
        if (
            vague
            and len(segments) > 1
            and any(len(value) == 1 and value[0].text.strip() and not value[0].symbols for value, _, _ in segments)
        ):
            vague = any(
                any(mark in case.text for mark in separators) for value in loose for case in value if not case.symbols
            )
        return [Field(whole, place, pieces, is_vague=vague)]

    def _cut(
        self, segments: list[tuple[Value, bool, Part]], place: Place, pieces: tuple[Piece, ...], separators: str
    ) -> list[Field]:
        """Falls into fields what is all known."""
        fields: list[list[Value]] = []
        is_open = False  # whether the next piece goes on with the last field
        globs = False
        for value, quoted, part in segments:
            text = value[0].text if len(value) == 1 and not value[0].symbols else None
            if quoted or isinstance(part, Literal) or text is None:
                globs = globs or (not quoted and text is not None and bool(WILDCARD.search(text)))
                if not is_open:
                    fields.append([])
                fields[-1].append(value)
                is_open = True
                continue
            globs = globs or bool(WILDCARD.search(text))
            for number, (word, ends) in enumerate(split(text, separators)):
                if word is None:
                    is_open = False if number == 0 else is_open
                    continue
                if not is_open or number:
                    if not is_open:
                        fields.append([])
                    is_open = True
                fields[-1].append((value[0]._replace(text=word),))
                is_open = not ends
        found = []
        for values in fields:
            value = self.shell.joined(values)
            single = pieces if len(fields) == 1 and "".join(v[0].text for v in values) == _shown(pieces) else ()
            if globs:
                found.append(self._found(value, value[0].text, place, single))
            else:
                found.append(Field(value, place, single or (Piece(place, value, True),)))
        return found

    # --- Parameters ---

    def parameter(self, part: Parameter) -> Value:
        """What an expansion of a parameter brings, as one text."""
        shell = self.shell
        if part.operator == "!":
            return unknown(shell.fresh())
        if part.is_indirect:
            return self._indirect(part)
        subscript = part.subscript.literal if part.subscript is not None else None
        mark = part.name if part.name in ("@", "*") else subscript
        if mark in ("@", "*"):
            if part.is_length:
                elements = self._elements(part)
                return unknown(shell.fresh()) if elements is None else known(str(len(elements)))
            elements = self.elements(part)
            gap = self._gap(mark)
            if elements is None or gap is None:
                return unknown(shell.fresh())
            spaced = [piece for value in elements for piece in (known(gap), value)][1:]
            return shell.joined(spaced) if spaced else self._absent(part)
        value = within(self.value(part.name, part.subscript), shell.guard)
        if "nounset" in shell.state.options and part.operator.lstrip(":") not in ("-", "=", "?", "+"):
            self._refuse_unset(part, value)
        if part.is_length:
            return self._mapped(value, lambda text: str(len(text)) if text.isascii() else None)
        return self._operated(part, value) if part.operator else value

    def _gap(self, mark: str) -> str | None:
        """What stands between the elements of a list that is one text; None if it is not known."""
        if mark == "@":
            return " "
        separators = self.shell.separators()
        if separators is None or (self._is_here and separators[:1] != " "):  # there shells put a blank all the same
            return None
        return separators[:1]

    def _refuse_unset(self, part: Parameter, value: Value) -> None:
        """With `set -u`, a variable that is not set ends the script."""
        shell = self.shell
        if part.name in "?#$!-_" or all(case.is_set for case in value):
            return
        place = Place(shell.text, part.start, part.end)
        is_certain = all(case.is_set is False for case in value) and not shell.is_foreign(part.name)
        if is_certain and shell.state.options["nounset"]:
            raise WayEndsError
        shell.may_end(place)

    def _absent(self, part: Parameter) -> Value:
        value: Value = (Possibility(ALWAYS, "", (), False),)
        return self._operated(part, value) if part.operator in (":-", "-", ":+", "+", ":=", "=") else EMPTY

    def _indirect(self, part: Parameter) -> Value:
        if self.shell.is_ksh is not False:  # there it is the name itself, unless of typeset -n
            return unknown(self.shell.fresh())
        name = text_of(self.value(part.name, None))
        if name is None or part.subscript is not None or not _NAME.fullmatch(name):
            return unknown(self.shell.fresh())
        value = within(self.value(name, None), self.shell.guard)
        return self._operated(part, value) if part.operator else value

    def value(self, name: str, subscript: Word | None) -> Value:
        """The value of a variable, an element of an array or a special parameter."""
        shell = self.shell
        if name.isdigit():
            number = decimal(name)
            return unknown(shell.fresh()) if number is None else self._positional(number)
        if not (name[0].isalpha() or name[0] == "_"):
            return shell.special(name)
        variable = shell.variable(name)
        if subscript is None:
            if variable.elements is not None:
                return self._element(variable, "0", name)
            return variable.value
        keys = self.subscripts(variable, subscript)
        if keys is None:
            return unknown(shell.fresh())
        if len(keys) == 1:
            return self._element(variable, keys[0][1], name)
        found = [case for guard, key in keys for case in restricted(self._element(variable, key, name), guard)]
        return merged(found, shell.fresh())

    def nothing_at(self, variable: Variable, key: str, name: str) -> Value:
        """The value of an element that nothing has set."""
        if variable.is_open:
            return unknown((name, key, self.shell.fresh()))
        return (Possibility(ALWAYS, "", (), False, frozenset((f"{name}[{key}]",))),)

    def _element(self, variable: Variable, key: str, name: str) -> Value:
        if variable.elements is None:
            if key == "0":
                return variable.value
            is_unset = all(case.is_set is not None for case in variable.value)
            return (Possibility(ALWAYS, "", (), False),) if is_unset else unknown(self.shell.fresh())
        found = variable.elements.get(key)
        if found is not None:
            return found
        return self.nothing_at(variable, key, name)

    def subscript(self, variable: Variable, subscript: Word) -> str | None:
        """The key that a subscript means; None if it cannot be known."""
        keys = self.subscripts(variable, subscript)
        return keys[0][1] if keys is not None and len(keys) == 1 else None

    def subscripts(self, variable: Variable, subscript: Word) -> tuple[tuple[Guard, str], ...] | None:
        """The keys that a subscript may mean, each with its guard; None if they cannot be known."""
        value = within((self.text if "A" in variable.attributes else self.arithmetic)(subscript), self.shell.guard)
        text = text_of(value)
        cases = value if text is None else (Possibility(ALWAYS, text),)
        keys = [
            (case.guard, None if case.symbols else self._key(variable, case.text, self.shell.effort)) for case in cases
        ]
        found = tuple((guard, key) for guard, key in keys if key is not None)
        return found if len(found) == len(keys) else None

    @staticmethod
    def _key(variable: Variable, index: str, effort: Effort) -> str | None:
        if "A" in variable.attributes:
            return index
        if not index.lstrip("-").isdigit():
            return None
        if index.startswith("-"):
            effort.on_elements(len(variable.elements or ()))
            last = max((decimal(key) or 0 for key in variable.elements or ()), default=None)
            return str(last + 1 + int(index)) if last is not None and not variable.is_open else None
        return index

    def _positional(self, number: int) -> Value:
        shell = self.shell
        if number == 0:
            return unknown(("parameter", "0"))
        if shell.state.positional is None:
            return unknown(shell.fresh())
        if number <= len(shell.state.positional):
            return shell.state.positional[number - 1]
        return (Possibility(ALWAYS, "", (), False, frozenset((f"${number}",))),)

    def _elements(self, part: Parameter) -> list[Value] | None:
        """The elements of `$@` or of a whole array, in order; None if their number is not known."""
        if part.name in "@*":
            return None if self.shell.state.positional is None else list(self.shell.state.positional)
        variable = self.shell.variable(part.name)
        if variable.is_open:
            return None
        if variable.elements is None:
            value = within(variable.value, self.shell.guard)
            if len(value) > 1 or value[0].is_set is None:
                return None
            return [] if value[0].is_set is False else [value]
        self.shell.effort.on_elements(len(variable.elements))
        if any(case.is_set is not True for value in variable.elements.values() for case in value):
            return None
        return [variable.elements[key] for key in in_order(variable)]

    def elements(self, part: Parameter) -> list[Value] | None:
        """The same with the operator applied to each."""
        if self.shell.effort.is_too_much:
            return None
        if part.is_indirect:
            variable = self.shell.variable(part.name) if part.name not in "@*" else None
            if variable is None or variable.is_open or variable.elements is None:
                return None
            self.shell.effort.on_elements(len(variable.elements))
            return [known(key) for key in in_order(variable)]
        elements = self._elements(part)
        if elements is None or not part.operator:
            return elements
        if part.operator == ":":
            return self._slice(part, elements)
        if part.operator in (":-", "-", ":=", "=", ":?", "?", ":+", "+"):
            return None if elements or part.operator in (":+", "+") else [self.text(part.arguments[0])]
        return [self._operated(part, within(value, self.shell.guard)) for value in elements]

    def _slice(self, part: Parameter, elements: list[Value]) -> list[Value] | None:
        numbers = [text_of(self.arithmetic(word)) for word in part.arguments]
        variable = self.shell.variable(part.name) if part.name not in "@*" else None
        if any(number is None or not number.lstrip("-").isdigit() for number in numbers):
            return None
        if variable is not None and variable.elements is not None:
            self.shell.effort.on_elements(2 * len(variable.elements))
            if _is_sparse(variable):
                return None
        first = int(numbers[0] or 0)
        if part.name in "@*":
            if first < 1:
                return None
            first -= 1
        if first < 0:
            first += len(elements)
        count = int(numbers[1] or 0) if len(numbers) > 1 else len(elements)
        return None if first < 0 or count < 0 else elements[first : first + count]

    def _operated(self, part: Parameter, value: Value) -> Value:
        operator, shell = part.operator, self.shell
        if operator.lstrip(":") in ("-", "=", "?", "+"):
            return self._defaulted(part, value)
        if operator == "##" and part.arguments[0].literal == "*/" and (last := last_part(value)) is not None:
            return last
        if operator in ("#", "##", "%", "%%"):
            change = patterns.remove_prefix if operator[0] == "#" else patterns.remove_suffix
            longest = len(operator) == 2
            return self._with_pattern(
                part.arguments[0],
                value,
                lambda text, pattern: change(
                    text, pattern, longest=longest, extglob=shell.checks.extglob(pattern), effort=shell.effort
                ),
            )
        if operator[0] == "/":
            return self._replaced(part, value)
        if operator == ":":
            return self._substring(part, value)
        if operator in ("^", "^^", ",", ",,") and not any(word.parts for word in part.arguments):
            return self._mapped(value, lambda text: _CASES[operator](text) if text.isascii() else None)
        return self._mapped(value, lambda text: None)

    def _with_pattern(self, word: Word, value: Value, change: Callable[[str, patterns.Pattern], str]) -> Value:
        rows = self.pattern(word)
        symbol = self.shell.fresh()

        def make(cases: tuple[Possibility, ...]) -> Possibility:
            first, *rest = cases
            if any(case.symbols for case in cases):
                return Possibility(ALWAYS, UNKNOWN, (symbol,))
            pattern = tuple((case.text, quoted) for case, (_, quoted) in zip(rest, rows, strict=True))
            try:
                return Possibility(ALWAYS, change(first.text, pattern))
            except patterns.UndecidedPattern:
                return Possibility(ALWAYS, UNKNOWN, (symbol,))

        return self._combined([value, *(row for row, _ in rows)], make, symbol)

    def _replaced(self, part: Parameter, value: Value) -> Value:
        operator, shell = part.operator, self.shell
        new = self.text(part.arguments[1]) if len(part.arguments) > 1 else EMPTY
        symbol = shell.fresh()
        if shell.is_ksh is not False and any("\\" in shell.text.text[w.start : w.end] for w in part.arguments[1:]):
            new = unknown(symbol)  # within double quotes and here-documents ksh keeps the backslash
        rows = self.pattern(part.arguments[0])
        anchor: TypingLiteral["", "#", "%"] = "#" if operator == "/#" else "%" if operator == "/%" else ""

        def make(cases: tuple[Possibility, ...]) -> Possibility:
            first, replacement, *rest = cases
            if first.is_set is False and anchor:  # ksh writes the pattern; to bash not even an empty one is there
                return Possibility(ALWAYS, "") if shell.is_ksh is False else Possibility(ALWAYS, UNKNOWN, (symbol,))
            ignores_case = "nocasematch" in self.shell.state.options
            if (
                ignores_case
                or any(case.symbols for case in cases)
                or "&" in replacement.text
                or "\\" in replacement.text
            ):
                return Possibility(ALWAYS, UNKNOWN, (symbol,))
            pattern = tuple((case.text, quoted) for case, (_, quoted) in zip(rest, rows, strict=True))
            try:
                text = patterns.replace(
                    first.text,
                    pattern,
                    replacement.text,
                    everywhere=operator == "//",
                    anchor=anchor,
                    extglob=self.shell.checks.extglob(pattern),
                    is_ksh=self.shell.is_ksh,
                    effort=self.shell.effort,
                )
            except patterns.UndecidedPattern:
                return Possibility(ALWAYS, UNKNOWN, (symbol,))
            return Possibility(ALWAYS, text)

        return self._combined([value, new, *(row for row, _ in rows)], make, symbol)

    def _substring(self, part: Parameter, value: Value) -> Value:
        numbers = [text_of(within(self.arithmetic(word), self.shell.guard)) for word in part.arguments]
        if any(number is None or not number.lstrip("-").isdigit() for number in numbers):
            return self._mapped(value, lambda text: None)
        offset = int(numbers[0] or 0)
        length = int(numbers[1] or 0) if len(numbers) > 1 else None

        is_bash = self.shell.is_ksh is False

        def cut(text: str) -> str | None:
            if not text.isascii():  # of several bytes to some locales
                return None
            start = offset + len(text) if offset < 0 else offset
            if start < 0:  # ksh begins at the start
                return "" if is_bash else None
            if start > len(text):
                return ""
            if length is None:
                return text[start:]
            end = len(text) + length if length < 0 else start + length
            return text[start:end] if end >= start else None

        return self._mapped(value, cut)

    def _defaulted(self, part: Parameter, value: Value) -> Value:
        """`${v:-w}` and its kin. Of a variable that only the surroundings might set, the script's word holds."""
        operator = part.operator
        counts_empty = operator[0] == ":"
        kind = operator[-1]
        shell = self.shell
        present, absent = self._divided(part.name, value, counts_empty)
        if kind == "?":
            if absent:
                self.text(part.arguments[0])
                if not present:
                    raise WayEndsError
                shell.may_end(Place(shell.text, part.start, part.end))
            return merged(present, shell.fresh())
        if kind == "+":
            if not present:
                return EMPTY
            other = self.text(part.arguments[0])
            cases = [
                more._replace(guard=more.guard | case.guard)
                for case in present
                for more in other
                if not contradicts(more.guard, case.guard)
            ]
            return merged([*cases, *(Possibility(guard, "") for guard in absent)], shell.fresh())
        if not absent:
            return value
        default = self.text(part.arguments[0])
        cases = [
            more._replace(guard=more.guard | guard)
            for guard in absent
            for more in default
            if not contradicts(more.guard, guard)
        ]
        result = merged([*present, *cases], shell.fresh())
        if kind == "=" and (part.name[0].isalpha() or part.name[0] == "_"):
            shell.assignments.assign(part.name, part.subscript, result, Place(shell.text, part.start, part.end))
        return result

    def _divided(self, name: str, value: Value, counts_empty: bool) -> tuple[list[Possibility], list[Guard]]:
        """The cases in which a variable is set, or not empty, and the guards of the others."""
        shell = self.shell
        present: list[Possibility] = []
        absent: list[Guard] = []
        for case in value:
            is_empty = counts_empty and not case.symbols and not case.text
            if case.is_set is False or is_empty or (case.is_set is None and shell.is_foreign(name)):
                absent.append(case.guard)
            elif case.is_set and not (counts_empty and case.text == UNKNOWN):
                present.append(case)
            elif case.is_set is None:
                yes, no = shell.questions.ask(("set", name, case.symbols))
                present.append(case._replace(guard=case.guard | yes[0], is_set=True))
                absent.append(case.guard | no[0])
            else:
                for guard, empty in shell.questions.is_empty(case):
                    if empty:
                        absent.append(case.guard | guard)
                    else:
                        present.append(case._replace(guard=case.guard | guard))
        return present, absent

    def _mapped(self, value: Value, change: Callable[[str], str | None]) -> Value:
        symbol = self.shell.fresh()

        def make(cases: tuple[Possibility, ...]) -> Possibility:
            text = None if cases[0].symbols else change(cases[0].text)
            return Possibility(ALWAYS, UNKNOWN, (symbol,)) if text is None else Possibility(ALWAYS, text)

        return self._combined([value], make, symbol)

    def _combined(
        self, values: list[Value], make: Callable[[tuple[Possibility, ...]], Possibility], symbol: Hashable
    ) -> Value:
        self.shell.effort.on_choices(values)
        return combined(values, make, symbol)

    # --- Arithmetic ---

    def arithmetic(self, word: Word) -> Value:
        """The value of an arithmetic expression; what it assigns is assigned."""
        expression = self.text(word)
        place = Place(self.shell.text, word.start, word.end)
        return self.calculated(expression, place)

    def calculated(self, expression: Value, place: Place) -> Value:
        """The value of an expression that is known as text."""
        shell = self.shell
        if len(expression) == 1 and not expression[0].symbols:
            match = _INTEGER.match(expression[0].text)
            if match:
                number = match[2] if match[1] != "-" or match[2] == "0" else "-" + match[2]
                return (expression[0]._replace(text=number),)
        calculation = _Calculation(self, place)
        for case in within(expression, shell.guard):
            calculation.calculate(case, {})
        calculation.commit()
        return merged(calculation.results, calculation.symbol)

    def is_nonzero(self, cases: tuple[Possibility, ...]) -> Truth:
        """Whether a number is none that counts as false."""
        if cases[0].symbols:
            return negation(self.shell.questions.equal(cases[0], Possibility(ALWAYS, "0")))
        return truth(cases[0].text not in ("0", ""))

    def named(self, name: str, subscript: str | None) -> Value:
        """What a name means in an expression."""
        variable = self.shell.variable(name)
        if "n" in variable.attributes or {"E", "F"} & {letter[0] for letter in variable.attributes}:
            raise UndecidedExpression(name)
        if subscript is None:
            return self._element(variable, "0", name) if variable.elements is not None else variable.value
        if variable.elements is None:
            return self.value(name, Word(0, 0, (Literal(0, 0, subscript),)))
        return self._element(variable, subscript, name)


_Target: TypeAlias = "tuple[str, str | None]"


class _Calculation:
    """An expression, calculated for every choice of what its variables may be; its assignments come at the end."""

    def __init__(self, words: Expansion, place: Place) -> None:
        self.words, self.shell, self.place = words, words.shell, place
        self.symbol = self.shell.fresh()
        self.results: list[Possibility] = []
        self._changes: list[tuple[Guard, dict[_Target, Possibility]]] = []

    def calculate(self, case: Possibility, chosen: dict[str, Possibility]) -> None:
        """The value of one text, where `chosen` are the cases of variables."""
        shell = self.shell
        if case.symbols:
            self._give_up(case, [case.text])
            return
        shell.effort.spent += _OF_EXPRESSION + len(case.text)
        pending: dict[_Target, Possibility] = {}
        missing: set[str] = set(case.unset)
        read = [case.text]

        def lookup(name: str, subscript: str | None) -> str:
            shell.effort.spent += 2
            if (name, subscript) in pending:
                return pending[name, subscript].text
            key = name if subscript is None else f"{name}[{subscript}]"
            found = chosen.get(key)
            if found is None:
                value = within(self.words.named(name, subscript), shell.guard | case.guard)
                if len(value) > 1:
                    raise _ChoiceError(key, value)
                found = value[0]
            if "nounset" in shell.state.options and found.is_set is not True:
                shell.doubt(self.place)
            if found.symbols:
                raise UndecidedExpression(name)
            missing.update(found.unset)
            read.append(found.text)
            shell.effort.spent += len(found.text)
            return found.text

        def assign(name: str, subscript: str | None, text: str) -> None:
            if "A" in shell.variable(name).attributes and subscript is not None:
                raise UndecidedExpression(name)
            pending[name, subscript] = Possibility(ALWAYS, text, unset=frozenset(missing))

        def has_names(name: str) -> bool:
            return "A" in shell.variable(name).attributes

        try:
            text = calculate(case.text, lookup, assign, is_ksh=shell.is_ksh, has_names=has_names)
        except _ChoiceError as choice:
            if len(self.results) + len(choice.value) > _MOST_CHOICES or len(chosen) > 8:
                self._give_up(case, [case.text, *(other.text for other in choice.value)])
                return
            for other in choice.value:
                if not contradicts(case.guard, other.guard):
                    bound = case._replace(guard=case.guard | other.guard)
                    self.calculate(bound, {**chosen, choice.name: other})
        except UndecidedExpression:
            self._give_up(case, read)
        except ArithmeticMistake:
            shell.doubt(self.place)
            self._give_up(case, read)
        else:
            self.results.append(Possibility(case.guard, text, unset=frozenset(missing)))
            self._changes.append((case.guard, pending))

    def _give_up(self, case: Possibility, read: list[str]) -> None:
        """Neither the value is known nor what is assigned."""
        self.results.append(Possibility(case.guard, UNKNOWN, (self.symbol,)))
        pending: dict[_Target, Possibility] = {}
        for text in read:
            for name in changed_in_arithmetic(text):
                if self.shell.variable(name).elements is not None or "[" in text:
                    self.shell.assignments.forget(name)
                else:
                    pending[name, None] = Possibility(ALWAYS, UNKNOWN, (self.shell.fresh(),), None)
        self._changes.append((case.guard, pending))

    def commit(self) -> None:
        """Assign what was calculated."""
        shell = self.shell
        for name, subscript in dict.fromkeys(key for _, pending in self._changes for key in pending):
            cases: list[Possibility] = []
            for guard, pending in self._changes:
                found = pending.get((name, subscript))
                if found is not None:
                    cases.append(found._replace(guard=guard))
                else:
                    cases += [
                        case._replace(guard=case.guard | guard)
                        for case in self.words.named(name, subscript)
                        if not contradicts(case.guard, guard)
                    ]
            value = merged(cases, shell.fresh())
            word = None if subscript is None else Word(0, 0, (Literal(0, 0, subscript),))
            is_known = all(case.is_set for case in value)
            shell.assignments.assign(name, word, value, self.place)
            if not is_known and subscript is None and shell.variable(name).elements is None:
                variable = shell.variable(name)
                shell.state.variables[name] = variable._replace(value=value)


def _shown(pieces: tuple[Piece, ...]) -> str:
    return "".join(piece.value[0].text for piece in pieces)


def _is_sparse(variable: Variable) -> bool:
    assert variable.elements is not None
    return in_order(variable) != [str(number) for number in range(len(variable.elements))]


def split(text: str, separators: str) -> list[tuple[str | None, bool]]:
    """The words of a text; (None, True) stands for separators before the first. The second tells whether a separator
    follows."""
    blanks = "".join(mark for mark in separators if mark in _BLANKS)
    others = "".join(mark for mark in separators if mark not in _BLANKS)
    if not separators:
        return [(text, False)] if text else []
    if not others:
        words: list[tuple[str | None, bool]] = []
        found = re.split(f"[{re.escape(blanks)}]+", text)
        if found and found[0] == "" and text:
            words.append((None, True))
        for number, word in enumerate(found):
            if word:
                words.append((word, number < len(found) - 1))
        return words
    stripped = text.strip(blanks) if blanks else text
    gap = f"[{re.escape(others)}]"
    if blanks:
        gap = f"[{re.escape(blanks)}]*{gap}[{re.escape(blanks)}]*|[{re.escape(blanks)}]+"
    pieces = re.split(gap, stripped)
    ends = bool(pieces) and pieces[-1] == "" and len(pieces) > 1
    if ends:
        pieces.pop()
    last = len(pieces) - 1
    lead: list[tuple[str | None, bool]] = [(None, True)] if text[:1] and text[0] in blanks else []
    if not stripped:
        return lead
    trailing = ends or (text[-1:] != "" and text[-1] in blanks)
    return [*lead, *((piece, number < last or trailing) for number, piece in enumerate(pieces))]


_CASES: dict[str, Callable[[str], str]] = {
    "^^": str.upper,
    ",,": str.lower,
    "^": lambda text: text[:1].upper() + text[1:],
    ",": lambda text: text[:1].lower() + text[1:],
}
