"""A first look is on the safe side: where it finds a layout good, a closer one finds nothing to say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from rows import rows

from nmlgen import load_spec
from nmlgen.advise.calibration import levante
from nmlgen.advise.choices import Choice
from nmlgen.advise.cost import output_cost
from nmlgen.advise.experiment import situation_of, without_checkpoints
from nmlgen.advise.first_look import WORTH_SAYING, has_good_output, has_good_restart
from nmlgen.advise.layout import present_layout
from nmlgen.advise.ranking import preferred, ranked, weighed
from nmlgen.experiment.setting import UndecidedError
from nmlgen.models.icon.volume import checkpoint_volume, most_checkpoint_bytes

EXAMPLE = Path(__file__).parents[2] / "examples" / "nh_dcmip_tc_52_r2b5.yaml"
MANY = "output.more={output_interval: PT1H, file_interval: P1D, ml_varlist: [u, v]}"
MODES = (
    "{restart_write_mode: sync, num_restart_procs: 0}",
    "{restart_write_mode: joint procs multifile, num_restart_procs: 0}",
    "{restart_write_mode: dedicated procs multifile, num_restart_procs: 4}",
)


def component(*overrides):
    return load_spec(EXAMPLE, overrides).experiment.components[0]


@pytest.mark.parametrize("nodes", [1, 2, 4])
@pytest.mark.parametrize("interval", ["PT4M", "PT12M", "PT1H"])
def test_output(nodes, interval):
    looked = []
    for ranks in (1, 4, 8, 32):
        layout = f"parallel.num_io_procs={ranks}", f"output.atm.stream_partitions_ml={ranks}"
        one = component(
            f"job.nodes={nodes}", f"output.atm.output_interval={interval}", "output.atm.file_interval=P1D", *layout
        )
        looked.append(has_good_output(one))
        if looked[-1]:
            assert not output_cost(one).exceeds(WORTH_SAYING)
    assert False in looked


def test_some_output_is_good_at_first_look():
    assert has_good_output(component())
    assert not has_good_output(component("parallel.num_io_procs=1", "output.atm.stream_partitions_ml=1"))
    assert not has_good_output(component(MANY))


@rows("mode", MODES)
@rows("interval", ["PT12M", "PT1H", "PT6H", "PT12H", "P5D"])
def test_checkpoints(mode, interval):
    one = component(f"restart={mode}", f"restart.checkpointTimeIntval={interval}")
    if has_good_restart(one):
        situation = situation_of(one)
        layout = present_layout(situation)
        best, *_ = preferred(ranked(situation, layout, Choice(False, (False,), True, True), levante()))
        assert weighed(situation, layout).seconds < best.seconds * (1 + WORTH_SAYING)
    else:
        assert interval != "P5D"


@pytest.mark.parametrize("more", [(), (MANY,)])
def test_few_checkpoints_are_good_and_many_by_one_rank_are_not(more):
    assert has_good_restart(component("restart.checkpointTimeIntval=P5D", *more))
    assert not has_good_restart(component(f"restart={MODES[0]}", "restart.checkpointTimeIntval=PT1H", *more))


@pytest.mark.parametrize(
    "settings", [(), ("grid.name=R2B7",), ("extends=icon/nwp_global",), ("grid.num_lev=90", "job.nodes=4")]
)
def test_no_checkpoint_is_larger(settings):
    one = component(*settings)
    assert checkpoint_volume(one).high < most_checkpoint_bytes(one)


def test_a_layout_without_checkpoints_is_else_the_same():
    one = component()
    with_them, without = situation_of(one), without_checkpoints(one)
    assert with_them.case.checkpoint_bytes == checkpoint_volume(one).best
    assert without.case.checkpoint_bytes == 0
    assert (with_them.outputs, with_them.cores) == (without.outputs, without.cores)


def test_what_nobody_knows_is_undecided():
    limited = component("namelists.grid_nml.l_limited_area=true")
    with pytest.raises(UndecidedError):
        has_good_output(limited)
    with pytest.raises(UndecidedError):
        has_good_restart(limited)


def test_a_check_of_a_good_layout_loads_nothing_more():
    """What a closer look needs takes longer to load than the first look takes."""
    code = (
        "import sys; from nmlgen.cli import main\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code\n"
        "print(*sorted(name for name in sys.modules if name.startswith('nmlgen.advise.')), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "check", str(EXAMPLE)], capture_output=True, text=True, check=True
    )
    loaded = {name.rpartition(".")[2] for name in done.stderr.splitlines()[-1].split()}
    assert "first_look" in loaded
    assert loaded.isdisjoint({"cost", "ranking", "prediction", "advice", "job_time", "memory", "simulation"})
