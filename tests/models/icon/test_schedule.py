"""The order of writing: what the runs of the real ICON in `tests/verdicts` do not show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import product
from random import Random

import pytest

from nmlgen.experiment.component import Component
from nmlgen.experiment.setting import UndecidedError
from nmlgen.models.icon import schedule
from nmlgen.models.icon.clock import clock
from nmlgen.models.icon.ranks import output_files
from nmlgen.models.icon.schedule import (
    FileEnds,
    Names,
    active_times,
    all_dates,
    appended_date,
    dates_by_job,
    duties,
    files_of_a_sequence,
    first_writes,
    largest_file,
    output_dates,
    output_steps,
    skipped_dates,
    writes,
)

MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000


@pytest.fixture
def dates(build: Callable[[str], Component]) -> Callable[..., list[int]]:
    """The output times, in hours, of the first partition of a stream with these settings."""

    def of(settings: str, rest: str = "", unit: int = HOUR) -> list[int]:
        component = build(f"output:\n  atm: null\n  s0: {{ml_varlist: [temp], {settings}}}\n{rest}")
        return [date // unit for date in output_dates(component, output_files(component)[0], clock(component))]

    return of


def test_months_follow_the_calendar(dates: Callable[..., list[int]]) -> None:
    rest = "time: {start: 2001-01-01T00:00:00Z, stop: 2001-06-01T00:00:00Z}\nrestart: {restartTimeIntval: null}"
    settings = "output_interval: P1M, file_interval: P1Y"
    assert dates(settings, rest, DAY) == [0, 31, 59, 90, 120, 151]
    assert dates(f"{settings}, stream_partitions_ml: 2", rest, DAY) == [0, 62, 124]
    assert dates(f"{settings}, output_start: '>2001-01-01T00:00:00Z'", rest, DAY) == [31, 59, 90, 120, 151]
    assert dates(f"{settings}, output_start: 2000-12-15T00:00:00Z", rest, DAY) == [14, 45, 73, 104, 134, 151]


def test_the_first_domain_has_no_times_of_its_own(build: Callable[[str], Component]) -> None:
    nested = (
        "namelists:\n  grid_nml: {dynamics_grid_filename: [iconR02B05-grid.nc, nest.nc], "
        "dynamics_parent_grid_id: [0, 1], start_time: [3600.0, 7200.0], end_time: [5400.0, 14400.0]}\n"
    )
    component = build(
        f"output: {{atm: {{output_interval: PT1H, file_interval: P1D, stream_partitions_ml: 1}}}}\n{nested}"
    )
    time, stream = clock(component), component.streams[0]
    assert active_times(component, 1, time) == (0, time.length)
    assert active_times(component, 2, time) == (7_200_000, 14_400_000)
    assert largest_file(component, stream, "ml", time) == 24
    assert output_steps(component, stream, time) == 241
    assert output_steps(component, stream, time, "ml", 2) == 3


def test_windows_are_merged(dates: Callable[..., list[int]]) -> None:
    settings = (
        "file_interval: P1D, include_last: false, output_bounds: [0.0, 10800.0, 3600.0, 10800.0, 21600.0, 10800.0]"
    )
    assert dates(settings) == [0, 1, 2, 3, 6]


def test_only_the_first_job_counts(dates: Callable[..., list[int]]) -> None:
    settings = "file_interval: P1D, output_interval: PT7H"
    whole = dates(settings, "restart: {restartTimeIntval: P10D}")
    first = dates(settings, "restart: {restartTimeIntval: P1D}")
    assert first == [0, 7, 14, 21]
    assert whole[-2:] == [238, 240]


def test_output_between_steps_belongs_to_the_step_before(build: Callable[[str], Component]) -> None:
    component = build("output:\n  atm: {output_interval: PT25M, file_interval: P1D, stream_partitions_ml: 1}\n")
    found, count = first_writes(component, clock(component), 3)
    assert [(write.time // MINUTE, write.date // MINUTE) for write in found] == [(0, 0), (20, 25), (50, 50)]
    assert count == 10 * 24 * 60 // 25 + 1


def test_intervals_without_a_start_of_their_own_are_not_looked_at(dates: Callable[..., list[int]]) -> None:
    plain = dates("output_interval: PT7H, file_interval: P1D")
    assert dates("output_interval: [PT7H, P1M], file_interval: P1D") == plain


def test_interval_below_the_step_is_undecided(dates: Callable[..., list[int]]) -> None:
    with pytest.raises(UndecidedError):
        dates("output_interval: PT1S, file_interval: P1D")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("<output_filename>_<datetime>", "s0_2008-09-02T00:00:00.000.nc"),
        ("<output_filename>_<datetime2>", "s0_20080902T000000Z.nc"),
        ("<output_filename>_<datetime3>", "s0_20080902T000000.000Z.nc"),
        ("<output_filename>_<ddhhmmss>", "s0_01000000.nc"),
        ("<output_filename>_<dddhhmmss>", "s0_001000000.nc"),
        ("<output_filename>_<hhhmmss>", "s0_0240000.nc"),
        ("<physdom>-<levtype>-<levtype_l>-<jfile>", "01-ML-ml-0002.nc"),
        ("<output_filename>_<ifile_partition>_<npartitions>_<total_index>", "s0_1_1_0002.nc"),
    ],
)
def test_names(build: Callable[[str], Component], name: str, expected: str) -> None:
    settings = (
        f'ml_varlist: [temp], output_filename: s0, output_interval: PT6H, file_interval: P1D, filename_format: "{name}"'
    )
    component = build(f"output:\n  atm: null\n  s0: {{{settings}}}\n")
    second = next(write for write in writes(component, clock(component)) if write.number == 2)
    assert second.name == expected


def test_duties_count_records_and_files(build: Callable[[str], Component]) -> None:
    component = build("output:\n  atm: {output_interval: PT6H, file_interval: P1D, stream_partitions_ml: 1}\n")
    row = duties(component, clock(component))[0]
    assert [(duty.records, duty.files) for duty in row] == [(41, 11)]
    assert all(not row for row in duties(component, clock(component))[1:])


def test_keywords_in_output_filename_are_text(build: Callable[[str], Component]) -> None:
    component = build('output: {atm: {output_filename: "run<levtype>_<jfile>"}}')
    name = next(writes(component, clock(component))).name
    assert name == "run<levtype>_<jfile>_DOM01_ML_0001.nc"


@pytest.mark.parametrize(
    ("extension", "name"),
    [("<jfile>", "run_ML_0001<jfile>"), (".x_<datetime2>", "run_ML_0001.x_<datetime2>"), ("default", "run_ML_0001.nc")],
)
def test_keywords_in_an_extension_are_text(extension, name, build: Callable[[str], Component]) -> None:
    form = "filename_format: <output_filename>_<levtype>_<jfile>"
    component = build(f"output:\n  atm: {{output_filename: run, {form}, filename_extn: '{extension}'}}\n")
    (file, *_) = output_files(component)
    names = Names(component, file, clock(component))
    assert names.of(1, 0) == name
    assert names.pattern.fullmatch(name)
    assert not names.is_dated


@pytest.mark.parametrize(
    ("more", "numbers"),
    [
        ("steps_per_file: 2, steps_per_file_inclfirst: false", [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6]),
        ("steps_per_file: 2, steps_per_file_inclfirst: true", [1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]),
        ("steps_per_file: 20", [1] * 11),
        ("steps_per_file: 0", [1] * 11),
    ],
)
def test_files_of_so_many_records(more: str, numbers: list[int], build: Callable[[str], Component]) -> None:
    settings = f"output_interval: P1D, file_interval: null, stream_partitions_ml: 1, {more}"
    component = build(f"output:\n  atm: {{{settings}}}\n")
    assert [write.number for write in writes(component, clock(component))] == numbers


FILES = [
    *(f"file_interval: {length}" for length in ("PT6H", "PT7H", "PT18H", "P1D", "P3D")),
    *(f"file_interval: null, steps_per_file: {steps}" for steps in (0, 1, 3)),
    "file_interval: null, steps_per_file: 3, steps_per_file_inclfirst: true",
    "file_interval: null, steps_per_file: 3, steps_per_file_inclfirst: true, filetype: 2",
]


@pytest.mark.parametrize("files", FILES)
@pytest.mark.parametrize("partitions", [1, 2])
def test_files_are_counted_as_they_are_written(files: str, partitions: int, build: Callable[[str], Component]) -> None:
    """By formula, record by record, and in ICON's own order."""
    for hours, include_last in product((6, 7), ("true", "false")):
        stream = f"output_interval: PT{hours}H, stream_partitions_ml: {partitions}, include_last: {include_last}"
        component = build(f"time: {{stop: 2008-09-04T00:00:00Z}}\noutput: {{atm: {{{stream}, {files}}}}}\n")
        time = clock(component)
        written = list(writes(component, time))
        for row in duties(component, time):
            for duty in row:
                own = Counter(write.name for write in written if write.file == duty.file)
                assert (duty.records, duty.files, duty.largest) == (own.total(), len(own), max(own.values()))
                assert duty.first_name == next(iter(own))
                dates = tuple(all_dates(component, duty.file, time))
                played = FileEnds(component, duty.file, time, dates[0]).files(dates, None)
                assert played == (duty.files, duty.largest)
        (stream_group,) = component.streams
        first = [write for write in written if write.file.partition == 1]
        assert output_steps(component, stream_group, time) == len(written)
        assert files_of_a_sequence(component, stream_group, "ml", time) == len({write.name for write in first})
        assert largest_file(component, stream_group, "ml", time) == max(Counter(w.name for w in first).values())


