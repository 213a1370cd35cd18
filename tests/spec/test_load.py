"""Layers: who overrides whom, and what is said when something is missing or set twice."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from rows import rows
from specs import MAPPING, TEXT, changed, load, refused

import nmlgen
from nmlgen import InputError, Spec, check, load_spec
from nmlgen.checking import check_experiment
from nmlgen.errors import SpecError

SITE = """\
description: one of our own
machine: {scheduler: slurm, file_system: lustre, mpi: {openmpi: {version: "5.0", environment: {A: site}}}}
defaults:
  job: {partition: of_site, nodes: 7}
  mpi: {implementation: openmpi}
  launch: {command: srun, options: [--label]}
"""


@pytest.fixture
def home(tmp_path, monkeypatch) -> Path:
    """A directory with a spec, a preset and a site, which is not the working directory."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "site.yaml").write_text(SITE)
    (home / "preset.yaml").write_text(
        "extends: icon/jabw\njob: {partition: of_preset, nodes: 3, qos: of_preset}\n"
        "namelists: {run_nml: {msg_level: 1, iforcing: 9}, parallel_nml: {nproma: 3}}\n"
    )
    spec = TEXT.replace("icon/jabw", "./preset.yaml").replace("generic-slurm", "./site.yaml")
    (home / "spec.yaml").write_text(spec)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    return home


def layers(spec: Spec, name: str) -> list[tuple[str, object]]:
    return [(origin.layer, origin.value) for origin in spec.chain(name)]


# --- Order -----------------------------------------------------------------------------------------------


def test_presets_then_site_then_spec_then_overrides(home):
    spec = load_spec(home / "spec.yaml", ["job.nodes=5"])
    assert layers(spec, "job.nodes") == [
        ("--set", 5),
        ("spec", 2),
        ("site ./site.yaml", 7),
        ("preset ./preset.yaml", 3),
    ]
    assert layers(spec, "job.partition")[0] == ("site ./site.yaml", "of_site")
    assert layers(spec, "job.qos") == [("preset ./preset.yaml", "of_preset")]
    assert layers(spec, "job.requeue") == [("nmlgen", False)]


def test_a_preset_lies_over_what_it_extends(home):
    spec = load_spec(home / "spec.yaml")
    default = ("default of ICON 2024.10", 10)
    assert layers(spec, "run_nml.msg_level") == [("preset ./preset.yaml", 1), ("preset icon/jabw", 10), default]
    assert layers(spec, "run_nml.iforcing")[:2] == [("preset ./preset.yaml", 9), ("preset icon/jabw", 0)]


def test_later_overrides_win():
    assert load_spec(MAPPING, ["job.nodes=3", "job.nodes=4"]).find("job.nodes").value == 4


def test_a_list_of_presets_goes_from_general_to_special(home):
    (home / "a.yaml").write_text("job: {qos: a, comment: a}\n")
    (home / "b.yaml").write_text("job: {qos: b}\n")
    spec = load_spec(home / "spec.yaml", ["extends=[icon/jabw, ./a.yaml, ./b.yaml]"])
    assert layers(spec, "job.qos") == [("preset ./b.yaml", "b"), ("preset ./a.yaml", "a")]
    assert spec.find("job.comment").value == "a"
    labels = [document.label for document in spec.documents]
    assert labels == ["spec", "preset icon/jabw", "preset ./a.yaml", "preset ./b.yaml", "site ./site.yaml"]


def test_lists_replace_lists():
    spec = load(output={"atm": {"ml_varlist": ["u"]}})
    assert spec.experiment.components[0].streams[0].settings["ml_varlist"].value == ["u"]
    spec = load_spec(MAPPING, ["output.atm.ml_varlist=[rho, v]"])
    assert spec.experiment.components[0].streams[0].settings["ml_varlist"].value == ["rho", "v"]


def test_a_preset_may_come_from_another_directory(home):
    (home / "presets").mkdir()
    (home / "presets" / "outer.yaml").write_text("extends: ./inner.yaml\n")
    (home / "presets" / "inner.yaml").write_text("extends: icon/jabw\njob: {qos: inner}\n")
    spec = load_spec(home / "spec.yaml", ["extends=./presets/outer.yaml"])
    assert spec.find("job.qos").value == "inner"


def test_the_same_preset_twice_is_no_cycle(home):
    (home / "a.yaml").write_text("extends: icon/jabw\n")
    (home / "b.yaml").write_text("extends: icon/jabw\n")
    assert load_spec(home / "spec.yaml", ["extends=[./a.yaml, ./b.yaml]"]).experiment.name == "wave"


