"""Pictures that nmlgen makes, made when the site is built: the advisor's chart and the page of a measured sweep."""

from __future__ import annotations

from pathlib import Path

from sphinx.application import Sphinx

import nmlgen
from nmlgen.advise import predict
from nmlgen.advise.measurements import TABLES, levante_runs
from nmlgen.report.advice_plot import draw
from nmlgen.report.sweep.page import sweep_page
from nmlgen.report.sweep.run import Measured, PointRun, Predicted, SweepRuns

_EXAMPLE = Path(__file__).parents[2] / "examples" / "nh_dcmip_tc_52_r2b5.yaml"
_LAYOUT = ("output.atm.output_interval=PT4M", "parallel.num_io_procs=1", "output.atm.stream_partitions_ml=1")
_GRIDS = {81920: "R2B5", 327680: "R2B6"}


def _draw(app: Sphinx, failure: Exception | None) -> None:
    """Lay the pictures beside the pages."""
    if failure is not None or app.builder.format != "html":
        return
    directory = Path(app.outdir) / "gallery"
    directory.mkdir(exist_ok=True)
    (directory / "report.html").write_text(sweep_page(_measured()), encoding="utf-8")
    draw(nmlgen.advice(_EXAMPLE, overrides=_LAYOUT), _EXAMPLE.name, directory / "advice.svg")


def _measured() -> SweepRuns:
    """The measured runs with output that ship with nmlgen, as the runs of one sweep."""
    cases = [measured for measured in levante_runs(TABLES[:1]) if measured.case.outputs > 2]
    runs = []
    for measured in cases:
        case, prediction = measured.case, predict(measured.case)
        values = {
            "grid.name": _GRIDS[case.n_cells],
            "job.nodes": str(case.nodes),
            "output.atm.output_interval": f"PT{case.output_interval_s / 60:.0f}M",
            "parallel.num_io_procs": str(case.num_io_procs),
            "output.atm.stream_partitions_ml": str(case.stream_partitions),
        }
        predicted = Predicted(
            total_s=prediction.total_s, low_s=prediction.low_s, high_s=prediction.high_s, notes=prediction.notes
        )
        runs.append(
            PointRun(
                name="-".join(values.values()),
                values=values,
                state="finished",
                nodes=case.nodes,
                cores=case.ntasks,
                measured=Measured(total_s=measured.total_s),
                predicted=predicted,
            )
        )
    present = {"parallel.num_io_procs": 1, "output.atm.stream_partitions_ml": 1}
    return SweepRuns(
        name="levante-output", runs=tuple(runs), version=nmlgen.__version__, present=present, calibration="levante"
    )


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx calls this."""
    app.connect("build-finished", _draw)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
