"""Output through the coupler: who takes it."""

from __future__ import annotations

from pathlib import Path

import pytest
from rows import rows
from rules.experiments import judge

from nmlgen.findings import Severity
from nmlgen.linting import lint
from nmlgen.models.icon.rules import coupled, coupling, coupling_times
from nmlgen.spec.spec import load_spec

BASE = Path(__file__).parents[3] / "rules" / "example-coupled.yaml"
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


@rows(
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


def test_models_are_asked_for_their_names_however_many_couples_there_are(tmp_path, monkeypatch):
    asked: list[str] = []
    of_model = coupled._offering
    monkeypatch.setattr(coupled, "_offering", lambda one: asked.append(one.name) or of_model(one))
    head, couple = (COUPLE % "atm_output").split("    - ")
    codes(f"nmlgen: 1\n{OFFERED}{LAUNCH}{head}" + f"    - {couple}" * 20, tmp_path)
    assert sorted(asked) == ["atm", "oce"]


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
    assert [finding.code for finding in judge(spec.experiment, [coupling_times.CouplingDates])] == expected
    alone = load_spec(path, [f"extends={BASE}", f"site={BASE.with_name('example-site.yaml')}", given, *APART])
    assert [finding.code for finding in judge(alone.experiment, [coupling_times.CouplingDates])] == []


APART = (
    "models.atm.namelists.coupling_mode_nml.coupled_to_ocean=false",
    "models.oce.namelists.coupling_mode_nml.coupled_to_atmo=false",
)


def found(rule, text, tmp_path, *overrides):
    path = tmp_path / "spec.yaml"
    path.write_text(text, encoding="utf-8")
    given = [f"extends={BASE}", f"site={BASE.with_name('example-site.yaml')}", *overrides]
    return [finding.message for finding in judge(load_spec(path, given).experiment, [rule])]


def exchanged(period: str) -> str:
    return (COUPLE % "atm").replace("hiopy", "oce").replace("regular", "icon_ocean_grid").replace("PT30M", period)


CHAIN = "restart.restartTimeIntval=P5D", "restart.checkpointTimeIntval=P5D"
ONE_CHECKPOINT = "restart.checkpointTimeIntval=P10D"


@rows(
    ("period", "overrides", "reason"),
    [
        ("PT30M", (), None),
        ("PT10M", (), None),
        ("PT5M", (), None),  # another rule's
        ("PT25M", (), "no multiple of the time step"),
        ("PT12H", (), None),
        ("PT8H", (), "does not divide the checkpoint interval"),
        ("P10D", (ONE_CHECKPOINT,), None),
        ("P11D", (ONE_CHECKPOINT,), "longer than a job"),
        ("P1M", (ONE_CHECKPOINT,), "longer than a job"),
        ("P1M1D", ("time.stop=2008-09-29T12:00:00Z", "restart.restartTimeIntval=P1Y"), "longer than a job"),
        ("P1M", ("time.stop=2008-09-29T12:00:00Z", "restart.restartTimeIntval=P1Y"), None),  # of 28 days
        ("P1M", ("time.stop=2008-10-01T00:00:00Z", "restart.restartTimeIntval=P1M"), None),
        ("P2M", ("time.stop=2008-10-20T00:00:00Z", "restart.restartTimeIntval=P1Y"), "longer than a job"),
        ("P1Y", ("time.stop=2009-08-31T00:00:00Z", "restart.restartTimeIntval=P1Y"), None),  # a leap year might do
        ("P5D", CHAIN, None),
        ("P2D", CHAIN, "does not divide the restart interval"),
        ("P2D", ("restart.checkpointTimeIntval=P2D",), None),  # one job
    ],
)
def test_what_a_coupling_period_divides(period, overrides, reason, tmp_path):
    messages = found(coupling_times.IrregularCoupling, exchanged(period), tmp_path, *overrides)
    assert len(messages) == (reason is not None)
    assert all(reason in message for message in messages)


@pytest.mark.parametrize(("period", "unit", "count"), [("20", "minute", 0), ("25", "minute", 1), ("1200", "second", 0)])
def test_a_period_has_the_unit_of_the_coupling(period, unit, count, tmp_path):
    text = exchanged(f"'{period}'").replace("coupling:", f"coupling:\n  timestep_unit: {unit}", 1)
    assert len(found(coupling_times.IrregularCoupling, text, tmp_path)) == count


@pytest.mark.parametrize(
    ("period", "ocean", "reason"),
    [
        ("PT10M", "PT10M", None),
        ("PT9M", "PT10M", 'shorter than the time step of "atm"'),
        ("PT10M", "PT15M", 'shorter than the time step of "oce"'),
        ("PT15M", "PT15M", 'meets 480 multiples in a job and "oce" 960'),
        ("PT30M", "PT15M", None),
    ],
)
def test_both_sides_meet_as_often(period, ocean, reason, tmp_path):
    text = exchanged(period)
    messages = found(coupling_times.CouplingPeriod, text, tmp_path, f"models.oce.time.modelTimeStep={ocean}")
    assert len(messages) == (reason is not None)
    assert all(reason in message for message in messages)


@pytest.mark.parametrize(
    ("given", "overrides", "count"),
    [
        ("calendar: proleptic-gregorian", (), 0),
        ("calendar: 365d", (), 1),
        ("start_date: 2008-09-01T00:00:00", (), 0),
        ("start_date: 2008-09-01T00:00:01", (), 1),
        ("start_datetime: 2008-09-01T00:00:01", (), 1),
        ("end_date: 2008-09-11T00:00:00", (), 0),
        ("end_date: 2008-09-10T23:59:59", (), 1),
        ("start_date: soon", (), 1),
        ("start_date: 2008-09-01T00:00:00", CHAIN, 1),  # each job has its own
        ("timestep_unit: ISO_format", (), 0),
    ],
)
def test_dates_of_the_coupler_are_those_of_the_run(given, overrides, count, tmp_path):
    assert len(found(coupling_times.CouplingDates, f"coupling: {{{given}}}\n", tmp_path, *overrides)) == count


@pytest.mark.parametrize(("steps", "count"), [(719, 1), (720, 0), (721, 0)])
def test_a_job_of_a_chain_ends_where_it_restarts(steps, count, tmp_path):
    given = f"models.oce.namelists.run_nml.nsteps={steps}"
    assert len(found(coupling_times.CouplingDates, "nmlgen: 1\n", tmp_path, *CHAIN, given)) == count


@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        (["models.oce.namelists.coupling_mode_nml.coupled_to_atmo=false"], ["CPL002"]),
        ([], []),
        (["model.release='2024.10'", "models.oce.namelists.coupling_mode_nml.coupled_to_atmo=false"], []),
    ],
)
def test_a_model_coupled_to_cleo_is_coupled(overrides, expected, tmp_path):
    """CLEO is known from 2025.04 on; what an older release takes the switch for, it says itself (NML002)."""
    path = tmp_path / "spec.yaml"
    switches = "coupled_to_ocean: false, coupled_to_cleo: true"
    path.write_text(f"nmlgen: 1\nmodels: {{atm: {{namelists: {{coupling_mode_nml: {{{switches}}}}}}}}}\n", "utf-8")
    site = f"site={BASE.with_name('example-site.yaml')}"
    given = [f"extends={BASE}", site, "model.release='2025.04'", *overrides]
    rules = [coupling.SomeModelsCoupled, coupling.CouplingNotSupported]
    assert [finding.code for finding in judge(load_spec(path, given).experiment, rules)] == expected


