"""What all commands have in common: exit codes, streams, and no traceback for any mistake of a user."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tools import require

from nmlgen._version import __version__

from .conftest import process

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "nh_dcmip_tc_52_r2b5.yaml"
COMMANDS = (
    *("build", "check", "completion", "diff", "explain", "import", "init", "lint", "presets", "ranks", "registry"),
    *("rules", "schema", "volume", "why"),
)


def test_version(nmlgen):
    for flag in ("--version",):
        done = nmlgen(flag)
        assert (done.code, done.out, done.err) == (0, f"nmlgen {__version__}\n", "")


def test_help(nmlgen):
    done = nmlgen("--help")
    assert done.code == 0
    assert nmlgen("-h") == done
    for name in COMMANDS:
        assert f"\n  {name} " in done.out


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_commands(nmlgen, command):
    done = nmlgen(command, "--help")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"Usage: nmlgen {command}")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["bild"], 'there is no command "bild"; did you mean "build"?'),
        (["chekc", "x"], 'did you mean "check"?'),
        (["qqqqqq"], 'there is no command "qqqqqq"'),
        (["check"], "Missing argument"),
        (["check", "spec.yaml", "--formt", "json"], "No such option"),
        (["check", "spec.yaml", "--format", "xml"], "'xml' is not one of 'text', 'json'"),
        (["check", "nope.yaml"], "nmlgen: error: nope.yaml: there is no such file"),
        (["check", "."], "nmlgen: error: . is a directory; a YAML file is expected"),
        (["check", "spec.yaml/x"], "not a directory"),
        (["check", "x" * 5000], "file name too long"),
        (["build", "nope.yaml"], "there is no such file"),
        (["build", "spec.yaml", "-o", "spec.yaml"], "is a file; a directory is expected"),
        (["build", "spec.yaml", "-o", "spec.yaml/run"], "spec.yaml is a file; a directory is expected"),
        (["build", "spec.yaml", "-o", "x" * 300], "file name too long"),
        (["why", "spec.yaml"], "Missing argument"),
        (["why", "spec.yaml", "job.node"], 'did you mean "job.nodes"?'),
        (["why", "nope.yaml", "job.nodes"], "there is no such file"),
        (["explain"], "Missing argument"),
        (["explain", "RST01"], 'there is no rule "RST01"; did you mean "RST0'),
        (["explain", "qqqqqqqqqq"], "nmlgen rules lists them"),
        (["presets", "show", "icon/jbaw"], 'there is no preset "icon/jbaw"'),
        (["init", "--preset", "icon/jbaw"], 'did you mean "icon/jabw"?'),
        (["init", "--site", "levnate"], 'did you mean "levante"?'),
        (["init", "--nodes", "0"], "not in the range"),
        (["init", "-o", "."], ". is a directory"),
        (["init", "-o", "no/where.yaml"], "no such file or directory"),
        (["init", "-o", "spec.yaml"], "spec.yaml exists; --force overwrites it"),
        (["schema", "--icon-release", "1999.01"], "is not known; known are 2024.01"),
        (["completion", "csh"], "is not one of"),
    ],
)
def test_usage_and_files(nmlgen, here, arguments, words):
    before = {path: path.read_bytes() for path in here.iterdir()}
    done = nmlgen(*arguments)
    assert done.code == 2
    assert done.out == ""
    assert words in done.err
    assert {path: path.read_bytes() for path in here.iterdir()} == before


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "wrong.yaml"],
        ["build", "wrong.yaml"],
        ["why", "wrong.yaml", "job.nodes"],
        ["check", "spec.yaml", "--set", "job.nodes=two"],
        ["check", "spec.yaml", "--set", "nonsense"],
        ["check", "spec.yaml", "--set", ""],
        ["build", "spec.yaml", "--set", "site=nowhere"],
        ["why", "spec.yaml", "job.nodes", "--set", "a=b"],
        ["build", "bad.yaml"],
        ["build", "warned.yaml", "--strict"],
    ],
)
def test_findings_that_stop(nmlgen, here, arguments):
    done = nmlgen(*arguments)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(("error[", "warning["))
    assert "\x1b" not in done.err


@pytest.mark.parametrize(
    "arguments",
    [["check", "wrong.yaml"], ["build", "wrong.yaml"], ["why", "wrong.yaml", "job.nodes"], ["build", "bad.yaml"]],
)
def test_json_of_findings_that_stop(nmlgen, here, arguments):
    done = nmlgen(*arguments, "--format", "json")
    assert (done.code, done.err) == (1, "")
    findings = json.loads(done.out)["findings"]
    assert "error" in [finding["severity"] for finding in findings]
    assert {finding["location"]["file"] for finding in findings} == {arguments[1]}


# --- The world around ------------------------------------------------------------------------------------


def test_as_a_module(here):
    assert process("--version").stdout == f"nmlgen {__version__}\n"
    done = process("check", "wrong.yaml")
    assert (done.returncode, done.stdout) == (1, "")


def test_broken_pipe(here):
    require("bash")
    done = process(shell="nmlgen schema | head -n 1; echo ${PIPESTATUS[@]}; nmlgen rules | true; echo ${PIPESTATUS[@]}")
    assert (done.stdout, done.stderr) == ("{\n0 0\n0 0\n", "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_full_disk(here):
    require("bash")
    done = process(shell="nmlgen schema >/dev/full; echo $?")
    assert (done.stdout, done.stderr) == ("2\n", "nmlgen: error: no space left on device\n")
    done = process(shell="nmlgen lint nothing 2>/dev/full; echo $?; nmlgen schema >/dev/full 2>&1; echo $?")
    assert done.stdout == "2\n2\n"


def test_closed_streams(here):
    require("bash")
    done = process(shell="nmlgen schema >&-; echo $?; nmlgen check bad.yaml >&- 2>&-; echo $?; nmlgen why <&-; echo $?")
    assert done.stdout.splitlines() == ["0", "1", "2"]
    assert "Traceback" not in done.stderr
    done = process(shell="nmlgen submit . <&-; echo $?; nmlgen init --site local -o new.yaml <&-; echo $?")
    assert (done.stdout.splitlines()[0], done.stdout.splitlines()[-1]) == ("2", "0")
    assert "mistake" not in done.stderr


@pytest.mark.parametrize(
    "variables",
    [
        {"_NMLGEN_COMPLETE": "nonsense"},
        {"_NMLGEN_COMPLETE": "bash_complete"},
        {"_NMLGEN_COMPLETE": "bash_complete", "COMP_WORDS": "nmlgen ru", "COMP_CWORD": "one"},
        {"_NMLGEN_COMPLETE": "fish_complete", "COMP_WORDS": "nmlgen ru", "COMP_CWORD": " "},
        {"_NMLGEN_COMPLETE": "fish_complete", "COMP_WORDS": "nmlgen ru"},
    ],
)
def test_what_no_shell_asks_for(nmlgen, here, monkeypatch, variables):
    """A command is done whatever the variables are that a shell sets to ask for completions."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert nmlgen("explain", "RST001").code == 0


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completions(here, shell):
    place = "ru" if shell == "fish" else "1"
    asked = {"_NMLGEN_COMPLETE": f"{shell}_complete", "COMP_WORDS": "nmlgen ru", "COMP_CWORD": place}
    assert "rules" in process(env=asked).stdout


