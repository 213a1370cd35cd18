"""How good the advisor's answers are: writes docs/advisor-accuracy.md, its picture, and docs/advisor-elsewhere.csv.

    python benchmarks/advisor.py                    # all three, from the runs that ship
    python benchmarks/advisor.py --nested           # first of all docs/advisor-nested.csv: some minutes
    python benchmarks/advisor.py --calibration      # presets/calibrations/levante.yaml, from the same runs

Each family of runs (those that differ only in who writes) is kept back in turn; the model is fitted to the others and
asked about it. What the model consists of is chosen anew each time (--nested): from the families that are left, each
kept back from the others. A test holds the page and the calibration against the program, of both tables one family.
"""

from __future__ import annotations

import argparse
import csv
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import log10
from pathlib import Path

from attrs import evolve, frozen

from nmlgen.advise.accuracy import Judged, after_one_run, by_family, judge, without_family
from nmlgen.advise.calibration import NAMES, Calibration, Family
from nmlgen.advise.case import Case
from nmlgen.advise.fitting import SITE_SPREAD, Run, calibrate, without_each_family
from nmlgen.advise.measurements import STRUCTURES, TABLES, fit_levante, guess, levante_runs
from nmlgen.advise.model import run_time

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "advisor-accuracy.md"
PLOT = ROOT / "docs" / "advisor-accuracy.svg"
NESTED = ROOT / "docs" / "advisor-nested.csv"
ELSEWHERE = ROOT / "docs" / "advisor-elsewhere.csv"
CALIBRATION = ROOT / "presets" / "calibrations" / "levante.yaml"
GRIDS = {81920: "R2B5", 327680: "R2B6"}


@frozen(eq=False)
class Evidence:
    """What each family's runs say, kept back from the calibration."""

    runs: Mapping[Family, tuple[Run, ...]]
    calibrations: Mapping[Family, Calibration]
    cold: Mapping[Family, Judged]
    after_one: Mapping[Family, tuple[Judged, ...]]
    """For each run of the family: the others, once that one is known."""
    unseen: tuple[tuple[Judged, tuple[Judged, ...]], ...]
    """The families of the second table, predicted from the runs of the first: see `kept_back`."""

    def families(self, output: bool) -> list[Family]:
        """The families that write output, or those that write checkpoints."""
        return [family for family in self.runs if (family.output_interval_s is not None) == output]


def gather_evidence(runs: Sequence[Run]) -> Evidence:
    """Fit without each family, and judge it."""
    families, near = by_family(runs), calibrate(runs, guess())
    calibrations = without_family(runs, lambda others: fit_levante(others, near=near))
    return Evidence(
        families,
        calibrations,
        {family: judge(members, calibrations[family]) for family, members in families.items()},
        {family: after_one_run(members, calibrations[family]) for family, members in families.items()},
        kept_back(),
    )


def beginnings(runs: Sequence[Run], structures: Iterable[str] = STRUCTURES) -> dict[str, Calibration]:
    """What all runs say with each structure: where to begin to search without some of them."""
    return {structure: fit_levante(runs, STRUCTURES[structure]) for structure in structures}


def inner_score(runs: Sequence[Run], structure: str, near: Calibration) -> float:
    """The mean error of a structure on families that are kept back from these runs, a family at a time."""
    constants = without_each_family(runs, guess(STRUCTURES[structure]), near)
    return mean(abs(sum(run_time(run.case, constants[Family.of(run.case)])) / run.total_s - 1) for run in runs)


