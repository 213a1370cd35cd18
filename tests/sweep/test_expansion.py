"""Expansion: which points there are, in which order, under which identifiers; and that a point is the spec it says."""

from __future__ import annotations

import copy
import itertools
import pickle
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from rows import rows
from spec_strategies import specs
from specs import MAPPING, TEXT, unchecked_build

import nmlgen
from nmlgen import BuildError, SpecError, expand, load_spec
from nmlgen.checking import check_experiment
from nmlgen.errors import NmlgenError
from nmlgen.sweep import plan
from nmlgen.sweep.expansion import plan_of_spec
from nmlgen.sweep.plan import conflicts

GRID = {"parallel.num_io_procs": [0, 1, 2], "job.nodes": [1, 2]}


def values(**arguments):
    return [tuple(point.values.values()) for point in expand(MAPPING, **arguments)]


def complaint(section=None, **arguments):
    with pytest.raises(SpecError) as caught:
        list(expand({**MAPPING, **({"sweep": section} if section else {})}, **arguments))
    return caught.value.findings[0]


# --- Which points ----------------------------------------------------------------------------------------


def test_the_last_key_of_a_grid_varies_fastest():
    assert values(grid=GRID) == [(0, 1), (0, 2), (1, 1), (1, 2), (2, 1), (2, 2)]


def test_zip_varies_within_the_grid():
    found = values(grid={"job.nodes": [1, 2]}, zip={"grid.name": ["R2B5", "R2B6"], "parallel.nproma": [8, 16]})
    assert found == [(1, "R2B5", 8), (1, "R2B6", 16), (2, "R2B5", 8), (2, "R2B6", 16)]


def test_points_come_last_and_once():
    found = values(
        grid=GRID,
        exclude=["nodes == 2 and num_io_procs == 0"],
        points=[{"job.nodes": 2, "parallel.num_io_procs": 1}, {"parallel.num_io_procs": 0, "job.nodes": 2}],
    )
    assert found == [(0, 1), (1, 1), (1, 2), (2, 1), (2, 2), (0, 2)]


def test_what_the_grid_has_is_looked_up_and_not_searched_for(monkeypatch):
    def looks(count):
        told = 0

        def identity(value, own=plan._identity):
            nonlocal told
            told += 1
            return own(value)

        monkeypatch.setattr(plan, "_identity", identity)
        given = [{"job.nodes": number + 1} for number in range(count)]
        assert len(values(grid={"job.nodes": list(range(1, count + 1))}, points=given)) == count
        return told

    assert looks(60) <= 2 * looks(30)


@pytest.mark.parametrize(
    "section",
    [
        {"grid": GRID},
        {"grid": GRID, "include": ["num_io_procs < nodes"], "points": [{"job.nodes": 7}], "repeat": 2},
        {
            "grid": {"parallel.nproma": list(range(4, 404))},
            "zip": {"job.nodes": [*range(1, 51)]},
            "exclude": ["nodes > 25"],
        },
        {
            "points": [{"job.nodes": number + 1} for number in range(12000)],
            "derive": {"parallel.nproma": "1 / (nodes % 2)"},
        },
    ],
)
@pytest.mark.parametrize("most", [None, 3, 7, 20])
def test_some_rows_from_all_over_a_sweep(section, most):
    whole = plan_of_spec(load_spec({**MAPPING, "sweep": section}))
    every = [(row, str(error)) for row, error in whole.rows()]
    rows, total = whole.drawn(most)
    drawn = [(row, str(error)) for row, error in rows]
    assert len(drawn) == min(len(every), most or len(every))
    assert total >= len(every)
    places = [every.index(row) for row in drawn]
    assert places == sorted(places)
    assert [row for row, _ in rows] == [row for row, _ in whole.drawn(most)[0]]
    if len(drawn) == len(every):
        assert total == len(every)
    else:
        assert places != list(range(len(drawn)))


def test_all_points_once_and_then_all_once_more():
    once = list(expand(MAPPING, grid={"job.nodes": [1, 2]}, name="n{nodes}"))
    twice = list(expand(MAPPING, grid={"job.nodes": [1, 2]}, name="n{nodes}", repeat=2))
    assert [dict(point.values) for point in twice] == [
        {"repeat": number, "job.nodes": nodes} for number in (1, 2) for nodes in (1, 2)
    ]
    assert [point.name for point in twice] == ["n1", "n2", "n1-repeat2", "n2-repeat2"]
    assert [point.id for point in twice[:2]] == [point.id for point in once]
    assert len({point.id for point in twice}) == 4
    assert twice[3].overrides == ("job.nodes=2", 'name="n2-repeat2"')


