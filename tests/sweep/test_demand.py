"""What a sweep takes of a budget."""

from __future__ import annotations

import pytest
from specs import MAPPING

import nmlgen
from nmlgen.cli.submitted import show_demand
from nmlgen.sweep.demand import Hours, demand


def test_node_hours_and_core_hours(tmp_path):
    spec = nmlgen.load_spec(MAPPING)
    points = list(nmlgen.expand(spec, grid={"job.nodes": [1, 2], "job.time": ["01:00:00"]}, name="n{nodes}"))
    nmlgen.write_sweep(points, tmp_path / "sweep")
    found = demand(tmp_path / "sweep", ["n1", "n2"])
    assert found.points == 2
    assert found.most == Hours(3.0, 96.0)  # 32 tasks on a node
    assert found.expected is not None
    assert found.low.node < found.expected.node < found.high.node
    one = demand(tmp_path / "sweep", ["n1"])
    assert one.most.node == pytest.approx(1.0)


def test_scripts_that_nmlgen_did_not_build(tmp_path, capsys):
    (tmp_path / "p").mkdir()
    (tmp_path / "points.csv").write_text("id,name,directory,state,reason\n1,p,p,built,\n")
    script = tmp_path / "p" / "p.sbatch"
    script.write_text("#!/bin/bash\n#SBATCH --nodes=3\n#SBATCH --time=02:00:00\ntrue\n")
    assert demand(tmp_path, ["p"]).most == Hours(6.0, None)
    script.write_text("#!/bin/bash\n#SBATCH --nodes=300\n#SBATCH --time=10-0\ntrue\n")
    show_demand(tmp_path, ["p"])
    assert capsys.readouterr().out == "1 point: at most 72 000 node hours by their time limits\n"
    script.write_text("#!/bin/bash\n#SBATCH --nodes=3\ntrue\n")
    assert demand(tmp_path, ["p"]).most is None
    assert demand(tmp_path, []).most is None
