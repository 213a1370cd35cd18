"""Where commands read and write: redirections, and the files that they make."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, TypeAlias

from nmlgen.script.events import Copied, Opened, Piece, Written
from nmlgen.script.state import NOWHERE, SOMEWHERE, Sink
from nmlgen.script.syntax import Arithmetic, Literal, Parameter, Redirection
from nmlgen.script.values import (
    Guard,
    Place,
    Possibility,
    Value,
    contradicts,
    known,
    merged,
    text_of,
    unknown,
    within,
)
from nmlgen.source import UNKNOWN

if TYPE_CHECKING:
    from nmlgen.script.evaluate import Interpreter

FilePath: TypeAlias = tuple[str, tuple[Hashable, ...]]
"""A path from the directory that a script starts in, and what stands for its unknown stretches."""

_COMPARED = 20  # cases of paths that are held against each other take as long as a part of a word
_OUTPUT = frozenset((">", ">>", ">|", "&>", "&>>", ">&", "<>"))


class Streams:
    """Redirects and writes in the state that an interpreter is in.

    That a file can be opened is taken for granted.
    """

    def __init__(self, shell: Interpreter) -> None:
        self.shell = shell

    # --- Writing ---

    @property
    def is_read(self) -> bool:
        """Whether anybody reads what goes to the standard output."""
        return self.shell.state.outputs.get("1", NOWHERE) is not NOWHERE

    def write(self, pieces: tuple[Piece, ...], place: Place, descriptor: str = "1") -> None:
        """Commands write text to their standard output, or another descriptor."""
        shell = self.shell
        sink = shell.state.outputs.get(descriptor, NOWHERE)
        if sink is NOWHERE or not pieces:
            return
        for piece in pieces:
            shell.look_at(piece.value)
        if sink is SOMEWHERE:
            shell.doubt(place)
        elif sink.path is not None:
            shell.events.append(Written(sink.path, shell.guard, place, pieces))
        elif sink.caught is not None:
            sink.caught.append((shell.guard, pieces))

    def write_value(self, value: Value, place: Place, descriptor: str = "1") -> None:
        """The same with a text that is no stretch of the script."""
        if self.shell.state.outputs.get(descriptor, NOWHERE) is not NOWHERE:
            self.write((Piece(place, value, True),), place, descriptor)

    def write_unknown(self, place: Place, descriptor: str = "1") -> None:
        """The same with a text that nobody knows."""
        if self.shell.state.outputs.get(descriptor, NOWHERE) is not NOWHERE:
            self.write((Piece(place, unknown(self.shell.fresh()), True),), place, descriptor)

    def complain(self, place: Place) -> None:
        """A command may have written messages."""
        if self.shell.state.outputs:
            self.write_unknown(place, "2")

    def copy_file(self, path: Value, place: Place) -> None:
        """A file's text goes to the standard output."""
        shell = self.shell
        sink = shell.state.outputs.get("1", NOWHERE)
        if sink.path is not None:
            shell.events.append(Copied(path, sink.path, shell.guard, place, appends=True))
        else:
            self.write_unknown(place)

    def catch(self, run: Callable[[], None]) -> list[tuple[Guard, tuple[Piece, ...]]]:
        """What commands write to their standard output."""
        state = self.shell.state
        outputs = state.outputs
        caught: list[tuple[Guard, tuple[Piece, ...]]] = []
        state.outputs = {**outputs, "1": Sink(caught=caught)}
        try:
            run()
        finally:
            state.outputs = outputs
        return caught

    # --- Redirections ---

    def around(self, redirections: tuple[Redirection, ...], run: Callable[[], None]) -> None:
        """Run something with its input and output redirected."""
        if not redirections:
            run()
            return
        shell = self.shell
        outputs, given = shell.state.outputs, shell.state.input
        marks = {kind: len(states) for kind, states in shell.left.items()}
        for redirection in redirections:
            self.redirect(redirection)
        run()
        reads = any(redirection.operator.startswith("<") for redirection in redirections)
        states = [shell.current] if shell.current is not None else []
        for kind, mark in marks.items():
            states += [state for _, state in shell.left[kind][mark:]]
        for state in states:
            state.outputs = outputs
            if reads:
                state.input = given

    def around_program(self, redirections: tuple[Redirection, ...], run: Callable[[], None]) -> None:
        """The same for a program: bash expands its redirections in the child, where assignments are lost."""
        shell = self.shell
        if shell.is_ksh or not any(_may_assign(redirection) for redirection in redirections):
            self.around(redirections, run)
            return
        before = dict(shell.state.variables)
        shell.effort.on_elements(len(before))
        self.around(redirections, run)
        if shell.current is None:
            return
        if shell.is_ksh is False:
            shell.current.variables = before
            return
        for name, variable in list(shell.current.variables.items()):
            if before.get(name) is not variable:
                shell.assignments.forget(name)

    def redirect(self, redirection: Redirection) -> None:
        """Redirect from here on."""
        shell = self.shell
        operator = redirection.operator
        place = Place(shell.text, redirection.start, redirection.end)
        shell.effort.spent += 1
        shell.give_up_if_too_much(place)
        if redirection.descriptor.startswith("{"):
            shell.assignments.forget(redirection.descriptor[1:-1])
            shell.doubt(place)
        is_input = redirection.descriptor in ("", "0")
        if redirection.heredoc is not None:
            if shell.text is shell.script.text and shell.questions.unlikely.isdisjoint(shell.guard):
                shell.visited.add((redirection.start, redirection.end))
            pieces = shell.words.pieces(redirection.heredoc.body)
            if is_input:
                shell.state.input = pieces
        elif operator == "<<<":
            value = shell.joined([shell.words.text(redirection.target), known("\n")])
            if is_input:
                shell.state.input = (Piece(place, value, True),)
        elif operator in ("<", "<&"):
            target = text_of(within(shell.words.text(redirection.target), shell.guard))
            if is_input:
                shell.state.input = () if target == "/dev/null" else None
        elif operator in _OUTPUT:
            self._redirect_output(redirection, place)

    def _redirect_output(self, redirection: Redirection, place: Place) -> None:
        shell = self.shell
        operator, descriptor = redirection.operator, redirection.descriptor
        target = shell.words.text(redirection.target)
        name = text_of(within(target, shell.guard))
        if operator == ">&":
            if name is not None and (name.rstrip("-").isdigit() or name == "-"):
                self._lead({descriptor or "1": shell.state.outputs.get(name.rstrip("-"), NOWHERE)})
                return
            if name is None or descriptor:
                shell.doubt(place)
        if operator.startswith("&") and shell.is_ksh is not False:
            shell.doubt(place)
        both = operator.startswith("&") or (operator == ">&" and not descriptor)
        descriptors = ("1", "2") if both else (descriptor or ("0" if operator == "<>" else "1"),)
        sink = self._sink(target, name, operator, place)
        self._lead(dict.fromkeys(descriptors, sink))

    def _lead(self, leads: dict[str, Sink]) -> None:
        outputs = self.shell.state.outputs
        self.shell.effort.on_copy(len(outputs))
        self.shell.state.outputs = {**outputs, **leads}

    def _sink(self, target: Value, name: str | None, operator: str, place: Place) -> Sink:
        shell = self.shell
        if name is not None and name.startswith("/dev/"):
            device = name.removeprefix("/dev/").removeprefix("fd/")
            number = {"stdout": "1", "stderr": "2"}.get(device, device)
            return shell.state.outputs.get(number, NOWHERE)
        path = self.file(target)
        if operator in (">>", "&>>", "<>"):
            shell.events.append(Written(path, shell.guard, place, ()))
            if operator == "<>":
                shell.doubt(place)
        else:
            if operator != ">|" and shell.state.options.get("noclobber", False) is not False:
                shell.doubt(place)  # it fails if the file is there
            shell.events.append(Opened(path, shell.guard, place))
        return Sink(path)

    def file(self, name: Value) -> Value:
        """The path of a file, from the directory that the script starts in."""
        shell = self.shell
        name = within(name, shell.guard)
        directory = within(shell.state.directory, shell.guard)
        if len(name) == len(directory) == 1:
            case, here = name[0], directory[0]
            return (Possibility(here.guard | case.guard, *path_from(here, case), unset=case.unset),)
        shell.effort.spent += (len(name) * len(directory)) ** 2 // _COMPARED
        cases = [
            Possibility(here.guard | case.guard, *path_from(here, case), unset=case.unset)
            for case in name
            for here in directory
            if not contradicts(here.guard, case.guard)
        ]
        return shell.questions.told_apart(merged(cases, shell.fresh()))


def _may_assign(redirection: Redirection) -> bool:
    word = redirection.heredoc.body if redirection.heredoc is not None else redirection.target
    return any(
        (isinstance(part, Parameter) and part.operator != "")
        or isinstance(part, Arithmetic)
        or (not isinstance(part, (Literal, Parameter)))
        for part in word.parts
    )


def path_from(here: Possibility, case: Possibility) -> FilePath:
    """The path of a file from the directory that the script starts in, of one that is named in another."""
    directory, name = here.text, case.text
    if name.startswith("/") or not directory:
        return _normalised(name), case.symbols
    if name.startswith(UNKNOWN):  # may well be absolute
        return _normalised(name), case.symbols
    return _normalised(f"{directory}/{name}"), (*here.symbols, *case.symbols)


def _normalised(path: str) -> str:
    if "." not in path and "//" not in path:
        return path.rstrip("/") or path
    parts: list[str] = []
    for part in path.split("/"):
        if part == "." or (part == "" and parts):
            continue
        if part == ".." and parts and parts[-1] not in ("..", "") and UNKNOWN not in parts[-1]:
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts) or ("/" if path.startswith("/") else "")
