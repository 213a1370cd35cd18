"""run_nml: what ICON refuses, in the combinations that decide it."""

from __future__ import annotations

from pathlib import Path

import pytest
from rows import rows
from rules.experiments import experiment_of, judge

from nmlgen.rules import all_rules

RULES = [rule for rule in all_rules() if rule.code.startswith("RUN")]
RESTART = [rule for rule in all_rules() if rule.code in ("RST001", "RST002", "RST003")]


def ours(text, tmp_path):
    return [finding.code for finding in judge(experiment_of(text, tmp_path), RULES)]


@rows(
    ("run", "others", "expected"),
    [
        ("num_lev: 0", "", ["RUN001"]),
        ("num_lev: [30, 0]", "", []),  # the second domain takes the number of the first
        ("num_lev: 0", "master_model_nml: {model_type: 2}", []),
        ("ntracer: 1600", "", []),
        ("ntracer: 1601", "", ["RUN002"]),
        ("iforcing: 0", "", []),
        ("iforcing: 1", "", []),
        ("iforcing: 4", "", []),
        ("iforcing: 2", "", ["RUN003"]),
        ("iforcing: 5", "", ["RUN003"]),
        ("iforcing: 2, ntracer: 1", "", []),
        ("iforcing: 2", "dynamics_nml: {lmoist_thdyn: false}", []),
        ("iforcing: 3", "", ["RUN004"]),
        ("iforcing: 3", "nwp_phy_nml: {inwp_gscp: 2}", []),
        ("iforcing: 3", "master_nml: {lrestart: true}", []),
        ("luse_radarfwo: [false, true]", "", ["RUN005"]),
        ("luse_radarfwo: [false, false]", "", []),
        ("restart_filename: 'a/<rsttime>/b'", "", ["RUN006"]),
        ("restart_filename: '/a/<mtype><rsttime>/b'", "", ["RUN006"]),
        ("restart_filename: 'a/b/<rsttime>'", "", []),  # nmlgen's script makes a/b
        ("restart_filename: './<rsttime>'", "", []),
        ("restart_filename: ''", "", []),
    ],
)
def test_run(run, others, expected, tmp_path):
    assert ours(f"namelists:\n  run_nml: {{{run}}}\n" + (f"  {others}\n" if others else ""), tmp_path) == expected


def test_limit_of_tracers_in_an_older_release(tmp_path):
    text = 'model: {release: "2024.01"}\nnamelists: {run_nml: {ntracer: 901}}\n'
    assert ours(text, tmp_path) == ["RUN002"]


@pytest.mark.parametrize(
    ("filename_format", "expected"),
    [
        ("<datetime2>/<output_filename>", ["RUN006"]),
        ("a/n<jfile>/<output_filename>", ["RUN006"]),
        ("d<physdom>/<levtype_l>/<output_filename>_<datetime2>", []),
        ("<output_filename>_<datetime2>", []),
    ],
)
def test_directories_of_dates_and_numbers(filename_format: str, expected: list[str], tmp_path: Path) -> None:
    assert ours(f'output: {{atm: {{filename_format: "{filename_format}"}}}}\n', tmp_path) == expected


def test_no_directory_is_needed_without_checkpoints(tmp_path):
    restart = "restart: {restartTimeIntval: P20D, checkpointTimeIntval: P12D}\n"
    assert ours(f"{restart}namelists: {{run_nml: {{restart_filename: <rsttime>/b}}}}\n", tmp_path) == []


@rows(
    ("part", "namelists", "warned"),
    [
        ("art", "run_nml: {lart: true}", ["RUN005"]),
        (
            "emvorado",
            "run_nml: {iforcing: 3, luse_radarfwo: [false, true]}, nwp_phy_nml: {}",
            ["RUN005"],
        ),
        ("testbed", "master_model_nml: {model_type: 99}", ["MST003"]),
        ("art", "run_nml: {iforcing: 3}, nwp_phy_nml: {inwp_surface: 0, inwp_gscp: 6}", []),
        ("ecrad", "run_nml: {iforcing: 3}, nwp_phy_nml: {inwp_surface: 0, inwp_radiation: 4}", []),
        ("nwp", "run_nml: {iforcing: 3}, nwp_phy_nml: {inwp_surface: 0}", []),
        ("aes", "run_nml: {iforcing: 2, ntracer: 1}", []),
        ("jsbach", "run_nml: {iforcing: 3}, nwp_phy_nml: {inwp_surface: 2}", []),
        ("jsbach", "run_nml: {iforcing: 2, ntracer: 1}, aes_phy_nml: {'aes_phy_config(1)%ljsb': true}", []),
        ("jsbach", "master_model_nml: {model_type: 5}", []),
        ("rttov", "synsat_nml: {lsynsat: [true]}", []),
        ("dace", "run_nml: {iforcing: 3}, nwp_phy_nml: {inwp_surface: 0}, assimilation_nml: {dace_coupling: true}", []),
        ("yaxt", "parallel_nml: {default_comm_pattern_type: 2}", []),
        ("les", "grid_nml: {l_scm_mode: true}, scm_nml: {scm_sfc_qv: 1}", []),
        ("atmo", "master_model_nml: {model_type: 1}", []),
        ("ocean", "master_model_nml: {model_type: 2}", []),
        ("waves", "master_model_nml: {model_type: 98}", []),
    ],
)
def test_a_part_is_missing_where_somebody_says_so(part, namelists, warned, tmp_path):
    """An error where the executable lacks it, nothing where it has it, a warning of some where nobody says it."""
    said = "model: {{parts: {{{}: {}}}}}\nnamelists: {{{}}}\n"
    rules = [rule for rule in all_rules() if rule.code in ("RUN005", "RUN008", "MST003")]

    def found(text):
        return [finding.code for finding in judge(experiment_of(text, tmp_path), rules)]

    assert found(said.format(part, "false", namelists)) == ["RUN008"]
    assert found(said.format(part, "true", namelists)) == []
    assert found(f"namelists: {{{namelists}}}\n") == warned


