"""Which runs of a sweep belong together, and which of them is best."""

from __future__ import annotations

import pytest
from attrs import evolve
from measured_sweep import checkpoint_sweep, output_sweep
from steps import grows_too_fast

from nmlgen.report.sweep.family import axes_of, families_of, positions, short_name
from nmlgen.report.sweep.page import _section
from nmlgen.report.sweep.run import Measured, PointRun


def run(seconds=None, **values):
    keys = {key.replace("__", "."): value for key, value in values.items()}
    state = "missing" if seconds is None else "finished"
    return PointRun(name=str(keys), values=keys, state=state, measured=Measured(total_s=seconds))


def families(runs, **present):
    return families_of(runs, axes_of(runs), {key.replace("__", "."): value for key, value in present.items()})


def test_families_of_output_layouts():
    runs = output_sweep().runs
    axes = axes_of(runs)
    assert axes.x == "parallel.num_io_procs"
    assert axes.series == ()
    assert axes.layout == ("parallel.num_io_procs", "output.atm.stream_partitions_ml")
    found = families_of(runs, axes, {})
    assert len(found) == 6
    assert found[0].title == "grid.name R2B5 · nodes 1 · output_interval PT4M"
    assert positions(found[0].runs, axes) == ("0", "1", "2", "4", "8", "16", "32")
    assert [family.best.values["parallel.num_io_procs"] for family in found] == ["4", "16", "2", "4", "2", "8"]


def test_families_of_restart_layouts():
    runs = checkpoint_sweep().runs
    axes = axes_of(runs)
    assert axes.x == "restart.num_restart_procs"
    assert axes.series == ("restart.restart_write_mode",)
    found = families_of(runs, axes, {})
    assert len(found) == 7
    best = found[0].best
    assert axes.layout_text(best) == "dedicated procs multifile, num_restart_procs 4"


def test_layouts_that_vary_freely():
    runs = [run(1.0, parallel__num_io_procs=n, output__a__stream_partitions_ml=p) for n in (1, 2, 4) for p in (1, 2)]
    axes = axes_of(runs)
    assert (axes.x, axes.series, axes.families) == (
        "parallel.num_io_procs",
        ("output.a.stream_partitions_ml",),
        (),
    )
    assert [family.title for family in families_of(runs, axes, {})] == ["all runs"]


def test_repetitions_stand_for_one_run():
    """Of each layout the run with the median time, and not the luckiest of all."""
    times = {2: (100.0, 90.0, 200.0), 4: (95.0, 80.0, 96.0), 8: (70.0, None, 300.0)}
    runs = [run(s, parallel__num_io_procs=n, repeat=k) for k in range(3) for n, of in times.items() for s in [of[k]]]
    axes = axes_of(runs)
    assert (axes.x, axes.families, axes.layout) == ("parallel.num_io_procs", (), ("parallel.num_io_procs",))
    (family,) = families_of(runs, axes, {})
    assert len(family.runs) == 9
    assert [one.total_s for one in family.typical] == [100.0, 95.0, 70.0]
    assert family.best.total_s == 70.0
    assert family.repeated(family.best) == (70.0, 300.0)
    assert family.repeated(family.typical[0]) == (90.0, 100.0, 200.0)


def test_runs_of_the_same_values_are_not_taken_for_repetitions():
    runs = [evolve(run(seconds, job__nodes=1), name=name) for name, seconds in (("a", 1.0), ("b", 2.0))]
    (family,) = families(runs)
    assert family.typical == family.runs
    assert family.repeated(family.best) == (1.0,)


def test_striping_is_a_layout():
    runs = [run(1.0, lustre__output__stripe_count=n, job__nodes=k) for n in (1, 4, 8) for k in range(9)]
    assert axes_of(runs).x == "lustre.output.stripe_count"


def test_of_two_layouts_that_with_more_values_is_drawn():
    runs = [
        run(1.0, parallel__num_io_procs=n, restart__restart_write_mode=mode)
        for n in (1, 2, 4)
        for mode in ("sync", "async")
    ]
    axes = axes_of(runs)
    assert (axes.x, axes.families) == ("parallel.num_io_procs", ("restart.restart_write_mode",))


def test_a_sweep_over_something_else():
    runs = [run(1.0, parallel__nproma=n, grid__name=g) for n in (8, 16, 32) for g in ("R2B5", "R2B6")]
    axes = axes_of(runs)
    assert (axes.x, axes.families) == ("parallel.nproma", ("grid.name",))


def test_a_sweep_over_words():
    runs = [run(1.0, job__partition=name) for name in ("compute", "shared")]
    axes = axes_of(runs)
    assert positions(runs, axes) == ("compute", "shared")


def test_one_point():
    axes = axes_of([run(1.0)])
    assert axes.x is None
    assert axes.layout_text(run(1.0)) == "{}"


def test_names_make_no_families():
    runs = [run(1.0, name=f"a{n}", output__a__output_filename=f"f{n}", parallel__num_io_procs=n) for n in (0, 1, 2)]
    assert len(families(runs)) == 1


@pytest.mark.parametrize(("second", "is_equal"), [(101.9, True), (102.1, False)])
def test_differences_below_the_noise_are_none(second, is_equal):
    runs = [run(second, parallel__num_io_procs=1), run(100.0, parallel__num_io_procs=2)]
    (family,) = families(runs)
    assert family.best is runs[1]
    assert family.equal == ((runs[0],) if is_equal else ())


def test_what_did_not_come_to_its_end_is_not_best():
    crashed = evolve(run(1.0, parallel__num_io_procs=1), state="failed")
    (family,) = families([crashed, run(100.0, parallel__num_io_procs=2), run(None, parallel__num_io_procs=4)])
    assert family.best.values == {"parallel.num_io_procs": 2}
    assert family.cost(crashed) is None


def test_without_any_end_there_is_no_best():
    (family,) = families([run(None, parallel__num_io_procs=n) for n in (1, 2)])
    assert family.best is None
    assert family.equal == ()


def test_the_present_layout():
    runs = [run(n * 100.0, parallel__num_io_procs=str(n)) for n in (1, 2, 4)]
    (family,) = families(runs, parallel__num_io_procs=4, job__nodes=7)
    assert family.present is runs[2]
    assert family.cost(family.present) == 3.0
    (family,) = families(runs, job__nodes=7)
    assert family.present is None


def test_names_of_keys():
    assert short_name("parallel.num_io_procs") == "num_io_procs"
    assert short_name("grid.name") == "grid.name"


def test_keys_and_keys():
    """Whether a key follows from others is not asked of each pair of keys."""

    def work(number: int):
        keys = [f"a{at}__stream_partitions_ml" for at in range(number)] + [f"b{at}" for at in range(number)]
        runs = [run(**{key: int(at == 9 - place % 5) for place, key in enumerate(keys)}) for at in range(10)]
        return lambda: families(runs)

    assert not grows_too_fast(work, 40)


def test_runs_that_are_equal():
    runs = [run(10.0, nodes=at) for at in range(1200)]

    def work(number: int):
        found = runs[:number]
        axes = axes_of(found)
        (family,) = families_of(found, axes, {})
        return lambda: _section(family, axes, is_drawn=False)

    assert not grows_too_fast(work, 600)
