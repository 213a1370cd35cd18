"""Namelists that other programs hold: models, streams, checkpoints, values; and one variable changed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import f90nml
import pytest
from specs import MAPPING

import nmlgen

MASTER = """\
&master_nml
 lrestart = .true.
 model_base_dir = "/work/bb1234"
/
&master_time_control_nml
 calendar = "proleptic gregorian"
 experimentStartDate = "2000-01-01T00:00:00Z"
 experimentStopDate = "2000-01-03T00:00:00Z"
 restartTimeIntval = "P1D"
 checkpointTimeIntval = "P1D"
/
&master_model_nml
 model_type = 1
 model_name = "atm"
 model_namelist_filename = "NAMELIST_atm"
 model_min_rank = 0
 model_max_rank = 5
/
&master_model_nml
 model_type = 2
 model_name = "oce"
 model_namelist_filename = "<path>/NAMELIST_oce"
 model_min_rank = 6
 model_max_rank = 7
/
"""
ATMOSPHERE = """\
&run_nml  ! the time step
 modelTimeStep = "PT10M"
/
&io_nml
 restart_write_mode = "joint procs multifile"
/
&grid_nml
 dynamics_grid_filename = "grids/iconR02B04.nc", "nest.nc"
/
&output_nml
 output_filename = "out/atm_2d"   ! surface
 filetype = 5
 output_start = "2000-01-01T00:00:00Z"
 output_end = "2000-01-03T00:00:00Z"
 output_interval = "PT12H"
 file_interval = "P1D"
 ml_varlist = "u", "v"
 dom = 1
/
&output_nml
 output_filename = "atm_3d"
 output_interval = "PT6H"
/
"""
OCEAN = """\
&run_nml
 modelTimeStep = "PT1H"
/
&io_nml
 restart_write_mode = "sync"
/
&grid_nml
 dynamics_grid_filename = "ocean_grid.nc"
