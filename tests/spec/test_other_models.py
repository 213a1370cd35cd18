"""Specs of models that are not ICON: the job around namelists that are judged by their own model, or by nobody."""

from __future__ import annotations

import copy
import json
import subprocess
from typing import Any

import pytest
from rows import rows
from specs import unchecked_build
from tools import require

import nmlgen
from nmlgen.checking import check_experiment
from nmlgen.rules import all_rules
from nmlgen.spec import presets

EMAC: dict[str, Any] = {
    "nmlgen": 1,
    "name": "emac",
    "site": "generic-slurm",
    "model": {"name": "generic", "directory": "/work/emac", "executable": "bin/echam5"},
    "job": {"nodes": 2, "ntasks_per_node": 4, "time": "01:00:00"},
    "namelist_files": {
        "namelist.echam": {"RUNCTL": {"nproca": 4, "lresume": False, "putdata": [12, "hours"]}, "dynctl": {"dt": 0.5}},
        "channel.nml": {"ctrl": {"exp_name": "T42"}},
    },
    "input_files": {"unit.24": {"source": "input/T42.nc"}},
}
WRF: dict[str, Any] = {
    "nmlgen": 1,
    "name": "wave",
    "site": "generic-slurm",
    "model": {"name": "wrf", "executable": "main/wrf.exe"},
    "job": {"nodes": 1, "ntasks_per_node": 14, "time": "01:00:00"},
    "namelists": {
        "time_control": {"run_days": 5, "history_interval": [360], "io_form_history": 2},
        "domains": {"time_step": 600, "max_dom": 1, "e_we": [410], "e_sn": [810], "e_vert": [65], "dx": [100000.0]},
        "physics": {"mp_physics": [0], "sf_surface_physics": [0]},
        "dynamics": {"diff_opt": [1], "km_opt": [1]},
        "namelist_quilt": {"nio_tasks_per_group": 2, "nio_groups": 1},
    },
}


def changed(spec: dict[str, Any], *path: str, to: Any) -> dict[str, Any]:
    spec = copy.deepcopy(spec)
    part = spec
    for key in path[:-1]:
        part = part.setdefault(key, {})
    part[path[-1]] = to
    return spec


def messages(spec: dict[str, Any]) -> list[str]:
    with pytest.raises(nmlgen.SpecError) as caught:
        nmlgen.load_spec(spec)
    return [finding.message for finding in caught.value.findings]


def test_the_namelists_of_any_model_are_written_as_they_are_said():
    build = nmlgen.build(EMAC)
    assert sorted(build.files) == ["channel.nml", "emac.sbatch", "namelist.echam", "nmlgen-manifest.json"]
    first, *rest = build.files["namelist.echam"].decode().split("\n", 1)
    assert first.startswith("! namelist.echam of emac, written by nmlgen")
    assert rest == [
        "\n&runctl\n nproca  = 4\n lresume = .FALSE.\n putdata = 12, 'hours'\n/\n\n&dynctl\n dt = 0.5\n/\n",
    ]
    script = build.files["emac.sbatch"].decode()
    assert "# emac: the model on generic-slurm\n" in script
    assert "ln -sfn -- /work/emac/input/T42.nc unit.24\n" in script
    assert not [word for word in ("icon_master", "lrestart", "restart_", "finish.status") if word in script]
    manifest = json.loads(build.files["nmlgen-manifest.json"])
    assert manifest["model"] == "generic"
    assert "icon_release" not in manifest


def test_a_job_without_a_namelist():
    spec = {key: part for key, part in EMAC.items() if key != "namelist_files"}
    assert sorted(nmlgen.build(spec).files) == ["emac.sbatch", "nmlgen-manifest.json"]


def test_a_described_model_has_a_file_of_its_own():
    assert nmlgen.check(WRF).findings == ()
    build = nmlgen.build(WRF)
    assert sorted(build.files) == ["namelist.input", "nmlgen-manifest.json", "wave.sbatch"]
    assert b"# wave: WRF on generic-slurm\n" in build.files["wave.sbatch"]


