"""Fragments of ICON's run scripts: what stands before them and behind them in a run script belongs to them."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmlgen.api import build
from nmlgen.cli.application import run
from nmlgen.comparing import compare
from nmlgen.errors import InputError
from nmlgen.experiment.difference import Verdict, differences
from nmlgen.importing import import_spec
from nmlgen.lift.loading import load
from nmlgen.spec.spec import load_spec

_ATMOSPHERE = """\
atmo_dyn_grids="'iconR2B04_DOM01.nc'"
grids_folder=${icon_data_rootFolder}/grids
start_date=${start_date:="2001-01-01T00:00:00Z"}
end_date=${end_date:="2001-01-05T00:00:00Z"}
checkpoint_interval="P1D"
restart_interval="P2D"
atmo_namelist=NAMELIST_${EXPNAME}
cat > ${atmo_namelist} << EOF
&parallel_nml
 nproma = ${nproma}
/
&grid_nml
 dynamics_grid_filename = ${atmo_dyn_grids}
/
&run_nml
 num_lev = 31
 modelTimeStep = "PT5M"
/
EOF
add_link_file ${basedir}/data/rrtmg_lw.nc ./
add_required_file ${basedir}/run/${atmo_namelist} ./
"""

_COUPLED = """\
start_date="2001-01-01T00:00:00Z"
end_date="2001-01-05T00:00:00Z"
oce_nodes=1
((oce_tasks = oce_nodes * mpi_procs_pernode))
((oce_min_rank = mpi_total_procs - oce_tasks))
atm_namelist=NAMELIST_${EXPNAME}_atm
oce_namelist=NAMELIST_${EXPNAME}_oce
namelist_list[0]="$atm_namelist"
modelname_list[0]="atmo"
modeltype_list[0]=1
minrank_list[0]=0
maxrank_list[0]=`expr ${oce_min_rank} - 1`
incrank_list[0]=1
namelist_list[1]="$oce_namelist"
modelname_list[1]="ocean"
modeltype_list[1]=2
minrank_list[1]=$oce_min_rank
maxrank_list[1]=`expr ${oce_min_rank} + ${oce_tasks} - 1`
incrank_list[1]=1
cat > ${atm_namelist} << EOF
&grid_nml
 dynamics_grid_filename = "atmo.nc"
/
&run_nml
 modelTimeStep = "PT5M"
/
EOF
cat > ${oce_namelist} << EOF
&grid_nml
 dynamics_grid_filename = "ocean.nc"
/
&run_nml
 modelTimeStep = "PT30M"
/
&ocean_dynamics_nml
 n_zlev = 40
/
EOF
"""


def _written(tmp_path: Path, text: str, name: str = "exp.mine") -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


def _master(path: Path, **variables: str) -> dict[str, dict[str, object]]:
    experiment = load(path, variables=variables).experiment
    return {group.name: {name: s.value for name, s in group.settings.items()} for group in experiment.master}


def _differences(path: Path, spec: Path) -> list[str]:
    """What the namelists of a fragment and of its spec do not say alike."""
    found = [change for change in compare(path, spec).differences if change.verdict is not Verdict.EXPLICIT]
    return [f"{change.section} {change.name}" for change in found if "_nml" in change.section]


def test_the_master_namelist_is_made_of_the_variables(tmp_path: Path) -> None:
    master = _master(_written(tmp_path, _ATMOSPHERE))
    assert master["master_nml"] == {"lrestart": False, "read_restart_namelists": True}
    assert master["master_time_control_nml"] == {
        "calendar": "proleptic gregorian",
        "experimentstartdate": "2001-01-01T00:00:00Z",
        "experimentstopdate": "2001-01-05T00:00:00Z",
        "restarttimeintval": "P2D",
        "checkpointtimeintval": "P1D",
    }
    assert master["master_model_nml"] == {
        "model_name": "atm",
        "model_namelist_filename": "NAMELIST_mine",
        "model_type": 1,
        "model_min_rank": 0,
        "model_max_rank": 65535,
        "model_inc_rank": 1,
        "model_rank_group_size": 1,
    }


@pytest.mark.parametrize(
    "behind", ["exit 0\n", "[[ x$BB != xhere ]] && exit 0\ncat > NAMELIST_x << EOF\n&io_nml\n/\nEOF\n"]
)
def test_one_may_call_its_ending_itself(tmp_path: Path, behind: str) -> None:
    """And compare results behind it, as the tests of ICON's ocean do."""
    plain = load(_written(tmp_path, _ATMOSPHERE), variables={"basedir": "/icon"}).experiment
    text = f"#!/bin/bash\n{_ATMOSPHERE}. ${{thisdir}}/exec.iconrun\n{behind}"
    called = load(_written(tmp_path, text), variables={"basedir": "/icon"}).experiment
    assert [one for one in differences(plain, called) if one.verdict is not Verdict.UNDECIDED] == []
    assert [group.name for group in called.components[0].namelist] == ["parallel_nml", "grid_nml", "run_nml"]