@pytest.mark.parametrize(("count", "codes"), [(50, []), (51, ["SPC006"])])
def test_there_are_so_many_presets(home, count, codes):
    (home / "a.yaml").write_text("namelists: {run_nml: {msg_level: 5}}\n")
    overrides = ["extends=[" + ", ".join(["./a.yaml"] * count) + "]"]
    if codes:
        assert [finding.code for finding in refused(home / "spec.yaml", overrides)] == codes
    else:
        load_spec(home / "spec.yaml", overrides)


def test_values_and_keys_of_all_presets_are_counted_together(home):
    """Those of the first 24 are few enough."""
    variables = ", ".join(f"x{number}: 1" for number in range(999))
    for number in range(26):  # with the keys around them two thousand, as with the name of the next one
        following = f"extends: ./{number + 1}.yaml\n" if number < 25 else ""
        (home / f"{number}.yaml").write_text(f"{following}namelists: {{run_nml: {{{variables}}}}}\n")
    (finding,) = refused(home / "spec.yaml", ["extends=./0.yaml"])
    assert (finding.code, finding.file) == ("SPC006", str(home / "24.yaml"))
    assert finding.notes == ("the files that a spec is made of are counted together",)


def test_aliases_of_all_presets_are_counted_together(home):
    few = ", ".join(["1"] * 600)
    for name in "ab":
        aliases = ", ".join(f"x{number}: *a" for number in range(99))
        (home / f"{name}.yaml").write_text(f"namelists: {{run_nml: {{y: &a [{few}], {aliases}}}}}\n")
    load_spec(home / "spec.yaml", ["extends=./a.yaml"])
    (finding,) = refused(home / "spec.yaml", ["extends=[./a.yaml, ./b.yaml]"])
    assert (finding.code, finding.message) == ("SPC006", "aliases unfold to a document without end")


@pytest.mark.parametrize("form", ["'{}'", "{{? '{}' : 1}}"])
@pytest.mark.parametrize(("number", "is_refused"), [(970, False), (1001, True)])
def test_aliases_of_a_long_text_are_counted_by_its_length(form, number, is_refused, home):
    """With the text itself; it counts as a hundred values."""
    aliases = ", ".join(["*a"] * number)
    (home / "a.yaml").write_text(f"about: {{x: &a {form.format('x' * 20_000)}, y: [{aliases}]}}\n")
    found = {finding.code for finding in refused(home / "spec.yaml", ["extends=./a.yaml"])}
    assert ("SPC006" in found) is is_refused


def test_presets_that_each_extend_one_twice_are_counted(home):
    for number in range(40):
        (home / f"{number}.yaml").write_text(f"extends: [./{number + 1}.yaml, ./{number + 1}.yaml]\n")
    (home / "40.yaml").write_text("namelists: {run_nml: {msg_level: 5}}\n")
    (finding,) = refused(home / "spec.yaml", ["extends=./0.yaml"])
    assert finding.code == "SPC006"


@pytest.mark.parametrize(
    ("files", "reference"),
    [
        ({"a.yaml": "extends: ./a.yaml\n"}, "./a.yaml"),
        ({"a.yaml": "extends: ./b.yaml\n", "b.yaml": "extends: [icon/jabw, ./a.yaml]\n"}, "./a.yaml"),
        ({"a.yaml": "extends: ../home/a.yaml\n"}, "../home/a.yaml"),
    ],
)
def test_cycles(home, files, reference):
    for name, text in files.items():
        (home / name).write_text(text)
    (finding,) = refused(home / "spec.yaml", ["extends=./a.yaml"])
    assert finding.code == "SPC007"
    assert finding.message == f"{reference} extends itself"
    assert finding.span is not None


def test_extends_and_site_by_set(home):
    spec = load_spec(home / "spec.yaml", ["extends=icon/jabw", "site=local"])
    assert [document.label for document in spec.documents] == ["spec", "preset icon/jabw", "site local"]
    assert spec.experiment.machine.scheduler == "none"
    assert load_spec(home / "spec.yaml", ["extends="]).documents[1].label == "site ./site.yaml"


def test_absolute_paths(home, tmp_path):
    spec = load_spec(home / "spec.yaml", [f"extends={home}/preset.yaml", f"site={home}/site.yaml"])
    assert spec.find("job.partition").value == "of_site"


