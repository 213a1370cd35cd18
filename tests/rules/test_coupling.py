"""Output through the coupler: who takes it."""

from __future__ import annotations

from pathlib import Path

import pytest
from rules.experiments import judge

from nmlgen.rules import coupling
from nmlgen.spec.spec import load_spec

BASE = Path(__file__).with_name("example-coupled.yaml")
OFFERED = "models: {atm: {namelists: {coupling_mode_nml: {coupled_to_output: true}}}}\n"
LAUNCH = "launch: {options: [--multi-prog, programs.conf]}\n"
COUPLE = """\
coupling:
  coupling:
    - src_component: %s
      src_grid: icon_atmos_grid
      tgt_component: hiopy
      tgt_grid: regular
      coupling_period: PT30M
      field: [temp]
      interpolation: [{nnn: {n: 1}}]
"""


def codes(text, tmp_path, *overrides):
    path = tmp_path / "spec.yaml"
    path.write_text(text, encoding="utf-8")
    given = [f"extends={BASE}", f"site={BASE.with_name('example-site.yaml')}", *overrides]
    rules = [coupling.OutputToNobody, coupling.OutputOfAnotherName, coupling.UnknownCouple]
    return [finding.code for finding in judge(load_spec(path, given).experiment, rules)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (OFFERED, ["CPL010"]),
        (OFFERED + LAUNCH + COUPLE % "atm_output", []),
        (OFFERED + LAUNCH + COUPLE % "atm", ["CPL011"]),
        (OFFERED + LAUNCH + (COUPLE % "atm").replace("temp", "river_runoff"), []),  # a field of the coupler's own
        (OFFERED + COUPLE % "atm_output", ["CPL005"]),  # the job starts nobody who would be called hiopy
        (OFFERED + "launch: {options: [-n, '255', ./icon, ':']}\n" + COUPLE % "atm_output", []),
        (OFFERED + COUPLE % "oce", ["CPL010", "CPL005", "CPL005"]),
        (OFFERED + COUPLE % "oce_output", ["CPL010", "CPL011", "CPL005", "CPL005"]),
        (COUPLE % "atm_output", ["CPL011", "CPL005", "CPL005"]),
        (OFFERED + LAUNCH + "model: {release: '2024.07'}\n" + COUPLE % "atm", []),
        (OFFERED + LAUNCH, []),
    ],
)
def test_somebody_takes_the_output(text, expected, tmp_path):
    assert codes(f"nmlgen: 1\n{text}", tmp_path) == expected


@pytest.mark.parametrize(
    ("release", "kind", "expected"),
    [("2024.10", 999, []), ("2025.04", 999, ["CPL010"]), ("2025.04", 4, []), ("2025.10", 999, ["CPL010"])],
)
def test_streams_without_files(release, kind, expected, tmp_path):
    assert (
        codes("nmlgen: 1\n", tmp_path, f"model.release='{release}'", f"models.atm.output.ml.filetype={kind}")
        == expected
    )


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("models.oce.namelists.run_nml.nsteps=0", ["CPL008"]),
        ("models.oce.namelists.run_nml.nsteps=1439", ["CPL008"]),  # the job of ten days has 1440 steps
        ("models.oce.namelists.run_nml.nsteps=1440", []),
        ("models.oce.namelists.run_nml.nsteps=1441", []),
        ("models.oce.namelists.run_nml.nsteps=-1", []),
    ],
)
def test_coupled_models_end_at_one_time(given, expected, tmp_path):
    path = tmp_path / "spec.yaml"
    path.write_text("nmlgen: 1\n", encoding="utf-8")
    spec = load_spec(path, [f"extends={BASE}", f"site={BASE.with_name('example-site.yaml')}", given])
    assert [finding.code for finding in judge(spec.experiment, [coupling.CouplingDates])] == expected
    alone = load_spec(path, [f"extends={BASE}", f"site={BASE.with_name('example-site.yaml')}", given, *APART])
    assert [finding.code for finding in judge(alone.experiment, [coupling.CouplingDates])] == []


APART = (
    "models.atm.namelists.coupling_mode_nml.coupled_to_ocean=false",
    "models.oce.namelists.coupling_mode_nml.coupled_to_atmo=false",
)
