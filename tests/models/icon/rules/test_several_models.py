"""Several models in one job: names, files and ranks that they must not share, on both sides of each boundary."""

from __future__ import annotations

from pathlib import Path

import pytest
from rules.experiments import experiment_of, judge

from nmlgen.rules import all_rules

RULES = {rule.code: rule for rule in all_rules()}
OWN = "grid: {file: g.nc, name: R2B5, num_lev: 30}, time: {modelTimeStep: PT10M}, parallel: {num_io_procs: 0}"
CHAIN = "restart: {checkpointTimeIntval: PT12H, restartTimeIntval: P5D}\n"
STREAM = "output: {s: {output_interval: PT1H, ml_varlist: [temp], output_filename: %s}}"


def found(code: str, first: str, second: str, tmp_path: Path, more: str = "", kinds: str = "atmo ocean") -> int:
    one, other = kinds.split()
    text = f"output: null\n{more}models:\n  a: {{type: {one}, tasks: 100, {OWN}{first and ', ' + first}}}\n"
    text += f"  o: {{type: {other}, {OWN}{second and ', ' + second}}}\n"
    return len(judge(experiment_of(text, tmp_path), [RULES[code]]))


@pytest.mark.parametrize(("name", "more", "count"), [("a" * 8, CHAIN, 0), ("a" * 9, CHAIN, 1), ("a" * 9, "", 0)])
def test_long_names_are_lost_in_checkpoints(name, more, count, tmp_path):
    assert found("MST007", f"name: {name}", "", tmp_path, more) == count


def test_a_restart_reads_a_checkpoint(tmp_path):
    more = "namelists: {master_nml: {lrestart: true}}\n"
    assert found("MST007", f"name: {'a' * 9}", "", tmp_path, more) == 1


@pytest.mark.parametrize(("names", "more", "count"), [("x y", CHAIN, 0), ("x x", CHAIN, 1), ("x x", "", 0)])
def test_two_of_one_name(names, more, count, tmp_path):
    one, other = names.split()
    assert found("MST008", f"name: {one}", f"name: {other}", tmp_path, more) == count


@pytest.mark.parametrize(("names", "count"), [("out out", 1), ("out sea", 0)])
def test_output_of_two_models(names, count, tmp_path):
    one, other = names.split()
    assert found("OUT041", STREAM % one, STREAM % other, tmp_path) == count


@pytest.mark.parametrize(
    ("names", "count"), [("r.nc r.nc", 1), ("r.nc s.nc", 0), ("<mtype>.nc <mtype>.nc", 0), ("<gridfile> <gridfile>", 0)]
)
def test_checkpoints_of_two_models(names, count, tmp_path):
    one, other = (f"namelists: {{run_nml: {{restart_filename: '{name}'}}}}" for name in names.split())
    assert found("RST015", one, other, tmp_path) == count


@pytest.mark.parametrize(("gap", "size", "count"), [(1, 1, 0), (0, 2, 0), (0, 1, 1), (-1, 2, 1), (-1, 3, 0)])
def test_blocks_of_ranks_that_never_advance(gap, size, count, tmp_path):
    blocks = f"namelists: {{master_model_nml: {{model_inc_rank: {gap}, model_rank_group_size: {size}}}}}"
    assert found("MST010", blocks, "", tmp_path) == count


@pytest.mark.parametrize(
    ("stream", "count"),
    [
        ("ml_varlist: [to]", 0),
        ("ml_varlist: [to], remap: 0", 0),
        ("ml_varlist: [to], remap: 1", 1),
        ("ml_varlist: null, pl_varlist: [to]", 1),
        ("ml_varlist: [to], hl_varlist: ['']", 0),
    ],
)
def test_an_ocean_writes_on_its_own_grid_and_levels(stream, count, tmp_path):
    text = f"output: {{s: {{output_interval: PT1H, {stream}}}}}"
    assert found("OUT042", "", text, tmp_path) == count
    assert found("OUT042", text, "", tmp_path) == 0


def test_a_single_model_has_all_ranks(tmp_path):
    """Whatever its entry says of them."""
    text = "namelists: {master_model_nml: {model_inc_rank: 0}}\n"
    assert judge(experiment_of(text, tmp_path), [RULES["MST010"]]) == []
