"""Sweeps on PBS. What qsub, qstat, qselect and qdel say is what OpenPBS 23.06 said."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from pbs_stand_in import PbsStandIn, job
from sweep_points import record, states, write_points
from tools import require

import nmlgen
from nmlgen.schedulers import schedulers
from nmlgen.sweep.arrays import array_script
from nmlgen.sweep.state import State

DIRECTIVES = ("-S /bin/bash", "-l select=1:ncpus=4:mpiprocs=4", "-l walltime=00:10:00", "-r n", "-V")
QUEUED = {"job_state": "Q", "substate": "10", "comment": "Job Array Began at Sat Nov 28 at 18:10"}
RUNNING = {"job_state": "R", "exec_host": "n1/0*4+n2/0*4", "substate": "42", "run_count": "1"}
OVER = {"job_state": "X", "exec_host": "n1/0", "substate": "92", "run_count": "1", "Exit_status": "0"}
AS_THE_ARRAY = {"job_state": "X", "substate": "70", "comment": "Subjob finished", "Exit_status": "0"}
"""A task that has ended, of which PBS keeps nothing; what it says is said of the array."""


@pytest.fixture
def pbs(tmp_path, monkeypatch):
    return PbsStandIn(tmp_path / "bin", monkeypatch)


@pytest.fixture
def sweep(tmp_path) -> Path:
    return tmp_path / "sweep"


def write(sweep: Path, *points: tuple[str, ...], legs: int = 1, body: str = "") -> None:
    """A sweep of points with these directives."""
    write_points(sweep, points, "#PBS", lambda name: (f"-N {name}", "-j oe", f"-o {name}.log"), legs=legs, body=body)


def started(sweep: Path, point: int, leg: int = 1) -> None:
    name = State(sweep).submissions()[0].array_name(leg)
    ids = f"array={leg}[].pbshost job={leg}[{point}].pbshost"
    record(sweep, point, f"{leg}.start", f"token=x leg={leg} name={name} task={point} {ids} node=n1")


def array(sweep: Path, number: int, *tasks: dict[str, str], leg: int = 1, **said: str) -> tuple[str, ...]:
    """What qstat says of an array, and of its tasks."""
    name = State(sweep).submissions()[0].array_name(leg)
    whole = {"job_state": "B", "substate": "70", "array_indices_submitted": f"0-{len(tasks) - 1}", **said}
    jobs = (job(f"{number}[{index}]", name, **task) for index, task in enumerate(tasks))
    return (job(f"{number}[]", name, **whole), *jobs)


# --- Submitting -----------------------------------------------------------------------------------------------


def test_points_with_the_same_directives_share_an_array(pbs, sweep):
    write(sweep, DIRECTIVES, DIRECTIVES, (*DIRECTIVES, "-q long"), DIRECTIVES)
    mask = os.umask(0o027)
    try:
        done = nmlgen.submit(sweep, throttle=2, mail="ada@example.org")
    finally:
        os.umask(mask)
    shared = [("1[].pbshost", ("p0", "p1", "p3")), ("2.pbshost", ("p2",))]
    assert [(one.job, one.points) for one in done.arrays] == shared
    first, second = State(sweep).submissions()
    assert (first.scheduler, first.jobs, second.jobs) == ("pbs", ("1[].pbshost",), ("2.pbshost",))
    home = sweep / "submissions"
    assert (
        pbs.calls("qsub")
        == [
            f"-f -N {first.array_name(1)} -J 0-2%2 -j oe -o {home / first.token}/ -W umask=027 "
            "-M ada@example.org -m ae array.sbatch",
            f"-f -N {second.array_name(1)} -j oe -o {home / second.token}/ -W umask=027 "
            "-M ada@example.org -m ae -W depend=afterany:1[].pbshost array.sbatch",
        ]
        or "afterany" not in pbs.calls("qsub")[1]
    )
    text = (home / first.token / "array.sbatch").read_text()
    assert [line for line in text.splitlines() if line.startswith("#PBS")] == [
        f"#PBS {line}"
        for line in DIRECTIVES
        if line != "-r n"  # of which PBS takes no array
    ]
    assert not (home / "slots.sh").exists()


def test_a_leg_waits_for_the_one_before(pbs, sweep):
    write(sweep, (*DIRECTIVES, "-W depend=afterok:7.pbshost"), DIRECTIVES, legs=2)
    nmlgen.submit(sweep)
    waits = [call.partition("-W depend=")[2].partition(" ")[0] for call in pbs.calls("qsub")]
    assert waits == ["", "afterany:1.pbshost", "", "afterany:3.pbshost"]  # the first is said in the script
    script = next(sweep.glob("submissions/*/points/0/p0.sbatch")).parents[2] / "array.sbatch"
    assert "#PBS -W depend=afterok:7.pbshost\n" in script.read_text()
    assert "set -- " not in script.read_text()


def test_the_first_leg_is_told_to_restart(pbs, sweep):
    write(sweep, DIRECTIVES, DIRECTIVES, legs=2)
    nmlgen.submit(sweep)
    for point in (0, 1):
        started(sweep, point)
        record(sweep, point, "1.end", "code=3 outcome=FAILED time=2000-01-01T01:00:00Z restarts=0")
    nmlgen.resubmit(sweep, ["p0"], restart=True)
    assert "-J" not in pbs.calls("qsub")[-1]  # PBS has no arrays of one
    text = (sweep / "submissions" / State(sweep).submissions()[-1].token / "array.sbatch").read_text()
    assert 'if (( leg == 1 )); then set -- "$leg" restart; fi\n' in text


def test_arrays_are_split_at_the_limits_of_server_and_queue(pbs, sweep):
    pbs.configure(array_size=3)
    write(sweep, *[DIRECTIVES] * 5)
    assert [len(one.points) for one in nmlgen.submit(sweep, dry_run=True).arrays] == [3, 2]
    body = 'case $* in *" -J 0-2 "*) echo "qsub: Array job exceeds server or queue size limit" >&2; exit 3;; esac'
    pbs.replace("qsub", f"#!/bin/bash\n{body}\n[[ $* == *-J* ]] && echo '4[].pbshost' || echo 5.pbshost\n")
    assert [len(one.points) for one in nmlgen.submit(sweep).arrays] == [1, 2, 2]


def test_a_limit_on_jobs_leaves_the_rest_for_later(pbs, sweep):
    write(sweep, DIRECTIVES, DIRECTIVES)
    pbs.says("qsub", error="qsub: would exceed complex's per-user limit", code=38)
    done = nmlgen.submit(sweep)
    assert (done.arrays, done.left, done.refusal) == ((), ("p0", "p1"), "qsub: would exceed complex's per-user limit")
    pbs.says("qsub", error="qsub: Unknown queue", code=1)
    with pytest.raises(nmlgen.SchedulerError, match=r"PBS refuses the point p0: qsub: Unknown queue\n .*p0\.sbatch$"):
        nmlgen.submit(sweep)
    assert State(sweep).submissions() == ()


def test_an_array_that_was_accepted_when_the_connection_was_lost(pbs, sweep):
    write(sweep, DIRECTIVES, DIRECTIVES)
    pbs.says("qsub", error="qsub: Batch protocol error", code=2)
    pbs.says("qselect", "8[].pbshost")
    assert [one.job for one in nmlgen.submit(sweep).arrays] == ["8[].pbshost"]
    pbs.says("qsub", "a banner of the site")
    (sweep / "nmlgen-sweep.sqlite").unlink()
    with pytest.raises(nmlgen.SchedulerError, match='gave no job id, but "a banner'):
        nmlgen.submit(sweep)
    name = State(sweep).submissions()[0].array_name(1)
    pbs.lists(
        8,
        job("8[]", name, job_state="Q", array_indices_submitted="0-1"),
        *(job(f"8[{index}]", name, **QUEUED) for index in (0, 1)),
    )
    assert nmlgen.submit(sweep).arrays == ()  # it has found out
    assert State(sweep).submissions()[0].jobs == ("8[].pbshost",)


@pytest.mark.parametrize(
    ("directives", "message"),
    [
        (("-l mem=4GiB",), r"p0\.sbatch:5:13: qsub refuses .*4GiB"),
        (("-J 0-3",), r"p0\.sbatch:5: -J: a point of a sweep is one job"),
        (("-q a", "#SBATCH"), "has lines for PBS and Slurm: which of them hold"),
    ],
)
def test_scripts_that_cannot_be_submitted(pbs, sweep, directives, message):
    write(sweep, directives)
    script = sweep / "points/p0/p0.sbatch"
    script.write_text(script.read_text().replace("#PBS #SBATCH", "#SBATCH -N 1"))
    with pytest.raises(nmlgen.InputError, match=message):
        nmlgen.submit(sweep)


def test_what_pbs_cannot(pbs, sweep):
    write(sweep, DIRECTIVES, DIRECTIVES)
    with pytest.raises(nmlgen.InputError, match="on PBS each point has a job"):
        nmlgen.submit(sweep, pack=2)
    with pytest.raises(nmlgen.InputError, match=r"is not for Slurm: run_point\.sh waits"):
        nmlgen.export_sweep(sweep, "ecflow")
    nmlgen.submit(sweep)
    for script in sweep.glob("points/*/*.sbatch"):
        script.write_text("#!/bin/bash\n#SBATCH -N 1\n")
    with pytest.raises(nmlgen.InputError, match="was submitted to PBS; for Slurm write the sweep into an"):
        nmlgen.submit(sweep)


def test_another_users_jobs_that_pbs_hides_are_not_taken_for_none(pbs, sweep, monkeypatch):
    write(sweep, DIRECTIVES)
    monkeypatch.setenv("LOGNAME", "ada")
    nmlgen.submit(sweep)
    monkeypatch.setenv("LOGNAME", "bob")
    pbs.configure(others="False")
    with pytest.raises(nmlgen.SchedulerError, match=r"ada submitted p0, and this PBS .* \(query_other_jobs\)"):
        nmlgen.submit(sweep)


# --- Status ---------------------------------------------------------------------------------------------------


def test_tasks_of_a_server_with_a_history(pbs, sweep):
    write(sweep, *[DIRECTIVES] * 8)
    nmlgen.submit(sweep)
    for point in range(6):
        started(sweep, point)
    record(sweep, 0, "1.end", "code=0 outcome=OK time=2000-01-01T01:00:00Z restarts=0")
    for point in (1, 2):
        record(sweep, point, "1.end", "code=143 outcome=FAILED time=2000-01-01T01:00:00Z restarts=0")
    ended = [OVER, OVER | {"Exit_status": "-29", "substate": "93"}, OVER | {"Exit_status": "271", "substate": "91"}]
    killed = [OVER | {"Exit_status": "265"}, AS_THE_ARRAY]
    pbs.lists(1, *array(sweep, 1, *ended, *killed, RUNNING, AS_THE_ARRAY, QUEUED))
    found = nmlgen.status(sweep)
    assert [(point.state, point.reason) for point in found.points] == [
        ("done", ""),
        ("failed", "TIMEOUT"),
        ("cancelled", "CANCELLED"),
        ("failed", "FAILED"),
        ("lost", ""),
        ("running", ""),
        ("cancelled", ""),
        ("waiting", ""),
    ]
    assert (found.points[5].job, found.points[5].node) == ("1[5].pbshost", "n1,n2")
    pbs.lists(1)  # PBS forgets them one day
    assert states(sweep) == ["done", "failed", "cancelled", "failed", "lost", "lost", "cancelled", "not submitted"]


def test_a_server_without_a_history_forgets_arrays(pbs, sweep):
    """Then what lies in the points decides."""
    pbs.forgets()
    write(sweep, *[DIRECTIVES] * 3)
    nmlgen.submit(sweep)
    for point in (0, 1):
        started(sweep, point)
    pbs.lists(1, *array(sweep, 1, RUNNING, RUNNING, QUEUED))
    assert states(sweep) == ["running", "running", "waiting"]
    record(sweep, 0, "1.end", "code=0 outcome=OK time=2000-01-01T01:00:00Z restarts=0")
    pbs.lists(1)
    pbs.replace("qstat", (pbs.directory / "qstat").read_text().replace("code=0", "code=0; echo Welcome! >&2"))
    assert states(sweep) == ["done", "lost", "not submitted"]
    assert nmlgen.submit(sweep).points == ("p2",)


def test_legs_that_wait(pbs, sweep):
    write(sweep, DIRECTIVES, DIRECTIVES, legs=2)
    nmlgen.submit(sweep)
    started(sweep, 0)
    record(sweep, 0, "1.end", "code=0 outcome=RESTART time=2000-01-01T01:00:00Z restarts=0")
    pbs.lists(1, *array(sweep, 1, AS_THE_ARRAY, RUNNING))
    depends = {"depend": "afterany:1[].pbshost@pbshost"}
    pbs.lists(2, *array(sweep, 2, QUEUED | depends, QUEUED | depends, leg=2, job_state="H", **depends))
    found = nmlgen.status(sweep).points
    assert [(point.state, point.leg, point.legs, point.reason) for point in found] == [
        ("waiting", 2, 2, "Dependency"),
        ("running", 1, 2, ""),
    ]


def test_a_task_that_qdel_took_stays_cancelled(pbs, sweep):
    """Its leg is forgotten before the next one has found that there is nothing to go on with."""
    pbs.forgets()
    write(sweep, DIRECTIVES, DIRECTIVES, legs=2)
    nmlgen.submit(sweep)
    pbs.lists(1, *array(sweep, 1, RUNNING, AS_THE_ARRAY))
    pbs.lists(2, *array(sweep, 2, QUEUED, QUEUED, leg=2, job_state="H"))
    assert states(sweep) == ["running", "waiting"]
    pbs.lists(1)
    pbs.lists(2)
    assert states(sweep) == ["not submitted", "cancelled"]


@pytest.mark.parametrize(
    ("out", "error", "code", "said"),
    [
        ("", "", 0, "does not say what became of 1[].pbshost"),  # so it is with jobs of others, where they are hidden
        ("Welcome to the cluster\n", "", 0, "does not say what became of"),
        ("", "Connection refused\nqstat: cannot connect to server pbs (errno=15010)", 255, "Connection refused"),
        ("", "", 1, "qstat: exit code 1"),
        ("Job Id: 1[].pbshost\n    Job_Name = NAME\n", "", 0, "cannot be understood"),
        ("Job Id: 1[].pbshost\n    Job_Name = NAME\n    job_state = ?\n", "", 0, "cannot be understood"),
        ("Job Id: 1[].pbshost\n    Job_Name = NAME\n    job_state = B\n", "", 0, "does not list all tasks"),
        (
            "Job Id: 1[].pbshost\n    Job_Name = NAME\n    job_state = B\n    array_indices_submitted = 0-1\n\n"
            "Job Id: 1[0].pbshost\n    Job_Name = NAME\n    job_state = R\n",
            "", 0, "does not list all tasks",
        ),
        ("Job Id: what\n", "", 0, "cannot be understood"),
        ("", "qstat: Unknown Job Id 2[].pbshost", 153, "exit code 153"),
    ],
)  # fmt: skip
def test_an_answer_that_is_none(pbs, sweep, out, error, code, said):
    write(sweep, DIRECTIVES, DIRECTIVES)
    nmlgen.submit(sweep)
    started(sweep, 0)
    name = State(sweep).submissions()[0].array_name(1)
    real = pbs.directory / "qstat"
    real.rename(pbs.directory / "asked")
    pbs.says("answer", out.replace("NAME", name), error, code)
    pbs.replace(
        "qstat", f'#!/bin/bash\n[[ $1 != -B ]] || exec {pbs.directory}/asked "$@"\nexec {pbs.directory}/answer\n'
    )
    found = nmlgen.status(sweep)
    assert said in found.problem
    assert [point.state for point in found.points] == ["running", "waiting"]
    for action in (nmlgen.submit, nmlgen.cancel):
        with pytest.raises(nmlgen.SchedulerError):
            action(sweep)


def test_a_number_that_began_anew_is_another_job(pbs, sweep):
    write(sweep, DIRECTIVES)
    nmlgen.submit(sweep)
    pbs.lists(1, job("1", "of.another.1", job_state="R"))
    assert states(sweep) == ["not submitted"]


# --- Cancelling -----------------------------------------------------------------------------------------------


def test_cancelling(pbs, sweep):
    """An array whose tasks were all cancelled before it began would stay."""
    write(sweep, *[DIRECTIVES] * 3)
    nmlgen.submit(sweep)
    started(sweep, 0)
    pbs.lists(1, *array(sweep, 1, RUNNING, QUEUED, QUEUED))
    pbs.says("qdel", error="Welcome!\nqdel: Request invalid for finished array subjob 1[0].pbshost", code=55)
    assert nmlgen.cancel(sweep, ["p0", "p2"]) == ("p0", "p2")
    assert pbs.calls("qdel") == ["1[0].pbshost 1[2].pbshost"]
    pbs.lists(1, *array(sweep, 1, AS_THE_ARRAY, QUEUED, AS_THE_ARRAY))
    assert states(sweep) == ["cancelled", "waiting", "cancelled"]
    ended = "\\n".join(line for text in array(sweep, 1, *[AS_THE_ARRAY] * 3) for line in text.splitlines())
    pbs.replace(
        "qdel", f"#!/bin/bash\necho $* >>{pbs.directory}/qdel.calls\nprintf '{ended}' >{pbs.directory}/jobs/1\n"
    )
    assert nmlgen.cancel(sweep) == ("p1",)
    assert pbs.calls("qdel")[1:] == ["1[1].pbshost", "1[].pbshost"]
    pbs.lists(1, *array(sweep, 1, RUNNING, QUEUED, QUEUED))
    pbs.says("qdel", error="qdel: Unauthorized Request  1[1].pbshost", code=159)
    with pytest.raises(nmlgen.SchedulerError, match="Unauthorized"):
        nmlgen.cancel(sweep)


# --- The script of an array -------------------------------------------------------------------------------------


def run_task(pbs: PbsStandIn, sweep: Path, runs: int = 1, **environment: str) -> subprocess.CompletedProcess[str]:
    """What PBS does with the first task of the first leg: it runs a copy of the script, in the home directory."""
    (submission,) = State(sweep).submissions()
    home = sweep / "submissions" / submission.token
    pbs.lists(1, job("1[0]", "x", **RUNNING | {"run_count": str(runs)}))
    names = {"PBS_ARRAY_INDEX": "0", "PBS_ARRAY_ID": "1[].pbshost", "PBS_JOBID": "1[0].pbshost"}
    names |= {"PBS_JOBNAME": submission.array_name(1), "PBS_O_WORKDIR": str(home)}
    copy = sweep.parent / "1[0].pbshost.SC"
    copy.write_text((home / "array.sbatch").read_text())
    variables = {**os.environ, **names, **environment}
    return subprocess.run(
        ["bash", str(copy)], cwd=sweep.parent, env=variables, capture_output=True, text=True, check=False
    )


def test_a_task_runs_its_point(pbs, sweep):
    write(sweep, DIRECTIVES, DIRECTIVES, body="echo it is $1\nexit 3\n")
    nmlgen.submit(sweep)
    done = run_task(pbs, sweep)
    assert (done.returncode, done.stdout, done.stderr) == (3, "", "")
    assert (sweep / "points/p0/pbs-1.log").read_text() == "it is\n"
    assert " array=1[].pbshost job=1[0].pbshost " in (sweep / "points/p0/nmlgen.jobs/1.start").read_text()
    pbs.lists(1)
    (point, _) = nmlgen.status(sweep).points
    assert (point.state, point.job, point.exit_code) == ("failed", "1[0].pbshost", 3)


def test_a_point_that_is_not_to_start_again_is_lost(pbs, sweep):
    """PBS runs tasks of arrays again whose node has failed, whatever the script of the point says."""
    write(sweep, DIRECTIVES, DIRECTIVES, body="echo run\n")
    nmlgen.submit(sweep)
    started(sweep, 0)
    assert run_task(pbs, sweep, runs=2).returncode == 75
    assert "run\n" not in (sweep / "points/p0/pbs-1.log").read_text().splitlines()
    assert "outcome=LOST" in (sweep / "points/p0/nmlgen.jobs/1.end").read_text()
    pbs.lists(1)
    assert states(sweep) == ["lost", "not submitted"]


def test_a_point_that_may_start_again_runs_to_its_end(pbs, sweep):
    write(sweep, ("-V",), ("-V",), body="echo run\n[[ -f good ]] || kill -TERM $$\n")
    nmlgen.submit(sweep)
    assert run_task(pbs, sweep).returncode == 143
    run_task(pbs, sweep)  # not started again by PBS
    (sweep / "points/p0/good").touch()
    run_task(pbs, sweep, runs=2, PBS_JOBID="9[0].pbshost")  # another job
    assert (sweep / "points/p0/pbs-1.log").read_text().count("run\n") == 1
    assert run_task(pbs, sweep, runs=2).returncode == 0
    assert (sweep / "points/p0/pbs-1.log").read_text().count("\nrun\n") == 1
    assert sorted(path.name for path in (sweep / "points/p0/nmlgen.jobs").iterdir()) == ["1.end", "1.end.1", "1.start"]


def test_the_script_of_an_array_is_clean():
    require("shellcheck")
    for is_restarted in (True, False):
        text = array_script(
            "0123abcd", 2, ("-V",), 3, scheduler="pbs", is_restarted=is_restarted, arguments=("restart",)
        )
        done = subprocess.run(["shellcheck", "-"], input=text, capture_output=True, text=True, check=False)
        assert done.stdout == ""


# --- Batch systems of other packages ------------------------------------------------------------------------------


TOY = """
from nmlgen.schedulers.arrays import Limits
from nmlgen.schedulers.pbs.script import Script
from nmlgen.schedulers.request import Request, Written
import toy_scheduler as own
name, title, prefix = "toy", "Toy", "#TOY"
variables, says, programs = {}, {}, {}
takes_arguments, shares_slots = True, False
in_job = {word: f"$TOY_{word.upper()}" for word in "task array job name node restarts leg key usage".split()}
submitted = []


