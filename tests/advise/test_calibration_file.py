from __future__ import annotations

import re
from io import StringIO
from math import inf
from pathlib import Path

import pytest
from advise_cases import OUTPUT, ROOT, case, measured
from attrs import evolve
from rows import rows
from ruamel.yaml import YAML

from nmlgen.advise import Calibration, calibrate, predict
from nmlgen.advise.calibration import levante
from nmlgen.advise.document import read
from nmlgen.errors import InputError

SHIPPED = ROOT / "presets" / "calibrations" / "levante.yaml"
WRITER = '    "writer": .*'


def test_what_is_written_is_read_back(tmp_path: Path):
    run = measured(nodes=2, interval=240.0, ranks=4)
    calibration = calibrate([run])
    path = tmp_path / "site.yaml"
    path.write_text(calibration.dump(), encoding="utf-8")
    back = Calibration.load(path)
    assert back.dump() == calibration.dump()
    assert back.undetermined == calibration.undetermined
    assert set(back.families) == set(calibration.families)
    assert predict(run.case, back).total_s == pytest.approx(predict(run.case, calibration).total_s, rel=1e-3)


@rows(
    ("values", "spread"),
    [(None, "9.9"), (("9e19", "14.9"), "9.9"), (("9e19", "14.9"), "0.1"), (("2e-20", "2e-20"), "9.9")],
)
def test_constants_at_the_edges_of_what_a_file_may_say_predict_a_time(values, spread):
    def edge(found: re.Match[str]) -> str:
        is_power = found[1] in ("cache_power", "gather_power", "restart_power")
        value = found[2] if values is None else values[is_power]
        return f'"{found[1]}": {{"value": {value}, "spread": {spread}}}'

    entry = r'"(\w+)": \{"value": ([^,]+), "spread": [^}]+\}'
    text = re.sub(entry, edge, SHIPPED.read_text(encoding="utf-8"))
    calibration = read(re.sub(r'"(n_cells|nodes)": \[.*?\]', r'"\1": [1e-300, 1e-299]', text))
    for nodes, ranks in ((1, 0), (2, 4), (512, 8)):
        found = predict(case(**OUTPUT, nodes=nodes, ntasks=128 * nodes, num_io_procs=ranks), calibration)
        assert 0 < found.low_s < found.high_s < inf
        assert 0 < found.total_s < inf


def test_correlations_that_are_rounded_can_still_be_true():
    size = range(len(levante().estimate.mean))
    covariance = tuple(tuple(1.0 if i == j else 0.99996 for j in size) for i in size)  # 1.0000 is that of equals
    written = evolve(levante(), estimate=levante().estimate._replace(covariance=covariance)).dump()
    assert read(written).dump() == written


def test_the_one_that_ships_is_as_dump_writes_it():
    assert levante().dump() == SHIPPED.read_text(encoding="utf-8")


