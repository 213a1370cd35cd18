"""The library's functions: what they take, give and raise."""

from __future__ import annotations

import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import nmlgen

EXAMPLE = Path(__file__).parent.parent / "examples" / "nh_dcmip_tc_52_r2b5.yaml"
MAPPING = {
    "nmlgen": 1,
    "name": "wave",
    "extends": "icon/jabw",
    "site": "local",
    "model": {"release": "2024.10", "executable": "/opt/icon/bin/icon"},
    "grid": {"file": "/opt/grids/iconR02B04.nc", "num_lev": 20},
    "time": {"stop": "2000-01-02T00:00:00Z", "modelTimeStep": "PT10M"},
    "parallel": {"nproma": 16},
    "restart": {"checkpointTimeIntval": "PT12H"},
}


def test_a_path_a_mapping_and_a_spec_are_taken():
    assert nmlgen.check(str(EXAMPLE)).errors == ()
    assert nmlgen.check(EXAMPLE).errors == ()
    assert nmlgen.check(MAPPING).errors == ()
    spec = nmlgen.load_spec(MAPPING)
    assert nmlgen.check(spec) == nmlgen.check(spec)
    assert sorted(nmlgen.build(spec).files) == [
        "NAMELIST_wave",
        "icon_master.namelist",
        "nmlgen-manifest.json",
        "wave.sbatch",
    ]


def test_overrides_belong_to_loading():
    spec = nmlgen.load_spec(MAPPING, ["grid.num_lev=30"])
    assert spec.experiment.components[0]["run_nml", "num_lev"].value == 30
    assert nmlgen.check(MAPPING, overrides=["restart.restart_write_mode=asink"]).errors[0].code == "RST003"
    with pytest.raises(TypeError, match="load_spec"):
        nmlgen.check(spec, overrides=["grid.num_lev=40"])


def test_errors_stop_a_build_and_warnings_a_strict_one():
    with pytest.raises(nmlgen.BuildError) as raised:
        nmlgen.build(MAPPING, overrides=["restart.restart_write_mode=asink"])
    assert [finding.code for finding in raised.value.findings] == ["RST003"]
    warned = nmlgen.build(MAPPING, overrides=["restart.checkpointTimeIntval=P9D"])
    assert [finding.code for finding in warned.findings] == ["RST008"]
    with pytest.raises(nmlgen.BuildError):
        nmlgen.build(MAPPING, overrides=["restart.checkpointTimeIntval=P9D"], strict=True)


def test_findings_say_where():
    (finding,) = nmlgen.check(EXAMPLE, overrides=["restart.restart_write_mode=asink"]).errors
    assert (finding.file, finding.line, finding.column) == ("--set", 1, 28)
    assert finding.severity is nmlgen.Severity.ERROR


def test_a_mistake_raises_with_every_finding():
    with pytest.raises(nmlgen.SpecError) as raised:
        nmlgen.load_spec(MAPPING | {"jobs": {}, "grid": {"num_lev": "thirty"}})
    assert [finding.code for finding in raised.value.findings] == ["SPC003", "SPC004"]
    assert isinstance(raised.value, nmlgen.NmlgenError)


def test_an_error_can_be_told_to_another_process():
    with pytest.raises(nmlgen.SpecError) as raised:
        nmlgen.load_spec(MAPPING | {"jobs": {}})
    again = pickle.loads(pickle.dumps(raised.value))
    assert (type(again), str(again), again.findings) == (nmlgen.SpecError, str(raised.value), raised.value.findings)


def test_a_build_holds_no_trace_of_the_machine(tmp_path):
    text = b"".join(nmlgen.build(MAPPING).files.values()).decode()
    assert str(Path.home()) not in text
    assert str(Path.cwd()) not in text


def test_stamp_is_recorded_when_asked_for():
    plain, stamped = nmlgen.build(MAPPING), nmlgen.build(MAPPING, stamp={"time": "noon"})
    assert b"noon" in stamped.files["nmlgen-manifest.json"]
    assert {n: d for n, d in plain.files.items() if n != "nmlgen-manifest.json"} == {
        n: d for n, d in stamped.files.items() if n != "nmlgen-manifest.json"
    }


def test_f90nml_gets_what_is_written():
    f90nml = pytest.importorskip("f90nml")
    written = nmlgen.build(EXAMPLE).files["NAMELIST_nh_dcmip_tc_52_r2b5"].decode()
    assert f90nml.reads(written).todict() == nmlgen.to_f90nml(nmlgen.read_namelist(written)).todict()
    back = nmlgen.from_f90nml(f90nml.reads(written))
    assert nmlgen.to_f90nml(back).todict() == f90nml.reads(written).todict()


def test_threads_do_not_disturb_each_other():
    calendars = ["365 day year", "360 day year", "proleptic gregorian"] * 10

    def length(calendar: str) -> bytes:
        stop = {"time": {"stop": "2001-03-01T00:00:00Z", "modelTimeStep": "PT10M", "calendar": calendar}}
        return nmlgen.build(MAPPING | stop).files["icon_master.namelist"]

    alone = [length(calendar) for calendar in calendars]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(length, calendars)) == alone


def test_everything_public_is_there():
    for name in nmlgen.__all__:
        assert getattr(nmlgen, name) is not None
    assert dir(nmlgen) == sorted(nmlgen.__all__)
    with pytest.raises(AttributeError):
        nmlgen.nothing  # noqa: B018


def test_the_module_runs_as_a_program():
    done = subprocess.run(
        [sys.executable, "-m", "nmlgen", "--version"],
        capture_output=True,
        text=True,
        check=False,
        cwd=EXAMPLE.parent.parent,
    )
    assert done.stdout == f"nmlgen {nmlgen.__version__}\n"


def test_an_unknown_variable_is_underlined_and_what_is_missing_stands_where_it_belongs(tmp_path):
    text = EXAMPLE.read_text(encoding="utf-8").replace("  account: bb1234\n", "")
    text = text.replace("num_io_procs:", "num_io_prcs:")
    (tmp_path / "spec.yaml").write_text(text, encoding="utf-8")
    spans = {finding.code: finding.span for finding in nmlgen.check(tmp_path / "spec.yaml").errors}
    assert spans.keys() == {"NML002", "SLM007"}
    lines = text.splitlines()
    name, account = spans["NML002"], spans["SLM007"]
    assert lines[name.line - 1][name.column - 1 : name.end_column - 1] == "num_io_prcs"
    assert lines[account.line - 1][account.column - 1 : account.end_column - 1] == "job"


def test_a_missing_directive_stands_at_the_beginning_of_a_spec_without_a_job(tmp_path):
    (tmp_path / "base.yaml").write_text(EXAMPLE.read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "spec.yaml").write_text("nmlgen: 1\nextends: ./base.yaml\n", encoding="utf-8")
    (finding,) = nmlgen.check(tmp_path / "spec.yaml", overrides=["job.account=null"]).errors
    assert (finding.code, finding.where) == ("SLM007", f"{tmp_path}/spec.yaml:1:1")