/
"""
FILES = {"icon_master.namelist": MASTER, "NAMELIST_atm": ATMOSPHERE, "/work/bb1234/NAMELIST_oce": OCEAN}


@pytest.fixture
def experiment():
    return nmlgen.read_namelists(FILES, ntasks=8, icon_release="2025.10")


def test_models(experiment):
    assert [(model.name, model.kind, model.namelist_filename) for model in experiment.models] == [
        ("atm", "atmosphere", "NAMELIST_atm"),
        ("oce", "ocean", "/work/bb1234/NAMELIST_oce"),
    ]
    assert experiment.models[0].ranks == frozenset(range(6))
    assert experiment.model("oce").ranks == {6, 7}
    with pytest.raises(nmlgen.InputError, match=r'no model "ocean"; there are atm, oce'):
        experiment.model("ocean")


def test_no_ranks_without_tasks():
    assert [model.ranks for model in nmlgen.read_namelists(FILES).models] == [None, None]


def test_streams(experiment):
    first, second = experiment.model("atm").streams
    assert (first.number, first.output_filename, first.directory, first.filetype) == (1, "out/atm_2d", "out", 5)
    assert first.files == ("out/atm_2d_DOM01_ML_0001.nc", "out/atm_2d_DOM01_ML_0002.nc", "out/atm_2d_DOM01_ML_0003.nc")
    assert (second.number, second.directory, second.filetype, second.files) == (2, ".", 4, ())
    assert experiment.model("oce").streams == ()


def test_restart_files(experiment):
    atmosphere, ocean = (model.restart for model in experiment.models)
    assert atmosphere == nmlgen.RestartFiles(
        "joint procs multifile", True, ("multifile_restart_atm.mfr",), ("multifile_restart_atm_*.mfr",)
    )
    assert ocean == nmlgen.RestartFiles("sync", False, ("restart_oce_DOM01.nc",), ("ocean_grid_restart_oce_*.nc",))


def test_restart_files_of_nests():
    files = FILES | {"NAMELIST_atm": ATMOSPHERE.replace("joint procs multifile", "sync")}
    restart = nmlgen.read_namelists(files, icon_release="2025.10").model("atm").restart
    assert restart.links == ("restart_atm_DOM01.nc", "restart_atm_DOM02.nc")
    assert restart.patterns == ("iconR02B04_restart_atm_*.nc", "nest_restart_atm_*.nc")


def test_restart_mode_that_icon_does_not_know():
    files = FILES | {"NAMELIST_atm": ATMOSPHERE.replace("joint", "joined")}
    with pytest.raises(nmlgen.InputError, match="restart_write_mode"):
        _ = nmlgen.read_namelists(files).model("atm").restart


def test_values(experiment):
    atmosphere = experiment.model("atm")
    assert atmosphere.value("master_nml", "lrestart") is True
    assert atmosphere.value("RUN_NML", "modelTimeStep") == "PT10M"
    assert atmosphere.value("output_nml", "output_filename", copy=2) == "atm_3d"
    assert atmosphere.value("parallel_nml", "num_io_procs") == 0  # the release's default
    assert experiment.model("oce").value("master_model_nml", "model_type") == 2
    with pytest.raises(nmlgen.InputError, match=r'no variable "num_io_proc"; did you mean "num_io_procs"'):
        atmosphere.value("parallel_nml", "num_io_proc")
    with pytest.raises(nmlgen.InputError, match="there are 2 output_nml, not 3"):
        atmosphere.value("output_nml", "output_filename", copy=3)


def test_values_by_release():
    values = [
        nmlgen.read_namelists(FILES, icon_release=release).model("atm").value("turb_vdiff_nml", "min_sfc_wind")
        for release in ("2024.10", "2025.10")
    ]
    assert values == [1.0, 0.3]


def test_findings(experiment):
    assert "OUT019" not in [finding.code for finding in experiment.check().findings]
    files = FILES | {"NAMELIST_atm": ATMOSPHERE.replace("filetype", "filetyp")}
    found = nmlgen.read_namelists(files, icon_release="2025.10").check().findings
    assert ("NML002", "NAMELIST_atm", 12) in [(one.code, one.file, one.line) for one in found]


def test_paths_texts_and_dicts_are_the_same(tmp_path):
    built = nmlgen.build(MAPPING)
    built.write(tmp_path / "run")
    texts = {name: data.decode() for name, data in built.files.items() if "NAMELIST" in name or "namelist" in name}
    dicts = {name: f90nml.reads(text) for name, text in texts.items()}
    sources = [tmp_path / "run", tmp_path / "run" / "icon_master.namelist", texts, dicts]
    said = {
        (model.name, model.namelist_filename, model.streams, model.restart)
        for source in sources
        for model in nmlgen.read_namelists(source, icon_release="2024.10").models
    }
    assert len(said) == 1


def test_what_is_no_experiment(tmp_path):
    with pytest.raises(nmlgen.InputError, match=r"no icon_master\.namelist among NAMELIST_atm"):
        nmlgen.read_namelists({"NAMELIST_atm": ATMOSPHERE})
    with pytest.raises(nmlgen.InputError, match="no such file"):
        nmlgen.read_namelists(tmp_path)
    with pytest.raises(nmlgen.InputError, match="release"):
        nmlgen.read_namelists(FILES, icon_release="1999.01")


@pytest.mark.parametrize(
    ("base", "name", "file", "unknown"),
    [
        ("model_base_dir = '{{ base }}'", "atm", "NAMELIST_atm", "model_base_dir"),
        ("", "{{ name }}", "NAMELIST_atm", "model_name"),
        ("", "atm", "{{ file }}", "model_namelist_filename"),
    ],
)
def test_names_that_are_not_known(base, name, file, unknown):
    text = f"&master_nml\n {base}\n/\n&master_model_nml\n model_type = 1\n model_name = '{name}'\n"
    text += f" model_namelist_filename = '{file}'\n/\n"
    with pytest.raises(nmlgen.InputError, match=f"the value of .*{unknown} is not known"):
        nmlgen.read_namelists({"icon_master.namelist": text, "NAMELIST_atm": ""})


def test_a_file_that_nothing_can_be_called():
    text = "&master_nml\n/\n&master_model_nml\n model_type = 1\n model_name = 'atm'\n"
    text += " model_namelist_filename = 'a\0b'\n/\n"
    (model,) = nmlgen.read_namelists({"icon_master.namelist": text}).models
    assert model.namelist_filename == "a\0b"


def test_one_variable_is_set_and_deleted():
    changed = nmlgen.set_value(ATMOSPHERE, "output_nml", "output_filename", "other", copy=2)
    assert changed == ATMOSPHERE.replace('"atm_3d"', "'other'")
    added = nmlgen.set_value(ATMOSPHERE, "run_nml", "ltestcase", True)
    assert added == ATMOSPHERE.replace('"PT10M"\n', '"PT10M"\n ltestcase = .TRUE.\n')
    assert nmlgen.delete_value(added, "run_nml", "ltestcase") == ATMOSPHERE
    with pytest.raises(nmlgen.InputError, match="output_nml"):
        nmlgen.set_value(ATMOSPHERE, "output_nml", "dom", 1, copy=3)
    with pytest.raises(nmlgen.InputError, match="dom"):
        nmlgen.delete_value(ATMOSPHERE, "output_nml", "dom", copy=2)


def test_little_is_loaded_before_it_is_needed():
    text = "import sys, nmlgen.namelists; print([name for name in sys.modules if name[:7] in ('nmlgen.', 'f90nml')])"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout == "['nmlgen._version', 'nmlgen.values', 'nmlgen.namelists']\n"


EXAMPLES = Path(__file__).parent.parent / "examples"
RUNS = {
    "aquaplanet": {
        "finish_status": ["finish.status"],
        "atm: checkpoints": ["icon_grid_0013_R02B04_G_restart_atm_*.nc"],
        "atm: latest checkpoint": ["restart_atm_DOM01.nc"],
    },
    "omip": {
        "finish_status": ["finish.status"],
        "oce: checkpoints": ["R2B4_ocean-grid_restart_oce_*.nc"],
        "oce: latest checkpoint": ["restart_oce_DOM01.nc"],
    },
    "coupled": {
        "finish_status": ["finish.status"],  # of ICON 2024.10, which the presets are for
        "atmo: checkpoints": ["multifile_restart_atmo_*.mfr"],
        "atmo: latest checkpoint": ["multifile_restart_atmo.mfr"],
        "ocean: checkpoints": ["icon_grid_0043_R02B04_G_restart_ocean_*.nc"],
        "ocean: latest checkpoint": ["restart_ocean_DOM01.nc"],
    },
}
"""Experiments of ICON's own: the atmosphere, the ocean, both; and what they leave beside their output."""
STREAMS = {
    "aquaplanet": "output/aquaplanet_atm_3d_DOM01_ML_0001.nc",
    "omip": "output/omip_oce_monthly_20010101T000000Z.nc",
    "coupled": "output/coupled_atmo_native_19790101T000000Z.nc",
}


