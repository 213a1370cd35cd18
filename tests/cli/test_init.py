"""nmlgen init and nmlgen schema."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator
from ruamel.yaml import YAML
from specs import TEXT

from nmlgen import load_spec
from nmlgen.spec import presets

ICON = [name for name in presets.names() if name.startswith("icon/")]
SITES = [name.removeprefix("sites/") for name in presets.names() if name.startswith("sites/")]
PBS = ("dwd", "hlrs")


@pytest.mark.parametrize("site", SITES)
@pytest.mark.parametrize("preset", ICON)
def test_first_spec_builds(nmlgen, here, preset, site):
    done = nmlgen("init", "--preset", preset, "--site", site, "--account", "bb1234", "-o", "new.yaml")
    assert (done.code, done.out) == (0, "wrote new.yaml\nnext: nmlgen check new.yaml\n")
    done = nmlgen("build", "new.yaml", "-o", "run")
    if site in PBS:
        assert (done.code, done.err.count("has PBS")) == (2, 1)
        done = nmlgen("check", "new.yaml")
    assert done.code == 0, done.err
    assert "error[" not in done.err


def test_to_stdout(nmlgen, here):
    done = nmlgen("init", "-o", "-")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("nmlgen: 1\n")
    assert sorted(path.name for path in here.iterdir()) == ["bad.yaml", "spec.yaml", "warned.yaml", "wrong.yaml"]


def test_force(nmlgen, here):
    assert nmlgen("init", "-o", "spec.yaml").code == 2
    assert (here / "spec.yaml").read_text() == TEXT
    assert nmlgen("init", "-o", "spec.yaml", "--force").code == 0
    assert (here / "spec.yaml").read_text() != TEXT


@pytest.mark.parametrize(
    "word",
    ["1e5", "123", "true", "null", "-", "a: b", "a # b", "'", '"', "0x10", "[a", "ünï", "*", "&", "!", "1.5", " a"],
)
def test_words_come_back(nmlgen, here, word):
    options = ["--account", word, "--directory", word, "--grid", word]
    text = nmlgen("init", "--site", "levante", *options, "-o", "-").out
    document = YAML(typ="safe", pure=True).load(text)
    assert document["job"]["account"] == word
    assert document["model"]["directory"] == word
    assert document["grid"]["file"] == word
    (here / "new.yaml").write_text(text)
    assert load_spec(here / "new.yaml").find("job.account").value == word


def test_whole_preset_is_left_alone(nmlgen):
    text = nmlgen("init", "--preset", "icon/held_suarez", "--site", "levante", "-o", "-").out
    assert sorted(YAML(typ="safe", pure=True).load(text)) == sorted(
        ["nmlgen", "name", "extends", "site", "model", "time", "job"]
    )
    assert '  release: "2024.10"\n' in text
    assert "pool:" not in text
    text = nmlgen("init", "--preset", "icon/held_suarez", "--grid", "icon_grid_0013_R02B05_G.nc", "-o", "-").out
    assert "  name: R2B5\n  num_lev: 47\n" in text


def test_pool_is_asked_for_where_the_site_has_none(nmlgen):
    assert "\n  pool: pool " in nmlgen("init", "--preset", "icon/held_suarez", "-o", "-").out
    assert "pool:" not in nmlgen("init", "--preset", "icon/jabw", "-o", "-").out


def test_nodes_of_the_preset(nmlgen):
    assert "\n  nodes: 3\n" in nmlgen("init", "--preset", "icon/scm", "--nodes", "3", "-o", "-").out
    assert "\n  nodes: 1\n" in nmlgen("init", "--preset", "icon/scm", "-o", "-").out


def test_grid_name_follows_the_file(nmlgen):
    text = nmlgen("init", "--grid", "icon_grid_0013_R02B04_G.nc", "-o", "-").out
    assert "  name: R2B4\n" in text
    assert "\n  name: R" not in nmlgen("init", "--grid", "my_grid.nc", "-o", "-").out


# --- schema ----------------------------------------------------------------------------------------------


def test_schema_takes_good_specs(nmlgen):
    schema = json.loads(nmlgen("schema").out)
    Draft202012Validator.check_schema(schema)
    good = YAML(typ="safe", pure=True).load(TEXT.replace("T00:00:00Z", "T00:00:00Z'").replace(" 2008", " '2008"))
    assert list(Draft202012Validator(schema).iter_errors(good)) == []


def test_schema_completes_variables(nmlgen):
    properties = json.loads(nmlgen("schema").out)["properties"]
    assert properties["parallel"]["properties"]["num_io_procs"]["type"] == ["integer", "string"]  # a number, or auto
    assert "output_interval" in properties["output"]["additionalProperties"]["properties"]
    assert "ltestcase" in properties["namelists"]["properties"]["run_nml"]["properties"]
    assert "output_nml" not in properties["namelists"]["properties"]


@pytest.mark.parametrize("release", ["2024.01", "2024.07", "2024.10"])
def test_schema_of_each_release(nmlgen, release):
    Draft202012Validator.check_schema(json.loads(nmlgen("schema", "--icon-release", release).out))
