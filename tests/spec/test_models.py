"""Several components in one spec: who gets which keys, which ranks, which files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import nmlgen
from nmlgen import SpecError, load_spec
from nmlgen.experiment.difference import differences
from nmlgen.experiment.experiment import Experiment
from nmlgen.models.icon.ranks import numbers_in_job, split

TEXT = """\
name: coupled
site: levante
model: {release: "2024.10", directory: /work/bb1234/icon, executable: bin/icon}
time: {start: 2000-01-01T00:00:00Z, stop: 2000-01-02T00:00:00Z}
job: {account: bb1234, nodes: 2, ntasks_per_node: 128, time: "01:00:00"}
restart: {checkpointTimeIntval: PT12H, restartTimeIntval: PT12H, restart_write_mode: sync}
parallel: {nproma: 16}
namelists: {sea_ice_nml: {i_ice_therm: 1}, nonhydrostatic_nml: {itime_scheme: 4}}
models:
  atm:
    type: atmo
    grid: {file: grids/atmo.nc, name: R2B4, num_lev: 90}
    time: {modelTimeStep: PT10M}
    parallel: {num_io_procs: 1}
    output: {main: {output_interval: PT6H, file_interval: PT12H, ml_varlist: [u, v]}}
    namelists: {run_nml: {iforcing: 2, ntracer: 3}}
  oce:
    type: ocean
    tasks: 64
    grid: {file: grids/ocean.nc, name: R2B6}
    time: {modelTimeStep: PT30M}
    parallel: {num_io_procs: 2, num_prefetch_proc: 0}
    output:
      main:
        output_interval: PT6H
        file_interval: PT12H
        filename_format: "<output_filename>_<datetime2>"  # an ocean counts its files anew in each job
        ml_varlist: [to, so]
        stream_partitions_ml: 2
    namelists: {ocean_dynamics_nml: {n_zlev: 2, dzlev_m: [10.0, 10.0]}, ocean_forcing_nml: {iforc_oce: 10}}
    input_files: {initial_state.nc: {source: pool/initial.nc}}
