"""What would make the output smaller."""

from __future__ import annotations

import pytest
from advise.test_advice import TWO_STREAMS, experiment

import nmlgen.advise.savings as module
from nmlgen.advise.experiment import situation_of
from nmlgen.advise.savings import savings


def found(*overrides: str) -> dict[str, object]:
    situation = situation_of(experiment("output.atm.output_interval=PT4M", *overrides))
    return {", ".join(f"{key}={value}" for key, value in one.settings.items()): one for one in savings(situation)}


def test_each_way_with_bytes_and_what_is_lost():
    ways = found("parallel.num_io_procs=1", "output.atm.stream_partitions_ml=1")
    single = ways["namelists.io_nml.lnetcdf_flt64_output=False"]
    assert single.share == pytest.approx(0.5, abs=0.01)
    assert single.seconds > 600
    grib = ways["output.atm.filetype=2, namelists.gribout_nml.lgribout_compress_ccsds=True"]
    assert grib.share == pytest.approx(0.75, abs=0.01)
    assert grib.seconds is None  # packing was not measured
    assert ways["output.atm.output_interval=PT8M"].share == pytest.approx(0.5, abs=0.01)
    assert 0.4 < ways["output.atm.m_levels=16...30"].share < 0.5
    assert all(one.lost for one in ways.values())


def test_largest_first_and_small_streams_left_out():
    ways = found(TWO_STREAMS.replace("[temp, pres_sfc]", "[pres_sfc]"))
    assert [one.bytes for one in ways.values()] == sorted((one.bytes for one in ways.values()), reverse=True)
    assert not any("rain" in name for name in ways)


def test_what_a_small_stream_could_save_is_not_worked_out(monkeypatch):
    situation = situation_of(experiment(TWO_STREAMS.replace("[temp, pres_sfc]", "[pres_sfc]")))
    tried, known = [], module.changed

    def counted(component, variables, stream=None):
        tried.append(stream)
        return known(component, variables, stream)

    monkeypatch.setattr(module, "changed", counted)
    savings(situation)
    assert {stream.title for stream in tried if stream is not None} == {"atm"}


def test_what_is_small_already():
    ways = found("namelists.io_nml.lnetcdf_flt64_output=false", "output.atm.filetype=2", "output.atm.m_levels=20...30")
    assert list(ways) == ["output.atm.output_interval=PT8M"]