def test_a_point_that_is_given_is_repeated_as_the_grid_is():
    found = values(grid={"job.nodes": [1]}, points=[{"job.nodes": 1}, {"job.nodes": 2}], repeat=2)
    assert found == [(1, 1), (1, 2), (2, 1), (2, 2)]


def test_members_have_a_seed_and_a_name_of_their_own():
    members = expand(
        {**MAPPING, "sweep": {"repeat": 3, "name": "member{repeat}", "derive": {"namelists.x_nml.seed": "10 * repeat"}}}
    )
    assert [(point.name, point.values["namelists.x_nml.seed"]) for point in members] == [
        ("member1", 10),
        ("member2", 20),
        ("member3", 30),
    ]


def test_one_repetition_is_none():
    assert values(grid={"job.nodes": [1, 2]}, repeat=1) == [(1,), (2,)]


@pytest.mark.parametrize("repeat", [0, 1001, 2.5, "3"])
def test_how_often_points_are_repeated(repeat):
    assert "repeat" in complaint({"grid": {"job.nodes": [1]}, "repeat": repeat}).message


def test_repetitions_count_among_the_combinations():
    grid = {"job.nodes": list(range(1, 1001)), "parallel.nproma": list(range(1, 1001))}
    assert "has 2000000 combinations" in complaint(grid=grid, repeat=2).message


def test_what_is_worked_out_at_each_combination_counts():
    grid = {"job.nodes": list(range(1, 501)), "parallel.nproma": list(range(1, 501))}
    found = complaint(grid=grid, include=["nodes > 1"], exclude=["nproma == nodes"], derive={"environment.A": "nodes"})
    assert found.message == "the sweep has 250000 combinations"
    assert found.notes == ("expected: at most 166666 with 3 conditions and derived values",)
    derive = {f"environment.A{number}": "nodes" for number in range(101)}
    assert complaint(grid={"job.nodes": [1]}, derive=derive).message == "the sweep derives 101 values"


def test_conditions_choose():
    assert values(grid=GRID, include=["num_io_procs == 0", "nodes == 2"]) == [(0, 1), (0, 2), (1, 2), (2, 2)]
    assert values(grid=GRID, include=["nodes == 2"], exclude=["num_io_procs == 2", "num_io_procs == 0"]) == [(1, 2)]


def test_conditions_know_what_the_spec_says():
    found = values(grid=GRID, include=["parallel.num_io_procs * job.ntasks_per_node > 32"])
    assert found == [(2, 1), (2, 2)]


def test_derived_values():
    derive = {"output.atm.stream_partitions_ml": "max(1, num_io_procs)", "parallel.nproma": 16}
    point = list(expand(MAPPING, grid=GRID, derive=derive))[-1]
    assert point.values["output.atm.stream_partitions_ml"] == 2
    assert point.spec.find("output.atm.stream_partitions_ml").value == 2
    own = expand(MAPPING, points=[{"parallel.num_io_procs": 3, "output.atm.stream_partitions_ml": 1}], derive=derive)
    assert next(own).values["output.atm.stream_partitions_ml"] == 1


def test_names():
    found = expand(MAPPING, grid=GRID, name="{name}.{restart.restart_write_mode}-{num_io_procs + 1}_{job.nodes}")
    assert [point.name for point in found][:2] == ["wave.joint-procs-multifile-1_1", "wave.joint-procs-multifile-1_2"]
    point = next(expand(MAPPING, grid=GRID))
    assert point.name == f"wave-{point.id}" == point.spec.experiment.name
    assert [point.name for point in expand(MAPPING, grid={"name": ["a", "b"]})] == ["a", "b"]


def test_null_takes_a_key_away():
    with_it, without = expand(MAPPING, grid={"restart.restartTimeIntval": ["P10D", None]})
    assert with_it.spec.find("restart.restartTimeIntval").value == "P10D"
    assert not without.spec.find("restart.restartTimeIntval").is_written


def test_another_site_and_another_preset():
    grid = {"site": ["levante", "lumi"], "extends": ["icon/jabw", "icon/nh_dcmip_tc_52"], "job.nodes": [1, 2]}
    for point in expand(MAPPING, grid=grid, name="{id}"):
        assert point.spec.experiment.machine.name == point.values["site"]
        assert_same(point)


