"""What squeue, sacct, sbatch, scontrol and scancel might answer, for a sweep that is submitted and looked at."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from specs import changed

import nmlgen
from fuzzing.cases import Case
from fuzzing.hostile import STRINGS
from fuzzing.limited import Ended

# NAME stands for the names that were asked for.
PROGRAM = """\
#!/bin/bash
here=${0%/*}/${0##*/}
name=
for word in "$@"; do if [[ $word == --name=* ]]; then name=${word#*=}; name=${name%%,*}; fi; done
if [[ -s $here.err ]]; then cat "$here.err" >&2; fi
if [[ -f $here.flood ]]; then yes "$(<"$here.flood")" 2>/dev/null | head -c 5000000; fi
sed "s/NAME/$name/g" "$here.out"
exit "$(<"$here.code")"
"""
_QUEUE = ("NAME|7|0|7|RUNNING|l1|None", "NAME|7|1|8|PENDING||Priority", "NAME|7|[2-3]|9|PENDING||(Resources)")
_ACCOUNT = ("NAME|7_0|7|COMPLETED|l1|None", "NAME|7_1|8|CANCELLED by 0|l[1-2]|None", "NAME|7_[2-3]|9|PENDING||None")
_CONFIG = (
    "Configuration data as of 2024-01-01T00:00:00",
    "MaxArraySize            = 1001",
    "MaxJobCount             = 10000",
    "PrivateData             = none",
    "SLURM_VERSION           = 22.05.8",
    "",
)
ANSWERS = {"squeue": _QUEUE, "sacct": _ACCOUNT, "scontrol": _CONFIG, "sbatch": ("7",), "scancel": ()}
_ODD = (
    *(
        "",
        " ",
        "|",
        "||||||",
        "*** This cluster will be down on Monday ***",
        "slurm_load_jobs error: timed out",
        "\x1b[2J",
    ),
    *(
        "NAME|x|y|z|RUNNING||",
        "NAME|7|0|7|MARTIAN|l1|None",
        "NAME|7|0|7||l1|None",
        "NAME|7_0|7||l1|",
        "a|b|c|d|e|f|g|h",
    ),
    *("NAME|" + "9" * 5000 + "|0|7|RUNNING||", "NAME|7|" + "9" * 5000 + "|7|RUNNING||", "NAME|-7|0|-7|RUNNING|l1|None"),
    *("NAME|7|\u0663|7|RUNNING|l1|None", "NAME|7_\u00b2|7|COMPLETED|l1|None", "NAME|7|99999999|7|RUNNING|l1|None"),
    *("NAME|7_0|7|   |l1|None", "NAME|7|0|7|RUNNING|" + "l1," * 3000 + "|None", "NAME|7|0|7|FAILED|l1|::error::x"),
    *("MaxArraySize = UNLIMITED", "MaxArraySize = 0", "MaxArraySize = -1", "MaxArraySize =", "MaxArraySize = 1001K"),
    *(
        "MaxJobCount = (null)",
        "MaxArraySize = " + "9" * 5000,
        "PrivateData = jobs,usage",
        "MaxArraySize",
        "= 1",
        "7;cluster",
    ),
    *("Submitted batch job 7", "-7", "0", "9" * 5000, "seven", "7 8", "\u0667", "7\n8", "sleeping and retrying"),
)


@cache
def sweep() -> dict[str, bytes]:
    """The files of a sweep of four points."""
    with TemporaryDirectory() as name:
        directory = Path(name)
        grid = {"parallel.nproma": [8, 16], "job.nodes": [1, 2]}
        spec = changed(sweep={"grid": grid}, restart={"restartTimeIntval": "P5D"}, parallel={"num_io_procs": 1})
        spec["output"]["atm"] |= {"stream_partitions_ml": 1, "filename_format": "<output_filename>_<datetime2>"}
        nmlgen.write_sweep(nmlgen.expand(spec), directory / "points")
        return {
            str(path.relative_to(directory)): path.read_bytes()
            for path in sorted((directory / "points").rglob("*"))
            if path.is_file()
        }


def _reply(program: str, pick: random.Random) -> Mapping[str, bytes]:
    lines = list(ANSWERS[program])
    for _ in range(pick.choice((0, 0, 1, 1, 2, 4))):
        number = pick.randrange(len(lines) + 1)
        turn = pick.random()
        if turn < 0.5:
            lines.insert(number, pick.choice(_ODD))
        elif turn < 0.65 and number < len(lines):
            del lines[number]
        elif number < len(lines):
            fields = lines[number].split("|")
            fields[pick.randrange(len(fields))] = pick.choice(
                (*STRINGS, "NODE_FAIL", "UNKNOWN", "RUNNING", "-1", "10", "0")
            )
            lines[number] = "|".join(fields)
    text = "\n".join(lines) + pick.choice(("\n", "\n", "", "\r\n", "\n\n"))
    bad = pick.random() < 0.1
    files = {
        f"{program}": PROGRAM.encode(),
        f"{program}.out": text.encode("utf-8", "replace") if pick.random() < 0.95 else b"\xff\xfe\x00\n",
        f"{program}.err": pick.choice(_ODD).encode() if bad else b"",
        f"{program}.code": pick.choice((b"1", b"0", b"255")) if bad else b"0",
    }
    if pick.random() < 0.05:
        files[f"{program}.flood"] = pick.choice((*_ODD, *ANSWERS[program], "x" * 1000)).encode()
    return files


def _asked(ends: list[Ended]) -> bool:
    return ends[-1].code == 0


def replies(generator: random.Random) -> Iterator[Case]:
    """Answers with lines that are odd, missing, endless or of other programs."""
    files = sweep()
    calls = (
        (("submit", "points"), ("status", "points")),
        (("submit", "points"), ("status", "points", "--format", "json")),
        (("submit", "points"), ("resubmit", "points")),
        (("submit", "points"), ("cancel", "points")),
        (("submit", "points", "--dry-run"), ("status", "points")),
    )
    while True:
        said: dict[str, bytes] = {}
        for program in ANSWERS:
            said |= _reply(program, generator)
        yield Case(files, generator.choice(calls), _asked, said)