def test_a_site_without_defaults(home):
    (home / "bare.yaml").write_text("description: bare\nmachine: {scheduler: slurm, file_system: local}\n")
    assert load_spec(home / "spec.yaml", ["site=./bare.yaml"]).experiment.machine.file_system == "local"


def test_a_site_may_be_named_by_a_preset(home):
    (home / "p.yaml").write_text("extends: icon/jabw\nsite: generic-slurm\n")
    spec = load_spec(home / "spec.yaml", ["extends=./p.yaml", "site=levante"])
    assert layers(spec, "site") == [("--set", "levante"), ("spec", "./site.yaml"), ("preset ./p.yaml", "generic-slurm")]


def test_messages_about_own_files_name_a_path_that_exists(home):
    (home / "preset.yaml").write_text("jop: 1\n")
    (finding,) = refused(home / "spec.yaml")
    assert finding.file == str(home / "preset.yaml")
    (home / "preset.yaml").write_text("a: [\n")
    (finding,) = refused(home / "spec.yaml")
    assert finding.file == str(home / "preset.yaml")


def test_mistakes_of_a_site(home):
    (home / "site.yaml").write_text(SITE.replace("slurm", "lsf"))
    (finding,) = refused(home / "spec.yaml")
    assert finding.message == 'machine.scheduler is "lsf"'
    (home / "site.yaml").write_text(SITE.replace("nodes: 7", "nodes: 0"))
    assert [found.code for found in refused(home / "spec.yaml")] == ["SPC004"]


# --- The pool --------------------------------------------------------------------------------------------


def sources(spec: Spec) -> dict[str, str]:
    return {file.target: str(file.source.value) for file in spec.experiment.inputs}


def test_pool_of_the_site_or_the_spec(home):
    (home / "site.yaml").write_text(SITE + "  model: {pool: /pool/data/ICON}\n")
    pool = ["grid.file=<pool>/grids/g_R02B05.nc", "input_files={a.nc: {source: <pool>/a/b.nc}, c: {source: x/<pool>}}"]
    found = sources(load_spec(home / "spec.yaml", pool))
    assert found == {
        "g_R02B05.nc": "/pool/data/ICON/grids/g_R02B05.nc",
        "a.nc": "/pool/data/ICON/a/b.nc",
        "c": "x/<pool>",
    }
    found = sources(load_spec(home / "spec.yaml", [*pool, "model.pool=my/pool/"]))
    assert found["a.nc"] == "my/pool/a/b.nc"


def test_pool_that_nobody_knows(home):
    (finding,) = refused(home / "spec.yaml", ["input_files={a.nc: {source: <pool>/a.nc}}"])
    assert finding.code == "SPC005"
    assert finding.message == "model.pool is not set, and input_files.a.nc.source lies there"
    assert "input_files" in finding.span.source.text


# --- Presets and sites that are not there ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("override", "message", "note"),
    [
        ("extends=icon/jbaw", 'there is no preset "icon/jbaw"', 'did you mean "icon/jabw"?'),
        ("extends=sites/levante", 'there is no preset "sites/levante"', "there are icon/amip"),
        ("site=levnate", 'there is no site "levnate"', 'did you mean "levante"?'),
        ("site=nowhere_at_all", 'there is no site "nowhere_at_all"', "there are balfrin, dwd"),
        ("site=sites/levante", 'there is no site "sites/levante"', "levante"),
        ("extends=icon/../sites/levante", 'there is no preset "icon/../sites/levante"', "there are"),
        ("extends=./none.yaml", "none.yaml: there is no such file", None),
        ("extends=./", "is a directory", None),
        ("site=/", "is a directory", None),
        ('extends="./x\\ny"', "extends is", None),
    ],
)
def test_unknown_presets(override, message, note, home):
    (finding,) = refused(home / "spec.yaml", [override])
    assert finding.code in ("SPC007", "SPC004")
    assert message in finding.message
    assert note is None or any(note in text for text in finding.notes)
    assert finding.span is not None


@pytest.mark.parametrize("name", ["here", "here.yaml"])
def test_a_file_that_is_named_without_its_directory(name, home):
    (finding,) = refused(home / "spec.yaml", [f"site={name}"])
    assert finding.notes[-1].endswith("or give a file as ./here.yaml")


# --- Null takes away -------------------------------------------------------------------------------------


