"""How the rules about tasks judge what their documentation does not show."""

from __future__ import annotations

import pytest
from rules.experiments import experiment_of, judge, with_setting
from rules.test_examples import check

from nmlgen import lint
from nmlgen.experiment.setting import unknown
from nmlgen.models.icon.rules.parallel import lacks_io_ranks
from nmlgen.rules import all_rules

RULES = [rule for rule in all_rules() if rule.code.startswith("PAR")]


def codes(text: str, tmp_path) -> list[str]:
    return [finding.code for finding in check(text, tmp_path).findings]


def ours(text: str, tmp_path) -> list[str]:
    return [code for code in codes(text, tmp_path) if code.startswith("PAR")]


ONE_TASK = "job: {nodes: 1, ntasks_per_node: 1}\n"


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("async", ["PAR002"]),
        ("dedicated procs multifile", ["PAR002"]),
        ("''", ["PAR002"]),
        ("joint procs multifile", []),
        ("sync", []),  # ICON rejects it for another reason, which another rule names
    ],
)
def test_restart_ranks_of_one_task(mode, expected, tmp_path):
    text = f"{ONE_TASK}parallel: {{num_io_procs: 0}}\nrestart: {{restart_write_mode: {mode}, num_restart_procs: 1}}\n"
    assert ours(text, tmp_path) == expected


@pytest.mark.parametrize(
    ("parallel", "expected"),
    [
        ("num_io_procs: 1", ["PAR003"]),
        ("num_io_procs: 4", ["PAR003"]),
        ("num_io_procs: 1000", ["PAR005"]),
        ("num_io_procs: -1", ["PAR006"]),
        ("num_io_procs: 0, p_test_run: true", ["PAR003"]),
        ("num_io_procs: 1, p_test_run: true", ["PAR003", "PAR003"]),
        ("num_io_procs: 0, pio_type: 2", ["PAR013"]),
        ("num_io_procs: 0, pio_type: 0", []),
    ],
)
def test_one_task(parallel, expected, tmp_path):
    assert ours(f"{ONE_TASK}parallel: {{{parallel}}}\n", tmp_path) == expected


@pytest.mark.parametrize(
    ("tasks", "io", "restart", "prefetch", "is_refused"),
    [(2, 1, 0, 1, False), (2, 3, 0, 0, True), (2, 1, 1, 0, True), (4, 2, 1, 0, False), (3, 0, 3, 0, True)],
)
def test_split_of_tasks_agrees_with_the_model(tasks, io, restart, prefetch, is_refused, tmp_path):
    text = (
        f"job: {{nodes: 1, ntasks_per_node: {tasks}}}\n"
        f"parallel: {{num_io_procs: {io}, num_prefetch_proc: {prefetch}}}\n"
        f"restart: {{restart_write_mode: {'dedicated procs multifile' if restart else 'sync'}, "
        f"num_restart_procs: {restart}}}\n"
    )
    assert ("PAR001" in ours(text, tmp_path)) is is_refused


def test_no_task_and_no_rank_set_apart_is_left_to_the_launch(tmp_path):
    """Slurm refuses it."""
    (tmp_path / "a.run").write_text(
        "#!/bin/bash\n#SBATCH --ntasks=0\ncat >icon_master.namelist <<E\n&master_model_nml\n model_type = 1\n"
        ' model_name = "a"\n model_namelist_filename = "NAMELIST_a"\n/\nE\n'
        "cat >NAMELIST_a <<E\n&parallel_nml\n num_io_procs = 0\n/\n&run_nml\n num_lev = 30\n/\nE\n"
        "srun --ntasks=0 ./icon\n",
        encoding="utf-8",
    )
    found = lint([tmp_path / "a.run"]).findings
    assert "LCH001" in {finding.code for finding in found}
    assert "PAR001" not in {finding.code for finding in found}


def test_subtraction_is_shown(tmp_path):
    text = "job: {nodes: 1, ntasks_per_node: 8}\nparallel: {num_io_procs: 6}\n"
    text += "restart: {restart_write_mode: async, num_restart_procs: 3}\n"
    messages = [f.message for f in check(text, tmp_path).findings if f.code == "PAR001"]
    assert messages == ["8 tasks - 6 I/O - 3 restart = -1: no work rank is left"]


def test_too_many_io_procs_are_one_finding(tmp_path):
    assert codes("job: {nodes: 1}\nparallel: {num_io_procs: 300}\n", tmp_path) == ["PAR005"]


@pytest.mark.parametrize(("io", "expected"), [(64, []), (65, ["PAR004"])])
def test_a_quarter_of_the_tasks_may_be_set_apart(io, expected, tmp_path):
    text = f"parallel: {{num_io_procs: {io}}}\noutput: {{atm: {{stream_partitions_ml: {io}}}}}\n"
    assert ours(text, tmp_path) == expected


