"""What nmlgen itself has written and reads again, and what lies beside the files that it is given: one file of a
directory is changed in some way, and the commands that look at it are called."""

from __future__ import annotations

import json
import os
import random
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import gpu_wrappers
from attrs import frozen

from fuzzing.cases import Case
from fuzzing.hostile import NUMBERS, STRINGS
from fuzzing.killed import COMMANDS, PROGRAMS
from fuzzing.limited import Ended
from fuzzing.trees import leaves

_DIGITS = ("9" * 5000, "0" * 4500 + "7", "\u00b2", "\u0663", "1e999", "-1", "0", "99999999999999999999", "", "0x1f")
_BYTES = (
    b"\0",
    b"\xff",
    b"\x1b[2J",
    b"\r",
    b"\n",
    b"\xed\xa0\x80",
    b"\xe2\x80\xae",
    b"{",
    b'"',
    b"'",
    b"$(",
    b"=",
    b",",
)
_ODD_LINES = (
    "::error::a",
    "=1+1",
    "\x1b]0;a\x07",
    "a" * 100_000,
    "{}",
    "null",
    "[" * 3000,
    "&a_nml",
    "a: &a [*a]",
    "<x",
)


@frozen
class Home:
    """A directory: its files and links, the programs that stand in there, and the calls that read them."""

    files: Mapping[str, bytes]
    links: Mapping[str, str]
    programs: Mapping[str, bytes]
    calls: tuple[tuple[str, ...], ...]


def _read(directory: Path) -> tuple[dict[str, bytes], dict[str, str], dict[str, bytes]]:
    files, links, programs = {}, {}, {}
    for path in sorted(directory.rglob("*")):
        name = str(path.relative_to(directory))
        if path.is_symlink():
            links[name] = os.readlink(path)
        elif path.is_file() and path.parent.name == PROGRAMS:
            programs[path.name] = path.read_bytes().replace(f"/../{PROGRAMS}".encode(), b"/../bin")
        elif path.is_file():
            files[name] = path.read_bytes()
    return files, links, programs


def _ran(name: str, *calls: str) -> Home:
    """What a command leaves."""
    with TemporaryDirectory() as room:
        directory = Path(room, "work")
        directory.mkdir()
        command = COMMANDS[name]
        command.prepared(directory)
        command.run(directory)
        return Home(*_read(directory), tuple(tuple(call.split()) for call in calls))


_HOSTS = b"n1 slots=4\nn2:4\n# a\nn[3-6]\n"
_MULTI = b"0-3 ./icon\n4,5 ./wrap.sh ./hiopy --config a.yaml %t\n* ./icon %o\n"
_HINTS = b"romio_cb_write enable\ncb_nodes 4\n# a\nstriping_factor 8\n"
_DARSHAN = b"MAX_RECORDS 1024 POSIX,MPI-IO\nMODMEM 8\nAPP_EXCLUDE a,b\n"
_COUPLING = b"""\
timestep_unit: ISO_format
calendar: proleptic-gregorian
coupling:
  - source: {component: atmo, grid: icon_atmos_grid}
    target: {component: ocean, grid: icon_ocean_grid}
    coupling_period: PT30M
    time_reduction: average
    interpolation: [{nnn: {n: 1}}]
    field: total_heat_flux
"""
_MASTER = b"""\
&master_nml
 lrestart = .false.
/
&time_nml
 ini_datetime_string = '2000-01-01T00:00:00Z', end_datetime_string = '2000-01-02T00:00:00Z'
/
&master_model_nml
 model_type = 1, model_name = 'atmo', model_namelist_filename = 'NAMELIST_atmo'
 model_min_rank = 0, model_max_rank = 3, model_inc_rank = 1
/
&master_model_nml
 model_type = 2, model_name = 'ocean', model_namelist_filename = 'NAMELIST_ocean'
 model_min_rank = 4, model_max_rank = 5, model_inc_rank = 1
/
"""
_ATMO = b"&run_nml\n num_lev = 30, dtime = 60\n/\n&coupling_mode_nml\n coupled_to_ocean = .true.\n/\n"
_OCEAN = b"&run_nml\n dtime = 60\n/\n&coupling_mode_nml\n coupled_to_atmo = .true.\n/\n"
_SCRIPT = b"""\
#!/bin/bash
#SBATCH --nodes=2
#SBATCH --ntasks=6
export ROMIO_HINTS=$PWD/hints DARSHAN_CONFIG_PATH=$PWD/darshan.conf
source ./setup.sh
srun --multi-prog multi.conf
srun -w ./hosts ./wrap.sh ./icon
mpirun --hostfile hosts -np 6 ./wrap.sh ./icon
"""
_WRAPPER = f"#!/bin/bash\n{gpu_wrappers.MODULO}export OMP_NUM_THREADS=4\n{gpu_wrappers.RUN}".encode()
_BESIDE = {
    "exp.run": _SCRIPT,
    "setup.sh": b"export NNODES=2\nmodule load openmpi/4.1.5\n",
    "wrap.sh": _WRAPPER,
    "hosts": _HOSTS,
    "multi.conf": _MULTI,
    "hints": _HINTS,
    "darshan.conf": _DARSHAN,
    "coupling.yaml": _COUPLING,
    "icon_master.namelist": _MASTER,
    "NAMELIST_atmo": _ATMO,
    "NAMELIST_ocean": _OCEAN,
    "nmlgen.toml": b'icon-release = "2024.10"\nselect = ["RST"]\n[profile]\nno_of_nodes = "4"\n',
}
_JUDGED = ("lint .", "lint exp.run", "import . --force -o x.yaml", "import exp.run --hosts hosts --force -o x.yaml")