def test_null_takes_away_what_lower_layers_said():
    spec = load_spec(MAPPING, ["run_nml.msg_level=null", "job.account=", "parallel.nproma=~"])
    assert spec.find("run_nml.msg_level").origin.layer == "default of ICON 2024.10"
    assert "account" not in spec.experiment.directives
    assert "nproma" not in spec.experiment.components[0].group("parallel_nml").settings


def test_null_takes_a_section_away():
    spec = load_spec(changed(lustre={"output": {"stripe_count": 4}}), ["lustre=null", "output=null"])
    assert spec.experiment.striping == ()
    assert spec.experiment.components[0].streams == ()


def test_null_takes_a_stream_away():
    spec = load_spec(changed(output={"ocean": {"output_interval": "PT6H"}}), ["output.atm=null"])
    assert [stream.label for stream in spec.experiment.components[0].streams] == ["ocean"]


def test_null_takes_a_group_away():
    spec = load_spec(MAPPING, ["namelists.sleve_nml=null"])
    assert spec.experiment.components[0].group("sleve_nml") is None
    for override in ("parallel=null", "namelists.PARALLEL_NML=null"):
        spec = load_spec(changed(restart={"num_restart_procs": None}), [override])
        assert spec.experiment.components[0].group("parallel_nml") is None


def test_null_takes_the_variables_of_a_section_away():
    spec = load_spec(MAPPING, ["restart=null"])
    assert not spec.experiment.components[0]["io_nml", "restart_write_mode"].is_written
    spec = load_spec(MAPPING, ["restart=null", "restart.num_restart_procs=2"])
    assert spec.experiment.components[0]["parallel_nml", "num_restart_procs"].value == 2
    assert not spec.experiment.components[0]["io_nml", "restart_write_mode"].is_written


def test_what_a_layer_says_beside_null_holds():
    spec = load_spec(changed(parallel=None, restart={"num_restart_procs": 2}))
    assert list(spec.experiment.components[0].group("parallel_nml").settings) == ["num_restart_procs"]


def test_null_takes_all_namelists_away(tmp_path):
    (tmp_path / "preset.yaml").write_text("extends: icon/jabw\nnamelists:\n")
    path = tmp_path / "spec.yaml"
    path.write_text(TEXT.replace("icon/jabw", "./preset.yaml") + "namelists: {master_nml: {lrestart: false}}\n")
    spec = load_spec(path)
    assert spec.experiment.components[0].group("nonhydrostatic_nml") is None
    assert spec.experiment.components[0]["run_nml", "num_lev"].value == 30


def test_what_null_took_away_can_come_back():
    spec = load_spec(MAPPING, ["lustre.output.stripe_count=4", "lustre=null", "lustre.output.stripe_size=1M"])
    (striping,) = spec.experiment.striping
    assert list(striping.settings) == ["stripe_size"]


# --- One variable, two spellings -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lower", "override", "variable", "value"),
    [
        ({"namelists": {"parallel_nml": {"nproma": 3}}, "parallel": None}, "parallel.nproma=5", "nproma", 5),
        ({"parallel": {"nproma": 3}}, "parallel_nml.nproma=5", "nproma", 5),
        ({"parallel": {"nproma": 3}}, "namelists.parallel_nml.nproma=5", "nproma", 5),
        ({"parallel": {"nproma": 3}}, "namelists.PARALLEL_NML.NPROMA=5", "nproma", 5),
        ({"restart": {"num_restart_procs": 1}}, "parallel.num_restart_procs=2", "num_restart_procs", 2),
    ],
)
def test_sections_and_groups_are_the_same_across_layers(lower, override, variable, value):
    spec = load_spec(changed(**lower), [override])
    assert spec.experiment.components[0]["parallel_nml", variable].value == value
    assert len(spec.experiment.components[0]["parallel_nml", variable].history) == 2


def test_null_reaches_across_spellings():
    spec = load_spec(changed(parallel={"nproma": 3}), ["parallel_nml.nproma=null"])
    assert "nproma" not in spec.experiment.components[0].group("parallel_nml").settings


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("namelists: {parallel_nml: {nproma: 8}}\n", "parallel_nml.nproma"),
        ("namelists: {PARALLEL_NML: {Nproma: 8}}\n", "parallel_nml.nproma"),
        ("namelists: {run_nml: {num_lev: 30}}\n", "run_nml.num_lev"),
        ("namelists: {run_nml: {a: 1, A: 2}}\n", "run_nml.A"),
        ("namelists: {run_nml: {a: 1}, RUN_NML: {a: 2}}\n", "run_nml.a"),
    ],
)
def test_set_twice_in_one_layer(text, name, tmp_path):
    path = tmp_path / "spec.yaml"
    path.write_text(TEXT + text)
    (finding,) = refused(path)
    assert finding.code == "SPC008"
    assert finding.message.lower() == f"{name} is set twice".lower()
    assert finding.span is not None
    assert finding.notes


