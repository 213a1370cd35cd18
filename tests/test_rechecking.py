"""Who checks one point of a sweep after the other says of each what is said by who sees nothing else."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator

import pytest
from attrs import evolve
from rows import rows
from specs import MAPPING, changed

import nmlgen
from nmlgen.checking import check_experiment, verdict
from nmlgen.experiment.component import Component
from nmlgen.experiment.group import Group
from nmlgen.experiment.memory import all_kept, remembered
from nmlgen.experiment.setting import Origin, Setting
from nmlgen.experiment.watched import Question, WatchedExperiment
from nmlgen.models.icon.continuation import can_go_on
from nmlgen.rules import all_rules
from nmlgen.rules.rule import Rule

CHAIN = changed(
    restart={"restartTimeIntval": "P5D"},
    output={"atm": {"steps_per_file": 1, "file_interval": None, "stream_partitions_ml": 2}},
)
COUPLED = {
    "nmlgen": 1,
    "name": "both",
    "extends": "icon/coupled",
    "site": "levante",
    "model": {"executable": "icon/bin/icon", "directory": "/work/bb1234/icon", "pool": "/pool"},
    "job": {"account": "bb1234", "nodes": 4, "time": "08:00:00"},
    "models": {"atmo": {"tasks": 384}, "ocean": {"tasks": 128}},
}


def group(*, is_open: bool = False, **settings: Setting) -> Group:
    return Group("run_nml", settings, is_open=is_open)


# --- What it notes ---------------------------------------------------------------------------------------


def asked_by(rule: type[Rule], number: int | None, watched: WatchedExperiment) -> set[Question]:
    with watched.notes.taken() as asked:
        verdict(rule, watched if number is None else watched.components[number], None)
    return asked.questions()


@pytest.mark.parametrize("mapping", [CHAIN, COUPLED], ids=["chain", "coupled"])
def test_what_others_have_worked_out_is_asked_all_the_same(mapping):
    experiment = nmlgen.load_spec(mapping).experiment
    check_experiment(experiment)  # what all experiments share is worked out
    shared = WatchedExperiment(experiment)
    for rule in all_rules():
        for subject in rule.subjects(experiment):
            number = getattr(subject, "number", None)
            alone = asked_by(rule, number, WatchedExperiment(experiment))
            assert alone <= asked_by(rule, number, shared), rule.code


def test_a_watched_experiment_answers_as_the_plain_one():
    for mapping in (CHAIN, COUPLED):
        experiment = nmlgen.load_spec(mapping).experiment
        watched = WatchedExperiment(experiment)
        for rule in all_rules():
            for subject in rule.subjects(experiment):
                twin = watched if subject is experiment else watched.components[subject.number]
                with watched.notes.taken() as asked:
                    found, plain = verdict(rule, twin, None), verdict(rule, subject, None)
                assert found.findings == plain.findings
                assert repr(found.undecided) == repr(plain.undecided)
                assert asked.questions(), rule.code


def test_who_wants_errors_only_hears_of_all_of_them():
    for mapping in (CHAIN, COUPLED, changed(parallel={"num_io_procs": 64})):
        experiment = nmlgen.load_spec(mapping).experiment
        every, errors = (check_experiment(experiment, only_errors=only).errors for only in (False, True))
        assert every == errors
    assert errors


A, B = Setting("a", (Origin("spec", 1),)), Setting("a", (Origin("spec", 1),))


@pytest.mark.parametrize(
    ("before", "thing", "settled"),
    [
        ({"a": A}, {"a": A}, True),
        ({"a": A}, {"a": A, "b": B}, True),
        ({"a": A}, {"a": B}, False),  # alike, but somebody must look
        ({"a": A}, {}, False),
        ({}, {"a": A}, False),
        ({}, {}, True),
        (None, {"a": A}, False),
        ({"a": A}, None, False),
    ],
)
def test_the_very_same_behind_a_key_is_settled(before, thing, settled):
    experiment = WatchedExperiment(nmlgen.load_spec(MAPPING).experiment)
    with experiment.notes.taken() as asked:
        experiment.directives.get("a")
    (question,) = (question for question in asked.questions() if question.arguments == ("a",))
    assert question.is_settled(before, thing) is settled


@rows(
    ("name", "before", "thing", "settled"),
    [
        ("a", group(a=A), group(a=A), True),
        ("A", group(a=A), group(a=A), True),
        ("a", group(a=A), group(a=A, b=B), True),
        ("a", group(a=A), group(a=B), False),
        ("a", group(b=A), group(b=B), True),
        ("a", group(a=A), group(), False),
        ("a", group(), group(a=A), False),
        ("a", group(a=A), group(a=A, is_open=True), False),
        ("a", group(a=A, is_open=True), group(a=A, is_open=True), True),
        ("a", None, group(a=A), False),
        ("a", group(a=A), None, False),
        ("a%b", group(a=A), group(a=B), False),  # given with all its components
        ("a%b", group(a=A), group(a=A), False),
    ],
)
def test_what_somebody_wrote_anew_in_a_group_is_not_settled(name, before, thing, settled):
    experiment = WatchedExperiment(nmlgen.load_spec(MAPPING).experiment)
    with experiment.notes.taken() as of_component:
        experiment.components[0]["run_nml", name]
    with experiment.notes.taken() as of_group:
        experiment.components[0].group("run_nml").effective(experiment.registry, "run_nml", name)
    both = of_component.questions() | of_group.questions()
    asked = {question for question in both if question.arguments[-1:] == (name,)}
    assert len(asked) == 2
    assert {question.is_settled(before, thing) for question in asked} == {settled}


def test_other_questions_are_never_settled():
    experiment = WatchedExperiment(nmlgen.load_spec(MAPPING).experiment)
    with experiment.notes.taken() as asked:
        experiment.components[0].group("run_nml")
        assert experiment.name
    assert len(asked.questions()) == 2
    same = group(a=A)
    assert not any(question.is_settled(same, same) for question in asked.questions())


@remembered
def _all_directives(experiment):
    return [experiment.directives.get(f"name{number}") for number in range(200)]


@remembered
def _of_one(experiment, number):
    return experiment.environment.get(f"NAME{number}"), _all_directives(experiment)


@remembered
def _of_many(experiment):
    return [_of_one(experiment, number) for number in range(100)]


def test_what_many_have_asked_for_is_not_held_by_each_of_them():
    experiment = WatchedExperiment(nmlgen.load_spec(MAPPING).experiment)
    with experiment.notes.taken() as asked:
        _of_many(experiment)
    with experiment.notes.taken() as again:
        _of_many(experiment)
    wanted = {*(f"name{number}" for number in range(200)), *(f"NAME{number}" for number in range(100))}
    for one in (asked, again):
        assert {question.arguments[0] for question in one.questions()} == wanted
    held = [one._own for one in experiment.derived._asked.values()]
    assert (len(held), sum(map(len, held))) == (102, 300)


# --- What it says ----------------------------------------------------------------------------------------


ONE = [
    {},
    {"parallel.nproma": 8},
    {"parallel.nproma": 0},
    {"parallel.nproma": 0, "job.nodes": 3},
    {"parallel.num_io_procs": 80, "job.nodes": 3},
    {"parallel.num_io_procs": 80},
    {"parallel.num_io_proc": 1},
    {},
    {"output.atm.output_interval": "PT7M"},
    {"output.atm.output_interval": "PT7M", "restart.restart_write_mode": "sync"},
    {"output.two": {"output_interval": "PT2H", "file_interval": "P1D", "ml_varlist": ["temp", "nothing"]}},
    {"output.two": {"output_interval": "PT2H", "file_interval": "P1D", "ml_varlist": ["temp"]}},
    {"namelists.bogus_nml.a": 1},
    {"namelists.run_nml.iforcing": 3},
    {"namelists.run_nml.iforcing": 3, "job.time": "00:00:10"},
    {"site": "levante"},
    {"site": "levante", "job.partition": "compute"},
    {"model.release": "2025.04"},
    {"restart.restartTimeIntval": "P3D"},
    {"restart.restartTimeIntval": None},
    {"grid.num_lev": 1},
    {"time.stop": "2008-09-01T00:00:00Z"},
    {"environment.OMP_NUM_THREADS": 4, "job.cpus_per_task": 2},
    {"lustre.output.stripe_count": 4},
    {"input_files": {"a.nc": {"source": "/a"}}},
    {"mpi.hints.romio_cb_write": "enable"},
    {"namelists.nudging_nml.nudge_type": 4},
    {},
    {"namelists.nudging_nml.nudge_type": 1},
    {"namelists.nudging_nml.nudge_type": 4},
    {},
]
TWO = [
    {},
    {"models.ocean.parallel.num_io_procs": 500},
    {"models.ocean.time.modelTimeStep": "PT7M"},
    {"models.atmo.tasks": 300},
    {"models.atmo.tasks": 300, "models.ocean.parallel.nproma": 4},
    {"models.ocean.namelists.master_model_nml.model_name": "atmo"},
    {"models.ocean.namelists.master_model_nml.model_type": 98},
    {"models.ocean.namelists.run_nml.dtime": 1.0},
    {"job.nodes": 2},
    {"models.atmo.grid.num_lev": 10},
]


def said(report: nmlgen.Report) -> tuple[object, ...]:
    return report.findings, report.suppressed, [(u.code, u.setting, u.file, u.span) for u in report.undecided]


@pytest.mark.parametrize(
    ("mapping", "points", "step"), [(MAPPING, ONE, 1), (CHAIN, ONE, -1), (COUPLED, TWO, 1), (COUPLED, TWO, -1)]
)
def test_points_in_any_order(mapping, points, step):
    for point in nmlgen.expand(mapping, points=iter([{"name": "x", **values} for values in points[::step]])):
        try:
            spec = point.spec
        except nmlgen.SpecError:
            continue
        alone = evolve(spec.experiment)
        assert said(point.report) == said(check_experiment(alone, beginning=spec.beginning))
        assert can_go_on(spec.experiment) == can_go_on(alone)
        for look, *_ in all_kept():
            worked_out = [answer(look, component) for component in spec.experiment.components]
            assert worked_out == [answer(look, component) for component in alone.components], look.__name__


def answer(look: Callable[[Component], object], component: Component) -> object:
    """What is worked out of a component, or how that fails."""
    try:
        found, unknown = component.derived[(look,)]
    except Exception as error:
        return type(error), str(error)
    return found if unknown is None else (unknown.setting.name, unknown.reason)


def test_an_axis_after_the_other():
    grid = {"job.nodes": [1, 2, 3], "parallel.num_io_procs": [0, 1, 60], "parallel.nproma": [0, 4, 8, 16]}
    points = list(nmlgen.expand(CHAIN, grid=grid))
    assert len(points) == 36
    for point in points:
        alone = evolve(point.spec.experiment)
        assert said(point.report) == said(check_experiment(alone, beginning=point.spec.beginning))


def test_most_rules_need_not_look_again(monkeypatch):
    asked: list[str] = []

    def noted(rule: type[Rule], *arguments: object) -> object:
        asked.append(rule.code)
        return verdict(rule, *arguments)

    points = nmlgen.expand(MAPPING, grid={"parallel.nproma": list(range(4, 20))})
    said(next(points).report)
    monkeypatch.setattr("nmlgen.rechecking.verdict", noted)
    counts = list(counted(points, asked))
    assert max(counts) < 30
    assert {"PAR010", "NML003"} <= set(asked)


def counted(points: Iterator[nmlgen.Point], asked: list[str]) -> Iterator[int]:
    for point in points:
        before = len(asked)
        said(point.report)
        yield len(asked) - before


def test_files_that_come_and_go(tmp_path):
    grid = tmp_path / "grid.nc"
    source = tmp_path / "extpar.nc"
    base = changed(
        model={"directory": str(tmp_path)},
        grid={"file": str(grid), "name": "R2B5", "num_lev": 30},
        input_files={"extpar.nc": {"source": str(source)}},
    )
    seen = []
    for point in nmlgen.expand(base, grid={"parallel.nproma": [4, 5, 6, 7, 8]}):
        assert said(point.report) == said(check_experiment(evolve(point.spec.experiment), beginning=None))
        seen.append({finding.code for finding in point.report.findings})
        if len(seen) == 2:
            source.write_bytes(b"")
            grid.write_bytes(b"")
        if len(seen) == 4:
            source.unlink()
    assert seen[0] == seen[1] != seen[2]
    assert seen[3] != seen[4]


def test_another_process_begins_anew():
    first, second = nmlgen.expand(MAPPING, grid={"parallel.nproma": [4, 8]})
    assert first.report.findings == second.report.findings
    again = pickle.loads(pickle.dumps(second))
    assert said(again.report) == said(second.report)
