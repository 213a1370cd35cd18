"""Rules about grids and the decomposition, where the examples do not reach."""

from __future__ import annotations

import pytest
from rows import rows
from rules.experiments import experiment_of, judge

from nmlgen.models.icon.rules import decomposition, grid
from nmlgen.models.icon.rules.decomposition import reading_stride
from nmlgen.models.icon.rules.grid import _shifts
from nmlgen.rules import all_rules

RULES = [rule for rule in all_rules() if rule.__module__ in (grid.__name__, decomposition.__name__)]


def codes(text, tmp_path):
    return [finding.code for finding in judge(experiment_of(text, tmp_path), RULES)]


def names(*grids, more=""):
    return f"namelists: {{grid_nml: {{dynamics_grid_filename: [{', '.join(grids)}]{more}}}}}\n"


@rows(
    ("text", "expected"),
    [
        (names('""', "a.nc"), ["GRD001"]),
        (names("a.nc", '""', "a.nc"), []),
        (names("a.nc", "b.nc", "b.nc"), ["GRD002"]),
        (names("a.nc", "b.nc", "c.nc"), []),
        (names("a.nc", "b.nc", "a.nc"), ["GRD002"]),
        (names("a.nc", "a.nc", more=", dynamics_parent_grid_id: [0, 1]"), ["GRD002"]),
        (names("a.nc", "a.nc", more=", dynamics_parent_grid_id: [0, -1]"), ["GRD002"]),
        (names("a.nc", "a.nc", more=", radiation_grid_filename: c.nc"), []),
        (names("a.nc", "b.nc", more=", radiation_grid_filename: b.nc"), ["GRD003"]),
        (names("a.nc", '""', "b.nc", more=", radiation_grid_filename: b.nc"), []),
    ],
)
def test_names_of_grids(text, expected, tmp_path):
    assert codes(text, tmp_path) == expected


@pytest.mark.parametrize(
    ("restart", "more", "expected"),
    [
        ("restartTimeIntval: P10D", "", ["GRD005"]),
        ("restartTimeIntval: P20D", "", []),
        ("restart_write_mode: async, num_restart_procs: 1", "", []),
        ("restartTimeIntval: P10D", ", run_nml: {nsteps: 10}", []),
        ("restartTimeIntval: PT1H", ", run_nml: {nsteps: 6}", ["GRD005"]),  # of ten minutes
        ("restartTimeIntval: PT1H", ", run_nml: {nsteps: 5}", []),
        ("restartTimeIntval: P10D", ", master_nml: {lrestart: true}", []),
    ],
)
def test_splitting_of_ranks(restart, more, expected, tmp_path):
    text = f"namelists: {{grid_nml: {{patch_weight: [0.0, 0.5]}}{more}}}\nrestart: {{{restart}}}\n"
    assert [code for code in codes(text, tmp_path) if code.startswith("GRD")] == expected


@pytest.mark.parametrize(
    ("parents", "expected"),
    [
        ([0, 1, 1], {1: 0, 2: 1, 3: 2}),
        ([0, 1, 2], {1: 0, 2: 1, 3: 3}),
        ([0, 0, 1], {1: 0, 2: 1, 3: 2}),  # the second one can only lie in the first
        ([0, 2, 1], {1: 0, 2: 1, 3: 2}),
        ([0, 1, 0], {1: 0, 2: 1}),
        ([0, 1, 3], {1: 0, 2: 1}),
        ([0, 1], {1: 0, 2: 1}),
    ],
)
def test_levels_above_the_tops_of_nests(parents, expected, tmp_path):
    text = (
        "namelists:\n  grid_nml: {dynamics_grid_filename: [iconR02B05-grid.nc, b.nc, c.nc], "
        f"dynamics_parent_grid_id: {parents}}}\n  run_nml: {{num_lev: [10, 10, 10], nshift: [0, 1, 2]}}\n"
    )
    (component,) = experiment_of(text, tmp_path).components
    assert _shifts(component) == expected


