"""Importing: what comes back from a spec and from its build is the same experiment."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from foreign_scripts import ALL, SETTINGS
from hypothesis import HealthCheck, given, settings
from rows import rows
from spec_strategies import specs
from specs import load, unchecked_build

from nmlgen import SpecError, compare, importing, load_spec
from nmlgen.experiment.difference import MASTER, NAMELIST, differences
from nmlgen.importing import import_spec
from nmlgen.source import Source
from nmlgen.spec.document import read_text
from nmlgen.spec.raising import raised
from nmlgen.spec.site import read_site_of
from nmlgen.spec.write import gaps, spec_text

EXAMPLES = settings(max_examples=settings.default.max_examples // 4, suppress_health_check=list(HealthCheck))


def again(text: str):
    """The experiment of a spec's text."""
    return load_spec(read_text(Source("spec", text)).plain()).experiment


@EXAMPLES
@given(specs())
def test_the_experiment_of_a_spec_comes_back(document):
    experiment = load_spec(document).experiment
    keys = raised(experiment, read_site_of(document["site"], Path()))
    text = spec_text(keys)
    assert list(gaps(keys)) == []
    assert differences(experiment, again(text)) == (), text


@settings(EXAMPLES, max_examples=settings.default.max_examples // 8)
@given(specs())
def test_a_build_comes_back(document):
    spec = load_spec(document)
    with tempfile.TemporaryDirectory() as directory:
        unchecked_build(spec).write(directory)
        script = Path(directory) / f"{spec.experiment.name}.sbatch"
        imported = import_spec(directory)
        assert compare(spec, directory).differences == compare(spec, script).differences == ()
    assert imported.remarks == ()
    assert differences(spec.experiment, again(imported.text)) == (), imported.text


@rows(
    "sections",
    [
        {"job": {"cpus_per_task": 4}},
        {"job": {"cpus_per_task": 4}, "environment": {"OMP_STACKSIZE": None}},
        {"job": {"cpus_per_task": 4}, "environment": {"OMP_STACKSIZE": "1G", "OMP_NUM_THREADS": "2"}},
        {"job": {"cpus_per_task": 4}, "environment": {"OMP_PLACES": None}},
        {"job": {"cpus_per_task": 4}, "environment": {"OMP_PROC_BIND": "close", "OMP_PLACES": "threads"}},
        {"job": {"cpus_per_task": 4}, "environment": {"KMP_AFFINITY": "compact"}},
        {"job": {"cpus_per_task": 1}},
        {"lustre": {"input": {"stripe_count": 2, "migrate": True}, "restart": {"stripe_count": 2}}},
        {"lustre": {"input": {"stripe_count": 2}, "restart": {"stripe_count": 2, "migrate": True}}},
        {"lustre": {"input": {"stripe_count": 2, "migrate": True}, "restart": {}}},
    ],
)
def test_threads_and_layouts_of_a_build_come_back(sections, tmp_path):
    spec = load(**sections)
    unchecked_build(spec).write(tmp_path)
    imported = import_spec(tmp_path)
    assert imported.remarks == ()
    assert differences(spec.experiment, again(imported.text)) == (), imported.text
    assert "environment" in sections or "OMP_" not in imported.text


@pytest.mark.parametrize(
    "sections",
    [
        {"land": {"jsb_control_nml": {"is_standalone": False}}, "namelists": {"jsb_model_nml": {"model_id": 1}}},
        {"input_files": {"ozone.nc": {"source": "data/ozone.nc", "method": "copy"}}},
    ],
)
def test_what_lies_beside_the_script_of_a_build_is_no_input_file(sections, tmp_path):
    spec = load(**sections)
    unchecked_build(spec).write(tmp_path)
    assert compare(spec, tmp_path).differences == ()
    assert import_spec(tmp_path).remarks == ()


def test_input_files_in_directories_come_back(tmp_path):
    spec = load(
        input_files={"bc/land/ozone.nc": {"source": "data/ozone.nc"}, "bc/b": {"source": "/b", "method": "copy"}}
    )
    unchecked_build(spec).write(tmp_path)
    assert "mkdir -p -- bc bc/land\n" in (tmp_path / "wave.sbatch").read_text()
    imported = import_spec(tmp_path)
    assert imported.remarks == ()
    assert differences(spec.experiment, again(imported.text)) == (), imported.text


@rows("files", [{"ozone.nc": {"source": "/pool/o.nc"}}, {"rad_*.nc": {"directory": "rad.nc", "method": "copy"}}])
def test_input_files_come_back_where_the_grid_is_opened_where_it_lies(files, tmp_path):
    whole = "/pool/g.nc"
    spec = load(
        grid={"file": whole, "num_lev": 29},
        input_files=files,
        namelists={"grid_nml": {"dynamics_grid_filename": whole}},
    )
    unchecked_build(spec).write(tmp_path)
    imported = import_spec(tmp_path)
    assert imported.remarks == ()
    assert differences(spec.experiment, again(imported.text)) == (), imported.text


def test_input_files_by_a_pattern_come_back(tmp_path):
    spec = load(
        input_files={
            "lbc/i*_lbc.nc": {"directory": "data", "subdirectories": True, "method": "copy"},
            "*.grb": {"directory": "/pool/it's"},
        }
    )
    unchecked_build(spec).write(tmp_path)
    assert "mkdir -p -- lbc\n" in (tmp_path / "wave.sbatch").read_text()
    imported = import_spec(tmp_path)
    assert imported.remarks == ()
    assert differences(spec.experiment, again(imported.text)) == (), imported.text
    other = load(input_files={"lbc/i*_lbc.nc": {"directory": "data", "method": "copy"}})
    assert sorted(found.name for found in compare(other, tmp_path).differences) == ["*.grb", "lbc/i*_lbc.nc"]


_DIRECTORY = """#!/bin/bash
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=8
#SBATCH --account=bb1234
grids=(g1.nc g2.nc)
pool=/pool/grids
mkdir -p /scratch/run
cd /scratch/run
{}
cat >icon_master.namelist <<E
&master_nml
/
&master_model_nml
 model_type = 1
 model_name = "atm"
 model_namelist_filename = "NAMELIST"
/
&master_time_control_nml
 calendar = "proleptic gregorian"
 experimentStartDate = "2000-01-01T00:00:00Z"
 experimentStopDate = "2000-01-02T00:00:00Z"
/
E
cat >NAMELIST <<E
&run_nml
 modelTimeStep = "PT10M"
/
&grid_nml
 dynamics_grid_filename = "{}${{grids[0]}}"
/
E
srun /model/bin/icon
"""


@pytest.mark.parametrize(
    ("commands", "below", "brought"),
    [
        (
            "ln -s $pool/* .; ln -s /pool/ozone/* .",
            "",
            ['"*": {directory: /pool/grids}', '"**": {directory: /pool/ozone}'],
        ),
        (
            "for file in $pool/*; do [ -L $file ] && ln -s $(readlink -f $file) /scratch/run/$(basename $file); done\n"
            "for file in /pool/ozone/*; do ln -s $file ${file##*/}; done",
            "",
            ['"*": {directory: /pool/grids}', '"**": {directory: /pool/ozone}'],
        ),
        ("ln -s $pool data", "data/", ["data: {source: /pool/grids}"]),
        ('for grid in "${grids[@]}"; do ln -s $pool/$grid .; done', "", ["g2.nc: {source: /pool/grids/g2.nc}"]),
    ],
)
def test_whole_directories_and_arrays_of_grids(commands, below, brought, tmp_path):
    script = tmp_path / "run.sh"
    script.write_text(_DIRECTORY.format(commands, below))
    imported = import_spec(script, site="levante")
    assert (imported.remarks, imported.notes) == ((), ())
    assert "file: /pool/grids/g1.nc" in imported.text
    assert [line for line in brought if line not in imported.text] == []
    spec = load_spec(read_text(Source("spec", imported.text)).plain())
    unchecked_build(spec).write(tmp_path / "built")
    found = compare(script, tmp_path / "built").differences
    assert [one for one in found if one.section == "input files"] == []


def test_a_grid_that_the_namelist_calls_otherwise_is_brought_once(tmp_path):
    spec = load(
        namelists={"grid_nml": {"dynamics_grid_filename": "R2B5_DOM01.nc"}},
        input_files={"R2B5_DOM01.nc": {"source": "grids/iconR02B05-grid.nc"}},
        job={"threads_per_core": 2},
    )
    assert [file.target for file in spec.experiment.inputs if "R2B5" in file.target or "R02B05" in file.target] == [
        "R2B5_DOM01.nc"
    ]
    unchecked_build(spec).write(tmp_path)
    imported = import_spec(tmp_path)
    assert imported.remarks == ()
    assert differences(spec.experiment, again(imported.text)) == (), imported.text


@EXAMPLES
@given(specs())
def test_the_namelists_of_a_build_come_back(document):
    spec = load_spec(document)
    with tempfile.TemporaryDirectory() as directory:
        unchecked_build(spec).write(directory)
        imported = import_spec(Path(directory) / "icon_master.namelist", site=document["site"])
    assert imported.remarks == ()
    assert differences(spec.experiment, again(imported.text), (MASTER, NAMELIST)) == (), imported.text


@pytest.mark.parametrize("kind", ["complete", "loop", "sourced"])
def test_a_script_of_which_all_is_known_comes_back(kind, tmp_path):
    (tmp_path / "settings").write_text(SETTINGS)
    script = tmp_path / "exp.waves.run"
    script.write_text(ALL[kind])
    imported = import_spec(script)
    assert imported.remarks == ()
    (tmp_path / "spec.yaml").write_text(imported.text)
    unchecked_build(load_spec(tmp_path / "spec.yaml")).write(tmp_path / "build")
    for other in ("spec.yaml", "build"):
        assert compare(script, tmp_path / other).differences == ()


@pytest.mark.parametrize(
    ("kind", "remarks"),
    [
        ("echoes", ["a spec has no place for the layout of out"]),
        ("unknown", ["job.time: to be filled in", "parallel.num_io_procs: only the running shell knows: $(how_many"]),
        (
            "several",
            [
                "models.atm.tasks: nothing says which ranks it gets",
                "models.oce.tasks: nothing says",
                "models.oce.grid.file: nothing says which file",
                "models.oce.time.modelTimeStep: nothing says it",
            ],
        ),
        ("fragment", ["time.start: nothing says it", "time.stop: nothing says it", "num_io_procs: only the running"]),
    ],
)
def test_what_a_spec_does_not_say_of_a_script_is_said(kind, remarks, tmp_path):
    script = tmp_path / "exp.waves.run"
    script.write_text(ALL[kind])
    imported = import_spec(script)
    assert len(imported.remarks) == len(remarks)
    for remark, words in zip(imported.remarks, remarks, strict=True):
        assert words in remark


def test_choices_between_ways_are_notes(tmp_path):
    script = tmp_path / "exp.waves.run"
    script.write_text(ALL["two_ways"])
    imported = import_spec(script)
    assert imported.remarks == ()
    assert any("only a run knows whether this is written; here it is" in note for note in imported.notes)


def test_tasks_that_only_the_launcher_is_told(tmp_path):
    script = tmp_path / "exp.waves.run"
    script.write_text(ALL["complete"].replace("-n 64", "-n 48"))
    imported = import_spec(script)
    assert "ntasks: 48  # assumed: the launcher is told so at " in imported.text
    assert imported.remarks == ()
    assert again(imported.text).tasks.value == 48


@pytest.mark.parametrize(
    ("launch", "executable"),
    [
        ("wrapper.sh /sw/icon", "/sw/icon"),
        ("wrapper.sh -n 64 -o 0 -e $model", "/sw/icon"),
        ("wrapper.sh -- /sw/icon", "/sw/icon"),
        ("/sw/icon --verbose", "/sw/icon"),
        ("wrapper.sh run", "wrapper.sh"),
    ],
)
def test_what_stands_around_the_model_is_said(launch, executable, tmp_path):
    text = ALL["complete"].replace("\nLD_PRELOAD=", "\nmodel=/sw/icon\nLD_PRELOAD=")
    script = tmp_path / "exp.waves.run"
    script.write_text(text.replace("/work/bb1234/icon/bin/icon\n", f"{launch}\n"))
    imported = import_spec(script)
    words = launch.replace("$model", "/sw/icon")
    (remark,) = imported.remarks
    said = f": the model is started by `{words}`: the spec starts {executable} and nothing around it"
    assert remark.startswith(f"{script}:")
    assert remark.endswith(said)
    assert again(imported.text).executable.value == executable


def test_gpus_of_the_whole_job_are_kept(tmp_path):
    script = tmp_path / "job.sh"
    script.write_text(
        "#!/bin/bash\n#SBATCH --nodes=1\n#SBATCH --gpus=2\n"
        "cat >icon_master.namelist <<EOF\n"
        "&master_model_nml\n model_namelist_filename = 'NAMELIST'\n model_type = 1\n/\nEOF\n"
        "cat >NAMELIST <<EOF\n&grid_nml\n dynamics_grid_filename = 'g.nc'\n/\nEOF\nsrun -n 4 ./icon\n"
    )
    spec = import_spec(script, site="levante", icon_release="2024.10")
    assert "\n  gpus: 2\n" in spec.text
    assert not [remark for remark in spec.remarks if "gpus" in remark]


def test_what_a_gap_needs_is_said(tmp_path):
    text = _DIRECTORY.format("x=$dt_data; export DATA=$x/$HOME; ln -s $pool/g1.nc .", "")
    (tmp_path / "run.sh").write_text(text.replace("#!/bin/bash", "#!/bin/bash\n. /nobody/knows"))
    (remark,) = import_spec(tmp_path / "run.sh").remarks
    assert remark.endswith("run.sh:10:20; say with --set what dt_data and HOME are")


def test_a_grid_that_the_namelist_names_by_its_path_lies_there(tmp_path):
    (tmp_path / "run.sh").write_text(_DIRECTORY.format("", "$pool//"))
    imported = import_spec(tmp_path / "run.sh", site="levante")
    assert imported.remarks == ()
    assert "\ngrid: {file: /pool/grids//g1.nc}\n" in imported.text
    assert again(imported.text).inputs == ()


_HEADER = """\
#!/bin/bash
#SBATCH --account=x
#SBATCH --nodes=2
basedir=$(pwd)/..
export OMPI_MCA_pml=ucx
procs=$((${SLURM_JOB_CPUS_PER_NODE%%\\(*} / 2))
START="srun -l --nodes=${SLURM_JOB_NUM_NODES:-1} --ntasks=$((2 * procs))"
MODEL=${basedir}/bin/icon
"""
_FRAGMENT = """\
start_date=2001-01-01T00:00:00Z
end_date=2001-01-02T00:00:00Z
restart_interval=P1D
checkpoint_interval=P1D
(( dt_data = 6 * hour ))
(( steps = day / dt_data ))
ocean_namelist=NAMELIST_${EXPNAME}
cat > ${ocean_namelist} << EOF
&grid_nml
 dynamics_grid_filename = "g.nc"
/
&run_nml
 modelTimeStep = 'PT1H'
/
&output_nml
 output_filename = "${EXPNAME}_${R}"
 output_interval = "PT6H"
 steps_per_file = ${steps}
 ml_varlist = 'to'
/
EOF
. ${thisdir}/exec.iconrun
"""


def test_a_fragment_with_a_header_of_its_own_has_its_launch(tmp_path):
    script = tmp_path / "exp.oce.run"
    script.write_text(_HEADER + _FRAGMENT)
    remarks = import_spec(script, site="levante").remarks
    assert [remark.partition(":")[0] for remark in remarks] == [
        "output.stream_1.output_filename",
        "output.stream_1.steps_per_file",
        "job.ntasks",
    ]
    wanted = ["R is", "day and hour are", "SLURM_JOB_CPUS_PER_NODE is"]
    assert all(map(str.endswith, remarks, wanted))
    given = {"PWD": "/work/run", "SLURM_JOB_CPUS_PER_NODE": "8", "day": "86400", "hour": "3600", "R": "1"}
    imported = import_spec(script, site="levante", variables=given)
    assert imported.remarks == ()
    experiment = again(imported.text)
    assert [option.value for option in experiment.launch.options] == ["-l", "--nodes=2"]
    assert (experiment.tasks.value, experiment.executable.value) == (8, "/work/run/../bin/icon")
    assert "OMPI_MCA_io" not in experiment.mpi.lustre_variables


def test_nests_with_a_grid_of_another_name_stay_in_the_namelists(tmp_path):
    text = _DIRECTORY.format("ln -s $pool/g1.nc DOM01.nc; ln -s $pool/g2.nc .", "")
    text = text.replace('"${grids[0]}"', "'DOM01.nc', 'g2.nc'\n dynamics_parent_grid_id = 0, 1")
    (tmp_path / "run.sh").write_text(text)
    imported = import_spec(tmp_path / "run.sh", site="levante")
    assert imported.remarks == ()
    assert "domains:" not in imported.text
    assert "g2.nc: {source: /pool/grids/g2.nc}" in imported.text


def test_several_models_that_only_a_run_knows_are_one_remark(tmp_path):
    script = tmp_path / "exp.waves.run"
    script.write_text(ALL["several"].replace("model_name = 'oce'", "model_name = '$(which)'"))
    (remark,) = import_spec(script).remarks
    assert remark.startswith(f"{script}:")
    assert "which models run is not known: say with --set" in remark
    assert import_spec(script, model="atm").remarks == ()


def test_a_variable_of_the_surroundings_has_its_default(tmp_path):
    """Also one that is exported, and that stands in the master namelist in a sum first."""
    (tmp_path / "exp.run").write_text(
        """\
#!/bin/bash
streams=(a b c)
export IO_TASKS=${IO_TASKS:-${#streams[@]}}
((last = 8 + IO_TASKS - 1))
cat >icon_master.namelist <<EOF
&master_model_nml
 model_name = 'atm'
 model_namelist_filename = 'NAMELIST_atm'
 model_type = 1
 model_min_rank = 0
 model_max_rank = ${last}
/
EOF
cat >NAMELIST_atm <<EOF
&parallel_nml
 num_io_procs = ${IO_TASKS}
/
&nonhydrostatic_nml
/
EOF
srun -n $((8 + IO_TASKS)) ./icon
"""
    )
    for variables, count in (({}, 3), ({"IO_TASKS": "5"}, 5)):
        found = import_spec(tmp_path / "exp.run", variables=variables)
        assert not [remark for remark in found.remarks if "IO_TASKS" in remark or "last" in remark]
        assert f"num_io_procs: {count}" in found.text
        assert f"model_max_rank: {7 + count}" in found.text


@pytest.mark.parametrize(("group", "number"), [("ocean_dynamics_nml", 2), ("wave_nml", 98)])
def test_a_namelist_by_itself_says_by_its_groups_what_it_is(group, number, tmp_path):
    (tmp_path / "NAMELIST_x").write_text(f"&grid_nml\n/\n&run_nml\n output = 'nml'\n/\n&{group}\n/\n")
    imported = import_spec(tmp_path / "NAMELIST_x")
    assert read_text(Source("spec", imported.text)).plain()["namelists"]["master_model_nml"] == {"model_type": number}


def test_a_file_of_land_alone_is_a_part_of_some_model(tmp_path):
    (tmp_path / "NAMELIST_x").write_text("&jsb_model_nml\n usecase = 'jsbach_lite'\n/\n")
    imported = import_spec(tmp_path / "NAMELIST_x")
    assert "master_model_nml" not in read_text(Source("spec", imported.text)).plain().get("namelists", {})


def test_what_no_spec_can_hold_is_not_read_again(tmp_path, monkeypatch):
    path = tmp_path / "NAMELIST_a"
    path.write_text("&a_nml\n x = 60000*1\n/\n")
    monkeypatch.setattr(importing, "read_text", lambda source: pytest.fail("read again"))
    with pytest.raises(SpecError, match="more than 50000 values and keys"):
        import_spec(path)


def test_streams_whose_files_have_one_name_are_all_there(tmp_path):
    path = tmp_path / "NAMELIST_x"
    files = ["a/y", "y_3", "b/y", "c/y"]
    path.write_text("".join(f"&output_nml\n output_filename = '{file}'\n/\n" for file in files))
    output = read_text(Source("spec", import_spec(path).text)).plain()["output"]
    assert [stream["output_filename"] for stream in output.values()] == files
