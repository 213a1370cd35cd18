"""Each figure that nmlgen quotes of a report is one of that report's: the tables of four of them, as numbers.

Those of the fifth, of ICON on Levante, are the measured runs in presets/calibrations (tests/advise/test_advice.py).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

import pytest
from report_tables import HLRN, HLRS

from nmlgen.checking import check_experiment
from nmlgen.experiment.shared_file import DEFAULT_RUN_TIME, RATES, RUN_TIMES
from nmlgen.spec.spec import load_spec

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "nh_dcmip_tc_52_r2b5.yaml"

# K. Ketelsen, Parallel IO on HLRN-IV systems (2021)
TABLE_1 = {("2018.5", "off"): 6499, ("2018.5", "on"): 9938, ("2019.9", "off"): 6323, ("2019.9", "on"): 9756}
TABLE_3 = {"write": (98, 44), "read": (110, 54)}  # seconds, independent and collective
TABLES_4_AND_5 = {"write": (189, 71.2), "read": (562, 60)}  # seconds, all processes and few of a node
TABLE_6 = (161, 41)  # seconds, unlimited time and fixed
# KIT: EMAC's output in parallel on 20 nodes, times as fast on BeeOND as on the global file system, by stripe count
EMAC = {1: 2, 4: 4.5, 20: 6}
# M. Laufer, E. Fredj (2022): seconds of an output of WRF, by library and what was added
WRF = (93, 8.2, 1.1, 0.52)

HLRN_NUMBERS = {
    *TABLE_1.values(),
    *HLRN,
    *(rate for row in HLRN.values() for rate in row),
    *(seconds for table in (TABLE_3, TABLES_4_AND_5) for row in table.values() for seconds in row),
    *TABLE_6,
    round(161 / 41, 1),
    *(16, 96, 59),  # nodes, tasks a node
    0.8,  # GB/s of one stripe
    30,  # runs of table 2
}
HLRS_NUMBERS = {*HLRS, *(s for row in HLRS.values() for s in row), 222.3, 61, 4.7, 31, 30}
HLRS_NUMBERS |= {1.1, 1.6}  # what nmlgen works out of them: by how much a formula is off, and what stripes make in all
KIT_NUMBERS = {*EMAC, *EMAC.values(), 10, 1280, 640, 480, 3, 20, 1}
REPORTS = {
    "Ketelsen": HLRN_NUMBERS,
    "TOPIO": HLRS_NUMBERS,
    "EMAC": KIT_NUMBERS,
    "KIT": KIT_NUMBERS,
    "WRF": {*WRF, 8, 1},
}
OTHERS = "F. Ott", "Levante", "ROMIO", "Lustre manual", "ICON 20", "NHR@KIT", "Intel MPI", "pmodels", "Slurm", "HoreKa"
_SOURCE = re.compile("|".join(map(re.escape, (*OTHERS, *REPORTS))))
_FIGURE = re.compile(
    r"(?<![\w.:/-])(\d+(?:\.\d+)?)"
    r"(?= (?:MB/s|GB/s|s\b|%|times|nodes|stripes|runs|with \d)|, (?:\d[\d.]* (?:and|with)|4\.5))"
)


def _texts() -> Iterator[tuple[str, str]]:
    """Every text of the program and of its pages that names one of the reports, a paragraph or string each."""
    for path in sorted((ROOT / "nmlgen").rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        if not _SOURCE.search(source):
            continue
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.JoinedStr):
                parts = (part.value for part in node.values if isinstance(part, ast.Constant))
                yield path.name, " ".join("".join(map(str, parts)).split())
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                for paragraph in node.value.split("\n\n"):
                    yield path.name, " ".join(paragraph.split())
    for path in (*(ROOT / "docs").glob("*.md"), *(ROOT / "presets").rglob("*.yaml")):
        for paragraph in re.split(r"\n\n|\n\|", path.read_text(encoding="utf-8")):
            yield path.name, " ".join(re.sub(r"^#", "", paragraph, flags=re.MULTILINE).split())


def _quoted() -> list[tuple[str, str, float]]:
    """File, report and figure, of each figure that stands behind the name of a report and before that of another."""
    found = []
    for name, text in _texts():
        places = list(_SOURCE.finditer(text))
        for place, after in zip_longest(places, places[1:]):
            if place[0] in REPORTS:
                said = text[place.end() : after.start() if after else None]
                found += [(name, place[0], float(number)) for number in _FIGURE.findall(said)]
    return found


def test_each_figure_is_the_reports_own():
    quoted = _quoted()
    wrong = [(name, report, number) for name, report, number in quoted if number not in REPORTS[report]]
    assert wrong == []
    assert {name for name, _, _ in quoted} >= {"shared_files.py", "mpi_driver.py", "mpi_hints.py", "node_local.py"}
    assert len(quoted) > 40


def test_the_figures_that_rules_compare_with():
    assert {count: max(row) for count, row in HLRN.items()} == RATES
    assert {count: min(row) for count, row in HLRS.items()} == RUN_TIMES
    assert DEFAULT_RUN_TIME == 222.3
    assert 0.60 < RUN_TIMES[32] / DEFAULT_RUN_TIME < 0.61  # the report rounds it up


@pytest.mark.parametrize(
    ("code", "numbers"),
    [
        ("MPI014", TABLE_1.values()),
        ("MPI010", (*TABLE_3["write"], *TABLE_3["read"])),
        ("MPI021", (*TABLES_4_AND_5["write"], *TABLES_4_AND_5["read"])),
        ("MPI012", TABLE_6),
        ("LOC007", (*EMAC, *EMAC.values())),
        ("PAR013", (20,)),
    ],
)
def test_pages_of_rules_hold_the_tables(code, numbers):
    page = (ROOT / "docs" / "rules" / f"{code}.md").read_text(encoding="utf-8")
    assert [number for number in numbers if not re.search(rf"(?<![\d.]){number}(?![\d]|\.\d)", page)] == []


def test_figures_of_what_is_left_out():
    """The page names those of WRF, and why nothing follows from them."""
    page = (ROOT / "docs" / "reports.md").read_text(encoding="utf-8")
    (line,) = (line for line in page.splitlines() if "93 s" in line)
    assert [float(number) for number in re.findall(r"([\d.]+) s\b", line)] == list(WRF)
    assert "left out" in line


def test_one_io_rank_on_1280_cores():
    """KIT: some settings other than one I/O rank made ICON nearly ten times as fast there, in an extreme case."""
    machine = ["site=horeka", "job.partition=cpuonly", "job.ntasks_per_node=76", "job.nodes=17", "lustre=null"]
    for ranks, finds in ((1, True), (32, False)):
        layout = [f"parallel.num_io_procs={ranks}", f"output.atm.stream_partitions_ml={ranks}"]
        spec = load_spec(
            EXAMPLE, [*machine, *layout, "output.atm.output_interval=PT4M", "output.atm.file_interval=null"]
        )
        report = check_experiment(spec.experiment)
        found = [finding for finding in report.findings if finding.code == "OUT032"]
        assert bool(found) is finds
        for finding in found:
            least, most = map(float, re.findall(r"[\d.]+", finding.message.partition("makes the run")[2])[:2])
            assert 2 < least < most