def test_set_twice_in_a_stream(tmp_path):
    path = tmp_path / "spec.yaml"
    path.write_text(TEXT + "    Output_Interval: PT2H\n")
    (finding,) = refused(path)
    assert (finding.code, finding.line) == ("SPC008", 17)


# --- What is missing -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("taken", "message"),
    [
        ("name", "name is not set"),
        ("site", "site is not set"),
        ("model.release", "model.release is not set"),
        ("model.executable", "model.executable is not set"),
        ("model", "model.release is not set"),
        ("grid.file", "grid.file is not set"),
        ("grid", "grid.file is not set"),
        ("time.stop", "neither time.stop nor namelists.master_time_control_nml.forecastLeadTime is set"),
        ("time.modelTimeStep", "neither time.modelTimeStep nor namelists.run_nml.dtime is set"),
    ],
)
def test_missing_keys(taken, message):
    findings = refused(MAPPING, [f"{taken}=null"])
    assert {finding.code for finding in findings} == {"SPC005"}
    assert message in [finding.message for finding in findings]
    assert all(finding.notes for finding in findings)


def test_missing_start_is_named_as_the_spec_spells_it():
    (finding,) = refused(changed(extends=None, time={"start": None}))
    assert finding.message == "time.start is not set"
    assert finding.notes == ("set time.start in the spec",)


def test_everything_that_is_missing_is_named_at_once():
    messages = [finding.message for finding in refused({"nmlgen": 1, "site": "local"})]
    assert len(messages) == 7
    assert "name is not set" in messages


def test_an_empty_mapping():
    findings = refused({})
    assert {finding.code for finding in findings} == {"SPC005"}
    assert len(findings) == 8  # everything that is missing is said at once


@pytest.mark.parametrize(
    "overrides",
    [
        ["time.stop=null", "namelists.master_time_control_nml.forecastLeadTime=PT1H"],
        ["time.modelTimeStep=null", "run_nml.dtime=120.0"],
    ],
)
def test_alternatives(overrides):
    assert load_spec(MAPPING, overrides)


# --- Values that only their meaning refuses --------------------------------------------------------------


@rows(
    ("override", "name", "note"),
    [
        ("time.start=2008-13-01", "experimentStartDate", "there is no such date"),
        ("time.stop=2008-09-01T00:00:00+02:00", "experimentStopDate", "an ISO 8601 instant"),
        ("time.modelTimeStep=PT0.5H", "modelTimeStep", "a fraction of seconds only"),
        ("restart.checkpointTimeIntval=P1W", "checkpointTimeIntval", "mtime knows no weeks"),
        ("restart.restartTimeIntval=P1DT24H", "restartTimeIntval", "mtime takes a larger number only"),
        ("output.atm.output_interval=PT", "output_interval", "names at least one unit"),
        ("output.atm.output_interval=3600", "output_interval", "a duration with its units"),
        ("output.atm.file_interval=[P1D, x]", "file_interval", "an ISO 8601 duration"),
        ("output.atm.output_start=yesterday", "output_start", "an ISO 8601 instant"),
        ("job.time='8:00:00:00'", "job.time", "a time limit"),
        ("job.begin=bogus", "job.begin", "expected: a time, such as 16:00"),
        ("job.begin='\u0663:00'", "job.begin", "expected: a time, such as 16:00"),  # a digit to Python
        ("job.mail_type=DONE", "job.mail_type", "expected: one or several of NONE, BEGIN"),
        ("job.mail_type='END,DONE'", "sbatch skips DONE", "expected: one or several of NONE, BEGIN"),
        ("job.mail_type='NONE,END'", "with NONE nothing is mailed", "expected: one or several of NONE, BEGIN"),
        ("job.signal=B:USR1@65536", "job.signal", "at most 65535 seconds"),
        ("model.release='2023.01'", "2023.01", None),
        ("namelists.output_nml.x=1", "output_nml", "name the streams below `output:`"),
        ("node_local.file_system=beeond", 'no node-local file system "beeond"', "none that nmlgen knows of"),
        ("input_files.a.method=copy", "input_files.a.source is not set", None),
        ("node_local.directory=a", "node_local.file_system is not set", None),
        ("master_model_nml.model_namelist_filename=../x", '"../x"', "the name of a file"),
        ("master_model_nml.model_namelist_filename=icon_master.namelist", "icon_master.namelist", "the name of a file"),
        ("master_model_nml.model_namelist_filename=wave.sbatch", '"wave.sbatch"', "the name of a file"),
        ("master_model_nml.model_namelist_filename=5", '"5"', "the name of a file"),
        ("input_files.NAMELIST_wave.source=a", "NAMELIST_wave", "nmlgen writes the namelists itself"),
        ("input_files.icon_master.namelist=a", "input_files.icon_master", None),
    ],
)
def test_values_that_mean_nothing(override, name, note):
    (finding,) = refused(MAPPING, [override])
    assert name in finding.message + str(finding.span and finding.span.source.text)
    assert note is None or any(note in text for text in finding.notes)
    assert finding.file == "--set" or finding.span is None