@pytest.mark.parametrize("name", RUNS)
def test_scripts_of_workflow_managers(tmp_path, name):
    spec = {
        "nmlgen": 1,
        "name": name,
        "extends": f"icon/{name}",
        "site": "generic-slurm",
        "model": {"pool": "/pool", "directory": "/icon", "executable": "bin/icon"},
        "job": {"nodes": 8, "ntasks_per_node": 32},
    }
    before, run = tmp_path / "before", tmp_path / "run"
    for directory in (before, run):
        nmlgen.build(spec).write(directory)

    told = subprocess.run(
        [sys.executable, EXAMPLES / "aiida_outputs.py", run], capture_output=True, text=True, check=True
    ).stdout
    found = json.loads(told)
    streams = {key: files for key, files in found.items() if ": output " in key}
    assert {key: files for key, files in found.items() if key not in streams} == RUNS[name]
    assert next(iter(streams.values()))[0] == STREAMS[name]

    patterns = [pattern for key, each in RUNS[name].items() if key.endswith(": checkpoints") for pattern in each]
    links = [link for key, each in RUNS[name].items() if key.endswith("latest checkpoint") for link in each]
    for pattern in patterns:
        for date in ("20010101T000000Z", "20020101T000000Z"):
            (before / pattern.replace("*", date)).mkdir()
    chunk = [sys.executable, EXAMPLES / "sirocco_chunk.py", run, "2002-01-01T00:00:00Z", "2003-01-01T00:00:00Z", before]
    subprocess.run(chunk, capture_output=True, check=True)
    assert [(run / link).readlink() for link in links] == [
        before / pattern.replace("*", "20020101T000000Z") for pattern in patterns
    ]
    assert (run / "output").is_dir()
    master = f90nml.read(run / "icon_master.namelist")
    assert master["master_nml"]["lrestart"] is True
    assert master["master_time_control_nml"]["experimentstopdate"] == "2003-01-01T00:00:00Z"


