"""Hostile texts at every place of a project's configuration: what linting mends in a run script is run, and does what
the script did as it was written."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fuzzing.quoting import CANARY, KEY, NOTE, Place, with_texts
from fuzzing.specs import toml
from fuzzing.trees import leaves
from nmlgen.errors import NmlgenError
from nmlgen.fixing import fix

FILE = "nmlgen.toml"
CONFIGURATION: dict[str, dict[str, Any]] = {
    FILE: {
        "icon-release": "2024.10",
        "site": "levante",
        "select": ["NML", "SBA"],
        "severity": {"NML": "warning"},
        "cache-dir": ".nmlgen_cache",
        "ignore": [{"rule": "PAR004", "path": "run/exp.*", "reason": "half of the ranks write"}],
        "profile": {"nodes": "4", "directory": "out", "step": "PT10M", "levels": "30", "name": "atm"},
    }
}
_CHOSEN = ("profile", "severity")
"""Tables whose keys the author chooses."""

# Much of it can be mended, beside variables that only the configuration knows.
SCRIPT = """\
#!/bin/bash
#SBATCH --job-name=exp
#SBATCH --nodes=2
#SBATCH --workdir=/tmp
mkdir -p "$directory"
lfs setstripe --count 4 "$directory"
cat > icon_master.namelist << EOF
&master_nml
 lrestart = .false.
/
&master_time_control_nml
 experimentStartDate = '2008-09-01T00:00:00Z'
 experimentStopDate = '2008-09-02T00:00:00Z'
/
&master_model_nml
 model_type = 1
 model_name = '$name'
 model_namelist_filename = 'NAMELIST_a'
 model_min_rank = 1
/
EOF
cat > NAMELIST_a << EOF
&run_nml
 num_lev = $levels.
 modelTimeStep = '$step'
 iforcing = 3
 ltransprt = .true.
/
&parallel_nml
 num_io_proc = $nodes
/
&output_nml
 output_filename = '$directory/$name'
 output_interval = "$step"
 file_interval = '$step'
/
EOF
model "$directory" "$name" $levels ${nodes} "$step"
"""


def differences(text: str, directory: Path) -> Iterator[tuple[Place, bool, list[str]]]:
    """Each place that takes the text, with whether anything was mended, and what is wrong then: a file that was made, a
    call that only one of the two scripts makes."""
    home = directory / "home"
    home.mkdir(parents=True, exist_ok=True)
    for place in places():
        documents = with_texts(CONFIGURATION, {place: text})
        if documents is None:
            continue
        (home / "exp.run").write_text(SCRIPT, encoding="utf-8")
        lines = [f"{toml(key)} = {toml(value)}\n" for key, value in documents[FILE].items()]
        (home / FILE).write_text("".join(lines), encoding="utf-8", errors="replace")
        try:
            fix([home / "exp.run"], is_unsafe=True).write()
        except NmlgenError:
            continue
        mended = (home / "exp.run").read_bytes().decode("utf-8", "surrogateescape")
        profile = documents[FILE]["profile"]
        before, after = (executed(script, profile, home) for script in (SCRIPT, mended))
        wrong = [f"there is {path}" for path in directory.rglob(f"{CANARY}*")]
        wrong += [f"{call} is called" for call in after if call not in before]
        wrong += [f"{call} is not called" for call in before if call not in after]
        yield place, mended != SCRIPT, wrong


def places() -> Iterator[Place]:
    """Every text of the configuration, and every key that its author chooses."""
    for path, value in leaves(CONFIGURATION):
        if isinstance(value, str):
            yield path
        if path[-2:-1] and path[-2] in _CHOSEN:
            yield (*path, KEY)


def executed(script: str, profile: Mapping[str, str], home: Path) -> list[tuple[str, ...]]:
    """The calls that a script makes of programs that stand in for others, with the profile in its environment."""
    programs, work, calls = home / "programs", home / "work", home / "calls"
    for path in (programs, work):
        path.mkdir(exist_ok=True)
    calls.unlink(missing_ok=True)
    for name in ("model", "lfs", "mkdir"):
        (programs / name).write_text(NOTE.format(more=""), encoding="utf-8")
        (programs / name).chmod(0o755)
    given = {name: value for name, value in profile.items() if name.isidentifier() and name.isascii()}
    subprocess.run(
        ["bash", "-c", script],
        cwd=work,
        env={name: os.fsencode(value) for name, value in given.items()}
        | {"PATH": os.fsencode(f"{programs}:/usr/bin:/bin"), "CALLS": os.fsencode(calls)},
        capture_output=True,
        check=False,
    )
    said = calls.read_bytes().decode("utf-8", "surrogateescape") if calls.exists() else ""
    return [tuple(call.split("\0")[:-1]) for call in said.split("\n\0") if call]
