"""What nmlgen remembers of a sweep's submissions, in an SQLite file beside the sweep, and the lock of whoever submits.

A submission is written here before anything is said to the batch system, with a token that its arrays carry in their
names; the arrays' ids follow. SQLite's own journal is the rollback one: the other, WAL, does not work on network file
systems.
"""

from __future__ import annotations

import fcntl
import os
import re
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from nmlgen.errors import WriteError
from nmlgen.schedulers.arrays import JobId
from nmlgen.values import field, frozen
from nmlgen.writing import opened_lock

DATABASE = "nmlgen-sweep.sqlite"
LOCK = "nmlgen-sweep.lock"

_BUSY_SECONDS = 60
_LOCK_SECONDS = 600
_TABLES = """
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS submission (
    token TEXT NOT NULL UNIQUE, name TEXT NOT NULL, first INTEGER NOT NULL, user TEXT NOT NULL, throttle INTEGER
);
CREATE TABLE IF NOT EXISTS job (
    token TEXT NOT NULL, leg INTEGER NOT NULL, array INTEGER, PRIMARY KEY (token, leg)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS task (
    token TEXT NOT NULL, task INTEGER NOT NULL, directory TEXT NOT NULL, PRIMARY KEY (token, task)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS fate (
    array TEXT NOT NULL, task INTEGER NOT NULL, state TEXT NOT NULL, PRIMARY KEY (array, task)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS pack (
    token TEXT NOT NULL PRIMARY KEY, size INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS scheduler (
    token TEXT NOT NULL PRIMARY KEY, name TEXT NOT NULL
) WITHOUT ROWID;
COMMIT;
"""


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_number(value: object) -> bool:
    return isinstance(value, int) and value >= 0


def _is_count(value: object) -> bool:
    return isinstance(value, int) and value > 0


def _is_job(value: object) -> bool:
    return _is_count(value) if isinstance(value, int) else isinstance(value, str) and _JOB.match(value) is not None


_JOB = re.compile(r"[0-9]")
_WORKS = re.compile(r"\b(?:AS|CHECK|INDEX|TRIGGER|VIEW|VIRTUAL)\b", re.IGNORECASE)
"""What is no plain table: SQLite works it out where it is read or written, without an end or with all the memory."""
_COLUMNS: Mapping[str, Mapping[str, Callable[[object], bool]]] = {
    "submission": {
        "token": _is_text,
        "name": _is_text,
        "first": _is_count,
        "user": _is_text,
        "throttle": lambda value: value is None or _is_count(value),
    },
    "job": {"token": _is_text, "leg": _is_count, "array": lambda value: value is None or _is_job(value)},
    "task": {"token": _is_text, "task": _is_number, "directory": _is_text},
    "fate": {"array": _is_text, "task": _is_number, "state": _is_text},
    "pack": {"token": _is_text, "size": _is_count},
    "scheduler": {"token": _is_text, "name": _is_text},
}
"""The columns of the tables, each with whether nmlgen writes a value there."""