def test_the_section_of_a_spec(tmp_path):
    section = "sweep:\n  grid: {parallel.num_io_procs: [1, 2]}\n  name: io{num_io_procs}\n"
    (tmp_path / "spec.yaml").write_text(TEXT + section)
    spec = load_spec(tmp_path / "spec.yaml")
    assert [point.name for point in expand(spec)] == ["io1", "io2"]
    assert [point.name for point in expand(spec, name="p{num_io_procs}", exclude=["num_io_procs == 1"])] == ["p2"]
    assert [point.name for point in expand(spec, grid={"job.nodes": [3]}, name="{job.nodes}")] == ["3"]
    finding = next(iter(expand(spec))).spec.find("parallel.num_io_procs")
    assert (finding.origin.layer, str(finding.span)) == ("sweep", f"{tmp_path}/spec.yaml:18:33")


def test_a_preset_brings_a_sweep(tmp_path):
    (tmp_path / "preset.yaml").write_text("sweep: {grid: {job.nodes: [1, 2]}}\n")
    spec = {**MAPPING, "extends": ["icon/jabw", str(tmp_path / "preset.yaml")]}
    assert [point.values["job.nodes"] for point in expand(spec)] == [1, 2]


# --- What is refused -------------------------------------------------------------------------------------


@rows(
    ("arguments", "code", "message"),
    [
        ({}, "SPC012", "the sweep has no points"),
        ({"grid": {"job.nodes": []}}, "SPC004", "sweep.grid.job.nodes is an empty list"),
        ({"grid": {"job.nodes": [1, 2, 1]}}, "SPC004", "sweep.grid.job.nodes is a list"),
        ({"zip": {"job.nodes": [1, 2], "name": ["a"]}}, "SPC012", "the lists of zip differ in length"),
        ({"grid": GRID, "exclude": ["nodes ="]}, "SPC012", '"=" is not understood'),
        ({"grid": GRID, "exclude": ["nods == 1"]}, "SPC012", '"nods" is no key of the sweep'),
        ({"grid": GRID, "include": ["nodes"]}, "SPC012", "a condition is true or false"),
        ({"grid": GRID, "derive": {"job.ntasks": "nodes +"}}, "SPC012", "ends too early"),
        ({"grid": GRID, "name": "{nodes"}, None, None),
        ({"grid": GRID, "name": "{nodes)}"}, "SPC012", '")" is not understood'),
        ({"grid": {**GRID, "parallel_nml.num_io_procs": [1]}}, "SPC012", "set the same"),
        ({"grid": {"lustre.output": [{}], "lustre.output.pool": ["x"]}}, "SPC012", "set the same"),
        ({"grid": {"a.x": [1], "b.x": [2]}, "exclude": ["x == 1"]}, "SPC012", '"x" may be any of a.x, b.x'),
    ],
)
def test_a_sweep_that_cannot_be_expanded(arguments, code, message):
    if code is None:
        assert next(expand(MAPPING, **arguments)).name == "-nodes"
        return
    finding = complaint(**arguments)
    assert finding.code == code
    assert message in finding.message


def test_points_that_are_none():
    grid = {"job.nodes": [0, "two", 1], "parallel.num_io_procs": [2]}
    rejected = []
    kept = list(expand(MAPPING, grid=grid, invalid="skip", rejected=lambda *said: rejected.append(said)))
    assert [point.values["job.nodes"] for point in kept] == [1]
    assert [(point.values["job.nodes"], findings[0].code) for point, findings in rejected[:2]] == [
        (0, "SPC004"),
        ("two", "SPC004"),
    ]
    points = expand(MAPPING, grid=grid)
    first = next(points)
    with pytest.raises(SpecError, match=r"job\.nodes is 0, less than 1"):
        nmlgen.check(first)
    with pytest.raises(SpecError, match=r"job\.nodes is 0, less than 1"):
        list(expand(MAPPING, grid=grid, invalid="stop"))


def test_points_in_which_the_rules_find_errors():
    grid = {"parallel.num_io_procs": [1, 64]}
    assert len(list(expand(MAPPING, grid=grid))) == 2
    assert [point.values for point in expand(MAPPING, grid=grid, invalid="skip")] == [{"parallel.num_io_procs": 1}]
    *_, last = expand(MAPPING, grid=grid)
    assert {finding.code for finding in last.problems} == {finding.code for finding in nmlgen.check(last).errors}
    with pytest.raises(BuildError):
        nmlgen.build(last)