@pytest.mark.parametrize(("name", "file"), [("palm", "PARIN"), ("mpas", "namelist.atmosphere")])
def test_what_the_file_of_a_model_is_called(name, file):
    spec = {key: part for key, part in WRF.items() if key != "namelists"}
    spec |= {"model": {"name": name, "executable": "x"}, "namelists": {"some_group": {"x": 1}}}
    assert file in nmlgen.load_spec(spec).experiment.other.files


def test_the_model_judges_its_namelist_at_the_keys_of_the_spec(tmp_path):
    path = tmp_path / "spec.yaml"
    text = (
        "nmlgen: 1\nname: wave\nsite: generic-slurm\nmodel: {name: wrf, executable: wrf.exe}\n"
        "job: {nodes: 1, ntasks_per_node: 4}\n"
        "namelists:\n  time_control: {run_days: 5, io_form_histry: 2}\n  domain: {max_dom: 1}\n"
        "  domains: {time_step: 600}\n  namelist_quilt: {nio_tasks_per_group: 4, nio_groups: 1}\n"
    )
    path.write_text(text)
    found = {finding.code: finding for finding in nmlgen.check(path).findings}
    assert found["WRF002"].span.text == "io_form_histry"
    assert found["WRF002"].span.line == 7
    assert found["WRF002"].fix is None  # the file it would change is not there
    assert (found["WRF005"].span.line, found["WRF005"].span.text) == (10, "4")
    assert (found["WRF001"].span.line, found["WRF001"].span.text) == (8, "max_dom")
    path.write_text(f"# nmlgen: ignore[WRF001] of a fork\n{text}")
    assert "WRF001" not in {finding.code for finding in nmlgen.check(path).findings}


def test_a_value_that_is_wrong_is_pointed_at(tmp_path):
    path = tmp_path / "spec.yaml"
    path.write_text(
        "nmlgen: 1\nname: wave\nsite: generic-slurm\nmodel: {name: wrf, executable: wrf.exe}\n"
        "namelists:\n  time_control: {run_days: [1, x]}\n"
    )
    (found,) = [finding for finding in nmlgen.check(path).errors if finding.code == "WRF002"]
    assert found.span.text == "[1, x]"
    path.write_text(path.read_text().replace("[1, x]", "1").replace("time_control", "end"))
    assert not [finding for finding in nmlgen.check(path).findings if "mistake in nmlgen" in finding.message]


def test_the_tasks_are_those_of_the_job():
    assert [finding.code for finding in nmlgen.check(changed(WRF, "job", "ntasks_per_node", to=2)).errors] == ["WRF005"]
    assert not nmlgen.check(WRF).errors


@rows("site", sorted(name for name in presets.names() if name.startswith(presets.SITE_PREFIX)))
def test_rules_about_jobs_cope_with_every_model(site):
    spec = EMAC | {"site": site.removeprefix(presets.SITE_PREFIX)}
    spec["job"] = {"nodes": 2, "time": "01:00:00", "account": "a"}
    spec["lustre"] = {"output": {"stripe_count": 8}, "restart": {"stripe_count": 1}, "input": {"stripe_count": 1}}
    spec["darshan"] = {"library": "/lib/libdarshan.so", "MAX_RECORDS": 1}
    spec["mpi"] = {"hints": {"cb_nodes": 4, "romio_ds_write": "enable"}}
    loaded = nmlgen.load_spec(spec)
    findings = check_experiment(loaded.experiment).findings
    assert not [finding for finding in findings if "mistake in nmlgen" in finding.message]
    if loaded.experiment.machine.scheduler != "nqsv":
        assert "emac.sbatch" in unchecked_build(loaded).files


def test_rules_about_jobs_find_what_they_find():
    spec = changed(EMAC, "site", to="levante") | {"job": {"nodes": 2, "partition": "nowhere", "account": "a"}}
    assert {finding.code for finding in nmlgen.check(spec).findings} == {"SLM001", "SLM020"}
    needing = {rule.code for rule in all_rules() if rule.needs_icon}
    assert needing == {"MPI013", "SLM026"}


