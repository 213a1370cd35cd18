"""Where ranks sit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from placements import ATM, CASES, GPU, HIOPY, OCE, component, one_program, spec
from rows import rows
from specs import unchecked_build
from steps import grows_too_fast

from nmlgen import SpecError, compare, load_spec
from nmlgen.experiment.difference import differences
from nmlgen.experiment.seats import Seat, facts_of
from nmlgen.experiment.setting import Certainty
from nmlgen.importing import import_spec
from nmlgen.models.icon import placement as seating
from nmlgen.models.icon.nodes import nodes, ranks_by_node
from nmlgen.models.icon.placement import _dealt as dealt
from nmlgen.models.icon.placement import placement, places, reason
from nmlgen.report.ranks import format_nodes
from nmlgen.source import Source
from nmlgen.spec.document import read_text


def seats(directory: Path, **sections: Any) -> tuple[Seat, ...]:
    return placement(load_spec(spec(directory, **sections)).experiment)


@rows(
    ("name", "expected"),
    [
        ("one program", [[0, 1, 2, 3], [4, 5, 6, 7]]),
        ("I/O beside", [[0, 1, 2, 3, 8, 10], [4, 5, 6, 7, 9]]),
        ("I/O on a node of its own", [[0, 1, 2, 3], [4, 5, 6]]),
        ("one node", [[0, 1, 2, 3, 4]]),
        ("processors", [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]),
        ("two programs on the same nodes", [[0, 1, 2, 3, 8, 9, 10, 11], [4, 5, 6, 7, 12, 13, 14]]),
        ("two programs on nodes of their own", [[0, 1, 2, 3, 8], [4, 5, 6, 7], [9, 10, 11]]),
        ("three programs", [[0, 1, 2, 3, 8, 9, 10, 11, 15, 16], [4, 5, 6, 7, 12, 13, 14, 17]]),
        ("seats that are said", [[0, 1, 2, 3, 11, 12, 13, 15, 16], [4, 5, 6, 7, 8, 9, 10, 14]]),
        ("heterogeneous", [[0, 1, 2, 3, 8], [4, 5, 6, 7], [9, 10, 11], [12, 13, 14]]),
        (
            "heterogeneous with output",
            [[0, 1, 2, 3, 8, 9, 10], [4, 5, 6, 7, 11], [12, 13, 14], [15, 16, 17]],
        ),
    ],
)
def test_ranks_by_node(tmp_path: Path, name: str, expected: list[list[int]]) -> None:
    experiment = load_spec(spec(tmp_path, **CASES[name])).experiment
    assert [list(ranks) for ranks in ranks_by_node(experiment)] == expected


@rows("name", CASES)
def test_nobody_shares(tmp_path: Path, name: str) -> None:
    """No core and no GPU is given twice on a node; work ranks on GPUs have one, others none."""
    found = seats(tmp_path, **CASES[name])
    experiment = load_spec(spec(tmp_path, **CASES[name])).experiment
    for node in {seat.node for seat in found}:
        here = [seat for seat in found if seat.node == node]
        cores = [core for seat in here for core in seat.cores]
        gpus = [seat.gpu for seat in here if seat.gpu is not None]
        assert len(set(cores)) == len(cores)
        assert len(set(gpus)) == len(gpus)
    for seat in found:
        assert seat.cores
        assert (seat.gpu is not None) == (experiment.programs[seat.program].uses_gpus and seat.kind == "work")


def test_what_a_program_has_on_each_node(tmp_path: Path) -> None:
    """Behind the models, those of programs that are none; nobody's rank is left."""
    experiment = load_spec(spec(tmp_path, models={"atm": ATM, "oce": OCE}, programs={"output": HIOPY})).experiment
    assert [sum(node.crew.values()) for node in nodes(experiment)] == [len(node.ranks) for node in nodes(experiment)]
    assert sum(node.crew.get((2, "task"), 0) for node in nodes(experiment)) == 3
    shown = format_nodes(nodes(experiment), ["atm", "oce", "output"])
    assert "; output: 2 ranks" in shown
    assert "of no model" not in shown


