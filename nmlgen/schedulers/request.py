"""What a batch job asks for, in words that belong to no scheduler."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from nmlgen.source import Span
from nmlgen.values import define, field, frozen

HOME = "~"
"""The directory in which a job begins: the user's own."""
SUBMITTED = "."
"""The directory in which a job begins: the one in which it was submitted."""

Reader = Callable[[Any], Any]


@frozen
class Wish:
    """One thing that is asked for: its value, where it was asked for (None where nobody wrote it), and in which words,
    "" where the scheduler does so by itself."""

    value: Any
    span: Span | None = None
    text: str = ""


@frozen
class Remark:
    """What to know of a translation. A `loss` is not asked for any more: `text` is what asked for it."""

    message: str
    span: Span | None
    expected: str
    loss: str | None = None


@frozen
class Array:
    """A job array: the tasks from `first` to `last` by `step`, at most `at_once` of them at a time."""

    first: int
    last: int
    step: int = 1
    at_once: int | None = None


@frozen
class Exported:
    """What of its environment the one who submits hands on: all of it or not, and variables by name, or name=value."""

    everything: bool
    variables: tuple[str, ...] = ()


@frozen
class Request:
    """What a job asks for.

    `wishes` has these keys and values: `name`, `account`, `queue`, `shell` (text); `nodes`, `tasks`, `tasks_per_node`,
    `cpus_per_task`, `gpus_per_node` (whole numbers); `memory_per_node`, `memory_per_cpu` (bytes); `walltime` (seconds);
    `output`, `error` (a `FilePattern`), `joined` (a flag: errors go where output goes); `mail_to` (addresses),
    `mail_on` (some of begin, end, fail); `array` (an `Array`), `dependency` (kinds and job ids), `begin` (a datetime in
    ISO's basic form, YYYYMMDDTHHMMSS, or THHMM), `hold`, `rerun`, `exclusive` (flags), `environment` (`Exported`),
    `directory` (a path, HOME or SUBMITTED), `chunk` (what each chunk of nodes has besides: name=value, with colons
    between several). `remarks` are what has no such word. `lines` are the first and the last line of each directive.
    """

    wishes: Mapping[str, Wish]
    remarks: tuple[Remark, ...] = ()
    lines: tuple[tuple[int, int], ...] = ()


@frozen
class Written:
    """Directives without their prefix, what a script has to do before anything else (shell), the shell that its first
    line has to name, None where it need not, and what could not be said."""

    directives: tuple[str, ...]
    remarks: tuple[Remark, ...] = ()
    before: tuple[str, ...] = ()
    shell: str | None = None


@frozen
class FilePattern:
    """The path of a file with gaps in it: texts, and of the gaps the fact that stands there: "job", "array", "array
    index", "name" or "user"."""

    parts: tuple[tuple[str, bool], ...]

    @property
    def facts(self) -> frozenset[str]:
        """What stands in the gaps."""
        return frozenset(text for text, is_gap in self.parts if is_gap)


@define
class Asked:
    """The wishes of a request as a writer goes through them; what it never takes, it cannot say."""

    request: Request
    remarks: list[Remark] = field(factory=list)
    taken: set[str] = field(factory=set)

    def take(self, key: str) -> Any:
        """The value of a wish, None where nobody has it."""
        self.taken.add(key)
        wish = self.request.wishes.get(key)
        return None if wish is None else wish.value

    def lose(self, key: str, why: str, expected: str) -> None:
        """Say that a wish cannot be said, unless nobody wrote it."""
        wish = self.request.wishes[key]
        if wish.text:
            self.remarks.append(Remark(f"{wish.text}: {why}", wish.span, expected, wish.text))

    def differ(self, key: str, why: str, expected: str) -> None:
        """Say that a wish is said, and means something else there."""
        wish = self.request.wishes[key]
        self.remarks.append(Remark(f"{wish.text}: {why}" if wish.text else why, wish.span, expected))

    def rest(self, title: str) -> Iterator[Remark]:
        """What was never taken."""
        for key in self.request.wishes.keys() - self.taken:
            self.lose(key, f"{title} has no counterpart", "to do it otherwise, or to leave it out")
        return iter(self.remarks)
