"""What ICON's own experiments say, written as namelists that the tests hold the presets against; or runs of presets.

    python benchmarks/presets.py ICON [PRESET ...]
    python benchmarks/presets.py ICON --run BINARY GRIDS [PRESET ...]

ICON is a directory with the sources of the release that `tests/presets/originals/originals.yaml` names. The script of
each original is put together as make_runscripts does it, header, experiment and launch, with the values that the
header and the environment give; then it is imported, without being run, and built. Only what the model is told is kept:
the master namelist and the models', in the order and spelling of nmlgen. Output streams get the file names of the
preset's, so that `nmlgen diff` knows which belong together.

With --run those presets that need no data of a pool are built, small and short, and run in the model, BINARY, by the
build's own script; `nmlgen verify` tells whether all was written that nmlgen promised. GRIDS is a directory with grids
as icon-grid-generator of PyPI makes them: `R2B2.nc`, and `T20x4.nc`, a torus of 20 by 4 with edges of 5000 m. With the
cells of R2B2 are besides `extpar_R2B2.nc` (`z`, the depth of the sea in metres, with the uuidOfHGrid of R2B2) and
`bc_ozone.nc` (`O3(time, plev, cell)`, mole fractions). Ends with 1 if a run fails, or did not write what was promised.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nmlgen
from nmlgen.render.build import make_build
from nmlgen.source import Source
from nmlgen.spec import presets
from nmlgen.spec.document import read_text

ORIGINALS = Path(__file__).parents[1] / "tests" / "presets" / "originals"
_HEADER = {
    "basedir": "ICON",
    "icon_data_rootFolder": "POOL",
    "nproma": 32,
    "nproma_sub": 32,
    "nblocks_c": 0,
    "proc0_shift": 0,
    "num_io_procs": 1,
    "radiation_ecrad_isolver": 0,
    "no_of_nodes": 4,
    "mpi_procs_pernode": 128,
    "mpi_total_procs": 512,
    "use_prefetch_procs": 1,
}
"""What run/create_target_header of ICON sets before an experiment on Levante, for four nodes."""

_NOT_THE_MODEL = ("job", "mpi", "environment", "shell", "launch", "modules", "input_files")
_OF_THE_MECHANISM = ("jsb_control_nml", "jsb_model_nml", "time_nml")


_SMALL: dict[str, dict[str, Any]] = {
    "icon/jabw": {
        "model": {"release": "2024.10"},
        "grid": {"file": "R2B2.nc", "name": "R2B2", "num_lev": 20},
        "time": {"stop": "2000-01-01T02:00:00Z", "modelTimeStep": "PT10M"},
        "restart": {"checkpointTimeIntval": "PT1H", "restartTimeIntval": "PT2H"},
        "parallel": {"nproma": 32},
    },
    "icon/held_suarez": {
        "grid": {"file": "R2B2.nc", "name": "R2B2"},
        "time": {"stop": "0001-01-01T04:00:00Z"},
        "restart": {"checkpointTimeIntval": "PT2H", "restartTimeIntval": "PT4H"},
    },
    "icon/bubble": {
        "grid": {"file": "T20x4.nc"},
        "time": {"stop": "2008-08-01T00:04:00Z"},
        "restart": {"checkpointTimeIntval": "PT2M", "restartTimeIntval": "PT4M"},
    },
    "icon/aquaplanet": {
        "grid": {"file": "R2B2.nc", "name": "R2B2"},
        "time": {"stop": "1979-01-01T00:16:00Z"},
        "restart": {"checkpointTimeIntval": "PT8M", "restartTimeIntval": "PT16M"},
        "job": {"ntasks_per_node": 5},
        "input_files": {"bc_ozone.nc": {"source": "bc_ozone.nc"}},
    },
    "icon/waves": {
        "time": {"stop": "1979-01-01T06:00:00Z"},
        "restart": {"checkpointTimeIntval": "PT3H", "restartTimeIntval": "PT6H"},
        "models": {
            "wave": {
                "grid": {"file": "R2B2.nc"},
                "parallel": {"num_dist_array_replicas": 1},
                "input_files": {"extpar_ocean_icon_waves_grid_0024_R02B06_G_DOM01.nc": {"source": "extpar_R2B2.nc"}},
            }
        },
    },
}
"""What makes presets small and short: files are those of GRIDS."""


def run(icon: Path, binary: Path, grids: Path, preset: str, home: Path) -> bool:
    """Whether a preset, small and short, ran in the model and wrote what nmlgen promised."""
    label = preset.rpartition("/")[2]
    small = json.loads(json.dumps(_SMALL[preset]))
    for settings in (small, *small.get("models", {}).values()):
        if "grid" in settings:
            settings["grid"]["file"] = _there(grids / settings["grid"]["file"])
        for file in settings.get("input_files", {}).values():
            file["source"] = _there(grids / file["source"])
    small["model"] = {**small.get("model", {}), "executable": str(binary), "directory": str(icon)}
    small["job"] = {"ntasks_per_node": 3, **small.get("job", {})}
    nmlgen.build({"nmlgen": 1, "name": label, "extends": preset, "site": "local", **small}).write(home / label)
    code = subprocess.run(["bash", f"{label}.sbatch"], cwd=home / label, capture_output=True, check=False).returncode
    found = nmlgen.verify(home / label)
    said = [f"{problem.file}: {problem.message}" for problem in found.problems] + list(found.remarks)
    print(f"{preset}: exit code {code}, {found.files} of {found.promised} files, {found.records} records,", end=" ")
    print(", ".join(found.checkpoints) or "no checkpoint", *said, sep="\n  ", flush=True)
    return code == 0 and bool(found.checkpoints) and not found.problems


def _there(path: Path) -> str:
    """The path of a file. Raises FileNotFoundError if there is none."""
    path.stat()
    return str(path)


def script(icon: Path, original: str, about: dict[str, Any]) -> str:
    """The text of a whole run script of ICON, or of the experiment alone where the launch does not know the model."""
    name = re.sub(r"^(nwpexp|clmexp|exp)\.|\.run$", "", Path(original).name)
    values = {"EXPNAME": name, **_HEADER, **about.get("define", {})}
    header = ["#!/bin/bash", "#SBATCH --nodes=4", "#SBATCH --ntasks-per-node=128"]
    header += [f"{key}={value}" for key, value in values.items()]
    parts = ["\n".join(header) + "\n", (icon / original).read_text(encoding="utf-8")]
    if Path(original).name.startswith("exp.") and not about.get("alone", False):
        parts.append((icon / "run" / "exec.iconrun").read_text(encoding="utf-8"))
    return "".join(parts)


def namelists(icon: Path, preset: str, about: dict[str, Any]) -> dict[str, bytes]:
    """The namelists of a preset's original by file name."""
    original = original_of(preset)
    label = preset.rpartition("/")[2]
    with tempfile.TemporaryDirectory() as directory:
        run = Path(directory) / f"{label}.run"
        run.write_text(script(icon, original, about), encoding="utf-8")
        imported = nmlgen.import_spec(run, site="generic-slurm", icon_release=about["release"])
        keys = read_text(Source("", imported.text)).plain()
        keys = _told_to_the_model(keys, label, about)
        spec = Path(directory) / "spec.yaml"
        spec.write_text(json.dumps(keys), encoding="utf-8")
        files = make_build(nmlgen.load_spec(spec), ()).files
    return {
        name: b"".join(line for line in data.splitlines(keepends=True) if not line.startswith(b"!"))
        for name, data in files.items()
        if "NAMELIST" in name or name == "icon_master.namelist"
    }


