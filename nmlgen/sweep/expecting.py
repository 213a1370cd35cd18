"""What is expected of the points of a sweep on the disk: the nodes that each occupies and how long it should take."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from nmlgen.advise.calibration import Calibration
from nmlgen.advise.case import Case
from nmlgen.advise.experiment import Situation, situation_of
from nmlgen.advise.figures import calibration_of
from nmlgen.advise.layout import Layout, case_with, present_layout
from nmlgen.advise.prediction import Prediction, predict
from nmlgen.errors import InputError, NmlgenError
from nmlgen.experiment.component import Component
from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.setting import UndecidedError
from nmlgen.lift.loading import load
from nmlgen.lift.namelists import MASTER_FILE
from nmlgen.report.sweep.run import Predicted
from nmlgen.values import evolve, frozen

_LAYOUT = ("num_io_procs", "num_restart_procs", "restart_write_mode")
_CALLED = ("name", "job.time", "repeat")  # what a prediction does not depend on
_BLOCKING = "nproma"  # nor on this, wherever it is said


@frozen
class Expected:
    """What the experiment of a point occupies and should take; `silence` says why there is no prediction."""

    nodes: int | None = None
    cores: int | None = None
    predicted: Predicted | None = None
    silence: str = ""


class Expectations:
    """Predictions for points. Points that differ in their layout only share what is read of their files, and those with
    one batch script what the script says."""

    def __init__(self, directory: Path, calibration: Calibration | None) -> None:
        self.used: str | None = None
        self._directory = directory
        self._calibration = calibration
        self._situations: dict[tuple[tuple[str, str], ...], Situation] = {}
        self._jobs: dict[Path, Experiment] = {}
        self._predictions: dict[tuple[Case, str], Prediction] = {}

    def of(self, place: Path, values: Mapping[str, str]) -> Expected:
        """What is expected of the point in a directory."""
        try:
            situation = self._situation(place, values)
            case = case_with(situation, _layout(situation, values))
        except UndecidedError as error:
            return Expected(silence=f"no prediction: {error.setting.name} is not known")
        except (NmlgenError, ValueError) as error:
            return Expected(silence=f"no prediction: {error}")
        calibration = self._calibration or calibration_of(situation)
        self.used = calibration.name
        prediction = self._predictions.get((case, calibration.name))
        if prediction is None:
            prediction = self._predictions[case, calibration.name] = predict(case, calibration)
        notes = tuple(dict.fromkeys((*situation.doubts, *prediction.notes)))
        predicted = Predicted(total_s=prediction.total_s, low_s=prediction.low_s, high_s=prediction.high_s, notes=notes)
        return Expected(case.nodes, situation.cores, predicted)

    def _situation(self, place: Path, values: Mapping[str, str]) -> Situation:
        """That of the point, or of one that differs from it only in what `_layout` lays over it."""
        key = tuple((key, value) for key, value in values.items() if not _is_layout(key))
        known = self._situations.get(key)
        if known is not None and _lies_over(known, values):
            return known
        found = situation_of(_only(self._experiment(place)))
        if key not in self._situations:
            self._situations[key] = found
        return found

    def _experiment(self, place: Path) -> Experiment:
        """That of a point: the script and the namelists, or the namelists with what is known of the same script."""
        links = [path.resolve() for path in place.glob("*") if path.is_symlink()]
        script = links[0] if len(links) == 1 else place
        known = self._jobs.get(script)
        if known is None:
            known = self._jobs[script] = load(place).experiment
            return known
        namelists = load(place / MASTER_FILE, icon_release=known.registry.release).experiment
        return evolve(known, name=place.name, master=namelists.master, models=namelists.models)


def _only(experiment: Experiment) -> Component:
    if len(experiment.components) != 1:
        raise InputError(f"{experiment.name} starts {len(experiment.components)} models")
    return experiment.components[0]


def _is_layout(key: str) -> bool:
    word = key.rpartition(".")[2]
    return key in _CALLED or word in (_BLOCKING, *_LAYOUT) or word.startswith("stream_partitions_")


def _lies_over(situation: Situation, values: Mapping[str, str]) -> bool:
    """Whether the layout that is among the values says all of the situation's."""
    partitions = [key for key in values if key.rpartition(".")[2].startswith("stream_partitions_")]
    return len(situation.outputs) <= 1 and len(partitions) <= 1


def _layout(situation: Situation, values: Mapping[str, str]) -> Layout:
    """The situation's layout with what the values say of it. Raises ValueError if they are no numbers."""
    layout = present_layout(situation)
    if not _lies_over(situation, values):
        return layout
    for key, value in values.items():
        word = key.rpartition(".")[2]
        if word == "num_io_procs":
            layout = layout._replace(num_io_procs=int(value))
        elif word == "num_restart_procs":
            layout = layout._replace(num_restart_procs=int(value))
        elif word == "restart_write_mode":
            layout = layout._replace(restart_write_mode=value)
        elif word.startswith("stream_partitions_") and situation.outputs:
            layout = layout._replace(stream_partitions=(int(value),))
    return layout
