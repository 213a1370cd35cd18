"""The section `land`: JSBACH's namelist, in the atmosphere or as land alone."""

from __future__ import annotations

from pathlib import Path

import pytest

import nmlgen
from nmlgen import load_spec
from nmlgen.experiment.difference import differences

HEAD = """\
nmlgen: 1
name: earth
site: levante
model: {release: "2024.10", directory: /work/bb1234/icon, executable: bin/icon}
time: {start: 2000-01-01T00:00:00Z, stop: 2000-01-02T00:00:00Z}
job: {account: bb1234, nodes: 1, time: "01:00:00"}
restart: {restart_write_mode: joint procs multifile, checkpointTimeIntval: PT12H, restartTimeIntval: P1D}
input_files: {bc_land_phys.nc: {source: land/phys.nc}, lctlib_nlct21.def: {source: land/types.def}}
"""
LAND = """
land:
  jsb_model_nml: {usecase: jsbach_lite, use_lakes: true}
  JSB_Seb_nml: {BC_filename: bc_land_phys.nc}
"""
ATMOSPHERE = (
    HEAD
    + """\
grid: {file: grids/g_R02B04.nc, name: R2B4, num_lev: 47}
parallel: {nproma: 16}
output: {atm: {output_interval: PT6H, file_interval: P1D, ml_varlist: [u, v]}}
namelists: {run_nml: {iforcing: 0, modelTimeStep: PT10M}}
"""
    + LAND
)
ALONE = (
    HEAD
    + """\
models:
  jsbach:
    type: jsbach
    grid: {file: grids/g_R02B04.nc, name: R2B4, num_lev: 1}
    time: {modelTimeStep: PT30M}
    parallel: {nproma: 16, num_prefetch_proc: 0}
"""
    + LAND.replace("\n", "\n    ")
)


def written(text: str, directory: Path) -> Path:
    path = directory / "spec.yaml"
    path.write_text(text, encoding="utf-8")
    return path


ONE_FILE = ALONE.replace(
    "    land:", "    namelists: {jsb_model_nml: {model_namelist_filename: NAMELIST_earth_jsbach}}\n    land:"
)


def test_one_file_may_hold_both(tmp_path):
    """As in the scripts of ICON 2024.10 for land alone."""
    assert ONE_FILE != ALONE
    nmlgen.build(written(ONE_FILE, tmp_path)).write(tmp_path / "built")
    assert [path.name for path in tmp_path.glob("built/NAMELIST*")] == ["NAMELIST_earth_jsbach"]
    text = (tmp_path / "built" / "NAMELIST_earth_jsbach").read_text()
    assert "&parallel_nml" in text
    assert "&jsb_seb_nml" in text.lower()


@pytest.mark.parametrize(
    ("text", "file", "alone"),
    [(ATMOSPHERE, "NAMELIST_earth_lnd", ".FALSE."), (ALONE, "NAMELIST_earth_jsbach_lnd", ".TRUE.")],
)
def test_its_file_is_written_and_named(tmp_path, text, file, alone):
    files = {name: data.decode() for name, data in nmlgen.build(written(text, tmp_path)).files.items()}
    assert "&jsb_model_nml\n usecase   = 'jsbach_lite'\n use_lakes = .TRUE.\n/" in files[file]
    assert "&jsb_seb_nml\n bc_filename = 'bc_land_phys.nc'\n/" in files[file]
    assert f" is_standalone  = {alone}\n restart_jsbach = .FALSE.\n" in files["icon_master.namelist"]
    assert f" model_namelist_filename = '{file}'\n" in files["icon_master.namelist"]
    assert f'cp -- "$here"/{file} .' in files["earth.sbatch"]
    assert "restart_jsbach" in files["earth.sbatch"]


def test_without_land_nothing_is_said_of_it(tmp_path):
    files = nmlgen.build(written(ATMOSPHERE.partition("\nland:")[0], tmp_path)).files
    assert not any(b"jsb" in data for data in files.values())


@pytest.mark.parametrize("number", range(4))
def test_comes_back(tmp_path, number):
    text = (ATMOSPHERE, ALONE, ONE_FILE, NESTED)[number]
    spec = load_spec(written(text, tmp_path))
    nmlgen.build(spec).write(tmp_path / "run")
    imported = nmlgen.import_spec(tmp_path / "run", site="levante")
    assert imported.remarks == ()
    back = tmp_path / "back.yaml"
    back.write_text(imported.text, encoding="utf-8")
    assert differences(spec.experiment, load_spec(back).experiment) == ()
    assert nmlgen.compare(tmp_path / "spec.yaml", tmp_path / "run").differences == ()


