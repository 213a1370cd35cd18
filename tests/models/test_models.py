"""A model that another package adds."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

MODEL = """
from nmlgen import Finding, Report, Severity

name = "toy"
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


def test_a_package_adds_a_model(tmp_path):
    package = tmp_path / "package"
    (package / "toy-1.0.dist-info").mkdir(parents=True)
    (package / "toy-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: toy\nVersion: 1.0\n")
    (package / "toy-1.0.dist-info" / "entry_points.txt").write_text("[nmlgen.models]\ntoy = toy_model\n")
    (package / "toy_model.py").write_text(MODEL)
    namelist = tmp_path / "toy.nml"
    namelist.write_text("&toy\n speed = 4\n/\n")
    root = str(Path(__file__).parent.parent.parent)
    path = os.pathsep.join([str(package), root, *os.environ.get("PYTHONPATH", "").split(os.pathsep)])
    done = subprocess.run(
        [sys.executable, "-m", "nmlgen", "lint", "--isolated", "--ntasks", "2", str(namelist)],
        env={**os.environ, "PYTHONPATH": path, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.startswith("error[TOY001] toy-too-fast: 4 is too fast for 2\n")
    assert done.returncode == 1
