"""Start two jobs of one run directory at once, again and again: does exactly one of them run?

    python benchmarks/pairs.py [--pairs 50] [--seed 1]

Jobs of ICON and of a model that nobody described, without a batch system, and of that model in PBS, whose qstat knows
which jobs run, but does not always say it; with stand-ins for qstat, the launcher and the model. The second begins up
to 0.6 s after the first, so that it comes while that one starts, runs or ends. Ends with 1 if in any pair not exactly
one model has run, or if one job says something else than why it did not.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import nmlgen
from nmlgen.render.build import make_build

LAUNCHER = '#!/bin/bash\nexec "${@: -1}"\n'
MODEL = "#!/bin/bash\necho begins >>ran\nsleep 0.$((RANDOM % 3))\necho OK >finish.status\n"
QSTAT = """#!/bin/bash
job=${@: -1}
if [[ ! -e $HOME/runs.$job ]]; then
  echo "qstat: Unknown Job Id $job" >&2
  exit 153
fi
case $((RANDOM % 3)) in
  0) printf 'Job Id: %s\\n    job_state = R\\n    run_count = 1\\n' "$job" ;;
  1) echo "qstat: cannot connect to server" >&2; exit 111 ;;
  2) exit 1 ;;
esac
"""
JOB = 'bash pair.sbatch; code=$?; rm "$HOME/runs.$PBS_JOBID"; exit $code'
REFUSALS = ("is claimed by", "another job has just ended", "has run to its end")
COMMON: dict[str, Any] = {"nmlgen": 1, "name": "pair", "site": "local", "job": {"ntasks": 2}}
SPECS: tuple[dict[str, Any], ...] = (
    {
        "extends": "icon/jabw",
        "model": {"release": "2024.10", "executable": "bin/model"},
        "grid": {"file": "bin/model", "name": "R2B4", "num_lev": 10},
        "time": {"start": "2000-01-01T00:00:00Z", "stop": "2000-01-01T03:00:00Z", "modelTimeStep": "PT10M"},
    },
    {"model": {"name": "generic", "executable": "bin/model"}},
    {
        "model": {"name": "generic", "executable": "bin/model"},
        "site": "generic-pbs",
        "job": {"nodes": 1, "ntasks": 2, "time": "00:10:00"},
    },
)


def pair(spec: dict[str, Any], root: Path, directory: Path, delay: float) -> tuple[int, list[str]]:
    """How many models ran, and what each of the two jobs says in the end."""
    make_build(nmlgen.load_spec(spec), ()).write(directory)
    jobs = []
    for number, wait in enumerate((0.0, delay), 1):
        time.sleep(wait)
        job = f"{directory.name}{number}.server"
        (root / f"runs.{job}").touch()
        jobs.append(
            subprocess.Popen(
                ["bash", "-c", JOB],
                cwd=directory,
                env={"PATH": f"{root / 'bin'}:/usr/bin:/bin", "HOME": str(root), "PBS_JOBID": job},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
        )
    texts = [job.communicate()[0] for job in jobs]
    ran = (directory / "run" / "ran").read_text().count("begins")
    return ran, [_said(text, job.returncode) for text, job in zip(texts, jobs, strict=True)]


def _said(text: str, code: int) -> str:
    if code == 0:
        return "ran"
    refusal = next((words for words in REFUSALS if words in text), None)
    return refusal if refusal is not None and code == 1 else f"exit code {code}: {text[-200:]}"


def main() -> None:
    """Run the pairs, and tell what came of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    chance = random.Random(asked.seed)
    told: Counter[str] = Counter()
    wrong = 0
    with TemporaryDirectory() as name:
        root = Path(name)
        for program, text in (("mpirun", LAUNCHER), ("model", MODEL), ("qstat", QSTAT)):
            path = root / "bin" / program
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
            path.chmod(0o755)
        for number in range(asked.pairs):
            own = SPECS[number % len(SPECS)]
            spec = {**COMMON, **own, "model": {**own["model"], "directory": str(root)}}
            ran, said = pair(spec, root, root / str(number), chance.choice((0, 0, chance.uniform(0, 0.6))))
            told[" and ".join(sorted(said))] += 1
            wrong += ran != 1 or sorted(said)[-1] != "ran" or any("exit code" in one for one in said)
    for words, count in told.most_common():
        print(f"{count}: {words}")
    print(f"{asked.pairs} pairs, in {wrong} not exactly one model ran, or a job said something else")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
