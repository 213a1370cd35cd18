"""Specs of an ocean alone, of coupled models and of nests, drawn by a seed, built and run in the model.

    python benchmarks/components.py BINARY GRIDS KIND SEED [SEED ...]

KIND is `ocean`, `coupled` or `nested`. Each spec is built and run in ICON 2024.10, BINARY, by the build's own script,
in two jobs. What was said beforehand is held against what the model did: the numbers of ranks of each role against its
log, the output files and their records, the bytes of those that are classic NetCDF, the checkpoints and their links,
the jobs and their exit code. Then each of these is spoilt in turn, and a spoilt run that is taken for a good one is a
difference, too. Ends with 1 at a difference.

GRIDS is a directory with small grids of ICON: `R2B1.nc`, `oce.nc` (that one with land in its sea-land mask),
`nest_P.nc` and `nest_C.nc` (a parent and its nest). It is narrow: no batch system, one or two computing ranks a model,
one nest, `num_prefetch_proc` 0, physics only where the models are coupled, runs of up to 80 minutes.
"""

from __future__ import annotations

import argparse
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, NamedTuple

import nmlgen
from nmlgen.experiment.experiment import Experiment
from nmlgen.lift.loading import load
from nmlgen.models.icon.promised import Promise, checkpoint_links, checkpoint_patterns, promised_output
from nmlgen.models.icon.ranks import split

_OCEAN: dict[str, Any] = {
    "grid_nml": {"use_dummy_cell_closure": True, "use_duplicated_connectivity": False},
    "dbg_index_nml": {"idbg_mxmn": 0, "idbg_val": 0},
    "ocean_dynamics_nml": {
        "n_zlev": 5,
        "dzlev_m": [50.0, 150.0, 500.0, 1300.0, 2500.0],
        "l_edge_based": False,
        "select_solver": 4,
        "use_absolute_solver_tolerance": True,
        "solver_tolerance": 1e-9,
        "i_bc_veloc_top": 1,
        "i_bc_veloc_bot": 1,
        "fast_performance_level": 12,
    },
    "ocean_tracer_transport_nml": {"no_tracer": 2},
    "ocean_horizontal_diffusion_nml": {
        "laplacian_form": 1,
        "velocitydiffusion_order": 1,
        "harmonicviscosity_scaling": 1,
        "harmonicviscosity_reference": 5e5,
    },
    "ocean_vertical_diffusion_nml": {"ppscheme_type": 4},
    "ocean_physics_nml": {"i_sea_ice": 0},
    "ocean_forcing_nml": {"iforc_oce": 10},
    "ocean_initialconditions_nml": {
        "initial_salinity_type": 200,
        "initial_salinity_top": 35.0,
        "initial_salinity_bottom": 35.0,
        "initial_temperature_type": 212,
        "initial_temperature_bottom": 0.0,
        "initial_temperature_top": 16.0,
    },
    "ocean_diagnostics_nml": {"diagnostics_level": 1},
}
_ATMOSPHERE: dict[str, Any] = {
    "run_nml": {"ltestcase": True, "ldynamics": True, "ltransport": False, "iforcing": 0},
    "nh_testcase_nml": {"nh_test_name": "jabw"},
    "nonhydrostatic_nml": {"ndyn_substeps": 5, "damp_height": 25000.0, "rayleigh_coeff": 0.1},
    "sleve_nml": {"min_lay_thckn": 300.0, "top_height": 35000.0},
}
_COUPLED: dict[str, Any] = {
    **_ATMOSPHERE,
    "run_nml": {"ltestcase": True, "ldynamics": True, "ltransport": True, "iforcing": 2, "ntracer": 3},
    "nh_testcase_nml": {"nh_test_name": "APEc_nh", "ape_sst_case": "sst1"},
    "aes_phy_nml": {"aes_phy_config(1)%dt_vdf": ""},
    "transport_nml": {"ihadv_tracer": [2, 2, 2], "itype_hlimit": [3, 3, 3]},
    "coupling_mode_nml": {"coupled_to_ocean": True},
}
_VARIABLES = {"ocean": ["zos", "to", "so", "u", "v"], "atmosphere": ["u", "v", "temp", "pres_sfc"]}
_GRIDS = {"ocean": ("oce.nc",), "coupled": ("R2B1.nc", "oce.nc"), "nested": ("nest_P.nc", "nest_C.nc")}
"""The files of GRIDS, by the kind that takes them."""