def is_spoken(source):
    return prefix in source.text


def read(source, bodies):
    return Request({})


def written(request):
    return Written(())


def arrays():
    return own


def read_script(path, source):
    return Script(path, (), Request({}))


def check_place(sweep):
    pass


def limits():
    return Limits(10, False)


def submit(order, lock):
    submitted.append(order)
    return len(submitted), ""


def queue(arrays):
    return ()


def accounting(arrays):
    return ()
"""


def test_a_package_adds_a_batch_system_for_sweeps(tmp_path, sweep, monkeypatch):
    (tmp_path / "toy-1.0.dist-info").mkdir()
    (tmp_path / "toy-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: toy\nVersion: 1.0\n")
    (tmp_path / "toy-1.0.dist-info" / "entry_points.txt").write_text("[nmlgen.schedulers]\ntoy = toy_scheduler\n")
    (tmp_path / "toy_scheduler.py").write_text(TOY)
    monkeypatch.syspath_prepend(tmp_path)
    schedulers.cache_clear()
    try:
        write(sweep, ("-V",), ("-V",))
        for script in sweep.glob("points/*/*.sbatch"):
            script.write_text("#!/bin/bash\n#TOY nodes 2\n")
        assert [(one.job, one.points) for one in nmlgen.submit(sweep).arrays] == [(1, ("p0", "p1"))]
        assert (State(sweep).submissions()[0].scheduler, nmlgen.status(sweep).scheduler) == ("toy", "toy")
        assert "task=$TOY_TASK" in next(sweep.glob("submissions/*/array.sbatch")).read_text()
        monkeypatch.delattr("toy_scheduler.arrays")  # as it was once
        with pytest.raises(nmlgen.InputError, match="nmlgen submits no sweeps to Toy"):
            nmlgen.submit(sweep)
    finally:
        schedulers.cache_clear()
