"""What a script would do, worked out from its text: no line of it is run, no file is touched.

The evaluation walks through the commands with values of which each is certain, one of several, or unknown. Where a
question cannot be answered both ways are followed, and joined behind. It takes a bounded number of steps: a loop that
goes on longer, or whose end nobody knows, leaves what it assigns unknown.

Two things are taken for granted. The environment and files that could not be read set no variable that the script
itself assigns or gives a default. And programs that the script starts change no variable of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from attrs import define, field, frozen

from nmlgen.script.assigned import assigned_names
from nmlgen.script.builtins import BUILTINS, run_external
from nmlgen.script.conditions import SUCCESS, Questions, Truth, conjunction, negation, status_of, truth
from nmlgen.script.events import Copied, Event, Field, Opened, Piece, Written
from nmlgen.script.expand import Expansion
from nmlgen.script.parser import parse
from nmlgen.script.patterns import Pattern, UndecidedPattern, matches
from nmlgen.script.posix_expressions import Untranslatable, translate_ere
from nmlgen.script.state import State, Variable, havoc, join
from nmlgen.script.syntax import (
    AndOr,
    ArithmeticCommand,
    ArithmeticFor,
    Array,
    Assignment,
    Background,
    Case,
    Command,
    CommandSubstitution,
    For,
    Function,
    Group,
    If,
    Literal,
    Pipeline,
    Redirection,
    Script,
    Sequence,
    Simple,
    Test,
    TestExpression,
    TestJoin,
    TestNot,
    TestUnary,
    While,
    Word,
)
from nmlgen.script.values import (
    ALWAYS,
    EMPTY,
    Guard,
    Place,
    Possibility,
    Value,
    contradicts,
    joined,
    known,
    mapped,
    merged,
    text_of,
    under,
    unknown,
    unset,
    within,
)
from nmlgen.source import UNKNOWN, Source, Text

_MOST_STEPS = 40_000
_MOST_ITERATIONS = 500
_MOST_CALLS = 30
_MOST_SOURCED = 1_000_000
_SYSTEM = frozenset(
    [
        "HOME",
        "USER",
        "LOGNAME",
        "PATH",
        "PWD",
        "OLDPWD",
        "SHELL",
        "HOSTNAME",
        "HOST",
        "TERM",
        "TMPDIR",
        "LANG",
        "UID",
        "EUID",
        "PPID",
        "RANDOM",
        "SECONDS",
        "LINENO",
        "BASH",
        "BASH_VERSION",
        "BASH_SOURCE",
        "FUNCNAME",
        "PIPESTATUS",
        "REPLY",
        "OPTARG",
        "OPTIND",
        "LD_LIBRARY_PATH",
        "LD_PRELOAD",
        "MODULESHOME",
        "SCRATCH",
        "WORK",
        "PROJECT",
    ]
)
_SYSTEM_PREFIX = re.compile(r"(?:SLURM|SBATCH|PBS|LSB|LOADL|I_MPI|OMPI|BASH)_")
"""Variables that the surroundings of a job set as a rule, whatever the script's author wrote."""


class _GiveUpError(Exception):
    """The script takes more steps than an evaluation follows."""


@frozen(eq=False)
class Evaluation:
    """What a script would do.

    `events` are in the order of the script. `visited` are the here-documents (by their place) that some way of the
    script comes to. `unresolved` are the files that it sources and that could not be read; `is_complete` is false
    where the evaluation gave up before the script's end. `final` are the variables at the end.
    """

    script: Script
    sourced: tuple[Script, ...]
    events: tuple[Event, ...]
    visited: frozenset[tuple[int, int]]
    unresolved: tuple[Place, ...]
    is_complete: bool
    final: Mapping[str, Variable]
    questions: Questions


def evaluate(
    script: Script,
    *,
    directory: Path | None = None,
    variables: Mapping[str, str | None] | None = None,
    is_fragment: bool = False,
) -> Evaluation:
    """Work out what a script would do.

    `directory` is where the script lies, for the files that it sources; `variables` are given from outside, None for
    a variable that is set to something unknown. Of a fragment all that it does not set itself is unknown.
    """
    shell = Interpreter(script, directory, variables or {}, is_fragment)
    return shell.evaluate()


@define(eq=False)
class Sink:
    """Where output goes: into a file (`path`), or into `caught`, each piece with the guard under which."""

    path: Value | None = None
    caught: list[tuple[Guard, tuple[Piece, ...]]] = field(factory=list)


