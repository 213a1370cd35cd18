"""The corpus of scripts runs in real shells, which reach nothing else."""

from __future__ import annotations

import subprocess

import pytest
import shells


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
