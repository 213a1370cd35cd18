"""nmlgen advise, called as users call it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

EXAMPLE = str(Path(__file__).parents[2] / "examples" / "nh_dcmip_tc_52_r2b5.yaml")
ONE_WRITER = ("--set", "parallel.num_io_procs=1", "--set", "output.atm.stream_partitions_ml=1")


def test_text(nmlgen: Callable[..., Any], here: Path) -> None:
    done = nmlgen("advise", EXAMPLE, *ONE_WRITER)
    assert done.code == 0
    assert "Set\n  parallel.num_io_procs: 4\n  output.atm.stream_partitions_ml: 4" in done.out
    assert "the others wait" in done.out
    assert "\x1b" not in done.out
    for quantity in ("nodes", "compute time between", "output interval", "size of one output", "receives"):
        assert quantity in done.out


def test_json(nmlgen: Callable[..., Any], here: Path) -> None:
    document = json.loads(nmlgen("advise", EXAMPLE, *ONE_WRITER, "--format", "json").out)
    assert document["set"] == {"parallel.num_io_procs": 4, "output.atm.stream_partitions_ml": 4}
    assert not document["is_good"]
    assert document["present"]["total_s"] > document["recommended"]["total_s"]
    assert sum(document["present"]["parts_s"].values()) == pytest.approx(document["present"]["total_s"])
    assert document["quantities"]["nodes"] == 2
    assert {candidate["num_io_procs"] for candidate in document["output_candidates"]} >= {0, 1, 2, 4, 8}


def test_a_site_without_calibration(nmlgen: Callable[..., Any], here: Path) -> None:
    done = nmlgen("advise", "spec.yaml")
    assert "site generic-slurm has no calibration: the figures are those of Levante" in done.out
    assert "outside what was measured: iforcing" in done.out


def test_a_build(nmlgen: Callable[..., Any], here: Path) -> None:
    nmlgen("build", EXAMPLE, "-o", "run")
    assert "Keep it" in nmlgen("advise", "run").out


def test_what_is_not_known(nmlgen: Callable[..., Any], here: Path) -> None:
    done = nmlgen("advise", EXAMPLE, "--set", "namelists.grid_nml.l_limited_area=true")
    assert done.code == 2
    assert "the size of the grid is not known" in done.err


def test_a_broken_spec_as_json(nmlgen: Callable[..., Any], here: Path) -> None:
    done = nmlgen("advise", EXAMPLE, "--set", "job.nodes=two", "--format", "json")
    assert done.code == 1
    assert json.loads(done.out)["findings"][0]["code"] == "SPC004"


def test_plots(nmlgen: Callable[..., Any], here: Path) -> None:
    pytest.importorskip("matplotlib")
    assert nmlgen("advise", EXAMPLE, "--plot", "a.svg").code == 0
    assert nmlgen("advise", EXAMPLE, "--plot", "b.svg").code == 0
    assert "num_io_procs 8" in Path("a.svg").read_text(encoding="utf-8")
    assert Path("a.svg").read_bytes() == Path("b.svg").read_bytes()
    done = nmlgen("advise", EXAMPLE, "--plot", "a.pdf")
    assert done.code == 2
    assert ".svg, .png" in done.err
    assert nmlgen("advise", EXAMPLE, "--plot", "nowhere/a.png").code == 2


@pytest.mark.parametrize("epoch", ["text", "9" * 40])
def test_a_plot_that_cannot_be_drawn_leaves_the_old_one(
    epoch: str, nmlgen: Callable[..., Any], here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    Path("a.svg").write_text("old", encoding="utf-8")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
    done = nmlgen("advise", EXAMPLE, "--plot", "a.svg")
    assert done.code == 2
    assert f"a.svg: matplotlib cannot draw it, with SOURCE_DATE_EPOCH='{epoch}'" in done.err
    assert Path("a.svg").read_text(encoding="utf-8") == "old"


def test_plots_without_matplotlib(nmlgen: Callable[..., Any], here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = nmlgen("advise", EXAMPLE, "--plot", "a.svg")
    assert done.code == 2
    assert "pip install 'nmlgen[plot]'" in done.err


def test_why_tells_the_reason(nmlgen: Callable[..., Any], here: Path) -> None:
    auto = ("--set", "parallel.num_io_procs=auto", "--set", "output.atm.stream_partitions_ml=auto")
    done = nmlgen("why", EXAMPLE, "parallel.num_io_procs", *auto)
    assert "decided by the advisor: " in done.out
    document = json.loads(nmlgen("why", EXAMPLE, "parallel.num_io_procs", *auto, "--format", "json").out)
    assert document["chain"][0]["layer"] == "advisor"
    assert "expected with" in document["chain"][0]["reason"]
