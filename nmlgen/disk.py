"""The one door through which a judgement looks at the disk: what was seen through it can be told, and seen again.

Whatever judges a file looks at others: what lies beside it, what it names, whether something is missing. Each look is a
question, the name of a function of this module with its path, and has a plain answer. `recorded` collects them in
order; `again` asks a question anew. Of two runs that got the same answers so far the next question is the same, so that
to go through a record, up to the first other answer, is to look at nothing that judging anew would not look at.
"""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from pathlib import Path
from typing import Any, BinaryIO, TextIO, TypeVar

from nmlgen.errors import InputError, UnreadableError

Question = tuple[Any, ...]
"""What is asked, a path, and what else belongs to the question: texts and numbers."""
Answer = Any
"""A value as JSON has it."""
_T = TypeVar("_T")
MOST_BYTES = 4 * 1024 * 1024
"""The size of the largest file that is read whole: no spec, no run script and no namelist comes near."""
LONGEST_PATH = 4095
"""The characters of the longest path: PATH_MAX of Linux is in bytes, its end counted."""
TOO_LARGE = f"is larger than {MOST_BYTES // 1024**2} MiB: no spec, no script and no namelist"
_JUST_NOW = 2 * 10**9
"""Nanoseconds within which a file system may give two changes the same time."""


class Looks:
    """What was looked at, in order, and what was seen. They are not `repeatable` where to see the same again would not
    mean that it is the same."""

    def __init__(self) -> None:
        self.seen: dict[Question, Answer] = {}
        self.repeatable = True

    @property
    def read(self) -> Iterator[Path]:
        """The files that were read whole."""
        return (Path(question[1]) for question in self.seen if question[0] == _content.__name__)

    def note(self, question: Question, answer: Answer) -> None:
        """Take down a question with its answer; two answers to one say that the disk changes meanwhile."""
        if self.seen.setdefault(question, answer) != answer:
            self.repeatable = False


_looks: ContextVar[Looks | None] = ContextVar("looks", default=None)


@contextmanager
def recorded() -> Iterator[Looks]:
    """What is looked at as long as this is entered."""
    looks = Looks()
    token = _looks.set(looks)
    try:
        yield looks
    finally:
        _looks.reset(token)


def unrepeatable() -> None:
    """Say that what is judged depends on more than what is seen here."""
    looks = _looks.get()
    if looks is not None:
        looks.repeatable = False


def note(question: Question, answer: Callable[[], Answer]) -> None:
    """Take down what somebody else has seen of the disk, if it is asked for."""
    looks = _looks.get()
    if looks is not None and question not in looks.seen:
        looks.note(question, answer())


def digest(data: bytes) -> str:
    """What tells bytes from others."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def refusal(error: Exception) -> Answer:
    """How an error is taken down."""
    return ["refused", type(error).__name__, getattr(error, "errno", None), str(error)]


_ERRORS = OSError, ValueError, RuntimeError, InputError
_ASKED: dict[str, Callable[..., Answer]] = {}


def _look(plain: Callable[[Any], Answer]) -> Callable[[Callable[..., _T]], Callable[..., _T]]:
    """Makes a look of a function of a path; `plain` makes of what it sees what is taken down."""

    def made(ask: Callable[..., _T]) -> Callable[..., _T]:
        name = ask.__name__

        def answer(path: str, *more: Any) -> Answer:
            return plain(ask(path, *more))

        _ASKED[name] = answer

        @wraps(ask)
        def look(path: str | Path, *more: Any) -> _T:
            looks = _looks.get()
            if looks is None:
                return ask(path, *more)
            question = (name, os.fspath(path), *more)
            try:
                found = ask(path, *more)
            except _ERRORS as error:
                looks.note(question, refusal(error))
                raise
            looks.note(question, plain(found))
            return found

        return look

    return made


def again(question: Question) -> Answer:
    """What is seen now where that was asked. Raises LookupError or TypeError for what is no question."""
    name, path, *more = question
    ask = _ASKED[name]
    try:
        return ask(path, *more)
    except _ERRORS as error:
        return refusal(error)


def unreadable(error: OSError, name: str) -> UnreadableError | None:
    """What an error says of a file that is there, which messages call `name`; None where it says that there is none."""
    return None if error.errno in _NO_FILE else UnreadableError(f"{name}: {(error.strerror or str(error)).lower()}")


def require_missing(error: OSError, name: str) -> None:
    """Raise UnreadableError where an error says of a file that it is there."""
    if (refused := unreadable(error, name)) is not None:
        raise refused from None


def _same(found: Any) -> Answer:
    return found


def _digest_of(found: Any) -> Answer:
    return digest(json.dumps(found).encode())


_NOTHING = 0
_ABSENT = {errno.ENOENT, errno.ENOTDIR, errno.EBADF, errno.ELOOP}
_NO_FILE = {*_ABSENT, errno.ENAMETOOLONG, errno.EINVAL, errno.EISDIR}


def _mode(path: str | Path) -> int:
    """What kind of thing is there, as pathlib asks for it, in a tenth of its time."""
    try:
        return os.stat(path).st_mode
    except OSError as error:
        if error.errno in _ABSENT:
            return _NOTHING
        raise
    except ValueError:  # a NUL in the name
        return _NOTHING


@_look(_same)
def is_file(path: str | Path) -> bool:
    """Whether a file is there; raises OSError where nobody may look, as all that follow."""
    return stat.S_ISREG(_mode(path))


@_look(_same)
def is_directory(path: str | Path) -> bool:
    """Whether a directory is there."""
    return stat.S_ISDIR(_mode(path))


@_look(_same)
def exists(path: str | Path) -> bool:
    """Whether anything is there."""
    return _mode(path) != _NOTHING


@_look(_same)
def is_there(path: str | Path) -> bool:
    """Whether anything has this name, a link that leads nowhere, too."""
    return os.path.lexists(path)


@_look(_same)
def is_link(path: str | Path) -> bool:
    """Whether it is a symbolic link."""
    return Path(path).is_symlink()


@_look(str)
def resolved(path: str | Path) -> Path:
    """Where it lies, all links followed. Raises RuntimeError or OSError for links that lead to each other."""
    return Path(path).resolve()


@_look(_same)
def size(path: str | Path) -> int:
    """The size of a file in bytes."""
    return os.stat(path).st_size


def _status(found: os.stat_result) -> Answer:
    if max(found.st_mtime_ns, found.st_ctime_ns) > time.time_ns() - _JUST_NOW:
        unrepeatable()  # it may change once more without a sign of it
    return [found.st_mode, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_dev]


@_look(_status)
def status(path: str | Path) -> os.stat_result:
    """The status of a file, which stands for what is in it: for files that are too large to be read whole."""
    return os.stat(path)


@_look(_digest_of)
def names(directory: str | Path) -> list[str]:
    """The names of what is in a directory, in order."""
    return sorted(os.listdir(directory))


@_look(digest)
def head(path: str | Path, most: int) -> bytes:
    """The first bytes of a regular file, at most so many."""
    with _named(path), open_regular(path) as file:
        return _read(file, most)


def read_bytes(path: Path, name: str | None = None, most: int = MOST_BYTES) -> bytes:
    """The bytes of a regular file, which messages call `name`, or its path.

    Raises OSError if the file cannot be read, and InputError for what `open_regular` refuses and for a file of more
    than `most` bytes.
    """
    return _content(path, name, most)


@_look(digest)
def _content(path: str | Path, name: str | None, most: int) -> bytes:
    try:
        with _named(path), open_regular(path) as file:
            data = _read(file, most + 1)
    except IrregularFileError as error:
        raise InputError(f"{name or path} {error.strerror}") from None
    if len(data) > most:
        raise InputError(f"{name or path} {TOO_LARGE if most == MOST_BYTES else f'is larger than {most} bytes'}")
    return data


def _read(file: BinaryIO, most: int) -> bytes:
    """So many bytes at most; none of a pipe that nobody waits for and that holds nothing."""
    return file.read(most) or b""


@contextmanager
def _named(path: str | Path) -> Iterator[None]:
    """An error that comes of reading an open file has its name, as one of opening it has."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = os.fspath(path)
        raise