@rows(
    ("path", "value", "message"),
    [
        (("model", "name"), "emack", 'there is no model "emack"'),
        (("model", "release"), "2024.10", "model.release is a key of ICON's, and the model is generic"),
        (("model", "device"), "gpu", "model.device is a key of ICON's, and the model is generic"),
        (("output",), {"atm": {"ml_varlist": ["u"]}}, "output is a key of ICON's, and the model is generic"),
        (("after",), {"join": True}, "after is a key of ICON's, and the model is generic"),
        (("parallel",), {"nproma": 8}, "parallel_nml is a group of ICON's, which time, restart, parallel and grid"),
        (("namelists",), {"g": {"x": 1}}, "namelists does not say which file generic reads them from"),
        (("job", "time"), "auto", "job.time is left to the advisor, which knows ICON and not generic"),
        (("lustre",), {"output": {"stripe_count": "auto"}}, "lustre.output.stripe_count is left to the advisor"),
        (("namelist_files", "a.sbatch"), {"g": {"x": 1}}, 'namelist_files: "a.sbatch" is no name for a namelist'),
        (("namelist_files", "unit.24"), {"g": {"x": 1}}, 'input_files: "unit.24" is not the name of an input file'),
        (("node_local",), {"copy_while_running": True}, "which files are finished while the model computes is known"),
        (("job", "time"), "1:2:3:4:5", 'job.time is "1:2:3:4:5"'),
    ],
)
def test_what_such_a_spec_cannot_say(path, value, message):
    assert any(found.startswith(message) for found in messages(changed(EMAC, *path, to=value)))


@pytest.mark.parametrize("site", ["generic-slurm", "generic-pbs", "local"])
def test_every_batch_system_takes_its_job(site):
    script = nmlgen.build(EMAC | {"site": site}).files["emac.sbatch"].decode()
    assert ("#SBATCH" in script, "#PBS" in script) == (site == "generic-slurm", site == "generic-pbs")


def test_results_on_a_file_system_that_ends_with_the_job():
    job = {"account": "a", "partition": "cpuonly", "nodes": 2, "time": "01:00:00", "signal": "B:USR1@300"}
    spec = EMAC | {"site": "horeka", "job": job, "node_local": {"file_system": "beeond"}}
    assert nmlgen.check(spec).findings == ()
    script = nmlgen.build(spec).files["emac.sbatch"].decode()
    assert "stage in" in script
    assert "if stage_out; then" in script
    assert "checkpoints()" not in script


def test_a_file_said_twice():
    spec = changed(WRF, "namelist_files", to={"namelist.input": {"g": {"x": 1}}})
    assert messages(spec) == ["namelist.input is what namelists is written to"]


def test_what_is_missing():
    spec = {"nmlgen": 1, "name": "a", "model": {"name": "generic"}}
    assert messages(spec) == ["site is not set", "model.executable is not set"]


def test_who_said_it():
    spec = nmlgen.load_spec(WRF, ["namelists.domains.time_step=60"])
    assert spec.find("domains.time_step").value == 60
    assert spec.find("namelists.domains.TIME_STEP").value == 60
    assert [origin.value for origin in spec.chain("domains.time_step")] == [60, 600]
    assert spec.find("job.nodes").value == 1
    with pytest.raises(nmlgen.InputError, match=r"nothing sets domains\.time_stepp"):
        spec.find("domains.time_stepp")


def test_two_such_jobs_are_compared_with_their_namelists():
    found = nmlgen.compare(
        nmlgen.load_spec(WRF), nmlgen.load_spec(changed(WRF, "namelists", "domains", to={"e_we": 9}))
    )
    told = {
        (one.section, one.name): (one.old and one.old.value, one.new and one.new.value) for one in found.differences
    }
    assert told["namelist.input: domains", "e_we"] == ([410], 9)
    assert told["namelist.input: domains", "time_step"] == (600, None)
    assert {section for section, _ in told} == {"namelist.input: domains"}


@pytest.mark.parametrize("ask", [nmlgen.advice, nmlgen.advices])
def test_what_is_asked_of_icon_only(ask):
    with pytest.raises(nmlgen.InputError, match="is worked out for ICON, and wave is a job of WRF"):
        ask(nmlgen.load_spec(WRF))