def test_share_names_number_and_percent(tmp_path):
    text = "parallel: {num_io_procs: 64}\nrestart: {restart_write_mode: async, num_restart_procs: 32}\n"
    message = next(f.message for f in check(text, tmp_path).findings if f.code == "PAR004")
    share, _, cost = message.partition("; ")
    assert share == "96 of 256 tasks (37.5 %) do not compute: 64 I/O, 32 restart"
    assert cost == "it costs 29 to 43 % here (outside what was measured, by the figures of Levante)"


@pytest.mark.parametrize(
    ("release", "parallel", "expected"),
    [
        ("2024.10", "nproma: 16, nblocks_c: 1", ["PAR010"]),
        ("2024.07", "nproma: 0, nblocks_c: 1, nblocks_e: 1", ["PAR010"]),
        ("2024.01", "nproma: 16, nblocks_c: 1", []),
        ("2024.10", "nproma: null, nblocks_e: 2", []),
        ("2024.10", "nproma: null", ["PAR011"]),
        ("2024.01", "nproma: null", ["PAR011"]),
        ("2024.10", "nproma: 1", []),
        ("2024.10", "nproma: 100000", []),
    ],
)
def test_block_lengths(release, parallel, expected, tmp_path):
    text = f'model: {{release: "{release}"}}\nparallel: {{{parallel}}}\n'
    assert ours(text, tmp_path) == expected


NO_CHECKPOINT = "restart: {checkpointTimeIntval: null, restartTimeIntval: null}\n"


@pytest.mark.parametrize(
    ("tasks", "io", "restart", "expected"),
    [
        (2, 0, "", ["PAR007"]),
        (3, 1, "", ["PAR007"]),
        (2, 1, "", ["PAR001"]),
        (3, 0, "", ["PAR008"]),
        (3, 0, NO_CHECKPOINT, []),
        (9, 2, NO_CHECKPOINT, []),
        (9, 0, NO_CHECKPOINT.replace("{", "{restart_write_mode: async, num_restart_procs: 1, "), ["PAR008"]),
        (9, 2, "restart: {checkpointTimeIntval: P10D, restartTimeIntval: P20D}\n", []),
    ],
)
def test_test_run(tasks, io, restart, expected, tmp_path):
    text = f"job: {{nodes: 1, ntasks_per_node: {tasks}}}\nparallel: {{num_io_procs: {io}, p_test_run: true}}\n"
    found = [code for code in ours(text + restart, tmp_path) if code != "PAR004"]
    assert found == expected


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("parallel: {num_io_procs: 4}\noutput: {atm: null}\n", ["PAR015"]),
        (
            "job: {nodes: 1, ntasks_per_node: 2}\nparallel: {num_io_procs: 1}\noutput: {atm: null}\n",
            ["PAR004", "PAR015"],
        ),
        ("parallel: {num_io_procs: 4}\nnamelists: {run_nml: {output: [totint]}}\n", []),  # OUT019 says it
        ("parallel: {num_io_procs: 0, pio_type: 2}\noutput: {atm: null}\n", ["PAR013"]),
        ("parallel: {num_io_procs: 0, pio_type: 2}\n", ["PAR012"]),
        ("parallel: {num_io_procs: 4, pio_type: -1}\n", ["PAR014"]),
        ("job: {nodes: 1, ntasks_per_node: 2}\nparallel: {num_io_procs: 1, pio_type: -1}\n", ["PAR004", "PAR014"]),
        ("job: {nodes: 1, ntasks_per_node: 2}\nparallel: {num_io_procs: 2, pio_type: -1}\n", ["PAR001"]),
        ("parallel: {num_io_procs: 0, pio_type: 3}\n", []),
    ],
)
def test_kinds_of_output(spec, expected, tmp_path):
    assert ours(spec, tmp_path) == expected


def test_a_prefetch_rank_that_nobody_wrote_is_not_negative(tmp_path):
    assert ours("parallel: {num_prefetch_proc: -1}\n", tmp_path) == ["PAR006"]
    assert ours("parallel: {num_prefetch_proc: null}\n", tmp_path) == []


@pytest.mark.parametrize("name", ["num_io_procs", "num_restart_procs", "p_test_run"])
def test_unknown_values_silence(name, tmp_path):
    base = experiment_of(ONE_TASK + "parallel: {num_io_procs: 0}\n", tmp_path)
    changed = with_setting(base, "parallel_nml", name, unknown(f"parallel_nml.{name}"))
    assert judge(changed, RULES) == []


@pytest.mark.parametrize(("tasks", "io", "lacks"), [(1, 0, False), (2, 0, True), (2, 1, False)])
def test_several_tasks_without_a_rank_for_output(tasks, io, lacks, tmp_path):
    text = f"job: {{nodes: 1, ntasks_per_node: {tasks}}}\nparallel: {{num_io_procs: {io}}}\n"
    assert lacks_io_ranks(experiment_of(text, tmp_path).components[0]) is lacks
