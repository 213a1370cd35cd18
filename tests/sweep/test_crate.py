"""A sweep as an RO-Crate."""

from __future__ import annotations

import builtins
import json

import pytest
from specs import MAPPING

from nmlgen import InputError, expand, export_sweep, write_sweep

RECORD = """\
leg 1
job 7
started 2026-01-01T00:00:00Z
nodes n[1-2]
launch srun icon
executable aaaa 100 /bin/icon
input bbbb 5 /data/grid.nc
exit 0
outcome OK
ended 2026-01-01T01:00:00Z
icon revision 1234
"""


@pytest.fixture
def sweep(tmp_path):
    write_sweep(expand(MAPPING, grid={"job.nodes": [1, 2]}, name="n{nodes}"), tmp_path / "sweep")
    return tmp_path / "sweep"


def test_what_lies_there_and_what_ran(sweep):
    rocrate = pytest.importorskip("rocrate.rocrate")
    records = sweep / "points/n2/run/nmlgen.records"
    records.mkdir(parents=True)
    (records / "1.7").write_text(RECORD)
    assert export_sweep(sweep, "ro-crate") == ("ro-crate-metadata.json",)
    text = (sweep / "ro-crate-metadata.json").read_text()
    assert export_sweep(sweep, "ro-crate")
    assert (sweep / "ro-crate-metadata.json").read_text() == text  # no clock in it
    crate = rocrate.ROCrate(sweep)
    assert crate.root_dataset["datePublished"] == "2026-01-01T01:00:00Z"
    (action,) = crate.get_by_type("CreateAction")
    assert (action["startTime"], action["actionStatus"]) == ("2026-01-01T00:00:00Z", "CompletedActionStatus")
    assert (action["instrument"]["sha256"], action["instrument"]["version"]) == ("aaaa", "revision 1234")
    assert [file["name"] for file in action["object"]] == ["/data/grid.nc"]
    assert [point["name"] for point in action["result"]] == ["n2"]
    named = {one["@id"] for one in json.loads(text)["@graph"]}
    assert {"points/n1/", "points.csv", "points/n1/nmlgen-manifest.json"} <= named


def test_no_entity_is_looked_for_among_all(sweep, monkeypatch):
    """As the library does, with the square of the points."""
    rocrate = pytest.importorskip("rocrate.rocrate")
    monkeypatch.setattr(rocrate.ROCrate, "dereference", lambda *_: pytest.fail("looked for"))
    assert export_sweep(sweep, "ro-crate")


def test_a_table_that_would_grow_too_much(sweep):
    table = sweep / "points.csv"
    head, *rows = table.read_text().splitlines()
    cells = 200
    table.write_text("\n".join([head + "".join(f",k{n}" for n in range(cells)), *(row + ",1" * cells for row in rows)]))
    assert export_sweep(sweep, "ro-crate", force=True)
    rows = [f"i{n},n{n},points/n{n},built,{',1' * (cells + 1)}" for n in range(1000)]
    table.write_text("\n".join([head + "".join(f",k{n}" for n in range(cells)), *rows]))
    with pytest.raises(InputError, match=r"points\.csv: an RO-Crate names .* takes 32 MB: too much for such a table"):
        export_sweep(sweep, "ro-crate", force=True)


def test_without_the_library(sweep, monkeypatch):
    real = builtins.__import__

    def refuse(name, *more):
        if name.startswith("rocrate"):
            raise ImportError(name)
        return real(name, *more)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(InputError, match=r"pip install 'nmlgen\[crate\]'"):
        export_sweep(sweep, "ro-crate")
