"""Options that plug-ins add to sbatch, such as the mounted software at CSCS."""

from __future__ import annotations

from pathlib import Path

from specs import changed, load, refused, unchecked_build

from nmlgen import import_spec, lint

ASKED = {"uenv": "icon/25.2:v1", "view": "default"}


def test_a_job_asks_for_them_and_comes_back(tmp_path: Path) -> None:
    built = unchecked_build(load(site="santis", job={"partition": "normal", **ASKED}))
    built.write(tmp_path / "built")
    (script,) = (tmp_path / "built").glob("*.sbatch")
    assert "#SBATCH --uenv=icon/25.2:v1\n" in script.read_text()
    assert "#SBATCH --view=default\n" in script.read_text()
    assert "SBA" not in "".join(finding.code for finding in lint([script], is_isolated=True).findings)
    text = import_spec(tmp_path / "built", directory=tmp_path).text
    assert 'uenv: "icon/25.2:v1"' in text or "uenv: icon/25.2:v1" in text
    assert "view: default" in text


def test_a_site_without_the_plug_in() -> None:
    findings = refused(changed(site="levante", job=ASKED))
    found = [finding.message for finding in findings if finding.code == "SPC004"]
    assert [message.partition(" is ")[0] for message in found] == ["job.uenv", "job.view"]
