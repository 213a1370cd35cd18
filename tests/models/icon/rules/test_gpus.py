"""Rules about GPUs: both sides of what they look at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from attrs import evolve
from placements import ATM, OCE, one_program, spec
from rows import rows
from rules.experiments import experiment_of, judge

from nmlgen import load_spec
from nmlgen.checking import check_experiment
from nmlgen.experiment.setting import Origin, Setting
from nmlgen.models.icon.rules.gpus import _chooses
from nmlgen.rules import all_rules

RULES = [rule for rule in all_rules() if rule.code.startswith("GPU")]
SELECTS = "--gpu-bind=single:1"


def codes(text: str, tmp_path: Path) -> list[str]:
    return [finding.code for finding in judge(experiment_of(text, tmp_path), RULES)]


def parts(has: str, more: str) -> str:
    return f"model: {{parts: {{gpu: {has}}}}}\nparallel: {{nproma: 0, nblocks_c: 1}}\n{more}\n"


@rows(
    ("has", "namelists", "expected"),
    [
        ("true", "nwp_phy_nml: {inwp_surface: 0, inwp_sso: 2}", ["GPU001"]),
        ("true", "nwp_phy_nml: {inwp_surface: 0, inwp_sso: 1}", []),
        ("false", "nwp_phy_nml: {inwp_surface: 0, inwp_sso: 2}", []),
        ("null", "nwp_phy_nml: {inwp_surface: 0, inwp_sso: 2}", []),
        ("true", "nwp_phy_nml: {inwp_surface: 0, inwp_radiation: 4}", ["GPU001"]),  # the default solver
        ("true", "nwp_phy_nml: {inwp_surface: 0, inwp_radiation: 4}, radiation_nml: {ecrad_isolver: 2}", []),
        ("true", "nwp_phy_nml: {inwp_surface: 0}, coupling_mode_nml: {coupled_to_ocean: true}", ["GPU001"]),
        ("true", "nwp_phy_nml: {inwp_surface: 0}, transport_nml: {ihadv_tracer: [2, 42]}", ["GPU001"]),
        ("true", "nwp_phy_nml: {inwp_surface: 0}, transport_nml: {ihadv_tracer: [2, 22]}", []),
        ("true", "nwp_phy_nml: {inwp_surface: 0}, transport_nml: {llsq_svd: false}", ["GPU002"]),
        ("false", "nwp_phy_nml: {inwp_surface: 0}, transport_nml: {llsq_svd: false}", []),
    ],
)
def test_what_builds_for_gpus_make_of_settings(has: str, namelists: str, expected: list[str], tmp_path: Path) -> None:
    more = f"namelists: {{run_nml: {{iforcing: 3, ltransport: true}}, {namelists}}}"
    assert codes(parts(has, more), tmp_path) == expected


RADIATION = (
    "nwp_phy_nml: {inwp_radiation: 4, inwp_surface: SURFACE}, radiation_nml: {ecrad_isolver: 2, irad_o3: 79, MORE}"
)
EDDIES = "nwp_phy_nml: {inwp_surface: 0, inwp_turb: 5}, les_nml: {les_metric: true, MORE}"


def radiation(more: str, surface: int = 1) -> str:
    return RADIATION.replace("irad_o3: 79, MORE", more).replace("SURFACE", str(surface))


@rows(
    ("bad", "good"),
    [
        (radiation("irad_o3: 6"), radiation("irad_o3: 7")),
        (radiation("irad_o3: 9"), radiation("irad_o3: 79")),
        (radiation("irad_o3: 97"), radiation("irad_o3: 0")),
        (radiation("albedo_type: 1"), radiation("albedo_type: 2")),
        (radiation("albedo_type: 2", 0), radiation("albedo_type: 3", 0)),
        ("nwp_phy_nml: {inwp_surface: 0, iprog_aero: 1}", "nwp_phy_nml: {inwp_surface: 0, iprog_aero: 0}"),
        ("assimilation_nml: {lhn_updt_rule: 1}", "assimilation_nml: {lhn_updt_rule: 0}"),
        ("nudging_nml: {nudge_type: 2}", "nudging_nml: {nudge_type: 0}"),
        ("nwp_phy_nml: {inwp_turb: 4}", "nwp_phy_nml: {inwp_turb: 1}"),
        ("nwp_phy_nml: {inwp_turb: 5}", "nwp_phy_nml: {inwp_turb: 5}, les_nml: {les_metric: true}"),
        (EDDIES.replace("MORE", "isrfc_type: 5"), EDDIES.replace("MORE", "isrfc_type: 1")),
        (EDDIES.replace("MORE", "is_dry_cbl: true"), EDDIES.replace("MORE", "is_dry_cbl: false")),
        (EDDIES.replace("MORE", "vert_scheme_type: 1"), EDDIES.replace("MORE", "vert_scheme_type: 2")),
        ("nwp_phy_nml: {inwp_gscp: 5}", "nwp_phy_nml: {inwp_gscp: 4}"),
        ("nwp_phy_nml: {inwp_gscp: 7}", "nwp_phy_nml: {inwp_gscp: 2}"),
        ("grid_nml: {l_scm_mode: true}, " + radiation("irad_o3: 0"), "grid_nml: {l_scm_mode: true}"),
    ],
)
def test_what_builds_for_gpus_do_not_compute(bad: str, good: str, tmp_path: Path) -> None:
    for namelists, expected in ((bad, True), (good, False)):
        run = "run_nml: {iforcing: 3, ltransport: true, ldass_lhn: true}"
        found = codes(parts("true", f"namelists: {{{run}, {namelists}}}"), tmp_path)
        assert ("GPU001" in found) is expected
        assert "GPU001" not in codes(parts("false", f"namelists: {{{run}, {namelists}}}"), tmp_path)


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("lstoch_pattern_generator: true, itype_stoch_phys: 0", 1),
        ("lstoch_pattern_generator: true, itype_stoch_phys: 1", 2),
        ("lstoch_pattern_generator: false, itype_stoch_phys: 0", 0),
    ],
)
def test_stochastic_physics_do_not_run_on_gpus(setting: str, expected: int, tmp_path: Path) -> None:
    namelists = f"namelists: {{run_nml: {{iforcing: 3}}, nwp_phy_nml: {{{setting}}}}}"
    for has, found in (("true", expected), ("false", 0)):
        text = parts(has, namelists)
        rule = [one for one in RULES if one.code == "GPU001"]
        experiment = experiment_of(text.replace("model: {", 'model: {release: "2025.10", ', 1), tmp_path)
        assert len([one for one in judge(experiment, rule) if "stoch" in one.message]) == found


@pytest.mark.parametrize(
    ("name", "namelists", "release", "expected"),
    [
        ("hpbl", "", "2024.10", True),
        ("hpbl", "", "2025.04", False),
        ("mconv", "", "2025.04", True),
        ("srh", "", "2024.10", True),
        ("ua_m", "", "2024.10", True),
        ("rh", ", io_nml: {itype_rh: 2}", "2024.10", True),
        ("rh", ", io_nml: {itype_rh: 1}", "2024.10", False),
        ("u", ", io_nml: {itype_rh: 2}", "2024.10", False),
    ],
)
def test_what_builds_for_gpus_do_not_write(
    name: str, namelists: str, release: str, expected: bool, tmp_path: Path
) -> None:
    text = f"""\
