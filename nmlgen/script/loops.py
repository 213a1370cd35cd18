"""`for`, `while`, `until` and `select`: turn by turn where the turns are known, otherwise as what they may do."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from nmlgen.script.assigned import effects
from nmlgen.script.conditions import SUCCESS, Truth, negation
from nmlgen.script.events import Altered, Copied, Event, Field, Opened, Piece, Removed, Written
from nmlgen.script.expand import split
from nmlgen.script.listing import listing_of
from nmlgen.script.state import join
from nmlgen.script.syntax import ArithmeticFor, For, Sequence, While
from nmlgen.script.values import Place, Possibility, Value, contradicts, known, text_of, unknown, within

if TYPE_CHECKING:
    from nmlgen.script.assigned import Effects
    from nmlgen.script.evaluate import Interpreter
    from nmlgen.script.state import State
    from nmlgen.script.values import Guard

_MOST_TURNS = 500
_MOST_LISTS = 4
_MOST_SPLITS = 3
_MOST_WAYS = 40  # out of one loop


def loop_over_words(shell: Interpreter, command: For) -> None:
    """`for name in words`, and `select`."""
    shell.streams.around(command.redirections, lambda: _over_words(shell, command))


def _over_words(shell: Interpreter, command: For) -> None:
    place = Place(shell.text, command.start, command.end)
    items: list[Field] | None
    if not (command.name.isascii() and command.name.isidentifier()):  # filled in before, else shells run no turn
        _unknown_turns(shell, command.body, place, None)
        return
    if command.words is None:
        positional = shell.state.positional
        items = None if positional is None else [Field(value, place, ()) for value in positional]
    else:
        items = shell.words.fields(command.words)
        if len(items) == 1 and items[0].is_vague and len(items[0].value) > 1 and not command.is_select:
            _over_lists(shell, command, items[0].value, place)
            return
    if items is None or command.is_select or any(item.is_vague for item in items) or len(items) > _MOST_TURNS:
        listing = listing_of(items[0].value) if items is not None and len(items) == 1 else None
        turn = None if listing is None else unknown(listing._replace(number=shell.fresh()))
        is_rare = bool(items) and all(shell.questions.is_rather_empty(item.value) for item in items or ())
        is_rare = is_rare and not shell.has_heredoc_in(place)
        _unknown_turns(shell, command.body, place, command.name, turn=turn, is_rare=is_rare)
        return
    _over_items(shell, command, [item.value for item in items], place)


def _over_items(shell: Interpreter, command: For, items: list[Value], place: Place) -> None:
    shell.set_status(SUCCESS)
    iterator = iter(items)

    def step() -> bool:
        for value in iterator:
            shell.assignments.assign(command.name, None, value, place)
            return True
        return False

    _iterate(shell, command.body, step)


def _over_lists(shell: Interpreter, command: For, value: Value, place: Place) -> None:
    """A list that is one of several: each in turn, under its guard."""
    separators = shell.separators()
    value = within(value, shell.guard)
    has_patterns = any(mark in case.text for case in value for mark in "*?[")
    if separators is None or any(case.symbols for case in value) or len(value) > _MOST_LISTS or has_patterns:
        listing = listing_of(value)
        turn = None if listing is None else unknown(listing._replace(number=shell.fresh()))
        _unknown_turns(shell, command.body, place, command.name, turn=turn)
        return
    first, *rest = value

    def run(case: Possibility) -> None:
        items = [known(word) for word, _ in split(case.text, separators or "") if word is not None]
        _over_items(shell, command, items, place)

    if not rest:
        run(first)
        return
    asked: Truth = ((first.guard, True), *((case.guard, False) for case in rest))
    shell.branch(asked, lambda: run(first), lambda: _over_lists(shell, command, tuple(rest), place))


def _iterate(shell: Interpreter, body: Sequence, step: Callable[[], bool]) -> None:
    """Run the body for every turn; `break` and `continue` end where they should."""
    outer = shell.left
    shell.left = {**outer, "break": [], "continue": []}
    shell.loops += 1
    try:
        while shell.current is not None and step():
            shell.run_sequence(body)
            _rejoin(shell, "continue", outer)
            if len(shell.left["break"]) > _MOST_WAYS and shell.current is not None:
                _forget(
                    shell, effects(body, shell.state.functions, shell.effort), Place(shell.text, body.start, body.end)
                )
                shell.doubt(Place(shell.text, body.start, body.end))
                break
        _rejoin(shell, "break", outer)
    finally:
        shell.loops -= 1
        shell.left = {**shell.left, "break": outer["break"], "continue": outer["continue"]}


def _rejoin(shell: Interpreter, kind: str, outer: dict[str, list[tuple[int, State]]]) -> None:
    """Those who left this loop are back; those who left several go on leaving."""
    here = [state for levels, state in shell.left[kind] if levels <= 1]
    outer[kind] += [(levels - 1, state) for levels, state in shell.left[kind] if levels > 1]
    shell.left[kind] = [(1, state) for state in here]
    if here:
        shell.rejoin(kind)


def _unknown_turns(
    shell: Interpreter,
    body: Sequence,
    place: Place,
    name: str | None,
    condition: Sequence | None = None,
    *,
    turn: Value | None = None,
    is_rare: bool = False,
) -> None:
    """A loop of which nobody knows how often it runs: what it assigns is unknown, what it writes may come any number
    of times. It is run once in an unknown turn, in which the variable called `name` has the value `turn`; as a rule not
    at all, if it `is_rare`."""
    changes = effects(body, shell.state.functions, shell.effort)
    if condition is not None:
        changes = changes | effects(condition, shell.state.functions, shell.effort)
    if name is not None:
        changes = changes.naming(name)
    yes, no = shell.questions.ask_unlikely() if is_rare else shell.questions.ask()
    start = shell.state
    shell.current = start.copy(start.guard | yes[0])
    _forget(shell, changes, place)
    if name is not None and turn is not None:
        shell.assignments.assign(name, None, turn, place)
    if condition is not None:
        shell.forgiven(lambda: shell.run_sequence(condition))
    mark = len(shell.events)
    shell.streams.write_unknown(place)

    once = iter((True,))
    _iterate(shell, body, lambda: next(once, False))
    _surround(shell, mark, place)
    if shell.current is not None:
        shell.streams.write_unknown(place)
        _forget(shell, changes, place)
    after = shell.current
    start.guard |= no[0]
    if after is not None and name is not None and name not in start.variables:
        start.variables[name] = after.variables[name]
    shell.current = join(after, start, shell.questions)
    shell.set_status(unknown(shell.fresh()))


def _forget(shell: Interpreter, changes: Effects, place: Place) -> None:
    """What commands may have changed that ran any number of times."""
    state = shell.state
    if changes.everything:
        shell.assignments.forget_everything()
        shell.doubt(place)
    else:
        shell.assignments.forget_all(changes.names)
    if changes.moves:
        state.directory = unknown(shell.fresh())
    if changes.shifts:
        state.positional = None
    if changes.switches:
        shell.doubt(place)
    state.input = None


def _surround(shell: Interpreter, mark: int, place: Place) -> None:
    """Whatever a loop wrote to files may stand there several times; what it changed, it may have changed before."""
    written = shell.events[mark:]
    doubtful: dict[Value, Guard] = {}
    for event in written:
        if isinstance(event, (Written, Copied, Opened, Altered, Removed)):
            doubtful.setdefault(event.path, event.guard)
        if isinstance(event, Removed) or (isinstance(event, Copied) and event.moves):
            shell.doubt(place)
    before: list[Event] = []
    after: list[Event] = []
    for path, guard in doubtful.items():
        for row in (before, after):
            row.append(Written(path, guard, place, (Piece(place, unknown(shell.fresh()), True),)))
    shell.events[mark : mark + len(written)] = [*before, *written, *after]


def loop_while(shell: Interpreter, command: While) -> None:
    """`while` and `until`."""
    shell.streams.around(command.redirections, lambda: _while(shell, command))


def _deciding_answer(shell: Interpreter, asked: Truth) -> int | None:
    """An answer that decides whether a loop goes on, where another one leaves that open."""
    open_cases = [(guard - shell.guard, answer) for guard, answer in asked if not contradicts(guard, shell.guard)]
    for number in sorted({abs(number) for guard, _ in open_cases for number in guard}):
        for answer in (number, -number):
            decisions = {goes_on for guard, goes_on in open_cases if -answer not in guard}
            if len(decisions) == 1 and not shell.questions.is_fresh(answer):
                return answer
    return None


def _while(shell: Interpreter, command: While, splits: int = 0) -> None:
    place = Place(shell.text, command.start, command.end)
    count = 0
    undecided = False
    status = SUCCESS
    asked: Truth = ()

    def step() -> bool:
        nonlocal count, undecided, status, asked
        if count:
            status = shell.state.status
        count += 1
        shell.forgiven(lambda: shell.run_sequence(command.condition))
        if shell.current is None:
            return False
        asked = shell.succeeded()
        if command.is_until:
            asked = negation(asked)
        answers = {answer for guard, answer in asked if not contradicts(guard, shell.guard)}
        if len(answers) > 1 or count > _MOST_TURNS:
            undecided = True
            return False
        return answers == {True}

    _iterate(shell, command.body, step)
    if shell.current is None:
        return
    answer = _deciding_answer(shell, asked) if undecided and count <= _MOST_TURNS else None
    changes = effects(command.condition, shell.state.functions, shell.effort).names
    if answer is not None and splits < _MOST_SPLITS and not changes:
        either: Truth = ((frozenset((answer,)), True), (frozenset((-answer,)), False))
        shell.branch(either, lambda: _while(shell, command, splits + 1), lambda: _while(shell, command, splits + 1))
    elif undecided:
        shell.assignments.forget_all(changes)
        _unknown_turns(shell, command.body, place, None, command.condition)
    else:
        shell.set_status(status)


def loop_arithmetically(shell: Interpreter, command: ArithmeticFor) -> None:
    """`for (( first; condition; step ))`."""
    shell.streams.around(command.redirections, lambda: _arithmetically(shell, command))


def _arithmetically(shell: Interpreter, command: ArithmeticFor) -> None:
    place = Place(shell.text, command.start, command.end)
    if command.first.parts:
        shell.words.arithmetic(command.first)
    count = 0
    undecided = False

    def step() -> bool:
        nonlocal count, undecided
        if count and command.step.parts:
            shell.words.arithmetic(command.step)
        count += 1
        if command.condition.literal is not None and not command.condition.literal.strip():
            undecided = count > _MOST_TURNS
            return not undecided
        number = text_of(within(shell.words.arithmetic(command.condition), shell.guard))
        undecided = number is None or count > _MOST_TURNS
        return not undecided and number != "0"

    shell.set_status(SUCCESS)
    _iterate(shell, command.body, step)
    if undecided and shell.current is not None:
        names = effects(command, shell.state.functions, shell.effort).names
        shell.assignments.forget_all(names)
        _unknown_turns(shell, command.body, place, None)
        if shell.current is not None:
            shell.assignments.forget_all(names)
