"""nmlgen init and nmlgen schema."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import termios

import pytest
from jsonschema import Draft202012Validator
from rows import rows
from ruamel.yaml import YAML
from specs import TEXT

from nmlgen import InputError, build, check, load_spec
from nmlgen.cli import init
from nmlgen.spec import presets
from nmlgen.starter import starter_spec
from nmlgen.units.wall_time import parse_wall_time

ICON = [name for name in presets.names() if name.startswith("icon/")]
SITES = [name.removeprefix("sites/") for name in presets.names() if name.startswith("sites/")]
NQSV = ("dwd",)


@rows(
    ("preset", "site"),
    [
        (preset, site)
        for n, preset in enumerate(ICON)
        for m, site in enumerate(SITES)
        if site == "levante" or (n + m) % 7 == 0
    ],
    parts=4,
)
def test_first_spec_builds(tmp_path, preset, site):
    """Each preset on Levante and some on each other site; `benchmarks/first_specs.py` tries all."""
    assert surprising(preset, site, tmp_path / "new.yaml") == set()


def surprising(preset, site, path):
    """The codes of what is found in the first spec of a preset on a site, but for what is known."""
    path.write_text(starter_spec(preset, site, None, "bb1234", None, ".", None))
    spec = load_spec(path)
    if site in NQSV:
        with pytest.raises(InputError, match="has NQSV"):
            build(spec)
    found = {one.code for one in (check if site in NQSV else build)(spec).findings}
    # The layout of a whole preset is for Levante: elsewhere the advisor may know a better one.
    is_whole = "num_io_procs" not in path.read_text()
    return found - ({"OUT032"} if is_whole and site != "levante" else set())


@pytest.mark.parametrize(
    ("preset", "site"), [*((name, "levante") for name in ICON), *(("icon/jabw", one) for one in SITES)]
)
def test_first_spec_is_written(nmlgen, here, preset, site):
    done = nmlgen("init", "--preset", preset, "--site", site, "--account", "bb1234", "-o", "new.yaml")
    assert (done.code, done.out) == (0, "wrote new.yaml\nnext: nmlgen check new.yaml\n")
    assert (here / "new.yaml").read_text() == starter_spec(preset, site, None, "bb1234", None, ".", None)
    done = nmlgen("build", "new.yaml", "-o", "run")
    if site in NQSV:
        assert (done.code, done.err.count("has NQSV")) == (2, 1)
    else:
        assert done.code == 0, done.err


def test_account_is_named_where_the_site_wants_one(nmlgen, here):
    done = nmlgen("init", "--site", "levante", "-o", "new.yaml")
    assert (done.code, done.out) == (2, "")
    assert done.err == "nmlgen: error: --account is missing: levante refuses jobs that name no project\n"
    assert not (here / "new.yaml").exists()


def test_first_job_is_short_where_no_limits_are_known(nmlgen, here):
    assert nmlgen("init", "--site", "generic-slurm", "-o", "new.yaml").code == 0
    assert parse_wall_time(load_spec(here / "new.yaml").find("job.time").value) <= 8 * 3600


def test_stripes_where_there_is_lustre(nmlgen, here):
    assert nmlgen("init", "--site", "levante", "--account", "bb1234", "-o", "new.yaml").code == 0
    assert nmlgen("build", "new.yaml", "-o", "run").code == 0
    script = (here / "run" / "jabw.sbatch").read_text()
    stripes = re.findall(r"^stripe \S+ \S+", script, re.M)
    assert stripes == ["stripe output --stripe-count=1", "stripe . --stripe-count=1"]
    assert "lustre" not in nmlgen("init", "--site", "generic-slurm", "-o", "-").out


@pytest.mark.parametrize(
    ("options", "said", "is_noted"),
    [
        ([], None, True),
        (["--darshan", "none"], None, False),
        (["--darshan", "/sw/lib/libdarshan.so"], {"library": "/sw/lib/libdarshan.so"}, False),
    ],
)
def test_darshan_of_a_site_that_does_not_say(nmlgen, here, options, said, is_noted):
    done = nmlgen("init", "--site", "levante", "--account", "bb1234", *options, "-o", "new.yaml")
    assert done.code == 0
    assert ("--darshan PATH" in done.err) == is_noted
    assert YAML(typ="safe", pure=True).load(here / "new.yaml").get("darshan") == said
    assert nmlgen("build", "new.yaml", "-o", "run").code == 0
    assert ("/sw/lib/libdarshan.so" in (here / "run" / "jabw.sbatch").read_text()) == (said is not None)


def test_darshan_that_the_shell_finds(nmlgen, here, monkeypatch):
    for name in ("bin/darshan-config", "lib/libdarshan.so"):
        (here / name).parent.mkdir()
        (here / name).touch(mode=0o755)
    monkeypatch.setenv("PATH", str(here / "bin"))
    done = nmlgen("init", "--site", "levante", "--account", "bb1234", "-o", "new.yaml")
    assert (done.code, done.err) == (0, "")
    assert load_spec(here / "new.yaml").find("darshan.library").value == str(here / "lib" / "libdarshan.so")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--site", "levant"], 'there is no site "levant"; did you mean "levante"?'),
        (["--preset", "icon/jaww"], 'there is no preset "icon/jaww"; did you mean "icon/jabw"?'),
        (["--preset", "sites/lise"], "sites/lise is a site, not a preset: --site lise"),
    ],
)
def test_names_that_do_not_exist(nmlgen, here, options, message):
    done = nmlgen("init", *options, "-o", "new.yaml")
    assert (done.code, done.err) == (2, f"nmlgen: error: {message}\n")


def interview(directory, answers, *options):
    """`nmlgen init` on a terminal where somebody types: exit code and what the terminal shows."""
    ours, theirs = pty.openpty()
    attributes = termios.tcgetattr(theirs)
    attributes[3] &= ~termios.ECHO
    termios.tcsetattr(theirs, termios.TCSANOW, attributes)
    command = [sys.executable, "-m", "nmlgen", "init", *options]
    environment = {name: value for name, value in os.environ.items() if name != "PATH"}
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, cwd=directory, env=environment
    ) as running:
        os.close(theirs)
        os.write(ours, answers.encode())
        shown = b""
        try:
            while part := os.read(ours, 65536):
                shown += part
        except OSError:  # so Linux says that the other end is closed
            pass
    os.close(ours)
    return running.returncode, shown.decode().replace("\r\n", "\n")


def test_interview(tmp_path):
    answers = "icon/jaww\nicon/scm\nlevante\nbb1234\n/work/bb1234/icon\n/sw/libdarshan.so\n"
    code, shown = interview(tmp_path, answers, "--nodes", "3")
    assert code == 0, shown
    assert 'there is no preset "icon/jaww"; did you mean "icon/jabw"?' in shown
    assert shown.endswith("wrote spec.yaml\nnext: nmlgen check spec.yaml\n")
    spec = load_spec(tmp_path / "spec.yaml")
    asked = ["extends", "site", "job.account", "model.directory", "darshan.library", "job.nodes"]
    expected = ["icon/scm", "levante", "bb1234", "/work/bb1234/icon", "/sw/libdarshan.so", 3]
    assert [spec.find(name).value for name in asked] == expected


def test_interview_is_as_long_as_it_must_be(tmp_path):
    code, shown = interview(tmp_path, "", "--preset", "icon/scm", "--site", "generic-slurm", "--directory", ".")
    assert (code, shown) == (0, "wrote spec.yaml\nnext: nmlgen check spec.yaml\n")
    (tmp_path / "spec.yaml").unlink()
    assert interview(tmp_path, "", "--yes") == (code, shown)


def test_interview_broken_off(tmp_path):
    assert interview(tmp_path, "\x04")[0] == 130
    assert list(tmp_path.iterdir()) == []


def test_a_group_that_nobody_knows(monkeypatch):
    """As in a container: its number stands for it."""
    monkeypatch.setattr(init, "getgid", lambda: 2**31 - 7)
    assert init._own_group() == str(2**31 - 7)


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
    text = nmlgen("init", "--preset", "icon/held_suarez", "--site", "horeka", "-o", "-").out
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
    good = YAML(typ="safe", pure=True).load(TEXT.replace("T00:00:00Z", "T00:00:00Z'").replace(" 2008", " '2008"))
    assert list(Draft202012Validator(schema).iter_errors(good)) == []


def test_schema_completes_variables(nmlgen):
    document = json.loads(nmlgen("schema").out)
    properties = document["properties"]
    choices = properties["parallel"]["properties"]["num_io_procs"]["anyOf"]
    assert {"type": "integer", "maximum": 256} in choices
    assert {"const": "auto"} in choices
    assert "output_interval" in properties["output"]["additionalProperties"]["properties"]
    groups = document["$defs"]["namelists"]["properties"]
    assert document["then"]["properties"]["namelists"] == {"$ref": "#/$defs/namelists"}
    assert groups["run_nml"] == {"$ref": "#/$defs/run_nml"}
    assert "ltestcase" in document["$defs"]["run_nml"]["properties"]
    assert "output_nml" not in groups


def test_schema_of_each_release(nmlgen):
    """A variable that is described as in a release before is valid as it was there."""
    known: set[str] = set()
    for release in ("2024.01", "2024.07", "2024.10"):
        document = json.loads(nmlgen("schema", "--icon-release", release).out)
        for group in document["$defs"].values():
            variables = group.get("properties", {})
            described = {name: json.dumps(one) for name, one in variables.items()}
            variables.update(dict.fromkeys((name for name, text in described.items() if text in known), True))
            known.update(described.values())
        Draft202012Validator.check_schema(document)
