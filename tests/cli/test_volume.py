"""nmlgen volume, called as users call it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from grid_files import header

from nmlgen.lift import namelists


def test_text(nmlgen: Callable[..., Any], here: Path) -> None:
    done = nmlgen("volume", "spec.yaml")
    assert done.code == 0
    assert "49 479 688" in done.out  # 5 variables on 30 levels and one more of w, 81920 cells, 4 bytes, and the time
    assert "CHECKPOINT" in done.out
    assert "\x1b" not in done.out


def test_json(nmlgen: Callable[..., Any], here: Path) -> None:
    done = nmlgen("volume", "spec.yaml", "--format", "json", "--set", "output.atm.ml_varlist=[temp, bogus]")
    document = json.loads(done.out)
    assert done.code == 0
    assert document["unknown_names"] == ["bogus"]
    assert document["streams"][0]["step"]["low"] < document["streams"][0]["step"]["best"]
    assert document["checkpoint_files"] == 60 + 1


def test_undecided(nmlgen: Callable[..., Any], here: Path) -> None:
    limited = ("--set", "namelists.grid_nml.l_limited_area=true")
    done = nmlgen("volume", "spec.yaml", *limited)
    assert done.code == 0
    assert (
        "not known, because the size of the grid is not known: grid.cells says it, or a name such as R2B5 in grid.name"
        in done.out
    )
    document = json.loads(nmlgen("volume", "spec.yaml", *limited, "--format", "json").out)
    assert document["streams"] is None
    assert document["checkpoint"] is None


def test_refused(nmlgen: Callable[..., Any], here: Path) -> None:
    done = nmlgen("volume", "spec.yaml", "--set", "output.atm.pe_placement_ml=9")
    assert done.code == 1
    assert "ICON refuses the placement" in done.err
    as_json = nmlgen("volume", "spec.yaml", "--set", "output.atm.pe_placement_ml=9", "--format", "json")
    assert as_json.code == 1
    assert "refused" in json.loads(as_json.out)


def test_wrong_spec(nmlgen: Callable[..., Any], here: Path) -> None:
    assert nmlgen("volume", "wrong.yaml").code == 1
    assert json.loads(nmlgen("volume", "wrong.yaml", "--format", "json").out)["findings"]


def test_of_namelists_that_exist(nmlgen: Callable[..., Any], here: Path) -> None:
    nmlgen("build", "spec.yaml", "-o", "run1")
    spec = nmlgen("volume", "spec.yaml", "--format", "json")
    for path in ("run1", "run1/icon_master.namelist"):
        found = nmlgen("volume", path, "--ntasks", 64, "--format", "json")
        assert (found.code, found.err) == (0, "")
        assert json.loads(found.out)["checkpoint"] == json.loads(spec.out)["checkpoint"]
    assert nmlgen("volume", "run1", "--format", "json").out == spec.out
    for arguments in (["spec.yaml", "--ntasks", 4], ["run1", "--ntasks", 4, "--set", "a=b"], ["run1", "--set", "a=b"]):
        assert nmlgen("volume", *arguments).code == 2


OTHER = "nmlgen: 1\nname: a\nsite: local\njob: {ntasks_per_node: 2}\nextends: "


def test_namelists_that_exist_are_lifted_once(nmlgen: Callable[..., Any], here: Path, monkeypatch: Any) -> None:
    lift, seen = namelists.lift_document, []
    monkeypatch.setattr(namelists, "lift_document", lambda *given, **said: seen.append(1) or lift(*given, **said))
    (here / "icon_master.namelist").write_text("&master_model_nml\n model_namelist_filename = 'NAMELIST_a'\n/\n")
    (here / "NAMELIST_a").write_text("&run_nml\n num_lev = 30\n/\n")
    assert nmlgen("volume", "icon_master.namelist", "--ntasks", "8").code == 0
    assert len(seen) == 2  # the master and the model


def test_another_model(nmlgen: Callable[..., Any], here: Path) -> None:
    (here / "wave.yaml").write_text(f"{OTHER}wrf/b_wave\n")
    done = nmlgen("volume", "wave.yaml", "--set", "namelists.time_control.restart_interval=1440")
    table, job = done.out.strip().split("\n\n")
    assert [line.split() for line in table.splitlines()[1:]] == [
        ["history", "1", "21", "11.3", "MB", "236.3", "MB", "236.3", "MB"],
        ["restart", "5", "5", "72.0", "MB", "72.0", "MB", "359.9", "MB"],
    ]
    assert job == "the job: 596.2 MB, without compression"
    document = json.loads(nmlgen("volume", "wave.yaml", "--format", "json").out)
    assert (document["streams"][0]["of"], document["streams"][0]["bytes"]) == ("history", 21 * 11_250_567)
    nmlgen("build", "wave.yaml", "-o", "build")
    of_namelist = nmlgen("volume", "build/namelist.input", "--ntasks", 2)
    assert of_namelist.out.splitlines()[1].split()[:3] == ["history", "1", "21"]
    assert nmlgen("volume", "build/namelist.input", "--ntasks", 2, "--set", "a=1").code == 2


SUPERCELL = "nmlgen: 1\nname: a\nsite: local\njob: {ntasks_per_node: 2}\nextends: mpas/supercell\n"
STREAMS = """\
<streams>
<immutable_stream name="input" type="input" filename_template="supercell_init.nc" input_interval="initial_only"/>
<stream name="output" type="output" filename_template="h.$h.$m.nc" output_interval="1:00:00"
 filename_interval="2:00:00"><var name="xtime"/><var name="latCell"/><var name="w"/>
