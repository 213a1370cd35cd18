"""Dates, durations and time steps: what ICON takes and what it refuses, on both sides of each boundary."""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import evolve
from rows import rows
from rules.experiments import experiment_of, judge, with_setting, written

from nmlgen.experiment.group import Group
from nmlgen.findings import Severity
from nmlgen.models.icon.clock import clock
from nmlgen.rules import all_rules

TIME, RUN = "master_time_control_nml", "run_nml"
START, STOP, LEAD = (TIME, "experimentStartDate"), (TIME, "experimentStopDate"), (TIME, "forecastLeadTime")
CHECKPOINT, RESTART, CALENDAR = (TIME, "checkpointTimeIntval"), (TIME, "restartTimeIntval"), (TIME, "calendar")
STEP, SECONDS = (RUN, "modelTimeStep"), (RUN, "dtime")
LAST, IS_RESTART = ("master_nml", "lrestart_write_last"), ("master_nml", "lrestart")
DAMPING = ("nonhydrostatic_nml", "divdamp_order")
RULES = {rule.code: rule for rule in all_rules()}

CASES = [
    ("TIM001", {STOP: "2008-09-01T00:00:00Z"}, 0),
    ("TIM001", {STOP: "2008-08-31T23:59:59Z"}, 1),
    ("TIM001", {RESTART: "-PT1H"}, 1),
    ("TIM001", {RESTART: "PT0S"}, 0),
    ("TIM001", {RESTART: "-PT1H", LAST: False}, 0),
    ("TIM001", {RESTART: "-PT1H", STOP: "2008-08-01T00:00:00Z"}, 2),
    ("TIM002", {STEP: "PT0S"}, 1),
    ("TIM002", {STEP: "PT0.001S"}, 0),
    ("TIM002", {STEP: "-PT10M"}, 1),
    ("TIM002", {STEP: "soon"}, 0),
    ("TIM002", {STEP: "P8M"}, 1),
    ("TIM002", {STEP: "-P8M"}, 1),
    ("TIM002", {STEP: "PT24H"}, 0),
    ("TIM002", {STEP: "PT86400.001S"}, 1),
    ("TIM002", {STEP: "", SECONDS: 86400.0}, 0),
    ("TIM002", {STEP: "", SECONDS: 86401.0}, 1),
    ("TIM002", {STEP: "", SECONDS: 86401.0, (RUN, "output"): "none"}, 0),
    ("TIM002", {STEP: "PT8M"}, 0),
    ("TIM002", {STEP: "", SECONDS: 0.0}, 1),
    ("TIM002", {STEP: "", SECONDS: 0.5}, 0),
    ("TIM002", {STEP: "", SECONDS: -1.0}, 1),
    ("TIM003", {START: "2008-02-29T00:00:00Z"}, 0),
    ("TIM003", {START: "2008-02-30T00:00:00Z"}, 1),
    ("TIM003", {START: "2008-02-29T00:00:00Z", CALENDAR: "365 day year"}, 1),
    ("TIM003", {START: "2008-02-30T00:00:00Z", CALENDAR: "360 day year"}, 0),
    ("TIM003", {(TIME, "experimentReferenceDate"): "2007-02-29T00:00:00Z"}, 1),
    ("TIM004", {SECONDS: 600.0}, 0),
    ("TIM004", {SECONDS: 601.0}, 1),
    ("TIM004", {SECONDS: 1.0}, 1),
    ("TIM004", {SECONDS: 599.0}, 1),
    ("TIM004", {SECONDS: 0.0}, 0),
    ("TIM004", {SECONDS: 300.0, STEP: ""}, 0),
    ("TIM004", {SECONDS: 5400.0, STEP: "PT1H30M"}, 0),
    ("TIM004", {SECONDS: 5400.0, STEP: "PT5400S"}, 0),
    ("TIM004", {SECONDS: 5400.0, STEP: "PT90M"}, 1),  # 90 minutes are not one hour and 30
    ("TIM004", {SECONDS: 2678400.0, STEP: "P1M"}, 0),  # 31 days are a month
    ("TIM004", {SECONDS: 2592000.0, STEP: "P1M"}, 1),
    ("TIM004", {SECONDS: 2592000.0, STEP: "P1M", CALENDAR: "360 day year"}, 0),
    ("TIM004", {SECONDS: 2678400.0, STEP: "P1M", CALENDAR: "365 day year"}, 0),  # not known
    ("TIM005", {("io_nml", "dt_checkpoint"): 43200.0}, 0),
    ("TIM005", {("io_nml", "dt_checkpoint"): 43200.5}, 0),
    ("TIM005", {("io_nml", "dt_checkpoint"): 43201.0}, 1),
    ("TIM005", {("io_nml", "dt_checkpoint"): 43201.0, CHECKPOINT: ""}, 0),
    ("TIM005", {("io_nml", "dt_checkpoint"): 86400.0, CHECKPOINT: "P1D"}, 0),
    ("TIM005", {("io_nml", "dt_checkpoint"): 86400.0, CHECKPOINT: "PT24H"}, 1),
    ("TIM005", {("io_nml", "dt_checkpoint"): 59.0, CHECKPOINT: "P1M"}, 1),  # a warning: it cannot be compared
    ("TIM005", {("io_nml", "dt_checkpoint"): 58.0, CHECKPOINT: "P1M"}, 1),
    ("TIM006", {("time_nml", "dt_restart"): 864000.0}, 0),
    ("TIM006", {("time_nml", "dt_restart"): 864000.0, RESTART: "PT864000S"}, 0),
    ("TIM006", {("time_nml", "dt_restart"): 864000.0, RESTART: "PT240H"}, 1),
    ("TIM006", {("time_nml", "dt_restart"): 2678400.0, RESTART: "P1M"}, 0),
    ("TIM006", {("time_nml", "dt_restart"): 2678400.0, RESTART: "P31D"}, 1),
    ("TIM006", {("time_nml", "dt_restart"): 864001.0}, 1),
    ("TIM006", {("time_nml", "dt_restart"): 864001.0, LAST: False}, 0),
    ("TIM006", {("time_nml", "dt_restart"): 864001.0, RESTART: ""}, 0),
    ("TIM007", {LEAD: "P10D"}, 0),
    ("TIM007", {LEAD: "P9D"}, 1),
    ("TIM007", {LEAD: "P9D", STOP: ""}, 0),
    ("TIM007", {LEAD: "soon"}, 0),
    ("TIM008", {STOP: "2008-09-11T00:10:00Z"}, 0),
    ("TIM008", {STOP: "2008-09-11T00:05:00Z"}, 1),
    ("TIM009", {CALENDAR: "Proleptic Gregorian "}, 0),
    ("TIM009", {CALENDAR: "360 day year"}, 0),
    ("TIM009", {CALENDAR: "julian gregorian"}, 0),
    ("TIM009", {CALENDAR: "maya"}, 1),
    ("TIM009", {CALENDAR: " "}, 0),
    ("TIM010", {DAMPING: 24, CHECKPOINT: "PT2H30M"}, 0),
    ("TIM010", {DAMPING: 24, CHECKPOINT: "PT2H20M"}, 1),
    ("TIM010", {DAMPING: 4, CHECKPOINT: "PT2H20M"}, 0),
    ("TIM010", {DAMPING: 24, CHECKPOINT: "PT2H20M", IS_RESTART: True}, 0),
    ("TIM010", {DAMPING: 24, CHECKPOINT: "", ("io_nml", "dt_checkpoint"): 8400.0}, 1),
    ("TIM010", {DAMPING: 24, CHECKPOINT: "PT200M"}, 1),  # no hours
    ("TIM010", {DAMPING: 24, CHECKPOINT: "PT9000S"}, 0),
    ("TIM010", {DAMPING: 24, CHECKPOINT: "PT8999S"}, 1),
    ("TIM010", {DAMPING: 24, CHECKPOINT: "PT0S"}, 0),
    ("TIM010", {DAMPING: 24, CHECKPOINT: "P1M", ("io_nml", "dt_checkpoint"): 8400.0}, 1),
    ("TIM011", {STOP: "2008-09-01T00:00:00Z"}, 1),
    ("TIM011", {STOP: "2008-09-01T00:10:00Z"}, 0),
    ("TIM011", {(RUN, "nsteps"): 0}, 1),
    ("TIM011", {(RUN, "nsteps"): 1}, 0),
    ("TIM012", {CHECKPOINT: "12 hours"}, 1),
    ("TIM012", {CHECKPOINT: "PT12H  "}, 0),
    ("TIM012", {LEAD: "soon"}, 0),
    ("TIM012", {LEAD: "soon", STOP: ""}, 1),
    ("TIM012", {("io_nml", "precip_interval"): "soon"}, 0),
    ("TIM012", {("io_nml", "precip_interval"): "soon", (RUN, "iforcing"): 3}, 1),
    ("TIM012", {("aes_phy_nml", "aes_phy_config(1)%dt_vdf"): "P4H", (RUN, "iforcing"): 2}, 1),
    ("TIM012", {("aes_phy_nml", "aes_phy_config(1)%dt_vdf"): "P4H", (RUN, "iforcing"): 3}, 0),
    ("TIM012", {("aes_phy_nml", "aes_phy_config(1)%dt_vdf"): " ", (RUN, "iforcing"): 2}, 0),
    ("TIM012", {("output_nml", "output_start"): "<2008-09-01T00:00:00Z"}, 0),
    ("TIM012", {("output_nml", "output_interval"): ["PT1H", "soon"]}, 0),
    ("TIM012", {("output_nml", "output_interval"): ["soon", "PT1H"]}, 1),
    ("TIM012", {("output_nml", "output_start"): "tomorrow"}, 1),
    ("TIM012", {("output_nml", "output_start"): "tomorrow", (RUN, "output"): "none"}, 0),
    ("TIM013", {("time_nml", "ini_datetime_string"): "2008-09-01T00:00:00Z"}, 0),
    ("TIM013", {("time_nml", "ini_datetime_string"): "2008-09-01T00:00:01Z"}, 1),
    ("TIM013", {("time_nml", "end_datetime_string"): "2008-09-11T00:00:00Z"}, 0),
    ("TIM013", {("time_nml", "end_datetime_string"): "2008-09-12T00:00:00Z"}, 1),
    ("TIM013", {("time_nml", "ini_datetime_string"): "soon"}, 0),
]