@pytest.mark.parametrize(
    ("variable", "name", "number"),
    [("ocean_namelist", "oce", 2), ("jsbach_namelist", "jsbach", 5), ("testbed_namelist", "testbed", 99)],
)
def test_the_variable_that_names_the_namelist_says_which_model_it_is(
    tmp_path: Path, variable: str, name: str, number: int
) -> None:
    master = _master(_written(tmp_path, _ATMOSPHERE.replace("atmo_namelist", variable)))
    assert (master["master_model_nml"]["model_name"], master["master_model_nml"]["model_type"]) == (name, number)


def test_a_date_that_is_left_to_what_comes_before_is_given_from_outside(tmp_path: Path) -> None:
    path = _written(tmp_path, _ATMOSPHERE)
    time = _master(path, end_date="2001-02-01T00:00:00Z")["master_time_control_nml"]
    assert time["experimentstopdate"] == "2001-02-01T00:00:00Z"
    without = _written(tmp_path, _ATMOSPHERE.replace("end_date", "other"), "exp.other")
    assert "experimentstopdate" not in _master(without)["master_time_control_nml"]
    assert any(remark.startswith("time.stop: ") for remark in import_spec(without, site="levante").remarks)


def test_steps_in_the_place_of_a_stop_date(tmp_path: Path) -> None:
    steps = _ATMOSPHERE.replace("restart_interval", "nsteps=50; dt_restart=60\nunused")
    path = _written(tmp_path, steps.replace("num_lev = 31", "nsteps = ${nsteps}"))
    master = _master(path)
    assert "master_time_control_nml" not in master
    assert master["time_nml"] == {"calendar": 1, "ini_datetime_string": "2001-01-01T00:00:00Z", "dt_restart": 60.0}
    spec = tmp_path / "spec.yaml"
    imported = import_spec(path, site="levante", variables={"basedir": "/icon"})
    spec.write_text(imported.text)
    assert imported.remarks == ()
    assert _differences(path, spec) == []


def test_one_that_brings_its_own_master_keeps_it(tmp_path: Path) -> None:
    own = _ATMOSPHERE + (
        "cat > icon_master.namelist << EOF\n&master_nml\n/\n&master_model_nml\n model_type = 1\n"
        ' model_name = "ATMO"\n model_namelist_filename = "${atmo_namelist}"\n/\n'
        '&time_nml\n ini_datetime_string = "${start_date}"\n end_datetime_string = "${end_date}"\n/\nEOF\n'
    )
    path = _written(tmp_path, own)
    assert _master(path)["master_model_nml"]["model_name"] == "ATMO"
    imported = import_spec(path, site="levante", variables={"basedir": "/icon"})
    assert "time.start" not in "".join(imported.remarks)


def test_the_grids_are_linked(tmp_path: Path) -> None:
    experiment = load(_written(tmp_path, _ATMOSPHERE), header={"icon_data_rootFolder": "/pool"}).experiment
    assert [(file.target, file.source.value) for file in experiment.inputs if file.target.startswith("icon")] == [
        ("iconR2B04_DOM01.nc", "/pool/grids/iconR2B04_DOM01.nc")
    ]


