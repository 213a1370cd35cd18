"""Output times, and the number of files, against runs of ICON 2024.10."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from nmlgen.experiment.component import Component
from nmlgen.experiment.group import Group
from nmlgen.experiment.setting import UndecidedError, written
from nmlgen.models.icon.clock import clock
from nmlgen.models.icon.output import output_directories, windows
from nmlgen.models.icon.ranks import output_files
from nmlgen.models.icon.schedule import files_of_a_sequence, largest_file, output_steps, sequence
from nmlgen.models.icon.volume import points

Build = Callable[[str], Component]


def stream(hours: int, step: str, settings: str) -> str:
    """A run of some hours with the stream s0."""
    return f"""
time: {{start: 2000-01-01T00:00:00Z, stop: 2000-01-01T0{hours}:00:00Z, modelTimeStep: {step}}}
output:
  atm: null
  s0: {{ml_varlist: [temp, u], {settings}}}
"""


# hours, settings, then output steps and the files of each partition that the real model wrote
RUNS = [
    (2, "output_interval: PT40M, file_interval: PT120M", 4, [2]),
    (3, "output_interval: PT30M, steps_per_file: 3, include_last: false", 7, [2]),
    (1, "output_interval: PT20M, steps_per_file: 1, filetype: 2", 4, [4]),
    (1, "output_interval: PT20M, steps_per_file: 2, steps_per_file_inclfirst: false", 4, [2]),
    (1, "output_interval: PT25M, file_interval: PT1H", 4, [2]),
    (1, "output_interval: PT6H, file_interval: PT1H", 2, [2]),
    (1, "output_interval: PT15M, steps_per_file: 1, include_last: false", 5, [4]),
    (3, "output_interval: PT10M, file_interval: PT40M, stream_partitions_ml: 3", 19, [5, 4, 4]),
    (3, "output_interval: PT10M, file_interval: PT40M, stream_partitions_ml: 4", 19, [5, 5, 5, 4]),
    (3, "output_interval: PT10M, file_interval: PT20M, stream_partitions_ml: 3", 19, [7, 6, 6]),
    (3, "output_interval: PT60M, file_interval: PT180M, stream_partitions_ml: 3", 4, [2, 1, 1]),
    (2, "output_interval: PT20M, file_interval: PT60M, stream_partitions_ml: 2", 7, [3, 2]),
    (2, "output_interval: PT20M, steps_per_file: 6, stream_partitions_ml: 2", 7, [4, 3]),
    (1, "output_interval: PT15M, file_interval: PT45M, stream_partitions_ml: 2", 5, [2, 1]),
    (3, "output_bounds: [0.0, 10800.0, 600.0], steps_per_file: 3, stream_partitions_ml: 2", 19, [10, 9]),
    (1, "output_bounds: [600.0, 3600.0, 1200.0], file_interval: PT60M", 4, [1]),
    (1, "output_bounds: [900.0, 3600.0, 1800.0], file_interval: PT60M, stream_partitions_ml: 2", 2, [1, 1]),
    (1, "output_interval: PT20M, steps_per_file: 0", 4, [1]),
]


@pytest.mark.parametrize(("hours", "settings", "steps", "files"), RUNS)
def test_files_are_those_of_icon(build: Build, hours: int, settings: str, steps: int, files: list[int]) -> None:
    component = build(stream(hours, "PT5M", settings))
    time, group = clock(component), component.streams[0]
    assert output_steps(component, group, time) == steps
    found = [files_of_a_sequence(component, group, "ml", time, number + 1) for number in range(len(files))]
    assert found == files
    assert files_of_a_sequence(component, group, "ml", time) == max(files)


@pytest.mark.parametrize(
    ("settings", "steps"),
    [
        ("output_interval: PT6H", 2),  # include_last adds the end of the experiment
        ("output_interval: PT6H, include_last: false", 1),
        ("output_interval: PT25M", 4),
        ("output_interval: PT25M, include_last: false", 3),
        ('output_start: ">2000-01-01T00:00:00Z", output_interval: PT20M', 3),
        ('output_end: "<2000-01-01T01:00:00Z", output_interval: PT20M', 3),
        ('output_start: ">2000-01-01T00:00:00Z", output_interval: PT20M, stream_partitions_ml: 2', 4),
        ("output_start: 1999-12-31T00:00:00Z, output_interval: PT20M", 4),
        ("output_start: 1999-12-31T23:50:00Z, output_interval: PT20M, include_last: false", 3),
        ("output_end: 2000-01-05T00:00:00Z, output_interval: PT20M", 4),
        ("output_start: 2000-01-01T01:00:00Z, output_end: 2000-01-01T00:00:00Z, output_interval: PT20M", 0),
        ("output_start: 2000-02-01T00:00:00Z, output_end: 2000-03-01T00:00:00Z, output_interval: PT20M", 0),
    ],
)
def test_output_times(build: Build, settings: str, steps: int) -> None:
    component = build(stream(1, "PT5M", f"file_interval: PT1H, {settings}"))
    time, group = clock(component), component.streams[0]
    assert output_steps(component, group, time) == steps
    assert (files_of_a_sequence(component, group, "ml", time) > 0) is (steps > 0)


def test_several_windows(build: Build) -> None:
    settings = """output_start: [2000-01-01T00:00:00Z, 2000-01-01T00:30:00Z],
      output_end: [2000-01-01T00:30:00Z, 2000-01-01T01:00:00Z], output_interval: [PT10M, PT20M],
      file_interval: PT1H, include_last: false"""
    component = build(stream(1, "PT5M", settings))
    found = windows(component, component.streams[0], clock(component))
    assert [(window.start, window.stop, window.interval) for window in found] == [
        (0, 1_800_000, 600_000),
        (1_800_000, 3_600_000, 1_200_000),
    ]


PLAYED = [settings for _, settings, _, _ in RUNS] + [
    "output_interval: PT10M, file_interval: PT25M",
    "output_interval: PT10M, file_interval: PT25M, include_last: false",
    "output_interval: PT50M, file_interval: PT60M",
    "output_interval: PT7M, steps_per_file: 4",
    "output_interval: PT7M, steps_per_file: 4, steps_per_file_inclfirst: false",
    "output_interval: PT7M, file_interval: PT7M, stream_partitions_ml: 3",
    'output_start: ">2000-01-01T00:00:00Z", output_interval: PT20M, file_interval: PT1H',
]


@pytest.mark.parametrize("settings", PLAYED)
@pytest.mark.parametrize("hours", [1, 3])
def test_files_and_the_largest_are_those_of_the_schedule(build: Build, hours: int, settings: str) -> None:
    """What is counted in closed form is what comes of writing record by record."""
    component = build(stream(hours, "PT5M", settings))
    time, group = clock(component), component.streams[0]
    found = [(0, 0)]
    for file in output_files(component):
        played = list(sequence(component, file, 0, time))
        if not played:
            assert files_of_a_sequence(component, group, "ml", time, file.partition) == 0
            continue
        assert files_of_a_sequence(component, group, "ml", time, file.partition) == played[-1].number
        found.append((played[-1].number, max(write.record for write in played)))
    assert largest_file(component, group, "ml", time) == max(records for _, records in found[1:2])


@pytest.mark.parametrize(
    ("settings", "steps", "files", "largest"),
    [
        ("output_interval: P1M, file_interval: P1Y", 13, 2, 12),
        ("output_interval: P1M, file_interval: P3M", 13, 5, 3),
        ("output_interval: P1D, file_interval: P1M", 366, 13, 31),
        ("output_interval: P1M, file_interval: P1Y, include_last: false", 13, 2, 12),
    ],
)
def test_months_are_those_of_the_calendar(build: Build, settings: str, steps: int, files: int, largest: int) -> None:
    """Monthly output over a year from the shortest month on."""
    component = build(f"""