class IrregularFileError(OSError):
    """A device, a pipe or a socket, which may have no end."""


def open_regular(path: str | Path) -> BinaryIO:
    """A regular file, open for reading, or a pipe that was open before, as in `nmlgen check <(program)`.

    Raises OSError if the file cannot be opened; for devices, other pipes and sockets that is IrregularFileError.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # else a pipe waits for one who writes
    file = open(descriptor, "rb")  # noqa: SIM115
    try:
        with _named(path):
            mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if stat.S_ISFIFO(mode) and str(path).startswith(_OPEN_ALREADY):
            os.set_blocking(descriptor, True)
        elif not stat.S_ISREG(mode):
            raise IrregularFileError(errno.EINVAL, f"is {_kind(mode)}; a regular file is expected", str(path))
    except BaseException:
        file.close()
        raise
    return file


def open_text(path: str | Path, *, errors: str = "strict", newline: str | None = None) -> TextIO:
    """The text of a regular file, open for reading. Raises as `open_regular`."""
    return io.TextIOWrapper(open_regular(path), encoding="utf-8", errors=errors, newline=newline)


def content(path: str | Path) -> bytes:
    """The bytes of a regular file that nmlgen wrote, on which no judgement depends. Raises as `open_regular`, and
    OSError for one that is far larger than any that nmlgen writes."""
    with _named(path), open_regular(path) as file:
        data = file.read(_MOST_OWN + 1)
    if len(data) > _MOST_OWN:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
    return data


_MOST_OWN = 2**26


def holds(path: str | Path, data: bytes) -> bool:
    """Whether a regular file has these bytes; no more of it is read than that takes. False if there is none. Raises as
    `open_regular`, else."""
    try:
        with _named(path), open_regular(path) as file:
            return file.read(len(data) + 1) == data
    except (FileNotFoundError, NotADirectoryError):
        return False


_OPEN_ALREADY = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")


def _kind(mode: int) -> str:
    if stat.S_ISFIFO(mode):
        return "a pipe"
    return "a socket" if stat.S_ISSOCK(mode) else "a device"


@_look(_digest_of)
def _entries(directory: str | Path) -> list[list[str]]:
    for _, directories, files in os.walk(directory, onerror=_raise, followlinks=True):
        return [sorted(directories), sorted(files)]
    return [[], []]


def _raise(error: OSError) -> None:
    raise error


def walk(
    top: str | Path, onerror: Callable[[OSError], object] | None = None, *, follows: bool = True
) -> Iterator[tuple[str, list[str], list[str]]]:
    """As `os.walk` from the top; both lists are in order. It `follows` links; the caller may take directories away."""
    waiting = [os.fspath(top)]
    while waiting:
        here = waiting.pop()
        try:
            directories, files = _entries(here)
        except OSError as error:
            if onerror is not None:
                onerror(error)
            continue
        directories = list(directories)
        yield here, directories, files
        below = [os.path.join(here, name) for name in reversed(directories)]
        waiting += [path for path in below if follows or not is_link(path)]


def parsed(text: str | bytes) -> Any:
    """What a text in JSON says that somebody may have changed. Raises ValueError for what is none, or nested too
    deep."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deep") from None
