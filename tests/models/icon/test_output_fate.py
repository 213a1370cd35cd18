"""What a chain of jobs leaves of the output, against what the real model left."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nmlgen.experiment.component import Component
from nmlgen.lift.loading import load
from nmlgen.models.icon.clock import clock
from nmlgen.models.icon.output_fate import Fate, Loss, fate
from nmlgen.models.icon.ranks import output_files
from nmlgen.models.icon.schedule import duties
from nmlgen.models.icon.volume import stream_volumes

Build = Callable[[str], Component]
MINUTE = 60_000
CHAIN = """
time: {start: 2000-01-01T00:00:00Z, stop: 2000-01-01T02:00:00Z, modelTimeStep: PT10M}
restart: {checkpointTimeIntval: PT1H, restartTimeIntval: PT1H}
"""


def fates(component: Component) -> list[Fate]:
    time = clock(component)
    return [fate(component, file, time) for file in output_files(component)]


def held(found: Fate) -> dict[str, list[int]]:
    """The minutes in each file, by the number in its name."""
    return {
        name.rpartition("_")[2].removesuffix(".nc"): [date // MINUTE for date in dates]
        for name, dates in found.files.items()
    }


def test_full_files_are_overwritten(build: Build) -> None:
    """One step a file, two partitions, two jobs: of 13 records 12 were left by ICON 2024.10."""
    output = "output: {atm: {output_interval: PT10M, steps_per_file: 1, file_interval: null, stream_partitions_ml: 2}}"
    component = build(f"{CHAIN}\n{output}")
    first, second = fates(component)
    assert held(first) == {
        "0001": [0],
        "0003": [20],
        "0005": [40],
        "0007": [60],
        "0009": [80],
        "0011": [100],
        "0013": [120],
    }
    assert held(second) == {"0002": [10], "0004": [30], "0006": [70], "0008": [90], "0010": [110]}
    assert (first.losses, first.moved) == ((), None)
    assert [(loss.leg, loss.records) for loss in second.losses] == [(2, 1)]
    assert first.records + second.records == 12
    assert [volume.records for volume in stream_volumes(component)] == [12]


def test_the_first_file_is_appended_to(build: Build) -> None:
    output = "output: {atm: {output_interval: PT50M, file_interval: PT50M, stream_partitions_ml: 2}}"
    _, second = fates(build(f"{CHAIN}\n{output}"))
    assert second.losses == ()
    assert held(second) == {"0002": [50]}


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("output_interval: PT10M, steps_per_file: 1, file_interval: null", 13),
        ("output_interval: PT10M, steps_per_file: 6, file_interval: null", 13),
        ("output_interval: PT10M, file_interval: PT1H", 13),
        # no record at 01:00: 00:40 is in file 2, 01:20 again; but not where 02:00 is appended to the first job's
        ("output_interval: PT40M, file_interval: PT40M, include_last: false", 3),
        ("output_interval: PT40M, file_interval: PT40M, include_last: true", 4),
        ("output_interval: PT40M, file_interval: PT2H", 4),  # all in the first file, which is appended to
    ],
)
def test_records_that_are_left(output: str, expected: int, build: Build) -> None:
    (only,) = fates(build(f"{CHAIN}\noutput: {{atm: {{{output}, stream_partitions_ml: 1}}}}"))
    assert only.records == expected
    assert bool(only.losses) == (expected == 3)


def test_records_move_to_other_files(build: Build) -> None:
    output = "output_interval: PT10M, steps_per_file: 4, file_interval: null, stream_partitions_ml: 1"
    (only,) = fates(build(f"{CHAIN}\noutput: {{atm: {{{output}}}}}"))
    assert only.losses == ()
    assert only.moved is not None
    assert only.moved[0] == 90 * MINUTE


def test_names_with_dates_lose_nothing(build: Build) -> None:
    output = 'filename_format: "<output_filename>_<datetime2>", output_interval: PT10M, file_interval: PT20M'
    found = fates(build(f"{CHAIN}\noutput: {{atm: {{{output}, stream_partitions_ml: 2}}}}"))
    assert all(not sequence.losses for sequence in found)
    assert sum(sequence.records for sequence in found) == 13


def test_one_job_loses_nothing(build: Build) -> None:
    (only,) = fates(build("output: {atm: {stream_partitions_ml: 1}}"))
    assert (only.losses, only.moved) == ((), None)


def test_the_end_that_include_last_appends_counts(build: Build) -> None:
    """Jobs to 00:30 and to 01:00 of ICON 2024.10: the first file has 00:00 and 00:20, the second 00:40 and 01:00."""
    times = CHAIN.replace("02:00:00Z", "01:00:00Z").replace("PT1H", "PT30M")
    output = "{output_interval: PT20M, file_interval: PT1H, include_last: true, stream_partitions_ml: 1}"
    (only,) = fates(build(f"{times}\noutput: {{atm: {output}}}"))
    assert held(only) == {"0001": [0, 20], "0002": [40, 60]}


def test_the_first_jobs_of_a_chain(build: Build) -> None:
    component = build(f"{CHAIN}\noutput: {{atm: {{output_interval: PT10M, file_interval: PT30M}}}}")
    time, (file, *_) = clock(component), output_files(component)
    assert fate(component, file, time, legs=1).records < fate(component, file, time).records
    assert fate(component, file, time, legs=2) == fate(component, file, time)


def test_losses_name_the_file(build: Build) -> None:
    output = (
        "output: {atm: {output_interval: PT40M, file_interval: PT40M, include_last: false, stream_partitions_ml: 1}}"
    )
    (only,) = fates(build(f"{CHAIN}\n{output}"))
    assert [Loss(loss.leg, loss.name.rpartition("_")[2], loss.records) for loss in only.losses] == [
        Loss(2, "0002.nc", 1)
    ]


MASTER = """\
&master_nml
/
&master_time_control_nml
 experimentStartDate = "2000-01-01T00:00:00Z"
 experimentStopDate = "2000-01-01TSTOP:00:00Z"
 restartTimeIntval = "LEG"
 checkpointTimeIntval = "LEG"
