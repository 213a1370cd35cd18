"""Commands with any of their options and arguments, on inputs that are good: values of the option's type and of others,
files of every kind in each other's place."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import click
import icon_logs

from fuzzing.cases import Case, yaml_of
from fuzzing.hostile import NUMBERS, SIZES, STRINGS, TIMES
from fuzzing.limited import Ended
from fuzzing.registered import MASTER, SCRIPT
from fuzzing.specs import seeds
from fuzzing.woven import MKEXP, MODELS, PBS
from nmlgen.cli.application import application

ROOT = Path(__file__).parents[2]
_ENDLESS = {"--watch", "--interval"}
_LEFT_OUT = {"lsp", "wait"}
_ALWAYS = {"tune": ("--dry-run",), "submit": ("--dry-run",)}


@cache
def _files() -> dict[str, bytes]:
    wrf, *_ = MODELS
    texts = {"run/icon_master.namelist": MASTER, "run/NAMELIST_atm": "&run_nml\n num_lev = 30\n/\n", "exp.run": SCRIPT}
    texts |= {"run/NAMELIST_oce": "&run_nml\n dtime = 60\n/\n", "job.pbs": PBS, "exp.config": MKEXP}
    texts |= {f"wrf/{name}": text for name, text in wrf.items()}
    texts["nmlgen.toml"] = 'icon-release = "2024.10"\nsite = "levante"\n'
    files = {name: text.encode() for name, text in texts.items()}
    for number, seed in enumerate(seeds()[:4]):
        files[f"spec{number}.yaml"] = yaml_of(seed)
    files["sweep.yaml"] = (ROOT / "examples" / "io_ranks.yaml").read_bytes()
    files |= {f"logs/LOG.{mode[0]}": icon_logs.text(icon_logs.log(mode=mode)) for mode in ("sync", "async")}
    files["site.yaml"] = (ROOT / "presets" / "sites" / "levante.yaml").read_bytes()
    return files


_BESIDE = (
    "run",
    "logs",
    "wrf",
    ".",
    "gone",
    "new/made",
    "-",
    "",
    "/dev/null",
    "/dev/full",
    "a" * 300,
    "a\nb",
    "run/..",
)
_WORDS = (
    *("icon", "levante", "generic-pbs", "2024.10", "2025.10", "compute", "pbs", "slurm", "job.nodes", "output.atm"),
    *(
        "NML001",
        "RST",
        "PAR004",
        "all",
        "json",
        "icon/nh_dcmip_tc_52",
        "sites/levante",
        "job.nodes=2",
        "a=b",
        "=",
        "a=[",
    ),
    *("output_nml", "run_nml", "num_lev", "2", "1-3", "0", "u,v", "*", "**/*", "[", "{}", "null", "grid.file=x.nc"),
)


def _name(pick: random.Random) -> str:
    return pick.choice((*_files(), *_files(), *_BESIDE))


def _text(pick: random.Random) -> str:
    turn = pick.random()
    if turn < 0.5:
        return pick.choice(_WORDS)
    if turn < 0.7:
        return str(pick.choice((*NUMBERS, *TIMES, *SIZES)))[:3000]
    return _name(pick) if turn < 0.85 else pick.choice(STRINGS)


def _value(kind: Any, pick: random.Random) -> str:
    if pick.random() < 0.08:
        return _text(pick)
    if isinstance(kind, click.Choice):
        return str(pick.choice(list(kind.choices)))
    if isinstance(kind, click.Path):
        return _name(pick)
    if isinstance(kind, (click.types.IntParamType, click.types.FloatParamType)):
        return pick.choice(
            ("1", "2", "8", "64", "0", "-1", "1000000", "99999999999999999999", "1.5", "nan", "inf", "1e9")
        )
    return _text(pick)


@cache
def _commands() -> tuple[tuple[tuple[str, ...], click.Command], ...]:
    """Every command by its words, those of groups included."""
    context = click.Context(application)
    found: list[tuple[tuple[str, ...], click.Command]] = []
    for name in application.list_commands(context):
        command = application.get_command(context, name)
        if isinstance(command, click.Group):
            found += [((name, sub), one) for sub, one in command.commands.items()]
        elif command is not None and name not in _LEFT_OUT:
            found.append(((name,), command))
    return tuple(found)


def _call(words: tuple[str, ...], command: click.Command, pick: random.Random) -> tuple[str, ...]:
    options: list[str] = []
    arguments: list[str] = []
    for parameter in command.params:
        if isinstance(parameter, click.Argument):
            least = 1 if parameter.required else 0
            count = pick.choice((1, 1, 2, 3)) if parameter.nargs < 0 else pick.choice((1, 1, 1, least))
            arguments += [_value(parameter.type, pick) for _ in range(count)]
        elif isinstance(parameter, click.Option) and (parameter.required or pick.random() < 0.25):
            name = pick.choice([*parameter.opts, *parameter.secondary_opts])
            if name in _ENDLESS:
                continue
            for _ in range(pick.choice((1, 1, 1, 2)) if parameter.multiple else 1):
                options.append(name)
                if not parameter.is_flag:
                    options += [_value(parameter.type, pick) for _ in range(max(1, parameter.nargs))]
    options += _ALWAYS.get(words[0], ())
    parts = [options, arguments] if pick.random() < 0.5 else [arguments, options]
    return (*words, *(part.replace("\0", "").encode("utf-8", "replace").decode() for half in parts for part in half))


def _ended_well(ends: list[Ended]) -> bool:
    return ends[0].code in (0, 1)


def argued_commands(generator: random.Random) -> Iterator[Case]:
    """A call or two in a directory of good inputs, the second one of what the first one left."""
    while True:
        calls = tuple(_call(*generator.choice(_commands()), generator) for _ in range(generator.choice((1, 2))))
        yield Case(_files(), calls, _ended_well)
