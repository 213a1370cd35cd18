"""nmlgen import: a spec of a build, of a master namelist, of a namelist by itself; and what is said of the rest."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from foreign_scripts import COMPLETE, UNKNOWN

GOLDEN = Path(__file__).parent.parent / "golden"
MASTER = """\
&master_nml lrestart = .FALSE. /
&master_time_control_nml
 experimentStartDate = '2000-01-01T00:00:00Z'
 experimentStopDate = '2000-01-02T00:00:00Z'
/
"""
MODEL = """\
&master_model_nml
 model_type = 1
 model_name = '{0}'
 model_namelist_filename = 'NAMELIST_{0}'
/
"""
NAMELIST = "&run_nml\n dtime = 1.0d2\n num_lev = 30\n iforcing = 0\n/\n&grid_nml\n dynamics_grid_filename = 'g.nc'\n/\n"


@pytest.fixture
def run(here):
    """A directory with namelists that somebody else wrote."""
    directory = here / "run"
    directory.mkdir()
    (directory / "icon_master.namelist").write_text(MASTER + MODEL.format("atm"))
    (directory / "NAMELIST_atm").write_text(NAMELIST)
    return directory


def test_a_spec_is_written_that_builds_to_the_same(nmlgen, here):
    assert nmlgen("build", "spec.yaml", "-o", "run1").code == 0
    done = nmlgen("import", "run1", "--ntasks", 64, "-o", "again.yaml")
    assert (done.code, done.err) == (0, "")
    assert done.out == "wrote again.yaml\nnext: nmlgen check again.yaml\n"
    assert nmlgen("check", "again.yaml", "--set", "job.account=bb1234").code == 0
    assert nmlgen("diff", "again.yaml", "run1", "--explicit").code == 0


def test_namelists_of_others(nmlgen, run):
    done = nmlgen("import", "run", "--site", "levante", "--ntasks", 8)
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        "# Imported from run\n"
        "# Namelists do not say what the job asks for, nor where the model and its files lie: add that.\n"
        "nmlgen: 1\n"
        "name: atm\n"
        "site: levante\n"
        "model:\n"
        '  release: "2025.10"\n'
        "  executable: bin/icon  # assumed: namelists do not say where the model lies\n"
        "grid:\n"
        "  file: g.nc  # assumed: nothing says where the grid file lies\n"
        "  num_lev: 30\n"
        "time: {start: 2000-01-01T00:00:00Z, stop: 2000-01-02T00:00:00Z}\n"
        "job: {ntasks: 8}\n"
        "namelists:\n"
        "  run_nml: {dtime: 100.0, iforcing: 0}\n"
    )


def test_a_namelist_by_itself_lacks_what_the_master_says(nmlgen, run):
    done = nmlgen("import", "run/NAMELIST_atm", "-o", "again.yaml", "--name", "mine")
    assert done.code == 1
    assert done.err.splitlines() == [
        "left to do: time.start: nothing says it, and there is no experiment without it",
        "left to do: time.stop: nothing says it, and there is no experiment without it",
    ]
    text = Path("again.yaml").read_text()
    assert "name: mine" in text
    assert "  # start: nothing says it, and there is no experiment without it\n" in text
    assert "time.start is not set" in nmlgen("check", "again.yaml").err
    times = ["--set", "time.start=2000-01-01T00:00:00Z", "--set", "time.stop=2000-01-02T00:00:00Z"]
    assert nmlgen("build", "again.yaml", "-o", "run2", *times, "--set", "job.nodes=1").code == 0
    assert nmlgen("diff", "run2/NAMELIST_mine", "run/NAMELIST_atm", "--explicit").code == 0


def test_what_a_spec_cannot_hold_is_said(nmlgen, run):
    master = run / "icon_master.namelist"
    master.write_text(master.read_text() + MODEL.format("oce") + "&jsb_model_nml model_namelist_filename = 'lnd' /\n")
    (run / "NAMELIST_atm").write_text(NAMELIST + "&run_nml dtime = 1.0 /\n&io_nml inextra_2d = .TRUE. /\n")
    (run / "NAMELIST_oce").write_text("&ocean_dynamics_nml n_zlev = 5 /\n")
    done = nmlgen("import", "run", "-o", "both.yaml")
    assert done.code == 1
    assert "left to do: models.oce.grid.file: nothing says which file" in done.err
    assert "n_zlev: 5" in Path("both.yaml").read_text()
    assert 'did you mean "oce"' in nmlgen("import", "run", "--model", "oc").err
    done = nmlgen("import", "run", "--model", "atm")
    assert done.code == 1
    assert "lnd, the namelist file of JSBACH, is not there" in done.err
    assert "this one is never looked at; it is not in the spec" in done.err
    assert "namelists.io_nml.inextra_2d: what ICON reads there is not known" in done.err
    assert "# inextra_2d: what ICON reads there is not known, see run/NAMELIST_atm:" in done.out


def test_the_script_of_a_build_remembers_the_site(nmlgen):
    done = nmlgen("import", GOLDEN / "horeka-beeond" / "expected")
    assert done.code == 0
    assert "name: beeond\nsite: horeka\n" in done.out
    assert "name: R2B5" in done.out


def test_a_site_file_is_named_as_the_spec_will_see_it(nmlgen, run, here):
    (here / "mine.yaml").write_text("description: mine\nmachine: {scheduler: slurm, file_system: local}\n")
    (here / "specs").mkdir()
    assert nmlgen("import", "run", "--site", "./mine.yaml", "-o", "specs/a.yaml").code == 0
    assert "site: ../mine.yaml" in (here / "specs" / "a.yaml").read_text()
    assert nmlgen("check", "specs/a.yaml", "--set", "job.nodes=1").code == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "--site", "levnate"], 'did you mean "levante"'),
        (["run", "-o", "spec.yaml"], "spec.yaml exists; --force overwrites it"),
        (["run", "--model", "atm", "--name", "x", "-o", "no/where.yaml"], "no such file or directory"),
        (["nowhere"], "nowhere: there is no such file"),
        (["specs.txt"], "specs.txt is neither a spec, nor a script, nor a namelist"),
        (["."], ". holds no icon_master.namelist"),
    ],
)
def test_usage(nmlgen, run, here, arguments, words):
    (here / "specs.txt").write_text("what is this\n")
    done = nmlgen("import", *arguments)
    assert (done.code, done.out) == (2, "")
    assert words in done.err


def test_a_script_from_the_standard_input(nmlgen, here, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(COMPLETE.encode())))
    done = nmlgen("import", "-", "--site", "generic-slurm", "-o", "again.yaml")
    refusal = "RUN004 iforcing is 3, NWP physics, and there is no nwp_phy_nml; expected: a group nwp_phy_nml"
    assert (done.code, done.err) == (0, f"nmlgen build refuses it: <stdin>:50:13: {refusal}\n")
    assert Path("again.yaml").read_text().startswith("# Imported from -\nnmlgen: 1\nname: waves\nsite: generic-slurm\n")
    (here / "exp.waves").write_text(COMPLETE)
    assert nmlgen("diff", "again.yaml", "exp.waves").out == "no differences\n"


def test_what_icon_refuses_of_a_script_is_said_once_a_rule_with_its_place(nmlgen, here):
    physics = "&nwp_phy_nml inwp_surface = 0 /\n&turbdiff_nml\n rat_sea = 7.0\n/\n&run_nml"
    assert COMPLETE.count("&run_nml") == 1
    (here / "exp.waves").write_text(COMPLETE.replace("&run_nml", physics))
    done = nmlgen("import", "exp.waves", "--site", "generic-slurm", "-o", "again.yaml")
    lines = done.err.splitlines()
    assert (done.code, len(lines)) == (0, 1)
    assert lines[0].startswith("nmlgen build refuses it: exp.waves:")
    assert "PHY001 rlam_heat 10: the product of rlam_heat and rat_sea is out of range" in lines[0]
    line, column = (int(part) for part in lines[0].split("exp.waves:")[1].split(":")[:2])
    script = (here / "exp.waves").read_text().splitlines()
    assert script[line - 1][column - 1 :] == "7.0"
    assert nmlgen("build", "again.yaml", "-o", "run2").code == 1

    ignoring = nmlgen("import", "exp.waves", "--site", "generic-slurm", "-o", "ignoring.yaml", "--add-ignore")
    said = lines[0].removeprefix("nmlgen build refuses it: ")
    assert (ignoring.code, ignoring.err) == (0, f"ignored: {said}\n")
    assert Path("ignoring.yaml").read_text().count("PHY001") == 2  # the rule, and in the reason
    assert nmlgen("build", "ignoring.yaml", "-o", "run2").code == 0
    assert nmlgen("diff", "run2", "exp.waves").out == "no differences\n"


def test_what_a_script_does_not_say_is_left_to_do(nmlgen, here):
    (here / "exp.waves").write_text(UNKNOWN)
    done = nmlgen("import", "exp.waves")
    assert done.code == 1
    assert "  # num_io_procs: only the running shell knows: $(how_many_writers) at exp.waves:42:17\n" in done.out
    assert "left to do: parallel.num_io_procs: only the running shell knows" in done.err
