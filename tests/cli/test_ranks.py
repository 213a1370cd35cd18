"""nmlgen ranks, called as users call it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from placements import CASES, spec


def test_text(nmlgen: Callable[..., Any], here: Path) -> None:
    done = nmlgen("ranks", "spec.yaml", "--times", 8)
    assert done.code == 0
    nodes, split, files, picture = done.out.strip().split("\n\n")
    assert nodes.splitlines()[1:] == ["0     32     0-31   32 work", "1     32     32-63  28 work, 4 I/O"]
    assert "work   60      0-59" in split
    assert "output/wave_atm_DOM01_ML_0004.nc" in files
    assert "the first 8 of 241 output times" in picture
    assert "\x1b" not in done.out


def test_json(nmlgen: Callable[..., Any], here: Path) -> None:
    done = nmlgen("ranks", "spec.yaml", "--format", "json", "--times", 5, "--set", "parallel.num_io_procs=5")
    document = json.loads(done.out)
    assert done.code == 0
    assert [write["io_rank"] for write in document["writes"]] == [0, 1, 2, 3, 0]
    assert [row["state"] for row in document["io_ranks"]][-1] == "idle"
    assert [node["tasks"]["atm"] for node in document["nodes"]] == [{"work": 32}, {"work": 27, "io": 5}]


@pytest.mark.parametrize(
    ("setting", "code", "word"),
    [
        ("parallel.num_io_procs=64", 1, "no rank is left to compute"),
        ("output.atm.pe_placement_ml=7", 1, "ICON refuses the placement"),
        ("output.atm.output_interval=PT1S", 0, "output_nml.output_interval is not known"),
    ],
)
def test_what_cannot_be_shown(nmlgen: Callable[..., Any], here: Path, setting: str, code: int, word: str) -> None:
    done = nmlgen("ranks", "spec.yaml", "--set", setting)
    assert done.code == code
    assert word in done.out + done.err
    as_json = nmlgen("ranks", "spec.yaml", "--set", setting, "--format", "json")
    assert as_json.code == code
    assert {"refused", "undecided"} & json.loads(as_json.out).keys()


def test_wrong_spec(nmlgen: Callable[..., Any], here: Path) -> None:
    assert nmlgen("ranks", "wrong.yaml").code == 1
    done = nmlgen("ranks", "wrong.yaml", "--format", "json")
    assert done.code == 1
    assert json.loads(done.out)["findings"]


def test_of_namelists_that_exist(nmlgen: Callable[..., Any], here: Path) -> None:
    nmlgen("build", "spec.yaml", "-o", "run1")
    spec = nmlgen("ranks", "spec.yaml")
    for path in ("run1", "run1/icon_master.namelist"):
        found = nmlgen("ranks", path, "--ntasks", 64)
        assert found.code == 0
        assert found.out.startswith("what sits on which node is not known")
        assert found.out.split("\n\n")[1] == spec.out.split("\n\n")[1]
        assert found.out.split("\n\n")[3:] == spec.out.split("\n\n")[3:]
        assert nmlgen("ranks", path).out == spec.out  # the build's script says what the job has
    for arguments in (["spec.yaml", "--ntasks", 4], ["run1", "--ntasks", 4, "--set", "a=b"], ["run1", "--set", "a=b"]):
        assert nmlgen("ranks", *arguments).code == 2
    next(Path("run1").glob("*.sbatch")).unlink()
    for path in ("run1", "run1/icon_master.namelist"):
        refused = nmlgen("ranks", path)
        assert (refused.code, refused.out) == (2, "")
        assert "namelists are shown with --ntasks" in refused.err


def test_errors_are_told_of(nmlgen: Callable[..., Any], here: Path) -> None:
    for command in ("ranks", "volume"):
        clean = nmlgen(command, "spec.yaml")
        assert (clean.code, clean.err) == (0, "")
        done = nmlgen(command, "spec.yaml", "--set", "namelists.io_nml.restart_write_mod=sync")
        assert (done.code, done.err) == (0, "spec.yaml has 1 error, which `nmlgen check` shows\n")
        assert done.out == clean.out
        as_json = nmlgen(command, "bad.yaml", "--format", "json")
        assert json.loads(as_json.out)
        assert "`nmlgen check` shows" in as_json.err
    nmlgen("build", "spec.yaml", "-o", "run1")
    namelist = next(Path("run1").glob("NAMELIST_*"))
    namelist.write_text(namelist.read_text().replace("&io_nml", "&io_nml\n bogus = 1"))
    assert nmlgen("ranks", "run1", "--ntasks", 64).err == "run1 has 1 error, which `nmlgen lint` shows\n"


def test_a_directory_that_is_no_experiment(nmlgen: Callable[..., Any], tmp_path: Path) -> None:
    done = nmlgen("ranks", str(tmp_path))
    assert (done.code, done.out) == (2, "")
    assert done.err == f"nmlgen: error: {tmp_path} is a directory without icon_master.namelist; a spec is expected\n"


WRF_SPEC = """\
nmlgen: 1
name: wave
extends: wrf/b_wave
site: generic-slurm
job: {time: "01:00:00"}
namelists:
  time_control: {run_days: 1}
  namelist_quilt: {nio_tasks_per_group: 1}
