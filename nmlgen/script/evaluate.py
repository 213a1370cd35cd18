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
from bisect import bisect_right
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path

from nmlgen.script.assigned import effects
from nmlgen.script.assignments import DYNAMIC, Assignments
from nmlgen.script.builtins import BUILTINS
from nmlgen.script.calls import Calls
from nmlgen.script.checks import Checks
from nmlgen.script.conditions import FAILURE, SUCCESS, Questions, Truth, negation, status_of, truth
from nmlgen.script.effort import Effort
from nmlgen.script.ends import GiveUpError, WayEndsError
from nmlgen.script.events import Ended, Event, Field, single_paths
from nmlgen.script.expand import Expansion
from nmlgen.script.external import run_external
from nmlgen.script.loops import loop_arithmetically, loop_over_words, loop_while
from nmlgen.script.reading import asks_for_ksh
from nmlgen.script.redirections import Streams
from nmlgen.script.roles import handed_over
from nmlgen.script.state import State, Variable, join, nothing_left
from nmlgen.script.subshells import Subshells
from nmlgen.script.syntax import (
    AndOr,
    ArithmeticCommand,
    ArithmeticFor,
    Background,
    Case,
    Command,
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
from nmlgen.script.templates import is_template
from nmlgen.script.values import (
    ALWAYS,
    Guard,
    Place,
    Possibility,
    Value,
    contradicts,
    joined,
    known,
    text_of,
    unknown,
    unset,
    within,
)
from nmlgen.source import UNKNOWN
from nmlgen.values import frozen

_MOST_STEPS = 12_000
_MOST_EVENTS = 3_000
_MOST_CALLS = 30
_MOST_SOURCED = 1_000_000
SYSTEM = frozenset(
    (
        *("HOME", "USER", "LOGNAME", "PATH", "PWD", "OLDPWD", "SHELL", "HOSTNAME", "HOST", "TERM", "TMPDIR"),
        *("LANG", "UID", "EUID", "PPID", "BASH", "BASHOPTS", "SHELLOPTS", "BASH_VERSION", "BASH_SOURCE"),
        *("FUNCNAME", "REPLY", "OPTARG", "OPTIND", "LD_LIBRARY_PATH", "LD_PRELOAD", "MODULESHOME", "SCRATCH"),
        *("WORK", "PROJECT"),
    )
)
_WORD = re.compile(r"\w+")
_SYSTEM_PREFIX = re.compile(r"(?:SLURM|SBATCH|PBS|LSB|LOADL|I_MPI|OMPI|BASH)_")
"""Variables that the surroundings of a job set as a rule, whatever the script's author wrote."""

_SPECIAL_BUILTINS = frozenset(
    (
        *(".", ":", "break", "continue", "eval", "exec", "exit", "export", "readonly", "return", "set"),
        *("shift", "trap", "typeset", "unset", "alias", "unalias"),
    )
)
"""In ksh, what is assigned before them stays assigned."""


@frozen(eq=False)
class Evaluation:
    """What a script would do.

    `events` are in the order of the script. `visited` are the here-documents (by their place) that some way of the
    script comes to. `unresolved` are the files that it sources and that could not be read; `gave_up` is the command
    before which the evaluation gave up, if it did not come to the script's end, `lost` what came first that may have
    set any variable. `final` are the variables at the end.
    """

    script: Script
    sourced: tuple[Script, ...]
    events: tuple[Event, ...]
    visited: frozenset[tuple[int, int]]
    unresolved: tuple[Place, ...]
    gave_up: Place | None
    lost: Place | None
    final: Mapping[str, Variable]
    questions: Questions

    @cached_property
    def single_paths(self) -> list[Event]:
        """The events with one path each."""
        return single_paths(self.events)


def evaluate(
    script: Script,
    *,
    directory: Path | None = None,
    variables: Mapping[str, str | None] | None = None,
    is_fragment: bool = False,
    arguments: tuple[Value, ...] = (),
    answers: Mapping[str, str] | None = None,
    most: int = _MOST_STEPS,
    effort: Effort | None = None,
) -> Evaluation:
    """Work out what a script would do.

    `directory` is where the script lies, for the files that it sources; `variables` are given from outside, None for
    a variable that is set to something unknown. Of a fragment all that it does not set itself is unknown. `arguments`
    are the words that it is started with, `answers` the values of variables that the script sets to what only a run
    knows. It is followed for as many as `most` commands, and for no more than is left of the `effort`, which several
    scripts may share.
    """
    shell = Interpreter(script, directory, variables or {}, is_fragment, effort or Effort())
    shell.answers = answers or {}
    shell.most = most
    shell.state.positional = arguments
    return shell.evaluate()


class Interpreter:
    """Walks through a script; see `evaluate`.

    `current` is the state of the way that is being followed, None where that has ended. `left` are the states in which
    ways left what is being run, with the number of loops still to leave; those that `exit` a subshell are among them.
    """

    def __init__(
        self,
        script: Script,
        directory: Path | None,
        variables: Mapping[str, str | None],
        is_fragment: bool,
        effort: Effort,
    ) -> None:
        self.script, self.directory, self.is_fragment = script, directory, is_fragment
        self.text = script.text
        self.is_template = is_template(script.source.text)
        self.most = _MOST_STEPS
        self.effort = effort
        self.questions = Questions(self._is_empty, self.effort)
        self.fresh = self.questions.fresh
        self.words = Expansion(self)
        self.assignments = Assignments(self)
        self.streams = Streams(self)
        self.checks = Checks(self)
        self.calls = Calls(self)
        self.subshells = Subshells(self)
        self.current: State | None = State()
        self.events: list[Event] = []
        self.is_ksh = asks_for_ksh(script.source)
        self.visited: set[tuple[int, int]] = set()
        self.left: dict[str, list[tuple[int, State]]] = nothing_left()
        self._given = variables
        self.answers: Mapping[str, str] = {}
        self._missing: dict[str, Variable] = {}
        self._own: frozenset[str] | None = None
        self._spoken: list[str] | None = None
        self._handed: frozenset[str] | None = None
        self._steps = 0
        self._told = 0  # events whose guards are in the effort already
        self.gave_up: Place | None = None
        self.depth = 0
        self._departures = 0
        self.loops = 0  # how many loops `break` can leave
        self.forgiving = 0  # how many conditions are being run: their failures are none

    # --- The state ---

    @property
    def state(self) -> State:
        """The state of the way that is being followed."""
        assert self.current is not None
        return self.current

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
        sourced = len(self.calls.unresolved)
        if name in SYSTEM or _SYSTEM_PREFIX.match(name):
            return Variable((Possibility(ALWAYS, UNKNOWN, (("system", name),), None),))
        if self.is_fragment or self.calls.unresolved or name.isupper() or name in self._from_other_role():
            return Variable((Possibility(ALWAYS, UNKNOWN, (("environment", name, sourced),), None),))
        return Variable(unset(name))

    def is_foreign(self, name: str) -> bool:
        """Whether only the surroundings might set a variable, and do not as a rule."""
        if name in self._given or name in SYSTEM or _SYSTEM_PREFIX.match(name) or name in self._from_other_role():
            return False
        return self.current is not None and name not in self.state.variables

    def _is_empty(self, symbol: object) -> bool | None:
        """Whether something unknown is a variable of the surroundings that is empty because the script assigns it.

        None if it rather is, because nothing speaks for its being set.
        """
        if not isinstance(symbol, tuple) or symbol[0] != "environment":
            return False
        name = symbol[1]
        if name in self.own_names():
            return True
        return False if self.is_fragment or name.isupper() or name in self._from_other_role() else None

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
        """The variables that the script and the files it sources may assign, but for those that it hands to itself."""
        if self._own is None:
            found = [effects(script.body, {}).names for script in (self.script, *self.calls.sourced)]
            self._own = frozenset().union(*found) - self._from_other_role()
        return self._own

    def has_heredoc_in(self, place: Place) -> bool:
        """Whether a here-document of the script is announced there."""
        at = bisect_right(self._heredocs, place.start)
        return at < len(self._heredocs) and self._heredocs[at] < place.end

    @cached_property
    def _heredocs(self) -> list[int]:
        return sorted(there.start for there in self.script.heredocs)

    def words_of_scripts(self) -> list[str]:
        """All words that the script and the files it sources hold, in order."""
        if self._spoken is None:
            texts = [script.source.text for script in (self.script, *self.calls.sourced)]
            self._spoken = sorted({word for text in texts for word in _WORD.findall(text)})
        return self._spoken

    def _from_other_role(self) -> frozenset[str]:
        """The variables that the script hands to itself where it submits itself."""
        if self._handed is None:
            self._handed = handed_over(self.script.source.text, self.directory)
        return self._handed

    def forget_own_names(self) -> None:
        """There are more commands than there were."""
        self._own = self._spoken = None

    def forget_surroundings(self) -> None:
        """What nothing has set may be set now."""
        self._missing = {}

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
        if self.subshells.is_inside or "EXIT" in self.state.traps:
            self.doubt(place)
            return
        yes, _ = self.questions.ask_unlikely()
        self.events.append(Ended(self.guard | yes[0], place))

    def leave(self, kind: str, place: Place, levels: int = 1) -> None:
        """`return`, `break`, `continue`: this way goes on elsewhere. `exit`: it ends."""
        if kind == "exit" and not self.subshells.is_inside:
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
            self.calls.run_text(text, place)
        if self.current is not None:
            self.events.append(Ended(self.current.guard, place))

    def check(self, place: Place) -> None:
        """After a command outside of any condition: `set -e` and the trap of ERR act if it failed."""
        state = self.current
        if state is None or self.forgiving:
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
            self.forgiven(lambda: self.calls.run_text(trap, place))
        self.set_status(status)
        if self.current is None or not errexit:
            if self.current is not None and errexit is None:
                self.may_end(place)
        else:
            self.leave("exit", place)

    # --- Running ---

    def evaluate(self) -> Evaluation:
        """Walk through the whole script."""
        end = Place(self.text, len(self.text.text), len(self.text.text))
        try:
            self.run_script(self.script)
            self.step(end.start, end.end)
            if self.current is not None:
                final = self.current.variables
                self._at_exit(end)
            else:
                final = {}
        except (GiveUpError, RecursionError):
            self.gave_up = self.gave_up or end
            final = self.current.variables if self.current is not None else {}
            self.events.append(Ended(ALWAYS, end, lost=True))
        return Evaluation(
            self.script,
            tuple(self.calls.sourced),
            tuple(self.events),
            frozenset(self.visited),
            tuple(self.calls.unresolved),
            self.gave_up,
            self.calls.lost,
            final,
            self.questions,
        )

    def run_script(self, script: Script) -> None:
        """Run the commands of a script or a sourced file; who cannot read a line of it may go no further."""
        stops = sorted(problem.span.line for problem in script.problems if problem.stops)
        if not stops:
            self.run_sequence(script.body)
            self._end_of(script)
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
        self._end_of(script)

    def _end_of(self, script: Script) -> None:
        """Give up where the rest of a script was not read."""
        if script.is_cut and self.current is not None:
            self.gave_up = Place(script.text, script.body.end, script.body.end)
            raise GiveUpError

    def run_sequence(self, sequence: Sequence) -> None:
        """Run commands one after the other, as long as the script goes on."""
        for command in sequence.commands:
            if self.current is None:
                return
            self.run(command)

    def run(self, command: Command) -> None:
        """Run a command; its exit status is that of the state afterwards, if the script goes on."""
        self.step(command.start, command.end)
        if self.current is None:
            return
        try:
            _RUN[type(command)](self, command)
        except WayEndsError:
            if self.current is not None:
                self.state.status = FAILURE
                self.leave("exit", Place(self.text, command.start, command.end))

    def step(self, start: int, end: int) -> None:
        """Count a command or a substitution between two offsets; give up where more have run than are followed."""
        self._steps += 1
        self.effort.spent += self.effort.of_command + len(self.guard) * (1 + max(0, len(self.events) - self._told))
        self._told = len(self.events)
        if self._steps > self.most or len(self.events) > _MOST_EVENTS or self.effort.is_too_much:
            self.gave_up = Place(self.text, start, end)
            raise GiveUpError

    def give_up_if_too_much(self, place: Place) -> None:
        """Within a command of very many parts: give up where more has been looked at than is followed."""
        if self.effort.is_too_much:
            self.step(place.start, place.end)

    def look_at(self, value: Value) -> Value:
        """A value, the effort that its texts make counted."""
        for case in value:
            self.effort.on_text(case.text)
        return value

    def joined(self, values: list[Value]) -> Value:
        """The texts of several values, one after the other."""
        self.effort.on_choices(values)
        self.effort.on_joined(len(values))
        return joined(values, self.fresh())

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
        self.effort.on_copy(start.size)
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
        self.forgiving += 1
        try:
            run()
        finally:
            self.forgiving -= 1

    def rejoin(self, kind: str) -> None:
        """Those who left in one way are back; those who left several loops go on leaving."""
        for _, state in reversed(self.left[kind]):
            self.current = join(self.current, state, self.questions)
        self.left[kind] = []

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
            self.effort.on_answers(asked)
            if self.effort.is_too_much:
                asked = self.questions.ask()
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

    # --- Simple commands ---

    def _run_simple(self, command: Simple) -> None:
        place = Place(self.text, command.start, command.end)
        substitutions = self.subshells.substitutions
        if not command.words:
            for assignment in command.assignments:
                self.assignments.written(assignment)
            if command.redirections:
                self.streams.around(command.redirections, lambda: None)
            if substitutions == self.subshells.substitutions:
                self.set_status(SUCCESS)
            self.check(place)
            return
        fields = self.words.fields(command.words)
        first = command.words[0]
        if self.state.aliases and self.is_ksh is not False and isinstance(first, Word):
            self._doubt_alias(first, place)
        if "xtrace" in self.state.options:
            self.streams.complain(place)
        if not fields:
            if substitutions == self.subshells.substitutions:
                self.set_status(SUCCESS)
            for assignment in command.assignments:
                self.assignments.written(assignment)
            self.streams.around(command.redirections, lambda: None)
        else:
            self._run_words(command, fields, place)
        self.check(place)

    def _doubt_alias(self, word: Word, place: Place) -> None:
        """ksh puts the text of an alias in place of its name."""
        if word.literal in self.state.aliases:
            self.doubt(place)

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
                self.calls.call(name, fields[1:], place, run_without_functions)
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
        self.check(place)

    def _run_test(self, command: Test) -> None:
        def run() -> None:
            self.set_status(status_of(self.checks.truth(command.expression)))

        self.streams.around(command.redirections, run)
        self.check(Place(self.text, command.start, command.end))

    # --- Groups, pipelines, the background ---

    def _run_group(self, command: Group) -> None:
        def run() -> None:
            if not command.is_subshell:
                self.run_sequence(command.body)
            else:
                self.set_status(self.subshells.in_subshell(lambda: self.run_sequence(command.body)))

        self.streams.around(command.redirections, run)
        if command.is_subshell:
            self.check(Place(self.text, command.start, command.end))


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
    Pipeline: lambda shell, command: shell.subshells.run_pipeline(command),
    AndOr: Interpreter._run_and_or,
    Background: lambda shell, command: shell.subshells.run_background(command),
}
