"""Namelists made of what the registries of ICON, WRF, PALM and MPAS know: any of their variables, with values of its
type, at the ends of it and beside them, in every notation of Fortran; as files, in a run script, in a spec and in
mkexp."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from specs import changed

from fuzzing.cases import Case, yaml_of
from fuzzing.limited import Ended
from nmlgen.models.mpas.registry import mpas_registry
from nmlgen.models.palm.registry import palm_registry
from nmlgen.models.wrf.registry import wrf_registry
from nmlgen.namelist.registry import Registry, Variable, bounds_of, load_registry, releases

MASTER = """\
&master_nml
 lrestart = .false.
/
&master_time_control_nml
 experimentStartDate = '2000-01-01T00:00:00Z', experimentStopDate = '2000-01-05T00:00:00Z'
 checkpointTimeIntval = 'P1D', restartTimeIntval = 'P2D'
/
&master_model_nml
 model_type = 1, model_name = 'atm', model_namelist_filename = 'NAMELIST_atm', model_min_rank = 0, model_max_rank = 3
/
&master_model_nml
 model_type = 2, model_name = 'ocean', model_namelist_filename = 'NAMELIST_oce', model_min_rank = 4, model_max_rank = 5
/
"""
SCRIPT = """\
#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=4 --time=01:00:00 --account=bb1234 --partition=compute
set -eu
cat > icon_master.namelist << EOF
&master_model_nml
 model_type = 1, model_name = 'atm', model_namelist_filename = 'NAMELIST_atm'
/
EOF
cat > NAMELIST_atm << EOF
&run_nml
 num_lev = 30
