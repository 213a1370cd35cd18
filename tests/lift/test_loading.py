"""Whatever an experiment is written in is loaded: specs, directories, master namelists, namelists."""

from __future__ import annotations

from pathlib import Path

import pytest
from specs import TEXT

from nmlgen import InputError, SpecError
from nmlgen.lift.file_kinds import is_script
from nmlgen.lift.loading import is_spec, load
from nmlgen.source import Source

GOLDEN = Path(__file__).parent.parent / "golden" / "horeka-beeond"
BUILD = GOLDEN / "expected"


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        (GOLDEN / "spec.yaml", ("master", "namelist", "job")),
        (BUILD, ("master", "namelist", "job")),
        (BUILD / "beeond.sbatch", ("master", "namelist", "job")),
        (BUILD / "icon_master.namelist", ("master", "namelist")),
        (BUILD / "NAMELIST_beeond", ("namelist",)),
    ],
)
def test_everything_is_loaded(path, parts):
    loaded = load(path)
    assert loaded.parts == parts
    experiment = loaded.experiment
    assert experiment.components[0]["parallel_nml", "nproma"].value == 16


def test_a_build_knows_what_its_script_remembers(tmp_path):
    experiment = load(BUILD).experiment
    assert (experiment.name, experiment.machine.name, experiment.components[0].grid_name.value) == (
        "beeond",
        "horeka",
        "R2B5",
    )
    for path in BUILD.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    script = tmp_path / "beeond.sbatch"
    script.write_text(script.read_text().replace("model.release=2024.10", "model.release=2024.01"))
    assert load(tmp_path).release == "2024.01"
    assert load(tmp_path, icon_release="2024.07").release == "2024.07"
    (tmp_path / "other.sbatch").write_text(script.read_text())
    assert load(tmp_path).experiment.name == ""


def test_a_spec_is_known_by_its_suffix_or_its_keys(tmp_path):
    for name, text, expected in (
        ("a.yml", "", True),
        ("spec", TEXT, True),
        ("NAMELIST", "&run_nml\n/\n", False),
        ("nothing", "", False),
        ("icon_master.namelist", TEXT, False),
    ):
        (tmp_path / name).write_text(text)
        assert is_spec(tmp_path / name) is expected
    assert load(tmp_path / "spec", overrides=["name=other"]).experiment.name == "other"


def test_a_spec_may_be_called_as_a_script_of_icon_is(tmp_path):
    for name, is_shell in (("exp.wave.yaml", False), ("exp.wave", True)):
        (tmp_path / name).write_text("# imported\nnmlgen: 1\n")
        assert is_script(tmp_path / name, Source(name, "# imported\nnmlgen: 1\n")) is is_shell


def test_what_shows_a_script_is_none(tmp_path):
    text = '{"source": ["cat > NAMELIST << EOF\\n", "&run_nml\\n", "/\\n"]}\ncat > a << EOF\nEOF\n'
    for name, is_shell in (("run.ipynb", False), ("run.JSON", False), ("notes.md", True), ("run", True)):
        assert is_script(tmp_path / name, Source(name, text)) is is_shell


def test_tasks_are_given_for_namelists():
    assert load(BUILD).experiment.tasks.value == 304
    assert load(BUILD, ntasks=8).experiment.tasks.value == 304
    assert load(BUILD / "icon_master.namelist", ntasks=8).experiment.tasks.value == 8


def test_mistakes(tmp_path):
    for path, words in ((tmp_path, "holds no icon_master.namelist"), (tmp_path / "nope", "there is no such file")):
        with pytest.raises(InputError, match=words):
            load(path)
    with pytest.raises(InputError, match="overrides are for specs"):
        load(BUILD, overrides=["name=other"])
    (tmp_path / "text").write_text("what is this\n")
    with pytest.raises(InputError, match="neither a spec, nor a script, nor a namelist"):
        load(tmp_path / "text")
    (tmp_path / "spec.yaml").write_text("name: [\n")
    with pytest.raises(SpecError):
        load(tmp_path / "spec.yaml")