def nested_fold(runs: Sequence[Run], family: Family, near: Mapping[str, Calibration]) -> list[dict[str, str]]:
    """A row for each run of a family: predicted with the structure that is best without it, of those in `near`."""
    others = [run for run in runs if Family.of(run.case) != family]
    scores = {structure: inner_score(others, structure, begins) for structure, begins in near.items()}
    chosen = min(scores, key=scores.__getitem__)
    judged = judge(by_family(runs)[family], fit_levante(others, STRUCTURES[chosen], near[chosen]))
    return [
        {
            "family": name(family),
            "kind": "checkpoints" if family.output_interval_s is None else "output",
            "structure": chosen,
            "num_io_procs": str(run.case.num_io_procs),
            "restart_write_mode": run.case.restart_mode,
            "num_restart_procs": str(run.case.num_restart_procs),
            "measured_s": f"{run.total_s:.1f}",
            "predicted_s": f"{prediction.total_s:.1f}",
            "low_s": f"{prediction.low_s:.1f}",
            "high_s": f"{prediction.high_s:.1f}",
        }
        for run, prediction in zip(judged.runs, judged.predictions, strict=True)
    ]


def nested(runs: Sequence[Run]) -> list[dict[str, str]]:
    """All families, each predicted with what is chosen without it."""
    near, rows = beginnings(runs), []
    for family in by_family(runs):
        rows += nested_fold(runs, family, near)
        print(_nested_line(rows[-1]["family"], rows), flush=True)
    return rows


def _nested_line(family: str, rows: Sequence[dict[str, str]]) -> str:
    own = [row for row in rows if row["family"] == family and row["kind"] == rows[-1]["kind"]]
    return f"{family}: {own[0]['structure']}, mean error {percent(mean(map(_miss, own)))}"


def _miss(row: Mapping[str, str]) -> float:
    return abs(float(row["predicted_s"]) / float(row["measured_s"]) - 1)


def _holds(row: Mapping[str, str]) -> bool:
    return float(row["low_s"]) <= float(row["measured_s"]) <= float(row["high_s"])


def elsewhere(evidence: Evidence, family: Family) -> list[dict[str, str]]:
    """The regret in a family, which is kept back, after a single run of another one that writes the same: a row for
    each run."""
    output = family.output_interval_s is not None
    known = evidence.calibrations[family]
    prior = evolve(known, estimate=known.estimate.widened(dict.fromkeys(NAMES, SITE_SPREAD)))
    others = (other for other in evidence.families(output) if other != family and not hides(other))
    return [
        {
            "family": name(family),
            "kind": "output" if output else "checkpoints",
            "known": name(other),
            "num_io_procs": str(run.case.num_io_procs),
            "restart_write_mode": run.case.restart_mode,
            "num_restart_procs": str(run.case.num_restart_procs),
            "regret": f"{judge(evidence.runs[family], calibrate([run], prior)).regret:.6f}",
        }
        for other in others
        for run in evidence.runs[other]
    ]


def regrets_elsewhere(kind: str) -> list[float]:
    """Those of all families of a kind, as the table has them."""
    return [float(row["regret"]) for row in read(ELSEWHERE) if row["kind"] == kind]


def hides(family: Family) -> bool:
    """Whether output hides what checkpoints cost: on 16 nodes two outputs take 62 to 116 s of 330 to 390 s."""
    return family.output_interval_s is None and family.nodes >= 16


def indicator(runs: Sequence[Run]) -> float:
    """The regret of the report's advice: more I/O ranks while the workers' wrt_output is over half of theirs."""
    writing = sorted((run for run in runs if run.case.io_ranks), key=lambda run: run.case.io_ranks)
    chosen = writing[-1]
    for run in writing:
        waiting, busy = run.timers["wrt_output_worker_avg_s"], run.timers["wrt_output_io_avg_s"]
        if waiting is not None and busy is not None and waiting <= busy / 2:
            chosen = run
            break
    return chosen.total_s / min(run.total_s for run in runs) - 1


RULES: Mapping[str, Callable[[Case], bool]] = {
    "always 1": lambda case: case.num_io_procs == 1,
    "always 4": lambda case: case.num_io_procs == 4,
    "always 8": lambda case: case.num_io_procs == 8,
    "4 a node": lambda case: case.num_io_procs == 4 * case.nodes,
}


def regrets(evidence: Evidence) -> dict[str, list[float]]:
    """The regret in each family that writes output, of the advisor and of rules of thumb."""
    families = evidence.families(output=True)
    found = {"the advisor": [evidence.cold[family].regret for family in families]}
    for name, takes in RULES.items():
        found[name] = [regret for family in families if (regret := evidence.cold[family].regret_of(takes)) is not None]
    found["the report's indicator"] = [indicator(evidence.runs[family]) for family in families]
    return found


