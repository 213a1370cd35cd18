"""Documents that are crossed with each other and written as YAML in all the ways that it knows: parts of one at the
place of another's, values of other types, anchors, merge keys, keys that come twice, endless scalars, deep nests."""

from __future__ import annotations

import copy
import random
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import placements
from specs import changed

from fuzzing.cases import Case, yaml_of
from fuzzing.hostile import NUMBERS, SIZES, STRINGS, TIMES
from fuzzing.limited import Ended
from fuzzing.specs import read, seeds, sites, toml
from fuzzing.trees import Path as Place
from fuzzing.trees import leaves

ROOT = Path(__file__).parents[2]
_SCHEMA_WORDS = re.compile(r'"([a-zA-Z_][a-zA-Z0-9_]{2,30})": \{')


@cache
def _words() -> tuple[str, ...]:
    """Every key that a schema knows."""
    texts = (path.read_text(encoding="utf-8") for path in sorted((ROOT / "schemas").glob("*.schema.json")))
    return tuple(sorted({word for text in texts for word in _SCHEMA_WORDS.findall(text)}))


@cache
def _rich() -> tuple[dict[str, Any], ...]:
    """Specs with several programs, of which ranks are placed, and some that say much."""
    job = {"account": "bb1234", "partition": "gpu", "nodes": 4, "time": "02:00:00"}
    found = []
    for sections in placements.CASES.values():
        if "models" in sections:
            continue
        one = {"nmlgen": 1, "name": "placed", "site": "levante", "time": placements.TIME, **sections}
        one["model"] = {"release": "2024.10", "executable": "bin/icon", **sections.get("model", {})}
        one["parallel"] = {**sections["parallel"], "nproma": 16}
        found.append(one | {"job": job | sections.get("job", {})})
    part = {"command": "bin/hiopy --config 'out put.yaml'", "tasks": 3, "environment": {"B": "c"}}
    aqua = {"nmlgen": 1, "name": "aqua", "extends": "icon/aquaplanet", "site": "levante"}
    model = {"directory": "/icon", "executable": "bin/icon", "device": "gpu", "environment": {"A": "b"}, "io_nodes": 1}
    found.append(
        aqua | {"model": model, "job": job | {"nodes": 5}, "parallel": {"nproma": 0, "nblocks_c": 1, "num_io_procs": 2}}
    )
    found.append(
        aqua
        | {"model": {key: model[key] for key in ("directory", "executable", "device")}, "job": job}
        | {"parallel": {"nproma": 0, "nblocks_c": 1, "num_io_procs": 2}}
        | {
            "namelists": {"coupling_mode_nml": {"coupled_to_output": True}},
            "programs": {
                "output": part,
                "other": {"command": "x", "tasks": 2, "job": {"partition": "compute", "nodes": 2}},
            },
        }
    )
    found.append(
        changed(
            darshan={"library": "/a/libdarshan.so", "DARSHAN_MODMEM": 8},
            site="levante",
            job={"partition": "compute"},
            start_from={"directory": "../before"},
            after={"verify": True, "find_nan": True, "join": False, "nmlgen": "bin/nmlgen"},
            lustre={"output": {"stripe_count": 4, "stripe_size": "4M"}},
            environment={"A": "b"},
            input_files={"a": {"source": "b", "method": "copy"}},
            namelists={"run_nml": {"ltimer": True, "msg_level": 5}},
            ignore={"RST001": "a reason"},
            shell={"limits": {"stack": "unlimited"}},
            modules=["m"],
        )
    )
    return tuple(found)


@cache
def _parts() -> tuple[tuple[Any, Any], ...]:
    """What stands in any document, with the key that it stands at."""
    documents = [*seeds(), *sites().values(), *_rich()]
    found: dict[str, tuple[Any, Any]] = {}
    for document in documents:
        for place, value in leaves(document):
            found.setdefault(repr((place[-1], value))[:300], (place[-1], value))
    return tuple(found.values())


def _put(document: Any, place: Place, value: Any) -> None:
    for key in place[:-1]:
        document = document[key]
    document[place[-1]] = value


def _below(document: Any, place: Place) -> Any:
    for key in place:
        document = document[key]
    return document


# --- Changes of a document

_Change = Callable[[dict[str, Any], Place, Any, random.Random], None]


def _swap(document: dict[str, Any], place: Place, value: Any, pick: random.Random) -> None:
    """Two values change places."""
    other, there = pick.choice(list(leaves(document)))
    shorter, longer = sorted((place, other), key=len)
    if longer[: len(shorter)] != shorter:
        _put(document, place, copy.deepcopy(there))
        _put(document, other, copy.deepcopy(value))


