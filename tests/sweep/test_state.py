"""What is remembered of submissions: whole, whoever is killed and whoever else writes."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from attrs import evolve
from tools import PATIENCE

from nmlgen.errors import WriteError
from nmlgen.sweep.state import DATABASE, LOCK, State, Submission, locked

HALF_DONE = """\
import signal, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA cache_size = 1")
connection.execute("BEGIN IMMEDIATE")
connection.executemany("INSERT INTO task VALUES ('half', ?, 'points/p')", ((number,) for number in range(50000)))
print("now", flush=True)
signal.pause()
"""


def submission(token: str, **more) -> Submission:
    said = {"name": "sweep", "first": 1, "user": "ada", "throttle": None, "jobs": (None, None), "points": ("a", "b")}
    return Submission(token=token, **{**said, **more})


def test_what_is_noted_is_remembered_in_order(tmp_path):
    state = State(tmp_path)
    assert (state.exists, state.submissions(), state.fates()) == (False, (), {})
    state.create()
    state.intend(submission("b"))
    state.intend(submission("a", first=3, throttle=5, jobs=(None,)))
    state.note_array("b", 1, 17)
    state.note_fates({("sweep.b.1", 0): "CANCELLED"})
    state.create()
    first, second = State(tmp_path).submissions()
    assert first == submission("b", jobs=(17, None))
    assert first.array_names == ("sweep.b.1", "sweep.b.2")
    assert second == submission("a", first=3, throttle=5, jobs=(None,))
    assert state.fates() == {("sweep.b.1", 0): "CANCELLED"}
    state.drop("b", 2)
    assert state.submissions()[0].jobs == (17,)
    state.drop("b")
    assert state.submissions() == (second,)


def test_what_earlier_versions_wrote_is_read(tmp_path):
    state = State(tmp_path)
    state.create()
    state.intend(submission("old"))
    state.note_array("old", 1, 17)
    with sqlite3.connect(tmp_path / DATABASE) as connection:
        connection.execute("DROP TABLE pack")  # which there was not before several points shared a job
        connection.execute("DROP TABLE scheduler")  # nor this, before there was more than Slurm
    connection.close()
    assert state.submissions() == (submission("old", jobs=(17, None)),)
    state.create()
    new = submission("new", jobs=(None,), scheduler="pbs", pack=2)
    state.intend(new)
    state.note_array("new", 1, "18[].pbshost")
    state.drop("old")
    assert state.submissions() == (evolve(new, jobs=("18[].pbshost",)),)


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("submission", "first", "'x'"),
        ("submission", "first", "NULL"),
        ("submission", "throttle", "0"),
        ("submission", "user", "x'ff'"),
        ("job", "leg", "1.5"),
        ("job", "array", "'--all'"),
        ("task", "directory", "NULL"),
        ("fate", "state", "x'ff'"),
        ("pack", "size", "'many'"),
        ("scheduler", "name", "NULL"),
    ],
)
def test_a_value_that_nobody_wrote_is_named(tmp_path, table, column, value):
    state = State(tmp_path)
    state.create()
    state.intend(submission("a", pack=2, scheduler="pbs"))
    state.note_fates({("sweep.a.1", 0): "CANCELLED"})
    with sqlite3.connect(tmp_path / DATABASE) as connection:
        connection.execute(f"CREATE TABLE loose AS SELECT * FROM {table}")  # without what the columns declare
        connection.execute(f"DROP TABLE {table}")
        connection.execute(f"ALTER TABLE loose RENAME TO {table}")
        connection.execute(f"UPDATE {table} SET {column} = {value}")
    with pytest.raises(WriteError, match=f"{DATABASE}: {table}.{column} is .*, which nmlgen does not write there"):
        State(tmp_path).fates() if table == "fate" else State(tmp_path).submissions()


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE VIEW fate AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i, i, i FROM n",
        "CREATE TABLE fate (z, array AS (hex(zeroblob(4e8))), task, state)",
        "CREATE TABLE fate (array, task, state CHECK (hex(zeroblob(4e8)) > state))",
        "CREATE TRIGGER t BEFORE INSERT ON job BEGIN INSERT INTO task WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL "
        "SELECT i + 1 FROM n) SELECT 'a', i, i FROM n; END",
    ],
)
def test_what_is_no_plain_table_is_not_worked_out(tmp_path, statement):
    state = State(tmp_path)
    state.create()
    with sqlite3.connect(tmp_path / DATABASE) as connection:
        connection.execute("DROP TABLE fate")
        connection.execute(statement)
    for action in (state.fates, state.submissions, lambda: state.note_fates({("a", 0): "FAILED"})):
        with pytest.raises(WriteError, match=f"{DATABASE}: (fate|t) is no plain table"):
            action()


def test_what_was_half_written_when_its_writer_was_killed_never_was(tmp_path):
    state = State(tmp_path)
    state.create()
    state.intend(submission("whole"))
    command = [sys.executable, "-c", HALF_DONE, str(tmp_path / "nmlgen-sweep.sqlite")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout.readline() == "now\n"
        writer.kill()
    assert (tmp_path / "nmlgen-sweep.sqlite-journal").stat().st_size
    assert state.submissions() == (submission("whole"),)
    state.intend(submission("next"))
    assert [found.token for found in state.submissions()] == ["whole", "next"]


def test_a_file_that_was_only_just_made(tmp_path):
    """Whoever made it was killed before there was anything in it."""
    (tmp_path / "nmlgen-sweep.sqlite").touch()
    assert (State(tmp_path).submissions(), State(tmp_path).fates()) == ((), {})
    State(tmp_path).create()
    State(tmp_path).intend(submission("a"))
    assert len(State(tmp_path).submissions()) == 1


def test_many_writers_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr("nmlgen.sweep.state._BUSY_SECONDS", PATIENCE)
    State(tmp_path).create()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: State(tmp_path).intend(submission(f"t{number}")), range(40)))
    assert len(State(tmp_path).submissions()) == 40


def test_the_lock_lasts_as_long_as_a_child_that_has_it(tmp_path):
    with locked(tmp_path) as descriptor:
        child = subprocess.Popen(
            ["bash", "-c", "read -r line; echo gone >gone"], stdin=subprocess.PIPE, pass_fds=(descriptor,), cwd=tmp_path
        )
    with ThreadPoolExecutor(1) as pool:

        def wait_for_it() -> bool:
            with locked(tmp_path):
                return (tmp_path / "gone").exists()

        waiting = pool.submit(wait_for_it)
        child.communicate(b"go on\n")
        assert waiting.result()


@pytest.mark.parametrize("name", [LOCK, DATABASE])
def test_no_file_is_made_where_a_link_leads(tmp_path, name):
    """Somebody else may have put it there."""
    (tmp_path / "sweep").mkdir()
    (tmp_path / "sweep" / name).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(WriteError, match="is a symbolic link"), locked(tmp_path / "sweep"):
        State(tmp_path / "sweep").create()
    assert not (tmp_path / "elsewhere").exists()


def test_a_pipe_is_no_lock(tmp_path):
    os.mkfifo(tmp_path / LOCK)
    with pytest.raises(WriteError, match="no ordinary file"), locked(tmp_path):
        pass