def test_cores_near_to_gpus(tmp_path: Path) -> None:
    """Ranks with a GPU keep what is left of its cores; the others are dealt to NUMA nodes."""
    found = seats(tmp_path, models={"atm": ATM, "oce": OCE}, programs={"output": HIOPY})
    first = {seat.rank: (seat.gpu, seat.cores, seat.numa, seat.card) for seat in found if seat.node == 0}
    assert first == {
        0: (0, (8, 9, 10), (1,), "mlx5_1:1"),
        1: (1, (12,), (1,), "mlx5_1:1"),
        2: (2, (0, 1, 2, 3), (0,), "mlx5_0:1"),
        3: (3, (4, 5), (0,), "mlx5_0:1"),
        8: (None, (15,), (1,), "mlx5_1:1"),
        9: (None, (7,), (0,), "mlx5_0:1"),
        10: (None, (13,), (1,), "mlx5_1:1"),
        11: (None, (14,), (1,), "mlx5_1:1"),
        15: (None, (6,), (0,), "mlx5_0:1"),
        16: (None, (11,), (1,), "mlx5_1:1"),
    }


@rows(
    ("own", "expected"),
    [({}, [[9, 10, 11], [12, 13, 14], [15, 16, 17]]), ({"io_nodes": 1}, [[9, 10, 11], [12, 13, 14], [15]])],
)
def test_nodes_for_output_are_the_last_of_a_part(
    tmp_path: Path, own: dict[str, Any], expected: list[list[int]]
) -> None:
    models = {"atm": ATM, "oce": {**OCE, "job": {"partition": "other", "nodes": 3}, **own}}
    experiment = load_spec(spec(tmp_path, models=models)).experiment
    assert [list(ranks) for ranks in ranks_by_node(experiment)][2:] == expected


def test_ranks_that_just_fit_stay_within_their_numa_nodes(tmp_path: Path) -> None:
    """Of two NUMA nodes with eight cores each has room for two ranks of three; five need cores of both, as one of all
    cores does."""
    for count, width, numa in (
        (4, 3, [(0,), (0,), (1,), (1,)]),
        (5, 3, [(0,), (0,), (0, 1), (1,), (1,)]),
        (1, 16, [(0, 1)]),
    ):
        model = {"device": "cpu", "tasks_per_node": count, "cpus_per_task": width}
        found = seats(tmp_path, model=model, **one_program(num_io_procs=0), job={"nodes": 1, "time": "02:00:00"})
        assert [seat.numa for seat in found] == numa


@pytest.mark.parametrize(
    ("name", "kind", "names"),
    [
        ("one program", "work", ["model.device"]),
        ("processors", "work", ["model.device", "model.tasks_per_node", "model.cpus_per_task"]),
        (
            "two programs on nodes of their own",
            "work",
            ["models.oce.device", "models.oce.tasks_per_node", "models.oce.nodes"],
        ),
        ("heterogeneous", "work", ["models.oce.device", "models.oce.tasks_per_node", "models.oce.job.nodes"]),
    ],
)
def test_what_says_where_a_rank_sits(tmp_path: Path, name: str, kind: str, names: list[str]) -> None:
    experiment = load_spec(spec(tmp_path, **CASES[name])).experiment
    seat = [seat for seat in placement(experiment) if seat.kind == kind][-1]
    assert [setting.name for setting in reason(experiment, seat)[1]] == names


def test_a_partition_that_nobody_knows_has_no_gpus_that_are_known(tmp_path: Path) -> None:
    experiment = load_spec(spec(tmp_path, **CASES["one program"])).experiment
    (program,) = experiment.programs
    assert facts_of(experiment, program).gpus is not None
    partition = evolve(experiment.directives["partition"], certainty=Certainty.UNKNOWN)
    unsure = evolve(experiment, directives={**experiment.directives, "partition": partition})
    assert facts_of(unsure, evolve(program, job={})).gpus is None