def _graft(document: dict[str, Any], place: Place, value: Any, pick: random.Random) -> None:
    """What another document has, if it can be at a key of the same name."""
    same = [part for key, part in _parts() if key == place[-1]]
    _put(document, place, copy.deepcopy(pick.choice(same) if same else pick.choice(_parts())[1]))


def _graft_all(document: dict[str, Any], place: Place, value: Any, pick: random.Random) -> None:
    """A whole section of another document."""
    other = pick.choice((*seeds(), *_rich()))
    key = pick.choice(list(other))
    document[key] = copy.deepcopy(other[key])


def _add(document: dict[str, Any], place: Place, value: Any, pick: random.Random) -> None:
    """Something with its key, where a mapping is."""
    node = value if isinstance(value, dict) else _below(document, place[:-1])
    if isinstance(node, dict):
        key, part = pick.choice(_parts())
        node[str(key) if pick.random() < 0.8 else pick.choice(_words())] = copy.deepcopy(part)


def _forget(document: dict[str, Any], place: Place, value: Any, pick: random.Random) -> None:
    del _below(document, place[:-1])[place[-1]]


def _retype(document: dict[str, Any], place: Place, value: Any, pick: random.Random) -> None:
    """The same as another type."""
    others = (str(value), [value], {"value": value}, {str(value)[:40]: None}, [[value]], bool(value), len(str(value)))
    _put(document, place, copy.deepcopy(pick.choice(others)))


def _edge(document: dict[str, Any], place: Place, value: Any, pick: random.Random) -> None:
    """The first and the last of what can be, and what is beside it."""
    if isinstance(value, (int, float)):
        step = pick.choice((-1, 1, 0.5))
        _put(document, place, pick.choice((*NUMBERS, value + step, -value, float(value))))
    elif isinstance(value, str):
        _put(document, place, pick.choice((*TIMES, *SIZES, *_near(value))))
    elif isinstance(value, list):
        _put(document, place, pick.choice(([], value[:1], value * 2, value * 1000, list(reversed(value)))))


def _near(text: str) -> tuple[str, ...]:
    """Texts that are nearly the same."""
    middle = len(text) // 2
    return (
        *(text.upper(), text.lower(), text[::-1], text[:-1], text + text, text + "\n", " " + text, text + " "),
        *(text[:middle] + "\u0301" + text[middle:], text[:middle] + "\0" + text[middle:], text.replace("0", "\uff10")),
        *(text.replace("1", "9" * 30), text.replace("_", "-"), "\ufeff" + text, text.replace("e", "\u0435")),
        *(text * 3000, text.replace("/", "/../" * 50), "a" * 255 + "/" + text, text.replace("T", "t")),
        *("\U0001f1e9" * 40, "\ud800" + text, text + "\u2028", "\u202e" + text, "\u00a0".join(text), "%" + text),
    )


def _text(document: dict[str, Any], place: Place, value: Any, pick: random.Random) -> None:
    if isinstance(value, str):
        _put(document, place, pick.choice(STRINGS) if pick.random() < 0.6 else value + pick.choice(STRINGS))


def _twin(document: dict[str, Any], place: Place, value: Any, pick: random.Random) -> None:
    """A second of what has a name of its own: a stream, a model, a partition."""
    node = _below(document, place[:-1])
    if isinstance(node, dict):
        node[pick.choice((f"{place[-1]}2", str(place[-1]).swapcase(), *STRINGS[:90]))] = copy.deepcopy(value)


def _nest(document: dict[str, Any], place: Place, value: Any, pick: random.Random) -> None:
    for _ in range(pick.choice((1, 3, 30, 90))):
        value = {pick.choice((place[-1], "a")): value} if pick.random() < 0.7 else [value]
    _put(document, place, value)


def _many(document: dict[str, Any], place: Place, value: Any, pick: random.Random) -> None:
    """Very many of one."""
    node = _below(document, place[:-1])
    if isinstance(node, dict) and len(repr(value)) < 2000:
        for number in range(pick.choice((20, 200))):
            node[f"{place[-1]}{number}"] = copy.deepcopy(value)


_GENTLE: tuple[_Change, ...] = (_graft, _graft, _graft, _graft_all, _swap, _forget, _edge, _add)
_HARSH: tuple[_Change, ...] = (_swap, _add, _retype, _retype, _edge, _edge, _text, _text, _twin, _nest, _many, _graft)


