"""nmlgen check, why, explain, rules and presets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nmlgen.codes import all_problems
from nmlgen.rules import all_rules

EXAMPLE = Path(__file__).parents[2] / "examples" / "nh_dcmip_tc_52_r2b5.yaml"
"""Like the runs that were measured: nothing is in doubt."""


def test_clean(nmlgen, here):
    done = nmlgen("check", str(EXAMPLE))
    assert (done.code, done.out, done.err) == (0, "no findings\n", "")


def test_what_is_in_doubt_is_counted(nmlgen, here):
    done = nmlgen("check", "spec.yaml")
    assert (done.code, done.out, done.err) == (0, "no findings; 2 rules not applied (--show-undecided)\n", "")
    listed = nmlgen("check", "spec.yaml", "--show-undecided").out
    assert "iforcing is 0: a model step was measured with NWP physics (3) only) is not known: OUT032\n" in listed


def test_findings(nmlgen, here):
    done = nmlgen("check", "bad.yaml")
    assert (done.code, done.err) == (1, "")
    assert "error[RST001] sync-with-restart-procs: " in done.out
    assert "--> bad.yaml:10:" in done.out
    assert "\n\n1 error" in done.out
    assert not done.out.endswith("\n\n")


def test_several_specs(nmlgen, here):
    done = nmlgen("check", "spec.yaml", "bad.yaml", "warned.yaml")
    assert done.code == 1
    assert "1 error, 1 warning" in done.out
    assert nmlgen("check", "spec.yaml", "warned.yaml").code == 0
    done = nmlgen("check", "wrong.yaml", "warned.yaml")
    assert (done.code, done.out.splitlines()[-1].partition(";")[0]) == (1, "1 warning")
    assert done.err.startswith("error[SPC004]")
    found = json.loads(nmlgen("check", "wrong.yaml", "bad.yaml", "--format", "json").out)["findings"]
    assert {finding["location"]["file"] for finding in found} == {"wrong.yaml", "bad.yaml"}


def test_quiet(nmlgen, here):
    assert nmlgen("check", "spec.yaml", "--quiet").out == ""
    done = nmlgen("check", "bad.yaml", "-q")
    assert done.code == 1
    assert "error[RST001]" in done.out
    assert "1 error\n" not in done.out


def test_warnings_stop_only_when_strict(nmlgen, here):
    assert nmlgen("check", "warned.yaml").code == 0
    assert nmlgen("check", "warned.yaml", "--strict").code == 1


def test_json(nmlgen, here):
    document = json.loads(nmlgen("check", "bad.yaml", "--format", "json").out)
    assert list(document) == ["findings", "suppressed", "undecided", "values"]
    assert "RST001" in [finding["code"] for finding in document["findings"]]
    assert json.loads(nmlgen("check", "spec.yaml", "--format=json").out)["findings"] == []


def test_set(nmlgen, here):
    assert nmlgen("check", "bad.yaml", "--set", "restart.num_restart_procs=0").code == 0
    assert nmlgen("check", "spec.yaml", "--set", "job.nodes=1", "--set", "job.ntasks_per_node=64").code == 0


def test_undecided(nmlgen, here):
    done = nmlgen("check", "spec.yaml", "--show-undecided")
    assert done.code == 0
    for line in done.out.splitlines():
        assert line.startswith(("not applied", "  ", "no findings"))


def test_nothing_is_written(nmlgen, here):
    before = sorted(path.name for path in here.iterdir())
    nmlgen("check", "spec.yaml")
    nmlgen("why", "spec.yaml", "job.nodes")
    assert sorted(path.name for path in here.iterdir()) == before


# --- why -------------------------------------------------------------------------------------------------


def test_why(nmlgen, here):
    done = nmlgen("why", "spec.yaml", "parallel.nproma", "--set", "parallel_nml.nproma=8")
    assert (done.code, done.err) == (0, "")
    lines = [line.split() for line in done.out.splitlines()]
    assert lines[0] == ["parallel.nproma", "=", "8"]
    assert lines[1] == ["LAYER", "WHERE", "VALUE"]
    assert lines[2] == ["--set", "--set:1:21", "8", "in", "force"]
    assert lines[3] == ["spec", "spec.yaml:9:20", "16", "replaced"]
    assert lines[4][:3] == ["default", "of", "ICON"]


def test_why_json(nmlgen, here):
    document = json.loads(nmlgen("why", "spec.yaml", "job.nodes", "--format", "json").out)
    assert document == {
        "name": "job.nodes",
        "chain": [{"layer": "spec", "value": 2, "file": "spec.yaml", "line": 8, "column": 31}],
    }


@pytest.mark.parametrize(
    ("name", "override", "first"),
    [
        ("output.atm.ml_varlist", "job.nodes=2", "output.atm.ml_varlist = u, v, w, temp, pres"),
        ("run_nml.ltimer", "job.nodes=2", "run_nml.ltimer = true"),
        ("job.account", "job.account=", "job.account = null (taken away)"),
        ("environment.A", "environment.A=''", "environment.A = ''"),
    ],
)
def test_why_values(nmlgen, here, name, override, first):
    assert nmlgen("why", "spec.yaml", name, "--set", override).out.splitlines()[0] == first


# --- explain, rules, presets -----------------------------------------------------------------------------


def test_explain(nmlgen):
    done = nmlgen("explain", "RST001")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("# RST001: sync-with-restart-procs (error)\n\n")
    assert nmlgen("explain", "rst001") == done
    assert nmlgen("explain", "sync-with-restart-procs") == done
    assert nmlgen("explain", "SPC002").out.startswith("# SPC002: duplicate-key\n\n")


def test_every_rule_is_explained(nmlgen):
    for rule in all_rules():
        assert nmlgen("explain", rule.code).code == 0


def test_rules(nmlgen):
    lines = nmlgen("rules").out.splitlines()
    assert lines[0].split() == ["CODE", "NAME", "SEVERITY", "SUMMARY"]
    codes = [*(rule.code for rule in all_rules()), *all_problems()]
    assert {"SPC001", "NML011"} <= {*codes}
    assert [line.split()[0] for line in lines[1:]] == codes
    document = json.loads(nmlgen("rules", "--format", "json").out)
    assert [entry["code"] for entry in document] == codes
    assert set(document[0]) == {"code", "name", "severity", "since", "summary"}


def test_presets(nmlgen):
    done = nmlgen("presets")
    assert done.code == 0
    lines = [line for line in done.out.splitlines() if "/" in line.partition(" ")[0]]
    names = [line.split()[0] for line in lines]
    assert {"icon/jabw", "sites/levante", "sites/local"} <= set(names)
    assert all(len(line.split()) > 2 for line in lines)
    for name in names:
        assert nmlgen("presets", "show", name).code == 0


def test_what_is_reported(nmlgen, here):
    assert nmlgen("check", "bad.yaml", "--ignore", "RST001").code == 0
    assert nmlgen("check", "bad.yaml", "--select", "OUT").code == 0
    assert nmlgen("check", "bad.yaml", "--select", "sync-with-restart-procs").code == 1
    done = nmlgen("check", "bad.yaml", "--select", "RTS")
    assert done.code == 2
    assert 'there is no rule "RTS"' in done.err


def test_problems_of_specs_are_among_the_rules(nmlgen):
    listed = nmlgen("rules").out
    assert "SPC004" in listed
    assert "SPC009" in listed
    assert "SHL001" in listed


def test_what_is_missing_is_said_of_the_spec_and_not_of_the_site(nmlgen, here):
    (here / "spec.yaml").write_text("name: x\nsite: levante\n")  # whose defaults have a section model
    done = nmlgen("check", "spec.yaml")
    assert done.code == 1
    assert "model.executable is not set\n --> spec.yaml:1:1\n" in done.err
    assert "--> site levante" not in done.err
