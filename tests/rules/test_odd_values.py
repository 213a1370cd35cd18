"""No value of whatever type makes a rule raise; unknown values silence rules, they find nothing."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf, nan

import pytest
from attrs import evolve
from rows import rows
from rules.experiments import experiment_of, judge, with_setting, written

from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.setting import unknown
from nmlgen.namelist.registry import load_registry
from nmlgen.rechecking import Rechecker
from nmlgen.rules import all_rules

ODD = (
    *("", "abc", " 4 ", "P1M", "-P1D", "PT0S", ">2008-09-01T00:00:00Z", "99999-02-30", "²"),
    *(-1, 0, 3, 2**31 - 1, 2**31, -(10**30), 1.5, 1e300, 1e-9, nan, inf, -inf, True, False),
    *([], [0], [3, "x"], ["PT1H"], [0, 1e300, 1e300], [257] * 300, [None]),
)
GROUPS = ("parallel_nml", "io_nml", "run_nml", "output_nml", "grid_nml", "master_time_control_nml", "time_nml")
REGISTRY = load_registry("2024.10")
VARIABLES = [(group, name) for group in GROUPS for name in REGISTRY.variables(group)] + [
    ("master_nml", "lrestart_write_last"),
    ("nudging_nml", "nudge_type"),
    ("limarea_nml", "itype_latbc"),
    ("nonhydrostatic_nml", "divdamp_order"),
]
PL = "pl_varlist: [temp], p_levels: [50000.0]"
VARIANTS = (
    "nmlgen: 1\n",
    f"output: {{atm: {{output_bounds: [0, 864000, 3600], {PL}, stream_partitions_pl: 2, include_last: true}}}}\n"
    "restart: {restart_write_mode: async, num_restart_procs: 1}\ndarshan: true\n"
    "lustre: {output: {stripe_count: 4, stripe_size: 4M}}\n",
    "job: {nodes: 1, ntasks_per_node: 1}\nparallel: {num_io_procs: 0}\n"
    "output: {atm: {file_interval: null, steps_per_file: 2}}\nnode_local: {file_system: beeond}\n",
)
RULES = list(all_rules())
RULES_OF_OTHERS = [rule for rule in RULES if not rule.holds_in(REGISTRY.release)]


@pytest.fixture(scope="module")
def variants(tmp_path_factory):
    """The experiments, and what checks each again and again: a rule looks only at what it asks for."""
    directory = tmp_path_factory.mktemp("variants")
    return [(experiment_of(text, directory), Rechecker()) for text in VARIANTS]


def judge_odd_values(base: Experiment, rechecker: Rechecker, group: str, name: str, values: Iterable[object]) -> None:
    """A variable with each of these values, and with one that nobody can know."""
    for value in values:
        experiment = with_setting(base, group, name, written(group, name, value))
        for finding in (*rechecker.check(experiment, (), None).findings, *judge(experiment, RULES_OF_OTHERS)):
            assert finding.notes
    experiment = with_setting(base, group, name, unknown(f"{group}.{name}"))
    rechecker.check(experiment, (), None)
    judge(experiment, RULES_OF_OTHERS)


@rows(("number", "group", "name"), [(n, *variable) for n, variable in enumerate(VARIABLES)], parts=8)
def test_odd_values_raise_nothing(number, group, name, variants):
    """An eighth of the values, some of each kind; the others with the next variables of the same experiment.
    `python benchmarks/odd_values.py` tries every value of every variable in every experiment."""
    judge_odd_values(*variants[number % len(VARIANTS)], group, name, ODD[number // len(VARIANTS) % 8 :: 8])


@pytest.mark.parametrize("name", ["ntasks", "nodes", "ntasks-per-node", "time", "mem", "signal", "output", "export"])
def test_odd_directives_raise_nothing(name, tmp_path):
    base = experiment_of("nmlgen: 1\n", tmp_path)
    for value in (*ODD, "2-4", "4,8"):
        judge(evolve(base, directives={**base.directives, name: written("job", name, value)}), RULES)
