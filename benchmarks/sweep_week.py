"""A week of a real cluster in some minutes: a sweep on a Slurm with accounting, a limit on jobs and a throttle, while
nodes fail and drain, points are cancelled and started again, the controller goes, and whoever submits is killed.

    python benchmarks/sweep_week.py [POINTS] [SECONDS]     how many points, and how long each takes

At every look `nmlgen status` is held against squeue and sacct, as they were before and after it, and against what the
points' own models noted. Prints what was done, what disagreed, and how the throttle was used. Needs Slurm, slurmdbd and
MariaDB.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from real.cluster import Cluster, Layout, running_cluster
from real.test_submission import OnSlurm

MOST, THROTTLE, KILLS = 60, 20, 30  # jobs that the user may have; points at a time; how often nmlgen is killed
GROUPS = 4  # of points with the same directives
MODEL = """\
say() {{ printf '%s %s %s\\n' "$1" "$SLURM_JOB_ID" "$EPOCHREALTIME" >>model.log; }}
say start
for (( second = 0; second < {seconds}; second++ )); do sleep 1; done
say end
"""
# What the accounting says of a point that is done: its node may have failed between its end and that of its job.
ENDS_WELL = ("COMPLETED", "RUNNING", "COMPLETING", "PENDING", "REQUEUED", "NODE_FAIL")
RUNNING = ("RUNNING", "CONFIGURING", "COMPLETING")


class Week:
    """The sweep, what was done to it, and what was seen."""

    def __init__(self, cluster: Cluster, directory: Path, points: int, seconds: int) -> None:
        self.cluster, self.points = cluster, points
        self.sweep = OnSlurm(cluster, directory)
        self.sweep.write(
            points,
            MODEL.format(seconds=seconds),
            lambda n: ("--ntasks=1", "--time=02:00:00", "--requeue", f"--comment=group{n * GROUPS // points}"),
        )
        self.calls = self.kills = self.looks = self.blind = 0
        self.submitted_when_killed = 0
        self.cancelled: dict[int, str] = {}  # by number: how
        self.wrong: list[str] = []
        self.samples: list[tuple[float, Counter[str]]] = []  # when, and how many were in which state or wait for what
        self.is_over = threading.Event()
        self.seconds_of_a_submit = 2.0
        self.began = time.monotonic()

    # --- What is seen -------------------------------------------------------------------------------------------

    def ended(self) -> int:
        """How many points have come to their end."""
        return sum("end" in self.sweep.words(number) for number in range(self.points))

    def queue(self) -> dict[int, str] | None:
        """The states of the points that squeue lists as active; None while it cannot be asked."""
        asked = ["squeue", "-h", "-r", "-t", "all", "-o", "%j|%K|%T"]
        done = subprocess.run(
            asked, env=self.cluster.complete_environment(), capture_output=True, text=True, check=False
        )
        if done.returncode:
            return None
        found = {}
        for line in done.stdout.splitlines():
            name, task, state = line.split("|")
            number = self.number(name, task)
            if number is not None and state in (*RUNNING, "PENDING"):
                found[number] = state
        return found

    def number(self, name: str, task: str) -> int | None:
        """The point of an array's task."""
        with suppress(OSError, ValueError):
            link = self.sweep.directory / "submissions" / name.split(".")[-2] / "points" / str(int(task))
            return int(link.readlink().name[1:])
        return None

    def accounted(self) -> dict[int, str]:
        """What the accounting says of points whose last job is over."""
        asked = ["sacct", "-X", "-n", "-P", "--allusers", "-S", "2000-01-01", "-o", "JobName,JobID,State"]
        found: dict[int, str] = {}
        for line in self.cluster.run(*asked, check=False).splitlines():
            name, job, state = line.split("|")
            number = self.number(name, job.partition("_")[2])
            if number is not None:
                found[number] = state.split()[0]
        return found

    def sample(self) -> None:
        """See every two seconds how many run, and for what the others wait."""
        asked = ["squeue", "-h", "-r", "-o", "%T %r"]
        while not self.is_over.wait(2):
            now = time.time()
            done = subprocess.run(
                asked, env=self.cluster.complete_environment(), capture_output=True, text=True, check=False
            )
            if done.returncode == 0:
                words = (line.split() for line in done.stdout.splitlines())
                self.samples.append((now, Counter(w[1] if w[0] == "PENDING" else w[0] for w in words)))

    def look(self) -> None:
        """Hold the status against what was the case before it and after it."""
        notes = [self.sweep.words(number) for number in range(self.points)]
        before = self.queue()
        done = self.sweep.nmlgen("status", "--format", "json")
        after = self.queue()
        if done.returncode not in (0, 1, 3):
            self.complain(f"status: exit code {done.returncode}: {done.stderr.strip()[-300:]}")
            return
        if before is None or after is None:
            self.blind += 1
            return
        self.looks += 1
        accounted = self.accounted()
        states = {int(point["name"][1:]): point["state"] for point in json.loads(done.stdout)["points"]}
        for number, state in states.items():
            expected = self.expected(number, notes[number], before.get(number), after.get(number))
            if expected and state not in expected:
                queued = f"squeue {before.get(number)}, {after.get(number)}; sacct {accounted.get(number)}"
                self.complain(f"p{number:03d} is {state}, expected {expected}: {notes[number]}, {queued}")
            word = accounted.get(number, "COMPLETED")
            if state == "done" and number not in self.cancelled and word not in ENDS_WELL:
                self.complain(f"p{number:03d} is done, and sacct says {word}")
            if state == "cancelled" and number not in self.cancelled:
                self.complain(f"p{number:03d} is cancelled, and nobody did it")

    def expected(self, number: int, notes: list[str], before: str | None, after: str | None) -> tuple[str, ...]:
        """The states that a point may be in; none where that cannot be told."""
        if number in self.cancelled:
            return ("cancelled", "done") if before is None and after is None else ()
        if "end" in notes and before != "RUNNING":  # if it waits, its node failed before it said that the job was over
            return ("done",)
        if before == after == "PENDING":
            return ("waiting",)
        if before == after == "RUNNING" and "end" not in self.sweep.words(number):
            return ("running",)
        if before is None and after is None and not self.sweep.words(number):
            return ("not submitted",)
        return ()

    def complain(self, message: str) -> None:
        """Something is wrong."""
        self.wrong.append(message)
        self.say(f"WRONG: {message}")

    def say(self, message: str) -> None:
        """Print what happens, and when."""
        print(f"{time.monotonic() - self.began:6.0f} s  {message}", flush=True)

    # --- What is done -------------------------------------------------------------------------------------------

    def submit(self) -> None:
        """Submit what is missing; in some of the calls with whoever does it killed in between."""
        command = self.sweep.command("submit", "--throttle", str(THROTTLE), "--yes")
        environment = self.cluster.complete_environment()
        self.calls += 1
        if self.kills < KILLS and self.calls % 5:
            self.kills += 1
            submissions = len(list(self.sweep.directory.glob("submissions/*/points")))
            process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            with suppress(subprocess.TimeoutExpired):
                process.wait(random.uniform(0.3, 1.1) * self.seconds_of_a_submit)
            process.kill()
            process.wait()
            more = len(list(self.sweep.directory.glob("submissions/*/points"))) - submissions
            self.submitted_when_killed += more > 0
            return
        start = time.monotonic()
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        self.seconds_of_a_submit = time.monotonic() - start
        if done.returncode and "Limit" not in done.stderr and self.queue() is not None:
            self.complain(f"submit: exit code {done.returncode}: {done.stderr.strip()[-300:]}")

    def scancel(self) -> None:
        """Take some points that wait and some that run by hand, and some with nmlgen."""
        queue = self.queue() or {}
        jobs = self.cluster.run("squeue", "-h", "-r", "-o", "%j|%K|%F").split()
        ids = {self.number(*job.split("|")[:2]): job.split("|") for job in jobs}
        for state, count in (("PENDING", 4), ("RUNNING", 3)):
            numbers = sorted(n for n, word in queue.items() if word == state and n not in self.cancelled)
            for number in random.sample(numbers, min(count, len(numbers))):
                self.cancelled[number] = f"scancel, {state.lower()}"
                self.cluster.run("scancel", f"{ids[number][2]}_{ids[number][1]}")
        waiting = sorted(n for n, word in queue.items() if word == "PENDING" and n not in self.cancelled)
        numbers = random.sample(waiting, min(2, len(waiting)))
        self.cancelled |= dict.fromkeys(numbers, "nmlgen cancel")
        done = self.sweep.nmlgen("cancel", *(f"p{number:03d}" for number in numbers))
        if done.returncode:
            self.complain(f"cancel: {done.stderr.strip()[-300:]}")

    def requeue(self) -> None:
        """Let Slurm start some that run again."""
        jobs = self.cluster.run("squeue", "-h", "-r", "-t", "RUNNING", "-o", "%F_%K").split()  # %A may mean the array
        for job in random.sample(jobs, min(4, len(jobs))):
            self.cluster.run("scontrol", "requeue", job, check=False)

    def break_node(self) -> None:
        """A node goes down with all that runs on it."""
        self.cluster.break_node("n1")

    def mend_node(self) -> None:
        """It comes back."""
        self.cluster.run("slurmd", "-N", "n1", "-f", self.cluster.directory / "slurm.conf")

    def drain(self) -> None:
        """A node takes no more jobs."""
        self.cluster.run("scontrol", "update", "nodename=n2", "state=drain", "reason=test")

    def resume(self) -> None:
        """It takes jobs again."""
        self.cluster.run("scontrol", "update", "nodename=n2", "state=resume")

    def restart_controller(self) -> None:
        """Slurm's controller goes, and comes again after some seconds."""
        pid = int((self.cluster.directory / "slurmctld.pid").read_text())
        self.cluster.run("scontrol", "shutdown", "slurmctld", check=False)
        end = time.monotonic() + 60
        while Path(f"/proc/{pid}").exists() and time.monotonic() < end:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                break
            time.sleep(0.2)
        time.sleep(3)
        self.cluster.run("slurmctld", "-f", self.cluster.directory / "slurm.conf")

    def plan(self) -> Iterator[tuple[int, Callable[[], None]]]:
        """What is done when so many points have ended."""
        events = (
            self.scancel,
            self.break_node,
            self.requeue,
            self.mend_node,
            self.restart_controller,
            self.drain,
            self.scancel,
            self.requeue,
            self.resume,
            self.restart_controller,
        )
        for number, event in enumerate(events, start=1):
            yield self.points * number // (len(events) + 3), event

    def run(self) -> None:
        """Until nothing is left to do."""
        events = list(self.plan())
        turn = 0
        while True:
            turn += 1
            ended = self.ended()
            if events and ended >= events[0][0]:
                _, event = events.pop(0)
                self.say(f"{ended} have ended: {event.__name__}")
                event()
            self.submit()
            if turn % 4 == 0:
                self.look()
                self.say(f"{ended} ended, {self.kills} kills, {len(self.wrong)} wrong")
            if ended + len(self.cancelled) >= self.points and not (self.queue() or {}) and self.queue() is not None:
                return
            time.sleep(1)

    def judge(self) -> None:
        """What came of it."""
        self.look()
        states = self.sweep.status()
        twice = [number for number in range(self.points) if self.sweep.words(number).count("end") > 1]
        never = [n for n in range(self.points) if "end" not in self.sweep.words(n) and n not in self.cancelled]
        resumed = [n for n in self.cancelled if states[n]["state"] not in ("cancelled", "done")]
        again = sum(self.sweep.words(number).count("start") > 1 for number in range(self.points))
        self.say(f"{dict(Counter(point['state'] for point in states.values()))}")
        self.say(f"ran to the end twice: {twice}; never: {never}; started again by Slurm: {again}")
        self.say(f"cancelled: {len(self.cancelled)}, of which not so in the end: {resumed}")
        self.say(f"kills: {self.kills}, of which {self.submitted_when_killed} after something was submitted")
        self.say(f"looks: {self.looks}, {self.blind} times Slurm gave no answer; disagreements: {len(self.wrong)}")
        models = list(self.events())
        most = max(itertools.accumulate(step for _, step in models), default=0)
        enough = [(now, counts) for now, counts in self.samples if sum(counts.values()) >= THROTTLE + 5]
        shares = [
            100 * sum(counts[word] for _, counts in enough for word in words) / max(1, len(enough)) / THROTTLE
            for words in (RUNNING, (*RUNNING, "BeginTime"))
        ]
        self.say(
            f"throttle {THROTTLE}: at most {most} models ran at a time; used by {shares[0]:.0f} % while there were"
        )
        self.say(f"  enough, by {shares[1]:.0f} % with points that Slurm has wait before it starts them again")
        ran = [sum(step for when, step in models if when <= now) for now, _ in enough]
        self.say(f"  models that ran meanwhile: {100 * sum(ran) / max(1, len(ran)) / THROTTLE:.0f} % of the throttle")
        for now, counts in enough[::10]:
            running = sum(step for when, step in models if when <= now)
            print(f"    {now - enough[0][0]:6.0f} s  {running:3} models  {dict(counts)}")

    def events(self) -> Iterator[tuple[float, int]]:
        """When a model started, +1, or ended, -1; one that was stopped counts from its last start on."""
        found = []
        for said in map(self.sweep.said, range(self.points)):
            starts = [float(when) for word, _, when in said if word == "start"]
            ends = [float(when) for word, _, when in said if word == "end"]
            if starts and ends:
                found += [(starts[-1], 1), (ends[-1], -1)]
        yield from sorted(found)


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("points", nargs="?", type=int, default=500, help="500 by default")
    parser.add_argument("seconds", nargs="?", type=int, default=20, help="20 by default")
    arguments = parser.parse_args()
    random.seed(7)
    layout = Layout(has_accounting=True, min_job_age=5)
    with running_cluster(layout) as cluster, tempfile.TemporaryDirectory() as directory:
        cluster.limit_submitted_jobs(MOST)
        week = Week(cluster, Path(directory) / "week", arguments.points, arguments.seconds)
        sampling = threading.Thread(target=week.sample)
        sampling.start()
        try:
            week.run()
        finally:
            week.is_over.set()
            sampling.join()
        week.judge()
        sys.exit(bool(week.wrong))


if __name__ == "__main__":
    main()