def test_values_inside_the_file_are_pointed_at(tmp_path):
    path = tmp_path / "spec.yaml"
    path.write_text(TEXT.replace("checkpointTimeIntval: PT12H", "checkpointTimeIntval: P1W"))
    (finding,) = refused(path)
    assert finding.where == f"{path}:10:76"
    assert finding.message == 'checkpointTimeIntval is "P1W"'


# --- Overrides -------------------------------------------------------------------------------------------


@rows(
    ("override", "name", "value"),
    [
        ("job.nodes=4", "job.nodes", 4),
        ("parallel_nml.nproma=4", "parallel.nproma", 4),
        ("parallel.nproma=4", "parallel_nml.nproma", 4),
        ("namelists.nonhydrostatic_nml.damp_height=[2.0, 3]", "nonhydrostatic_nml.damp_height", [2.0, 3]),
        ("output.atm.output_interval=PT3H", "output.atm.output_interval", "PT3H"),
        ("output.new.output_interval=PT3H", "output.new.output_interval", "PT3H"),
        ("job.comment='a = b'", "job.comment", "a = b"),
        ("job.comment=a=b", "job.comment", "a=b"),
        ("job.comment=ünï", "job.comment", "ünï"),
        ("environment.A=''", "environment.A", ""),
        ("job={nodes: 9}", "job.nodes", 9),
    ],
)
def test_overrides(override, name, value):
    assert load_spec(MAPPING, [override]).find(name).value == value


@rows(
    ("override", "code", "where", "words"),
    [
        ("", "SPC004", "--set:1:1", '"" sets nothing'),
        ("job.nodes", "SPC004", "--set:1:1", "sets nothing"),
        ("=4", "SPC004", "--set:1:1", "sets nothing"),
        (".=4", "SPC004", "--set:1:1", "sets nothing"),
        ("job..nodes=4", "SPC004", "--set:1:1", "sets nothing"),
        ("job.=4", "SPC004", "--set:1:1", "sets nothing"),
        ("jop.nodes=4", "SPC003", "--set:1:1", 'no key "jop"'),
        ("job.nodes =4", "SPC003", "--set:1:1", 'no key "nodes "'),
        ("job.nodes=four", "SPC004", "--set:1:11", 'job.nodes is "four"'),
        ("job.comment=a: b: c", "SPC001", "--set:1:13", "mapping values"),
        ("job.comment=[a", "SPC001", "--set:1:13", "does not end"),
        ("job.comment=!x a", "SPC001", "--set:1:13", "tag"),
        ("job.comment=x\nname: y", "SPC004", "--set:1:13", "one value"),
        ("job.comment=\ud800", "SPC001", "--set:1:13", "U+D800"),
        ("job.comment=x\0", "SPC001", "--set:1:13", "U+0000"),
        (".".join(["a"] * 3000) + "=1", "SPC003", "--set:1:1", "deep"),
        ("job=4", "SPC004", "--set:1:1", "job is"),
        ('start_from={directory: other, time: "16384"}', "SPC004", "--set:1:12", 'start_from.time is "16384"'),
    ],
)
def test_overrides_that_cannot_be(override, code, where, words):
    findings = refused(MAPPING, [override])
    assert [(finding.code, words in finding.message) for finding in findings] == [(code, True)], findings
    assert findings[0].where in (where, "--set:1:5")


def test_overrides_beside_a_loaded_spec():
    with pytest.raises(TypeError):
        check(load_spec(MAPPING), overrides=["job.nodes=4"])


# --- From a mapping --------------------------------------------------------------------------------------


