"""The corpus of scripts itself: it runs in real shells, and does there what its scripts say about themselves."""

from __future__ import annotations

import subprocess

import pytest
import shells
from rows import rows
from tools import require

SCRIPTS = shells.scripts()


@rows("script", SCRIPTS, ids=lambda script: script.name, parts=4)
def test_every_script_writes_and_bash_and_ksh_differ_only_where_it_says_so(script, tmp_path):
    require("bash", "ksh", *shells.PROGRAMS)
    by_shell: dict[str, list[object]] = {"bash": [], "ksh": []}
    for number, case in enumerate(shells.cases(script)):
        (tmp_path / str(number)).mkdir()
        outcome = shells.run(case, tmp_path / str(number))
        assert outcome.files, case
        by_shell[case.shell].append(outcome.files)
    if script.suffix == ".sh" and not shells.header(script, "changes"):
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