"""


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "spec.yaml"
    path.write_text(TEXT, encoding="utf-8")
    return path


def experiment(spec: Path, *overrides: str) -> Experiment:
    return load_spec(spec, overrides).experiment


def entries(found: Experiment) -> list[dict[str, Any]]:
    return [{name: setting.value for name, setting in model.entry.settings.items()} for model in found.models]


def test_each_model_has_its_entry_and_its_file(spec: Path) -> None:
    atm, oce = entries(experiment(spec))
    assert atm == {
        "model_type": 1,
        "model_name": "atm",
        "model_namelist_filename": "NAMELIST_coupled_atm",
        "model_min_rank": 0,
        "model_max_rank": 191,
    }
    assert (oce["model_type"], oce["model_name"]) == (2, "oce")
    assert (oce["model_min_rank"], oce["model_max_rank"]) == (192, 255)


def test_what_stands_outside_holds_for_those_who_read_it(spec: Path) -> None:
    atm, oce = experiment(spec).components
    assert atm["parallel_nml", "nproma"].value == oce["parallel_nml", "nproma"].value == 16
    assert atm["io_nml", "restart_write_mode"].value == oce["io_nml", "restart_write_mode"].value == "sync"
    assert oce.group("sea_ice_nml") is not None
    assert oce.group("nonhydrostatic_nml") is None
    assert atm.group("nonhydrostatic_nml") is not None
    assert atm["master_time_control_nml", "checkpointTimeIntval"].value == "PT12H"


def test_each_splits_its_own_tasks(spec: Path) -> None:
    atm, oce = experiment(spec).components
    assert (atm.tasks.value, oce.tasks.value) == (192, 64)
    assert (split(atm).work, split(atm).io) == (191, 1)
    assert (split(oce).work, split(oce).io) == (62, 2)
    numbers = numbers_in_job(oce)
    assert numbers is not None
    assert (numbers[0], numbers[-1]) == (192, 255)


def test_files_and_names_do_not_meet(spec: Path) -> None:
    found = experiment(spec)
    names = [stream.settings["output_filename"].value for one in found.components for stream in one.streams]
    assert names == ["output/coupled_atm_main", "output/coupled_oce_main"]
    assert [file.target for file in found.inputs] == ["atmo.nc", "ocean.nc", "initial_state.nc"]
    assert [model.grid_name.value for model in found.models if model.grid_name] == ["R2B4", "R2B6"]


def test_a_name_of_ones_own(spec: Path) -> None:
    assert entries(experiment(spec, "models.oce.name=ocean"))[1]["model_name"] == "ocean"


def test_one_without_tasks_gets_the_rest_wherever_it_stands(spec: Path) -> None:
    atm, oce = entries(experiment(spec, "models.atm.tasks=200", "models.oce.tasks=null"))
    assert (atm["model_max_rank"], oce["model_min_rank"], oce["model_max_rank"]) == (199, 200, 255)


def test_ranks_of_ones_own(spec: Path) -> None:
    ranks = [
        f"models.{name}.namelists.master_model_nml.model_{end}_rank"
        for name in ("atm", "oce")
        for end in ("min", "max")
    ]
    given = [f"{key}={value}" for key, value in zip(ranks, (128, 255, 0, 127), strict=True)]
    found = experiment(spec, "models.oce.tasks=null", *given)
    assert [one.tasks.value for one in found.components] == [128, 128]


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("models.oce.tasks=null", "models.atm.tasks is not set"),
        ("models.oce.tasks=256", "the models take 256 tasks, the job has 256"),
        ("models.oce.type=null", "models.oce.type is not set"),
        ("models.oce.type=sea", 'models.oce.type is "sea"'),
        ("models.oce.grid=null", "models.oce.grid.file is not set"),
        ("models.oce.time=null", "neither models.oce.time.modelTimeStep nor models.oce.namelists.run_nml.dtime is set"),
        ("models.oce.restart.checkpointTimeIntval=P1D", 'there is no key "checkpointTimeIntval"'),
        (
            "models.oce.namelists.master_nml.lrestart=true",
            "models.oce sets master_nml, which all models share",
        ),
        ("output.main.output_interval=PT1H", "output stands beside models"),
        ("namelists.master_model_nml.model_type=1", "master_model_nml: model_type stands beside models"),
        (
            "models.oce.namelists.master_model_nml.model_namelist_filename=NAMELIST_coupled_atm",
            'model_namelist_filename is "NAMELIST_coupled_atm"',
        ),
        ("models.oce.input_files.NAMELIST_coupled_atm.source=a", "is not the name of an input file"),
        ("models.oce.input_files.NAMELIST_coupled_atm/a.source=a", "is a file or a link itself"),
    ],
)
def test_what_is_refused(spec: Path, override: str, message: str) -> None:
    with pytest.raises(SpecError) as error:
        load_spec(spec, [override])
    assert any(message in finding.message for finding in error.value.findings), error.value.findings


def test_with_more_tasks_than_the_job_has(spec: Path) -> None:
    with pytest.raises(SpecError, match="the models take 364 tasks, the job has 256"):
        load_spec(spec, ["models.atm.tasks=300"])


def test_a_single_model_has_all_tasks(spec: Path) -> None:
    load_spec(spec, ["models.oce=null", "coupling=null", "models.atm.tasks=256"])
    with pytest.raises(SpecError, match="the only model takes 192 tasks, the job has 256"):
        load_spec(spec, ["models.oce=null", "coupling=null", "models.atm.tasks=192"])


def test_names_of_settings(spec: Path) -> None:
    loaded = load_spec(spec)
    assert loaded.find("oce.parallel_nml.num_io_procs").value == 2
    assert loaded.find("models.oce.parallel.num_io_procs").value == 2
    assert loaded.find("models.oce.output.main.stream_partitions_ml").value == 2
    assert loaded.find("parallel_nml.num_io_procs").value == 1
    assert loaded.find("models.oce.tasks").value == 64
    assert [say.value for say in loaded.chain("oce.parallel_nml.num_prefetch_proc")] == [0, 1]


def test_overrides_speak_a_specs_own_words(spec: Path) -> None:
    changed = load_spec(spec).with_({"models.oce.parallel.num_io_procs": 4})
    assert changed.overrides == ("models.oce.parallel.num_io_procs=4",)
    assert changed.experiment.components[1]["parallel_nml", "num_io_procs"].value == 4


def test_there_and_back(spec: Path, tmp_path: Path) -> None:
    nmlgen.build(load_spec(spec)).write(tmp_path / "run")
    again = nmlgen.import_spec(tmp_path / "run")
    assert again.remarks == ()
    (tmp_path / "again.yaml").write_text(again.text, encoding="utf-8")
    assert differences(experiment(spec), experiment(tmp_path / "again.yaml")) == ()
    assert nmlgen.lint([tmp_path / "run"]).findings == nmlgen.check(load_spec(spec)).findings == ()


def test_what_the_chain_hands_on_comes_back(spec: Path, tmp_path: Path) -> None:
    said = ["restart.keep_last=2", "restart.keep_every=10", "start_from={directory: /work/a b, models: {oce: ocean}}"]
    loaded = load_spec(spec, said)
    nmlgen.build(loaded).write(tmp_path / "run")
    again = nmlgen.import_spec(tmp_path / "run")
    assert again.remarks == ()
    assert "start_from: {directory: /work/a b, models: {oce: ocean}}" in again.text
    assert nmlgen.compare(loaded, tmp_path / "run").differences == ()


def test_one_of_them_alone(spec: Path, tmp_path: Path) -> None:
    nmlgen.build(load_spec(spec)).write(tmp_path / "run")
    alone = nmlgen.import_spec(tmp_path / "run", model="oce")
    assert "models:" not in alone.text
    assert "model_type: 2" in alone.text


def test_a_single_one_in_the_section(spec: Path) -> None:
    (only,) = experiment(spec, "models.atm=null", "models.oce.tasks=null").components
    assert only.kind == "ocean"
    assert only.tasks.value == 256


def test_what_nobody_wrote_is_said_of_the_component(spec: Path, tmp_path: Path) -> None:
    text = TEXT.replace("n_zlev: 2, ", "").replace("parallel: {nproma: 16}\n", "")
    spec.write_text(text, encoding="utf-8")
    (levels,) = (found for found in nmlgen.check(spec).findings if "has no levels" in found.message)
    assert levels.span is not None
    assert levels.span.line == text.splitlines().index("  oce:") + 1
    (blocks,) = (found for found in nmlgen.check(spec).findings if found.code == "PAR011")
    assert blocks.span is not None
    assert blocks.span.line == 1  # all have it in common
    spec.write_text(TEXT, encoding="utf-8")
    nmlgen.build(load_spec(spec)).write(tmp_path / "run")
    namelist = tmp_path / "run" / "NAMELIST_coupled_oce"
    namelist.write_text(namelist.read_text().replace("n_zlev", "!n_zlev"))
    found = nmlgen.lint([tmp_path / "run"]).findings
    (levels,) = (finding for finding in found if "has no levels" in finding.message)
    assert levels.file == str(namelist)


def test_names_of_version_0_1_warn(spec: Path) -> None:
    found = experiment(spec)
    with pytest.warns(DeprecationWarning, match=r"experiment.components\[0\]"):
        assert found["run_nml", "num_lev"].value == 90
    with pytest.warns(DeprecationWarning, match="namelist"):
        assert found.namelist is found.components[0].namelist


@pytest.mark.parametrize("models", ["{}", "{atmo: null, ocean: null}"])
def test_models_of_which_none_is_left(models, tmp_path):
    path = tmp_path / "spec.yaml"
    text = (
        "extends: icon/coupled\nsite: levante\nname: x\nmodel: {directory: /a, executable: icon}\njob: {account: a}\n"
    )
    path.write_text(f"{text}models: {models}\n", encoding="utf-8")
    overrides = [] if "null" in models else ["extends=icon/jabw", "grid.file=g.nc"]
    overrides += ["model.release='2024.10'", "time.start=2001-01-01T00:00:00Z", "time.stop=2001-01-02T00:00:00Z"]
    with pytest.raises(SpecError) as caught:
        load_spec(path, overrides)
    (found,) = [finding for finding in caught.value.findings if "models" in finding.message]
    assert found.code == "SPC005"
    assert (found.line, found.column) == (6, 1)


def test_more_models_than_a_rule_tells_of_are_refused(tmp_path):
    document = {
        "nmlgen": 1,
        "name": "many",
        "site": "generic-slurm",
        "model": {"release": "2024.10", "executable": "bin/icon"},
        "grid": {"file": "g.nc"},
        "time": {"start": "2000-01-01T00:00:00Z", "stop": "2000-01-02T00:00:00Z", "modelTimeStep": "PT10M"},
        "job": {"ntasks": 16},
        "models": {f"m{number}": {"type": "atmo", "tasks": 1} for number in range(16)},
    }
    assert len(load_spec(document).experiment.models) == 16
    document["models"]["more"] = {"type": "atmo", "tasks": 1}
    with pytest.raises(SpecError, match="more than 16 models of one job") as caught:
        load_spec(document)
    assert [finding.code for finding in caught.value.findings] == ["SPC006"]
