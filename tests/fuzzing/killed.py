"""Commands that write, killed before one after the other of their changes of the disk, or with a disk that is full from
one of them on or after some bytes: every file is the old one or the new one, and the next try comes to its end."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import icon_logs
from attrs import field, frozen
from result_files import classic
from specs import changed

import nmlgen
from fuzzing.cases import yaml_of
from fuzzing.limited import Ended, call, warm_up

ROOT = Path(__file__).parents[2]
PROGRAMS = "programs"
QUEUE = "queue"
"""What the stand-in for sbatch was asked: the tasks of an array in each line."""


@frozen
class Command:
    """What is called, what it writes, the inputs that it needs, and the programs that stand in for those of others.

    An output that is a file holds "old" before, if `replaces`. What grows step by step, `grown`, is only looked at when
    the next try has come to its end."""

    arguments: tuple[str, ...]
    outputs: tuple[str, ...]
    prepare: Callable[[Path], None]
    replaces: bool = True
    programs: Mapping[str, str] = field(factory=dict)
    grown: tuple[str, ...] = ()

    def prepared(self, directory: Path) -> None:
        """The inputs, and older outputs where a command replaces what is there."""
        self.prepare(directory)
        for name in self.outputs if self.replaces else ():
            (directory / name).write_text("old\n", encoding="utf-8")
        for name, text in self.programs.items():
            path = directory / PROGRAMS / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
            path.chmod(0o755)

    def run(self, directory: Path, **disturbances: int) -> Ended:
        """Call it there."""
        return call(self.arguments, directory, environment=self.environment(directory), **disturbances)

    def environment(self, directory: Path) -> dict[str, str]:
        """The variables that a call has there."""
        return {"PATH": f"{directory}/{PROGRAMS}:/usr/bin:/bin", "XDG_CACHE_HOME": f"{directory}-cache"}


# --- What the commands need


def _spec(directory: Path) -> None:
    (directory / "spec.yaml").write_bytes(yaml_of(changed()))


def _rebuilt(directory: Path) -> None:
    nmlgen.build(changed(parallel={"nproma": 8})).write(directory / "made")
    _spec(directory)


def _sweep(directory: Path, *nproma: int, **changes: Any) -> None:
    one = changed(parallel={"num_io_procs": 1}, sweep={"grid": {"parallel.nproma": list(nproma or (8, 16))}}, **changes)
    one["output"]["atm"] |= {"stream_partitions_ml": 1, "filename_format": "<output_filename>_<datetime2>"}
    (directory / "sweep.yaml").write_bytes(yaml_of(one))


def _points(directory: Path, *nproma: int) -> None:
    _sweep(directory, *nproma)
    nmlgen.write_sweep(nmlgen.expand(directory / "sweep.yaml"), directory / "points")


def _more_points(directory: Path) -> None:
    _points(directory, 8)
    _sweep(directory)


def _built(directory: Path) -> None:
    shutil.copytree(ROOT / "tests/golden/jabw-generic/expected", directory / "built")


def _log(directory: Path) -> None:
    (directory / "LOG.a").write_bytes(icon_logs.text(icon_logs.log()))


def _ran(directory: Path) -> None:
    nmlgen.build(changed(job={"ntasks_per_node": 128, "nodes": 1}, parallel={"num_io_procs": 1}, site="levante")).write(
        directory / "built"
    )
    run = directory / "built" / "run"
    run.mkdir()
    (run / "wave.7.icon.log").write_bytes(icon_logs.text(icon_logs.log(127, 1)))
    for name in ("icon_master.namelist", "NAMELIST_wave"):
        shutil.copy(directory / "built" / name, run)


def _tree(directory: Path) -> None:
    (directory / "tree").mkdir()
    (directory / "tree" / "mo_x_nml.f90").write_text(
        "MODULE mo_x_nml\n  INTEGER :: x\n  NAMELIST /x_nml/ x\nCONTAINS\n  SUBROUTINE read_x_namelist\n    x = 4\n"
        "    READ (nnml, x_nml)\n  END SUBROUTINE\nEND MODULE\n",
        encoding="utf-8",
    )


def _to_mend(directory: Path) -> None:
    shutil.copy(ROOT / "examples" / "aquaplanet.run", directory / "a.run")


def _to_convert(directory: Path) -> None:
    (directory / "a.sh").write_text("#!/bin/bash\n#SBATCH -N 1 -t 10\n./icon\n", encoding="utf-8")


def _old_release(directory: Path) -> None:
    for name in ("NAMELIST_a", "NAMELIST_b"):
        text = "&run_nml\n iforcing = 3\n ltransport = .TRUE.\n/\n&nwp_phy_nml\n lscale_cdnc = .TRUE.\n/\n"
        (directory / name).write_text(text, encoding="utf-8")


def _failed(directory: Path) -> None:
    """Points that were submitted and failed."""
    _points(directory)
    submit = COMMANDS["submit"]
    submit.prepared(directory)
    submit.run(directory)
    known = directory / PROGRAMS / "known"
    known.write_text(known.read_text(encoding="utf-8").replace("PENDING", "FAILED"), encoding="utf-8")


def _to_tune(directory: Path) -> None:
    """A sweep whose points find what they need beside it."""
    _sweep(directory, model={"directory": "../../..", "executable": "icon"}, grid={"file": "grid.nc"})
    (directory / "icon").write_text("#!/bin/bash\n", encoding="utf-8")
    (directory / "icon").chmod(0o755)
    (directory / "grid.nc").touch()
    _log(directory)


def _stale(directory: Path) -> None:
    """Points that are done, and were then written anew."""
    _to_tune(directory)
    nmlgen.write_sweep(nmlgen.expand(directory / "sweep.yaml"), directory / "points")
    run = Command(("submit", "points"), (), lambda _: None, programs=COMMANDS["tune"].programs)
    run.prepared(directory)
    run.run(directory)
    written = nmlgen.load_spec(directory / "sweep.yaml", ["output.atm.output_interval=PT2H"])
    nmlgen.write_sweep(nmlgen.expand(written), directory / "points", force=True)


def _partitions(directory: Path) -> None:
    """A run of two partitions and, as cdo would make them, the whole files."""
    spec = changed(
        time={"start": "2000-01-01T00:00:00Z", "stop": "2000-01-01T02:00:00Z", "modelTimeStep": "PT10M"},
        restart={"checkpointTimeIntval": "PT2H", "restartTimeIntval": "PT2H"},
        parallel={"num_io_procs": 2},
    )
    spec["output"]["atm"] = {"output_interval": "PT20M", "stream_partitions_ml": 2, "file_interval": "PT80M"}
    spec["output"]["atm"] |= {"include_last": False, "ml_varlist": ["temp"]}
    nmlgen.build(spec).write(directory / "built")
    (directory / "built" / "run" / "output").mkdir(parents=True)
    stem = "built/run/output/wave_atm_DOM01_ML_"
    wholes = {"whole_0001": (0, 20, 40, 60), "whole_0002": (80, 100, 120)}
    parts = {f"{stem}0001": (0, 40), f"{stem}0002": (20, 60), f"{stem}0003": (80, 120), f"{stem}0004": (100,)}
    for name, minutes in (wholes | parts).items():
        classic(directory / f"{name}.nc", [20000101 + minute / 1440 for minute in minutes])


# --- What stands in for the programs of others

_SBATCH = f"""\
#!/bin/bash
here=${{0%/*}}
for word in "$@"; do
  case $word in --job-name=*) name=${{word#*=}} ;; --array=*) tasks=${{word#*=}} ;; esac
done
echo "$tasks" >>"$here/../{QUEUE}"
job=$(( 6 + $(wc -l <"$here/../{QUEUE}") ))
for (( task = 0; task <= ${{tasks#0-}}; task++ )); do echo "$name|$job|$task|$job|PENDING||" >>"$here/known"; done
echo "$job"
"""
_SLURM = {
    "sbatch": _SBATCH,
    "squeue": '#!/bin/bash\ntouch "${0%/*}/known"\ncat "${0%/*}/known"\n',
    "sacct": "#!/bin/bash\nexit 1\n",
    "scontrol": "#!/bin/bash\necho 'MaxArraySize = 1001'\n",
}
# Each task runs where sbatch was called, one after the other; the model's log stands in for the model.
_NOW = """\
#!/bin/bash
here=${0%/*}
for word in "$@"; do
  case $word in --job-name=*) name=${word#*=} ;; --array=*) tasks=${word#*=} ;; --chdir=*) cd "${word#*=}" ;; esac
done
echo "$tasks" >>"$here/../queue"
export SLURM_JOB_NAME=$name SLURM_ARRAY_JOB_ID=7 SLURM_JOB_ID=7
for (( task = 0; task <= ${tasks#0-}; task++ )); do
  SLURM_ARRAY_TASK_ID=$task bash ./array.sbatch 1 >/dev/null 2>&1
  echo "$name|7|$task|7|COMPLETED||" >>"$here/known"
done
echo 7
"""
_MODEL = '#!/bin/bash\nif [[ "$*" == *icon* ]]; then echo OK >finish.status; cat "${0%/*}/../LOG.a"; fi\n'

COMMANDS: dict[str, Command] = {
    "build": Command(("build", "spec.yaml", "-o", "made"), ("made",), _spec, replaces=False),
    "build again": Command(("build", "spec.yaml", "-o", "made"), ("made",), _rebuilt, replaces=False),
    "sweep": Command(("sweep", "sweep.yaml", "-o", "points"), ("points",), _sweep, replaces=False),
    "sweep again": Command(("sweep", "sweep.yaml", "-o", "points"), ("points",), _more_points, replaces=False),
    "init": Command(
        ("init", "--preset", "icon/jabw", "--site", "local", "--force", "-o", "first.yaml"),
        ("first.yaml",),
        lambda _: None,
    ),
    "import": Command(("import", "built", "--force", "-o", "imported.yaml"), ("imported.yaml",), _built),
    "convert": Command(("convert", "a.sh", "--to", "pbs", "-o", "a.pbs"), ("a.pbs",), _to_convert),
    "convert in place": Command(
        ("convert", "a.sh", "--to", "pbs", "-o", "a.sh"), ("a.sh",), _to_convert, replaces=False
    ),
    "logs": Command(("logs", "LOG.a", "-o", "runs.csv"), ("runs.csv",), _log),
    "report": Command(("report", "points", "-o", "page.html"), ("page.html",), _points),
    "calibrate": Command(("calibrate", "built", "-o", "here.yaml"), ("here.yaml",), _ran),
    "registry make": Command(
        ("registry", "make", "tree", "--icon-release", "2025.04", "-o", "2025.04.json"),
        ("2025.04.json", "2025.04-variables.json"),
        _tree,
    ),
    "export": Command(
        ("export", "points", "--for", "jube", "--force"), ("points/jube.xml", "points/run_point.sh"), _points
    ),
    **{
        f"export for {tool}": Command(
            ("export", "points", "--for", tool, "--force"), ("points",), _points, replaces=False
        )
        for tool in ("cylc", "ecflow", "ro-crate", "snakemake")
    },
    "man": Command(("man", "-o", "man1"), ("man1",), lambda _: None, replaces=False),
    "registry export": Command(
        ("registry", "export", "--icon-release", "2024.10", "--for", "rose", "-o", "meta"),
        ("meta",),
        lambda _: None,
        replaces=False,
    ),
    "resubmit --stale": Command(
        ("resubmit", "points", "--stale"),
        (QUEUE,),
        _stale,
        replaces=False,
        programs=_SLURM,
        grown=("points/stale",),
    ),
    "lint --fix": Command(("lint", "a.run", "--fix"), ("a.run",), _to_mend, replaces=False),
    "lint --write-baseline": Command(("lint", "a.run", "--write-baseline", "old.json"), ("old.json",), _to_mend),
    "migrate --fix": Command(
        ("migrate", "NAMELIST_a", "NAMELIST_b", "--icon-release", "2024.10", "--to", "2025.10", "--fix"),
        ("NAMELIST_a", "NAMELIST_b"),
        _old_release,
        replaces=False,
    ),
    "submit": Command(("submit", "points"), (QUEUE,), _points, replaces=False, programs=_SLURM),
    "resubmit": Command(("resubmit", "points", "--failed"), (QUEUE,), _failed, replaces=False, programs=_SLURM),
    "tune": Command(
        ("tune", "sweep.yaml", "-o", "tuning", "--runs", "2"),
        ("tuning/tuned.yaml",),
        _to_tune,
        replaces=False,
        programs=_SLURM | {"sbatch": _NOW, "srun": _MODEL, "mpirun": _MODEL},
        grown=(QUEUE, "tuning/points.csv"),
    ),
    "advise --plot": Command(("advise", "spec.yaml", "--plot", "plot.svg"), ("plot.svg",), _spec),
    "join": Command(
        ("join", "built"),
        ("built",),
        _partitions,
        replaces=False,
        programs={"cdo": '#!/bin/bash\nname=${!#}; name=${name%.nc*}; cp "${0%/*}/../whole_${name##*_}.nc" "${!#}"\n'},
    ),
}
"""Every command that writes, by a name."""


class Trials:
    """One command, done again and again from the same beginning, in a directory that it has for itself, and one beside
    it."""

    def __init__(self, name: str, directory: Path) -> None:
        self.command = COMMANDS[name]
        self.directory = directory
        self._begun = directory.with_name(f"{directory.name}-begun")
        shutil.rmtree(self._begun, ignore_errors=True)
        self._begun.mkdir(parents=True)
        self.command.prepared(self._begun)
        self.again()
        self.before = self.contents()
        warm_up(directory, self.command.arguments, self.command.environment(directory))
        self.again()
        self.command.run(directory)
        self.after = self.contents()
        self._hidden = self._hidden_now()

    def again(self) -> None:
        """Begin anew."""
        shutil.rmtree(f"{self.directory}-cache", ignore_errors=True)
        shutil.rmtree(self.directory, ignore_errors=True)
        shutil.copytree(self._begun, self.directory, symlinks=True)

    def contents(self) -> dict[str, bytes]:
        """What the outputs hold, hidden files aside: what is killed outright may leave one."""
        found = {}
        for name in (*self.command.outputs, *self.command.grown):
            for path in [self.directory / name, *sorted((self.directory / name).rglob("*"))]:
                if path.is_file() and not any(part.startswith(".") for part in path.relative_to(self.directory).parts):
                    found[str(path.relative_to(self.directory))] = path.read_bytes()
        return found

    def _hidden_now(self) -> set[str]:
        return {
            str(path.relative_to(self.directory))
            for path in self.directory.rglob(".*")
            if path.is_file() and path.parent.name != PROGRAMS
        }

    def left(self) -> list[str]:
        """Hidden files that a call which succeeds does not leave."""
        return sorted(self._hidden_now() - self._hidden)

    def wrong(self) -> list[str]:
        """Outputs that are neither the old ones nor the new ones, or gone."""
        now = self.contents()
        half = [
            name
            for name, data in now.items()
            if name not in self.command.grown and data not in (self.before.get(name), self.after.get(name))
        ]
        return half + [name for name in self.before if name not in now]

    def unlike(self) -> list[str]:
        """Outputs that another call leaves otherwise than the first one would have, undisturbed."""
        self.command.run(self.directory)
        now = self.contents()
        return [name for name in {**now, **self.after} if self.after.get(name) != now.get(name)]


def kills(trials: Trials, every: int = 1) -> Iterator[str | None]:
    """For each `every`-th deed of a command: what was lost when it was killed there, or None."""
    number = 0
    while True:
        trials.again()
        if trials.command.run(trials.directory, killed_at=number).code != -signal.SIGKILL:
            return
        wrong = trials.wrong()
        unlike = trials.unlike()
        yield f"at deed {number}: half or gone {wrong}, otherwise the next time {unlike}" if wrong or unlike else None
        number += every


SIZES = (200, 1000)


def full_disks(trials: Trials, every: int = 1, sizes: tuple[int, ...] = SIZES) -> Iterator[str | None]:
    """For each `every`-th deed from which on the disk is full, and each size that no file exceeds, with room for a
    message: what was lost or left, or None."""
    number = 0
    while True:
        trials.again()
        end = trials.command.run(trials.directory, full_at=number)
        if end.code in (0, 1) and end.fault is None and not trials.wrong() and trials.contents() == trials.after:
            break
        yield _told(trials, f"full at deed {number}", end)
        number += every
    for size in sizes:
        trials.again()
        yield _told(trials, f"full after {size} bytes", trials.command.run(trials.directory, largest_file=size))


def _told(trials: Trials, where: str, end: Ended) -> str | None:
    wrong = trials.wrong()
    left = trials.left()
    unlike = trials.unlike()
    if not wrong and not left and not unlike and end.fault is None and (end.code == 2 or not trials.wrong()):
        return None
    return f"{where}: {end.code} {end.fault} half or gone {wrong}, left {left}, otherwise the next time {unlike}"