def original_of(preset: str) -> str:
    """The path of a preset's original in the sources of the model."""
    about: dict[str, str] = read_text(Source(preset, presets.text(preset))).plain()["about"]
    return about["original"]


def _told_to_the_model(keys: dict[str, Any], label: str, about: dict[str, Any]) -> dict[str, Any]:
    """The spec with what the model is told, and under the names of the preset."""
    keys = {key: value for key, value in keys.items() if key not in _NOT_THE_MODEL} | {"name": label}
    for path, value in about.get("values", {}).items():
        *sections, name = path.split(".")
        section = keys
        for key in sections:
            section = section.setdefault(key, {})
        section[name] = value
    groups = keys.get("namelists", {})
    for group in _OF_THE_MECHANISM:
        groups.pop(group, None)
    groups.get("master_nml", {}).clear()
    kind = groups.pop("master_model_nml", {}).get("model_type", 1)
    if (model := about.get("model")) is not None:
        names = {"model_name": model, "model_namelist_filename": f"NAMELIST_{label}_{model}"}
        groups["master_model_nml"] = {"model_type": kind, **names}
    for name, model in keys.get("models", {}).items():
        model["namelists"].pop("master_model_nml", None)
        its = {key: about.get(key, {}).get(name, {}) for key in ("streams", "left_out")}
        model["output"] = dict(_streams(model.get("output", {}), label, {**its, "model": name}))
    if "models" not in keys:
        keys["output"] = dict(_streams(keys.get("output", {}), label, about))
    return keys


def _streams(streams: dict[str, Any], label: str, about: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The streams that the preset has, too, under its names; every other one must be known as left out."""
    wanted, left_out = about.get("streams", {}), about.get("left_out", {})
    for name, stream in streams.items():
        known = [key for key in (*wanted, *left_out) if name == key or name.endswith(f"_{key}")]
        if not known:
            sys.exit(f"{label}: which stream of the preset is {name}?")
        key = max(known, key=len)
        if key in wanted:
            stream.pop("filename_format", None)
            own = "_".join([about["model"], wanted[key]] if "model" in about else [wanted[key]])
            yield wanted[key], {**stream, "output_filename": f"output/{label}_{own}"}


def main() -> None:
    """Write the originals of the presets, or run presets."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("icon", type=Path)
    parser.add_argument("presets", nargs="*", default=[], metavar="preset")
    parser.add_argument("--run", nargs=2, type=Path, metavar=("BINARY", "GRIDS"))
    arguments = parser.parse_intermixed_args()  # presets may stand behind --run
    originals = read_text(Source("", (ORIGINALS / "originals.yaml").read_text(encoding="utf-8"))).plain()["presets"]
    known = _SMALL if arguments.run else originals
    if unknown := set(arguments.presets) - set(known):
        parser.error(f"{', '.join(sorted(unknown))}: none of {', '.join(known)}")
    try:
        icon = arguments.icon.resolve(strict=True)
        if arguments.run:
            binary, grids = (path.resolve(strict=True) for path in arguments.run)
            with tempfile.TemporaryDirectory() as home:
                ran = [run(icon, binary, grids, one, Path(home)) for one in arguments.presets or known]
                sys.exit(not all(ran))
        for preset in arguments.presets or known:
            home = ORIGINALS / preset.rpartition("/")[2]
            home.mkdir(exist_ok=True)
            for name, data in namelists(icon, preset, originals[preset]).items():
                (home / name).write_bytes(data)
            print(f"{preset}: {original_of(preset)}")
    except OSError as error:
        parser.exit(2, f"{error.filename}: {error.strerror}\n")


if __name__ == "__main__":
    main()
