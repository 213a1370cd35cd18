"""Lustre's rules beyond their examples."""

from __future__ import annotations

import pytest
from rules.experiments import experiment_of
from rules.test_examples import check

from nmlgen.experiment.setting import UndecidedError
from nmlgen.models.icon.rules.lustre import largest_step


def codes(text, tmp_path):
    return [finding.code for finding in check(text, tmp_path).findings if finding.code.startswith("LUS")]


@pytest.mark.parametrize(
    "text",
    [
        "lustre: {output: {stripe_count: -1, stripe_size: 1M}}",
        "lustre: {output: {stripe_count: 32}}",
        "lustre: {output: {stripe_count: 1, stripe_size: 4095M}}",
        "lustre: {output: {stripe_count: 0, stripe_size: 512K}}",
        "lustre: {restart: {stripe_count: 8}}\nrestart: {restart_write_mode: async, num_restart_procs: 1}",
        "lustre: {output: {stripe_count: 4}, restart: {stripe_count: 1}}",
        "run_directory: /elsewhere/run\nlustre: {output: {stripe_count: 99, stripe_size: 1M}}",  # unknown
        "output: {atm: {ml_varlist: ['group:all']}}\nlustre: {output: {stripe_count: 16, stripe_size: 64M}}",
        "output: {atm: {output_grid: true}}\nlustre: {output: {stripe_count: 16, stripe_size: 64M}}",
    ],
)
def test_accepted(text, tmp_path):
    assert codes(f"{text}\n", tmp_path) == []


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("lustre: {output: {stripe_size: 4G}}", "LUS002"),
        ("lustre: {input: {stripe_size: 96K}}", "LUS002"),
        ("lustre: {restart: {stripe_count: -1}}", "LUS003"),
        ("lustre: {restart: {stripe_count: 1}, input: {stripe_count: 8}}", "LUS009"),
        ("lustre: {output: {stripe_count: -1, stripe_size: 64M}}", "LUS004"),
        ("node_local: {file_system: beeond}\nlustre: {output: {stripe_count: 4}}", "LUS007"),
        ("output: {atm: {output_filename: /gpfs/out/atm}}\nlustre: {output: {stripe_count: 4}}", "LUS007"),
    ],
)
def test_found(text, code, tmp_path):
    assert code in codes(f"{text}\n", tmp_path)


def test_stripes_of_unknown_size_are_taken_as_small(tmp_path):
    small = "grid: {name: R2B1}\noutput: {atm: {ml_varlist: [u], file_interval: PT4H}}\n"
    assert "LUS004" in codes(small + "lustre: {output: {stripe_count: 8}}\n", tmp_path)
    assert "LUS004" not in codes("lustre: {output: {stripe_count: 8}}\n", tmp_path)


def test_the_numbers_are_said(tmp_path):
    findings = check("lustre: {output: {stripe_count: 16, stripe_size: 64M}}\n", tmp_path).findings
    # 5 variables, 31 levels, 81920 cells of 4 bytes, 6 steps a file, half as many again for edges
    assert "457 MB and fills 7 of 16 stripes of 64M" in findings[0].message


def test_largest_step(tmp_path):
    def build(text):
        return experiment_of(text, tmp_path).components[0]

    names = "output: {atm: {ml_varlist: [u, v], pl_varlist: temp, p_levels: [50000.0, 85000.0]}}"
    single = build(names)
    assert largest_step(single, single.streams[0], "ml") == 2 * 31 * 81920 * 4
    assert largest_step(single, single.streams[0], "pl") == 2 * 81920 * 4
    double = build(f"{names}\nnamelists: {{io_nml: {{lnetcdf_flt64_output: true}}}}")
    assert largest_step(double, double.streams[0], "ml") == 2 * 31 * 81920 * 8
    group = build('output: {atm: {ml_varlist: [u, "group:precip_vars"]}}')
    with pytest.raises(UndecidedError):
        largest_step(group, group.streams[0], "ml")
