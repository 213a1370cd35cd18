"""Variables that are misspelt."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmlgen import check

EXAMPLE = Path(__file__).parents[2] / "examples" / "nh_dcmip_tc_52_r2b5.yaml"


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("OMP_NUM_THREAD", "OMP_NUM_THREADS"),
        ("DARSHAN_MODMEN", "DARSHAN_MODMEM"),
        ("FI_CXI_RX_MATCH_NODE", "FI_CXI_RX_MATCH_MODE"),
        ("FI_MP_CACHE_MONITOR", "FI_MR_CACHE_MONITOR"),
        ("CUDA_BUFFER_PAGE_IN_THRESHOLD", "CUDA_BUFFER_PAGE_IN_THRESHOLD_MS"),
        ("OMP_NUM", None),  # of threads, or of teams
        ("FI_MR_CACHE_MONITOR", None),
        ("FI_PROVIDER", None),
        ("MY_CXI_RX_MATCH_NODE", None),
    ],
)
def test_misspelt_variables(name: str, meant: str | None) -> None:
    found = [
        finding
        for finding in check(EXAMPLE, overrides=[f"environment.{name}='x'"]).findings
        if finding.code == "ENV003"
    ]
    assert [finding.notes for finding in found] == ([(f'did you mean "{meant}"?',)] if meant else [])
