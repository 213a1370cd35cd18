"""Comparing experiments: what counts as the same, as explicit, as undecided and as different."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve
from hypothesis import HealthCheck, given, settings
from placements import one_program, spec
from rows import rows
from spec_strategies import specs
from specs import load, with_namelist

from nmlgen import load_spec
from nmlgen.experiment.coupling import UNKNOWN_COUPLING, Coupling
from nmlgen.experiment.difference import JOB, MASTER, NAMELIST, Verdict, differences, same_value
from nmlgen.experiment.experiment import Experiment, InputFile, OtherModel
from nmlgen.experiment.group import Group
from nmlgen.experiment.machine import UNKNOWN_SITE
from nmlgen.experiment.setting import unknown, written
from nmlgen.lift.namelists import lift_document
from nmlgen.namelist.reader import read
from nmlgen.namelist.registry import load_registry
from nmlgen.source import Source

REGISTRY = load_registry("2024.10")
WAVE = load().experiment


def of(text: str) -> Experiment:
    """An experiment with these groups in its namelist, and no others."""
    return with_namelist(WAVE, lift_document(read(Source("NAMELIST", text)), REGISTRY, is_master=False).groups)


def found(old: Experiment, new: Experiment, *parts: str) -> list[tuple[str, str, str]]:
    return [(d.section, d.name, d.verdict.value) for d in differences(old, new, parts or (MASTER, NAMELIST, JOB))]


@rows(
    ("old", "new"),
    [
        ("&run_nml dtime = 1.0d2 /", "&run_nml dtime = 100. /"),
        ("&run_nml dtime = 100 /", "&RUN_NML DTIME = 1e2 /"),
        ("&run_nml output = 'nml' /", '&run_nml output = "nml  " /'),
        ("&run_nml ltestcase = .true. /", "&run_nml ltestcase = T /"),
        ("&run_nml num_lev = 20 iforcing = 3 /", "&run_nml iforcing = 3, num_lev(1) = 20 /"),
        ("&run_nml iforcing = 3 /\n&grid_nml /", "&grid_nml /\n&run_nml iforcing = 3 /"),
        ("&run_nml iforcing = 3 /\n&run_nml iforcing = 4 /", "&run_nml iforcing = 3 /"),
        ("&run_nml num_lev = 20 /", "&run_nml num_lev = 20, 31 /"),
        ("&output_nml output_filename = 'a' /\n&output_nml output_filename = 'b' /",) * 2,
        (
            "&output_nml output_filename = 'a' remap = 1 /\n&output_nml output_filename = 'b' /",
            "&output_nml output_filename = 'b' /\n&output_nml output_filename = 'a' remap = 1 /",
        ),
    ],
)
def test_the_same_in_other_words(old, new):
    assert found(of(old), of(new)) == []


@rows(
    ("old", "new", "expected"),
    [
        ("&run_nml iforcing = 3 /", "&run_nml iforcing = 2 /", [("run_nml", "iforcing", "different")]),
        ("&run_nml iforcing = 3 /", "", [("run_nml", "iforcing", "different")]),
        ("&run_nml iforcing = 0 /", "", [("run_nml", "iforcing", "explicit")]),
        ("", "&run_nml num_lev = 31, 31 /", [("run_nml", "num_lev", "explicit")]),
        ("", "&run_nml output = 'default', '' /", [("run_nml", "output", "explicit")]),
        ("", "&run_nml output = 'default', 'nml' /", [("run_nml", "output", "different")]),
        ("&unheard_nml a = 1 /", "", [("unheard_nml", "a", "different")]),
        ("&run_nml unheard = 1 /", "", [("run_nml", "unheard", "different")]),
        ("&output_nml remap = 0 /", "", [('output_nml ""', "remap", "different")]),
        (
            "&output_nml output_filename = 'a' remap = 1 /",
            "&output_nml output_filename = 'a' /",
            [('output_nml "a"', "remap", "different")],
        ),
        (
            "&output_nml output_filename = 'a' /\n&output_nml output_filename = 'a' remap = 1 /",
            "&output_nml output_filename = 'a' /",
            [('output_nml "a" 2', "output_filename", "different"), ('output_nml "a" 2', "remap", "different")],
        ),
    ],
)
def test_not_the_same(old, new, expected):
    assert found(of(old), of(new)) == expected
    assert sorted(found(of(new), of(old))) == sorted(expected)


@rows(
    ("target", "source", "is_pattern", "is_brought"),
    [
        ("grids", "/g", False, True),
        ("grids", "/g/", False, True),
        ("grids", "/other", False, False),
        ("*.nc", "/g", True, True),
        ("*.grb", "/g", True, False),
        ("*.nc", "/other", True, False),
        ("*.nc", None, True, False),
    ],
)
def test_a_grid_of_a_directory_that_is_brought_is_there(target, source, is_pattern, is_brought):
    """Whether somebody names it, too, is the same."""
    path = unknown("inputs") if source is None else written("inputs", source, "")
    both = InputFile(target, path, is_pattern=is_pattern), InputFile("a-grid.nc", written("grid.file", "/g/a.nc", ""))
    one, two = (evolve(WAVE, inputs=inputs) for inputs in (both, both[:1]))
    named = [] if is_brought else [("input files", "a-grid.nc", "different")]
    assert [one for one in found(one, two) if one[1] == "a-grid.nc"] == named


def test_what_only_the_shell_knows_is_neither_the_same_nor_different():
    group = Group("run_nml", {"iforcing": unknown("run_nml.iforcing"), "num_lev": written("run_nml.num_lev", 20, "x")})
    shell = with_namelist(WAVE, (group,))
    for other in (of("&run_nml iforcing = 3 num_lev = 20 /"), of("&run_nml num_lev = 20 /"), shell):
        assert found(shell, other) == [("run_nml", "iforcing", "undecided")]


def test_variables_are_named_as_somebody_spelt_them():
    other = load(time={"modelTimeStep": "PT3M"}).experiment
    (difference,) = differences(WAVE, other)
    assert (difference.name, difference.old.value, difference.new.value) == ("modelTimeStep", "PT2M", "PT3M")


def asking(launched: int | None = None, **directives: int) -> Experiment:
    """An experiment that asks Slurm for so much, and whose launcher is told so many tasks."""
    tasks = written("launch.tasks", launched, "") if launched is not None else None
    asked = {name.replace("_", "-"): written(f"job.{name}", value, "") for name, value in directives.items()}
    return evolve(WAVE, directives=asked, launch=evolve(WAVE.launch, tasks=tasks))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (asking(nodes=2), asking(nodes=2, ntasks=2), []),
        (asking(nodes=2), asking(nodes=2, ntasks=8), [("#SBATCH", "--ntasks")]),
        (asking(32, nodes=1), asking(nodes=1, ntasks=32), []),
        (asking(32, nodes=1, ntasks=64), asking(nodes=1, ntasks=32), []),
        (asking(32, nodes=1), asking(nodes=1, ntasks=64), [("launch", "tasks")]),
        (asking(32, ntasks=64), asking(32, ntasks=32), [("#SBATCH", "--ntasks")]),
    ],
)
def test_the_number_of_tasks_is_the_one_that_results(old: Experiment, new: Experiment, expected) -> None:
    """What asks for no --ntasks gets as many tasks as its nodes or its launcher make."""
    different = [(section, name, "different") for section, name in expected]
    assert found(old, new) == found(new, old) == different


def test_commands_before_the_stage_out() -> None:
    """Those that one of two node-local runs has beyond the other."""
    plain, with_command = (
        load(site="horeka", node_local={"file_system": "beeond", **more}).experiment
        for more in ({}, {"before_stage_out": ["true"]})
    )
    assert found(plain, plain) == []
    assert found(plain, with_command) == [("node-local run", "before_stage_out", "different")]


@rows(
    ("changes", "expected"),
    [
        ({"job": {"time": "40:00"}}, []),
        ({"job": {"time": "00:50:00"}}, [("#SBATCH", "--time", "different")]),
        ({"job": {"exclusive": False}}, []),
        ({"job": {"requeue": True}}, [("#SBATCH", "--requeue", "different")]),
        ({"job": {"mem": "1G"}}, [("#SBATCH", "--mem", "different")]),
        (
            {"model": {"directory": "icon", "executable": "bin/icon"}, "grid": {"file": "../grids/iconR02B05-grid.nc"}},
            [],
        ),
        ({"run_directory": "./run"}, []),
        ({"environment": {"A": "1"}}, [("environment", "A", "different")]),
        ({"modules": ["a"]}, [("modules", "modules", "different")]),
        ({"launch": {"options": ["-l"]}}, [("launch", "options", "different")]),
        ({"lustre": {"output": {"stripe_size": "1M"}}}, [("lustre", "output: stripe_size", "different")]),
        (
            {"lustre": {"output": {"component_end": {"eof": {}}}}},
            [("lustre", "output: component_end eof", "different")],
        ),
        ({"darshan": {"library": "/d.so"}}, [("darshan", "library", "different")]),
        ({"mpi": {"hints": {"cb_nodes": 4}}}, [("ROMIO hints", "cb_nodes", "different")]),
        ({"shell": {"limits": {"stack": 1024}}}, [("shell", "stack_limit", "different")]),
        ({"input_files": {"a.nc": {"source": "/a.nc"}}}, [("input files", "a.nc", "different")]),
    ],
)
def test_what_is_said_to_the_machine(changes: dict[str, Any], expected):
    assert found(WAVE, load(**changes).experiment) == expected
    assert found(WAVE, load(**changes).experiment, MASTER, NAMELIST) == []


def test_an_element_of_an_array_counts_for_the_array():
    spec = load(namelists={"run_nml": {"iforcing": 0, "num_lev(2)": 20}, "nwp_phy_nml": {"dt_conv(2)": 300.0}})
    text = "&run_nml iforcing = 0 num_lev = 30, 20 /\n&nwp_phy_nml dt_conv(2) = 300. /"
    old, new = spec.experiment, of(text)
    sections = {("run_nml", "num_lev"), ("nwp_phy_nml", "dt_conv")}
    assert not sections & {(section, name) for section, name, _ in found(old, new, NAMELIST)}
    other = of(text.replace("20", "21").replace("300.", "301."))
    assert sections <= {(section, name) for section, name, _ in found(old, other, NAMELIST)}


@pytest.mark.parametrize(("name", "is_same"), [("iforcing", False), ("dtime", True)])
def test_an_integer_is_no_real(name: str, is_same: bool) -> None:
    one, two = (load(namelists={"run_nml": {name: value}}).experiment for value in (3, 3.0))
    assert (found(one, two, NAMELIST) == []) is is_same


COUPLE = {"src_component": "atm", "tgt_component": "hiopy", "field": ["temp", "u"]}
COUPLED = {"timestep_unit": "hour", "coupling": [COUPLE]}


@pytest.mark.parametrize(
    ("coupling", "names"),
    [
        (Coupling("", {}, content=COUPLED), ["timestep_unit", "atm to hiopy: temp, u"]),
        (Coupling("", {}), []),
        (evolve(UNKNOWN_COUPLING, content=COUPLED), []),
    ],
)
def test_couples_are_told_by_their_components_and_fields(coupling: Coupling, names: list[str]) -> None:
    coupled = evolve(WAVE, coupling=coupling)
    assert found(WAVE, coupled, MASTER) == [("coupling.yaml", name, "different") for name in names]
    assert found(coupled, coupled) == []
    unknown = evolve(WAVE, coupling=UNKNOWN_COUPLING)
    assert found(coupled, unknown, MASTER) == [("coupling.yaml", name, "undecided") for name in names]


def test_values_of_one_type():
    assert same_value(1, 1.0)
    assert not same_value(True, 1)
    assert not same_value("1", 1)
    assert not same_value(" a", "a")


@settings(max_examples=15, suppress_health_check=list(HealthCheck))
@given(specs(), specs())
def test_differences_are_symmetric(one, other):
    old, new = load_spec(one).experiment, load_spec(other).experiment
    assert differences(old, old) == ()
    forth = {(d.section, d.name.lower(), d.verdict) for d in differences(old, new)}
    back = {(d.section, d.name.lower(), d.verdict) for d in differences(new, old)}
    assert forth == back
    assert all(verdict is not Verdict.UNDECIDED for _, _, verdict in forth)


@pytest.mark.parametrize(
    ("directives", "other", "expected"),
    [
        ({"mem": "1G"}, {"mem": "1024M"}, []),
        ({"mem": "1G"}, {"mem": "1000M"}, ["--mem"]),
        ({"mem": "1500K"}, {"mem": "2M"}, []),  # Slurm counts whole mebibytes
        ({"mem_per_cpu": "1G"}, {"mem_per_cpu": "1048576K"}, []),
        ({"time": "00:40:00"}, {"time": "40:00"}, []),
        ({"time": "00:40:00"}, {"time": "41:00"}, ["--time"]),
        ({"comment": "1G"}, {"comment": "1024M"}, ["--comment"]),  # a text
    ],
)
def test_directives_that_mean_the_same(directives: dict[str, str], other: dict[str, str], expected: list[str]):
    one, two = (load(job=given).experiment for given in (directives, other))
    assert [name for _, name, _ in found(one, two, JOB)] == expected


def test_lands_are_told_by_their_domains():
    land = lift_document(read(Source("NAMELIST", "&jsb_rad_nml use_alb_veg_simple = T /")), REGISTRY, is_master=False)
    (model,) = WAVE.models
    one = evolve(WAVE, models=(evolve(model, land=land.groups),))
    two = evolve(WAVE, models=(evolve(model, nest_land=(land.groups,)),))
    assert [section for section, *_ in found(WAVE, one)] == ["land jsb_rad_nml"]
    assert [section for section, *_ in found(WAVE, two)] == ["land of domain 2 jsb_rad_nml"]


def test_files_of_another_model_and_its_job_are_compared_apart():
    """What its files say counts as a namelist of the master does."""
    one, two = (
        evolve(
            load(environment={"A": value}).experiment,
            models=(),
            other=OtherModel(
                "wrf", {"namelist.input": (Group("domains", {"e_we": written("domains.e_we", value, "")}),)}
            ),
        )
        for value in ("1", "2")
    )
    in_file, in_job = ("namelist.input: domains", "e_we", "different"), ("environment", "A", "different")
    assert found(one, two) == [in_file, in_job]
    assert found(one, two, MASTER) == [in_file]
    assert found(one, two, JOB) == [in_job]
    assert found(one, two, NAMELIST) == []


def test_models_of_one_experiment_alone_are_models_of_the_master_and_of_namelists():
    own = {"output": None, "grid": None, "time": {"start": "2008-09-01T00:00:00Z", "stop": "2008-09-11T00:00:00Z"}}
    grid = {"grid": {"file": "g.nc", "name": "R2B5", "num_lev": 30}, "time": {"modelTimeStep": "PT12M"}}
    one, two = (
        load(**own, parallel=None, models={name: {"type": "atmo", "tasks": 10, **grid}, "o": {"type": "ocean", **grid}})
        for name in ("a", "b")
    )
    models = [("models", "a", "different"), ("models", "b", "different")]
    assert [one for one in found(one.experiment, two.experiment, NAMELIST) if one[0] == "models"] == models
    assert [one for one in found(one.experiment, two.experiment, MASTER) if one[0] == "models"] == models
    assert [one for one in found(one.experiment, two.experiment, JOB) if one[0] == "models"] == []


def test_masters_of_several_models_have_entries_of_their_own_and_groups_in_common():
    own = {"output": None, "grid": None, "time": {"start": "2008-09-01T00:00:00Z", "stop": "2008-09-11T00:00:00Z"}}
    grid = {"grid": {"file": "g.nc", "name": "R2B5", "num_lev": 30}, "time": {"modelTimeStep": "PT12M"}}

    def both(tasks: int, writes_last: bool) -> Experiment:
        models = {"a": {"type": "atmo", "tasks": tasks, **grid}, "o": {"type": "ocean", **grid}}
        master = {"master_nml": {"lrestart_write_last": writes_last}}
        return load(**own, parallel=None, models=models, namelists=master).experiment

    one, two = both(10, True), both(12, False)
    assert [name for name in found(one, two, MASTER) if name[0] != "models"] == [
        ("master_nml", "lrestart_write_last", "different"),
        ("a: master_model_nml", "model_max_rank", "different"),
        ("o: master_model_nml", "model_min_rank", "different"),
    ]
    for part in (NAMELIST, JOB):
        assert "master" not in str(found(one, two, part))


def test_what_is_said_of_a_partition_counts_where_programs_are_placed(tmp_path):
    said = evolve(WAVE, machine=evolve(WAVE.machine, said={"a.gpus": ("1",)}))
    assert found(WAVE, said) == []
    placed = load_spec(spec(tmp_path, {"device": "gpu"}, **one_program())).experiment
    told = evolve(placed, machine=evolve(placed.machine, said={**placed.machine.said, "a.gpus": ("1",)}))
    assert found(placed, told) == [("programs", "partitions.a.gpus", "different")]


def test_a_side_that_does_not_say_where_it_runs_is_not_elsewhere():
    one, two, nobody = (evolve(WAVE, machine=evolve(WAVE.machine, name=name)) for name in ("a", "b", UNKNOWN_SITE))
    assert [name for _, name, _ in found(one, two)] == ["site"]
    assert found(one, nobody) == found(nobody, two) == []


def test_an_element_beyond_its_array_fills_nothing_up_to_it():
    spec = load(namelists={"run_nml": {"num_lev(999999999)": 20}})
    names = {name for section, name, _ in found(spec.experiment, of("&run_nml num_lev = 30 /"), NAMELIST)}
    assert "num_lev(999999999)" in names
