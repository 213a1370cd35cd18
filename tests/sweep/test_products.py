"""Points of a sweep beside what each of them may have thousands of: work grows with the sum, or is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from slurm_stand_in import SlurmStandIn
from specs import MAPPING
from steps import grows_too_fast
from sweep_points import write_points

import nmlgen
from nmlgen.errors import InputError
from nmlgen.schedulers.arrays import Task
from nmlgen.schedulers.slurm import arrays
from nmlgen.sweep.arrays import SweepPoint
from nmlgen.sweep.directory import read_table
from nmlgen.sweep.expansion import plan_of_spec
from nmlgen.sweep.export import _Names, export_sweep
from nmlgen.sweep.state import State, Submission
from nmlgen.sweep.status import _Judge

HEAD = "id,name,directory,state,reason\n"


def submission(points: int, legs: int) -> Submission:
    names = tuple(f"p{at}" for at in range(points))
    return Submission("t", "s", 1, "u", None, tuple(range(1, legs + 1)), names)


def table(sweep: Path, points: int) -> None:
    sweep.mkdir(exist_ok=True)
    (sweep / "points.csv").write_text(HEAD + "".join(f"{at},n{at},p{at},built,\n" for at in range(points)))


def test_points_and_legs():
    def work(number: int):
        tasks = [Task(f"s.t.{leg}", leg, leg, leg, "PENDING") for leg in range(1, number)]
        points = [SweepPoint(f"{at}", f"n{at}", f"p{at}") for at in range(number)]

        def look():
            judge = _Judge([submission(number, number)], tasks, {}, True, {}, {}, "Slurm")
            return [judge.status(point, None) for point in points]

        return look

    assert not grows_too_fast(work, 100)


def test_the_first_active_task_of_any_leg():
    tasks = [Task("s.t.3", 7, 0, 71, "RUNNING"), Task("s.t.2", 6, 0, 61, "PENDING"), Task("s.t.2", 6, 1, 62, "PENDING")]
    judge = _Judge([submission(2, 3)], tasks, {}, True, {}, {}, "Slurm")
    found = [judge.status(SweepPoint(f"{at}", f"n{at}", f"p{at}"), None) for at in range(2)]
    assert [(status.state, status.job) for status in found] == [("running", 71), ("waiting", 62)]


def test_points_and_tasks_that_are_cancelled(tmp_path, monkeypatch):
    slurm = SlurmStandIn(tmp_path / "bin", monkeypatch)
    sweep = tmp_path / "sweep"

    def work(number: int):
        table(sweep, number)
        state = State(sweep)
        state.create()
        state.drop("t")
        state.intend(submission(number, 1))
        state.note_array("t", 1, 1)
        slurm.queues([f"s.t.1|1|{at}|{at + 1}|PENDING||" for at in range(number)])

        def stop():
            assert len(nmlgen.cancel(sweep)) == number

        return stop

    work(2)()
    assert not grows_too_fast(work, 200)


def test_words_that_are_the_same():
    def work(number: int):
        def name():
            names = _Names("a_2")
            found = [names.own("a") for _ in range(number)]
            assert len(set(found)) == number

        return name

    assert not grows_too_fast(work, 200)
    names = _Names("a")
    assert [names.own("a") for _ in range(3)] == ["a_", "a_2", "a_3"]
    assert max(map(len, (names.own("a") for _ in range(1000)))) < 8


def test_two_points_in_one_directory(tmp_path):
    (tmp_path / "points.csv").write_text(f"{HEAD}1,a,p,built,\n2,b,./p/,built,\n")
    with pytest.raises(InputError, match=r"points.csv:3: another point lies in \./p/, too"):
        read_table(tmp_path)
    (tmp_path / "points.csv").write_text(f"{HEAD}1,a,,invalid,no\n2,b,,invalid,no\n")
    assert len(read_table(tmp_path)) == 2


@pytest.mark.parametrize("tool", ["ecflow", "autosubmit"])
def test_chains_without_an_end(tmp_path, monkeypatch, tool):
    SlurmStandIn(tmp_path / "bin", monkeypatch)
    sweep = tmp_path / "sweep"
    write_points(sweep, [("--nodes=1",)], "#SBATCH", lambda _: (), legs=999_999_999)
    with pytest.raises(InputError, match="has 999999999 jobs; expected: at most 10000, and 50000"):
        export_sweep(sweep, tool)
    with pytest.raises(InputError, match="999999999 job arrays"):
        nmlgen.submit(sweep, dry_run=True)


def test_combinations_of_very_many_keys():
    def rows(keys: int) -> tuple[int, int]:
        wide = {f"environment.V{at}": [1] for at in range(keys)}
        spec = nmlgen.load_spec({**MAPPING, "sweep": {"grid": {"job.nodes": list(range(1, 3001))}, "zip": wide}})
        plan = plan_of_spec(spec)
        assert plan is not None
        found, total = plan.drawn(2)
        assert total == 3000
        return plan._looked_at(2), len(found)

    assert rows(10) == (5000, 2)
    assert rows(999) == (500, 2)


def test_submissions_that_nobody_knows_are_forgotten_at_once(tmp_path, monkeypatch):
    SlurmStandIn(tmp_path / "bin", monkeypatch)
    sweep = tmp_path / "sweep"
    write_points(sweep, [("--nodes=1",)], "#SBATCH", lambda _: (), legs=1)
    state = State(sweep)
    state.create()
    for number in range(5):
        state.intend(Submission(f"t{number}", "s", 1, "u", None, (None,), (f"points/q{number}",)))
    opened: list[object] = []
    forget = State.forget

    def counted(self: State, tokens: list[str]) -> None:
        opened.append(tokens)
        forget(self, tokens)

    monkeypatch.setattr(State, "forget", counted)
    nmlgen.submit(sweep)
    assert opened == [[f"t{number}" for number in range(5)]]
    assert [found.points for found in state.submissions()] == [("points/p0",)]


def test_what_slurm_says_of_all_tasks_is_as_much_as_anybody_reads(monkeypatch):
    line = f"name|7|[0-999]|7|PENDING|{'n' * 10_000}|{'r' * 10_000}"
    monkeypatch.setattr(type(arrays.slurm), "run", lambda *_, **__: line)
    (one, *_, last) = arrays.queue({"name": 7})
    assert (one.nodes, one.reason, one.state) == (f"... {'n' * 2000}", f"... {'r' * 2000}", "PENDING")
    assert (last.index, last.reason) == (999, one.reason)
