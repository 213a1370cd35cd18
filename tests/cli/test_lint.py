"""nmlgen lint: formats, exit codes, messages."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from xml.etree import ElementTree

import click
import pytest
from click.testing import CliRunner

import nmlgen
from nmlgen.cli.application import application

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "nh_dcmip_tc_52_r2b5.yaml"


def run(*arguments: str, catch_exceptions: bool = True):
    command = ["lint", *arguments]
    return CliRunner().invoke(application, command, standalone_mode=False, catch_exceptions=catch_exceptions)


@pytest.fixture(scope="module")
def built() -> nmlgen.Build:
    return nmlgen.build(EXAMPLE)


@pytest.fixture
def directory(tmp_path, built) -> Path:
    """The namelists of a build, without its script, which takes longer to follow than all else here."""
    built.write(tmp_path)
    next(tmp_path.glob("*.sbatch")).unlink()
    return tmp_path


@pytest.fixture
def wrong(directory) -> Path:
    path = next(directory.glob("NAMELIST_*"))
    path.write_text(path.read_text().replace("num_io_procs = 8", "num_io_proc = 8"))
    return directory


def test_clean(directory):
    done = run(str(directory), "--ntasks", "256")
    assert done.return_value == 0
    assert done.output.startswith("no findings")


def test_text(wrong):
    done = run(str(wrong), "--ntasks", "256")
    assert done.return_value == 1
    assert "error[NML002] unknown-variable" in done.output
    assert "5 |  num_io_proc = 8" in done.output
    assert 'did you mean "num_io_procs"?' in done.output


def test_json_sarif_and_github(wrong):
    found = json.loads(run(str(wrong), "--ntasks", "256", "--format", "json").output)
    assert [finding["code"] for finding in found["findings"] if finding["severity"] == "error"] == ["NML002"]
    sarif = json.loads(run(str(wrong), "--ntasks", "256", "--format", "sarif").output)
    assert "NML002" in [result["ruleId"] for result in sarif["runs"][0]["results"]]
    github = run(str(wrong), "--ntasks", "256", "--format", "github").output
    assert github.startswith("::")


def test_gitlab_and_junit(wrong):
    found = json.loads(run(str(wrong), "--ntasks", "256", "--format", "gitlab").output)
    assert [entry["check_name"] for entry in found if entry["severity"] == "critical"] == ["NML002"]
    top = ElementTree.fromstring(run(str(wrong), "--ntasks", "256", "--format", "junit").output)
    assert int(top.get("failures")) == len(found)


def test_nothing_found_in_any_format(directory):
    def output(form: str) -> str:
        return run(str(directory), "--ntasks", "256", "--format", form).output

    assert output("github") == ""
    assert json.loads(output("gitlab")) == []
    assert json.loads(output("json"))["findings"] == []
    assert ElementTree.fromstring(output("junit")).get("failures") == "0"


def test_select_and_ignore(wrong):
    assert run(str(wrong), "--ignore", "NML002,NML003").return_value == 0
    assert run(str(wrong), "--ignore", "unknown-variable", "--ignore", "RST").return_value == 0
    assert run(str(wrong), "--select", "NML").return_value == 1
    assert run(str(wrong), "--select", "RST").output.startswith("no findings")
    with pytest.raises(nmlgen.InputError, match='there is no rule "second-cop"; did you mean "second-copy"'):
        run(str(wrong), "--select", "RST,second-cop", catch_exceptions=False)


def test_statistics(wrong):
    done = run(str(wrong), "--ntasks", "256", "--statistics", "--select", "NML")
    assert (done.output, done.return_value) == ("1  NML002  [*] unknown-variable\n", 1)
    (entry,) = json.loads(run(str(wrong), "--statistics", "--select", "NML", "--format", "json").output)
    assert entry == {"code": "NML002", "name": "unknown-variable", "count": 1, "fixable": 1}
    assert run(str(wrong), "--statistics", "--select", "RST").output == ""
    with pytest.raises(click.UsageError):
        run(str(wrong), "--statistics", "--format", "sarif", catch_exceptions=False)


def test_exit_zero(wrong):
    assert run(str(wrong), "--exit-zero").return_value == 0
    assert run(str(wrong), "--exit-zero", "--strict", "--format", "json").return_value == 0
    assert run(str(wrong), "--exit-zero", "--diff", "--unsafe-fixes").return_value == 0


def test_what_can_be_fixed_is_said(wrong):
    path = next(wrong.glob("NAMELIST_*"))
    path.write_text(path.read_text().replace("iforcing      = 3", "iforcing      = 3."))
    done = run(str(path), "--select", "NML")
    assert "error[NML003] [*] wrong-type" in done.output
    assert "  = fix: write 3\n" in done.output
    assert "error[NML002] unknown-variable" in done.output
    assert done.output.endswith("[*] 1 fixable with --fix\n1 more fixable with --fix --unsafe-fixes\n")
    unsafe = run(str(path), "--select", "NML", "--unsafe-fixes").output
    assert "error[NML002] [*] unknown-variable" in unsafe
    assert unsafe.endswith("[*] 2 fixable with --fix --unsafe-fixes\n")


def test_fix(wrong):
    path = next(wrong.glob("NAMELIST_*"))
    before = path.read_text().replace("iforcing      = 3", "iforcing      = 3.")
    path.write_text(before)
    done = run(str(path), "--select", "NML", "--fix")
    assert "1 fixed; 1 error" in done.output
    assert done.return_value == 1
    assert path.read_text() == before.replace("= 3.\n", "= 3\n")
    done = run(str(path), "--select", "NML", "--fix", "--unsafe-fixes")
    assert (done.output.splitlines()[0], done.return_value) == ("1 fixed; no findings", 0)
    assert "num_io_procs = 8" in path.read_text()


def test_diff(nmlgen, wrong):
    path = next(wrong.glob("NAMELIST_*"))
    before = path.read_bytes()
    done = nmlgen("lint", path, "--diff")
    assert (done.out, done.err, done.code) == ("", "nothing to fix\n", 0)
    done = nmlgen("lint", path, "--diff", "--unsafe-fixes")
    assert done.code == 1
    assert "\n- num_io_proc = 8\n+ num_io_procs = 8\n" in done.out
    assert done.err == "would fix 1 finding\n"
    assert path.read_bytes() == before


def test_the_standard_input(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nmlgen.toml").write_text('select = ["NML"]\n')
    text = b"&run_nml\n nsteps = '3'\n/\n"
    done = CliRunner().invoke(application, ["lint", "-"], input=text, standalone_mode=False)
    assert done.return_value == 1
    assert " --> <stdin>:2:11" in done.output
    with pytest.raises(click.UsageError):
        run("-", "--fix", catch_exceptions=False)


def test_configuration(wrong):
    (wrong / "nmlgen.toml").write_text('[[ignore]]\nrule = "NML002"\nreason = "a test"\n')
    done = run(str(wrong), "--select", "NML")
    assert (done.output, done.return_value) == ("no findings; 1 suppressed\n", 0)
    assert run(str(wrong), "--isolated").return_value == 1


def test_strict_and_undecided(directory):
    path = next(directory.glob("NAMELIST_*"))
    path.write_text(path.read_text() + "&bogus_nml\n/\n")
    assert run(str(directory), "--ntasks", "256").return_value == 0
    assert run(str(directory), "--ntasks", "256", "--strict").return_value == 1
    output = run(str(directory / "icon_master.namelist"), "--show-undecided").output
    assert f"\n\nnot applied in {path}:\n" in output
    (codes,) = re.findall(r"^  ntasks is not known: (.*)$", output, re.M)
    assert {"OUT001", "OUT002", "PAR001"} <= set(codes.split(", "))


SCRIPT = """#!/bin/bash
cat >NAMELIST_atm <<EOF
&run_nml
 num_lev = ${levels:-3.}
 nsteps = $(steps)