@pytest.mark.parametrize(
    ("text", "overrides", "count"),
    [
        ("", [], 0),
        ("", ["models.atm.namelists.coupling_mode_nml.coupled_to_waves=true"], 1),
        (LAUNCH, ["models.atm.namelists.coupling_mode_nml.coupled_to_waves=true"], 0),  # another program may be it
        ("", ["models.oce.type=waves"], 1),
        ("", ["models.atm.namelists.coupling_mode_nml.coupled_to_hydrodisc=true"], 0),
        ("", ["models.atm.namelists.coupling_mode_nml.coupled_to_o3=true"], 1),
        (LAUNCH, ["models.atm.namelists.coupling_mode_nml.coupled_to_aero=true"], 0),
    ],
)
def test_whom_a_model_is_coupled_to_is_there(text, overrides, count, tmp_path):
    messages = found(coupling.NothingExchanged, f"nmlgen: 1\n{text}", tmp_path, *overrides)
    assert len(messages) == count
    assert all("has no such model" in message or "nothing that sends it" in message for message in messages)


EXCHANGED = exchanged("PT30M")
LAND = "models.atm.namelists.nwp_phy_nml.inwp_surface=1"
AEROSOL = "models.atm.namelists.coupling_mode_nml.coupled_to_aero=true"
OZONE = "models.atm.namelists.coupling_mode_nml.coupled_to_o3=true"


def radiation(variable: str, value: int) -> str:
    return f'models.atm.namelists.aes_rad_nml={{"aes_rad_config(1)%{variable}": {value}}}'