class Interpreter:
    """Walks through a script; see `evaluate`."""

    def __init__(
        self, script: Script, directory: Path | None, variables: Mapping[str, str | None], is_fragment: bool
    ) -> None:
        self.script, self.directory, self.is_fragment = script, directory, is_fragment
        self.text = script.text
        self.questions = Questions()
        self.words = Expansion(self)
        self.current: State | None = State()
        self.events: list[Event] = []
        self.sink: Sink | None = None
        self.input: tuple[Piece, ...] | None = None
        self.is_ksh = _is_ksh(script.source)
        self.visited: set[tuple[int, int]] = set()
        self.unresolved: list[Place] = []
        self.sourced: list[Script] = []
        self._given = variables
        self._own = assigned_names(script.body)
        self._missing: dict[str, Variable] = {}
        self._steps = 0
        self._depth = 0
        self._left: dict[str, list[tuple[int, State]]] = {"return": [], "break": [], "continue": []}

    # --- What the expansion of words needs ---

    @property
    def state(self) -> State:
        """The state of the way that is being followed."""
        assert self.current is not None
        return self.current

    @property
    def guard(self) -> Guard:
        """The guard of the way that is being followed."""
        return self.current.guard if self.current is not None else ALWAYS

    def fresh(self) -> int:
        """A symbol for something unknown."""
        return self.questions.fresh()

    def variable(self, name: str) -> Variable:
        """A variable, or what a variable is that nothing has set so far."""
        found = self.state.variables.get(name)
        if found is None:
            found = self._missing.get(name)
            if found is None:
                found = self._missing[name] = self._absent(name)
        return found

    def _absent(self, name: str) -> Variable:
        if name in self._given:
            text = self._given[name]
            return Variable(unknown(("given", name)) if text is None else known(text))
        if name in _SYSTEM or _SYSTEM_PREFIX.match(name):
            return Variable((Possibility(ALWAYS, UNKNOWN, (("system", name),), None),))
        if self.is_fragment or self.unresolved or name.isupper():
            return Variable((Possibility(ALWAYS, UNKNOWN, (("environment", name),), None),))
        return Variable(unset(name))

    def is_foreign(self, name: str) -> bool:
        """Whether only the surroundings might set a variable, and do not as a rule."""
        if name in self._given or name in _SYSTEM or _SYSTEM_PREFIX.match(name):
            return False
        return self.current is not None and name not in self.state.variables

    def special(self, name: str) -> Value:
        """`$?`, `$#` and the other parameters whose names are no names."""
        if name == "?":
            return within(self.state.status, self.guard)
        if name == "#":
            positional = self.state.positional
            return unknown(self.fresh()) if positional is None else known(str(len(positional)))
        return unknown(("parameter", name))

    def separators(self) -> str | None:
        """The characters of IFS; None if they are not known."""
        variable = self.state.variables.get("IFS")
        if variable is None or variable.value[0].is_set is False:
            return " \t\n"
        return text_of(within(variable.value, self.guard))

    def substitute(self, part: CommandSubstitution) -> Value:
        """What a command substitution brings."""
        body = part.body
        if len(body.commands) == 1 and isinstance(body.commands[0], Simple):
            only = body.commands[0]
            if not only.words and len(only.redirections) == 1:  # $(<file)
                self.words.text(only.redirections[0].target)
                return unknown(self.fresh())
        start = self.state
        caught = self._in_subshell(lambda: self.run_sequence(body))
        status = start.status
        start.status = self._subshell_status or status
        value = self.composed(caught, start.guard)
        return tuple(case._replace(text=case.text.rstrip("\n")) for case in value)

    def _in_subshell(self, run: Callable[[], object]) -> list[tuple[Guard, tuple[Piece, ...]]]:
        """What commands write whose changes to the state are lost."""
        start, sink, left = self.state, self.sink, self._left
        self.current, self.sink = start.copy(), Sink()
        self._left = {"return": [], "break": [], "continue": []}
        self._depth += 1
        try:
            if self._depth > _MOST_CALLS * 4:
                raise _GiveUpError
            run()
            caught = self.sink.caught if self.sink is not None else []
            self._subshell_status = self.current.status if self.current is not None else unknown(self.fresh())
        finally:
            self._depth -= 1
            self.current, self.sink, self._left = start, sink, left
        return caught

    _subshell_status: Value | None = None

    def composed(self, caught: list[tuple[Guard, tuple[Piece, ...]]], base: Guard) -> Value:
        """What was written, as one value: what was written under a guard is there or is not."""
        rows: list[Value] = []
        for guard, pieces in caught:
            if not pieces:
                continue
            value = joined([piece.value for piece in pieces], self.fresh())
            more = guard - base
            if more:
                absent = tuple(Possibility(frozenset((-answer,)), "") for answer in more)
                value = (*under(value, more), *absent)
            rows.append(value)
        return joined(rows, self.fresh()) if rows else EMPTY

    # --- Assignments ---

    def assign(self, name: str, subscript: Word | None, value: Value, place: Place, *, appends: bool = False) -> None:
        """Give a variable, or an element of an array, a value."""
        state = self.state
        old = self.variable(name)
        attributes = old.attributes
        if subscript is not None or old.elements is not None:
            self._assign_element(name, subscript, old, value, place, appends)
            return
        if appends:
            value = self._appended(old.value, value, attributes, place)
        elif "i" in attributes:
            value = self.words.calculated(value, place)
        if attributes and attributes != {"x"}:
            value = self._formatted(value, attributes)
        value = tuple(
            case._replace(origin=place if case.origin is None or case.symbols == () else case.origin, is_set=True)
            for case in value
        )
        state.variables[name] = Variable(value, None, attributes)

    def _appended(self, old: Value, value: Value, attributes: frozenset[str], place: Place) -> Value:
        if "i" in attributes:
            return self.words.calculated(joined([old, known("+("), value, known(")")], self.fresh()), place)
        return joined([within(old, self.guard), value], self.fresh())

    def _assign_element(
        self, name: str, subscript: Word | None, old: Variable, value: Value, place: Place, appends: bool
    ) -> None:
        elements = dict(old.elements or {})
        if old.elements is None and old.value[0].is_set is not False and "A" not in old.attributes:
            if old.value[0].is_set is None:
                self.state.variables[name] = havoc(name, Variable(EMPTY, {}, old.attributes), self.fresh())
                old = self.state.variables[name]
                elements = {}
            else:
                elements["0"] = old.value
        key = "0" if subscript is None else self.words.subscript(Variable(EMPTY, elements, old.attributes), subscript)
        if key is None:
            self.state.variables[name] = havoc(name, Variable(EMPTY, {}, old.attributes), self.fresh())
            return
        if appends:
            value = self._appended(elements.get(key, EMPTY), value, old.attributes, place)
        value = tuple(case._replace(origin=place, is_set=True) for case in value)
        elements[key] = value
        self.state.variables[name] = Variable(EMPTY, elements, old.attributes, old.is_open)

    def assign_array(self, name: str, array: Array, place: Place, *, appends: bool) -> None:
        """`name=( ... )`."""
        old = self.variable(name)
        attributes = old.attributes
        elements: dict[str, Value] = {}
        is_open = False
        if appends:
            is_open = old.is_open or (old.elements is None and old.value[0].is_set is None)
            if old.elements is not None:
                elements = dict(old.elements)
            elif old.value[0].is_set:
                elements = {"0": old.value}
        index = max((int(key) for key in elements if key.isdigit()), default=-1) + 1
        for element in array.elements:
            if isinstance(element, Assignment):
                variable = Variable(EMPTY, elements, attributes)
                key = self.words.subscript(variable, element.subscript) if element.subscript is not None else None
                if key is None or isinstance(element.value, Array):
                    is_open = True
                    continue
                elements[key] = self._set(self.words.text(element.value), place)
                index = int(key) + 1 if key.isdigit() else index
                continue
            for item in self.words.fields((element,)):
                if item.is_vague:
                    is_open = True
                elements[str(index)] = self._set(item.value, place)
                index += 1
        if is_open:
            elements = {}
        self.state.variables[name] = Variable(EMPTY, elements, attributes, is_open)

    def _set(self, value: Value, place: Place) -> Value:
        return tuple(case._replace(origin=place, is_set=True) for case in value)

    def _formatted(self, value: Value, attributes: frozenset[str]) -> Value:
        """What typeset's attributes make of a value."""
        for attribute in sorted(attributes):
            letter, width = attribute[0], attribute[1:]
            if letter == "u":
                value = mapped(value, str.upper, self.fresh())
            elif letter == "l":
                value = mapped(value, str.lower, self.fresh())
            elif letter == "Z" and width.isdigit():
                value = mapped(value, lambda text, size=int(width): _zero_padded(text, size), self.fresh())  # type: ignore[misc]
            elif letter in "LRZF" or (letter == "i" and width):
                value = unknown(self.fresh())
        return value

    def forget(self, name: str) -> None:
        """A variable gets a value that nobody knows."""
        if self.current is not None:
            self.state.variables[name] = havoc(name, self.state.variables.get(name), self.fresh())

    def forget_all(self, names: Iterable[str]) -> None:
        """So do several."""
        for name in names:
            self.forget(name)

    def forget_everything(self) -> None:
        """Any variable may have any value."""
        self.forget_all(list(self.state.variables))
        self.forget_all(self._own - self.state.variables.keys())

    # --- Output ---

    def write(self, pieces: tuple[Piece, ...], place: Place) -> None:
        """Commands write text to their standard output."""
        sink = self.sink
        if sink is None or not pieces:
            return
        if sink.path is None:
            sink.caught.append((self.guard, pieces))
        else:
            self.events.append(Written(sink.path, self.guard, place, pieces))

    def write_value(self, value: Value, place: Place) -> None:
        """The same with a text that is no stretch of the script."""
        self.write((Piece(place, value, True),), place)

    def copy_file(self, path: Value, place: Place) -> None:
        """A file's text goes to the standard output."""
        sink = self.sink
        if sink is not None and sink.path is not None:
            self.events.append(Copied(path, sink.path, self.guard, place, appends=True))
        else:
            self.write_value(unknown(self.fresh()), place)

    # --- Commands ---

    def evaluate(self) -> Evaluation:
        """Walk through the whole script."""
        is_complete = True
        try:
            self.run_sequence(self.script.body)
        except (_GiveUpError, RecursionError):
            is_complete = False
        final = self.current.variables if self.current is not None else {}
        return Evaluation(
            self.script,
            tuple(self.sourced),
            tuple(self.events),
            frozenset(self.visited),
            tuple(self.unresolved),
            is_complete,
            final,
            self.questions,
        )

    def run_sequence(self, sequence: Sequence) -> None:
        """Run commands one after the other, as long as the script goes on."""
        for command in sequence.commands:
            if self.current is None:
                return
            self.run(command)

    def run(self, command: Command) -> None:
        """Run a command; its exit status is that of the state afterwards, if the script goes on."""
        self._steps += 1
        if self._steps > _MOST_STEPS:
            raise _GiveUpError
        if self.current is not None:
            _RUN[type(command)](self, command)

    def branch(self, asked: Truth, yes: Callable[[], None], no: Callable[[], None]) -> None:
        """Follow both ways of a question that is open, or the one that the answer leads to."""
        start = self.state
        trues = [guard for guard, answer in asked if answer and not contradicts(guard, start.guard)]
        falses = [guard for guard, answer in asked if not answer and not contradicts(guard, start.guard)]
        if not falses:
            yes()
            return
        if not trues:
            no()
            return
        into, out = self._sides(trues, falses)
        self.current = start.copy(start.guard | into)
        yes()
        after = self.current
        self.current = start
        start.guard |= out
        no()
        if after is None or self.current is None:
            remaining = after or self.current
            if remaining is not None and all(self.questions.is_fresh(answer) for answer in into | out):
                remaining.guard -= into | out  # nobody asks again, so the answer need not be remembered
            self.current = remaining
            return
        self.current = join(after, self.current)

    def _sides(self, trues: list[Guard], falses: list[Guard]) -> tuple[Guard, Guard]:
        """One guard for all the ways in, one for all the ways out."""
        if len(trues) == 1 and len(falses) == 1:
            return trues[0], falses[0]
        yes, no = self.questions.ask(("one of", frozenset(trues), frozenset(falses)))
        shared = frozenset.intersection(*trues), frozenset.intersection(*falses)
        return yes[0] | shared[0], no[0] | shared[1]

    def _succeeded(self) -> Truth:
        return self.questions.truth_of(within(self.state.status, self.guard))

    def _set_status(self, status: Value) -> None:
        if self.current is not None:
            self.current.status = status

    def _run_and_or(self, command: AndOr) -> None:
        self.run(command.left)
        if self.current is None:
            return
        asked = self._succeeded()
        if command.operator == "||":
            asked = negation(asked)
        self.branch(asked, lambda: self.run(command.right), lambda: None)

    def _run_if(self, command: If) -> None:
        with_redirections = self._redirected(command.redirections)
        with_redirections(lambda: self._run_branches(command, 0))

    def _run_branches(self, command: If, number: int) -> None:
        if number == len(command.branches):
            if command.otherwise is not None:
                self.run_sequence(command.otherwise)
            else:
                self._set_status(SUCCESS)
            return
        condition, body = command.branches[number]
        self.run_sequence(condition)
        if self.current is None:
            return
        self.branch(self._succeeded(), lambda: self.run_sequence(body), lambda: self._run_branches(command, number + 1))

    def _run_case(self, command: Case) -> None:
        word = within(self.words.text(command.word), self.guard)
        self._redirected(command.redirections)(lambda: self._run_items(command, word, 0))

    def _run_items(self, command: Case, word: Value, number: int) -> None:
        if number == len(command.items):
            self._set_status(SUCCESS)
            return
        item = command.items[number]
        asked: Truth | None = None
        for pattern in item.patterns:
            this = self.matches(word, pattern)
            asked = this if asked is None else negation(conjunction(negation(asked), lambda t=this: negation(t)))  # type: ignore[misc]

        def inside() -> None:
            self._set_status(SUCCESS)
            self.run_sequence(item.body)
            if self.current is None:
                return
            if item.terminator == ";&" and number + 1 < len(command.items):
                self.run_sequence(command.items[number + 1].body)
            elif item.terminator == ";;&":
                self._run_items(command, word, number + 1)

        self.branch(asked or (), inside, lambda: self._run_items(command, word, number + 1))

    def extglob(self, pattern: Pattern) -> bool:
        """Whether `@(a|b)` and its kin are patterns; raises UndecidedPattern if that depends on the shell."""
        if self.is_ksh or "extglob" in self.state.options:
            return True
        if self.is_ksh is None and any(re.search(r"[?*+@!]\(", text) for text, quoted in pattern if not quoted):
            raise UndecidedPattern("a pattern that only some shells know")
        return False

    def matches(self, word: Value, pattern: Word, *, always_extglob: bool = False) -> Truth:
        """Whether a text matches a pattern."""
        rows = self.words.pattern(pattern)

        def decide(cases: tuple[Possibility, ...]) -> Truth:
            first, *rest = cases
            pairs = tuple((case.text, quoted) for case, (_, quoted) in zip(rest, rows, strict=True))
            if any(case.symbols for case in rest):
                return self.questions.ask()
            if not any(mark in text for text, quoted in pairs if not quoted for mark in "*?[+@!("):
                return self.questions.equal(first, Possibility(ALWAYS, "".join(text for text, _ in pairs)))
            if not first.symbols:
                try:
                    return truth(matches(pairs, first.text, extglob=always_extglob or self.extglob(pairs)))
                except UndecidedPattern:
                    return self.questions.ask()
            if all(text.strip("*") == "" for text, _ in pairs):
                return truth(True)
            return self.questions.ask(("matches", first[1:3], pairs))

        return self.questions.every_way([word, *(within(row, self.guard) for row, _ in rows)], decide)

    def _run_for(self, command: For) -> None:
        self._redirected(command.redirections)(lambda: self._loop_over(command))

    def _loop_over(self, command: For) -> None:
        place = Place(self.text, command.start, command.end)
        if command.words is None:
            positional = self.state.positional
            items = None if positional is None else [Field(value, place, ()) for value in positional]
        else:
            items = self.words.fields(command.words)
            if len(items) == 1 and items[0].is_vague and len(items[0].value) > 1:
                self._loop_over_cases(command, items[0].value, place)
                return
        if items is None or command.is_select or any(item.is_vague for item in items) or len(items) > _MOST_ITERATIONS:
            self._loop_unknown(command.body, place, command.name)
            return
        self._loop_over_items(command, [item.value for item in items], place)

    def _loop_over_items(self, command: For, items: list[Value], place: Place) -> None:
        self._set_status(SUCCESS)
        iterator = iter(items)

        def step() -> bool:
            for value in iterator:
                self.assign(command.name, None, value, place)
                return True
            return False

        self._iterate(command.body, step)

    def _loop_over_cases(self, command: For, value: Value, place: Place) -> None:
        """A list that is one of several: each in turn, under its guard."""
        separators = self.separators()
        if separators is None or any(case.symbols for case in value) or len(value) > 4:
            self._loop_unknown(command.body, place, command.name)
            return
        first, *rest = value

        def run(case: Possibility) -> None:
            items = [known(word) for word in case.text.split() if word]
            self._loop_over_items(command, items, place)

        if not rest:
            run(first)
            return
        asked: Truth = ((first.guard, True), *((case.guard, False) for case in rest))
        self.branch(asked, lambda: run(first), lambda: self._loop_over_cases(command, tuple(rest), place))

    def _iterate(self, body: Sequence, step: Callable[[], bool]) -> None:
        """Run the body for every step; `break` and `continue` end where they should."""
        breaks, continues = self._left["break"], self._left["continue"]
        self._left["break"], self._left["continue"] = [], []
        try:
            count = 0
            while self.current is not None and step():
                count += 1
                if count > _MOST_ITERATIONS * 4:
                    raise _GiveUpError
                self.run_sequence(body)
                self._rejoin("continue", continues)
            self._rejoin("break", breaks)
        finally:
            self._left["break"], self._left["continue"] = (
                breaks + self._left["break"],
                continues + self._left["continue"],
            )

    def _rejoin(self, kind: str, outer: list[tuple[int, State]]) -> None:
        """Those who left by `break` or `continue` are back; those who left several loops go on leaving."""
        for levels, state in self._left[kind]:
            if levels > 1:
                outer.append((levels - 1, state))
            else:
                self.current = join(self.current, state)
        self._left[kind] = []

    def _loop_unknown(self, body: Sequence, place: Place, name: str | None, condition: Sequence | None = None) -> None:
        """A loop of which nobody knows how often it runs: what it assigns is unknown, what it writes may come
        any number of times."""
        names = assigned_names(body, self.state.functions)
        if condition is not None:
            names |= assigned_names(condition, self.state.functions)
        yes, no = self.questions.ask()
        start = self.state
        self.current = start.copy(start.guard | yes[0])
        self.forget_all(names)
        if name is not None:
            self.forget(name)
        if condition is not None:
            self.run_sequence(condition)
        mark = len(self.events)
        sink = self.sink
        self._write_unknown(place)

        once = iter((True,))
        self._iterate(body, lambda: next(once, False))
        self._around(mark, place)
        if self.current is not None:
            self._write_unknown(place)
            self.forget_all(names)
            if name is not None:
                self.forget(name)
        after = self.current
        self.sink = sink
        start.guard |= no[0]
        if name is not None and name not in start.variables:
            start.variables[name] = havoc(name, None, self.fresh())
        self.current = join(after, start)
        self._set_status(unknown(self.fresh()))

    def _write_unknown(self, place: Place) -> None:
        if self.sink is not None:
            self.write_value(unknown(self.fresh()), place)

    def _around(self, mark: int, place: Place) -> None:
        """Whatever a loop wrote to files may stand there several times."""
        written = self.events[mark:]
        doubtful: dict[Value, Guard] = {}
        for event in written:
            if isinstance(event, (Written, Copied, Opened)):
                doubtful.setdefault(event.path, event.guard)
        before: list[Event] = []
        after: list[Event] = []
        for path, guard in doubtful.items():
            piece = (Piece(place, unknown(self.fresh()), True),)
            before.append(Written(path, guard, place, piece))
            after.append(Written(path, guard, place, (Piece(place, unknown(self.fresh()), True),)))
        self.events[mark:] = [*before, *written, *after]

    def _run_while(self, command: While) -> None:
        self._redirected(command.redirections)(lambda: self._loop_while(command))

    def _loop_while(self, command: While) -> None:
        place = Place(self.text, command.start, command.end)
        count = 0
        undecided = False

        def step() -> bool:
            nonlocal count, undecided
            count += 1
            self.run_sequence(command.condition)
            if self.current is None:
                return False
            asked = self._succeeded()
            if command.is_until:
                asked = negation(asked)
            answers = {answer for guard, answer in asked if not contradicts(guard, self.guard)}
            if len(answers) > 1 or count > _MOST_ITERATIONS:
                undecided = True
                return False
            return answers == {True}

        self._iterate(command.body, step)
        if undecided and self.current is not None:
            self._loop_unknown(command.body, place, None, command.condition)
        else:
            self._set_status(SUCCESS)

    def _run_arithmetic_for(self, command: ArithmeticFor) -> None:
        self._redirected(command.redirections)(lambda: self._loop_arithmetic(command))

    def _loop_arithmetic(self, command: ArithmeticFor) -> None:
        place = Place(self.text, command.start, command.end)
        if command.first.parts:
            self.words.arithmetic(command.first)
        count = 0
        undecided = False

        def step() -> bool:
            nonlocal count, undecided
            if count and command.step.parts:
                self.words.arithmetic(command.step)
            count += 1
            if not command.condition.parts:
                undecided = count > _MOST_ITERATIONS
                return not undecided
            number = text_of(within(self.words.arithmetic(command.condition), self.guard))
            undecided = number is None or count > _MOST_ITERATIONS
            return not undecided and number != "0"

        self._iterate(command.body, step)
        if undecided and self.current is not None:
            names = _arithmetic_names(command.step) | _arithmetic_names(command.condition)
            self.forget_all(names)
            self._loop_unknown(command.body, place, None)
            if self.current is not None:
                self.forget_all(names)

    def _run_function(self, command: Function) -> None:
        self.state.functions[command.name] = (command, self.text)
        self._set_status(SUCCESS)

    def call(self, name: str, arguments: list[Field]) -> None:
        """Call a function of the script."""
        found = self.state.functions[name]
        if found is None or self._depth >= _MOST_CALLS:
            self.forget_everything()
            self._set_status(unknown(self.fresh()))
            return
        function, text = found
        state = self.state
        outer, outer_text, returns = state.positional, self.text, self._left["return"]
        state.positional = None if any(item.is_vague for item in arguments) else tuple(a.value for a in arguments)
        state.scopes = (*state.scopes, {})
        self._left["return"] = []
        self._depth += 1
        self.text = text
        try:
            self.run(function.body)
            for _, returned in self._left["return"]:
                self.current = join(self.current, returned)
        finally:
            self._depth -= 1
            self.text = outer_text
            self._left["return"] = returns
        if self.current is not None:
            self.current.positional = outer
            *scopes, hidden = self.current.scopes
            for variable, old in hidden.items():
                if old is None:
                    self.current.variables.pop(variable, None)
                else:
                    self.current.variables[variable] = old
            self.current.scopes = tuple(scopes)

    def leave(self, kind: str, levels: int = 1) -> None:
        """`return`, `break`, `continue`: this way goes on elsewhere. `exit`: it ends."""
        if kind != "exit":
            self._left[kind].append((levels, self.state))
        self.current = None

    def source(self, field: Field, arguments: list[Field]) -> None:
        """`. file`: its commands, if it can be read."""
        path = self._sourced_path(text_of(within(field.value, self.guard)))
        if path is None or len(self.sourced) > _MOST_CALLS or self._depth >= _MOST_CALLS:
            self.unresolved.append(field.place)
            self._missing = {}
            self._set_status(unknown(self.fresh()))
            return
        script = parse(Source(str(path), path.read_bytes().decode("utf-8", "surrogateescape")))
        self.sourced.append(script)
        self._own |= assigned_names(script.body)
        outer, returns, positional = self.text, self._left["return"], self.state.positional
        self.text, self._left["return"] = script.text, []
        if arguments:
            self.state.positional = tuple(item.value for item in arguments)
        self._depth += 1
        try:
            self.run_sequence(script.body)
            for _, returned in self._left["return"]:
                self.current = join(self.current, returned)
        finally:
            self._depth -= 1
            self.text, self._left["return"] = outer, returns
        if self.current is not None and arguments:
            self.current.positional = positional

    def _sourced_path(self, name: str | None) -> Path | None:
        """The file that a name means, from the script's directory; one that only lies elsewhere on the machine the
        script was written for is looked for beside the script if the directory's name is the same."""
        if not name or "\0" in name:
            return None
        here = self.directory
        candidates = [Path(name)] if name.startswith("/") else []
        if here is not None:
            candidates.append(here / name)
            if Path(name).parent.name == here.resolve().name:
                candidates.append(here / Path(name).name)
        for path in candidates:
            try:
                if path.is_file() and path.stat().st_size <= _MOST_SOURCED:
                    return path
            except OSError:
                continue
        return None

    def run_text(self, text: str, place: Place) -> None:
        """`eval` of a text that is known."""
        script = parse(Source(self.text.source.name, text))
        outer = self.text
        self.text = Text(script.source)
        self._depth += 1
        try:
            if self._depth > _MOST_CALLS or any(problem.stops for problem in script.problems):
                self.forget_everything()
            else:
                self.text = _Elsewhere(script.source, outer, place.start, place.end)
                self.run_sequence(script.body)
        finally:
            self._depth -= 1
            self.text = outer

    def _run_simple(self, command: Simple) -> None:
        place = Place(self.text, command.start, command.end)
        if not command.words:
            self.state.status = SUCCESS
            for assignment in command.assignments:
                self.assign_written(assignment)
            if command.redirections:
                self._redirected(command.redirections)(lambda: None)
            return
        fields = self.words.fields(command.words)
        if not fields:
            self._set_status(SUCCESS)
            return
        name = text_of(within(fields[0].value, self.guard))
        if (
            name is not None
            and name in ("command", "builtin", "nohup", "exec")
            and len(fields) > 1
            and (name != "exec" or text_of(fields[1].value) in BUILTINS)
        ):
            fields = fields[1:]
            name = text_of(within(fields[0].value, self.guard))
        if name == "exec" and len(fields) == 1:
            self._redirect_for_good(command.redirections)
            return

        def run() -> None:
            if name is not None and name in self.state.functions:
                self.call(name, fields[1:])
            elif name is not None and name in BUILTINS:
                BUILTINS[name](self, fields, command, place)
            else:
                run_external(self, name, fields, place)

        hidden: dict[str, Variable | None] = {}
        if command.assignments:
            hidden = {a.name: self.state.variables.get(a.name) for a in command.assignments}
            for assignment in command.assignments:
                self.assign_written(assignment)
                variable = self.state.variables[assignment.name]
                self.state.variables[assignment.name] = variable._replace(attributes=variable.attributes | {"x"})
        self._redirected(command.redirections)(run)
        if hidden and self.current is not None:
            for variable_name, old in hidden.items():
                if old is None:
                    self.state.variables.pop(variable_name, None)
                else:
                    self.state.variables[variable_name] = old

    def assign_written(self, assignment: Assignment) -> None:
        """An assignment as it stands in a script."""
        place = Place(self.text, assignment.start, assignment.end)
        if isinstance(assignment.value, Array):
            self.assign_array(assignment.name, assignment.value, place, appends=assignment.appends)
        else:
            value = self.words.text(assignment.value)
            self.assign(assignment.name, assignment.subscript, value, place, appends=assignment.appends)

    def _run_arithmetic(self, command: ArithmeticCommand) -> None:
        value = self.words.arithmetic(command.expression)
        cases = [
            case._replace(text="1" if case.text == "0" else "0", is_set=True) if not case.symbols else case
            for case in value
        ]
        self._set_status(merged(cases, self.fresh()))

    def _run_test(self, command: Test) -> None:
        asked = self._truth(command.expression)
        self._set_status(status_of(asked))

    def _truth(self, expression: TestExpression) -> Truth:
        """The truth of an expression within `[[ ]]`."""
        if isinstance(expression, TestNot):
            return negation(self._truth(expression.operand))
        if isinstance(expression, TestJoin):
            left = self._truth(expression.left)
            if expression.operator == "&&":
                return conjunction(left, lambda: self._truth(expression.right))
            return negation(conjunction(negation(left), lambda: negation(self._truth(expression.right))))
        if isinstance(expression, TestUnary):
            return self._unary(expression)
        operator = expression.operator
        left_value = within(self.words.text(expression.left), self.guard)
        if operator in ("==", "="):
            return self.matches(left_value, expression.right, always_extglob=True)
        if operator == "!=":
            return negation(self.matches(left_value, expression.right, always_extglob=True))
        right_value = within(self.words.text(expression.right), self.guard)
        if operator == "=~":
            self.forget("BASH_REMATCH")
            return self._regular(left_value, expression.right)
        if operator in ("<", ">"):
            return self.questions.every_way(
                [left_value, right_value],
                lambda cases: (
                    self.questions.ask()
                    if cases[0].symbols or cases[1].symbols
                    else truth((cases[0].text < cases[1].text) is (operator == "<") and cases[0].text != cases[1].text)
                ),
            )
        if operator.startswith("-") and operator in ("-eq", "-ne", "-lt", "-le", "-gt", "-ge"):
            place = Place(self.text, expression.left.start, expression.right.end)
            values = [self.words.calculated(value, place) for value in (left_value, right_value)]
            return self.questions.every_way(values, lambda cases: self.questions.compare(operator, cases[0], cases[1]))
        return self.questions.ask()

    def _regular(self, value: Value, word: Word) -> Truth:
        rows = self.words.pattern(word)

        def decide(cases: tuple[Possibility, ...]) -> Truth:
            first, *rest = cases
            if any(case.symbols for case in cases):
                return self.questions.ask()
            pairs = tuple((case.text, quoted) for case, (_, quoted) in zip(rest, rows, strict=True))
            try:
                expression = translate_ere(pairs)
            except Untranslatable:
                return self.questions.ask()
            found = expression.pattern.search(first.text)
            certain = expression.has_certain_span and self.is_ksh is False
            if certain and len(value) == 1 and all(len(row) == 1 for row, _ in rows):
                groups = [found[0], *found.groups(default="")] if found else []
                elements = {str(number): known(text) for number, text in enumerate(groups)}
                self.state.variables["BASH_REMATCH"] = Variable(EMPTY, elements)
            return truth(found is not None)

        return self.questions.every_way([value, *(within(row, self.guard) for row, _ in rows)], decide)

    def _unary(self, expression: TestUnary) -> Truth:
        operator = expression.operator
        if operator == "-v":
            name = expression.operand.literal
            if name is not None and name.isidentifier():
                return self.is_set(name)
            return self.questions.ask()
        value = within(self.words.text(expression.operand), self.guard)
        return self.ask_unary(operator, value)

    def is_set(self, name: str) -> Truth:
        """Whether a variable is set."""
        variable = self.variable(name)
        if variable.elements is not None:
            return self.questions.ask() if variable.is_open else truth(bool(variable.elements))
        return self.questions.every_way(
            [within(variable.value, self.guard)],
            lambda cases: (
                truth(cases[0].is_set)
                if cases[0].is_set is not None
                else self.questions.ask(("set", name, cases[0].symbols))
            ),
        )

    def ask_unary(self, operator: str, value: Value) -> Truth:
        """`-n text`, `-z text`, and what is asked of files."""
        if operator in ("-n", "-z"):
            asked = self.questions.every_way([value], lambda cases: self.questions.is_empty(cases[0]))
            return asked if operator == "-z" else negation(asked)
        if operator in ("-f", "-e", "-a", "-s", "-r", "-d", "-w", "-x", "-L", "-h"):
            empty = text_of(value) == ""
            return truth(False) if empty else self.questions.ask()
        return self.questions.ask()

    def _run_group(self, command: Group) -> None:
        def run() -> None:
            if not command.is_subshell:
                self.run_sequence(command.body)
                return
            sink = self.sink
            start, left = self.state, self._left
            self.current = start.copy()
            self._left = {"return": [], "break": [], "continue": []}
            self.run_sequence(command.body)
            status = self.current.status if self.current is not None else unknown(self.fresh())
            self.current, self._left, self.sink = start, left, sink
            self._set_status(status)

        self._redirected(command.redirections)(run)

    def _run_background(self, command: Background) -> None:
        start, left = self.state, self._left
        self.current = start.copy()
        self._left = {"return": [], "break": [], "continue": []}
        self.run(command.command)
        self.current, self._left = start, left
        self._set_status(SUCCESS)

    def _run_pipeline(self, command: Pipeline) -> None:
        outer_input = self.input
        last = len(command.commands) - 1
        for number, stage in enumerate(command.commands):
            if number < last:
                caught = self._in_subshell(lambda stage=stage: self.run(stage))  # type: ignore[misc]
                self.input = self._pieces(caught)
            else:
                self._run_last(stage, is_only=number == 0)
        self.input = outer_input
        if command.is_negated and self.current is not None:
            asked = negation(self._succeeded())
            self._set_status(status_of(asked))

    def _run_last(self, stage: Command, *, is_only: bool) -> None:
        """ksh runs the last command of a pipeline itself; bash and sh leave it to a subshell."""
        if is_only or self.is_ksh:
            self.run(stage)
            return
        start, left = self.state, self._left
        before = start.copy()
        self._left = {"return": [], "break": [], "continue": []}
        self.run(stage)
        after = self.current
        self._left = left
        if self.is_ksh is None and after is not None:
            yes, no = self.questions.ask(("ksh",))
            status = after.status
            after.guard |= yes[0]
            before.guard |= no[0]
            self.current = join(after, before)
            self._set_status(status)
            return
        before.status = after.status if after is not None else unknown(self.fresh())
        self.current = before

    def _pieces(self, caught: list[tuple[Guard, tuple[Piece, ...]]]) -> tuple[Piece, ...]:
        """What one command of a pipeline writes, for the next to read."""
        base = self.guard
        if all(not guard - base for guard, _ in caught):
            return tuple(piece for _, pieces in caught for piece in pieces)
        place = next(pieces[0].place for _, pieces in caught if pieces)
        return (Piece(place, self.composed(caught, base), True),)

    # --- Redirections ---

    def _redirected(self, redirections: tuple[Redirection, ...]) -> Callable[[Callable[[], None]], None]:
        """A function that runs something with its input and output redirected."""
        if not redirections:
            return lambda run: run()

        def around(run: Callable[[], None]) -> None:
            sink, given = self.sink, self.input
            for redirection in redirections:
                self._redirect(redirection)
            try:
                run()
            finally:
                self.sink, self.input = sink, given

        return around

    def _redirect_for_good(self, redirections: tuple[Redirection, ...]) -> None:
        for redirection in redirections:
            self._redirect(redirection)

    def _redirect(self, redirection: Redirection) -> None:
        operator = redirection.operator
        place = Place(self.text, redirection.start, redirection.end)
        if redirection.heredoc is not None:
            body = redirection.heredoc.body
            if self.text is self.script.text:
                self.visited.add((redirection.start, redirection.end))
            self.input = self.words.pieces(body)
        elif operator == "<<<":
            value = joined([self.words.text(redirection.target), known("\n")], self.fresh())
            self.input = (Piece(place, value, True),)
        elif operator == "<":
            if redirection.descriptor in ("", "0"):
                self.input = None
        elif operator in (">", ">>", ">|", "&>", "&>>", ">&"):
            self._redirect_output(redirection, place)

    def _redirect_output(self, redirection: Redirection, place: Place) -> None:
        operator = redirection.operator
        target = redirection.target.literal
        if operator == ">&" and target is not None and (target.isdigit() or target == "-"):
            if redirection.descriptor in ("", "1"):
                self.sink = None
            return
        if redirection.descriptor not in ("", "1"):
            if operator in (">", ">|") and redirection.descriptor.isdigit():
                path = self.file(self.words.text(redirection.target))
                if text_of(path) != "/dev/null":
                    self.events.append(Opened(path, self.guard, place))
            return
        path = self.file(self.words.text(redirection.target))
        if text_of(path) == "/dev/null":
            self.sink = None
            return
        if not operator.endswith(">>"):
            self.events.append(Opened(path, self.guard, place))
        else:
            self.events.append(Written(path, self.guard, place, ()))
        self.sink = Sink(path)

    def file(self, name: Value) -> Value:
        """The path of a file, from the directory that the script starts in."""
        name = within(name, self.guard)
        directory = within(self.state.directory, self.guard)
        cases = [
            Possibility(
                here.guard | case.guard,
                *_path(here.text, here.symbols, case.text, case.symbols),
                unset=case.unset,
            )
            for case in name
            for here in directory
            if not contradicts(here.guard, case.guard)
        ]
        return merged(cases, self.fresh())


