"""What a real ICON 2025.04 did, against what nmlgen says of that release.

`icon-2025.04.jsonl` holds cases around what is new in it, as `icon-2024.10.jsonl` does: the base pairs of an atmosphere
and of waves in its first line, then each case as the lines that differ, with the verdict of 2025.04 and, `before`, that
of 2024.10. `icon-2025.04-again.jsonl` has the verdicts of 2025.04 on the cases of 2024.10, by their names: what
`disagreements.txt` says of these holds for both releases. A third of them is judged here, all of them by
`benchmarks/verdicts_again.py`.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from grid_files import header
from rows import rows

import nmlgen

HERE = Path(__file__).parent
SITE = str(HERE / "site.yaml")
BUILD = {
    "n25-gribout-modcomp": "depends on the build: its version of ecCodes",
    "n25-gribout-modcomp-nocomp": "depends on the build: its version of ecCodes",
    "n25-wave-for_init-nofile": "needs the checkpoint",
    "n25-model_do_restart-yes-nofile": "needs the checkpoint",
    "n25-lrestart-true-nofile": "needs the checkpoint",
    "n25-nwp-ltmpcor": "a crash of this build: memory that is freed twice",
    "n25-nwp-dissip-ltmpcor": "a crash of this build: memory that is freed twice",
    "n25-wave-nfreqs-4": "a crash of this build: memory beyond an array, which 2024.10 survived",
}
"""What ICON rejects and no namelist tells."""
BEFORE = {
    "n25-lrestart-true-nofile": "needs the checkpoint",
    "n25-nwp-ltmpcor": "a crash of this build: memory that is freed twice",
    "n25-nwp-aeroice-2-rad1": "needs the file rrtmg_lw.nc",
    "n25-nwp-aeroice-1-gscp3": "needs the file rrtmg_lw.nc",
    "n25-filetype-999": "depends on the build: the coupler",
    "n25-filetype-999-async": "depends on the build: the coupler",
}
"""What 2024.10 rejected and no namelist tells."""
NOT_BUILT = {"n25-coupled_to_cleo": "a group that is read with the coupler only: this build has none"}
"""What 2024.10 took, for it did not look."""


def lines(name: str) -> list[dict]:
    return [json.loads(line) for line in (HERE / name).read_text(encoding="utf-8").splitlines()]


def changed(base: str, operations: list) -> str:
    text = base.splitlines(keepends=True)
    for start, stop, new in reversed(operations):
        text[start:stop] = [new]
    return "".join(text)


@cache
def new_cases() -> dict[str, dict]:
    first, *rest = lines("icon-2025.04.jsonl")
    return {"": first["base"]} | {case["id"]: case for case in rest}


def written(name: str, directory: Path) -> Path:
    base, case = new_cases()[""], new_cases()[name]
    is_waves = "waves" in case
    master, model = ("waves_master", "waves") if is_waves else ("master", "atmosphere")
    (directory / "icon_master.namelist").write_text(changed(base[master], case.get(master, [])))
    file = "NAMELIST_wave" if is_waves else "NAMELIST_atm"
    (directory / file).write_text(changed(base[model], case.get(model, [])))
    return directory


def is_refused(name: str, directory: Path, release: str) -> bool:
    case = new_cases()[name]
    return bool(nmlgen.lint([written(name, directory)], ntasks=case["ntasks"], icon_release=release, site=SITE).errors)


@rows("name", [name for name in new_cases() if name])
def test_what_is_new(name, tmp_path):
    rejected = new_cases()[name]["verdict"] == "rejected"
    assert is_refused(name, tmp_path, "2025.04") == (rejected and name not in BUILD)


@rows("name", [name for name in new_cases() if name])
def test_what_was_before(name, tmp_path):
    rejected = new_cases()[name]["before"] == "rejected"
    assert is_refused(name, tmp_path, "2024.10") == ((rejected and name not in BEFORE) or name in NOT_BUILT)


@cache
def old_cases() -> dict[str, dict]:
    """The cases of 2024.10, with the verdicts of 2025.04."""
    first, *rest = [*lines("icon-2024.10.jsonl"), *lines("icon-2024.10-more.jsonl")]
    verdicts = {case["id"]: case["verdict"] for case in lines("icon-2025.04-again.jsonl")}
    cases = {case["id"]: case | {"verdict": verdicts[case["id"]]} for case in rest}
    assert set(cases) == set(verdicts)
    return {"": first["base"]} | cases


@cache
def disagreements() -> set[str]:
    text = (HERE / "disagreements.txt").read_text(encoding="utf-8")
    return {line.split()[0] for line in text.splitlines() if line and not line.startswith("#")}


def known_cases() -> list[str]:
    """The cases of 2024.10 of which 2025.04 has a verdict."""
    return [name for name, case in old_cases().items() if name and case["verdict"] != "unknown"]


def is_as_it_was(name: str, directory: Path) -> bool:
    """Whether nmlgen and 2025.04 agree on a case, or differ where `disagreements.txt` says so."""
    base, case = old_cases()[""], old_cases()[name]
    for key, file in {"master": "icon_master.namelist", "atmosphere": "NAMELIST_atm"}.items():
        text = changed(base[key], case.get(key, []))
        (directory / file).write_bytes(text.encode("utf-8", "surrogateescape"))
    (directory / "grid.nc").write_bytes(header({"cell": 1280}, {"grid_root": 2, "grid_level": 2, "grid_geometry": 1}))
    errors = nmlgen.lint([directory], ntasks=case["ntasks"], icon_release="2025.04", site=SITE).errors
    return (bool(errors) == (case["verdict"] == "rejected")) != (name in disagreements())


@rows("name", known_cases()[::3], parts=2)
def test_what_is_as_it_was(name, tmp_path):
    assert is_as_it_was(name, tmp_path)
