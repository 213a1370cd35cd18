"""CPU time of linting run scripts, beside that of shellcheck on the same files.

    python benchmarks/lint_scripts.py DIRECTORY [PATTERN]

DIRECTORY holds the scripts, such as `run/` of ICON; PATTERN says which of its files, by default `exp.*`. Each program
reads all of them in one process, nmlgen without its cache and then with it. Each line is the user and system time of
the whole process, start-up included: the best of several runs. nmlgen is compiled to bytecode before, as pip does when
it installs it.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

RUNS = 3


def cpu_seconds(command: list[str], environment: dict[str, str]) -> float:
    """User and system time of one run. Exit code 1 says that something was found; any other stops the benchmark."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    ended = subprocess.run(command, check=False, env=environment, text=True, **quiet)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if ended.returncode not in {0, 1} or "Traceback" in ended.stderr:
        sys.exit(f"{' '.join(command[:3])}: exit code {ended.returncode}\n{ended.stderr}")
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def best(command: list[str], environment: dict[str, str]) -> float:
    """The least over RUNS runs."""
    return min(cpu_seconds(command, environment) for _ in range(RUNS))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("pattern", nargs="?", default="exp.*")
    arguments = parser.parse_args()
    paths = sorted(str(path) for path in arguments.directory.glob(arguments.pattern) if path.is_file())
    if not paths:
        parser.exit(2, f"no file {arguments.pattern} in {arguments.directory}\n")
    nmlgen = str(Path(sys.executable).with_name("nmlgen"))
    shellcheck = shutil.which("shellcheck", path=str(Path(sys.executable).parent)) or shutil.which("shellcheck")
    lint = [nmlgen, "lint", *paths]
    cache = tempfile.mkdtemp(prefix="nmlgen-benchmark-")
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = cache
    subprocess.run([*lint, "--cache-dir", cache], check=False, env=environment, stdout=subprocess.DEVNULL)
    rows = [
        ("nmlgen --version", [nmlgen, "--version"]),
        ("nmlgen lint --no-cache", [*lint, "--no-cache"]),
        ("nmlgen lint, once more", [*lint, "--cache-dir", cache]),
    ]
    if shellcheck:
        rows.append(("shellcheck --shell=bash", [shellcheck, "--shell=bash", *paths]))
    lines = sum(len(Path(path).read_bytes().splitlines()) for path in paths)
    print(f"{len(paths)} scripts, {lines} lines")
    for name, command in rows:
        print(f"{name:<26} {best(command, environment):7.2f} s CPU")
    shutil.rmtree(cache)


if __name__ == "__main__":
    main()