/
EOF
srun ./icon
"""


@cache
def _registries() -> tuple[tuple[str, Registry], ...]:
    """The files of models, and what is known of the groups in them."""
    icon = [("NAMELIST_atm", load_registry(release)) for release in releases()]
    others = [("namelist.input", wrf_registry()), ("PARIN", palm_registry())]
    return (*icon, *others, ("namelist.atmosphere", mpas_registry("atmosphere")))


def names_of(pick: random.Random, count: int) -> Iterator[str]:
    """So many names of groups and variables."""
    for _ in range(count):
        _, registry = pick.choice(_registries())
        group = pick.choice(registry.groups)
        yield pick.choice((group, *registry.variables(group)[:50]))


# --- Values

_DURATIONS = ("PT1H", "P1D", "PT10M", "P1M", "P1Y", "-PT1H", "PT0S", "P10000Y", "PT0.001S", "", "1")
_DATES = ("2000-01-01T00:00:00Z", "1850-12-31", "20000101T00Z", "9999-12-31T24:00:00Z", "0-0-0", "")
_TEXTS = (
    *("", "a", "u", "atm", "a b", "it's", "group:all", "<path>x_<datetime>.nc", "1...20,nlev", "x" * 300, "ü", "all"),
)


def _plain(variable: Variable, pick: random.Random) -> Any:
    """A value of its type that somebody might write, or one at the ends of the type."""
    if variable.allowed and pick.random() < 0.6:
        return pick.choice(variable.allowed)
    if variable.has_default and not isinstance(variable.default, (list, dict)) and pick.random() < 0.2:
        return variable.default
    if variable.type == "logical":
        return pick.random() < 0.5
    if variable.type == "integer":
        return pick.choice((0, 1, 2, 3, 4, 5, 7, 10, 30, 100, 128, 720, -1, -2, 86400, 2**31 - 1, -(2**31), 2**31))
    if variable.type == "real":
        return pick.choice((0.0, 1.0, 0.5, 10.0, 60.0, 3600.0, 1e5, -1.0, 1e-30, 1e30, 3.4e38, 1.7e308, 0.1, 720.5))
    if variable.syntax == "duration" or "interval" in variable.name:
        return pick.choice(_DURATIONS)
    return pick.choice(_DATES if variable.syntax == "datetime" or "date" in variable.name else _TEXTS)


def _printed(value: Any, pick: random.Random) -> str:
    """A value in one of the ways that Fortran reads."""
    if isinstance(value, bool):
        words = (".true.", "T", ".T", "true", ".TRUE.x") if value else (".false.", "F", ".f.", "false", "FALSE")
        return pick.choice(words)
    if isinstance(value, (int, float)):
        text = f"{value:.10g}" if isinstance(value, float) else str(value)
        return pick.choice((text, text, text, text.replace("e", "d"), f"{text}.", f"+{text}", f"{text}_wp"))
    if value is None:
        return ""
    mark = pick.choice("''\"")
    return mark + str(value).replace(mark, mark * 2) + mark


def _subscripted(variable: Variable, pick: random.Random) -> str:
    """Its name with what may stand in brackets, at the bounds of what is declared, or just beyond."""
    if pick.random() < 0.7:
        return variable.name
    if not variable.shape:
        return variable.name + pick.choice(("(1)", "(1:2)", "%x", "(:)"))
    inside = [
        pick.choice(
            (str(low), str(high), f"{low}:{high}", str(low - 1), str(high + 1), ":", f"{low}:", f"{high}:{low}:-1")
        )
        for low, high in map(bounds_of, variable.shape)
    ]
    return f"{variable.name}({','.join(inside)})"


def _values(variable: Variable, pick: random.Random) -> list[Any]:
    if not variable.is_array:
        return [_plain(variable, pick)] * pick.choice((1, 1, 1, 1, 1, 1, 2))
    low, high = bounds_of((variable.shape or (3,))[0])
    longest = min(2000, max(1, high - low + 1))
    return [_plain(variable, pick) for _ in range(pick.choice((1, 1, 2, 3, longest, longest + 1)))]


def _assigned(variable: Variable, pick: random.Random) -> str:
    values = [_printed(value, pick) for value in _values(variable, pick)]
    if pick.random() < 0.1:
        values[0] = f"{pick.choice((2, 3, 0, 100, 100000))}*{values[0]}"
    if pick.random() < 0.05:
        values.insert(pick.randrange(len(values) + 1), "")
    name = _subscripted(variable, pick)
    name = name.upper() if pick.random() < 0.1 else name
    return name + pick.choice((" = ", "=", " =\n  ")) + pick.choice((", ", ",", " ", ",\n  ")).join(values)


# --- Groups and files

_ABOUT_FILES = ("output_nml", "io_nml", "parallel_nml", "run_nml", "grid_nml", "time_nml", "master_nml", "time_control")


def _variables(registry: Registry, group: str, pick: random.Random) -> list[Variable]:
    names = registry.variables(group)
    chosen = pick.sample(names, min(len(names), pick.choice((1, 2, 5, 10, 30, len(names)))))
    return [found for name in chosen if (found := registry.variable(group, name)) is not None]


def _groups(registry: Registry, pick: random.Random) -> list[str]:
    """Some groups, those that say what is written among them; some come twice."""
    known = [group for group in _ABOUT_FILES if registry.has_group(group)]
    chosen = [pick.choice(registry.groups) for _ in range(pick.choice((1, 3, 10)))]
    return [*pick.sample(known, pick.randrange(len(known) + 1)), *chosen, *pick.sample(chosen, pick.choice((0, 0, 1)))]


def _text(registry: Registry, pick: random.Random) -> str:
    parts = []
    for group in _groups(registry, pick):
        between = pick.choice(("\n ", "\n ", ", ", " "))
        lines = between.join(_assigned(variable, pick) for variable in _variables(registry, group, pick))
        parts.append(f"&{group}\n {lines}\n{pick.choice(('/', '/', '/', '&end', '/ ! &x', ''))}\n")
    return "".join(parts)


def _section(registry: Registry, pick: random.Random) -> dict[str, Any]:
    """The groups as a spec has them."""
    found: dict[str, Any] = {}
    for group in _groups(registry, pick):
        made = {}
        for variable in _variables(registry, group, pick):
            values = _values(variable, pick)
            made[_subscripted(variable, pick)] = values[0] if len(values) == 1 else values
        found[group] = [made, made] if registry.is_repeatable(group) and pick.random() < 0.3 else made
    return found


def _mkexp(section: dict[str, Any], pick: random.Random) -> str:
    lines = ["EXP_TYPE = amip-R2B4", "[namelists]", "  [[icon_master.namelist]]", "    [[[master_model_nml atmo]]]"]
    lines += ["      model_name = atm", "      model_namelist_filename = NAMELIST_atm", "  [[NAMELIST_atm]]"]
    for group, made in section.items():
        lines.append(f"    [[[{group}]]]")
        for name, value in (made[0] if isinstance(made, list) else made).items():
            values = value if isinstance(value, list) else [value]
            words = [str(one).lower() if isinstance(one, bool) else str(one).replace(",", " ") for one in values[:50]]
            lines.append(f"      {name} = {pick.choice((', ', ',')).join(words)}")
    return "\n".join(lines) + "\n"


# --- Cases


def _read(ends: list[Ended]) -> bool:
    return ends[0].code in (0, 1)


def _in_files(name: str, registry: Registry, pick: random.Random) -> Case:
    is_icon = name.startswith("NAMELIST")
    files = {f"run/{name}": _text(registry, pick), f"seed/{name}": _text(registry, pick)}
    if is_icon:
        files |= {f"{home}/icon_master.namelist": MASTER for home in ("run", "seed")}
        files["run/NAMELIST_oce"] = files["seed/NAMELIST_oce"] = _text(registry, pick)
    path = pick.choice(("run", "run", f"run/{name}"))
    release = pick.choice(releases())
    show = pick.choice(
        (
            *(("import", path, "-o", "made.yaml", "--ntasks", "64"), ("diff", "seed", path), ("verify", "run")),
            *(("ranks", path, "--ntasks", "8"), ("volume", path, "--ntasks", "8"), ("advise", path, "--ntasks", "8")),
            *(("join", "run", "--ntasks", "8"), ("lint", path, "--fix", "--unsafe-fixes", "--icon-release", release)),
            ("migrate", path, "--icon-release", release, "--to", "2025.10", "--fix"),
        )
    )
    lint = ("lint", path, "--ntasks", pick.choice(("6", "64")), *(("--icon-release", release) if is_icon else ()))
    return Case({key: text.encode() for key, text in files.items()}, (lint, show), _read)


def _in_script(registry: Registry, pick: random.Random) -> Case:
    text = SCRIPT.replace("&run_nml\n num_lev = 30\n/\n", _text(registry, pick))
    show: Sequence[tuple[str, ...]] = (
        *(("import", "exp.run", "-o", "made.yaml"), ("ranks", "exp.run"), ("volume", "exp.run"), ("advise", "exp.run")),
        *(("convert", "exp.run", "--to", "pbs"), ("migrate", "exp.run", "--to", "2025.10")),
        ("diff", "exp.run", "seed.run"),
    )
    files = {"exp.run": text.encode(), "seed.run": SCRIPT.encode()}
    return Case(files, (("lint", "exp.run"), pick.choice(show)), _read)


def _in_spec(registry: Registry, pick: random.Random) -> Case:
    spec = changed(namelists=_section(registry, pick), model={"release": pick.choice(releases()[2:])})
    show: Sequence[tuple[str, ...]] = (
        *(("check", "spec.yaml", "--format", "gitlab"), ("ranks", "spec.yaml"), ("volume", "spec.yaml")),
        *(("why", "spec.yaml", "namelists"), ("diff", "seed.yaml", "spec.yaml"), ("advise", "spec.yaml")),
        *(("migrate", "spec.yaml", "--to", "2025.10"), ("lint", "made")),
        ("import", "made", "-o", "again.yaml", "--ntasks", "64"),
    )
    files = {"spec.yaml": yaml_of(spec), "seed.yaml": yaml_of(changed())}
    return Case(files, (("build", "spec.yaml", "-o", "made"), pick.choice(show)), _read)


def _in_mkexp(registry: Registry, pick: random.Random) -> Case:
    text = _mkexp(_section(registry, pick), pick)
    show = pick.choice((("import", "exp.config", "-o", "made.yaml"), ("ranks", "exp.config", "--ntasks", "8")))
    return Case({"exp.config": text.encode("utf-8", "replace")}, (("lint", "exp.config"), show), _read)


def registered_namelists(generator: random.Random) -> Iterator[Case]:
    """Files of every model, run scripts, specs and configurations of mkexp."""
    while True:
        name, registry = generator.choice(_registries())
        turn = generator.random() if name.startswith("NAMELIST") else 0.0
        if turn < 0.45:
            yield _in_files(name, registry, generator)
        elif turn < 0.65:
            yield _in_script(registry, generator)
        elif turn < 0.9:
            yield _in_spec(registry, generator)
        else:
            yield _in_mkexp(registry, generator)
