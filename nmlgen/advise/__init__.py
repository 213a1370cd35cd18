"""What an I/O layout will cost, and what would be better.

>>> from nmlgen.advise import Case, predict, recommend
>>> case = Case(n_cells=81920, num_lev=30, nodes=2, ntasks=256, dtime_s=120, n_steps=7200,
...             output_bytes=254.3e6, output_interval_s=240, num_io_procs=1)
>>> recommend(case).num_io_procs > 4
True

Sizes are in bytes, times in seconds, and None stands for "never".
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

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

_HOMES = {
    "Calibration": "calibration",
    "Case": "case",
    "Prediction": "prediction",
    "Quantities": "recommendation",
    "Recommendation": "recommendation",
    "Run": "fitting",
    "StripeAdvice": "striping",
    "calibrate": "fitting",
    "predict": "prediction",
    "quantities": "recommendation",
    "recommend": "recommendation",
    "recommend_restart": "recommendation",
    "recommend_stripes": "striping",
}


def __getattr__(name: str) -> Any:
    """What is public is loaded when it is first used: a check needs little of it."""
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module 'nmlgen.advise' has no attribute {name!r}")
    value = getattr(import_module(f"nmlgen.advise.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