def test_page(tmp_path, monkeypatch, capsys):
    """What docs/namelists.md shows, on a coupled experiment that has run a job."""
    page = (Path(__file__).parent.parent / "docs" / "namelists.md").read_text(encoding="utf-8")
    spec = {
        "nmlgen": 1,
        "name": "coupled",
        "extends": "icon/coupled",
        "site": "generic-slurm",
        "model": {"pool": "/pool", "directory": "/icon", "executable": "bin/icon"},
        "job": {"nodes": 8, "ntasks_per_node": 32},
    }
    run = tmp_path / "run"
    nmlgen.build(spec).write(run)
    for model in nmlgen.read_namelists(run).models:
        for pattern in model.restart.patterns:
            for date in ("19790101T000000Z", "19800101T000000Z"):
                (run / pattern.replace("*", date)).mkdir()
    monkeypatch.chdir(tmp_path)
    exec("\n".join(re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S)), {})
    lines = capsys.readouterr().out.splitlines()
    assert "atmo atmosphere NAMELIST_coupled_atmo 246" in lines
    assert "ocean ocean NAMELIST_coupled_ocean 10" in lines
    assert [line for line in lines if "->" in line] == [
        "multifile_restart_atmo.mfr -> multifile_restart_atmo_19800101T000000Z.mfr",
        "restart_ocean_DOM01.nc -> icon_grid_0043_R02B04_G_restart_ocean_19800101T000000Z.nc",
    ]
    assert lines[-2:] == ["atmo 1979-02-01T00:00:00Z 2", "ocean 1979-02-01T00:00:00Z 2"]


def test_a_build_says_its_release(tmp_path):
    example = Path(__file__).parent.parent / "examples" / "nh_dcmip_tc_52_r2b5.yaml"
    nmlgen.build(example).write(tmp_path)
    found = nmlgen.read_namelists(tmp_path, ntasks=256)
    assert found.release == "2024.10"
    assert (
        found.check().findings == nmlgen.read_namelists(tmp_path, ntasks=256, icon_release="2024.10").check().findings
    )
    later = nmlgen.read_namelists(tmp_path / "icon_master.namelist", icon_release="2025.10")
    assert later.release == "2025.10"


def test_the_status_files_are_those_of_the_release(tmp_path):
    spec = {
        "nmlgen": 1,
        "name": "coupled",
        "extends": "icon/coupled",
        "site": "generic-slurm",
        "model": {"pool": "/pool", "directory": "/icon", "executable": "bin/icon"},
        "job": {"nodes": 8, "ntasks_per_node": 32},
    }
    nmlgen.build(spec).write(tmp_path)
    assert nmlgen.read_namelists(tmp_path).status_files == ("finish.status",)
    later = nmlgen.read_namelists(tmp_path, icon_release="2025.10")
    assert later.status_files == ("finish_atmo.status", "finish_ocean.status")


def test_beside_texts_that_are_given_lies_nothing(tmp_path, monkeypatch):
    (tmp_path / "LOG.1.o").write_text("  version: 2024.01\n")
    monkeypatch.chdir(tmp_path)
    assert nmlgen.read_namelists(FILES).release == "2025.10"
