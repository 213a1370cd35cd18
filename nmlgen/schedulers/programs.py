"""Starting the programs of a batch system, and what they complain of."""

from __future__ import annotations

import getpass
import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from re import Pattern

from nmlgen.asking import Said, TooMuchError, heard
from nmlgen.errors import SchedulerError
from nmlgen.values import field, frozen

_PATIENCE = 300  # seconds for an answer; the programs themselves give up earlier
_MOST_SAID = 2000  # characters of what a program complains of


def complaint(text: str) -> str:
    """What a program says, as much of its end as anybody wants to read."""
    text = text.strip()
    return text if len(text) <= _MOST_SAID else f"... {text[-_MOST_SAID:]}"


def user_name() -> str:
    """What a batch system calls the user: the name, or the number of one whose name nobody knows, as in a container."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # before 3.13 the one, later the other
        return str(os.getuid())


@frozen
class Programs:
    """The programs of a batch system called `title`. They do not see variables whose names match `hidden`, which would
    narrow down what is asked, and see those of `variables`."""

    title: str
    hidden: Pattern[str] | None = None
    variables: Mapping[str, str] = field(factory=dict)

    def run(self, command: Sequence[str], *, text: str = "", from_stderr: bool = False) -> str:
        """What a program says. Raises SchedulerError if it fails."""
        said = self.ask(command, text)
        if said.code:
            raise SchedulerError(complaint(said.error) or f"{command[0]}: exit code {said.code}")
        return said.error if from_stderr else said.out

    def ask(self, command: Sequence[str], text: str = "") -> Said:
        """What a program says, even if it fails."""
        with self._started(command, None, None) as process:
            try:
                return heard(process, text, _PATIENCE)
            except subprocess.TimeoutExpired:
                raise SchedulerError(f"{command[0]} gave no answer in {_PATIENCE} s") from None
            except TooMuchError as error:
                raise SchedulerError(str(error)) from None

    def submitting(
        self, command: Sequence[str], directory: Path, lock: int, is_over: Callable[[bytearray], bool] | None = None
    ) -> Said:
        """What a program says that is at work in a directory and inherits the descriptor `lock`, however long it takes;
        it is killed where that `is_over` by what it complains of. Raises SchedulerError for one that says too much."""
        with self._started(command, directory, lock) as process:
            try:
                return heard(process, is_over=is_over)
            except TooMuchError as error:
                raise SchedulerError(str(error)) from None

    def _started(self, command: Sequence[str], directory: Path | None, lock: int | None) -> subprocess.Popen[bytes]:
        inherited = {
            name: value for name, value in os.environ.items() if self.hidden is None or not self.hidden.match(name)
        }
        try:
            return subprocess.Popen(
                command,
                cwd=directory,
                env={**inherited, **self.variables},
                stdin=subprocess.PIPE if lock is None else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=() if lock is None else (lock,),
                start_new_session=True,  # an interrupt from the terminal is not meant for it
            )
        except FileNotFoundError:
            where = f"submit where {self.title} is, or start the points' scripts by hand"
            raise SchedulerError(f"there is no {command[0]} here; {where}") from None
        except PermissionError:
            raise SchedulerError(f"{command[0]} cannot be started: permission denied") from None