def mean(values: Iterable[float]) -> float:
    """The arithmetic mean."""
    listed = list(values)
    return sum(listed) / len(listed)


def error(judged: Judged) -> float:
    """The mean size of the errors."""
    return mean(abs(value) for value in judged.errors)


def kept_back() -> tuple[tuple[Judged, tuple[Judged, ...]], ...]:
    """The runs of the second table, a family at a time, predicted from those of the first alone; and for each run of
    the family the others, once that one is known."""
    known = fit_levante(levante_runs(TABLES[:1]))
    families = by_family(levante_runs(TABLES[1:])).values()
    return tuple((judge(members, known), after_one_run(members, known)) for members in families)


def page(evidence: Evidence, nested_rows: Sequence[Mapping[str, str]]) -> str:
    """The page of the documentation."""
    first, later_of_them = [one for one, _ in evidence.unseen], [one for _, then in evidence.unseen for one in then]
    cold = evidence.cold.values()
    errors = [abs(value) for judged in cold for value in judged.errors]
    held = [value for judged in cold for value in judged.held]
    later = [value for judgements in evidence.after_one.values() for value in judgements]
    restart = [evidence.cold[family].regret for family in evidence.families(output=False) if not hides(family)]
    lines = [
        "# How good the advice is",
        "",
        "*Written by `python benchmarks/advisor.py`; a test holds it against the program.*",
        "",
        f"The {sum(map(len, evidence.runs.values()))} runs on Levante (F. Ott 2025) fall into {len(evidence.runs)} "
        "families; the runs of a family differ",
        "only in who writes. Each family is kept back in turn: the model is fitted to the others and asked about it.",
        "*Regret* is the measured time of the layout it chooses over that of the best layout measured, minus one.",
        "*After one run*: one run of the family is known, with its timers, and the others are predicted; the mean over",
        "all choices of that run. Runs repeated on one node differ by up to 2.6 %, on several by up to 5.6 %, and by",
        "more from day to day.",
        "",
        "## Output",
        "",
        *_table(evidence, output=True),
        "",
        "![Measured and predicted times](advisor-accuracy.svg)",
        "",
        "Points: measured. Line and band: predicted without the family, with the 80 % interval.",
        "",
        "## Checkpoints",
        "",
        *_table(evidence, output=False),
        "",
        "On 16 nodes two outputs cost 62 to 116 s of 330 to 390 s, and hide what the checkpoints cost. That family is",
        "left out where restart layouts are judged, and as the one run that is known: after its run with one dedicated",
        "rank the layout chosen for R2B5 on 4 nodes was 20 % slower than the best.",
        "",
        "## Runs that were predicted first",
        "",
        "The structure of the model was made with 92 of the runs. The other 17, predicted from those 92 alone:",
        "",
        "| family | runs | mean error | after one run | within the interval | after one run | regret |",
        "|---|---:|---:|---:|---:|---:|---:|",
        *(
            f"| {name(one.family)} | {len(one.runs)} | {_errors([one])} | {_errors(then)} | {_held([one])} "
            f"| {_held(then)} | {percent(one.regret)} |"
            for one, then in evidence.unseen
        ),
        f"| both | {sum(len(one.runs) for one in first)} | {_errors(first)} | {_errors(later_of_them)} "
        f"| {_held(first)} | {_held(later_of_them)} | |",
        "",
        "## The structure chosen anew",
        "",
        "Which terms the model has was chosen for each family without it, by how well the others are predicted, each",
        "kept back in its turn. So nothing of a family has a part in its prediction: this is what to expect of one",
        "that nobody has measured (`python benchmarks/advisor.py --nested`, [every run](advisor-nested.csv)):",
        "",
        "| | |",
        "|---|---:|",
        f"| mean error of predicted times | {percent(mean(map(_miss, nested_rows)))} |",
        f"| ... of families that write output | "
        f"{percent(mean(_miss(row) for row in nested_rows if row['kind'] == 'output'))} |",
        f"| times within the 80 % interval | {percent(mean(map(_holds, nested_rows)))} |",
        f"| structures chosen | {_structures(nested_rows)} |",
        "",
        "## All together",
        "",
        "| | |",
        "|---|---:|",
        f"| mean error of predicted times | {percent(mean(errors))} |",
        f"| ... of families that write output | {percent(mean(map(error, _of(evidence, True))))} |",
        f"| mean error after one run of the family | {percent(mean(map(error, later)))} |",
        f"| ... of families that write output | {percent(mean(map(error, _later(evidence, True))))} |",
        f"| times within the 80 % interval | {percent(mean(held))} |",
        f"| ... after one run of the family | {percent(mean(value for judged in later for value in judged.held))} |",
        f"| regret of restart layouts, mean and maximum | {both(restart)} |",
        f"| regret of num_io_procs after one run of another family | {both(regrets_elsewhere('output'))} |",
        f"| regret of restart layouts after one run of another family | {both(regrets_elsewhere('checkpoints'))} |",
        "",
        "[Every regret after one run of another family](advisor-elsewhere.csv).",
        "",
        "## Beside rules of thumb",
        "",
        "Regret of the number of I/O ranks, mean and maximum over the families that write output:",
        "",
        "| rule | regret |",
        "|---|---:|",
        *(f"| {name} | {both(values)} |" for name, values in regrets(evidence).items()),
        "",
        "The indicator takes more I/O ranks while the workers' timer `wrt_output` exceeds half of that of I/O ranks.",
    ]
    return "\n".join(lines) + "\n"


