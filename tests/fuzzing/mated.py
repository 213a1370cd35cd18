"""Specs of ICON and of other models, of which two have a child; written in every style that YAML has for the same."""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from specs import changed

from fuzzing.cases import Case, yaml_of
from fuzzing.hostile import NUMBERS, STRINGS, TIMES
from fuzzing.limited import Ended
from fuzzing.specs import read, seeds
from fuzzing.trees import leaves

ROOT = Path(__file__).parents[2]

# --- Parents

_SITES = ("generic-slurm", "generic-pbs", "levante", "local", "horeka", "lumi", "leonardo", "jupiter", "santis")
_JOB = {"nodes": 1, "ntasks_per_node": 14, "time": "01:00:00", "account": "a1"}
_NAMELISTS: dict[str, dict[str, dict[str, Any]]] = {
    "wrf": {
        "time_control": {"run_days": 5, "history_interval": [360, 60], "io_form_history": 2, "restart_interval": 1440},
        "domains": {"time_step": 600, "max_dom": 1, "e_we": [410], "e_sn": [810], "e_vert": [65], "dx": [1e5]},
        "physics": {"mp_physics": [0], "sf_surface_physics": [0], "bl_pbl_physics": [0]},
        "dynamics": {"diff_opt": [1], "km_opt": [1], "hybrid_opt": 0},
        "bdy_control": {"periodic_x": True, "symmetric_ys": True},
        "namelist_quilt": {"nio_tasks_per_group": 2, "nio_groups": 1},
    },
    "palm": {
        "initialization_parameters": {
            **{"nx": 39, "ny": 39, "nz": 40, "dx": 50.0, "dy": 50.0, "dz": 50.0},
            **{"initializing_actions": "set_constant_profiles", "topography": "flat", "bc_pt_b": "neumann"},
        },
        "runtime_parameters": {
            **{"end_time": 3600.0, "dt_data_output": 900.0, "data_output": ["w", "theta"]},
            **{
                "section_xy": 2,
                "npex": 2,
                "npey": 7,
                "restart_data_format": "mpi",
                "netcdf_data_format": 5,
            },
        },
        "nesting_parameters": {"domain_layouts": ["a", 1, -1, 4, 0.0, 0.0, "b", 2, 1, 4, 100.0, 100.0]},
    },
    "mpas": {
        "nhyd_model": {"config_dt": 60.0, "config_start_time": "2010-10-23_00:00:00", "config_run_duration": "5_00"},
        "io": {"config_pio_num_iotasks": 2, "config_pio_stride": 4},
        "decomposition": {"config_block_decomp_file_prefix": "x1.40962.graph.info.part."},
        "physics": {"config_physics_suite": "none"},
    },
    "generic": {},
}
_FILES = {
    "namelist.echam": {"runctl": {"nproca": 4, "lresume": False, "putdata": [12, "hours"]}, "dynctl": {"dt": 0.5}},
    "channel.nml": {"ctrl": {"exp_name": "T42", "a(2)%b": 3, "x": [1.5, "c d", True]}},
}


@cache
def parents() -> tuple[dict[str, Any], ...]:
    """Specs that are built: of every model on some sites, and of ICON as all others have them."""
    found = [read(ROOT / "examples" / "wrf_b_wave.yaml")]
    for number, site in enumerate(_SITES * 2):
        name = list(_NAMELISTS)[number % 4]
        one: dict[str, Any] = {"nmlgen": 1, "name": name, "site": site, "job": dict(_JOB)}
        one["model"] = {"name": name, "executable": f"bin/{name}", "directory": "/model"}
        one["input_files"] = {f"{name}_in": {"source": "in/a.nc"}, "lot/*.nc": {"directory": "lot"}}
        if name == "generic" or number > 10:
            one["namelist_files"] = copy.deepcopy(_FILES)
        if name != "generic":
            one["namelists"] = copy.deepcopy(_NAMELISTS[name])
        if number % 3 == 0:
            one["lustre"] = {"output": {"stripe_count": 2, "stripe_size": "4M"}}
            one["mpi"] = {"hints": {"cb_nodes": 4}}
        if number % 3 == 1:
            one["sweep"] = {"grid": {"job.ntasks_per_node": [2, 14]}, "name": "p{ntasks_per_node}"}
            one["environment"] = {"A": "b c"}
        found.append(one)
    return (*found, *found, *seeds(), changed(site="generic-pbs", job={"nodes": 2}))