"""


def test_a_spec_of_another_model(nmlgen: Callable[..., Any], here: Path) -> None:
    (here / "wave.yaml").write_text(WRF_SPEC)
    done = nmlgen("ranks", "wave.yaml")
    assert done.code == 0
    roles, files, count = done.out.strip().split("\n\n")
    assert roles.splitlines()[1:] == ["0-2    3      compute, 1 x 3 patches", "3      1      write, group 1"]
    row = "wrfout_d01_0001-01-01_00:00:00 history 0001-01-01_00:00:00 5 11.3 MB 3"
    assert files.splitlines()[1].split() == row.split()
    assert count == "1 file"
    document = json.loads(nmlgen("ranks", "wave.yaml", "--format", "json").out)
    assert [len(file["times"]) for file in document["files"]] == [5]


def test_a_namelist_of_another_model(nmlgen: Callable[..., Any], here: Path) -> None:
    (here / "wave.yaml").write_text(WRF_SPEC)
    nmlgen("build", "wave.yaml", "-o", "build", "--set", "namelists.time_control.restart_interval=360")
    done = nmlgen("ranks", "build/namelist.input", "--ntasks", 4, "--times", 2)
    assert (done.code, done.out.splitlines()[-1]) == (0, "5 files; the last 3 lines of the table left out")
    of_build = nmlgen("ranks", "build")
    assert (of_build.code, of_build.out) == (0, nmlgen("ranks", "build/namelist.input", "--ntasks", 4).out)
    assert nmlgen("ranks", "build/namelist.input").out == of_build.out
    assert nmlgen("volume", "build").out.splitlines()[-1] == "the job: 344.2 MB, without compression"
    two = "ntasks-per-node=4", "ntasks-per-node=2"
    (here / "build/wave.sbatch").write_text((here / "build/wave.sbatch").read_text().replace(*two))
    assert "0-1 " in nmlgen("ranks", "build", "--ntasks", 3).out
    assert "0      1      compute" in nmlgen("ranks", "build").out
    assert nmlgen("ranks", "build/namelist.input", "--ntasks", 4, "--set", "a=1").code == 2
    refused = nmlgen("ranks", "build/namelist.input", "--ntasks", 1)
    assert refused.out == "who writes what is not known: WRF stops: of 1 tasks none is left to compute\n"
    as_json = nmlgen("ranks", "build", "--ntasks", 1, "--format", "json")
    assert json.loads(as_json.out) == {"undecided": "WRF stops: of 1 tasks none is left to compute"}
    (here / "build/wave.sbatch").unlink()
    assert nmlgen("ranks", "build").code == nmlgen("volume", "build/namelist.input").code == 2


def test_a_model_that_nobody_described(nmlgen: Callable[..., Any], here: Path) -> None:
    (here / "other.yaml").write_text(
        "nmlgen: 1\nname: other\nsite: generic-slurm\nmodel: {name: generic, executable: a}\njob: {nodes: 1}\n"
    )
    done = nmlgen("ranks", "other.yaml")
    assert done.out == "who writes what is not known: nobody has described the model\n"
    assert nmlgen("volume", "other.yaml").out == "what is written is not known: nobody has described the model\n"
    as_json = nmlgen("volume", "other.yaml", "--format", "json")
    assert json.loads(as_json.out) == {"undecided": "nobody has described the model"}


def test_files_whose_times_are_not_known(nmlgen: Callable[..., Any], here: Path) -> None:
    (here / "cbl.yaml").write_text("nmlgen: 1\nname: cbl\nextends: palm/cbl\nsite: local\njob: {ntasks_per_node: 2}\n")
    done = nmlgen("ranks", "cbl.yaml")
    rows = [line.split()[-4:] for line in done.out.splitlines() if line.startswith("DATA_1D")]
    assert rows == [["3", "1.0", "kB", "0"], ["?", "?", "?", "0"]]


def test_streams_that_a_spec_brings(nmlgen: Callable[..., Any], here: Path) -> None:
    (here / "spec.yaml").write_text(
        "nmlgen: 1\nname: a\n"
        "extends: mpas/supercell\nsite: local\nmodel: {directory: mpas}\njob: {ntasks_per_node: 2}\n"
    )
    assert "streams.atmosphere, which names the files, is not there" in nmlgen("ranks", "spec.yaml").out
    (here / "mpas/supercell").mkdir(parents=True)
    (here / "mpas/supercell/streams.atmosphere").write_text(
        '<streams>\n<stream name="output" type="output" filename_template="h.$h.nc" output_interval="1:00:00"/>\n'
        "</streams>\n"
    )
    done = nmlgen("ranks", "spec.yaml", "--set", f"model.directory={here / 'mpas'}")
    assert [line.split()[0] for line in done.out.splitlines() if line.startswith("h.")] == [
        "h.00.nc",
        "h.01.nc",
        "h.02.nc",
    ]


def test_what_sits_on_very_many_nodes_is_not_listed(
    nmlgen: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "placed.yaml").write_text(json.dumps(spec(tmp_path, **CASES["one program"])))
    for most, is_listed in ((2, True), (1, False)):
        monkeypatch.setattr("nmlgen.cli.ranks._MOST_CREWS_TOLD", most)
        done = nmlgen("ranks", tmp_path / "placed.yaml", "--format", "json")
        assert (json.loads(done.out)["nodes"] is not None) is is_listed
        assert ("is too much to be listed" in done.err) is not is_listed


def test_seats_of_very_many_ranks_are_not_listed_one_by_one(
    nmlgen: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "placed.yaml").write_text(json.dumps(spec(tmp_path, **CASES["one program"])))
    for most, listed in ((8, 8), (7, None)):
        monkeypatch.setattr("nmlgen.cli.ranks._MOST_SEATS_TOLD", most)
        done = nmlgen("ranks", tmp_path / "placed.yaml", "--format", "json")
        seats = json.loads(done.out)["seats"]
        assert (seats and len(seats)) == listed
        assert ("too many to be listed" in done.err) is (listed is None)