@cache
def homes() -> tuple[Home, ...]:
    calls = tuple(tuple(call.split()) for call in _JUDGED)
    return (
        Home(_BESIDE, {}, {}, calls),
        _ran("build", "build spec.yaml -o made", "lint made", "diff spec.yaml made", "verify made", "import made -o x"),
        _ran("calibrate", "calibrate built -o c.yaml", "logs built", "compare built built", "lint built"),
        _ran("join", "join built", "verify built", "lint built"),
        _ran("submit", "status points", "submit points", "resubmit points --failed", "cancel points", "report points"),
        _ran(
            "resubmit --stale",
            "status points",
            "resubmit points --stale",
            "report points",
            "sweep sweep.yaml -o points",
        ),
        _ran("tune", "tune sweep.yaml -o tuning --runs 2", "status tuning", "report tuning", "logs tuning"),
        _ran("lint --write-baseline", "lint a.run --baseline old.json", "lint a.run --baseline old.json --format json"),
        _ran(
            "registry make",
            "registry show --icon-release ./2025.04.json",
            "lint a.nml --icon-release ./2025.04.json",
            "registry make tree --icon-release 2025.04 -o again.json",
        ),
        _ran("export", "export points --for jube --force", "export points --for ro-crate --force", "status points"),
        _ran("migrate --fix", "migrate NAMELIST_a --icon-release 2024.10 --to 2025.10"),
    )


# --- Changes of a file


def _number(data: bytes, pick: random.Random) -> bytes:
    places = [match.span() for match in re.finditer(rb"[0-9]+", data)]
    if not places:
        return data
    first, end = pick.choice(places)
    return data[:first] + pick.choice(_DIGITS).encode() + data[end:]


def _bytes(data: bytes, pick: random.Random) -> bytes:
    place = pick.randrange(len(data) + 1)
    return data[:place] + pick.choice(_BYTES) + data[place + pick.choice((0, 1, 3)) :]


def _line(data: bytes, pick: random.Random) -> bytes:
    lines = data.split(b"\n")
    number = pick.randrange(len(lines))
    turn = pick.randrange(5)
    if turn == 0:
        del lines[number]
    elif turn == 1:
        lines.insert(number, pick.choice(lines))
    elif turn == 2:
        lines[number] = pick.choice((*_ODD_LINES, *STRINGS)).encode("utf-8", "surrogatepass")
    elif turn == 3:
        lines[number:] = lines[number : number + 1] * 3000
    else:
        return data[: pick.randrange(len(data) + 1)]
    return b"\n".join(lines)


def _word(data: bytes, pick: random.Random) -> bytes:
    places = [match.span() for match in re.finditer(rb"[A-Za-z_./%@-]+", data)]
    if not places:
        return data
    first, end = pick.choice(places)
    return data[:first] + pick.choice(STRINGS).encode("utf-8", "surrogatepass") + data[end:]


def _tree(data: bytes, pick: random.Random) -> bytes:
    """A value of a document, or of a line of one, becomes another."""
    try:
        document: Any = json.loads(data)
    except (ValueError, RecursionError):
        return _number(data, pick)
    places = list(leaves(document))
    if not places:
        return pick.choice((b"null", b"[]", b"3", b'"a"', b"{}"))
    place, _ = pick.choice(places)
    below = document
    for key in place[:-1]:
        below = below[key]
    if pick.random() < 0.2:
        del below[place[-1]]
    else:
        below[place[-1]] = pick.choice((None, True, {}, [], [None], {"a": None}, *NUMBERS[:40], *STRINGS))
    return json.dumps(document).encode()


def _whole(data: bytes, pick: random.Random) -> bytes:
    return pick.choice((b"", b"\n", data * 30, data[::-1], b"\x1f\x8b" + data, b"\xff\xfe" + data, b"9" * 300_000))


_CHANGES: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    *(_number, _number, _bytes, _line, _line, _word, _tree, _tree, _tree, _whole),
)


def kept(generator: random.Random) -> Iterator[Case]:
    """A file of a directory that is changed, and a call that reads it."""
    known = homes()
    while True:
        home = generator.choice(known)
        name = generator.choice(sorted(home.files))
        data = home.files[name]
        for _ in range(generator.choice((1, 1, 1, 2, 4))):
            data = generator.choice(_CHANGES)(data[:500_000], generator)
        files = {**home.files, name: data}
        if generator.random() < 0.1:
            del files[name]
            odd = generator.choice(
                ("a\nb", "a\x1b[2J", "::error::a", "\u202ea", "-a", "a" * 200, "=1", "a,b;c", "a'$(b)")
            )
            files[str(Path(name).with_name(odd + Path(name).name))] = data
        calls = generator.sample(home.calls, min(2, len(home.calls)))
        yield Case(files, tuple(calls), _came_to_an_end, home.programs, home.links)


def _came_to_an_end(ends: list[Ended]) -> bool:
    return all(end.code in (0, 1) for end in ends)
