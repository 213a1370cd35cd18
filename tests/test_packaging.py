"""The recipes for Spack and conda ask for what pyproject.toml asks for, and what they call is there; the jobs of the
site are such as their services take."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from ruamel.yaml import YAML
from tools import require

from nmlgen import __version__
from nmlgen.cli import main

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS = ("darshan", "frame", "lsp", "netcdf", "plot")
"""Those for users; the others are for tests and for the site."""


def asked(requirements: list[str]) -> dict[str, str]:
    """The lowest version of each requirement, by its name as others spell it."""
    pairs = [re.match(r"([\w.]+)>=([\d.]+)", requirement) for requirement in requirements]
    return {pair[1].lower(): pair[2] for pair in pairs if pair is not None}


class Recipe:
    """What a recipe of Spack declares, collected by stand-ins for Spack's own words."""

    def __init__(self) -> None:
        self.needs: dict[str, tuple[str, str | None]] = {}
        self.variants: list[str] = []
        self.versions: list[str] = []

    def words(self) -> dict[str, Any]:
        @contextmanager
        def default_args(**_: Any):
            yield

        def depends_on(spec: str, when: str | None = None, **_: Any) -> None:
            name, _, lowest = spec.partition("@")
            self.needs[name.removeprefix("py-")] = (lowest.removesuffix(":"), when)

        return {
            "PythonPackage": object,
            "default_args": default_args,
            "depends_on": depends_on,
            "license": lambda name: None,
            "run_after": lambda phase: lambda method: method,
            "variant": lambda name, **_: self.variants.append(name),
            "version": lambda name, **_: self.versions.append(name),
        }


@pytest.fixture
def spack(monkeypatch) -> tuple[Recipe, ModuleType]:
    recipe, module = Recipe(), ModuleType("spack.package")
    vars(module).update(recipe.words())
    monkeypatch.setitem(sys.modules, "spack", ModuleType("spack"))
    monkeypatch.setitem(sys.modules, "spack.package", module)
    path = ROOT / "packaging" / "spack" / "package.py"
    found = ModuleType("package")
    exec(compile(path.read_text(encoding="utf-8"), path, "exec"), vars(found))
    return recipe, found


def test_spack_asks_for_the_same(spack):
    recipe, _ = spack
    needs = {name.replace("ruamel-yaml", "ruamel.yaml"): about for name, about in recipe.needs.items()}
    project = PROJECT["project"]
    assert needs.pop("python") == (project["requires-python"].removeprefix(">="), None)
    assert needs.pop("hatchling")[0] == asked(PROJECT["build-system"]["requires"])["hatchling"]
    always = {name: lowest for name, (lowest, when) in needs.items() if when is None or "python" in when}
    assert always == asked(project["dependencies"])
    assert recipe.variants == list(EXTRAS)
    for extra in EXTRAS:
        found = {name: lowest for name, (lowest, when) in needs.items() if when == f"+{extra}"}
        assert found == asked(project["optional-dependencies"][extra])
    assert recipe.versions[0] == __version__


def test_spack_installs_manual_and_completions(spack, tmp_path, capsys):
    _, module = spack

    def python(*arguments: Any, output: Any = None) -> str:
        capsys.readouterr()
        assert arguments[:2] == ("-m", "nmlgen")
        assert main([str(argument) for argument in arguments[2:]]) == 0
        return capsys.readouterr().out

    vars(module).update(
        python=python,
        mkdirp=lambda path: path.mkdir(parents=True),
        **{
            f"{shell}_completion_path": lambda prefix, shell=shell: tmp_path / shell
            for shell in ("bash", "fish", "zsh")
        },
    )
    prefix = SimpleNamespace(share=SimpleNamespace(man=SimpleNamespace(man1=tmp_path / "man1")))
    package = SimpleNamespace(prefix=prefix)
    module.PyNmlgen.install_manual(package)
    module.PyNmlgen.install_completions(package)
    assert (tmp_path / "man1" / "nmlgen-build.1").exists()
    assert "nmlgen" in (tmp_path / "zsh" / "_nmlgen").read_text()


def test_conda_asks_for_the_same():
    recipe = YAML(typ="safe").load((ROOT / "packaging" / "conda" / "recipe.yaml").read_text(encoding="utf-8"))
    assert recipe["context"]["version"] == __version__
    project = PROJECT["project"]
    same = {"python": project["requires-python"].removeprefix(">="), **asked(project["dependencies"])}
    for part, more in (("run", set()), ("host", {"pip", "hatchling"})):
        needs = dict(requirement.partition(" >=")[::2] for requirement in recipe["requirements"][part])
        assert {name: lowest for name, lowest in needs.items() if name not in more} == same
    assert recipe["build"]["python"]["entry_points"] == [f"nmlgen = {project['scripts']['nmlgen']}"]


def test_what_conda_tries_works(tmp_path, monkeypatch):
    recipe = YAML(typ="safe").load((ROOT / "packaging" / "conda" / "recipe.yaml").read_text(encoding="utf-8"))
    monkeypatch.chdir(tmp_path)
    for command in recipe["tests"][1]["script"]:
        assert main(command.split()[1:]) == 0, command


@pytest.mark.parametrize(
    ("schema", "file"),
    [
        ("vendor.github-workflows", ".github/workflows/pages.yml"),
        ("vendor.github-workflows", ".github/workflows/release.yml"),
        ("vendor.gitlab-ci", ".gitlab-ci.yml"),
        ("vendor.readthedocs", ".readthedocs.yaml"),
    ],
)
def test_jobs_that_publish_are_understood(schema, file):
    require("check-jsonschema")
    done = subprocess.run(
        ["check-jsonschema", "--builtin-schema", schema, ROOT / file], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("file", [".github/workflows/release.yml", ".gitlab-ci.yml"])
@pytest.mark.parametrize(("tag", "code"), [(f"v{__version__}", 0), (f"v{__version__}.1", 1), ("v", 1)])
def test_a_release_is_called_by_its_version(file, tag, code):
    (command,) = re.findall(r"(?:run: |- )(grep -Fx .*)", (ROOT / file).read_text(encoding="utf-8"))
    named = {"GITHUB_REF_NAME": tag, "CI_COMMIT_TAG": tag, "PATH": os.environ["PATH"]}
    done = subprocess.run(["bash", "-c", command], cwd=ROOT, env=named, capture_output=True, check=False)
    assert done.returncode == code
