"""What a file system on the nodes' own disks is worth, as far as that was measured.

The report of KIT (SCC) on on-demand file systems compares BeeOND on HoreKa with the global file system. ICON that
writes without I/O ranks, in pieces of more than 1 MB, took as long on both, within 1 %. ICON 2.6 with two I/O ranks was
about 20 % faster on BeeOND where its workers waited for them, and no faster where they did not. EMAC, which writes one
file from all processes a few KB at a time (parallel NetCDF, 20 nodes), was 2, 4.5 and 6 times as fast with 1, 4 and 20
stripes.
"""

from __future__ import annotations

from nmlgen.advise.experiment import Situation
from nmlgen.advise.prediction import Prediction
from nmlgen.experiment.machine import NodeLocal
from nmlgen.experiment.setting import UndecidedError
from nmlgen.experiment.shared_file import writers
from nmlgen.models.icon.job_volume import mean_job
from nmlgen.models.icon.nodes import node_count
from nmlgen.values import evolve, frozen

GAIN = 0.2
"""The share of the run time by which ICON was faster where its workers waited for I/O ranks."""

LARGE_PIECE = 1_000_000
"""Bytes of a single write from which on both file systems were alike."""

_WAITING = "waiting for writers"


@frozen
class OnNodes:
    """What is known of a layout on the file system called `name`, on the nodes' own disks; `is_used` says that the
    experiment runs on it. Of what the layout waits for its I/O ranks `gain_s` may be saved there. A single write has
    `piece_bytes`; `is_shared` says that several processes write one file. Copying the `copy_bytes` of a job back takes
    `copy_s` at least at the site's bandwidth; both are None where that is not known.
    """

    name: str
    is_used: bool
    gain_s: float
    piece_bytes: float
    is_shared: bool
    copy_bytes: int | None
    copy_s: int | None


def on_nodes(situation: Situation, on_global: Prediction) -> OnNodes | None:
    """What the file system on the nodes' disks does for a layout that is expected to take so long on the global one;
    None where the site has none, or nothing is written."""
    experiment, case = situation.component.experiment, situation.case
    facts = _facts(situation)
    if facts is None or not case.outputs:
        return None
    copy_bytes = copy_s = None
    try:
        is_shared = writers(experiment) is not None
        run = experiment.node_local
        volume = mean_job(experiment, is_left=run is not None and run.sends_off).best
        copy_s = facts.copying_s(volume, node_count(experiment))
        copy_bytes = None if copy_s is None else volume
    except UndecidedError:
        is_shared = False
    piece = case.output_bytes / max(1, case.n_output_slices or 1)
    return OnNodes(
        facts.name, experiment.node_local is not None, gain_of(on_global), piece, is_shared, copy_bytes, copy_s
    )


def _facts(situation: Situation) -> NodeLocal | None:
    """The file system that the experiment asks for, else the first that the site has."""
    experiment = situation.component.experiment
    known = experiment.machine.node_local
    if experiment.node_local is not None:
        return known.get(experiment.node_local.kind.value)
    return next(iter(known.values()), None)


def gain_of(on_global: Prediction) -> float:
    """The seconds that a run is expected to be shorter on the nodes' disks: what it waits for I/O ranks, but no more
    than was measured."""
    return min(on_global.parts.get(_WAITING, 0.0), GAIN * on_global.total_s)


def as_run(situation: Situation, on_global: Prediction) -> Prediction:
    """The prediction for the file system that the experiment runs on."""
    gain = gain_of(on_global)
    if situation.component.experiment.node_local is None or not gain:
        return on_global
    factor = 1 - gain / on_global.total_s
    return evolve(
        on_global,
        total_s=on_global.total_s - gain,
        low_s=on_global.low_s * factor,
        high_s=on_global.high_s * factor,
        parts={**on_global.parts, _WAITING: on_global.parts[_WAITING] - gain},
    )
