"""The steps of convection, cloud cover and radiation, as ICON rounds them to one another."""

from __future__ import annotations

from rows import rows
from rules.experiments import experiment_of, judge

from nmlgen.models.icon.rules.physics_steps import RadiationStep


def found(physics: str, tmp_path, forcing: int = 3, step: str = "PT5M") -> list[str]:
    text = f"time: {{modelTimeStep: {step}}}\nnamelists:\n  run_nml: {{iforcing: {forcing}, ltransport: true}}\n"
    findings = judge(experiment_of(f"{text}  nwp_phy_nml: {{inwp_surface: 0, {physics}}}\n", tmp_path), [RadiationStep])
    return [finding.message for finding in findings]


def steps(convection: float, cover: float, radiation: float) -> str:
    return f"dt_conv: {convection}, dt_ccov: {cover}, dt_rad: {radiation}"


@rows(
    ("physics", "becomes"),
    [
        (steps(600.0, 600.0, 1200.0), None),
        (steps(600.0, 900.0, 1800.0), None),
        (steps(600.0, 900.0, 1000.0), None),  # 1200, 1800
        (steps(1200.0, 900.0, 900.0), "1200 s"),
        (steps(1200.0, 900.0, 1201.0), "2400 s"),  # 1500, 1800, 2400
        (steps(1200.0, 900.0, 3600.0), None),
        (steps(1200.0, 900.0, 3601.0), "4800 s"),
        (steps(1000.0, 800.0, 900.0), "1200 s"),  # as 1200 and 900
        (steps(2400.0, 2400.0, 1800.0), None),  # 2400; six time steps bound cloud cover without convection only
        (steps(2400.0, 2400.0, 2400.0), None),
        (steps(1200.0, 2400.0, 1800.0) + ", inwp_convection: 0", None),
        (steps(1200.0, 900.0, 900.0) + ", inwp_convection: 0", None),
        (steps(1200.0, 900.0, 900.0) + ", inwp_convection: 1", "1200 s"),
        (steps(1200.0, 900.0, 900.0) + ", inwp_cldcover: 0", None),
        (steps(1200.0, 900.0, 900.0) + ", inwp_turb: 5", None),
        ("dt_conv: 1200.0, dt_rad: 900.0", None),  # cloud cover has the step of convection
        ("inwp_gscp: 1", None),
        (steps(0.0, 900.0, 1000.0), None),  # nothing to round to: ICON runs
        (steps(600.0, 0.0, 1000.0), None),
        (steps(600.0, 600.0, 1.0e307), None),
    ],
)
def test_radiation_is_a_multiple_of_cloud_cover(physics, becomes, tmp_path):
    messages = found(physics, tmp_path)
    assert [f"dt_rad becomes {becomes}" in message for message in messages] == ([True] if becomes else [])


def test_other_physics_has_other_steps(tmp_path):
    assert found(steps(1200.0, 900.0, 900.0), tmp_path, forcing=2) == []


def test_all_is_rounded_to_the_time_step(tmp_path):
    assert found(steps(1200.0, 900.0, 900.0), tmp_path, step="PT20M") == []
    assert len(found(steps(1200.0, 900.0, 900.0), tmp_path, step="PT1M")) == 1


def test_steps_below_zero_are_the_default(tmp_path):
    assert found(steps(1200.0, 900.0, -1.0), tmp_path) == found(steps(1200.0, 900.0, 1800.0), tmp_path) != []
    assert found(steps(-1.0, 900.0, 1000.0), tmp_path) == found(steps(600.0, 900.0, 1000.0), tmp_path)
    assert found(steps(1200.0, 900.0, 0.0), tmp_path) == []


def test_more_steps_than_any_number_are_whole(tmp_path):
    assert found(steps(600.0, 600.0, 1.7e308), tmp_path, step="PT0.001S") == []
