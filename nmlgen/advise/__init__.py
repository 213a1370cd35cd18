"""What an I/O layout will cost, and what would be better.

>>> from nmlgen.advise import Case, predict, recommend
>>> case = Case(n_cells=81920, num_lev=30, nodes=2, ntasks=256, dtime_s=120, n_steps=7200,
...             output_bytes=254.3e6, output_interval_s=240, num_io_procs=1)
>>> recommend(case).num_io_procs > 4
True

Sizes are in bytes, times in seconds, and None stands for "never".
"""

from __future__ import annotations

from nmlgen.advise.calibration import Calibration
from nmlgen.advise.case import Case
from nmlgen.advise.fitting import Run, calibrate
from nmlgen.advise.prediction import Prediction, predict
from nmlgen.advise.recommendation import Quantities, Recommendation, quantities, recommend, recommend_restart
from nmlgen.advise.striping import StripeAdvice, recommend_stripes

__all__ = [
    "Calibration",
    "Case",
    "Prediction",
    "Quantities",
    "Recommendation",
    "Run",
    "StripeAdvice",
    "calibrate",
    "predict",
    "quantities",
    "recommend",
    "recommend_restart",
    "recommend_stripes",
]
