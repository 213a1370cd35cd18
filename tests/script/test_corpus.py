"""The corpus of scripts itself: it runs in real shells, and does there what its scripts say about themselves."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import shells
from tools import require

SCRIPTS = shells.scripts()


def outcomes(script: Path, directory: Path) -> dict[shells.Case, shells.Outcome]:
    """What each run of a script leaves."""
    found = {}
    for number, case in enumerate(shells.cases(script)):
        (directory / str(number)).mkdir()
        found[case] = shells.run(case, directory / str(number))
    return found


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_every_script_runs_and_writes(script, tmp_path):
    require("bash", "ksh", *shells.PROGRAMS)
    for case, outcome in outcomes(script, tmp_path).items():
        assert outcome.files, case


@pytest.mark.parametrize("script", [script for script in SCRIPTS if script.suffix == ".sh"], ids=lambda path: path.name)
def test_bash_and_ksh_differ_only_where_the_script_says_so(script, tmp_path):
    require("bash", "ksh", *shells.PROGRAMS)
    if shells.header(script, "changes"):
        return
    by_shell: dict[str, list[object]] = {"bash": [], "ksh": []}
    for case, outcome in outcomes(script, tmp_path).items():
        by_shell[case.shell].append(outcome.files)
    assert (by_shell["bash"] == by_shell["ksh"]) is not bool(shells.header(script, "differs"))


def test_a_script_reaches_nothing_beyond_its_directory(tmp_path):
    if not shells.CAGE:
        pytest.skip("scripts run with an empty environment and few programs, but uncaged: `unshare` is refused")
    work = tmp_path / "work"
    work.mkdir()
    script = "echo x > inside; echo x > ../outside; mkdir /made; exec 3<>/dev/tcp/127.0.0.1/1; grep -c : /proc/net/dev"
    ended = subprocess.run(
        [*shells.caged(work), "bash", "-c", script], capture_output=True, text=True, check=False, cwd=work
    )
    assert [path.name for path in tmp_path.rglob("*")] == ["work", "inside"]
    assert ended.stderr.count("Read-only file system") == 2
    assert "Network is unreachable" in ended.stderr