class _Elsewhere(Text):
    """A text that was put together by a script: all of it stands where the script does that."""

    def __init__(self, source: Source, outer: Text, start: int, end: int) -> None:
        super().__init__(source)
        self.outer, self.start, self.end = outer, start, end


def _path(
    directory: str, symbols: tuple[object, ...], name: str, more: tuple[object, ...]
) -> tuple[str, tuple[object, ...]]:
    if name.startswith("/") or not directory:
        return _normalised(name), more
    if name.startswith(UNKNOWN):  # may well be absolute
        return _normalised(name), more
    return _normalised(f"{directory}/{name}"), (*symbols, *more)


def _normalised(path: str) -> str:
    parts: list[str] = []
    for part in path.split("/"):
        if part == "." or (part == "" and parts):
            continue
        if part == ".." and parts and parts[-1] not in ("..", "") and UNKNOWN not in parts[-1]:
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts) or ("/" if path.startswith("/") else "")


def _zero_padded(text: str, width: int) -> str | None:
    if not text.isdigit():
        return None
    return text[-width:] if len(text) >= width else text.rjust(width, "0")


def _arithmetic_names(word: Word) -> frozenset[str]:
    text = "".join(part.text for part in word.parts if isinstance(part, Literal))
    return frozenset(re.findall(r"[A-Za-z_]\w*", text))


def _is_ksh(source: Source) -> bool | None:
    """Whether the first line asks for ksh; None if it asks for no shell in particular."""
    first = source.line(1)
    if not first.startswith("#!"):
        return None
    words = re.findall(r"[^\s/]+", first)
    shells = [word for word in words if word in ("bash", "ksh", "ksh93", "mksh", "pdksh", "sh", "dash", "zsh")]
    if not shells or shells[0] in ("sh", "dash", "zsh"):
        return None
    return shells[0] != "bash"


_RUN: Mapping[type, Callable[..., None]] = {
    Simple: Interpreter._run_simple,
    ArithmeticCommand: Interpreter._run_arithmetic,
    Test: Interpreter._run_test,
    Group: Interpreter._run_group,
    If: Interpreter._run_if,
    Case: Interpreter._run_case,
    For: Interpreter._run_for,
    ArithmeticFor: Interpreter._run_arithmetic_for,
    While: Interpreter._run_while,
    Function: Interpreter._run_function,
    Pipeline: Interpreter._run_pipeline,
    AndOr: Interpreter._run_and_or,
    Background: Interpreter._run_background,
}
