"""Experiments to ask: a YAML fragment laid over the run that the rules' examples use."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from rules.experiments import experiment_of

from nmlgen.experiment.component import Component


@pytest.fixture
def build(tmp_path: Path) -> Callable[[str], Component]:
    """A function that turns a fragment into an experiment."""
    return lambda fragment: experiment_of(f"nmlgen: 1\n{fragment}", tmp_path).components[0]
