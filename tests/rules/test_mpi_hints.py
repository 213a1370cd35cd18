"""Hints of ROMIO: both sides of each boundary."""

from __future__ import annotations

import pytest
from rows import rows
from rules.test_examples import check

from nmlgen.rules import mpi_hints


def test_what_is_meant_is_asked_of_the_first_hints(tmp_path, monkeypatch):
    monkeypatch.setattr(mpi_hints, "_MOST_GUESSED", 2)
    found = check("mpi: {hints: {cb_nodesa: 1, cb_nodesb: 1, cb_nodesc: 1}}\n", tmp_path)
    notes = [finding.notes for finding in found.findings if finding.code == "MPI017"]
    assert notes == [('did you mean "cb_nodes"?',)] * 2 + [("expected: a hint of ROMIO's, or none",)]


SHARED = "parallel: {pio_type: 2, num_io_procs: 8}\nlustre: {output: {stripe_count: 8, stripe_size: 4M}}\n"
JUDGED = ("MPI010", "MPI017", "MPI018", "MPI019", "MPI020", "MPI021", "MPI022")


@rows(
    ("hints", "codes"),
    [
        ("romio_ds_write: disable", []),
        ("romio_ds_write: automatic", []),
        ("romio_ds_write: enable", ["MPI019"]),
        ("romio_ds_write: 'on'", ["MPI018"]),
        ("romio_ds_wirte: enable", ["MPI017"]),
        ("romio_cb_write: ENABLE", []),
        ("romio_cb_write: Enable", ["MPI018"]),
        ("romio_cb_write: disable", ["MPI010"]),
        ("romio_cb_read: automatic", []),
        ("romio_cb_read: disable", ["MPI010"]),
        ("cb_nodes: 8", []),
        ("cb_nodes: 9", ["MPI020"]),
        ("cb_nodes: 2", []),
        ("cb_nodes: 1", ["MPI021"]),
        ("cb_nodes: 0", ["MPI018"]),
        ("striping_factor: 8", []),
        ("striping_factor: 7", ["MPI022"]),
        ("striping_unit: 4194304", []),
        ("striping_unit: 1048576", ["MPI022"]),
        ("striping_unit: 4M", ["MPI018"]),
        ("striping_unit: 100000", ["MPI018", "MPI022"]),
        ("nc_header_align_size: 4096", []),
    ],
)
def test_hints(hints, codes, tmp_path):
    findings = check(f"{SHARED}mpi: {{hints: {{{hints}}}}}\n", tmp_path).findings
    assert [finding.code for finding in findings if finding.code in JUDGED] == codes


def test_where_nothing_is_shared_only_names_and_values_count(tmp_path):
    findings = check("mpi: {hints: {cb_nodes: 1, romio_ds_write: enable, striping_factor: 3}}\n", tmp_path).findings
    assert [finding.code for finding in findings] == ["MPI013"]


@pytest.mark.parametrize(("hint", "alone", "together"), [("romio_cb_write", 98, 44), ("romio_cb_read", 110, 54)])
def test_table_3_on_collective_access(hint, alone, together, tmp_path):
    """K. Ketelsen (2021), table 3: seconds without collective writes and reads, and with them."""
    for word, seconds in (("disable", alone), ("enable", together)):
        findings = check(f"{SHARED}mpi: {{hints: {{{hint}: {word}}}}}\n", tmp_path).findings
        found = [finding for finding in findings if finding.code == "MPI010"]
        assert bool(found) is (seconds == alone)
        assert all(f"{alone / together:.1f} times as long" in finding.message for finding in found)
