"""Mutated specs, sites, calibrations, sweeps and configurations, and the calls that read them."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from specs import changed

from fuzzing.cases import Case, yaml_of
from fuzzing.hostile import STRINGS
from fuzzing.limited import Ended
from fuzzing.trees import Mutator

ROOT = Path(__file__).parents[2]
_UNLIKE = ("jabw", "les", "rce")
"""Presets that need a time, or a grid, that the others do not."""
_SHOWN = ("ranks", "volume", "advise", "why", "diff", "migrate", "tune", "sweep", "export")


def _plain(node: Any) -> Any:
    """Without what YAML 1.1 makes of dates and times."""
    if isinstance(node, dict):
        return {str(key): _plain(value) for key, value in node.items()}
    if isinstance(node, list):
        return [_plain(value) for value in node]
    if isinstance(node, datetime):
        return node.replace(tzinfo=None).isoformat() + "Z"
    return node if isinstance(node, (str, int, float, bool, type(None))) else str(node)


def read(path: Path) -> dict[str, Any]:
    """A document of YAML, in what JSON knows."""
    found: dict[str, Any] = _plain(YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8")))
    return found


@cache
def seeds() -> tuple[dict[str, Any], ...]:
    """Specs without a finding that keeps them from being built, of every preset and of many sites."""
    found = [read(path) for path in sorted(ROOT.glob("tests/golden/*/spec.yaml"))]
    found += [read(path) for path in sorted((ROOT / "examples").glob("*.yaml"))]
    found = [document for document in found if not str(document.get("extends", "")).startswith(".")]
    job = {"account": "bb1234", "partition": "compute", "nodes": 4, "ntasks_per_node": 32, "time": "01:00:00"}
    for path in sorted((ROOT / "presets" / "icon").glob("*.yaml")):
        if path.stem in _UNLIKE:
            continue
        found.append(
            {
                "nmlgen": 1,
                "name": path.stem,
                "extends": f"icon/{path.stem}",
                "site": "levante",
                "model": {"release": "2024.10", "executable": "bin/icon"},
                "grid": {"file": "grid.nc", "name": "R2B4"},
                "job": job,
            }
        )
    found.append(changed())
    return tuple(found)


@cache
def sites() -> dict[str, dict[str, Any]]:
    """The sites that ship, by their names."""
    return {path.stem: read(path) for path in sorted((ROOT / "presets" / "sites").glob("*.yaml"))}


def _built(ends: list[Ended]) -> bool:
    return ends[0].code == 0


def specs(generator: random.Random) -> Iterator[Case]:
    """Each is built, and one more command looks at it."""
    base = seeds()
    mutator = Mutator(base, generator)
    while True:
        seed = generator.choice(base)
        document = mutator.mutated(seed)
        shown = generator.choice(_SHOWN)
        rest: dict[str, tuple[str, ...]] = {
            "why": (generator.choice(("job.nodes", "output", "time.stop", *STRINGS)),),
            "diff": ("seed.yaml",),
            "migrate": ("--to", "2025.10"),
            "tune": ("--dry-run",),
            "sweep": ("-o", "points", "--set", "sweep.grid={job.nodes: [1, 2]}"),
            "export": ("-o", "flow"),
        }
        data = yaml_of(document)
        if generator.random() < 0.1:
            data = _broken(data, generator)
        show = (shown, "spec.yaml", *rest.get(shown, ()))
        if shown == "export":
            show = ("check", "spec.yaml", "--format", "json")
        calls = (("build", "spec.yaml", "-o", "made"), show)
        yield Case({"spec.yaml": data, "seed.yaml": yaml_of(seed)}, calls, _built)


_PIECES = (
    *(
        b"&a ",
        b"*a",
        b"!!str ",
        b"!x ",
        b"<<: *a\n",
        b"\n---\n",
        b"\n...\n",
        b"? ",
        b": ",
        b"- ",
        b"|\n",
        b">\n",
        b"\t",
    ),
    *(b"\xff", b"\xef\xbb\xbf", b"\x00", b"#", b"{", b"[", b"]", b"}", b"'", b'"', b"%YAML 1.1\n---\n"),
)


def _broken(data: bytes, generator: random.Random) -> bytes:
    """Bytes changed, and what only YAML knows: anchors, tags, merge keys, documents."""
    for _ in range(generator.choice((1, 2, 8))):
        place = generator.randrange(len(data) + 1)
        piece = generator.choice(_PIECES)
        data = data[:place] + piece + data[place + generator.choice((0, 0, 1, 5)) :]
    return data


def site_files(generator: random.Random) -> Iterator[Case]:
    """Mutated sites, each with a spec that is built on it."""
    base = sites()
    mutator = Mutator(tuple(base.values()), generator)
    calibration = (ROOT / "presets" / "calibrations" / "levante.yaml").read_bytes()
    while True:
        name = generator.choice(sorted(base))
        site = mutator.mutated(base[name])
        if isinstance(machine := site.get("machine"), dict) and generator.random() < 0.8:
            machine["calibration"] = "calibration.yaml"
        partition = next(iter(base[name].get("machine", {}).get("partitions", {"compute": 0})))
        spec = changed(site="./site.yaml", job={"partition": partition})
        if generator.random() < 0.3 and (local := base[name].get("machine", {}).get("node_local")):
            spec["node_local"] = {"file_system": generator.choice(sorted(local))}
        show = generator.choice(("advise", "ranks", "volume", "presets", "why"))
        last = {"presets": ("presets", "./site.yaml"), "why": ("why", "spec.yaml", "job")}.get(
            show, (show, "spec.yaml")
        )
        files = {"spec.yaml": yaml_of(spec), "site.yaml": yaml_of(site), "calibration.yaml": calibration}
        yield Case(files, (("build", "spec.yaml", "-o", "made"), last), _built)


def calibrations(generator: random.Random) -> Iterator[Case]:
    """Mutated calibrations, which the advisor reads."""
    seed = read(ROOT / "presets" / "calibrations" / "levante.yaml")
    site = copy.deepcopy(sites()["levante"])
    site["machine"]["calibration"] = "calibration.yaml"
    mutator = Mutator((seed,), generator)
    spec = changed(site="./site.yaml", job={"partition": "compute"})
    while True:
        document = yaml_of(mutator.mutated(seed, hostility=0.4))
        if generator.random() < 0.1:
            document = _broken(document, generator)
        files = {"spec.yaml": yaml_of(spec), "site.yaml": yaml_of(site), "calibration.yaml": document}
        yield Case(files, (("advise", "spec.yaml"),))


_EXPRESSIONS = (
    *("job.nodes * 2", "parallel.num_io_procs", "min(job.nodes, 8)", "job.nodes // 0", "job.nodes ** 9", "a", "1 +"),
    *("'P' + parallel.num_io_procs + 'D'", "x * x", "[1, 2] * 1000000000", "'a' * 1000000000", "1 / 3", "(" * 500),
    *(
        "not " * 500 + "true",
        "1 " + "+ 1" * 5000,
        "9" * 5000,
        "1e308 * 10",
        "1 if true else 2",
        "null",
        "-" * 3000 + "1",
    ),
    *("job.nodes in [1, 2]", "job.nodes > 1 and parallel.nproma < 8", "name", "max()", "min(1, 'a')", "1 % 0", "'" * 3),
    *(
        "10 ** 10 ** 10",
        "9999999999 * " * 200 + "9",
        "time.start",
        "output",
        "{job.nodes}",
        "__import__('os')",
        "1 << 9",
    ),
)
_SWEEP = {
    "grid": {"parallel.nproma": [8, 16], "job.nodes": [1, 2]},
    "zip": {"parallel.num_io_procs": [1, 2], "output.atm.stream_partitions_ml": [1, 2]},
    "derive": {"job.time": "'00:40:00'", "grid.num_lev": "min(job.nodes * 20, 30)"},
    "exclude": ["job.nodes > 1 and parallel.nproma > 8"],
    "name": "{name}-{nodes}-{nproma}",
}


def sweeps(generator: random.Random) -> Iterator[Case]:
    """Mutated sections `sweep` of a spec that is in order; checked without a file, or written."""
    more = (
        {"points": [{"job.nodes": 1}, {"job.nodes": 2, "parallel.nproma": 8}], "include": ["job.nodes < 3"]},
        *(read(path)["sweep"] for path in sorted((ROOT / "presets" / "sweeps").glob("*.yaml"))),
    )
    mutator = Mutator((_SWEEP, *more), generator)
    while True:
        section = mutator.mutated(generator.choice((_SWEEP, _SWEEP, *more)))
        turn = generator.random()
        if turn < 0.3:
            key = generator.choice(
                ("job.nodes", "a", "parallel.nproma", "namelists.run_nml.nsteps", "sweep", "output.atm")
            )
            section["derive"] = {key: generator.choice(_EXPRESSIONS)}
        elif turn < 0.45:
            section[generator.choice(("include", "exclude"))] = [generator.choice(_EXPRESSIONS)]
        elif turn < 0.55:
            section["name"] = "{" + generator.choice(_EXPRESSIONS) + "}" + generator.choice(STRINGS)
        elif turn < 0.6:
            section["grid"] = {f"environment.A{number}": list(range(10)) for number in range(12)}
        elif turn < 0.65:
            section["derive"] = {f"environment.B{n}": f"B{n - 1} + B{n - 1}" if n else "'ab'" for n in range(60)}
        files = {"spec.yaml": yaml_of(changed(site="generic-slurm", sweep=section))}
        call = ("sweep", "spec.yaml", *generator.choice((("-o", "points"), ("--dry-run",))))
        yield Case(files, (call,))


_TABLES = {
    "icon-release": "2024.10",
    "site": "levante",
    "select": ["RST", "OUT", "PAR001"],
    "ignore": [{"rule": "PAR004", "path": "run/exp.*", "reason": "half of the ranks write"}],
    "profile": {"no_of_nodes": "4", "basedir": "/work"},
}
_PATHS = (
    "*a" * 30,
    "**/" * 40 + "b",
    "*",
    "**",
    "?" * 300,
    "[",
    "(",
    "a" * 5000,
    "*" * 500 + "b",
    "../*",
    "/",
    "./run",
)


def toml(value: Any) -> str:
    """A value in TOML, which holds no null: an empty text is put there."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{toml(str(key))} = {toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + "".join(c if c.isprintable() and c not in '"\\' else f"\\U{ord(c):08x}" for c in value) + '"'
    return '""' if value is None else repr(value)


def configurations(generator: random.Random) -> Iterator[Case]:
    """Mutated configurations of a project whose run script is linted."""
    script = (ROOT / "examples" / "jabw.run").read_bytes()
    mutator = Mutator((_TABLES,), generator)
    while True:
        tables = mutator.mutated(_TABLES)
        if generator.random() < 0.4:
            path = generator.choice((*_PATHS, *STRINGS))
            tables["ignore"] = [{"rule": "PAR004", "path": path, "reason": generator.choice(STRINGS)}]
        text = "\n".join(f"{toml(str(key))} = {toml(value)}" for key, value in tables.items())
        if generator.random() < 0.15:
            place = generator.randrange(len(text) + 1)
            text = (
                text[:place]
                + generator.choice(("[", "]", "=", "\n", '"', "[[a]]", "[" * 3000, "\0"))
                + text[place + 1 :]
            )
        files = {"nmlgen.toml": text.encode("utf-8", "replace"), "a" * 200: script}
        yield Case(files, (("lint", "a" * 200, "--format", generator.choice(("text", "json", "github"))),), _judged)


def _judged(ends: list[Ended]) -> bool:
    return ends[0].code in (0, 1)