def drawn(kind: str, seed: int, grids: Path) -> tuple[dict[str, Any], int]:
    """A spec, and how many tasks it has."""
    chance = random.Random(f"{kind} {seed}")
    legs = chance.choice(("PT20M", "PT30M", "PT40M"))
    spec: dict[str, Any] = {
        "time": {"start": "2000-01-01T00:00:00Z", "modelTimeStep": "PT10M"},
        "restart": {"checkpointTimeIntval": chance.choice((legs, "PT10M")), "restartTimeIntval": legs},
    }
    minutes = 2 * int(legs[2:4])
    spec["time"]["stop"] = f"2000-01-01T{minutes // 60:02d}:{minutes % 60:02d}:00Z"
    if kind == "coupled":
        spec["models"] = {
            "atm": {"type": "atmo", "grid": {"file": str(grids / "R2B1.nc"), "num_lev": 10}, "namelists": _COUPLED},
            "oce": {"type": "ocean", "grid": {"file": str(grids / "oce.nc")}, "namelists": _ocean_coupled()},
        }
        period = chance.choice(("PT10M", "PT20M"))
        spec["coupling"] = {"coupling": list(_exchanges(period))}
        tasks = 0
        for name, model in spec["models"].items():
            ranks = _split(chance, model, "ocean" if name == "oce" else "atmosphere", name)
            model["tasks"], tasks = ranks, tasks + ranks
        return spec, tasks
    if kind == "ocean":
        spec["grid"] = {"file": str(grids / "oce.nc")}
        name = chance.choice(("oce", "ocean", "o"))
        spec["namelists"] = {**_OCEAN, "master_model_nml": {"model_type": 2, "model_name": name}}
        return spec, _split(chance, spec, "ocean", name)
    spec["grid"] = {"file": str(grids / "nest_P.nc"), "num_lev": 10}
    nest: dict[str, Any] = {"file": str(grids / "nest_C.nc"), "num_lev": 10}
    if chance.random() < 0.5:
        nest["lfeedback"] = chance.random() < 0.5
    spec["domains"] = {"nest": nest}
    spec["namelists"] = dict(_ATMOSPHERE)
    return spec, _split(chance, spec, "atmosphere", "atm")


def _ocean_coupled() -> dict[str, Any]:
    groups = {"ocean_physics_nml": {"i_sea_ice": 1}, "ocean_forcing_nml": {"iforc_oce": 14}}
    return {**_OCEAN, **groups, "coupling_mode_nml": {"coupled_to_atmo": True}}


def _exchanges(period: str) -> Iterator[dict[str, Any]]:
    """What the two models exchange, each in the period."""
    fields = {
        ("atm", "oce"): ["sea_level_pressure"],
        ("oce", "atm"): ["sea_surface_temperature", "ocean_sea_ice_bundle"],
    }
    grids = {"atm": "icon_atmos_grid", "oce": "icon_ocean_grid"}
    for (source, target), names in fields.items():
        yield {
            "src_component": source,
            "src_grid": grids[source],
            "tgt_component": target,
            "tgt_grid": grids[target],
            "time_reduction": "average",
            "src_lag": 1,
            "tgt_lag": 1,
            "coupling_period": period,
            "field": names,
            "interpolation": [{"nnn": {"n": 4, "weighted": "arithmetic_average"}}, {"fixed": {"user_value": -999.9}}],
        }


def _split(chance: random.Random, model: dict[str, Any], kind: str, name: str) -> int:
    """How many ranks a model has, after its ranks, its checkpoints and its output were drawn."""
    work, writers = chance.choice((1, 1, 2)), chance.choice((0, 0, 1, 2))
    parallel: dict[str, Any] = {"nproma": chance.choice((8, 16, 32)), "num_io_procs": writers, "num_prefetch_proc": 0}
    modes = ["sync", "joint procs multifile"]
    savers = chance.choice((0, 0, 1))
    if savers:
        modes = ["async", "dedicated procs multifile"]
    parallel["num_restart_procs"] = savers
    model["parallel"] = parallel
    restart: dict[str, Any] = {"restart_write_mode": chance.choice(modes)}
    if "multifile" not in restart["restart_write_mode"]:
        restart["restart_file_type"] = chance.choice((4, 5))
    model.setdefault("restart", {}).update(restart)
    model["output"] = {f"s{number}": _stream(chance, kind, name, number) for number in range(chance.choice((1, 2, 3)))}
    return work + writers + savers