def test_what_dump_writes_needs_no_reader_of_yaml(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delattr(YAML, "compose")
    assert read(SHIPPED.read_text(encoding="utf-8")).name == "levante"


def test_it_is_the_same_in_any_yaml():
    """As people write it, and as nmlgen wrote it before: in blocks."""
    text = SHIPPED.read_text(encoding="utf-8")
    block = StringIO()
    YAML().dump(YAML(typ="safe", pure=True).load(text), block)
    assert "{" not in block.getvalue().partition("sources")[0]
    assert read(block.getvalue()) == read(text)


@rows(
    ("pattern", "replacement", "message"),
    [
        ('_calibration": 2', '_calibration": 3', r":4:25: version 2 is expected, or 1"),
        ('"name": ', '"title": ', r":5:3: 'title' is not known here; expected nmlgen_calibration, name"),
        ('"name": ', '"sources": [], "name": ', r":6:3: 'sources' is there twice"),
        (WRITER, '    "writer": {"value": "fast", "spread": 0.1},', r":\d+:25: 'fast' is not a number"),
        (
            WRITER,
            '    "writer": {"value": 1, "spread": 1e-300},',
            r":\d+:38: 1e-300 is out of range; expected more than 1e-09",
        ),
        (WRITER, '    "writer": {"value": -1, "spread": 0.1},', r":\d+:25: -1 is out of range; expected more than 0"),
        (WRITER, '    "writer": {"value": NaN, "spread": 0.1},', r":\d+:25: NaN is out of range; expected more than 0"),
        (WRITER, '    "writer": {"value": true, "spread": 0.1},', r":\d+:25: 'true' is not a number"),
        (WRITER, '    "writer": {"value": 1},', r":\d+:15: 'spread' is missing"),
        (WRITER, '    "writer": 0.5,', r":\d+:15: expected a mapping"),
        (WRITER + "\n", "", r":\d+:16: 'writer' is missing"),
        (
            '"gather_power": {"value": [0-9.]+',
            '"gather_power": {"value": 1e16',
            r":\d+:\d+: 1e16 is out of range; expected more than 0 and less than 15",
        ),
        ('"step/cache": ', '"step/cash": ', r":\d+:5: 'step/cash' does not name two constants"),
        (
            '"step/cache": .*',
            '"step/cache": 1.5,',
            r":\d+:19: 1.5 is out of range; expected more than -1 and less than 1",
        ),
        ('"nodes": .*', '"nodes": [1],', r":\d+:14: expected two numbers"),
        ('"nodes": .*', '"nodes": [2, 1],', r":\d+:14: nothing is measured from 2 to 1"),
        ('"nodes": .*', '"nodes": [-1, 1],', r":\d+:14: nothing is measured from -1 to 1"),
        ('"nodes": .*', '"nodes": 16,', r":\d+:14: expected a list"),
        ('"nodes": .*', '"nodes": [1, 16', r":\d+:\d+: expected ',' or ']'"),
        ('"nodes": .*', '"nodes": ' + 9000 * "[", r": "),
    ],
)
def test_a_mistake_is_shown_where_it_is(tmp_path: Path, pattern: str, replacement: str, message: str):
    text = SHIPPED.read_text(encoding="utf-8")
    changed = re.sub(pattern, replacement, text, count=1)
    assert changed != text
    path = tmp_path / "site.yaml"
    path.write_text(changed, encoding="utf-8")
    with pytest.raises(InputError, match=re.escape(str(path)) + message):
        Calibration.load(path)


def test_correlations_that_contradict_each_other_are_refused(tmp_path: Path):
    text = SHIPPED.read_text(encoding="utf-8")
    wrong = '"correlations": {"step/writer": 0.9, "writer/contention": 0.9, "step/contention": -0.9}, "scatter":'
    path = tmp_path / "site.yaml"
    path.write_text(re.sub(r'"correlations":.*?"scatter":', wrong, text, flags=re.DOTALL), encoding="utf-8")
    with pytest.raises(InputError, match="these correlations cannot all be true"):
        Calibration.load(path)


def test_what_is_no_file_of_a_calibration_is_refused(tmp_path: Path):
    with pytest.raises(InputError, match="no such file"):
        Calibration.load(tmp_path / "absent.yaml")
    (tmp_path / "empty.yaml").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="empty; a calibration is expected"):
        Calibration.load(tmp_path / "empty.yaml")
    (tmp_path / "list.yaml").write_text("- 1\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"list.yaml:1:1: expected a mapping"):
        Calibration.load(tmp_path / "list.yaml")
    (tmp_path / "next.yaml").write_text("%YAML 1.3\n---\na: 1\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"next.yaml:1:1: no version of YAML but 1.1 and 1.2"):
        Calibration.load(tmp_path / "next.yaml")
    (tmp_path / "digits.yaml").write_text('a: 1\nb: "\\UFFFFFFFF"\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"digits.yaml:2:\d+: these digits stand for no character"):
        Calibration.load(tmp_path / "digits.yaml")
    with pytest.raises(InputError, match="directory"):
        Calibration.load(tmp_path)


OLD = """nmlgen_calibration: 1
name: old
sources: []
constants:
  step: {value: 9.0, spread: 0.01}
  writer: {value: 0.5, spread: 0.04}
  contention: {value: 0.14, spread: 0.2}
  beside: {value: 0.5, spread: 0.1}
  cache: {value: 2940.0, spread: 0.1}
  start_up: {value: 2.0, spread: 0.3}
  gather: {value: 1.4, spread: 0.03}
  gather_slice: {value: 0.9, spread: 0.07}
  restart_async: {value: 0.7, spread: 0.04}
  restart_dedicated: {value: 0.8, spread: 0.05}
  restart_joint: {value: 3.6, spread: 0.15}
  restart_sync: {value: 1.7, spread: 0.04}
  restart_node: {value: 1.0, spread: 0.24}
correlations: {step/cache: 0.5}
scatter: {step: 0.07, gather_slice: 0.08, step_one_node: 0.015, run: 0.04, run_one_node: 0.015}
measured: {nodes: [1, 16]}
"""


def test_a_calibration_of_version_1_is_read() -> None:
    """What it says is kept; a rate of writing that included receiving is told apart."""
    found = read(OLD)
    constants = found.estimate.constants
    assert (constants.step, constants.gather) == pytest.approx((9.0, 1.4))
    assert 1 / constants.writer + constants.receive == pytest.approx(1 / 0.5, rel=0.01)
    assert found.scatter.constants == {"step": 0.07}
    assert read(found.dump()).estimate.constants.writer == pytest.approx(constants.writer, rel=1e-4)