def crossed(document: Mapping[str, Any], pick: random.Random, *, harshness: float = 0.35) -> dict[str, Any]:
    """A copy with one to five changes, of which so many are of the harsh kind."""
    result = copy.deepcopy(dict(document))
    for _ in range(pick.choice((1, 1, 1, 1, 2, 2, 4))):
        places = list(leaves(result))
        if not places:
            break
        place, value = pick.choice(places)
        change = pick.choice(_HARSH if pick.random() < harshness else _GENTLE)
        change(result, place, value, pick)
    return result


# --- Ways to write it


def _block(node: Any, pick: random.Random, depth: int = 0) -> str:
    """A document in blocks, with words bare where that can be, and here and there in another style."""
    indent = "  " * depth
    if isinstance(node, dict) and node and depth < 40:
        lines = []
        for key, value in node.items():
            name = _scalar(str(key), pick)
            below = _block(value, pick, depth + 1)
            is_nested = isinstance(value, (dict, list)) and bool(value) and below.startswith("  " * (depth + 1))
            lines.append(f"{indent}{name}:{chr(10) if is_nested else ' '}{below if is_nested else below.strip()}")
        return "\n".join(lines)
    if isinstance(node, list) and node and depth < 40 and pick.random() < 0.5:
        return "\n".join(f"{indent}- {_flow(item)}" for item in node)
    return indent + (_flow(node) if isinstance(node, (dict, list)) else _scalar(node, pick))


def _flow(node: Any) -> str:
    return yaml_of(node).decode("utf-8", "surrogateescape").replace("\n", " ")


_BARE = re.compile(r"[A-Za-z][A-Za-z0-9_./+-]*( [A-Za-z0-9_.]+)*|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]+Z|P[0-9TDHMS]+")


def _scalar(value: Any, pick: random.Random) -> str:
    if not isinstance(value, str) or not _BARE.fullmatch(value) or len(value) > 200:
        return _flow(value)
    return pick.choice((value, value, value, f"'{value}'", f'"{value}"'))


def _line(text: str, pick: random.Random) -> tuple[list[str], int]:
    lines = text.split("\n")
    return lines, pick.randrange(len(lines))


def _doubled_key(text: str, pick: random.Random) -> str:
    lines, number = _line(text, pick)
    lines.insert(pick.choice((number, number + 1, len(lines))), lines[number])
    return "\n".join(lines)


def _anchored(text: str, pick: random.Random) -> str:
    """An anchor at one place and what it names at another."""
    lines, number = _line(text, pick)
    other = pick.randrange(len(lines))
    lines[number] = re.sub(r"(:)( |$)", r"\1 &a ", lines[number], count=1)
    lines[other] = pick.choice((re.sub(r":.*", ": *a", lines[other]), lines[other] + " *a", "<<: *a\n" + lines[other]))
    return "\n".join(lines)


def _merged(text: str, pick: random.Random) -> str:
    """Merge keys, of mappings, of lists of them, of what is none, of itself."""
    lines, number = _line(text, pick)
    indent = re.match(" *", lines[number])[0]  # type: ignore[index]
    merged = pick.choice(
        ("<<: {job: {nodes: 3}}", "<<: [{a: 1}, {a: 2}]", "<<: 7", "<<: *b", "<<:", "? <<\n: *b", "'<<': {a: 1}")
    )
    lines.insert(number, indent + merged)
    return "b: &b {nodes: 1}\n" * (pick.random() < 0.5) + "\n".join(lines)


def _giant(text: str, pick: random.Random) -> str:
    """A scalar of a hundred thousand characters."""
    lines, number = _line(text, pick)
    giant = pick.choice(("x", "9", "\\x41", "\u4e2d", "a b ", "${", "1,", "[", "'", " ")) * 100_000
    return "\n".join([*lines[:number], re.sub(r":.*", "", lines[number])[:50] + ": " + giant, *lines[number + 1 :]])


def _odd(text: str, pick: random.Random) -> str:
    place = pick.randrange(len(text) + 1)
    odd = pick.choice(
        (
            *("\0", "\r", "\t", "\x85", "\u2028", "\ufeff", "\x1b", "\ud800", "\U0010ffff", "\x7f", "\v", "\f"),
            *("&a ", "*a ", "!!int ", "!!binary ", "!!set ", "!!omap ", "!!null ", "!!timestamp ", "!<tag:a,2000:b> "),
            *("!!float ", "!!python/object:os.system ", "%TAG ! tag:a:\n---\n", "\n...\n", "\n---\n", "|2-\n", ">+\n"),
            *("0o17", "0b1", "1_0", "1:30:00", "~", "yes", "NO", "on", ".inf", "-.INF", ".nan", "2001-01-01", "1e3"),
            *("{", "}", "[", "]", ",", "? ", "- ", ": ", "#", "@", "`", "'", '"', "\\", "\n\n", "\n ", "\n\t"),
        )
    )
    return text[:place] + odd + text[place + pick.choice((0, 0, 1, 4)) :]