def test_names_and_values_that_cannot_be_printed(here):
    (here / "ü.yaml").write_text("nöme: 1\n")
    for encoding in ("ascii", "latin-1", "utf-8"):
        done = process("check", "ü.yaml", env={"PYTHONIOENCODING": encoding, "LC_ALL": "C.UTF-8"}, encoding="latin-1")
        assert done.returncode == 1
        assert "Traceback" not in done.stderr
        assert "there is no key" in done.stderr
    done = process("check", os.fsdecode(b"\xff.yaml"))
    assert done.returncode == 2
    assert "there is no such file" in done.stderr
    done = process("check", os.fsdecode(b"\xff.yaml"), "--format", "json")
    assert done.returncode == 2


@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {"TERM": "dumb"}, {"NO_COLOR": "", "TERM": "xterm"}])
def test_colour_on_a_terminal(here, variables):
    """Colour only where NO_COLOR is not set to something, and the terminal knows colours."""
    import pty

    leader, follower = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", **variables}
    command = [os.sys.executable, "-m", "nmlgen", "check", "wrong.yaml"]
    done = subprocess.run(command, stdin=follower, stdout=follower, stderr=follower, env=environment, check=False)
    os.close(follower)
    shown = os.read(leader, 100_000).decode()
    os.close(leader)
    assert done.returncode == 1
    assert ("\x1b[" in shown) is (variables == {"NO_COLOR": "", "TERM": "xterm"})


@pytest.mark.parametrize("size", ["1000000000", "9" * 5000, "\u00b2"])
def test_a_terminal_of_no_size(here, size):
    import pty

    leader, follower = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": size, "LINES": size}
    command = [os.sys.executable, "-m", "nmlgen", "explain", "RST001"]
    done = subprocess.run(command, stdin=follower, stdout=follower, stderr=follower, env=environment, check=False)
    os.close(follower)
    shown = os.read(leader, 100_000).decode()
    os.close(leader)
    assert (done.returncode, "nmlgen: error" in shown) == (0, False)


def test_a_pipe_as_spec(here):
    require("bash")
    done = process(shell="nmlgen check <(cat spec.yaml)")
    assert (done.returncode, done.stdout.partition(";")[0].strip()) == (0, "no findings")


# --- Completion ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(nmlgen, shell, tmp_path):
    done = nmlgen("completion", shell)
    assert done.code == 0
    assert "_NMLGEN_COMPLETE" in done.out
    interpreter = {"bash": ["bash", "-n"], "zsh": ["zsh", "-n"], "fish": ["fish", "--no-execute"]}[shell]
    require(shell)
    (tmp_path / "script").write_text(done.out)
    found = subprocess.run([*interpreter, str(tmp_path / "script")], capture_output=True, text=True, check=False)
    assert (found.returncode, found.stderr) == (0, "")


@pytest.mark.parametrize(
    ("words", "current", "expected"),
    [("nmlgen ", 1, "check"), ("nmlgen check --for", 2, "--format"), ("nmlgen completion ", 2, "fish")],
)
def test_completion(words, current, expected):
    done = process(
        env={"_NMLGEN_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(current)},
    )
    assert expected in done.stdout


@pytest.mark.parametrize(("command", "code"), [("check bad.yaml", 1), ("check wrong.yaml", 1), ("check none.yaml", 2)])
def test_the_exit_code_is_that_of_the_command_if_nobody_reads_on(here, command, code):
    require("bash")
    for reader in ("head -n 1 >/dev/null", "true"):
        done = process(shell=f"nmlgen {command} 2>&1 | {reader}; echo ${{PIPESTATUS[0]}}")
        assert (done.stdout, done.stderr) == (f"{code}\n", "")


@pytest.mark.parametrize("options", [[], ["-I"]])
def test_what_lies_in_the_working_directory_is_not_imported(options, tmp_path):
    for name in ("glob", "re", "click", "shlex", "ruamel", "statistics"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('executed')\n")
    command = [sys.executable, *options, "-m", "nmlgen", "check", str(EXAMPLE)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "no findings\n"), done.stderr