@pytest.mark.parametrize(
    ("period", "unit", "overrides", "count"),
    [
        ("PT30M", "ISO_format", (), 0),
        ("soon", "ISO_format", (), 1),
        ("soon", "ISO_format", APART, 0),  # nobody reads it
        ("30", "minute", (), 0),
        ("PT30M", "minute", (), 1),
        ("+30", "second", (), 0),
        ("3.5", "hour", (), 1),
        ("P1M", "ISO_format", (), 0),
    ],
)
def test_periods_that_can_be_read(period, unit, overrides, count, tmp_path):
    text = exchanged(f"'{period}'").replace("coupling:", f"coupling:\n  timestep_unit: {unit}", 1)
    assert len(found(coupling.CouplingFileRefused, text, tmp_path, *overrides)) == count


@pytest.mark.parametrize(("overrides", "who"), [((), None), (APART, None), (APART[:1], "atm"), (APART[1:], "oce")])
def test_all_models_are_coupled_or_none(overrides, who, tmp_path):
    messages = found(coupling.SomeModelsCoupled, EXCHANGED, tmp_path, *overrides)
    assert [message.split('"')[1] for message in messages] == ([] if who is None else [who])


@pytest.mark.parametrize(
    ("who", "partner", "count"), [("oce", "ocean", 1), ("oce", "o3", 1), ("atm", "waves", 0), ("oce", "output", 0)]
)
def test_partners_that_a_component_can_have(who, partner, count, tmp_path):
    switch = f"models.{who}.namelists.coupling_mode_nml.coupled_to_{partner}=true"
    assert len(found(coupling.CouplingNotSupported, EXCHANGED, tmp_path, switch)) == count


@pytest.mark.parametrize(
    ("text", "overrides", "count"),
    [
        (EXCHANGED, (), 0),
        (EXCHANGED, APART, 1),
        (EXCHANGED, APART[:1], 0),  # CPL002 says it
        (COUPLE % "atm", (), 1),
        ("coupling: null\n", (), 1),
        ("coupling: null\n", APART, 0),
    ],
)
def test_what_is_coupled_exchanges_something(text, overrides, count, tmp_path):
    assert len(found(coupling.NothingExchanged, text, tmp_path, *overrides)) == count


@pytest.mark.parametrize(
    ("fields", "overrides", "messages"),
    [
        ("total_heat_flux", (), []),
        ("temp", (), ['"temp" is no field of atmosphere for ocean']),
        ("river_runoff", (), ['"atm" does not send "river_runoff"']),
        ("river_runoff", ('models.atm.namelists.aes_phy_nml={"aes_phy_config(1)%ljsb": true}',), []),
        ("river_runoff", ("models.atm.namelists.run_nml.iforcing=3", LAND), ['"atm" does not send "river_runoff"']),
        ("river_runoff", ("models.atm.namelists.run_nml.iforcing=3", LAND.replace("1", "2")), []),
        ("sea_surface_temperature", (), ['"sea_surface_temperature" goes the other way']),
        ("total_heat_flux, nothing, nix", (), ['"nothing" is no field', '"nix" is no field']),
        ("total_heat_flux", APART[:1], ['"atm" is not coupled to "oce"']),
        ("total_heat_flux", APART[1:], ['"oce" is not coupled to "atm"']),
    ],
)
def test_fields_of_a_couple(fields, overrides, messages, tmp_path):
    told = found(coupling.UnknownCouple, EXCHANGED.replace("[temp]", f"[{fields}]"), tmp_path, *overrides)
    assert len(told) == len(messages)
    assert all(message.startswith(start) for message, start in zip(told, messages, strict=True))


def test_the_grid_of_a_couple(tmp_path):
    text = EXCHANGED.replace("[temp]", "[total_heat_flux]").replace("icon_ocean_grid", "grid")
    (message,) = found(coupling.UnknownCouple, text, tmp_path)
    assert message == 'the grid of "oce" is called "icon_ocean_grid", not "grid"'


@rows(
    ("overrides", "count"),
    [
        ((), 0),
        (("models.atm.namelists.run_nml.iforcing=0",), 1),
        (("models.atm.namelists.run_nml.iforcing=3",), 0),
        (("models.atm.namelists.run_nml.iforcing=0", *APART), 0),
        ((OZONE,), 1),
        ((OZONE, radiation("irad_o3", 5)), 0),
        ((OZONE, radiation("irad_o3", 6)), 0),
        ((OZONE, radiation("irad_o3", 4)), 1),
        ((OZONE, radiation("irad_o3", 4), "models.atm.namelists.run_nml.iforcing=3"), 0),
        ((OZONE, radiation("irad_o3", 5), "models.atm.namelists.run_nml.iforcing=0", *APART), 1),
        ((AEROSOL, radiation("irad_aero", 13)), 0),
        ((AEROSOL, radiation("irad_aero", 19)), 0),
        ((AEROSOL, radiation("irad_aero", 18)), 1),
    ],
)
def test_physics_of_a_coupled_atmosphere(overrides, count, tmp_path):
    assert len(found(coupling.CoupledAtmosphere, EXCHANGED, tmp_path, *overrides)) == count