def test_a_value_that_cannot_be_derived():
    first, second = expand(MAPPING, grid={"parallel.nproma": [0, 4]}, derive={"job.nodes": "8 // nproma"})
    assert [finding.code for finding in first.problems] == ["SPC012"]
    assert "divides by zero" in first.problems[0].message
    assert second.spec.find("job.nodes").value == 2


# --- Identifiers -----------------------------------------------------------------------------------------


def test_identifiers_are_those_of_the_values():
    before = {tuple(point.values.items()): point.id for point in expand(MAPPING, grid=GRID)}
    more = {key: [7, *given, 9] for key, given in reversed(GRID.items())}
    after = {tuple(reversed(point.values.items())): point.id for point in expand(MAPPING, grid=more)}
    assert before.items() <= after.items()
    assert len(set(after.values())) == len(after) == 20


def test_an_identifier_never_changes():
    (point,) = expand(MAPPING, points=[{"parallel_nml.num_io_procs": 4, "job.time": "00:10:00", "darshan": True}])
    assert point.overrides[:-1] == ("darshan=true", 'job.time="00:10:00"', "parallel.num_io_procs=4")
    assert point.id == "630f9a982f9b"


def test_values_of_other_types_are_other_points():
    found = expand(MAPPING, grid={"namelists.io_nml.dt_checkpoint": [1, 1.5, "1", True, [1], None]})
    assert len({point.id for point in found}) == 6


# --- A point is the spec that it says --------------------------------------------------------------------


def said_of(report):
    return [(f.code, f.severity.value, f.message, f.notes) for f in report.findings]


def assert_same(point, base=MAPPING):
    """A point is the spec with --set, to the byte; findings, too."""
    plain = load_spec(base, point.overrides)
    assert unchecked_build(point.spec).files == unchecked_build(plain).files
    report, expected = point.report, check_experiment(plain.experiment, plain.suppressions, plain.beginning)
    assert sorted(said_of(report)) == sorted(said_of(expected))
    assert {(u.code, u.setting) for u in report.undecided} == {(u.code, u.setting) for u in expected.undecided}


def leaves(mapping, path=()):
    for key, value in mapping.items():
        if isinstance(value, dict):
            yield from leaves(value, (*path, key))
        elif not any("." in part or "%" in part or " " in part for part in (*path, key)):
            yield ".".join((*path, key)), value


def written_out(base, given):
    """The base with values written into it, where no other section says the same."""
    whole = copy.deepcopy(base)
    for key, value in given.items():
        *sections, last = key.split(".")
        place = whole
        for section in sections:
            if not isinstance(place.get(section), dict):
                place[section] = {}
            place = place[section]
        place[last] = value
    return whole


def test_values_that_say_nothing_or_much():
    points = [{}, {"namelists": {}}, {"lustre.output": {}}, {"job.comment": "\x85\u2028ä\U0001f300"}]
    found = list(expand(MAPPING, points=points, name="{id}"))
    assert found[0].id == found[1].id != found[2].id
    for point in found:
        assert_same(point)


@settings(
    max_examples=15,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=list(HealthCheck),
)
@given(specs(), st.lists(specs(), min_size=1, max_size=2), st.data())
def test_points_are_plain_specs(base, others, data):
    points = []
    for other in others:
        known = [(k, v) for k, v in leaves(other) if k.split(".")[0] not in ("nmlgen", "name", "site", "node_local")]
        chosen = st.lists(st.sampled_from(known), min_size=1, max_size=5, unique_by=lambda item: item[0])
        points.append(dict(data.draw(chosen)))
    for point in expand(base, points=iter(points)):
        try:
            plain = load_spec(base, point.overrides)
        except NmlgenError as error:
            with pytest.raises(type(error)):
                point.spec  # noqa: B018
            continue
        assert plain.tree.plain() == point.spec.tree.plain()
        assert_same(point, base)
        try:
            in_order = dict(sorted(point.values.items()))  # new streams come in that of their names
            whole = load_spec(written_out(base, {**in_order, "name": point.name}))
        except SpecError:
            assume(False)  # two sections say the same
        expected = check_experiment(whole.experiment, whole.suppressions, whole.beginning)
        assert sorted(said_of(point.report)) == sorted(said_of(expected))