# --- Children

_NAMES: tuple[Callable[[str], str], ...] = (
    *(str.upper, lambda name: name + "(2)", lambda name: name + "%x", lambda name: name + "(1:3)", lambda n: n + "s"),
    *(lambda name: name + "(1,1)%a(2)", lambda name: name[:-1], lambda name: name + "(0)", lambda name: f" {name}"),
    *(lambda name: name + "(99999999999)", lambda name: "".join(map(str, name.encode())), lambda name: name + "(:)"),
)


def child(one: Mapping[str, Any], other: Mapping[str, Any], pick: random.Random, share: float) -> dict[str, Any]:
    """What the one says, with so much of the other."""
    made: dict[str, Any] = {}
    for key in (*one, *(key for key in other if key not in one)):
        if key in one and key in other and isinstance(one[key], dict) and isinstance(other[key], dict):
            made[key] = child(one[key], other[key], pick, share) if pick.random() < 0.6 else copy.deepcopy(one[key])
        elif key in one and (key not in other or pick.random() >= share):
            made[key] = copy.deepcopy(one[key])
        elif pick.random() < share:
            made[key] = copy.deepcopy(other[key])
    return made


def _named_anew(document: dict[str, Any], pick: random.Random) -> None:
    """A variable of a namelist called otherwise, or of another form."""
    groups = [
        group
        for section in (document.get("namelists"), *(document.get("namelist_files") or {}).values())
        for group in (section.values() if isinstance(section, dict) else ())
        if isinstance(group, dict) and group
    ]
    if not groups:
        return
    group = pick.choice(groups)
    name = pick.choice(list(group))
    turn = pick.randrange(6)
    if turn == 0:
        group[pick.choice(_NAMES)(name)] = group.pop(name)
    elif turn == 1:
        group[pick.choice(_NAMES)(name)] = group[name]
    elif turn == 2:
        is_one = not isinstance(group[name], (list, dict))
        group[name] = [group[name]] * pick.choice((0, 2, 100, 4000) if is_one else (0, 2))
    elif turn == 3:
        group[name] = pick.choice((None, [], {}, [[1, 2], [3]], {"a": {"b": 1}}, [None, None, 1], "", True))
    elif turn == 4:
        group[name] = pick.choice((*NUMBERS, *NUMBERS, *STRINGS, *TIMES))
    else:
        first, second = pick.choice(groups), pick.choice(groups)
        first.update(copy.deepcopy(second))


_MODELS = ("icon", "wrf", "palm", "mpas", "generic", "WRF", "w", "", None, 3, ["wrf"], {"a": 1})


def mated(pick: random.Random) -> dict[str, Any]:
    """A child of two parents, which the one mostly takes after."""
    every = parents()
    one = pick.choice(every)
    made = child(one, pick.choice(every), pick, pick.choice((0.0, 0.03, 0.1, 0.5)))
    for _ in range(pick.choice((0, 0, 1, 2, 5))):
        _named_anew(made, pick)
    turn = pick.random()
    if turn < 0.06:
        made["model"] = {**(made.get("model") or {}), "name": pick.choice(_MODELS)}
    elif turn < 0.16:
        made["site"] = pick.choice(_SITES)
    elif turn < 0.2:
        places = list(leaves(made))
        place, _ = pick.choice(places)
        node: Any = made
        for key in place[:-1]:
            node = node[key]
        node[place[-1]] = pick.choice((*NUMBERS, *STRINGS, None, [], {}))
    return made


# --- Styles

_BARE = re.compile(r"[A-Za-z/][A-Za-z0-9_./+-]*|-?[0-9]+(?:\.[0-9]+)?|true|false|null")
_PLAIN_TEXT = re.compile(r"[A-Za-z/][A-Za-z0-9_./+ -]*[A-Za-z0-9]")
_NO_TEXT = {"true", "false", "null", "True", "False", "Null", "TRUE", "FALSE", "NULL", "~"}


