"""gfortran's runtime is the judge of how namelists are read: here it is asked again."""

from __future__ import annotations

import json
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest
from fortran_runtime import CASES, cases, disagreement
from tools import require

from nmlgen.namelist.editor import set_value
from nmlgen.namelist.reader import read
from nmlgen.source import Source

from .readback import Declaration, read_back, scalars

FLAGS = ("-O0", "-std=f2018", "-ffree-line-length-none")


class Runtime:
    """The compiled program, and a directory to put texts into."""

    def __init__(self, program: Path, directory: Path) -> None:
        self.program = program
        self.directory = directory

    def verdicts(self, texts: list[str]) -> list[dict[str, Any]]:
        """What the runtime makes of each text, in the format of the recorded cases but for the id."""
        for number, text in enumerate(texts):
            (self.directory / f"{number}.nml").write_bytes(text.encode("utf-8", "surrogateescape"))
        names = "".join(f"{number}.nml\n" for number in range(len(texts)))
        done = subprocess.run([self.program], input=names.encode(), cwd=self.directory, check=True, capture_output=True)
        files = f"\n{done.stdout.decode()}".split("\nfile\n")[1:]
        return [{"text": text, **_verdict(output)} for text, output in zip(texts, files, strict=True)]


def _verdict(output: str) -> dict[str, Any]:
    """The two rounds of each way, put together."""
    rounds: dict[str, list[list[dict[str, Any]]]] = {"plain": [], "icon": []}
    for line in output.rstrip("\n").split("\n"):
        head, first, rest = [*line.rstrip().split(None, 2), "", ""][:3]
        if head == "way":
            reads = []
            rounds[first].append(reads)
        elif head == "read":
            reads.append({"status": int(first), "message": " ".join(rest.split()), "values": {}})
        else:
            reads[-1]["values"][_designator(head, int(first))] = _decoded(rest)
    merged = {
        way: [
            {**second, "values": {**second["values"], **first["values"]}} for first, second in zip(*both, strict=True)
        ]
        for way, both in rounds.items()
    }
    whole = sum(found["status"] == 0 for found in merged["plain"])
    return {
        "icon": [{"message": found["message"], "values": found["values"]} for found in merged["icon"]],
        "plain": {"groups": whole, "message": merged["plain"][-1]["message"]},
    }


def _designator(name: str, index: int) -> str:
    if name == "m":
        return f"m({(index - 1) % 2 + 1},{(index - 1) // 2 + 1})"
    scalar = index == 0 and name != "lb"
    return name if scalar else f"{name}({index})"


def _decoded(text: str) -> str:
    if text.startswith("x"):
        return bytes.fromhex(text[1:]).decode("utf-8", "surrogateescape")
    return text.strip()


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Runtime:
    """The program of `namelist_runtime.f90`, compiled once."""
    require("gfortran")
    directory = tmp_path_factory.mktemp("runtime")
    program = directory / "namelist_runtime"
    source = Path(__file__).with_name("namelist_runtime.f90")
    subprocess.run(["gfortran", *FLAGS, "-o", program, source], check=True, cwd=directory)
    return Runtime(program, directory)


def test_the_recorded_cases_are_what_the_runtime_does(runtime, request):
    recorded = cases()
    found = [{"id": case["id"], **runtime.verdicts([case["text"]])[0]} for case in recorded]
    if request.config.getoption("--regenerate"):
        CASES.write_text("".join(json.dumps(case) + "\n" for case in found), encoding="utf-8")
    assert found == recorded or request.config.getoption("--regenerate")


# --- Texts that nobody thought of ---