def test_a_mapping_is_as_good_as_a_file(tmp_path):
    path = tmp_path / "spec.yaml"
    path.write_text(TEXT)
    from_file, from_mapping = nmlgen.build(path).files, nmlgen.build(MAPPING).files
    manifest = "nmlgen-manifest.json"
    assert from_file.keys() == from_mapping.keys()
    assert [name for name in from_file if from_file[name] != from_mapping[name]] == [manifest]


def test_a_mapping_is_left_alone():
    before = changed()
    load_spec(before, ["job.nodes=5"])
    assert before == MAPPING


def test_paths_of_a_mapping_start_from_the_working_directory(home, monkeypatch):
    monkeypatch.chdir(home)
    assert load(extends="./preset.yaml").find("job.qos").value == "of_preset"


def test_documents_are_named_with_their_digests(home):
    spec = load_spec(home / "spec.yaml")
    digests = {document.label: document.sha256 for document in spec.documents}
    assert digests["spec"] == hashlib.sha256((home / "spec.yaml").read_bytes()).hexdigest()
    assert digests["preset ./preset.yaml"] == hashlib.sha256((home / "preset.yaml").read_bytes()).hexdigest()
    assert digests["site ./site.yaml"] == hashlib.sha256((home / "site.yaml").read_bytes()).hexdigest()


@pytest.mark.parametrize("source", [None, 5, b"x", ["a"]])
def test_other_types(source):
    with pytest.raises((TypeError, InputError)):
        load_spec(source)


# --- Suppressions ----------------------------------------------------------------------------------------

BAD = TEXT.replace("joint procs multifile", "sync").replace("restartTimeIntval: P10D}", "num_restart_procs: 2}")
"""RST001 finds num_restart_procs in it."""


def judge(tmp_path: Path, text: str):
    path = tmp_path / "spec.yaml"
    path.write_text(text)
    report = check_experiment((spec := load_spec(path)).experiment, spec.suppressions)
    mine = [finding for finding in report.findings if finding.code in ("RST001", "SPC009", "SPC010", "SPC011")]
    return mine, [(finding.code, reason) for finding, reason in report.suppressed]


def test_the_bad_spec_is_found(tmp_path):
    found, suppressed = judge(tmp_path, BAD)
    assert [finding.code for finding in found] == ["RST001"]
    assert found[0].line == 10
    assert suppressed == []


def on_line(comment: str) -> str:
    return BAD.replace("num_restart_procs: 2}", f"num_restart_procs: 2}}  {comment}")


@rows(
    "text",
    [
        on_line("# nmlgen: ignore[RST001] a test"),
        on_line("#nmlgen:ignore[RST001]   a test"),
        on_line("# nmlgen: ignore[sync-with-restart-procs] a test"),
        "# nmlgen: ignore[RST001] a test\n" + BAD,
        "# a comment\n\n# nmlgen: ignore[RST001] a test\n---\n" + BAD,
        BAD + "ignore: {RST001: a test}\n",
        BAD + "ignore:\n  sync-with-restart-procs: a test\n",
        on_line("# nmlgen: ignore[RST001] a test").replace("\n", "\r\n"),
        BAD.replace("restart:", "# nmlgen: ignore[RST001] a test\nrestart:"),
        BAD + "# nmlgen: ignore-file[RST001] a test\n",
    ],
)
def test_suppressed(text, tmp_path):
    assert judge(tmp_path, text) == ([], [("RST001", "a test")])


def test_a_comment_on_another_line_suppresses_nothing(tmp_path):
    text = BAD.replace("name: wave\n", "name: wave  # nmlgen: ignore[RST001] a test\n")
    found, suppressed = judge(tmp_path, text)
    assert [(finding.code, finding.where.rpartition("spec.yaml")[2]) for finding in found] == [
        ("SPC009", ":2:13"),
        ("RST001", found[1].where.rpartition("spec.yaml")[2]),
    ]
    assert suppressed == []


@pytest.mark.parametrize(
    ("extra", "code", "message"),
    [
        ("ignore: {RST002: none}\n", "SPC009", "RST002 is suppressed here and finds nothing"),
        ("# nmlgen: ignore[RST002] none\n", "SPC009", "RST002 is suppressed here and finds nothing"),
        ("ignore: {RTS001: none}\n", "SPC010", 'there is no rule "RTS001" to suppress'),
        ("# nmlgen: ignore[sync-with-restart-proc] none\n", "SPC010", 'there is no rule "sync-with-restart-proc"'),
    ],
)
def test_unused_and_unknown(extra, code, message, tmp_path):
    found, _ = judge(tmp_path, TEXT + extra)
    assert [finding.code for finding in found] == [code]
    assert found[0].message.startswith(message)
    assert found[0].line == 17
    assert found[0].notes