class Style:
    """Writes a document, another style at each place; so often in one that is no good as it is odd."""

    def __init__(self, pick: random.Random, oddness: float) -> None:
        self._pick = pick
        self._oddness = oddness
        self._anchors: dict[str, str] = {}

    def document(self, document: Mapping[str, Any]) -> str:
        """All of it, with what may stand before and behind."""
        pick = self._pick
        head = pick.choice(
            ("", "", "", "# a\n", "---\n", "%YAML 1.2\n---\n", "\ufeff", "--- # a\n", "\n\n", "# " * 90 + "\n")
        )
        foot = pick.choice(("", "", "", "\n...\n", "\n# end", "\n\n\n", "  ", "\n..."))
        if pick.random() < self._oddness:
            head = pick.choice(
                (
                    *("%YAML 9.9\n---\n", "%TAG !e! tag:yaml.org,2002:\n---\n", "%FOO\n---\n", "a: 1\n---\n", "\t"),
                    *("--- |\n", "%TAG !! !\n---\n", "\ufffe", "--- !!map\n", "--- &a\n", "...\n---\n", "- "),
                )
            )
        if pick.random() < self._oddness:
            foot = pick.choice(("\n---\n", "\n---\na: 1\n", "\n...\n...\n", "\n<<: *n0", "\n*n0 : 1\n", "\n? x", "\n}"))
            foot = pick.choice((foot, "\n" + self._huge()))
        return head + self._mapping(document, 0) + foot

    def _huge(self) -> str:
        return self._pick.choice(
            (
                *("x: [" + "a, " * 40_000 + "]", "x: {" + "".join(f"a{n}: {n}, " for n in range(30_000)) + "}"),
                *("x: " + "[" * 20_000, "x: " + "{a: " * 9000, "x: " + "- " * 9000, "? " * 5000, "x: &" + "a" * 90_000),
                "".join(f"x{n}: &y{n} 1\n" for n in range(9000)) + "".join(f"z{n}: *y{n}\n" for n in range(9000)),
                "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 60)),
                "a0: &a0 {x: 1}\n" + "".join(f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}]}}\n" for n in range(1, 40)),
                *("x: |\n" + "  a\n" * 60_000, "x: >\n" + "  a\n\n" * 60_000, "x: 'a" + "\n" * 90_000 + "'"),
                *(
                    'x: "' + "\\x41" * 60_000 + '"',
                    "x: " + "a " * 90_000,
                    "#" * 200_000,
                    "# a\n" * 90_000,
                    " " * 200_000,
                ),
                *(
                    "x: !<" + "a" * 9000 + "> 1",
                    "x: " + "!!str " * 900 + "1",
                    "x: " + "&a " * 9000,
                    'x: "' + "\\\n" * 9000,
                ),
            )
        )

    def _mapping(self, node: Mapping[str, Any], indent: int) -> str:
        pick = self._pick
        if not node or (indent and pick.random() < 0.3):
            return self._flow(node, indent) + "\n"
        lines = []
        blanks = " " * indent
        items = list(node.items())
        if pick.random() < self._oddness:
            items.append(pick.choice(items))
        for key, value in items:
            if pick.random() < 0.05:
                lines.append(pick.choice(("\n", f"{blanks}# a: b\n", "#\n", "   \n")))
            if pick.random() < self._oddness:
                lines.append(
                    blanks + pick.choice(("<<: {}\n", "? \n", "<<: [*n0]\n", "- a\n", "\ta: 1\n", ": 1\n", "a\n"))
                )
            name = self._key(str(key))
            sign = f"? {name}\n{blanks}:" if pick.random() < 0.03 else f"{name}{pick.choice(('', '', '', ' '))}:"
            lines.append(f"{blanks}{sign}{self._below(value, indent)}")
        return "".join(lines)

    def _below(self, value: Any, indent: int) -> str:
        """What stands behind a colon, to the end of the line or of the block."""
        pick = self._pick
        text = json.dumps(value, sort_keys=True)
        if text in self._anchors and pick.random() < 0.6:
            return f" *{self._anchors[text]}\n"
        anchor = ""
        if pick.random() < 0.05:
            self._anchors[text] = name = f"n{len(self._anchors)}"
            anchor = f" &{name}"
        if pick.random() < self._oddness:
            anchor += pick.choice(
                (" !!str", " !", " !!map", " !e!int", " &a &b", " *a", " !<x>", " |", " >", " '", " @")
            )
        if isinstance(value, dict) and value:
            deeper = indent + pick.choice((1, 2, 2, 2, 4, 9))
            body = self._mapping(value, deeper)
            is_block = body.startswith((" " * deeper, "\n", "#", "   "))
            return f"{anchor}\n{body}" if is_block else f"{anchor} {body}"
        if isinstance(value, list) and value and pick.random() < 0.5:
            blanks = " " * (indent + pick.choice((0, 2, 3)))
            return f"{anchor}\n" + "".join(f"{blanks}- {self._flow(item, indent + 3)}\n" for item in value)
        if isinstance(value, str) and value and value.isascii() and value.isprintable() and pick.random() < 0.08:
            blanks = " " * (indent + 2)
            return f"{anchor} {pick.choice(('|-', '>-', '|2-' if not indent else '|-'))}\n{blanks}{value.strip()}\n"
        return f"{anchor} {self._flow(value, indent + 2)}{pick.choice(('', '', '', '  # a', ' '))}\n"

    def _key(self, key: str) -> str:
        if _PLAIN_TEXT.fullmatch(key) and key not in _NO_TEXT:
            return self._pick.choice((key, key, key, f"'{key}'", f'"{key}"'))
        return self._scalar(key)

    def _flow(self, node: Any, indent: int) -> str:
        pick = self._pick
        gap = pick.choice((" ", " ", "", "\n" + " " * (indent + 1), "  "))
        if isinstance(node, dict):
            items = [f"{self._key(str(key))}: {self._flow(value, indent + 1)}" for key, value in node.items()]
            return f"{{{gap}{f',{gap or chr(32)}'.join(items)}{',' if items and pick.random() < 0.1 else ''}{gap}}}"
        if isinstance(node, list):
            items = [self._flow(value, indent + 1) for value in node]
            return f"[{gap}{f',{gap or chr(32)}'.join(items)}{',' if items and pick.random() < 0.1 else ''}{gap}]"
        return self._scalar(node)

    def _scalar(self, value: Any) -> str:
        pick = self._pick
        if isinstance(value, str):
            plain = [value] * 4 if _PLAIN_TEXT.fullmatch(value) and value not in _NO_TEXT and "#" not in value else []
            single = ["'" + value.replace("'", "''") + "'"] if value.isprintable() else []
            coded = '"' + "".join(f"\\U{ord(c):08x}" for c in value[:2000]) + '"'
            return pick.choice(
                (*plain, *single, yaml_of(value).decode("utf-8", "replace"), *([coded] * (pick.random() < 0.1)))
            )
        if isinstance(value, bool):
            return pick.choice((str(value).lower(), str(value), str(value).upper()))
        if value is None:
            return pick.choice(("null", "~", "Null"))
        if isinstance(value, int) and 0 < value < 10**15 and pick.random() < 0.1:
            return pick.choice((f"+{value}", f"0x{value:x}", f"0o{value:o}", f"0{value}"))
        return yaml_of(value).decode()