model: {{parts: {{gpu: true}}, release: "{release}"}}
parallel: {{nproma: 0, nblocks_c: 1}}
output:
  main: {{ml_varlist: [temp, {name}], output_interval: PT1H, file_interval: P1D}}
namelists: {{run_nml: {{iforcing: 3, ltransport: true}}, nwp_phy_nml: {{inwp_surface: 0}}{namelists}}}
"""
    experiment = experiment_of(text, tmp_path)
    found = [finding for finding in judge(experiment, RULES) if finding.code == "GPU001"]
    assert bool(found) is expected
    if found and not namelists:
        assert name in found[0].span.text


@pytest.mark.parametrize(
    ("bad", "good"),
    [
        ("ocean_dynamics_nml: {select_solver: 1}", "ocean_dynamics_nml: {select_solver: 4}"),
        ("ocean_dynamics_nml: {fast_performance_level: 10}", "ocean_dynamics_nml: {fast_performance_level: 11}"),
        ("ocean_dynamics_nml: {NonlinearCoriolis_type: 201}", "ocean_dynamics_nml: {NonlinearCoriolis_type: 200}"),
        ("ocean_vertical_diffusion_nml: {vert_mix_type: 1}", "ocean_vertical_diffusion_nml: {vert_mix_type: 2}"),
        ("ocean_physics_nml: {eos_type: 3}", "ocean_physics_nml: {eos_type: 2}"),
        (
            "ocean_horizontal_diffusion_nml: {VelocityDiffusion_order: 2, laplacian_form: 2}",
            "ocean_horizontal_diffusion_nml: {VelocityDiffusion_order: 2, laplacian_form: 1}",
        ),
        ("ocean_forcing_nml: {use_tides: true}", "ocean_forcing_nml: {use_tides: false}"),
    ],
)
def test_what_builds_for_gpus_do_not_compute_of_an_ocean(bad: str, good: str, tmp_path: Path) -> None:
    def found(namelists: str, device: str) -> list[str]:
        own = {**OCE, "device": device, "namelists": yaml.safe_load(f"{{{namelists}}}")}
        own.pop("tasks_per_node")
        loaded = load_spec(spec(tmp_path, models={"oce": own | ({"tasks": 4} if device == "cpu" else {})}))
        return [finding.code for finding in judge(loaded.experiment, RULES) if finding.code == "GPU001"]

    assert found(bad, "gpu") == ["GPU001"]
    assert found(bad, "cpu") == found(good, "gpu") == []


@pytest.mark.parametrize(("nproma", "expected"), [(1, ["GPU003"]), (999, ["GPU003"]), (1000, []), (8, ["GPU003"])])
def test_block_lengths(nproma: int, expected: list[str], tmp_path: Path) -> None:
    assert codes(f"model: {{parts: {{gpu: true}}}}\nparallel: {{nproma: {nproma}}}\n", tmp_path) == expected
    assert codes(f"parallel: {{nproma: {nproma}}}\n", tmp_path) == []


@rows(
    ("job", "options", "io", "expected"),
    [
        ("nodes: 4, ntasks_per_node: 5, gpus_per_node: 4", [SELECTS], 4, ["GPU004"]),
        ("nodes: 4, ntasks_per_node: 5, gres: 'gpu:a100:4'", [SELECTS], 4, ["GPU004"]),
        ("nodes: 4, ntasks_per_node: 5, gpus_per_node: 4", [SELECTS, "--distribution=plane=4"], 4, []),
        ("nodes: 4, ntasks_per_node: 5, gpus_per_node: 5", [SELECTS], 4, ["GPU005"]),
        ("nodes: 4, ntasks_per_node: 4, gpus_per_node: 4", [SELECTS], 4, ["GPU005"]),
        ("nodes: 4, ntasks_per_node: 4, gpus_per_node: 4", [SELECTS], 0, []),
        ("nodes: 4, ntasks_per_node: 4, gpus_per_node: 4", [], 0, ["GPU006"]),
        ("nodes: 4, ntasks_per_node: 4, gpus_per_node: 4", ["--gpus-per-task=1"], 0, []),
        ("nodes: 4, ntasks_per_node: 2, gpus_per_node: 2", [], 0, ["GPU006"]),
        ("nodes: 4, ntasks_per_node: 3, gpus_per_node: 1", [], 0, ["GPU004"]),
        ("nodes: 4, ntasks_per_node: 1, gpus_per_node: 4", [], 0, []),
        ("nodes: 4, ntasks_per_node: 5", [], 4, []),  # nobody asks for GPUs
    ],
)
def test_ranks_and_gpus(job: str, options: list[str], io: int, expected: list[str], tmp_path: Path) -> None:
    text = f"job: {{{job}}}\nlaunch: {{options: {options}}}\nparallel: {{num_io_procs: {io}}}\n"
    assert codes(text, tmp_path) == expected


def test_ranks_share_by_intention(tmp_path: Path) -> None:
    text = f"job: {{nodes: 4, ntasks_per_node: 5, gpus_per_node: 4}}\nlaunch: {{options: ['{SELECTS}']}}\n"
    assert codes(text, tmp_path) == ["GPU004"]
    assert codes(text + "environment: {CRAY_CUDA_MPS: '1'}\n", tmp_path) == []


def test_a_wrapper_may_choose(tmp_path: Path) -> None:
    text = "job: {nodes: 4, ntasks_per_node: 4, gpus_per_node: 4}\nparallel: {num_io_procs: 0}\n"
    assert codes(text + "model: {executable: run_wrapper.sh}\n", tmp_path) == []


def judged(document: dict[str, Any]) -> list[str]:
    report = check_experiment(load_spec(document).experiment, ())
    return [finding.code for finding in report.findings if finding.code.startswith("GPU")]


def test_programs_that_are_placed(tmp_path: Path) -> None:
    """A program on GPUs is a build for them; the one beside it is not. Where each rank sits needs no rule."""
    nwp = {"run_nml": {"iforcing": 3, "ltransport": True}, "nwp_phy_nml": {"inwp_surface": 0, "inwp_sso": 2}}
    blocks = {"nproma": 0, "nblocks_c": 1}
    on_gpus = spec(tmp_path, {"device": "gpu"}, **one_program(**blocks), namelists=nwp)
    assert judged(on_gpus) == ["GPU001"]
    on_cpus = spec(tmp_path, {"device": "cpu", "tasks_per_node": 4}, **one_program(**blocks), namelists=nwp)
    assert judged(on_cpus) == []
    atm = {**ATM, "parallel": {**ATM["parallel"], **blocks}}
    assert judged(spec(tmp_path, models={"atm": atm, "oce": {**OCE, "parallel": {"nproma": 16}}})) == []


@pytest.mark.parametrize(
    ("io", "shown", "expected"),
    [
        (1, ["0", "1", "2", ""], []),
        (1, ["0", "0", "2", ""], ["the work ranks 0 and 1 both get GPU 0 of node 0"]),
        (1, ["", "1", "2", ""], ["rank 0 computes, and the wrapper gives it no GPU on node 0 of the job"]),
        (1, [None, "1", "2", ""], ["rank 0 computes, and the wrapper gives it no GPU of its own on node 0 of the job"]),
        (1, ["0", "1", "2", "3"], []),  # all that do not compute
        (2, ["0", "1", "2", "3"], []),
        (2, ["0", "1", "2", ""], ["rank 2 (io) does not compute, and the wrapper gives it GPU 2"]),
        (2, ["0", "1", "", ""], []),
    ],
)
def test_what_a_wrapper_gives_each_rank(io: int, shown: list[str | None], expected: list[str], tmp_path: Path) -> None:
    text = "job: {nodes: 1, ntasks_per_node: 4}\nrestart: {restart_write_mode: joint procs multifile}\n"
    experiment = experiment_of(f"{text}parallel: {{num_io_procs: {io}}}\n", tmp_path)
    followed = evolve(experiment, shown=dict(enumerate(shown)))
    assert [finding.message for finding in judge(followed, RULES)] == expected


@pytest.mark.parametrize(
    ("text", "chooses"),
    [
        ("", False),
        ("environment: {SLURM_GPU_BIND: 'single:1'}", True),
        ("launch: {options: ['--gpu-bind=single:1']}", True),
        ("launch: {options: ['--label']}", False),
        ("model: {executable: run_wrapper.sh}", True),
        ("model: {executable: bin/icon}", False),
    ],
)
def test_what_gives_each_rank_a_gpu(text: str, chooses: bool, tmp_path: Path) -> None:
    experiment = experiment_of(f"nmlgen: 1\n{text}\n", tmp_path)
    assert _chooses(experiment) is chooses
    bound = Setting("gpu-bind", (Origin("test", "single:1"),))
    assert _chooses(evolve(experiment, directives={**experiment.directives, "gpu-bind": bound}))
