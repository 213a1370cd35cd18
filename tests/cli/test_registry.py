"""nmlgen registry: groups and variables of a release, and what changed between two."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nmlgen.namelist.registry import releases
from nmlgen.resources import directory

EXAMPLE = Path(__file__).parents[2] / "examples" / "nh_dcmip_tc_52_r2b5.yaml"


def test_group(nmlgen):
    done = nmlgen("registry", "show", "IO_nml")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("io_nml, ICON 2025.10\n")
    assert "read by  atmosphere, icon_output, jsbach, ocean, waves, from the file that" in done.out
    assert "echotop_meta(1:10)%dbzthresh      real, dimension(10)" in done.out


def test_group_that_depends_on_the_physics(nmlgen):
    assert "run_nml: iforcing is 2 or 5\n" in nmlgen("registry", "show", "aes_phy_nml").out


def test_group_that_nothing_reads(nmlgen):
    assert "read by  nothing\n" in nmlgen("registry", "show", "cloud_two_nml").out


def test_groups_of_one_name(nmlgen):
    done = nmlgen("registry", "show", "jsb_model_nml")
    assert done.out.count("jsb_model_nml, ICON 2025.10") == 2
    assert "from icon_master.namelist\n  copies      every one is read" in done.out
    documents = json.loads(nmlgen("registry", "show", "jsb_model_nml", "--format", "json").out)
    assert [document["file"] for document in documents] == ["jsbach", "master"]


def test_variable(nmlgen):
    done = nmlgen("registry", "show", "parallel_nml", "num_io_procs")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        "parallel_nml: num_io_procs, ICON 2025.10",
        "  type       integer",
        "  default    0",
        "  values     0 to 256",
        "  otherwise  ICON stops",
        "  below      ICON takes another value",
        "  note       below 0 stands for 0",
        "  rules      PAR005, PAR006",
        "  source     2024.10: src/configure_model/mo_parallel_config.f90:278-281",
    ]


@pytest.mark.parametrize(
    ("names", "release", "words"),
    [
        (("output_nml", "filetype"), "2024.01", 'ICON stops, if output_nml: filename_extn is "default"'),
        (("output_nml", "pe_placement_ml"), "2024.10", "0 to num_io_procs - 1, or -1"),
        (("output_nml", "m_levels"), "2024.10", "a list of levels"),
        (("run_nml", "modelTimeStep"), "2024.10", "an ISO 8601 duration"),
        (("assimilation_nml", "dtrefbias"), "2024.10", "computed at run time"),
        (("io_nml", "echotop_meta"), "2024.10", "io_nml: echotop_meta(1:10)%time_interval"),
        (("dbg_index_nml", "str_mod_tst"), "2024.10", '1: "all", others ""'),
        (("ocean_dynamics_nml", "solver_tolerance_sp"), "2024.10", "real(kind=4)"),
        (("time_nml", "calendar"), "2024.10", "not 0"),
    ],
)
def test_variables(nmlgen, names, release, words):
    done = nmlgen("registry", "show", *names, "--icon-release", release)
    assert done.code == 0
    assert words in done.out


def test_variable_as_json(nmlgen):
    done = nmlgen("registry", "show", "run_nml", "profiling_output", "--format", "json")
    (document,) = json.loads(done.out)
    assert document["type"] == "integer"
    assert document["constraint"]["allowed"] == [1, 2, 3]
    assert document["constraint"]["effect"] == "abort"
    assert document["constraint"]["when"] == "run_nml: ltimer is true"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("ionml",), 'has no namelist group "ionml"; did you mean "io_nml"?'),
        (("echam_phy_nml",), "echam_phy_nml: ICON 2024.01 no longer has it; use aes_phy_nml"),
        (("io_nml", "restart_mode"), 'no variable "restart_mode"; did you mean "restart_write_mode"?'),
        (("run_nml", "num_io_procs"), "it is a variable of parallel_nml"),
        (
            ("parallel_nml", "ITYPE_comm"),
            "parallel_nml.itype_comm: ICON 2024.01 no longer has it, removed on 2023-07-25",
        ),
        (("lnd_nml", "lurbahf"), "use lnd_nml.itype_ahf; 1 or more switches it on"),
        (("io_nml", "--icon-release", "2023.01"), "known are 2024.01, 2024.07, 2024.10"),
        (("io_nml", "--icon-release", "./nope.json"), "nope.json: no such file"),
    ],
)
def test_unknown_names(nmlgen, arguments, words):
    done = nmlgen("registry", "show", *arguments)
    assert (done.code, done.out) == (2, "")
    assert words in done.err


def test_search(nmlgen):
    done = nmlgen("registry", "search", "RESTART")
    assert (done.code, done.err) == (0, "")
    assert "io_nml" in done.out
    assert "restart_write_mode" in done.out
    assert "master_model_nml.model_restart_info_filename: ICON 2024.01 no longer has it" in done.out


def test_search_for_groups(nmlgen):
    assert nmlgen("registry", "search", "io_nml").out.splitlines()[1].split() == ["io_nml", "43", "variables"]


def test_search_as_json(nmlgen):
    document = json.loads(nmlgen("registry", "search", "use_sp_output", "--format", "json").out)
    assert document["groups"] == document["variables"] == []
    (removed,) = document["removed"]
    assert removed["group"] == "parallel_nml"
    assert removed["use"] == ["parallel_nml.use_dp_mpi2io"]


def test_search_for_nothing(nmlgen):
    done = nmlgen("registry", "search", "qqq")
    assert (done.code, done.out) == (0, 'ICON 2025.10 has no name with "qqq" in it\n')


def test_diff(nmlgen):
    done = nmlgen("registry", "diff", "2024.07", "2024.10")
    assert (done.code, done.err) == (0, "")
    lines = [" ".join(line.split()) for line in done.out.splitlines()]
    assert "aes_rad_nml aes_rad_config%irad_aero default 2 0" in lines
    assert "hd_ctl group added" in lines
    assert "q_pheno_nml lai_site_specific variable removed use q_pheno_nml.lai_max" in lines
    assert "jsb_hd_nml enforce_water_budget type logical character(len=10)" in lines


def test_diff_as_json(nmlgen):
    document = json.loads(nmlgen("registry", "diff", "2024.01", "2024.07", "--format", "json").out)
    assert (document["from"], document["to"]) == ("2024.01", "2024.07")
    wanted = {"group": "parallel_nml", "variable": "nproma", "change": "default", "from": 1, "to": 0, "use": []}
    assert wanted in document["changes"]


@pytest.mark.parametrize("release", releases())
def test_no_diff(nmlgen, release):
    done = nmlgen("registry", "diff", release, release)
    assert (done.code, done.out) == (0, f"ICON {release} and {release} have the same namelists\n")


def test_file_of_ones_own(nmlgen, tmp_path: Path):
    document = json.loads((directory("schemas") / "icon" / "2024.10.json").read_text())
    document["release"] = "2025.04"
    document["groups"]["io_nml"]["variables"]["brand_new"] = {"type": "integer", "default": 7}
    path = tmp_path / "2025.04.json"
    path.write_text(json.dumps(document))
    done = nmlgen("registry", "show", "io_nml", "brand_new", "--icon-release", path)
    assert done.out.startswith("io_nml: brand_new, ICON 2025.04\n")
    changes = nmlgen("registry", "diff", "2024.10", path).out.splitlines()
    assert [line.split() for line in changes[1:]] == [["io_nml", "brand_new", "variable", "added", "integer"]]
    namelist = tmp_path / "NAMELIST_atm"
    namelist.write_text("&run_nml\n modelTimeStep = 'PT10M'\n/\n&io_nml\n brand_new = 8\n/\n")
    assert nmlgen("lint", "--icon-release", path, namelist).code == 0
    done = nmlgen("lint", "--icon-release", "2024.10", namelist)
    assert (done.code, "brand_new" in done.out) == (1, True)
    namelist.write_text(namelist.read_text().replace("8", "'x'"))
    assert "NML003" in nmlgen("lint", "--icon-release", path, namelist).out  # of the type that the file says


SOURCE = """
MODULE mo_x_nml
  INTEGER :: x
  NAMELIST /x_nml/ x
