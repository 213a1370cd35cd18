"""What a spec says of the nodes of partitions, where its site does not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from placements import GPU, SITE, one_program, spec
from specs import refused, unchecked_build

from nmlgen import compare, import_spec, load_spec
from nmlgen.experiment import machine
from nmlgen.experiment.machine import CoreLists
from nmlgen.models.icon.placement import placement

CORES = ["8-11", "12-15", "0-3", "4-7"]
CARDS = ["mlx5_1:1", "mlx5_1:1", "mlx5_0:1", "mlx5_0:1"]
KNOWN = f"        cores: {CORES}\n        cards: {CARDS}\n".replace("'", '"')
SAID = {"compute": {"numa": ["0-7", "8-15"], "gpus": {"cores": CORES, "cards": CARDS}}}


def without_map(directory: Path, **changes: Any) -> dict[str, Any]:
    """A spec on a site that does not say which cores are near to which GPU."""
    document = spec(directory, GPU, **one_program(), **changes)
    site = SITE.replace(KNOWN, "").replace('      numa: ["0-7", "8-15"]\n', "")
    assert len(site) < len(SITE) - len(KNOWN)
    site = site.replace("memory: 40G", "memory: 40G\n        asks_for_cores: true")
    (directory / "four-gpus.yaml").write_text(site)
    return document


def test_ranks_sit_as_if_the_site_said_it(tmp_path: Path) -> None:
    known = placement(load_spec(spec(tmp_path, GPU, **one_program())).experiment)
    said = load_spec(without_map(tmp_path, partitions=SAID))
    assert placement(said.experiment) == known
    assert [seat.cores for seat in known if seat.gpu == 0 and seat.node == 1] == [(8, 9, 10, 11)]
    assert said.find("partitions.compute.gpus.cores").value == CORES


def test_a_map_that_nobody_says_is_asked_for(tmp_path: Path) -> None:
    (finding,) = refused(without_map(tmp_path))
    assert finding.code == "SPC005"
    assert "which cores are near to which of the 4 GPUs of partition compute" in finding.message
    assert "partitions: {compute: {gpus: {cores: [...]}}}" in str(finding.notes)


def test_ranks_may_be_left_unbound(tmp_path: Path) -> None:
    loaded = load_spec(without_map(tmp_path, partitions={"compute": {"gpus": {"cores": []}}}))
    seats = placement(loaded.experiment)
    assert {seat.cores for seat in seats} == {()}
    assert sorted(seat.gpu for seat in seats if seat.gpu is not None) == [0, 0, 1, 1, 2, 2, 3, 3]


def test_as_many_lists_as_gpus(tmp_path: Path) -> None:
    (finding,) = refused(without_map(tmp_path, partitions={"compute": {"gpus": {"cores": CORES[:3]}}}))
    assert (finding.code, "3 lists of cores" in finding.message) == ("SPC004", True)


def test_an_override_takes_it_away(tmp_path: Path) -> None:
    loaded = load_spec(without_map(tmp_path, partitions=SAID))
    changed = loaded.with_({"partitions.compute.gpus.cores": []})
    assert {seat.cores for seat in placement(changed.experiment)} == {()}
    assert changed.with_({"partitions.compute.gpus": {"cores": CORES, "cards": CARDS}}).experiment.machine.said


@pytest.mark.parametrize("cores", [CORES, []])
def test_there_and_back(cores: list[str], tmp_path: Path) -> None:
    loaded = load_spec(without_map(tmp_path, partitions={"compute": {"gpus": {"cores": cores}}}))
    unchecked_build(loaded).write(tmp_path / "built")
    imported = import_spec(tmp_path / "built", directory=tmp_path)
    assert imported.remarks == ()
    (tmp_path / "back.yaml").write_text(imported.text)
    again = load_spec(tmp_path / "back.yaml")
    assert again.experiment.machine.said == loaded.experiment.machine.said
    assert placement(again.experiment) == placement(loaded.experiment)


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"gpus": {"cores": ["9-8", *CORES[1:]]}}, 'partitions.compute.gpus.cores has "9-8"'),
        ({"gpus": {"cores": ["8-12", *CORES[1:]]}}, "core 12 is twice in partitions.compute.gpus.cores"),
        ({"numa": ["0-7", "7-15"], "gpus": {"cores": CORES}}, "core 7 is twice in partitions.compute.numa"),
    ],
)
def test_lists_that_cannot_be(facts: dict[str, Any], message: str, tmp_path: Path) -> None:
    (finding,) = refused(without_map(tmp_path, partitions={"compute": facts}))
    assert (finding.code, finding.message) == ("SPC004", message)


def test_a_site_whose_list_is_empty(tmp_path: Path) -> None:
    document = spec(tmp_path, GPU, **one_program())
    (tmp_path / "four-gpus.yaml").write_text(SITE.replace('"8-11"', '"11-8"'))
    (finding,) = refused(document)
    assert "1 cores for a rank, near to its GPU are 0" in finding.message


def test_diff_knows_it(tmp_path: Path) -> None:
    first = without_map(tmp_path, partitions=SAID)
    for name, cores in (("a", CORES), ("b", [*CORES[:3], "4-6"])):
        document = first | {"partitions": {"compute": {"gpus": {"cores": cores}}}}
        (tmp_path / f"{name}.yaml").write_text(json.dumps(document))
    found = compare(tmp_path / "a.yaml", tmp_path / "b.yaml")
    assert [difference.name for difference in found.differences] == ["partitions.compute.gpus.cores"]


def test_lists_of_cores_are_no_longer_than_a_node_has(tmp_path: Path) -> None:
    lists = CoreLists(("0-2,1", "0-9999,0-9999", "5-3"))
    assert list(lists) == [(0, 1, 2, 1), tuple(range(10_000)), ()]
    assert (lists.empty, lists.twice) == ("5-3", 0)
    assert CoreLists(("0-2,4", "3,5-7")).twice is None
    assert list(lists[1:]) == [tuple(range(10_000)), ()]
    (finding,) = refused(without_map(tmp_path, partitions={"compute": {"numa": ["0-9999"] * 101}}))
    assert finding.code == "SPC004"
    assert finding.message.endswith("is a list of 101 elements")
    assert finding.notes == ("expected: a list of 100 elements at most",)


def test_cores_of_partitions_are_worked_out_when_they_are_asked_for(monkeypatch, tmp_path: Path) -> None:
    read: list[str] = []
    ranges = machine._ranges
    monkeypatch.setattr(machine, "_ranges", lambda text: read.append(text) or ranges(text))
    lists = [f"{first}-{first + 99}" for first in range(0, 10_000, 100)]
    others = {f"p{number}": {"numa": lists} for number in range(20)}
    found = load_spec(without_map(tmp_path, partitions=SAID | others)).experiment
    assert len(found.machine.partitions["p0"].numa) == 100
    assert len(read) < 3 * 20 * 100  # of each list what says whether it is empty and whether a core is twice
    read.clear()
    assert placement(evolve(found))
    assert set(read) <= {*SAID["compute"]["numa"], *CORES}