@rows(("code", "changes", "count"), CASES)
def test_boundaries(code: str, changes: dict[tuple[str, str], object], count: int, tmp_path: Path) -> None:
    experiment = experiment_of("nmlgen: 1\n", tmp_path)
    for (group, name), value in changes.items():
        setting = written(group, name, value)
        if group == "time_nml":  # ICON looks for it beside the other groups of the master
            experiment = evolve(experiment, master=(*experiment.master, Group(group, {name.lower(): setting})))
        else:
            experiment = with_setting(experiment, group, name, setting)
    assert [finding.code for finding in judge(experiment, [RULES[code]])] == [code] * count


def test_older_dates_outside_of_the_master_are_not_read(tmp_path: Path) -> None:
    setting = written("time_nml", "ini_datetime_string", "2000-01-01T00:00:00Z")
    experiment = with_setting(experiment_of("nmlgen: 1\n", tmp_path), "time_nml", "ini_datetime_string", setting)
    assert judge(experiment, [RULES["TIM013"]]) == []


@pytest.mark.parametrize(
    ("seconds", "length"),
    [(86400.0, 86_400_000), (58.0, 30 * 86_400_000)],  # months are not compared with a minute; less of it is refused
)
def test_older_seconds_win_over_months_of_checkpoints(seconds: float, length: int, tmp_path: Path) -> None:
    experiment = with_setting(experiment_of("nmlgen: 1\n", tmp_path), *CHECKPOINT, written(*CHECKPOINT, "P1M"))
    older = written("io_nml", "dt_checkpoint", seconds)
    experiment = with_setting(experiment, "io_nml", "dt_checkpoint", older)
    assert clock(experiment.components[0]).checkpoint == length
    (found,) = judge(experiment, [RULES["TIM005"]])
    assert (found.severity is Severity.WARNING) == (seconds > 58)