def _wild_lines(text: str, pick: random.Random) -> str:
    """Line ends of other systems, some or all; indents changed; lines shuffled, cut, or from elsewhere."""
    lines, number = _line(text, pick)
    turn = pick.randrange(6)
    if turn == 0:
        return text.replace("\n", pick.choice(("\r\n", "\r", "\n\n", "\n\r\n")))
    if turn == 1:
        lines[number] += "\r"
    elif turn == 2:
        lines[number] = " " * pick.choice((1, 2, 3, 200)) + lines[number]
    elif turn == 3:
        lines[number] = lines[number].lstrip()
    elif turn == 4:
        return text[: pick.randrange(len(text) + 1)]
    else:
        first = pick.randrange(len(lines))
        lines[number:number] = lines[first : first + pick.choice((2, 5, 20))]
    return "\n".join(lines)


_WAYS = (_doubled_key, _anchored, _merged, _giant, _odd, _odd, _wild_lines)


def written(document: Any, pick: random.Random, wildness: float = 0.3) -> bytes:
    """The document as YAML, in so many cases in a way that YAML hardly knows."""
    text = _block(document, pick) + "\n" if pick.random() < 0.6 else yaml_of(document).decode("utf-8", "replace")
    while pick.random() < wildness:
        text = pick.choice(_WAYS)(text, pick)
    return text.encode("utf-8", pick.choice(("replace", "surrogatepass")))


# --- Cases

_FORMATS = ("text", "json", "sarif", "github", "junit", "gitlab")


def _built(ends: list[Ended]) -> bool:
    return ends[0].code == 0


def _shown(pick: random.Random) -> tuple[str, ...]:
    """A command that reads a spec, with its arguments."""
    key = pick.choice((*_words(), "job.nodes", "output.atm", "namelists.run_nml", *STRINGS))
    return pick.choice(
        (
            *(("ranks", "spec.yaml"), ("ranks", "spec.yaml", "--format", "json")),
            *(("volume", "spec.yaml"), ("volume", "spec.yaml", "--format", "json")),
            *(("advise", "spec.yaml"), ("why", "spec.yaml", key), ("diff", "seed.yaml", "spec.yaml")),
            *(("migrate", "spec.yaml", "--to", "2025.10"), ("migrate", "spec.yaml", "--to", "2025.04", "--fix")),
            *(("tune", "spec.yaml", "--dry-run"), ("sweep", "spec.yaml", "--dry-run"), ("verify", "spec.yaml")),
            ("sweep", "spec.yaml", "-o", "points", "--set", "sweep.grid={job.nodes: [1, 2]}"),
            *(("check", "spec.yaml", "--format", name) for name in _FORMATS),
            ("check", "spec.yaml", "--set", f"{key}={pick.choice(('1', '[', 'null', '{a: 1}', *STRINGS))}"),
            ("presets", "./spec.yaml"),
        )
    )


def crossed_specs(generator: random.Random) -> Iterator[Case]:
    """Specs, of which a third is good enough to be built."""
    base = (*seeds(), *seeds(), *_rich())
    while True:
        seed = generator.choice(base)
        document = crossed(seed, generator, harshness=generator.choice((0.0, 0.2, 0.6)))
        calls: tuple[tuple[str, ...], ...] = (("build", "spec.yaml", "-o", "made"),)
        if generator.random() < 0.35:
            calls += (_shown(generator),)
        files = {"spec.yaml": written(document, generator, 0.12), "seed.yaml": yaml_of(seed)}
        yield Case(files, calls, _built)


def crossed_sites(generator: random.Random) -> Iterator[Case]:
    """Sites, presets and calibrations with the specs that name them, all crossed."""
    calibration = read(ROOT / "presets" / "calibrations" / "levante.yaml")
    presets = [read(path) for path in sorted((ROOT / "presets" / "icon").glob("*.yaml"))]
    base = sites()
    while True:
        name = generator.choice(sorted(base))
        site, preset, fitted = copy.deepcopy(base[name]), generator.choice(presets), calibration
        turn = generator.randrange(3)
        if turn == 0:
            site = crossed(site, generator)
        elif turn == 1:
            preset = crossed(preset, generator)
        else:
            fitted = crossed(calibration, generator)
        if isinstance(machine := site.get("machine"), dict) and turn:
            machine["calibration"] = "calibration.yaml"
        partitions = base[name].get("machine", {}).get("partitions", {"compute": 0})
        spec = changed(site="./site.yaml", job={"partition": next(iter(partitions))})
        if turn == 1:
            spec["extends"] = "./preset.yaml"
        files = {
            "spec.yaml": yaml_of(spec),
            "site.yaml": written(site, generator, 0.1 if turn == 0 else 0),
            "preset.yaml": written(preset, generator, 0.1 if turn == 1 else 0),
            "calibration.yaml": written(fitted, generator, 0.1 if turn == 2 else 0),
        }
        calls = [("build", "spec.yaml", "-o", "made")] if turn < 2 else [("advise", "spec.yaml")]
        if generator.random() < 0.25:
            calls.append(
                generator.choice((("presets", "./site.yaml"), ("advise", "spec.yaml"), ("why", "spec.yaml", "job")))
            )
        yield Case(files, tuple(calls), _built)


