"""The ranks that the models of a job claim, as ICON 2024.10 deals them out (`mo_master_init.f90:72-118`)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest
from attrs import evolve
from steps import grows_too_fast

from nmlgen.experiment.component import LAND_GROUP, MODEL_GROUP, MOST_TASKS, claimed, land_files
from nmlgen.experiment.group import Group
from nmlgen.experiment.setting import Certainty, Origin, Setting, UndecidedError, written
from nmlgen.namelist.registry import load_registry


def entry(**values: int | None) -> Group:
    settings = {
        name: Setting(
            f"{MODEL_GROUP}.{name}",
            (Origin("test", value),),
            Certainty.UNKNOWN if value is None else Certainty.WRITTEN,
        )
        for name, value in values.items()
    }
    return Group(MODEL_GROUP, settings)


def ranks(tasks: int, **values: int | None) -> list[int]:
    return sorted(claimed(load_registry("2024.10"), entry(**values), tasks))


@pytest.mark.parametrize(
    ("tasks", "first", "last", "expected"),
    [
        (4, 0, 3, [0, 1, 2, 3]),
        (4, 1, 2, [1, 2]),
        (4, 2, 9, [2, 3]),
        (4, 3, 3, [3]),
        (4, 4, 9, []),
        (4, 2, 1, []),
        (4, -2, 1, [0, 1]),
        (1, 0, 0, [0]),
    ],
)
def test_from_the_first_to_the_last_that_there_is(tasks, first, last, expected):
    assert ranks(tasks, model_min_rank=first, model_max_rank=last) == expected


@pytest.mark.parametrize(
    ("first", "last", "gap", "size", "expected"),
    [
        (0, 7, 2, 1, [0, 2, 4, 6]),
        (1, 7, 3, 1, [1, 4, 7]),
        (0, 7, 1, 2, [0, 1, 2, 3, 4, 5, 6, 7]),
        (0, 7, 3, 2, [0, 1, 4, 5]),
        (0, 4, 3, 2, [0, 1, 4]),  # the last block is cut off
        (-1, 7, 3, 2, [0, 3, 4, 7]),  # so is the first
        (-9, 7, 3, 2, [0, 3, 4, 7]),
    ],
)
def test_blocks_of_ranks(first, last, gap, size, expected):
    found = ranks(8, model_min_rank=first, model_max_rank=last, model_inc_rank=gap, model_rank_group_size=size)
    assert found == expected


@pytest.mark.parametrize("size", range(-2, 7))
def test_blocks_may_overlap(size):
    for first, last, gap in product(range(-9, 10), range(-1, 10), range(2 - size, 6)):
        starts = range(first, min(last + 1, 8), size - 1 + gap)
        expected = {rank for start in starts for rank in range(start, start + size) if 0 <= rank < min(last + 1, 8)}
        found = ranks(8, model_min_rank=first, model_max_rank=last, model_inc_rank=gap, model_rank_group_size=size)
        assert found == sorted(expected)


def test_large_blocks_that_overlap_take_no_more_than_their_ranks():
    def work(number: int) -> Callable[[], object]:
        values = {"model_inc_rank": 2 - number, "model_rank_group_size": number}
        registry, blocks = load_registry("2024.10"), entry(model_min_rank=0, model_max_rank=2 * number - 1, **values)
        return lambda: claimed(registry, blocks, 2 * number)

    assert not grows_too_fast(work, 300)


@pytest.mark.parametrize(("gap", "size", "is_known"), [(0, 1, False), (-1, 2, False), (1, 1, True), (0, 2, True)])
def test_blocks_that_do_not_advance(gap, size, is_known):
    values = {"model_min_rank": 0, "model_max_rank": 1, "model_inc_rank": gap, "model_rank_group_size": size}
    if is_known:
        assert ranks(2, **values) == [0, 1]
        return
    with pytest.raises(UndecidedError):
        ranks(2, **values)


def test_what_only_a_run_knows():
    with pytest.raises(UndecidedError):
        ranks(4, model_min_rank=None, model_max_rank=3)


def test_shares_of_two_models(build):
    text = "models:\n  a: {type: atmo, tasks: 100, %s}\n  o: {type: ocean, %s}\n"
    grid = "grid: {file: g.nc, name: R2B5, num_lev: 30}, time: {modelTimeStep: PT12M}, parallel: {num_io_procs: 0}"
    experiment = build(f"job: {{nodes: 2, ntasks_per_node: 64}}\noutput: null\n{text % (grid, grid)}").experiment
    assert [sorted(share) for share in experiment.shares] == [list(range(100)), list(range(100, 128))]
    assert [component.tasks.value for component in experiment.components] == [100, 28]
    assert [component.title for component in experiment.components] == ["a", "o"]
    assert [component.kind for component in experiment.components] == ["atmosphere", "ocean"]


def test_more_tasks_than_any_machine_has_are_not_counted(build):
    experiment = build(f"job: {{nodes: null, ntasks_per_node: null, ntasks: {MOST_TASKS + 1}}}\n").experiment
    with pytest.raises(UndecidedError):
        _ = experiment.shares
    experiment = build("job: {nodes: null, ntasks_per_node: null, ntasks: 100}\n").experiment
    assert experiment.shares == (frozenset(range(100)),)


@pytest.mark.parametrize("name", ["'NAMELIST_lnd '", None])
def test_files_of_the_land(name):
    settings = {} if name is None else {"model_namelist_filename": Setting("x", (Origin("test", name.strip("'")),))}
    unknown = {"model_namelist_filename": Setting("x", (Origin("test", "any"),), Certainty.UNKNOWN)}
    master = [Group(LAND_GROUP, settings), Group("master_nml", {}), Group(LAND_GROUP, unknown)]
    assert land_files(master) == ["" if name is None else "NAMELIST_lnd", ""]


@pytest.mark.parametrize(("gap", "size"), [(0, 1), (-1, 2), (-3, 3)])
def test_blocks_that_do_not_advance_are_the_increments_fault(gap: int, size: int) -> None:
    with pytest.raises(UndecidedError) as raised:
        ranks(16, model_inc_rank=gap, model_rank_group_size=size)
    assert raised.value.setting.name.endswith("model_inc_rank")


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (0, None),
        (1, "atmosphere"),
        (2, "ocean"),
        (3, "ps_radiation"),
        (4, "hamocc"),
        (5, "jsbach"),
        (6, None),
        (98, "waves"),
        (99, "testbed"),
        (100, "icon_output"),
        (101, None),
    ],
)
def test_kinds_of_models(number, kind, build):
    component = build("")
    (group,) = (group for group in component.experiment.master if group.name == "master_model_nml")
    typed = evolve(group, settings={**group.settings, "model_type": written("model_type", number, "")})
    changed = component.experiment.mapped(lambda one: typed if one is group else one)
    assert changed.components[0].kind == kind
