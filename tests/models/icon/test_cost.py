"""What is worked out of a spec costs the same for whatever numbers it has, or is refused."""

from __future__ import annotations

from collections import Counter

import pytest
from attrs import evolve
from specs import MAPPING, changed, load

from nmlgen.api import load_spec
from nmlgen.experiment.setting import UndecidedError
from nmlgen.models.icon import ranks, schedule
from nmlgen.models.icon.checkpoints import checkpoint_dates
from nmlgen.models.icon.clock import clock, milliseconds
from nmlgen.models.icon.output_fate import fate
from nmlgen.models.icon.ranks import PlacementError, output_files
from nmlgen.models.icon.schedule import MOST_DATES, FileEnds, all_dates, duties, first_writes, sequence
from nmlgen.models.icon.volume import stream_volumes
from nmlgen.models.icon.windows import Windows


def component(**changes):
    (found,) = load(**changes).experiment.components
    return found


def long(**output):
    return component(time={"stop": "9999-12-31T00:00:00Z"}, restart={"restartTimeIntval": None}, output={"atm": output})


def test_duties_are_those_that_are_counted_one_by_one():
    for changes in (
        {},
        {"file_interval": "PT7H"},
        {"steps_per_file": 5, "file_interval": None},
        {"include_last": False},
    ):
        one = component(output={"atm": {"stream_partitions_ml": 1, **changes}}, parallel={"num_io_procs": 1})
        time = clock(one)
        ((duty,),) = duties(one, time)
        written = list(sequence(one, duty.file, 0, time))
        assert duty.records == len(written)
        assert duty.files == written[-1].number
        assert duty.largest == max(write.record for write in written)
        assert duty.first_name == written[0].name


@pytest.mark.parametrize("branch", ["2008-09-02T00:00:00Z", "2008-09-02T00:30:00Z", "2008-09-10T23:00:00Z"])
@pytest.mark.parametrize("include_last", [True, False])
@pytest.mark.parametrize("partitions", [1, 2])
@pytest.mark.parametrize("output_interval", ["PT1H", "PT50M", "PT7H"])
@pytest.mark.parametrize(
    "files",
    [
        {"file_interval": "PT1H"},
        {"file_interval": "PT7H"},
        {"file_interval": "P1D"},
        {"file_interval": "P1M"},
        {"file_interval": None, "steps_per_file": 1},
        {"file_interval": None, "steps_per_file": 5},
        {"file_interval": None, "steps_per_file": 0},
    ],
)
def test_duties_behind_a_branch_are_those_that_are_counted_one_by_one(
    files, output_interval, partitions, include_last, branch
):
    output = {"output_interval": output_interval, "stream_partitions_ml": partitions, "include_last": include_last}
    one = component(
        output={"atm": {**output, **files}},
        parallel={"num_io_procs": partitions},
        start_from={"directory": "/spinup", "time": branch},
    )
    time = clock(one)
    for duty in (duty for row in duties(one, time) for duty in row):
        written = list(sequence(one, duty.file, 0, time))
        by_number = Counter(write.number for write in written)
        assert (duty.records, duty.files) == (len(written), len(by_number))
        assert duty.largest == max(by_number.values(), default=0)
        assert not written or duty.first_name == written[0].name


def test_an_end_far_behind_a_branch(monkeypatch):
    held = []

    def counted(self, dates, of_each=FileEnds.of_each):
        for one in of_each(self, dates):
            held.append(one)
            yield one

    monkeypatch.setattr(FileEnds, "of_each", counted)
    one = component(
        time={"stop": "2028-09-01T00:00:00Z"},
        restart={"restartTimeIntval": None},
        output={"atm": {"stream_partitions_ml": 1, "file_interval": "PT1H"}},
        start_from={"directory": "/spinup", "time": "2008-09-02T00:00:00Z"},
    )
    assert sum(duty.files for row in duties(one, clock(one)) for duty in row) == 175_296
    assert len(held) < 10


def test_an_end_far_away():
    one = long(stream_partitions_ml=4)
    assert sum(duty.records for row in duties(one, clock(one)) for duty in row) == 70_050_553
    writes, count = first_writes(one, clock(one), 3)
    assert (len(writes), count) == (3, None)


def test_output_times_of_one_sequence_are_counted_however_many_there_are():
    one = long(stream_partitions_ml=1)
    assert first_writes(one, clock(one), 2)[1] == 70_050_553


@pytest.mark.parametrize(("stop", "is_known"), [("2065-09-15T07:30:00Z", True), ("2065-09-15T08:30:00Z", False)])
def test_both_sides_of_what_is_gone_through(stop, is_known):
    """Half a million hours, and the end of the experiment half an hour later."""
    one = component(
        time={"stop": stop},
        restart={"restartTimeIntval": None},
        output={"atm": {"stream_partitions_ml": 1}},
    )
    (file,) = output_files(one)
    if is_known:
        assert len(all_dates(one, file, clock(one))) == MOST_DATES + 1
    else:
        with pytest.raises(UndecidedError) as caught:
            all_dates(one, file, clock(one))
        assert caught.value.reason == "output_nml.output_interval makes more than 500000 output times"