def test_nobody_is_bound_to_cores_that_nobody_knows(tmp_path: Path) -> None:
    experiment = load_spec(spec(tmp_path, {"device": "cpu", "tasks_per_node": 3}, **one_program())).experiment
    machine = evolve(experiment.machine, cores_per_node=None, partitions={})
    assert {seat.cores for seat in placement(evolve(experiment, machine=machine))} == {()}


def test_a_gpu_beyond_those_that_are_known_has_cores_of_any(tmp_path: Path) -> None:
    job = {"nodes": 1, "gpus_per_node": 5, "time": "02:00:00"}
    found = seats(tmp_path, model=GPU, **one_program(num_io_procs=0), job=job)
    assert [(seat.gpu, seat.card) for seat in found][3:] == [(3, "mlx5_0:1"), (4, "mlx5_1:1")]


def test_each_program_has_its_nodes_for_output(tmp_path: Path) -> None:
    models = {"atm": {**ATM, "io_nodes": 1}, "oce": {**OCE, "tasks": 4, "io_nodes": 2}}
    experiment = load_spec(spec(tmp_path, models=models, job={"nodes": 4, "time": "02:00:00"})).experiment
    assert [(place.work, place.apart) for place in places(experiment)] == [
        (range(1), range(1, 2)),
        (range(1), range(2, 4)),
    ]


def test_ranks_of_the_master_namelist(tmp_path: Path) -> None:
    """They count the ranks of ICON alone, in the order of the parts of a heterogeneous job."""
    experiment = load_spec(spec(tmp_path, **CASES["heterogeneous"])).experiment
    entries = [model.entry.settings for model in experiment.models]
    assert [(e["model_min_rank"].value, e["model_max_rank"].value) for e in entries] == [(9, 14), (0, 8)]
    assert experiment.tasks.value == 15
    experiment = load_spec(spec(tmp_path, **CASES["heterogeneous with output"])).experiment
    entries = [model.entry.settings for model in experiment.models]
    assert [(e["model_min_rank"].value, e["model_max_rank"].value) for e in entries] == [(0, 8), (9, 14)]
    assert experiment.directives["ntasks"].value == 12


