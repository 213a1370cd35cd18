"""Experiments to ask."""

from experiment.conftest import build

__all__ = ["build"]
