"""Functions of the script, the files it sources, and text that it evaluates."""

from __future__ import annotations

import re
from collections.abc import Callable
from operator import is_not
from pathlib import Path
from typing import TYPE_CHECKING

from nmlgen import disk
from nmlgen.disk import read_bytes
from nmlgen.script.assigned import Effects, effects
from nmlgen.script.conditions import SUCCESS, Truth
from nmlgen.script.events import Field
from nmlgen.script.parser import parse
from nmlgen.script.state import Definitions, State, joined_variable
from nmlgen.script.syntax import Function, Script
from nmlgen.script.values import Guard, Place, Value, contradicts, text_of, unknown, within
from nmlgen.source import Source, Span, Text

if TYPE_CHECKING:
    from nmlgen.script.evaluate import Interpreter

MOST_CALLS = 30
_MOST_SOURCED = 1_000_000
_OF_THE_MACHINE = ("/etc/", "/usr/", "/opt/", "/dev/", "/proc/")


_SETS_NOTHING = re.compile(
    r"^/etc/(?:profile|bash\.?bashrc|bashrc)\Z|/init/(?:ba|k|z)?sh\Z|/\.(?:bashrc|bash_profile|profile|kshrc)\Z"
    r"|/setting\Z|(?:^|/)(?:add_run_routines|add_required_\w+(?:-\w+)?_files)\Z"
)
"""What is sourced and sets no variable of an experiment: the set-up of shells and of modules, and what ICON's own run
scripts source: `setting` of its configure, the functions of `run/add_run_routines`, lists of links (2024.10)."""