</stream>
</streams>
"""


def test_the_mesh_of_mpas(nmlgen: Callable[..., Any], here: Path) -> None:
    (here / "spec.yaml").write_text(SUPERCELL)
    mpas = here / "mpas"
    (mpas / "supercell").mkdir(parents=True)
    (mpas / "supercell/streams.atmosphere").write_text(STREAMS)
    arguments = ("spec.yaml", "--set", f"model.directory={mpas}", "--format", "json")

    def output(*more: object) -> tuple[int, ...]:
        (found,) = json.loads(nmlgen("volume", *arguments, *more).out)["streams"]
        return tuple(found[name] for name in ("files", "times", "bytes_a_time", "bytes_a_file", "bytes"))

    assert output()[2:] == (None, None, None)
    of_init = (2, 3, 64 + 4 * 672 * 41, 2 * (64 + 4 * 672 * 41) + 4 * 672, 3 * (64 + 4 * 672 * 41) + 2 * 4 * 672)
    assert output("--cells", 672) == of_init  # the namelist beside says the levels
    (mpas / "supercell/supercell_grid.nc").write_bytes(header({"nCells": 672, "nEdges": 2016}, {}))
    (mpas / "supercell/streams.init_atmosphere").write_text(
        '<streams><immutable_stream name="input" type="input" filename_template="supercell_grid.nc"/></streams>'
    )
    assert output() == of_init
    build = here / "build"
    assert nmlgen("build", *arguments[:3], "-o", build).code == 0
    (build / "streams.atmosphere").write_text(STREAMS)
    (build / "supercell_init.nc").write_bytes(header({"nCells": 672, "nVertLevels": 40}, {}, version=5))
    assert "110.3 kB" in nmlgen("volume", build, "--ntasks", 2).out


def test_only_models_whose_mesh_is_not_told_are_told_it(nmlgen: Callable[..., Any], here: Path) -> None:
    (here / "wave.yaml").write_text(f"{OTHER}wrf/b_wave\n")
    for command, spec in (("volume", "wave.yaml"), ("ranks", "spec.yaml")):
        done = nmlgen(command, spec, "--levels", 30)
        assert (done.code, "--levels is for models whose mesh no namelist tells" in done.err) == (2, True)


def test_how_much_palm_writes_is_not_known(nmlgen: Callable[..., Any], here: Path) -> None:
    (here / "cbl.yaml").write_text(f"{OTHER}palm/cbl\n")
    done = nmlgen("volume", "cbl.yaml")
    assert "the job: ?, without compression" in done.out
    assert [line.split()[-3:] for line in done.out.splitlines() if line.startswith("time series")] == [["?", "?", "?"]]