NAMES = {
    "i": "integer", "l8": "integer", "ia": "integer", "ia(2)": "integer", "ia( 3 )": "integer", "ia(2:4)": "integer",
    "ia(:5:2)": "integer", "IA": "integer", "m": "integer", "m(1,:)": "integer", "m(2 , 3)": "integer",
    "lb(-1:0)": "integer", "ia(9999)": "integer", "p%a": "integer", "P%A": "integer", "pa%a": "integer",
    "pa(1)%v": "integer", "p%v(2)": "integer", "pa%v(3)": "integer", "r": "real", "ra": "real", "ra(3)": "real",
    "pa(2)%b": "real", "l": "logical", "la": "logical", "la(2:)": "logical", "s": "string", "sa": "string",
    "sa(2)": "string", "sa(2:3)": "string", "s(2:3)": "string", "sa(1)(2:3)": "string", "p%c": "string",
    "nosuch": "integer", "ia (3)": "integer", "i(1)": "integer", "m(1)": "integer", "p%nosuch": "integer",
}  # fmt: skip
VALUES = {
    "integer": ["1", "2", "-3", "+4", "12", "2*5", "3*", "1*7", "0003", "2147483647"],
    "real": ["1.5", "2.", ".5", "1e3", "1.d0", "-2.5e-1", "2*1.5", "7", "1.5+3", "2q1"],
    "logical": ["T", "F", ".true.", ".false.", "2*T", "t", ".f.", "2*.false."],
    "string": ["'a'", '"b"', "'it''s'", "'a b'", "2*'x'", "'! no'", "''", "'a/b'", "'&o'", '2*"it\'s"', "'ä'"],
}
ODD = [
    "abc",
    "1.0_dp",
    "3.0",
    "yes",
    "1a",
    "1.5.2",
    "/",
    "1,5",
    "0*1",
    "3000000000",
    "'1'",
    "T",
    "1e5",
    "inf",
    "nan(1)",
]
SEPARATORS = [
    ", ",
    ",",
    " ",
    "\n",
    ",\n",
    " , ",
    "\n , ",
    ", ! c\n",
    ",\n ! it's\n",
    ",,",
    " ; ",
    "\t",
    "\n\n",
    ",\r\n",
]


def group(chance: random.Random) -> str:
    """A group &t: mostly sound, with the layouts and the slips that people make."""
    text = chance.choice(["&t\n", "&t ", "&T\n", "&t ! c\n", "&t\r\n", "&t\n! it's\n"])
    for _ in range(chance.randrange(4)):
        name = chance.choice(list(NAMES))
        text += chance.choice(["", "  "]) + name + chance.choice(["=", " = ", "=\n"])
        for number in range(chance.choice([0, 1, 1, 1, 2, 3, 4])):
            text += chance.choice(SEPARATORS) if number else ""
            text += chance.choice(ODD) if chance.random() < 0.03 else chance.choice(VALUES[NAMES[name]])
        text += chance.choice(["\n", ",\n", " ! c\n", ", ! c\n", " ", ", ", "\n\n", "\n! c\n"])
    return text + chance.choice(["/\n", "/\n", "&end\n", "\n/\n", "$END\n", "/", "\n"])


@pytest.mark.parametrize("seed", range(4))
def test_random_groups_are_read_as_the_runtime_reads_them(runtime, seed):
    chance = random.Random(seed)
    verdicts = runtime.verdicts([group(chance) for _ in range(1500)])
    read_whole = sum(not found["message"] for verdict in verdicts for found in verdict["icon"])
    assert read_whole > 400
    assert [(verdict["text"], what) for verdict in verdicts if (what := disagreement(verdict))] == []


# --- Edits ---


def test_an_edited_file_is_read_back(tmp_path):
    require("gfortran")
    text = "! head\n&parallel_nml\n nproma = 16 ! blocks\n io = 2*'a', 'b' /\n"
    document = read(Source("x", text))
    document = set_value(document, "parallel_nml", "nproma", 32)
    document = set_value(document, "parallel_nml", "io", ["it's", "ü", ""])
    document = set_value(document, "parallel_nml", "flag", [True, False])
    document = set_value(document, "parallel_nml", "dt", 0.1)
    path = tmp_path / "edited"
    path.write_text(document.text)
    declared = {
        "nproma": Declaration("integer"),
        "io": Declaration("character", 8, (3,)),
        "flag": Declaration("logical", shape=(2,)),
        "dt": Declaration("real"),
    }
    assert scalars(read_back(path, {"parallel_nml": declared}, tmp_path), "parallel_nml") == {
        "nproma": 32,
        "io": ["it's", "ü", ""],
        "flag": [True, False],
        "dt": 0.1,
    }
