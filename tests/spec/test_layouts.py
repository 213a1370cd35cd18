"""Layouts of files on Lustre: written in a spec, rendered, taken by lfs, read again, compared."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import pytest
from real.lfs_stand_in import install
from specs import changed, load, refused, unchecked_build

from nmlgen import compare, load_spec
from nmlgen.experiment.difference import differences
from nmlgen.importing import import_spec
from nmlgen.source import Source
from nmlgen.spec import lower
from nmlgen.spec.document import read_text

PROGRESSIVE = {"64M": {"stripe_count": 1}, "1G": {"stripe_count": 4, "pool": "flash"}, "eof": {"stripe_count": 16}}
LAYOUTS = {
    "plain": {"stripe_count": 4, "stripe_size": "4M"},
    "progressive": {"component_end": PROGRESSIVE},
    "in any order": {"component_end": {"eof": {"stripe_count": 8}, "64M": {"stripe_count": 1}}},
    "on the metadata server": {
        "component_end": {"64K": {"layout": "mdt"}, "64M": {"stripe_count": 1, "stripe_size": "1M"}, "eof": {}}
    },
    "of these OSTs": {"ost": "0,2-4", "stripe_size": "1M"},
    "overstriped": {"overstripe_count": -2},
    "moved": {"component_end": PROGRESSIVE, "migrate": True},
    "moved into a plain one": {"stripe_count": 4, "migrate": True},
    "deleted": {"delete": True},
}
OPTIONS = {
    "progressive": [
        *("--component-end=64M", "--stripe-count=1"),
        *("--component-end=1G", "--stripe-count=4", "--pool=flash"),
        *("--component-end=eof", "--stripe-count=16", "--pool=flash"),
    ],
    "in any order": ["--component-end=64M", "--stripe-count=1", "--component-end=eof", "--stripe-count=8"],
    "on the metadata server": [
        *("--component-end=64K", "--layout=mdt"),
        *("--component-end=64M", "--stripe-count=1", "--stripe-size=1M"),
        *("--component-end=eof", "--stripe-count=1", "--stripe-size=1M"),
    ],
    "of these OSTs": ["--stripe-size=1M", "--ost=0,2-4"],
    "overstriped": ["--overstripe-count=-2"],
    "deleted": ["--delete"],
}


def calls(script: str) -> list[list[str]]:
    """What the script says to its own functions, word by word."""
    return [shlex.split(line) for line in script.splitlines() if line.startswith(("stripe ", "restripe "))]


@pytest.fixture
def script(tmp_path):
    def build(layout) -> str:
        unchecked_build(load(lustre={"output": layout})).write(tmp_path / "built")
        return (tmp_path / "built" / "wave.sbatch").read_text()

    return build


@pytest.mark.parametrize("name", OPTIONS)
def test_lfs_gets_these_options_and_takes_them(name, script, tmp_path):
    assert calls(script(LAYOUTS[name])) == [["stripe", "output", *OPTIONS[name]]]
    lfs = install(tmp_path / "lfs")
    (tmp_path / "output").mkdir()
    done = subprocess.run(
        ["lfs", "setstripe", *OPTIONS[name], "output"],
        cwd=tmp_path,
        env=os.environ | lfs.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_files_that_are_there_are_moved_behind_the_striping(script):
    text = script(LAYOUTS["moved into a plain one"])
    assert calls(text) == [["stripe", "output", "--stripe-count=4"], ["restripe", "output", "--stripe-count=4"]]
    assert 'find "$directory" -maxdepth 1 -type f -exec lfs migrate "$@" {} \\;' in text
    assert "restripe" not in script(LAYOUTS["plain"])


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_build_comes_back(name, script, tmp_path):
    spec = load(lustre={"output": LAYOUTS[name], "restart": {"stripe_count": 1}})
    unchecked_build(spec).write(tmp_path / "built")
    assert compare(spec, tmp_path / "built").differences == ()
    imported = import_spec(tmp_path / "built")
    assert imported.remarks == ()
    again = load_spec(read_text(Source("spec", imported.text)).plain())
    assert differences(spec.experiment, again.experiment) == (), imported.text


def test_layouts_are_compared_component_by_component():
    other = {"component_end": {**PROGRESSIVE, "64M": {"stripe_count": 2}, "1T": {"stripe_count": 8}}}
    before, after = (load(lustre={"output": layout}).experiment for layout in (LAYOUTS["progressive"], other))
    assert [(change.name, change.verdict.value) for change in differences(before, after)] == [
        ("output: component_end 64M: stripe_count", "different"),
        ("output: component_end 1T: stripe_count", "different"),
        ("output: component_end 1T: pool", "different"),
    ]
    plain = load(lustre={"output": LAYOUTS["plain"]}).experiment
    assert len(differences(before, plain)) == 7


@pytest.mark.parametrize(
    ("layout", "message"),
    [
        ({"component_end": {"64M": {"stripe_count": 1}}}, "ends before the end of a file"),
        ({"component_end": {"100K": {"stripe_count": 1}, "eof": {}}}, "100K is no end of a component"),
        ({"component_end": {"0K": {"stripe_count": 1}, "eof": {}}}, "0K is no end of a component"),
        ({"component_end": {"1024M": {}, "1G": {}, "eof": {}}}, "1024M is there twice"),
        ({"component_end": {"eof": {}}, "stripe_count": 4}, "stripe_count stands beside component_end"),
        ({"delete": True, "stripe_count": 4}, "delete has other keys beside it"),
        ({"migrate": True}, "migrate has no layout beside it"),
    ],
)
def test_what_no_layout_is(layout, message):
    (finding,) = refused(changed(lustre={"output": layout}))
    assert finding.code == "SPC004"
    assert message in finding.message


def test_a_script_with_a_layout_that_no_spec_can_say_says_so(tmp_path):
    path = Path(tmp_path) / "exp.mirrored"
    path.write_text(
        "lfs setstripe -N2 -E eof -c 4 out\n"
        "cat >NAMELIST_atm <<EOF\n&run_nml\n num_lev = 90\n/\n&output_nml\n output_filename = 'out/atm'\n/\nEOF\n"
    )
    assert any("--mirror-count" in remark for remark in import_spec(path, site="levante").remarks)


def test_ends_are_each_compared_with_few_others(monkeypatch):
    compared = 0

    class Bytes(int):
        def __eq__(self, other: object) -> bool:
            nonlocal compared
            compared += 1
            return int.__eq__(self, other)

        __hash__ = int.__hash__

    end = lower._end
    monkeypatch.setattr(lower, "_end", lambda name: None if name == "eof" else Bytes(end(name)))
    ends = {f"{64 * number}K": {} for number in range(1, 101)}
    assert load(lustre={"output": {"component_end": {**ends, "eof": {}}}})
    assert compared < 1000