def _errors(judged: Iterable[Judged]) -> str:
    """The mean size of all errors."""
    return percent(mean(abs(value) for one in judged for value in one.errors))


def _held(judged: Iterable[Judged]) -> str:
    """How many of the times lie within their interval."""
    return percent(mean(value for one in judged for value in one.held))


def _structures(rows: Sequence[Mapping[str, str]]) -> str:
    """How often each structure was chosen, over the families."""
    chosen = Counter({(row["family"], row["kind"]): row["structure"] for row in rows}.values())
    return ", ".join(f"{structure} ({count})" for structure, count in chosen.most_common())


def read(path: Path) -> list[dict[str, str]]:
    """A table that this program wrote."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write(path: Path, rows: Sequence[dict[str, str]]) -> None:
    """The table of these rows."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _of(evidence: Evidence, output: bool) -> list[Judged]:
    return [evidence.cold[family] for family in evidence.families(output)]


def _later(evidence: Evidence, output: bool) -> list[Judged]:
    return [judged for family in evidence.families(output) for judged in evidence.after_one[family]]


def _table(evidence: Evidence, output: bool) -> list[str]:
    what = "I/O ranks chosen / best" if output else "restart ranks chosen / best"
    lines = [
        f"| family | runs | mean error | after one run | within the interval | {what} | regret |",
        "|---|---:|---:|---:|---:|---|---:|",
    ]
    for family in evidence.families(output):
        judged = evidence.cold[family]
        chosen, best = layout(judged.chosen.case, output), layout(judged.best.case, output)
        later = mean(map(error, evidence.after_one[family]))
        lines.append(
            f"| {name(family)} | {len(judged.runs)} | {percent(error(judged))} | {percent(later)} "
            f"| {percent(mean(judged.held))} | {chosen} / {best} | {percent(judged.regret)} |"
        )
    return lines


def name(family: Family) -> str:
    """A family, for people."""
    every = family.output_interval_s or family.checkpoint_interval_s or 0
    interval = f"{every / 60:.0f} min" if every < 3600 else f"{every / 3600:.0f} h"
    return f"{GRIDS[family.n_cells]}, {family.nodes} node{'s' * (family.nodes > 1)}, every {interval}"


def layout(case: Case, output: bool) -> str:
    """Who writes, for people."""
    if output:
        return str(case.num_io_procs)
    return case.restart_mode.split()[0] + (f" {case.num_restart_procs}" if case.restart_ranks else "")