/
&nonhydrostatic_nml
/
EOF
"""


def test_a_script(tmp_path):
    path = tmp_path / "exp.run"
    path.write_text(SCRIPT)
    done = run(str(path), "--select", "NML")
    assert done.return_value == 1
    assert "4 |  num_lev = ${levels:-3.}" in done.output
    assert run(str(path), "--select", "NML", "--define", "levels=3").return_value == 0
    for wrong in ("levels", "=3", "3x=3", "a b=3"):
        with pytest.raises(click.UsageError, match="NAME=VALUE"):
            run(str(path), "--define", wrong, catch_exceptions=False)
    done = run(str(path), "--select", "RST", "--statistics")
    assert done.output == "2 values with an expansion: 1 certain (50.0 %), 0 one of a set (0.0 %), 1 unknown (50.0 %)\n"
    undecided = run(str(path), "--show-undecided").output
    assert f"  run_nml.nsteps is not known ({path}:5:11): " in undecided


def test_a_script_on_the_standard_input(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(application, ["lint", "-", "--select", "NML"], input=SCRIPT, standalone_mode=False)
    assert done.return_value == 1
    assert " --> <stdin>:4:12" in done.output


def test_what_icon_writes_of_its_namelists_is_not_judged(tmp_path):
    """In the directory of a run that has ended it lies beside what was given, with values of no namelist."""
    printed = tmp_path / "NAMELIST_ICON_output_atm"
    printed.write_text("&run_nml\n nobody_knows = 1\n/\n")
    with pytest.raises(nmlgen.InputError, match="holds nothing to lint"):
        nmlgen.lint([tmp_path])
    (tmp_path / "NAMELIST_atm").write_text("&run_nml\n iforcing = 0\n/\n")
    assert "NML002" not in [finding.code for finding in nmlgen.lint([tmp_path]).findings]
    assert "NML002" in [finding.code for finding in nmlgen.lint([printed]).findings]


def test_a_directory(tmp_path):
    with pytest.raises(nmlgen.InputError, match="holds nothing to lint: no run script, no icon_master"):
        run(str(tmp_path), catch_exceptions=False)
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "exp.one").write_text(SCRIPT)
    assert f"{tmp_path}/run/exp.one:4:12" in run(str(tmp_path), "--select", "NML").output


def test_explained():
    done = CliRunner().invoke(application, ["explain", "NML013"], standalone_mode=False)
    assert "second-copy" in done.output


def test_a_baseline(wrong, tmp_path, monkeypatch):
    baseline = str(tmp_path / "baseline.json")
    done = run(str(wrong), "--ntasks", "256", "--write-baseline", baseline)
    assert (done.return_value, done.output) == (0, f"wrote {baseline}: 2 findings\n")
    done = run(str(wrong), "--ntasks", "256", "--baseline", baseline)
    assert done.return_value == 0
    assert done.output.startswith("no findings")
    path = next(wrong.glob("NAMELIST_*"))
    path.write_text(path.read_text().replace("num_io_proc = 8", "num_io_proc = 8\n nprma = 8"))
    done = run(str(wrong), "--ntasks", "256", "--baseline", baseline)
    assert done.return_value == 1
    assert "nprma" in done.output
    assert "num_io_proc " not in done.output.replace("nprma", "")


def change_while_it_waits(monkeypatch, *changes):
    """One of the changes each time that `--watch` waits; then the key that ends it."""
    rounds = iter(changes)

    def pause(_seconds):
        change = next(rounds, None)
        if change is None:
            raise KeyboardInterrupt
        change()

    monkeypatch.setattr("nmlgen.cli.watching.sleep", pause)


def test_watching(wrong, monkeypatch):
    path = next(wrong.glob("NAMELIST_*"))
    change_while_it_waits(
        monkeypatch,
        lambda: None,  # nothing has changed
        lambda: path.write_text(path.read_text().replace("num_io_proc = 8", "num_io_procs = 8 ")),
    )
    done = run(str(wrong), "--ntasks", "256", "--watch")
    assert done.return_value == 0
    assert done.output.count("error[NML002]") == 1
    assert "no findings" in done.output


def test_what_a_script_sources_is_watched(tmp_path, monkeypatch):
    sourced, script = tmp_path / "settings.sh", tmp_path / "job.run"
    sourced.write_text("tasks=2.5\n")
    script.write_text(
        f"#!/bin/bash\n. {sourced}\ncat >NAMELIST_atm <<E\n&parallel_nml\n num_io_procs = $tasks\n/\nE\nsrun icon\n"
    )
    change_while_it_waits(monkeypatch, lambda: None, lambda: sourced.write_text("tasks=22.5\n"))
    done = run(str(script), "--watch")
    assert (done.output.count("is 2.5, set at"), done.output.count("is 22.5, set at")) == (1, 1), done.output


def test_watching_goes_on_while_a_file_is_away(wrong, monkeypatch):
    path = next(wrong.glob("NAMELIST_*"))
    text = path.read_text()

    def becomes_a_pipe():
        path.unlink()
        os.mkfifo(path)

    def is_there_again():
        path.unlink()
        path.write_text(text.replace("num_io_proc = 8", "num_io_procs = 8 "))

    change_while_it_waits(monkeypatch, path.unlink, path.touch, becomes_a_pipe, is_there_again)
    done = run(str(path), "--ntasks", "256", "--watch")
    assert done.return_value == 0
    assert [line for line in done.output.splitlines() if line.startswith("nmlgen: error: ")] == [
        f"nmlgen: error: {path}: there is no such file",
        f"nmlgen: error: {path} is empty: a script or a namelist is expected",
        f"nmlgen: error: {path} is a pipe; a regular file is expected",
    ]
    assert done.output.count("error[NML002]") == 1


def test_watching_ends_at_once_where_there_is_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr("nmlgen.cli.watching.sleep", lambda _seconds: pytest.fail("it waits"))
    assert run(str(tmp_path / "nothing"), "--watch").exception is not None


@pytest.mark.parametrize("option", ["--fix", "--diff", "--write-baseline=b.json"])
def test_watching_only_judges(directory, option):
    done = run(str(directory), "--watch", option)
    assert isinstance(done.exception, click.UsageError)


def test_what_is_passed_over_is_told_of(wrong):
    paths = []
    for number in range(7):
        paths.append(wrong / f"{number}.csh")
        paths[-1].write_text("#!/bin/csh\nsetenv A b\n")
    named = str(next(wrong.glob("NAMELIST_*")))
    done = run(named, *map(str, paths), "--ntasks", "256")
    assert done.return_value == 1
    assert "error[NML002]" in done.output
    lines = [line for line in done.output.splitlines() if line.startswith("passed over")]
    assert lines[0].startswith(f"passed over: {paths[0]} is a script for csh or another program, without directives: ")
    assert (len(lines), lines[-1]) == (6, "passed over: 2 more")
    assert run(named, str(paths[0]), "-q").output.count("passed over") == 0
