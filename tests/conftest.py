"""Options of the tests; where they, and all that they start, find programs; what hypothesis may hold against them."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings
from tools import search_path

# No outcome depends on how fast the machine is.
settings.register_profile("nmlgen", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("nmlgen")
# `pytest --hypothesis-profile=thorough tests/test_importing.py` looks for as long as one has patience.
settings.register_profile("thorough", max_examples=10_000)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--regenerate", action="store_true", help="write the golden files anew")


def pytest_configure() -> None:
    os.environ["PATH"] = search_path(os.environ.get("PATH", os.defpath))