def test_a_fragment_becomes_a_spec_of_which_nothing_is_left_to_do(tmp_path: Path) -> None:
    path = _written(tmp_path, _ATMOSPHERE)
    imported = import_spec(path, site="levante", variables={"basedir": "/icon"})
    assert imported.remarks == ()
    spec = tmp_path / "spec.yaml"
    spec.write_text(imported.text)
    assert _differences(path, spec) == []
    assert "nproma: 32" in imported.text


def test_a_fragment_is_compared_with_a_build_by_the_header_of_its_site(tmp_path: Path) -> None:
    path, directory = _written(tmp_path, _ATMOSPHERE), tmp_path / "built"
    spec = tmp_path / "spec.yaml"
    spec.write_text(import_spec(path, site="levante", variables={"basedir": "/icon"}).text)
    build(spec, overrides=["job.account=bb1234"]).write(directory)
    assert "nproma" not in {difference.name for difference in compare(path, directory).differences}
    assert compare(path, directory).is_same


def test_the_models_of_a_coupled_fragment_get_their_ranks(tmp_path: Path) -> None:
    path = _written(tmp_path, _COUPLED)
    imported = import_spec(path, site="levante", variables={"basedir": "/icon", "no_of_nodes": "3"})
    spec = tmp_path / "spec.yaml"
    spec.write_text(imported.text)
    components = load_spec(spec).experiment.components
    ranks = [
        (c["master_model_nml", "model_min_rank"].value, c["master_model_nml", "model_max_rank"].value)
        for c in components
    ]
    assert [component.title for component in components] == ["atmo", "ocean"]
    assert ranks == [(0, 255), (256, 383)]


_OWN_MASTER = """\
if [ $mpi_total_procs -lt `expr $oce_tasks + 1` ] ; then
  echo "Too few mpi_total_procs"
  check_error 0
  exit
fi
cat > coupling_${EXPNAME}.yaml << EOF
timestep_unit: ISO_format
coupling:
  - {src_component: atmo, src_grid: a, tgt_component: ocean, tgt_grid: o, coupling_period: PT1H, field: [sst]}
EOF
add_required_file coupling_${EXPNAME}.yaml ./coupling.yaml
add_to_master()
{
  name="$1"
  cat >> icon_master.namelist << EOF
&master_model_nml
  model_name="$name"
  model_namelist_filename="$2"
  model_type=$3
  model_min_rank=$4
  model_max_rank=$5
  model_inc_rank=1
/
EOF
}
cat > icon_master.namelist << EOF
&master_time_control_nml
 experimentStartDate  = "$start_date"
 experimentStopDate   = "$end_date"
/
EOF
no_of_models=${#namelist_list[*]}
j=0
while [ $j -lt ${no_of_models} ]
do
  add_to_master "${modelname_list[$j]}" "${namelist_list[$j]}" ${modeltype_list[$j]} ${minrank_list[$j]} \\
    ${maxrank_list[$j]}
  j=`expr ${j} + 1`
done
$START_MODEL
exit $?
"""


@pytest.mark.parametrize("name", ["exp.mine", "nwpexp.run_ICON_17_mine", "clmexp.mine"])
def test_a_fragment_of_a_checksuite_may_make_its_own_master(name: str, tmp_path: Path) -> None:
    """With the lists of its models, ranks beyond the job's last one, and a coupling.yaml of its own."""
    text = _COUPLED.replace("${oce_tasks} - 1`", "${oce_tasks} + 3`") + _OWN_MASTER
    path = _written(tmp_path, f"#!/bin/bash\n{text}", name)
    imported = import_spec(path, site="levante", variables={"basedir": "/icon", "no_of_nodes": "3"})
    spec = tmp_path / "spec.yaml"
    spec.write_text(imported.text)
    assert [remark for remark in imported.remarks if "grid" not in remark] == []
    found = compare(path, spec, variables={"basedir": "/icon", "no_of_nodes": "3"}).differences
    assert [change for change in found if "_nml" in change.section and change.verdict is Verdict.DIFFERENT] == []
    experiment = load_spec(spec).experiment
    assert [component.title for component in experiment.components] == ["atmo", "ocean"]
    assert [component.tasks.value for component in experiment.components] == [256, 128]
    assert experiment.coupling is not None
    assert experiment.coupling.content["coupling"][0]["field"] == ["sst"]