HOUR = 3_600_000
APART = {
    "output_interval": ["PT1H", "PT2H"],
    "output_start": ["2008-09-01T00:00:00Z", "2009-01-01T00:00:00Z"],
    "output_end": ["2008-09-01T05:00:00Z", "2009-01-01T06:00:00Z"],
    "stream_partitions_ml": 1,
    "include_last": False,
}


def test_windows_that_lie_apart_are_not_listed():
    one = component(time={"stop": "2010-09-01T00:00:00Z"}, output={"atm": APART})
    (file,) = output_files(one)
    dates = all_dates(one, file, clock(one))
    begin = 122 * 24 * HOUR
    expected = [*range(0, 6 * HOUR, HOUR), *range(begin, begin + 7 * HOUR, 2 * HOUR)]
    assert isinstance(dates, Windows)
    assert list(dates) == expected
    assert [dates[number] for number in range(-10, 10)] == expected + expected
    assert all(list(dates[a:b]) == expected[a:b] for a in range(11) for b in range(11))
    with pytest.raises(IndexError):
        dates[10]


def test_windows_that_overlap_are_listed_as_far_as_that_is_bounded():
    longer = {**APART, "output_start": ["2008-09-01T00:00:00Z"] * 2, "output_end": ["2018-09-01T00:00:00Z"] * 2}
    one = component(time={"stop": "2018-09-01T00:00:00Z"}, output={"atm": longer})
    with pytest.raises(UndecidedError) as caught:
        all_dates(one, output_files(one)[0], clock(one))
    assert caught.value.reason == "output_nml.output_interval makes more than 50000 output times"


@pytest.mark.parametrize(("most", "is_known"), [(24, True), (23, False)])
def test_windows_that_overlap_are_listed_for_all_streams_together(most, is_known, monkeypatch):
    """Three sequences: of a stream whose windows have five output times and three, and of two partitions of another."""
    monkeypatch.setattr(schedule, "_MOST_LISTED_OF_ALL", most)
    start, end = ["2008-09-01T00:00:00Z"] * 2, ["2008-09-01T04:00:00Z"] * 2
    overlapping = {**APART, "output_start": start, "output_end": end}
    more = {**overlapping, "ml_varlist": ["u"], "stream_partitions_ml": 2}
    one = component(output={"atm": overlapping, "b": more})
    if is_known:
        assert len(all_dates(one, output_files(one)[0], clock(one))) == 5
        return
    with pytest.raises(UndecidedError) as caught:
        all_dates(one, output_files(one)[0], clock(one))
    assert caught.value.reason == "output_nml.output_interval makes more than 7 output times"


def test_output_times_of_all_domains_and_level_types_are_the_same_ones():
    levels = {"pl_varlist": ["u"], "p_levels": [50000.0]}
    nests = {"n": {"file": "n.nc"}}
    one = component(domains=nests, output={"atm": {**APART, **levels, "output_start": ["2008-09-01T00:00:00Z"] * 2}})
    found = [all_dates(one, file, clock(one)) for file in output_files(one)]
    assert len(found) == 4
    assert all(dates is found[0] for dates in found)


@pytest.mark.parametrize("ranks", [256, 257])
def test_io_ranks_that_icon_has_room_for(ranks):
    one = component(parallel={"num_io_procs": ranks}, job={"nodes": 100})
    if ranks > 256:
        with pytest.raises(PlacementError, match="room for 256 I/O ranks, there are 257"):
            duties(one, clock(one))
    else:
        assert len(duties(one, clock(one))) == 256


@pytest.mark.parametrize("partitions", [5_000, 5_001, 2_000_000_000])
def test_partitions_without_end(partitions):
    one = component(output={"atm": {"stream_partitions_ml": partitions}})
    if partitions > 5_000:
        with pytest.raises(UndecidedError) as caught:
            output_files(one)
        assert caught.value.reason == "output_nml.stream_partitions_ml is larger than 5000"
    else:
        assert len(output_files(one)) == partitions


@pytest.mark.parametrize("partitions", [1_666, 1_667])
def test_partitions_of_all_streams_together(partitions):
    more = {"output_interval": "PT1H", "ml_varlist": ["u"], "stream_partitions_ml": partitions}
    one = component(output={"atm": {"stream_partitions_ml": partitions}, "b": dict(more), "c": dict(more)})
    if partitions > 1_666:
        with pytest.raises(UndecidedError) as caught:
            output_files(one)
        assert caught.value.reason.endswith("makes more than 5000 sequences of files with those before it")
    else:
        assert len(output_files(one)) == 4_998