@pytest.mark.parametrize(("lag", "count"), [(0, 0), (3, 0), (4, 1), (-4, 0)])
def test_a_lag_delays_the_exchanges(lag, count, tmp_path):
    """With three steps to a period: behind the third step one exchange is missed."""
    text = EXCHANGED.replace("    - src", f"    - src_lag: {lag}\n      src")
    assert len(found(coupling_times.CouplingPeriod, text, tmp_path)) == count


def test_with_a_lag_as_long_as_the_job_nothing_is_exchanged(tmp_path):
    text = EXCHANGED.replace("    - src", "    - src_lag: 100000\n      src")
    (message,) = found(coupling_times.CouplingPeriod, text, tmp_path)
    assert '"atm" meets 0 multiples in a job' in message


@pytest.mark.parametrize(
    ("period", "count"), [("PT0S", 0), ("P0M", 0), ("PT45M", 1), ("P1M", 1), ("-PT45M", 0), ("PT30M", 0)]
)
def test_a_period_is_told_once(period, count, tmp_path):
    one = exchanged(period)
    another = one.partition("    - ")[2]
    assert len(found(coupling_times.IrregularCoupling, f"{one}    - {another}", tmp_path)) == count


@pytest.mark.parametrize(("release", "severity"), [(None, Severity.WARNING), ("2025.10", Severity.ERROR)])
def test_ocean_and_waves_are_coupled_by_a_later_release(release, severity, tmp_path):
    models = "".join(
        f"&master_model_nml\n model_type = {kind}\n model_name = '{name}'\n model_namelist_filename = 'nml_{name}'\n"
        f" model_min_rank = {rank}\n model_max_rank = {rank}\n/\n"
        for rank, (kind, name) in enumerate([(2, "oce"), (98, "wav")])
    )
    (tmp_path / "icon_master.namelist").write_text(f"&master_nml\n/\n{models}", "utf-8")
    for name, other in (("oce", "waves"), ("wav", "ocean")):
        text = f"&coupling_mode_nml\n coupled_to_{other} = .true.\n/\n&run_nml\n num_lev = 1\n/\n&grid_nml\n/\n"
        (tmp_path / f"nml_{name}").write_text(text, "utf-8")
    found = lint([tmp_path / "icon_master.namelist"], icon_release=release).findings
    assert [finding.severity for finding in found if finding.code == "CPL003"] == [severity] * 2


@pytest.mark.parametrize(
    ("release", "words"), [("2024.10", ["weight_file", "source", "target", "dnn"]), ("2025.04", [])]
)
def test_what_only_a_later_coupler_takes(release, words, tmp_path):
    sides = "source: {component: atm, grid: icon_atmos_grid}, target: {component: oce, grid: icon_ocean_grid}"
    couple = f"{{weight_file: {{name: w.nc}}, {sides}, field: total_heat_flux, coupling_period: PT30M,"
    text = f"coupling:\n  coupling:\n    - {couple} interpolation: [dnn, {{nnn: {{n: 4}}}}]}}\n"
    messages = found(coupling.CouplingFileRefused, text, tmp_path, f"model.release='{release}'")
    assert [message.split()[1] for message in messages] == words


def test_a_model_with_a_long_name_is_called_by_its_label(tmp_path):
    path = tmp_path / "spec.yaml"
    path.write_text(f"models: {{atm: {{name: {'a' * 101}}}}}\n{COUPLE}" % "nobody", encoding="utf-8")
    given = [f"extends={BASE}", f"site={BASE.with_name('example-site.yaml')}"]
    (found,) = judge(load_spec(path, given).experiment, [coupling.UnknownCouple])[:1]
    assert found.notes[-1].startswith("expected: a model_name, atm or oce")
    path.write_text(f"models: {{atm: {{name: {'a' * 100}}}}}\n{COUPLE}" % "nobody", encoding="utf-8")
    (found,) = judge(load_spec(path, given).experiment, [coupling.UnknownCouple])[:1]
    assert found.notes[-1].startswith(f"expected: a model_name, {'a' * 100} or oce")
