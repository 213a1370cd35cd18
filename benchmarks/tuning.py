"""How many runs `nmlgen tune` takes, and what it finds: replayed on measured runs, a family at a time kept back.

    python benchmarks/tuning.py

A family is a set of runs on Levante that differ only in who writes (F. Ott, 2025). The calibration has not seen the
family that is tuned. Tuned once as on Levante, and once as on a machine of which nothing is known but that.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from attrs import frozen

from nmlgen.advise.accuracy import by_family, without_family
from nmlgen.advise.calibration import Calibration
from nmlgen.advise.experiment import Situation
from nmlgen.advise.fitting import Run
from nmlgen.advise.measurements import fit_levante, levante_runs
from nmlgen.advise.prediction import NOISE
from nmlgen.spec.spec import load_spec
from nmlgen.sweep.point import Point
from nmlgen.tuning.belief import Belief, Measured
from nmlgen.tuning.candidates import Candidate, Candidates
from nmlgen.tuning.tune import STRAYING, doubted

BASE = load_spec(Path(__file__).parent.parent / "examples" / "nh_dcmip_tc_52_r2b5.yaml")


@frozen
class Replay:
    """A tuning that only looked up what was measured: the runs it took of so many, and the time of the best of them
    over that of the best of all, minus one."""

    runs: int
    candidates: int
    regret: float


def replay(members: Sequence[Run], calibration: Calibration) -> Replay:
    """Tune one family."""
    candidates = Candidates(tuple(map(_candidate, members)), ())
    times = {c.point.id: run.total_s for c, run in zip(candidates.candidates, members, strict=True)}
    belief, tried = Belief(candidates, calibration), dict[str, float]()
    while left := [candidate for candidate in candidates.candidates if candidate.point.id not in tried]:
        expected = {candidate: belief.expected(candidate) for candidate in left}
        if tried:
            best, ran = min(tried.values()), [item for item in candidates.candidates if item.point.id in tried]
            is_lost = belief.strays and len(ran) < len(members) / 3
            least = NOISE * (STRAYING if is_lost else 1.0)
            settled = max(expected[item].gain(best) for item in left) < least
            probe = belief.probe(left, ran, not settled) if settled or len(ran) % 2 == 1 else None
            if settled and probe is None:
                break
            worth = [item for item in left if expected[item].gain(best) >= least]
            candidate = probe or max(worth, key=lambda item: expected[item].gain(best) / expected[item].middle_s)
        else:
            candidate = min(left, key=lambda item: expected[item].middle_s)
        tried[candidate.point.id] = times[candidate.point.id]
        belief = belief.after(candidate, Measured(times[candidate.point.id]))
    return Replay(len(tried), len(members), min(tried.values()) / min(times.values()) - 1)


def _candidate(run: Run) -> Candidate:
    case = run.case
    values = {"ranks": case.num_io_procs, "mode": case.restart_mode, "restart_ranks": case.num_restart_procs}
    name = "-".join(map(str, values.values()))
    return Candidate(
        Point(name, name, values, (), None, BASE, {}),
        Situation(case, (), "levante", case.ntasks, component=BASE.experiment.components[0]),
        case.nodes,
        None,
    )


def main() -> None:
    """Print a row for each family and each beginning."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.parse_args()
    runs = levante_runs()
    calibrations = without_family(runs, fit_levante)
    for name, begin in (("as on Levante", lambda known: known), ("as on another machine", doubted)):
        found = [replay(members, begin(calibrations[family])) for family, members in by_family(runs).items()]
        regrets = [item.regret for item in found]
        print(
            f"{name}: {sum(item.runs for item in found)} of {len(runs)} runs in {len(found)} families, "
            f"regret mean {sum(regrets) / len(regrets):.2%}, max {max(regrets):.2%}"
        )


if __name__ == "__main__":
    main()