@pytest.mark.parametrize(("partitions", "is_known"), [(75, True), (76, False)])
def test_partitions_of_all_models_together(partitions, is_known, monkeypatch):
    monkeypatch.setattr(ranks, "_MOST_FILES", 150)
    experiment = component(output={"atm": {"stream_partitions_ml": partitions}}).experiment
    one, _ = evolve(experiment, models=experiment.models * 2).components
    if is_known:
        assert len(output_files(one)) == 75
    else:
        with pytest.raises(UndecidedError) as caught:
            output_files(one)
        assert caught.value.reason.endswith("makes more than 75 sequences of files with those before it")


def test_a_chain_of_very_many_jobs():
    one = component(restart={"restartTimeIntval": "PT1S"}, time={"modelTimeStep": "PT1S"})
    with pytest.raises(UndecidedError) as caught:
        stream_volumes(one)
    assert "more jobs and output times than are gone through" in caught.value.reason


@pytest.mark.parametrize(
    ("models", "file_interval", "is_known"),
    [(1, "P1D", True), (1, "PT1H", True), (4, "P1D", True), (4, "PT1H", False), (16, "P1D", False)],
)
def test_all_models_together_go_through_so_many_output_times(models, file_interval, is_known):
    """Of nine years of hourly output, a file a day or one an hour."""
    own = {
        "type": "atmo",
        "grid": MAPPING["grid"],
        "time": {"modelTimeStep": "PT2M"},
        "output": {"s": {"output_interval": "PT1H", "file_interval": file_interval, "ml_varlist": ["temp"]}},
    }
    spec = changed(
        time={"stop": "2017-09-01T00:00:00Z", "modelTimeStep": None},
        grid=None,
        output=None,
        parallel=None,
        restart={"restart_write_mode": None, "restartTimeIntval": "P1Y", "checkpointTimeIntval": "P1Y"},
        job={"nodes": models, "ntasks_per_node": 32},
        models={f"m{number}": {**own, "tasks": 32} for number in range(models)},
    )
    for one in load_spec(spec).experiment.components:
        if is_known:
            assert sum(stream.records for stream in stream_volumes(one)) == 78_889
        else:
            with pytest.raises(UndecidedError) as caught:
                stream_volumes(one)
            assert "more jobs and output times than are gone through" in caught.value.reason


@pytest.mark.parametrize(
    ("seconds", "expected"), [(0.5, 500), (1e308, round(1e308) * 1000), (-1e308, -round(1e308) * 1000)]
)
def test_seconds_as_milliseconds(seconds, expected):
    assert milliseconds(seconds) == expected


def test_checkpoints_by_two_intervals_are_not_listed_without_an_end():
    time = {"stop": "9999-12-31T00:00:00Z"}
    one = component(time=time, restart={"checkpointTimeIntval": "PT12H", "restartTimeIntval": "PT2M"})
    assert len(checkpoint_dates(one, clock(one), clock(one).length)) > 10**9
    one = component(time=time, restart={"checkpointTimeIntval": "PT6M", "restartTimeIntval": "PT10M"})
    with pytest.raises(UndecidedError, match="checkpointTimeIntval"):
        checkpoint_dates(one, clock(one), clock(one).length)


@pytest.mark.parametrize(("jobs", "is_known"), [(1000, True), (100_000, False)])
def test_jobs_of_a_chain_count_as_output_times(jobs, is_known):
    one = component(
        time={"stop": "2008-09-02T00:00:00Z", "modelTimeStep": "PT0.864S"},
        restart={"restartTimeIntval": f"PT{86_400 / jobs:.3f}S", "checkpointTimeIntval": None},
        output={"atm": {"output_interval": "P1D", "stream_partitions_ml": 1}},
    )
    if is_known:
        assert sum(volume.records for volume in stream_volumes(one)) == 2
        return
    with pytest.raises(UndecidedError):
        stream_volumes(one)


def test_what_very_many_jobs_leave_is_not_told():
    one = component(restart={"restartTimeIntval": "PT1S"}, time={"modelTimeStep": "PT1S"})
    (file, *_) = output_files(one)
    with pytest.raises(UndecidedError) as caught:
        fate(one, file, clock(one))
    assert caught.value.reason == "the chain has more jobs than are gone through"
    assert fate(one, file, clock(one), legs=2).records > 0


def test_months_without_a_record_are_passed_over_at_once(monkeypatch):
    one = component(
        time={"stop": "99999-01-01T00:00:00Z"},
        restart={"restartTimeIntval": None},
        output={"atm": {"output_interval": "P9000000D", "file_interval": "P1M", "stream_partitions_ml": 1}},
    )
    stepped = 0
    after = FileEnds._after

    def counted(*arguments):
        nonlocal stepped
        stepped += 1
        return after(*arguments)

    monkeypatch.setattr(FileEnds, "_after", counted)
    assert sum(volume.files for volume in stream_volumes(one)) == 5
    assert stepped < 100_000