def test_a_step_of_months_is_an_error_where_there_is_output(tmp_path: Path) -> None:
    experiment = with_setting(experiment_of("nmlgen: 1\n", tmp_path), *STEP, written(*STEP, "P1M"))
    silent = with_setting(experiment, RUN, "output", written(RUN, "output", "none"))
    found = [judge(one, [RULES["TIM002"]])[0].severity for one in (experiment, silent)]
    assert found == [Severity.ERROR, Severity.WARNING]


@pytest.mark.parametrize(
    ("code", "changes"),
    [
        ("TIM004", {STEP: "PT90M", SECONDS: 5400.0}),
        ("TIM005", {CHECKPOINT: "PT24H", ("io_nml", "dt_checkpoint"): 86400.0}),
        ("TIM010", {DAMPING: 24, CHECKPOINT: "PT200M"}),
        ("TIM010", {DAMPING: 24, CHECKPOINT: "PT150M"}),
        ("OUT008", {STEP: "PT1H", ("output_nml", "output_interval"): "PT60M"}),
    ],
)
def test_what_only_its_spelling_tells_is_an_error_where_the_library_was_tried(code, changes, tmp_path: Path) -> None:
    rule = next(rule for rule in all_rules() if rule.code == code)
    for release, severity in (("2024.10", Severity.ERROR), ("2025.04", Severity.WARNING)):
        experiment = experiment_of(f'nmlgen: 1\nmodel: {{release: "{release}"}}\n', tmp_path)
        for (group, name), value in changes.items():
            experiment = with_setting(experiment, group, name, written(group, name, value))
        assert {finding.severity for finding in judge(experiment, [rule])} == {severity}


@pytest.mark.parametrize(("start", "severity"), [("2008-09-01T00:00:00Z", Severity.WARNING), ("", Severity.ERROR)])
def test_a_reference_that_cannot_be_read_is_idle_beside_a_start(start: str, severity: Severity, tmp_path: Path) -> None:
    experiment = experiment_of("nmlgen: 1\n", tmp_path)
    for place, value in ((START, start), ((TIME, "experimentReferenceDate"), "abc")):
        experiment = with_setting(experiment, *place, written(*place, value))
    (finding,) = judge(experiment, [RULES["TIM012"]])
    assert finding.severity is severity