class Calls:
    """Runs commands that stand elsewhere.

    `sourced` are the files that were read, `unresolved` are those that could not be; it was `lost`
    where commands ran first that may have set anything.
    """

    def __init__(self, shell: Interpreter) -> None:
        self.shell = shell
        self.sourced: list[Script] = []
        self.unresolved: list[Place] = []
        self.lost: Place | None = None
        self._returnable = 0  # how many functions and sourced files `return` can leave
        self._of_all: tuple[list[Definitions], Effects | None] = [], None

    @property
    def is_returning(self) -> bool:
        """Whether there is anything that `return` can leave."""
        return self._returnable > 0

    def effects_of_all(self) -> Effects | None:
        """What the functions that there are may change, all together; None where there are none."""
        shell, functions = self.shell, self.shell.state.functions
        shell.effort.on_copy(len(functions))
        definitions, searched = list(functions.values()), self._of_all[0]
        if len(searched) != len(definitions) or any(map(is_not, searched, definitions)):
            bodies = tuple(case[0].body for cases in definitions for _, case in cases if case is not None)
            self._of_all = definitions, effects(bodies, functions, shell.effort) if bodies else None
        return self._of_all[1]

    def call(self, name: str, arguments: list[Field], place: Place, otherwise: Callable[[], None]) -> None:
        """Call a function of the script; `otherwise` is what its name means where it is none."""
        shell = self.shell
        cases = [case for case in shell.state.functions[name] if not contradicts(case[0], shell.guard)]
        if not cases:
            self.lose(place)
            return
        self._call_one_of(cases, arguments, place, otherwise)

    def _call_one_of(
        self,
        cases: list[tuple[Guard, tuple[Function, Text] | None]],
        arguments: list[Field],
        place: Place,
        otherwise: Callable[[], None],
    ) -> None:
        shell = self.shell
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
        shell.branch(asked, run, lambda: self._call_one_of(rest, arguments, place, otherwise))

    def lose(self, place: Place) -> None:
        """Commands run that nobody knows."""
        shell = self.shell
        shell.doubt(place)
        self.lost = self.lost or place
        shell.assignments.forget_everything()
        shell.streams.write_unknown(place)
        shell.streams.complain(place)
        shell.state.input = None
        shell.set_status(unknown(shell.fresh()))

    def of_elsewhere(self, place: Place) -> None:
        """Commands run that nobody knows, and that set no variable which the script itself sets."""
        shell = self.shell
        shell.forget_surroundings()
        shell.may_end(place)
        shell.streams.write_unknown(place)
        shell.streams.complain(place)
        shell.set_status(unknown(shell.fresh()))

    def _call(self, function: Function, text: Text, arguments: list[Field], place: Place) -> None:
        shell = self.shell
        if shell.depth >= MOST_CALLS:
            self.lose(place)
            return
        state = shell.state
        outer, outer_text, left = state.positional, shell.text, shell.left
        state.positional = None if any(item.is_vague for item in arguments) else tuple([a.value for a in arguments])
        has_scope = self._has_scope(function, text)
        if has_scope is not False:
            if shell.is_ksh is not False and state.scopes and state.scopes[-1]:
                shell.doubt(place)  # functions of ksh do not see what is local to their callers
            state.scopes = (*state.scopes, {})
        shell.left = {**left, "return": []}
        loops, shell.loops = shell.loops, 0
        shell.depth += 1
        self._returnable += 1
        shell.text = text
        try:
            shell.run(function.body)
            shell.rejoin("return")
        finally:
            shell.loops = loops
            shell.depth -= 1
            self._returnable -= 1
            shell.text = outer_text
            shell.left = {**shell.left, "return": left["return"]}
        if shell.current is not None:
            self._return_to(shell.current, outer, has_scope)

    def _has_scope(self, function: Function, text: Text) -> bool | None:
        """Whether `typeset` makes variables of the function's own; None if that depends on the shell."""
        shell = self.shell
        if shell.is_ksh is False or text.text.startswith("function", function.start):
            return True
        return False if shell.is_ksh else None

    def _return_to(self, state: State, positional: tuple[Value, ...] | None, has_scope: bool | None) -> None:
        shell = self.shell
        state.positional = positional
        if has_scope is False:
            return
        *scopes, hidden = state.scopes
        state.scopes = tuple(scopes)
        for name, old in hidden.items():
            if has_scope is None:
                ksh, bash = shell.questions.ask(("ksh",))
                state.variables[name] = joined_variable(name, state.variables.get(name), old, ksh[0], bash[0])
            elif old is None:
                state.variables.pop(name, None)
            else:
                state.variables[name] = old

    def source(self, field: Field, arguments: list[Field]) -> None:
        """`. file`: its commands, if it can be read."""
        shell = self.shell
        path = self._sourced_path(text_of(within(field.value, shell.guard)))
        if path is None or len(self.sourced) > MOST_CALLS or shell.depth >= MOST_CALLS:
            if not all(_SETS_NOTHING.search(case.text) for case in field.value):
                self.unresolved.append(field.place)
            self.of_elsewhere(field.place)
            return
        script = parse(Source(str(path), read_bytes(path).decode("utf-8", "surrogateescape")))
        shell.effort.spent += len(script.source.text) // 2
        self.sourced.append(script)
        shell.forget_own_names()
        outer, positional = shell.text, shell.state.positional
        left, shell.left = shell.left, {**shell.left, "return": []}
        shell.text = script.text
        if arguments:
            shell.state.positional = None if any(a.is_vague for a in arguments) else tuple([a.value for a in arguments])
        shell.depth += 1
        self._returnable += 1
        try:
            shell.set_status(SUCCESS)
            shell.run_script(script)
            shell.rejoin("return")
        finally:
            shell.depth -= 1
            self._returnable -= 1
            shell.text, shell.left = outer, {**shell.left, "return": left["return"]}
        if shell.current is not None and arguments:
            shell.current.positional = positional

    def _sourced_path(self, name: str | None) -> Path | None:
        """The file that a name means, from the script's directory; one that only lies elsewhere on the machine the
        script was written for is looked for beside the script if the directory's name is the same. What belongs to
        the machine that the script is read on says nothing of the one that it runs on."""
        shell = self.shell
        if not name or "\0" in name or name.startswith(_OF_THE_MACHINE):
            return None
        here = shell.directory
        candidates = [Path(name)] if name.startswith("/") else []
        if here is not None:
            candidates.append(here / name)
            if Path(name).parent.name == disk.resolved(here).name:
                candidates.append(here / Path(name).name)
        for path in candidates:
            try:
                if disk.is_file(path) and disk.size(path) <= _MOST_SOURCED:
                    return path
            except OSError:
                continue
        return None

    def run_text(self, text: str | None, place: Place) -> None:
        """`eval` of a text; None if it is not known."""
        shell = self.shell
        script = parse(Source(shell.text.source.name, text)) if text is not None else None
        shell.effort.spent += len(text or "")
        if script is None or shell.depth > MOST_CALLS or any(problem.stops for problem in script.problems):
            self.lose(place)
            return
        outer = shell.text
        shell.depth += 1
        shell.text = _Elsewhere(script.source, outer, place.start, place.end)
        try:
            if not script.body.commands:
                shell.set_status(SUCCESS)
            shell.run_sequence(script.body)
        finally:
            shell.depth -= 1
            shell.text = outer


class _Elsewhere(Text):
    """A text that was put together by a script: all of it stands where the script does that."""

    def __init__(self, source: Source, outer: Text, start: int, end: int) -> None:
        super().__init__(source)
        self.outer, self.start, self.end = outer, start, end

    def position(self, offset: int) -> tuple[int, int]:
        return self.outer.position(self.start)

    def span(self, start: int, end: int) -> Span:
        return self.outer.span(self.start, self.end)