def crossed_sweeps(generator: random.Random) -> Iterator[Case]:
    """Sweeps with the parts of others, whose expressions are put together of pieces."""
    presets = [read(path)["sweep"] for path in sorted((ROOT / "presets" / "sweeps").glob("*.yaml"))]
    keys = ("job.nodes", "parallel.nproma", "parallel.num_io_procs", "output.atm.stream_partitions_ml", "job.time")
    own = {"grid": {"job.nodes": [1, 2]}, "name": "p{nodes}"}
    while True:
        section = crossed(generator.choice((own, own, *presets)), generator, harshness=0.3)
        for kind in ("derive", "exclude", "include"):
            if generator.random() < 0.35:
                text = _expression(generator, generator.choice((1, 2, 4, 8)))
                section[kind] = {generator.choice((*keys, "a.b", "name")): text} if kind == "derive" else [text]
        if generator.random() < 0.2:
            section["grid"] = {
                generator.choice((*keys, *_words())): [*generator.sample(NUMBERS, 2), generator.choice(STRINGS)]
                for _ in range(2)
            }
        files = {"spec.yaml": written(changed(site="generic-slurm", sweep=section), generator, 0.06)}
        call = ("sweep", "spec.yaml", *generator.choice((("-o", "points"), ("--dry-run",), ("--dry-run",))))
        yield Case(files, (call,))


_ATOMS = (
    "job.nodes",
    "parallel.nproma",
    "1",
    "0",
    "-1",
    "2.5",
    "1e300",
    "'a'",
    "true",
    "false",
    "null",
    "[1, 2]",
    "''",
)
_SIGNS = (
    *("+", "-", "*", "/", "//", "%", "**", "==", "!=", "<", ">=", "and", "or", "in", "if", "not in", "<<"),
    ",",
    ".",
)


def _expression(pick: random.Random, depth: int) -> str:
    if not depth or pick.random() < 0.2:
        return pick.choice(_ATOMS)
    one, other = (_expression(pick, depth - 1) for _ in range(2))
    form = pick.choice(("{0} {s} {1}", "({0} {s} {1})", "min({0}, {1})", "max({0})", "not {0}", "-{0}", "{0}[{1}]"))
    return form.replace("{0}", one).replace("{1}", other).replace("{s}", pick.choice(_SIGNS))


_CONFIGURATION: dict[str, Any] = {
    "icon-release": "2024.10",
    "site": "levante",
    "select": ["RST", "OUT", "PAR001"],
    "severity": {"NML": "warning"},
    "ignore": [{"rule": "PAR004", "path": "exp.*", "reason": "half of the ranks write"}],
    "profile": {"no_of_nodes": "4", "basedir": "/work"},
}


def crossed_configurations(generator: random.Random) -> Iterator[Case]:
    """Configurations of a project with a short script."""
    script = b"#!/bin/bash\n#SBATCH --nodes=2\ncat > NAMELIST_a << EOF\n&run_nml\n num_lev = 3.\n/\nEOF\nsrun ./icon\n"
    while True:
        tables = crossed(_CONFIGURATION, generator, harshness=0.5)
        lines = [f"{toml(str(key))} = {toml(value)}" for key, value in tables.items()]
        text = "\n".join(lines)
        while generator.random() < 0.15:
            text = generator.choice((_odd, _wild_lines, _doubled_key, _giant))(text, generator)
        name = generator.choice(("exp.run", "exp.a\nb.run", "-exp.run", "exp.\x1b[2J", "exp.\u202e"))
        call = ("lint", "--format", generator.choice(_FORMATS), "--", name)
        yield Case({"nmlgen.toml": text.encode("utf-8", "replace"), name: script}, (call,), _judged)


def _judged(ends: list[Ended]) -> bool:
    return ends[0].code in (0, 1)