def test_several_rules_in_one_comment(tmp_path):
    found, suppressed = judge(tmp_path, on_line("# nmlgen: ignore[RST001, RST002] why"))
    assert suppressed == [("RST001", "why")]
    assert [finding.code for finding in found] == ["SPC009"]


@pytest.mark.parametrize("comment", ["# nmlgen: ignore[RST001]", "# nmlgen: ignore[] why", "# nmlgen: ignore[ , ] why"])
def test_a_suppression_gives_a_reason(comment, tmp_path):
    found, suppressed = judge(tmp_path, on_line(comment))
    assert [(finding.code, finding.line) for finding in found] == [("RST001", 10), ("SPC011", 10)]
    assert suppressed == []


def test_a_text_that_looks_like_a_comment_suppresses_nothing(tmp_path):
    text = BAD.replace("account: bb1234", 'account: "# nmlgen: ignore[RST001] x"')
    found, suppressed = judge(tmp_path, text)
    assert [finding.code for finding in found] == ["RST001"]
    assert suppressed == []


def test_null_takes_a_suppression_away(tmp_path):
    path = tmp_path / "spec.yaml"
    path.write_text(BAD + "ignore: {RST001: a test}\n")
    assert load_spec(path, ["ignore.RST001=null"]).suppressions == ()


def test_a_missing_key_points_at_its_section_or_the_spec(tmp_path):
    path = tmp_path / "spec.yaml"
    path.write_text("# a comment\nnmlgen: 1\nname: x\nmodel:\n  executable: icon\n", encoding="utf-8")
    with pytest.raises(SpecError) as raised:
        load_spec(path)
    places = {finding.message.split()[0]: (finding.line, finding.column) for finding in raised.value.findings}
    assert places["site"] == (2, 1)
    assert places["model.release"] == (4, 1)


@pytest.mark.parametrize(
    ("site", "version", "modules"),
    [
        ("lise", None, ["intel/19.0.5", "impi/2018.5"]),
        ("emmy", None, ["intel/18.0.5", "impi/2018.5"]),
        ("lise", "2018.5", ["intel/19.0.5", "impi/2018.5"]),
        ("lise", "2019.9", ["intel/19.0.5", "impi/2019.9"]),
        ("emmy", "2019", ["intel/19.0.5", "impi/2019.9"]),
    ],
)
def test_modules_follow_from_the_version(site, version, modules):
    given = {} if version is None else {"mpi": {"version": version}}
    spec = load_spec({**MAPPING, "site": site, **given})
    assert [module.value for module in spec.experiment.modules] == modules


def test_a_version_that_the_site_does_not_have():
    with pytest.raises(SpecError, match=r"lise has no modules for version 2019\.4") as caught:
        load_spec({**MAPPING, "site": "lise", "mpi": {"version": "2019.4"}})
    assert "2018.5, 2019.9" in caught.value.findings[0].notes[0]
    own = {"mpi": {"version": "2019.4"}, "modules": ["impi/2019.4"]}
    assert [module.value for module in load_spec({**MAPPING, "site": "lise", **own}).experiment.modules] == [
        "impi/2019.4"
    ]


@pytest.mark.parametrize("count", [500, 501])
def test_a_model_has_no_more_streams_than_anybody_writes(count):
    spec = changed()
    spec["output"] = {f"s{number}": spec["output"]["atm"] for number in range(count)}
    if count == 500:
        assert len(load_spec(spec).experiment.components[0].streams) >= count
        return
    with pytest.raises(SpecError) as caught:
        load_spec(spec)
    assert [(finding.code, finding.message) for finding in caught.value.findings] == [
        ("SPC006", "more than 500 streams of one model")
    ]


@pytest.mark.parametrize("count", [100, 101])
def test_a_job_looks_for_no_more_patterns_than_anybody_writes(count):
    files = {f"{number}_*.nc": {"directory": "/none"} for number in range(count)}
    if count == 100:
        assert len(load_spec(changed(input_files=files)).experiment.inputs) >= count
        return
    with pytest.raises(SpecError) as caught:
        load_spec(changed(input_files=files))
    assert [(finding.code, finding.message) for finding in caught.value.findings] == [
        ("SPC006", "more than 100 patterns of input files")
    ]