@pytest.mark.parametrize(("release", "expected"), [("2025.04", []), ("2025.10", ["RUN008"])])
def test_local_forcing_of_aes_is_refused_in_newer_releases(release, expected, tmp_path):
    text = (
        f'model: {{release: "{release}", parts: {{aes: false}}}}\nnamelists: {{run_nml: {{iforcing: 5, ntracer: 1}}}}\n'
    )
    assert ours(text, tmp_path) == expected


@pytest.mark.parametrize(("pio", "io", "codes"), [(2, 4, ["RUN008"]), (1, 4, []), (2, 0, [])])
def test_cdi_pio_is_missing_where_there_are_io_ranks(pio, io, codes, tmp_path):
    text = f"model: {{parts: {{cdi-pio: false}}}}\nparallel: {{num_io_procs: {io}, pio_type: {pio}}}\n"
    rules = [rule for rule in all_rules() if rule.code in ("RUN008", "PAR013")]
    assert [finding.code for finding in judge(experiment_of(text, tmp_path), rules)] == codes
    other = text.replace("false", "true")
    warned = ["PAR013"] if codes else []
    assert [finding.code for finding in judge(experiment_of(other, tmp_path), rules)] == warned


@pytest.mark.parametrize(
    ("mode", "expected"),
    [("sync", []), ("sync ", []), ("SYNC", []), (" sync", ["RST003"]), (" async", ["RST003"]), (" ", [])],
)
def test_blanks_of_a_restart_mode(mode, expected, tmp_path):
    experiment = experiment_of(f'restart: {{restart_write_mode: "{mode}"}}\n', tmp_path)
    assert [finding.code for finding in judge(experiment, RESTART)] == expected


@rows(
    ("parts", "namelists", "codes"),
    [
        ("rte-rrtmgp: false", "run_nml: {iforcing: 2}, aes_phy_nml: {'aes_phy_config(1)%dt_rad': PT1H}", ["RUN009"]),
        ("rte-rrtmgp: true", "run_nml: {iforcing: 2}, aes_phy_nml: {'aes_phy_config(1)%dt_rad': PT1H}", []),
        ("aes: true", "run_nml: {iforcing: 2}, aes_phy_nml: {'aes_phy_config(1)%dt_rad': PT1H}", []),  # nobody says it
        ("rte-rrtmgp: false", "run_nml: {iforcing: 3}, aes_phy_nml: {'aes_phy_config(1)%dt_rad': PT1H}", []),
        ("rte-rrtmgp: false", "run_nml: {iforcing: 2}, aes_phy_nml: {'aes_phy_config(1)%dt_rad': PT0S}", []),
        ("rte-rrtmgp: false", "run_nml: {iforcing: 2}, aes_phy_nml: {'aes_phy_config(1)%dt_rad': PT1S}", ["RUN009"]),
        ("rte-rrtmgp: false", "run_nml: {iforcing: 2}, aes_phy_nml: {'aes_phy_config(2)%dt_rad': PT1H}", []),
        ("rte-rrtmgp: false", "run_nml: {iforcing: 2}, aes_phy_nml: {}", []),
        ("coupling: false", "coupling_mode_nml: {coupled_to_ocean: true}", ["RUN009"]),
        ("coupling: false", "coupling_mode_nml: {coupled_to_ocean: true, coupled_to_waves: true}", ["RUN009"] * 2),
        ("coupling: false", "coupling_mode_nml: {coupled_to_ocean: false}", []),
        ("coupling: true", "coupling_mode_nml: {coupled_to_ocean: true}", []),
    ],
)
def test_parts_that_icon_does_without(parts, namelists, codes, tmp_path):
    rules = [rule for rule in all_rules() if rule.code == "RUN009"]
    text = f"model: {{parts: {{{parts}}}}}\nnamelists: {{{namelists}}}\n"
    assert [finding.code for finding in judge(experiment_of(text, tmp_path), rules)] == codes


@pytest.mark.parametrize(("release", "codes"), [("2024.10", ["RUN008"]), ("2025.04", [])])
def test_a_stream_for_the_coupler_needs_it(release, codes, tmp_path):
    text = f'model: {{release: "{release}", parts: {{coupling: false}}}}\noutput: {{atm: {{filetype: 999}}}}\n'
    assert ours(text, tmp_path) == codes
