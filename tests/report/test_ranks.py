"""The ranks as tables and as a picture, to the letter."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from attrs import evolve
from specs import load

from nmlgen.experiment.seats import Seat
from nmlgen.models.icon.clock import clock
from nmlgen.models.icon.nodes import Node
from nmlgen.models.icon.ranks import RankSplit, rank_numbers, split
from nmlgen.models.icon.schedule import duties, first_writes
from nmlgen.models.icon.volume import rank_volumes
from nmlgen.report import ranks
from nmlgen.report.ranks import (
    Roster,
    format_duties,
    format_nodes,
    format_picture,
    format_seats,
    format_split,
    nodes_document,
    ranks_document,
    split_document,
)


def roster(times: int = 48, **changes: Any) -> Roster:
    experiment = load(time={"stop": "2008-09-01T06:00:00Z"}, **changes).experiment.components[0]
    time = clock(experiment)
    return Roster(split(experiment), duties(experiment, time), *first_writes(experiment, time, times), time)


IDLE = {"parallel": {"num_io_procs": 5}, "output": {"atm": {"stream_partitions_ml": 3}}}
CROWDED = {
    "parallel": {"num_io_procs": 2},
    "output": {
        "atm": {"stream_partitions_ml": 1, "pl_varlist": ["temp"], "p_levels": [50000.0], "pe_placement_ml": 1},
        "sea": {
            "output_interval": "PT3H",
            "file_interval": "P1D",
            "ml_varlist": ["temp"],
            "pe_placement_ml": 1,
            "output_filename": "sea",
        },
    },
}


HEAVY = {"atm": {"stream_partitions_ml": 1, "pl_varlist": ["temp"], "p_levels": [50000.0]}}


def test_split() -> None:
    assert format_split(RankSplit(1, 56, 4, 2, 1, 0)) == (
        "TASKS     NUMBER  RANKS  SHARE\n"
        "test      1       0      1.6 %\n"
        "work      56      1-56   87.5 %\n"
        "I/O       4       57-60  6.2 %\n"
        "restart   2       61-62  3.1 %\n"
        "prefetch  1       63     1.6 %\n"
        "all       64      0-63   100.0 %"
    )


def test_nodes_alike_are_one_row() -> None:
    work = {(0, "work"): 4}
    found = [
        Node(0, range(4), work),
        Node(1, range(4, 8), work),
        Node(2, range(8, 12), {(0, "io"): 1, (0, "work"): 2, (1, "work"): 1}),
        Node(3, range(12, 12), {}),
    ]
    assert format_nodes(found, ["atm", "oce"]) == (
        "NODE  TASKS  RANKS  ON EACH NODE\n"
        "0-1   4      0-7    atm: 4 work\n"
        "2     4      8-11   atm: 2 work, 1 I/O; oce: 1 work\n"
        "3     0             nothing"
    )
    assert format_nodes(found[:1], ["atm"]).endswith("0     4      0-3    4 work")
    assert nodes_document(found, ["atm", "oce"])[2] == {
        "node": 2,
        "ranks": [[8, 11]],
        "tasks": {"atm": {"work": 2, "io": 1}, "oce": {"work": 1}},
    }


def test_ranks_dealt_in_turn_have_a_row_for_each_node() -> None:
    found = [Node(number, [number, number + 2], {(0, "work"): 1}) for number in range(2)]
    assert format_nodes(found, ["atm"]) == (
        "NODE  TASKS  RANKS         ON EACH NODE\n"
        "0     2      0-2, not all  1 work; 1 of no model\n"
        "1     2      1-3, not all  1 work; 1 of no model"
    )
    assert nodes_document(found, ["atm"])[0]["ranks"] == [[0, 0], [2, 2]]


def test_numbers_run_through_the_kinds() -> None:
    numbers = rank_numbers(RankSplit(0, 5, 1, 0, 0, 2))
    assert numbers["work"] == range(5)
    assert numbers["io"] == range(5, 6)
    assert numbers["restart"] == range(6, 6)
    assert numbers["radar"] == range(6, 8)


def test_duties_with_an_idle_rank() -> None:
    assert format_duties(roster(**IDLE)) == (
        "I/O RANK  RANK  STREAM   LEVELS        PARTITION  RECORDS  FILES  FIRST FILE\n"
        "0         59    atm      ml, domain 1  1 of 3     3        1      output/wave_atm_DOM01_ML_0001.nc\n"
        "1         60    atm      ml, domain 1  2 of 3     2        1      output/wave_atm_DOM01_ML_0002.nc\n"
        "2         61    atm      ml, domain 1  3 of 3     2        1      output/wave_atm_DOM01_ML_0003.nc\n"
        "3         62    nothing                           0        0\n"
        "4         63    nothing                           0        0"
    )


def test_picture_shows_idle_ranks() -> None:
    assert format_picture(roster(**IDLE), 100) == (
        "I/O rank  7 output times, from 2008-09-01T00:00:00Z\n"
        "       0  ■··■··■  3 records\n"
        "       1  ·■··■··  2 records\n"
        "       2  ··■··■·  2 records\n"
        "       3  ·······  0 records, idle\n"
        "       4  ·······  0 records, idle\n"
        "· nothing  ■ one file  2-9 so many files  + ten or more"
    )


def test_picture_shows_crowded_ranks_in_ascii() -> None:
    assert format_picture(roster(times=4, **CROWDED), 100, unicode=False) == (
        "I/O rank  the first 4 of 7 output times, from 2008-09-01T00:00:00Z\n"
        "       0  ####  7 records\n"
        "       1  2##2  10 records\n"
        ". nothing  # one file  2-9 so many files  + ten or more"
    )


def test_overloaded_rank_is_coloured() -> None:
    crowded = {**CROWDED, "parallel": {"num_io_procs": 4}}
    crowded["output"] = {
        "atm": {"stream_partitions_ml": 3, "pe_placement_ml": [0, 1, 2]},
        "sea": {**CROWDED["output"]["sea"], "output_interval": "PT1H", "pe_placement_ml": 1},
    }
    found = roster(**crowded)
    assert [found.state(rank) for rank in range(4)] == ["busy", "overloaded", "busy", "idle"]
    lines = format_picture(found, 100, colour=True).splitlines()
    assert lines[2].startswith("\x1b[31m")
    assert lines[4].startswith("\x1b[33m")
    assert "\x1b" not in format_picture(found, 100)


def test_picture_fits_the_terminal() -> None:
    picture = format_picture(roster(**IDLE), 52).splitlines()
    assert all(len(line) <= 52 for line in picture[1:-1])
    assert picture[0].startswith("I/O rank  the first 4 of 7 output times")
    assert picture[1] == "       0  ■··■  3 records"


def test_bytes_weigh_more_than_records() -> None:
    found = roster(parallel={"num_io_procs": 2}, output=HEAVY)
    experiment = load(
        time={"stop": "2008-09-01T06:00:00Z"}, parallel={"num_io_procs": 2}, output=HEAVY
    ).experiment.components[0]
    weighed = evolve(found, volumes=rank_volumes(experiment, found.duties))
    assert [found.state(rank) for rank in range(2)] == ["busy", "busy"]
    assert [weighed.state(rank) for rank in range(2)] == ["overloaded", "busy"]
    rows = format_picture(weighed, 100).splitlines()
    assert rows[1] == "       0  ■■■■■■■  7 records, 346.4 MB, overloaded"
    assert rows[2] == "       1  ■■■■■■■  7 records, 2.3 MB"
    assert ranks_document(weighed)["io_ranks"][1]["bytes"] == 7 * (327_680 + 8) + 1530
    assert ranks_document(found)["io_ranks"][1]["bytes"] is None


def test_without_output() -> None:
    found = roster(output={"atm": None})
    assert format_picture(found, 80).splitlines()[0] == "I/O rank  no output"
    assert found.state(0) == "idle"


def test_without_io_ranks_the_first_work_rank_writes() -> None:
    found = roster(parallel={"num_io_procs": 0}, output={"atm": {"stream_partitions_ml": 1}})
    assert found.writer(0) == 0
    assert format_duties(found).splitlines()[1].split()[:3] == ["none", "0", "atm"]


def test_documents() -> None:
    document = ranks_document(roster(times=1, **IDLE))
    assert document["tasks"] == 64
    assert document["split"]["io"] == {"count": 5, "ranks": [59, 63], "share": 0.078125}
    assert document["split"]["radar"] == {"count": 0, "ranks": None, "share": 0.0}
    assert [row["state"] for row in document["io_ranks"]] == ["busy", "busy", "busy", "idle", "idle"]
    assert document["io_ranks"][1]["files"] == [
        {
            "stream": "atm",
            "level_type": "ml",
            "domain": 1,
            "partition": 2,
            "partitions": 3,
            "records": 2,
            "files": 1,
            "first_name": "output/wave_atm_DOM01_ML_0002.nc",
        }
    ]
    assert document["writes"] == [
        {
            "time": "2008-09-01T00:00:00Z",
            "io_rank": 0,
            "name": "output/wave_atm_DOM01_ML_0001.nc",
            "number": 1,
            "record": 1,
        }
    ]
    assert split_document(RankSplit(0, 4, 0, 0, 0, 0))["tasks"] == 4


def test_of_thousands_of_programs_those_of_a_node_are_looked_at() -> None:
    class Titles(list):  # type: ignore[type-arg]
        looks = 0

        def __getitem__(self, number):  # type: ignore[no-untyped-def]
            self.looks += 1
            return super().__getitem__(number)

        def __iter__(self):  # type: ignore[no-untyped-def]
            raise AssertionError("each node looks at all programs")

    titles = Titles(f"p{number}" for number in range(100))
    shown = format_nodes([Node(n, [n], Counter({(n, "task"): 1})) for n in range(100)], titles)
    assert shown.splitlines()[-1].endswith("p99: 1 ranks")
    assert titles.looks == 100


def test_of_very_many_programs_those_of_a_node_are_in_the_document() -> None:
    nodes = [Node(number, [number], Counter({(number, "task"): 1})) for number in range(21)]
    titles = [f"p{number}" for number in range(21)]
    assert [list(node["tasks"]) for node in nodes_document(nodes, titles)] == [[title] for title in titles]
    assert all(list(node["tasks"]) == titles[:20] for node in nodes_document(nodes[:20], titles[:20]))


def test_of_very_many_programs_on_a_node_some_are_named() -> None:
    crew = Counter({(number, "task"): 1 for number in range(25)})
    shown = format_nodes([Node(0, range(26), crew)], [f"p{number}" for number in range(25)]).splitlines()[-1]
    assert shown.endswith("p19: 1 ranks; 5 others; 1 of no model")


def test_of_very_many_nodes_that_are_unlike_some_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranks, "_MOST_ROWS", 5)
    seats = [Seat(number, number, number, "task", None, (), (), "") for number in range(10)]
    lines = format_seats(seats, [f"p{number}" for number in range(10)]).splitlines()
    assert len(lines) == 1 + 6 + 1
    assert lines[-1] == "4 others, each unlike these"
