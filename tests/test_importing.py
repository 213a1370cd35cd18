"""Importing: what comes back from a spec and from its build is the same experiment."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from spec_strategies import specs
from specs import unchecked_build

from nmlgen import compare, load_spec
from nmlgen.experiment.difference import MASTER, NAMELIST, differences
from nmlgen.importing import import_spec
from nmlgen.source import Source
from nmlgen.spec.document import read_text
from nmlgen.spec.raising import raised, read_site_of
from nmlgen.spec.write import gaps, spec_text

EXAMPLES = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


def again(text: str):
    """The experiment of a spec's text."""
    return load_spec(read_text(Source("spec", text)).plain()).experiment


@EXAMPLES
@given(specs())
def test_the_experiment_of_a_spec_comes_back(document):
    experiment = load_spec(document).experiment
    keys = raised(experiment, read_site_of(document["site"], Path()))
    text = spec_text(keys)
    assert list(gaps(keys)) == []
    assert differences(experiment, again(text)) == (), text


@EXAMPLES
@given(specs())
def test_a_build_comes_back(document):
    spec = load_spec(document)
    with tempfile.TemporaryDirectory() as directory:
        unchecked_build(spec).write(directory)
        script = Path(directory) / f"{spec.experiment.name}.sbatch"
        imported = import_spec(directory)
        assert compare(spec, directory).differences == compare(spec, script).differences == ()
    assert imported.remarks == ()
    assert differences(spec.experiment, again(imported.text)) == (), imported.text


@EXAMPLES
@given(specs())
def test_the_namelists_of_a_build_come_back(document):
    spec = load_spec(document)
    with tempfile.TemporaryDirectory() as directory:
        unchecked_build(spec).write(directory)
        imported = import_spec(Path(directory) / "icon_master.namelist", site=document["site"])
    assert imported.remarks == ()
    assert differences(spec.experiment, again(imported.text), (MASTER, NAMELIST)) == (), imported.text