time: {{start: 2001-02-01T00:00:00Z, stop: 2002-02-01T00:00:00Z, modelTimeStep: PT30M}}
output:
  atm: null
  s0: {{ml_varlist: [temp, u], {settings}}}
""")
    time, group = clock(component), component.streams[0]
    assert output_steps(component, group, time) == steps
    assert files_of_a_sequence(component, group, "ml", time) == files
    assert largest_file(component, group, "ml", time) == largest


@pytest.mark.parametrize(
    "settings",
    [
        "stream_partitions_ml: four",
        "output_start: [2008-09-01T00:00:00Z, 2008-09-02T00:00:00Z]",
        "output_bounds: [0.0, 3600.0]",
        "output_bounds: [0.0, a, 3600.0]",
        "output_bounds: [0.0, 3600.0, 600.0], output_time_unit: 9",
        "file_interval: null, steps_per_file: many, stream_partitions_ml: 1",
    ],
)
def test_what_nobody_can_know(build: Build, settings: str) -> None:
    component = build(f"output: {{atm: {{{settings}}}}}")
    with pytest.raises(UndecidedError):
        files_of_a_sequence(component, component.streams[0], "ml", clock(component))


@pytest.mark.parametrize(
    ("grid", "number"),
    [
        ("{name: R2B5}", 81920),
        ("{name: R2B6}", 327680),
        ("{name: r02b04}", 20480),
        ("{name: null, file: iconR02B06-grid.nc}", 327680),
        ("{name: null, file: icon_grid_0019_R03B07_G.nc}", 2949120),
        ("{name: null, file: Torus_Triangles_20x4_5000m.nc}", 160),
        ("{name: null, file: grids/Torus_Triangles_100x116_1000m.nc}", 23200),
        ("{name: R2B5, file: Torus_Triangles_20x4_5000m.nc}", 81920),
    ],
)
def test_cells_of_a_grid(build: Build, grid: str, number: int) -> None:
    assert points(build(f"grid: {grid}"))["cell"] == number


@pytest.mark.parametrize("file", ["grid.nc", "Torus_Triangles_0x4_5000m.nc", "Torus_Quads_40x40_10km.nc"])
def test_cells_of_an_unnamed_grid(build: Build, file: str) -> None:
    with pytest.raises(UndecidedError):
        points(build(f"grid: {{name: null, file: {file}}}"))


@pytest.mark.parametrize(
    "settings",
    [
        lambda number: f"output_bounds: [{', '.join(['0.0, 60.0, 3600.0'] * number)}]",
        lambda number: ", ".join(
            f"{name}: [{', '.join([text] * number)}]"
            for name, text in (
                ("output_start", "2000-01-01T00:00:00Z"),
                ("output_end", "2000-01-01T00:00:00Z"),
                ("output_interval", "PT1H"),
            )
        ),
    ],
)
def test_more_windows_than_anybody_could_look_at(build: Build, settings: Callable[[int], str]) -> None:
    many, more = (build(stream(1, "PT5M", settings(number))) for number in (100, 101))
    assert len(windows(many, many.streams[0], clock(many))) == 100
    with pytest.raises(UndecidedError) as caught:
        windows(more, more.streams[0], clock(more))
    assert caught.value.reason is not None
    assert caught.value.reason.endswith("makes more than 100 windows")


UNITS = [(1, 1), (2, 60), (3, 3600), (4, 86400), (5, 30 * 86400), (6, 365 * 86400)]


@pytest.mark.parametrize(("unit", "seconds"), UNITS)
def test_bounds_are_in_units_of_time(build: Build, unit: int, seconds: int) -> None:
    component = build(stream(1, "PT5M", f"output_bounds: [1.0, 3.0, 2.0], output_time_unit: {unit}"))
    (window,) = windows(component, component.streams[0], clock(component))
    assert (window.start, window.stop, window.interval) == (1000 * seconds, 3000 * seconds, 2000 * seconds)


@pytest.mark.parametrize(
    ("bounds", "unit", "start"),
    [
        ("-2.0, 3600.0, 1200.0", 1, -2000),  # as ICON ran it
        ("-2.0, 3600.0, 1200.0", 2, None),
        ("0.0, -3.0, 60.0", 2, None),
        ("0.0, 60.0, 20.0", 2, 0),
        ("-1.0, 3600.0, 1200.0", 1, None),  # which is none to ICON
        ("0.0, 3600.0, 600.0, -1.0, 3600.0, 1200.0", 1, None),
        ("0.0, -1.0, 600.0", 1, 0),
    ],
)
def test_bounds_before_the_start(build: Build, bounds: str, unit: int, start: int | None) -> None:
    component = build(stream(1, "PT5M", f"output_bounds: [{bounds}], output_time_unit: {unit}"))
    if start is not None:
        assert windows(component, component.streams[0], clock(component))[0].start == start
        return
    with pytest.raises(UndecidedError):
        windows(component, component.streams[0], clock(component))


def test_directories_that_are_written_to() -> None:
    names = ("out/a", "b", "out/c", "/work/d", "far/out/e")
    groups = [Group("output_nml", {"output_filename": written("output_filename", name, "test")}) for name in names]
    groups += [
        Group("output_nml", {}),
        Group("run_nml", {"output_filename": written("output_filename", "x/y", "test")}),
    ]
    assert output_directories(groups) == ("out", ".", "/work", "far/out")


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"output_filename": "a", "filename_format": "out/<output_filename>_<jfile>"}, ("out",)),
        ({"output_filename": "b/a", "filename_format": " out/<output_filename>_<jfile>"}, ("out/b",)),
        ({"output_filename": "b/a", "filename_format": "<output_filename>_<jfile>"}, ("b",)),
        ({"output_filename": "b/a", "filename_format": "<jfile>"}, (".",)),
        ({"filename_format": "out/<jfile>"}, ("out",)),
        ({"output_filename": "a", "filename_format": "out/<jfile>/<output_filename>"}, ()),
        ({}, ()),
    ],
)
def test_directories_that_the_format_of_names_says(settings: dict[str, str], expected: tuple[str, ...]) -> None:
    group = Group("output_nml", {name: written(name, text, "test") for name, text in settings.items()})
    assert output_directories([group]) == expected
