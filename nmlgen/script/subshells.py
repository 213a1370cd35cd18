"""Commands whose changes to the shell are lost: substitutions, pipelines, the background."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from nmlgen.script.calls import MOST_CALLS
from nmlgen.script.conditions import FAILURE, SUCCESS, Truth, negation, status_of, truth
from nmlgen.script.ends import GiveUpError, WayEndsError
from nmlgen.script.events import Piece
from nmlgen.script.roles import own_place
from nmlgen.script.state import nothing_left
from nmlgen.script.syntax import Background, Command, CommandSubstitution, Pipeline, Simple
from nmlgen.script.values import (
    EMPTY,
    Guard,
    Place,
    Possibility,
    Value,
    known,
    text_of,
    under,
    unknown,
    within,
)

if TYPE_CHECKING:
    from nmlgen.script.evaluate import Interpreter


class Subshells:
    """Runs commands in subshells. `substitutions` counts those of commands."""

    def __init__(self, shell: Interpreter) -> None:
        self.shell = shell
        self.substitutions = 0
        self._subshells = 0

    @property
    def is_inside(self) -> bool:
        """Whether a subshell is being run."""
        return self._subshells > 0

    def in_subshell(self, run: Callable[[], None]) -> Value:
        """Run commands whose changes to the state are lost; their exit status."""
        shell = self.shell
        start, left = shell.state, shell.left
        shell.effort.on_copy(start.size)
        shell.current = start.copy()
        shell.current.traps = {}
        shell.left = nothing_left()
        self._subshells += 1
        shell.depth += 1
        if shell.depth > MOST_CALLS * 4:
            raise GiveUpError
        try:
            try:
                run()
            except WayEndsError:
                if shell.current is not None:
                    shell.current.status = FAILURE
                    shell.left["exit"].append((1, shell.current))
                shell.current = None
            for kind in ("exit", "return", "break", "continue"):
                shell.rejoin(kind)
            if shell.current is not None and "EXIT" in shell.current.traps:
                shell.doubt(Place(shell.text, 0, 0))
            status = shell.current.status if shell.current is not None else unknown(shell.fresh())
            if shell.current is None or shell.current.input is not start.input:
                start.input = None
        finally:
            self._subshells -= 1
            shell.depth -= 1
            shell.left = left
            shell.current = start
        return status

    def substitute(self, part: CommandSubstitution) -> Value:
        """What a command substitution brings."""
        shell = self.shell
        shell.step(part.start, part.end)
        body = part.body
        place = own_place(shell.text.text[part.start : part.end], shell.text.source.name)
        if place is not None:
            shell.state.status = SUCCESS
            return known(place)
        self.substitutions += 1
        if len(body.commands) == 1 and isinstance(body.commands[0], Simple):
            only = body.commands[0]
            if not only.words and len(only.redirections) == 1 and not only.assignments:  # $(<file)
                shell.words.text(only.redirections[0].target)
                shell.state.status = unknown(shell.fresh())
                return unknown(shell.fresh())
        start = shell.state
        if shell.text.text[part.start : part.start + 2] == "${":
            return self._share(part)

        def run() -> None:
            state = shell.state
            if shell.is_ksh is not True and "errexit" in state.options:  # of bash's substitutions it is switched off
                forgets = shell.is_ksh is None and state.options["errexit"] is not False
                state.options = {**state.options, "errexit": None if forgets else False}
            shell.run_sequence(body)

        forgiving, shell.forgiving = shell.forgiving, 0
        status: list[Value] = []
        caught = shell.streams.catch(lambda: status.append(self.in_subshell(run)))
        shell.forgiving = forgiving
        start.status = status[0]
        value = self.composed(caught, start.guard)
        return tuple([case._replace(text=case.text.rstrip("\n")) for case in value])

    def _share(self, part: CommandSubstitution) -> Value:
        """ksh's `${ commands; }`, which runs in the shell itself; bash before 5.3 has no such thing."""
        shell = self.shell
        place = Place(shell.text, part.start, part.end)
        if shell.is_ksh is not True:
            shell.doubt(place)
        base, outputs = shell.guard, shell.state.outputs
        caught = shell.streams.catch(lambda: shell.run_sequence(part.body))
        if shell.current is None:
            raise WayEndsError
        shell.current.outputs = outputs
        value = self.composed(caught, base)
        return tuple([case._replace(text=case.text.rstrip("\n")) for case in value])

    def composed(self, caught: list[tuple[Guard, tuple[Piece, ...]]], base: Guard) -> Value:
        """What was written, as one value: what was written under a guard is there or is not."""
        shell = self.shell
        rows: list[Value] = []
        for guard, pieces in caught:
            if not pieces:
                continue
            value = shell.joined([piece.value for piece in pieces])
            more = guard - base
            if more:
                absent = tuple(Possibility(frozenset((-answer,)), "") for answer in more)
                value = (*under(value, more), *absent)
            rows.append(value)
        return shell.joined(rows) if rows else EMPTY

    def run_background(self, command: Background) -> None:
        shell = self.shell
        shell.forgiven(lambda: shell.set_status(self.in_subshell(lambda: shell.run(command.command))))
        shell.set_status(SUCCESS)

    def run_pipeline(self, command: Pipeline) -> None:
        shell = self.shell
        if command.is_negated:
            shell.forgiven(lambda: self._run_stages(command))
            if shell.current is not None:
                shell.set_status(status_of(negation(shell.succeeded())))
            return
        self._run_stages(command)
        shell.check(Place(shell.text, command.start, command.end))

    def _run_stages(self, command: Pipeline) -> None:
        shell = self.shell
        given = shell.state.input
        *stages, last = command.commands
        statuses: list[Value] = []
        for stage in stages:
            caught = shell.streams.catch(
                lambda stage=stage: statuses.append(self.in_subshell(lambda: self._run_stage(stage)))  # type: ignore[misc]
            )
            if stage is stages[0]:
                given = shell.state.input
            shell.state.input = self._pieces(caught, Place(shell.text, stage.start, stage.end))
        if not stages or shell.state.options.get("lastpipe"):
            self._run_stage(last)
        else:
            shell.by_shell(
                lambda: self._run_stage(last),
                lambda: shell.set_status(self.in_subshell(lambda: self._run_stage(last))),
            )
        if shell.current is None or not stages:
            return
        shell.current.input = given
        pipefail = shell.current.options.get("pipefail", False)
        if pipefail is not False:
            self._fail_with_any([*statuses, shell.current.status], pipefail)

    def _run_stage(self, stage: Command) -> None:
        """A stage of a pipeline: that it fails is for the pipeline to say."""
        shell = self.shell
        if isinstance(stage, Simple):
            shell.forgiven(lambda: shell.run(stage))
        else:
            shell.run(stage)

    def _fail_with_any(self, statuses: list[Value], pipefail: bool | None) -> None:
        shell = self.shell
        if pipefail is None or any(case.symbols for status in statuses[:-1] for case in status):
            if any(text_of(status) != "0" for status in statuses[:-1]):
                shell.set_status(unknown(shell.fresh()))
            return
        asked: Truth = truth(True)
        for status in statuses:
            this = shell.questions.truth_of(within(status, shell.guard))
            asked = shell.questions.both(asked, lambda this=this: this)  # type: ignore[misc]
        codes = [text_of(status) for status in statuses]
        failed = [code for code in codes if code != "0"]
        if None in codes:
            shell.set_status(status_of(asked))
        else:
            shell.set_status(known(failed[-1] or "") if failed else SUCCESS)

    def _pieces(self, caught: list[tuple[Guard, tuple[Piece, ...]]], place: Place) -> tuple[Piece, ...]:
        """What one command of a pipeline writes, for the next to read."""
        shell = self.shell
        base = shell.guard
        if all(not guard - base for guard, _ in caught):
            return tuple([piece for _, pieces in caught for piece in pieces])
        return (Piece(place, self.composed(caught, base), True),)