def test_what_stands_in_remarks_alone_makes_no_fragment(tmp_path: Path) -> None:
    """Else somebody might have put more into the lists of the models before it begins; `#PBS -v` sets variables."""
    head = "#!/bin/bash\n#PBS -v NE=3,CPE=8   # nodes, cores\n"
    body = (
        "# n_procs=`expr ${mpi_procs_pernode_} \\* ${no_of_nodes}`; ${basedir}\nEXPNAME=pair\nmpi_procs_pernode=$CPE\n"
    )
    path = _written(tmp_path, f"{head}{body}mpi_total_procs=$((NE * CPE))\n{_COUPLED}{_OWN_MASTER}", "run_pair")
    components = load(path).experiment.components
    assert [component["master_model_nml", "model_max_rank"].value for component in components] == [15, 23]


def test_where_a_script_gives_up_is_said(tmp_path: Path) -> None:
    text = f"if [ $mpi_total_procs -lt 200 ]; then\n  echo too few\n  exit\nfi\n{_ATMOSPHERE}"
    path = _written(tmp_path, text + "if [ $mpi_total_procs -lt 300 ]; then\n  exit\nfi\n")
    variables = {"basedir": "/icon", "no_of_nodes": "2"}
    (remark,) = [one for one in import_spec(path, site="levante", variables=variables).remarks if "script ends" in one]
    assert f"exp.mine:{path.read_text().count(chr(10)) - 1}:3: here the script ends" in remark
    enough = import_spec(path, site="levante", variables={**variables, "no_of_nodes": "3"})
    assert enough.remarks == ()


def test_variables_of_the_shell_are_given_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, spec = _written(tmp_path, _ATMOSPHERE), tmp_path / "spec.yaml"
    arguments = ["import", str(path), "--site", "levante"]
    assert run(arguments) == 1  # nobody says where basedir is
    assert run([*arguments, "--set", "basedir=/icon", "-o", str(spec)]) == 0
    assert "/icon/data/rrtmg_lw.nc" in spec.read_text()
    assert run([*arguments, "--set", "basedir"]) == 2
    assert 'expected NAME=VALUE, not "basedir"' in capsys.readouterr().err


def test_elements_of_derived_types_are_no_gap(tmp_path: Path) -> None:
    more = _ATMOSPHERE.replace("&run_nml", "&aes_cop_nml\n aes_cop_config(1)%cn1lnd = 50.0\n/\n&run_nml")
    imported = import_spec(_written(tmp_path, more), site="levante", variables={"basedir": "/icon"})
    assert imported.remarks == ()
    assert "aes_cop_config(1)%cn1lnd" in imported.text


def test_a_link_to_a_file_that_was_brought_is_that_file(tmp_path: Path) -> None:
    text = f"{_ATMOSPHERE}add_link_file /pool/start.nc first.nc\nadd_link_file first.nc second.nc\n"
    inputs = load(_written(tmp_path, text), header={}).experiment.inputs
    assert [(file.target, file.source.value) for file in inputs if file.target.startswith(("first", "second"))] == [
        ("first.nc", "/pool/start.nc"),
        ("second.nc", "/pool/start.nc"),
    ]


def test_files_that_a_sourced_part_of_icon_brings(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "add_required_files").write_text("add_link_file ${basedir}/data/pmod.txt ./\n")
    path = _written(tmp_path / "run", f"{_ATMOSPHERE}. ${{thisdir}}/add_required_files\n")
    inputs = load(path, variables={"basedir": "/elsewhere/icon"}).experiment.inputs
    assert [file.source.value for file in inputs if file.target == "pmod.txt"] == ["/elsewhere/icon/data/pmod.txt"]