def test_points_of_a_sweep_are_judged_by_the_model():
    spec = WRF | {"sweep": {"grid": {"namelists.namelist_quilt.nio_tasks_per_group": [2, 4, 14]}}}
    points, refused = [], []
    for point in nmlgen.expand(nmlgen.load_spec(spec), invalid="skip", rejected=lambda *told: refused.append(told)):
        points.append(point.values["namelists.namelist_quilt.nio_tasks_per_group"])
    assert points == [2, 4]
    ((point, findings),) = refused
    assert [finding.code for finding in findings] == ["WRF005"]
    assert point.values["namelists.namelist_quilt.nio_tasks_per_group"] == 14


def test_a_null_takes_a_file_away():
    spec = changed(EMAC, "namelist_files", "channel.nml", to=None)
    assert list(nmlgen.load_spec(spec).experiment.other.files) == ["namelist.echam"]


@pytest.mark.parametrize("name", ["wrf/b_wave", "palm/cbl", "mpas/supercell"])
def test_an_ideal_case_of_each_model_builds_without_a_finding(name):
    spec = {"nmlgen": 1, "name": "ideal", "extends": name, "site": "generic-slurm", "job": {"time": "01:00:00"}}
    assert nmlgen.check(spec).findings == ()
    build = nmlgen.build(spec)
    assert nmlgen.load_spec(spec).experiment.other.files.keys() < build.files.keys()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"restart": {"keep_last": 2}}, "restart.keep_last is a key of ICON's, and the model is wrf"),
        (
            {"restart": {"jobs": 2}, "node_local": {"file_system": "beeond"}},
            "checkpoints of wrf are not brought to a file system that ends with each job",
        ),
        ({"restart": {"jobs": 2}, "namelists": None}, "restart.jobs without namelist.input"),
        ({"before": {"real": {"ntasks": 2}}}, "before.real.executable is not set"),
    ],
)
def test_chains_and_steps_that_cannot_be(change, message):
    spec = {key: part for key, part in {**WRF, **change}.items() if part is not None}
    assert message in messages(spec)


@pytest.mark.parametrize(
    ("name", "site"), [("wrf/b_wave", "generic-slurm"), ("palm/cbl", "generic-pbs"), ("mpas/supercell", "local")]
)
def test_the_script_of_a_chain_is_clean_under_shellcheck(name, site):
    require("shellcheck")
    parts = {"job": {"time": "01:00:00"}, "restart": {"jobs": 3}}
    if name == "palm/cbl":
        parts["namelists"] = {"runtime_parameters": {"dt_restart": 600.0}}
        parts["namelist_files"] = {"ENVPAR": {"envpar": {"write_binary": True}}}
    script = nmlgen.build({"nmlgen": 1, "name": "ideal", "extends": name, "site": site, **parts}).files["ideal.sbatch"]
    found = subprocess.run(
        ["shellcheck", "-S", "style", "-s", "bash", "-"], input=script, capture_output=True, check=False
    )
    assert (found.stdout.decode(), found.returncode) == ("", 0)


def test_nobody_knows_how_a_generic_model_goes_on():
    assert messages({**EMAC, "restart": {"jobs": 2}}) == ["how a run of generic goes on from a checkpoint is not known"]


@pytest.mark.parametrize(
    ("key", "part"),
    [
        ("restart.jobs", {"restart": {"jobs": 2}}),
        ("before", {"before": {"real": {"executable": "real.exe"}}}),
        ("namelist_files", {"namelist_files": {"a.nml": {"g": {"v": 1}}}}),
    ],
)
def test_keys_of_other_models_are_none_of_icons(key, part):
    spec = {"nmlgen": 1, "name": "jabw", "extends": "icon/jabw", "site": "generic-slurm", "model": {"executable": "x"}}
    assert f"{key} is a key of other models than ICON" in messages({**spec, **part})


def test_only_files_of_icon_are_kept_beside_those_of_a_later_leg():
    local = {"site": "horeka", "node_local": {"file_system": "beeond"}}
    spec = {**EMAC, **local, "job": {**EMAC["job"], "partition": "cpuonly", "account": "a"}}
    script = nmlgen.build(spec).files["emac.sbatch"].decode()
    assert "settle() {" in script
    assert "ICON" not in script