def _stream(chance: random.Random, kind: str, name: str, number: int) -> dict[str, Any]:
    known = _VARIABLES[kind]
    stream: dict[str, Any] = {
        "output_filename": f"{name}_s{number}",
        "output_interval": chance.choice(("PT10M", "PT20M", "PT30M")),
        "file_interval": chance.choice(("PT20M", "PT30M", "PT1H", "P1D")),
        "filetype": chance.choice((4, 5)),
        "include_last": chance.random() < 0.5,
        "ml_varlist": chance.sample(known, chance.randint(1, len(known))),
    }
    by_date, by_number = (
        "<output_filename>_<physdom>_<levtype_l>_<datetime2>",
        "out/<output_filename>_<physdom>_<jfile>",
    )
    shape = chance.choice((None, None, by_date, by_number))
    if shape:
        stream["filename_format"] = shape
    if chance.random() < 0.3:
        stream["mode"] = chance.choice((1, 2))
    if chance.random() < 0.3:
        stream["output_start"] = "2000-01-01T00:20:00Z"
    return stream


_SPLIT = re.compile(
    r"Number of procs for test: *(\d+), work: *(\d+), I/O: *(\d+), Restart: *(\d+), Prefetching: *(\d+)"
)
_SLACK = 256  # bytes: texts in a header, such as the name of the grid


class Ended(NamedTuple):
    """A run that has ended: the build in which it ran, its exit code and all that it wrote into logs."""

    home: Path
    code: int
    log: str


def run(kind: str, seed: int, binary: Path, grids: Path, home: Path) -> Ended:
    """Build a spec and run it."""
    label = f"{kind}{seed}"
    home = home / label
    nmlgen.build(_without_errors(kind, seed, binary, grids, label)).write(home)
    done = subprocess.run(
        ["bash", f"{label}.sbatch"], cwd=home, capture_output=True, text=True, check=False, timeout=600
    )
    logs = "".join(path.read_text(errors="replace") for path in home.glob("**/*.log*"))
    return Ended(home, done.returncode, done.stdout + done.stderr + logs)


def differences(ended: Ended) -> list[str]:
    """What was not as nmlgen said beforehand."""
    experiment = load(ended.home).experiment
    found = nmlgen.verify(ended.home)
    different = [f"{problem.file}: {problem.message}" for problem in found.problems] + list(found.remarks)
    if ended.code:
        different.append(f"exit code {ended.code}: {ended.log[-400:]}")
    if found.legs != found.planned_legs or found.planned_legs == 1:
        different.append(f"{found.legs} of {found.planned_legs} jobs")
    if found.files != found.promised:
        different.append(f"{found.files} of {found.promised} files")
    said = Counter(
        (each.test, each.work, each.io, each.restart, each.prefetch) for each in map(split, experiment.components)
    )
    logged = Counter(tuple(map(int, match)) for match in _SPLIT.findall(ended.log))
    if {key: 2 * count for key, count in said.items()} != logged:
        different.append(f"ranks: said {dict(said)}, in the log of two jobs {dict(logged)}")
    different += _files(experiment, ended.home / "run")
    return different


def unseen(ended: Ended) -> Iterator[str]:
    """Each way in which a good run can be spoilt without being found different; its bare copy is as good."""
    for way in ("", "output", "stranger", "link", "target", "job", "bytes", "code", "ranks"):
        with tempfile.TemporaryDirectory() as copies:
            copy = ended._replace(home=Path(shutil.copytree(ended.home, Path(copies) / "copy", symlinks=True)))
            spoilt = _spoilt(way, copy)
            if spoilt is not None and bool(differences(spoilt)) != bool(way):
                yield f"spoilt and not found: {way}" if way else "a copy is not as good"


