"""The hooks for pre-commit: the files they take, the commands they run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from ruamel.yaml import YAML
from specs import TEXT
from tools import require

from nmlgen.resources import directory

ROOT = Path(__file__).parent.parent
MANIFEST = ROOT / ".pre-commit-hooks.yaml"
BAD = "&run_nml\n num_lev = '30'\n/\n"


@pytest.fixture
def repository(tmp_path, monkeypatch) -> Path:
    """A git repository that takes its hooks from here and finds `nmlgen` where the tests do."""
    pytest.importorskip("pre_commit", reason="pre-commit is not installed")
    require("git")
    bin_directory = tmp_path / "bin"
    bin_directory.mkdir()
    command = bin_directory / "nmlgen"
    command.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m nmlgen "$@"\n')
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{bin_directory}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PRE_COMMIT_HOME", str(tmp_path / "home"))
    work = tmp_path / "work"
    (work / "run").mkdir(parents=True)
    hooks = YAML(typ="safe").load(MANIFEST)
    with (work / ".pre-commit-config.yaml").open("w", encoding="utf-8") as file:
        YAML().dump({"repos": [{"repo": "local", "hooks": [hook | {"language": "system"} for hook in hooks]}]}, file)
    subprocess.run(["git", "init", "-q", work], check=True)
    monkeypatch.chdir(work)
    return work


def run(hook: str) -> subprocess.CompletedProcess[str]:
    subprocess.run(["git", "add", "-A"], check=True)
    command = [sys.executable, "-m", "pre_commit", "run", hook, "--all-files"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_manifest_is_one():
    pytest.importorskip("pre_commit", reason="pre-commit is not installed")
    command = [sys.executable, "-m", "pre_commit", "validate-manifest", str(MANIFEST)]
    assert subprocess.run(command, capture_output=True, text=True, check=False).returncode == 0


def test_lint(repository):
    (repository / "run" / "README").write_text("not a namelist\n")
    (repository / "run" / "README.namelist").write_text("&run_nml of ICON\n")
    (repository / "run" / "exp.old").write_text("#!/bin/csh\n")
    (repository / "run" / "exp.old").chmod(0o755)
    assert "(no files to check)" in run("nmlgen-lint").stdout
    names = ("exp.test_namelist", "nwpexp.test", "clmexp.test", "exp.test.run", "NAMELIST_atm", "atm.nml")
    for name in names:
        (repository / "run" / name).write_text(BAD)
    (repository / "run" / "icon_master.namelist").write_text("&master_nml\n/\n")
    done = run("nmlgen-lint")
    assert done.returncode == 1
    assert "README" not in done.stdout
    assert [name for name in names if f"--> run/{name}:2:12" not in done.stdout] == []


def test_scripts_by_their_first_line(repository):
    run_directory = repository / "run"
    (run_directory / "start.py").write_text("#!/usr/bin/env python3\n")
    (run_directory / "exp.test").write_text("#!/bin/ksh\n")
    (run_directory / "old.csh").write_text("set a = 1\n")
    assert "(no files to check)" in run("nmlgen-lint-shell").stdout
    script = "#!/bin/ksh\n#SBATCH --nodes=2 --workdir=/x\nsrun bin/icon\n"
    (run_directory / "start").write_text(script)
    (run_directory / "start").chmod(0o755)
    done = run("nmlgen-lint-shell")
    assert done.returncode == 1
    assert "--> run/start:2:19" in done.stdout


def test_check(repository):
    for name in ("spec.yaml", "spec-2.yml", "wave.nmlgen.yaml"):
        (repository / "run" / name).write_text(TEXT)
    (repository / "run" / "other.yaml").write_text("a: 1\n")
    done = run("nmlgen-check")
    assert done.returncode == 0, done.stdout
    assert "Passed" in done.stdout
    (repository / "run" / "spec-2.yml").write_text(TEXT.replace("nodes: 2", "nodes: two"))
    done = run("nmlgen-check")
    assert done.returncode == 1
    assert "run/spec-2.yml:8:" in done.stdout


@pytest.mark.parametrize(("release", "code"), [("./my.json", 0), ("2024.10", 1)])
def test_a_registry_of_ones_own(repository, release, code):
    """By the project's configuration, which the hook reads as the command does."""
    document = json.loads((directory("schemas") / "icon" / "2025.10.json").read_text(encoding="utf-8"))
    document["release"] = "2026.04"
    document["groups"]["run_nml"]["variables"]["brand_new"] = {"type": "integer", "default": 3}
    (repository / "my.json").write_text(json.dumps(document))
    (repository / "nmlgen.toml").write_text(f'icon-release = "{release}"\n')
    (repository / "run" / "NAMELIST_atm").write_text("&run_nml\n modelTimeStep = 'PT10M'\n brand_new = 4\n/\n")
    done = run("nmlgen-lint")
    assert done.returncode == code, done.stdout
    assert ("brand_new" in done.stdout) is bool(code)
