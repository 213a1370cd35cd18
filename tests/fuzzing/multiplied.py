"""Specs in which several things are many at once: each is within its limit, and their product is what costs."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from specs import changed

from fuzzing.cases import Case, yaml_of
from fuzzing.limited import Ended

Spec = dict[str, Any]
_SITES = ("generic-slurm", "generic-pbs", "levante", "local", "lumi")
_LARGEST = 1_000_000  # bytes


@cache
def _variables() -> tuple[str, ...]:
    """Output variables that ICON has, as far as their meaning is known."""
    path = Path(__file__).parents[2] / "schemas" / "icon-output-meanings.json"
    found: list[str] = []
    json.loads(path.read_text(encoding="utf-8"), object_hook=found.extend)
    return tuple(sorted({name for name in found if name.isidentifier() and name.islower()}))


def _streams_of(spec: Spec) -> list[dict[str, Any]]:
    return list(spec["output"].values())


# --- Each makes something many, or long ---


def _streams(spec: Spec, pick: random.Random) -> None:
    for number in range(pick.choice((50, 200, 498))):
        spec["output"][f"s{number}"] = {
            "output_interval": pick.choice(("PT5M", "PT10M", "PT1H", "PT2H", "P1D", "P1M")),
            "file_interval": pick.choice(("PT6H", "P1D", "P1M", "P1Y")),
            "ml_varlist": pick.sample(_variables(), pick.choice((1, 3, 10))),
            "output_filename": f"s{number}",
        }


def _content(spec: Spec, pick: random.Random) -> None:
    for stream in _streams_of(spec)[: pick.choice((1, 20, 500))]:
        stream["ml_varlist"] = [pick.choice(_variables()) for _ in range(pick.choice((50, 90, 300)))]


def _groups_of_variables(spec: Spec, pick: random.Random) -> None:
    for stream in _streams_of(spec):
        stream["ml_varlist"] = [pick.choice(("group:all", "group:atmo_ml_vars", "group:additional_precip_vars"))]


def _levels(spec: Spec, pick: random.Random) -> None:
    for stream in _streams_of(spec):
        stream |= {"pl_varlist": ["u", "v"], "p_levels": [100 * n + 1 for n in range(pick.choice((3, 60, 500)))]}
        stream |= {"hl_varlist": ["temp"], "h_levels": [10 * n for n in range(pick.choice((3, 60)))]}


def _partitions(spec: Spec, pick: random.Random) -> None:
    count = pick.choice((2, 8, 24, 100, 500))
    spec["parallel"]["num_io_procs"] = pick.choice((count, 2 * count, 8))
    for stream in _streams_of(spec):
        stream["stream_partitions_ml"] = count


def _length(spec: Spec, pick: random.Random) -> None:
    spec["time"]["stop"] = (
        pick.choice(("2008-12-31", "2009-09-17", "2018-09-01", "2108-09-01", "9999-01-01")) + "T00:00:00Z"
    )


def _step(spec: Spec, pick: random.Random) -> None:
    spec["time"]["modelTimeStep"] = pick.choice(("PT0.001S", "PT0.5S", "PT1S", "PT17S", "PT299S", "PT1H"))


def _calendar(spec: Spec, pick: random.Random) -> None:
    spec["time"]["calendar"] = pick.choice(("360 day year", "365 day year", "proleptic gregorian"))
    spec["time"]["start"] = pick.choice(("0001-01-01T00:00:00Z", "-4000-01-01T00:00:00Z", "2008-08-31T23:59:59.999Z"))


def _chain(spec: Spec, pick: random.Random) -> None:
    spec["restart"]["restartTimeIntval"] = pick.choice(("PT1H", "PT12H", "P1D", "P10D", "P1M"))
    spec["restart"]["checkpointTimeIntval"] = pick.choice(("PT7M", "PT30M", "PT1H", "PT6H", "P1D"))


def _output_times(spec: Spec, pick: random.Random) -> None:
    for stream in _streams_of(spec):
        stream["output_interval"] = pick.choice(("PT5S", "PT10S", "PT1M", "PT5M"))


def _files(spec: Spec, pick: random.Random) -> None:
    for stream in _streams_of(spec):
        stream["file_interval"] = pick.choice(("PT5M", "PT10M", "PT1H", "P1Y"))


def _steps_per_file(spec: Spec, pick: random.Random) -> None:
    for stream in _streams_of(spec):
        stream.pop("file_interval", None)
        stream["steps_per_file"] = pick.choice((1, 2, 7, 1000))


def _windows(spec: Spec, pick: random.Random) -> None:
    count = pick.choice((2, 10, 60, 99))
    for stream in _streams_of(spec)[: pick.choice((1, 30, 500))]:
        stream["output_start"] = [f"2008-09-{1 + n % 10:02d}T{n % 24:02d}:00:00Z" for n in range(count)]
        stream["output_end"] = [f"2008-{10 + n % 3}-{11 + n % 10}T{n % 24:02d}:00:00Z" for n in range(count)]
        stream["output_interval"] = [f"PT{1 + n % 9}H" for n in range(count)]


def _lonlat(spec: Spec, pick: random.Random) -> None:
    for stream in _streams_of(spec):
        stream |= {"remap": 1, "reg_lon_def": [-180, pick.choice((0.0001, 0.01, 1)), 180], "reg_lat_def": [-90, 1, 90]}


def _auto(spec: Spec, pick: random.Random) -> None:
    spec["parallel"]["num_io_procs"] = spec["job"]["time"] = spec["restart"]["restart_write_mode"] = "auto"
    spec["lustre"] = {"output": {"stripe_count": "auto", "stripe_size": "auto"}}
    for stream in _streams_of(spec)[: pick.choice((1, 500))]:
        stream["stream_partitions_ml"] = "auto"


def _domains(spec: Spec, pick: random.Random) -> None:
    spec["domains"] = {
        f"d{n}": {
            "file": f"g{n}.nc",
            "num_lev": 90 - n,
            **({"parent": f"d{n - 1}"} if n and pick.random() < 0.7 else {}),
        }
        for n in range(pick.choice((2, 5, 9)))
    }


def _nodes(spec: Spec, pick: random.Random) -> None:
    spec["job"] |= {"nodes": pick.choice((100, 10_000, 1_000_000)), "ntasks_per_node": pick.choice((1, 128, 256))}


def _programs(spec: Spec, pick: random.Random) -> None:
    spec["programs"] = {f"p{n}": {"command": "./p", "tasks": 1 + n % 3} for n in range(pick.choice((2, 30, 300)))}


def _input_files(spec: Spec, pick: random.Random) -> None:
    names = [f"f{n}.nc" for n in range(pick.choice((10, 100, 2000)))]
    patterns = [f"f{n}*[a-z]?*.nc" for n in range(pick.choice((0, 5, 99)))]
    spec["input_files"] = {name: {"source": f"/pool/{name}"} for name in names}
    spec["input_files"] |= {pattern: {"directory": "/nothing"} for pattern in patterns}


def _namelists(spec: Spec, pick: random.Random) -> None:
    count, each = pick.choice((50, 900)), pick.choice((1, 10))
    spec["namelists"] = {f"g{n}_nml": {f"v{m}": m for m in range(each)} for n in range(count)}


def _values(spec: Spec, pick: random.Random) -> None:
    length = pick.choice((1, 20, 100))
    spec["namelists"] = {"nwp_phy_nml": {f"inwp_{n}": [1] * length for n in range(pick.choice((10, 300)))}}


def _stripes(spec: Spec, pick: random.Random) -> None:
    ends = {f"{2**n}M": {"stripe_count": n % 9 + 1, "stripe_size": "1M"} for n in range(pick.choice((2, 20, 40)))}
    spec["lustre"] = {kind: {"component_end": {**ends, "eof": {"stripe_count": 4}}} for kind in ("output", "restart")}


def _environment(spec: Spec, pick: random.Random) -> None:
    spec["environment"] = {f"A{n}": "x" * pick.choice((1, 50)) for n in range(pick.choice((100, 3000)))}


def _sweep(spec: Spec, pick: random.Random) -> None:
    grid = {"parallel.nproma": list(range(1, pick.choice((3, 40, 200))))}
    if pick.random() < 0.5:
        grid["job.nodes"] = list(range(1, pick.choice((3, 40, 200))))
    spec["sweep"] = {"grid": grid, "repeat": pick.choice((1, 2, 999)), "exclude": ["nproma == 5"]}


def _models(spec: Spec, pick: random.Random) -> None:
    output = dict(list(spec.pop("output").items())[:40])
    spec["models"] = {
        f"m{n}": {
            "type": pick.choice(("atmo", "ocean", "waves", "hamocc")),
            "tasks": pick.choice((1, 8, 100)),
            "grid": {"file": f"g{n}.nc"},
            "output": copy.deepcopy(output),
        }
        for n in range(pick.choice((2, 3, 8, 15)))
    }


_MANY: tuple[Callable[[Spec, random.Random], None], ...] = (
    *(_streams, _content, _groups_of_variables, _levels, _partitions, _length, _step, _calendar, _chain, _output_times),
    *(_files, _steps_per_file, _windows, _lonlat, _auto, _domains, _nodes, _programs, _input_files, _namelists),
    *(_values, _stripes, _environment, _sweep, _models),
)
"""In the order in which they are done: what is said of streams is said of all that there are, models have them."""
_CALLS = (
    *(("check", "a.yaml"), ("check", "a.yaml", "--format", "json"), ("build", "a.yaml", "-o", "made")),
    *(("ranks", "a.yaml"), ("volume", "a.yaml"), ("advise", "a.yaml"), ("advise", "a.yaml", "--ask", "streams")),
    *(("tune", "a.yaml", "--dry-run"), ("diff", "a.yaml", "b.yaml")),
)


def multiplied_specs(generator: random.Random) -> Iterator[Case]:
    """Specs with one to five of these; a second one, with another step, is what a difference is made to."""
    while True:
        pick = random.Random(generator.random())
        spec = changed(site=pick.choice(_SITES))
        chosen = pick.sample(_MANY, pick.choice((1, 2, 2, 3, 3, 4, 5)))
        for make in sorted(chosen, key=_MANY.index):
            make(spec, pick)
        first = yaml_of(spec)
        spec["time"]["modelTimeStep"] = "PT200S"
        if len(first) <= _LARGEST:
            yield Case({"a.yaml": first, "b.yaml": yaml_of(spec)}, tuple(pick.sample(_CALLS, 3)), _told)


def _told(ends: list[Ended]) -> bool:
    return any(end.code == 0 for end in ends)
