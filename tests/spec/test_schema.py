"""The schemas that editors check by: right documents pass, wrong ones do not."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest
from jsonschema import Draft7Validator
from rows import rows

from nmlgen.codes import rule_names
from nmlgen.configuration import find_configuration
from nmlgen.errors import SpecError
from nmlgen.files import Files
from nmlgen.namelist.registry import load_registry, releases
from nmlgen.resources import directory, schema
from nmlgen.schedulers.slurm.values import read_value
from nmlgen.source import Source
from nmlgen.spec.document import from_plain, read_text
from nmlgen.spec.lower import READ_AS_SBATCH_DOES
from nmlgen.spec.schema import KINDS, schema_for
from nmlgen.spec.validate import validate

ROOT = Path(__file__).parents[2]
PRESETS = sorted(path for path in directory("presets").glob("icon/*.yaml"))
SITES = sorted(directory("presets").glob("sites/*.yaml"))
SPECS = sorted(path for path in (ROOT / "examples").glob("*.yaml"))

NEWEST = Draft7Validator(schema_for("spec", load_registry(releases()[-1])))
SITE = Draft7Validator(schema_for("site", load_registry(releases()[-1])))
CONFIG = Draft7Validator(schema_for("config", load_registry(releases()[-1])))


def plain(text: str):
    return read_text(Source("spec", text)).plain()


def mistakes(validator: Draft7Validator, document) -> list[str]:
    return [f"{error.json_path}: {error.message[:200]}" for error in validator.iter_errors(document)]


@rows("release", releases())
@rows("kind", KINDS)
def test_schemas_are_schemas(kind, release):
    document = schema_for(kind, load_registry(release))
    Draft7Validator.check_schema(document)
    assert '"expected":' not in json.dumps(document)  # nmlgen's own keyword


def test_what_sbatch_reads_of_a_job_is_read_as_sbatch_does():
    """Its patterns tell an editor; what sbatch makes of a text says one reader, for specs and for scripts."""
    keys = schema("spec")["properties"]["job"]["properties"]
    found = set()
    for key in (key for key, value in keys.items() if value["type"] == "string"):
        try:
            read_value(key.replace("_", "-"), "?!")
        except ValueError:
            found.add(key)
    assert found - {"time", "mem", "mem_per_cpu"} == set(READ_AS_SBATCH_DOES)  # these have units, as a spec has them


@rows("path", [*SPECS, *PRESETS], ids=lambda path: path.name)
def test_specs_and_presets_that_are_right(path):
    text = path.read_text(encoding="utf-8")
    release = plain(text).get("model", {}).get("release", releases()[-1])
    validator = NEWEST if release == releases()[-1] else Draft7Validator(schema_for("spec", load_registry(release)))
    assert mistakes(validator, plain(text)) == []


@rows("path", SITES, ids=lambda path: path.name)
def test_sites_that_are_right(path):
    assert mistakes(SITE, plain(path.read_text(encoding="utf-8"))) == []


RIGHT = [
    "parallel: {NPROMA: 8, num_io_procs: auto}",
    "parallel: {nproma: null}",
    "parallel: null",
    "extends: [icon/jabw, ./mine.yaml]",
    "extends: ../mine.yaml",
    "site: /home/me/site.yaml",
    "namelists: {nwp_phy_nml: {inwp_gscp: 1}}",
    "namelists: {NWP_PHY_NML: {inwp_gscp: 1}}",
    "namelists: {nwp_phy_nml: {inwp_gscp: [1, 2], 'inwp_turb(2)': 1}}",
    "namelists: {io_nml: {'echotop_meta(1)%dbzthresh': 18.0}}",
    "namelists: {nonhydrostatic_nml: {damp_height: 23000}}",
    "namelists: {nonhydrostatic_nml: {damp_height: 2.3e4}}",
    "output: {atm: {ml_varlist: [u, v], filetype: 4, output_interval: PT1H}}",
    "output: {atm: null, rain: {ml_varlist: tot_prec, stream_partitions_ml: auto}}",
    "restart: {restart_write_mode: Joint Procs MultiFile, num_restart_procs: auto}",
    "restart: {restart_write_mode: auto}",
    "output: {atm: {filetype: 3, filename_extn: .grb}}",
    "time: {modelTimeStep: PT2M, calendar: null}",
    "grid: {num_lev: [30, 20]}",
    "models: {atm: {type: atmo, parallel: {nproma: 8}, output: {a: {ml_varlist: [u]}}}, oce: null}",
    "nmlgen: 1",
    "darshan: true",
    "darshan: {DARSHAN_MODMEM: 4}",
    "sweep: {grid: {parallel.num_io_procs: [1, 2]}}",
    "{model: {name: wrf}, namelists: {time_control: {run_days: 5}}}",
    "{model: {name: generic}, namelist_files: {a.nml: {g: {'x(2)': 5}}, b.nml: null}}",
]


@rows("text", RIGHT)
def test_what_is_right(text):
    assert mistakes(NEWEST, plain(text)) == []


WRONG = [
    ("parallel: {num_io_proc: 8}", "num_io_proc"),
    ("parallel: {nproma: sixteen}", "nproma"),
    ("parallel: {nproma: auto}", "nproma"),
    ("parallel: {nproma: [8, 16]}", "nproma"),
    ("parallel: {num_io_procs: -1.5}", "num_io_procs"),
    ("parallel: {n_ghost_rows: 0}", "n_ghost_rows"),
    ("parallel: {num_io_procs: 257}", "num_io_procs"),
    ("paralel: {nproma: 8}", "paralel"),
    ("{model: {name: icon}, namelists: {time_control: {run_days: 5}}}", "time_control"),
    ("models: {atm: {type: atmo, namelists: {time_control: {run_days: 5}}}}", "time_control"),
    ("namelists: {paralel_nml: {nproma: 8}}", "paralel_nml"),
    ("namelists: {output_nml: {filetype: 4}}", "output_nml"),
    ("namelists: {nwp_phy_nml: {inwp_gscpp: 1}}", "inwp_gscpp"),
    ("namelists: {nwp_phy_nml: {'inwp_gscpp(2)': 1}}", "inwp_gscpp(2)"),
    ("namelists: {run_nml: {ltransport: 1}}", "ltransport"),
    ("namelists: {run_nml: {msg_level: '12'}}", "msg_level"),
    ("output: {atm: {ml_varlst: [u]}}", "ml_varlst"),
    ("output: {atm: {filetype: NetCDF}}", "filetype"),
    ("output: {atm: {include_last: 'yes'}}", "include_last"),
    ("output: {atm: {stream_partitions_ml: all}}", "stream_partitions_ml"),
    ("restart: {restart_write_mode: joint}", "restart_write_mode"),
    ("restart: {restart_file_type: NetCDF}", "restart_file_type"),
    ("site: levant", "site"),
    ("extends: icon/jab", "extends"),
    ("extends: [icon/jabw, icon/nothing]", "extends"),
    ("job: {nodes: 0}", "nodes"),
    ("job: {time: 40}", "time"),
    ("models: {atm: {type: atmosphere}}", "type"),
    ("models: {atm: {parallel: {nprom: 8}}}", "nprom"),
    ("models: {atm: {output: {a: {ml_varlists: [u]}}}}", "ml_varlists"),
    ("nmlgen: 2", "nmlgen"),
    ("land: {jsb_nothing_nml: {a: 1}}", "jsb_nothing_nml"),
]


@rows(("text", "name"), WRONG)
def test_what_is_wrong(text, name):
    found = mistakes(NEWEST, plain(text))
    assert found
    assert any(name in one for one in found), found


def test_what_is_gone_says_what_to_write_instead():
    registry = load_registry(releases()[-1])
    document = schema_for("spec", registry)
    gone = {name: removal for name, removal in registry.removed.items() if name.partition(".")[0] in registry.groups}
    seen = 0
    for name, removal in gone.items():
        group, _, variable = name.partition(".")
        part = document["$defs"].get(group, {}).get("properties", {}).get(variable)
        if part is None or not part.get("deprecated"):
            continue
        seen += 1
        assert all(use in part["deprecationMessage"] for use in removal.use)
        assert mistakes(NEWEST, {"namelists": {group: {variable: 1}}}) or group == "output_nml"
        assert mistakes(NEWEST, {"namelists": {group: {variable: None}}}) == []
    assert seen > 20


@pytest.mark.parametrize("release", releases())
def test_every_variable_takes_its_default(release):
    registry = load_registry(release)
    validator = Draft7Validator(schema_for("spec", registry))
    values = {}
    for group in registry.groups:
        if group != "output_nml":
            values[group] = {
                name: variable.default
                for name in registry.variables(group)
                if (variable := registry.variable(group, name)) is not None
                and variable.has_default
                and "%" not in name
                and not isinstance(variable.default, dict)
            }
    assert mistakes(validator, {"namelists": values}) == []


def test_the_project_s_keys_are_those_that_are_read(tmp_path):
    text = (
        'icon-release = "2024.10"\nsite = "levante"\nselect = ["RST", "OUT003", "second-copy", "ALL"]\n'
        '[[ignore]]\nrule = "PAR004"\npath = "run/exp.*"\nreason = "on purpose"\n[profile]\nno_of_nodes = "4"\n'
    )
    (tmp_path / "nmlgen.toml").write_text(text)
    assert find_configuration(tmp_path, rule_names(), Files()).site == "levante"
    right = {
        "icon-release": "2024.10",
        "site": "levante",
        "select": ["RST", "OUT003", "second-copy", "ALL"],
        "ignore": [{"rule": "PAR004", "path": "run/exp.*", "reason": "on purpose"}],
        "profile": {"no_of_nodes": "4"},
        "severity": {"OUT003": "advice"},
        "cache-dir": ".cache",
    }
    assert mistakes(CONFIG, right) == []
    assert set(schema("configuration")["properties"]) == set(right)
    for wrong in (
        {"icon_release": "2024.10"},
        {"icon-release": 2024.1},
        {"site": "levant"},
        {"select": "RST"},
        {"select": ["rst 1"]},
        {"ignore": [{"rule": "PAR004"}]},
        {"ignore": [{"rule": "PAR004", "reason": " "}]},
        {"profile": {"a-b": "1"}},
        {"profile": {"a": 1}},
    ):
        assert mistakes(CONFIG, wrong), wrong


@rows("text", [text for text in RIGHT if "NPROMA" not in text])
def test_what_nmlgen_takes_as_a_document_the_schema_takes_too(text):
    node = read_text(Source("spec", text))
    validate(node, "spec")
    assert mistakes(NEWEST, node.plain()) == []


@pytest.mark.parametrize("key", ["pool", "directory"])
def test_what_many_paths_begin_with_is_no_longer_than_a_path(key):
    for length, is_wrong in ((4095, False), (4096, True)):
        document = {"model": {key: "d" * length}}
        assert bool(mistakes(NEWEST, document)) is is_wrong
        with pytest.raises(SpecError) if is_wrong else nullcontext():
            validate(from_plain(document), "spec")


@pytest.mark.parametrize("text", ["machine: {scheduler: slurmm}", "description: x", "machine: {cores: 4}"])
def test_sites_that_are_wrong(text):
    assert mistakes(SITE, plain(text))
    with pytest.raises(SpecError):
        validate(read_text(Source("site", text)), "site")


def test_check_jsonschema_finds_it_so(tmp_path):
    pytest.importorskip("check_jsonschema")
    schema_file = tmp_path / "schema.json"
    schema_file.write_text(json.dumps(NEWEST.schema))
    right, wrong = tmp_path / "right.yaml", tmp_path / "wrong.yaml"
    right.write_text("extends: icon/jabw\nsite: levante\nparallel: {num_io_procs: auto}\n")
    wrong.write_text("extends: icon/jabw\nsite: levante\nparallel: {num_io_proc: 4}\n")
    command = [sys.executable, "-m", "check_jsonschema", "--schemafile", str(schema_file)]
    done = subprocess.run([*command, str(right), *map(str, SPECS)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    done = subprocess.run([*command, str(wrong)], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "num_io_proc" in done.stdout