@pytest.mark.parametrize(
    ("levels", "more", "expected"),
    [
        ("[10, 10]", "", []),
        ("[10, 9]", "", []),
        ("[10, 8]", "", ["GRD010"]),
        ("[10, 9, 8]", "", ["GRD010"]),
        ("[10, 10]", ", nshift: [0, 1]", []),
        ("[10, 10]", ", nshift: [0, 2]", ["GRD010"]),
        ("[10, 8]", ", lvert_nest: false", []),
        ("[20, 18]", "", []),
    ],
)
def test_tops_of_nests(levels, more, expected, tmp_path):
    """As ICON 2024.10 did with layers of 300 m at the ground and its top at 35 km."""
    files = ", ".join(["iconR02B05-grid.nc", "b.nc", "c.nc"][: levels.count(",") + 1])
    text = (
        f"grid: {{num_lev: {levels}}}\nnamelists:\n  sleve_nml: {{min_lay_thckn: 300.0, top_height: 35000.0}}\n"
        f"  grid_nml: {{dynamics_grid_filename: [{files}]}}\n"
        f"  run_nml: {{{more.lstrip(', ')}{', ' if more and 'lvert' not in more else ''}"
        f"{'' if 'lvert' in more else 'lvert_nest: true'}}}\n"
    )
    assert [code for code in codes(text, tmp_path) if code != "GRD008"] == expected


@rows(
    ("work", "written", "stride"),
    [
        (1, -1, 1),
        (2, -1, 2),
        (3, -1, 2),
        (4, -1, 2),
        (6, -1, 4),
        (7, -1, 4),
        (12, -1, 4),
        (128, -1, 16),
        (252, 0, 16),
        (4, 3, 3),
        (4, 4, 1),
        (4, 9, 1),
    ],
)
def test_stride_of_the_reading_ranks(work, written, stride):
    assert reading_stride(work, written) == stride


@rows(
    ("tasks", "parallel", "expected"),
    [
        (2, "io_process_rotate: 5", ["PAR018"]),  # as the model did
        (2, "io_process_rotate: -1", ["PAR018"]),
        (2, "io_process_rotate: 1", ["PAR018"]),
        (4, "io_process_rotate: 1", ["PAR018"]),
        (2, "io_process_rotate: 2", []),
        (2, "io_process_rotate: 5, io_process_stride: 1", []),
        (2, "io_process_rotate: 5, io_process_stride: 2", []),
        (1, "io_process_rotate: 5", []),
        (2, "n_ghost_rows: 2", ["PAR019"]),
        (1, "n_ghost_rows: 2", []),
    ],
)
def test_parts_of_the_work_ranks(tasks, parallel, expected, tmp_path):
    text = f"job: {{nodes: 1, ntasks_per_node: {tasks}}}\nparallel: {{num_io_procs: 0, {parallel}}}\n"
    assert codes(text, tmp_path) == expected


@pytest.mark.parametrize("release", ["2024.01", "2024.10"])
def test_blocks_and_nests(release, tmp_path):
    text = f'model: {{release: "{release}"}}\nparallel: {{nproma: 0, nblocks_c: 1}}\n'
    assert codes(text + names("a.nc", "b.nc"), tmp_path) == ["PAR020"]
    assert codes(text + names("a.nc"), tmp_path) == []


@pytest.mark.parametrize(
    ("flat", "levels", "domain"),
    [
        (20000, [10, 9], None),  # three levels are flat
        (25000, [10, 9], 2),  # two
        (30000, [10, 10, 9], 3),  # one, which the second domain has
        (30000, [10, 10, 10], None),
    ],
)
def test_a_nest_has_a_flat_level_below_its_top(flat, levels, domain, tmp_path):
    text = (
        f"grid: {{num_lev: {levels}}}\nnamelists:\n  run_nml: {{lvert_nest: true}}\n"
        f"  sleve_nml: {{min_lay_thckn: 300.0, top_height: 35000.0, flat_height: {flat}.0}}\n"
        f"  grid_nml: {{dynamics_grid_filename: [{', '.join(['a.nc', 'b.nc', 'c.nc'][: len(levels)])}]}}\n"
    )
    found = [one for one in judge(experiment_of(text, tmp_path), RULES) if one.code == "GRD010"]
    assert [one.message.split()[1] for one in found] == ([] if domain is None else [str(domain)])
