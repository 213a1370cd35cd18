"""What a script would do, worked out from its text: no line of it is run, no file is touched.

The evaluation walks through the commands with values of which each is certain, one of several, or unknown. Where a
question cannot be answered both ways are followed, and joined behind. It takes a bounded number of steps: a loop that
goes on longer, or whose end nobody knows, leaves what it assigns unknown.

Some things are taken for granted. The environment and files that could not be read set no variable that the script
itself assigns or gives a default. Programs that the script starts change no variable of it, and files whose names are
not known are none of those whose names are. What is redirected can be opened. What runs in the background is done
before the next command.

A script may go on in ways that nobody can follow: text that only a run knows is evaluated, or a line of it cannot be
read. Such a way is an event of its own (`Ended`, `lost`), under a question that is not asked again, so that what the
script does if all goes well stays worth knowing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from attrs import frozen

from nmlgen.script.assigned import effects
from nmlgen.script.assignments import DYNAMIC, Assignments
from nmlgen.script.builtins import BUILTINS
from nmlgen.script.checks import Checks
from nmlgen.script.conditions import FAILURE, SUCCESS, Questions, Truth, conjunction, negation, status_of, truth
from nmlgen.script.ends import GiveUpError, WayEndsError
from nmlgen.script.events import Ended, Event, Field, Piece
from nmlgen.script.expand import Expansion
from nmlgen.script.external import run_external
from nmlgen.script.loops import loop_arithmetically, loop_over_words, loop_while
from nmlgen.script.parser import parse
from nmlgen.script.redirections import Streams
from nmlgen.script.state import State, Variable, join, joined_variable
from nmlgen.script.syntax import (
    AndOr,
    ArithmeticCommand,
    ArithmeticFor,
    Background,
    Case,
    Command,
    CommandSubstitution,
    For,
    Function,
    Group,
    If,
    Pipeline,
    Script,
    Sequence,
    Simple,
    Test,
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
    text_of,
    under,
    unknown,
    unset,
    within,
)
from nmlgen.source import UNKNOWN, Source, Span, Text

_MOST_STEPS = 40_000
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
        "BASH",
        "BASHOPTS",
        "SHELLOPTS",
        "BASH_VERSION",
        "BASH_SOURCE",
        "FUNCNAME",
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

_SPECIAL_BUILTINS = frozenset(
    [
        ".",
        ":",
        "break",
        "continue",
        "eval",
        "exec",
        "exit",
        "export",
        "readonly",
        "return",
        "set",
        "shift",
        "trap",
        "typeset",
        "unset",
        "alias",
        "unalias",
    ]
)
"""In ksh, what is assigned before them stays assigned."""


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


class Interpreter:
    """Walks through a script; see `evaluate`.

    `current` is the state of the way that is being followed, None where that has ended. `left` are the states in which
    ways left what is being run, with the number of loops still to leave; those that `exit` a subshell are among them.
    """

    def __init__(
        self, script: Script, directory: Path | None, variables: Mapping[str, str | None], is_fragment: bool
    ) -> None:
        self.script, self.directory, self.is_fragment = script, directory, is_fragment
        self.text = script.text
        self.questions = Questions(self._is_empty)
        self.fresh = self.questions.fresh
        self.words = Expansion(self)
        self.assignments = Assignments(self)
        self.streams = Streams(self)
        self.checks = Checks(self)
        self.current: State | None = State()
        self.events: list[Event] = []
        self.is_ksh = _is_ksh(script.source)
        self.visited: set[tuple[int, int]] = set()
        self.left: dict[str, list[tuple[int, State]]] = _nothing_left()
        self._unresolved: list[Place] = []
        self._sourced: list[Script] = []
        self._given = variables
        self._missing: dict[str, Variable] = {}
        self._own: frozenset[str] | None = None
        self._steps = 0
        self._depth = 0
        self._subshells = 0
        self._departures = 0
        self._substitutions = 0
        self.loops = 0  # how many loops `break` can leave
        self._returnable = 0  # how many functions and sourced files `return` can leave
        self._forgiving = 0  # how many conditions are being run: their failures are none

    # --- The state ---

    @property
    def state(self) -> State:
        """The state of the way that is being followed."""
        assert self.current is not None
        return self.current

    @property
    def is_returning(self) -> bool:
        """Whether there is anything that `return` can leave."""
        return self._returnable > 0

    @property
    def guard(self) -> Guard:
        """The guard of the way that is being followed."""
        return self.current.guard if self.current is not None else ALWAYS

    def variable(self, name: str) -> Variable:
        """A variable, or what a variable is that nothing has set so far."""
        found = self.state.variables.get(name)
        if found is None:
            if name in DYNAMIC:
                return Variable(unknown(self.fresh()))
            found = self._missing.get(name)
            if found is None:
                found = self._missing[name] = self._absent(name)
        return found

    def _absent(self, name: str) -> Variable:
        if name in self._given:
            text = self._given[name]
            return Variable(unknown(("given", name)) if text is None else known(text))
        sourced = len(self._unresolved)
        if name in _SYSTEM or _SYSTEM_PREFIX.match(name):
            return Variable((Possibility(ALWAYS, UNKNOWN, (("system", name, sourced),), None),))
        if self.is_fragment or self._unresolved or name.isupper():
            return Variable((Possibility(ALWAYS, UNKNOWN, (("environment", name, sourced),), None),))
        return Variable(unset(name))

    def is_foreign(self, name: str) -> bool:
        """Whether only the surroundings might set a variable, and do not as a rule."""
        if name in self._given or name in _SYSTEM or _SYSTEM_PREFIX.match(name):
            return False
        return self.current is not None and name not in self.state.variables

    def _is_empty(self, symbol: object) -> bool | None:
        """Whether something unknown is a variable of the surroundings that is empty, because the script assigns it; None
        if it rather is, because nothing speaks for its being set."""
        if not isinstance(symbol, tuple) or symbol[0] != "environment":
            return False
        name = symbol[1]
        if name in self.own_names():
            return True
        return False if self.is_fragment or name.isupper() else None

    def special(self, name: str) -> Value:
        """`$?`, `$#` and the other parameters whose names are no names."""
        if name == "?":
            return within(self.state.status, self.guard)
        if name == "#":
            positional = self.state.positional
            return unknown(self.fresh()) if positional is None else known(str(len(positional)))
        return unknown(("parameter", name) if name == "$" else self.fresh())

    def separators(self) -> str | None:
        """The characters of IFS; None if they are not known."""
        variable = self.state.variables.get("IFS")
        if variable is None or all(case.is_set is False for case in variable.value):
            return " \t\n"
        return text_of(within(variable.value, self.guard)) if variable.elements is None else None

    def own_names(self) -> frozenset[str]:
        """The variables that the script and the files it sources may assign."""
        if self._own is None:
            found = [effects(script.body, {}).names for script in (self.script, *self._sourced)]
            self._own = frozenset().union(*found)
        return self._own

    def set_status(self, status: Value) -> None:
        """The exit status of what was run."""
        if self.current is not None:
            self.current.status = status

    def succeeded(self) -> Truth:
        """Whether what was run succeeded."""
        return self.questions.truth_of(within(self.state.status, self.guard))

    # --- Ways that end ---

    def doubt(self, place: Place) -> None:
        """From here on the script may do something that nobody can follow."""
        yes, _ = self.questions.ask_unlikely()
        self.events.append(Ended(self.guard | yes[0], place, lost=True))

    def may_end(self, place: Place) -> None:
        """The script may end here."""
        if self._subshells or "EXIT" in self.state.traps:
            self.doubt(place)
            return
        yes, _ = self.questions.ask_unlikely()
        self.events.append(Ended(self.guard | yes[0], place))

    def leave(self, kind: str, place: Place, levels: int = 1) -> None:
        """`return`, `break`, `continue`: this way goes on elsewhere. `exit`: it ends."""
        if kind == "exit" and not self._subshells:
            self._at_exit(place)
        else:
            self._departures += 1
            self.left[kind].append((levels, self.state))
        self.current = None

    def _at_exit(self, place: Place) -> None:
        """Run the trap of the script's end, and end."""
        state = self.state
        text = state.traps.get("EXIT", "")
        state.traps = {name: trap for name, trap in state.traps.items() if name != "EXIT"}
        if text is None:
            self.doubt(place)
        elif text:
            self.run_text(text, place)
        if self.current is not None:
            self.events.append(Ended(self.current.guard, place))

    def _check(self, place: Place) -> None:
        """After a command outside of any condition: `set -e` and the trap of ERR act if it failed."""
        state = self.current
        if state is None or self._forgiving:
            return
        errexit, trap = state.options.get("errexit", False), state.traps.get("ERR", "")
        if errexit is False and trap == "":
            return
        status = within(state.status, state.guard)
        if all(case.symbols for case in status):
            if trap != "":
                self.doubt(place)
            if errexit is not False:
                self.may_end(place)
                state.status = SUCCESS
            return
        self.branch(self.questions.truth_of(status), lambda: None, lambda: self._fail(trap, errexit, place))

    def _fail(self, trap: str | None, errexit: bool | None, place: Place) -> None:
        status = self.state.status
        if trap is None or (trap and self.state.scopes):  # functions inherit it with `set -E` only
            self.doubt(place)
        elif trap:
            self.forgiven(lambda: self.run_text(trap, place))
        self.set_status(status)
        if self.current is None or not errexit:
            if self.current is not None and errexit is None:
                self.may_end(place)
        else:
            self.leave("exit", place)

    # --- Running ---

    def evaluate(self) -> Evaluation:
        """Walk through the whole script."""
        is_complete = True
        end = Place(self.text, len(self.text.text), len(self.text.text))
        try:
            self._run_script(self.script)
            if self.current is not None:
                final = self.current.variables
                self._at_exit(end)
            else:
                final = {}
        except (GiveUpError, RecursionError):
            is_complete = False
            final = self.current.variables if self.current is not None else {}
            self.events.append(Ended(ALWAYS, end, lost=True))
        return Evaluation(
            self.script,
            tuple(self._sourced),
            tuple(self.events),
            frozenset(self.visited),
            tuple(self._unresolved),
            is_complete,
            final,
            self.questions,
        )

    def _run_script(self, script: Script) -> None:
        """Run the commands of a script or a sourced file; who cannot read a line of it may go no further."""
        stops = sorted(problem.span.line for problem in script.problems if problem.stops)
        if not stops:
            self.run_sequence(script.body)
            return
        for command in script.body.commands:
            if self.current is None:
                return
            if stops and script.text.position(max(command.start, command.end - 1))[0] >= stops[0]:
                self.doubt(Place(script.text, command.start, command.end))
                stops = []
            self.run(command)
        if stops and self.current is not None:
            self.doubt(Place(script.text, script.body.end, script.body.end))

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
            raise GiveUpError
        if self.current is None:
            return
        try:
            _RUN[type(command)](self, command)
        except WayEndsError:
            if self.current is not None:
                self.state.status = FAILURE
                self.leave("exit", Place(self.text, command.start, command.end))

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
        departures = self._departures
        self.current = start.copy(start.guard | into)
        yes()
        after = self.current
        self.current = start
        start.guard |= out
        no()
        if after is None or self.current is None:
            remaining = after or self.current
            if (
                remaining is not None
                and departures == self._departures
                and all(self.questions.is_fresh(answer) for answer in into | out)
            ):
                remaining.guard -= into | out  # nobody asks again, and the other way has ended
            self.current = remaining
            return
        self.current = join(after, self.current, self.questions)

    def _sides(self, trues: list[Guard], falses: list[Guard]) -> tuple[Guard, Guard]:
        """One guard for all the ways in, one for all the ways out."""
        if len(trues) == 1 and len(falses) == 1 and contradicts(trues[0], falses[0]):
            return trues[0], falses[0]
        yes, no = self.questions.ask(("one of", frozenset(trues), frozenset(falses)))
        shared = frozenset.intersection(*trues), frozenset.intersection(*falses)
        return yes[0] | shared[0], no[0] | shared[1]

    def by_shell(self, ksh: Callable[[], None], bash: Callable[[], None]) -> None:
        """Follow what ksh does, or bash, or both where the script does not say which it is for."""
        if self.is_ksh is None:
            self.branch(self.questions.ask(("ksh",)), ksh, bash)
        elif self.is_ksh:
            ksh()
        else:
            bash()

    def forgiven(self, run: Callable[[], None]) -> None:
        """Run a condition."""
        self._forgiving += 1
        try:
            run()
        finally:
            self._forgiving -= 1

    def rejoin(self, kind: str) -> None:
        """Those who left in one way are back; those who left several loops go on leaving."""
        for _, state in reversed(self.left[kind]):
            self.current = join(self.current, state, self.questions)
        self.left[kind] = []

    def in_subshell(self, run: Callable[[], None]) -> Value:
        """Run commands whose changes to the state are lost; their exit status."""
        start, left = self.state, self.left
        self.current = start.copy()
        self.current.traps = {}
        self.left = _nothing_left()
        self._subshells += 1
        self._depth += 1
        if self._depth > _MOST_CALLS * 4:
            raise GiveUpError
        try:
            try:
                run()
            except WayEndsError:
                if self.current is not None:
                    self.current.status = FAILURE
                    self.left["exit"].append((1, self.current))
                self.current = None
            for kind in ("exit", "return", "break", "continue"):
                self.rejoin(kind)
            if self.current is not None and "EXIT" in self.current.traps:
                self.doubt(Place(self.text, 0, 0))
            status = self.current.status if self.current is not None else unknown(self.fresh())
            if self.current is None or self.current.input is not start.input:
                start.input = None
        finally:
            self._subshells -= 1
            self._depth -= 1
            self.left = left
            self.current = start
        return status

    def substitute(self, part: CommandSubstitution) -> Value:
        """What a command substitution brings."""
        body = part.body
        self._substitutions += 1
        if len(body.commands) == 1 and isinstance(body.commands[0], Simple):
            only = body.commands[0]
            if not only.words and len(only.redirections) == 1 and not only.assignments:  # $(<file)
                self.words.text(only.redirections[0].target)
                self.state.status = unknown(self.fresh())
                return unknown(self.fresh())
        start = self.state
        if self.text.text[part.start : part.start + 2] == "${":
            return self._share(part)

        def run() -> None:
            state = self.state
            if self.is_ksh is not True and "errexit" in state.options:  # of bash's substitutions it is switched off
                forgets = self.is_ksh is None and state.options["errexit"] is not False
                state.options = {**state.options, "errexit": None if forgets else False}
            self.run_sequence(body)

        forgiving, self._forgiving = self._forgiving, 0
        status: list[Value] = []
        caught = self.streams.catch(lambda: status.append(self.in_subshell(run)))
        self._forgiving = forgiving
        start.status = status[0]
        value = self.composed(caught, start.guard)
        return tuple([case._replace(text=case.text.rstrip("\n")) for case in value])

    def _share(self, part: CommandSubstitution) -> Value:
        """ksh's `${ commands; }`, which runs in the shell itself; bash before 5.3 has no such thing."""
        place = Place(self.text, part.start, part.end)
        if self.is_ksh is not True:
            self.doubt(place)
        base, outputs = self.guard, self.state.outputs
        caught = self.streams.catch(lambda: self.run_sequence(part.body))
        if self.current is None:
            raise WayEndsError
        self.current.outputs = outputs
        value = self.composed(caught, base)
        return tuple([case._replace(text=case.text.rstrip("\n")) for case in value])

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

    # --- Lists and conditions ---

    def _run_and_or(self, command: AndOr) -> None:
        self.forgiven(lambda: self.run(command.left))
        if self.current is None:
            return
        asked = self.succeeded()
        if command.operator == "||":
            asked = negation(asked)
        self.branch(asked, lambda: self.run(command.right), lambda: None)

    def _run_if(self, command: If) -> None:
        self.streams.around(command.redirections, lambda: self._run_branches(command, 0))

    def _run_branches(self, command: If, number: int) -> None:
        if number == len(command.branches):
            if command.otherwise is not None:
                self.run_sequence(command.otherwise)
            else:
                self.set_status(SUCCESS)
            return
        condition, body = command.branches[number]
        self.forgiven(lambda: self.run_sequence(condition))
        if self.current is None:
            return
        self.branch(self.succeeded(), lambda: self.run_sequence(body), lambda: self._run_branches(command, number + 1))

    def _run_case(self, command: Case) -> None:
        word = within(self.words.text(command.word), self.guard)
        self.streams.around(command.redirections, lambda: self._run_items(command, word, 0))

    def _run_items(self, command: Case, word: Value, number: int) -> None:
        if number == len(command.items):
            self.set_status(SUCCESS)
            return
        item = command.items[number]
        asked: Truth = truth(False)
        for pattern in item.patterns:
            if all(answer for _, answer in asked):
                break
            asked = self.questions.either(asked, self.checks.matches(word, pattern))

        def inside() -> None:
            self.set_status(SUCCESS)
            self.run_sequence(item.body)
            if self.current is None:
                return
            following = number + 1
            if item.terminator == ";;&":
                self._run_items(command, word, following)
                return
            while self.current is not None and following < len(command.items):
                if command.items[following - 1].terminator != ";&":
                    break
                self.run_sequence(command.items[following].body)
                following += 1

        self.branch(asked, inside, lambda: self._run_items(command, word, number + 1))

    # --- Functions and files ---

    def _run_function(self, command: Function) -> None:
        self.state.functions[command.name] = ((ALWAYS, (command, self.text)),)
        self.set_status(SUCCESS)

    def call(self, name: str, arguments: list[Field], place: Place, otherwise: Callable[[], None]) -> None:
        """Call a function of the script; `otherwise` is what its name means where it is none."""
        cases = [case for case in self.state.functions[name] if not contradicts(case[0], self.guard)]
        if not cases:
            self._lose(place)
            return
        self._call_one_of(cases, arguments, place, otherwise)

    def _call_one_of(
        self,
        cases: list[tuple[Guard, tuple[Function, Text] | None]],
        arguments: list[Field],
        place: Place,
        otherwise: Callable[[], None],
    ) -> None:
        (guard, found), *rest = cases

        def run() -> None:
            if found is None:
                otherwise()
            else:
                self._call(*found, arguments, place)

        if not rest:
            run()
            return
        asked: Truth = ((guard, True), *((other, False) for other, _ in rest))
        self.branch(asked, run, lambda: self._call_one_of(rest, arguments, place, otherwise))

    def _lose(self, place: Place) -> None:
        """Commands run that nobody knows."""
        self.doubt(place)
        self.assignments.forget_everything()
        self.streams.write_unknown(place)
        self.streams.complain(place)
        self.state.input = None
        self.set_status(unknown(self.fresh()))

    def _call(self, function: Function, text: Text, arguments: list[Field], place: Place) -> None:
        if self._depth >= _MOST_CALLS:
            self._lose(place)
            return
        state = self.state
        outer, outer_text, left = state.positional, self.text, self.left
        state.positional = None if any(item.is_vague for item in arguments) else tuple([a.value for a in arguments])
        has_scope = self._has_scope(function, text)
        if has_scope is not False:
            if self.is_ksh is not False and state.scopes and state.scopes[-1]:
                self.doubt(place)  # functions of ksh do not see what is local to their callers
            state.scopes = (*state.scopes, {})
        self.left = {**left, "return": []}
        loops, self.loops = self.loops, 0
        self._depth += 1
        self._returnable += 1
        self.text = text
        try:
            self.run(function.body)
            self.rejoin("return")
        finally:
            self.loops = loops
            self._depth -= 1
            self._returnable -= 1
            self.text = outer_text
            self.left = {**self.left, "return": left["return"]}
        if self.current is not None:
            self._return_to(self.current, outer, has_scope)

    def _has_scope(self, function: Function, text: Text) -> bool | None:
        """Whether `typeset` makes variables of the function's own; None if that depends on the shell."""
        if self.is_ksh is False or text.text.startswith("function", function.start):
            return True
        return False if self.is_ksh else None

    def _return_to(self, state: State, positional: tuple[Value, ...] | None, has_scope: bool | None) -> None:
        state.positional = positional
        if has_scope is False:
            return
        *scopes, hidden = state.scopes
        state.scopes = tuple(scopes)
        for name, old in hidden.items():
            if has_scope is None:
                ksh, bash = self.questions.ask(("ksh",))
                state.variables[name] = joined_variable(name, state.variables.get(name), old, ksh[0], bash[0])
            elif old is None:
                state.variables.pop(name, None)
            else:
                state.variables[name] = old

    def source(self, field: Field, arguments: list[Field]) -> None:
        """`. file`: its commands, if it can be read."""
        path = self._sourced_path(text_of(within(field.value, self.guard)))
        if path is None or len(self._sourced) > _MOST_CALLS or self._depth >= _MOST_CALLS:
            self._unresolved.append(field.place)
            self._missing = {}
            self.may_end(field.place)
            self.streams.write_unknown(field.place)
            self.streams.complain(field.place)
            self.set_status(unknown(self.fresh()))
            return
        script = parse(Source(str(path), path.read_bytes().decode("utf-8", "surrogateescape")))
        self._sourced.append(script)
        self._own = None
        outer, positional = self.text, self.state.positional
        left, self.left = self.left, {**self.left, "return": []}
        self.text = script.text
        if arguments:
            self.state.positional = None if any(a.is_vague for a in arguments) else tuple([a.value for a in arguments])
        self._depth += 1
        self._returnable += 1
        try:
            self.set_status(SUCCESS)
            self._run_script(script)
            self.rejoin("return")
        finally:
            self._depth -= 1
            self._returnable -= 1
            self.text, self.left = outer, {**self.left, "return": left["return"]}
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

    def run_text(self, text: str | None, place: Place) -> None:
        """`eval` of a text; None if it is not known."""
        script = parse(Source(self.text.source.name, text)) if text is not None else None
        if script is None or self._depth > _MOST_CALLS or any(problem.stops for problem in script.problems):
            self._lose(place)
            return
        outer = self.text
        self._depth += 1
        self.text = _Elsewhere(script.source, outer, place.start, place.end)
        try:
            if not script.body.commands:
                self.set_status(SUCCESS)
            self.run_sequence(script.body)
        finally:
            self._depth -= 1
            self.text = outer

    # --- Simple commands ---

    def _run_simple(self, command: Simple) -> None:
        place = Place(self.text, command.start, command.end)
        substitutions = self._substitutions
        if not command.words:
            for assignment in command.assignments:
                self.assignments.written(assignment)
            if command.redirections:
                self.streams.around(command.redirections, lambda: None)
            if substitutions == self._substitutions:
                self.set_status(SUCCESS)
            self._check(place)
            return
        fields = self.words.fields(command.words)
        if self.state.aliases and self.is_ksh is not False and isinstance(command.words[0], Word):
            if command.words[0].literal in self.state.aliases:
                self.doubt(place)
        if "xtrace" in self.state.options:
            self.streams.complain(place)
        if not fields:
            if substitutions == self._substitutions:
                self.set_status(SUCCESS)
            for assignment in command.assignments:
                self.assignments.written(assignment)
            self.streams.around(command.redirections, lambda: None)
        else:
            self._run_words(command, fields, place)
        self._check(place)

    def _run_words(self, command: Simple, fields: list[Field], place: Place) -> None:
        """Run a command by its first word, which may be one of several."""
        value = within(fields[0].value, self.guard)
        if len(value) == 1 or any(case.symbols for case in value) or fields[0].is_vague:
            self._run_named(command, fields, place, text_of(value))
            return
        first, *rest = value
        one, other = fields[0]._replace(value=(first,)), fields[0]._replace(value=tuple(rest))
        asked: Truth = ((first.guard, True), *((case.guard, False) for case in rest))
        self.branch(
            asked,
            lambda: self._run_named(command, [one, *fields[1:]], place, first.text),
            lambda: self._run_words(command, [other, *fields[1:]], place),
        )

    def _run_named(self, command: Simple, fields: list[Field], place: Place, name: str | None) -> None:
        prefix = ""
        while name in ("command", "builtin", "exec") and len(fields) > 1:
            following = text_of(within(fields[1].value, self.guard))
            if following is not None and following.startswith("-"):
                break
            prefix, fields, name = name or "", fields[1:], following
        if name == "exec" and len(fields) == 1:
            for redirection in command.redirections:
                self.streams.redirect(redirection)
            self.set_status(SUCCESS)
            return

        def run() -> None:
            if name is not None and name in self.state.functions and not prefix:
                self.call(name, fields[1:], place, run_without_functions)
            else:
                run_without_functions()
            if prefix == "exec" and self.current is not None:
                self.leave("exit", place)

        def run_without_functions() -> None:
            if name is not None and name in BUILTINS:
                BUILTINS[name](self, fields, command, place)
            else:
                run_external(self, name, fields, place)

        def redirected() -> None:
            if name is None or name in self.state.functions or name in BUILTINS:
                self.streams.around(command.redirections, run)
            else:
                self.streams.around_program(command.redirections, run)

        if command.assignments:
            self._with_assignments(command, name, place, redirected)
        else:
            redirected()

    def _with_assignments(self, command: Simple, name: str | None, place: Place, run: Callable[[], None]) -> None:
        """Run a command for which variables are assigned, and only for it as a rule."""
        variables = self.state.variables
        hidden = {assignment.name: variables.get(assignment.name) for assignment in command.assignments}
        for assignment in command.assignments:
            self.assignments.written(assignment)
            variable = self.variable(assignment.name)
            variables[assignment.name] = variable._replace(attributes=variable.attributes | {"x"})
        run()
        if self.current is None:
            return

        def restore() -> None:
            for variable_name, old in hidden.items():
                if old is None:
                    self.state.variables.pop(variable_name, None)
                else:
                    self.state.variables[variable_name] = old

        if name in self.state.functions and self.is_ksh is not False:
            self.doubt(place)  # what a function of ksh assigns to such a variable depends on how it is written
        stays = name in _SPECIAL_BUILTINS or name in self.state.functions
        if stays:
            self.by_shell(lambda: None, restore)
        else:
            restore()

    def _run_arithmetic(self, command: ArithmeticCommand) -> None:
        def run() -> None:
            value = self.words.arithmetic(command.expression)
            self.set_status(status_of(self.questions.every_way([value], self.words.is_nonzero)))

        place = Place(self.text, command.start, command.end)
        self.streams.around(command.redirections, run)
        self._check(place)

    def _run_test(self, command: Test) -> None:
        def run() -> None:
            self.set_status(status_of(self.checks.truth(command.expression)))

        self.streams.around(command.redirections, run)
        self._check(Place(self.text, command.start, command.end))

    # --- Groups, pipelines, the background ---

    def _run_group(self, command: Group) -> None:
        def run() -> None:
            if not command.is_subshell:
                self.run_sequence(command.body)
            else:
                self.set_status(self.in_subshell(lambda: self.run_sequence(command.body)))

        self.streams.around(command.redirections, run)
        if command.is_subshell:
            self._check(Place(self.text, command.start, command.end))

    def _run_background(self, command: Background) -> None:
        self.forgiven(lambda: self.set_status(self.in_subshell(lambda: self.run(command.command))))
        self.set_status(SUCCESS)

    def _run_pipeline(self, command: Pipeline) -> None:
        if command.is_negated:
            self.forgiven(lambda: self._run_stages(command))
            if self.current is not None:
                self.set_status(status_of(negation(self.succeeded())))
            return
        self._run_stages(command)
        self._check(Place(self.text, command.start, command.end))

    def _run_stages(self, command: Pipeline) -> None:
        given = self.state.input
        *stages, last = command.commands
        statuses: list[Value] = []
        for stage in stages:
            caught = self.streams.catch(
                lambda stage=stage: statuses.append(self.in_subshell(lambda: self._run_stage(stage)))  # type: ignore[misc]
            )
            if stage is stages[0]:
                given = self.state.input
            self.state.input = self._pieces(caught, Place(self.text, stage.start, stage.end))
        if not stages or self.state.options.get("lastpipe"):
            self._run_stage(last)
        else:
            self.by_shell(
                lambda: self._run_stage(last),
                lambda: self.set_status(self.in_subshell(lambda: self._run_stage(last))),
            )
        if self.current is None or not stages:
            return
        self.current.input = given
        pipefail = self.current.options.get("pipefail", False)
        if pipefail is not False:
            self._fail_with_any([*statuses, self.current.status], pipefail)

    def _run_stage(self, stage: Command) -> None:
        """A stage of a pipeline: that it fails is for the pipeline to say."""
        if isinstance(stage, Simple):
            self.forgiven(lambda: self.run(stage))
        else:
            self.run(stage)

    def _fail_with_any(self, statuses: list[Value], pipefail: bool | None) -> None:
        if pipefail is None or any(case.symbols for status in statuses[:-1] for case in status):
            if any(text_of(status) != "0" for status in statuses[:-1]):
                self.set_status(unknown(self.fresh()))
            return
        asked: Truth = truth(True)
        for status in statuses:
            this = self.questions.truth_of(within(status, self.guard))
            asked = conjunction(asked, lambda this=this: this)  # type: ignore[misc]
        codes = [text_of(status) for status in statuses]
        failed = [code for code in codes if code != "0"]
        if None in codes:
            self.set_status(status_of(asked))
        else:
            self.set_status(known(failed[-1] or "") if failed else SUCCESS)

    def _pieces(self, caught: list[tuple[Guard, tuple[Piece, ...]]], place: Place) -> tuple[Piece, ...]:
        """What one command of a pipeline writes, for the next to read."""
        base = self.guard
        if all(not guard - base for guard, _ in caught):
            return tuple([piece for _, pieces in caught for piece in pieces])
        return (Piece(place, self.composed(caught, base), True),)


class _Elsewhere(Text):
    """A text that was put together by a script: all of it stands where the script does that."""

    def __init__(self, source: Source, outer: Text, start: int, end: int) -> None:
        super().__init__(source)
        self.outer, self.start, self.end = outer, start, end

    def position(self, offset: int) -> tuple[int, int]:
        return self.outer.position(self.start)

    def span(self, start: int, end: int) -> Span:
        return self.outer.span(self.start, self.end)


def _nothing_left() -> dict[str, list[tuple[int, State]]]:
    return {"return": [], "break": [], "continue": [], "exit": []}


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
    For: loop_over_words,
    ArithmeticFor: loop_arithmetically,
    While: loop_while,
    Function: Interpreter._run_function,
    Pipeline: Interpreter._run_pipeline,
    AndOr: Interpreter._run_and_or,
    Background: Interpreter._run_background,
}