def percent(value: float) -> str:
    """A part as per cent."""
    return f"{100 * value:.1f} %"


def both(values: Sequence[float]) -> str:
    """Mean and maximum."""
    return f"{percent(mean(values))}, {percent(max(values))}"


def plot(evidence: Evidence) -> str:
    """Measured and predicted times over the number of I/O ranks, a panel for each family: an SVG picture."""
    families = evidence.families(output=True)
    wide, high = 300, 210
    width, height = 3 * wide, (len(families) + 2) // 3 * high
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
        'font-size="11">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for i, family in enumerate(families):
        parts.append(f'<g transform="translate({i % 3 * wide},{i // 3 * high})">')
        parts += _panel(evidence.cold[family], wide, high)
        parts.append("</g>")
    return "\n".join([*parts, "</svg>"]) + "\n"


def _panel(judged: Judged, wide: int, high: int) -> list[str]:
    pairs = sorted(zip(judged.runs, judged.predictions, strict=True), key=lambda pair: pair[0].case.num_io_procs)
    left, right, top, bottom = 48, wide - 14, 26, high - 34
    times = [value for run, guess in pairs for value in (run.total_s, guess.low_s, guess.high_s)]
    low, high_end = log10(min(times)) - 0.03, log10(max(times)) + 0.03

    def x(place: int) -> str:
        return f"{left + (right - left) * place / (len(pairs) - 1):.0f}"

    def y(seconds: float) -> str:
        return f"{bottom - (bottom - top) * (log10(seconds) - low) / (high_end - low):.0f}"

    upper = [f"{x(i)},{y(guess.high_s)}" for i, (_, guess) in enumerate(pairs)]
    lower = [f"{x(i)},{y(guess.low_s)}" for i, (_, guess) in enumerate(pairs)]
    line = " ".join(f"{x(i)},{y(guess.total_s)}" for i, (_, guess) in enumerate(pairs))
    ticks = [run.total_s for run, _ in (min(pairs, key=_measured), max(pairs, key=_measured))]
    return [
        f'<text x="{left}" y="16" font-weight="bold">{name(judged.family)}</text>',
        f'<polygon points="{" ".join(upper + lower[::-1])}" fill="#cfe0f3"/>',
        f'<polyline points="{line}" fill="none" stroke="#2b6cb0" stroke-width="1.5"/>',
        *(f'<circle cx="{x(i)}" cy="{y(run.total_s)}" r="3" fill="#c53030"/>' for i, (run, _) in enumerate(pairs)),
        *(f'<text x="{left - 6}" y="{y(tick)}" dy="4" text-anchor="end">{tick:.0f} s</text>' for tick in ticks),
        *(
            f'<text x="{x(i)}" y="{bottom + 15}" text-anchor="middle">{run.case.num_io_procs}</text>'
            for i, (run, _) in enumerate(pairs)
        ),
        f'<text x="{(left + right) // 2}" y="{bottom + 29}" text-anchor="middle">num_io_procs</text>',
        f'<path d="M{left} {top}V{bottom}H{right}" fill="none" stroke="black"/>',
    ]


def _measured(pair: tuple[Run, object]) -> float:
    return pair[0].total_s


def main() -> None:
    """Write what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nested", action="store_true")
    parser.add_argument("--calibration", action="store_true")
    arguments = parser.parse_args()
    if arguments.calibration:
        CALIBRATION.write_text(fit_levante(levante_runs()).dump(), encoding="utf-8")
        return
    if arguments.nested:
        write(NESTED, nested(levante_runs()))
    evidence = gather_evidence(levante_runs())
    write(ELSEWHERE, [row for family in evidence.runs if not hides(family) for row in elsewhere(evidence, family)])
    text = page(evidence, read(NESTED))
    PAGE.write_text(text, encoding="utf-8")
    print(text)
    PLOT.write_text(plot(evidence), encoding="utf-8")


if __name__ == "__main__":
    main()