def _spoilt(way: str, ended: Ended) -> Ended | None:
    """The run as it is when something of it is wrong; None where it has nothing of the kind."""
    directory = ended.home / "run"
    components = load(ended.home).experiment.components
    outputs = [directory / file.name for component in components for file in promised_output(component).files]
    link = directory / checkpoint_links(components[-1])[0]
    if way == "output":
        outputs[-1].unlink()
    elif way == "stranger":
        (directory / "stranger.nc").touch()
    elif way in ("link", "target"):
        link.unlink()
        if way == "target":
            link.symlink_to("icon_master.namelist")
    elif way == "job":
        ledger = directory / "nmlgen.legs"
        ledger.write_text(ledger.read_text().splitlines(keepends=True)[0])
    elif way == "bytes":
        classic = [output for output in outputs if _is_classic(output)]
        if not classic:
            return None
        classic[0].write_bytes(2 * classic[0].read_bytes())
    elif way == "code":
        return ended._replace(code=1)
    elif way == "ranks":
        return ended._replace(log=ended.log.replace(", work: ", ", work: 9", 1))
    return ended


def _without_errors(kind: str, seed: int, binary: Path, grids: Path, label: str) -> dict[str, Any]:
    """The first spec drawn after the seed in which no error is found."""
    for number in range(100):
        spec, tasks = drawn(kind, 100 * seed + number, grids)
        spec |= {"nmlgen": 1, "name": label, "site": "local", "job": {"nodes": 1, "ntasks_per_node": tasks}}
        spec["model"] = {"name": "icon", "release": "2024.10", "executable": str(binary)}
        if not nmlgen.check(spec).errors:
            return spec
    sys.exit(f"{label}: no spec without an error")


def _files(experiment: Experiment, directory: Path) -> Iterator[str]:
    """What of the run's files was not said or has another size, and which links to checkpoints are not there."""
    said: set[str] = set()
    patterns: list[str] = []
    for component in experiment.components:
        promise = promised_output(component)
        yield from _sizes(promise, directory)
        said |= promise.names
        patterns += checkpoint_patterns(component)
        for link in checkpoint_links(component):
            said.add(link)
            target = directory / link
            if not target.exists():
                yield f"no link {link}"
            elif not any(fnmatch(target.resolve().name, pattern) for pattern in checkpoint_patterns(component)):
                yield f"{link} leads to {target.resolve().name}"
    for path in sorted(directory.rglob("*.nc")):
        place = path.relative_to(directory)
        known = str(place) in said or any(fnmatch(place.parts[0], pattern) for pattern in patterns)
        if not known and not path.is_symlink():
            yield f"not said: {place}"


def _sizes(promise: Promise, directory: Path) -> Iterator[str]:
    """The classic NetCDF files whose bytes are not those that `nmlgen volume` says; what HDF5 adds it does not know."""
    for file in promise.files:
        path = directory / file.name
        if file.size is None:
            yield f"{file.name}: nothing is said of its bytes"
        elif _is_classic(path) and not file.size.low - _SLACK <= path.stat().st_size <= file.size.high + _SLACK:
            yield f"{file.name}: {path.stat().st_size} bytes, not {file.size.low} to {file.size.high}"


def _is_classic(path: Path) -> bool:
    return path.is_file() and path.read_bytes()[:3] == b"CDF"


def main() -> None:
    """Run what is drawn and tell the differences."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", type=Path)
    parser.add_argument("grids", type=Path)
    parser.add_argument("kind", choices=_GRIDS)
    parser.add_argument("seeds", nargs="+", type=int, metavar="seed")
    arguments = parser.parse_args()
    binary, grids = arguments.binary.resolve(), arguments.grids.resolve()
    for path in (binary, *(grids / name for name in _GRIDS[arguments.kind])):
        if not path.is_file():
            parser.exit(2, f"no such file: {path}\n")
    bad = 0
    for seed in arguments.seeds:
        with tempfile.TemporaryDirectory() as home:
            ended = run(arguments.kind, seed, binary, grids, Path(home))
            different = differences(ended) or list(unseen(ended))
        bad += bool(different)
        print(f"{arguments.kind} {seed}:", *(different or ["as said"]), sep="\n  ", flush=True)
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