@frozen
class Submission:
    """Points that were submitted together, for one or more legs, each of which is a job array of the same tasks.

    `first` is the number of the first leg among all that each of the points has had; `jobs` are the arrays' ids in the
    order of the legs, None where it is not known yet whether the `scheduler` has it; `points` are the directories of
    the points, relative to the sweep's, in the order of the tasks. A task runs `pack` points side by side.
    """

    token: str
    name: str
    first: int
    user: str
    throttle: int | None
    jobs: tuple[JobId | None, ...]
    points: tuple[str, ...] = field(repr=False)
    pack: int = 1
    scheduler: str = "slurm"

    @property
    def tasks(self) -> int:
        """How many tasks each array has."""
        return -(-len(self.points) // self.pack)

    def task_of(self, index: int) -> int:
        """The task that runs the point of this index."""
        return index // self.pack

    def array_name(self, leg: int) -> str:
        """The name that the array of a leg, from 1 on, carries there."""
        return f"{self.name}.{self.token}.{leg}"

    @property
    def array_names(self) -> tuple[str, ...]:
        """The names of all arrays."""
        return tuple(self.array_name(leg) for leg in range(1, len(self.jobs) + 1))


class State:
    """The SQLite file of a sweep. Raises WriteError where it cannot be read or written."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / DATABASE

    @property
    def exists(self) -> bool:
        """Whether anything was ever submitted."""
        return self._path.exists()

    def create(self) -> None:
        """Make the file if it is not there, with the permissions that the umask gives."""
        with self._failing():
            os.close(opened_lock(self._path))  # SQLite would not let the group write, and follow a link
            with closing(self._connection()) as connection:
                connection.executescript(_TABLES)

    def submissions(self) -> tuple[Submission, ...]:
        """All submissions, the earliest first."""
        with self._reading() as connection:
            if connection is None:
                return ()
            jobs: dict[str, list[JobId | None]] = {}
            for token, _, array in self._rows(connection, "job", "token, leg"):
                jobs.setdefault(token, []).append(array)
            points: dict[str, list[str]] = {}
            for token, _, directory in self._rows(connection, "task", "token, task"):
                points.setdefault(token, []).append(directory)
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}  # once there were fewer
            packs = dict(self._rows(connection, "pack")) if "pack" in tables else {}
            said = dict(self._rows(connection, "scheduler")) if "scheduler" in tables else {}
            rows = self._rows(connection, "submission", "rowid")
            return tuple(
                Submission(
                    token,
                    name,
                    first,
                    user,
                    throttle,
                    tuple(jobs.get(token, ())),
                    tuple(points.get(token, ())),
                    packs.get(token, 1),
                    said.get(token, "slurm"),
                )
                for token, name, first, user, throttle in rows
            )

    def fates(self) -> dict[tuple[str, int], str]:
        """How tasks ended that could not say so themselves: the scheduler's word by the array's name and the task."""
        with self._reading() as connection:
            if connection is None:
                return {}
            return {(array, task): state for array, task, state in self._rows(connection, "fate")}

    def intend(self, submission: Submission) -> None:
        """Note a submission before the scheduler hears of it."""
        token = submission.token
        with self._writing() as connection:
            values = (token, submission.name, submission.first, submission.user, submission.throttle)
            connection.execute("INSERT INTO submission VALUES (?, ?, ?, ?, ?)", values)
            legs = [(token, leg, None) for leg in range(1, len(submission.jobs) + 1)]
            connection.executemany("INSERT INTO job VALUES (?, ?, ?)", legs)
            tasks = [(token, task, directory) for task, directory in enumerate(submission.points)]
            connection.executemany("INSERT INTO task VALUES (?, ?, ?)", tasks)
            if submission.pack > 1:
                connection.execute("INSERT INTO pack VALUES (?, ?)", (token, submission.pack))
            if submission.scheduler != "slurm":
                connection.execute("INSERT INTO scheduler VALUES (?, ?)", (token, submission.scheduler))

    def note_array(self, token: str, leg: int, array: JobId) -> None:
        """Note the id of the array of a leg."""
        with self._writing() as connection:
            connection.execute("UPDATE job SET array = ? WHERE token = ? AND leg = ?", (array, token, leg))

    def note_fates(self, fates: Mapping[tuple[str, int], str]) -> None:
        """Note how tasks ended, as `fates` gives it."""
        with self._writing() as connection:
            rows = [(array, task, word) for (array, task), word in fates.items()]
            connection.executemany("INSERT OR REPLACE INTO fate VALUES (?, ?, ?)", rows)

    def drop(self, token: str, leg: int = 1) -> None:
        """Forget the legs of a submission from this one on; with the first, the whole."""
        if leg == 1:
            self.forget([token])
            return
        with self._writing() as connection:
            connection.execute("DELETE FROM job WHERE token = ? AND leg >= ?", (token, leg))

    def forget(self, tokens: Iterable[str]) -> None:
        """Forget submissions, at once: each writing waits for the disk."""
        rows = [(token,) for token in tokens]
        if not rows:
            return
        with self._writing() as connection:
            for table in ("job", "submission", "task", "pack", "scheduler"):
                connection.executemany(f"DELETE FROM {table} WHERE token = ?", rows)

    def _rows(self, connection: sqlite3.Connection, table: str, order: str = "1") -> Iterator[tuple[Any, ...]]:
        """What a table holds, in order. Raises WriteError for a value that nmlgen does not write there: SQLite itself
        holds any in any column."""
        columns = _COLUMNS[table]
        for row in connection.execute(f"SELECT {', '.join(columns)} FROM {table} ORDER BY {order}"):
            for value, (column, is_right) in zip(row, columns.items(), strict=True):
                if not is_right(value):
                    raise WriteError(f"{self._path}: {table}.{column} is {value!r}, which nmlgen does not write there")
            yield row

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection | None]:
        """A connection that sees one moment; None if there are no tables yet."""
        if not self.exists:
            yield None
            return
        with self._failing(), closing(self._connection()) as connection:
            connection.execute("BEGIN")
            yield connection if self._has_plain_tables(connection) else None

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._failing(), closing(self._connection()) as connection:
            connection.execute("BEGIN IMMEDIATE")
            self._has_plain_tables(connection)
            yield connection
            connection.execute("COMMIT")

    def _has_plain_tables(self, connection: sqlite3.Connection) -> bool:
        """Whether there are tables. Raises WriteError if there is anything else, which nmlgen does not make."""
        made = connection.execute("SELECT name, sql FROM sqlite_master").fetchall()
        for name, statement in made:
            if statement is not None and _WORKS.search(str(statement)):  # None: what SQLite makes by itself
                raise WriteError(f"{self._path}: {name} is no plain table, and nmlgen makes nothing else there")
        return bool(made)

    def _connection(self) -> sqlite3.Connection:
        # Who may write does so even to read: what a killed process left half done must be rolled back first.
        mode = "rw" if os.access(self._path, os.W_OK) else "ro"
        address = f"{self._path.absolute().as_uri()}?mode={mode}"
        return sqlite3.connect(address, timeout=_BUSY_SECONDS, isolation_level=None, uri=True)

    @contextmanager
    def _failing(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise WriteError(f"{self._path}: {error}") from error
        except UnicodeDecodeError as error:  # what SQLite says of a broken file has the bytes in it
            raise WriteError(f"{self._path}: not a database, or a broken one") from error
        except OSError as error:
            raise WriteError(f"{self._path}: {(error.strerror or str(error)).lower()}") from error


@contextmanager
def locked(directory: Path) -> Iterator[int]:
    """Be the only one who submits or cancels in this sweep; gives the descriptor that holds the lock.

    A process that inherits the descriptor holds the lock, too. Raises WriteError if the lock cannot be had.
    """
    path = directory / LOCK
    descriptor = opened_lock(path)
    try:
        _wait_for(descriptor, path)
        yield descriptor
    finally:
        os.close(descriptor)


def _wait_for(descriptor: int, path: Path) -> None:
    until = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > until:
                message = f"{path}: another nmlgen has been at work in this sweep for {_LOCK_SECONDS // 60} minutes"
                raise WriteError(message) from None
            time.sleep(0.05)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise WriteError(f"{path}: {reason}; does the file system allow locks (flock)?") from error