# --- Cases


def _built(ends: list[Ended]) -> bool:
    return ends[0].code == 0


_SHOWN = (
    *(("ranks", "spec.yaml"), ("volume", "spec.yaml"), ("advise", "spec.yaml"), ("tune", "spec.yaml", "--dry-run")),
    *(
        ("why", "spec.yaml", "namelists"),
        ("check", "spec.yaml", "--format", "json"),
        ("lint", "made"),
        ("verify", "made"),
    ),
    *(("diff", "seed.yaml", "spec.yaml"), ("diff", "spec.yaml", "made"), ("import", "made", "-o", "again.yaml")),
    *(("migrate", "spec.yaml", "--to", "2025.10"), ("sweep", "spec.yaml", "-o", "points"), ("join", "made")),
    *(("convert", "made/wrf.sbatch", "--to", "pbs"), ("lint", ".", "--fix"), ("verify", "made")),
)


def mated_specs(generator: random.Random) -> Iterator[Case]:
    """Specs of any model, of which a third is built."""
    while True:
        seed = generator.choice(parents())
        document = mated(generator)
        data = Style(generator, generator.choice((0.0, 0.0, 0.0, 0.02))).document(document).encode("utf-8", "replace")
        calls: tuple[tuple[str, ...], ...] = (("build", "spec.yaml", "-o", "made"),)
        if generator.random() < 0.4:
            calls += (generator.choice(_SHOWN),)
        yield Case({"spec.yaml": data, "seed.yaml": yaml_of(seed)}, calls, _built)