/
&master_model_nml
 model_type = KIND
 model_name = "one"
 model_namelist_filename = "NAMELIST_one"
/
"""
MODEL = """\
&grid_nml
 dynamics_grid_filename = "grid.nc"
/
&run_nml
 modelTimeStep = "PT10M"
 output = "nml"
/
&output_nml
 output_filename = "one"
 output_start = "2000-01-01T00:00:00Z"
 output_end = "2000-01-01T02:00:00Z"
 output_interval = "PT20M"
 file_interval = "FILE"
 ml_varlist = "VARIABLE"
/
"""


def lifted(directory: Path, kind: int, variable: str, stop: str, leg: str, file_interval: str) -> Component:
    """A model by itself, from its namelists."""
    master = MASTER.replace("STOP", stop).replace("LEG", leg).replace("KIND", str(kind))
    (directory / "icon_master.namelist").write_text(master, encoding="utf-8")
    model = MODEL.replace("FILE", file_interval).replace("VARIABLE", variable)
    (directory / "NAMELIST_one").write_text(model, encoding="utf-8")
    return load(directory, ntasks=1, icon_release="2024.10").experiment.components[0]


@pytest.mark.parametrize(("kind", "variable", "left"), [(2, "to", 4), (98, "hs", 7)])
def test_an_ocean_counts_its_files_anew(kind: int, variable: str, left: int, tmp_path: Path) -> None:
    """Two jobs of ICON 2024.10 with a step a file: of an ocean 4 of 7 records were left, of waves all."""
    component = lifted(tmp_path, kind, variable, "02", "PT1H", "PT20M")
    (found,) = fates(component)
    assert found.records == left
    if kind == 2:
        assert held(found) == {"0001": [0], "0002": [80], "0003": [100], "0004": [120]}


def test_an_ocean_appends_to_its_first_file(tmp_path: Path) -> None:
    (found,) = fates(lifted(tmp_path, 2, "to", "01", "PT30M", "PT1H"))
    assert held(found) == {"0001": [0, 20, 40, 60]}


BY_TWO = "output_interval: PT10M, steps_per_file: 2, file_interval: null, include_last: false"
BY_HOURS = "output_interval: PT20M, file_interval: PT1H, include_last: true"


@pytest.mark.parametrize(
    ("when", "output", "expected"),
    [
        ("01:00", BY_TWO, {"0003": [70], "0004": [80, 90], "0005": [100, 110], "0006": [120]}),
        ("00:30", BY_TWO, {"0002": [40], "0003": [50, 60], "0004": [70, 80], "0005": [90, 100], "0006": [110, 120]}),
        ("01:00", BY_HOURS, {"0002": [80, 100], "0003": [120]}),
        ("00:30", BY_HOURS, {"0001": [40, 60, 80], "0002": [100, 120]}),
    ],
)
def test_files_of_a_branch(when: str, output: str, expected: dict[str, list[int]], build: Build) -> None:
    """As ICON 2024.10 left them, from the checkpoints of an experiment with the same output."""
    restart = "restart: {checkpointTimeIntval: PT30M, restartTimeIntval: PT1H}\n"
    branch = f"start_from: {{directory: /work/before/run, time: 2000-01-01T{when}:00Z}}\n"
    stream = f"output: {{atm: {{{output}, stream_partitions_ml: 1}}}}"
    component = build(f"{CHAIN.splitlines()[1]}\n{restart}{branch}{stream}")
    (only,) = fates(component)
    assert held(only) == expected
    assert [(volume.records, volume.files) for volume in stream_volumes(component)] == [
        (sum(map(len, expected.values())), len(expected))
    ]
    (duty,) = (each for row in duties(component, clock(component)) for each in row)
    written = [
        date for dates in expected.values() for date in dates if date <= 60 * (1 + int(when[:2])) + int(when[3:])
    ]
    assert (duty.first, duty.records) == (written[0] * MINUTE, len(written))
    assert duty.first_name == next(iter(only.files))


def test_a_branch_of_the_ocean_counts_files_from_one(build: Build) -> None:
    branch = "start_from: {directory: /work/before/run, time: 2000-01-01T01:00:00Z}\n"
    ocean = "namelists: {master_model_nml: {model_type: 2}}\n"
    stream = (
        "output: {atm: {output_interval: PT20M, file_interval: PT1H, include_last: false, stream_partitions_ml: 1}}"
    )
    (only,) = fates(build(f"{CHAIN}{branch}{ocean}{stream}"))
    assert held(only) == {"0001": [80, 100], "0002": [120]}
