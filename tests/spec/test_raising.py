"""From an experiment back to keys: what lowering fills in is left out, what a site would add is taken away."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from attrs import evolve
from rows import rows
from specs import load, with_namelist

from nmlgen.experiment.setting import Certainty, Origin, Setting
from nmlgen.source import Source
from nmlgen.spec.raising import Assumed, Gap, Keys, raised, unsaid
from nmlgen.spec.site import read_site_of


def keys_of(site: str = "generic-slurm", **changes: Any) -> Keys:
    return raised(load(site=site, **changes).experiment, read_site_of(site, Path()))


def test_what_follows_from_the_experiment_is_left_out():
    keys = keys_of()
    assert keys["job"] == {"account": "bb1234", "nodes": 2, "ntasks_per_node": 32, "time": "00:40:00"}
    assert keys["grid"] == {"file": "grids/iconR02B05-grid.nc", "name": "R2B5", "num_lev": 30}
    assert "output_start" not in keys["output"]["atm"]
    assert "output_filename" not in keys["output"]["atm"]
    assert not {"launch", "run_directory", "environment", "modules", "mpi", "darshan"} & keys.keys()
    assert not {"master_nml", "master_model_nml", "grid_nml"} & keys["namelists"].keys()


@rows(
    ("changes", "path", "expected"),
    [
        ({"environment": {"OMP_STACKSIZE": None}}, ("environment", "OMP_STACKSIZE"), None),
        ({"environment": {"OMPI_MCA_io": None}}, ("environment", "OMPI_MCA_io"), None),
        ({"environment": {"OMP_STACKSIZE": "1G"}}, ("environment", "OMP_STACKSIZE"), "1G"),
        ({"job": {"partition": None}}, ("job", "partition"), None),
        ({"job": {"ntasks_per_node": 128}}, ("job", "cpus_per_task"), ...),
        ({"launch": {"options": []}}, ("launch", "options"), []),
        ({"shell": None}, ("shell",), None),
        ({"mpi": None}, ("mpi",), None),
        ({"mpi": {"version": None}}, ("mpi", "version"), None),
        ({"output": {"atm": {"output_start": None}}}, ("output", "atm", "output_start"), None),
        ({"namelists": {"grid_nml": {"dynamics_grid_filename": None}}}, ("namelists", "grid_nml"), ...),
    ],
)
def test_null_takes_away_what_a_site_or_nmlgen_would_add(changes, path, expected):
    found: Any = keys_of("levante", **changes)
    for key in path:
        found = found.get(key, ...) if isinstance(found, dict) else ...
    if path[-1] == "grid_nml":
        assert found == {"dynamics_grid_filename": None}
    else:
        assert found == expected


def test_a_node_local_run_asks_for_its_feature_by_itself():
    node_local = {"file_system": "beeond", "constraint": "BEEOND_MAXMDS"}
    assert keys_of("horeka", node_local=node_local)["node_local"] == node_local
    assert not {"constraint", "exclusive"} & keys_of("horeka", node_local=node_local)["job"].keys()
    assert keys_of("horeka", node_local=node_local, job={"constraint": "LSDF"})["job"]["constraint"] == "LSDF"


def test_groups_of_the_master_namelist_are_lowered_into_it():
    experiment = load(namelists={"jsb_control_nml": {"restart_jsbach": True}}).experiment
    assert experiment.master[-1].name == "jsb_control_nml"
    assert all(group.name != "jsb_control_nml" for group in experiment.components[0].namelist)


def test_what_only_the_shell_knows_is_a_gap():
    source = Source("exp.run", 'num_io_procs = "${n}"\n')
    span = source.span(1, 16, 6)
    setting = Setting("parallel_nml.num_io_procs", (Origin("unknown", None, span),), Certainty.UNKNOWN)
    experiment = load().experiment
    groups = tuple(
        evolve(group, settings={**group.settings, "num_io_procs": setting}) if group.name == "parallel_nml" else group
        for group in experiment.components[0].namelist
    )
    nodes = Setting("nodes", (Origin("unknown", None, span),), Certainty.UNKNOWN)
    changed = evolve(with_namelist(experiment, groups), directives={**experiment.directives, "nodes": nodes})
    keys = raised(changed, read_site_of("generic-slurm", Path()))
    gap = Gap('only the running shell knows: "${n}" at exp.run:1:16')
    assert keys["parallel"]["num_io_procs"] == keys["job"]["nodes"] == gap


def test_a_grid_that_lies_nobody_knows_where_keeps_its_name():
    span = Source("exp.run", "ocean_grids=${grid}.nc\n").span(1, 1, 22)
    experiment = load().experiment
    (grid,) = (file for file in experiment.inputs if file.source.name == "grid.file")
    unknown = evolve(grid, source=Setting("grid.file", (Origin("unknown", None, span),), Certainty.UNKNOWN))
    others = tuple(file for file in experiment.inputs if file is not grid)
    keys = raised(evolve(experiment, inputs=(unknown, *others)), read_site_of("generic-slurm", Path()))
    where = "where the grid file lies, only the running shell knows: ocean_grids=${grid}.nc at exp.run:1:1"
    assert keys["grid"]["file"] == Assumed("iconR02B05-grid.nc", where)
    assert "iconR02B05-grid.nc" not in keys.get("input_files", {})
    assert "grid_nml" not in keys.get("namelists", {})


def test_options_that_a_spec_does_not_know_are_gaps_and_others_get_their_unit():
    experiment = load().experiment
    given = {"wckey": "a", "time": "30", "mem": "4000", "nodes": "4"}
    directives = {name: Setting(name, (Origin("script", value),)) for name, value in given.items()}
    job = raised(evolve(experiment, directives=directives), read_site_of("generic-slurm", Path()))["job"]
    assert (job["time"], job["mem"], job["nodes"]) == ("00:30:00", "4000M", 4)
    assert isinstance(job["wckey"], Gap)


def test_the_order_of_keys_does_not_decide_a_layout():
    stripes = {"input": {"stripe_count": 2}, "restart": {"stripe_count": 1}}
    for order in (stripes, dict(reversed(stripes.items()))):
        assert [striping.what for striping in load(lustre=order).experiment.striping] == ["input", "restart"]


def test_a_group_twice_is_said():
    experiment = load().experiment
    groups = experiment.components[0].namelist
    again = with_namelist(experiment, (*groups, groups[0]))
    assert list(unsaid(experiment)) == []
    assert list(unsaid(again)) == ["a spec holds one parallel_nml; the further one is not in it"]
