"""A model that another package adds."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

MODEL = """
from nmlgen import Finding, Report, Severity

name = "Toy"
namelist = "toy.nml"
problems = {"TOY001": ("toy-too-fast", "The toy falls over.")}


def recognises(path, text):
    return path.name == "toy.nml"


def lint(document, tasks, beside):
    findings = [
        Finding("TOY001", "toy-too-fast", Severity.ERROR, f"{item.plain} is too fast for {tasks}", item.span)
        for group in document.groups
        for item in group.named("speed")
        if item.plain > 3
    ]
    return Report(tuple(findings))
"""


SPEC = """
nmlgen: 1
name: play
site: local
model: {name: toy, executable: bin/toy}
job: {ntasks: 3}
namelists: {toy: {speed: 5}}
"""


def test_a_package_adds_a_model(tmp_path):
    package = tmp_path / "package"
    (package / "toy-1.0.dist-info").mkdir(parents=True)
    (package / "toy-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: toy\nVersion: 1.0\n")
    (package / "toy-1.0.dist-info" / "entry_points.txt").write_text("[nmlgen.models]\ntoy = toy_model\n")
    (package / "toy_model.py").write_text(MODEL)
    (tmp_path / "toy.nml").write_text("&toy\n speed = 4\n/\n")
    (tmp_path / "spec.yaml").write_text(SPEC)
    root = str(Path(__file__).parent.parent.parent)
    path = os.pathsep.join([str(package), root, *os.environ.get("PYTHONPATH", "").split(os.pathsep)])

    def called(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "nmlgen", *arguments],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": path, "NO_COLOR": "1"},
            capture_output=True,
            text=True,
            check=False,
        )

    done = called("lint", "--isolated", "--ntasks", "2", "toy.nml")
    assert done.stdout.startswith("error[TOY001] toy-too-fast: 4 is too fast for 2\n")
    assert done.returncode == 1
    done = called("check", "spec.yaml")
    assert done.stdout.startswith("error[TOY001] toy-too-fast: 5 is too fast for 3\n --> spec.yaml:7:19\n")
    assert called("build", "spec.yaml", "--set", "namelists.toy.speed=2", "-o", "run").returncode == 0
    assert (tmp_path / "run" / "toy.nml").read_text().endswith("\n&toy\n speed = 2\n/\n")