CONTAINS
  SUBROUTINE read_x_namelist
    x = 4
    READ (nnml, x_nml)
  END SUBROUTINE
END MODULE
"""


def test_make(nmlgen, tmp_path: Path):
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "mo_x_nml.f90").write_text(SOURCE)
    output = tmp_path / "2025.04.json"
    done = nmlgen("registry", "make", tmp_path / "tree", "--icon-release", "2025.04", "-o", output)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"{output}: 118 groups, ")
    assert "constraints are those of ICON 2025.04\n" in done.out
    assert "not in the tree, as in ICON 2024.10: externals/ecrad (radiation)\n" in done.out
    files = sorted(path.name for path in tmp_path.iterdir() if path.is_file())
    assert files == ["2025.04-variables.json", "2025.04.json"]
    assert "x         integer  4" in nmlgen("registry", "show", "x_nml", "--icon-release", output).out
    (tmp_path / "2025.04-variables.json").write_text("{", encoding="utf-8")  # as on a disk that was full
    done = nmlgen("check", EXAMPLE, "--icon-release", output)
    assert (done.code, done.out) == (2, "")
    assert "2025.04-variables.json holds no output variables" in done.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nowhere", "--icon-release", "2025.04", "-o", "x.json"), "nowhere is no directory"),
        ((".", "--icon-release", "2025.04", "-o", "x.json"), "holds no Fortran file with a NAMELIST statement"),
        ((".", "--icon-release", "new", "-o", "x.json"), '"new" is no release'),
        ((".", "--icon-release", "2025.04"), "Missing option '-o'"),
    ],
)
def test_make_of_nothing(nmlgen, here, arguments, words):
    done = nmlgen("registry", "make", *arguments)
    assert (done.code, done.out) == (2, "")
    assert words in done.err
