"""What a wrapper does for one rank: which GPUs it shows, what it binds to, and what it starts.

A wrapper is a script that the launcher starts in the place of the model, once for each rank, and that becomes the model
or starts it. It is followed for the numbers that a rank has, and never run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nmlgen.script.effort import Effort
from nmlgen.script.evaluate import evaluate
from nmlgen.script.events import Ran
from nmlgen.script.syntax import Script
from nmlgen.script.values import ALWAYS, Place, Value, known, text_of, unknown, within
from nmlgen.source import UNKNOWN
from nmlgen.values import field, frozen

VISIBLE = ("CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ZE_AFFINITY_MASK")
"""The variables that say which GPUs a program sees, of NVIDIA, AMD and Intel."""

_MOST_COMMANDS = 1_000  # of each of many ranks

_OF_COMMAND = 5  # what a command adds to the effort, beside what it looks at

LEFT = None
"""The wrapper says nothing of GPUs: a rank sees those that the step has."""


@frozen(eq=False)
class Start:
    """How a wrapper starts the program of a rank: `gpus` are those that it shows, "" for none, None where it says
    nothing of them; they count only where it `knows_gpus`. `words` are those of the command, None for what is not
    known; its `program` has that number among them. `environment` are the variables that the wrapper exports,
    None for those that are not known."""

    gpus: str | None
    knows_gpus: bool
    words: tuple[str | None, ...]
    program: int
    place: Place
    environment: Mapping[str, str | None] = field(factory=dict)

    @property
    def lost(self) -> bool:
        """Whether words behind the program are those of a shell, not the program's: `sh -c "$@"`."""
        return self.program > 0 and self.words[self.program - 1] == "-c"


def effort_of_ranks() -> Effort:
    """The effort that wrappers of many ranks share."""
    return Effort(of_command=_OF_COMMAND)


def follow(
    script: Script,
    arguments: Sequence[str | None],
    variables: Mapping[str, str | None],
    effort: Effort | None = None,
    *,
    any_program: bool = False,
) -> Start | None:
    """What a wrapper with these words does where it finds these variables; None where that is not known. The program is
    one of its words; of a wrapper that names `any_program` itself the last one that it starts by a path. The `effort`
    may be that of many ranks together."""
    given = [None if word is None else word.replace(UNKNOWN, "@") for word in arguments]
    values: list[Value] = [
        unknown(("argument", number)) if word is None else known(word) for number, word in enumerate(given)
    ]
    evaluation = evaluate(script, variables=variables, arguments=tuple(values), most=_MOST_COMMANDS, effort=effort)
    if evaluation.gave_up is not None:
        return None
    found: Start | None = None
    for event in evaluation.events:
        if isinstance(event, Ran) and event.place.text is script.text:
            words = tuple(text_of(within(item.value, event.guard)) for item in event.words)
            number = next((at for at, word in enumerate(words) if word and _is_given(words, at, given)), None)
            if number is None and any_program:
                number = _behind_binding(words)
            if number is not None and words[0] not in _HELPERS:
                found = _start(event, words, number)
    return found


def _is_given(words: Sequence[str | None], at: int, given: Sequence[str | None]) -> bool:
    """Whether a word is one of the wrapper's own, or ends with it in the text for a shell: `sh -c "exec $@"`."""
    word = words[at] or ""
    return word in given or (at > 0 and words[at - 1] == "-c" and word.rpartition(" ")[2] in given)


def _behind_binding(words: Sequence[str | None]) -> int | None:
    """Where the program stands in a command that may bind it first: a path."""
    number = 0
    if words[0] is not None and words[0].rpartition("/")[2] in _BINDING:
        number = next((at for at, word in enumerate(words[1:], start=1) if word and not word.startswith("-")), 0)
    return number if "/" in (words[number] or "") else None


_BINDING = ("numactl", "taskset", "env", "exec", "nice")


_HELPERS = ("echo", "printf", "ldd", "ls", "file", "test")


def _start(event: Ran, words: tuple[str | None, ...], number: int) -> Start:
    gpus: str | None = LEFT
    is_known = event.guard == ALWAYS or all(answer > 0 for answer in event.guard)
    for name in VISIBLE:
        written = [word.partition("=")[2] for word in words[:number] if word and word.startswith(f"{name}=")]
        variable = event.environment.get(name)
        if written:
            gpus = written[-1]
        elif variable is not None:
            cases = within(variable.value, event.guard)
            if all(case.is_set is False for case in cases):
                continue
            text = text_of(cases)
            is_known = is_known and text is not None
            gpus = text
    environment = {
        name: text_of(within(variable.value, event.guard))
        for name, variable in event.environment.items()
        if "x" in variable.attributes and variable.elements is None
    }
    return Start(gpus, is_known, words, number, event.place, environment)
