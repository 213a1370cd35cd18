"""Experiments to ask: a YAML fragment laid over the run that the rules' examples use."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nmlgen.experiment.component import Component
from nmlgen.spec.spec import load_spec

BASE = Path(__file__).resolve().parents[1] / "rules" / "example.yaml"
SITE = BASE.with_name("example-site.yaml")


@pytest.fixture
def build(tmp_path: Path) -> Callable[[str], Component]:
    """A function that turns a fragment into an experiment."""

    def component(fragment: str) -> Component:
        path = tmp_path / "spec.yaml"
        path.write_text(f"nmlgen: 1\n{fragment}", encoding="utf-8")
        return load_spec(path, [f"extends={BASE}", f"site={SITE}"]).experiment.components[0]

    return component