@pytest.mark.parametrize(
    ("stream", "rest", "hours"),
    [
        ("output_interval: PT7H", "", 240),
        ("output_interval: PT7H, include_last: false", "", None),
        ("output_interval: PT7H, output_end: 2008-09-11T00:00:00Z", "", 240),
        ("output_interval: PT7H, output_end: 2008-09-10T23:59:59Z", "", None),
        ("output_interval: PT7H, stream_partitions_ml: 2", "", None),
    ],
)
def test_the_end_is_appended(stream: str, rest: str, hours: int | None, build: Callable[[str], Component]) -> None:
    usual = {"stream_partitions_ml": 1, "include_last": "true", "file_interval": "P1D"}
    given = ", ".join([stream, *(f"{key}: {value}" for key, value in usual.items() if key not in stream)])
    component = build(f"output: {{atm: {{{given}}}}}\n{rest}")
    date = appended_date(component, output_files(component)[0], clock(component))
    assert date == (None if hours is None else hours * HOUR)


@pytest.mark.parametrize(
    ("begin", "end", "expected"),
    [
        (0, 24, ([0, 6, 12, 18, 24], 30)),
        (24, 30, ([24, 30], None)),
        (25, 29, ([], None)),
        (0, 0, ([0], 30)),
        (18, 23, ([18], 30)),
    ],
)
def test_output_times_of_a_job(
    begin: int, end: int, expected: tuple[list[int], int | None], build: Callable[[str], Component]
) -> None:
    stream = "output_interval: PT6H, file_interval: P1D, stream_partitions_ml: 1, include_last: true"
    component = build(f"time: {{stop: 2008-09-02T06:00:00Z}}\noutput: {{atm: {{{stream}}}}}\n")
    regular, last = dates_by_job(component, output_files(component)[0], clock(component))(begin * HOUR, end * HOUR)
    assert ([date // HOUR for date in regular], None if last is None else last // HOUR) == expected


@pytest.mark.parametrize(
    ("days", "hours"),
    [("2.0", [0, 24, 48]), ("1.0", [0, 24]), ("9999.0", [*range(0, 241, 24)])],
)
def test_a_nest_ends_before_the_experiment(days: str, hours: list[int], build: Callable[[str], Component]) -> None:
    """Its end is appended, too, where its streams have earlier times."""
    end = float(days) * 86_400
    text = (
        "namelists: {grid_nml: {dynamics_grid_filename: [a.nc, b.nc], end_time: [0.0, %s]}}\n"
        "output: {atm: {output_interval: P1D, file_interval: P1D, stream_partitions_ml: 1, dom: [2]}}\n"
    )
    component = build(text % end)
    last = appended_date(component, output_files(component)[0], clock(component))
    assert last == min(hours[-1], 240) * HOUR


NEST = """\
time: {start: 2000-01-01T00:00:00Z, stop: 2000-01-01T04:00:00Z, modelTimeStep: PT10M}
restart: {checkpointTimeIntval: PT4H, restartTimeIntval: PT4H}
domains: {inner: {file: inner.nc, start: PT1H, end: PT2H50M}}
output: {atm: null, s: {output_filename: s, ml_varlist: [temp], %s}}
"""


@pytest.mark.parametrize(
    ("settings", "files"),
    [
        ("output_interval: PT30M, file_interval: PT1H", {1: [60, 90], 2: [120, 150, 170]}),
        ("output_interval: PT30M, file_interval: PT1H, include_last: false", {1: [60, 90], 2: [120, 150]}),
        ("output_interval: PT1H, steps_per_file: 2", {1: [60, 120], 2: [170]}),
        ("output_interval: PT30M, steps_per_file: 3", {1: [60, 90, 120], 2: [150, 170]}),
        (
            "output_interval: PT30M, file_interval: PT1H, stream_partitions_ml: 2",
            {3: [60], 4: [90], 5: [120], 6: [150]},
        ),
    ],
)
def test_a_nest_writes_while_it_is_active(settings, files, build: Callable[[str], Component]) -> None:
    """As in runs of ICON 2024.10 with such a nest: what comes before it counts in the numbers of partitions' files."""
    component = build(NEST % settings)
    found: dict[int, list[int]] = {}
    for write in writes(component, clock(component)):
        if write.file.domain == 2:
            found.setdefault(int(write.name[-7:-3]), []).append(write.date // MINUTE)
    assert found == files


def test_jobs_begin_to_count_anew_what_comes_before_a_nest(build: Callable[[str], Component]) -> None:
    component = build(NEST % "output_interval: PT30M, stream_partitions_ml: 2, steps_per_file: 1")
    first, second = (file for file in output_files(component) if file.domain == 2)
    jobs = [(0, 30), (0, 60), (30, 60), (60, 120)]
    assert [skipped_dates(component, first, clock(component), a * MINUTE, b * MINUTE) for a, b in jobs] == [1, 1, 0, 0]
    assert [skipped_dates(component, second, clock(component), a * MINUTE, b * MINUTE) for a, b in jobs] == [1, 1, 1, 0]
    assert skipped_dates(component, output_files(component)[0], clock(component), 0, HOUR) == 0


@pytest.mark.parametrize("times", ["start: PT4H1S", "start: PT4H", "start: PT2H, end: PT2H", "start: PT3H, end: PT2H"])
def test_a_nest_that_is_never_active_writes_nothing(times, build: Callable[[str], Component]) -> None:
    component = build(
        (NEST % "output_interval: PT30M, file_interval: PT1H").replace("start: PT1H, end: PT2H50M", times)
    )
    assert {write.file.domain for write in writes(component, clock(component))} == {1}


@pytest.mark.parametrize("seed", range(40))
def test_a_plain_count_of_what_a_stream_writes(seed: int, build: Callable[[str], Component]) -> None:
    """Each output time by itself: which partition, which file and which record of it, and the same numbers from all
    that count without looking at each."""
    draw = Random(seed)
    step, stop = draw.choice([1, 2, 3, 5, 7]), draw.choice([23, 24, 30, 48])
    begin, end = draw.choice([0, 0, 1, 6, 7]), draw.choice([12, 18, 24, 99])
    partitions, size, last = draw.choice([1, 1, 2, 3]), draw.choice([1, 2, 3, 5, 100]), draw.random() < 0.5
    leg, by_time = draw.choice([6, 12, 18, 240]), draw.random() < 0.5
    files = f"file_interval: PT{size * step}H" if by_time else f"file_interval: null, steps_per_file: {size}"
    day, hour = divmod(end, 24)
    settings = f"output_interval: PT{step}H, output_start: 2008-09-01T{begin:02d}:00:00Z, {files}"
    settings += f", output_end: 2008-09-{1 + day:02d}T{hour:02d}:00:00Z, include_last: {str(last).lower()}"
    settings += f", stream_partitions_ml: {partitions}"
    day, hour = divmod(stop, 24)
    component = build(
        f"time: {{stop: 2008-09-{1 + day:02d}T{hour:02d}:00:00Z}}\n"
        f"restart: {{restartTimeIntval: PT{leg}H, checkpointTimeIntval: PT{leg}H}}\noutput: {{atm: {{{settings}}}}}\n"
    )
    time, (stream,) = clock(component), component.streams
    until = min(end, stop)
    every = list(range(begin, until + 1, step))
    total = 0
    for file in output_files(component):
        own = every[file.partition - 1 :: partitions]
        appended = [stop] if last and partitions == 1 and own and own[-1] < stop <= end else []
        planned = [*own, *appended]
        total += len(planned)
        first = [hours for hours in planned if hours <= min(leg, stop)]
        places, number, record, window = [], 1, 0, 1
        for hours in first:
            if by_time:
                now = (hours - own[0]) // (size * step) + 1
                is_new = record > 0 and now != window
                window = now
            else:
                is_longer = number == 1 and own[0] == 0 and partitions == 1  # the record of the start does not count
                is_new = record >= (1 if partitions > 1 else size + is_longer)
            number, record = (number + 1, 1) if is_new else (number, record + 1)
            places.append((hours, number, record))
        written = [write for write in writes(component, time) if write.file == file]
        assert [(write.date // HOUR, write.number, write.record) for write in written] == places
        assert [date // HOUR for date in output_dates(component, file, time)] == first
        assert [date // HOUR for date in all_dates(component, file, time)] == planned
        (duty,) = [duty for row in duties(component, time) for duty in row if duty.file == file]
        largest = max((record for _, _, record in places), default=0)
        assert (duty.records, duty.files, duty.largest) == (len(first), number if first else 0, largest)
        regular, beyond = dates_by_job(component, file, time)(leg * HOUR, stop * HOUR)
        assert [date // HOUR for date in regular] == [hours for hours in own if leg <= hours <= stop]
        assert beyond == (stop * HOUR if appended and regular else None)
    assert output_steps(component, stream, time) == total
    shown, count = first_writes(component, time, 2)
    times = sorted({write.time for write in writes(component, time)})
    assert (sorted({write.time for write in shown}), count) == (times[:2], len(times))


HOURLY = "output_interval: PT1H, file_interval: null, stream_partitions_ml: 1"


def test_no_partition_makes_no_file(build: Callable[[str], Component]) -> None:
    component = build(f"output: {{atm: {{{HOURLY}}}}}\n".replace("ml: 1", "ml: 0"))
    (stream,), time = component.streams, clock(component)
    assert (files_of_a_sequence(component, stream, "ml", time), largest_file(component, stream, "ml", time)) == (0, 0)


@pytest.mark.parametrize(("most", "is_counted"), [(10, False), (11, True)])
def test_dates_of_the_calendar_are_bounded(most: int, is_counted: bool, build, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule, "_MOST_LISTED", most)
    rest = "time: {start: 2001-01-01T00:00:00Z, stop: 2001-11-01T00:00:00Z}\nrestart: {restartTimeIntval: null}\n"
    monthly = "output_interval: P1M, file_interval: P1Y, stream_partitions_ml: 1, include_last: false"
    component = build(f"{rest}output: {{atm: {{{monthly}}}}}")
    (stream,), time = component.streams, clock(component)
    if is_counted:
        assert output_steps(component, stream, time) == 11
        assert files_of_a_sequence(component, stream, "ml", time) == 1
        return
    with pytest.raises(UndecidedError):
        output_steps(component, stream, time)


TWO_WINDOWS = "[0.0, 10800.0, 3600.0, 10800.0, 21600.0, 10800.0]"


@pytest.mark.parametrize(
    ("bounds", "most", "expected"),
    [
        (TWO_WINDOWS, 6, [0, 1, 2, 3, 6]),  # one of the six is of both windows
        (TWO_WINDOWS, 5, None),
        ("[0.0, 10800.0, 3600.0]", 3, [0, 1, 2, 3]),  # one window's are not gone through
    ],
)
def test_windows_are_merged_up_to_a_bound(bounds, most, expected, dates, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule, "_MOST_LISTED", most)
    settings = f"file_interval: P1D, include_last: false, output_bounds: {bounds}"
    if expected is not None:
        assert dates(settings) == expected
        return
    with pytest.raises(UndecidedError):
        dates(settings)


@pytest.mark.parametrize(("most", "is_counted"), [(23, False), (24, True)])
def test_files_are_gone_through_up_to_a_bound(most: int, is_counted: bool, build, monkeypatch) -> None:
    component = build("output: {atm: {output_interval: PT30M, file_interval: PT1H, stream_partitions_ml: 1}}\n")
    time, (file,) = clock(component), output_files(component)
    monkeypatch.setattr(schedule, "_MOST_FILES", most)
    ends = FileEnds(component, file, time, 0)
    dates = tuple(range(0, 24 * HOUR, HOUR // 2))
    if is_counted:
        assert ends.files(dates, None) == (24, 2)
        return
    with pytest.raises(UndecidedError, match="file_interval"):
        ends.files(dates, None)


def test_the_records_of_a_month_are_counted_and_not_gone_through(build, monkeypatch) -> None:
    text = "time: {stop: 2019-09-01T00:00:00Z}\n"
    component = build(
        f"{text}output: {{atm: {{output_interval: PT1H, file_interval: P1M, stream_partitions_ml: 1}}}}\n"
    )
    time, (file,) = clock(component), output_files(component)
    regular, asked, passed = range(0, time.length, HOUR), [], FileEnds._pass
    monkeypatch.setattr(FileEnds, "_pass", lambda self, date: asked.append(date) or passed(self, date))
    assert FileEnds(component, file, time, 0).files(regular, time.length) == (133, 744)
    assert len(asked) == 133


@pytest.mark.parametrize(
    ("stop", "count"),
    [
        ("2008-09-01T10:00:00Z", 11),  # an appended date that is a regular one, too
        ("2008-09-01T10:30:00Z", 12),
        ("2008-09-01T10:01:00Z", 11),  # of the step of the regular one before it
    ],
)
def test_output_times_beyond_the_bound_are_counted(stop, count, build, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"time: {{stop: {stop}}}\nrestart: {{restartTimeIntval: null}}\n"
    component = build(f"{text}output: {{atm: {{{HOURLY}, include_last: true}}}}")
    time = clock(component)
    assert first_writes(component, time, 1)[1] == count
    monkeypatch.setattr(schedule, "MOST_DATES", 5)
    assert first_writes(component, time, 1)[1] == count


def test_output_that_a_nest_skips_ends_with_the_job(build: Callable[[str], Component]) -> None:
    nested = "namelists:\n  grid_nml: {dynamics_grid_filename: [iconR02B05-grid.nc, nest.nc], "
    nested += "dynamics_parent_grid_id: [0, 1], start_time: [0.0, 36000.0], end_time: [0.0, 86400.0]}\n"
    component = build(f"output: {{atm: {{{HOURLY}}}}}\n{nested}".replace("ml: 1", "ml: 2"))
    file = next(file for file in output_files(component) if (file.domain, file.partition) == (2, 1))
    time = clock(component)
    hours = [(0, 3, 2), (0, 4, 3), (0, 24, 5), (6, 7, 1), (8, 24, 1), (10, 24, 0), (12, 24, 0)]
    for begin, end, skipped in hours:
        assert skipped_dates(component, file, time, begin * HOUR, end * HOUR) == skipped
    assert skipped_dates(component, file, time, 0, 4 * HOUR - 1) == 2
