"""The template of a job in Python prints what Jinja2 prints."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from jinja2.exceptions import UndefinedError

import nmlgen
from nmlgen import resources
from nmlgen.errors import WriteError
from nmlgen.render import batch, job_script, translation
from nmlgen.render.templates import template
from nmlgen.render.translation import translated

TESTS = Path(__file__).parents[1]
SPECS = sorted((TESTS / "golden").glob("*/spec.yaml"))


def test_it_is_up_to_date():
    assert Path(job_script.__file__).read_text(encoding="utf-8") == translated("job.sbatch.j2"), (
        "run: python docs/generate.py"
    )


def contexts(path, overrides=()):
    """What the template is given for a spec, and for a point of a sweep; and either with one thing less."""
    spec = nmlgen.load_spec(path, overrides)
    for sweep in (None, "many"):
        given = batch._context(spec.experiment, "a.sbatch", ("icon_master.namelist", "NAMELIST_a"), "0" * 12, sweep)
        yield given
        for name, value in given.items():
            for other in ([] if isinstance(value, list) else None, True):
                if bool(value) != bool(other):
                    yield {**given, name: other}
    without = dict(given)
    for name in given:
        del without[name]
        yield without
        without[name] = given[name]


def said(render, given):
    with suppress(UndefinedError, LookupError, TypeError, AttributeError, WriteError):  # no such thing, or another kind
        return render(given)


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.parent.name)
def test_it_prints_what_the_template_does(path):
    expected = template("job.sbatch.j2").render
    for given in contexts(path):
        assert said(job_script.render, given) == said(expected, given)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{{ a | upper }}", "line 1"),
        ("x\n{{ a + 1 }}", "line 2"),
        ("{% for a in b %}{% for a in c %}{% endfor %}{% endfor %}", "'a'"),
        ("{% for a in b if a %}{% endfor %}", "line 1"),
        ("{% for shell in b %}{% endfor %}", "'shell'"),
        ("{% set a = 1 %}", "line 1"),
        ("{{ a[1:2] }}", "line 1"),
        ("{{ 1 < a < 3 }}", "line 1"),
    ],
)
def test_what_it_does_not_know_is_refused(text, message, tmp_path, monkeypatch):
    (tmp_path / "a.j2").write_text(text)
    monkeypatch.setattr(resources, "directory", lambda name: tmp_path)
    with pytest.raises(ValueError, match=message):
        translation.translated("a.j2")