@rows(
    ("sections", "message", "advice"),
    [
        (
            {"model": GPU, **one_program(), "job": {"nodes": 2, "ntasks_per_node": 4}},
            "job.ntasks_per_node stands beside a device",
            "tasks_per_node or tasks",
        ),
        (
            {"model": GPU, **one_program(), "launch": {"options": ["--distribution=cyclic"]}},
            "launch.options has --distribution=cyclic beside a device",
            "the placement makes it",
        ),
        (
            {"model": GPU, **one_program(), "launch": {"command": "mpirun"}},
            "ranks are placed by srun only",
            "launch.command srun",
        ),
        (
            {"model": GPU, **one_program(), "job": {"nodes": 2, "partition": "other"}},
            "model.device is gpu, and partition other of site ",
            "job.partition compute",
        ),
        (
            {"model": {"device": "cpu"}, **one_program()},
            "nothing says how many tasks model has",
            "model.tasks_per_node",
        ),
        (
            {"models": {"atm": {**ATM, "seats": "4 on 0-2"}, "oce": OCE}},
            "models.atm has a rank on node 2, and its nodes are 0 to 1",
            "nodes below 2",
        ),
        (
            {"models": {"atm": {**ATM, "seats": "5 on 0, 1 on 1"}, "oce": OCE}},
            "5 ranks of models.atm compute on node 0, and it has 4 GPUs",
            "at most 4 work ranks on a node",
        ),
        (
            {"models": {"atm": {**ATM, "seats": "9999999 on 0-999"}, "oce": OCE}},
            "models.atm has 9999999000 ranks",
            "at most 600000 ranks",
        ),
        (
            {"models": {"atm": {**ATM, "seats": "4 on 0", "tasks": 4}, "oce": OCE}},
            "models.atm.tasks stands beside models.atm.seats",
            "models.atm.seats alone",
        ),
        (
            {"models": {"atm": {**ATM, "tasks": 10}, "oce": OCE}},
            "9 ranks of models.atm compute, and its 2 nodes have 4 GPUs each",
            "at most 8 work ranks",
        ),
        (
            {"models": {"atm": ATM, "oce": {**OCE, "tasks_per_node": 13}}},
            "13 cores are needed on a node for 13 ranks of models.oce, and 11 are left",
            "fewer ranks on a node",
        ),
        (
            {"models": {"atm": ATM, "oce": {**OCE, "nodes": 2}}},
            "the job has 2 nodes, and 2 of them are asked for by single programs",
            "job.nodes above 2",
        ),
        (
            {"models": {"atm": {**ATM, "cpus_per_task": 5}, "oce": OCE}},
            "5 cores for a rank, near to its GPU are 4",
            "fewer",
        ),
        ({"models": {"atm": ATM}, "programs": {"x": {"tasks": 1}}}, "programs.x.command is not set", "what is started"),
        (
            {"models": {"atm": ATM}, "programs": {"atm": HIOPY}},
            "programs.atm is called like a model",
            "a name of its own",
        ),
        (
            {"models": {"atm": ATM, "oce": {**OCE, "job": {"partition": "other"}}}},
            "models.oce.job.nodes is not set",
            "how many nodes",
        ),
        (
            {"models": {"atm": {**ATM, "namelists": {"master_model_nml": {"model_min_rank": 0}}}, "oce": OCE}},
            "master_model_nml.model_min_rank is set beside a device",
            "the ranks follow",
        ),
        ({"model": GPU, **one_program(), "job": {"time": "01:00:00"}}, "job.nodes is not known", "a value"),
    ],
)
def test_what_cannot_be_placed(tmp_path: Path, sections: dict[str, Any], message: str, advice: str) -> None:
    with pytest.raises(SpecError) as error:
        load_spec(spec(tmp_path, **sections))
    found = [finding for finding in error.value.findings if message in finding.message]
    assert found, error.value.findings
    assert any(advice in note for note in found[0].notes)


def test_exactly_as_many_as_there_is_room_for(tmp_path: Path) -> None:
    """The other side of the limits: each GPU has a rank, each core one."""
    found = seats(tmp_path, models={"atm": {**ATM, "tasks": 9}, "oce": {**OCE, "tasks_per_node": 11}})
    assert len({(seat.node, seat.gpu) for seat in found if seat.gpu is not None}) == 8
    assert len({(seat.node, core) for seat in found if seat.node == 0 for core in seat.cores}) == 16


def test_all_have_nodes_of_their_own(tmp_path: Path) -> None:
    """Then none need be left."""
    own = {"atm": {**ATM, "nodes": 1}, "oce": {**OCE, "nodes": 1}}
    found = seats(tmp_path, models=own)
    assert {seat.node for seat in found if seat.program == 0} == {0}
    assert {seat.node for seat in found if seat.program == 1} == {1}
    with pytest.raises(SpecError, match="the job has 2 nodes, and 3 of them are asked for by single programs"):
        load_spec(spec(tmp_path, models={**own, "oce": {**OCE, "nodes": 2}}))


def test_a_preset_has_its_tasks_for_processors(tmp_path: Path) -> None:
    preset = tmp_path / "preset.yaml"
    preset.write_text("nmlgen: 1\nmodels: {atm: {tasks: 100}, oce: {tasks: 10}}\n")
    found = seats(tmp_path, extends=str(preset), models={"atm": ATM, "oce": component("ocean", tasks_per_node=3)})
    assert len(found) == 15


@pytest.mark.parametrize("name", CASES)
def test_a_build_comes_back(tmp_path: Path, name: str) -> None:
    loaded = load_spec(spec(tmp_path, **CASES[name]))
    build = tmp_path / "build"
    unchecked_build(loaded).write(build)
    imported = import_spec(build)
    assert imported.remarks == ()
    again = load_spec(read_text(Source("spec", imported.text)).plain())
    assert differences(loaded.experiment, again.experiment) == (), imported.text
    assert placement(again.experiment) == placement(loaded.experiment)
    assert compare(loaded, build).differences == ()


