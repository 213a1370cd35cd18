"""On a terminal nothing of others is obeyed."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import click
import icon_logs
import pytest
from rows import rows
from specs import changed, unchecked_build

from nmlgen.api import load_spec
from nmlgen.cli import main
from nmlgen.cli.terminal import Terminal, show_coloured, show_content
from nmlgen.visible import Shown

ODD = "a\x1b]0;title\x07b\u202ec\x9b2J"


@pytest.mark.parametrize(
    "arguments",
    [["check", ODD], ["lint", ODD], ["explain", ODD], ["status", ODD], [ODD]],
)
def test_names_that_a_terminal_would_obey(arguments, tmp_path):
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm"}
    subprocess.run(
        [sys.executable, "-m", "nmlgen", *arguments],
        stdout=theirs,
        stderr=theirs,
        cwd=tmp_path,
        env=environment,
        check=False,
    )
    os.close(theirs)
    shown = b""
    try:
        while part := os.read(ours, 65536):
            shown += part
    except OSError:  # so Linux says that the other end is closed
        pass
    os.close(ours)
    text = shown.decode()
    assert "\\u202e" in text or "\\u001b" in text, text
    assert not {"\x1b]", "\x07", "\u202e", "\x9b"} & {text[i : i + n] for i in range(len(text)) for n in (1, 2)}


NAME = "a\x1b[8m\n::error::b\u202ec\x9b2J"
SCRIPT = "#!/bin/bash\n#SBATCH --nodez=3\nsrun ./icon\n"


@rows(
    "arguments",
    [
        ["build", f"{NAME}.yaml", "-o", f"{NAME}built"],
        ["advise", f"{NAME}.yaml"],
        ["diff", f"{NAME}.yaml", f"{NAME}.yaml"],
        ["import", f"{NAME}.run", "-o", f"{NAME}.new"],
        ["lint", f"{NAME}.run"],
        ["lint", f"{NAME}.run", "--diff"],
        ["lint", f"{NAME}.run", "--write-baseline", f"{NAME}.json"],
        ["logs", f"{NAME}.log"],
        ["logs", f"{NAME}.yaml"],
        ["compare", f"{NAME}.log", f"{NAME}.log"],
        ["verify", NAME],
        ["cancel", NAME],
        ["schema", NAME],
        ["explain", NAME],
    ],
    ids=" ".join,
)
def test_a_name_begins_no_command_and_hides_nothing(arguments, tmp_path, monkeypatch):
    """Also where the output is read by a program, such as a service that runs tests."""
    monkeypatch.chdir(tmp_path)
    Path(f"{NAME}.yaml").write_text(json.dumps(changed()))
    Path(f"{NAME}.run").write_text(SCRIPT)
    Path(f"{NAME}.log").write_bytes(icon_logs.text(icon_logs.log()))
    shown = io.BytesIO()
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, io.TextIOWrapper(shown, encoding="utf-8", write_through=True))
    before = sys.stdout, sys.stderr
    main(arguments)
    assert (sys.stdout, sys.stderr) == before
    text = shown.getvalue().decode()
    assert text
    assert not {"\x1b", "\u202e", "\x9b"} & set(text)
    assert not any(line.lstrip().startswith("::") for line in text.splitlines())


@pytest.mark.parametrize(
    ("pieces", "shown"),
    [
        (["::error::a\n"], "\\u003a:error::a\n"),
        (["a\n \t::error::a\n"], "a\n \t\\u003a:error::a\n"),
        (["a", "::b\n", "::c"], "a::b\n\\u003a:c"),
        (["##[error]a\n##vso[b]\n"], "\\u0023#[error]a\n\\u0023#vso[b]\n"),
        (["## a title\na ::b\n:c\n"], "## a title\na ::b\n:c\n"),
    ],
)
def test_how_lines_begin(pieces, shown):
    stream = io.StringIO()
    terminal = Terminal(stream)
    for piece in pieces:
        terminal.write(piece)
    assert stream.getvalue() == shown


class Screen(io.StringIO):
    def isatty(self):
        return True


def test_colours_are_ours_alone(monkeypatch):
    screen = Screen()
    monkeypatch.setattr(sys, "stdout", Terminal(screen))
    show_content("echo \x1b[30;40mhidden\n")
    click.echo("note: \x1b[30;40mhidden")
    show_coloured("\x1b[30;40mhidden")
    show_coloured(Shown("\x1b[34mblue\x1b[0m \x1b]0;title\x07"))
    assert screen.getvalue() == (
        "echo \\u001b[30;40mhidden\nnote: \\u001b[30;40mhidden\n"
        "\\u001b[30;40mhidden\n\x1b[34mblue\x1b[0m \\u001b]0;title\\u0007\n"
    )


class TerminalFile(io.TextIOWrapper):
    def isatty(self):
        return True


MAGENTA = "\x1b[35m"  # of which there is nothing of ours
PAINTED = f"a{MAGENTA}b"


@rows(
    "arguments",
    [
        ["advise", f"{PAINTED}.yaml"],
        ["diff", f"{PAINTED}.yaml", "other.yaml"],
        ["diff", "other.yaml", "painted.yaml"],
        ["volume", "painted.yaml"],
        ["compare", f"{PAINTED}.log", f"{PAINTED}.log"],
        ["logs", f"{PAINTED}.log"],
        ["verify", "painted"],
        ["doctor", "painted.yaml"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_no_colour_of_others_on_a_terminal(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    Path(f"{PAINTED}.yaml").write_text(json.dumps(changed()))
    Path("other.yaml").write_text(json.dumps(changed(output={"atm": {"output_interval": "PT2H"}})))
    stream = {"ml_varlist": [PAINTED], "output_interval": "PT1H", "output_filename": PAINTED}
    painted = changed(output={"painted": stream}, model={"executable": f"/{PAINTED}"})
    Path("painted.yaml").write_text(json.dumps(painted))
    unchecked_build(load_spec(changed())).write(Path("painted"))
    Path("painted/run").mkdir()
    for checkpoint in ("00", "12"):
        Path(f"painted/run/multifile_restart_atm_20080902T{checkpoint}{MAGENTA}0000Z.mfr").mkdir()
    Path(f"{PAINTED}.log").write_bytes(icon_logs.text(icon_logs.log()))
    shown = io.BytesIO()
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, TerminalFile(shown, encoding="utf-8", write_through=True))
    main(arguments)
    text = shown.getvalue().decode()
    assert text
    assert MAGENTA not in text


def test_what_is_meant_for_a_service_reaches_it(tmp_path, capfd):
    path = tmp_path / "exp.run"
    path.write_text(SCRIPT)
    main(["lint", "--isolated", "--format", "github", str(path)])
    assert capfd.readouterr().out.startswith("::error title=")