@pytest.mark.parametrize("text", [ATMOSPHERE, ALONE])
@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("use_lakes:", "use_laks:", "NML002"),
        ("use_lakes: true", "use_lakes: 3.5", "NML003"),
        ("JSB_Seb_nml", "jsb_sebb_nml", "NML001"),
        ("JSB_Seb_nml: {BC_filename: bc_land_phys.nc}", "run_nml: {dtime: 3.0}", "NML007"),
    ],
)
def test_its_groups_are_judged(tmp_path, text, old, new, code):
    assert old in text
    assert nmlgen.check(written(text, tmp_path)).findings == ()
    assert [found.code for found in nmlgen.check(written(text.replace(old, new), tmp_path)).findings] == [code]


def test_the_last_word_on_the_master_is_the_authors(tmp_path):
    text = ATMOSPHERE.replace("namelists: {", "namelists: {jsb_control_nml: {debug_level: 1}, ")
    text = text.replace("namelists: {", "namelists: {jsb_model_nml: {model_namelist_filename: NAMELIST_land}, ")
    files = nmlgen.build(written(text, tmp_path)).files
    assert b" debug_level" in files["icon_master.namelist"]
    assert "NAMELIST_land" in files


def test_layers_of_land(tmp_path):
    spec = load_spec(written(ATMOSPHERE, tmp_path), ["land.jsb_model_nml.use_lakes=false", "land.jsb_seb_nml=null"])
    (land,) = spec.experiment.models[0].land
    assert land.settings["use_lakes"].value is False


NESTED = (
    ATMOSPHERE.partition("\nland:")[0]
    + """
domains:
  inner: {file: grids/inner.nc, land: {jsb_model_nml: {usecase: jsbach_lite}}}
  outer: {file: grids/outer.nc}
"""
    + LAND
)


def test_each_nest_has_land_of_its_own(tmp_path):
    spec = load_spec(written(NESTED, tmp_path))
    files = {name: data.decode() for name, data in nmlgen.build(spec).files.items()}
    assert "usecase   = 'jsbach_lite'\n use_lakes" in files["NAMELIST_earth_lnd_d1"]
    assert "usecase = 'jsbach_lite'\n/" in files["NAMELIST_earth_lnd_d2"]
    assert "NAMELIST_earth_lnd_d3" not in files
    master = files["icon_master.namelist"]
    assert master.count("&jsb_model_nml") == 2
    assert master.index("'jsb_d1'") < master.index("'NAMELIST_earth_lnd_d1'") < master.index("'JSBACH DOM02'")
    assert 'cp -- "$here"/NAMELIST_earth_lnd_d2 .' in files["earth.sbatch"]


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("outer.nc}", "outer.nc, land: {jsb_hydro_nml: {active: true}}}", None),
        (", land: {jsb_model_nml: {usecase: jsbach_lite}}", "", "outer"),
        (LAND, "", "inner"),
    ],
)
def test_domains_before_one_with_land_have_land(old, new, place, tmp_path):
    text = NESTED.replace(old, new)
    if place == "outer":
        text = text.replace("outer.nc}", "outer.nc, land: {jsb_hydro_nml: {active: true}}}")
    if place is None:
        assert load_spec(written(text, tmp_path)).experiment.models[0].nest_land[1]
        return
    with pytest.raises(nmlgen.SpecError, match="a domain before this one has no land") as caught:
        load_spec(written(text, tmp_path))
    line = text.splitlines()[caught.value.findings[0].span.line - 1]
    assert line.strip().startswith(place)


def test_land_of_a_nest_is_judged(tmp_path):
    text = NESTED.replace("{usecase: jsbach_lite}}}", "{use_case: jsbach_lite}}}")
    assert "NML002" in [found.code for found in nmlgen.check(written(text, tmp_path)).findings]


SCRIPT = """\
#!/bin/bash
EXPNAME=amip
atmo_namelist=NAMELIST_atm
jsbach_namelist=NAMELIST_lnd
cat > $atmo_namelist <<EOF
&run_nml
 iforcing = 2
/
EOF
cat > $jsbach_namelist <<EOF
&jsb_model_nml
 usecase = 'jsbach_lite'
/
EOF
"""


@pytest.mark.parametrize(
    "master",
    [
        "",
        "for j in 1 2; do\ncat >> icon_master.namelist <<EOF\n&jsb_model_nml\n model_id = $j\n"
        ' model_namelist_filename = "$jsbach_namelist$(ls)"\n/\nEOF\ndone\n'
        "cat >> icon_master.namelist <<EOF\n&master_model_nml\n model_type = 1\n"
        ' model_namelist_filename = "$atmo_namelist"\n/\nEOF\n',
    ],
)
def test_import_of_a_script(tmp_path, master):
    path = tmp_path / "exp.amip"
    path.write_text(SCRIPT + master, encoding="utf-8")
    text = nmlgen.import_spec(path).text
    assert "jsb_model_nml: {usecase: jsbach_lite}" in text.partition("\nland:")[2]