def test_another_placement_is_another_experiment(tmp_path: Path) -> None:
    one = load_spec(spec(tmp_path, **CASES["I/O beside"])).experiment
    other = load_spec(spec(tmp_path, **CASES["I/O on a node of its own"])).experiment
    assert "model.io_nodes" in str(differences(one, other))


def test_more_ranks_than_any_machine_has_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="has 4294967296 ranks"):
        load_spec(spec(tmp_path, model={"device": "cpu", "tasks_per_node": 2**31}, **one_program()))


def test_more_nodes_than_any_machine_has_are_refused(tmp_path: Path) -> None:
    sections: dict[str, Any] = CASES["heterogeneous"]
    models = sections["models"]
    apart = {**models["oce"], "job": {**models["oce"]["job"], "nodes": 2**63}}
    with pytest.raises(SpecError, match="nodes is 9223372036854775808"):
        load_spec(spec(tmp_path, **{**sections, "models": {**models, "oce": apart}}))


def test_very_many_ranks_of_all_programs_together_are_refused(tmp_path: Path) -> None:
    programs = {f"p{number}": {"command": "./x", "tasks": 300_000} for number in range(3)}
    atm = {**ATM, "device": "cpu", "tasks_per_node": 1}
    with pytest.raises(SpecError, match="has 300000 ranks, and with those ahead of it"):
        load_spec(spec(tmp_path, models={"atm": atm}, programs=programs))


def test_nodes_that_no_rank_is_dealt_to_are_not_gone_through() -> None:
    class Nodes:
        def __len__(self) -> int:
            return 10**6

        def __getitem__(self, some: slice) -> range:
            return range(10**6)[some]

        def __iter__(self) -> Any:
            raise AssertionError("all nodes are gone through")

    assert dealt(2, Nodes()) == [0, 1]  # type: ignore[arg-type]
    assert dealt(5, range(3)) == [0, 0, 1, 1, 2]
    assert dealt(0, range(3)) == []


def test_programs_on_one_node_are_each_looked_at_once(tmp_path: Path) -> None:
    def work(number: int) -> Any:
        programs = {f"p{at}": {"command": "./x", "tasks_per_node": 1} for at in range(number)}
        site = tmp_path / "wide.yaml"
        site.write_text("description: x\nmachine: {scheduler: slurm, file_system: unknown, cores_per_node: 2000}\n")
        atm = {**component("atmo"), "device": "cpu", "tasks_per_node": 1}
        document = spec(tmp_path, models={"atm": atm}, programs=programs, site=str(site))
        experiment = load_spec(document).experiment
        crew = [(at, "work" if not at else "task", None) for at in range(number + 1)]
        bench = seating._bench(experiment, crew)
        return lambda: seating._bound(experiment, crew, bench)

    assert not grows_too_fast(work, 60)


def test_nodes_that_each_hold_other_ranks_have_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document = spec(tmp_path, **CASES["seats that are said"])
    assert len({seat.node for seat in placement(load_spec(document).experiment)}) == 2
    monkeypatch.setattr(seating, "_MOST_LOOKED_AT", 120)
    with pytest.raises(SpecError, match="each of more than 1 nodes holds other ranks than all others"):
        load_spec({**document, "name": "again"})


def test_of_very_many_partitions_with_gpus_some_are_named(tmp_path: Path) -> None:
    site = tmp_path / "many.yaml"
    partitions = "".join(f"    p{number:02}: {{gpus: {{count: 1}}}}\n" for number in range(20))
    site.write_text(
        f"description: x\nmachine:\n  scheduler: slurm\n  file_system: unknown\n  partitions:\n{partitions}"
    )
    with pytest.raises(SpecError) as caught:
        load_spec(spec(tmp_path, GPU, **one_program(), site=str(site)))
    (finding,) = caught.value.findings
    assert finding.notes == (f"expected: job.partition {' or '.join(f'p{number:02}' for number in range(10))}",)