def test_the_nodes_that_the_header_asks_for(tmp_path: Path) -> None:
    path = _written(tmp_path, _ATMOSPHERE)
    imported = import_spec(path, site="levante", variables={"basedir": "/icon", "no_of_nodes": "3"})
    assert "nodes: 3" in imported.text
    given = load(path, variables={"no_of_nodes": "3", "mpi_procs_pernode": "many"}).experiment.directives
    assert [(name, setting.value) for name, setting in given.items() if name != "ntasks"] == [("nodes", 3)]


def test_a_script_that_checks_an_experiment_is_imported_as_that(tmp_path: Path) -> None:
    path = _written(tmp_path, _ATMOSPHERE)
    check = tmp_path / "exp.check.mine"
    check.write_text("#!/bin/ksh\nexport EXPERIMENT='mine'\nexport DATES=' '\ncd checksuite\n./checksuite\n")
    options = {"site": "levante", "variables": {"basedir": "/icon"}, "directory": tmp_path}
    imported, meant = import_spec(check, **options), import_spec(path, **options)
    assert imported.text == meant.text
    assert imported.remarks == meant.remarks
    assert any("checks the experiment mine" in note for note in imported.notes)
    path.unlink()
    with pytest.raises(InputError, match=r"it checks the experiment mine, whose script is exp\.mine"):
        import_spec(check, **options)


def test_what_stands_behind_the_two_words_of_a_link_is_not_looked_at(tmp_path: Path) -> None:
    text = f"{_ATMOSPHERE}add_link_file /pool/ozone_2016.nc ./ozone.nc !fixed 2016 !\n"
    imported = import_spec(_written(tmp_path, text), site="levante", variables={"basedir": "/icon"})
    (tmp_path / "spec.yaml").write_text(imported.text)
    brought = {file.target: file.source.value for file in load_spec(tmp_path / "spec.yaml").experiment.inputs}
    assert brought["ozone.nc"] == "/pool/ozone_2016.nc"
    assert not [target for target in brought if "!" in target or "fixed" in target]
    assert not [remark for remark in imported.remarks if "input_files" in remark]


def test_a_coupled_script_that_gives_up_says_that_alone(tmp_path: Path) -> None:
    path = _written(tmp_path, f"{_COUPLED}if [ $mpi_total_procs -lt 300 ]; then\n  exit\nfi\n")
    imported = import_spec(path, site="levante", variables={"basedir": "/icon", "no_of_nodes": "2"})
    (remark,) = imported.remarks
    assert f"exp.mine:{path.read_text().count(chr(10)) - 1}:3: here the script ends" in remark
    assert "gaps hang on that" in remark


def test_what_a_tool_prints_changes_no_model_and_what_may_is_named(tmp_path: Path) -> None:
    def remarks(line: str) -> tuple[str, ...]:
        script = _written(tmp_path, f"{_COUPLED}{line}\n", "exp.pair")
        return import_spec(script, site="levante", variables={"no_of_nodes": "2", "basedir": "/icon"}).remarks

    assert not any("which models run" in remark for remark in remarks('eval "$(spack load --sh yac)"'))
    (remark,) = remarks('eval "$(cat settings)"')
    line = _COUPLED.count("\n") + 1
    assert f"exp.pair:{line}:1: what this does is not known, so which models run is not known" in remark


def test_models_by_names_and_not_by_numbers(tmp_path: Path) -> None:
    script = tmp_path / "exp.test"
    script.write_text(f"typeset -A namelist_list\nnamelist_list[a]=NAMELIST_test\n{_ATMOSPHERE}")
    import_spec(script, site="levante")


def test_of_very_many_grids_the_first_are_taken(tmp_path: Path) -> None:
    script = tmp_path / "exp.test"
    grids = " ".join(f"g{number}.nc" for number in range(3000))
    script.write_text(f"run_jsbach=yes\n{_ATMOSPHERE}atmo_dyn_grids='{grids}'\n")
    loaded = load(script, header={})
    assert sum(file.target.startswith("g") for file in loaded.experiment.inputs) == 1000
