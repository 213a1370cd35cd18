"""What a batch script remembers of its spec."""

from __future__ import annotations

import pytest
from specs import load, unchecked_build

from nmlgen.experiment.record import cells_key, grid_key, record, recorded


def test_what_is_recorded_is_read_back():
    spec = load(site="levante", mpi={"implementation": "openmpi", "version": "4.1.2"})
    script = unchecked_build(spec).files["wave.sbatch"].decode()
    assert f"# {record(spec.experiment)}\n" in script
    assert recorded(script) == {
        "site": "levante",
        "model.release": "2024.10",
        "grid.name": "R2B5",
        "mpi.implementation": "openmpi",
        "mpi.version": "4.1.2",
    }


def test_a_node_local_run_is_recorded():
    node_local = {"file_system": "beeond", "constraint": "BEEOND_MAXMDS"}
    found = recorded(f"# {record(load(site='horeka', node_local=node_local).experiment)}")
    assert (found["node_local.file_system"], found["node_local.constraint"]) == ("beeond", "BEEOND_MAXMDS")


@pytest.mark.parametrize(
    "text",
    ["", "#!/bin/sh\n# nmlgen: ignore[RST001] a reason\n", "# nmlgen: site='levante\n", "echo # nmlgen: site=a\n"],
)
def test_other_scripts_remember_nothing(text):
    assert recorded(text) == {}


def test_names_of_files_are_quoted():
    assert recorded("# nmlgen: site='./my site.yaml' model.release=2024.10") == {
        "site": "./my site.yaml",
        "model.release": "2024.10",
    }


def test_of_several_models_each_has_a_grid_of_its_own():
    own = {"grid": {"file": "g.nc", "name": "R2B5", "num_lev": 30}, "time": {"modelTimeStep": "PT12M"}}
    models = {"a": {"type": "atmo", "tasks": 10, **own}, "o": {"type": "ocean", **own}}
    time = {"start": "2008-09-01T00:00:00Z", "stop": "2008-09-11T00:00:00Z"}
    both = load(output=None, grid=None, time=time, parallel=None, models=models)
    keys = [(grid_key(one), cells_key(one)) for spec in (load(), both) for one in spec.experiment.components]
    assert keys == [
        ("grid.name", "grid.cells"),
        ("models.a.grid.name", "models.a.grid.cells"),
        ("models.o.grid.name", "models.o.grid.cells"),
    ]


def test_a_line_that_nmlgen_never_wrote_is_not_read():
    assert recorded("# nmlgen: site=levante a.b=" + "x" * 1_000) == {"site": "levante", "a.b": "x" * 1_000}
    assert recorded("# nmlgen: site=levante a.b=" + "x" * 200_000) == {}
