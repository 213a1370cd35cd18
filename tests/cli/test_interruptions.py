"""Whatever becomes of a terminal or a disk, the end is an exit code and a word, and no traceback."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from nmlgen.cli import main

CALL = [sys.executable, "-m", "nmlgen"]
BUFFERED = {name: text for name, text in os.environ.items() if name != "PYTHONUNBUFFERED"}


@pytest.mark.parametrize("arguments", [["--version"], ["rules"], ["presets"], ["--help"], ["schema"]])
def test_a_full_disk(arguments):
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([*CALL, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "nmlgen: error: no space left on device\n")


@pytest.mark.parametrize("arguments", [["--version"], ["rules"], ["schema"], ["check", "there is none"]])
def test_a_full_disk_for_all_that_is_said(arguments, tmp_path):
    """As where a job's output and errors go to files of one disk."""
    with (tmp_path / "out").open("wb") as out, (tmp_path / "errors").open("wb") as errors:
        process = subprocess.Popen(
            [*CALL, *arguments],
            stdout=out,
            stderr=errors,
            env=BUFFERED,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)),  # noqa: PLW1509
        )
    assert process.wait() == 2


def test_nobody_reads_what_is_wrong(tmp_path):
    reads, writes = os.pipe()
    os.close(reads)
    (tmp_path / "a.sh").write_text("#!/bin/bash\n#SBATCH -N 1\n./icon\n", encoding="utf-8")
    call = [*CALL, "convert", "a.sh", "--to", "pbs", "-o", "a.pbs"]
    done = subprocess.run(call, cwd=tmp_path, stderr=writes, env=BUFFERED, check=False)
    os.close(writes)
    assert (done.returncode, (tmp_path / "a.pbs").is_file()) == (0, True)


@pytest.mark.parametrize(
    "place", ["nmlgen.models.icon.rules.output_chain.RecordsLostInChain.check", "nmlgen.cli.application.run"]
)
def test_too_little_memory(place, monkeypatch, capsys):
    def too_much(*_, **__):
        raise MemoryError

    monkeypatch.setattr(place, too_much)
    assert main(["check", str(Path(__file__).parents[2] / "examples" / "nh_dcmip_tc_52_r2b5.yaml")]) == 2
    assert capsys.readouterr().err == "nmlgen: error: there is not enough memory (MemoryError)\n"


@pytest.mark.parametrize("module", ["nmlgen.cli.application", "nmlgen.cli.check"])
def test_an_interruption_while_a_class_is_made(module):
    program = f"""
import importlib, sys
class Found:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            class Named:
                def __set_name__(self, owner, name):
                    raise KeyboardInterrupt
            class Made:
                named = Named()
sys.meta_path.insert(0, Found())
from nmlgen.cli import main
sys.exit(main(["check", "x"]))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.strip()) == (130, "")


@pytest.mark.parametrize("module", ["click", "nmlgen.cli.application", "nmlgen.cli.check", "nmlgen.values"])
def test_an_interruption_during_start_up(module):
    """As if Ctrl-C were pressed while a module is imported."""
    program = f"""
import builtins, sys
real = builtins.__import__
def interrupted(name, *rest, **more):
    if name == {module!r}:
        raise KeyboardInterrupt
    return real(name, *rest, **more)
builtins.__import__ = interrupted
import importlib
load = importlib.import_module
importlib.import_module = lambda name, *rest: interrupted(name) if name == {module!r} else load(name, *rest)
from nmlgen.cli import main
sys.exit(main(["check", "x"]))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.strip()) == (130, "")