def test_every_point_of_a_grid_is_a_plain_spec():
    grid = {
        "parallel.num_io_procs": [0, 1, 64],
        "restart.restart_write_mode": ["sync", "async"],
        "output.atm.output_interval": ["PT1H", "PT7M"],
    }
    for point in expand(MAPPING, grid=grid, derive={"output.atm.stream_partitions_ml": "max(1, num_io_procs)"}):
        assert_same(point)


def test_a_sweep_does_not_show_in_its_points(tmp_path):
    (tmp_path / "a.yaml").write_text(TEXT + "sweep: {grid: {job.nodes: [1, 2]}}\n")
    (tmp_path / "b.yaml").write_text(TEXT + "# a comment\nsweep: {grid: {job.nodes: [2, 3]}}\n")
    first = {point.id: nmlgen.build(point).files for point in expand(tmp_path / "a.yaml")}
    second = {point.id: nmlgen.build(point).files for point in expand(tmp_path / "b.yaml")}
    (shared,) = first.keys() & second.keys()
    assert first[shared] == second[shared]


# --- With ------------------------------------------------------------------------------------------------


def test_with():
    spec = load_spec(MAPPING)
    other = spec.with_({"job.nodes": 4, "lustre.output": {"stripe_count": 2, "stripe_size": "4M"}})
    assert other.overrides == ("job.nodes=4", "lustre.output.stripe_count=2", 'lustre.output.stripe_size="4M"')
    assert other.find("job.nodes").value == 4
    assert spec.find("job.nodes").value == 2
    assert other.with_({"job.nodes": 2}).find("job.nodes").value == 2
    assert unchecked_build(other).files == unchecked_build(load_spec(MAPPING, other.overrides)).files
    assert spec.with_({"site": "lumi"}).experiment.machine.name == "lumi"
    assert spec.with_({"site": "lumi", "job.nodes": 8}).with_({"site": "levante"}).find("job.nodes").value == 8


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("job.nodes", 0, "job.nodes is 0, less than 1"),
        ("job.nods", 1, 'there is no key "nods" in job'),
        ("jobs", 1, 'there is no key "jobs"'),
        ("job..nodes", 1, "is not the path of a key"),
        ("job.nodes", {1}, "is not a value that a spec can hold"),
        ("job.nodes", float("nan"), "is not a value that a spec can hold"),
        ("run_directory", "a\nb", "run_directory is"),
    ],
)
def test_with_what_a_spec_cannot_have(key, value, message):
    with pytest.raises(SpecError, match=message.replace(".", r"\.")):
        load_spec(MAPPING).with_({key: value})


# --- Costs -----------------------------------------------------------------------------------------------


def test_points_are_made_when_they_are_asked_for():
    def endless():
        for number in itertools.count(1):
            yield {"job.nodes": number}

    points = expand(MAPPING, points=endless())
    assert [next(points).values["job.nodes"] for _ in range(3)] == [1, 2, 3]


def test_memory_does_not_grow_with_the_points():
    grid = {"parallel.nproma": list(range(1, 400)), "job.nodes": list(range(1, 500))}
    points = expand(MAPPING, grid=grid)
    tracemalloc.start()
    try:
        taken = []
        for _ in range(3):
            assert sum(1 for _ in itertools.islice(points, 3000)) == 3000
            taken.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert taken[2] - taken[1] < 20_000


def test_points_travel():
    first, second = list(expand(MAPPING, grid={"job.nodes": [1, 2]}, name="n{nodes}"))
    files = nmlgen.build(second).files
    there = pickle.loads(pickle.dumps([first, second]))
    assert there[1].values == second.values
    assert nmlgen.build(there[1]).files == files


def test_threads():
    points = list(expand(MAPPING, grid=GRID))
    alone = [unchecked_build(point.spec).files for point in expand(MAPPING, grid=GRID)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda point: (said_of(point.report), unchecked_build(point.spec).files), points * 3))
    assert [files for _, files in together] == alone * 3


def test_keys_that_set_the_same_are_found_in_whatever_order():
    assert conflicts(("a.b", "a", "c", "a.b.d", "a.c")) == (
        "a and a.b set the same",
        "a.b.d and a set the same",
        "a.b.d and a.b set the same",
        "a.c and a set the same",
    )
    assert conflicts(("a", "ab", "b.a", "b.c")) == ()
    assert conflicts(("a", "a")) == ("a is varied twice",)
